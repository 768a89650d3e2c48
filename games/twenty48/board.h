/* The 2048 board: 64 bits, four a cell, 0 for an empty one and n for the tile 2^n. The upper left cell is the highest nibble, then row by
 * row, so that a board printed in hexadecimal reads like a page. A line of four cells is 16 bits, and what a slide makes of it is
 * looked up. */
#ifndef SMXI_TWENTY48_BOARD_H
#define SMXI_TWENTY48_BOARD_H

#include <starmax/twenty48.h>

#include <stdbool.h>
#include <stdint.h>

enum { SMXI_T48_LINES = 1 << 16, SMXI_T48_TILE_MAX = 15 }; /* two tiles 2^15 do not merge */

struct smxi_t48_state {
	struct smx_key key; /* word[1] is the board, word[0] a mixture of its bits */
};

/* What a slide to the left makes of each line, and to the right; and the points of either. Filled by smxi_t48_set:
 * whoever reads a table has been given a state, and states begin there. */
struct smxi_t48_slides {
	uint16_t left[SMXI_T48_LINES], right[SMXI_T48_LINES];
	int32_t points[SMXI_T48_LINES];
};
extern struct smxi_t48_slides smxi_t48_slides;

static inline struct smxi_t48_state smxi_t48_state(uint64_t board)
{
	const uint64_t mixed = (board ^ board >> 32) * UINT64_C(0x9e3779b97f4a7c15);
	return (struct smxi_t48_state){{{mixed ^ mixed >> 29, board}}};
}

static inline uint64_t smxi_t48_board(const void *state)
{
	return ((const struct smxi_t48_state *)state)->key.word[1];
}

/* Row 0 is the upper one. */
static inline unsigned smxi_t48_row(uint64_t board, unsigned row)
{
	return (unsigned)(board >> (48 - 16 * row)) & 0xffff;
}

/* Cell 0 is the upper left one, cell 15 the lower right one. */
static inline unsigned smxi_t48_shift(unsigned cell)
{
	return 60 - 4 * cell;
}

static inline unsigned smxi_t48_tile(uint64_t board, unsigned cell)
{
	return (unsigned)(board >> smxi_t48_shift(cell)) & 15;
}

/* A bit for each empty cell: the lowest of its four. */
static inline uint64_t smxi_t48_empty(uint64_t board)
{
	board |= board >> 2;
	board |= board >> 1;
	return ~board & UINT64_C(0x1111111111111111);
}

static inline unsigned smxi_t48_count_empty(uint64_t board)
{
	/* the highest nibble of the product is the sum of all, of which 16 would be 0 */
	return board ? (unsigned)(smxi_t48_empty(board) * UINT64_C(0x1111111111111111) >> 60) : 16;
}

/* Rows become columns. */
static inline uint64_t smxi_t48_transpose(uint64_t board)
{
	uint64_t swap = (board ^ board >> 12) & UINT64_C(0x0000f0f00000f0f0);
	board ^= swap ^ swap << 12;
	swap = (board ^ board >> 24) & UINT64_C(0x00000000ff00ff00);
	return board ^ swap ^ swap << 24;
}

/* A line from right to left. */
static inline unsigned smxi_t48_mirrored(unsigned line)
{
	return (line & 15) << 12 | (line >> 4 & 15) << 8 | (line >> 8 & 15) << 4 | line >> 12;
}

/* What a table says of the four rows together. */
static inline smx_value smxi_t48_sum_of_rows(const int32_t value[SMXI_T48_LINES], uint64_t board)
{
	return (smx_value)value[board >> 48] + value[board >> 32 & 0xffff] + value[board >> 16 & 0xffff] +
	       value[board & 0xffff];
}

static inline uint64_t smxi_t48_slide_rows(uint64_t board, const uint16_t line[SMXI_T48_LINES])
{
	return (uint64_t)line[board >> 48] << 48 | (uint64_t)line[board >> 32 & 0xffff] << 32 |
	       (uint64_t)line[board >> 16 & 0xffff] << 16 | line[board & 0xffff];
}

/* The same board where that is no legal turn. */
uint64_t smxi_t48_slide(uint64_t board, enum smx_2048_way way);

/* The points that a slide makes. */
int64_t smxi_t48_points(uint64_t board, enum smx_2048_way way);

/* The least of the boards that turning and mirroring make of it. */
uint64_t smxi_t48_canonical(uint64_t board);

/* One tile or none: the second tile of a game comes before the player's first slide, and the player passes. */
static inline bool smxi_t48_waits_for_second(uint64_t board)
{
	const uint64_t tiles = ~smxi_t48_empty(board) & UINT64_C(0x1111111111111111);
	return (tiles & (tiles - 1)) == 0;
}

/* The board after an outcome of a board: smx_2048's outcomes, SMX_2048_PLACED included. */
uint64_t smxi_t48_place(uint64_t board, unsigned outcome);

/* A position of a board; fills the tables when it is first called. Thread-safe. */
void smxi_t48_set(struct smx_position *position, uint64_t board, int outcome);

/* Position text. */
enum smx_status smxi_t48_parse(const char *text, size_t length, struct smx_position *position, struct smx_error *error);
size_t smxi_t48_format(const struct smx_position *position, char *text);
size_t smxi_t48_outcome_name(const void *state, int outcome, char *text);
size_t smxi_t48_draw(const struct smx_position *position, char *text);

/* Evaluators that are a sum over the board's four rows and four columns, of one table's values: what their `fold` and `context` are. */
struct smxi_t48_lines {
	int32_t value[SMXI_T48_LINES]; /* the same for a line and its mirror image */
	/* The most that boards with certain tiles are worth some turns later; NULL: nobody knows. */
	smx_value (*most)(uint64_t board, unsigned turns);
};

/* Fill the evaluators' tables; smxi_t48_set has it done. */
void smxi_t48_fill_evaluators(void);

#endif
