#define _POSIX_C_SOURCE 200809L

#include "cli/summary.h"

#include "cli/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int by_points(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;
	return left < right ? -1 : left > right;
}

/* The points of all games that are known, ascending. */
static void summarize_points(const struct smxi_records *records, struct smxi_summary *summary)
{
	double *points = smxi_allocate(summary->games, sizeof *points);
	size_t count = 0;
	for (size_t i = 0; i < records->count; i++) {
		if (records->is_known[i])
			points[count++] = (double)records->record[i].points;
	}
	qsort(points, count, sizeof *points, by_points);
	summary->points = smxi_mean_of(points, count);
	summary->median = (points[(count - 1) / 2] + points[count / 2]) / 2;
	summary->least = (int64_t)points[0];
	summary->most = (int64_t)points[count - 1];
	free(points);
}

static void summarize_goals(const struct smxi_records *records, struct smxi_summary *summary)
{
	for (const unsigned *goal = records->contest->game->solo->goals; *goal; goal++) {
		struct smxi_goal reached = {.goal = *goal};
		for (size_t i = 0; i < records->count; i++)
			reached.games += records->is_known[i] && records->record[i].goal >= *goal;
		reached.rate = smxi_rate_of(reached.games, summary->games);
		if (reached.games && summary->goal_count < SMXI_GOALS_MAX)
			summary->goals[summary->goal_count++] = reached;
	}
}

/* Twice what A scored. */
static unsigned half_points(const struct smxi_record *record)
{
	return record->winner == 0 ? 2 : record->winner == SMXI_NOBODY;
}

static void summarize_score(const struct smxi_records *records, struct smxi_summary *summary)
{
	double *shares = smxi_allocate(records->count / SMXI_PLAYERS, sizeof *shares);
	size_t pairs = 0;
	for (size_t i = 0; i < records->count; i++) {
		const struct smxi_record *record = &records->record[i];
		struct smxi_score *score = &summary->score[record->first];
		if (!records->is_known[i])
			continue;
		score->wins += half_points(record) == 2;
		score->draws += half_points(record) == 1;
		score->losses += half_points(record) == 0;
		if (i % SMXI_PLAYERS && records->is_known[i - 1])
			shares[pairs++] = (half_points(record) + half_points(record - 1)) / 4.0;
	}
	summary->share = smxi_mean_of(shares, pairs);
	free(shares);
}

struct smxi_summary smxi_summary(const struct smxi_records *records)
{
	struct smxi_summary summary = {0};
	double *turns = smxi_allocate(records->count, sizeof *turns);
	for (size_t i = 0; i < records->count; i++) {
		const struct smxi_record *record = &records->record[i];
		if (!records->is_known[i])
			continue;
		turns[summary.games++] = (double)smxi_record_turns(record);
		summary.cut += record->cut;
		for (unsigned p = 0; p < SMXI_PLAYERS; p++) {
			summary.effort[p].turns += record->effort[p].turns;
			summary.effort[p].searched += record->effort[p].searched;
			summary.effort[p].depths += record->effort[p].depths;
			summary.effort[p].chance_nodes += record->effort[p].chance_nodes;
			summary.effort[p].time_ms += record->effort[p].time_ms;
		}
	}
	summary.turns = smxi_mean_of(turns, summary.games);
	free(turns);
	if (records->contest->player_count == SMXI_PLAYERS) {
		summarize_score(records, &summary);
	} else if (summary.games) {
		summarize_points(records, &summary);
		summarize_goals(records, &summary);
	}
	return summary;
}

/* ---- text ---- */

static const char *player_label(const struct smxi_contest *contest, unsigned player)
{
	return contest->player_count == 1 ? "search" : smxi_player_names[player];
}

void smxi_summary_print_contest(const struct smxi_contest *contest)
{
	char text[SMX_TEXT_MAX];
	contest->game->format(&contest->start, text);
	printf("game       %s, from %s\n", contest->game->name, text);
	for (unsigned i = 0; i < contest->player_count; i++)
		printf("%-10s %s\n", player_label(contest, i), contest->players[i].words);
}

static double per_second(const struct smxi_effort *effort)
{
	return effort->time_ms > 0 ? (double)effort->turns / effort->time_ms * 1e3 : 0;
}

static double mean_depth(const struct smxi_effort *effort)
{
	return effort->searched ? (double)effort->depths / (double)effort->searched : 0;
}

/* Wide enough for the last seed. */
static int seed_width(const struct smxi_records *records)
{
	const int width = snprintf(NULL, 0, "%" PRIu64, smxi_records_seed(records, records->count - 1));
	return width < 4 ? 4 : width;
}

static int goal_width(const struct smx_solo *solo)
{
	const int width = snprintf(NULL, 0, "%s", solo->goal->title);
	return width < 10 ? 10 : width;
}

