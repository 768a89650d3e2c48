/* The evaluators of 2048, its symmetries and its fold against the slow one. */
#include "tests/support/golden.h"
#include "tests/support/twenty48.h"

#include <starmax/random.h>

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static unsigned fewer(unsigned count)
{
	return golden_slow_build() ? 1 + count / 2 : count;
}

/* ---- symmetries ---- */

static uint64_t canonical_of(const struct slow2048 *board)
{
	const struct smx_position position = twenty48_position(board, SLOW2048_PLACED);
	struct smx_position canonical;
	smx_2048.canonical(position.state, canonical.state);
	cr_assert(smx_2048.self_check(canonical.state));
	return smx_2048_board(canonical.state);
}

static void check_canonical(const struct slow2048 *board)
{
	const uint64_t canonical = canonical_of(board);
	const struct slow2048 image = twenty48_board(canonical);
	cr_assert_eq(canonical_of(&image), canonical);
	bool reached = false;
	for (unsigned which = 0; which < 8; which++) {
		const struct slow2048 other = slow2048_symmetry(board, which);
		cr_assert_eq(canonical_of(&other), canonical, "%016" PRIx64 " by %u", twenty48_bits(board), which);
		reached = reached || slow2048_equal(&other, &image);
	}
	cr_assert(reached, "%016" PRIx64 " stands for %016" PRIx64, canonical, twenty48_bits(board));
}

Test(twenty48_evaluators, one_of_eight_boards_stands_for_them)
{
	uint64_t seed = 8;
	struct slow2048 board = twenty48_board(0);
	for (unsigned i = 0; i < fewer(10000); i++) {
		twenty48_random(&board, &seed);
		check_canonical(&board);
		const struct slow2048 sparse = twenty48_random_nibbles(&seed, 13);
		check_canonical(&sparse);
	}
	for (size_t i = 0; i < twenty48_odd_boards; i++) {
		board = twenty48_odd_board(i);
		check_canonical(&board);
	}
}

Test(twenty48_evaluators, symmetric_evaluators_value_symmetric_boards_alike)
{
	cr_assert(smx_2048_score.symmetric && smx_2048_heuristic.symmetric && !smx_2048_seed.symmetric);
	uint64_t seed = 88;
	struct slow2048 board = twenty48_board(0);
	unsigned different = 0;
	for (unsigned i = 0; i < fewer(4000); i++) {
		twenty48_random(&board, &seed);
		const struct slow2048 nibbles = twenty48_random_nibbles(&seed, i % 16);
		const struct slow2048 *boards[] = {&board, &nibbles};
		for (unsigned n = 0; n < 2; n++)
			for (unsigned which = 1; which < 8; which++) {
				const struct slow2048 image = slow2048_symmetry(boards[n], which);
				for (const struct smx_evaluator *const *e = smx_2048.evaluators; *e; e++) {
					const bool alike = twenty48_value(*e, boards[n]) == twenty48_value(*e, &image);
					cr_assert(alike || !(*e)->symmetric, "%s: %016" PRIx64 " by %u", (*e)->name,
					          twenty48_bits(boards[n]), which);
					different += !alike;
				}
			}
	}
	cr_assert_gt(different, 0u);
}

/* ---- evaluators ---- */

static double signed_root(double x)
{
	return x < 0 ? -sqrt(-x) : sqrt(x);
}

static double signed_square(double x)
{
	return x < 0 ? -x * x : x * x;
}

static void expect_value(const struct smx_evaluator *evaluator, const struct slow2048 *board, double expected,
                         double units)
{
	const double value = (double)twenty48_value(evaluator, board), truth = ldexp(expected, (int)evaluator->scale_bits);
	cr_assert(fabs(value - truth) <= units + 1e-13 * fabs(truth), "%s of %016" PRIx64 ": %.3f not %.3f units",
	          evaluator->name, twenty48_bits(board), value, truth);
}

/* seed: rounded once, from doubles that may differ in their last bits; the other two are made of what it says. score: each cell may be
 * rounded twice, for its row and for its column. heuristic: eight lines. */
static void check_values(const struct slow2048 *board)
{
	expect_value(&smx_2048_seed, board, slow2048_seed(board), 1);
	const double seed = ldexp((double)twenty48_value(&smx_2048_seed, board), -(int)smx_2048_seed.scale_bits);
	expect_value(&smx_2048_seed_root, board, signed_root(seed), 1);
	expect_value(&smx_2048_seed_square, board, signed_square(seed), 1);
	expect_value(&smx_2048_score, board, slow2048_score(board), 16);
	expect_value(&smx_2048_heuristic, board, slow2048_heuristic(board), 8);
	for (const struct smx_evaluator *const *e = smx_2048.evaluators; *e; e++) {
		const smx_value value = twenty48_value(*e, board);
		cr_assert(value >= (*e)->lo && value <= (*e)->hi, "%s of %016" PRIx64 ": %" PRId64, (*e)->name,
		          twenty48_bits(board), value);
	}
}

