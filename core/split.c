#include "core/split.h"

#include "core/node.h"

#include <sched.h>

enum { WORTH_JOINING = 2, PIECES_A_THREAD = 4 };

static void yield(const struct smx_splitter *splitter)
{
	if (splitter->switch_thread)
		splitter->switch_thread(splitter->context);
	else
		sched_yield();
}

/* Where there is plenty, the pieces of the topmost work are the largest; where there is not, they are the candidates that a better
 * best value would make needless, and what is below the one being searched comes first. */
static bool is_better_work(const struct work *a, unsigned a_left, const struct work *b, unsigned b_left,
                           unsigned plenty)
{
	if ((a_left >= plenty) != (b_left >= plenty))
		return a_left >= plenty;
	return a_left >= plenty && a->level != b->level ? a->level < b->level : a_left > b_left;
}

/* Under search->works_lock: of all works, or where top is not NULL of those below it. */
static struct work *find_work(struct smx_search *search, const struct work *top)
{
	const unsigned plenty = PIECES_A_THREAD * search->splitter->threads;
	struct work *found = NULL;
	unsigned most = 0;
	for (struct work *w = search->works; w; w = w->next) {
		const unsigned left = atomic_load_explicit(&w->left, memory_order_relaxed);
		if (left < WORTH_JOINING || atomic_load_explicit(&w->ended, memory_order_relaxed))
			continue;
		const struct work *above = w->above;
		while (above && above != top)
			above = above->above;
		if (above == top && (!found || is_better_work(w, left, found, most, plenty))) {
			found = w;
			most = left;
		}
	}
	return found;
}

static unsigned size_class(double ms)
{
	unsigned class = 0;
	for (double below = 1e-3; ms >= below && class + 1 < SMX_TASK_SIZES; below *= 2)
		class ++;
	return class;
}

/* Join some work, if there is any; false where there is none. */
static bool help(struct searcher *s, const struct work *top)
{
	struct smx_search *search = s->search;
	pthread_mutex_lock(&search->works_lock);
	struct work *work = find_work(search, top);
	if (work)
		atomic_fetch_add_explicit(&work->helpers, 1, memory_order_relaxed);
	pthread_mutex_unlock(&search->works_lock);
	if (!work)
		return false;
	s->counters.tasks++;
	struct work *const before = s->current;
	const double begun_ms = smxi_now_ms();
	s->current = work;
	work->run(s, work);
	s->current = before;
	s->task_sizes[size_class(smxi_now_ms() - begun_ms)]++;
	atomic_fetch_sub_explicit(&work->helpers, 1, memory_order_release);
	return true;
}

static void help_with_anything(void *argument)
{
	struct smx_search *search = argument;
	struct searcher *s = &search->searchers[search->splitter->thread(search->splitter->context)];
	const double begun_ms = smxi_now_ms();
	while (help(s, NULL))
		;
	s->busy_ms += smxi_now_ms() - begun_ms;
	atomic_fetch_add_explicit(&search->idle, 1, memory_order_relaxed);
}

void smxi_offer_work(struct searcher *s)
{
	struct smx_search *search = s->search;
	if (!search->splitter || atomic_load_explicit(&search->idle, memory_order_relaxed) <= 0)
		return;
	const struct work *work = s->current;
	while (work && atomic_load_explicit(&work->left, memory_order_relaxed) < WORTH_JOINING)
		work = work->above;
	if (!work)
		return;
	if (atomic_fetch_sub_explicit(&search->idle, 1, memory_order_relaxed) <= 0) {
		atomic_fetch_add_explicit(&search->idle, 1, memory_order_relaxed);
		return;
	}
	search->splitter->offer(search->splitter->context, help_with_anything, search);
}

static void open_work(struct smx_search *search, struct work *work)
{
	pthread_mutex_lock(&search->works_lock);
	work->previous = NULL;
	work->next = search->works;
	if (work->next)
		work->next->previous = work;
	search->works = work;
	pthread_mutex_unlock(&search->works_lock);
}

static void close_work(struct searcher *s, struct work *work)
{
	struct smx_search *search = s->search;
	pthread_mutex_lock(&search->works_lock);
	*(work->previous ? &work->previous->next : &search->works) = work->next;
	if (work->next)
		work->next->previous = work->previous;
	pthread_mutex_unlock(&search->works_lock);
	double waits_since_ms = 0; /* 0: it does not */
	while (atomic_load_explicit(&work->helpers, memory_order_acquire) > 0) {
		const double now_ms = smxi_now_ms();
		if (help(s, work)) {
			waits_since_ms = 0;
			continue;
		}
		if (waits_since_ms > 0)
			s->waited_ms += now_ms - waits_since_ms;
		waits_since_ms = now_ms;
		yield(search->splitter);
	}
	if (waits_since_ms > 0)
		s->waited_ms += smxi_now_ms() - waits_since_ms;
}

enum end smxi_work_together(struct searcher *s, struct work *work, bool can_share)
{
	work->end = END_DONE;
	atomic_init(&work->ended, false);
	work->owner = s;
	work->shared = can_share && s->search->splitter;
	if (!work->shared) {
		work->run(s, work);
		return work->end;
	}
	work->splitter = s->search->splitter;
	atomic_init(&work->helpers, 0);
	pthread_mutex_init(&work->lock, NULL);
	work->above = s->current;
	work->level = work->above ? work->above->level + 1 : 0;
	s->current = work;
	open_work(s->search, work);
	work->run(s, work);
	close_work(s, work);
	s->current = work->above;
	pthread_mutex_destroy(&work->lock);
	return work->end;
}

void smxi_end_work(struct searcher *s, struct work *work, enum end end)
{
	if (atomic_load_explicit(&work->ended, memory_order_relaxed)) {
		/* what another thread's result made needless was stopped, and counts for nothing */
		s->counters.tasks_stopped += end == END_STOPPED;
		return;
	}
	work->end = end;
	atomic_store_explicit(&work->ended, true, memory_order_relaxed);
}
