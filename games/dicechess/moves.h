/* Micro-moves on a state, for the files compiled per instruction set. Everything is inlined into them. */
#ifndef SMXI_DICECHESS_MOVES_H
#define SMXI_DICECHESS_MOVES_H

#include "games/dicechess/isa.h"

#include <string.h>

/* No call passes a vector: everything here is inlined. */
#pragma GCC diagnostic ignored "-Wpsabi"

#define SMXI_INLINE static inline __attribute__((always_inline))

/* Four planes at once; the compiler makes of it what the instruction set has. may_alias: it views the states' own words. */
typedef uint64_t smxi_planes __attribute__((vector_size(32), may_alias));
typedef uint64_t smxi_key_words __attribute__((vector_size(16), may_alias));

enum { PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING }; /* dice */

#define RANK_1 UINT64_C(0x00000000000000ff)
#define FILE_A UINT64_C(0x0101010101010101)
#define FILE_H UINT64_C(0x8080808080808080)

/* The boards that move generation asks for, from the mover's side. */
struct view {
	smxi_bits occupied, own, enemy;
	smxi_bits type[6]; /* both sides */
};

SMXI_INLINE void view_state(struct view *v, const struct smxi_dc_state *s, const unsigned mover)
{
	const smxi_bits p0 = s->plane[0], p1 = s->plane[1], p2 = s->plane[2], black = s->plane[3];
	v->occupied = p0 | p1 | p2;
	v->own = mover == SMX_BLACK ? black : v->occupied & ~black;
	v->enemy = v->occupied ^ v->own;
	v->type[PAWN] = p0 & ~p1 & ~p2;
	v->type[KNIGHT] = p1 & ~p0 & ~p2;
	v->type[BISHOP] = p0 & p1;
	v->type[ROOK] = p2 & ~p0 & ~p1;
	v->type[QUEEN] = p0 & p2;
	v->type[KING] = p1 & p2;
}

SMXI_INLINE smxi_bits piece_attacks(const unsigned die, unsigned square, smxi_bits occupied)
{
	switch (die) {
	case KNIGHT:
		return smxi_dc_knight[square];
	case BISHOP:
		return smxi_dc_line(&smxi_dc_bishop[square], occupied);
	case ROOK:
		return smxi_dc_line(&smxi_dc_rook[square], occupied);
	case QUEEN:
		return smxi_dc_line(&smxi_dc_rook[square], occupied) | smxi_dc_line(&smxi_dc_bishop[square], occupied);
	default:
		return smxi_dc_king[square];
	}
}

/* Pawn boards moved a step the mover's way, toward east and west for captures. */
SMXI_INLINE smxi_bits pawns_forward(smxi_bits pawns, const unsigned mover)
{
	return mover == SMX_BLACK ? pawns >> 8 : pawns << 8;
}

SMXI_INLINE smxi_bits pawns_east(smxi_bits pawns, const unsigned mover)
{
	return mover == SMX_BLACK ? (pawns & ~FILE_H) >> 7 : (pawns & ~FILE_H) << 9;
}

SMXI_INLINE smxi_bits pawns_west(smxi_bits pawns, const unsigned mover)
{
	return mover == SMX_BLACK ? (pawns & ~FILE_A) >> 9 : (pawns & ~FILE_A) << 7;
}

SMXI_INLINE smxi_bits rank_for(unsigned rank, const unsigned mover)
{
	return RANK_1 << 8 * (mover == SMX_BLACK ? 7 - rank : rank);
}

/* The squares where the mover can capture en passant: the enemy's live targets that are empty. A target lives while
 * its pawn stands in front of it (the enemy's pawns cannot move now), so captures need not keep the set. */
SMXI_INLINE smxi_bits live_targets(const struct smxi_dc_state *s, const struct view *v, const unsigned mover)
{
	smxi_bits squares = mover == SMX_BLACK ? (smxi_bits)(s->targets & 0xffu) << 16 : (smxi_bits)(s->targets >> 8) << 40;
	if (squares)
		squares &= ~v->occupied & pawns_forward(v->enemy & v->type[PAWN], mover);
	return squares;
}

