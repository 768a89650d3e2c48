/* A chance node searched outcome by outcome: decision nodes, leaves, probes.
 *
 * Star1 (Ballard 1983): each outcome is searched in the window that the bounds of the others leave it, heaviest first. Star2: before that,
 * the first afterstates of every outcome are valued, which bounds each from one side; several of them is Star2.5. What a probe found is
 * kept, and the full search of an outcome begins behind it. At the last turn the probes of all outcomes are evaluated in one batch. With
 * SMX_STAR_ETC the table is asked about all afterstates when they are listed for the probe.
 *
 * When the method is the wrong one: wherever a frame is possible. This is how the nodes are searched that are too large for one, the
 * leaves that the game cannot fold, and selective searches. */
#include "core/candidates.h"
#include "core/node.h"

#include <string.h>

enum {
	LEAVES_HELD = 1 << 18, /* most leaves of one node that are listed together */
	PLACES_AHEAD = 4,      /* of the table that are fetched */
};

/* One outcome under search. */
struct decision {
	unsigned outcome;
	bool listed;                 /* once at least: it is known whether it ends the game */
	bool taken;                  /* by a thread, for its full search */
	struct smx_afterstates list; /* in search order; states is NULL while it is not listed */
	size_t done;                 /* so many of them, from the first, are in best */
	struct interval best;        /* holds the value of the best of these */
};

/* What each thread at the node has of its own; behind the pointers is what they share. */
struct node_search {
	struct searcher *s;
	const struct visit *visit;
	const void *expansion;
	struct window window;       /* the visit's; alpha rises with its brothers' best */
	struct chance *node;        /* shared: changed under the lock */
	struct decision *decisions; /* of the open outcomes, in search order; a taken one is its taker's */
	unsigned count;
	struct work *work;
};

struct shared_search {
	struct work work; /* first: work_on_outcomes finds the rest by it */
	struct node_search n;
	unsigned next;
	struct decision decisions[SMX_OUTCOMES_MAX];
};

static bool prunes(const struct searcher *s)
{
	return s->options.star != SMX_STAR_NONE;
}

static bool is_settled(const struct node_search *n, const struct decision *d)
{
	return d->listed && n->node->lower[d->outcome] == n->node->upper[d->outcome];
}

static unsigned rarity_below(const struct node_search *n, unsigned outcome)
{
	return n->visit->rarity + smxi_rarity(n->node->weight[outcome], n->node->total);
}

/* Selective search: what is reached too seldom is not searched, but evaluated. */
static bool is_leaf(const struct node_search *n, unsigned outcome)
{
	const struct searcher *s = n->s;
	return n->visit->depth == 1 || (s->options.selective.reach > 0 && rarity_below(n, outcome) > s->rarity_most);
}

static enum end evaluate(struct node_search *n, const void *states, size_t count, smx_value **values)
{
	struct searcher *s = n->s;
	const struct smx_evaluator *evaluator = s->options.evaluator;
	*values = smx_arena_alloc(s->arena, count * sizeof **values);
	if (!*values)
		return END_NO_MEMORY;
	evaluator->evaluate(evaluator->context, states, count, s->evaluated_side, *values);
	s->counters.leaf_evaluations += count;
	return END_DONE;
}

static void take(const struct node_search *n, struct decision *d, struct interval reply)
{
	const bool maximise = n->node->maximise;
	if (d->done++ == 0) {
		d->best = reply;
		return;
	}
	if (maximise ? reply.lower > d->best.lower : reply.lower < d->best.lower)
		d->best.lower = reply.lower;
	if (maximise ? reply.upper > d->best.upper : reply.upper < d->best.upper)
		d->best.upper = reply.upper;
}

/* The best first by rank, equals as listed; only the first `count` of them are kept. */
static enum end reorder(struct node_search *n, struct smx_afterstates *list, struct smxi_rank *ranks, size_t count)
{
	struct searcher *s = n->s;
	const size_t size = s->game->state_size;
	unsigned char *states = smx_arena_alloc(s->arena, count * size);
	if (!states)
		return END_NO_MEMORY;
	smxi_rank_sort(ranks, list->count);
	for (size_t i = 0; i < count; i++)
		memcpy(states + i * size, smxi_state_at(s, list->states, ranks[i].index), size);
	*list = (struct smx_afterstates){states, count};
	return END_DONE;
}