Test(twenty48_evaluators, evaluators_say_what_they_are_said_to_say)
{
	cr_assert_eq(smx_2048_seed.scale_bits, 24u);
	cr_assert_eq(smx_2048_seed.loss, -(INT64_C(1000000000) * (1 << 24)));
	cr_assert_eq(smx_2048_score.scale_bits, 11u);
	cr_assert_eq(smx_2048_score.loss, 0);
	cr_assert_eq(smx_2048_heuristic.scale_bits, 8u);
	cr_assert_eq(smx_2048_heuristic.loss, smx_2048_heuristic.lo);
	cr_assert(smx_2048_seed_root.loss == smx_2048_seed.loss && smx_2048_seed_square.loss == smx_2048_seed.loss);
	uint64_t seed = 24;
	struct slow2048 board = twenty48_board(0);
	for (unsigned i = 0; i < fewer(20000); i++) {
		twenty48_random(&board, &seed);
		check_values(&board);
		const struct slow2048 nibbles = twenty48_random_nibbles(&seed, i % 16);
		check_values(&nibbles);
	}
}

/* Uphill, one cell at a time. */
static smx_value climb(const struct smx_evaluator *evaluator, int direction, uint64_t *seed)
{
	uint64_t bits = twenty48_bits(&(struct slow2048[]){twenty48_random_nibbles(seed, 6)}[0]);
	smx_value best = 0;
	for (unsigned i = 0; i < 3000; i++) {
		const unsigned shift = 4 * smx_random_below(seed, 16);
		const uint64_t other =
			i ? (bits & ~(UINT64_C(15) << shift)) | (uint64_t)smx_random_below(seed, 16) << shift : bits;
		const struct slow2048 board = twenty48_board(other);
		if (slow2048_tiles(&board) == 0)
			continue;
		const smx_value value = direction * twenty48_value(evaluator, &board);
		if (i == 0 || value >= best) {
			best = value;
			bits = other;
		}
	}
	return direction * best;
}

Test(twenty48_evaluators, bounds_hold_on_the_best_and_the_worst_of_boards)
{
	uint64_t seed = 31;
	for (const struct smx_evaluator *const *e = smx_2048.evaluators; *e; e++) {
		smx_value lowest = INT64_MAX, highest = INT64_MIN;
		for (unsigned i = 0; i < fewer(16); i++) {
			const smx_value low = climb(*e, -1, &seed), high = climb(*e, 1, &seed);
			lowest = low < lowest ? low : lowest;
			highest = high > highest ? high : highest;
		}
		fprintf(stderr, "%s: [%" PRId64 ", %" PRId64 "] found, [%" PRId64 ", %" PRId64 "] stated\n", (*e)->name, lowest,
		        highest, (*e)->lo, (*e)->hi);
		cr_assert(lowest >= (*e)->lo && highest <= (*e)->hi, "%s", (*e)->name);
	}
}

/* Those that a user might write: without a fold, under another name. */
Test(twenty48_evaluators, evaluators_pass_the_check_of_a_users_own)
{
	for (const struct smx_evaluator *const *e = smx_2048.evaluators; *e; e++) {
		struct smx_evaluator copy = **e;
		copy.name = "copy";
		struct smx_error error;
		cr_assert_eq(smx_evaluator_check(&smx_2048, &copy, &error), SMX_OK, "%s: %s", (*e)->name, error.message);
		copy.fold = NULL;
		cr_assert_eq(smx_evaluator_check(&smx_2048, &copy, &error), SMX_OK, "%s: %s", (*e)->name, error.message);
		copy.symmetric = true;
		cr_assert_eq(smx_evaluator_check(&smx_2048, &copy, NULL), (*e)->symmetric ? SMX_OK : SMX_ERR_IMPURE, "%s",
		             (*e)->name);
	}
}

/* ---- hooks that are only speed ---- */

static const struct smx_evaluator *next_folded(unsigned *from)
{
	while (smx_2048.evaluators[*from] && !smx_2048.evaluators[*from]->fold)
		(*from)++;
	return smx_2048.evaluators[*from] ? smx_2048.evaluators[(*from)++] : NULL;
}

