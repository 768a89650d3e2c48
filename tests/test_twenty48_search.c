/* The search on 2048 against a slow expectimax that shares nothing with it but the values of leaves: every level of pruning, with and
 * without table, frames and folded leaves, on one thread and on several. */
#include "tests/support/golden.h"
#include "tests/support/run.h"
#include "tests/support/threads.h"
#include "tests/support/twenty48.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is to be found ---- */

struct expected {
	enum smx_result_kind kind;
	smx_value value;
	unsigned count, ties;
	struct candidate {
		enum slow2048_way way;
		smx_value value, prerank;
		int64_t lost; /* weight of the outcomes after it that leave no turn; -1: there are none at this depth */
		uint32_t total;
	} candidate[4]; /* in canonical order */
	unsigned outcome_count;
	smx_value outcome_values[SMX_OUTCOMES_MAX];
	uint64_t outcomes_lost;
};

static long long leaf(const void *evaluator, const struct slow2048 *board)
{
	return twenty48_value(evaluator, board);
}

static struct slow2048_evaluator slow_of(const struct smx_evaluator *evaluator)
{
	return (struct slow2048_evaluator){.leaf = leaf, .context = evaluator, .loss = evaluator->loss};
}

static unsigned outcome_weight(unsigned outcome)
{
	return outcome % 2 ? 1 : 9;
}

/* The outcomes of a board that leave no turn. */
static uint64_t lost_outcomes(const struct slow2048 *board)
{
	uint64_t lost = 0;
	struct slow2048_turn turns[4];
	for (unsigned i = 0; i < slow2048_outcomes(board); i++) {
		const struct slow2048 placed = slow2048_place(board, (int)i);
		if (slow2048_turns(&placed, turns) == 0)
			lost |= UINT64_C(1) << i;
	}
	return lost;
}

static void add_candidate(struct expected *expected, struct candidate new)
{
	unsigned at = expected->count++;
	for (; at > 0 && expected->candidate[at - 1].prerank < new.prerank; at--)
		expected->candidate[at] = expected->candidate[at - 1];
	expected->candidate[at] = new;
}

static struct expected expect_decision(const struct slow2048 *board, const struct smx_search_options *options)
{
	struct expected expected = {.kind = SMX_RESULT_LOSS, .value = options->evaluator->loss};
	const struct slow2048_evaluator slow = slow_of(options->evaluator);
	struct slow2048_turn turns[4];
	const unsigned count = slow2048_turns(board, turns);
	for (unsigned i = 0; i < count; i++) {
		const struct slow2048 *after = &turns[i].after;
		struct candidate c = {.way = turns[i].way, .prerank = twenty48_value(options->prerank, after), .lost = -1};
		c.value = slow2048_afterstate(after, options->depth_plies - 1, &slow);
		if (options->depth_plies > 1) {
			c.lost = 0;
			c.total = 10 * (16 - slow2048_tiles(after));
			for (uint64_t lost = lost_outcomes(after); lost; lost &= lost - 1)
				c.lost += outcome_weight((unsigned)__builtin_ctzll(lost));
		}
		if (i == 0 || c.value > expected.value) {
			expected.value = c.value;
			expected.ties = 0;
		}
		expected.ties += c.value == expected.value;
		expected.kind = c.way == SLOW2048_PASS ? SMX_RESULT_PASS : SMX_RESULT_TURN;
		add_candidate(&expected, c);
	}
	return expected;
}

static struct expected expect_value(const struct slow2048 *board, const struct smx_search_options *options)
{
	const struct slow2048_evaluator slow = slow_of(options->evaluator);
	struct expected expected = {.kind = SMX_RESULT_VALUE, .outcomes_lost = lost_outcomes(board)};
	expected.value = slow2048_afterstate(board, options->depth_plies, &slow);
	expected.outcome_count = slow2048_outcomes(board);
	for (unsigned i = 0; i < expected.outcome_count; i++) {
		const struct slow2048 placed = slow2048_place(board, (int)i);
		expected.outcome_values[i] = slow2048_decision(&placed, options->depth_plies, &slow);
	}
	return expected;
}

