/* Long analyses: the best candidates' exact values, what progress tells, and going on from a saved table. */
#include "tests/support/dicechess.h"
#include "tests/support/golden.h"
#include "tests/support/run.h"
#include "tests/support/toy.h"

#include <starmax/parallel.h>

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CANDIDATES_MAX = 512 };

static const char *const positions[] = {
	"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 PRK",
	"8/5pk1/4p1p1/3pP2p/3P1P1P/6P1/4RK2/r7 w - - 0 1 PRK",
	"6k1/5ppp/8/3q4/8/4Q3/5PPP/6K1 w - - 0 1 PPK",
};
enum { POSITIONS = sizeof positions / sizeof *positions };

static struct smx_search *search_of(const struct smx_game *game)
{
	struct smx_search *search;
	cr_assert_eq(smx_search_create(game, NULL, &search), SMX_OK);
	return search;
}

static struct smx_table *table_of(size_t size_bytes)
{
	struct smx_table *table;
	cr_assert_eq(smx_table_create(size_bytes, &table, NULL), SMX_OK);
	return table;
}

static bool same_answer(const struct smx_result *a, const struct smx_result *b)
{
	return a->kind == b->kind && a->stopped == b->stopped && a->has_value == b->has_value && a->value == b->value &&
	       a->ties == b->ties && a->depth_plies == b->depth_plies && smx_turn_equal(&a->turn, &b->turn);
}

/* Several threads; NULL in a library without them. */
static struct smx_parallel *parallel_of(unsigned threads)
{
	struct smx_parallel *parallel = NULL;
	const enum smx_status status = smx_parallel_create(threads, &parallel);
	cr_assert(status == SMX_OK || (status == SMX_ERR_ARGUMENT && !parallel));
	return parallel;
}

/* ---- the best K candidates ---- */

struct multi {
	struct smx_table *table;
	struct smx_parallel *parallel;
	struct smx_candidate exact[CANDIDATES_MAX]; /* of the plain search, which gives every candidate its value */
	smx_value sorted[CANDIDATES_MAX];
	uint64_t searches, bounds, opened, opened_all;
};

enum { MULTI_WAYS = 7 };

static void use_way(const struct multi *m, unsigned way, struct smx_search_options *options)
{
	static const enum smx_star star[MULTI_WAYS] = {SMX_STAR_NONE, SMX_STAR1, SMX_STAR2,   SMX_STAR2,
	                                               SMX_STAR2,     SMX_STAR2, SMX_STAR_ETC};
	options->star = star[way];
	options->leaves = way == 3 ? SMX_LEAVES_LIST : SMX_LEAVES_FOLD;
	options->no_frames = way == 3;
	options->exact = way == 4 ? 2 : 0;
	options->splitter = way == 5 ? smx_parallel_splitter(m->parallel) : NULL;
	options->share_least_ms = -1;
	options->table = way >= 5 ? m->table : NULL;
}

static int falling(const void *a, const void *b)
{
	const smx_value left = *(const smx_value *)a, right = *(const smx_value *)b;
	return left > right ? -1 : left < right;
}

