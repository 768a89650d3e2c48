/* The transposition table: what it keeps, what it disbelieves, what goes first, its files. Threads: stress_tt.c. */
#include "tests/support/oracle.h"
#include "tt/tt.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VALUE_LIMIT (SMX_SUM_LIMIT / 216)

static struct smxi_tt *table_of(size_t size_bytes)
{
	struct smxi_tt *tt = NULL;
	struct smx_error error;
	cr_assert_eq(smxi_tt_create(size_bytes, &tt, &error), SMX_OK, "%zu: %s", size_bytes, error.message);
	return tt;
}

/* A key of the given bucket of `buckets`: the table takes the high half of word 0 times their number. */
static struct smx_key key_in(uint64_t bucket, uint64_t buckets, uint64_t salt)
{
	const uint64_t step = UINT64_MAX / buckets, seed_word = salt * UINT64_C(0x9e3779b97f4a7c15) + 1;
	return (struct smx_key){
		{step * bucket + step / 4 + seed_word % (step / 4), ~seed_word * UINT64_C(0xd1342543de82ef95)}};
}

static bool found_is(struct smxi_tt *tt, struct smx_key key, unsigned depth, smx_value lower, smx_value upper)
{
	struct smxi_tt_found found;
	return smxi_tt_probe(tt, key, depth, &found) && found.lower == lower && found.upper == upper;
}

static bool is_missing(struct smxi_tt *tt, struct smx_key key, unsigned depth)
{
	struct smxi_tt_found found;
	return !smxi_tt_probe(tt, key, depth, &found);
}

Test(tt_key, salts_of_all_depths_and_fingerprints_differ_in_both_words)
{
	enum { FINGERPRINTS = 8, SALTS = FINGERPRINTS * (SMXI_TT_DEPTH_MAX + 1) };
	static struct smx_key salts[SALTS];
	size_t count = 0;
	for (uint64_t fingerprint = 0; fingerprint < FINGERPRINTS; fingerprint++)
		for (unsigned depth = 0; depth <= SMXI_TT_DEPTH_MAX; depth++)
			salts[count++] = smxi_tt_salt(fingerprint, depth);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++) {
			cr_assert_neq(salts[i].word[0], salts[k].word[0], "salts %zu and %zu", i, k);
			cr_assert_neq(salts[i].word[1], salts[k].word[1], "salts %zu and %zu", i, k);
		}
}

Test(tt_key, every_bit_of_position_and_salt_changes_about_half_of_both_words)
{
	uint64_t seed = 11;
	for (int round = 0; round < 100; round++) {
		const struct smx_key position = {{oracle_random(&seed), oracle_random(&seed)}};
		const struct smx_key salt = {{oracle_random(&seed), oracle_random(&seed)}};
		const struct smx_key key = smxi_tt_key(position, salt);
		for (unsigned bit = 0; bit < 256; bit++) {
			struct smx_key other_position = position, other_salt = salt;
			(bit < 128 ? &other_position : &other_salt)->word[bit / 64 % 2] ^= UINT64_C(1) << bit % 64;
			const struct smx_key other = smxi_tt_key(other_position, other_salt);
			for (int w = 0; w < 2; w++) {
				/* 64 fair bits: outside 8..56 with probability below 10^-9 */
				const int changed = __builtin_popcountll(key.word[w] ^ other.word[w]);
				cr_assert(changed >= 8 && changed <= 56, "bit %u: %d bits of word %d", bit, changed, w);
			}
		}
	}
}

Test(tt_key, counting_keys_fill_buckets_evenly)
{
	enum { BUCKETS = 256, KEYS = BUCKETS * 256 };
	unsigned in_bucket[BUCKETS] = {0};
	const struct smx_key salt = smxi_tt_salt(3, 2);
	for (uint64_t i = 0; i < KEYS; i++)
		in_bucket[smxi_tt_key((struct smx_key){{i, 0}}, salt).word[0] >> 56]++;
	for (unsigned i = 0; i < BUCKETS; i++) /* 256 +- 6 standard deviations */
		cr_assert(in_bucket[i] > 256 - 96 && in_bucket[i] < 256 + 96, "bucket %u: %u", i, in_bucket[i]);
}

Test(tt, a_new_table_answers_nothing)
{
	struct smxi_tt *tt = table_of(1 << 16);
	uint64_t seed = 5;
	for (int i = 0; i < 100000; i++)
		cr_assert(is_missing(tt, (struct smx_key){{oracle_random(&seed), oracle_random(&seed)}}, (unsigned)i % 4));
	cr_assert(is_missing(tt, (struct smx_key){{0, 0}}, 0));
	cr_assert_eq(smxi_tt_usage(tt).used_permille, 0);
	smxi_tt_destroy(tt);
	smxi_tt_destroy(NULL);
}

Test(tt, every_value_depth_and_user_byte_survives)
{
	static const smx_value values[] = {INT64_MIN, -VALUE_LIMIT, -1, 0, 1, VALUE_LIMIT, SMX_SUM_LIMIT, INT64_MAX};
	enum { VALUES = sizeof values / sizeof values[0] };
	struct smxi_tt *tt = table_of(1024);
	uint64_t seed = 1;
	for (unsigned depth = 0; depth <= SMXI_TT_DEPTH_MAX; depth++)
		for (unsigned low = 0; low < VALUES; low++)
			for (unsigned high = low; high < VALUES; high++) {
				const struct smx_key key = {{oracle_random(&seed), oracle_random(&seed)}};
				const uint8_t user = (uint8_t)oracle_random(&seed);
				smxi_tt_store(tt, key, depth, values[low], values[high], user);
				struct smxi_tt_found found;
				cr_assert(smxi_tt_probe(tt, key, depth, &found));
				cr_assert_eq(found.lower, values[low]);
				cr_assert_eq(found.upper, values[high]);
				cr_assert_eq(found.user, user);
				smxi_tt_new_search(tt);
			}
	smxi_tt_destroy(tt);
}

