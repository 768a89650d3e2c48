/* Evaluators of 2048 boards. What is made of floating point is computed once, by operations that IEEE 754 rounds alike everywhere, and is
 * an integer table from then on.
 *
 * heuristic has the terms and the weights of nneonneo's and xificurk's 2048-ai (2014; the weights were found there by CMA-ES): for each row
 * and each column, empty cells, pairs that can merge, zigzags in the fourth powers of ranks, and a price for every tile, which
 * merging lowers. seed is the player of docs/2048.md. */
#include "games/twenty48/board.h"

#include <math.h>

enum { HEURISTIC_BITS = 8, SCORE_BITS = 11, SEED_BITS = 24, LINE_CELLS = 4, BOARD_CELLS = 16 };

/* ---- sums over lines ---- */

static smx_value most_of_heuristic(uint64_t board, unsigned turns);
static struct smxi_t48_lines heuristic_lines = {.most = most_of_heuristic}, score_lines;

static void evaluate_lines(const void *context, const void *states, size_t count, unsigned side, smx_value *values)
{
	const struct smxi_t48_lines *lines = context;
	const struct smxi_t48_state *state = states;
	(void)side;
	for (size_t i = 0; i < count; i++) {
		const uint64_t board = smxi_t48_board(&state[i]);
		values[i] =
			smxi_t48_sum_of_rows(lines->value, board) + smxi_t48_sum_of_rows(lines->value, smxi_t48_transpose(board));
	}
}

static int tile_of(unsigned line, unsigned i)
{
	return (int)(line >> (4 * (LINE_CELLS - 1 - i)) & 15);
}

/* Equal neighbours, gaps between them not counting: a run of k makes k. */
static int pairs_of(unsigned line)
{
	int pairs = 0, run = 0, last = 0;
	for (unsigned i = 0; i < LINE_CELLS; i++) {
		const int tile = tile_of(line, i);
		if (tile == 0)
			continue;
		run = tile == last ? run + 1 : 0;
		pairs += run == 1 ? 2 : run > 1;
		last = tile;
	}
	return pairs;
}

/* How far a line is from rising or falling all along, by the heights of its tiles' ranks. */
static int zigzag_of(unsigned line, const int height[SMXI_T48_TILE_MAX + 1])
{
	int falls = 0, rises = 0;
	for (unsigned i = 1; i < LINE_CELLS; i++) {
		const int step = height[tile_of(line, i)] - height[tile_of(line, i - 1)];
		*(step > 0 ? &rises : &falls) += step > 0 ? step : -step;
	}
	return falls < rises ? falls : rises;
}

/* Heights: ranks, and their fourth powers. */
static int plain_height[SMXI_T48_TILE_MAX + 1], steep_height[SMXI_T48_TILE_MAX + 1];

static void fill_heights(void)
{
	for (int rank = 0; rank <= SMXI_T48_TILE_MAX; rank++) {
		plain_height[rank] = rank;
		steep_height[rank] = rank * rank * rank * rank;
	}
}

static double heuristic_of(unsigned line)
{
	double price = 0, empty = 0;
	for (unsigned i = 0; i < LINE_CELLS; i++) {
		const double rank = tile_of(line, i);
		price += rank * rank * rank * sqrt(rank);
		empty += rank == 0;
	}
	return 270 * empty + 700 * pairs_of(line) - 47.0 * zigzag_of(line, steep_height) - 11 * price;
}

/* What a large tile costs at least, in both its lines, in units. */
static smx_value price_units[SMXI_T48_TILE_MAX + 1];

enum { LARGE = 5, TURNS_BOUNDED = 3 };

/* What a cell is worth at most, in both its lines: a 2 or a 4 between equals, an 8 between 8s, an empty one; and each of two equal large tiles
 * that have not merged. */
enum { TWO_MOST = 1378, EIGHT_MOST = 372, EMPTY_CELL = 540, PAIR_MOST = 2800 };

