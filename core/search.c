/* The search object and the root: candidates, deepening, the choice among them. Nodes below the root are chance.c and frame.c. */
#include <starmax/search.h>

#include "core/candidates.h"
#include "core/error.h"
#include "core/node.h"

#include <starmax/random.h>

#include <stdlib.h>
#include <string.h>

/* What is to be expected, roughly, of a game with some fifty outcomes: so many times the time of the depth before; the replies to one
 * candidate. Of one with less it is too much, and threads are woken a little early. */
static const double depth_growth = 64, candidate_ms = 0.03;
static const double worth_sharing_ms = 0.5;

static enum end evaluate_candidates(struct searcher *s, const struct smxi_candidates *c, struct smx_candidate *list)
{
	const struct smx_evaluator *evaluator = s->options.evaluator;
	const struct smx_arena_mark mark = smx_arena_mark(s->arena);
	smx_value *values = smx_arena_alloc(s->arena, c->count * sizeof *values);
	if (!values)
		return END_NO_MEMORY;
	if (smxi_must_stop(s))
		return END_STOPPED;
	evaluator->evaluate(evaluator->context, c->states, c->count, s->evaluated_side, values);
	s->counters.leaf_evaluations += c->count;
	for (size_t i = 0; i < c->count; i++) {
		list[i].value = values[i];
		list[i].exact = list[i].completed = true;
		smxi_rescore_apply(s, &list[i], false);
	}
	atomic_store(&s->search->candidates_completed, c->count);
	smx_arena_release(s->arena, mark);
	return END_DONE;
}

/* An entry does not say what a candidate loses: the game has to, for the other side's turn, and a blend depends on it. */
static bool asks_table(const struct searcher *s, const void *candidate)
{
	return s->game->won && s->game->side_to_move(candidate) != s->evaluated_side && !s->rescores;
}

/* The candidates of one depth. */
struct root {
	struct work work; /* first: work_on_candidates finds the root by it */
	const struct smxi_candidates *candidates;
	const uint32_t *order;
	struct smx_candidate *list; /* each written by one thread */
	unsigned depth;
	size_t exact;       /* so many, first in canonical order, get an open window */
	size_t next, until; /* of the order */
	/* Under the lock: the best exact values so far, the best first, at most `keep` of them. */
	smx_value *kept;
	size_t kept_count, keep;
	struct brothers brothers; /* best: the last of `keep` values, the floor while there are fewer */
};

static enum end search_candidate(struct searcher *s, const struct root *root, size_t i, size_t rank)
{
	struct smx_candidate *candidate = &root->list[i];
	const bool is_open = i < root->exact || s->options.star == SMX_STAR_NONE;
	const smx_value best = atomic_load_explicit(&root->brothers.best, memory_order_relaxed);
	struct visit visit = {
		.at = {smxi_state_at(s, root->candidates->states, i), NULL},
		.depth = root->depth - 1,
		.window = {is_open ? s->floor : smxi_rescore_alpha(s, candidate, best), s->ceiling},
		.known = smxi_anything(s),
		.brothers = s->search->splitter && !is_open && rank >= root->keep && !s->rescores ? &root->brothers : NULL,
		.rank = (unsigned)rank,
	};
	const struct place place = smxi_table_place(s, visit.at.state, visit.depth, 0);
	visit.place = &place;
	if (asks_table(s, visit.at.state) && smxi_table_narrow(s, &visit.at, &place, &visit.known)) {
		visit.answered = smxi_answers(visit.known, visit.window);
		s->counters.cutoffs_table += visit.answered;
	}
	struct chance node;
	const enum end end = smxi_search_chance(s, &visit, &node);
	if (end != END_DONE)
		return end;
	candidate->value = smxi_node_upper(&node);
	/* a node that was left early may be exact by rounding, but then it need not be known what it loses */
	if (visit.brothers)
		visit.window.alpha = atomic_load_explicit(&root->brothers.best, memory_order_relaxed);
	candidate->exact = smxi_node_lower(&node) == candidate->value && !smxi_outside(&node, visit.window);
	candidate->loss_weight = smxi_weight_of(&node, node.lost);
	candidate->total = node.total;
	candidate->completed = true;
	smxi_rescore_apply(s, candidate, node.lost != 0);
	atomic_fetch_add_explicit(&s->search->candidates_completed, 1, memory_order_relaxed);
	return END_DONE;
}

