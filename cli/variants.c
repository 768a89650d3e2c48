#include "cli/variants.h"

#include "cli/report.h"

#include <stdio.h>

/* In the order of the library's enumerations. */
static const char *const star_names[] = {"none", "star1", "star2", "etc"};
static const char *const leaves_names[] = {"fold", "list"};

const size_t smxi_variant_table_bytes[SMXI_TABLES] = {0, (size_t)1 << 10, (size_t)1 << 16, (size_t)1 << 26};

enum { BOUNDS, NO_BOUNDS };
enum { FRAMES, NO_FRAMES };
enum { WARM, FRESH };
enum { ANY, EXACT_ONLY };
enum { BEST, EXACT_ALL };
enum { UNTRACKED, TRACK };
enum { ONCE, AGAIN };
enum { SERIAL = 1 };

const struct smxi_variant smxi_yardstick = {
	SMX_STAR_NONE, SMX_LEAVES_LIST, NO_BOUNDS, NO_FRAMES, 1,      SMXI_NO_TABLE, WARM,
	ANY,           EXACT_ALL,       UNTRACKED, ONCE,      SERIAL,
};

const struct smxi_variant smxi_variants[SMXI_VARIANTS] = {
	{SMX_STAR2, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, BEST, TRACK, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, EXACT_ALL, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_FOLD, NO_BOUNDS, FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, BEST, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_FOLD, NO_BOUNDS, FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, EXACT_ALL, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_LIST, BOUNDS, FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, BEST, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_LIST, BOUNDS, FRAMES, 3, SMXI_NO_TABLE, WARM, ANY, EXACT_ALL, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_LIST, NO_BOUNDS, FRAMES, 3, SMXI_NO_TABLE, WARM, ANY, BEST, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_LIST, NO_BOUNDS, FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, EXACT_ALL, UNTRACKED, ONCE, SERIAL},
	/* with tables */
	{SMX_STAR2, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_TABLE_64M, WARM, ANY, BEST, UNTRACKED, AGAIN, SERIAL},
	{SMX_STAR2, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_TABLE_1K, WARM, ANY, BEST, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_TABLE_64K, WARM, EXACT_ONLY, BEST, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_FOLD, NO_BOUNDS, FRAMES, 1, SMXI_TABLE_64M, FRESH, ANY, EXACT_ALL, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_LIST, BOUNDS, FRAMES, 3, SMXI_TABLE_64K, FRESH, ANY, EXACT_ALL, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_LIST, NO_BOUNDS, FRAMES, 1, SMXI_TABLE_64M, FRESH, EXACT_ONLY, BEST, UNTRACKED, ONCE,
     SERIAL},
	/* without frames */
	{SMX_STAR2, SMX_LEAVES_FOLD, BOUNDS, NO_FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, BEST, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_FOLD, NO_BOUNDS, NO_FRAMES, 3, SMXI_NO_TABLE, WARM, ANY, EXACT_ALL, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_LIST, BOUNDS, NO_FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, BEST, TRACK, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_LIST, BOUNDS, NO_FRAMES, 3, SMXI_TABLE_1K, FRESH, ANY, BEST, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR2, SMX_LEAVES_LIST, NO_BOUNDS, NO_FRAMES, 1, SMXI_TABLE_64K, FRESH, ANY, EXACT_ALL, UNTRACKED, ONCE,
     SERIAL},
	{SMX_STAR2, SMX_LEAVES_FOLD, BOUNDS, NO_FRAMES, 3, SMXI_TABLE_64M, FRESH, EXACT_ONLY, BEST, UNTRACKED, ONCE,
     SERIAL},
	/* Star1 has no frames and no probes */
	{SMX_STAR1, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, BEST, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR1, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_TABLE_1K, FRESH, ANY, EXACT_ALL, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR1, SMX_LEAVES_FOLD, NO_BOUNDS, FRAMES, 1, SMXI_TABLE_64M, FRESH, ANY, BEST, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR1, SMX_LEAVES_FOLD, NO_BOUNDS, NO_FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, EXACT_ALL, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR1, SMX_LEAVES_LIST, BOUNDS, FRAMES, 1, SMXI_TABLE_64K, FRESH, EXACT_ONLY, BEST, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR1, SMX_LEAVES_LIST, BOUNDS, FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, EXACT_ALL, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR1, SMX_LEAVES_LIST, NO_BOUNDS, FRAMES, 3, SMXI_NO_TABLE, WARM, ANY, BEST, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR1, SMX_LEAVES_LIST, NO_BOUNDS, FRAMES, 1, SMXI_TABLE_1K, WARM, EXACT_ONLY, EXACT_ALL, UNTRACKED, ONCE,
     SERIAL},
	/* the table asked about all afterstates */
	{SMX_STAR_ETC, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_TABLE_64M, FRESH, ANY, BEST, TRACK, AGAIN, SERIAL},
	{SMX_STAR_ETC, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, BEST, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR_ETC, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_TABLE_1K, FRESH, ANY, EXACT_ALL, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR_ETC, SMX_LEAVES_FOLD, NO_BOUNDS, FRAMES, 1, SMXI_TABLE_64K, FRESH, ANY, BEST, UNTRACKED, ONCE, SERIAL},
	{SMX_STAR_ETC, SMX_LEAVES_LIST, BOUNDS, FRAMES, 3, SMXI_TABLE_64M, FRESH, EXACT_ONLY, BEST, UNTRACKED, ONCE,
     SERIAL},
	{SMX_STAR_ETC, SMX_LEAVES_FOLD, NO_BOUNDS, NO_FRAMES, 1, SMXI_TABLE_64M, FRESH, ANY, EXACT_ALL, TRACK, ONCE,
     SERIAL},
	{SMX_STAR_ETC, SMX_LEAVES_FOLD, BOUNDS, NO_FRAMES, 3, SMXI_TABLE_1K, FRESH, EXACT_ONLY, BEST, UNTRACKED, ONCE,
     SERIAL},
	{SMX_STAR_ETC, SMX_LEAVES_LIST, BOUNDS, NO_FRAMES, 1, SMXI_TABLE_64K, WARM, ANY, EXACT_ALL, UNTRACKED, ONCE,
     SERIAL},
	{SMX_STAR_ETC, SMX_LEAVES_LIST, NO_BOUNDS, NO_FRAMES, 3, SMXI_TABLE_64M, WARM, ANY, BEST, UNTRACKED, ONCE, SERIAL},
	/* several threads, on a machine of however many processors */
	{SMX_STAR2, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, BEST, UNTRACKED, ONCE, 2},
	{SMX_STAR2, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, BEST, UNTRACKED, ONCE, 3},
	{SMX_STAR2, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, BEST, UNTRACKED, ONCE, 4},
	{SMX_STAR2, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, EXACT_ALL, UNTRACKED, ONCE, 8},
	{SMX_STAR2, SMX_LEAVES_FOLD, NO_BOUNDS, FRAMES, 1, SMXI_TABLE_64M, FRESH, ANY, BEST, UNTRACKED, ONCE, 2},
	{SMX_STAR2, SMX_LEAVES_LIST, BOUNDS, FRAMES, 1, SMXI_TABLE_1K, FRESH, ANY, BEST, UNTRACKED, ONCE, 8},
	{SMX_STAR2, SMX_LEAVES_FOLD, BOUNDS, NO_FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, BEST, UNTRACKED, ONCE, 4},
	{SMX_STAR_ETC, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_TABLE_64K, FRESH, ANY, BEST, UNTRACKED, ONCE, 3},
	{SMX_STAR1, SMX_LEAVES_FOLD, BOUNDS, FRAMES, 1, SMXI_TABLE_64M, FRESH, EXACT_ONLY, BEST, UNTRACKED, ONCE, 4},
	{SMX_STAR_NONE, SMX_LEAVES_FOLD, NO_BOUNDS, NO_FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, EXACT_ALL, UNTRACKED, ONCE, 2},
	/* nothing pruned */
	{SMX_STAR_NONE, SMX_LEAVES_FOLD, NO_BOUNDS, NO_FRAMES, 1, SMXI_NO_TABLE, WARM, ANY, EXACT_ALL, UNTRACKED, ONCE,
     SERIAL},
	{SMX_STAR_NONE, SMX_LEAVES_FOLD, NO_BOUNDS, NO_FRAMES, 1, SMXI_TABLE_64K, FRESH, EXACT_ONLY, EXACT_ALL, UNTRACKED,
     ONCE, SERIAL},
	{SMX_STAR_NONE, SMX_LEAVES_LIST, NO_BOUNDS, NO_FRAMES, 1, SMXI_TABLE_64M, FRESH, ANY, EXACT_ALL, UNTRACKED, ONCE,
     SERIAL},
};

