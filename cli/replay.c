#define _POSIX_C_SOURCE 200809L

#include "cli/replay.h"

#include "cli/interrupt.h"
#include "cli/report.h"
#include "cli/seat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the file ---- */

static char *copy_text(const char *text)
{
	char *copy = strdup(text);
	if (!copy)
		smxi_out_of_memory();
	return copy;
}

/* "# key value" */
static void read_comment(struct smxi_script *script, const char *line)
{
	const struct {
		const char *key;
		char **value;
	} known[] = {
		{"# game ", &script->game},           {"# start ", &script->start}, {"# seed ", &script->seed},
		{"# turns-max ", &script->turns_max}, {"# first ", &script->first}, {"# last ", &script->last},
		{"# result ", &script->result},
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		const size_t length = strlen(known[i].key);
		if (!strncmp(line, known[i].key, length) && !*known[i].value)
			*known[i].value = copy_text(line + length);
	}
}

static bool read_turn(struct smxi_script *script, const char *line, uint64_t number)
{
	const char *tab = strchr(line, '\t');
	if (!tab) {
		smxi_error("%s:%" PRIu64 ": there is no turn behind the position", script->name, number);
		return false;
	}
	if (script->count == script->room) {
		script->room = script->room ? 2 * script->room : 256;
		script->lines = smxi_reallocate(script->lines, script->room, sizeof *script->lines);
	}
	struct smxi_script_line *added = &script->lines[script->count++];
	*added = (struct smxi_script_line){.number = number, .position = copy_text(line)};
	added->turn = added->position + (tab - line);
	*added->turn++ = '\0';
	added->turn[strcspn(added->turn, "\t")] = '\0';
	return true;
}

static bool read_lines(struct smxi_script *script, FILE *file)
{
	char *line = NULL;
	size_t room = 0;
	bool ok = true;
	for (uint64_t number = 1; ok && getline(&line, &room, file) >= 0; number++) {
		line[strcspn(line, "\r\n")] = '\0';
		if (*line == '#')
			read_comment(script, line);
		else if (*line)
			ok = read_turn(script, line, number);
	}
	if (ok && !feof(file)) {
		smxi_error("cannot read %s: %s", script->name, strerror(errno));
		ok = false;
	}
	free(line);
	return ok;
}

bool smxi_script_read(struct smxi_script *script, const char *path)
{
	*script = (struct smxi_script){.count = 0};
	smxi_printable(path, script->name, sizeof script->name);
	FILE *file = fopen(path, "r");
	if (!file) {
		smxi_error("cannot open %s: %s", script->name, strerror(errno));
		return false;
	}
	bool ok = read_lines(script, file);
	fclose(file);
	const char *missing = !script->game        ? "game"
	                      : !script->start     ? "start"
	                      : !script->seed      ? "seed"
	                      : !script->turns_max ? "turns-max"
	                      : !script->first     ? "first"
	                      : !script->last      ? "last"
	                      : !script->result    ? "result"
	                                           : NULL;
	if (ok && missing) {
		smxi_error("%s is no whole transcript: it has no line \"# %s ...\"", script->name, missing);
		ok = false;
	}
	return ok;
}

void smxi_script_close(struct smxi_script *script)
{
	char *const texts[] = {script->game,  script->start, script->seed,  script->turns_max,
	                       script->first, script->last,  script->result};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		free(texts[i]);
	for (size_t i = 0; i < script->count; i++)
		free(script->lines[i].position);
	free(script->lines);
	*script = (struct smxi_script){.count = 0};
}

/* ---- the game ---- */

/* What a player's turns have lost, in its evaluator's unit. */
struct loss {
	size_t turns, known;
	double sum;
};

struct replay {
	const struct smxi_contest *contest;
	const struct smxi_replay_request *request;
	struct smxi_seat seat;
	size_t next; /* line */
	bool failed;
	struct loss losses[SMXI_PLAYERS];
};

__attribute__((format(printf, 2, 3))) static void refuse(struct replay *replay, const char *format, ...)
{
	const struct smxi_script *script = replay->request->script;
	char reason[2 * SMX_TEXT_MAX + 200];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(reason, sizeof reason, format, arguments);
	va_end(arguments);
	replay->failed = true;
	if (replay->next < script->count)
		smxi_error("%s:%" PRIu64 ": %s", script->name, script->lines[replay->next].number, reason);
	else
		smxi_error("%s: %s", script->name, reason);
}

