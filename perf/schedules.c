/* See schedules.h. A seed decides everything: the position, the options, the number of workers and the schedule. */
#include "perf/schedules.h"

#include "perf/trials.h"

#include <starmax/random.h>

#include <stdio.h>
#include <string.h>

enum {
	WORKERS_LEAST = 2,
	WORKERS_MOST = 64,
	NODE_LIMIT_MOST = 500,
};

struct tally {
	uint64_t tasks, stopped, cut_short;
};

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

static bool same_candidate(const struct smx_candidate *a, const struct smx_candidate *b)
{
	return a->exact == b->exact && a->value == b->value && a->loss_weight == b->loss_weight && a->total == b->total;
}

/* So many candidates have exactly a greater value. */
static size_t better(const struct smx_result *r, smx_value value)
{
	size_t count = 0;
	for (size_t i = 0; i < r->candidate_count; i++)
		count += r->candidates[i].exact && r->candidates[i].value > value;
	return count;
}

/* So many of the best are exact, whatever the schedule, and those that tie with the last of them. */
static size_t kept(const struct trial *t)
{
	return t->options.multi ? t->options.multi : 1;
}

static bool must_be_exact(const struct trial *t, const struct smx_result *r, size_t index)
{
	const struct smx_candidate *c = &r->candidates[index];
	return index < t->options.exact || (c->exact && better(r, c->value) < kept(t));
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
	for (size_t i = 0; i < a->candidate_count; i++)
		if (must_be_exact(t, a, i) && !same_candidate(&a->candidates[i], &b->candidates[i]))
			return "candidate";
	return NULL;
}

static bool is_true(const struct trial *t, const struct smx_result *r, const struct smx_candidate *candidate,
                    const struct smx_candidate *truth)
{
	if (candidate->exact)
		return same_candidate(candidate, truth);
	/* a blend is no bound of what is not blended because it loses */
	const bool is_bound = t->options.rescore || candidate->value >= truth->value;
	return is_bound && better(r, candidate->value) >= kept(t);
}

/* What is wrong about what was completed, of each candidate, in a search that may have been stopped; NULL: nothing. */
static const char *falsehood(const struct trial *t, const struct smx_result *r)
{
	if (r->counters.table_conflicts)
		return "table: conflicts";
	if (!r->depth_plies || !r->candidate_count)
		return NULL;
	struct smx_search *search = smxi_trial_create_search(t);
	struct smx_search_options options = t->options;
	options.exact = SMX_EXACT_ALL;
	options.depth_plies = r->depth_plies;
	const struct smx_result *truth = smxi_trial_search(search, t, &options);
	const char *what = NULL;
	for (size_t i = 0; i < r->candidate_count && !what; i++)
		if (r->candidates[i].completed && !is_true(t, r, &r->candidates[i], &truth->candidates[i]))
			what = r->candidates[i].exact ? "candidate's value" : "candidate's bound";
	smx_search_destroy(search);
	return what;
}

static void report(const struct trial *t, const char *what)
{
	char position[SMX_TEXT_MAX];
	t->game->format(&t->position, position);
	fprintf(stderr, "starmax-project: seed %llu: wrong %s: %s, %s, depth %u, width %zu, %s, star %d, %u workers\n",
	        (unsigned long long)t->seed, what, t->game->name, position, t->options.depth_plies, t->options.width,
	        t->options.evaluator->name, (int)t->options.star, t->schedule.workers);
}

static bool try_seed(uint64_t seed, struct tally *tally)
{
	struct trial t = {.seed = seed};
	uint64_t draws = seed ^ UINT64_C(0x5354524d41585654); /* other numbers than the schedule's */
	smxi_trial_draw(&t, &draws);
	draw_schedule(&t, &draws);
	struct smxi_virtual *v = smxi_virtual_create(&t.schedule);
	if (!v)
		smxi_trial_fail("memory", "there is none");
	struct smx_search *serial = smxi_trial_create_search(&t), *parallel = smxi_trial_create_search(&t);
	const struct smx_result *wanted = smxi_trial_search(serial, &t, &t.options);

	struct smx_search_options options = t.options;
	options.splitter = smxi_virtual_splitter(v);
	options.share_least_ms = -1;
	struct smx_error error;
	if (smx_random_below(&draws, 2) &&
	    smx_table_create((size_t)1 << (10 + smx_random_below(&draws, 11)), &options.table, &error) != SMX_OK)
		smxi_trial_fail("table", error.message);
	if (smx_random_below(&draws, 8) == 0)
		options.node_limit = 1 + smx_random_below(&draws, NODE_LIMIT_MOST);
	smxi_virtual_begin(v, parallel, options.depth_plies);
	const struct smx_result *got = smxi_trial_search(parallel, &t, &options);
	smxi_virtual_end(v);
	const char *what;
	if (got->stopped) /* the answer of less is for other tests: here it has to come, and no candidate's to be wrong */
		what = options.node_limit && got->limit_reached ? NULL : "end: it was stopped";
	else
		what = difference(&t, wanted, got);
	if (!what)
		what = falsehood(&t, got);
	if (what)
		report(&t, what);
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
