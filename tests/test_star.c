/* Pruning against plain expectiminimax, on trees made by hashing and on Dice Chess: every level of pruning, with and
 * without folded leaves and bounds, on one thread and on several, has the same values, turns and ties. */
#include "tests/support/dicechess.h"
#include "tests/support/golden.h"
#include "tests/support/run.h"
#include "tests/support/threads.h"
#include "tests/support/toy.h"

#include <starmax/random.h>

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_MAX = 64 };

/* ---- plain recursion, through nothing but the game's required hooks ---- */

struct plain {
	const struct smx_game *game;
	const struct smx_evaluator *evaluator;
	struct smx_arena *arena;
	unsigned side;
};

static smx_value floor_of(smx_value sum, smx_value total)
{
	smx_value quotient = sum / total;
	while (quotient * total > sum)
		quotient--;
	return quotient;
}

/* The value of a position without outcome; *lost: the weight of the outcomes that lose at once; *total: of all. */
static smx_value plain_value(const struct plain *p, const void *state, unsigned depth, int64_t *lost, uint32_t *total,
                             smx_value *outcome_values)
{
	uint32_t weights[SMX_OUTCOMES_MAX];
	const unsigned count = p->game->outcomes(state, weights);
	const bool own = p->game->side_to_move(state) == p->side;
	const struct smx_arena_mark mark = smx_arena_mark(p->arena);
	const void *expansion = p->game->open(state, p->arena);
	smx_value sum = 0;
	int64_t lost_weight = 0;
	uint32_t all = 0;
	for (unsigned i = 0; i < count; i++) {
		const struct smx_arena_mark outcome_mark = smx_arena_mark(p->arena);
		struct smx_afterstates list;
		const enum smx_node node = p->game->afterstates(expansion, i, p->arena, &list);
		smx_value best = 0;
		if (node == SMX_NODE_OPEN) {
			for (size_t k = 0; k < list.count; k++) {
				const void *next = (const unsigned char *)list.states + k * p->game->state_size;
				smx_value value;
				if (depth == 1)
					p->evaluator->evaluate(p->evaluator->context, next, 1, p->side, &value);
				else
					value = plain_value(p, next, depth - 1, NULL, NULL, NULL);
				if (k == 0 || (own ? value > best : value < best))
					best = value;
			}
		} else {
			const bool wins = (node == SMX_NODE_WON) == own;
			best = wins ? p->evaluator->win : p->evaluator->loss;
			lost_weight += wins ? 0 : weights[i];
		}
		sum += (smx_value)weights[i] * best;
		all += weights[i];
		if (outcome_values)
			outcome_values[i] = best;
		smx_arena_release(p->arena, outcome_mark);
	}
	smx_arena_release(p->arena, mark);
	if (lost) {
		*lost = lost_weight;
		*total = all;
	}
	return floor_of(sum, all);
}

struct expected_candidate {
	struct smx_turn turn;
	_Alignas(SMX_CACHE_LINE) unsigned char state[SMX_STATE_MAX];
	smx_value prerank, value;
	int64_t lost;
	uint32_t total;
};

struct expected {
	struct plain plain;
	const struct smx_evaluator *prerank;
	struct expected_candidate candidate[CANDIDATES_MAX];
	size_t count, ties;
	bool wins;
	smx_value best;
};

static bool collect(void *context, const struct smx_turn *turn, const void *afterstate)
{
	struct expected *e = context;
	if (turn->wins)
		e->wins = true;
	if (e->wins)
		return false;
	for (size_t i = 0; i < e->count; i++)
		if (memcmp(e->candidate[i].state, afterstate, sizeof(struct smx_key)) == 0)
			return true;
	cr_assert_lt(e->count, (size_t)CANDIDATES_MAX);
	struct expected_candidate new = {.turn = *turn};
	memcpy(new.state, afterstate, e->plain.game->state_size);
	e->prerank->evaluate(e->prerank->context, afterstate, 1, e->plain.side, &new.prerank);
	/* into canonical order: behind all that are not worse */
	size_t at = e->count++;
	for (; at > 0 && e->candidate[at - 1].prerank < new.prerank; at--)
		e->candidate[at] = e->candidate[at - 1];
	e->candidate[at] = new;
	return true;
}

static void expect_candidates(struct expected *e, const struct smx_position *position, unsigned depth, size_t width)
{
	e->count = e->ties = 0;
	e->wins = false;
	e->plain.game->turns(position, collect, e);
	if (width && e->count > width)
		e->count = width;
	for (size_t i = 0; i < e->count && !e->wins; i++) {
		struct expected_candidate *c = &e->candidate[i];
		c->lost = -1;
		c->total = 0;
		if (depth == 1)
			e->plain.evaluator->evaluate(e->plain.evaluator->context, c->state, 1, e->plain.side, &c->value);
		else
			c->value = plain_value(&e->plain, c->state, depth - 1, &c->lost, &c->total, NULL);
		if (i == 0 || c->value > e->best) {
			e->best = c->value;
			e->ties = 0;
		}
		e->ties += c->value == e->best;
	}
}

/* ---- the ways to search ---- */

enum { NO_TABLE, TINY_TABLE, LARGE_TABLE, TABLE_SIZES };
enum { FRAMES, NO_FRAMES };
enum { ALONE, THREADS = 3 };

