#include "tests/support/toy.h"

#include <starmax/random.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POOL_MAX = 12, REPLIES_MAX = 5, WEIGHT_MAX = 1000, PLY_STATES = 24 };

/* Greatest magnitude of values that leaves room for weighted sums. */
#define VALUE_MOST ((SMX_SUM_LIMIT - 1) / (SMX_OUTCOMES_MAX * WEIGHT_MAX))

static const char marker = 0;

/* A number below `bound` that depends on the state and on what it is asked for. */
static uint32_t draw(const struct toy_state *state, uint32_t what, uint32_t index, uint32_t bound)
{
	uint64_t seed = state->key.word[0] ^ ((uint64_t)what << 32 | index) * UINT64_C(0xd6e8feb86659fd93);
	smx_random(&seed);
	return smx_random_below(&seed, bound);
}

enum {
	DRAW_COUNT,
	DRAW_STYLE,
	DRAW_WEIGHT,
	DRAW_POOL,
	DRAW_END,
	DRAW_REPLIES,
	DRAW_FIRST,
	DRAW_STEP,
	DRAW_ID,
	DRAW_SIDE,
	DRAW_TWICE,
	DRAW_VALUE,
	DRAW_WIDTH,
	DRAW_ESTIMATE,
	DRAW_SPAN,
};

static struct smx_key key_of(const struct toy_state *state)
{
	uint64_t seed = state->id;
	struct smx_key key;
	for (unsigned i = 0; i < 2; i++) {
		seed ^= smx_random(&seed) + ((uint64_t)state->ply << 16 | (uint64_t)state->side << 8 | state->kind);
		key.word[i] = smx_random(&seed);
	}
	return key;
}

static struct toy_state make(uint64_t id, uint32_t ply, unsigned side, unsigned kind)
{
	struct toy_state state;
	memset(&state, 0, sizeof state);
	state.id = id;
	state.ply = ply;
	state.side = (uint8_t)side;
	state.kind = (uint8_t)kind;
	state.key = key_of(&state);
	return state;
}

struct smx_position toy_position(uint64_t seed, int outcome)
{
	struct smx_position position;
	memset(&position, 0, sizeof position);
	const struct toy_state state = make(seed, 0, 0, (unsigned)seed & ((1u << TOY_KIND_BITS) - 1));
	memcpy(position.state, &state, sizeof state);
	position.outcome = outcome;
	return position;
}

static unsigned outcomes(const void *from, uint32_t *weights)
{
	const struct toy_state *state = from;
	const unsigned most = state->kind & TOY_SMALL ? 3 : state->kind & TOY_MANY ? SMX_OUTCOMES_MAX : 8;
	/* exactly the most now and then */
	unsigned count = 1 + draw(state, DRAW_COUNT, 0, most + most / 4 + 1);
	if (count > most)
		count = most;
	static const uint32_t styles[] = {1, 2, 6, WEIGHT_MAX};
	const uint32_t style = styles[draw(state, DRAW_STYLE, 0, 4)];
	for (unsigned i = 0; i < count; i++)
		weights[i] = 1 + draw(state, DRAW_WEIGHT, i, style);
	return count;
}

static enum smx_node end_of(const struct toy_state *state, unsigned outcome)
{
	if (state->kind & TOY_ENDLESS)
		return SMX_NODE_OPEN;
	/* some nodes are full of ends, others have few */
	const uint32_t rarity = draw(state, DRAW_END, UINT32_MAX, 3) == 0 ? 3 : 12;
	switch (draw(state, DRAW_END, outcome, rarity)) {
	case 0:
		return SMX_NODE_WON;
	case 1:
		return state->kind & TOY_NEVER_LOST ? SMX_NODE_OPEN : SMX_NODE_LOST;
	default:
		return SMX_NODE_OPEN;
	}
}

/* One of the node's afterstates, which its outcomes draw from. */
static struct toy_state pool_state(const struct toy_state *state, unsigned index)
{
	const uint32_t ply = state->ply + 1;
	uint64_t id;
	if (state->kind & TOY_TRANSPOSITIONS)
		id = (draw(state, DRAW_ID, index, PLY_STATES / POOL_MAX) * POOL_MAX + index) << TOY_KIND_BITS | state->kind;
	else
		id = state->key.word[1] + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
	struct toy_state next = make(id, ply, 1u - state->side, state->kind);
	if (state->kind & TOY_RANDOM_SIDES)
		next = make(id, ply, draw(&next, DRAW_SIDE, 0, 2), state->kind);
	return next;
}

