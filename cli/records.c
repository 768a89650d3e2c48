#define _POSIX_C_SOURCE 200809L

#include "cli/records.h"

#include "cli/report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* FNV-1a, one text after the other. */
static uint64_t add_text(uint64_t hash, const char *text)
{
	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	return (hash ^ '\n') * UINT64_C(0x100000001b3);
}

static void write_config(const struct smxi_contest *contest, char config[SMXI_CONFIG_TEXT])
{
	char text[SMX_TEXT_MAX];
	uint64_t hash = add_text(UINT64_C(0xcbf29ce484222325), smx_version());
	hash = add_text(hash, contest->game->name);
	contest->game->format(&contest->start, text);
	hash = add_text(hash, text);
	snprintf(text, sizeof text, "%" PRIu64, contest->turns_max);
	hash = add_text(hash, text);
	for (unsigned i = 0; i < contest->player_count; i++)
		hash = add_text(hash, contest->players[i].words);
	snprintf(config, SMXI_CONFIG_TEXT, "%016" PRIx64, hash);
}

void smxi_records_open(struct smxi_records *records, const struct smxi_contest *contest, uint64_t seed, size_t seeds)
{
	*records = (struct smxi_records){.contest = contest, .seed = seed, .count = seeds * contest->player_count};
	write_config(contest, records->config);
	records->record = smxi_allocate(records->count, sizeof *records->record);
	records->is_known = smxi_allocate(records->count, sizeof *records->is_known);
}

void smxi_records_close(struct smxi_records *records)
{
	free(records->record);
	free(records->is_known);
	*records = (struct smxi_records){0};
}

uint64_t smxi_records_seed(const struct smxi_records *records, size_t index)
{
	return records->seed + index / records->contest->player_count;
}

unsigned smxi_records_first(const struct smxi_records *records, size_t index)
{
	return (unsigned)(index % records->contest->player_count);
}

static json_t *json_player(int player)
{
	return player == SMXI_NOBODY ? json_null() : json_string(smxi_player_names[player]);
}

static json_t *json_effort(const struct smxi_effort *effort, unsigned player)
{
	json_t *object = smxi_json(json_object());
	smxi_json_set(object, "player", json_player((int)player));
	smxi_json_set(object, "turns", smxi_json_count(effort->turns));
	smxi_json_set(object, "searched", smxi_json_count(effort->searched));
	smxi_json_set(object, "depths", smxi_json_count(effort->depths));
	smxi_json_set(object, "chance_nodes", smxi_json_count(effort->chance_nodes));
	smxi_json_set(object, "time_ms", json_real(effort->time_ms));
	return object;
}

json_t *smxi_records_json(const struct smxi_records *records, const struct smxi_record *record)
{
	const bool is_solo = records->contest->game->solo != NULL;
	json_t *object = smxi_json(json_object()), *players = smxi_json(json_array());
	for (unsigned i = 0; i < records->contest->player_count; i++)
		smxi_json_append(players, json_effort(&record->effort[i], i));
	smxi_json_set(object, "config", json_string(records->config));
	smxi_json_set(object, "seed", smxi_json_count(record->seed));
	smxi_json_set(object, "first", json_player((int)record->first));
	smxi_json_set(object, "winner", json_player(record->winner));
	smxi_json_set(object, "points", is_solo ? json_integer(record->points) : json_null());
	smxi_json_set(object, "goal", is_solo ? json_integer(record->goal) : json_null());
	smxi_json_set(object, "cut", json_boolean(record->cut));
	smxi_json_set(object, "turns", smxi_json_count(smxi_record_turns(record)));
	smxi_json_set(object, "players", players);
	return object;
}

/* ---- reading ---- */

static bool read_count(const json_t *object, const char *name, uint64_t *number)
{
	const json_t *value = json_object_get(object, name);
	*number = json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0;
	return json_is_integer(value) && json_integer_value(value) >= 0;
}

static bool read_player(const json_t *object, const char *name, int *player)
{
	const json_t *value = json_object_get(object, name);
	*player = SMXI_NOBODY;
	for (int i = 0; json_is_string(value) && i < SMXI_PLAYERS; i++) {
		if (!strcmp(json_string_value(value), smxi_player_names[i]))
			*player = i;
	}
	return *player != SMXI_NOBODY || json_is_null(value);
}

static bool read_effort(const json_t *object, struct smxi_effort *effort)
{
	const json_t *time_ms = json_object_get(object, "time_ms");
	effort->time_ms = json_number_value(time_ms);
	return read_count(object, "turns", &effort->turns) && read_count(object, "searched", &effort->searched) &&
	       read_count(object, "depths", &effort->depths) && read_count(object, "chance_nodes", &effort->chance_nodes) &&
	       json_is_number(time_ms);
}

static bool read_solo(const json_t *object, struct smxi_record *record)
{
	const json_t *points = json_object_get(object, "points");
	uint64_t goal;
	if (!json_is_integer(points) || !read_count(object, "goal", &goal) || goal > UINT32_MAX)
		return false;
	record->points = json_integer_value(points);
	record->goal = (unsigned)goal;
	return true;
}

