/* Which afterstate of a frame is searched next.
 *
 * The one that promises the largest move of the node's bound. Afterstates that the same outcomes reach form a group: in it the one with the
 * best estimate always promises most. Promises only shrink as outcomes improve, so a heap of the groups whose top is computed again
 * when it is taken stays right. When nothing promises anything, the rest comes in listed order.
 *
 * Several threads: what a reply that was taken is worth is not known before it is valued, and the next best of its group will mostly turn out
 * to better nothing. So the group is held until then, and others take from other groups; only when there are none, from held ones. Where
 * items are large (is_inner), a second reply for an outcome that has no value at all yet is not taken either: its window would be
 * wide open, and its search dear. */
#include "core/frame.h"

#include <string.h>

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

static void push(struct frame *f, uint32_t group)
{
	uint32_t at = f->heap_count++;
	for (; at > 0 && promises_more(f, group, f->heap[(at - 1) / 2]); at = (at - 1) / 2)
		f->heap[at] = f->heap[(at - 1) / 2];
	f->heap[at] = group;
}

static void pop(struct frame *f)
{
	f->heap[0] = f->heap[--f->heap_count];
	if (f->heap_count)
		sink(f, f->heap, f->heap_count, 0, promises_more);
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
enum end smxi_replies_group(struct frame *f)
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
	f->held = smx_arena_alloc(arena, most * sizeof *f->held);
	uint32_t *slot = smx_arena_alloc(arena, slots * sizeof *slot); /* group + 1 of a mask; 0: free */
	uint32_t *room = smx_arena_alloc(arena, f->count * sizeof *room);
	if (!f->groups || !f->heap || !f->held || !slot || !room)
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

void smxi_replies_join(struct frame *f, uint32_t index)
{
	struct group *group = &f->groups[f->replies[index].group];
	const uint32_t at = group->count++;
	group->replies[at] = index;
	if (is_better_reply(f, index, group->replies[0])) {
		group->replies[at] = group->replies[0];
		group->replies[0] = index;
	}
}

static smx_value promise_of_best(const struct frame *f, const struct group *group)
{
	return group->count ? promise_of(f->node, &f->replies[group->replies[0]]) : 0;
}

void smxi_replies_order(struct frame *f)
{
	for (uint32_t g = 0; g < f->group_count; g++) {
		f->groups[g].promise = promise_of_best(f, &f->groups[g]);
		if (f->groups[g].promise > 0)
			f->heap[f->heap_count++] = g;
	}
	for (uint32_t i = f->heap_count / 2; i-- > 0;)
		sink(f, f->heap, f->heap_count, i, promises_more);
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

void smxi_count_settled(struct searcher *s, const struct reply *reply)
{
	uint64_t *const counters[SMX_BOUND_STAGES] = {&s->counters.settled_stage_0, &s->counters.settled_stage_1,
	                                              &s->counters.settled_stage_2, &s->counters.settled_stage_3};
	++*(reply->from_table ? &s->counters.cutoffs_table : counters[reply->stage - 1]);
}

/* One edge: where the node ends; the other: where the reply betters nothing. Where bettering anything ends the node the window is
 * empty, and the reply only has to be on one side of it. */
static struct window reply_window(const struct frame *f, uint64_t mask, smx_value worst)
{
	const struct chance *node = f->node;
	smx_value low_rest = node->low, high_rest = node->high;
	for (uint64_t left = mask; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		low_rest -= (smx_value)node->weight[i] * node->lower[i];
		high_rest -= (smx_value)node->weight[i] * node->upper[i];
	}
	const struct window whole =
		smxi_share_window(f->s, node, f->window, low_rest, high_rest, smxi_weight_of(node, mask));
	if (node->maximise)
		return (struct window){worst + 1, whole.beta > worst ? whole.beta : worst};
	return (struct window){whole.alpha < worst ? whole.alpha : worst, worst - 1};
}

struct window smxi_reply_window(const struct frame *f, uint64_t mask)
{
	return reply_window(f, mask, to_better(f->node, mask));
}

/* Make a reply an item, unless it needs no work. */
static bool make_item(const struct frame *f, struct searcher *s, struct reply *reply, struct item *item)
{
	*item = (struct item){.reply = reply, .mask = reply->mask};
	const smx_value worst = to_better(f->node, reply->mask);
	bool is_open = f->node->maximise ? worst < s->ceiling : worst > s->floor;
	if (is_open && betters_nothing(f, reply, worst)) {
		smxi_count_settled(s, reply);
		is_open = false;
	}
	if (is_open)
		item->window = reply_window(f, reply->mask, worst);
	reply->mask = 0;
	return is_open;
}

static bool has_value(const struct frame *f, unsigned outcome)
{
	const struct chance *node = f->node;
	return node->maximise ? node->lower[outcome] > f->s->floor : node->upper[outcome] < f->s->ceiling;
}

static void note_unvalued(struct frame *f, struct item *item)
{
	for (uint64_t left = f->work.shared ? item->mask : 0; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		if (has_value(f, i))
			continue;
		item->unvalued |= UINT64_C(1) << i;
		f->unvalued_count[i]++;
	}
	f->unvalued |= item->unvalued;
}

/* A group's best reply as an item; false where it needs no work. */
static bool take_from(struct frame *f, struct searcher *s, uint32_t g, struct item *item)
{
	struct group *group = &f->groups[g];
	const bool is_item = make_item(f, s, &f->replies[group->replies[0]], item);
	take_best(f, group);
	if (!is_item)
		return false;
	note_unvalued(f, item);
	item->group = g;
	item->is_of_group = true;
	group->taken++;
	return true;
}

static bool is_held(const struct frame *f, const struct group *group)
{
	return group->taken || group->mask & f->unvalued;
}

/* A group that promises nothing now will promise nothing again: what is left of it comes as listed. */
static void put_back(struct frame *f, uint32_t g)
{
	f->groups[g].promise = promise_of_best(f, &f->groups[g]);
	if (f->groups[g].promise > 0)
		push(f, g);
}

void smxi_replies_done(struct frame *f, const struct item *item)
{
	for (uint64_t left = item->unvalued; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		if (--f->unvalued_count[i] == 0)
			f->unvalued &= ~(UINT64_C(1) << i);
	}
	if (item->is_of_group)
		f->groups[item->group].taken--;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < f->held_count; i++) {
		const uint32_t g = f->held[i];
		if (is_held(f, &f->groups[g]))
			f->held[kept++] = g;
		else
			put_back(f, g);
	}
	f->held_count = kept;
}

/* Of the held groups the one that promises most. NOTHING_LEFT where none promises anything. */
static enum taking find_held(const struct frame *f, uint32_t *found)
{
	smx_value most = 0;
	bool is_later = false;
	for (uint32_t i = 0; i < f->held_count; i++) {
		const struct group *group = &f->groups[f->held[i]];
		const smx_value promise = promise_of_best(f, group);
		if (promise > 0 && f->is_inner && group->mask & f->unvalued) {
			is_later = true;
		} else if (promise > most) {
			most = promise;
			*found = f->held[i];
		}
	}
	return most > 0 ? TAKEN : is_later ? NOTHING_NOW : NOTHING_LEFT;
}

static bool take_promising(struct frame *f, struct searcher *s, struct item *item)
{
	while (f->heap_count > 0) {
		const uint32_t g = f->heap[0];
		struct group *group = &f->groups[g];
		const smx_value promise = promise_of_best(f, group);
		if (promise > 0 && promise < group->promise) {
			group->promise = promise;
			sink(f, f->heap, f->heap_count, 0, promises_more);
			continue;
		}
		pop(f);
		if (promise == 0)
			continue;
		const bool was_held = is_held(f, group), is_item = !was_held && take_from(f, s, g, item);
		if (was_held || is_item)
			f->held[f->held_count++] = g;
		else
			put_back(f, g);
		if (is_item)
			return true;
	}
	return false;
}

/* Several at a time, where the items are small: in what is left no order is better than another. */
static unsigned take_listed(struct frame *f, struct searcher *s, struct item *items)
{
	const unsigned most = f->work.shared && !f->is_inner ? ITEMS_MOST : 1;
	unsigned count = 0;
	while (count < most && f->next < f->count) {
		struct reply *reply = &f->replies[f->next++];
		count += reply->mask && make_item(f, s, reply, &items[count]);
	}
	return count;
}

enum taking smxi_replies_take(struct frame *f, struct searcher *s, struct item *items, unsigned *count)
{
	*count = 1;
	if (take_promising(f, s, items))
		return TAKEN;
	uint32_t g;
	for (enum taking taking; (taking = find_held(f, &g)) != NOTHING_LEFT;) {
		if (taking == NOTHING_NOW)
			return NOTHING_NOW;
		if (take_from(f, s, g, items))
			return TAKEN;
	}
	*count = take_listed(f, s, items);
	return *count ? TAKEN : NOTHING_LEFT;
}
