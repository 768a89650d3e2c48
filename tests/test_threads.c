/* Searches on several threads by the library's own back-end: the answer is the one of a search on one thread, to the last bit. In a
 * library without OpenMP the tests' own back-end stands in. */
#include "tests/support/dicechess.h"
#include "tests/support/golden.h"
#include "tests/support/run.h"
#include "tests/support/threads.h"
#include "tests/support/toy.h"

#include <starmax/parallel.h>
#include <starmax/random.h>

#include <criterion/criterion.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned thread_counts[] = {1, 2, 3, 4, 8};
enum { COUNTS = sizeof thread_counts / sizeof thread_counts[0], AGAIN = 100 };

static bool without_openmp(void)
{
	struct smx_parallel_machine machine;
	smx_parallel_machine(&machine);
	return machine.openmp_date == 0;
}

struct back_end {
	struct smx_parallel *parallel;
	struct threads *threads; /* where there is no OpenMP */
	struct threads_counted counted;
};

static void back_end_create(struct back_end *b, unsigned threads)
{
	*b = (struct back_end){.parallel = NULL};
	if (without_openmp())
		b->threads = threads_create(threads, 0);
	else
		cr_assert_eq(smx_parallel_create(threads, &b->parallel), SMX_OK);
	threads_count(&b->counted, b->threads ? threads_splitter(b->threads) : smx_parallel_splitter(b->parallel));
}

static void back_end_destroy(struct back_end *b)
{
	smx_parallel_destroy(b->parallel);
	if (b->threads)
		threads_destroy(b->threads);
}

static void back_ends_create(struct back_end all[COUNTS])
{
	for (unsigned i = 0; i < COUNTS; i++)
		back_end_create(&all[i], thread_counts[i]);
}

static void back_ends_destroy(struct back_end all[COUNTS])
{
	for (unsigned i = 0; i < COUNTS; i++)
		back_end_destroy(&all[i]);
}

static struct smx_search *search_create(const struct smx_game *game)
{
	struct smx_search *search;
	cr_assert_eq(smx_search_create(game, NULL, &search), SMX_OK);
	return search;
}

/* What one thread finds, and all its candidates exactly. */
struct truth {
	struct smx_result result;
	struct smx_candidate *candidates;
};

static struct truth truth_of(struct smx_search *search, const struct smx_position *position,
                             struct smx_search_options options)
{
	struct truth truth = {.candidates = NULL};
	options.splitter = NULL;
	options.exact = SMX_EXACT_ALL;
	truth.result = *run(search, position, &options);
	truth.candidates = calloc(truth.result.candidate_count + 1, sizeof *truth.candidates);
	if (truth.result.candidate_count)
		memcpy(truth.candidates, truth.result.candidates, truth.result.candidate_count * sizeof *truth.candidates);
	return truth;
}

static void expect_same_candidate(const struct smx_candidate *c, const struct smx_candidate *x, const char *what)
{
	cr_assert_eq(c->value, x->value, "%s: %" PRId64 " not %" PRId64, what, c->value, x->value);
	cr_assert(c->search == x->search && c->rescore == x->rescore && c->rescored == x->rescored, "%s", what);
	cr_assert(c->loss_weight == x->loss_weight && c->total == x->total, "%s", what);
}

