/* 2048 behind the game interface.
 *
 * The search values the last turn by the fold below, for evaluators that are sums over lines. A new tile changes one row and one column, and
 * a slide to the left treats each row on its own: so what a slide makes of the three other rows is computed once for a board, for
 * each of the four ways, and each outcome looks up one line more, and then the four lines across it. */
#include "games/twenty48/board.h"

#include <stdio.h>
#include <string.h>

enum { WAYS = 4, LINES = 4, WEIGHT_2 = 9, WEIGHT_4 = 1 };

uint64_t smx_2048_board(const void *state)
{
	return smxi_t48_board(state);
}

static unsigned side_to_move(const void *state)
{
	(void)state;
	return 0;
}

static unsigned outcomes(const void *state, uint32_t *weights)
{
	const unsigned empty = (unsigned)__builtin_popcountll(smxi_t48_empty(smxi_t48_board(state)));
	for (unsigned i = 0; i < empty; i++) {
		weights[2 * i] = WEIGHT_2;
		weights[2 * i + 1] = WEIGHT_4;
	}
	if (empty)
		return 2 * empty;
	weights[0] = 1; /* no tile comes; only where a player could not have got to */
	return 1;
}

/* The outcomes share nothing that would have to be kept. */
static const void *open(const void *state, struct smx_arena *arena)
{
	(void)arena;
	return state;
}

/* The boards that slides make of a board, in the order of the ways, each once; a board that waits for its second tile stays as it is.
 * Returns how many. */
static unsigned slides(uint64_t board, uint64_t slid[WAYS], uint8_t way[WAYS])
{
	if (smxi_t48_waits_for_second(board)) {
		slid[0] = board;
		return 1;
	}
	unsigned count = 0;
	for (unsigned w = 0; w < WAYS; w++) {
		const uint64_t next = smxi_t48_slide(board, (enum smx_2048_way)w);
		bool is_new = next != board;
		for (unsigned i = 0; i < count; i++)
			is_new = is_new && next != slid[i];
		if (is_new) {
			way[count] = (uint8_t)w;
			slid[count++] = next;
		}
	}
	return count;
}

static enum smx_node afterstates(const void *expansion, unsigned outcome, struct smx_arena *arena,
                                 struct smx_afterstates *list)
{
	uint64_t slid[WAYS];
	uint8_t way[WAYS];
	const unsigned count = slides(smxi_t48_place(smxi_t48_board(expansion), outcome), slid, way);
	if (!count)
		return SMX_NODE_LOST;
	struct smxi_t48_state *states = smx_arena_alloc(arena, count * sizeof *states);
	if (!states)
		return SMX_NODE_NO_MEMORY;
	for (unsigned i = 0; i < count; i++)
		states[i] = smxi_t48_state(slid[i]);
	*list = (struct smx_afterstates){states, count};
	return SMX_NODE_OPEN;
}

/* Every legal slide, also those that lead to one board. */
static void turns(const struct smx_position *position, smx_turn_visitor *visit, void *context)
{
	const uint64_t board = smxi_t48_place(smxi_t48_board(position->state), (unsigned)position->outcome);
	if (smxi_t48_waits_for_second(board)) {
		const struct smxi_t48_state state = smxi_t48_state(board);
		visit(context, &(struct smx_turn){.steps = 0}, &state);
		return;
	}
	for (uint16_t way = 0; way < WAYS; way++) {
		const uint64_t slid = smxi_t48_slide(board, (enum smx_2048_way)way);
		const struct smxi_t48_state state = smxi_t48_state(slid);
		if (slid != board && !visit(context, &(struct smx_turn){.step = {way}, .steps = 1}, &state))
			return;
	}
}

static size_t format_turn(const struct smx_turn *turn, char *text)
{
	static const char *const names[WAYS] = {"left", "right", "up", "down"};
	return (size_t)snprintf(text, SMX_TEXT_MAX, "%s", turn->steps ? names[turn->step[0]] : "pass");
}

