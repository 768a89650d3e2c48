/* starmax scale: what several threads make of fixed searches, next to what this machine makes of as many separate processes.
 *
 * The ceiling of an efficiency is the machine's: n processes that share nothing also slow each other down, by clock rates, caches, memory
 * and hardware threads of one core. Each round does everything once, every other one backwards, so that slow drifts cancel; a speed-up is
 * a ratio of two times of the same round. */
#define _POSIX_C_SOURCE 200809L

#include "bench/scale.h"
#include "bench/positions.h"
#include "cli/command.h"
#include "cli/engine.h"
#include "cli/gnuplot.h"
#include "cli/report.h"
#include "cli/runner.h"

#include <starmax/parallel.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { POSITIONS = sizeof smxi_bench_positions / sizeof smxi_bench_positions[0], ENDINGS = 3 };

/* A search alone that has a processor for less than this share of its time shares it with something. */
#define BUSY_SHARE 0.95

struct scale_settings {
	unsigned set;
	uint64_t depth, width;
	const char *evaluator, *position, *threads;
	struct smxi_given_size hash;
	uint64_t rounds;
	const char *plot;
	bool json;
};

static const char *const set_names[] = {"ordinary", "heavy", "endings", NULL};

static const struct {
	unsigned depth;
	size_t width;
	const char *evaluator;
	size_t positions;
} sets[] = {
	{3, 8, "material", POSITIONS},
	{3, 0, "winprob", POSITIONS},
	{4, 8, "material", ENDINGS},
};

static const struct scale_settings defaults = {
	.depth = SMXI_UNSET,
	.width = SMXI_UNSET,
	.rounds = 5,
};

static const struct smxi_option scale_options[] = {
	SMXI_CHOICE(struct scale_settings, set, "set", set_names, "which searches of which bench positions"),
	SMXI_NUMBER(struct scale_settings, depth, "depth", 1, SMX_DEPTH_MAX, NULL,
                "turns to look ahead (default: the set's)"),
	SMXI_NUMBER(struct scale_settings, width, "width", 1, 1000000000, "all",
                "candidates kept after pre-ranking (default: the set's)"),
	SMXI_TEXT(struct scale_settings, evaluator, "evaluator", "NAME", "values the leaves (default: the set's)"),
	SMXI_TEXT(struct scale_settings, position, "position", "DFEN", "this position instead of the set's"),
	SMXI_TEXT(struct scale_settings, threads, "threads", "LIST",
              "numbers of threads, such as 1,2,4 or 1-4 (default: from 1 to the usable processors)"),
	SMXI_NUMBER(struct scale_settings, rounds, "rounds", 1, 1000, NULL, "times that everything is measured"),
	SMXI_SIZE(struct scale_settings, hash, "hash", SMX_TABLE_BYTES_MIN, UINT64_C(1) << 46, "off",
              "bytes of each process's transposition table, emptied before each search"),
	SMXI_FLAG(struct scale_settings, json, "json", "one line of JSON"),
	SMXI_TEXT(struct scale_settings, plot, "plot", "PREFIX",
              "draw PREFIX-speedup, -efficiency and -overhead (.svg and .png) with gnuplot, from PREFIX.dat"),
	SMXI_NO_MORE_OPTIONS,
};

enum metric {
	TIME_MS,
	SPEEDUP,
	EFFICIENCY,
	CEILING,
	OF_CEILING,
	NODE_OVERHEAD,
	NODES_PER_SECOND,
	HIT_RATE,
	TASKS,
	TASKS_STOPPED,
	CPU_SHARE,
	METRICS
};

static const char *const metric_names[METRICS] = {
	[TIME_MS] = "time_ms",
	[SPEEDUP] = "speedup",
	[EFFICIENCY] = "efficiency",
	[CEILING] = "ceiling",
	[OF_CEILING] = "efficiency_of_ceiling",
	[NODE_OVERHEAD] = "node_overhead",
	[NODES_PER_SECOND] = "nodes_per_second",
	[HIT_RATE] = "table_hit_rate",
	[TASKS] = "tasks",
	[TASKS_STOPPED] = "tasks_stopped",
	[CPU_SHARE] = "cpu_share",
};

/* Those of which a mean over positions says something. */
static const enum metric summed_up[] = {SPEEDUP, EFFICIENCY, CEILING, OF_CEILING, NODE_OVERHEAD};
enum { SUMMED_UP = sizeof summed_up / sizeof summed_up[0] };

struct take {
	double value[METRICS];
};

struct spread {
	double median, least, most; /* NAN: not known */
};

