#include "cli/seat.h"

#include <stdio.h>

bool smxi_seat_take(struct smxi_seat *seat, const struct smxi_contest *contest, const struct smx_parallel_plan *plan)
{
	struct smx_error error = {0};
	*seat = (struct smxi_seat){.engine = smxi_engine_open_planned(contest->game, plan)};
	for (unsigned i = 0; i < contest->player_count; i++) {
		const size_t bytes = contest->players[i].hash_bytes;
		if (bytes && smx_table_create(bytes, &seat->tables[i], &error) != SMX_OK) {
			smxi_error("%s", error.message);
			return false;
		}
		if (seat->tables[i])
			smx_parallel_place_table(seat->engine.parallel, seat->tables[i]);
	}
	return true;
}

void smxi_seat_leave(struct smxi_seat *seat)
{
	smxi_engine_close(&seat->engine);
	for (unsigned i = 0; i < SMXI_PLAYERS; i++)
		smx_table_destroy(seat->tables[i]);
	*seat = (struct smxi_seat){0};
}

void smxi_seat_begin(struct smxi_seat *seat)
{
	for (unsigned i = 0; i < SMXI_PLAYERS; i++) {
		if (seat->tables[i])
			smx_table_clear(seat->tables[i]);
	}
}

enum smx_status smxi_seat_search(struct smxi_seat *seat, const struct smxi_contest *contest,
                                 const struct smx_position *position, unsigned player, size_t exact,
                                 const struct smx_result **result, struct smx_error *error)
{
	struct smx_search_options options = contest->players[player].options;
	options.table = seat->tables[player];
	options.splitter = smx_parallel_splitter(seat->engine.parallel);
	options.exact = exact;
	const enum smx_status status = smx_search_run(seat->engine.search, position, &options, result, error);
	if (status != SMX_OK && !*error->message)
		snprintf(error->message, sizeof error->message, "%s", smx_status_str(status));
	return status;
}

bool smxi_seat_choose(struct smxi_seat *seat, const struct smxi_contest *contest, const struct smx_position *position,
                      unsigned player, enum smxi_choice *choice, struct smxi_chosen *chosen, struct smx_error *error)
{
	const struct smx_result *result;
	if (smxi_seat_search(seat, contest, position, player, 0, &result, error) != SMX_OK)
		return false;
	*choice = result->stopped && !result->limit_reached ? SMXI_CHOICE_NO_MORE
	          : result->kind == SMX_RESULT_LOSS         ? SMXI_CHOICE_NONE
	                                                    : SMXI_CHOICE_TURN;
	*chosen = (struct smxi_chosen){
		.turn = result->turn,
		.has_value = result->has_value,
		.value = result->value,
		.effort =
			{
				.searched = result->kind != SMX_RESULT_WIN,
				.depths = result->depth_plies,
				.chance_nodes = result->counters.chance_nodes,
				.time_ms = result->time_ms,
			},
	};
	return true;
}
