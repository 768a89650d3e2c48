#define _POSIX_C_SOURCE 200809L

#include "cli/progress.h"

#include "cli/report.h"

#include <stdio.h>
#include <unistd.h>

#define FIRST_MS   1000.0
#define PERIOD_MS  200.0
#define CLEAR_LINE "\r\033[K"

static void show(void *context, const struct smx_progress *now)
{
	struct smxi_progress *progress = context;
	char nodes[SMXI_REPORT_TEXT];
	if (now->time_ms < progress->next_ms)
		return;
	progress->next_ms = now->time_ms + PERIOD_MS;
	progress->shown = true;
	fprintf(stderr, CLEAR_LINE "depth %u  candidates %zu/%zu  chance nodes %s  %.1f s", now->depth_plies,
	        now->candidates_completed, now->candidates, smxi_report_count(now->counters->chance_nodes, nodes),
	        now->time_ms / 1e3);
	fflush(stderr);
}

void smxi_progress_attach(struct smxi_progress *progress, struct smx_search_options *options)
{
	*progress = (struct smxi_progress){.next_ms = FIRST_MS};
	if (!isatty(STDERR_FILENO))
		return;
	options->on_progress = show;
	options->progress_context = progress;
}

void smxi_progress_erase(struct smxi_progress *progress)
{
	if (progress->shown) {
		fputs(CLEAR_LINE, stderr);
		fflush(stderr);
	}
	*progress = (struct smxi_progress){.next_ms = FIRST_MS};
}
