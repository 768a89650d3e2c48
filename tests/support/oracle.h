/*
 * A second, slow implementation of Dice Chess, for the tests to compare the real one with.
 *
 * It is written from the rules alone: a board of 64 letters, turns found by trying every micro-move, one roll at a
 * time, nothing shared, nothing pruned, no hashing but that of the golden data. It needs only libc and no header of
 * starmax, so no mistake can be common to both by construction. Clarity comes first; a turn path takes about a
 * microsecond, a full roll of a middle game well under a millisecond.
 *
 * It trusts its input: positions are well formed, as the tests write them. Out of memory, it aborts.
 *
 * Squares are 0..63, a1 = 0, b1 = 1, h8 = 63. Sides are 0 White, 1 Black. Rolls are one to three upper-case letters
 * of "PNBRQK", in any order, for either side; the 56 rolls of three dice are numbered in the golden data's order.
 */
#ifndef TESTS_SUPPORT_ORACLE_H
#define TESTS_SUPPORT_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ORACLE_KEY_SIZE = 128,    /* bytes for a key with its NUL */
	ORACLE_DFEN_SIZE = 160,   /* bytes for six DFEN fields with their NUL */
	ORACLE_TURN_SIZE = 20,    /* bytes for a turn in letters with its NUL */
	ORACLE_MICRO_MOVES = 512, /* more than one die allows while a side has at most 16 men */
	ORACLE_ROLLS = 56,        /* multisets of three dice */
	ORACLE_WEIGHTS_SUM = 216  /* ordered rolls */
};

/* Castling rights, bits of oracle_position.rights. */
enum { ORACLE_WHITE_SHORT = 1, ORACLE_WHITE_LONG = 2, ORACLE_BLACK_SHORT = 4, ORACLE_BLACK_LONG = 8 };

struct oracle_position {
	char board[64];  /* FEN letters, '.' where empty */
	int side;        /* 0 White, 1 Black */
	unsigned rights; /* ORACLE_WHITE_SHORT and so on */
	bool target[64]; /* live en-passant targets: rank 3 made by White, rank 6 by Black */
	int halfmove;    /* 0..127 */
	int fullmove;
};

struct oracle_move {
	int from, to;   /* castling is the king's move */
	char promotion; /* 0, or one of "qrbn" */
};

struct oracle_turn {
	struct oracle_move move[3];
	int moves;                    /* 0 for a pass */
	int spent;                    /* dice; castling spends two */
	bool king;                    /* the last micro-move takes the enemy king */
	struct oracle_position after; /* after the end of the turn, even where the king was taken */
};

/* A growable list; start with {0}, free with oracle_turns_free. */
struct oracle_turns {
	struct oracle_turn *turn;
	size_t count, room;
};

/*
 * What golden/turns.tsv states about a position and a roll. A pass counts no path and no afterstate there, yet has a
 * fingerprint: so `keys` lists one key for a pass, and `afterstates` is 0.
 */
struct oracle_summary {
	size_t paths;      /* legal turns, those that take the king included, a pass not */
	size_t king_paths; /* turns that take the king */
	int spent;         /* dice spent by each of the others; 0 if there is none */
	bool pass;
	size_t afterstates;            /* distinct by key, without king captures; 0 for a pass */
	uint64_t fingerprint;          /* the sum of the FNV-1a hashes of `keys`, modulo 2^64 */
	size_t key_count;              /* afterstates, or 1 for a pass */
	char (*keys)[ORACLE_KEY_SIZE]; /* sorted with strcmp, distinct */
};

/*
 * How a position is valued, always from one side, whoever moves. `win` and `loss` are the values of having taken the
 * enemy king and of having lost one's own. The tests may bring evaluators of their own.
 */
struct oracle_evaluator {
	long long (*evaluate)(const struct oracle_position *position, int side);
	long long win, loss;
};

extern const struct oracle_evaluator oracle_material; /* P 100, N and B 300, R 500, Q 900; +10001 and -1000000000 */
extern const struct oracle_evaluator oracle_standard; /* the same, less 2000 where `side`'s king is attacked */

