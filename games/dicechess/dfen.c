/* DFEN, the text of a Dice Chess position, and turns in long algebraic notation.
 *
 * A position is read in three steps: the input as a whole (bytes, spaces, number of fields), each field on its own, and
 * last what the fields say together. Everything that can occur in a game is read. What cannot occur, or could not be
 * searched, is refused; the error's offset is where the quoted text begins in the input. */
#include "games/dicechess/board.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FIELDS_MIN   4
#define FIELDS_MAX   7
#define DICE_MAX     3
#define QUOTED_MAX   40 /* bytes of offending text that a message shows */
#define HALFMOVE_MAX 127
#define FULLMOVE_MAX 65535

/* In the order of the text; INPUT stands for all of it. */
enum field { PLACEMENT, SIDE, CASTLING, EN_PASSANT, HALFMOVE, FULLMOVE, DICE, INPUT };

static const char *const field_names[] = {"placement", "side",     "castling", "en passant",
                                          "halfmove",  "fullmove", "dice",     "input"};
static const char *const side_names[2] = {"White", "Black"};
static const char piece_letters[] = "-PNBRQK"; /* by type */

/* By bit of `rights`. */
static const struct {
	char letter;
	uint8_t side, king_square, rook_square;
} castlings[4] = {{'K', 0, 4, 7}, {'Q', 0, 4, 0}, {'k', 1, 60, 63}, {'q', 1, 60, 56}};

struct span {
	size_t at, length; /* bytes of the input */
};

struct reader {
	const char *text; /* borrowed, length bytes */
	size_t length;
	struct smx_error *error;       /* may be NULL */
	struct span field[FIELDS_MAX]; /* those from `fields` on are not there */
	unsigned fields;
	unsigned dice; /* still to be spent; 0 where nothing is rolled */
	int outcome;
	struct span target[16]; /* the square that named each target of state.targets */
	struct smxi_dc_state state;
};

struct square_name {
	char text[3];
};

static struct square_name square_name(unsigned square)
{
	return (struct square_name){{(char)('a' + (square & 7)), (char)('1' + (square >> 3)), 0}};
}

static char code_letter(unsigned code)
{
	char letter = piece_letters[code & 7];
	return code & SMX_DICECHESS_BLACK ? (char)(letter - 'A' + 'a') : letter;
}

/* The piece code of a letter, 0 if it is none. */
static unsigned letter_code(char letter)
{
	for (unsigned type = SMX_PAWN; type <= SMX_KING; type++)
		for (unsigned black = 0; black <= SMX_DICECHESS_BLACK; black += SMX_DICECHESS_BLACK)
			if (code_letter(type | black) == letter)
				return type | black;
	return 0;
}

static unsigned count(smxi_bits bits)
{
	return (unsigned)__builtin_popcountll(bits);
}

static const char *plural(unsigned number)
{
	return number == 1 ? "" : "s";
}

static bool printable(char byte)
{
	return byte >= 0x20 && byte < 0x7f;
}

/* Quotes and backslashes are escaped as well, so that the quoted text has one reading. */
static void quote(const char *text, size_t length, char quoted[4 * QUOTED_MAX + 4])
{
	char *end = quoted;
	for (size_t i = 0; i < length && i < QUOTED_MAX; i++) {
		if (printable(text[i]) && text[i] != '"' && text[i] != '\\')
			*end++ = text[i];
		else
			end += snprintf(end, 5, "\\x%02x", (unsigned)(unsigned char)text[i]);
	}
	strcpy(end, length > QUOTED_MAX ? "..." : "");
}

__attribute__((format(printf, 4, 5))) static enum smx_status refuse(const struct reader *r, enum field field,
                                                                    struct span span, const char *reason, ...)
{
	if (!r->error)
		return SMX_ERR_PARSE;
	char quoted[4 * QUOTED_MAX + 4];
	quote(r->text + span.at, span.length, quoted);
	char *message = r->error->message;
	size_t size = sizeof r->error->message;
	int used = snprintf(message, size, "%s: \"%s\" ", field_names[field], quoted);
	assert(used > 0 && (size_t)used < size);
	va_list arguments;
	va_start(arguments, reason);
	vsnprintf(message + used, size - (size_t)used, reason, arguments);
	va_end(arguments);
	r->error->offset = span.at;
	return SMX_ERR_PARSE;
}