static enum smx_node replies(const struct toy_state *state, unsigned outcome, struct toy_state *list, size_t *count)
{
	const enum smx_node end = end_of(state, outcome);
	if (end != SMX_NODE_OPEN)
		return end;
	const unsigned most = state->kind & TOY_SMALL ? 3 : REPLIES_MAX;
	const unsigned pool = 1 + draw(state, DRAW_POOL, 0, state->kind & TOY_SMALL ? 5 : POOL_MAX);
	unsigned wanted = 1 + draw(state, DRAW_REPLIES, outcome, most);
	if (wanted > pool)
		wanted = pool;
	/* distinct and in no order: strides through a prime number of places */
	const unsigned first = draw(state, DRAW_FIRST, outcome, 13), step = 1 + draw(state, DRAW_STEP, outcome, 12);
	*count = 0;
	for (unsigned i = 0; *count < wanted; i++) {
		const unsigned index = (first + i * step) % 13;
		if (index < pool)
			list[(*count)++] = pool_state(state, index);
	}
	return SMX_NODE_OPEN;
}

static const void *open(const void *state, struct smx_arena *arena)
{
	void *copy = smx_arena_alloc(arena, sizeof(struct toy_state));
	return copy ? memcpy(copy, state, sizeof(struct toy_state)) : NULL;
}

static enum smx_node afterstates(const void *expansion, unsigned outcome, struct smx_arena *arena,
                                 struct smx_afterstates *list)
{
	struct toy_state *states = smx_arena_alloc(arena, REPLIES_MAX * sizeof *states);
	if (!states)
		return SMX_NODE_NO_MEMORY;
	list->states = states;
	return replies(expansion, outcome, states, &list->count);
}

static void turns(const struct smx_position *position, smx_turn_visitor *visit, void *context)
{
	const struct toy_state *state = (const struct toy_state *)(const void *)position->state;
	struct toy_state list[REPLIES_MAX];
	size_t count = 0;
	const unsigned outcome = (unsigned)position->outcome;
	if (replies(state, outcome, list, &count) == SMX_NODE_WON) {
		visit(context, &(struct smx_turn){.step = {0}, .steps = 1, .spent = 1, .wins = true}, NULL);
		return;
	}
	for (uint16_t i = 0; i < count; i++) {
		const struct smx_turn turn = {.step = {i}, .steps = 1, .spent = 1};
		if (!visit(context, &turn, &list[i]))
			return;
	}
	/* some afterstates are reached a second time */
	for (uint16_t i = 0; i < count; i++) {
		const struct smx_turn turn = {.step = {i, 1}, .steps = 2, .spent = 1};
		if (draw(state, DRAW_TWICE, outcome * REPLIES_MAX + i, 3) == 0 && !visit(context, &turn, &list[i]))
			return;
	}
}

static unsigned side_to_move(const void *state)
{
	return ((const struct toy_state *)state)->side;
}

static bool self_check(const void *state)
{
	const struct smx_key key = key_of(state);
	return memcmp(&key, state, sizeof key) == 0;
}

static enum smx_status parse(const char *text, size_t length, struct smx_position *position, struct smx_error *error)
{
	char copy[SMX_TEXT_MAX];
	uint64_t seed;
	int outcome = SMX_NO_OUTCOME, used = 0, used_outcome = 0;
	uint32_t weights[SMX_OUTCOMES_MAX];
	if (length < sizeof copy) {
		memcpy(copy, text, length);
		copy[length] = '\0';
		const int found = sscanf(copy, "toy %" SCNu64 "%n %d%n", &seed, &used, &outcome, &used_outcome);
		if (found >= 1 && (size_t)(found == 2 ? used_outcome : used) == length) {
			*position = toy_position(seed, outcome);
			if (outcome >= SMX_NO_OUTCOME && outcome < (int)outcomes(position->state, weights))
				return SMX_OK;
		}
	}
	if (error) {
		error->offset = 0;
		snprintf(error->message, sizeof error->message, "not a toy position");
	}
	return SMX_ERR_PARSE;
}

static size_t format(const struct smx_position *position, char *text)
{
	const struct toy_state *state = (const struct toy_state *)(const void *)position->state;
	if (position->outcome == SMX_NO_OUTCOME)
		return (size_t)snprintf(text, SMX_TEXT_MAX, "toy %" PRIu64, state->id);
	return (size_t)snprintf(text, SMX_TEXT_MAX, "toy %" PRIu64 " %d", state->id, position->outcome);
}

static size_t outcome_name(const void *state, int outcome, char *text)
{
	(void)state;
	return (size_t)snprintf(text, SMX_TEXT_MAX, "%d", outcome);
}

static size_t format_turn(const struct smx_turn *turn, char *text)
{
	return (size_t)snprintf(text, SMX_TEXT_MAX, "%u%s", (unsigned)turn->step[0], turn->steps > 1 ? "+" : "");
}

