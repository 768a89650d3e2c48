/* The check of a user's evaluator: does it keep what it promises, on positions from random play? */
#include "core/error.h"
#include "core/node.h"

#include <starmax/random.h>

#include <inttypes.h>
#include <string.h>

enum { SAMPLES = 256, TURNS_PER_GAME = 40, SCALE_BITS_MAX = 48 };

static bool fits(smx_value value, uint32_t total)
{
	const smx_value most = (SMX_SUM_LIMIT - 1) / total;
	return value >= -most && value <= most;
}

/* Play seeded random games from the start and keep every position met; returns how many, 0 without memory. *total: the largest total weight
 * among them. */
static size_t sample_positions(const struct smx_game *game, struct smx_arena *arena, unsigned char *states,
                               uint32_t *total)
{
	struct smx_position start;
	if (game->parse(game->start, strlen(game->start), &start, NULL) != SMX_OK)
		return 0;
	uint64_t seed = 1;
	_Alignas(SMX_CACHE_LINE) unsigned char state[SMX_STATE_MAX];
	size_t count = 0;
	for (unsigned turn = 0; count < SAMPLES; turn++) {
		if (turn % TURNS_PER_GAME == 0)
			memcpy(state, start.state, game->state_size);
		memcpy(states + count++ * game->state_size, state, game->state_size);
		uint32_t weights[SMX_OUTCOMES_MAX];
		const unsigned outcomes = game->outcomes(state, weights);
		uint32_t sum = 0;
		for (unsigned i = 0; i < outcomes; i++)
			sum += weights[i];
		*total = sum > *total ? sum : *total;
		const struct smx_arena_mark mark = smx_arena_mark(arena);
		const void *expansion = game->open(state, arena);
		struct smx_afterstates list;
		enum smx_node node = SMX_NODE_WON;
		/* an outcome that ends the game is passed over; a position with no other starts the next game */
		for (unsigned tries = 0; expansion && tries < outcomes && (node == SMX_NODE_WON || node == SMX_NODE_LOST);
		     tries++)
			node = game->afterstates(expansion, smx_random_below(&seed, outcomes), arena, &list);
		if (!expansion || node == SMX_NODE_NO_MEMORY)
			return 0;
		if (node == SMX_NODE_OPEN) {
			const size_t chosen = smx_random_below(&seed, (uint32_t)list.count);
			memcpy(state, (const unsigned char *)list.states + chosen * game->state_size, game->state_size);
		} else {
			memcpy(state, start.state, game->state_size);
		}
		smx_arena_release(arena, mark);
	}
	return count;
}

static void name_position(const struct smx_game *game, const void *state, char *text)
{
	struct smx_position position = {.outcome = SMX_NO_OUTCOME};
	memcpy(position.state, state, game->state_size);
	game->format(&position, text);
}

static bool agrees_with_canonical(const struct smx_game *game, const struct smx_evaluator *evaluator, const void *state,
                                  unsigned side, smx_value value)
{
	_Alignas(SMX_CACHE_LINE) unsigned char canonical[SMX_STATE_MAX];
	smx_value other;
	game->canonical(state, canonical);
	evaluator->evaluate(evaluator->context, canonical, 1, side, &other);
	return value == other;
}

