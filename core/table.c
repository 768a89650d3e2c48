/* The table as a search sees it: whose entries are whose, and the public functions. The table itself is tt/. */
#include "core/error.h"
#include "core/node.h"
#include "tt/tt.h"

#include <starmax/version.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct smx_table {
	struct smxi_tt *tt;
};

/* FNV-1a, 64 bits. */
static void hash(uint64_t *h, const void *bytes, size_t size)
{
	for (const unsigned char *b = bytes, *end = b + size; b < end; b++)
		*h = (*h ^ *b) * UINT64_C(0x100000001b3);
}

uint64_t smxi_fingerprint(const struct smx_game *game, const struct smx_evaluator *evaluator, uint64_t values_hash)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	/* with their NULs, so that no two names run together */
	const char *const texts[] = {SMX_VERSION, game->name, evaluator->name, evaluator->unit};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		hash(&h, texts[i], strlen(texts[i]) + 1);
	const smx_value numbers[] = {evaluator->scale_bits, evaluator->lo,        evaluator->hi,         evaluator->loss,
	                             evaluator->win,        evaluator->symmetric, (smx_value)values_hash};
	hash(&h, numbers, sizeof numbers);
	return h;
}

void smxi_table_begin(struct smx_table *table)
{
	smxi_tt_new_search(table->tt);
}

void smxi_table_salt(struct searcher *s, uint64_t fingerprint)
{
	for (unsigned depth = 0; s->options.table && depth <= SMX_DEPTH_MAX; depth++)
		s->salt[depth] = smxi_tt_salt(fingerprint ^ s->evaluated_side, depth);
}

struct place smxi_table_place(const struct searcher *s, const void *state, unsigned depth, unsigned rarity)
{
	_Alignas(SMX_CACHE_LINE) unsigned char canonical[SMX_STATE_MAX];
	if (!s->options.table)
		return (struct place){.depth = depth};
	if (s->canonical) {
		s->game->canonical(state, canonical);
		state = canonical;
	}
	struct smx_key salt = s->salt[depth];
	if (s->options.selective.reach > 0 && depth > 1) { /* at the last turn no branch is cut */
		const unsigned left = s->rarity_most - rarity + 1;
		/* odd factors: a position's key is taken to another one by each */
		salt.word[0] += left * UINT64_C(0x9fb21c651e98df25);
		salt.word[1] ^= left * UINT64_C(0xd6e8feb86659fd93);
	}
	return (struct place){smxi_tt_key(((const struct smx_state *)state)->key, salt), depth};
}

void smxi_table_prefetch(const struct searcher *s, const struct place *place)
{
	smxi_tt_prefetch(s->options.table->tt, place->key);
}

bool smxi_table_narrow(struct searcher *s, const struct smx_visit *at, const struct place *place,
                       struct interval *interval)
{
	if (!s->options.table)
		return false;
	struct smxi_tt_found found;
	s->counters.table_probes++;
	if (!smxi_tt_probe(s->options.table->tt, place->key, place->depth, &found) ||
	    (s->options.exact_only && found.lower != found.upper))
		return false;
	s->counters.table_hits++;
	smxi_claim(s, SMX_CLAIM_TABLE, 0, at, place->depth, (struct interval){found.lower, found.upper});
	const struct interval both = {
		found.lower > interval->lower ? found.lower : interval->lower,
		found.upper < interval->upper ? found.upper : interval->upper,
	};
	if (both.lower > both.upper) { /* one of the two is wrong, and nobody knows which */
		s->counters.table_conflicts++;
		return false;
	}
	*interval = both;
	return true;
}

void smxi_table_keep(struct searcher *s, const struct place *place, struct interval interval)
{
	if (!s->options.table || (s->options.exact_only && interval.lower != interval.upper))
		return;
	if (interval.lower > interval.upper) { /* what was known before contradicts what was found */
		s->counters.table_conflicts++;
		return;
	}
	s->counters.table_stores++;
	s->counters.table_conflicts += smxi_tt_store(s->options.table->tt, place->key, place->depth, interval.lower,
	                                             interval.upper, 0) == SMXI_TT_CONFLICT;
}

/* Takes tt over, also where there is no memory for the wrapping. */
static enum smx_status wrap(struct smxi_tt *tt, struct smx_table **table, struct smx_error *error)
{
	struct smx_table *made = malloc(sizeof *made);
	if (!made) {
		smxi_tt_destroy(tt);
		return smxi_refuse(error, SMX_ERR_MEMORY, "no memory for a table");
	}
	made->tt = tt;
	*table = made;
	return SMX_OK;
}

enum smx_status smx_table_create(size_t size_bytes, struct smx_table **table, struct smx_error *error)
{
	struct smxi_tt *tt;
	const enum smx_status status = smxi_tt_create(size_bytes, &tt, error);
	return status == SMX_OK ? wrap(tt, table, error) : status;
}

void smx_table_destroy(struct smx_table *table)
{
	if (!table)
		return;
	smxi_tt_destroy(table->tt);
	free(table);
}

void smx_table_clear(struct smx_table *table)
{
	smxi_tt_clear(table->tt);
}

void smx_table_place(struct smx_table *table, void (*place)(void *context, void *start, size_t size_bytes),
                     void *context)
{
	size_t count;
	_Atomic uint64_t *words = smxi_tt_words(table->tt, &count);
	place(context, (void *)words, count * sizeof *words);
}

struct smx_table_usage smx_table_usage(const struct smx_table *table)
{
	const struct smxi_tt_usage usage = smxi_tt_usage(table->tt);
	return (struct smx_table_usage){smxi_tt_size(table->tt), usage.used_permille, usage.current_permille};
}

/* What a saved table says it is for: to the program, and to people. */
static enum smx_status identify(const struct smx_game *game, const struct smx_evaluator *evaluator,
                                uint64_t *fingerprint, char text[SMXI_TT_TEXT_MAX + 1], struct smx_error *error)
{
	uint64_t values_hash;
	const enum smx_status status = smxi_evaluator_check(game, evaluator, &values_hash, error);
	if (status != SMX_OK)
		return status;
	*fingerprint = smxi_fingerprint(game, evaluator, values_hash);
	snprintf(text, SMXI_TT_TEXT_MAX + 1, "starmax %s, game %s, evaluator %.60s", SMX_VERSION, game->name,
	         evaluator->name);
	return SMX_OK;
}

enum smx_status smx_table_save(const struct smx_table *table, const char *path, const struct smx_game *game,
                               const struct smx_evaluator *evaluator, struct smx_error *error)
{
	uint64_t fingerprint;
	char text[SMXI_TT_TEXT_MAX + 1];
	const enum smx_status status = identify(game, evaluator, &fingerprint, text, error);
	return status == SMX_OK ? smxi_tt_save(table->tt, path, fingerprint, text, error) : status;
}

enum smx_status smx_table_load(const char *path, const struct smx_game *game, const struct smx_evaluator *evaluator,
                               struct smx_table **table, struct smx_error *error)
{
	uint64_t fingerprint;
	char text[SMXI_TT_TEXT_MAX + 1];
	struct smxi_tt *tt;
	enum smx_status status = identify(game, evaluator, &fingerprint, text, error);
	if (status == SMX_OK)
		status = smxi_tt_load(path, fingerprint, text, &tt, error);
	return status == SMX_OK ? wrap(tt, table, error) : status;
}
