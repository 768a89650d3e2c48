/* What every subcommand shares: its definition, from which options are parsed, help is written and misspelt names
 * are answered; exit statuses; error messages; the position argument. */
#ifndef SMXI_CLI_COMMAND_H
#define SMXI_CLI_COMMAND_H

#include <starmax/starmax.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum smxi_exit {
	SMXI_EXIT_OK = 0,
	SMXI_EXIT_FAILURE = 1,      /* the work failed, or some lines of a file were bad */
	SMXI_EXIT_USAGE = 2,        /* the command line, or the position on it, is wrong */
	SMXI_EXIT_INTERRUPTED = 130 /* ended by a signal, after printing what was complete */
};

enum smxi_option_kind {
	SMXI_OPTION_END,
	SMXI_OPTION_FLAG,     /* no value; sets a bool */
	SMXI_OPTION_NUMBER,   /* least..most, or `word` for 0; sets a uint64_t */
	SMXI_OPTION_DURATION, /* a time of least..most ms, or `word` for 0; sets a uint64_t, in ms */
	SMXI_OPTION_SIZE,     /* least..most bytes, or `word` for 0; sets a struct smxi_given_size */
	SMXI_OPTION_CLOCK,    /* a time and an increment of least..most ms; sets a struct smxi_given_clock */
	SMXI_OPTION_CHOICE,   /* one of `choices`; sets an unsigned, its place among them */
	SMXI_OPTION_TEXT,     /* anything; sets a const char * into argv */
};

/* What an SMXI_OPTION_CLOCK sets. */
struct smxi_given_clock {
	bool given;
	uint64_t remaining_ms, increment_ms;
};

/* What an SMXI_OPTION_SIZE sets. */
struct smxi_given_size {
	bool given;
	uint64_t bytes;
};

/* The default of a NUMBER, DURATION or SIZE that stands for "not given": help shows no default, but what its line says. */
#define SMXI_UNSET UINT64_MAX

struct smxi_option {
	enum smxi_option_kind kind;
	const char *name;     /* without the dashes */
	size_t offset;        /* of what it sets, in the settings of its group */
	const char *help;     /* one line */
	const char *argument; /* what help calls the value; CHOICE: its choices instead */
	uint64_t least, most;
	const char *word;           /* NUMBER, DURATION and SIZE: NULL where no word is taken */
	const char *const *choices; /* NULL-terminated */
};

/* Entries of a table of options; `settings` is the type of what they fill and `field` the one that this option sets. */
#define SMXI_FLAG(settings, field, text, about)                                                    \
	{                                                                                              \
		.kind = SMXI_OPTION_FLAG, .name = text, .offset = offsetof(settings, field), .help = about \
	}
#define SMXI_NUMBER(settings, field, text, from, to, zero, about)                                                      \
	{                                                                                                                  \
		.kind = SMXI_OPTION_NUMBER, .name = text, .offset = offsetof(settings, field), .argument = "N", .least = from, \
		.most = to, .word = zero, .help = about                                                                        \
	}
#define SMXI_DURATION(settings, field, text, from, to, zero, about)                                          \
	{                                                                                                        \
		.kind = SMXI_OPTION_DURATION, .name = text, .offset = offsetof(settings, field), .argument = "TIME", \
		.least = from, .most = to, .word = zero, .help = about                                               \
	}
#define SMXI_SIZE(settings, field, text, from, to, zero, about)                                          \
	{                                                                                                    \
		.kind = SMXI_OPTION_SIZE, .name = text, .offset = offsetof(settings, field), .argument = "SIZE", \
		.least = from, .most = to, .word = zero, .help = about                                           \
	}
#define SMXI_CLOCK(settings, field, text, from, to, about)                            \
	{                                                                                 \
		.kind = SMXI_OPTION_CLOCK, .name = text, .offset = offsetof(settings, field), \
		.argument = "REMAINING[+INCREMENT]", .least = from, .most = to, .help = about \
	}
#define SMXI_CHOICE(settings, field, text, names, about)                                                               \
	{                                                                                                                  \
		.kind = SMXI_OPTION_CHOICE, .name = text, .offset = offsetof(settings, field), .choices = names, .help = about \
	}
#define SMXI_TEXT(settings, field, text, value, about)                                                                \
	{                                                                                                                 \
		.kind = SMXI_OPTION_TEXT, .name = text, .offset = offsetof(settings, field), .argument = value, .help = about \
	}
#define SMXI_NO_MORE_OPTIONS    \
	{                           \
		.kind = SMXI_OPTION_END \
	}