static void expect_same(const struct smx_result *r, const struct truth *truth, const struct smx_search_options *options,
                        const char *what)
{
	const struct smx_result *t = &truth->result;
	cr_assert(!r->stopped && r->has_value && r->kind == t->kind && r->depth_plies == t->depth_plies, "%s", what);
	cr_assert_eq(r->selective, t->selective, "%s", what);
	cr_assert_eq(r->value, t->value, "%s: %" PRId64 " not %" PRId64, what, r->value, t->value);
	cr_assert_eq(r->ties, t->ties, "%s", what);
	cr_assert(smx_turn_equal(&r->turn, &t->turn), "%s: another turn", what);
	cr_assert_eq(r->candidate_count, t->candidate_count, "%s", what);
	cr_assert_eq(r->candidates_completed, t->candidate_count, "%s", what);
	cr_assert_eq(r->counters.candidates_abandoned, 0u, "%s", what);
	cr_assert_eq(r->counters.table_conflicts, 0u, "%s", what);
	for (size_t i = 0; i < r->candidate_count; i++) {
		const struct smx_candidate *c = &r->candidates[i], *x = &truth->candidates[i];
		cr_assert(c->completed && c->prerank == x->prerank && smx_turn_equal(&c->turn, &x->turn), "%s", what);
		cr_assert(c->exact || (i >= options->exact && x->value < t->value), "%s: candidate %zu inexact", what, i);
		if (c->exact)
			expect_same_candidate(c, x, what);
		else /* a blend is no bound of what is not blended because it loses */
			cr_assert(c->value < t->value && (options->rescore || c->value >= x->value), "%s: candidate %zu", what, i);
	}
	cr_assert_eq(r->outcome_count, t->outcome_count, "%s", what);
	for (unsigned i = 0; i < r->outcome_count; i++)
		cr_assert_eq(r->outcome_values[i], t->outcome_values[i], "%s: outcome %u", what, i);
	cr_assert(r->outcomes_won == t->outcomes_won && r->outcomes_lost == t->outcomes_lost, "%s", what);
}

struct shared {
	uint64_t tasks, nodes; /* parts that threads took over from each other; chance nodes where there were several */
};

/* One search with every number of threads. */
static void check_threads(struct smx_search *search, struct back_end all[COUNTS], const struct smx_position *position,
                          struct smx_search_options options, const struct truth *truth, const char *name,
                          struct shared *shared)
{
	for (unsigned i = 0; i < COUNTS; i++) {
		options.splitter = &all[i].counted.splitter;
		options.share_least_ms = -1;
		const struct smx_result *r = run(search, position, &options);
		char what[SMX_TEXT_MAX + 160];
		snprintf(what, sizeof what, "%s, depth %u, %s, star %d%s%s, %u threads", name, options.depth_plies,
		         options.evaluator->name, (int)options.star, options.no_frames ? ", no frames" : "",
		         options.leaves == SMX_LEAVES_LIST ? ", list" : "", thread_counts[i]);
		expect_same(r, truth, &options, what);
		cr_assert(thread_counts[i] > 1 || r->counters.tasks == 0, "%s", what);
		cr_assert_leq(r->counters.tasks_stopped, r->counters.tasks, "%s", what);
		shared->tasks += r->counters.tasks;
		shared->nodes += thread_counts[i] > 1 ? r->counters.chance_nodes : 0;
	}
}

static unsigned fewer(unsigned count)
{
	return golden_slow_build() ? 1 + count / 6 : count;
}

/* ---- trees made by hashing ---- */

struct way {
	enum smx_star star;
	enum smx_leaves leaves;
	bool no_frames;
	size_t exact, probes;
	struct smx_selective selective;
};

