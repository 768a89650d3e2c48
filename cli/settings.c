#define _POSIX_C_SOURCE 200809L

#include "cli/settings.h"

#include "cli/engine.h"
#include "cli/report.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const smxi_width_counts_names[] = {"afterstates", "paths", NULL};
const char *const smxi_star_names[] = {"none", "star1", "star2", "etc", NULL};
static const char *const leaves_names[] = {"fold", "list", NULL};
static const char *const on_off_names[] = {"on", "off", NULL};

const struct smxi_option smxi_search_options[] = {
	SMXI_NUMBER(struct smxi_search_settings, depth, "depth", 1, SMX_DEPTH_MAX, "auto",
                "turns to look ahead, the first one included; auto: 2, or as many as the limits allow"),
	SMXI_TEXT(struct smxi_search_settings, depth_by, "depth-by", "RULE",
              "depth by position, such as outcomes:8=6,16=5,4: 6 where there are up to 8 outcomes, 5 up to 16, else 4; "
              "starmax --help lists what else it goes by"),
	SMXI_NUMBER(struct smxi_search_settings, width, "width", 1, 1000000000, "all", "candidates kept after pre-ranking"),
	SMXI_CHOICE(struct smxi_search_settings, width_counts, "width-counts", smxi_width_counts_names,
                "what the width counts"),
	SMXI_TEXT(struct smxi_search_settings, evaluator, "evaluator", "NAME",
              "values the leaves (default: the game's first); starmax --help lists them and their forms, such as "
              "winprob:800"),
	SMXI_TEXT(struct smxi_search_settings, prerank, "prerank", "NAME",
              "the evaluator that pre-ranks (default: the game's first)"),
	SMXI_CHOICE(struct smxi_search_settings, leaves, "leaves", leaves_names,
                "how the last turn is valued; the values are the same"),
	SMXI_CHOICE(struct smxi_search_settings, star, "star", smxi_star_names,
                "how much is pruned; the values are the same"),
	SMXI_CHOICE(struct smxi_search_settings, bounds, "bounds", on_off_names,
                "whether the game is asked for bounds; the values are the same"),
	SMXI_CHOICE(struct smxi_search_settings, frames, "frames", on_off_names,
                "whether star2 and etc search chance nodes whole; the values are the same"),
	SMXI_NUMBER(struct smxi_search_settings, probe, "probe", 1, 1000000000, NULL,
                "afterstates probed for each outcome of a node that is no frame; the values are the same"),
	SMXI_SIZE(struct smxi_search_settings, hash, "hash", SMX_TABLE_BYTES_MIN, UINT64_C(1) << 46, "off",
              "bytes of the transposition table, or K, M, G of them (default 64M from depth 4 on, else off); the "
              "values are the same"),
	SMXI_TEXT(struct smxi_search_settings, rescore, "rescore", "NAME",
              "a second evaluator, asked about the candidates and blended with what the search finds"),
	SMXI_TEXT(struct smxi_search_settings, rescore_weight, "rescore-weight", "W",
              "of --rescore: its share, 0 to 1, such as 0.25 or 1/4"),
	SMXI_NUMBER(struct smxi_search_settings, inner_width, "inner-width", 1, 1000000000, "all",
                "selective: afterstates kept at inner decisions"),
	SMXI_TEXT(struct smxi_search_settings, reach, "reach", "P",
              "selective: evaluate at once what is reached with less probability, such as 0.001 (default 0)"),
	SMXI_NUMBER(struct smxi_search_settings, samples, "samples", 1, 1000000, "all",
                "selective: outcomes drawn at chance nodes that have more"),
	SMXI_NUMBER(struct smxi_search_settings, nodes, "nodes", 1, UINT64_MAX, "none", "stop after so many chance nodes"),
	SMXI_DURATION(struct smxi_search_settings, movetime_ms, "movetime", 1, 1000000000000, "none",
                  "stop after that time"),
	SMXI_NO_MORE_OPTIONS,
};

