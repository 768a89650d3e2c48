/* Positions met in random play. */
#ifndef SMXI_CLI_WALK_H
#define SMXI_CLI_WALK_H

#include <starmax/game.h>

#include <stdbool.h>
#include <stdint.h>

/* One of the outcomes of a chance node, each as likely as its weight says; *seed is moved on. */
unsigned smxi_walk_outcome(const struct smx_game *game, const void *state, uint64_t *seed);

/* A decision met after some random turns from *start, or before the first outcome that would have ended the game. False where no game
 * of very many has led to one. The same seed, the same decision; *seed is moved on. Ends the program where there is no memory. */
bool smxi_walk_to_decision(const struct smx_game *game, const struct smx_position *start, uint64_t *seed,
                           struct smx_position *position);

#endif
