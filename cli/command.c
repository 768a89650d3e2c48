/* Options by one table: getopt_long splits the command line, the table says what each option takes. Abbreviated
 * option names, which getopt_long would accept, are refused: a name that is short for one option today may be short
 * for two tomorrow. */
#define _POSIX_C_SOURCE 200809L

#include "cli/command.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAMES_MAX    64
#define FIRST_OPTION 256 /* getopt's values for long options, above every character */

const struct smxi_option smxi_common_options[] = {
	SMXI_TEXT(struct smxi_common, game, "game", "NAME", "the game (default dicechess)"),
	SMXI_TEXT(struct smxi_common, isa, "isa", "NAME",
              "instruction set of the move generator (default: $STARMAX_ISA, else the best)"),
	SMXI_FLAG(struct smxi_common, help, "help", "show this help"),
	SMXI_NO_MORE_OPTIONS,
};

void smxi_error(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("starmax: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

void smxi_out_of_memory(void)
{
	smxi_error("out of memory");
	exit(SMXI_EXIT_FAILURE);
}

void *smxi_allocate(size_t count, size_t size_bytes)
{
	void *memory = calloc(count ? count : 1, size_bytes);
	if (!memory)
		smxi_out_of_memory();
	return memory;
}

void *smxi_reallocate(void *old, size_t count, size_t size_bytes)
{
	void *memory = count > SIZE_MAX / size_bytes ? NULL : realloc(old, count * size_bytes);
	if (!memory)
		smxi_out_of_memory();
	return memory;
}

double smxi_clock_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

const char *smxi_printable(const char *text, char *out, size_t size)
{
	size_t used = 0;
	if (!*text)
		return "(empty)";
	for (; *text && used + 5 <= size; text++) {
		unsigned char byte = (unsigned char)*text;
		if (byte >= 0x20 && byte < 0x7f)
			out[used++] = (char)byte;
		else
			used += (size_t)snprintf(out + used, size - used, "\\x%02x", byte);
	}
	out[used] = '\0';
	return out;
}

static unsigned least3(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;
	return ab < c ? ab : c;
}

/* Letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
static unsigned edit_distance(const char *a, const char *b)
{
	enum { LONGEST = 32 };
	unsigned row[3][LONGEST + 1];
	size_t a_length = strlen(a), b_length = strlen(b);
	if (a_length > LONGEST || b_length > LONGEST)
		return LONGEST;
	unsigned *before = row[0], *above = row[1], *here = row[2];
	for (unsigned j = 0; j <= b_length; j++)
		above[j] = j;
	for (unsigned i = 1; i <= a_length; i++) {
		here[0] = i;
		for (unsigned j = 1; j <= b_length; j++) {
			here[j] = least3(above[j] + 1, here[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < here[j])
				here[j] = before[j - 2] + 1;
		}
		unsigned *oldest = before;
		before = above;
		above = here;
		here = oldest;
	}
	return above[b_length];
}

void smxi_error_unknown(const char *what, const char *text, const char *prefix, const char *const *names, size_t count)
{
	char shown[200];
	size_t length = strlen(text), nearest = count;
	unsigned nearest_distance = UINT32_MAX;
	for (size_t i = 0; i < count; i++) {
		/* The beginning of a name is nearer to it than any misspelling is to another. */
		unsigned distance = length && !strncmp(names[i], text, length) ? 0 : edit_distance(text, names[i]) + 1;
		if (distance < nearest_distance) {
			nearest = i;
			nearest_distance = distance;
		}
	}
	fprintf(stderr, "starmax: unknown %s %s%s", what, length ? prefix : "", smxi_printable(text, shown, sizeof shown));
	if (nearest < count && nearest_distance <= (length < 6 ? 2 : length / 3) + 1) {
		fprintf(stderr, "; did you mean %s%s?\n", prefix, names[nearest]);
		return;
	}
	for (size_t i = 0; i < count; i++)
		fprintf(stderr, "%s%s%s", i ? ", " : "; there is ", prefix, names[i]);
	fputc('\n', stderr);
}

const struct smx_game *smxi_game_find(const char *name)
{
	const struct smx_game *game = smx_game_find(name);
	if (game)
		return game;
	const char *names[NAMES_MAX];
	size_t count = 0;
	for (; smx_games[count] && count < NAMES_MAX; count++)
		names[count] = smx_games[count]->name;
	smxi_error_unknown("game", name, "", names, count);
	return NULL;
}

