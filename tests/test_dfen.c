/* Reading and writing Dice Chess positions and turns: what is read, what is refused, and with which words. */
#include "games/dicechess/board.h"
#include "tests/support/oracle.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START       "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
#define START_SHOWN "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQK..." /* as a message shows it */
#define FORTY_ONES  "1111111111111111111111111111111111111111"
#define LONE_KINGS  "k7/8/8/8/8/8/8/7K"

/* Parse from memory that ends where the text ends, so that a sanitizer sees a read beyond it. */
static enum smx_status parse(const char *text, size_t length, struct smx_position *position, struct smx_error *error)
{
	char *copy = malloc(length ? length : 1);
	cr_assert_not_null(copy);
	memcpy(copy, text, length);
	enum smx_status status = smxi_dc_parse(copy, length, position, error);
	free(copy);
	return status;
}

static struct smxi_dc_state state_of(const struct smx_position *position)
{
	struct smxi_dc_state state;
	memcpy(&state, position->state, sizeof state);
	return state;
}

static struct smx_position read(const char *text)
{
	struct smx_position position;
	struct smx_error error = {0, ""};
	enum smx_status status = parse(text, strlen(text), &position, &error);
	cr_assert(status == SMX_OK, "\"%s\" is refused: %s", text, error.message);
	return position;
}

static void expect_written(const char *text, const char *written)
{
	struct smx_position position = read(text);
	char out[SMX_TEXT_MAX];
	size_t length = smxi_dc_format(&position, out);
	cr_assert_str_eq(out, written, "\"%s\" is written as \"%s\", not as \"%s\"", text, out, written);
	cr_assert_eq(length, strlen(out));
}

static bool plain(const char *message)
{
	for (const char *c = message; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			return false;
	return *message != 0;
}

/* NULL, or what is wrong with how this text was read or refused; criterion's own asserts are too slow for millions. */
static const char *fault(const char *text, size_t length)
{
	struct smx_position position, untouched;
	memset(&position, 0xa5, sizeof position);
	memset(&untouched, 0xa5, sizeof untouched);
	struct smx_error error = {(size_t)-1, ""};
	if (parse(text, length, &position, &error) != SMX_OK) {
		if (memcmp(&position, &untouched, sizeof position) != 0)
			return "the position of a refused text was touched";
		if (!memchr(error.message, 0, sizeof error.message) || !plain(error.message))
			return "the message is empty, not terminated or not plain ASCII";
		return error.offset > length ? "the offset is outside the text" : NULL;
	}
	if (error.offset != (size_t)-1 || error.message[0])
		return "the error of an accepted text was touched";
	struct smxi_dc_state state = state_of(&position);
	struct smx_key key = smxi_dc_compute_key(&state);
	if (memcmp(&key, &state.key, sizeof key) != 0 || state.material != smxi_dc_compute_material(&state))
		return "key or material does not belong to the position";

	char once[SMX_TEXT_MAX], twice[SMX_TEXT_MAX];
	size_t written = smxi_dc_format(&position, once);
	struct smx_position again;
	if (parse(once, written, &again, NULL) != SMX_OK)
		return "what was written is refused";
	if (memcmp(position.state, again.state, sizeof again.state) != 0 || position.outcome != again.outcome)
		return "what was written reads differently";
	smxi_dc_format(&again, twice);
	return strcmp(once, twice) == 0 ? NULL : "what was written is not written the same again";
}

static void expect_no_fault(const char *text, size_t length)
{
	const char *found = fault(text, length);
	cr_assert(!found, "%s: \"%.*s\"", found, (int)length, text);
}

static void expect_refused_bytes(const char *text, size_t length, size_t offset, const char *message)
{
	struct smx_position position, untouched;
	memset(&position, 0xa5, sizeof position);
	memset(&untouched, 0xa5, sizeof untouched);
	struct smx_error error = {(size_t)-1, ""};
	cr_assert_eq(parse(text, length, &position, &error), SMX_ERR_PARSE, "\"%s\" is accepted", text);
	cr_assert_str_eq(error.message, message, "\"%s\" is refused with %s", text, error.message);
	cr_assert_eq(error.offset, offset, "\"%s\": offset %zu, not %zu", text, error.offset, offset);
	cr_assert_arr_eq(&position, &untouched, sizeof position);
	cr_assert_eq(parse(text, length, &position, NULL), SMX_ERR_PARSE);
	cr_assert_arr_eq(&position, &untouched, sizeof position);
}

static void expect_refused(const char *text, size_t offset, const char *message)
{
	expect_refused_bytes(text, strlen(text), offset, message);
}

/* ---- what is read ---- */

Test(dfen, puts_everything_where_the_state_keeps_it)
{
	struct smx_position position = read("r3k2r/8/8/3pP3/6pP/8/1P6/R3K2R b KQk d6h3 5 300 kn");
	struct smxi_dc_state s = state_of(&position);
	static const struct {
		unsigned square, code;
	} pieces[] = {{0, 4}, {4, 6}, {7, 4}, {9, 1}, {30, 9}, {31, 1}, {35, 9}, {36, 1}, {56, 12}, {60, 14}, {63, 12}};
	smxi_bits occupied = 0;
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		cr_expect_eq(smxi_dc_piece_at(&s, pieces[i].square), pieces[i].code, "square %u", pieces[i].square);
		occupied |= smxi_bit(pieces[i].square);
	}
	cr_expect_eq(smxi_dc_occupied(&s), occupied);
	cr_expect_eq(s.side, SMX_BLACK);
	cr_expect_eq(s.rights, SMXI_RIGHT_WK | SMXI_RIGHT_WQ | SMXI_RIGHT_BK);
	cr_expect_eq(s.targets, 1u << 7 | 1u << (8 + 3));
	cr_expect_eq(s.halfmove, 5);
	cr_expect_eq(s.fullmove, 300);
	cr_expect_eq(s.material, 100);
	cr_expect_eq(s.last_type, 0);
	cr_expect_eq(s.unused, 0u);
	for (size_t i = sizeof s; i < sizeof position.state; i++)
		cr_expect_eq(position.state[i], 0);
	enum smx_dicechess_piece dice[2] = {SMX_KNIGHT, SMX_KING};
	cr_expect_eq(position.outcome, smx_dicechess_roll(dice, 2));
}