struct scale {
	const struct smx_game *game;
	const struct scale_settings *settings;
	struct smxi_runner_work work;
	struct smx_position position[POSITIONS];
	const char *name[POSITIONS];
	size_t position_count;
	unsigned *threads; /* ascending */
	size_t thread_count;
	size_t rounds;
	struct smxi_runners runners; /* as many serial ones as the most threads, then one for each of `threads` */
	struct take *serial;         /* [position][round] */
	struct take *parallel;       /* [position][threads][round] */
	struct smxi_measure expected[POSITIONS]; /* the first serial search */
	json_t *differences;
	bool spins;
	char date[32];
	FILE *data; /* NULL: no plot */
};

static struct take *parallel_take(const struct scale *scale, size_t position, size_t threads, size_t round)
{
	return &scale->parallel[(position * scale->thread_count + threads) * scale->rounds + round];
}

static unsigned most_threads(const struct scale *scale)
{
	return scale->threads[scale->thread_count - 1];
}

/* ---- what is measured ---- */

static void check(struct scale *scale, size_t position, size_t round, unsigned threads,
                  const struct smxi_measure *found)
{
	const struct smxi_measure *expected = &scale->expected[position];
	const char *what = smxi_answer_difference(&expected->answer, &found->answer);
	if (!what)
		return;
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "position", json_string(scale->name[position]));
	smxi_json_set(object, "threads", json_integer(threads));
	smxi_json_set(object, "round", json_integer((json_int_t)round + 1));
	smxi_json_set(object, "what", json_string(what));
	smxi_json_append(scale->differences, object);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

static struct take take_of(const struct smxi_measure *measure, unsigned threads)
{
	const struct smx_counters *counters = &measure->counters;
	struct take take = {{0}};
	take.value[TIME_MS] = measure->time_ms;
	take.value[NODES_PER_SECOND] = (double)counters->chance_nodes / measure->time_ms * 1e3;
	take.value[HIT_RATE] = share(counters->table_hits, counters->table_probes);
	take.value[TASKS] = (double)counters->tasks;
	take.value[TASKS_STOPPED] = (double)counters->tasks_stopped;
	take.value[CPU_SHARE] = measure->cpu_ms / (measure->time_ms * threads);
	return take;
}

static double mean_time(const struct smxi_measure *measures, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += measures[i].time_ms;
	return sum / (double)count;
}

/* One position in one round: the serial search, then with each number of threads and, beside it, as many processes; or all that in the
 * opposite order. False after an error message. */
static bool measure_position(struct scale *scale, size_t position, size_t round)
{
	const size_t steps = 1 + 2 * scale->thread_count;
	struct smxi_measure serial = {.status = SMX_OK}, *parallel = smxi_allocate(scale->thread_count, sizeof *parallel);
	struct smxi_measure *together = smxi_allocate(most_threads(scale), sizeof *together);
	double *together_ms = smxi_allocate(scale->thread_count, sizeof *together_ms);
	bool ok = true;
	for (size_t i = 0; i < steps && ok; i++) {
		const size_t step = round % 2 ? steps - 1 - i : i, t = (step - 1) / 2;
		if (step == 0) {
			ok = smxi_runners_measure(&scale->runners, 0, 1, position, &serial);
		} else if (step % 2) {
			ok = smxi_runners_measure(&scale->runners, most_threads(scale) + t, 1, position, &parallel[t]);
		} else if (scale->threads[t] > 1) {
			ok = smxi_runners_measure(&scale->runners, 0, scale->threads[t], position, together);
			together_ms[t] = mean_time(together, scale->threads[t]);
		}
	}
	if (ok && !round)
		scale->expected[position] = serial;
	if (ok) {
		scale->serial[position * scale->rounds + round] = take_of(&serial, 1);
		check(scale, position, round, 0, &serial);
	}
	for (size_t t = 0; t < scale->thread_count && ok; t++) {
		const unsigned threads = scale->threads[t];
		struct take *take = parallel_take(scale, position, t, round);
		*take = take_of(&parallel[t], threads);
		take->value[SPEEDUP] = serial.time_ms / parallel[t].time_ms;
		take->value[EFFICIENCY] = take->value[SPEEDUP] / threads;
		take->value[CEILING] = threads > 1 ? serial.time_ms / together_ms[t] : 1;
		take->value[OF_CEILING] = take->value[EFFICIENCY] / take->value[CEILING];
		take->value[NODE_OVERHEAD] = smxi_overhead(parallel[t].counters.chance_nodes, serial.counters.chance_nodes);
		scale->spins = scale->spins || parallel[t].spins;
		check(scale, position, round, threads, &parallel[t]);
	}
	free(parallel);
	free(together);
	free(together_ms);
	return ok;
}

