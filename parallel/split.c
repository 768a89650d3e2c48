/* Searches on several threads, by OpenMP tasks. The only file with pragmas.
 *
 * One parallel region for each run: thread 0 has the search, the others wait at the region's end, where a runtime runs tasks. A task is
 * offered only where a thread is known to be idle, so none waits long and no queue grows. `omp cancel` is of no use here: it has to be
 * allowed by an environment variable before the program starts, and drops only tasks that have not begun.
 *
 * A function that contains a task pragma is compiled differently by clang even where no task is made: each has its own here. */
#define _GNU_SOURCE /* sched_setaffinity */

#include "core/split.h"
#include "parallel/topology.h"

#include <starmax/parallel.h>
#include <starmax/table.h>

#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

/* Below that, finding out about the machine takes longer than what is gained. */
#define TABLE_WORTH_PLACING ((size_t)64 << 20)

struct smx_parallel {
	struct smx_splitter splitter;
	struct smx_parallel_chunks **chunks; /* one a thread */
	struct smx_parallel_plan *plan; /* completed when its places are first needed; NULL: none, they are not bound */
	bool has_run;                   /* there are threads, if asleep */
};

static void complete(struct smx_parallel *parallel)
{
	if (!parallel->plan->is_complete)
		smxi_plan_complete(parallel->plan);
}

#ifdef _OPENMP

/* Bind the calling thread to its place; false where it keeps its mask, else *before is what it had. A region of one
 * thread is what a caller gets who runs several searches on threads of his own: they must not all go to one place. */
static bool bind_thread(const struct smx_parallel *parallel, cpu_set_t *before)
{
	const struct smx_parallel_plan *plan = parallel->plan;
	if (!plan || plan->bind == SMX_BIND_NONE || omp_get_num_threads() == 1)
		return false;
	cpu_set_t place;
	CPU_ZERO(&place);
	CPU_SET(plan->places[omp_get_thread_num()].pu, &place);
	return sched_getaffinity(0, sizeof *before, before) == 0 && sched_setaffinity(0, sizeof place, &place) == 0;
}

/* A new thread often begins on the processor of the one that makes it, which waits for it without giving way for up to five milliseconds. */
static double worth_ms(void *context)
{
	const struct smx_parallel *parallel = context;
	return parallel->has_run ? 0.5 : 10;
}

static void run(void *context, smxi_task *task, void *argument)
{
	struct smx_parallel *parallel = context;
	parallel->has_run = true;
	if (parallel->plan && parallel->plan->bind != SMX_BIND_NONE)
		complete(parallel); /* on the calling thread, before it is bound */
#pragma omp parallel num_threads(parallel->splitter.threads)
	{
		cpu_set_t before;
		const bool is_bound = bind_thread(parallel, &before);
#pragma omp master
		task(argument);
		/* Here tasks are run. The region's own end would do for that, but then the threads would stay bound for the
		 * program's other regions, which run on them too. */
#pragma omp barrier
		if (is_bound)
			sched_setaffinity(0, sizeof before, &before);
	}
}

void smxi_touch(const struct smx_parallel *parallel, void *start, size_t size_bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t count = (size_bytes + page - 1) / page;
#pragma omp parallel for num_threads(parallel->splitter.threads) schedule(static)
	for (size_t i = 0; i < count; i++)
		__atomic_fetch_or((unsigned char *)start + i * page, 0, __ATOMIC_RELAXED); /* a write that changes nothing */
}

static void offer(void *context, smxi_task *task, void *argument)
{
	(void)context;
#pragma omp task firstprivate(task, argument)
	task(argument);
}

static unsigned thread(void *context)
{
	(void)context;
	return (unsigned)omp_get_thread_num();
}

static unsigned threads_most(void)
{
	return (unsigned)omp_get_thread_limit();
}

#else

static double worth_ms(void *context)
{
	(void)context;
	return 0;
}

static void run(void *context, smxi_task *task, void *argument)
{
	(void)context;
	task(argument);
}

void smxi_touch(const struct smx_parallel *parallel, void *start, size_t size_bytes)
{
	(void)parallel, (void)start, (void)size_bytes;
}

static void offer(void *context, smxi_task *task, void *argument)
{
	(void)context;
	task(argument);
}

static unsigned thread(void *context)
{
	(void)context;
	return 0;
}

static unsigned threads_most(void)
{
	return 1;
}

#endif

static const struct smx_chunk_source *chunks_of(void *context, unsigned number)
{
	const struct smx_parallel *parallel = context;
	return smx_parallel_chunks_source(parallel->chunks[number]);
}

enum smx_status smx_parallel_create(unsigned threads, struct smx_parallel **parallel)
{
	if (threads < 1 || threads > SMX_PARALLEL_THREADS_MAX || threads > threads_most())
		return SMX_ERR_ARGUMENT;
	struct smx_parallel *made = calloc(1, sizeof *made);
	if (!made)
		return SMX_ERR_MEMORY;
	made->splitter = (struct smx_splitter){
		.threads = threads,
		.context = made,
		.run = run,
		.worth_ms = worth_ms,
		.offer = offer,
		.thread = thread,
		.chunks = chunks_of,
	};
	made->chunks = calloc(threads, sizeof(struct smx_parallel_chunks *));
	enum smx_status status = made->chunks ? SMX_OK : SMX_ERR_MEMORY;
	for (unsigned i = 0; i < threads && status == SMX_OK; i++)
		status = smx_parallel_chunks_create(&made->chunks[i]);
	if (status != SMX_OK) {
		smx_parallel_destroy(made);
		return status;
	}
	*parallel = made;
	return SMX_OK;
}

enum smx_status smx_parallel_create_planned(const struct smx_parallel_plan *plan, struct smx_parallel **parallel)
{
	struct smx_parallel *made;
	const enum smx_status status = smx_parallel_create(plan->threads, &made);
	if (status != SMX_OK)
		return status;
	made->plan = malloc(sizeof *made->plan);
	if (!made->plan) {
		smx_parallel_destroy(made);
		return SMX_ERR_MEMORY;
	}
	*made->plan = *plan;
	*parallel = made;
	return SMX_OK;
}

const struct smx_parallel_plan *smx_parallel_plan_of(const struct smx_parallel *parallel)
{
	return parallel ? parallel->plan : NULL;
}

struct placing {
	struct smx_parallel *parallel;
	bool is_spread;
};

static void place_area(void *context, void *start, size_t size_bytes)
{
	struct placing *placing = context;
	if (size_bytes < TABLE_WORTH_PLACING)
		return;
	complete(placing->parallel);
	placing->is_spread = placing->parallel->plan->numa_nodes > 1 && smxi_interleave(start, size_bytes);
	if (placing->is_spread)
		smxi_touch(placing->parallel, start, size_bytes);
}

bool smx_parallel_place_table(struct smx_parallel *parallel, struct smx_table *table)
{
	struct placing placing = {parallel, false};
	if (parallel && parallel->plan && parallel->splitter.threads > 1)
		smx_table_place(table, place_area, &placing);
	return placing.is_spread;
}

const struct smx_splitter *smx_parallel_splitter(const struct smx_parallel *parallel)
{
	return parallel ? &parallel->splitter : NULL;
}

void smx_parallel_destroy(struct smx_parallel *parallel)
{
	if (!parallel)
		return;
	for (unsigned i = 0; parallel->chunks && i < parallel->splitter.threads; i++)
		smx_parallel_chunks_destroy(parallel->chunks[i]);
	free(parallel->chunks);
	free(parallel->plan);
	free(parallel);
}
