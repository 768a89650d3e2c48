/* 2048 behind the game interface against the slow one: rules, text, keys. */
#include "tests/support/golden.h"
#include "tests/support/twenty48.h"

#include <starmax/random.h>

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAYED = 20000 };

static unsigned fewer(unsigned count)
{
	return golden_slow_build() ? 1 + count / 2 : count;
}

/* ---- rules ---- */

struct seen {
	struct smx_turn turn[8];
	uint64_t after[8];
	unsigned count;
};

static bool see(void *context, const struct smx_turn *turn, const void *afterstate)
{
	struct seen *seen = context;
	cr_assert_lt(seen->count, 8u);
	cr_assert_not_null(afterstate);
	cr_assert(smx_2048.self_check(afterstate));
	seen->turn[seen->count] = *turn;
	seen->after[seen->count++] = smx_2048_board(afterstate);
	return true;
}

static bool see_one(void *context, const struct smx_turn *turn, const void *afterstate)
{
	see(context, turn, afterstate);
	return false;
}

static const char *const way_names[] = {"left", "right", "up", "down", "pass"};

/* `board` has the outcome's tile. */
static void check_turns(const struct smx_position *position, const struct slow2048 *board, const char *text)
{
	struct slow2048_turn turns[4];
	const unsigned count = slow2048_turns(board, turns);
	struct seen seen = {.count = 0};
	smx_2048.turns(position, see, &seen);
	cr_assert_eq(seen.count, count, "%s: %u turns, not %u", text, seen.count, count);
	for (unsigned i = 0; i < count; i++) {
		const struct smx_turn *turn = &seen.turn[i];
		const bool pass = turns[i].way == SLOW2048_PASS;
		char name[SMX_TEXT_MAX];
		cr_assert_eq(smx_2048.format_turn(turn, name), strlen(name));
		cr_assert_str_eq(name, way_names[turns[i].way], "%s, turn %u: %s", text, i, name);
		cr_assert(turn->steps == !pass && !turn->wins && (pass || turn->step[0] == turns[i].way), "%s, turn %u", text,
		          i);
		cr_assert_eq(seen.after[i], twenty48_bits(&turns[i].after), "%s, %s: %016" PRIx64, text, name, seen.after[i]);
		const int64_t reward = smx_2048.solo->reward(position, turn);
		cr_assert_eq(reward, turns[i].reward, "%s, %s: makes %" PRId64 ", not %lld", text, name, reward,
		             turns[i].reward);
	}
}

static unsigned measure(const char *name, const struct smx_position *position)
{
	for (const struct smx_measure *m = smx_2048.measures; m->name; m++)
		if (strcmp(m->name, name) == 0)
			return m->of(position);
	cr_assert_fail("no measure %s", name);
	return 0;
}

static struct smx_position check_position(const struct slow2048 *board, int outcome)
{
	char text[SLOW2048_TEXT], again[SMX_TEXT_MAX];
	slow2048_write(board, outcome, text);
	const struct smx_position position = twenty48_read(text);
	const struct slow2048 placed = slow2048_place(board, outcome);
	cr_assert_eq(position.outcome, outcome, "%s: outcome %d", text, position.outcome);
	cr_assert_eq(smx_2048_board(position.state), twenty48_bits(board), "%s", text);
	cr_assert(smx_2048.self_check(position.state), "%s", text);
	cr_assert_eq(smx_2048.side_to_move(position.state), 0u, "%s", text);
	cr_assert_eq(smx_2048.format(&position, again), strlen(again), "%s", text);
	cr_assert_str_eq(again, text);
	cr_assert_eq(measure("tiles", &position), slow2048_kinds(&placed), "%s: %u tiles", text,
	             measure("tiles", &position));
	cr_assert_eq(measure("highest", &position), slow2048_highest(&placed), "%s: highest %u", text,
	             measure("highest", &position));
	if (outcome != SMX_NO_OUTCOME)
		check_turns(&position, &placed, text);
	return position;
}