static bool measure_all(struct scale *scale)
{
	const bool is_shown = isatty(STDERR_FILENO);
	struct smxi_measure *first = smxi_allocate(scale->runners.count, sizeof *first);
	/* Nobody has memory or threads yet: this one does not count. */
	bool ok = smxi_runners_measure(&scale->runners, 0, scale->runners.count, 0, first);
	free(first);
	for (size_t r = 0; r < scale->rounds && ok; r++) {
		for (size_t i = 0; i < scale->position_count && ok; i++) {
			const size_t position = r % 2 ? scale->position_count - 1 - i : i;
			if (is_shown)
				fprintf(stderr, "\rround %zu of %zu, %-12s", r + 1, scale->rounds, scale->name[position]);
			ok = measure_position(scale, position, r);
		}
	}
	if (is_shown)
		fprintf(stderr, "\r%40s\r", "");
	return ok;
}

/* ---- what it amounts to ---- */

static int by_size(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

static struct spread spread_of(const double *values, size_t count)
{
	double *sorted = smxi_allocate(count, sizeof *sorted);
	struct spread spread = {NAN, NAN, NAN};
	bool known = true;
	for (size_t i = 0; i < count; i++) {
		sorted[i] = values[i];
		known = known && !isnan(values[i]);
	}
	if (known) {
		qsort(sorted, count, sizeof *sorted, by_size);
		spread.median = (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
		spread.least = sorted[0];
		spread.most = sorted[count - 1];
	}
	free(sorted);
	return spread;
}

/* Of one metric over the rounds. */
static struct spread spread_of_takes(const struct take *takes, size_t rounds, enum metric metric)
{
	double *values = smxi_allocate(rounds, sizeof *values);
	for (size_t r = 0; r < rounds; r++)
		values[r] = takes[r].value[metric];
	const struct spread spread = spread_of(values, rounds);
	free(values);
	return spread;
}

static struct spread position_spread(const struct scale *scale, size_t position, size_t threads, enum metric metric)
{
	return spread_of_takes(parallel_take(scale, position, threads, 0), scale->rounds, metric);
}

/* Over the rounds, of the geometric mean over the positions; of an overhead, of the ratio that it is one less than. */
static struct spread mean_spread(const struct scale *scale, size_t threads, enum metric metric)
{
	const double less = metric == NODE_OVERHEAD ? 1 : 0;
	double *values = smxi_allocate(scale->rounds, sizeof *values);
	for (size_t r = 0; r < scale->rounds; r++) {
		double sum = 0;
		for (size_t i = 0; i < scale->position_count; i++)
			sum += log(parallel_take(scale, i, threads, r)->value[metric] + less);
		values[r] = exp(sum / (double)scale->position_count) - less;
	}
	const struct spread spread = spread_of(values, scale->rounds);
	free(values);
	return spread;
}

/* Over the rounds, of the time for all positions by one thread to that by several. */
static struct spread total_speedup(const struct scale *scale, size_t threads)
{
	double *values = smxi_allocate(scale->rounds, sizeof *values);
	for (size_t r = 0; r < scale->rounds; r++) {
		double serial_ms = 0, parallel_ms = 0;
		for (size_t i = 0; i < scale->position_count; i++) {
			serial_ms += scale->serial[i * scale->rounds + r].value[TIME_MS];
			parallel_ms += parallel_take(scale, i, threads, r)->value[TIME_MS];
		}
		values[r] = serial_ms / parallel_ms;
	}
	const struct spread spread = spread_of(values, scale->rounds);
	free(values);
	return spread;
}

/* ---- JSON ---- */

static json_t *json_spread(struct spread spread)
{
	if (isnan(spread.median))
		return smxi_json(json_null());
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "median", json_real(spread.median));
	smxi_json_set(object, "min", json_real(spread.least));
	smxi_json_set(object, "max", json_real(spread.most));
	return object;
}

static json_t *json_serial(const struct scale *scale, size_t position)
{
	static const enum metric metrics[] = {TIME_MS, NODES_PER_SECOND, HIT_RATE, CPU_SHARE};
	const struct take *takes = &scale->serial[position * scale->rounds];
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "chance_nodes", smxi_json_count(scale->expected[position].counters.chance_nodes));
	for (size_t m = 0; m < sizeof metrics / sizeof metrics[0]; m++)
		smxi_json_set(object, metric_names[metrics[m]], json_spread(spread_of_takes(takes, scale->rounds, metrics[m])));
	return object;
}

