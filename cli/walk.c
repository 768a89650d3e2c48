#include "cli/walk.h"

#include "cli/command.h"

#include <starmax/random.h>

#include <string.h>

#define TURNS_MAX 60
#define DRAWS     64 /* of an outcome that leaves a decision, before another game is tried */
#define GAMES     10000

unsigned smxi_walk_outcome(const struct smx_game *game, const void *state, uint64_t *seed)
{
	uint32_t weights[SMX_OUTCOMES_MAX], total = 0;
	unsigned count = game->outcomes(state, weights), outcome = 0;
	for (unsigned i = 0; i < count; i++)
		total += weights[i];
	uint32_t left = smx_random_below(seed, total);
	while (left >= weights[outcome])
		left -= weights[outcome++];
	return outcome;
}

/* Try a random turn from *position, whose outcome is drawn: to one of its afterstates, or, where `stay`, to the same
 * state with the outcome known. False where the outcome ends the game; *position is then unchanged. */
static bool random_step(const struct smx_game *game, struct smx_arena *arena, uint64_t *seed, bool stay,
                        struct smx_position *position)
{
	struct smx_arena_mark mark = smx_arena_mark(arena);
	struct smx_afterstates list = {0};
	unsigned outcome = smxi_walk_outcome(game, position->state, seed);
	const void *expansion = game->open(position->state, arena);
	enum smx_node node = expansion ? game->afterstates(expansion, outcome, arena, &list) : SMX_NODE_NO_MEMORY;
	if (node == SMX_NODE_NO_MEMORY)
		smxi_out_of_memory();
	if (node == SMX_NODE_OPEN && stay)
		position->outcome = (int)outcome;
	else if (node == SMX_NODE_OPEN)
		memcpy(position->state,
		       (const char *)list.states + smx_random_below(seed, (uint32_t)list.count) * game->state_size,
		       game->state_size);
	smx_arena_release(arena, mark);
	return node == SMX_NODE_OPEN;
}

/* False where this game has led to no decision. */
static bool walk(const struct smx_game *game, struct smx_arena *arena, uint64_t *seed, struct smx_position *position)
{
	uint32_t turns = smx_random_below(seed, TURNS_MAX + 1);
	while (turns && random_step(game, arena, seed, false, position))
		turns--;
	for (unsigned draw = 0; draw < DRAWS; draw++) {
		if (random_step(game, arena, seed, true, position))
			return true;
	}
	return false;
}

bool smxi_walk_to_decision(const struct smx_game *game, const struct smx_position *start, uint64_t *seed,
                           struct smx_position *position)
{
	struct smx_arena *arena = smx_arena_create(NULL);
	if (!arena)
		smxi_out_of_memory();
	bool found = false;
	for (unsigned games = 0; games < GAMES && !found; games++) {
		*position = *start;
		found = walk(game, arena, seed, position);
	}
	smx_arena_destroy(arena);
	return found;
}
