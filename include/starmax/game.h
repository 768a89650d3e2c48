/* The game interface: what a game tells the search about itself.
 *
 * States are small structs that may be copied byte by byte. The unit of work is a chance node, because that is where a
 * game can share effort between outcomes: `open` builds what the outcomes share, `afterstates` lists one outcome's
 * replies from it. Words as in docs/how-it-works.md. */
#ifndef STARMAX_GAME_H
#define STARMAX_GAME_H

#include <starmax/arena.h>
#include <starmax/evaluator.h>
#include <starmax/status.h>
#include <starmax/value.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SMX_STATE_MAX    256  /* bytes of the largest state */
#define SMX_OUTCOMES_MAX 64   /* outcomes of one chance node: a mask of them fits 64 bits */
#define SMX_TEXT_MAX     256  /* bytes that hold any game's position text or turn text, its NUL included */
#define SMX_DRAWING_MAX  2048 /* bytes that hold any game's drawing of a position, its NUL included */
#define SMX_NO_OUTCOME   (-1)
#define SMX_BOUND_STAGES 4 /* of bounds before a node is opened, from cheap to dear */

/* 128 bits that are equal exactly when two positions are (up to a collision of good 128-bit hashes). */
struct smx_key {
	uint64_t word[2];
};

/* Every game's state begins with its key, kept up to date by the game: the search reads it in place. Where the interface hands out
 * states they are aligned as far as state_size allows, to a cache line where that is its size. */
struct smx_state {
	struct smx_key key;
};

#ifdef __cplusplus
#define SMX_ALIGNAS alignas
#else
#define SMX_ALIGNAS _Alignas
#endif

/* A position as a user meets it: a state, and the outcome the side to move has been given, or SMX_NO_OUTCOME before chance has
 * spoken. Outcomes 0..count-1 are those of the chance node; a game may name more (a Dice Chess turn already begun). */
struct smx_position {
	SMX_ALIGNAS(SMX_CACHE_LINE) unsigned char state[SMX_STATE_MAX];
	int outcome;
};

/* One legal turn, in the game's own code (Dice Chess: up to three micro-moves). */
struct smx_turn {
	uint16_t step[4];
	uint8_t steps; /* 0 is a pass */
	uint8_t spent; /* how much of the outcome the turn uses (Dice Chess: dice) */
	bool wins;     /* the turn ends the game in the mover's favour; it has no afterstate */
};

/* Whether two turns are the same: step by step, not only in where they lead. */
static inline bool smx_turn_equal(const struct smx_turn *a, const struct smx_turn *b)
{
	bool equal = a->steps == b->steps && a->spent == b->spent && a->wins == b->wins;
	for (unsigned i = 0; equal && i < a->steps; i++)
		equal = a->step[i] == b->step[i];
	return equal;
}

/* What a decision node is, before it is searched. */
enum smx_node {
	SMX_NODE_OPEN,      /* it has afterstates: at least one */
	SMX_NODE_WON,       /* the side to move wins at once */
	SMX_NODE_LOST,      /* the side to move has lost at once */
	SMX_NODE_NO_MEMORY, /* the arena could not grow */
};

/* One outcome's distinct afterstates, in the game's own fixed order; count >= 1; memory is the arena's. */
struct smx_afterstates {
	const void *states; /* count states of the game's state_size bytes each */
	size_t count;
};

/* What is known of a chance node before it is opened: lower <= value <= upper, and a guess for ordering. */
struct smx_glance {
	smx_value lower, upper, estimate;
};

/* Called for each turn in generation order; afterstate is borrowed until return, NULL where the turn wins.
 * Return false to stop the enumeration. */
typedef bool smx_turn_visitor(void *context, const struct smx_turn *turn, const void *afterstate);

/* A number that says something about a position, such as how far its game has come: by it a search depth can be chosen (depth.h). */
struct smx_measure {
	const char *name;
	const char *title; /* a few words for help texts */
	unsigned (*of)(const struct smx_position *position);
};

/* A game that one player plays for points: side 0 makes every turn, and the game ends when there is none. */
struct smx_solo {
	const char *points;                                                                  /* what they are called */
	int64_t (*reward)(const struct smx_position *position, const struct smx_turn *turn); /* what a legal turn makes */
	const struct smx_measure *goal; /* what a game has reached, besides its points; one of the game's measures */
	const unsigned *goals;          /* of these reached it is told how often; ascending, ends with 0 */
};

/* A search that has several threads calls the functions from all of them at once, each with an arena of its own. */
struct smx_game {
	const char *name;
	const char *title;  /* one line for help texts */
	const char *start;  /* text of the usual first position, without an outcome */
	size_t state_size;  /* bytes; a multiple of 16, at most SMX_STATE_MAX; begins with struct smx_state */
	uint32_t total_max; /* the largest total weight of any chance node; below 2^31 */
	const struct smx_evaluator *const *evaluators; /* its own, the default first; NULL-terminated */

	/* Optional: evaluators that a parameter in their name completes ("winprob:800"). The forms of such names, for help texts; and
	 * the evaluator of one: *evaluator is NULL for any name that has none of these forms, and where the status is not SMX_OK:
	 * SMX_ERR_ARGUMENT for a parameter out of its range, SMX_ERR_MEMORY. Equal names give the same pointer, which is valid
	 * until the process ends. Thread-safe. */
	const char *evaluator_forms;
	enum smx_status (*make_evaluator)(const char *name, const struct smx_evaluator **evaluator,
	                                  struct smx_error *error);

