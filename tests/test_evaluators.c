/* Evaluators: the check of a user's own, and searching with one. */
#include "games/dicechess/isa.h"
#include "tests/support/dicechess.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
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

/* ---- win probabilities with another constant ---- */

enum { MOST_CP = 10300, MOST_STANDARD_CP = 12300 };
static const smx_value whole = INT64_C(1) << 40;

static const struct smx_evaluator *winprob(const char *family, int constant_cp)
{
	char name[64];
	snprintf(name, sizeof name, "%s:%d", family, constant_cp);
	const struct smx_evaluator *evaluator = smx_game_evaluator(&smx_dicechess, name);
	cr_assert_not_null(evaluator, "%s", name);
	if (constant_cp != SMX_DICECHESS_WINPROB_CP)
		cr_assert_str_eq(evaluator->name, name);
	return evaluator;
}

/* What the evaluator gives White for a balance of so many centipawns. */
static smx_value value_of(const struct smx_evaluator *evaluator, const struct smx_position *position, int balance_cp)
{
	struct smxi_dc_state state;
	memcpy(&state, position->state, sizeof state);
	state.material = (int16_t)balance_cp;
	smx_value value;
	evaluator->evaluate(evaluator->context, &state, 1, SMX_WHITE, &value);
	return value;
}

/* The definition, with 64 bits of precision: within a unit, for the library computes with 53. */
Test(evaluators, winprob_is_the_logistic_function_for_every_constant)
{
	static const int constants[] = {100, 101, 137, 400, 799, 800, 1199, 1200, 1201, 3000, 9999, 10000};
	const struct smx_position quiet = dicechess_read("7k/8/8/8/8/8/8/K7 w - - 0 1");
	const struct smx_position attacked = dicechess_read("7k/8/8/8/8/8/r7/K7 w - - 0 1");
	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
		const struct smx_evaluator *plain = winprob("winprob", constants[i]);
		const struct smx_evaluator *standard = winprob("winprob-standard", constants[i]);
		const struct smxi_dc_fold *fold = plain->fold;
		cr_assert_null(standard->fold);
		smx_value below = 0;
		for (int m = -MOST_CP; m <= MOST_CP; m += 100) {
			const smx_value value = value_of(plain, &quiet, m);
			const long double truth = (long double)whole / (1 + expl(-(long double)m / constants[i]));
			cr_assert_leq(fabsl((long double)value - truth), 1.0L, "%s of %d", plain->name, m);
			cr_assert(value >= below && value <= whole, "%s of %d", plain->name, m);
			cr_assert_eq(value + value_of(plain, &quiet, -m), whole, "%s of %d", plain->name, m);
			cr_assert_eq(fold->value(fold->context, m), value, "%s of %d", plain->name, m);
			cr_assert_eq(value_of(standard, &quiet, m), value, "%s of %d", standard->name, m);
			if (m - 2000 >= -MOST_CP)
				cr_assert_eq(value_of(standard, &attacked, m), value_of(plain, &quiet, m - 2000), "%s of %d",
				             standard->name, m);
			below = value;
		}
		cr_assert_leq(value_of(standard, &attacked, -MOST_CP), value_of(standard, &quiet, -MOST_CP));
	}
}

/* Golden values rest on these bits: the same operations as when they were made. */
Test(evaluators, the_default_constant_has_the_values_it_always_had)
{
	const struct smxi_dc_fold *fold = smx_dicechess_winprob.fold;
	double ratio = 1, term = 1, power = 1;
	for (int i = 1; i < 20; i++) {
		term *= (double)100 / 1200 / i;
		ratio += term;
	}
	for (int m = 0; m <= MOST_STANDARD_CP; m += 100, power *= ratio) {
		const smx_value losing = smx_value_from_double(1 / (1 + power), 40);
		cr_assert_eq(fold->value(fold->context, m), whole - losing, "%d", m);
		cr_assert_eq(fold->value(fold->context, -m), losing, "%d", m);
	}
}

Test(evaluators, made_ones_are_one_object_for_each_name)
{
	cr_assert_eq(winprob("winprob", 1200), &smx_dicechess_winprob);
	cr_assert_eq(winprob("winprob-standard", 1200), &smx_dicechess_winprob_standard);
	const struct smx_evaluator *made = winprob("winprob", 800);
	cr_assert_neq(made, &smx_dicechess_winprob);
	cr_assert_neq(made, winprob("winprob", 801));
	cr_assert_neq(made, winprob("winprob-standard", 800));
	cr_assert_eq(made, winprob("winprob", 800));
	struct smx_error error = {.message = "untouched"};
	cr_assert_eq(smx_evaluator_check(&smx_dicechess, made, &error), SMX_OK, "%s", error.message);
	cr_assert_eq(smx_evaluator_check(&smx_dicechess, winprob("winprob-standard", 100), &error), SMX_OK, "%s",
	             error.message);
}

enum { THREADS = 8, NAMES = 64 };