static const struct way ways[] = {
	{.star = SMX_STAR1},
	{.star = SMX_STAR2},
	{.star = SMX_STAR2, .no_frames = true, .probes = 2},
	{.star = SMX_STAR2, .leaves = SMX_LEAVES_LIST, .exact = SMX_EXACT_ALL},
	{.star = SMX_STAR_ETC, .exact = 1},
	{.star = SMX_STAR2, .selective = {.inner_width = 2}},
	{.star = SMX_STAR1, .selective = {.samples = 3}},
	{.star = SMX_STAR2, .selective = {.reach = 0.01, .samples = 5}},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void use_way(struct smx_search_options *options, const struct way *way)
{
	options->star = way->star;
	options->leaves = way->leaves;
	options->no_frames = way->no_frames;
	options->exact = way->exact;
	options->probe_replies = way->probes;
	options->selective = way->selective;
}

static void check_trees(const struct smx_game *game, unsigned kind, unsigned free_bits, unsigned depth, unsigned trees)
{
	struct back_end all[COUNTS];
	back_ends_create(all);
	struct smx_search *search = search_create(game);
	struct smx_table *table;
	cr_assert_eq(smx_table_create(1 << 20, &table, NULL), SMX_OK);
	unsigned evaluators = 0;
	while (toy_evaluators[evaluators])
		evaluators++;
	uint64_t random = kind * 100 + depth;
	struct shared shared = {0};
	for (unsigned n = 0; n < trees || (shared.tasks == 0 && n < AGAIN * trees);) { /* see check_dicechess */
		const uint64_t seed = (smx_random(&random) >> 20 << TOY_KIND_BITS) | kind | (smx_random(&random) & free_bits);
		struct smx_search_options options;
		smx_search_options_init(&options, game);
		options.evaluator = toy_evaluators[smx_random_below(&random, evaluators)];
		options.prerank = toy_evaluators[smx_random_below(&random, evaluators)];
		const bool is_value = n % 4 == 3;
		options.depth_plies = depth - is_value;
		options.outcome_values = is_value;
		options.ties = n % 2 ? SMX_TIES_RANDOM : SMX_TIES_FIRST;
		options.seed = seed;
		const struct smx_position position = toy_position(seed, is_value ? SMX_NO_OUTCOME : 0);
		const struct smx_result *r = run(search, &position, &options);
		if (!is_value && (r->kind != SMX_RESULT_TURN || r->candidate_count < 2))
			continue;
		n++;
		char name[SMX_TEXT_MAX];
		game->format(&position, name);
		for (unsigned w = 0; w < WAYS; w++) {
			use_way(&options, &ways[w]);
			const struct truth truth = truth_of(search, &position, options);
			options.table = truth.result.selective || w % 2 ? NULL : table;
			check_threads(search, all, &position, options, &truth, name, &shared);
			options.table = NULL;
			free(truth.candidates);
		}
	}
	fprintf(stderr, "%s, kind %u: %" PRIu64 " parts were taken over, %" PRIu64 " chance nodes\n", game->name, kind,
	        shared.tasks, shared.nodes);
	cr_assert_gt(shared.tasks, 0u);
	/* who joins finds something to do, and leaves for good what has nothing left */
	cr_assert_lt(shared.tasks, shared.nodes / 4);
	smx_table_destroy(table);
	smx_search_destroy(search);
	back_ends_destroy(all);
}

Test(threads, change_nothing_on_trees)
{
	const unsigned any = TOY_RANDOM_SIDES | TOY_TRANSPOSITIONS | TOY_ENDLESS;
	check_trees(&toy_plain, 0, any, 4, fewer(60));
	check_trees(&toy_hooked, TOY_NEVER_LOST, any, 4, fewer(60));
}

Test(threads, change_nothing_on_trees_of_many_outcomes)
{
	check_trees(&toy_won, TOY_MANY, TOY_RANDOM_SIDES | TOY_TRANSPOSITIONS, 3, fewer(12));
}

Test(threads, change_nothing_on_small_trees_of_six_turns)
{
	check_trees(&toy_plain, TOY_SMALL, TOY_RANDOM_SIDES | TOY_TRANSPOSITIONS, 6, fewer(30));
}

/* ---- Dice Chess ---- */

static const char *const positions[] = {
	"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 PRK",
	"6k1/5ppp/8/3q4/8/4Q3/5PPP/6K1 w - - 0 1 PPK",
	"2b1k3/r1pp1pB1/p1n5/6P1/2P5/4P2P/P2P1K2/Q7 b - - 0 1 pbr",
	"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 PNB",
	"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 PNQ",
};
enum { POSITIONS = sizeof positions / sizeof positions[0] };

static const char kiwipete[] = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 PNQ";

static void check_dicechess(struct smx_search_options options, unsigned count)
{
	struct back_end all[COUNTS];
	back_ends_create(all);
	struct smx_search *search = search_create(&smx_dicechess);
	struct shared shared = {0};
	/* again where the machine was so busy that no thread had the time to join */
	for (unsigned i = 0; i < count || (shared.tasks == 0 && i < AGAIN * count); i++) {
		const char *dfen = positions[i % count];
		const struct smx_position position = dicechess_read(dfen);
		const struct truth truth = truth_of(search, &position, options);
		check_threads(search, all, &position, options, &truth, dfen, &shared);
		free(truth.candidates);
	}
	fprintf(stderr, "depth %u, %s: %" PRIu64 " parts were taken over\n", options.depth_plies, options.evaluator->name,
	        shared.tasks);
	cr_assert_gt(shared.tasks, 0u);
	smx_search_destroy(search);
	back_ends_destroy(all);
}

static struct smx_search_options dicechess_options(unsigned depth, size_t width)
{
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.depth_plies = depth;
	options.width = width;
	return options;
}

Test(threads, change_nothing_on_dice_chess_of_three_turns)
{
	struct smx_search_options options = dicechess_options(3, 4);
	check_dicechess(options, golden_slow_build() ? 3 : POSITIONS);
	options.evaluator = &smx_dicechess_winprob;
	options.star = SMX_STAR_ETC;
	check_dicechess(options, golden_slow_build() ? 2 : 3);
}

Test(threads, change_nothing_on_dice_chess_of_two_turns)
{
	check_dicechess(dicechess_options(2, 0), POSITIONS);
}

Test(threads, give_all_candidates_exactly_where_that_is_asked)
{
	struct smx_search_options options = dicechess_options(3, 4);
	options.exact = SMX_EXACT_ALL;
	check_dicechess(options, golden_slow_build() ? 3 : 4);
}

Test(threads, blend_as_one_thread_does)
{
	struct smx_search_options options = dicechess_options(3, 4);
	options.rescore = &smx_dicechess_standard;
	options.rescore_weight = 1;
	options.rescore_total = 3;
	check_dicechess(options, 3);
}

Test(threads, select_as_one_thread_does)
{
	struct smx_search_options options = dicechess_options(3, 4);
	options.selective = (struct smx_selective){.inner_width = 3, .samples = 10};
	check_dicechess(options, 3);
	options.selective = (struct smx_selective){.inner_width = 2, .reach = 0.01};
	check_dicechess(options, 3);
}

Test(threads, value_a_position_without_dice)
{
	struct back_end all[COUNTS];
	back_ends_create(all);
	struct smx_search *search = search_create(&smx_dicechess);
	struct smx_search_options options = dicechess_options(2, 0);
	options.outcome_values = true;
	struct shared shared = {0};
	for (unsigned i = 0; i < 3; i++) {
		struct smx_position position = dicechess_read(positions[i]);
		position.outcome = SMX_NO_OUTCOME;
		const struct truth truth = truth_of(search, &position, options);
		cr_assert_eq(truth.result.outcome_count, 56u);
		check_threads(search, all, &position, options, &truth, positions[i], &shared);
		free(truth.candidates);
	}
	smx_search_destroy(search);
	back_ends_destroy(all);
}

/* ---- their number ---- */

Test(threads, may_be_more_or_fewer_from_run_to_run)
{
	struct back_end all[COUNTS];
	back_ends_create(all);
	struct smx_search *search = search_create(&smx_dicechess);
	struct smx_search_options options = dicechess_options(3, 3);
	const struct smx_position position = dicechess_read(positions[1]);
	const struct truth truth = truth_of(search, &position, options);
	static const unsigned order[] = {0, 3, 1, 4, 2, 4, 0, 2, 1};
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		options.splitter = &all[order[i]].counted.splitter;
		options.share_least_ms = -1;
		expect_same(run(search, &position, &options), &truth, &options, "with threads");
		if (i % 3)
			continue;
		options.splitter = NULL;
		const struct smx_result *alone = run(search, &position, &options);
		expect_same(alone, &truth, &options, "without");
		cr_assert_eq(alone->counters.tasks, 0u);
	}
	free(truth.candidates);
	smx_search_destroy(search);
	back_ends_destroy(all);
}

