/* Exact expectiminimax.
 *
 * Depth counts turns: depth 2 is our turn and the opponent's reply. A position with an outcome is a decision: its
 * candidates are the distinct afterstates of its legal turns. A position without one is a chance node, valued for the side to move.
 * Method: expectiminimax over the distinct afterstates of each outcome (Michie 1966; Ballard 1983 for the node types). */
#ifndef STARMAX_SEARCH_H
#define STARMAX_SEARCH_H

#include <starmax/evaluator.h>
#include <starmax/game.h>
#include <starmax/status.h>
#include <starmax/value.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SMX_DEPTH_MAX 64

/* What the width counts. */
enum smx_width_counts {
	SMX_WIDTH_AFTERSTATES, /* distinct afterstates */
	SMX_WIDTH_PATHS, /* turns, several of which may reach one afterstate: the reference engine's way, for parity */
};

/* Which of several equally good turns is played. */
enum smx_ties {
	SMX_TIES_FIRST,  /* the first in canonical order */
	SMX_TIES_RANDOM, /* one of them, each equally likely, from the seed */
};

/* How the last turn before the leaves is valued; both give the same values. */
enum smx_leaves {
	SMX_LEAVES_FOLD, /* by the game's fold hook where game and evaluator have one, else listed */
	SMX_LEAVES_LIST, /* every distinct afterstate listed and evaluated in batches */
};

/* How much is pruned. Every level gives the same values, turns and ties. */
enum smx_star {
	SMX_STAR_NONE, /* plain expectiminimax: the yardstick */
	SMX_STAR1,     /* each outcome in the window that the others' bounds leave it */
	SMX_STAR2,     /* frames: every probe where it helps the node most (core/frame.c) */
};

#define SMX_EXACT_ALL SIZE_MAX

struct smx_counters {
	uint64_t turns;      /* legal turns of the root (all paths) */
	uint64_t candidates; /* candidates selected for search */
	uint64_t candidates_completed;
	uint64_t candidates_abandoned; /* begun or waiting when the search was stopped */
	uint64_t chance_nodes;         /* chance nodes opened, the root's included where it is one */
	uint64_t outcomes;             /* outcomes valued, at all chance nodes */
	uint64_t outcomes_decided;     /* of these: won or lost at once */
	uint64_t outcomes_folded;      /* of these: valued by the fold hook */
	uint64_t afterstates;          /* distinct afterstates listed at inner decision nodes */
	uint64_t leaf_evaluations;     /* positions handed to the evaluator by the search */
	uint64_t prerank_evaluations;  /* positions handed to the pre-ranker */
	uint64_t frames;               /* chance nodes searched as one frame */
	uint64_t cutoffs_low;          /* chance nodes left because they fell below their window */
	uint64_t cutoffs_high;         /* ... rose above it */
	uint64_t cutoffs_decided;      /* ... were outside it by their decided outcomes alone */
	uint64_t outcomes_saved;       /* outcomes never valued because of such a cutoff */
	/* Afterstates that a bound settled unopened: by game->look, and by game->bound's stages 1, 2, 3. */
	uint64_t settled_stage_0, settled_stage_1, settled_stage_2, settled_stage_3;
};

struct smx_progress {
	unsigned depth_plies;
	size_t candidates_completed, candidates;
	const struct smx_counters *counters;
	double time_ms;
};

struct smx_search_options {
	unsigned depth_plies; /* 1..SMX_DEPTH_MAX */
	size_t width;         /* candidates kept after pre-ranking; 0 keeps all */
	enum smx_width_counts width_counts;
	enum smx_ties ties;
	uint64_t seed; /* of SMX_TIES_RANDOM */
	enum smx_leaves leaves;
	enum smx_star star;
	bool no_bounds; /* ask the game for no bounds or estimates: speed only */
	size_t exact; /* so many candidates, first in canonical order, get exact values even if they lose; SMX_EXACT_ALL */
	uint64_t node_limit;                   /* chance nodes; 0: none */
	double time_limit_ms;                  /* 0: none */
	bool outcome_values;                   /* keep the value of each outcome of a root chance node */
	const struct smx_evaluator *evaluator; /* borrowed while the search object lives */
	const struct smx_evaluator *prerank;   /* borrowed while the search object lives */
	/* Called from the searching thread, between outcomes, many times a second at most; NULL: not called. */
	void (*on_progress)(void *context, const struct smx_progress *progress);
	void *progress_context;
};

