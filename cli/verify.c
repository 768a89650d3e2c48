/* starmax verify: every way to search a position must give what plain expectiminimax gives, bit by bit. */
#define _POSIX_C_SOURCE 200809L

#include "cli/claims.h"
#include "cli/command.h"
#include "cli/engine.h"
#include "cli/interrupt.h"
#include "cli/lines.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/variants.h"
#include "cli/walk.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What --ways asks for. */
enum ways { WAYS_ALL, WAYS_THREADS };
static const char *const ways_names[] = {"all", "threads", NULL};

struct verify_settings {
	uint64_t depth, width;
	const char *evaluator, *file;
	uint64_t random, seed;
	uint64_t shared; /* 0: not asked for */
	unsigned ways;
	bool track, json;
};

static const struct verify_settings defaults = {.depth = 2};

static const struct smxi_option verify_options[] = {
	SMXI_NUMBER(struct verify_settings, depth, "depth", 1, SMX_DEPTH_MAX, NULL,
                "turns to look ahead, the first one included"),
	SMXI_NUMBER(struct verify_settings, width, "width", 1, 1000000000, "all", "candidates kept after pre-ranking"),
	SMXI_TEXT(struct verify_settings, evaluator, "evaluator", "NAME",
              "values the leaves (default: each of the game's in turn)"),
	SMXI_TEXT(struct verify_settings, file, "file", "FILE|-", "positions from a file, one a line"),
	SMXI_NUMBER(struct verify_settings, random, "random", 1, 1000000000, NULL,
                "verify so many decisions met in random play"),
	SMXI_NUMBER(struct verify_settings, seed, "seed", 0, UINT64_MAX, NULL, "of --random"),
	SMXI_CHOICE(struct verify_settings, ways, "ways", ways_names,
                "all, or the default one and those on several threads"),
	SMXI_NUMBER(struct verify_settings, shared, "shared", 1, 1000000000, NULL,
                "fail unless the threads took over more tasks than this"),
	SMXI_FLAG(struct verify_settings, track, "track", "check also what the searches believe on their way"),
	SMXI_FLAG(struct verify_settings, json, "json", "a line of JSON for each result"),
	SMXI_NO_MORE_OPTIONS,
};

#define SIDE_TEXT (SMX_TEXT_MAX + SMXI_REPORT_TEXT)

struct difference {
	const struct smxi_variant *variant;
	const char *what;
	char subject[SMX_TEXT_MAX]; /* the turn or the outcome that it is about; empty: the whole result */
	char expected[SIDE_TEXT], found[SIDE_TEXT];
};

/* What the searches on several threads had of them. */
struct sharing {
	uint64_t searches, tasks, tasks_stopped, bounds_from_tasks;
	unsigned threads_used; /* most in one search */
};

struct job {
	const struct smx_game *game;
	const struct verify_settings *settings;
	struct smxi_engine engines[SMXI_VARIANT_THREADS_MAX + 1]; /* by threads; none where a library has no threads */
	struct smxi_progress progress;
	struct smx_table *tables[SMXI_TABLES]; /* for all positions and evaluators */
	uint64_t table_hits[SMXI_TABLES];
	struct sharing shared;
	uint64_t positions, searches, differences;
	uint64_t claims[SMXI_CLAIM_SOURCES][SMX_BOUND_STAGES], false_claims;
	bool interrupted;

	/* The position and evaluator at hand. */
	struct smx_position position;
	const struct smx_evaluator *evaluator;
	struct smx_result plain; /* the yardstick's, its candidates copied */
	struct smx_candidate *plain_candidates;
	size_t candidate_room;
	uint64_t nodes[SMXI_VARIANTS][2]; /* chance nodes of each variant, and of it searched again */
	bool searched[SMXI_VARIANTS][2];
	uint64_t compared;
	struct smxi_claims *tracked;              /* NULL: not asked for */
	const struct smxi_variant *false_variant; /* of the first false claim */
	struct difference *found;
	size_t found_count, found_room;
};

/* Note a difference; expected and found are then filled by the caller. */
static struct difference *add_difference(struct job *job, const struct smxi_variant *variant, const char *what)
{
	if (job->found_count == job->found_room) {
		job->found_room = job->found_room ? job->found_room * 2 : 8;
		job->found = smxi_reallocate(job->found, job->found_room, sizeof *job->found);
	}
	struct difference *difference = &job->found[job->found_count++];
	*difference = (struct difference){.variant = variant, .what = what};
	return difference;
}

