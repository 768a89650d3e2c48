#define _POSIX_C_SOURCE 200809L

#include "cli/checkpoint.h"

#include "cli/command.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool save(const struct smxi_checkpoint *checkpoint, bool tells)
{
	char shown[200];
	struct smx_error error = {0};
	const enum smx_status status =
		smx_table_save(checkpoint->table, checkpoint->path, checkpoint->game, checkpoint->evaluator, &error);
	if (status != SMX_OK && tells)
		smxi_error("%s: %s", smxi_printable(checkpoint->path, shown, sizeof shown),
		           *error.message ? error.message : smx_status_str(status));
	return status == SMX_OK;
}

bool smxi_checkpoint_save(const struct smxi_checkpoint *checkpoint)
{
	return save(checkpoint, true);
}

/* Under the lock: sleep until the next save is due; false where none is, because the search has ended. */
static bool wait_for_next(struct smxi_checkpoint *checkpoint)
{
	enum { MS = 1000, NS_PER_MS = 1000000 };
	struct timespec due;
	clock_gettime(CLOCK_MONOTONIC, &due);
	const uint64_t ms = checkpoint->every_ms + (uint64_t)due.tv_nsec / NS_PER_MS;
	due.tv_sec += (time_t)(ms / MS);
	due.tv_nsec = (long)(ms % MS) * NS_PER_MS + due.tv_nsec % NS_PER_MS;
	int number = 0;
	while (!checkpoint->ends && number != ETIMEDOUT)
		number = pthread_cond_timedwait(&checkpoint->wake, &checkpoint->lock, &due);
	return !checkpoint->ends;
}

static void *save_from_time_to_time(void *argument)
{
	struct smxi_checkpoint *checkpoint = argument;
	bool failed = false;
	pthread_mutex_lock(&checkpoint->lock);
	while (wait_for_next(checkpoint)) {
		pthread_mutex_unlock(&checkpoint->lock);
		failed = !save(checkpoint, !failed);
		checkpoint->saves += !failed;
		pthread_mutex_lock(&checkpoint->lock);
	}
	pthread_mutex_unlock(&checkpoint->lock);
	return NULL;
}

bool smxi_checkpoint_begin(struct smxi_checkpoint *checkpoint)
{
	if (!checkpoint->path)
		return true;
	checkpoint->ends = false;
	pthread_condattr_t attributes;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&checkpoint->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&checkpoint->lock, NULL);
	/* signals are for the thread that searches */
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	const int number = pthread_create(&checkpoint->thread, NULL, save_from_time_to_time, checkpoint);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (number == 0)
		return true;
	pthread_cond_destroy(&checkpoint->wake);
	pthread_mutex_destroy(&checkpoint->lock);
	return false;
}

void smxi_checkpoint_end(struct smxi_checkpoint *checkpoint)
{
	if (!checkpoint->path)
		return;
	pthread_mutex_lock(&checkpoint->lock);
	checkpoint->ends = true;
	pthread_cond_signal(&checkpoint->wake);
	pthread_mutex_unlock(&checkpoint->lock);
	pthread_join(checkpoint->thread, NULL);
	pthread_cond_destroy(&checkpoint->wake);
	pthread_mutex_destroy(&checkpoint->lock);
}

/* Whether a file name is that of a save to `base` (tt/tt.c: base.PID-N.tmp) which nobody is at any more. The process may have had this
 * one's number: in a container they repeat. */
static bool is_left_over(const char *name, const char *base)
{
	const size_t length = strlen(base);
	long process;
	unsigned attempt;
	char again[64];
	if (strncmp(name, base, length) != 0 || sscanf(name + length, ".%ld-%u.tmp", &process, &attempt) != 2)
		return false;
	snprintf(again, sizeof again, ".%ld-%u.tmp", process, attempt);
	if (strcmp(name + length, again) != 0 || process <= 0)
		return false;
	return process == (long)getpid() || (kill((pid_t)process, 0) != 0 && errno == ESRCH);
}

void smxi_checkpoint_clean(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	const size_t length = (size_t)(base - path);
	char *directory = smxi_allocate(length + 2, 1);
	memcpy(directory, length ? path : ".", length ? length : 1);
	DIR *open = opendir(directory);
	for (const struct dirent *entry; open && (entry = readdir(open));) {
		if (!is_left_over(entry->d_name, base))
			continue;
		char *name = smxi_allocate(length + strlen(entry->d_name) + 1, 1);
		memcpy(name, path, length);
		strcpy(name + length, entry->d_name);
		unlink(name);
		free(name);
	}
	if (open)
		closedir(open);
	free(directory);
}
