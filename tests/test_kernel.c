/* The shared-set kernel against a second implementation of the rules, on random positions. */
#include "tests/support/dicechess.h"
#include "tests/support/golden.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t first_seed = 424242;
static const uint64_t all_rolls = (UINT64_C(1) << SMX_DICECHESS_OUTCOMES) - 1;

/* The other implementation takes most of the time: some 30 milliseconds a position in a release build. */
static unsigned positions_to_try(unsigned release)
{
	return golden_slow_build() ? (release + 14) / 15 : release;
}

/* Calls `check` with random positions, each opened. */
static void on_random_positions(unsigned release,
                                void (*check)(const struct oracle_position *, const struct smx_position *,
                                              const void *expansion, struct smx_arena *))
{
	uint64_t seed = first_seed;
	const unsigned positions = positions_to_try(release);
	printf("seed %" PRIu64 ", %u positions\n", first_seed, positions);
	struct smx_arena *arena = smx_arena_create(NULL);
	for (unsigned i = 0; i < positions; i++) {
		struct oracle_position position;
		oracle_random_position(&seed, &position);
		const struct smx_position ours = dicechess_from_oracle(&position);
		cr_assert(smx_dicechess.self_check(ours.state));
		const void *expansion = smx_dicechess.open(ours.state, arena);
		cr_assert_not_null(expansion);
		check(&position, &ours, expansion, arena);
		smx_arena_release(arena, (struct smx_arena_mark){NULL, 0});
	}
	smx_arena_destroy(arena);
}

static int by_text(const void *left, const void *right)
{
	return strcmp(left, right);
}

static void expect_afterstate_sets(const struct oracle_position *position, const struct smx_position *ours,
                                   const void *expansion, struct smx_arena *arena)
{
	(void)ours;
	char dfen[ORACLE_DFEN_SIZE];
	oracle_dfen(position, dfen);
	const uint64_t won = smx_dicechess.won(expansion);
	for (unsigned outcome = 0; outcome < SMX_DICECHESS_OUTCOMES; outcome++) {
		char roll[4];
		oracle_roll((int)outcome, roll);
		struct oracle_summary expected = oracle_summarise(position, roll);
		cr_assert_eq(won >> outcome & 1, expected.king_paths > 0, "%s %s: won", dfen, roll);
		struct smx_afterstates list;
		const enum smx_node node = smx_dicechess.afterstates(expansion, outcome, arena, &list);
		cr_assert_eq(node, expected.king_paths ? SMX_NODE_WON : SMX_NODE_OPEN, "%s %s", dfen, roll);
		if (node == SMX_NODE_OPEN) {
			cr_assert_eq(list.count, expected.key_count, "%s %s: %zu listed, not %zu", dfen, roll, list.count,
			             expected.key_count);
			const struct smxi_dc_state *states = list.states;
			char(*keys)[SMX_TEXT_MAX] = malloc(list.count * sizeof *keys);
			for (size_t i = 0; i < list.count; i++) {
				cr_assert(smx_dicechess.self_check(&states[i]), "%s %s: afterstate %zu", dfen, roll, i);
				dicechess_text(&states[i], 4, keys[i]);
			}
			qsort(keys, list.count, sizeof *keys, by_text);
			for (size_t i = 0; i < list.count; i++)
				cr_assert_str_eq(keys[i], expected.keys[i], "%s %s: %s", dfen, roll, keys[i]);
			free(keys);
		}
		oracle_summary_free(&expected);
	}
}

Test(kernel, lists_the_distinct_afterstates_of_every_roll)
{
	on_random_positions(250, expect_afterstate_sets);
}

