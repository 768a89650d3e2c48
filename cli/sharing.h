/* How several threads shared a search, as text and as JSON: idle time, and tasks by size. */
#ifndef SMXI_CLI_SHARING_H
#define SMXI_CLI_SHARING_H

#include "cli/report.h"

#include <starmax/search.h>

#include <jansson.h>
#include <stdint.h>

/* The range that the task in the middle by size is in, such as "64-128 us"; "-" where there is none. */
const char *smxi_sharing_median_size(const uint64_t sizes[SMX_TASK_SIZES], char text[SMXI_REPORT_TEXT]);

/* One line on stdout. */
void smxi_sharing_print(const struct smx_sharing *sharing, uint64_t tasks);

/* null where one thread did it all. */
json_t *smxi_sharing_json(const struct smx_sharing *sharing);
json_t *smxi_sharing_json_sizes(const uint64_t sizes[SMX_TASK_SIZES]);

#endif
