/* starmax-bench: how fast one chance node and whole depth-2 decisions are, by listing and by the material fold, as ratios to the
 * per-roll baseline measured in the same run.
 *
 *   starmax-bench [--isa NAME] [--json] [--rounds N]
 *   starmax-bench [--isa NAME] --instructions list|fold|per-roll POSITION
 *
 * Each figure is the median over rounds; the three ways take turns within a round, so that the machine's drift
 * cancels in the ratios. The second form runs one chance node inside smxi_bench_measured for an instruction counter (perf/instructions). */
#include <starmax/starmax.h>

#include "bench/per_roll.h"
#include "bench/positions.h"

#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { POSITIONS = sizeof smxi_bench_positions / sizeof smxi_bench_positions[0], ROUNDS_MAX = 1000, WIDTH = 8 };

enum way { LIST, FOLD, PER_ROLL, WAYS };
static const char *const way_names[WAYS] = {"list", "fold", "per-roll"};

struct bench {
	struct smx_position position;
	struct smx_search *search;
	struct smxi_per_roll *per_roll;
	struct smx_search_options options;
};

static void fail(const char *what, const char *text)
{
	fprintf(stderr, "starmax-bench: %s%s%s\n", what, text ? ": " : "", text ? text : "");
	exit(2);
}

static double now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static smx_value searched(struct bench *b, const struct smx_position *position, unsigned depth, enum way way)
{
	const struct smx_result *result;
	struct smx_error error;
	b->options.depth_plies = depth;
	b->options.width = WIDTH;
	b->options.leaves = way == FOLD ? SMX_LEAVES_FOLD : SMX_LEAVES_LIST;
	if (smx_search_run(b->search, position, &b->options, &result, &error) != SMX_OK)
		fail("search", error.message);
	return result->value;
}

__attribute__((noinline)) smx_value smxi_bench_measured(struct bench *b, enum way way, bool decision);

/* One chance node (the position before its roll), or one depth-2 decision. */
__attribute__((noinline)) smx_value smxi_bench_measured(struct bench *b, enum way way, bool decision)
{
	const unsigned side = smx_dicechess.side_to_move(b->position.state);
	if (way == PER_ROLL)
		return decision ? smxi_per_roll_decide(b->per_roll, &b->position, &smx_dicechess_material, WIDTH)
		                : smxi_per_roll_chance(b->per_roll, b->position.state, &smx_dicechess_material, side);
	if (decision)
		return searched(b, &b->position, 2, way);
	struct smx_position before = b->position;
	before.outcome = SMX_NO_OUTCOME;
	return searched(b, &before, 1, way);
}

static void set_position(struct bench *b, size_t index)
{
	struct smx_error error;
	const char *text = smxi_bench_positions[index].text;
	if (smx_dicechess.parse(text, strlen(text), &b->position, &error) != SMX_OK)
		fail(smxi_bench_positions[index].name, error.message);
}