static void *ask_for_names(void *context)
{
	const struct smx_evaluator **found = context;
	for (int i = 0; i < NAMES; i++) {
		char name[64];
		snprintf(name, sizeof name, "winprob:%d", 2000 + i);
		found[i] = smx_game_evaluator(&smx_dicechess, name);
	}
	return NULL;
}

Test(evaluators, made_ones_are_one_object_for_all_threads)
{
	static const struct smx_evaluator *found[THREADS][NAMES];
	pthread_t threads[THREADS];
	for (unsigned t = 0; t < THREADS; t++)
		cr_assert_eq(pthread_create(&threads[t], NULL, ask_for_names, found[t]), 0);
	for (unsigned t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (unsigned t = 0; t < THREADS; t++)
		for (int i = 0; i < NAMES; i++)
			cr_assert_eq(found[t][i], winprob("winprob", 2000 + i), "thread %u, %d", t, 2000 + i);
}

Test(evaluators, bad_constants_are_refused_with_the_range)
{
	static const char *const bad[] = {"winprob:0",
	                                  "winprob:99",
	                                  "winprob:10001",
	                                  "winprob:12x",
	                                  "winprob:",
	                                  "winprob:-800",
	                                  "winprob: 800",
	                                  "winprob:800:800",
	                                  "winprob:42949680960",
	                                  "winprob-standard:0",
	                                  "winprob-standard:99999999999999999999"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		cr_assert_null(smx_game_evaluator(&smx_dicechess, bad[i]), "%s", bad[i]);
		const struct smx_evaluator *evaluator = &smx_dicechess_material;
		struct smx_error error;
		cr_assert_eq(smx_dicechess.make_evaluator(bad[i], &evaluator, &error), SMX_ERR_ARGUMENT, "%s", bad[i]);
		cr_assert_null(evaluator);
		cr_assert_eq(error.offset, strcspn(bad[i], ":") + 1);
		cr_assert_not_null(strstr(error.message, "from 100 to 10000"), "%s", error.message);
	}
	static const char *const unknown[] = {"winprobe:800", "winpro:800", "material:800",       ":800", "",
	                                      "Winprob:800",  "winprob ",   "winprob-standar:800"};
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
		cr_assert_null(smx_game_evaluator(&smx_dicechess, unknown[i]), "%s", unknown[i]);
		const struct smx_evaluator *evaluator = &smx_dicechess_material;
		cr_assert_eq(smx_dicechess.make_evaluator(unknown[i], &evaluator, NULL), SMX_OK, "%s", unknown[i]);
		cr_assert_null(evaluator);
	}
}

/* The fold, and the bounds that rest on it, are for any constant; the steepest curve is flat over most of its length. */
Test(evaluators, winprob_of_another_constant_folds_and_prunes_to_what_listing_gives)
{
	static const char *const positions[] = {
		"r1bq1rk1/pp2bppp/2n1pn2/8/3P4/P1NB1N2/1P3PPP/R1BQK2R b KQ - 0 1",
		"2b1k3/r1pp1pB1/p1n5/6P1/2P5/4P2P/P2P1K2/Q7 b - - 0 1 pbr",
		"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
		"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 PRK",
	};
	static const int constants[] = {100, 400, 10000};
	struct smx_search *plain, *pruned;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &plain), SMX_OK);
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &pruned), SMX_OK);
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.exact = SMX_EXACT_ALL;
	options.width = 12;
	options.outcome_values = true;
	for (size_t i = 0; i < sizeof positions / sizeof *positions; i++)
		for (size_t k = 0; k < sizeof constants / sizeof *constants; k++) {
			const struct smx_position position = dicechess_read(positions[i]);
			options.evaluator = winprob("winprob", constants[k]);
			options.depth_plies = position.outcome == SMX_NO_OUTCOME ? 1 : 2;
			options.star = SMX_STAR_NONE;
			options.leaves = SMX_LEAVES_LIST;
			const struct smx_result *listed = run(plain, &position, &options);
			cr_assert_eq(listed->counters.outcomes_folded, 0u);
			options.star = SMX_STAR2;
			options.leaves = SMX_LEAVES_FOLD;
			const struct smx_result *folded = run(pruned, &position, &options);
			cr_assert_gt(folded->counters.outcomes_folded, 0u);
			cr_assert_eq(folded->value, listed->value, "%s, %s", options.evaluator->name, positions[i]);
			cr_assert_eq(folded->candidate_count, listed->candidate_count);
			for (size_t c = 0; c < listed->candidate_count; c++)
				cr_assert_eq(folded->candidates[c].value, listed->candidates[c].value, "%s, %s, candidate %zu",
				             options.evaluator->name, positions[i], c);
			cr_assert_eq(folded->outcome_count, position.outcome == SMX_NO_OUTCOME ? SMX_DICECHESS_OUTCOMES : 0u);
			for (unsigned roll = 0; roll < folded->outcome_count; roll++)
				cr_assert_eq(folded->outcome_values[roll], listed->outcome_values[roll], "%s, %s, roll %u",
				             options.evaluator->name, positions[i], roll);
		}
	smx_search_destroy(plain);
	smx_search_destroy(pruned);
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
