/* Gnuplot, where it is installed: files for it, and running it. */
#ifndef SMXI_CLI_GNUPLOT_H
#define SMXI_CLI_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

/* It is installed and runs. */
bool smxi_gnuplot_is_there(void);

/* The file `prefix` + `ending`, emptied, for writing; NULL after an error message. */
FILE *smxi_gnuplot_open(const char *prefix, const char *ending);

/* True where all that was written is in the file; else errno says why. */
bool smxi_gnuplot_close(FILE *file);

/* Run it on that file, and wait; what it prints goes to stderr. False after an error message. */
bool smxi_gnuplot_run(const char *prefix, const char *ending);

#endif
