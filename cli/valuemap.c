#include "cli/valuemap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The slot where a key with its tag is, or the free one where it belongs. */
static struct smxi_valuemap_slot *find_slot(const struct smxi_valuemap *map, const struct smx_key *key, unsigned tag)
{
	/* the high bits of a product depend on all bits of what is multiplied */
	const uint64_t mixed = (key->word[0] ^ tag) * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = (size_t)(mixed >> 32) & (map->capacity - 1);
	while (map->slots[at].tag && (map->slots[at].tag != tag || memcmp(&map->slots[at].key, key, sizeof *key)))
		at = (at + 1) & (map->capacity - 1);
	return &map->slots[at];
}

static bool grow(struct smxi_valuemap *map)
{
	struct smxi_valuemap larger = *map;
	larger.capacity = map->capacity ? map->capacity * 2 : 256;
	larger.slots = calloc(larger.capacity, sizeof *larger.slots);
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < map->capacity; i++) {
		const struct smxi_valuemap_slot *slot = &map->slots[i];
		if (slot->tag)
			*find_slot(&larger, &slot->key, slot->tag) = *slot;
	}
	free(map->slots);
	*map = larger;
	return true;
}

bool smxi_valuemap_find(const struct smxi_valuemap *map, const struct smx_key *key, unsigned tag, smx_value *value)
{
	if (!map->count)
		return false;
	const struct smxi_valuemap_slot *slot = find_slot(map, key, tag);
	if (!slot->tag)
		return false;
	*value = slot->value;
	return true;
}

bool smxi_valuemap_add(struct smxi_valuemap *map, const struct smx_key *key, unsigned tag, smx_value value)
{
	if (2 * (map->count + 1) > map->capacity && !grow(map))
		return false;
	*find_slot(map, key, tag) = (struct smxi_valuemap_slot){*key, value, tag};
	map->count++;
	return true;
}

void smxi_valuemap_clear(struct smxi_valuemap *map)
{
	if (map->count)
		memset(map->slots, 0, map->capacity * sizeof *map->slots);
	map->count = 0;
}

void smxi_valuemap_free(struct smxi_valuemap *map)
{
	free(map->slots);
	*map = (struct smxi_valuemap){0};
}
