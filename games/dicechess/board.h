/* The Dice Chess board: how a state is laid out, and what every file of this folder may ask of it. */
#ifndef SMXI_DICECHESS_BOARD_H
#define SMXI_DICECHESS_BOARD_H

#include <starmax/dicechess.h>

#include <assert.h>
#include <stdint.h>

/* Squares: a1 = 0, b1 = 1, ..., h8 = 63. A piece code is its type 1..6, plus 8 for Black; 0 is an empty square. */
typedef uint64_t smxi_bits;

enum { SMXI_RIGHT_WK = 1, SMXI_RIGHT_WQ = 2, SMXI_RIGHT_BK = 4, SMXI_RIGHT_BQ = 8 };

/* One cache line. The key covers planes, side, rights and targets; the clocks are not part of a position's identity and are
 * kept only for positions that were read and for the turns of a root (0 and 1 inside a search).
 * Invariants: exactly one king a side; material = sum of piece values, White minus Black, kings left out;
 * every target has a pawn of the side that created it in front of it. */
struct smxi_dc_state {
	_Alignas(SMX_CACHE_LINE) struct smx_key key;
	uint16_t targets; /* live en-passant targets: bit f is file f on rank 3 (White's), bit 8 + f on rank 6 (Black's) */
	uint16_t fullmove;
	uint8_t rights;
	uint8_t side;
	uint8_t halfmove;
	uint8_t last_type; /* the kernel's: the last micro-move, 0 where none or where it commutes with nothing */
	uint8_t last_from;
	uint8_t last_to;
	int16_t material;
	uint32_t unused;    /* 0: states can be compared as bytes */
	smxi_bits plane[4]; /* bit k of the piece code of every square */
};
_Static_assert(sizeof(struct smxi_dc_state) == 64, "a state is one cache line");

/* Key material: fixed pseudo-random numbers, the same on every machine, so that saved tables can be read anywhere. */
struct smxi_dc_keys {
	_Alignas(SMX_CACHE_LINE) struct smx_key piece[16][64]; /* by piece code and square; code 0 is all zero */
	struct smx_key rights[16];
	struct smx_key target[16];
	struct smx_key black_to_move;
};
extern struct smxi_dc_keys smxi_dc_keys;
extern smxi_bits smxi_dc_knight[64], smxi_dc_king[64],
	smxi_dc_pawn[2][64];                  /* squares attacked from a square, by side */
extern smxi_bits smxi_dc_between[64][64]; /* squares strictly between two on one line; else empty */
extern uint8_t smxi_dc_rights_kept[64];   /* castling rights that survive a move from or to a square */
extern const int16_t smxi_dc_material[8]; /* by type, centipawns; the king 0 */

/* Attacks of rooks and bishops, by square and blockers: attacks[(blockers & mask) * magic >> shift]. */
struct smxi_dc_line_attacks {
	smxi_bits mask;
	uint64_t magic;
	const smxi_bits *attacks;
	unsigned shift;
};
extern struct smxi_dc_line_attacks smxi_dc_rook[64], smxi_dc_bishop[64];

/* The 56 rolls. Dice types are counted 0..5 here (P N B R Q K), pairs 0..20 in the same lexicographic order. */
struct smxi_dc_rolls {
	uint8_t dice[SMX_DICECHESS_ROLLS][3]; /* ascending; unused dice are 0xff */
	uint8_t count[SMX_DICECHESS_ROLLS];
	uint32_t weight[SMX_DICECHESS_OUTCOMES];
	uint8_t pair[6][6];
	uint8_t triple[6][6][6];
	uint64_t with[6]; /* masks of the rolls that hold a die, and a pair of dice */
	uint64_t with_pair[21];
	uint32_t weight_with_any[64]; /* weight of the rolls that hold a die of a set, by mask of dice */
};
extern struct smxi_dc_rolls smxi_dc_rolls;

/* Fills the tables of this header once; every public entry of the game calls it. Thread-safe. */
void smxi_dc_init(void);

static inline smxi_bits smxi_dc_line(const struct smxi_dc_line_attacks *line, smxi_bits occupied)
{
	return line->attacks[(occupied & line->mask) * line->magic >> line->shift];
}

static inline smxi_bits smxi_bit(unsigned square)
{
	return UINT64_C(1) << square;
}

static inline unsigned smxi_lowest(smxi_bits bits)
{
	return (unsigned)__builtin_ctzll(bits);
}

static inline void smxi_key_flip(struct smx_key *key, const struct smx_key *by)
{
	key->word[0] ^= by->word[0];
	key->word[1] ^= by->word[1];
}

static inline smxi_bits smxi_dc_occupied(const struct smxi_dc_state *s)
{
	return s->plane[0] | s->plane[1] | s->plane[2];
}

/* All pieces of one side, and all of one code. */
static inline smxi_bits smxi_dc_side(const struct smxi_dc_state *s, unsigned side)
{
	smxi_bits occupied = smxi_dc_occupied(s);
	return side ? s->plane[3] : occupied & ~s->plane[3];
}

static inline smxi_bits smxi_dc_pieces(const struct smxi_dc_state *s, unsigned code)
{
	return (code & 1 ? s->plane[0] : ~s->plane[0]) & (code & 2 ? s->plane[1] : ~s->plane[1]) &
	       (code & 4 ? s->plane[2] : ~s->plane[2]) & (code & 8 ? s->plane[3] : ~s->plane[3]);
}

static inline unsigned smxi_dc_piece_at(const struct smxi_dc_state *s, unsigned square)
{
	return (unsigned)((s->plane[0] >> square & 1) | (s->plane[1] >> square & 1) << 1 |
	                  (s->plane[2] >> square & 1) << 2 | (s->plane[3] >> square & 1) << 3);
}

/* Put a piece on an empty square, or take it off: planes and key together; material is the caller's. */
static inline void smxi_dc_flip_piece(struct smxi_dc_state *s, unsigned code, unsigned square)
{
	for (unsigned k = 0; k < 4; k++)
		s->plane[k] ^= (smxi_bits)(code >> k & 1) << square;
	smxi_key_flip(&s->key, &smxi_dc_keys.piece[code][square]);
}

/* Key and material from nothing, of the planes, side, rights and targets. */
struct smx_key smxi_dc_compute_key(const struct smxi_dc_state *s);
int16_t smxi_dc_compute_material(const struct smxi_dc_state *s);

/* The target of file f created by `side`, as a bit of `targets`, as a square, and the square of its pawn. */
static inline unsigned smxi_dc_target_square(unsigned target)
{
	return target < 8 ? 16 + target : 40 + (target - 8);
}

static inline unsigned smxi_dc_target_pawn_square(unsigned target)
{
	return target < 8 ? 24 + target : 32 + (target - 8);
}

#define SMXI_DC_TARGETS_OF(side) ((uint16_t)((side) ? 0xff00u : 0x00ffu))

/* DFEN (dfen.c), in the form of the game hooks. */
enum smx_status smxi_dc_parse(const char *text, size_t length, struct smx_position *position, struct smx_error *error);
size_t smxi_dc_format(const struct smx_position *position, char *text);
size_t smxi_dc_draw(const struct smx_position *position, char *text);
size_t smxi_dc_format_turn(const struct smx_turn *turn, char *text);

/* A micro-move in a turn's step: from | to << 6 | promotion type << 12 (0: none). */
static inline uint16_t smxi_dc_step(unsigned from, unsigned to, unsigned promotion)
{
	return (uint16_t)(from | to << 6 | promotion << 12);
}

#endif