void smxi_summary_print_head(const struct smxi_records *records)
{
	const struct smx_solo *solo = records->contest->game->solo;
	printf("\n%*s", seed_width(records), "seed");
	if (solo)
		printf("  %14s  %*s  %8s  %9s\n", solo->points, goal_width(solo), solo->goal->title, "turns", "turns/s");
	else
		printf("  %-5s  %-6s  %8s  %11s  %11s\n", "first", "winner", "turns", "A's turns/s", "B's turns/s");
}

void smxi_summary_print_game(const struct smxi_records *records, const struct smxi_record *record)
{
	const struct smx_solo *solo = records->contest->game->solo;
	const char *cut = record->cut ? "  cut" : "";
	const uint64_t turns = smxi_record_turns(record);
	printf("%*" PRIu64, seed_width(records), record->seed);
	if (solo)
		printf("  %14" PRId64 "  %*u  %8" PRIu64 "  %9.0f%s\n", record->points, goal_width(solo), record->goal, turns,
		       per_second(&record->effort[0]), cut);
	else
		printf("  %-5s  %-6s  %8" PRIu64 "  %11.0f  %11.0f%s\n", smxi_player_names[record->first],
		       record->winner == SMXI_NOBODY ? "-" : smxi_player_names[record->winner], turns,
		       per_second(&record->effort[0]), per_second(&record->effort[1]), cut);
}

static void print_mean(const char *label, const struct smxi_mean *mean)
{
	char text[SMXI_REPORT_TEXT];
	printf("%-10s mean %s", label, smxi_report_real(mean->mean, text));
	if (!mean->has_range)
		return;
	printf(", 95%% interval %s", smxi_report_real(mean->low, text));
	printf(" to %s", smxi_report_real(mean->high, text));
}

static void print_solo(const struct smxi_contest *contest, const struct smxi_summary *summary)
{
	const struct smx_solo *solo = contest->game->solo;
	char text[SMXI_REPORT_TEXT];
	print_mean(solo->points, &summary->points);
	printf("; median %s", smxi_report_real(summary->median, text));
	printf(", from %s", smxi_report_real((double)summary->least, text));
	printf(" to %s\n", smxi_report_real((double)summary->most, text));
	if (summary->goal_count)
		printf("reached    %s, in so many of the games (95%% interval):\n", solo->goal->title);
	for (size_t i = 0; i < summary->goal_count; i++) {
		const struct smxi_goal *goal = &summary->goals[i];
		printf("%10u  %5.1f%%  (%.1f%% to %.1f%%)\n", goal->goal, 100 * goal->rate.rate, 100 * goal->rate.low,
		       100 * goal->rate.high);
	}
}

static void print_score(const struct smxi_score *score, const char *label)
{
	printf("%-10s A wins %zu, loses %zu", label, score->wins, score->losses);
	if (score->draws)
		printf(", draws %zu", score->draws);
	putchar('\n');
}

/* A share of what can be had. */
static double within(double share)
{
	return share < 0 ? 0 : share > 1 ? 1 : share;
}

static void print_pairs(const struct smxi_summary *summary)
{
	const struct smxi_mean *share = &summary->share;
	const struct smxi_score *score = summary->score;
	const struct smxi_score all = {score[0].wins + score[1].wins, score[0].draws + score[1].draws,
	                               score[0].losses + score[1].losses};
	print_score(&all, "result");
	print_score(&score[0], "A begins");
	print_score(&score[1], "B begins");
	if (share->count)
		printf("score      %.1f%% for A", 100 * share->mean);
	if (share->has_range)
		printf(", 95%% interval %.1f%% to %.1f%%", 100 * within(share->low), 100 * within(share->high));
	if (share->count)
		printf(", over %zu pair%s of games\n", share->count, share->count == 1 ? "" : "s");
}

void smxi_summary_print(const struct smxi_records *records, const struct smxi_summary *summary)
{
	const struct smxi_contest *contest = records->contest;
	char number[SMXI_REPORT_TEXT];
	printf("\ngames      %zu", summary->games);
	if (summary->games < records->count)
		printf(" of %zu", records->count);
	if (summary->cut)
		printf(", %zu cut after %s turns", summary->cut, smxi_report_count(contest->turns_max, number));
	putchar('\n');
	if (!summary->games)
		return;
	if (contest->game->solo)
		print_solo(contest, summary);
	else
		print_pairs(summary);
	print_mean("turns", &summary->turns);
	putchar('\n');
	for (unsigned i = 0; i < contest->player_count; i++)
		printf("%-10s %s turns a second of its own time, mean depth %.2f\n", player_label(contest, i),
		       smxi_report_real(per_second(&summary->effort[i]), number), mean_depth(&summary->effort[i]));
}

/* ---- JSON ---- */

