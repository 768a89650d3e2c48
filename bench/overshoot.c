/* starmax-overshoot: by how much searches overrun their time limit, beside what the machine does to a plain sleep of the same length.
 *
 *   starmax-overshoot [--json] [--threads N] [RUNS [SEED]]
 *
 * Each run searches a full bench position deeper than its time allows, with a budget drawn log-uniformly from 1 ms to 2 s, and
 * overshoot is the call's wall time less the budget. A second thread sleeps as long at the same time: on a busy machine both wake late,
 * and the difference of the pair is what the search itself adds. Every reply is checked: a legal turn, made of completed work. Exit status:
 * 0 done, 1 bad replies, 2 wrong use or failure. */
#include <starmax/parallel.h>
#include <starmax/random.h>
#include <starmax/starmax.h>

#include "bench/clock.h"
#include "bench/positions.h"

#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	POSITIONS = sizeof smxi_bench_positions / sizeof smxi_bench_positions[0],
	PIECES_LEAST = 20, /* of a position that is worth it: with fewer a small budget sees much of the tree */
	DEPTH_LEAST = 8,   /* no search gets so far */
	DEPTHS = 3,
	RUNS_MAX = 1000000
};
static const double budget_least_ms = 1, budget_most_ms = 2000;

static void fail(const char *what, const char *text)
{
	fprintf(stderr, "starmax-overshoot: %s%s%s\n", what, text ? ": " : "", text ? text : "");
	exit(2);
}

/* ---- the sleeping thread ---- */

/* The searching thread owns the fields while the sleeper waits for `begin`, the sleeper from there to `end`. */
struct sleeper {
	pthread_t thread;
	pthread_barrier_t begin, end;
	double budget_ms; /* 0: no more */
	double overshoot_ms;
};

static void *sleep_on_demand(void *context)
{
	struct sleeper *sleeper = context;
	for (;;) {
		pthread_barrier_wait(&sleeper->begin);
		const double budget_ms = sleeper->budget_ms;
		if (budget_ms == 0)
			return NULL;
		const double whole_s = floor(budget_ms / 1e3);
		const struct timespec length = {(time_t)whole_s, (long)((budget_ms - whole_s * 1e3) * 1e6)};
		const double started_ms = now_ms();
		if (clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL) != 0)
			fail("clock_nanosleep does not sleep", NULL);
		sleeper->overshoot_ms = now_ms() - started_ms - budget_ms;
		pthread_barrier_wait(&sleeper->end);
	}
}

static void sleeper_start(struct sleeper *sleeper)
{
	if (pthread_barrier_init(&sleeper->begin, NULL, 2) != 0 || pthread_barrier_init(&sleeper->end, NULL, 2) != 0 ||
	    pthread_create(&sleeper->thread, NULL, sleep_on_demand, sleeper) != 0)
		fail("no second thread", NULL);
}

static void sleeper_finish(struct sleeper *sleeper)
{
	sleeper->budget_ms = 0;
	pthread_barrier_wait(&sleeper->begin);
	pthread_join(sleeper->thread, NULL);
	pthread_barrier_destroy(&sleeper->begin);
	pthread_barrier_destroy(&sleeper->end);
}

/* ---- replies ---- */

struct sought {
	const struct smx_turn *turn;
	bool found;
};

static bool compare_turn(void *context, const struct smx_turn *turn, const void *afterstate)
{
	(void)afterstate;
	struct sought *sought = context;
	sought->found = smx_turn_equal(turn, sought->turn);
	return !sought->found;
}

static bool legal(const struct smx_position *position, const struct smx_turn *turn)
{
	struct sought sought = {.turn = turn};
	smx_dicechess.turns(position, compare_turn, &sought);
	return sought.found;
}

/* What is wrong with a reply; NULL: nothing. Whether the values are right is for the tests, which can search again without a limit. */
static const char *fault(const struct smx_position *position, const struct smx_result *result)
{
	if (!legal(position, &result->turn))
		return "its turn is not legal";
	if (result->limit_reached != result->stopped)
		return "something other than its limit stopped it";
	if (result->kind == SMX_RESULT_WIN)
		return result->turn.wins ? NULL : "its winning turn does not win";
	size_t completed = 0, best = 0;
	bool chosen = false;
	for (size_t i = 0; i < result->candidate_count; i++) {
		const struct smx_candidate *candidate = &result->candidates[i];
		if (!candidate->completed) {
			if (candidate->exact)
				return "a candidate is exact but not completed";
			continue;
		}
		completed++;
		if (!result->has_value)
			continue;
		if (candidate->value > result->value || (!candidate->exact && candidate->value == result->value))
			return "a candidate may be better than the chosen one";
		if (candidate->exact && candidate->value == result->value) {
			best++;
			chosen = chosen || smx_turn_equal(&candidate->turn, &result->turn);
		}
	}
	if (completed != result->candidates_completed)
		return "its count of completed candidates is wrong";
	if (!result->has_value) {
		if (completed || result->depth_plies)
			return "it completed candidates but has no value";
		return smx_turn_equal(&result->turn, &result->candidates[0].turn)
		           ? NULL
		           : "without a value, its turn is not the first";
	}
	if (result->depth_plies < 1)
		return "it has a value of no depth";
	if (!chosen)
		return "its turn is not of a completed, exact candidate with its value";
	return best == result->ties ? NULL : "its count of ties is wrong";
}

