/* What a search believes on its way, on trees made by hashing: every claim against the plain value, and a game that
 * lies now and then, which must be found out. Claims are checked twice: by the recursion here, which remembers nothing,
 * and by the one of the command. */
#include "cli/claims.h"
#include "tests/support/toy.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the recursion, through nothing but the game's required hooks ---- */

struct checker {
	const struct smx_game *game;
	const struct smx_evaluator *evaluator;
	struct smx_arena *arena;
	unsigned side;
	uint64_t checked[SMXI_CLAIM_SOURCES][SMX_BOUND_STAGES], false_count, foreign;
	struct smx_claim first; /* the first false one; its states are gone */
	smx_value first_value;
	struct smx_key first_path[SMX_DEPTH_MAX]; /* from the claim's node up */
	unsigned first_length;
	struct smxi_claims *command;
};

static smx_value plain_value(const struct checker *c, const void *state, unsigned depth)
{
	smx_value value;
	if (depth == 0) {
		c->evaluator->evaluate(c->evaluator->context, state, 1, c->side, &value);
		return value;
	}
	uint32_t weights[SMX_OUTCOMES_MAX];
	const unsigned count = c->game->outcomes(state, weights);
	const bool own = c->game->side_to_move(state) == c->side;
	const struct smx_arena_mark mark = smx_arena_mark(c->arena);
	const void *expansion = c->game->open(state, c->arena);
	smx_value sum = 0, total = 0;
	for (unsigned i = 0; i < count; i++) {
		struct smx_afterstates list;
		const enum smx_node node = c->game->afterstates(expansion, i, c->arena, &list);
		smx_value best = (node == SMX_NODE_WON) == own ? c->evaluator->win : c->evaluator->loss;
		for (size_t k = 0; node == SMX_NODE_OPEN && k < list.count; k++) {
			value = plain_value(c, (const unsigned char *)list.states + k * c->game->state_size, depth - 1);
			if (k == 0 || (own ? value > best : value < best))
				best = value;
		}
		sum += weights[i] * best;
		total += weights[i];
	}
	smx_arena_release(c->arena, mark);
	return smx_div_floor(sum, total);
}

static void check(void *context, const struct smx_claim *claim)
{
	struct checker *c = context;
	const smx_value value = plain_value(c, claim->visit.state, claim->depth);
	c->foreign += claim->evaluated_side != c->side;
	c->checked[claim->source][claim->stage]++;
	if ((value < claim->lower || value > claim->upper) && c->false_count++ == 0) {
		c->first = *claim;
		c->first_value = value;
		for (const struct smx_visit *visit = &claim->visit; visit; visit = visit->parent)
			c->first_path[c->first_length++] = *(const struct smx_key *)visit->state;
	}
	smxi_claims_check(c->command, claim);
}

static struct checker checker_create(const struct smx_game *game)
{
	struct checker c = {.game = game, .arena = smx_arena_create(NULL), .command = smxi_claims_create(game)};
	cr_assert(c.arena && c.command);
	return c;
}

static void checker_destroy(struct checker *c)
{
	smx_arena_destroy(c->arena);
	smxi_claims_destroy(c->command);
}

/* The command's counts begin anew with each search; so do those of the first false claim here. */
static void checker_begin(struct checker *c, const struct smx_evaluator *evaluator, unsigned side)
{
	c->evaluator = evaluator;
	c->side = side;
	memset(c->checked, 0, sizeof c->checked);
	c->false_count = c->foreign = c->first_length = 0;
	smxi_claims_begin(c->command, evaluator);
}

/* The command has seen the same, and tells the same of the first false claim. */
static void expect_agreement(const struct checker *c, uint64_t seed)
{
	const struct smxi_claims *command = c->command;
	cr_assert(!command->no_memory);
	cr_assert_eq(c->foreign, (uint64_t)0, "seed %" PRIu64, seed);
	cr_assert_eq(memcmp(c->checked, command->checked, sizeof c->checked), 0, "seed %" PRIu64, seed);
	cr_assert_eq(c->false_count, command->false_count, "seed %" PRIu64, seed);
	if (!c->false_count)
		return;
	const struct smxi_false_claim *first = &command->first;
	cr_assert(first->source == c->first.source && first->stage == c->first.stage && first->depth == c->first.depth &&
	              first->lower == c->first.lower && first->upper == c->first.upper && first->value == c->first_value,
	          "seed %" PRIu64, seed);
	cr_assert_eq(first->length, c->first_length);
	for (unsigned i = 0; i < first->length; i++)
		cr_assert_eq(memcmp(first->path[i].state, &c->first_path[first->length - 1 - i], sizeof(struct smx_key)), 0,
		             "seed %" PRIu64 " step %u", seed, i);
}

