/* starmax scale: what several threads make of fixed searches, next to what this machine makes of as many separate processes.
 *
 * The ceiling of an efficiency is the machine's: n processes that share nothing also slow each other down, by clock rates, caches, memory
 * and hardware threads of one core. Each round does everything once, every other one backwards, so that slow drifts cancel; a speed-up is
 * a ratio of two times of the same round.
 *
 * Threads are bound as analyze binds them. Then n processes are bound, too, each to the processor of one of the n threads, and the search
 * alone to the first one's: so the ceiling says what these very processors give when all are busy. Left to the system, processes that
 * wake up at the same moment share a processor for some milliseconds; that would lower the ceiling, and make the threads look
 * better than they are.
 *
 * A search begins with all threads asleep, as the only one of a program does. --warm is for one that searches position after position: a
 * search that is not measured goes before, in every process alike. */
#define _POSIX_C_SOURCE 200809L

#include "bench/positions.h"
#include "cli/command.h"
#include "cli/engine.h"
#include "cli/gnuplot.h"
#include "cli/report.h"
#include "cli/runner.h"
#include "cli/scaling.h"
#include "cli/suite.h"

#include <starmax/parallel.h>

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { POSITIONS_MAX = 16 };

struct scale_settings {
	unsigned set;
	uint64_t depth, width;
	const char *evaluator, *position, *threads;
	struct smxi_given_size hash;
	uint64_t rounds;
	unsigned bind;
	const char *plot;
	bool warm, json;
};

static const struct scale_settings defaults = {
	.depth = SMXI_UNSET,
	.width = SMXI_UNSET,
	.rounds = 5,
	.bind = SMX_BIND_COMPACT,
};

static const struct smxi_option scale_options[] = {
	SMXI_CHOICE(struct scale_settings, set, "set", smxi_scale_set_names, "which searches of which bench positions"),
	SMXI_NUMBER(struct scale_settings, depth, "depth", 1, SMX_DEPTH_MAX, NULL,
                "turns to look ahead (default: the set's)"),
	SMXI_NUMBER(struct scale_settings, width, "width", 1, 1000000000, "all",
                "candidates kept after pre-ranking (default: the set's)"),
	SMXI_TEXT(struct scale_settings, evaluator, "evaluator", "NAME", "values the leaves (default: the set's)"),
	SMXI_TEXT(struct scale_settings, position, "position", "POSITION", "this position instead of the set's"),
	SMXI_TEXT(struct scale_settings, threads, "threads", "LIST",
              "numbers of threads, such as 1,2,4 or 1-4 (default: from 1 to the usable processors)"),
	SMXI_NUMBER(struct scale_settings, rounds, "rounds", 1, 1000, NULL, "times that everything is measured"),
	SMXI_SIZE(struct scale_settings, hash, "hash", SMX_TABLE_BYTES_MIN, UINT64_C(1) << 46, "off",
              "bytes of each process's transposition table, emptied before each search (default: the set's)"),
	SMXI_CHOICE(struct scale_settings, bind, "bind", smxi_bind_names,
                "which processors several threads, and as many processes, keep to"),
	SMXI_FLAG(struct scale_settings, warm, "warm", "begin each search with its threads awake, right after another one"),
	SMXI_FLAG(struct scale_settings, json, "json", "one line of JSON"),
	SMXI_TEXT(struct scale_settings, plot, "plot", "PREFIX",
              "draw PREFIX-speedup, -efficiency and -overhead (.svg and .png) with gnuplot, from PREFIX.dat"),
	SMXI_NO_MORE_OPTIONS,
};

struct scale {
	const struct scale_settings *settings;
	struct smxi_scaling scaling; /* what others may only look at, and below what it points to */
	struct smx_position position[POSITIONS_MAX];
	const char *name[POSITIONS_MAX];
	struct smxi_measure expected[POSITIONS_MAX];
	unsigned *threads;
	struct smx_parallel_plan *plans;
	struct smxi_runners runners; /* as many serial ones as the most threads, then one for each of `threads` */
	FILE *data;                  /* NULL: no plot */
};

