/* What the games of a run say together. */
#ifndef SMXI_CLI_SUMMARY_H
#define SMXI_CLI_SUMMARY_H

#include "cli/records.h"
#include "cli/statistics.h"

struct smxi_goal {
	unsigned goal;
	size_t games; /* that reached it */
	struct smxi_rate rate;
};

#define SMXI_GOALS_MAX 32

/* A player's games with the first turn, or without it. */
struct smxi_score {
	size_t wins, draws, losses;
};

struct smxi_summary {
	size_t games, cut; /* those that were played; of these: that were cut */
	struct smxi_mean turns;
	struct smxi_effort effort[SMXI_PLAYERS];

	/* of one player's games; goals: those that some game reached */
	struct smxi_mean points;
	double median;
	int64_t least, most;
	struct smxi_goal goals[SMXI_GOALS_MAX];
	size_t goal_count;

	/* of two players' games, for A: what it scored of a pair of games, a draw a half of one; its games that it began, and the others */
	struct smxi_mean share;
	struct smxi_score score[2];
};

/* Of the games that are known. Ends the program where there is no memory. */
struct smxi_summary smxi_summary(const struct smxi_records *records);

/* The contest, before its games. */
void smxi_summary_print_contest(const struct smxi_contest *contest);

/* A table of games, line by line. */
void smxi_summary_print_head(const struct smxi_records *records);
void smxi_summary_print_game(const struct smxi_records *records, const struct smxi_record *record);

void smxi_summary_print(const struct smxi_records *records, const struct smxi_summary *summary);
json_t *smxi_summary_json(const struct smxi_records *records, const struct smxi_summary *summary);

#endif
