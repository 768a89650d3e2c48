#define _POSIX_C_SOURCE 200809L

#include "cli/report.h"

#include "cli/command.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER(field)                               \
	{                                                \
#field, offsetof(struct smx_counters, field) \
	}

const struct smxi_counter smxi_counters[] = {
	COUNTER(turns),
	COUNTER(candidates),
	COUNTER(candidates_completed),
	COUNTER(candidates_abandoned),
	COUNTER(chance_nodes),
	COUNTER(frames),
	COUNTER(outcomes),
	COUNTER(outcomes_decided),
	COUNTER(outcomes_folded),
	COUNTER(outcomes_saved),
	COUNTER(afterstates),
	COUNTER(probes),
	COUNTER(leaf_evaluations),
	COUNTER(order_evaluations),
	COUNTER(prerank_evaluations),
	COUNTER(rescore_evaluations),
	COUNTER(cutoffs_low),
	COUNTER(cutoffs_high),
	COUNTER(cutoffs_probe),
	COUNTER(cutoffs_decided),
	COUNTER(cutoffs_etc),
	COUNTER(cutoffs_table),
	COUNTER(settled_stage_0),
	COUNTER(settled_stage_1),
	COUNTER(settled_stage_2),
	COUNTER(settled_stage_3),
	COUNTER(table_probes),
	COUNTER(table_hits),
	COUNTER(table_stores),
	COUNTER(table_conflicts),
	COUNTER(tasks),
	COUNTER(tasks_stopped),
	COUNTER(bounds_from_tasks),
	COUNTER(outcomes_sampled_away),
	COUNTER(branches_cut),
};
const size_t smxi_counter_count = sizeof smxi_counters / sizeof smxi_counters[0];
_Static_assert(sizeof smxi_counters / sizeof smxi_counters[0] == SMX_COUNTERS, "every counter is shown");

uint64_t smxi_counter_read(const struct smx_counters *counters, size_t index)
{
	uint64_t number;
	memcpy(&number, (const char *)counters + smxi_counters[index].offset, sizeof number);
	return number;
}

/* Exact where |value| < 2^53; dividing by a power of two rounds no further. */
static double to_real(smx_value value, unsigned scale_bits)
{
	return (double)value / (double)(UINT64_C(1) << scale_bits);
}

const char *smxi_report_value(smx_value value, const struct smx_evaluator *evaluator, char text[SMXI_REPORT_TEXT])
{
	smx_value ten = (smx_value)10 << evaluator->scale_bits;
	bool fine = evaluator->lo > -ten && evaluator->hi < ten;
	snprintf(text, SMXI_REPORT_TEXT, "%.*f", fine ? 6 : 2, to_real(value, evaluator->scale_bits));
	return text;
}

const char *smxi_report_count(uint64_t number, char text[SMXI_REPORT_TEXT])
{
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, number), used = 0;
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
	return text;
}

const char *smxi_report_real(double number, char text[SMXI_REPORT_TEXT])
{
	const uint64_t tenths = (uint64_t)((number < 0 ? -number : number) * 10 + 0.5);
	const bool is_negative = number < 0 && tenths;
	text[0] = '-';
	smxi_report_count(tenths / 10, text + is_negative);
	const size_t length = strlen(text);
	snprintf(text + length, SMXI_REPORT_TEXT - length, ".%u", (unsigned)(tenths % 10));
	return text;
}

const char *smxi_report_bytes(uint64_t bytes, char text[SMXI_REPORT_TEXT])
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;
	while (unit + 1 < sizeof units / sizeof units[0] && bytes >> (10 * (unit + 2)))
		unit++;
	snprintf(text, SMXI_REPORT_TEXT, "%.1f %s", (double)bytes / (double)(UINT64_C(1) << (10 * (unit + 1))),
	         units[unit]);
	return text;
}

const char *smxi_report_share(int64_t weight, uint32_t total, char text[SMXI_REPORT_TEXT])
{
	snprintf(text, SMXI_REPORT_TEXT, "%.2f%% (%" PRId64 "/%" PRIu32 ")", 100.0 * (double)weight / (double)total, weight,
	         total);
	return text;
}

