/* Exact expectiminimax: one body for chance nodes, one for decision nodes.
 *
 * A chance node opens the game's expansion, settles what the game knows to be won, folds or lists the outcomes that are left, and
 * averages. A decision node lists one outcome's distinct afterstates and takes the best for its side: of their evaluations at
 * the last turn, of their chance nodes' values above. Values are from the evaluated side throughout, never negated: rounding
 * is toward minus infinity, and not symmetric.
 *
 * Memory is one arena, released node by node. A node that was stopped has no value: END_STOPPED travels to the root at once. */
#include <starmax/search.h>

#include "core/candidates.h"

#include <starmax/random.h>

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NODES_PER_PROGRESS_CHECK = 256 };
static const double progress_interval_ms = 50;

struct smx_search {
	const struct smx_game *game;
	struct smx_arena *arena;
	atomic_bool stop;
	struct smx_evaluator
		checked[2]; /* users' evaluators that passed the check last, whole: an address can be used again */

	/* of the run */
	struct smx_search_options options;
	unsigned evaluated_side;
	bool fold;
	double started_ms, reported_ms;
	size_t candidates_completed, candidates;
	struct smx_counters counters;
	struct smx_result result;
};

enum end {
	END_EXACT,
	END_STOPPED,
	END_NO_MEMORY,
};

/* A chance node as its parent sees it. */
struct chance {
	smx_value value;
	unsigned count;
	uint32_t total;
	uint64_t won, lost; /* outcomes that end the game at once, for the evaluated side */
	uint32_t weights[SMX_OUTCOMES_MAX];
	smx_value values[SMX_OUTCOMES_MAX];
};

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static bool stopped(struct smx_search *s)
{
	return atomic_load_explicit(&s->stop, memory_order_relaxed);
}

static void report_progress(struct smx_search *s)
{
	const double now = now_ms();
	if (now - s->reported_ms < progress_interval_ms)
		return;
	s->reported_ms = now;
	const struct smx_progress progress = {
		.depth_plies = s->options.depth_plies,
		.candidates_completed = s->candidates_completed,
		.candidates = s->candidates,
		.counters = &s->counters,
		.time_ms = now - s->started_ms,
	};
	s->options.on_progress(s->options.progress_context, &progress);
}

static const void *state_at(const struct smx_search *s, const void *states, size_t i)
{
	return (const unsigned char *)states + i * s->game->state_size;
}

static smx_value better(smx_value a, smx_value b, bool maximise)
{
	return (a > b) == maximise ? a : b;
}

static void decide(struct smx_search *s, struct chance *node, unsigned outcome, bool won)
{
	const uint64_t bit = UINT64_C(1) << outcome;
	node->values[outcome] = won ? s->options.evaluator->win : s->options.evaluator->loss;
	*(won ? &node->won : &node->lost) |= bit;
	s->counters.outcomes_decided++;
}

static enum end search_chance(struct smx_search *s, const void *state, unsigned depth, struct chance *node);

/* One outcome of a chance node: the best afterstate for the side to move. depth counts this turn. */
static enum end search_decision(struct smx_search *s, const void *expansion, unsigned outcome, unsigned depth,
                                bool maximise, struct chance *node)
{
	struct smx_afterstates list;
	switch (s->game->afterstates(expansion, outcome, s->arena, &list)) {
	case SMX_NODE_NO_MEMORY:
		return END_NO_MEMORY;
	case SMX_NODE_WON:
		decide(s, node, outcome, maximise);
		return END_EXACT;
	case SMX_NODE_LOST:
		decide(s, node, outcome, !maximise);
		return END_EXACT;
	case SMX_NODE_OPEN:
		break;
	}
	assert(list.count >= 1);
	s->counters.afterstates += list.count;
	smx_value best = maximise ? INT64_MIN : INT64_MAX;
	if (depth == 1) {
		const struct smx_evaluator *evaluator = s->options.evaluator;
		smx_value *values = smx_arena_alloc(s->arena, list.count * sizeof *values);
		if (!values)
			return END_NO_MEMORY;
		evaluator->evaluate(evaluator->context, list.states, list.count, s->evaluated_side, values);
		s->counters.leaf_evaluations += list.count;
		for (size_t i = 0; i < list.count; i++)
			best = better(best, values[i], maximise);
	} else {
		for (size_t i = 0; i < list.count; i++) {
			struct chance child;
			const enum end end = search_chance(s, state_at(s, list.states, i), depth - 1, &child);
			if (end != END_EXACT)
				return end;
			best = better(best, child.value, maximise);
		}
	}
	node->values[outcome] = best;
	return END_EXACT;
}

