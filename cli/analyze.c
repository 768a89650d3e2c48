/* starmax analyze: search a position, or a file of them, and show the result. */
#define _POSIX_C_SOURCE 200809L

#include "cli/checkpoint.h"
#include "cli/command.h"
#include "cli/compare.h"
#include "cli/engine.h"
#include "cli/interrupt.h"
#include "cli/lines.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/settings.h"
#include "cli/sharing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct analyze_settings {
	struct smxi_search_settings search;
	struct smxi_thread_settings threads;
	unsigned ties;
	uint64_t seed;
	const char *hash_load, *hash_save;
	bool exact_only;
	const char *checkpoint, *resume;
	uint64_t every_ms;
	uint64_t exact, multi;
	struct smxi_given_clock clock;
	uint64_t move;
	const char *clock_policy;
	bool outcomes, compare_serial, json;
	const char *file;
	uint64_t top;
};

static const char *const ties_names[] = {"first", "random", NULL}; /* in the order of enum smx_ties */

#define DEFAULT_POLICY   "empirical-v1"
#define DEFAULT_EVERY_MS 60000

static const struct analyze_settings defaults = {
	.search = SMXI_SEARCH_DEFAULTS,
	.threads = SMXI_THREAD_DEFAULTS,
	.top = 20,
	.exact = SMXI_UNSET,
	.multi = 1,
	.every_ms = SMXI_UNSET,
};

static const struct smxi_option analyze_options[] = {
	SMXI_CHOICE(struct analyze_settings, ties, "ties", ties_names, "which of equally good turns is chosen"),
	SMXI_NUMBER(struct analyze_settings, seed, "seed", 0, UINT64_MAX, NULL, "of --ties random"),
	SMXI_TEXT(struct analyze_settings, hash_load, "hash-load", "FILE",
              "begin with the table that --hash-save wrote, in its size"),
	SMXI_TEXT(struct analyze_settings, hash_save, "hash-save", "FILE", "save the table after the last search"),
	SMXI_TEXT(struct analyze_settings, checkpoint, "checkpoint", "FILE",
              "save the table while the search lasts, and at its end; without --hash it has 64M"),
	SMXI_DURATION(struct analyze_settings, every_ms, "every", 1, 1000000000000, NULL,
                  "of --checkpoint: from one save to the next (default 60s)"),
	SMXI_TEXT(struct analyze_settings, resume, "resume", "FILE",
              "go on where the search of that --checkpoint was; it may name the same file, which the first run lacks"),
	SMXI_FLAG(struct analyze_settings, exact_only, "exact-only", "keep and take only exact values in the table"),
	SMXI_NUMBER(struct analyze_settings, exact, "exact", 1, 1000000000, "all",
                "candidates that get exact values even if they lose, first in canonical order (default none)"),
	SMXI_NUMBER(struct analyze_settings, multi, "multi", 1, 1000000000, NULL,
                "so many of the best candidates get exact values, and those that tie with the last of them"),
	SMXI_FLAG(struct analyze_settings, compare_serial, "compare-serial",
              "search again with one thread, with a table of its own, and show what sharing the work cost"),
	SMXI_CLOCK(struct analyze_settings, clock, "clock", 0, SMX_CLOCK_MAX_MS,
               "stop after this turn's part of what the side to move has on its clock"),
	SMXI_NUMBER(struct analyze_settings, move, "move", 1, UINT32_MAX, "auto",
                "of --clock: the full-move number; auto: the position's, or 1 in a game without"),
	SMXI_TEXT(struct analyze_settings, clock_policy, "clock-policy", "NAME",
              "of --clock: how the time is shared out (default " DEFAULT_POLICY ")"),
	SMXI_FLAG(struct analyze_settings, outcomes, "outcomes", "the value of each outcome, for positions without one"),
	SMXI_FLAG(struct analyze_settings, json, "json", "the result as one line of JSON"),
	SMXI_TEXT(struct analyze_settings, file, "file", "FILE|-",
              "positions from a file, one a line; JSON out, one line each"),
	SMXI_NUMBER(struct analyze_settings, top, "top", 1, 1000000000, "all", "candidates shown in the table"),
	SMXI_NO_MORE_OPTIONS,
};

static const struct smxi_shared_options shared[] = {
	{smxi_search_options, offsetof(struct analyze_settings, search)},
	{smxi_thread_options, offsetof(struct analyze_settings, threads)},
	{NULL, 0},
};

struct job {
	const struct smx_game *game;
	const struct analyze_settings *settings;
	struct smx_search_options options;
	struct smx_table *table; /* NULL: none */
	bool searched;           /* once at least */
	bool resumed;
	struct smxi_checkpoint checkpoint;
	struct smx_clock clock; /* these two where --clock is given, for the position being searched */
	struct smx_budget budget;
	struct smx_parallel_plan plan;
	struct smxi_engine engine;
	struct smxi_engine serial_engine; /* these two with --compare-serial, for the searches that are compared with */
	struct smx_table *serial_table;
	struct smxi_progress progress;
};

static uint64_t hash_bytes(const struct job *job)
{
	const struct analyze_settings *settings = job->settings;
	if (!settings->search.hash.given && (settings->checkpoint || settings->resume))
		return SMXI_DEFAULT_HASH;
	return smxi_search_hash_bytes(&settings->search, &job->options);
}

/* Whether a candidate is among those that share the best value. */
static bool is_best(const struct smx_result *result, const struct smx_candidate *candidate)
{
	return candidate->exact && result->has_value && candidate->value == result->value;
}

