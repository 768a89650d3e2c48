/* The starmax command: common options, then a subcommand with its own. */
#define _POSIX_C_SOURCE 200809L

#include "cli/command.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct smxi_command *const smxi_commands[] = {
	&smxi_analyze_command,  &smxi_moves_command,   &smxi_eval_command,  &smxi_perft_command,
	&smxi_play_command,     &smxi_verify_command,  &smxi_bench_command, &smxi_scale_command,
	&smxi_topology_command, &smxi_version_command, &smxi_help_command,  NULL,
};

#define DEFAULT_GAME "dicechess"

struct leading_settings {
	bool version;
};

static const struct smxi_option leading_options[] = {
	SMXI_FLAG(struct leading_settings, version, "version", "show the version"),
	SMXI_NO_MORE_OPTIONS,
};

/* The option overrides the environment. */
static bool choose_isa(const char *option)
{
	const char *name = option ? option : getenv("STARMAX_ISA");
	if (!name || smx_dicechess_isa_use(name, NULL) == SMX_OK)
		return true;
	const char *const *names = smx_dicechess_isa_names();
	size_t count = 0;
	while (names[count])
		count++;
	smxi_error_unknown(option ? "or unusable instruction set" : "or unusable instruction set in STARMAX_ISA:", name, "",
	                   names, count);
	return false;
}

static enum smxi_exit run_command(const struct smxi_command *command, struct smxi_common *common, int argc, char **argv)
{
	_Alignas(max_align_t) unsigned char settings[SMXI_SETTINGS_MAX] = {0};
	assert(command->settings_size <= sizeof settings);
	if (command->defaults)
		memcpy(settings, command->defaults, command->settings_size);
	struct smxi_option_group groups[2 + SMXI_SHARED_MAX] = {{command->options, settings},
	                                                        {smxi_common_options, common}};
	size_t group_count = 2;
	for (const struct smxi_shared_options *shared = command->shared; shared && shared->options; shared++)
		groups[group_count++] = (struct smxi_option_group){shared->options, settings + shared->offset};
	struct smxi_call call = {.settings = settings, .words = smxi_allocate((size_t)argc, sizeof *call.words)};
	enum smxi_exit status = SMXI_EXIT_USAGE;
	if (smxi_command_parse(command, groups, group_count, argc, argv, false, call.words, &call.word_count)) {
		call.is_game_given = common->game != NULL;
		if (common->help) {
			smxi_command_help(command);
			status = SMXI_EXIT_OK;
		} else if ((call.game = smxi_game_find(common->game ? common->game : DEFAULT_GAME)) &&
		           choose_isa(common->isa)) {
			status = command->run(&call);
		}
	}
	free(call.words);
	return status;
}

static enum smxi_exit run(int argc, char **argv)
{
	struct smxi_common common = {.game = NULL};
	struct leading_settings leading = {false};
	const struct smxi_option_group groups[] = {{leading_options, &leading}, {smxi_common_options, &common}};
	char *word = NULL;
	int word_count, rest = smxi_command_parse(NULL, groups, 2, argc, argv, true, &word, &word_count);
	if (!rest)
		return SMXI_EXIT_USAGE;
	if (common.help) {
		smxi_command_overview(false);
		return SMXI_EXIT_OK;
	}
	const struct smxi_command *command = leading.version ? &smxi_version_command : NULL;
	if (!command && !word) {
		smxi_command_overview(true);
		return SMXI_EXIT_USAGE;
	}
	if (!command && !(command = smxi_command_find(word)))
		return SMXI_EXIT_USAGE;
	/* What is left, behind the word that the subcommand sees as its own name. */
	if (leading.version && word)
		rest--;
	return run_command(command, &common, argc - rest + 1, argv + rest - 1);
}

int main(int argc, char **argv)
{
	enum smxi_exit status = run(argc, argv);
	if ((fflush(stdout) || ferror(stdout)) && (status == SMXI_EXIT_OK || status == SMXI_EXIT_INTERRUPTED)) {
		smxi_error("cannot write the output");
		return SMXI_EXIT_FAILURE;
	}
	return (int)status;
}
