/* Chance nodes.
 *
 * A chance node opens the game's expansion, settles what the game knows to be won, and then values the rest: folded by the game at the
 * last turn; as one frame (frame.c) where the afterstates can be listed together; else outcome by outcome (outcomes.c). Values are from the
 * evaluated side throughout, never negated: rounding is toward minus infinity, and not symmetric.
 *
 * SMX_STAR_NONE is the same body with windows that nothing can leave. */
#include "core/node.h"

#include <starmax/random.h>

#include <time.h>

enum { NODES_PER_PROGRESS_CHECK = 64, NODES_PER_COUNT = 64 };
static const double progress_interval_ms = 50;

double smxi_now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

bool smxi_must_stop(struct searcher *s)
{
	struct smx_search *search = s->search;
	if (atomic_load_explicit(&search->stop, memory_order_relaxed) ||
	    atomic_load_explicit(&search->limit_reached, memory_order_relaxed))
		return true;
	for (const struct work *work = s->current; work; work = work->above)
		if (atomic_load_explicit(&work->ended, memory_order_relaxed))
			return true;
	const uint64_t node_limit = s->options.node_limit;
	const double time_limit_ms = s->options.time_limit_ms;
	if (!(node_limit && atomic_load_explicit(&search->nodes, memory_order_relaxed) >= node_limit) &&
	    !(time_limit_ms > 0 && smxi_now_ms() - s->started_ms >= time_limit_ms))
		return false;
	atomic_store_explicit(&search->limit_reached, true, memory_order_relaxed);
	return true;
}

static void report_progress(struct searcher *s)
{
	struct smx_search *search = s->search;
	const double now = smxi_now_ms();
	if (now - search->reported_ms < progress_interval_ms)
		return;
	search->reported_ms = now;
	struct smx_counters counters = s->counters;
	counters.chance_nodes = atomic_load_explicit(&search->nodes, memory_order_relaxed);
	const struct smx_candidate *found = atomic_load_explicit(&search->best, memory_order_acquire);
	const struct smx_candidate *best = found ? found : search->best_before;
	const struct smx_progress progress = {
		.depth_plies = search->depth_plies,
		.candidates_completed = atomic_load_explicit(&search->candidates_completed, memory_order_relaxed),
		.candidates = search->candidates,
		.has_value = best != NULL,
		.value_depth_plies = !best   ? 0
	                         : found ? search->depth_plies
	                                 : search->depth_plies - 1,
		.value = best ? best->value : 0,
		.turn = best ? best->turn : (struct smx_turn){.steps = 0},
		.counters = &counters,
		.time_ms = now - s->started_ms,
	};
	s->options.on_progress(s->options.progress_context, &progress);
}

/* A counter that all threads write at every node would be most of the time of a small one. */
static void count_node(struct searcher *s)
{
	s->counters.chance_nodes++;
	if (++s->uncounted < NODES_PER_COUNT && !s->options.node_limit)
		return;
	atomic_fetch_add_explicit(&s->search->nodes, s->uncounted, memory_order_relaxed);
	s->uncounted = 0;
}

unsigned smxi_rarity(uint32_t w, uint32_t total)
{
	/* 2^(i/4 + 1/8), where rounding goes up, in 30 binary places */
	static const uint32_t steps[] = {1170923762, 1392470869, 1655936265, 1969251188};
	const uint64_t ratio = ((uint64_t)total << 30) / w; /* at least 2^30 */
	const unsigned whole = 33 - (unsigned)__builtin_clzll(ratio);
	const uint64_t rest = ratio >> whole;
	unsigned quarters = 4 * whole;
	for (unsigned i = 0; i < 4; i++)
		quarters += rest >= steps[i];
	return quarters;
}

void smxi_decide(struct searcher *s, struct chance *node, unsigned outcome, bool won)
{
	smxi_set_exact(node, outcome, won ? s->options.evaluator->win : s->options.evaluator->loss);
	*(won ? &node->won : &node->lost) |= UINT64_C(1) << outcome;
	s->counters.outcomes_decided++;
}

/* Selective search: the node's outcomes become those that are drawn, each with the times it is drawn as its weight. One draw falls
 * into each of as many equal parts of the total. */
static void sample_outcomes(struct searcher *s, const void *state, struct chance *node)
{
	const uint64_t samples = s->options.selective.samples, total = node->total;
	const struct smx_key *key = &((const struct smx_state *)state)->key;
	uint64_t seed = key->word[0] ^ (key->word[1] << 32 | key->word[1] >> 32);
	uint32_t drawn[SMX_OUTCOMES_MAX] = {0};
	uint64_t passed = 0;
	unsigned at = 0;
	for (uint64_t i = 0; i < samples; i++) {
		const uint64_t point = (i * total + smx_random_below(&seed, (uint32_t)total)) / samples;
		while (passed + node->weight[at] <= point)
			passed += node->weight[at++];
		drawn[at]++;
	}
	for (unsigned i = 0; i < node->count; i++) {
		node->weight[i] = drawn[i];
		s->counters.outcomes_sampled_away += drawn[i] == 0;
	}
	node->total = (uint32_t)samples;
}