/* What smxi_records_json has written. */
static bool read_record(const struct smxi_contest *contest, const json_t *object, struct smxi_record *record)
{
	const json_t *cut = json_object_get(object, "cut"), *players = json_object_get(object, "players");
	int first;
	*record = (struct smxi_record){.cut = json_is_true(cut)};
	bool ok = json_is_boolean(cut) && read_count(object, "seed", &record->seed) &&
	          read_player(object, "first", &first) && first != SMXI_NOBODY && first < (int)contest->player_count &&
	          read_player(object, "winner", &record->winner) && json_array_size(players) == contest->player_count;
	for (unsigned i = 0; ok && i < contest->player_count; i++)
		ok = read_effort(json_array_get(players, i), &record->effort[i]);
	record->first = ok ? (unsigned)first : 0;
	return ok && (!contest->game->solo || read_solo(object, record));
}

static void take_record(struct smxi_records *records, const struct smxi_record *record)
{
	const unsigned each = records->contest->player_count;
	if (record->seed < records->seed || record->seed - records->seed >= records->count / each)
		return;
	const size_t index = (size_t)(record->seed - records->seed) * each + record->first;
	if (records->is_known[index])
		return;
	records->record[index] = *record;
	records->is_known[index] = true;
}

/* One whole line of the file; NULL, or what is wrong with it. */
static const char *take_line(struct smxi_records *records, const char *line, size_t length)
{
	struct smxi_record record;
	json_t *object = json_loadb(line, length, 0, NULL);
	const char *config = json_string_value(json_object_get(object, "config"));
	const char *why = NULL;
	if (!config)
		why = "is no game";
	else if (strcmp(config, records->config) != 0)
		why = "is a game of another configuration: another game, version, search or start";
	else if (!read_record(records->contest, object, &record))
		why = "is a game that lacks something";
	else
		take_record(records, &record);
	json_decref(object);
	return why;
}

/* How a line begins: what is left of a line is known by it. */
static bool is_begun_line(const struct smxi_records *records, const char *line, size_t length)
{
	char begin[64];
	const size_t most = (size_t)snprintf(begin, sizeof begin, "{\"config\":\"%s\",", records->config);
	return !strncmp(line, begin, length < most ? length : most);
}

/* Takes the games of a file's text; *whole is how many bytes of it are whole lines. */
static bool take_text(struct smxi_records *records, const char *text, size_t size, const char *name, size_t *whole)
{
	const char *why = NULL;
	*whole = 0;
	for (uint64_t number = 1; !why && *whole < size; number++) {
		const char *line = text + *whole, *end = memchr(line, '\n', size - *whole);
		if (!end && is_begun_line(records, line, size - *whole))
			return true;
		why = end ? take_line(records, line, (size_t)(end - line)) : "is no game";
		if (why)
			smxi_error("%s:%" PRIu64 ": this %s", name, number, why);
		else
			*whole = (size_t)(end - text) + 1;
	}
	return !why;
}

/* The whole file, to be freed; NULL and errno where it cannot be read. */
static char *read_file(int file, size_t *size)
{
	struct stat status;
	if (fstat(file, &status))
		return NULL;
	char *text = smxi_allocate((size_t)status.st_size + 1, 1);
	ssize_t got = 1;
	for (*size = 0; got > 0 && *size<(size_t)status.st_size; *size += got> 0 ? (size_t)got : 0)
		got = read(file, text + *size, (size_t)status.st_size - *size);
	if (got >= 0)
		return text;
	free(text);
	return NULL;
}

int smxi_records_resume(struct smxi_records *records, const char *path)
{
	char name[200];
	smxi_printable(path, name, sizeof name);
	const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (file < 0) {
		smxi_error("cannot open %s: %s", name, strerror(errno));
		return -1;
	}
	/* The lock is the process's, and gone when it closes any descriptor of the file: there is one only. */
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	const bool locked = fcntl(file, F_SETLK, &lock) != -1;
	size_t size = 0, whole = 0;
	char *text = locked ? read_file(file, &size) : NULL;
	bool ok = text && take_text(records, text, size, name, &whole);
	if (!locked && (errno == EACCES || errno == EAGAIN))
		smxi_error("another process adds to %s", name);
	else if (!text)
		smxi_error("cannot read %s: %s", name, strerror(errno));
	else if (ok && (ftruncate(file, (off_t)whole) || lseek(file, (off_t)whole, SEEK_SET) < 0)) {
		smxi_error("cannot write %s: %s", name, strerror(errno));
		ok = false;
	}
	free(text);
	if (ok)
		return file;
	close(file);
	return -1;
}

bool smxi_records_append(const struct smxi_records *records, int file, const struct smxi_record *record)
{
	char *line = smxi_json_line(smxi_records_json(records, record));
	const size_t length = strlen(line);
	bool ok = true;
	for (size_t done = 0; done < length && ok;) {
		const ssize_t sent = write(file, line + done, length - done);
		ok = sent >= 0 || errno == EINTR;
		done += sent > 0 ? (size_t)sent : 0;
	}
	if (!ok)
		smxi_error("cannot write a game: %s", strerror(errno));
	free(line);
	return ok;
}
