/* Back-ends of the search's seam (core/split.h) for tests: one on plain threads, which the thread sanitizer understands and which is there
 * in a library without OpenMP too, one that disturbs the threads of another, and one that counts what is asked of another. What cannot be ends the test by abort(). */
#ifndef TESTS_SUPPORT_THREADS_H
#define TESTS_SUPPORT_THREADS_H

#include "core/split.h"

#include <stdatomic.h>
#include <stdint.h>

enum { THREADS_MOST = 16 };

/* Threads that are started for each run and joined before it returns. */
struct threads;

/* jitter: the seed of yields, pauses and short waits wherever a thread is about to look at what threads share; 0: none. Serves one run at
 * a time; destroy with threads_destroy. */
struct threads *threads_create(unsigned count, uint64_t jitter);
const struct smx_splitter *threads_splitter(const struct threads *threads);
void threads_destroy(struct threads *threads);

/* Another back-end, its threads disturbed like those of threads_create with jitter. Valid as long as that one. */
struct smx_splitter threads_disturbed(const struct smx_splitter *inner);

/* Another back-end, counted. It must stay where it is while `splitter` is in use. */
struct threads_counted {
	struct smx_splitter splitter;
	const struct smx_splitter *inner;
	atomic_uint runs, offers;
	atomic_uint tasks[THREADS_MOST]; /* begun, by thread */
	atomic_uint chunks_taken, chunks_given_back;
	atomic_uint chunks_most; /* to take; further ones are refused. Without limit at first */
	struct threads_chunks {
		struct smx_chunk_source source;
		struct threads_counted *counted;
		const struct smx_chunk_source *inner; /* NULL: malloc */
	} chunks[THREADS_MOST];
};

void threads_count(struct threads_counted *counted, const struct smx_splitter *inner);

#endif
