/* See schedules.h. A seed decides everything: the position, the options, the number of workers and the schedule. */
#include "perf/schedules.h"

#include "bench/positions.h"
#include "perf/virtual.h"

#include <starmax/random.h>
#include <starmax/starmax.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	POSITIONS = sizeof smxi_bench_positions / sizeof smxi_bench_positions[0],
	ENDINGS = 3,
	WORKERS_LEAST = 2,
	WORKERS_MOST = 64,
	NODE_LIMIT_MOST = 500,
};

struct trial {
	uint64_t seed;
	const char *name;
	struct smx_position position;
	struct smx_search_options options;
	struct smxi_virtual_options schedule;
};

struct tally {
	uint64_t tasks, stopped, cut_short;
};

static _Noreturn void fail(const char *what, const char *text)
{
	fprintf(stderr, "starmax-project: %s: %s\n", what, text);
	exit(2);
}

static void read_position(struct trial *t, unsigned index, bool with_dice)
{
	struct smx_error error;
	const char *text = smxi_bench_positions[index].text;
	const size_t length = with_dice ? strlen(text) : (size_t)(strrchr(text, ' ') - text);
	t->name = smxi_bench_positions[index].name;
	if (smx_dicechess.parse(text, length, &t->position, &error) != SMX_OK)
		fail(t->name, error.message);
}

/* Small searches of each kind: candidates three turns deep, a chance node at the root, many candidates two turns deep. */
static void draw_search(struct trial *t, uint64_t *seed)
{
	static const enum smx_star stars[] = {SMX_STAR1, SMX_STAR2, SMX_STAR2, SMX_STAR_ETC};
	static const size_t exacts[] = {0, 0, 2, SMX_EXACT_ALL};
	struct smx_search_options *o = &t->options;
	smx_search_options_init(o, &smx_dicechess);
	const unsigned kind = smx_random_below(seed, 4);
	o->depth_plies = kind < 2 ? 3 : 2;
	o->width = kind < 2 ? 4 : 0;
	read_position(t, smx_random_below(seed, kind < 2 ? ENDINGS : POSITIONS), kind != 2);
	o->evaluator = smx_random_below(seed, 2) ? &smx_dicechess_material : &smx_dicechess_winprob;
	o->star = stars[smx_random_below(seed, 4)];
	o->no_frames = smx_random_below(seed, 8) == 0;
	o->no_bounds = smx_random_below(seed, 8) == 0;
	o->exact = exacts[smx_random_below(seed, 4)];
	o->ties = smx_random_below(seed, 2) ? SMX_TIES_RANDOM : SMX_TIES_FIRST;
	o->seed = smx_random(seed);
	o->outcome_values = true;
}

static void draw_schedule(struct trial *t, uint64_t *seed)
{
	static const unsigned stays[] = {0, 50, 90, 99};
	struct smxi_virtual_options *s = &t->schedule;
	*s = (struct smxi_virtual_options){
		.workers = WORKERS_LEAST + smx_random_below(seed, WORKERS_MOST - WORKERS_LEAST + 1),
		.order = smx_random_below(seed, 2) ? SMXI_VIRTUAL_RANDOM : SMXI_VIRTUAL_DRAWN,
		.seed = t->seed,
		.stay = stays[smx_random_below(seed, 4)],
		.lock_ns = smx_random_below(seed, 1000),
		.spin_ns = smx_random_below(seed, 5000),
		.wake_ns = smx_random_below(seed, 10000),
		.offer_ns = smx_random_below(seed, 100000),
		.wait_ns = 1 + smx_random_below(seed, 10000),
	};
	s->locks_wait = s->order == SMXI_VIRTUAL_DRAWN && smx_random_below(seed, 2);
	if (smx_random_below(seed, 4) == 0)
		s->workers =
			WORKERS_LEAST + smx_random_below(seed, 3); /* few: what many would have been faster to take is left */
}

static const struct smx_result *searched(struct smx_search *search, const struct trial *t,
                                         const struct smx_search_options *options)
{
	const struct smx_result *result;
	struct smx_error error;
	if (smx_search_run(search, &t->position, options, &result, &error) != SMX_OK)
		fail(t->name, error.message);
	return result;
}

static bool same_candidate(const struct smx_candidate *a, const struct smx_candidate *b)
{
	return a->exact == b->exact && a->value == b->value && a->loss_weight == b->loss_weight && a->total == b->total;
}

