/* The search: kinds of result, values against plain recursion, width, ties, stopping, memory, refusals. */
#include "tests/support/dicechess.h"
#include "tests/support/golden.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define KIWIPETE "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"

enum { SCALE_BITS = 16 };

static struct smx_search *search;
static struct smx_search_options options;

static void set_up(void)
{
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	smx_search_options_init(&options, &smx_dicechess);
	options.exact = SMX_EXACT_ALL;
}

static void tear_down(void)
{
	smx_search_destroy(search);
}

TestSuite(search, .init = set_up, .fini = tear_down);

static const struct smx_result *run_position(const struct smx_position *position)
{
	const struct smx_result *result;
	struct smx_error error;
	const enum smx_status status = smx_search_run(search, position, &options, &result, &error);
	cr_assert_eq(status, SMX_OK, "%s", error.message);
	return result;
}

static const struct smx_result *run(const char *dfen)
{
	const struct smx_position position = dicechess_read(dfen);
	return run_position(&position);
}

static void expect_turn(const struct smx_turn *turn, const char *expected)
{
	char text[SMX_TEXT_MAX];
	smx_dicechess.format_turn(turn, text);
	cr_assert_str_eq(text, expected, "%s", text);
}

static struct oracle_position oracle_of(const char *dfen)
{
	struct oracle_position position;
	cr_assert(oracle_read(&position, dfen), "%s", dfen);
	return position;
}

static const struct oracle_evaluator *oracle_evaluator(const struct smx_evaluator *evaluator)
{
	return evaluator == &smx_dicechess_standard ? &oracle_standard : &oracle_material;
}

/* ---- kinds of result ---- */

Test(search, a_win_is_the_shortest_winning_turn)
{
	/* c2c3 c3c4 b3c5 comes first in generation order, b3c5 alone is shortest */
	for (options.depth_plies = 1; options.depth_plies <= 3; options.depth_plies++) {
		const struct smx_result *result = run("8/8/8/2k5/8/1N6/2P5/K7 w - - 0 1 PPN");
		cr_assert_eq(result->kind, SMX_RESULT_WIN);
		expect_turn(&result->turn, "b3c5");
		cr_assert(result->turn.wins);
		cr_assert(result->has_value && !result->stopped);
		cr_assert_eq(result->value, smx_dicechess_material.win);
		cr_assert_eq(result->ties, 1);
		cr_assert_eq(result->candidate_count, 0);
		cr_assert_eq(result->counters.chance_nodes, 0);
		cr_assert_gt(result->counters.turns, 1u);
	}
}

Test(search, a_forced_pass_has_the_value_of_what_follows)
{
	const char *dfen = "4k3/8/8/8/8/8/3r4/4K3 w - - 0 1";
	struct oracle_position after = oracle_of(dfen);
	oracle_end_turn(&after);
	for (options.depth_plies = 1; options.depth_plies <= 3; options.depth_plies++) {
		const struct smx_position position = dicechess_read_roll(dfen, "PPP");
		const struct smx_result *result = run_position(&position);
		cr_assert_eq(result->kind, SMX_RESULT_PASS);
		cr_assert_eq(result->turn.steps, 0);
		cr_assert_eq(result->candidate_count, 1);
		cr_assert(result->has_value && !result->stopped);
		const int turns_left = (int)options.depth_plies - 1;
		if (turns_left < 2 || !golden_slow_build()) {
			const long long expected = turns_left ? oracle_chance(&after, turns_left, 0, &oracle_material, SCALE_BITS)
			                                      : -500LL * (1 << SCALE_BITS);
			cr_assert_eq(result->value, expected, "depth %u: %" PRId64, options.depth_plies, result->value);
		}
	}
}

Test(search, an_only_turn_is_a_turn)
{
	const struct smx_result *result = run("7k/p7/P7/8/8/8/1p6/K7 w - - 0 1 KPP");
	cr_assert_eq(result->kind, SMX_RESULT_TURN);
	cr_assert(result->has_value);
	cr_assert_eq(result->candidate_count, result->counters.candidates);
}

