/* A search that must not fail. */
#ifndef TESTS_SUPPORT_RUN_H
#define TESTS_SUPPORT_RUN_H

#include <starmax/search.h>

#include <criterion/criterion.h>

static inline const struct smx_result *run(struct smx_search *search, const struct smx_position *position,
                                           const struct smx_search_options *options)
{
	const struct smx_result *result;
	struct smx_error error;
	const enum smx_status status = smx_search_run(search, position, options, &result, &error);
	cr_assert_eq(status, SMX_OK, "%s", error.message);
	return result;
}

#endif
