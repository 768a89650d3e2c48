#include "core/candidates.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1024, FEW = 8 };

struct collector {
	const struct smx_game *game;
	struct smx_arena *arena;
	enum smx_width_counts width_counts;
	struct smx_turn *turns;
	unsigned char *states;
	size_t count, capacity;
	uint32_t *slots; /* index + 1 of the candidate with a key; 0 free; twice the capacity of them */
	uint64_t turn_count;
	bool can_win, failed;
	struct smx_turn win;
};

static const struct smx_key *key_of(const struct collector *c, size_t i)
{
	return &((const struct smx_state *)(c->states + i * c->game->state_size))->key;
}

/* The slot where a key is or belongs. */
static uint32_t *slot_of(const struct collector *c, const struct smx_key *key)
{
	const size_t mask = 2 * c->capacity - 1;
	for (size_t at = key->word[0] & mask;; at = (at + 1) & mask) {
		uint32_t *slot = &c->slots[at];
		if (*slot == 0 || memcmp(key_of(c, *slot - 1), key, sizeof *key) == 0)
			return slot;
	}
}

static bool set_capacity(struct collector *c, size_t capacity)
{
	const size_t old = c->capacity, state = c->game->state_size;
	c->turns = smx_arena_grow(c->arena, c->turns, old * sizeof *c->turns, capacity * sizeof *c->turns);
	c->states = smx_arena_grow(c->arena, c->states, old * state, capacity * state);
	c->slots = smx_arena_alloc(c->arena, 2 * capacity * sizeof *c->slots);
	if (!c->turns || !c->states || !c->slots)
		return false;
	c->capacity = capacity;
	memset(c->slots, 0, 2 * capacity * sizeof *c->slots);
	if (c->width_counts == SMX_WIDTH_AFTERSTATES)
		for (size_t i = 0; i < c->count; i++)
			*slot_of(c, key_of(c, i)) = (uint32_t)i + 1;
	return true;
}

static bool collect(void *context, const struct smx_turn *turn, const void *afterstate)
{
	struct collector *c = context;
	c->turn_count++;
	if (turn->wins) {
		if (!c->can_win || turn->steps < c->win.steps)
			c->win = *turn;
		c->can_win = true;
	}
	if (c->can_win)
		return true; /* only counted */
	if (c->count == c->capacity && !set_capacity(c, 2 * c->capacity)) {
		c->failed = true;
		return false;
	}
	if (c->width_counts == SMX_WIDTH_AFTERSTATES) {
		uint32_t *slot = slot_of(c, &((const struct smx_state *)afterstate)->key);
		if (*slot)
			return true;
		*slot = (uint32_t)c->count + 1;
	}
	c->turns[c->count] = *turn;
	memcpy(c->states + c->count * c->game->state_size, afterstate, c->game->state_size);
	c->count++;
	return true;
}

static int by_rank(const void *left, const void *right)
{
	const struct smxi_rank *a = left, *b = right;
	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static void swap(struct smxi_rank *a, struct smxi_rank *b)
{
	const struct smxi_rank other = *a;
	*a = *b;
	*b = other;
}

void smxi_rank_sort(struct smxi_rank *ranks, size_t count)
{
	if (count <= FEW) {
		for (size_t i = 1; i < count; i++)
			for (size_t at = i; at > 0 && by_rank(&ranks[at - 1], &ranks[at]) > 0; at--)
				swap(&ranks[at - 1], &ranks[at]);
		return;
	}
	qsort(ranks, count, sizeof *ranks, by_rank);
}

enum smx_status smxi_candidates_make(struct smxi_candidates *candidates, const struct smx_game *game,
                                     const struct smx_position *position, const struct smx_search_options *options,
                                     struct smx_arena *arena)
{
	struct smxi_candidates *out = candidates;
	memset(out, 0, sizeof *out);
	struct collector c = {.game = game, .arena = arena, .width_counts = options->width_counts};
	if (!set_capacity(&c, FIRST_CAPACITY))
		return SMX_ERR_MEMORY;
	game->turns(position, collect, &c);
	if (c.failed)
		return SMX_ERR_MEMORY;
	out->turns = c.turn_count;
	out->can_win = c.can_win;
	out->win = c.win;
	if (c.can_win)
		return SMX_OK;

	smx_value *preranks = smx_arena_alloc(arena, c.count * sizeof *preranks);
	struct smxi_rank *ranks = smx_arena_alloc(arena, c.count * sizeof *ranks);
	if (!preranks || !ranks)
		return SMX_ERR_MEMORY;
	const struct smx_evaluator *prerank = options->prerank;
	prerank->evaluate(prerank->context, c.states, c.count, game->side_to_move(position->state), preranks);
	out->prerank_evaluations = c.count;
	for (size_t i = 0; i < c.count; i++)
		ranks[i] = (struct smxi_rank){preranks[i], (uint32_t)i};
	smxi_rank_sort(ranks, c.count);

	out->count = options->width && options->width < c.count ? options->width : c.count;
	out->list = smx_arena_alloc(arena, out->count * sizeof *out->list);
	out->states = smx_arena_alloc(arena, out->count * game->state_size);
	if (!out->list || !out->states)
		return SMX_ERR_MEMORY;
	for (size_t i = 0; i < out->count; i++) {
		const size_t from = ranks[i].index;
		out->list[i] = (struct smx_candidate){.turn = c.turns[from], .prerank = ranks[i].value, .loss_weight = -1};
		memcpy(out->states + i * game->state_size, c.states + from * game->state_size, game->state_size);
	}
	return SMX_OK;
}
