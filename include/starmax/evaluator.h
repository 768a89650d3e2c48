/* Evaluators: pure functions from positions to exact values.
 *
 * An evaluator looks at what the position's key contains and at nothing else: the same position gives the same bits,
 * whatever batch it comes in. Values are always from the evaluated side (the side to move at the root). */
#ifndef STARMAX_EVALUATOR_H
#define STARMAX_EVALUATOR_H

#include <starmax/status.h>
#include <starmax/value.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct smx_game;

/* Evaluate count positions, states[0..count) of state_size bytes each, one after the other (borrowed until return), from
 * the point of view of `side`; write values[0..count). count >= 1. A search that has several threads calls it from all of
 * them at once, all with the same context: what it changes there or elsewhere it has to guard itself. */
typedef void smx_evaluate_fn(const void *context, const void *states, size_t count, unsigned side, smx_value *values);

struct smx_evaluator {
	const char *name;    /* what the command and results call it */
	const char *unit;    /* of 2^scale_bits: "centipawns", "probability" */
	unsigned scale_bits; /* s: values are multiples of 2^-s units; 0..48 */
	smx_value lo, hi;    /* no evaluated position is outside [lo, hi] */
	smx_value loss, win; /* what an ended game is worth to the evaluated side */
	smx_evaluate_fn *evaluate;
	const void *context; /* passed to evaluate; borrowed */
	const void *fold;    /* the game's own description of it for its fold hook; NULL: list and evaluate */
	bool symmetric;      /* positions that the game's canonical hook takes to the same one have the same value */
};

/* The least and the greatest value a node can have: [min(lo, loss), max(hi, win)]. */
static inline smx_value smx_evaluator_floor(const struct smx_evaluator *evaluator)
{
	return evaluator->lo < evaluator->loss ? evaluator->lo : evaluator->loss;
}

static inline smx_value smx_evaluator_ceiling(const struct smx_evaluator *evaluator)
{
	return evaluator->hi > evaluator->win ? evaluator->hi : evaluator->win;
}

/* Check a user's evaluator once, before it is searched with: its bounds leave room for weighted sums, and on some
 * hundreds of positions from seeded random play of `game` its values lie in [lo, hi] and are the same one at a time, in
 * one batch, and in a batch of another order, for both sides; a symmetric one's also on the positions that stand for these.
 * Returns SMX_OK, SMX_ERR_ARGUMENT, SMX_ERR_BOUNDS, SMX_ERR_IMPURE (the message names the position, and the values) or
 * SMX_ERR_MEMORY. A search repeats the check for an evaluator it has not seen before, so calling this is optional. */
enum smx_status smx_evaluator_check(const struct smx_game *game, const struct smx_evaluator *evaluator,
                                    struct smx_error *error);

#ifdef __cplusplus
}
#endif

#endif
