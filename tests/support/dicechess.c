#include "tests/support/dicechess.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct smx_evaluator *const dicechess_oracle_evaluators[] = {&smx_dicechess_material, &smx_dicechess_standard,
                                                                   NULL};

struct smx_position dicechess_read(const char *dfen)
{
	struct smx_position position;
	struct smx_error error;
	if (smx_dicechess.parse(dfen, strlen(dfen), &position, &error) != SMX_OK) {
		fprintf(stderr, "\"%s\" cannot be read: %s\n", dfen, error.message);
		abort();
	}
	return position;
}

struct smx_position dicechess_read_roll(const char *dfen, const char *roll)
{
	char text[SMX_TEXT_MAX];
	snprintf(text, sizeof text, "%s %s", dfen, roll);
	return dicechess_read(text);
}

struct smx_position dicechess_from_oracle(const struct oracle_position *position)
{
	char text[ORACLE_DFEN_SIZE];
	oracle_dfen(position, text);
	return dicechess_read(text);
}

struct smx_position dicechess_position_of(const void *state)
{
	struct smx_position position = {.outcome = SMX_NO_OUTCOME};
	memcpy(position.state, state, sizeof(struct smxi_dc_state));
	return position;
}

void dicechess_text(const void *state, unsigned fields, char text[SMX_TEXT_MAX])
{
	const struct smx_position position = dicechess_position_of(state);
	smx_dicechess.format(&position, text);
	char *end = text;
	for (; fields; fields--)
		end = strchr(end, ' ') + 1;
	end[-1] = '\0';
}

static bool keep(void *context, const struct smx_turn *turn, const void *afterstate)
{
	struct dicechess_turns *turns = context;
	if (turns->count == turns->room) {
		const size_t room = turns->room ? 2 * turns->room : 256;
		struct smxi_dc_state *after = aligned_alloc(SMX_CACHE_LINE, room * sizeof *after);
		turns->turn = realloc(turns->turn, room * sizeof *turns->turn);
		if (!after || !turns->turn)
			abort();
		if (turns->count)
			memcpy(after, turns->after, turns->count * sizeof *after);
		free(turns->after);
		turns->after = after;
		turns->room = room;
	}
	if (turn->wins != (afterstate == NULL))
		abort();
	turns->turn[turns->count] = *turn;
	if (afterstate)
		memcpy(&turns->after[turns->count], afterstate, sizeof *turns->after);
	else
		memset(&turns->after[turns->count], 0, sizeof *turns->after);
	turns->count++;
	return true;
}

struct dicechess_turns dicechess_list(const struct smx_position *position)
{
	struct dicechess_turns turns = {0};
	smx_dicechess.turns(position, keep, &turns);
	return turns;
}

void dicechess_turns_free(struct dicechess_turns *turns)
{
	free(turns->turn);
	free(turns->after);
	*turns = (struct dicechess_turns){0};
}

static int by_key(const void *left, const void *right)
{
	const uint64_t *a = ((const struct smxi_dc_state *)left)->key.word;
	const uint64_t *b = ((const struct smxi_dc_state *)right)->key.word;
	if (a[0] != b[0])
		return a[0] < b[0] ? -1 : 1;
	return a[1] < b[1] ? -1 : a[1] > b[1];
}

size_t dicechess_distinct(struct smxi_dc_state *states, size_t count)
{
	if (count == 0)
		return 0;
	qsort(states, count, sizeof *states, by_key);
	size_t kept = 1;
	for (size_t i = 1; i < count; i++)
		if (by_key(&states[i], &states[kept - 1]) != 0)
			states[kept++] = states[i];
	return kept;
}

uint64_t dicechess_fingerprint(const struct smxi_dc_state *states, size_t count)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < count; i++) {
		char text[SMX_TEXT_MAX];
		dicechess_text(&states[i], 4, text);
		sum += oracle_fnv(text);
	}
	return sum;
}