/* Inner afterstates by the pre-ranker, leaves by the game's own cheap order where it has one. */
static enum end order_replies(struct node_search *n, struct smx_afterstates *list, bool leaves)
{
	struct searcher *s = n->s;
	const unsigned mover = n->node->maximise ? s->evaluated_side : 1 - s->evaluated_side;
	size_t kept = list->count;
	if (!leaves && s->options.selective.inner_width && s->options.selective.inner_width < kept)
		kept = s->options.selective.inner_width;
	if (kept == list->count && (!prunes(s) || kept == 1 || (leaves && !s->game->order)))
		return END_DONE;
	struct smxi_rank *ranks = smx_arena_alloc(s->arena, list->count * sizeof *ranks);
	if (!ranks)
		return END_NO_MEMORY;
	if (leaves) {
		int32_t *scores = smx_arena_alloc(s->arena, list->count * sizeof *scores);
		if (!scores)
			return END_NO_MEMORY;
		s->game->order(list->states, list->count, mover, scores);
		for (size_t i = 0; i < list->count; i++)
			ranks[i] = (struct smxi_rank){scores[i], (uint32_t)i};
	} else {
		smx_value *values = smx_arena_alloc(s->arena, list->count * sizeof *values);
		if (!values)
			return END_NO_MEMORY;
		const struct smx_evaluator *prerank = s->options.prerank;
		prerank->evaluate(prerank->context, list->states, list->count, mover, values);
		s->counters.order_evaluations += list->count;
		for (size_t i = 0; i < list->count; i++)
			ranks[i] = (struct smxi_rank){values[i], (uint32_t)i};
	}
	return reorder(n, list, ranks, kept);
}

/* List an outcome's afterstates in search order, or decide it: then its list stays empty. */
static enum end list_replies(struct node_search *n, struct decision *d, bool probing)
{
	struct searcher *s = n->s;
	const bool leaves = is_leaf(n, d->outcome);
	struct smx_afterstates list;
	d->listed = true;
	const enum smx_node end = s->game->afterstates(n->expansion, d->outcome, s->arena, &list);
	switch (end) {
	case SMX_NODE_NO_MEMORY:
		return END_NO_MEMORY;
	case SMX_NODE_WON:
	case SMX_NODE_LOST:
		smxi_lock(n->work);
		smxi_decide(s, n->node, d->outcome, (end == SMX_NODE_WON) == n->node->maximise);
		smxi_unlock(n->work);
		return END_DONE;
	case SMX_NODE_OPEN:
		break;
	}
	assert(list.count >= 1);
	d->list = list;
	s->counters.afterstates += d->list.count;
	return leaves && !probing ? END_DONE : order_replies(n, &d->list, leaves);
}

/* No value is better for the mover. */
static bool is_best_possible(const struct node_search *n, const struct decision *d)
{
	return prunes(n->s) && d->done &&
	       (n->node->maximise ? d->best.lower >= n->s->ceiling : d->best.upper <= n->s->floor);
}

/* Whether an outcome has left its window on its mover's side: then its other afterstates do not matter, and the node ends. */
static bool has_left(const struct node_search *n, const struct decision *d, struct window window)
{
	return prunes(n->s) && d->done && (n->node->maximise ? d->best.lower > window.beta : d->best.upper < window.alpha);
}

/* Bounds of every outcome of a chance node. */
static struct interval span_of(const struct searcher *s, const struct smx_visit *at, unsigned depth)
{
	struct interval span = smxi_anything(s);
	if (s->span) {
		s->game->span(at->state, s->options.evaluator, s->evaluated_side, depth, &span.lower, &span.upper);
		smxi_claim(s, SMX_CLAIM_LOOK, 0, at, depth, span);
	}
	return span;
}