/* ---- evaluators ---- */

static void evaluate(const void *context, const void *states, size_t count, unsigned side, smx_value *values)
{
	const struct smx_evaluator *evaluator = context;
	const struct toy_state *state = states;
	const uint64_t range = (uint64_t)(evaluator->hi - evaluator->lo) + 1;
	for (size_t i = 0; i < count; i++) {
		uint64_t seed = state[i].key.word[1] ^ (side + DRAW_VALUE) * UINT64_C(0xd6e8feb86659fd93);
		values[i] = evaluator->lo + (smx_value)(smx_random(&seed) % range);
	}
}

#define TOY_EVALUATOR(id, bits, least, most, lost, won) \
	static const struct smx_evaluator id = {            \
		.name = #id,                                    \
		.unit = "points",                               \
		.scale_bits = (bits),                           \
		.lo = (least),                                  \
		.hi = (most),                                   \
		.loss = (lost),                                 \
		.win = (won),                                   \
		.evaluate = evaluate,                           \
		.context = &id,                                 \
		.fold = &marker,                                \
	}

TOY_EVALUATOR(ties, 0, -3, 3, -10, 10);
TOY_EVALUATOR(inside, 4, -50, 50, -20, 30); /* the end is not the extreme */
TOY_EVALUATOR(above, 1, 20, 90, 0, 10);     /* a win is worse than going on */
TOY_EVALUATOR(below, 2, -90, -20, -5, 0);   /* a loss is better */
TOY_EVALUATOR(two, 0, -1, 0, -1, 0);
TOY_EVALUATOR(one, 0, -7, -7, -7, -7);
TOY_EVALUATOR(fraction, 30, 0, 1 << 30, 0, 1 << 30);
TOY_EVALUATOR(lopsided, 16, -1000, 100000, -(INT64_C(1) << 40), 100001);
TOY_EVALUATOR(huge, 48, -VALUE_MOST, VALUE_MOST, -VALUE_MOST, VALUE_MOST);

const struct smx_evaluator *const toy_evaluators[] = {&ties, &inside,   &above,    &below, &two,
                                                      &one,  &fraction, &lopsided, &huge,  NULL};

/* ---- hooks ---- */

static uint64_t won(const void *expansion)
{
	uint32_t weights[SMX_OUTCOMES_MAX];
	const unsigned count = outcomes(expansion, weights);
	uint64_t mask = 0;
	for (unsigned i = 0; i < count; i++)
		mask |= (uint64_t)(end_of(expansion, i) == SMX_NODE_WON) << i;
	return mask;
}

static smx_value value_of(const struct toy_state *state, const struct smx_evaluator *evaluator, unsigned side,
                          unsigned depth);

static smx_value outcome_value(const struct toy_state *state, const struct smx_evaluator *evaluator, unsigned side,
                               unsigned depth, unsigned outcome)
{
	struct toy_state list[REPLIES_MAX];
	size_t count = 0;
	const enum smx_node node = replies(state, outcome, list, &count);
	const bool own = state->side == side;
	if (node != SMX_NODE_OPEN)
		return (node == SMX_NODE_WON) == own ? evaluator->win : evaluator->loss;
	smx_value best = 0;
	for (size_t i = 0; i < count; i++) {
		const smx_value value = value_of(&list[i], evaluator, side, depth - 1);
		if (i == 0 || (own ? value > best : value < best))
			best = value;
	}
	return best;
}

static smx_value value_of(const struct toy_state *state, const struct smx_evaluator *evaluator, unsigned side,
                          unsigned depth)
{
	if (depth == 0) {
		smx_value value;
		evaluator->evaluate(evaluator->context, state, 1, side, &value);
		return value;
	}
	uint32_t weights[SMX_OUTCOMES_MAX], total = 0;
	const unsigned count = outcomes(state, weights);
	smx_value sum = 0;
	for (unsigned i = 0; i < count; i++) {
		sum += (smx_value)weights[i] * outcome_value(state, evaluator, side, depth, i);
		total += weights[i];
	}
	return smx_div_floor(sum, total);
}

static uint64_t fold(const void *expansion, const struct smx_evaluator *evaluator, uint64_t mask,
                     unsigned evaluated_side, smx_value *values)
{
	const struct toy_state *state = expansion;
	uint64_t lost = 0;
	for (; mask; mask &= mask - 1) {
		const unsigned outcome = (unsigned)__builtin_ctzll(mask);
		const enum smx_node end = end_of(state, outcome);
		if (end == SMX_NODE_WON)
			abort(); /* the search may not ask for it */
		if (end == SMX_NODE_LOST)
			lost |= UINT64_C(1) << outcome;
		else
			values[outcome] = outcome_value(state, evaluator, evaluated_side, 1, outcome);
	}
	return lost;
}