/* ---- figures ---- */

enum kind { SEARCH, SLEEP, DIFFERENCE, KINDS };
static const char *const kind_names[KINDS] = {"search", "sleep", "difference"};

enum figure { MEDIAN, P90, P99, MOST, FIGURES };
static const char *const figure_names[FIGURES] = {"median", "p90", "p99", "max"};
static const double ranks[FIGURES] = {0.5, 0.9, 0.99, 1};

static int by_value(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

/* The smallest sample that so large a share of them does not exceed. Sorts the samples; count >= 1. */
static void quantiles(double *samples, size_t count, double figures[FIGURES])
{
	qsort(samples, count, sizeof *samples, by_value);
	for (enum figure f = MEDIAN; f < FIGURES; f++)
		figures[f] = samples[(size_t)ceil(ranks[f] * (double)count) - 1];
}

struct tally {
	unsigned runs, threads, limited, bad;
	double *overshoot_ms[KINDS]; /* of the runs that the limit ended */
};

static void print_table(const struct tally *tally, uint64_t seed)
{
	printf("%u runs from seed %llu, %u thread%s: %u ended by their limit, %u bad replies\n", tally->runs,
	       (unsigned long long)seed, tally->threads, tally->threads == 1 ? "" : "s", tally->limited, tally->bad);
	if (!tally->limited)
		return;
	printf("overshoot, ms");
	for (enum figure f = MEDIAN; f < FIGURES; f++)
		printf("%10s", figure_names[f]);
	for (enum kind kind = SEARCH; kind < KINDS; kind++) {
		double figures[FIGURES];
		quantiles(tally->overshoot_ms[kind], tally->limited, figures);
		printf("\n%-13s", kind_names[kind]);
		for (enum figure f = MEDIAN; f < FIGURES; f++)
			printf("%10.3f", figures[f]);
	}
	printf("\n");
}

static void print_json(const struct tally *tally, uint64_t seed)
{
	char seed_text[24]; /* text: not every reader's numbers hold 64 bits */
	snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)seed);
	json_t *root = json_object();
	json_object_set_new(root, "isa", json_string(smx_dicechess_isa()));
	json_object_set_new(root, "seed", json_string(seed_text));
	json_object_set_new(root, "runs", json_integer(tally->runs));
	json_object_set_new(root, "threads", json_integer(tally->threads));
	json_object_set_new(root, "limited", json_integer(tally->limited));
	json_object_set_new(root, "bad", json_integer(tally->bad));
	json_object_set_new(root, "unit", json_string("ms"));
	for (enum kind kind = SEARCH; kind < KINDS; kind++) {
		if (!tally->limited) {
			json_object_set_new(root, kind_names[kind], json_null());
			continue;
		}
		double figures[FIGURES];
		quantiles(tally->overshoot_ms[kind], tally->limited, figures);
		json_t *object = json_object();
		for (enum figure f = MEDIAN; f < FIGURES; f++)
			json_object_set_new(object, figure_names[f], json_real(figures[f]));
		json_object_set_new(root, kind_names[kind], object);
	}
	json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	printf("\n");
	json_decref(root);
}

/* ---- runs ---- */

struct heavy {
	const char *name;
	struct smx_position position;
};

static unsigned pieces_of(const struct smx_position *position)
{
	unsigned char board[64];
	unsigned count = 0;
	smx_dicechess_board(position->state, board);
	for (unsigned square = 0; square < 64; square++)
		count += board[square] != SMX_NO_PIECE;
	return count;
}

static unsigned read_heavy(struct heavy heavy[POSITIONS])
{
	unsigned count = 0;
	for (size_t i = 0; i < POSITIONS; i++) {
		struct smx_error error;
		const char *text = smxi_bench_positions[i].text;
		heavy[count].name = smxi_bench_positions[i].name;
		if (smx_dicechess.parse(text, strlen(text), &heavy[count].position, &error) != SMX_OK)
			fail(smxi_bench_positions[i].name, error.message);
		count += pieces_of(&heavy[count].position) >= PIECES_LEAST;
	}
	if (!count)
		fail("no bench position is heavy", NULL);
	return count;
}

