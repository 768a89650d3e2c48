/* The seed guide's player of 2048 against the evaluator that is made after it, and against the slow implementation of these tests, each
 * without the other. */
#include "tests/support/golden.h"
#include "tests/support/run.h"
#include "tests/support/twenty48.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTHS = 3, SCALE_BITS = 24 };

/* The guide's depth d is ours less one. */
struct guide {
	struct slow2048 board;
	double value, best[DEPTHS];
	int way[DEPTHS]; /* SLOW2048_PASS: none */
};

static double number(const char *text)
{
	char *end;
	const double value = strtod(text, &end);
	cr_assert(end != text && *end == '\0', "\"%s\" is not a number", text);
	return value;
}

static bool next_guide(struct golden_file *file, struct guide *guide)
{
	struct golden_row row;
	do
		if (!golden_next(file, &row))
			return false;
	while (strcmp(row.column[0], "board") == 0); /* the names of the columns */
	cr_assert_eq(row.columns, 2u + 2 * DEPTHS);
	int outcome;
	cr_assert(slow2048_read(&guide->board, &outcome, row.column[0], strlen(row.column[0])), "line %zu", row.line);
	guide->value = number(row.column[1]);
	for (unsigned d = 0; d < DEPTHS; d++) {
		const char *way = row.column[2 + DEPTHS + d];
		guide->best[d] = number(row.column[2 + d]);
		guide->way[d] = strcmp(way, "-") == 0 ? SLOW2048_PASS : (int)golden_number(way);
	}
	return true;
}

static struct golden_file *open_guide(void)
{
	return golden_open("2048/seed-guide-values.tsv", 1, 1);
}

/* Each level of the tree rounds down by less than a unit, each leaf to the nearest; the guide's own sums are good to some 2^-50. */
static void expect_near(smx_value value, double guide, unsigned units, const struct slow2048 *board, unsigned depth)
{
	const double found = ldexp((double)value, -SCALE_BITS);
	cr_assert(fabs(found - guide) <= 1e-9 * fabs(guide) + ldexp(units, -SCALE_BITS),
	          "%016" PRIx64 ", depth %u: %.9f not %.9f", twenty48_bits(board), depth, found, guide);
}

Test(golden_2048, values_of_boards_are_the_guides)
{
	struct golden_file *file = open_guide();
	size_t checked = 0;
	for (struct guide guide; next_guide(file, &guide); checked++)
		expect_near(twenty48_value(&smx_2048_seed, &guide.board), guide.value, 1, &guide.board, 0);
	cr_assert(golden_close(file, checked));
}

static const struct smx_candidate *candidate_of(const struct smx_result *result, int way)
{
	for (size_t i = 0; i < result->candidate_count; i++)
		if (result->candidates[i].turn.step[0] == way)
			return &result->candidates[i];
	return NULL;
}

/* The guide plays the first of its best turns, and where floating point tells equal ones apart, any of them. */
Test(golden_2048, searches_find_the_guides_values_and_turns)
{
	struct golden_file *file = open_guide();
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_2048, NULL, &search), SMX_OK);
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_2048);
	options.evaluator = &smx_2048_seed;
	options.exact = SMX_EXACT_ALL;
	size_t checked = 0, tied = 0;
	for (struct guide guide; next_guide(file, &guide); checked++)
		for (unsigned d = 0; d < DEPTHS; d++) {
			options.depth_plies = d + 1;
			const struct smx_position position = twenty48_position(&guide.board, SLOW2048_PLACED);
			const struct smx_result *result = run(search, &position, &options);
			cr_assert_eq(result->kind == SMX_RESULT_LOSS, guide.way[d] == SLOW2048_PASS);
			expect_near(result->value, guide.best[d], d + 2, &guide.board, d + 1);
			if (guide.way[d] == SLOW2048_PASS)
				continue;
			const struct smx_candidate *played = candidate_of(result, guide.way[d]);
			cr_assert_not_null(played);
			cr_assert_eq(played->value, result->value, "%016" PRIx64 ", depth %u: the guide's way %d is not the best",
			             twenty48_bits(&guide.board), d + 1, guide.way[d]);
			cr_assert(result->ties > 1 || result->turn.step[0] == guide.way[d]);
			tied += result->ties > 1;
		}
	fprintf(stderr, "%zu of %zu searches have several best turns\n", tied, checked * DEPTHS);
	smx_search_destroy(search);
	cr_assert(golden_close(file, checked));
}

/* ---- the slow implementation ---- */

static long long rounded_seed(const void *context, const struct slow2048 *board)
{
	(void)context;
	return llrint(ldexp(slow2048_seed(board), SCALE_BITS));
}

Test(golden_2048, the_slow_search_is_the_guides)
{
	const struct slow2048_evaluator evaluator = {.leaf = rounded_seed, .loss = -(1000000000LL << SCALE_BITS)};
	struct golden_file *file = open_guide();
	size_t checked = 0;
	for (struct guide guide; next_guide(file, &guide); checked++) {
		cr_assert(fabs(slow2048_seed(&guide.board) - guide.value) < 1e-12);
		for (unsigned d = 0; d < DEPTHS; d++)
			expect_near(slow2048_decision(&guide.board, d + 1, &evaluator), guide.best[d], d + 2, &guide.board, d + 1);
	}
	cr_assert(golden_close(file, checked));
}
