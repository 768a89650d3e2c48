/* Dice Chess evaluators on the reference scale and as win probabilities, and capture chances. */
#include "games/dicechess/isa.h"

#include <pthread.h>

enum { SCALE_BITS = 16, STANDARD_KING_DANGER_CP = 2000 };

#define CENTIPAWNS(cp) ((smx_value)(cp) * (INT64_C(1) << SCALE_BITS))

/* The most one side can have over the other: nine queens, two rooks, two bishops, two knights against a bare king. */
enum { MATERIAL_MOST_CP = 9 * 900 + 2 * 500 + 2 * 300 + 2 * 300 };

static int balance(const struct smxi_dc_state *s, unsigned side)
{
	return side == SMX_BLACK ? -s->material : s->material;
}

/* The balance that `standard` sees. */
static int standard_balance(const struct smxi_dc_kernel *kernel, const struct smxi_dc_state *s, unsigned side)
{
	return balance(s, side) - (kernel->king_attacked(s, side) ? STANDARD_KING_DANGER_CP : 0);
}

static void evaluate_material(const void *context, const void *states, size_t count, unsigned side, smx_value *values)
{
	(void)context;
	const struct smxi_dc_state *s = states;
	for (size_t i = 0; i < count; i++)
		values[i] = CENTIPAWNS(balance(&s[i], side));
}

static void evaluate_standard(const void *context, const void *states, size_t count, unsigned side, smx_value *values)
{
	(void)context;
	const struct smxi_dc_kernel *kernel = smxi_dc_kernel();
	const struct smxi_dc_state *s = states;
	for (size_t i = 0; i < count; i++)
		values[i] = CENTIPAWNS(standard_balance(kernel, &s[i], side));
}

static smx_value fold_material(const void *context, int balance_cp)
{
	(void)context;
	return CENTIPAWNS(balance_cp);
}

static const struct smxi_dc_fold material_fold = {.value = fold_material};

const struct smx_evaluator smx_dicechess_material = {
	.name = "material",
	.unit = "centipawns",
	.scale_bits = SCALE_BITS,
	.lo = CENTIPAWNS(-MATERIAL_MOST_CP),
	.hi = CENTIPAWNS(MATERIAL_MOST_CP),
	.loss = CENTIPAWNS(-1000000000),
	.win = CENTIPAWNS(10001),
	.evaluate = evaluate_material,
	.fold = &material_fold,
};

const struct smx_evaluator smx_dicechess_standard = {
	.name = "standard",
	.unit = "centipawns",
	.scale_bits = SCALE_BITS,
	.lo = CENTIPAWNS(-MATERIAL_MOST_CP - STANDARD_KING_DANGER_CP),
	.hi = CENTIPAWNS(MATERIAL_MOST_CP),
	.loss = CENTIPAWNS(-1000000000),
	.win = CENTIPAWNS(10001),
	.evaluate = evaluate_standard,
};

/* Win probabilities. The curve is computed once, by operations that IEEE 754 rounds alike everywhere, and is an integer table from
 * then on: one entry for each multiple of 100 centipawns. */
enum {
	WINPROB_BITS = 40,
	WINPROB_CP = 1200,
	STEP_CP = 100,
	STEPS = (MATERIAL_MOST_CP + STANDARD_KING_DANGER_CP) / STEP_CP
};

static smx_value winprob_table[2 * STEPS + 1];
static pthread_once_t winprob_once = PTHREAD_ONCE_INIT;

static void fill_winprob(void)
{
	/* e^(100/1200) by its series; its terms shrink by a twelfth at least */
	double ratio = 1, term = 1;
	for (int i = 1; i < 20; i++) {
		term *= (double)STEP_CP / WINPROB_CP / i;
		ratio += term;
	}
	double power = 1; /* e^(m/1200) */
	for (int i = 0; i <= STEPS; i++, power *= ratio) {
		const smx_value losing = smx_value_from_double(1 / (1 + power), WINPROB_BITS);
		winprob_table[STEPS + i] = (INT64_C(1) << WINPROB_BITS) - losing;
		winprob_table[STEPS - i] = losing;
	}
}

static smx_value winprob_of(int balance_cp)
{
	return winprob_table[STEPS + balance_cp / STEP_CP];
}

static smx_value fold_winprob(const void *context, int balance_cp)
{
	(void)context;
	pthread_once(&winprob_once, fill_winprob);
	return winprob_of(balance_cp);
}

static const struct smxi_dc_fold winprob_fold = {.value = fold_winprob};

static void evaluate_winprob(const void *context, const void *states, size_t count, unsigned side, smx_value *values)
{
	(void)context;
	pthread_once(&winprob_once, fill_winprob);
	const struct smxi_dc_state *s = states;
	for (size_t i = 0; i < count; i++)
		values[i] = winprob_of(balance(&s[i], side));
}

static void evaluate_winprob_standard(const void *context, const void *states, size_t count, unsigned side,
                                      smx_value *values)
{
	(void)context;
	pthread_once(&winprob_once, fill_winprob);
	const struct smxi_dc_kernel *kernel = smxi_dc_kernel();
	const struct smxi_dc_state *s = states;
	for (size_t i = 0; i < count; i++)
		values[i] = winprob_of(standard_balance(kernel, &s[i], side));
}

const struct smx_evaluator smx_dicechess_winprob = {
	.name = "winprob",
	.unit = "probability",
	.scale_bits = WINPROB_BITS,
	.lo = 0,
	.hi = INT64_C(1) << WINPROB_BITS,
	.loss = 0,
	.win = INT64_C(1) << WINPROB_BITS,
	.evaluate = evaluate_winprob,
	.fold = &winprob_fold,
};

const struct smx_evaluator smx_dicechess_winprob_standard = {
	.name = "winprob-standard",
	.unit = "probability",
	.scale_bits = WINPROB_BITS,
	.lo = 0,
	.hi = INT64_C(1) << WINPROB_BITS,
	.loss = 0,
	.win = INT64_C(1) << WINPROB_BITS,
	.evaluate = evaluate_winprob_standard,
};

/* The position with `side` to move. Targets stay: a side's own do not matter to its captures. */
static struct smxi_dc_state with_side(const void *state, enum smx_dicechess_side side)
{
	struct smxi_dc_state s = *(const struct smxi_dc_state *)state;
	if (s.side != side) {
		s.side = (uint8_t)side;
		smxi_key_flip(&s.key, &smxi_dc_keys.black_to_move);
	}
	return s;
}

int smx_dicechess_king_capture_216(const void *state, enum smx_dicechess_side side, struct smx_arena *arena)
{
	const struct smxi_dc_kernel *kernel = smxi_dc_kernel();
	const struct smxi_dc_state s = with_side(state, side);
	const struct smx_arena_mark mark = smx_arena_mark(arena);
	const void *expansion = kernel->open(&s, arena);
	int chance = expansion ? 0 : -1;
	if (expansion)
		for (uint64_t won = ((const struct smxi_dc_expansion_head *)expansion)->won; won; won &= won - 1)
			chance += (int)smxi_dc_rolls.weight[smxi_lowest(won)];
	smx_arena_release(arena, mark);
	return chance;
}

int smx_dicechess_queen_capture_216(const void *state, enum smx_dicechess_side side)
{
	const struct smxi_dc_kernel *kernel = smxi_dc_kernel();
	const struct smxi_dc_state s = with_side(state, side);
	int chance = 0;
	for (int outcome = 0; outcome < SMX_DICECHESS_OUTCOMES; outcome++)
		if (kernel->queen_capture(&s, outcome))
			chance += (int)smxi_dc_rolls.weight[outcome];
	return chance;
}