static json_t *json_positions(const struct scale *scale)
{
	json_t *array = smxi_json(json_array());
	for (size_t i = 0; i < scale->position_count; i++) {
		const struct smxi_answer *answer = &scale->expected[i].answer;
		const bool has_turn = answer->kind != SMX_RESULT_VALUE && answer->kind != SMX_RESULT_LOSS;
		char text[SMX_TEXT_MAX];
		json_t *object = smxi_json(json_object()), *rows = smxi_json(json_array());
		scale->game->format(&scale->position[i], text);
		smxi_json_set(object, "name", json_string(scale->name[i]));
		smxi_json_set(object, "position", json_string(text));
		smxi_json_set(object, "raw", answer->has_value ? json_integer(answer->value) : json_null());
		smxi_json_set(object, "turn",
		              has_turn ? json_string(smxi_report_turn(scale->game, &answer->turn, text)) : json_null());
		smxi_json_set(object, "ties", smxi_json_count(answer->ties));
		smxi_json_set(object, "serial", json_serial(scale, i));
		for (size_t t = 0; t < scale->thread_count; t++) {
			json_t *row = smxi_json(json_object());
			smxi_json_set(row, "threads", json_integer(scale->threads[t]));
			for (unsigned m = 0; m < METRICS; m++)
				smxi_json_set(row, metric_names[m], json_spread(position_spread(scale, i, t, (enum metric)m)));
			smxi_json_append(rows, row);
		}
		smxi_json_set(object, "parallel", rows);
		smxi_json_append(array, object);
	}
	return array;
}

static json_t *json_summary(const struct scale *scale)
{
	json_t *array = smxi_json(json_array());
	for (size_t t = 0; t < scale->thread_count; t++) {
		json_t *object = smxi_json(json_object());
		smxi_json_set(object, "threads", json_integer(scale->threads[t]));
		for (size_t m = 0; m < SUMMED_UP; m++)
			smxi_json_set(object, metric_names[summed_up[m]], json_spread(mean_spread(scale, t, summed_up[m])));
		smxi_json_set(object, "total_speedup", json_spread(total_speedup(scale, t)));
		smxi_json_append(array, object);
	}
	return array;
}

static json_t *json_build(void)
{
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "version", json_string(smx_version()));
	smxi_json_set(object, "commit", json_string(SMXI_COMMIT));
	smxi_json_set(object, "compiler", json_string(SMXI_COMPILER));
	smxi_json_set(object, "isa", json_string(smx_dicechess_isa()));
	return object;
}

static json_t *json_machine(const struct smx_parallel_machine *machine)
{
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "model", json_string(machine->model));
	smxi_json_set(object, "usable", json_integer(machine->usable));
	smxi_json_set(object, "processors", json_integer(machine->processors));
	smxi_json_set(object, "cores", json_integer(machine->cores));
	smxi_json_set(object, "numa_nodes", json_integer(machine->numa_nodes));
	smxi_json_set(object, "l2_bytes", smxi_json_count(machine->l2_bytes));
	smxi_json_set(object, "l3_bytes", smxi_json_count(machine->l3_bytes));
	smxi_json_set(object, "hwloc", json_string(machine->hwloc));
	smxi_json_set(object, "openmp", json_string(machine->openmp_runtime));
	smxi_json_set(object, "openmp_date", json_integer(machine->openmp_date));
	smxi_json_set(object, "jemalloc", json_string(machine->jemalloc));
	return object;
}

/* What of the environment decides where threads run and how they wait. */
static const char *const variables[] = {"OMP_PLACES", "OMP_PROC_BIND", "OMP_WAIT_POLICY"};
enum { VARIABLES = sizeof variables / sizeof variables[0], SHOWN_VARIABLE = 200 };

static json_t *json_environment(void)
{
	json_t *object = smxi_json(json_object());
	for (size_t i = 0; i < VARIABLES; i++) {
		char shown[SHOWN_VARIABLE];
		const char *value = getenv(variables[i]);
		smxi_json_set(object, variables[i],
		              value ? json_string(smxi_printable(value, shown, sizeof shown)) : json_null());
	}
	return object;
}

static void print_json(const struct scale *scale, const struct smx_parallel_machine *machine)
{
	const struct smx_search_options *options = &scale->work.options;
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "set",
	              scale->settings->position ? json_null() : json_string(set_names[scale->settings->set]));
	smxi_json_set(object, "depth", json_integer(options->depth_plies));
	smxi_json_set(object, "width", options->width ? smxi_json_count(options->width) : json_null());
	smxi_json_set(object, "evaluator", json_string(options->evaluator->name));
	smxi_json_set(object, "hash_bytes", scale->work.hash_bytes ? smxi_json_count(scale->work.hash_bytes) : json_null());
	smxi_json_set(object, "rounds", smxi_json_count(scale->rounds));
	smxi_json_set(object, "date", json_string(scale->date));
	smxi_json_set(object, "build", json_build());
	smxi_json_set(object, "machine", json_machine(machine));
	smxi_json_set(object, "environment", json_environment());
	smxi_json_set(object, "threads_spin", json_boolean(scale->spins));
	smxi_json_set(object, "positions", json_positions(scale));
	smxi_json_set(object, "summary", json_summary(scale));
	smxi_json_set(object, "differences", json_incref(scale->differences));
	smxi_json_print(object);
}