static void check_multi(struct multi *m, struct smx_search *search, const struct smx_position *position,
                        struct smx_search_options options, const char *name)
{
	options.star = SMX_STAR_NONE;
	const struct smx_result plain = *run(search, position, &options);
	const size_t count = plain.candidate_count;
	if (plain.kind != SMX_RESULT_TURN)
		return;
	cr_assert_leq(count, (size_t)CANDIDATES_MAX);
	memcpy(m->exact, plain.candidates, count * sizeof *m->exact);
	for (size_t i = 0; i < count; i++) {
		cr_assert(m->exact[i].exact);
		m->sorted[i] = m->exact[i].value;
	}
	qsort(m->sorted, count, sizeof *m->sorted, falling);
	for (unsigned way = 1; way < MULTI_WAYS; way++) {
		use_way(m, way, &options);
		const size_t exact = options.exact;
		const size_t asked[] = {0, 1, 2, 3, 5, count, count + 7};
		for (size_t a = 0; a < sizeof asked / sizeof *asked; a++) {
			const size_t k = asked[a] == 0 ? 1 : asked[a] < count ? asked[a] : count;
			options.multi = asked[a];
			options.exact = exact;
			const struct smx_result *r = run(search, position, &options);
			m->searches++;
			cr_assert(same_answer(r, &plain), "%s way %u multi %zu: another answer", name, way, asked[a]);
			for (size_t i = 0; i < count; i++) {
				const struct smx_candidate *c = &r->candidates[i], *x = &m->exact[i];
				cr_assert(smx_turn_equal(&c->turn, &x->turn) && c->completed);
				cr_assert(c->exact || x->value < m->sorted[k - 1], "%s way %u multi %zu: candidate %zu is not exact",
				          name, way, asked[a], i);
				cr_assert(c->exact ? c->value == x->value : c->value >= x->value && c->value < m->sorted[k - 1],
				          "%s way %u multi %zu: candidate %zu has %" PRId64 ", not %" PRId64, name, way, asked[a], i,
				          c->value, x->value);
				m->bounds += !c->exact;
			}
			if (!options.table && k < count) {
				m->opened += r->counters.chance_nodes;
				options.exact = SMX_EXACT_ALL;
				m->opened_all += run(search, position, &options)->counters.chance_nodes;
			}
		}
	}
}

static struct multi *multi_create(void)
{
	struct multi *m = calloc(1, sizeof *m);
	cr_assert_not_null(m);
	m->table = table_of((size_t)1 << 22);
	m->parallel = parallel_of(3);
	return m;
}

/* The searches go first: their memory is the threads'. */
static void multi_destroy(struct multi *m)
{
	fprintf(stderr,
	        "%" PRIu64 " searches, %" PRIu64 " candidates not exact, %" PRIu64 " chance nodes, all exact %" PRIu64 "\n",
	        m->searches, m->bounds, m->opened, m->opened_all);
	cr_assert(m->searches > 0 && m->bounds > 0 && m->opened < m->opened_all);
	smx_parallel_destroy(m->parallel);
	smx_table_destroy(m->table);
	free(m);
}

static void multi_on_trees(unsigned weight)
{
	static const struct smx_game *const games[] = {&toy_plain, &toy_won, &toy_hooked};
	struct multi *m = multi_create();
	for (unsigned g = 0; g < 3; g++) {
		struct smx_search *search = search_of(games[g]);
		for (uint64_t seed = 0; seed < (golden_slow_build() ? 1u : 8u) << TOY_KIND_BITS; seed++) {
			if (seed & TOY_SMALL && seed & TOY_MANY)
				continue;
			const struct smx_position position = toy_position(seed, 0);
			struct smx_search_options options;
			char name[80];
			smx_search_options_init(&options, games[g]);
			options.depth_plies = seed & TOY_MANY ? 2 : 3;
			options.evaluator = toy_evaluators[0];
			if (weight) {
				options.rescore = toy_evaluators[1];
				options.rescore_weight = weight;
				options.rescore_total = 4;
			}
			snprintf(name, sizeof name, "game %u seed %" PRIu64 " weight %u", g, seed, weight);
			check_multi(m, search, &position, options, name);
		}
		smx_search_destroy(search);
	}
	multi_destroy(m);
}

Test(multi, the_best_candidates_of_trees_are_exact)
{
	multi_on_trees(0);
}

Test(multi, the_best_blended_candidates_are_exact)
{
	multi_on_trees(1);
}

Test(multi, the_best_candidates_of_dice_chess_are_exact)
{
	struct multi *m = multi_create();
	struct smx_search *search = search_of(&smx_dicechess);
	for (unsigned p = 0; p < POSITIONS; p++) {
		const struct smx_position position = dicechess_read(positions[p]);
		struct smx_search_options options;
		smx_search_options_init(&options, &smx_dicechess);
		options.depth_plies = 3;
		options.width = golden_slow_build() ? 3 : 5;
		check_multi(m, search, &position, options, positions[p]);
		options.depth_plies = 2;
		options.width = golden_slow_build() ? 12 : 30;
		check_multi(m, search, &position, options, positions[p]);
	}
	smx_search_destroy(search);
	multi_destroy(m);
}