Test(search, a_position_without_dice_has_a_value_and_no_turn)
{
	const struct smx_result *result = run(START);
	cr_assert_eq(result->kind, SMX_RESULT_VALUE);
	cr_assert(result->has_value && !result->stopped);
	cr_assert_eq(result->candidate_count, 0);
	cr_assert_eq(result->outcome_count, 0, "they were not asked for");
}

/* ---- values ---- */

static void expect_chance(const char *dfen, unsigned depth)
{
	const struct oracle_position position = oracle_of(dfen);
	for (const struct smx_evaluator *const *evaluator = dicechess_oracle_evaluators; *evaluator; evaluator++) {
		options.evaluator = *evaluator;
		options.depth_plies = depth;
		const long long expected =
			oracle_chance(&position, (int)depth, position.side, oracle_evaluator(*evaluator), SCALE_BITS);
		for (unsigned leaves = 0; leaves < 2; leaves++) {
			options.leaves = leaves ? SMX_LEAVES_LIST : SMX_LEAVES_FOLD;
			const struct smx_result *result = run(dfen);
			cr_assert_eq(result->value, expected, "%s, depth %u, %s: %" PRId64 ", not %lld", dfen, depth,
			             (*evaluator)->name, result->value, expected);
		}
	}
}

Test(search, one_turn_ahead_equals_plain_recursion)
{
	const uint64_t first_seed = 5150;
	uint64_t seed = first_seed;
	const unsigned positions = golden_slow_build() ? 6 : 60;
	printf("seed %" PRIu64 ", %u positions\n", first_seed, positions);
	expect_chance(START, 1);
	expect_chance(KIWIPETE, 1);
	for (unsigned i = 0; i < positions; i++) {
		struct oracle_position position;
		char dfen[ORACLE_DFEN_SIZE];
		oracle_random_position(&seed, &position);
		oracle_dfen(&position, dfen);
		expect_chance(dfen, 1);
	}
}

Test(search, two_turns_ahead_equal_plain_recursion)
{
	static const char *const endgames[] = {
		"8/8/8/3k4/8/8/4P3/4K3 w - - 0 1",
		"8/2k5/8/8/3pP3/8/8/4K3 b - e3 0 1",
		"k7/P7/1K6/8/8/8/8/8 b - - 0 1",
		"8/5k2/8/8/8/2n5/8/K6N w - - 0 1",
	};
	const unsigned count = golden_slow_build() ? 1 : sizeof endgames / sizeof *endgames;
	for (unsigned i = 0; i < count; i++)
		expect_chance(endgames[i], 2);
}

/* Kings in corners: a chance node under a chance node under a chance node takes the recursion some seconds. */
Test(search, three_turns_ahead_equal_plain_recursion)
{
	expect_chance("k7/P7/KP6/8/8/8/8/8 b - - 0 1", 3);
	if (!golden_slow_build())
		expect_chance("k7/p7/8/8/8/p7/P7/K7 w - - 0 1", 3);
}