/* Options that every subcommand takes, also before the subcommand's name. */
struct smxi_common {
	const char *game; /* NULL: the default one */
	const char *isa;  /* NULL: the environment's, or the processor's best */
	bool help;
};

struct smxi_call {
	const struct smx_game *game;
	bool is_game_given;   /* by --game */
	const void *settings; /* the subcommand's own, filled from its defaults and the command line */
	char **words;         /* the arguments that are not options */
	int word_count;
};

#define SMXI_SETTINGS_MAX 512
#define SMXI_SHARED_MAX   2

/* Options that several subcommands have, and where in a subcommand's settings those are that they set. */
struct smxi_shared_options {
	const struct smxi_option *options; /* ends with SMXI_OPTION_END */
	size_t offset;
};

struct smxi_command {
	const char *name;
	const char *arguments;                    /* as help shows them; NULL: it takes none */
	const char *summary;                      /* one line */
	const char *details;                      /* more lines of help, or NULL */
	const struct smxi_shared_options *shared; /* at most SMXI_SHARED_MAX, ends with NULL options; NULL: none */
	const struct smxi_option *options;        /* ends with SMXI_OPTION_END; NULL: none of its own */
	const void *defaults; /* its settings before the command line is read; NULL where it has no options */
	size_t settings_size; /* at most SMXI_SETTINGS_MAX */
	enum smxi_exit (*run)(const struct smxi_call *call);
};

extern const struct smxi_command smxi_analyze_command, smxi_moves_command, smxi_eval_command, smxi_perft_command,
	smxi_play_command, smxi_verify_command, smxi_bench_command, smxi_scale_command, smxi_topology_command,
	smxi_version_command, smxi_help_command;

/* All of them, in the order in which help lists them; NULL-terminated. */
extern const struct smxi_command *const smxi_commands[];

/* The options of struct smxi_common. */
extern const struct smxi_option smxi_common_options[];

/* One set of options and the settings that they fill. */
struct smxi_option_group {
	const struct smxi_option *options;
	void *settings;
};

/* Read argv[1..argc) into the groups' settings. Words that are not options are moved to words[0..*word_count), which
 * has room for argc of them; with first_word_only reading ends after the first. Returns the index in argv of what
 * was not read (argc where all was), or 0 after an error, which has been printed. `command` names the help text to
 * look at; NULL: the general one. */
int smxi_command_parse(const struct smxi_command *command, const struct smxi_option_group *groups, size_t group_count,
                       int argc, char **argv, bool first_word_only, char **words, int *word_count);

/* The subcommand of that name; NULL after an error message. */
const struct smxi_command *smxi_command_find(const char *name);

/* Help on stdout (to_stderr: on stderr, where it answers a wrong use): of one subcommand, and the general one. */
void smxi_command_help(const struct smxi_command *command);
void smxi_command_overview(bool to_stderr);

/* "starmax: ...\n" on stderr. Text from outside goes through smxi_printable first. */
void smxi_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* text as one line of ASCII, other bytes as \xNN, cut to fit; returns `out`, or "(empty)" for an empty text. */
const char *smxi_printable(const char *text, char *out, size_t size);

/* "starmax: unknown <what> <text>; did you mean <nearest>?" on stderr, or with all the names where none is near.
 * Each name is shown behind `prefix`. */
void smxi_error_unknown(const char *what, const char *text, const char *prefix, const char *const *names, size_t count);

/* The game of that name; NULL after an error message. */
const struct smx_game *smxi_game_find(const char *name);

/* One of the game's evaluators by name; NULL after an error message, which calls it `what`. */
const struct smx_evaluator *smxi_evaluator_find(const struct smx_game *game, const char *what, const char *name);

/* The position that the call's words spell, joined by spaces; false after an error message. */
bool smxi_position_read(const struct smxi_call *call, struct smx_position *position);

/* What the environment variable says, read as an option's number is: least..most, or `word` for 0. Where it is not set
 * *number stays. False after an error message. */
bool smxi_environment_number(const char *variable, uint64_t least, uint64_t most, const char *word, uint64_t *number);

/* A number of decimal digits alone; false where text is none, or does not fit. */
bool smxi_number_read(const char *text, uint64_t *number);

/* True where the call has no words; else false after an error message. */
bool smxi_no_words(const struct smxi_call *call);

/* Ends the program: the command has no use for a failed allocation but to say so. */
_Noreturn void smxi_out_of_memory(void);

/* calloc and realloc that do not return NULL. */
void *smxi_allocate(size_t count, size_t size_bytes);
void *smxi_reallocate(void *old, size_t count, size_t size_bytes);

/* Milliseconds from a fixed moment. */
double smxi_clock_ms(void);

#endif