/* Every counter, too. */
Test(threads, that_are_one_do_what_a_search_without_them_does)
{
	struct smx_parallel *parallel;
	cr_assert_eq(smx_parallel_create(1, &parallel), SMX_OK);
	struct smx_search *search = search_create(&smx_dicechess);
	struct smx_search_options options = dicechess_options(3, 3);
	const struct smx_position position = dicechess_read(positions[1]);
	const struct smx_counters alone = run(search, &position, &options)->counters;
	options.splitter = smx_parallel_splitter(parallel);
	options.share_least_ms = -1;
	const struct smx_counters one = run(search, &position, &options)->counters;
	cr_assert_arr_eq(&alone, &one, sizeof alone);
	smx_search_destroy(search);
	smx_parallel_destroy(parallel);
}

Test(threads, are_refused_in_impossible_numbers)
{
	struct smx_parallel *parallel = NULL;
	cr_assert_eq(smx_parallel_create(0, &parallel), SMX_ERR_ARGUMENT);
	cr_assert_eq(smx_parallel_create(SMX_PARALLEL_THREADS_MAX + 1, &parallel), SMX_ERR_ARGUMENT);
	cr_assert_eq(smx_parallel_create(UINT_MAX, &parallel), SMX_ERR_ARGUMENT);
	cr_assert_null(parallel);
	cr_assert_eq(smx_parallel_create(2, &parallel), without_openmp() ? SMX_ERR_ARGUMENT : SMX_OK);
	cr_assert_eq(parallel == NULL, without_openmp());
	cr_assert_eq(smx_parallel_splitter(parallel) == NULL, without_openmp());
	smx_parallel_destroy(parallel);
	cr_assert_null(smx_parallel_splitter(NULL));
	smx_parallel_destroy(NULL);
}

