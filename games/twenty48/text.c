/* The text of a 2048 position: a board as 16 hexadecimal digits or as rows of tile values, and what is known of the next tile.
 *
 *     128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0         the board as the player sees it
 *     128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0 -       it waits for its next tile
 *     128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0 2@1,4   a 2 comes in row 1, column 4
 *     7410251225003620                              the same as the first
 */
#include "games/twenty48/board.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 4, CELLS = 16, QUOTED_MAX = 40 };

struct reader {
	const char *text; /* length bytes */
	size_t length, at;
	struct smx_error *error; /* may be NULL */
	uint64_t board;
	int outcome;
};

/* Every refusal quotes the text from `from` on. */
__attribute__((format(printf, 3, 4))) static bool refuse(const struct reader *r, size_t from, const char *format, ...)
{
	struct smx_error *error = r->error;
	if (!error)
		return false;
	error->offset = from;
	size_t used = 0;
	for (size_t i = from; i < r->length && used < QUOTED_MAX; i++) {
		const unsigned char byte = (unsigned char)r->text[i];
		const bool plain = byte >= 0x20 && byte < 0x7f;
		used += (size_t)snprintf(error->message + used, sizeof error->message - used, plain ? "%c" : "\\x%02x", byte);
	}
	if (!used)
		used = (size_t)snprintf(error->message, sizeof error->message, "end of text");
	used += (size_t)snprintf(error->message + used, sizeof error->message - used, ": ");
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(error->message + used, sizeof error->message - used, format, arguments);
	va_end(arguments);
	return false;
}

static int next(const struct reader *r)
{
	return r->at < r->length ? (unsigned char)r->text[r->at] : -1;
}

static bool take(struct reader *r, char wanted)
{
	if (next(r) != wanted)
		return false;
	r->at++;
	return true;
}

/* Decimal digits, at most five, and no zero before others. */
static bool read_number(struct reader *r, unsigned *number)
{
	const size_t from = r->at;
	*number = 0;
	while (next(r) >= '0' && next(r) <= '9' && r->at - from < 5)
		*number = *number * 10 + (unsigned)(next(r) - '0'), r->at++;
	const size_t digits = r->at - from;
	return digits == 1 || (digits > 1 && r->text[from] != '0');
}

static int hex_digit(int c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : -1;
}

static bool read_hex(struct reader *r)
{
	const size_t from = r->at;
	for (; hex_digit(next(r)) >= 0; r->at++)
		r->board = r->board << 4 | (unsigned)hex_digit(next(r));
	return r->at - from == CELLS || refuse(r, from, "a board has 16 hexadecimal digits, not %zu", r->at - from);
}

static bool read_tile(struct reader *r, unsigned *tile)
{
	const size_t from = r->at;
	unsigned value = 0;
	if (!read_number(r, &value))
		return refuse(r, from, "a tile's value is wanted, 0 for an empty cell");
	const bool power = (value & (value - 1)) == 0;
	*tile = value ? (unsigned)__builtin_ctz(value) : 0;
	return (power && value != 1 && *tile <= SMXI_T48_TILE_MAX) ||
	       refuse(r, from, "a tile is a power of two from 2 to 32768, or 0");
}

static bool read_rows(struct reader *r)
{
	for (unsigned cell = 0; cell < CELLS; cell++) {
		const char between = cell % SIDE ? ',' : '/';
		unsigned tile = 0;
		if (cell && !take(r, between))
			return refuse(r, r->at, "%s is wanted after %u tiles of row %u", cell % SIDE ? "a comma" : "a slash",
			              cell % SIDE ? cell % SIDE : SIDE, (cell - 1) / SIDE + 1);
		if (!read_tile(r, &tile))
			return false;
		r->board = r->board << 4 | tile;
	}
	return true;
}

/* Which outcome puts a tile into that cell. */
static int outcome_of(uint64_t board, unsigned cell, unsigned tile)
{
	int outcome = tile == 4;
	for (unsigned before = 0; before < cell; before++)
		outcome += smxi_t48_tile(board, before) == 0 ? 2 : 0;
	return outcome;
}