/* ---- text ---- */

static void print_head(const struct scale *scale, const struct smx_parallel_machine *machine)
{
	const struct smx_search_options *options = &scale->work.options;
	char text[SHOWN_VARIABLE];
	printf("machine    %s, %u of %u hardware threads usable", machine->model, machine->usable, machine->processors);
	if (machine->cores)
		printf(", %u core%s", machine->cores, machine->cores > 1 ? "s" : "");
	if (machine->numa_nodes > 1)
		printf(", %u NUMA nodes", machine->numa_nodes);
	printf("\nbuild      starmax %s, commit %s, %s, OpenMP %s, instruction set %s\n", smx_version(), SMXI_COMMIT,
	       SMXI_COMPILER, machine->openmp_runtime, smx_dicechess_isa());
	printf("binding    ");
	for (size_t i = 0; i < VARIABLES; i++) {
		const char *value = getenv(variables[i]);
		printf("%s%s %s", i ? ", " : "", variables[i], value ? smxi_printable(value, text, sizeof text) : "not set");
	}
	printf("\nsearch     depth %u, width ", options->depth_plies);
	if (options->width)
		printf("%zu", options->width);
	else
		printf("all");
	printf(", evaluator %s, table %s\n", options->evaluator->name,
	       scale->work.hash_bytes ? smxi_report_bytes(scale->work.hash_bytes, text) : "none");
	printf("measured   %s, %zu round%s: medians, and in brackets the least and the greatest\n\n", scale->date,
	       scale->rounds, scale->rounds > 1 ? "s" : "");
}

static void add_percent(struct smxi_table *table, double value)
{
	char text[SMXI_REPORT_TEXT];
	snprintf(text, sizeof text, "%.1f%%", 100 * value);
	smxi_table_add(table, isnan(value) ? "-" : text);
}

static void add_spread(struct smxi_table *table, struct spread spread, double factor, int decimals, const char *unit)
{
	char text[SMXI_REPORT_TEXT];
	snprintf(text, sizeof text, "%.*f%s [%.*f, %.*f]", decimals, factor * spread.median, unit, decimals,
	         factor * spread.least, decimals, factor * spread.most);
	smxi_table_add(table, isnan(spread.median) ? "-" : text);
}

static void add_count(struct smxi_table *table, double value)
{
	char text[SMXI_REPORT_TEXT];
	smxi_table_add(table, smxi_report_count((uint64_t)(value + 0.5), text));
}

static void add_serial_row(const struct scale *scale, size_t position, struct smxi_table *table)
{
	const struct take *takes = &scale->serial[position * scale->rounds];
	smxi_table_add(table, scale->name[position]);
	smxi_table_add(table, "serial");
	add_spread(table, spread_of_takes(takes, scale->rounds, TIME_MS), 1, 2, "");
	for (unsigned i = 0; i < 5; i++)
		smxi_table_add(table, "");
	add_count(table, spread_of_takes(takes, scale->rounds, NODES_PER_SECOND).median);
	add_percent(table, spread_of_takes(takes, scale->rounds, HIT_RATE).median);
	smxi_table_add(table, "");
	smxi_table_add(table, "");
	add_percent(table, spread_of_takes(takes, scale->rounds, CPU_SHARE).median);
}

static void add_row(const struct scale *scale, size_t position, size_t t, struct smxi_table *table)
{
	struct spread spread[METRICS];
	char number[24];
	for (unsigned m = 0; m < METRICS; m++)
		spread[m] = position_spread(scale, position, t, (enum metric)m);
	snprintf(number, sizeof number, "%u", scale->threads[t]);
	smxi_table_add(table, "");
	smxi_table_add(table, number);
	add_spread(table, spread[TIME_MS], 1, 2, "");
	add_spread(table, spread[SPEEDUP], 1, 2, "");
	add_percent(table, spread[EFFICIENCY].median);
	add_percent(table, spread[CEILING].median);
	add_spread(table, spread[OF_CEILING], 100, 1, "%");
	add_spread(table, spread[NODE_OVERHEAD], 100, 1, "%");
	add_count(table, spread[NODES_PER_SECOND].median);
	add_percent(table, spread[HIT_RATE].median);
	add_count(table, spread[TASKS].median);
	add_count(table, spread[TASKS_STOPPED].median);
	add_percent(table, spread[CPU_SHARE].median);
}

