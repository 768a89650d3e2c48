/* What a position promises before it is expanded: an estimate of a chance node's value, and admissible bounds of it, from cheap to dear.
 *
 * Both rest on one fact: with one turn left, a turn can take material but never lose its own. So the mover's outcome is worth at
 * least the present balance, and a win where the king can be taken. Bounds are one-sided: in the mover's favour.
 *
 * look, stage 0: the dice whose pieces attack the king now win every roll that holds one of them.
 * bound, from stage 1: the same after every single micro-move (rolls that hold the pair). From stage 2: the best capture of each die,
 * counted for a roll only where the turn that begins with it is shown to spend all three dice, for such a turn is
 * always legal. From stage 3: captures by the second move, likewise.
 *
 * Compiled once per instruction set. */
#include "games/dicechess/moves.h"

/* Called for every die of every die: inlined, these multiply into a file that sanitizers take minutes to compile. */
#define NOT_INLINED __attribute__((noinline))

/* Boards alone: a micro-move without key, clocks and rights. */
SMXI_INLINE void view_move(struct view *to, const struct view *v, const unsigned die, unsigned from, unsigned target)
{
	const smxi_bits moved = smxi_bit(from) | smxi_bit(target), taken = ~(smxi_bit(target) & v->enemy);
	*to = *v;
	for (unsigned type = 0; type < 6; type++)
		to->type[type] &= taken;
	to->type[die] ^= moved;
	to->own ^= moved;
	to->enemy &= taken;
	to->occupied = to->own | to->enemy;
}

SMXI_INLINE smxi_bits pawn_reach(const struct view *v, smxi_bits pawns, const unsigned mover)
{
	const smxi_bits single = pawns_forward(pawns, mover) & ~v->occupied;
	const smxi_bits twice = pawns_forward(single & rank_for(2, mover), mover) & ~v->occupied;
	return single | twice | ((pawns_east(pawns, mover) | pawns_west(pawns, mover)) & v->enemy);
}

SMXI_INLINE smxi_bits reach_from(const struct view *v, const unsigned die, unsigned from, const unsigned mover)
{
	if (die == PAWN)
		return pawn_reach(v, smxi_bit(from), mover);
	return piece_attacks(die, from, v->occupied) & ~v->own;
}

SMXI_INLINE smxi_bits reach_of(const struct view *v, const unsigned die, const unsigned mover)
{
	const smxi_bits pieces = v->own & v->type[die];
	if (die == PAWN)
		return pawn_reach(v, pieces, mover);
	smxi_bits reach = 0;
	for (smxi_bits left = pieces; left; left &= left - 1)
		reach |= piece_attacks(die, smxi_lowest(left), v->occupied);
	return reach & ~v->own;
}

/* The dice that have a move, as a mask. */
SMXI_INLINE unsigned movable(const struct view *v, const unsigned mover)
{
	unsigned dice = 0;
#define MOVABLE(die) dice |= (unsigned)(reach_of(v, die, mover) != 0) << (die)
	MOVABLE(PAWN);
	MOVABLE(KNIGHT);
	MOVABLE(BISHOP);
	MOVABLE(ROOK);
	MOVABLE(QUEEN);
	MOVABLE(KING);
#undef MOVABLE
	return dice;
}

/* The value of a chance node's bound or estimate from the weight that wins and the weights of gains. */
struct tally {
	uint32_t won;
	uint32_t gain_weight[4]; /* a pawn, a minor piece, a rook, a queen taken */
};

static const int gain_of_level[4] = {100, 300, 500, 900};

static int balance_of(const struct smxi_dc_state *s, unsigned side)
{
	return side == SMX_BLACK ? -s->material : s->material;
}

static smx_value value_after(const struct smx_evaluator *evaluator, const struct smxi_dc_state *s,
                             unsigned evaluated_side, int gain)
{
	const struct smxi_dc_fold *fold = evaluator->fold;
	const int balance = balance_of(s, evaluated_side);
	return fold->value(fold->context, s->side == evaluated_side ? balance + gain : balance - gain);
}

static smx_value average(const struct tally *tally, const struct smx_evaluator *evaluator,
                         const struct smxi_dc_state *s, unsigned evaluated_side)
{
	uint32_t rest = SMX_DICECHESS_TOTAL - tally->won;
	smx_value sum = (smx_value)tally->won * (s->side == evaluated_side ? evaluator->win : evaluator->loss);
	for (unsigned level = 0; level < 4; level++) {
		if (!tally->gain_weight[level])
			continue;
		rest -= tally->gain_weight[level];
		sum += (smx_value)tally->gain_weight[level] * value_after(evaluator, s, evaluated_side, gain_of_level[level]);
	}
	sum += (smx_value)rest * value_after(evaluator, s, evaluated_side, 0);
	return smx_div_floor(sum, SMX_DICECHESS_TOTAL);
}

