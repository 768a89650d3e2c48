#include "cli/contest.h"

#include "cli/report.h"
#include "cli/walk.h"

#include <starmax/random.h>

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const smxi_player_names[SMXI_PLAYERS] = {"A", "B"};

uint64_t smxi_record_turns(const struct smxi_record *record)
{
	uint64_t turns = 0;
	for (unsigned i = 0; i < SMXI_PLAYERS; i++)
		turns += record->effort[i].turns;
	return turns;
}

const char *smxi_record_result(const struct smxi_contest *contest, const struct smxi_record *record,
                               char text[SMXI_RESULT_TEXT])
{
	const struct smx_solo *solo = contest->game->solo;
	const uint64_t turns = smxi_record_turns(record);
	const char *cut = record->cut ? "cut " : "";
	if (solo)
		snprintf(text, SMXI_RESULT_TEXT, "%s %" PRId64 ", %s %u, %safter %" PRIu64 " turns", solo->points,
		         record->points, solo->goal->title, record->goal, cut, turns);
	else if (record->winner == SMXI_NOBODY)
		snprintf(text, SMXI_RESULT_TEXT, "a draw, %safter %" PRIu64 " turns", cut, turns);
	else
		snprintf(text, SMXI_RESULT_TEXT, "%s wins after %" PRIu64 " turns", smxi_player_names[record->winner], turns);
	return text;
}

static void show_position(const struct smx_game *game, const struct smx_position *position)
{
	char text[SMX_DRAWING_MAX];
	if (game->draw)
		game->draw(position, text);
	else
		game->format(position, text);
	printf("%s%s", text, game->draw ? "" : "\n");
}

void smxi_contest_show(const struct smxi_contest *contest, const struct smx_position *position, unsigned player,
                       const struct smxi_record *so_far, const struct smxi_chosen *chosen)
{
	const struct smx_game *game = contest->game;
	const struct smx_evaluator *evaluator = contest->players[player].options.evaluator;
	char text[SMX_TEXT_MAX], value[SMXI_REPORT_TEXT];
	show_position(game, position);
	if (!chosen) {
		putchar('\n');
		return;
	}
	printf("seed %" PRIu64 ", turn %" PRIu64, so_far->seed, smxi_record_turns(so_far) + 1);
	if (!game->solo)
		printf(", %s", smxi_player_names[player]);
	printf(": %s", smxi_report_turn(game, &chosen->turn, text));
	if (chosen->has_value)
		printf(", value %s %s", smxi_report_value(chosen->value, evaluator, value), evaluator->unit);
	if (game->solo)
		printf(", so far %" PRId64 " %s", so_far->points, game->solo->points);
	puts("\n");
	fflush(stdout);
}

/* The outcome before turn `number` of the game of a seed. */
static int draw_outcome(const struct smx_game *game, const void *state, uint64_t seed, uint64_t number)
{
	uint64_t mixed = smx_random(&seed) + number;
	return (int)smxi_walk_outcome(game, state, &mixed);
}

struct step {
	const struct smx_turn *turn;
	struct smx_position *after;
	size_t state_size;
	bool found;
};

static bool take_step(void *context, const struct smx_turn *turn, const void *afterstate)
{
	struct step *step = context;
	step->found = smx_turn_equal(turn, step->turn);
	if (step->found && afterstate)
		memcpy(step->after->state, afterstate, step->state_size);
	return !step->found;
}

/* Make a legal turn, which does not win. */
static void make_turn(const struct smx_game *game, struct smx_position *position, const struct smx_turn *turn)
{
	struct smx_position after = {.outcome = SMX_NO_OUTCOME};
	struct step step = {.turn = turn, .after = &after, .state_size = game->state_size};
	game->turns(position, take_step, &step);
	assert(step.found);
	*position = after;
}

static void add_effort(struct smxi_effort *sum, const struct smxi_effort *turn)
{
	sum->turns++;
	sum->chance_nodes += turn->chance_nodes;
	sum->searched += turn->searched;
	sum->depths += turn->depths;
	sum->time_ms += turn->time_ms;
}

static void note_goal(const struct smx_solo *solo, const struct smx_position *position, struct smxi_record *record)
{
	const unsigned reached = solo ? solo->goal->of(position) : 0;
	if (reached > record->goal)
		record->goal = reached;
}

bool smxi_contest_play(const struct smxi_contest *contest, uint64_t seed, unsigned first, smxi_chooser *choose,
                       void *context, struct smxi_record *record, struct smx_position *last)
{
	const struct smx_game *game = contest->game;
	const struct smx_solo *solo = game->solo;
	const unsigned first_side = game->side_to_move(contest->start.state);
	*record = (struct smxi_record){.seed = seed, .first = first, .winner = SMXI_NOBODY};
	*last = contest->start;
	for (uint64_t number = 1;; number++) {
		record->cut = contest->turns_max && number > contest->turns_max;
		if (!record->cut && last->outcome == SMX_NO_OUTCOME)
			last->outcome = draw_outcome(game, last->state, seed, number);
		note_goal(solo, last, record);
		if (record->cut)
			return true;
		const unsigned player = solo ? 0 : first ^ (game->side_to_move(last->state) != first_side);
		struct smxi_chosen chosen = {.has_value = false};
		const enum smxi_choice choice = choose(context, last, player, record, &chosen);
		if (choice == SMXI_CHOICE_NO_MORE)
			return false;
		if (choice == SMXI_CHOICE_NONE) {
			record->winner = solo ? SMXI_NOBODY : (int)!player;
			return true;
		}
		add_effort(&record->effort[player], &chosen.effort);
		record->points += solo ? solo->reward(last, &chosen.turn) : 0;
		if (chosen.turn.wins) {
			record->winner = solo ? SMXI_NOBODY : (int)player;
			return true;
		}
		make_turn(game, last, &chosen.turn);
	}
}
