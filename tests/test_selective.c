/* Selective search against slow recursion that cuts as the options say; sampling by what must hold of any fair draw; and
 * that neither the level of pruning nor a repetition changes anything. */
#include "tests/support/dicechess.h"
#include "tests/support/golden.h"
#include "tests/support/run.h"
#include "tests/support/toy.h"

#include <starmax/random.h>

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

enum { CANDIDATES_MAX = 64 };

/* ---- slow recursion, through nothing but the game's required hooks ---- */

struct slow {
	const struct smx_game *game;
	const struct smx_evaluator *evaluator, *prerank;
	struct smx_arena *arena;
	unsigned side;
	size_t inner_width;
	int rarity_most;        /* in quarters of a bit; below 0: any */
	uint64_t narrowed, cut; /* decision nodes that lost afterstates, branches below the reach */
};

static smx_value floor_of(wide sum, wide total)
{
	return (smx_value)(sum / total - (sum % total < 0));
}

/* Keep the pre-ranker's best for the mover, the first listed of equals, in order. */
static void narrow(struct slow *s, struct smx_afterstates *list, unsigned mover)
{
	const size_t size = s->game->state_size;
	if (!s->inner_width || s->inner_width >= list->count)
		return;
	s->narrowed++;
	unsigned char *kept = smx_arena_alloc(s->arena, s->inner_width * size);
	smx_value *values = smx_arena_alloc(s->arena, list->count * sizeof *values);
	bool *taken = smx_arena_alloc(s->arena, list->count * sizeof *taken);
	memset(taken, 0, list->count * sizeof *taken);
	for (size_t i = 0; i < list->count; i++)
		s->prerank->evaluate(s->prerank->context, (const unsigned char *)list->states + i * size, 1, mover, &values[i]);
	for (size_t k = 0; k < s->inner_width; k++) {
		size_t best = SIZE_MAX;
		for (size_t i = 0; i < list->count; i++)
			if (!taken[i] && (best == SIZE_MAX || values[i] > values[best]))
				best = i;
		taken[best] = true;
		memcpy(kept + k * size, (const unsigned char *)list->states + best * size, size);
	}
	*list = (struct smx_afterstates){kept, s->inner_width};
}

static int quarters(double probability)
{
	return (int)lround(-4 * log2(probability));
}

static int rarity_most(double reach)
{
	return reach > 0 ? (int)floor(-4 * log2(reach) + 1e-6) : -1;
}

/* The value of a position without outcome that is come to with an improbability of `rarity` quarters of a bit. */
static smx_value slow_value(struct slow *s, const void *state, unsigned depth, int rarity, smx_value *outcome_values)
{
	uint32_t weights[SMX_OUTCOMES_MAX], total = 0;
	const unsigned count = s->game->outcomes(state, weights), mover = s->game->side_to_move(state);
	const bool own = mover == s->side;
	for (unsigned i = 0; i < count; i++)
		total += weights[i];
	const struct smx_arena_mark mark = smx_arena_mark(s->arena);
	const void *expansion = s->game->open(state, s->arena);
	wide sum = 0;
	for (unsigned i = 0; i < count; i++) {
		const struct smx_arena_mark outcome_mark = smx_arena_mark(s->arena);
		struct smx_afterstates list = {0};
		const enum smx_node node = s->game->afterstates(expansion, i, s->arena, &list);
		smx_value best = (node == SMX_NODE_WON) == own ? s->evaluator->win : s->evaluator->loss;
		if (node == SMX_NODE_OPEN) {
			const int below = rarity + quarters((double)weights[i] / total);
			const bool is_cut = depth > 1 && s->rarity_most >= 0 && below > s->rarity_most;
			const bool is_leaf = depth == 1 || is_cut;
			s->cut += is_cut;
			if (!is_leaf)
				narrow(s, &list, mover);
			for (size_t k = 0; k < list.count; k++) {
				const void *next = (const unsigned char *)list.states + k * s->game->state_size;
				smx_value value;
				if (is_leaf)
					s->evaluator->evaluate(s->evaluator->context, next, 1, s->side, &value);
				else
					value = slow_value(s, next, depth - 1, below, NULL);
				if (k == 0 || (own ? value > best : value < best))
					best = value;
			}
		}
		sum += (wide)weights[i] * best;
		if (outcome_values)
			outcome_values[i] = best;
		smx_arena_release(s->arena, outcome_mark);
	}
	smx_arena_release(s->arena, mark);
	return floor_of(sum, total);
}

