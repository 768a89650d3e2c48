/* Tables through the public interface: that one may serve any searches and never changes an answer, what it saves, files,
 * and that every entry is true, whatever ended the searches that left it. */
#include "tests/support/dicechess.h"
#include "tests/support/golden.h"
#include "tests/support/toy.h"

#include <starmax/random.h>

#include <criterion/criterion.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- searches ---- */

enum { TOY_GAMES = 3, DICECHESS = TOY_GAMES, GAMES };
static const struct smx_game *const games[GAMES] = {&toy_plain, &toy_won, &toy_hooked, &smx_dicechess};

static struct smx_search *searches[GAMES];
static struct smx_arena *arena;
static char directory[256], path_a[300], path_b[300];

static void set_up(void)
{
	for (unsigned g = 0; g < GAMES; g++)
		cr_assert_eq(smx_search_create(games[g], NULL, &searches[g]), SMX_OK);
	arena = smx_arena_create(NULL);
	const char *parent = getenv("TMPDIR");
	snprintf(directory, sizeof directory, "%s/starmax-table-XXXXXX", parent ? parent : "/tmp");
	cr_assert_not_null(mkdtemp(directory));
	snprintf(path_a, sizeof path_a, "%s/a", directory);
	snprintf(path_b, sizeof path_b, "%s/b", directory);
}

static void tear_down(void)
{
	for (unsigned g = 0; g < GAMES; g++)
		smx_search_destroy(searches[g]);
	smx_arena_destroy(arena);
	remove(path_a);
	remove(path_b);
	cr_assert_eq(rmdir(directory), 0, "something was left in %s", directory);
}

TestSuite(table, .init = set_up, .fini = tear_down);

static unsigned directory_files(void)
{
	unsigned files = 0;
	DIR *open = opendir(directory);
	cr_assert_not_null(open);
	for (const struct dirent *entry; (entry = readdir(open));)
		files += entry->d_name[0] != '.';
	closedir(open);
	return files;
}

static struct smx_table *table_of(size_t size_bytes)
{
	struct smx_table *table;
	struct smx_error error;
	cr_assert_eq(smx_table_create(size_bytes, &table, &error), SMX_OK, "%s", error.message);
	return table;
}

static const struct smx_result *run(unsigned game, const struct smx_position *position,
                                    const struct smx_search_options *options)
{
	const struct smx_result *result;
	struct smx_error error;
	const enum smx_status status = smx_search_run(searches[game], position, options, &result, &error);
	cr_assert_eq(status, SMX_OK, "%s", error.message);
	return result;
}

static bool same_answer(const struct smx_result *a, const struct smx_result *b)
{
	return a->kind == b->kind && a->stopped == b->stopped && a->has_value == b->has_value && a->value == b->value &&
	       a->ties == b->ties && a->depth_plies == b->depth_plies &&
	       (a->kind == SMX_RESULT_VALUE || smx_turn_equal(&a->turn, &b->turn));
}

static unsigned fewer(unsigned count)
{
	return golden_slow_build() ? 4 + count / 5 : count;
}

/* ---- positions: of few trees, so that searches meet again, with either side to move ---- */

enum { TREES = 8 };

/* A toy position with an outcome that has turns, or without one; false where there is no such. */
static bool toy_somewhere(uint64_t *random, unsigned kind, struct smx_position *position)
{
	const uint64_t seed = (1 + smx_random_below(random, TREES)) << TOY_KIND_BITS | kind;
	*position = toy_position(seed, SMX_NO_OUTCOME);
	smx_arena_release(arena, (struct smx_arena_mark){NULL, 0});
	for (unsigned plies = smx_random_below(random, 3);; plies--) {
		uint32_t weights[SMX_OUTCOMES_MAX];
		const unsigned outcome = smx_random_below(random, toy_plain.outcomes(position->state, weights));
		const void *expansion = toy_plain.open(position->state, arena);
		struct smx_afterstates list;
		const enum smx_node node = toy_plain.afterstates(expansion, outcome, arena, &list);
		if (plies == 0) {
			position->outcome = smx_random_below(random, 4) == 0 ? SMX_NO_OUTCOME : (int)outcome;
			return position->outcome == SMX_NO_OUTCOME || node == SMX_NODE_OPEN;
		}
		if (node != SMX_NODE_OPEN)
			return false;
		const size_t next = smx_random_below(random, (uint32_t)list.count);
		memcpy(position->state, (const unsigned char *)list.states + next * toy_plain.state_size, toy_plain.state_size);
	}
}

static struct smx_position dicechess_somewhere(uint64_t *random)
{
	static const char *const positions[] = {
		"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1 PRK",
		"8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1 ppr",
		"6k1/5ppp/8/3q4/8/4Q3/5PPP/6K1 w - - 0 1 PPK",
		"6k1/5ppp/8/3q4/8/4Q3/5PPP/6K1 w - - 0 1",
		"2b1k3/r1pp1pB1/p1n5/6P1/2P5/4P2P/P2P1K2/Q7 b - - 0 1 pbr",
	};
	return dicechess_read(positions[smx_random_below(random, sizeof positions / sizeof *positions)]);
}

