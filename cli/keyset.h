/* A set of position keys: how the command counts distinct positions by itself, without the search's own
 * book-keeping. */
#ifndef SMXI_CLI_KEYSET_H
#define SMXI_CLI_KEYSET_H

#include <starmax/game.h>

#include <stdbool.h>
#include <stddef.h>

/* Open addressing; a slot of two zero words is free, and the key of two zero words is held apart.
 * Invariant: 2 * count <= capacity, a power of two, or both are 0. A set of zeroes is empty. */
struct smxi_keyset {
	struct smx_key *slots;
	size_t capacity;
	size_t count; /* keys, the zero key included */
	bool has_zero;
};

/* Add a key; true where it was not in the set. Ends the program where there is no memory. */
bool smxi_keyset_add(struct smxi_keyset *set, const struct smx_key *key);
/* Take everything out and keep the memory. */
void smxi_keyset_clear(struct smxi_keyset *set);
void smxi_keyset_free(struct smxi_keyset *set);

#endif
