/* Chance nodes and decision nodes.
 *
 * A chance node opens the game's expansion, settles what the game knows to be won, and then values the rest: folded by the game at the
 * last turn; as one frame (frame.c) where the afterstates can be listed together; else outcome by outcome, each in the window that
 * the others' bounds leave it (Star1), heaviest first. A decision node lists one outcome's distinct afterstates and takes the best for its
 * side. Values are from the evaluated side throughout, never negated: rounding is toward minus infinity, and not symmetric.
 *
 * SMX_STAR_NONE is the same body with windows that nothing can leave. */
#include "core/node.h"

#include <time.h>

enum { NODES_PER_PROGRESS_CHECK = 64 };
static const double progress_interval_ms = 50;

double smxi_now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

bool smxi_must_stop(struct smx_search *s)
{
	if (atomic_load_explicit(&s->stop, memory_order_relaxed))
		return true;
	if (s->options.node_limit && s->counters.chance_nodes >= s->options.node_limit)
		s->limit_reached = true;
	else if (s->options.time_limit_ms > 0 && smxi_now_ms() - s->started_ms >= s->options.time_limit_ms)
		s->limit_reached = true;
	return s->limit_reached;
}

static void report_progress(struct smx_search *s)
{
	const double now = smxi_now_ms();
	if (now - s->reported_ms < progress_interval_ms)
		return;
	s->reported_ms = now;
	const struct smx_progress progress = {
		.depth_plies = s->depth_plies,
		.candidates_completed = s->candidates_completed,
		.candidates = s->candidates,
		.counters = &s->counters,
		.time_ms = now - s->started_ms,
	};
	s->options.on_progress(s->options.progress_context, &progress);
}

void smxi_decide(struct smx_search *s, struct chance *node, unsigned outcome, bool won)
{
	smxi_set_exact(node, outcome, won ? s->options.evaluator->win : s->options.evaluator->loss);
	*(won ? &node->won : &node->lost) |= UINT64_C(1) << outcome;
	s->counters.outcomes_decided++;
}

static enum end evaluate_leaves(struct smx_search *s, const struct smx_afterstates *list, bool maximise,
                                smx_value *best)
{
	const struct smx_evaluator *evaluator = s->options.evaluator;
	smx_value *values = smx_arena_alloc(s->arena, list->count * sizeof *values);
	if (!values)
		return END_NO_MEMORY;
	evaluator->evaluate(evaluator->context, list->states, list->count, s->evaluated_side, values);
	s->counters.leaf_evaluations += list->count;
	*best = values[0];
	for (size_t i = 1; i < list->count; i++)
		if ((values[i] > *best) == maximise)
			*best = values[i];
	return END_DONE;
}

/* One outcome: the best afterstate for the side to move. depth counts this turn. */
static enum end search_decision(struct smx_search *s, const void *expansion, unsigned outcome, unsigned depth,
                                struct window window, struct chance *node)
{
	const bool maximise = node->maximise;
	struct smx_afterstates list;
	switch (s->game->afterstates(expansion, outcome, s->arena, &list)) {
	case SMX_NODE_NO_MEMORY:
		return END_NO_MEMORY;
	case SMX_NODE_WON:
		smxi_decide(s, node, outcome, maximise);
		return END_DONE;
	case SMX_NODE_LOST:
		smxi_decide(s, node, outcome, !maximise);
		return END_DONE;
	case SMX_NODE_OPEN:
		break;
	}
	assert(list.count >= 1);
	s->counters.afterstates += list.count;
	if (depth == 1) {
		smx_value best;
		const enum end end = evaluate_leaves(s, &list, maximise, &best);
		if (end == END_DONE)
			smxi_set_exact(node, outcome, best);
		return end;
	}
	smx_value lower = maximise ? INT64_MIN : INT64_MAX, upper = lower;
	for (size_t i = 0; i < list.count; i++) {
		struct window inner = window;
		if (s->options.star != SMX_STAR_NONE) { /* a tie with the best adds nothing here */
			if (maximise && lower >= inner.alpha)
				inner.alpha = lower + 1;
			if (!maximise && upper <= inner.beta)
				inner.beta = upper - 1;
		}
		struct chance child;
		const enum end end = smxi_search_chance(s, smxi_state_at(s, list.states, i), depth - 1, inner, &child);
		if (end != END_DONE)
			return end;
		const smx_value child_lower = smxi_node_lower(&child), child_upper = smxi_node_upper(&child);
		if ((child_lower > lower) == maximise)
			lower = child_lower;
		if ((child_upper > upper) == maximise)
			upper = child_upper;
		if (maximise ? lower > window.beta : upper < window.alpha) {
			/* the afterstates that are left can only better it: one side of the interval stays open */
			if (maximise)
				upper = s->ceiling;
			else
				lower = s->floor;
			break;
		}
	}
	smxi_raise_lower(node, outcome, lower);
	smxi_reduce_upper(node, outcome, upper);
	return END_DONE;
}