Test(search, candidates_are_worth_their_chance_nodes)
{
	const char *dfen = "4k3/8/8/2n1q3/3P4/8/8/R3K3 w Q - 0 1";
	const struct smx_position position = dicechess_read_roll(dfen, "PRK");
	for (const struct smx_evaluator *const *evaluator = dicechess_oracle_evaluators; *evaluator; evaluator++) {
		options.evaluator = *evaluator;
		const struct smx_result *result = run_position(&position);
		const struct oracle_position before = oracle_of(dfen);
		struct oracle_turns turns = {0};
		oracle_list(&before, "PRK", &turns);
		oracle_keep_distinct(&turns);
		cr_assert_eq(result->candidate_count, turns.count);
		smx_value best = INT64_MIN;
		for (size_t i = 0; i < result->candidate_count; i++)
			best = result->candidates[i].value > best ? result->candidates[i].value : best;
		/* the pre-ranker changes the order: each is found by its first turn */
		for (size_t i = 0; i < turns.count; i += golden_slow_build() ? 32 : 1) {
			char turn[ORACLE_TURN_SIZE], text[SMX_TEXT_MAX];
			oracle_turn_text(&turns.turn[i], turn);
			const struct smx_candidate *candidate = NULL;
			for (size_t k = 0; k < result->candidate_count && !candidate; k++) {
				smx_dicechess.format_turn(&result->candidates[k].turn, text);
				candidate = strcmp(text, turn) == 0 ? &result->candidates[k] : NULL;
			}
			cr_assert_not_null(candidate, "%s is a candidate", turn);
			cr_assert(candidate->completed);
			const struct oracle_position *after = &turns.turn[i].after;
			cr_assert_eq(candidate->value,
			             oracle_chance(after, 1, before.side, oracle_evaluator(*evaluator), SCALE_BITS), "%s", turn);
			cr_assert_eq(candidate->loss_weight, oracle_king_capture_216(after, after->side), "%s", turn);
			cr_assert_eq(candidate->total, ORACLE_WEIGHTS_SUM);
		}
		cr_assert_eq(result->value, best);
		oracle_turns_free(&turns);
	}
}

Test(search, folding_and_listing_give_the_same_result)
{
	options.width = golden_slow_build() ? 2 : 0;
	const struct smx_position position = dicechess_read_roll(KIWIPETE, "NRK");
	const struct smx_result *result = run_position(&position);
	const size_t count = result->candidate_count;
	const struct smx_turn turn = result->turn;
	struct smx_candidate *folded = malloc(count * sizeof *folded);
	memcpy(folded, result->candidates, count * sizeof *folded);
	cr_assert_gt(result->counters.outcomes_folded, 0u);
	cr_assert_eq(result->counters.leaf_evaluations, count, "depth 1 only");

	options.leaves = SMX_LEAVES_LIST;
	result = run_position(&position);
	cr_assert_eq(result->counters.outcomes_folded, 0);
	cr_assert_gt(result->counters.leaf_evaluations, 0u);
	cr_assert_eq(result->candidate_count, count);
	for (size_t i = 0; i < count; i++) {
		cr_assert_eq(result->candidates[i].value, folded[i].value, "candidate %zu", i);
		cr_assert_eq(result->candidates[i].loss_weight, folded[i].loss_weight, "candidate %zu", i);
	}
	cr_assert_arr_eq(&result->turn, &turn, sizeof turn);
	free(folded);
}

Test(search, depth_1_is_the_evaluator)
{
	options.depth_plies = 1;
	const struct smx_position position = dicechess_read_roll(KIWIPETE, "PNQ");
	const struct smx_result *result = run_position(&position);
	cr_assert_eq(result->counters.chance_nodes, 0);
	for (size_t i = 0; i < result->candidate_count; i++) {
		cr_assert_eq(result->candidates[i].value, result->candidates[i].prerank, "candidate %zu", i);
		cr_assert_eq(result->candidates[i].loss_weight, -1, "candidate %zu", i);
		if (i)
			cr_assert_leq(result->candidates[i].prerank, result->candidates[i - 1].prerank, "canonical order");
	}
	cr_assert_eq(result->value, result->candidates[0].value);
}