static const char *side_name(const struct smx_result *result, unsigned outcome)
{
	if (result->outcomes_won >> outcome & 1)
		return "won";
	return result->outcomes_lost >> outcome & 1 ? "lost" : NULL;
}

static bool has_turn(const struct smx_result *result)
{
	return result->kind != SMX_RESULT_VALUE && result->kind != SMX_RESULT_LOSS;
}

/* What the result is called in JSON. */
static const char *kind_name(enum smx_result_kind kind)
{
	switch (kind) {
	case SMX_RESULT_TURN:
		return "turn";
	case SMX_RESULT_WIN:
		return "win";
	case SMX_RESULT_PASS:
		return "pass";
	case SMX_RESULT_LOSS:
		return "loss";
	case SMX_RESULT_VALUE:
		return "value";
	}
	return "?";
}

/* As much of it as is known now. */
static const struct smx_parallel_plan *plan_now(const struct job *job)
{
	const struct smx_parallel_plan *plan = smx_parallel_plan_of(job->engine.parallel);
	return plan ? plan : &job->plan;
}

static json_t *json_turn(const struct job *job, const struct smx_turn *turn)
{
	char text[SMX_TEXT_MAX];
	return smxi_json(json_string(smxi_report_turn(job->game, turn, text)));
}

static json_t *json_result(const struct job *job, const struct smx_result *result)
{
	unsigned scale_bits = job->options.evaluator->scale_bits;
	json_t *object = smxi_json(json_object()), *ties = smxi_json(json_array());
	for (size_t i = 0; i < result->candidate_count; i++) {
		if (is_best(result, &result->candidates[i]))
			smxi_json_append(ties, json_turn(job, &result->candidates[i].turn));
	}
	if (result->kind == SMX_RESULT_WIN && !json_array_size(ties))
		smxi_json_append(ties, json_turn(job, &result->turn));
	smxi_json_set(object, "kind", json_string(kind_name(result->kind)));
	smxi_json_set(object, "turn", has_turn(result) ? json_turn(job, &result->turn) : json_null());
	smxi_json_set(object, "ties", ties);
	smxi_json_set(object, "value", result->has_value ? smxi_json_value(result->value, scale_bits) : json_null());
	smxi_json_set(object, "raw", result->has_value ? json_integer(result->value) : json_null());
	return object;
}

static json_t *json_candidates(const struct job *job, const struct smx_result *result)
{
	unsigned scale_bits = job->options.evaluator->scale_bits;
	json_t *array = smxi_json(json_array());
	for (size_t i = 0; i < result->candidate_count; i++) {
		const struct smx_candidate *candidate = &result->candidates[i];
		json_t *object = smxi_json(json_object());
		smxi_json_set(object, "turn", json_turn(job, &candidate->turn));
		smxi_json_set(object, "prerank", smxi_json_number(candidate->prerank, job->options.prerank->scale_bits));
		smxi_json_set(object, "value",
		              candidate->completed ? smxi_json_value(candidate->value, scale_bits) : json_null());
		smxi_json_set(object, "raw", candidate->completed ? json_integer(candidate->value) : json_null());
		smxi_json_set(object, "exact", json_boolean(candidate->exact));
		smxi_json_set(object, "king_loss_weight",
		              candidate->loss_weight < 0 ? json_null() : json_integer(candidate->loss_weight));
		smxi_json_set(object, "search_raw", candidate->completed ? json_integer(candidate->search) : json_null());
		smxi_json_set(object, "rescore_raw",
		              result->counters.rescore_evaluations ? json_integer(candidate->rescore) : json_null());
		smxi_json_set(object, "rescored", json_boolean(candidate->rescored));
		smxi_json_append(array, object);
	}
	return array;
}

static json_t *json_outcomes(const struct job *job, const struct smx_position *position,
                             const struct smx_result *result)
{
	unsigned scale_bits = job->options.evaluator->scale_bits;
	if (!result->outcome_count)
		return smxi_json(json_null());
	json_t *array = smxi_json(json_array());
	for (unsigned i = 0; i < result->outcome_count; i++) {
		char name[SMX_TEXT_MAX];
		json_t *object = smxi_json(json_object());
		const char *king = side_name(result, i);
		job->game->outcome_name(position->state, (int)i, name);
		smxi_json_set(object, "roll", json_string(name));
		smxi_json_set(object, "weight", json_integer(result->outcome_weights[i]));
		smxi_json_set(object, "value", smxi_json_value(result->outcome_values[i], scale_bits));
		smxi_json_set(object, "raw", json_integer(result->outcome_values[i]));
		smxi_json_set(object, "king", king ? json_string(king) : json_null());
		smxi_json_append(array, object);
	}
	return array;
}

static json_t *json_memory(const struct smx_arena_statistics *memory)
{
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "reserved_bytes", smxi_json_count(memory->reserved_bytes));
	smxi_json_set(object, "high_water_bytes", smxi_json_count(memory->high_water_bytes));
	smxi_json_set(object, "chunk_requests", smxi_json_count(memory->chunk_requests));
	return object;
}

static const char *policy_name(const struct job *job)
{
	return job->settings->clock_policy ? job->settings->clock_policy : DEFAULT_POLICY;
}

static json_t *json_clock(const struct job *job)
{
	if (!job->settings->clock.given)
		return smxi_json(json_null());
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "policy", json_string(policy_name(job)));
	smxi_json_set(object, "remaining_ms", json_integer(job->clock.remaining_ms));
	smxi_json_set(object, "increment_ms", json_integer(job->clock.increment_ms));
	smxi_json_set(object, "move", json_integer(job->clock.move_number));
	smxi_json_set(object, "target_ms", json_integer(job->budget.target_ms));
	smxi_json_set(object, "hard_cap_ms", json_integer(job->budget.hard_cap_ms));
	return object;
}

