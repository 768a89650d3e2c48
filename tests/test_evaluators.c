/* Evaluators: the check of a user's own, and searching with one. */
#include "tests/support/dicechess.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAWN_VALUE = 100 };
static const int piece_values[8] = {0, PAWN_VALUE, 300, 300, 500, 900, 0, 0};

static smx_value count_material(const void *state, unsigned side)
{
	unsigned char board[64];
	smx_dicechess_board(state, board);
	smx_value white = 0;
	for (unsigned square = 0; square < 64; square++)
		white += (board[square] & SMX_DICECHESS_BLACK ? -1 : 1) * piece_values[board[square] & 7];
	return (side == SMX_BLACK ? -white : white) * (INT64_C(1) << 16);
}

/* What an evaluator of these tests does wrong. */
struct fault {
	enum { NONE, BY_PLACE, BY_BATCH_SIZE, FALLING, RISING, BY_HISTORY, ONE_SIDE_ONLY, TOO_HIGH, TOO_LOW } kind;
};

static uint64_t first_word(const void *states, size_t i)
{
	return ((const struct smxi_dc_state *)states + i)->key.word[0];
}

static void evaluate(const void *context, const void *states, size_t count, unsigned side, smx_value *values)
{
	static smx_value calls;
	const struct fault *fault = context;
	calls++;
	for (size_t i = 0; i < count; i++) {
		values[i] = count_material((const unsigned char *)states + i * smx_dicechess.state_size, side);
		switch (fault->kind) {
		case NONE:
			break;
		case BY_PLACE:
			values[i] += i == 7;
			break;
		case BY_BATCH_SIZE:
			values[i] += count > 1;
			break;
		case FALLING: /* of a batch and its reverse, one shows it; the other is RISING's */
			values[i] += first_word(states, 0) > first_word(states, count - 1);
			break;
		case RISING:
			values[i] += first_word(states, 0) < first_word(states, count - 1);
			break;
		case BY_HISTORY:
			values[i] += calls % 3 == 0;
			break;
		case ONE_SIDE_ONLY:
			values[i] += side == SMX_BLACK && i == 3;
			break;
		case TOO_HIGH:
			values[i] = values[i] > 0 ? INT64_C(20000) << 16 : values[i];
			break;
		case TOO_LOW:
			values[i] = values[i] < 0 ? -(INT64_C(20000) << 16) : values[i];
			break;
		}
	}
}

static struct smx_evaluator evaluator_with(const struct fault *fault)
{
	struct smx_evaluator evaluator = smx_dicechess_material;
	evaluator.name = "counted";
	evaluator.evaluate = evaluate;
	evaluator.context = fault;
	evaluator.fold = NULL;
	return evaluator;
}

Test(evaluators, a_pure_one_is_accepted)
{
	const struct fault fault = {NONE};
	const struct smx_evaluator evaluator = evaluator_with(&fault);
	struct smx_error error = {.offset = 3, .message = "untouched"};
	cr_assert_eq(smx_evaluator_check(&smx_dicechess, &evaluator, &error), SMX_OK);
	cr_assert_str_eq(error.message, "untouched");
	for (const struct smx_evaluator *const *own = smx_dicechess.evaluators; *own; own++)
		cr_assert_eq(smx_evaluator_check(&smx_dicechess, *own, &error), SMX_OK, "%s: %s", (*own)->name, error.message);
}

/* The message: the evaluator, two different values, and a position that can be read. */
Test(evaluators, impure_ones_are_refused_with_the_position_and_both_values)
{
	static const struct fault faults[] = {{BY_PLACE}, {BY_BATCH_SIZE}, {FALLING},
	                                      {RISING},   {BY_HISTORY},    {ONE_SIDE_ONLY}};
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		const struct smx_evaluator evaluator = evaluator_with(&faults[i]);
		struct smx_error error;
		cr_assert_eq(smx_evaluator_check(&smx_dicechess, &evaluator, &error), SMX_ERR_IMPURE, "fault %zu", i);
		smx_value alone, together;
		char dfen[SMX_TEXT_MAX];
		cr_assert_eq(sscanf(error.message,
		                    "evaluator \"counted\" gives %" SCNd64 " alone and %" SCNd64 " in a batch for %199[^\n]",
		                    &alone, &together, dfen),
		             3, "%s", error.message);
		cr_assert_neq(alone, together, "%s", error.message);
		struct smx_position position;
		cr_assert_eq(smx_dicechess.parse(dfen, strlen(dfen), &position, NULL), SMX_OK, "%s", error.message);
		cr_assert_eq(smx_evaluator_check(&smx_dicechess, &evaluator, NULL), SMX_ERR_IMPURE, "fault %zu", i);
	}
}