/* What an outcome's afterstates are worth as leaves, listed and evaluated; false: there is none. */
static bool listed_value(const void *expansion, unsigned outcome, const struct smx_evaluator *evaluator,
                         struct smx_arena *arena, smx_value *best)
{
	const struct smx_arena_mark mark = smx_arena_mark(arena);
	struct smx_afterstates list;
	const bool open = smx_2048.afterstates(expansion, outcome, arena, &list) == SMX_NODE_OPEN;
	for (size_t i = 0; open && i < list.count; i++) {
		smx_value value;
		evaluator->evaluate(evaluator->context, (const unsigned char *)list.states + i * smx_2048.state_size, 1, 0,
		                    &value);
		if (i == 0 || value > *best)
			*best = value;
	}
	smx_arena_release(arena, mark);
	return open;
}

struct folds {
	unsigned nodes, lost, mixed;
};

/* One mask of outcomes after the other: all, and some at random. */
static void check_fold(const struct slow2048 *board, const struct smx_evaluator *evaluator, uint64_t *seed,
                       struct smx_arena *arena, struct folds *folds)
{
	const struct smx_position position = twenty48_position(board, SLOW2048_WAITS);
	const unsigned count = slow2048_outcomes(board);
	const struct smx_arena_mark mark = smx_arena_mark(arena);
	const void *expansion = smx_2048.open(position.state, arena);
	smx_value expected[SMX_OUTCOMES_MAX], values[SMX_OUTCOMES_MAX];
	uint64_t lost = 0;
	for (unsigned i = 0; i < count; i++)
		lost |= (uint64_t)!listed_value(expansion, i, evaluator, arena, &expected[i]) << i;
	const uint64_t all = (UINT64_C(1) << count) - 1;
	for (unsigned n = 0; n < 3; n++) {
		const uint64_t mask = n ? smx_random(seed) & all : all;
		const uint64_t found = smx_2048.fold(expansion, evaluator, mask, 0, values);
		cr_assert_eq(found, lost & mask, "%s, %016" PRIx64 ", outcomes %" PRIx64 ": lost %" PRIx64, evaluator->name,
		             twenty48_bits(board), mask, found);
		for (unsigned i = 0; i < count; i++)
			if ((mask & ~lost) >> i & 1)
				cr_assert_eq(values[i], expected[i], "%s, %016" PRIx64 ", outcome %u: %" PRId64 " not %" PRId64,
				             evaluator->name, twenty48_bits(board), i, values[i], expected[i]);
	}
	smx_arena_release(arena, mark);
	folds->nodes++;
	folds->lost += lost != 0;
	folds->mixed += lost != 0 && lost != all;
}

Test(twenty48_evaluators, folded_leaves_are_worth_what_listed_ones_are)
{
	struct smx_arena *arena = smx_arena_create(NULL);
	unsigned from = 0, evaluators = 0;
	for (const struct smx_evaluator *e; (e = next_folded(&from)); evaluators++) {
		struct folds folds = {.nodes = 0};
		uint64_t seed = 64;
		struct slow2048 board = twenty48_board(0);
		for (unsigned tiles = 0; tiles <= 16; tiles++) /* none, and one in each cell */
			for (uint64_t tile = 1; tile < 16; tile++) {
				board = twenty48_board(tiles ? tile << 4 * (tiles - 1) : 0);
				check_fold(&board, e, &seed, arena, &folds);
			}
		for (size_t i = 0; i < twenty48_odd_boards; i++) {
			board = twenty48_odd_board(i);
			if (slow2048_tiles(&board) < 16)
				check_fold(&board, e, &seed, arena, &folds);
		}
		for (unsigned i = 0; i < fewer(8000); i++) {
			twenty48_random(&board, &seed);
			if (slow2048_tiles(&board) < 16)
				check_fold(&board, e, &seed, arena, &folds);
			/* crowded, so that some outcomes are lost */
			const struct slow2048 crowded = twenty48_random_nibbles(&seed, 1);
			if (slow2048_tiles(&crowded) < 16)
				check_fold(&crowded, e, &seed, arena, &folds);
		}
		fprintf(stderr, "%s: %u nodes folded, %u with lost outcomes, %u with others too\n", e->name, folds.nodes,
		        folds.lost, folds.mixed);
		cr_assert(folds.lost > 100 && folds.mixed > 10);
	}
	smx_arena_destroy(arena);
	cr_assert_gt(evaluators, 0u);
}

/* ---- the span ---- */