static enum smx_status split(struct reader *r)
{
	struct span whole = {0, r->length};
	if (r->length == 0) {
		r->text = ""; /* it may have been NULL */
		return refuse(r, INPUT, whole, "is empty");
	}
	if (r->length > SMX_TEXT_MAX - 1)
		return refuse(r, INPUT, whole, "is %zu bytes long; at most %d are read", r->length, SMX_TEXT_MAX - 1);
	for (size_t i = 0; i < r->length; i++)
		if (!printable(r->text[i]))
			return refuse(r, INPUT, (struct span){i, 1}, "is not a printable ASCII character");

	for (size_t at = 0, end; at <= r->length; at = end + 1) {
		for (end = at; end < r->length && r->text[end] != ' '; end++)
			;
		if (end == at) {
			/* Nothing between two separators: the space to name is the one that should not be there. */
			if (at == r->length)
				return refuse(r, INPUT, (struct span){at - 1, 1}, "after the last field is one space too many");
			return refuse(r, INPUT, (struct span){at, 1}, "%s is one space too many",
			              at == 0 ? "before the first field" : "after a space");
		}
		if (r->fields == FIELDS_MAX)
			return refuse(r, INPUT, (struct span){at, end - at}, "is an eighth field; at most %d are read", FIELDS_MAX);
		r->field[r->fields++] = (struct span){at, end - at};
	}
	if (r->fields < FIELDS_MIN)
		return refuse(r, INPUT, whole, "has %u field%s; at least %d are needed", r->fields, plural(r->fields),
		              FIELDS_MIN);
	return SMX_OK;
}

static enum smx_status read_rank(struct reader *r, unsigned rank, struct span span)
{
	size_t squares = 0;
	for (size_t i = span.at; i < span.at + span.length; i++) {
		char c = r->text[i];
		if (c >= '1' && c <= '8')
			squares += (size_t)(c - '0');
		else if (letter_code(c))
			squares++;
		else
			return refuse(r, PLACEMENT, (struct span){i, 1},
			              c == '0' || c == '9' ? "is not a number of empty squares from 1 to 8"
			                                   : "is not a piece letter (PNBRQK or pnbrqk)");
	}
	if (squares != 8)
		return refuse(r, PLACEMENT, span, "is too %s: %zu squares on rank %u, not 8", squares < 8 ? "short" : "long",
		              squares, rank + 1);

	unsigned square = 8 * rank;
	for (size_t i = span.at; i < span.at + span.length; i++) {
		unsigned code = letter_code(r->text[i]);
		if (!code) {
			square += (unsigned)(r->text[i] - '0');
			continue;
		}
		const char *side = side_names[code >> 3];
		if ((code & 7) == SMX_PAWN && (rank == 0 || rank == 7))
			return refuse(r, PLACEMENT, (struct span){i, 1}, "is a %s pawn on %s; pawns stand on ranks 2 to 7", side,
			              square_name(square).text);
		if ((code & 7) == SMX_KING && smxi_dc_pieces(&r->state, code))
			return refuse(r, PLACEMENT, (struct span){i, 1}, "is a second %s king, on %s", side,
			              square_name(square).text);
		smxi_dc_flip_piece(&r->state, code, square++);
	}
	return SMX_OK;
}

/* Whether the pieces of a side can have come from its first sixteen. Each piece beyond its first set was a pawn. */
static enum smx_status check_pieces(const struct reader *r, unsigned side)
{
	static const uint8_t first_set[SMX_KING + 1] = {0, 8, 2, 2, 2, 1, 1};
	unsigned total = 0, promoted = 0, number[SMX_KING + 1];
	for (unsigned type = SMX_PAWN; type <= SMX_KING; type++) {
		number[type] = count(smxi_dc_pieces(&r->state, type | side << 3));
		total += number[type];
		if (type != SMX_PAWN && number[type] > first_set[type])
			promoted += number[type] - first_set[type];
	}
	struct span span = r->field[PLACEMENT];
	const char *name = side_names[side];
	if (number[SMX_KING] == 0)
		return refuse(r, PLACEMENT, span, "has no %s king", name);
	if (total > 16)
		return refuse(r, PLACEMENT, span, "has %u %s pieces; at most 16 are possible", total, name);
	if (number[SMX_PAWN] > 8)
		return refuse(r, PLACEMENT, span, "has %u %s pawns; at most 8 are possible", number[SMX_PAWN], name);
	if (number[SMX_PAWN] + promoted > 8)
		return refuse(r, PLACEMENT, span, "has %u promoted %s piece%s beside %u pawn%s; at most %u can be", promoted,
		              name, plural(promoted), number[SMX_PAWN], plural(number[SMX_PAWN]), 8 - number[SMX_PAWN]);
	return SMX_OK;
}

