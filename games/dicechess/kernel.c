/* The shared-set kernel: one chance node, all 56 rolls at once.
 *
 * Sets of states in the middle of a turn are built once and shared by all the rolls that pass through them: S1[a] after a move of
 * die a (6 sets), S2[ab] after one move each of dice a and b in either order (21 sets). Only the third move is made per roll: from S2[ab]
 * by c, from S2[ac] by b and from S2[bc] by a. Four things keep the work small:
 *
 * - Decided rolls. Where a piece attacks the enemy king in the root, in S1[a] or in S2[ab], every roll that holds the attacker's die
 *   (with a, with a and b) takes the king. Those rolls are never generated, nor sets that only they need.
 * - Commuting moves. A move is skipped when it sorts (by die, then from-square) below the move before it and the two
 *   do not interact, because the other order is generated: exchanging them raises the last move's sort key, so repeated exchanges
 *   end at a path that is not skipped. This needs S2 complete as a set, and holds whichever path each state of it remembers.
 * - Keys before boards. A child's 128-bit key is known before its board is built; known keys build nothing.
 * - Folding. An evaluator that only looks at material needs the best capture of the third die, not its moves.
 *
 * Where it loses: a caller that wants one roll only. turns.c generates a single roll's turns, in the reference order.
 *
 * The maximum rule: an undecided roll has no king capture, so its turns spend as many dice as any sequence can: three if the
 * last level has a state, else two if one of the roll's S2 sets has, else one; else the turn is a pass.
 *
 * Compiled once per instruction set (SMXI_ISA). Results, and the order of every list, are the same in all. */
#include "games/dicechess/moves.h"

#include <limits.h>

enum {
	MOVES_OF_ONE_DIE = 256, /* no die has more moves in a position that the reader accepts: nine queens have 243 */
	OPEN_STATES = 2048,     /* an ordinary node has some 1,200 states in S1 and S2 */
	OPEN_SLOTS = 1024,      /* of which 200 are in one set */
	CHILDREN_OF_STATE = 8,  /* states made of an S2 state by one more die, seldom more; more only cost a copy */
};

struct set {
	const struct smxi_dc_state *states;
	uint32_t count;
};

struct expansion {
	struct smxi_dc_expansion_head head;
	struct smxi_dc_state start; /* begin_turn of the chance node's state */
	struct set s1[6], s2[21];
};

/* A set being built: states in arena memory, found again by key through open addressing.
 * Slots hold base + index; values below base are free, so the next set needs no clearing: 1 <= base, and every
 * slot < base + count. */
struct builder {
	struct smxi_dc_state *states; /* of this set */
	uint32_t count, base;
	uint32_t *slots, slot_mask;
	/* how a child is finished */
	uint16_t targets_kept;
	uint8_t side;
	bool remembers;            /* children carry their last move */
	bool failed;               /* no memory */
	uint32_t before, capacity; /* states of earlier sets in the same piece of memory, and what it holds in all */
	struct smx_arena *arena;
};

/* States that the slots serve well: seven eighths would be full if one state made all the moves a die can have. */
#define SLOTS_FOR(b) ((b)->slot_mask / 8 * 7)

static uint32_t *new_slots(struct smx_arena *arena, uint32_t count)
{
	uint32_t *slots = smx_arena_alloc(arena, count * sizeof *slots);
	if (slots)
		memset(slots, 0, count * sizeof *slots);
	return slots;
}

/* states: room to begin with; slots: a power of two. */
static bool builder_open(struct builder *b, struct smx_arena *arena, uint32_t states, uint32_t slots)
{
	*b = (struct builder){.base = 1, .arena = arena, .capacity = states, .slot_mask = slots - 1};
	b->slots = new_slots(arena, slots);
	b->states = smx_arena_alloc(arena, states * sizeof *b->states);
	b->failed = !b->slots || !b->states;
	return !b->failed;
}