Test(search, outcome_values_are_those_of_each_roll)
{
	const char *dfen = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4";
	const struct oracle_position position = oracle_of(dfen);
	options.depth_plies = 1;
	options.outcome_values = true;
	for (const struct smx_evaluator *const *evaluator = dicechess_oracle_evaluators; *evaluator; evaluator++) {
		options.evaluator = *evaluator;
		long long values[ORACLE_ROLLS];
		const long long sum = oracle_chance_values(&position, 0, oracle_evaluator(*evaluator), values);
		const struct smx_result *result = run(dfen);
		cr_assert_eq(result->outcome_count, ORACLE_ROLLS);
		int64_t won = 0;
		for (int roll = 0; roll < ORACLE_ROLLS; roll++) {
			char letters[4];
			cr_assert_eq(result->outcome_weights[roll], (uint32_t)oracle_roll(roll, letters));
			cr_assert_eq(result->outcome_values[roll], values[roll] * (1 << SCALE_BITS), "%s", letters);
			if (result->outcomes_won >> roll & 1) {
				won += result->outcome_weights[roll];
				cr_assert_eq(result->outcome_values[roll], (*evaluator)->win);
			}
		}
		cr_assert_eq(won, oracle_king_capture_216(&position, 0));
		cr_assert_eq(result->outcomes_lost, 0);
		cr_assert_eq(result->value, oracle_div_floor(sum * (1 << SCALE_BITS), ORACLE_WEIGHTS_SUM));
	}
}

Test(search, the_value_is_the_rounded_average_of_the_outcome_values)
{
	options.outcome_values = true;
	const struct smx_result *result = run("8/2k5/8/8/3pP3/8/8/4K3 b - e3 0 1");
	long long sum = 0;
	for (unsigned i = 0; i < result->outcome_count; i++)
		sum += result->outcome_weights[i] * result->outcome_values[i];
	cr_assert_eq(result->value, oracle_div_floor(sum, ORACLE_WEIGHTS_SUM));
}

/* ---- what depth is for ---- */

/* What a turn is worth at a depth on the probability scale, and the turn that is chosen there. */
static smx_value value_of_turn(const char *dfen, const char *roll, unsigned depth, const char *turn,
                               char chosen[SMX_TEXT_MAX])
{
	options.evaluator = &smx_dicechess_winprob;
	options.depth_plies = depth;
	const struct smx_position position = dicechess_read_roll(dfen, roll);
	const struct smx_result *result = run_position(&position);
	smx_dicechess.format_turn(&result->turn, chosen);
	for (size_t i = 0; i < result->candidate_count; i++) {
		char text[SMX_TEXT_MAX];
		smx_dicechess.format_turn(&result->candidates[i].turn, text);
		if (strcmp(text, turn) == 0)
			return result->candidates[i].value;
	}
	cr_assert_fail("%s is no candidate", turn);
	return 0;
}

/* The queen can take a pawn that the rook behind it defends. */
Test(search, one_turn_ahead_hangs_the_queen_and_two_see_it)
{
	const char *dfen = "4k3/3r4/8/3p4/8/8/8/3QK3 w - - 0 1";
	char chosen[SMX_TEXT_MAX];
	value_of_turn(dfen, "Q", 1, "d1d5", chosen);
	cr_assert_str_eq(chosen, "d1d5");
	const smx_value taking = value_of_turn(dfen, "Q", 2, "d1d5", chosen);
	cr_assert_str_eq(chosen, "d1e2");
	cr_assert_gt(value_of_turn(dfen, "Q", 2, "d1e2", chosen), taking);
}

/* Retreating looks best until the attack on the rook from b5 counts. */
Test(search, two_turns_ahead_retreat_and_three_see_the_attack)
{
	const char *dfen = "4k3/2r5/8/2n5/3N4/1P6/2P5/4K3 w - - 0 1";
	char chosen[SMX_TEXT_MAX];
	value_of_turn(dfen, "N", 2, "d4e2", chosen);
	cr_assert_str_eq(chosen, "d4e2");
	const smx_value retreat = value_of_turn(dfen, "N", 3, "d4e2", chosen);
	cr_assert_str_eq(chosen, "d4b5");
	cr_assert_gt(value_of_turn(dfen, "N", 3, "d4b5", chosen), retreat);
}

/* ---- width and ties ---- */

