/* How many threads, and which runs where. */
#include "parallel/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned least(unsigned a, uint64_t b)
{
	return a < b ? a : (unsigned)b;
}

/* What limits the threads of a program that wants as many as it can use. */
static void describe_limits(const struct smxi_topology *topology, char *text, size_t size)
{
	const uint64_t allowed = smxi_quota_processors(topology->quota);
	const char *plural = topology->usable == 1 ? "" : "s";
	const double quota = allowed ? (double)topology->quota.quota_us / (double)topology->quota.period_us : 0;
	if (!allowed)
		snprintf(text, size, "%u processor%s usable, no cgroup quota", topology->usable, plural);
	else if (allowed < topology->usable)
		snprintf(text, size, "cpu.max allows %.4g of %u processors", quota, topology->usable);
	else
		snprintf(text, size, "%u processor%s usable, cpu.max allows %.4g", topology->usable, plural, quota);
}

/* Sets the threads and the reason. */
static void decide_threads(const struct smxi_topology *topology, struct smx_parallel_plan *plan)
{
	const uint64_t allowed = smxi_quota_processors(topology->quota);
	char limits[96];
	describe_limits(topology, limits, sizeof limits);
	plan->threads = allowed ? least(topology->usable, allowed) : topology->usable;
	const struct {
		unsigned most;
		const char *name;
	} further[] = {
		{topology->threads_wanted ? topology->threads_wanted : plan->threads, "OMP_NUM_THREADS is"},
		{topology->threads_most, topology->has_openmp ? "OMP_THREAD_LIMIT is" : "OpenMP is not built in, there is"},
		{SMX_PARALLEL_THREADS_MAX, "starmax can use"},
	};
	const char *name = NULL;
	for (size_t i = 0; i < sizeof further / sizeof *further; i++) {
		if (further[i].most < plan->threads) {
			plan->threads = further[i].most;
			name = further[i].name;
		}
	}
	if (name)
		snprintf(plan->reason, sizeof plan->reason, "%s %u; %s", name, plan->threads, limits);
	else
		snprintf(plan->reason, sizeof plan->reason, "%s", limits);
}

/* A usable processor and its turn in the order of binding. */
struct seat {
	unsigned sibling;   /* usable processors of its core before it */
	unsigned companion; /* of its node, those with the same `sibling` before it */
	unsigned number;    /* its place in the machine */
	struct smx_parallel_place place;
};

static int by_number(unsigned a, unsigned b)
{
	return (a > b) - (a < b);
}

/* One thread a core before any core gets a second, whatever its node: two threads of one core share its units, two
 * nodes only the way to memory. */
static int compactly(const void *a, const void *b)
{
	const struct seat *left = a, *right = b;
	if (left->sibling != right->sibling)
		return by_number(left->sibling, right->sibling);
	if (left->place.numa_node != right->place.numa_node)
		return by_number(left->place.numa_node, right->place.numa_node);
	return by_number(left->number, right->number);
}

static int scattered(const void *a, const void *b)
{
	const struct seat *left = a, *right = b;
	if (left->sibling != right->sibling)
		return by_number(left->sibling, right->sibling);
	if (left->companion != right->companion)
		return by_number(left->companion, right->companion);
	return by_number(left->place.numa_node, right->place.numa_node);
}

static enum smx_status assign_places(const struct smxi_topology *topology, struct smx_parallel_plan *plan)
{
	const unsigned count = topology->place_count;
	struct seat *seats = calloc(count, sizeof *seats);
	if (!seats)
		return SMX_ERR_MEMORY;
	for (unsigned i = 0; i < count; i++) {
		seats[i] = (struct seat){.number = i, .place = topology->places[i]};
		/* a core's processors are neighbours */
		if (i && seats[i - 1].place.core == seats[i].place.core)
			seats[i].sibling = seats[i - 1].sibling + 1;
	}
	qsort(seats, count, sizeof *seats, compactly);
	for (unsigned i = 1; i < count; i++) {
		if (seats[i - 1].sibling == seats[i].sibling && seats[i - 1].place.numa_node == seats[i].place.numa_node)
			seats[i].companion = seats[i - 1].companion + 1;
	}
	if (plan->bind == SMX_BIND_SCATTER)
		qsort(seats, count, sizeof *seats, scattered);
	for (unsigned i = 0; i < plan->threads; i++)
		plan->places[i] = seats[i].place;
	free(seats);
	return SMX_OK;
}