static bool builder_grow(struct builder *b)
{
	if (b->before + b->count + MOVES_OF_ONE_DIE > b->capacity) {
		struct smxi_dc_state *first = b->states - b->before;
		const size_t old = b->capacity * sizeof *first;
		first = smx_arena_grow(b->arena, first, old, 2 * old);
		if (!first)
			return false;
		b->capacity *= 2;
		b->states = first + b->before;
	}
	if (b->count + MOVES_OF_ONE_DIE > SLOTS_FOR(b)) {
		const uint32_t slots = 4 * (b->slot_mask + 1);
		b->slots = new_slots(b->arena, slots);
		if (!b->slots)
			return false;
		b->slot_mask = slots - 1;
		for (uint32_t i = 0; i < b->count; i++) {
			uint32_t at = (uint32_t)b->states[i].key.word[0] & b->slot_mask;
			while (b->slots[at])
				at = (at + 1) & b->slot_mask;
			b->slots[at] = b->base + i;
		}
	}
	return true;
}

/* Room for all moves of one die from one more state. */
SMXI_INLINE bool builder_reserve(struct builder *b)
{
	if (b->failed)
		return false;
	if (__builtin_expect(
			b->before + b->count + MOVES_OF_ONE_DIE > b->capacity || b->count + MOVES_OF_ONE_DIE > SLOTS_FOR(b), 0))
		b->failed = !builder_grow(b);
	return !b->failed;
}

/* End the set that was built and begin the next behind it. */
static struct set builder_take(struct builder *b)
{
	const struct set set = {b->states, b->count};
	b->states += b->count;
	b->before += b->count;
	b->base += b->count;
	b->count = 0;
	return set;
}

/* The place for a child with this key, or NULL where the set has one. */
SMXI_INLINE struct smxi_dc_state *insert(struct builder *b, smxi_key_words key)
{
	const uint64_t low = key[0];
	uint32_t at = (uint32_t)low & b->slot_mask;
	for (;;) {
		const uint32_t value = b->slots[at];
		if (value < b->base)
			break;
		const struct smxi_dc_state *other = &b->states[value - b->base];
		if (other->key.word[0] == low && other->key.word[1] == key[1])
			return NULL;
		at = (at + 1) & b->slot_mask;
	}
	b->slots[at] = b->base + b->count;
	return &b->states[b->count++];
}

SMXI_INLINE void emit_made(struct builder *b, const struct smxi_dc_state *made, unsigned last_type, unsigned from,
                           unsigned to)
{
	struct smxi_dc_state *child = insert(b, *(const smxi_key_words *)made->key.word);
	if (!child)
		return;
	*child = *made;
	child->targets &= b->targets_kept;
	child->side = b->side;
	child->last_type = (uint8_t)(b->remembers ? last_type : 0);
	child->last_from = (uint8_t)(b->remembers ? from : 0);
	child->last_to = (uint8_t)(b->remembers ? to : 0);
}

/* What the quiet moves of one piece have in common. */
struct quiet {
	smxi_key_words key;
	smxi_planes planes, code_planes;
	struct smxi_dc_state rest; /* what stands between key and planes */
	unsigned code;
};

enum { REST = offsetof(struct smxi_dc_state, targets), REST_BYTES = offsetof(struct smxi_dc_state, plane) - REST };

SMXI_INLINE void quiet_begin(struct quiet *q, const struct builder *b, const struct smxi_dc_state *s, unsigned die,
                             unsigned code, unsigned from)
{
	q->code = code;
	q->code_planes = code_planes(code);
	q->key = *(const smxi_key_words *)s->key.word ^ *piece_key(code, from);
	q->planes = *(const smxi_planes *)s->plane ^ (q->code_planes & spread(smxi_bit(from)));
	q->rest.targets = s->targets & b->targets_kept;
	q->rest.fullmove = s->fullmove;
	q->rest.rights = s->rights & smxi_dc_rights_kept[from];
	if (q->rest.rights != s->rights)
		q->key ^= *(const smxi_key_words *)smxi_dc_keys.rights[q->rest.rights].word ^
		          *(const smxi_key_words *)smxi_dc_keys.rights[s->rights].word;
	q->rest.side = b->side;
	q->rest.halfmove = s->halfmove;
	q->rest.last_type = (uint8_t)(b->remembers ? die + 1 : 0);
	q->rest.last_from = (uint8_t)(b->remembers ? from : 0);
	q->rest.last_to = 0;
	q->rest.material = s->material;
	q->rest.unused = 0;
}

