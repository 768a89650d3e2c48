/* Dice Chess evaluators on the reference scale and as win probabilities, and capture chances. */
#include "games/dicechess/isa.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Win probabilities. A curve is computed once, by operations that IEEE 754 rounds alike everywhere, and is an integer table from then
 * on: one entry for each multiple of 100 centipawns. */
enum { WINPROB_BITS = 40, STEP_CP = 100, STEPS = (MATERIAL_MOST_CP + STANDARD_KING_DANGER_CP) / STEP_CP };

struct curve {
	smx_value value[2 * STEPS + 1];
};

static struct curve default_curve;
static pthread_once_t default_curve_once = PTHREAD_ONCE_INIT;

/* 1/(1+e^(-m/constant_cp)), a non-decreasing function of m whose values for m and -m add up to 1. */
static void fill_curve(struct curve *curve, int constant_cp)
{
	/* e^(100/constant_cp) by its series: the exponent is 1 at most, so that the terms left out are below a double's rounding. Rounding
	 * puts some 2^-50 into the ratio, i times that into its power i, and p(1-p) of that into p: below 2^-44 where 2^-40 counts. */
	double ratio = 1, term = 1;
	for (int i = 1; i < 20; i++) {
		term *= (double)STEP_CP / constant_cp / i;
		ratio += term;
	}
	double power = 1; /* e^(m/constant_cp); at most e^STEPS, which a double holds */
	for (int i = 0; i <= STEPS; i++, power *= ratio) {
		const smx_value losing = smx_value_from_double(1 / (1 + power), WINPROB_BITS);
		curve->value[STEPS + i] = (INT64_C(1) << WINPROB_BITS) - losing;
		curve->value[STEPS - i] = losing;
	}
}

static void fill_default_curve(void)
{
	fill_curve(&default_curve, SMX_DICECHESS_WINPROB_CP);
}

/* NULL is the context of the two evaluators that are there before any code has run. */
static const struct curve *curve_of(const void *context)
{
	if (context)
		return context;
	pthread_once(&default_curve_once, fill_default_curve);
	return &default_curve;
}

static smx_value winprob_of(const struct curve *curve, int balance_cp)
{
	return curve->value[STEPS + balance_cp / STEP_CP];
}

static smx_value fold_winprob(const void *context, int balance_cp)
{
	return winprob_of(curve_of(context), balance_cp);
}

static const struct smxi_dc_fold winprob_fold = {.value = fold_winprob};

static void evaluate_winprob(const void *context, const void *states, size_t count, unsigned side, smx_value *values)
{
	const struct curve *curve = curve_of(context);
	const struct smxi_dc_state *s = states;
	for (size_t i = 0; i < count; i++)
		values[i] = winprob_of(curve, balance(&s[i], side));
}

static void evaluate_winprob_standard(const void *context, const void *states, size_t count, unsigned side,
                                      smx_value *values)
{
	const struct curve *curve = curve_of(context);
	const struct smxi_dc_kernel *kernel = smxi_dc_kernel();
	const struct smxi_dc_state *s = states;
	for (size_t i = 0; i < count; i++)
		values[i] = winprob_of(curve, standard_balance(kernel, &s[i], side));
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

/* The same with another constant. One is made when its name is first asked for and stays for as long as the process lives, because
 * nothing says when the last search lets go of it; `made_lock` guards the list of them. */
struct made {
	struct smx_evaluator evaluator;
	const struct smx_evaluator *of;
	int constant_cp;
	struct smxi_dc_fold fold;
	struct curve curve;
	char name[sizeof "winprob-standard:" + 11]; /* and any int */
	struct made *next;
};

static struct made *made_list;
static pthread_mutex_t made_lock = PTHREAD_MUTEX_INITIALIZER;

static struct made *make(const struct smx_evaluator *of, int constant_cp)
{
	struct made *made = malloc(sizeof *made);
	if (!made)
		return NULL;
	made->evaluator = *of;
	made->of = of;
	made->constant_cp = constant_cp;
	fill_curve(&made->curve, constant_cp);
	snprintf(made->name, sizeof made->name, "%s:%d", of->name, constant_cp);
	made->evaluator.name = made->name;
	made->evaluator.context = &made->curve;
	if (of->fold) {
		made->fold = (struct smxi_dc_fold){.value = fold_winprob, .context = &made->curve};
		made->evaluator.fold = &made->fold;
	}
	return made;
}

static const struct smx_evaluator *with_constant(const struct smx_evaluator *of, int constant_cp)
{
	if (constant_cp == SMX_DICECHESS_WINPROB_CP)
		return of;
	pthread_mutex_lock(&made_lock);
	struct made *made = made_list;
	while (made && (made->of != of || made->constant_cp != constant_cp))
		made = made->next;
	if (!made && (made = make(of, constant_cp))) {
		made->next = made_list;
		made_list = made;
	}
	pthread_mutex_unlock(&made_lock);
	return made ? &made->evaluator : NULL;
}

static enum smx_status refuse(struct smx_error *error, enum smx_status status, size_t offset, const char *message)
{
	if (error) {
		error->offset = offset;
		snprintf(error->message, sizeof error->message, "%s", message);
	}
	return status;
}

/* The decimal number that text is, or -1 where it is none or more than `most`. */
static int read_number(const char *text, int most)
{
	int number = *text ? 0 : -1;
	for (; *text && number >= 0; text++)
		number = *text < '0' || *text > '9' || number > most ? -1 : number * 10 + (*text - '0');
	return number > most ? -1 : number;
}

#define TEXT_(number) #number
#define TEXT(number)  TEXT_(number)
#define RANGE_TEXT    "from " TEXT(SMX_DICECHESS_WINPROB_CP_LEAST) " to " TEXT(SMX_DICECHESS_WINPROB_CP_MOST)

const char smxi_dc_evaluator_forms[] = "winprob:C winprob-standard:C (C centipawns, " RANGE_TEXT ")";

enum smx_status smxi_dc_make_evaluator(const char *name, const struct smx_evaluator **evaluator,
                                       struct smx_error *error)
{
	*evaluator = NULL;
	const size_t length = strcspn(name, ":");
	if (!name[length])
		return SMX_OK;
	const struct smx_evaluator *const families[] = {&smx_dicechess_winprob, &smx_dicechess_winprob_standard};
	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		if (strlen(families[i]->name) != length || memcmp(families[i]->name, name, length) != 0)
			continue;
		const int constant_cp = read_number(name + length + 1, SMX_DICECHESS_WINPROB_CP_MOST);
		if (constant_cp < SMX_DICECHESS_WINPROB_CP_LEAST)
			return refuse(error, SMX_ERR_ARGUMENT, length + 1, "the constant is a number of centipawns " RANGE_TEXT);
		*evaluator = with_constant(families[i], constant_cp);
		return *evaluator ? SMX_OK : refuse(error, SMX_ERR_MEMORY, 0, "no memory for an evaluator");
	}
	return SMX_OK;
}

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