__attribute__((format(printf, 2, 3))) static void write_side(char side[SIDE_TEXT], const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(side, SIDE_TEXT, format, arguments);
	va_end(arguments);
}

static void write_value(const struct job *job, const char *before, smx_value value, char side[SIDE_TEXT])
{
	char number[SMXI_REPORT_TEXT];
	smx_value_format(value, job->evaluator->scale_bits, number, sizeof number);
	write_side(side, "%s%s", before, number);
}

static void differ_in_value(struct job *job, const struct smxi_variant *variant, const char *what, const char *subject,
                            smx_value expected, smx_value found)
{
	struct difference *difference = add_difference(job, variant, what);
	snprintf(difference->subject, sizeof difference->subject, "%s", subject);
	write_value(job, "", expected, difference->expected);
	write_value(job, "", found, difference->found);
}

static void differ_in_number(struct job *job, const struct smxi_variant *variant, const char *what, uint64_t expected,
                             uint64_t found)
{
	struct difference *difference = add_difference(job, variant, what);
	write_side(difference->expected, "%" PRIu64, expected);
	write_side(difference->found, "%" PRIu64, found);
}

static void differ_in_turn(struct job *job, const struct smxi_variant *variant, const char *what,
                           const struct smx_turn *expected, const struct smx_turn *found)
{
	char text[SMX_TEXT_MAX];
	struct difference *difference = add_difference(job, variant, what);
	write_side(difference->expected, "%s", smxi_report_turn(job->game, expected, text));
	write_side(difference->found, "%s", smxi_report_turn(job->game, found, text));
}

static bool is_tied(const struct smx_result *result, const struct smx_candidate *candidate)
{
	return candidate->completed && candidate->exact && result->has_value && candidate->value == result->value;
}

/* A candidate that is not exact is an upper bound of its value, below the best. */
static bool candidate_holds(const struct smx_result *result, const struct smx_candidate *candidate, smx_value expected,
                            bool must_be_exact)
{
	if (!candidate->completed)
		return false;
	if (candidate->exact || must_be_exact)
		return candidate->exact && candidate->value == expected;
	return candidate->value >= expected && result->has_value && candidate->value < result->value;
}

/* Of the tied turns and of the candidates' values the first that differs: the others seldom say more. */
static void compare_candidates(struct job *job, const struct smxi_variant *variant, const struct smx_result *result)
{
	char text[SMX_TEXT_MAX];
	if (result->candidate_count != job->plain.candidate_count) {
		differ_in_number(job, variant, "candidates", job->plain.candidate_count, result->candidate_count);
		return;
	}
	bool same_ties = true, same_values = true;
	for (size_t i = 0; i < result->candidate_count; i++) {
		const struct smx_candidate *candidate = &result->candidates[i], *plain = &job->plain_candidates[i];
		if (!smx_turn_equal(&candidate->turn, &plain->turn)) {
			differ_in_turn(job, variant, "candidate", &plain->turn, &candidate->turn);
			return;
		}
		smxi_report_turn(job->game, &plain->turn, text);
		bool tied = is_tied(&job->plain, plain);
		if (same_ties && is_tied(result, candidate) != tied) {
			struct difference *difference = add_difference(job, variant, "tied turns");
			snprintf(difference->subject, sizeof difference->subject, "%s", text);
			write_side(difference->expected, "%s", tied ? "tied" : "not tied");
			write_side(difference->found, "%s", tied ? "not tied" : "tied");
			same_ties = false;
		}
		if (same_values && !candidate_holds(result, candidate, plain->value, variant->exact_all)) {
			struct difference *difference = add_difference(job, variant, "candidate's value");
			snprintf(difference->subject, sizeof difference->subject, "%s", text);
			write_value(job, "", plain->value, difference->expected);
			if (candidate->completed)
				write_value(job, candidate->exact ? "" : "<= ", candidate->value, difference->found);
			else
				write_side(difference->found, "none");
			same_values = false;
		}
	}
}

static void compare_outcomes(struct job *job, const struct smxi_variant *variant, const struct smx_result *result)
{
	if (result->outcome_count != job->plain.outcome_count) {
		differ_in_number(job, variant, "outcomes", job->plain.outcome_count, result->outcome_count);
		return;
	}
	for (unsigned i = 0; i < result->outcome_count; i++) {
		if (result->outcome_values[i] == job->plain.outcome_values[i])
			continue;
		char name[SMX_TEXT_MAX];
		job->game->outcome_name(job->position.state, (int)i, name);
		differ_in_value(job, variant, "outcome's value", name, job->plain.outcome_values[i], result->outcome_values[i]);
		return;
	}
}

