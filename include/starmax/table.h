/* Transposition tables: what searches have proved about chance nodes, kept for later nodes and later searches.
 *
 * A table may serve any number of searches, one after the other or at once, of any games and evaluators: an entry
 * answers only where game, evaluator, evaluated side, depth and position are the same, so a table never changes an
 * answer, only the work. A user's evaluators are told apart by name, unit, scale, bounds and their values on some hundreds of
 * positions: give a model that has been trained further another name. tt/tt.h has the layout and says how sure that is. */
#ifndef STARMAX_TABLE_H
#define STARMAX_TABLE_H

#include <starmax/game.h>
#include <starmax/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SMX_TABLE_BYTES_MIN 1024

struct smx_table;

struct smx_table_usage {
	size_t size_bytes;
	unsigned used_permille;    /* slots that hold anything; estimated from a thousand places of a large table */
	unsigned current_permille; /* slots last used in the search that began last */
};

/* An empty table of size_bytes bytes, rounded down to whole cache lines; pages are taken when they are first written.
 * SMX_OK, SMX_ERR_ARGUMENT (below SMX_TABLE_BYTES_MIN) or SMX_ERR_MEMORY. Destroy with smx_table_destroy. */
enum smx_status smx_table_create(size_t size_bytes, struct smx_table **table, struct smx_error *error);

/* No search may be using the table. NULL is fine. */
void smx_table_destroy(struct smx_table *table);

/* Have place(context, start, size_bytes) called with the memory that the entries are in, before this returns: to say
 * where its pages shall be, or to take them early. It must not change what is in them. */
void smx_table_place(struct smx_table *table, void (*place)(void *context, void *start, size_t size_bytes),
                     void *context);

/* Forget everything. */
void smx_table_clear(struct smx_table *table);

/* Safe while searches run. */
struct smx_table_usage smx_table_usage(const struct smx_table *table);

/* Save a table that served this game and evaluator. `path` always holds a whole file, the old one or the new one. Safe
 * while searches run. SMX_OK; SMX_ERR_FILE: it could not be written, the message says why; SMX_ERR_ARGUMENT: the
 * evaluator's name is not printable ASCII; SMX_ERR_MEMORY; or what smx_evaluator_check returns for a user's evaluator. */
enum smx_status smx_table_save(const struct smx_table *table, const char *path, const struct smx_game *game,
                               const struct smx_evaluator *evaluator, struct smx_error *error);

/* Make a table from a saved one, of its size; saving it again gives the same bytes. SMX_OK; SMX_ERR_FILE: it could not be
 * read, or was saved for another game, evaluator or version of the library; SMX_ERR_PARSE: it is no table, truncated or
 * damaged; SMX_ERR_MEMORY; or what smx_evaluator_check returns. The message says which; *table is written only on SMX_OK. */
enum smx_status smx_table_load(const char *path, const struct smx_game *game, const struct smx_evaluator *evaluator,
                               struct smx_table **table, struct smx_error *error);

#ifdef __cplusplus
}
#endif

#endif
