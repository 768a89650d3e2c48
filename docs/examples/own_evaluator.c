/* A search with an evaluator of one's own: material, and a bonus for pieces in the centre.
 *
 *     own_evaluator ["<position with dice>"]
 *
 * An evaluator is a pure function from positions to whole numbers, called with many positions at once. It states its
 * scale (here: values are centipawns times 2^8), the bounds of what it returns, and what a lost and a won game are
 * worth. */
#include <starmax/starmax.h>

#include <stdio.h>
#include <string.h>

enum { SCALE_BITS = 8 };

#define CENTIPAWNS(cp) ((smx_value)(cp) * (1 << SCALE_BITS))

/* The most one side can have: nine queens, two rooks, bishops and knights, each on its best square. */
enum { MOST_CP = 9 * 900 + 2 * 500 + 4 * 300 + 15 * 30 };

static int centre_bonus(unsigned square)
{
	const unsigned file = square % 8, rank = square / 8;
	const unsigned to_edge_file = file < 4 ? file : 7 - file, to_edge_rank = rank < 4 ? rank : 7 - rank;
	return 10 * (int)(to_edge_file < to_edge_rank ? to_edge_file : to_edge_rank); /* 0, 10, 20 or 30 */
}

static int white_minus_black(const unsigned char board[64])
{
	static const int values[8] = {0, 100, 300, 300, 500, 900, 0, 0}; /* by piece type; kings are never taken off */
	int sum = 0;
	for (unsigned square = 0; square < 64; square++) {
		const unsigned type = board[square] & 7;
		if (type == SMX_NO_PIECE || type == SMX_KING)
			continue;
		const int value = values[type] + centre_bonus(square);
		sum += board[square] & SMX_DICECHESS_BLACK ? -value : value;
	}
	return sum;
}

static void evaluate(const void *context, const void *states, size_t count, unsigned side, smx_value *values)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		unsigned char board[64];
		smx_dicechess_board((const unsigned char *)states + i * smx_dicechess.state_size, board);
		const int white = white_minus_black(board);
		values[i] = CENTIPAWNS(side == SMX_BLACK ? -white : white);
	}
}

static const struct smx_evaluator centred = {
	.name = "centred",
	.unit = "centipawns",
	.scale_bits = SCALE_BITS,
	.lo = CENTIPAWNS(-MOST_CP),
	.hi = CENTIPAWNS(MOST_CP),
	.loss = CENTIPAWNS(-20000),
	.win = CENTIPAWNS(20000),
	.evaluate = evaluate,
};

static int fail(const char *what, enum smx_status status, const struct smx_error *error)
{
	fprintf(stderr, "%s: %s: %s\n", what, smx_status_str(status), error->message);
	return 1;
}

int main(int argc, char **argv)
{
	const struct smx_game *game = &smx_dicechess;
	const char *text = argc > 1 ? argv[1] : "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 PNB";
	struct smx_error error = {.message = ""};

	struct smx_position position;
	enum smx_status status = game->parse(text, strlen(text), &position, &error);
	if (status != SMX_OK)
		return fail("position", status, &error);
	if (position.outcome == SMX_NO_OUTCOME) {
		fprintf(stderr, "position: no dice: add three of P N B R Q K at its end\n");
		return 1;
	}

	/* A search would check a new evaluator by itself; asking first tells the two failures apart. */
	status = smx_evaluator_check(game, &centred, &error);
	if (status != SMX_OK)
		return fail("evaluator", status, &error);

	struct smx_search *search;
	status = smx_search_create(game, NULL, &search);
	if (status != SMX_OK)
		return fail("search", status, &error);

	struct smx_search_options options;
	smx_search_options_init(&options, game);
	options.depth_plies = 2;
	options.evaluator = options.prerank = &centred;

	const struct smx_result *result;
	status = smx_search_run(search, &position, &options, &result, &error);
	if (status != SMX_OK) {
		smx_search_destroy(search);
		return fail("search", status, &error);
	}

	char turn[SMX_TEXT_MAX], value[80];
	game->format_turn(&result->turn, turn);
	smx_value_format(result->value, centred.scale_bits, value, sizeof value);
	printf("%s %s %s\n", turn, value, centred.unit);
	smx_search_destroy(search);
	return 0;
}
