#include "cli/engine.h"

#include "cli/command.h"

bool smxi_engine_can_have(unsigned threads)
{
	struct smx_parallel *parallel;
	if (smx_parallel_create(threads, &parallel) != SMX_OK)
		return false;
	smx_parallel_destroy(parallel);
	return true;
}

struct smxi_engine smxi_engine_open(const struct smx_game *game, unsigned threads)
{
	struct smxi_engine engine = {0};
	if (smx_parallel_chunks_create(&engine.chunks) != SMX_OK ||
	    smx_search_create(game, smx_parallel_chunks_source(engine.chunks), &engine.search) != SMX_OK ||
	    (threads > 1 && smx_parallel_create(threads, &engine.parallel) != SMX_OK))
		smxi_out_of_memory();
	return engine;
}

void smxi_engine_close(struct smxi_engine *engine)
{
	/* The search gives its chunks back to their sources: it goes first. */
	smx_search_destroy(engine->search);
	smx_parallel_destroy(engine->parallel);
	smx_parallel_chunks_destroy(engine->chunks);
	*engine = (struct smxi_engine){0};
}