/* What is over sooner than threads have begun does not begin any. */
Test(threads, are_begun_only_for_searches_that_are_worth_it)
{
	static const struct {
		const char *dfen;
		unsigned depth;
		size_t width;
		double least_ms;
		unsigned runs;
	} cases[] = {
		{kiwipete, 1, 0, 0, 0},
		{kiwipete, 2, 8, 0, 0},
		{kiwipete, 2, 16, 0, 0},
		{kiwipete, 2, 17, 0, 1},
		{kiwipete, 2, 0, 0, 1},
		{kiwipete, 1, 8, -1, 0},
		{kiwipete, 2, 8, -1, 1},
		/* that it takes 16 years, or a nanosecond, is not expected of any */
		{"6k1/5ppp/8/3q4/8/4Q3/5PPP/6K1 w - - 0 1 PPK", 3, 1, 5e11, 0},
		{"6k1/5ppp/8/3q4/8/4Q3/5PPP/6K1 w - - 0 1 PPK", 3, 1, 1e-6, 1},
		{"6k1/5ppp/8/3q4/8/4Q3/5PPP/6K1 w - - 0 1", 1, 0, 0, 0},
		{"6k1/5ppp/8/3q4/8/4Q3/5PPP/6K1 w - - 0 1", 2, 0, 0, 1},
		{"k7/1Q6/8/8/8/8/8/6K1 w - - 0 1 PPQ", 3, 0, -1, 0}, /* it takes the king */
	};
	struct back_end b;
	back_end_create(&b, 2);
	struct smx_search *search = search_create(&smx_dicechess);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct smx_search_options options = dicechess_options(cases[i].depth, cases[i].width);
		options.splitter = &b.counted.splitter;
		options.share_least_ms = cases[i].least_ms;
		const struct smx_position position = dicechess_read(cases[i].dfen);
		atomic_store(&b.counted.runs, 0);
		cr_assert(run(search, &position, &options)->has_value);
		cr_assert_eq(atomic_load(&b.counted.runs), cases[i].runs, "case %zu", i);
	}
	smx_search_destroy(search);
	back_end_destroy(&b);
}

/* ---- back-ends with fewer threads than they say ---- */

static void run_alone(void *context, smxi_task *task, void *argument)
{
	(void)context;
	task(argument);
}

static void offer_to_itself(void *context, smxi_task *task, void *argument)
{
	++*(unsigned *)context;
	task(argument);
}

