/* A map from position keys to exact values, one for each tag that a position can have: how the command remembers what
 * it has computed by itself, without the search's own table. */
#ifndef SMXI_CLI_VALUEMAP_H
#define SMXI_CLI_VALUEMAP_H

#include <starmax/game.h>

#include <stdbool.h>
#include <stddef.h>

struct smxi_valuemap_slot {
	struct smx_key key;
	smx_value value;
	unsigned tag; /* 0: free */
};

/* Open addressing. Invariant: 2 * count <= capacity, a power of two, or both are 0. A map of zeroes is empty. */
struct smxi_valuemap {
	struct smxi_valuemap_slot *slots;
	size_t capacity, count;
};

/* Whether the map has a value for this key and tag >= 1; *value is written only then. */
bool smxi_valuemap_find(const struct smxi_valuemap *map, const struct smx_key *key, unsigned tag, smx_value *value);
/* Add one that it does not have; false where there is no memory, the map then as it was. */
bool smxi_valuemap_add(struct smxi_valuemap *map, const struct smx_key *key, unsigned tag, smx_value value);
/* Take everything out and keep the memory. */
void smxi_valuemap_clear(struct smxi_valuemap *map);
void smxi_valuemap_free(struct smxi_valuemap *map);

#endif