/* Anything: a game, a position of it, and options without a table. */
static unsigned any_search(uint64_t *random, struct smx_position *position, struct smx_search_options *options)
{
	const unsigned game = smx_random_below(random, 16) == 0 ? DICECHESS : smx_random_below(random, TOY_GAMES);
	smx_search_options_init(options, games[game]);
	options->depth_plies = 1 + smx_random_below(random, game == DICECHESS ? 2 : 4);
	if (game == DICECHESS) {
		*position = dicechess_somewhere(random);
		/* the last three differ in nothing but their names */
		const struct smx_evaluator *const evaluators[] = {
			&smx_dicechess_material, &smx_dicechess_winprob_standard, &smx_dicechess_winprob,
			smx_game_evaluator(&smx_dicechess, "winprob:800"), smx_game_evaluator(&smx_dicechess, "winprob:801")};
		options->evaluator = evaluators[smx_random_below(random, 5)];
		options->width = 2 + smx_random_below(random, 2);
		if (position->outcome == SMX_NO_OUTCOME)
			options->depth_plies = 1;
	} else {
		const unsigned kinds[] = {TOY_NEVER_LOST, TOY_NEVER_LOST | TOY_TRANSPOSITIONS,
		                          TOY_NEVER_LOST | TOY_TRANSPOSITIONS | TOY_RANDOM_SIDES, TOY_TRANSPOSITIONS,
		                          TOY_SMALL};
		const unsigned kind = kinds[smx_random_below(random, game == TOY_GAMES - 1 ? 3 : 5)];
		while (!toy_somewhere(random, kind, position))
			;
		options->evaluator = toy_evaluators[smx_random_below(random, 4)];
		options->prerank = toy_evaluators[smx_random_below(random, 4)];
		if (kind & TOY_TRANSPOSITIONS && options->depth_plies == 4 && position->outcome == SMX_NO_OUTCOME)
			options->depth_plies = 3;
	}
	options->star = (enum smx_star)smx_random_below(random, 4);
	options->no_frames = smx_random_below(random, 3) == 0;
	options->exact_only = smx_random_below(random, 4) == 0;
	options->leaves = smx_random_below(random, 2) ? SMX_LEAVES_FOLD : SMX_LEAVES_LIST;
	return game;
}

/* ---- answers ---- */

Test(table, one_table_for_everything_changes_no_answer)
{
	static const size_t sizes[] = {SMX_TABLE_BYTES_MIN, 1 << 16, 1 << 23};
	enum { TABLES = sizeof sizes / sizeof *sizes };
	struct smx_table *tables[TABLES];
	uint64_t hits[TABLES] = {0}, cutoffs[TABLES] = {0}, opened[TABLES] = {0}, random = 1, sides[2] = {0},
			 of_game[GAMES] = {0};
	for (unsigned i = 0; i < TABLES; i++)
		tables[i] = table_of(sizes[i]);
	const unsigned rounds = golden_slow_build() ? 320 : 4000;
	for (unsigned n = 0; n < rounds; n++) {
		struct smx_position position;
		struct smx_search_options options;
		const unsigned game = any_search(&random, &position, &options);
		of_game[game]++;
		sides[games[game]->side_to_move(position.state)]++;
		const struct smx_result without = *run(game, &position, &options);
		struct smx_candidate *kept = calloc(without.candidate_count + 1, sizeof *kept);
		if (without.candidates)
			memcpy(kept, without.candidates, without.candidate_count * sizeof *kept);
		for (unsigned i = 0; i < TABLES; i++) {
			options.table = tables[i];
			const struct smx_result *with = run(game, &position, &options);
			cr_assert(same_answer(&without, with), "round %u, %s, %s, depth %u, table %u: %" PRId64 " not %" PRId64, n,
			          games[game]->name, options.evaluator->name, options.depth_plies, i, with->value, without.value);
			cr_assert_eq(with->candidate_count, without.candidate_count);
			for (size_t c = 0; with->candidates && c < with->candidate_count; c++)
				if (kept[c].exact && with->candidates[c].exact)
					cr_assert_eq(with->candidates[c].value, kept[c].value);
			hits[i] += with->counters.table_hits;
			cutoffs[i] += with->counters.cutoffs_table;
			opened[i] += with->counters.chance_nodes;
			cr_assert_geq(with->counters.table_probes, with->counters.table_hits);
		}
		free(kept);
	}
	for (unsigned g = 0; g < GAMES; g++)
		cr_assert_gt(of_game[g], 0u, "%s", games[g]->name);
	for (unsigned i = 0; i < TABLES; i++) {
		fprintf(stderr, "%zu bytes: %" PRIu64 " hits, %" PRIu64 " cutoffs, %" PRIu64 " nodes opened\n", sizes[i],
		        hits[i], cutoffs[i], opened[i]);
		cr_assert(hits[i] && cutoffs[i]);
		smx_table_destroy(tables[i]);
	}
	cr_assert(opened[0] > opened[1] && opened[1] > opened[2] && sides[0] && sides[1]);
}