static unsigned first_thread(void *context)
{
	(void)context;
	return 0;
}

static const struct smx_chunk_source *chunks_of_malloc(void *context, unsigned thread)
{
	(void)context;
	(void)thread;
	return NULL;
}

/* One thread that says it is eight, and does at once what it offers. OpenMP may do so at every task, and does in a team of one. */
static struct smx_splitter alone(unsigned *offers)
{
	return (struct smx_splitter){
		.threads = 8,
		.context = offers,
		.run = run_alone,
		.offer = offer_to_itself,
		.thread = first_thread,
		.chunks = chunks_of_malloc,
	};
}

static void check_alone(struct smx_search *search, const struct smx_position *position,
                        struct smx_search_options options, const char *name)
{
	unsigned offers = 0;
	const struct smx_splitter splitter = alone(&offers);
	const struct truth truth = truth_of(search, position, options);
	options.splitter = &splitter;
	options.share_least_ms = -1;
	expect_same(run(search, position, &options), &truth, &options, name);
	cr_assert_gt(offers, 0u, "%s", name);
	free(truth.candidates);
}

Test(threads, that_run_what_they_offer_themselves_end, .timeout = 60)
{
	struct smx_search *search = search_create(&smx_dicechess);
	const struct smx_position position = dicechess_read(positions[2]);
	check_alone(search, &position, dicechess_options(3, 8), positions[2]);
	smx_search_destroy(search);
}

Test(threads, that_run_what_they_offer_themselves_end_on_trees, .timeout = 60)
{
	enum { TREES = 40, DEPTH = 4, NODES_LEAST = 100 }; /* of so many nodes some are shared */
	struct smx_search *search = search_create(&toy_won);
	unsigned trees = 0;
	for (uint64_t id = 1; trees < fewer(TREES); id++) {
		const struct smx_position position = toy_position(id << TOY_KIND_BITS | TOY_RANDOM_SIDES, 0);
		struct smx_search_options options;
		smx_search_options_init(&options, &toy_won);
		options.depth_plies = DEPTH;
		const struct smx_result *r = run(search, &position, &options);
		if (r->kind != SMX_RESULT_TURN || r->candidate_count < 2 || r->counters.chance_nodes < NODES_LEAST)
			continue;
		char name[SMX_TEXT_MAX];
		toy_won.format(&position, name);
		check_alone(search, &position, options, name);
		trees++;
	}
	smx_search_destroy(search);
}

/* ---- memory ---- */

/* Chunks double, and a thread holds what its own part and one that it helps with below that need: no more than a few. */
Test(threads, keep_their_memory_from_run_to_run)
{
	enum { THREADS = 3, RUNS = 60, CHUNKS_A_THREAD = 3 };
	struct back_end b;
	back_end_create(&b, THREADS);
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_dicechess, b.counted.splitter.chunks(&b.counted, 0), &search), SMX_OK);
	struct smx_search_options options = dicechess_options(3, 2);
	options.splitter = &b.counted.splitter;
	options.share_least_ms = -1;
	uint64_t tasks = 0;
	struct smx_arena_statistics before = {0};
	for (unsigned i = 0; i < fewer(RUNS) || (tasks == 0 && i < AGAIN * RUNS); i++) {
		const struct smx_position position = dicechess_read(positions[i % 3]);
		const struct smx_result *r = run(search, &position, &options);
		tasks += r->counters.tasks;
		cr_assert_eq(r->memory.chunk_requests, atomic_load(&b.counted.chunks_taken), "run %u", i);
		cr_assert(r->memory.reserved_bytes >= before.reserved_bytes &&
		              r->memory.high_water_bytes >= before.high_water_bytes,
		          "run %u", i);
		cr_assert_gt(r->memory.high_water_bytes, 0u);
		cr_assert_leq(r->memory.high_water_bytes, r->memory.reserved_bytes, "run %u", i);
		cr_assert_leq(r->memory.chunk_requests, (uint64_t)THREADS * CHUNKS_A_THREAD, "run %u", i);
		cr_assert_eq(atomic_load(&b.counted.chunks_given_back), 0u);
		before = r->memory;
	}
	fprintf(stderr, "%" PRIu64 " parts taken over, %" PRIu64 " chunks\n", tasks, before.chunk_requests);
	cr_assert_gt(tasks, 0u);
	cr_assert_geq(before.chunk_requests, 2u); /* the helpers' is counted */
	smx_search_destroy(search);
	cr_assert_eq(atomic_load(&b.counted.chunks_given_back), atomic_load(&b.counted.chunks_taken));
	back_end_destroy(&b);
}

