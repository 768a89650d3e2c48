/* What a plan is made from: a description of the machine, of this one or of any that hwloc can be told about. */
#ifndef SMXI_PARALLEL_TOPOLOGY_H
#define SMXI_PARALLEL_TOPOLOGY_H

#include "parallel/cgroup.h"

#include <starmax/parallel.h>
#include <starmax/status.h>

#include <stdbool.h>
#include <stddef.h>

struct smxi_topology {
	unsigned processors; /* of the machine; at least 1 */
	unsigned numa_nodes; /* that have memory; 0: not known */
	unsigned usable;     /* processors that this process may run on; at least 1 */

	/* The usable processors that are known one by one: numbers of cores and NUMA nodes count those of the machine.
	 * In the machine's order, neighbours beside each other. Empty where cannot_bind says why. */
	struct smx_parallel_place *places;
	unsigned place_count;

	struct smxi_quota quota;
	bool has_openmp;
	unsigned threads_most;   /* that can run; 1 without OpenMP */
	unsigned threads_wanted; /* what OMP_NUM_THREADS says; 0: nothing */
	const char *binder;      /* the environment variable by which OpenMP binds its threads; NULL: none */
	const char *cannot_bind; /* why no thread can be bound here; NULL: it can */
	bool is_unread; /* of smxi_topology_limits: numa_nodes is 0 and places is empty because hwloc was not asked */
};

/* This machine, as the calling thread may use it. SMX_OK or SMX_ERR_MEMORY. Free with smxi_topology_free. */
enum smx_status smxi_topology_here(struct smxi_topology *topology);

/* Likewise without asking hwloc, which takes most of the time: what limits the number of threads. Nothing to free. */
void smxi_topology_limits(struct smxi_topology *topology);

/* A machine from hwloc's synthetic description ("numa:2 core:4 pu:2"), or from its XML, without the quota and with no
 * limit by OpenMP: these are set afterwards. `usable` lists the usable processors ("0-3,8"); NULL: all. SMX_OK,
 * SMX_ERR_PARSE: hwloc does not understand it, SMX_ERR_ARGUMENT: hwloc is not built in, SMX_ERR_MEMORY. */
enum smx_status smxi_topology_of(const char *description, const char *usable, struct smxi_topology *topology);

void smxi_topology_free(struct smxi_topology *topology);

/* The plan for that machine; a function of its arguments alone. As smx_parallel_plan. */
enum smx_status smxi_plan(const struct smxi_topology *topology, unsigned threads, enum smx_parallel_bind bind,
                          struct smx_parallel_plan *plan);

/* Read the machine for a plan that lacks its places. Number of threads and reason stay. Where there is no memory the
 * threads are not bound. */
void smxi_plan_complete(struct smx_parallel_plan *plan);

/* Spread the pages of a memory area over all NUMA nodes, also those that are taken already. False where that cannot be
 * done. */
bool smxi_interleave(void *start, size_t size_bytes);

/* Have all threads take the pages of a memory area, each its part. What is in them stays. */
void smxi_touch(const struct smx_parallel *parallel, void *start, size_t size_bytes);

#endif