const struct smx_evaluator *smxi_evaluator_find(const struct smx_game *game, const char *what, const char *name)
{
	const struct smx_evaluator *evaluator = smx_game_evaluator(game, name);
	if (evaluator)
		return evaluator;
	struct smx_error error;
	if (game->make_evaluator && game->make_evaluator(name, &evaluator, &error) != SMX_OK) {
		char shown[200];
		smxi_error("%s %s: %s", what, smxi_printable(name, shown, sizeof shown), error.message);
		return NULL;
	}
	const char *names[NAMES_MAX];
	size_t count = 0;
	for (; game->evaluators[count] && count < NAMES_MAX; count++)
		names[count] = game->evaluators[count]->name;
	smxi_error_unknown(what, name, "", names, count);
	return NULL;
}

const struct smxi_command *smxi_command_find(const char *name)
{
	const char *names[NAMES_MAX];
	size_t count = 0;
	for (; smxi_commands[count]; count++) {
		if (!strcmp(smxi_commands[count]->name, name))
			return smxi_commands[count];
		names[count] = smxi_commands[count]->name;
	}
	smxi_error_unknown("subcommand", name, "", names, count);
	return NULL;
}

bool smxi_number_read(const char *text, uint64_t *number)
{
	if (!*text || strspn(text, "0123456789") != strlen(text))
		return false;
	errno = 0;
	*number = strtoull(text, NULL, 10);
	return !errno;
}

/* least..most, or `word` (NULL: none) for 0; false after an error message, in which it is `what` that takes such a number. */
static bool read_number(const char *what, uint64_t least, uint64_t most, const char *word, const char *text,
                        uint64_t *number)
{
	char shown[200];
	if (word && !strcmp(text, word)) {
		*number = 0;
		return true;
	}
	if (smxi_number_read(text, number) && *number >= least && *number <= most)
		return true;
	smxi_error("%s takes a number from %llu to %llu%s%s, not %s", what, (unsigned long long)least,
	           (unsigned long long)most, word ? " or " : "", word ? word : "",
	           smxi_printable(text, shown, sizeof shown));
	return false;
}

static bool set_number(const struct smxi_option *option, const char *text, uint64_t *number)
{
	char what[80];
	snprintf(what, sizeof what, "option --%s", option->name);
	return read_number(what, option->least, option->most, option->word, text, number);
}

bool smxi_environment_number(const char *variable, uint64_t least, uint64_t most, const char *word, uint64_t *number)
{
	const char *text = getenv(variable);
	return !text || read_number(variable, least, most, word, text, number);
}

/* The time that text[0..length) spells, rounded down to milliseconds; false where it spells none or is out of range. */
static bool read_time(const struct smxi_option *option, const char *text, size_t length, uint64_t *time_ms)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = {{"", 1}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
	static const char digits[] = "0123456789";
	size_t point = strspn(text, digits), unit_at = point;
	if (text[point] == '.')
		unit_at += 1 + strspn(text + point + 1, digits);
	if (!point || unit_at == point + 1)
		return false;
	/* a fraction needs a unit: 2.5 alone is more likely to be meant in seconds */
	size_t unit = unit_at == point ? 0 : 1, unit_count = sizeof units / sizeof units[0];
	while (unit < unit_count && (strlen(units[unit].name) != length - unit_at ||
	                             strncmp(units[unit].name, text + unit_at, length - unit_at)))
		unit++;
	if (unit == unit_count)
		return false;
	uint64_t whole = strtoull(text, NULL, 10); /* UINT64_MAX where it does not fit */
	uint64_t fraction_ms = 0;                  /* from the last digit on; rounding down at each rounds the whole down */
	for (size_t i = unit_at; i > point + 1; i--)
		fraction_ms = (fraction_ms + (uint64_t)(text[i - 1] - '0') * units[unit].ms) / 10;
	if (whole > option->most / units[unit].ms)
		return false;
	*time_ms = whole * units[unit].ms + fraction_ms;
	return *time_ms >= option->least && *time_ms <= option->most;
}

static bool set_duration(const struct smxi_option *option, const char *text, uint64_t *time_ms)
{
	char shown[200];
	if (option->word && !strcmp(text, option->word)) {
		*time_ms = 0;
		return true;
	}
	if (read_time(option, text, strlen(text), time_ms))
		return true;
	smxi_error("option --%s takes a time from %llu to %llu ms, such as 500, 500ms, 2.5s, 1m or 1h%s%s, not %s",
	           option->name, (unsigned long long)option->least, (unsigned long long)option->most,
	           option->word ? ", or " : "", option->word ? option->word : "",
	           smxi_printable(text, shown, sizeof shown));
	return false;
}