/* One outcome's afterstates, in order. */
static void check_afterstates(const void *expansion, const struct slow2048 *board, unsigned outcome,
                              struct smx_arena *arena)
{
	char text[SLOW2048_TEXT];
	slow2048_write(board, (int)outcome, text);
	const struct slow2048 placed = slow2048_place(board, (int)outcome);
	struct slow2048_turn turns[4];
	const unsigned count = slow2048_turns(&placed, turns);
	const struct smx_arena_mark mark = smx_arena_mark(arena);
	struct smx_afterstates list;
	const enum smx_node node = smx_2048.afterstates(expansion, outcome, arena, &list);
	cr_assert_eq(node, count ? SMX_NODE_OPEN : SMX_NODE_LOST, "%s: node %d", text, (int)node);
	if (count)
		cr_assert_eq(list.count, count, "%s: %zu afterstates, not %u", text, list.count, count);
	for (unsigned i = 0; i < count; i++) {
		const void *state = (const unsigned char *)list.states + i * smx_2048.state_size;
		cr_assert(smx_2048.self_check(state), "%s: afterstate %u", text, i);
		cr_assert_eq(smx_2048_board(state), twenty48_bits(&turns[i].after), "%s: afterstate %u: %016" PRIx64, text, i,
		             smx_2048_board(state));
	}
	smx_arena_release(arena, mark);
}

static void check_chance_node(const struct slow2048 *board, struct smx_arena *arena)
{
	const struct smx_position position = check_position(board, SMX_NO_OUTCOME);
	uint32_t weights[SMX_OUTCOMES_MAX], total = 0;
	const unsigned count = smx_2048.outcomes(position.state, weights);
	cr_assert_eq(count, slow2048_outcomes(board));
	for (unsigned i = 0; i < count; i++) {
		cr_assert_eq(weights[i], i % 2 ? 1u : 9u);
		total += weights[i];
	}
	cr_assert_leq(total, smx_2048.total_max);
	const struct smx_arena_mark mark = smx_arena_mark(arena);
	const void *expansion = smx_2048.open(position.state, arena);
	cr_assert_not_null(expansion);
	cr_assert(!smx_2048.won || smx_2048.won(expansion) == 0);
	for (unsigned i = 0; i < count; i++)
		check_afterstates(expansion, board, i, arena);
	smx_arena_release(arena, mark);
}

/* Everything of a board: as a player sees it, waiting, and with one of its outcomes. */
static void check_board(const struct slow2048 *board, uint64_t *seed, struct smx_arena *arena)
{
	if (slow2048_tiles(board) > 0)
		check_position(board, SMX_2048_PLACED);
	if (slow2048_tiles(board) == 16)
		return;
	check_chance_node(board, arena);
	check_position(board, (int)smx_random_below(seed, slow2048_outcomes(board)));
}

/* Also boards that chance and no slide can make. */
Test(twenty48, rules_are_the_slow_ones_on_boards_of_play)
{
	struct smx_arena *arena = smx_arena_create(NULL);
	struct slow2048 board = twenty48_board(0);
	uint64_t seed = 2048;
	unsigned lost = 0, highest = 0, full = 0;
	for (unsigned i = 0; i < PLAYED; i++) {
		twenty48_random(&board, &seed);
		check_board(&board, &seed, arena);
		struct slow2048_turn turns[4];
		lost += slow2048_turns(&board, turns) == 0;
		full += slow2048_tiles(&board) == 16;
		highest += slow2048_highest(&board) == 32768;
	}
	smx_arena_destroy(arena);
	fprintf(stderr, "%d boards, %u full, %u lost, %u with the highest tile\n", PLAYED, full, lost, highest);
	cr_assert(lost > 100 && full > 1000 && highest > 1000);
}

Test(twenty48, rules_are_the_slow_ones_on_random_nibbles)
{
	struct smx_arena *arena = smx_arena_create(NULL);
	uint64_t seed = 15;
	for (unsigned i = 0; i < PLAYED / 4; i++) {
		const struct slow2048 board = twenty48_random_nibbles(&seed, i % 16);
		check_board(&board, &seed, arena);
	}
	smx_arena_destroy(arena);
}