struct smx_candidate {
	struct smx_turn turn; /* the first turn that reaches the afterstate */
	smx_value prerank;    /* from the side to move */
	smx_value value;      /* where completed: the exact value, or else an upper bound below the best */
	/* Weight of the outcomes on which the evaluated side loses at once, a share of its chance node's total; -1 where the depth
	 * does not look at the reply or it was not completed. Of a candidate that was left early: of those known by then. */
	int64_t loss_weight;
	uint32_t total; /* that total */
	bool exact;     /* value is exact */
	bool completed; /* searched to the result's depth; never true of partial work */
};

enum smx_result_kind {
	SMX_RESULT_TURN,  /* the best of several turns, or the only one */
	SMX_RESULT_WIN,   /* a turn that wins at once; nothing was searched */
	SMX_RESULT_PASS,  /* a forced pass */
	SMX_RESULT_VALUE, /* the position has no outcome: its own value */
};

struct smx_result {
	enum smx_result_kind kind;
	bool stopped;       /* by smx_search_stop, or because a limit was reached; only completed work counts below */
	bool limit_reached; /* the node limit or the time limit */
	unsigned
		depth_plies; /* of the values below: the last depth that was completed, or whose best candidate so far was */
	bool has_value;  /* value is exact: false where nothing was completed */
	smx_value value;
	struct smx_turn turn; /* not for SMX_RESULT_VALUE. Where nothing was completed: the pre-ranker's first */
	size_t ties;          /* completed candidates whose value is the best, the chosen one included */
	size_t candidate_count, candidates_completed;
	const struct smx_candidate *candidates; /* in canonical order */
	unsigned outcome_count;                 /* of outcome_values; 0 where they were not asked for or not completed */
	smx_value outcome_values[SMX_OUTCOMES_MAX];
	uint32_t outcome_weights[SMX_OUTCOMES_MAX];
	uint64_t outcomes_won, outcomes_lost; /* masks: outcomes that end the game at once, for the evaluated side */
	struct smx_counters counters;
	struct smx_arena_statistics memory;
	double time_ms;
};

struct smx_search;

/* A search object for one game: its arenas and its result. One thread uses it at a time; several objects do not disturb
 * each other. chunks: where memory comes from, copied; NULL means malloc. Destroy with smx_search_destroy. */
enum smx_status smx_search_create(const struct smx_game *game, const struct smx_chunk_source *chunks,
                                  struct smx_search **search);
void smx_search_destroy(struct smx_search *search);

/* Depth 2, every turn, the game's first evaluator and pre-ranker, folded leaves, first of ties. */
void smx_search_options_init(struct smx_search_options *options, const struct smx_game *game);

/* Search a position. *result belongs to the search object and is valid until its next call.
 * SMX_ERR_ARGUMENT, SMX_ERR_BOUNDS, SMX_ERR_IMPURE or SMX_ERR_MEMORY leave *result untouched. A stop is not an error. */
enum smx_status smx_search_run(struct smx_search *search, const struct smx_position *position,
                               const struct smx_search_options *options, const struct smx_result **result,
                               struct smx_error *error);

/* Ask a running search to end; it does within an outcome's work. Also ends the next run at once if none is running: call
 * smx_search_resume to withdraw it. Safe from any thread and from a signal handler. */
void smx_search_stop(struct smx_search *search);
void smx_search_resume(struct smx_search *search);

#ifdef __cplusplus
}
#endif

#endif
