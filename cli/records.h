/* The games of a run, as JSON lines and in a file from which the next run goes on. */
#ifndef SMXI_CLI_RECORDS_H
#define SMXI_CLI_RECORDS_H

#include "cli/contest.h"

#include <jansson.h>

#define SMXI_CONFIG_TEXT 17 /* 16 hexadecimal digits */

/* Games of consecutive seeds; of two players two for each seed, the first begun by A, the second by B. */
struct smxi_records {
	const struct smxi_contest *contest;
	char config[SMXI_CONFIG_TEXT]; /* a fingerprint of all that a game follows from, besides its seed and who begins */
	uint64_t seed;                 /* the first */
	size_t count;                  /* games */
	struct smxi_record *record;
	bool *is_known; /* of each: it has been played */
};

/* Room for the games of so many seeds. Ends the program where there is no memory. */
void smxi_records_open(struct smxi_records *records, const struct smxi_contest *contest, uint64_t seed, size_t seeds);
void smxi_records_close(struct smxi_records *records);

/* Which game that is: its seed and who begins. */
uint64_t smxi_records_seed(const struct smxi_records *records, size_t index);
unsigned smxi_records_first(const struct smxi_records *records, size_t index);

/* A game as docs/json.md has it. */
json_t *smxi_records_json(const struct smxi_records *records, const struct smxi_record *record);

/* Open a file that games are added to, one line each, and take those of `records` that it has. What a killed process has left
 * of a line at its end is cut off. Returns its descriptor; -1 after an error message: it cannot be read or written, another process adds
 * to it, or it is not of such games. */
int smxi_records_resume(struct smxi_records *records, const char *path);

/* Add a game to the file; false after an error message. */
bool smxi_records_append(const struct smxi_records *records, int file, const struct smxi_record *record);

#endif
