/* starmax play: games with seeds, of one player for points or between two configurations, and games that were played. */
#define _POSIX_C_SOURCE 200809L

#include "cli/command.h"
#include "cli/contest.h"
#include "cli/match.h"
#include "cli/replay.h"
#include "cli/settings.h"

#include <stdlib.h>
#include <string.h>

enum share { SHARE_AUTO, SHARE_GAMES, SHARE_TURNS };
static const char *const share_names[] = {"auto", "games", "turns", NULL};

struct play_settings {
	struct smxi_search_settings search;
	struct smxi_thread_settings threads;
	unsigned share;
	uint64_t games, seed, turns_max; /* each may be SMXI_UNSET */
	const char *against, *start, *output, *transcript, *replay;
	bool analyze, watch, json;
};

static const struct play_settings defaults = {
	.search = SMXI_SEARCH_DEFAULTS,
	.threads = SMXI_THREAD_DEFAULTS,
	.games = SMXI_UNSET,
	.seed = SMXI_UNSET,
	.turns_max = SMXI_UNSET,
};

#define DEFAULT_GAMES     10
#define DEFAULT_SEED      1
#define DEFAULT_TURNS_MAX 500
#define GAMES_MAX         10000000
#define SEED_MAX          UINT64_C(1000000000000000000) /* it and those of the games fit JSON's integers */

static const struct smxi_option play_options[] = {
	SMXI_CHOICE(struct play_settings, share, "share", share_names,
                "what the threads share: games, each searched by one thread, or the turns of one game at a time; auto: "
                "games, unless there is only one"),
	SMXI_NUMBER(
		struct play_settings, games, "games", 1, GAMES_MAX, NULL,
		"games to play, each with the next seed; of two players pairs of games, which each begins once (default "
		"10)"),
	SMXI_NUMBER(struct play_settings, seed, "seed", 0, SEED_MAX, NULL, "of the first game (default 1)"),
	SMXI_TEXT(struct play_settings, against, "against", "OPTIONS",
              "how the second player, B, searches: such options in quotes; what they leave out is as for A"),
	SMXI_NUMBER(struct play_settings, turns_max, "turns-max", 1, UINT32_MAX, "none",
                "cut a game after so many turns; of two players it is a draw (default 500 of two players, else none)"),
	SMXI_TEXT(struct play_settings, start, "start", "POSITION", "begin there (default: the game's first position)"),
	SMXI_TEXT(struct play_settings, output, "output", "FILE",
              "add each game to a file, a line of JSON each; games that it has are not played again"),
	SMXI_TEXT(struct play_settings, transcript, "transcript", "PREFIX",
              "write each game's turns to PREFIX<seed>.txt, of two players PREFIX<seed>-A.txt where A begins, and -B"),
	SMXI_FLAG(struct play_settings, watch, "watch", "show the board at each turn; one game at a time"),
	SMXI_TEXT(struct play_settings, replay, "replay", "FILE",
              "play nothing: check a transcript, turn by turn, and show what became of the game"),
	SMXI_FLAG(struct play_settings, analyze, "analyze",
              "of --replay: search each position, and show what each turn has lost against the best one"),
	SMXI_FLAG(struct play_settings, json, "json", "each game, or turn, and the summary as a line of JSON"),
	SMXI_NO_MORE_OPTIONS,
};

static const struct smxi_shared_options shared[] = {
	{smxi_search_options, offsetof(struct play_settings, search)},
	{smxi_thread_options, offsetof(struct play_settings, threads)},
	{NULL, 0},
};

/* What the first word says, or --game; where a script is replayed, its own, which they must not contradict. NULL after an error message. */
static const struct smx_game *choose_game(const struct smxi_call *call, const struct smxi_script *script)
{
	char shown[200];
	const struct smx_game *asked = call->is_game_given ? call->game : NULL;
	const struct smx_game *game = call->word_count ? smxi_game_find(call->words[0]) : asked;
	if (call->word_count && !game)
		return NULL;
	if (call->word_count > 1)
		smxi_error("unexpected argument %s", smxi_printable(call->words[1], shown, sizeof shown));
	else if (asked && game != asked)
		smxi_error("%s and --game %s exclude each other", game->name, asked->name);
	else if (game && script && strcmp(game->name, script->game) != 0)
		smxi_error("%s is a game of %s, not of %s", script->name, smxi_printable(script->game, shown, sizeof shown),
		           game->name);
	else
		return game ? game : script ? smxi_game_find(script->game) : call->game;
	return NULL;
}

