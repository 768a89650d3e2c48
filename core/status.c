#include <starmax/status.h>

const char *smx_status_str(enum smx_status status)
{
	switch (status) {
	case SMX_OK:
		return "ok";
	case SMX_ERR_PARSE:
		return "malformed text";
	case SMX_ERR_ARGUMENT:
		return "bad argument";
	case SMX_ERR_MEMORY:
		return "out of memory";
	case SMX_ERR_IMPURE:
		return "impure evaluator";
	case SMX_ERR_BOUNDS:
		return "value out of bounds";
	case SMX_ERR_FILE:
		return "file trouble";
	}
	return "unknown status";
}