SMXI_INLINE void look_at(const struct smxi_dc_state *s, const struct smx_evaluator *evaluator, unsigned evaluated_side,
                         bool last_turn, struct smx_glance *glance, const unsigned mover)
{
	const struct smxi_dc_rolls *rolls = &smxi_dc_rolls;
	struct view v;
	view_state(&v, s, mover);
	const unsigned king = smxi_lowest(v.enemy & v.type[KING]);
	unsigned dice = king_attackers(&v, king, mover);

	struct tally tally = {.won = rolls->weight_with_any[dice]};
	const smx_value bound_of_rest =
		mover == evaluated_side ? smx_evaluator_floor(evaluator) : smx_evaluator_ceiling(evaluator);
	const smx_value outcome = last_turn ? value_after(evaluator, s, evaluated_side, 0) : bound_of_rest;
	const smx_value end = mover == evaluated_side ? evaluator->win : evaluator->loss;
	const smx_value bound = smx_div_floor(
		(smx_value)tally.won * end + (smx_value)(SMX_DICECHESS_TOTAL - tally.won) * outcome, SMX_DICECHESS_TOTAL);
	glance->lower = mover == evaluated_side ? bound : smx_evaluator_floor(evaluator);
	glance->upper = mover == evaluated_side ? smx_evaluator_ceiling(evaluator) : bound;

	smxi_bits reached[6];
#define REACH(die)                                                                                                 \
	reached[die] = die == PAWN ? pawns_east(v.own & v.type[PAWN], mover) | pawns_west(v.own & v.type[PAWN], mover) \
	                           : reach_of(&v, die, mover)
	REACH(PAWN);
	REACH(KNIGHT);
	REACH(BISHOP);
	REACH(ROOK);
	REACH(QUEEN);
	REACH(KING);
#undef REACH
	const smxi_bits levels[4] = {v.enemy & v.type[PAWN], v.enemy & (v.type[KNIGHT] | v.type[BISHOP]),
	                             v.enemy & v.type[ROOK], v.enemy & v.type[QUEEN]};
	uint32_t counted = tally.won;
	for (unsigned level = 4; level-- > 0;) {
		for (unsigned die = 0; die < 6; die++)
			dice |= (unsigned)((reached[die] & levels[level]) != 0) << die;
		tally.gain_weight[level] = rolls->weight_with_any[dice] - counted;
		counted = rolls->weight_with_any[dice];
	}
	glance->estimate = average(&tally, evaluator, s, evaluated_side);
}

void SMXI_DC_ISA(smxi_dc_look)(const void *states, size_t count, const struct smx_evaluator *evaluator,
                               unsigned evaluated_side, unsigned depth, struct smx_glance *glances);

void SMXI_DC_ISA(smxi_dc_look)(const void *states, size_t count, const struct smx_evaluator *evaluator,
                               unsigned evaluated_side, unsigned depth, struct smx_glance *glances)
{
	const struct smxi_dc_state *s = states;
	for (size_t i = 0; i < count; i++)
		if (s[i].side == SMX_BLACK)
			look_at(&s[i], evaluator, evaluated_side, depth == 1, &glances[i], SMX_BLACK);
		else
			look_at(&s[i], evaluator, evaluated_side, depth == 1, &glances[i], SMX_WHITE);
}

/* The rolls whose third die can move in v, where the dice first and second led. */
static NOT_INLINED uint64_t rolls_with_a_third_move(const struct view *v, unsigned first, unsigned second,
                                                    const unsigned mover)
{
	uint64_t completed = 0;
	for (unsigned dice = movable(v, mover); dice; dice &= dice - 1)
		completed |= smxi_bit(smxi_dc_rolls.triple[first][second][__builtin_ctz(dice)]);
	return completed;
}

