#define _POSIX_C_SOURCE 200809L

#include "cli/gnuplot.h"

#include "cli/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits for it to end; false where it failed, or is not there. */
static bool run_gnuplot(const char *argument, bool quietly)
{
	int status;
	fflush(NULL);
	const pid_t process = fork();
	if (process < 0)
		return false;
	if (!process) {
		const int nowhere = quietly ? open("/dev/null", O_WRONLY) : -1;
		/* What gnuplot prints must not get into the JSON. */
		dup2(quietly ? nowhere : STDERR_FILENO, STDOUT_FILENO);
		if (quietly)
			dup2(nowhere, STDERR_FILENO);
		execlp("gnuplot", "gnuplot", argument, (char *)NULL);
		_exit(127);
	}
	while (waitpid(process, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
	}
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static char *path_with(const char *prefix, const char *ending)
{
	char *path = smxi_allocate(strlen(prefix) + strlen(ending) + 1, 1);
	strcpy(path, prefix);
	return strcat(path, ending);
}

FILE *smxi_gnuplot_open(const char *prefix, const char *ending)
{
	char shown[200], *path = path_with(prefix, ending);
	FILE *file = fopen(path, "w");
	if (!file)
		smxi_error("cannot write %s: %s", smxi_printable(path, shown, sizeof shown), strerror(errno));
	free(path);
	return file;
}

bool smxi_gnuplot_close(FILE *file)
{
	const bool ok = !ferror(file);
	return !fclose(file) && ok;
}

bool smxi_gnuplot_is_there(void)
{
	return run_gnuplot("--version", true);
}

bool smxi_gnuplot_run(const char *prefix, const char *ending)
{
	char shown[200], *path = path_with(prefix, ending);
	const bool ok = run_gnuplot(path, false);
	if (!ok)
		smxi_error("gnuplot failed on %s", smxi_printable(path, shown, sizeof shown));
	free(path);
	return ok;
}