struct way {
	enum smx_star star;
	enum smx_leaves leaves;
	bool no_bounds;
	size_t exact;
	bool no_frames;
	size_t probes;
	unsigned table;
	bool exact_only;
	unsigned threads;
};

static const struct way ways[] = {
	{SMX_STAR_NONE, SMX_LEAVES_FOLD, false, 0, FRAMES, 0, NO_TABLE, false, ALONE}, /* the yardstick of the counters */
	{SMX_STAR1, SMX_LEAVES_FOLD, false, 0, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR2, SMX_LEAVES_FOLD, false, 0, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR2, SMX_LEAVES_FOLD, true, 0, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR_NONE, SMX_LEAVES_LIST, false, 0, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR_NONE, SMX_LEAVES_LIST, true, SMX_EXACT_ALL, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR1, SMX_LEAVES_LIST, false, 0, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR1, SMX_LEAVES_LIST, false, 2, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR1, SMX_LEAVES_FOLD, true, SMX_EXACT_ALL, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR2, SMX_LEAVES_LIST, false, 0, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR2, SMX_LEAVES_LIST, true, 0, FRAMES, 3, NO_TABLE, false, ALONE},
	{SMX_STAR2, SMX_LEAVES_FOLD, false, 2, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR2, SMX_LEAVES_FOLD, true, 1, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR2, SMX_LEAVES_FOLD, false, SMX_EXACT_ALL, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR2, SMX_LEAVES_LIST, true, SMX_EXACT_ALL, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR2, SMX_LEAVES_FOLD, false, 0, NO_FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR2, SMX_LEAVES_LIST, false, 1, NO_FRAMES, 2, NO_TABLE, false, ALONE},
	{SMX_STAR_NONE, SMX_LEAVES_FOLD, false, 0, FRAMES, 0, TINY_TABLE, false, ALONE},
	{SMX_STAR_NONE, SMX_LEAVES_LIST, false, 0, FRAMES, 0, LARGE_TABLE, true, ALONE},
	{SMX_STAR1, SMX_LEAVES_FOLD, false, 0, FRAMES, 0, LARGE_TABLE, true, ALONE},
	{SMX_STAR1, SMX_LEAVES_LIST, false, 0, FRAMES, 0, TINY_TABLE, false, ALONE},
	{SMX_STAR2, SMX_LEAVES_FOLD, false, 0, FRAMES, 0, LARGE_TABLE, false, ALONE},
	{SMX_STAR2, SMX_LEAVES_FOLD, true, 0, FRAMES, 0, TINY_TABLE, false, ALONE},
	{SMX_STAR2, SMX_LEAVES_LIST, false, 2, NO_FRAMES, 1, LARGE_TABLE, false, ALONE},
	{SMX_STAR_ETC, SMX_LEAVES_FOLD, false, 0, FRAMES, 0, NO_TABLE, false, ALONE},
	{SMX_STAR_ETC, SMX_LEAVES_FOLD, false, 0, FRAMES, 0, LARGE_TABLE, false, ALONE},
	{SMX_STAR_ETC, SMX_LEAVES_FOLD, true, 0, NO_FRAMES, 0, LARGE_TABLE, false, ALONE},
	{SMX_STAR_ETC, SMX_LEAVES_LIST, true, SMX_EXACT_ALL, FRAMES, 2, TINY_TABLE, false, ALONE},
	{SMX_STAR_ETC, SMX_LEAVES_LIST, false, 0, NO_FRAMES, 3, LARGE_TABLE, true, ALONE},
	{SMX_STAR2, SMX_LEAVES_FOLD, false, 0, FRAMES, 0, NO_TABLE, false, THREADS},
	{SMX_STAR2, SMX_LEAVES_LIST, false, 2, NO_FRAMES, 2, LARGE_TABLE, false, THREADS},
	{SMX_STAR_ETC, SMX_LEAVES_FOLD, true, 0, FRAMES, 0, LARGE_TABLE, false, THREADS},
};

enum { WAYS = sizeof ways / sizeof *ways };

/* They serve all searches of a test, whatever the tree, game and evaluator. */
struct tools {
	struct smx_table *table[TABLE_SIZES];
	struct threads *threads;
};

static struct tools tools_create(void)
{
	static const size_t bytes[] = {[TINY_TABLE] = SMX_TABLE_BYTES_MIN, [LARGE_TABLE] = 1 << 22};
	struct tools tools = {.threads = threads_create(THREADS, 1)};
	for (unsigned i = TINY_TABLE; i < TABLE_SIZES; i++)
		cr_assert_eq(smx_table_create(bytes[i], &tools.table[i], NULL), SMX_OK);
	return tools;
}

static void tools_destroy(struct tools *tools)
{
	for (unsigned i = 0; i < TABLE_SIZES; i++)
		smx_table_destroy(tools->table[i]);
	threads_destroy(tools->threads);
}

static void use_way(struct smx_search_options *options, const struct way *way, const struct tools *tools)
{
	options->star = way->star;
	options->leaves = way->leaves;
	options->no_bounds = way->no_bounds;
	options->exact = way->exact;
	options->no_frames = way->no_frames;
	options->probe_replies = way->probes;
	options->table = tools->table[way->table];
	options->exact_only = way->exact_only;
	options->splitter = way->threads == THREADS ? threads_splitter(tools->threads) : NULL;
	options->share_least_ms = -1;
}