Test(twenty48, rules_are_the_slow_ones_on_odd_boards)
{
	struct smx_arena *arena = smx_arena_create(NULL);
	for (size_t i = 0; i <= twenty48_odd_boards; i++) {
		struct slow2048 board = twenty48_board(0);
		if (i < twenty48_odd_boards)
			board = twenty48_odd_board(i);
		for (unsigned which = 0; which < 8; which++) {
			const struct slow2048 image = slow2048_symmetry(&board, which);
			uint64_t seed = i;
			check_board(&image, &seed, arena);
			for (unsigned o = 0; o < slow2048_outcomes(&image); o++)
				check_position(&image, (int)o);
		}
	}
	smx_arena_destroy(arena);
}

/* Every line of four cells, in every row and column, on a board that is otherwise empty. */
Test(twenty48, every_line_slides_as_the_slow_one)
{
	for (uint64_t line = 1; line < 1 << 16; line += golden_slow_build() ? 5 : 1)
		for (unsigned place = 0; place < 4; place++) {
			const struct slow2048 row = twenty48_board(line << (16 * place)), column = slow2048_symmetry(&row, 4);
			check_position(line % 2 ? &row : &column, SMX_2048_PLACED);
		}
}

Test(twenty48, the_start_waits_for_two_tiles)
{
	const struct smx_position start = twenty48_read(smx_2048.start);
	cr_assert_eq(start.outcome, SMX_NO_OUTCOME);
	cr_assert_eq(smx_2048_board(start.state), 0u);
	for (unsigned outcome = 0; outcome < SMX_2048_OUTCOMES; outcome++) {
		struct smx_position first = start;
		first.outcome = (int)outcome;
		struct seen seen = {.count = 0};
		smx_2048.turns(&first, see, &seen);
		cr_assert(seen.count == 1 && seen.turn[0].steps == 0);
		cr_assert_eq(seen.after[0], UINT64_C(1) << (60 - outcome / 2 * 4) << outcome % 2);
	}
}

Test(twenty48, turns_end_where_the_visitor_says_so)
{
	const struct smx_position position = twenty48_read("0,0,0,0/0,2,4,0/0,8,2,0/0,0,0,0");
	struct seen all = {.count = 0}, one = {.count = 0};
	smx_2048.turns(&position, see, &all);
	cr_assert_eq(all.count, 4u);
	smx_2048.turns(&position, see_one, &one);
	cr_assert_eq(one.count, 1u);
}

Test(twenty48, the_game_says_what_it_is)
{
	cr_assert_eq(smx_game_find("2048"), &smx_2048);
	cr_assert(smx_2048.state_size % 16 == 0 && smx_2048.state_size <= SMX_STATE_MAX);
	cr_assert_eq(smx_2048.total_max, 160u);
	const struct smx_solo *solo = smx_2048.solo;
	cr_assert_not_null(solo);
	bool found = false;
	for (const struct smx_measure *m = smx_2048.measures; m->name; m++)
		found = found || m == solo->goal;
	cr_assert(found, "the goal is none of the measures");
	cr_assert_str_eq(solo->goal->name, "highest");
	cr_assert_gt(solo->goals[0], 0u);
	for (const unsigned *goal = solo->goals; *goal; goal++)
		cr_assert(*goal <= 32768 && (*goal & (*goal - 1)) == 0 && (!goal[1] || goal[1] > *goal));
	for (const struct smx_evaluator *const *e = smx_2048.evaluators; *e; e++)
		cr_assert_eq(smx_game_evaluator(&smx_2048, (*e)->name), *e);
}

/* ---- text ---- */

/* An outcome is called as it is written behind a board. */
Test(twenty48, outcomes_have_names)
{
	const struct smx_position position = twenty48_read("128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0 -");
	static const char *const names[] = {"2@1,4", "4@1,4", "2@3,3", "4@3,3", "2@3,4", "4@3,4", "2@4,4", "4@4,4"};
	for (int i = 0; i < 8; i++) {
		char name[SMX_TEXT_MAX];
		cr_assert_eq(smx_2048.outcome_name(position.state, i, name), strlen(name));
		cr_assert_str_eq(name, names[i]);
	}
}

