/* Root rescoring against a blend that is computed here from plain values of all candidates: on trees made by hashing and
 * on Dice Chess, at every level of pruning; how often the second evaluator is asked, and what a stop leaves. */
#include "tests/support/dicechess.h"
#include "tests/support/golden.h"
#include "tests/support/run.h"
#include "tests/support/toy.h"

#include <starmax/random.h>

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

enum { CANDIDATES_MAX = 64 };

/* ---- plain values of all candidates, blended ---- */

struct plain {
	const struct smx_game *game;
	const struct smx_evaluator *evaluator;
	struct smx_arena *arena;
	unsigned side;
};

static smx_value floor_of(wide sum, wide total)
{
	return (smx_value)(sum / total - (sum % total < 0));
}

/* The value of a position without outcome; *lost: the weight of the outcomes that lose at once; *total: of all. */
static smx_value plain_value(const struct plain *p, const void *state, unsigned depth, int64_t *lost, uint32_t *total)
{
	uint32_t weights[SMX_OUTCOMES_MAX], all = 0;
	const unsigned count = p->game->outcomes(state, weights);
	const bool own = p->game->side_to_move(state) == p->side;
	const struct smx_arena_mark mark = smx_arena_mark(p->arena);
	const void *expansion = p->game->open(state, p->arena);
	wide sum = 0;
	int64_t lost_weight = 0;
	for (unsigned i = 0; i < count; i++) {
		struct smx_afterstates list;
		const enum smx_node node = p->game->afterstates(expansion, i, p->arena, &list);
		const bool wins = (node == SMX_NODE_WON) == own;
		smx_value best = wins ? p->evaluator->win : p->evaluator->loss;
		if (node != SMX_NODE_OPEN && !wins)
			lost_weight += weights[i];
		for (size_t k = 0; node == SMX_NODE_OPEN && k < list.count; k++) {
			const void *next = (const unsigned char *)list.states + k * p->game->state_size;
			smx_value value;
			if (depth == 1)
				p->evaluator->evaluate(p->evaluator->context, next, 1, p->side, &value);
			else
				value = plain_value(p, next, depth - 1, NULL, NULL);
			if (k == 0 || (own ? value > best : value < best))
				best = value;
		}
		sum += (wide)weights[i] * best;
		all += weights[i];
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
	smx_value prerank, search, rescore, value;
	int64_t lost;
	uint32_t total;
	bool rescored;
};

struct expected {
	struct plain plain;
	const struct smx_evaluator *prerank;
	struct expected_candidate candidate[CANDIDATES_MAX];
	size_t count, ties, first; /* first: of the ties */
	bool wins;
	smx_value best;
};

/* Value v of the scale `from` in the scale `to`: exact upwards, rounded down downwards. */
static smx_value in_scale(smx_value v, unsigned from, unsigned to)
{
	return to >= from ? v * (INT64_C(1) << (to - from)) : floor_of(v, (wide)1 << (from - to));
}

static smx_value blend_of(smx_value search, smx_value rescore, uint32_t weight, uint32_t total)
{
	return floor_of((wide)(total - weight) * search + (wide)weight * rescore, total);
}

static bool collect(void *context, const struct smx_turn *turn, const void *afterstate)
{
	struct expected *e = context;
	e->wins = e->wins || turn->wins;
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

static void list_candidates(struct expected *e, const struct smx_position *position, size_t width)
{
	e->count = 0;
	e->wins = false;
	e->plain.game->turns(position, collect, e);
	if (width && e->count > width)
		e->count = width;
}

static void expect_values(struct expected *e, unsigned depth)
{
	for (size_t i = 0; i < e->count; i++) {
		struct expected_candidate *c = &e->candidate[i];
		c->lost = -1;
		c->total = 0;
		if (depth == 1)
			e->plain.evaluator->evaluate(e->plain.evaluator->context, c->state, 1, e->plain.side, &c->search);
		else
			c->search = plain_value(&e->plain, c->state, depth - 1, &c->lost, &c->total);
	}
}

static void expect_blend(struct expected *e, const struct smx_evaluator *rescorer, uint32_t weight, uint32_t total)
{
	for (size_t i = 0; i < e->count; i++) {
		struct expected_candidate *c = &e->candidate[i];
		smx_value value;
		rescorer->evaluate(rescorer->context, c->state, 1, e->plain.side, &value);
		c->rescore = in_scale(value, rescorer->scale_bits, e->plain.evaluator->scale_bits);
		c->rescored = c->lost <= 0;
		c->value = c->rescored ? blend_of(c->search, c->rescore, weight, total) : c->search;
		if (i == 0 || c->value > e->best) {
			e->best = c->value;
			e->ties = 0;
			e->first = i;
		}
		e->ties += c->value == e->best;
	}
}

/* ---- second evaluators of other scales, over the states of the toy games ---- */

static void evaluate_otherwise(const void *context, const void *states, size_t count, unsigned side, smx_value *values)
{
	const struct smx_evaluator *evaluator = context;
	const struct toy_state *state = states;
	const uint64_t range = (uint64_t)(evaluator->hi - evaluator->lo) + 1;
	for (size_t i = 0; i < count; i++) {
		uint64_t seed = state[i].key.word[0] + side * UINT64_C(0xbf58476d1ce4e5b9) + evaluator->scale_bits;
		values[i] = evaluator->lo + (smx_value)(smx_random(&seed) % range);
	}
}

#define RESCORER(id, bits, least, most)      \
	static const struct smx_evaluator id = { \
		.name = #id,                         \
		.unit = "points",                    \
		.scale_bits = (bits),                \
		.lo = (least),                       \
		.hi = (most),                        \
		.loss = (least),                     \
		.win = (most),                       \
		.evaluate = evaluate_otherwise,      \
		.context = &id,                      \
	}

RESCORER(whole_points, 0, -4, 3);
RESCORER(two_points, 0, -1, 0); /* many equal values */
RESCORER(sixteenths, 4, -1000, 900);
RESCORER(fine, 48, -(INT64_C(1) << 45), INT64_C(1) << 45);
RESCORER(finer_than_most, 31, -(INT64_C(7) << 31), INT64_C(90) << 31);
RESCORER(one_value, 3, 5, 5);

static const struct smx_evaluator *const rescorers[] = {&whole_points, &two_points,      &sixteenths,
                                                        &fine,         &finer_than_most, &one_value};
enum { RESCORERS = sizeof rescorers / sizeof *rescorers };

/* Whether every value of the second evaluator, in the scale of the first, leaves plenty of room for weighted sums. */
static bool fits(const struct smx_evaluator *rescorer, const struct smx_evaluator *evaluator)
{
	const wide most = (wide)SMX_SUM_LIMIT / 64000;
	const int up = (int)evaluator->scale_bits - (int)rescorer->scale_bits;
	const wide factor = (wide)1 << (up > 0 ? up : 0);
	return -most < rescorer->lo * factor && rescorer->hi * factor < most;
}

static const uint32_t shares[][2] = {{1, 3}, {1, 2}, {999, 1000}, {1, 1}, {1, 1000}, {7, 7}, {2, 9}, {0, 1}, {0, 1000}};
enum { SHARES = sizeof shares / sizeof *shares };

/* ---- trees made by hashing ---- */

enum { GAMES = 3 };
static const struct smx_game *const toy_games[GAMES] = {&toy_plain, &toy_won, &toy_hooked};

struct toys {
	struct smx_search *search[GAMES];
	struct smx_table *tables[2];
	struct expected expected;
	uint64_t searches, losers, inexact, ties, cutoffs, moved, deep_inexact_by_blend;
};

static struct toys *toys_create(void)
{
	struct toys *t = aligned_alloc(SMX_CACHE_LINE, (sizeof *t + SMX_CACHE_LINE - 1) / SMX_CACHE_LINE * SMX_CACHE_LINE);
	memset(t, 0, sizeof *t);
	for (unsigned i = 0; i < GAMES; i++)
		cr_assert_eq(smx_search_create(toy_games[i], NULL, &t->search[i]), SMX_OK);
	cr_assert_eq(smx_table_create(SMX_TABLE_BYTES_MIN, &t->tables[0], NULL), SMX_OK);
	cr_assert_eq(smx_table_create(1 << 22, &t->tables[1], NULL), SMX_OK);
	t->expected.plain.game = &toy_plain;
	t->expected.plain.arena = smx_arena_create(NULL);
	return t;
}

static void toys_destroy(struct toys *t)
{
	for (unsigned i = 0; i < GAMES; i++)
		smx_search_destroy(t->search[i]);
	smx_table_destroy(t->tables[0]);
	smx_table_destroy(t->tables[1]);
	smx_arena_destroy(t->expected.plain.arena);
	free(t);
}

/* A root with turns and no win, of a tree of this seed; false where there is none. */
static bool toy_root(struct expected *e, uint64_t seed, struct smx_position *position)
{
	uint32_t weights[SMX_OUTCOMES_MAX];
	*position = toy_position(seed, SMX_NO_OUTCOME);
	const unsigned outcomes = toy_plain.outcomes(position->state, weights);
	const struct smx_arena_mark mark = smx_arena_mark(e->plain.arena);
	const void *expansion = toy_plain.open(position->state, e->plain.arena);
	bool found = false;
	for (unsigned i = 0; i < outcomes && !found; i++) {
		struct smx_afterstates list;
		found = toy_plain.afterstates(expansion, i, e->plain.arena, &list) == SMX_NODE_OPEN;
		position->outcome = (int)i;
	}
	smx_arena_release(e->plain.arena, mark);
	return found;
}

static void check_result(struct toys *t, uint64_t seed, const struct smx_result *r,
                         const struct smx_search_options *options, const struct smx_game *game)
{
	const struct expected *e = &t->expected;
	char name[256];
	snprintf(name, sizeof name, "seed %" PRIu64 " depth %u %s by %s, %u/%u, %s star %d%s%s exact %zu", seed,
	         options->depth_plies, options->evaluator->name, options->rescore->name, options->rescore_weight,
	         options->rescore_total, game->name, (int)options->star, options->no_frames ? " no frames" : "",
	         options->table ? " table" : "", options->exact);
	const bool whole = options->rescore_weight == options->rescore_total;
	t->searches++;
	cr_assert(!r->stopped && r->has_value && !r->selective, "%s", name);
	cr_assert_eq(r->candidate_count, e->count, "%s", name);
	cr_assert_eq(r->candidates_completed, e->count, "%s", name);
	cr_assert_eq(r->value, e->best, "%s: %" PRId64 " not %" PRId64, name, r->value, e->best);
	cr_assert_eq(r->ties, e->ties, "%s: %zu not %zu ties", name, r->ties, e->ties);
	cr_assert(smx_turn_equal(&r->turn, &e->candidate[e->first].turn), "%s: another turn", name);
	cr_assert_eq(r->counters.rescore_evaluations, options->rescore_weight ? e->count : 0, "%s", name);
	size_t best_without = 0;
	for (size_t i = 0; i < e->count; i++) {
		const struct smx_candidate *c = &r->candidates[i];
		const struct expected_candidate *x = &e->candidate[i];
		const bool ties = x->value == e->best;
		if (x->search > e->candidate[best_without].search)
			best_without = i;
		cr_assert(c->completed && smx_turn_equal(&c->turn, &x->turn) && c->prerank == x->prerank, "%s", name);
		if (ties || i < options->exact || whole || options->star == SMX_STAR_NONE || options->depth_plies == 1)
			cr_assert(c->exact, "%s: candidate %zu inexact", name, i);
		if (options->rescore_weight)
			cr_assert_eq(c->rescore, x->rescore, "%s: candidate %zu", name, i);
		if (!c->exact) {
			t->inexact++;
			cr_assert(c->value >= x->value && c->value < e->best,
			          "%s: candidate %zu: %" PRId64 " for %" PRId64 ", best %" PRId64, name, i, c->value, x->value,
			          e->best);
			continue;
		}
		cr_assert_eq(c->value, x->value, "%s: candidate %zu: %" PRId64 " not %" PRId64, name, i, c->value, x->value);
		cr_assert_eq(c->rescored, options->rescore_weight && x->rescored, "%s: candidate %zu", name, i);
		t->losers += !x->rescored;
		if (!whole || !c->rescored)
			cr_assert_eq(c->search, x->search, "%s: candidate %zu: %" PRId64 " not %" PRId64, name, i, c->search,
			             x->search);
		/* what is lost is known where it counts */
		if (options->rescore_weight || ties || i < options->exact)
			cr_assert(c->loss_weight == x->lost && c->total == x->total,
			          "%s: candidate %zu: loses %" PRId64 " of %u not %" PRId64 " of %u", name, i, c->loss_weight,
			          c->total, x->lost, x->total);
	}
	t->ties += e->ties > 1;
	t->moved += best_without != e->first;
	t->cutoffs += r->counters.cutoffs_low;
}

static void check_ways(struct toys *t, uint64_t seed, const struct smx_position *position,
                       struct smx_search_options options, uint64_t *random)
{
	for (unsigned g = 0; g < GAMES; g++) {
		for (unsigned way = 0; way < 8; way++) {
			options.star = (enum smx_star)(way / 2);
			options.no_frames = way % 2;
			options.leaves = smx_random_below(random, 2) ? SMX_LEAVES_FOLD : SMX_LEAVES_LIST;
			options.no_bounds = smx_random_below(random, 2);
			options.exact = (size_t[]){0, 0, 2, SMX_EXACT_ALL}[smx_random_below(random, 4)];
			options.table = (struct smx_table *[]){NULL, NULL, t->tables[0], t->tables[1]}[smx_random_below(random, 4)];
			options.exact_only = smx_random_below(random, 3) == 0;
			check_result(t, seed, run(t->search[g], position, &options), &options, toy_games[g]);
		}
	}
}

/* Seeds whose low bits are `kind`, plus whatever of `free_bits` the seed's other bits say. */
static struct toys *check_trees(unsigned kind, unsigned free_bits, unsigned depth_most, unsigned trees)
{
	struct toys *t = toys_create();
	struct expected *e = &t->expected;
	uint64_t random = kind * 1000 + depth_most;
	unsigned evaluators = 0;
	while (toy_evaluators[evaluators])
		evaluators++;
	for (unsigned n = 0; n < trees;) {
		const uint64_t seed = (smx_random(&random) >> 20 << TOY_KIND_BITS) | kind | (smx_random(&random) & free_bits);
		struct smx_search_options options;
		smx_search_options_init(&options, &toy_plain);
		options.evaluator = toy_evaluators[smx_random_below(&random, evaluators)];
		options.prerank = toy_evaluators[smx_random_below(&random, evaluators)];
		const unsigned which = smx_random_below(&random, RESCORERS + evaluators);
		options.rescore = which < RESCORERS ? rescorers[which] : toy_evaluators[which - RESCORERS];
		options.depth_plies = 1 + smx_random_below(&random, depth_most);
		options.width = smx_random_below(&random, 4) == 0 ? 3 : 0;
		struct smx_position position;
		if (!fits(options.rescore, options.evaluator) || !toy_root(e, seed, &position))
			continue;
		e->plain.evaluator = options.evaluator;
		e->prerank = options.prerank;
		list_candidates(e, &position, options.width);
		expect_values(e, options.depth_plies);
		for (unsigned s = 0; s < 3; s++) {
			const uint32_t *share = shares[smx_random_below(&random, SHARES)];
			options.rescore_weight = share[0];
			options.rescore_total = share[1];
			expect_blend(e, options.rescore, share[0], share[1]);
			check_ways(t, seed, &position, options, &random);
		}
		n++;
	}
	fprintf(stderr,
	        "%" PRIu64 " searches; %" PRIu64 " losing candidates, %" PRIu64 " inexact, %" PRIu64 " times ties, %" PRIu64
	        " times another turn than without; %" PRIu64 " cutoffs\n",
	        t->searches, t->losers, t->inexact, t->ties, t->moved, t->cutoffs);
	return t;
}

static unsigned fewer(unsigned trees)
{
	return golden_slow_build() ? 4 + trees / 3 : trees;
}

Test(rescore, every_level_blends_as_plain_values_do_on_small_trees)
{
	struct toys *t = check_trees(TOY_SMALL, TOY_RANDOM_SIDES | TOY_TRANSPOSITIONS | TOY_NEVER_LOST, 5, fewer(900));
	cr_assert(t->losers && t->inexact && t->ties && t->moved && t->cutoffs);
	toys_destroy(t);
}

Test(rescore, every_level_blends_as_plain_values_do_on_larger_trees)
{
	struct toys *t =
		check_trees(0, TOY_RANDOM_SIDES | TOY_TRANSPOSITIONS | TOY_NEVER_LOST | TOY_ENDLESS, 3, fewer(900));
	cr_assert(t->losers && t->inexact && t->ties && t->moved && t->cutoffs);
	toys_destroy(t);
	t = check_trees(0, TOY_NEVER_LOST, 4, fewer(60));
	cr_assert(t->inexact && t->cutoffs);
	toys_destroy(t);
}

Test(rescore, every_level_blends_as_plain_values_do_with_sixty_four_outcomes)
{
	struct toys *t = check_trees(TOY_MANY, TOY_RANDOM_SIDES | TOY_TRANSPOSITIONS | TOY_NEVER_LOST, 2, fewer(200));
	cr_assert(t->losers && t->inexact && t->moved && t->cutoffs);
	toys_destroy(t);
}

/* Equal values and equal second opinions, and equal blends of unequal ones: pruning must find every tie. */
Test(rescore, equal_blends_survive_pruning)
{
	struct toys *t = toys_create();
	struct expected *e = &t->expected;
	struct smx_search_options options;
	smx_search_options_init(&options, &toy_plain);
	/* values and second opinions -1 and 0 in one scale: halves of them round down to the same whole number */
	for (unsigned i = 0; toy_evaluators[i]; i++)
		if (strcmp(toy_evaluators[i]->name, "two") == 0)
			options.evaluator = options.prerank = toy_evaluators[i];
	cr_assert_str_eq(options.evaluator->name, "two");
	options.rescore = &two_points;
	options.rescore_weight = 1;
	options.rescore_total = 2;
	e->plain.evaluator = options.evaluator;
	e->prerank = options.prerank;
	uint64_t random = 4, equal = 0, unequal = 0;
	for (unsigned n = 0; n < fewer(600); n++) {
		const uint64_t seed = smx_random(&random) >> 20 << TOY_KIND_BITS | (smx_random(&random) & TOY_NEVER_LOST);
		struct smx_position position;
		options.depth_plies = 2 + n % 2;
		if (!toy_root(e, seed, &position))
			continue;
		list_candidates(e, &position, 0);
		expect_values(e, options.depth_plies);
		expect_blend(e, options.rescore, 1, 2);
		const struct expected_candidate *first = &e->candidate[e->first];
		for (size_t i = e->first + 1; i < e->count; i++)
			if (e->candidate[i].value == e->best) {
				if (e->candidate[i].search == first->search && e->candidate[i].rescore == first->rescore)
					equal++;
				else
					unequal++;
			}
		check_ways(t, seed, &position, options, &random);
	}
	fprintf(stderr, "%" PRIu64 " ties of equal parts, %" PRIu64 " of unequal ones\n", equal, unequal);
	cr_assert(equal && unequal);
	toys_destroy(t);
}

/* With all the weight on the second opinion nothing of the search counts but the losses it finds. */
Test(rescore, a_weight_of_one_completes_all_candidates_and_finds_the_losing_ones)
{
	struct toys *t = toys_create();
	struct expected *e = &t->expected;
	struct smx_search_options options;
	smx_search_options_init(&options, &toy_plain);
	options.rescore = &sixteenths;
	options.rescore_weight = options.rescore_total = 5;
	uint64_t random = 11, losers = 0;
	unsigned evaluators = 0;
	while (toy_evaluators[evaluators])
		evaluators++;
	for (unsigned n = 0; n < fewer(600); n++) {
		const uint64_t seed = smx_random(&random) >> 20 << TOY_KIND_BITS | (smx_random(&random) & TOY_RANDOM_SIDES);
		struct smx_position position;
		options.evaluator = toy_evaluators[smx_random_below(&random, evaluators)];
		options.depth_plies = 1 + n % 3;
		if (!fits(options.rescore, options.evaluator) || !toy_root(e, seed, &position))
			continue;
		e->plain.evaluator = options.evaluator;
		e->prerank = options.prerank;
		list_candidates(e, &position, 0);
		expect_values(e, options.depth_plies);
		expect_blend(e, options.rescore, 1, 1);
		for (options.star = SMX_STAR_NONE; options.star <= SMX_STAR_ETC; options.star++) {
			const struct smx_result *r = run(t->search[0], &position, &options);
			check_result(t, seed, r, &options, &toy_plain);
			for (size_t i = 0; i < e->count; i++) {
				const struct smx_candidate *c = &r->candidates[i];
				cr_assert(c->completed && c->exact && c->loss_weight == e->candidate[i].lost);
				cr_assert_eq(c->rescored, c->loss_weight <= 0);
				cr_assert_eq(c->value, c->rescored ? c->rescore : e->candidate[i].search);
				losers += !c->rescored;
			}
		}
	}
	cr_assert_gt(losers, 0u);
	toys_destroy(t);
}

/* ---- how often it is asked ---- */

/* Counts its calls, and may stop a search from within. */
struct watch {
	struct smx_evaluator evaluator;
	unsigned calls;
	size_t count;
	unsigned side;
	struct smx_search *stops; /* NULL: none */
};

static void evaluate_watched(const void *context, const void *states, size_t count, unsigned side, smx_value *values)
{
	struct watch *watch = *(struct watch *const *)context;
	watch->calls++;
	watch->count = count;
	watch->side = side;
	if (watch->stops)
		smx_search_stop(watch->stops);
	evaluate_otherwise(&watch->evaluator, states, count, side, values);
}

/* The context is a pointer to a pointer, for contexts are const. */
static struct watch *watch_create(struct watch **place)
{
	struct watch *watch = calloc(1, sizeof *watch);
	watch->evaluator = sixteenths;
	watch->evaluator.name = "watched";
	watch->evaluator.evaluate = evaluate_watched;
	watch->evaluator.context = place;
	return *place = watch;
}

/* A tree whose root has at least three candidates, and is worth searching. */
static struct smx_position wide_root(struct expected *e, unsigned skip)
{
	struct smx_position position;
	for (uint64_t seed = TOY_NEVER_LOST;; seed += 1 << TOY_KIND_BITS) {
		if (!toy_root(e, seed, &position))
			continue;
		list_candidates(e, &position, 0);
		if (e->count >= 3 && e->candidate[0].prerank > e->candidate[1].prerank && skip-- == 0)
			return position;
	}
}

Test(rescore, a_weight_of_zero_is_none_in_every_answer_and_counter)
{
	struct toys *t = toys_create();
	struct expected *e = &t->expected;
	struct watch *place, *watch = watch_create(&place);
	struct smx_search_options options;
	smx_search_options_init(&options, &toy_plain);
	e->prerank = options.prerank;
	for (unsigned n = 0; n < 40; n++) {
		const struct smx_position position = wide_root(e, n);
		options.depth_plies = 1 + n % 3;
		options.star = (enum smx_star)(n % 4);
		options.rescore = NULL;
		options.rescore_weight = 0;
		options.rescore_total = 1;
		const struct smx_result none = *run(t->search[0], &position, &options);
		struct smx_candidate *kept = calloc(none.candidate_count, sizeof *kept);
		memcpy(kept, none.candidates, none.candidate_count * sizeof *kept);
		options.rescore = &watch->evaluator;
		options.rescore_total = 1 + n % 2 * 999;
		if (n == 0)
			run(t->search[0], &position, &options); /* a new evaluator is checked first */
		const unsigned calls = watch->calls;
		const struct smx_result *zero = run(t->search[0], &position, &options);
		cr_assert_eq(watch->calls, calls);
		cr_assert_eq(memcmp(&none.counters, &zero->counters, sizeof none.counters), 0);
		cr_assert(none.value == zero->value && none.ties == zero->ties && smx_turn_equal(&none.turn, &zero->turn));
		cr_assert_eq(none.candidate_count, zero->candidate_count);
		for (size_t i = 0; i < none.candidate_count; i++) {
			const struct smx_candidate *a = &kept[i], *b = &zero->candidates[i];
			cr_assert(smx_turn_equal(&a->turn, &b->turn) && a->value == b->value && a->search == b->search &&
			          a->exact == b->exact && a->loss_weight == b->loss_weight && a->value == a->search &&
			          !a->rescored && !b->rescored && a->rescore == 0 && b->rescore == 0);
		}
		free(kept);
	}
	free(watch);
	toys_destroy(t);
}

Test(rescore, it_is_called_once_a_run_with_all_candidates)
{
	struct toys *t = toys_create();
	struct expected *e = &t->expected;
	struct watch *place, *watch = watch_create(&place);
	struct smx_search_options options;
	smx_search_options_init(&options, &toy_plain);
	e->prerank = options.prerank;
	options.rescore = &watch->evaluator;
	for (unsigned n = 0; n < 60; n++) {
		const struct smx_position position = wide_root(e, n);
		options.depth_plies = 1 + n % 4;
		options.star = (enum smx_star)(n / 4 % 4);
		options.rescore_weight = shares[n % 5][0];
		options.rescore_total = shares[n % 5][1];
		options.width = n % 3 == 0 ? 2 : 0;
		if (n == 0)
			run(t->search[0], &position, &options); /* a new evaluator is checked first */
		watch->calls = 0;
		const struct smx_result *r = run(t->search[0], &position, &options);
		cr_assert_eq(watch->calls, 1, "%u calls", watch->calls);
		cr_assert_eq(watch->count, r->candidate_count);
		cr_assert_eq(watch->side, 0);
		cr_assert_eq(r->counters.rescore_evaluations, r->candidate_count);
	}
	/* nor where there is nothing to choose from */
	watch->calls = 0;
	options.depth_plies = 2;
	const struct smx_position unknown = toy_position(TOY_NEVER_LOST, SMX_NO_OUTCOME);
	const struct smx_result *r = run(t->search[0], &unknown, &options);
	cr_assert(r->kind == SMX_RESULT_VALUE && r->has_value && r->counters.rescore_evaluations == 0);
	cr_assert_eq(watch->calls, 0);
	free(watch);
	toys_destroy(t);
}

/* ---- stops ---- */

static void expect_nothing(const struct smx_result *r, const struct expected *e)
{
	cr_assert(r->stopped && !r->has_value);
	cr_assert_eq(r->candidates_completed, 0);
	cr_assert_eq(r->counters.chance_nodes, 0);
	cr_assert_eq(r->candidate_count, e->count);
	cr_assert(smx_turn_equal(&r->turn, &e->candidate[0].turn), "not the pre-ranker's first");
	for (size_t i = 0; i < r->candidate_count; i++)
		cr_assert(!r->candidates[i].completed && !r->candidates[i].exact);
}

Test(rescore, a_stop_before_the_run_or_during_the_batch_completes_nothing)
{
	struct toys *t = toys_create();
	struct expected *e = &t->expected;
	struct watch *place, *watch = watch_create(&place);
	struct smx_search_options options;
	smx_search_options_init(&options, &toy_plain);
	e->prerank = options.prerank;
	options.rescore = &watch->evaluator;
	options.rescore_weight = 1;
	options.rescore_total = 2;
	struct smx_position position = wide_root(e, 0);
	run(t->search[0], &position, &options); /* a new evaluator is checked first */
	for (unsigned n = 0; n < 40; n++) {
		position = wide_root(e, n);
		options.depth_plies = 1 + n % 4;
		options.star = (enum smx_star)(n / 4 % 4);
		options.rescore_weight = 1 + n % 2;

		watch->calls = 0;
		smx_search_stop(t->search[0]);
		expect_nothing(run(t->search[0], &position, &options), e);
		cr_assert_eq(watch->calls, 0);
		smx_search_resume(t->search[0]);

		watch->stops = t->search[0];
		expect_nothing(run(t->search[0], &position, &options), e);
		cr_assert_eq(watch->calls, 1);
		watch->stops = NULL;
		smx_search_resume(t->search[0]);

		const struct smx_result *r = run(t->search[0], &position, &options);
		cr_assert(!r->stopped && r->has_value && r->candidates_completed == e->count);
		cr_assert_eq(watch->calls, 2);
	}
	free(watch);
	toys_destroy(t);
}

/* Where a node limit ends the search, what was completed is what it is without a limit. */
Test(rescore, a_node_limit_leaves_completed_candidates_right)
{
	struct toys *t = toys_create();
	struct expected *e = &t->expected;
	struct smx_search_options options;
	smx_search_options_init(&options, &toy_plain);
	e->plain.evaluator = options.evaluator;
	e->prerank = options.prerank;
	options.rescore = &sixteenths;
	options.rescore_weight = 2;
	options.rescore_total = 3;
	unsigned partly = 0;
	for (unsigned n = 0; n < fewer(60); n++) {
		const struct smx_position position = wide_root(e, n);
		options.node_limit = 0;
		options.depth_plies = 3;
		const uint64_t whole = run(t->search[0], &position, &options)->counters.chance_nodes;
		for (unsigned step = 1; step < 10; step++) {
			options.node_limit = 1 + whole * step / 10;
			options.star = (enum smx_star)(step % 4);
			const struct smx_result *r = run(t->search[0], &position, &options);
			if (!r->has_value)
				continue;
			partly += r->stopped;
			expect_values(e, r->depth_plies);
			expect_blend(e, options.rescore, 2, 3);
			smx_value best = INT64_MIN;
			for (size_t i = 0; i < e->count; i++) {
				const struct smx_candidate *c = &r->candidates[i];
				if (c->completed && e->candidate[i].value > best)
					best = e->candidate[i].value;
				if (c->completed && c->exact)
					cr_assert_eq(c->value, e->candidate[i].value);
				else if (c->completed)
					cr_assert(c->value >= e->candidate[i].value && c->value < r->value);
			}
			cr_assert_eq(r->value, best);
		}
	}
	cr_assert_gt(partly, 0u);
	toys_destroy(t);
}

/* ---- refusals ---- */

static void expect_refused(struct smx_search *search, const struct smx_position *position,
                           const struct smx_search_options *options, enum smx_status expected, const char *what)
{
	static const struct smx_result untouched;
	const struct smx_result *result = &untouched;
	struct smx_error error = {.message = ""};
	const enum smx_status status = smx_search_run(search, position, options, &result, &error);
	cr_assert_eq(status, expected, "%s: %s: %s", what, smx_status_str(status), error.message);
	cr_assert_gt(strlen(error.message), 0u, "%s", what);
	cr_assert_eq(result, &untouched, "%s", what);
}

Test(rescore, what_cannot_be_blended_is_refused)
{
	struct toys *t = toys_create();
	struct expected *e = &t->expected;
	struct smx_search_options options;
	smx_search_options_init(&options, &toy_plain);
	e->prerank = options.prerank;
	const struct smx_position position = wide_root(e, 0);
	options.rescore = &sixteenths;
	static const uint32_t bad[][2] = {
		{2, 1},         {1, 0}, {0, 0}, {1, SMX_RESCORE_TOTAL_MAX + 1}, {1001, 1000}, {UINT32_MAX, UINT32_MAX},
		{0, UINT32_MAX}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		options.rescore_weight = bad[i][0];
		options.rescore_total = bad[i][1];
		expect_refused(t->search[0], &position, &options, SMX_ERR_ARGUMENT, "share");
	}
	options.rescore_weight = SMX_RESCORE_TOTAL_MAX;
	options.rescore_total = SMX_RESCORE_TOTAL_MAX;
	run(t->search[0], &position, &options);

	struct smx_evaluator other = sixteenths;
	other.unit = "marbles";
	options.rescore = &other;
	expect_refused(t->search[0], &position, &options, SMX_ERR_ARGUMENT, "unit");

	/* sound by themselves, but not in the scale of the first evaluator */
	const struct smx_evaluator *const *huge = toy_evaluators;
	while (strcmp((*huge)->name, "huge") != 0)
		huge++;
	options.evaluator = *huge;
	struct smx_evaluator large = whole_points;
	large.hi = large.win = 1 << 20;
	large.context = &large;
	options.rescore = &large;
	expect_refused(t->search[0], &position, &options, SMX_ERR_BOUNDS, "2^20 in 2^-48");
	large.hi = large.win = 3;
	large.lo = large.loss = -(1 << 20);
	expect_refused(t->search[0], &position, &options, SMX_ERR_BOUNDS, "-2^20 in 2^-48");
	toys_destroy(t);
}

Test(rescore, units_of_dice_chess_do_not_mix)
{
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.rescore_weight = 1;
	options.rescore_total = 2;
	const struct smx_position position = dicechess_read("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 PNB");
	options.rescore = &smx_dicechess_winprob;
	expect_refused(search, &position, &options, SMX_ERR_ARGUMENT, "material by winprob");
	options.evaluator = &smx_dicechess_winprob;
	options.rescore = &smx_dicechess_standard;
	expect_refused(search, &position, &options, SMX_ERR_ARGUMENT, "winprob by standard");
	smx_search_destroy(search);
}

/* ---- Dice Chess ---- */

/* A random position with a roll whose root has a choice and no win; false where this seed has none. */
static bool random_dicechess(uint64_t *seed, struct smx_position *position, struct dicechess_turns *turns)
{
	struct oracle_position board;
	oracle_random_position(seed, &board);
	*position = dicechess_from_oracle(&board);
	position->outcome = (int)(oracle_random(seed) % ORACLE_ROLLS);
	*turns = dicechess_list(position);
	bool good = turns->count > 1;
	for (size_t i = 0; i < turns->count; i++)
		good = good && !turns->turn[i].wins;
	if (!good)
		dicechess_turns_free(turns);
	return good;
}

static smx_value opinion_on(const struct smx_evaluator *rescorer, const struct dicechess_turns *turns,
                            const struct smx_turn *turn, unsigned side)
{
	smx_value value = 0;
	size_t at = 0;
	while (at < turns->count && !smx_turn_equal(&turns->turn[at], turn))
		at++;
	cr_assert_lt(at, turns->count);
	rescorer->evaluate(rescorer->context, &turns->after[at], 1, side, &value);
	return value;
}

Test(rescore, dice_chess_is_blended_from_plain_values)
{
	static const char *const quiet[] = {
		"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 PNB",
		"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 PRK",
		"6k1/5ppp/8/3q4/8/4Q3/5PPP/6K1 w - - 0 1 PPK",
		"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1 PPN",
		"4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1 PPK",
		"k7/pp6/8/8/8/8/6PP/3Q3K w - - 0 1 PPK",
	};
	static const struct smx_evaluator *const pairs[][2] = {{&smx_dicechess_material, &smx_dicechess_standard},
	                                                       {&smx_dicechess_winprob, &smx_dicechess_winprob_standard}};
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.prerank = &smx_dicechess_material;
	uint64_t seed = 3, losers = 0, moved = 0;
	for (unsigned n = 0; n < (golden_slow_build() ? 6 : 24);) {
		struct smx_position position;
		struct dicechess_turns turns;
		/* in random positions nearly every turn risks the king: every other one is quiet */
		if (n % 2) {
			position = dicechess_read(quiet[n / 2 % (sizeof quiet / sizeof *quiet)]);
			turns = dicechess_list(&position);
		} else if (!random_dicechess(&seed, &position, &turns)) {
			continue;
		}
		const unsigned side = smx_dicechess.side_to_move(position.state);
		for (unsigned p = 0; p < 2; p++) {
			options.evaluator = pairs[p][0];
			options.rescore = NULL;
			options.star = SMX_STAR_NONE;
			options.exact = SMX_EXACT_ALL;
			const struct smx_result plain = *run(search, &position, &options);
			cr_assert(plain.candidates && plain.candidates_completed == plain.candidate_count);
			struct smx_candidate *truth = calloc(plain.candidate_count, sizeof *truth);
			memcpy(truth, plain.candidates, plain.candidate_count * sizeof *truth);
			options.rescore = pairs[p][1];
			options.exact = 0;
			for (unsigned s = 0; s < 4; s++) {
				options.rescore_weight = shares[s][0];
				options.rescore_total = shares[s][1];
				smx_value best = INT64_MIN;
				size_t ties = 0, first = 0;
				for (size_t i = 0; i < plain.candidate_count; i++) {
					struct smx_candidate *c = &truth[i];
					c->rescore = opinion_on(pairs[p][1], &turns, &c->turn, side);
					c->value =
						c->loss_weight > 0 ? c->search : blend_of(c->search, c->rescore, shares[s][0], shares[s][1]);
					losers += c->loss_weight > 0;
					if (c->value > best) {
						best = c->value;
						ties = 0;
						first = i;
					}
					ties += c->value == best;
				}
				moved += !smx_turn_equal(&truth[first].turn, &plain.turn);
				for (options.star = SMX_STAR1; options.star <= SMX_STAR2; options.star++) {
					const struct smx_result *r = run(search, &position, &options);
					cr_assert_eq(r->value, best, "%u/%u %s: %" PRId64 " not %" PRId64, shares[s][0], shares[s][1],
					             pairs[p][1]->name, r->value, best);
					cr_assert_eq(r->ties, ties);
					cr_assert(smx_turn_equal(&r->turn, &truth[first].turn));
					for (size_t i = 0; i < plain.candidate_count; i++) {
						const struct smx_candidate *c = &r->candidates[i];
						cr_assert(c->completed && c->rescore == truth[i].rescore);
						if (c->exact)
							cr_assert(c->value == truth[i].value && c->rescored == (truth[i].loss_weight == 0));
						else
							cr_assert(c->value >= truth[i].value && c->value < best);
					}
				}
			}
			free(truth);
		}
		dicechess_turns_free(&turns);
		n++;
	}
	fprintf(stderr, "%" PRIu64 " losing candidates, %" PRIu64 " times another turn\n", losers, moved);
	cr_assert(losers && moved);
	smx_search_destroy(search);
}
