/* Exact expectiminimax.
 *
 * Depth counts turns: depth 2 is our turn and the opponent's reply. A position with an outcome is a decision: its
 * candidates are the distinct afterstates of its legal turns. A position without one is a chance node, valued for the side to move.
 * Method: expectiminimax over the distinct afterstates of each outcome (Michie 1966; Ballard 1983 for the node types). */
#ifndef STARMAX_SEARCH_H
#define STARMAX_SEARCH_H

#include <starmax/depth.h>
#include <starmax/evaluator.h>
#include <starmax/game.h>
#include <starmax/status.h>
#include <starmax/table.h>
#include <starmax/value.h>

#ifdef __cplusplus
extern "C" {
#endif

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
	SMX_STAR2,     /* outcomes probed first; frames: every probe where it helps the node most (core/frame.c) */
	SMX_STAR_ETC, /* also asks the table about all afterstates of a frame, or of an outcome that is probed, beforehand */
};

#define SMX_EXACT_ALL SIZE_MAX

struct smx_counters {
	uint64_t turns;                /* legal turns of the root (all paths) */
	uint64_t candidates;           /* candidates selected for search */
	uint64_t candidates_completed; /* at the depth of the answer */
	uint64_t candidates_abandoned; /* begun or waiting when the search was stopped, at the depth it was at */
	uint64_t chance_nodes;         /* chance nodes opened, the root's included where it is one */
	uint64_t frames;               /* of these: searched as one frame */
	uint64_t outcomes;             /* outcomes of all chance nodes */
	uint64_t outcomes_decided;     /* of these: won or lost at once */
	uint64_t outcomes_folded;      /* of these: valued by the fold hook */
	uint64_t outcomes_saved;       /* of these: nothing was valued, because their node was left */
	uint64_t
		afterstates; /* distinct afterstates listed below the root, leaves included; twice where they are listed twice */
	uint64_t probes;              /* afterstates searched or evaluated first, to bound an outcome from one side */
	uint64_t leaf_evaluations;    /* positions handed to the evaluator by the search */
	uint64_t order_evaluations;   /* ... only to order afterstates */
	uint64_t prerank_evaluations; /* positions handed to the pre-ranker */
	uint64_t rescore_evaluations; /* positions handed to the second evaluator of the root */
	/* Chance nodes that were left early because they fell below their window, or rose above it: */
	uint64_t cutoffs_low, cutoffs_high; /* while their outcomes or their frame were searched */
	uint64_t cutoffs_probe;             /* by the probes of their outcomes alone */
	uint64_t cutoffs_decided;           /* by their decided outcomes alone */
	uint64_t cutoffs_etc;               /* by what the table knew of their afterstates */
	/* Afterstates that needed no search: */
	uint64_t cutoffs_table; /* what the table knew sufficed */
	/* ... a bound sufficed: of game->look or game->span, and of game->bound's stages 1, 2, 3 */
	uint64_t settled_stage_0, settled_stage_1, settled_stage_2, settled_stage_3;
	uint64_t table_probes, table_hits, table_stores;
	uint64_t
		table_conflicts; /* entries and results that contradict each other: two positions with one key, or a fault */
	/* Of several threads: parts of the work that one took over, and those of them that were stopped because another's result
	 * had ended their node. */
	uint64_t tasks, tasks_stopped;
	uint64_t
		bounds_from_tasks; /* bounds of a node, and best values of the root, that another thread than the node's own improved */
	uint64_t outcomes_sampled_away,
		branches_cut; /* of selective search: outcomes not drawn; branches below the reach */
};

#define SMX_COUNTERS (sizeof(struct smx_counters) / sizeof(uint64_t))

struct smx_progress {
	unsigned depth_plies;
	size_t candidates_completed, candidates; /* at this depth; the others have still to be searched, or shown to lose */
	/* The best candidate at this depth so far, or where none has its value yet, at the depth before. */
	bool has_value;
	unsigned value_depth_plies;
	smx_value value;
	struct smx_turn turn;
	const struct smx_counters *counters;
	double time_ms;
};

