/* A search whose memory is its own, apart from what else the command allocates. */
#ifndef SMXI_CLI_ENGINE_H
#define SMXI_CLI_ENGINE_H

#include <starmax/parallel.h>
#include <starmax/search.h>

#include <stdbool.h>

struct smxi_engine {
	struct smx_parallel_chunks *chunks; /* NULL: malloc */
	struct smx_search *search;
	struct smx_parallel *parallel; /* NULL: one thread */
};

/* In the order of enum smx_parallel_bind; NULL-terminated. */
extern const char *const smxi_bind_names[];

/* The plan for so many threads, 0: as many as can be kept busy; false after an error message. Ends the program where
 * there is no memory. */
bool smxi_engine_plan(unsigned threads, enum smx_parallel_bind bind, struct smx_parallel_plan *plan);

/* Likewise, but the machine is read only when the threads are first needed. */
bool smxi_engine_plan_threads(unsigned threads, enum smx_parallel_bind bind, struct smx_parallel_plan *plan);

/* Whether this library can run so many threads. */
bool smxi_engine_can_have(unsigned threads);

/* For so many threads, which it can have. Ends the program where there is no memory. Close with smxi_engine_close. */
struct smxi_engine smxi_engine_open(const struct smx_game *game, unsigned threads);
/* For the threads of a plan, bound as it says. */
struct smxi_engine smxi_engine_open_planned(const struct smx_game *game, const struct smx_parallel_plan *plan);
void smxi_engine_close(struct smxi_engine *engine);

#endif
