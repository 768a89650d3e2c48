/* What Pig has to keep, and what any game can be checked by: the rules against themselves and against numbers that are
 * known otherwise, all ways to search against each other, and the search against the solution of the game. Prints what is
 * wrong; exit status 1 where something is. */
#define main pig_main
int main(int argc, char **argv);
#include "pig.c"
#undef main

#include <starmax/parallel.h>

#include <math.h>
#include <stdarg.h>

enum {
	GAMES = 20,
	TURNS_MOST = 10000, /* of a random game */
	POSITIONS = 60,
	ALL_WAYS_DEPTH = 4, /* of the positions, */
	ALL_WAYS_DEEP = 6,  /* ... and of the first ones */
	ALL_WAYS_DEEP_POSITIONS = 2,
	DEEPEST = 8, /* with a table, which makes the tree of Pig a small graph */
	PLAIN_DEPTH = 3,
	THREADS = 3,
};

static unsigned long checks, failures, tasks;
static uint64_t seed = 1;

__attribute__((format(printf, 3, 4))) static void check(bool holds, const struct smx_position *position,
                                                        const char *claim, ...)
{
	checks++;
	if (holds)
		return;
	char text[SMX_TEXT_MAX] = "pig";
	if (position)
		format(position, text);
	va_list arguments;
	va_start(arguments, claim);
	printf("FAIL: %s: ", text);
	vprintf(claim, arguments);
	putchar('\n');
	va_end(arguments);
	failures++;
}

static struct smx_position position_of(struct state s, int outcome)
{
	struct smx_position position = {.outcome = outcome};
	memcpy(position.state, &s, sizeof s);
	return position;
}

/* 0 or 2..most: nobody can have 1 point. */
static unsigned random_points(unsigned most)
{
	const unsigned points = smx_random_below(&seed, most + 1);
	return points == 1 ? 0 : points;
}

static struct smx_position random_position(void)
{
	const unsigned side = smx_random_below(&seed, 2);
	unsigned score[2] = {random_points(PIG_TARGET - 1), random_points(PIG_TARGET - 1)};
	const unsigned total = random_points(PIG_TARGET - 1 - score[side]);
	return position_of(make(score[0], score[1], total, side), (int)smx_random_below(&seed, FACES + 1) - 1);
}

/* ---- the rules ---- */

static void check_text(const struct smx_position *position)
{
	char text[SMX_TEXT_MAX + 1];
	const size_t length = pig.format(position, text);
	text[length] = '!'; /* parse must not look there */
	struct smx_position again;
	const bool same = pig.parse(text, length, &again, NULL) == SMX_OK && again.outcome == position->outcome &&
	                  memcmp(again.state, position->state, pig.state_size) == 0;
	check(same, position, "its text does not give the position back");
}

struct listing {
	const struct smx_position *position;
	struct smx_afterstates list;
	size_t seen;
	bool won;
};

/* No two turns of Pig lead to one afterstate, so turns() meets the list in its order. */
static bool compare_turn(void *context, const struct smx_turn *turn, const void *afterstate)
{
	struct listing *l = context;
	if (l->won) {
		check(turn->wins && !afterstate, l->position, "a turn that does not win where the outcome is won");
	} else {
		const char *expected = (const char *)l->list.states + l->seen * pig.state_size;
		const bool same = l->seen < l->list.count && memcmp(afterstate, expected, pig.state_size) == 0;
		check(same && !turn->wins, l->position, "turn %zu leads elsewhere than afterstate %zu", l->seen, l->seen);
	}
	l->seen++;
	return true;
}

/* One outcome's list against its turns; a random afterstate of it is *next, where there is one. */
static bool check_outcome(const struct state *s, unsigned outcome, struct smx_arena *arena, struct state *next)
{
	const struct smx_position position = position_of(*s, (int)outcome);
	check_text(&position);
	struct listing l = {.position = &position};
	const enum smx_node node = pig.afterstates(pig.open(s, arena), outcome, arena, &l.list);
	check(node == SMX_NODE_WON || (node == SMX_NODE_OPEN && l.list.count > 0), &position, "neither open nor won");
	l.won = node == SMX_NODE_WON;
	pig.turns(&position, compare_turn, &l);
	check(l.seen == (l.won ? 1 : l.list.count), &position, "%zu turns", l.seen);
	const struct state *states = l.list.states;
	for (size_t i = 0; !l.won && i < l.list.count; i++) {
		check(pig.self_check(&states[i]), &position, "afterstate %zu is inconsistent", i);
		for (size_t j = 0; j < i; j++)
			check(memcmp(&states[i].key, &states[j].key, sizeof states[i].key) != 0, &position, "afterstate %zu twice",
			      i);
	}
	if (!l.won)
		*next = states[smx_random_below(&seed, (uint32_t)l.list.count)];
	return !l.won;
}

