#include "cli/command.h"

#include <stddef.h>

static enum smxi_exit run(const struct smxi_call *call)
{
	if (!call->word_count) {
		smxi_command_overview(false);
		return SMXI_EXIT_OK;
	}
	for (int i = 0; i < call->word_count; i++) {
		const struct smxi_command *command = smxi_command_find(call->words[i]);
		if (!command)
			return SMXI_EXIT_USAGE;
		smxi_command_help(command);
	}
	return SMXI_EXIT_OK;
}

const struct smxi_command smxi_help_command = {
	.name = "help",
	.arguments = "[<subcommand>]",
	.summary = "explain a subcommand",
	.run = run,
};