static enum smx_status read_placement(struct reader *r)
{
	struct span whole = r->field[PLACEMENT];
	size_t end = whole.at + whole.length;
	unsigned ranks = 1;
	for (size_t i = whole.at; i < end; i++)
		ranks += r->text[i] == '/';
	if (ranks != 8)
		return refuse(r, PLACEMENT, whole, "has %u rank%s, not 8", ranks, plural(ranks));

	enum smx_status status = SMX_OK;
	size_t at = whole.at;
	for (unsigned rank = 8; rank-- > 0 && status == SMX_OK;) {
		struct span span = {at, 0};
		while (at < end && r->text[at] != '/')
			at++;
		span.length = at++ - span.at;
		status = read_rank(r, rank, span);
	}
	for (unsigned side = 0; side < 2 && status == SMX_OK; side++)
		status = check_pieces(r, side);
	return status;
}

static bool field_is(const struct reader *r, enum field field, char c)
{
	return r->field[field].length == 1 && r->text[r->field[field].at] == c;
}

static enum smx_status read_side(struct reader *r)
{
	if (!field_is(r, SIDE, 'w') && !field_is(r, SIDE, 'b'))
		return refuse(r, SIDE, r->field[SIDE], "is not a side to move (w or b)");
	r->state.side = field_is(r, SIDE, 'b');
	return SMX_OK;
}

static enum smx_status read_castling(struct reader *r)
{
	struct span whole = r->field[CASTLING];
	if (field_is(r, CASTLING, '-'))
		return SMX_OK;
	for (size_t i = whole.at; i < whole.at + whole.length; i++) {
		struct span here = {i, 1};
		unsigned k = 0;
		while (k < 4 && castlings[k].letter != r->text[i])
			k++;
		if (k == 4)
			return refuse(r, CASTLING, here, "is not a castling right (K, Q, k or q)");
		if (r->state.rights >> k & 1)
			return refuse(r, CASTLING, here, "is given twice");
		unsigned black = (unsigned)castlings[k].side << 3;
		if (smxi_dc_piece_at(&r->state, castlings[k].king_square) != (SMX_KING | black) ||
		    smxi_dc_piece_at(&r->state, castlings[k].rook_square) != (SMX_ROOK | black))
			return refuse(r, CASTLING, here, "needs the %s king on %s and a rook of its side on %s",
			              side_names[castlings[k].side], square_name(castlings[k].king_square).text,
			              square_name(castlings[k].rook_square).text);
		r->state.rights |= (uint8_t)(1u << k);
	}
	return SMX_OK;
}

/* The squares only; check_targets asks whether they are possible, which depends on the dice. */
static enum smx_status read_targets(struct reader *r)
{
	struct span whole = r->field[EN_PASSANT];
	size_t end = whole.at + whole.length;
	if (field_is(r, EN_PASSANT, '-'))
		return SMX_OK;
	for (size_t i = whole.at; i < end; i += 2) {
		struct span here = {i, end - i < 2 ? end - i : 2};
		char file = r->text[i], rank = here.length == 2 ? r->text[i + 1] : 0;
		if (file < 'a' || file > 'h' || rank < '1' || rank > '8')
			return refuse(r, EN_PASSANT, here, "is not a square (a1 to h8)");
		if (rank != '3' && rank != '6')
			return refuse(r, EN_PASSANT, here, "is not on rank 3 or rank 6");
		unsigned target = (unsigned)(file - 'a') + (rank == '6' ? 8 : 0);
		if (r->state.targets >> target & 1)
			return refuse(r, EN_PASSANT, here, "is given twice");
		r->state.targets |= (uint16_t)(1u << target);
		r->target[target] = here;
	}
	return SMX_OK;
}

static enum smx_status read_number(const struct reader *r, enum field field, unsigned lowest, unsigned highest,
                                   unsigned *number)
{
	if (field >= r->fields)
		return SMX_OK;
	struct span span = r->field[field];
	unsigned value = 0;
	bool good = true;
	for (size_t i = span.at; i < span.at + span.length && good; i++) {
		char c = r->text[i];
		good = c >= '0' && c <= '9';
		if (good)
			value = 10 * value + (unsigned)(c - '0');
		good = good && value <= highest;
	}
	if (!good || value < lowest)
		return refuse(r, field, span, "is not a number from %u to %u", lowest, highest);
	*number = value;
	return SMX_OK;
}

static enum smx_status read_clocks(struct reader *r)
{
	unsigned halfmove = 0, fullmove = 1;
	enum smx_status status = read_number(r, HALFMOVE, 0, HALFMOVE_MAX, &halfmove);
	if (status == SMX_OK)
		status = read_number(r, FULLMOVE, 1, FULLMOVE_MAX, &fullmove);
	r->state.halfmove = (uint8_t)halfmove;
	r->state.fullmove = (uint16_t)fullmove;
	return status;
}

