#define _POSIX_C_SOURCE 200809L

#include "cli/transcript.h"

#include "cli/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void smxi_transcript_open(struct smxi_transcript *transcript, const struct smxi_contest *contest, uint64_t seed,
                          unsigned first)
{
	char text[SMX_TEXT_MAX];
	FILE *stream = transcript->stream = open_memstream(&transcript->text, &transcript->size);
	if (!stream)
		smxi_out_of_memory();
	contest->game->format(&contest->start, text);
	fprintf(stream, "# starmax transcript\n# version %s\n# game %s\n# start %s\n# seed %" PRIu64 "\n", smx_version(),
	        contest->game->name, text, seed);
	fprintf(stream, "# turns-max %" PRIu64 "\n# first %s\n", contest->turns_max, smxi_player_names[first]);
	for (unsigned i = 0; i < contest->player_count; i++)
		fprintf(stream, "# player %s: %s\n", smxi_player_names[i], contest->players[i].words);
}

void smxi_transcript_add(struct smxi_transcript *transcript, const struct smxi_contest *contest,
                         const struct smx_position *position, unsigned player, const struct smxi_chosen *chosen)
{
	char text[SMX_TEXT_MAX], turn[SMX_TEXT_MAX], value[SMXI_REPORT_TEXT] = "-";
	contest->game->format(position, text);
	if (chosen->has_value)
		smxi_report_value(chosen->value, contest->players[player].options.evaluator, value);
	fprintf(transcript->stream, "%s\t%s\t%s\n", text, smxi_report_turn(contest->game, &chosen->turn, turn), value);
}

void smxi_transcript_end(struct smxi_transcript *transcript, const struct smxi_contest *contest,
                         const struct smxi_record *record, const struct smx_position *last)
{
	char text[SMX_TEXT_MAX], result[SMXI_RESULT_TEXT];
	contest->game->format(last, text);
	fprintf(transcript->stream, "# last %s\n# result %s\n", text, smxi_record_result(contest, record, result));
	if (fflush(transcript->stream) || ferror(transcript->stream))
		smxi_out_of_memory();
}

/* To be freed. */
static char *file_name(const struct smxi_contest *contest, const char *prefix, uint64_t seed, unsigned first)
{
	const size_t size = strlen(prefix) + 32;
	char *name = smxi_allocate(size, 1);
	if (contest->player_count == 1)
		snprintf(name, size, "%s%" PRIu64 ".txt", prefix, seed);
	else
		snprintf(name, size, "%s%" PRIu64 "-%s.txt", prefix, seed, smxi_player_names[first]);
	return name;
}

bool smxi_transcript_save(const struct smxi_transcript *transcript, const struct smxi_contest *contest,
                          const char *prefix, uint64_t seed, unsigned first)
{
	char *name = file_name(contest, prefix, seed, first), shown[200];
	FILE *file = fopen(name, "w");
	bool ok = file && fwrite(transcript->text, 1, transcript->size, file) == transcript->size;
	ok = file && !fclose(file) && ok;
	if (!ok)
		smxi_error("cannot write %s: %s", smxi_printable(name, shown, sizeof shown), strerror(errno));
	free(name);
	return ok;
}

void smxi_transcript_close(struct smxi_transcript *transcript)
{
	if (transcript->stream)
		fclose(transcript->stream);
	free(transcript->text);
	*transcript = (struct smxi_transcript){0};
}
