/* What the files of the search share: the search object, a chance node as its parent sees it, and the arithmetic of windows. */
#ifndef SMXI_NODE_H
#define SMXI_NODE_H

#include "core/split.h"

#include <starmax/search.h>

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

/* A node's value is known to lie in [lower, upper]; a search wants it where it can lie in the window [alpha, beta]. */
struct interval {
	smx_value lower, upper;
};

struct window {
	smx_value alpha, beta;
};

enum end {
	END_DONE,    /* the node is exact, or outside its window */
	END_STOPPED, /* no value: never ranked, never stored */
	END_NO_MEMORY,
};

/* The root's candidates, as one of them sees the others. */
struct brothers {
	_Atomic smx_value best;    /* what it has to reach: rises while they are searched */
	atomic_uint first_missing; /* of the first, which are searched with an open window: those without a value yet */
};

/* Where the table has what it knows of a node. Means nothing where there is no table. */
struct place {
	struct smx_key key;
	unsigned depth;
};

/* What is asked of a chance node. */
struct visit {
	struct smx_visit at;
	unsigned depth; /* turns left, at least 1 */
	struct window window;
	struct interval known;           /* from a bound or the table */
	const struct brothers *brothers; /* of a candidate whose alpha is their best; NULL */
	const struct origin *origin;     /* in the frame above, where threads share it; NULL */
	const struct place *place;       /* in the table; NULL: not computed yet */
	unsigned rank;                   /* of the candidate, in search order */
	bool answered;                   /* known says enough; only the decided outcomes are wanted */
	bool is_whole;                   /* none of its outcomes may be sampled away */
	unsigned rarity;                 /* of coming here by chance: smxi_rarity of each step; for selective search */
};

/* A chance node under search. Invariants: lower[i] <= value of outcome i <= upper[i]; low = sum of weight * lower, high = sum of
 * weight * upper over all outcomes, so the node's value lies in [div_floor(low, total), div_floor(high, total)], and in what was
 * known before. */
struct chance {
	unsigned count;
	uint32_t total;
	bool maximise;      /* the side that moves next is the evaluated side */
	uint64_t won, lost; /* outcomes known to end the game at once, for the evaluated side */
	struct interval known;
	smx_value low, high;
	uint32_t weight[SMX_OUTCOMES_MAX]; /* in selective search: how often drawn, 0 possible */
	smx_value lower[SMX_OUTCOMES_MAX], upper[SMX_OUTCOMES_MAX];
};

enum { ROLES = 3 }; /* of evaluators: leaves, pre-ranker, rescorer */

struct searcher;

/* A loop that several threads may work on together: see split.h. What belongs to the loop comes behind it in one struct. */
struct work {
	/* Take items until there is none or the work has ended; both under the lock. */
	void (*run)(struct searcher *s, struct work *work);
	bool shared; /* else there is one thread, and no lock */
	const struct searcher *owner;
	const struct smx_splitter *splitter; /* where shared */
	pthread_mutex_t lock;
	enum end end;                    /* how it ended; under the lock */
	atomic_bool ended;               /* written under the lock; what is below stops */
	atomic_uint left;                /* pieces that others could take, roughly */
	atomic_uint helpers;             /* threads in it besides the owner's */
	struct work *above;              /* the work that the owner is part of; NULL: none */
	unsigned level;                  /* works above it */
	unsigned rank;                   /* of the candidate that it belongs to */
	bool is_root;                    /* its items are candidates */
	const struct brothers *brothers; /* of the root's items; of a work that is one whole candidate: that one's; NULL */
	bool is_listed;                  /* written by the owner, under search->works_lock */
	struct work *previous, *next;    /* of those that are listed; under search->works_lock */
};

/* A thread's part of a search. What it needs to know of the run is copied, so that nothing it reads is written by another. */
struct searcher {
	struct smx_search *search;
	struct smx_arena *arena;
	struct smx_counters counters;
	struct work *current; /* what it works on; NULL: it is alone, or idle */
	/* of what it shared with others */
	double busy_ms;   /* in tasks; the caller's thread: not counted */
	double waited_ms; /* for helpers, without work */
	uint64_t task_sizes[SMX_TASK_SIZES];

