#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>

enum { ESCAPED = 4 }; /* characters of \xNN */

enum smx_status smxi_refuse(struct smx_error *error, enum smx_status status, const char *format, ...)
{
	if (!error)
		return status;
	char raw[sizeof error->message];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(raw, sizeof raw, format, arguments);
	va_end(arguments);
	char *out = error->message, *const end = error->message + sizeof error->message;
	for (const char *c = raw; *c && end - out > ESCAPED; c++) {
		const unsigned char byte = (unsigned char)*c;
		if (byte >= 0x20 && byte < 0x7f)
			*out++ = *c;
		else
			out += snprintf(out, ESCAPED + 1, "\\x%02x", (unsigned)byte);
	}
	*out = '\0';
	error->offset = 0;
	return status;
}
