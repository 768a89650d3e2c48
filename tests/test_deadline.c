/* Searches that a limit ends: whatever the moment, the reply is legal and made of completed work alone, which a search without a limit
 * repeats. Nothing here depends on how far a search gets in its time. */
#include "tests/support/dicechess.h"

#include <starmax/random.h>

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 100, DEPTH_MOST = 3, EVALUATORS = 2 };

/* Wide and shallow, narrow and deep: what a search without a limit finishes in a moment, and one with a limit mostly does not. */
static const struct {
	const char *dfen;
	size_t width;
	unsigned depth_plies;
} cases[] = {
	{"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 PRK", 0, 3},
	{"6k1/5ppp/8/3q4/8/4Q3/5PPP/6K1 w - - 0 1 PPK", 8, 3},
	{"2b1k3/r1pp1pB1/p1n5/6P1/2P5/4P2P/P2P1K2/Q7 b - - 0 1 pbr", 4, 3},
	{"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 PNB", 0, 2},
	{"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 PNQ", 0, 2},
	{"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 PNQ", 2, 3},
};
enum { CASES = sizeof cases / sizeof cases[0] };
static const struct smx_evaluator *const evaluators[EVALUATORS] = {&smx_dicechess_material, &smx_dicechess_winprob};

/* Every candidate's exact value at one depth, without a limit; made when first needed. */
struct truth {
	struct smx_candidate *candidates; /* NULL: not yet */
	size_t count;
	smx_value value;
};
static struct truth truths[CASES][EVALUATORS][DEPTH_MOST + 1];

static const struct truth *truth_of(unsigned c, unsigned e, unsigned depth)
{
	struct truth *truth = &truths[c][e][depth];
	if (truth->candidates)
		return truth;
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	options.evaluator = evaluators[e];
	options.width = cases[c].width;
	options.depth_plies = depth;
	options.exact = SMX_EXACT_ALL;
	const struct smx_position position = dicechess_read(cases[c].dfen);
	const struct smx_result *r;
	cr_assert_eq(smx_search_run(search, &position, &options, &r, NULL), SMX_OK);
	cr_assert(!r->stopped && r->has_value && r->candidates_completed == r->candidate_count);
	truth->count = r->candidate_count;
	truth->value = r->value;
	truth->candidates = malloc(truth->count * sizeof *truth->candidates);
	memcpy(truth->candidates, r->candidates, truth->count * sizeof *truth->candidates);
	smx_search_destroy(search);
	return truth;
}

/* The turn that the pre-ranker puts first, and whether a given one is legal, from nothing but the list of turns. */
struct listed {
	const struct smx_turn *sought;
	bool legal;
	struct smx_turn first;
	smx_value first_value;
	size_t count;
};

static bool list_turn(void *context, const struct smx_turn *turn, const void *afterstate)
{
	struct listed *listed = context;
	const unsigned mover = !smx_dicechess.side_to_move(afterstate);
	smx_value value;
	smx_dicechess_material.evaluate(NULL, afterstate, 1, mover, &value);
	if (listed->count++ == 0 || value > listed->first_value) {
		listed->first = *turn;
		listed->first_value = value;
	}
	listed->legal = listed->legal || smx_turn_equal(turn, listed->sought);
	return true;
}

/* How the replies so far ended. */
struct tally {
	unsigned nothing, part_of_a_depth, whole_depth, finished;
};