/* ---- searches ---- */

struct way {
	enum smx_star star;
	enum smx_leaves leaves;
	bool no_bounds, no_frames;
	size_t probes;
	bool table, exact_only;
};

static const struct way ways[] = {
	{SMX_STAR_NONE, SMX_LEAVES_LIST, false, false, 0, false, false},
	{SMX_STAR1, SMX_LEAVES_FOLD, false, false, 0, false, false},
	{SMX_STAR2, SMX_LEAVES_FOLD, false, false, 0, false, false},
	{SMX_STAR2, SMX_LEAVES_LIST, true, false, 0, false, false},
	{SMX_STAR2, SMX_LEAVES_LIST, false, true, 3, false, false},
	{SMX_STAR1, SMX_LEAVES_LIST, false, false, 0, true, false},
	{SMX_STAR2, SMX_LEAVES_FOLD, false, false, 0, true, true},
	{SMX_STAR2, SMX_LEAVES_FOLD, false, true, 0, true, false},
	{SMX_STAR_ETC, SMX_LEAVES_FOLD, false, false, 0, true, false},
	{SMX_STAR_ETC, SMX_LEAVES_LIST, true, true, 2, true, false},
};

enum { WAYS = sizeof ways / sizeof *ways };

struct totals {
	uint64_t checked[SMXI_CLAIM_SOURCES][SMX_BOUND_STAGES], sum, false_count, searches;
};

static void add(struct totals *totals, const struct checker *c)
{
	for (unsigned source = 0; source < SMXI_CLAIM_SOURCES; source++)
		for (unsigned stage = 0; stage < SMX_BOUND_STAGES; stage++) {
			totals->checked[source][stage] += c->checked[source][stage];
			totals->sum += c->checked[source][stage];
		}
	totals->false_count += c->false_count;
	totals->searches++;
}

static void print(const char *name, const struct totals *t)
{
	const uint64_t *bound = t->checked[SMX_CLAIM_BOUND];
	fprintf(stderr,
	        "%s: %" PRIu64 " searches, claims: search %" PRIu64 ", table %" PRIu64 ", look %" PRIu64 ", bounds %" PRIu64
	        " %" PRIu64 " %" PRIu64 "; %" PRIu64 " false\n",
	        name, t->searches, t->checked[SMX_CLAIM_SEARCH][0], t->checked[SMX_CLAIM_TABLE][0],
	        t->checked[SMX_CLAIM_LOOK][0], bound[1], bound[2], bound[3], t->false_count);
}

static bool note_turn(void *context, const struct smx_turn *turn, const void *afterstate)
{
	(void)turn;
	(void)afterstate;
	*(bool *)context = true;
	return false;
}

static bool has_turns(const struct smx_game *game, const struct smx_position *position)
{
	bool found = false;
	if (position->outcome != SMX_NO_OUTCOME)
		game->turns(position, note_turn, &found);
	return found;
}

static void run(struct smx_search *search, struct checker *c, uint64_t seed, unsigned evaluator, const struct way *way,
                struct smx_table *table)
{
	const unsigned kind = (unsigned)seed & ((1u << TOY_KIND_BITS) - 1);
	uint32_t weights[SMX_OUTCOMES_MAX];
	struct smx_position position = toy_position(seed, SMX_NO_OUTCOME);
	const unsigned outcomes = c->game->outcomes(position.state, weights);
	/* some of them decisions, where there is any; the evaluated side is that which moves */
	position.outcome = (int)(seed >> TOY_KIND_BITS) % (int)(outcomes + 1) - 1;
	if (!has_turns(c->game, &position))
		position.outcome = SMX_NO_OUTCOME;
	struct smx_search_options options;
	smx_search_options_init(&options, c->game);
	options.depth_plies = kind & TOY_SMALL ? 4 : kind & TOY_MANY ? 2 : 3;
	options.evaluator = options.prerank = toy_evaluators[evaluator];
	options.star = way->star;
	options.leaves = way->leaves;
	options.no_bounds = way->no_bounds;
	options.no_frames = way->no_frames;
	options.probe_replies = way->probes;
	options.table = way->table ? table : NULL;
	options.exact_only = way->exact_only;
	options.on_claim = check;
	options.claim_context = c;
	checker_begin(c, options.evaluator, c->game->side_to_move(position.state));
	const struct smx_result *result;
	struct smx_error error;
	const enum smx_status status = smx_search_run(search, &position, &options, &result, &error);
	cr_assert_eq(status, SMX_OK, "%s", error.message);
}

static unsigned evaluator_count(void)
{
	unsigned count = 0;
	while (toy_evaluators[count])
		count++;
	return count;
}

