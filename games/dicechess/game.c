/* Dice Chess behind the game interface. */
#include "games/dicechess/isa.h"

#include <string.h>

static unsigned side_to_move(const void *state)
{
	return ((const struct smxi_dc_state *)state)->side;
}

static unsigned outcomes(const void *state, uint32_t *weights)
{
	(void)state;
	memcpy(weights, smxi_dc_rolls.weight, sizeof smxi_dc_rolls.weight);
	return SMX_DICECHESS_OUTCOMES;
}

static size_t outcome_name(const void *state, int outcome, char *text)
{
	(void)state;
	enum smx_dicechess_piece types[3];
	const unsigned dice = smx_dicechess_dice(outcome, types);
	for (unsigned i = 0; i < dice; i++)
		text[i] = " PNBRQK"[types[i]];
	text[dice] = '\0';
	return dice;
}

static const void *open(const void *state, struct smx_arena *arena)
{
	return smxi_dc_kernel()->open(state, arena);
}

static enum smx_node afterstates(const void *expansion, unsigned outcome, struct smx_arena *arena,
                                 struct smx_afterstates *list)
{
	return smxi_dc_kernel()->afterstates(expansion, outcome, arena, list);
}

static void turns(const struct smx_position *position, smx_turn_visitor *visit, void *context)
{
	smxi_dc_kernel()->turns(position, visit, context);
}

static uint64_t fold(const void *expansion, const struct smx_evaluator *evaluator, uint64_t mask,
                     unsigned evaluated_side, smx_value *values)
{
	smxi_dc_kernel()->fold(expansion, evaluator, mask, evaluated_side, values);
	return 0; /* a side that cannot move passes */
}

static uint64_t won(const void *expansion)
{
	return ((const struct smxi_dc_expansion_head *)expansion)->won;
}

static void order(const void *states, size_t count, unsigned side, int32_t *scores)
{
	const struct smxi_dc_state *s = states;
	for (size_t i = 0; i < count; i++)
		scores[i] = side == SMX_BLACK ? -s[i].material : s[i].material;
}

static void look(const void *states, size_t count, const struct smx_evaluator *evaluator, unsigned evaluated_side,
                 unsigned depth, struct smx_glance *glances)
{
	smxi_dc_kernel()->look(states, count, evaluator, evaluated_side, depth, glances);
}

static bool bound(const void *state, const struct smx_evaluator *evaluator, unsigned evaluated_side, unsigned depth,
                  unsigned stage, struct smx_glance *glance)
{
	return smxi_dc_kernel()->bound(state, evaluator, evaluated_side, depth, stage, glance);
}

static bool self_check(const void *state)
{
	const struct smxi_dc_state *s = state;
	const struct smx_key key = smxi_dc_compute_key(s);
	const smxi_bits occupied = smxi_dc_occupied(s);
	bool sound = key.word[0] == s->key.word[0] && key.word[1] == s->key.word[1];
	sound = sound && smxi_dc_compute_material(s) == s->material;
	sound = sound && !(s->plane[3] & ~occupied) && !(s->plane[0] & s->plane[1] & s->plane[2]);
	for (unsigned color = 0; color <= 8; color += 8)
		sound = sound && __builtin_popcountll(smxi_dc_pieces(s, color + SMX_KING)) == 1;
	for (unsigned target = 0; target < 16; target++)
		if (s->targets >> target & 1)
			sound =
				sound && smxi_dc_piece_at(s, smxi_dc_target_pawn_square(target)) == SMX_PAWN + (target < 8 ? 0u : 8u);
	return sound && s->unused == 0 && s->last_type == 0 && s->last_from == 0 && s->last_to == 0 && s->side <= 1;
}

uint64_t smx_dicechess_perft(const void *state, enum smx_dicechess_piece type, unsigned depth_moves)
{
	assert(type >= SMX_PAWN && type <= SMX_KING);
	return depth_moves == 0 ? 1 : smxi_dc_kernel()->perft(state, type - 1, depth_moves);
}

static const struct smx_evaluator *const evaluators[] = {&smx_dicechess_material, &smx_dicechess_standard,
                                                         &smx_dicechess_winprob, &smx_dicechess_winprob_standard, NULL};

const struct smx_game smx_dicechess = {
	.name = "dicechess",
	.title = "Dice Chess: three dice name the pieces, the king is captured",
	.start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 -",
	.state_size = sizeof(struct smxi_dc_state),
	.total_max = SMX_DICECHESS_TOTAL,
	.evaluators = evaluators,
	.evaluator_forms = smxi_dc_evaluator_forms,
	.make_evaluator = smxi_dc_make_evaluator,
	.parse = smxi_dc_parse,
	.format = smxi_dc_format,
	.side_to_move = side_to_move,
	.outcomes = outcomes,
	.outcome_name = outcome_name,
	.open = open,
	.afterstates = afterstates,
	.turns = turns,
	.format_turn = smxi_dc_format_turn,
	.draw = smxi_dc_draw,
	.self_check = self_check,
	.won = won,
	.order = order,
	.fold = fold,
	.look = look,
	.bound = bound,
};