Test(tt, another_depth_is_a_miss)
{
	struct smxi_tt *tt = table_of(1024);
	const struct smx_key position = {{17, 4}}, raw = {{99, 98}};
	smxi_tt_store(tt, smxi_tt_key(position, smxi_tt_salt(1, 3)), 3, 5, 5, 0);
	cr_assert(found_is(tt, smxi_tt_key(position, smxi_tt_salt(1, 3)), 3, 5, 5));
	cr_assert(is_missing(tt, smxi_tt_key(position, smxi_tt_salt(1, 2)), 2));
	cr_assert(is_missing(tt, smxi_tt_key(position, smxi_tt_salt(1, 4)), 4));
	cr_assert(is_missing(tt, smxi_tt_key(position, smxi_tt_salt(2, 3)), 3));
	/* Even for one and the same key. */
	smxi_tt_store(tt, raw, 3, 5, 5, 0);
	smxi_tt_store(tt, raw, 4, 6, 6, 0);
	cr_assert(found_is(tt, raw, 3, 5, 5));
	cr_assert(found_is(tt, raw, 4, 6, 6));
	cr_assert(is_missing(tt, raw, 5));
	smxi_tt_destroy(tt);
}

Test(tt, a_key_that_differs_in_one_kept_bit_is_a_miss)
{
	struct smxi_tt *tt = table_of(1024);
	const struct smx_key key = key_in(9, 16, 1);
	smxi_tt_store(tt, key, 2, -7, 7, 1);
	cr_assert(found_is(tt, key, 2, -7, 7));
	for (unsigned bit = 0; bit < 128; bit++) {
		if (bit >= 40 && bit < 60)
			continue; /* in word 0 of a table of 16 buckets: neither kept nor part of the bucket's number */
		struct smx_key other = key;
		other.word[bit / 64] ^= UINT64_C(1) << bit % 64;
		cr_assert(is_missing(tt, other, 2), "bit %u", bit);
	}
	smxi_tt_destroy(tt);
}

Test(tt, an_entry_with_one_wrong_bit_is_a_miss)
{
	struct smxi_tt *tt = table_of(1024);
	size_t count;
	_Atomic uint64_t *words = smxi_tt_words(tt, &count);
	cr_assert_eq(count, 1024 / 8);
	for (uint64_t k = 0; k < 200; k++) {
		const struct smx_key key = key_in(0, 16, k);
		smxi_tt_clear(tt);
		smxi_tt_store(tt, key, (unsigned)k, -(smx_value)(k << 40), (smx_value)(k << 16), (uint8_t)k);
		for (unsigned bit = 0; bit < 256; bit++) {
			words[bit / 64] ^= UINT64_C(1) << bit % 64;
			cr_assert(is_missing(tt, key, (unsigned)k), "key %" PRIu64 ", bit %u", k, bit);
			for (unsigned depth = 0; depth <= SMXI_TT_DEPTH_MAX; depth += 5)
				cr_assert(is_missing(tt, key, depth), "key %" PRIu64 ", bit %u, depth %u", k, bit, depth);
			words[bit / 64] ^= UINT64_C(1) << bit % 64;
		}
		cr_assert(found_is(tt, key, (unsigned)k, -(smx_value)(k << 40), (smx_value)(k << 16)));
	}
	smxi_tt_destroy(tt);
}

/* The words of one entry, alone in a table, in a search of the given number. */
static void words_of(struct smxi_tt *tt, unsigned search, unsigned depth, smx_value lower, smx_value upper,
                     uint8_t user, uint64_t kept[SMXI_TT_WORDS])
{
	size_t count;
	_Atomic uint64_t *words = smxi_tt_words(tt, &count);
	smxi_tt_clear(tt);
	for (unsigned s = 0; s < search; s++)
		smxi_tt_new_search(tt);
	smxi_tt_store(tt, key_in(0, 16, 1), depth, lower, upper, user);
	for (int w = 0; w < SMXI_TT_WORDS; w++)
		kept[w] = words[w];
}

Test(tt, both_seals_depend_on_everything_an_entry_says)
{
	struct smxi_tt *tt = table_of(1024);
	uint64_t plain[SMXI_TT_WORDS], other[5][SMXI_TT_WORDS];
	for (unsigned bit = 0; bit < 62; bit++) {
		const smx_value lower = -SMX_SUM_LIMIT, upper = SMX_SUM_LIMIT, change = INT64_C(1) << bit;
		words_of(tt, 0, 0, lower, upper, 0, plain);
		words_of(tt, 0, 0, lower + change, upper, 0, other[0]);
		words_of(tt, 0, 0, lower, upper - change, 0, other[1]);
		words_of(tt, 1U << bit % 8, 0, lower, upper, 0, other[2]);
		words_of(tt, 0, 1U << bit % 8, lower, upper, 0, other[3]);
		words_of(tt, 0, 0, lower, upper, (uint8_t)(1U << bit % 8), other[4]);
		for (int what = 0; what < 5; what++) {
			cr_assert_neq(other[what][2], plain[2], "bit %u of part %d", bit, what);
			cr_assert_neq(other[what][3] >> 24, plain[3] >> 24, "bit %u of part %d", bit, what);
		}
	}
	smxi_tt_destroy(tt);
}