struct tally {
	uint64_t opened[WAYS], cutoffs_low, cutoffs_high, cutoffs_decided, frames, settled[SMX_BOUND_STAGES];
	uint64_t probes, cutoffs_probe, cutoffs_etc, cutoffs_table, table_hits;
	uint64_t searches, bounds, tasks;
};

static void add(struct tally *tally, unsigned way, const struct smx_counters *counters)
{
	tally->opened[way] += counters->chance_nodes;
	tally->cutoffs_low += counters->cutoffs_low;
	tally->cutoffs_high += counters->cutoffs_high;
	tally->cutoffs_decided += counters->cutoffs_decided;
	tally->frames += counters->frames;
	tally->settled[0] += counters->settled_stage_0;
	tally->settled[1] += counters->settled_stage_1;
	tally->settled[2] += counters->settled_stage_2;
	tally->settled[3] += counters->settled_stage_3;
	tally->probes += counters->probes;
	tally->cutoffs_probe += counters->cutoffs_probe;
	tally->cutoffs_etc += counters->cutoffs_etc;
	tally->cutoffs_table += counters->cutoffs_table;
	tally->table_hits += counters->table_hits;
	tally->tasks += counters->tasks;
	tally->searches++;
}

static void print(const char *name, const struct tally *tally)
{
	fprintf(stderr,
	        "%s: %" PRIu64 " searches; opened: plain %" PRIu64 ", star1 %" PRIu64 ", star2 %" PRIu64
	        ", without bounds %" PRIu64 "; cut low %" PRIu64 ", high %" PRIu64 ", decided %" PRIu64 "; %" PRIu64
	        " frames; settled %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "; %" PRIu64 " probes, cut by them %" PRIu64
	        "; table hits %" PRIu64 ", cut %" PRIu64 ", etc %" PRIu64 "; %" PRIu64 " inexact candidates; %" PRIu64
	        " parts taken over\n",
	        name, tally->searches, tally->opened[0], tally->opened[1], tally->opened[2], tally->opened[3],
	        tally->cutoffs_low, tally->cutoffs_high, tally->cutoffs_decided, tally->frames, tally->settled[0],
	        tally->settled[1], tally->settled[2], tally->settled[3], tally->probes, tally->cutoffs_probe,
	        tally->table_hits, tally->cutoffs_table, tally->cutoffs_etc, tally->bounds, tally->tasks);
}

/* ---- trees made by hashing ---- */

struct toys {
	struct smx_search *search[3];
	struct tools tools;
	struct expected expected;
	struct tally tally;
};

static const struct smx_game *const toy_games[] = {&toy_plain, &toy_won, &toy_hooked};

static struct toys *toys_create(void)
{
	struct toys *t = aligned_alloc(SMX_CACHE_LINE, (sizeof *t + SMX_CACHE_LINE - 1) / SMX_CACHE_LINE * SMX_CACHE_LINE);
	memset(t, 0, sizeof *t);
	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(smx_search_create(toy_games[i], NULL, &t->search[i]), SMX_OK);
	t->tools = tools_create();
	t->expected.plain.arena = smx_arena_create(NULL);
	return t;
}

static void toys_destroy(struct toys *t)
{
	for (unsigned i = 0; i < 3; i++)
		smx_search_destroy(t->search[i]);
	tools_destroy(&t->tools);
	smx_arena_destroy(t->expected.plain.arena);
	free(t);
}

#define CASE        "seed %" PRIu64 " outcome %d depth %u width %zu evaluator %s game %s way %u"
#define CASE_VALUES seed, position->outcome, options.depth_plies, options.width, options.evaluator->name, game->name, w

static void check_turn(struct toys *t, uint64_t seed, const struct smx_position *position,
                       struct smx_search_options options)
{
	const struct expected *e = &t->expected;
	struct smx_turn chosen = {.steps = 0};
	bool have_chosen = false;
	for (unsigned g = 0; g < 3; g++) {
		const struct smx_game *game = toy_games[g];
		for (unsigned w = 0; w < WAYS; w++) {
			use_way(&options, &ways[w], &t->tools);
			const struct smx_result *r = run(t->search[g], position, &options);
			cr_assert(!r->stopped && r->has_value, CASE, CASE_VALUES);
			if (e->wins) {
				cr_assert(r->kind == SMX_RESULT_WIN && r->value == options.evaluator->win, CASE, CASE_VALUES);
				continue;
			}
			add(&t->tally, w, &r->counters);
			cr_assert_eq(r->kind, SMX_RESULT_TURN, CASE, CASE_VALUES);
			cr_assert_eq(r->value, e->best, CASE ": %" PRId64 " not %" PRId64, CASE_VALUES, r->value, e->best);
			cr_assert_eq(r->ties, e->ties, CASE ": %zu not %zu ties", CASE_VALUES, r->ties, e->ties);
			cr_assert_eq(r->depth_plies, options.depth_plies, CASE, CASE_VALUES);
			cr_assert_eq(r->candidate_count, e->count, CASE, CASE_VALUES);
			cr_assert_eq(r->candidates_completed, e->count, CASE, CASE_VALUES);
			if (!have_chosen)
				chosen = r->turn;
			have_chosen = true;
			cr_assert(smx_turn_equal(&r->turn, &chosen), CASE ": another turn", CASE_VALUES);
			size_t same = 0, first = SIZE_MAX;
			for (size_t i = 0; i < e->count; i++) {
				const struct smx_candidate *c = &r->candidates[i];
				const struct expected_candidate *x = &e->candidate[i];
				const bool ties = x->value == e->best;
				if (ties && first == SIZE_MAX)
					first = i;
				cr_assert(c->completed && c->prerank == x->prerank && smx_turn_equal(&c->turn, &x->turn), CASE,
				          CASE_VALUES);
				if (smx_turn_equal(&c->turn, &r->turn)) {
					same++;
					cr_assert(ties && (options.ties == SMX_TIES_RANDOM || i == first), CASE, CASE_VALUES);
				}
				if (ties || i < options.exact || options.star == SMX_STAR_NONE || options.depth_plies == 1)
					cr_assert(c->exact, CASE ": candidate %zu inexact", CASE_VALUES, i);
				if (c->exact) {
					cr_assert_eq(c->value, x->value, CASE ": candidate %zu: %" PRId64 " not %" PRId64, CASE_VALUES, i,
					             c->value, x->value);
				} else {
					t->tally.bounds++;
					cr_assert(c->value >= x->value && c->value < e->best,
					          CASE ": candidate %zu: %" PRId64 " for %" PRId64 ", best %" PRId64, CASE_VALUES, i,
					          c->value, x->value, e->best);
				}
				if (ties || i < options.exact || options.star == SMX_STAR_NONE)
					cr_assert(c->loss_weight == x->lost && c->total == x->total,
					          CASE ": candidate %zu: loses %" PRId64 " of %u not %" PRId64 " of %u", CASE_VALUES, i,
					          c->loss_weight, c->total, x->lost, x->total);
			}
			cr_assert_eq(same, 1u, CASE, CASE_VALUES);
		}
	}
}

