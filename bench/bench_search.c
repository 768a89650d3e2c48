/* starmax-bench-search: how much the pruning saves, as counts and as times relative to depth-2 decisions measured in the same run.
 *
 *   starmax-bench-search [--isa NAME] [--json] [--hash MIB] [--unpruned]
 *
 * The unit of time is "the ten depth-2 decisions": width 8, folded, nothing pruned, all bench positions one after the other. It is taken
 * anew before every task, and the median of all takes divides every task's time. --unpruned adds the searches in which every leaf of
 * depth 3 is listed and evaluated, which take minutes, and by which the others' leaves are divided. */
#include <starmax/starmax.h>

#include "bench/positions.h"

#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POSITIONS = sizeof smxi_bench_positions / sizeof smxi_bench_positions[0], ENDINGS = 3, TAKES_MAX = 64 };
enum { UNIT_ROUNDS = 25, DEFAULT_HASH_MIB = 64 };

struct task {
	const char *name;
	const struct smx_evaluator *evaluator;
	unsigned depth;
	size_t width;
	enum smx_star star;
	enum smx_leaves leaves;
	bool no_frames, table, unpruned;
	unsigned positions;
};

static const struct task tasks[] = {
	{"depth 3, width 8, material", &smx_dicechess_material, 3, 8, SMX_STAR2, SMX_LEAVES_FOLD, false, false, false,
     POSITIONS},
	{"depth 3, width 8, winprob", &smx_dicechess_winprob, 3, 8, SMX_STAR2, SMX_LEAVES_FOLD, false, false, false,
     POSITIONS},
	{"depth 3, width 8, material, table", &smx_dicechess_material, 3, 8, SMX_STAR2, SMX_LEAVES_FOLD, false, true, false,
     POSITIONS},
	{"depth 3, width 8, winprob, etc", &smx_dicechess_winprob, 3, 8, SMX_STAR_ETC, SMX_LEAVES_FOLD, false, true, false,
     POSITIONS},
	{"depth 3, full width, material", &smx_dicechess_material, 3, 0, SMX_STAR2, SMX_LEAVES_FOLD, false, false, false,
     POSITIONS},
	{"depth 3, full width, winprob", &smx_dicechess_winprob, 3, 0, SMX_STAR2, SMX_LEAVES_FOLD, false, false, false,
     POSITIONS},
	{"depth 3, full width, winprob, table", &smx_dicechess_winprob, 3, 0, SMX_STAR2, SMX_LEAVES_FOLD, false, true,
     false, POSITIONS},
	{"depth 4, width 8, endings, material", &smx_dicechess_material, 4, 8, SMX_STAR2, SMX_LEAVES_FOLD, false, false,
     false, ENDINGS},
	{"depth 4, width 8, endings, material, table", &smx_dicechess_material, 4, 8, SMX_STAR2, SMX_LEAVES_FOLD, false,
     true, false, ENDINGS},
	{"depth 4, width 8, endings, material, etc", &smx_dicechess_material, 4, 8, SMX_STAR_ETC, SMX_LEAVES_FOLD, false,
     true, false, ENDINGS},
	{"depth 4, width 8, endings, winprob, table", &smx_dicechess_winprob, 4, 8, SMX_STAR2, SMX_LEAVES_FOLD, false, true,
     false, ENDINGS},
	{"depth 3, width 8, material, leaves listed, table", &smx_dicechess_material, 3, 8, SMX_STAR2, SMX_LEAVES_LIST,
     false, true, false, POSITIONS},
	{"depth 3, width 8, winprob, leaves listed, table", &smx_dicechess_winprob, 3, 8, SMX_STAR2, SMX_LEAVES_LIST, false,
     true, false, POSITIONS},
	{"depth 3, width 8, material, leaves listed, no frames, table", &smx_dicechess_material, 3, 8, SMX_STAR2,
     SMX_LEAVES_LIST, true, true, true, POSITIONS},
	{"depth 3, width 8, material, leaves listed, star1", &smx_dicechess_material, 3, 8, SMX_STAR1, SMX_LEAVES_LIST,
     false, false, true, POSITIONS},
	{"depth 3, width 8, material, leaves listed, unpruned", &smx_dicechess_material, 3, 8, SMX_STAR_NONE,
     SMX_LEAVES_LIST, false, false, true, POSITIONS},
};
enum { TASKS = sizeof tasks / sizeof *tasks };

