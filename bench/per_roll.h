/* The baseline that speed is measured against: one roll after the other, every turn path generated, distinct afterstates
 * kept and evaluated. Nothing is shared between rolls. It is what a straightforward engine does, written with care. */
#ifndef SMXI_BENCH_PER_ROLL_H
#define SMXI_BENCH_PER_ROLL_H

#include <starmax/game.h>

struct smxi_per_roll;

struct smxi_per_roll *smxi_per_roll_create(const struct smx_game *game);
void smxi_per_roll_destroy(struct smxi_per_roll *p);

/* A chance node's value with its replies as leaves. */
smx_value smxi_per_roll_chance(struct smxi_per_roll *p, const void *state, const struct smx_evaluator *evaluator,
                               unsigned evaluated_side);

/* A whole depth-2 decision: the value of the best of the first `width` candidates by material. */
smx_value smxi_per_roll_decide(struct smxi_per_roll *p, const struct smx_position *position,
                               const struct smx_evaluator *evaluator, size_t width);

#endif
