/* Means and rates with 95% intervals. */
#ifndef SMXI_CLI_STATISTICS_H
#define SMXI_CLI_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

struct smxi_mean {
	size_t count;
	double mean;      /* 0 where there are none */
	bool has_range;   /* there are two or more */
	double low, high; /* Student's t */
};

struct smxi_mean smxi_mean_of(const double *values, size_t count);

/* A rate of hits among count >= 1, by Wilson's score interval (1927). */
struct smxi_rate {
	double rate, low, high;
};

struct smxi_rate smxi_rate_of(size_t hits, size_t count);

#endif