static void check_value(struct toys *t, uint64_t seed, const struct smx_position *position,
                        struct smx_search_options options)
{
	smx_value outcomes[SMX_OUTCOMES_MAX];
	uint32_t total, weights[SMX_OUTCOMES_MAX];
	int64_t lost;
	const smx_value value =
		plain_value(&t->expected.plain, position->state, options.depth_plies, &lost, &total, outcomes);
	const unsigned count = toy_plain.outcomes(position->state, weights);
	options.outcome_values = true;
	for (unsigned g = 0; g < 3; g++) {
		const struct smx_game *game = toy_games[g];
		for (unsigned w = 0; w < WAYS; w++) {
			use_way(&options, &ways[w], &t->tools);
			const struct smx_result *r = run(t->search[g], position, &options);
			add(&t->tally, w, &r->counters);
			cr_assert(r->kind == SMX_RESULT_VALUE && !r->stopped && r->has_value, CASE, CASE_VALUES);
			cr_assert_eq(r->value, value, CASE ": %" PRId64 " not %" PRId64, CASE_VALUES, r->value, value);
			cr_assert_eq(r->outcome_count, count, CASE, CASE_VALUES);
			int64_t loses = 0;
			for (unsigned i = 0; i < count; i++) {
				cr_assert_eq(r->outcome_values[i], outcomes[i], CASE ": outcome %u", CASE_VALUES, i);
				cr_assert_eq(r->outcome_weights[i], weights[i], CASE ": outcome %u", CASE_VALUES, i);
				loses += r->outcomes_lost >> i & 1 ? weights[i] : 0;
			}
			cr_assert_eq(loses, lost, CASE, CASE_VALUES);
		}
	}
}

/* Seeds whose low bits are `kind`, plus whatever of `free` the seed's other bits say. */
static void check_trees(const char *name, unsigned kind, unsigned free_bits, unsigned depth_most, unsigned seeds)
{
	struct toys *t = toys_create();
	uint64_t random = kind * 1000 + depth_most;
	unsigned evaluators = 0;
	while (toy_evaluators[evaluators])
		evaluators++;
	for (unsigned n = 0; n < seeds; n++) {
		const uint64_t seed = (smx_random(&random) >> 20 << TOY_KIND_BITS) | kind | (smx_random(&random) & free_bits);
		struct smx_search_options options;
		smx_search_options_init(&options, &toy_plain);
		options.evaluator = toy_evaluators[smx_random_below(&random, evaluators)];
		options.prerank = toy_evaluators[smx_random_below(&random, evaluators)];
		options.depth_plies = 1 + smx_random_below(&random, depth_most);
		options.width = smx_random_below(&random, 4) == 0 ? 2 : 0;
		options.ties = smx_random_below(&random, 2) ? SMX_TIES_RANDOM : SMX_TIES_FIRST;
		options.seed = smx_random(&random);
		struct smx_position position = toy_position(seed, SMX_NO_OUTCOME);
		t->expected.plain.game = &toy_plain;
		t->expected.plain.evaluator = options.evaluator;
		t->expected.prerank = options.prerank;
		t->expected.plain.side = 0;
		if (smx_random_below(&random, 4) == 0) {
			if (options.depth_plies == depth_most && depth_most > 3)
				options.depth_plies--; /* it is a turn more than the others look at */
			check_value(t, seed, &position, options);
			continue;
		}
		/* the first outcome that is not lost: such a root has no turn; a won one must be seen too, but seldom */
		uint32_t weights[SMX_OUTCOMES_MAX];
		const unsigned outcomes = toy_plain.outcomes(position.state, weights);
		const void *expansion = toy_plain.open(position.state, t->expected.plain.arena);
		struct smx_afterstates list;
		unsigned outcome = 0;
		enum smx_node node = SMX_NODE_LOST;
		for (; outcome < outcomes; outcome++) {
			node = toy_plain.afterstates(expansion, outcome, t->expected.plain.arena, &list);
			if (node == SMX_NODE_OPEN || (node == SMX_NODE_WON && n % 16 == 0))
				break;
		}
		smx_arena_release(t->expected.plain.arena, (struct smx_arena_mark){NULL, 0});
		if (outcome == outcomes)
			continue;
		position.outcome = (int)outcome;
		expect_candidates(&t->expected, &position, options.depth_plies, options.width);
		check_turn(t, seed, &position, options);
	}
	print(name, &t->tally);
	/* the trees must have put the search to work; a slow build's few trees need not */
	if (golden_slow_build()) {
		toys_destroy(t);
		return;
	}
	cr_assert_gt(t->tally.cutoffs_low, 0u);
	cr_assert_gt(t->tally.cutoffs_high, 0u);
	cr_assert_gt(t->tally.bounds, 0u);
	cr_assert_gt(t->tally.frames, 0u);
	cr_assert_gt(t->tally.probes, 0u);
	cr_assert_gt(t->tally.cutoffs_probe, 0u);
	cr_assert_gt(t->tally.table_hits, 0u);
	cr_assert_gt(t->tally.cutoffs_table, 0u);
	cr_assert_gt(t->tally.cutoffs_etc, 0u);
	cr_assert_gt(t->tally.tasks, 0u);
	if ((kind & (TOY_NEVER_LOST | TOY_MANY)) == TOY_NEVER_LOST)
		for (unsigned i = 0; i < SMX_BOUND_STAGES; i++)
			cr_assert_gt(t->tally.settled[i], 0u, "stage %u", i);
	cr_assert_lt(t->tally.opened[1], t->tally.opened[0]);
	cr_assert_lt(t->tally.opened[2], t->tally.opened[0]);
	cr_assert_lt(t->tally.opened[3], t->tally.opened[0]);
	toys_destroy(t);
}