/* The castlings the board allows now: bit 0 the king's side, bit 1 the queen's. Attacked squares do not matter. */
SMXI_INLINE unsigned castlings(const struct smxi_dc_state *s, smxi_bits occupied, const unsigned mover)
{
	const unsigned rights = mover == SMX_BLACK ? s->rights >> 2 : s->rights & 3u;
	if (rights == 0)
		return 0;
	const smxi_bits row = mover == SMX_BLACK ? occupied >> 56 : occupied & 0xff;
	unsigned can = 0;
	if ((rights & SMXI_RIGHT_WK) && !(row & 0x60))
		can |= 1;
	if ((rights & SMXI_RIGHT_WQ) && !(row & 0x0e))
		can |= 2;
	return can;
}

/* The dice whose pieces attack the enemy king, as a mask. */
SMXI_INLINE unsigned king_attackers(const struct view *v, unsigned king, const unsigned mover)
{
	const smxi_bits diagonal = smxi_dc_line(&smxi_dc_bishop[king], v->occupied) & v->own;
	const smxi_bits straight = smxi_dc_line(&smxi_dc_rook[king], v->occupied) & v->own;
	unsigned dice = (smxi_dc_pawn[!mover][king] & v->own & v->type[PAWN]) != 0;
	dice |= (unsigned)((smxi_dc_knight[king] & v->own & v->type[KNIGHT]) != 0) << KNIGHT;
	dice |= (unsigned)((diagonal & v->type[BISHOP]) != 0) << BISHOP;
	dice |= (unsigned)((straight & v->type[ROOK]) != 0) << ROOK;
	dice |= (unsigned)(((diagonal | straight) & v->type[QUEEN]) != 0) << QUEEN;
	dice |= (unsigned)((smxi_dc_king[king] & v->own & v->type[KING]) != 0) << KING;
	return dice;
}

/* All ones in the planes where a piece code has a bit. */
SMXI_INLINE smxi_planes code_planes(unsigned code)
{
	static const _Alignas(32) uint64_t planes[16][4] = {
#define ROW(code) \
	{(code)&1 ? ~UINT64_C(0) : 0, (code)&2 ? ~UINT64_C(0) : 0, (code)&4 ? ~UINT64_C(0) : 0, (code)&8 ? ~UINT64_C(0) : 0}
		ROW(0), ROW(1), ROW(2),  ROW(3),  ROW(4),  ROW(5),  ROW(6),  ROW(7),
		ROW(8), ROW(9), ROW(10), ROW(11), ROW(12), ROW(13), ROW(14), ROW(15),
#undef ROW
	};
	return *(const smxi_planes *)planes[code];
}

SMXI_INLINE smxi_planes spread(smxi_bits bits)
{
	return (smxi_planes){bits, bits, bits, bits};
}

SMXI_INLINE const smxi_key_words *piece_key(unsigned code, unsigned square)
{
	return (const smxi_key_words *)smxi_dc_keys.piece[code][square].word;
}

/* One micro-move, complete but for who is to move: a state in the middle of a turn. Its key is already that of the
 * position after the turn: open_turn took the side and the enemy's targets out of it once. */
struct micro_move {
	unsigned from, to;
	unsigned code, becomes;           /* piece code before and after (promotion) */
	unsigned taken, taken_on;         /* piece code (0: none) and its square */
	unsigned new_target, lost_target; /* index + 1; 0: none */
};

SMXI_INLINE void begin_turn(struct smxi_dc_state *turn, const struct smxi_dc_state *s)
{
	*turn = *s;
	turn->last_type = turn->last_from = turn->last_to = 0;
	smxi_key_flip(&turn->key, &smxi_dc_keys.black_to_move);
	const unsigned leaving = s->targets & SMXI_DC_TARGETS_OF(!s->side);
	for (unsigned left = leaving; left; left &= left - 1)
		smxi_key_flip(&turn->key, &smxi_dc_keys.target[(unsigned)__builtin_ctz(left)]);
}

