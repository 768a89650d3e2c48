/* Facts about the machine, for reports and benchmark files. This file and topology.c are the only ones that
 * call hwloc. */
#define _GNU_SOURCE /* dlsym's RTLD_DEFAULT */

#include <starmax/parallel.h>

#include "chunks.h"
#include "parallel/topology.h"

#include <stdio.h>
#include <string.h>

#ifdef SMXI_HWLOC
#include <hwloc.h>
#endif

#ifdef _OPENMP
#include <dlfcn.h>
#include <omp.h>
#endif

#ifdef SMXI_HWLOC

static unsigned count_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
	int count = hwloc_get_nbobjs_by_type(topology, type);
	return count > 0 ? (unsigned)count : 0;
}

static size_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t type)
{
	hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
	return cache ? (size_t)cache->attr->cache.size : 0;
}

static void ask_hwloc(struct smx_parallel_machine *machine)
{
	snprintf(machine->hwloc, sizeof(machine->hwloc), "%s", HWLOC_VERSION);

	hwloc_topology_t topology;
	if (hwloc_topology_init(&topology) != 0)
		return;
	/* The machine, not what a container lets us use of it: `usable` tells that. */
	hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	if (hwloc_topology_load(topology) == 0) {
		unsigned processors = count_of(topology, HWLOC_OBJ_PU);
		if (processors)
			machine->processors = processors;
		machine->packages = count_of(topology, HWLOC_OBJ_PACKAGE);
		machine->cores = count_of(topology, HWLOC_OBJ_CORE);
		machine->numa_nodes = count_of(topology, HWLOC_OBJ_NUMANODE);
		machine->l1_bytes = cache_bytes(topology, HWLOC_OBJ_L1CACHE);
		machine->l2_bytes = cache_bytes(topology, HWLOC_OBJ_L2CACHE);
		machine->l3_bytes = cache_bytes(topology, HWLOC_OBJ_L3CACHE);
		machine->l1_count = count_of(topology, HWLOC_OBJ_L1CACHE);
		machine->l2_count = count_of(topology, HWLOC_OBJ_L2CACHE);
		machine->l3_count = count_of(topology, HWLOC_OBJ_L3CACHE);
		hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
		const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
		if (model) {
			/* Some processors pad their names with spaces. */
			size_t length = strlen(model);
			while (length > 0 && model[length - 1] == ' ')
				length--;
			if (length > 0)
				snprintf(machine->model, sizeof(machine->model), "%.*s", (int)length, model);
		}
	}
	hwloc_topology_destroy(topology);
}

#endif

#ifdef _OPENMP

static void ask_openmp(struct smx_parallel_machine *machine)
{
	machine->openmp_date = _OPENMP;
	/* Asked of the running program, because LLVM's runtime can stand in for GNU's. The call keeps a linker that drops
	 * unneeded libraries from dropping the runtime. */
	const char *name = "unknown";
	if (omp_get_max_threads() > 0 && dlsym(RTLD_DEFAULT, "__kmpc_global_thread_num"))
		name = "LLVM libomp";
	else if (dlsym(RTLD_DEFAULT, "GOMP_parallel"))
		name = "GNU libgomp";
	snprintf(machine->openmp_runtime, sizeof(machine->openmp_runtime), "%s", name);
}

#endif

void smx_parallel_machine(struct smx_parallel_machine *machine)
{
	memset(machine, 0, sizeof(*machine));
	strcpy(machine->model, "unknown");
	strcpy(machine->hwloc, "none");
	strcpy(machine->openmp_runtime, "none");

	struct smxi_topology topology;
	smxi_topology_limits(&topology);
	machine->processors = topology.processors;
	machine->usable = topology.usable;
#ifdef SMXI_HWLOC
	ask_hwloc(machine);
#endif
#ifdef _OPENMP
	ask_openmp(machine);
#endif
	smxi_parallel_jemalloc_version(machine->jemalloc, sizeof(machine->jemalloc));
}