Test(evaluators, values_out_of_bounds_are_refused)
{
	static const struct fault faults[] = {{TOO_HIGH}, {TOO_LOW}};
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
		struct smx_evaluator evaluator = evaluator_with(&faults[i]);
		evaluator.win = INT64_C(30000) << 16; /* the leaves' own bounds count, not those of ended games */
		struct smx_error error;
		cr_assert_eq(smx_evaluator_check(&smx_dicechess, &evaluator, &error), SMX_ERR_BOUNDS);
		cr_assert_not_null(strstr(error.message, "outside its bounds"), "%s", error.message);
	}
}

Test(evaluators, bounds_must_leave_room_for_weighted_sums)
{
	const struct fault fault = {NONE};
	const smx_value most = (SMX_SUM_LIMIT - 1) / SMX_DICECHESS_TOTAL; /* total * most < 2^62 */
	struct smx_error error;
	for (unsigned which = 0; which < 4; which++)
		for (unsigned beyond = 0; beyond < 2; beyond++) {
			struct smx_evaluator evaluator = evaluator_with(&fault);
			const smx_value limit = most + (smx_value)beyond;
			switch (which) {
			case 0:
				evaluator.loss = -limit;
				break;
			case 1:
				evaluator.win = limit;
				break;
			case 2:
				evaluator.lo = -limit;
				break;
			default:
				evaluator.hi = limit;
			}
			const enum smx_status status = smx_evaluator_check(&smx_dicechess, &evaluator, &error);
			cr_assert_eq(status, beyond ? SMX_ERR_BOUNDS : SMX_OK, "bound %u, %u beyond", which, beyond);
			if (beyond)
				cr_assert_not_null(strstr(error.message, "216"), "%s", error.message);
		}
}

Test(evaluators, bounds_in_the_wrong_order_are_refused)
{
	const struct fault fault = {NONE};
	struct smx_evaluator evaluator = evaluator_with(&fault);
	evaluator.lo = evaluator.hi + 1;
	cr_assert_eq(smx_evaluator_check(&smx_dicechess, &evaluator, NULL), SMX_ERR_BOUNDS);
	evaluator = evaluator_with(&fault);
	evaluator.loss = evaluator.win + 1;
	cr_assert_eq(smx_evaluator_check(&smx_dicechess, &evaluator, NULL), SMX_ERR_BOUNDS);
}

Test(evaluators, what_is_missing_is_said)
{
	const struct fault fault = {NONE};
	for (unsigned which = 0; which < 3; which++) {
		struct smx_evaluator evaluator = evaluator_with(&fault);
		if (which == 0)
			evaluator.name = NULL;
		else if (which == 1)
			evaluator.unit = NULL;
		else
			evaluator.evaluate = NULL;
		struct smx_error error;
		cr_assert_eq(smx_evaluator_check(&smx_dicechess, &evaluator, &error), SMX_ERR_ARGUMENT);
		cr_assert_str_eq(error.message, "an evaluator needs a name, a unit and an evaluate function");
	}
}

Test(evaluators, the_scale_has_at_most_48_bits)
{
	const struct fault fault = {NONE};
	struct smx_evaluator evaluator = evaluator_with(&fault);
	evaluator.scale_bits = 48;
	cr_assert_eq(smx_evaluator_check(&smx_dicechess, &evaluator, NULL), SMX_OK);
	evaluator.scale_bits = 49;
	struct smx_error error;
	cr_assert_eq(smx_evaluator_check(&smx_dicechess, &evaluator, &error), SMX_ERR_ARGUMENT);
	cr_assert_not_null(strstr(error.message, "49"), "%s", error.message);
}

static const struct smx_result *run(struct smx_search *search, const struct smx_position *position,
                                    const struct smx_search_options *options)
{
	const struct smx_result *result;
	struct smx_error error;
	cr_assert_eq(smx_search_run(search, position, options, &result, &error), SMX_OK, "%s", error.message);
	return result;
}