/* Among the legal turns: one by its text, and the first one that leads where it does. */
struct find {
	const struct smx_game *game;
	const char *text; /* NULL: the one that leads to `after` */
	struct smx_turn turn;
	struct smx_key after; /* of the position behind it; not of a turn that wins */
	bool found, any;
};

static bool find_turn(void *context, const struct smx_turn *turn, const void *afterstate)
{
	struct find *find = context;
	char text[SMX_TEXT_MAX];
	const struct smx_state *after = afterstate;
	find->any = true;
	if (find->text)
		find->found = !strcmp(smxi_report_turn(find->game, turn, text), find->text);
	else
		find->found = after && !memcmp(&after->key, &find->after, sizeof after->key);
	if (!find->found)
		return true;
	find->turn = *turn;
	if (after)
		find->after = after->key;
	return false;
}

static const struct smx_candidate *equal_candidate(const struct smx_result *result, const struct smx_turn *turn)
{
	for (size_t i = 0; i < result->candidate_count; i++) {
		if (smx_turn_equal(&result->candidates[i].turn, turn))
			return &result->candidates[i];
	}
	return NULL;
}

/* The candidate that a turn is, or whose position it leads to, if it has an exact value; else NULL. */
static const struct smx_candidate *find_value(const struct smx_game *game, const struct smx_position *position,
                                              const struct smx_result *result, const struct find *played)
{
	const struct smx_candidate *candidate = equal_candidate(result, &played->turn);
	if (!candidate && !played->turn.wins) {
		struct find same = {.game = game, .after = played->after};
		game->turns(position, find_turn, &same);
		candidate = equal_candidate(result, &same.turn);
	}
	return candidate && candidate->completed && candidate->exact ? candidate : NULL;
}

/* What a search says of the turn that was played. */
struct judgement {
	struct smx_turn best;
	bool has_best, has_value; /* value: of the turn that was played */
	smx_value best_value, value;
};

/* False where the search was ended, or failed. */
static bool search(struct replay *replay, const struct smx_position *position, unsigned player, size_t exact,
                   const struct find *played, struct judgement *judgement)
{
	struct smx_error error = {0};
	const struct smx_result *result;
	if (smxi_seat_search(&replay->seat, replay->contest, position, player, exact, &result, &error) != SMX_OK) {
		smxi_error("%s", error.message);
		replay->failed = true;
		return false;
	}
	const struct smx_candidate *found = find_value(replay->contest->game, position, result, played);
	*judgement = (struct judgement){
		.best = result->turn,
		.has_best = result->has_value,
		.has_value = found || (result->kind == SMX_RESULT_WIN && played->turn.wins),
		.best_value = result->value,
		.value = found ? found->value : result->value,
	};
	return !result->stopped || result->limit_reached;
}

static const char *turn_or_none(const struct smx_game *game, const struct judgement *judgement, char text[SMX_TEXT_MAX])
{
	return judgement->has_best ? smxi_report_turn(game, &judgement->best, text) : "-";
}

static const char *value_or_none(bool is_known, smx_value value, const struct smx_evaluator *evaluator,
                                 char text[SMXI_REPORT_TEXT])
{
	return is_known ? smxi_report_value(value, evaluator, text) : "-";
}

static void print_judgement(const struct replay *replay, unsigned player, const struct judgement *judgement)
{
	const struct smx_evaluator *evaluator = replay->contest->players[player].options.evaluator;
	char best[SMX_TEXT_MAX], value[SMXI_REPORT_TEXT], best_value[SMXI_REPORT_TEXT], lost[SMXI_REPORT_TEXT];
	const bool has_loss = judgement->has_best && judgement->has_value;
	printf("%5zu  %-6s  %-22s  %13s  %-22s  %13s  %13s\n", replay->next + 1, smxi_player_names[player],
	       replay->request->script->lines[replay->next].turn,
	       value_or_none(judgement->has_value, judgement->value, evaluator, value),
	       turn_or_none(replay->contest->game, judgement, best),
	       value_or_none(judgement->has_best, judgement->best_value, evaluator, best_value),
	       value_or_none(has_loss, judgement->best_value - judgement->value, evaluator, lost));
	fflush(stdout);
}

static void set_value(json_t *object, const char *name, const char *raw_name, bool is_known, smx_value value,
                      unsigned scale_bits)
{
	smxi_json_set(object, name, is_known ? smxi_json_value(value, scale_bits) : json_null());
	smxi_json_set(object, raw_name, is_known ? json_integer(value) : json_null());
}