/* Under the lock. */
static void keep_value(struct searcher *s, struct root *root, const struct smx_candidate *candidate)
{
	const smx_value value = candidate->value;
	if (root->kept_count == root->keep && value <= root->kept[root->keep - 1])
		return;
	size_t at = root->kept_count < root->keep ? root->kept_count++ : root->keep - 1;
	for (; at > 0 && root->kept[at - 1] < value; at--)
		root->kept[at] = root->kept[at - 1];
	root->kept[at] = value;
	if (at == 0)
		atomic_store_explicit(&s->search->best, candidate, memory_order_release);
	if (root->kept_count == root->keep)
		atomic_store_explicit(&root->brothers.best, root->kept[root->keep - 1], memory_order_relaxed);
	smxi_count_bound(s, &root->work, true);
}

static void work_on_candidates(struct searcher *s, struct work *work)
{
	struct root *root = (struct root *)work;
	smxi_lock(work);
	while (!atomic_load_explicit(&work->ended, memory_order_relaxed) && root->next < root->until) {
		const size_t rank = root->next++, i = root->order[rank];
		smxi_set_left(work, root->until - root->next);
		smxi_unlock(work);
		smxi_offer_work(s);
		const enum end end = search_candidate(s, root, i, rank);
		smxi_lock(work);
		const struct smx_candidate *candidate = &root->list[i];
		if (end != END_DONE)
			smxi_end_work(s, work, end);
		else if (candidate->exact)
			keep_value(s, root, candidate);
		if (end == END_DONE && rank < root->keep &&
		    atomic_fetch_sub_explicit(&root->brothers.first_missing, 1, memory_order_release) == 1)
			smxi_tell_news(s->search);
	}
	smxi_unlock(work);
}

/* Whether a candidate may be begun before the first ones have their values: where it is a frame, which is made meanwhile, and waits. */
static bool can_begin_ahead(const struct searcher *s, unsigned depth)
{
	return s->search->splitter && depth >= 3 && !s->rescores && smxi_makes_frames(s);
}

/* One depth: give each candidate its interval, in search order, until stopped. The first (of `multi`, so many) is searched with an open
 * window, with every thread on what is below it; the others only where they can reach the best value so far. */
static enum end search_candidates(struct searcher *s, const struct smxi_candidates *c, const uint32_t *order,
                                  struct smx_candidate *list, smx_value *kept, unsigned depth, size_t exact)
{
	const size_t multi = s->options.multi ? s->options.multi : 1;
	for (size_t i = 0; i < c->count; i++) {
		list[i] = c->list[i];
		list[i].completed = false;
	}
	atomic_store(&s->search->candidates_completed, 0);
	atomic_store(&s->search->best, NULL);
	s->search->depth_plies = depth;
	if (depth == 1)
		return evaluate_candidates(s, c, list);
	const bool begins_ahead = can_begin_ahead(s, depth);
	struct root root = {
		.work = {.run = work_on_candidates, .is_root = true},
		.candidates = c,
		.order = order,
		.list = list,
		.depth = depth,
		.exact = exact,
		.keep = multi < c->count ? multi : c->count,
		.brothers = {.best = s->floor},
	};
	if (begins_ahead)
		root.work.brothers = &root.brothers;
	atomic_init(&root.brothers.first_missing, (unsigned)root.keep);
	root.kept = kept;
	enum end end = END_DONE;
	/* where all get an open window there is nothing to wait for */
	for (root.until = exact >= c->count || begins_ahead ? c->count : root.keep; end == END_DONE && root.next < c->count;
	     root.until = c->count)
		end = smxi_work_together(s, &root.work, true);
	return end;
}

