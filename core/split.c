#define _GNU_SOURCE /* PTHREAD_MUTEX_ADAPTIVE_NP */
#include "core/split.h"

#include "core/node.h"

#include <sched.h>

enum {
	WORTH_JOINING = 2,   /* items left, of a work that is not the root */
	PIECES_A_THREAD = 4, /* candidates left: so many are plenty */
	HELPERS_MOST = 2,    /* of a work that may end early */
	AHEAD_MOST = 4,      /* candidates begun while the first one is searched */
};

void smxi_lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
#ifdef __GLIBC__
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP); /* spins before it sleeps */
#endif
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

static void yield(const struct smx_splitter *splitter)
{
	if (splitter->switch_thread)
		splitter->switch_thread(splitter->context);
	else
		sched_yield();
}

/* ---- which work to join ---- */

/* What a thread would join: anything; or what is below a work; or what belongs to candidates before that of a work. */
struct wish {
	const struct work *below, *before;
};

static bool is_below(const struct work *work, const struct work *top)
{
	while (work && work->level > top->level)
		work = work->above;
	return work == top;
}

static bool grants(const struct work *work, const struct wish *wish)
{
	if (wish->below)
		return work != wish->below && is_below(work, wish->below);
	return !wish->before || (!work->is_root && work->rank < wish->before->rank);
}

static bool misses_first(const struct work *work)
{
	return work->brothers && atomic_load_explicit(&work->brothers->first_missing, memory_order_acquire) > 0;
}

static bool are_plenty(const struct work *root)
{
	return atomic_load_explicit(&root->left, memory_order_relaxed) >= PIECES_A_THREAD * root->splitter->threads;
}

enum preference { NEVER, CROWDED, LAST_CANDIDATES, HAS_ROOM, MANY_CANDIDATES };

struct choice {
	struct work *work;
	enum preference preference;
	unsigned left, helpers;
};

static enum preference prefer_root(const struct work *root, unsigned left, unsigned helpers)
{
	if (left == 0 || (misses_first(root) && helpers >= AHEAD_MOST))
		return NEVER;
	return are_plenty(root) ? MANY_CANDIDATES : LAST_CANDIDATES;
}

static struct choice appraise(struct work *work)
{
	struct choice c = {
		.work = work,
		.left = atomic_load_explicit(&work->left, memory_order_relaxed),
		.helpers = atomic_load_explicit(&work->helpers, memory_order_relaxed),
	};
	if (atomic_load_explicit(&work->ended, memory_order_relaxed))
		return c;
	/* the root that is a chance node, and a candidate with an open window, are wanted to the last item */
	const bool is_whole = !work->above || (work->above->is_root && !work->brothers);
	if (work->is_root)
		c.preference = prefer_root(work, c.left, c.helpers);
	else if (c.left >= WORTH_JOINING && !misses_first(work))
		c.preference = c.helpers < HELPERS_MOST || is_whole ? HAS_ROOM : CROWDED;
	return c;
}

static bool is_better(const struct choice *a, const struct choice *b)
{
	if (a->preference != b->preference)
		return a->preference > b->preference;
	if (a->preference == CROWDED)
		return (uint64_t)a->left * (b->helpers + 1) > (uint64_t)b->left * (a->helpers + 1);
	if (a->work->rank != b->work->rank)
		return a->work->rank < b->work->rank;
	if (a->work->level != b->work->level)
		return a->work->level > b->work->level;
	return a->left > b->left;
}

/* Under search->works_lock. */
static struct work *find_work(const struct smx_search *search, const struct wish *wish)
{
	struct choice best = {.preference = NEVER};
	for (struct work *w = search->works; w; w = w->next) {
		const struct choice choice = appraise(w);
		if (choice.preference != NEVER && (!best.work || is_better(&choice, &best)) && grants(w, wish))
			best = choice;
	}
	return best.work;
}

/* ---- helping ---- */

static unsigned size_class(double ms)
{
	unsigned found = 0;
	for (double below = 1e-3; ms >= below && found + 1 < SMX_TASK_SIZES; below *= 2)
		found++;
	return found;
}

/* Join some work, if there is any; false where there is none. */
static bool help(struct searcher *s, struct wish wish)
{
	struct smx_search *search = s->search;
	const unsigned news = atomic_load_explicit(&search->news, memory_order_relaxed);
	pthread_mutex_lock(&search->works_lock);
	struct work *work = find_work(search, &wish);
	if (work)
		atomic_fetch_add_explicit(&work->helpers, 1, memory_order_relaxed);
	pthread_mutex_unlock(&search->works_lock);
	if (!work) {
		if (!wish.below && !wish.before)
			atomic_store_explicit(&search->news_in_vain, news, memory_order_relaxed);
		return false;
	}
	s->counters.tasks++;
	struct work *const before = s->current;
	const double begun_ms = smxi_now_ms();
	s->current = work;
	work->run(s, work);
	s->current = before;
	s->task_sizes[size_class(smxi_now_ms() - begun_ms)]++;
	atomic_fetch_sub_explicit(&work->helpers, 1, memory_order_release);
	smxi_tell_news(search); /* there is room again */
	return true;
}

