#include "bench/per_roll.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct smxi_per_roll {
	const struct smx_game *game;
	unsigned char *states;
	smx_value *values;
	size_t *order;
	uint32_t *slots; /* epoch base + index; below the base: free */
	size_t count, capacity;
	uint32_t base;
	bool won;
};

static void *need(void *memory)
{
	if (!memory) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return memory;
}

static struct smx_key *key_at(const struct smxi_per_roll *p, size_t i)
{
	return &((struct smx_state *)(p->states + i * p->game->state_size))->key;
}

static uint32_t *slot_of(const struct smxi_per_roll *p, const struct smx_key *key)
{
	const size_t mask = 2 * p->capacity - 1;
	for (size_t at = key->word[0] & mask;; at = (at + 1) & mask)
		if (p->slots[at] < p->base || memcmp(key_at(p, p->slots[at] - p->base), key, sizeof *key) == 0)
			return &p->slots[at];
}

static void set_capacity(struct smxi_per_roll *p, size_t capacity)
{
	assert(capacity >= 1);
	unsigned char *states = need(aligned_alloc(SMX_CACHE_LINE, capacity * p->game->state_size));
	if (p->count)
		memcpy(states, p->states, p->count * p->game->state_size);
	free(p->states);
	free(p->slots);
	p->states = states;
	p->values = need(realloc(p->values, capacity * sizeof *p->values));
	p->order = need(realloc(p->order, capacity * sizeof *p->order));
	p->slots = need(calloc(2 * capacity, sizeof *p->slots));
	p->capacity = capacity;
	p->base = 1;
	for (size_t i = 0; i < p->count; i++)
		*slot_of(p, key_at(p, i)) = p->base + (uint32_t)i;
}

struct smxi_per_roll *smxi_per_roll_create(const struct smx_game *game)
{
	struct smxi_per_roll *p = need(calloc(1, sizeof *p));
	p->game = game;
	set_capacity(p, 4096);
	return p;
}

void smxi_per_roll_destroy(struct smxi_per_roll *p)
{
	free(p->states);
	free(p->values);
	free(p->order);
	free(p->slots);
	free(p);
}

static bool collect(void *context, const struct smx_turn *turn, const void *afterstate)
{
	struct smxi_per_roll *p = context;
	if (turn->wins) {
		p->won = true;
		return false;
	}
	if (p->count == p->capacity)
		set_capacity(p, 2 * p->capacity);
	uint32_t *slot = slot_of(p, &((const struct smx_state *)afterstate)->key);
	if (*slot < p->base) {
		*slot = p->base + (uint32_t)p->count;
		memcpy(p->states + p->count * p->game->state_size, afterstate, p->game->state_size);
		p->count++;
	}
	return true;
}

static void collect_turns(struct smxi_per_roll *p, const struct smx_position *position)
{
	p->base += (uint32_t)p->count;
	if (p->base > UINT32_MAX / 2) {
		memset(p->slots, 0, 2 * p->capacity * sizeof *p->slots);
		p->base = 1;
	}
	p->count = 0;
	p->won = false;
	p->game->turns(position, collect, p);
}

smx_value smxi_per_roll_chance(struct smxi_per_roll *p, const void *state, const struct smx_evaluator *evaluator,
                               unsigned evaluated_side)
{
	const bool maximise = p->game->side_to_move(state) == evaluated_side;
	uint32_t weights[SMX_OUTCOMES_MAX];
	const unsigned outcomes = p->game->outcomes(state, weights);
	struct smx_position position;
	memcpy(position.state, state, p->game->state_size);
	smx_value sum = 0, total = 0;
	for (unsigned outcome = 0; outcome < outcomes; outcome++) {
		position.outcome = (int)outcome;
		collect_turns(p, &position);
		smx_value best;
		if (p->won) {
			best = maximise ? evaluator->win : evaluator->loss;
		} else {
			evaluator->evaluate(evaluator->context, p->states, p->count, evaluated_side, p->values);
			best = p->values[0];
			for (size_t i = 1; i < p->count; i++)
				if (maximise ? p->values[i] > best : p->values[i] < best)
					best = p->values[i];
		}
		sum += weights[outcome] * best;
		total += weights[outcome];
	}
	return smx_div_floor(sum, total);
}

smx_value smxi_per_roll_decide(struct smxi_per_roll *p, const struct smx_position *position,
                               const struct smx_evaluator *evaluator, size_t width)
{
	const unsigned side = p->game->side_to_move(position->state);
	collect_turns(p, position);
	if (p->won)
		return evaluator->win;
	const size_t count = p->count, size = p->game->state_size, kept = width < count ? width : count;
	evaluator->evaluate(evaluator->context, p->states, count, side, p->values);
	for (size_t i = 0; i < count; i++) /* the best `kept` by insertion, ties in generation order */
		for (size_t at = i;; at--) {
			if (at == 0 || p->values[p->order[at - 1]] >= p->values[i]) {
				p->order[at] = i;
				break;
			}
			p->order[at] = p->order[at - 1];
		}
	unsigned char *candidates = need(aligned_alloc(SMX_CACHE_LINE, kept * size));
	for (size_t i = 0; i < kept; i++)
		memcpy(candidates + i * size, p->states + p->order[i] * size, size);
	smx_value best = INT64_MIN;
	for (size_t i = 0; i < kept; i++) {
		const smx_value value = smxi_per_roll_chance(p, candidates + i * size, evaluator, side);
		best = value > best ? value : best;
	}
	free(candidates);
	return best;
}
