/* One roll's turns, path by path, in the reference engine's order: dice ascending, equal dice once; pieces of a die's type by
 * from-square; a pawn's push, double push, captures toward the east, toward the west, en passant (promotions Q, R, B, N), another
 * piece's to-squares ascending; castling after the king's moves. Turns that take the king come first.
 *
 * This is the plain generator: a depth-first walk that shares nothing between rolls. A root needs it, since candidates are ordered and
 * printed by their first path, and the benchmarks measure the kernel against it.
 *
 * Compiled once per instruction set. */
#include "games/dicechess/moves.h"

enum { MOVES_MAX = 256 };

/* Every micro-move of one die, in order; captures of the king included. */
SMXI_INLINE unsigned list_pawn_moves(const struct smxi_dc_state *s, const struct view *v, struct micro_move *moves,
                                     const unsigned mover)
{
	const int step = mover == SMX_BLACK ? -8 : 8;
	const unsigned color = mover == SMX_BLACK ? 8 : 0;
	const smxi_bits pawns = v->own & v->type[PAWN], last_rank = rank_for(7, mover);
	const smxi_bits single = pawns_forward(pawns, mover) & ~v->occupied;
	const smxi_bits targets = live_targets(s, v, mover);
	const struct {
		smxi_bits to;
		int step;
		bool twice, passing;
	} kinds[] = {
		{single, step, false, false},
		{pawns_forward(single & rank_for(2, mover), mover) & ~v->occupied, 2 * step, true, false},
		{pawns_east(pawns, mover) & v->enemy, step + 1, false, false},
		{pawns_west(pawns, mover) & v->enemy, step - 1, false, false},
		{pawns_east(pawns, mover) & targets, step + 1, false, true},
		{pawns_west(pawns, mover) & targets, step - 1, false, true},
	};
	unsigned count = 0;
	for (smxi_bits left = pawns; left; left &= left - 1) {
		const unsigned from = smxi_lowest(left);
		for (unsigned kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
			/* a bit of `to` belongs to one pawn; steps that leave the board wrap to a rank no pawn moves to */
			const unsigned to = (unsigned)((int)from + kinds[kind].step) % 64;
			if (!(kinds[kind].to >> to & 1))
				continue;
			struct micro_move m = {.from = from, .to = to, .code = color + PAWN + 1, .becomes = color + PAWN + 1};
			if (kinds[kind].twice)
				m.new_target = to % 8 + (mover == SMX_BLACK ? 8 : 0) + 1;
			else
				m.lost_target = target_lost_by_leaving(s, from, mover);
			m.taken_on = kinds[kind].passing ? (unsigned)((int)to - step) : to;
			m.taken = smxi_dc_piece_at(s, m.taken_on);
			const bool promotes = (smxi_bit(to) & last_rank) && (m.taken & 7) != KING + 1;
			for (unsigned type = promotes ? QUEEN : PAWN;; type--) {
				m.becomes = color + type + 1;
				moves[count++] = m;
				if (type == PAWN || type == KNIGHT)
					break;
			}
		}
	}
	return count;
}

SMXI_INLINE unsigned list_piece_moves(const struct smxi_dc_state *s, const struct view *v, struct micro_move *moves,
                                      const unsigned die, const unsigned mover)
{
	const unsigned code = die + 1 + (mover == SMX_BLACK ? 8 : 0);
	unsigned count = 0;
	for (smxi_bits pieces = v->own & v->type[die]; pieces; pieces &= pieces - 1) {
		const unsigned from = smxi_lowest(pieces);
		for (smxi_bits left = piece_attacks(die, from, v->occupied) & ~v->own; left; left &= left - 1) {
			const unsigned to = smxi_lowest(left);
			moves[count++] = (struct micro_move){.from = from,
			                                     .to = to,
			                                     .code = code,
			                                     .becomes = code,
			                                     .taken = smxi_dc_piece_at(s, to),
			                                     .taken_on = to};
		}
	}
	return count;
}