const struct smxi_option smxi_thread_options[] = {
	SMXI_NUMBER(
		struct smxi_thread_settings, threads, "threads", 1, SMX_PARALLEL_THREADS_MAX, "auto",
		"threads that share the work, auto: what starmax topology says (default: $STARMAX_THREADS, else auto); the "
		"answer is the same"),
	SMXI_FLAG(struct smxi_thread_settings, serial, "serial",
              "the same as --threads 1: counters and node counts are those of every other such run"),
	SMXI_CHOICE(struct smxi_thread_settings, bind, "bind", smxi_bind_names,
                "which processors several threads keep to; the answer is the same"),
	SMXI_NO_MORE_OPTIONS,
};

bool smxi_search_deepens(const struct smxi_search_settings *settings)
{
	return !settings->depth && (settings->depth_by || settings->nodes || settings->movetime_ms);
}

/* Digits with or without a fraction; what is not that is not what strtod is asked about. */
static bool is_decimal(const char *text, size_t most_decimals)
{
	static const char digits[] = "0123456789";
	size_t whole = strspn(text, digits);
	if (!whole || !text[whole])
		return whole != 0;
	size_t decimals = strspn(text + whole + 1, digits);
	return text[whole] == '.' && decimals && decimals <= most_decimals && !text[whole + 1 + decimals];
}

/* False after an error message. */
static bool read_reach(const char *text, double *reach)
{
	char shown[200];
	if (is_decimal(text, SIZE_MAX)) {
		*reach = strtod(text, NULL);
		if (*reach < 1)
			return true;
	}
	smxi_error("option --reach takes a probability from 0 to below 1, such as 0.001, not %s",
	           smxi_printable(text, shown, sizeof shown));
	return false;
}

/* "1/4" or "0.25", from 0 to 1; false after an error message. */
static bool read_weight(const char *text, uint32_t *weight, uint32_t *total)
{
	enum { DIGITS = 9 }; /* of the numerator at most: three decimals more still fit */
	char shown[200];
	size_t numerator = strspn(text, "0123456789");
	bool is_fraction = text[numerator] == '/';
	const char *rest = text + numerator + (text[numerator] != '\0');
	uint64_t above = strtoull(text, NULL, 10), below = 1;
	bool ok = numerator && numerator <= DIGITS;
	if (is_fraction) {
		below = strtoull(rest, NULL, 10); /* too much is UINT64_MAX */
		ok = ok && *rest && strspn(rest, "0123456789") == strlen(rest);
	} else {
		ok = ok && is_decimal(text, 3);
		for (; ok && *rest; rest++, below *= 10)
			above = above * 10 + (uint64_t)(*rest - '0');
	}
	if (ok && below >= 1 && below <= SMX_RESCORE_TOTAL_MAX && above <= below) {
		*weight = (uint32_t)above;
		*total = (uint32_t)below;
		return true;
	}
	smxi_error("option --rescore-weight takes a share from 0 to 1, a fraction with a denominator of at most %d or a "
	           "decimal with at most three decimals, such as 1/4 or 0.25, not %s",
	           SMX_RESCORE_TOTAL_MAX, smxi_printable(text, shown, sizeof shown));
	return false;
}

/* The second evaluator; false after an error message. */
static bool set_rescore(const struct smxi_search_settings *settings, const struct smx_game *game,
                        struct smx_search_options *options)
{
	if (!settings->rescore != !settings->rescore_weight) {
		smxi_error(settings->rescore ? "--rescore needs --rescore-weight" : "--rescore-weight needs --rescore");
		return false;
	}
	if (!settings->rescore)
		return true;
	options->rescore = smxi_evaluator_find(game, "rescorer", settings->rescore);
	if (!options->rescore || !read_weight(settings->rescore_weight, &options->rescore_weight, &options->rescore_total))
		return false;
	if (!strcmp(options->rescore->unit, options->evaluator->unit))
		return true;
	smxi_error("rescorer %s counts in %s, evaluator %s in %s: they cannot be blended", options->rescore->name,
	           options->rescore->unit, options->evaluator->name, options->evaluator->unit);
	return false;
}

