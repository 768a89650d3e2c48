/* Exact values: signed 64-bit integers in units of 2^-s of an evaluator's own unit (s is the evaluator's scale).
 *
 * A chance node's value is div_floor(sum of weight * value, total). Integer addition is associative, so the order in
 * which outcomes are finished cannot change a value; rounding toward minus infinity is monotone, so bounds computed
 * the same way stay bounds. C's own division truncates toward zero and must not be used on values. */
#ifndef STARMAX_VALUE_H
#define STARMAX_VALUE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t smx_value;

/* total * |value| must stay below this for every value a search can meet, so that no weighted sum overflows. */
#define SMX_SUM_LIMIT (INT64_C(1) << 62)

/* The largest integer not above numerator / denominator. denominator > 0. */
static inline smx_value smx_div_floor(smx_value numerator, smx_value denominator)
{
	assert(denominator > 0);
	return numerator / denominator - (numerator % denominator < 0);
}

/* The smallest integer not below numerator / denominator. denominator > 0. */
static inline smx_value smx_div_ceil(smx_value numerator, smx_value denominator)
{
	assert(denominator > 0);
	return numerator / denominator + (numerator % denominator > 0);
}

/* Write value, in units of 2^-scale_bits, as a decimal into text (NUL-terminated, cut to size bytes).
 * The decimal is exact, without trailing zeros: "-12", "0.5", "30910.90625". scale_bits <= 48, size >= 80 is always enough.
 * Returns the length. Thread-safe. */
size_t smx_value_format(smx_value value, unsigned scale_bits, char *text, size_t size);

/* The correctly rounded (ties to even) multiple of 2^-scale_bits nearest to x: how an evaluator that computes in
 * floating point becomes exact, once. |x| * 2^scale_bits < 2^62, x finite. */
smx_value smx_value_from_double(double x, unsigned scale_bits);

#ifdef __cplusplus
}
#endif

#endif
