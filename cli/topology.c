/* starmax topology: what the machine is made of, and how many threads a search would have on it, and where. */
#include "cli/command.h"
#include "cli/engine.h"
#include "cli/report.h"

#include <stdio.h>

struct topology_settings {
	bool json;
	uint64_t threads; /* 0: auto */
	unsigned bind;
};

static const struct topology_settings defaults = {.bind = SMX_BIND_COMPACT};

static const struct smxi_option topology_options[] = {
	SMXI_FLAG(struct topology_settings, json, "json", "the same as one line of JSON"),
	SMXI_NUMBER(struct topology_settings, threads, "threads", 1, SMX_PARALLEL_THREADS_MAX, "auto",
                "threads to place, auto: as many as can be kept busy"),
	SMXI_CHOICE(struct topology_settings, bind, "bind", smxi_bind_names, "how they are bound to processors"),
	SMXI_NO_MORE_OPTIONS,
};

struct cache {
	unsigned level, count;
	size_t size_bytes;
};

enum { CACHES = 3 };

static void list_caches(const struct smx_parallel_machine *machine, struct cache caches[CACHES])
{
	caches[0] = (struct cache){1, machine->l1_count, machine->l1_bytes};
	caches[1] = (struct cache){2, machine->l2_count, machine->l2_bytes};
	caches[2] = (struct cache){3, machine->l3_count, machine->l3_bytes};
}

static json_t *known(unsigned number)
{
	return number ? json_integer(number) : json_null();
}

static json_t *json_caches(const struct smx_parallel_machine *machine)
{
	struct cache caches[CACHES];
	json_t *array = smxi_json(json_array());
	list_caches(machine, caches);
	for (unsigned i = 0; i < CACHES; i++) {
		if (!caches[i].count)
			continue;
		json_t *object = smxi_json(json_object());
		smxi_json_set(object, "level", json_integer(caches[i].level));
		smxi_json_set(object, "size_bytes", smxi_json_count(caches[i].size_bytes));
		smxi_json_set(object, "count", json_integer(caches[i].count));
		smxi_json_append(array, object);
	}
	return array;
}

static json_t *json_places(const struct smx_parallel_plan *plan)
{
	json_t *array = smxi_json(json_array());
	for (unsigned i = 0; plan->bind != SMX_BIND_NONE && i < plan->threads; i++) {
		json_t *object = smxi_json(json_object());
		smxi_json_set(object, "thread", json_integer(i));
		smxi_json_set(object, "pu", json_integer(plan->places[i].pu));
		smxi_json_set(object, "core", json_integer(plan->places[i].core));
		smxi_json_set(object, "numa_node", json_integer(plan->places[i].numa_node));
		smxi_json_append(array, object);
	}
	return array;
}

static void print_json(const struct smx_parallel_machine *machine, const struct smx_parallel_plan *plan)
{
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "model", json_string(machine->model));
	smxi_json_set(object, "packages", known(machine->packages));
	smxi_json_set(object, "numa_nodes", known(machine->numa_nodes));
	smxi_json_set(object, "cores", known(machine->cores));
	smxi_json_set(object, "pus", json_integer(machine->processors));
	smxi_json_set(object, "caches", json_caches(machine));
	smxi_json_set(object, "usable", json_integer(plan->usable));
	smxi_json_set(object, "quota", plan->quota > 0 ? json_real(plan->quota) : json_null());
	smxi_json_set(object, "hwloc", json_string(machine->hwloc));
	smxi_json_set(object, "openmp_runtime", json_string(machine->openmp_runtime));
	smxi_json_set(object, "openmp_date", known(machine->openmp_date));
	smxi_json_set(object, "threads", json_integer(plan->threads));
	smxi_json_set(object, "reason", json_string(plan->reason));
	smxi_json_set(object, "bind", json_string(smxi_bind_names[plan->bind]));
	smxi_json_set(object, "unbound", *plan->unbound ? json_string(plan->unbound) : json_null());
	smxi_json_set(object, "places", json_places(plan));
	smxi_json_print(object);
}