/* Store two intervals one after the other in slot 0 of an otherwise empty bucket, then put every mixture of their words
 * there: neither key may get an answer but from all its own words. */
static void check_mixtures(struct smxi_tt *tt, const struct smx_key key[2], const smx_value lower[2],
                           const smx_value upper[2])
{
	size_t count;
	_Atomic uint64_t *words = smxi_tt_words(tt, &count);
	uint64_t kept[2][SMXI_TT_WORDS];
	for (int e = 0; e < 2; e++) {
		smxi_tt_clear(tt);
		smxi_tt_store(tt, key[e], 3, lower[e], upper[e], 0);
		for (int w = 0; w < SMXI_TT_WORDS; w++)
			kept[e][w] = words[w];
	}
	for (unsigned mixture = 0; mixture < 1U << SMXI_TT_WORDS; mixture++) {
		for (unsigned w = 0; w < SMXI_TT_WORDS; w++)
			words[w] = kept[mixture >> w & 1][w];
		for (unsigned e = 0; e < 2; e++) {
			/* Where both intervals share a bound, a mixture can be a whole entry after all. */
			bool whole = false;
			for (unsigned of = 0; of < 2; of++) {
				bool same = key[of].word[0] == key[e].word[0] && key[of].word[1] == key[e].word[1];
				for (unsigned w = 0; w < SMXI_TT_WORDS; w++)
					same = same && words[w] == kept[of][w];
				if (same)
					cr_assert(found_is(tt, key[e], 3, lower[of], upper[of]));
				whole = whole || same;
			}
			cr_assert(whole || is_missing(tt, key[e], 3), "mixture %x, key %u", mixture, e);
		}
	}
}

Test(tt, no_mixture_of_two_entries_is_believed)
{
	struct smxi_tt *tt = table_of(1024);
	uint64_t seed = 23;
	for (uint64_t round = 0; round < 20000; round++) {
		const struct smx_key key[2] = {key_in(0, 16, 2 * round), key_in(0, 16, 2 * round + 1)};
		/* Bounds with many zero bits at their end, near each other or alike, as searches have them. */
		const unsigned zeros = (unsigned)(oracle_random(&seed) % 50);
		smx_value lower[2], upper[2];
		for (int e = 0; e < 2; e++) {
			lower[e] = (smx_value)(oracle_random(&seed) % 16) * (INT64_C(1) << zeros) - (INT64_C(8) << zeros);
			upper[e] = lower[e] + (smx_value)(oracle_random(&seed) % 3) * (INT64_C(1) << zeros);
		}
		check_mixtures(tt, key, lower, upper);
	}
	smxi_tt_destroy(tt);
}

Test(tt, no_mixture_of_two_intervals_of_one_key_is_believed)
{
	struct smxi_tt *tt = table_of(1024);
	for (smx_value round = 0; round < 20000; round++) {
		const struct smx_key key = key_in(0, 16, (uint64_t)round), keys[2] = {key, key};
		const smx_value lower[2] = {-round - 2, -1}, upper[2] = {round % 5 + 1, 1};
		check_mixtures(tt, keys, lower, upper);
	}
	smxi_tt_destroy(tt);
}

Test(tt, the_same_key_raises_lower_and_reduces_upper)
{
	struct smxi_tt *tt = table_of(1024);
	const struct smx_key key = key_in(3, 16, 1);
	cr_assert_eq(smxi_tt_store(tt, key, 2, -100, 100, 1), SMXI_TT_ADDED);
	cr_assert_eq(smxi_tt_store(tt, key, 2, -50, 200, 2), SMXI_TT_MERGED);
	cr_assert(found_is(tt, key, 2, -50, 100));
	cr_assert_eq(smxi_tt_store(tt, key, 2, -60, 80, 3), SMXI_TT_MERGED);
	cr_assert(found_is(tt, key, 2, -50, 80));
	cr_assert_eq(smxi_tt_store(tt, key, 2, -1000, 1000, 4), SMXI_TT_MERGED);
	cr_assert(found_is(tt, key, 2, -50, 80));
	struct smxi_tt_found found;
	cr_assert(smxi_tt_probe(tt, key, 2, &found));
	cr_assert_eq(found.user, 4);
	cr_assert_eq(smxi_tt_store(tt, key, 2, 80, 80, 4), SMXI_TT_MERGED);
	cr_assert(found_is(tt, key, 2, 80, 80));
	cr_assert_eq(smxi_tt_usage(tt).used_permille, 1000 / 32);
	/* What was proved in an earlier search stays proved. */
	smxi_tt_new_search(tt);
	cr_assert_eq(smxi_tt_store(tt, key, 2, 0, 100, 4), SMXI_TT_MERGED);
	cr_assert(found_is(tt, key, 2, 80, 80));
	smxi_tt_destroy(tt);
}

Test(tt, a_contradiction_is_reported_and_the_new_interval_kept)
{
	struct smxi_tt *tt = table_of(1024);
	const struct smx_key key = key_in(3, 16, 1);
	smxi_tt_store(tt, key, 2, 10, 20, 0);
	cr_assert_eq(smxi_tt_store(tt, key, 2, 21, 30, 0), SMXI_TT_CONFLICT);
	cr_assert(found_is(tt, key, 2, 21, 30));
	cr_assert_eq(smxi_tt_store(tt, key, 2, -5, 20, 0), SMXI_TT_CONFLICT);
	cr_assert(found_is(tt, key, 2, -5, 20));
	smxi_tt_destroy(tt);
}