static struct expected expect(const struct smx_position *position, const struct smx_search_options *options)
{
	const struct slow2048 board = twenty48_board(smx_2048_board(position->state));
	const struct slow2048 placed = slow2048_place(&board, position->outcome);
	return position->outcome == SMX_NO_OUTCOME ? expect_value(&board, options) : expect_decision(&placed, options);
}

/* ---- the ways to search ---- */

enum { ALONE, COUNTS = 4, TABLES = 3, STARS = 4, WAYS = STARS * TABLES * 2 * 2 * COUNTS };
static const unsigned thread_counts[COUNTS] = {ALONE, 1, 2, 4};
static const size_t table_bytes[TABLES] = {0, SMX_TABLE_BYTES_MIN, 1 << 22};

struct tools {
	struct smx_search *search;
	struct smx_table *table[TABLES];
	struct threads *threads[COUNTS];
	uint64_t searches, tasks, table_hits, frames, folded, cutoffs, inexact;
};

static struct tools tools_create(void)
{
	struct tools tools = {.searches = 0};
	cr_assert_eq(smx_search_create(&smx_2048, NULL, &tools.search), SMX_OK);
	for (unsigned i = 1; i < TABLES; i++)
		cr_assert_eq(smx_table_create(table_bytes[i], &tools.table[i], NULL), SMX_OK);
	for (unsigned i = 1; i < COUNTS; i++)
		tools.threads[i] = threads_create(thread_counts[i], i);
	return tools;
}

static void tools_destroy(struct tools *tools)
{
	fprintf(stderr,
	        "%" PRIu64 " searches: %" PRIu64 " parts taken over, %" PRIu64 " table hits, %" PRIu64 " frames, %" PRIu64
	        " outcomes folded, %" PRIu64 " cutoffs, %" PRIu64 " inexact candidates\n",
	        tools->searches, tools->tasks, tools->table_hits, tools->frames, tools->folded, tools->cutoffs,
	        tools->inexact);
	smx_search_destroy(tools->search);
	for (unsigned i = 1; i < TABLES; i++)
		smx_table_destroy(tools->table[i]);
	for (unsigned i = 1; i < COUNTS; i++)
		threads_destroy(tools->threads[i]);
}

/* Way 0 is plain expectiminimax, alone. */
static void use_way(struct smx_search_options *options, unsigned way, const struct tools *tools)
{
	options->exact = way % 5 == 4 ? SMX_EXACT_ALL : way % 5 == 3;
	options->exact_only = way % 7 == 6;
	options->probe_replies = way % 3;
	options->leaves = way % 2 ? SMX_LEAVES_LIST : SMX_LEAVES_FOLD;
	way /= 2;
	options->no_frames = way % 2;
	way /= 2;
	options->star = (enum smx_star)(way % STARS);
	way /= STARS;
	options->table = tools->table[way % TABLES];
	way /= TABLES;
	options->splitter = tools->threads[way] ? threads_splitter(tools->threads[way]) : NULL;
	options->share_least_ms = -1;
}

static void add(struct tools *tools, const struct smx_counters *counters)
{
	tools->searches++;
	tools->tasks += counters->tasks;
	tools->table_hits += counters->table_hits;
	tools->frames += counters->frames;
	tools->folded += counters->outcomes_folded;
	tools->cutoffs += counters->cutoffs_low + counters->cutoffs_high + counters->cutoffs_probe + counters->cutoffs_etc;
}

static void compare_candidate(const struct smx_candidate *c, const struct candidate *x, bool ties, bool must_be_exact,
                              smx_value best, const char *what)
{
	const bool pass = x->way == SLOW2048_PASS;
	cr_assert(c->completed && c->prerank == x->prerank, "%s", what);
	cr_assert(c->turn.steps == !pass && (pass || c->turn.step[0] == x->way), "%s: another turn", what);
	cr_assert(c->exact || !(ties || must_be_exact), "%s: inexact", what);
	if (c->exact)
		cr_assert_eq(c->value, x->value, "%s: %" PRId64 " not %" PRId64, what, c->value, x->value);
	else
		cr_assert(c->value >= x->value && c->value < best, "%s: bound %" PRId64 " of %" PRId64, what, c->value,
		          x->value);
	if (ties || must_be_exact)
		cr_assert(c->loss_weight == x->lost && c->total == x->total, "%s: loses %" PRId64 " of %u", what,
		          c->loss_weight, c->total);
}