Test(table, a_second_identical_search_opens_fewer_chance_nodes)
{
	uint64_t random = 2, first = 0, second = 0, compared = 0;
	for (unsigned n = 0; n < fewer(1500); n++) {
		struct smx_position position;
		struct smx_search_options options;
		const unsigned game = any_search(&random, &position, &options);
		options.exact_only = false;
		options.table = table_of(1 << 23);
		const struct smx_result once = *run(game, &position, &options);
		const struct smx_result *again = run(game, &position, &options);
		cr_assert(same_answer(&once, again));
		if (once.counters.chance_nodes >= 50) {
			cr_assert_lt(again->counters.chance_nodes, once.counters.chance_nodes, "round %u, %s", n,
			             games[game]->name);
			first += once.counters.chance_nodes;
			second += again->counters.chance_nodes;
			compared++;
		}
		smx_table_destroy(options.table);
	}
	fprintf(stderr, "%" PRIu64 " searches opened %" PRIu64 " chance nodes, then %" PRIu64 "\n", compared, first,
	        second);
	cr_assert_gt(compared, 5u);
	cr_assert_lt(second, first / 3);
}

/* ---- life ---- */

Test(table, sizes_are_checked_and_rounded_down_to_cache_lines)
{
	static const size_t small[] = {0, 1, SMX_TABLE_BYTES_MIN - 1};
	struct smx_table *const untouched = (struct smx_table *)(void *)path_a, *table = untouched;
	struct smx_error error;
	for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
		error.message[0] = '\0';
		cr_assert_eq(smx_table_create(small[i], &table, &error), SMX_ERR_ARGUMENT, "%zu", small[i]);
		cr_assert_gt(strlen(error.message), 0u);
		cr_assert_eq(table, untouched);
	}
	cr_assert_eq(smx_table_create(SIZE_MAX, &table, &error), SMX_ERR_MEMORY);
	cr_assert_gt(strlen(error.message), 0u);
	cr_assert_eq(smx_table_create(SIZE_MAX, &table, NULL), SMX_ERR_MEMORY);
	cr_assert_eq(table, untouched);
	for (size_t size = SMX_TABLE_BYTES_MIN; size < SMX_TABLE_BYTES_MIN + 200; size += 13) {
		table = table_of(size);
		const struct smx_table_usage usage = smx_table_usage(table);
		cr_assert_eq(usage.size_bytes, size / SMX_CACHE_LINE * SMX_CACHE_LINE);
		cr_assert(usage.used_permille == 0 && usage.current_permille == 0);
		smx_table_destroy(table);
	}
	smx_table_destroy(NULL);
}

/* A search that fills a table with some hundreds of entries. */
static struct smx_position filling_search(struct smx_search_options *options)
{
	smx_search_options_init(options, &toy_hooked);
	options->depth_plies = 4;
	options->star = SMX_STAR1;
	options->no_bounds = true;
	uint64_t random = 12;
	struct smx_position position;
	do
		position = toy_position(smx_random(&random) >> 20 << TOY_KIND_BITS | TOY_NEVER_LOST, SMX_NO_OUTCOME);
	while (run(2, &position, options)->counters.chance_nodes < 1000);
	return position;
}

Test(table, a_cleared_table_is_a_new_one_and_usage_tells)
{
	struct smx_search_options options;
	const struct smx_position position = filling_search(&options);
	options.table = table_of(1 << 16);
	const struct smx_result fresh = *run(2, &position, &options);
	const struct smx_table_usage filled = smx_table_usage(options.table);
	cr_assert(filled.used_permille > 0 && filled.used_permille <= 1000);
	cr_assert_eq(filled.current_permille, filled.used_permille);
	/* another search makes what it does not use old */
	const struct smx_position other = toy_position(TOY_NEVER_LOST, SMX_NO_OUTCOME);
	options.depth_plies = 1;
	run(2, &other, &options);
	const struct smx_table_usage later = smx_table_usage(options.table);
	cr_assert(later.used_permille >= filled.used_permille && later.current_permille < filled.current_permille);
	options.depth_plies = 4;
	cr_assert_lt(run(2, &position, &options)->counters.chance_nodes, fresh.counters.chance_nodes);
	smx_table_clear(options.table);
	const struct smx_table_usage cleared = smx_table_usage(options.table);
	cr_assert(cleared.used_permille == 0 && cleared.current_permille == 0 && cleared.size_bytes == filled.size_bytes);
	const struct smx_result *again = run(2, &position, &options);
	cr_assert_eq(memcmp(&fresh.counters, &again->counters, sizeof fresh.counters), 0);
	smx_table_destroy(options.table);
}

/* ---- users' evaluators ---- */