static struct place place_ahead(const struct searcher *s, const void *state, const struct visit *child)
{
	const struct place place = smxi_table_place(s, state, child->depth, child->rarity);
	smxi_table_prefetch(s, &place);
	return place;
}

/* Value an outcome's afterstates, those before `until` that are not done, or until it has left the window. */
static enum end search_replies(struct node_search *n, struct decision *d, size_t until, struct window window)
{
	struct searcher *s = n->s;
	if (is_leaf(n, d->outcome)) {
		if (d->done == until)
			return END_DONE;
		smx_value *values;
		const size_t count = until - d->done;
		const enum end end = evaluate(n, smxi_state_at(s, d->list.states, d->done), count, &values);
		for (size_t i = 0; end == END_DONE && i < count; i++)
			take(n, d, (struct interval){values[i], values[i]});
		return end;
	}
	struct visit child = {
		.at = {.parent = &n->visit->at},
		.depth = n->visit->depth - 1,
		.rarity = s->options.selective.reach > 0 ? rarity_below(n, d->outcome) : 0,
	};
	struct place places[PLACES_AHEAD]; /* of those before `ahead`, the last ones */
	size_t ahead = d->done;
	while (d->done < until && !has_left(n, d, window) && !is_best_possible(n, d)) {
		for (; s->options.table && ahead < until && ahead < d->done + PLACES_AHEAD; ahead++)
			places[ahead % PLACES_AHEAD] = place_ahead(s, smxi_state_at(s, d->list.states, ahead), &child);
		child.at.state = smxi_state_at(s, d->list.states, d->done);
		child.place = &places[d->done % PLACES_AHEAD];
		child.known = span_of(s, &child.at, child.depth);
		child.window = window;
		if (prunes(s) && d->done) { /* a tie with the best adds nothing here */
			if (n->node->maximise && d->best.lower >= window.alpha)
				child.window.alpha = d->best.lower + 1;
			if (!n->node->maximise && d->best.upper <= window.beta)
				child.window.beta = d->best.upper - 1;
		}
		if (smxi_answers(child.known, child.window)) {
			s->counters.settled_stage_0++;
		} else if (smxi_table_narrow(s, &child.at, child.place, &child.known) &&
		           smxi_answers(child.known, child.window)) {
			s->counters.cutoffs_table++;
		} else {
			struct chance node;
			const enum end end = smxi_search_chance(s, &child, &node);
			if (end != END_DONE)
				return end;
			child.known = smxi_node_interval(&node);
		}
		take(n, d, child.known);
	}
	return END_DONE;
}

static struct window window_of(const struct node_search *n, unsigned outcome)
{
	const struct chance *node = n->node;
	if (!prunes(n->s))
		return (struct window){n->s->floor, n->s->ceiling};
	const smx_value w = node->weight[outcome];
	return smxi_share_window(n->s, node, n->window, node->low - w * node->lower[outcome],
	                         node->high - w * node->upper[outcome], (uint32_t)w);
}

/* Whether the node is left now; what that saves is counted. */
static bool is_left(struct node_search *n, uint64_t *cutoffs)
{
	struct searcher *s = n->s;
	if (!prunes(s) || !smxi_outside(n->node, n->window))
		return false;
	++*cutoffs;
	for (unsigned i = 0; i < n->count; i++) {
		const struct decision *d = &n->decisions[i];
		s->counters.outcomes_saved += !d->taken && d->done == 0 && !is_settled(n, d);
	}
	return true;
}

static size_t probed_replies(const struct node_search *n, const struct decision *d)
{
	const size_t wanted = n->s->options.probe_replies ? n->s->options.probe_replies : 1;
	return wanted < d->list.count ? wanted : d->list.count;
}

