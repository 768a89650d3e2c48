/* Seeded random numbers, the same on every machine: SplitMix64 (Steele, Lea and Flood 2014). */
#ifndef STARMAX_RANDOM_H
#define STARMAX_RANDOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The next of a sequence that its starting seed determines. */
static inline uint64_t smx_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0 <= result < bound, bound >= 1. Multiply and shift (Lemire 2019) without the rejection: the bias is below 2^-32 * bound. */
static inline uint32_t smx_random_below(uint64_t *seed, uint32_t bound)
{
	return (uint32_t)((smx_random(seed) >> 32) * bound >> 32);
}

#ifdef __cplusplus
}
#endif

#endif