static void print_positions(const struct scale *scale)
{
	static const struct smxi_column columns[] = {
		{"position", false}, {"threads", true}, {"time, ms", true},      {"speed-up", true},       {"efficiency", true},
		{"ceiling", true},   {"of it", true},   {"node overhead", true}, {"nodes a second", true}, {"table hits", true},
		{"tasks", true},     {"stopped", true}, {"processor", true},
	};
	struct smxi_table table = smxi_table(columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < scale->position_count; i++) {
		add_serial_row(scale, i, &table);
		for (size_t t = 0; t < scale->thread_count; t++)
			add_row(scale, i, t, &table);
	}
	smxi_table_print(&table);
}

static void print_summary(const struct scale *scale)
{
	static const struct smxi_column columns[] = {
		{"geometric means", false}, {"threads", true}, {"speed-up", true},      {"efficiency", true},
		{"ceiling", true},          {"of it", true},   {"node overhead", true}, {"speed-up of the total", true},
	};
	struct smxi_table table = smxi_table(columns, sizeof columns / sizeof columns[0]);
	for (size_t t = 0; t < scale->thread_count; t++) {
		char number[24];
		snprintf(number, sizeof number, "%u", scale->threads[t]);
		smxi_table_add(&table, "");
		smxi_table_add(&table, number);
		add_spread(&table, mean_spread(scale, t, SPEEDUP), 1, 2, "");
		add_spread(&table, mean_spread(scale, t, EFFICIENCY), 100, 1, "%");
		add_spread(&table, mean_spread(scale, t, CEILING), 100, 1, "%");
		add_spread(&table, mean_spread(scale, t, OF_CEILING), 100, 1, "%");
		add_spread(&table, mean_spread(scale, t, NODE_OVERHEAD), 100, 1, "%");
		add_spread(&table, total_speedup(scale, t), 1, 2, "");
	}
	putchar('\n');
	smxi_table_print(&table);
}

/* Of all the time that serial searches took, the share that they had a processor for. */
static double serial_cpu_share(const struct scale *scale)
{
	double time_ms = 0, cpu_ms = 0;
	for (size_t i = 0; i < scale->position_count * scale->rounds; i++) {
		time_ms += scale->serial[i].value[TIME_MS];
		cpu_ms += scale->serial[i].value[TIME_MS] * scale->serial[i].value[CPU_SHARE];
	}
	return cpu_ms / time_ms;
}

static void print_text(const struct scale *scale, const struct smx_parallel_machine *machine)
{
	size_t index;
	json_t *difference;
	print_head(scale, machine);
	print_positions(scale);
	print_summary(scale);
	const double alone = serial_cpu_share(scale);
	if (alone < BUSY_SHARE)
		printf("\nthe machine was busy with other things: one search alone had a processor %.0f%% of its time\n",
		       100 * alone);
	if (scale->spins)
		printf("\nthreads spin for more than half a second after a search: what is measured next suffers\n");
	putchar('\n');
	json_array_foreach(scale->differences, index, difference) printf(
		"DIFFERENT  %s, %d threads, round %d: the %s\n", json_string_value(json_object_get(difference, "position")),
		(int)json_integer_value(json_object_get(difference, "threads")),
		(int)json_integer_value(json_object_get(difference, "round")),
		json_string_value(json_object_get(difference, "what")));
	if (!json_array_size(scale->differences))
		printf("all answers are the same\n");
}

/* ---- plots ---- */

/* Before anything is measured: what would fail afterwards. False after an error message. */
static bool prepare_plots(struct scale *scale)
{
	const char *prefix = scale->settings->plot;
	if (!prefix)
		return true;
	if (!smxi_gnuplot_is_there()) {
		smxi_error("--plot needs gnuplot, which is not installed or does not run");
		return false;
	}
	scale->data = smxi_gnuplot_open(prefix, ".dat");
	return scale->data;
}

static void write_spread(FILE *file, struct spread spread)
{
	fprintf(file, "\t%.6g\t%.6g\t%.6g", spread.median, spread.least, spread.most);
}

/* In the order that bench/scale.gp describes. */
static const enum metric plotted[] = {SPEEDUP, EFFICIENCY, OF_CEILING, NODE_OVERHEAD, CEILING};

