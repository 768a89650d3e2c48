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
 * Which afterstate promises most is replies.c's affair. Several threads take from one frame at once. What one of them finds makes the windows
 * narrower in which the others search, and these look for it at every afterstate (renew_window): each window is made of bounds that are
 * true, the newest being the narrowest.
 *
 * When the method is the wrong one: a node whose afterstates do not fit in memory (FRAME_MAX), and leaves, whose evaluation is cheaper
 * than any thought about their order. */
#include "core/frame.h"

#include <string.h>

enum { FRAME_MAX = 1 << 18, STEPS_PER_CLOCK_LOOK = 64, PREFETCH_AHEAD = 16, LISTED_WORTH_ONE = 64 };

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

static smx_value clamped(smx_value value, struct interval interval)
{
	return value < interval.lower ? interval.lower : value > interval.upper ? interval.upper : value;
}

/* What the table knows of a reply; true where it knows anything. */
static bool ask_table(const struct frame *f, struct searcher *s, struct reply *reply)
{
	const struct smx_visit at = {reply->state, &f->visit->at};
	struct interval known = smxi_reply_interval(reply);
	const struct place place = smxi_table_place(s, reply->state, f->visit->depth - 1, 0);
	if (!smxi_table_narrow(s, &at, &place, &known))
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
	smxi_claim(s, source, reply->stage - 1u, &at, f->visit->depth - 1, smxi_reply_interval(reply));
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
		if (etc && i + PREFETCH_AHEAD < f->count) {
			const void *ahead = f->replies[i + PREFETCH_AHEAD].state;
			const struct place place = smxi_table_place(s, ahead, f->visit->depth - 1, 0);
			smxi_table_prefetch(s, &place);
		}
		if (etc && ask_table(f, s, reply)) {
			reach_value(f, reply->mask, smxi_reply_interval(reply));
			reply->glance.estimate = clamped(reply->glance.estimate, smxi_reply_interval(reply));
		}
		smxi_replies_join(f, i);
	}
	smxi_replies_order(f);
	return END_DONE;
}

