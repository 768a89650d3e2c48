#include "cli/command.h"
#include "cli/engine.h"
#include "cli/report.h"
#include "cli/scaling.h"
#include "cli/sharing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A search alone that has a processor for less than this share of its time shares it with something. */
#define BUSY_SHARE 0.95

/* What was done, and with which numbers of threads it could not be; these are neighbours. */
static void print_binding(const struct smxi_scaling *scaling)
{
	const struct smx_parallel_plan *plans = scaling->plans;
	printf("binding    %s", smxi_bind_names[scaling->bind]);
	for (size_t t = 0; scaling->bind != SMX_BIND_NONE && t < scaling->thread_count; t++) {
		const size_t first = t;
		if (plans[t].bind != SMX_BIND_NONE)
			continue;
		while (t + 1 < scaling->thread_count && !strcmp(plans[t + 1].unbound, plans[first].unbound))
			t++;
		printf("; %u", scaling->threads[first]);
		if (t > first)
			printf(" to %u", scaling->threads[t]);
		printf(" not bound (%s)", plans[first].unbound);
	}
	putchar('\n');
}

static void print_environment(void)
{
	char text[200];
	printf("variables ");
	for (const char *const *name = smxi_scaling_variables; *name; name++) {
		const char *value = getenv(*name);
		printf("%s %s %s", name == smxi_scaling_variables ? "" : ",", *name,
		       value ? smxi_printable(value, text, sizeof text) : "not set");
	}
	putchar('\n');
}

static void print_head(const struct smxi_scaling *scaling)
{
	const struct smx_parallel_machine *machine = &scaling->machine;
	const struct smx_search_options *options = &scaling->work.options;
	char text[SMXI_REPORT_TEXT];
	printf("machine    %s, %u of %u hardware threads usable", machine->model, machine->usable, machine->processors);
	if (machine->cores)
		printf(", %u core%s", machine->cores, machine->cores > 1 ? "s" : "");
	if (machine->numa_nodes > 1)
		printf(", %u NUMA nodes", machine->numa_nodes);
	printf("\nbuild      starmax %s, commit %s, %s, OpenMP %s, instruction set %s\n", smx_version(), scaling->commit,
	       SMXI_COMPILER, machine->openmp_runtime, smx_dicechess_isa());
	print_binding(scaling);
	print_environment();
	printf("search     depth %u, width ", options->depth_plies);
	if (options->width)
		printf("%zu", options->width);
	else
		printf("all");
	printf(", evaluator %s, table %s, begun %s\n", options->evaluator->name,
	       scaling->work.hash_bytes ? smxi_report_bytes(scaling->work.hash_bytes, text) : "none",
	       scaling->work.is_warm ? "with threads awake" : "with threads asleep");
	printf("measured   %s, %zu round%s: medians, and in brackets the least and the greatest\n\n", scaling->date,
	       scaling->rounds, scaling->rounds > 1 ? "s" : "");
}

static void add_percent(struct smxi_table *table, double value)
{
	char text[SMXI_REPORT_TEXT];
	snprintf(text, sizeof text, "%.1f%%", 100 * value);
	smxi_table_add(table, isnan(value) ? "-" : text);
}

static void add_spread(struct smxi_table *table, struct smxi_spread spread, double factor, int decimals,
                       const char *unit)
{
	char text[SMXI_REPORT_TEXT];
	snprintf(text, sizeof text, "%.*f%s [%.*f, %.*f]", decimals, factor * spread.median, unit, decimals,
	         factor * spread.least, decimals, factor * spread.most);
	smxi_table_add(table, isnan(spread.median) ? "-" : text);
}

static void add_count(struct smxi_table *table, double value)
{
	char text[SMXI_REPORT_TEXT];
	smxi_table_add(table, smxi_report_count((uint64_t)(value + 0.5), text));
}

static void add_serial_row(const struct smxi_scaling *scaling, size_t position, struct smxi_table *table)
{
	smxi_table_add(table, scaling->names[position]);
	smxi_table_add(table, "serial");
	add_spread(table, smxi_scaling_serial_spread(scaling, position, SMXI_TIME_MS), 1, 2, "");
	for (unsigned i = 0; i < 5; i++)
		smxi_table_add(table, "");
	add_count(table, smxi_scaling_serial_spread(scaling, position, SMXI_NODES_PER_SECOND).median);
	add_percent(table, smxi_scaling_serial_spread(scaling, position, SMXI_HIT_RATE).median);
	for (unsigned i = 0; i < 4; i++)
		smxi_table_add(table, "");
	add_percent(table, smxi_scaling_serial_spread(scaling, position, SMXI_CPU_SHARE).median);
}

static void add_row(const struct smxi_scaling *scaling, size_t position, size_t t, struct smxi_table *table)
{
	struct smxi_spread spread[SMXI_METRICS];
	uint64_t sizes[SMX_TASK_SIZES] = {0};
	char number[SMXI_REPORT_TEXT];
	for (unsigned m = 0; m < SMXI_METRICS; m++)
		spread[m] = smxi_scaling_spread(scaling, position, t, (enum smxi_metric)m);
	snprintf(number, sizeof number, "%u", scaling->threads[t]);
	smxi_table_add(table, "");
	smxi_table_add(table, number);
	add_spread(table, spread[SMXI_TIME_MS], 1, 2, "");
	add_spread(table, spread[SMXI_SPEEDUP], 1, 2, "");
	add_percent(table, spread[SMXI_EFFICIENCY].median);
	add_percent(table, spread[SMXI_CEILING].median);
	add_spread(table, spread[SMXI_OF_CEILING], 100, 1, "%");
	add_spread(table, spread[SMXI_NODE_OVERHEAD], 100, 1, "%");
	add_count(table, spread[SMXI_NODES_PER_SECOND].median);
	add_percent(table, spread[SMXI_HIT_RATE].median);
	add_count(table, spread[SMXI_TASKS].median);
	add_count(table, spread[SMXI_TASKS_STOPPED].median);
	smxi_scaling_sizes(scaling, position, t, sizes);
	smxi_table_add(table, smxi_sharing_median_size(sizes, number));
	add_spread(table, spread[SMXI_IDLE_SHARE], 100, 1, "%");
	add_percent(table, spread[SMXI_CPU_SHARE].median);
}