struct expected_candidate {
	struct smx_turn turn;
	_Alignas(SMX_CACHE_LINE) unsigned char state[SMX_STATE_MAX];
	smx_value prerank, value;
};

struct expected {
	struct slow slow;
	struct expected_candidate candidate[CANDIDATES_MAX];
	size_t count, ties, first;
	bool wins;
	smx_value best;
};

static bool collect(void *context, const struct smx_turn *turn, const void *afterstate)
{
	struct expected *e = context;
	e->wins = e->wins || turn->wins;
	if (e->wins)
		return false;
	for (size_t i = 0; i < e->count; i++)
		if (memcmp(e->candidate[i].state, afterstate, sizeof(struct smx_key)) == 0)
			return true;
	struct expected_candidate new = {.turn = *turn};
	memcpy(new.state, afterstate, e->slow.game->state_size);
	e->slow.prerank->evaluate(e->slow.prerank->context, afterstate, 1, e->slow.side, &new.prerank);
	/* into canonical order: behind all that are not worse; of more than there is room for the first */
	size_t at = e->count;
	while (at > 0 && e->candidate[at - 1].prerank < new.prerank)
		at--;
	if (at == CANDIDATES_MAX)
		return true;
	e->count += e->count < CANDIDATES_MAX;
	memmove(&e->candidate[at + 1], &e->candidate[at], (e->count - at - 1) * sizeof *e->candidate);
	e->candidate[at] = new;
	return true;
}

static void expect(struct expected *e, const struct smx_position *position, const struct smx_search_options *options)
{
	e->slow.evaluator = options->evaluator;
	e->slow.prerank = options->prerank;
	e->slow.side = e->slow.game->side_to_move(position->state);
	e->slow.inner_width = options->selective.inner_width;
	e->slow.rarity_most = rarity_most(options->selective.reach);
	e->count = e->ties = 0;
	e->wins = false;
	e->slow.game->turns(position, collect, e);
	cr_assert(!e->wins);
	if (options->width && e->count > options->width)
		e->count = options->width;
	for (size_t i = 0; i < e->count; i++) {
		struct expected_candidate *c = &e->candidate[i];
		if (options->depth_plies == 1)
			options->evaluator->evaluate(options->evaluator->context, c->state, 1, e->slow.side, &c->value);
		else
			c->value = slow_value(&e->slow, c->state, options->depth_plies - 1, 0, NULL);
		if (i == 0 || c->value > e->best) {
			e->best = c->value;
			e->ties = 0;
			e->first = i;
		}
		e->ties += c->value == e->best;
	}
}

/* ---- the searches ---- */

enum { GAMES = 3 };
static const struct smx_game *const toy_games[GAMES] = {&toy_plain, &toy_won, &toy_hooked};

struct toys {
	struct smx_search *search[GAMES];
	struct expected expected;
	uint64_t searches, branches_cut, sampled_away, inexact, differs;
};

static struct toys *toys_create(void)
{
	struct toys *t = aligned_alloc(SMX_CACHE_LINE, (sizeof *t + SMX_CACHE_LINE - 1) / SMX_CACHE_LINE * SMX_CACHE_LINE);
	memset(t, 0, sizeof *t);
	for (unsigned i = 0; i < GAMES; i++)
		cr_assert_eq(smx_search_create(toy_games[i], NULL, &t->search[i]), SMX_OK);
	t->expected.slow.game = &toy_plain;
	t->expected.slow.arena = smx_arena_create(NULL);
	return t;
}

static void toys_destroy(struct toys *t)
{
	for (unsigned i = 0; i < GAMES; i++)
		smx_search_destroy(t->search[i]);
	smx_arena_destroy(t->expected.slow.arena);
	free(t);
}

static bool toy_root(struct expected *e, uint64_t seed, struct smx_position *position)
{
	uint32_t weights[SMX_OUTCOMES_MAX];
	*position = toy_position(seed, SMX_NO_OUTCOME);
	const unsigned outcomes = toy_plain.outcomes(position->state, weights);
	const struct smx_arena_mark mark = smx_arena_mark(e->slow.arena);
	const void *expansion = toy_plain.open(position->state, e->slow.arena);
	bool found = false;
	for (unsigned i = 0; i < outcomes && !found; i++) {
		struct smx_afterstates list;
		found = toy_plain.afterstates(expansion, i, e->slow.arena, &list) == SMX_NODE_OPEN;
		position->outcome = (int)i;
	}
	smx_arena_release(e->slow.arena, mark);
	return found;
}