/* Values that nothing of the evaluator's description tells apart: only its context. */
static void evaluate_salted(const void *context, const void *states, size_t count, unsigned side, smx_value *values)
{
	const uint64_t *salt = context;
	const struct toy_state *state = states;
	for (size_t i = 0; i < count; i++) {
		uint64_t seed = state[i].key.word[1] ^ *salt ^ side;
		values[i] = (smx_value)(smx_random(&seed) % 2001) - 1000;
	}
}

static struct smx_evaluator salted(const uint64_t *salt)
{
	return (struct smx_evaluator){.name = "user",
	                              .unit = "points",
	                              .scale_bits = 4,
	                              .lo = -1000,
	                              .hi = 1000,
	                              .loss = -2000,
	                              .win = 2000,
	                              .evaluate = evaluate_salted,
	                              .context = salt};
}

static const uint64_t salt_1 = 0x1111, salt_1_again = 0x1111, salt_2 = 0x2222;

Test(table, evaluators_of_one_name_share_nothing_but_equal_values)
{
	const struct smx_evaluator one = salted(&salt_1), same = salted(&salt_1_again), two = salted(&salt_2);
	struct smx_table *table = table_of(1 << 22);
	uint64_t random = 6, differs = 0, saved = 0;
	for (unsigned n = 0; n < fewer(150); n++) {
		struct smx_position position;
		while (!toy_somewhere(&random, TOY_NEVER_LOST, &position))
			;
		struct smx_search_options options;
		smx_search_options_init(&options, &toy_plain);
		options.depth_plies = 3;
		options.star = (enum smx_star)(n % 4);
		options.table = table;
		options.evaluator = &two;
		smx_table_clear(table);
		const struct smx_result alone = *run(0, &position, &options);
		options.evaluator = &one;
		smx_table_clear(table);
		const struct smx_result first = *run(0, &position, &options);
		differs += first.value != alone.value;
		/* beside the entries of another: as if they were not there, to the last counter */
		options.evaluator = &two;
		const struct smx_result *r = run(0, &position, &options);
		cr_assert(same_answer(&alone, r));
		cr_assert_eq(memcmp(&alone.counters, &r->counters, sizeof alone.counters), 0);
		options.evaluator = &same;
		r = run(0, &position, &options);
		cr_assert(same_answer(&first, r));
		cr_assert_leq(r->counters.chance_nodes, first.counters.chance_nodes);
		saved += first.counters.chance_nodes - r->counters.chance_nodes;
	}
	cr_assert(differs && saved);
	smx_table_destroy(table);
}

/* ---- games of other rules ---- */

static unsigned flat_outcomes(const void *state, uint32_t *weights)
{
	const unsigned count = toy_plain.outcomes(state, weights);
	for (unsigned i = 0; i < count; i++)
		weights[i] = 1;
	return count;
}

/* The same positions with the same keys and evaluators, and other values: only the name of the game tells them apart. */
Test(table, games_of_the_same_positions_share_nothing)
{
	struct smx_game flat = toy_plain;
	flat.name = "toy_flat";
	flat.outcomes = flat_outcomes;
	struct smx_search *flat_search;
	cr_assert_eq(smx_search_create(&flat, NULL, &flat_search), SMX_OK);
	struct smx_table *table = table_of(1 << 22);
	uint64_t random = 8, differs = 0;
	for (unsigned n = 0; n < fewer(300); n++) {
		struct smx_position position;
		while (!toy_somewhere(&random, TOY_NEVER_LOST, &position))
			;
		struct smx_search_options options;
		smx_search_options_init(&options, &flat);
		options.depth_plies = 3;
		options.evaluator = toy_evaluators[1];
		options.star = (enum smx_star)(n % 4);
		const struct smx_result *r;
		cr_assert_eq(smx_search_run(flat_search, &position, &options, &r, NULL), SMX_OK);
		const struct smx_result alone = *r;
		options.table = table;
		differs += run(0, &position, &options)->value != alone.value;
		cr_assert_eq(smx_search_run(flat_search, &position, &options, &r, NULL), SMX_OK);
		cr_assert(same_answer(&alone, r));
	}
	cr_assert_gt(differs, 0u);
	smx_table_destroy(table);
	smx_search_destroy(flat_search);
}

/* ---- files ---- */

static size_t file_read(const char *path, unsigned char *bytes, size_t room)
{
	FILE *file = fopen(path, "rb");
	cr_assert_not_null(file, "%s", path);
	const size_t size = fread(bytes, 1, room, file);
	cr_assert_lt(size, room);
	fclose(file);
	return size;
}

static void file_write(const char *path, const unsigned char *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	cr_assert_not_null(file, "%s", path);
	cr_assert_eq(fwrite(bytes, 1, size, file), size);
	cr_assert_eq(fclose(file), 0);
}

static void save(const struct smx_table *table, const char *path, const struct smx_game *game,
                 const struct smx_evaluator *evaluator)
{
	struct smx_error error;
	cr_assert_eq(smx_table_save(table, path, game, evaluator, &error), SMX_OK, "%s", error.message);
}