struct bench {
	struct smx_search *search;
	struct smx_position position[POSITIONS];
	size_t hash_bytes;
	double take_ms[TAKES_MAX]; /* of the unit */
	unsigned takes;
};

struct outcome {
	struct smx_counters counters;
	smx_value value;
	double time_ms;
};

static void fail(const char *what, const char *text)
{
	fprintf(stderr, "starmax-bench-search: %s%s%s\n", what, text ? ": " : "", text ? text : "");
	exit(2);
}

static struct outcome searched(struct bench *b, size_t position, const struct smx_search_options *options)
{
	const struct smx_result *result;
	struct smx_error error;
	if (smx_search_run(b->search, &b->position[position], options, &result, &error) != SMX_OK)
		fail(smxi_bench_positions[position].name, error.message);
	return (struct outcome){result->counters, result->value, result->time_ms};
}

static int by_value(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof *values, by_value);
	return values[count / 2];
}

/* The ten depth-2 decisions, once more. */
static void take_unit(struct bench *b)
{
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.width = 8;
	options.star = SMX_STAR_NONE;
	double rounds[UNIT_ROUNDS];
	for (unsigned r = 0; r < UNIT_ROUNDS; r++) {
		rounds[r] = 0;
		for (size_t i = 0; i < POSITIONS; i++)
			rounds[r] += searched(b, i, &options).time_ms;
	}
	if (b->takes < TAKES_MAX)
		b->take_ms[b->takes++] = median(rounds, UNIT_ROUNDS);
}

/* Every position with an empty table. */
static void run_task(struct bench *b, const struct task *task, struct outcome outcomes[POSITIONS])
{
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.evaluator = task->evaluator;
	options.depth_plies = task->depth;
	options.width = task->width;
	options.star = task->star;
	options.leaves = task->leaves;
	options.no_frames = task->no_frames;
	struct smx_error error;
	if (task->table && smx_table_create(b->hash_bytes, &options.table, &error) != SMX_OK)
		fail("--hash", error.message);
	for (unsigned i = 0; i < task->positions; i++) {
		if (options.table)
			smx_table_clear(options.table);
		outcomes[i] = searched(b, i, &options);
	}
	smx_table_destroy(options.table);
}

static json_t *json_task(const struct task *task, const struct outcome outcomes[POSITIONS])
{
	json_t *object = json_object(), *rows = json_array();
	for (unsigned i = 0; i < task->positions; i++) {
		const struct smx_counters *c = &outcomes[i].counters;
		json_t *row = json_object();
		json_object_set_new(row, "name", json_string(smxi_bench_positions[i].name));
		json_object_set_new(row, "raw", json_integer(outcomes[i].value));
		json_object_set_new(row, "chance_nodes", json_integer((json_int_t)c->chance_nodes));
		json_object_set_new(row, "leaf_evaluations", json_integer((json_int_t)c->leaf_evaluations));
		json_object_set_new(row, "table_hits", json_integer((json_int_t)c->table_hits));
		json_object_set_new(row, "time_ms", json_real(outcomes[i].time_ms));
		json_array_append_new(rows, row);
	}
	json_object_set_new(object, "task", json_string(task->name));
	json_object_set_new(object, "positions", rows);
	return object;
}

/* Geometric mean over the positions of the leaves evaluated, relative to the last task's. */
static double leaf_share(const struct outcome task[POSITIONS], const struct outcome unpruned[POSITIONS])
{
	double sum = 0;
	for (unsigned i = 0; i < POSITIONS; i++)
		sum += log((double)(task[i].counters.leaf_evaluations + 1) / (double)unpruned[i].counters.leaf_evaluations);
	return exp(sum / POSITIONS);
}

