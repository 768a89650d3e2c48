#include "cli/sharing.h"

#include <inttypes.h>
#include <stdio.h>

const char *smxi_sharing_median_size(const uint64_t sizes[SMX_TASK_SIZES], char text[SMXI_REPORT_TEXT])
{
	uint64_t all = 0, below = 0;
	unsigned size = 0;
	for (unsigned i = 0; i < SMX_TASK_SIZES; i++)
		all += sizes[i];
	while (all && below + sizes[size] < (all + 1) / 2)
		below += sizes[size++];
	if (!all)
		snprintf(text, SMXI_REPORT_TEXT, "-");
	else if (!size)
		snprintf(text, SMXI_REPORT_TEXT, "below 1 us");
	else if (size + 1 == SMX_TASK_SIZES)
		snprintf(text, SMXI_REPORT_TEXT, "from %" PRIu64 " us", UINT64_C(1) << (size - 1));
	else
		snprintf(text, SMXI_REPORT_TEXT, "%" PRIu64 "-%" PRIu64 " us", UINT64_C(1) << (size - 1), UINT64_C(1) << size);
	return text;
}

void smxi_sharing_print(const struct smx_sharing *sharing, uint64_t tasks)
{
	char text[SMXI_REPORT_TEXT];
	if (sharing->threads == 1) {
		printf("sharing    none: one thread is done sooner\n");
		return;
	}
	printf("sharing    %u of %u threads took part, idle %.1f%% of their time; ", sharing->used, sharing->threads,
	       sharing->span_ms > 0 ? 100 * sharing->idle_ms / (sharing->threads * sharing->span_ms) : 0);
	printf("%s task%s", smxi_report_count(tasks, text), tasks == 1 ? "" : "s");
	if (tasks)
		printf(", the median one %s", smxi_sharing_median_size(sharing->task_sizes, text));
	putchar('\n');
}

json_t *smxi_sharing_json_sizes(const uint64_t sizes[SMX_TASK_SIZES])
{
	json_t *array = smxi_json(json_array());
	for (unsigned i = 0; i < SMX_TASK_SIZES; i++)
		smxi_json_append(array, smxi_json_count(sizes[i]));
	return array;
}

json_t *smxi_sharing_json(const struct smx_sharing *sharing)
{
	if (sharing->threads == 1)
		return smxi_json(json_null());
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "threads", json_integer(sharing->threads));
	smxi_json_set(object, "used", json_integer(sharing->used));
	smxi_json_set(object, "span_ms", json_real(sharing->span_ms));
	smxi_json_set(object, "idle_ms", json_real(sharing->idle_ms));
	smxi_json_set(object, "task_sizes", smxi_sharing_json_sizes(sharing->task_sizes));
	return object;
}