static void compare(struct job *job, const struct smxi_variant *variant, const struct smx_result *result)
{
	const struct smx_result *plain = &job->plain;
	if (result->kind != plain->kind) {
		differ_in_number(job, variant, "kind of result", (uint64_t)plain->kind, (uint64_t)result->kind);
		return;
	}
	if (result->has_value != plain->has_value)
		differ_in_number(job, variant, "values known", plain->has_value, result->has_value);
	else if (result->value != plain->value)
		differ_in_value(job, variant, "value", "", plain->value, result->value);
	if (plain->kind == SMX_RESULT_VALUE) {
		compare_outcomes(job, variant, result);
		return;
	}
	if (!smx_turn_equal(&result->turn, &plain->turn))
		differ_in_turn(job, variant, "turn", &plain->turn, &result->turn);
	if (result->ties != plain->ties)
		differ_in_number(job, variant, "number of ties", plain->ties, result->ties);
	compare_candidates(job, variant, result);
}

static void add_sharing(struct sharing *shared, const struct smx_result *result)
{
	shared->searches++;
	shared->tasks += result->counters.tasks;
	shared->tasks_stopped += result->counters.tasks_stopped;
	shared->bounds_from_tasks += result->counters.bounds_from_tasks;
	if (result->sharing.used > shared->threads_used)
		shared->threads_used = result->sharing.used;
}

/* *result is NULL where the search was interrupted. */
static enum smx_status search(struct job *job, const struct smxi_variant *variant, const struct smx_result **result,
                              struct smx_error *error)
{
	struct smx_search_options options;
	smx_search_options_init(&options, job->game);
	options.depth_plies = (unsigned)job->settings->depth;
	options.width = (size_t)job->settings->width;
	options.evaluator = job->evaluator;
	smxi_variant_ask(variant, &options);
	options.table = job->tables[variant->table];
	if (variant->track && job->tracked) {
		options.on_claim = smxi_claims_check;
		options.claim_context = job->tracked;
	}
	options.outcome_values = job->position.outcome == SMX_NO_OUTCOME;
	*result = NULL;
	if (smxi_interrupt_requested()) {
		job->interrupted = true;
		return SMX_OK;
	}
	const struct smxi_engine *engine = &job->engines[variant->threads];
	options.splitter = smx_parallel_splitter(engine->parallel);
	options.share_least_ms = -1;
	smxi_interrupt_watch(engine->search);
	smxi_progress_attach(&job->progress, &options);
	enum smx_status status = smx_search_run(engine->search, &job->position, &options, result, error);
	smxi_progress_erase(&job->progress);
	if (job->tracked && job->tracked->no_memory)
		smxi_out_of_memory();
	if (status != SMX_OK)
		return status;
	job->table_hits[variant->table] += (*result)->counters.table_hits;
	if (variant->threads > 1)
		add_sharing(&job->shared, *result);
	if ((*result)->stopped) {
		job->interrupted = true;
		*result = NULL;
	}
	return status;
}

static void keep_plain(struct job *job, const struct smx_result *result)
{
	job->plain = *result;
	if (result->candidate_count > job->candidate_room) {
		job->candidate_room = result->candidate_count;
		job->plain_candidates =
			smxi_reallocate(job->plain_candidates, job->candidate_room, sizeof *job->plain_candidates);
	}
	if (result->candidate_count)
		memcpy(job->plain_candidates, result->candidates, result->candidate_count * sizeof *result->candidates);
	job->plain.candidates = job->plain_candidates;
}

/* One variant, and where it says so once more. *go_on is false where the search was interrupted. */
static enum smx_status compare_variant(struct job *job, size_t index, bool *go_on, struct smx_error *error)
{
	const struct smxi_variant *variant = &smxi_variants[index];
	if (variant->fresh)
		smx_table_clear(job->tables[variant->table]);
	for (unsigned pass = 0; pass < (variant->again ? 2 : 1); pass++) {
		const struct smx_result *result;
		const enum smx_status status = search(job, variant, &result, error);
		if (job->tracked && job->tracked->false_count && !job->false_variant)
			job->false_variant = variant;
		*go_on = result != NULL;
		if (status != SMX_OK || !result)
			return status;
		job->compared++;
		compare(job, variant, result);
		job->nodes[index][pass] = result->counters.chance_nodes;
		job->searched[index][pass] = true;
	}
	/* what is known already can only save work */
	if (variant->again && job->nodes[index][1] > job->nodes[index][0])
		differ_in_number(job, variant, "chance nodes when searched again", job->nodes[index][0], job->nodes[index][1]);
	return SMX_OK;
}

