/* The root's candidates in canonical order: by pre-rank, best for the side to move first, then by the generation order of the
 * first turn that reaches them. The order is fixed here, once, before anything is searched. */
#ifndef SMXI_CANDIDATES_H
#define SMXI_CANDIDATES_H

#include <starmax/search.h>

struct smxi_candidates {
	struct smx_candidate *list;
	unsigned char *states; /* the afterstates, in the same order, state_size bytes each */
	size_t count;
	uint64_t turns; /* all legal turns */
	bool can_win;
	struct smx_turn win; /* the shortest turn that wins, the first of them; no candidates then */
	uint64_t prerank_evaluations;
};

/* A candidate's place in an order: by value, the best first, then by index. A total order. */
struct smxi_rank {
	smx_value value;
	uint32_t index;
};
void smxi_rank_sort(struct smxi_rank *ranks, size_t count);

/* Fill *candidates from arena memory. position->outcome is set. SMX_OK or SMX_ERR_MEMORY. */
enum smx_status smxi_candidates_make(struct smxi_candidates *candidates, const struct smx_game *game,
                                     const struct smx_position *position, const struct smx_search_options *options,
                                     struct smx_arena *arena);

#endif
