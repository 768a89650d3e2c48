/* Any bytes as a 2048 position: either refused in plain words with nothing touched, or read into a consistent state that survives being
 * written and read again, to the byte.
 *
 * fuzz_2048 -dict=2048.dict -max_len=100 CORPUS_FOLDER */
#include "tests/fuzz/check.h"

#include <starmax/twenty48.h>

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned count_empty(uint64_t board)
{
	unsigned empty = 0;
	for (; board; board >>= 4)
		empty += (board & 15) != 0;
	return 16 - empty;
}

static void check_position(const struct smx_position *position)
{
	CHECK(smx_2048.self_check(position->state));
	const unsigned empty = count_empty(smx_2048_board(position->state));
	if (position->outcome == SMX_NO_OUTCOME)
		CHECK(empty > 0);
	else if (position->outcome == SMX_2048_PLACED)
		CHECK(empty < 16);
	else
		CHECK(position->outcome >= 0 && position->outcome < 2 * (int)empty);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct smx_position position, again;
	memset(&position, 0xa5, sizeof position);
	struct smx_error error = {0, ""};
	enum smx_status status = smx_2048.parse((const char *)data, size, &position, &error);
	if (status != SMX_OK) {
		CHECK(status == SMX_ERR_PARSE);
		check_refusal(&position, &error, size);
		CHECK(smx_2048.parse((const char *)data, size, &position, NULL) == SMX_ERR_PARSE);
		return 0;
	}
	check_position(&position);

	char once[SMX_TEXT_MAX], twice[SMX_TEXT_MAX], drawing[SMX_DRAWING_MAX];
	const size_t length = smx_2048.format(&position, once);
	CHECK(length < SMX_TEXT_MAX && strlen(once) == length);
	CHECK(smx_2048.parse(once, length, &again, NULL) == SMX_OK);
	CHECK(memcmp(position.state, again.state, smx_2048.state_size) == 0);
	CHECK(position.outcome == again.outcome);
	CHECK(smx_2048.format(&again, twice) == length && strcmp(once, twice) == 0);
	const size_t drawn = smx_2048.draw(&position, drawing);
	CHECK(drawn < SMX_DRAWING_MAX && strlen(drawing) == drawn);
	return 0;
}
