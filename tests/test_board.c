/* The board's tables against what they stand for: line attacks, leapers, rolls. */
#include "games/dicechess/board.h"
#include "tests/support/oracle.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int straight[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
static const int diagonal[4][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};

/* Step by step along each direction, up to and including the first blocker. */
static smxi_bits walked(unsigned square, const int steps[4][2], smxi_bits occupied)
{
	smxi_bits reached = 0;
	for (unsigned d = 0; d < 4; d++)
		for (int file = (int)square % 8 + steps[d][0], rank = (int)square / 8 + steps[d][1];
		     file >= 0 && file < 8 && rank >= 0 && rank < 8; file += steps[d][0], rank += steps[d][1]) {
			const smxi_bits here = smxi_bit((unsigned)(8 * rank + file));
			reached |= here;
			if (occupied & here)
				break;
		}
	return reached;
}

static void expect_lines(const struct smxi_dc_line_attacks *lines, const int steps[4][2], size_t subsets_expected)
{
	const uint64_t first_seed = 99;
	uint64_t seed = first_seed;
	printf("seed %" PRIu64 "\n", first_seed);
	size_t subsets = 0;
	for (unsigned square = 0; square < 64; square++) {
		smxi_bits blockers = 0;
		do { /* every set of blockers that can matter */
			cr_assert_eq(smxi_dc_line(&lines[square], blockers), walked(square, steps, blockers),
			             "square %u, blockers %016" PRIx64, square, blockers);
			subsets++;
			blockers = (blockers - lines[square].mask) & lines[square].mask;
		} while (blockers);
		for (unsigned i = 0; i < 1000; i++) { /* whole boards, dense and sparse */
			smxi_bits occupied = oracle_random(&seed) & oracle_random(&seed);
			if (i % 2)
				occupied &= oracle_random(&seed);
			cr_assert_eq(smxi_dc_line(&lines[square], occupied), walked(square, steps, occupied),
			             "square %u, board %016" PRIx64, square, occupied);
		}
	}
	cr_assert_eq(subsets, subsets_expected);
}

Test(board, rook_attacks_are_walked_rays, .init = smxi_dc_init)
{
	expect_lines(smxi_dc_rook, straight, 102400);
}

Test(board, bishop_attacks_are_walked_rays, .init = smxi_dc_init)
{
	expect_lines(smxi_dc_bishop, diagonal, 5248);
}

Test(board, leapers_reach_what_their_distance_says, .init = smxi_dc_init)
{
	for (unsigned from = 0; from < 64; from++)
		for (unsigned to = 0; to < 64; to++) {
			const int files = (int)(to % 8) - (int)(from % 8), ranks = (int)(to / 8) - (int)(from / 8);
			const int across = abs(files), along = abs(ranks);
			cr_assert_eq(smxi_dc_knight[from] >> to & 1, across * along == 2, "knight %u %u", from, to);
			cr_assert_eq(smxi_dc_king[from] >> to & 1, from != to && across <= 1 && along <= 1, "king %u %u", from, to);
			cr_assert_eq(smxi_dc_pawn[SMX_WHITE][from] >> to & 1, across == 1 && ranks == 1, "white pawn %u %u", from,
			             to);
			cr_assert_eq(smxi_dc_pawn[SMX_BLACK][from] >> to & 1, across == 1 && ranks == -1, "black pawn %u %u", from,
			             to);
		}
}

/* Strictly between two squares of one line: what both see of each other's line and neither is. */
Test(board, between_is_what_lies_on_the_way, .init = smxi_dc_init)
{
	for (unsigned from = 0; from < 64; from++)
		for (unsigned to = 0; to < 64; to++) {
			smxi_bits expected = 0;
			const int files = (int)(to % 8) - (int)(from % 8), ranks = (int)(to / 8) - (int)(from / 8);
			const int distance = abs(files) > abs(ranks) ? abs(files) : abs(ranks);
			if (files == 0 || ranks == 0 || abs(files) == abs(ranks))
				for (int i = 1; i < distance; i++)
					expected |= smxi_bit((unsigned)((int)from + i * (files / distance + 8 * (ranks / distance))));
			cr_assert_eq(smxi_dc_between[from][to], expected, "between %u and %u", from, to);
		}
}

Test(board, rolls_are_the_56_multisets_with_their_weights, .init = smxi_dc_init)
{
	uint32_t sum = 0, ordered[SMX_DICECHESS_OUTCOMES] = {0};
	for (unsigned a = 1; a <= 6; a++)
		for (unsigned b = 1; b <= 6; b++)
			for (unsigned c = 1; c <= 6; c++) {
				const enum smx_dicechess_piece types[3] = {(enum smx_dicechess_piece)a, (enum smx_dicechess_piece)b,
				                                           (enum smx_dicechess_piece)c};
				const int roll = smx_dicechess_roll(types, 3);
				cr_assert(roll >= 0 && roll < SMX_DICECHESS_OUTCOMES);
				ordered[roll]++;
			}
	for (int roll = 0; roll < SMX_DICECHESS_OUTCOMES; roll++) {
		char letters[4], name[SMX_TEXT_MAX];
		const int weight = oracle_roll(roll, letters);
		cr_assert_eq(smx_dicechess.outcome_name(NULL, roll, name), 3);
		cr_assert_str_eq(name, letters);
		cr_assert_eq(smxi_dc_rolls.weight[roll], (uint32_t)weight, "%s", letters);
		cr_assert_eq(ordered[roll], (uint32_t)weight, "%s", letters);
		sum += smxi_dc_rolls.weight[roll];
	}
	cr_assert_eq(sum, SMX_DICECHESS_TOTAL);
}

