/* Ctrl-C and SIGTERM end the search, not the program: what is complete can still be printed. A second one of the
 * same kind ends the program at once. */
#ifndef SMXI_CLI_INTERRUPT_H
#define SMXI_CLI_INTERRUPT_H

#include <starmax/search.h>

#include <stdbool.h>

/* From now on the signals are noted. */
void smxi_interrupt_listen(void);
/* From now on the signals stop this search; NULL: they are only noted. One search at a time. */
void smxi_interrupt_watch(struct smx_search *search);
bool smxi_interrupt_requested(void);

#endif