/* Whether --ways asks for it. The default search is always done: each line says what it took. */
static bool is_asked_for(const struct job *job, size_t index)
{
	return job->settings->ways == WAYS_ALL || index == 0 || smxi_variants[index].threads > 1;
}

/* All variants with one evaluator. */
static enum smx_status compare_variants(struct job *job, struct smx_error *error)
{
	const struct smx_result *result;
	job->found_count = 0;
	job->compared = 0;
	job->false_variant = NULL;
	memset(job->searched, 0, sizeof job->searched);
	memset(job->nodes, 0, sizeof job->nodes);
	if (job->tracked)
		smxi_claims_begin(job->tracked, job->evaluator);
	enum smx_status status = search(job, &smxi_yardstick, &result, error);
	if (status != SMX_OK || !result)
		return status;
	keep_plain(job, result);
	bool go_on = true;
	for (size_t i = 0; i < SMXI_VARIANTS && status == SMX_OK && go_on; i++)
		if (is_asked_for(job, i) && job->engines[smxi_variants[i].threads].search &&
		    smxi_variant_is_worth_it(i, job->evaluator, job->position.outcome != SMX_NO_OUTCOME))
			status = compare_variant(job, i, &go_on, error);
	return status;
}

static bool all_well(const struct job *job)
{
	return !job->found_count && !(job->tracked && job->tracked->false_count);
}

static json_t *differences_json(const struct job *job)
{
	json_t *array = smxi_json(json_array());
	for (size_t i = 0; i < job->found_count; i++) {
		const struct difference *difference = &job->found[i];
		json_t *row = smxi_json(json_object());
		smxi_variant_set_json(difference->variant, row);
		smxi_json_set(row, "what", json_string(difference->what));
		smxi_json_set(row, "of", *difference->subject ? json_string(difference->subject) : json_null());
		smxi_json_set(row, "expected", json_string(difference->expected));
		smxi_json_set(row, "found", json_string(difference->found));
		smxi_json_append(array, row);
	}
	return array;
}

static json_t *variants_json(const struct job *job)
{
	json_t *array = smxi_json(json_array());
	for (size_t i = 0; i < SMXI_VARIANTS; i++) {
		for (unsigned pass = 0; pass < 2; pass++) {
			if (!job->searched[i][pass])
				continue;
			json_t *row = smxi_json(json_object());
			smxi_variant_set_json(&smxi_variants[i], row);
			smxi_json_set(row, "again", json_boolean(pass));
			smxi_json_set(row, "chance_nodes", smxi_json_count(job->nodes[i][pass]));
			smxi_json_append(array, row);
		}
	}
	return array;
}

static json_t *claims_json(uint64_t checked[SMXI_CLAIM_SOURCES][SMX_BOUND_STAGES])
{
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "search", smxi_json_count(checked[SMX_CLAIM_SEARCH][0]));
	smxi_json_set(object, "table", smxi_json_count(checked[SMX_CLAIM_TABLE][0]));
	smxi_json_set(object, "look", smxi_json_count(checked[SMX_CLAIM_LOOK][0]));
	for (unsigned stage = 1; stage < SMX_BOUND_STAGES; stage++) {
		char name[16];
		snprintf(name, sizeof name, "bound_%u", stage);
		smxi_json_set(object, name, smxi_json_count(checked[SMX_CLAIM_BOUND][stage]));
	}
	return object;
}

/* In the order of the library's enumeration. */
static const char *const source_names[SMXI_CLAIM_SOURCES] = {"search", "table", "look", "bound"};

static json_t *exact_json(const struct job *job, smx_value value)
{
	char number[SMXI_REPORT_TEXT];
	smx_value_format(value, job->evaluator->scale_bits, number, sizeof number);
	return json_string(number);
}