static unsigned fewer(unsigned seeds)
{
	return golden_slow_build() ? 2 + seeds / 12 : seeds;
}

Test(star, every_level_is_plain_expectiminimax_on_small_trees_of_six_turns)
{
	const unsigned any = TOY_RANDOM_SIDES | TOY_TRANSPOSITIONS | TOY_ENDLESS;
	check_trees("small", TOY_SMALL, any & ~(unsigned)TOY_ENDLESS, 6, fewer(1200));
	check_trees("small, hooked", TOY_SMALL | TOY_NEVER_LOST, any, 6, fewer(600));
}

Test(star, every_level_is_plain_expectiminimax_on_trees_of_three_turns)
{
	const unsigned any = TOY_RANDOM_SIDES | TOY_TRANSPOSITIONS | TOY_ENDLESS;
	check_trees("middle", 0, any, 3, fewer(2000));
	check_trees("middle, hooked", TOY_NEVER_LOST, any, 3, fewer(2000));
}

Test(star, every_level_is_plain_expectiminimax_on_trees_of_five_turns)
{
	const unsigned any = TOY_RANDOM_SIDES | TOY_TRANSPOSITIONS | TOY_ENDLESS;
	check_trees("deep", 0, any, 5, fewer(50));
	check_trees("deep, hooked", TOY_NEVER_LOST, any, 5, fewer(25));
}

Test(star, every_level_is_plain_expectiminimax_with_sixty_four_outcomes)
{
	const unsigned any = TOY_RANDOM_SIDES | TOY_TRANSPOSITIONS | TOY_ENDLESS;
	check_trees("many", TOY_MANY, any, 3, fewer(60));
	check_trees("many, hooked", TOY_MANY | TOY_NEVER_LOST, any, 3, fewer(32));
}

Test(star, toy_states_and_texts_are_consistent)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		const struct smx_position position = toy_position(seed, SMX_NO_OUTCOME);
		struct smx_position again;
		char text[SMX_TEXT_MAX];
		const size_t length = toy_plain.format(&position, text);
		cr_assert_eq(toy_plain.parse(text, length, &again, NULL), SMX_OK, "%s", text);
		cr_assert_eq(memcmp(again.state, position.state, sizeof(struct toy_state)), 0);
		cr_assert(toy_plain.self_check(position.state));
	}
	cr_assert_eq(toy_plain.parse("toy", 3, &(struct smx_position){.outcome = 0}, NULL), SMX_ERR_PARSE);
	struct smx_error error;
	for (const struct smx_evaluator *const *e = toy_evaluators; *e; e++)
		cr_assert_eq(smx_evaluator_check(&toy_plain, *e, &error), SMX_OK, "%s", error.message);
}

/* ---- limits ---- */

