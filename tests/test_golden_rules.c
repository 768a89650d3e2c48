/* The rules against the golden data: turns, afterstates, capture chances, static values and one chance node. */
#include "tests/support/dicechess.h"
#include "tests/support/golden.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CENTIPAWN (INT64_C(1) << 16)

/* What a row of turns.tsv states. */
struct facts {
	size_t paths, king_paths, afterstates;
	unsigned spent; /* dice, by the turns that do not win */
	uint64_t fingerprint;
};

static struct facts enumerate(const struct smx_position *position)
{
	struct dicechess_turns turns = dicechess_list(position);
	struct facts facts = {.paths = turns.count};
	size_t others = 0;
	for (size_t i = 0; i < turns.count; i++) {
		if (turns.turn[i].wins) {
			facts.king_paths++;
			continue;
		}
		cr_assert(others == 0 || turns.turn[i].spent == facts.spent, "turns that spend %u and %u dice", facts.spent,
		          turns.turn[i].spent);
		facts.spent = turns.turn[i].spent;
		turns.after[others++] = turns.after[i];
	}
	const size_t distinct = dicechess_distinct(turns.after, others);
	facts.fingerprint = dicechess_fingerprint(turns.after, distinct);
	facts.afterstates = distinct;
	if (turns.count == 1 &&
	    turns.turn[0].steps == 0) /* a pass is no path and no afterstate there, yet has a fingerprint */
		facts.paths = facts.afterstates = 0;
	dicechess_turns_free(&turns);
	return facts;
}

/* The kernel's side of the same row. */
static void expect_listed(const void *expansion, unsigned outcome, struct smx_arena *arena, const struct facts *facts,
                          const struct golden_row *row)
{
	const bool won = smx_dicechess.won(expansion) >> outcome & 1;
	cr_assert_eq(won, facts->king_paths > 0, "line %zu: won", row->line);
	struct smx_afterstates list;
	const enum smx_node node = smx_dicechess.afterstates(expansion, outcome, arena, &list);
	cr_assert_eq(node, won ? SMX_NODE_WON : SMX_NODE_OPEN, "line %zu", row->line);
	if (won)
		return;
	cr_assert_eq(list.count, facts->paths ? facts->afterstates : 1, "line %zu: %zu listed", row->line, list.count);
	cr_assert_eq(dicechess_fingerprint(list.states, list.count), facts->fingerprint, "line %zu: listed", row->line);
}

Test(golden_rules, turns_and_afterstates_of_all_rolls)
{
	struct golden_file *file = golden_open("turns.tsv", 1, 12);
	struct smx_arena *arena = smx_arena_create(NULL);
	const void *expansion = NULL;
	const char *dfen = NULL;
	size_t checked = 0, won = 0, passes = 0;
	for (struct golden_row row; golden_next(file, &row); checked++) {
		cr_assert_eq(row.columns, 7);
		if (row.begins_group) {
			dfen = golden_position(row.column[0]);
			smx_arena_release(arena, (struct smx_arena_mark){NULL, 0});
			const struct smx_position before = dicechess_read(dfen);
			expansion = smx_dicechess.open(before.state, arena);
			cr_assert_not_null(expansion);
		}
		const struct smx_position position = dicechess_read_roll(dfen, row.column[1]);
		const struct facts facts = {
			.paths = (size_t)golden_number(row.column[2]),
			.king_paths = (size_t)golden_number(row.column[3]),
			.spent = (unsigned)golden_number(row.column[4]),
			.afterstates = (size_t)golden_number(row.column[5]),
			.fingerprint = strtoull(row.column[6], NULL, 16),
		};
		const struct facts found = enumerate(&position);
		cr_assert_eq(found.paths, facts.paths, "line %zu: %zu paths", row.line, found.paths);
		cr_assert_eq(found.king_paths, facts.king_paths, "line %zu: %zu king paths", row.line, found.king_paths);
		cr_assert_eq(found.spent, facts.spent, "line %zu: %u dice spent", row.line, found.spent);
		cr_assert_eq(found.afterstates, facts.afterstates, "line %zu: %zu afterstates", row.line, found.afterstates);
		cr_assert_eq(found.fingerprint, facts.fingerprint, "line %zu: fingerprint %016" PRIx64, row.line,
		             found.fingerprint);
		const struct smx_arena_mark mark = smx_arena_mark(arena);
		expect_listed(expansion, (unsigned)position.outcome, arena, &facts, &row);
		smx_arena_release(arena, mark);
		won += facts.king_paths > 0;
		passes += facts.paths == 0;
	}
	smx_arena_destroy(arena);
	cr_assert(golden_close(file, checked));
	cr_assert_gt(won, 0u);
	cr_assert_gt(passes, 0u);
}