static struct smx_table *load(const char *path, const struct smx_game *game, const struct smx_evaluator *evaluator)
{
	struct smx_table *table;
	struct smx_error error;
	cr_assert_eq(smx_table_load(path, game, evaluator, &table, &error), SMX_OK, "%s", error.message);
	return table;
}

static void expect_refused(const char *path, const struct smx_game *game, const struct smx_evaluator *evaluator,
                           enum smx_status expected, const char *what)
{
	struct smx_table *const untouched = (struct smx_table *)(void *)path_a, *table = untouched;
	struct smx_error error = {.message = ""};
	const enum smx_status status = smx_table_load(path, game, evaluator, &table, &error);
	cr_assert_eq(status, expected, "%s: %s instead of %s: %s", what, smx_status_str(status), smx_status_str(expected),
	             error.message);
	cr_assert_gt(strlen(error.message), 0u, "%s", what);
	cr_assert_null(strchr(error.message, '\n'), "%s", what);
	cr_assert_eq(table, untouched, "%s", what);
	cr_assert_eq(smx_table_load(path, game, evaluator, &table, NULL), expected, "%s", what);
}

/* A table of size_bytes that some searches have used, of the game and its first evaluator among others. */
static struct smx_table *used_table(size_t size_bytes, uint64_t random)
{
	struct smx_table *table = table_of(size_bytes);
	for (unsigned n = 0; n < 40; n++) {
		struct smx_position position;
		struct smx_search_options options;
		const unsigned game = any_search(&random, &position, &options);
		options.table = table;
		run(game, &position, &options);
	}
	return table;
}

enum { FILE_MOST = 1 << 18 };

Test(table, save_load_save_gives_the_same_bytes)
{
	static unsigned char a[FILE_MOST], b[FILE_MOST];
	static const size_t sizes[] = {SMX_TABLE_BYTES_MIN, 5000, 1 << 17};
	for (unsigned i = 0; i < 3; i++) {
		struct smx_table *table = used_table(sizes[i], i);
		cr_assert_gt(smx_table_usage(table).used_permille, 0u);
		save(table, path_a, &toy_won, toy_evaluators[0]);
		struct smx_table *loaded = load(path_a, &toy_won, toy_evaluators[0]);
		const struct smx_table_usage before = smx_table_usage(table), after = smx_table_usage(loaded);
		cr_assert(before.size_bytes == after.size_bytes && before.used_permille == after.used_permille &&
		          before.current_permille == after.current_permille);
		save(loaded, path_b, &toy_won, toy_evaluators[0]);
		const size_t size = file_read(path_a, a, sizeof a);
		cr_assert_gt(size, before.size_bytes);
		cr_assert_eq(file_read(path_b, b, sizeof b), size);
		cr_assert_eq(memcmp(a, b, size), 0);
		cr_assert_eq(directory_files(), 2);
		smx_table_destroy(loaded);
		smx_table_destroy(table);
	}
}

/* Two tables loaded from one file are in the same state: everything that is run with them repeats, to the last counter. */
Test(table, from_the_same_state_all_counters_repeat)
{
	static unsigned char a[FILE_MOST], b[FILE_MOST];
	struct smx_table *used = used_table(1 << 15, 9), *tables[2];
	save(used, path_a, &smx_dicechess, &smx_dicechess_material);
	smx_table_destroy(used);
	for (unsigned i = 0; i < 2; i++)
		tables[i] = load(path_a, &smx_dicechess, &smx_dicechess_material);
	uint64_t random = 10, hits = 0;
	for (unsigned n = 0; n < fewer(600); n++) {
		struct smx_position position;
		struct smx_search_options options;
		const unsigned game = any_search(&random, &position, &options);
		options.node_limit = smx_random_below(&random, 3) == 0 ? 1 + smx_random_below(&random, 300) : 0;
		options.table = tables[0];
		const struct smx_result first = *run(game, &position, &options);
		struct smx_candidate *kept = calloc(first.candidate_count + 1, sizeof *kept);
		if (first.candidates)
			memcpy(kept, first.candidates, first.candidate_count * sizeof *kept);
		options.table = tables[1];
		const struct smx_result *second = run(game, &position, &options);
		cr_assert(same_answer(&first, second));
		cr_assert_eq(memcmp(&first.counters, &second->counters, sizeof first.counters), 0, "round %u", n);
		for (size_t i = 0; first.candidates && i < first.candidate_count; i++) {
			const struct smx_candidate *x = &kept[i], *y = &second->candidates[i];
			cr_assert(x->value == y->value && x->exact == y->exact && x->completed == y->completed &&
			          x->loss_weight == y->loss_weight);
		}
		hits += first.counters.table_hits;
		free(kept);
	}
	cr_assert_gt(hits, 0u);
	save(tables[0], path_a, &toy_plain, toy_evaluators[1]);
	save(tables[1], path_b, &toy_plain, toy_evaluators[1]);
	const size_t size = file_read(path_a, a, sizeof a);
	cr_assert_eq(file_read(path_b, b, sizeof b), size);
	cr_assert_eq(memcmp(a, b, size), 0);
	smx_table_destroy(tables[0]);
	smx_table_destroy(tables[1]);
}

