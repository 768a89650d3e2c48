#include "tests/support/slow2048.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WEIGHT_OF_2 = 9, WEIGHT_OF_4 = 1, HIGHEST = 32768 };

bool slow2048_equal(const struct slow2048 *a, const struct slow2048 *b)
{
	for (int row = 0; row < 4; row++)
		for (int column = 0; column < 4; column++)
			if (a->cell[row][column] != b->cell[row][column])
				return false;
	return true;
}

static unsigned count_of(const struct slow2048 *board, int tile)
{
	unsigned count = 0;
	for (int row = 0; row < 4; row++)
		for (int column = 0; column < 4; column++)
			count += board->cell[row][column] == tile;
	return count;
}

unsigned slow2048_tiles(const struct slow2048 *board)
{
	return 16 - count_of(board, 0);
}

unsigned slow2048_outcomes(const struct slow2048 *board)
{
	return 2 * count_of(board, 0);
}

unsigned slow2048_kinds(const struct slow2048 *board)
{
	unsigned kinds = 0;
	for (int tile = 2; tile <= HIGHEST; tile *= 2)
		kinds += count_of(board, tile) > 0;
	return kinds;
}

unsigned slow2048_highest(const struct slow2048 *board)
{
	int highest = 0;
	for (int tile = 2; tile <= HIGHEST; tile *= 2)
		if (count_of(board, tile) > 0)
			highest = tile;
	return (unsigned)highest;
}

/* ---- text ---- */

/* One tile or 0 at the beginning of the text, with `separator` behind it; returns what is behind that, or NULL. */
static const char *read_tile(const char *text, char separator, int *tile)
{
	for (int value = 0; value <= HIGHEST; value = value ? 2 * value : 2) {
		char wanted[16];
		const int length = snprintf(wanted, sizeof wanted, "%d%c", value, separator);
		if (strncmp(text, wanted, (size_t)length) == 0) {
			*tile = value;
			return text + length;
		}
	}
	return NULL;
}

static bool read_rows(struct slow2048 *board, const char *text)
{
	for (int i = 0; i < 16; i++) {
		text = read_tile(text, i == 15 ? ' ' : i % 4 == 3 ? '/' : ',', &board->cell[i / 4][i % 4]);
		if (!text)
			return false;
	}
	return *text == '\0';
}

static bool read_digits(struct slow2048 *board, const char *text)
{
	static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
	if (strlen(text) != 17)
		return false;
	for (int i = 0; i < 16; i++) {
		int digit = 0;
		while (digit < 16 && text[i] != lower[digit] && text[i] != upper[digit])
			digit++;
		if (digit == 16)
			return false;
		board->cell[i / 4][i % 4] = digit ? 1 << digit : 0;
	}
	return true;
}

/* The number of the outcome that puts the tile there; SLOW2048_WAITS where the cell is not empty. */
static int outcome_at(const struct slow2048 *board, int tile, int row, int column)
{
	int outcome = tile == 2 ? 0 : 1;
	for (int i = 0; i < 4 * row + column; i++)
		outcome += board->cell[i / 4][i % 4] ? 0 : 2;
	return board->cell[row][column] ? SLOW2048_WAITS : outcome;
}

/* What is behind the space. */
static bool read_outcome(const struct slow2048 *board, const char *text, int *outcome)
{
	if (strcmp(text, "-") == 0) {
		*outcome = SLOW2048_WAITS;
		return slow2048_tiles(board) < 16;
	}
	for (int tile = 2; tile <= 4; tile += 2)
		for (int row = 0; row < 4; row++)
			for (int column = 0; column < 4; column++) {
				const char wanted[] = {(char)('0' + tile), '@', (char)('1' + row), ',', (char)('1' + column), '\0'};
				if (strcmp(text, wanted) == 0) {
					*outcome = outcome_at(board, tile, row, column);
					return *outcome != SLOW2048_WAITS;
				}
			}
	return false;
}

