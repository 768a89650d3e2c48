#include <starmax/value.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

size_t smx_value_format(smx_value value, unsigned scale_bits, char *text, size_t size)
{
	const uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
	const uint64_t mask = (UINT64_C(1) << scale_bits) - 1;
	char digits[80];
	int length = snprintf(digits, sizeof digits, "%s%" PRIu64, value < 0 ? "-" : "", magnitude >> scale_bits);
	uint64_t fraction = magnitude & mask;
	if (fraction)
		digits[length++] = '.';
	for (; fraction; fraction &= mask) { /* a binary fraction of scale_bits digits ends after as many decimal ones */
		fraction *= 10;
		digits[length++] = (char)('0' + (fraction >> scale_bits));
	}
	digits[length] = '\0';
	return (size_t)snprintf(text, size, "%s", digits);
}

smx_value smx_value_from_double(double x, unsigned scale_bits)
{
	const double scaled = ldexp(x, (int)scale_bits); /* exact: only the exponent changes */
	const double below = floor(scaled), rest = scaled - below;
	const smx_value floor_value = (smx_value)below;
	if (rest > 0.5 || (rest == 0.5 && (floor_value & 1)))
		return floor_value + 1;
	return floor_value;
}
