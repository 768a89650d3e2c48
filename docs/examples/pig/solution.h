/* The exact solution of Pig, by value iteration (Neller and Presser, "Optimal Play of the Dice Game Pig", The UMAP Journal
 * 25(1), 2004). */
#ifndef PIG_SOLUTION_H
#define PIG_SOLUTION_H

#ifndef PIG_TARGET
#define PIG_TARGET 100 /* points that win; 2 to 127 */
#endif

/* The probability with which the side that is about to roll wins, both sides playing as well as can be. own, other: scores;
 * total: the turn total; own + total < PIG_TARGET, other < PIG_TARGET. All of them are solved in the first call, which takes
 * tenths of a second. Thread-safe. */
typedef double pig_estimate(unsigned own, unsigned other, unsigned total);
pig_estimate pig_solution;

#endif