/* What is left of a variant when what cannot matter is made equal. */
static struct smxi_variant essence(struct smxi_variant variant, const struct smx_evaluator *evaluator,
                                   bool has_candidates)
{
	if (variant.star == SMX_STAR_NONE) {
		variant.no_bounds = variant.no_frames = variant.exact_all = true;
		variant.probes = 1;
	}
	if (!has_candidates)
		variant.exact_all = true;
	if (!evaluator->fold) {
		variant.leaves = SMX_LEAVES_LIST;
		variant.no_bounds = true;
	}
	return variant;
}

static bool same_work(const struct smxi_variant *a, const struct smxi_variant *b)
{
	return a->star == b->star && a->leaves == b->leaves && a->no_bounds == b->no_bounds &&
	       a->no_frames == b->no_frames && a->probes == b->probes && a->table == b->table &&
	       a->exact_only == b->exact_only && a->exact_all == b->exact_all && a->threads == b->threads;
}

bool smxi_variant_is_worth_it(size_t index, const struct smx_evaluator *evaluator, bool has_candidates)
{
	const struct smxi_variant variant = essence(smxi_variants[index], evaluator, has_candidates);
	struct smxi_variant other = essence(smxi_yardstick, evaluator, has_candidates);
	for (size_t i = 0; !same_work(&variant, &other); i++) {
		if (i == index)
			return true;
		other = essence(smxi_variants[i], evaluator, has_candidates);
	}
	return false;
}