Test(evaluators, a_users_copy_of_material_gives_the_same_search)
{
	const struct fault fault = {NONE};
	const struct smx_evaluator copy = evaluator_with(&fault);
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.exact = SMX_EXACT_ALL;
	static const char *const positions[] = {
		"r1bq1rk1/pp2bppp/2n1pn2/8/3P4/P1NB1N2/1P3PPP/R1BQK2R b KQ - 0 1 pnb",
		"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 PRK",
		"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
	};
	for (size_t i = 0; i < sizeof positions / sizeof *positions; i++) {
		const struct smx_position position = dicechess_read(positions[i]);
		options.width = i == 0 ? 24 : 0;
		options.depth_plies = position.outcome == SMX_NO_OUTCOME ? 1 : 2;
		options.evaluator = options.prerank = &smx_dicechess_material;
		const struct smx_result *result = run(search, &position, &options);
		const size_t count = result->candidate_count;
		struct smx_candidate *candidates = malloc((count + 1) * sizeof *candidates);
		if (count)
			memcpy(candidates, result->candidates, count * sizeof *candidates);
		const smx_value value = result->value;

		options.evaluator = options.prerank = &copy;
		result = run(search, &position, &options);
		cr_assert_eq(result->value, value, "%s", positions[i]);
		cr_assert_eq(result->candidate_count, count);
		cr_assert_gt(result->counters.leaf_evaluations, 0u);
		for (size_t k = 0; k < count; k++) {
			cr_assert_arr_eq(&result->candidates[k].turn, &candidates[k].turn, sizeof candidates[k].turn);
			cr_assert_eq(result->candidates[k].prerank, candidates[k].prerank);
			cr_assert_eq(result->candidates[k].value, candidates[k].value);
		}
		free(candidates);
	}
	smx_search_destroy(search);
}

/* Either role; and the same object changed since it passed is checked again. */
Test(evaluators, a_search_refuses_what_the_check_refuses)
{
	struct fault fault = {BY_PLACE};
	struct smx_evaluator evaluator = evaluator_with(&fault);
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.exact = SMX_EXACT_ALL;
	options.width = 2;
	const struct smx_position position = dicechess_read(smx_dicechess.start);
	const struct smx_result *const untouched = (const struct smx_result *)&position, *result = untouched;
	struct smx_error error;
	options.evaluator = &evaluator;
	options.depth_plies = 1;
	cr_assert_eq(smx_search_run(search, &position, &options, &result, &error), SMX_ERR_IMPURE);
	options.evaluator = &smx_dicechess_material;
	options.prerank = &evaluator;
	cr_assert_eq(smx_search_run(search, &position, &options, &result, &error), SMX_ERR_IMPURE);
	cr_assert_not_null(strstr(error.message, "\"counted\""), "%s", error.message);
	cr_assert_eq(result, untouched);
	fault.kind = NONE;
	cr_assert_eq(smx_search_run(search, &position, &options, &result, &error), SMX_OK);
	evaluator.hi = -1;
	evaluator.lo = -2;
	cr_assert_eq(smx_search_run(search, &position, &options, &result, &error), SMX_ERR_BOUNDS);
	smx_search_destroy(search);
}

Test(evaluators, are_found_by_name)
{
	cr_assert_eq(smx_game_find("dicechess"), &smx_dicechess);
	cr_assert_null(smx_game_find("Dicechess"));
	cr_assert_eq(smx_game_evaluator(&smx_dicechess, "material"), &smx_dicechess_material);
	cr_assert_eq(smx_game_evaluator(&smx_dicechess, "standard"), &smx_dicechess_standard);
	cr_assert_null(smx_game_evaluator(&smx_dicechess, ""));
}

Test(evaluators, node_bounds_hold_leaves_and_ended_games)
{
	struct smx_evaluator evaluator = {.lo = -5, .hi = 5, .loss = -10, .win = 3};
	cr_assert_eq(smx_evaluator_floor(&evaluator), -10);
	cr_assert_eq(smx_evaluator_ceiling(&evaluator), 5);
	evaluator.loss = -4;
	evaluator.win = 8;
	cr_assert_eq(smx_evaluator_floor(&evaluator), -5);
	cr_assert_eq(smx_evaluator_ceiling(&evaluator), 8);
}