static const struct smx_evaluator *any_evaluator(uint64_t *random)
{
	unsigned evaluators = 0;
	while (toy_evaluators[evaluators])
		evaluators++;
	return toy_evaluators[smx_random_below(random, evaluators)];
}

static uint64_t any_seed(uint64_t *random, unsigned kind, unsigned free_bits)
{
	return (smx_random(random) >> 20 << TOY_KIND_BITS) | kind | (smx_random(random) & free_bits);
}

static unsigned fewer(unsigned trees)
{
	return golden_slow_build() ? 4 + trees / 4 : trees;
}

#define CASE "seed %" PRIu64 " depth %u inner width %zu reach %g samples %u evaluator %s game %s star %d %s"
#define CASE_VALUES                                                                                               \
	seed, options.depth_plies, options.selective.inner_width, options.selective.reach, options.selective.samples, \
		options.evaluator->name, game->name, (int)options.star, options.no_frames ? "no frames" : ""

/* All levels with the same options: one value, one turn, the same ties, and what was expected where it is known. */
static void check_levels(struct toys *t, uint64_t seed, const struct smx_position *position,
                         struct smx_search_options options, const struct expected *e)
{
	const bool is_selective = options.selective.inner_width || options.selective.reach > 0 || options.selective.samples;
	struct smx_result first = {.has_value = false};
	struct smx_candidate truth[CANDIDATES_MAX];
	options.exact = SMX_EXACT_ALL;
	for (unsigned g = 0; g < GAMES; g++) {
		const struct smx_game *game = toy_games[g];
		for (unsigned way = 0; way < 8; way++) {
			options.star = (enum smx_star)(way / 2);
			options.no_frames = way % 2;
			const struct smx_result *r = run(t->search[g], position, &options);
			t->searches++;
			t->branches_cut += r->counters.branches_cut;
			t->sampled_away += r->counters.outcomes_sampled_away;
			cr_assert(!r->stopped && r->has_value && r->selective == is_selective, CASE, CASE_VALUES);
			cr_assert_eq(r->counters.frames, is_selective ? 0 : r->counters.frames, CASE, CASE_VALUES);
			cr_assert_leq(r->candidate_count, (size_t)CANDIDATES_MAX);
			if (g == 0 && way == 0) {
				first = *r;
				for (size_t i = 0; i < r->candidate_count; i++)
					truth[i] = r->candidates[i];
			}
			if (e) {
				cr_assert_eq(r->value, e->best, CASE ": %" PRId64 " not %" PRId64, CASE_VALUES, r->value, e->best);
				cr_assert_eq(r->ties, e->ties, CASE, CASE_VALUES);
				cr_assert(smx_turn_equal(&r->turn, &e->candidate[e->first].turn), CASE, CASE_VALUES);
			}
			cr_assert_eq(r->candidate_count, e ? e->count : first.candidate_count, CASE, CASE_VALUES);
			cr_assert_eq(r->candidates_completed, r->candidate_count, CASE, CASE_VALUES);
			cr_assert_eq(r->value, first.value, CASE ": %" PRId64 " not %" PRId64, CASE_VALUES, r->value, first.value);
			cr_assert(r->ties == first.ties && smx_turn_equal(&r->turn, &first.turn), CASE, CASE_VALUES);
			for (size_t i = 0; i < r->candidate_count; i++) {
				const struct smx_candidate *c = &r->candidates[i];
				cr_assert(c->completed && smx_turn_equal(&c->turn, &truth[i].turn), CASE, CASE_VALUES);
				if (e)
					cr_assert(c->prerank == e->candidate[i].prerank && smx_turn_equal(&c->turn, &e->candidate[i].turn),
					          CASE, CASE_VALUES);
				const smx_value value = e ? e->candidate[i].value : truth[i].value;
				if (way == 0 || i < options.exact)
					cr_assert(c->exact, CASE, CASE_VALUES);
				if (c->exact)
					cr_assert_eq(c->value, value, CASE ": candidate %zu: %" PRId64 " not %" PRId64, CASE_VALUES, i,
					             c->value, value);
				else
					cr_assert(c->value >= value && c->value < r->value, CASE, CASE_VALUES);
				t->inexact += !c->exact;
			}
			/* the first of each game with all candidates exact, the others as they come */
			options.exact = (size_t[]){0, 0, 2, SMX_EXACT_ALL}[way % 4];
		}
		options.exact = SMX_EXACT_ALL;
	}
}