/* Tiles of four neighbouring ranks, so that much can merge in one turn, and in the next ones; at least one cell is empty. */
static struct slow2048 mergeable(uint64_t *seed)
{
	const unsigned least = 1 + smx_random_below(seed, 12), empty = 1 + smx_random_below(seed, 6);
	uint64_t bits = 0;
	for (unsigned cell = 0; cell < 16; cell++) {
		const bool is_empty = cell == 0 || smx_random_below(seed, 15) < empty - 1;
		bits = bits << 4 | (is_empty ? 0 : least + smx_random_below(seed, 4));
	}
	return bits ? twenty48_board(bits) : twenty48_board(1);
}

static smx_value slack_of(struct smx_search *search, const struct slow2048 *board, unsigned depth)
{
	const struct smx_position position = twenty48_position(board, SLOW2048_WAITS);
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_2048);
	options.star = SMX_STAR_NONE; /* which asks for no bounds */
	options.evaluator = &smx_2048_heuristic;
	options.depth_plies = depth;
	options.outcome_values = true;
	const struct smx_result *result;
	cr_assert_eq(smx_search_run(search, &position, &options, &result, NULL), SMX_OK);
	smx_value lower = INT64_MIN, upper = INT64_MAX, most = INT64_MIN;
	smx_2048.span(position.state, &smx_2048_heuristic, 0, depth, &lower, &upper);
	for (unsigned i = 0; i < result->outcome_count; i++)
		most = result->outcome_values[i] > most ? result->outcome_values[i] : most;
	cr_assert_leq(lower, most);
	cr_assert_leq(most, upper,
	              "%016" PRIx64 ", depth %u: an outcome is worth %" PRId64 ", at most %" PRId64 " was said",
	              twenty48_bits(board), depth, most, upper);
	return upper - most;
}

/* An evaluator of a user's, to whom a lost game is no loss. */
Test(twenty48_evaluators, a_span_holds_whatever_a_lost_game_is_worth)
{
	struct smx_evaluator carefree = smx_2048_heuristic;
	carefree.name = "carefree";
	carefree.loss = 0;
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_2048, NULL, &search), SMX_OK);
	const struct smx_position position = twenty48_read("2,4096,2,64/4,16,16,2/4,128,16,4/2,8,2048,8");
	for (unsigned depth = 2; depth <= 4; depth++) {
		struct smx_search_options options;
		smx_search_options_init(&options, &smx_2048);
		options.evaluator = &carefree;
		options.depth_plies = depth;
		options.star = SMX_STAR_NONE;
		const struct smx_result *result;
		cr_assert_eq(smx_search_run(search, &position, &options, &result, NULL), SMX_OK);
		const struct smx_result plain = *result;
		options.no_frames = true;
		for (options.star = SMX_STAR1; options.star <= SMX_STAR_ETC; options.star++) {
			cr_assert_eq(smx_search_run(search, &position, &options, &result, NULL), SMX_OK);
			cr_assert(result->value == plain.value && result->ties == plain.ties, "depth %u star %d: %" PRId64, depth,
			          (int)options.star, result->value);
		}
	}
	smx_search_destroy(search);
}

Test(twenty48_evaluators, no_outcome_is_worth_more_than_the_span_says)
{
	static const uint64_t boards[] = {
		0x0455000000000000, 0x0445566778899aab, 0x0444455556666777, 0x0055667788990000, 0x0fffeeeeddddcccc,
		0x0111122223333444, 0x04456789abcdef00, 0x0555555555555555, 0x0444444444444444, 0x0566778899aabbcc,
		0x0445678000000000, 0x0446770000000000, 0x0445000000000000,
	};
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_2048, NULL, &search), SMX_OK);
	smx_value least[4] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
	uint64_t seed = 11;
	for (unsigned i = 0; i < fewer(600); i++) {
		struct slow2048 board = i < sizeof boards / sizeof *boards ? twenty48_board(boards[i]) : mergeable(&seed);
		const unsigned deepest = slow2048_tiles(&board) >= 13 || i < sizeof boards / sizeof *boards ? 3
		                         : slow2048_tiles(&board) >= 8                                      ? 2
		                                                                                            : 1;
		for (unsigned depth = 1; depth <= deepest; depth++) {
			const smx_value slack = slack_of(search, &board, depth);
			least[depth] = slack < least[depth] ? slack : least[depth];
		}
	}
	for (unsigned depth = 1; depth <= 3; depth++)
		fprintf(stderr, "depth %u: at least %.1f points above\n", depth, (double)least[depth] / 256);
	smx_value lower = -1, upper = 1;
	const struct smx_position any = twenty48_read("128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0 -");
	smx_2048.span(any.state, &smx_2048_score, 0, 2, &lower, &upper); /* of this one nothing is known */
	smx_2048.span(any.state, &smx_2048_heuristic, 0, 4, &lower, &upper);
	cr_assert(lower == -1 && upper == 1);
	smx_search_destroy(search);
}