/* Star1: one outcome after the other, the heaviest first, each in the window that the bounds of the others leave it. */
static enum end search_outcomes(struct smx_search *s, const void *expansion, unsigned depth, struct window window,
                                uint64_t open, struct chance *node)
{
	unsigned order[SMX_OUTCOMES_MAX], count = 0;
	for (; open; open &= open - 1) {
		const unsigned outcome = (unsigned)__builtin_ctzll(open);
		unsigned at = count++;
		if (s->options.star != SMX_STAR_NONE)
			for (; at > 0 && node->weight[order[at - 1]] < node->weight[outcome]; at--)
				order[at] = order[at - 1];
		order[at] = outcome;
	}
	for (unsigned i = 0; i < count; i++) {
		const unsigned outcome = order[i];
		const smx_value w = node->weight[outcome];
		struct window inner = {s->floor, s->ceiling};
		if (s->options.star != SMX_STAR_NONE)
			inner = smxi_share_window(s, node, window, node->low - w * node->lower[outcome],
			                          node->high - w * node->upper[outcome], (uint32_t)w);
		const struct smx_arena_mark mark = smx_arena_mark(s->arena);
		const enum end end =
			smxi_must_stop(s) ? END_STOPPED : search_decision(s, expansion, outcome, depth, inner, node);
		smx_arena_release(s->arena, mark);
		if (end != END_DONE)
			return end;
		if (s->options.star != SMX_STAR_NONE && smxi_outside(node, window)) {
			*(smxi_node_upper(node) < window.alpha ? &s->counters.cutoffs_low : &s->counters.cutoffs_high) += 1;
			s->counters.outcomes_saved += count - 1 - i;
			return END_DONE;
		}
	}
	return END_DONE;
}

enum end smxi_search_chance(struct smx_search *s, const void *state, unsigned depth, struct window window,
                            struct chance *node)
{
	const struct smx_game *game = s->game;
	const struct smx_arena_mark mark = smx_arena_mark(s->arena);

	if (smxi_must_stop(s))
		return END_STOPPED;
	s->counters.chance_nodes++;
	if (s->options.on_progress && s->counters.chance_nodes % NODES_PER_PROGRESS_CHECK == 0)
		report_progress(s);

	/* 1. Nothing is known of the outcomes yet. */
	node->count = game->outcomes(state, node->weight);
	node->maximise = game->side_to_move(state) == s->evaluated_side;
	node->won = node->lost = 0;
	node->total = 0;
	for (unsigned i = 0; i < node->count; i++) {
		node->total += node->weight[i];
		node->lower[i] = s->floor;
		node->upper[i] = s->ceiling;
	}
	node->low = node->total * s->floor;
	node->high = node->total * s->ceiling;
	s->counters.outcomes += node->count;

	/* 2. What they share, and which of them the game decides unseen. */
	const void *expansion = game->open(state, s->arena);
	if (!expansion)
		return END_NO_MEMORY;
	uint64_t open = node->count == 64 ? ~UINT64_C(0) : (UINT64_C(1) << node->count) - 1;
	const uint64_t decided = game->won ? game->won(expansion) & open : 0;
	for (uint64_t left = decided; left; left &= left - 1)
		smxi_decide(s, node, (unsigned)__builtin_ctzll(left), node->maximise);
	open &= ~decided;

	/* 3. The others. */
	enum end end = END_DONE;
	if (s->options.star != SMX_STAR_NONE && smxi_outside(node, window)) {
		s->counters.cutoffs_decided++;
		s->counters.outcomes_saved += (uint64_t)__builtin_popcountll(open);
	} else if (depth == 1 && s->fold) {
		assert(game->fold);
		smx_value values[SMX_OUTCOMES_MAX];
		game->fold(expansion, s->options.evaluator, open, s->evaluated_side, values);
		s->counters.outcomes_folded += (uint64_t)__builtin_popcountll(open);
		for (uint64_t left = open; left; left &= left - 1)
			smxi_set_exact(node, (unsigned)__builtin_ctzll(left), values[__builtin_ctzll(left)]);
	} else {
		bool framed = depth >= 2 && s->options.star >= SMX_STAR2;
		if (framed)
			end = smxi_search_frame(s, expansion, depth, window, open, node, &framed);
		if (!framed)
			end = search_outcomes(s, expansion, depth, window, open, node);
	}
	smx_arena_release(s->arena, mark);
	return end;
}
