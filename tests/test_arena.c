/* Bump stacks: alignment, marks, growth, and that chunks are asked for once. */
#include "tests/support/oracle.h"

#include <starmax/arena.h>

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A source that keeps account, and refuses beyond a limit. */
struct account {
	size_t chunks, bytes, limit;
	unsigned refused;
};

static void *acquire(void *context, size_t size_bytes)
{
	struct account *account = context;
	cr_assert_eq(size_bytes % SMX_CACHE_LINE, 0);
	if (account->bytes + size_bytes > account->limit) {
		account->refused++;
		return NULL;
	}
	account->chunks++;
	account->bytes += size_bytes;
	return aligned_alloc(SMX_CACHE_LINE, size_bytes);
}

static void release(void *context, void *chunk, size_t size_bytes)
{
	struct account *account = context;
	account->chunks--;
	account->bytes -= size_bytes;
	free(chunk);
}

static struct smx_arena *arena_on(struct account *account)
{
	const struct smx_chunk_source source = {acquire, release, account};
	struct smx_arena *arena = smx_arena_create(&source);
	cr_assert_not_null(arena);
	return arena;
}

Test(arena, pieces_are_aligned_and_do_not_overlap)
{
	const uint64_t first_seed = 7;
	uint64_t seed = first_seed;
	printf("seed %" PRIu64 "\n", first_seed);
	struct smx_arena *arena = smx_arena_create(NULL);
	enum { PIECES = 2000 };
	static unsigned char *piece[PIECES];
	static size_t size[PIECES];
	for (unsigned i = 0; i < PIECES; i++) {
		size[i] = 1 + oracle_random(&seed) % (i % 100 == 0 ? 3000000 : 5000);
		piece[i] = smx_arena_alloc(arena, size[i]);
		cr_assert_not_null(piece[i]);
		cr_assert_eq((uintptr_t)piece[i] % SMX_CACHE_LINE, 0);
		memset(piece[i], (int)(i % 251), size[i]);
	}
	for (unsigned i = 0; i < PIECES; i++)
		for (size_t k = 0; k < size[i]; k += 1 + size[i] / 64)
			cr_assert_eq(piece[i][k], i % 251, "piece %u was written over", i);
	smx_arena_destroy(arena);
}

Test(arena, release_gives_the_same_memory_again)
{
	struct account account = {.limit = SIZE_MAX};
	struct smx_arena *arena = arena_on(&account);
	void *kept = smx_arena_alloc(arena, 100);
	memset(kept, 1, 100);
	const struct smx_arena_mark outer = smx_arena_mark(arena);
	void *first = smx_arena_alloc(arena, 1000);
	const struct smx_arena_mark inner = smx_arena_mark(arena);
	void *second = smx_arena_alloc(arena, 5 << 20);
	smx_arena_release(arena, inner);
	cr_assert_eq(smx_arena_alloc(arena, 5 << 20), second);
	smx_arena_release(arena, outer);
	cr_assert_eq(smx_arena_alloc(arena, 1000), first);
	cr_assert_eq(((unsigned char *)kept)[99], 1);
	smx_arena_destroy(arena);
}

Test(arena, a_second_round_asks_for_nothing)
{
	struct account account = {.limit = SIZE_MAX};
	struct smx_arena *arena = arena_on(&account);
	struct smx_arena_statistics warm = {0};
	for (unsigned round = 0; round < 3; round++) {
		const struct smx_arena_mark mark = smx_arena_mark(arena);
		for (size_t size = 1; size < 4 << 20; size = size * 2 + 7)
			cr_assert_not_null(smx_arena_alloc(arena, size));
		smx_arena_release(arena, mark);
		const struct smx_arena_statistics now = smx_arena_statistics(arena);
		cr_assert_eq(now.chunk_requests, account.chunks);
		cr_assert_eq(now.reserved_bytes, account.bytes);
		cr_assert_leq(now.high_water_bytes, now.reserved_bytes);
		if (round > 0) {
			cr_assert_eq(now.chunk_requests, warm.chunk_requests);
			cr_assert_eq(now.high_water_bytes, warm.high_water_bytes);
		}
		warm = now;
	}
	cr_assert_gt(warm.chunk_requests, 1u);
	smx_arena_destroy(arena);
	cr_assert_eq(account.chunks, 0);
	cr_assert_eq(account.bytes, 0);
}