const char *smxi_report_turn(const struct smx_game *game, const struct smx_turn *turn, char text[SMX_TEXT_MAX])
{
	game->format_turn(turn, text);
	return text;
}

const char *smxi_report_state(const struct smx_game *game, const void *state, char text[SMX_TEXT_MAX])
{
	struct smx_position position = {.outcome = SMX_NO_OUTCOME};
	memcpy(position.state, state, game->state_size);
	game->format(&position, text);
	return text;
}

struct smxi_table smxi_table(const struct smxi_column *columns, size_t column_count)
{
	return (struct smxi_table){.columns = columns, .column_count = column_count};
}

void smxi_table_add(struct smxi_table *table, const char *cell)
{
	if (table->cell_count == table->cell_room) {
		table->cell_room = table->cell_room ? table->cell_room * 2 : 64;
		table->cells = smxi_reallocate(table->cells, table->cell_room, sizeof *table->cells);
	}
	char *copy = strdup(cell);
	if (!copy)
		smxi_out_of_memory();
	table->cells[table->cell_count++] = copy;
}

static void print_cell(const struct smxi_table *table, size_t column, const char *cell, size_t width)
{
	bool last = column + 1 == table->column_count;
	if (table->columns[column].right)
		printf("%*s%s", (int)width, cell, last ? "\n" : "  ");
	else if (last)
		printf("%s\n", cell);
	else
		printf("%-*s  ", (int)width, cell);
}

void smxi_table_print(struct smxi_table *table)
{
	assert(table->cell_count % table->column_count == 0);
	size_t *width = smxi_allocate(table->column_count, sizeof *width);
	for (size_t c = 0; c < table->column_count; c++)
		width[c] = strlen(table->columns[c].title);
	for (size_t i = 0; i < table->cell_count; i++) {
		size_t length = strlen(table->cells[i]), c = i % table->column_count;
		if (length > width[c])
			width[c] = length;
	}
	for (size_t c = 0; c < table->column_count; c++)
		print_cell(table, c, table->columns[c].title, width[c]);
	for (size_t i = 0; i < table->cell_count; i++) {
		print_cell(table, i % table->column_count, table->cells[i], width[i % table->column_count]);
		free(table->cells[i]);
	}
	free(width);
	free(table->cells);
	table->cells = NULL;
	table->cell_count = table->cell_room = 0;
}

json_t *smxi_json(json_t *value)
{
	if (!value)
		smxi_out_of_memory();
	return value;
}

void smxi_json_set(json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value))
		smxi_out_of_memory();
}

void smxi_json_append(json_t *array, json_t *value)
{
	if (json_array_append_new(array, value))
		smxi_out_of_memory();
}

json_t *smxi_json_count(uint64_t number)
{
	return smxi_json(json_integer((json_int_t)number));
}

json_t *smxi_json_value(smx_value value, unsigned scale_bits)
{
	return smxi_json(json_real(to_real(value, scale_bits)));
}

json_t *smxi_json_number(smx_value value, unsigned scale_bits)
{
	smx_value one = (smx_value)1 << scale_bits;
	return value % one ? smxi_json_value(value, scale_bits) : smxi_json(json_integer(value / one));
}

json_t *smxi_json_counters(const struct smx_counters *counters)
{
	json_t *object = smxi_json(json_object());
	for (size_t i = 0; i < smxi_counter_count; i++)
		smxi_json_set(object, smxi_counters[i].name, smxi_json_count(smxi_counter_read(counters, i)));
	return object;
}

#define JSON_FLAGS (JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII)

char *smxi_json_line(json_t *value)
{
	char *line = json_dumps(value, JSON_FLAGS);
	if (!line)
		smxi_out_of_memory();
	const size_t length = strlen(line);
	line = smxi_reallocate(line, length + 2, 1);
	strcpy(line + length, "\n");
	json_decref(value);
	return line;
}

void smxi_json_print(json_t *value)
{
	/* A failed write leaves its mark on stdout, which main looks at before it exits. */
	if (json_dumpf(value, stdout, JSON_FLAGS) && !ferror(stdout))
		smxi_out_of_memory();
	putchar('\n');
	fflush(stdout);
	json_decref(value);
}
