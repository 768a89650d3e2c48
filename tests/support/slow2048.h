/*
 * A second, slow 2048, for the tests to compare the real one with.
 *
 * It is written from the rules alone: a board of sixteen numbers, lines slid cell by cell, one outcome at a time, nothing looked up,
 * nothing shared, nothing pruned. It needs only libc and no header of starmax, so no mistake can be common to both by construction.
 *
 * An outcome is a number as in docs/2048.md: 2k puts a 2, 2k + 1 a 4 on the k-th empty cell in reading order. A board that has fewer than two
 * tiles has one turn, a pass.
 */
#ifndef TESTS_SUPPORT_SLOW2048_H
#define TESTS_SUPPORT_SLOW2048_H

#include <stdbool.h>
#include <stddef.h>

enum {
	SLOW2048_WAITS = -1,  /* for its next tile */
	SLOW2048_PLACED = 32, /* no tile comes any more */
	SLOW2048_TEXT = 112,  /* bytes for a board of 32768s and its outcome, with their NUL */
};

/* Tile values, 0 where empty; by row, then column. */
struct slow2048 {
	int cell[4][4];
};

enum slow2048_way { SLOW2048_LEFT, SLOW2048_RIGHT, SLOW2048_UP, SLOW2048_DOWN, SLOW2048_PASS };

struct slow2048_turn {
	enum slow2048_way way;
	struct slow2048 after;
	long long reward;
};

/* Reads exactly what the notation allows; false, with *board and *outcome undefined, for anything else. */
bool slow2048_read(struct slow2048 *board, int *outcome, const char *text, size_t length);

/* Rows of tile values and the outcome; returns the length. */
size_t slow2048_write(const struct slow2048 *board, int outcome, char text[SLOW2048_TEXT]);

bool slow2048_equal(const struct slow2048 *a, const struct slow2048 *b);
unsigned slow2048_tiles(const struct slow2048 *board);   /* cells that are not empty */
unsigned slow2048_kinds(const struct slow2048 *board);   /* different tiles */
unsigned slow2048_highest(const struct slow2048 *board); /* 0 for an empty board */

unsigned slow2048_outcomes(const struct slow2048 *board); /* two for each empty cell */

/* The board with the outcome's tile; the board itself for SLOW2048_WAITS and SLOW2048_PLACED. */
struct slow2048 slow2048_place(const struct slow2048 *board, int outcome);

/* The legal turns, in the order left, right, up, down; returns how many. No two of them lead to the same board: a slide to the left
 * lessens the sum of value times column and keeps that of value times row, and so on. */
unsigned slow2048_turns(const struct slow2048 *board, struct slow2048_turn turns[4]);

/* One of the eight symmetries, 0..7; 0 changes nothing. */
struct slow2048 slow2048_symmetry(const struct slow2048 *board, unsigned which);

/* What the evaluators say they compute, in floating point. */
double slow2048_seed(const struct slow2048 *board);
double slow2048_score(const struct slow2048 *board);
double slow2048_heuristic(const struct slow2048 *board);

/* ---- search ---- */

struct slow2048_evaluator {
	long long (*leaf)(const void *context, const struct slow2048 *board);
	const void *context;
	long long loss; /* of a board without a turn */
};

/* Of an afterstate with `depth` turns after it; 0: it is a leaf. A chance node's value is rounded down. */
long long slow2048_afterstate(const struct slow2048 *board, unsigned depth, const struct slow2048_evaluator *evaluator);

/* Of a board that is to slide, with depth >= 1 turns left, its own included. */
long long slow2048_decision(const struct slow2048 *board, unsigned depth, const struct slow2048_evaluator *evaluator);

#endif