static void expect_repeats(struct smx_search *search, const struct smx_position *position,
                           struct smx_search_options options, uint64_t most, unsigned limits, const char *name)
{
	unsigned stopped = 0, valued = 0;
	for (unsigned n = 0; n < limits; n++) {
		options.node_limit = 1 + most * n / limits;
		struct smx_result first = *run(search, position, &options);
		struct smx_candidate *kept = calloc(first.candidate_count + 1, sizeof *kept);
		if (first.candidates)
			memcpy(kept, first.candidates, first.candidate_count * sizeof *kept);
		const struct smx_result *second = run(search, position, &options);
		cr_assert_leq(second->counters.chance_nodes, options.node_limit);
		cr_assert_eq(memcmp(&first.counters, &second->counters, sizeof first.counters), 0, "%s limit %" PRIu64, name,
		             options.node_limit);
		cr_assert(first.stopped == second->stopped && first.has_value == second->has_value &&
		          first.value == second->value && first.ties == second->ties &&
		          first.depth_plies == second->depth_plies && smx_turn_equal(&first.turn, &second->turn));
		for (size_t i = 0; first.candidates && i < first.candidate_count; i++) {
			const struct smx_candidate *a = &kept[i], *b = &second->candidates[i];
			cr_assert(a->completed == b->completed && smx_turn_equal(&a->turn, &b->turn) && a->exact == b->exact &&
			          a->value == b->value && a->loss_weight == b->loss_weight);
		}
		stopped += first.stopped;
		valued += first.stopped && first.has_value;
		free(kept);
	}
	cr_assert_gt(stopped, limits / 2, "%s", name);
	cr_assert_gt(valued, 0u, "%s", name);
}

Test(star, a_node_limit_ends_every_search_at_the_same_node)
{
	struct smx_search_options options;
	smx_search_options_init(&options, &toy_hooked);
	options.depth_plies = 4;
	const unsigned limits = golden_slow_build() ? 20 : 200;
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&toy_hooked, NULL, &search), SMX_OK);
	/* the first tree with a choice and no win at its root that is worth limiting */
	options.star = SMX_STAR_NONE;
	struct smx_position position;
	const struct smx_result *whole;
	uint64_t seed = TOY_NEVER_LOST;
	do {
		seed += 1 << TOY_KIND_BITS;
		position = toy_position(seed, 0);
		whole = run(search, &position, &options);
	} while (whole->candidate_count < 3 || whole->counters.chance_nodes < 100);
	for (enum smx_star star = SMX_STAR_NONE; star <= SMX_STAR2; star++) {
		options.star = star;
		options.node_limit = 0;
		whole = run(search, &position, &options);
		expect_repeats(search, &position, options, whole->counters.chance_nodes, limits, "toy");
	}
	smx_search_destroy(search);

	smx_search_options_init(&options, &smx_dicechess);
	options.depth_plies = 3;
	options.width = 4;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	const struct smx_position start = dicechess_read("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 PNB");
	expect_repeats(search, &start, options, 1000, limits, "Dice Chess");
	smx_search_destroy(search);
}

Test(star, an_outcome_that_loses_at_once_has_no_turn)
{
	struct toys *t = toys_create();
	struct smx_search_options options;
	smx_search_options_init(&options, &toy_plain);
	unsigned seen = 0;
	for (uint64_t seed = 0; seed < 64; seed++) {
		struct smx_position position = toy_position(seed << TOY_KIND_BITS, SMX_NO_OUTCOME);
		uint32_t weights[SMX_OUTCOMES_MAX];
		const unsigned outcomes = toy_plain.outcomes(position.state, weights);
		for (unsigned outcome = 0; outcome < outcomes; outcome++) {
			struct smx_afterstates list;
			const void *expansion = toy_plain.open(position.state, t->expected.plain.arena);
			if (toy_plain.afterstates(expansion, outcome, t->expected.plain.arena, &list) != SMX_NODE_LOST)
				continue;
			seen++;
			position.outcome = (int)outcome;
			const struct smx_result *r = run(t->search[0], &position, &options);
			cr_assert(r->kind == SMX_RESULT_LOSS && r->has_value && !r->stopped, "seed %" PRIu64, seed);
			cr_assert_eq(r->value, options.evaluator->loss);
			cr_assert_eq(r->candidate_count, 0u);
		}
	}
	cr_assert_gt(seen, 0u);
	toys_destroy(t);
}

/* ---- Dice Chess ---- */

/* A random position with a roll whose root has a choice and no win; false where this seed has none. */
static bool random_dicechess(uint64_t *seed, struct smx_position *position)
{
	struct oracle_position board;
	oracle_random_position(seed, &board);
	*position = dicechess_from_oracle(&board);
	position->outcome = (int)(oracle_random(seed) % ORACLE_ROLLS);
	struct dicechess_turns turns = dicechess_list(position);
	bool good = turns.count > 1;
	for (size_t i = 0; i < turns.count; i++)
		good = good && !turns.turn[i].wins;
	dicechess_turns_free(&turns);
	return good;
}

/* All ways against plain expectiminimax by the search itself, which test_search.c holds against the oracle; false where
 * plain takes more nodes than limit (0: none). */
