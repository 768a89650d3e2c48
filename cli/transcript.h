/* A game as a text file: a line for each turn, and about the game in lines that begin with #.
 *
 *     # starmax transcript
 *     # game 2048
 *     # seed 1 ...
 *     position<TAB>turn<TAB>value
 *     ...
 *     # result ...
 *
 * Read as a file of positions it is one: what follows a tab in such a line is ignored (lines.h). */
#ifndef SMXI_CLI_TRANSCRIPT_H
#define SMXI_CLI_TRANSCRIPT_H

#include "cli/contest.h"

#include <stdio.h>

/* A game while it is played. */
struct smxi_transcript {
	char *text; /* NULL: none is kept */
	size_t size;
	FILE *stream;
};

/* Begin with what is known of the game before it. Ends the program where there is no memory. */
void smxi_transcript_open(struct smxi_transcript *transcript, const struct smxi_contest *contest, uint64_t seed,
                          unsigned first);
void smxi_transcript_add(struct smxi_transcript *transcript, const struct smxi_contest *contest,
                         const struct smx_position *position, unsigned player, const struct smxi_chosen *chosen);
/* What became of it, as smxi_contest_play says. */
void smxi_transcript_end(struct smxi_transcript *transcript, const struct smxi_contest *contest,
                         const struct smxi_record *record, const struct smx_position *last);
/* Write it to the file of its seed, PREFIX1.txt, or with two players PREFIX1-A.txt where A begins; false after an error message. */
bool smxi_transcript_save(const struct smxi_transcript *transcript, const struct smxi_contest *contest,
                          const char *prefix, uint64_t seed, unsigned first);
void smxi_transcript_close(struct smxi_transcript *transcript);

#endif