static json_t *json_table(const struct job *job)
{
	if (!job->table)
		return smxi_json(json_null());
	const struct smx_table_usage usage = smx_table_usage(job->table);
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "size_bytes", smxi_json_count(usage.size_bytes));
	smxi_json_set(object, "used_permille", json_integer(usage.used_permille));
	smxi_json_set(object, "current_permille", json_integer(usage.current_permille));
	return object;
}

static json_t *json_checkpoint(const struct job *job)
{
	if (!job->settings->checkpoint && !job->settings->resume)
		return smxi_json(json_null());
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "resumed", json_boolean(job->resumed));
	smxi_json_set(object, "saves", smxi_json_count(job->checkpoint.saves));
	return object;
}

static json_t *json_depths(const struct job *job, const struct smx_result *result)
{
	unsigned scale_bits = job->options.evaluator->scale_bits;
	json_t *array = smxi_json(json_array());
	for (unsigned i = 0; i < result->iteration_count; i++) {
		const struct smx_iteration *depth = &result->iterations[i];
		bool is_known = depth->has_value && has_turn(result);
		json_t *object = smxi_json(json_object());
		smxi_json_set(object, "depth", json_integer(depth->depth_plies));
		smxi_json_set(object, "completed", json_boolean(depth->completed));
		smxi_json_set(object, "value", depth->has_value ? smxi_json_value(depth->value, scale_bits) : json_null());
		smxi_json_set(object, "raw", depth->has_value ? json_integer(depth->value) : json_null());
		smxi_json_set(object, "turn", is_known ? json_turn(job, &depth->turn) : json_null());
		smxi_json_set(object, "candidates_completed", smxi_json_count(depth->candidates_completed));
		smxi_json_set(object, "time_ms", json_real(depth->time_ms));
		smxi_json_set(object, "counters", smxi_json_counters(&depth->counters));
		smxi_json_append(array, object);
	}
	return array;
}

/* How deep this position is searched, if nothing stops it. */
static unsigned depth_of(const struct job *job, const struct smx_position *position)
{
	const struct smx_search_options *options = &job->options;
	const unsigned most = options->depth_plies;
	const unsigned depth = options->depth_by.depth_plies ? smx_depth_of(&options->depth_by, job->game, position) : most;
	return depth < most ? depth : most;
}

/* serial: of the search that this one is compared with; NULL: there is none. */
static void print_json(const struct job *job, const struct smx_position *position, const struct smx_result *result,
                       const struct smx_result *serial)
{
	const struct smx_search_options *options = &job->options;
	char text[SMX_TEXT_MAX];
	json_t *object = smxi_json(json_object());
	job->game->format(position, text);
	smxi_json_set(object, "game", json_string(job->game->name));
	smxi_json_set(object, "position", json_string(text));
	smxi_json_set(object, "depth", json_integer(depth_of(job, position)));
	smxi_json_set(object, "width", options->width ? smxi_json_count(options->width) : json_null());
	smxi_json_set(object, "evaluator", json_string(options->evaluator->name));
	smxi_json_set(object, "unit", json_string(options->evaluator->unit));
	smxi_json_set(object, "scale", json_integer(options->evaluator->scale_bits));
	smxi_json_set(object, "prerank", json_string(options->prerank->name));
	smxi_json_set(object, "star", json_string(smxi_star_names[options->star]));
	smxi_json_set(object, "depth_completed", json_integer(result->depth_plies));
	smxi_json_set(object, "limit_reached", json_boolean(result->limit_reached));
	smxi_json_set(object, "stopped", json_boolean(result->stopped));
	smxi_json_set(object, "result", json_result(job, result));
	smxi_json_set(object, "candidates", json_candidates(job, result));
	if (options->outcome_values)
		smxi_json_set(object, "outcomes", json_outcomes(job, position, result));
	smxi_json_set(object, "counters", smxi_json_counters(&result->counters));
	smxi_json_set(object, "memory", json_memory(&result->memory));
	smxi_json_set(object, "time_ms", json_real(result->time_ms));
	smxi_json_set(object, "clock", json_clock(job));
	smxi_json_set(object, "table", json_table(job));
	smxi_json_set(object, "rescore", smxi_search_json_rescore(options));
	smxi_json_set(object, "selective", smxi_search_json_selective(options));
	smxi_json_set(object, "depths", json_depths(job, result));
	smxi_json_set(object, "threads", json_integer(job->plan.threads));
	smxi_json_set(object, "bind", json_string(smxi_bind_names[plan_now(job)->bind]));
	smxi_json_set(object, "sharing", smxi_sharing_json(&result->sharing));
	smxi_json_set(object, "checkpoint", json_checkpoint(job));
	smxi_json_set(object, "serial", serial ? smxi_compare_json(result, serial) : json_null());
	smxi_json_print(object);
}

