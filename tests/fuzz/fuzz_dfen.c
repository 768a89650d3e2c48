/* Any bytes as a Dice Chess position: either refused in plain words with nothing touched, or read into a consistent
 * state that survives being written and read again, to the byte.
 *
 * fuzz_dfen -dict=dfen.dict -max_len=300 CORPUS_FOLDER */
#include "games/dicechess/board.h"
#include "tests/fuzz/check.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_state(const struct smx_position *position)
{
	struct smxi_dc_state s;
	memcpy(&s, position->state, sizeof s);
	struct smx_key key = smxi_dc_compute_key(&s);
	CHECK(memcmp(&key, &s.key, sizeof key) == 0);
	CHECK(s.material == smxi_dc_compute_material(&s));
	CHECK(s.side < 2 && s.rights < 16 && s.unused == 0);
	for (unsigned side = 0; side < 2; side++) {
		CHECK(__builtin_popcountll(smxi_dc_pieces(&s, SMX_KING | side << 3)) == 1);
		CHECK(__builtin_popcountll(smxi_dc_side(&s, side)) <= 16);
	}
	for (unsigned target = 0; target < 16; target++)
		if (s.targets >> target & 1)
			CHECK(smxi_dc_piece_at(&s, smxi_dc_target_pawn_square(target)) == (target < 8 ? SMX_PAWN : SMX_PAWN | 8u));
	CHECK(position->outcome >= SMX_NO_OUTCOME && position->outcome < SMX_DICECHESS_ROLLS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct smx_position position, again;
	memset(&position, 0xa5, sizeof position);
	struct smx_error error = {0, ""};
	enum smx_status status = smxi_dc_parse((const char *)data, size, &position, &error);
	if (status != SMX_OK) {
		CHECK(status == SMX_ERR_PARSE);
		check_refusal(&position, &error, size);
		CHECK(smxi_dc_parse((const char *)data, size, &position, NULL) == SMX_ERR_PARSE);
		return 0;
	}
	check_state(&position);

	char once[SMX_TEXT_MAX], twice[SMX_TEXT_MAX];
	size_t length = smxi_dc_format(&position, once);
	CHECK(length < SMX_TEXT_MAX && strlen(once) == length);
	CHECK(smxi_dc_parse(once, length, &again, NULL) == SMX_OK);
	CHECK(memcmp(position.state, again.state, sizeof again.state) == 0);
	CHECK(position.outcome == again.outcome);
	CHECK(smxi_dc_format(&again, twice) == length && strcmp(once, twice) == 0);
	return 0;
}