static const struct {
	char letter;
	unsigned bits;
} size_units[] = {{'K', 10}, {'M', 20}, {'G', 30}};
enum { SIZE_UNITS = sizeof size_units / sizeof size_units[0] };

/* Whole bytes, or a whole number of a unit. */
static bool read_size(const struct smxi_option *option, const char *text, uint64_t *bytes)
{
	char digits[32];
	size_t length = strlen(text), bits = 0;
	for (size_t i = 0; length && i < SIZE_UNITS && !bits; i++) {
		if (text[length - 1] == size_units[i].letter)
			bits = size_units[i].bits;
	}
	length -= bits != 0;
	if (length >= sizeof digits)
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	uint64_t number;
	if (!smxi_number_read(digits, &number) || number > option->most >> bits)
		return false;
	*bytes = number << bits;
	return *bytes >= option->least;
}

static bool set_size(const struct smxi_option *option, const char *text, struct smxi_given_size *size)
{
	char shown[200];
	size->given = true;
	if (option->word && !strcmp(text, option->word)) {
		size->bytes = 0;
		return true;
	}
	if (read_size(option, text, &size->bytes))
		return true;
	smxi_error("option --%s takes a size from %llu to %llu bytes, such as 1048576, 512K, 64M or 2G%s%s, not %s",
	           option->name, (unsigned long long)option->least, (unsigned long long)option->most,
	           option->word ? ", or " : "", option->word ? option->word : "",
	           smxi_printable(text, shown, sizeof shown));
	return false;
}

static bool set_clock(const struct smxi_option *option, const char *text, struct smxi_given_clock *clock)
{
	char shown[200];
	size_t length = strcspn(text, "+");
	const char *increment = text[length] ? text + length + 1 : "0";
	if (read_time(option, text, length, &clock->remaining_ms) &&
	    read_time(option, increment, strlen(increment), &clock->increment_ms)) {
		clock->given = true;
		return true;
	}
	smxi_error("option --%s takes %s, each a time from %llu to %llu ms, such as 60000+1000, 1m+2.5s or 5m, not %s",
	           option->name, option->argument, (unsigned long long)option->least, (unsigned long long)option->most,
	           smxi_printable(text, shown, sizeof shown));
	return false;
}

static bool set_choice(const struct smxi_option *option, const char *text, unsigned *choice)
{
	size_t count = 0;
	for (; option->choices[count]; count++) {
		if (!strcmp(option->choices[count], text)) {
			*choice = (unsigned)count;
			return true;
		}
	}
	char what[80];
	snprintf(what, sizeof what, "value for option --%s:", option->name);
	smxi_error_unknown(what, text, "", option->choices, count);
	return false;
}

static bool set_option(const struct smxi_option *option, void *settings, const char *text)
{
	char *target = (char *)settings + option->offset;
	switch (option->kind) {
	case SMXI_OPTION_FLAG:
		*(bool *)(void *)target = true;
		return true;
	case SMXI_OPTION_NUMBER:
		return set_number(option, text, (uint64_t *)(void *)target);
	case SMXI_OPTION_DURATION:
		return set_duration(option, text, (uint64_t *)(void *)target);
	case SMXI_OPTION_SIZE:
		return set_size(option, text, (struct smxi_given_size *)(void *)target);
	case SMXI_OPTION_CLOCK:
		return set_clock(option, text, (struct smxi_given_clock *)(void *)target);
	case SMXI_OPTION_CHOICE:
		return set_choice(option, text, (unsigned *)(void *)target);
	case SMXI_OPTION_TEXT:
		*(const char **)(void *)target = text;
		return true;
	case SMXI_OPTION_END:
		break;
	}
	return false;
}

/* The groups' options as getopt_long wants them, and as names; their order is the index behind FIRST_OPTION. */
struct option_list {
	const struct smxi_option *option[NAMES_MAX];
	void *settings[NAMES_MAX];
	const char *name[NAMES_MAX];
	struct option getopt[NAMES_MAX + 1];
	size_t count;
};