static const struct smx_candidate *best_of(const struct smx_candidate *list, size_t count)
{
	const struct smx_candidate *best = NULL;
	for (size_t i = 0; i < count; i++)
		if (list[i].exact && (!best || list[i].value > best->value))
			best = &list[i];
	return best;
}

/* Answer with the best candidate: its value is always exact. The first of the best, or one of them by the seed. Returns which. */
static size_t choose(struct searcher *s, const struct smx_candidate *list, size_t count)
{
	struct smx_result *result = &s->search->result;
	const struct smx_candidate *best = best_of(list, count);
	result->candidates = list;
	result->turn = list[0].turn;
	result->ties = 0;
	if (!best)
		return 0;
	for (size_t i = 0; i < count; i++)
		result->ties += list[i].exact && list[i].value == best->value;
	result->has_value = true;
	result->value = best->value;
	uint64_t seed = s->options.seed;
	uint32_t skip = s->options.ties == SMX_TIES_RANDOM ? smx_random_below(&seed, (uint32_t)result->ties) : 0;
	const struct smx_candidate *chosen = best;
	while (!(chosen->exact && chosen->value == best->value && skip-- == 0))
		chosen++;
	result->turn = chosen->turn;
	return (size_t)(chosen - list);
}

/* Search order for the next depth: by what this one found, ties in canonical order. */
static void order_by(const struct smx_candidate *list, size_t count, struct smxi_rank *ranks, uint32_t *order)
{
	for (size_t i = 0; i < count; i++)
		ranks[i] = (struct smxi_rank){list[i].value, (uint32_t)i};
	smxi_rank_sort(ranks, count);
	for (size_t i = 0; i < count; i++)
		order[i] = ranks[i].index;
}

/* What the searchers have counted, together: counters are nothing but numbers. */
static struct smx_counters all_counters(const struct smx_search *search)
{
	uint64_t sum[SMX_COUNTERS] = {0};
	for (unsigned i = 0; i < search->searcher_count; i++) {
		uint64_t one[SMX_COUNTERS];
		memcpy(one, &search->searchers[i].counters, sizeof one);
		for (size_t c = 0; c < SMX_COUNTERS; c++)
			sum[c] += one[c];
	}
	struct smx_counters counters;
	memcpy(&counters, sum, sizeof counters);
	return counters;
}

/* ... and the memory of all their arenas. */
static struct smx_arena_statistics all_memory(const struct smx_search *search)
{
	struct smx_arena_statistics all = {0};
	for (unsigned i = 0; i < search->searcher_count; i++) {
		const struct smx_arena_statistics one = smx_arena_statistics(search->searchers[i].arena);
		all.reserved_bytes += one.reserved_bytes;
		all.high_water_bytes += one.high_water_bytes;
		all.chunk_requests += one.chunk_requests;
	}
	return all;
}

static struct smx_counters counted_since(struct smx_counters now, const struct smx_counters *before)
{
	uint64_t a[SMX_COUNTERS], b[SMX_COUNTERS];
	struct smx_counters since;
	memcpy(a, &now, sizeof a);
	memcpy(b, before, sizeof b);
	for (size_t i = 0; i < SMX_COUNTERS; i++)
		a[i] -= b[i];
	memcpy(&since, a, sizeof since);
	return since;
}

static void record_iteration(struct searcher *s, unsigned depth, bool completed, const struct smx_candidate *best,
                             const struct smx_counters *before, double begun_ms)
{
	struct smx_iteration *iteration = &s->search->iterations[s->search->result.iteration_count++];
	*iteration = (struct smx_iteration){
		.depth_plies = depth,
		.completed = completed,
		.has_value = best != NULL,
		.candidates_completed = atomic_load(&s->search->candidates_completed),
		.time_ms = smxi_now_ms() - begun_ms,
		.counters = counted_since(all_counters(s->search), before),
	};
	if (best) {
		iteration->value = best->value;
		iteration->turn = best->turn;
	}
}