static void help_with_anything(void *argument)
{
	struct smx_search *search = argument;
	struct searcher *s = &search->searchers[search->splitter->thread(search->splitter->context)];
	/* The back-end has fewer threads than it said, and the one that offered the task runs it: it must not come to wait for what it is
	 * itself in the middle of. There will be no more offers to the thread that is missing. */
	if (s->current)
		return;
	const double begun_ms = smxi_now_ms();
	while (help(s, (struct wish){0}))
		;
	s->busy_ms += smxi_now_ms() - begun_ms;
	atomic_fetch_add_explicit(&search->idle, 1, memory_order_relaxed);
}

/* Help with what is wished for, and where there is nothing wait, for as long as the work has to wait. */
static void help_while(struct searcher *s, bool (*has_to_wait)(struct searcher *s, const void *what), const void *what,
                       struct wish wish)
{
	struct smx_search *search = s->search;
	double waits_since_ms = 0; /* 0: it does not */
	unsigned seen = 0;
	while (has_to_wait(s, what)) {
		const unsigned news = atomic_load_explicit(&search->news, memory_order_relaxed);
		const double now_ms = smxi_now_ms();
		if (waits_since_ms > 0)
			s->waited_ms += now_ms - waits_since_ms;
		if ((waits_since_ms == 0 || news != seen) && help(s, wish)) {
			atomic_fetch_sub_explicit(&search->looking, waits_since_ms > 0, memory_order_relaxed);
			waits_since_ms = 0;
			continue;
		}
		atomic_fetch_add_explicit(&search->looking, waits_since_ms == 0, memory_order_relaxed);
		seen = news;
		waits_since_ms = now_ms;
		yield(search->splitter);
	}
	if (waits_since_ms > 0) {
		s->waited_ms += smxi_now_ms() - waits_since_ms;
		atomic_fetch_sub_explicit(&search->looking, 1, memory_order_relaxed);
	}
}

struct news {
	const atomic_uint *counter;
	unsigned seen;
};

static bool has_no_news(struct searcher *s, const void *what)
{
	const struct news *news = what;
	return atomic_load_explicit(news->counter, memory_order_relaxed) == news->seen && !smxi_must_stop(s);
}

void smxi_wait_for_news(struct searcher *s, const struct work *work, const atomic_uint *counter, unsigned seen)
{
	const struct news news = {counter, seen};
	help_while(s, has_no_news, &news, (struct wish){.below = work});
}

/* ---- works ---- */

/* List what the thread is in. Where a work is listed, all above it are. */
static void list_works(struct searcher *s)
{
	struct smx_search *search = s->search;
	if (s->current->is_listed)
		return;
	pthread_mutex_lock(&search->works_lock);
	for (struct work *work = s->current; work && !work->is_listed; work = work->above) {
		work->is_listed = true;
		work->previous = NULL;
		work->next = search->works;
		if (work->next)
			work->next->previous = work;
		search->works = work;
	}
	pthread_mutex_unlock(&search->works_lock);
	smxi_tell_news(search);
}

void smxi_offer_work(struct searcher *s)
{
	struct smx_search *search = s->search;
	if (!search->splitter)
		return;
	const bool has_idle = atomic_load_explicit(&search->idle, memory_order_relaxed) > 0;
	if (!has_idle && atomic_load_explicit(&search->looking, memory_order_relaxed) <= 0)
		return;
	const struct work *work = s->current;
	while (work && atomic_load_explicit(&work->left, memory_order_relaxed) < WORTH_JOINING)
		work = work->above;
	if (!work)
		return;
	list_works(s);
	if (!has_idle || atomic_load_explicit(&search->news, memory_order_relaxed) ==
	                     atomic_load_explicit(&search->news_in_vain, memory_order_relaxed))
		return;
	if (atomic_fetch_sub_explicit(&search->idle, 1, memory_order_relaxed) <= 0) {
		atomic_fetch_add_explicit(&search->idle, 1, memory_order_relaxed);
		return;
	}
	search->splitter->offer(search->splitter->context, help_with_anything, search);
}

static bool has_helpers(struct searcher *s, const void *what)
{
	(void)s;
	const struct work *work = what;
	return atomic_load_explicit(&work->helpers, memory_order_acquire) > 0;
}

static void close_work(struct searcher *s, struct work *work)
{
	struct smx_search *search = s->search;
	if (!work->is_listed)
		return;
	pthread_mutex_lock(&search->works_lock);
	*(work->previous ? &work->previous->next : &search->works) = work->next;
	if (work->next)
		work->next->previous = work->previous;
	pthread_mutex_unlock(&search->works_lock);
	help_while(s, has_helpers, work, (struct wish){.below = work});
}

static bool is_too_early(struct searcher *s, const void *what)
{
	return misses_first(what) && !smxi_must_stop(s);
}

/* What is made of the candidate so far is kept. While this thread is with its elders, others may have nothing else to do: so it is listed. */
static void let_elders_go_first(struct searcher *s, struct work *work)
{
	const struct wish elders = {.before = work};
	list_works(s);
	help_while(s, is_too_early, work, elders);
	while (!smxi_must_stop(s) && help(s, elders))
		;
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
	smxi_lock_init(&work->lock);
	work->above = s->current;
	work->level = work->above ? work->above->level + 1 : 0;
	if (work->above && !work->above->is_root)
		work->rank = work->above->rank;
	work->is_listed = false;
	s->current = work;
	if (work->brothers && !work->is_root)
		let_elders_go_first(s, work);
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
