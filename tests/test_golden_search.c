/* The search against the golden data: candidates, their order, values at depth 2 and 3, the turns chosen. */
#include "tests/support/dicechess.h"
#include "tests/support/golden.h"
#include "tests/support/run.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

enum { SCALE_BITS = 16, DEPTH2_TOTAL = 216, DEPTH3_TOTAL = 216 * 216 };

/* Depth 3 is searched without pruning, so chance nodes are time: about 20 microseconds each in a release build. The
 * tables' own counts choose the rows: those of at most this many are searched to depth 3, every row to depth 2. In
 * release these are 52 of the 65 rows of depth3.tsv, 6 of the 10 bench positions (without the four heaviest middle
 * games) and 9 of the 17 rows of depth3_full.tsv: 1.3 million nodes in all. */
enum { NODES_MOST = 40000, NODES_MOST_SLOW_BUILD = 5400 };

static bool affordable(const char *nodes)
{
	return golden_number(nodes) <= (golden_slow_build() ? NODES_MOST_SLOW_BUILD : NODES_MOST);
}

/* One candidate of a row: turn=prerank:sum or turn=prerank:sum2:sum3. */
struct candidate {
	char *turn;
	long long prerank, sum2, sum3;
};

/* Split a column in place; the caller frees. */
static struct candidate *read_candidates(char *text, size_t *count)
{
	size_t room = 0;
	struct candidate *list = NULL;
	*count = 0;
	char *rest = text;
	for (char *item; (item = strtok_r(rest, ";", &rest));) {
		if (*count == room)
			list = realloc(list, (room = 2 * room + 64) * sizeof *list);
		struct candidate *c = &list[(*count)++];
		char *sums = strchr(item, '=');
		cr_assert_not_null(sums, "not a candidate: %s", item);
		*sums++ = '\0';
		*c = (struct candidate){.turn = item};
		cr_assert_geq(sscanf(sums, "%lld:%lld:%lld", &c->prerank, &c->sum2, &c->sum3), 2, "no sums: %s", sums);
	}
	return list;
}

static smx_value exact_depth2(long long sum)
{
	const wide scaled = (wide)sum * (1 << SCALE_BITS);
	return (smx_value)(scaled / DEPTH2_TOTAL - (scaled % DEPTH2_TOTAL < 0));
}

/* Depth 3 rounds down twice, by less than one unit each time. */
static bool is_depth3(smx_value value, long long sum)
{
	const wide scaled = (wide)sum * (1 << SCALE_BITS), found = (wide)value * DEPTH3_TOTAL;
	return found <= scaled && found > scaled - 2 * (wide)DEPTH3_TOTAL;
}

static struct smx_search *new_search(void)
{
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	return search;
}

static void expect_candidate(const struct smx_candidate *candidate, const struct candidate *expected, size_t line,
                             size_t i)
{
	char text[SMX_TEXT_MAX];
	smx_dicechess.format_turn(&candidate->turn, text);
	cr_assert_str_eq(text, expected->turn, "line %zu, candidate %zu: %s", line, i, text);
	cr_assert_eq(candidate->prerank, expected->prerank * (1 << SCALE_BITS), "line %zu, candidate %zu: prerank %" PRId64,
	             line, i, candidate->prerank);
	cr_assert(candidate->completed);
}

static void expect_depth2(const struct smx_result *result, const struct candidate *expected, size_t count, size_t line)
{
	cr_assert_eq(result->candidate_count, count, "line %zu: %zu candidates", line, result->candidate_count);
	for (size_t i = 0; i < count; i++) {
		expect_candidate(&result->candidates[i], &expected[i], line, i);
		cr_assert_eq(result->candidates[i].value, exact_depth2(expected[i].sum2), "line %zu, candidate %zu: %" PRId64,
		             line, i, result->candidates[i].value);
	}
}

/* The best turns: as many as the search counts ties, and each of them. */
static void expect_best(const struct smx_result *result, char *turns, size_t line)
{
	size_t count = 0;
	char *rest = turns;
	for (char *turn; (turn = strtok_r(rest, ";", &rest)); count++) {
		bool found = false;
		for (size_t i = 0; i < result->candidate_count; i++) {
			char text[SMX_TEXT_MAX];
			smx_dicechess.format_turn(&result->candidates[i].turn, text);
			found = found || (result->candidates[i].value == result->value && strcmp(text, turn) == 0);
		}
		cr_assert(found, "line %zu: %s is a best turn", line, turn);
	}
	cr_assert_eq(result->ties, count, "line %zu: %zu ties", line, result->ties);
}

/* The reference ranks turns, not afterstates. */
Test(golden_search, depth_2_is_the_reference_search)
{
	struct golden_file *file = golden_open("depth2.tsv", 2, 5);
	struct smx_search *search = new_search();
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.exact = SMX_EXACT_ALL;
	options.width_counts = SMX_WIDTH_PATHS;
	options.prerank = &smx_dicechess_material;
	size_t checked = 0;
	for (struct golden_row row; golden_next(file, &row);) {
		cr_assert_eq(row.columns, 8);
		options.evaluator = smx_game_evaluator(&smx_dicechess, row.column[2]);
		if (!options.evaluator)
			continue; /* "aggressive" is not one of ours */
		options.width = (size_t)golden_number(row.column[3]);
		const struct smx_position position = dicechess_read_roll(golden_position(row.column[0]), row.column[1]);
		const struct smx_result *result = run(search, &position, &options);
		size_t count;
		struct candidate *expected = read_candidates(row.column[7], &count);
		cr_assert_eq(count, (size_t)golden_number(row.column[4]));
		expect_depth2(result, expected, count, row.line);
		cr_assert_eq(result->value, exact_depth2(golden_number(row.column[5])), "line %zu", row.line);
		expect_best(result, row.column[6], row.line);
		free(expected);
		checked++;
	}
	smx_search_destroy(search);
	cr_assert(golden_close(file, checked));
}