/* A bound of heuristic after so many turns, whatever comes between. Tiles from 32 on cost at least their price, all that can merge merging
 * in every turn: (r + 1)^3.5 < 2 r^3.5 from r = 5 on, so that is the cheapest. A 16 is worth less than nothing, and so is what it becomes. Up to
 * three turns smaller tiles hardly make the large ones cheaper: 16, 16 and 32 become 64 in two, and with a 64 128 in three, which costs more
 * than 32 and 64, but for the cells that are freed and an equal tile beside the new one: less than two pairs, which are added. */
static smx_value most_of_heuristic(uint64_t board, unsigned turns)
{
	if (turns > TURNS_BOUNDED)
		return INT64_MAX;
	unsigned count[SMXI_T48_TILE_MAX + 1] = {0}, merged = 0, large = 0;
	for (unsigned cell = 0; cell < BOARD_CELLS; cell++, board >>= 4)
		count[board & 15]++;
	if (turns >= 2 && count[4] >= 2 && count[LARGE] >= 1)
		merged += 2;
	for (unsigned turn = 0; turn < turns; turn++)
		for (unsigned tile = SMXI_T48_TILE_MAX - 1; tile >= LARGE; tile--) {
			const unsigned pairs = count[tile] / 2;
			count[tile] -= 2 * pairs;
			count[tile + 1] += pairs;
			merged += pairs;
		}
	smx_value most = 8; /* each line's value is rounded */
	for (unsigned tile = LARGE; tile <= SMXI_T48_TILE_MAX; tile++) {
		large += count[tile];
		most -= count[tile] * price_units[tile];
		merged += count[tile] / 2;
	}
	const unsigned cells = BOARD_CELLS - large - count[4] - count[3], new = count[1] + count[2] + turns;
	const unsigned twos = new < cells ? new : cells;
	return most +
	       (smx_value)(twos * TWO_MOST + count[3] * EIGHT_MOST + (cells - twos) * EMPTY_CELL + merged * PAIR_MOST) *
	           (1 << HEURISTIC_BITS);
}

/* The score to be expected of a game in which a tile 2^rank has come to be: so many points if it grew from 2s, and for the share of 4s
 * among new tiles, one in ten, 4 points less each; 11/5 a new tile on the average. */
static double score_of(int rank)
{
	const double value = (double)(1 << rank);
	return rank ? (rank - 1) * value - value * 2 / 11 : 0;
}

static void fill_lines(void)
{
	for (unsigned rank = LARGE; rank <= SMXI_T48_TILE_MAX; rank++) {
		const double price = 22.0 * rank * rank * rank * sqrt(rank);
		price_units[rank] = (smx_value)(price * (1 << HEURISTIC_BITS)) - 1; /* rounded down */
	}
	for (unsigned line = 0; line < SMXI_T48_LINES; line++) {
		const unsigned same = line < smxi_t48_mirrored(line) ? line : smxi_t48_mirrored(line);
		heuristic_lines.value[line] = (int32_t)smx_value_from_double(heuristic_of(same), HEURISTIC_BITS);
		int32_t score = 0; /* each tile stands in two lines: half of it in each */
		for (unsigned i = 0; i < LINE_CELLS; i++)
			score += (int32_t)smx_value_from_double(score_of(tile_of(line, i)), SCORE_BITS - 1);
		score_lines.value[line] = score;
	}
}

/* ---- seed ---- */

static int8_t seed_zigzag[SMXI_T48_LINES];
static smx_value seed_empty[BOARD_CELLS + 1];

static void fill_seed(void)
{
	for (unsigned line = 0; line < SMXI_T48_LINES; line++)
		seed_zigzag[line] = (int8_t)zigzag_of(line, plain_height);
	for (int empty = 0; empty <= BOARD_CELLS; empty++)
		seed_empty[empty] = smx_value_from_double(2.7 * empty, SEED_BITS);
}

static int zigzag_of_rows(uint64_t board)
{
	int sum = 0;
	for (unsigned row = 0; row < LINE_CELLS; row++)
		sum += seed_zigzag[smxi_t48_row(board, row)];
	return sum;
}

static smx_value seed_value(uint64_t board)
{
	const smx_value unit = INT64_C(1) << SEED_BITS;
	const int zigzag = zigzag_of_rows(board) + zigzag_of_rows(smxi_t48_transpose(board));
	return seed_empty[smxi_t48_count_empty(board)] - zigzag * unit +
	       (smx_value)smxi_t48_tile(board, 0) * (unit / 2 * 3);
}