	/* of the run */
	const struct smx_game *game;
	struct smx_search_options options;
	unsigned evaluated_side;
	bool fold, look, span, canonical, selective, rescores;
	unsigned rarity_most;                   /* of a branch that is searched */
	smx_value floor, ceiling;               /* of any node */
	unsigned uncounted;                     /* chance nodes that are not in search->nodes yet */
	struct smx_key salt[SMX_DEPTH_MAX + 1]; /* of the table's keys, by turns left */
	double started_ms;
};

struct smx_search {
	const struct smx_game *game;
	/* users' evaluators that passed the check last, whole: an address can be used again */
	struct smx_evaluator checked[ROLES];
	uint64_t checked_values[ROLES]; /* a hash of what they gave */
	struct searcher *searchers;     /* one a thread; the first is the caller's */
	unsigned searcher_count;
	atomic_bool stop;
	pthread_mutex_t works_lock;

	/* of the run */
	const struct smx_splitter *splitter; /* NULL: the caller's thread alone */
	struct work *works;                  /* that are listed; under works_lock */
	atomic_int idle;                     /* threads without a task */
	atomic_int looking;                  /* threads that wait, and look for something to do meanwhile */
	atomic_uint news;                    /* counts what may give them some */
	atomic_uint news_in_vain;            /* what it was when a thread last found nothing to do */
	atomic_bool limit_reached;           /* the node limit or the time limit ended the run */
	_Atomic uint64_t nodes;              /* chance nodes opened by all; exact where there is a limit */
	double reported_ms;                  /* the first searcher's */
	unsigned depth_plies;                /* of the iteration */
	size_t candidates;
	atomic_size_t candidates_completed; /* of the iteration */
	/* For progress: the best candidate of the iteration so far, and of the one before, which is the first searcher's. NULL: none. */
	_Atomic(const struct smx_candidate *) best;
	const struct smx_candidate *best_before;
	struct smx_iteration *iterations; /* room for one a depth */
	struct smx_result result;
};

static inline smx_value smxi_node_lower(const struct chance *node)
{
	const smx_value lower = smx_div_floor(node->low, node->total);
	return lower > node->known.lower ? lower : node->known.lower;
}

static inline smx_value smxi_node_upper(const struct chance *node)
{
	const smx_value upper = smx_div_floor(node->high, node->total);
	return upper < node->known.upper ? upper : node->known.upper;
}

static inline struct interval smxi_node_interval(const struct chance *node)
{
	if (node->low != node->high)
		return (struct interval){smxi_node_lower(node), smxi_node_upper(node)};
	const smx_value value = smx_div_floor(node->low, node->total);
	return (struct interval){value > node->known.lower ? value : node->known.lower,
	                         value < node->known.upper ? value : node->known.upper};
}

/* The weight of a mask of outcomes. */
static inline uint32_t smxi_weight_of(const struct chance *node, uint64_t outcomes)
{
	uint32_t weight = 0;
	for (; outcomes; outcomes &= outcomes - 1)
		weight += node->weight[__builtin_ctzll(outcomes)];
	return weight;
}

/* Strictly: a value that ties with the window's edge is still wanted. */
static inline bool smxi_outside(const struct chance *node, struct window window)
{
	return smxi_node_upper(node) < window.alpha || smxi_node_lower(node) > window.beta;
}

/* Whether an interval answers all that a search in the window could. */
static inline bool smxi_answers(struct interval interval, struct window window)
{
	return interval.lower == interval.upper || interval.upper < window.alpha || interval.lower > window.beta;
}

static inline struct window smxi_clamp(const struct searcher *s, smx_value alpha, smx_value beta)
{
	return (struct window){alpha < s->floor ? s->floor : alpha, beta > s->ceiling ? s->ceiling : beta};
}

/* The window in which a value v common to outcomes of weight w matters: below it the node's upper bound falls under alpha, above it
 * the lower bound passes beta, the others' bounds staying (low_rest, high_rest: their weighted sums). Ballard 1983, in integers. */
