#include "cli/compare.h"

#include "cli/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t hash_add(uint64_t hash, uint64_t number)
{
	/* FNV-1a with whole words */
	return (hash ^ number) * UINT64_C(0x100000001b3);
}

struct smxi_answer smxi_answer(const struct smx_result *result)
{
	struct smxi_answer answer = {
		.kind = result->kind,
		.has_value = result->has_value,
		.ties = result->ties,
		.tied_hash = UINT64_C(0xcbf29ce484222325),
		.outcomes_hash = UINT64_C(0xcbf29ce484222325),
	};
	if (result->has_value)
		answer.value = result->value;
	if (result->kind != SMX_RESULT_VALUE && result->kind != SMX_RESULT_LOSS)
		answer.turn = result->turn;
	for (size_t i = 0; i < result->candidate_count; i++) {
		const struct smx_candidate *candidate = &result->candidates[i];
		if (candidate->completed && candidate->exact && result->has_value && candidate->value == result->value)
			answer.tied_hash = hash_add(answer.tied_hash, i);
	}
	for (unsigned i = 0; i < result->outcome_count; i++)
		answer.outcomes_hash = hash_add(answer.outcomes_hash, (uint64_t)result->outcome_values[i]);
	return answer;
}

const char *smxi_answer_difference(const struct smxi_answer *expected, const struct smxi_answer *found)
{
	if (expected->kind != found->kind)
		return "kind";
	if (expected->has_value != found->has_value || expected->value != found->value)
		return "value";
	if (!smx_turn_equal(&expected->turn, &found->turn))
		return "turn";
	if (expected->ties != found->ties || expected->tied_hash != found->tied_hash)
		return "ties";
	return expected->outcomes_hash == found->outcomes_hash ? NULL : "outcomes";
}

double smxi_overhead(uint64_t parallel, uint64_t serial)
{
	if (!serial)
		return parallel ? NAN : 0;
	return (double)parallel / (double)serial - 1;
}

/* The counters that stand for work, and what they are called. */
static const struct {
	const char *name, *title;
	size_t offset;
} works[] = {
	{"chance_nodes", "chance nodes", offsetof(struct smx_counters, chance_nodes)},
	{"leaf_evaluations", "leaf evaluations", offsetof(struct smx_counters, leaf_evaluations)},
	{"outcomes_folded", "outcomes folded", offsetof(struct smx_counters, outcomes_folded)},
	{"frames", "frames", offsetof(struct smx_counters, frames)},
};
enum { WORKS = sizeof works / sizeof works[0] };

static uint64_t work(const struct smx_counters *counters, size_t index)
{
	uint64_t number;
	memcpy(&number, (const char *)counters + works[index].offset, sizeof number);
	return number;
}

static const char *difference_of(const struct smx_result *parallel, const struct smx_result *serial)
{
	const struct smxi_answer expected = smxi_answer(serial), found = smxi_answer(parallel);
	return smxi_answer_difference(&expected, &found);
}

bool smxi_compare_differs(const struct smx_result *parallel, const struct smx_result *serial)
{
	return difference_of(parallel, serial);
}

/* The serial search's counts, each followed by what several threads made of it. */
static void add_row(struct smxi_table *table, const char *name, const struct smx_counters *parallel,
                    const struct smx_counters *serial)
{
	smxi_table_add(table, name);
	for (size_t i = 0; i < WORKS; i++) {
		char number[SMXI_REPORT_TEXT], cell[SMXI_REPORT_TEXT + 40];
		const double overhead = smxi_overhead(work(parallel, i), work(serial, i));
		smxi_report_count(work(serial, i), number);
		if (isnan(overhead))
			snprintf(cell, sizeof cell, "%s       -", number);
		else
			snprintf(cell, sizeof cell, "%s %+6.1f%%", number, 100 * overhead);
		smxi_table_add(table, cell);
	}
}

void smxi_compare_print(const struct smx_result *parallel, const struct smx_result *serial)
{
	struct smxi_column columns[WORKS + 1] = {{"depth", false}};
	for (size_t i = 0; i < WORKS; i++)
		columns[i + 1] = (struct smxi_column){works[i].title, true};
	const char *difference = difference_of(parallel, serial);
	printf("\nserial     %.3f s", serial->time_ms / 1e3);
	if (parallel->time_ms > 0)
		printf(", speed-up %.2f", serial->time_ms / parallel->time_ms);
	if (difference)
		printf("; ANOTHER ANSWER: the %s differ%s\n\n", difference,
		       difference[strlen(difference) - 1] == 's' ? "" : "s");
	else
		printf("; the same answer; its work, and how much more several threads did:\n\n");
	struct smxi_table table = smxi_table(columns, WORKS + 1);
	for (unsigned i = 0; i < serial->iteration_count && i < parallel->iteration_count; i++) {
		char depth[24];
		snprintf(depth, sizeof depth, "%u", serial->iterations[i].depth_plies);
		add_row(&table, depth, &parallel->iterations[i].counters, &serial->iterations[i].counters);
	}
	add_row(&table, "all", &parallel->counters, &serial->counters);
	smxi_table_print(&table);
}

static json_t *json_overhead(const struct smx_counters *parallel, const struct smx_counters *serial)
{
	json_t *object = smxi_json(json_object());
	for (size_t i = 0; i < WORKS; i++) {
		const double overhead = smxi_overhead(work(parallel, i), work(serial, i));
		smxi_json_set(object, works[i].name, isnan(overhead) ? json_null() : json_real(overhead));
	}
	return object;
}

json_t *smxi_compare_json(const struct smx_result *parallel, const struct smx_result *serial)
{
	const char *difference = difference_of(parallel, serial);
	json_t *object = smxi_json(json_object()), *depths = smxi_json(json_array());
	smxi_json_set(object, "difference", difference ? json_string(difference) : json_null());
	smxi_json_set(object, "overhead", json_overhead(&parallel->counters, &serial->counters));
	smxi_json_set(object, "counters", smxi_json_counters(&serial->counters));
	smxi_json_set(object, "time_ms", json_real(serial->time_ms));
	for (unsigned i = 0; i < serial->iteration_count && i < parallel->iteration_count; i++) {
		const struct smx_iteration *depth = &serial->iterations[i];
		json_t *row = smxi_json(json_object());
		smxi_json_set(row, "depth", json_integer(depth->depth_plies));
		smxi_json_set(row, "overhead", json_overhead(&parallel->iterations[i].counters, &depth->counters));
		smxi_json_set(row, "counters", smxi_json_counters(&depth->counters));
		smxi_json_set(row, "time_ms", json_real(depth->time_ms));
		smxi_json_append(depths, row);
	}
	smxi_json_set(object, "depths", depths);
	return object;
}