Test(golden_rules, turns_already_begun)
{
	struct golden_file *file = golden_open("partial.tsv", 2, 4);
	size_t checked = 0;
	for (struct golden_row row; golden_next(file, &row); checked++) {
		cr_assert_eq(row.columns, 6);
		const struct smx_position position = dicechess_read_roll(golden_position(row.column[0]), row.column[1]);
		cr_assert_geq(position.outcome, SMX_DICECHESS_OUTCOMES);
		const struct facts found = enumerate(&position);
		cr_assert_eq(found.paths, (size_t)golden_number(row.column[2]), "line %zu: %zu paths", row.line, found.paths);
		cr_assert_eq(found.king_paths, (size_t)golden_number(row.column[3]), "line %zu: %zu king paths", row.line,
		             found.king_paths);
		cr_assert_eq(found.afterstates, (size_t)golden_number(row.column[4]), "line %zu: %zu afterstates", row.line,
		             found.afterstates);
		cr_assert_eq(found.fingerprint, strtoull(row.column[5], NULL, 16), "line %zu: fingerprint %016" PRIx64,
		             row.line, found.fingerprint);
	}
	cr_assert(golden_close(file, checked));
}

Test(golden_rules, turns_come_in_the_reference_order)
{
	struct golden_file *file = golden_open("turn_lists.tsv", 2, 4);
	struct dicechess_turns turns = {0};
	size_t checked = 0, next = 0;
	for (struct golden_row row; golden_next(file, &row); checked++, next++) {
		cr_assert_eq(row.columns, 4);
		if (row.begins_group) {
			cr_assert_eq(next, turns.count, "%zu turns before line %zu", turns.count, row.line);
			dicechess_turns_free(&turns);
			const struct smx_position position = dicechess_read_roll(golden_position(row.column[0]), row.column[1]);
			turns = dicechess_list(&position);
			next = 0;
		}
		cr_assert_lt(next, turns.count, "line %zu: only %zu turns", row.line, turns.count);
		char turn[SMX_TEXT_MAX], after[SMX_TEXT_MAX];
		smx_dicechess.format_turn(&turns.turn[next], turn);
		cr_assert_str_eq(turn, row.column[2], "line %zu: turn %s", row.line, turn);
		if (turns.turn[next].wins)
			strcpy(after, "KING");
		else
			dicechess_text(&turns.after[next], 6, after);
		cr_assert_str_eq(after, row.column[3], "line %zu: afterstate %s", row.line, after);
	}
	cr_assert_eq(next, turns.count, "%zu turns at the end", turns.count);
	dicechess_turns_free(&turns);
	cr_assert(golden_close(file, checked));
}