/* Whether what is known, by the table or by a dearer and dearer bound, answers all that a search of the reply could. */
static bool settle_unsearched(const struct frame *f, struct searcher *s, const struct item *item)
{
	struct reply *reply = item->reply;
	if (f->asks_table)
		ask_table(f, s, reply);
	for (;;) {
		if (smxi_answers(smxi_reply_interval(reply), item->window)) {
			smxi_count_settled(s, reply);
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
static enum end settle(struct frame *f, struct searcher *s, struct item *item)
{
	if (smxi_must_stop(s))
		return END_STOPPED;
	if (settle_unsearched(f, s, item)) {
		item->found = smxi_reply_interval(item->reply);
		return END_DONE;
	}
	smxi_offer_work(s);
	const struct origin origin = {f, item};
	const struct visit child = {
		.at = {item->reply->state, &f->visit->at},
		.depth = f->visit->depth - 1,
		.window = item->window,
		.known = smxi_reply_interval(item->reply),
		.origin = f->work.shared ? &origin : NULL,
	};
	struct chance node;
	const enum end end = smxi_search_chance(s, &child, &node);
	if (end == END_DONE)
		item->found = smxi_node_interval(&node);
	return end;
}

/* Under the lock. */
static void narrow(struct frame *f, struct searcher *s, struct window window)
{
	const bool is_narrower = window.alpha > f->window.alpha || window.beta < f->window.beta;
	if (!is_narrower)
		return;
	f->window.alpha = window.alpha > f->window.alpha ? window.alpha : f->window.alpha;
	f->window.beta = window.beta < f->window.beta ? window.beta : f->window.beta;
	atomic_fetch_add_explicit(&f->news, 1, memory_order_relaxed);
	if (smxi_outside(f->node, f->window))
		smxi_end_work(s, &f->work, END_DONE);
}

/* The window becomes what it would be if the node were begun now. First those of the frames above; a candidate's is its brothers'. */
static void renew_window(struct frame *f, struct searcher *s)
{
	const struct brothers *brothers = f->visit->brothers;
	const struct origin *origin = f->visit->origin;
	if (brothers) {
		const smx_value best = atomic_load_explicit(&brothers->best, memory_order_relaxed);
		if (best <= atomic_load_explicit(&f->alpha_seen, memory_order_relaxed))
			return;
		smxi_lock(&f->work);
		atomic_store_explicit(&f->alpha_seen, best, memory_order_relaxed);
		narrow(f, s, (struct window){best, f->window.beta});
		smxi_unlock(&f->work);
	} else if (origin) {
		struct frame *above = origin->frame;
		renew_window(above, s);
		const unsigned news = atomic_load_explicit(&above->news, memory_order_relaxed);
		if (news == atomic_load_explicit(&f->news_seen, memory_order_relaxed))
			return;
		smxi_lock(&above->work);
		const struct window window = smxi_reply_window(above, origin->item->mask);
		smxi_unlock(&above->work);
		smxi_lock(&f->work);
		atomic_store_explicit(&f->news_seen, news, memory_order_relaxed);
		narrow(f, s, window);
		smxi_unlock(&f->work);
	}
}

/* Value items; returns how many were, and how that ended. */
static unsigned settle_items(struct frame *f, struct searcher *s, struct item *items, unsigned count, enum end *end)
{
	unsigned valued = 0;
	while (valued < count && (*end = settle(f, s, &items[valued])) == END_DONE)
		valued++;
	if (f->work.shared)
		renew_window(f, s);
	return valued;
}

/* The node's bound on its mover's side. */
static smx_value reach_of(const struct chance *node)
{
	return node->maximise ? node->low : node->high;
}

/* Under the lock: put in what was found. */
static void take_in(struct frame *f, struct searcher *s, const struct item *items, unsigned count, unsigned valued)
{
	const smx_value before = reach_of(f->node);
	for (unsigned i = 0; i < valued; i++)
		reach_value(f, items[i].mask, items[i].found);
	const bool has_moved = reach_of(f->node) != before;
	smxi_count_bound(s, &f->work, has_moved);
	if (f->work.shared && (has_moved || f->held_count))
		atomic_fetch_add_explicit(&f->news, 1, memory_order_relaxed);
	for (unsigned i = 0; i < count; i++)
		smxi_replies_done(f, &items[i]);
}

static void work_on_frame(struct searcher *s, struct work *work)
{
	struct frame *f = (struct frame *)work;
	struct item items[ITEMS_MOST];
	if (work->shared)
		renew_window(f, s);
	smxi_lock(work);
	while (!atomic_load_explicit(&work->ended, memory_order_relaxed)) {
		unsigned count;
		const enum taking taking = smxi_replies_take(f, s, items, &count);
		const unsigned news = atomic_load_explicit(&f->news, memory_order_relaxed);
		if (taking == NOTHING_LEFT || (taking == NOTHING_NOW && s != work->owner))
			break;
		if (taking == NOTHING_NOW) {
			smxi_set_left(work, 0);
			smxi_unlock(work);
			smxi_wait_for_news(s, work, &f->news, news);
			smxi_lock(work);
			if (smxi_must_stop(s))
				smxi_end_work(s, work, END_STOPPED);
			continue;
		}
		for (unsigned i = 0; i < count; i++)
			items[i].news = news;
		smxi_set_left(work, f->heap_count ? f->heap_count : (f->count - f->next) / LISTED_WORTH_ONE);
		smxi_unlock(work);
		enum end end = END_DONE;
		const unsigned valued = settle_items(f, s, items, count, &end);
		smxi_lock(work);
		take_in(f, s, items, count, valued);
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
	f->work.rank = f->visit->rank;
	f->work.brothers = f->visit->brothers;
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
	struct frame f = {
		.s = s,
		.visit = visit,
		.window = visit->window,
		.node = node,
		.is_inner = visit->depth > 2,
		.alpha_seen = visit->window.alpha,
		.news_seen = visit->origin ? visit->origin->item->news : 0,
	};
	const struct smx_arena_mark mark = smx_arena_mark(s->arena);
	*fits = true;
	enum end end = list_replies(&f, expansion, open, fits);
	if (!*fits)
		smx_arena_release(s->arena, mark);
	if (end != END_DONE || !*fits || is_left(&f, &s->counters.cutoffs_decided))
		return end;
	s->counters.frames++;
	end = smxi_replies_group(&f);
	if (end == END_DONE)
		end = estimate_replies(&f);
	if (end != END_DONE || is_left(&f, &s->counters.cutoffs_etc))
		return end;
	end = settle_all(&f);
	if (end == END_DONE)
		is_left(&f, smxi_node_upper(node) < f.window.alpha ? &s->counters.cutoffs_low : &s->counters.cutoffs_high);
	return end;
}
