/* starmax-bench-2048: leaf evaluations a second of a full-width search, next to a bare loop of slides and evaluations, and what table and
 * cutoffs save of them.
 *
 *   starmax-bench-2048 [--depth N] [--rounds N] [--json]
 *
 * The bare loop is what a 2048 program does at a leaf, and nothing else: for each board with its new tile, all four slides, rows looked up in
 * a table of 65,536 and the board turned over for columns, and each slid board valued by its eight lines, looked up likewise. Its boards
 * are those below the bench positions, two turns and two new tiles on. A slide that changes the board is one leaf evaluation, there and in the
 * search, whose last turn is folded: how many it makes is counted once, with the leaves listed. Loop and search take turns, and the
 * ratio is that of their medians. */
#include <starmax/starmax.h>

#include "bench/clock.h"
#include "bench/positions.h"

#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POSITIONS = sizeof smxi_bench_2048_positions / sizeof smxi_bench_2048_positions[0], LINES = 1 << 16 };
enum { BOARDS_MAX = 1 << 18, ROUNDS_MAX = 1000, HASH_BYTES = 64 << 20 };

struct bench {
	struct smx_search *search;
	struct smx_table *table;
	struct smx_position position[POSITIONS];
	unsigned depth, rounds;
	uint64_t *board; /* of the bare loop, seen by the player */
	size_t boards;
};

/* Leaves and time of one round. */
struct take {
	uint64_t leaves;
	double time_ms;
};

_Noreturn static void fail(const char *what, const char *why)
{
	fprintf(stderr, "starmax-bench-2048: %s%s%s\n", what, why ? ": " : "", why ? why : "");
	exit(1);
}

/* ---- the bare loop ---- */

static uint16_t slid_left[LINES], slid_right[LINES];
static int32_t line_value[LINES];

static unsigned mirrored(unsigned line)
{
	return (line & 15) << 12 | (line >> 4 & 15) << 8 | (line >> 8 & 15) << 4 | line >> 12;
}

static unsigned slide_left(unsigned line)
{
	unsigned out = 0, last = 0;
	int shift = 12;
	for (int i = 12; i >= 0; i -= 4) {
		const unsigned tile = line >> i & 15;
		if (tile == 0)
			continue;
		if (tile == last && tile < 15) {
			out += 1u << (shift + 4); /* the tile before becomes the next one */
			last = 0;
			continue;
		}
		out |= tile << shift;
		shift -= 4;
		last = tile;
	}
	return out;
}

static void fill_tables(void)
{
	for (unsigned line = 0; line < LINES; line++) {
		slid_left[line] = (uint16_t)slide_left(line);
		slid_right[mirrored(line)] = (uint16_t)mirrored(slid_left[line]);
		/* any values will do */
		line_value[line] = (int32_t)(line * UINT32_C(2654435761) >> 12) - (1 << 19);
	}
}

static uint64_t transposed(uint64_t board)
{
	uint64_t swap = (board ^ board >> 12) & UINT64_C(0x0000f0f00000f0f0);
	board ^= swap ^ swap << 12;
	swap = (board ^ board >> 24) & UINT64_C(0x00000000ff00ff00);
	return board ^ swap ^ swap << 24;
}

static uint64_t slid(uint64_t board, const uint16_t table[LINES])
{
	return (uint64_t)table[board >> 48] << 48 | (uint64_t)table[board >> 32 & 0xffff] << 32 |
	       (uint64_t)table[board >> 16 & 0xffff] << 16 | table[board & 0xffff];
}

static int64_t rows_of(uint64_t board)
{
	return (int64_t)line_value[board >> 48] + line_value[board >> 32 & 0xffff] + line_value[board >> 16 & 0xffff] +
	       line_value[board & 0xffff];
}

static int64_t value_of(uint64_t board)
{
	return rows_of(board) + rows_of(transposed(board));
}