Test(dfen, gives_a_key_to_placement_side_rights_and_targets_but_not_to_the_clocks)
{
	static const char *const different[] = {
		"r3k3/8/8/8/P7/8/8/4K3 b q a3 0 1", "r3k3/8/8/8/P7/8/8/4K3 b q - 0 1", "r3k3/8/8/8/P7/8/8/4K3 w q - 0 1",
		"r3k3/8/8/8/P7/8/8/4K3 b - - 0 1",  "r3k3/8/8/P7/8/8/8/4K3 b q - 0 1",
	};
	for (size_t i = 0; i < sizeof different / sizeof *different; i++)
		for (size_t j = 0; j < i; j++) {
			struct smx_position a = read(different[i]), b = read(different[j]);
			struct smxi_dc_state s = state_of(&a), t = state_of(&b);
			cr_expect_neq(memcmp(&s.key, &t.key, sizeof s.key), 0, "%s, %s", different[i], different[j]);
		}
	struct smx_position a = read("r3k3/8/8/8/P7/8/8/4K3 b q a3 9 8 qqq"), b = read(different[0]);
	struct smxi_dc_state s = state_of(&a), t = state_of(&b);
	cr_expect_arr_eq(&s.key, &t.key, sizeof s.key);
}

Test(dfen, supplies_the_fields_that_are_left_out)
{
	expect_written(START " w KQkq -", START " w KQkq - 0 1 -");
	expect_written(START " w KQkq - 7", START " w KQkq - 7 1 -");
	expect_written(START " w KQkq - 7 9", START " w KQkq - 7 9 -");
	expect_written(START " w KQkq - 7 9 -", START " w KQkq - 7 9 -");
}

Test(dfen, writes_rights_targets_and_dice_sorted)
{
	expect_written(START " b qQkK - 0 1 KPR", START " b KQkq - 0 1 prk");
	expect_written(START " w kQ - 0 1 qnb", START " w Qk - 0 1 NBQ");
	expect_written("4k3/8/8/Pp6/P5Pp/8/8/4K3 w - b6g3a3 0 1 n", "4k3/8/8/Pp6/P5Pp/8/8/4K3 w - a3b6g3 0 1 N");
	expect_written("4k3/8/11111111/62/8/323/8/4K3 w - -", "4k3/8/8/8/8/8/8/4K3 w - - 0 1 -");
}

Test(dfen, reads_the_limits_of_the_clocks)
{
	expect_written(LONE_KINGS " w - - 127 65535", LONE_KINGS " w - - 127 65535 -");
	expect_written(LONE_KINGS " w - - 000 0001", LONE_KINGS " w - - 0 1 -");
}

Test(dfen, reads_every_outcome_of_either_side_in_either_case_and_any_order)
{
	static const char letters[2][8] = {"PNBRQK", "pnbrqk"};
	for (int outcome = 0; outcome < SMX_DICECHESS_ROLLS; outcome++) {
		enum smx_dicechess_piece types[3];
		unsigned dice = smx_dicechess_dice(outcome, types);
		for (unsigned side = 0; side < 2; side++)
			for (unsigned text_case = 0; text_case < 2; text_case++) {
				char text[SMX_TEXT_MAX], written[SMX_TEXT_MAX];
				int length = snprintf(text, sizeof text, "%s %c - - 0 1 ", LONE_KINGS, "wb"[side]);
				strcpy(written, text);
				for (unsigned i = 0; i < dice; i++) {
					text[length + (int)i] = letters[text_case][types[dice - 1 - i] - 1];
					written[length + (int)i] = letters[side][types[i] - 1];
				}
				text[length + (int)dice] = written[length + (int)dice] = 0;
				cr_assert_eq(read(text).outcome, outcome);
				expect_written(text, written);
			}
	}
	cr_assert_eq(read(LONE_KINGS " w - - 0 1 -").outcome, SMX_NO_OUTCOME);
	cr_assert_eq(read(LONE_KINGS " w - -").outcome, SMX_NO_OUTCOME);
}

/* Pieces on the two squares that a pawn passed: who can have come there, and when. */
Test(dfen, reads_targets_whose_squares_were_taken_later)
{
	expect_written("4k3/8/8/8/4P3/4B3/4N3/4K3 b - e3 2 1", "4k3/8/8/8/4P3/4B3/4N3/4K3 b - e3 2 1 -");
	expect_written("4k3/8/8/8/4P3/4n3/8/4K3 b - e3 2 1 pb", "4k3/8/8/8/4P3/4n3/8/4K3 b - e3 2 1 pb");
	expect_written("4k3/8/8/8/4P3/8/4q3/4K3 b - e3 2 1 p", "4k3/8/8/8/4P3/8/4q3/4K3 b - e3 2 1 p");
	expect_written("4k3/4n3/4b3/4p3/8/8/8/4K3 b - e6 2 1 p", "4k3/4n3/4b3/4p3/8/8/8/4K3 b - e6 2 1 p");
	expect_written("4k3/8/4N3/4p3/8/8/8/4K3 w - e6 2 1 P", "4k3/8/4N3/4p3/8/8/8/4K3 w - e6 2 1 P");
}

