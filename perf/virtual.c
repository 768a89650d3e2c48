/* See virtual.h. Coroutines are ucontext's: a context's switch costs a system call or two, which no worker is charged for. */
#define _DEFAULT_SOURCE /* anonymous maps */

#include "perf/virtual.h"

#include "core/node.h"

#include <starmax/random.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBERS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBERS 1
#endif
#endif
#ifdef FIBERS
#include <sanitizer/common_interface_defs.h>
#endif

enum {
	STACK_BYTES = 2 << 20, /* touched as far as it is used */
	GUARD_BYTES = 1 << 16,
	LOCKS_KNOWN = 1 << 16,    /* slots by address; two locks in one only lose a wait */
	STOLEN_LEAST_NS = 100000, /* a piece as long as this may hide time that the thread did not run */
	BIN_NS = 20000,           /* of the sum of busy workers */
	CALIBRATIONS = 1000,      /* readings of the clock */
	FRUITLESS_MAX = 20000000, /* looks of waiting workers in a row: nothing will come any more */
	DRAWN_SPEEDS = 12,        /* drawn costs: the slowest worker is 2^12 times slower than the fastest */
};

#define NEVER UINT64_MAX

struct worker {
	ucontext_t context;
	unsigned char *stack; /* NULL: the caller's, of worker 0 */
	void *fake_stack;     /* the address sanitizer's */
	const void *stack_bottom;
	size_t stack_bytes;
	smxi_task *task; /* NULL: idle */
	void *argument;
	bool took;             /* a work's lock, since the last switch; or it has just begun */
	const struct work *at; /* what it worked on at the last switch */
	unsigned slowness;     /* drawn costs */
};

struct offer {
	smxi_task *task;
	void *argument;
	uint64_t ready_ns;
};

/* The thread's own time. Its clock is too slow to be read at every lock, so it is read only behind a piece that looks long: what the fast
 * clock shows beyond it since it was read last is time that the machine gave to others. */
struct stopwatch {
	uint64_t read_ns; /* the fast clock, when the worker was resumed */
	uint64_t all_ns, own_ns;
	uint64_t reading_ns; /* a reading of the fast clock */
};

struct released {
	const void *mutex;
	uint64_t free_ns;
};

struct smxi_virtual {
	struct smx_splitter splitter;
	struct smxi_virtual_options options;
	struct worker *workers;
	struct worker *running, *came_from;
	/* Of each worker, apart from the rest: every switch looks at all, and should leave the search its caches. */
	uint64_t *clock_ns;
	uint64_t *ready_ns;   /* its clock where it has a task, else NEVER */
	uint64_t *since_ns;   /* its clock, or where it waits for a lock: when it came there */
	uint64_t *acts_ns;    /* the same, and NEVER while it does nothing but look whether its helpers are done */
	struct offer *offers; /* a queue; as many as there are workers, at most twice */
	unsigned offer_count, offer_room;
	uint64_t seed;
	unsigned held;      /* locks */
	bool just_switched; /* nothing was done since */
	uint64_t fruitless;
	struct stopwatch stopwatch;
	struct released *released;
	float *bins; /* busy workers, over virtual time */
	size_t bin_count;
	const struct smx_search *search;
	unsigned depth_plies;
	struct smxi_virtual_report report;
};

/* What runs now; the wrapped functions have no other way to know. */
static struct smxi_virtual *active;

static _Noreturn void fail(const struct smxi_virtual *v, const char *what)
{
	fprintf(stderr, "virtual time: seed %llu, %u workers: %s\n", (unsigned long long)v->options.seed,
	        v->options.workers, what);
	exit(1);
}

/* ---- time ---- */

