/* Searches in schedules that are drawn, each against the serial search. */
#ifndef SMXI_PERF_SCHEDULES_H
#define SMXI_PERF_SCHEDULES_H

#include <stdbool.h>
#include <stdint.h>

/* Try the seeds first, first + 1, ..., and tell what was tried; false, with the seed on standard error, at the first wrong answer. A search
 * that cannot end, or a switch in a lock, ends the program with status 1 and the seed. */
bool smxi_schedules_try(uint64_t first, uint64_t seeds);

#endif