Test(dfen, reads_the_most_targets_that_a_turn_can_leave)
{
	expect_written("4k3/8/8/8/PPP5/8/8/4K3 b - a3b3c3", "4k3/8/8/8/PPP5/8/8/4K3 b - a3b3c3 0 1 -");
	expect_written("4k3/8/8/ppp5/P6P/8/8/4K3 w - a3a6b6c6h3 0 1 P", "4k3/8/8/ppp5/P6P/8/8/4K3 w - a3a6b6c6h3 0 1 P");
}

Test(dfen, reads_the_most_promotions_that_a_side_can_have)
{
	expect_written("QQQQQQQQ/Q3k3/8/8/8/8/8/RNBKNBR1 w - -", "QQQQQQQQ/Q3k3/8/8/8/8/8/RNBKNBR1 w - - 0 1 -");
}

/* ---- golden rows ---- */

/* Rows that the reference's reader accepts and this one refuses: they cannot occur in a game. */
static const struct {
	const char *input;
	size_t offset;
	const char *message;
} stricter[] = {
	{"8/8/8/8/8/8/8/8 w - - 0 1", 0, "placement: \"8/8/8/8/8/8/8/8\" has no White king"},
	{"kk6/8/8/8/8/8/8/K7 w - - 0 1", 1, "placement: \"k\" is a second Black king, on b8"},
	{"k7/8/8/8/8/8/8/8 w - - 0 1", 0, "placement: \"k7/8/8/8/8/8/8/8\" has no White king"},
	{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w KQkq - 0 1", 46,
     "castling: \"K\" needs the White king on e1 and a rook of its side on h1"},
	{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1BNR w KQkq - 0 1", 0,
     "placement: \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1...\" has no White king"},
	{START " w KQkq e3 0 1", 51, "en passant: \"e3\" is a target of White, who is to move and has not begun the turn"},
	{"rnbqkbnr/pppppppp/8/8/P1P1P3/8/1P1P1PPP/RNBQKBNR b KQkq a4 0 1", 56,
     "en passant: \"a4\" is not on rank 3 or rank 6"},
	{"P7/8/8/8/8/8/8/k1K4p w - - 0 1", 0, "placement: \"P\" is a White pawn on a8; pawns stand on ranks 2 to 7"},
	{"8/8/8/3pP3/8/8/8/k1K5 w - d6e6f6 0 1", 28, "en passant: \"e6\" has no Black pawn in front of it, on e5"},
	{"8/8/8/3pP3/8/8/8/k1K5 w - d3 0 1", 26,
     "en passant: \"d3\" is a target of White, who is to move and has not begun the turn"},
};
#define STRICTER (sizeof stricter / sizeof *stricter)

static FILE *open_at(const char *folder, const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return fopen(path, "r");
}

/* The next row that is not a comment, split in place at its tabs; returns its number of columns, 0 at the end. */
static unsigned next_row(FILE *file, char line[1024], char *columns[4])
{
	do
		if (!fgets(line, 1024, file))
			return 0;
	while (line[0] == '#');
	line[strcspn(line, "\r\n")] = 0;
	unsigned count = 0;
	for (char *rest = line; rest && count < 4; count++) {
		columns[count] = rest;
		rest = strchr(rest, '\t');
		if (rest)
			*rest++ = 0;
	}
	return count;
}

static void expect_row(const char *input, bool reference_reads_it, const char *serialized, bool found[STRICTER])
{
	expect_no_fault(input, strlen(input));
	if (!reference_reads_it) {
		cr_assert_eq(parse(input, strlen(input), &(struct smx_position){.outcome = 0}, NULL), SMX_ERR_PARSE,
		             "\"%s\" is accepted", input);
		return;
	}
	for (size_t i = 0; i < STRICTER; i++)
		if (strcmp(input, stricter[i].input) == 0) {
			expect_refused(input, stricter[i].offset, stricter[i].message);
			found[i] = true;
			return;
		}
	/* The reference leaves the seventh field out where nothing is rolled. */
	unsigned spaces = 0;
	for (const char *c = serialized; *c; c++)
		spaces += *c == ' ';
	char written[SMX_TEXT_MAX];
	snprintf(written, sizeof written, "%s%s", serialized, spaces == 5 ? " -" : "");
	expect_written(input, written);
}

Test(dfen, agrees_with_the_reference_on_every_golden_row)
{
	FILE *file = open_at(SMX_TEST_DATA, "dfen.tsv");
	cr_assert_not_null(file, "no %s/dfen.tsv", SMX_TEST_DATA);
	char line[1024], *columns[4];
	bool found[STRICTER] = {false};
	unsigned rows = 0;
	for (unsigned count; (count = next_row(file, line, columns)) > 0; rows++) {
		cr_assert_eq(count, 4u, "row %u has %u columns", rows, count);
		bool ok = strcmp(columns[1], "ok") == 0;
		cr_assert(ok || strcmp(columns[1], "error") == 0, "row %u says %s", rows, columns[1]);
		expect_row(columns[0], ok, columns[2], found);
	}
	fclose(file);
	cr_assert_eq(rows, 58u, "%u rows", rows);
	for (size_t i = 0; i < STRICTER; i++)
		cr_assert(found[i], "not a golden row that the reference reads: %s", stricter[i].input);
}