static json_t *false_claim_json(const struct job *job)
{
	if (!job->false_variant)
		return json_null();
	const struct smxi_false_claim *claim = &job->tracked->first;
	json_t *object = smxi_json(json_object()), *path = smxi_json(json_array());
	smxi_variant_set_json(job->false_variant, object);
	smxi_json_set(object, "source", json_string(source_names[claim->source]));
	smxi_json_set(object, "stage", smxi_json_count(claim->stage));
	smxi_json_set(object, "depth", smxi_json_count(claim->depth));
	smxi_json_set(object, "lower", exact_json(job, claim->lower));
	smxi_json_set(object, "upper", exact_json(job, claim->upper));
	smxi_json_set(object, "value", exact_json(job, claim->value));
	for (unsigned i = 0; i < claim->length; i++) {
		char text[SMX_TEXT_MAX];
		job->game->format(&claim->path[i], text);
		smxi_json_append(path, json_string(text));
	}
	smxi_json_set(object, "path", path);
	return object;
}

static void print_json(const struct job *job, const char *position)
{
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "position", json_string(position));
	smxi_json_set(object, "evaluator", json_string(job->evaluator->name));
	smxi_json_set(object, "depth", smxi_json_count(job->settings->depth));
	smxi_json_set(object, "width", job->settings->width ? smxi_json_count(job->settings->width) : json_null());
	smxi_json_set(object, "plain_chance_nodes", smxi_json_count(job->plain.counters.chance_nodes));
	smxi_json_set(object, "plain_leaf_evaluations", smxi_json_count(job->plain.counters.leaf_evaluations));
	smxi_json_set(object, "chance_nodes", smxi_json_count(job->nodes[0][0]));
	smxi_json_set(object, "searches", smxi_json_count(job->compared));
	smxi_json_set(object, "ok", json_boolean(all_well(job)));
	smxi_json_set(object, "differences", differences_json(job));
	smxi_json_set(object, "claims", job->tracked ? claims_json(job->tracked->checked) : json_null());
	smxi_json_set(object, "false_claims", smxi_json_count(job->tracked ? job->tracked->false_count : 0));
	smxi_json_set(object, "first_false_claim", false_claim_json(job));
	smxi_json_set(object, "variants", variants_json(job));
	smxi_json_print(object);
}

static void print_header(void)
{
	printf("%-9s  %-16s  %5s  %14s  %14s  %13s  %s\n", "", "evaluator", "depth", "plain nodes", "plain leaves",
	       "default nodes", "position");
}

static void print_false_claim(const struct job *job)
{
	const struct smxi_false_claim *claim = &job->tracked->first;
	char text[SMX_TEXT_MAX], variant[SMXI_VARIANT_TEXT], stage[16] = "";
	char lower[SMXI_REPORT_TEXT], upper[SMXI_REPORT_TEXT], value[SMXI_REPORT_TEXT];
	const unsigned scale = job->evaluator->scale_bits;
	smx_value_format(claim->lower, scale, lower, sizeof lower);
	smx_value_format(claim->upper, scale, upper, sizeof upper);
	smx_value_format(claim->value, scale, value, sizeof value);
	if (claim->source == SMX_CLAIM_BOUND)
		snprintf(stage, sizeof stage, " of stage %u", claim->stage);
	printf(
		"  %s: claim of %s%s at depth %u: [%s, %s] does not hold the plain value %s; %s false claim%s, the first at\n",
		smxi_variant_describe(job->false_variant, variant), source_names[claim->source], stage, claim->depth, lower,
		upper, value, smxi_report_count(job->tracked->false_count, text), job->tracked->false_count == 1 ? "" : "s");
	for (unsigned i = 0; i < claim->length; i++) {
		job->game->format(&claim->path[i], text);
		printf("    %s\n", text);
	}
}

static void print_text(const struct job *job, const char *position)
{
	char nodes[SMXI_REPORT_TEXT], leaves[SMXI_REPORT_TEXT], fewer[SMXI_REPORT_TEXT];
	printf("%-9s  %-16s  %5u  %14s  %14s  %13s  %s\n",
	       job->found_count ? "DIFFERENT"
	       : all_well(job)  ? "ok"
	                        : "FALSE",
	       job->evaluator->name, (unsigned)job->settings->depth,
	       smxi_report_count(job->plain.counters.chance_nodes, nodes),
	       smxi_report_count(job->plain.counters.leaf_evaluations, leaves), smxi_report_count(job->nodes[0][0], fewer),
	       position);
	for (size_t i = 0; i < job->found_count; i++) {
		const struct difference *difference = &job->found[i];
		char variant[SMXI_VARIANT_TEXT];
		printf("  %s: %s", smxi_variant_describe(difference->variant, variant), difference->what);
		if (*difference->subject)
			printf(" of %s", difference->subject);
		printf(": found %s, expected %s\n", difference->found, difference->expected);
	}
	if (job->false_variant)
		print_false_claim(job);
	fflush(stdout);
}

