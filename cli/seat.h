/* Where turns of a contest are searched: one thread's search, with a table for each player. */
#ifndef SMXI_CLI_SEAT_H
#define SMXI_CLI_SEAT_H

#include "cli/contest.h"
#include "cli/engine.h"

struct smxi_seat {
	struct smxi_engine engine;
	struct smx_table *tables[SMXI_PLAYERS]; /* NULL: that player has none */
};

/* False after an error message; to be left all the same. */
bool smxi_seat_take(struct smxi_seat *seat, const struct smxi_contest *contest, const struct smx_parallel_plan *plan);
void smxi_seat_leave(struct smxi_seat *seat);

/* Forget other games. */
void smxi_seat_begin(struct smxi_seat *seat);

/* Search a position as a player does; `exact` candidates get exact values even if they lose. */
enum smx_status smxi_seat_search(struct smxi_seat *seat, const struct smxi_contest *contest,
                                 const struct smx_position *position, unsigned player, size_t exact,
                                 const struct smx_result **result, struct smx_error *error);

/* Choose a turn; SMXI_CHOICE_NO_MORE where the search was told to end. False, and *error has a message, where it failed. */
bool smxi_seat_choose(struct smxi_seat *seat, const struct smxi_contest *contest, const struct smx_position *position,
                      unsigned player, enum smxi_choice *choice, struct smxi_chosen *chosen, struct smx_error *error);

#endif
