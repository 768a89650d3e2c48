/* starmax perft: count moves, to check and time the rules. */
#include "cli/command.h"
#include "cli/keyset.h"
#include "cli/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16

struct perft_settings {
	const char *die;
	uint64_t depth;
	bool json;
};

static const struct perft_settings defaults = {.depth = 1};

static const struct smxi_option perft_options[] = {
	SMXI_TEXT(struct perft_settings, die, "die", "P|N|B|R|Q|K", "count this piece's micro-moves (Dice Chess)"),
	SMXI_NUMBER(struct perft_settings, depth, "depth", 1, DEPTH_MAX, NULL, "turns, or micro-moves with --die"),
	SMXI_FLAG(struct perft_settings, json, "json", "one line of JSON"),
	SMXI_NO_MORE_OPTIONS,
};

/* Sums over all chance nodes that are one number of turns from the root. */
struct level {
	uint64_t chance_nodes;
	uint64_t outcomes_won, outcomes_lost;
	uint64_t paths, winning_paths; /* turns; a pass is none */
	uint64_t afterstates;          /* distinct within their outcome, of the outcomes that are not decided */
	uint64_t distinct;             /* distinct within their chance node */
	struct smxi_keyset node_keys;
};

struct counting {
	const struct smx_game *game;
	struct smx_arena *arena;
	struct smxi_keyset outcome_keys; /* of one outcome's turns */
	struct level levels[DEPTH_MAX];
	unsigned depth;
	double turns_ms, listing_ms; /* spent in the two generators */
	bool disagree;
};

struct turn_count {
	struct counting *counting;
	uint64_t paths, winning_paths;
};

static bool count_turn(void *context, const struct smx_turn *turn, const void *afterstate)
{
	struct turn_count *count = context;
	count->paths += turn->steps != 0;
	count->winning_paths += turn->wins;
	if (afterstate)
		smxi_keyset_add(&count->counting->outcome_keys, &((const struct smx_state *)afterstate)->key);
	return true;
}

/* Turns are generated twice, by the enumeration that users see and by the expansion that searches use; an outcome on
 * which the two differ is a defect in the game. */
static bool agree(enum smx_node node, const struct smx_afterstates *list, const struct turn_count *turns)
{
	if (node == SMX_NODE_WON)
		return turns->winning_paths > 0;
	return node == SMX_NODE_LOST || (!turns->winning_paths && list->count == turns->counting->outcome_keys.count);
}

static void count_node(struct counting *counting, const void *state, unsigned ply)
{
	const struct smx_game *game = counting->game;
	struct level *level = &counting->levels[ply];
	struct smx_position position = {.outcome = SMX_NO_OUTCOME};
	struct smx_arena_mark mark = smx_arena_mark(counting->arena);
	uint32_t weights[SMX_OUTCOMES_MAX];
	memcpy(position.state, state, game->state_size);
	unsigned outcomes = game->outcomes(position.state, weights);
	level->chance_nodes++;
	smxi_keyset_clear(&level->node_keys);
	double began_ms = smxi_clock_ms();
	const void *expansion = game->open(position.state, counting->arena);
	if (!expansion)
		smxi_out_of_memory();
	counting->listing_ms += smxi_clock_ms() - began_ms;
	for (unsigned i = 0; i < outcomes && !counting->disagree; i++) {
		struct smx_arena_mark outcome_mark = smx_arena_mark(counting->arena);
		struct turn_count turns = {.counting = counting};
		struct smx_afterstates list = {0};
		smxi_keyset_clear(&counting->outcome_keys);
		position.outcome = (int)i;
		began_ms = smxi_clock_ms();
		game->turns(&position, count_turn, &turns);
		double turned_ms = smxi_clock_ms();
		enum smx_node node = game->afterstates(expansion, i, counting->arena, &list);
		counting->turns_ms += turned_ms - began_ms;
		counting->listing_ms += smxi_clock_ms() - turned_ms;
		if (node == SMX_NODE_NO_MEMORY)
			smxi_out_of_memory();
		if (!agree(node, &list, &turns)) {
			char text[SMX_TEXT_MAX];
			counting->disagree = true;
			game->format(&position, text);
			smxi_error("the two generators disagree about %s", text);
		}
		level->paths += turns.paths;
		level->winning_paths += turns.winning_paths;
		level->outcomes_won += node == SMX_NODE_WON;
		level->outcomes_lost += node == SMX_NODE_LOST;
		if (node == SMX_NODE_OPEN)
			level->afterstates += list.count;
		for (size_t k = 0; node == SMX_NODE_OPEN && k < list.count && !counting->disagree; k++) {
			const char *after = (const char *)list.states + k * game->state_size;
			if (!smxi_keyset_add(&level->node_keys, &((const struct smx_state *)(const void *)after)->key))
				continue;
			level->distinct++;
			if (ply + 1 < counting->depth)
				count_node(counting, after, ply + 1);
		}
		smx_arena_release(counting->arena, outcome_mark);
	}
	smx_arena_release(counting->arena, mark);
}

