/* The oracle: see oracle.h. Nothing here is clever on purpose. */
#include "oracle.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char dice_letters[] = "PNBRQK";

/* Squares and pieces */

static int file_of(int square)
{
	return square % 8;
}

static int rank_of(int square)
{
	return square / 8;
}

/* The square `files` to the east and `ranks` to the north, or -1 off the board. */
static int step(int square, int files, int ranks)
{
	int file = file_of(square) + files;
	int rank = rank_of(square) + ranks;

	if (file < 0 || file > 7 || rank < 0 || rank > 7)
		return -1;
	return rank * 8 + file;
}

static bool is_of(char piece, int side)
{
	return side == 0 ? piece >= 'A' && piece <= 'Z' : piece >= 'a' && piece <= 'z';
}

static char upper(char letter)
{
	return (char)toupper((unsigned char)letter);
}

static char lower(char letter)
{
	return (char)tolower((unsigned char)letter);
}

static char piece_of(char type, int side)
{
	return side == 0 ? upper(type) : lower(type);
}

static int forward(int side)
{
	return side == 0 ? 1 : -1;
}

/* Text */

/* Copies the field after the spaces at *text into `field` and moves on; false at the end of the text. */
static bool next_field(const char **text, char *field, size_t size)
{
	size_t length;

	*text += strspn(*text, " ");
	length = strcspn(*text, " ");
	if (length == 0 || length >= size)
		return false;
	memcpy(field, *text, length);
	field[length] = '\0';
	*text += length;
	return true;
}

static bool read_placement(struct oracle_position *position, const char *text)
{
	int file = 0, rank = 7;

	memset(position->board, '.', sizeof(position->board));
	for (; *text; text++) {
		if (*text == '/') {
			if (file != 8 || rank == 0)
				return false;
			file = 0;
			rank--;
		} else if (*text >= '1' && *text <= '8') {
			file += *text - '0';
		} else if (strchr("PNBRQKpnbrqk", *text)) {
			if (file > 7)
				return false;
			position->board[rank * 8 + file] = *text;
			file++;
		} else {
			return false;
		}
	}
	return rank == 0 && file == 8;
}

bool oracle_read(struct oracle_position *position, const char *dfen)
{
	static const char rights[] = "KQkq";
	char field[100];

	memset(position, 0, sizeof(*position));
	if (!next_field(&dfen, field, sizeof(field)) || !read_placement(position, field))
		return false;

	if (!next_field(&dfen, field, sizeof(field)) || (strcmp(field, "w") != 0 && strcmp(field, "b") != 0))
		return false;
	position->side = field[0] == 'b';

	if (!next_field(&dfen, field, sizeof(field)))
		return false;
	if (strcmp(field, "-") != 0) {
		for (const char *letter = field; *letter; letter++) {
			const char *right = strchr(rights, *letter);

			if (!right)
				return false;
			position->rights |= 1u << (right - rights);
		}
	}

	if (!next_field(&dfen, field, sizeof(field)))
		return false;
	if (strcmp(field, "-") != 0) {
		for (const char *letter = field; *letter; letter += 2) {
			if (letter[0] < 'a' || letter[0] > 'h' || (letter[1] != '3' && letter[1] != '6'))
				return false;
			position->target[(letter[1] - '1') * 8 + (letter[0] - 'a')] = true;
		}
	}

	position->fullmove = 1;
	if (next_field(&dfen, field, sizeof(field)) && isdigit((unsigned char)field[0]))
		position->halfmove = atoi(field);
	if (next_field(&dfen, field, sizeof(field)) && isdigit((unsigned char)field[0]))
		position->fullmove = atoi(field);
	return true;
}

bool oracle_read_roll(char roll[4], const char *dfen)
{
	char field[100] = "";
	int length = 0;

	while (next_field(&dfen, field, sizeof(field)))
		continue;
	for (const char *letter = field; *letter; letter++) {
		if (length == 3 || !strchr(dice_letters, upper(*letter)))
			return false;
		roll[length++] = upper(*letter);
	}
	roll[length] = '\0';
	return length > 0;
}

