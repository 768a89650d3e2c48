#include "cli/engine.h"

#include "cli/command.h"

const char *const smxi_bind_names[] = {"none", "compact", "scatter", NULL};

static bool is_planned(enum smx_status status, unsigned threads)
{
	if (status == SMX_ERR_MEMORY)
		smxi_out_of_memory();
	if (status != SMX_OK)
		smxi_error("no %u threads: OpenMP is not built in, or has a lower limit", threads);
	return status == SMX_OK;
}

bool smxi_engine_plan(unsigned threads, enum smx_parallel_bind bind, struct smx_parallel_plan *plan)
{
	return is_planned(smx_parallel_plan(threads, bind, plan), threads);
}

bool smxi_engine_plan_threads(unsigned threads, enum smx_parallel_bind bind, struct smx_parallel_plan *plan)
{
	return is_planned(smx_parallel_plan_threads(threads, bind, plan), threads);
}

bool smxi_engine_can_have(unsigned threads)
{
	struct smx_parallel *parallel;
	if (smx_parallel_create(threads, &parallel) != SMX_OK)
		return false;
	smx_parallel_destroy(parallel);
	return true;
}

static struct smxi_engine open_serial(const struct smx_game *game)
{
	struct smxi_engine engine = {0};
	if (smx_parallel_chunks_create(&engine.chunks) != SMX_OK ||
	    smx_search_create(game, smx_parallel_chunks_source(engine.chunks), &engine.search) != SMX_OK)
		smxi_out_of_memory();
	return engine;
}

struct smxi_engine smxi_engine_open(const struct smx_game *game, unsigned threads)
{
	struct smxi_engine engine = open_serial(game);
	if (threads > 1 && smx_parallel_create(threads, &engine.parallel) != SMX_OK)
		smxi_out_of_memory();
	return engine;
}

struct smxi_engine smxi_engine_open_planned(const struct smx_game *game, const struct smx_parallel_plan *plan)
{
	struct smxi_engine engine = open_serial(game);
	if (plan->threads > 1 && smx_parallel_create_planned(plan, &engine.parallel) != SMX_OK)
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