static double draw_budget(uint64_t *seed)
{
	const double share = (double)(smx_random(seed) >> 11) * 0x1p-53; /* of [0, 1) */
	return budget_least_ms * exp(share * log(budget_most_ms / budget_least_ms));
}

static void measure(struct tally *tally, uint64_t seed)
{
	struct heavy heavy[POSITIONS];
	const unsigned heavy_count = read_heavy(heavy);
	const struct smx_evaluator *const evaluators[2] = {&smx_dicechess_material, &smx_dicechess_winprob};
	struct sleeper sleeper;
	struct smx_search *search;
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	if (smx_search_create(&smx_dicechess, NULL, &search) != SMX_OK)
		fail("out of memory", NULL);
	struct smx_parallel_plan plan;
	struct smx_parallel *parallel;
	if (smx_parallel_plan(tally->threads, SMX_BIND_COMPACT, &plan) != SMX_OK ||
	    smx_parallel_create_planned(&plan, &parallel) != SMX_OK)
		fail("there cannot be so many threads", NULL);
	options.splitter = smx_parallel_splitter(parallel);
	sleeper_start(&sleeper);
	for (unsigned run = 0; run < tally->runs; run++) {
		const struct heavy *at = &heavy[smx_random_below(&seed, heavy_count)];
		options.depth_plies = DEPTH_LEAST + smx_random_below(&seed, DEPTHS);
		options.evaluator = evaluators[run % 2];
		options.time_limit_ms = sleeper.budget_ms = draw_budget(&seed);
		const struct smx_result *result;
		struct smx_error error;
		pthread_barrier_wait(&sleeper.begin);
		const double started_ms = now_ms();
		const enum smx_status status = smx_search_run(search, &at->position, &options, &result, &error);
		const double overshoot_ms = now_ms() - started_ms - options.time_limit_ms;
		pthread_barrier_wait(&sleeper.end);
		if (status != SMX_OK)
			fail("search", error.message);
		const char *what = fault(&at->position, result);
		if (what) {
			fprintf(stderr, "starmax-overshoot: run %u, %s, %s, depth %u, %.3f ms: bad reply: %s\n", run, at->name,
			        options.evaluator->name, options.depth_plies, options.time_limit_ms, what);
			tally->bad++;
		}
		if (!result->limit_reached)
			continue;
		tally->overshoot_ms[SEARCH][tally->limited] = overshoot_ms;
		tally->overshoot_ms[SLEEP][tally->limited] = sleeper.overshoot_ms;
		tally->overshoot_ms[DIFFERENCE][tally->limited] = overshoot_ms - sleeper.overshoot_ms;
		tally->limited++;
	}
	sleeper_finish(&sleeper);
	smx_search_destroy(search);
	smx_parallel_destroy(parallel);
}

static uint64_t read_number(const char *text, uint64_t least, uint64_t most, const char *what)
{
	char *end;
	const unsigned long long number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || number < least || number > most)
		fail(what, text);
	return number;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"json", no_argument, NULL, 'j'},
		{"threads", required_argument, NULL, 't'},
		{NULL, 0, NULL, 0},
	};
	bool json = false;
	struct tally tally = {.threads = 1};
	for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
		if (option == 'j')
			json = true;
		else if (option == 't')
			tally.threads = (unsigned)read_number(optarg, 1, SMX_PARALLEL_THREADS_MAX, "--threads takes a number, not");
		else
			return 2;
	const int words = argc - optind;
	if (words > 2)
		fail("usage: starmax-overshoot [--json] [--threads N] [RUNS [SEED]]", NULL);
	const uint64_t runs =
		words < 1 ? 1000 : read_number(argv[optind], 1, RUNS_MAX, "RUNS is a number from 1 to 1000000, not");
	const uint64_t seed = words < 2 ? 1 : read_number(argv[optind + 1], 0, UINT64_MAX, "SEED is a number, not");

	tally.runs = (unsigned)runs;
	for (enum kind kind = SEARCH; kind < KINDS; kind++)
		if (!(tally.overshoot_ms[kind] = malloc(tally.runs * sizeof(double))))
			fail("out of memory", NULL);
	measure(&tally, seed);
	if (json)
		print_json(&tally, seed);
	else
		print_table(&tally, seed);
	for (enum kind kind = SEARCH; kind < KINDS; kind++)
		free(tally.overshoot_ms[kind]);
	return tally.bad ? 1 : 0;
}