/* Whichever thread finds no memory, and whenever: the search says so, or did without; and it can go on when there is some. */
Test(threads, say_where_one_of_them_finds_no_memory)
{
	struct back_end b;
	back_end_create(&b, 3);
	struct smx_search_options options = dicechess_options(3, 3);
	const struct smx_position position = dicechess_read(positions[2]);
	struct smx_search *alone = search_create(&smx_dicechess);
	const struct truth truth = truth_of(alone, &position, options);
	smx_search_destroy(alone);
	options.splitter = &b.counted.splitter;
	options.share_least_ms = -1;
	unsigned refused[2] = {0}; /* by whether the first thread has memory of its own */
	for (unsigned n = 0; n < fewer(60) || (refused[1] == 0 && n < AGAIN * 60); n++) {
		const bool own = n / 4 % 2;
		struct smx_search *search;
		atomic_store(&b.counted.chunks_taken, 0);
		atomic_store(&b.counted.chunks_most, n % 4);
		cr_assert_eq(smx_search_create(&smx_dicechess, own ? NULL : b.counted.splitter.chunks(&b.counted, 0), &search),
		             SMX_OK);
		const struct smx_result *r;
		const enum smx_status status = smx_search_run(search, &position, &options, &r, NULL);
		cr_assert(status == SMX_OK || status == SMX_ERR_MEMORY);
		refused[own] += status == SMX_ERR_MEMORY;
		if (status == SMX_OK)
			expect_same(r, &truth, &options, "with little memory");
		atomic_store(&b.counted.chunks_most, UINT_MAX);
		expect_same(run(search, &position, &options), &truth, &options, "with memory again");
		smx_search_destroy(search);
	}
	fprintf(stderr, "no memory in %u searches, in %u for helpers alone\n", refused[0], refused[1]);
	cr_assert(refused[0] > 0 && refused[1] > 0);
	free(truth.candidates);
	back_end_destroy(&b);
}

/* ---- stops ---- */

struct stops {
	struct smx_search *search;
	struct back_end b;
	struct smx_position position;
	struct smx_search_options options;
	struct truth truth[4]; /* by depth */
	unsigned nothing, part, whole, finished;
};

static void stops_create(struct stops *s, const char *dfen)
{
	memset(s, 0, sizeof *s);
	back_end_create(&s->b, 3);
	s->search = search_create(&smx_dicechess);
	s->position = dicechess_read(dfen);
	s->options = dicechess_options(3, 6);
	for (unsigned depth = 1; depth <= 3; depth++) {
		s->options.depth_plies = depth;
		s->truth[depth] = truth_of(s->search, &s->position, s->options);
	}
	s->options.splitter = &s->b.counted.splitter;
	s->options.share_least_ms = -1;
}

static void stops_destroy(struct stops *s)
{
	for (unsigned depth = 1; depth <= 3; depth++)
		free(s->truth[depth].candidates);
	smx_search_destroy(s->search);
	back_end_destroy(&s->b);
}