static struct take bare_loop(const struct bench *b)
{
	static volatile int64_t sink; /* or nothing would have to be computed */
	struct take take = {0, now_ms()};
	int64_t sum = 0;
	for (size_t i = 0; i < b->boards; i++) {
		const uint64_t board = b->board[i], across = transposed(board);
		const uint64_t next[4] = {slid(board, slid_left), slid(board, slid_right), slid(across, slid_left),
		                          slid(across, slid_right)};
		int64_t best = INT64_MIN / 2;
		for (unsigned way = 0; way < 4; way++) {
			if (next[way] == (way < 2 ? board : across))
				continue;
			const int64_t value = value_of(next[way]);
			best = value > best ? value : best;
			take.leaves++;
		}
		sum += best;
	}
	sink = sum;
	(void)sink;
	take.time_ms = now_ms() - take.time_ms;
	return take;
}

static bool add_below(void *context, const struct smx_turn *turn, const void *afterstate);

struct walk {
	struct bench *bench;
	unsigned turns; /* still to be made */
};

/* The board with the tile of an outcome: cells in reading order, the 2 before the 4. */
static uint64_t placed(uint64_t board, unsigned outcome)
{
	unsigned empty = 0;
	for (int shift = 60; shift >= 0; shift -= 4)
		if ((board >> shift & 15) == 0 && empty++ == outcome / 2)
			return board | (UINT64_C(1) + outcome % 2) << shift;
	return board;
}

static void add_boards(struct bench *b, const void *state, unsigned turns)
{
	uint32_t weights[SMX_OUTCOMES_MAX];
	struct smx_position position = {.outcome = 0};
	const int count = (int)smx_2048.outcomes(state, weights);
	memcpy(position.state, state, smx_2048.state_size);
	for (; position.outcome < count && b->boards < BOARDS_MAX; position.outcome++) {
		if (turns > 0) {
			smx_2048.turns(&position, add_below, &(struct walk){b, turns});
			continue;
		}
		b->board[b->boards++] = placed(smx_2048_board(state), (unsigned)position.outcome);
	}
}

static bool add_below(void *context, const struct smx_turn *turn, const void *afterstate)
{
	const struct walk *walk = context;
	(void)turn;
	add_boards(walk->bench, afterstate, walk->turns - 1);
	return walk->bench->boards < BOARDS_MAX;
}

/* ---- the search ---- */

static struct smx_counters search(const struct bench *b, bool prunes, enum smx_leaves leaves, double *time_ms)
{
	struct smx_counters sum = {0};
	struct smx_search_options options;
	smx_search_options_init(&options, &smx_2048);
	options.depth_plies = b->depth;
	options.star = prunes ? SMX_STAR2 : SMX_STAR_NONE;
	options.leaves = leaves;
	options.table = prunes ? b->table : NULL;
	for (size_t i = 0; i < POSITIONS; i++) {
		const struct smx_result *result;
		struct smx_error error;
		smx_table_clear(b->table);
		if (smx_search_run(b->search, &b->position[i], &options, &result, &error) != SMX_OK)
			fail(smxi_bench_2048_positions[i].name, error.message);
		sum.leaf_evaluations += result->counters.leaf_evaluations;
		sum.chance_nodes += result->counters.chance_nodes;
		*time_ms += result->time_ms;
	}
	return sum;
}

static int by_time(const void *left, const void *right)
{
	const struct take *a = left, *b = right;
	return a->time_ms < b->time_ms ? -1 : a->time_ms > b->time_ms;
}

static double per_second(const struct take *takes, unsigned rounds)
{
	const struct take *median = &takes[rounds / 2];
	return (double)median->leaves / median->time_ms * 1e3;
}