static unsigned most_threads(const struct scale *scale)
{
	return scale->threads[scale->scaling.thread_count - 1];
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
	smxi_json_append(scale->scaling.differences, object);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

/* Of threads x time: outside the time in which the threads are at hand, all but one have nothing to do. */
static double idle_share(const struct smxi_measure *measure, unsigned threads)
{
	const struct smx_sharing *sharing = &measure->sharing;
	const double idle_ms = sharing->idle_ms + (threads - 1) * (measure->time_ms - sharing->span_ms);
	return idle_ms / (threads * measure->time_ms);
}

static struct smxi_take take_of(const struct smxi_measure *measure, unsigned threads)
{
	const struct smx_counters *counters = &measure->counters;
	struct smxi_take take = {{0}, {0}};
	take.value[SMXI_TIME_MS] = measure->time_ms;
	take.value[SMXI_NODES_PER_SECOND] = (double)counters->chance_nodes / measure->time_ms * 1e3;
	take.value[SMXI_HIT_RATE] = share(counters->table_hits, counters->table_probes);
	take.value[SMXI_TASKS] = (double)counters->tasks;
	take.value[SMXI_TASKS_STOPPED] = (double)counters->tasks_stopped;
	take.value[SMXI_IDLE_SHARE] = idle_share(measure, threads);
	take.value[SMXI_CPU_SHARE] = measure->cpu_ms / (measure->time_ms * threads);
	memcpy(take.task_sizes, measure->sharing.task_sizes, sizeof take.task_sizes);
	return take;
}

static double mean_time(const struct smxi_measure *measures, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += measures[i].time_ms;
	return sum / (double)count;
}

/* The times of one round of one position. */
struct round {
	struct smxi_measure serial;
	struct smxi_measure *parallel; /* with each number of threads */
	double *together_ms;           /* by as many processes */
	struct smxi_measure *together; /* of the last of these */
};

static const struct smx_parallel_place *places_of(const struct smx_parallel_plan *plan)
{
	return plan->bind == SMX_BIND_NONE ? NULL : plan->places;
}

/* Step 0 is the serial search, then come two for each number of threads: the threads, and as many processes. */
static bool take_step(struct scale *scale, size_t position, size_t step, struct round *round)
{
	const struct smx_parallel_place *alone = places_of(&scale->scaling.alone);
	if (!step)
		return smxi_runners_measure(&scale->runners, 0, 1, alone, position, &round->serial);
	const size_t t = (step - 1) / 2;
	const unsigned threads = scale->threads[t];
	if (step % 2)
		return smxi_runners_measure(&scale->runners, most_threads(scale) + t, 1, threads > 1 ? NULL : alone, position,
		                            &round->parallel[t]);
	if (threads == 1)
		return true;
	const struct smx_parallel_place *places = places_of(&scale->plans[t]);
	const bool ok = smxi_runners_measure(&scale->runners, 0, threads, places, position, round->together);
	round->together_ms[t] = mean_time(round->together, threads);
	return ok;
}

static void keep_round(struct scale *scale, size_t position, size_t r, const struct round *round)
{
	if (!r)
		scale->expected[position] = round->serial;
	*smxi_scaling_serial(&scale->scaling, position, r) = take_of(&round->serial, 1);
	check(scale, position, r, 0, &round->serial);
	for (size_t t = 0; t < scale->scaling.thread_count; t++) {
		const unsigned threads = scale->threads[t];
		const struct smxi_measure *parallel = &round->parallel[t];
		struct smxi_take *take = smxi_scaling_parallel(&scale->scaling, position, t, r);
		double *value = take->value;
		*take = take_of(parallel, threads);
		value[SMXI_SPEEDUP] = round->serial.time_ms / parallel->time_ms;
		value[SMXI_EFFICIENCY] = value[SMXI_SPEEDUP] / threads;
		value[SMXI_CEILING] = threads > 1 ? round->serial.time_ms / round->together_ms[t] : 1;
		value[SMXI_OF_CEILING] = value[SMXI_EFFICIENCY] / value[SMXI_CEILING];
		value[SMXI_NODE_OVERHEAD] = smxi_overhead(parallel->counters.chance_nodes, round->serial.counters.chance_nodes);
		scale->scaling.spins = scale->scaling.spins || parallel->spins;
		check(scale, position, r, threads, parallel);
	}
}

/* One position in one round: all steps, in every other round the last one first. False after an error message. */
static bool measure_position(struct scale *scale, size_t position, size_t r)
{
	const size_t count = scale->scaling.thread_count, steps = 1 + 2 * count;
	struct round round = {
		.parallel = smxi_allocate(count, sizeof *round.parallel),
		.together_ms = smxi_allocate(count, sizeof *round.together_ms),
		.together = smxi_allocate(most_threads(scale), sizeof *round.together),
	};
	bool ok = true;
	for (size_t i = 0; i < steps && ok; i++)
		ok = take_step(scale, position, r % 2 ? steps - 1 - i : i, &round);
	if (ok)
		keep_round(scale, position, r, &round);
	free(round.parallel);
	free(round.together_ms);
	free(round.together);
	return ok;
}

static bool measure_all(struct scale *scale)
{
	const size_t rounds = scale->scaling.rounds, positions = scale->scaling.position_count;
	const bool is_shown = isatty(STDERR_FILENO);
	struct smxi_measure *first = smxi_allocate(scale->runners.count, sizeof *first);
	/* Nobody has memory or threads yet: this one does not count. */
	bool ok = smxi_runners_measure(&scale->runners, 0, scale->runners.count, NULL, 0, first);
	free(first);
	for (size_t r = 0; r < rounds && ok; r++) {
		for (size_t i = 0; i < positions && ok; i++) {
			const size_t position = r % 2 ? positions - 1 - i : i;
			if (is_shown)
				fprintf(stderr, "\rround %zu of %zu, %-12s", r + 1, rounds, scale->name[position]);
			ok = measure_position(scale, position, r);
		}
	}
	if (is_shown)
		fprintf(stderr, "\r%40s\r", "");
	return ok;
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
static bool set_threads(struct scale *scale)
{
	const unsigned usable = scale->scaling.machine.usable;
	bool wanted[SMX_PARALLEL_THREADS_MAX + 1] = {false};
	const char *text = scale->settings->threads;
	char shown[200];
	if (text && !read_list(text, wanted)) {
		smxi_error("option --threads takes numbers from 1 to %d, such as 1,2,4 or 1-4, not %s",
		           SMX_PARALLEL_THREADS_MAX, smxi_printable(text, shown, sizeof shown));
		return false;
	}
	for (unsigned n = 1; !text && n <= usable && n <= SMX_PARALLEL_THREADS_MAX; n++)
		wanted[n] = n == 1 || smxi_engine_can_have(n);
	scale->threads = smxi_allocate(SMX_PARALLEL_THREADS_MAX, sizeof *scale->threads);
	for (unsigned n = 1; n <= SMX_PARALLEL_THREADS_MAX; n++) {
		if (wanted[n])
			scale->threads[scale->scaling.thread_count++] = n;
	}
	scale->scaling.threads = scale->threads;
	if (smxi_engine_can_have(most_threads(scale)))
		return true;
	smxi_error("no %u threads: OpenMP is not built in, or has a lower limit", most_threads(scale));
	return false;
}

/* A plan leaves one thread to the system; here the search alone keeps to one processor where several threads do. */
static void plan_alone(struct scale *scale)
{
	struct smx_parallel_plan *alone = &scale->scaling.alone;
	const enum smx_parallel_bind bind = scale->scaling.bind;
	if (smx_parallel_plan(1, bind, alone) != SMX_OK)
		smxi_out_of_memory();
	if (bind == SMX_BIND_NONE || scale->scaling.machine.usable == 1)
		return;
	struct smx_parallel_plan *two = smxi_allocate(1, sizeof *two);
	if (smx_parallel_plan(2, bind, two) == SMX_OK) {
		alone->bind = two->bind;
		alone->places[0] = two->places[0];
		memcpy(alone->unbound, two->unbound, sizeof alone->unbound);
	}
	free(two);
}

/* False after an error message. */
static bool plan_all(struct scale *scale)
{
	const size_t count = scale->scaling.thread_count;
	scale->scaling.bind = (enum smx_parallel_bind)scale->settings->bind;
	plan_alone(scale);
	scale->plans = smxi_allocate(count, sizeof *scale->plans);
	for (size_t t = 0; t < count; t++) {
		if (scale->threads[t] == 1)
			scale->plans[t] = scale->scaling.alone;
		else if (!smxi_engine_plan(scale->threads[t], scale->scaling.bind, &scale->plans[t]))
			return false;
	}
	scale->scaling.plans = scale->plans;
	return true;
}

/* False after an error message. */
static bool set_positions(struct scale *scale)
{
	const struct smx_game *game = scale->scaling.game;
	const char *own = scale->settings->position;
	const struct smxi_suite *suite = smxi_suite_of(game);
	assert(own || suite);
	const struct smxi_scale_set *set = own ? NULL : &suite->sets[scale->settings->set];
	const size_t count = own ? 1 : set->count;
	assert(count <= POSITIONS_MAX);
	for (size_t i = 0; i < count; i++) {
		const char *text = own ? own : suite->positions[set->first + i].text;
		struct smx_error error = {0};
		scale->name[i] = own ? "given" : suite->positions[set->first + i].name;
		if (game->parse(text, strlen(text), &scale->position[i], &error) != SMX_OK) {
			smxi_error("bad position: %s", error.message);
			return false;
		}
	}
	scale->scaling.position_count = count;
	scale->scaling.positions = scale->scaling.work.positions = scale->position;
	scale->scaling.names = scale->name;
	scale->scaling.expected = scale->expected;
	return true;
}

/* False after an error message. */
static bool set_search(struct scale *scale)
{
	const struct scale_settings *settings = scale->settings;
	const struct smx_game *game = scale->scaling.game;
	struct smxi_runner_work *work = &scale->scaling.work;
	struct smx_search_options *options = &work->options;
	smx_search_options_init(options, game);
	options->star = SMX_STAR2;
	const struct smxi_suite *suite = smxi_suite_of(game);
	if (suite) {
		const struct smxi_scale_set *set = &suite->sets[settings->set];
		options->depth_plies = set->depth_plies;
		options->width = set->width;
		options->evaluator = set->evaluator;
		work->hash_bytes = set->hash_bytes;
	}
	if (settings->depth != SMXI_UNSET)
		options->depth_plies = (unsigned)settings->depth;
	if (settings->width != SMXI_UNSET)
		options->width = (size_t)settings->width;
	if (settings->evaluator && !(options->evaluator = smxi_evaluator_find(game, "evaluator", settings->evaluator)))
		return false;
	work->game = game;
	if (settings->hash.given)
		work->hash_bytes = (size_t)settings->hash.bytes;
	work->is_warm = settings->warm;
	return true;
}

/* False after an error message. */
static bool set_up(struct scale *scale)
{
	const struct scale_settings *settings = scale->settings;
	if (!smxi_suite_of(scale->scaling.game) && !settings->position) {
		smxi_error("scale has no positions of game %s: give one with --position", scale->scaling.game->name);
		return false;
	}
	if (settings->plot && (!*settings->plot || *settings->plot == '-' || strpbrk(settings->plot, "\n\r"))) {
		smxi_error("option --plot takes the beginning of file names, not starting with a dash, on one line");
		return false;
	}
	scale->scaling.set = settings->position ? NULL : smxi_scale_set_names[settings->set];
	scale->scaling.rounds = (size_t)settings->rounds;
	return set_search(scale) && set_positions(scale) && set_threads(scale) && plan_all(scale);
}

static bool start_runners(struct scale *scale)
{
	const struct smxi_runner_work *work = &scale->scaling.work;
	bool ok = true;
	for (unsigned i = 0; i < most_threads(scale) && ok; i++)
		ok = smxi_runners_add(&scale->runners, work, NULL);
	for (size_t t = 0; t < scale->scaling.thread_count && ok; t++)
		ok = smxi_runners_add(&scale->runners, work, &scale->plans[t]);
	return ok;
}

/* Everything up to the printing; false after an error message. */
static bool measure(struct scale *scale)
{
	struct smxi_scaling *scaling = &scale->scaling;
	const size_t serial = scaling->position_count * scaling->rounds;
	const time_t now = time(NULL);
	struct tm utc;
	strftime(scaling->date, sizeof scaling->date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	scaling->differences = smxi_json(json_array());
	scaling->serial = smxi_allocate(serial, sizeof *scaling->serial);
	scaling->parallel = smxi_allocate(serial * scaling->thread_count, sizeof *scaling->parallel);
	const bool ok = start_runners(scale) && measure_all(scale);
	smxi_runners_close(&scale->runners);
	return ok;
}

static void clean_up(struct scale *scale)
{
	if (scale->data)
		fclose(scale->data);
	json_decref(scale->scaling.differences);
	free(scale->scaling.serial);
	free(scale->scaling.parallel);
	free(scale->threads);
	free(scale->plans);
}

/* False after an error message. */
static bool plot(struct scale *scale)
{
	FILE *data = scale->data;
	scale->data = NULL;
	return smxi_scaling_plot(&scale->scaling, scale->settings->plot, data);
}

static enum smxi_exit run(const struct smxi_call *call)
{
	struct scale scale = {.settings = call->settings, .scaling = {.game = call->game, .commit = SMXI_COMMIT}};
	enum smxi_exit status = SMXI_EXIT_FAILURE;
	if (!smxi_no_words(call))
		return SMXI_EXIT_USAGE;
	smxi_runner_machine(&scale.scaling.machine);
	if (!set_up(&scale)) {
		status = SMXI_EXIT_USAGE;
	} else if (prepare_plots(&scale) && measure(&scale)) {
		if (scale.settings->json)
			smxi_scaling_print_json(&scale.scaling);
		else
			smxi_scaling_print_text(&scale.scaling);
		status = json_array_size(scale.scaling.differences) ? SMXI_EXIT_FAILURE : SMXI_EXIT_OK;
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
		"efficiency relative to that. \"idle\" is the share of threads x time in which a thread had no work of the\n"
		"search, \"processor\" the share that the threads spent on a processor; those that wait may do so there. Exit\n"
		"status 1: some answer is not the serial search's.\n\n"
		"Threads are bound to processors as starmax analyze does it, and as many processes to the same ones. A search\n"
		"begins with all threads asleep; --warm searches for some milliseconds right before.\n\n"
		"The sets of Dice Chess: ordinary is depth 3, width 8, material; heavy depth 3, every turn, winprob; endings "
		"depth 4,\n"
		"width 8, material, of three endgames. Of 2048: ordinary is depth 5, heavy depth 6, endings depth 7 of three "
		"boards\n"
		"of a long game, with a table. docs/json.md describes the JSON.",
	.options = scale_options,
	.defaults = &defaults,
	.settings_size = sizeof defaults,
	.run = run,
};