static uint64_t read_clock(clockid_t id)
{
	struct timespec now;
	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void stopwatch_start(struct stopwatch *w)
{
	w->own_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
	w->all_ns = w->read_ns = read_clock(CLOCK_MONOTONIC);
}

static void stopwatch_calibrate(struct stopwatch *w)
{
	w->reading_ns = UINT64_MAX;
	for (unsigned i = 0; i < CALIBRATIONS; i++) {
		const uint64_t before = read_clock(CLOCK_MONOTONIC), piece = read_clock(CLOCK_MONOTONIC) - before;
		if (piece < w->reading_ns)
			w->reading_ns = piece;
	}
}

/* The length of the piece that ends now, which is also where the next one begins. */
static uint64_t stopwatch_lap(struct stopwatch *w)
{
	uint64_t now = read_clock(CLOCK_MONOTONIC);
	uint64_t piece = now - w->read_ns;
	if (piece >= STOLEN_LEAST_NS) {
		const uint64_t own = read_clock(CLOCK_THREAD_CPUTIME_ID), all = now - w->all_ns, mine = own - w->own_ns;
		const uint64_t stolen = all > mine ? all - mine : 0;
		piece -= stolen < piece ? stolen : piece;
		w->own_ns = own;
		w->all_ns = now = read_clock(CLOCK_MONOTONIC);
	}
	w->read_ns = now;
	return piece > w->reading_ns ? piece - w->reading_ns : 0;
}

/* What was done since the last piece counts for nobody. */
static void stopwatch_skip(struct stopwatch *w)
{
	const uint64_t now = read_clock(CLOCK_MONOTONIC);
	if (now - w->read_ns >= STOLEN_LEAST_NS) {
		stopwatch_start(w);
		return;
	}
	w->read_ns = now;
}

static void add_busy(struct smxi_virtual *v, uint64_t from_ns, uint64_t to_ns)
{
	const size_t last = to_ns / BIN_NS;
	if (last >= v->bin_count) {
		const size_t count = 2 * last + 1024;
		float *bins = realloc(v->bins, count * sizeof *bins);
		if (!bins)
			fail(v, "no memory");
		memset(bins + v->bin_count, 0, (count - v->bin_count) * sizeof *bins);
		v->bins = bins;
		v->bin_count = count;
	}
	for (size_t bin = from_ns / BIN_NS; from_ns < to_ns; bin++) {
		const uint64_t edge = (bin + 1) * (uint64_t)BIN_NS, until = edge < to_ns ? edge : to_ns;
		v->bins[bin] += (float)(until - from_ns) / BIN_NS;
		from_ns = until;
	}
}

static uint64_t clock_of(const struct smxi_virtual *v, const struct worker *w)
{
	return v->clock_ns[w - v->workers];
}

static void set_clock(struct smxi_virtual *v, const struct worker *w, uint64_t ns, bool waits)
{
	const size_t i = (size_t)(w - v->workers);
	v->clock_ns[i] = v->since_ns[i] = ns;
	v->ready_ns[i] = w->task ? ns : NEVER;
	v->acts_ns[i] = w->task && !waits ? ns : NEVER;
}

static uint64_t least(const uint64_t *values, unsigned count)
{
	uint64_t found = NEVER;
	for (unsigned i = 0; i < count; i++)
		found = values[i] < found ? values[i] : found;
	return found;
}

static void note_phases(struct smxi_virtual *v)
{
	struct smxi_virtual_report *r = &v->report;
	if (v->search->depth_plies != v->depth_plies)
		return;
	if (r->begun_ns == 0)
		r->begun_ns = (double)clock_of(v, v->running);
	else if (r->first_ns == 0 && atomic_load_explicit(&v->search->candidates_completed, memory_order_relaxed) > 0)
		r->first_ns = (double)clock_of(v, v->running);
}

static uint64_t drawn(struct smxi_virtual *v, uint32_t below)
{
	return smx_random_below(&v->seed, below);
}

/* Charge the running worker for what it did since the last charge. */
static void charge(struct smxi_virtual *v)
{
	struct worker *w = v->running;
	const uint64_t from_ns = clock_of(v, w);
	uint64_t piece;
	if (v->options.order == SMXI_VIRTUAL_MEASURED) {
		piece = stopwatch_lap(&v->stopwatch);
		v->report.work_ns += (double)piece;
		add_busy(v, from_ns, from_ns + piece);
	} else {
		piece = (1 + drawn(v, 1000)) << w->slowness;
	}
	set_clock(v, w, from_ns + piece, !w->took);
	note_phases(v);
}

static void skip_reading(struct smxi_virtual *v)
{
	if (v->options.order == SMXI_VIRTUAL_MEASURED)
		stopwatch_skip(&v->stopwatch);
}

/* ---- the choice of who goes on ---- */

/* Who was idle longest, or one of them; NULL: nobody is. */
static struct worker *idle_worker(struct smxi_virtual *v)
{
	struct worker *found = NULL;
	unsigned seen = 0;
	for (unsigned i = 0; i < v->options.workers; i++) {
		struct worker *w = &v->workers[i];
		if (w->task)
			continue;
		if (v->options.order == SMXI_VIRTUAL_RANDOM ? !drawn(v, ++seen) : !found || clock_of(v, w) < clock_of(v, found))
			found = w;
	}
	return found;
}

static uint64_t start_time(const struct smxi_virtual *v, const struct worker *idle)
{
	return v->offers[0].ready_ns > clock_of(v, idle) ? v->offers[0].ready_ns : clock_of(v, idle);
}

static struct worker *start_first_offer(struct smxi_virtual *v, struct worker *idle)
{
	idle->task = v->offers[0].task;
	idle->argument = v->offers[0].argument;
	idle->took = true;
	set_clock(v, idle, start_time(v, idle), false);
	v->offer_count--;
	memmove(v->offers, v->offers + 1, v->offer_count * sizeof *v->offers);
	return idle;
}

/* NULL: nobody has a task, and none waits to be taken. */
static struct worker *choose_by_clock(struct smxi_virtual *v)
{
	const unsigned count = v->options.workers;
	const uint64_t first_ns = least(v->ready_ns, count);
	struct worker *idle = v->offer_count ? idle_worker(v) : NULL;
	if (idle && start_time(v, idle) < first_ns)
		return start_first_offer(v, idle);
	if (first_ns == NEVER)
		return NULL;
	/* of several the one that came to its lock first: the same ones would always have it otherwise, and others never */
	const unsigned from = v->options.seed ? (unsigned)drawn(v, count) : 0;
	unsigned found = count;
	for (unsigned seen = 0, i = from; seen < count; seen++, i = i + 1 < count ? i + 1 : 0)
		if (v->ready_ns[i] == first_ns && (found == count || v->since_ns[i] < v->since_ns[found]))
			found = i;
	return &v->workers[found];
}

static struct worker *choose_at_random(struct smxi_virtual *v)
{
	if (v->running->task && drawn(v, 100) < v->options.stay)
		return v->running;
	struct worker *found = NULL, *idle = v->offer_count ? idle_worker(v) : NULL;
	unsigned seen = idle != NULL;
	for (unsigned i = 0; i < v->options.workers; i++)
		if (v->workers[i].task && !drawn(v, ++seen))
			found = &v->workers[i];
	return found || !idle ? found : start_first_offer(v, idle);
}

static struct worker *choose(struct smxi_virtual *v)
{
	return v->options.order == SMXI_VIRTUAL_RANDOM ? choose_at_random(v) : choose_by_clock(v);
}

/* ---- coroutines ---- */

static void enter_stack(struct smxi_virtual *v, struct worker *w)
{
#ifdef FIBERS
	struct worker *from = v->came_from;
	__sanitizer_finish_switch_fiber(w->fake_stack, &from->stack_bottom, &from->stack_bytes);
#else
	(void)v;
	(void)w;
#endif
}

static void go_to(struct smxi_virtual *v, struct worker *to)
{
	struct worker *from = v->running;
	if (to == from)
		return;
	v->came_from = from;
	v->running = to;
#ifdef FIBERS
	__sanitizer_start_switch_fiber(&from->fake_stack, to->stack_bottom, to->stack_bytes);
#endif
	swapcontext(&from->context, &to->context);
	enter_stack(v, from);
}

/* Without tasks and offers worker 0 goes on, in run(). */
static void go_on(struct smxi_virtual *v)
{
	struct worker *next = choose(v);
	go_to(v, next ? next : &v->workers[0]);
	skip_reading(v);
}

static void do_task(struct smxi_virtual *v, struct worker *w)
{
	w->task(w->argument);
	charge(v);
	if (v->held)
		fail(v, "a task has ended in a lock");
	w->task = NULL;
	set_clock(v, w, clock_of(v, w), false);
}

static void coroutine(void)
{
	struct smxi_virtual *v = active;
	struct worker *w = v->running;
	enter_stack(v, w);
	skip_reading(v);
	for (;;) {
		do_task(v, w);
		go_on(v); /* in another run when it comes back, perhaps */
	}
}

/* ---- the seam ---- */

static void run(void *context, smxi_task *task, void *argument)
{
	struct smxi_virtual *v = context;
	struct worker *first = &v->workers[0];
	active = v;
	v->running = first;
	first->task = task;
	first->argument = argument;
	first->took = true;
	set_clock(v, first, clock_of(v, first), false);
	v->just_switched = false;
	do_task(v, first);
	/* the others' */
	for (;;) {
		go_on(v);
		if (!first->task)
			break;
		do_task(v, first);
	}
	active = NULL;
	for (unsigned i = 1; i < v->options.workers; i++)
		if (v->clock_ns[i] > v->clock_ns[0])
			v->clock_ns[0] = v->clock_ns[i];
}

static void offer(void *context, smxi_task *task, void *argument)
{
	struct smxi_virtual *v = context;
	if (v->offer_count == v->offer_room)
		fail(v, "more offers than idle workers");
	charge(v);
	v->just_switched = false;
	v->report.offers++;
	v->offers[v->offer_count++] = (struct offer){task, argument, clock_of(v, v->running) + v->options.offer_ns};
}

static unsigned thread(void *context)
{
	const struct smxi_virtual *v = context;
	return (unsigned)(v->running - v->workers);
}

/* A worker that waits learns nothing before another has done something: it skips the time until then. */
static void wait_a_while(struct smxi_virtual *v)
{
	struct worker *w = v->running;
	const uint64_t now_ns = clock_of(v, w);
	set_clock(v, w, now_ns, true);
	uint64_t until_ns = least(v->acts_ns, v->options.workers);
	const struct worker *idle = v->offer_count ? idle_worker(v) : NULL;
	if (idle && start_time(v, idle) < until_ns)
		until_ns = start_time(v, idle);
	if (until_ns == NEVER || until_ns < now_ns + v->options.wait_ns)
		until_ns = now_ns + v->options.wait_ns;
	v->report.waited_ns += (double)(until_ns - now_ns);
	set_clock(v, w, until_ns, true);
	if (++v->fruitless > FRUITLESS_MAX)
		fail(v, "all workers wait for each other");
}

static void switch_thread(void *context)
{
	struct smxi_virtual *v = context;
	struct worker *w = v->running;
	if (v->held)
		fail(v, "a switch in a lock");
	charge(v);
	const struct work *at = v->search->searchers[w - v->workers].current;
	const bool waits = !w->took && at == w->at; /* else it has found something to help with, and is about to lock it */
	w->at = at;
	w->took = !w->took && !waits;
	if (waits)
		wait_a_while(v);
	go_on(v);
	v->just_switched = true;
}

static const struct smx_chunk_source *chunks(void *context, unsigned number)
{
	(void)context;
	(void)number;
	return NULL;
}

/* ---- locks ---- */

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

static struct released *released_of(struct smxi_virtual *v, const void *mutex)
{
	const uint64_t hash = (uint64_t)(uintptr_t)mutex * UINT64_C(0x9e3779b97f4a7c15);
	return &v->released[hash >> 48 & (LOCKS_KNOWN - 1)];
}

static void wait_for_lock(struct smxi_virtual *v, const void *mutex)
{
	struct worker *w = v->running;
	const uint64_t since_ns = clock_of(v, w);
	for (;;) {
		const struct released *r = released_of(v, mutex);
		if (r->mutex != mutex || r->free_ns <= clock_of(v, w))
			return;
		if (v->just_switched)
			charge(v);
		v->just_switched = false;
		if (r->free_ns <= clock_of(v, w))
			return;
		const bool sleeps = r->free_ns - clock_of(v, w) > v->options.spin_ns;
		const uint64_t until_ns = r->free_ns + (sleeps ? v->options.wake_ns : v->options.lock_ns);
		const double waited_ns = (double)(until_ns - clock_of(v, w));
		v->report.locked_ns += waited_ns;
		if (mutex == &v->search->works_lock)
			v->report.list_ns += waited_ns;
		set_clock(v, w, until_ns, !w->took);
		v->since_ns[w - v->workers] = since_ns;
		go_on(v);
	}
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	struct smxi_virtual *v = active;
	if (!v)
		return __real_pthread_mutex_lock(mutex);
	if (v->held)
		fail(v, "a lock in a lock");
	if (!v->just_switched) {
		charge(v);
		go_on(v);
	}
	struct worker *w = v->running;
	if (mutex != &v->search->works_lock) {
		w->took = true;
		v->fruitless = 0;
	}
	if (v->options.locks_wait)
		wait_for_lock(v, mutex);
	v->just_switched = false;
	set_clock(v, w, clock_of(v, w) + v->options.lock_ns, !w->took);
	v->report.locks++;
	v->held++;
	if (pthread_mutex_trylock(mutex) != 0)
		fail(v, "a lock is taken by a worker that does not run");
	return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	struct smxi_virtual *v = active;
	const int status = __real_pthread_mutex_unlock(mutex);
	if (!v)
		return status;
	v->held--;
	if (v->options.locks_wait) {
		charge(v);
		*released_of(v, mutex) = (struct released){mutex, clock_of(v, v->running)};
	} else if (v->options.order != SMXI_VIRTUAL_MEASURED) {
		go_on(v);
	}
	return status;
}

/* ---- the object ---- */

static void make_coroutine(struct worker *w)
{
	getcontext(&w->context);
	w->context.uc_stack.ss_sp = w->stack + GUARD_BYTES;
	w->context.uc_stack.ss_size = STACK_BYTES;
	w->context.uc_link = NULL;
	makecontext(&w->context, coroutine, 0);
}

struct smxi_virtual *smxi_virtual_create(const struct smxi_virtual_options *options)
{
	assert(options->workers >= 1 && options->workers <= SMXI_VIRTUAL_WORKERS_MAX);
	struct smxi_virtual *v = calloc(1, sizeof *v);
	if (!v)
		return NULL;
	v->options = *options;
	v->seed = options->seed;
	v->splitter = (struct smx_splitter){
		.threads = options->workers,
		.context = v,
		.run = run,
		.offer = offer,
		.thread = thread,
		.switch_thread = switch_thread,
		.chunks = chunks,
	};
	v->offer_room = 2 * options->workers;
	v->offers = calloc(v->offer_room, sizeof *v->offers);
	v->released = calloc(LOCKS_KNOWN, sizeof *v->released);
	v->workers = calloc(options->workers, sizeof *v->workers);
	v->clock_ns = calloc(options->workers, sizeof *v->clock_ns);
	v->since_ns = calloc(options->workers, sizeof *v->since_ns);
	v->ready_ns = calloc(options->workers, sizeof *v->ready_ns);
	v->acts_ns = calloc(options->workers, sizeof *v->acts_ns);
	bool made = v->offers && v->released && v->workers && v->clock_ns && v->since_ns && v->ready_ns && v->acts_ns;
	for (unsigned i = 0; made && i < options->workers; i++) {
		struct worker *w = &v->workers[i];
		w->slowness = (unsigned)drawn(v, DRAWN_SPEEDS + 1);
		if (i == 0)
			continue;
		void *stack = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
		                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		made = stack != MAP_FAILED;
		if (!made)
			break;
		w->stack = stack;
		mprotect(stack, GUARD_BYTES, PROT_NONE);
		w->stack_bottom = w->stack + GUARD_BYTES;
		w->stack_bytes = STACK_BYTES;
		make_coroutine(w);
	}
	if (!made) {
		smxi_virtual_destroy(v);
		return NULL;
	}
	stopwatch_calibrate(&v->stopwatch);
	return v;
}

void smxi_virtual_destroy(struct smxi_virtual *v)
{
	if (!v)
		return;
	for (unsigned i = 0; v->workers && i < v->options.workers; i++)
		if (v->workers[i].stack)
			munmap(v->workers[i].stack, GUARD_BYTES + STACK_BYTES);
	free(v->workers);
	free(v->clock_ns);
	free(v->since_ns);
	free(v->ready_ns);
	free(v->acts_ns);
	free(v->offers);
	free(v->released);
	free(v->bins);
	free(v);
}

const struct smx_splitter *smxi_virtual_splitter(const struct smxi_virtual *v)
{
	return &v->splitter;
}

void smxi_virtual_begin(struct smxi_virtual *v, const struct smx_search *search, unsigned depth_plies)
{
	v->search = search;
	v->depth_plies = depth_plies;
	v->report = (struct smxi_virtual_report){0};
	v->running = &v->workers[0];
	v->fruitless = 0;
	for (unsigned i = 0; i < v->options.workers; i++)
		set_clock(v, &v->workers[i], 0, false);
	memset(v->released, 0, LOCKS_KNOWN * sizeof *v->released);
	if (v->bins)
		memset(v->bins, 0, v->bin_count * sizeof *v->bins);
	stopwatch_start(&v->stopwatch);
}

struct smxi_virtual_report smxi_virtual_end(struct smxi_virtual *v)
{
	charge(v);
	struct smxi_virtual_report *r = &v->report;
	r->makespan_ns = (double)v->clock_ns[0];
	for (size_t bin = 0; bin < v->bin_count; bin++)
		if (v->bins[bin] < 1.5F)
			r->alone_ns += BIN_NS;
	/* the bins behind the end were counted, too */
	r->alone_ns -= (double)BIN_NS * (double)v->bin_count - r->makespan_ns;
	return *r;
}
