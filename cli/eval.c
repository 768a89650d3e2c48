/* starmax eval: what the evaluators say about a position, without a search. */
#include "cli/command.h"
#include "cli/report.h"

#include <stdio.h>

struct eval_settings {
	bool json;
};

static const struct eval_settings defaults = {false};

static const struct smxi_option eval_options[] = {
	SMXI_FLAG(struct eval_settings, json, "json", "one line of JSON"),
	SMXI_NO_MORE_OPTIONS,
};

static const char *const sides[2] = {"white", "black"};

static json_t *json_evaluators(const struct smx_game *game, const struct smx_position *position)
{
	json_t *array = smxi_json(json_array());
	for (size_t i = 0; game->evaluators[i]; i++) {
		const struct smx_evaluator *evaluator = game->evaluators[i];
		json_t *object = smxi_json(json_object());
		smxi_json_set(object, "evaluator", json_string(evaluator->name));
		smxi_json_set(object, "unit", json_string(evaluator->unit));
		smxi_json_set(object, "scale", json_integer(evaluator->scale_bits));
		for (unsigned side = 0; side < 2; side++) {
			smx_value value;
			evaluator->evaluate(evaluator->context, position->state, 1, side, &value);
			json_t *seen = smxi_json(json_object());
			smxi_json_set(seen, "value", smxi_json_value(value, evaluator->scale_bits));
			smxi_json_set(seen, "raw", json_integer(value));
			smxi_json_set(object, sides[side], seen);
		}
		smxi_json_append(array, object);
	}
	return array;
}

static void print_evaluators(const struct smx_game *game, const struct smx_position *position)
{
	static const struct smxi_column columns[] = {
		{"evaluator", false},
		{"for white", true},
		{"for black", true},
		{"unit", false},
	};
	struct smxi_table table = smxi_table(columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; game->evaluators[i]; i++) {
		const struct smx_evaluator *evaluator = game->evaluators[i];
		smxi_table_add(&table, evaluator->name);
		for (unsigned side = 0; side < 2; side++) {
			char text[SMXI_REPORT_TEXT];
			smx_value value;
			evaluator->evaluate(evaluator->context, position->state, 1, side, &value);
			smxi_table_add(&table, smxi_report_value(value, evaluator, text));
		}
		smxi_table_add(&table, evaluator->unit);
	}
	smxi_table_print(&table);
}

/* Chances in 216ths that each side, if it is its turn, takes the other's king or queen with its next roll. */
struct captures {
	int king[2], queen[2];
};

static struct captures find_captures(const struct smx_position *position)
{
	struct captures captures;
	struct smx_arena *arena = smx_arena_create(NULL);
	if (!arena)
		smxi_out_of_memory();
	for (unsigned side = 0; side < 2; side++) {
		captures.king[side] = smx_dicechess_king_capture_216(position->state, (enum smx_dicechess_side)side, arena);
		captures.queen[side] = smx_dicechess_queen_capture_216(position->state, (enum smx_dicechess_side)side);
		if (captures.king[side] < 0)
			smxi_out_of_memory();
	}
	smx_arena_destroy(arena);
	return captures;
}

static void print_captures(const struct captures *captures)
{
	static const struct smxi_column columns[] = {
		{"can take with its next roll", false},
		{"white", true},
		{"black", true},
	};
	struct smxi_table table = smxi_table(columns, sizeof columns / sizeof columns[0]);
	char text[SMXI_REPORT_TEXT];
	smxi_table_add(&table, "the king");
	for (unsigned side = 0; side < 2; side++)
		smxi_table_add(&table, smxi_report_share(captures->king[side], SMX_DICECHESS_TOTAL, text));
	smxi_table_add(&table, "a queen");
	for (unsigned side = 0; side < 2; side++)
		smxi_table_add(&table, smxi_report_share(captures->queen[side], SMX_DICECHESS_TOTAL, text));
	putchar('\n');
	smxi_table_print(&table);
}

static json_t *json_captures(const struct captures *captures)
{
	json_t *object = smxi_json(json_object());
	for (unsigned side = 0; side < 2; side++) {
		json_t *chances = smxi_json(json_object());
		smxi_json_set(chances, "king_216", json_integer(captures->king[side]));
		smxi_json_set(chances, "queen_216", json_integer(captures->queen[side]));
		smxi_json_set(object, sides[side], chances);
	}
	return object;
}

static enum smxi_exit run(const struct smxi_call *call)
{
	const struct eval_settings *settings = call->settings;
	struct smx_position position;
	struct captures captures;
	char text[SMX_TEXT_MAX];
	if (!smxi_position_read(call, &position))
		return SMXI_EXIT_USAGE;
	bool is_dicechess = call->game == &smx_dicechess;
	if (is_dicechess)
		captures = find_captures(&position);
	call->game->format(&position, text);
	if (settings->json) {
		json_t *object = smxi_json(json_object());
		smxi_json_set(object, "position", json_string(text));
		smxi_json_set(object, "evaluators", json_evaluators(call->game, &position));
		if (is_dicechess)
			smxi_json_set(object, "captures", json_captures(&captures));
		smxi_json_print(object);
		return SMXI_EXIT_OK;
	}
	printf("position  %s\n\n", text);
	print_evaluators(call->game, &position);
	if (is_dicechess)
		print_captures(&captures);
	return SMXI_EXIT_OK;
}

const struct smxi_command smxi_eval_command = {
	.name = "eval",
	.arguments = "<position>",
	.summary = "show what every evaluator says about a position, for both sides",
	.details = "For Dice Chess also the chance that each side, if it were its turn, takes the king or a queen\n"
			   "with its next roll.",
	.options = eval_options,
	.defaults = &defaults,
	.settings_size = sizeof defaults,
	.run = run,
};
