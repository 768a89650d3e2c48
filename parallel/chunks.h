/* What machine.c asks of chunks.c. */
#ifndef SMXI_PARALLEL_CHUNKS_H
#define SMXI_PARALLEL_CHUNKS_H

#include <stddef.h>

/* The version of the jemalloc that runs, cut to size bytes; "none" in a library built without it. */
void smxi_parallel_jemalloc_version(char *text, size_t size);

#endif
