/* starmax bench: fixed searches of fixed positions. The sum of their node counts is a signature of what the search
 * does: it is the same for every compiler, build and processor, and a change that is only meant to be faster leaves
 * it alone. */
#include "bench/positions.h"
#include "cli/command.h"
#include "cli/engine.h"
#include "cli/report.h"
#include "cli/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct bench_settings {
	bool json;
};

static const struct bench_settings defaults = {false};

static const struct smxi_option bench_options[] = {
	SMXI_FLAG(struct bench_settings, json, "json", "one line of JSON"),
	SMXI_NO_MORE_OPTIONS,
};

static const char *const star_names[] = {"none", "star1", "star2"};
static const char *const leaves_names[] = {"fold", "list"};

struct totals {
	uint64_t signature, chance_nodes;
	double time_ms;
};

static uint64_t signature_of(const struct smx_counters *counters)
{
	return counters->chance_nodes + counters->outcomes + counters->afterstates + counters->leaf_evaluations +
	       counters->turns;
}

static json_t *json_run(const struct smx_game *game, const struct smxi_bench_run *bench_run,
                        const struct smx_result *result)
{
	char turn[SMX_TEXT_MAX];
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "depth", json_integer(bench_run->depth_plies));
	smxi_json_set(object, "width", bench_run->width ? smxi_json_count(bench_run->width) : json_null());
	smxi_json_set(object, "star", json_string(star_names[bench_run->star]));
	smxi_json_set(object, "leaves", json_string(leaves_names[bench_run->leaves]));
	smxi_json_set(object, "evaluator", json_string(bench_run->evaluator->name));
	smxi_json_set(object, "reach", json_real(bench_run->reach));
	smxi_json_set(object, "hash_bytes", bench_run->hash_bytes ? smxi_json_count(bench_run->hash_bytes) : json_null());
	smxi_json_set(object, "turn", json_string(smxi_report_turn(game, &result->turn, turn)));
	smxi_json_set(object, "raw", json_integer(result->value));
	smxi_json_set(object, "counters", smxi_json_counters(&result->counters));
	smxi_json_set(object, "time_ms", json_real(result->time_ms));
	return object;
}

static enum smx_status search(struct smx_search *search, const struct smxi_bench_run *bench_run,
                              const struct smx_game *game, const struct smx_position *position,
                              const struct smx_result **result, struct smx_error *error)
{
	struct smx_search_options options;
	smx_search_options_init(&options, game);
	options.depth_plies = bench_run->depth_plies;
	options.width = bench_run->width;
	options.star = bench_run->star;
	options.leaves = bench_run->leaves;
	options.evaluator = bench_run->evaluator;
	options.selective.reach = bench_run->reach;
	enum smx_status status = SMX_OK;
	if (bench_run->hash_bytes)
		status = smx_table_create(bench_run->hash_bytes, &options.table, error);
	if (status == SMX_OK)
		status = smx_search_run(search, position, &options, result, error);
	smx_table_destroy(options.table);
	return status;
}

/* All runs of one position; false after an error message. */
static bool bench_position(struct smx_search *searcher, const struct smxi_suite *suite, size_t index,
                           struct totals *totals, json_t *positions)
{
	const struct smx_game *game = suite->game;
	const char *name = suite->positions[index].name, *text = suite->positions[index].text;
	struct smx_position position;
	struct smx_error error = {0};
	struct totals own = {0};
	char turn[SMX_TEXT_MAX] = "";
	smx_value value = 0;
	json_t *array = positions ? smxi_json(json_array()) : NULL;
	enum smx_status status = game->parse(text, strlen(text), &position, &error);
	for (size_t i = 0; i < suite->run_count && status == SMX_OK; i++) {
		const struct smx_result *result;
		status = search(searcher, &suite->runs[i], game, &position, &result, &error);
		if (status != SMX_OK)
			break;
		own.signature += signature_of(&result->counters);
		own.chance_nodes += result->counters.chance_nodes;
		own.time_ms += result->time_ms;
		if (i == suite->shown_run) {
			smxi_report_turn(game, &result->turn, turn);
			value = result->value;
		}
		if (array)
			smxi_json_append(array, json_run(game, &suite->runs[i], result));
	}
	if (status != SMX_OK) {
		smxi_error("%s: %s", name, *error.message ? error.message : smx_status_str(status));
		json_decref(array);
		return false;
	}
	totals->signature += own.signature;
	totals->chance_nodes += own.chance_nodes;
	totals->time_ms += own.time_ms;
	if (array) {
		json_t *object = smxi_json(json_object());
		smxi_json_set(object, "name", json_string(name));
		smxi_json_set(object, "position", json_string(text));
		smxi_json_set(object, "runs", array);
		smxi_json_append(positions, object);
	} else {
		printf("%-10s  %-16s %18" PRId64 " %10" PRIu64 " %9.1f ms\n", name, turn, value, own.signature, own.time_ms);
		fflush(stdout);
	}
	return true;
}

static void print_totals(const struct totals *totals)
{
	char number[SMXI_REPORT_TEXT];
	printf("\ntime %.3f s", totals->time_ms / 1e3);
	if (totals->time_ms > 0)
		printf(", %s chance nodes a second",
		       smxi_report_count((uint64_t)((double)totals->chance_nodes / totals->time_ms * 1e3), number));
	printf("\nBench: %" PRIu64 "\n", totals->signature);
}

static enum smxi_exit run(const struct smxi_call *call)
{
	const struct bench_settings *settings = call->settings;
	if (!smxi_no_words(call))
		return SMXI_EXIT_USAGE;
	const struct smxi_suite *suite = smxi_suite_of(call->game);
	if (!suite) {
		smxi_error("bench has no positions of game %s", call->game->name);
		return SMXI_EXIT_USAGE;
	}
	struct totals totals = {0};
	json_t *positions = settings->json ? smxi_json(json_array()) : NULL;
	struct smxi_engine engine = smxi_engine_open(call->game, 1);
	bool ok = true;
	if (!positions)
		printf("%-10s  %-16s %18s %10s %12s\n", "position", "turn", "raw value", "nodes", "time");
	for (size_t i = 0; i < suite->position_count && ok; i++)
		ok = bench_position(engine.search, suite, i, &totals, positions);
	smxi_engine_close(&engine);
	if (!ok) {
		json_decref(positions);
		return SMXI_EXIT_FAILURE;
	}
	if (positions) {
		json_t *object = smxi_json(json_object());
		smxi_json_set(object, "game", json_string(call->game->name));
		smxi_json_set(object, "bench", smxi_json_count(totals.signature));
		smxi_json_set(object, "chance_nodes", smxi_json_count(totals.chance_nodes));
		smxi_json_set(object, "time_ms", json_real(totals.time_ms));
		smxi_json_set(object, "isa", json_string(smx_dicechess_isa()));
		smxi_json_set(object, "positions", positions);
		smxi_json_print(object);
	} else {
		print_totals(&totals);
	}
	return SMXI_EXIT_OK;
}

const struct smxi_command smxi_bench_command = {
	.name = "bench",
	.summary = "search fixed positions and print a signature of the work done",
	.details = "The last line is the signature: the sum of chance nodes, outcomes, afterstates, leaf evaluations\n"
			   "and root turns over all runs. It does not depend on compiler, build or instruction set. The turn\n"
			   "and the raw value shown are those of one of the runs: of Dice Chess the search of depth 2 over every "
			   "turn, of 2048 of depth 5.",
	.options = bench_options,
	.defaults = &defaults,
	.settings_size = sizeof defaults,
	.run = run,
};
