/* A search by several threads next to the same search by one: whether both say the same, and what sharing the work cost. */
#ifndef SMXI_CLI_COMPARE_H
#define SMXI_CLI_COMPARE_H

#include <starmax/search.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a result says that does not depend on how it was found. No pointers: it can be kept and sent. */
struct smxi_answer {
	enum smx_result_kind kind;
	bool has_value;
	smx_value value;
	struct smx_turn turn; /* zeroes where there is none */
	size_t ties;
	uint64_t tied_hash, outcomes_hash; /* of which candidates are tied; of the outcomes' values where they were kept */
};

struct smxi_answer smxi_answer(const struct smx_result *result);

/* What differs, "value" for instance; NULL: nothing. */
const char *smxi_answer_difference(const struct smxi_answer *expected, const struct smxi_answer *found);

/* parallel / serial - 1; NAN where there is nothing to compare with. */
double smxi_overhead(uint64_t parallel, uint64_t serial);

/* Two finished searches of one position with the same options but for the threads: whether they say different things; how they compare, as
 * text on stdout and as JSON. */
bool smxi_compare_differs(const struct smx_result *parallel, const struct smx_result *serial);
void smxi_compare_print(const struct smx_result *parallel, const struct smx_result *serial);
json_t *smxi_compare_json(const struct smx_result *parallel, const struct smx_result *serial);

#endif
