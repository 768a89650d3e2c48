/* The time for programs that measure. */
#ifndef SMXI_BENCH_CLOCK_H
#define SMXI_BENCH_CLOCK_H

#include <time.h>

/* Milliseconds from a fixed moment. */
static inline double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

#endif
