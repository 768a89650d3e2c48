#include "cli/statistics.h"

#include <math.h>

#define Z 1.959963984540054 /* the normal distribution's quantile of 0.975 */

/* Student's t quantile of 0.975, to four digits: a table where the expansion in powers of 1/freedom (Abramowitz and Stegun 26.7.5) is not
 * good enough. */
static double t_quantile(size_t freedom)
{
	static const double first[] = {12.70620, 4.302653, 3.182446, 2.776445, 2.570582,
	                               2.446912, 2.364624, 2.306004, 2.262157, 2.228139};
	const double v = (double)freedom, z2 = Z * Z;
	if (freedom <= sizeof first / sizeof first[0])
		return first[freedom - 1];
	const double g1 = (z2 + 1) / 4;
	const double g2 = ((5 * z2 + 16) * z2 + 3) / 96;
	const double g3 = (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
	return Z * (1 + (g1 + (g2 + g3 / v) / v) / v);
}

struct smxi_mean smxi_mean_of(const double *values, size_t count)
{
	struct smxi_mean mean = {.count = count, .has_range = count >= 2};
	double squares = 0;
	for (size_t i = 0; i < count; i++)
		mean.mean += values[i];
	mean.mean /= count ? (double)count : 1;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - mean.mean) * (values[i] - mean.mean);
	if (!mean.has_range)
		return mean;
	const double half = t_quantile(count - 1) * sqrt(squares / (double)(count - 1) / (double)count);
	mean.low = mean.mean - half;
	mean.high = mean.mean + half;
	return mean;
}

struct smxi_rate smxi_rate_of(size_t hits, size_t count)
{
	const double n = (double)count, rate = (double)hits / n, z2 = Z * Z;
	const double center = (rate + z2 / (2 * n)) / (1 + z2 / n);
	const double half = Z * sqrt(rate * (1 - rate) / n + z2 / (4 * n * n)) / (1 + z2 / n);
	return (struct smxi_rate){rate, hits ? center - half : 0, hits < count ? center + half : 1};
}
