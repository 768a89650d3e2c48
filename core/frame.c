/* Frames: a chance node searched not outcome by outcome but afterstate by afterstate.
 *
 * All afterstates of all open outcomes are listed, each once, with the mask of the outcomes that reach it. Each outcome has the value
 * its side has reached so far, which bounds it from one side: a minimiser's upper, a maximiser's lower bound. Searching the
 * afterstate that promises the largest move of the node's bound (the sum over its outcomes of weight * what it betters) first is
 * Star2's probing carried through: every look goes where it helps the whole node most.
 *
 * An afterstate is searched only in the window in which it can still better one of its outcomes, or end the node; most are settled by a
 * bound before they are opened (game->look, game->bound), from cheap to dear. Outcomes become exact when all their afterstates are settled.
 *
 * Afterstates that the same outcomes reach form a group: in it the one with the best estimate always promises most. Promises only shrink as
 * outcomes improve, so a heap of the groups whose top is computed again when it is taken stays right. When nothing promises anything, the
 * rest is settled in listed order.
 *
 * When the method is the wrong one: a node whose afterstates do not fit in memory (FRAME_MAX), and leaves, whose evaluation is cheaper
 * than any thought about their order. */
#include "core/node.h"

#include <string.h>

enum { FRAME_MAX = 1 << 18, STEPS_PER_CLOCK_LOOK = 64, PREFETCH_AHEAD = 16, LISTED_WORTH_ONE = 64 };

struct reply {
	const void *state;
	uint64_t mask;
	struct smx_glance glance; /* narrowed by the table, too */
	uint32_t group;
	uint8_t stage; /* bounds asked for so far */
	bool from_table;
};

/* Replies of one mask. The first is the best; the others are in no order until it is taken, and then a heap. */
struct group {
	uint64_t mask;
	uint32_t *replies; /* by index */
	uint32_t count;
	bool is_heap;
	smx_value promise; /* of the best, once; at least what it is now */
};

struct frame {
	struct work work;   /* first: work_on_frame finds the frame by it */
	struct searcher *s; /* the owner */
	const struct visit *visit;
	struct window window; /* the visit's, with an alpha that may have risen since */
	struct chance *node;
	bool asks_table; /* settle() does */
	struct reply *replies;
	uint32_t count;
	struct group *groups;
	uint32_t group_count;
	uint32_t *heap; /* of groups */
	uint32_t heap_count;
	uint32_t next; /* of the replies as listed */
};

/* How far the node's bound would move if the reply were worth its estimate. */
static smx_value promise_of(const struct chance *node, const struct reply *reply)
{
	smx_value promise = 0;
	for (uint64_t left = reply->mask; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		const smx_value better =
			node->maximise ? reply->glance.estimate - node->lower[i] : node->upper[i] - reply->glance.estimate;
		if (better > 0)
			promise += (smx_value)node->weight[i] * better;
	}
	return promise;
}

static bool is_better_reply(const struct frame *f, uint32_t a, uint32_t b)
{
	const smx_value left = f->replies[a].glance.estimate, right = f->replies[b].glance.estimate;
	if (left != right)
		return (left > right) == f->node->maximise;
	return a < b;
}

static bool promises_more(const struct frame *f, uint32_t a, uint32_t b)
{
	const struct group *left = &f->groups[a], *right = &f->groups[b];
	return left->promise > right->promise || (left->promise == right->promise && left->replies[0] < right->replies[0]);
}

static void sink(const struct frame *f, uint32_t *heap, uint32_t count, uint32_t at,
                 bool (*above)(const struct frame *, uint32_t, uint32_t))
{
	const uint32_t item = heap[at];
	for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && above(f, heap[child + 1], heap[child]))
			child++;
		if (!above(f, heap[child], item))
			break;
		heap[at] = heap[child];
	}
	heap[at] = item;
}

static void take_best(struct frame *f, struct group *group)
{
	if (!group->is_heap)
		for (uint32_t i = group->count / 2; i-- > 0;)
			sink(f, group->replies, group->count, i, is_better_reply);
	group->is_heap = true;
	group->replies[0] = group->replies[--group->count];
	if (group->count)
		sink(f, group->replies, group->count, 0, is_better_reply);
}