static void add_claims(struct job *job)
{
	if (!job->tracked)
		return;
	for (unsigned source = 0; source < SMXI_CLAIM_SOURCES; source++)
		for (unsigned stage = 0; stage < SMX_BOUND_STAGES; stage++)
			job->claims[source][stage] += job->tracked->checked[source][stage];
	job->false_claims += job->tracked->false_count;
}

/* One position with each evaluator asked for. SMX_OK also where they differ or where it was interrupted. */
static enum smx_status verify_position(struct job *job, const struct smx_position *position, struct smx_error *error)
{
	const struct smx_evaluator *only[] = {NULL, NULL};
	const struct smx_evaluator *const *evaluators = job->game->evaluators;
	char text[SMX_TEXT_MAX];
	if (job->settings->evaluator) {
		only[0] = smx_game_evaluator(job->game, job->settings->evaluator);
		evaluators = only;
	}
	job->position = *position;
	job->game->format(position, text);
	for (; *evaluators; evaluators++) {
		job->evaluator = *evaluators;
		enum smx_status status = compare_variants(job, error);
		/* An interrupt does not take back a difference or a false claim that was found before it. */
		if (status != SMX_OK || (job->interrupted && all_well(job)))
			return status;
		job->searches += job->compared;
		job->differences += job->found_count;
		add_claims(job);
		if (job->settings->json)
			print_json(job, text);
		else
			print_text(job, text);
		if (job->interrupted)
			return SMX_OK;
	}
	job->positions++;
	return SMX_OK;
}

static const char *reason(enum smx_status status, const struct smx_error *error)
{
	return *error->message ? error->message : smx_status_str(status);
}

static enum smxi_exit verify_argument(struct job *job, const struct smx_position *position)
{
	struct smx_error error = {0};
	enum smx_status status = verify_position(job, position, &error);
	if (status == SMX_OK)
		return SMXI_EXIT_OK;
	smxi_error("%s", reason(status, &error));
	return SMXI_EXIT_FAILURE;
}

/* One line of a file; false after an error message. */
static bool verify_line(void *context, const char *line, size_t length, const char *name, uint64_t number)
{
	struct job *job = context;
	struct smx_position position;
	struct smx_error error = {0};
	enum smx_status status = job->game->parse(line, length, &position, &error);
	if (status == SMX_OK)
		status = verify_position(job, &position, &error);
	if (status != SMX_OK)
		fprintf(stderr, "starmax: %s:%" PRIu64 ": %s\n", name, number, reason(status, &error));
	return status == SMX_OK;
}

static enum smxi_exit verify_random(struct job *job)
{
	const struct smx_game *game = job->game;
	struct smx_position start, position;
	struct smx_error error = {0};
	enum smx_status status = game->parse(game->start, strlen(game->start), &start, &error);
	if (status != SMX_OK) {
		smxi_error("the game's first position: %s", reason(status, &error));
		return SMXI_EXIT_FAILURE;
	}
	enum smxi_exit end = SMXI_EXIT_OK;
	uint64_t seed = job->settings->seed;
	for (uint64_t i = 0; i < job->settings->random && end == SMXI_EXIT_OK && !job->interrupted; i++) {
		if (!smxi_walk_to_decision(game, &start, &seed, &position)) {
			smxi_error("random play of %s finds no decision", game->name);
			end = SMXI_EXIT_FAILURE;
		} else {
			end = verify_argument(job, &position);
		}
	}
	return end;
}