Test(table, what_a_search_learned_is_there_after_loading)
{
	struct smx_search_options options;
	const struct smx_position position = filling_search(&options);
	options.table = table_of(1 << 22);
	const struct smx_result fresh = *run(2, &position, &options);
	save(options.table, path_a, &toy_hooked, options.evaluator);
	const uint64_t again = run(2, &position, &options)->counters.chance_nodes;
	smx_table_destroy(options.table);
	options.table = load(path_a, &toy_hooked, options.evaluator);
	const struct smx_result *r = run(2, &position, &options);
	cr_assert(same_answer(&fresh, r));
	cr_assert_eq(r->counters.chance_nodes, again);
	cr_assert_lt(again, fresh.counters.chance_nodes);
	smx_table_destroy(options.table);
}

Test(table, a_file_of_another_game_or_evaluator_is_refused)
{
	struct smx_table *table = used_table(SMX_TABLE_BYTES_MIN, 3);
	save(table, path_b, &toy_plain, toy_evaluators[0]);
	expect_refused(path_b, &toy_won, toy_evaluators[0], SMX_ERR_FILE, "another game");
	expect_refused(path_b, &smx_dicechess, &smx_dicechess_material, SMX_ERR_FILE, "another game and evaluator");
	expect_refused(path_b, &toy_plain, toy_evaluators[1], SMX_ERR_FILE, "another evaluator");
	smx_table_destroy(load(path_b, &toy_plain, toy_evaluators[0]));

	const struct smx_evaluator one = salted(&salt_1), same = salted(&salt_1_again), two = salted(&salt_2);
	save(table, path_b, &toy_plain, &one);
	smx_table_destroy(load(path_b, &toy_plain, &same));
	expect_refused(path_b, &toy_plain, &two, SMX_ERR_FILE, "other values");
	struct smx_evaluator other = one;
	other.scale_bits++;
	expect_refused(path_b, &toy_plain, &other, SMX_ERR_FILE, "another scale");
	other = one;
	other.win++;
	expect_refused(path_b, &toy_plain, &other, SMX_ERR_FILE, "another win");
	other = one;
	other.loss--;
	expect_refused(path_b, &toy_plain, &other, SMX_ERR_FILE, "another loss");
	other = one;
	other.unit = "marbles";
	expect_refused(path_b, &toy_plain, &other, SMX_ERR_FILE, "another unit");
	other = one;
	other.name = "users";
	expect_refused(path_b, &toy_plain, &other, SMX_ERR_FILE, "another name");
	other = one;
	other.hi = 0; /* its values are above */
	expect_refused(path_b, &toy_plain, &other, SMX_ERR_BOUNDS, "an evaluator out of its bounds");
	cr_assert_eq(smx_table_save(table, path_a, &toy_plain, &other, NULL), SMX_ERR_BOUNDS);

	save(table, path_b, &smx_dicechess, smx_game_evaluator(&smx_dicechess, "winprob:800"));
	smx_table_destroy(load(path_b, &smx_dicechess, smx_game_evaluator(&smx_dicechess, "winprob:800")));
	expect_refused(path_b, &smx_dicechess, &smx_dicechess_winprob, SMX_ERR_FILE, "winprob:1200");
	expect_refused(path_b, &smx_dicechess, smx_game_evaluator(&smx_dicechess, "winprob:801"), SMX_ERR_FILE,
	               "winprob:801");
	smx_table_destroy(table);
}

Test(table, what_is_no_whole_table_is_refused)
{
	static unsigned char bytes[FILE_MOST];
	struct smx_table *table = used_table(SMX_TABLE_BYTES_MIN, 4);
	const struct smx_evaluator *evaluator = toy_evaluators[0];
	expect_refused(path_b, &toy_plain, evaluator, SMX_ERR_FILE, "a missing file");
	expect_refused(directory, &toy_plain, evaluator, SMX_ERR_FILE, "a directory");
	save(table, path_b, &toy_plain, evaluator);
	smx_table_destroy(table);
	const size_t size = file_read(path_b, bytes, sizeof bytes);
	for (size_t i = 0; i < 50; i++) {
		const size_t at = i * (size - 1) / 49;
		bytes[at] ^= (unsigned char)(1 << i % 8);
		file_write(path_b, bytes, size);
		bytes[at] ^= (unsigned char)(1 << i % 8);
		char what[64];
		snprintf(what, sizeof what, "byte %zu of %zu flipped", at, size);
		expect_refused(path_b, &toy_plain, evaluator, SMX_ERR_PARSE, what);
	}
	for (size_t i = 0; i < 20; i++) {
		file_write(path_b, bytes, i * (size - 1) / 19);
		expect_refused(path_b, &toy_plain, evaluator, SMX_ERR_PARSE, i ? "truncated" : "empty");
	}
	bytes[size] = 0;
	file_write(path_b, bytes, size + 1);
	expect_refused(path_b, &toy_plain, evaluator, SMX_ERR_PARSE, "longer");
	static const char text[] =
		"This is a letter, and was never a table. It is long enough to be one, though: let us see.";
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)text[i % (sizeof text - 1)];
	file_write(path_b, bytes, size);
	expect_refused(path_b, &toy_plain, evaluator, SMX_ERR_PARSE, "a letter");
}

