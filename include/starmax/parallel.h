/* The machine: what it is made of, and memory for arenas that threads do not fight over. */
#ifndef STARMAX_PARALLEL_H
#define STARMAX_PARALLEL_H

#include <starmax/arena.h>
#include <starmax/status.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Chunks from one jemalloc arena of their own: nothing else allocates there, no thread caches them, and destroying
 * the object gives all of them back at once. One object per search. Safe from several threads. */
struct smx_parallel_chunks;
struct smx_splitter;

/* Make one. In a library built without jemalloc *chunks is set to NULL, which stands for malloc below: the caller need
 * not know (smx_parallel_machine tells). SMX_ERR_MEMORY where jemalloc has no further arena; *chunks is then untouched.
 * Thread-safe. */
enum smx_status smx_parallel_chunks_create(struct smx_parallel_chunks **chunks);

/* What to pass to smx_search_create or smx_arena_create, valid until the object is destroyed; NULL for NULL. */
const struct smx_chunk_source *smx_parallel_chunks_source(const struct smx_parallel_chunks *chunks);

/* Destroy the object and the jemalloc arena with whatever was taken from it: first destroy whoever took it. NULL is
 * fine. */
void smx_parallel_chunks_destroy(struct smx_parallel_chunks *chunks);

/* Threads for searches, each with chunks of its own. Searches that have them in their options answer the same, sooner: values, turns and
 * ties are the same to the last bit. One object per search object; it must outlive the search object, whose memory it gives. */
struct smx_parallel;

#define SMX_PARALLEL_THREADS_MAX 1024

/* SMX_OK; SMX_ERR_ARGUMENT: threads is not within 1..SMX_PARALLEL_THREADS_MAX, above OpenMP's own limit, or not 1 in a library built
 * without OpenMP; SMX_ERR_MEMORY. *parallel is written only on SMX_OK. */
enum smx_status smx_parallel_create(unsigned threads, struct smx_parallel **parallel);

/* For smx_search_options.splitter, valid until the object is destroyed; NULL for NULL. */
const struct smx_splitter *smx_parallel_splitter(const struct smx_parallel *parallel);

/* NULL is fine. */
void smx_parallel_destroy(struct smx_parallel *parallel);

/* Facts for reports. A number that is not known is 0; a library that was not built in is "none". */
struct smx_parallel_machine {
	unsigned usable;     /* processors this process may run on now; at least 1 */
	unsigned processors; /* processing units (hardware threads); at least 1 */
	unsigned cores;
	unsigned numa_nodes;
	size_t l2_bytes; /* one second-level cache, the first one found */
	size_t l3_bytes; /* one third-level cache, the first one found */
	char model[64];  /* the processor's name, or "unknown" */

	char hwloc[32];          /* "2.9.0": the one that this library was built with */
	unsigned openmp_date;    /* _OPENMP, year and month of the specification: 201511 is OpenMP 4.5 */
	char openmp_runtime[32]; /* "GNU libgomp" or "LLVM libomp": the one that runs */
	char jemalloc[64];       /* "5.3.0-0-g...": of the library that runs */
};

/* Fill *machine. Looks at the whole machine each time, which takes milliseconds: not for a search. Thread-safe. */
void smx_parallel_machine(struct smx_parallel_machine *machine);

#ifdef __cplusplus
}
#endif

#endif