static void expect_turns(const struct oracle_position *position, const struct smx_position *ours, const void *expansion,
                         struct smx_arena *arena)
{
	(void)expansion;
	(void)arena;
	char dfen[ORACLE_DFEN_SIZE];
	oracle_dfen(position, dfen);
	for (int outcome = 0; outcome < SMX_DICECHESS_ROLLS; outcome++) {
		char roll[SMX_TEXT_MAX];
		smx_dicechess.outcome_name(ours->state, outcome, roll);
		struct oracle_turns expected = {0};
		oracle_list(position, roll, &expected);
		struct smx_position rolled = *ours;
		rolled.outcome = outcome;
		struct dicechess_turns found = dicechess_list(&rolled);
		cr_assert_eq(found.count, expected.count, "%s %s: %zu turns, not %zu", dfen, roll, found.count, expected.count);
		for (size_t i = 0; i < found.count; i++) {
			char turn[SMX_TEXT_MAX], other[ORACLE_TURN_SIZE], after[SMX_TEXT_MAX], other_after[ORACLE_DFEN_SIZE];
			smx_dicechess.format_turn(&found.turn[i], turn);
			oracle_turn_text(&expected.turn[i], other);
			cr_assert_str_eq(turn, other, "%s %s: turn %zu is %s, not %s", dfen, roll, i, turn, other);
			cr_assert_eq(found.turn[i].wins, expected.turn[i].king, "%s %s: %s", dfen, roll, turn);
			cr_assert_eq(found.turn[i].spent, expected.turn[i].spent, "%s %s: %s", dfen, roll, turn);
			if (found.turn[i].wins)
				continue;
			cr_assert(smx_dicechess.self_check(&found.after[i]), "%s %s: %s", dfen, roll, turn);
			dicechess_text(&found.after[i], 6, after);
			oracle_dfen(&expected.turn[i].after, other_after);
			cr_assert_str_eq(after, other_after, "%s %s: %s leads to %s", dfen, roll, turn, after);
		}
		dicechess_turns_free(&found);
		oracle_turns_free(&expected);
	}
}

Test(kernel, turns_of_whole_and_begun_rolls_come_in_the_reference_order)
{
	on_random_positions(250, expect_turns);
}

static void expect_folds(const struct oracle_position *position, const struct smx_position *ours, const void *expansion,
                         struct smx_arena *arena)
{
	(void)ours;
	const struct smx_evaluator *material = &smx_dicechess_material;
	char dfen[ORACLE_DFEN_SIZE];
	oracle_dfen(position, dfen);
	const uint64_t open = all_rolls & ~smx_dicechess.won(expansion);
	for (unsigned side = 0; side < 2; side++) {
		smx_value folded[SMX_DICECHESS_OUTCOMES], one_by_one[SMX_DICECHESS_OUTCOMES];
		smx_dicechess.fold(expansion, material, open, side, folded);
		const bool maximise = (int)side == position->side;
		for (unsigned outcome = 0; outcome < SMX_DICECHESS_OUTCOMES; outcome++) {
			if (!(open >> outcome & 1))
				continue;
			const struct smx_arena_mark mark = smx_arena_mark(arena);
			struct smx_afterstates list;
			cr_assert_eq(smx_dicechess.afterstates(expansion, outcome, arena, &list), SMX_NODE_OPEN);
			smx_value *values = smx_arena_alloc(arena, list.count * sizeof *values);
			material->evaluate(material->context, list.states, list.count, side, values);
			smx_value best = values[0];
			for (size_t i = 1; i < list.count; i++)
				if ((values[i] > best) == maximise)
					best = values[i];
			cr_assert_eq(folded[outcome], best, "%s, roll %u, side %u: %" PRId64 ", not %" PRId64, dfen, outcome, side,
			             folded[outcome], best);
			smx_dicechess.fold(expansion, material, UINT64_C(1) << outcome, side, one_by_one);
			cr_assert_eq(one_by_one[outcome], best, "%s, roll %u, side %u alone", dfen, outcome, side);
			smx_arena_release(arena, mark);
		}
	}
}

Test(kernel, fold_is_listing_and_evaluating_for_either_side)
{
	on_random_positions(1000, expect_folds);
}