/* What a full bucket does with a third key: each case stores two entries, perhaps in different searches, and names the
 * one that must go. */
struct rival {
	unsigned search, depth;
	smx_value lower, upper;
};

static void check_goes(const char *what, struct rival first, struct rival second, int goes)
{
	struct smxi_tt *tt = table_of(1024);
	const struct smx_key keys[3] = {key_in(5, 16, 1), key_in(5, 16, 2), key_in(5, 16, 3)};
	const unsigned last = first.search > second.search ? first.search : second.search;
	for (unsigned search = 0; search <= last; search++) {
		if (search == first.search)
			cr_assert_eq(smxi_tt_store(tt, keys[0], first.depth, first.lower, first.upper, 0), SMXI_TT_ADDED);
		if (search == second.search)
			cr_assert_eq(smxi_tt_store(tt, keys[1], second.depth, second.lower, second.upper, 0), SMXI_TT_ADDED);
		if (search < last)
			smxi_tt_new_search(tt);
	}
	cr_assert_eq(smxi_tt_store(tt, keys[2], 1, 0, 0, 0), SMXI_TT_REPLACED, "%s", what);
	cr_assert(found_is(tt, keys[2], 1, 0, 0), "%s", what);
	cr_assert_eq(is_missing(tt, keys[0], first.depth), goes == 0, "%s", what);
	cr_assert_eq(is_missing(tt, keys[1], second.depth), goes == 1, "%s", what);
	smxi_tt_destroy(tt);
}

Test(tt, the_older_then_the_shallower_then_the_wider_entry_goes)
{
	check_goes("older, though deeper and exact", (struct rival){0, 9, 0, 0}, (struct rival){1, 2, -9, 9}, 0);
	check_goes("older, in the second slot", (struct rival){2, 2, -9, 9}, (struct rival){1, 9, 0, 0}, 1);
	check_goes("the oldest of several searches", (struct rival){3, 2, 0, 0}, (struct rival){0, 9, 0, 0}, 1);
	check_goes("older across the generation's wrap", (struct rival){250, 9, 0, 0}, (struct rival){260, 2, -9, 9}, 0);
	check_goes("shallower, though exact", (struct rival){1, 2, 0, 0}, (struct rival){1, 3, -9, 9}, 0);
	check_goes("shallower, in the second slot", (struct rival){1, 3, -9, 9}, (struct rival){1, 2, 0, 0}, 1);
	check_goes("wider", (struct rival){0, 3, 0, 0}, (struct rival){0, 3, 0, 1}, 1);
	check_goes("wider, in the first slot", (struct rival){0, 3, -9, 9}, (struct rival){0, 3, -9, 8}, 0);
	check_goes("wider by more than half of all values", (struct rival){0, 3, 0, INT64_MAX},
	           (struct rival){0, 3, INT64_MIN, INT64_MAX}, 1);
	check_goes("the first of equals", (struct rival){0, 3, 1, 2}, (struct rival){0, 3, 3, 4}, 0);
}

Test(tt, a_probe_makes_an_entry_current)
{
	struct smxi_tt *tt = table_of(1024);
	const struct smx_key used = key_in(5, 16, 1), unused = key_in(5, 16, 2), newcomer = key_in(5, 16, 3);
	smxi_tt_store(tt, used, 2, 1, 2, 77);
	smxi_tt_store(tt, unused, 9, 3, 3, 0);
	smxi_tt_new_search(tt);
	cr_assert_eq(smxi_tt_usage(tt).current_permille, 0);
	cr_assert(found_is(tt, used, 2, 1, 2));
	cr_assert_eq(smxi_tt_usage(tt).current_permille, 1000 / 32);
	smxi_tt_store(tt, newcomer, 1, 0, 0, 0);
	cr_assert(is_missing(tt, unused, 9));
	struct smxi_tt_found found;
	cr_assert(smxi_tt_probe(tt, used, 2, &found));
	cr_assert(found.lower == 1 && found.upper == 2 && found.user == 77);
	smxi_tt_destroy(tt);
}

Test(tt, the_better_entry_outlives_lesser_newcomers)
{
	struct smxi_tt *tt = table_of(1024);
	const struct smx_key deep = key_in(5, 16, 0);
	smxi_tt_store(tt, deep, 4, 7, 7, 0);
	for (uint64_t k = 1; k < 1000; k++) {
		const struct smx_key key = key_in(5, 16, k);
		smxi_tt_store(tt, key, k % 4, 0, (smx_value)k, 0);
		cr_assert(found_is(tt, key, k % 4, 0, (smx_value)k));
		cr_assert(found_is(tt, deep, 4, 7, 7));
	}
	smxi_tt_destroy(tt);
}

