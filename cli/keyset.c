#include "cli/keyset.h"

#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

static bool is_zero(const struct smx_key *key)
{
	return !(key->word[0] | key->word[1]);
}

static struct smx_key *find_slot(const struct smxi_keyset *set, const struct smx_key *key)
{
	size_t at = (size_t)key->word[0] & (set->capacity - 1);
	while (!is_zero(&set->slots[at]) && memcmp(&set->slots[at], key, sizeof *key))
		at = (at + 1) & (set->capacity - 1);
	return &set->slots[at];
}

static void grow(struct smxi_keyset *set)
{
	struct smxi_keyset larger = *set;
	larger.capacity = set->capacity ? set->capacity * 2 : 256;
	larger.slots = smxi_allocate(larger.capacity, sizeof *larger.slots);
	for (size_t i = 0; i < set->capacity; i++) {
		if (!is_zero(&set->slots[i]))
			*find_slot(&larger, &set->slots[i]) = set->slots[i];
	}
	free(set->slots);
	*set = larger;
}

bool smxi_keyset_add(struct smxi_keyset *set, const struct smx_key *key)
{
	if (is_zero(key)) {
		bool added = !set->has_zero;
		set->count += added;
		set->has_zero = true;
		return added;
	}
	if (2 * (set->count + 1) > set->capacity)
		grow(set);
	struct smx_key *slot = find_slot(set, key);
	if (!is_zero(slot))
		return false;
	*slot = *key;
	set->count++;
	return true;
}

void smxi_keyset_clear(struct smxi_keyset *set)
{
	if (set->slots)
		memset(set->slots, 0, set->capacity * sizeof *set->slots);
	set->count = 0;
	set->has_zero = false;
}

void smxi_keyset_free(struct smxi_keyset *set)
{
	free(set->slots);
	*set = (struct smxi_keyset){0};
}