/* The settings of the second player; *copy, which they refer to, is to be freed. False after an error message. */
static bool read_opponent(const struct play_settings *settings, struct smxi_search_settings *opponent, char **copy)
{
	char name[] = "--against", shown[200];
	*opponent = settings->search;
	if (!settings->against)
		return true;
	const size_t size = strlen(settings->against) + 1;
	*copy = smxi_allocate(size, 1);
	memcpy(*copy, settings->against, size);
	char **argv = smxi_allocate(size + 2, sizeof *argv), **words = smxi_allocate(size + 2, sizeof *words), *rest = NULL;
	int argc = 0, word_count;
	argv[argc++] = name;
	for (char *word = strtok_r(*copy, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest))
		argv[argc++] = word;
	const struct smxi_option_group group = {smxi_search_options, opponent};
	bool ok = smxi_command_parse(&smxi_play_command, &group, 1, argc, argv, false, words, &word_count) != 0;
	if (ok && word_count) {
		smxi_error("--against: unexpected argument %s", smxi_printable(words[0], shown, sizeof shown));
		ok = false;
	}
	free(argv);
	free(words);
	return ok;
}

static bool set_player(struct smxi_player *player, const struct smx_game *game,
                       const struct smxi_search_settings *settings, unsigned threads)
{
	if (!smxi_search_apply(settings, game, &player->options))
		return false;
	player->hash_bytes = (size_t)smxi_search_hash_bytes(settings, &player->options);
	smxi_search_describe(&player->options, player->hash_bytes, threads, player->words);
	return true;
}

/* False after an error message. */
static bool set_start(struct smxi_contest *contest, const char *text)
{
	struct smx_error error = {0};
	if (contest->game->parse(text, strlen(text), &contest->start, &error) == SMX_OK)
		return true;
	smxi_error("--start: bad position: %s", error.message);
	return false;
}

/* threads: of each search. False after an error message. */
static bool set_contest(struct smxi_contest *contest, const struct play_settings *settings, unsigned threads)
{
	const struct smx_game *game = contest->game;
	const bool is_solo = game->solo != NULL;
	struct smxi_search_settings opponent;
	char *copy = NULL;
	if (is_solo && settings->against) {
		smxi_error("--against is for games of two players");
		return false;
	}
	contest->player_count = is_solo ? 1 : SMXI_PLAYERS;
	contest->turns_max = settings->turns_max != SMXI_UNSET ? settings->turns_max : is_solo ? 0 : DEFAULT_TURNS_MAX;
	const bool ok = set_start(contest, settings->start ? settings->start : game->start) &&
	                read_opponent(settings, &opponent, &copy) &&
	                set_player(&contest->players[0], game, &settings->search, threads) &&
	                (is_solo || set_player(&contest->players[1], game, &opponent, threads));
	free(copy);
	return ok;
}

/* Whether a player may have to choose in time. */
static bool is_urgent(const struct play_settings *settings)
{
	return settings->search.movetime_ms || settings->against;
}

/* How many games at a time, and the plan for the threads of each search. False after an error message. */
static bool plan(const struct play_settings *settings, bool is_one_game, size_t *at_a_time,
                 struct smx_parallel_plan *each)
{
	struct smxi_thread_settings threads = settings->threads;
	const bool shares_turns = settings->share == SHARE_TURNS || settings->watch || settings->replay ||
	                          (settings->share == SHARE_AUTO && is_one_game);
	uint64_t number;
	*at_a_time = 1;
	if (!smxi_threads_choose(&threads, &number))
		return false;
	if (shares_turns)
		return smxi_threads_plan(&threads, number, is_urgent(settings), each);
	if (!number) { /* not bound: games come and go */
		threads.bind = SMX_BIND_NONE;
		if (!smxi_threads_plan(&threads, 0, false, each))
			return false;
		number = each->threads;
	}
	*at_a_time = (size_t)number;
	*each = (struct smx_parallel_plan){.threads = 1};
	return true;
}

