/* The machine: what it is made of, how many threads to run on it and where, and memory that they do not fight over. */
#ifndef STARMAX_PARALLEL_H
#define STARMAX_PARALLEL_H

#include <starmax/arena.h>
#include <starmax/status.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Chunks from one jemalloc arena of their own: nothing else allocates there, no thread caches them, and destroying
 * the object gives all of them back at once. One object per search. Safe from several threads. */
struct smx_parallel_chunks;
struct smx_splitter;
struct smx_table;

/* Make one; its arena comes with the first chunk, of which there is none where jemalloc has no further arena. In a library
 * built without jemalloc *chunks is set to NULL, which stands for malloc below: the caller need not know
 * (smx_parallel_machine tells). SMX_ERR_MEMORY: *chunks is untouched. Thread-safe. */
enum smx_status smx_parallel_chunks_create(struct smx_parallel_chunks **chunks);

/* What to pass to smx_search_create or smx_arena_create, valid until the object is destroyed; NULL for NULL. */
const struct smx_chunk_source *smx_parallel_chunks_source(const struct smx_parallel_chunks *chunks);

/* Destroy the object and the jemalloc arena with whatever was taken from it: first destroy whoever took it. NULL is
 * fine. */
void smx_parallel_chunks_destroy(struct smx_parallel_chunks *chunks);

/* Threads for searches, each with chunks of its own. Searches that have them in their options answer the same, sooner: values, turns and
 * ties are the same to the last bit. One object per search object; it must outlive the search object, whose memory it gives.
 *
 * With LLVM's OpenMP runtime (libomp 14 to 19 at least) a calling thread should not end while more such searches are to come: it
 * takes memory with it that the runtime goes on using, and a later search on several threads may crash there. That is a fault of the
 * runtime with any program's tasks; GNU libgomp has no such trouble. */
struct smx_parallel;

#define SMX_PARALLEL_THREADS_MAX 1024

/* SMX_OK; SMX_ERR_ARGUMENT: threads is not within 1..SMX_PARALLEL_THREADS_MAX, above OpenMP's own limit, or not 1 in a library built
 * without OpenMP; SMX_ERR_MEMORY. *parallel is written only on SMX_OK. */
enum smx_status smx_parallel_create(unsigned threads, struct smx_parallel **parallel);

/* How many threads to run on this machine, and on which of its processors. */

enum smx_parallel_bind {
	SMX_BIND_NONE,    /* the system moves the threads as it likes */
	SMX_BIND_COMPACT, /* one thread a core, first all cores of the first NUMA node; once every core has one, their second
	                   * hardware threads likewise */
	SMX_BIND_SCATTER, /* the same, but the NUMA nodes take turns */
};

/* A processor. */
struct smx_parallel_place {
	unsigned pu;        /* the system's number of it: a processing unit, or hardware thread */
	unsigned core;      /* these count those of the machine from 0 on, in hwloc's order */
	unsigned numa_node; /* of several that are local to it, the first */
};

struct smx_parallel_plan {
	unsigned threads; /* at least 1 */
	enum smx_parallel_bind
		bind;            /* what is done: SMX_BIND_NONE also where binding is left to others or cannot be done */
	unsigned usable;     /* processors this process may run on now */
	unsigned processors; /* of the machine */
	unsigned numa_nodes; /* likewise; 0: not known */
	double quota;        /* processors' worth of time that the control group allows (cgroup v2); 0: no limit */
	char reason[192];    /* what the number of threads follows from, in words */
	char unbound[96];    /* SMX_BIND_NONE: why; else empty */
	bool is_complete;    /* the machine has been read; else numa_nodes and places are not known yet */

	struct smx_parallel_place places[SMX_PARALLEL_THREADS_MAX]; /* of each thread, where they are bound */
};

/* Fill *plan for so many threads, or for as many as can be kept busy where threads is 0: as many as there are usable
 * processors, or fewer where the control group's quota (rounded up), OMP_NUM_THREADS or OMP_THREAD_LIMIT says so.
 * Threads are not bound where the environment has OpenMP do it (OMP_PLACES, OMP_PROC_BIND, GOMP_CPU_AFFINITY,
 * KMP_AFFINITY), where there are more of them than usable processors, or in a library built without hwloc; the numbers
 * then come from the affinity mask and the quota alone. Call it from a thread that is not bound itself: its mask is what
 * is usable. Reads the machine, which takes milliseconds. SMX_OK; SMX_ERR_ARGUMENT: as smx_parallel_create with that
 * many threads; SMX_ERR_MEMORY. *plan is complete only on SMX_OK. Thread-safe. */
enum smx_status smx_parallel_plan(unsigned threads, enum smx_parallel_bind bind, struct smx_parallel_plan *plan);

/* The same number of threads for the same reason, without reading the machine, in far less than a millisecond: numa_nodes
 * is 0, there are no places, and `bind` is what will be done unless the machine turns out to be unreadable. The threads
 * of such a plan read it when they are first needed, which a small search never does, and which takes milliseconds of the
 * search's time limit if it has one. */
enum smx_status smx_parallel_plan_threads(unsigned threads, enum smx_parallel_bind bind,
                                          struct smx_parallel_plan *plan);

/* The threads of a plan, of which a copy is kept. They are bound while they search, each to its processor, and then get
 * the mask back that they had: the calling thread, and those that OpenMP keeps for the whole program. A search that the
 * caller runs on several threads at once has one thread each and binds none. Otherwise as smx_parallel_create. */
enum smx_status smx_parallel_create_planned(const struct smx_parallel_plan *plan, struct smx_parallel **parallel);

/* The plan of smx_parallel_create_planned, complete once there were threads to be bound; valid until the object is
 * destroyed. NULL for NULL and for what smx_parallel_create has made. Not while a search uses `parallel`. */
const struct smx_parallel_plan *smx_parallel_plan_of(const struct smx_parallel *parallel);

/* On a machine of several NUMA nodes: spread a table of 64 MiB or more over all of them, and have the threads of a plan,
 * if there are several, take its pages now rather than while they search. Entries stay. Otherwise, also in a library
 * built without hwloc, does nothing. No search may be using the table or `parallel`. True where the table was spread. */
bool smx_parallel_place_table(struct smx_parallel *parallel, struct smx_table *table);

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
	unsigned packages;
	size_t l1_bytes; /* one first-level data cache, the first one found */
	size_t l2_bytes; /* one second-level cache, likewise */
	size_t l3_bytes; /* one third-level cache, likewise */
	unsigned l1_count, l2_count, l3_count;
	char model[64]; /* the processor's name, or "unknown" */

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