void oracle_key(const struct oracle_position *position, char text[ORACLE_KEY_SIZE])
{
	char *out = text;
	bool any = false;

	for (int rank = 7; rank >= 0; rank--) {
		int empty = 0;

		for (int file = 0; file < 8; file++) {
			char piece = position->board[rank * 8 + file];

			if (piece == '.') {
				empty++;
				continue;
			}
			if (empty > 0)
				*out++ = (char)('0' + empty);
			empty = 0;
			*out++ = piece;
		}
		if (empty > 0)
			*out++ = (char)('0' + empty);
		if (rank > 0)
			*out++ = '/';
	}

	*out++ = ' ';
	*out++ = position->side == 0 ? 'w' : 'b';
	*out++ = ' ';
	for (int right = 0; right < 4; right++) {
		if (position->rights & (1u << right))
			*out++ = "KQkq"[right];
	}
	if (position->rights == 0)
		*out++ = '-';

	*out++ = ' ';
	for (int file = 0; file < 8; file++) {
		for (int rank = 0; rank < 8; rank++) {
			if (!position->target[rank * 8 + file])
				continue;
			*out++ = (char)('a' + file);
			*out++ = (char)('1' + rank);
			any = true;
		}
	}
	if (!any)
		*out++ = '-';
	*out = '\0';
}

void oracle_dfen(const struct oracle_position *position, char text[ORACLE_DFEN_SIZE])
{
	char key[ORACLE_KEY_SIZE];

	oracle_key(position, key);
	snprintf(text, ORACLE_DFEN_SIZE, "%s %d %d", key, position->halfmove, position->fullmove);
}

void oracle_turn_text(const struct oracle_turn *turn, char text[ORACLE_TURN_SIZE])
{
	char *out = text;

	if (turn->moves == 0) {
		memcpy(text, "pass", sizeof("pass"));
		return;
	}
	for (int i = 0; i < turn->moves; i++) {
		const struct oracle_move *move = &turn->move[i];

		if (i > 0)
			*out++ = ' ';
		*out++ = (char)('a' + file_of(move->from));
		*out++ = (char)('1' + rank_of(move->from));
		*out++ = (char)('a' + file_of(move->to));
		*out++ = (char)('1' + rank_of(move->to));
		if (move->promotion)
			*out++ = move->promotion;
	}
	*out = '\0';
}