Test(tt, any_size_from_one_kibibyte_up_uses_all_of_its_buckets)
{
	static const size_t sizes[] = {1024, 1025, 1087, 1088, 3000, 4095, 4097, 50000, 63999};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct smxi_tt *tt = table_of(sizes[i]);
		const uint64_t buckets = sizes[i] / SMXI_TT_BUCKET_BYTES;
		cr_assert_eq(smxi_tt_size(tt), buckets * SMXI_TT_BUCKET_BYTES);
		for (uint64_t round = 0; round < SMXI_TT_ENTRIES; round++)
			for (uint64_t b = 0; b < buckets; b++)
				cr_assert_eq(smxi_tt_store(tt, key_in(b, buckets, round), 1, 0, (smx_value)b, 0), SMXI_TT_ADDED);
		for (uint64_t round = 0; round < SMXI_TT_ENTRIES; round++)
			for (uint64_t b = 0; b < buckets; b++)
				cr_assert(found_is(tt, key_in(b, buckets, round), 1, 0, (smx_value)b));
		cr_assert_eq(smxi_tt_usage(tt).used_permille, 1000);
		smxi_tt_store(tt, (struct smx_key){{UINT64_MAX, 1}}, 1, 0, 1, 0);
		smxi_tt_store(tt, (struct smx_key){{0, 1}}, 1, 0, 1, 0);
		smxi_tt_destroy(tt);
	}
}

Test(tt, impossible_sizes_are_refused)
{
	struct smxi_tt *const untouched = (struct smxi_tt *)&(char){0}, *tt = untouched;
	struct smx_error error = {.message = ""};
	cr_assert_eq(smxi_tt_create(0, &tt, &error), SMX_ERR_ARGUMENT);
	cr_assert_eq(smxi_tt_create(1023, &tt, &error), SMX_ERR_ARGUMENT);
	cr_assert_not_null(strstr(error.message, "1023"), "%s", error.message);
	cr_assert_eq(smxi_tt_create(SIZE_MAX, &tt, &error), SMX_ERR_MEMORY);
	cr_assert_eq(smxi_tt_create(SIZE_MAX / 2, &tt, NULL), SMX_ERR_MEMORY);
	cr_assert_eq(smxi_tt_create(SIZE_MAX / 2 - (4 << 20), &tt, NULL), SMX_ERR_MEMORY);
	cr_assert_eq(tt, untouched);
}

Test(tt, large_tables_are_aligned_to_huge_pages_and_say_what_they_got)
{
	const size_t huge = 2 << 20;
	static const size_t sizes[] = {1024, 1 << 20, 2 << 20, (2 << 20) + 64, 9999999};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct smxi_tt *tt = table_of(sizes[i]);
		size_t count;
		_Atomic uint64_t *words = smxi_tt_words(tt, &count);
		cr_assert_eq((uintptr_t)words % (sizes[i] >= huge ? huge : SMXI_TT_BUCKET_BYTES), 0);
		cr_assert_eq(count * 8, smxi_tt_size(tt));
		for (size_t w = 0; w < count; w++) {
			cr_assert_eq(words[w], 0);
			words[w] = w;
		}
		const struct smxi_tt_memory memory = smxi_tt_memory(tt);
		cr_assert_eq(memory.size_bytes, smxi_tt_size(tt));
		cr_assert(memory.huge_bytes <= memory.size_bytes);
		cr_assert(sizes[i] >= huge || !memory.huge_asked);
		smxi_tt_destroy(tt);
	}
}

Test(tt, usage_counts_slots_and_clear_empties_them)
{
	struct smxi_tt *tt = table_of(64 * 100);
	for (uint64_t b = 0; b < 50; b++)
		smxi_tt_store(tt, key_in(b, 100, 1), 1, 0, 0, 0);
	cr_assert_eq(smxi_tt_usage(tt).used_permille, 250);
	cr_assert_eq(smxi_tt_usage(tt).current_permille, 250);
	smxi_tt_new_search(tt);
	for (uint64_t b = 0; b < 20; b++)
		smxi_tt_store(tt, key_in(b, 100, 2), 1, 0, 0, 0);
	cr_assert_eq(smxi_tt_usage(tt).used_permille, 350);
	cr_assert_eq(smxi_tt_usage(tt).current_permille, 100);
	smxi_tt_clear(tt);
	cr_assert_eq(smxi_tt_usage(tt).used_permille, 0);
	for (uint64_t b = 0; b < 50; b++)
		cr_assert(is_missing(tt, key_in(b, 100, 1), 1));
	smxi_tt_destroy(tt);
}

Test(tt, usage_of_a_large_table_is_estimated_from_a_spread_sample)
{
	struct smxi_tt *tt = table_of(64 * 100000);
	for (uint64_t b = 0; b < 50000; b++) /* the first half full, the second empty */
		for (uint64_t k = 0; k < SMXI_TT_ENTRIES; k++)
			smxi_tt_store(tt, key_in(b, 100000, k), 1, 0, 0, 0);
	cr_assert_eq(smxi_tt_usage(tt).used_permille, 500);
	smxi_tt_destroy(tt);
}

/* One key of the model: the interval that the table must give while it has the key at all. */
struct modelled {
	bool present;
	smx_value lower, upper;
	uint8_t user;
};

static void model_check(struct smxi_tt *tt, struct modelled *modelled, struct smx_key key, unsigned depth)
{
	struct smxi_tt_found found;
	if (!smxi_tt_probe(tt, key, depth, &found)) {
		modelled->present = false; /* and it must stay away until it is stored again */
		return;
	}
	cr_assert(modelled->present, "an entry came back that had gone");
	cr_assert_eq(found.lower, modelled->lower);
	cr_assert_eq(found.upper, modelled->upper);
	cr_assert_eq(found.user, modelled->user);
}