/* The letters' case need not agree with the side to move: only that side can have dice, and programs differ in what they
 * write. Letters of both cases, though, claim dice for both sides. */
static enum smx_status read_dice(struct reader *r)
{
	r->outcome = SMX_NO_OUTCOME;
	if (DICE >= r->fields || field_is(r, DICE, '-'))
		return SMX_OK;
	struct span whole = r->field[DICE];
	if (whole.length > DICE_MAX)
		return refuse(r, DICE, whole, "has %zu letters; a turn has at most %d dice", whole.length, DICE_MAX);
	enum smx_dicechess_piece types[DICE_MAX];
	bool of_side[2] = {false, false};
	for (size_t i = 0; i < whole.length; i++) {
		unsigned code = letter_code(r->text[whole.at + i]);
		if (!code)
			return refuse(r, DICE, (struct span){whole.at + i, 1}, "is not a die (PNBRQK or pnbrqk)");
		types[i] = (enum smx_dicechess_piece)(code & 7);
		of_side[code >> 3] = true;
	}
	if (of_side[0] && of_side[1])
		return refuse(r, DICE, whole, "is not all of the side to move: it mixes upper and lower case");
	r->dice = (unsigned)whole.length;
	r->outcome = smx_dicechess_roll(types, r->dice);
	return SMX_OK;
}

/* One target. When its pawn passed, the square it came from and the target were empty. Until the side that made it ends
 * its turn only that side moves: its pieces, but none of its pawns, may come to stand on the two squares. The other
 * side's can do so only in the midst of a turn of its own, on targets that were made before it. */
static enum smx_status check_target(const struct reader *r, unsigned target)
{
	const struct smxi_dc_state *s = &r->state;
	unsigned maker = target >= 8, other = !maker;
	unsigned pawn = SMX_PAWN | maker << 3;
	unsigned square = smxi_dc_target_square(target);
	unsigned in_front = smxi_dc_target_pawn_square(target);
	unsigned origin = 2 * square - in_front;
	bool begun = r->dice == 1 || r->dice == 2;
	struct span span = r->target[target];

	if (maker == s->side && !begun)
		return refuse(r, EN_PASSANT, span, "is a target of %s, who is to move and has not begun the turn",
		              side_names[maker]);
	if (smxi_dc_piece_at(s, in_front) != pawn)
		return refuse(r, EN_PASSANT, span, "has no %s pawn in front of it, on %s", side_names[maker],
		              square_name(in_front).text);
	for (unsigned i = 0; i < 2; i++) {
		unsigned here = i ? origin : square, code = smxi_dc_piece_at(s, here);
		if (code == pawn)
			return refuse(r, EN_PASSANT, span, "has a %s pawn on %s, where its pawn %s", side_names[maker],
			              square_name(here).text, i ? "came from" : "passed");
		if (code && code >> 3 == other && (maker == s->side || !begun))
			return refuse(r, EN_PASSANT, span, "has a %s piece on %s, which was empty when its pawn %s",
			              side_names[other], square_name(here).text, i ? "left" : "passed");
	}
	return SMX_OK;
}

static enum smx_status check_targets(const struct reader *r)
{
	const struct smxi_dc_state *s = &r->state;
	for (unsigned target = 0; target < 16; target++) {
		if (!(s->targets >> target & 1))
			continue;
		enum smx_status status = check_target(r, target);
		if (status != SMX_OK)
			return status;
	}
	unsigned own = count(s->targets & SMXI_DC_TARGETS_OF(s->side));
	unsigned others = count(s->targets) - own;
	unsigned spent = DICE_MAX - r->dice;
	if (own > 0 && own > spent)
		return refuse(r, EN_PASSANT, r->field[EN_PASSANT], "has %u targets of %s, who has spent %u of 3 dice", own,
		              side_names[s->side], spent);
	if (others > DICE_MAX)
		return refuse(r, EN_PASSANT, r->field[EN_PASSANT], "has %u targets of %s; a turn makes at most 3", others,
		              side_names[!s->side]);
	return SMX_OK;
}

enum smx_status smxi_dc_parse(const char *text, size_t length, struct smx_position *position, struct smx_error *error)
{
	static enum smx_status (*const steps[])(struct reader *) = {split,        read_placement, read_side, read_castling,
	                                                            read_targets, read_clocks,    read_dice};
	smxi_dc_init();
	struct reader r = {.text = text, .length = length, .error = error};
	enum smx_status status = SMX_OK;
	for (size_t i = 0; i < sizeof steps / sizeof *steps && status == SMX_OK; i++)
		status = steps[i](&r);
	if (status == SMX_OK)
		status = check_targets(&r);
	if (status != SMX_OK)
		return status;

