/* A game that was played, from its transcript: checked turn by turn, and searched. */
#ifndef SMXI_CLI_REPLAY_H
#define SMXI_CLI_REPLAY_H

#include "cli/contest.h"

#include <starmax/parallel.h>

struct smxi_script_line {
	uint64_t number;       /* in the file */
	char *position, *turn; /* into one piece of memory, which `position` begins */
};

/* A transcript as it was read. */
struct smxi_script {
	char name[200];                                                /* of the file, printable */
	char *game, *start, *seed, *turns_max, *first, *last, *result; /* NULL: none */
	struct smxi_script_line *lines;
	size_t count, room;
};

/* Read one; false after an error message: it cannot be read, or lacks something. Close it in either case. */
bool smxi_script_read(struct smxi_script *script, const char *path);
void smxi_script_close(struct smxi_script *script);

struct smxi_replay_request {
	const struct smxi_script *script;
	const struct smx_parallel_plan *plan;
	bool analyze, watch, json;
};

/* Play the script's game, which is that of the contest and begins as it does, and print what became of it; with `analyze` what each
 * turn has lost, in the search of its player. */
enum smxi_exit smxi_replay(const struct smxi_contest *contest, const struct smxi_replay_request *request);

#endif