SMXI_INLINE void quiet_emit(struct builder *b, const struct quiet *q, unsigned to)
{
	const smxi_key_words key = q->key ^ *piece_key(q->code, to);
	struct smxi_dc_state *child = insert(b, key);
	if (!child)
		return;
	*(smxi_key_words *)child->key.word = key;
	*(smxi_planes *)child->plane = q->planes ^ (q->code_planes & spread(smxi_bit(to)));
	memcpy((char *)child + REST, (const char *)&q->rest + REST, REST_BYTES);
	child->last_to = (uint8_t)(b->remembers ? to : 0);
}

SMXI_INLINE void emit_pieces(struct builder *b, const struct smxi_dc_state *s, const struct view *v, const unsigned die,
                             unsigned code, unsigned from, smxi_bits to_squares)
{
	assert(!(to_squares & v->enemy & v->type[KING]));
	smxi_bits quiet_squares = to_squares & ~v->occupied;
	if (quiet_squares) {
		struct quiet q;
		quiet_begin(&q, b, s, die, code, from);
		do
			quiet_emit(b, &q, smxi_lowest(quiet_squares));
		while (quiet_squares &= quiet_squares - 1);
	}
	for (smxi_bits captures = to_squares & v->enemy; captures; captures &= captures - 1) {
		const unsigned to = smxi_lowest(captures);
		const struct micro_move m = {
			.from = from, .to = to, .code = code, .becomes = code, .taken = smxi_dc_piece_at(s, to), .taken_on = to};
		struct smxi_dc_state made;
		make_micro_move(&made, s, &m);
		emit_made(b, &made, die + 1, from, to);
	}
}

SMXI_INLINE void generate_pieces(struct builder *b, const struct smxi_dc_state *s, const struct view *v,
                                 const unsigned die, const unsigned mover, smxi_bits restricted)
{
	const unsigned code = die + 1 + (mover == SMX_BLACK ? 8 : 0);
	const smxi_bits pieces = v->own & v->type[die];
	for (smxi_bits left = pieces & ~restricted; left; left &= left - 1) {
		const unsigned from = smxi_lowest(left);
		emit_pieces(b, s, v, die, code, from, piece_attacks(die, from, v->occupied) & ~v->own);
	}
	restricted &= pieces;
	if (!restricted)
		return;
	/* The last move interacts with a move that lands on the squares it passed or left, or that passes the one it left. */
	const smxi_bits left_square = smxi_bit(s->last_from);
	const smxi_bits touched = left_square | smxi_dc_between[s->last_from][s->last_to];
	for (; restricted; restricted &= restricted - 1) {
		const unsigned from = smxi_lowest(restricted);
		const smxi_bits reach = piece_attacks(die, from, v->occupied) & ~v->own;
		smxi_bits interacting = reach & touched;
		if (!interacting)
			continue;
		if (die != KNIGHT && die != KING && (reach & left_square))
			interacting |= reach & ~piece_attacks(die, from, v->occupied | left_square);
		emit_pieces(b, s, v, die, code, from, interacting);
	}
}

SMXI_INLINE void emit_pawn(struct builder *b, const struct smxi_dc_state *s, struct micro_move *m, const unsigned mover,
                           unsigned last_type)
{
	const unsigned color = mover == SMX_BLACK ? 8 : 0;
	m->code = color + PAWN + 1;
	const bool promotes = mover == SMX_BLACK ? m->to < 8 : m->to >= 56;
	for (unsigned type = promotes ? QUEEN : PAWN;; type--) {
		m->becomes = color + type + 1;
		struct smxi_dc_state made;
		make_micro_move(&made, s, m);
		emit_made(b, &made, last_type, m->from, m->to);
		if (type == PAWN || type == KNIGHT)
			break;
	}
}