/* ---- afterstates and branches that are cut ---- */

static const size_t widths[] = {1, 2, 3, 4, 1, 2};
static const double reaches[] = {0.9, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.005, 0.999};
enum { WIDTHS = sizeof widths / sizeof *widths, REACHES = sizeof reaches / sizeof *reaches };

static struct toys *check_cuts(unsigned kind, unsigned free_bits, unsigned depth_most, unsigned trees, unsigned what)
{
	struct toys *t = toys_create();
	struct expected *e = &t->expected;
	uint64_t random = kind * 1000 + depth_most * 10 + what;
	for (unsigned n = 0; n < trees;) {
		const uint64_t seed = any_seed(&random, kind, free_bits);
		struct smx_search_options options;
		smx_search_options_init(&options, &toy_plain);
		options.evaluator = any_evaluator(&random);
		options.prerank = any_evaluator(&random);
		options.depth_plies = 1 + smx_random_below(&random, depth_most);
		options.width = smx_random_below(&random, 4) == 0 ? 3 : 0;
		options.leaves = smx_random_below(&random, 2) ? SMX_LEAVES_FOLD : SMX_LEAVES_LIST;
		options.probe_replies = smx_random_below(&random, 4);
		options.no_bounds = smx_random_below(&random, 2);
		struct smx_position position;
		if (!toy_root(e, seed, &position))
			continue;
		expect(e, &position, &options);
		const smx_value exact = e->best;
		if (what & 1)
			options.selective.inner_width = widths[smx_random_below(&random, WIDTHS)];
		if (what & 2)
			options.selective.reach = reaches[smx_random_below(&random, REACHES)];
		expect(e, &position, &options);
		t->differs += e->best != exact;
		check_levels(t, seed, &position, options, e);
		n++;
	}
	fprintf(stderr,
	        "%" PRIu64 " searches, %" PRIu64 " roots with another value than the exact one; in the oracle %" PRIu64
	        " nodes narrowed, %" PRIu64 " branches cut; by the search %" PRIu64 "; %" PRIu64 " inexact candidates\n",
	        t->searches, t->differs, e->slow.narrowed, e->slow.cut, t->branches_cut, t->inexact);
	cr_assert_gt(t->differs, 0u, "the options change nothing here");
	cr_assert_gt(t->inexact, 0u);
	cr_assert_eq(e->slow.narrowed > 0, (what & 1) != 0);
	cr_assert_eq(e->slow.cut > 0, (what & 2) != 0);
	cr_assert_eq(t->branches_cut > 0, (what & 2) != 0);
	return t;
}

enum { ANY_KIND = TOY_RANDOM_SIDES | TOY_TRANSPOSITIONS | TOY_NEVER_LOST };

Test(selective, inner_width_keeps_the_pre_rankers_best_of_every_inner_decision)
{
	toys_destroy(check_cuts(0, ANY_KIND, 3, fewer(2000), 1));
	toys_destroy(check_cuts(TOY_SMALL, ANY_KIND, 5, fewer(1600), 1));
	toys_destroy(check_cuts(0, ANY_KIND | TOY_ENDLESS, 4, fewer(300), 1));
}

Test(selective, branches_below_the_reach_are_evaluated_at_once)
{
	toys_destroy(check_cuts(0, ANY_KIND, 3, fewer(2000), 2));
	toys_destroy(check_cuts(TOY_SMALL, ANY_KIND, 5, fewer(1600), 2));
	toys_destroy(check_cuts(0, ANY_KIND | TOY_ENDLESS, 4, fewer(300), 2));
}

Test(selective, inner_width_and_reach_go_together)
{
	toys_destroy(check_cuts(0, ANY_KIND, 4, fewer(600), 3));
	toys_destroy(check_cuts(TOY_MANY, ANY_KIND, 3, fewer(60), 3));
}