bool slow2048_read(struct slow2048 *board, int *outcome, const char *text, size_t length)
{
	char board_text[SLOW2048_TEXT + 1] = "", rest[SLOW2048_TEXT + 1] = "";
	if (length >= SLOW2048_TEXT || memchr(text, '\0', length))
		return false;
	memcpy(board_text, text, length);
	char *space = strchr(board_text, ' ');
	if (space) {
		strcpy(rest, space + 1);
		space[1] = '\0';
	} else {
		strcat(board_text, " ");
	}
	if (!read_digits(board, board_text) && !read_rows(board, board_text))
		return false;
	if (space)
		return read_outcome(board, rest, outcome);
	*outcome = SLOW2048_PLACED;
	return slow2048_tiles(board) > 0;
}

/* The cell of an outcome, 0..15 in reading order. */
static int cell_of(const struct slow2048 *board, int outcome)
{
	int empty = 0;
	for (int i = 0; i < 16; i++)
		if (board->cell[i / 4][i % 4] == 0 && empty++ == outcome / 2)
			return i;
	return -1;
}

size_t slow2048_write(const struct slow2048 *board, int outcome, char text[SLOW2048_TEXT])
{
	int length = 0;
	for (int i = 0; i < 16; i++)
		length += snprintf(text + length, (size_t)(SLOW2048_TEXT - length), "%d%s", board->cell[i / 4][i % 4],
		                   i == 15      ? ""
		                   : i % 4 == 3 ? "/"
		                                : ",");
	if (outcome == SLOW2048_WAITS) {
		length += snprintf(text + length, (size_t)(SLOW2048_TEXT - length), " -");
	} else if (outcome != SLOW2048_PLACED) {
		const int cell = cell_of(board, outcome);
		length += snprintf(text + length, (size_t)(SLOW2048_TEXT - length), " %d@%d,%d", outcome % 2 ? 4 : 2,
		                   cell / 4 + 1, cell % 4 + 1);
	}
	return (size_t)length;
}

/* ---- rules ---- */

struct slow2048 slow2048_place(const struct slow2048 *board, int outcome)
{
	struct slow2048 placed = *board;
	if (outcome != SLOW2048_WAITS && outcome != SLOW2048_PLACED) {
		const int cell = cell_of(board, outcome);
		placed.cell[cell / 4][cell % 4] = outcome % 2 ? 4 : 2;
	}
	return placed;
}

/* The i-th cell of a line, counted from the wall that the tiles slide to. */
static int *line_cell(struct slow2048 *board, enum slow2048_way way, int line, int i)
{
	switch (way) {
	case SLOW2048_LEFT:
		return &board->cell[line][i];
	case SLOW2048_RIGHT:
		return &board->cell[line][3 - i];
	case SLOW2048_UP:
		return &board->cell[i][line];
	default:
		return &board->cell[3 - i][line];
	}
}

static struct slow2048_turn slide(const struct slow2048 *board, enum slow2048_way way)
{
	struct slow2048_turn turn = {.way = way, .after = *board, .reward = 0};
	for (int line = 0; line < 4; line++) {
		int tiles[4], count = 0;
		bool can_merge = false; /* the last of them, which is not itself the result of a merge */
		for (int i = 0; i < 4; i++) {
			int *cell = line_cell(&turn.after, way, line, i);
			const int tile = *cell;
			*cell = 0;
			if (tile && can_merge && tiles[count - 1] == tile && tile < HIGHEST) {
				tiles[count - 1] = 2 * tile;
				turn.reward += 2 * tile;
				can_merge = false;
			} else if (tile) {
				tiles[count++] = tile;
				can_merge = true;
			}
		}
		for (int i = 0; i < count; i++)
			*line_cell(&turn.after, way, line, i) = tiles[i];
	}
	return turn;
}

unsigned slow2048_turns(const struct slow2048 *board, struct slow2048_turn turns[4])
{
	if (slow2048_tiles(board) < 2) {
		turns[0] = (struct slow2048_turn){.way = SLOW2048_PASS, .after = *board, .reward = 0};
		return 1;
	}
	unsigned count = 0;
	for (enum slow2048_way way = SLOW2048_LEFT; way <= SLOW2048_DOWN; way++) {
		turns[count] = slide(board, way);
		count += !slow2048_equal(&turns[count].after, board);
	}
	return count;
}