static void print_headline(const struct job *job, const struct smx_result *result)
{
	char turn[SMX_TEXT_MAX], value[SMXI_REPORT_TEXT] = "none", count[SMXI_REPORT_TEXT];
	const char *unit = result->has_value ? job->options.evaluator->unit : "";
	const char *what = result->selective ? "selective value" : "value";
	if (has_turn(result))
		smxi_report_turn(job->game, &result->turn, turn);
	if (result->has_value)
		smxi_report_value(result->value, job->options.evaluator, value);
	if (result->stopped) {
		printf("stopped    %s of ", smxi_report_count(result->counters.candidates_completed, count));
		printf("%s candidates completed", smxi_report_count(result->counters.candidates, count));
		printf(" at depth %u; only these count\n", result->depth_plies);
	}
	printf("result     ");
	switch (result->kind) {
	case SMX_RESULT_WIN:
		printf("%s wins at once, value %s %s\n", turn, value, unit);
		break;
	case SMX_RESULT_PASS:
		printf("forced pass, %s %s %s\n", what, value, unit);
		break;
	case SMX_RESULT_LOSS:
		printf("no turn, the game is lost, value %s %s\n", value, unit);
		break;
	case SMX_RESULT_VALUE:
		printf("%s %s %s before the outcome is known\n", what, value, unit);
		break;
	case SMX_RESULT_TURN:
		if (!result->has_value)
			printf("%s, the first by pre-rank: nothing was completed\n", turn);
		else if (result->ties > 1)
			printf("%s, %s %s %s, as good as %zu other%s\n", turn, what, value, unit, result->ties - 1,
			       result->ties > 2 ? "s" : "");
		else
			printf("%s, %s %s %s\n", turn, what, value, unit);
		break;
	}
}

/* Best first; equal values in canonical order, which is that of the array. */
static int by_value(const void *a, const void *b)
{
	const struct smx_candidate *left = *(const struct smx_candidate *const *)a;
	const struct smx_candidate *right = *(const struct smx_candidate *const *)b;
	if (left->exact != right->exact)
		return left->exact ? -1 : 1; /* what is only bounded has lost */
	if (left->value != right->value)
		return left->value < right->value ? 1 : -1;
	return left < right ? -1 : left > right;
}

/* A candidate's value, or the bound that it is. */
static void add_value(struct smxi_table *table, const struct smx_candidate *candidate, smx_value value,
                      const struct smx_evaluator *evaluator)
{
	char number[SMXI_REPORT_TEXT], text[SMXI_REPORT_TEXT + 3];
	snprintf(text, sizeof text, "%s%s", candidate->exact ? "" : "<= ", smxi_report_value(value, evaluator, number));
	smxi_table_add(table, text);
}

static void print_candidates(const struct job *job, const struct smx_result *result)
{
	static const struct smxi_column columns[] = {
		{"rank", true},     {"", false},      {"value", true},   {"turn", false}, {"loses at once", true},
		{"pre-rank", true}, {"search", true}, {"rescore", true}, /* these two where candidates are rescored */
	};
	const struct smx_evaluator *evaluator = job->options.evaluator;
	bool rescoring = result->counters.rescore_evaluations != 0;
	const struct smx_candidate **sorted = smxi_allocate(result->candidate_count, sizeof *sorted);
	size_t count = 0, rank = 0;
	for (size_t i = 0; i < result->candidate_count; i++) {
		if (result->candidates[i].completed)
			sorted[count++] = &result->candidates[i];
	}
	qsort(sorted, count, sizeof *sorted, by_value);
	size_t shown = job->settings->top && job->settings->top < count ? (size_t)job->settings->top : count;
	struct smxi_table table = smxi_table(columns, sizeof columns / sizeof columns[0] - (rescoring ? 0 : 2));
	for (size_t i = 0; i < shown; i++) {
		const struct smx_candidate *candidate = sorted[i];
		char text[SMX_TEXT_MAX], number[SMXI_REPORT_TEXT];
		bool tied_above = i && candidate->exact && sorted[i - 1]->value == candidate->value;
		bool tied_below = i + 1 < count && sorted[i + 1]->exact && sorted[i + 1]->value == candidate->value;
		if (!tied_above)
			rank = i + 1;
		snprintf(number, sizeof number, "%zu", rank);
		smxi_table_add(&table, number);
		smxi_table_add(&table, tied_above || tied_below ? "=" : "");
		add_value(&table, candidate, candidate->value, evaluator);
		smxi_table_add(&table, smxi_report_turn(job->game, &candidate->turn, text));
		smxi_table_add(&table, candidate->loss_weight < 0
		                           ? "-"
		                           : smxi_report_share(candidate->loss_weight, candidate->total, number));
		smx_value_format(candidate->prerank, job->options.prerank->scale_bits, number, sizeof number);
		smxi_table_add(&table, number);
		if (rescoring) {
			add_value(&table, candidate, candidate->search, evaluator);
			smxi_table_add(&table,
			               candidate->rescored ? smxi_report_value(candidate->rescore, evaluator, number) : "-");
		}
	}
	if (shown) {
		putchar('\n');
		smxi_table_print(&table);
	}
	if (shown < count)
		printf("... and %zu more (--top all shows them)\n", count - shown);
	free(sorted);
}

static void print_outcomes(const struct job *job, const struct smx_position *position, const struct smx_result *result)
{
	static const struct smxi_column columns[] = {
		{"roll", false},
		{"weight", true},
		{"value", true},
		{"king", false},
	};
	if (!result->outcome_count)
		return;
	struct smxi_table table = smxi_table(columns, sizeof columns / sizeof columns[0]);
	for (unsigned i = 0; i < result->outcome_count; i++) {
		char text[SMX_TEXT_MAX], number[SMXI_REPORT_TEXT];
		const char *king = side_name(result, i);
		job->game->outcome_name(position->state, (int)i, text);
		smxi_table_add(&table, text);
		snprintf(number, sizeof number, "%" PRIu32, result->outcome_weights[i]);
		smxi_table_add(&table, number);
		smxi_table_add(&table, smxi_report_value(result->outcome_values[i], job->options.evaluator, number));
		smxi_table_add(&table, king ? king : "");
	}
	putchar('\n');
	smxi_table_print(&table);
}