static void evaluate_seed(const void *context, const void *states, size_t count, unsigned side, smx_value *values)
{
	const struct smxi_t48_state *state = states;
	(void)context;
	(void)side;
	for (size_t i = 0; i < count; i++)
		values[i] = seed_value(smxi_t48_board(&state[i]));
}

/* The same order of boards on another scale, of the same sign: context is the function of the absolute value. */
struct scale {
	double (*of)(double magnitude);
};

static void evaluate_scaled_seed(const void *context, const void *states, size_t count, unsigned side,
                                 smx_value *values)
{
	const struct scale *scale = context;
	evaluate_seed(NULL, states, count, side, values);
	for (size_t i = 0; i < count; i++) {
		const double seed = ldexp((double)values[i], -SEED_BITS);
		values[i] = smx_value_from_double(copysign(scale->of(fabs(seed)), seed), SEED_BITS);
	}
}

static double square(double x)
{
	return x * x;
}

static const struct scale root_scale = {sqrt}, square_scale = {square};

void smxi_t48_fill_evaluators(void)
{
	fill_heights();
	fill_lines();
	fill_seed();
}

/* ---- the evaluators ---- */

#define UNITS(whole, bits) ((smx_value)(whole) * (INT64_C(1) << (bits)))

/* Of a line: at most that of four 2s, at least that of 32768, 2, 32768, 32768. The tests go through all of them. */
enum { HEURISTIC_LINE_MOST = 2756, HEURISTIC_LINE_LEAST = -2809293 };

const struct smx_evaluator smx_2048_heuristic = {
	.name = "heuristic",
	.unit = "points",
	.scale_bits = HEURISTIC_BITS,
	.lo = UNITS(8 * HEURISTIC_LINE_LEAST, HEURISTIC_BITS),
	.hi = UNITS(8 * HEURISTIC_LINE_MOST, HEURISTIC_BITS),
	.loss = UNITS(8 * HEURISTIC_LINE_LEAST, HEURISTIC_BITS),
	.win = UNITS(8 * HEURISTIC_LINE_MOST, HEURISTIC_BITS),
	.evaluate = evaluate_lines,
	.context = &heuristic_lines,
	.fold = &heuristic_lines,
	.symmetric = true,
};

/* Sixteen tiles of 32768, and of 2. */
enum { SCORE_MOST = 16 * 14 * 32768, SCORE_LEAST = -16 };

const struct smx_evaluator smx_2048_score = {
	.name = "score",
	.unit = "points",
	.scale_bits = SCORE_BITS,
	.lo = UNITS(SCORE_LEAST, SCORE_BITS),
	.hi = UNITS(SCORE_MOST, SCORE_BITS),
	.loss = 0,
	.win = UNITS(SCORE_MOST, SCORE_BITS),
	.evaluate = evaluate_lines,
	.context = &score_lines,
	.fold = &score_lines,
	.symmetric = true,
};

/* At worst every line is like 32768, 0, 32768, 0; at best all cells are empty, or all tiles equal. */
enum { SEED_LEAST = -8 * 15, SEED_MOST = 66, SEED_LOSS = -1000000000 };

#define SEED_EVALUATOR(title, scale_context, function, least, most)                                       \
	{                                                                                                     \
		.name = title, .unit = "guide units", .scale_bits = SEED_BITS, .lo = UNITS(least, SEED_BITS),     \
		.hi = UNITS(most, SEED_BITS), .loss = UNITS(SEED_LOSS, SEED_BITS), .win = UNITS(most, SEED_BITS), \
		.evaluate = function, .context = scale_context,                                                   \
	}

const struct smx_evaluator smx_2048_seed = SEED_EVALUATOR("seed", NULL, evaluate_seed, SEED_LEAST, SEED_MOST);
const struct smx_evaluator smx_2048_seed_root = SEED_EVALUATOR("seed-root", &root_scale, evaluate_scaled_seed, -11, 9);
const struct smx_evaluator smx_2048_seed_square =
	SEED_EVALUATOR("seed-square", &square_scale, evaluate_scaled_seed, -14400, 4356);