static void compare(const struct smx_result *r, const struct expected *x, const struct smx_search_options *options,
                    struct tools *tools, const char *what)
{
	cr_assert(!r->stopped && r->has_value && r->kind == x->kind, "%s: kind %d", what, (int)r->kind);
	cr_assert_eq(r->value, x->value, "%s: %" PRId64 " not %" PRId64, what, r->value, x->value);
	cr_assert_eq(r->counters.table_conflicts, 0u, "%s", what);
	if (x->kind == SMX_RESULT_VALUE) {
		cr_assert_eq(r->outcome_count, x->outcome_count, "%s", what);
		cr_assert_eq(r->outcomes_lost, x->outcomes_lost, "%s", what);
		cr_assert_eq(r->outcomes_won, 0u, "%s", what);
		for (unsigned i = 0; i < x->outcome_count; i++)
			cr_assert_eq(r->outcome_values[i], x->outcome_values[i], "%s: outcome %u", what, i);
	}
	cr_assert_eq(r->candidate_count, x->count, "%s", what);
	if (x->count == 0)
		return;
	cr_assert_eq(r->ties, x->ties, "%s: %zu ties, not %u", what, r->ties, x->ties);
	cr_assert_eq(r->depth_plies, options->depth_plies, "%s", what);
	bool is_first = true;
	for (unsigned i = 0; i < x->count; i++) {
		const struct smx_candidate *c = &r->candidates[i];
		const bool ties = x->candidate[i].value == x->value;
		compare_candidate(c, &x->candidate[i], ties, i < options->exact, x->value, what);
		if (ties && is_first)
			cr_assert(smx_turn_equal(&r->turn, &c->turn), "%s: not the first of the best", what);
		is_first = is_first && !ties;
		tools->inexact += !c->exact;
	}
}

static void check_way(struct tools *tools, const struct smx_position *position, struct smx_search_options options,
                      unsigned way, const struct expected *expected)
{
	use_way(&options, way, tools);
	const struct smx_result *result = run(tools->search, position, &options);
	char text[SMX_TEXT_MAX], what[SMX_TEXT_MAX + 160];
	smx_2048.format(position, text);
	snprintf(what, sizeof what, "%s, depth %u, %s, star %d%s%s%s, %u threads, way %u", text, options.depth_plies,
	         options.evaluator->name, (int)options.star, options.table ? ", table" : "",
	         options.no_frames ? ", no frames" : "", options.leaves == SMX_LEAVES_LIST ? ", list" : "",
	         options.splitter ? options.splitter->threads : ALONE, way);
	compare(result, expected, &options, tools, what);
	add(tools, &result->counters);
}

/* One way in `every`, others each time; fewer in a slow build. */
static void check_ways(struct tools *tools, const struct smx_position *position,
                       const struct smx_search_options *options, unsigned every, const struct expected *expected)
{
	static unsigned offset;
	every *= golden_slow_build() ? 2 : 1;
	for (unsigned way = offset++ % every; way < WAYS; way += every)
		check_way(tools, position, *options, way, expected);
}

/* ---- positions ---- */

struct place {
	const char *text;
	unsigned depth; /* as deep as the slow search goes in reasonable time */
	unsigned every; /* one way in so many */
};

