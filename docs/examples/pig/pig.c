/* Pig, a game in one file: rules, evaluators, and a program that analyses a position.
 *
 *     pig ["SCORE0 SCORE1 TOTAL SIDE [ROLL]" [DEPTH [race|solution]]]
 *
 * The side to move rolls a die. A 1 loses the turn total, any other roll is added to it; then the side rolls again, or holds:
 * the total is added to its score. After a 1 and after holding the other side rolls. Who can hold with PIG_TARGET points has
 * won. To starmax a turn is one roll with the choice that follows. */
#include "solution.h"
#include <starmax/starmax.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACES = 6, ROLL = 0, HOLD = 1, SCALE_BITS = 40 };
#define ONE (INT64_C(1) << SCALE_BITS) /* probability 1 */

struct state {
	struct smx_key key;
	uint8_t score[2], total, side, padding[12];
};

static struct state make(unsigned score0, unsigned score1, unsigned total, unsigned side)
{
	struct state s = {.score = {(uint8_t)score0, (uint8_t)score1}, .total = (uint8_t)total, .side = (uint8_t)side};
	uint64_t seed = (uint64_t)score0 << 24 | score1 << 16 | total << 8 | side;
	s.key.word[0] = smx_random(&seed); /* one-to-one: no two states have the same */
	s.key.word[1] = smx_random(&seed);
	return s;
}

static bool self_check(const void *state)
{
	const struct state *s = state, again = make(s->score[0], s->score[1], s->total, s->side);
	return memcmp(s, &again, sizeof again) == 0 && s->side < 2 && s->score[1 - s->side] < PIG_TARGET &&
	       s->score[s->side] + s->total < PIG_TARGET && s->score[0] != 1 && s->score[1] != 1 && s->total != 1;
}

static unsigned side_to_move(const void *state)
{
	return ((const struct state *)state)->side;
}

static unsigned outcomes(const void *state, uint32_t *weights)
{
	(void)state;
	for (unsigned i = 0; i < FACES; i++)
		weights[i] = 1;
	return FACES;
}

static const char *const rolls[] = {"", " 1", " 2", " 3", " 4", " 5", " 6"};

static size_t outcome_name(const void *state, int outcome, char *text)
{
	(void)state;
	return (size_t)snprintf(text, SMX_TEXT_MAX, "%s", rolls[outcome + 1] + 1);
}

/* An outcome's afterstates and their number: 1 where the turn total is lost, 0 where the game is won. */
static size_t replies(const struct state *s, unsigned outcome, struct state *next)
{
	const bool lost = outcome == 0;
	const unsigned side = s->side, total = lost ? 0 : s->total + outcome + 1, held = s->score[side] + total;
	next[ROLL] = make(s->score[0], s->score[1], total, lost ? 1 - side : side); /* or the pass */
	next[HOLD] = side ? make(s->score[0], held, 0, 0) : make(held, s->score[1], 0, 1);
	return lost ? 1 : held < PIG_TARGET ? 2 : 0;
}

static const void *open_node(const void *state, struct smx_arena *arena)
{
	(void)arena;
	return state; /* the outcomes share nothing that would have to be made */
}

static enum smx_node afterstates(const void *expansion, unsigned outcome, struct smx_arena *arena,
                                 struct smx_afterstates *list)
{
	struct state *next = smx_arena_alloc(arena, 2 * sizeof *next);
	if (!next)
		return SMX_NODE_NO_MEMORY;
	*list = (struct smx_afterstates){next, replies(expansion, outcome, next)};
	return list->count ? SMX_NODE_OPEN : SMX_NODE_WON;
}

static void turns(const struct smx_position *position, smx_turn_visitor *visit, void *context)
{
	struct state next[2];
	const size_t count = replies((const void *)position->state, (unsigned)position->outcome, next);
	struct smx_turn turn = {.step = {count ? ROLL : HOLD}, .steps = count != 1, .spent = 1, .wins = count == 0};
	if (visit(context, &turn, count ? &next[0] : NULL) && count == 2) {
		turn.step[0] = HOLD;
		visit(context, &turn, &next[1]);
	}
}

static size_t format_turn(const struct smx_turn *turn, char *text)
{
	return (size_t)snprintf(text, SMX_TEXT_MAX, "%s", !turn->steps ? "pass" : turn->step[0] == HOLD ? "hold" : "roll");
}

