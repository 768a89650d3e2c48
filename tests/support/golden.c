#include "tests/support/golden.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct golden_file {
	char path[4096];
	char *text, *next;
	size_t line, groups;
	unsigned group_columns, every;
	char group[256]; /* the columns that the last row's group has in common */
};

static _Noreturn void give_up(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("golden data: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	abort();
}

bool golden_slow_build(void)
{
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
	return true;
#else
	return false;
#endif
#else
	return false;
#endif
}

static bool can_read(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (file)
		fclose(file);
	return file != NULL;
}

/* The complete data wins as a whole: a table that it lacks is an error, not a reason to take an extract. */
static void find(char *path, size_t size, const char *name)
{
	const char *chosen = getenv("SMX_GOLDEN");
	const char *folder = chosen ? chosen : SMX_GOLDEN_DIR;
	const char *game = strncmp(name, "2048/", strlen("2048/")) == 0 ? "" : "dicechess/";
	snprintf(path, size, "%s/dicechess/positions.tsv", folder);
	if (chosen ? *chosen != '\0' : can_read(path))
		snprintf(path, size, "%s/%s%s", folder, game, name);
	else
		snprintf(path, size, "%s/%s", SMX_TEST_DATA, name);
}

static char *read_all(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		give_up("cannot open %s", path);
	size_t length = 0, room = 1 << 16;
	char *text = malloc(room + 1);
	for (size_t got; text && (got = fread(text + length, 1, room - length, file)) > 0;) {
		length += got;
		if (length == room)
			text = realloc(text, (room *= 2) + 1);
	}
	if (!text || ferror(file))
		give_up("cannot read %s", path);
	fclose(file);
	text[length] = '\0';
	return text;
}

struct golden_file *golden_open(const char *name, unsigned group_columns, unsigned every)
{
	struct golden_file *file = calloc(1, sizeof *file);
	if (!file)
		give_up("no memory");
	find(file->path, sizeof file->path, name);
	file->text = file->next = read_all(file->path);
	file->group_columns = group_columns;
	file->every = golden_slow_build() ? every : 1;
	return file;
}

static void split(struct golden_file *file, char *line, struct golden_row *row)
{
	row->columns = 0;
	for (char *column = line; column;) {
		char *tab = strchr(column, '\t');
		if (row->columns == GOLDEN_COLUMNS)
			give_up("%s:%zu: too many columns", file->path, file->line);
		row->column[row->columns++] = column;
		if (tab)
			*tab++ = '\0';
		column = tab;
	}
	if (row->columns < file->group_columns)
		give_up("%s:%zu: too few columns", file->path, file->line);
}

bool golden_next(struct golden_file *file, struct golden_row *row)
{
	while (*file->next) {
		char *line = file->next, *end = strchr(line, '\n');
		file->next = end ? end + 1 : line + strlen(line);
		if (end)
			*end = '\0';
		file->line++;
		if (*line == '#' || *line == '\0')
			continue;
		split(file, line, row);
		char group[sizeof file->group] = "";
		for (unsigned i = 0; i < file->group_columns; i++) {
			strncat(group, row->column[i], sizeof group - strlen(group) - 1);
			strncat(group, "\t", sizeof group - strlen(group) - 1);
		}
		row->line = file->line;
		row->begins_group = strcmp(group, file->group) != 0;
		file->groups += row->begins_group;
		strcpy(file->group, group);
		if ((file->groups - 1) % file->every == 0)
			return true;
	}
	return false;
}

bool golden_close(struct golden_file *file, size_t checked)
{
	printf("%s: %zu rows checked\n", file->path, checked);
	fflush(stdout);
	free(file->text);
	free(file);
	return checked > 0;
}

const char *golden_position(const char *id)
{
	static struct golden_row *rows;
	static size_t count;
	if (!rows) {
		struct golden_file *file = golden_open("positions.tsv", 1, 1);
		size_t room = 0;
		for (struct golden_row row; golden_next(file, &row);) {
			if (count == room)
				rows = realloc(rows, (room = 2 * room + 64) * sizeof *rows);
			if (!rows || row.columns < 2)
				give_up("%s:%zu: not a position", file->path, row.line);
			rows[count++] = row;
		}
		/* the file stays open: its text is the rows' */
	}
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].column[0], id) == 0)
			return rows[i].column[1];
	give_up("no position %s", id);
}

long long golden_number(const char *text)
{
	char *end;
	const long long number = strtoll(text, &end, 10);
	if (end == text || *end)
		give_up("\"%s\" is not a whole number", text);
	return number;
}