/* False after an error message. */
static bool check(const struct play_settings *settings)
{
	static const char *const exclude = "--replay and --%s exclude each other";
	if (settings->share == SHARE_GAMES && settings->watch)
		smxi_error("--watch and --share games exclude each other");
	else if (settings->watch && settings->json)
		smxi_error("--watch and --json exclude each other");
	else if (settings->analyze && !settings->replay)
		smxi_error("--analyze needs --replay");
	else if (settings->replay && settings->share == SHARE_GAMES)
		smxi_error(exclude, "share games");
	else if (settings->replay && settings->games != SMXI_UNSET)
		smxi_error(exclude, "games");
	else if (settings->replay && settings->seed != SMXI_UNSET)
		smxi_error(exclude, "seed");
	else if (settings->replay && settings->turns_max != SMXI_UNSET)
		smxi_error(exclude, "turns-max");
	else if (settings->replay && (settings->against || settings->start || settings->output || settings->transcript))
		smxi_error(exclude, settings->against  ? "against"
		                    : settings->start  ? "start"
		                    : settings->output ? "output"
		                                       : "transcript");
	else
		return true;
	return false;
}

/* Take over how the script's game began; false after an error message. */
static bool follow_script(struct play_settings *settings, const struct smxi_script *script)
{
	settings->start = script->start;
	if (smxi_number_read(script->turns_max, &settings->turns_max))
		return true;
	smxi_error("%s: turns-max is no number", script->name);
	return false;
}

static enum smxi_exit replay(const struct smxi_call *call, struct play_settings settings,
                             const struct smxi_script *script)
{
	struct smxi_contest contest = {.game = choose_game(call, script)};
	struct smx_parallel_plan each = {.threads = 1};
	size_t at_a_time;
	if (!contest.game || !follow_script(&settings, script) || !plan(&settings, true, &at_a_time, &each) ||
	    !set_contest(&contest, &settings, each.threads))
		return SMXI_EXIT_USAGE;
	const struct smxi_replay_request request = {
		.script = script,
		.plan = &each,
		.analyze = settings.analyze,
		.watch = settings.watch,
		.json = settings.json,
	};
	return smxi_replay(&contest, &request);
}

static enum smxi_exit play(const struct smxi_call *call, const struct play_settings *settings)
{
	struct smxi_contest contest = {.game = choose_game(call, NULL)};
	struct smx_parallel_plan each = {.threads = 1};
	const size_t games = settings->games == SMXI_UNSET ? DEFAULT_GAMES : (size_t)settings->games;
	size_t at_a_time;
	if (!contest.game || !plan(settings, games == 1 && contest.game->solo, &at_a_time, &each) ||
	    !set_contest(&contest, settings, each.threads))
		return SMXI_EXIT_USAGE;
	const struct smxi_match_request request = {
		.seed = settings->seed == SMXI_UNSET ? DEFAULT_SEED : settings->seed,
		.games = games,
		.at_a_time = at_a_time,
		.plan = &each,
		.output = settings->output,
		.transcript = settings->transcript,
		.watch = settings->watch,
		.json = settings->json,
	};
	return smxi_match(&contest, &request);
}

static enum smxi_exit run(const struct smxi_call *call)
{
	const struct play_settings *settings = call->settings;
	struct smxi_script script;
	if (!check(settings))
		return SMXI_EXIT_USAGE;
	if (!settings->replay)
		return play(call, settings);
	const enum smxi_exit status =
		smxi_script_read(&script, settings->replay) ? replay(call, *settings, &script) : SMXI_EXIT_FAILURE;
	smxi_script_close(&script);
	return status;
}

const struct smxi_command smxi_play_command = {
	.name = "play",
	.arguments = "[<game>]",
	.summary = "play games with seeds, or two ways to search against each other; check and analyse a game",
	.details = "A game of one player is played for points. In a game of two, A searches as the options say, and B as\n"
			   "--against OPTIONS; each seed is a pair of games that have the same luck, turn by turn, one begun by A\n"
			   "and one by B.\n\n"
			   "The luck of a game follows from its seed, and before turn k from seed and k alone. So with --depth a\n"
			   "game is the same whatever the threads; with --nodes it is where each search has one thread, with\n"
			   "--movetime it is not. A game begins with empty tables, one for each player and thread that plays.\n"
			   "Intervals hold for 95%: of means by Student's t, of rates by Wilson's formula; what counts in a match\n"
			   "is the pair.\n\n"
			   "With --output FILE a run that was killed goes on where it was: the same command, given again, plays\n"
			   "what FILE lacks and shows all. Ctrl-C ends the games that are being played, and shows those that are\n"
			   "complete.\n\n"
			   "A transcript is also a file of positions, for --file of other subcommands. docs/json.md describes the\n"
			   "JSON.",
	.shared = shared,
	.options = play_options,
	.defaults = &defaults,
	.settings_size = sizeof defaults,
	.run = run,
};