Test(twenty48, digits_in_either_case_and_rows_are_the_same_position)
{
	uint64_t seed = 16;
	for (unsigned i = 0; i < fewer(4000); i++) {
		const struct slow2048 board = twenty48_random_nibbles(&seed, 1 + i % 15);
		const unsigned outcomes = slow2048_outcomes(&board);
		int outcome = (int)smx_random_below(&seed, outcomes + 2) - 1;
		if (outcome == (int)outcomes)
			outcome = SMX_2048_PLACED;
		if (outcome != SMX_2048_PLACED && outcomes == 0)
			continue;
		char rows[SLOW2048_TEXT], lower[SLOW2048_TEXT], upper[SLOW2048_TEXT];
		slow2048_write(&board, outcome, rows);
		const char *rest = strchr(rows, ' ');
		snprintf(lower, sizeof lower, "%016" PRIx64 "%s", twenty48_bits(&board), rest ? rest : "");
		snprintf(upper, sizeof upper, "%016" PRIX64 "%s", twenty48_bits(&board), rest ? rest : "");
		const struct smx_position a = twenty48_read(rows), b = twenty48_read(lower), c = twenty48_read(upper);
		cr_assert(a.outcome == outcome && b.outcome == outcome && c.outcome == outcome, "%s", lower);
		cr_assert_arr_eq(a.state, b.state, smx_2048.state_size, "%s", lower);
		cr_assert_arr_eq(a.state, c.state, smx_2048.state_size, "%s", upper);
	}
}

static void expect_refusal(const char *text, size_t length, size_t from, size_t to)
{
	struct smx_position position, untouched;
	memset(&position, 0xa5, sizeof position);
	memset(&untouched, 0xa5, sizeof untouched);
	struct smx_error error = {.offset = SIZE_MAX, .message = ""};
	cr_assert_eq(smx_2048.parse(text, length, &position, &error), SMX_ERR_PARSE, "\"%s\" is read", text);
	cr_assert_eq(smx_2048.parse(text, length, &position, NULL), SMX_ERR_PARSE);
	cr_assert_arr_eq(&position, &untouched, sizeof position, "\"%s\" leaves something behind", text);
	cr_assert(error.offset >= from && error.offset <= to, "\"%s\": offset %zu: %s", text, error.offset, error.message);
	cr_assert_not_null(memchr(error.message, '\0', sizeof error.message));
	cr_assert_neq(error.message[0], '\0');
	for (const char *c = error.message; *c; c++)
		cr_assert(*c >= 0x20 && *c < 0x7f, "\"%s\": %s", text, error.message);
}