/* ---- threads ---- */

static void note_sharing(struct smx_search *search, unsigned threads, double span_ms)
{
	struct smx_sharing *sharing = &search->result.sharing;
	sharing->threads = threads;
	sharing->span_ms = span_ms;
	sharing->idle_ms = (threads - 1) * span_ms;
	for (unsigned i = 0; i < threads; i++) {
		const struct searcher *s = &search->searchers[i];
		sharing->used += i > 0 && s->counters.tasks > 0;
		sharing->idle_ms += s->waited_ms - s->busy_ms;
		for (unsigned size = 0; size < SMX_TASK_SIZES; size++)
			sharing->task_sizes[size] += s->task_sizes[size];
	}
}

static void with_threads(struct searcher *s, smxi_task *task, void *argument)
{
	struct smx_search *search = s->search;
	const struct smx_splitter *splitter = s->options.splitter;
	search->splitter = splitter;
	atomic_store(&search->idle, (int)splitter->threads - 1);
	atomic_store(&search->looking, 0);
	atomic_store(&search->news, 1);
	atomic_store(&search->news_in_vain, 0);
	const double begun_ms = smxi_now_ms();
	splitter->run(splitter->context, task, argument);
	search->splitter = NULL;
	note_sharing(search, splitter->threads, smxi_now_ms() - begun_ms);
}

static bool has_threads(const struct searcher *s)
{
	return s->options.splitter && s->options.splitter->threads > 1;
}

static double share_least_ms(const struct searcher *s)
{
	const struct smx_splitter *splitter = s->options.splitter;
	if (s->options.share_least_ms != 0)
		return s->options.share_least_ms;
	return splitter->worth_ms ? splitter->worth_ms(splitter->context) : worth_sharing_ms;
}

/* ---- depths ---- */

struct deepening {
	struct searcher *s;
	struct smxi_candidates *candidates;
	uint32_t *order;
	struct smxi_rank *ranks;
	smx_value *kept;
	struct smx_candidate *list[2]; /* of this depth and the one before, in turns */
	size_t chosen;
	unsigned depth;
	enum end end;
};

/* Search to the depth that is next. */
static void deepen_once(struct deepening *d)
{
	struct searcher *s = d->s;
	struct smx_result *result = &s->search->result;
	const size_t count = d->candidates->count;
	const unsigned depth = d->depth++, last = s->options.depth_plies;
	struct smx_candidate *now = d->list[depth % 2];
	const struct smx_counters before = all_counters(s->search);
	const double begun_ms = smxi_now_ms();
	/* folded, depth 2 is cheap, and its exact values make the best order */
	const bool all = depth < last && depth <= 2 && s->fold;
	const size_t exact = all ? SMX_EXACT_ALL : depth == last ? s->options.exact : 0;
	d->end = search_candidates(s, d->candidates, d->order, now, d->kept, depth, exact);
	/* an interrupted depth counts only if the answer so far was completed in it */
	if (d->end == END_DONE || (d->end == END_STOPPED && now[d->chosen].completed)) {
		d->chosen = choose(s, now, count);
		result->depth_plies = depth;
		result->candidates_completed = atomic_load(&s->search->candidates_completed);
	}
	record_iteration(s, depth, d->end == END_DONE, best_of(now, count), &before, begun_ms);
	if (d->end == END_DONE && depth < last) {
		s->search->best_before = &now[d->chosen];
		order_by(now, count, d->ranks, d->order);
	}
}

static bool is_deep_enough(const struct deepening *d)
{
	return d->end != END_DONE || d->depth > d->s->options.depth_plies;
}