Test(selective, a_position_without_outcome_is_cut_as_its_candidates_are)
{
	struct toys *t = toys_create();
	struct expected *e = &t->expected;
	uint64_t random = 21, differs = 0;
	for (unsigned n = 0; n < fewer(600); n++) {
		const uint64_t seed = any_seed(&random, 0, ANY_KIND);
		const struct smx_position position = toy_position(seed, SMX_NO_OUTCOME);
		struct smx_search_options options;
		smx_search_options_init(&options, &toy_plain);
		options.evaluator = any_evaluator(&random);
		options.prerank = any_evaluator(&random);
		options.depth_plies = 1 + smx_random_below(&random, 3);
		if (n % 3 != 1)
			options.selective.inner_width = widths[smx_random_below(&random, WIDTHS)];
		if (n % 3 != 0)
			options.selective.reach = reaches[smx_random_below(&random, REACHES)];
		options.outcome_values = true;
		e->slow.evaluator = options.evaluator;
		e->slow.prerank = options.prerank;
		e->slow.side = 0;
		e->slow.inner_width = 0;
		e->slow.rarity_most = rarity_most(0);
		const smx_value exact = slow_value(&e->slow, position.state, options.depth_plies, 0, NULL);
		e->slow.inner_width = options.selective.inner_width;
		e->slow.rarity_most = rarity_most(options.selective.reach);
		smx_value outcomes[SMX_OUTCOMES_MAX];
		const smx_value value = slow_value(&e->slow, position.state, options.depth_plies, 0, outcomes);
		differs += value != exact;
		for (options.star = SMX_STAR_NONE; options.star <= SMX_STAR_ETC; options.star++) {
			const struct smx_result *r = run(t->search[n % 2], &position, &options);
			cr_assert(r->kind == SMX_RESULT_VALUE && r->has_value && r->selective);
			cr_assert_eq(r->value, value, "seed %" PRIu64 " star %d: %" PRId64 " not %" PRId64, seed, (int)options.star,
			             r->value, value);
			for (unsigned i = 0; i < r->outcome_count; i++)
				cr_assert_eq(r->outcome_values[i], outcomes[i], "seed %" PRIu64 " outcome %u", seed, i);
		}
	}
	cr_assert_gt(differs, 0u);
	toys_destroy(t);
}

/* ---- reach with a table ---- */

/* One table for searches of every reach, the exact one among them, of every depth and level, of trees whose positions meet again. */
Test(selective, what_a_table_keeps_of_one_reach_counts_for_no_other)
{
	struct toys *t = toys_create();
	struct smx_table *table;
	cr_assert_eq(smx_table_create(1 << 20, &table, NULL), SMX_OK);
	uint64_t random = 9, hits = 0, differs = 0;
	for (unsigned n = 0; n < fewer(400);) {
		const uint64_t seed = any_seed(&random, TOY_TRANSPOSITIONS, ANY_KIND | TOY_ENDLESS);
		struct smx_search_options options;
		struct smx_position position;
		smx_search_options_init(&options, &toy_plain);
		options.evaluator = any_evaluator(&random);
		if (!toy_root(&t->expected, seed, &position))
			continue;
		smx_value exact = 0;
		for (unsigned i = 0; i < 12; i++) {
			options.depth_plies = 4 - i % 2;
			options.selective.reach = i < 2 ? 0 : reaches[smx_random_below(&random, REACHES)];
			options.star = (enum smx_star)smx_random_below(&random, SMX_STAR_ETC + 1);
			options.table = NULL;
			expect(&t->expected, &position, &options);
			options.table = table;
			const struct smx_result *r = run(t->search[n % GAMES], &position, &options);
			cr_assert_eq(r->value, t->expected.best, "seed %" PRIu64 " reach %g depth %u", seed,
			             options.selective.reach, options.depth_plies);
			cr_assert_eq(r->ties, t->expected.ties);
			hits += r->selective ? r->counters.table_hits : 0;
			cr_assert_eq(r->counters.table_conflicts, 0u);
			exact = i == 0 ? r->value : exact;
			differs += i % 2 == 0 && r->value != exact;
		}
		n++;
	}
	cr_assert(hits > 0 && differs > 0);
	smx_table_destroy(table);
	toys_destroy(t);
}

/* ---- what cuts nothing ---- */