/* Random games are too short for it. */
Test(kernel, the_half_move_clock_stops_at_127)
{
	static const struct {
		const char *before, *roll, *turn, *after;
	} cases[] = {
		{"4k3/8/8/8/8/8/4P3/R3K3 w Q - 125 90", "RRR", "a1a2 a2a3 a3a4", "4k3/8/8/8/R7/8/4P3/4K3 b - - 127 90"},
		{"4k3/8/8/8/8/8/4P3/R3K3 w Q - 127 90", "RK", "e1c1", "4k3/8/8/8/8/8/4P3/2KR4 b - - 127 90"},
		{"4k3/8/8/8/8/8/4P3/R3K3 b Q - 127 90", "KP", "e8d8", "3k4/8/8/8/8/8/4P3/R3K3 w Q - 127 91"},
		{"4k3/8/8/8/8/8/4P3/R3K3 w Q - 127 90", "PK", "e2e3 e1e2", "4k3/8/8/8/8/4P3/4K3/R7 b - - 1 90"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct smx_position position = dicechess_read_roll(cases[i].before, cases[i].roll);
		struct dicechess_turns turns = dicechess_list(&position);
		bool found = false;
		for (size_t k = 0; k < turns.count; k++) {
			char turn[SMX_TEXT_MAX], after[SMX_TEXT_MAX];
			smx_dicechess.format_turn(&turns.turn[k], turn);
			if (strcmp(turn, cases[i].turn) != 0)
				continue;
			found = true;
			dicechess_text(&turns.after[k], 6, after);
			cr_assert_str_eq(after, cases[i].after, "%s leads to %s", turn, after);
		}
		cr_assert(found, "%s %s: %s is a turn", cases[i].before, cases[i].roll, cases[i].turn);
		dicechess_turns_free(&turns);
	}
}

/* Swap the colours and turn the board around. */
static struct oracle_position mirrored(const struct oracle_position *position)
{
	struct oracle_position mirror = *position;
	for (int square = 0; square < 64; square++) {
		const char piece = position->board[square ^ 56];
		mirror.board[square] =
			(char)(isupper((unsigned char)piece) ? tolower((unsigned char)piece) : toupper((unsigned char)piece));
		mirror.target[square] = position->target[square ^ 56];
	}
	mirror.side = 1 - position->side;
	mirror.rights = (position->rights & 3u) << 2 | position->rights >> 2;
	return mirror;
}

static uint64_t mirrored_fingerprint(const struct smx_afterstates *list)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < list->count; i++) {
		char text[SMX_TEXT_MAX], key[ORACLE_KEY_SIZE];
		struct oracle_position position;
		dicechess_text((const struct smxi_dc_state *)list->states + i, 6, text);
		cr_assert(oracle_read(&position, text), "%s", text);
		position = mirrored(&position);
		oracle_key(&position, key);
		sum += oracle_fnv(key);
	}
	return sum;
}