/* Give every reply its group, and the groups their room. */
static enum end make_groups(struct frame *f)
{
	struct smx_arena *arena = f->s->arena;
	size_t shared = 0; /* replies of several outcomes */
	for (uint32_t i = 0; i < f->count; i++)
		shared += (f->replies[i].mask & (f->replies[i].mask - 1)) != 0;
	size_t slots = 1;
	while (slots < 2 * shared)
		slots *= 2;
	const size_t most = shared + SMX_OUTCOMES_MAX;
	f->groups = smx_arena_alloc(arena, most * sizeof *f->groups);
	f->heap = smx_arena_alloc(arena, most * sizeof *f->heap);
	uint32_t *slot = smx_arena_alloc(arena, slots * sizeof *slot); /* group + 1 of a mask; 0: free */
	uint32_t *room = smx_arena_alloc(arena, f->count * sizeof *room);
	if (!f->groups || !f->heap || !slot || !room)
		return END_NO_MEMORY;
	memset(slot, 0, slots * sizeof *slot);
	uint32_t single[SMX_OUTCOMES_MAX] = {0}; /* the same of one outcome */
	for (uint32_t i = 0; i < f->count; i++) {
		const uint64_t mask = f->replies[i].mask;
		uint32_t *place = &single[__builtin_ctzll(mask)];
		if (mask & (mask - 1)) {
			size_t at = (mask * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (slots - 1);
			while (slot[at] && f->groups[slot[at] - 1].mask != mask)
				at = (at + 1) & (slots - 1);
			place = &slot[at];
		}
		if (!*place) {
			f->groups[f->group_count] = (struct group){.mask = mask};
			*place = ++f->group_count;
		}
		f->replies[i].group = *place - 1;
		f->groups[*place - 1].count++;
	}
	for (uint32_t g = 0; g < f->group_count; g++) {
		f->groups[g].replies = room;
		room += f->groups[g].count;
		f->groups[g].count = 0;
	}
	return END_DONE;
}

static void join_group(struct frame *f, uint32_t index)
{
	struct group *group = &f->groups[f->replies[index].group];
	const uint32_t at = group->count++;
	group->replies[at] = index;
	if (is_better_reply(f, index, group->replies[0])) {
		group->replies[at] = group->replies[0];
		group->replies[0] = index;
	}
}

/* List the open outcomes' afterstates, each once. */
static enum end list_replies(struct frame *f, const void *expansion, uint64_t open, bool *fits)
{
	struct searcher *s = f->s;
	struct smx_afterstates lists[SMX_OUTCOMES_MAX];
	uint64_t listed = 0, won = 0, lost = 0;
	size_t total = 0;
	for (uint64_t left = open; left; left &= left - 1) {
		const unsigned outcome = (unsigned)__builtin_ctzll(left);
		const uint64_t bit = UINT64_C(1) << outcome;
		if (smxi_must_stop(s))
			return END_STOPPED;
		switch (s->game->afterstates(expansion, outcome, s->arena, &lists[outcome])) {
		case SMX_NODE_NO_MEMORY:
			return END_NO_MEMORY;
		case SMX_NODE_WON:
			won |= bit;
			break;
		case SMX_NODE_LOST:
			lost |= bit;
			break;
		case SMX_NODE_OPEN:
			listed |= bit;
			total += lists[outcome].count;
			break;
		}
		if (total > FRAME_MAX) {
			*fits = false;
			return END_DONE;
		}
	}
	for (uint64_t left = won | lost; left; left &= left - 1) {
		const unsigned outcome = (unsigned)__builtin_ctzll(left);
		smxi_decide(s, f->node, outcome, (won >> outcome & 1) == f->node->maximise);
	}
	size_t slots = 64;
	while (slots < 2 * total)
		slots *= 2;
	f->replies = smx_arena_alloc(s->arena, total * sizeof *f->replies);
	uint32_t *slot = smx_arena_alloc(s->arena, slots * sizeof *slot);
	if (!f->replies || !slot)
		return END_NO_MEMORY;
	memset(slot, 0, slots * sizeof *slot);
	for (uint64_t left = listed; left; left &= left - 1) {
		const unsigned outcome = (unsigned)__builtin_ctzll(left);
		for (size_t i = 0; i < lists[outcome].count; i++) {
			const void *state = smxi_state_at(s, lists[outcome].states, i);
			const struct smx_key *key = &((const struct smx_state *)state)->key;
			size_t at = key->word[0] & (slots - 1);
			while (slot[at] &&
			       memcmp(&((const struct smx_state *)f->replies[slot[at] - 1].state)->key, key, sizeof *key) != 0)
				at = (at + 1) & (slots - 1);
			if (!slot[at]) {
				slot[at] = ++f->count;
				f->replies[f->count - 1] = (struct reply){.state = state};
			}
			f->replies[slot[at] - 1].mask |= UINT64_C(1) << outcome;
		}
	}
	s->counters.afterstates += f->count;
	return END_DONE;
}

static struct interval interval_of(const struct reply *reply)
{
	return (struct interval){reply->glance.lower, reply->glance.upper};
}

static smx_value clamped(smx_value value, struct interval interval)
{
	return value < interval.lower ? interval.lower : value > interval.upper ? interval.upper : value;
}

/* What the table knows of a reply; true where it knows anything. */
static bool ask_table(const struct frame *f, struct searcher *s, struct reply *reply)
{
	const struct smx_visit at = {reply->state, &f->visit->at};
	struct interval known = interval_of(reply);
	if (!smxi_table_narrow(s, &at, f->visit->depth - 1, &known))
		return false;
	reply->glance.lower = known.lower;
	reply->glance.upper = known.upper;
	reply->from_table = true;
	return true;
}

/* What is known of a reply bounds its outcomes on their mover's side. */
static void reach_value(const struct frame *f, uint64_t mask, struct interval known)
{
	for (uint64_t left = mask; left; left &= left - 1)
		smxi_reach_value(f->node, (unsigned)__builtin_ctzll(left), known);
}

static void claim(const struct frame *f, struct searcher *s, const struct reply *reply, enum smx_claim_source source)
{
	const struct smx_visit at = {reply->state, &f->visit->at};
	smxi_claim(s, source, reply->stage - 1u, &at, f->visit->depth - 1, interval_of(reply));
}

static enum end estimate_replies(struct frame *f)
{
	struct searcher *s = f->s;
	const struct smx_evaluator *evaluator = s->options.evaluator;
	const bool etc = s->options.star == SMX_STAR_ETC && s->options.table;
	f->asks_table = !etc;
	for (uint32_t i = 0; i < f->count; i++) {
		struct reply *reply = &f->replies[i];
		if (i % STEPS_PER_CLOCK_LOOK == 0 && smxi_must_stop(s))
			return END_STOPPED;
		if (s->look) {
			s->game->look(reply->state, 1, evaluator, s->evaluated_side, f->visit->depth - 1, &reply->glance);
			reply->stage = 1;
			claim(f, s, reply, SMX_CLAIM_LOOK);
		} else {
			reply->glance = (struct smx_glance){.lower = s->floor, .upper = s->ceiling};
			evaluator->evaluate(evaluator->context, reply->state, 1, s->evaluated_side, &reply->glance.estimate);
			s->counters.order_evaluations++;
			reply->stage = SMX_BOUND_STAGES;
		}
		/* a guess is the game's affair, but its distance from a value has to fit */
		reply->glance.estimate = clamped(reply->glance.estimate, smxi_anything(s));
		if (etc && i + PREFETCH_AHEAD < f->count)
			smxi_table_prefetch(s, f->replies[i + PREFETCH_AHEAD].state, f->visit->depth - 1);
		if (etc && ask_table(f, s, reply)) {
			reach_value(f, reply->mask, interval_of(reply));
			reply->glance.estimate = clamped(reply->glance.estimate, interval_of(reply));
		}
		join_group(f, i);
	}
	for (uint32_t g = 0; g < f->group_count; g++) {
		struct group *group = &f->groups[g];
		group->promise = promise_of(f->node, &f->replies[group->replies[0]]);
		if (group->promise > 0)
			f->heap[f->heap_count++] = g;
	}
	for (uint32_t i = f->heap_count / 2; i-- > 0;)
		sink(f, f->heap, f->heap_count, i, promises_more);
	return END_DONE;
}

/* The side's reach: the worst value reached among a reply's outcomes is what it must better. */
static smx_value to_better(const struct chance *node, uint64_t mask)
{
	smx_value worst = node->maximise ? INT64_MAX : INT64_MIN;
	for (; mask; mask &= mask - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(mask);
		if (node->maximise ? node->lower[i] < worst : node->upper[i] > worst)
			worst = node->maximise ? node->lower[i] : node->upper[i];
	}
	return worst;
}

static bool betters_nothing(const struct frame *f, const struct reply *reply, smx_value worst)
{
	return f->node->maximise ? reply->glance.upper <= worst : reply->glance.lower >= worst;
}

static void count_settled(struct searcher *s, const struct reply *reply)
{
	uint64_t *const counters[SMX_BOUND_STAGES] = {&s->counters.settled_stage_0, &s->counters.settled_stage_1,
	                                              &s->counters.settled_stage_2, &s->counters.settled_stage_3};
	++*(reply->from_table ? &s->counters.cutoffs_table : counters[reply->stage - 1]);
}

/* One edge: where the node ends; the other: where the reply betters nothing. Where bettering anything ends the node the window is
 * empty, and the reply only has to be on one side of it. */
static struct window reply_window(const struct frame *f, const struct reply *reply, smx_value worst)
{
	const struct chance *node = f->node;
	smx_value low_rest = node->low, high_rest = node->high;
	for (uint64_t left = reply->mask; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		low_rest -= (smx_value)node->weight[i] * node->lower[i];
		high_rest -= (smx_value)node->weight[i] * node->upper[i];
	}
	const struct window whole =
		smxi_share_window(f->s, node, f->window, low_rest, high_rest, smxi_weight_of(node, reply->mask));
	if (node->maximise)
		return (struct window){worst + 1, whole.beta > worst ? whole.beta : worst};
	return (struct window){whole.alpha < worst ? whole.alpha : worst, worst - 1};
}

/* A reply that was taken: from now on it is its taker's alone. */
struct item {
	struct reply *reply;
	uint64_t mask;
	struct window window;
};

/* Make a reply an item, unless it needs no work. */
static bool make_item(const struct frame *f, struct searcher *s, struct reply *reply, struct item *item)
{
	*item = (struct item){.reply = reply, .mask = reply->mask};
	const smx_value worst = to_better(f->node, reply->mask);
	bool is_open = f->node->maximise ? worst < s->ceiling : worst > s->floor;
	if (is_open && betters_nothing(f, reply, worst)) {
		count_settled(s, reply);
		is_open = false;
	}
	if (is_open)
		item->window = reply_window(f, reply, worst);
	reply->mask = 0;
	return is_open;
}

/* The next item: of the replies that promise something the one that promises most, then the others as listed. */
static bool take_item(struct frame *f, struct searcher *s, struct item *item)
{
	while (f->heap_count > 0) {
		struct group *group = &f->groups[f->heap[0]];
		struct reply *reply = &f->replies[group->replies[0]];
		const smx_value promise = promise_of(f->node, reply);
		const bool is_taken = promise > 0 && promise == group->promise;
		const bool is_item = is_taken && make_item(f, s, reply, item);
		if (is_taken)
			take_best(f, group);
		group->promise = group->count ? promise_of(f->node, &f->replies[group->replies[0]]) : 0;
		if (group->promise == 0) /* it will promise nothing again: what is left comes as listed */
			f->heap[0] = f->heap[--f->heap_count];
		if (f->heap_count)
			sink(f, f->heap, f->heap_count, 0, promises_more);
		if (is_item)
			return true;
	}
	while (f->next < f->count) {
		struct reply *reply = &f->replies[f->next++];
		if (reply->mask && make_item(f, s, reply, item))
			return true;
	}
	return false;
}

/* Whether what is known, by the table or by a dearer and dearer bound, answers all that a search of the reply could. */
static bool settle_unsearched(const struct frame *f, struct searcher *s, const struct item *item)
{
	struct reply *reply = item->reply;
	if (f->asks_table)
		ask_table(f, s, reply);
	for (;;) {
		if (smxi_answers(interval_of(reply), item->window)) {
			count_settled(s, reply);
			return true;
		}
		if (reply->stage == SMX_BOUND_STAGES || !s->game->bound ||
		    !s->game->bound(reply->state, s->options.evaluator, s->evaluated_side, f->visit->depth - 1, reply->stage,
		                    &reply->glance))
			return false;
		reply->stage++;
		reply->from_table = false;
		claim(f, s, reply, SMX_CLAIM_BOUND);
	}
}

/* Value an item: by a bound, by the table, or by searching it. */
static enum end settle(const struct frame *f, struct searcher *s, const struct item *item, struct interval *found)
{
	if (smxi_must_stop(s))
		return END_STOPPED;
	if (settle_unsearched(f, s, item)) {
		*found = interval_of(item->reply);
		return END_DONE;
	}
	smxi_offer_work(s);
	const struct visit child = {
		.at = {item->reply->state, &f->visit->at},
		.depth = f->visit->depth - 1,
		.window = item->window,
		.known = interval_of(item->reply),
	};
	struct chance node;
	const enum end end = smxi_search_chance(s, &child, &node);
	if (end == END_DONE)
		*found = smxi_node_interval(&node);
	return end;
}

/* Under the lock. */
static bool has_ended(struct frame *f, struct searcher *s)
{
	if (f->visit->best) {
		const smx_value best = atomic_load_explicit(f->visit->best, memory_order_relaxed);
		if (best > f->window.alpha) {
			f->window.alpha = best;
			if (smxi_outside(f->node, f->window))
				smxi_end_work(s, &f->work, END_DONE);
		}
	}
	return atomic_load_explicit(&f->work.ended, memory_order_relaxed);
}

/* The node's bound on its mover's side. */
static smx_value reach_of(const struct chance *node)
{
	return node->maximise ? node->low : node->high;
}

static void work_on_frame(struct searcher *s, struct work *work)
{
	struct frame *f = (struct frame *)work;
	struct item item;
	smxi_lock(work);
	while (!has_ended(f, s) && take_item(f, s, &item)) {
		smxi_set_left(work, f->heap_count ? f->heap_count : (f->count - f->next) / LISTED_WORTH_ONE);
		smxi_unlock(work);
		struct interval found;
		const enum end end = settle(f, s, &item, &found);
		smxi_lock(work);
		const smx_value reached = reach_of(f->node);
		if (end == END_DONE)
			reach_value(f, item.mask, found);
		smxi_count_bound(s, work, reach_of(f->node) != reached);
		if (end != END_DONE || smxi_outside(f->node, f->window))
			smxi_end_work(s, work, end);
	}
	smxi_set_left(work, 0);
	smxi_unlock(work);
}

static enum end settle_all(struct frame *f)
{
	struct chance *node = f->node;
	f->work.run = work_on_frame;
	atomic_init(&f->work.left, f->heap_count);
	const enum end end = smxi_work_together(f->s, &f->work, true);
	if (end != END_DONE || smxi_outside(node, f->window))
		return end;
	/* every reply is settled: what was reached is the value */
	for (unsigned i = 0; i < node->count; i++)
		if (node->maximise)
			smxi_reduce_upper(node, i, node->lower[i]);
		else
			smxi_raise_lower(node, i, node->upper[i]);
	return END_DONE;
}

/* Whether the node is left now; what that saves is counted. */
static bool is_left(const struct frame *f, uint64_t *cutoffs)
{
	const struct chance *node = f->node;
	struct searcher *s = f->s;
	if (!smxi_outside(node, f->window))
		return false;
	++*cutoffs;
	for (unsigned i = 0; i < node->count; i++) /* what none of its afterstates has bettered yet */
		if (node->weight[i])
			s->counters.outcomes_saved += node->maximise ? node->lower[i] == s->floor : node->upper[i] == s->ceiling;
	return true;
}

enum end smxi_search_frame(struct searcher *s, const struct visit *visit, const void *expansion, uint64_t open,
                           struct chance *node, bool *fits)
{
	struct frame f = {.s = s, .visit = visit, .window = visit->window, .node = node};
	const struct smx_arena_mark mark = smx_arena_mark(s->arena);
	*fits = true;
	enum end end = list_replies(&f, expansion, open, fits);
	if (!*fits)
		smx_arena_release(s->arena, mark);
	if (end != END_DONE || !*fits || is_left(&f, &s->counters.cutoffs_decided))
		return end;
	s->counters.frames++;
	end = make_groups(&f);
	if (end == END_DONE)
		end = estimate_replies(&f);
	if (end != END_DONE || is_left(&f, &s->counters.cutoffs_etc))
		return end;
	end = settle_all(&f);
	if (end == END_DONE)
		is_left(&f, smxi_node_upper(node) < f.window.alpha ? &s->counters.cutoffs_low : &s->counters.cutoffs_high);
	return end;
}