void smxi_variant_ask(const struct smxi_variant *variant, struct smx_search_options *options)
{
	options->star = variant->star;
	options->leaves = variant->leaves;
	options->no_bounds = variant->no_bounds;
	options->no_frames = variant->no_frames;
	options->probe_replies = variant->probes;
	options->exact_only = variant->exact_only;
	options->exact = variant->exact_all ? SMX_EXACT_ALL : 0;
}

const char *smxi_variant_describe(const struct smxi_variant *variant, char text[SMXI_VARIANT_TEXT])
{
	static const char *const sizes[SMXI_TABLES] = {"", "1 KiB", "64 KiB", "64 MiB"};
	char table[32] = "", threads[24] = "";
	if (variant->threads > 1)
		snprintf(threads, sizeof threads, ", %u threads", variant->threads);
	if (variant->table)
		snprintf(table, sizeof table, ", %stable of %s", variant->fresh ? "empty " : "", sizes[variant->table]);
	snprintf(text, SMXI_VARIANT_TEXT, "%s, %s, bounds %s, frames %s, %u probe%s%s%s%s%s", star_names[variant->star],
	         leaves_names[variant->leaves], variant->no_bounds ? "off" : "on", variant->no_frames ? "off" : "on",
	         variant->probes, variant->probes == 1 ? "" : "s", table, variant->exact_only ? ", exact only" : "",
	         variant->exact_all ? ", exact all" : "", threads);
	return text;
}

void smxi_variant_set_json(const struct smxi_variant *variant, json_t *object)
{
	const size_t bytes = smxi_variant_table_bytes[variant->table];
	smxi_json_set(object, "star", json_string(star_names[variant->star]));
	smxi_json_set(object, "leaves", json_string(leaves_names[variant->leaves]));
	smxi_json_set(object, "bounds", json_boolean(!variant->no_bounds));
	smxi_json_set(object, "frames", json_boolean(!variant->no_frames));
	smxi_json_set(object, "probes", smxi_json_count(variant->probes));
	smxi_json_set(object, "table", bytes ? smxi_json_count(bytes) : json_null());
	smxi_json_set(object, "fresh", json_boolean(variant->fresh));
	smxi_json_set(object, "exact_only", json_boolean(variant->exact_only));
	smxi_json_set(object, "exact_all", json_boolean(variant->exact_all));
	smxi_json_set(object, "threads", smxi_json_count(variant->threads));
}
