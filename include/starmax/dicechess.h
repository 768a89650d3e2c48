/* Dice Chess: three dice name piece types, a turn moves up to three times, the king is captured.
 * Rules and notation: docs/dicechess.md. States come from smx_dicechess.parse and from the search. */
#ifndef STARMAX_DICECHESS_H
#define STARMAX_DICECHESS_H

#include <starmax/game.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const struct smx_game smx_dicechess;

/* material: P 100, N 300, B 300, R 500, Q 900, K 10000 in centipawns; standard: material, and -2000 where the evaluated side's king
 * is attacked. Reference scale: a loss is -1e9, a win +10001; 16 bits of scale. */
extern const struct smx_evaluator smx_dicechess_material;
extern const struct smx_evaluator smx_dicechess_standard;

/* winprob, winprob-standard: 1/(1+e^(-m/1200)) of the two above, a win probability in [0, 1]; a loss is 0, a win 1; 40 bits of scale.
 * smx_game_evaluator makes them with another constant than 1200, a whole number of centipawns from 100 to 10000: "winprob:800",
 * "winprob-standard:800". Each one made takes some 2 KiB until the process ends; "winprob:1200" is smx_dicechess_winprob itself. */
extern const struct smx_evaluator smx_dicechess_winprob;
extern const struct smx_evaluator smx_dicechess_winprob_standard;

#define SMX_DICECHESS_WINPROB_CP       1200
#define SMX_DICECHESS_WINPROB_CP_LEAST 100
#define SMX_DICECHESS_WINPROB_CP_MOST  10000

enum smx_dicechess_side { SMX_WHITE = 0, SMX_BLACK = 1 };

enum smx_dicechess_piece { SMX_NO_PIECE = 0, SMX_PAWN, SMX_KNIGHT, SMX_BISHOP, SMX_ROOK, SMX_QUEEN, SMX_KING };

#define SMX_DICECHESS_BLACK    8  /* added to a piece in board codes */
#define SMX_DICECHESS_OUTCOMES 56 /* full rolls, in the order PPP, PPN, ..., KKK */
#define SMX_DICECHESS_TOTAL    216
#define SMX_DICECHESS_ROLLS    83 /* outcomes with 3, then 2, then 1 dice: 56 + 21 + 6 */

/* Fill board[a1 = 0, b1 = 1, ..., h8 = 63] with piece codes (0 empty, 1..6 White, 9..14 Black). For users' evaluators. */
void smx_dicechess_board(const void *state, unsigned char board[64]);

/* The outcome number of `dice` dice (1..3) of the given piece types in any order, or SMX_NO_OUTCOME. */
int smx_dicechess_roll(const enum smx_dicechess_piece *types, unsigned dice);

/* The piece types of an outcome's dice, ascending; returns how many (1..3). 0 <= outcome < SMX_DICECHESS_ROLLS. */
unsigned smx_dicechess_dice(int outcome, enum smx_dicechess_piece types[3]);

/* The chance, in 216ths, that `side` can take the enemy king, or an enemy queen, with its next roll if it is its turn in this
 * position; whose turn the state says it is does not matter. For the queen any sequence of micro-moves within the dice
 * counts. Memory: the arena, released on return; -1 where it has none. */
int smx_dicechess_king_capture_216(const void *state, enum smx_dicechess_side side, struct smx_arena *arena);
int smx_dicechess_queen_capture_216(const void *state, enum smx_dicechess_side side);

/* Sequences of depth_moves micro-moves of one piece type, the sides taking turns after each. Castling is a king's move; captures
 * of the king are counted and not continued. */
uint64_t smx_dicechess_perft(const void *state, enum smx_dicechess_piece type, unsigned depth_moves);

/* Which instruction set the move generator uses: "generic", "x86-64-v2", "x86-64-v3", "x86-64-v4". smx_dicechess_isa_names lists
 * those compiled in and usable on this processor, best last, NULL-terminated; the best is chosen at first use.
 * smx_dicechess_isa_use forces another: SMX_ERR_ARGUMENT for a name not usable here. It must not be called while a search is running.
 * Results do not depend on it. */
const char *smx_dicechess_isa(void);
const char *const *smx_dicechess_isa_names(void);
enum smx_status smx_dicechess_isa_use(const char *name, struct smx_error *error);

#ifdef __cplusplus
}
#endif

#endif
