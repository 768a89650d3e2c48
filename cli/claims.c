#include "cli/claims.h"

#include <stdlib.h>
#include <string.h>

/* Each of these returns false where there is no memory, which is noted, or where it must stop. */
static bool plain_value(struct smxi_claims *claims, const void *state, unsigned depth, unsigned side, smx_value *value);

/* The best of an outcome's afterstates for its mover. */
static bool best_reply(struct smxi_claims *claims, const struct smx_afterstates *list, unsigned depth, unsigned side,
                       bool maximise, smx_value *best)
{
	const struct smx_evaluator *evaluator = claims->evaluator;
	smx_value *values = smx_arena_alloc(claims->arena, list->count * sizeof *values);
	if (!values) {
		claims->no_memory = true;
		return false;
	}
	if (depth == 1)
		evaluator->evaluate(evaluator->context, list->states, list->count, side, values);
	for (size_t i = 0; i < list->count; i++) {
		const void *reply = (const unsigned char *)list->states + i * claims->game->state_size;
		if (depth > 1 && !plain_value(claims, reply, depth - 1, side, &values[i]))
			return false;
		if (i == 0 || (maximise ? values[i] > *best : values[i] < *best))
			*best = values[i];
	}
	return true;
}

static bool outcome_value(struct smxi_claims *claims, const void *expansion, unsigned outcome, unsigned depth,
                          unsigned side, bool maximise, smx_value *value)
{
	const struct smx_evaluator *evaluator = claims->evaluator;
	const struct smx_arena_mark mark = smx_arena_mark(claims->arena);
	struct smx_afterstates list;
	bool known = true;
	switch (claims->game->afterstates(expansion, outcome, claims->arena, &list)) {
	case SMX_NODE_NO_MEMORY:
		claims->no_memory = true;
		known = false;
		break;
	case SMX_NODE_WON:
		*value = maximise ? evaluator->win : evaluator->loss;
		break;
	case SMX_NODE_LOST:
		*value = maximise ? evaluator->loss : evaluator->win;
		break;
	case SMX_NODE_OPEN:
		known = best_reply(claims, &list, depth, side, maximise, value);
		break;
	}
	smx_arena_release(claims->arena, mark);
	return known;
}

static bool weighted_value(struct smxi_claims *claims, const void *state, unsigned depth, unsigned side,
                           smx_value *value)
{
	const struct smx_game *game = claims->game;
	uint32_t weights[SMX_OUTCOMES_MAX];
	const unsigned count = game->outcomes(state, weights);
	const bool maximise = game->side_to_move(state) == side;
	const void *expansion = game->open(state, claims->arena);
	if (!expansion) {
		claims->no_memory = true;
		return false;
	}
	smx_value sum = 0, total = 0;
	for (unsigned i = 0; i < count; i++) {
		smx_value of_outcome = 0;
		if (!outcome_value(claims, expansion, i, depth, side, maximise, &of_outcome))
			return false;
		sum += weights[i] * of_outcome;
		total += weights[i];
	}
	*value = smx_div_floor(sum, total);
	return true;
}

static bool plain_value(struct smxi_claims *claims, const void *state, unsigned depth, unsigned side, smx_value *value)
{
	const struct smx_key *key = &((const struct smx_state *)state)->key;
	const unsigned tag = 2 * depth + side;
	if (smxi_valuemap_find(&claims->values, key, tag, value))
		return true;
	if (claims->must_stop && claims->must_stop())
		return false;
	const struct smx_arena_mark mark = smx_arena_mark(claims->arena);
	const bool known = weighted_value(claims, state, depth, side, value);
	smx_arena_release(claims->arena, mark);
	if (known && !smxi_valuemap_add(&claims->values, key, tag, *value)) {
		claims->no_memory = true;
		return false;
	}
	return known;
}

static void keep(struct smxi_claims *claims, const struct smx_claim *claim, smx_value value)
{
	struct smxi_false_claim *first = &claims->first;
	first->source = claim->source;
	first->stage = claim->stage;
	first->depth = claim->depth;
	first->lower = claim->lower;
	first->upper = claim->upper;
	first->value = value;
	first->length = 0;
	for (const struct smx_visit *visit = &claim->visit; visit; visit = visit->parent)
		first->length++;
	unsigned at = first->length;
	for (const struct smx_visit *visit = &claim->visit; visit; visit = visit->parent) {
		struct smx_position *position = &first->path[--at];
		memcpy(position->state, visit->state, claims->game->state_size);
		position->outcome = SMX_NO_OUTCOME;
	}
}

void smxi_claims_check(void *context, const struct smx_claim *claim)
{
	struct smxi_claims *claims = context;
	smx_value value;
	if (claims->no_memory || !plain_value(claims, claim->visit.state, claim->depth, claim->evaluated_side, &value))
		return;
	claims->checked[claim->source][claim->stage]++;
	if (claim->lower <= value && value <= claim->upper)
		return;
	if (claims->false_count++ == 0)
		keep(claims, claim, value);
}

void smxi_claims_begin(struct smxi_claims *claims, const struct smx_evaluator *evaluator)
{
	claims->evaluator = evaluator;
	smxi_valuemap_clear(&claims->values);
	claims->no_memory = false;
	memset(claims->checked, 0, sizeof claims->checked);
	claims->false_count = 0;
}

struct smxi_claims *smxi_claims_create(const struct smx_game *game)
{
	const size_t size = (sizeof(struct smxi_claims) + SMX_CACHE_LINE - 1) / SMX_CACHE_LINE * SMX_CACHE_LINE;
	struct smxi_claims *claims = aligned_alloc(SMX_CACHE_LINE, size);
	if (!claims)
		return NULL;
	memset(claims, 0, size);
	claims->game = game;
	claims->arena = smx_arena_create(NULL);
	if (!claims->arena) {
		free(claims);
		return NULL;
	}
	return claims;
}

void smxi_claims_destroy(struct smxi_claims *claims)
{
	if (!claims)
		return;
	smxi_valuemap_free(&claims->values);
	smx_arena_destroy(claims->arena);
	free(claims);
}