static void expect_mirror(const struct oracle_position *position, const struct smx_position *ours,
                          const void *expansion, struct smx_arena *arena)
{
	char dfen[ORACLE_DFEN_SIZE];
	oracle_dfen(position, dfen);
	const struct oracle_position mirror = mirrored(position);
	const struct smx_position turned = dicechess_from_oracle(&mirror);
	const void *other = smx_dicechess.open(turned.state, arena);
	cr_assert_not_null(other);
	const uint64_t won = smx_dicechess.won(expansion);
	cr_assert_eq(won, smx_dicechess.won(other), "%s: won", dfen);
	for (unsigned side = 0; side < 2; side++) {
		smx_value values[SMX_DICECHESS_OUTCOMES] = {0}, others[SMX_DICECHESS_OUTCOMES] = {0};
		smx_dicechess.fold(expansion, &smx_dicechess_material, all_rolls & ~won, side, values);
		smx_dicechess.fold(other, &smx_dicechess_material, all_rolls & ~won, 1 - side, others);
		cr_assert_arr_eq(values, others, sizeof values, "%s: folded for %u", dfen, side);
		smx_value value, its;
		for (const struct smx_evaluator *const *e = smx_dicechess.evaluators; *e; e++) {
			(*e)->evaluate((*e)->context, ours->state, 1, side, &value);
			(*e)->evaluate((*e)->context, turned.state, 1, 1 - side, &its);
			cr_assert_eq(value, its, "%s: %s", dfen, (*e)->name);
		}
		const enum smx_dicechess_side taker = side ? SMX_BLACK : SMX_WHITE, its_taker = side ? SMX_WHITE : SMX_BLACK;
		cr_assert_eq(smx_dicechess_king_capture_216(ours->state, taker, arena),
		             smx_dicechess_king_capture_216(turned.state, its_taker, arena), "%s: king", dfen);
		cr_assert_eq(smx_dicechess_queen_capture_216(ours->state, taker),
		             smx_dicechess_queen_capture_216(turned.state, its_taker), "%s: queen", dfen);
	}
	for (unsigned outcome = 0; outcome < SMX_DICECHESS_OUTCOMES; outcome++) {
		if (won >> outcome & 1)
			continue;
		struct smx_afterstates list, its;
		cr_assert_eq(smx_dicechess.afterstates(expansion, outcome, arena, &list), SMX_NODE_OPEN);
		cr_assert_eq(smx_dicechess.afterstates(other, outcome, arena, &its), SMX_NODE_OPEN);
		cr_assert_eq(list.count, its.count, "%s, roll %u: %zu and %zu", dfen, outcome, list.count, its.count);
		cr_assert_eq(mirrored_fingerprint(&list), dicechess_fingerprint(its.states, its.count), "%s, roll %u", dfen,
		             outcome);
	}
}

Test(kernel, colours_are_symmetric)
{
	on_random_positions(100, expect_mirror);
}

static void expect_chances(const struct oracle_position *position, const struct smx_position *ours,
                           const void *expansion, struct smx_arena *arena)
{
	(void)expansion;
	char dfen[ORACLE_DFEN_SIZE];
	oracle_dfen(position, dfen);
	for (int side = 0; side < 2; side++) {
		const enum smx_dicechess_side taker = side ? SMX_BLACK : SMX_WHITE;
		cr_assert_eq(smx_dicechess_king_capture_216(ours->state, taker, arena), oracle_king_capture_216(position, side),
		             "%s: king, side %d", dfen, side);
		cr_assert_eq(smx_dicechess_queen_capture_216(ours->state, taker), oracle_queen_capture_216(position, side),
		             "%s: queen, side %d", dfen, side);
	}
}

Test(kernel, capture_chances_agree)
{
	on_random_positions(100, expect_chances);
}

static uint64_t counted_perft(const struct oracle_position *position, char die, unsigned depth)
{
	struct oracle_move move[ORACLE_MICRO_MOVES];
	const int count = oracle_micro_moves(position, die, move);
	uint64_t nodes = 0;
	for (int i = 0; i < count; i++) {
		const char taken = position->board[move[i].to];
		if (depth == 1) {
			nodes++;
		} else if (toupper((unsigned char)taken) != 'K') {
			struct oracle_position next = *position;
			oracle_play(&next, move[i]);
			oracle_end_turn(&next);
			nodes += counted_perft(&next, die, depth - 1);
		}
	}
	return nodes;
}

static void expect_perft(const struct oracle_position *position, const struct smx_position *ours, const void *expansion,
                         struct smx_arena *arena)
{
	(void)expansion;
	(void)arena;
	char dfen[ORACLE_DFEN_SIZE];
	oracle_dfen(position, dfen);
	for (unsigned type = SMX_PAWN; type <= SMX_KING; type++)
		for (unsigned depth = 1; depth <= 3; depth++)
			cr_assert_eq(smx_dicechess_perft(ours->state, (enum smx_dicechess_piece)type, depth),
			             counted_perft(position, " PNBRQK"[type], depth), "%s: %c, depth %u", dfen, " PNBRQK"[type],
			             depth);
	cr_assert_eq(smx_dicechess_perft(ours->state, SMX_KING, 0), 1);
}