static FILE *open_positions(void)
{
	const char *golden = getenv("SMX_GOLDEN");
	if (golden)
		return open_at(golden, "dicechess/positions.tsv");
	FILE *file = NULL;
#ifdef SMX_GOLDEN_DIR
	file = open_at(SMX_GOLDEN_DIR, "dicechess/positions.tsv");
#endif
	return file ? file : open_at(SMX_TEST_DATA, "positions.tsv");
}

Test(dfen, golden_positions_survive_a_round_trip)
{
	FILE *file = open_positions();
	cr_assert_not_null(file, "no positions.tsv");
	char line[1024], *columns[4];
	unsigned rows = 0;
	for (; next_row(file, line, columns) > 1; rows++) {
		const char *input = columns[1];
		char written[SMX_TEXT_MAX];
		bool rolled = strchr(strrchr(input, '/'), 0)[-1] > '9';
		snprintf(written, sizeof written, "%s%s", input, rolled ? "" : " -");
		expect_written(input, written);
		expect_no_fault(input, strlen(input));
	}
	cr_assert(feof(file), "row %u has no second column", rows);
	fclose(file);
	cr_assert_gt(rows, 0u);
}

/* Every state between the micro-moves of random legal turns, found by the tests' own rules, with the dice then left. */
Test(dfen, reads_whatever_occurs_in_play)
{
	uint64_t seed = 20240229;
	unsigned begun = 0, own_targets = 0;
	for (unsigned game = 0; game < 25; game++) {
		struct oracle_position position;
		oracle_random_position(&seed, &position);
		for (unsigned ply = 0; ply < 24; ply++) {
			char text[SMX_TEXT_MAX], roll[4];
			oracle_roll((int)(oracle_random(&seed) % ORACLE_ROLLS), roll);
			struct oracle_turns turns = {0};
			oracle_list(&position, roll, &turns);
			struct oracle_turn turn = turns.turn[oracle_random(&seed) % turns.count];
			oracle_turns_free(&turns);
			char left[4];
			strcpy(left, roll);
			for (int i = 0;; i++) {
				oracle_dfen(&position, text);
				sprintf(text + strlen(text), " %s", left);
				expect_no_fault(text, strlen(text));
				struct smx_position seen = read(text);
				struct smxi_dc_state s = state_of(&seen);
				begun += strlen(left) < 3;
				own_targets += (s.targets & SMXI_DC_TARGETS_OF(s.side)) != 0;
				if (i >= turn.moves - 1)
					break;
				char piece = position.board[turn.move[i].from];
				bool castles = (piece | 0x20) == 'k' && abs(turn.move[i].to - turn.move[i].from) == 2;
				char *die = strchr(left, piece & ~0x20);
				memmove(die, die + 1, strlen(die));
				if (castles) {
					die = strchr(left, 'R');
					memmove(die, die + 1, strlen(die));
				}
				oracle_play(&position, turn.move[i]);
			}
			if (turn.king)
				break;
			position = turn.after;
			oracle_dfen(&position, text);
			expect_no_fault(text, strlen(text));
			read(text);
		}
	}
	cr_assert_gt(begun, 300u, "%u states inside a turn", begun);
	cr_assert_gt(own_targets, 20u, "%u states with targets of the side to move", own_targets);
}

/* ---- what is refused: the input as a whole ---- */

Test(dfen, refuses_an_empty_input)
{
	expect_refused("", 0, "input: \"\" is empty");
	struct smx_error error = {1, ""};
	cr_assert_eq(smxi_dc_parse(NULL, 0, &(struct smx_position){.outcome = 0}, &error), SMX_ERR_PARSE);
	cr_assert_str_eq(error.message, "input: \"\" is empty");
}

Test(dfen, refuses_an_input_longer_than_any_position)
{
	char text[SMX_TEXT_MAX + 1];
	memset(text, '1', sizeof text);
	expect_refused_bytes(text, SMX_TEXT_MAX, 0, "input: \"" FORTY_ONES "...\" is 256 bytes long; at most 255 are read");
	expect_refused_bytes(text, SMX_TEXT_MAX - 1, 0, "input: \"" FORTY_ONES "...\" has 1 field; at least 4 are needed");
	memset(text, '\xff', sizeof text);
	struct smx_error error;
	cr_assert_eq(parse(text, sizeof text, &(struct smx_position){.outcome = 0}, &error), SMX_ERR_PARSE);
	cr_assert(plain(error.message));
	const char *end = "...\" is 257 bytes long; at most 255 are read"; /* the longest quote leaves room for it */
	cr_assert_str_eq(error.message + strlen(error.message) - strlen(end), end);
}

Test(dfen, refuses_bytes_that_are_not_printable_ascii)
{
	expect_refused(START "\tw KQkq -", 43, "input: \"\\x09\" is not a printable ASCII character");
	expect_refused(START " w KQkq -\n", 52, "input: \"\\x0a\" is not a printable ASCII character");
	expect_refused(START " w KQkq \xe2\x80\x93", 51, "input: \"\\xe2\" is not a printable ASCII character");
	expect_refused("\x7f", 0, "input: \"\\x7f\" is not a printable ASCII character");
	expect_refused_bytes(START " w KQkq -\0 0 1", 57, 52, "input: \"\\x00\" is not a printable ASCII character");
}