Test(board, dice_and_outcome_numbers_are_inverse, .init = smxi_dc_init)
{
	for (int roll = 0; roll < SMX_DICECHESS_ROLLS; roll++) {
		enum smx_dicechess_piece types[3];
		const unsigned dice = smx_dicechess_dice(roll, types);
		cr_assert_eq(dice, roll < 56 ? 3u : roll < 77 ? 2u : 1u);
		for (unsigned i = 1; i < dice; i++)
			cr_assert_leq(types[i - 1], types[i]);
		cr_assert_eq(smx_dicechess_roll(types, dice), roll);
		const enum smx_dicechess_piece last = types[dice - 1]; /* any order */
		types[dice - 1] = types[0];
		types[0] = last;
		cr_assert_eq(smx_dicechess_roll(types, dice), roll);
	}
	const enum smx_dicechess_piece wrong[3] = {SMX_PAWN, SMX_NO_PIECE, SMX_KING};
	cr_assert_eq(smx_dicechess_roll(wrong, 3), SMX_NO_OUTCOME);
	cr_assert_eq(smx_dicechess_roll(wrong, 0), SMX_NO_OUTCOME);
	cr_assert_eq(smx_dicechess_roll(wrong, 4), SMX_NO_OUTCOME);
}

Test(board, masks_hold_the_rolls_with_those_dice, .init = smxi_dc_init)
{
	for (int roll = 0; roll < SMX_DICECHESS_OUTCOMES; roll++) {
		unsigned held[6] = {0};
		enum smx_dicechess_piece types[3];
		smx_dicechess_dice(roll, types);
		for (unsigned i = 0; i < 3; i++)
			held[types[i] - 1]++;
		for (unsigned a = 0; a < 6; a++) {
			cr_assert_eq(smxi_dc_rolls.with[a] >> roll & 1, held[a] > 0, "roll %d, die %u", roll, a);
			for (unsigned b = 0; b < 6; b++) {
				const bool both = a == b ? held[a] >= 2 : held[a] && held[b];
				cr_assert_eq(smxi_dc_rolls.with_pair[smxi_dc_rolls.pair[a][b]] >> roll & 1, both, "roll %d, dice %u %u",
				             roll, a, b);
			}
		}
	}
}

/* Two different features with one number would make different positions equal. */
Test(board, key_numbers_differ, .init = smxi_dc_init)
{
	static struct smx_key numbers[16 * 64 + 16 + 16 + 1];
	size_t count = 0;
	for (unsigned code = 0; code < 16; code++)
		for (unsigned square = 0; square < 64; square++)
			if ((code & 7) >= SMX_PAWN && (code & 7) <= SMX_KING)
				numbers[count++] = smxi_dc_keys.piece[code][square];
	for (unsigned i = 1; i < 16; i++)
		numbers[count++] = smxi_dc_keys.rights[i];
	for (unsigned i = 0; i < 16; i++)
		numbers[count++] = smxi_dc_keys.target[i];
	numbers[count++] = smxi_dc_keys.black_to_move;
	for (size_t i = 0; i < count; i++) {
		cr_assert(numbers[i].word[0] && numbers[i].word[1]);
		for (size_t k = 0; k < i; k++)
			cr_assert(numbers[i].word[0] != numbers[k].word[0] && numbers[i].word[1] != numbers[k].word[1]);
	}
}

Test(board, boards_are_shown_as_they_were_read)
{
	struct smx_position position;
	const char *text = "r3k2r/8/8/3pP3/8/8/1Q5n/R3K2R w KQkq d6 0 1";
	cr_assert_eq(smx_dicechess.parse(text, strlen(text), &position, NULL), SMX_OK);
	unsigned char board[64];
	smx_dicechess_board(position.state, board);
	static const struct {
		unsigned square;
		unsigned char code;
	} pieces[] = {{0, SMX_ROOK},      {4, SMX_KING},  {7, SMX_ROOK},      {9, SMX_QUEEN},     {15, SMX_KNIGHT + 8},
	              {35, SMX_PAWN + 8}, {36, SMX_PAWN}, {56, SMX_ROOK + 8}, {60, SMX_KING + 8}, {63, SMX_ROOK + 8}};
	unsigned char expected[64] = {0};
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
		expected[pieces[i].square] = pieces[i].code;
	cr_assert_arr_eq(board, expected, sizeof board);
}