static bool self_check(const void *state)
{
	const struct smxi_t48_state made = smxi_t48_state(smxi_t48_board(state));
	return memcmp(&made, state, sizeof made) == 0;
}

static void canonical(const void *state, void *canonical_state)
{
	const struct smxi_t48_state made = smxi_t48_state(smxi_t48_canonical(smxi_t48_board(state)));
	memcpy(canonical_state, &made, sizeof made);
}

/* ---- the fold ---- */

/* Below every sum of eight lines. */
static const smx_value no_turn = INT64_MIN / 2;

/* What the fold below is not for: the first tile of a game, and a board without room. */
static uint64_t fold_by_listing(uint64_t board, const struct smx_evaluator *evaluator, uint64_t mask, smx_value *values)
{
	uint64_t lost = 0;
	for (; mask; mask &= mask - 1) {
		const unsigned outcome = (unsigned)__builtin_ctzll(mask);
		uint64_t slid[WAYS];
		uint8_t way[WAYS];
		const unsigned count = slides(smxi_t48_place(board, outcome), slid, way);
		values[outcome] = no_turn;
		for (unsigned i = 0; i < count; i++) {
			const struct smxi_t48_state state = smxi_t48_state(slid[i]);
			smx_value value;
			evaluator->evaluate(evaluator->context, &state, 1, 0, &value);
			values[outcome] = value > values[outcome] ? value : values[outcome];
		}
		lost |= (uint64_t)(count == 0) << outcome;
	}
	return lost;
}

/* A board's slides to one side, all rows at once, and what the evaluator makes of each row, except for one that is still open. */
struct slid {
	const uint16_t *line; /* what a slide makes of a line */
	uint64_t board;
	uint64_t moved; /* the rows that a slide changes: all bits of each */
	smx_value rows;
};

static smx_value sum_of_columns(const int32_t *value, uint64_t board)
{
	board = smxi_t48_transpose(board);
	return (smx_value)value[board >> 48] + value[board >> 32 & 0xffff] + value[board >> 16 & 0xffff] +
	       value[board & 0xffff];
}

static struct slid slide_all(const int32_t *value, const uint16_t *line, uint64_t board)
{
	struct slid slid = {.line = line, .board = smxi_t48_slide_rows(board, line)};
	for (unsigned shift = 0; shift < 64; shift += 16) {
		const uint64_t row = UINT64_C(0xffff) << shift;
		slid.rows += value[slid.board >> shift & 0xffff];
		slid.moved |= (slid.board ^ board) & row ? row : 0;
	}
	return slid;
}

/* The value of the slide when a tile has come into the row at `shift`, which is `line` now. */
static inline smx_value slide_with(const int32_t *value, const struct slid *slid, unsigned shift, unsigned line)
{
	const uint64_t row = UINT64_C(0xffff) << shift;
	const unsigned made = slid->line[line];
	if (made == line && !(slid->moved & ~row))
		return no_turn;
	const smx_value rows = slid->rows - value[slid->board >> shift & 0xffff] + value[made];
	return rows + sum_of_columns(value, (slid->board & ~row) | (uint64_t)made << shift);
}