static unsigned list_moves(const struct smxi_dc_state *s, const struct view *v, struct micro_move *moves, unsigned die,
                           unsigned mover)
{
	switch (die) {
	case PAWN:
		return mover == SMX_BLACK ? list_pawn_moves(s, v, moves, SMX_BLACK) : list_pawn_moves(s, v, moves, SMX_WHITE);
	case KNIGHT:
		return list_piece_moves(s, v, moves, KNIGHT, mover);
	case BISHOP:
		return list_piece_moves(s, v, moves, BISHOP, mover);
	case ROOK:
		return list_piece_moves(s, v, moves, ROOK, mover);
	case QUEEN:
		return list_piece_moves(s, v, moves, QUEEN, mover);
	default:
		return list_piece_moves(s, v, moves, KING, mover);
	}
}

static bool has_move(const struct smxi_dc_state *s, const struct view *v, unsigned die, unsigned mover)
{
	if (die == PAWN) {
		const smxi_bits pawns = v->own & v->type[PAWN];
		const smxi_bits beside = pawns_east(pawns, mover) | pawns_west(pawns, mover);
		return (pawns_forward(pawns, mover) & ~v->occupied) || (beside & (v->enemy | live_targets(s, v, mover)));
	}
	for (smxi_bits pieces = v->own & v->type[die]; pieces; pieces &= pieces - 1)
		if (piece_attacks(die, smxi_lowest(pieces), v->occupied) & ~v->own)
			return true;
	return false;
}

/* Moves that bring nothing new to the clock do so by a pawn or a capture. */
static uint8_t next_halfmove(const struct smxi_dc_state *s, const struct micro_move *m)
{
	if (m->taken || (m->code & 7) == PAWN + 1)
		return 0;
	return s->halfmove < 127 ? s->halfmove + 1 : 127;
}

struct walk {
	unsigned mover, king;
	uint8_t left[6]; /* dice still to be spent */
	/* what the roll allows, from the first pass */
	unsigned most_spent;
	bool can_win;
	/* the second pass */
	bool wins; /* emit the turns that win; else those that spend most */
	bool stopped;
	struct smx_turn turn;
	smx_turn_visitor *visit;
	void *context;
};

/* First pass: the most dice any sequence spends, and whether any takes the king. The last die is only asked, not moved. */
static void measure(struct walk *w, const struct smxi_dc_state *s, unsigned spent, unsigned dice_left)
{
	if (spent > w->most_spent)
		w->most_spent = spent;
	if (dice_left == 0)
		return;
	struct view v;
	view_state(&v, s, w->mover);
	const unsigned attackers = king_attackers(&v, w->king, w->mover);
	for (unsigned die = 0; die < 6; die++) {
		if (!w->left[die])
			continue;
		if (attackers >> die & 1) {
			w->can_win = true;
			if (spent + 1 > w->most_spent)
				w->most_spent = spent + 1;
		}
		if (dice_left == 1) {
			if (spent + 1 > w->most_spent && has_move(s, &v, die, w->mover))
				w->most_spent = spent + 1;
			continue;
		}
		struct micro_move moves[MOVES_MAX];
		const unsigned count = list_moves(s, &v, moves, die, w->mover);
		w->left[die]--;
		for (unsigned i = 0; i < count; i++) {
			if ((moves[i].taken & 7) == KING + 1)
				continue;
			struct smxi_dc_state child;
			make_micro_move(&child, s, &moves[i]);
			measure(w, &child, spent + 1, dice_left - 1);
		}
		w->left[die]++;
	}
	if (w->left[ROOK] && w->left[KING]) {
		const unsigned can = castlings(s, v.occupied, w->mover);
		w->left[ROOK]--;
		w->left[KING]--;
		for (unsigned queen_side = 0; queen_side < 2; queen_side++)
			if (can >> queen_side & 1) {
				struct smxi_dc_state child;
				make_castling(&child, s, queen_side, w->mover);
				measure(w, &child, spent + 2, dice_left - 2);
			}
		w->left[ROOK]++;
		w->left[KING]++;
	}
}

