/* Processes that each time one search when told to, alone or several at the same moment.
 *
 * A process of its own for the serial search and for each number of threads: none is slowed by another's threads, which may stay awake for
 * a while after a search, nor by having them made anew; and several serial ones at once show what the machine allows, whatever the search
 * does. They are forked before any thread exists. */
#ifndef SMXI_CLI_RUNNER_H
#define SMXI_CLI_RUNNER_H

#include "cli/compare.h"

#include <starmax/parallel.h>
#include <starmax/starmax.h>

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What all of them search; borrowed while they live. */
struct smxi_runner_work {
	const struct smx_game *game;
	struct smx_search_options options; /* table and splitter are each runner's own */
	size_t hash_bytes;                 /* of its table, emptied before each search; 0: none */
	bool is_warm;                      /* right before each search they search for some milliseconds */
	const struct smx_position *positions;
};

struct smxi_measure {
	double time_ms; /* wall clock */
	double cpu_ms;  /* of all its threads, waiting ones included where they spin */
	bool spins;     /* half a second after the search they still did */
	struct smxi_answer answer;
	struct smx_counters counters;
	struct smx_sharing sharing;
	enum smx_status status; /* the above where it is SMX_OK */
	struct smx_error error;
};

struct smxi_runner {
	pid_t process;
	int socket;
};

struct smxi_runners {
	struct smxi_runner *runner;
	size_t count;
};

/* An OpenMP runtime that is told to bind threads has bound the first one to one processor before main began. Lets the calling thread run on
 * all again that the system allows, so that processes beside each other do not share one; no effect where no such thing is asked for. A
 * restriction by taskset is lifted as well. */
void smxi_runner_unbind(void);

/* What machine that is when nothing is bound. */
void smxi_runner_machine(struct smx_parallel_machine *machine);

/* One more, with the threads of a plan, borrowed while it lives; NULL: the search alone. Its first search is slower: only then does it have
 * its memory and its threads. False after an error message. */
bool smxi_runners_add(struct smxi_runners *runners, const struct smxi_runner_work *work,
                      const struct smx_parallel_plan *plan);

/* Have `count` of them from `first` on search one position, beginning at the same moment. places: has at least so many, and each process
 * keeps to its own, the first to the first; NULL: they are left to the system, or to their plan. Returns when all have ended and their
 * threads are asleep. False after an error message, also where a search failed. */
bool smxi_runners_measure(const struct smxi_runners *runners, size_t first, size_t count,
                          const struct smx_parallel_place *places, size_t position, struct smxi_measure *measures);

/* End them all and wait for that. */
void smxi_runners_close(struct smxi_runners *runners);

#endif