/* List the outcomes, as far as they may be held, and evaluate the first leaves of all together. */
static enum end probe_leaves(struct node_search *n)
{
	struct searcher *s = n->s;
	size_t held = 0, probes = 0;
	for (unsigned i = 0; i < n->count && held <= LEAVES_HELD; i++) {
		const enum end end = smxi_must_stop(s) ? END_STOPPED : list_replies(n, &n->decisions[i], true);
		if (end != END_DONE)
			return end;
		held += n->decisions[i].list.count;
		probes += probed_replies(n, &n->decisions[i]);
	}
	if (!probes)
		return END_DONE;
	const size_t size = s->game->state_size;
	unsigned char *states = smx_arena_alloc(s->arena, probes * size), *next = states;
	if (!states)
		return END_NO_MEMORY;
	for (unsigned i = 0; i < n->count; i++) {
		const struct decision *d = &n->decisions[i];
		if (!d->list.states)
			continue;
		const size_t bytes = probed_replies(n, d) * size;
		memcpy(next, d->list.states, bytes);
		next += bytes;
	}
	smx_value *value;
	const enum end end = evaluate(n, states, probes, &value);
	if (end != END_DONE)
		return end;
	for (unsigned i = 0; i < n->count; i++) {
		struct decision *d = &n->decisions[i];
		for (size_t left = probed_replies(n, d); left; left--, value++)
			take(n, d, (struct interval){*value, *value});
		if (d->done)
			smxi_reach_value(n->node, d->outcome, d->best);
	}
	s->counters.probes += probes;
	return END_DONE;
}

static void ask_table(struct node_search *n, const struct decision *d)
{
	struct searcher *s = n->s;
	const unsigned rarity = rarity_below(n, d->outcome);
	for (size_t i = 0; i < d->list.count; i++) {
		const struct smx_visit at = {smxi_state_at(s, d->list.states, i), &n->visit->at};
		struct interval known = smxi_anything(s);
		const struct place place = smxi_table_place(s, at.state, n->visit->depth - 1, rarity);
		if (smxi_table_narrow(s, &at, &place, &known))
			smxi_reach_value(n->node, d->outcome, known);
	}
}

/* Bound one outcome: by what the table knows of its afterstates, then by searching the first. */
static enum end probe_replies(struct node_search *n, struct decision *d, bool *left)
{
	struct searcher *s = n->s;
	const enum end listed = list_replies(n, d, true);
	if (listed != END_DONE || !d->list.states)
		return listed;
	if (s->options.star == SMX_STAR_ETC && s->options.table) {
		ask_table(n, d);
		*left = is_left(n, &s->counters.cutoffs_etc);
		if (*left)
			return END_DONE;
	}
	const enum end end = search_replies(n, d, probed_replies(n, d), window_of(n, d->outcome));
	if (end == END_DONE) {
		s->counters.probes += d->done;
		smxi_reach_value(n->node, d->outcome, d->best);
	}
	return end;
}

static enum end probe(struct node_search *n, bool *left)
{
	struct searcher *s = n->s;
	enum end end = END_DONE;
	if (n->visit->depth == 1) {
		end = probe_leaves(n);
		*left = end == END_DONE && is_left(n, &s->counters.cutoffs_probe);
		return end;
	}
	for (unsigned i = 0; i < n->count && end == END_DONE && !*left; i++) {
		struct decision *d = &n->decisions[i];
		if (is_leaf(n, d->outcome))
			continue;
		const struct smx_arena_mark mark = smx_arena_mark(s->arena);
		end = smxi_must_stop(s) ? END_STOPPED : probe_replies(n, d, left);
		smx_arena_release(s->arena, mark);
		d->list = (struct smx_afterstates){0}; /* listed again, in the same order, if it comes to that */
		if (end == END_DONE && !*left)
			*left = is_left(n, &s->counters.cutoffs_probe);
	}
	return end;
}

/* The whole outcome, behind what was probed. */
static enum end search_decision(struct node_search *n, struct decision *d, struct window window)
{
	struct searcher *s = n->s;
	if (!d->list.states) {
		const enum end end = list_replies(n, d, d->done > 0);
		if (end != END_DONE || !d->list.states)
			return end;
	}
	s->counters.branches_cut += is_leaf(n, d->outcome) && n->visit->depth > 1;
	return search_replies(n, d, d->list.count, window);
}

/* What a full search has found. */
static void conclude(struct node_search *n, const struct decision *d)
{
	if (!d->done)
		return; /* it was decided */
	smxi_reach_value(n->node, d->outcome, d->best);
	if (d->done == d->list.count) { /* the other side too */
		smxi_raise_lower(n->node, d->outcome, d->best.lower);
		smxi_reduce_upper(n->node, d->outcome, d->best.upper);
	}
}