/* Something that the search holds for true about a chance node: its value lies in [lower, upper]. For checking. */
enum smx_claim_source {
	SMX_CLAIM_SEARCH, /* the search has ended there */
	SMX_CLAIM_TABLE,  /* the table says so */
	SMX_CLAIM_LOOK,   /* game->look, or game->span */
	SMX_CLAIM_BOUND,  /* game->bound */
};

/* A chance node and the nodes above it, up to the root's candidate. */
struct smx_visit {
	const void *state;
	const struct smx_visit *parent; /* NULL: this is the candidate, or the root */
};

struct smx_claim {
	enum smx_claim_source source;
	unsigned stage; /* of SMX_CLAIM_BOUND */
	unsigned depth; /* turns left after the node's outcome is known */
	unsigned evaluated_side;
	smx_value lower, upper;
	struct smx_visit visit;
};

/* Selective search: faster and deeper, and no longer exact. Zeroes are the exact search. None of it changes the root:
 * its candidates, or its outcomes where the position has none yet. It is searched without frames and bounds, and but for reach alone
 * without table; the Star levels still give equal values. */
struct smx_selective {
	size_t inner_width; /* afterstates kept, by the pre-ranker, at each inner decision node; 0: all */
	/* A branch reached with less probability than this is evaluated at once; in [0, 1). In steps of a quarter of a bit, so that what is kept
	 * in a table can say which branches it has cut: the rarities of the outcomes on the way, -log2 of each one's share rounded to
	 * such a step, are added up, and compared with -log2(reach) rounded down. */
	double reach;
	unsigned
		samples; /* outcomes drawn at a chance node that has more, by weight, stratified, seeded by its key; 0: all */
};

struct smx_splitter;

struct smx_search_options {
	unsigned depth_plies; /* 1..SMX_DEPTH_MAX */
	/* Where its depth_plies is not 0: the depth is what it says of the position, and at most the above. */
	struct smx_depth_rule depth_by;
	size_t width; /* candidates kept after pre-ranking; 0 keeps all */
	enum smx_width_counts width_counts;
	enum smx_ties ties;
	uint64_t seed; /* of SMX_TIES_RANDOM */
	enum smx_leaves leaves;
	enum smx_star star;
	bool no_bounds; /* ask the game for no bounds or estimates: speed only */
	bool no_frames; /* search every chance node outcome by outcome: speed only */
	size_t
		probe_replies; /* afterstates probed for each outcome of a node that is no frame (Star2.5: several); 0 is 1 */
	struct smx_table *table; /* borrowed during the run; NULL: none */
	bool exact_only;         /* keep and take only exact values, no bounds, in the table */
	size_t exact; /* so many candidates, first in canonical order, get exact values even if they lose; SMX_EXACT_ALL */
	size_t
		multi; /* so many of the best candidates get exact values, and those that tie with the last of them; 0 is 1 */
	uint64_t node_limit;                   /* chance nodes; 0: none */
	double time_limit_ms;                  /* 0: none */
	bool outcome_values;                   /* keep the value of each outcome of a root chance node */
	const struct smx_evaluator *evaluator; /* borrowed while the search object lives */
	const struct smx_evaluator *prerank;   /* borrowed while the search object lives */
	/* A second opinion on the root's candidates: (1 - w) * value + w * rescore, w = rescore_weight / rescore_total, in the
	 * evaluator's scale and rounded down. Of the same unit as the evaluator; called once, on all candidates together, and
	 * not at all where w is 0. A candidate that loses on some outcome at once (of those drawn, in selective search) keeps its value. At depth 1
	 * no reply is looked at, and none does. NULL: none. */
	const struct smx_evaluator *rescore;    /* borrowed while the search object lives */
	uint32_t rescore_weight, rescore_total; /* 0 <= weight <= total, 1 <= total <= SMX_RESCORE_TOTAL_MAX */
	struct smx_selective selective;
	const struct smx_splitter *splitter; /* from smx_parallel_splitter, borrowed; NULL: the calling thread alone */
	/* A search that is expected to take less time than that is not shared, because to wake the threads takes time too. 0: what the
	 * splitter says, 10 ms when it is first used and then 0.5; below 0: every search from depth 2 on is shared. */
	double share_least_ms;
	/* Called from the thread that runs the search, between outcomes, many times a second at most; NULL: not called. */
	void (*on_progress)(void *context, const struct smx_progress *progress);
	void *progress_context;
	/* Called for every claim, of which there are many, from the thread that makes it; NULL: not called. */
	void (*on_claim)(void *context, const struct smx_claim *claim);
	void *claim_context;
};

