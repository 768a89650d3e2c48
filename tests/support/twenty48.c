#include "tests/support/twenty48.h"

#include <starmax/random.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct smx_position twenty48_read(const char *text)
{
	struct smx_position position;
	struct smx_error error;
	if (smx_2048.parse(text, strlen(text), &position, &error) != SMX_OK) {
		fprintf(stderr, "cannot read \"%s\": %s\n", text, error.message);
		abort();
	}
	return position;
}

struct smx_position twenty48_position(const struct slow2048 *board, int outcome)
{
	char text[SLOW2048_TEXT];
	slow2048_write(board, outcome, text);
	return twenty48_read(text);
}

struct slow2048 twenty48_board(uint64_t bits)
{
	struct slow2048 board;
	for (unsigned i = 0; i < 16; i++) {
		const unsigned nibble = bits >> (60 - 4 * i) & 15;
		board.cell[i / 4][i % 4] = nibble ? 1 << nibble : 0;
	}
	return board;
}

uint64_t twenty48_bits(const struct slow2048 *board)
{
	uint64_t bits = 0;
	for (unsigned i = 0; i < 16; i++) {
		unsigned nibble = 0;
		while (board->cell[i / 4][i % 4] >> nibble > 1)
			nibble++;
		bits = bits << 4 | nibble;
	}
	return bits;
}

struct slow2048 twenty48_random_nibbles(uint64_t *seed, unsigned empty)
{
	for (;;) {
		uint64_t bits = 0;
		for (unsigned i = 0; i < 16; i++) {
			const unsigned nibble = smx_random_below(seed, 16);
			bits = bits << 4 | (smx_random_below(seed, 16) < empty ? 0 : nibble);
		}
		if (bits)
			return twenty48_board(bits);
	}
}

static void place_randomly(struct slow2048 *board, uint64_t *seed)
{
	const unsigned empty = 16 - slow2048_tiles(board);
	const unsigned is_4 = smx_random_below(seed, 10) == 0;
	*board = slow2048_place(board, (int)(2 * smx_random_below(seed, empty) + is_4));
}

/* Five neighbouring kinds of tile, and empty cells. */
static struct slow2048 crowd(uint64_t *seed)
{
	const unsigned least = 1 + smx_random_below(seed, 11);
	uint64_t bits = 0;
	for (unsigned i = 0; i < 16; i++)
		bits = bits << 4 | (smx_random_below(seed, 6) ? least + smx_random_below(seed, 5) : 0);
	return twenty48_board(bits);
}

static struct slow2048 first_board(uint64_t *seed)
{
	struct slow2048 board;
	switch (smx_random_below(seed, 4)) {
	case 0:
		return twenty48_random_nibbles(seed, smx_random_below(seed, 12));
	case 1:
		board = twenty48_board(0);
		place_randomly(&board, seed);
		place_randomly(&board, seed);
		return board;
	default:
		return crowd(seed);
	}
}

void twenty48_random(struct slow2048 *board, uint64_t *seed)
{
	struct slow2048_turn turns[4];
	const unsigned count = slow2048_tiles(board) ? slow2048_turns(board, turns) : 0;
	if (count == 0) {
		do
			*board = first_board(seed);
		while (slow2048_tiles(board) == 0);
		return;
	}
	*board = turns[smx_random_below(seed, count)].after;
	place_randomly(board, seed);
}

static const char *const odd_boards[] = {
	"2,4,2,4/4,2,4,2/2,4,2,4/4,2,4,2",
	"2,4,8,16/32,64,128,256/512,1024,2048,4096/8192,16384,32768,2",
	"32768,32768,32768,32768/32768,32768,32768,32768/32768,32768,32768,32768/32768,32768,32768,32768",
	"32768,32768,32768,32768/32768,0,32768,32768/32768,32768,32768,32768/32768,32768,32768,32768",
	"32768,32768,0,0/16384,16384,0,0/32768,0,32768,0/16384,0,16384,32768",
	"16384,16384,16384,16384/16384,16384,16384,16384/16384,16384,16384,16384/16384,16384,16384,16384",
	"16384,16384,32768,32768/32768,16384,16384,32768/32768,32768,16384,16384/8192,8192,16384,32768",
	"2,2,2,2/2,2,2,2/2,2,2,2/2,2,2,2",
	"2,2,4,8/4,2,2,8/8,4,2,2/2,0,2,2",
	"4,2,2,0/0,2,2,4/2,0,2,4/2,2,0,4",
	"2,0,0,0/0,0,0,0/0,0,0,0/0,0,0,0",
	"0,4,0,0/0,0,0,0/0,0,0,0/0,0,0,0",
	"0,0,0,0/0,0,32768,0/0,0,0,0/0,0,0,0",
	"0,0,0,0/0,0,0,0/0,0,0,0/0,0,0,2",
	"2,0,0,0/0,0,0,0/0,0,0,0/0,0,0,2",
	"0,0,0,0/0,2,0,0/0,2,0,0/0,0,0,0",
	"0,0,0,0/0,0,0,0/0,0,0,0/32768,0,0,32768",
	"2,4,2,4/4,2,4,2/2,4,2,4/4,2,4,0",
	"2,4,2,4/4,0,4,2/2,4,2,4/4,2,4,2",
	"2,4,2,4/4,2,4,2/2,4,2,4/4,2,4,4",
	"32768,2,32768,2/2,32768,2,32768/32768,2,32768,2/2,32768,2,0",
	"8,16,8,16/16,8,16,8/8,16,0,16/16,8,16,8",
};
const size_t twenty48_odd_boards = sizeof odd_boards / sizeof *odd_boards;

struct slow2048 twenty48_odd_board(size_t i)
{
	struct slow2048 board;
	int outcome;
	if (!slow2048_read(&board, &outcome, odd_boards[i], strlen(odd_boards[i])))
		abort();
	return board;
}

smx_value twenty48_value(const struct smx_evaluator *evaluator, const struct slow2048 *board)
{
	const struct smx_position position = twenty48_position(board, SLOW2048_PLACED);
	smx_value value;
	evaluator->evaluate(evaluator->context, position.state, 1, 0, &value);
	return value;
}
