/* A program outside the repository that uses the installed library. */
#include <starmax/parallel.h>
#include <starmax/starmax.h>

#include <stdio.h>
#include <string.h>

int main(void)
{
	struct smx_parallel_machine machine;
	smx_parallel_machine(&machine);
	if (machine.usable < 1 || !smx_game_find("dicechess") || strcmp(smx_version(), SMX_VERSION) != 0)
		return 1;
	puts(smx_version());
	return 0;
}