static inline struct window smxi_share_window(const struct searcher *s, const struct chance *node, struct window window,
                                              smx_value low_rest, smx_value high_rest, uint32_t w)
{
	const smx_value total = node->total;
	return smxi_clamp(s, smx_div_ceil(window.alpha * total - high_rest, w),
	                  smx_div_floor((window.beta + 1) * total - 1 - low_rest, w));
}

static inline void smxi_raise_lower(struct chance *node, unsigned i, smx_value lower)
{
	if (lower > node->lower[i]) {
		node->low += (smx_value)node->weight[i] * (lower - node->lower[i]);
		node->lower[i] = lower;
	}
}

static inline void smxi_reduce_upper(struct chance *node, unsigned i, smx_value upper)
{
	if (upper < node->upper[i]) {
		node->high -= (smx_value)node->weight[i] * (node->upper[i] - upper);
		node->upper[i] = upper;
	}
}

static inline void smxi_set_exact(struct chance *node, unsigned i, smx_value value)
{
	smxi_raise_lower(node, i, value);
	smxi_reduce_upper(node, i, value);
}

/* The reached value of an outcome moves as its afterstates are valued: one side of its interval. */
static inline void smxi_reach_value(struct chance *node, unsigned i, struct interval reply)
{
	if (node->maximise)
		smxi_raise_lower(node, i, reply.lower);
	else
		smxi_reduce_upper(node, i, reply.upper);
}

static inline const void *smxi_state_at(const struct searcher *s, const void *states, size_t i)
{
	return (const unsigned char *)states + i * s->game->state_size;
}

/* Whether the node's bound on its mover's side, which is what looking at single replies improves, can take it out of the window. */
static inline bool smxi_can_leave_early(const struct searcher *s, const struct chance *node, struct window window)
{
	return node->maximise ? window.beta < s->ceiling : window.alpha > s->floor;
}

static inline struct interval smxi_anything(const struct searcher *s)
{
	return (struct interval){s->floor, s->ceiling};
}

static inline void smxi_claim(const struct searcher *s, enum smx_claim_source source, unsigned stage,
                              const struct smx_visit *at, unsigned depth, struct interval interval)
{
	if (!s->options.on_claim)
		return;
	const struct smx_claim claim = {source, stage, depth, s->evaluated_side, interval.lower, interval.upper, *at};
	s->options.on_claim(s->options.claim_context, &claim);
}

/* Whether nodes above the leaves are searched as frames, where they fit. */
static inline bool smxi_makes_frames(const struct searcher *s)
{
	return s->options.star >= SMX_STAR2 && !s->options.no_frames && !s->selective;
}

/* The improbability of a step of weight w among total, so that those of several steps add up: -log2(w / total) in quarters of a bit, rounded. */
unsigned smxi_rarity(uint32_t w, uint32_t total);

static inline void smxi_lock(struct work *work)
{
	if (!work->shared)
		return;
	if (work->splitter->switch_thread)
		work->splitter->switch_thread(work->splitter->context);
	pthread_mutex_lock(&work->lock);
}

static inline void smxi_unlock(struct work *work)
{
	if (work->shared)
		pthread_mutex_unlock(&work->lock);
}

/* What is found counts as a task's where it is not the owner who found it. */
static inline void smxi_count_bound(struct searcher *s, const struct work *work, bool has_moved)
{
	s->counters.bounds_from_tasks += has_moved && s != work->owner;
}

/* Threads that wait may find something. */
static inline void smxi_tell_news(struct smx_search *search)
{
	atomic_fetch_add_explicit(&search->news, 1, memory_order_relaxed);
}

/* Under the lock. */
static inline void smxi_set_left(struct work *work, size_t left)
{
	if (!work->shared)
		return;
	const unsigned now = left > UINT32_MAX ? UINT32_MAX : (unsigned)left;
	const unsigned before = atomic_load_explicit(&work->left, memory_order_relaxed);
	atomic_store_explicit(&work->left, now, memory_order_relaxed);
	if (now > before)
		smxi_tell_news(work->owner->search);
}