/* The other half: the mover's turn is over. */
SMXI_INLINE void end_turn(struct smxi_dc_state *s)
{
	s->targets &= SMXI_DC_TARGETS_OF(s->side);
	s->side ^= 1;
	s->last_type = s->last_from = s->last_to = 0;
}

SMXI_INLINE void make_micro_move(struct smxi_dc_state *to, const struct smxi_dc_state *from, const struct micro_move *m)
{
	const smxi_bits from_bit = smxi_bit(m->from), to_bit = smxi_bit(m->to);
	smxi_key_words key = *(const smxi_key_words *)from->key.word;
	key ^= *piece_key(m->code, m->from) ^ *piece_key(m->becomes, m->to);
	smxi_planes planes = *(const smxi_planes *)from->plane;
	planes ^= (code_planes(m->code) & spread(from_bit)) ^ (code_planes(m->becomes) & spread(to_bit));
	int material = from->material;
	if (m->becomes != m->code)
		material += (m->code & 8 ? -1 : 1) * (smxi_dc_material[m->becomes & 7] - smxi_dc_material[PAWN + 1]);
	if (m->taken) {
		key ^= *piece_key(m->taken, m->taken_on);
		planes ^= code_planes(m->taken) & spread(smxi_bit(m->taken_on));
		material += (m->taken & 8 ? 1 : -1) * smxi_dc_material[m->taken & 7];
	}
	unsigned targets = from->targets;
	if (m->new_target) {
		targets |= 1u << (m->new_target - 1);
		key ^= *(const smxi_key_words *)smxi_dc_keys.target[m->new_target - 1].word;
	}
	if (m->lost_target) {
		targets &= ~(1u << (m->lost_target - 1));
		key ^= *(const smxi_key_words *)smxi_dc_keys.target[m->lost_target - 1].word;
	}
	const unsigned rights = from->rights & smxi_dc_rights_kept[m->from] & smxi_dc_rights_kept[m->to];
	if (rights != from->rights)
		key ^= *(const smxi_key_words *)smxi_dc_keys.rights[rights].word ^
		       *(const smxi_key_words *)smxi_dc_keys.rights[from->rights].word;
	*(smxi_key_words *)to->key.word = key;
	*(smxi_planes *)to->plane = planes;
	to->targets = (uint16_t)targets;
	to->fullmove = from->fullmove;
	to->rights = (uint8_t)rights;
	to->side = from->side;
	to->halfmove = from->halfmove;
	to->material = (int16_t)material;
	to->unused = 0;
}

/* Castling on one side; spends the king's and the rook's die. */
SMXI_INLINE void make_castling(struct smxi_dc_state *to, const struct smxi_dc_state *from, bool queen_side,
                               const unsigned mover)
{
	const unsigned row = mover == SMX_BLACK ? 56 : 0, color = mover == SMX_BLACK ? 8 : 0;
	const struct micro_move king = {
		.from = row + 4, .to = row + (queen_side ? 2 : 6), .code = color + KING + 1, .becomes = color + KING + 1};
	const struct micro_move rook = {.from = row + (queen_side ? 0 : 7),
	                                .to = row + (queen_side ? 3 : 5),
	                                .code = color + ROOK + 1,
	                                .becomes = color + ROOK + 1};
	struct smxi_dc_state half;
	make_micro_move(&half, from, &king);
	make_micro_move(to, &half, &rook);
	to->last_type = to->last_from = to->last_to = 0;
}

/* The mover's own target that dies when a pawn leaves a square: index + 1, or 0. */
SMXI_INLINE unsigned target_lost_by_leaving(const struct smxi_dc_state *s, unsigned from, const unsigned mover)
{
	const unsigned base = mover == SMX_BLACK ? 32 : 24, shift = mover == SMX_BLACK ? 8 : 0;
	const unsigned file = from - base;
	return file < 8 && (s->targets >> (file + shift) & 1) ? file + shift + 1 : 0;
}

#endif