Test(selective, options_that_cut_nothing_give_the_exact_values)
{
	static const struct smx_selective inert[] = {
		{0, 0, 0},        {SIZE_MAX, 0, 0}, {64, 0, 0},         {0, 1e-300, 0},
		{0, 4.9e-324, 0}, {0, 0, 64},       {0, 0, UINT32_MAX}, {5, 1e-300, 64},
	};
	struct toys *t = toys_create();
	uint64_t random = 3;
	for (unsigned n = 0; n < fewer(300);) {
		const uint64_t seed = any_seed(&random, n % 3 == 0 ? TOY_MANY : 0, ANY_KIND);
		struct smx_search_options options;
		smx_search_options_init(&options, &toy_plain);
		options.evaluator = any_evaluator(&random);
		options.prerank = any_evaluator(&random);
		options.depth_plies = 1 + smx_random_below(&random, n % 3 == 0 ? 2 : 3);
		struct smx_position position;
		if (!toy_root(&t->expected, seed, &position))
			continue;
		expect(&t->expected, &position, &options);
		options.selective = inert[n % (sizeof inert / sizeof *inert)];
		check_levels(t, seed, &position, options, &t->expected);
		n++;
	}
	cr_assert_eq(t->branches_cut, 0u);
	cr_assert_eq(t->sampled_away, 0u);
	toys_destroy(t);
}

/* ---- samples ---- */

Test(selective, every_level_draws_the_same_samples_and_so_does_every_run)
{
	struct toys *t = toys_create();
	uint64_t random = 5;
	for (unsigned n = 0; n < fewer(400);) {
		const uint64_t seed = any_seed(&random, n % 2 ? TOY_MANY : 0, ANY_KIND);
		struct smx_search_options options;
		smx_search_options_init(&options, &toy_plain);
		options.evaluator = any_evaluator(&random);
		options.prerank = any_evaluator(&random);
		options.depth_plies = 1 + smx_random_below(&random, 3);
		options.selective.samples = 1 + smx_random_below(&random, 12);
		if (smx_random_below(&random, 3) == 0)
			options.selective.inner_width = 2;
		if (smx_random_below(&random, 3) == 0)
			options.selective.reach = 0.05;
		struct smx_position position;
		if (!toy_root(&t->expected, seed, &position))
			continue;
		check_levels(t, seed, &position, options, NULL);
		options.star = (enum smx_star)(n % 4);
		const struct smx_result once = *run(t->search[0], &position, &options);
		const struct smx_result *again = run(t->search[0], &position, &options);
		cr_assert(once.value == again->value && smx_turn_equal(&once.turn, &again->turn));
		cr_assert_eq(memcmp(&once.counters, &again->counters, sizeof once.counters), 0);
		n++;
	}
	cr_assert_gt(t->sampled_away, 0u);
	toys_destroy(t);
}

/* The sum and the sum of squares of something whose mean should be zero. */
struct statistic {
	const char *name;
	double sum, squares, count;
};

static void add(struct statistic *s, double x)
{
	s->sum += x;
	s->squares += x * x;
	s->count++;
}

/* Its distance from zero, in standard errors. */
static double distance(const struct statistic *s)
{
	return s->sum / sqrt(s->squares);
}

/* Each node is drawn once, by its key: over many nodes the error has mean zero whatever it is weighed by, as long as that is known
 * without the draw. The weights here would show: a mean off by itself, outcomes drawn without regard to their weights, and the first
 * or last outcomes drawn too often. Independent draws would scatter more. */
