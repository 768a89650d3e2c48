/* 2048 positions for tests, through the library's public interface, from the slow boards and back. What cannot be ends the test by
 * abort(). */
#ifndef TESTS_SUPPORT_TWENTY48_H
#define TESTS_SUPPORT_TWENTY48_H

#include "tests/support/slow2048.h"

#include <starmax/starmax.h>

struct smx_position twenty48_read(const char *text);
struct smx_position twenty48_position(const struct slow2048 *board, int outcome);

/* The slow board of smx_2048_board's 64 bits, and those of a slow board. */
struct slow2048 twenty48_board(uint64_t bits);
uint64_t twenty48_bits(const struct slow2048 *board);

/* Another board as a player may see it: the one after a random turn and a random tile, or where a game has ended the first of another.
 * Games begin with two tiles, with a crowd of few kinds, of which some are as high as can be, or with any tiles at all. */
void twenty48_random(struct slow2048 *board, uint64_t *seed);

/* Sixteen random nibbles, of which about `empty` of 16, at most 15, are 0 besides; at least one tile. */
struct slow2048 twenty48_random_nibbles(uint64_t *seed, unsigned empty);

/* Boards that random play hardly ever meets, i below twenty48_odd_boards: full ones, with and without a turn, nearly full ones, the highest
 * tiles, a single tile, opposite corners. None is empty. */
extern const size_t twenty48_odd_boards;
struct slow2048 twenty48_odd_board(size_t i);

/* The value of a board as a leaf. */
smx_value twenty48_value(const struct smx_evaluator *evaluator, const struct slow2048 *board);

#endif