static void check_rules(struct smx_arena *arena)
{
	for (unsigned game = 0; game < GAMES; game++) {
		struct state s = make(0, 0, 0, 0), next = s;
		unsigned turns_made = 0;
		for (bool going_on = true; going_on && turns_made++ < TURNS_MOST; s = next) {
			const struct smx_arena_mark mark = smx_arena_mark(arena);
			const struct smx_position position = position_of(s, SMX_NO_OUTCOME);
			uint32_t weights[SMX_OUTCOMES_MAX];
			check_text(&position);
			check(pig.self_check(&s), &position, "inconsistent");
			check(pig.outcomes(&s, weights) == FACES, &position, "not six outcomes");
			uint32_t total = 0;
			for (unsigned i = 0; i < FACES; i++) {
				check(weights[i] >= 1, &position, "an outcome without weight");
				total += weights[i];
			}
			check(total <= pig.total_max, &position, "weights of %u, more than total_max", (unsigned)total);
			const unsigned rolled = smx_random_below(&seed, FACES);
			for (unsigned outcome = 0; outcome < FACES; outcome++) {
				struct state then;
				const bool goes_on = check_outcome(&s, outcome, arena, &then);
				if (outcome == rolled && (going_on = goes_on))
					next = then;
			}
			smx_arena_release(arena, mark);
		}
		check(turns_made <= TURNS_MOST, NULL, "a game without end");
	}
	static const char *const wrong[] = {"",          "0 0 0",    "0 0 0 2",    "0 0 0 0 0", "0 0 0 0 7", "0 0 0 0 1 ",
	                                    " 0 0 0 0",  "0 0  0 0", "1 0 0 0",    "0 1 0 0",   "0 0 1 0",   "-2 0 0 0",
	                                    "00 0 0 0",  "0 0 0 0x", "256 0 0 0",  "100 0 0 0", "0 100 0 0", "50 0 50 0",
	                                    "0 50 50 1", "a",        "0 0 0 0 6 6"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct smx_position position;
		struct smx_error error = {.message = ""};
		check(pig.parse(wrong[i], strlen(wrong[i]), &position, &error) == SMX_ERR_PARSE && *error.message, NULL,
		      "'%s' is read", wrong[i]);
	}
}

/* Ways to play so many turns. Far from the target each node has 1 + 5 * 2. */
static uint64_t count_turns(const struct state *s, unsigned depth, struct smx_arena *arena)
{
	uint64_t count = 0;
	if (depth == 0)
		return 1;
	const struct smx_arena_mark mark = smx_arena_mark(arena);
	const void *expansion = pig.open(s, arena);
	for (unsigned outcome = 0; outcome < FACES; outcome++) {
		struct smx_afterstates list = {NULL, 0};
		if (pig.afterstates(expansion, outcome, arena, &list) == SMX_NODE_WON) {
			count++;
			continue;
		}
		for (size_t i = 0; i < list.count; i++)
			count += count_turns((const struct state *)list.states + i, depth - 1, arena);
	}
	smx_arena_release(arena, mark);
	return count;
}

/* ---- the solution ---- */

/* What the side to move makes of a position, whose roll may be known; *margin: by how much rolling again is the better. */
static double solved(const struct smx_position *position, double *margin)
{
	const struct state *s = (const void *)position->state;
	const unsigned own = s->score[s->side], other = s->score[1 - s->side];
	*margin = 0;
	if (position->outcome == SMX_NO_OUTCOME)
		return pig_solution(own, other, s->total);
	if (position->outcome == 0)
		return 1 - pig_solution(other, own, 0);
	const unsigned total = s->total + (unsigned)position->outcome + 1;
	if (own + total >= PIG_TARGET)
		return 1;
	const double roll = pig_solution(own, other, total), hold = 1 - pig_solution(other, own + total, 0);
	*margin = roll - hold;
	return fmax(roll, hold);
}

/* P of Neller and Presser, before the choice: roll, or hold what there is. */
static double best_of_both(unsigned i, unsigned j, unsigned k)
{
	return i + k >= PIG_TARGET ? 1 : fmax(pig_solution(i, j, k), 1 - pig_solution(j, i + k, 0));
}

