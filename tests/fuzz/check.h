/* What the fuzz targets of position texts have in common. */
#ifndef TESTS_FUZZ_CHECK_H
#define TESTS_FUZZ_CHECK_H

#include <starmax/game.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not assert: a fuzz target must fail in release builds too. */
#define CHECK(claim)                                                            \
	do {                                                                        \
		if (!(claim)) {                                                         \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #claim); \
			abort();                                                            \
		}                                                                       \
	} while (0)

/* Of a text of `size` bytes, with *position full of 0xa5 before: nothing is touched, and the message can be printed. */
static inline void check_refusal(const struct smx_position *position, const struct smx_error *error, size_t size)
{
	const unsigned char *bytes = (const unsigned char *)position;
	for (size_t i = 0; i < sizeof *position; i++)
		CHECK(bytes[i] == 0xa5);
	CHECK(error->offset <= size);
	CHECK(error->message[0] != 0);
	CHECK(memchr(error->message, 0, sizeof error->message) != NULL);
	for (const char *c = error->message; *c; c++)
		CHECK(*c >= 0x20 && *c < 0x7f);
}

#endif
