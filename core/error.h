/* How core refuses: a status, and a message where the caller wants one. */
#ifndef SMXI_ERROR_H
#define SMXI_ERROR_H

#include <starmax/status.h>

/* Fill *error, unless it is NULL, with the formatted message at offset 0, and return status. Bytes that are not printable ASCII
 * are shown as \xNN and what does not fit is cut off: text from a caller may be formatted as it is. */
enum smx_status smxi_refuse(struct smx_error *error, enum smx_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