Test(table, a_save_that_fails_says_why_and_leaves_nothing_behind)
{
	struct smx_table *table = used_table(SMX_TABLE_BYTES_MIN, 5);
	struct smx_error error = {.message = ""};
	char path[400];
	snprintf(path, sizeof path, "%s/none/table", directory);
	cr_assert_eq(smx_table_save(table, path, &toy_plain, toy_evaluators[0], &error), SMX_ERR_FILE);
	cr_assert_gt(strlen(error.message), 0u);
	cr_assert_eq(directory_files(), 0);
	/* a directory in the way */
	cr_assert_eq(mkdir(path_a, 0700), 0);
	error.message[0] = '\0';
	cr_assert_eq(smx_table_save(table, path_a, &toy_plain, toy_evaluators[0], &error), SMX_ERR_FILE);
	cr_assert_gt(strlen(error.message), 0u);
	cr_assert_eq(directory_files(), 1);
	cr_assert_eq(rmdir(path_a), 0, "something was left in it");
	cr_assert_eq(smx_table_save(table, path, &toy_plain, toy_evaluators[0], NULL), SMX_ERR_FILE);
	smx_table_destroy(table);
}

/* ---- what is claimed ---- */

enum { CACHE = 1 << 18 };

/* Plain values of the nodes that were claimed, for one game, evaluator and side. */
struct claims {
	const struct smx_game *game;
	const struct smx_evaluator *evaluator;
	unsigned side;
	struct smx_arena *arena;
	bool checks;     /* against plain values */
	uint64_t of[4];  /* claims by source */
	uint64_t bounds; /* of the table's */
	struct {
		struct smx_key key;
		unsigned depth; /* 0: free */
		smx_value value;
	} * cache;
};

static smx_value plain_value(struct claims *c, const void *state, unsigned depth)
{
	const struct smx_key key = ((const struct smx_state *)state)->key;
	const size_t at = (key.word[0] + depth * 77u) % CACHE;
	if (c->cache[at].depth == depth && memcmp(&c->cache[at].key, &key, sizeof key) == 0)
		return c->cache[at].value;
	uint32_t weights[SMX_OUTCOMES_MAX];
	const unsigned count = c->game->outcomes(state, weights);
	const bool own = c->game->side_to_move(state) == c->side;
	const struct smx_arena_mark mark = smx_arena_mark(c->arena);
	const void *expansion = c->game->open(state, c->arena);
	smx_value sum = 0, total = 0;
	for (unsigned i = 0; i < count; i++) {
		struct smx_afterstates list = {0};
		const enum smx_node node = c->game->afterstates(expansion, i, c->arena, &list);
		smx_value best = (node == SMX_NODE_WON) == own ? c->evaluator->win : c->evaluator->loss;
		for (size_t k = 0; node == SMX_NODE_OPEN && k < list.count; k++) {
			const void *next = (const unsigned char *)list.states + k * c->game->state_size;
			smx_value value;
			if (depth == 1)
				c->evaluator->evaluate(c->evaluator->context, next, 1, c->side, &value);
			else
				value = plain_value(c, next, depth - 1);
			if (k == 0 || (own ? value > best : value < best))
				best = value;
		}
		sum += weights[i] * best;
		total += weights[i];
	}
	smx_arena_release(c->arena, mark);
	smx_value value = sum / total;
	while (value * total > sum)
		value--;
	c->cache[at].key = key;
	c->cache[at].depth = depth;
	c->cache[at].value = value;
	return value;
}

static void on_claim(void *context, const struct smx_claim *claim)
{
	struct claims *c = context;
	c->of[claim->source]++;
	c->bounds += claim->source == SMX_CLAIM_TABLE && claim->lower != claim->upper;
	if (!c->checks)
		return;
	cr_assert_eq(claim->evaluated_side, c->side);
	const smx_value value = plain_value(c, claim->visit.state, claim->depth);
	cr_assert(claim->lower <= value && value <= claim->upper,
	          "source %d, depth %u: %" PRId64 " not in [%" PRId64 ", %" PRId64 "]", (int)claim->source, claim->depth,
	          value, claim->lower, claim->upper);
}

static void claims_begin(struct claims *c, const struct smx_position *position, struct smx_search_options *options,
                         bool checks)
{
	*c = (struct claims){.game = &toy_plain,
	                     .evaluator = options->evaluator,
	                     .side = toy_plain.side_to_move(position->state),
	                     .arena = smx_arena_create(NULL),
	                     .checks = checks,
	                     .cache = calloc(CACHE, sizeof *c->cache)};
	options->on_claim = on_claim;
	options->claim_context = c;
}

static void claims_end(struct claims *c)
{
	smx_arena_destroy(c->arena);
	free(c->cache);
}