uint64_t oracle_fnv(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

int oracle_roll(int index, char roll[4])
{
	for (int a = 0; a < 6; a++) {
		for (int b = a; b < 6; b++) {
			for (int c = b; c < 6; c++) {
				if (index-- > 0)
					continue;
				roll[0] = dice_letters[a];
				roll[1] = dice_letters[b];
				roll[2] = dice_letters[c];
				roll[3] = '\0';
				if (a == c)
					return 1;
				return a == b || b == c ? 3 : 6;
			}
		}
	}
	abort();
}

/* Micro-moves */

static bool is_castling(const struct oracle_position *position, struct oracle_move move)
{
	return upper(position->board[move.from]) == 'K' && abs(file_of(move.to) - file_of(move.from)) == 2;
}

void oracle_play(struct oracle_position *position, struct oracle_move move)
{
	int side = position->side;
	char piece = position->board[move.from];
	char captured = position->board[move.to];
	bool pawn = upper(piece) == 'P';
	bool double_push = pawn && abs(rank_of(move.to) - rank_of(move.from)) == 2;
	bool en_passant = pawn && file_of(move.to) != file_of(move.from) && captured == '.';

	if (is_castling(position, move)) {
		bool is_short = move.to > move.from;
		int corner = is_short ? move.from + 3 : move.from - 4;
		int beside = is_short ? move.from + 1 : move.from - 1;

		position->board[beside] = position->board[corner];
		position->board[corner] = '.';
	}

	position->board[move.from] = '.';
	position->board[move.to] = move.promotion ? piece_of(move.promotion, side) : piece;
	if (en_passant) {
		position->board[move.to - 8 * forward(side)] = '.';
		position->target[move.to] = false;
	}

	/* A pawn on the fourth (fifth) rank stands in front of the third (sixth): taken there, its target goes with it. */
	if (captured == 'P' && rank_of(move.to) == 3)
		position->target[move.to - 8] = false;
	if (captured == 'p' && rank_of(move.to) == 4)
		position->target[move.to + 8] = false;

	/* And so it does when a pawn, of whichever side, moves on from there (a double push starts elsewhere). */
	if (pawn && rank_of(move.from) == 3)
		position->target[move.from - 8] = false;
	if (pawn && rank_of(move.from) == 4)
		position->target[move.from + 8] = false;
	if (double_push)
		position->target[(move.from + move.to) / 2] = true;

	/* A right lives only while its rook stands on the corner, so whatever touches the corner ends it. */
	for (int i = 0; i < 2; i++) {
		int square = i == 0 ? move.from : move.to;

		if (square == 7)
			position->rights &= ~(unsigned)ORACLE_WHITE_SHORT;
		if (square == 0)
			position->rights &= ~(unsigned)ORACLE_WHITE_LONG;
		if (square == 63)
			position->rights &= ~(unsigned)ORACLE_BLACK_SHORT;
		if (square == 56)
			position->rights &= ~(unsigned)ORACLE_BLACK_LONG;
	}
	if (piece == 'K' || captured == 'K')
		position->rights &= ~(unsigned)(ORACLE_WHITE_SHORT | ORACLE_WHITE_LONG);
	if (piece == 'k' || captured == 'k')
		position->rights &= ~(unsigned)(ORACLE_BLACK_SHORT | ORACLE_BLACK_LONG);

	if (pawn || captured != '.')
		position->halfmove = 0;
	else if (position->halfmove < 127)
		position->halfmove++;
}

void oracle_end_turn(struct oracle_position *position)
{
	int next = 1 - position->side;
	int rank = next == 0 ? 2 : 5;

	for (int file = 0; file < 8; file++)
		position->target[rank * 8 + file] = false;
	if (position->side == 1)
		position->fullmove++;
	position->side = next;
}

static int add_pawn_move(const struct oracle_position *position, int from, int to, struct oracle_move *move, int count)
{
	bool last_rank = rank_of(to) == (position->side == 0 ? 7 : 0);
	const char *promotions = "qrbn";

	if (!last_rank || upper(position->board[to]) == 'K') {
		move[count++] = (struct oracle_move){from, to, 0};
		return count;
	}
	for (; *promotions; promotions++)
		move[count++] = (struct oracle_move){from, to, *promotions};
	return count;
}

static int pawn_moves(const struct oracle_position *position, struct oracle_move *move)
{
	const char *board = position->board;
	int side = position->side;
	int up = forward(side);
	int count = 0;

	for (int from = 0; from < 64; from++) {
		int to = step(from, 0, up);

		if (board[from] != piece_of('P', side) || to < 0)
			continue;
		if (board[to] == '.')
			count = add_pawn_move(position, from, to, move, count);
		if (rank_of(from) == (side == 0 ? 1 : 6) && board[to] == '.' && board[to + 8 * up] == '.')
			move[count++] = (struct oracle_move){from, to + 8 * up, 0};
		for (int east = 1; east >= -1; east -= 2) {
			to = step(from, east, up);
			if (to >= 0 && is_of(board[to], 1 - side))
				count = add_pawn_move(position, from, to, move, count);
		}
		for (int east = 1; east >= -1; east -= 2) {
			to = step(from, east, up);
			/* Only targets of the other side: on one's own third rank they are one's own. */
			if (to >= 0 && rank_of(to) == (side == 0 ? 5 : 2) && position->target[to] && board[to] == '.')
				move[count++] = (struct oracle_move){from, to, 0};
		}
	}
	return count;
}

/* A square that the piece on `from` reaches: it moves as its type does and stops at the first piece in its way. */
static bool piece_reaches(const char *board, char type, int from, int to)
{
	int files = file_of(to) - file_of(from);
	int ranks = rank_of(to) - rank_of(from);
	int across = abs(files), along = abs(ranks);
	bool straight = (across == 0) != (along == 0);
	bool diagonal = across == along && across > 0;
	int square;

	if (type == 'N')
		return across * along == 2;
	if (type == 'K')
		return across <= 1 && along <= 1 && from != to;
	if (!(straight && type != 'B') && !(diagonal && type != 'R'))
		return false;
	files = (files > 0) - (files < 0);
	ranks = (ranks > 0) - (ranks < 0);
	for (square = step(from, files, ranks); square != to; square = step(square, files, ranks)) {
		if (board[square] != '.')
			return false;
	}
	return true;
}

static int castling_moves(const struct oracle_position *position, struct oracle_move move[2])
{
	const char *rank = position->board + (position->side == 0 ? 0 : 56);
	unsigned rights = position->side == 0 ? position->rights : position->rights >> 2;
	char rook = piece_of('R', position->side);
	int king = position->side == 0 ? 4 : 60;
	int count = 0;

	if (position->board[king] != piece_of('K', position->side))
		return 0;
	if ((rights & 1) && rank[7] == rook && rank[5] == '.' && rank[6] == '.')
		move[count++] = (struct oracle_move){king, king + 2, 0};
	if ((rights & 2) && rank[0] == rook && rank[1] == '.' && rank[2] == '.' && rank[3] == '.')
		move[count++] = (struct oracle_move){king, king - 2, 0};
	return count;
}

int oracle_micro_moves(const struct oracle_position *position, char die, struct oracle_move move[ORACLE_MICRO_MOVES])
{
	char piece = piece_of(die, position->side);
	int count = 0;

	if (die == 'P')
		return pawn_moves(position, move);
	for (int from = 0; from < 64; from++) {
		if (position->board[from] != piece)
			continue;
		for (int to = 0; to < 64; to++) {
			if (!is_of(position->board[to], position->side) && piece_reaches(position->board, die, from, to))
				move[count++] = (struct oracle_move){from, to, 0};
		}
	}
	if (die == 'K')
		count += castling_moves(position, move + count);
	return count;
}

/* Turns */

static struct oracle_turn *append(struct oracle_turns *turns)
{
	if (turns->count == turns->room) {
		turns->room = turns->room ? 2 * turns->room : 64;
		turns->turn = realloc(turns->turn, turns->room * sizeof(*turns->turn));
		if (!turns->turn)
			abort();
	}
	return &turns->turn[turns->count++];
}

/* The dice left: how many of each type, in the order of dice_letters. */
struct dice {
	int count[6];
};

static struct dice dice_of(const char *roll)
{
	struct dice dice = {{0}};

	for (; *roll; roll++) {
		const char *letter = strchr(dice_letters, *roll);

		if (!letter)
			abort();
		dice.count[letter - dice_letters]++;
	}
	return dice;
}

static bool has_die(const struct dice *dice, char die)
{
	return dice->count[strchr(dice_letters, die) - dice_letters] > 0;
}

static void spend_die(struct dice *dice, char die)
{
	dice->count[strchr(dice_letters, die) - dice_letters]--;
}

/* Takes the dice that a move by `die` costs out of *left; false, with *left unchanged, if they are not all there. */
static bool pay(const struct oracle_position *position, struct oracle_move move, char die, struct dice *left)
{
	bool castling = is_castling(position, move);

	if (!has_die(left, die) || (castling && !has_die(left, 'R')))
		return false;
	spend_die(left, die);
	if (castling)
		spend_die(left, 'R');
	return true;
}

static void end_path(const struct oracle_turn *path, struct oracle_turns *turns)
{
	struct oracle_turn *turn = append(turns);

	*turn = *path;
	oracle_end_turn(&turn->after);
}

/*
 * Follows a path (its `after` still in mid-turn) through every micro-move that the dice left allow. A path ends where
 * none is playable. Paths that end early spend fewer dice than the longest and are dropped by the caller; a path that
 * spends as many as the longest cannot go on, so this finds every legal turn.
 */
static void extend(const struct oracle_turn *path, struct dice left, struct oracle_turns *kings,
                   struct oracle_turns *others)
{
	struct oracle_move move[ORACLE_MICRO_MOVES];
	bool ends = true;

	for (const char *die = dice_letters; *die; die++) {
		int count = has_die(&left, *die) ? oracle_micro_moves(&path->after, *die, move) : 0;

		for (int i = 0; i < count; i++) {
			struct oracle_turn longer = *path;
			struct dice fewer = left;

			if (!pay(&path->after, move[i], *die, &fewer))
				continue;
			ends = false;
			longer.move[longer.moves++] = move[i];
			longer.spent += is_castling(&path->after, move[i]) ? 2 : 1;
			longer.king = upper(path->after.board[move[i].to]) == 'K';
			oracle_play(&longer.after, move[i]);
			if (longer.king)
				end_path(&longer, kings);
			else
				extend(&longer, fewer, kings, others);
		}
	}
	if (ends)
		end_path(path, others);
}

void oracle_list(const struct oracle_position *position, const char *roll, struct oracle_turns *turns)
{
	struct oracle_turns others = {0};
	struct oracle_turn start = {.after = *position};
	size_t first = turns->count;
	int most = 0;

	extend(&start, dice_of(roll), turns, &others);
	for (size_t i = first; i < turns->count; i++)
		most = turns->turn[i].spent > most ? turns->turn[i].spent : most;
	for (size_t i = 0; i < others.count; i++)
		most = others.turn[i].spent > most ? others.turn[i].spent : most;
	for (size_t i = 0; i < others.count; i++) {
		if (others.turn[i].spent == most)
			*append(turns) = others.turn[i];
	}
	oracle_turns_free(&others);
}

void oracle_turns_free(struct oracle_turns *turns)
{
	free(turns->turn);
	*turns = (struct oracle_turns){0};
}

struct keyed_turn {
	char key[ORACLE_KEY_SIZE];
	size_t index;
};

static int compare_keyed_turns(const void *a, const void *b)
{
	const struct keyed_turn *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

void oracle_keep_distinct(struct oracle_turns *turns)
{
	struct keyed_turn *keyed = malloc((turns->count + 1) * sizeof(*keyed));
	bool *keep = calloc(turns->count + 1, sizeof(*keep));
	size_t kept = 0;

	if (!keyed || !keep)
		abort();
	for (size_t i = 0; i < turns->count; i++) {
		oracle_key(&turns->turn[i].after, keyed[i].key);
		keyed[i].index = i;
	}
	qsort(keyed, turns->count, sizeof(*keyed), compare_keyed_turns);
	for (size_t i = 0; i < turns->count; i++)
		keep[keyed[i].index] = i == 0 || strcmp(keyed[i].key, keyed[i - 1].key) != 0;
	for (size_t i = 0; i < turns->count; i++) {
		if (keep[i] || turns->turn[i].king)
			turns->turn[kept++] = turns->turn[i];
	}
	turns->count = kept;
	free(keyed);
	free(keep);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(a, b);
}

struct oracle_summary oracle_summarise(const struct oracle_position *position, const char *roll)
{
	struct oracle_summary summary = {0};
	struct oracle_turns turns = {0};
	size_t listed = 0;

	oracle_list(position, roll, &turns);
	summary.keys = malloc((turns.count + 1) * sizeof(*summary.keys));
	if (!summary.keys)
		abort();
	for (size_t i = 0; i < turns.count; i++) {
		if (turns.turn[i].king) {
			summary.king_paths++;
			continue;
		}
		summary.spent = turns.turn[i].spent;
		oracle_key(&turns.turn[i].after, summary.keys[listed++]);
	}
	qsort(summary.keys, listed, sizeof(*summary.keys), compare_keys);
	for (size_t i = 0; i < listed; i++) {
		size_t last = summary.key_count;

		if (last > 0 && strcmp(summary.keys[i], summary.keys[last - 1]) == 0)
			continue;
		memmove(summary.keys[last], summary.keys[i], sizeof(*summary.keys));
		summary.fingerprint += oracle_fnv(summary.keys[last]);
		summary.key_count++;
	}
	summary.pass = turns.count == 1 && turns.turn[0].moves == 0;
	summary.paths = summary.pass ? 0 : turns.count;
	summary.afterstates = summary.pass ? 0 : summary.key_count;
	oracle_turns_free(&turns);
	return summary;
}

void oracle_summary_free(struct oracle_summary *summary)
{
	free(summary->keys);
	*summary = (struct oracle_summary){0};
}

/* Values */

static long long piece_value(char piece)
{
	switch (upper(piece)) {
	case 'P':
		return 100;
	case 'N':
	case 'B':
		return 300;
	case 'R':
		return 500;
	case 'Q':
		return 900;
	default:
		return 0;
	}
}

static long long material(const struct oracle_position *position, int side)
{
	long long sum = 0;

	for (int square = 0; square < 64; square++) {
		char piece = position->board[square];

		if (piece != '.')
			sum += is_of(piece, side) ? piece_value(piece) : -piece_value(piece);
	}
	return sum;
}

bool oracle_attacked(const struct oracle_position *position, int square, int by)
{
	for (int from = 0; from < 64; from++) {
		char piece = position->board[from];

		if (!is_of(piece, by))
			continue;
		if (upper(piece) == 'P') {
			int up = forward(by);

			if (square == step(from, 1, up) || square == step(from, -1, up))
				return true;
		} else if (piece_reaches(position->board, upper(piece), from, square)) {
			return true;
		}
	}
	return false;
}

static long long standard(const struct oracle_position *position, int side)
{
	const char *king = memchr(position->board, piece_of('K', side), sizeof(position->board));
	bool attacked = king && oracle_attacked(position, (int)(king - position->board), 1 - side);

	return material(position, side) - (attacked ? 2000 : 0);
}

const struct oracle_evaluator oracle_material = {material, 10001, -1000000000};
const struct oracle_evaluator oracle_standard = {standard, 10001, -1000000000};

long long oracle_div_floor(long long numerator, long long denominator)
{
	long long quotient = numerator / denominator;

	return numerator % denominator < 0 ? quotient - 1 : quotient;
}

/* The best turn's value for the mover of `position`, as `evaluated_side` sees it. */
static long long best_reply(const struct oracle_position *position, const char *roll, int depth, int evaluated_side,
                            const struct oracle_evaluator *evaluator, int scale_bits)
{
	bool maximise = position->side == evaluated_side;
	struct oracle_turns turns = {0};
	long long best = 0;

	oracle_list(position, roll, &turns);
	if (turns.turn[0].king) {
		oracle_turns_free(&turns);
		return (maximise ? evaluator->win : evaluator->loss) * (1LL << scale_bits);
	}
	if (depth > 1)
		oracle_keep_distinct(&turns);
	for (size_t i = 0; i < turns.count; i++) {
		long long value = oracle_chance(&turns.turn[i].after, depth - 1, evaluated_side, evaluator, scale_bits);

		if (i == 0 || (maximise ? value > best : value < best))
			best = value;
	}
	oracle_turns_free(&turns);
	return best;
}

long long oracle_chance_values(const struct oracle_position *position, int evaluated_side,
                               const struct oracle_evaluator *evaluator, long long values[ORACLE_ROLLS])
{
	long long sum = 0;
	char roll[4];

	for (int i = 0; i < ORACLE_ROLLS; i++) {
		int weight = oracle_roll(i, roll);

		values[i] = best_reply(position, roll, 1, evaluated_side, evaluator, 0);
		sum += weight * values[i];
	}
	return sum;
}

long long oracle_chance(const struct oracle_position *position, int depth, int evaluated_side,
                        const struct oracle_evaluator *evaluator, int scale_bits)
{
	long long sum = 0;
	char roll[4];

	if (depth == 0)
		return evaluator->evaluate(position, evaluated_side) * (1LL << scale_bits);
	for (int i = 0; i < ORACLE_ROLLS; i++) {
		int weight = oracle_roll(i, roll);

		sum += weight * best_reply(position, roll, depth, evaluated_side, evaluator, scale_bits);
	}
	return oracle_div_floor(sum, ORACLE_WEIGHTS_SUM);
}

/* Capture chances */

int oracle_king_capture_216(const struct oracle_position *position, int side)
{
	struct oracle_position mover = *position;
	int sum = 0;
	char roll[4];

	mover.side = side;
	for (int i = 0; i < ORACLE_ROLLS; i++) {
		int weight = oracle_roll(i, roll);
		struct oracle_turns turns = {0};

		oracle_list(&mover, roll, &turns);
		if (turns.turn[0].king)
			sum += weight;
		oracle_turns_free(&turns);
	}
	return sum;
}

static bool can_take_queen(const struct oracle_position *position, struct dice left)
{
	struct oracle_move move[ORACLE_MICRO_MOVES];

	for (const char *die = dice_letters; *die; die++) {
		int count = has_die(&left, *die) ? oracle_micro_moves(position, *die, move) : 0;

		for (int i = 0; i < count; i++) {
			struct oracle_position next = *position;
			struct dice fewer = left;

			if (!pay(position, move[i], *die, &fewer))
				continue;
			if (upper(position->board[move[i].to]) == 'Q')
				return true;
			oracle_play(&next, move[i]);
			if (can_take_queen(&next, fewer))
				return true;
		}
	}
	return false;
}

/*
 * A roll counts if some sequence of playable micro-moves within its three dice takes a queen. The maximum rule plays
 * no part: the sequence need not belong to a legal turn. Nor does the king: a sequence may take it and go on.
 * This is what the golden features state: all 1,200 of their rows agree. Of the narrower readings, the legal turns
 * alone differ on 55 rows, sequences that stop at the king on 23.
 */
int oracle_queen_capture_216(const struct oracle_position *position, int side)
{
	struct oracle_position mover = *position;
	int sum = 0;
	char roll[4];

	mover.side = side;
	for (int i = 0; i < ORACLE_ROLLS; i++) {
		int weight = oracle_roll(i, roll);

		if (can_take_queen(&mover, dice_of(roll)))
			sum += weight;
	}
	return sum;
}

/* Random positions */

uint64_t oracle_random(uint64_t *seed)
{
	uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static int random_below(uint64_t *seed, int bound)
{
	return (int)(oracle_random(seed) % (uint64_t)bound);
}

/* One random turn that leaves the king, if the roll has one; otherwise nothing happens. */
static void random_turn(uint64_t *seed, const char *roll, struct oracle_position *position)
{
	struct oracle_turns turns = {0};
	size_t kings = 0;

	oracle_list(position, roll, &turns);
	while (kings < turns.count && turns.turn[kings].king)
		kings++;
	if (kings < turns.count)
		*position = turns.turn[kings + (size_t)random_below(seed, (int)(turns.count - kings))].after;
	oracle_turns_free(&turns);
}

void oracle_random_position(uint64_t *seed, struct oracle_position *position)
{
	static const char *const special[] = {
		"r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1",                   /* castling */
		"r3k2r/3pp3/8/8/8/8/3PP3/R3K2R w KQkq - 0 1",                           /* rooks taken at home */
		"4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",                          /* double pushes */
		"1n2k1n1/p1p1p1p1/8/1P1P1P1P/p1p1p1p1/8/1P1P1P1P/1N2K1N1 w - - 0 1",    /* en passant at once */
		"2r1k1n1/PP3PP1/8/3p4/3P4/8/pp3pp1/2R1K1N1 w - - 0 1",                  /* promotion */
		"r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", /* everything at once */
	};
	const int specials = (int)(sizeof(special) / sizeof(special[0]));
	const char *start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
	const char *faces = random_below(seed, 2) == 0 ? dice_letters : "PPPPNBRQK"; /* pawns make the rare rules */
	int length = random_below(seed, random_below(seed, 61) + 1); /* shorter games keep more of the set-up */

	if (random_below(seed, 2) == 0)
		start = special[random_below(seed, specials)];
	if (!oracle_read(position, start))
		abort();
	for (int i = 0; i < length; i++) {
		char roll[4] = "";

		for (int die = 0; die < 3; die++)
			roll[die] = faces[random_below(seed, (int)strlen(faces))];
		random_turn(seed, roll, position);
	}
}
