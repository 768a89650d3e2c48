/* Whether what a search believes is true: each of its claims (smx_search_options.on_claim) against the plain value of the
 * chance node that it is about.
 *
 * The plain value is computed here, by a recursion that shares nothing with the search: every outcome, every afterstate
 * and every leaf listed, by the game's required hooks alone, and nothing pruned. Only values are remembered, for one
 * evaluator at a time. It is as dear as the plain search. */
#ifndef SMXI_CLI_CLAIMS_H
#define SMXI_CLI_CLAIMS_H

#include "cli/valuemap.h"

#include <starmax/search.h>

enum { SMXI_CLAIM_SOURCES = SMX_CLAIM_BOUND + 1 };

struct smxi_false_claim {
	enum smx_claim_source source;
	unsigned stage, depth;
	smx_value lower, upper, value;
	unsigned length; /* of the path: chance nodes from the root's candidate, or from the root, down to the claim's */
	struct smx_position path[SMX_DEPTH_MAX];
};

struct smxi_claims {
	const struct smx_game *game;
	struct smx_arena *arena;
	bool (*must_stop)(void); /* asked between chance nodes; NULL: never */

	/* since smxi_claims_begin */
	const struct smx_evaluator *evaluator;
	struct smxi_valuemap values; /* the tag says the turns left and the evaluated side */
	bool no_memory;              /* then claims are no longer checked */
	uint64_t checked[SMXI_CLAIM_SOURCES][SMX_BOUND_STAGES];
	uint64_t false_count;
	struct smxi_false_claim first; /* where there is any */
};

/* NULL where there is no memory. Destroy with smxi_claims_destroy. */
struct smxi_claims *smxi_claims_create(const struct smx_game *game);
void smxi_claims_destroy(struct smxi_claims *claims);

/* Forget everything, and check what searches with this evaluator claim. */
void smxi_claims_begin(struct smxi_claims *claims, const struct smx_evaluator *evaluator);

/* What a search is given as on_claim; its context is a struct smxi_claims. */
void smxi_claims_check(void *context, const struct smx_claim *claim);

#endif