Test(search, width_keeps_the_first_in_canonical_order)
{
	options.depth_plies = 1;
	const struct smx_position position = dicechess_read_roll(KIWIPETE, "PNQ");
	const struct smx_result *result = run_position(&position);
	const size_t all = result->candidate_count;
	cr_assert_eq(all, 1347);
	struct smx_candidate first[8];
	memcpy(first, result->candidates, sizeof first);
	const uint64_t turns = result->counters.turns;

	options.width = 8;
	result = run_position(&position);
	cr_assert_eq(result->candidate_count, 8);
	cr_assert_eq(result->counters.candidates, 8);
	cr_assert_eq(result->counters.turns, turns);
	for (unsigned i = 0; i < 8; i++)
		cr_assert_arr_eq(&result->candidates[i].turn, &first[i].turn, sizeof first[i].turn, "candidate %u", i);

	options.width = all + 1;
	cr_assert_eq(run_position(&position)->candidate_count, all);
}

/* The reference's way: turns to one afterstate take a place each. */
Test(search, width_counts_afterstates_or_paths)
{
	options.depth_plies = 1;
	const struct smx_position position = dicechess_read_roll(START, "PNB");
	options.width_counts = SMX_WIDTH_PATHS;
	const struct smx_result *result = run_position(&position);
	cr_assert_eq(result->candidate_count, result->counters.turns);
	cr_assert_eq(result->candidate_count, 340);
	options.width_counts = SMX_WIDTH_AFTERSTATES;
	cr_assert_eq(run_position(&position)->candidate_count, 124);
}

Test(search, the_prerank_orders_and_does_not_value)
{
	const struct smx_position position = dicechess_read_roll("4k3/8/8/2n1q3/3P4/8/8/R3K3 w Q - 0 1", "PRK");
	options.evaluator = &smx_dicechess_material;
	options.prerank = &smx_dicechess_standard;
	const struct smx_result *result = run_position(&position);
	const smx_value value = result->value;
	const size_t count = result->candidate_count;
	struct smx_candidate *standard = malloc(count * sizeof *standard);
	memcpy(standard, result->candidates, count * sizeof *standard);
	bool dangerous = false;
	for (size_t i = 1; i < count; i++) {
		cr_assert_leq(result->candidates[i].prerank, result->candidates[i - 1].prerank);
		dangerous = dangerous || result->candidates[i].prerank < result->candidates[0].prerank - (1500 << SCALE_BITS);
	}
	cr_assert(dangerous, "the standard evaluator takes 2000 off where the king is attacked");
	options.prerank = &smx_dicechess_material;
	result = run_position(&position);
	cr_assert_eq(result->value, value);
	cr_assert_eq(result->candidate_count, count);
	size_t moved = 0;
	for (size_t i = 0; i < count; i++)
		moved += memcmp(&standard[i].turn, &result->candidates[i].turn, sizeof standard[i].turn) != 0;
	cr_assert_gt(moved, 0u, "another order");
	free(standard);
}

Test(search, random_ties_reach_every_best_turn_and_repeat_by_seed)
{
	options.depth_plies = 1;
	options.width = 12;
	const struct smx_position position = dicechess_read_roll(START, "PNB");
	const struct smx_result *result = run_position(&position);
	cr_assert_eq(result->ties, 12, "nothing can be taken: all are level");
	cr_assert_arr_eq(&result->turn, &result->candidates[0].turn, sizeof result->turn, "the first of them by default");

	options.ties = SMX_TIES_RANDOM;
	unsigned chosen[12] = {0};
	for (options.seed = 0; options.seed < 240; options.seed++) {
		result = run_position(&position);
		const struct smx_turn turn = result->turn;
		bool found = false;
		for (unsigned i = 0; i < 12; i++)
			if (memcmp(&turn, &result->candidates[i].turn, sizeof turn) == 0) {
				chosen[i]++;
				found = true;
			}
		cr_assert(found);
		cr_assert_arr_eq(&run_position(&position)->turn, &turn, sizeof turn, "the same seed");
	}
	for (unsigned i = 0; i < 12; i++) /* 20 are expected of each: below 5 is less likely than one in 10,000 */
		cr_assert_geq(chosen[i], 5u, "turn %u: %u times", i, chosen[i]);
}

