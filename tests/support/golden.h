/*
 * Reads the golden data: tables of facts about the games, one row a line, columns separated by tabs, lines that begin
 * with # for people. tests/data/README.md says what each table states.
 *
 * Tables come from the folder `dicechess` of the complete data where that is there (the environment variable
 * SMX_GOLDEN, else the build's SMX_GOLDEN_DIR), otherwise from the extracts beside the tests; SMX_GOLDEN set to
 * nothing asks for the extracts. A name that begins with "2048/" is in that folder of either. A table that is missing or malformed ends the test by abort().
 */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>

enum { GOLDEN_COLUMNS = 64 };

struct golden_row {
	char *column[GOLDEN_COLUMNS];
	unsigned columns;
	size_t line;       /* in the file, from 1 */
	bool begins_group; /* the first of its group */
};

struct golden_file;

/* True where everything takes many times longer: without optimisation's NDEBUG, or with a sanitizer. */
bool golden_slow_build(void);

/* Open a table. Rows whose first group_columns columns are equal (at least 1) form a group; a slow build reads
 * every `every`-th group only, any other build all of them. */
struct golden_file *golden_open(const char *name, unsigned group_columns, unsigned every);

/* The next row, or false at the end. Columns are valid until golden_close. */
bool golden_next(struct golden_file *file, struct golden_row *row);

/* Say how many rows were checked, and close. False where none was: then the test has shown nothing. */
bool golden_close(struct golden_file *file, size_t checked);

/* The DFEN (six fields) of a row of positions.tsv by its id. Valid for ever. */
const char *golden_position(const char *id);

/* A column as a whole number. */
long long golden_number(const char *text);

#endif
