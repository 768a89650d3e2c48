/* Time budgets: the reference's, to the millisecond, and what must hold for every clock. */
#include "tests/support/golden.h"

#include <starmax/clock.h>
#include <starmax/random.h>

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 200000 };
static const uint64_t first_seed = 20270115;

static struct smx_budget budget_of(const char *policy, struct smx_clock clock)
{
	struct smx_budget budget;
	struct smx_error error = {0, ""};
	const enum smx_status status = smx_clock_budget(policy, &clock, &budget, &error);
	cr_assert(status == SMX_OK, "%s with %" PRId64 "+%" PRId64 " ms is refused: %s", policy, clock.remaining_ms,
	          clock.increment_ms, error.message);
	return budget;
}

static int64_t random_time_ms(uint64_t *seed)
{
	const int64_t time_ms = (int64_t)(smx_random(seed) >> (23 + smx_random_below(seed, 41)));
	return time_ms > SMX_CLOCK_MAX_MS ? SMX_CLOCK_MAX_MS : time_ms;
}

static struct smx_clock random_clock(uint64_t *seed)
{
	struct smx_clock clock = {.remaining_ms = random_time_ms(seed), .increment_ms = random_time_ms(seed)};
	clock.move_number = 1 + (unsigned)(smx_random(seed) >> 33 >> smx_random_below(seed, 31));
	if (smx_random(seed) & 1)
		clock.moves_to_go = 1 + (unsigned)(smx_random(seed) >> 33 >> smx_random_below(seed, 31));
	return clock;
}

static void show(const char *policy, struct smx_clock clock, struct smx_budget budget)
{
	printf("%s: %" PRId64 "+%" PRId64 " ms, move %u, %u to go: target %" PRId64 ", cap %" PRId64 ", %" PRId64 "e-4\n",
	       policy, clock.remaining_ms, clock.increment_ms, clock.move_number, clock.moves_to_go, budget.target_ms,
	       budget.hard_cap_ms, budget.moves_to_go_e4);
	fflush(stdout);
}

/* How many policies there are, by going through them. */
static unsigned policy_count(void)
{
	unsigned count = 0;
	while (smx_clock_policies()[count])
		count++;
	cr_assert_gt(count, 0);
	return count;
}

Test(clock, every_golden_budget_is_met_exactly)
{
	const unsigned policies = policy_count();
	size_t checked = 0, seen[8] = {0};
	cr_assert_leq(policies, sizeof seen / sizeof *seen);
	struct golden_file *file = golden_open("clock.tsv", 1, 1);
	for (struct golden_row row; golden_next(file, &row); checked++) {
		cr_assert_eq(row.columns, 8, "line %zu has %u columns", row.line, row.columns);
		const struct smx_clock clock = {
			.remaining_ms = golden_number(row.column[1]),
			.increment_ms = golden_number(row.column[2]),
			.move_number = (unsigned)golden_number(row.column[3]),
			.moves_to_go = strcmp(row.column[4], "-") == 0 ? 0 : (unsigned)golden_number(row.column[4]),
		};
		const struct smx_budget budget = budget_of(row.column[0], clock);
		char *end;
		const double estimate = strtod(row.column[7], &end);
		/* 1e-9: the table was written by a program that rounds in binary; one ten-thousandth is 1e-4 */
		const bool same = budget.target_ms == golden_number(row.column[5]) &&
		                  budget.hard_cap_ms == golden_number(row.column[6]) && *end == '\0' &&
		                  fabs((double)budget.moves_to_go_e4 / 1e4 - estimate) < 1e-9;
		if (!same)
			show(row.column[0], clock, budget);
		cr_assert(same, "line %zu: not target %s, cap %s, estimate %s", row.line, row.column[5], row.column[6],
		          row.column[7]);
		for (unsigned i = 0; i < policies; i++)
			seen[i] += strcmp(smx_clock_policies()[i], row.column[0]) == 0;
	}
	cr_assert(golden_close(file, checked), "no rows");
	for (unsigned i = 0; i < policies; i++)
		cr_assert_gt(seen[i], 0, "no row of %s", smx_clock_policies()[i]);
}