static size_t format(const struct smx_position *position, char *text)
{
	const struct state *s = (const void *)position->state;
	return (size_t)snprintf(text, SMX_TEXT_MAX, "%d %d %d %d%s", s->score[0], s->score[1], s->total, s->side,
	                        rolls[position->outcome + 1]);
}

/* What format does not write again is refused. */
static enum smx_status parse(const char *text, size_t length, struct smx_position *position, struct smx_error *error)
{
	char copy[SMX_TEXT_MAX] = "", again[SMX_TEXT_MAX];
	unsigned n[5] = {0};
	memcpy(copy, text, length < sizeof copy ? length : 0);
	sscanf(copy, "%3u %3u %3u %3u %3u", &n[0], &n[1], &n[2], &n[3], &n[4]);
	const struct state s = make(n[0], n[1], n[2], n[3]);
	*position = (struct smx_position){.outcome = (int)(n[4] % (FACES + 1)) - 1};
	memcpy(position->state, &s, sizeof s);
	if (format(position, again) == length && memcmp(again, copy, length) == 0 && self_check(&s))
		return SMX_OK;
	if (error)
		*error = (struct smx_error){.message = "not two scores, a turn total, a side (0, 1), [a roll]"};
	return SMX_ERR_PARSE;
}

/* How likely the side to roll is to win: a rule of thumb. With a points to go against b it is b / (a + b). */
static double points_to_go(unsigned own, unsigned other, unsigned total)
{
	return (double)(PIG_TARGET - other) / (double)(2 * PIG_TARGET - own - total - other);
}

static void evaluate(const void *context, const void *states, size_t count, unsigned side, smx_value *values)
{
	pig_estimate *const *of = context;
	const struct state *s = states;
	for (size_t i = 0; i < count; i++, s++) {
		const double wins = (*of)(s->score[s->side], s->score[1 - s->side], s->total);
		values[i] = smx_value_from_double(s->side == side ? wins : 1 - wins, SCALE_BITS);
	}
}

#define EVALUATOR(id, function)                                       \
	static const struct smx_evaluator id = {.name = #id,              \
	                                        .unit = "probability",    \
	                                        .scale_bits = SCALE_BITS, \
	                                        .hi = ONE,                \
	                                        .win = ONE,               \
	                                        .evaluate = evaluate,     \
	                                        .context = &(pig_estimate *const){function}}

EVALUATOR(race, points_to_go);
EVALUATOR(solution, pig_solution);

static const struct smx_game pig = {
	.name = "pig",
	.title = "Pig: roll again or hold",
	.start = "0 0 0 0",
	.state_size = sizeof(struct state),
	.total_max = FACES,
	.evaluators = (const struct smx_evaluator *const[]){&race, &solution, NULL},
	.parse = parse,
	.format = format,
	.side_to_move = side_to_move,
	.outcomes = outcomes,
	.outcome_name = outcome_name,
	.open = open_node,
	.afterstates = afterstates,
	.turns = turns,
	.format_turn = format_turn,
	.self_check = self_check,
};

int main(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : pig.start;
	struct smx_position position;
	struct smx_search *search = NULL;
	struct smx_search_options options;
	const struct smx_result *result;
	struct smx_error error = {.message = "no such evaluator, or no memory"};
	smx_search_options_init(&options, &pig);
	options.depth_plies = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 8;
	options.evaluator = smx_game_evaluator(&pig, argc > 3 ? argv[3] : "race");
	options.exact = SMX_EXACT_ALL;
	const bool ok = options.evaluator && pig.parse(text, strlen(text), &position, &error) == SMX_OK &&
	                smx_search_create(&pig, NULL, &search) == SMX_OK &&
	                smx_search_run(search, &position, &options, &result, &error) == SMX_OK;
	if (!ok)
		fprintf(stderr, "pig: %s\n", error.message);
	for (size_t i = 0; ok && i < result->candidate_count; i++) {
		char turn[SMX_TEXT_MAX];
		pig.format_turn(&result->candidates[i].turn, turn);
		printf("%s %.6f\n", turn, (double)result->candidates[i].value / ONE);
	}
	if (ok)
		printf("value %.6f\n", (double)result->value / ONE);
	smx_search_destroy(search);
	return ok ? 0 : 1;
}