static enum smx_status check_on(const struct smx_game *game, const struct smx_evaluator *evaluator,
                                const unsigned char *states, unsigned char *reversed, size_t count, unsigned side,
                                uint64_t *values_hash, struct smx_error *error)
{
	const size_t size = game->state_size;
	smx_value together[SAMPLES], backwards[SAMPLES];
	for (size_t i = 0; i < count; i++)
		memcpy(reversed + (count - 1 - i) * size, states + i * size, size);
	evaluator->evaluate(evaluator->context, states, count, side, together);
	evaluator->evaluate(evaluator->context, reversed, count, side, backwards);
	char text[SMX_TEXT_MAX];
	for (size_t i = 0; i < count; i++) {
		smx_value alone;
		evaluator->evaluate(evaluator->context, states + i * size, 1, side, &alone);
		if (game->canonical && evaluator->symmetric &&
		    !agrees_with_canonical(game, evaluator, states + i * size, side, alone)) {
			name_position(game, states + i * size, text);
			return smxi_refuse(error, SMX_ERR_IMPURE,
			                   "evaluator \"%.30s\" is not symmetric: it gives %" PRId64
			                   " for %.120s, and another value for the "
			                   "position that stands for it",
			                   evaluator->name, alone, text);
		}
		const smx_value other = alone != together[i] ? together[i] : backwards[count - 1 - i];
		if (alone != other) {
			name_position(game, states + i * size, text);
			return smxi_refuse(error, SMX_ERR_IMPURE,
			                   "evaluator \"%.30s\" gives %" PRId64 " alone and %" PRId64 " in a batch for %.120s",
			                   evaluator->name, alone, other, text);
		}
		if (alone < evaluator->lo || alone > evaluator->hi) {
			name_position(game, states + i * size, text);
			return smxi_refuse(error, SMX_ERR_BOUNDS,
			                   "evaluator \"%.30s\" gives %" PRId64 ", outside its bounds, for %.120s", evaluator->name,
			                   alone, text);
		}
		*values_hash = (*values_hash ^ (uint64_t)alone) * UINT64_C(0x100000001b3);
		*values_hash ^= *values_hash >> 32;
	}
	return SMX_OK;
}

static enum smx_status check(const struct smx_game *game, const struct smx_evaluator *evaluator, uint64_t *values_hash,
                             struct smx_error *error)
{
	if (!evaluator->name || !evaluator->unit || !evaluator->evaluate)
		return smxi_refuse(error, SMX_ERR_ARGUMENT, "an evaluator needs a name, a unit and an evaluate function");
	if (evaluator->scale_bits > SCALE_BITS_MAX)
		return smxi_refuse(error, SMX_ERR_ARGUMENT, "evaluator \"%.30s\": scale of %u bits, at most %d are possible",
		                   evaluator->name, evaluator->scale_bits, SCALE_BITS_MAX);
	if (evaluator->lo > evaluator->hi || evaluator->loss > evaluator->win)
		return smxi_refuse(error, SMX_ERR_BOUNDS, "evaluator \"%.30s\": bounds in the wrong order", evaluator->name);
	if (!fits(smx_evaluator_floor(evaluator), game->total_max) ||
	    !fits(smx_evaluator_ceiling(evaluator), game->total_max))
		return smxi_refuse(error, SMX_ERR_BOUNDS,
		                   "evaluator \"%.30s\": bounds times the total weight %" PRIu32 " must stay below 2^62",
		                   evaluator->name, game->total_max);
	struct smx_arena *arena = smx_arena_create(NULL);
	unsigned char *states = arena ? smx_arena_alloc(arena, SAMPLES * game->state_size) : NULL;
	unsigned char *reversed = states ? smx_arena_alloc(arena, SAMPLES * game->state_size) : NULL;
	uint32_t total = 0;
	const size_t count = reversed ? sample_positions(game, arena, states, &total) : 0;
	enum smx_status status =
		count ? SMX_OK : smxi_refuse(error, SMX_ERR_MEMORY, "no memory to check evaluator \"%.30s\"", evaluator->name);
	if (status == SMX_OK && total > game->total_max)
		status = smxi_refuse(error, SMX_ERR_BOUNDS,
		                     "game \"%.30s\": the weights of a position add up to %" PRIu32
		                     ", more than its total_max, %" PRIu32,
		                     game->name, total, game->total_max);
	for (unsigned side = 0; side < 2 && status == SMX_OK; side++)
		status = check_on(game, evaluator, states, reversed, count, side, values_hash, error);
	smx_arena_destroy(arena);
	return status;
}

enum smx_status smx_evaluator_check(const struct smx_game *game, const struct smx_evaluator *evaluator,
                                    struct smx_error *error)
{
	uint64_t values_hash = 0;
	return check(game, evaluator, &values_hash, error);
}

enum smx_status smxi_evaluator_check(const struct smx_game *game, const struct smx_evaluator *evaluator,
                                     uint64_t *values_hash, struct smx_error *error)
{
	*values_hash = 0;
	for (const struct smx_evaluator *const *own = game->evaluators; *own; own++)
		if (*own == evaluator)
			return SMX_OK;
	return check(game, evaluator, values_hash, error);
}