struct slow2048 slow2048_symmetry(const struct slow2048 *board, unsigned which)
{
	struct slow2048 image;
	for (int row = 0; row < 4; row++)
		for (int column = 0; column < 4; column++) {
			const int r = which & 1 ? 3 - row : row, c = which & 2 ? 3 - column : column;
			image.cell[row][column] = which & 4 ? board->cell[c][r] : board->cell[r][c];
		}
	return image;
}

/* ---- evaluators ---- */

static double log_of(int tile)
{
	return tile ? log2(tile) : 0;
}

/* How far four tiles are from rising or falling throughout, whichever is less, in powers of their logarithms. */
static double zigzag(const int tiles[4], double power)
{
	double up = 0, down = 0;
	for (int i = 0; i < 3; i++) {
		const double step = pow(log_of(tiles[i + 1]), power) - pow(log_of(tiles[i]), power);
		up += fmax(0, step);
		down += fmax(0, -step);
	}
	return fmin(up, down);
}

double slow2048_seed(const struct slow2048 *board)
{
	const struct slow2048 transposed = slow2048_symmetry(board, 4);
	double mono = 0;
	for (int i = 0; i < 4; i++)
		mono -= zigzag(board->cell[i], 1) + zigzag(transposed.cell[i], 1);
	return 2.7 * count_of(board, 0) + mono + 1.5 * log_of(board->cell[0][0]);
}

double slow2048_score(const struct slow2048 *board)
{
	double score = 0;
	for (int row = 0; row < 4; row++)
		for (int column = 0; column < 4; column++) {
			const int tile = board->cell[row][column];
			if (tile)
				score += (log_of(tile) - 1 - 2.0 / 11) * tile;
		}
	return score;
}

/* Tiles that have an equal one next to them, empty cells left out. */
static unsigned count_equal(const int tiles[4])
{
	int full[4];
	unsigned count = 0, equal = 0;
	for (unsigned i = 0; i < 4; i++)
		if (tiles[i])
			full[count++] = tiles[i];
	for (unsigned i = 0; i < count; i++)
		equal += (i > 0 && full[i - 1] == full[i]) || (i + 1 < count && full[i + 1] == full[i]);
	return equal;
}

static double heuristic_of_line(const int tiles[4])
{
	double value = 700.0 * count_equal(tiles) - 47 * zigzag(tiles, 4);
	for (int i = 0; i < 4; i++)
		value += tiles[i] ? -11 * pow(log_of(tiles[i]), 3.5) : 270;
	return value;
}

double slow2048_heuristic(const struct slow2048 *board)
{
	const struct slow2048 transposed = slow2048_symmetry(board, 4);
	double value = 0;
	for (int i = 0; i < 4; i++)
		value += heuristic_of_line(board->cell[i]) + heuristic_of_line(transposed.cell[i]);
	return value;
}

/* ---- search ---- */

static long long floor_of(long long sum, long long total)
{
	const long long quotient = sum / total;
	return quotient * total > sum ? quotient - 1 : quotient;
}

long long slow2048_afterstate(const struct slow2048 *board, unsigned depth, const struct slow2048_evaluator *evaluator)
{
	if (depth == 0)
		return evaluator->leaf(evaluator->context, board);
	long long sum = 0, total = 0;
	const int outcomes = (int)slow2048_outcomes(board);
	for (int outcome = 0; outcome < outcomes; outcome++) {
		const struct slow2048 placed = slow2048_place(board, outcome);
		const long long weight = outcome % 2 ? WEIGHT_OF_4 : WEIGHT_OF_2;
		sum += weight * slow2048_decision(&placed, depth, evaluator);
		total += weight;
	}
	return floor_of(sum, total);
}

long long slow2048_decision(const struct slow2048 *board, unsigned depth, const struct slow2048_evaluator *evaluator)
{
	struct slow2048_turn turns[4];
	const unsigned count = slow2048_turns(board, turns);
	long long best = evaluator->loss;
	for (unsigned i = 0; i < count; i++) {
		const long long value = slow2048_afterstate(&turns[i].after, depth - 1, evaluator);
		if (i == 0 || value > best)
			best = value;
	}
	return best;
}