Test(search, random_ties_never_choose_a_worse_turn)
{
	options.ties = SMX_TIES_RANDOM;
	const struct smx_position position = dicechess_read_roll("4k3/8/8/2n1q3/3P4/8/8/R3K3 w Q - 0 1", "PRK");
	for (options.seed = 0; options.seed < 50; options.seed++) {
		const struct smx_result *result = run_position(&position);
		size_t best = 0;
		for (size_t i = 0; i < result->candidate_count; i++) {
			best += result->candidates[i].value == result->value;
			if (memcmp(&result->turn, &result->candidates[i].turn, sizeof result->turn) == 0)
				cr_assert_eq(result->candidates[i].value, result->value);
		}
		cr_assert_eq(result->ties, best);
	}
}

/* ---- stopping ---- */

Test(search, stopped_before_it_begins_it_names_the_first_candidate)
{
	const struct smx_position position = dicechess_read_roll(KIWIPETE, "PNQ");
	options.width = 3;
	const struct smx_turn first = run_position(&position)->candidates[0].turn;
	for (options.depth_plies = 1; options.depth_plies <= 3; options.depth_plies++) {
		smx_search_stop(search);
		const struct smx_result *result = run_position(&position);
		cr_assert(result->stopped);
		cr_assert_not(result->has_value);
		cr_assert_eq(result->kind, SMX_RESULT_TURN);
		cr_assert_arr_eq(&result->turn, &first, sizeof first);
		cr_assert_eq(result->ties, 0);
		cr_assert_eq(result->counters.candidates_completed, 0);
		cr_assert_eq(result->counters.candidates_abandoned, 3);
		for (size_t i = 0; i < result->candidate_count; i++)
			cr_assert_not(result->candidates[i].completed);
	}
	options.depth_plies = 2;
	smx_search_resume(search);
	const struct smx_result *result = run_position(&position);
	cr_assert(!result->stopped && result->has_value);
}

Test(search, stopped_without_dice_it_has_no_value)
{
	smx_search_stop(search);
	options.outcome_values = true;
	const struct smx_result *result = run(START);
	cr_assert(result->stopped);
	cr_assert_not(result->has_value);
	cr_assert_eq(result->kind, SMX_RESULT_VALUE);
	cr_assert_eq(result->outcome_count, 0);
}

/* Seen by both threads: the search asks, the other thread stops it and says so. */
struct stopper {
	atomic_bool asked, done;
	size_t completed_at_least;
	bool from_another_thread;
};

static void on_progress(void *context, const struct smx_progress *progress)
{
	struct stopper *stopper = context;
	cr_assert_leq(progress->candidates_completed, progress->candidates);
	cr_assert_eq(progress->depth_plies, options.depth_plies);
	if (progress->candidates_completed < stopper->completed_at_least)
		return;
	if (!stopper->from_another_thread) {
		smx_search_stop(search);
		return;
	}
	atomic_store(&stopper->asked, true);
	while (!atomic_load(&stopper->done))
		;
}

static void *stop_when_asked(void *context)
{
	struct stopper *stopper = context;
	while (!atomic_load(&stopper->asked))
		;
	smx_search_stop(search);
	atomic_store(&stopper->done, true);
	return NULL;
}

