/* How much processor time the control group of this process may use: cgroup v2's cpu.max. */
#ifndef SMXI_PARALLEL_CGROUP_H
#define SMXI_PARALLEL_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* quota_us of processor time in each period_us: quota_us / period_us processors. period_us 0: no limit. */
struct smxi_quota {
	uint64_t quota_us, period_us;
};

/* The text of a cpu.max file: "max 100000" is no limit, "250000 100000" two and a half processors. False, *quota
 * untouched, where it is neither. */
bool smxi_quota_parse(const char *text, struct smxi_quota *quota);

/* Whole processors that can be kept busy: rounded up, at least 1; 0 where there is no limit. */
uint64_t smxi_quota_processors(struct smxi_quota quota);

/* The tightest limit of a control group and of all those that hold it. `memberships` is the text of
 * /proc/self/cgroup, `root` where the hierarchy is mounted. What cannot be read or understood limits nothing. */
struct smxi_quota smxi_quota_find(const char *memberships, const char *root);

/* Of this process. */
struct smxi_quota smxi_quota_here(void);

#endif
