#define _POSIX_C_SOURCE 200809L

#include "cli/match.h"

#include "cli/engine.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/records.h"
#include "cli/report.h"
#include "cli/seat.h"
#include "cli/summary.h"
#include "cli/transcript.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LOOK_EVERY_MS 100 /* whether there was a signal, and what the bar shows */

struct match;

/* A thread that plays one game after the other. */
struct worker {
	struct match *match;
	struct smxi_seat seat;
	struct smxi_transcript transcript;
	pthread_t thread;
};

struct match {
	const struct smxi_contest *contest;
	const struct smxi_match_request *request;
	struct worker *workers;
	size_t worker_count;
	int file; /* -1: none */
	atomic_bool ends;

	/* Under the lock, as is stdout. */
	pthread_mutex_t lock;
	pthread_cond_t ended; /* a worker has */
	struct smxi_records records;
	size_t next;          /* game that nobody plays yet, if it has not been played before */
	size_t printed;       /* so many games, the first ones */
	size_t known, played; /* those that are done; of these: in this run */
	size_t at_work;       /* workers */
	bool failed;
	struct smxi_bar bar;
};

static void print_record(const struct match *match, const struct smxi_record *record)
{
	if (match->request->json)
		smxi_json_print(smxi_records_json(&match->records, record));
	else
		smxi_summary_print_game(&match->records, record);
}

/* Print what comes next in the order of seeds, or with `all` whatever there is. */
static void print_records(struct match *match, bool all)
{
	const struct smxi_records *records = &match->records;
	for (; match->printed < records->count && (all || records->is_known[match->printed]); match->printed++) {
		if (records->is_known[match->printed])
			print_record(match, &records->record[match->printed]);
	}
	fflush(stdout);
}

static enum smxi_choice choose(void *context, const struct smx_position *position, unsigned player,
                               const struct smxi_record *so_far, struct smxi_chosen *chosen)
{
	struct worker *worker = context;
	struct match *match = worker->match;
	const struct smxi_contest *contest = match->contest;
	struct smx_error error = {0};
	enum smxi_choice choice = SMXI_CHOICE_NO_MORE;
	if (atomic_load(&match->ends))
		return choice;
	if (!smxi_seat_choose(&worker->seat, contest, position, player, &choice, chosen, &error)) {
		pthread_mutex_lock(&match->lock);
		smxi_bar_erase(&match->bar);
		smxi_error("%s", error.message);
		match->failed = true;
		pthread_mutex_unlock(&match->lock);
		atomic_store(&match->ends, true);
		return SMXI_CHOICE_NO_MORE;
	}
	if (choice == SMXI_CHOICE_TURN && worker->transcript.stream)
		smxi_transcript_add(&worker->transcript, contest, position, player, chosen);
	if (choice != SMXI_CHOICE_NO_MORE && match->request->watch)
		smxi_contest_show(contest, position, player, so_far, choice == SMXI_CHOICE_TURN ? chosen : NULL);
	return choice;
}

/* Under the lock. */
static void keep_record(struct match *match, size_t index, const struct smxi_record *record, bool is_saved)
{
	smxi_bar_erase(&match->bar);
	if (!is_saved || (match->file >= 0 && !match->failed && !smxi_records_append(&match->records, match->file, record)))
		match->failed = true;
	if (match->failed) {
		atomic_store(&match->ends, true);
		return;
	}
	match->records.record[index] = *record;
	match->records.is_known[index] = true;
	match->known++;
	match->played++;
	print_records(match, false);
}

/* Under the lock, which it leaves meanwhile. */
static void play_game(struct worker *worker, size_t index)
{
	struct match *match = worker->match;
	const char *prefix = match->request->transcript;
	const uint64_t seed = smxi_records_seed(&match->records, index);
	const unsigned first = smxi_records_first(&match->records, index);
	struct smxi_record record;
	struct smx_position last;
	pthread_mutex_unlock(&match->lock);
	smxi_seat_begin(&worker->seat);
	if (prefix)
		smxi_transcript_open(&worker->transcript, match->contest, seed, first);
	const bool ended = smxi_contest_play(match->contest, seed, first, choose, worker, &record, &last);
	bool is_saved = true;
	if (ended && prefix) {
		smxi_transcript_end(&worker->transcript, match->contest, &record, &last);
		is_saved = smxi_transcript_save(&worker->transcript, match->contest, prefix, seed, first);
	}
	smxi_transcript_close(&worker->transcript);
	pthread_mutex_lock(&match->lock);
	if (ended)
		keep_record(match, index, &record, is_saved);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct match *match = worker->match;
	pthread_mutex_lock(&match->lock);
	while (match->next < match->records.count && !atomic_load(&match->ends)) {
		const size_t index = match->next++;
		if (!match->records.is_known[index])
			play_game(worker, index);
	}
	match->at_work--;
	pthread_cond_signal(&match->ended);
	pthread_mutex_unlock(&match->lock);
	return NULL;
}