static double per_second(uint64_t number, double time_ms)
{
	return time_ms > 0 ? (double)number / time_ms * 1e3 : 0;
}

static uint64_t total_chance_nodes(const struct counting *counting)
{
	uint64_t sum = 0;
	for (unsigned ply = 0; ply < counting->depth; ply++)
		sum += counting->levels[ply].chance_nodes;
	return sum;
}

static void print_levels_json(const struct counting *counting, const char *position)
{
	json_t *object = smxi_json(json_object()), *array = smxi_json(json_array());
	for (unsigned ply = 0; ply < counting->depth; ply++) {
		const struct level *level = &counting->levels[ply];
		json_t *row = smxi_json(json_object());
		smxi_json_set(row, "depth", json_integer(ply + 1));
		smxi_json_set(row, "chance_nodes", smxi_json_count(level->chance_nodes));
		smxi_json_set(row, "outcomes_won", smxi_json_count(level->outcomes_won));
		smxi_json_set(row, "outcomes_lost", smxi_json_count(level->outcomes_lost));
		smxi_json_set(row, "paths", smxi_json_count(level->paths));
		smxi_json_set(row, "king_paths", smxi_json_count(level->winning_paths));
		smxi_json_set(row, "afterstates", smxi_json_count(level->afterstates));
		smxi_json_set(row, "distinct", smxi_json_count(level->distinct));
		smxi_json_append(array, row);
	}
	smxi_json_set(object, "position", json_string(position));
	smxi_json_set(object, "depths", array);
	smxi_json_set(object, "turns_ms", json_real(counting->turns_ms));
	smxi_json_set(object, "listing_ms", json_real(counting->listing_ms));
	smxi_json_print(object);
}

static void print_levels(const struct counting *counting, const char *position)
{
	static const struct smxi_column columns[] = {
		{"depth", true},      {"chance nodes", true}, {"won outcomes", true}, {"paths", true},
		{"king paths", true}, {"afterstates", true},  {"distinct", true},
	};
	struct smxi_table table = smxi_table(columns, sizeof columns / sizeof columns[0]);
	char number[SMXI_REPORT_TEXT];
	for (unsigned ply = 0; ply < counting->depth; ply++) {
		const struct level *level = &counting->levels[ply];
		const uint64_t cells[] = {ply + 1,        level->chance_nodes,  level->outcomes_won,
		                          level->paths,   level->winning_paths, level->afterstates,
		                          level->distinct};
		for (size_t c = 0; c < sizeof cells / sizeof cells[0]; c++)
			smxi_table_add(&table, smxi_report_count(cells[c], number));
	}
	printf("position  %s\n\n", position);
	smxi_table_print(&table);
	uint64_t nodes = total_chance_nodes(counting);
	printf("\nturn by turn   %.3f s, %s chance nodes a second\n", counting->turns_ms / 1e3,
	       smxi_report_count((uint64_t)per_second(nodes, counting->turns_ms), number));
	printf("as a search    %.3f s, %s chance nodes a second\n", counting->listing_ms / 1e3,
	       smxi_report_count((uint64_t)per_second(nodes, counting->listing_ms), number));
}

