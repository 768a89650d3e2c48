#include "cli/engine.h"

#include "cli/command.h"

struct smxi_engine smxi_engine_open(const struct smx_game *game)
{
	struct smxi_engine engine = {0};
	if (smx_parallel_chunks_create(&engine.chunks) != SMX_OK ||
	    smx_search_create(game, smx_parallel_chunks_source(engine.chunks), &engine.search) != SMX_OK)
		smxi_out_of_memory();
	return engine;
}

void smxi_engine_close(struct smxi_engine *engine)
{
	/* The search gives its chunks back to their source: it goes first. */
	smx_search_destroy(engine->search);
	smx_parallel_chunks_destroy(engine->chunks);
	*engine = (struct smxi_engine){0};
}
