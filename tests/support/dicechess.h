/* Dice Chess positions for tests, through the library's public interface. What cannot be read ends the test by
 * abort(). */
#ifndef TESTS_SUPPORT_DICECHESS_H
#define TESTS_SUPPORT_DICECHESS_H

#include "games/dicechess/board.h"
#include "tests/support/oracle.h"

#include <starmax/starmax.h>

/* The evaluators that the oracle has too; NULL-terminated. */
extern const struct smx_evaluator *const dicechess_oracle_evaluators[];

/* A position from DFEN; with_roll adds the dice to text that has none. */
struct smx_position dicechess_read(const char *dfen);
struct smx_position dicechess_read_roll(const char *dfen, const char *roll);
struct smx_position dicechess_from_oracle(const struct oracle_position *position);

/* A bare state as a position without dice. */
struct smx_position dicechess_position_of(const void *state);

/* The first `fields` fields of a state's DFEN, joined by single spaces: 4 for its key's text. */
void dicechess_text(const void *state, unsigned fields, char text[SMX_TEXT_MAX]);

/* Every turn of a position, in the game's order. Winning turns have an afterstate of zeros. */
struct dicechess_turns {
	struct smx_turn *turn;
	struct smxi_dc_state *after;
	size_t count, room;
};

/* List them; free with dicechess_turns_free. */
struct dicechess_turns dicechess_list(const struct smx_position *position);
void dicechess_turns_free(struct dicechess_turns *turns);

/* Sort states by key and keep one of each; returns how many are left. */
size_t dicechess_distinct(struct smxi_dc_state *states, size_t count);

/* The sum, modulo 2^64, of the FNV-1a hashes of the states' key texts. */
uint64_t dicechess_fingerprint(const struct smxi_dc_state *states, size_t count);

#endif