static const struct place places[] = {
	/* early */
	{"0000000000000000 -", 2, 5},
	{"0000000000000000 4@2,3", 2, 5},
	{"0000000002000000", 2, 5},
	{"0000000002000000 -", 2, 5},
	{"0000000002000000 2@1,1", 3, 5},
	{"0,0,2,0/0,0,0,0/0,4,0,0/0,0,0,0", 3, 5},
	{"16,4,0,2/0,2,0,2/0,0,0,0/0,0,0,0", 3, 5},
	/* middle */
	{"128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0", 3, 1},
	{"128,8,4,0/32,64,2,0/16,4,0,0/2,4,0,0", 3, 1},
	{"16,0,0,0/2,2,0,0/32,64,16,4/4,8,8,2 -", 3, 2},
	{"2,0,0,0/64,4,64,2/8,16,2,16/2,64,4,2 4@1,4", 3, 1},
	/* late: some outcomes, or all, leave no turn */
	{"2,8,32,128/8,4,16,4/4,256,0,0/2,8,2,8", 3, 1},
	{"2,16,2,64/4,16,16,2/4,128,16,4/2,8,2,8", 3, 1},
	{"512,8,512,4/16,256,4,1024/4,32,8,2/2,2,16,4", 3, 1},
	{"2,4,8,16/4,8,16,32/8,16,32,64/16,32,64,0 -", 3, 1},
	{"2,4,8,16/4,8,16,32/8,16,32,64/16,32,64,0 2@4,4", 3, 1},
	{"2,4,2,4/4,2,4,2/2,4,2,4/4,2,4,0 4@4,4", 3, 1},
	/* the highest tiles */
	{"32768,32768,16384,16384/8192,4096,32768,2/4,8,16,32768/2,0,4,32768", 3, 1},
	{"32768,16384,32768,16384/16384,32768,16384,32768/32768,16384,32768,16384/16384,32768,16384,2", 3, 1},
	/* lost, and as good as lost */
	{"2,4,2,4/4,2,4,2/2,4,2,4/4,2,4,2", 3, 1},
	{"2,4,2,4/4,2,4,2/8,16,8,16/2,2,32,64", 3, 1},
};
enum { PLACES = sizeof places / sizeof places[0] };

/* One that the game does not know, of which nothing is symmetric. */
static struct smx_evaluator plain_copy(const struct smx_evaluator *evaluator)
{
	struct smx_evaluator copy = *evaluator;
	copy.name = "copy";
	copy.fold = NULL;
	copy.symmetric = false;
	return copy;
}

static struct smx_search_options options_of(const struct smx_evaluator *evaluator, unsigned depth)
{
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_2048);
	options.evaluator = evaluator;
	options.prerank = evaluator;
	options.depth_plies = depth;
	options.outcome_values = true;
	return options;
}

static void check_evaluator(const struct smx_evaluator *evaluator)
{
	struct tools tools = tools_create();
	for (unsigned i = 0; i < PLACES; i++) {
		const struct smx_position position = twenty48_read(places[i].text);
		for (unsigned depth = 1; depth <= places[i].depth; depth++) {
			struct smx_search_options options = options_of(evaluator, depth);
			if (i % 2)
				options.prerank = &smx_2048_seed;
			options.outcome_values = position.outcome == SMX_NO_OUTCOME;
			const struct expected expected = expect(&position, &options);
			check_ways(&tools, &position, &options, places[i].every, &expected);
		}
	}
	cr_assert(tools.tasks > 0 && tools.table_hits > 0 && tools.frames > 0 && tools.cutoffs > 0);
	cr_assert(tools.folded > 0 || !evaluator->fold);
	tools_destroy(&tools);
}

Test(twenty48_search, every_way_is_the_slow_search_by_heuristic)
{
	check_evaluator(&smx_2048_heuristic);
}

Test(twenty48_search, every_way_is_the_slow_search_by_score)
{
	check_evaluator(&smx_2048_score);
}

Test(twenty48_search, every_way_is_the_slow_search_by_the_seed_evaluators)
{
	check_evaluator(&smx_2048_seed);
	check_evaluator(&smx_2048_seed_root);
	check_evaluator(&smx_2048_seed_square);
}

Test(twenty48_search, every_way_is_the_slow_search_by_a_users_evaluator)
{
	const struct smx_evaluator copy = plain_copy(&smx_2048_heuristic);
	check_evaluator(&copy);
}

/* Boards of random play, one way each. */
Test(twenty48_search, any_way_is_the_slow_search_on_boards_of_play)
{
	struct tools tools = tools_create();
	unsigned evaluators = 0;
	while (smx_2048.evaluators[evaluators])
		evaluators++;
	uint64_t seed = 11;
	struct slow2048 board = twenty48_board(0);
	for (unsigned i = 0; i < (golden_slow_build() ? 400 : 3000); i++) {
		twenty48_random(&board, &seed);
		struct smx_search_options options = options_of(smx_2048.evaluators[i % evaluators], 1 + i % 2);
		options.depth_plies += slow2048_tiles(&board) > 11; /* fewer outcomes */
		options.outcome_values = false;
		const struct smx_position position = twenty48_position(&board, SLOW2048_PLACED);
		const struct expected expected = expect(&position, &options);
		check_way(&tools, &position, options, i % WAYS, &expected);
	}
	tools_destroy(&tools);
}