/* What a pruned search kept shows itself to a plain one, which adds no bounds of its own. */
static uint64_t bounds_kept(bool exact_only, uint64_t *claimed)
{
	uint64_t random = 14, bounds = 0;
	for (unsigned n = 0; n < fewer(600); n++) {
		const unsigned game = n % TOY_GAMES;
		struct smx_position position;
		struct smx_search_options options;
		struct claims claims;
		smx_search_options_init(&options, &toy_plain);
		while (!toy_somewhere(&random, TOY_NEVER_LOST, &position))
			;
		options.depth_plies = 3;
		options.evaluator = toy_evaluators[n % 4];
		options.star = (enum smx_star)(1 + n / 3 % 3);
		options.no_frames = n % 2;
		options.exact_only = exact_only;
		options.table = table_of(1 << 20);
		claims_begin(&claims, &position, &options, false);
		run(game, &position, &options);
		if (exact_only)
			cr_assert_eq(claims.bounds, 0u);
		claims.bounds = claims.of[SMX_CLAIM_TABLE] = 0;
		options.star = SMX_STAR_NONE;
		options.exact_only = false;
		run(game, &position, &options);
		bounds += claims.bounds;
		*claimed += claims.of[SMX_CLAIM_TABLE];
		claims_end(&claims);
		smx_table_destroy(options.table);
	}
	return bounds;
}

Test(table, exact_only_keeps_no_bounds)
{
	uint64_t claimed = 0, claimed_exact = 0;
	cr_assert_gt(bounds_kept(false, &claimed), 0u);
	cr_assert_eq(bounds_kept(true, &claimed_exact), 0u);
	cr_assert_gt(claimed_exact, 0u);
}

/* Bounds that others kept are not taken either. */
Test(table, exact_only_takes_no_bounds)
{
	uint64_t random = 15, taken = 0;
	for (unsigned n = 0; n < fewer(600); n++) {
		const unsigned game = n % TOY_GAMES;
		struct smx_position position;
		struct smx_search_options options;
		struct claims claims;
		smx_search_options_init(&options, &toy_plain);
		while (!toy_somewhere(&random, TOY_NEVER_LOST, &position))
			;
		options.depth_plies = 3;
		options.table = table_of(1 << 20);
		run(game, &position, &options);
		options.exact_only = true;
		claims_begin(&claims, &position, &options, false);
		run(game, &position, &options);
		cr_assert_eq(claims.bounds, 0u);
		taken += claims.of[SMX_CLAIM_TABLE];
		claims_end(&claims);
		smx_table_destroy(options.table);
	}
	cr_assert_gt(taken, 0u);
}

Test(table, stopped_searches_leave_only_true_entries)
{
	const unsigned limits = golden_slow_build() ? 60 : 200;
	uint64_t random = 16, stopped = 0, from_table = 0, bounds = 0;
	for (unsigned n = 0; n < fewer(40); n++) {
		const unsigned game = n % TOY_GAMES;
		const unsigned kind = n % 2 ? TOY_NEVER_LOST : TOY_NEVER_LOST | TOY_RANDOM_SIDES;
		struct smx_position position;
		struct smx_search_options options;
		struct claims claims;
		smx_search_options_init(&options, &toy_plain);
		options.depth_plies = 4;
		options.evaluator = toy_evaluators[n % 5];
		struct smx_result plain;
		do {
			while (!toy_somewhere(&random, kind, &position))
				;
			options.star = SMX_STAR_NONE;
			plain = *run(game, &position, &options);
		} while (plain.counters.chance_nodes < 200);
		claims_begin(&claims, &position, &options, true);
		options.table = table_of(n % 3 ? 1 << 20 : 1 << 14);
		const uint64_t whole = plain.counters.chance_nodes;
		for (unsigned i = 0; i < limits; i++) {
			options.star = (enum smx_star)(i % 4);
			options.no_frames = i / 4 % 2;
			/* little by little, for what is known by then brings a search to its end the sooner */
			options.node_limit = 1 + smx_random_below(&random, (uint32_t)(1 + whole * (i + 1) / limits / 4));
			const struct smx_result *r = run(game, &position, &options);
			stopped += r->stopped;
			if (!r->stopped)
				cr_assert(same_answer(&plain, r));
			if (i % 16 == 15)
				smx_table_clear(options.table);
		}
		options.node_limit = 0;
		for (options.star = SMX_STAR_NONE; options.star <= SMX_STAR_ETC; options.star++)
			cr_assert(same_answer(&plain, run(game, &position, &options)));
		from_table += claims.of[SMX_CLAIM_TABLE];
		bounds += claims.bounds;
		claims_end(&claims);
		smx_table_destroy(options.table);
	}
	fprintf(stderr, "%" PRIu64 " searches stopped; %" PRIu64 " claims by the table, %" PRIu64 " of them bounds\n",
	        stopped, from_table, bounds);
	cr_assert_gt(stopped, limits);
	cr_assert(from_table && bounds);
}