static void print_summary_json(struct job *job)
{
	json_t *object = smxi_json(json_object()), *tables = smxi_json(json_array());
	smxi_json_set(object, "positions", smxi_json_count(job->positions));
	smxi_json_set(object, "searches", smxi_json_count(job->searches));
	smxi_json_set(object, "differences", smxi_json_count(job->differences));
	smxi_json_set(object, "claims", job->tracked ? claims_json(job->claims) : json_null());
	smxi_json_set(object, "false_claims", smxi_json_count(job->false_claims));
	for (unsigned i = SMXI_NO_TABLE + 1; i < SMXI_TABLES; i++) {
		json_t *row = smxi_json(json_object());
		smxi_json_set(row, "size_bytes", smxi_json_count(smxi_variant_table_bytes[i]));
		smxi_json_set(row, "hits", smxi_json_count(job->table_hits[i]));
		smxi_json_append(tables, row);
	}
	smxi_json_set(object, "tables", tables);
	smxi_json_set(object, "parallel_searches", smxi_json_count(job->shared.searches));
	smxi_json_set(object, "tasks", smxi_json_count(job->shared.tasks));
	smxi_json_set(object, "tasks_stopped", smxi_json_count(job->shared.tasks_stopped));
	smxi_json_set(object, "bounds_from_tasks", smxi_json_count(job->shared.bounds_from_tasks));
	smxi_json_set(object, "threads_used", smxi_json_count(job->shared.threads_used));
	smxi_json_set(object, "stopped", json_boolean(job->interrupted));
	smxi_json_print(object);
}

static void print_claims_checked(const struct job *job)
{
	char number[SMXI_REPORT_TEXT];
	uint64_t sum = 0;
	for (unsigned source = 0; source < SMXI_CLAIM_SOURCES; source++)
		for (unsigned stage = 0; stage < SMX_BOUND_STAGES; stage++)
			sum += job->claims[source][stage];
	printf("%s claims checked: ", smxi_report_count(sum, number));
	printf("search %s, ", smxi_report_count(job->claims[SMX_CLAIM_SEARCH][0], number));
	printf("table %s, ", smxi_report_count(job->claims[SMX_CLAIM_TABLE][0], number));
	printf("look %s, bounds of stage", smxi_report_count(job->claims[SMX_CLAIM_LOOK][0], number));
	for (unsigned stage = 1; stage < SMX_BOUND_STAGES; stage++)
		printf(" %u: %s,", stage, smxi_report_count(job->claims[SMX_CLAIM_BOUND][stage], number));
	printf(" %s false\n", job->false_claims ? smxi_report_count(job->false_claims, number) : "none");
}

static void print_summary_text(const struct job *job)
{
	char number[SMXI_REPORT_TEXT];
	printf("%s%s position%s verified, ", job->interrupted ? "stopped: " : "", smxi_report_count(job->positions, number),
	       job->positions == 1 ? "" : "s");
	printf("%s searches compared with the plain one, ", smxi_report_count(job->searches, number));
	printf("%s difference%s\n", job->differences ? smxi_report_count(job->differences, number) : "no",
	       job->differences == 1 ? "" : "s");
	printf("hits in the table of 1 KiB: %s", smxi_report_count(job->table_hits[SMXI_TABLE_1K], number));
	printf(", of 64 KiB: %s", smxi_report_count(job->table_hits[SMXI_TABLE_64K], number));
	printf(", of 64 MiB: %s\n", smxi_report_count(job->table_hits[SMXI_TABLE_64M], number));
	printf("%s searches on several threads, at most %u at work in one: ",
	       smxi_report_count(job->shared.searches, number), job->shared.threads_used);
	printf("%s tasks, ", smxi_report_count(job->shared.tasks, number));
	printf("%s stopped by another's result; ", smxi_report_count(job->shared.tasks_stopped, number));
	printf("%s bounds from tasks\n", smxi_report_count(job->shared.bounds_from_tasks, number));
	if (job->tracked)
		print_claims_checked(job);
}

static void open_job(struct job *job)
{
	job->engines[1] = smxi_engine_open(job->game, 1);
	for (unsigned i = 0; i < SMXI_VARIANTS; i++) {
		const unsigned threads = smxi_variants[i].threads;
		if (!job->engines[threads].search && smxi_engine_can_have(threads))
			job->engines[threads] = smxi_engine_open(job->game, threads);
	}
	for (unsigned i = SMXI_NO_TABLE + 1; i < SMXI_TABLES; i++)
		if (smx_table_create(smxi_variant_table_bytes[i], &job->tables[i], NULL) != SMX_OK)
			smxi_out_of_memory();
	if (job->settings->track) {
		job->tracked = smxi_claims_create(job->game);
		if (!job->tracked)
			smxi_out_of_memory();
		job->tracked->must_stop = smxi_interrupt_requested;
	}
	smxi_interrupt_watch(job->engines[1].search);
}

