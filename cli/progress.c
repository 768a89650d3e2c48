#define _POSIX_C_SOURCE 200809L

#include "cli/progress.h"

#include "cli/command.h"
#include "cli/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define FIRST_MS   1000.0
#define PERIOD_MS  200.0
#define CLEAR_LINE "\r\033[K"

enum { LINE_BYTES = 400, USUAL_COLUMNS = 80, BAR_COLUMNS = 20 };

/* What is shown is cut to the terminal: of a line that went on in the next row only the end could be erased. */
struct line {
	char text[LINE_BYTES];
	size_t used, room;
};

static void add(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct line *line, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	const int length = vsnprintf(line->text + line->used, line->room - line->used, format, arguments);
	va_end(arguments);
	if (length > 0)
		line->used = line->used + (size_t)length < line->room ? line->used + (size_t)length : line->room - 1;
}

static size_t columns(void)
{
	struct winsize size;
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : USUAL_COLUMNS;
}

static struct line empty_line(void)
{
	const size_t width = columns();
	return (struct line){.room = width < LINE_BYTES ? width : LINE_BYTES};
}

static void add_best(struct line *line, const struct smxi_progress *progress, const struct smx_progress *now)
{
	char text[SMX_TEXT_MAX];
	add(line, "  best ");
	if (progress->game)
		add(line, "%s ", smxi_report_turn(progress->game, &now->turn, text));
	add(line, "%s", smxi_report_value(now->value, progress->evaluator, text));
	if (now->value_depth_plies != now->depth_plies)
		add(line, " (depth %u)", now->value_depth_plies);
}

static void add_time(struct line *line, double time_ms)
{
	const unsigned long long seconds = (unsigned long long)(time_ms / 1e3);
	if (seconds < 60)
		add(line, "  %.1f s", time_ms / 1e3);
	else
		add(line, "  %llu:%02llu:%02llu", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

static void show(void *context, const struct smx_progress *now)
{
	struct smxi_progress *progress = context;
	char number[SMXI_REPORT_TEXT];
	if (now->time_ms < progress->next_ms)
		return;
	progress->next_ms = now->time_ms + PERIOD_MS;
	progress->shown = true;
	struct line line = empty_line();
	add(&line, "depth %u", now->depth_plies);
	if (now->candidates)
		add(&line, "  candidates %zu/%zu, %zu left", now->candidates_completed, now->candidates,
		    now->candidates - now->candidates_completed);
	if (now->has_value)
		add_best(&line, progress, now);
	add_time(&line, now->time_ms);
	const uint64_t nodes = now->counters->chance_nodes;
	add(&line, "  %s nodes/s", smxi_report_count((uint64_t)((double)nodes / now->time_ms * 1e3), number));
	if (progress->table) {
		const unsigned permille = smx_table_usage(progress->table).used_permille;
		add(&line, "  table %u.%u%%", permille / 10, permille % 10);
	}
	add(&line, "  chance nodes %s", smxi_report_count(nodes, number));
	fprintf(stderr, CLEAR_LINE "%s", line.text);
	fflush(stderr);
}

void smxi_progress_attach(struct smxi_progress *progress, struct smx_search_options *options)
{
	*progress = (struct smxi_progress){
		.game = progress->game,
		.evaluator = options->evaluator,
		.table = options->table,
		.next_ms = FIRST_MS,
	};
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
	*progress = (struct smxi_progress){.game = progress->game, .next_ms = FIRST_MS};
}

void smxi_bar_begin(struct smxi_bar *bar)
{
	*bar = (struct smxi_bar){.begun_ms = smxi_clock_ms()};
	bar->next_ms = bar->begun_ms + FIRST_MS;
}

void smxi_bar_show(struct smxi_bar *bar, size_t done, size_t all, size_t now, const char *about)
{
	const double time_ms = smxi_clock_ms();
	if (time_ms < bar->next_ms || !isatty(STDERR_FILENO))
		return;
	bar->next_ms = time_ms + PERIOD_MS;
	bar->shown = true;
	struct line line = empty_line();
	add(&line, "[");
	for (size_t i = 0; i < BAR_COLUMNS; i++)
		add(&line, (i + 1) * all <= done * BAR_COLUMNS ? "#" : ".");
	add(&line, "] %zu/%zu games%s", done, all, about);
	if (now) {
		add_time(&line, (time_ms - bar->begun_ms) / (double)now * (double)(all - done));
		add(&line, " left");
	}
	fprintf(stderr, CLEAR_LINE "%s", line.text);
	fflush(stderr);
}

void smxi_bar_erase(struct smxi_bar *bar)
{
	if (bar->shown)
		fputs(CLEAR_LINE, stderr);
	bar->shown = false;
	bar->next_ms = 0;
}
