/* The command with its threads disturbed: linked so that its smx_parallel_splitter comes here first (--wrap). */
#include "tests/support/threads.h"

#include <starmax/parallel.h>

const struct smx_splitter *__real_smx_parallel_splitter(const struct smx_parallel *parallel);
const struct smx_splitter *__wrap_smx_parallel_splitter(const struct smx_parallel *parallel);

/* The command runs one search at a time, and asks for the threads of each anew. */
static struct smx_splitter disturbed;

const struct smx_splitter *__wrap_smx_parallel_splitter(const struct smx_parallel *parallel)
{
	const struct smx_splitter *own = __real_smx_parallel_splitter(parallel);
	if (!own)
		return NULL;
	disturbed = threads_disturbed(own);
	return &disturbed;
}