/* What is wrong stands in brackets; the error is somewhere in it or right behind it. */
static const char *const refused[] = {
	/* length */
	"[]",
	"[ ]",
	"[0]",
	"[000000000000011]",
	"[00000000000000011]",
	"[000000000000011 -]",
	"[00000000000000011 -]",
	"[2,4,8,16]",
	"[128,16,2,0/4,32,2,4/4,32,0,0]",
	"[128,16,2,0/4,32,2,4/4,32,0,0/8,64,4]",
	"[128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,]",
	"[128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0,2]",
	"[128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0/]",
	"[128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0/0,0,0,0]",
	"[128,16,2/4,32,2,4/4,32,0,0/8,64,4,0]",
	"[128,16,2,0,4/32,2,4/4,32,0,0/8,64,4,0]",
	"[128,16,2,0/4,32,2,4/4,32,0,0/8,64,4 -]",
	/* tiles */
	"128,16,[3],0/4,32,2,4/4,32,0,0/8,64,4,0",
	"128,16,[1],0/4,32,2,4/4,32,0,0/8,64,4,0",
	"[6],16,2,0/4,32,2,4/4,32,0,0/8,64,4,0",
	"128,16,2,0/4,[65536],2,4/4,32,0,0/8,64,4,0",
	"128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,[131072]",
	"128,16,2,0/4,[4294967298],2,4/4,32,0,0/8,64,4,0",
	"128,16,2,0/4,[18446744073709551618],2,4/4,32,0,0/8,64,4,0",
	"128,16,2,0/[-4],32,2,4/4,32,0,0/8,64,4,0",
	"128,16,2,0/[+4],32,2,4/4,32,0,0/8,64,4,0",
	"128,16,2,0/4[.0],32,2,4/4,32,0,0/8,64,4,0",
	"128,16,[02],0/4,32,2,4/4,32,0,0/8,64,4,0",
	"128,16,2,0/4,32,2,4/4,32,[00],0/8,64,4,0",
	"[032768],16,2,0/4,32,2,4/4,32,0,0/8,64,4,0",
	"128,16,2,0/[],32,2,4/4,32,0,0/8,64,4,0",
	"128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,[x]",
	"128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,[a]",
	"128,[ ]16,2,0/4,32,2,4/4,32,0,0/8,64,4,0",
	"128,16,2,0[//]4,32,2,4/4,32,0,0/8,64,4,0",
	"128,16,2,0[;]4,32,2,4/4,32,0,0/8,64,4,0",
	"[00000000000g0011]",
	"[0000,00000000011]",
	"[0x00000000000011]",
	/* outcomes */
	"0000000000000011[ ]",
	"0000000000000011[  -]",
	"[0000000000000011\t-]",
	"[0000000000000011-]",
	"[00000000000000112@1,1]",
	"0000000000000011[ --]",
	"0000000000000011[ - ]",
	"0000000000000011[ -2@1,1]",
	"0000000000000011[ - 2@1,1]",
	"0000000000000011[ + ]",
	"0000000000000011[ 2@0,1]",
	"0000000000000011[ 2@5,1]",
	"0000000000000011[ 2@1,0]",
	"0000000000000011[ 2@1,5]",
	"0000000000000011[ 8@1,1]",
	"0000000000000011[ 0@1,1]",
	"0000000000000011[ 1@1,1]",
	"0000000000000011[ 3@1,1]",
	"0000000000000011[ @1,1]",
	"0000000000000011[ 22@1,1]",
	"0000000000000011[ 2@11,1]",
	"0000000000000011[ 02@1,1]",
	"0000000000000011[ 2@01,1]",
	"0000000000000011[ 2@1,01]",
	"0000000000000011[ 2@1,11]",
	"0000000000000011[ 2@1]",
	"0000000000000011[ 2@1,]",
	"0000000000000011[ 2@]",
	"0000000000000011[ 2]",
	"0000000000000011[ 2@1.1]",
	"0000000000000011[ 2@-1,1]",
	"0000000000000011[ 2@1, 1]",
	"0000000000000011[ 2@a,1]",
	"0000000000000011[ 2@4,4]",
	"0000000000000011[ 4@4,3]",
	"0000000000000011[ 2@1,1 ]",
	"0000000000000011[ 2@1,1 -]",
	"0000000000000011[ 2@1,1\n]",
	"[0000000000000011\n]",
	"0000000000000011[ -\n]",
	"128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0[ 2@1,1]",
	"128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0[ x]",
	"128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0[ ]",
	"128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0[ - -]",
	/* boards that cannot be */
	"[1234123412341234 -]",
	"1234123412341234[ 2@1,1]",
	"[2,4,8,16/2,4,8,16/2,4,8,16/2,4,8,16 -]",
	"[0000000000000000]",
	"[0,0,0,0/0,0,0,0/0,0,0,0/0,0,0,0]",
};