/* ---- progress ---- */

enum { SEEN_MAX = 4096 };

struct seen {
	struct smx_progress progress[SEEN_MAX];
	size_t count;
};

static void see(void *context, const struct smx_progress *progress)
{
	struct seen *seen = context;
	if (seen->count < SEEN_MAX)
		seen->progress[seen->count++] = *progress;
}

static void best_is_told(unsigned threads)
{
	struct smx_parallel *parallel = threads > 1 ? parallel_of(threads) : NULL;
	struct smx_search *search = search_of(&smx_dicechess);
	struct seen *seen = calloc(1, sizeof *seen);
	cr_assert_not_null(seen);
	const struct smx_position position = dicechess_read(positions[2]);
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.depth_plies = golden_slow_build() ? 3 : 4;
	options.width = golden_slow_build() ? 40 : 8;
	options.splitter = smx_parallel_splitter(parallel);
	options.share_least_ms = -1;
	options.on_progress = see;
	options.progress_context = seen;
	const struct smx_result *r = run(search, &position, &options);
	size_t told = 0;
	for (size_t i = 0; i < seen->count; i++) {
		const struct smx_progress *now = &seen->progress[i], *before = i ? now - 1 : NULL;
		if (!now->has_value)
			continue;
		told++;
		cr_assert(now->value_depth_plies == now->depth_plies || now->value_depth_plies + 1 == now->depth_plies);
		const struct smx_iteration *depth = &r->iterations[now->value_depth_plies - 1];
		cr_assert_eq(depth->depth_plies, now->value_depth_plies);
		if (now->value_depth_plies < now->depth_plies)
			cr_assert(now->value == depth->value && smx_turn_equal(&now->turn, &depth->turn));
		else
			cr_assert(now->value <= depth->value && now->candidates_completed > 0);
		if (before && before->has_value && before->value_depth_plies == now->value_depth_plies)
			cr_assert_geq(now->value, before->value);
	}
	fprintf(stderr, "%zu reports, %zu with a value\n", seen->count, told);
	cr_assert_gt(told, (size_t)0);
	smx_search_destroy(search);
	smx_parallel_destroy(parallel);
	free(seen);
}

Test(progress, tells_the_best_candidate_so_far)
{
	best_is_told(1);
}

Test(progress, tells_it_where_other_threads_find_it)
{
	best_is_told(3);
}

/* ---- going on ---- */

/* In a serial search the claims of what is below a candidate come before its own. */
struct watch {
	unsigned depth;      /* turns left at the candidates that count */
	bool asked;          /* the table has answered about the candidate */
	size_t below, known; /* searched since the last candidate; candidates that it knew, with nothing searched below */
};

static void watch_claim(void *context, const struct smx_claim *claim)
{
	struct watch *watch = context;
	if (claim->source == SMX_CLAIM_TABLE && !claim->visit.parent)
		watch->asked = true;
	if (claim->source != SMX_CLAIM_SEARCH)
		return;
	if (claim->visit.parent) {
		watch->below++;
		return;
	}
	watch->known += claim->depth == watch->depth && watch->asked && watch->below == 0;
	watch->below = 0;
	watch->asked = false;
}

/* Write the table to a file, and make another of it. */
static struct smx_table *saved_and_loaded(const struct smx_table *table, const struct smx_evaluator *evaluator)
{
	char path[300];
	const char *directory = getenv("TMPDIR");
	struct smx_table *loaded;
	struct smx_error error;
	snprintf(path, sizeof path, "%s/starmax-long-XXXXXX", directory ? directory : "/tmp");
	const int file = mkstemp(path);
	cr_assert_geq(file, 0);
	close(file);
	cr_assert_eq(smx_table_save(table, path, &smx_dicechess, evaluator, &error), SMX_OK, "%s", error.message);
	cr_assert_eq(smx_table_load(path, &smx_dicechess, evaluator, &loaded, &error), SMX_OK, "%s", error.message);
	remove(path);
	return loaded;
}

enum { RESUME_BYTES = 1 << 24 };