static void deepen_on(void *deepening)
{
	struct deepening *d = deepening;
	while (!is_deep_enough(d))
		deepen_once(d);
}

/* Whether the next depth will take longer than it takes to wake threads. */
static bool is_worth_sharing(const struct deepening *d)
{
	const struct searcher *s = d->s;
	if (!has_threads(s) || d->depth < 2)
		return false;
	if (share_least_ms(s) < 0 || (d->depth >= 3 && s->options.star == SMX_STAR_NONE))
		return true;
	const struct smx_iteration *before = &s->search->iterations[s->search->result.iteration_count - 1];
	const double expected_ms =
		d->depth == 2 ? candidate_ms * (double)d->candidates->count : depth_growth * before->time_ms;
	return expected_ms >= share_least_ms(s);
}

/* Depths below the last only order the candidates and stand in when the last is not completed; plain expectiminimax goes to the
 * depth at once. Canonical order is never changed. */
static enum end deepen(struct searcher *s, struct smxi_candidates *c)
{
	struct deepening d = {
		.s = s,
		.candidates = c,
		.order = smx_arena_alloc(s->arena, c->count * sizeof *d.order),
		.ranks = smx_arena_alloc(s->arena, c->count * sizeof *d.ranks),
		.kept = smx_arena_alloc(s->arena, c->count * sizeof *d.kept),
		.depth = s->options.star == SMX_STAR_NONE ? s->options.depth_plies : 1,
	};
	for (unsigned i = 0; i < 2; i++)
		d.list[i] = smx_arena_alloc(s->arena, c->count * sizeof *d.list[i]);
	if (!d.order || !d.ranks || !d.kept || !d.list[0] || !d.list[1])
		return END_NO_MEMORY;
	for (size_t i = 0; i < c->count; i++)
		d.order[i] = (uint32_t)i;
	d.chosen = choose(s, c->list, c->count);
	d.end = smxi_rescore_ask(s, c->states, c->list, c->count);
	while (!is_deep_enough(&d) && !is_worth_sharing(&d))
		deepen_once(&d);
	if (!is_deep_enough(&d))
		with_threads(s, deepen_on, &d);
	return d.end;
}

static enum end search_turns(struct searcher *s, const struct smx_position *position)
{
	struct smx_result *result = &s->search->result;
	struct smxi_candidates c;
	if (smxi_candidates_make(&c, s->game, position, &s->options, s->arena) != SMX_OK)
		return END_NO_MEMORY;
	s->counters.turns = c.turns;
	s->counters.prerank_evaluations = c.prerank_evaluations;
	if (c.can_win) {
		result->kind = SMX_RESULT_WIN;
		result->has_value = true;
		result->value = s->options.evaluator->win;
		result->turn = c.win;
		result->ties = 1;
		return END_DONE;
	}
	if (c.count == 0) {
		result->kind = SMX_RESULT_LOSS;
		result->has_value = true;
		result->value = s->options.evaluator->loss;
		return END_DONE;
	}
	s->counters.candidates = s->search->candidates = c.count;
	result->kind = c.list[0].turn.steps == 0 ? SMX_RESULT_PASS : SMX_RESULT_TURN;
	result->candidate_count = c.count;
	const enum end end = deepen(s, &c);
	s->counters.candidates_completed = result->candidates_completed;
	s->counters.candidates_abandoned = c.count - atomic_load(&s->search->candidates_completed);
	return end;
}

struct root_visit {
	struct searcher *s;
	struct visit visit;
	struct chance node;
	enum end end;
};

static void search_root(void *root_visit)
{
	struct root_visit *root = root_visit;
	root->end = smxi_search_chance(root->s, &root->visit, &root->node);
}

