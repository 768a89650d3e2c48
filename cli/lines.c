#define _POSIX_C_SOURCE 200809L

#include "cli/lines.h"

#include "cli/interrupt.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum smxi_exit smxi_lines_read(const char *path, smxi_line_reader *read, void *context)
{
	char name[200];
	bool is_stdin = !strcmp(path, "-");
	smxi_printable(is_stdin ? "stdin" : path, name, sizeof name);
	FILE *file = is_stdin ? stdin : fopen(path, "r");
	if (!file) {
		smxi_error("cannot open %s: %s", name, strerror(errno));
		return SMXI_EXIT_FAILURE;
	}
	enum smxi_exit status = SMXI_EXIT_OK;
	char *line = NULL;
	size_t room = 0;
	for (uint64_t number = 1; !smxi_interrupt_requested(); number++) {
		errno = 0;
		ssize_t got = getline(&line, &room, file);
		if (got < 0)
			break;
		const char *tab = memchr(line, '\t', (size_t)got);
		size_t length = tab ? (size_t)(tab - line) : (size_t)got, begin = 0;
		while (length && isspace((unsigned char)line[length - 1]))
			length--;
		while (begin < length && isspace((unsigned char)line[begin]))
			begin++;
		if (begin == length || line[begin] == '#')
			continue;
		if (!read(context, line + begin, length - begin, name, number))
			status = SMXI_EXIT_FAILURE;
	}
	if (smxi_interrupt_requested()) {
		status = SMXI_EXIT_INTERRUPTED;
	} else if (!feof(file)) {
		smxi_error("cannot read %s: %s", name, strerror(errno));
		status = SMXI_EXIT_FAILURE;
	}
	free(line);
	if (!is_stdin)
		fclose(file);
	return status;
}