static void show_bar(struct match *match)
{
	char about[100] = "";
	double sum = 0;
	const struct smx_solo *solo = match->contest->game->solo;
	for (size_t i = 0; i < match->records.count; i++) {
		const struct smxi_record *record = &match->records.record[i];
		if (match->records.is_known[i])
			sum += solo ? (double)record->points : record->winner == 0 ? 100 : record->winner == SMXI_NOBODY ? 50 : 0;
	}
	if (match->known)
		snprintf(about, sizeof about, solo ? "  mean %s %.1f" : "  %s scores %.1f%%",
		         solo ? solo->points : smxi_player_names[0], sum / (double)match->known);
	smxi_bar_show(&match->bar, match->known, match->records.count, match->played, about);
}

/* Wait until all workers have ended; end them when there is a signal. */
static void look_after(struct match *match)
{
	pthread_mutex_lock(&match->lock);
	while (match->at_work) {
		struct timespec due;
		clock_gettime(CLOCK_REALTIME, &due);
		due.tv_nsec += LOOK_EVERY_MS * 1000000L;
		due.tv_sec += due.tv_nsec / 1000000000L;
		due.tv_nsec %= 1000000000L;
		pthread_cond_timedwait(&match->ended, &match->lock, &due);
		if (smxi_interrupt_requested())
			atomic_store(&match->ends, true);
		for (size_t i = 0; atomic_load(&match->ends) && i < match->worker_count; i++)
			smx_search_stop(match->workers[i].seat.engine.search);
		if (!match->request->watch)
			show_bar(match);
	}
	smxi_bar_erase(&match->bar);
	pthread_mutex_unlock(&match->lock);
}

/* Play all games that are not known. Signals are for the calling thread. False after an error message. */
static bool play(struct match *match)
{
	sigset_t all, before;
	size_t begun = 0;
	int number = 0;
	smxi_bar_begin(&match->bar);
	match->at_work = match->worker_count;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (begun < match->worker_count &&
	       !(number = pthread_create(&match->workers[begun].thread, NULL, work, &match->workers[begun])))
		begun++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (number) {
		smxi_error("no thread to play on");
		atomic_store(&match->ends, true);
		pthread_mutex_lock(&match->lock);
		match->failed = true;
		match->at_work -= match->worker_count - begun;
		pthread_mutex_unlock(&match->lock);
	}
	look_after(match);
	for (size_t i = 0; i < begun; i++)
		pthread_join(match->workers[i].thread, NULL);
	return !match->failed;
}

/* False after an error message. */
static bool seat_workers(struct match *match)
{
	const size_t missing = match->records.count - match->known;
	const size_t wanted = match->request->at_a_time < missing ? match->request->at_a_time : missing;
	bool ok = true;
	match->workers = smxi_allocate(wanted, sizeof *match->workers);
	for (; match->worker_count < wanted && ok; match->worker_count++) {
		struct worker *worker = &match->workers[match->worker_count];
		worker->match = match;
		ok = smxi_seat_take(&worker->seat, match->contest, match->request->plan);
	}
	return ok;
}

static enum smxi_exit play_and_report(struct match *match)
{
	const struct smxi_match_request *request = match->request;
	smxi_interrupt_listen();
	if (!request->json) {
		smxi_summary_print_contest(match->contest);
		printf("threads    %zu game%s at a time, %u thread%s each\n", request->at_a_time,
		       request->at_a_time == 1 ? "" : "s", request->plan->threads, request->plan->threads == 1 ? "" : "s");
		smxi_summary_print_head(&match->records);
	}
	print_records(match, false);
	const bool ok = play(match);
	print_records(match, true);
	const struct smxi_summary summary = smxi_summary(&match->records);
	if (request->json)
		smxi_json_print(smxi_summary_json(&match->records, &summary));
	else
		smxi_summary_print(&match->records, &summary);
	if (!ok)
		return SMXI_EXIT_FAILURE;
	return summary.games == match->records.count ? SMXI_EXIT_OK : SMXI_EXIT_INTERRUPTED;
}

enum smxi_exit smxi_match(const struct smxi_contest *contest, const struct smxi_match_request *request)
{
	struct match match = {.contest = contest, .request = request, .file = -1};
	enum smxi_exit status = SMXI_EXIT_FAILURE;
	pthread_mutex_init(&match.lock, NULL);
	pthread_cond_init(&match.ended, NULL);
	smxi_records_open(&match.records, contest, request->seed, request->games);
	if (request->output)
		match.file = smxi_records_resume(&match.records, request->output);
	for (size_t i = 0; i < match.records.count; i++)
		match.known += match.records.is_known[i];
	if ((!request->output || match.file >= 0) && seat_workers(&match))
		status = play_and_report(&match);
	for (size_t i = 0; i < match.worker_count; i++)
		smxi_seat_leave(&match.workers[i].seat);
	free(match.workers);
	smxi_records_close(&match.records);
	if (match.file >= 0)
		close(match.file);
	pthread_cond_destroy(&match.ended);
	pthread_mutex_destroy(&match.lock);
	return status;
}