/* Every way on every kind of tree: all claims hold. One table serves all, so that much of what it says is old. */
static struct totals check_honest(const struct smx_game *game, unsigned rounds, unsigned kinds_needed)
{
	struct totals totals = {.sum = 0};
	struct checker c = checker_create(game);
	struct smx_search *search;
	struct smx_table *table;
	cr_assert_eq(smx_search_create(game, NULL, &search), SMX_OK);
	cr_assert_eq(smx_table_create(1 << 16, &table, NULL), SMX_OK);
	const unsigned evaluators = evaluator_count();
	for (uint64_t seed = 0; seed < (uint64_t)rounds << TOY_KIND_BITS; seed++) {
		if ((seed & kinds_needed) != kinds_needed || ((seed & TOY_SMALL) && (seed & TOY_MANY)))
			continue;
		const unsigned evaluator = (unsigned)(seed >> TOY_KIND_BITS) % evaluators;
		for (unsigned w = 0; w < WAYS; w++) {
			run(search, &c, seed, evaluator, &ways[w], table);
			cr_assert_eq(c.false_count, (uint64_t)0,
			             "seed %" PRIu64 " way %u evaluator %s: source %d stage %u depth %u, %" PRId64
			             " is outside [%" PRId64 ", %" PRId64 "]",
			             seed, w, toy_evaluators[evaluator]->name, (int)c.first.source, c.first.stage, c.first.depth,
			             c.first_value, c.first.lower, c.first.upper);
			expect_agreement(&c, seed);
			add(&totals, &c);
		}
	}
	smx_table_destroy(table);
	smx_search_destroy(search);
	checker_destroy(&c);
	print(game->name, &totals);
	return totals;
}

Test(claims, hold_where_the_game_has_no_hooks)
{
	const struct totals plain = check_honest(&toy_plain, 9, 0), won = check_honest(&toy_won, 9, 0);
	cr_assert(plain.checked[SMX_CLAIM_SEARCH][0] > 0 && plain.checked[SMX_CLAIM_TABLE][0] > 0);
	cr_assert(won.checked[SMX_CLAIM_SEARCH][0] > 0 && won.checked[SMX_CLAIM_TABLE][0] > 0);
}

Test(claims, hold_with_every_bound_of_the_game)
{
	const struct totals totals = check_honest(&toy_hooked, 18, 0);
	cr_assert_gt(totals.checked[SMX_CLAIM_SEARCH][0], (uint64_t)0);
	cr_assert_gt(totals.checked[SMX_CLAIM_TABLE][0], (uint64_t)0);
	cr_assert_gt(totals.checked[SMX_CLAIM_LOOK][0], (uint64_t)0);
	for (unsigned stage = 1; stage < SMX_BOUND_STAGES; stage++)
		cr_assert_gt(totals.checked[SMX_CLAIM_BOUND][stage], (uint64_t)0, "stage %u", stage);
}

/* ---- lies ---- */

enum { LIE_EVERY = 7 };

/* Whether a liar lies about this chance node: one more than its value, where there is room for it. */
static bool is_lied_about(const void *state, const struct smx_evaluator *evaluator, unsigned side, unsigned depth,
                          smx_value *lie)
{
	if (((const struct smx_state *)state)->key.word[1] % LIE_EVERY != 0)
		return false;
	struct checker c = {.game = &toy_plain, .evaluator = evaluator, .arena = smx_arena_create(NULL), .side = side};
	cr_assert(c.arena);
	*lie = plain_value(&c, state, depth) + 1;
	smx_arena_destroy(c.arena);
	return *lie <= smx_evaluator_ceiling(evaluator);
}

static void lie(const void *state, const struct smx_evaluator *evaluator, unsigned side, unsigned depth,
                struct smx_glance *glance)
{
	smx_value claimed;
	if (!is_lied_about(state, evaluator, side, depth, &claimed))
		return;
	glance->lower = claimed;
	if (glance->upper < claimed)
		glance->upper = claimed;
}

static void lying_look(const void *states, size_t count, const struct smx_evaluator *evaluator, unsigned evaluated_side,
                       unsigned depth, struct smx_glance *glances)
{
	toy_hooked.look(states, count, evaluator, evaluated_side, depth, glances);
	for (size_t i = 0; i < count; i++)
		lie((const unsigned char *)states + i * toy_hooked.state_size, evaluator, evaluated_side, depth, &glances[i]);
}

static bool lying_bound(const void *state, const struct smx_evaluator *evaluator, unsigned evaluated_side,
                        unsigned depth, unsigned stage, struct smx_glance *glance)
{
	const bool has_stage = toy_hooked.bound(state, evaluator, evaluated_side, depth, stage, glance);
	if (has_stage && stage == 2)
		lie(state, evaluator, evaluated_side, depth, glance);
	return has_stage;
}

