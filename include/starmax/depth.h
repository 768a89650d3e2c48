/* A depth that depends on the position: deep where a position has few outcomes, or where much is at stake. The search of each position is
 * exact for the depth that it gets. */
#ifndef STARMAX_DEPTH_H
#define STARMAX_DEPTH_H

#include <starmax/game.h>
#include <starmax/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SMX_DEPTH_MAX       64
#define SMX_DEPTH_STEPS_MAX 32

struct smx_depth_step {
	unsigned most; /* of the measure: positions up to it ... */
	unsigned depth_plies;
};

struct smx_depth_rule {
	const struct smx_measure *measure; /* of the game; NULL: the number of outcomes of the position's chance node */
	unsigned count;
	struct smx_depth_step steps[SMX_DEPTH_STEPS_MAX]; /* ascending */
	unsigned depth_plies;                             /* of all other positions; 0: this is no rule */
};

/* Read a rule: a measure's name or "outcomes", a colon, steps "most=depth" with commas between them, and last the depth of all other
 * positions: "outcomes:8=6,16=5,4". Depths are from 1 to SMX_DEPTH_MAX. SMX_ERR_PARSE where text is no such rule; *rule is then untouched. */
enum smx_status smx_depth_rule_parse(const struct smx_game *game, const char *text, struct smx_depth_rule *rule,
                                     struct smx_error *error);

/* The depth that a rule gives a position of that game. Thread-safe. */
unsigned smx_depth_of(const struct smx_depth_rule *rule, const struct smx_game *game,
                      const struct smx_position *position);

#ifdef __cplusplus
}
#endif

#endif
