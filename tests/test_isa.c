/* Every instruction set that this processor can use gives the same bytes in the same order. */
#include "tests/support/dicechess.h"
#include "tests/support/golden.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint64_t all_rolls = (UINT64_C(1) << SMX_DICECHESS_OUTCOMES) - 1;

/* What an instruction set makes of a position, in a number: order counts. */
struct digest {
	uint64_t hash;
};

static void add(struct digest *digest, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		digest->hash = (digest->hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static bool add_turn(void *context, const struct smx_turn *turn, const void *afterstate)
{
	add(context, turn->step, turn->steps * sizeof turn->step[0]);
	add(context, &turn->steps, sizeof turn->steps);
	add(context, &turn->spent, sizeof turn->spent);
	if (afterstate)
		add(context, afterstate, smx_dicechess.state_size);
	return true;
}

/* One number for each kind of work, so that a difference says where it is. */
enum { LISTS, FOLDS, TURNS, CHANCES, PERFTS, VALUES, KINDS };

static void digest_position(const struct smx_position *position, struct smx_arena *arena, struct digest digests[KINDS])
{
	const void *expansion = smx_dicechess.open(position->state, arena);
	cr_assert_not_null(expansion);
	const uint64_t won = smx_dicechess.won(expansion);
	add(&digests[LISTS], &won, sizeof won);
	for (unsigned outcome = 0; outcome < SMX_DICECHESS_OUTCOMES; outcome++) {
		struct smx_afterstates list;
		if (smx_dicechess.afterstates(expansion, outcome, arena, &list) != SMX_NODE_OPEN)
			continue;
		add(&digests[LISTS], list.states, list.count * smx_dicechess.state_size);
		smx_value *values = smx_arena_alloc(arena, list.count * sizeof *values);
		for (unsigned side = 0; side < 2; side++) {
			smx_dicechess_standard.evaluate(smx_dicechess_standard.context, list.states, list.count, side, values);
			add(&digests[VALUES], values, list.count * sizeof *values);
		}
	}
	for (unsigned side = 0; side < 2; side++) {
		smx_value values[SMX_DICECHESS_OUTCOMES] = {0};
		smx_dicechess.fold(expansion, &smx_dicechess_material, all_rolls & ~won, side, values);
		add(&digests[FOLDS], values, sizeof values);
		const enum smx_dicechess_side taker = side ? SMX_BLACK : SMX_WHITE;
		const int chances[2] = {smx_dicechess_king_capture_216(position->state, taker, arena),
		                        smx_dicechess_queen_capture_216(position->state, taker)};
		add(&digests[CHANCES], chances, sizeof chances);
	}
	struct smx_position rolled = *position;
	for (rolled.outcome = 0; rolled.outcome < SMX_DICECHESS_ROLLS; rolled.outcome++)
		smx_dicechess.turns(&rolled, add_turn, &digests[TURNS]);
	for (unsigned type = SMX_PAWN; type <= SMX_KING; type++) {
		const uint64_t nodes = smx_dicechess_perft(position->state, (enum smx_dicechess_piece)type, 2);
		add(&digests[PERFTS], &nodes, sizeof nodes);
	}
	smx_arena_release(arena, (struct smx_arena_mark){NULL, 0});
}

Test(isa, results_and_their_order_are_the_same_in_all)
{
	static const char *const kinds[KINDS] = {"lists", "folds", "turns", "capture chances", "perft", "values"};
	const uint64_t first_seed = 31337;
	const unsigned positions = golden_slow_build() ? 10 : 200;
	printf("seed %" PRIu64 ", %u positions\n", first_seed, positions);
	struct smx_arena *arena = smx_arena_create(NULL);
	uint64_t seed = first_seed;
	for (unsigned i = 0; i < positions; i++) {
		struct oracle_position position;
		oracle_random_position(&seed, &position);
		const struct smx_position ours = dicechess_from_oracle(&position);
		char dfen[ORACLE_DFEN_SIZE];
		oracle_dfen(&position, dfen);
		struct digest expected[KINDS] = {{0}};
		for (const char *const *name = smx_dicechess_isa_names(); *name; name++) {
			cr_assert_eq(smx_dicechess_isa_use(*name, NULL), SMX_OK);
			cr_assert_str_eq(smx_dicechess_isa(), *name);
			struct digest digests[KINDS] = {{0}};
			digest_position(&ours, arena, digests);
			for (unsigned kind = 0; kind < KINDS; kind++) {
				if (name == smx_dicechess_isa_names())
					expected[kind] = digests[kind];
				cr_assert_eq(digests[kind].hash, expected[kind].hash, "%s: %s with %s", dfen, kinds[kind], *name);
			}
		}
	}
	smx_arena_destroy(arena);
}

Test(isa, the_best_is_chosen_first)
{
	const char *const *names = smx_dicechess_isa_names();
	cr_assert_str_eq(names[0], "generic");
	while (names[1])
		names++;
	cr_assert_str_eq(smx_dicechess_isa(), *names);
}

Test(isa, an_unknown_one_is_refused_by_name)
{
	const char *before = smx_dicechess_isa();
	struct smx_error error = {.offset = 7};
	cr_assert_eq(smx_dicechess_isa_use("x86-64-v9", &error), SMX_ERR_ARGUMENT);
	cr_assert_not_null(strstr(error.message, "\"x86-64-v9\""), "%s", error.message);
	cr_assert_eq(error.offset, 0);
	cr_assert_eq(smx_dicechess_isa_use("", NULL), SMX_ERR_ARGUMENT);
	cr_assert_str_eq(smx_dicechess_isa(), before);
}
