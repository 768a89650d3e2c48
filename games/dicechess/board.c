/* Tables of the Dice Chess board, filled once at first use, and what is computed from nothing for checks. */
#include "games/dicechess/board.h"

#include "games/dicechess/magics.h"

#include <starmax/random.h>

#include <pthread.h>
#include <string.h>

enum { ROOK_ENTRIES = 102400, BISHOP_ENTRIES = 5248 };

struct smxi_dc_keys smxi_dc_keys;
smxi_bits smxi_dc_knight[64], smxi_dc_king[64], smxi_dc_pawn[2][64];
smxi_bits smxi_dc_between[64][64];
uint8_t smxi_dc_rights_kept[64];
struct smxi_dc_line_attacks smxi_dc_rook[64], smxi_dc_bishop[64];
struct smxi_dc_rolls smxi_dc_rolls;
const int16_t smxi_dc_material[8] = {0, 100, 300, 300, 500, 900, 0, 0};

static smxi_bits line_attack_table[ROOK_ENTRIES + BISHOP_ENTRIES];

static const int directions[8][2] = {{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};

static bool on_board(int file, int rank)
{
	return file >= 0 && file < 8 && rank >= 0 && rank < 8;
}

/* The squares a ray reaches: up to the first blocker (included) or to the edge; its last square before the edge left
 * out where only blockers matter. */
static smxi_bits ray(unsigned square, const int step[2], smxi_bits occupied, bool without_edge)
{
	smxi_bits reached = 0;
	int file = (int)square % 8 + step[0], rank = (int)square / 8 + step[1];
	for (; on_board(file, rank); file += step[0], rank += step[1]) {
		if (without_edge && !on_board(file + step[0], rank + step[1]))
			break;
		smxi_bits here = smxi_bit((unsigned)(rank * 8 + file));
		reached |= here;
		if (occupied & here)
			break;
	}
	return reached;
}

static smxi_bits rays(unsigned square, unsigned first, smxi_bits occupied, bool without_edge)
{
	smxi_bits reached = 0;
	for (unsigned d = first; d < first + 4; d++)
		reached |= ray(square, directions[d], occupied, without_edge);
	return reached;
}

static smxi_bits *fill_line_attacks(struct smxi_dc_line_attacks *lines, unsigned first, const uint64_t *magic,
                                    smxi_bits *table)
{
	for (unsigned square = 0; square < 64; square++) {
		struct smxi_dc_line_attacks *line = &lines[square];
		line->mask = rays(square, first, 0, true);
		line->magic = magic[square];
		line->shift = 64 - (unsigned)__builtin_popcountll(line->mask);
		line->attacks = table;
		smxi_bits occupied = 0;
		do {
			table[occupied * line->magic >> line->shift] = rays(square, first, occupied, false);
			occupied = (occupied - line->mask) & line->mask;
		} while (occupied);
		table += UINT64_C(1) << (64 - line->shift);
	}
	return table;
}

static void fill_leapers(void)
{
	static const int knight_steps[8][2] = {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};
	for (unsigned square = 0; square < 64; square++) {
		int file = (int)square % 8, rank = (int)square / 8;
		for (unsigned d = 0; d < 8; d++) {
			const int *n = knight_steps[d], *k = directions[d];
			if (on_board(file + n[0], rank + n[1]))
				smxi_dc_knight[square] |= smxi_bit((unsigned)((rank + n[1]) * 8 + file + n[0]));
			if (on_board(file + k[0], rank + k[1])) {
				smxi_bits to = smxi_bit((unsigned)((rank + k[1]) * 8 + file + k[0]));
				smxi_dc_king[square] |= to;
				if (k[0] != 0 && k[1] != 0)
					smxi_dc_pawn[k[1] < 0][square] |= to;
			}
		}
	}
}

static void fill_between(void)
{
	for (unsigned from = 0; from < 64; from++)
		for (unsigned d = 0; d < 8; d++) {
			smxi_bits passed = 0;
			int file = (int)from % 8 + directions[d][0], rank = (int)from / 8 + directions[d][1];
			for (; on_board(file, rank); file += directions[d][0], rank += directions[d][1]) {
				unsigned to = (unsigned)(rank * 8 + file);
				smxi_dc_between[from][to] = passed;
				passed |= smxi_bit(to);
			}
		}
}

static struct smx_key next_key(uint64_t *seed)
{
	struct smx_key key;
	key.word[0] = smx_random(seed);
	key.word[1] = smx_random(seed);
	return key;
}

/* Zobrist (1970): a position's key is the exclusive or of one number for each of its features. */
static void fill_keys(void)
{
	uint64_t seed = 20261130;
	for (unsigned code = 1; code < 16; code++)
		for (unsigned square = 0; square < 64; square++)
			smxi_dc_keys.piece[code][square] = next_key(&seed);
	struct smx_key right[4];
	for (unsigned i = 0; i < 4; i++)
		right[i] = next_key(&seed);
	for (unsigned rights = 0; rights < 16; rights++)
		for (unsigned i = 0; i < 4; i++)
			if (rights >> i & 1)
				smxi_key_flip(&smxi_dc_keys.rights[rights], &right[i]);
	for (unsigned target = 0; target < 16; target++)
		smxi_dc_keys.target[target] = next_key(&seed);
	smxi_dc_keys.black_to_move = next_key(&seed);
}

static void fill_rights(void)
{
	for (unsigned square = 0; square < 64; square++)
		smxi_dc_rights_kept[square] = 0xf;
	smxi_dc_rights_kept[0] = 0xf ^ SMXI_RIGHT_WQ;
	smxi_dc_rights_kept[4] = 0xf ^ SMXI_RIGHT_WQ ^ SMXI_RIGHT_WK;
	smxi_dc_rights_kept[7] = 0xf ^ SMXI_RIGHT_WK;
	smxi_dc_rights_kept[56] = 0xf ^ SMXI_RIGHT_BQ;
	smxi_dc_rights_kept[60] = 0xf ^ SMXI_RIGHT_BQ ^ SMXI_RIGHT_BK;
	smxi_dc_rights_kept[63] = 0xf ^ SMXI_RIGHT_BK;
}

static void fill_rolls(void)
{
	struct smxi_dc_rolls *rolls = &smxi_dc_rolls;
	memset(rolls->dice, 0xff, sizeof rolls->dice);
	unsigned pairs = 0, next = 0;
	for (unsigned a = 0; a < 6; a++)
		for (unsigned b = a; b < 6; b++, pairs++)
			rolls->pair[a][b] = rolls->pair[b][a] = (uint8_t)pairs;
	for (unsigned a = 0; a < 6; a++)
		for (unsigned b = a; b < 6; b++)
			for (unsigned c = b; c < 6; c++, next++) {
				rolls->dice[next][0] = (uint8_t)a;
				rolls->dice[next][1] = (uint8_t)b;
				rolls->dice[next][2] = (uint8_t)c;
				rolls->count[next] = 3;
				rolls->weight[next] = a == c ? 1 : a == b || b == c ? 3 : 6;
				rolls->triple[a][b][c] = rolls->triple[a][c][b] = rolls->triple[b][a][c] = rolls->triple[b][c][a] =
					rolls->triple[c][a][b] = rolls->triple[c][b][a] = (uint8_t)next;
				rolls->with[a] |= smxi_bit(next);
				rolls->with[b] |= smxi_bit(next);
				rolls->with[c] |= smxi_bit(next);
				rolls->with_pair[rolls->pair[a][b]] |= smxi_bit(next);
				rolls->with_pair[rolls->pair[a][c]] |= smxi_bit(next);
				rolls->with_pair[rolls->pair[b][c]] |= smxi_bit(next);
			}
	for (unsigned a = 0; a < 6; a++)
		for (unsigned b = a; b < 6; b++, next++) {
			rolls->dice[next][0] = (uint8_t)a;
			rolls->dice[next][1] = (uint8_t)b;
			rolls->count[next] = 2;
		}
	for (unsigned a = 0; a < 6; a++, next++) {
		rolls->dice[next][0] = (uint8_t)a;
		rolls->count[next] = 1;
	}
	assert(next == SMX_DICECHESS_ROLLS);
	for (unsigned dice = 0; dice < 64; dice++)
		for (unsigned roll = 0; roll < SMX_DICECHESS_OUTCOMES; roll++)
			if (dice >> rolls->dice[roll][0] & 1 || dice >> rolls->dice[roll][1] & 1 ||
			    dice >> rolls->dice[roll][2] & 1)
				rolls->weight_with_any[dice] += rolls->weight[roll];
}

static void fill_tables(void)
{
	smxi_bits *end = fill_line_attacks(smxi_dc_rook, 0, magics[0], line_attack_table);
	end = fill_line_attacks(smxi_dc_bishop, 4, magics[1], end);
	assert(end == line_attack_table + ROOK_ENTRIES + BISHOP_ENTRIES);
	(void)end;
	fill_leapers();
	fill_between();
	fill_keys();
	fill_rights();
	fill_rolls();
}

void smxi_dc_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, fill_tables);
}