static void write_data(const struct scale *scale)
{
	for (size_t i = 0; i <= scale->position_count; i++) {
		const bool is_mean = i == scale->position_count;
		fprintf(scale->data, "%s\"%s\"", i ? "\n\n" : "", is_mean ? "geometric mean" : scale->name[i]);
		for (size_t m = 0; m < sizeof plotted / sizeof plotted[0]; m++)
			fprintf(scale->data, "\t%s\tmin\tmax", metric_names[plotted[m]]);
		fputc('\n', scale->data);
		for (size_t t = 0; t < scale->thread_count; t++) {
			fprintf(scale->data, "%u", scale->threads[t]);
			for (size_t m = 0; m < sizeof plotted / sizeof plotted[0]; m++)
				write_spread(scale->data,
				             is_mean ? mean_spread(scale, t, plotted[m]) : position_spread(scale, i, t, plotted[m]));
			fputc('\n', scale->data);
		}
	}
}

/* Both files stay: gnuplot PREFIX.gp draws again. */
static void write_script(const struct scale *scale, FILE *script)
{
	const struct smx_search_options *options = &scale->work.options;
	fputs("prefix = '", script);
	for (const char *c = scale->settings->plot; *c; c++)
		fprintf(script, *c == '\'' ? "''" : "%c", *c);
	fprintf(script, "'\npositions = %zu\nwhat = 'depth %u, ", scale->position_count, options->depth_plies);
	if (options->width)
		fprintf(script, "width %zu, ", options->width);
	else
		fputs("full width, ", script);
	fprintf(script, "%s'\n%s", options->evaluator->name, smxi_scale_plot);
}

/* False after an error message. */
static bool plot(struct scale *scale)
{
	const char *prefix = scale->settings->plot;
	write_data(scale);
	bool ok = smxi_gnuplot_close(scale->data);
	scale->data = NULL;
	FILE *script = smxi_gnuplot_open(prefix, ".gp");
	if (!script)
		return false;
	write_script(scale, script);
	ok = smxi_gnuplot_close(script) && ok;
	if (!ok) {
		smxi_error("cannot write the plots' data: %s", strerror(errno));
		return false;
	}
	return smxi_gnuplot_run(prefix, ".gp");
}

/* ---- set-up ---- */

/* "1,2,4-8" into wanted[1..SMX_PARALLEL_THREADS_MAX]; false where it is no such list. */
static bool read_list(const char *text, bool *wanted)
{
	for (;;) {
		unsigned long bounds[2];
		for (unsigned i = 0; i < 2; i++) {
			char *end;
			if (!strchr("0123456789", *text) || !*text)
				return false;
			bounds[i] = strtoul(text, &end, 10);
			text = end;
			if (i || *text != '-') {
				bounds[1] = bounds[i];
				break;
			}
			text++;
		}
		if (bounds[0] < 1 || bounds[0] > bounds[1] || bounds[1] > SMX_PARALLEL_THREADS_MAX)
			return false;
		for (unsigned long n = bounds[0]; n <= bounds[1]; n++)
			wanted[n] = true;
		if (!*text)
			return true;
		if (*text++ != ',')
			return false;
	}
}

/* False after an error message. */
static bool set_threads(struct scale *scale, const struct smx_parallel_machine *machine)
{
	bool wanted[SMX_PARALLEL_THREADS_MAX + 1] = {false};
	const char *text = scale->settings->threads;
	char shown[200];
	if (text && !read_list(text, wanted)) {
		smxi_error("option --threads takes numbers from 1 to %d, such as 1,2,4 or 1-4, not %s",
		           SMX_PARALLEL_THREADS_MAX, smxi_printable(text, shown, sizeof shown));
		return false;
	}
	for (unsigned n = 1; !text && n <= machine->usable && n <= SMX_PARALLEL_THREADS_MAX; n++)
		wanted[n] = n == 1 || smxi_engine_can_have(n);
	scale->threads = smxi_allocate(SMX_PARALLEL_THREADS_MAX, sizeof *scale->threads);
	for (unsigned n = 1; n <= SMX_PARALLEL_THREADS_MAX; n++) {
		if (wanted[n])
			scale->threads[scale->thread_count++] = n;
	}
	if (smxi_engine_can_have(most_threads(scale)))
		return true;
	smxi_error("no %u threads: OpenMP is not built in, or has a lower limit", most_threads(scale));
	return false;
}

/* False after an error message. */
static bool set_positions(struct scale *scale)
{
	const char *own = scale->settings->position;
	scale->position_count = own ? 1 : sets[scale->settings->set].positions;
	scale->work.positions = scale->position;
	for (size_t i = 0; i < scale->position_count; i++) {
		const char *text = own ? own : smxi_bench_positions[i].text;
		struct smx_error error = {0};
		scale->name[i] = own ? "given" : smxi_bench_positions[i].name;
		if (scale->game->parse(text, strlen(text), &scale->position[i], &error) != SMX_OK) {
			smxi_error("bad position: %s", error.message);
			return false;
		}
	}
	return true;
}

