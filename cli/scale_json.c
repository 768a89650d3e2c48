#include "cli/command.h"
#include "cli/engine.h"
#include "cli/report.h"
#include "cli/scaling.h"
#include "cli/sharing.h"

#include <math.h>
#include <stdlib.h>

static json_t *json_spread(struct smxi_spread spread)
{
	if (isnan(spread.median))
		return smxi_json(json_null());
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "median", json_real(spread.median));
	smxi_json_set(object, "min", json_real(spread.least));
	smxi_json_set(object, "max", json_real(spread.most));
	return object;
}

static json_t *json_serial(const struct smxi_scaling *scaling, size_t position)
{
	static const enum smxi_metric metrics[] = {SMXI_TIME_MS, SMXI_NODES_PER_SECOND, SMXI_HIT_RATE, SMXI_CPU_SHARE};
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "chance_nodes", smxi_json_count(scaling->expected[position].counters.chance_nodes));
	for (size_t m = 0; m < sizeof metrics / sizeof metrics[0]; m++)
		smxi_json_set(object, smxi_metric_names[metrics[m]],
		              json_spread(smxi_scaling_serial_spread(scaling, position, metrics[m])));
	return object;
}

static json_t *json_positions(const struct smxi_scaling *scaling)
{
	json_t *array = smxi_json(json_array());
	for (size_t i = 0; i < scaling->position_count; i++) {
		const struct smxi_answer *answer = &scaling->expected[i].answer;
		const bool has_turn = answer->kind != SMX_RESULT_VALUE && answer->kind != SMX_RESULT_LOSS;
		char text[SMX_TEXT_MAX];
		json_t *object = smxi_json(json_object()), *rows = smxi_json(json_array());
		scaling->game->format(&scaling->positions[i], text);
		smxi_json_set(object, "name", json_string(scaling->names[i]));
		smxi_json_set(object, "position", json_string(text));
		smxi_json_set(object, "raw", answer->has_value ? json_integer(answer->value) : json_null());
		smxi_json_set(object, "turn",
		              has_turn ? json_string(smxi_report_turn(scaling->game, &answer->turn, text)) : json_null());
		smxi_json_set(object, "ties", smxi_json_count(answer->ties));
		smxi_json_set(object, "serial", json_serial(scaling, i));
		for (size_t t = 0; t < scaling->thread_count; t++) {
			json_t *row = smxi_json(json_object());
			smxi_json_set(row, "threads", json_integer(scaling->threads[t]));
			for (unsigned m = 0; m < SMXI_METRICS; m++)
				smxi_json_set(row, smxi_metric_names[m],
				              json_spread(smxi_scaling_spread(scaling, i, t, (enum smxi_metric)m)));
			uint64_t sizes[SMX_TASK_SIZES] = {0};
			smxi_scaling_sizes(scaling, i, t, sizes);
			smxi_json_set(row, "task_sizes", smxi_sharing_json_sizes(sizes));
			smxi_json_append(rows, row);
		}
		smxi_json_set(object, "parallel", rows);
		smxi_json_append(array, object);
	}
	return array;
}

static json_t *json_summary(const struct smxi_scaling *scaling)
{
	json_t *array = smxi_json(json_array());
	for (size_t t = 0; t < scaling->thread_count; t++) {
		json_t *object = smxi_json(json_object());
		smxi_json_set(object, "threads", json_integer(scaling->threads[t]));
		for (size_t m = 0; m < SMXI_SUMMED_UP; m++)
			smxi_json_set(object, smxi_metric_names[smxi_summed_up[m]],
			              json_spread(smxi_scaling_mean(scaling, t, smxi_summed_up[m])));
		smxi_json_set(object, "total_speedup", json_spread(smxi_scaling_total_speedup(scaling, t)));
		smxi_json_set(object, "total_idle_share", json_spread(smxi_scaling_total_idle(scaling, t)));
		smxi_json_append(array, object);
	}
	return array;
}