static enum end search_value(struct searcher *s, const struct smx_position *position)
{
	struct smx_result *result = &s->search->result;
	struct root_visit root = {
		.s = s,
		.visit =
			{
				.at = {position->state, NULL},
				.depth = s->options.depth_plies,
				.window = {s->floor, s->ceiling},
				.known = smxi_anything(s),
				.is_whole = true,
			},
	};
	const struct chance *node = &root.node;
	s->search->depth_plies = s->options.depth_plies;
	const struct smx_counters before = all_counters(s->search);
	const double begun_ms = smxi_now_ms();
	if (has_threads(s) && root.visit.depth >= 2)
		with_threads(s, search_root, &root);
	else
		search_root(&root);
	const enum end end = root.end;
	record_iteration(s, root.visit.depth, end == END_DONE, NULL, &before, begun_ms);
	result->kind = SMX_RESULT_VALUE;
	if (end != END_DONE)
		return end;
	assert(node->low == node->high);
	result->has_value = s->search->iterations[0].has_value = true;
	result->depth_plies = s->options.depth_plies;
	result->value = s->search->iterations[0].value = smxi_node_lower(node);
	result->outcomes_won = node->won;
	result->outcomes_lost = node->lost;
	if (s->options.outcome_values) {
		result->outcome_count = node->count;
		memcpy(result->outcome_values, node->lower, node->count * sizeof node->lower[0]);
		memcpy(result->outcome_weights, node->weight, node->count * sizeof node->weight[0]);
	}
	return END_DONE;
}

static bool is_selective(const struct smx_search_options *options)
{
	return options->selective.inner_width || options->selective.reach > 0 || options->selective.samples;
}

static bool same_evaluator(const struct smx_evaluator *a, const struct smx_evaluator *b)
{
	return a->name == b->name && a->unit == b->unit && a->scale_bits == b->scale_bits && a->lo == b->lo &&
	       a->hi == b->hi && a->loss == b->loss && a->win == b->win && a->evaluate == b->evaluate &&
	       a->context == b->context && a->fold == b->fold && a->symmetric == b->symmetric;
}

/* A game's own evaluators are tested with the game; a user's is checked when it is first seen. */
static enum smx_status trust(struct smx_search *search, unsigned role, const struct smx_evaluator *evaluator,
                             uint64_t *values_hash, struct smx_error *error)
{
	for (unsigned i = 0; i < ROLES; i++)
		if (search->checked[i].evaluate && same_evaluator(&search->checked[i], evaluator)) {
			*values_hash = search->checked_values[i];
			return SMX_OK;
		}
	const enum smx_status status = smxi_evaluator_check(search->game, evaluator, values_hash, error);
	if (status == SMX_OK) {
		search->checked[role] = *evaluator;
		search->checked_values[role] = *values_hash;
	}
	return status;
}

static bool is_rule(const struct smx_depth_rule *rule)
{
	bool is_one = rule->depth_plies <= SMX_DEPTH_MAX && rule->count <= SMX_DEPTH_STEPS_MAX;
	for (unsigned i = 0; is_one && i < rule->count; i++)
		is_one = rule->steps[i].depth_plies >= 1 && rule->steps[i].depth_plies <= SMX_DEPTH_MAX;
	return is_one;
}

static enum smx_status check_options(struct smx_search *search, const struct smx_search_options *options,
                                     uint64_t *fingerprint, struct smx_error *error)
{
	if (options->depth_plies < 1 || options->depth_plies > SMX_DEPTH_MAX)
		return smxi_refuse(error, SMX_ERR_ARGUMENT, "depth must be from 1 to %d", SMX_DEPTH_MAX);
	if (!is_rule(&options->depth_by))
		return smxi_refuse(error, SMX_ERR_ARGUMENT, "a rule for depths needs depths from 1 to %d", SMX_DEPTH_MAX);
	if (!options->evaluator || !options->prerank)
		return smxi_refuse(error, SMX_ERR_ARGUMENT, "a search needs an evaluator and a pre-ranker");
	if (!(options->selective.reach >= 0 && options->selective.reach < 1))
		return smxi_refuse(error, SMX_ERR_ARGUMENT, "the probability of a branch to search must be from 0 to below 1");
	if ((options->selective.inner_width || options->selective.samples) && options->table)
		return smxi_refuse(error, SMX_ERR_ARGUMENT, "a search that narrows or samples keeps no table");
	uint64_t values_hash, ignored;
	enum smx_status status = trust(search, 0, options->evaluator, &values_hash, error);
	if (status == SMX_OK) {
		*fingerprint = smxi_fingerprint(search->game, options->evaluator, values_hash);
		status = trust(search, 1, options->prerank, &ignored, error);
	}
	if (status == SMX_OK && smxi_rescores(options))
		status = trust(search, 2, options->rescore, &ignored, error);
	return status == SMX_OK ? smxi_rescore_check(options, error) : status;
}

