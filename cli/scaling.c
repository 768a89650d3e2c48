#include "cli/scaling.h"

#include "cli/command.h"

#include <math.h>
#include <stdlib.h>

const char *const smxi_metric_names[SMXI_METRICS] = {
	[SMXI_TIME_MS] = "time_ms",
	[SMXI_SPEEDUP] = "speedup",
	[SMXI_EFFICIENCY] = "efficiency",
	[SMXI_CEILING] = "ceiling",
	[SMXI_OF_CEILING] = "efficiency_of_ceiling",
	[SMXI_NODE_OVERHEAD] = "node_overhead",
	[SMXI_NODES_PER_SECOND] = "nodes_per_second",
	[SMXI_HIT_RATE] = "table_hit_rate",
	[SMXI_TASKS] = "tasks",
	[SMXI_TASKS_STOPPED] = "tasks_stopped",
	[SMXI_IDLE_SHARE] = "idle_share",
	[SMXI_CPU_SHARE] = "cpu_share",
};

const enum smxi_metric smxi_summed_up[SMXI_SUMMED_UP] = {
	SMXI_SPEEDUP, SMXI_EFFICIENCY, SMXI_CEILING, SMXI_OF_CEILING, SMXI_NODE_OVERHEAD,
};

const char *const smxi_scaling_variables[] = {"OMP_PLACES", "OMP_PROC_BIND", "OMP_WAIT_POLICY", NULL};

struct smxi_take *smxi_scaling_serial(const struct smxi_scaling *scaling, size_t position, size_t round)
{
	return &scaling->serial[position * scaling->rounds + round];
}

struct smxi_take *smxi_scaling_parallel(const struct smxi_scaling *scaling, size_t position, size_t threads,
                                        size_t round)
{
	return &scaling->parallel[(position * scaling->thread_count + threads) * scaling->rounds + round];
}

static int by_size(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

/* Of one value for each round, which are sorted and freed. */
static struct smxi_spread spread_of(double *values, size_t count)
{
	struct smxi_spread spread = {NAN, NAN, NAN};
	bool known = true;
	for (size_t i = 0; i < count; i++)
		known = known && !isnan(values[i]);
	if (known) {
		qsort(values, count, sizeof *values, by_size);
		spread.median = (values[(count - 1) / 2] + values[count / 2]) / 2;
		spread.least = values[0];
		spread.most = values[count - 1];
	}
	free(values);
	return spread;
}

static struct smxi_spread spread_of_takes(const struct smxi_take *takes, size_t rounds, enum smxi_metric metric)
{
	double *values = smxi_allocate(rounds, sizeof *values);
	for (size_t r = 0; r < rounds; r++)
		values[r] = takes[r].value[metric];
	return spread_of(values, rounds);
}

struct smxi_spread smxi_scaling_serial_spread(const struct smxi_scaling *scaling, size_t position,
                                              enum smxi_metric metric)
{
	return spread_of_takes(smxi_scaling_serial(scaling, position, 0), scaling->rounds, metric);
}

struct smxi_spread smxi_scaling_spread(const struct smxi_scaling *scaling, size_t position, size_t threads,
                                       enum smxi_metric metric)
{
	return spread_of_takes(smxi_scaling_parallel(scaling, position, threads, 0), scaling->rounds, metric);
}

struct smxi_spread smxi_scaling_mean(const struct smxi_scaling *scaling, size_t threads, enum smxi_metric metric)
{
	const double less = metric == SMXI_NODE_OVERHEAD ? 1 : 0;
	double *values = smxi_allocate(scaling->rounds, sizeof *values);
	for (size_t r = 0; r < scaling->rounds; r++) {
		double sum = 0;
		for (size_t i = 0; i < scaling->position_count; i++)
			sum += log(smxi_scaling_parallel(scaling, i, threads, r)->value[metric] + less);
		values[r] = exp(sum / (double)scaling->position_count) - less;
	}
	return spread_of(values, scaling->rounds);
}

struct smxi_spread smxi_scaling_total_speedup(const struct smxi_scaling *scaling, size_t threads)
{
	double *values = smxi_allocate(scaling->rounds, sizeof *values);
	for (size_t r = 0; r < scaling->rounds; r++) {
		double serial_ms = 0, parallel_ms = 0;
		for (size_t i = 0; i < scaling->position_count; i++) {
			serial_ms += smxi_scaling_serial(scaling, i, r)->value[SMXI_TIME_MS];
			parallel_ms += smxi_scaling_parallel(scaling, i, threads, r)->value[SMXI_TIME_MS];
		}
		values[r] = serial_ms / parallel_ms;
	}
	return spread_of(values, scaling->rounds);
}

struct smxi_spread smxi_scaling_total_idle(const struct smxi_scaling *scaling, size_t threads)
{
	double *values = smxi_allocate(scaling->rounds, sizeof *values);
	for (size_t r = 0; r < scaling->rounds; r++) {
		double idle_ms = 0, time_ms = 0;
		for (size_t i = 0; i < scaling->position_count; i++) {
			const double *value = smxi_scaling_parallel(scaling, i, threads, r)->value;
			idle_ms += value[SMXI_IDLE_SHARE] * value[SMXI_TIME_MS];
			time_ms += value[SMXI_TIME_MS];
		}
		values[r] = idle_ms / time_ms;
	}
	return spread_of(values, scaling->rounds);
}

double smxi_scaling_serial_cpu_share(const struct smxi_scaling *scaling)
{
	double time_ms = 0, cpu_ms = 0;
	for (size_t i = 0; i < scaling->position_count * scaling->rounds; i++) {
		const double *value = scaling->serial[i].value;
		time_ms += value[SMXI_TIME_MS];
		cpu_ms += value[SMXI_TIME_MS] * value[SMXI_CPU_SHARE];
	}
	return cpu_ms / time_ms;
}

void smxi_scaling_sizes(const struct smxi_scaling *scaling, size_t position, size_t threads,
                        uint64_t sizes[SMX_TASK_SIZES])
{
	for (size_t r = 0; r < scaling->rounds; r++) {
		const uint64_t *more = smxi_scaling_parallel(scaling, position, threads, r)->task_sizes;
		for (unsigned i = 0; i < SMX_TASK_SIZES; i++)
			sizes[i] += more[i];
	}
}

void smxi_scaling_all_sizes(const struct smxi_scaling *scaling, size_t threads, uint64_t sizes[SMX_TASK_SIZES])
{
	for (size_t i = 0; i < scaling->position_count; i++)
		smxi_scaling_sizes(scaling, i, threads, sizes);
}