/* Returns the mask of the outcomes with any weight. */
static uint64_t weigh_outcomes(struct searcher *s, const struct visit *visit, struct chance *node)
{
	const struct smx_game *game = s->game;
	const void *state = visit->at.state;
	node->count = game->outcomes(state, node->weight);
	assert(node->count >= 1 && node->count <= SMX_OUTCOMES_MAX);
	node->maximise = game->side_to_move(state) == s->evaluated_side;
	node->won = node->lost = 0;
	node->known = visit->known;
	node->total = 0;
	for (unsigned i = 0; i < node->count; i++)
		node->total += node->weight[i];
	uint64_t open = ~UINT64_C(0) >> (SMX_OUTCOMES_MAX - node->count);
	if (s->options.selective.samples && s->options.selective.samples < node->count && !visit->is_whole) {
		sample_outcomes(s, state, node);
		for (unsigned i = 0; i < node->count; i++)
			open &= ~((uint64_t)(node->weight[i] == 0) << i);
	}
	return open;
}

/* Nothing is known of the outcomes yet. */
static void forget_outcomes(const struct searcher *s, struct chance *node)
{
	for (unsigned i = 0; i < node->count; i++) {
		node->lower[i] = s->floor;
		node->upper[i] = s->ceiling;
	}
	node->low = node->total * s->floor;
	node->high = node->total * s->ceiling;
}

/* The last turn, valued by the game. */
static void fold_outcomes(struct searcher *s, struct chance *node, const void *expansion, uint64_t open)
{
	smx_value values[SMX_OUTCOMES_MAX];
	const uint64_t lost = s->game->fold(expansion, s->options.evaluator, open, s->evaluated_side, values);
	s->counters.outcomes_folded += (uint64_t)__builtin_popcountll(open & ~lost);
	for (uint64_t left = lost; left; left &= left - 1)
		smxi_decide(s, node, (unsigned)__builtin_ctzll(left), !node->maximise);
	smx_value sum = 0;
	uint32_t weight = 0;
	for (uint64_t left = open & ~lost; left; left &= left - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(left);
		node->lower[i] = node->upper[i] = values[i];
		sum += node->weight[i] * values[i];
		weight += node->weight[i];
	}
	node->low += sum - weight * s->floor;
	node->high += sum - weight * s->ceiling;
}

/* A frame never knows more of an outcome than what it has reached before all is done. Where only the other side could end the node, it
 * is better to finish one outcome after the other, if a table remembers the afterstates that several of them share. */
static bool is_for_frame(const struct searcher *s, const struct visit *visit, const struct chance *node)
{
	const bool is_open = visit->window.alpha <= s->floor && visit->window.beta >= s->ceiling;
	return is_open || !s->options.table || smxi_can_leave_early(s, node, visit->window);
}

/* By its decided outcomes, or by what was known before. */
static bool is_outside_already(const struct chance *node, struct window window)
{
	if (node->won | node->lost)
		return smxi_outside(node, window);
	return node->known.upper < window.alpha || node->known.lower > window.beta;
}

static void keep(struct searcher *s, const struct visit *visit, struct interval found)
{
	struct place place;
	if (!visit->place)
		place = smxi_table_place(s, visit->at.state, visit->depth, visit->rarity);
	smxi_table_keep(s, visit->place ? visit->place : &place, found);
}

enum end smxi_search_chance(struct searcher *s, const struct visit *visit, struct chance *node)
{
	const struct smx_game *game = s->game;
	const struct smx_arena_mark mark = smx_arena_mark(s->arena);
	const bool prunes = s->options.star != SMX_STAR_NONE;

	if (smxi_must_stop(s))
		return END_STOPPED;
	count_node(s);
	if (s->options.on_progress && s == s->search->searchers && s->counters.chance_nodes % NODES_PER_PROGRESS_CHECK == 0)
		report_progress(s);
	uint64_t open = weigh_outcomes(s, visit, node);
	forget_outcomes(s, node);
	s->counters.outcomes += (uint64_t)__builtin_popcountll(open);

	/* What they share, and which of them the game decides unseen. */
	const void *expansion = game->open(visit->at.state, s->arena);
	if (!expansion)
		return END_NO_MEMORY;
	const uint64_t decided = game->won ? game->won(expansion) & open : 0;
	for (uint64_t left = decided; left; left &= left - 1)
		smxi_decide(s, node, (unsigned)__builtin_ctzll(left), node->maximise);
	open &= ~decided;

	/* The others. */
	enum end end = END_DONE;
	if (visit->answered || (prunes && is_outside_already(node, visit->window))) {
		s->counters.cutoffs_decided += open != 0 && !visit->answered;
		s->counters.outcomes_saved += (uint64_t)__builtin_popcountll(open);
	} else if (visit->depth == 1 && s->fold) {
		fold_outcomes(s, node, expansion, open);
	} else {
		bool framed = visit->depth >= 2 && smxi_makes_frames(s) && is_for_frame(s, visit, node);
		if (framed)
			end = smxi_search_frame(s, visit, expansion, open, node, &framed);
		if (!framed)
			end = smxi_search_outcomes(s, visit, expansion, open, node);
	}
	smx_arena_release(s->arena, mark);
	if (end == END_DONE) {
		const struct interval found = smxi_node_interval(node);
		smxi_claim(s, SMX_CLAIM_SEARCH, 0, &visit->at, visit->depth, found);
		if (s->options.table)
			keep(s, visit, found);
	}
	return end;
}