static void list_options(struct option_list *list, const struct smxi_option_group *groups, size_t group_count)
{
	memset(list, 0, sizeof *list);
	for (size_t g = 0; g < group_count; g++) {
		for (const struct smxi_option *option = groups[g].options; option && option->kind != SMXI_OPTION_END;
		     option++) {
			size_t i = list->count++;
			assert(i < NAMES_MAX);
			list->option[i] = option;
			list->settings[i] = groups[g].settings;
			list->name[i] = option->name;
			list->getopt[i].name = option->name;
			list->getopt[i].has_arg = option->kind == SMXI_OPTION_FLAG ? no_argument : required_argument;
			list->getopt[i].val = FIRST_OPTION + (int)i;
		}
	}
}

/* Say what is wrong with the option in `word` ("--name" or "--name=value"), which getopt_long refused or took for a
 * longer one. */
static void refuse_option(const struct option_list *list, const char *word)
{
	char shown[200], name[128];
	if (strncmp(word, "--", 2)) {
		smxi_error("unknown option %s; options begin with two dashes", smxi_printable(word, shown, sizeof shown));
		return;
	}
	size_t length = strcspn(word + 2, "=");
	if (length >= sizeof name)
		length = sizeof name - 1;
	memcpy(name, word + 2, length);
	name[length] = '\0';
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->name[i], name))
			continue;
		if (list->option[i]->kind == SMXI_OPTION_FLAG)
			smxi_error("option --%s takes no value", name);
		else
			smxi_error("option --%s needs a value", name);
		return;
	}
	smxi_error_unknown("option", name, "--", list->name, list->count);
}

int smxi_command_parse(const struct smxi_command *command, const struct smxi_option_group *groups, size_t group_count,
                       int argc, char **argv, bool first_word_only, char **words, int *word_count)
{
	struct option_list list;
	list_options(&list, groups, group_count);
	opterr = 0;
	optind = 0; /* glibc: begin anew */
	*word_count = 0;
	for (int at = 1;;) {
		/* "-" hands over words and options in order, so argv[at] is what the next call reads. */
		int found = getopt_long(argc, argv, "-:", list.getopt, NULL);
		const char *word = at < argc ? argv[at] : NULL;
		at = optind;
		if (found == -1 || !word)
			break;
		if (found == 1) {
			words[(*word_count)++] = optarg;
			if (first_word_only)
				return optind;
			continue;
		}
		size_t index = (size_t)(found - FIRST_OPTION);
		bool exact = found >= FIRST_OPTION && strcspn(word + 2, "=") == strlen(list.name[index]);
		if (!exact)
			refuse_option(&list, word);
		if (!exact || !set_option(list.option[index], list.settings[index], optarg)) {
			fprintf(stderr, "See starmax%s%s --help.\n", command ? " " : "", command ? command->name : "");
			return 0;
		}
	}
	while (optind < argc && !(first_word_only && *word_count))
		words[(*word_count)++] = argv[optind++]; /* after "--" */
	return optind;
}

/* In the largest unit that leaves a whole number. */
static void print_default_size(const struct smxi_option *option, uint64_t bytes)
{
	if (bytes == SMXI_UNSET)
		return; /* its help says what it is */
	if (!bytes && option->word) {
		printf(" (default %s)", option->word);
		return;
	}
	for (size_t i = SIZE_UNITS; i-- > 0;) {
		if (bytes && bytes % (UINT64_C(1) << size_units[i].bits) == 0) {
			printf(" (default %llu%c)", (unsigned long long)(bytes >> size_units[i].bits), size_units[i].letter);
			return;
		}
	}
	printf(" (default %llu)", (unsigned long long)bytes);
}

static void print_default(const struct smxi_option *option, const void *defaults)
{
	const char *source = (const char *)defaults + option->offset;
	if (option->kind == SMXI_OPTION_CHOICE) {
		printf(" (default %s)", option->choices[*(const unsigned *)(const void *)source]);
	} else if (option->kind == SMXI_OPTION_NUMBER || option->kind == SMXI_OPTION_DURATION) {
		uint64_t number = *(const uint64_t *)(const void *)source;
		if (number == SMXI_UNSET)
			return;
		if (number || !option->word)
			printf(" (default %llu)", (unsigned long long)number);
		else
			printf(" (default %s)", option->word);
	} else if (option->kind == SMXI_OPTION_SIZE) {
		print_default_size(option, ((const struct smxi_given_size *)(const void *)source)->bytes);
	}
}