/* Their equations have one solution only, so this holds of nothing else. */
static void check_solution(void)
{
	double worst = 0;
	for (unsigned i = 0; i < PIG_TARGET; i++) {
		for (unsigned j = 0; j < PIG_TARGET; j++) {
			for (unsigned k = 0; i + k < PIG_TARGET; k++) {
				double roll = (1 - best_of_both(j, i, 0)) / 6;
				for (unsigned r = 2; r <= 6; r++)
					roll += best_of_both(i, j, k + r) / 6;
				worst = fmax(worst, fabs(best_of_both(i, j, k) - fmax(roll, 1 - best_of_both(j, i + k, 0))));
			}
		}
	}
	check(worst < 1e-13, NULL, "value iteration is %g from standing still", worst);
#if PIG_TARGET == 100
	check(fabs(pig_solution(0, 0, 0) - 0.5306) < 0.00005, NULL, "who begins wins with %.6f, not the published 0.5306",
	      pig_solution(0, 0, 0));
#endif
}

/* ---- the search ---- */

/* The definition of a position's value for side `for_side`, from the rules alone. */
static smx_value plain(unsigned own, unsigned other, unsigned total, unsigned side, unsigned for_side, unsigned depth,
                       int outcome);

static smx_value after(unsigned own, unsigned other, unsigned total, unsigned side, unsigned for_side, unsigned depth)
{
	if (depth > 0)
		return plain(own, other, total, side, for_side, depth, SMX_NO_OUTCOME);
	const struct state s = side ? make(other, own, total, 1) : make(own, other, total, 0);
	smx_value value;
	race.evaluate(race.context, &s, 1, for_side, &value);
	return value;
}

static smx_value plain(unsigned own, unsigned other, unsigned total, unsigned side, unsigned for_side, unsigned depth,
                       int outcome)
{
	if (outcome == SMX_NO_OUTCOME) {
		smx_value sum = 0;
		for (int each = 0; each < FACES; each++)
			sum += plain(own, other, total, side, for_side, depth, each);
		return smx_div_floor(sum, FACES);
	}
	const unsigned die = (unsigned)outcome + 1;
	if (die == 1)
		return after(other, own, 0, 1 - side, for_side, depth - 1);
	if (own + total + die >= PIG_TARGET)
		return side == for_side ? ONE : 0;
	const smx_value roll = after(own, other, total + die, side, for_side, depth - 1);
	const smx_value hold = after(other, own + total + die, 0, 1 - side, for_side, depth - 1);
	return (roll > hold) == (side == for_side) ? roll : hold;
}

/* A way to search; none may answer otherwise than the first, which prunes nothing. */
struct way {
	const char *name;
	enum smx_star star;
	bool table, threads;
};

static const struct way ways[] = {
	{"star none", SMX_STAR_NONE, false, false},
	{"star1", SMX_STAR1, false, false},
	{"star2", SMX_STAR2, false, false},
	{"etc", SMX_STAR_ETC, false, false},
	{"star none, table", SMX_STAR_NONE, true, false},
	{"star2, table", SMX_STAR2, true, false},
	{"etc, table", SMX_STAR_ETC, true, false},
	{"star none, threads", SMX_STAR_NONE, false, true},
	{"star2, threads", SMX_STAR2, false, true},
	{"etc, table, threads", SMX_STAR_ETC, true, true},
};

static const struct way with_table = {"etc, table, deep", SMX_STAR_ETC, true, false};

struct searches {
	struct smx_search *search;
	struct smx_table *table;
	struct smx_parallel *parallel;
};

struct answer {
	smx_value value;
	struct smx_turn turn;
	size_t ties;
};

static struct answer answer_of(const struct searches *searches, const struct way *way,
                               const struct smx_evaluator *evaluator, const struct smx_position *position,
                               unsigned depth)
{
	struct smx_search_options options;
	smx_search_options_init(&options, &pig);
	options.depth_plies = depth;
	options.evaluator = evaluator;
	options.star = way->star;
	options.table = way->table ? searches->table : NULL;
	options.splitter = way->threads ? smx_parallel_splitter(searches->parallel) : NULL;
	options.share_least_ms = -1; /* share everything, however small */
	const struct smx_result *result;
	struct smx_error error = {.message = ""};
	const enum smx_status status = smx_search_run(searches->search, position, &options, &result, &error);
	check(status == SMX_OK && result->has_value && !result->stopped, position, "%s: %s", way->name, error.message);
	if (status != SMX_OK)
		return (struct answer){.ties = 0};
	check(result->counters.table_conflicts == 0, position, "%s: two positions with one key", way->name);
	tasks += result->counters.tasks;
	return (struct answer){result->value, result->turn, result->ties};
}

