/* How long to think: the part of a game's clock that one turn may use.
 *
 * A policy is named, so that a game can be replayed with the budgets it was played with. All arithmetic is in integers:
 * every compiler and machine gives the same budget. */
#ifndef STARMAX_CLOCK_H
#define STARMAX_CLOCK_H

#include <starmax/status.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest remaining time and increment: 2^40 ms, about 34 years. */
#define SMX_CLOCK_MAX_MS   (INT64_C(1) << 40)

/* No cap and no target is shorter, however little time remains. */
#define SMX_CLOCK_LEAST_MS 20

/* The clock of the side to move, before its turn. */
struct smx_clock {
	int64_t remaining_ms; /* 0..SMX_CLOCK_MAX_MS */
	int64_t increment_ms; /* added after each turn; 0..SMX_CLOCK_MAX_MS */
	unsigned move_number; /* the game's full-move number, from 1 */
	unsigned moves_to_go; /* turns of this side before time is added, this one included; 0: no such limit */
};

/* SMX_CLOCK_LEAST_MS <= target_ms <= hard_cap_ms <= max(remaining_ms, SMX_CLOCK_LEAST_MS). Of two clocks that differ in
 * one field, the one with more remaining time, more increment or fewer moves to go (but not 0) has no smaller target and
 * no smaller cap. */
struct smx_budget {
	int64_t target_ms;      /* stop here unless the search has reason to go on */
	int64_t hard_cap_ms;    /* stop here whatever happens */
	int64_t moves_to_go_e4; /* the turns that the time is shared out among, in ten-thousandths of a turn */
};

/* The policies' names, in no order that means anything; NULL ends them. Both share the time out in the same way and differ
 * in how many turns they expect where moves_to_go is 0:
 * "empirical-v1"      a table over the move number: 7.5 at first, least (5.2) at move 9, 12.05 from move 60 on;
 * "legacy-linear-v1"  30 less the move number, at least 12.
 * Thread-safe. */
const char *const *smx_clock_policies(void);

/* The budget of one turn.
 *
 * Kept back are 5% of the remaining time, at least 300 ms; the rest, divided by the turns to go, plus the increment is the
 * target, in whole milliseconds rounded down. It is at most 200 ms where less than 3 s remain. The cap is a fifth of the
 * remaining time; it bounds the target. Neither is below SMX_CLOCK_LEAST_MS: with less than that on the clock the caller
 * must decide what to do, as the budget is longer than the time.
 *
 * The method is that of a public Dice Chess engine, inferred from 1260 budgets it gave, all of which are met exactly. Two
 * details that those leave open are choices made here: where the 200 ms begin (somewhere above 2.1 s and up to 5 s), and
 * "empirical-v1" beyond moves 1, 2, 4, 9, 17, 33 and 60: straight lines join these, rounded to the nearest
 * ten-thousandth, and after the last it stays.
 *
 * policy: one of smx_clock_policies(); clock: borrowed until return. budget is written where SMX_OK is returned and is
 * untouched otherwise. SMX_ERR_ARGUMENT: no such policy (the message lists them), or a field of clock out of its
 * range (the message names it). Thread-safe. */
enum smx_status smx_clock_budget(const char *policy, const struct smx_clock *clock, struct smx_budget *budget,
                                 struct smx_error *error);

#ifdef __cplusplus
}
#endif

#endif