static void emit(struct walk *w, const struct smxi_dc_state *s, unsigned spent)
{
	struct smxi_dc_state after = *s;
	end_turn(&after);
	if (after.side == SMX_WHITE && after.fullmove < UINT16_MAX)
		after.fullmove++;
	w->turn.spent = (uint8_t)spent;
	w->turn.wins = false;
	if (!w->visit(w->context, &w->turn, &after))
		w->stopped = true;
}

static void walk_turns(struct walk *w, const struct smxi_dc_state *s, unsigned spent, unsigned dice_left);

static void descend(struct walk *w, const struct smxi_dc_state *child, uint16_t step, unsigned spent,
                    unsigned dice_left)
{
	w->turn.step[w->turn.steps++] = step;
	if (!w->wins && spent == w->most_spent)
		emit(w, child, spent); /* no die left can move, or it would have been spent */
	else
		walk_turns(w, child, spent, dice_left);
	w->turn.steps--;
}

/* Second pass. */
static void walk_turns(struct walk *w, const struct smxi_dc_state *s, unsigned spent, unsigned dice_left)
{
	if (dice_left == 0)
		return;
	struct view v;
	view_state(&v, s, w->mover);
	for (unsigned die = 0; die < 6; die++) {
		if (!w->left[die])
			continue;
		struct micro_move moves[MOVES_MAX];
		const unsigned count = list_moves(s, &v, moves, die, w->mover);
		w->left[die]--;
		for (unsigned i = 0; i < count && !w->stopped; i++) {
			const struct micro_move *m = &moves[i];
			const unsigned promotion = m->becomes != m->code ? m->becomes & 7 : 0;
			const uint16_t step = smxi_dc_step(m->from, m->to, promotion);
			if ((m->taken & 7) == KING + 1) {
				if (w->wins) {
					w->turn.step[w->turn.steps++] = step;
					w->turn.spent = (uint8_t)(spent + 1);
					w->turn.wins = true;
					if (!w->visit(w->context, &w->turn, NULL))
						w->stopped = true;
					w->turn.steps--;
				}
				continue;
			}
			struct smxi_dc_state child;
			make_micro_move(&child, s, m);
			child.halfmove = next_halfmove(s, m);
			descend(w, &child, step, spent + 1, dice_left - 1);
		}
		w->left[die]++;
	}
	if (w->left[ROOK] && w->left[KING]) {
		const unsigned can = castlings(s, v.occupied, w->mover), row = w->mover == SMX_BLACK ? 56 : 0;
		w->left[ROOK]--;
		w->left[KING]--;
		for (unsigned queen_side = 0; queen_side < 2 && !w->stopped; queen_side++)
			if (can >> queen_side & 1) {
				struct smxi_dc_state child;
				make_castling(&child, s, queen_side, w->mover);
				child.halfmove = s->halfmove < 127 ? s->halfmove + 1 : 127;
				descend(w, &child, smxi_dc_step(row + 4, row + (queen_side ? 2 : 6), 0), spent + 2, dice_left - 2);
			}
		w->left[ROOK]++;
		w->left[KING]++;
	}
}

void SMXI_DC_ISA(smxi_dc_turns)(const struct smx_position *position, smx_turn_visitor *visit, void *context);

void SMXI_DC_ISA(smxi_dc_turns)(const struct smx_position *position, smx_turn_visitor *visit, void *context)
{
	const struct smxi_dc_state *s = (const struct smxi_dc_state *)position->state;
	const int outcome = position->outcome;
	assert(outcome >= 0 && outcome < SMX_DICECHESS_ROLLS);
	struct walk w = {.mover = s->side, .visit = visit, .context = context};
	const unsigned dice = smxi_dc_rolls.count[outcome];
	for (unsigned i = 0; i < dice; i++)
		w.left[smxi_dc_rolls.dice[outcome][i]]++;
	w.king = smxi_lowest(smxi_dc_pieces(s, KING + 1 + (s->side == SMX_BLACK ? 0 : 8)));
	struct smxi_dc_state start;
	begin_turn(&start, s);
	measure(&w, &start, 0, dice);
	if (w.most_spent == 0) {
		emit(&w, &start, 0);
		return;
	}
	if (w.can_win) {
		w.wins = true;
		walk_turns(&w, &start, 0, dice);
		w.wins = false;
	}
	if (!w.stopped)
		walk_turns(&w, &start, 0, dice);
}