Test(dfen, refuses_too_few_fields)
{
	expect_refused(START " w KQkq", 0, "input: \"" START_SHOWN "\" has 3 fields; at least 4 are needed");
	expect_refused("8/8", 0, "input: \"8/8\" has 1 field; at least 4 are needed");
}

Test(dfen, refuses_too_many_fields)
{
	expect_refused(START " w KQkq - 0 1 PNB extra", 61, "input: \"extra\" is an eighth field; at most 7 are read");
	expect_refused(START " w KQkq - 0 1 - - -", 59, "input: \"-\" is an eighth field; at most 7 are read");
}

Test(dfen, refuses_surrounding_and_doubled_spaces)
{
	expect_refused(" " START " w KQkq -", 0, "input: \" \" before the first field is one space too many");
	expect_refused(" ", 0, "input: \" \" before the first field is one space too many");
	expect_refused(START " w  KQkq -", 46, "input: \" \" after a space is one space too many");
	expect_refused(START " w KQkq - ", 52, "input: \" \" after the last field is one space too many");
	expect_refused(START " w KQkq - 0 1 PNB ", 60, "input: \" \" after the last field is one space too many");
}

/* ---- placement ---- */

Test(dfen, refuses_a_wrong_number_of_ranks)
{
	expect_refused("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w KQkq - 0 1", 0,
	               "placement: \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP\" has 7 ranks, not 8");
	expect_refused(START "/8 w KQkq -", 0, "placement: \"" START_SHOWN "\" has 9 ranks, not 8");
	expect_refused("k6K w - -", 0, "placement: \"k6K\" has 1 rank, not 8");
}

Test(dfen, refuses_a_rank_of_the_wrong_length)
{
	expect_refused("rnbqkbnr/ppppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", 9,
	               "placement: \"ppppppppp\" is too long: 9 squares on rank 7, not 8");
	expect_refused("rnbqkbnr/ppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", 9,
	               "placement: \"ppppppp\" is too short: 7 squares on rank 7, not 8");
	expect_refused("rnbqkbnr/pppppppp/45/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", 18,
	               "placement: \"45\" is too long: 9 squares on rank 6, not 8");
	expect_refused("k7/8//8/8/8/8/7K w - -", 5, "placement: \"\" is too short: 0 squares on rank 6, not 8");
	expect_refused("k7/8/8/8/8/8/8/ w - -", 15, "placement: \"\" is too short: 0 squares on rank 1, not 8");
}

Test(dfen, refuses_numbers_of_empty_squares_beyond_a_rank)
{
	expect_refused("k7/0/8/8/8/8/8/7K w - -", 3, "placement: \"0\" is not a number of empty squares from 1 to 8");
	expect_refused("k7/9/8/8/8/8/8/7K w - -", 3, "placement: \"9\" is not a number of empty squares from 1 to 8");
}

Test(dfen, refuses_unknown_pieces)
{
	expect_refused("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNZ w KQkq -", 42,
	               "placement: \"Z\" is not a piece letter (PNBRQK or pnbrqk)");
	expect_refused("k7/-7/8/8/8/8/8/7K w - -", 3, "placement: \"-\" is not a piece letter (PNBRQK or pnbrqk)");
	expect_refused("k7/\"7/8/8/8/8/8/7K w - -", 3, "placement: \"\\x22\" is not a piece letter (PNBRQK or pnbrqk)");
	expect_refused("k7/\\7/8/8/8/8/8/7K w - -", 3, "placement: \"\\x5c\" is not a piece letter (PNBRQK or pnbrqk)");
	expect_refused("k7/M7/8/8/8/8/8/7K w - -", 3, "placement: \"M\" is not a piece letter (PNBRQK or pnbrqk)");
}

Test(dfen, refuses_a_side_without_a_king)
{
	expect_refused("k7/8/8/8/8/8/8/8 w - -", 0, "placement: \"k7/8/8/8/8/8/8/8\" has no White king");
	expect_refused("8/8/8/8/8/8/8/7K w - -", 0, "placement: \"8/8/8/8/8/8/8/7K\" has no Black king");
}

Test(dfen, refuses_a_second_king)
{
	expect_refused("k7/8/2k5/8/8/8/8/7K w - -", 6, "placement: \"k\" is a second Black king, on c6");
	expect_refused("k7/8/8/8/8/8/8/6KK w - -", 17, "placement: \"K\" is a second White king, on h1");
}

Test(dfen, refuses_pawns_on_the_first_and_last_rank)
{
	expect_refused("k2P4/8/8/8/8/8/8/7K w - -", 2,
	               "placement: \"P\" is a White pawn on d8; pawns stand on ranks 2 to 7");
	expect_refused("k2p4/8/8/8/8/8/8/7K w - -", 2,
	               "placement: \"p\" is a Black pawn on d8; pawns stand on ranks 2 to 7");
	expect_refused("k7/8/8/8/8/8/8/6PK w - -", 16,
	               "placement: \"P\" is a White pawn on g1; pawns stand on ranks 2 to 7");
	expect_refused("k7/8/8/8/8/8/8/p6K w - -", 15,
	               "placement: \"p\" is a Black pawn on a1; pawns stand on ranks 2 to 7");
}