static json_t *json_mean(const struct smxi_mean *mean)
{
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "mean", json_real(mean->mean));
	smxi_json_set(object, "low", mean->has_range ? json_real(mean->low) : json_null());
	smxi_json_set(object, "high", mean->has_range ? json_real(mean->high) : json_null());
	return object;
}

static json_t *json_goals(const struct smxi_summary *summary)
{
	json_t *array = smxi_json(json_array());
	for (size_t i = 0; i < summary->goal_count; i++) {
		const struct smxi_goal *goal = &summary->goals[i];
		json_t *object = smxi_json(json_object());
		smxi_json_set(object, "goal", json_integer(goal->goal));
		smxi_json_set(object, "games", smxi_json_count(goal->games));
		smxi_json_set(object, "rate", json_real(goal->rate.rate));
		smxi_json_set(object, "low", json_real(goal->rate.low));
		smxi_json_set(object, "high", json_real(goal->rate.high));
		smxi_json_append(array, object);
	}
	return array;
}

static json_t *json_points(const struct smxi_summary *summary)
{
	json_t *object = json_mean(&summary->points);
	smxi_json_set(object, "median", json_real(summary->median));
	smxi_json_set(object, "least", json_integer(summary->least));
	smxi_json_set(object, "most", json_integer(summary->most));
	return object;
}

static json_t *json_score(const struct smxi_score *score)
{
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "wins", smxi_json_count(score->wins));
	smxi_json_set(object, "draws", smxi_json_count(score->draws));
	smxi_json_set(object, "losses", smxi_json_count(score->losses));
	return object;
}

static json_t *json_pairs(const struct smxi_summary *summary)
{
	json_t *object = json_mean(&summary->share);
	smxi_json_set(object, "pairs", smxi_json_count(summary->share.count));
	smxi_json_set(object, "begun", json_score(&summary->score[0]));
	smxi_json_set(object, "not_begun", json_score(&summary->score[1]));
	return object;
}

static json_t *json_player(const struct smxi_contest *contest, const struct smxi_summary *summary, unsigned player)
{
	const struct smx_search_options *options = &contest->players[player].options;
	const struct smxi_effort *effort = &summary->effort[player];
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "player", json_string(smxi_player_names[player]));
	smxi_json_set(object, "search", json_string(contest->players[player].words));
	smxi_json_set(object, "depth", json_integer(options->depth_plies));
	smxi_json_set(object, "width", options->width ? smxi_json_count(options->width) : json_null());
	smxi_json_set(object, "evaluator", json_string(options->evaluator->name));
	smxi_json_set(object, "prerank", json_string(options->prerank->name));
	smxi_json_set(object, "nodes", options->node_limit ? smxi_json_count(options->node_limit) : json_null());
	smxi_json_set(object, "movetime_ms", options->time_limit_ms > 0 ? json_real(options->time_limit_ms) : json_null());
	smxi_json_set(object, "rescore", smxi_search_json_rescore(options));
	smxi_json_set(object, "selective", smxi_search_json_selective(options));
	smxi_json_set(object, "turns", smxi_json_count(effort->turns));
	smxi_json_set(object, "turns_per_second", json_real(per_second(effort)));
	smxi_json_set(object, "mean_depth", json_real(mean_depth(effort)));
	smxi_json_set(object, "chance_nodes", smxi_json_count(effort->chance_nodes));
	return object;
}

json_t *smxi_summary_json(const struct smxi_records *records, const struct smxi_summary *summary)
{
	const struct smxi_contest *contest = records->contest;
	const struct smx_solo *solo = contest->game->solo;
	char text[SMX_TEXT_MAX];
	json_t *object = smxi_json(json_object()), *players = smxi_json(json_array());
	for (unsigned i = 0; i < contest->player_count; i++)
		smxi_json_append(players, json_player(contest, summary, i));
	contest->game->format(&contest->start, text);
	smxi_json_set(object, "summary", json_true());
	smxi_json_set(object, "game", json_string(contest->game->name));
	smxi_json_set(object, "start", json_string(text));
	smxi_json_set(object, "version", json_string(smx_version()));
	smxi_json_set(object, "config", json_string(records->config));
	smxi_json_set(object, "turns_max", contest->turns_max ? smxi_json_count(contest->turns_max) : json_null());
	smxi_json_set(object, "games", smxi_json_count(summary->games));
	smxi_json_set(object, "missing", smxi_json_count(records->count - summary->games));
	smxi_json_set(object, "cut", smxi_json_count(summary->cut));
	smxi_json_set(object, "turns", json_mean(&summary->turns));
	smxi_json_set(object, "points", solo && summary->games ? json_points(summary) : json_null());
	smxi_json_set(object, "goal", solo ? json_string(solo->goal->name) : json_null());
	smxi_json_set(object, "goals", solo ? json_goals(summary) : json_null());
	smxi_json_set(object, "score", solo ? json_null() : json_pairs(summary));
	smxi_json_set(object, "players", players);
	return object;
}