Test(kernel, perft_counts_micro_moves_of_one_die_by_turns)
{
	on_random_positions(60, expect_perft);
}

/* Keys against the text of what they stand for. */
struct keyed {
	struct smx_key key;
	uint64_t text; /* a hash of 64 bits: two of a million texts share one with probability 2^-25 */
};

static struct keyed *met;
static size_t met_count, met_room;

static void meet(const void *state)
{
	if (met_count == met_room)
		met = realloc(met, (met_room = 2 * met_room + 1024) * sizeof *met);
	cr_assert_not_null(met);
	char text[SMX_TEXT_MAX];
	dicechess_text(state, 4, text);
	met[met_count++] = (struct keyed){((const struct smx_state *)state)->key, oracle_fnv(text)};
}

static void meet_all(const struct oracle_position *position, const struct smx_position *ours, const void *expansion,
                     struct smx_arena *arena)
{
	(void)position;
	meet(ours->state);
	for (unsigned outcome = 0; outcome < SMX_DICECHESS_OUTCOMES; outcome++) {
		struct smx_afterstates list;
		if (smx_dicechess.afterstates(expansion, outcome, arena, &list) != SMX_NODE_OPEN)
			continue;
		for (size_t i = 0; i < list.count; i++)
			meet((const struct smxi_dc_state *)list.states + i);
	}
}

static int by_key(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;
	for (unsigned i = 0; i < 2; i++)
		if (a->key.word[i] != b->key.word[i])
			return a->key.word[i] < b->key.word[i] ? -1 : 1;
	return 0;
}

static int by_hash(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;
	return a->text < b->text ? -1 : a->text > b->text;
}

Test(kernel, keys_are_equal_exactly_when_positions_are)
{
	on_random_positions(150, meet_all);
	printf("%zu positions met\n", met_count);
	size_t repeated = 0;
	qsort(met, met_count, sizeof *met, by_key);
	for (size_t i = 1; i < met_count; i++)
		if (by_key(&met[i - 1], &met[i]) == 0) {
			repeated++;
			cr_assert_eq(met[i - 1].text, met[i].text, "one key, two positions");
		}
	cr_assert_gt(repeated, 0u);
	qsort(met, met_count, sizeof *met, by_hash);
	for (size_t i = 1; i < met_count; i++)
		if (met[i - 1].text == met[i].text)
			cr_assert_eq(by_key(&met[i - 1], &met[i]), 0, "one position, two keys");
	free(met);
}

static void *refuse(void *context, size_t size_bytes)
{
	size_t *left = context;
	if (size_bytes > *left)
		return NULL;
	*left -= size_bytes;
	return aligned_alloc(SMX_CACHE_LINE, size_bytes);
}

static void give_back(void *context, void *chunk, size_t size_bytes)
{
	(void)context;
	(void)size_bytes;
	free(chunk);
}

Test(kernel, says_so_where_there_is_no_memory)
{
	size_t left = 0;
	const struct smx_chunk_source source = {refuse, give_back, &left};
	struct smx_arena *arena = smx_arena_create(&source);
	const struct smx_position position =
		dicechess_read("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1");
	cr_assert_null(smx_dicechess.open(position.state, arena));
	cr_assert_eq(smx_dicechess_king_capture_216(position.state, SMX_WHITE, arena), -1);
	left = 2 << 20;
	const void *expansion = smx_dicechess.open(position.state, arena);
	cr_assert_not_null(expansion);
	const unsigned undecided = smxi_lowest(~smx_dicechess.won(expansion));
	enum smx_node node = SMX_NODE_OPEN;
	for (unsigned i = 0; i < 100000 && node == SMX_NODE_OPEN; i++) {
		struct smx_afterstates list;
		node = smx_dicechess.afterstates(expansion, undecided, arena, &list);
	}
	cr_assert_eq(node, SMX_NODE_NO_MEMORY);
	smx_arena_destroy(arena);
}
