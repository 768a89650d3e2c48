/* Bump stacks: see starmax/arena.h.
 *
 * Chunks form a list in the order they were filled. Everything before the current chunk is in use, everything behind it is
 * kept for later. Sizes double, so that a search soon stops asking for more. */
#include <starmax/arena.h>

#include <stdalign.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define POISONING 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONING 1
#endif
#endif

#ifdef POISONING
#include <sanitizer/asan_interface.h>
#define POISON(bytes, size)   ASAN_POISON_MEMORY_REGION(bytes, size)
#define UNPOISON(bytes, size) ASAN_UNPOISON_MEMORY_REGION(bytes, size)
#else
#define POISON(bytes, size)   ((void)(bytes), (void)(size))
#define UNPOISON(bytes, size) ((void)(bytes), (void)(size))
#endif

enum { FIRST_CHUNK_BYTES = 1 << 20 };

struct chunk {
	alignas(SMX_CACHE_LINE) struct chunk *next;
	size_t capacity; /* bytes behind this header */
	size_t before;   /* capacities of all earlier chunks */
};
_Static_assert(sizeof(struct chunk) % SMX_CACHE_LINE == 0, "what follows a chunk's header is aligned");

struct smx_arena {
	struct smx_chunk_source source;
	struct chunk *first, *current;
	size_t used; /* bytes of the current chunk */
	struct smx_arena_statistics statistics;
};

static void *acquire_malloc(void *context, size_t size_bytes)
{
	(void)context;
	return aligned_alloc(SMX_CACHE_LINE, size_bytes);
}

static void release_malloc(void *context, void *chunk, size_t size_bytes)
{
	(void)context;
	(void)size_bytes;
	free(chunk);
}

static size_t rounded(size_t size_bytes)
{
	return (size_bytes + SMX_CACHE_LINE - 1) / SMX_CACHE_LINE * SMX_CACHE_LINE;
}

static unsigned char *bytes_of(struct chunk *chunk)
{
	return (unsigned char *)chunk + sizeof *chunk;
}

struct smx_arena *smx_arena_create(const struct smx_chunk_source *source)
{
	struct smx_arena *arena = calloc(1, sizeof *arena);
	if (!arena)
		return NULL;
	arena->source = source ? *source : (struct smx_chunk_source){acquire_malloc, release_malloc, NULL};
	return arena;
}

void smx_arena_destroy(struct smx_arena *arena)
{
	if (!arena)
		return;
	for (struct chunk *chunk = arena->first, *next; chunk; chunk = next) {
		next = chunk->next;
		UNPOISON(bytes_of(chunk), chunk->capacity);
		arena->source.release(arena->source.context, chunk, sizeof *chunk + chunk->capacity);
	}
	free(arena);
}

/* Make a chunk with room for size_bytes the current one, empty. */
static bool advance(struct smx_arena *arena, size_t size_bytes)
{
	struct chunk *current = arena->current, *next = current ? current->next : arena->first;
	if (!next || next->capacity < size_bytes) {
		size_t capacity = current ? 2 * current->capacity : FIRST_CHUNK_BYTES;
		if (capacity < size_bytes)
			capacity = rounded(size_bytes);
		arena->statistics.chunk_requests++;
		struct chunk *chunk = arena->source.acquire(arena->source.context, sizeof *chunk + capacity);
		if (!chunk)
			return false;
		chunk->capacity = capacity;
		chunk->next = next;
		POISON(bytes_of(chunk), capacity);
		arena->statistics.reserved_bytes += sizeof *chunk + capacity;
		if (current)
			current->next = chunk;
		else
			arena->first = chunk;
		next = chunk;
	}
	next->before = current ? current->before + current->capacity : 0;
	arena->current = next;
	arena->used = 0;
	return true;
}

static void note_high_water(struct smx_arena *arena)
{
	const size_t in_use = arena->current->before + arena->used;
	if (in_use > arena->statistics.high_water_bytes)
		arena->statistics.high_water_bytes = in_use;
}

void *smx_arena_alloc(struct smx_arena *arena, size_t size_bytes)
{
	const size_t size = rounded(size_bytes);
	if (!arena->current || arena->current->capacity - arena->used < size)
		if (!advance(arena, size))
			return NULL;
	unsigned char *piece = bytes_of(arena->current) + arena->used;
	arena->used += size;
	UNPOISON(piece, size_bytes);
	note_high_water(arena);
	return piece;
}

void *smx_arena_grow(struct smx_arena *arena, void *piece, size_t old_bytes, size_t new_bytes)
{
	if (!piece)
		return smx_arena_alloc(arena, new_bytes);
	const size_t old_size = rounded(old_bytes), more = rounded(new_bytes) - old_size;
	const bool newest = (unsigned char *)piece + old_size == bytes_of(arena->current) + arena->used;
	if (newest && arena->current->capacity - arena->used >= more) {
		arena->used += more;
		UNPOISON(piece, new_bytes);
		note_high_water(arena);
		return piece;
	}
	void *moved = smx_arena_alloc(arena, new_bytes);
	if (moved)
		memcpy(moved, piece, old_bytes);
	return moved;
}

void smx_arena_shrink(struct smx_arena *arena, void *piece, size_t old_bytes, size_t new_bytes)
{
	const size_t old_size = rounded(old_bytes), new_size = rounded(new_bytes);
	if ((unsigned char *)piece + old_size != bytes_of(arena->current) + arena->used)
		return;
	arena->used -= old_size - new_size;
	POISON((unsigned char *)piece + new_size, old_size - new_size);
}

struct smx_arena_mark smx_arena_mark(const struct smx_arena *arena)
{
	return (struct smx_arena_mark){arena->current, arena->used};
}

void smx_arena_release(struct smx_arena *arena, struct smx_arena_mark mark)
{
	struct chunk *kept = mark.chunk;
#ifdef POISONING
	struct chunk *last = arena->current ? arena->current->next : NULL;
	for (struct chunk *chunk = kept ? kept->next : arena->first; chunk != last; chunk = chunk->next)
		POISON(bytes_of(chunk), chunk->capacity);
	if (kept)
		POISON(bytes_of(kept) + mark.used, kept->capacity - mark.used);
#endif
	arena->current = kept;
	arena->used = mark.used;
}

struct smx_arena_statistics smx_arena_statistics(const struct smx_arena *arena)
{
	return arena->statistics;
}
