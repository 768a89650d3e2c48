#include "cli/suite.h"

#include "bench/positions.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Each way through the search at least once: plain, outcome by outcome and in frames; folded and listed leaves; an evaluator without
 * a fold; both scales; two levels of chance nodes. */
static const struct smxi_bench_run dicechess_runs[] = {
	{1, 0, SMX_STAR2, SMX_LEAVES_FOLD, &smx_dicechess_material, 0, 0},
	{2, 8, SMX_STAR_NONE, SMX_LEAVES_FOLD, &smx_dicechess_material, 0, 0},
	{2, 8, SMX_STAR_NONE, SMX_LEAVES_LIST, &smx_dicechess_material, 0, 0},
	{2, 8, SMX_STAR1, SMX_LEAVES_FOLD, &smx_dicechess_standard, 0, 0},
	{2, 0, SMX_STAR2, SMX_LEAVES_FOLD, &smx_dicechess_material, 0, 0},
	{3, 8, SMX_STAR2, SMX_LEAVES_FOLD, &smx_dicechess_material, 0, 0},
	{3, 8, SMX_STAR2, SMX_LEAVES_FOLD, &smx_dicechess_winprob, 0, 0},
};

/* Likewise; also with a table, where windows decide what is a frame, and with branches cut. */
static const struct smxi_bench_run twenty48_runs[] = {
	{3, 0, SMX_STAR_NONE, SMX_LEAVES_LIST, &smx_2048_seed, 0, 0},
	{3, 0, SMX_STAR_NONE, SMX_LEAVES_FOLD, &smx_2048_heuristic, 0, 0},
	{4, 0, SMX_STAR1, SMX_LEAVES_FOLD, &smx_2048_score, 0, 0},
	{4, 0, SMX_STAR2, SMX_LEAVES_FOLD, &smx_2048_heuristic, 0, 0},
	{5, 0, SMX_STAR2, SMX_LEAVES_FOLD, &smx_2048_heuristic, 0, 1 << 20},
	{8, 0, SMX_STAR2, SMX_LEAVES_FOLD, &smx_2048_heuristic, 0.005, 1 << 20},
};

const char *const smxi_scale_set_names[] = {"ordinary", "heavy", "endings", NULL};
_Static_assert(COUNT(smxi_scale_set_names) == SMXI_SCALE_SETS + 1, "a name for each set");

/* The endings come first. */
static const struct smxi_scale_set dicechess_sets[SMXI_SCALE_SETS] = {
	{3, 8, &smx_dicechess_material, 0, COUNT(smxi_bench_positions), 0},
	{3, 0, &smx_dicechess_winprob, 0, COUNT(smxi_bench_positions), 0},
	{4, 8, &smx_dicechess_material, 0, 3, 0},
};

/* The tight board and the late one come last but two, and last. */
static const struct smxi_scale_set twenty48_sets[SMXI_SCALE_SETS] = {
	{5, 0, &smx_2048_heuristic, 0, COUNT(smxi_bench_2048_positions), 16 << 20},
	{6, 0, &smx_2048_heuristic, 0, COUNT(smxi_bench_2048_positions), 64 << 20},
	{7, 0, &smx_2048_heuristic, 3, COUNT(smxi_bench_2048_positions) - 3, 64 << 20},
};

static const struct smxi_suite suites[] = {
	{&smx_dicechess, smxi_bench_positions, COUNT(smxi_bench_positions), dicechess_runs, COUNT(dicechess_runs), 4,
     dicechess_sets},
	{&smx_2048, smxi_bench_2048_positions, COUNT(smxi_bench_2048_positions), twenty48_runs, COUNT(twenty48_runs), 4,
     twenty48_sets},
};

const struct smxi_suite *smxi_suite_of(const struct smx_game *game)
{
	for (size_t i = 0; i < COUNT(suites); i++)
		if (suites[i].game == game)
			return &suites[i];
	return NULL;
}