SMXI_INLINE void generate_pawns(struct builder *b, const struct smxi_dc_state *s, const struct view *v,
                                const unsigned mover, smxi_bits restricted)
{
	const int step = mover == SMX_BLACK ? -8 : 8;
	const smxi_bits empty = ~v->occupied, pawns = v->own & v->type[PAWN];
	restricted &= pawns;
	const smxi_bits unrestricted = pawns & ~restricted;
	const smxi_bits third = rank_for(2, mover), last_rank = rank_for(7, mover);

	smxi_bits single = pawns_forward(unrestricted, mover) & empty;
	smxi_bits twice = pawns_forward(single & third, mover) & empty;
	smxi_bits en_passant_pawns = pawns;
	smxi_bits en_passant_squares = live_targets(s, v, mover), en_passant_restricted = 0;
	if (restricted) {
		const smxi_bits left_square = smxi_bit(s->last_from);
		const smxi_bits touched = left_square | smxi_dc_between[s->last_from][s->last_to];
		const smxi_bits steps = pawns_forward(restricted, mover) & empty;
		single |= steps & touched;
		twice |= pawns_forward(steps & third, mover) & empty & (touched | pawns_forward(left_square, mover));
		en_passant_restricted = touched;
	}

	for (smxi_bits left = single; left; left &= left - 1) {
		const unsigned to = smxi_lowest(left), from = (unsigned)((int)to - step);
		const unsigned lost = target_lost_by_leaving(s, from, mover);
		if (lost || (left & -left & last_rank)) {
			struct micro_move m = {.from = from, .to = to, .lost_target = lost};
			emit_pawn(b, s, &m, mover, PAWN + 1);
		} else {
			struct quiet q;
			quiet_begin(&q, b, s, PAWN, PAWN + 1 + (mover == SMX_BLACK ? 8 : 0), from);
			quiet_emit(b, &q, to);
		}
	}
	for (; twice; twice &= twice - 1) {
		const unsigned to = smxi_lowest(twice), target = to % 8 + (mover == SMX_BLACK ? 8 : 0);
		struct micro_move m = {.from = (unsigned)((int)to - 2 * step), .to = to, .new_target = target + 1};
		emit_pawn(b, s, &m, mover, PAWN + 1);
	}
	for (unsigned west = 0; west < 2; west++) {
		const int side_step = step + (west ? -1 : 1);
		smxi_bits captures = west ? pawns_west(unrestricted, mover) : pawns_east(unrestricted, mover);
		for (captures &= v->enemy; captures; captures &= captures - 1) {
			const unsigned to = smxi_lowest(captures), from = (unsigned)((int)to - side_step);
			assert(smxi_dc_piece_at(s, to) % 8 != KING + 1);
			struct micro_move m = {.from = from,
			                       .to = to,
			                       .taken = smxi_dc_piece_at(s, to),
			                       .taken_on = to,
			                       .lost_target = target_lost_by_leaving(s, from, mover)};
			emit_pawn(b, s, &m, mover, PAWN + 1);
		}
		if (!en_passant_squares)
			continue;
		smxi_bits passing = west ? pawns_west(en_passant_pawns, mover) : pawns_east(en_passant_pawns, mover);
		for (passing &= en_passant_squares; passing; passing &= passing - 1) {
			const unsigned to = smxi_lowest(passing), from = (unsigned)((int)to - side_step);
			if ((restricted >> from & 1) && !(en_passant_restricted >> to & 1))
				continue;
			const unsigned taken_on = (unsigned)((int)to - step);
			struct micro_move m = {.from = from,
			                       .to = to,
			                       .taken = PAWN + 1 + (mover == SMX_BLACK ? 0 : 8),
			                       .taken_on = taken_on,
			                       .lost_target = target_lost_by_leaving(s, from, mover)};
			/* it empties a third square: never taken as commuting with what follows */
			emit_pawn(b, s, &m, mover, 0);
		}
	}
}

/* Add to the set under construction what one move of a die makes of each state. */
SMXI_INLINE void expand_set(struct builder *shared, struct set from, const unsigned die, const unsigned mover)
{
	struct builder b = *shared; /* stores into states cannot alias a local: its fields stay in registers */
	for (uint32_t i = 0; i < from.count; i++) {
		if (!builder_reserve(shared)) /* reads b's count through shared */
			return;
		b.states = shared->states;
		b.slots = shared->slots;
		b.slot_mask = shared->slot_mask;
		const struct smxi_dc_state *s = &from.states[i];
		struct view v;
		view_state(&v, s, mover);
		smxi_bits restricted = 0;
		if (s->last_type > die + 1)
			restricted = v.own;
		else if (s->last_type == die + 1)
			restricted = (smxi_bit(s->last_from) - 1) & ~smxi_bit(s->last_to);
		if (die == PAWN)
			generate_pawns(&b, s, &v, mover, restricted);
		else
			generate_pieces(&b, s, &v, die, mover, restricted);
		shared->count = b.count;
	}
}

#define EXPAND(die, mover, name)                         \
	static void name(struct builder *b, struct set from) \
	{                                                    \
		expand_set(b, from, die, mover);                 \
	}