/* The rolls {die, b, c} that a turn can spend whole after the first move that led to v. */
static NOT_INLINED uint64_t completed_rolls(const struct view *v, unsigned die, const unsigned mover)
{
	uint64_t completed = 0;
#define SECOND(second)                                                        \
	do {                                                                      \
		const smxi_bits pieces = v->own & v->type[second];                    \
		for (smxi_bits left = pieces; left; left &= left - 1) {               \
			const unsigned from = smxi_lowest(left);                          \
			const smxi_bits reach = reach_from(v, second, from, mover);       \
			if (!reach)                                                       \
				continue;                                                     \
			struct view after;                                                \
			view_move(&after, v, second, from, smxi_lowest(reach));           \
			completed |= rolls_with_a_third_move(&after, die, second, mover); \
			break;                                                            \
		}                                                                     \
	} while (0)
	SECOND(PAWN);
	SECOND(KNIGHT);
	SECOND(BISHOP);
	SECOND(ROOK);
	SECOND(QUEEN);
	SECOND(KING);
#undef SECOND
	return completed;
}

SMXI_INLINE uint64_t won_after_die(const struct view *v, const unsigned die, unsigned king, const unsigned mover)
{
	const struct smxi_dc_rolls *rolls = &smxi_dc_rolls;
	uint64_t won = 0;
	unsigned dice = 0;
	for (smxi_bits pieces = v->own & v->type[die]; pieces; pieces &= pieces - 1) {
		const unsigned from = smxi_lowest(pieces);
		for (smxi_bits left = reach_from(v, die, from, mover); left; left &= left - 1) {
			struct view after;
			view_move(&after, v, die, from, smxi_lowest(left));
			dice |= king_attackers(&after, king, mover);
		}
	}
	for (; dice; dice &= dice - 1)
		won |= rolls->with_pair[rolls->pair[die][__builtin_ctz(dice)]];
	return won;
}

/* The most valuable piece a die can take now, and the rolls that can be spent whole after it; 0 where it takes nothing. */
SMXI_INLINE uint64_t capture_rolls(const struct view *v, const unsigned die, unsigned *level, const unsigned mover)
{
	const smxi_bits levels[4] = {v->enemy & v->type[PAWN], v->enemy & (v->type[KNIGHT] | v->type[BISHOP]),
	                             v->enemy & v->type[ROOK], v->enemy & v->type[QUEEN]};
	for (unsigned at = 4; at-- > 0;) {
		for (smxi_bits pieces = v->own & v->type[die]; pieces; pieces &= pieces - 1) {
			const unsigned from = smxi_lowest(pieces);
			const smxi_bits taken = reach_from(v, die, from, mover) & levels[at];
			if (!taken)
				continue;
			struct view after;
			view_move(&after, v, die, from, smxi_lowest(taken));
			*level = at;
			return completed_rolls(&after, die, mover);
		}
	}
	return 0;
}

/* What is shown so far of a chance node: rolls that win, and by roll the gain, in centipawns, that some legal turn reaches. */
struct shown {
	uint64_t won;
	int16_t gain[SMX_DICECHESS_OUTCOMES];
};

SMXI_INLINE void show_gain(struct shown *shown, uint64_t rolls, int gain)
{
	for (; rolls; rolls &= rolls - 1) {
		int16_t *at = &shown->gain[smxi_lowest(rolls)];
		if (gain > *at)
			*at = (int16_t)gain;
	}
}

/* Stage 2: turns that begin with the best capture of a die. */
SMXI_INLINE void show_captures(struct shown *shown, const struct view *v, const unsigned die, const unsigned mover)
{
	unsigned level = 0;
	const uint64_t completed = capture_rolls(v, die, &level, mover);
	show_gain(shown, completed, gain_of_level[level]);
}

SMXI_INLINE int value_at(const struct view *v, smxi_bits squares)
{
	if (!(squares & v->enemy))
		return 0;
	return squares & v->enemy & v->type[QUEEN]   ? 900
	       : squares & v->enemy & v->type[ROOK]  ? 500
	       : squares & v->enemy & ~v->type[PAWN] ? 300
	                                             : 100;
}