/* A searcher for each thread of the back-end; those that are there keep their memory. */
static bool have_searchers(struct smx_search *search, const struct smx_splitter *splitter)
{
	if (!splitter || splitter->threads <= search->searcher_count)
		return true;
	const unsigned wanted = splitter->threads;
	struct searcher *all = realloc(search->searchers, wanted * sizeof *all);
	if (!all)
		return false;
	search->searchers = all;
	for (unsigned i = search->searcher_count; i < wanted; i++) {
		all[i] = (struct searcher){
			.search = search,
			.game = search->game,
			.arena = smx_arena_create(splitter->chunks ? splitter->chunks(splitter->context, i) : NULL),
		};
		if (!all[i].arena)
			return false;
		search->searcher_count = i + 1;
	}
	return true;
}

/* No branch is rarer: a step's weight is at least one in 2^31. */
enum { RARITY_ANY = SMX_DEPTH_MAX * 4 * 31 };

/* The rarest branch that a reach allows: its own rarity, rounded down. */
static unsigned rarity_most(double reach)
{
	const double quarter = 0.84089641525371454, slack = 1 - 1e-9; /* 2^(-1/4), whose products are rounded */
	unsigned most = 0;
	for (double p = quarter; reach > 0 && p >= reach * slack && most < RARITY_ANY; p *= quarter)
		most++;
	return most;
}

static unsigned depth_for(const struct smx_game *game, const struct smx_position *position,
                          const struct smx_search_options *options)
{
	const struct smx_depth_rule *rule = &options->depth_by;
	const unsigned depth = rule->depth_plies ? smx_depth_of(rule, game, position) : SMX_DEPTH_MAX;
	return depth < options->depth_plies ? depth : options->depth_plies;
}

static void begin(struct searcher *s, const struct smx_search_options *options, unsigned depth_plies,
                  unsigned evaluated_side, uint64_t fingerprint, double now_ms)
{
	smx_arena_release(s->arena, (struct smx_arena_mark){NULL, 0});
	s->counters = (struct smx_counters){0};
	s->uncounted = 0;
	s->busy_ms = s->waited_ms = 0;
	memset(s->task_sizes, 0, sizeof s->task_sizes);
	s->options = *options;
	s->options.depth_plies = depth_plies;
	s->evaluated_side = evaluated_side;
	s->fold = s->game->fold && options->evaluator->fold && options->leaves == SMX_LEAVES_FOLD;
	s->selective = is_selective(options);
	s->rarity_most = rarity_most(options->selective.reach);
	s->rescores = smxi_rescores(options);
	s->look = s->game->look && options->evaluator->fold && !options->no_bounds;
	s->span = s->game->span && options->evaluator->fold && !options->no_bounds && !s->selective &&
	          options->star != SMX_STAR_NONE;
	s->canonical = s->game->canonical && options->evaluator->symmetric;
	s->floor = smx_evaluator_floor(options->evaluator);
	s->ceiling = smx_evaluator_ceiling(options->evaluator);
	s->started_ms = now_ms;
	smxi_table_salt(s, fingerprint);
}