static void check_stopped(struct stops *s, const struct smx_result *r)
{
	if (!r->stopped) {
		expect_same(r, &s->truth[3], &s->options, "finished");
		s->finished++;
		return;
	}
	const struct truth *truth = &s->truth[r->depth_plies ? r->depth_plies : 1];
	bool is_legal = false;
	size_t completed = 0, ties = 0;
	cr_assert_eq(r->candidate_count, truth->result.candidate_count);
	for (size_t i = 0; i < r->candidate_count; i++) {
		const struct smx_candidate *c = &r->candidates[i], *x = &truth->candidates[i];
		cr_assert(smx_turn_equal(&c->turn, &x->turn));
		is_legal = is_legal || smx_turn_equal(&c->turn, &r->turn);
		completed += c->completed;
		cr_assert(c->completed || !c->exact);
		if (c->exact)
			expect_same_candidate(c, x, "stopped");
		else if (c->completed)
			cr_assert(c->value >= x->value && c->value < r->value);
		cr_assert(!c->exact || c->value <= r->value);
		ties += c->exact && c->value == r->value;
	}
	cr_assert(is_legal);
	cr_assert_eq(r->candidates_completed, completed);
	cr_assert_eq(r->has_value, completed > 0);
	if (!r->has_value) {
		cr_assert(smx_turn_equal(&r->turn, &r->candidates[0].turn));
		s->nothing++;
		return;
	}
	cr_assert_eq(r->ties, ties);
	if (completed < r->candidate_count) {
		s->part++;
		return;
	}
	cr_assert_eq(r->value, truth->result.value);
	s->whole++;
}

static void report_stops(const struct stops *s, const char *what)
{
	fprintf(stderr, "%s: %u without a value, %u within a depth, %u between depths, %u finished\n", what, s->nothing,
	        s->part, s->whole, s->finished);
}

Test(threads, a_node_limit_leaves_completed_work_only)
{
	enum { RUNS = 120 };
	struct stops s;
	stops_create(&s, positions[1]);
	const unsigned runs = fewer(RUNS);
	s.options.node_limit = 1;
	check_stopped(&s, run(s.search, &s.position, &s.options));
	s.options.node_limit = 0;
	const uint64_t most = run(s.search, &s.position, &s.options)->counters.chance_nodes;
	for (unsigned i = 0; i < runs; i++) {
		s.options.node_limit = 1 + most * 5 / 4 * i / runs;
		const struct smx_result *r = run(s.search, &s.position, &s.options);
		cr_assert_eq(r->limit_reached, r->stopped);
		/* each of the others may have been about to open one */
		cr_assert_lt(r->counters.chance_nodes, s.options.node_limit + 3);
		check_stopped(&s, r);
	}
	report_stops(&s, "node limits");
	cr_assert(s.part > 0 && s.whole > 0);
	stops_destroy(&s);
}

struct stopper {
	struct smx_search *search;
	atomic_int wanted;
	unsigned yields;
};

static void *stop(void *context)
{
	struct stopper *stopper = context;
	while (!atomic_load(&stopper->wanted))
		sched_yield();
	for (unsigned i = 0; i < stopper->yields; i++)
		sched_yield();
	smx_search_stop(stopper->search);
	return NULL;
}

/* The first claim of the search lets the stopper go. */
static void ask_for_stop(void *context, const struct smx_claim *claim)
{
	(void)claim;
	atomic_store((atomic_int *)context, 1);
}

Test(threads, a_stop_from_another_thread_leaves_completed_work_only)
{
	struct stops s;
	stops_create(&s, positions[2]);
	for (unsigned i = 0; i < fewer(60); i++) {
		struct stopper stopper = {.search = s.search, .yields = i * i};
		s.options.on_claim = ask_for_stop;
		s.options.claim_context = &stopper.wanted;
		pthread_t thread;
		cr_assert_eq(pthread_create(&thread, NULL, stop, &stopper), 0);
		const struct smx_result *r = run(s.search, &s.position, &s.options);
		atomic_store(&stopper.wanted, 1);
		pthread_join(thread, NULL);
		smx_search_resume(s.search);
		cr_assert(!r->limit_reached);
		check_stopped(&s, r);
	}
	report_stops(&s, "stops");
	/* one that is asked for before the run */
	smx_search_stop(s.search);
	const struct smx_result *r = run(s.search, &s.position, &s.options);
	cr_assert(r->stopped && !r->has_value);
	check_stopped(&s, r);
	stops_destroy(&s);
}
