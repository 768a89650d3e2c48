/* The positions that `starmax verify` is meant to be run on, tests/data/verify.txt: they can be read, none is decided at
 * once, and the rare rules of Dice Chess occur among their turns and the replies to them. */
#include "tests/support/dicechess.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_LEAST = 200, REPLY_ROLLS_STEP = 8 };

struct events {
	size_t en_passant, castling, promotion, pass, king;
};

static void count_turn(const struct oracle_position *position, const struct oracle_turn *turn, struct events *events)
{
	struct oracle_position at = *position;
	events->king += turn->king;
	events->pass += turn->moves == 0;
	for (int i = 0; i < turn->moves; i++) {
		const struct oracle_move move = turn->move[i];
		const char piece = (char)toupper((unsigned char)at.board[move.from]);
		events->promotion += move.promotion != 0;
		events->castling += piece == 'K' && abs(move.to - move.from) == 2;
		events->en_passant += piece == 'P' && (move.to - move.from) % 8 != 0 && at.board[move.to] == '.';
		oracle_play(&at, move);
	}
}

static void count_turns(const struct oracle_turns *turns, const struct oracle_position *position, struct events *events)
{
	for (size_t i = 0; i < turns->count; i++)
		count_turn(position, &turns->turn[i], events);
}

/* The replies to the turn in the middle of the list, under every eighth roll, other ones for other lines. */
static void count_replies(const struct oracle_turns *turns, size_t line, struct events *events)
{
	const struct oracle_position *after = &turns->turn[turns->count / 2].after;
	for (size_t i = line % REPLY_ROLLS_STEP; i < ORACLE_ROLLS; i += REPLY_ROLLS_STEP) {
		struct oracle_turns replies = {0};
		char roll[4];
		oracle_roll((int)i, roll);
		oracle_list(after, roll, &replies);
		count_turns(&replies, after, events);
		oracle_turns_free(&replies);
	}
}

static void print(const char *whose, const struct events *events)
{
	fprintf(stderr, "%s: %zu en passant, %zu castling, %zu promotion, %zu pass, %zu king\n", whose, events->en_passant,
	        events->castling, events->promotion, events->pass, events->king);
}

static void expect_all(const struct events *events)
{
	cr_expect_gt(events->en_passant, (size_t)0);
	cr_expect_gt(events->castling, (size_t)0);
	cr_expect_gt(events->promotion, (size_t)0);
	cr_expect_gt(events->pass, (size_t)0);
}

Test(verify_set, has_the_rare_rules_among_turns_and_replies)
{
	FILE *file = fopen(SMX_TEST_DATA "/verify.txt", "r");
	char line[512];
	size_t lines = 0, number = 0;
	struct events own = {0}, replies = {0};
	cr_assert_not_null(file);
	while (fgets(line, sizeof line, file)) {
		struct oracle_position position;
		struct oracle_turns turns = {0};
		char roll[4];
		number++;
		line[strcspn(line, "\n")] = '\0';
		if (!*line || *line == '#')
			continue;
		struct smx_position read;
		struct smx_error error;
		cr_assert_eq(smx_dicechess.parse(line, strlen(line), &read, &error), SMX_OK, "line %zu: %s", number,
		             error.message);
		cr_assert(oracle_read(&position, line) && oracle_read_roll(roll, line) && strlen(roll) == 3, "line %zu",
		          number);
		oracle_list(&position, roll, &turns);
		const size_t kings = own.king;
		count_turns(&turns, &position, &own);
		cr_expect_eq(own.king, kings, "line %zu takes the king at once: nothing is searched", number);
		count_replies(&turns, lines, &replies);
		oracle_turns_free(&turns);
		lines++;
	}
	cr_assert(feof(file));
	fclose(file);
	fprintf(stderr, "%zu positions\n", lines);
	print("turns", &own);
	print("sampled replies", &replies);
	cr_expect_geq(lines, (size_t)LINES_LEAST);
	expect_all(&own);
	expect_all(&replies);
}
