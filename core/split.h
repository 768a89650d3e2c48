/* The seam between a search and the threads that share its work.
 *
 * Work that can be shared is a loop: the root's candidates, a frame's afterstates, a node's outcomes. Whoever comes to it (its owner)
 * opens it, works on it, and closes it when nothing is left and nobody is in it. While it is open any other thread may join: take the next
 * item under its lock, value it, put the result in under the lock. Owner and helper run the same function, and a search on one
 * thread runs it too, without opening anything.
 *
 * Threads that have nothing to do wait in the back-end. A thread at work that sees one idle, between two items, lists the works that it is in
 * and offers a task; the task joins a listed work, then another, until there is none. While nobody is idle or waits, hardly anything is listed.
 *
 * Which work it joins decides how much is searched in vain. Candidates are pieces without any speculation but that the best value may rise:
 * while there are plenty, they come first. Else the candidate that is first in search order, in it the deepest work, whose pieces are
 * the smallest, and of each work no more than a few helpers: the more there are, the older what each of them knows. What is left
 * is better than nothing.
 *
 * A candidate may be begun while the first one is searched, since its frame can be made meanwhile. Then its elders, the candidates before
 * it in search order, go first: it waits until the first one has its value, and its thread helps the others until there is nothing more
 * to help with. Even where candidates are plenty that is worth it: of two threads' nodes at depth 3, full width, 4 in 100 less are in vain.
 *
 * But for that, an owner that waits joins what is listed below its own work, and nothing else: so it is never kept from going on by
 * foreign work.
 *
 * A work that has ended, because its node is outside its window, stops those below it: they look at every work above them where
 * they look at the clock (smxi_must_stop), and what they were doing is neither used nor stored.
 *
 * Why the answer does not depend on the threads: an item is valued in a window made of bounds that are true, if not the newest; its
 * interval is true; intervals are joined by minimum and maximum. Only what is searched in vain depends on who was first. */
#ifndef SMXI_SPLIT_H
#define SMXI_SPLIT_H

#include <starmax/arena.h>

#include <stdbool.h>
#include <stddef.h>

typedef void smxi_task(void *argument);

/* A back-end. Its functions may be called from all its threads. */
struct smx_splitter {
	unsigned threads;
	void *context;
	/* Run task(argument) on the calling thread, as number 0, with the others idle and ready to be offered tasks. Returns when all
	 * have ended. */
	void (*run)(void *context, smxi_task *task, void *argument);
	/* Milliseconds of search from which on it is worth it to `run`: more where threads have to be made first. NULL: half a one. */
	double (*worth_ms)(void *context);
	/* Have task(argument) run by an idle thread; if none is, then later, at the latest before `run` returns, or at once by the
	 * caller. */
	void (*offer)(void *context, smxi_task *task, void *argument);
	/* The calling thread's number, below threads. */
	unsigned (*thread)(void *context);
	/* Called where a thread is about to look at what threads share, or waits for another: a back-end that runs all its threads on
	 * one switches to the next here. NULL: these are real threads. */
	void (*switch_thread)(void *context);
	/* Where the arena of that thread takes its chunks from; NULL: malloc. */
	const struct smx_chunk_source *(*chunks)(void *context, unsigned thread);
};

#endif
