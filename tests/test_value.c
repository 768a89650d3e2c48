/* Exact values: division, decimals, rounding from floating point. */
#include "tests/support/oracle.h"

#include <starmax/value.h>

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

__extension__ typedef __int128 wide;

enum { ROUNDS = 200000 };
static const uint64_t first_seed = 20261201;

/* A number of random size, of either sign, below 2^62 in magnitude. */
static int64_t random_value(uint64_t *seed)
{
	const uint64_t bits = oracle_random(seed) >> (2 + oracle_random(seed) % 62);
	return oracle_random(seed) & 1 ? -(int64_t)bits : (int64_t)bits;
}

Test(value, div_floor_and_div_ceil_are_the_nearest_integers_below_and_above)
{
	uint64_t seed = first_seed;
	printf("seed %" PRIu64 "\n", first_seed);
	for (unsigned i = 0; i < ROUNDS; i++) {
		const int64_t numerator = random_value(&seed);
		const int64_t denominator =
			i % 2 ? 216 : (int64_t)(oracle_random(&seed) >> (2 + oracle_random(&seed) % 62)) + 1;
		const wide below = smx_div_floor(numerator, denominator), above = smx_div_ceil(numerator, denominator);
		cr_assert(below * denominator <= numerator && (below + 1) * denominator > numerator,
		          "floor of %" PRId64 " / %" PRId64, numerator, denominator);
		cr_assert(above * denominator >= numerator && (above - 1) * denominator < numerator,
		          "ceiling of %" PRId64 " / %" PRId64, numerator, denominator);
	}
}

Test(value, division_rounds_down_where_c_rounds_toward_zero)
{
	cr_assert_eq(smx_div_floor(-1, 216), -1);
	cr_assert_eq(smx_div_ceil(-1, 216), 0);
	cr_assert_eq(smx_div_floor(-432, 216), -2);
	cr_assert_eq(smx_div_ceil(-432, 216), -2);
	cr_assert_eq(smx_div_floor(1, 216), 0);
	cr_assert_eq(smx_div_ceil(1, 216), 1);
	cr_assert_eq(smx_div_floor(1 - SMX_SUM_LIMIT, 1), 1 - SMX_SUM_LIMIT);
}

Test(value, division_is_monotone)
{
	for (int64_t numerator = -1000; numerator < 1000; numerator++) {
		cr_assert_leq(smx_div_floor(numerator, 216), smx_div_floor(numerator + 1, 216));
		cr_assert_leq(smx_div_ceil(numerator, 216), smx_div_ceil(numerator + 1, 216));
	}
}

static void expect_text(smx_value value, unsigned scale_bits, const char *expected)
{
	char text[80];
	const size_t length = smx_value_format(value, scale_bits, text, sizeof text);
	cr_assert_str_eq(text, expected, "%s", text);
	cr_assert_eq(length, strlen(expected));
}

Test(value, decimals_are_exact)
{
	expect_text(0, 0, "0");
	expect_text(0, 48, "0");
	expect_text(-12, 0, "-12");
	expect_text(1, 1, "0.5");
	expect_text(-1, 1, "-0.5");
	expect_text(-3, 2, "-0.75");
	expect_text(INT64_C(10001) << 16, 16, "10001");
	expect_text(-INT64_C(1000000000) * 65536, 16, "-1000000000");
	expect_text((INT64_C(30910) << 16) + 59392, 16, "30910.90625");
	expect_text(1, 16, "0.0000152587890625");
	expect_text(1, 48, "0.000000000000003552713678800500929355621337890625");
	expect_text(-1, 48, "-0.000000000000003552713678800500929355621337890625");
	expect_text(SMX_SUM_LIMIT - 1, 0, "4611686018427387903");
	expect_text(1 - SMX_SUM_LIMIT, 48, "-16383.999999999999996447286321199499070644378662109375");
}

