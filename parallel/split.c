/* Searches on several threads, by OpenMP tasks. The only file with pragmas.
 *
 * One parallel region for each run: thread 0 has the search, the others wait at the region's end, where a runtime runs tasks. A task is
 * offered only where a thread is known to be idle, so none waits long and no queue grows. `omp cancel` is of no use here: it has to be
 * allowed by an environment variable before the program starts, and drops only tasks that have not begun.
 *
 * A function that contains a task pragma is compiled differently by clang even where no task is made: each has its own here. */
#include "core/split.h"

#include <starmax/parallel.h>

#include <stdlib.h>

#ifdef _OPENMP
#include <omp.h>
#endif

struct smx_parallel {
	struct smx_splitter splitter;
	struct smx_parallel_chunks **chunks; /* one a thread */
};

#ifdef _OPENMP

static void run(void *context, smxi_task *task, void *argument)
{
	const struct smx_parallel *parallel = context;
#pragma omp parallel num_threads(parallel->splitter.threads)
#pragma omp master
	task(argument);
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

static void run(void *context, smxi_task *task, void *argument)
{
	(void)context;
	task(argument);
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
	free(parallel);
}