Test(arena, high_water_counts_what_is_in_use)
{
	struct smx_arena *arena = smx_arena_create(NULL);
	cr_assert_eq(smx_arena_statistics(arena).high_water_bytes, 0);
	const struct smx_arena_mark mark = smx_arena_mark(arena);
	smx_arena_alloc(arena, 64);
	smx_arena_alloc(arena, 1);
	cr_assert_eq(smx_arena_statistics(arena).high_water_bytes, 128);
	smx_arena_release(arena, mark);
	smx_arena_alloc(arena, 64);
	cr_assert_eq(smx_arena_statistics(arena).high_water_bytes, 128);
	smx_arena_destroy(arena);
}

static bool holds(const unsigned char *piece, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (piece[i] != (unsigned char)(i * 31))
			return false;
	return true;
}

static void fill(unsigned char *piece, size_t size)
{
	for (size_t i = 0; i < size; i++)
		piece[i] = (unsigned char)(i * 31);
}

Test(arena, the_newest_piece_grows_in_place)
{
	struct smx_arena *arena = smx_arena_create(NULL);
	unsigned char *piece = smx_arena_alloc(arena, 100);
	fill(piece, 100);
	cr_assert_eq(smx_arena_grow(arena, piece, 100, 10000), piece);
	cr_assert(holds(piece, 100));
	cr_assert_eq((unsigned char *)smx_arena_alloc(arena, 1),
	             piece + (10000 + SMX_CACHE_LINE - 1) / SMX_CACHE_LINE * SMX_CACHE_LINE);
	smx_arena_destroy(arena);
}

Test(arena, growth_keeps_contents_wherever_it_leads)
{
	struct smx_arena *arena = smx_arena_create(NULL);
	unsigned char *piece = smx_arena_grow(arena, NULL, 0, 50);
	cr_assert_not_null(piece);
	fill(piece, 50);
	size_t size = 50;
	for (unsigned round = 0; round < 20; round++) {
		unsigned char *behind = round % 3 == 0 ? smx_arena_alloc(arena, 10) : NULL;
		if (behind)
			memset(behind, 0xee, 10);
		unsigned char *grown = smx_arena_grow(arena, piece, size, size * 2);
		cr_assert_not_null(grown);
		if (behind)
			cr_assert_neq(grown, piece, "a piece with another behind it cannot grow in place");
		cr_assert(holds(grown, size));
		if (behind)
			cr_assert_eq(behind[9], 0xee);
		piece = grown;
		size *= 2;
		fill(piece, size);
	}
	smx_arena_destroy(arena);
}

Test(arena, shrinking_gives_back_the_end_of_the_newest_piece)
{
	struct smx_arena *arena = smx_arena_create(NULL);
	unsigned char *piece = smx_arena_alloc(arena, 10000);
	fill(piece, 10000);
	smx_arena_shrink(arena, piece, 10000, 128);
	cr_assert_eq((unsigned char *)smx_arena_alloc(arena, 64), piece + 128);
	cr_assert(holds(piece, 128));
	/* it is no longer the newest: nothing moves */
	smx_arena_shrink(arena, piece, 128, 64);
	cr_assert_eq((unsigned char *)smx_arena_alloc(arena, 64), piece + 192);
	smx_arena_destroy(arena);
}

Test(arena, a_source_without_memory_is_reported_and_survived)
{
	struct account account = {.limit = 8 << 20};
	struct smx_arena *arena = arena_on(&account);
	unsigned char *piece = smx_arena_alloc(arena, 1000);
	cr_assert_not_null(piece);
	fill(piece, 1000);
	cr_assert_null(smx_arena_alloc(arena, 9 << 20));
	cr_assert_null(smx_arena_grow(arena, piece, 1000, 9 << 20));
	cr_assert_gt(account.refused, 0u);
	cr_assert(holds(piece, 1000));
	cr_assert_not_null(smx_arena_alloc(arena, 1000));
	smx_arena_destroy(arena);
	cr_assert_eq(account.bytes, 0);
}

Test(arena, destroying_nothing_is_fine)
{
	smx_arena_destroy(NULL);
	smx_arena_destroy(smx_arena_create(NULL));
}