static void print_judgement_json(const struct replay *replay, unsigned player, const struct judgement *judgement)
{
	const struct smx_search_options *options = &replay->contest->players[player].options;
	const struct smxi_script_line *line = &replay->request->script->lines[replay->next];
	const unsigned scale_bits = options->evaluator->scale_bits;
	const bool has_loss = judgement->has_best && judgement->has_value;
	char best[SMX_TEXT_MAX];
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "turn", smxi_json_count(replay->next + 1));
	smxi_json_set(object, "player", json_string(smxi_player_names[player]));
	smxi_json_set(object, "position", json_string(line->position));
	smxi_json_set(object, "played", json_string(line->turn));
	set_value(object, "value", "raw", judgement->has_value, judgement->value, scale_bits);
	smxi_json_set(object, "best",
	              judgement->has_best ? json_string(turn_or_none(replay->contest->game, judgement, best))
	                                  : json_null());
	set_value(object, "best_value", "best_raw", judgement->has_best, judgement->best_value, scale_bits);
	set_value(object, "loss", "loss_raw", has_loss, judgement->best_value - judgement->value, scale_bits);
	smxi_json_print(object);
}

/* Search the position of a turn, once more where the search did not need that turn's exact value. False where that was ended, or failed. */
static bool judge(struct replay *replay, const struct smx_position *position, unsigned player,
                  const struct find *played)
{
	const struct smx_search_options *options = &replay->contest->players[player].options;
	struct loss *loss = &replay->losses[player];
	struct judgement judgement;
	if (!search(replay, position, player, 0, played, &judgement) ||
	    (!judgement.has_value && !search(replay, position, player, SMX_EXACT_ALL, played, &judgement)))
		return false;
	loss->turns++;
	if (judgement.has_best && judgement.has_value) {
		loss->known++;
		loss->sum +=
			(double)(judgement.best_value - judgement.value) / (double)(UINT64_C(1) << options->evaluator->scale_bits);
	}
	if (replay->request->json)
		print_judgement_json(replay, player, &judgement);
	else
		print_judgement(replay, player, &judgement);
	return true;
}

/* What stands in the next line, if it is as it must be. */
static enum smxi_choice choose(void *context, const struct smx_position *position, unsigned player,
                               const struct smxi_record *so_far, struct smxi_chosen *chosen)
{
	struct replay *replay = context;
	const struct smxi_script *script = replay->request->script;
	const struct smx_game *game = replay->contest->game;
	const bool is_over = replay->next == script->count;
	struct find played = {.game = game, .text = is_over ? "" : script->lines[replay->next].turn};
	char text[SMX_TEXT_MAX];
	game->format(position, text);
	game->turns(position, find_turn, &played);
	if (is_over && played.any)
		refuse(replay, "there is no turn %zu, in %s", replay->next + 1, text);
	else if (!is_over && strcmp(text, script->lines[replay->next].position) != 0)
		refuse(replay, "the position of turn %zu must be %s", replay->next + 1, text);
	else if (!is_over && !played.found)
		refuse(replay, "turn %zu is not a legal one", replay->next + 1);
	if (replay->failed)
		return SMXI_CHOICE_NO_MORE;
	*chosen = (struct smxi_chosen){.turn = played.turn};
	if (replay->request->watch)
		smxi_contest_show(replay->contest, position, player, so_far, is_over ? NULL : chosen);
	if (is_over)
		return SMXI_CHOICE_NONE;
	if (replay->request->analyze && !judge(replay, position, player, &played))
		return SMXI_CHOICE_NO_MORE;
	replay->next++;
	return SMXI_CHOICE_TURN;
}

static void check_end(struct replay *replay, const struct smxi_record *record, const struct smx_position *last)
{
	const struct smxi_script *script = replay->request->script;
	char text[SMX_TEXT_MAX], result[SMXI_RESULT_TEXT];
	replay->contest->game->format(last, text);
	smxi_record_result(replay->contest, record, result);
	if (replay->next < script->count)
		refuse(replay, "the game is over: %s", result);
	else if (strcmp(text, script->last) != 0)
		refuse(replay, "the last position must be %s", text);
	else if (strcmp(result, script->result) != 0)
		refuse(replay, "the result must be: %s", result);
}

static void print_losses(const struct replay *replay)
{
	for (unsigned i = 0; i < replay->contest->player_count; i++) {
		const struct loss *loss = &replay->losses[i];
		const struct smx_evaluator *evaluator = replay->contest->players[i].options.evaluator;
		printf("%-10s ", smxi_player_names[i]);
		if (loss->known)
			printf("mean loss %.6g %s a turn, ", loss->sum / (double)loss->known, evaluator->unit);
		printf("%zu of %zu turns known\n", loss->known, loss->turns);
	}
}

