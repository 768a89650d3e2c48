/* A search that can be killed: its table is saved from time to time, and the next run begins with it.
 *
 * The table is all there is to save. It holds completed work only and changes no answer; a depth that was completed costs a
 * search that begins with it one chance node a candidate, and what was completed of the depth that was being searched is not searched again. */
#ifndef SMXI_CLI_CHECKPOINT_H
#define SMXI_CLI_CHECKPOINT_H

#include <starmax/game.h>
#include <starmax/table.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct smxi_checkpoint {
	/* the caller's, borrowed */
	const char *path; /* NULL: nothing is saved */
	uint64_t every_ms;
	const struct smx_table *table;
	const struct smx_game *game;
	const struct smx_evaluator *evaluator;

	uint64_t saves; /* of those below: whole ones while searches ran. Not to be read while one does */

	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool ends; /* under the lock */
};

/* From now on save the table so long after the last time, from a thread of its own; a save that fails is told on stderr, unless
 * the one before failed too. False: there is no thread to be had. */
bool smxi_checkpoint_begin(struct smxi_checkpoint *checkpoint);
/* Stop doing so, once a save that has begun is done. */
void smxi_checkpoint_end(struct smxi_checkpoint *checkpoint);

/* Save it now; false after an error message. */
bool smxi_checkpoint_save(const struct smxi_checkpoint *checkpoint);

/* Remove what saves to this path have left beside it in processes that were killed while they saved. */
void smxi_checkpoint_clean(const char *path);

#endif