/* Chance nodes and afterstates that were left early, for whatever reason. */
static uint64_t all_cutoffs(const struct smx_counters *counters)
{
	return counters->cutoffs_low + counters->cutoffs_high + counters->cutoffs_probe + counters->cutoffs_decided +
	       counters->cutoffs_etc + counters->cutoffs_table;
}

static void print_depths(const struct job *job, const struct smx_result *result)
{
	static const struct smxi_column columns[] = {
		{"depth", false},  {"time", true},       {"chance nodes", true}, {"leaf evaluations", true},
		{"cutoffs", true}, {"table hits", true}, {"best turn", false},   {"value", true},
	};
	if (!result->iteration_count)
		return;
	struct smxi_table table = smxi_table(columns, sizeof columns / sizeof columns[0]);
	for (unsigned i = 0; i < result->iteration_count; i++) {
		const struct smx_iteration *depth = &result->iterations[i];
		char text[SMX_TEXT_MAX], number[SMXI_REPORT_TEXT];
		bool is_known = depth->has_value && has_turn(result);
		snprintf(number, sizeof number, "%u%s", depth->depth_plies, depth->completed ? "" : " (stopped)");
		smxi_table_add(&table, number);
		snprintf(number, sizeof number, "%.3f s", depth->time_ms / 1e3);
		smxi_table_add(&table, number);
		smxi_table_add(&table, smxi_report_count(depth->counters.chance_nodes, number));
		smxi_table_add(&table, smxi_report_count(depth->counters.leaf_evaluations, number));
		smxi_table_add(&table, smxi_report_count(all_cutoffs(&depth->counters), number));
		smxi_table_add(&table, job->table ? smxi_report_count(depth->counters.table_hits, number) : "-");
		smxi_table_add(&table, is_known ? smxi_report_turn(job->game, &depth->turn, text) : "-");
		smxi_table_add(&table,
		               depth->has_value ? smxi_report_value(depth->value, job->options.evaluator, number) : "-");
	}
	putchar('\n');
	smxi_table_print(&table);
}

static void print_counters(const struct smx_result *result)
{
	char number[SMXI_REPORT_TEXT];
	size_t column = 0;
	putchar('\n');
	for (size_t i = 0; i < smxi_counter_count; i++) {
		char label[40];
		snprintf(label, sizeof label, "%s", smxi_counters[i].name);
		for (char *c = label; *c; c++) {
			if (*c == '_')
				*c = ' ';
		}
		smxi_report_count(smxi_counter_read(&result->counters, i), number);
		column++;
		printf("%-22s %14s%s", label, number, column % 2 && i + 1 < smxi_counter_count ? "    " : "\n");
	}
	double seconds = result->time_ms / 1e3;
	printf("time %.3f s", seconds);
	if (seconds > 0)
		printf(", %s chance nodes a second",
		       smxi_report_count((uint64_t)((double)result->counters.chance_nodes / seconds), number));
	printf("; memory %s KiB\n", smxi_report_count(result->memory.high_water_bytes / 1024, number));
}

/* Seconds: tenths, or all there are. */
static const char *report_seconds(int64_t time_ms, char text[SMXI_REPORT_TEXT])
{
	if (time_ms % 100)
		snprintf(text, SMXI_REPORT_TEXT, "%" PRId64 ".%03d s", time_ms / 1000, (int)(time_ms % 1000));
	else
		snprintf(text, SMXI_REPORT_TEXT, "%" PRId64 ".%d s", time_ms / 1000, (int)(time_ms / 100 % 10));
	return text;
}

static void print_clock(const struct job *job)
{
	char first[SMXI_REPORT_TEXT], second[SMXI_REPORT_TEXT];
	printf("clock      %s + %s, move %u, policy %s: ", report_seconds(job->clock.remaining_ms, first),
	       report_seconds(job->clock.increment_ms, second), job->clock.move_number, policy_name(job));
	printf("target %s ms, cap %s ms\n", smxi_report_count((uint64_t)job->budget.target_ms, first),
	       smxi_report_count((uint64_t)job->budget.hard_cap_ms, second));
}

static void print_table(const struct job *job, const struct smx_counters *counters)
{
	const struct smx_table_usage usage = smx_table_usage(job->table);
	char text[SMXI_REPORT_TEXT];
	printf("table      %s, %u.%u%% used, ", smxi_report_bytes(usage.size_bytes, text), usage.used_permille / 10,
	       usage.used_permille % 10);
	printf("%s probes, ", smxi_report_count(counters->table_probes, text));
	printf("%s hits, ", smxi_report_count(counters->table_hits, text));
	printf("%s stores\n", smxi_report_count(counters->table_stores, text));
}

static void print_threads(const struct smx_parallel_plan *plan)
{
	static const char *const bound[] = {"not bound", "bound compactly", "bound scattered"};
	printf("threads    %u, %s", plan->threads, bound[plan->bind]);
	if (*plan->unbound)
		printf(" (%s)", plan->unbound);
	printf(": %s\n", plan->reason);
}

static void print_checkpoint(const struct job *job)
{
	char text[SMXI_REPORT_TEXT];
	printf("checkpoint %s, %s saves during the search\n", job->resumed ? "resumed" : "new",
	       smxi_report_count(job->checkpoint.saves, text));
}

static void print_selective(const struct job *job)
{
	const struct smx_selective *selective = &job->options.selective;
	const char *between = "";
	printf("selective  ");
	if (selective->inner_width) {
		printf("inner width %zu", selective->inner_width);
		between = ", ";
	}
	if (selective->reach > 0) {
		printf("%sreach %g", between, selective->reach);
		between = ", ";
	}
	if (selective->samples)
		printf("%s%u sample%s", between, selective->samples, selective->samples > 1 ? "s" : "");
	puts(": not exact");
}