static void resume_options(struct smx_search_options *options)
{
	smx_search_options_init(options, &smx_dicechess);
	options->depth_plies = golden_slow_build() ? 3 : 4;
	options->width = golden_slow_build() ? 20 : 8;
}

Test(resume, a_stopped_search_goes_on_with_what_it_had_completed)
{
	enum { PARTS = 5 };
	struct smx_search *search = search_of(&smx_dicechess);
	size_t candidates_known = 0;
	for (unsigned p = 0; p < 2; p++) {
		const struct smx_position position = dicechess_read(positions[p]);
		struct smx_search_options options;
		resume_options(&options);
		options.table = table_of(RESUME_BYTES);
		const struct smx_result whole = *run(search, &position, &options);
		smx_table_destroy(options.table);
		const uint64_t nodes = whole.counters.chance_nodes;
		for (uint64_t part = 1; part < PARTS; part++) {
			struct smx_table *table = options.table = table_of(RESUME_BYTES);
			options.node_limit = nodes * part / PARTS;
			const struct smx_result *stopped = run(search, &position, &options);
			cr_assert(stopped->stopped && stopped->limit_reached);
			const struct smx_iteration last = stopped->iterations[stopped->iteration_count - 1];
			options.node_limit = 0;
			options.table = saved_and_loaded(table, options.evaluator);
			smx_table_destroy(table);
			struct watch watch = {.depth = last.depth_plies - 1};
			options.on_claim = watch_claim;
			options.claim_context = &watch;
			const struct smx_result *resumed = run(search, &position, &options);
			options.on_claim = NULL;
			cr_assert(same_answer(resumed, &whole), "%s, stopped after %" PRIu64 "/%d: another answer", positions[p],
			          part, PARTS);
			cr_assert_lt(resumed->counters.chance_nodes, nodes, "%s, stopped after %" PRIu64 "/%d", positions[p], part,
			             PARTS);
			cr_assert_geq(watch.known, last.candidates_completed, "%s, stopped after %" PRIu64 "/%d", positions[p],
			              part, PARTS);
			candidates_known += last.candidates_completed;
			fprintf(stderr,
			        "stopped after %" PRIu64 "/%d with %zu candidates of depth %u: %" PRIu64 " of %" PRIu64 " nodes\n",
			        part, PARTS, last.candidates_completed, last.depth_plies, resumed->counters.chance_nodes, nodes);
			smx_table_destroy(options.table);
		}
	}
	cr_assert_gt(candidates_known, (size_t)0);
	smx_search_destroy(search);
}

Test(resume, a_completed_depth_costs_a_node_a_candidate)
{
	struct smx_parallel *parallel = parallel_of(3);
	struct smx_search *search = search_of(&smx_dicechess);
	for (unsigned p = 0; p < POSITIONS; p++) {
		const struct smx_position position = dicechess_read(positions[p]);
		struct smx_search_options options;
		resume_options(&options);
		struct smx_table *table = options.table = table_of(RESUME_BYTES);
		options.splitter = p == 1 ? smx_parallel_splitter(parallel) : NULL; /* who made the table does not matter */
		const struct smx_result whole = *run(search, &position, &options);
		options.splitter = NULL;
		options.table = saved_and_loaded(table, options.evaluator);
		const struct smx_result *again = run(search, &position, &options);
		cr_assert(same_answer(again, &whole), "%s: another answer", positions[p]);
		cr_assert_lt(again->counters.chance_nodes, whole.counters.chance_nodes, "%s", positions[p]);
		/* With threads a candidate may have been left because of a best value that one thread finds only after it: its bound
		 * does not suffice then, and it is searched again. */
		for (unsigned i = 1; i < again->iteration_count && p != 1; i++) {
			cr_assert_eq(again->iterations[i].counters.frames, (uint64_t)0);
			cr_assert_eq(again->iterations[i].counters.chance_nodes, again->candidate_count,
			             "%s: depth %u opens %" PRIu64, positions[p], again->iterations[i].depth_plies,
			             again->iterations[i].counters.chance_nodes);
		}
		smx_table_destroy(options.table);
		smx_table_destroy(table);
	}
	smx_search_destroy(search);
	smx_parallel_destroy(parallel);
}