/* What differs; NULL: nothing. */
static const char *difference(const struct trial *t, const struct smx_result *a, const struct smx_result *b)
{
	if (a->kind != b->kind)
		return "kind";
	if (a->has_value != b->has_value || a->value != b->value)
		return "value";
	if (a->kind != SMX_RESULT_VALUE && a->kind != SMX_RESULT_LOSS && !smx_turn_equal(&a->turn, &b->turn))
		return "turn";
	if (a->ties != b->ties)
		return "ties";
	if (a->depth_plies != b->depth_plies)
		return "depth";
	if (a->outcome_count != b->outcome_count ||
	    memcmp(a->outcome_values, b->outcome_values, a->outcome_count * sizeof a->outcome_values[0]) != 0)
		return "values of the outcomes";
	if (a->outcomes_won != b->outcomes_won || a->outcomes_lost != b->outcomes_lost)
		return "decided outcomes";
	if (a->candidate_count != b->candidate_count || a->candidates_completed != b->candidates_completed)
		return "count of candidates";
	for (size_t i = 0; i < a->candidate_count; i++) {
		const bool is_best = a->candidates[i].exact && a->candidates[i].value == a->value;
		if ((i < t->options.exact || is_best) && !same_candidate(&a->candidates[i], &b->candidates[i]))
			return "candidate";
	}
	return NULL;
}

static bool try_seed(uint64_t seed, struct tally *tally)
{
	struct trial t = {.seed = seed};
	uint64_t draws = seed ^ UINT64_C(0x5354524d41585654); /* other numbers than the schedule's */
	draw_search(&t, &draws);
	draw_schedule(&t, &draws);
	struct smx_search *serial, *parallel;
	struct smxi_virtual *v = smxi_virtual_create(&t.schedule);
	if (!v || smx_search_create(&smx_dicechess, NULL, &serial) != SMX_OK ||
	    smx_search_create(&smx_dicechess, NULL, &parallel) != SMX_OK)
		fail("memory", "there is none");
	const struct smx_result *wanted = searched(serial, &t, &t.options);

	struct smx_search_options options = t.options;
	options.splitter = smxi_virtual_splitter(v);
	options.share_least_ms = -1;
	struct smx_error error;
	if (smx_random_below(&draws, 2) &&
	    smx_table_create((size_t)1 << (10 + smx_random_below(&draws, 11)), &options.table, &error) != SMX_OK)
		fail("table", error.message);
	if (smx_random_below(&draws, 8) == 0)
		options.node_limit = 1 + smx_random_below(&draws, NODE_LIMIT_MOST);
	smxi_virtual_begin(v, parallel, options.depth_plies);
	const struct smx_result *got = searched(parallel, &t, &options);
	smxi_virtual_end(v);
	const char *what;
	if (got->stopped) /* the answer of less is for other tests: here it only has to come */
		what = options.node_limit && got->limit_reached ? NULL : "end: it was stopped";
	else
		what = difference(&t, wanted, got);
	if (what)
		fprintf(stderr, "starmax-project: seed %llu: wrong %s: %s, depth %u, width %zu, %s, star %d, %u workers\n",
		        (unsigned long long)seed, what, t.name, options.depth_plies, options.width, options.evaluator->name,
		        (int)options.star, t.schedule.workers);
	tally->tasks += got->counters.tasks;
	tally->stopped += got->counters.tasks_stopped;
	tally->cut_short += got->stopped;
	smx_search_destroy(serial);
	smx_search_destroy(parallel);
	smx_table_destroy(options.table);
	smxi_virtual_destroy(v);
	return !what;
}

bool smxi_schedules_try(uint64_t first, uint64_t seeds)
{
	struct tally tally = {0};
	for (uint64_t i = 0; i < seeds; i++)
		if (!try_seed(first + i, &tally))
			return false;
	if (seeds && !tally.tasks) {
		fprintf(stderr, "starmax-project: no worker has taken anything over\n");
		return false;
	}
	printf(
		"%llu schedules from seed %llu: every answer is the serial search's; %llu tasks, %llu of them stopped in vain, "
		"%llu searches cut short by their node limit\n",
		(unsigned long long)seeds, (unsigned long long)first, (unsigned long long)tally.tasks,
		(unsigned long long)tally.stopped, (unsigned long long)tally.cut_short);
	return true;
}
