/* The games that are built in. */
#include <starmax/dicechess.h>
#include <starmax/game.h>
#include <starmax/twenty48.h>

#include <string.h>

const struct smx_game *const smx_games[] = {&smx_dicechess, &smx_2048, NULL};

const struct smx_game *smx_game_find(const char *name)
{
	for (const struct smx_game *const *game = smx_games; *game; game++)
		if (strcmp((*game)->name, name) == 0)
			return *game;
	return NULL;
}

const struct smx_evaluator *smx_game_evaluator(const struct smx_game *game, const char *name)
{
	for (const struct smx_evaluator *const *evaluator = game->evaluators; *evaluator; evaluator++)
		if (strcmp((*evaluator)->name, name) == 0)
			return *evaluator;
	const struct smx_evaluator *made = NULL;
	return game->make_evaluator && game->make_evaluator(name, &made, NULL) == SMX_OK ? made : NULL;
}