enum smx_status smx_search_run(struct smx_search *search, const struct smx_position *position,
                               const struct smx_search_options *options, const struct smx_result **result,
                               struct smx_error *error)
{
	uint64_t fingerprint = 0;
	const enum smx_status status = check_options(search, options, &fingerprint, error);
	if (status != SMX_OK)
		return status;

	if (!have_searchers(search, options->splitter))
		return smxi_refuse(error, SMX_ERR_MEMORY, "no memory for %u threads", options->splitter->threads);
	const double now_ms = smxi_now_ms();
	const unsigned side = search->game->side_to_move(position->state);
	const unsigned depth_plies = depth_for(search->game, position, options);
	for (unsigned i = 0; i < search->searcher_count; i++)
		begin(&search->searchers[i], options, depth_plies, side, fingerprint, now_ms);
	atomic_store(&search->limit_reached, false);
	atomic_store(&search->nodes, 0);
	search->reported_ms = now_ms;
	search->candidates = 0;
	atomic_store(&search->candidates_completed, 0);
	atomic_store(&search->best, NULL);
	search->best_before = NULL;
	search->result = (struct smx_result){.sharing = {.threads = 1, .used = 1}};
	if (options->table)
		smxi_table_begin(options->table);

	struct searcher *s = &search->searchers[0];
	search->iterations = smx_arena_alloc(s->arena, depth_plies * sizeof *search->iterations);
	const enum end end = !search->iterations                   ? END_NO_MEMORY
	                     : position->outcome == SMX_NO_OUTCOME ? search_value(s, position)
	                                                           : search_turns(s, position);
	if (end == END_NO_MEMORY)
		return smxi_refuse(error, SMX_ERR_MEMORY, "no memory left after %zu bytes", all_memory(search).reserved_bytes);
	struct smx_result *r = &search->result;
	r->iterations = search->iterations;
	r->selective = s->selective;
	r->stopped = end == END_STOPPED;
	r->limit_reached = r->stopped && atomic_load(&search->limit_reached);
	r->counters = all_counters(search);
	r->memory = all_memory(search);
	r->time_ms = smxi_now_ms() - s->started_ms;
	*result = r;
	return SMX_OK;
}

enum smx_status smx_search_create(const struct smx_game *game, const struct smx_chunk_source *chunks,
                                  struct smx_search **search)
{
	if (game->state_size < sizeof(struct smx_state) || game->state_size > SMX_STATE_MAX || game->state_size % 16 != 0)
		return SMX_ERR_ARGUMENT;
	struct smx_search *made = calloc(1, sizeof *made);
	if (!made)
		return SMX_ERR_MEMORY;
	made->game = game;
	made->searchers = calloc(1, sizeof *made->searchers);
	if (made->searchers) {
		made->searchers[0] = (struct searcher){.search = made, .game = game, .arena = smx_arena_create(chunks)};
		made->searcher_count = made->searchers[0].arena ? 1 : 0;
	}
	smxi_lock_init(&made->works_lock);
	if (!made->searcher_count) {
		smx_search_destroy(made);
		return SMX_ERR_MEMORY;
	}
	*search = made;
	return SMX_OK;
}

void smx_search_destroy(struct smx_search *search)
{
	if (!search)
		return;
	for (unsigned i = 0; i < search->searcher_count; i++)
		smx_arena_destroy(search->searchers[i].arena);
	free(search->searchers);
	pthread_mutex_destroy(&search->works_lock);
	free(search);
}

void smx_search_options_init(struct smx_search_options *options, const struct smx_game *game)
{
	*options = (struct smx_search_options){
		.depth_plies = 2,
		.star = SMX_STAR2,
		.evaluator = game->evaluators[0],
		.prerank = game->evaluators[0],
	};
}

void smx_search_stop(struct smx_search *search)
{
	atomic_store_explicit(&search->stop, true, memory_order_relaxed);
}

void smx_search_resume(struct smx_search *search)
{
	atomic_store_explicit(&search->stop, false, memory_order_relaxed);
}
