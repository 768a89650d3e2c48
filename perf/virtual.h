/* A back-end of the search's seam (core/split.h) in virtual time: real searches by many simulated workers, all on the calling thread.
 *
 * Each worker is a coroutine with a clock of its own, in virtual nanoseconds. Whenever it comes to a lock it is charged the time that it
 * really took since it was resumed, and the worker whose clock is behind all others goes on. So what a worker sees of the others is what
 * it would see on a machine with a core for each: the speculation, the waiting and the order of events are real, only the clock is made up.
 *
 * Locks: the program is linked so that the core's pthread_mutex_lock and pthread_mutex_unlock come here first (--wrap). That gives every
 * lock's real owner and the real length of every critical section, and the proof that no switch falls into one: a mutex is never found
 * taken, and if it is the program ends.
 *
 * Not exact: what a worker does between two locks becomes visible to the others when it begins, not when it ends. A piece is short (some
 * tens of microseconds), and everything that decides about work is done right behind a lock.
 *
 * With a random order instead of the clocks it tries schedules that no machine would show in years. Then nothing depends on
 * real time: a seed gives the same schedule every time. */
#ifndef SMXI_PERF_VIRTUAL_H
#define SMXI_PERF_VIRTUAL_H

#include "core/split.h"

#include <starmax/search.h>

#include <stdint.h>

enum { SMXI_VIRTUAL_WORKERS_MAX = 1024 };

enum smxi_virtual_order {
	SMXI_VIRTUAL_MEASURED, /* by the clocks, which real time advances */
	SMXI_VIRTUAL_DRAWN,    /* by the clocks, which drawn costs advance */
	SMXI_VIRTUAL_RANDOM,   /* any worker that can go on, drawn */
};

struct smxi_virtual_options {
	unsigned workers;
	enum smxi_virtual_order order;
	uint64_t seed;     /* of what is drawn, and of equal clocks */
	unsigned stay;     /* SMXI_VIRTUAL_RANDOM: percentage of the locks at which the worker goes on */
	bool locks_wait;   /* a worker that finds a lock taken waits for it; else nobody ever does */
	uint64_t lock_ns;  /* of taking a lock: it comes from another core's cache */
	uint64_t spin_ns;  /* who waits for a lock longer than that falls asleep */
	uint64_t wake_ns;  /* from a lock's release to who fell asleep over it */
	uint64_t offer_ns; /* from an offer to the idle worker that takes it */
	uint64_t wait_ns;  /* of one look whether the helpers are done */
};

/* Of the runs since smxi_virtual_begin; in virtual nanoseconds where nothing else is said. */
struct smxi_virtual_report {
	double makespan_ns; /* until smxi_virtual_end */
	double work_ns;     /* all that was charged */
	double locked_ns;   /* waiting for locks, of all workers */
	double list_ns;     /* of this: for the one of the list of open works */
	double waited_ns;   /* owners waiting for helpers */
	double alone_ns;    /* time in which only one worker was busy */
	double begun_ns;    /* when the last depth began */
	double first_ns;    /* when the first candidate of the last depth was completed */
	uint64_t locks, offers;
};

struct smxi_virtual;

/* NULL: no memory. The options are copied. */
struct smxi_virtual *smxi_virtual_create(const struct smxi_virtual_options *options);
void smxi_virtual_destroy(struct smxi_virtual *v);

const struct smx_splitter *smxi_virtual_splitter(const struct smxi_virtual *v);

/* Around one smx_search_run, by this search object, to this depth; what the run does outside its parallel part is charged to worker 0. */
void smxi_virtual_begin(struct smxi_virtual *v, const struct smx_search *search, unsigned depth_plies);
struct smxi_virtual_report smxi_virtual_end(struct smxi_virtual *v);

#endif
