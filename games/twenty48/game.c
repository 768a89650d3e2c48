/* 2048 behind the game interface.
 *
 * The search values the last turn by the fold below, for evaluators that are sums over lines. A new tile changes one row and one column, and
 * a slide to the left treats each row on its own: so what a slide makes of the three other rows is computed once for a board, for
 * each of the four ways, and then each outcome looks up one line more, and the four lines across it. Outcomes that differ only in which of
 * neighbouring empty cells the tile comes to share that. */
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
	const unsigned empty = smxi_t48_count_empty(smxi_t48_board(state));
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
static unsigned slides(uint64_t board, uint64_t slid[WAYS])
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
		if (is_new)
			slid[count++] = next;
	}
	return count;
}

static enum smx_node afterstates(const void *expansion, unsigned outcome, struct smx_arena *arena,
                                 struct smx_afterstates *list)
{
	uint64_t slid[WAYS];
	const unsigned count = slides(smxi_t48_place(smxi_t48_board(expansion), outcome), slid);
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
	for (unsigned way = 0; way < WAYS; way++) {
		const uint64_t slid = smxi_t48_slide(board, (enum smx_2048_way)way);
		const struct smxi_t48_state state = smxi_t48_state(slid);
		if (slid != board && !visit(context, &(struct smx_turn){.step = {(uint16_t)way}, .steps = 1}, &state))
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
		const unsigned count = slides(smxi_t48_place(board, outcome), slid);
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

#define INLINE __attribute__((always_inline)) static inline

/* A board's slides to one side, all rows at once, before the new tile comes. */
struct slid {
	const uint16_t *line; /* what a slide makes of a line */
	uint64_t board, across;
	uint64_t moved; /* the rows that a slide changes: all bits of each */
	int64_t rows;   /* what the evaluator makes of the rows */
};

/* A cell's best value so far, for a 2 and for a 4 in it. */
struct cell {
	int64_t best[2];
};

static inline struct slid slide_all(const int32_t *value, const uint16_t *line, uint64_t board)
{
	const uint64_t slid = smxi_t48_slide_rows(board, line);
	uint64_t moved = slid ^ board;
	moved |= moved >> 8 & UINT64_C(0x00ff00ff00ff00ff); /* rows that differ anywhere get all their bits, by halving */
	moved |= moved >> 4 & UINT64_C(0x000f000f000f000f);
	moved |= moved >> 2 & UINT64_C(0x0003000300030003);
	moved |= moved >> 1 & UINT64_C(0x0001000100010001);
	return (struct slid){line, slid, smxi_t48_transpose(slid), (moved & UINT64_C(0x0001000100010001)) * 0xffff,
	                     smxi_t48_sum_of_rows(value, slid)};
}

/* A line's four cells, each the lowest of a row's. */
static inline uint64_t upright(unsigned line)
{
	const uint64_t cells = (line | (uint64_t)line << 24) & UINT64_C(0x000000ff000000ff);
	return (cells | cells << 12) & UINT64_C(0x000f000f000f000f);
}

/* What of a slide is the same for all tiles that come into one row. */
struct open_row {
	const uint16_t *line;
	uint64_t across;   /* the other rows, turned over */
	int64_t rows;      /* the evaluator's value of these */
	bool others_moved; /* so the slide is legal whatever this row does */
};

static inline struct open_row open_row(const int32_t *value, const struct slid *slid, unsigned shift)
{
	return (struct open_row){
		.line = slid->line,
		.across = slid->across & ~(UINT64_C(0x000f000f000f000f) << shift / 4),
		.rows = slid->rows - value[slid->board >> shift & 0xffff],
		.others_moved = (slid->moved & ~(UINT64_C(0xffff) << shift)) != 0,
	};
}

/* The value of a slide that makes this of the row. */
INLINE int64_t value_with(const int32_t *value, const struct open_row *row, unsigned shift, unsigned made)
{
	return row->rows + value[made] + smxi_t48_sum_of_rows(value, row->across | upright(made) << shift / 4);
}

static inline int64_t better(int64_t best, bool is_legal, int64_t worth)
{
	return is_legal && worth > best ? worth : best;
}

/* Better the cells of one row, cell[0], cell[step] and so on, by what the two slides along it are worth. Into neighbouring empty cells a tile
 * comes between the same other tiles, so they share what a slide makes of the row. */
INLINE void better_row(const int32_t *value, const struct slid slid[2], uint64_t board, unsigned shift,
                       struct cell *cell, unsigned step)
{
	const unsigned line = (unsigned)(board >> shift) & 0xffff;
	const struct open_row left = open_row(value, &slid[0], shift), right = open_row(value, &slid[1], shift);
	for (unsigned place = 16; place;) {
		place -= 4;
		if (line >> place & 15) {
			cell += step;
			continue;
		}
		unsigned made[2][2];
		int64_t worth[2][2];
		for (unsigned four = 0; four < 2; four++) {
			const unsigned with = line | (1 + four) << place;
			made[0][four] = left.line[with];
			made[1][four] = right.line[with];
			worth[0][four] = value_with(value, &left, shift, made[0][four]);
			worth[1][four] = value_with(value, &right, shift, made[1][four]);
		}
		for (;; place -= 4) {
			for (unsigned four = 0; four < 2; four++) {
				const unsigned with = line | (1 + four) << place;
				const int64_t best =
					better(cell->best[four], left.others_moved | (made[0][four] != with), worth[0][four]);
				cell->best[four] = better(best, right.others_moved | (made[1][four] != with), worth[1][four]);
			}
			cell += step;
			if (!place || line >> (place - 4) & 15)
				break;
		}
	}
}

/* Row by row, so that each one's place is a constant. */
INLINE void better_rows(const int32_t *value, const struct slid slid[2], uint64_t board, struct cell *cell,
                        unsigned row_step, unsigned step)
{
	better_row(value, slid, board, 48, cell, step);
	better_row(value, slid, board, 32, cell + row_step, step);
	better_row(value, slid, board, 16, cell + 2 * row_step, step);
	better_row(value, slid, board, 0, cell + 3 * row_step, step);
}

static uint64_t fold(const void *expansion, const struct smx_evaluator *evaluator, uint64_t mask,
                     unsigned evaluated_side, smx_value *values)
{
	(void)evaluated_side;
	const struct smxi_t48_lines *lines = evaluator->fold;
	const int32_t *value = lines->value;
	const uint64_t board = smxi_t48_board(expansion), across = smxi_t48_transpose(board);
	if (!smxi_t48_empty(board) || smxi_t48_waits_for_second(board))
		return fold_by_listing(board, evaluator, mask, values);
	const struct slid along[2] = {slide_all(value, smxi_t48_slides.left, board),
	                              slide_all(value, smxi_t48_slides.right, board)},
					  upward[2] = {slide_all(value, smxi_t48_slides.left, across),
	                               slide_all(value, smxi_t48_slides.right, across)};
	struct cell cell[LINES * LINES];
	for (unsigned i = 0; i < LINES * LINES; i++)
		cell[i] = (struct cell){{no_turn, no_turn}};
	better_rows(value, along, board, cell, LINES, 1);
	better_rows(value, upward, across, cell, 1, LINES);
	uint64_t lost = 0;
	unsigned outcome = 0;
	for (unsigned i = 0; i < LINES * LINES; i++) {
		if (smxi_t48_tile(board, i))
			continue;
		for (unsigned four = 0; four < 2; four++, outcome++) {
			values[outcome] = cell[i].best[four];
			lost |= (uint64_t)(cell[i].best[four] == no_turn) << outcome;
		}
	}
	return lost & mask;
}

static void span(const void *state, const struct smx_evaluator *evaluator, unsigned evaluated_side, unsigned depth,
                 smx_value *lower, smx_value *upper)
{
	(void)evaluated_side;
	const struct smxi_t48_lines *lines = evaluator->fold;
	if (!lines->most)
		return;
	const smx_value least = smx_evaluator_floor(evaluator); /* any decision may be lost */
	*lower = least > *lower ? least : *lower;
	const smx_value of_boards = lines->most(smxi_t48_board(state), depth);
	const smx_value most = of_boards > evaluator->loss ? of_boards : evaluator->loss;
	*upper = most < *upper ? most : *upper;
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
	.span = span,
	.canonical = canonical,
};