Test(selective, samples_are_fair_and_stratified)
{
	struct toys *t = toys_create();
	struct expected *e = &t->expected;
	static const unsigned samples[] = {1, 2, 4, 7, 16, 31};
	struct smx_search_options options;
	smx_search_options_init(&options, &toy_plain);
	for (unsigned i = 0; toy_evaluators[i]; i++)
		if (strcmp(toy_evaluators[i]->name, "fraction") == 0)
			options.evaluator = toy_evaluators[i];
	cr_assert_str_eq(options.evaluator->name, "fraction");
	options.exact = SMX_EXACT_ALL;
	e->slow.evaluator = options.evaluator;
	const double unit = (double)options.evaluator->win;
	for (unsigned k = 0; k < sizeof samples / sizeof *samples; k++) {
		options.selective.samples = samples[k];
		struct statistic all = {.name = "mean"}, unweighted = {.name = "unweighted"}, first = {.name = "first"};
		struct statistic last = {.name = "last"}, heaviest = {.name = "heaviest"};
		double squares = 0, independent = 0, biased = 0;
		uint64_t random = 100 + samples[k], nodes = 0, away = 0;
		for (unsigned n = 0; n < (golden_slow_build() ? 1000 : 4000); n++) {
			struct smx_position position;
			if (!toy_root(e, any_seed(&random, TOY_MANY, 0), &position))
				continue;
			options.star = (enum smx_star)(n % 4);
			const struct smx_result *r = run(t->search[n % 2], &position, &options);
			away += r->counters.outcomes_sampled_away;
			e->count = 0;
			e->wins = false;
			e->slow.prerank = options.prerank;
			toy_plain.turns(&position, collect, e);
			cr_assert_eq(e->count, r->candidate_count);
			for (size_t i = 0; i < e->count; i++) {
				uint32_t weights[SMX_OUTCOMES_MAX], total = 0;
				smx_value values[SMX_OUTCOMES_MAX], least = INT64_MAX, most = INT64_MIN;
				const smx_value whole = slow_value(&e->slow, e->candidate[i].state, 1, 1, values);
				const unsigned count = toy_plain.outcomes(e->candidate[i].state, weights);
				unsigned heavy = 0;
				double plain_mean = 0, mean = 0, variance = 0;
				for (unsigned o = 0; o < count; o++) {
					total += weights[o];
					least = values[o] < least ? values[o] : least;
					most = values[o] > most ? values[o] : most;
					heavy = weights[o] > weights[heavy] ? o : heavy;
					plain_mean += (double)values[o] / unit / count;
				}
				for (unsigned o = 0; o < count; o++)
					mean += (double)values[o] / unit * weights[o] / total;
				for (unsigned o = 0; o < count; o++)
					variance += pow((double)values[o] / unit - mean, 2) * weights[o] / total;
				const smx_value value = r->candidates[i].value;
				if (count <= samples[k]) {
					cr_assert_eq(value, whole);
					continue;
				}
				cr_assert(least <= value && value <= most);
				const double error = (double)value / unit - mean;
				nodes++;
				squares += error * error;
				independent += variance / samples[k];
				biased += (plain_mean - mean) * (plain_mean - mean);
				add(&all, error);
				add(&unweighted, error * (plain_mean - mean));
				add(&first, error * ((double)values[0] / unit - mean));
				add(&last, error * ((double)values[count - 1] / unit - mean));
				add(&heaviest, error * ((double)values[heavy] / unit - mean));
			}
		}
		fprintf(stderr, "%u of more: %" PRIu64 " nodes, scatter %.3f of independent draws';", samples[k], nodes,
		        squares / independent);
		cr_assert_gt(nodes, 1000u);
		cr_assert_gt(away, nodes);
		cr_assert_gt(biased, 0);
		const struct statistic *const list[] = {&all, &unweighted, &first, &last, &heaviest};
		for (unsigned i = 0; i < sizeof list / sizeof *list; i++) {
			fprintf(stderr, " %s %.2f", list[i]->name, distance(list[i]));
			/* 30 numbers from fixed seeds: of fair draws one in ten thousand would pass this */
			cr_assert_lt(fabs(distance(list[i])), 4.5, "%u samples: %s off by %.2f standard errors", samples[k],
			             list[i]->name, distance(list[i]));
		}
		fprintf(stderr, "\n");
		/* one draw a stratum: for many samples of few outcomes most of the scatter is gone */
		cr_assert_lt(squares, independent * (samples[k] >= 16 ? 0.8 : samples[k] >= 4 ? 1 : 1.1));
		cr_assert_gt(squares, independent / 100);
	}
	toys_destroy(t);
}

/* ---- other options ---- */

Test(selective, asking_for_outcome_values_changes_no_turn_and_no_value_of_one)
{
	struct toys *t = toys_create();
	uint64_t random = 77;
	for (unsigned n = 0; n < fewer(200);) {
		struct smx_search_options options;
		smx_search_options_init(&options, &toy_plain);
		options.depth_plies = 2 + n % 2;
		options.selective.samples = 3;
		struct smx_position position;
		if (!toy_root(&t->expected, any_seed(&random, 0, ANY_KIND), &position))
			continue;
		const struct smx_result without = *run(t->search[0], &position, &options);
		options.outcome_values = true;
		const struct smx_result *with = run(t->search[0], &position, &options);
		cr_assert_eq(with->value, without.value, "%" PRId64 " not %" PRId64, with->value, without.value);
		cr_assert(smx_turn_equal(&with->turn, &without.turn));
		n++;
	}
	toys_destroy(t);
}