/* Whether a limit, not a number of turns, says how deep to search. */
static bool deepens(const struct analyze_settings *settings)
{
	return smxi_search_deepens(&settings->search) || (!settings->search.depth && settings->clock.given);
}

static void print_text(const struct job *job, const struct smx_position *position, const struct smx_result *result,
                       const struct smx_result *serial)
{
	const struct smx_search_options *options = &job->options;
	char text[SMX_TEXT_MAX];
	job->game->format(position, text);
	printf("position   %s\n", text);
	printf("search     depth %s%u", deepens(job->settings) ? "up to " : "", depth_of(job, position));
	if (options->depth_by.depth_plies)
		printf(" by %s", smxi_search_rule(&options->depth_by, (char[SMXI_SEARCH_WORDS]){""}));
	printf(", width ");
	if (options->width)
		printf("%zu %s", options->width, smxi_width_counts_names[options->width_counts]);
	else
		printf("all");
	printf(", evaluator %s (%s), pre-rank %s\n", options->evaluator->name, options->evaluator->unit,
	       options->prerank->name);
	if (options->rescore)
		printf("rescore    %s, weight %" PRIu32 "/%" PRIu32 "\n", options->rescore->name, options->rescore_weight,
		       options->rescore_total);
	if (smxi_search_is_selective(options))
		print_selective(job);
	if (*job->plan.reason)
		print_threads(plan_now(job));
	if (job->plan.threads > 1)
		smxi_sharing_print(&result->sharing, result->counters.tasks);
	if (job->table)
		print_table(job, &result->counters);
	if (job->settings->checkpoint || job->settings->resume)
		print_checkpoint(job);
	if (job->settings->clock.given)
		print_clock(job);
	print_headline(job, result);
	print_candidates(job, result);
	print_outcomes(job, position, result);
	print_depths(job, result);
	print_counters(result);
	if (serial)
		smxi_compare_print(result, serial);
}

/* NULL, or why this position cannot be searched as asked. */
static const char *unsuitable(const struct job *job, const struct smx_position *position)
{
	if (job->settings->outcomes && position->outcome != SMX_NO_OUTCOME)
		return "--outcomes needs a position whose outcome is not known yet";
	return NULL;
}

/* The game's full-move number, which for Dice Chess is the sixth field of its text; 1 in a game that has none. */
static unsigned move_number(const struct job *job, const struct smx_position *position)
{
	char text[SMX_TEXT_MAX];
	unsigned number;
	if (job->settings->move)
		return (unsigned)job->settings->move;
	if (job->game != &smx_dicechess)
		return 1;
	job->game->format(position, text);
	return sscanf(text, "%*s %*s %*s %*s %*s %u", &number) == 1 ? number : 1;
}

static enum smx_status apply_clock(struct job *job, const struct smx_position *position, struct smx_error *error)
{
	job->clock = (struct smx_clock){
		.remaining_ms = (int64_t)job->settings->clock.remaining_ms,
		.increment_ms = (int64_t)job->settings->clock.increment_ms,
		.move_number = move_number(job, position),
	};
	enum smx_status status = smx_clock_budget(policy_name(job), &job->clock, &job->budget, error);
	if (status == SMX_OK)
		job->options.time_limit_ms = (double)job->budget.target_ms;
	return status;
}

static enum smx_status search_position(struct job *job, const struct smx_position *position,
                                       const struct smx_result **result, struct smx_error *error)
{
	enum smx_status status = job->settings->clock.given ? apply_clock(job, position, error) : SMX_OK;
	if (status != SMX_OK)
		return status;
	if (!smxi_checkpoint_begin(&job->checkpoint)) {
		snprintf(error->message, sizeof error->message, "no thread to save the table");
		return SMX_ERR_MEMORY;
	}
	smxi_progress_attach(&job->progress, &job->options);
	status = smx_search_run(job->engine.search, position, &job->options, result, error);
	smxi_progress_erase(&job->progress);
	smxi_checkpoint_end(&job->checkpoint);
	job->searched = job->searched || status == SMX_OK;
	return status;
}

/* The same search once more, by one thread; *serial stays NULL where none is asked for or either was interrupted. */
static enum smx_status search_serially(struct job *job, const struct smx_position *position,
                                       const struct smx_result *result, const struct smx_result **serial,
                                       struct smx_error *error)
{
	const struct smx_result *found;
	struct smx_search_options options = job->options;
	if (!job->settings->compare_serial || result->stopped || smxi_interrupt_requested())
		return SMX_OK;
	options.splitter = NULL;
	options.table = job->serial_table;
	smxi_interrupt_watch(job->serial_engine.search);
	if (smxi_interrupt_requested()) /* since the first look, when this search was not watched yet */
		smx_search_stop(job->serial_engine.search);
	smxi_progress_attach(&job->progress, &options);
	enum smx_status status = smx_search_run(job->serial_engine.search, position, &options, &found, error);
	smxi_progress_erase(&job->progress);
	if (status == SMX_OK && !found->stopped)
		*serial = found;
	if (!smxi_interrupt_requested())
		smxi_interrupt_watch(job->engine.search);
	return status;
}

static const char *reason(enum smx_status status, const struct smx_error *error)
{
	return *error->message ? error->message : smx_status_str(status);
}

