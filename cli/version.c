/* starmax version: what this program is made of and what it runs on. */
#include "cli/command.h"

#include <starmax/parallel.h>

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

static void print_machine(void)
{
	struct smx_parallel_machine machine;
	smx_parallel_machine(&machine);
	printf("jemalloc         %s\n", machine.jemalloc);
	printf("hwloc            %s\n", machine.hwloc);
	printf("OpenMP           %s", machine.openmp_runtime);
	if (machine.openmp_date)
		printf(" (%u)", machine.openmp_date);
	printf("\nprocessor        %s\n", machine.model);
	printf("usable           %u of %u hardware threads", machine.usable, machine.processors);
	if (machine.cores)
		printf(", %u cores", machine.cores);
	if (machine.numa_nodes)
		printf(", %u NUMA nodes", machine.numa_nodes);
	putchar('\n');
	if (machine.l2_bytes || machine.l3_bytes)
		printf("caches           L2 %zu KiB, L3 %zu KiB\n", machine.l2_bytes / 1024, machine.l3_bytes / 1024);
}

static enum smxi_exit run(const struct smxi_call *call)
{
	if (!smxi_no_words(call))
		return SMXI_EXIT_USAGE;
	printf("starmax %s\n", SMX_VERSION);
	if (strcmp(SMX_VERSION, smx_version()))
		printf("libstarmax       %s\n", smx_version());
	printf("compiler         %s\n", COMPILER);
	printf("instruction set  %s; usable here:", smx_dicechess_isa());
	for (const char *const *name = smx_dicechess_isa_names(); *name; name++)
		printf(" %s", *name);
	printf("\njansson          %s\n", jansson_version_str());
	print_machine();
	return SMXI_EXIT_OK;
}

const struct smxi_command smxi_version_command = {
	.name = "version",
	.summary = "show the version, the libraries and the processor",
	.run = run,
};