/* False after an error message. */
static bool set_up(struct scale *scale, const struct smx_parallel_machine *machine)
{
	const struct scale_settings *settings = scale->settings;
	struct smx_search_options *options = &scale->work.options;
	if (scale->game != &smx_dicechess && !settings->position) {
		smxi_error("scale has no positions of game %s: give one with --position", scale->game->name);
		return false;
	}
	smx_search_options_init(options, scale->game);
	options->star = SMX_STAR2;
	options->depth_plies = settings->depth == SMXI_UNSET ? sets[settings->set].depth : (unsigned)settings->depth;
	options->width = settings->width == SMXI_UNSET ? sets[settings->set].width : (size_t)settings->width;
	const char *evaluator = settings->evaluator             ? settings->evaluator
	                        : scale->game == &smx_dicechess ? sets[settings->set].evaluator
	                                                        : NULL;
	if (evaluator && !(options->evaluator = smxi_evaluator_find(scale->game, "evaluator", evaluator)))
		return false;
	scale->work.game = scale->game;
	scale->work.hash_bytes = (size_t)settings->hash.bytes;
	scale->rounds = (size_t)settings->rounds;
	if (settings->plot && (!*settings->plot || *settings->plot == '-' || strpbrk(settings->plot, "\n\r"))) {
		smxi_error("option --plot takes the beginning of file names, not starting with a dash, on one line");
		return false;
	}
	return set_positions(scale) && set_threads(scale, machine);
}

static bool start_runners(struct scale *scale)
{
	bool ok = true;
	for (unsigned i = 0; i < most_threads(scale) && ok; i++)
		ok = smxi_runners_add(&scale->runners, &scale->work, 0);
	for (size_t t = 0; t < scale->thread_count && ok; t++)
		ok = smxi_runners_add(&scale->runners, &scale->work, scale->threads[t]);
	return ok;
}

/* Everything up to the printing; false after an error message. */
static bool measure(struct scale *scale)
{
	const time_t now = time(NULL);
	struct tm utc;
	strftime(scale->date, sizeof scale->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	scale->differences = smxi_json(json_array());
	scale->serial = smxi_allocate(scale->position_count * scale->rounds, sizeof *scale->serial);
	scale->parallel =
		smxi_allocate(scale->position_count * scale->thread_count * scale->rounds, sizeof *scale->parallel);
	const bool ok = start_runners(scale) && measure_all(scale);
	smxi_runners_close(&scale->runners);
	return ok;
}

static void clean_up(struct scale *scale)
{
	if (scale->data)
		fclose(scale->data);
	json_decref(scale->differences);
	free(scale->serial);
	free(scale->parallel);
	free(scale->threads);
}

static enum smxi_exit run(const struct smxi_call *call)
{
	struct scale scale = {.game = call->game, .settings = call->settings};
	struct smx_parallel_machine machine;
	enum smxi_exit status = SMXI_EXIT_FAILURE;
	if (!smxi_no_words(call))
		return SMXI_EXIT_USAGE;
	smxi_runner_machine(&machine);
	if (!set_up(&scale, &machine)) {
		status = SMXI_EXIT_USAGE;
	} else if (prepare_plots(&scale) && measure(&scale)) {
		if (scale.settings->json)
			print_json(&scale, &machine);
		else
			print_text(&scale, &machine);
		status = json_array_size(scale.differences) ? SMXI_EXIT_FAILURE : SMXI_EXIT_OK;
		if (scale.settings->plot && !plot(&scale))
			status = SMXI_EXIT_FAILURE;
	}
	clean_up(&scale);
	return status;
}

const struct smxi_command smxi_scale_command = {
	.name = "scale",
	.summary = "measure what several threads make of a search, and what the machine allows",
	.details =
		"For every position: the search by one thread, by each number of threads, and as many one-thread\n"
		"searches at once in processes of their own. All times are wall-clock times. A speed-up is relative to\n"
		"one thread in the same round, an efficiency is the speed-up by the number of threads. Separate processes,\n"
		"too, slow each other down: the time of one alone by their mean time is the ceiling, and \"of it\" is the\n"
		"efficiency relative to that. \"processor\" is the share of threads x time that the threads spent on a\n"
		"processor; those that wait may do so there. Exit status 1: some answer is not the serial search's.\n\n"
		"The sets: ordinary is depth 3, width 8, material; heavy depth 3, every turn, winprob; endings depth 4,\n"
		"width 8, material, of three endgames. docs/json.md describes the JSON.",
	.options = scale_options,
	.defaults = &defaults,
	.settings_size = sizeof defaults,
	.run = run,
};
