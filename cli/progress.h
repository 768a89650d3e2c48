/* A live line on stderr while a search lasts: only where stderr is a terminal, only after a second, a few times a
 * second. */
#ifndef SMXI_CLI_PROGRESS_H
#define SMXI_CLI_PROGRESS_H

#include <starmax/game.h>
#include <starmax/search.h>

#include <stdbool.h>

struct smxi_progress {
	const struct smx_game *game; /* the caller's: whose turns are shown; NULL: none are */

	/* of the search */
	const struct smx_evaluator *evaluator;
	const struct smx_table *table; /* NULL: none */
	bool shown;                    /* a line is on the terminal */
	double next_ms;                /* of the search's time: when to show the next one */
};

/* Ask `options` to report here, if stderr is a terminal. */
void smxi_progress_attach(struct smxi_progress *progress, struct smx_search_options *options);
/* Take the line off, once the search has returned, and be ready for the next search. */
void smxi_progress_erase(struct smxi_progress *progress);

/* The same for many games: how many are done. */
struct smxi_bar {
	bool shown;
	double begun_ms, next_ms;
};

void smxi_bar_begin(struct smxi_bar *bar);
/* done of all are, `now` of them since smxi_bar_begin; `about` says more. */
void smxi_bar_show(struct smxi_bar *bar, size_t done, size_t all, size_t now, const char *about);
/* Take it off, so that something else can be printed. */
void smxi_bar_erase(struct smxi_bar *bar);

#endif