static void run_all(const struct bench *b, bool json)
{
	static struct take loop[ROUNDS_MAX], full[ROUNDS_MAX], pruned[ROUNDS_MAX];
	double ignored = 0;
	const uint64_t leaves = search(b, false, SMX_LEAVES_LIST, &ignored).leaf_evaluations;
	const uint64_t left = search(b, true, SMX_LEAVES_LIST, &ignored).leaf_evaluations;
	for (unsigned i = 0; i < b->rounds; i++) {
		loop[i] = bare_loop(b);
		full[i].leaves = pruned[i].leaves = leaves;
		search(b, false, SMX_LEAVES_FOLD, &full[i].time_ms);
		search(b, true, SMX_LEAVES_FOLD, &pruned[i].time_ms);
	}
	qsort(loop, b->rounds, sizeof *loop, by_time);
	qsort(full, b->rounds, sizeof *full, by_time);
	qsort(pruned, b->rounds, sizeof *pruned, by_time);
	const double bare = per_second(loop, b->rounds), searched = per_second(full, b->rounds);
	const double time_ms[] = {full[b->rounds / 2].time_ms, pruned[b->rounds / 2].time_ms};
	if (json) {
		json_t *root = json_pack("{s:i, s:i, s:I, s:f, s:I, s:f, s:f, s:I, s:f, s:f}", "depth", (int)b->depth, "rounds",
		                         (int)b->rounds, "loop_boards", (json_int_t)b->boards, "loop_leaves_per_second", bare,
		                         "leaves", (json_int_t)leaves, "search_leaves_per_second", searched, "ratio",
		                         searched / bare, "leaves_with_table_and_cutoffs", (json_int_t)left, "full_ms",
		                         time_ms[0], "pruned_ms", time_ms[1]);
		if (!root || json_dumpf(root, stdout, 0) != 0)
			fail("cannot write the output", NULL);
		putchar('\n');
		json_decref(root);
		return;
	}
	printf("bare loop          %6.1f million leaf evaluations a second, %zu boards\n", bare * 1e-6, b->boards);
	printf("full-width search  %6.1f million, depth %u, %d positions, no table: %.2f of the bare loop\n",
	       searched * 1e-6, b->depth, POSITIONS, searched / bare);
	printf("leaves             %" PRIu64 ", with table and cutoffs %" PRIu64 ": %.1f times fewer\n", leaves, left,
	       (double)leaves / (double)left);
	printf("time               %.1f ms, with table and cutoffs %.1f ms: %.1f times less\n", time_ms[0], time_ms[1],
	       time_ms[0] / time_ms[1]);
}

static unsigned number_of(const char *option, const char *text, long least, long most)
{
	char *end;
	const long number = strtol(text, &end, 10);
	if (*end || number < least || number > most)
		fail(option, "a number that is out of range");
	return (unsigned)number;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"depth", required_argument, NULL, 'd'},
		{"rounds", required_argument, NULL, 'r'},
		{"json", no_argument, NULL, 'j'},
		{NULL, 0, NULL, 0},
	};
	struct bench b = {.depth = 4, .rounds = 15};
	struct smx_error error;
	bool json = false;
	for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
		switch (option) {
		case 'd':
			b.depth = number_of("--depth", optarg, 1, 6);
			break;
		case 'r':
			b.rounds = number_of("--rounds", optarg, 1, ROUNDS_MAX);
			break;
		case 'j':
			json = true;
			break;
		default:
			return 2;
		}
	if (argc != optind)
		fail("usage: starmax-bench-2048 [--depth N] [--rounds N] [--json]", NULL);
	fill_tables();
	b.board = malloc(BOARDS_MAX * sizeof *b.board);
	if (!b.board || smx_search_create(&smx_2048, NULL, &b.search) != SMX_OK ||
	    smx_table_create(HASH_BYTES, &b.table, NULL) != SMX_OK)
		fail("out of memory", NULL);
	for (size_t i = 0; i < POSITIONS; i++) {
		const char *text = smxi_bench_2048_positions[i].text;
		if (smx_2048.parse(text, strlen(text), &b.position[i], &error) != SMX_OK)
			fail(smxi_bench_2048_positions[i].name, error.message);
		smx_2048.turns(&b.position[i], add_below, &(struct walk){&b, 2});
	}
	run_all(&b, json);
	smx_table_destroy(b.table);
	smx_search_destroy(b.search);
	free(b.board);
	return 0;
}