	/* Read a position from text, length bytes, not NUL-terminated. Anything malformed or impossible is SMX_ERR_PARSE. */
	enum smx_status (*parse)(const char *text, size_t length, struct smx_position *position, struct smx_error *error);
	/* Write the canonical text, NUL-terminated, at most SMX_TEXT_MAX bytes; returns its length. */
	size_t (*format)(const struct smx_position *position, char *text);
	/* The side to move, 0 or 1. */
	unsigned (*side_to_move)(const void *state);

	/* Fill weights[0..count) and return count, 1..SMX_OUTCOMES_MAX; each weight >= 1. */
	unsigned (*outcomes)(const void *state, uint32_t *weights);
	/* The name of an outcome of the state ("PNB"), NUL-terminated, at most SMX_TEXT_MAX bytes; returns its length. */
	size_t (*outcome_name)(const void *state, int outcome, char *text);

	/* Build what the outcomes of this chance node share. The expansion is immutable, lives in the arena until the
	 * caller releases it, and may be read by several threads together. NULL where there is no memory. */
	const void *(*open)(const void *state, struct smx_arena *arena);
	/* One outcome's distinct afterstates, listed into the arena. */
	enum smx_node (*afterstates)(const void *expansion, unsigned outcome, struct smx_arena *arena,
	                             struct smx_afterstates *list);

	/* Every legal turn under position->outcome, in the game's generation order, several turns to one afterstate where the
	 * game has them. Where the mover can win at once the winning turns come first. None where the mover has lost at once. */
	void (*turns)(const struct smx_position *position, smx_turn_visitor *visit, void *context);
	/* A turn in the game's notation, NUL-terminated, at most SMX_TEXT_MAX bytes; returns its length. */
	size_t (*format_turn)(const struct smx_turn *turn, char *text);

	/* Optional: what else is to be known of the game. */
	/* A picture of the position for people, of several lines, each ended by a newline, NUL-terminated, at most SMX_DRAWING_MAX bytes, plain
	 * ASCII; returns its length. NULL: its text has to do. */
	size_t (*draw)(const struct smx_position *position, char *text);
	const struct smx_measure *measures; /* ends with a NULL name */
	const struct smx_solo *solo;        /* NULL: two sides play, and one of them wins */

	/* Consistency of a state, for tests and debug builds: the key and everything else that is kept incrementally
	 * agree with a computation from nothing. */
	bool (*self_check)(const void *state);

	/* Optional hooks: speed only. A game without them gives the same values. */

	/* The mask of the outcomes that `afterstates` would call WON, known without listing anything; NULL: none. */
	uint64_t (*won)(const void *expansion);
	/* A cheap guess at how good afterstates are for the side that made them: scores[0..count), higher is better. It only
	 * orders leaves that are listed. NULL: they stay as listed. */
	void (*order)(const void *states, size_t count, unsigned side, int32_t *scores);
	/* The value each outcome in the mask has when its afterstates are leaves: the best of them for the side to move, from the
	 * evaluated side, as listing and evaluating them all would give. Writes values[outcome] for the outcomes in the mask, and
	 * returns those of them that are LOST, whose values mean nothing. None of them is WON: a game has this hook only where every such
	 * outcome is in `won`. Only called where evaluator->fold is set; NULL: not available. */
	uint64_t (*fold)(const void *expansion, const struct smx_evaluator *evaluator, uint64_t outcomes,
	                 unsigned evaluated_side, smx_value *values);
	/* A first look at count positions, states[0..count), as chance nodes with depth >= 1 turns left: write
	 * glances[0..count). Bounds must hold for the exact value, rounding included. Only called where evaluator->fold is
	 * set; NULL: not available. */
	void (*look)(const void *states, size_t count, const struct smx_evaluator *evaluator, unsigned evaluated_side,
	             unsigned depth, struct smx_glance *glances);
	/* A dearer look: narrow *glance by the bounds of stage 1, 2, ... SMX_BOUND_STAGES - 1 (look is stage 0). Returns
	 * false where the game has no such stage at this depth. Only called where look is. */
	bool (*bound)(const void *state, const struct smx_evaluator *evaluator, unsigned evaluated_side, unsigned depth,
	              unsigned stage, struct smx_glance *glance);
	/* Bounds of what any outcome of a chance node with depth >= 1 turns left can be worth, and so of the node: narrow [*lower, *upper]. They
	 * hold for outcomes that are WON or LOST, too, now or later. For nodes that are searched outcome by outcome. Only called where evaluator->fold is set; NULL: not available. */
	void (*span)(const void *state, const struct smx_evaluator *evaluator, unsigned evaluated_side, unsigned depth,
	             smx_value *lower, smx_value *upper);
	/* Write to *canonical the one of all positions that symmetries of the game take *state into that stands for them: the same for all of
	 * them. Positions that stand for each other have equal values under a symmetric evaluator, and share what the table knows. Only
	 * called where evaluator->symmetric is set; NULL: no symmetries. */
	void (*canonical)(const void *state, void *canonical);
};

/* The built-in games, NULL-terminated. */
extern const struct smx_game *const smx_games[];

/* The built-in game of that name, or NULL. */
const struct smx_game *smx_game_find(const char *name);

/* One of the game's own evaluators by name, or one that its make_evaluator makes of the name, or NULL. Valid until the process ends;
 * the same name gives the same pointer. Thread-safe. */
const struct smx_evaluator *smx_game_evaluator(const struct smx_game *game, const char *name);

#ifdef __cplusplus
}
#endif

#endif
