/* Tables of the 2048 board, filled once, and what needs no speed. */
#include "games/twenty48/board.h"

#include <pthread.h>
#include <string.h>

struct smxi_t48_slides smxi_t48_slides;

enum { CELLS = 4 };

/* Slide a line to the left: gaps close, and each tile merges with its equal neighbour at most once, those farthest left first. */
static unsigned slide_line(unsigned line, int32_t *points)
{
	unsigned slid[CELLS + 1] = {0}, count = 0, result = 0;
	bool can_merge = false; /* the last tile, which no merging has made */
	*points = 0;
	for (unsigned i = 0; i < CELLS; i++) {
		const unsigned tile = line >> (12 - 4 * i) & 15;
		if (tile == 0)
			continue;
		if (can_merge && slid[count - 1] == tile && tile < SMXI_T48_TILE_MAX) {
			slid[count - 1]++;
			*points += INT32_C(2) << tile;
			can_merge = false;
		} else {
			slid[count++] = tile;
			can_merge = true;
		}
	}
	for (unsigned i = 0; i < CELLS; i++)
		result = result << 4 | slid[i];
	return result;
}

static void fill_tables(void)
{
	for (unsigned line = 0; line < SMXI_T48_LINES; line++) {
		const unsigned left = slide_line(line, &smxi_t48_slides.points[line]);
		smxi_t48_slides.left[line] = (uint16_t)left;
		smxi_t48_slides.right[smxi_t48_mirrored(line)] = (uint16_t)smxi_t48_mirrored(left);
	}
	smxi_t48_fill_evaluators();
}

void smxi_t48_set(struct smx_position *position, uint64_t board, int outcome)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, fill_tables);
	const struct smxi_t48_state state = smxi_t48_state(board);
	memset(position, 0, sizeof *position);
	memcpy(position->state, &state, sizeof state);
	position->outcome = outcome;
}

uint64_t smxi_t48_slide(uint64_t board, enum smx_2048_way way)
{
	const bool upright = way == SMX_2048_UP || way == SMX_2048_DOWN;
	const bool back = way == SMX_2048_RIGHT || way == SMX_2048_DOWN;
	if (upright)
		board = smxi_t48_transpose(board);
	board = smxi_t48_slide_rows(board, back ? smxi_t48_slides.right : smxi_t48_slides.left);
	return upright ? smxi_t48_transpose(board) : board;
}

int64_t smxi_t48_points(uint64_t board, enum smx_2048_way way)
{
	if (way == SMX_2048_UP || way == SMX_2048_DOWN)
		board = smxi_t48_transpose(board);
	int64_t points = 0;
	for (unsigned row = 0; row < CELLS; row++)
		points += smxi_t48_slides.points[smxi_t48_row(board, row)];
	return points;
}

/* Left becomes right. */
static uint64_t mirror(uint64_t board)
{
	board = (board & UINT64_C(0xf0f0f0f0f0f0f0f0)) >> 4 | (board & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
	return (board & UINT64_C(0xff00ff00ff00ff00)) >> 8 | (board & UINT64_C(0x00ff00ff00ff00ff)) << 8;
}

/* Up becomes down. */
static uint64_t flip(uint64_t board)
{
	board = board >> 32 | board << 32;
	return (board & UINT64_C(0xffff0000ffff0000)) >> 16 | (board & UINT64_C(0x0000ffff0000ffff)) << 16;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t least_of_four(uint64_t board)
{
	const uint64_t other = mirror(board);
	return least(least(board, flip(board)), least(other, flip(other)));
}

uint64_t smxi_t48_canonical(uint64_t board)
{
	return least(least_of_four(board), least_of_four(smxi_t48_transpose(board)));
}

uint64_t smxi_t48_place(uint64_t board, unsigned outcome)
{
	uint64_t empty = smxi_t48_empty(board);
	if (outcome == SMX_2048_PLACED || !empty)
		return board;
	/* in reading order, which is from the highest bits down */
	for (unsigned before = outcome / 2; before; before--)
		empty &= ~(UINT64_C(1) << (63 - __builtin_clzll(empty)));
	return board | (UINT64_C(1) + outcome % 2) << (63 - __builtin_clzll(empty));
}