/* depth >= 1 turns are left. */
static enum end search_chance(struct smx_search *s, const void *state, unsigned depth, struct chance *node)
{
	const struct smx_game *game = s->game;
	const bool maximise = game->side_to_move(state) == s->evaluated_side;
	const struct smx_arena_mark mark = smx_arena_mark(s->arena);
	enum end end = END_EXACT;

	if (stopped(s))
		return END_STOPPED;
	s->counters.chance_nodes++;
	if (s->options.on_progress && s->counters.chance_nodes % NODES_PER_PROGRESS_CHECK == 0)
		report_progress(s);

	/* 1. What the outcomes share. */
	node->count = game->outcomes(state, node->weights);
	node->won = node->lost = 0;
	node->total = 0;
	for (unsigned i = 0; i < node->count; i++)
		node->total += node->weights[i];
	s->counters.outcomes += node->count;
	const void *expansion = game->open(state, s->arena);
	if (!expansion)
		end = END_NO_MEMORY;

	/* 2. Outcomes the game decides unseen. */
	uint64_t open = node->count == 64 ? ~UINT64_C(0) : (UINT64_C(1) << node->count) - 1;
	const uint64_t decided = end == END_EXACT && game->won ? game->won(expansion) & open : 0;
	for (uint64_t left = decided; left; left &= left - 1)
		decide(s, node, (unsigned)__builtin_ctzll(left), maximise);
	open &= ~decided;

	/* 3. The rest: folded by the game, or listed one by one. */
	if (end == END_EXACT && depth == 1 && s->fold) {
		assert(game->fold);
		game->fold(expansion, s->options.evaluator, open, s->evaluated_side, node->values);
		s->counters.outcomes_folded += (uint64_t)__builtin_popcountll(open);
		open = 0;
	}
	for (uint64_t left = open; left && end == END_EXACT; left &= left - 1) {
		const struct smx_arena_mark listed = smx_arena_mark(s->arena);
		end = stopped(s) ? END_STOPPED
		                 : search_decision(s, expansion, (unsigned)__builtin_ctzll(left), depth, maximise, node);
		smx_arena_release(s->arena, listed);
	}

	/* 4. The average. */
	if (end == END_EXACT) {
		smx_value sum = 0;
		for (unsigned i = 0; i < node->count; i++)
			sum += (smx_value)node->weights[i] * node->values[i];
		node->value = smx_div_floor(sum, node->total);
	}
	smx_arena_release(s->arena, mark);
	return end;
}

static int64_t weight_of(const struct chance *node, uint64_t outcomes)
{
	int64_t weight = 0;
	for (; outcomes; outcomes &= outcomes - 1)
		weight += node->weights[__builtin_ctzll(outcomes)];
	return weight;
}