static bool read_outcome(struct reader *r)
{
	const size_t from = r->at;
	unsigned tile = 0, row = 0, column = 0;
	if (take(r, '-')) {
		r->outcome = SMX_NO_OUTCOME;
		return smxi_t48_empty(r->board) || refuse(r, from, "there is no empty cell for a tile");
	}
	if (!(read_number(r, &tile) && take(r, '@') && read_number(r, &row) && take(r, ',') && read_number(r, &column)))
		return refuse(r, from, "- is wanted, or a tile and its cell, such as 2@1,4");
	if (tile != 2 && tile != 4)
		return refuse(r, from, "a new tile is a 2 or a 4");
	if (row < 1 || row > SIDE || column < 1 || column > SIDE)
		return refuse(r, from, "rows and columns are from 1 to 4");
	const unsigned cell = (row - 1) * SIDE + column - 1;
	if (smxi_t48_tile(r->board, cell))
		return refuse(r, from, "that cell is not empty");
	r->outcome = outcome_of(r->board, cell, tile);
	return true;
}

static bool read_position(struct reader *r)
{
	const bool rows = memchr(r->text, ',', r->length < 6 ? r->length : 6) != NULL;
	if (!(rows ? read_rows(r) : read_hex(r)))
		return false;
	if (r->at == r->length)
		return r->board || refuse(r, 0, "an empty board waits for its first tile: it is written with a -");
	if (!take(r, ' '))
		return refuse(r, r->at, "a board ends here");
	return read_outcome(r) && (r->at == r->length || refuse(r, r->at, "a position ends here"));
}

enum smx_status smxi_t48_parse(const char *text, size_t length, struct smx_position *position, struct smx_error *error)
{
	struct reader r = {.text = text, .length = length, .error = error, .outcome = SMX_2048_PLACED};
	if (!read_position(&r))
		return SMX_ERR_PARSE;
	smxi_t48_set(position, r.board, r.outcome);
	return SMX_OK;
}

static size_t write_board(uint64_t board, char *text)
{
	size_t used = 0;
	for (unsigned cell = 0; cell < CELLS; cell++) {
		const unsigned tile = smxi_t48_tile(board, cell);
		const char *between = cell == 0 ? "" : cell % SIDE ? "," : "/";
		used += (size_t)snprintf(text + used, SMX_TEXT_MAX - used, "%s%u", between, tile ? 1u << tile : 0);
	}
	return used;
}

size_t smxi_t48_outcome_name(const void *state, int outcome, char *text)
{
	const uint64_t board = smxi_t48_board(state);
	const uint64_t placed = smxi_t48_place(board, (unsigned)outcome) ^ board;
	if (!placed) /* SMX_2048_PLACED, or a board without room */
		return (size_t)snprintf(text, SMX_TEXT_MAX, "placed");
	const unsigned cell = (unsigned)__builtin_clzll(placed) / 4;
	return (size_t)snprintf(text, SMX_TEXT_MAX, "%u@%u,%u", 1u << smxi_t48_tile(placed, cell), cell / SIDE + 1,
	                        cell % SIDE + 1);
}

size_t smxi_t48_format(const struct smx_position *position, char *text)
{
	size_t used = write_board(smxi_t48_board(position->state), text);
	if (position->outcome == SMX_2048_PLACED)
		return used;
	text[used++] = ' ';
	if (position->outcome == SMX_NO_OUTCOME)
		return used + (size_t)snprintf(text + used, SMX_TEXT_MAX - used, "-");
	return used + smxi_t48_outcome_name(position->state, position->outcome, text + used);
}

size_t smxi_t48_draw(const struct smx_position *position, char *text)
{
	static const char edge[] = "+-------+-------+-------+-------+\n";
	const int outcome = position->outcome == SMX_NO_OUTCOME ? SMX_2048_PLACED : position->outcome;
	const uint64_t board = smxi_t48_place(smxi_t48_board(position->state), (unsigned)outcome);
	size_t used = 0;
	for (unsigned cell = 0; cell < CELLS; cell++) {
		const unsigned tile = smxi_t48_tile(board, cell);
		if (cell % SIDE == 0)
			used += (size_t)snprintf(text + used, SMX_DRAWING_MAX - used, "%s", edge);
		used += tile ? (size_t)snprintf(text + used, SMX_DRAWING_MAX - used, "| %5u ", 1u << tile)
		             : (size_t)snprintf(text + used, SMX_DRAWING_MAX - used, "|       ");
		if (cell % SIDE == SIDE - 1)
			used += (size_t)snprintf(text + used, SMX_DRAWING_MAX - used, "|\n");
	}
	return used + (size_t)snprintf(text + used, SMX_DRAWING_MAX - used, "%s", edge);
}