/* ---- deeper ---- */

static const char *const deep_places[] = {
	"2,8,32,128/8,4,16,4/4,256,0,0/2,8,2,8",       "2,16,2,64/4,16,16,2/4,128,16,4/2,8,2,8",
	"512,8,512,4/16,256,4,1024/4,32,8,2/2,2,16,4", "32768,32768,16384,16384/8192,4096,32768,2/4,8,16,32768/2,0,4,32768",
	"4,32,16,4/8,2,8,2/256,64,4,2/32,4,0,0",       "2,4,8,16/4,8,16,32/8,16,32,64/16,32,64,0 -",
};
enum { DEEP_PLACES = sizeof deep_places / sizeof deep_places[0] };

/* What the plain search of the library itself finds, as if it was expected. */
static struct expected plain_result(struct tools *tools, const struct smx_position *position,
                                    struct smx_search_options options)
{
	options.star = SMX_STAR_NONE;
	options.leaves = SMX_LEAVES_LIST;
	options.exact = SMX_EXACT_ALL;
	const struct smx_result *r = run(tools->search, position, &options);
	struct expected expected = {.kind = r->kind, .value = r->value, .ties = (unsigned)r->ties};
	for (size_t i = 0; i < r->candidate_count; i++) {
		const struct smx_candidate *c = &r->candidates[i];
		cr_assert(c->exact);
		expected.candidate[expected.count++] = (struct candidate){.way = (enum slow2048_way)c->turn.step[0],
		                                                          .value = c->value,
		                                                          .prerank = c->prerank,
		                                                          .lost = c->loss_weight,
		                                                          .total = c->total};
	}
	expected.outcome_count = r->outcome_count;
	expected.outcomes_lost = r->outcomes_lost;
	memcpy(expected.outcome_values, r->outcome_values, sizeof expected.outcome_values);
	return expected;
}

Test(twenty48_search, every_way_is_the_plain_search_at_depth_4)
{
	struct tools tools = tools_create();
	for (unsigned i = 0; i < DEEP_PLACES; i++) {
		const struct smx_position position = twenty48_read(deep_places[i]);
		for (const struct smx_evaluator *const *e = smx_2048.evaluators; *e; e++) {
			struct smx_search_options options = options_of(*e, 4);
			options.outcome_values = position.outcome == SMX_NO_OUTCOME;
			const struct expected expected = plain_result(&tools, &position, options);
			check_ways(&tools, &position, &options, 7, &expected);
		}
	}
	cr_assert(tools.tasks > 0 && tools.inexact > 0);
	tools_destroy(&tools);
}

/* Of two searches that differ in nothing else, the one that knows of the symmetries opens fewer nodes. */
Test(twenty48_search, symmetric_positions_share_what_the_table_knows)
{
	struct tools tools = tools_create();
	struct smx_evaluator evaluator = plain_copy(&smx_2048_score);
	const struct smx_position position = twenty48_read("0,0,0,0/0,4,2,0/0,2,4,0/0,0,0,0");
	uint64_t nodes[2];
	smx_value values[2];
	for (unsigned symmetric = 0; symmetric < 2; symmetric++) {
		evaluator.symmetric = symmetric;
		struct smx_search_options options = options_of(&evaluator, 3);
		options.outcome_values = false;
		options.star = SMX_STAR_NONE;
		options.table = tools.table[TABLES - 1];
		smx_table_clear(options.table);
		const struct smx_result *result = run(tools.search, &position, &options);
		nodes[symmetric] = result->counters.chance_nodes;
		values[symmetric] = result->value;
	}
	fprintf(stderr, "%" PRIu64 " chance nodes, %" PRIu64 " with symmetries\n", nodes[0], nodes[1]);
	cr_assert_eq(values[0], values[1]);
	cr_assert_lt(2 * nodes[1], nodes[0]);
	tools_destroy(&tools);
}

