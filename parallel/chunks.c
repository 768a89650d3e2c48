/* Chunks for arenas from a jemalloc arena of their own. The only file that calls jemalloc's own functions.
 *
 * A bump stack keeps its chunks, so a thread cache in front of jemalloc would only hold memory back: every call goes
 * past it. */
#include "chunks.h"

#include <starmax/parallel.h>

#include <stdio.h>

#ifdef SMXI_JEMALLOC

#include <jemalloc/jemalloc.h>

#include <stdlib.h>

struct smx_parallel_chunks {
	struct smx_chunk_source source; /* source.context is this object */
	unsigned arena;                 /* jemalloc's number of it */
	int flags;                      /* this arena, no thread cache, aligned to a cache line */
};

static void *acquire(void *context, size_t size_bytes)
{
	const struct smx_parallel_chunks *chunks = context;
	return size_bytes ? mallocx(size_bytes, chunks->flags) : NULL;
}

static void release(void *context, void *chunk, size_t size_bytes)
{
	const struct smx_parallel_chunks *chunks = context;
	if (chunk)
		sdallocx(chunk, size_bytes, chunks->flags);
}

enum smx_status smx_parallel_chunks_create(struct smx_parallel_chunks **chunks)
{
	struct smx_parallel_chunks *made = malloc(sizeof(*made));
	if (!made)
		return SMX_ERR_MEMORY;
	size_t size = sizeof(made->arena);
	if (mallctl("arenas.create", &made->arena, &size, NULL, 0) != 0) {
		free(made);
		return SMX_ERR_MEMORY;
	}
	made->flags =
		(int)MALLOCX_ARENA(made->arena) | MALLOCX_TCACHE_NONE | MALLOCX_LG_ALIGN(__builtin_ctz(SMX_CACHE_LINE));
	made->source = (struct smx_chunk_source){.acquire = acquire, .release = release, .context = made};
	*chunks = made;
	return SMX_OK;
}

void smx_parallel_chunks_destroy(struct smx_parallel_chunks *chunks)
{
	if (!chunks)
		return;
	char name[48];
	snprintf(name, sizeof(name), "arena.%u.destroy", chunks->arena);
	/* Fails only for an arena that a thread is bound to; none is. */
	mallctl(name, NULL, NULL, NULL, 0);
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