bool smxi_search_refuse_table(const char *option)
{
	smxi_error("--%s is not for a search with --inner-width or --samples: its values depend on more than a table keeps",
	           option);
	return false;
}

/* False after an error message. */
static bool set_depth_by(const char *text, const struct smx_game *game, struct smx_search_options *options)
{
	struct smx_error error;
	if (!text || smx_depth_rule_parse(game, text, &options->depth_by, &error) == SMX_OK)
		return true;
	smxi_error("option --depth-by: %s", error.message);
	return false;
}

bool smxi_search_apply(const struct smxi_search_settings *settings, const struct smx_game *game,
                       struct smx_search_options *options)
{
	smx_search_options_init(options, game);
	if (settings->depth || smxi_search_deepens(settings))
		options->depth_plies = settings->depth ? (unsigned)settings->depth : SMX_DEPTH_MAX;
	options->width = (size_t)settings->width;
	options->width_counts = (enum smx_width_counts)settings->width_counts;
	options->leaves = (enum smx_leaves)settings->leaves;
	options->star = (enum smx_star)settings->star;
	options->no_bounds = settings->bounds != 0;
	options->no_frames = settings->frames != 0;
	options->probe_replies = (size_t)settings->probe;
	options->node_limit = settings->nodes;
	options->time_limit_ms = (double)settings->movetime_ms;
	options->selective.inner_width = (size_t)settings->inner_width;
	options->selective.samples = (unsigned)settings->samples;
	if (settings->evaluator && !(options->evaluator = smxi_evaluator_find(game, "evaluator", settings->evaluator)))
		return false;
	if (settings->prerank && !(options->prerank = smxi_evaluator_find(game, "pre-ranker", settings->prerank)))
		return false;
	if (!set_depth_by(settings->depth_by, game, options) || !set_rescore(settings, game, options) ||
	    (settings->reach && !read_reach(settings->reach, &options->selective.reach)))
		return false;
	return !(settings->hash.given && settings->hash.bytes && !smxi_search_takes_table(options)) ||
	       smxi_search_refuse_table("hash");
}

uint64_t smxi_search_hash_bytes(const struct smxi_search_settings *settings, const struct smx_search_options *options)
{
	if (settings->hash.given)
		return settings->hash.bytes;
	return options->depth_plies >= SMXI_DEFAULT_HASH_DEPTH && smxi_search_takes_table(options) ? SMXI_DEFAULT_HASH : 0;
}

json_t *smxi_search_json_rescore(const struct smx_search_options *options)
{
	if (!options->rescore)
		return smxi_json(json_null());
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "evaluator", json_string(options->rescore->name));
	smxi_json_set(object, "weight", json_integer(options->rescore_weight));
	smxi_json_set(object, "total", json_integer(options->rescore_total));
	return object;
}

bool smxi_search_is_selective(const struct smx_search_options *options)
{
	const struct smx_selective *selective = &options->selective;
	return selective->inner_width || selective->reach > 0 || selective->samples;
}

bool smxi_search_takes_table(const struct smx_search_options *options)
{
	return !options->selective.inner_width && !options->selective.samples;
}

json_t *smxi_search_json_selective(const struct smx_search_options *options)
{
	const struct smx_selective *selective = &options->selective;
	if (!smxi_search_is_selective(options))
		return smxi_json(json_null());
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "inner_width",
	              selective->inner_width ? smxi_json_count(selective->inner_width) : json_null());
	smxi_json_set(object, "reach", json_real(selective->reach));
	smxi_json_set(object, "samples", selective->samples ? json_integer(selective->samples) : json_null());
	return object;
}

/* Behind what is there. */
static void add(char words[SMXI_SEARCH_WORDS], const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char words[SMXI_SEARCH_WORDS], const char *format, ...)
{
	const size_t used = strlen(words), room = SMXI_SEARCH_WORDS - used;
	va_list arguments;
	va_start(arguments, format);
	const int length = vsnprintf(words + used, room, format, arguments);
	va_end(arguments);
	assert(length >= 0 && (size_t)length < room);
	(void)length;
}