/* The values of one chance node, from the side that does not move, by the fold hook and by listing. */
Test(golden_rules, a_chance_node_has_the_reference_values_folded_and_listed)
{
	struct golden_file *file = golden_open("chance.tsv", 1, 5);
	struct smx_arena *arena = smx_arena_create(NULL);
	size_t checked = 0;
	for (struct golden_row row; golden_next(file, &row);) {
		cr_assert_eq(row.columns, 3 + SMX_DICECHESS_OUTCOMES);
		const struct smx_evaluator *evaluator = smx_game_evaluator(&smx_dicechess, row.column[1]);
		if (!evaluator)
			continue; /* "aggressive" is not one of ours */
		const struct smx_position position = dicechess_read(golden_position(row.column[0]));
		const unsigned evaluated = !smx_dicechess.side_to_move(position.state);
		smx_arena_release(arena, (struct smx_arena_mark){NULL, 0});
		const void *expansion = smx_dicechess.open(position.state, arena);
		cr_assert_not_null(expansion);
		const uint64_t won = smx_dicechess.won(expansion);
		smx_value folded[SMX_DICECHESS_OUTCOMES];
		if (evaluator->fold)
			smx_dicechess.fold(expansion, evaluator, ~won & ((UINT64_C(1) << SMX_DICECHESS_OUTCOMES) - 1), evaluated,
			                   folded);
		uint32_t weights[SMX_OUTCOMES_MAX];
		smx_dicechess.outcomes(position.state, weights);
		smx_value sum = 0;
		for (unsigned outcome = 0; outcome < SMX_DICECHESS_OUTCOMES; outcome++) {
			const struct smx_arena_mark mark = smx_arena_mark(arena);
			const smx_value expected = golden_number(row.column[3 + outcome]) * CENTIPAWN;
			smx_value worst = evaluator->loss;
			if (!(won >> outcome & 1)) {
				struct smx_afterstates list;
				cr_assert_eq(smx_dicechess.afterstates(expansion, outcome, arena, &list), SMX_NODE_OPEN);
				smx_value *values = smx_arena_alloc(arena, list.count * sizeof *values);
				evaluator->evaluate(evaluator->context, list.states, list.count, evaluated, values);
				worst = values[0];
				for (size_t i = 1; i < list.count; i++)
					worst = values[i] < worst ? values[i] : worst;
				if (evaluator->fold)
					cr_assert_eq(folded[outcome], expected, "line %zu, roll %u: folded %" PRId64, row.line, outcome,
					             folded[outcome]);
			}
			cr_assert_eq(worst, expected, "line %zu, roll %u: listed %" PRId64, row.line, outcome, worst);
			sum += worst * weights[outcome];
			smx_arena_release(arena, mark);
		}
		cr_assert_eq(sum, golden_number(row.column[2]) * CENTIPAWN, "line %zu: sum", row.line);
		checked++;
	}
	smx_arena_destroy(arena);
	cr_assert(golden_close(file, checked));
}

Test(golden_rules, static_values_and_capture_chances)
{
	struct golden_file *file = golden_open("features.tsv", 1, 8);
	struct smx_arena *arena = smx_arena_create(NULL);
	size_t checked = 0;
	for (struct golden_row row; golden_next(file, &row); checked++) {
		cr_assert_geq(row.columns, 7);
		const struct smx_position position = dicechess_read(golden_position(row.column[0]));
		const enum smx_dicechess_side side = row.column[1][0] == 'b' ? SMX_BLACK : SMX_WHITE;
		const enum smx_dicechess_side opponent = side == SMX_BLACK ? SMX_WHITE : SMX_BLACK;
		smx_value value;
		smx_dicechess_material.evaluate(smx_dicechess_material.context, position.state, 1, side, &value);
		cr_assert_eq(value, golden_number(row.column[2]) * CENTIPAWN, "line %zu: material %" PRId64, row.line, value);
		smx_dicechess_standard.evaluate(smx_dicechess_standard.context, position.state, 1, side, &value);
		cr_assert_eq(value, golden_number(row.column[3]) * CENTIPAWN, "line %zu: standard %" PRId64, row.line, value);
		const int king = smx_dicechess_king_capture_216(position.state, opponent, arena);
		cr_assert_eq(king, golden_number(row.column[5]), "line %zu: king captured in %d", row.line, king);
		const int queen = smx_dicechess_queen_capture_216(position.state, opponent);
		cr_assert_eq(queen, golden_number(row.column[6]), "line %zu: queen captured in %d", row.line, queen);
	}
	smx_arena_destroy(arena);
	cr_assert(golden_close(file, checked));
}

static enum smx_dicechess_piece piece_of(char letter)
{
	return (enum smx_dicechess_piece)(strchr("PNBRQK", letter) - "PNBRQK" + 1);
}

