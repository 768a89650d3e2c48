/* starmax moves: the legal turns of one outcome, or how many each outcome has. */
#include "cli/command.h"
#include "cli/keyset.h"
#include "cli/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct moves_settings {
	bool json;
};

static const struct moves_settings defaults = {false};

static const struct smxi_option moves_options[] = {
	SMXI_FLAG(struct moves_settings, json, "json", "one line of JSON"),
	SMXI_NO_MORE_OPTIONS,
};

/* The turns of one outcome as they are enumerated; `turns` collects JSON, NULL prints text. */
struct listing {
	const struct smx_game *game;
	json_t *turns;
};

static bool list_turn(void *context, const struct smx_turn *turn, const void *afterstate)
{
	const struct listing *listing = context;
	char text[SMX_TEXT_MAX], after[SMX_TEXT_MAX];
	smxi_report_turn(listing->game, turn, text);
	if (afterstate)
		smxi_report_state(listing->game, afterstate, after);
	if (!listing->turns) {
		printf("%s\t%s\n", text, afterstate ? after : "KING");
		return true;
	}
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "turn", json_string(text));
	smxi_json_set(object, "afterstate", afterstate ? json_string(after) : json_null());
	smxi_json_set(object, "takes_king", json_boolean(turn->wins));
	smxi_json_append(listing->turns, object);
	return true;
}

/* What one outcome's turns add up to. */
struct count {
	const struct smx_game *game;
	struct smxi_keyset distinct;
	uint64_t paths, winning_paths;
	uint64_t fingerprint;
	unsigned spent; /* dice spent by the turns that do not win: the same for all */
	bool passes;
};

/* The first four fields of a position's text are its identity: FNV-1a over them. */
static uint64_t hash_identity(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (unsigned fields = 0; *text; text++) {
		if (*text == ' ' && ++fields == 4)
			break;
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	}
	return hash;
}

static bool count_turn(void *context, const struct smx_turn *turn, const void *afterstate)
{
	struct count *count = context;
	count->passes = !turn->steps;
	count->paths += turn->steps != 0;
	count->winning_paths += turn->wins;
	if (!afterstate)
		return true;
	count->spent = turn->spent;
	if (smxi_keyset_add(&count->distinct, &((const struct smx_state *)afterstate)->key)) {
		char text[SMX_TEXT_MAX];
		count->fingerprint += hash_identity(smxi_report_state(count->game, afterstate, text));
	}
	return true;
}

static json_t *json_count_row(const struct count *count, const char *roll, const char *fingerprint)
{
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "roll", json_string(roll));
	smxi_json_set(object, "paths", smxi_json_count(count->paths));
	smxi_json_set(object, "king_paths", smxi_json_count(count->winning_paths));
	smxi_json_set(object, "dice_spent", json_integer(count->spent));
	smxi_json_set(object, "afterstates", smxi_json_count(count->passes ? 0 : count->distinct.count));
	smxi_json_set(object, "fingerprint", json_string(fingerprint));
	return object;
}

static void table_count_row(struct smxi_table *table, const struct count *count, const char *roll,
                            const char *fingerprint)
{
	char number[SMXI_REPORT_TEXT];
	smxi_table_add(table, roll);
	smxi_table_add(table, smxi_report_count(count->paths, number));
	smxi_table_add(table, smxi_report_count(count->winning_paths, number));
	smxi_table_add(table, smxi_report_count(count->spent, number));
	smxi_table_add(table, smxi_report_count(count->passes ? 0 : count->distinct.count, number));
	smxi_table_add(table, fingerprint);
}

/* A row for each outcome, into `rolls` or, where that is NULL, into the table. A pass counts as no path and no
 * afterstate; its fingerprint is that of the position after it. */
static void count_outcomes(const struct smx_game *game, struct smx_position *position, json_t *rolls,
                           struct smxi_table *table)
{
	uint32_t weights[SMX_OUTCOMES_MAX];
	unsigned outcomes = game->outcomes(position->state, weights);
	struct count count = {.game = game};
	for (unsigned i = 0; i < outcomes; i++) {
		char roll[SMX_TEXT_MAX], fingerprint[20];
		smxi_keyset_clear(&count.distinct);
		count = (struct count){.game = game, .distinct = count.distinct};
		position->outcome = (int)i;
		game->turns(position, count_turn, &count);
		game->outcome_name(position->state, (int)i, roll);
		snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, count.fingerprint);
		if (rolls)
			smxi_json_append(rolls, json_count_row(&count, roll, fingerprint));
		else
			table_count_row(table, &count, roll, fingerprint);
	}
	smxi_keyset_free(&count.distinct);
	position->outcome = SMX_NO_OUTCOME;
}

static enum smxi_exit run(const struct smxi_call *call)
{
	static const struct smxi_column columns[] = {
		{"roll", false},      {"paths", true},       {"king paths", true},
		{"dice spent", true}, {"afterstates", true}, {"fingerprint", false},
	};
	const struct moves_settings *settings = call->settings;
	struct smx_position position;
	if (!smxi_position_read(call, &position))
		return SMXI_EXIT_USAGE;
	bool has_outcome = position.outcome != SMX_NO_OUTCOME;
	json_t *rows = settings->json ? smxi_json(json_array()) : NULL;
	struct smxi_table table = smxi_table(columns, sizeof columns / sizeof columns[0]);
	if (has_outcome) {
		struct listing listing = {.game = call->game, .turns = rows};
		call->game->turns(&position, list_turn, &listing);
	} else {
		count_outcomes(call->game, &position, rows, &table);
	}
	if (rows) {
		char text[SMX_TEXT_MAX];
		json_t *object = smxi_json(json_object());
		call->game->format(&position, text);
		smxi_json_set(object, "position", json_string(text));
		smxi_json_set(object, has_outcome ? "turns" : "rolls", rows);
		smxi_json_print(object);
	} else if (!has_outcome) {
		smxi_table_print(&table);
	}
	return SMXI_EXIT_OK;
}

const struct smxi_command smxi_moves_command = {
	.name = "moves",
	.arguments = "<position>",
	.summary = "list the legal turns of a position, or count them for every outcome",
	.details = "With dice: every legal turn and the position after it, or KING where the turn takes the king.\n"
			   "Without dice: for each roll the turns (paths), those that take the king, the dice that the\n"
			   "others spend, their distinct afterstates, and a fingerprint of these: the sum of the 64-bit\n"
			   "FNV-1a hashes of their first four fields.",
	.options = moves_options,
	.defaults = &defaults,
	.settings_size = sizeof defaults,
	.run = run,
};
