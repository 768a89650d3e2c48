/* How many threads, and where: on machines that hwloc makes up, and on this one. */
#define _GNU_SOURCE /* sched_getaffinity, mincore */

#include "core/split.h"
#include "parallel/topology.h"

#include <starmax/parallel.h>
#include <starmax/table.h>

#include <criterion/criterion.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool without_hwloc(void)
{
	struct smx_parallel_machine machine;
	smx_parallel_machine(&machine);
	return strcmp(machine.hwloc, "none") == 0;
}

/* False, after checking that it says so, in a library without hwloc. */
static bool make(const char *description, const char *usable, struct smxi_topology *topology)
{
	const enum smx_status status = smxi_topology_of(description, usable, topology);
	if (without_hwloc()) {
		cr_assert_eq(status, SMX_ERR_ARGUMENT);
		return false;
	}
	cr_assert_eq(status, SMX_OK, "hwloc refuses '%s' with '%s'", description, usable ? usable : "all");
	return true;
}

static void plan_for(const struct smxi_topology *topology, unsigned threads, enum smx_parallel_bind bind,
                     struct smx_parallel_plan *plan)
{
	memset(plan, 0xff, sizeof *plan);
	cr_assert_eq(smxi_plan(topology, threads, bind, plan), SMX_OK);
}

/* The processors of a machine in the order in which threads get them, as text. */
static void expect_order(const char *description, const char *usable, enum smx_parallel_bind bind, const char *expected)
{
	struct smxi_topology topology;
	struct smx_parallel_plan plan;
	char order[256] = "";
	if (!make(description, usable, &topology))
		return;
	plan_for(&topology, 0, bind, &plan);
	cr_assert_eq(plan.bind, bind, "not bound: %s", plan.unbound);
	for (unsigned i = 0; i < plan.threads; i++)
		snprintf(order + strlen(order), sizeof order - strlen(order), "%s%u", i ? " " : "", plan.places[i].pu);
	cr_assert_str_eq(order, expected, "%s of %s: %s, not %s", usable ? usable : "all", description, order, expected);
	smxi_topology_free(&topology);
}

/* ---- the quota ---- */

Test(quota, is_read_from_what_the_kernel_writes)
{
	struct smxi_quota quota = {1, 1};
	cr_assert(smxi_quota_parse("max 100000\n", &quota));
	cr_assert_eq(quota.period_us, 0);
	cr_assert_eq(smxi_quota_processors(quota), 0);
	cr_assert(smxi_quota_parse("250000 100000\n", &quota));
	cr_assert(quota.quota_us == 250000 && quota.period_us == 100000);
	cr_assert(smxi_quota_parse("max 100000", &quota));
	cr_assert_eq(quota.period_us, 0);
}

Test(quota, malformed_text_is_refused_and_changes_nothing)
{
	static const char *const texts[] = {
		"",          "\n",         "max",      "max ",           "max 0",     "max x",   "maximum 100000",
		"250000",    "250000 ",    "250000 0", "0 100000",       "-1 100000", " 1 1000", "250000 100000 1",
		"25e4 1000", "1000 1000x", "2.5 1",    "250000\t100000", "1  1",      "x 1",     "9999999999999999999 1",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct smxi_quota quota = {3, 7};
		cr_assert_not(smxi_quota_parse(texts[i], &quota), "'%s' passes", texts[i]);
		cr_assert(quota.quota_us == 3 && quota.period_us == 7, "'%s' changes the quota", texts[i]);
	}
}