Test(tt, a_map_that_may_forget_agrees_with_it)
{
	enum { KEYS = 3000, STEPS = 400000 };
	static struct modelled model[KEYS];
	static const size_t sizes[] = {1024, 30000, 1 << 20};
	for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
		struct smxi_tt *tt = table_of(sizes[s]);
		memset(model, 0, sizeof model);
		uint64_t seed = 1000 + s, hits = 0;
		for (int step = 0; step < STEPS; step++) {
			const uint64_t i = oracle_random(&seed) % KEYS;
			const unsigned depth = (unsigned)(i % 5);
			const struct smx_key key = smxi_tt_key((struct smx_key){{i, i / 7}}, smxi_tt_salt(s, depth));
			smxi_tt_prefetch(tt, key);
			model_check(tt, &model[i], key, depth);
			hits += model[i].present;
			if (oracle_random(&seed) % 2) {
				const smx_value value = (smx_value)(i * 1000003 % 4096 << 40) - (INT64_C(2048) << 40);
				const smx_value lower = value - (smx_value)(oracle_random(&seed) % 4 << 30);
				const smx_value upper = value + (smx_value)(oracle_random(&seed) % 4 << 30);
				const uint8_t user = (uint8_t)oracle_random(&seed);
				const enum smxi_tt_stored stored = smxi_tt_store(tt, key, depth, lower, upper, user);
				cr_assert_eq(stored == SMXI_TT_MERGED, model[i].present);
				cr_assert_neq(stored, SMXI_TT_CONFLICT);
				if (!model[i].present)
					model[i] = (struct modelled){true, lower, upper, user};
				if (model[i].lower < lower)
					model[i].lower = lower;
				if (model[i].upper > upper)
					model[i].upper = upper;
				model[i].user = user;
				model_check(tt, &model[i], key, depth);
				cr_assert(model[i].present, "what was just stored is not there");
			}
			if (oracle_random(&seed) % 5000 == 0)
				smxi_tt_new_search(tt);
		}
		cr_assert(hits > (s == 0 ? 100 : 10000), "%zu bytes: only %" PRIu64 " hits", sizes[s], hits);
		smxi_tt_destroy(tt);
	}
}

/* ---- files ---- */

#define FINGERPRINT UINT64_C(0x0123456789abcdef)
#define TEXT        "dicechess material, 16 bits, exact"

enum { HEADER_BYTES = 192, CHECKSUM_AT = 184, SMALL_FILE_BYTES = HEADER_BYTES + 1024 + 8 };

static char directory[256], path_a[300], path_b[300];

static void directory_make(void)
{
	const char *parent = getenv("TMPDIR");
	snprintf(directory, sizeof directory, "%s/starmax-tt-XXXXXX", parent ? parent : "/tmp");
	cr_assert_not_null(mkdtemp(directory));
	snprintf(path_a, sizeof path_a, "%s/a", directory);
	snprintf(path_b, sizeof path_b, "%s/b", directory);
}

static unsigned directory_files(void)
{
	unsigned files = 0;
	DIR *open = opendir(directory);
	cr_assert_not_null(open);
	for (const struct dirent *entry; (entry = readdir(open));)
		files += entry->d_name[0] != '.';
	closedir(open);
	return files;
}

static void directory_remove(void)
{
	remove(path_a);
	remove(path_b);
	cr_assert_eq(rmdir(directory), 0, "something was left in %s", directory);
}

TestSuite(tt_file, .init = directory_make, .fini = directory_remove);

static size_t file_read(const char *path, unsigned char *bytes, size_t room)
{
	FILE *file = fopen(path, "rb");
	cr_assert_not_null(file);
	const size_t size = fread(bytes, 1, room, file);
	fclose(file);
	cr_assert_lt(size, room);
	return size;
}

static void file_write(const char *path, const unsigned char *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	cr_assert_not_null(file);
	cr_assert_eq(fwrite(bytes, 1, size, file), size);
	cr_assert_eq(fclose(file), 0);
}

static struct smxi_tt *filled_table(size_t size_bytes)
{
	struct smxi_tt *tt = table_of(size_bytes);
	uint64_t seed = 3;
	for (size_t i = 0; i < size_bytes / 40; i++) {
		const struct smx_key key = {{oracle_random(&seed), oracle_random(&seed)}};
		smxi_tt_store(tt, key, (unsigned)(i % 3), -(smx_value)i, (smx_value)i << 30, (uint8_t)i);
		if (i % 100 == 0)
			smxi_tt_new_search(tt);
	}
	return tt;
}

static void save(const struct smxi_tt *tt, const char *path)
{
	struct smx_error error;
	cr_assert_eq(smxi_tt_save(tt, path, FINGERPRINT, TEXT, &error), SMX_OK, "%s", error.message);
}

static struct smxi_tt *load(const char *path)
{
	struct smxi_tt *tt = NULL;
	struct smx_error error;
	cr_assert_eq(smxi_tt_load(path, FINGERPRINT, TEXT, &tt, &error), SMX_OK, "%s", error.message);
	return tt;
}

/* Loading path_b must give this status, a message with `reason` in it, and no table. */
static void check_refused(uint64_t fingerprint, const char *text, enum smx_status status, const char *reason)
{
	struct smxi_tt *tt = NULL;
	struct smx_error error = {.message = ""};
	const enum smx_status got = smxi_tt_load(path_b, fingerprint, text, &tt, &error);
	cr_assert_eq(got, status, "%s instead of %s: %s", smx_status_str(got), smx_status_str(status), error.message);
	cr_assert_not_null(strstr(error.message, reason), "\"%s\" does not say \"%s\"", error.message, reason);
	cr_assert_null(tt);
	cr_assert_eq(smxi_tt_load(path_b, fingerprint, text, &tt, NULL), status);
}