Test(dfen, refuses_more_than_sixteen_pieces_of_a_side)
{
	expect_refused("k7/8/8/8/8/7N/PPPPPPPP/RNBQKBNR w - -", 0,
	               "placement: \"k7/8/8/8/8/7N/PPPPPPPP/RNBQKBNR\" has 17 White pieces; at most 16 are possible");
	expect_refused("rnbqkbnr/pppppppp/n7/8/8/8/8/K7 w - -", 0,
	               "placement: \"rnbqkbnr/pppppppp/n7/8/8/8/8/K7\" has 17 Black pieces; at most 16 are possible");
}

Test(dfen, refuses_more_than_eight_pawns_of_a_side)
{
	expect_refused("k7/8/8/8/8/P7/PPPPPPPP/7K w - -", 0,
	               "placement: \"k7/8/8/8/8/P7/PPPPPPPP/7K\" has 9 White pawns; at most 8 are possible");
	expect_refused("k7/pppppppp/p7/8/8/8/8/7K w - -", 0,
	               "placement: \"k7/pppppppp/p7/8/8/8/8/7K\" has 9 Black pawns; at most 8 are possible");
}

Test(dfen, refuses_more_promotions_than_pawns_that_are_gone)
{
	expect_refused("k7/8/8/8/8/8/PPPPPPPP/3QKQ2 w - -", 0,
	               "placement: \"k7/8/8/8/8/8/PPPPPPPP/3QKQ2\" has 1 promoted White piece beside 8 pawns; "
	               "at most 0 can be");
	expect_refused("knnnbbb1/pppppp2/rrr5/8/8/8/8/7K b - -", 0,
	               "placement: \"knnnbbb1/pppppp2/rrr5/8/8/8/8/7K\" has 3 promoted Black pieces beside 6 pawns; "
	               "at most 2 can be");
	expect_refused("k7/8/8/8/8/8/QQQQQQQQ/QQK5 w - -", 0,
	               "placement: \"k7/8/8/8/8/8/QQQQQQQQ/QQK5\" has 9 promoted White pieces beside 0 pawns; "
	               "at most 8 can be");
}

/* ---- side and castling ---- */

Test(dfen, refuses_an_unknown_side)
{
	expect_refused(START " x KQkq -", 44, "side: \"x\" is not a side to move (w or b)");
	expect_refused(START " W KQkq -", 44, "side: \"W\" is not a side to move (w or b)");
	expect_refused(START " wb KQkq -", 44, "side: \"wb\" is not a side to move (w or b)");
	expect_refused(START " - KQkq -", 44, "side: \"-\" is not a side to move (w or b)");
}

Test(dfen, refuses_unknown_castling_rights)
{
	expect_refused(START " w HAha -", 46, "castling: \"H\" is not a castling right (K, Q, k or q)");
	expect_refused(START " w KQ- -", 48, "castling: \"-\" is not a castling right (K, Q, k or q)");
	expect_refused(START " w -- -", 46, "castling: \"-\" is not a castling right (K, Q, k or q)");
}

Test(dfen, refuses_a_castling_right_given_twice)
{
	expect_refused(START " w KQkqK -", 50, "castling: \"K\" is given twice");
	expect_refused(START " w qq -", 47, "castling: \"q\" is given twice");
}

Test(dfen, refuses_castling_rights_without_king_and_rook_at_home)
{
	expect_refused("r3k2r/8/8/8/8/8/8/R3K3 w QKkq -", 26,
	               "castling: \"K\" needs the White king on e1 and a rook of its side on h1");
	expect_refused("r3k2r/8/8/8/8/8/8/n3K2R w KQkq -", 27,
	               "castling: \"Q\" needs the White king on e1 and a rook of its side on a1");
	expect_refused("r3k2R/8/8/8/8/8/8/R3K2R w KQkq -", 28,
	               "castling: \"k\" needs the Black king on e8 and a rook of its side on h8");
	expect_refused("r2k3r/8/8/8/8/8/8/R3K2R w KQq -", 28,
	               "castling: \"q\" needs the Black king on e8 and a rook of its side on a8");
}

/* ---- en passant ---- */

Test(dfen, refuses_en_passant_text_that_is_not_squares)
{
	expect_refused(LONE_KINGS " w - a", 22, "en passant: \"a\" is not a square (a1 to h8)");
	expect_refused(LONE_KINGS " w - i9", 22, "en passant: \"i9\" is not a square (a1 to h8)");
	expect_refused(LONE_KINGS " w - a9", 22, "en passant: \"a9\" is not a square (a1 to h8)");
	expect_refused(LONE_KINGS " w - A3", 22, "en passant: \"A3\" is not a square (a1 to h8)");
	expect_refused("4k3/8/8/8/P1P5/8/8/4K3 b - a3,c3", 29, "en passant: \",c\" is not a square (a1 to h8)");
	expect_refused("4k3/8/8/8/P1P5/8/8/4K3 b - a3-", 29, "en passant: \"-\" is not a square (a1 to h8)");
}

Test(dfen, refuses_en_passant_squares_of_other_ranks)
{
	expect_refused("4k3/8/8/8/P7/8/8/4K3 b - a4", 25, "en passant: \"a4\" is not on rank 3 or rank 6");
	expect_refused("4k3/8/8/8/P7/8/8/4K3 b - a3h8", 27, "en passant: \"h8\" is not on rank 3 or rank 6");
	for (const char *rank = "124578"; *rank; rank++) {
		char text[SMX_TEXT_MAX], message[SMX_TEXT_MAX];
		snprintf(text, sizeof text, "4k3/8/8/p7/P7/8/8/4K3 b - a%c", *rank);
		snprintf(message, sizeof message, "en passant: \"a%c\" is not on rank 3 or rank 6", *rank);
		expect_refused(text, 26, message);
	}
}

