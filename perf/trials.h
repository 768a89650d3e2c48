/* Searches that are drawn: what is searched, with which options, and in which schedule. */
#ifndef SMXI_PERF_TRIALS_H
#define SMXI_PERF_TRIALS_H

#include "perf/virtual.h"

#include <starmax/starmax.h>

struct trial {
	uint64_t seed;
	const struct smx_game *game;
	struct smx_position position;
	struct smx_search_options options;
	struct smxi_virtual_options schedule;
};

/* Draw all but the seed and the schedule: by halves Dice Chess, at most three turns deep, and a tree made by hashing (tests/support/toy.h),
 * mostly deeper, so that frames lie below frames. */
void smxi_trial_draw(struct trial *t, uint64_t *seed);

/* Where one of these fails, the program ends with status 2. */
struct smx_search *smxi_trial_create_search(const struct trial *t);
const struct smx_result *smxi_trial_search(struct smx_search *search, const struct trial *t,
                                           const struct smx_search_options *options);
_Noreturn void smxi_trial_fail(const char *what, const char *text);

#endif
