/* A search whose memory is its own, apart from what else the command allocates. */
#ifndef SMXI_CLI_ENGINE_H
#define SMXI_CLI_ENGINE_H

#include <starmax/parallel.h>
#include <starmax/search.h>

struct smxi_engine {
	struct smx_parallel_chunks *chunks; /* NULL: malloc */
	struct smx_search *search;
};

/* Ends the program where there is no memory. Close with smxi_engine_close. */
struct smxi_engine smxi_engine_open(const struct smx_game *game);
void smxi_engine_close(struct smxi_engine *engine);

#endif