static void check_reply(const struct smx_result *r, unsigned c, unsigned e, struct tally *tally, const char *what)
{
	const struct smx_position position = dicechess_read(cases[c].dfen);
	struct listed listed = {.sought = &r->turn};
	smx_dicechess.turns(&position, list_turn, &listed);
	cr_assert(listed.legal, "%s", what);
	cr_assert_eq(r->kind, SMX_RESULT_TURN, "%s", what);

	/* the candidates are what they are without a limit */
	const struct truth *truth = truth_of(c, e, r->depth_plies ? r->depth_plies : 1);
	cr_assert_eq(r->candidate_count, truth->count, "%s", what);
	size_t completed = 0;
	for (size_t i = 0; i < truth->count; i++) {
		const struct smx_candidate *candidate = &r->candidates[i];
		cr_assert(smx_turn_equal(&candidate->turn, &truth->candidates[i].turn), "%s, candidate %zu", what, i);
		cr_assert_eq(candidate->prerank, truth->candidates[i].prerank, "%s, candidate %zu", what, i);
		cr_assert(candidate->completed || !candidate->exact, "%s, candidate %zu", what, i);
		completed += candidate->completed;
	}
	cr_assert_eq(r->candidates_completed, completed, "%s", what);
	/* of the depth that was stopped, which need not be the answer's */
	const size_t last = r->iteration_count ? r->iterations[r->iteration_count - 1].candidates_completed : 0;
	cr_assert_eq(r->counters.candidates_abandoned, truth->count - last, "%s", what);

	if (!r->has_value) {
		cr_assert(r->stopped && r->depth_plies == 0 && completed == 0 && r->ties == 0, "%s", what);
		cr_assert(smx_turn_equal(&r->turn, &listed.first), "%s", what);
		tally->nothing++;
		return;
	}

	/* completed ones have the value that they have without a limit, or an upper bound of it below the best */
	cr_assert(r->depth_plies >= 1 && r->depth_plies <= cases[c].depth_plies, "%s", what);
	size_t ties = 0;
	for (size_t i = 0; i < truth->count; i++) {
		const struct smx_candidate *candidate = &r->candidates[i];
		if (!candidate->completed)
			continue;
		const smx_value exact = truth->candidates[i].value;
		if (candidate->exact)
			cr_assert(candidate->value == exact && exact <= r->value, "%s, candidate %zu", what, i);
		else
			cr_assert(candidate->value >= exact && candidate->value < r->value, "%s, candidate %zu", what, i);
		if (!candidate->exact || candidate->value != r->value)
			continue;
		if (ties++ == 0)
			cr_assert(smx_turn_equal(&candidate->turn, &r->turn), "%s, candidate %zu", what, i);
	}
	cr_assert_gt(ties, 0u, "%s", what);
	cr_assert_eq(r->ties, ties, "%s", what);

	/* a depth that was not finished has at least looked at what the depth before found best */
	if (r->depth_plies > 1) {
		const struct truth *before = truth_of(c, e, r->depth_plies - 1);
		size_t best = 0;
		while (before->candidates[best].value != before->value)
			best++;
		cr_assert(r->candidates[best].completed, "%s", what);
	}
	if (completed < truth->count) {
		cr_assert(r->stopped, "%s", what);
		tally->part_of_a_depth++;
		return;
	}
	cr_assert_eq(r->value, truth->value, "%s", what);
	cr_assert(r->stopped || r->depth_plies == cases[c].depth_plies, "%s", what);
	*(r->stopped ? &tally->whole_depth : &tally->finished) += 1;
}

/* From the uniform draw: logarithmically uniform in [least, most). */
static double draw(uint64_t *seed, double least, double most)
{
	return least * pow(most / least, (double)(smx_random(seed) >> 11) * 0x1p-53);
}

enum limit { TIME, NODES };

static struct tally check_limits(enum limit limit, uint64_t seed)
{
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	struct tally tally = {0};
	for (unsigned n = 0; n < RUNS; n++) {
		const unsigned c = n % CASES, e = n / CASES % EVALUATORS;
		const struct smx_position position = dicechess_read(cases[c].dfen);
		options.evaluator = evaluators[e];
		options.width = cases[c].width;
		options.depth_plies = cases[c].depth_plies;
		if (limit == TIME)
			options.time_limit_ms = draw(&seed, 0.05, 20);
		else
			options.node_limit = (uint64_t)draw(&seed, 1, 20000);
		char what[160];
		snprintf(what, sizeof what, "run %u, %s, %s, %g ms, %" PRIu64 " nodes", n, cases[c].dfen, evaluators[e]->name,
		         options.time_limit_ms, options.node_limit);
		const struct smx_result *r;
		cr_assert_eq(smx_search_run(search, &position, &options, &r, NULL), SMX_OK, "%s", what);
		cr_assert_eq(r->limit_reached, r->stopped, "%s", what);
		check_reply(r, c, e, &tally, what);
	}
	smx_search_destroy(search);
	fprintf(stderr,
	        "%s: %u replies without a value, %u from part of a depth, %u from a whole one, %u searches finished\n",
	        limit == TIME ? "time limits" : "node limits", tally.nothing, tally.part_of_a_depth, tally.whole_depth,
	        tally.finished);
	return tally;
}

Test(deadline, a_time_limit_leaves_completed_work_only)
{
	check_limits(TIME, 2024);
}

/* The same where chance has no say: every kind of end that time can bring about after the first depth. */
Test(deadline, a_node_limit_leaves_completed_work_only)
{
	const struct tally tally = check_limits(NODES, 2025);
	cr_assert(tally.part_of_a_depth > 0 && tally.whole_depth > 0 && tally.finished > 0);
}

/* ... and the end before it. */
Test(deadline, where_nothing_was_completed_the_preranker_chooses)
{
	struct smx_search *search;
	cr_assert_eq(smx_search_create(&smx_dicechess, NULL, &search), SMX_OK);
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_dicechess);
	struct tally tally = {0};
	smx_search_stop(search);
	for (unsigned c = 0; c < CASES; c++) {
		const struct smx_position position = dicechess_read(cases[c].dfen);
		options.width = cases[c].width;
		options.depth_plies = cases[c].depth_plies;
		const struct smx_result *r;
		cr_assert_eq(smx_search_run(search, &position, &options, &r, NULL), SMX_OK);
		check_reply(r, c, 0, &tally, cases[c].dfen);
	}
	cr_assert_eq(tally.nothing, (unsigned)CASES);
	smx_search_destroy(search);
}
