/* The choice of instruction set. */
#include "games/dicechess/isa.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

extern const struct smxi_dc_kernel smxi_dc_kernel_generic;
#ifdef SMXI_ISA_LIST_X86
extern const struct smxi_dc_kernel smxi_dc_kernel_v2, smxi_dc_kernel_v3, smxi_dc_kernel_v4;
#endif

struct variant {
	const char *name;
	const struct smxi_dc_kernel *kernel;
};

static const struct variant variants[] = {
	{"generic", &smxi_dc_kernel_generic},
#ifdef SMXI_ISA_LIST_X86
	{"x86-64-v2", &smxi_dc_kernel_v2},
	{"x86-64-v3", &smxi_dc_kernel_v3},
	{"x86-64-v4", &smxi_dc_kernel_v4},
#endif
};

enum { VARIANTS = sizeof variants / sizeof variants[0] };

static _Atomic(const struct variant *) in_use;

static bool usable(const struct variant *variant)
{
#ifdef SMXI_ISA_LIST_X86
	/* feature by feature: clang 14 does not know the levels' own names */
	__builtin_cpu_init();
	const bool v2 =
		__builtin_cpu_supports("popcnt") && __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("ssse3");
	const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	                __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
	const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	                __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
	                __builtin_cpu_supports("avx512vl");
	if (variant->kernel == &smxi_dc_kernel_v2)
		return v2;
	if (variant->kernel == &smxi_dc_kernel_v3)
		return v3;
	if (variant->kernel == &smxi_dc_kernel_v4)
		return v4;
#endif
	return variant->kernel == &smxi_dc_kernel_generic;
}

static const struct variant *chosen(void)
{
	const struct variant *variant = atomic_load_explicit(&in_use, memory_order_relaxed);
	if (variant)
		return variant;
	for (unsigned i = VARIANTS; i-- > 0;)
		if (usable(&variants[i])) {
			variant = &variants[i];
			break;
		}
	atomic_store_explicit(&in_use, variant, memory_order_relaxed);
	return variant;
}

const struct smxi_dc_kernel *smxi_dc_kernel(void)
{
	smxi_dc_init();
	return chosen()->kernel;
}

const char *smx_dicechess_isa(void)
{
	return chosen()->name;
}

const char *const *smx_dicechess_isa_names(void)
{
	static _Thread_local const char *names[VARIANTS + 1];
	unsigned count = 0;
	for (unsigned i = 0; i < VARIANTS; i++)
		if (usable(&variants[i]))
			names[count++] = variants[i].name;
	names[count] = NULL;
	return names;
}

enum smx_status smx_dicechess_isa_use(const char *name, struct smx_error *error)
{
	for (unsigned i = 0; i < VARIANTS; i++)
		if (strcmp(name, variants[i].name) == 0 && usable(&variants[i])) {
			atomic_store_explicit(&in_use, &variants[i], memory_order_relaxed);
			return SMX_OK;
		}
	if (error) {
		error->offset = 0;
		snprintf(error->message, sizeof error->message,
		         "instruction set \"%.40s\" is not one this processor and build can use", name);
	}
	return SMX_ERR_ARGUMENT;
}