/* Reads DFEN of 4 to 7 fields; the dice are ignored. False, with *position undefined, if the text is malformed. */
bool oracle_read(struct oracle_position *position, const char *dfen);

/* The dice field of `dfen` as an upper-case roll; false if it has none. */
bool oracle_read_roll(char roll[4], const char *dfen);

/* The first four DFEN fields, joined by single spaces; every live target is listed. */
void oracle_key(const struct oracle_position *position, char text[ORACLE_KEY_SIZE]);

/* The first six DFEN fields. */
void oracle_dfen(const struct oracle_position *position, char text[ORACLE_DFEN_SIZE]);

/* Long algebraic micro-moves joined by spaces, or "pass". */
void oracle_turn_text(const struct oracle_turn *turn, char text[ORACLE_TURN_SIZE]);

/* The 64-bit FNV-1a hash of a string. */
uint64_t oracle_fnv(const char *text);

/* Writes the letters of roll 0..55 (PPP, PPN, ... KKK) and returns its weight: 1, 3 or 6. */
int oracle_roll(int index, char roll[4]);

/* Carries out one micro-move, without ending the turn. The move must be one that the position allows. */
void oracle_play(struct oracle_position *position, struct oracle_move move);

/* Ends the turn: the targets of the side about to move go, and the side to move changes. */
void oracle_end_turn(struct oracle_position *position);

/*
 * Every micro-move of the pieces that `die` moves, in the reference order; for the king's die castling too, which
 * needs a rook's die besides. Returns their number.
 */
int oracle_micro_moves(const struct oracle_position *position, char die, struct oracle_move move[ORACLE_MICRO_MOVES]);

/* Appends every legal turn (path) for the roll, in the reference order; a forced pass is one turn without moves. */
void oracle_list(const struct oracle_position *position, const char *roll, struct oracle_turns *turns);

/* Keeps the first turn to each afterstate (by key) and every turn that takes the king, in their order. */
void oracle_keep_distinct(struct oracle_turns *turns);

void oracle_turns_free(struct oracle_turns *turns);

/* The caller frees with oracle_summary_free. */
struct oracle_summary oracle_summarise(const struct oracle_position *position, const char *roll);

void oracle_summary_free(struct oracle_summary *summary);

/* Whether a piece of side `by` attacks the square (of whatever it holds), as in chess. */
bool oracle_attacked(const struct oracle_position *position, int square, int by);

/*
 * The side to move rolls and plays one turn, and `evaluated_side` values the outcome: for each of the 56 rolls the
 * largest value if the mover is that side, otherwise the smallest. Returns the sum of weight times value.
 */
long long oracle_chance_values(const struct oracle_position *position, int evaluated_side,
                               const struct oracle_evaluator *evaluator, long long values[ORACLE_ROLLS]);

/*
 * Plain expectiminimax: the value before the roll with `depth` turns to come, in units of 2^-scale_bits of the
 * evaluator's, each chance node rounded toward minus infinity. Depth 0 is the evaluator's value. Every turn path of
 * every roll is followed down to depth 1; above it, distinct afterstates are searched once a roll.
 */
long long oracle_chance(const struct oracle_position *position, int depth, int evaluated_side,
                        const struct oracle_evaluator *evaluator, int scale_bits);

/* floor(numerator / denominator) for a positive denominator. */
long long oracle_div_floor(long long numerator, long long denominator);

/* In 216ths, the chance that `side`, moving next whoever is to move, can take the enemy king with its next roll. */
int oracle_king_capture_216(const struct oracle_position *position, int side);

/* The same for an enemy queen; the definition stands at the function. */
int oracle_queen_capture_216(const struct oracle_position *position, int side);

/* A well-mixed 64-bit number from a seed, which it advances (splitmix64). */
uint64_t oracle_random(uint64_t *seed);

/*
 * A position with both kings, reached in 0 to 60 random turns from a random one of several starting set-ups, half of
 * the time the usual one, otherwise one that makes castling, en passant or promotions frequent.
 */
void oracle_random_position(uint64_t *seed, struct oracle_position *position);

#endif