struct smx_key smxi_dc_compute_key(const struct smxi_dc_state *s)
{
	struct smx_key key = smxi_dc_keys.rights[s->rights & 0xf];
	for (unsigned square = 0; square < 64; square++)
		smxi_key_flip(&key, &smxi_dc_keys.piece[smxi_dc_piece_at(s, square)][square]);
	for (unsigned target = 0; target < 16; target++)
		if (s->targets >> target & 1)
			smxi_key_flip(&key, &smxi_dc_keys.target[target]);
	if (s->side == SMX_BLACK)
		smxi_key_flip(&key, &smxi_dc_keys.black_to_move);
	return key;
}

int16_t smxi_dc_compute_material(const struct smxi_dc_state *s)
{
	int sum = 0;
	for (unsigned square = 0; square < 64; square++) {
		unsigned code = smxi_dc_piece_at(s, square);
		sum += code & 8 ? -smxi_dc_material[code & 7] : smxi_dc_material[code & 7];
	}
	return (int16_t)sum;
}

void smx_dicechess_board(const void *state, unsigned char board[64])
{
	for (unsigned square = 0; square < 64; square++)
		board[square] = (unsigned char)smxi_dc_piece_at(state, square);
}

int smx_dicechess_roll(const enum smx_dicechess_piece *types, unsigned dice)
{
	smxi_dc_init();
	if (dice < 1 || dice > 3)
		return SMX_NO_OUTCOME;
	for (unsigned i = 0; i < dice; i++)
		if (types[i] < SMX_PAWN || types[i] > SMX_KING)
			return SMX_NO_OUTCOME;
	unsigned a = types[0] - 1;
	if (dice == 1)
		return SMX_DICECHESS_ROLLS - 6 + (int)a;
	unsigned b = types[1] - 1;
	if (dice == 2)
		return SMX_DICECHESS_OUTCOMES + smxi_dc_rolls.pair[a][b];
	return smxi_dc_rolls.triple[a][b][types[2] - 1];
}

unsigned smx_dicechess_dice(int outcome, enum smx_dicechess_piece types[3])
{
	smxi_dc_init();
	assert(outcome >= 0 && outcome < SMX_DICECHESS_ROLLS);
	unsigned dice = smxi_dc_rolls.count[outcome];
	for (unsigned i = 0; i < dice; i++)
		types[i] = (enum smx_dicechess_piece)(smxi_dc_rolls.dice[outcome][i] + 1);
	return dice;
}
