/* With V(i, j, k) for own score, other's score and turn total, before the roll:
 *
 *     V(i, j, k) = 1/6 * ((1 - V(j, i, 0)) + sum for r = 2..6 of max(V(i, j, k + r), 1 - V(j, i + k + r, 0)))
 *
 * where the maximum is 1 if i + k + r reaches the target. Both terms of it are of a greater k or a greater sum of scores, so the
 * sums are solved from the greatest down, and in each the pairs (i, j), (j, i), which know each other through V(j, i, 0)
 * alone, are swept in turn (Gauss-Seidel) until they stand still. */
#include "solution.h"

#include <math.h>
#include <pthread.h>

#define STILL 1e-14 /* a change of both together; rounding alone can keep up 2e-15 */

static double value[PIG_TARGET][PIG_TARGET][PIG_TARGET];

/* After a roll that made the turn total k: roll again or hold, whichever is better. */
static double after_roll(unsigned i, unsigned j, unsigned k)
{
	return i + k >= PIG_TARGET ? 1 : fmax(value[i][j][k], 1 - value[j][i + k][0]);
}

/* All totals of (i, j) from what is known of (j, i); the change of V(i, j, 0). */
static double sweep(unsigned i, unsigned j)
{
	const double before = value[i][j][0];
	for (unsigned k = PIG_TARGET - i; k-- > 0;) {
		double sum = 1 - value[j][i][0];
		for (unsigned roll = 2; roll <= 6; roll++)
			sum += after_roll(i, j, k + roll);
		value[i][j][k] = sum / 6;
	}
	return fabs(value[i][j][0] - before);
}

static void solve(void)
{
	for (unsigned sum = 2 * PIG_TARGET - 1; sum-- > 0;)
		for (unsigned i = sum < PIG_TARGET ? 0 : sum - PIG_TARGET + 1; i <= sum / 2; i++)
			while (sweep(i, sum - i) + sweep(sum - i, i) > STILL)
				;
}

double pig_solution(unsigned own, unsigned other, unsigned total)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, solve);
	return value[own][other][total];
}
