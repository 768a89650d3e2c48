/* Status codes and error messages. Bad input is a status with a message; a broken invariant is an assert. */
#ifndef STARMAX_STATUS_H
#define STARMAX_STATUS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum smx_status {
	SMX_OK = 0,
	SMX_ERR_PARSE,    /* text that is not what it should be; the message names the field, the text and the reason */
	SMX_ERR_ARGUMENT, /* a parameter out of its documented range */
	SMX_ERR_MEMORY,   /* memory could not be had; the object is unchanged */
	SMX_ERR_IMPURE,   /* an evaluator gave one position two values */
	SMX_ERR_BOUNDS,   /* an evaluator left its stated bounds, or its bounds do not fit 64-bit sums */
	SMX_ERR_FILE,     /* a file could not be read or written, or is not the one that was asked for */
};

/* Filled where a function takes one and does not return SMX_OK; untouched otherwise. NULL may be passed anywhere. */
struct smx_error {
	size_t offset;     /* parsers: byte offset of the offending text in the input; else 0 */
	char message[256]; /* one line, no newline at its end, NUL-terminated, plain ASCII (other bytes shown as \xNN) */
};

/* A constant English word or two for a status; never NULL. Thread-safe. */
const char *smx_status_str(enum smx_status status);

#ifdef __cplusplus
}
#endif

#endif