Test(clock, target_stays_within_the_cap_and_the_cap_within_the_remaining_time)
{
	uint64_t seed = first_seed;
	printf("seed %" PRIu64 "\n", seed);
	for (const char *const *policy = smx_clock_policies(); *policy; policy++)
		for (unsigned i = 0; i < ROUNDS; i++) {
			const struct smx_clock clock = random_clock(&seed);
			const struct smx_budget budget = budget_of(*policy, clock);
			const int64_t most = clock.remaining_ms > SMX_CLOCK_LEAST_MS ? clock.remaining_ms : SMX_CLOCK_LEAST_MS;
			const bool good = SMX_CLOCK_LEAST_MS <= budget.target_ms && budget.target_ms <= budget.hard_cap_ms &&
			                  budget.hard_cap_ms <= most && budget.moves_to_go_e4 >= 10000;
			if (!good)
				show(*policy, clock, budget);
			cr_assert(good);
		}
}

static void expect_no_less(const char *policy, struct smx_clock rich, struct smx_clock poor)
{
	const struct smx_budget more = budget_of(policy, rich), less = budget_of(policy, poor);
	const bool good = more.target_ms >= less.target_ms && more.hard_cap_ms >= less.hard_cap_ms;
	if (!good) {
		show(policy, rich, more);
		show(policy, poor, less);
	}
	cr_assert(good);
}

Test(clock, a_better_clock_never_gives_a_smaller_budget)
{
	uint64_t seed = first_seed;
	printf("seed %" PRIu64 "\n", seed);
	for (const char *const *policy = smx_clock_policies(); *policy; policy++)
		for (unsigned i = 0; i < ROUNDS; i++) {
			const struct smx_clock clock = random_clock(&seed);
			struct smx_clock other = clock;
			other.remaining_ms = smx_random(&seed) & 1 ? random_time_ms(&seed) : (clock.remaining_ms + 1) / 2;
			if (other.remaining_ms > clock.remaining_ms)
				expect_no_less(*policy, other, clock);
			else
				expect_no_less(*policy, clock, other);
			other = clock;
			other.increment_ms /= 2;
			expect_no_less(*policy, clock, other);
			other = clock;
			other.moves_to_go /= 2;
			if (other.moves_to_go)
				expect_no_less(*policy, other, clock);
		}
}

/* Steps of a millisecond, across every line that the method draws. */
Test(clock, each_millisecond_more_never_gives_a_smaller_budget)
{
	for (const char *const *policy = smx_clock_policies(); *policy; policy++)
		for (unsigned move_number = 1; move_number <= 61; move_number += 6)
			for (int64_t remaining = 0; remaining < 8000; remaining++)
				expect_no_less(*policy, (struct smx_clock){remaining + 1, 0, move_number, 0},
				               (struct smx_clock){remaining, 0, move_number, 0});
}

Test(clock, the_linear_policy_expects_30_less_the_move_number_and_at_least_12)
{
	for (unsigned n = 1; n <= 200; n++) {
		const int64_t expected = n < 18 ? 30 - (int64_t)n : 12;
		const struct smx_budget budget = budget_of("legacy-linear-v1", (struct smx_clock){60000, 0, n, 0});
		cr_assert_eq(budget.moves_to_go_e4, 10000 * expected, "move %u: %" PRId64, n, budget.moves_to_go_e4);
		cr_assert_eq(budget.target_ms, 57000 / expected);
	}
}

static int64_t empirical(unsigned move_number)
{
	return budget_of("empirical-v1", (struct smx_clock){60000, 0, move_number, 0}).moves_to_go_e4;
}

Test(clock, the_empirical_policy_expects_least_at_move_9_and_the_same_from_60_on)
{
	for (unsigned n = 1; n < 9; n++)
		cr_assert_gt(empirical(n), empirical(n + 1), "move %u", n);
	for (unsigned n = 9; n < 60; n++)
		cr_assert_lt(empirical(n), empirical(n + 1), "move %u", n);
	cr_assert_eq(empirical(61), empirical(60));
	cr_assert_eq(empirical(UINT32_MAX), empirical(60));
	/* on the straight lines between moves 9 and 17, and 33 and 60, by hand */
	cr_assert_eq(empirical(10), 52281); /* 51560 + 5766 / 8 = 52280.75 */
	cr_assert_eq(empirical(13), 54443);
	cr_assert_eq(empirical(34), 98795);  /* 97960 + 22540 / 27 = 98794.8 */
	cr_assert_eq(empirical(35), 99630);  /* 99629.6 */
	cr_assert_eq(empirical(36), 100464); /* 100464.4 */
}

