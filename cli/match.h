/* Games of a contest, several at a time. */
#ifndef SMXI_CLI_MATCH_H
#define SMXI_CLI_MATCH_H

#include "cli/contest.h"

#include <starmax/parallel.h>

struct smxi_match_request {
	uint64_t seed;                        /* of the first game */
	size_t games;                         /* seeds */
	size_t at_a_time;                     /* games */
	const struct smx_parallel_plan *plan; /* of each search */
	const char *output, *transcript;      /* NULL: none */
	bool watch, json;
};

/* Play them and print them and what they say together. */
enum smxi_exit smxi_match(const struct smxi_contest *contest, const struct smxi_match_request *request);

#endif