static json_t *json_losses(const struct replay *replay)
{
	json_t *array = smxi_json(json_array());
	for (unsigned i = 0; i < replay->contest->player_count; i++) {
		const struct loss *loss = &replay->losses[i];
		json_t *object = smxi_json(json_object());
		smxi_json_set(object, "player", json_string(smxi_player_names[i]));
		smxi_json_set(object, "search", json_string(replay->contest->players[i].words));
		smxi_json_set(object, "turns", smxi_json_count(loss->turns));
		smxi_json_set(object, "known", smxi_json_count(loss->known));
		smxi_json_set(object, "mean_loss", loss->known ? json_real(loss->sum / (double)loss->known) : json_null());
		smxi_json_append(array, object);
	}
	return array;
}

/* is_whole: the game was replayed to its end. */
static void print_json(const struct replay *replay, const struct smxi_record *record, bool is_whole)
{
	const struct smx_solo *solo = replay->contest->game->solo;
	const int winner = record->winner;
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "summary", json_true());
	smxi_json_set(object, "game", json_string(replay->contest->game->name));
	smxi_json_set(object, "seed", smxi_json_count(record->seed));
	smxi_json_set(object, "first", json_string(smxi_player_names[record->first]));
	smxi_json_set(object, "whole", json_boolean(is_whole));
	smxi_json_set(object, "winner", winner == SMXI_NOBODY ? json_null() : json_string(smxi_player_names[winner]));
	smxi_json_set(object, "points", solo ? json_integer(record->points) : json_null());
	smxi_json_set(object, "goal", solo ? json_integer(record->goal) : json_null());
	smxi_json_set(object, "cut", json_boolean(record->cut));
	smxi_json_set(object, "turns", smxi_json_count(smxi_record_turns(record)));
	smxi_json_set(object, "losses", replay->request->analyze ? json_losses(replay) : json_null());
	smxi_json_print(object);
}

static void print_text(const struct replay *replay, const struct smxi_record *record, bool is_whole)
{
	char result[SMXI_RESULT_TEXT];
	if (replay->request->analyze)
		putchar('\n');
	printf("game       %s, seed %" PRIu64, replay->contest->game->name, record->seed);
	if (replay->contest->player_count > 1)
		printf(", %s begins", smxi_player_names[record->first]);
	printf("\nresult     %s\n",
	       is_whole ? smxi_record_result(replay->contest, record, result) : "none: the analysis was ended");
	if (replay->request->analyze)
		print_losses(replay);
}

static void print_head(const struct smxi_contest *contest)
{
	printf("search     %s\n\n", contest->players[0].words);
	printf("%5s  %-6s  %-22s  %13s  %-22s  %13s  %13s\n", "turn", "player", "played", "value", "best", "value", "loss");
	fflush(stdout);
}

enum smxi_exit smxi_replay(const struct smxi_contest *contest, const struct smxi_replay_request *request)
{
	const struct smxi_script *script = request->script;
	struct replay replay = {.contest = contest, .request = request};
	struct smxi_record record;
	struct smx_position last;
	uint64_t seed;
	unsigned first = 0;
	while (first < contest->player_count && strcmp(script->first, smxi_player_names[first]) != 0)
		first++;
	if (first == contest->player_count || !smxi_number_read(script->seed, &seed)) {
		smxi_error("%s: there is no such %s", script->name, first == contest->player_count ? "player" : "seed");
		return SMXI_EXIT_FAILURE;
	}
	if (!smxi_seat_take(&replay.seat, contest, request->plan)) {
		smxi_seat_leave(&replay.seat);
		return SMXI_EXIT_FAILURE;
	}
	smxi_interrupt_watch(replay.seat.engine.search);
	if (request->analyze && !request->json)
		print_head(contest);
	const bool is_whole = smxi_contest_play(contest, seed, first, choose, &replay, &record, &last);
	smxi_interrupt_watch(NULL);
	if (is_whole)
		check_end(&replay, &record, &last);
	smxi_seat_leave(&replay.seat);
	if (replay.failed)
		return SMXI_EXIT_FAILURE;
	if (request->json)
		print_json(&replay, &record, is_whole);
	else
		print_text(&replay, &record, is_whole);
	return is_whole ? SMXI_EXIT_OK : SMXI_EXIT_INTERRUPTED;
}