static json_t *json_build(const struct smxi_scaling *scaling)
{
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "version", json_string(smx_version()));
	smxi_json_set(object, "commit", json_string(scaling->commit));
	smxi_json_set(object, "compiler", json_string(SMXI_COMPILER));
	smxi_json_set(object, "isa", json_string(smx_dicechess_isa()));
	return object;
}

static json_t *json_machine(const struct smx_parallel_machine *machine)
{
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "model", json_string(machine->model));
	smxi_json_set(object, "usable", json_integer(machine->usable));
	smxi_json_set(object, "processors", json_integer(machine->processors));
	smxi_json_set(object, "cores", json_integer(machine->cores));
	smxi_json_set(object, "numa_nodes", json_integer(machine->numa_nodes));
	smxi_json_set(object, "l2_bytes", smxi_json_count(machine->l2_bytes));
	smxi_json_set(object, "l3_bytes", smxi_json_count(machine->l3_bytes));
	smxi_json_set(object, "hwloc", json_string(machine->hwloc));
	smxi_json_set(object, "openmp", json_string(machine->openmp_runtime));
	smxi_json_set(object, "openmp_date", json_integer(machine->openmp_date));
	smxi_json_set(object, "jemalloc", json_string(machine->jemalloc));
	return object;
}

static json_t *json_environment(void)
{
	json_t *object = smxi_json(json_object());
	for (const char *const *name = smxi_scaling_variables; *name; name++) {
		char shown[200];
		const char *value = getenv(*name);
		smxi_json_set(object, *name, value ? json_string(smxi_printable(value, shown, sizeof shown)) : json_null());
	}
	return object;
}

static json_t *json_bound(unsigned threads, const struct smx_parallel_plan *plan)
{
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "threads", json_integer(threads));
	smxi_json_set(object, "bind", json_string(smxi_bind_names[plan->bind]));
	smxi_json_set(object, "unbound", *plan->unbound ? json_string(plan->unbound) : json_null());
	return object;
}

static json_t *json_binding(const struct smxi_scaling *scaling)
{
	json_t *array = smxi_json(json_array());
	smxi_json_append(array, json_bound(0, &scaling->alone));
	for (size_t t = 0; t < scaling->thread_count; t++)
		smxi_json_append(array, json_bound(scaling->threads[t], &scaling->plans[t]));
	return array;
}

void smxi_scaling_print_json(const struct smxi_scaling *scaling)
{
	const struct smx_search_options *options = &scaling->work.options;
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "set", scaling->set ? json_string(scaling->set) : json_null());
	smxi_json_set(object, "depth", json_integer(options->depth_plies));
	smxi_json_set(object, "width", options->width ? smxi_json_count(options->width) : json_null());
	smxi_json_set(object, "evaluator", json_string(options->evaluator->name));
	smxi_json_set(object, "hash_bytes",
	              scaling->work.hash_bytes ? smxi_json_count(scaling->work.hash_bytes) : json_null());
	smxi_json_set(object, "rounds", smxi_json_count(scaling->rounds));
	smxi_json_set(object, "date", json_string(scaling->date));
	smxi_json_set(object, "build", json_build(scaling));
	smxi_json_set(object, "machine", json_machine(&scaling->machine));
	smxi_json_set(object, "environment", json_environment());
	smxi_json_set(object, "bind", json_string(smxi_bind_names[scaling->bind]));
	smxi_json_set(object, "binding", json_binding(scaling));
	smxi_json_set(object, "warm", json_boolean(scaling->work.is_warm));
	smxi_json_set(object, "threads_spin", json_boolean(scaling->spins));
	smxi_json_set(object, "positions", json_positions(scaling));
	smxi_json_set(object, "summary", json_summary(scaling));
	smxi_json_set(object, "differences", json_incref(scaling->differences));
	smxi_json_print(object);
}