EXPAND(PAWN, SMX_WHITE, white_pawns)
EXPAND(KNIGHT, SMX_WHITE, white_knights)
EXPAND(BISHOP, SMX_WHITE, white_bishops)
EXPAND(ROOK, SMX_WHITE, white_rooks)
EXPAND(QUEEN, SMX_WHITE, white_queens)
EXPAND(KING, SMX_WHITE, white_king)
EXPAND(PAWN, SMX_BLACK, black_pawns)
EXPAND(KNIGHT, SMX_BLACK, black_knights)
EXPAND(BISHOP, SMX_BLACK, black_bishops)
EXPAND(ROOK, SMX_BLACK, black_rooks)
EXPAND(QUEEN, SMX_BLACK, black_queens)
EXPAND(KING, SMX_BLACK, black_king)
#undef EXPAND

static void expand(struct builder *b, struct set from, unsigned die, unsigned mover)
{
	static void (*const by[2][6])(struct builder *, struct set) = {
		{white_pawns, white_knights, white_bishops, white_rooks, white_queens, white_king},
		{black_pawns, black_knights, black_bishops, black_rooks, black_queens, black_king},
	};
	by[mover][die](b, from);
}

static void expand_castling(struct builder *b, struct set from, unsigned mover)
{
	for (uint32_t i = 0; i < from.count && builder_reserve(b); i++) {
		const struct smxi_dc_state *s = &from.states[i];
		const unsigned can = castlings(s, smxi_dc_occupied(s), mover);
		for (unsigned queen_side = 0; queen_side < 2; queen_side++)
			if (can >> queen_side & 1) {
				struct smxi_dc_state made;
				make_castling(&made, s, queen_side, mover);
				emit_made(b, &made, 0, 0, 0);
			}
	}
}

/* Mark the rolls won by the attackers of the king in a set's states: won_by[die] is the mask of those rolls. */
static uint64_t won_from(struct set set, unsigned king, unsigned mover, const uint64_t *won_by, uint64_t won)
{
	uint64_t open = 0;
	for (unsigned die = 0; die < 6; die++)
		open |= won_by[die];
	for (uint32_t i = 0; i < set.count && (open & ~won); i++) {
		struct view v;
		view_state(&v, &set.states[i], mover);
		for (unsigned dice = king_attackers(&v, king, mover); dice; dice &= dice - 1)
			won |= won_by[__builtin_ctz(dice)];
	}
	return won;
}

static const void *kernel_open(const void *state, struct smx_arena *arena)
{
	const struct smxi_dc_rolls *rolls = &smxi_dc_rolls;
	const struct smxi_dc_state *s = state;
	const unsigned mover = s->side;
	struct expansion *e = smx_arena_alloc(arena, sizeof *e);
	struct builder b;
	if (!e || !builder_open(&b, arena, OPEN_STATES, OPEN_SLOTS))
		return NULL;
	memset(e->s1, 0, sizeof e->s1);
	memset(e->s2, 0, sizeof e->s2);
	begin_turn(&e->start, s);
	e->start.halfmove = 0;
	b.targets_kept = 0xffff;
	b.side = s->side;
	b.remembers = true;

	struct view v;
	view_state(&v, s, mover);
	const unsigned king = smxi_lowest(v.enemy & v.type[KING]);
	const struct set start = {&e->start, 1};
	e->head.won = won_from(start, king, mover, rolls->with, 0);

	uint32_t first[27], count[27]; /* growth may move the states: pointers are set at the end */
	unsigned sets = 0;
	for (unsigned a = 0; a < 6; a++, sets++) {
		if (rolls->with[a] & ~e->head.won)
			expand(&b, start, a, mover);
		first[sets] = b.before;
		count[sets] = builder_take(&b).count;
	}
	const struct smxi_dc_state *states = b.states - b.before;
	for (unsigned a = 0; a < 6; a++) {
		uint64_t won_by[6];
		for (unsigned die = 0; die < 6; die++)
			won_by[die] = rolls->with_pair[rolls->pair[a][die]];
		e->head.won = won_from((struct set){states + first[a], count[a]}, king, mover, won_by, e->head.won);
	}
	for (unsigned a = 0; a < 6; a++)
		for (unsigned c = a; c < 6; c++, sets++) {
			first[sets] = b.before;
			count[sets] = 0;
			if (!(rolls->with_pair[rolls->pair[a][c]] & ~e->head.won))
				continue;
			for (unsigned turn = 0; turn < (a == c ? 1 : 2); turn++) {
				const unsigned before = turn ? c : a, die = turn ? a : c;
				/* making room may move the sources too: each is looked up after it */
				for (uint32_t i = 0; i < count[before] && builder_reserve(&b); i++)
					expand(&b, (struct set){b.states - b.before + first[before] + i, 1}, die, mover);
			}
			if (a == ROOK && c == KING)
				expand_castling(&b, start, mover);
			uint64_t won_by[6];
			for (unsigned die = 0; die < 6; die++)
				won_by[die] = smxi_bit(rolls->triple[a][c][die]);
			const struct set set = builder_take(&b);
			count[sets] = set.count;
			e->head.won = won_from(set, king, mover, won_by, e->head.won);
		}
	if (b.failed)
		return NULL;
	smx_arena_shrink(arena, b.states - b.before, b.capacity * sizeof *b.states, b.before * sizeof *b.states);
	states = b.states - b.before;
	for (unsigned i = 0; i < 6; i++)
		e->s1[i] = (struct set){states + first[i], count[i]};
	for (unsigned i = 0; i < 21; i++)
		e->s2[i] = (struct set){states + first[6 + i], count[6 + i]};
	return e;
}