Test(quota, is_rounded_up_to_whole_processors)
{
	static const struct {
		struct smxi_quota quota;
		uint64_t processors;
	} cases[] = {
		{{1000, 100000}, 1},   {{100000, 100000}, 1}, {{100001, 100000}, 2},
		{{250000, 100000}, 3}, {{800000, 100000}, 8}, {{UINT64_MAX, 1}, UINT64_MAX},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		cr_assert_eq(smxi_quota_processors(cases[i].quota), cases[i].processors, "case %zu", i);
}

static void write_limit(const char *root, const char *group, const char *text)
{
	char path[300];
	snprintf(path, sizeof path, "%s%s", root, group);
	cr_assert(mkdir(path, 0700) == 0 || !*group);
	if (!text)
		return;
	snprintf(path, sizeof path, "%s%s/cpu.max", root, group);
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

Test(quota, is_the_tightest_of_the_group_and_those_above_it)
{
	static const struct {
		const char *memberships;
		uint64_t quota_us, period_us;
	} cases[] = {
		{"0::/a/b/c\n", 150000, 50000}, /* of c: 3 processors; of b nothing; of a 4 */
		{"0::/a/b\n", 400000, 100000},  /* of a */
		{"0::/a/d\n", 200000, 100000},  /* of d */
		{"0::/a/d", 200000, 100000},    /* without a newline */
		{"0::/a/e\n", 400000, 100000},  /* e's is damaged */
		{"0::/\n", 800000, 100000},     /* of the root, as a container sees its own group */
		{"0::/nowhere\n", 800000, 100000},
		{"0::/../a/d\n", 800000, 100000}, /* outside of what is mounted */
		{"9:cpu,cpuacct:/a/d\n1:name=systemd:/a\n0::/a/b/c\n", 150000, 50000},
		{"9:cpu,cpuacct:/a/d\n1:name=systemd:/a\n", 0, 0}, /* version 1 alone */
		{"", 0, 0},
	};
	char root[] = "/tmp/starmax-cgroup-XXXXXX", command[64];
	cr_assert_not_null(mkdtemp(root));
	write_limit(root, "", "800000 100000\n");
	write_limit(root, "/a", "400000 100000\n");
	write_limit(root, "/a/b", "max 100000\n");
	write_limit(root, "/a/b/c", "150000 50000\n");
	write_limit(root, "/a/d", "200000 100000\n");
	write_limit(root, "/a/e", "lots\n");
	struct smxi_quota found[sizeof cases / sizeof *cases];
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		found[i] = smxi_quota_find(cases[i].memberships, root);
	snprintf(command, sizeof command, "rm -r %s", root);
	cr_assert_eq(system(command), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_assert(found[i].quota_us == cases[i].quota_us && found[i].period_us == cases[i].period_us, "%s",
		          cases[i].memberships);
	}
	const struct smxi_quota nothing = smxi_quota_find("0::/a\n", root);
	cr_assert_eq(nothing.period_us, 0);
}

/* ---- the number of threads ---- */

Test(threads, are_as_many_as_the_usable_processors)
{
	for (unsigned count = 1; count <= 256; count++) {
		struct smxi_topology topology;
		struct smx_parallel_plan plan;
		char description[40], usable[40];
		snprintf(description, sizeof description, "core:%u pu:1", count);
		if (!make(description, NULL, &topology))
			return;
		plan_for(&topology, 0, SMX_BIND_COMPACT, &plan);
		cr_assert(plan.threads == count && plan.usable == count && plan.processors == count, "%s", description);
		smxi_topology_free(&topology);
		/* the upper half of it */
		snprintf(usable, sizeof usable, "%u-%u", count / 2, count - 1);
		make(description, usable, &topology);
		plan_for(&topology, 0, SMX_BIND_COMPACT, &plan);
		cr_assert(plan.threads == count - count / 2 && plan.usable == plan.threads && plan.processors == count,
		          "%s of %s", usable, description);
		smxi_topology_free(&topology);
	}
}

Test(threads, are_limited_in_words)
{
	static const struct {
		unsigned usable, wanted, most, has_openmp;
		struct smxi_quota quota;
		unsigned threads;
		const char *reason;
	} cases[] = {
		{2, 0, 1024, 1, {0, 0}, 2, "2 processors usable, no cgroup quota"},
		{1, 0, 1024, 1, {0, 0}, 1, "1 processor usable, no cgroup quota"},
		{64, 0, 1024, 1, {250000, 100000}, 3, "cpu.max allows 2.5 of 64 processors"},
		{64, 0, 1024, 1, {50000, 100000}, 1, "cpu.max allows 0.5 of 64 processors"},
		{4, 0, 1024, 1, {400000, 100000}, 4, "4 processors usable, cpu.max allows 4"},
		{4, 0, 1024, 1, {350000, 100000}, 4, "4 processors usable, cpu.max allows 3.5"},
		{4, 0, 1024, 1, {6400000, 100000}, 4, "4 processors usable, cpu.max allows 64"},
		{8, 5, 1024, 1, {0, 0}, 5, "OMP_NUM_THREADS is 5; 8 processors usable, no cgroup quota"},
		{8, 9, 1024, 1, {0, 0}, 8, "8 processors usable, no cgroup quota"},
		{8, 5, 3, 1, {0, 0}, 3, "OMP_THREAD_LIMIT is 3; 8 processors usable, no cgroup quota"},
		{8, 0, 3, 1, {200000, 100000}, 2, "cpu.max allows 2 of 8 processors"},
		{8, 0, 1, 0, {0, 0}, 1, "OpenMP is not built in, there is 1; 8 processors usable, no cgroup quota"},
		{2048, 0, 9999, 1, {0, 0}, 1024, "starmax can use 1024; 2048 processors usable, no cgroup quota"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct smxi_topology topology = {
			.processors = cases[i].usable,
			.usable = cases[i].usable,
			.quota = cases[i].quota,
			.has_openmp = cases[i].has_openmp,
			.threads_wanted = cases[i].wanted,
			.threads_most = cases[i].most,
		};
		struct smx_parallel_plan plan;
		plan_for(&topology, 0, SMX_BIND_NONE, &plan);
		cr_assert_eq(plan.threads, cases[i].threads, "case %zu: %u threads", i, plan.threads);
		cr_assert_str_eq(plan.reason, cases[i].reason, "case %zu: %s", i, plan.reason);
	}
}

Test(threads, that_are_asked_for_are_given_or_refused)
{
	const struct smxi_topology topology = {.processors = 2, .usable = 2, .threads_wanted = 1, .threads_most = 8};
	struct smx_parallel_plan plan;
	for (unsigned threads = 1; threads <= 8; threads++) {
		plan_for(&topology, threads, SMX_BIND_NONE, &plan);
		cr_assert_eq(plan.threads, threads);
		cr_assert_str_eq(plan.reason, "asked for; 2 processors usable, no cgroup quota");
	}
	const struct smxi_topology large = {.processors = 2, .usable = 2, .threads_most = 9999};
	cr_assert_eq(smxi_plan(&topology, 9, SMX_BIND_NONE, &plan), SMX_ERR_ARGUMENT);
	cr_assert_eq(smxi_plan(&large, SMX_PARALLEL_THREADS_MAX + 1, SMX_BIND_NONE, &plan), SMX_ERR_ARGUMENT);
	cr_assert_eq(smxi_plan(&large, 2, (enum smx_parallel_bind)(SMX_BIND_SCATTER + 1), &plan), SMX_ERR_ARGUMENT);
}

/* ---- places ---- */

/* How many threads each of `count` cores or nodes has: from the fewest to the most. */
struct spread {
	unsigned used, fewest, most;
};

static struct spread spread_over(const struct smx_parallel_plan *plan, unsigned count, bool nodes)
{
	unsigned threads[256] = {0};
	struct spread spread = {0, UINT_MAX, 0};
	for (unsigned i = 0; i < plan->threads; i++) {
		const unsigned number = nodes ? plan->places[i].numa_node : plan->places[i].core;
		cr_assert_lt(number, count);
		threads[number]++;
	}
	for (unsigned i = 0; i < count; i++) {
		spread.used += threads[i] > 0;
		spread.fewest = threads[i] < spread.fewest ? threads[i] : spread.fewest;
		spread.most = threads[i] > spread.most ? threads[i] : spread.most;
	}
	return spread;
}

static void check_places(const struct smx_parallel_plan *plan, unsigned nodes, unsigned cores, unsigned siblings)
{
	bool taken[256] = {false};
	const unsigned all_cores = nodes * cores, a_core = (plan->threads + all_cores - 1) / all_cores;
	for (unsigned i = 0; i < plan->threads; i++) {
		const struct smx_parallel_place *place = &plan->places[i];
		cr_assert(place->pu < all_cores * siblings && !taken[place->pu]);
		taken[place->pu] = true;
		cr_assert_eq(place->core, place->pu / siblings);
		cr_assert_eq(place->numa_node, place->core / cores);
	}
	const struct spread over_cores = spread_over(plan, all_cores, false);
	cr_assert(over_cores.most == a_core && over_cores.most - over_cores.fewest <= 1,
	          "%u threads: %u to %u a core, of %u", plan->threads, over_cores.fewest, over_cores.most, all_cores);
	const struct spread over_nodes = spread_over(plan, nodes, true);
	if (plan->bind == SMX_BIND_SCATTER)
		cr_assert_leq(over_nodes.most - over_nodes.fewest, 1);
	else if (plan->threads <= all_cores)
		cr_assert_eq(over_nodes.used, (plan->threads + cores - 1) / cores);
}

Test(places, use_every_core_once_before_any_twice_and_nodes_as_asked)
{
	for (unsigned nodes = 1; nodes <= 8; nodes *= 2) {
		for (unsigned cores = 1; cores * nodes <= 128; cores = cores * 2 + 1) {
			for (unsigned siblings = 1; siblings <= 4 && nodes * cores * siblings <= 256; siblings++) {
				struct smxi_topology topology;
				char description[64];
				snprintf(description, sizeof description, "numa:%u core:%u pu:%u", nodes, cores, siblings);
				if (!make(description, NULL, &topology))
					return;
				cr_assert_eq(topology.numa_nodes, nodes);
				for (unsigned threads = 2; threads <= nodes * cores * siblings; threads++) {
					for (unsigned bind = SMX_BIND_COMPACT; bind <= SMX_BIND_SCATTER; bind++) {
						struct smx_parallel_plan plan;
						plan_for(&topology, threads, (enum smx_parallel_bind)bind, &plan);
						cr_assert_eq(plan.bind, bind);
						cr_assert_eq(plan.unbound[0], 0);
						check_places(&plan, nodes, cores, siblings);
					}
				}
				smxi_topology_free(&topology);
			}
		}
	}
}

Test(places, keep_their_order)
{
	expect_order("numa:2 core:2 pu:2", NULL, SMX_BIND_COMPACT, "0 2 4 6 1 3 5 7");
	expect_order("numa:2 core:2 pu:2", NULL, SMX_BIND_SCATTER, "0 4 2 6 1 5 3 7");
	/* numbered as many systems do: first each core's first hardware thread */
	expect_order("numa:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", NULL, SMX_BIND_COMPACT, "0 1 2 3 4 5 6 7");
	expect_order("numa:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)", NULL, SMX_BIND_SCATTER, "0 2 1 3 4 6 5 7");
	/* three levels: nodes within packages */
	expect_order("package:2 numa:2 core:1 pu:1", NULL, SMX_BIND_SCATTER, "0 1 2 3");
}

Test(places, leave_the_holes_of_a_mask_alone)
{
	expect_order("numa:2 core:4 pu:2", "1,4-7,9,12", SMX_BIND_COMPACT, "1 4 6 9 12 5 7");
	expect_order("numa:2 core:4 pu:2", "1,4-7,9,12", SMX_BIND_SCATTER, "1 9 4 12 6 5 7");
	expect_order("numa:2 core:4 pu:2", "14-15", SMX_BIND_COMPACT, "14 15");
	expect_order("core:256 pu:1", "3,77,255", SMX_BIND_COMPACT, "3 77 255");
}

Test(places, go_by_the_first_of_several_nodes_that_are_local)
{
	struct smxi_topology topology;
	struct smx_parallel_plan plan;
	if (!make("package:2 [numa] [numa] core:2 pu:1", NULL, &topology))
		return;
	plan_for(&topology, 0, SMX_BIND_SCATTER, &plan);
	cr_assert_eq(plan.numa_nodes, 4);
	cr_assert(plan.places[0].numa_node == 0 && plan.places[0].pu == 0);
	cr_assert(plan.places[1].numa_node == 2 && plan.places[1].pu == 2);
	smxi_topology_free(&topology);
}

/* Two cores, of which the first has two hardware threads, the second one: hwloc's XML can say what its short form cannot. */
static const char uneven[] =
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology "
	"version=\"2.0\">\n"
	"<object type=\"Machine\" os_index=\"0\" cpuset=\"0x7\" complete_cpuset=\"0x7\" allowed_cpuset=\"0x7\" "
	"nodeset=\"0x1\""
	" complete_nodeset=\"0x1\" allowed_nodeset=\"0x1\" gp_index=\"1\">\n"
	"<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x7\" complete_cpuset=\"0x7\" nodeset=\"0x1\" "
	"complete_nodeset=\"0x1\""
	" gp_index=\"2\"/>\n"
	"<object type=\"Core\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x1\" "
	"complete_nodeset=\"0x1\""
	" gp_index=\"3\">\n"
	"<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\""
	" gp_index=\"4\"/>\n"
	"<object type=\"PU\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" nodeset=\"0x1\" complete_nodeset=\"0x1\""
	" gp_index=\"5\"/>\n</object>\n"
	"<object type=\"Core\" os_index=\"1\" cpuset=\"0x4\" complete_cpuset=\"0x4\" nodeset=\"0x1\" "
	"complete_nodeset=\"0x1\""
	" gp_index=\"6\">\n"
	"<object type=\"PU\" os_index=\"2\" cpuset=\"0x4\" complete_cpuset=\"0x4\" nodeset=\"0x1\" complete_nodeset=\"0x1\""
	" gp_index=\"7\"/>\n</object>\n</object>\n</topology>\n";

Test(places, are_found_on_cores_that_differ)
{
	expect_order(uneven, NULL, SMX_BIND_COMPACT, "0 2 1");
	expect_order(uneven, "0-1", SMX_BIND_SCATTER, "0 1");
}

Test(places, need_a_description_that_hwloc_understands)
{
	static const char *const descriptions[] = {"",          "core",       "core:0 pu:1", "nonsense:2 pu:1",
	                                           "<topology", "<nonsense/>"};
	struct smxi_topology topology;
	const enum smx_status expected = without_hwloc() ? SMX_ERR_ARGUMENT : SMX_ERR_PARSE;
	for (size_t i = 0; i < sizeof descriptions / sizeof *descriptions; i++)
		cr_assert_eq(smxi_topology_of(descriptions[i], NULL, &topology), expected, "'%s'", descriptions[i]);
}

static void expect_unbound(const struct smxi_topology *topology, unsigned threads, enum smx_parallel_bind bind,
                           const char *why)
{
	struct smx_parallel_plan plan;
	plan_for(topology, threads, bind, &plan);
	cr_assert_eq(plan.bind, SMX_BIND_NONE);
	cr_assert_str_eq(plan.unbound, why, "%s, not %s", plan.unbound, why);
}

Test(places, are_left_alone_where_others_decide_or_they_do_not_suffice)
{
	struct smxi_topology topology;
	struct smx_parallel_plan plan;
	if (!make("core:4 pu:1", "0-2", &topology))
		return;
	plan_for(&topology, 3, SMX_BIND_COMPACT, &plan);
	cr_assert_eq(plan.bind, SMX_BIND_COMPACT);
	expect_unbound(&topology, 3, SMX_BIND_NONE, "as asked");
	expect_unbound(&topology, 1, SMX_BIND_COMPACT, "one thread");
	expect_unbound(&topology, 4, SMX_BIND_COMPACT, "more threads than usable processors");
	topology.cannot_bind = "it is Sunday";
	expect_unbound(&topology, 3, SMX_BIND_SCATTER, "it is Sunday");
	topology.binder = "OMP_PLACES";
	expect_unbound(&topology, 3, SMX_BIND_SCATTER, "OMP_PLACES is set, so OpenMP places the threads");
	smxi_topology_free(&topology);
	/* a mask that has none of the machine's processors */
	make("core:4 pu:1", "8", &topology);
	expect_unbound(&topology, 2, SMX_BIND_COMPACT, "more threads than usable processors");
	smxi_topology_free(&topology);
}

Test(places, are_promised_as_they_will_be_before_the_machine_is_read)
{
	struct smxi_topology topology = {
		.processors = 4, .usable = 3, .has_openmp = true, .threads_most = 8, .is_unread = true};
	struct smx_parallel_plan plan;
	plan_for(&topology, 3, SMX_BIND_SCATTER, &plan);
	cr_assert(plan.bind == SMX_BIND_SCATTER && !*plan.unbound && !plan.is_complete);
	expect_unbound(&topology, 3, SMX_BIND_NONE, "as asked");
	expect_unbound(&topology, 1, SMX_BIND_COMPACT, "one thread");
	expect_unbound(&topology, 4, SMX_BIND_COMPACT, "more threads than usable processors");
	topology.cannot_bind = "it is Sunday";
	expect_unbound(&topology, 3, SMX_BIND_COMPACT, "it is Sunday");
}

/* ---- this machine ---- */

Test(here, the_plan_uses_processors_of_the_mask_once_each)
{
	struct smx_parallel_machine machine;
	struct smx_parallel_plan plan;
	cpu_set_t mask;
	smx_parallel_machine(&machine);
	cr_assert_eq(smx_parallel_plan(0, SMX_BIND_COMPACT, &plan), SMX_OK);
	cr_assert(plan.threads >= 1 && plan.threads <= plan.usable);
	cr_assert(plan.usable == machine.usable && plan.processors == machine.processors);
	cr_assert_eq(plan.numa_nodes, machine.numa_nodes);
	cr_assert_eq(plan.bind == SMX_BIND_NONE, plan.unbound[0] != 0);
	cr_assert_eq(sched_getaffinity(0, sizeof mask, &mask), 0);
	for (unsigned i = 0; plan.bind != SMX_BIND_NONE && i < plan.threads; i++) {
		cr_assert(CPU_ISSET(plan.places[i].pu, &mask), "thread %u on processor %u", i, plan.places[i].pu);
		CPU_CLR(plan.places[i].pu, &mask);
	}
}

Test(here, the_environment_keeps_us_from_binding)
{
	static const char *const names[] = {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
	struct smx_parallel_machine machine;
	struct smx_parallel_plan plan;
	smx_parallel_machine(&machine);
	if (!machine.openmp_date)
		return;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		setenv(names[i], "false", 1);
		cr_assert_eq(smx_parallel_plan(2, SMX_BIND_COMPACT, &plan), SMX_OK);
		cr_assert(plan.bind == SMX_BIND_NONE && strstr(plan.unbound, names[i]) == plan.unbound, "%s: %s", names[i],
		          plan.unbound);
		unsetenv(names[i]);
	}
}

struct masks {
	const struct smx_splitter *splitter;
	atomic_uint arrived;
	cpu_set_t of[SMX_PARALLEL_THREADS_MAX];
};

/* Every thread stays until all are there, so each runs this once. */
static void note_mask(void *argument)
{
	struct masks *masks = argument;
	sched_getaffinity(0, sizeof(cpu_set_t), &masks->of[masks->splitter->thread(masks->splitter->context)]);
	atomic_fetch_add(&masks->arrived, 1);
	while (atomic_load(&masks->arrived) < masks->splitter->threads)
		sched_yield();
}

static void note_all(void *argument)
{
	struct masks *masks = argument;
	for (unsigned i = 1; i < masks->splitter->threads; i++)
		masks->splitter->offer(masks->splitter->context, note_mask, masks);
	note_mask(masks);
}

static struct masks *masks_within(const struct smx_parallel *parallel)
{
	struct masks *masks = calloc(1, sizeof *masks);
	cr_assert_not_null(masks);
	masks->splitter = smx_parallel_splitter(parallel);
	masks->splitter->run(masks->splitter->context, note_all, masks);
	return masks;
}

/* Numbers and reasons are the same; where threads are to be bound they are, and their places are known then. */
Test(here, a_plan_without_places_gets_them_when_threads_are_needed)
{
	for (unsigned threads = 0; threads < 2; threads++) {
		for (unsigned bind = SMX_BIND_NONE; bind <= SMX_BIND_SCATTER; bind++) {
			struct smx_parallel_plan early, late;
			struct smx_parallel *parallel;
			cr_assert_eq(smx_parallel_plan(threads, (enum smx_parallel_bind)bind, &early), SMX_OK);
			cr_assert_eq(smx_parallel_plan_threads(threads, (enum smx_parallel_bind)bind, &late), SMX_OK);
			cr_assert(early.is_complete && !late.is_complete && late.numa_nodes == 0);
			cr_assert(late.threads == early.threads && late.usable == early.usable && late.quota == early.quota);
			cr_assert(late.bind == early.bind, "bind %u: %u, not %u", bind, late.bind, early.bind);
			cr_assert_str_eq(late.reason, early.reason);
			cr_assert_str_eq(late.unbound, early.unbound);
			cr_assert_eq(smx_parallel_create_planned(&late, &parallel), SMX_OK);
			cr_assert_not(smx_parallel_plan_of(parallel)->is_complete);
			free(masks_within(parallel));
			const struct smx_parallel_plan *complete = smx_parallel_plan_of(parallel);
			cr_assert_eq(complete->is_complete, early.bind != SMX_BIND_NONE);
			if (complete->is_complete) {
				cr_assert(complete->processors == early.processors && complete->numa_nodes == early.numa_nodes);
				cr_assert(complete->bind == early.bind && !*complete->unbound);
				cr_assert_str_eq(complete->reason, early.reason);
				cr_assert_arr_eq(complete->places, early.places, early.threads * sizeof *early.places);
			}
			smx_parallel_destroy(parallel);
		}
	}
	cr_assert_null(smx_parallel_plan_of(NULL));
}

Test(here, threads_are_bound_while_they_search_and_free_afterwards, .timeout = 120)
{
	struct smx_parallel_plan plan;
	struct smx_parallel *bound, *unbound;
	cpu_set_t before, after;
	cr_assert_eq(smx_parallel_plan(0, SMX_BIND_COMPACT, &plan), SMX_OK);
	cr_assert_eq(smx_parallel_create_planned(&plan, &bound), SMX_OK);
	cr_assert_eq(smx_parallel_create(plan.threads, &unbound), SMX_OK);
	cr_assert_eq(smx_parallel_splitter(bound)->threads, plan.threads);
	sched_getaffinity(0, sizeof before, &before);
	for (int round = 0; round < 3; round++) {
		struct masks *masks = masks_within(bound);
		for (unsigned i = 0; i < plan.threads; i++) {
			if (plan.bind == SMX_BIND_NONE)
				cr_assert(CPU_EQUAL(&masks->of[i], &before));
			else
				cr_assert(CPU_COUNT(&masks->of[i]) == 1 && CPU_ISSET(plan.places[i].pu, &masks->of[i]),
				          "round %d: thread %u is not on processor %u", round, i, plan.places[i].pu);
		}
		free(masks);
		sched_getaffinity(0, sizeof after, &after);
		cr_assert(CPU_EQUAL(&before, &after), "the caller is bound after round %d", round);
		masks = masks_within(unbound);
		for (unsigned i = 0; i < plan.threads; i++)
			cr_assert(CPU_EQUAL(&masks->of[i], &before), "thread %u is bound after round %d", i, round);
		free(masks);
	}
	smx_parallel_destroy(bound);
	smx_parallel_destroy(unbound);
}

Test(here, touching_takes_all_pages_and_changes_none)
{
	enum { BYTES = 8 << 20, PATTERN = 1 << 20 };
	struct smx_parallel_machine machine;
	struct smx_parallel_plan plan;
	struct smx_parallel *parallel;
	smx_parallel_machine(&machine);
	cr_assert_eq(smx_parallel_plan(0, SMX_BIND_NONE, &plan), SMX_OK);
	cr_assert_eq(smx_parallel_create_planned(&plan, &parallel), SMX_OK);
	unsigned char *area = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(area, MAP_FAILED);
	memset(area, 0xa5, PATTERN);
	smxi_touch(parallel, area, BYTES - 1);
	static unsigned char resident[BYTES / 4096];
	if (machine.openmp_date && mincore(area, BYTES, resident) == 0) {
		for (size_t i = 0; i < BYTES / (size_t)sysconf(_SC_PAGESIZE); i++)
			cr_assert(resident[i] & 1, "page %zu is not taken", i);
	}
	for (size_t i = 0; i < BYTES; i++)
		cr_assert_eq(area[i], i < PATTERN ? 0xa5 : 0);
	munmap(area, BYTES);
	smx_parallel_destroy(parallel);
}

static void note_area(void *context, void *start, size_t size_bytes)
{
	cr_assert_not_null(start);
	*(size_t *)context = size_bytes;
}

Test(here, a_table_is_placed_where_it_is_large_and_there_are_several_nodes)
{
	struct smx_parallel_machine machine;
	struct smx_parallel *one_node, *two_nodes, *unplanned;
	struct smx_parallel_plan plan;
	struct smx_table *small, *large;
	size_t size = 0;
	smx_parallel_machine(&machine);
	const unsigned threads = machine.openmp_date ? 2 : 1;
	cr_assert_eq(smx_parallel_plan(threads, SMX_BIND_NONE, &plan), SMX_OK);
	plan.numa_nodes = 1;
	cr_assert_eq(smx_parallel_create_planned(&plan, &one_node), SMX_OK);
	plan.numa_nodes = 2; /* whatever there is; spreading over one node is no error, but some systems forbid it all */
	cr_assert_eq(smx_parallel_create_planned(&plan, &two_nodes), SMX_OK);
	cr_assert_eq(smx_parallel_create(threads, &unplanned), SMX_OK);
	cr_assert_eq(smx_table_create((64 << 20) - 64, &small, NULL), SMX_OK);
	cr_assert_eq(smx_table_create(64 << 20, &large, NULL), SMX_OK);
	smx_table_place(small, note_area, &size);
	cr_assert_eq(size, (64 << 20) - 64);
	cr_assert_not(smx_parallel_place_table(one_node, large));
	cr_assert_not(smx_parallel_place_table(unplanned, large));
	cr_assert_not(smx_parallel_place_table(NULL, large));
	cr_assert_not(smx_parallel_place_table(two_nodes, small));
	const bool is_spread = smx_parallel_place_table(two_nodes, large);
	cr_assert(!is_spread || (plan.threads > 1 && !without_hwloc()));
	cr_assert_eq(smx_table_usage(large).used_permille, 0);
	smx_table_destroy(small);
	smx_table_destroy(large);
	smx_parallel_destroy(one_node);
	smx_parallel_destroy(two_nodes);
	smx_parallel_destroy(unplanned);
}