static void close_job(struct job *job)
{
	smxi_interrupt_watch(NULL);
	for (unsigned i = 0; i <= SMXI_VARIANT_THREADS_MAX; i++)
		if (job->engines[i].search)
			smxi_engine_close(&job->engines[i]);
	for (unsigned i = 0; i < SMXI_TABLES; i++)
		smx_table_destroy(job->tables[i]);
	smxi_claims_destroy(job->tracked);
	free(job->plain_candidates);
	free(job->found);
}

/* Whether enough was shared for a test of several threads; false after an error message. */
static bool was_shared(const struct job *job)
{
	const struct sharing *shared = &job->shared;
	const uint64_t least = job->settings->shared;
	char tasks[SMXI_REPORT_TEXT], asked[SMXI_REPORT_TEXT];
	if (shared->tasks <= least)
		smxi_error("--shared: too little was shared: %s tasks, not over %s", smxi_report_count(shared->tasks, tasks),
		           smxi_report_count(least, asked));
	else if (shared->threads_used < 2)
		smxi_error("--shared: no search had two threads at work");
	else if (!shared->tasks_stopped)
		smxi_error("--shared: no task was stopped by another's result");
	else if (!shared->bounds_from_tasks)
		smxi_error("--shared: no bound came from a task");
	else
		return true;
	return false;
}

static enum smxi_exit run(const struct smxi_call *call)
{
	struct job job = {.game = call->game, .settings = call->settings};
	struct smx_position position;
	if (job.settings->evaluator && !smxi_evaluator_find(job.game, "evaluator", job.settings->evaluator))
		return SMXI_EXIT_USAGE;
	if (job.settings->file && job.settings->random) {
		smxi_error("--file and --random exclude each other");
		return SMXI_EXIT_USAGE;
	}
	if ((job.settings->ways == WAYS_THREADS || job.settings->shared) && !smxi_engine_can_have(2)) {
		smxi_error("%s needs threads: OpenMP is not built in, or limited to one",
		           job.settings->shared ? "--shared" : "--ways threads");
		return SMXI_EXIT_USAGE;
	}
	bool takes_position = !job.settings->file && !job.settings->random;
	if (takes_position ? !smxi_position_read(call, &position) : !smxi_no_words(call))
		return SMXI_EXIT_USAGE;
	open_job(&job);
	if (!job.settings->json)
		print_header();
	enum smxi_exit status = SMXI_EXIT_OK;
	if (takes_position)
		status = verify_argument(&job, &position);
	else
		status = job.settings->file ? smxi_lines_read(job.settings->file, verify_line, &job) : verify_random(&job);
	job.interrupted |= smxi_interrupt_requested();
	if (job.settings->json)
		print_summary_json(&job);
	else
		print_summary_text(&job);
	close_job(&job);
	if (job.interrupted)
		return SMXI_EXIT_INTERRUPTED;
	if (job.differences || job.false_claims || status != SMXI_EXIT_OK)
		return SMXI_EXIT_FAILURE;
	return job.settings->shared && !was_shared(&job) ? SMXI_EXIT_FAILURE : SMXI_EXIT_OK;
}

const struct smxi_command smxi_verify_command = {
	.name = "verify",
	.arguments = "<position>",
	.summary = "check that every way to search gives the answer of the plain search",
	.details = "The yardstick is plain expectiminimax: nothing pruned, every leaf listed. The position is searched\n"
			   "again in some fifty ways, in which every two settings meet: each level of pruning, leaves folded and\n"
			   "listed, with and without bounds and frames, several probes, tables of 1 KiB, 64 KiB and 64 MiB that\n"
			   "all positions share, a second time in a table that knows it all, and on 2, 3, 4 and 8 threads. The\n"
			   "values, the turn, the ties and every candidate must be the same to the last bit; a candidate that was\n"
			   "only bounded must not be worth more than its bound. With --track, whatever four of the searches\n"
			   "believe of a chance node on their way, from a bound, a table or their own work, must hold for its\n"
			   "plain value, which is computed apart. The plain search is slow: beyond depth 2 give a small --width.\n"
			   "With --random, positions are met in random play from the game's first one. Each line says what the\n"
			   "plain search took and what the default one did. Exit status 1 where anything differs or a claim is\n"
			   "false; with --shared also where the searches on several threads had too little of them: not more\n"
			   "tasks than that in all, never two threads at work in one search, no task that another's result has\n"
			   "stopped, or no bound of a node that another thread than its own improved.",
	.options = verify_options,
	.defaults = &defaults,
	.settings_size = sizeof defaults,
	.run = run,
};