/* How many searches of a lying game have a false claim; the first false claim of each must be the lie itself. */
static unsigned find_lies(const struct smx_game *game, enum smx_claim_source source, unsigned stage, uint64_t searches)
{
	struct checker c = checker_create(game);
	struct smx_search *search;
	struct totals totals = {.sum = 0};
	unsigned found = 0;
	cr_assert_eq(smx_search_create(game, NULL, &search), SMX_OK);
	const struct way way = {SMX_STAR2, SMX_LEAVES_FOLD, false, false, 0, false, false};
	for (uint64_t i = 0; i < searches; i++) {
		const uint64_t seed = i << TOY_KIND_BITS | TOY_NEVER_LOST | TOY_TRANSPOSITIONS;
		run(search, &c, seed, (unsigned)i % evaluator_count(), &way, NULL);
		expect_agreement(&c, seed);
		add(&totals, &c);
		if (!c.false_count)
			continue;
		found++;
		cr_assert(c.first.source == source && c.first.stage == stage,
		          "seed %" PRIu64 ": the first false claim is of source %d, stage %u", seed, (int)c.first.source,
		          c.first.stage);
		cr_assert_eq(c.first.lower, c.first_value + 1, "seed %" PRIu64, seed);
	}
	smx_search_destroy(search);
	checker_destroy(&c);
	print(game->name, &totals);
	return found;
}

Test(claims, find_out_a_look_that_lies_by_one)
{
	struct smx_game liar = toy_hooked;
	liar.name = "lying look";
	liar.look = lying_look;
	cr_assert_gt(find_lies(&liar, SMX_CLAIM_LOOK, 0, 100), 10u);
}

Test(claims, find_out_a_bound_that_lies_by_one)
{
	struct smx_game liar = toy_hooked;
	liar.name = "lying bound";
	liar.bound = lying_bound;
	cr_assert_gt(find_lies(&liar, SMX_CLAIM_BOUND, 2, 400), 10u);
}

/* Knows nothing, and claims to know the exact value where it lies: so its searches never find out for themselves. */
static void forging_look(const void *states, size_t count, const struct smx_evaluator *evaluator,
                         unsigned evaluated_side, unsigned depth, struct smx_glance *glances)
{
	for (size_t i = 0; i < count; i++) {
		struct smx_glance *glance = &glances[i];
		smx_value claimed;
		*glance =
			(struct smx_glance){.lower = smx_evaluator_floor(evaluator), .upper = smx_evaluator_ceiling(evaluator)};
		glance->estimate = glance->upper;
		if (is_lied_about((const unsigned char *)states + i * toy_hooked.state_size, evaluator, evaluated_side, depth,
		                  &claimed))
			glance->lower = glance->upper = glance->estimate = claimed;
	}
}

/* A table keeps what a search has found, lies included. The honest game of the same name takes them over, and until then
 * all that its search believes is true. Without ends, bounds and inexact entries nothing shows it the contradiction,
 * which would be a broken invariant. */
Test(claims, find_out_what_a_liar_has_left_in_the_table)
{
	struct smx_game liar = toy_hooked;
	liar.look = forging_look;
	liar.bound = NULL;
	struct smx_search *lying, *honest;
	struct smx_table *table;
	cr_assert_eq(smx_search_create(&liar, NULL, &lying), SMX_OK);
	cr_assert_eq(smx_search_create(&toy_hooked, NULL, &honest), SMX_OK);
	cr_assert_eq(smx_table_create(1 << 20, &table, NULL), SMX_OK);
	struct checker c = checker_create(&toy_hooked);
	const struct way forge = {SMX_STAR_ETC, SMX_LEAVES_FOLD, false, false, 0, true, true};
	const struct way believe = {SMX_STAR_ETC, SMX_LEAVES_FOLD, true, false, 0, true, true};
	struct totals totals = {.sum = 0};
	unsigned found = 0;
	for (uint64_t i = 0; i < 200; i++) {
		const uint64_t seed = i << TOY_KIND_BITS | TOY_NEVER_LOST | TOY_ENDLESS | TOY_TRANSPOSITIONS;
		const unsigned evaluator = (unsigned)i % evaluator_count();
		run(lying, &c, seed, evaluator, &forge, table);
		run(honest, &c, seed, evaluator, &believe, table);
		expect_agreement(&c, seed);
		add(&totals, &c);
		if (!c.false_count)
			continue;
		found++;
		cr_assert_eq((int)c.first.source, (int)SMX_CLAIM_TABLE, "seed %" PRIu64, seed);
	}
	smx_table_destroy(table);
	smx_search_destroy(honest);
	smx_search_destroy(lying);
	checker_destroy(&c);
	print("after a liar", &totals);
	cr_assert_gt(found, 10u);
}