static int by_value(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

/* Median nanoseconds of each way, in interleaved rounds; each sample lasts half a millisecond at least. */
static void measure(struct bench *b, bool decision, unsigned rounds, double median[WAYS])
{
	static double samples[WAYS][ROUNDS_MAX];
	unsigned repeats[WAYS];
	smx_value value = 0;
	for (enum way way = LIST; way < WAYS; way++) {
		const smx_value this = smxi_bench_measured(b, way, decision);
		if (way != LIST && this != value)
			fail("the ways disagree on a value", NULL);
		value = this;
		const double started = now_ns();
		smxi_bench_measured(b, way, decision);
		repeats[way] = 1 + (unsigned)(5e5 / (now_ns() - started + 1));
	}
	for (unsigned round = 0; round < rounds; round++)
		for (enum way way = LIST; way < WAYS; way++) {
			const double started = now_ns();
			for (unsigned i = 0; i < repeats[way]; i++)
				smxi_bench_measured(b, way, decision);
			samples[way][round] = (now_ns() - started) / repeats[way];
		}
	for (enum way way = LIST; way < WAYS; way++) {
		qsort(samples[way], rounds, sizeof samples[way][0], by_value);
		median[way] = samples[way][rounds / 2];
	}
}

static json_t *json_times(const double median[WAYS])
{
	json_t *object = json_object();
	for (enum way way = LIST; way < WAYS; way++)
		json_object_set_new(object, way_names[way], json_real(median[way] * 1e-6));
	return object;
}

static void compare(struct bench *b, unsigned rounds, bool json)
{
	static const char *const kinds[2] = {"chance_node", "decision"};
	double log_ratio[2][WAYS] = {{0}};
	json_t *rows = json_array();
	if (!json)
		printf("%-10s  one chance node, ms: per-roll   list   fold    depth-2 decision (width %d), ms: per-roll    "
		       "list    fold\n",
		       "", WIDTH);
	for (size_t i = 0; i < POSITIONS; i++) {
		double median[2][WAYS];
		set_position(b, i);
		json_t *row = json_object();
		json_object_set_new(row, "name", json_string(smxi_bench_positions[i].name));
		for (unsigned kind = 0; kind < 2; kind++) {
			measure(b, kind, rounds, median[kind]);
			json_object_set_new(row, kinds[kind], json_times(median[kind]));
			for (enum way way = LIST; way < WAYS; way++)
				log_ratio[kind][way] += log(median[kind][PER_ROLL] / median[kind][way]);
		}
		json_array_append_new(rows, row);
		if (!json)
			printf("%-10s %30.3f %6.3f %6.3f %47.3f %7.3f %7.3f\n", smxi_bench_positions[i].name,
			       median[0][PER_ROLL] * 1e-6, median[0][LIST] * 1e-6, median[0][FOLD] * 1e-6,
			       median[1][PER_ROLL] * 1e-6, median[1][LIST] * 1e-6, median[1][FOLD] * 1e-6);
	}
	json_t *root = json_object(), *speedups = json_object();
	for (unsigned kind = 0; kind < 2; kind++) {
		const double list = exp(log_ratio[kind][LIST] / POSITIONS), fold = exp(log_ratio[kind][FOLD] / POSITIONS);
		if (!json)
			printf("%s: %.1f times the baseline by listing, %.1f times by the fold (geometric means)\n",
			       kind ? "depth-2 decisions" : "chance nodes", list, fold);
		json_t *pair = json_object();
		json_object_set_new(pair, "list", json_real(list));
		json_object_set_new(pair, "fold", json_real(fold));
		json_object_set_new(speedups, kinds[kind], pair);
	}
	json_object_set_new(root, "isa", json_string(smx_dicechess_isa()));
	json_object_set_new(root, "rounds", json_integer(rounds));
	json_object_set_new(root, "unit", json_string("ms, median"));
	json_object_set_new(root, "positions", rows);
	json_object_set_new(root, "speedup_geometric_mean", speedups);
	if (json) {
		json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
		printf("\n");
	}
	json_decref(root);
}

static void run_once(struct bench *b, const char *way_name, const char *position_name)
{
	enum way way = LIST;
	while (way < WAYS && strcmp(way_names[way], way_name) != 0)
		way++;
	size_t index = 0;
	while (index < POSITIONS && strcmp(smxi_bench_positions[index].name, position_name) != 0)
		index++;
	if (way == WAYS)
		fail("unknown way (list, fold, per-roll)", way_name);
	if (index == POSITIONS)
		fail("unknown bench position", position_name);
	set_position(b, index);
	searched(b, &b->position, 2, way == FOLD ? FOLD : LIST); /* warm the memory, not the measured function */
	smxi_per_roll_chance(b->per_roll, b->position.state, &smx_dicechess_material, 0);
	printf("%lld\n", (long long)smxi_bench_measured(b, way, false));
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"isa", required_argument, NULL, 'i'},
		{"json", no_argument, NULL, 'j'},
		{"rounds", required_argument, NULL, 'r'},
		{"instructions", required_argument, NULL, 'n'},
		{NULL, 0, NULL, 0},
	};
	const char *instructions = NULL;
	bool json = false;
	long rounds = 21;
	for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
		switch (option) {
		case 'i': {
			struct smx_error error;
			if (smx_dicechess_isa_use(optarg, &error) != SMX_OK)
				fail("--isa", error.message);
			break;
		}
		case 'j':
			json = true;
			break;
		case 'r': {
			char *end;
			rounds = strtol(optarg, &end, 10);
			if (*end || rounds < 1 || rounds > ROUNDS_MAX)
				fail("--rounds takes a number from 1 to 1000", optarg);
			break;
		}
		case 'n':
			instructions = optarg;
			break;
		default:
			return 2;
		}
	if (argc - optind != (instructions ? 1 : 0))
		fail("usage: starmax-bench [--isa NAME] [--json] [--rounds N] [--instructions list|fold|per-roll POSITION]",
		     NULL);

	struct bench b;
	smx_search_options_init(&b.options, &smx_dicechess);
	b.options.star = SMX_STAR_NONE; /* the baseline does not prune either */
	b.per_roll = smxi_per_roll_create(&smx_dicechess);
	if (smx_search_create(&smx_dicechess, NULL, &b.search) != SMX_OK)
		fail("out of memory", NULL);
	if (instructions)
		run_once(&b, instructions, argv[optind]);
	else
		compare(&b, (unsigned)rounds, json);
	smx_search_destroy(b.search);
	smxi_per_roll_destroy(b.per_roll);
	return 0;
}