/* Do all of a work, with whoever joins if others can; returns its end. `run` is set, the rest is made here. */
enum end smxi_work_together(struct searcher *s, struct work *work, bool can_share);
/* Under the lock: the work ends, with this, unless it has. */
void smxi_end_work(struct searcher *s, struct work *work, enum end end);
/* The owner, not under the lock, has nothing to do before the counter is no longer what it was. */
void smxi_wait_for_news(struct searcher *s, const struct work *work, const atomic_uint *counter, unsigned seen);
/* Between two items: let an idle thread have a part. */
void smxi_offer_work(struct searcher *s);

/* Whether to end: a stop was asked for, the budget is spent, or a work above has ended. Cheap enough for every outcome. */
bool smxi_must_stop(struct searcher *s);

/* A lock that is held for less time than it takes to fall asleep and be woken. */
void smxi_lock_init(pthread_mutex_t *lock);

/* The wall clock, in milliseconds since some moment. */
double smxi_now_ms(void);

/* Mark an outcome as ended: won or lost by the evaluated side. */
void smxi_decide(struct searcher *s, struct chance *node, unsigned outcome, bool won);

/* Search a chance node. At END_DONE the node's interval is exact, or outside the window. */
enum end smxi_search_chance(struct searcher *s, const struct visit *visit, struct chance *node);

/* Search the outcomes in `open` of an expanded chance node, depth >= 2, as one frame. *fits is false, and nothing done, where the node
 * has too many afterstates for one. */
enum end smxi_search_frame(struct searcher *s, const struct visit *visit, const void *expansion, uint64_t open,
                           struct chance *node, bool *fits);

/* Search them outcome by outcome (outcomes.c). */
enum end smxi_search_outcomes(struct searcher *s, const struct visit *visit, const void *expansion, uint64_t open,
                              struct chance *node);

/* The table, where there is one (table.c). A node's place in it depends on what distinguishes its values: position, depth, and where
 * branches are cut what one may still have of rarity. */
struct place smxi_table_place(const struct searcher *s, const void *state, unsigned depth, unsigned rarity);
/* Begin to fetch what it knows of a node. */
void smxi_table_prefetch(const struct searcher *s, const struct place *place);
/* Narrow an interval by what it knows, true where it knew anything; keep one. Nothing where there is no table. */
bool smxi_table_narrow(struct searcher *s, const struct smx_visit *at, const struct place *place,
                       struct interval *interval);
void smxi_table_keep(struct searcher *s, const struct place *place, struct interval interval);

/* Begin a run with a table; make the salts of its keys, where there is one. */
void smxi_table_begin(struct smx_table *table);
void smxi_table_salt(struct searcher *s, uint64_t fingerprint);

/* The second opinion on the root's candidates (rescore.c): whether there is one; whether its arguments are sound; ask it once, after which
 * every candidate has its rescore; the window that the search needs to find all candidates that may reach `best`; and the final value of
 * what it found. */
bool smxi_rescores(const struct smx_search_options *options);
enum smx_status smxi_rescore_check(const struct smx_search_options *options, struct smx_error *error);
enum end smxi_rescore_ask(struct searcher *s, const void *states, struct smx_candidate *list, size_t count);
smx_value smxi_rescore_alpha(const struct searcher *s, const struct smx_candidate *candidate, smx_value best);
void smxi_rescore_apply(const struct searcher *s, struct smx_candidate *candidate, bool loses);

/* What distinguishes the values of a game under an evaluator; values_hash from smxi_evaluator_check, 0 for the game's own. */
uint64_t smxi_fingerprint(const struct smx_game *game, const struct smx_evaluator *evaluator, uint64_t values_hash);

/* As smx_evaluator_check; also a hash of the values that the evaluator gave. The game's own evaluators pass unasked, with 0. */
enum smx_status smxi_evaluator_check(const struct smx_game *game, const struct smx_evaluator *evaluator,
                                     uint64_t *values_hash, struct smx_error *error);

#endif
