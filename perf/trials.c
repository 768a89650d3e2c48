#include "perf/trials.h"

#include "bench/positions.h"
#include "tests/support/toy.h"

#include <starmax/random.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	POSITIONS = sizeof smxi_bench_positions / sizeof smxi_bench_positions[0],
	ENDINGS = 3,
	TOY_NODES_LEAST = 300, /* there has to be something to share */
	TOY_NODES_MOST = 20000,
	MULTI_MOST = 4,
};

void smxi_trial_fail(const char *what, const char *text)
{
	fprintf(stderr, "starmax-project: %s: %s\n", what, text);
	exit(2);
}

struct smx_search *smxi_trial_create_search(const struct trial *t)
{
	struct smx_search *search;
	if (smx_search_create(t->game, NULL, &search) != SMX_OK)
		smxi_trial_fail("memory", "there is none");
	return search;
}

const struct smx_result *smxi_trial_search(struct smx_search *search, const struct trial *t,
                                           const struct smx_search_options *options)
{
	const struct smx_result *result;
	struct smx_error error;
	if (smx_search_run(search, &t->position, options, &result, &error) != SMX_OK)
		smxi_trial_fail(t->game->name, error.message);
	return result;
}

static bool one_in(unsigned count, uint64_t *seed)
{
	return smx_random_below(seed, count) == 0;
}

/* What the games have in common. */
static void draw_options(struct smx_search_options *o, uint64_t *seed)
{
	static const enum smx_star stars[] = {SMX_STAR1, SMX_STAR2, SMX_STAR2, SMX_STAR2, SMX_STAR_ETC, SMX_STAR_ETC};
	static const size_t exacts[] = {0, 0, 0, 1, 2, SMX_EXACT_ALL};
	o->star = stars[smx_random_below(seed, 6)];
	o->no_frames = one_in(8, seed);
	o->no_bounds = one_in(8, seed);
	o->exact = exacts[smx_random_below(seed, 6)];
	o->multi = one_in(3, seed) ? 1 + smx_random_below(seed, MULTI_MOST) : 0;
	o->ties = one_in(2, seed) ? SMX_TIES_RANDOM : SMX_TIES_FIRST;
	o->seed = smx_random(seed);
}

static void draw_rescore(struct smx_search_options *o, const struct smx_evaluator *first,
                         const struct smx_evaluator *second, uint64_t *seed)
{
	if (!one_in(8, seed))
		return;
	o->evaluator = first;
	o->rescore = second;
	o->rescore_weight = 1;
	o->rescore_total = 3;
}

static void read_position(struct trial *t, unsigned index, bool with_dice)
{
	struct smx_error error;
	const char *text = smxi_bench_positions[index].text;
	const size_t length = with_dice ? strlen(text) : (size_t)(strrchr(text, ' ') - text);
	if (t->game->parse(text, length, &t->position, &error) != SMX_OK)
		smxi_trial_fail(smxi_bench_positions[index].name, error.message);
}

/* Small searches of each kind: candidates three turns deep, a chance node at the root, many candidates two turns deep. */
static void draw_dicechess(struct trial *t, uint64_t *seed)
{
	struct smx_search_options *o = &t->options;
	t->game = &smx_dicechess;
	smx_search_options_init(o, t->game);
	const unsigned kind = smx_random_below(seed, 4);
	o->depth_plies = kind < 2 ? 3 : 2;
	o->width = kind < 2 ? 4 : 0;
	read_position(t, smx_random_below(seed, kind < 2 ? ENDINGS : POSITIONS), kind != 2);
	o->evaluator = one_in(2, seed) ? &smx_dicechess_material : &smx_dicechess_winprob;
	o->outcome_values = true;
	draw_options(o, seed);
	draw_rescore(o, &smx_dicechess_material, &smx_dicechess_standard, seed);
}

static const struct smx_game *draw_toy_game(uint64_t *seed)
{
	static const struct smx_game *const games[] = {&toy_plain, &toy_won, &toy_hooked};
	return games[smx_random_below(seed, sizeof games / sizeof *games)];
}

static unsigned draw_toy_depth(unsigned kind, uint64_t *seed)
{
	if (kind & TOY_SMALL)
		return 4 + smx_random_below(seed, 3);
	return kind & TOY_MANY ? 3 : 4 + smx_random_below(seed, 2);
}

static const struct smx_evaluator *draw_toy_evaluator(uint64_t *seed)
{
	unsigned count = 0;
	while (toy_evaluators[count])
		count++;
	return toy_evaluators[smx_random_below(seed, count)];
}

static bool is_worth_trying(const struct trial *t)
{
	struct smx_search *search = smxi_trial_create_search(t);
	struct smx_search_options options = t->options;
	options.node_limit = TOY_NODES_MOST;
	const struct smx_result *r = smxi_trial_search(search, t, &options);
	const bool is_turn = r->kind == SMX_RESULT_TURN && r->candidate_count >= 2;
	const bool is_worth =
		!r->stopped && (is_turn || r->kind == SMX_RESULT_VALUE) && r->counters.chance_nodes >= TOY_NODES_LEAST;
	smx_search_destroy(search);
	return is_worth;
}

static void draw_tree(struct trial *t, uint64_t *seed)
{
	struct smx_search_options *o = &t->options;
	const unsigned kind = smx_random_below(seed, 1u << TOY_KIND_BITS);
	const uint64_t id = smx_random(seed) >> 20 << TOY_KIND_BITS | kind;
	const bool is_value = one_in(4, seed);
	t->position = toy_position(id, is_value ? SMX_NO_OUTCOME : 0);
	t->game = draw_toy_game(seed);
	smx_search_options_init(o, t->game);
	o->depth_plies = draw_toy_depth(kind, seed) - is_value;
	o->evaluator = draw_toy_evaluator(seed);
	o->prerank = draw_toy_evaluator(seed);
	o->outcome_values = is_value;
	draw_options(o, seed);
	draw_rescore(o, toy_evaluators[0], toy_evaluators[0], seed);
}

/* Many trees are nearly nothing, and a few too large. */
static void draw_toy(struct trial *t, uint64_t *seed)
{
	do
		draw_tree(t, seed);
	while (!is_worth_trying(t));
}

void smxi_trial_draw(struct trial *t, uint64_t *seed)
{
	if (one_in(2, seed))
		draw_dicechess(t, seed);
	else
		draw_toy(t, seed);
}