/* One way's answer, which is that of all ways. */
static struct answer answer_of_all(const struct searches *searches, const struct smx_evaluator *evaluator,
                                   const struct smx_position *position, unsigned depth)
{
	const struct answer first = answer_of(searches, &ways[0], evaluator, position, depth);
	for (size_t i = 1; i < sizeof ways / sizeof *ways; i++) {
		const struct answer other = answer_of(searches, &ways[i], evaluator, position, depth);
		check(other.value == first.value && other.ties == first.ties && smx_turn_equal(&other.turn, &first.turn),
		      position, "%s by %s, depth %u: another answer than without pruning", ways[i].name, evaluator->name,
		      depth);
	}
	return first;
}

static void check_race(const struct searches *searches, const struct smx_position *position, unsigned depth)
{
	const struct state *s = (const void *)position->state;
	const struct answer answer = answer_of_all(searches, &race, position, depth);
	const unsigned own = s->score[s->side], other = s->score[1 - s->side];
	if (depth <= PLAIN_DEPTH)
		check(answer.value == plain(own, other, s->total, s->side, s->side, depth, position->outcome), position,
		      "depth %u: not the value by definition", depth);
}

/* Each chance node on the way rounds down by less than a unit, the leaves and the solution's own value by half of one. */
static void check_fixed_point(const struct answer answer, const struct smx_position *position, unsigned depth)
{
	double margin;
	const smx_value expected = smx_value_from_double(solved(position, &margin), SCALE_BITS), allowed = depth + 1;
	check(llabs(answer.value - expected) <= allowed, position, "depth %u: %lld units from the solution", depth,
	      (long long)(answer.value - expected));
	if (fabs(margin) * (double)ONE > 2 * (double)allowed)
		check(answer.turn.step[0] == (margin > 0 ? ROLL : HOLD), position, "depth %u: not the solution's turn", depth);
}

int main(void)
{
	struct smx_parallel_machine machine;
	smx_parallel_machine(&machine);
	const unsigned threads = machine.openmp_date ? THREADS : 1;
	struct smx_arena *arena = smx_arena_create(NULL);
	struct searches searches = {NULL, NULL, NULL};
	if (!arena || smx_parallel_create(threads, &searches.parallel) != SMX_OK ||
	    smx_table_create(1 << 20, &searches.table, NULL) != SMX_OK ||
	    smx_search_create(&pig, NULL, &searches.search) != SMX_OK) {
		puts("no memory");
		return 1;
	}

	check_rules(arena);
	const struct state start = make(0, 0, 0, 0);
	check(count_turns(&start, 4, arena) == 11 * 11 * 11 * 11, NULL, "four turns of 11 each are miscounted");
	check_solution();
	for (const struct smx_evaluator *const *evaluator = pig.evaluators; *evaluator; evaluator++) {
		struct smx_error error = {.message = ""};
		check(smx_evaluator_check(&pig, *evaluator, &error) == SMX_OK, NULL, "%s", error.message);
	}
	for (unsigned i = 0; i < POSITIONS; i++) {
		const struct smx_position position = i ? random_position() : position_of(start, SMX_NO_OUTCOME);
		const unsigned all_ways = i < ALL_WAYS_DEEP_POSITIONS ? ALL_WAYS_DEEP : ALL_WAYS_DEPTH;
		for (unsigned depth = 1; depth <= all_ways; depth++) {
			check_race(&searches, &position, depth);
			check_fixed_point(answer_of_all(&searches, &solution, &position, depth), &position, depth);
		}
		for (unsigned depth = all_ways + 1; depth <= DEEPEST; depth++)
			check_fixed_point(answer_of(&searches, &with_table, &solution, &position, depth), &position, depth);
	}
	check(threads == 1 || tasks > 0, NULL, "the threads shared nothing");

	smx_search_destroy(searches.search);
	smx_table_destroy(searches.table);
	smx_parallel_destroy(searches.parallel);
	smx_arena_destroy(arena);
	printf("pig: %lu checks, %lu failed, %lu tasks of %u threads; who begins wins with %.6f\n", checks, failures, tasks,
	       threads, pig_solution(0, 0, 0));
	return failures ? 1 : 0;
}
