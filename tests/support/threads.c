#include "tests/support/threads.h"

#include <starmax/random.h>

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct task {
	smxi_task *task;
	void *argument;
};

struct threads {
	struct smx_splitter splitter;
	uint64_t jitter, runs;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* under the lock; a search offers a task only where a thread is idle, so there are never more of them than that */
	struct task queue[THREADS_MOST];
	unsigned queued;
	bool ends;
};

struct thread {
	struct threads *threads;
	unsigned number;
	pthread_t thread;
};

static _Thread_local unsigned number;
static _Thread_local uint64_t seed; /* 0: a thread that is another back-end's and has not been disturbed yet */
static atomic_uint others_disturbed;

static void give_up(const char *what)
{
	fprintf(stderr, "threads: %s\n", what);
	abort();
}

static void become(const struct threads *threads, unsigned as)
{
	number = as;
	seed = threads->jitter + threads->runs * UINT64_C(0x9e3779b97f4a7c15) + as;
}

static void *serve(void *context)
{
	const struct thread *me = context;
	struct threads *threads = me->threads;
	become(threads, me->number);
	pthread_mutex_lock(&threads->lock);
	for (;;) {
		while (!threads->queued && !threads->ends)
			pthread_cond_wait(&threads->changed, &threads->lock);
		if (!threads->queued)
			break;
		const struct task task = threads->queue[--threads->queued];
		pthread_mutex_unlock(&threads->lock);
		task.task(task.argument);
		pthread_mutex_lock(&threads->lock);
	}
	pthread_mutex_unlock(&threads->lock);
	return NULL;
}

static void run(void *context, smxi_task *task, void *argument)
{
	struct threads *threads = context;
	struct thread others[THREADS_MOST] = {{.threads = threads}};
	threads->runs++;
	threads->ends = false;
	for (unsigned i = 1; i < threads->splitter.threads; i++) {
		others[i] = (struct thread){.threads = threads, .number = i};
		if (pthread_create(&others[i].thread, NULL, serve, &others[i]) != 0)
			give_up("no thread");
	}
	become(threads, 0);
	task(argument);
	pthread_mutex_lock(&threads->lock);
	threads->ends = true;
	pthread_cond_broadcast(&threads->changed);
	pthread_mutex_unlock(&threads->lock);
	for (unsigned i = 1; i < threads->splitter.threads; i++)
		pthread_join(others[i].thread, NULL);
}

static void offer(void *context, smxi_task *task, void *argument)
{
	struct threads *threads = context;
	pthread_mutex_lock(&threads->lock);
	if (threads->queued + 1 >= threads->splitter.threads)
		give_up("more tasks were offered than there are idle threads");
	threads->queue[threads->queued++] = (struct task){task, argument};
	pthread_cond_signal(&threads->changed);
	pthread_mutex_unlock(&threads->lock);
}

static unsigned thread(void *context)
{
	(void)context;
	return number;
}

/* Mostly nothing or a yield; now and then a wait that is long enough for others to do whole items. */
static void disturb(void *context)
{
	(void)context;
	if (!seed)
		seed = (atomic_fetch_add(&others_disturbed, 1) + 1) * UINT64_C(0x9e3779b97f4a7c15);
	const uint32_t draw = smx_random_below(&seed, 256);
	if (draw < 64) {
		sched_yield();
	} else if (draw < 80) {
		for (volatile unsigned i = 16u << draw % 8; i; i--)
			;
	} else if (draw == 80) {
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
	}
}

static const struct smx_chunk_source *chunks_of_malloc(void *context, unsigned thread_number)
{
	(void)context;
	(void)thread_number;
	return NULL;
}

struct threads *threads_create(unsigned count, uint64_t jitter)
{
	struct threads *threads = calloc(1, sizeof *threads);
	if (!threads || count < 1 || count > THREADS_MOST)
		give_up("no memory, or a wrong number");
	threads->splitter = (struct smx_splitter){
		.threads = count,
		.context = threads,
		.run = run,
		.offer = offer,
		.thread = thread,
		.switch_thread = jitter ? disturb : NULL,
		.chunks = chunks_of_malloc,
	};
	threads->jitter = jitter;
	pthread_mutex_init(&threads->lock, NULL);
	pthread_cond_init(&threads->changed, NULL);
	return threads;
}

const struct smx_splitter *threads_splitter(const struct threads *threads)
{
	return &threads->splitter;
}

void threads_destroy(struct threads *threads)
{
	pthread_cond_destroy(&threads->changed);
	pthread_mutex_destroy(&threads->lock);
	free(threads);
}

struct smx_splitter threads_disturbed(const struct smx_splitter *inner)
{
	struct smx_splitter splitter = *inner;
	splitter.switch_thread = disturb;
	return splitter;
}

/* ---- counted ---- */

static void run_counted(void *context, smxi_task *task, void *argument)
{
	struct threads_counted *counted = context;
	atomic_fetch_add(&counted->runs, 1);
	counted->inner->run(counted->inner->context, task, argument);
}

static void offer_counted(void *context, smxi_task *task, void *argument)
{
	struct threads_counted *counted = context;
	atomic_fetch_add(&counted->offers, 1);
	counted->inner->offer(counted->inner->context, task, argument);
}

/* A task asks for its thread once, when it begins. */
static unsigned thread_counted(void *context)
{
	struct threads_counted *counted = context;
	const unsigned found = counted->inner->thread(counted->inner->context);
	if (found >= counted->splitter.threads)
		give_up("a thread beyond their number");
	atomic_fetch_add(&counted->tasks[found], 1);
	return found;
}

static void switch_counted(void *context)
{
	const struct threads_counted *counted = context;
	counted->inner->switch_thread(counted->inner->context);
}

static void *take_chunk(void *context, size_t size_bytes)
{
	const struct threads_chunks *chunks = context;
	if (atomic_load(&chunks->counted->chunks_taken) >= atomic_load(&chunks->counted->chunks_most))
		return NULL;
	atomic_fetch_add(&chunks->counted->chunks_taken, 1);
	return chunks->inner ? chunks->inner->acquire(chunks->inner->context, size_bytes)
	                     : aligned_alloc(SMX_CACHE_LINE, size_bytes);
}

static void give_chunk_back(void *context, void *chunk, size_t size_bytes)
{
	const struct threads_chunks *chunks = context;
	atomic_fetch_add(&chunks->counted->chunks_given_back, 1);
	if (chunks->inner)
		chunks->inner->release(chunks->inner->context, chunk, size_bytes);
	else
		free(chunk);
}

static const struct smx_chunk_source *chunks_counted(void *context, unsigned thread_number)
{
	struct threads_counted *counted = context;
	struct threads_chunks *chunks = &counted->chunks[thread_number];
	chunks->source = (struct smx_chunk_source){take_chunk, give_chunk_back, chunks};
	chunks->counted = counted;
	chunks->inner = counted->inner->chunks(counted->inner->context, thread_number);
	return &chunks->source;
}

void threads_count(struct threads_counted *counted, const struct smx_splitter *inner)
{
	if (inner->threads > THREADS_MOST)
		give_up("too many to count");
	*counted = (struct threads_counted){.inner = inner, .chunks_most = UINT_MAX};
	counted->splitter = (struct smx_splitter){
		.threads = inner->threads,
		.context = counted,
		.run = run_counted,
		.offer = offer_counted,
		.thread = thread_counted,
		.switch_thread = inner->switch_thread ? switch_counted : NULL,
		.chunks = chunks_counted,
	};
}