static void print_number(const char *label, unsigned number)
{
	if (number)
		printf("%-17s%u\n", label, number);
	else
		printf("%-17snot known\n", label);
}

static void print_machine(const struct smx_parallel_machine *machine, const struct smx_parallel_plan *plan)
{
	struct cache caches[CACHES];
	const char *between = "caches           ";
	printf("processor        %s\n", machine->model);
	print_number("packages", machine->packages);
	print_number("NUMA nodes", machine->numa_nodes);
	print_number("cores", machine->cores);
	printf("hardware threads %u, usable %u\n", machine->processors, plan->usable);
	list_caches(machine, caches);
	for (unsigned i = 0; i < CACHES; i++) {
		if (!caches[i].count)
			continue;
		printf("%s%u x L%u of %zu KiB", between, caches[i].count, caches[i].level, caches[i].size_bytes / 1024);
		between = ", ";
	}
	if (*between == ',')
		putchar('\n');
	if (plan->quota > 0)
		printf("cgroup quota     %.4g processors\n", plan->quota);
	else
		puts("cgroup quota     none");
	printf("hwloc            %s\n", machine->hwloc);
	printf("OpenMP           %s", machine->openmp_runtime);
	if (machine->openmp_date)
		printf(" (%u)", machine->openmp_date);
	putchar('\n');
}

static void print_plan(const struct smx_parallel_plan *plan)
{
	static const struct smxi_column columns[] = {
		{"thread", true},
		{"PU", true},
		{"core", true},
		{"NUMA node", true},
	};
	printf("\nthreads          %u: %s\n", plan->threads, plan->reason);
	if (plan->bind == SMX_BIND_NONE) {
		printf("binding          none: %s\n", plan->unbound);
		return;
	}
	printf("binding          %s\n\n", smxi_bind_names[plan->bind]);
	struct smxi_table table = smxi_table(columns, sizeof columns / sizeof columns[0]);
	for (unsigned i = 0; i < plan->threads; i++) {
		const unsigned numbers[] = {i, plan->places[i].pu, plan->places[i].core, plan->places[i].numa_node};
		for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
			char text[16];
			snprintf(text, sizeof text, "%u", numbers[j]);
			smxi_table_add(&table, text);
		}
	}
	smxi_table_print(&table);
}

static enum smxi_exit run(const struct smxi_call *call)
{
	const struct topology_settings *settings = call->settings;
	struct smx_parallel_machine machine;
	struct smx_parallel_plan plan;
	if (!smxi_no_words(call) ||
	    !smxi_engine_plan((unsigned)settings->threads, (enum smx_parallel_bind)settings->bind, &plan))
		return SMXI_EXIT_USAGE;
	smx_parallel_machine(&machine);
	if (settings->json) {
		print_json(&machine, &plan);
	} else {
		print_machine(&machine, &plan);
		print_plan(&plan);
	}
	return SMXI_EXIT_OK;
}

const struct smxi_command smxi_topology_command = {
	.name = "topology",
	.summary = "show the machine, and how many threads a search would have and where",
	.details =
		"As many threads can be kept busy as there are processors that this process may run on, or fewer where its\n"
		"control group's quota (cgroup v2, cpu.max) says so, rounded up; OMP_NUM_THREADS and OMP_THREAD_LIMIT set an\n"
		"upper limit. compact fills the cores of one NUMA node, then the next; scatter lets the nodes take turns; a\n"
		"core gets a second thread only when every core has one. Threads are left to OpenMP where OMP_PLACES,\n"
		"OMP_PROC_BIND, GOMP_CPU_AFFINITY or KMP_AFFINITY is set, and are not bound where there are more of them than\n"
		"usable processors. Searches that run side by side should not be bound: they would share the same processors.\n"
		"STARMAX_THREADS, which sets what starmax analyze takes unasked, does not count here.",
	.options = topology_options,
	.defaults = &defaults,
	.settings_size = sizeof defaults,
	.run = run,
};