Test(twenty48, what_is_no_position_is_refused_where_it_goes_wrong)
{
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		char text[SMX_TEXT_MAX];
		const char *open = strchr(refused[i], '['), *close = strchr(refused[i], ']');
		const int before = (int)(open - refused[i]), wrong = (int)(close - open) - 1;
		snprintf(text, sizeof text, "%.*s%.*s%s", before, refused[i], wrong, open + 1, close + 1);
		struct slow2048 board;
		int outcome;
		cr_assert(!slow2048_read(&board, &outcome, text, strlen(text)), "\"%s\"", text);
		expect_refusal(text, strlen(text), (size_t)before, (size_t)(before + wrong));
	}
	expect_refusal("0000000000000011\0", 17, 0, 17);
	expect_refusal("0000000000000011 -\0", 19, 16, 19);
	expect_refusal("000000000000001\0", 16, 0, 16);
}

/* Reads no further than it may. */
Test(twenty48, a_text_ends_where_its_length_says)
{
	static const char text[] = "0000000000000011 4@1,2";
	struct smx_position position;
	cr_assert_eq(smx_2048.parse(text, 16, &position, NULL), SMX_OK);
	cr_assert_eq(position.outcome, SMX_2048_PLACED);
	cr_assert_eq(smx_2048.parse(text, 22, &position, NULL), SMX_OK);
	cr_assert_eq(position.outcome, 3);
	for (size_t length = 0; length < 22; length++)
		if (length != 16)
			cr_assert_eq(smx_2048.parse(text, length, &position, NULL), SMX_ERR_PARSE, "%zu bytes", length);
}

/* One byte more, less or another. Returns the new length. */
static size_t damage(char *text, size_t length, uint64_t *seed)
{
	static const char alphabet[] = "0123456789abcdefABCDEF,/ -@248g\n";
	const size_t at = smx_random_below(seed, (uint32_t)length);
	const char byte = alphabet[smx_random_below(seed, sizeof alphabet)];
	switch (smx_random_below(seed, 3)) {
	case 0:
		text[at] = byte;
		return length;
	case 1:
		memmove(text + at, text + at + 1, length - at);
		return length - 1;
	default:
		memmove(text + at + 1, text + at, length - at + 1);
		text[at] = byte;
		return length + 1;
	}
}

/* Also of a damaged text. */
Test(twenty48, what_is_read_is_what_the_slow_one_reads)
{
	uint64_t seed = 77;
	unsigned read = 0, refusals = 0;
	for (unsigned i = 0; i < fewer(100000); i++) {
		const struct slow2048 board = twenty48_random_nibbles(&seed, 1 + i % 15);
		char text[2 * SLOW2048_TEXT];
		const unsigned outcomes = slow2048_outcomes(&board);
		const int outcome = outcomes && i % 4 ? (int)smx_random_below(&seed, outcomes + 1) - 1 : SLOW2048_PLACED;
		size_t length = slow2048_write(&board, outcome, text);
		if (i % 3 == 0) {
			char rest[SLOW2048_TEXT] = "";
			if (strchr(text, ' '))
				strcpy(rest, strchr(text, ' '));
			length = (size_t)snprintf(text, sizeof text, "%016" PRIx64 "%s", twenty48_bits(&board), rest);
		}
		for (unsigned n = smx_random_below(&seed, 3); n; n--)
			length = damage(text, length, &seed);
		struct slow2048 expected;
		int expected_outcome;
		const bool valid = slow2048_read(&expected, &expected_outcome, text, length);
		struct smx_position position;
		const enum smx_status status = smx_2048.parse(text, length, &position, NULL);
		cr_assert_eq(status, valid ? SMX_OK : SMX_ERR_PARSE, "\"%s\" (%zu): %s", text, length, smx_status_str(status));
		read += valid;
		refusals += !valid;
		if (!valid) {
			expect_refusal(text, length, 0, length);
			continue;
		}
		cr_assert_eq(smx_2048_board(position.state), twenty48_bits(&expected), "\"%s\"", text);
		cr_assert_eq(position.outcome, expected_outcome, "\"%s\"", text);
	}
	cr_assert(read > 1000 && refusals > 1000);
}