static void run_all(struct bench *b, bool json, bool unpruned)
{
	static struct outcome outcomes[TASKS][POSITIONS];
	json_t *array = json_array();
	for (unsigned t = 0; t < TASKS; t++) {
		if (tasks[t].unpruned && !unpruned)
			continue;
		take_unit(b);
		run_task(b, &tasks[t], outcomes[t]);
		json_array_append_new(array, json_task(&tasks[t], outcomes[t]));
	}
	take_unit(b);
	const double unit_ms = median(b->take_ms, b->takes);
	if (json) {
		json_t *root = json_object();
		json_object_set_new(root, "isa", json_string(smx_dicechess_isa()));
		json_object_set_new(root, "hash_bytes", json_integer((json_int_t)b->hash_bytes));
		json_object_set_new(root, "ten_depth_2_decisions_ms", json_real(unit_ms));
		json_object_set_new(root, "tasks", array);
		json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
		printf("\n");
		json_decref(root);
		return;
	}
	json_decref(array);
	printf("the ten depth-2 decisions: %.2f ms (median of %u takes)\n", unit_ms, b->takes);
	printf("%-60s %13s %14s %12s %11s %9s\n", "", "chance nodes", "leaves", "table hits", "time, ms", "of unit");
	for (unsigned t = 0; t < TASKS; t++) {
		if (tasks[t].unpruned && !unpruned)
			continue;
		struct outcome sum = {.time_ms = 0};
		for (unsigned i = 0; i < tasks[t].positions; i++) {
			sum.counters.chance_nodes += outcomes[t][i].counters.chance_nodes;
			sum.counters.leaf_evaluations += outcomes[t][i].counters.leaf_evaluations;
			sum.counters.table_hits += outcomes[t][i].counters.table_hits;
			sum.time_ms += outcomes[t][i].time_ms;
		}
		printf("%-60s %13llu %14llu %12llu %11.1f %9.1f", tasks[t].name, (unsigned long long)sum.counters.chance_nodes,
		       (unsigned long long)sum.counters.leaf_evaluations, (unsigned long long)sum.counters.table_hits,
		       sum.time_ms, sum.time_ms / unit_ms);
		if (unpruned && tasks[t].leaves == SMX_LEAVES_LIST)
			printf("  %.3f%% of the leaves", 100 * leaf_share(outcomes[t], outcomes[TASKS - 1]));
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"isa", required_argument, NULL, 'i'},
		{"json", no_argument, NULL, 'j'},
		{"hash", required_argument, NULL, 'h'},
		{"unpruned", no_argument, NULL, 'u'},
		{NULL, 0, NULL, 0},
	};
	struct smx_error error;
	struct bench b = {.hash_bytes = (size_t)DEFAULT_HASH_MIB << 20};
	bool json = false, unpruned = false;
	for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
		switch (option) {
		case 'i':
			if (smx_dicechess_isa_use(optarg, &error) != SMX_OK)
				fail("--isa", error.message);
			break;
		case 'j':
			json = true;
			break;
		case 'h': {
			char *end;
			const long mib = strtol(optarg, &end, 10);
			if (*end || mib < 1 || mib > 1 << 20)
				fail("--hash takes a number of MiB from 1 to 1048576", optarg);
			b.hash_bytes = (size_t)mib << 20;
			break;
		}
		case 'u':
			unpruned = true;
			break;
		default:
			return 2;
		}
	if (argc != optind)
		fail("usage: starmax-bench-search [--isa NAME] [--json] [--hash MIB] [--unpruned]", NULL);
	for (size_t i = 0; i < POSITIONS; i++) {
		const char *text = smxi_bench_positions[i].text;
		if (smx_dicechess.parse(text, strlen(text), &b.position[i], &error) != SMX_OK)
			fail(smxi_bench_positions[i].name, error.message);
	}
	if (smx_search_create(&smx_dicechess, NULL, &b.search) != SMX_OK)
		fail("out of memory", NULL);
	run_all(&b, json, unpruned);
	smx_search_destroy(b.search);
	return 0;
}
