/* What the files of the search share: the search object, a chance node as its parent sees it, and the arithmetic of windows. */
#ifndef SMXI_NODE_H
#define SMXI_NODE_H

#include <starmax/search.h>

#include <assert.h>
#include <stdatomic.h>

/* A node's value is known to lie in [lower, upper]; a search wants it where it can lie in the window [alpha, beta]. */
struct window {
	smx_value alpha, beta;
};

enum end {
	END_DONE,    /* the node is exact, or outside its window */
	END_STOPPED, /* no value: never ranked, never stored */
	END_NO_MEMORY,
};

/* A chance node under search. Invariants: lower[i] <= value of outcome i <= upper[i]; low = sum of weight * lower, high = sum of
 * weight * upper over all outcomes, so the node's value lies in [div_floor(low, total), div_floor(high, total)]. */
struct chance {
	unsigned count;
	uint32_t total;
	bool maximise;      /* the side that moves next is the evaluated side */
	uint64_t won, lost; /* outcomes known to end the game at once, for the evaluated side */
	smx_value low, high;
	uint32_t weight[SMX_OUTCOMES_MAX];
	smx_value lower[SMX_OUTCOMES_MAX], upper[SMX_OUTCOMES_MAX];
};

struct smx_search {
	const struct smx_game *game;
	struct smx_arena *arena;
	atomic_bool stop;
	struct smx_evaluator
		checked[2]; /* users' evaluators that passed the check last, whole: an address can be used again */

	/* of the run */
	struct smx_search_options options;
	unsigned evaluated_side;
	bool fold, look;
	smx_value floor, ceiling; /* of any node */
	double started_ms, reported_ms;
	bool limit_reached;   /* the node limit or the time limit ended the run */
	unsigned depth_plies; /* of the iteration */
	size_t candidates_completed, candidates;
	struct smx_counters counters;
	struct smx_result result;
};

static inline smx_value smxi_node_lower(const struct chance *node)
{
	return smx_div_floor(node->low, node->total);
}

static inline smx_value smxi_node_upper(const struct chance *node)
{
	return smx_div_floor(node->high, node->total);
}

/* The weight of a mask of outcomes. */
static inline uint32_t smxi_weight_of(const struct chance *node, uint64_t outcomes)
{
	uint32_t weight = 0;
	for (; outcomes; outcomes &= outcomes - 1)
		weight += node->weight[__builtin_ctzll(outcomes)];
	return weight;
}

/* Strictly: a node that ties with the window's edge is still wanted. */
static inline bool smxi_outside(const struct chance *node, struct window window)
{
	return smxi_node_upper(node) < window.alpha || smxi_node_lower(node) > window.beta;
}

static inline struct window smxi_clamp(const struct smx_search *s, smx_value alpha, smx_value beta)
{
	return (struct window){alpha < s->floor ? s->floor : alpha, beta > s->ceiling ? s->ceiling : beta};
}

/* The window in which a value v common to outcomes of weight w matters: below it the node's upper bound falls under alpha, above it
 * the lower bound passes beta, the others' bounds staying (low_rest, high_rest: their weighted sums). Ballard 1983, in integers. */
static inline struct window smxi_share_window(const struct smx_search *s, const struct chance *node,
                                              struct window window, smx_value low_rest, smx_value high_rest, uint32_t w)
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

static inline const void *smxi_state_at(const struct smx_search *s, const void *states, size_t i)
{
	return (const unsigned char *)states + i * s->game->state_size;
}

/* Whether the run has to end: a stop was asked for, or its budget is spent. Cheap enough for every outcome. */
bool smxi_must_stop(struct smx_search *s);

/* The wall clock, in milliseconds since some moment. */
double smxi_now_ms(void);

/* Mark an outcome as ended: won or lost by the evaluated side. */
void smxi_decide(struct smx_search *s, struct chance *node, unsigned outcome, bool won);

/* Search a chance node with depth >= 1 turns left. At END_DONE the node's interval is exact, or outside the window. */
enum end smxi_search_chance(struct smx_search *s, const void *state, unsigned depth, struct window window,
                            struct chance *node);

/* Search the outcomes in `open` of an expanded chance node, depth >= 2, as one frame. *fits is false, and nothing done, where the node
 * has too many afterstates for one. */
enum end smxi_search_frame(struct smx_search *s, const void *expansion, unsigned depth, struct window window,
                           uint64_t open, struct chance *node, bool *fits);

#endif