/* The true value, less the one and more the other of two random shares of the range, which shrink from stage to stage;
 * sometimes nothing, sometimes everything. */
static void narrow(const struct toy_state *state, const struct smx_evaluator *evaluator, unsigned side, unsigned depth,
                   unsigned stage, struct smx_glance *glance)
{
	const smx_value truth = value_of(state, evaluator, side, depth);
	const smx_value range = smx_evaluator_ceiling(evaluator) / 2 - smx_evaluator_floor(evaluator) / 2;
	for (unsigned up = 0; up < 2; up++) {
		const uint32_t form = draw(state, DRAW_WIDTH, (stage * 2 + up) * 2, 8);
		const uint32_t share = draw(state, DRAW_WIDTH, (stage * 2 + up) * 2 + 1, 64) >> stage;
		const smx_value width = form == 0 ? 0 : range / 64 * share + range % 64 * share / 64;
		if (form == 1)
			continue; /* nothing is known */
		if (up && glance->upper - width > truth)
			glance->upper = truth + width;
		if (!up && glance->lower + width < truth)
			glance->lower = truth - width;
	}
}

static void look(const void *states, size_t count, const struct smx_evaluator *evaluator, unsigned evaluated_side,
                 unsigned depth, struct smx_glance *glances)
{
	const struct toy_state *state = states;
	for (size_t i = 0; i < count; i++) {
		struct smx_glance *glance = &glances[i];
		glance->lower = smx_evaluator_floor(evaluator);
		glance->upper = smx_evaluator_ceiling(evaluator);
		if (depth <= 2)
			narrow(&state[i], evaluator, evaluated_side, depth, 0, glance);
		/* a guess may be anything, true or not, inside the bounds or not */
		if (draw(&state[i], DRAW_ESTIMATE, 0, 2))
			glance->estimate = value_of(&state[i], evaluator, evaluated_side, draw(&state[i], DRAW_ESTIMATE, 1, 2));
		else
			evaluate(evaluator, &state[i], 1, 1 - evaluated_side, &glance->estimate);
	}
}

static bool bound(const void *state, const struct smx_evaluator *evaluator, unsigned evaluated_side, unsigned depth,
                  unsigned stage, struct smx_glance *glance)
{
	if (depth > 2 || stage > (depth == 1 ? 3u : 1u))
		return false;
	narrow(state, evaluator, evaluated_side, depth, stage, glance);
	return true;
}

/* Between the least and the most that an outcome is worth, widened as bounds are. */
static void span(const void *from, const struct smx_evaluator *evaluator, unsigned side, unsigned depth,
                 smx_value *lower, smx_value *upper)
{
	const struct toy_state *state = from;
	uint32_t weights[SMX_OUTCOMES_MAX];
	const unsigned count = outcomes(state, weights);
	if (depth > 2)
		return;
	const smx_value room = smx_evaluator_ceiling(evaluator) / 64 - smx_evaluator_floor(evaluator) / 64;
	smx_value least = INT64_MAX, most = INT64_MIN;
	for (unsigned i = 0; i < count; i++) {
		const smx_value value = outcome_value(state, evaluator, side, depth, i);
		least = value < least ? value : least;
		most = value > most ? value : most;
	}
	const uint32_t down = draw(state, DRAW_SPAN, 2 * depth, 8), up = draw(state, DRAW_SPAN, 2 * depth + 1, 8);
	/* 0: nothing is known */
	if (down && least - room * (down - 1) > *lower)
		*lower = least - room * (down - 1);
	if (up && most + room * (up - 1) < *upper)
		*upper = most + room * (up - 1);
}

#define TOY_GAME(id, ...)                                                   \
	const struct smx_game id = {.name = #id,                                \
	                            .title = "a tree made by hashing",          \
	                            .start = "toy 24",                          \
	                            .state_size = sizeof(struct toy_state),     \
	                            .total_max = SMX_OUTCOMES_MAX * WEIGHT_MAX, \
	                            .evaluators = toy_evaluators,               \
	                            .parse = parse,                             \
	                            .format = format,                           \
	                            .side_to_move = side_to_move,               \
	                            .outcomes = outcomes,                       \
	                            .outcome_name = outcome_name,               \
	                            .open = open,                               \
	                            .afterstates = afterstates,                 \
	                            .turns = turns,                             \
	                            .format_turn = format_turn,                 \
	                            .self_check = self_check,                   \
	                            __VA_ARGS__}

TOY_GAME(toy_plain, .won = NULL);
TOY_GAME(toy_won, .won = won);
TOY_GAME(toy_hooked, .won = won, .fold = fold, .look = look, .bound = bound, .span = span);
