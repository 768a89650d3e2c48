/* The search under threads: whatever they do, every answer is the one of the search on one thread.
 *
 * usage: stress_search [--openmp] [searches] [seed]
 *
 * Two drivers search at once, each with back-ends of its own and both with one table between them: trees made by hashing and Dice Chess, with 2
 * to 8 threads whose schedule is disturbed, at all levels of pruning, until they finish or are ended by a node limit, a deadline or
 * smx_search_stop. The threads are the tests' own, or with --openmp the library's. The main thread looks at the table and saves it meanwhile. A finished search must have the value, the turn, the ties and the candidates that one
 * thread finds; of a stopped one whatever it calls completed must be true.
 *
 * A plain program, so that it runs under any sanitizer. Exit status 0: no wrong answer, and everything above happened. */
#include "tests/support/dicechess.h"
#include "tests/support/threads.h"
#include "tests/support/toy.h"

#include <starmax/parallel.h>
#include <starmax/random.h>

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DRIVERS = 2, DEPTH_MOST = 6, CASES_MOST = 64, TABLE_BYTES = 1 << 18 };

static const unsigned thread_counts[] = {2, 3, 4, 8};
enum { COUNTS = sizeof thread_counts / sizeof thread_counts[0] };

static const struct smx_game *const games[] = {&toy_plain, &toy_hooked, &smx_dicechess};
enum { GAMES = sizeof games / sizeof games[0] };

/* What one thread finds, at one depth. */
struct truth {
	smx_value value;
	size_t ties, count;
	struct smx_turn turn, drawn; /* the first of the best; the one that the case's seed draws */
	struct smx_candidate *candidates;
	uint64_t nodes; /* of the default way, every candidate only as far as it can be best */
};

struct problem {
	char text[SMX_TEXT_MAX];
	unsigned game;
	struct smx_position position;
	const struct smx_evaluator *evaluator;
	unsigned depth;
	size_t width;
	bool is_value;                     /* the root is a chance node */
	bool affordable[SMX_STAR_ETC + 1]; /* also without frames and bounds */
	struct truth truth[DEPTH_MOST + 1];
};

static struct problem problems[CASES_MOST];
static unsigned problem_count;
static struct smx_table *table;
static atomic_uint failures, drivers_left;
static pthread_barrier_t all_have_searched;

/* Threads of either kind, disturbed and counted. */
struct back_end {
	struct threads *threads;
	struct smx_parallel *parallel;
	struct smx_splitter disturbed; /* of `parallel` */
	struct threads_counted counted;
};

/* How a search is ended before it has finished. */
enum limit { NODES, DEADLINE, STOP, LIMITS };

struct driver {
	pthread_t thread;
	uint64_t seed, searches;
	struct back_end back_ends[COUNTS];
	struct smx_search *search[GAMES];
	/* what happened */
	uint64_t finished, nothing, part_of_a_depth, whole_depth;
	uint64_t ended[LIMITS]; /* by which of them the others were */
	uint64_t tasks, tasks_stopped, table_hits, other_nodes;
};

__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	atomic_fetch_add(&failures, 1);
	flockfile(stdout);
	printf("WRONG: ");
	vprintf(format, arguments);
	printf("\n");
	funlockfile(stdout);
	va_end(arguments);
}