/* States of a turn that ends early, as afterstates. */
static void finish_set(struct builder *b, struct set set)
{
	for (uint32_t i = 0; i < set.count && builder_reserve(b); i++)
		emit_made(b, &set.states[i], 0, 0, 0);
}

static enum smx_node kernel_afterstates(const void *expansion, unsigned outcome, struct smx_arena *arena,
                                        struct smx_afterstates *list)
{
	const struct expansion *e = expansion;
	const struct smxi_dc_rolls *rolls = &smxi_dc_rolls;
	if (e->head.won >> outcome & 1)
		return SMX_NODE_WON;
	const unsigned mover = e->start.side;
	const unsigned a = rolls->dice[outcome][0], b = rolls->dice[outcome][1], c = rolls->dice[outcome][2];
	const struct set ab = e->s2[rolls->pair[a][b]], ac = e->s2[rolls->pair[a][c]], bc = e->s2[rolls->pair[b][c]];
	const uint32_t sources = ab.count + (b != c ? ac.count : 0) + (a != b ? bc.count : 0);
	uint32_t slots = 512;
	while (slots < 4 * sources)
		slots *= 2;
	struct builder made;
	if (!builder_open(&made, arena, CHILDREN_OF_STATE * sources + MOVES_OF_ONE_DIE, slots))
		return SMX_NODE_NO_MEMORY;
	made.targets_kept = SMXI_DC_TARGETS_OF(mover);
	made.side = (uint8_t)!mover;

	expand(&made, ab, c, mover);
	if (b != c)
		expand(&made, ac, b, mover);
	if (a != b)
		expand(&made, bc, a, mover);
	if (b == ROOK && c == KING)
		expand_castling(&made, e->s1[a], mover);
	else if (a == ROOK && c == KING)
		expand_castling(&made, e->s1[b], mover);

	if (made.count == 0) {
		finish_set(&made, ab);
		if (b != c)
			finish_set(&made, ac);
		if (a != b)
			finish_set(&made, bc);
	}
	if (made.count == 0) {
		finish_set(&made, e->s1[a]);
		if (b != a)
			finish_set(&made, e->s1[b]);
		if (c != b)
			finish_set(&made, e->s1[c]);
	}
	if (made.count == 0)
		finish_set(&made, (struct set){&e->start, 1});
	if (made.failed)
		return SMX_NODE_NO_MEMORY;
	smx_arena_shrink(arena, made.states, made.capacity * sizeof *made.states, made.count * sizeof *made.states);
	list->states = made.states;
	list->count = made.count;
	return SMX_NODE_OPEN;
}