#define SMX_RESCORE_TOTAL_MAX 1000

struct smx_candidate {
	struct smx_turn turn; /* the first turn that reaches the afterstate */
	smx_value prerank;    /* from the side to move */
	smx_value
		value; /* where completed: the exact value, or else an upper bound below the best (multi: the last of them) */
	smx_value search;  /* the same before rescoring; equal to value where not rescored */
	smx_value rescore; /* what the second evaluator says, in the evaluator's scale; 0 where there is none */
	/* Weight of the outcomes on which the evaluated side loses at once, a share of its chance node's total; -1 where the depth
	 * does not look at the reply or it was not completed. Of a candidate that was left early: of those known by then. */
	int64_t loss_weight;
	uint32_t total; /* that total */
	bool exact;     /* value is exact */
	bool completed; /* searched to the result's depth; never true of partial work */
	bool rescored;
};

/* One depth of iterative deepening. */
struct smx_iteration {
	unsigned depth_plies;
	bool completed; /* all candidates were */
	bool has_value; /* value and turn are the best of the candidates completed in it */
	smx_value value;
	struct smx_turn turn;
	size_t candidates_completed;
	double time_ms;               /* of this depth alone */
	struct smx_counters counters; /* of this depth alone; the root's own counts are not in it */
};

enum smx_result_kind {
	SMX_RESULT_TURN,  /* the best of several turns, or the only one */
	SMX_RESULT_WIN,   /* a turn that wins at once; nothing was searched */
	SMX_RESULT_PASS,  /* a forced pass */
	SMX_RESULT_LOSS,  /* no turn: the side to move has lost at once; nothing was searched */
	SMX_RESULT_VALUE, /* the position has no outcome: its own value */
};

#define SMX_TASK_SIZES 24

/* How several threads shared a search. Times are of the wall clock. */
struct smx_sharing {
	unsigned threads; /* at hand; 1 where there is no back-end, and where the search was too small for it */
	unsigned used;    /* of these: did a part of it */
	double span_ms;   /* how long they were at hand */
	double idle_ms;   /* of threads * span_ms: without work */
	/* Tasks by the time they took: task_sizes[0] below 1 microsecond, [i] from 2^(i-1) to below 2^i, the last one all longer ones. */
	uint64_t task_sizes[SMX_TASK_SIZES];
};

struct smx_result {
	enum smx_result_kind kind;
	bool stopped;       /* by smx_search_stop, or because a limit was reached; only completed work counts below */
	bool limit_reached; /* the node limit or the time limit */
	bool selective;     /* the value is not the exact search's */
	unsigned
		depth_plies; /* of the values below: the last depth that was completed, or whose best candidate so far was */
	bool has_value;  /* value is exact: false where nothing was completed */
	smx_value value;
	struct smx_turn
		turn;    /* not for SMX_RESULT_VALUE and SMX_RESULT_LOSS. Where nothing was completed: the pre-ranker's first */
	size_t ties; /* completed candidates whose value is the best, the chosen one included */
	size_t candidate_count, candidates_completed;
	const struct smx_candidate *candidates; /* in canonical order */
	unsigned iteration_count;
	const struct smx_iteration *iterations; /* each depth that was begun, the first first */
	unsigned outcome_count;                 /* of outcome_values; 0 where they were not asked for or not completed */
	smx_value outcome_values[SMX_OUTCOMES_MAX];
	uint32_t outcome_weights[SMX_OUTCOMES_MAX];
	uint64_t outcomes_won, outcomes_lost; /* masks: outcomes that end the game at once, for the evaluated side */
	struct smx_counters counters;
	struct smx_arena_statistics memory;
	struct smx_sharing sharing;
	double time_ms;
};

struct smx_search;

/* A search object for one game: its arenas and its result. One thread uses it at a time; several objects do not disturb
 * each other. chunks: where memory comes from, copied; NULL means malloc. Destroy with smx_search_destroy. SMX_ERR_ARGUMENT where the game's state_size is no
 * multiple of 16 from 16 to SMX_STATE_MAX, SMX_ERR_MEMORY. */
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