	r.state.key = smxi_dc_compute_key(&r.state);
	r.state.material = smxi_dc_compute_material(&r.state);
	memset(position->state, 0, sizeof position->state);
	memcpy(position->state, &r.state, sizeof r.state);
	position->outcome = r.outcome;
	return SMX_OK;
}

static char *write_square(char *end, unsigned square)
{
	memcpy(end, square_name(square).text, 2);
	return end + 2;
}

static char *write_placement(char *end, const struct smxi_dc_state *s)
{
	for (unsigned rank = 8; rank-- > 0;) {
		unsigned empty = 0;
		for (unsigned file = 0; file < 8; file++) {
			unsigned code = smxi_dc_piece_at(s, 8 * rank + file);
			if (!code) {
				empty++;
				continue;
			}
			if (empty)
				*end++ = (char)('0' + empty);
			empty = 0;
			*end++ = code_letter(code);
		}
		if (empty)
			*end++ = (char)('0' + empty);
		if (rank)
			*end++ = '/';
	}
	return end;
}

/* Alphabetical: by file first, as in the midst of a turn both sides may have targets. */
static char *write_targets(char *end, const struct smxi_dc_state *s)
{
	if (!s->targets)
		*end++ = '-';
	for (unsigned file = 0; file < 8; file++)
		for (unsigned target = file; target < 16; target += 8)
			if (s->targets >> target & 1)
				end = write_square(end, smxi_dc_target_square(target));
	return end;
}

size_t smxi_dc_format(const struct smx_position *position, char *text)
{
	struct smxi_dc_state s;
	memcpy(&s, position->state, sizeof s);
	char *end = write_placement(text, &s);
	*end++ = ' ';
	*end++ = s.side ? 'b' : 'w';
	*end++ = ' ';
	for (unsigned k = 0; k < 4; k++)
		if (s.rights >> k & 1)
			*end++ = castlings[k].letter;
	if (!s.rights)
		*end++ = '-';
	*end++ = ' ';
	end = write_targets(end, &s);
	end += snprintf(end, (size_t)(text + SMX_TEXT_MAX - end), " %u %u ", (unsigned)s.halfmove, (unsigned)s.fullmove);
	enum smx_dicechess_piece types[DICE_MAX];
	unsigned dice = position->outcome == SMX_NO_OUTCOME ? 0 : smx_dicechess_dice(position->outcome, types);
	for (unsigned i = 0; i < dice; i++)
		*end++ = code_letter((unsigned)types[i] | (unsigned)s.side << 3);
	if (!dice)
		*end++ = '-';
	*end = 0;
	return (size_t)(end - text);
}

size_t smxi_dc_draw(const struct smx_position *position, char *text)
{
	struct smxi_dc_state s;
	memcpy(&s, position->state, sizeof s);
	char *end = text;
	for (unsigned rank = 8; rank-- > 0;) {
		*end++ = (char)('1' + rank);
		*end++ = ' ';
		for (unsigned file = 0; file < 8; file++) {
			const unsigned code = smxi_dc_piece_at(&s, 8 * rank + file);
			*end++ = ' ';
			*end++ = code ? code_letter(code) : '.';
		}
		*end++ = '\n';
	}
	end +=
		snprintf(end, (size_t)(text + SMX_DRAWING_MAX - end), "\n   a b c d e f g h\n%s to move", side_names[s.side]);
	enum smx_dicechess_piece types[DICE_MAX];
	const unsigned dice = position->outcome == SMX_NO_OUTCOME ? 0 : smx_dicechess_dice(position->outcome, types);
	for (unsigned i = 0; i < dice; i++)
		end +=
			snprintf(end, (size_t)(text + SMX_DRAWING_MAX - end), "%s%c", i ? " " : ", dice ", piece_letters[types[i]]);
	*end++ = '\n';
	*end = '\0';
	return (size_t)(end - text);
}

size_t smxi_dc_format_turn(const struct smx_turn *turn, char *text)
{
	if (turn->steps == 0) {
		strcpy(text, "pass");
		return strlen(text);
	}
	char *end = text;
	for (unsigned i = 0; i < turn->steps; i++) {
		unsigned step = turn->step[i];
		if (i)
			*end++ = ' ';
		end = write_square(end, step & 63);
		end = write_square(end, step >> 6 & 63);
		if (step >> 12)
			*end++ = code_letter(step >> 12 | SMX_DICECHESS_BLACK);
	}
	*end = 0;
	return (size_t)(end - text);
}
