/* A game without rules for tests of the search: a tree that is made by hashing, so that every seed is another one.
 *
 * A state's key and kind decide everything about it: outcomes, their weights, which of them end the game, how many
 * afterstates the others have and which of a node's afterstates several outcomes share. The seed's low bits are the
 * kind. Text is "toy SEED" or, with an outcome, "toy SEED OUTCOME"; only first positions have text that can be read
 * again. */
#ifndef TESTS_SUPPORT_TOY_H
#define TESTS_SUPPORT_TOY_H

#include <starmax/starmax.h>

/* Kinds of tree: bits of a seed. */
enum {
	TOY_SMALL = 1,           /* at most 3 outcomes and 3 afterstates an outcome, else 8 and 5 */
	TOY_MANY = 2,            /* up to 64 outcomes; not with TOY_SMALL */
	TOY_RANDOM_SIDES = 4,    /* who moves next is random, else the sides take turns */
	TOY_NEVER_LOST = 8,      /* no outcome loses for the side to move */
	TOY_ENDLESS = 16,        /* nor wins */
	TOY_TRANSPOSITIONS = 32, /* a few states a ply, which all nodes share */
	TOY_KIND_BITS = 6
};

struct toy_state {
	struct smx_key key;
	uint64_t id;
	uint32_t ply;
	uint8_t side, kind, padding[2];
};

/* Without hooks; with `won`; with all hooks. They share their evaluators. `look` and
 * `bound` compute the true value and widen it at random, for one and for two turns left. */
extern const struct smx_game toy_plain, toy_won, toy_hooked;

/* One side's value is not the other's negated. NULL-terminated. */
extern const struct smx_evaluator *const toy_evaluators[];

/* The first position of a seed's tree. */
struct smx_position toy_position(uint64_t seed, int outcome);

#endif