/* NULL: the threads can be bound. */
static const char *why_unbound(const struct smxi_topology *topology, const struct smx_parallel_plan *plan)
{
	if (plan->bind == SMX_BIND_NONE)
		return "as asked";
	if (plan->threads == 1)
		return "one thread";
	if (topology->binder)
		return topology->binder;
	if (topology->cannot_bind)
		return topology->cannot_bind;
	return plan->threads > (topology->is_unread ? topology->usable : topology->place_count)
	           ? "more threads than usable processors"
	           : NULL;
}

/* Where the threads go, as far as it is known, or why they are not bound. */
static enum smx_status place_threads(const struct smxi_topology *topology, struct smx_parallel_plan *plan)
{
	plan->processors = topology->processors;
	plan->numa_nodes = topology->numa_nodes;
	plan->is_complete = !topology->is_unread;
	const char *unbound = why_unbound(topology, plan);
	if (!unbound)
		return topology->is_unread ? SMX_OK : assign_places(topology, plan);
	plan->bind = SMX_BIND_NONE;
	snprintf(plan->unbound, sizeof plan->unbound, "%s%s", unbound,
	         unbound == topology->binder ? " is set, so OpenMP places the threads" : "");
	return SMX_OK;
}

enum smx_status smxi_plan(const struct smxi_topology *topology, unsigned threads, enum smx_parallel_bind bind,
                          struct smx_parallel_plan *plan)
{
	if (threads > SMX_PARALLEL_THREADS_MAX || threads > topology->threads_most || bind > SMX_BIND_SCATTER)
		return SMX_ERR_ARGUMENT;
	memset(plan, 0, sizeof *plan);
	plan->usable = topology->usable;
	if (topology->quota.period_us)
		plan->quota = (double)topology->quota.quota_us / (double)topology->quota.period_us;
	decide_threads(topology, plan);
	if (threads) {
		char limits[96];
		describe_limits(topology, limits, sizeof limits);
		plan->threads = threads;
		snprintf(plan->reason, sizeof plan->reason, "asked for; %s", limits);
	}
	plan->bind = bind;
	return place_threads(topology, plan);
}

void smxi_plan_complete(struct smx_parallel_plan *plan)
{
	struct smxi_topology topology;
	enum smx_status status = smxi_topology_here(&topology);
	if (status == SMX_OK && plan->bind != SMX_BIND_NONE) {
		status = place_threads(&topology, plan);
	} else if (status == SMX_OK) { /* why they are not bound is known already */
		plan->processors = topology.processors;
		plan->numa_nodes = topology.numa_nodes;
	}
	if (status != SMX_OK) {
		plan->bind = SMX_BIND_NONE;
		snprintf(plan->unbound, sizeof plan->unbound, "no memory to read the machine");
	}
	plan->is_complete = true;
	smxi_topology_free(&topology);
}

enum smx_status smx_parallel_plan(unsigned threads, enum smx_parallel_bind bind, struct smx_parallel_plan *plan)
{
	struct smxi_topology topology;
	enum smx_status status = smxi_topology_here(&topology);
	if (status == SMX_OK)
		status = smxi_plan(&topology, threads, bind, plan);
	smxi_topology_free(&topology);
	return status;
}

enum smx_status smx_parallel_plan_threads(unsigned threads, enum smx_parallel_bind bind, struct smx_parallel_plan *plan)
{
	struct smxi_topology topology;
	smxi_topology_limits(&topology);
	return smxi_plan(&topology, threads, bind, plan);
}