/* Under the lock: whether the node is left because its brothers' best has risen. */
static bool is_overtaken(struct node_search *n)
{
	const struct brothers *brothers = n->visit->brothers;
	const smx_value best = brothers ? atomic_load_explicit(&brothers->best, memory_order_relaxed) : n->window.alpha;
	if (best <= n->window.alpha)
		return false;
	n->window.alpha = best;
	return is_left(n, &n->s->counters.cutoffs_low);
}

static void work_on_outcomes(struct searcher *s, struct work *work)
{
	struct shared_search *shared = (struct shared_search *)work;
	struct node_search n = shared->n;
	n.s = s;
	smxi_lock(work);
	while (!atomic_load_explicit(&work->ended, memory_order_relaxed) && shared->next < n.count) {
		if (is_overtaken(&n)) {
			smxi_end_work(s, work, END_DONE);
			break;
		}
		struct decision *d = &n.decisions[shared->next++];
		if (is_settled(&n, d))
			continue;
		d->taken = true;
		const struct window window = window_of(&n, d->outcome);
		smxi_set_left(work, n.count - shared->next);
		smxi_unlock(work);
		smxi_offer_work(s);
		const struct smx_arena_mark mark = smx_arena_mark(s->arena);
		const enum end end = smxi_must_stop(s) ? END_STOPPED : search_decision(&n, d, window);
		smx_arena_release(s->arena, mark);
		smxi_lock(work);
		const smx_value known_before = n.node->high - n.node->low;
		if (end == END_DONE)
			conclude(&n, d);
		smxi_count_bound(s, work, n.node->high - n.node->low != known_before);
		const bool low = smxi_node_upper(n.node) < n.window.alpha;
		const bool has_ended = atomic_load_explicit(&work->ended, memory_order_relaxed);
		if (end != END_DONE || (!has_ended && is_left(&n, low ? &s->counters.cutoffs_low : &s->counters.cutoffs_high)))
			smxi_end_work(s, work, end);
	}
	smxi_set_left(work, 0); /* what was left may all have been settled */
	smxi_unlock(work);
}

/* The heaviest first, equals in the game's order. */
static void sort_outcomes(struct node_search *n, uint64_t open)
{
	for (; open; open &= open - 1) {
		const unsigned outcome = (unsigned)__builtin_ctzll(open);
		unsigned at = n->count++;
		if (prunes(n->s))
			for (; at > 0 && n->node->weight[n->decisions[at - 1].outcome] < n->node->weight[outcome]; at--)
				n->decisions[at] = n->decisions[at - 1];
		n->decisions[at] = (struct decision){.outcome = outcome};
	}
}

enum end smxi_search_outcomes(struct searcher *s, const struct visit *visit, const void *expansion, uint64_t open,
                              struct chance *node)
{
	struct shared_search shared = {.work = {.run = work_on_outcomes, .rank = visit->rank, .brothers = visit->brothers}};
	shared.n = (struct node_search){
		.s = s,
		.visit = visit,
		.window = visit->window,
		.expansion = expansion,
		.node = node,
		.decisions = shared.decisions,
		.work = &shared.work,
	};
	sort_outcomes(&shared.n, open);
	if (s->span) {
		const struct interval span = span_of(s, &visit->at, visit->depth);
		for (uint64_t left = open; left; left &= left - 1) {
			smxi_raise_lower(node, (unsigned)__builtin_ctzll(left), span.lower);
			smxi_reduce_upper(node, (unsigned)__builtin_ctzll(left), span.upper);
		}
	}
	bool left = false;
	if (s->options.star >= SMX_STAR2 && smxi_can_leave_early(s, node, visit->window)) {
		const enum end end = probe(&shared.n, &left);
		if (end != END_DONE || left)
			return end;
	}
	/* leaves are worth no second thread, and their lists are on this one's arena */
	return smxi_work_together(s, &shared.work, visit->depth > 1);
}