Test(twenty48, a_drawing_shows_every_tile)
{
	uint64_t seed = 5;
	for (unsigned i = 0; i < 200; i++) {
		const struct slow2048 board = twenty48_random_nibbles(&seed, i % 16);
		const struct smx_position position = twenty48_position(&board, SLOW2048_PLACED);
		char drawing[SMX_DRAWING_MAX];
		const size_t length = smx_2048.draw(&position, drawing);
		cr_assert(length == strlen(drawing) && length < sizeof drawing && drawing[length - 1] == '\n');
		const char *at = drawing;
		for (unsigned cell = 0; cell < 16; cell++) {
			if (!board.cell[cell / 4][cell % 4])
				continue;
			at += strcspn(at, "0123456789");
			char *end;
			cr_assert_eq(strtol(at, &end, 10), board.cell[cell / 4][cell % 4], "cell %u of\n%s", cell, drawing);
			at = end;
		}
		cr_assert_eq(at[strcspn(at, "0123456789")], '\0', "%s", drawing);
	}
}

/* ---- keys ---- */

struct keyed {
	struct smx_key key;
	uint64_t board;
};

static int by_key(const void *a, const void *b)
{
	return memcmp(&((const struct keyed *)a)->key, &((const struct keyed *)b)->key, sizeof(struct smx_key));
}

static int by_board(const void *a, const void *b)
{
	const uint64_t x = ((const struct keyed *)a)->board, y = ((const struct keyed *)b)->board;
	return (x > y) - (x < y);
}

static struct keyed keyed_of(const struct slow2048 *board, int outcome)
{
	const struct smx_position position = twenty48_position(board, outcome);
	struct keyed keyed = {.board = twenty48_bits(board)};
	memcpy(&keyed.key, position.state, sizeof keyed.key);
	return keyed;
}

/* Boards, all that differ from one of them in one cell, and all again with another outcome. */
Test(twenty48, keys_are_equal_where_boards_are)
{
	const size_t boards = fewer(400), room = boards * 16 * 16 * 2;
	struct keyed *list = malloc(room * sizeof *list);
	size_t count = 0;
	uint64_t seed = 128;
	for (size_t i = 0; i < boards; i++) {
		const uint64_t bits = twenty48_bits(&(struct slow2048[]){twenty48_random_nibbles(&seed, 6)}[0]);
		for (unsigned cell = 0; cell < 16; cell++)
			for (uint64_t nibble = 0; nibble < 16; nibble++) {
				const struct slow2048 board = twenty48_board(bits ^ nibble << 4 * cell);
				if (slow2048_tiles(&board) == 0)
					continue;
				list[count++] = keyed_of(&board, SLOW2048_PLACED);
				if (slow2048_tiles(&board) < 16)
					list[count++] = keyed_of(&board, nibble % 2 ? 1 : SLOW2048_WAITS);
			}
	}
	qsort(list, count, sizeof *list, by_key);
	size_t equal = 0;
	for (size_t i = 1; i < count; i++)
		if (by_key(&list[i - 1], &list[i]) == 0) {
			cr_assert_eq(list[i].board, list[i - 1].board, "%016" PRIx64 " and %016" PRIx64, list[i].board,
			             list[i - 1].board);
			equal++;
		}
	qsort(list, count, sizeof *list, by_board);
	for (size_t i = 1; i < count; i++)
		if (list[i].board == list[i - 1].board) {
			cr_assert_eq(by_key(&list[i - 1], &list[i]), 0, "%016" PRIx64, list[i].board);
			equal--;
		}
	cr_assert_eq(equal, 0u);
	free(list);
}

Test(twenty48, a_damaged_key_does_not_pass_the_self_check)
{
	uint64_t seed = 9;
	for (unsigned i = 0; i < 100; i++) {
		const struct slow2048 board = twenty48_random_nibbles(&seed, 4);
		struct smx_position position = twenty48_position(&board, SLOW2048_PLACED);
		for (unsigned bit = 0; bit < 8 * sizeof(struct smx_key); bit++) {
			position.state[bit / 8] ^= (unsigned char)(1 << bit % 8);
			cr_assert(!smx_2048.self_check(position.state), "bit %u", bit);
			position.state[bit / 8] ^= (unsigned char)(1 << bit % 8);
		}
		cr_assert(smx_2048.self_check(position.state));
	}
}