bool SMXI_DC_ISA(smxi_dc_queen_capture)(const struct smxi_dc_state *state, int outcome);
uint64_t SMXI_DC_ISA(smxi_dc_perft)(const struct smxi_dc_state *state, unsigned die, unsigned depth);

/* Whether some sequence of micro-moves within the dice takes an enemy queen: any sequence, as the reference counts. It need not
 * be a whole legal turn, and may take the king on its way. */
static bool takes_queen(struct walk *w, const struct smxi_dc_state *s, unsigned dice_left)
{
	struct view v;
	view_state(&v, s, w->mover);
	const smxi_bits queens = v.enemy & v.type[QUEEN];
	for (unsigned die = 0; die < 6; die++) {
		if (!w->left[die])
			continue;
		struct micro_move moves[MOVES_MAX];
		const unsigned count = list_moves(s, &v, moves, die, w->mover);
		for (unsigned i = 0; i < count; i++)
			if (queens >> moves[i].to & 1)
				return true;
		if (dice_left == 1)
			continue;
		bool found = false;
		w->left[die]--;
		for (unsigned i = 0; i < count && !found; i++) {
			struct smxi_dc_state child;
			make_micro_move(&child, s, &moves[i]);
			found = takes_queen(w, &child, dice_left - 1);
		}
		w->left[die]++;
		if (found)
			return true;
	}
	if (w->left[ROOK] && w->left[KING] && dice_left == 3) {
		const unsigned can = castlings(s, v.occupied, w->mover);
		bool found = false;
		w->left[ROOK]--;
		w->left[KING]--;
		for (unsigned queen_side = 0; queen_side < 2 && !found; queen_side++)
			if (can >> queen_side & 1) {
				struct smxi_dc_state child;
				make_castling(&child, s, queen_side, w->mover);
				found = takes_queen(w, &child, dice_left - 2);
			}
		w->left[ROOK]++;
		w->left[KING]++;
		return found;
	}
	return false;
}

bool SMXI_DC_ISA(smxi_dc_queen_capture)(const struct smxi_dc_state *state, int outcome)
{
	struct walk w = {.mover = state->side};
	const unsigned dice = smxi_dc_rolls.count[outcome];
	for (unsigned i = 0; i < dice; i++)
		w.left[smxi_dc_rolls.dice[outcome][i]]++;
	struct smxi_dc_state start;
	begin_turn(&start, state);
	return takes_queen(&w, &start, dice);
}

/* Castling counts as a move of the king, whatever else it spends. */
uint64_t SMXI_DC_ISA(smxi_dc_perft)(const struct smxi_dc_state *state, unsigned die, unsigned depth)
{
	struct view v;
	view_state(&v, state, state->side);
	struct micro_move moves[MOVES_MAX];
	const unsigned count = list_moves(state, &v, moves, die, state->side);
	const unsigned can_castle = die == KING ? castlings(state, v.occupied, state->side) : 0;
	if (depth == 1)
		return count + (unsigned)__builtin_popcount(can_castle);
	uint64_t nodes = 0;
	struct smxi_dc_state turn, child;
	begin_turn(&turn, state);
	for (unsigned i = 0; i < count; i++) {
		if ((moves[i].taken & 7) == KING + 1)
			continue;
		make_micro_move(&child, &turn, &moves[i]);
		end_turn(&child);
		nodes += SMXI_DC_ISA(smxi_dc_perft)(&child, die, depth - 1);
	}
	for (unsigned queen_side = 0; queen_side < 2; queen_side++)
		if (can_castle >> queen_side & 1) {
			make_castling(&child, &turn, queen_side, state->side);
			end_turn(&child);
			nodes += SMXI_DC_ISA(smxi_dc_perft)(&child, die, depth - 1);
		}
	return nodes;
}