static bool check_dicechess(struct smx_search *search, const struct tools *tools, const struct smx_position *position,
                            struct smx_search_options options, uint64_t limit, bool lists, struct tally *tally)
{
	char text[SMX_TEXT_MAX];
	smx_dicechess.format(position, text);
	use_way(&options, &ways[0], tools);
	options.node_limit = limit;
	const struct smx_result plain = *run(search, position, &options);
	options.node_limit = 0;
	if (plain.stopped)
		return false;
	cr_assert(plain.kind == SMX_RESULT_TURN || plain.kind == SMX_RESULT_VALUE, "%s", text);
	struct smx_candidate *truth = calloc(plain.candidate_count + 1, sizeof *truth);
	if (plain.candidates)
		memcpy(truth, plain.candidates, plain.candidate_count * sizeof *truth);
	add(tally, 0, &plain.counters);
	for (unsigned w = 1; w < WAYS; w++) {
		if (!lists && (ways[w].leaves == SMX_LEAVES_LIST || ways[w].star == SMX_STAR_NONE))
			continue;
		use_way(&options, &ways[w], tools);
		const struct smx_result *r = run(search, position, &options);
		add(tally, w, &r->counters);
		cr_assert(!r->stopped && r->has_value && r->kind == plain.kind, "%s way %u", text, w);
		cr_assert_eq(r->value, plain.value, "%s %s way %u: %" PRId64 " not %" PRId64, text, options.evaluator->name, w,
		             r->value, plain.value);
		if (plain.kind == SMX_RESULT_VALUE)
			continue;
		cr_assert_eq(r->ties, plain.ties, "%s %s way %u", text, options.evaluator->name, w);
		cr_assert(smx_turn_equal(&r->turn, &plain.turn), "%s %s way %u", text, options.evaluator->name, w);
		cr_assert_eq(r->candidate_count, plain.candidate_count);
		for (size_t i = 0; i < plain.candidate_count; i++) {
			const struct smx_candidate *c = &r->candidates[i];
			cr_assert(c->completed && truth[i].exact && smx_turn_equal(&c->turn, &truth[i].turn));
			if (c->exact || i < options.exact)
				cr_assert(c->exact && c->value == truth[i].value, "%s %s way %u candidate %zu", text,
				          options.evaluator->name, w, i);
			else
				cr_assert(c->value >= truth[i].value && c->value < plain.value, "%s %s way %u candidate %zu", text,
				          options.evaluator->name, w, i);
			if (i < options.exact || truth[i].value == plain.value)
				cr_assert_eq(c->loss_weight, truth[i].loss_weight, "%s %s way %u candidate %zu", text,
				             options.evaluator->name, w, i);
			tally->bounds += !c->exact;
		}
	}
	free(truth);
	return true;
}

static const struct smx_evaluator *const dicechess_evaluators[] = {
	&smx_dicechess_material, &smx_dicechess_winprob, &smx_dicechess_standard, &smx_dicechess_winprob_standard};

Test(star, every_level_is_plain_expectiminimax_on_dice_chess_of_two_turns)
{
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	struct tools tools = tools_create();
	struct tally tally = {.searches = 0};
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	uint64_t seed = 8;
	for (unsigned n = 0; n < fewer(60);) {
		struct smx_position position;
		if (!random_dicechess(&seed, &position))
			continue;
		for (unsigned e = 0; e < 4; e++) {
			options.evaluator = dicechess_evaluators[e];
			/* listing the leaves of the full width would take too long */
			const bool lists = n % 8 == 0;
			options.width = lists ? 3 : !options.evaluator->fold ? 4 : golden_slow_build() ? 20 : 0;
			cr_assert(check_dicechess(search, &tools, &position, options, 0, lists, &tally));
		}
		n++;
	}
	print("Dice Chess, 2", &tally);
	tools_destroy(&tools);
	smx_search_destroy(search);
}

Test(star, every_level_is_plain_expectiminimax_on_dice_chess_of_three_turns)
{
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	struct tools tools = tools_create();
	struct tally tally = {.searches = 0};
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.depth_plies = 3;
	uint64_t seed = 33;
	for (unsigned n = 0; n < fewer(12);) {
		struct smx_position position;
		if (!random_dicechess(&seed, &position))
			continue;
		options.width = 2 + n % 2;
		bool affordable = true;
		for (unsigned e = 0; e < 2 && affordable; e++) {
			options.evaluator = dicechess_evaluators[e];
			affordable =
				check_dicechess(search, &tools, &position, options, golden_slow_build() ? 2000 : 6000, false, &tally);
		}
		n += affordable;
	}
	print("Dice Chess, 3", &tally);
	tools_destroy(&tools);
	cr_assert_gt(tally.settled[0], 0u);
	if (!golden_slow_build()) {
		cr_assert_gt(tally.cutoffs_low, 0u);
		cr_assert_lt(tally.opened[1], tally.opened[0]);
	}
	cr_assert_lt(tally.opened[2], tally.opened[3], "bounds save nothing");
	cr_assert_lt(tally.opened[3], tally.opened[0]);
	smx_search_destroy(search);
}

/* The value with one turn left, through the game's hooks. */
static smx_value true_value(const void *state, const struct smx_evaluator *evaluator, unsigned side,
                            struct smx_arena *arena)
{
	uint32_t weights[SMX_OUTCOMES_MAX];
	const unsigned count = smx_dicechess.outcomes(state, weights);
	const struct smx_arena_mark mark = smx_arena_mark(arena);
	const void *expansion = smx_dicechess.open(state, arena);
	const uint64_t won = smx_dicechess.won(expansion);
	const uint64_t all = (UINT64_C(1) << count) - 1;
	const bool own = smx_dicechess.side_to_move(state) == side;
	smx_value values[SMX_OUTCOMES_MAX], sum = 0, total = 0;
	smx_dicechess.fold(expansion, evaluator, all & ~won, side, values);
	for (unsigned i = 0; i < count; i++) {
		sum += weights[i] * (won >> i & 1 ? own ? evaluator->win : evaluator->loss : values[i]);
		total += weights[i];
	}
	smx_arena_release(arena, mark);
	return floor_of(sum, total);
}

struct looks {
	uint64_t states, tight[SMX_BOUND_STAGES], one_sided[SMX_BOUND_STAGES];
};

