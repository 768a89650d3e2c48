/* Bump stacks: memory in last-in first-out order, with no call to an allocator after warm-up.
 *
 * An arena belongs to one thread at a time. It takes chunks from a source (malloc by default), keeps them until it is
 * destroyed, and hands out cache-line-aligned pieces. A mark taken before a node's work releases all of it after. */
#ifndef STARMAX_ARENA_H
#define STARMAX_ARENA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SMX_CACHE_LINE 64

/* Where an arena's chunks come from. acquire returns size_bytes bytes aligned to SMX_CACHE_LINE, or NULL. */
struct smx_chunk_source {
	void *(*acquire)(void *context, size_t size_bytes);
	void (*release)(void *context, void *chunk, size_t size_bytes);
	void *context;
};

struct smx_arena;

struct smx_arena_mark {
	void *chunk;
	size_t used;
};

struct smx_arena_statistics {
	size_t reserved_bytes;   /* chunks held now */
	size_t high_water_bytes; /* the most that was in use at once */
	uint64_t chunk_requests; /* calls to the source so far: constant once a search is warm */
};

/* Make an empty arena. source is copied; NULL means malloc. Returns NULL where there is no memory. */
struct smx_arena *smx_arena_create(const struct smx_chunk_source *source);

/* Give every chunk back. NULL is fine. */
void smx_arena_destroy(struct smx_arena *arena);

/* size_bytes bytes, aligned to SMX_CACHE_LINE, uninitialised; NULL where the source has none. */
void *smx_arena_alloc(struct smx_arena *arena, size_t size_bytes);

/* Grow the piece at `piece` (old_bytes long, or NULL) to new_bytes >= old_bytes, in place where it is the newest piece and its
 * chunk has room, else in a new place with its contents copied (the old place stays taken until released). */
void *smx_arena_grow(struct smx_arena *arena, void *piece, size_t old_bytes, size_t new_bytes);

/* Give back the end of the newest piece, which was old_bytes long, so that it is new_bytes long. */
void smx_arena_shrink(struct smx_arena *arena, void *piece, size_t old_bytes, size_t new_bytes);

/* A mark, and the release of everything handed out since; marks nest. */
struct smx_arena_mark smx_arena_mark(const struct smx_arena *arena);
void smx_arena_release(struct smx_arena *arena, struct smx_arena_mark mark);

struct smx_arena_statistics smx_arena_statistics(const struct smx_arena *arena);

#ifdef __cplusplus
}
#endif

#endif
