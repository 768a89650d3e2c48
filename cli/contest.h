/* What is played, and one game of it.
 *
 * A game follows from its seed, from who begins and from how turns are chosen: the outcome before turn k depends on the seed and on k
 * alone, so that two games of one seed have the same luck as long as the game lets them. */
#ifndef SMXI_CLI_CONTEST_H
#define SMXI_CLI_CONTEST_H

#include "cli/command.h"
#include "cli/settings.h"

#define SMXI_PLAYERS 2
#define SMXI_NOBODY  (-1)

/* What the players are called. */
extern const char *const smxi_player_names[SMXI_PLAYERS];

struct smxi_player {
	struct smx_search_options options; /* table and splitter: those of whoever searches */
	size_t hash_bytes;                 /* of its table; 0: none */
	char words[SMXI_SEARCH_WORDS];     /* all of this that can change a game */
};

struct smxi_contest {
	const struct smx_game *game;
	struct smx_position start;
	unsigned player_count; /* 1 of a game with `solo`, else 2 */
	struct smxi_player players[SMXI_PLAYERS];
	uint64_t turns_max; /* after so many a game is cut; 0: none is */
};

/* What a player's turns in a game took, added up. */
struct smxi_effort {
	uint64_t turns, chance_nodes;
	uint64_t searched, depths; /* turns that did not win at once; the depths that were completed in them */
	double time_ms;
};

struct smxi_record {
	uint64_t seed;
	unsigned first; /* the player who makes the first turn */
	int winner;     /* SMXI_NOBODY: of a game that was cut, and of one player's */
	bool cut;
	int64_t points; /* of one player's game; so is `goal`, the most that its measure said */
	unsigned goal;
	struct smxi_effort effort[SMXI_PLAYERS];
};

uint64_t smxi_record_turns(const struct smxi_record *record);

#define SMXI_RESULT_TEXT 160
/* "A wins after 43 turns" */
const char *smxi_record_result(const struct smxi_contest *contest, const struct smxi_record *record,
                               char text[SMXI_RESULT_TEXT]);

struct smxi_chosen {
	struct smx_turn turn; /* a legal one */
	bool has_value;
	smx_value value;
	struct smxi_effort effort; /* of this turn, `turns` not counted */
};

enum smxi_choice {
	SMXI_CHOICE_TURN,
	SMXI_CHOICE_NONE,   /* there is no legal turn */
	SMXI_CHOICE_NO_MORE /* the game is broken off */
};

/* Choose a turn in *position, whose outcome is known, for a player; *so_far is the game without it. */
typedef enum smxi_choice smxi_chooser(void *context, const struct smx_position *position, unsigned player,
                                      const struct smxi_record *so_far, struct smxi_chosen *chosen);

/* Show a position and the turn that was chosen in it on stdout, for people. chosen: NULL: there is none. */
void smxi_contest_show(const struct smxi_contest *contest, const struct smx_position *position, unsigned player,
                       const struct smxi_record *so_far, const struct smxi_chosen *chosen);

/* Play the game of a seed that `first` begins. False where it was broken off. *record and *last say what became of it: *last is the
 * position without a legal turn, or in which a turn has won, or, of a game that is cut, after its last turn. */
bool smxi_contest_play(const struct smxi_contest *contest, uint64_t seed, unsigned first, smxi_chooser *choose,
                       void *context, struct smxi_record *record, struct smx_position *last);

#endif