static void add_speed(char words[SMXI_SEARCH_WORDS], const struct smx_search_options *options, size_t hash_bytes,
                      unsigned threads)
{
	add(words, ", star %s", smxi_star_names[options->star]);
	if (options->leaves != SMX_LEAVES_FOLD)
		add(words, ", leaves %s", leaves_names[options->leaves]);
	if (options->no_bounds)
		add(words, ", bounds off");
	if (options->no_frames)
		add(words, ", frames off");
	if (options->probe_replies > 1)
		add(words, ", probe %zu", options->probe_replies);
	if (hash_bytes)
		add(words, ", table %zu bytes", hash_bytes);
	add(words, ", %u thread%s", threads, threads == 1 ? "" : "s");
}

static void add_rule(char words[SMXI_SEARCH_WORDS], const struct smx_depth_rule *rule)
{
	add(words, "%s:", rule->measure ? rule->measure->name : "outcomes");
	for (unsigned i = 0; i < rule->count; i++)
		add(words, "%u=%u,", rule->steps[i].most, rule->steps[i].depth_plies);
	add(words, "%u", rule->depth_plies);
}

const char *smxi_search_rule(const struct smx_depth_rule *rule, char words[SMXI_SEARCH_WORDS])
{
	words[0] = '\0';
	add_rule(words, rule);
	return words;
}

const char *smxi_search_describe(const struct smx_search_options *options, size_t hash_bytes, unsigned threads,
                                 char words[SMXI_SEARCH_WORDS])
{
	const struct smx_selective *selective = &options->selective;
	words[0] = '\0';
	add(words, "depth %u", options->depth_plies);
	if (options->depth_by.depth_plies) {
		add(words, " by ");
		add_rule(words, &options->depth_by);
	}
	add(words, ", width ");
	if (options->width)
		add(words, "%zu %s", options->width, smxi_width_counts_names[options->width_counts]);
	else
		add(words, "all");
	add(words, ", evaluator %s, pre-rank %s", options->evaluator->name, options->prerank->name);
	if (options->rescore)
		add(words, ", rescore %s %u/%u", options->rescore->name, (unsigned)options->rescore_weight,
		    (unsigned)options->rescore_total);
	if (selective->inner_width)
		add(words, ", inner width %zu", selective->inner_width);
	if (selective->reach > 0)
		add(words, ", reach %.9g", selective->reach);
	if (selective->samples)
		add(words, ", samples %u", selective->samples);
	if (options->node_limit)
		add(words, ", at most %" PRIu64 " nodes a turn", options->node_limit);
	if (options->time_limit_ms > 0)
		add(words, ", at most %.0f ms a turn", options->time_limit_ms);
	if (options->node_limit || options->time_limit_ms > 0)
		add_speed(words, options, hash_bytes, threads);
	return words;
}

bool smxi_threads_choose(const struct smxi_thread_settings *settings, uint64_t *threads)
{
	*threads = settings->threads;
	if (settings->serial && *threads != 1 && *threads != SMXI_UNSET) {
		smxi_error("--serial and --threads exclude each other");
		return false;
	}
	if (settings->serial)
		*threads = 1;
	if (*threads != SMXI_UNSET)
		return true;
	*threads = 0;
	return smxi_environment_number("STARMAX_THREADS", 1, SMX_PARALLEL_THREADS_MAX, "auto", threads);
}

bool smxi_threads_plan(const struct smxi_thread_settings *settings, uint64_t threads, bool is_urgent,
                       struct smx_parallel_plan *plan)
{
	const enum smx_parallel_bind bind = (enum smx_parallel_bind)settings->bind;
	if (threads == 1) {
		plan->threads = 1;
		return true;
	}
	return is_urgent ? smxi_engine_plan((unsigned)threads, bind, plan)
	                 : smxi_engine_plan_threads((unsigned)threads, bind, plan);
}