/* Give each candidate its value, in canonical order, until stopped. */
static enum end search_candidates(struct smx_search *s, struct smxi_candidates *c)
{
	const struct smx_evaluator *evaluator = s->options.evaluator;
	if (s->options.depth_plies == 1) {
		smx_value *values = smx_arena_alloc(s->arena, c->count * sizeof *values);
		if (!values)
			return END_NO_MEMORY;
		if (stopped(s))
			return END_STOPPED;
		evaluator->evaluate(evaluator->context, c->states, c->count, s->evaluated_side, values);
		s->counters.leaf_evaluations += c->count;
		for (size_t i = 0; i < c->count; i++) {
			c->list[i].value = values[i];
			c->list[i].completed = true;
		}
		s->candidates_completed = c->count;
		return END_EXACT;
	}
	for (size_t i = 0; i < c->count; i++) {
		struct smx_candidate *candidate = &c->list[i];
		struct chance node;
		const enum end end = search_chance(s, state_at(s, c->states, i), s->options.depth_plies - 1, &node);
		if (end != END_EXACT)
			return end;
		candidate->value = node.value;
		candidate->loss_weight = weight_of(&node, node.lost);
		candidate->total = node.total;
		candidate->completed = true;
		s->candidates_completed++;
		if (s->options.on_progress)
			report_progress(s);
	}
	return END_EXACT;
}

/* The best completed candidate: the first of the best, or one of them by the seed. */
static void choose(struct smx_search *s, const struct smxi_candidates *c)
{
	struct smx_result *result = &s->result;
	const struct smx_candidate *best = NULL;
	for (size_t i = 0; i < c->count; i++) {
		const struct smx_candidate *candidate = &c->list[i];
		if (!candidate->completed)
			continue;
		if (!best || candidate->value > best->value) {
			best = candidate;
			result->ties = 0;
		}
		result->ties += candidate->value == best->value;
	}
	result->turn = c->list[0].turn;
	if (!best)
		return;
	result->has_value = true;
	result->value = best->value;
	result->turn = best->turn;
	if (s->options.ties == SMX_TIES_FIRST)
		return;
	uint64_t seed = s->options.seed;
	uint32_t skip = smx_random_below(&seed, (uint32_t)result->ties);
	for (const struct smx_candidate *candidate = best;; candidate++)
		if (candidate->completed && candidate->value == best->value && skip-- == 0) {
			result->turn = candidate->turn;
			return;
		}
}

static enum end search_turns(struct smx_search *s, const struct smx_position *position)
{
	struct smx_result *result = &s->result;
	struct smxi_candidates c;
	if (smxi_candidates_make(&c, s->game, position, &s->options, s->arena) != SMX_OK)
		return END_NO_MEMORY;
	s->counters.turns = c.turns;
	s->counters.prerank_evaluations = c.prerank_evaluations;
	if (c.can_win) {
		result->kind = SMX_RESULT_WIN;
		result->has_value = true;
		result->value = s->options.evaluator->win;
		result->turn = c.win;
		result->ties = 1;
		return END_EXACT;
	}
	assert(c.count >= 1);
	s->counters.candidates = s->candidates = c.count;
	result->kind = c.list[0].turn.steps == 0 ? SMX_RESULT_PASS : SMX_RESULT_TURN;
	result->candidates = c.list;
	result->candidate_count = c.count;
	const enum end end = search_candidates(s, &c);
	s->counters.candidates_completed = s->candidates_completed;
	s->counters.candidates_abandoned = c.count - s->candidates_completed;
	choose(s, &c);
	return end;
}

static enum end search_value(struct smx_search *s, const struct smx_position *position)
{
	struct smx_result *result = &s->result;
	struct chance node;
	const enum end end = search_chance(s, position->state, s->options.depth_plies, &node);
	result->kind = SMX_RESULT_VALUE;
	if (end != END_EXACT)
		return end;
	result->has_value = true;
	result->value = node.value;
	result->outcomes_won = node.won;
	result->outcomes_lost = node.lost;
	if (s->options.outcome_values) {
		result->outcome_count = node.count;
		memcpy(result->outcome_values, node.values, node.count * sizeof node.values[0]);
		memcpy(result->outcome_weights, node.weights, node.count * sizeof node.weights[0]);
	}
	return END_EXACT;
}

static enum smx_status bad_argument(struct smx_error *error, const char *message)
{
	if (error) {
		error->offset = 0;
		snprintf(error->message, sizeof error->message, "%s", message);
	}
	return SMX_ERR_ARGUMENT;
}