Test(selective, what_is_out_of_range_or_narrows_or_samples_with_a_table_is_refused)
{
	static const double bad[] = {1, 1.5, -0.1, -1e-300, (double)INFINITY, -(double)INFINITY, (double)NAN};
	static const struct smx_result untouched;
	struct toys *t = toys_create();
	struct smx_error error;
	struct smx_search_options options;
	smx_search_options_init(&options, &toy_plain);
	const struct smx_position position = toy_position(TOY_NEVER_LOST, SMX_NO_OUTCOME);
	const struct smx_result *result = &untouched;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		options.selective.reach = bad[i];
		error.message[0] = '\0';
		cr_assert_eq(smx_search_run(t->search[0], &position, &options, &result, &error), SMX_ERR_ARGUMENT, "%g",
		             bad[i]);
		cr_assert_gt(strlen(error.message), 0u);
		cr_assert_eq(result, &untouched);
	}
	static const struct smx_selective each[] = {{3, 0, 0}, {0, 0, 3}, {SIZE_MAX, 0, 0}, {2, 0.1, 0}};
	struct smx_table *table;
	cr_assert_eq(smx_table_create(SMX_TABLE_BYTES_MIN, &table, NULL), SMX_OK);
	for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
		options.selective = each[i];
		options.table = NULL;
		cr_assert(run(t->search[0], &position, &options)->selective);
		options.table = table;
		error.message[0] = '\0';
		result = &untouched;
		cr_assert_eq(smx_search_run(t->search[0], &position, &options, &result, &error), SMX_ERR_ARGUMENT);
		cr_assert_gt(strlen(error.message), 0u);
		cr_assert_eq(result, &untouched);
	}
	options.selective = (struct smx_selective){0, 0, 0};
	cr_assert(!run(t->search[0], &position, &options)->selective);
	smx_table_destroy(table);
	toys_destroy(t);
}

/* ---- Dice Chess ---- */

Test(selective, dice_chess_of_three_turns_is_cut_alike_at_every_level)
{
	static const char *const positions[] = {
		"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 PRK",
		"6k1/5ppp/8/3q4/8/4Q3/5PPP/6K1 w - - 0 1 PPK",
		"2b1k3/r1pp1pB1/p1n5/6P1/2P5/4P2P/P2P1K2/Q7 b - - 0 1 pbr",
		"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 PNQ",
	};
	static const struct smx_selective modes[] = {{5, 0, 0}, {0, 2.0 / 216, 0}, {3, 0, 9}, {4, 4.0 / 216, 0}};
	enum { MODES = sizeof modes / sizeof *modes };
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	struct expected *e = aligned_alloc(SMX_CACHE_LINE, (sizeof *e / SMX_CACHE_LINE + 1) * SMX_CACHE_LINE);
	memset(e, 0, sizeof *e);
	e->slow.game = &smx_dicechess;
	e->slow.arena = smx_arena_create(NULL);
	for (unsigned p = 0; p < (golden_slow_build() ? 2 : 4); p++)
		for (unsigned m = 0; m < MODES; m++) {
			struct smx_search_options options;
			smx_search_options_init(&options, &smx_dicechess);
			options.evaluator = p % 2 ? &smx_dicechess_winprob : &smx_dicechess_material;
			options.prerank = &smx_dicechess_material;
			options.depth_plies = 3;
			options.width = p == 3 || m == 1 ? 2 : 5;
			options.selective = modes[m];
			const struct smx_position position = dicechess_read(positions[p]);
			options.star = SMX_STAR_NONE;
			const struct smx_result plain = *run(search, &position, &options);
			cr_assert(plain.has_value && plain.selective);
			for (options.star = SMX_STAR1; options.star <= SMX_STAR2; options.star++) {
				const struct smx_result *r = run(search, &position, &options);
				cr_assert_eq(r->value, plain.value, "position %u mode %u star %d: %" PRId64 " not %" PRId64, p, m,
				             (int)options.star, r->value, plain.value);
				cr_assert(r->ties == plain.ties && smx_turn_equal(&r->turn, &plain.turn));
			}
			if (modes[m].samples || (golden_slow_build() && (p || m == 1)) || p == 3)
				continue; /* the oracle evaluates every leaf one by one */
			expect(e, &position, &options);
			cr_assert_eq(plain.value, e->best, "position %u mode %u: %" PRId64 " not %" PRId64, p, m, plain.value,
			             e->best);
			cr_assert_eq(plain.ties, e->ties);
		}
	smx_arena_destroy(e->slow.arena);
	free(e);
	smx_search_destroy(search);
}