Test(golden_rules, perft)
{
	struct golden_file *file = golden_open("fixtures/perft.tsv", 1, 1);
	size_t checked = 0;
	for (struct golden_row row; golden_next(file, &row); checked++) {
		const struct smx_position position = dicechess_read(row.column[0]);
		const uint64_t nodes =
			smx_dicechess_perft(position.state, piece_of(row.column[1][0]), (unsigned)golden_number(row.column[2]));
		cr_assert_eq(nodes, (uint64_t)golden_number(row.column[3]), "line %zu: %" PRIu64, row.line, nodes);
	}
	cr_assert(golden_close(file, checked));
}

static int by_text(const void *left, const void *right)
{
	return strcmp(left, right);
}

Test(golden_rules, micro_moves_that_begin_a_legal_turn)
{
	struct golden_file *file = golden_open("fixtures/first_micro_moves.tsv", 1, 1);
	size_t checked = 0;
	for (struct golden_row row; golden_next(file, &row); checked++) {
		const struct smx_position position = dicechess_read(row.column[0]);
		struct dicechess_turns turns = dicechess_list(&position);
		char(*first)[8] = calloc(turns.count, sizeof *first);
		size_t count = 0;
		for (size_t i = 0; i < turns.count; i++) {
			if (turns.turn[i].steps == 0)
				continue;
			struct smx_turn begin = turns.turn[i];
			char text[SMX_TEXT_MAX];
			begin.steps = 1;
			smx_dicechess.format_turn(&begin, text);
			cr_assert_lt(strlen(text), sizeof first[0]);
			strcpy(first[count++], text);
		}
		qsort(first, count, sizeof first[0], by_text);
		char found[4096] = "";
		for (size_t i = 0; i < count; i++)
			if (i == 0 || strcmp(first[i], first[i - 1]) != 0) {
				if (*found)
					strcat(found, " ");
				strcat(found, first[i]);
			}
		cr_assert_str_eq(found, row.columns > 1 ? row.column[1] : "", "line %zu: %s", row.line, found);
		free(first);
		dicechess_turns_free(&turns);
	}
	cr_assert(golden_close(file, checked));
}

/* The data has at least four decimals; one 216th is 0.0046. */
Test(golden_rules, chances_to_take_the_king)
{
	struct golden_file *file = golden_open("fixtures/king_capture.tsv", 1, 1);
	struct smx_arena *arena = smx_arena_create(NULL);
	size_t checked = 0;
	for (struct golden_row row; golden_next(file, &row); checked++) {
		const struct smx_position position = dicechess_read(row.column[0]);
		const enum smx_dicechess_side side = smx_dicechess.side_to_move(position.state) ? SMX_BLACK : SMX_WHITE;
		const double chance = smx_dicechess_king_capture_216(position.state, side, arena) / 216.0;
		const double expected = strtod(row.column[1], NULL);
		cr_assert_float_eq(chance, expected, 0.00005 + 1e-12, "line %zu: %.6f", row.line, chance);
	}
	smx_arena_destroy(arena);
	cr_assert(golden_close(file, checked));
}

Test(golden_rules, single_turns_are_legal_or_not)
{
	struct golden_file *file = golden_open("fixtures/turn_cases.tsv", 2, 1);
	size_t checked = 0;
	for (struct golden_row row; golden_next(file, &row); checked++) {
		const struct smx_position position = dicechess_read(row.column[0]);
		struct dicechess_turns turns = dicechess_list(&position);
		bool found = false;
		for (size_t i = 0; i < turns.count; i++) {
			char text[SMX_TEXT_MAX];
			smx_dicechess.format_turn(&turns.turn[i], text);
			found = found || strcmp(text, row.column[1]) == 0;
		}
		cr_assert_eq(found, strcmp(row.column[2], "legal") == 0, "line %zu: %s", row.line, row.column[3]);
		dicechess_turns_free(&turns);
	}
	cr_assert(golden_close(file, checked));
}