/* "--name VALUE" as help shows it; returns its length. */
static size_t option_usage(const struct smxi_option *option, char *text, size_t size)
{
	int length = snprintf(text, size, "--%s", option->name);
	if (option->kind == SMXI_OPTION_CHOICE) {
		for (size_t i = 0; option->choices[i]; i++)
			length += snprintf(text + length, size - (size_t)length, "%c%s", i ? '|' : ' ', option->choices[i]);
	} else if (option->kind != SMXI_OPTION_FLAG) {
		length += snprintf(text + length, size - (size_t)length, " %s%s%s", option->argument, option->word ? "|" : "",
		                   option->word ? option->word : "");
	}
	return (size_t)length;
}

static void print_options(const struct smxi_option *options, const void *defaults)
{
	for (; options && options->kind != SMXI_OPTION_END; options++) {
		char usage[128];
		option_usage(options, usage, sizeof usage);
		printf("  %-36s%s", usage, options->help);
		if (defaults)
			print_default(options, defaults);
		putchar('\n');
	}
}

void smxi_command_help(const struct smxi_command *command)
{
	printf("Usage: starmax %s [options]%s%s\n\n%s\n", command->name, command->arguments ? " " : "",
	       command->arguments ? command->arguments : "", command->summary);
	if (command->details)
		printf("\n%s\n", command->details);
	puts("\nOptions:");
	for (const struct smxi_shared_options *shared = command->shared; shared && shared->options; shared++)
		print_options(shared->options, (const char *)command->defaults + shared->offset);
	print_options(command->options, command->defaults);
	print_options(smxi_common_options, NULL);
}

void smxi_command_overview(bool to_stderr)
{
	FILE *out = to_stderr ? stderr : stdout;
	fprintf(out, "Usage: starmax [--game NAME] [--isa NAME] <subcommand> [options] [arguments]\n"
	             "       starmax --version | --help\n\n"
	             "Searches games of chance exactly.\n\nSubcommands:\n");
	for (size_t i = 0; smxi_commands[i]; i++)
		fprintf(out, "  %-10s%s\n", smxi_commands[i]->name, smxi_commands[i]->summary);
	fputs("\nGames:\n", out);
	for (size_t i = 0; smx_games[i]; i++) {
		const struct smx_evaluator *const *evaluator = smx_games[i]->evaluators;
		fprintf(out, "  %-10s%s; evaluators", smx_games[i]->name, smx_games[i]->title);
		for (; *evaluator; evaluator++)
			fprintf(out, " %s", (*evaluator)->name);
		if (smx_games[i]->evaluator_forms)
			fprintf(out, " %s", smx_games[i]->evaluator_forms);
		fputs("; measures outcomes", out);
		for (const struct smx_measure *measure = smx_games[i]->measures; measure && measure->name; measure++)
			fprintf(out, " %s (%s)", measure->name, measure->title);
		fputc('\n', out);
	}
	fputs("\nstarmax <subcommand> --help says more. Exit status: 0 done; 1 failed, or bad lines in a file;\n"
	      "2 wrong use or a bad position; 130 interrupted.\n",
	      out);
}

bool smxi_no_words(const struct smxi_call *call)
{
	char shown[200];
	if (!call->word_count)
		return true;
	smxi_error("unexpected argument %s", smxi_printable(call->words[0], shown, sizeof shown));
	return false;
}

bool smxi_position_read(const struct smxi_call *call, struct smx_position *position)
{
	if (!call->word_count) {
		smxi_error("a position is missing; the first one is \"%s\"", call->game->start);
		return false;
	}
	size_t size = 1;
	for (int i = 0; i < call->word_count; i++)
		size += strlen(call->words[i]) + 1;
	char *text = smxi_allocate(size, 1);
	size_t length = 0;
	for (int i = 0; i < call->word_count; i++) {
		if (i)
			text[length++] = ' ';
		size_t word_length = strlen(call->words[i]);
		memcpy(text + length, call->words[i], word_length);
		length += word_length;
	}
	struct smx_error error = {0};
	bool ok = call->game->parse(text, length, position, &error) == SMX_OK;
	if (!ok) {
		char shown[200];
		smxi_error("bad position: %s", error.message);
		/* The place is shown where one printed column is one byte. */
		if (length < sizeof shown / 4 * 3 && !strcmp(smxi_printable(text, shown, sizeof shown), text))
			fprintf(stderr, "  %s\n  %*s^\n", text, (int)error.offset, "");
	}
	free(text);
	return ok;
}
