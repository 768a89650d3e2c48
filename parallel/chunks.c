/* Chunks for arenas from a jemalloc arena of their own. The only file that calls jemalloc's own functions.
 *
 * A bump stack keeps its chunks, so a thread cache in front of jemalloc would only hold memory back: every call goes
 * past it. */
#include "chunks.h"

#include <starmax/parallel.h>

#include <stdio.h>

#ifdef SMXI_JEMALLOC

#include <jemalloc/jemalloc.h>

#include <stdatomic.h>
#include <stdlib.h>

/* To make and destroy a jemalloc arena takes some 90 microseconds, and a search has one for each of its threads, which may
 * be many and have nothing to do: it is made with the first chunk. */
struct smx_parallel_chunks {
	struct smx_chunk_source source; /* source.context is this object */
	atomic_uint arena;              /* jemalloc's number of it, plus 1; 0: there is none yet */
};

/* That arena, no thread cache, aligned to a cache line. */
static int flags_of(unsigned arena)
{
	return (int)MALLOCX_ARENA(arena - 1) | MALLOCX_TCACHE_NONE | MALLOCX_LG_ALIGN(__builtin_ctz(SMX_CACHE_LINE));
}

static void destroy_arena(unsigned arena)
{
	char name[48];
	snprintf(name, sizeof(name), "arena.%u.destroy", arena - 1);
	/* Fails only for an arena that a thread is bound to; none is. */
	mallctl(name, NULL, NULL, NULL, 0);
}

/* As `arena`; 0: jemalloc has no further one. Of threads that come here at once one has made the arena that all use. */
static unsigned have_arena(struct smx_parallel_chunks *chunks)
{
	unsigned arena = atomic_load(&chunks->arena), made;
	size_t size = sizeof(made);
	if (arena || mallctl("arenas.create", &made, &size, NULL, 0) != 0)
		return arena;
	made++;
	if (atomic_compare_exchange_strong(&chunks->arena, &arena, made))
		return made;
	destroy_arena(made);
	return arena;
}

static void *acquire(void *context, size_t size_bytes)
{
	const unsigned arena = size_bytes ? have_arena(context) : 0;
	return arena ? mallocx(size_bytes, flags_of(arena)) : NULL;
}

static void release(void *context, void *chunk, size_t size_bytes)
{
	struct smx_parallel_chunks *chunks = context;
	if (chunk)
		sdallocx(chunk, size_bytes, flags_of(atomic_load(&chunks->arena)));
}

enum smx_status smx_parallel_chunks_create(struct smx_parallel_chunks **chunks)
{
	struct smx_parallel_chunks *made = malloc(sizeof(*made));
	if (!made)
		return SMX_ERR_MEMORY;
	atomic_init(&made->arena, 0);
	made->source = (struct smx_chunk_source){.acquire = acquire, .release = release, .context = made};
	*chunks = made;
	return SMX_OK;
}

void smx_parallel_chunks_destroy(struct smx_parallel_chunks *chunks)
{
	if (!chunks)
		return;
	const unsigned arena = atomic_load(&chunks->arena);
	if (arena)
		destroy_arena(arena);
	free(chunks);
}

const struct smx_chunk_source *smx_parallel_chunks_source(const struct smx_parallel_chunks *chunks)
{
	return chunks ? &chunks->source : NULL;
}

void smxi_parallel_jemalloc_version(char *text, size_t size)
{
	const char *version = NULL;
	size_t length = sizeof(version);
	if (mallctl("version", (void *)&version, &length, NULL, 0) != 0)
		version = "unknown";
	snprintf(text, size, "%s", version);
}

#else

enum smx_status smx_parallel_chunks_create(struct smx_parallel_chunks **chunks)
{
	*chunks = NULL;
	return SMX_OK;
}

void smx_parallel_chunks_destroy(struct smx_parallel_chunks *chunks)
{
	(void)chunks;
}

const struct smx_chunk_source *smx_parallel_chunks_source(const struct smx_parallel_chunks *chunks)
{
	(void)chunks;
	return NULL;
}

void smxi_parallel_jemalloc_version(char *text, size_t size)
{
	snprintf(text, size, "none");
}

#endif
