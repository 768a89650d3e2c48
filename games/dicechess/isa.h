/* The functions that are compiled once per instruction set (kernel.c, turns.c), and the choice between them. */
#ifndef SMXI_DICECHESS_ISA_H
#define SMXI_DICECHESS_ISA_H

#include "games/dicechess/board.h"

/* What the fold hook needs to know of an evaluator: that it is a non-decreasing function of the evaluated side's material. */
struct smxi_dc_fold {
	smx_value (*value)(const void *context, int balance_cp);
	const void *context;
};

struct smxi_dc_kernel {
	const char *name;
	const void *(*open)(const void *state, struct smx_arena *arena);
	enum smx_node (*afterstates)(const void *expansion, unsigned outcome, struct smx_arena *arena,
	                             struct smx_afterstates *list);
	void (*fold)(const void *expansion, const struct smx_evaluator *evaluator, uint64_t outcomes,
	             unsigned evaluated_side, smx_value *values);
	void (*look)(const void *states, size_t count, const struct smx_evaluator *evaluator, unsigned evaluated_side,
	             unsigned depth, struct smx_glance *glances);
	bool (*bound)(const void *state, const struct smx_evaluator *evaluator, unsigned evaluated_side, unsigned depth,
	              unsigned stage, struct smx_glance *glance);
	void (*turns)(const struct smx_position *position, smx_turn_visitor *visit, void *context);
	bool (*king_attacked)(const struct smxi_dc_state *state, unsigned side);
	bool (*queen_capture)(const struct smxi_dc_state *state, int outcome);
	uint64_t (*perft)(const struct smxi_dc_state *state, unsigned die, unsigned depth);
};

/* How every expansion begins. */
struct smxi_dc_expansion_head {
	uint64_t won; /* the rolls on which the mover can take the king */
};

/* The game's make_evaluator and evaluator_forms. */
enum smx_status smxi_dc_make_evaluator(const char *name, const struct smx_evaluator **evaluator,
                                       struct smx_error *error);
extern const char smxi_dc_evaluator_forms[];

/* The kernel in use. Tables are filled when it returns. */
const struct smxi_dc_kernel *smxi_dc_kernel(void);

#define SMXI_DC_PASTE_(a, b) a##_##b
#define SMXI_DC_PASTE(a, b)  SMXI_DC_PASTE_(a, b)
/* In files compiled per instruction set: an external name of this set's own. */
#define SMXI_DC_ISA(name)    SMXI_DC_PASTE(name, SMXI_ISA)

#endif
