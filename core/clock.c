/* Time budgets: one way of sharing out the clock, and per policy a broken line for how many turns are still to come. */
#include <starmax/clock.h>

#include "core/error.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
	ONE_TURN = 10000, /* in the unit of moves_to_go_e4 */
	RESERVE_LEAST_MS = 300,
	RESERVE_SHARE = 20, /* a twentieth */
	CAP_SHARE = 5,      /* a fifth */
	LOW_TIME_MS = 3000, /* any value above 2100 and up to 5000 agrees with the budgets known */
	LOW_TIME_TARGET_MS = 200,
	NAME_SHOWN = 32, /* bytes of an unknown policy: escaped, they leave room for the known ones */
};

/* The turns expected from a move on. Straight between knots; flat after the last. The first is at move 1. */
struct knot {
	unsigned move_number;
	int32_t turns_e4;
};

static const struct knot empirical_v1[] = {
	{1, 75170}, {2, 67670}, {4, 57440}, {9, 51560}, {17, 57326}, {33, 97960}, {60, 120500},
};

/* 30 - move number, at least 12. */
static const struct knot legacy_linear_v1[] = {{1, 290000}, {18, 120000}};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The same order in both; names is what callers see. */
static const char *const names[] = {"empirical-v1", "legacy-linear-v1", NULL};
static const struct policy {
	const struct knot *knots;
	size_t count;
} policies[] = {
	{empirical_v1, COUNT(empirical_v1)},
	{legacy_linear_v1, COUNT(legacy_linear_v1)},
};
_Static_assert(COUNT(policies) + 1 == COUNT(names), "a policy without a name");

const char *const *smx_clock_policies(void)
{
	return names;
}

static int64_t max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t expected_turns_e4(const struct policy *policy, unsigned move_number)
{
	const struct knot *after = policy->knots, *end = policy->knots + policy->count;
	assert(move_number >= after->move_number);
	while (after < end && after->move_number <= move_number)
		after++;
	const struct knot *before = after - 1;
	if (after == end)
		return before->turns_e4;
	const int64_t length = after->move_number - before->move_number, done = move_number - before->move_number;
	const int64_t weighted = before->turns_e4 * (length - done) + after->turns_e4 * done;
	return (2 * weighted + length) / (2 * length); /* nearest, all terms being positive */
}

static enum smx_status refuse_policy(struct smx_error *error, const char *name)
{
	char list[80];
	size_t length = 0;
	for (size_t i = 0; names[i]; i++)
		length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", i ? ", " : "", names[i]);
	assert(length < sizeof list);
	return smxi_refuse(error, SMX_ERR_ARGUMENT, "no clock policy is called \"%.*s\"; there is %s", NAME_SHOWN, name,
	                   list);
}

enum smx_status smx_clock_budget(const char *policy, const struct smx_clock *clock, struct smx_budget *budget,
                                 struct smx_error *error)
{
	size_t index = 0;
	while (names[index] && strcmp(names[index], policy) != 0)
		index++;
	if (!names[index])
		return refuse_policy(error, policy);
	const int64_t remaining = clock->remaining_ms, increment = clock->increment_ms;
	if (remaining < 0 || remaining > SMX_CLOCK_MAX_MS)
		return smxi_refuse(error, SMX_ERR_ARGUMENT, "remaining time of %" PRId64 " ms is not within 0..2^40",
		                   remaining);
	if (increment < 0 || increment > SMX_CLOCK_MAX_MS)
		return smxi_refuse(error, SMX_ERR_ARGUMENT, "increment of %" PRId64 " ms is not within 0..2^40", increment);
	if (clock->move_number == 0)
		return smxi_refuse(error, SMX_ERR_ARGUMENT, "move number 0: the first is 1");

	const int64_t turns_e4 = clock->moves_to_go ? (int64_t)clock->moves_to_go * ONE_TURN
	                                            : expected_turns_e4(&policies[index], clock->move_number);
	const int64_t cap = max64(remaining / CAP_SHARE, SMX_CLOCK_LEAST_MS);
	const int64_t to_share = max64(remaining - max64(remaining / RESERVE_SHARE, RESERVE_LEAST_MS), 0);
	int64_t target = to_share * ONE_TURN / turns_e4 + increment;
	if (remaining < LOW_TIME_MS)
		target = min64(target, LOW_TIME_TARGET_MS);
	*budget = (struct smx_budget){
		.target_ms = min64(max64(target, SMX_CLOCK_LEAST_MS), cap),
		.hard_cap_ms = cap,
		.moves_to_go_e4 = turns_e4,
	};
	return SMX_OK;
}