/* The most one move of a die can win from a state, in centipawns; -1 where the die has no move. */
SMXI_INLINE int best_gain(const struct smxi_dc_state *s, const struct view *v, const unsigned die, const unsigned mover)
{
	smxi_bits reached = 0, promoted = 0;
	int gain = -1;
	if (die == PAWN) {
		const smxi_bits pawns = v->own & v->type[PAWN], last_rank = rank_for(7, mover);
		const smxi_bits pushed = pawns_forward(pawns, mover) & ~v->occupied;
		const smxi_bits beside = pawns_east(pawns, mover) | pawns_west(pawns, mover);
		reached = beside & v->enemy;
		if (pushed)
			gain = pushed & last_rank ? smxi_dc_material[QUEEN + 1] - smxi_dc_material[PAWN + 1] : 0;
		promoted = reached & last_rank;
		if (s->targets && (beside & live_targets(s, v, mover)) && gain < smxi_dc_material[PAWN + 1])
			gain = smxi_dc_material[PAWN + 1];
		if (!reached)
			return gain;
	} else {
		for (smxi_bits left = v->own & v->type[die]; left; left &= left - 1)
			reached |= piece_attacks(die, smxi_lowest(left), v->occupied);
		reached &= ~v->own;
		if (!reached)
			return -1;
		gain = 0;
		reached &= v->enemy;
		if (!reached)
			return 0;
	}
	const int promotion = smxi_dc_material[QUEEN + 1] - smxi_dc_material[PAWN + 1];
	if (promoted) {
		/* several pawns may promote by capture, others capture elsewhere: the best of both */
		for (unsigned type = QUEEN; type < 6; type--)
			if (promoted & v->type[type]) {
				const int with_promotion = promotion + smxi_dc_material[type + 1];
				gain = gain > with_promotion ? gain : with_promotion;
				break;
			}
	}
	for (unsigned type = QUEEN; type < 6; type--)
		if (reached & v->type[type])
			return gain > smxi_dc_material[type + 1] ? gain : smxi_dc_material[type + 1];
	return gain;
}

SMXI_INLINE int gain_of(const struct smxi_dc_state *s, const struct smxi_dc_state *start, const unsigned mover)
{
	const int white = s->material - start->material;
	return mover == SMX_BLACK ? -white : white;
}

static void raise_to(int *best, int value)
{
	if (value > *best)
		*best = value;
}

static int best_of_set(struct set set, const struct smxi_dc_state *start, unsigned mover)
{
	int best = INT_MIN;
	for (uint32_t i = 0; i < set.count; i++)
		raise_to(&best, gain_of(&set.states[i], start, mover));
	return best;
}

/* Raise best[roll] by the third moves from one S2 set, for the rolls in the mask. */
SMXI_INLINE void fold_set(const struct expansion *e, unsigned a, unsigned b, uint64_t outcomes, int *best,
                          const unsigned mover)
{
	const struct smxi_dc_rolls *rolls = &smxi_dc_rolls;
	const struct set set = e->s2[rolls->pair[a][b]];
	unsigned dice = 0;
	for (unsigned die = 0; die < 6; die++)
		dice |= (unsigned)(outcomes >> rolls->triple[a][b][die] & 1) << die;
	if (!dice || !set.count)
		return;
	const uint8_t *roll = rolls->triple[a][b];
	for (uint32_t i = 0; i < set.count; i++) {
		const struct smxi_dc_state *s = &set.states[i];
		const int gain = gain_of(s, &e->start, mover);
		struct view v;
		view_state(&v, s, mover);
		const smxi_bits seventh = v.own & v.type[PAWN] & rank_for(6, mover);
		const smxi_bits enemy = v.enemy;
		const int most = enemy & v.type[QUEEN] ? smxi_dc_material[QUEEN + 1] : smxi_dc_material[ROOK + 1];
#define FOLD(die)                                                                                 \
	do {                                                                                          \
		int *reached = &best[roll[die]];                                                          \
		if ((dice >> (die)&1) && *reached < gain + most + ((die) == PAWN && seventh ? 800 : 0)) { \
			const int third = best_gain(s, &v, die, mover);                                       \
			if (third >= 0)                                                                       \
				raise_to(reached, gain + third);                                                  \
		}                                                                                         \
	} while (0)
		FOLD(PAWN);
		FOLD(KNIGHT);
		FOLD(BISHOP);
		FOLD(ROOK);
		FOLD(QUEEN);
		FOLD(KING);
#undef FOLD
	}
}

