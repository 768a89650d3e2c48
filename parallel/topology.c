/* What hwloc and the system say about the processors. This file and machine.c are the only ones that call hwloc. */
#define _GNU_SOURCE /* sched_getaffinity */

#include "parallel/topology.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef SMXI_HWLOC
#include <hwloc.h>
#endif

#ifdef _OPENMP
#include <omp.h>
#endif

void smxi_topology_free(struct smxi_topology *topology)
{
	free(topology->places);
	topology->places = NULL;
	topology->place_count = 0;
}

#ifdef SMXI_HWLOC

static unsigned count_of(hwloc_topology_t hwloc, hwloc_obj_type_t type)
{
	const int count = hwloc_get_nbobjs_by_type(hwloc, type);
	return count > 0 ? (unsigned)count : 0;
}

/* The first node, by number, that is local to the processor: further ones there hold memory of another kind. */
static unsigned node_of(hwloc_topology_t hwloc, hwloc_obj_t pu)
{
	hwloc_obj_t node = NULL;
	while ((node = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, node))) {
		if (hwloc_bitmap_isset(node->cpuset, pu->os_index))
			return node->logical_index;
	}
	return 0;
}

/* usable NULL: all. */
static enum smx_status list_places(hwloc_topology_t hwloc, hwloc_const_bitmap_t usable, struct smxi_topology *topology)
{
	const unsigned count = count_of(hwloc, HWLOC_OBJ_PU);
	topology->places = calloc(count ? count : 1, sizeof *topology->places);
	if (!topology->places)
		return SMX_ERR_MEMORY;
	topology->processors = count ? count : 1;
	topology->numa_nodes = count_of(hwloc, HWLOC_OBJ_NUMANODE);
	hwloc_obj_t pu = NULL;
	while ((pu = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_PU, pu))) {
		if (usable && !hwloc_bitmap_isset(usable, pu->os_index))
			continue;
		/* Some machines' cores are not known: then each processor is one. */
		hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(hwloc, HWLOC_OBJ_CORE, pu);
		topology->places[topology->place_count++] = (struct smx_parallel_place){
			.pu = pu->os_index,
			.core = core ? core->logical_index : pu->logical_index,
			.numa_node = node_of(hwloc, pu),
		};
	}
	return SMX_OK;
}

enum smx_status smxi_topology_of(const char *description, const char *usable, struct smxi_topology *topology)
{
	/* Nothing is filtered out: without the objects that NUMA nodes hang on, all nodes are local to all processors. */
	hwloc_topology_t hwloc;
	hwloc_bitmap_t mask = NULL;
	if (hwloc_topology_init(&hwloc) != 0)
		return SMX_ERR_MEMORY;
	const int set = *description == '<' ? hwloc_topology_set_xmlbuffer(hwloc, description, (int)strlen(description) + 1)
	                                    : hwloc_topology_set_synthetic(hwloc, description);
	enum smx_status status = set == 0 && hwloc_topology_load(hwloc) == 0 ? SMX_OK : SMX_ERR_PARSE;
	if (status == SMX_OK && usable) {
		mask = hwloc_bitmap_alloc();
		status = !mask ? SMX_ERR_MEMORY : hwloc_bitmap_list_sscanf(mask, usable) == 0 ? SMX_OK : SMX_ERR_PARSE;
	}
	if (status == SMX_OK) {
		*topology = (struct smxi_topology){.has_openmp = true, .threads_most = SMX_PARALLEL_THREADS_MAX};
		status = list_places(hwloc, mask, topology);
		topology->usable = topology->place_count ? topology->place_count : 1;
	}
	hwloc_bitmap_free(mask);
	hwloc_topology_destroy(hwloc);
	return status;
}

/* Of what hwloc would find out: what takes time and nobody here asks for. */
static unsigned long needless(void)
{
	unsigned long flags = 0;
#if HWLOC_API_VERSION >= 0x00020800
	flags |= HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
#endif
	return flags;
}

/* Asking the processors themselves: hwloc moves the calling thread to each in turn, which waits for those that are busy. */
static unsigned long without_asking_processors(void)
{
#if HWLOC_API_VERSION >= 0x00020500
	return HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
#else
	return 0;
#endif
}

/* This machine; false where hwloc cannot read it. Destroy *hwloc if it is not NULL; NULL: no memory. */
static bool load_here(unsigned long flags, hwloc_topology_t *hwloc)
{
	if (hwloc_topology_init(hwloc) != 0) {
		*hwloc = NULL;
		return false;
	}
	hwloc_topology_set_flags(*hwloc, flags | needless());
	return hwloc_topology_load(*hwloc) == 0;
}

/* As load_here. Where the system does not say which processors share a core, they are asked. */
static bool load_machine(hwloc_topology_t *hwloc)
{
	/* The whole machine, so that cores and nodes have the numbers that other programs show; the mask says what is ours. */
	const unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED, quick = without_asking_processors();
	const bool ok = load_here(flags | quick, hwloc);
	if (!ok || !quick || count_of(*hwloc, HWLOC_OBJ_CORE))
		return ok;
	hwloc_topology_destroy(*hwloc);
	return load_here(flags, hwloc);
}