/* Stage 3: turns whose first move is any, whose second move captures the best its die can, and that have a third. */
SMXI_INLINE void show_second_captures(struct shown *shown, const struct view *v, const unsigned die, uint64_t open,
                                      const unsigned mover)
{
	const struct smxi_dc_rolls *rolls = &smxi_dc_rolls;
	for (smxi_bits pieces = v->own & v->type[die]; pieces; pieces &= pieces - 1) {
		const unsigned from = smxi_lowest(pieces);
		for (smxi_bits left = reach_from(v, die, from, mover); left; left &= left - 1) {
			const int first = value_at(v, left & -left);
			struct view one;
			view_move(&one, v, die, from, smxi_lowest(left));
#define SECOND(second)                                                                           \
	do {                                                                                         \
		uint64_t wanted = rolls->with_pair[rolls->pair[die][second]] & open;                     \
		if (!wanted)                                                                             \
			break;                                                                               \
		const smxi_bits taken = reach_of(&one, second, mover) & one.enemy;                       \
		const int gain = first + value_at(&one, taken);                                          \
		if (gain == 0)                                                                           \
			break;                                                                               \
		uint64_t better = 0;                                                                     \
		for (uint64_t r = wanted; r; r &= r - 1)                                                 \
			if (shown->gain[smxi_lowest(r)] < gain)                                              \
				better |= r & -r;                                                                \
		if (!better || !taken)                                                                   \
			break;                                                                               \
		for (smxi_bits men = one.own & one.type[second]; men; men &= men - 1) {                  \
			const smxi_bits hit = reach_from(&one, second, smxi_lowest(men), mover) & one.enemy; \
			if (!hit || value_at(&one, hit) + first < gain)                                      \
				continue;                                                                        \
			smxi_bits target = hit;                                                              \
			for (; target; target &= target - 1)                                                 \
				if (value_at(&one, target & -target) + first == gain)                            \
					break;                                                                       \
			struct view two;                                                                     \
			view_move(&two, &one, second, smxi_lowest(men), smxi_lowest(target));                \
			show_gain(shown, rolls_with_a_third_move(&two, die, second, mover), gain);           \
			break;                                                                               \
		}                                                                                        \
	} while (0)
			SECOND(PAWN);
			SECOND(KNIGHT);
			SECOND(BISHOP);
			SECOND(ROOK);
			SECOND(QUEEN);
			SECOND(KING);
#undef SECOND
		}
	}
}

SMXI_INLINE void bound_at(const struct smxi_dc_state *s, const struct smx_evaluator *evaluator, unsigned evaluated_side,
                          unsigned stage, struct smx_glance *glance, const unsigned mover)
{
	const struct smxi_dc_rolls *rolls = &smxi_dc_rolls;
	struct view v;
	view_state(&v, s, mover);
	const unsigned king = smxi_lowest(v.enemy & v.type[KING]);
	struct shown shown = {0};
	const unsigned attackers = king_attackers(&v, king, mover);
	for (unsigned dice = attackers; dice; dice &= dice - 1)
		shown.won |= rolls->with[__builtin_ctz(dice)];
#define EACH_DIE(what) what(PAWN) what(KNIGHT) what(BISHOP) what(ROOK) what(QUEEN) what(KING)
#define WON(die)                 \
	if (!(attackers >> (die)&1)) \
		shown.won |= won_after_die(&v, die, king, mover);
#define CAPTURES(die)            \
	if (!(attackers >> (die)&1)) \
		show_captures(&shown, &v, die, mover);
#define SECOND_CAPTURES(die)     \
	if (!(attackers >> (die)&1)) \
		show_second_captures(&shown, &v, die, ~shown.won, mover);
	EACH_DIE(WON)
	if (stage >= 2) {
		EACH_DIE(CAPTURES)
	}
	if (stage >= 3) {
		EACH_DIE(SECOND_CAPTURES)
	}
#undef WON
#undef CAPTURES
#undef SECOND_CAPTURES
#undef EACH_DIE
	const smx_value end = mover == evaluated_side ? evaluator->win : evaluator->loss;
	smx_value sum = 0;
	for (unsigned i = 0; i < SMX_DICECHESS_OUTCOMES; i++)
		sum += (smx_value)rolls->weight[i] *
		       (shown.won >> i & 1 ? end : value_after(evaluator, s, evaluated_side, shown.gain[i]));
	const smx_value bound = smx_div_floor(sum, SMX_DICECHESS_TOTAL);
	if (mover == evaluated_side)
		glance->lower = bound > glance->lower ? bound : glance->lower;
	else
		glance->upper = bound < glance->upper ? bound : glance->upper;
}

bool SMXI_DC_ISA(smxi_dc_bound)(const void *state, const struct smx_evaluator *evaluator, unsigned evaluated_side,
                                unsigned depth, unsigned stage, struct smx_glance *glance);

bool SMXI_DC_ISA(smxi_dc_bound)(const void *state, const struct smx_evaluator *evaluator, unsigned evaluated_side,
                                unsigned depth, unsigned stage, struct smx_glance *glance)
{
	const struct smxi_dc_state *s = state;
	if (depth != 1 || stage > 3)
		return false;
	if (s->side == SMX_BLACK)
		bound_at(s, evaluator, evaluated_side, stage, glance, SMX_BLACK);
	else
		bound_at(s, evaluator, evaluated_side, stage, glance, SMX_WHITE);
	return true;
}