Test(clock, moves_to_go_replace_every_estimate)
{
	for (const char *const *policy = smx_clock_policies(); *policy; policy++)
		for (unsigned move_number = 1; move_number < 80; move_number++) {
			const struct smx_budget budget = budget_of(*policy, (struct smx_clock){60000, 0, move_number, 40});
			cr_assert_eq(budget.moves_to_go_e4, 400000);
			cr_assert_eq(budget.target_ms, 1425);
			cr_assert_eq(budget.hard_cap_ms, 12000);
		}
}

Test(clock, the_ends_of_every_range_are_accepted)
{
	for (const char *const *policy = smx_clock_policies(); *policy; policy++) {
		const struct smx_budget most =
			budget_of(*policy, (struct smx_clock){SMX_CLOCK_MAX_MS, SMX_CLOCK_MAX_MS, UINT32_MAX, 1});
		cr_assert_eq(most.hard_cap_ms, SMX_CLOCK_MAX_MS / 5);
		cr_assert_eq(most.target_ms, most.hard_cap_ms);
		const struct smx_budget thin = budget_of(*policy, (struct smx_clock){SMX_CLOCK_MAX_MS, 0, 1, UINT32_MAX});
		cr_assert_eq(thin.moves_to_go_e4, INT64_C(42949672950000));
		cr_assert_eq(thin.target_ms, 243); /* 0.95 * 2^40 / (2^32 - 1) = 243.2 */
		const struct smx_budget least = budget_of(*policy, (struct smx_clock){0, 0, 1, 0});
		cr_assert_eq(least.target_ms, SMX_CLOCK_LEAST_MS);
		cr_assert_eq(least.hard_cap_ms, SMX_CLOCK_LEAST_MS);
	}
}

static void expect_refused(const char *policy, struct smx_clock clock, const char *part)
{
	struct smx_budget budget = {-1, -2, -3};
	struct smx_error error = {99, ""};
	cr_assert_eq(smx_clock_budget(policy, &clock, &budget, &error), SMX_ERR_ARGUMENT, "\"%s\"", policy);
	cr_assert_not_null(strstr(error.message, part), "\"%s\" lacks \"%s\"", error.message, part);
	for (const char *c = error.message; *c; c++)
		cr_assert(*c >= 0x20 && *c <= 0x7e, "not plain ASCII: byte %u", (unsigned)(unsigned char)*c);
	cr_assert_eq(error.offset, 0);
	cr_assert(budget.target_ms == -1 && budget.hard_cap_ms == -2 && budget.moves_to_go_e4 == -3);
	cr_assert_eq(smx_clock_budget(policy, &clock, &budget, NULL), SMX_ERR_ARGUMENT);
}

Test(clock, fields_out_of_range_are_refused_by_name)
{
	const char *policy = smx_clock_policies()[0];
	expect_refused(policy, (struct smx_clock){-1, 0, 1, 0}, "remaining time of -1 ms");
	expect_refused(policy, (struct smx_clock){SMX_CLOCK_MAX_MS + 1, 0, 1, 0}, "remaining time of 1099511627777 ms");
	expect_refused(policy, (struct smx_clock){INT64_MIN, 0, 1, 0}, "remaining time");
	expect_refused(policy, (struct smx_clock){1000, -1, 1, 0}, "increment of -1 ms");
	expect_refused(policy, (struct smx_clock){1000, INT64_MAX, 1, 0}, "increment");
	expect_refused(policy, (struct smx_clock){1000, 0, 0, 0}, "move number 0");
}

Test(clock, an_unknown_policy_is_refused_and_all_are_listed)
{
	const struct smx_clock clock = {60000, 1000, 1, 0};
	expect_refused("empirical-v2", clock, "called \"empirical-v2\"; there is ");
	expect_refused("Empirical-V1", clock, "called \"Empirical-V1\"");
	expect_refused("empirical-v1 ", clock, "called \"empirical-v1 \"");
	expect_refused("empirical", clock, "called \"empirical\"");
	expect_refused("", clock, "called \"\"");
	expect_refused("legacy\n\xff-linear-v1", clock, "called \"legacy\\x0a\\xff-linear-v1\"; there is ");
	/* the longest that a message can become: every byte escaped */
	char endless[1001];
	memset(endless, '\x01', sizeof endless - 1);
	endless[sizeof endless - 1] = '\0';
	for (const char *const *policy = smx_clock_policies(); *policy; policy++) {
		expect_refused("emprical-v1", clock, *policy);
		expect_refused(endless, clock, *policy);
	}
}