static uint64_t fold(const void *expansion, const struct smx_evaluator *evaluator, uint64_t mask,
                     unsigned evaluated_side, smx_value *values)
{
	(void)evaluated_side;
	const struct smxi_t48_lines *lines = evaluator->fold;
	const int32_t *value = lines->value;
	const uint64_t board = smxi_t48_board(expansion), across = smxi_t48_transpose(board);
	const struct slid slid[WAYS] = {
		slide_all(value, smxi_t48_slides.left, board),
		slide_all(value, smxi_t48_slides.right, board),
		slide_all(value, smxi_t48_slides.left, across),
		slide_all(value, smxi_t48_slides.right, across),
	};
	uint64_t lost = 0, empty = smxi_t48_empty(board);
	if (!empty || smxi_t48_waits_for_second(board))
		return fold_by_listing(board, evaluator, mask, values);
	for (unsigned outcome = 0; empty; outcome += 2) {
		const unsigned bit = 63 - (unsigned)__builtin_clzll(empty);
		empty ^= UINT64_C(1) << bit;
		if (!(mask >> outcome & 3))
			continue;
		const unsigned shift = bit & 48, column = (bit & 12) >> 2, row = bit >> 4;
		/* the cell's place on the board across: rows and columns change places, both counted from the lower right */
		const unsigned shift_across = column * 16, bit_across = row * 4;
		for (unsigned tile = 1; tile <= 2; tile++) {
			const unsigned line = (unsigned)(board >> shift & 0xffff) | tile << (bit & 12);
			const unsigned line_across = (unsigned)(across >> shift_across & 0xffff) | tile << bit_across;
			smx_value best = no_turn;
			for (unsigned way = 0; way < 2; way++) {
				const smx_value a = slide_with(value, &slid[way], shift, line);
				const smx_value b = slide_with(value, &slid[way + 2], shift_across, line_across);
				best = a > best ? a : best;
				best = b > best ? b : best;
			}
			values[outcome + tile - 1] = best;
			lost |= (uint64_t)(best == no_turn) << (outcome + tile - 1);
		}
	}
	return lost & mask;
}

/* ---- what else is to be known ---- */

static uint64_t seen_by_player(const struct smx_position *position)
{
	const int outcome = position->outcome == SMX_NO_OUTCOME ? SMX_2048_PLACED : position->outcome;
	return smxi_t48_place(smxi_t48_board(position->state), (unsigned)outcome);
}

static unsigned tiles(const struct smx_position *position)
{
	unsigned seen = 0;
	for (uint64_t board = seen_by_player(position); board; board >>= 4)
		seen |= 1u << (board & 15);
	return (unsigned)__builtin_popcount(seen & ~1u);
}

static unsigned highest(const struct smx_position *position)
{
	unsigned rank = 0;
	for (uint64_t board = seen_by_player(position); board; board >>= 4)
		rank = (board & 15) > rank ? (unsigned)(board & 15) : rank;
	return rank ? 1u << rank : 0;
}

static const struct smx_measure measures[] = {
	{"tiles", "distinct tiles", tiles},
	{"highest", "the highest tile", highest},
	{NULL, NULL, NULL},
};

static int64_t reward(const struct smx_position *position, const struct smx_turn *turn)
{
	const uint64_t board = seen_by_player(position);
	return turn->steps ? smxi_t48_points(board, (enum smx_2048_way)turn->step[0]) : 0;
}

static const unsigned goals[] = {256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 0};

static const struct smx_solo solo = {"points", reward, &measures[1], goals};

static const struct smx_evaluator *const evaluators[] = {
	&smx_2048_heuristic, &smx_2048_score, &smx_2048_seed, &smx_2048_seed_root, &smx_2048_seed_square, NULL,
};

const struct smx_game smx_2048 = {
	.name = "2048",
	.title = "2048: one player slides tiles, chance adds new ones",
	.start = "0,0,0,0/0,0,0,0/0,0,0,0/0,0,0,0 -",
	.state_size = sizeof(struct smxi_t48_state),
	.total_max = 16 * (WEIGHT_2 + WEIGHT_4),
	.evaluators = evaluators,
	.parse = smxi_t48_parse,
	.format = smxi_t48_format,
	.side_to_move = side_to_move,
	.outcomes = outcomes,
	.outcome_name = smxi_t48_outcome_name,
	.open = open,
	.afterstates = afterstates,
	.turns = turns,
	.format_turn = format_turn,
	.draw = smxi_t48_draw,
	.measures = measures,
	.solo = &solo,
	.self_check = self_check,
	.fold = fold,
	.canonical = canonical,
};