static bool same_evaluator(const struct smx_evaluator *a, const struct smx_evaluator *b)
{
	return a->name == b->name && a->unit == b->unit && a->scale_bits == b->scale_bits && a->lo == b->lo &&
	       a->hi == b->hi && a->loss == b->loss && a->win == b->win && a->evaluate == b->evaluate &&
	       a->context == b->context && a->fold == b->fold;
}

/* A game's own evaluators are tested with the game; a user's is checked when it is first seen. */
static enum smx_status trust(struct smx_search *s, unsigned role, const struct smx_evaluator *evaluator,
                             struct smx_error *error)
{
	for (const struct smx_evaluator *const *own = s->game->evaluators; *own; own++)
		if (*own == evaluator)
			return SMX_OK;
	if (same_evaluator(&s->checked[0], evaluator) || same_evaluator(&s->checked[1], evaluator))
		return SMX_OK;
	const enum smx_status status = smx_evaluator_check(s->game, evaluator, error);
	if (status == SMX_OK)
		s->checked[role] = *evaluator;
	return status;
}

enum smx_status smx_search_run(struct smx_search *search, const struct smx_position *position,
                               const struct smx_search_options *options, const struct smx_result **result,
                               struct smx_error *error)
{
	struct smx_search *s = search;
	if (options->depth_plies < 1 || options->depth_plies > SMX_DEPTH_MAX)
		return bad_argument(error, "depth must be from 1 to 64");
	if (!options->evaluator || !options->prerank)
		return bad_argument(error, "a search needs an evaluator and a pre-ranker");
	enum smx_status status = trust(s, 0, options->evaluator, error);
	if (status == SMX_OK)
		status = trust(s, 1, options->prerank, error);
	if (status != SMX_OK)
		return status;

	smx_arena_release(s->arena, (struct smx_arena_mark){NULL, 0});
	s->options = *options;
	s->evaluated_side = s->game->side_to_move(position->state);
	s->fold = s->game->fold && options->evaluator->fold && options->leaves == SMX_LEAVES_FOLD;
	s->counters = (struct smx_counters){0};
	s->candidates = s->candidates_completed = 0;
	memset(&s->result, 0, sizeof s->result);
	s->started_ms = s->reported_ms = now_ms();

	const enum end end = position->outcome == SMX_NO_OUTCOME ? search_value(s, position) : search_turns(s, position);
	if (end == END_NO_MEMORY) {
		if (error) {
			error->offset = 0;
			snprintf(error->message, sizeof error->message, "no memory left after %zu bytes",
			         smx_arena_statistics(s->arena).reserved_bytes);
		}
		return SMX_ERR_MEMORY;
	}
	s->result.stopped = end == END_STOPPED;
	s->result.counters = s->counters;
	s->result.memory = smx_arena_statistics(s->arena);
	s->result.time_ms = now_ms() - s->started_ms;
	*result = &s->result;
	return SMX_OK;
}

enum smx_status smx_search_create(const struct smx_game *game, const struct smx_chunk_source *chunks,
                                  struct smx_search **search)
{
	struct smx_search *s = calloc(1, sizeof *s);
	if (!s)
		return SMX_ERR_MEMORY;
	s->game = game;
	s->arena = smx_arena_create(chunks);
	if (!s->arena) {
		free(s);
		return SMX_ERR_MEMORY;
	}
	*search = s;
	return SMX_OK;
}

void smx_search_destroy(struct smx_search *search)
{
	if (!search)
		return;
	smx_arena_destroy(search->arena);
	free(search);
}

void smx_search_options_init(struct smx_search_options *options, const struct smx_game *game)
{
	*options = (struct smx_search_options){
		.depth_plies = 2,
		.evaluator = game->evaluators[0],
		.prerank = game->evaluators[0],
	};
}

void smx_search_stop(struct smx_search *search)
{
	atomic_store_explicit(&search->stop, true, memory_order_relaxed);
}

void smx_search_resume(struct smx_search *search)
{
	atomic_store_explicit(&search->stop, false, memory_order_relaxed);
}