/* Far more work than is ever done: it is stopped as soon as a few candidates are complete. */
static void expect_only_completed_work(struct stopper *stopper)
{
	const struct smx_position position = dicechess_read("8/5pk1/4p1p1/3pP2p/3P1P1P/6P1/4RK2/r7 w - - 0 1 PRK");
	options.depth_plies = 3;
	options.star = SMX_STAR_NONE;
	options.leaves = SMX_LEAVES_LIST;
	options.evaluator = &smx_dicechess_standard;
	options.on_progress = on_progress;
	options.progress_context = stopper;
	const struct smx_result *result = run_position(&position);
	cr_assert(result->stopped);
	cr_assert(result->has_value);
	const size_t completed = result->counters.candidates_completed, all = result->candidate_count;
	cr_assert_geq(completed, stopper->completed_at_least);
	cr_assert_lt(completed, all);
	cr_assert_eq(result->counters.candidates_abandoned, all - completed);
	struct smx_candidate *partial = malloc(all * sizeof *partial);
	memcpy(partial, result->candidates, all * sizeof *partial);
	const struct smx_turn turn = result->turn;
	const smx_value value = result->value;
	const size_t ties = result->ties;
	for (size_t i = 0; i < all; i++)
		cr_assert_eq(partial[i].completed, i < completed, "candidates are searched in canonical order");

	/* the same candidates and no others, undisturbed */
	smx_search_resume(search);
	options.on_progress = NULL;
	options.width = completed;
	result = run_position(&position);
	cr_assert_not(result->stopped);
	for (size_t i = 0; i < completed; i++)
		cr_assert_eq(result->candidates[i].value, partial[i].value, "candidate %zu", i);
	cr_assert_eq(result->value, value);
	cr_assert_eq(result->ties, ties);
	cr_assert_arr_eq(&result->turn, &turn, sizeof turn);
	free(partial);
}

Test(search, stopped_from_its_own_progress_it_values_completed_candidates_only)
{
	struct stopper stopper = {.completed_at_least = 2};
	expect_only_completed_work(&stopper);
}

Test(search, stopped_from_another_thread_it_values_completed_candidates_only)
{
	struct stopper stopper = {.completed_at_least = 2, .from_another_thread = true};
	pthread_t thread;
	cr_assert_eq(pthread_create(&thread, NULL, stop_when_asked, &stopper), 0);
	expect_only_completed_work(&stopper);
	pthread_join(thread, NULL);
}

/* ---- memory ---- */

Test(search, a_second_run_asks_for_no_memory_and_repeats_every_counter)
{
	struct golden_file *file = golden_open("bench.tsv", 1, 4);
	size_t checked = 0;
	for (struct golden_row row; golden_next(file, &row); checked++) {
		options.leaves = checked % 2 ? SMX_LEAVES_LIST : SMX_LEAVES_FOLD;
		options.width = options.leaves == SMX_LEAVES_LIST || golden_slow_build() ? 16 : 0;
		const struct smx_result first = *run(row.column[1]), second = *run(row.column[1]);
		cr_assert_eq(first.memory.chunk_requests, second.memory.chunk_requests, "line %zu", row.line);
		cr_assert_eq(first.memory.reserved_bytes, second.memory.reserved_bytes, "line %zu", row.line);
		cr_assert_eq(first.memory.high_water_bytes, second.memory.high_water_bytes, "line %zu", row.line);
		cr_assert_lt(second.memory.high_water_bytes, (size_t)64 << 20, "line %zu", row.line);
		cr_assert_arr_eq(&first.counters, &second.counters, sizeof first.counters, "line %zu", row.line);
		cr_assert_eq(first.value, second.value, "line %zu", row.line);
	}
	cr_assert(golden_close(file, checked));
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
	*(size_t *)context += size_bytes;
	free(chunk);
}