/* ---- stopped ---- */

static bool is_legal(const struct smx_position *position, const struct smx_turn *turn)
{
	const struct slow2048 board = twenty48_board(smx_2048_board(position->state));
	struct slow2048_turn turns[4];
	const unsigned count = slow2048_turns(&board, turns);
	for (unsigned i = 0; i < count; i++)
		if (turn->steps == 1 && turn->step[0] == turns[i].way)
			return true;
	return false;
}

enum { KNOWN_DEPTHS = 3 };

/* Each completed depth has the value of a search to that depth; known[d - 1] is the slow search's at depth d. */
static void check_iterations(const struct smx_result *r, const smx_value known[KNOWN_DEPTHS], const char *what)
{
	unsigned completed = 0;
	for (unsigned i = 0; i < r->iteration_count; i++) {
		const struct smx_iteration *iteration = &r->iterations[i];
		const unsigned depth = iteration->depth_plies;
		completed = iteration->completed ? depth : completed;
		if (iteration->completed && depth <= KNOWN_DEPTHS)
			cr_assert_eq(iteration->value, known[depth - 1], "%s: depth %u", what, depth);
	}
	cr_assert(r->depth_plies == completed || r->depth_plies == completed + 1, "%s: depth %u after %u", what,
	          r->depth_plies, completed);
	if (r->depth_plies == completed && completed > 0)
		cr_assert(r->has_value && r->value == r->iterations[completed - 1].value, "%s", what);
}

/* Returns the greatest depth. */
static unsigned check_limits(struct tools *tools, const char *text, const struct smx_evaluator *evaluator)
{
	const struct smx_position position = twenty48_read(text);
	const struct slow2048 board = twenty48_board(smx_2048_board(position.state));
	const struct slow2048_evaluator slow = slow_of(evaluator);
	smx_value known[KNOWN_DEPTHS];
	for (unsigned i = 0; i < KNOWN_DEPTHS; i++)
		known[i] = slow2048_decision(&board, i + 1, &slow);
	unsigned deepest = 0;
	for (uint64_t limit = 1; limit <= (golden_slow_build() ? 3000 : 30000); limit = 5 * limit + 1)
		for (unsigned threads = 0; threads < COUNTS; threads++) {
			struct smx_search_options options = options_of(evaluator, SMX_DEPTH_MAX);
			options.outcome_values = false;
			options.node_limit = limit;
			options.splitter = tools->threads[threads] ? threads_splitter(tools->threads[threads]) : NULL;
			options.share_least_ms = -1;
			const struct smx_result *r = run(tools->search, &position, &options);
			char what[SMX_TEXT_MAX + 100];
			snprintf(what, sizeof what, "%s, %s, %" PRIu64 " nodes, %u threads", text, evaluator->name, limit,
			         thread_counts[threads]);
			cr_assert(r->stopped && r->limit_reached && r->depth_plies < SMX_DEPTH_MAX, "%s", what);
			cr_assert(r->kind == SMX_RESULT_TURN && is_legal(&position, &r->turn), "%s", what);
			check_iterations(r, known, what);
			deepest = r->depth_plies > deepest ? r->depth_plies : deepest;
		}
	return deepest;
}

Test(twenty48_search, a_limit_leaves_a_legal_turn_and_the_depth_that_was_completed)
{
	static const char *const texts[] = {
		"0,0,2,0/0,0,0,0/0,4,0,0/0,0,0,0",
		"128,16,2,0/4,32,2,4/4,32,0,0/8,64,4,0",
		"2,8,32,128/8,4,16,4/4,256,0,0/2,8,2,8",
		"32768,32768,16384,16384/8192,4096,32768,2/4,8,16,32768/2,0,4,32768",
	};
	struct tools tools = tools_create();
	unsigned deepest = 0;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (const struct smx_evaluator *const *e = smx_2048.evaluators; *e; e++) {
			const unsigned depth = check_limits(&tools, texts[i], *e);
			deepest = depth > deepest ? depth : deepest;
		}
	cr_assert_geq(deepest, 4u);
	tools_destroy(&tools);
}