Test(dfen, refuses_an_en_passant_square_given_twice)
{
	expect_refused("4k3/8/8/8/P7/8/8/4K3 b - a3a3", 27, "en passant: \"a3\" is given twice");
}

Test(dfen, refuses_targets_of_the_side_to_move_before_its_turn_has_begun)
{
	const char *white = "en passant: \"a3\" is a target of White, who is to move and has not begun the turn";
	expect_refused("4k3/8/8/8/P7/8/8/4K3 w - a3", 25, white);
	expect_refused("4k3/8/8/8/P7/8/8/4K3 w - a3 0 1 -", 25, white);
	expect_refused("4k3/8/8/8/P7/8/8/4K3 w - a3 0 1 PPN", 25, white);
	expect_refused("4k3/8/8/2p5/8/8/8/4K3 b - c6 0 1 ppn", 26,
	               "en passant: \"c6\" is a target of Black, who is to move and has not begun the turn");
}

Test(dfen, refuses_more_targets_of_the_side_to_move_than_dice_spent)
{
	expect_refused("4k3/8/8/8/PP6/8/8/4K3 w - a3b3 0 1 PP", 26,
	               "en passant: \"a3b3\" has 2 targets of White, who has spent 1 of 3 dice");
	expect_refused("4k3/8/8/ppp5/8/8/8/4K3 b - a6b6c6 0 1 p", 27,
	               "en passant: \"a6b6c6\" has 3 targets of Black, who has spent 2 of 3 dice");
	read("4k3/8/8/8/PP6/8/8/4K3 w - a3b3 0 1 P");
}

Test(dfen, refuses_more_targets_of_the_other_side_than_a_turn_makes)
{
	expect_refused("4k3/8/8/8/PPPP4/8/8/4K3 b - a3b3c3d3", 28,
	               "en passant: \"a3b3c3d3\" has 4 targets of White; a turn makes at most 3");
	expect_refused("4k3/8/8/pppp4/8/8/8/4K3 w - a6b6c6d6 0 1 K", 28,
	               "en passant: \"a6b6c6d6\" has 4 targets of Black; a turn makes at most 3");
}

Test(dfen, refuses_a_target_without_its_pawn_in_front)
{
	expect_refused("4k3/8/8/8/8/8/8/4K3 b - a3", 24, "en passant: \"a3\" has no White pawn in front of it, on a4");
	expect_refused("4k3/8/8/8/p7/8/8/4K3 b - a3", 25, "en passant: \"a3\" has no White pawn in front of it, on a4");
	expect_refused("4k3/8/8/7P/8/8/8/4K3 w - h6", 25, "en passant: \"h6\" has no Black pawn in front of it, on h5");
}

Test(dfen, refuses_a_pawn_of_the_maker_on_the_squares_that_its_pawn_passed)
{
	expect_refused("4k3/8/8/8/P7/8/P7/4K3 b - a3", 26,
	               "en passant: \"a3\" has a White pawn on a2, where its pawn came from");
	expect_refused("4k3/8/8/8/P7/P7/8/4K3 b - a3", 26,
	               "en passant: \"a3\" has a White pawn on a3, where its pawn passed");
	expect_refused("4k3/7p/8/7p/8/8/8/4K3 w - h6 0 1 P", 26,
	               "en passant: \"h6\" has a Black pawn on h7, where its pawn came from");
	expect_refused("4k3/8/7p/7p/8/8/8/4K3 b - h6 0 1 P", 26,
	               "en passant: \"h6\" has a Black pawn on h6, where its pawn passed");
}

Test(dfen, refuses_pieces_of_the_other_side_on_those_squares_before_it_can_have_moved)
{
	const char *passed = "en passant: \"e3\" has a Black piece on e3, which was empty when its pawn passed";
	expect_refused("4k3/8/8/8/4P3/4n3/8/4K3 b - e3", 28, passed);
	expect_refused("4k3/8/8/8/4P3/4n3/8/4K3 b - e3 0 1 nnn", 28, passed);
	expect_refused("4k3/8/8/8/4P3/4n3/8/4K3 w - e3 0 1 NN", 28, passed);
	expect_refused("4k3/8/8/8/4P3/8/4p3/K7 b - e3", 27,
	               "en passant: \"e3\" has a Black piece on e2, which was empty when its pawn left");
	expect_refused("k7/4Q3/8/4p3/8/8/8/4K3 w - e6", 27,
	               "en passant: \"e6\" has a White piece on e7, which was empty when its pawn left");
	expect_refused("k7/8/4R3/4p3/8/8/8/4K3 b - e6 0 1 p", 27,
	               "en passant: \"e6\" has a White piece on e6, which was empty when its pawn passed");
}

/* ---- clocks and dice ---- */

Test(dfen, refuses_halfmoves_that_are_not_0_to_127)
{
	expect_refused(LONE_KINGS " w - - 128", 24, "halfmove: \"128\" is not a number from 0 to 127");
	expect_refused(LONE_KINGS " w - - -1 1", 24, "halfmove: \"-1\" is not a number from 0 to 127");
	expect_refused(LONE_KINGS " w - - +1 1", 24, "halfmove: \"+1\" is not a number from 0 to 127");
	expect_refused(LONE_KINGS " w - - 1x 1", 24, "halfmove: \"1x\" is not a number from 0 to 127");
	expect_refused(LONE_KINGS " w - - - 1", 24, "halfmove: \"-\" is not a number from 0 to 127");
	expect_refused(LONE_KINGS " w - - 4294967296 1", 24, "halfmove: \"4294967296\" is not a number from 0 to 127");
	expect_refused(LONE_KINGS " w - - 18446744073709551616 1", 24,
	               "halfmove: \"18446744073709551616\" is not a number from 0 to 127");
}