static void print_positions(const struct smxi_scaling *scaling)
{
	static const struct smxi_column columns[] = {
		{"position", false}, {"threads", true}, {"time, ms", true},      {"speed-up", true},       {"efficiency", true},
		{"ceiling", true},   {"of it", true},   {"node overhead", true}, {"nodes a second", true}, {"table hits", true},
		{"tasks", true},     {"stopped", true}, {"median task", true},   {"idle", true},           {"processor", true},
	};
	struct smxi_table table = smxi_table(columns, sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < scaling->position_count; i++) {
		add_serial_row(scaling, i, &table);
		for (size_t t = 0; t < scaling->thread_count; t++)
			add_row(scaling, i, t, &table);
	}
	smxi_table_print(&table);
}

static void print_summary(const struct smxi_scaling *scaling)
{
	static const struct smxi_column columns[] = {
		{"geometric means", false},
		{"threads", true},
		{"speed-up", true},
		{"efficiency", true},
		{"ceiling", true},
		{"of it", true},
		{"node overhead", true},
		{"speed-up of the total", true},
		{"idle", true},
	};
	struct smxi_table table = smxi_table(columns, sizeof columns / sizeof columns[0]);
	for (size_t t = 0; t < scaling->thread_count; t++) {
		char number[24];
		snprintf(number, sizeof number, "%u", scaling->threads[t]);
		smxi_table_add(&table, "");
		smxi_table_add(&table, number);
		add_spread(&table, smxi_scaling_mean(scaling, t, SMXI_SPEEDUP), 1, 2, "");
		add_spread(&table, smxi_scaling_mean(scaling, t, SMXI_EFFICIENCY), 100, 1, "%");
		add_spread(&table, smxi_scaling_mean(scaling, t, SMXI_CEILING), 100, 1, "%");
		add_spread(&table, smxi_scaling_mean(scaling, t, SMXI_OF_CEILING), 100, 1, "%");
		add_spread(&table, smxi_scaling_mean(scaling, t, SMXI_NODE_OVERHEAD), 100, 1, "%");
		add_spread(&table, smxi_scaling_total_speedup(scaling, t), 1, 2, "");
		add_spread(&table, smxi_scaling_total_idle(scaling, t), 100, 1, "%");
	}
	putchar('\n');
	smxi_table_print(&table);
}

/* Of all positions and rounds; nothing where there is no task. */
static void print_task_sizes(const struct smxi_scaling *scaling)
{
	static const struct smxi_column columns[] = {
		{"tasks by size", false}, {"threads", true},   {"tasks a search", true}, {"below 16 us", true},
		{"16-64 us", true},       {"64-256 us", true}, {"256-1024 us", true},    {"longer", true},
	};
	static const unsigned ends[] = {5, 7, 9, 11, SMX_TASK_SIZES}; /* the first size that is above */
	struct smxi_table table = smxi_table(columns, sizeof columns / sizeof columns[0]);
	for (size_t t = 0; t < scaling->thread_count; t++) {
		uint64_t sizes[SMX_TASK_SIZES] = {0}, all = 0;
		char number[24];
		smxi_scaling_all_sizes(scaling, t, sizes);
		for (unsigned i = 0; i < SMX_TASK_SIZES; i++)
			all += sizes[i];
		if (!all)
			continue;
		snprintf(number, sizeof number, "%u", scaling->threads[t]);
		smxi_table_add(&table, "");
		smxi_table_add(&table, number);
		add_count(&table, (double)all / (double)(scaling->position_count * scaling->rounds));
		for (unsigned i = 0, size = 0; i < sizeof ends / sizeof ends[0]; i++) {
			uint64_t part = 0;
			while (size < ends[i])
				part += sizes[size++];
			add_percent(&table, (double)part / (double)all);
		}
	}
	if (!table.cell_count)
		return;
	putchar('\n');
	smxi_table_print(&table);
}

void smxi_scaling_print_text(const struct smxi_scaling *scaling)
{
	size_t index;
	json_t *difference;
	print_head(scaling);
	print_positions(scaling);
	print_summary(scaling);
	print_task_sizes(scaling);
	const double alone = smxi_scaling_serial_cpu_share(scaling);
	if (alone < BUSY_SHARE)
		printf("\nthe machine was busy with other things: one search alone had a processor %.0f%% of its time\n",
		       100 * alone);
	if (scaling->spins)
		printf("\nthreads spin for more than half a second after a search: what is measured next suffers\n");
	putchar('\n');
	json_array_foreach(scaling->differences, index, difference) printf(
		"DIFFERENT  %s, %d threads, round %d: the %s\n", json_string_value(json_object_get(difference, "position")),
		(int)json_integer_value(json_object_get(difference, "threads")),
		(int)json_integer_value(json_object_get(difference, "round")),
		json_string_value(json_object_get(difference, "what")));
	if (!json_array_size(scaling->differences))
		printf("all answers are the same\n");
}