#define EXPECT(condition, what)                                   \
	do {                                                          \
		if (!(condition))                                         \
			fail("%s: %s (line %d)", what, #condition, __LINE__); \
	} while (0)

/* ---- what one thread finds ---- */

static struct smx_search_options options_of(const struct problem *p, unsigned depth)
{
	struct smx_search_options options;
	smx_search_options_init(&options, games[p->game]);
	options.depth_plies = depth;
	options.width = p->width;
	options.evaluator = options.prerank = p->evaluator;
	options.seed = UINT64_C(0x73747265) + p->depth;
	return options;
}

static const struct smx_result *run(struct smx_search *search, const struct smx_position *position,
                                    const struct smx_search_options *options)
{
	const struct smx_result *result;
	struct smx_error error = {.message = ""};
	if (smx_search_run(search, position, options, &result, &error) != SMX_OK) {
		fprintf(stderr, "stress_search: %s\n", error.message);
		abort();
	}
	return result;
}

static struct truth truth_of(struct smx_search *search, const struct problem *p, unsigned depth)
{
	struct smx_search_options options = options_of(p, depth);
	struct truth truth = {.nodes = run(search, &p->position, &options)->counters.chance_nodes};
	options.ties = SMX_TIES_RANDOM;
	truth.drawn = run(search, &p->position, &options)->turn;
	options.ties = SMX_TIES_FIRST;
	options.exact = SMX_EXACT_ALL;
	const struct smx_result *r = run(search, &p->position, &options);
	truth.value = r->value;
	truth.ties = r->ties;
	truth.count = r->candidate_count;
	truth.turn = r->turn;
	truth.candidates = calloc(truth.count + 1, sizeof *truth.candidates);
	if (truth.count)
		memcpy(truth.candidates, r->candidates, truth.count * sizeof *truth.candidates);
	return truth;
}

static void add_problem(struct smx_search *search, const struct problem *given)
{
	struct problem p = *given;
	if (problem_count == CASES_MOST)
		abort();
	games[p.game]->format(&p.position, p.text);
	p.is_value = p.position.outcome == SMX_NO_OUTCOME;
	for (unsigned depth = p.is_value ? p.depth : 1; depth <= p.depth; depth++)
		p.truth[depth] = truth_of(search, &p, depth);
	for (unsigned star = SMX_STAR_NONE; star <= SMX_STAR_ETC; star++) {
		struct smx_search_options options = options_of(&p, p.depth);
		options.star = star;
		options.no_frames = options.no_bounds = true;
		options.node_limit = 2000;
		p.affordable[star] = !run(search, &p.position, &options)->stopped;
	}
	problems[problem_count++] = p;
}

static void add_problems(void)
{
	static const struct {
		const char *dfen;
		size_t width;
		unsigned depth;
		bool winprob;
	} positions[] = {
		{"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 PRK", 4, 3, false},
		{"6k1/5ppp/8/3q4/8/4Q3/5PPP/6K1 w - - 0 1 PPK", 4, 3, false},
		{"2b1k3/r1pp1pB1/p1n5/6P1/2P5/4P2P/P2P1K2/Q7 b - - 0 1 pbr", 4, 3, true},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 PNB", 4, 3, false},
		{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 PNB", 0, 2, true},
		{"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 PNQ", 0, 2, false},
		{"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 0, 2, true},
		{"6k1/5ppp/8/3q4/8/4Q3/5PPP/6K1 w - - 0 1", 0, 2, false},
	};
	/* of trees made by hashing those that have a choice at the root and 25 to 500 chance nodes where all is pruned that can be */
	static const struct {
		uint64_t seed;
		int outcome;
		unsigned depth;
	} trees[] = {
		{192, 0, 5},  {384, 0, 5},
		{960, 0, 5},  {1024, SMX_NO_OUTCOME, 4}, /* of eight outcomes */
		{1216, 0, 5}, {1344, 0, 5},
		{1536, 0, 5}, {1600, SMX_NO_OUTCOME, 4},
		{8, 0, 5},    {712, 0, 5},
		{840, 0, 5},  {968, SMX_NO_OUTCOME, 4}, /* ... none of which loses */
		{1032, 0, 5}, {1096, 0, 5},
		{1160, 0, 5}, {1224, SMX_NO_OUTCOME, 4},
		{300, 0, 5},  {492, 0, 5},
		{556, 0, 5},  {684, SMX_NO_OUTCOME, 4}, /* ... sides at random, transpositions */
		{876, 0, 5},  {1068, 0, 5},
		{1324, 0, 5}, {1388, SMX_NO_OUTCOME, 4},
		{145, 0, 6},  {209, 0, 6},
		{529, 0, 6},  {721, SMX_NO_OUTCOME, 5}, /* of three outcomes, endless */
		{130, 0, 4},  {578, 0, 4},
		{642, 0, 4},  {706, SMX_NO_OUTCOME, 3}, /* of up to 64 */
		{142, 0, 4},  {718, SMX_NO_OUTCOME, 3},
	};
	struct smx_search *search[GAMES];
	for (unsigned g = 0; g < GAMES; g++)
		if (smx_search_create(games[g], NULL, &search[g]) != SMX_OK)
			abort();
	for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++)
		add_problem(search[2], &(struct problem){
								   .game = 2,
								   .position = dicechess_read(positions[i].dfen),
								   .evaluator = positions[i].winprob ? &smx_dicechess_winprob : &smx_dicechess_material,
								   .depth = positions[i].depth,
								   .width = positions[i].width,
							   });
	unsigned evaluators = 0;
	while (toy_evaluators[evaluators])
		evaluators++;
	for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
		const unsigned game = i % 2;
		add_problem(search[game], &(struct problem){
									  .game = game,
									  .position = toy_position(trees[i].seed, trees[i].outcome),
									  .evaluator = toy_evaluators[(trees[i].seed >> TOY_KIND_BITS) % evaluators],
									  .depth = trees[i].depth,
								  });
	}
	for (unsigned g = 0; g < GAMES; g++)
		smx_search_destroy(search[g]);
}

/* ---- what several find ---- */

/* The candidates that a reply calls completed, at the depth that it names. */
static void check_candidates(const struct problem *p, const struct smx_search_options *options,
                             const struct smx_result *r, const char *what)
{
	const struct truth *truth = &p->truth[r->depth_plies ? r->depth_plies : 1];
	EXPECT(r->kind == SMX_RESULT_TURN || r->kind == SMX_RESULT_PASS, what);
	EXPECT(r->candidate_count == truth->count, what);
	size_t completed = 0, ties = 0;
	bool has_turn = false;
	for (size_t i = 0; i < truth->count && i < r->candidate_count; i++) {
		const struct smx_candidate *c = &r->candidates[i], *x = &truth->candidates[i];
		EXPECT(smx_turn_equal(&c->turn, &x->turn) && c->prerank == x->prerank, what);
		EXPECT(c->completed || !c->exact, what);
		const bool is_turn = smx_turn_equal(&c->turn, &r->turn);
		has_turn = has_turn || is_turn;
		if (!c->completed)
			continue;
		completed++;
		if (c->exact)
			EXPECT(c->value == x->value && c->value <= r->value, what);
		else
			EXPECT(c->value >= x->value && c->value < r->value, what);
		if (c->exact)
			EXPECT(c->loss_weight == x->loss_weight && c->total == x->total, what);
		ties += c->exact && c->value == r->value;
		EXPECT(!is_turn || (c->exact && c->value == r->value), what);
		EXPECT(!is_turn || options->ties == SMX_TIES_RANDOM || ties == 1, what);
		EXPECT(r->stopped || c->exact || (i >= options->exact && options->star != SMX_STAR_NONE), what);
	}
	EXPECT(completed == r->candidates_completed, what);
	EXPECT(ties == r->ties, what);
	EXPECT(has_turn, what);
}

static void check_finished(const struct problem *p, const struct smx_search_options *options,
                           const struct smx_result *r, const char *what)
{
	const struct truth *truth = &p->truth[p->depth];
	EXPECT(r->has_value && r->depth_plies == p->depth, what);
	if (r->value != truth->value)
		fail("%s: %" PRId64 " not %" PRId64, what, r->value, truth->value);
	if (p->is_value)
		return;
	EXPECT(r->candidates_completed == truth->count, what);
	EXPECT(r->ties == truth->ties, what);
	EXPECT(smx_turn_equal(&r->turn, options->ties == SMX_TIES_RANDOM ? &truth->drawn : &truth->turn), what);
	check_candidates(p, options, r, what);
}

static void check_stopped(struct driver *d, const struct problem *p, const struct smx_search_options *options,
                          const struct smx_result *r, const char *what)
{
	if (!r->has_value) {
		d->nothing++;
		EXPECT(r->depth_plies == 0 && r->candidates_completed == 0 && r->ties == 0, what);
		/* the pre-ranker's first */
		EXPECT(p->is_value || smx_turn_equal(&r->turn, &p->truth[1].candidates[0].turn), what);
		return;
	}
	EXPECT(!p->is_value, what);
	if (r->depth_plies < 1 || r->depth_plies > p->depth) {
		fail("%s: depth %u", what, r->depth_plies);
		return;
	}
	check_candidates(p, options, r, what);
	const struct truth *truth = &p->truth[r->depth_plies];
	if (r->candidates_completed == truth->count) {
		d->whole_depth++;
		EXPECT(r->value == truth->value && r->ties == truth->ties, what);
		return;
	}
	d->part_of_a_depth++;
	if (options->star == SMX_STAR_NONE)
		return; /* it has no depth before */
	/* what the depth before found best was completed */
	const struct smx_turn *before =
		options->ties == SMX_TIES_RANDOM ? &p->truth[r->depth_plies - 1].drawn : &p->truth[r->depth_plies - 1].turn;
	for (size_t i = 0; i < r->candidate_count; i++)
		EXPECT(r->candidates[i].completed || !smx_turn_equal(&r->candidates[i].turn, before), what);
}

struct stopper {
	struct smx_search *search;
	double after_ms;
};

static void sleep_ms(double ms)
{
	const double ns = ms * 1e6;
	nanosleep(&(struct timespec){.tv_sec = (time_t)(ns / 1e9), .tv_nsec = (long)fmod(ns, 1e9)}, NULL);
}

static void *stop(void *context)
{
	const struct stopper *stopper = context;
	sleep_ms(stopper->after_ms);
	smx_search_stop(stopper->search);
	return NULL;
}

/* Logarithmically uniform in [least, most). */
static double draw(uint64_t *seed, double least, double most)
{
	return least * pow(most / least, (double)(smx_random(seed) >> 11) * 0x1p-53);
}

/* One of the ways to search that are affordable; most are not the default one. */
static void draw_way(uint64_t *seed, const struct problem *p, struct smx_search_options *options)
{
	const bool is_toy = p->game != 2;
	options->star = smx_random_below(seed, SMX_STAR_ETC + 1);
	if (!p->affordable[options->star])
		options->star = SMX_STAR2;
	/* listing the leaves of Dice Chess would take too long */
	options->leaves = is_toy && smx_random_below(seed, 3) == 0 ? SMX_LEAVES_LIST : SMX_LEAVES_FOLD;
	options->no_frames = p->affordable[options->star] && smx_random_below(seed, 3) == 0;
	options->no_bounds = p->affordable[options->star] && smx_random_below(seed, 4) == 0;
	options->probe_replies = smx_random_below(seed, 4);
	options->ties = smx_random_below(seed, 2) ? SMX_TIES_RANDOM : SMX_TIES_FIRST;
	options->table = smx_random_below(seed, 2) ? table : NULL;
	options->exact_only = smx_random_below(seed, 4) == 0;
	static const size_t exact[] = {0, 0, 0, 1, SMX_EXACT_ALL};
	options->exact = exact[smx_random_below(seed, 5)];
}

static void search_once(struct driver *d)
{
	const struct problem *p = &problems[smx_random_below(&d->seed, problem_count)];
	const unsigned threads = smx_random_below(&d->seed, COUNTS);
	struct smx_search_options options = options_of(p, p->depth);
	options.splitter = &d->back_ends[threads].counted.splitter;
	options.share_least_ms = -1;
	const bool is_default = smx_random_below(&d->seed, 3) == 0;
	if (!is_default)
		draw_way(&d->seed, p, &options);
	struct smx_search *search = d->search[p->game];
	struct stopper stopper = {.search = search};
	pthread_t stopping;
	switch (smx_random_below(&d->seed, 8)) {
	case 0:
	case 1:
		options.node_limit = (uint64_t)draw(&d->seed, 1, (double)p->truth[p->depth].nodes);
		break;
	case 2:
		options.time_limit_ms = draw(&d->seed, 0.02, 50);
		break;
	case 3:
		stopper.after_ms = draw(&d->seed, 0.02, 50);
		break;
	default:
		break;
	}
	char what[SMX_TEXT_MAX + 200];
	snprintf(what, sizeof what,
	         "%s, depth %u, %s, %u threads, star %d%s%s%s%s%s, probes %zu, exact %zu, %" PRIu64 " nodes, %g ms, %g ms",
	         p->text, p->depth, p->evaluator->name, thread_counts[threads], (int)options.star,
	         options.leaves == SMX_LEAVES_LIST ? ", list" : "", options.no_frames ? ", no frames" : "",
	         options.no_bounds ? ", no bounds" : "", options.ties == SMX_TIES_RANDOM ? ", random ties" : "",
	         options.table ? ", table" : "", options.probe_replies, options.exact, options.node_limit,
	         options.time_limit_ms, stopper.after_ms);
	const bool is_stopped = stopper.after_ms > 0;
	if (is_stopped && pthread_create(&stopping, NULL, stop, &stopper) != 0)
		abort();
	const struct smx_result *r = run(search, &p->position, &options);
	if (is_stopped) {
		pthread_join(stopping, NULL);
		smx_search_resume(search);
	}
	EXPECT(r->counters.table_conflicts == 0, what);
	EXPECT(!r->stopped || r->limit_reached != is_stopped, what);
	EXPECT(!r->stopped || is_stopped || options.node_limit || options.time_limit_ms > 0, what);
	d->tasks += r->counters.tasks;
	d->tasks_stopped += r->counters.tasks_stopped;
	d->table_hits += r->counters.table_hits;
	if (r->stopped) {
		d->ended[is_stopped ? STOP : options.node_limit ? NODES : DEADLINE]++;
		check_stopped(d, p, &options, r, what);
		return;
	}
	d->finished++;
	check_finished(p, &options, r, what);
	d->other_nodes += is_default && r->counters.chance_nodes != p->truth[p->depth].nodes;
}

/* No driver ends before the last has searched: clang's OpenMP runtime (its versions 14 to 19 at least) frees a task into the memory of
 * the thread that made it, also when that thread has ended meanwhile. */
static void *drive(void *context)
{
	struct driver *d = context;
	for (uint64_t i = 0; i < d->searches; i++)
		search_once(d);
	atomic_fetch_sub(&drivers_left, 1);
	pthread_barrier_wait(&all_have_searched);
	return NULL;
}

/* ---- the table ---- */

/* Look at it and save it for as long as there are searches; returns how often it was saved. */
static uint64_t watch(const char *path)
{
	uint64_t saved = 0;
	do {
		const struct smx_table_usage usage = smx_table_usage(table);
		EXPECT(usage.size_bytes == TABLE_BYTES && usage.used_permille <= 1000, "usage");
		struct smx_error error;
		if (smx_table_save(table, path, &smx_dicechess, &smx_dicechess_material, &error) == SMX_OK)
			saved++;
		else
			fail("save: %s", error.message);
		sleep_ms(2);
	} while (atomic_load(&drivers_left));
	return saved;
}

/* What was saved while others wrote says nothing that is not so. Returns its hits. */
static uint64_t check_saved(const char *path)
{
	struct smx_table *loaded;
	struct smx_error error;
	if (smx_table_load(path, &smx_dicechess, &smx_dicechess_material, &loaded, &error) != SMX_OK) {
		fail("load: %s", error.message);
		return 0;
	}
	uint64_t hits = 0;
	for (unsigned g = 0; g < GAMES; g++) {
		struct smx_search *search;
		if (smx_search_create(games[g], NULL, &search) != SMX_OK)
			abort();
		for (unsigned i = 0; i < problem_count; i++) {
			const struct problem *p = &problems[i];
			if (p->game != g)
				continue;
			struct smx_search_options options = options_of(p, p->depth);
			options.table = loaded;
			const struct smx_result *r = run(search, &p->position, &options);
			check_finished(p, &options, r, p->text);
			EXPECT(r->counters.table_conflicts == 0, p->text);
			hits += r->counters.table_hits;
		}
		smx_search_destroy(search);
	}
	smx_table_destroy(loaded);
	return hits;
}

static void back_end_create(struct back_end *b, bool openmp, unsigned threads, uint64_t jitter)
{
	if (!openmp) {
		b->threads = threads_create(threads, jitter);
		threads_count(&b->counted, threads_splitter(b->threads));
		return;
	}
	if (smx_parallel_create(threads, &b->parallel) != SMX_OK) {
		fprintf(stderr, "stress_search: no OpenMP, or no %u threads of it\n", threads);
		exit(2);
	}
	b->disturbed = threads_disturbed(smx_parallel_splitter(b->parallel));
	threads_count(&b->counted, &b->disturbed);
}

static void back_end_destroy(struct back_end *b)
{
	if (b->threads)
		threads_destroy(b->threads);
	smx_parallel_destroy(b->parallel);
}

static bool read_number(const char *text, uint64_t *number)
{
	char *end;
	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0';
}

int main(int count, char **arguments)
{
	uint64_t searches = 1000, seed = 20240301;
	const bool openmp = count > 1 && strcmp(arguments[1], "--openmp") == 0;
	count -= openmp;
	arguments += openmp;
	if (count > 3 || (count > 1 && !read_number(arguments[1], &searches)) ||
	    (count > 2 && !read_number(arguments[2], &seed)) || searches < 200) {
		fprintf(stderr, "usage: stress_search [--openmp] [searches >= 200] [seed]\n");
		return 2;
	}
	printf("searches %" PRIu64 ", seed %" PRIu64 "%s\n", searches, seed, openmp ? ", threads of OpenMP" : "");
	fflush(stdout);

	const char *parent = getenv("TMPDIR");
	char directory[512], path[600];
	snprintf(directory, sizeof directory, "%s/stress-search-XXXXXX", parent ? parent : "/tmp");
	struct smx_error error = {.message = ""};
	if (!mkdtemp(directory) || smx_table_create(TABLE_BYTES, &table, &error) != SMX_OK) {
		fprintf(stderr, "stress_search: no directory for files, or no table: %s\n", error.message);
		return 2;
	}
	snprintf(path, sizeof path, "%s/table", directory);
	add_problems();

	static struct driver drivers[DRIVERS];
	atomic_store(&drivers_left, DRIVERS);
	pthread_barrier_init(&all_have_searched, NULL, DRIVERS);
	for (unsigned i = 0; i < DRIVERS; i++) {
		struct driver *d = &drivers[i];
		d->seed = smx_random(&seed);
		d->searches = searches / DRIVERS;
		for (unsigned n = 0; n < COUNTS; n++)
			back_end_create(&d->back_ends[n], openmp, thread_counts[n], smx_random(&d->seed) | 1);
		for (unsigned g = 0; g < GAMES; g++)
			if (smx_search_create(games[g], NULL, &d->search[g]) != SMX_OK)
				abort();
		if (pthread_create(&d->thread, NULL, drive, d) != 0)
			abort();
	}
	const uint64_t saved = watch(path);
	struct driver all = {.searches = 0};
	uint64_t by_thread[THREADS_MOST] = {0};
	for (unsigned i = 0; i < DRIVERS; i++) {
		struct driver *d = &drivers[i];
		pthread_join(d->thread, NULL);
		all.finished += d->finished;
		all.nothing += d->nothing;
		all.part_of_a_depth += d->part_of_a_depth;
		all.whole_depth += d->whole_depth;
		for (unsigned limit = 0; limit < LIMITS; limit++)
			all.ended[limit] += d->ended[limit];
		all.tasks += d->tasks;
		all.tasks_stopped += d->tasks_stopped;
		all.table_hits += d->table_hits;
		all.other_nodes += d->other_nodes;
		for (unsigned g = 0; g < GAMES; g++)
			smx_search_destroy(d->search[g]);
		for (unsigned n = 0; n < COUNTS; n++) {
			for (unsigned t = 0; t < thread_counts[n]; t++)
				by_thread[t] += atomic_load(&d->back_ends[n].counted.tasks[t]);
			back_end_destroy(&d->back_ends[n]);
		}
	}
	pthread_barrier_destroy(&all_have_searched);
	const uint64_t saved_hits = check_saved(path);
	unlink(path);
	rmdir(directory);
	smx_table_destroy(table);
	for (unsigned i = 0; i < problem_count; i++)
		for (unsigned depth = 0; depth <= DEPTH_MOST; depth++)
			free(problems[i].truth[depth].candidates);

	printf("%u problems; searches finished %" PRIu64 ", stopped with nothing %" PRIu64 ", in a depth %" PRIu64
	       ", between depths %" PRIu64 "\n",
	       problem_count, all.finished, all.nothing, all.part_of_a_depth, all.whole_depth);
	printf("ended by a node limit %" PRIu64 ", by a deadline %" PRIu64 ", by smx_search_stop %" PRIu64 "\n",
	       all.ended[NODES], all.ended[DEADLINE], all.ended[STOP]);
	printf("parts taken over %" PRIu64 ", of them stopped %" PRIu64 "; with other nodes than one thread %" PRIu64
	       "; tasks by thread",
	       all.tasks, all.tasks_stopped, all.other_nodes);
	unsigned working = 0;
	for (unsigned t = 0; t < THREADS_MOST; t++) {
		working += by_thread[t] > 0;
		printf(" %" PRIu64, by_thread[t]);
	}
	printf("\ntable hits %" PRIu64 ", saved %" PRIu64 " times, hits of the saved one %" PRIu64 "\n", all.table_hits,
	       saved, saved_hits);
	printf("wrong answers %u\n", atomic_load(&failures));
	if (atomic_load(&failures))
		return 1;
	/* What did not happen was not tested. */
	if (all.tasks < 1000 || all.tasks_stopped == 0 || all.other_nodes == 0 || working < 2 || all.finished == 0 ||
	    all.ended[NODES] == 0 || all.ended[DEADLINE] == 0 || all.ended[STOP] == 0 || all.nothing == 0 ||
	    all.part_of_a_depth == 0 || all.whole_depth == 0 || all.table_hits == 0 || saved == 0 || saved_hits == 0) {
		printf("too little happened\n");
		return 1;
	}
	return 0;
}