/* Columns, by their number, of a table of depth-3 decisions. */
struct depth3_columns {
	unsigned dfen, count, nodes, sum2, sum3, candidates; /* sum2 and sum3 are the best candidates' */
};

static void expect_depth3(const char *name, const struct depth3_columns *at, size_t width)
{
	struct golden_file *file = golden_open(name, 1, 1);
	struct smx_search *search = new_search();
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.exact = SMX_EXACT_ALL;
	options.evaluator = options.prerank = &smx_dicechess_material;
	options.width = width;
	size_t checked = 0, deep = 0;
	for (struct golden_row row; golden_next(file, &row); checked++) {
		cr_assert_gt(row.columns, at->candidates);
		const struct smx_position position = dicechess_read(row.column[at->dfen]);
		size_t count;
		struct candidate *expected = read_candidates(row.column[at->candidates], &count);
		cr_assert_eq(count, (size_t)golden_number(row.column[at->count]));

		options.depth_plies = 2;
		const struct smx_result *result = run(search, &position, &options);
		expect_depth2(result, expected, count, row.line);
		cr_assert_eq(result->value, exact_depth2(golden_number(row.column[at->sum2])), "line %zu: best at depth 2",
		             row.line);

		if (affordable(row.column[at->nodes])) {
			options.depth_plies = 3;
			result = run(search, &position, &options);
			cr_assert_eq(result->candidate_count, count);
			const long long best = golden_number(row.column[at->sum3]);
			for (size_t i = 0; i < count; i++) {
				const struct smx_candidate *candidate = &result->candidates[i];
				expect_candidate(candidate, &expected[i], row.line, i);
				cr_assert(is_depth3(candidate->value, expected[i].sum3),
				          "line %zu, candidate %zu: %" PRId64 " at depth 3", row.line, i, candidate->value);
				if (memcmp(&candidate->turn, &result->turn, sizeof result->turn) == 0)
					cr_assert_eq(expected[i].sum3, best, "line %zu: candidate %zu is chosen", row.line, i);
			}
			cr_assert(is_depth3(result->value, best), "line %zu: best at depth 3 is %" PRId64, row.line, result->value);
			deep++;
		}
		free(expected);
	}
	smx_search_destroy(search);
	printf("%s: %zu rows searched to depth 3\n", name, deep);
	cr_assert_gt(deep, 0u);
	cr_assert(golden_close(file, checked));
}

static const struct depth3_columns depth3_columns = {
	.dfen = 1, .count = 3, .nodes = 4, .sum2 = 6, .sum3 = 7, .candidates = 8};

Test(golden_search, depth_3_of_eight_candidates_is_the_exact_sum_rounded_down)
{
	expect_depth3("depth3.tsv", &depth3_columns, 8);
}

Test(golden_search, depth_3_of_every_turn_is_the_exact_sum_rounded_down)
{
	expect_depth3("depth3_full.tsv", &depth3_columns, 0);
}

Test(golden_search, depth_3_of_the_bench_positions_is_the_exact_sum_rounded_down)
{
	static const struct depth3_columns columns = {
		.dfen = 1, .count = 3, .nodes = 4, .sum2 = 11, .sum3 = 12, .candidates = 13};
	expect_depth3("bench.tsv", &columns, 8);
}

/* Full width, the game's own evaluators, depths 2 and 3: turns that take something, save the king or promote are among
 * those that a good engine plays. */
Test(golden_search, decisions_are_those_of_a_good_engine)
{
	struct golden_file *file = golden_open("fixtures/decisions.tsv", 1, 1);
	struct smx_search *search = new_search();
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.exact = SMX_EXACT_ALL;
	size_t checked = 0;
	for (struct golden_row row; golden_next(file, &row); checked++) {
		const struct smx_position position = dicechess_read(row.column[0]);
		for (options.depth_plies = 2; options.depth_plies <= 3; options.depth_plies++)
			for (const struct smx_evaluator *const *evaluator = dicechess_oracle_evaluators; *evaluator; evaluator++) {
				options.evaluator = options.prerank = *evaluator;
				const struct smx_result *result = run(search, &position, &options);
				char text[SMX_TEXT_MAX], acceptable[1024], wanted[SMX_TEXT_MAX + 2];
				smx_dicechess.format_turn(&result->turn, text);
				snprintf(acceptable, sizeof acceptable, ";%s;", row.column[2]);
				snprintf(wanted, sizeof wanted, ";%s;", text);
				cr_assert_not_null(strstr(acceptable, wanted), "line %zu (%s), depth %u, %s: %s", row.line,
				                   row.column[1], options.depth_plies, (*evaluator)->name, text);
				cr_assert_eq(result->kind == SMX_RESULT_PASS, strcmp(row.column[2], "pass") == 0, "line %zu", row.line);
			}
	}
	smx_search_destroy(search);
	cr_assert(golden_close(file, checked));
}
