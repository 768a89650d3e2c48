/* What bench and scale search: fixed positions of a game, and how. */
#ifndef SMXI_CLI_SUITE_H
#define SMXI_CLI_SUITE_H

#include <starmax/starmax.h>

#include <stddef.h>

struct smxi_bench_position;

/* A search of every position. */
struct smxi_bench_run {
	unsigned depth_plies;
	size_t width;
	enum smx_star star;
	enum smx_leaves leaves;
	const struct smx_evaluator *evaluator;
	double reach;
	size_t hash_bytes; /* of a table that is empty before each position; 0: none */
};

/* What scale's sets are called; NULL-terminated. Every game has them all. */
extern const char *const smxi_scale_set_names[];
enum { SMXI_SCALE_SETS = 3 };

/* Searches of some of the positions, that take some milliseconds, or hundreds, and of such as have few outcomes or candidates. */
struct smxi_scale_set {
	unsigned depth_plies;
	size_t width;
	const struct smx_evaluator *evaluator;
	size_t first, count; /* of the positions */
	size_t hash_bytes;   /* 0: no table */
};

struct smxi_suite {
	const struct smx_game *game;
	const struct smxi_bench_position *positions;
	size_t position_count;
	const struct smxi_bench_run *runs;
	size_t run_count, shown_run; /* the run whose turn and value stand for a position in bench's text */
	const struct smxi_scale_set *sets;
};

/* NULL where there is none of this game. */
const struct smxi_suite *smxi_suite_of(const struct smx_game *game);

#endif