/* path_b becomes a sound small file with size bytes at `offset` replaced. */
static void small_file_with(size_t offset, const void *replacement, size_t size, bool right_header_checksum)
{
	unsigned char bytes[SMALL_FILE_BYTES + 1];
	struct smxi_tt *tt = filled_table(1024);
	save(tt, path_b);
	smxi_tt_destroy(tt);
	cr_assert_eq(file_read(path_b, bytes, sizeof bytes), SMALL_FILE_BYTES);
	memcpy(bytes + offset, replacement, size);
	if (right_header_checksum) {
		/* Written a second time here, so that a forged header gets past the first check. */
		uint64_t sum = UINT64_C(0x736d78206c656166);
		for (size_t i = 0; i < CHECKSUM_AT; i += 8) {
			uint64_t word;
			memcpy(&word, bytes + i, 8);
			sum = (sum ^ word) * UINT64_C(0x9fb21c651e98df25);
			sum ^= sum >> 32;
		}
		memcpy(bytes + CHECKSUM_AT, &sum, 8);
	}
	file_write(path_b, bytes, SMALL_FILE_BYTES);
}

Test(tt_file, a_loaded_table_has_the_saved_entries_size_and_generation)
{
	struct smxi_tt *tt = table_of(100000);
	const unsigned keys = 500;
	for (unsigned k = 0; k < keys; k++) {
		smxi_tt_store(tt, key_in(k, 1562, k), 7, -(smx_value)k, k, (uint8_t)k);
		if (k % 100 == 50)
			smxi_tt_new_search(tt);
	}
	save(tt, path_a);
	struct smxi_tt *loaded = load(path_a);
	cr_assert_eq(smxi_tt_size(loaded), smxi_tt_size(tt));
	cr_assert_eq(smxi_tt_usage(loaded).used_permille, smxi_tt_usage(tt).used_permille);
	cr_assert_eq(smxi_tt_usage(loaded).current_permille, smxi_tt_usage(tt).current_permille);
	cr_assert_lt(smxi_tt_usage(loaded).current_permille, smxi_tt_usage(loaded).used_permille);
	for (unsigned k = 0; k < keys; k++) {
		struct smxi_tt_found found;
		cr_assert(smxi_tt_probe(loaded, key_in(k, 1562, k), 7, &found));
		cr_assert(found.lower == -(smx_value)k && found.upper == k && found.user == (uint8_t)k);
	}
	cr_assert_eq(directory_files(), 1);
	smxi_tt_destroy(loaded);
	smxi_tt_destroy(tt);
}

Test(tt_file, save_load_save_gives_the_same_bytes)
{
	static const size_t sizes[] = {1024, 1089, 16384 - 192, 16384, 16384 + 64, 300000};
	static unsigned char a[400000], b[400000];
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct smxi_tt *tt = filled_table(sizes[i]);
		save(tt, path_a);
		struct smxi_tt *loaded = load(path_a);
		save(loaded, path_b);
		const size_t size = file_read(path_a, a, sizeof a);
		cr_assert_eq(size, HEADER_BYTES + smxi_tt_size(tt) + 8);
		cr_assert_eq(file_read(path_b, b, sizeof b), size);
		cr_assert_eq(memcmp(a, b, size), 0);
		smxi_tt_destroy(loaded);
		smxi_tt_destroy(tt);
	}
}

Test(tt_file, an_older_file_is_replaced_whole_and_nothing_else_is_left)
{
	struct smxi_tt *large = filled_table(200000), *small = filled_table(1024);
	save(large, path_a);
	save(small, path_a);
	struct smxi_tt *loaded = load(path_a);
	cr_assert_eq(smxi_tt_size(loaded), 1024);
	cr_assert_eq(directory_files(), 1);
	smxi_tt_destroy(loaded);
	smxi_tt_destroy(small);
	smxi_tt_destroy(large);
}

Test(tt_file, a_save_that_fails_leaves_everything_as_it_was)
{
	struct smxi_tt *tt = filled_table(1024);
	struct smx_error error = {.message = ""};
	char path[400];
	snprintf(path, sizeof path, "%s/none/file", directory);
	cr_assert_eq(smxi_tt_save(tt, path, 1, TEXT, &error), SMX_ERR_FILE);
	cr_assert_not_null(strstr(error.message, "No such file"), "%s", error.message);
	/* A directory in the way cannot be replaced; the new file must not stay behind. */
	cr_assert_eq(mkdir(path_a, 0700), 0);
	cr_assert_eq(smxi_tt_save(tt, path_a, 1, TEXT, &error), SMX_ERR_FILE);
	cr_assert_not_null(strstr(error.message, "rename"), "%s", error.message);
	cr_assert_eq(directory_files(), 1);
	smxi_tt_destroy(tt);
}

