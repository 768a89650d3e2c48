/* What `starmax scale` has measured, what it amounts to, and how it is shown. */
#ifndef SMXI_CLI_SCALING_H
#define SMXI_CLI_SCALING_H

#include "cli/runner.h"

#include <starmax/parallel.h>
#include <starmax/starmax.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum smxi_metric {
	SMXI_TIME_MS,
	SMXI_SPEEDUP,
	SMXI_EFFICIENCY,
	SMXI_CEILING,
	SMXI_OF_CEILING,
	SMXI_NODE_OVERHEAD,
	SMXI_NODES_PER_SECOND,
	SMXI_HIT_RATE,
	SMXI_TASKS,
	SMXI_TASKS_STOPPED,
	SMXI_IDLE_SHARE,
	SMXI_CPU_SHARE,
	SMXI_METRICS
};

/* As JSON and plots call them. */
extern const char *const smxi_metric_names[SMXI_METRICS];

/* One search. */
struct smxi_take {
	double value[SMXI_METRICS]; /* NAN: not known */
	uint64_t task_sizes[SMX_TASK_SIZES];
};

struct smxi_scaling {
	const struct smx_game *game;
	const char *set; /* NULL: a position of the caller's own */
	const char *commit;
	char date[32];
	struct smx_parallel_machine machine;

	struct smxi_runner_work work;
	size_t position_count;
	const struct smx_position *positions;
	const char *const *names;            /* of the positions */
	const struct smxi_measure *expected; /* of each position, the first serial search */
	size_t thread_count;
	const unsigned *threads;               /* ascending */
	const struct smx_parallel_plan *plans; /* for each of them */
	struct smx_parallel_plan alone;        /* a serial search: one thread, bound to places[0] or not */
	enum smx_parallel_bind bind;           /* asked for */
	size_t rounds;

	struct smxi_take *serial;   /* [position][round] */
	struct smxi_take *parallel; /* [position][threads][round] */
	bool spins;                 /* threads still did half a second after a search */
	json_t *differences;        /* answers that are not the expected ones */
};

struct smxi_take *smxi_scaling_serial(const struct smxi_scaling *scaling, size_t position, size_t round);
struct smxi_take *smxi_scaling_parallel(const struct smxi_scaling *scaling, size_t position, size_t threads,
                                        size_t round);

/* Over the rounds; NAN where it is not known. */
struct smxi_spread {
	double median, least, most;
};

/* Of one metric of one position. */
struct smxi_spread smxi_scaling_serial_spread(const struct smxi_scaling *scaling, size_t position,
                                              enum smxi_metric metric);
struct smxi_spread smxi_scaling_spread(const struct smxi_scaling *scaling, size_t position, size_t threads,
                                       enum smxi_metric metric);

/* Of the geometric mean over the positions; of an overhead, of the ratio that it is one less than. */
struct smxi_spread smxi_scaling_mean(const struct smxi_scaling *scaling, size_t threads, enum smxi_metric metric);

/* Those of which such a mean says something. */
enum { SMXI_SUMMED_UP = 5 };
extern const enum smxi_metric smxi_summed_up[SMXI_SUMMED_UP];

/* Of the time for all positions by one thread to that by several, and of the idle share of that time. */
struct smxi_spread smxi_scaling_total_speedup(const struct smxi_scaling *scaling, size_t threads);
struct smxi_spread smxi_scaling_total_idle(const struct smxi_scaling *scaling, size_t threads);

/* Of all the time that serial searches took, the share that they had a processor for. */
double smxi_scaling_serial_cpu_share(const struct smxi_scaling *scaling);

/* Add the tasks of all rounds to sizes: of one position, and of all. */
void smxi_scaling_sizes(const struct smxi_scaling *scaling, size_t position, size_t threads,
                        uint64_t sizes[SMX_TASK_SIZES]);
void smxi_scaling_all_sizes(const struct smxi_scaling *scaling, size_t threads, uint64_t sizes[SMX_TASK_SIZES]);

/* What of the environment decides where threads run and how they wait; NULL-terminated. */
extern const char *const smxi_scaling_variables[];

/* On stdout. */
void smxi_scaling_print_json(const struct smxi_scaling *scaling);
void smxi_scaling_print_text(const struct smxi_scaling *scaling);

/* Write the data to `data`, which is PREFIX.dat and is closed, and the script PREFIX.gp, and have gnuplot draw. False after an error message. */
bool smxi_scaling_plot(const struct smxi_scaling *scaling, const char *prefix, FILE *data);

#endif
