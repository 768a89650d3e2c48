/* A file of positions, one a line: blank lines and lines that begin with # are skipped, and so is what follows a tab, as in a game that
 * starmax play has written. */
#ifndef SMXI_CLI_LINES_H
#define SMXI_CLI_LINES_H

#include "cli/command.h"

/* One position, without the space around it, and where it came from, printable. Returns false after an error message. */
typedef bool smxi_line_reader(void *context, const char *line, size_t length, const char *name, uint64_t number);

/* Read the file, or standard input for "-", until its end or an interrupt. A line that `read` refuses does not end it.
 * Returns SMXI_EXIT_INTERRUPTED, else SMXI_EXIT_FAILURE after any error message, else SMXI_EXIT_OK. */
enum smxi_exit smxi_lines_read(const char *path, smxi_line_reader *read, void *context);

#endif