Test(tt_file, descriptions_are_printable_and_fit)
{
	struct smxi_tt *tt = filled_table(1024), *loaded = NULL;
	char text[SMXI_TT_TEXT_MAX + 2];
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	cr_assert_eq(smxi_tt_save(tt, path_a, 1, text, NULL), SMX_ERR_ARGUMENT);
	cr_assert_eq(smxi_tt_save(tt, path_a, 1, "two\nlines", NULL), SMX_ERR_ARGUMENT);
	cr_assert_eq(smxi_tt_save(tt, path_a, 1, "caf\xc3\xa9", NULL), SMX_ERR_ARGUMENT);
	cr_assert_eq(directory_files(), 0);
	text[SMXI_TT_TEXT_MAX] = '\0';
	cr_assert_eq(smxi_tt_save(tt, path_a, 1, text, NULL), SMX_OK);
	cr_assert_eq(smxi_tt_load(path_a, 1, text, &loaded, NULL), SMX_OK);
	smxi_tt_destroy(loaded);
	text[SMXI_TT_TEXT_MAX - 1] = '\0';
	cr_assert_eq(smxi_tt_load(path_a, 1, text, &loaded, NULL), SMX_ERR_FILE);
	cr_assert_eq(smxi_tt_load(path_a, 1, "two\nlines", &loaded, NULL), SMX_ERR_ARGUMENT);
	cr_assert_eq(smxi_tt_save(tt, path_a, 1, "", NULL), SMX_OK);
	cr_assert_eq(smxi_tt_load(path_a, 1, "", &loaded, NULL), SMX_OK);
	smxi_tt_destroy(loaded);
	smxi_tt_destroy(tt);
}

Test(tt_file, a_table_of_another_game_or_fingerprint_is_refused)
{
	small_file_with(0, "", 0, false);
	check_refused(FINGERPRINT ^ 1, TEXT, SMX_ERR_FILE, "made for fingerprint 0123456789abcdef");
	check_refused(FINGERPRINT, TEXT "!", SMX_ERR_FILE, "made for \"" TEXT "\", not for \"" TEXT "!\"");
	check_refused(FINGERPRINT, "", SMX_ERR_FILE, "made for");
}

Test(tt_file, what_cannot_be_read_is_refused)
{
	check_refused(FINGERPRINT, TEXT, SMX_ERR_FILE, "No such file");
	cr_assert_eq(mkdir(path_b, 0700), 0);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_FILE, "not a regular file");
	rmdir(path_b);
	cr_assert_eq(mkfifo(path_b, 0600), 0);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_FILE, "not a regular file");
}

Test(tt_file, what_is_not_a_table_is_refused)
{
	file_write(path_b, (const unsigned char *)"", 0);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "not a saved table");
	file_write(path_b, (const unsigned char *)"fen", 3);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "not a saved table");
	small_file_with(0, "SMX", 3, false);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "not a saved table");
}

Test(tt_file, other_byte_orders_and_versions_are_refused_by_name)
{
	small_file_with(8, &(uint32_t){0x04030201}, 4, false);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "other byte order");
	small_file_with(8, &(uint32_t){0x01020305}, 4, false);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "byte-order mark");
	small_file_with(12, &(uint32_t){2}, 4, true);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "format version 2, not 1");
}

Test(tt_file, a_file_cut_anywhere_is_refused)
{
	small_file_with(0, "", 0, false);
	for (off_t size = SMALL_FILE_BYTES - 1; size > 0; size--) {
		cr_assert_eq(truncate(path_b, size), 0);
		check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "truncated");
	}
}

Test(tt_file, a_longer_file_is_refused)
{
	small_file_with(0, "", 0, false);
	for (off_t more = 1; more <= 64; more++) {
		cr_assert_eq(truncate(path_b, SMALL_FILE_BYTES + more), 0);
		check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "longer");
	}
}

Test(tt_file, any_wrong_bit_is_refused)
{
	unsigned char bytes[SMALL_FILE_BYTES + 1];
	small_file_with(0, "", 0, false);
	cr_assert_eq(file_read(path_b, bytes, sizeof bytes), SMALL_FILE_BYTES);
	/* One byte at a time in place: a file written anew each time would take a minute on some disks. */
	FILE *file = fopen(path_b, "r+b");
	cr_assert_not_null(file);
	for (unsigned bit = 0; bit < 8U * SMALL_FILE_BYTES; bit++) {
		const char *reason = "wrong checksum";
		if (bit < 64)
			reason = "not a saved table";
		else if (bit < 96)
			reason = "byte-order mark";
		else if (bit < 128)
			reason = "version";
		else if (bit < 8 * HEADER_BYTES)
			reason = "damaged header";
		cr_assert_eq(fseek(file, (long)(bit / 8), SEEK_SET), 0);
		fputc(bytes[bit / 8] ^ 1 << bit % 8, file);
		cr_assert_eq(fflush(file), 0);
		check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, reason);
		cr_assert_eq(fseek(file, (long)(bit / 8), SEEK_SET), 0);
		fputc(bytes[bit / 8], file);
		cr_assert_eq(fflush(file), 0);
	}
	cr_assert_eq(fclose(file), 0);
	smxi_tt_destroy(load(path_b));
}

Test(tt_file, forged_headers_are_refused_before_memory_is_asked_for)
{
	static const uint64_t absurd[] = {0, 15, UINT64_C(1) << 57, UINT64_C(1) << 58, UINT64_C(1) << 63, UINT64_MAX};
	for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++) {
		small_file_with(24, &absurd[i], 8, true);
		check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "a header that no table has");
	}
	small_file_with(24, &(uint64_t){UINT64_C(1) << 40}, 8, true);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "truncated");
	small_file_with(24, &(uint64_t){17}, 8, true);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "truncated");
	small_file_with(32, &(uint32_t){128}, 4, true);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "a header that no table has");
	small_file_with(36, &(uint32_t){256}, 4, true);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "a header that no table has");
	small_file_with(50, "\n", 1, true);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "a header that no table has");
	/* With a right header checksum, and the header changed behind it, the last checksum still notices. */
	small_file_with(40, &(uint64_t){1}, 8, true);
	check_refused(FINGERPRINT, TEXT, SMX_ERR_PARSE, "wrong checksum");
}