static void expect_bounds(const void *state, const struct smx_glance *glance, smx_value truth, unsigned stage,
                          const struct smx_evaluator *evaluator, unsigned side, struct looks *looks)
{
	char text[SMX_TEXT_MAX];
	dicechess_text(state, 4, text);
	cr_assert(glance->lower <= truth && truth <= glance->upper,
	          "%s, %s for side %u, stage %u: %" PRId64 " not in [%" PRId64 ", %" PRId64 "]", text, evaluator->name,
	          side, stage, truth, glance->lower, glance->upper);
	looks->tight[stage] += glance->lower == truth || glance->upper == truth;
	looks->one_sided[stage] +=
		glance->lower > smx_evaluator_floor(evaluator) || glance->upper < smx_evaluator_ceiling(evaluator);
}

static void check_looks(const void *states, size_t count, struct smx_arena *arena, struct looks *looks)
{
	struct smx_glance *glances = calloc(count, sizeof *glances);
	for (unsigned e = 0; e < 4; e++)
		for (unsigned side = 0; side < 2; side++) {
			const struct smx_evaluator *evaluator = dicechess_evaluators[e];
			if (!evaluator->fold)
				continue; /* it is never looked at with these */
			smx_dicechess.look(states, count, evaluator, side, 1, glances);
			for (size_t i = 0; i < count; i++) {
				const void *state = (const unsigned char *)states + i * smx_dicechess.state_size;
				struct smx_glance alone;
				smx_dicechess.look(state, 1, evaluator, side, 1, &alone);
				cr_assert(alone.lower == glances[i].lower && alone.upper == glances[i].upper &&
				          alone.estimate == glances[i].estimate);
				const smx_value truth = true_value(state, evaluator, side, arena);
				expect_bounds(state, &alone, truth, 0, evaluator, side, looks);
				for (unsigned stage = 1; stage < SMX_BOUND_STAGES; stage++) {
					const struct smx_glance before = alone;
					if (!smx_dicechess.bound(state, evaluator, side, 1, stage, &alone))
						break;
					cr_assert(alone.lower >= before.lower && alone.upper <= before.upper);
					expect_bounds(state, &alone, truth, stage, evaluator, side, looks);
				}
				looks->states++;
			}
		}
	free(glances);
}

Test(star, bounds_of_dice_chess_hold_for_one_turn_left)
{
	struct smx_arena *arena = smx_arena_create(NULL);
	struct looks looks = {.states = 0};
	uint64_t seed = 77;
	for (unsigned n = 0; n < fewer(300); n++) {
		struct oracle_position board;
		oracle_random_position(&seed, &board);
		const struct smx_position position = dicechess_from_oracle(&board);
		const void *expansion = smx_dicechess.open(position.state, arena);
		check_looks(position.state, 1, arena, &looks);
		for (unsigned rolls = 0; rolls < 2; rolls++) {
			struct smx_afterstates list;
			const unsigned roll = (unsigned)(oracle_random(&seed) % ORACLE_ROLLS);
			if (smx_dicechess.afterstates(expansion, roll, arena, &list) != SMX_NODE_OPEN)
				continue;
			/* a stretch of them, for they resemble each other */
			const size_t most = list.count < 24 ? list.count : 24;
			const size_t from = (size_t)(oracle_random(&seed) % (list.count - most + 1));
			check_looks((const unsigned char *)list.states + from * smx_dicechess.state_size, most, arena, &looks);
		}
		smx_arena_release(arena, (struct smx_arena_mark){NULL, 0});
	}
	fprintf(stderr, "%" PRIu64 " states looked at; bounds", looks.states);
	for (unsigned i = 0; i < SMX_BOUND_STAGES; i++)
		fprintf(stderr, ", stage %u: %" PRIu64 " say something, %" PRIu64 " exact", i, looks.one_sided[i],
		        looks.tight[i]);
	fprintf(stderr, "\n");
	for (unsigned i = 0; i < SMX_BOUND_STAGES; i++)
		cr_assert_gt(looks.one_sided[i], 0u);
	smx_arena_destroy(arena);
}

/* Deeper, the true value is the plain search's. */
Test(star, looks_of_dice_chess_hold_for_two_turns_left)
{
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.star = SMX_STAR_NONE;
	options.node_limit = golden_slow_build() ? 2000 : 10000;
	struct looks looks = {.states = 0};
	uint64_t seed = 5;
	for (unsigned n = 0; n < fewer(12);) {
		struct oracle_position board;
		oracle_random_position(&seed, &board);
		const struct smx_position position = dicechess_from_oracle(&board);
		for (unsigned e = 0; e < 2; e++) {
			options.evaluator = dicechess_evaluators[e];
			const struct smx_result *r = run(search, &position, &options);
			if (!r->has_value)
				continue;
			const unsigned side = smx_dicechess.side_to_move(position.state);
			struct smx_glance glance;
			smx_dicechess.look(position.state, 1, options.evaluator, side, 2, &glance);
			expect_bounds(position.state, &glance, r->value, 0, options.evaluator, side, &looks);
			for (unsigned stage = 1; stage < SMX_BOUND_STAGES; stage++)
				if (!smx_dicechess.bound(position.state, options.evaluator, side, 2, stage, &glance))
					break;
			expect_bounds(position.state, &glance, r->value, 0, options.evaluator, side, &looks);
			n += e;
		}
	}
	smx_search_destroy(search);
}