Test(dfen, refuses_fullmoves_that_are_not_1_to_65535)
{
	expect_refused(LONE_KINGS " w - - 0 0", 26, "fullmove: \"0\" is not a number from 1 to 65535");
	expect_refused(LONE_KINGS " w - - 0 65536", 26, "fullmove: \"65536\" is not a number from 1 to 65535");
	expect_refused(LONE_KINGS " w - - 0 4294967297", 26, "fullmove: \"4294967297\" is not a number from 1 to 65535");
	expect_refused(LONE_KINGS " w - - 0 PNB", 26, "fullmove: \"PNB\" is not a number from 1 to 65535");
}

Test(dfen, refuses_more_than_three_dice)
{
	expect_refused(LONE_KINGS " w - - 0 1 PPPP", 28, "dice: \"PPPP\" has 4 letters; a turn has at most 3 dice");
}

Test(dfen, refuses_unknown_dice)
{
	expect_refused(LONE_KINGS " w - - 0 1 PXB", 29, "dice: \"X\" is not a die (PNBRQK or pnbrqk)");
	expect_refused(LONE_KINGS " w - - 0 1 --", 28, "dice: \"-\" is not a die (PNBRQK or pnbrqk)");
	expect_refused(LONE_KINGS " w - - 0 1 P1", 29, "dice: \"1\" is not a die (PNBRQK or pnbrqk)");
}

Test(dfen, refuses_dice_of_both_sides)
{
	expect_refused(LONE_KINGS " w - - 0 1 Pnb", 28,
	               "dice: \"Pnb\" is not all of the side to move: it mixes upper and lower case");
	expect_refused(LONE_KINGS " b - - 0 1 nB", 28,
	               "dice: \"nB\" is not all of the side to move: it mixes upper and lower case");
}

/* ---- any input ---- */

Test(dfen, every_corruption_of_one_byte_is_read_soundly_or_refused_with_words)
{
	static const char *const valid[] = {
		START " w KQkq - 0 1 -",
		START " b KQkq - 0 1 prk",
		"rnbqkbnr/pppppppp/8/8/P1P1P3/8/1P1P1PPP/RNBQKBNR b KQkq a3c3e3 12 345",
		"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -",
		"4k3/8/8/ppp5/P6P/8/8/4K3 w - a3a6b6c6h3 0 1 P",
		"QQQQQQQQ/Q3k3/8/8/8/8/8/RNBKNBR1 w - - 127 65535 KKK",
		"8/8/8/3pP3/8/8/8/k1K5 w - d6 9",
		"4k3/8/8/8/4P3/4B3/4N3/4K3 b - e3 2 1",
	};
	for (size_t i = 0; i < sizeof valid / sizeof *valid; i++) {
		size_t length = strlen(valid[i]);
		read(valid[i]);
		for (size_t at = 0; at <= length; at++) {
			char text[SMX_TEXT_MAX + 1];
			for (unsigned byte = 0; byte < 256; byte++) {
				if (at < length) {
					memcpy(text, valid[i], length); /* replaced */
					text[at] = (char)byte;
					expect_no_fault(text, length);
				}
				memcpy(text, valid[i], at); /* inserted */
				text[at] = (char)byte;
				memcpy(text + at + 1, valid[i] + at, length - at);
				expect_no_fault(text, length + 1);
			}
			if (at < length) {
				memcpy(text, valid[i], at); /* left out */
				memcpy(text + at, valid[i] + at + 1, length - at - 1);
				expect_no_fault(text, length - 1);
			}
			expect_no_fault(valid[i], at); /* cut off */
		}
	}
}

/* ---- turns ---- */

static void expect_turn(struct smx_turn turn, const char *written)
{
	char text[SMX_TEXT_MAX];
	size_t length = smxi_dc_format_turn(&turn, text);
	cr_assert_str_eq(text, written);
	cr_assert_eq(length, strlen(written));
}

Test(dfen, writes_turns_in_long_algebraic_micro_moves)
{
	expect_turn((struct smx_turn){.steps = 0}, "pass");
	expect_turn((struct smx_turn){.steps = 1, .step = {smxi_dc_step(12, 28, 0)}}, "e2e4");
	expect_turn((struct smx_turn){.steps = 2, .step = {smxi_dc_step(4, 6, 0), smxi_dc_step(5, 61, 0)}}, "e1g1 f1f8");
	expect_turn(
		(struct smx_turn){.steps = 3,
	                      .step = {smxi_dc_step(52, 60, SMX_QUEEN), smxi_dc_step(60, 63, 0), smxi_dc_step(0, 56, 0)}},
		"e7e8q e8h8 a1a8");
	expect_turn((struct smx_turn){.steps = 3,
	                              .step = {smxi_dc_step(8, 0, SMX_KNIGHT), smxi_dc_step(9, 1, SMX_BISHOP),
	                                       smxi_dc_step(15, 7, SMX_ROOK)}},
	            "a2a1n b2b1b h2h1r");
}
