#define _POSIX_C_SOURCE 200809L

#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

/* Both are touched by the handler; the program has one thread that handles them, so order is the only concern:
 * `watched` is set before the handler is installed and cleared before the search is destroyed. */
static struct smx_search *volatile watched;
static volatile sig_atomic_t requested;

static void on_signal(int number)
{
	(void)number;
	struct smx_search *search = watched;
	requested = 1;
	if (search)
		smx_search_stop(search);
}

void smxi_interrupt_listen(void)
{
	/* No SA_RESTART: a signal must also end the wait for the next line of a file. */
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void smxi_interrupt_watch(struct smx_search *search)
{
	watched = search;
	if (search)
		smxi_interrupt_listen();
}

bool smxi_interrupt_requested(void)
{
	return requested;
}
