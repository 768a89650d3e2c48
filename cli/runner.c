/* for sched_setaffinity */
#undef _POSIX_C_SOURCE
#define _GNU_SOURCE 1

#include "cli/runner.h"

#include "cli/command.h"
#include "cli/engine.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#include <sys/prctl.h>
#endif

enum { LOOK_EVERY_MS = 2, LOOKS = 250 }; /* whether a runner's threads are asleep */

/* How long after the order all begin: enough for the last of them to hear of it. */
#define HEAD_START_MS      1.0
#define HEAD_START_EACH_MS 0.02

/* Long enough for the system to have woken all threads, on processors of their own. */
#define WARM_UP_MS         10.0

/* A process is asleep that used less than this share of one processor. */
#define ASLEEP_SHARE       0.05

static bool send_all(int socket, const void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		/* no SIGPIPE where the other process is gone */
		const ssize_t sent = send(socket, (const char *)data + done, size - done, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return false;
		done += (size_t)sent;
	}
	return true;
}

static bool receive_all(int socket, void *data, size_t size)
{
	for (size_t done = 0; done < size;) {
		const ssize_t got = recv(socket, (char *)data + done, size - done, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static double cpu_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void sleep_until(double moment_ms)
{
	struct timespec moment = {.tv_sec = (time_t)(moment_ms / 1e3)};
	moment.tv_nsec = (long)((moment_ms - (double)moment.tv_sec * 1e3) * 1e6);
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL) == EINTR)
		;
}

/* Idle threads of an OpenMP runtime spin before they sleep. */
static bool fall_asleep(void)
{
	for (unsigned look = 0; look < LOOKS; look++) {
		const double time_ms = smxi_clock_ms(), used_ms = cpu_ms();
		sleep_until(time_ms + LOOK_EVERY_MS);
		if (cpu_ms() - used_ms < ASLEEP_SHARE * (smxi_clock_ms() - time_ms))
			return true;
	}
	return false;
}

static struct smxi_measure measure(struct smx_search *search, const struct smx_position *position,
                                   const struct smx_search_options *options)
{
	struct smxi_measure taken = {.status = SMX_OK};
	const struct smx_result *result;
	const double from_ms = smxi_clock_ms(), used_ms = cpu_ms();
	taken.status = smx_search_run(search, position, options, &result, &taken.error);
	taken.time_ms = smxi_clock_ms() - from_ms;
	taken.cpu_ms = cpu_ms() - used_ms;
	if (taken.status == SMX_OK) {
		taken.answer = smxi_answer(result);
		taken.counters = result->counters;
		taken.sharing = result->sharing;
	}
	return taken;
}

/* The same search, broken off, and without the table, which it would fill: so its threads are awake, and the processor's clock rate is up. What
 * fails here fails in the search itself, too. */
static void warm_up(struct smx_search *search, const struct smx_position *position,
                    const struct smx_search_options *options)
{
	struct smx_search_options short_options = *options;
	const struct smx_result *result;
	struct smx_error error;
	short_options.table = NULL;
	short_options.time_limit_ms = WARM_UP_MS;
	smx_search_run(search, position, &short_options, &result, &error);
}

static bool is_binding_asked(void)
{
	static const char *const variables[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
	for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
		if (getenv(variables[i]))
			return true;
	}
	return false;
}

void smxi_runner_unbind(void)
{
#ifdef __linux__
	cpu_set_t all;
	if (!is_binding_asked())
		return;
	memset(&all, 0xff, sizeof all);
	sched_setaffinity(0, sizeof all, &all); /* those that there are, and that the container has */
#endif
}

void smxi_runner_machine(struct smx_parallel_machine *machine)
{
#ifdef __linux__
	cpu_set_t bound;
	const bool is_known = !sched_getaffinity(0, sizeof bound, &bound);
	smxi_runner_unbind();
#endif
	smx_parallel_machine(machine);
#ifdef __linux__
	/* What the runtime believes of this thread must stay true of those that are forked from it. */
	if (is_known)
		sched_setaffinity(0, sizeof bound, &bound);
#endif
}

#define ANYWHERE (-1)

/* What a runner is told first. */
struct order {
	size_t position;
	int pu; /* the processor to keep to, or ANYWHERE */
};

/* Where a process that has one thread runs; one that may run anywhere has left `now` as it was. */
static void keep_to(int pu, int *now)
{
#ifdef __linux__
	static cpu_set_t before;
	cpu_set_t place;
	if (pu == *now)
		return;
	if (*now == ANYWHERE && sched_getaffinity(0, sizeof before, &before))
		return;
	CPU_ZERO(&place);
	if (pu != ANYWHERE)
		CPU_SET((unsigned)pu, &place);
	sched_setaffinity(0, sizeof place, pu == ANYWHERE ? &before : &place);
#endif
	*now = pu;
}

/* The life of a runner: told a position and a place, it says that it is ready; told a moment, it begins then and says what it found. */
static void live(int socket, const struct smxi_runner_work *work, const struct smx_parallel_plan *plan)
{
	struct smx_search_options options = work->options;
	struct smx_error error = {0};
	if (work->hash_bytes && smx_table_create(work->hash_bytes, &options.table, &error) != SMX_OK) {
		smxi_error("%s", error.message);
		return;
	}
	if (!plan)
		smxi_runner_unbind();
	struct smxi_engine engine = plan ? smxi_engine_open_planned(work->game, plan) : smxi_engine_open(work->game, 1);
	if (options.table && plan)
		smx_parallel_place_table(engine.parallel, options.table);
	options.splitter = smx_parallel_splitter(engine.parallel);
	struct order order;
	double moment_ms = 0;
	int pu = ANYWHERE;
	while (receive_all(socket, &order, sizeof order)) {
		const struct smx_position *position = &work->positions[order.position];
		keep_to(order.pu, &pu);
		if (options.table)
			smx_table_clear(options.table);
		if (!send_all(socket, &order.position, sizeof order.position) ||
		    !receive_all(socket, &moment_ms, sizeof moment_ms))
			break;
		sleep_until(moment_ms);
		if (work->is_warm)
			warm_up(engine.search, position, &options);
		struct smxi_measure taken = measure(engine.search, position, &options);
		taken.spins = !fall_asleep();
		if (!send_all(socket, &taken, sizeof taken))
			break;
	}
	smxi_engine_close(&engine);
	smx_table_destroy(options.table);
}

bool smxi_runners_add(struct smxi_runners *runners, const struct smxi_runner_work *work,
                      const struct smx_parallel_plan *plan)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) {
		smxi_error("no socket for process %zu: %s", runners->count + 1, strerror(errno));
		return false;
	}
	runners->runner = smxi_reallocate(runners->runner, runners->count + 1, sizeof *runners->runner);
	fflush(NULL); /* or it would be written twice */
	const pid_t process = fork();
	if (process < 0) {
		smxi_error("no process %zu: %s", runners->count + 1, strerror(errno));
		close(ends[0]);
		close(ends[1]);
		return false;
	}
	if (!process) {
#ifdef __linux__
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* not to search on for nobody */
#endif
		/* Where another runner held these, the parent's end would not be seen. */
		for (size_t i = 0; i < runners->count; i++)
			close(runners->runner[i].socket);
		close(ends[0]);
		live(ends[1], work, plan);
		_exit(0);
	}
	close(ends[1]);
	runners->runner[runners->count++] = (struct smxi_runner){process, ends[0]};
	return true;
}

