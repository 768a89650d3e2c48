/* Settings that several subcommands share: how one search is done, and with how many threads. */
#ifndef SMXI_CLI_SETTINGS_H
#define SMXI_CLI_SETTINGS_H

#include "cli/command.h"

#include <starmax/parallel.h>

#include <jansson.h>

struct smxi_search_settings {
	uint64_t depth, width;
	const char *depth_by;
	unsigned width_counts;
	const char *evaluator, *prerank;
	unsigned leaves;
	unsigned star, bounds, frames;
	uint64_t probe;
	struct smxi_given_size hash;
	const char *rescore, *rescore_weight;
	uint64_t inner_width;
	const char *reach;
	uint64_t samples;
	uint64_t nodes, movetime_ms;
};

/* Their defaults, and the options that set them: those of a struct smxi_search_settings. */
#define SMXI_SEARCH_DEFAULTS                                                          \
	{                                                                                 \
		.star = SMX_STAR2, .probe = 1, .hash = {.given = false, .bytes = SMXI_UNSET } \
	}
extern const struct smxi_option smxi_search_options[];

/* The table that a search gets unasked, from the depth on at which it saves more than it costs. */
#define SMXI_DEFAULT_HASH       (UINT64_C(64) << 20)
#define SMXI_DEFAULT_HASH_DEPTH 4

/* In the order of the library's enumerations, NULL-terminated. */
extern const char *const smxi_width_counts_names[];
extern const char *const smxi_star_names[];

/* Whether a rule or a limit, not a number of turns, says how deep to search. */
bool smxi_search_deepens(const struct smxi_search_settings *settings);

/* Fill *options, all but table and splitter; false after an error message. */
bool smxi_search_apply(const struct smxi_search_settings *settings, const struct smx_game *game,
                       struct smx_search_options *options);

bool smxi_search_is_selective(const struct smx_search_options *options);
/* Whether a table can keep what the search finds. */
bool smxi_search_takes_table(const struct smx_search_options *options);

/* Say that an option which brings a table is not for a search that takes none; returns false. */
bool smxi_search_refuse_table(const char *option);

/* The size of the table that was asked for, or that such a search gets unasked, which a selective one does not take; 0: none. */
uint64_t smxi_search_hash_bytes(const struct smxi_search_settings *settings, const struct smx_search_options *options);

/* What they are in JSON; null where the options have none. */
json_t *smxi_search_json_rescore(const struct smx_search_options *options);
json_t *smxi_search_json_selective(const struct smx_search_options *options);

#define SMXI_SEARCH_WORDS 1024

/* The text of a rule, as --depth-by reads it. Returns `words`. */
const char *smxi_search_rule(const struct smx_depth_rule *rule, char words[SMXI_SEARCH_WORDS]);

/* How such a search is done, as far as that can change a game, in words. Where a time or a number of nodes limits it, what makes it faster
 * counts too: its table, of hash_bytes, its threads and how it prunes. Returns `words`. */
const char *smxi_search_describe(const struct smx_search_options *options, size_t hash_bytes, unsigned threads,
                                 char words[SMXI_SEARCH_WORDS]);

struct smxi_thread_settings {
	uint64_t threads; /* 0: auto; SMXI_UNSET: as the environment says, else auto */
	bool serial;
	unsigned bind;
};

/* Likewise, of a struct smxi_thread_settings. */
#define SMXI_THREAD_DEFAULTS                            \
	{                                                   \
		.threads = SMXI_UNSET, .bind = SMX_BIND_COMPACT \
	}
extern const struct smxi_option smxi_thread_options[];

/* The number of threads that the settings or the environment ask for, 0: auto; false after an error message. */
bool smxi_threads_choose(const struct smxi_thread_settings *settings, uint64_t *threads);

/* The plan for so many threads. is_urgent: the machine is read now, because a search that has to end in time does not find out about it
 * meanwhile. One thread is planned without looking at the machine, and without a reason. False after an error message. */
bool smxi_threads_plan(const struct smxi_thread_settings *settings, uint64_t threads, bool is_urgent,
                       struct smx_parallel_plan *plan);

#endif