static enum smxi_exit analyze_argument(struct job *job, const struct smxi_call *call)
{
	struct smx_position position;
	if (!smxi_position_read(call, &position))
		return SMXI_EXIT_USAGE;
	if (unsuitable(job, &position)) {
		smxi_error("%s", unsuitable(job, &position));
		return SMXI_EXIT_USAGE;
	}
	const struct smx_result *result, *serial = NULL;
	struct smx_error error = {0};
	enum smx_status status = search_position(job, &position, &result, &error);
	if (status == SMX_OK)
		status = search_serially(job, &position, result, &serial, &error);
	if (status != SMX_OK) {
		smxi_error("%s", reason(status, &error));
		return SMXI_EXIT_FAILURE;
	}
	if (job->settings->json)
		print_json(job, &position, result, serial);
	else
		print_text(job, &position, result, serial);
	if (serial && smxi_compare_differs(result, serial))
		return SMXI_EXIT_FAILURE;
	bool is_complete = !result->stopped || result->limit_reached;
	return is_complete && (serial || !job->settings->compare_serial) ? SMXI_EXIT_OK : SMXI_EXIT_INTERRUPTED;
}

/* One line of a file; false after an error message. */
static bool analyze_line(void *context, const char *line, size_t length, const char *name, uint64_t number)
{
	struct job *job = context;
	struct smx_position position;
	struct smx_error error = {0};
	const struct smx_result *result, *serial = NULL;
	const char *why = NULL;
	enum smx_status status = job->game->parse(line, length, &position, &error);
	if (status == SMX_OK)
		why = unsuitable(job, &position);
	if (status == SMX_OK && !why)
		status = search_position(job, &position, &result, &error);
	if (status == SMX_OK && !why)
		status = search_serially(job, &position, result, &serial, &error);
	if (status == SMX_OK && !why) {
		print_json(job, &position, result, serial);
		if (!serial || !smxi_compare_differs(result, serial))
			return true;
		why = "the serial search answers something else";
	}
	if (!why)
		why = reason(status, &error);
	fprintf(stderr, "starmax: %s:%" PRIu64 ": %s\n", name, number, why);
	return false;
}

/* False after an error message. */
static bool check_clock(const struct analyze_settings *settings)
{
	const char *const *names = smx_clock_policies();
	size_t count = 0;
	bool known = !settings->clock_policy;
	for (; names[count]; count++)
		known = known || !strcmp(names[count], settings->clock_policy);
	if (!known)
		smxi_error_unknown("clock policy", settings->clock_policy, "", names, count);
	else if (settings->clock.given && settings->search.movetime_ms)
		smxi_error("--clock and --movetime exclude each other");
	else if (!settings->clock.given && (settings->move || settings->clock_policy))
		smxi_error("--%s needs --clock", settings->move ? "move" : "clock-policy");
	else
		return true;
	return false;
}

/* Where a search may be stopped depends on the threads, and so does what it says then; false after an error message. */
static bool check_comparison(const struct analyze_settings *settings)
{
	if (!settings->compare_serial || !(settings->search.nodes || settings->search.movetime_ms || settings->clock.given))
		return true;
	smxi_error("--compare-serial is for searches without a limit (--nodes, --movetime, --clock)");
	return false;
}

/* False after an error message. */
static bool check_table(const struct job *job)
{
	const struct analyze_settings *settings = job->settings;
	const char *asked = settings->hash_save    ? "hash-save"
	                    : settings->exact_only ? "exact-only"
	                    : settings->checkpoint ? "checkpoint"
	                    : settings->resume     ? "resume"
	                                           : NULL;
	if (settings->search.hash.given && settings->hash_load)
		smxi_error("--hash and --hash-load exclude each other: a loaded table has its own size");
	else if (settings->resume && settings->hash_load)
		smxi_error("--resume and --hash-load exclude each other: each brings a table");
	else if (settings->every_ms != SMXI_UNSET && !settings->checkpoint)
		smxi_error("--every needs --checkpoint");
	else if (settings->file && (settings->checkpoint || settings->resume))
		smxi_error("--%s is for the search of one position, not for --file",
		           settings->checkpoint ? "checkpoint" : "resume");
	else if (!smxi_search_takes_table(&job->options) && (settings->hash_load || asked))
		smxi_search_refuse_table(settings->hash_load ? "hash-load" : asked);
	else if (asked && !settings->hash_load && !hash_bytes(job))
		smxi_error("--%s needs --hash or --hash-load", asked);
	else
		return true;
	return false;
}

static bool set_up(struct job *job)
{
	const struct analyze_settings *settings = job->settings;
	struct smx_search_options *options = &job->options;
	if (!smxi_search_apply(&settings->search, job->game, options))
		return false;
	if (deepens(settings))
		options->depth_plies = SMX_DEPTH_MAX;
	options->ties = (enum smx_ties)settings->ties;
	options->seed = settings->seed;
	options->exact_only = settings->exact_only;
	options->exact = settings->exact == SMXI_UNSET ? 0 : settings->exact ? (size_t)settings->exact : SMX_EXACT_ALL;
	options->multi = (size_t)settings->multi;
	options->outcome_values = settings->outcomes;
	return check_table(job);
}

/* The first of several runs of one command, which will resume what it saves. */
static bool is_first_run(const struct analyze_settings *settings)
{
	return settings->resume && settings->checkpoint && !strcmp(settings->resume, settings->checkpoint) &&
	       access(settings->resume, F_OK) != 0 && errno == ENOENT;
}