SMXI_INLINE void fold_sets(const struct expansion *e, uint64_t outcomes, int *best, const unsigned mover)
{
	const struct smxi_dc_rolls *rolls = &smxi_dc_rolls;
	for (unsigned a = 0; a < 6; a++)
		for (unsigned b = a; b < 6; b++)
			fold_set(e, a, b, outcomes, best, mover);
	for (unsigned x = 0; x < 6; x++) {
		const unsigned roll = rolls->triple[x][ROOK][KING];
		if (!(outcomes >> roll & 1))
			continue;
		for (uint32_t i = 0; i < e->s1[x].count; i++) {
			const struct smxi_dc_state *s = &e->s1[x].states[i];
			if (castlings(s, smxi_dc_occupied(s), mover))
				raise_to(&best[roll], gain_of(s, &e->start, mover));
		}
	}
}

static void kernel_fold(const void *expansion, const struct smx_evaluator *evaluator, uint64_t outcomes,
                        unsigned evaluated_side, smx_value *values)
{
	const struct expansion *e = expansion;
	const struct smxi_dc_rolls *rolls = &smxi_dc_rolls;
	const struct smxi_dc_fold *fold = evaluator->fold;
	const unsigned mover = e->start.side;
	int best[SMX_DICECHESS_OUTCOMES];
	for (unsigned i = 0; i < SMX_DICECHESS_OUTCOMES; i++)
		best[i] = INT_MIN;
	if (mover == SMX_BLACK)
		fold_sets(e, outcomes, best, SMX_BLACK);
	else
		fold_sets(e, outcomes, best, SMX_WHITE);

	const int balance = mover == SMX_BLACK ? -e->start.material : e->start.material;
	for (uint64_t left = outcomes; left; left &= left - 1) {
		const unsigned outcome = smxi_lowest(left);
		const uint8_t *d = rolls->dice[outcome];
		int gain = best[outcome];
		if (gain == INT_MIN) {
			raise_to(&gain, best_of_set(e->s2[rolls->pair[d[0]][d[1]]], &e->start, mover));
			raise_to(&gain, best_of_set(e->s2[rolls->pair[d[0]][d[2]]], &e->start, mover));
			raise_to(&gain, best_of_set(e->s2[rolls->pair[d[1]][d[2]]], &e->start, mover));
		}
		if (gain == INT_MIN)
			for (unsigned i = 0; i < 3; i++)
				raise_to(&gain, best_of_set(e->s1[d[i]], &e->start, mover));
		if (gain == INT_MIN)
			gain = 0;
		const int mine = mover == evaluated_side ? balance + gain : -(balance + gain);
		values[outcome] = fold->value(fold->context, mine);
	}
}

static bool king_attacked(const struct smxi_dc_state *state, unsigned side)
{
	struct view v;
	view_state(&v, state, !side);
	return king_attackers(&v, smxi_lowest(v.enemy & v.type[KING]), !side) != 0;
}

void SMXI_DC_ISA(smxi_dc_turns)(const struct smx_position *position, smx_turn_visitor *visit, void *context);
bool SMXI_DC_ISA(smxi_dc_queen_capture)(const struct smxi_dc_state *state, int outcome);
uint64_t SMXI_DC_ISA(smxi_dc_perft)(const struct smxi_dc_state *state, unsigned die, unsigned depth);

void SMXI_DC_ISA(smxi_dc_look)(const void *states, size_t count, const struct smx_evaluator *evaluator,
                               unsigned evaluated_side, unsigned depth, struct smx_glance *glances);
bool SMXI_DC_ISA(smxi_dc_bound)(const void *state, const struct smx_evaluator *evaluator, unsigned evaluated_side,
                                unsigned depth, unsigned stage, struct smx_glance *glance);

#define TEXT_(name) #name
#define TEXT(name)  TEXT_(name)

extern const struct smxi_dc_kernel SMXI_DC_ISA(smxi_dc_kernel);
const struct smxi_dc_kernel SMXI_DC_ISA(smxi_dc_kernel) = {
	.name = TEXT(SMXI_ISA),
	.open = kernel_open,
	.afterstates = kernel_afterstates,
	.fold = kernel_fold,
	.look = SMXI_DC_ISA(smxi_dc_look),
	.bound = SMXI_DC_ISA(smxi_dc_bound),
	.turns = SMXI_DC_ISA(smxi_dc_turns),
	.king_attacked = king_attacked,
	.queen_capture = SMXI_DC_ISA(smxi_dc_queen_capture),
	.perft = SMXI_DC_ISA(smxi_dc_perft),
};