static enum smxi_exit count_turns(const struct smxi_call *call, const struct smx_position *position, const char *text)
{
	const struct perft_settings *settings = call->settings;
	struct counting *counting = smxi_allocate(1, sizeof *counting);
	counting->game = call->game;
	counting->depth = (unsigned)settings->depth;
	counting->arena = smx_arena_create(NULL);
	if (!counting->arena)
		smxi_out_of_memory();
	count_node(counting, position->state, 0);
	bool ok = !counting->disagree;
	if (ok && settings->json)
		print_levels_json(counting, text);
	else if (ok)
		print_levels(counting, text);
	for (unsigned ply = 0; ply < counting->depth; ply++)
		smxi_keyset_free(&counting->levels[ply].node_keys);
	smxi_keyset_free(&counting->outcome_keys);
	smx_arena_destroy(counting->arena);
	free(counting);
	return ok ? SMXI_EXIT_OK : SMXI_EXIT_FAILURE;
}

static enum smxi_exit count_micro_moves(const struct perft_settings *settings, const struct smx_position *position,
                                        const char *text)
{
	static const char *const names[] = {"P", "N", "B", "R", "Q", "K"};
	unsigned type = 0;
	while (type < 6 && strcmp(names[type], settings->die))
		type++;
	if (type == 6) {
		smxi_error_unknown("die", settings->die, "", names, 6);
		return SMXI_EXIT_USAGE;
	}
	double began_ms = smxi_clock_ms();
	uint64_t nodes =
		smx_dicechess_perft(position->state, (enum smx_dicechess_piece)(SMX_PAWN + type), (unsigned)settings->depth);
	double time_ms = smxi_clock_ms() - began_ms;
	if (settings->json) {
		json_t *object = smxi_json(json_object());
		smxi_json_set(object, "position", json_string(text));
		smxi_json_set(object, "die", json_string(settings->die));
		smxi_json_set(object, "depth", smxi_json_count(settings->depth));
		smxi_json_set(object, "nodes", smxi_json_count(nodes));
		smxi_json_set(object, "time_ms", json_real(time_ms));
		smxi_json_print(object);
	} else {
		char number[SMXI_REPORT_TEXT];
		printf("position  %s\n", text);
		printf("nodes     %s (die %s, depth %u)\n", smxi_report_count(nodes, number), settings->die,
		       (unsigned)settings->depth);
		printf("time      %.3f s, %s nodes a second\n", time_ms / 1e3,
		       smxi_report_count((uint64_t)per_second(nodes, time_ms), number));
	}
	return SMXI_EXIT_OK;
}

static enum smxi_exit run(const struct smxi_call *call)
{
	const struct perft_settings *settings = call->settings;
	struct smx_position position;
	char text[SMX_TEXT_MAX];
	if (!smxi_position_read(call, &position))
		return SMXI_EXIT_USAGE;
	if (position.outcome != SMX_NO_OUTCOME) {
		smxi_error("perft takes a position whose outcome is not known yet");
		return SMXI_EXIT_USAGE;
	}
	call->game->format(&position, text);
	if (!settings->die)
		return count_turns(call, &position, text);
	if (call->game != &smx_dicechess) {
		smxi_error("option --die is for dicechess");
		return SMXI_EXIT_USAGE;
	}
	return count_micro_moves(settings, &position, text);
}

const struct smxi_command smxi_perft_command = {
	.name = "perft",
	.arguments = "<position>",
	.summary = "count turns or micro-moves, to check and time the rules",
	.details = "Without --die: all outcomes of the position and, to the given depth, of every distinct\n"
			   "afterstate of each chance node. Turns are generated twice, one by one and as a search does it,\n"
			   "and the two must agree. With --die: sequences of micro-moves of one piece type, the side to move\n"
			   "unchanged.",
	.options = perft_options,
	.defaults = &defaults,
	.settings_size = sizeof defaults,
	.run = run,
};