/* Every digit after the point counts: the text alone gives the value back. */
Test(value, decimals_can_be_read_back)
{
	uint64_t seed = first_seed;
	printf("seed %" PRIu64 "\n", first_seed);
	for (unsigned i = 0; i < 20000; i++) {
		const smx_value value = random_value(&seed);
		const unsigned scale_bits = (unsigned)(oracle_random(&seed) % 49);
		char text[80];
		smx_value_format(value, scale_bits, text, sizeof text);
		const bool negative = text[0] == '-';
		char *point = strchr(text, '.'), *end = text + strlen(text);
		if (point)
			cr_assert_neq(end[-1], '0', "trailing zero: %s", text);
		/* the fraction's digits from the last: each step divides by ten, exactly so in units of 10^-48 * 2^-s */
		uint64_t whole = 0, fraction = 0;
		for (const char *digit = text + negative; *digit && *digit != '.'; digit++)
			whole = whole * 10 + (uint64_t)(*digit - '0');
		char digits[80] = "";
		strcpy(digits, point ? point + 1 : "");
		for (unsigned bit = 0; bit < scale_bits;
		     bit++) { /* double the decimal fraction; what carries out is the next bit */
			unsigned carry = 0;
			for (size_t k = strlen(digits); k-- > 0;) {
				const unsigned doubled = 2u * (unsigned)(digits[k] - '0') + carry;
				digits[k] = (char)('0' + doubled % 10);
				carry = doubled / 10;
			}
			fraction = fraction * 2 + carry;
		}
		cr_assert_eq(strspn(digits, "0"), strlen(digits), "more digits than the value has: %s", text);
		const smx_value back = (smx_value)((whole << scale_bits) + fraction);
		cr_assert_eq(negative ? -back : back, value, "%s is not %" PRId64 " / 2^%u", text, value, scale_bits);
	}
}

Test(value, a_small_buffer_is_not_overrun)
{
	char text[8] = "#######";
	smx_value_format(-(INT64_C(30910) << 16) - 59392, 16, text, 5);
	cr_assert_str_eq(text, "-309");
	cr_assert_eq(text[5], '#');
}

Test(value, from_double_rounds_to_nearest_and_ties_to_even)
{
	static const struct {
		double x;
		unsigned scale_bits;
		smx_value expected;
	} cases[] = {
		{0.0, 40, 0},
		{-0.0, 40, 0},
		{0.5, 0, 0},
		{1.5, 0, 2},
		{2.5, 0, 2},
		{-0.5, 0, 0},
		{-1.5, 0, -2},
		{-2.5, 0, -2},
		{0.49, 0, 0},
		{-0.51, 0, -1},
		{0.51, 0, 1},
		{1.0, 16, 65536},
		{-1.0, 16, -65536},
		{0.25, 1, 0},
		{0.75, 1, 2},
		{-0.75, 1, -2},
		{0x1p-41, 40, 0},
		{0x1.8p-40, 40, 2},
		{0x1.000001p-41, 40, 1},
		{0x1.fffffffffffffp52, 0, INT64_C(9007199254740991)},
		{0x1p61, 0, INT64_C(1) << 61},
		{-0x1p61, 0, -(INT64_C(1) << 61)},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const smx_value value = smx_value_from_double(cases[i].x, cases[i].scale_bits);
		cr_assert_eq(value, cases[i].expected, "%a at %u bits: %" PRId64, cases[i].x, cases[i].scale_bits, value);
	}
}

/* Halves of units are exact in a double: every rounding case, against integer arithmetic. */
Test(value, from_double_agrees_with_integer_arithmetic)
{
	uint64_t seed = first_seed;
	printf("seed %" PRIu64 "\n", first_seed);
	for (unsigned i = 0; i < ROUNDS; i++) {
		const int64_t eighths =
			(int64_t)(oracle_random(&seed) >> (12 + oracle_random(&seed) % 50)) - (INT64_C(1) << 20);
		const unsigned scale_bits = (unsigned)(oracle_random(&seed) % 49);
		const int64_t below = eighths >= 0 ? eighths / 8 : -((-eighths + 7) / 8), rest = eighths - 8 * below;
		const int64_t expected = below + (rest > 4 || (rest == 4 && below % 2 != 0));
		const smx_value value = smx_value_from_double(ldexp((double)eighths, -3 - (int)scale_bits), scale_bits);
		cr_assert_eq(value, expected, "%" PRId64 "/8 units at %u bits: %" PRId64, eighths, scale_bits, value);
	}
}
