/* The ways to search that verify compares. */
#ifndef SMXI_CLI_VARIANTS_H
#define SMXI_CLI_VARIANTS_H

#include <starmax/search.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum smxi_variant_table { SMXI_NO_TABLE, SMXI_TABLE_1K, SMXI_TABLE_64K, SMXI_TABLE_64M, SMXI_TABLES };

struct smxi_variant {
	enum smx_star star;
	enum smx_leaves leaves;
	bool no_bounds, no_frames;
	unsigned probes;
	enum smxi_variant_table table;
	bool fresh;      /* the table is emptied before; else it is as the searches before have left it */
	bool exact_only; /* in the table */
	bool exact_all;  /* candidates */
	bool track;      /* --track checks what this one claims */
	bool again;      /* searched a second time, with the table as the first left it */
	unsigned threads;
};

enum { SMXI_VARIANT_THREADS_MAX = 8 };

/* Plain expectiminimax, which all are compared with. */
extern const struct smxi_variant smxi_yardstick;

/* The others; the first is the search as it is done by default. Not every combination: every two settings that can
 * meet do so in some variant. The first with each table finds there what other positions and evaluators have left. */
enum { SMXI_VARIANTS = 50 };
extern const struct smxi_variant smxi_variants[SMXI_VARIANTS];

/* Bytes of a variant's table; 0: none. */
extern const size_t smxi_variant_table_bytes[SMXI_TABLES];

/* False where another variant before it, or the yardstick, does the same work by definition: nothing is exact or bounded
 * only where nothing is pruned, a position without its outcome has no candidates, and the game's fold and bounds are for
 * evaluators that it knows. */
bool smxi_variant_is_worth_it(size_t index, const struct smx_evaluator *evaluator, bool has_candidates);

/* What the variant asks for; its table and its threads are the caller's to add. */
void smxi_variant_ask(const struct smxi_variant *variant, struct smx_search_options *options);

enum { SMXI_VARIANT_TEXT = 160 };

/* "star2, fold, bounds on, frames off, 3 probes, empty table of 64 KiB, exact only, exact all, 4 threads" */
const char *smxi_variant_describe(const struct smxi_variant *variant, char text[SMXI_VARIANT_TEXT]);

/* The same as names and values of a JSON object. */
void smxi_variant_set_json(const struct smxi_variant *variant, json_t *object);

#endif