/* mask NULL: the system does not say. */
static enum smx_status ask_hwloc(const cpu_set_t *mask, struct smxi_topology *topology)
{
	hwloc_topology_t hwloc;
	hwloc_bitmap_t usable = hwloc_bitmap_alloc();
	if (!usable)
		return SMX_ERR_MEMORY;
	for (unsigned i = 0; mask && i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, mask))
			hwloc_bitmap_set(usable, i);
	}
	const bool is_read = load_machine(&hwloc);
	enum smx_status status = SMX_OK;
	if (!hwloc)
		status = SMX_ERR_MEMORY;
	else if (!is_read)
		topology->cannot_bind = "hwloc cannot read the machine";
	else if (!hwloc_topology_is_thissystem(hwloc))
		topology->cannot_bind = "hwloc was told about another machine";
	else if (!mask)
		topology->cannot_bind = "the system does not say which processors are usable";
	else
		status = list_places(hwloc, usable, topology);
	if (hwloc)
		hwloc_topology_destroy(hwloc);
	hwloc_bitmap_free(usable);
	return status;
}

bool smxi_interleave(void *start, size_t size_bytes)
{
	hwloc_topology_t hwloc;
	/* without what is disallowed: nodes that this process gets memory from */
	const bool ok =
		load_here(without_asking_processors(), &hwloc) && hwloc_topology_is_thissystem(hwloc) &&
		hwloc_set_area_membind(hwloc, start, size_bytes, hwloc_topology_get_topology_nodeset(hwloc),
	                           HWLOC_MEMBIND_INTERLEAVE, HWLOC_MEMBIND_BYNODESET | HWLOC_MEMBIND_MIGRATE) == 0;
	if (hwloc)
		hwloc_topology_destroy(hwloc);
	return ok;
}

#else

enum smx_status smxi_topology_of(const char *description, const char *usable, struct smxi_topology *topology)
{
	(void)description, (void)usable, (void)topology;
	return SMX_ERR_ARGUMENT;
}

static enum smx_status ask_hwloc(const cpu_set_t *mask, struct smxi_topology *topology)
{
	(void)mask, (void)topology;
	return SMX_OK;
}

bool smxi_interleave(void *start, size_t size_bytes)
{
	(void)start, (void)size_bytes;
	return false;
}

#endif

#ifdef _OPENMP

static bool is_set(const char *name)
{
	const char *value = getenv(name);
	return value && *value;
}

/* Where OpenMP binds its threads: the processors in all places that it has for them. 0: it binds none, or there is no
 * memory to ask. */
static unsigned processors_in_places(void)
{
	cpu_set_t all;
	CPU_ZERO(&all);
	if (omp_get_proc_bind() == omp_proc_bind_false)
		return 0;
	for (int place = omp_get_num_places(); place-- > 0;) {
		const int count = omp_get_place_num_procs(place);
		int *numbers = count > 0 ? calloc((size_t)count, sizeof *numbers) : NULL;
		if (numbers)
			omp_get_place_proc_ids(place, numbers);
		for (int i = 0; numbers && i < count; i++)
			CPU_SET((size_t)numbers[i], &all);
		free(numbers);
	}
	return (unsigned)CPU_COUNT(&all);
}

static void ask_openmp(struct smxi_topology *topology)
{
	static const char *const binders[] = {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
	topology->has_openmp = true;
	topology->threads_most = (unsigned)omp_get_thread_limit();
	if (is_set("OMP_NUM_THREADS"))
		topology->threads_wanted = (unsigned)omp_get_max_threads();
	for (size_t i = sizeof binders / sizeof *binders; i-- > 0;) {
		if (is_set(binders[i]))
			topology->binder = binders[i];
	}
	/* OpenMP may have bound the calling thread already, GNU's even before main: it knows what there was before, and what it
	 * makes use of. */
	const unsigned placed = topology->binder ? processors_in_places() : 0;
	if (topology->binder)
		topology->usable = placed ? placed : (unsigned)omp_get_num_procs();
}

#else

static void ask_openmp(struct smxi_topology *topology)
{
	topology->threads_most = 1;
}

#endif

/* A mask of fixed size holds 1024 processors; larger machines get an error. */
static bool read_mask(cpu_set_t *mask)
{
	return sched_getaffinity(0, sizeof *mask, mask) == 0 && CPU_COUNT(mask) > 0;
}

void smxi_topology_limits(struct smxi_topology *topology)
{
	const long online = sysconf(_SC_NPROCESSORS_ONLN);
	*topology = (struct smxi_topology){.processors = online > 0 ? (unsigned)online : 1, .is_unread = true};
	cpu_set_t mask;
	topology->usable = read_mask(&mask) ? (unsigned)CPU_COUNT(&mask) : topology->processors;
	topology->quota = smxi_quota_here();
#ifndef SMXI_HWLOC
	topology->cannot_bind = "hwloc is not built in";
#endif
	ask_openmp(topology);
}

enum smx_status smxi_topology_here(struct smxi_topology *topology)
{
	cpu_set_t mask;
	smxi_topology_limits(topology);
	topology->is_unread = false;
	return ask_hwloc(read_mask(&mask) ? &mask : NULL, topology);
}
