/* Searches in schedules that are drawn (perf/trials.h says what is searched), each against the serial search.
 *
 * Beyond the answer, of every candidate that was completed, in a search that was cut short too: an exact value and its loss weight are those
 * of a search of all candidates exactly, and a bound is at least the true value and less than the best (multi: the last of the best). No table
 * has been asked to keep what contradicts its entry. */
#ifndef SMXI_PERF_SCHEDULES_H
#define SMXI_PERF_SCHEDULES_H

#include <stdbool.h>
#include <stdint.h>

/* Try the seeds first, first + 1, ..., and tell what was tried; false, with the seed on standard error, at the first wrong answer. A search
 * that cannot end, or a switch in a lock, ends the program with status 1 and the seed. */
bool smxi_schedules_try(uint64_t first, uint64_t seeds);

#endif