/* False after an error message. */
static bool load_table(const struct job *job, const char *path, struct smx_table **table)
{
	const struct analyze_settings *settings = job->settings;
	struct smx_error error = {0};
	char shown[200], has[SMXI_REPORT_TEXT], wants[SMXI_REPORT_TEXT];
	const enum smx_status status = smx_table_load(path, job->game, job->options.evaluator, table, &error);
	if (status != SMX_OK) {
		smxi_error("%s: %s", smxi_printable(path, shown, sizeof shown), reason(status, &error));
		return false;
	}
	const size_t bytes = smx_table_usage(*table).size_bytes;
	if (!settings->search.hash.given || settings->search.hash.bytes / SMX_CACHE_LINE == bytes / SMX_CACHE_LINE)
		return true;
	smxi_error("%s: table file: a table of %s, not of the %s of --hash", smxi_printable(path, shown, sizeof shown),
	           smxi_report_bytes(bytes, has), smxi_report_bytes(settings->search.hash.bytes, wants));
	smx_table_destroy(*table);
	*table = NULL;
	return false;
}

/* A table that every search of this run uses, or those that they are compared with; false after an error message. */
static bool open_table(struct job *job, struct smx_table **table)
{
	const struct analyze_settings *settings = job->settings;
	const char *load = settings->resume ? settings->resume : settings->hash_load;
	struct smx_error error = {0};
	enum smx_status status = SMX_OK;
	if (load && !is_first_run(settings)) {
		if (!load_table(job, load, table))
			return false;
		job->resumed = settings->resume != NULL;
	} else if (hash_bytes(job)) {
		status = smx_table_create((size_t)hash_bytes(job), table, &error);
		if (status != SMX_OK)
			smxi_error("%s", reason(status, &error));
	}
	return status == SMX_OK;
}

/* What to save, and where: nothing of it where the path is NULL. */
static struct smxi_checkpoint saved_table(const struct job *job, const char *path)
{
	const uint64_t every_ms = job->settings->every_ms;
	return (struct smxi_checkpoint){
		.path = path,
		.every_ms = every_ms == SMXI_UNSET ? DEFAULT_EVERY_MS : every_ms,
		.table = job->table,
		.game = job->game,
		.evaluator = job->options.evaluator,
	};
}

/* What is in the table is complete work, also of searches that were stopped. An empty table that no search has seen must not take a
 * saved one's place. */
static enum smxi_exit save_table(const struct job *job, enum smxi_exit status)
{
	const struct smxi_checkpoint table = saved_table(job, job->settings->hash_save);
	if (!(job->searched || job->settings->hash_load || job->resumed) || status == SMXI_EXIT_USAGE)
		return status;
	const bool saved = !table.path || smxi_checkpoint_save(&table);
	const bool kept = !job->checkpoint.path || smxi_checkpoint_save(&job->checkpoint);
	return saved && kept ? status : SMXI_EXIT_FAILURE;
}

static enum smxi_exit run(const struct smxi_call *call)
{
	struct job job = {.game = call->game, .settings = call->settings, .progress.game = call->game};
	if (!check_clock(job.settings) || !check_comparison(job.settings) || !set_up(&job) ||
	    (job.settings->file && !smxi_no_words(call)))
		return SMXI_EXIT_USAGE;
	uint64_t threads;
	const bool is_urgent = job.settings->search.movetime_ms || job.settings->clock.given;
	if (!smxi_threads_choose(&job.settings->threads, &threads) ||
	    !smxi_threads_plan(&job.settings->threads, threads, is_urgent, &job.plan))
		return SMXI_EXIT_USAGE;
	if (!open_table(&job, &job.table) || (job.settings->compare_serial && !open_table(&job, &job.serial_table))) {
		smx_table_destroy(job.table);
		return SMXI_EXIT_FAILURE;
	}
	job.options.table = job.table;
	if (job.settings->compare_serial)
		job.serial_engine = smxi_engine_open(job.game, 1);
	job.checkpoint = saved_table(&job, job.settings->checkpoint);
	if (job.checkpoint.path)
		smxi_checkpoint_clean(job.checkpoint.path);
	job.engine = smxi_engine_open_planned(job.game, &job.plan);
	if (job.table)
		smx_parallel_place_table(job.engine.parallel, job.table);
	job.options.splitter = smx_parallel_splitter(job.engine.parallel);
	smxi_interrupt_watch(job.engine.search);
	enum smxi_exit status =
		job.settings->file ? smxi_lines_read(job.settings->file, analyze_line, &job) : analyze_argument(&job, call);
	smxi_interrupt_watch(NULL);
	status = save_table(&job, status);
	smxi_engine_close(&job.engine);
	smxi_engine_close(&job.serial_engine);
	smx_table_destroy(job.table);
	smx_table_destroy(job.serial_table);
	return status;
}

const struct smxi_command smxi_analyze_command = {
	.name = "analyze",
	.arguments = "<position>",
	.summary = "search a position and show the best turn and what each candidate is worth",
	.details =
		"The position is one quoted argument or its fields one by one. With its outcome (Dice Chess:\n"
		"dice) known it is a decision; without it, its value is that of the side to move before the\n"
		"outcome. In a file, blank lines and lines that begin with # are skipped. docs/json.md describes\n"
		"the JSON. Ctrl-C prints what is complete.\n\n"
		"With --checkpoint FILE --resume FILE the same command, given again whatever has ended it, goes on from what\n"
		"it had saved last.\n\n"
		"A selective search is faster and deeper, but its values are not exact, and it keeps no table. The table is\n"
		"shared by all lines of a file.\n\n"
		"A time is a whole number of milliseconds, or a number with its unit: 500ms, 2.5s, 1m, 1h. Without\n"
		"--depth a search with --nodes, --movetime or --clock goes as deep as these let it, any other 2 turns deep.\n\n"
		"Without --threads and --serial the environment variable STARMAX_THREADS, a number or auto, says how many\n"
		"threads there are. Counters and node counts are repeatable only with one.",
	.shared = shared,
	.options = analyze_options,
	.defaults = &defaults,
	.settings_size = sizeof defaults,
	.run = run,
};
