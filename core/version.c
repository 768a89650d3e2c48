#include <starmax/version.h>

const char *smx_version(void)
{
	return SMX_VERSION;
}