Test(search, without_memory_it_fails_and_can_be_tried_again)
{
	size_t left = 0;
	const struct smx_chunk_source source = {refuse, give_back, &left};
	struct smx_search *poor;
	cr_assert_eq(smx_search_create(&smx_dicechess, &source, &poor), SMX_OK);
	const struct smx_position decision = dicechess_read_roll(START, "PNB"), chance = dicechess_read(START);
	const struct smx_result *const untouched = (const struct smx_result *)&left, *result = untouched;
	struct smx_error error = {.message = ""};
	cr_assert_eq(smx_search_run(poor, &decision, &options, &result, &error), SMX_ERR_MEMORY);
	cr_assert_eq(smx_search_run(poor, &chance, &options, &result, NULL), SMX_ERR_MEMORY);
	cr_assert_eq(result, untouched);
	cr_assert_not_null(strstr(error.message, "memory"), "%s", error.message);
	left = (size_t)64 << 20;
	cr_assert_eq(smx_search_run(poor, &decision, &options, &result, &error), SMX_OK);
	const smx_value value = result->value;
	smx_search_destroy(poor);
	cr_assert_eq(left, (size_t)64 << 20, "all of it came back");
	cr_assert_eq(run_position(&decision)->value, value);
}

/* ---- refusals ---- */

static void expect_refused(const char *message)
{
	const struct smx_position position = dicechess_read_roll(START, "PNB");
	const struct smx_result *const untouched = (const struct smx_result *)&position, *result = untouched;
	struct smx_error error = {.offset = 9};
	cr_assert_eq(smx_search_run(search, &position, &options, &result, &error), SMX_ERR_ARGUMENT);
	cr_assert_str_eq(error.message, message);
	cr_assert_eq(error.offset, 0);
	cr_assert_eq(smx_search_run(search, &position, &options, &result, NULL), SMX_ERR_ARGUMENT);
	cr_assert_eq(result, untouched);
}

Test(search, refuses_depths_out_of_range)
{
	options.depth_plies = 0;
	expect_refused("depth must be from 1 to 64");
	options.depth_plies = SMX_DEPTH_MAX + 1;
	expect_refused("depth must be from 1 to 64");
}

Test(search, refuses_to_go_without_evaluators)
{
	options.evaluator = NULL;
	expect_refused("a search needs an evaluator and a pre-ranker");
	options.evaluator = options.prerank;
	options.prerank = NULL;
	expect_refused("a search needs an evaluator and a pre-ranker");
}

Test(search, refuses_an_evaluator_that_is_empty)
{
	static const struct smx_evaluator empty;
	const struct smx_position position = dicechess_read(smx_dicechess.start);
	const struct smx_result *result;
	struct smx_error error;
	const struct smx_evaluator *const whole = options.evaluator;
	options.evaluator = &empty;
	cr_assert_eq(smx_search_run(search, &position, &options, &result, &error), SMX_ERR_ARGUMENT);
	options.evaluator = whole;
	options.prerank = &empty;
	cr_assert_eq(smx_search_run(search, &position, &options, &result, &error), SMX_ERR_ARGUMENT);
	options.prerank = whole;
	options.rescore = &empty;
	options.rescore_weight = options.rescore_total = 1;
	cr_assert_eq(smx_search_run(search, &position, &options, &result, &error), SMX_ERR_ARGUMENT);
}

Test(search, destroying_nothing_is_fine)
{
	smx_search_destroy(NULL);
}

/* ---- progress ---- */

static void count_progress(void *context, const struct smx_progress *progress)
{
	unsigned *calls = context;
	++*calls;
	cr_assert_eq(progress->counters->chance_nodes > 0, true);
	cr_assert_gt(progress->time_ms, 0.0);
}

Test(search, progress_is_reported_and_changes_nothing)
{
	const struct smx_position position = dicechess_read_roll("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", "PRK");
	unsigned calls = 0;
	options.depth_plies = 3;
	options.leaves = SMX_LEAVES_LIST;
	options.evaluator = &smx_dicechess_standard;
	options.width = golden_slow_build() ? 4 : 40;
	const smx_value value = run_position(&position)->value;
	options.on_progress = count_progress;
	options.progress_context = &calls;
	cr_assert_eq(run_position(&position)->value, value);
	cr_assert_gt(calls, 0u, "a search of well over 50 ms");
}