bool smxi_runners_measure(const struct smxi_runners *runners, size_t first, size_t count,
                          const struct smx_parallel_place *places, size_t position, struct smxi_measure *measures)
{
	const struct smxi_runner *runner = runners->runner + first;
	bool ok = true;
	for (size_t i = 0; i < count && ok; i++) {
		const struct order order = {position, places ? (int)places[i].pu : ANYWHERE};
		ok = send_all(runner[i].socket, &order, sizeof order);
	}
	for (size_t i = 0; i < count && ok; i++) {
		size_t ready;
		ok = receive_all(runner[i].socket, &ready, sizeof ready) && ready == position;
	}
	const double moment_ms = smxi_clock_ms() + HEAD_START_MS + (double)count * HEAD_START_EACH_MS;
	for (size_t i = 0; i < count && ok; i++)
		ok = send_all(runner[i].socket, &moment_ms, sizeof moment_ms);
	for (size_t i = 0; i < count && ok; i++)
		ok = receive_all(runner[i].socket, &measures[i], sizeof measures[i]);
	if (!ok) {
		smxi_error("a process that searches has ended");
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		if (measures[i].status != SMX_OK) {
			const char *message = measures[i].error.message;
			smxi_error("%s", *message ? message : smx_status_str(measures[i].status));
			return false;
		}
	}
	return true;
}

void smxi_runners_close(struct smxi_runners *runners)
{
	for (size_t i = 0; i < runners->count; i++)
		close(runners->runner[i].socket);
	for (size_t i = 0; i < runners->count; i++) {
		while (waitpid(runners->runner[i].process, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(runners->runner);
	*runners = (struct smxi_runners){0};
}
