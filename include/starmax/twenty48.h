/* 2048: one player slides tiles on a board of four by four, equal ones merge, and after each slide chance puts a new tile on an empty
 * cell: a 2 with weight 9, a 4 with weight 1. Rules, notation, evaluators: docs/2048.md. States come from smx_2048.parse and from the
 * search.
 *
 * A position without an outcome is a board that waits for its next tile; an outcome says which tile comes where. Outcome
 * SMX_2048_PLACED says that none comes any more: the board is as the player sees it. */
#ifndef STARMAX_TWENTY48_H
#define STARMAX_TWENTY48_H

#include <starmax/game.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const struct smx_game smx_2048;

/* heuristic: a sum over the lines of the board, on a scale of points; an ended game is worth what no board is below. 8 bits of scale. score: the score
 * to be expected of a game that shows this board; a game that ends inside the tree counts 0. 11 bits. Both are symmetric. */
extern const struct smx_evaluator smx_2048_heuristic;
extern const struct smx_evaluator smx_2048_score;

/* seed: a small hand-made one that prefers the upper left corner; an ended game is worth -1e9. 24 bits. The other two are the same on other
 * scales, the square root and the square of its absolute value with its sign: what that does to a player is in docs/scales.md. */
extern const struct smx_evaluator smx_2048_seed;
extern const struct smx_evaluator smx_2048_seed_root;
extern const struct smx_evaluator smx_2048_seed_square;

#define SMX_2048_OUTCOMES 32 /* at most: a 2 or a 4 on each cell; in the order of the empty cells, the 2 before the 4 */
#define SMX_2048_PLACED   SMX_2048_OUTCOMES

/* The ways to slide: turn->step[0], in generation order. */
enum smx_2048_way { SMX_2048_LEFT, SMX_2048_RIGHT, SMX_2048_UP, SMX_2048_DOWN };

/* The board of a state: four bits a cell, 0 empty, n the tile 2^n; the upper left cell in the highest bits, then row by row. */
uint64_t smx_2048_board(const void *state);

#ifdef __cplusplus
}
#endif

#endif
