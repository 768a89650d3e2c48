/* How results are shown: values, numbers and tables as text, and JSON. */
#ifndef SMXI_CLI_REPORT_H
#define SMXI_CLI_REPORT_H

#include <starmax/starmax.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What this program was compiled by. */
#if defined(__clang__)
#define SMXI_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define SMXI_COMPILER "gcc " __VERSION__
#else
#define SMXI_COMPILER "unknown"
#endif

#define SMXI_REPORT_TEXT 80 /* bytes that hold any number below as text */

/* A value in the evaluator's unit, rounded to digits that matter: six decimals for units of the size of a
 * probability, else two. */
const char *smxi_report_value(smx_value value, const struct smx_evaluator *evaluator, char text[SMXI_REPORT_TEXT]);

/* A whole number with commas between thousands. */
const char *smxi_report_count(uint64_t number, char text[SMXI_REPORT_TEXT]);

/* A number with commas and one decimal. |number| < 1e15. */
const char *smxi_report_real(double number, char text[SMXI_REPORT_TEXT]);

/* "64.0 MiB" */
const char *smxi_report_bytes(uint64_t bytes, char text[SMXI_REPORT_TEXT]);

/* "12.35% (26.68/216)" of a weight that may be a whole number or not. */
const char *smxi_report_share(int64_t weight, uint32_t total, char text[SMXI_REPORT_TEXT]);

/* Names of a game's things, in its notation. */
const char *smxi_report_turn(const struct smx_game *game, const struct smx_turn *turn, char text[SMX_TEXT_MAX]);
const char *smxi_report_state(const struct smx_game *game, const void *state, char text[SMX_TEXT_MAX]);

/* A table: columns as wide as their widest cell, two spaces between them. */
struct smxi_column {
	const char *title;
	bool right; /* aligned to the right */
};

struct smxi_table {
	const struct smxi_column *columns;
	size_t column_count;
	char **cells; /* row by row */
	size_t cell_count, cell_room;
};

/* An empty table; columns are borrowed while it lives. */
struct smxi_table smxi_table(const struct smxi_column *columns, size_t column_count);
/* The next cell, copied; the first of a new row once the last one is full. */
void smxi_table_add(struct smxi_table *table, const char *cell);
/* Print it on stdout and free it. */
void smxi_table_print(struct smxi_table *table);

/* JSON by Jansson. Values are stolen; a failed allocation ends the program. */
json_t *smxi_json(json_t *value);
void smxi_json_set(json_t *object, const char *name, json_t *value);
void smxi_json_append(json_t *array, json_t *value);
json_t *smxi_json_count(uint64_t number);
/* A value in its evaluator's unit as a real, correctly rounded. */
json_t *smxi_json_value(smx_value value, unsigned scale_bits);
/* The same as an integer where it is whole. */
json_t *smxi_json_number(smx_value value, unsigned scale_bits);
json_t *smxi_json_counters(const struct smx_counters *counters);
/* One line, its newline included, to be freed; `value` is released. */
char *smxi_json_line(json_t *value);
/* One line on stdout, flushed; `value` is released. */
void smxi_json_print(json_t *value);

/* Every counter with its name, in order: text and JSON list them alike. */
struct smxi_counter {
	const char *name;
	size_t offset;
};
extern const struct smxi_counter smxi_counters[];
extern const size_t smxi_counter_count;
uint64_t smxi_counter_read(const struct smx_counters *counters, size_t index);

#endif
