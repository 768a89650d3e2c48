/* The shared transposition table: see tt.h for its layout, its race contract and its rules of replacement.
 *
 * In order: keys, memory, single entries, probing and storing, figures, files. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS and madvise */
#endif

#include "tt.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

struct bucket {
	alignas(SMXI_TT_BUCKET_BYTES) _Atomic uint64_t word[SMXI_TT_ENTRIES][SMXI_TT_WORDS];
};
_Static_assert(sizeof(struct bucket) == SMXI_TT_BUCKET_BYTES, "a bucket is one cache line");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "64-bit words are read and written whole");

struct smxi_tt {
	struct bucket *buckets;
	size_t bucket_count; /* at least SMXI_TT_SIZE_MIN / SMXI_TT_BUCKET_BYTES */
	bool huge_asked;
	_Atomic uint8_t generation; /* modulo 256 */
};

static enum smx_status fail(struct smx_error *error, enum smx_status status, size_t offset, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static enum smx_status fail(struct smx_error *error, enum smx_status status, size_t offset, const char *format, ...)
{
	if (error) {
		va_list arguments;
		va_start(arguments, format);
		vsnprintf(error->message, sizeof error->message, format, arguments);
		va_end(arguments);
		error->offset = offset;
	}
	return status;
}

/* ---- keys ---- */

/* A bijection of 64-bit numbers in which every bit of x reaches every bit of the result. */
static inline uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 32) * UINT64_C(0x9fb21c651e98df25);
	x = (x ^ x >> 29) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

static inline uint64_t rotated(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

struct smx_key smxi_tt_salt(uint64_t fingerprint, unsigned depth)
{
	assert(depth <= SMXI_TT_DEPTH_MAX);
	const uint64_t base = mixed(fingerprint + UINT64_C(0x8f1bbcdc2fd4a7e3));
	const uint64_t step = mixed(depth + UINT64_C(0x5be0cd19137e2179));
	return (struct smx_key){{mixed(base + step), mixed(rotated(base, 27) ^ step)}};
}

struct smx_key smxi_tt_key(struct smx_key position, struct smx_key salt)
{
	uint64_t left = position.word[0] ^ salt.word[0], right = position.word[1] ^ salt.word[1];
	/* Each step can be undone, so no two positions fall together; three make both words depend on both. */
	left += mixed(right);
	right ^= mixed(left);
	left += mixed(right);
	return (struct smx_key){{left, right}};
}

/* ---- memory ---- */

/* Pages for size bytes, all zero; NULL where the system has none. Pages are placed where they are first touched: a
 * policy for several memory nodes is set here, on the whole range, before anyone touches it. */
static void *pages_map(size_t size, bool *huge_asked)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t alignment = size >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : page;
	*huge_asked = false;
	if (size > SIZE_MAX / 2 - alignment)
		return NULL;
	const size_t wanted = (size + page - 1) / page * page, reserved = wanted + alignment - page;
	unsigned char *const start = mmap(NULL, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (start == MAP_FAILED)
		return NULL;
	const size_t before = (alignment - (uintptr_t)start % alignment) % alignment, after = reserved - before - wanted;
	if (before)
		munmap(start, before);
	if (after)
		munmap(start + before + wanted, after);
#ifdef MADV_HUGEPAGE
	if (alignment == HUGE_PAGE_BYTES)
		*huge_asked = madvise(start + before, wanted, MADV_HUGEPAGE) == 0;
#endif
	return start + before;
}

/* An empty table; NULL, with the reason in *error, where there is no memory. */
static struct smxi_tt *table_make(size_t bucket_count, struct smx_error *error)
{
	struct smxi_tt *const tt = malloc(sizeof(*tt));
	if (tt) {
		tt->bucket_count = bucket_count;
		tt->buckets = pages_map(bucket_count * SMXI_TT_BUCKET_BYTES, &tt->huge_asked);
		atomic_init(&tt->generation, 0);
		if (tt->buckets)
			return tt;
	}
	free(tt);
	fail(error, SMX_ERR_MEMORY, 0, "no memory for a table of %zu bytes", bucket_count * SMXI_TT_BUCKET_BYTES);
	return NULL;
}

enum smx_status smxi_tt_create(size_t size_bytes, struct smxi_tt **tt, struct smx_error *error)
{
	if (size_bytes < SMXI_TT_SIZE_MIN)
		return fail(error, SMX_ERR_ARGUMENT, 0, "a table of %zu bytes: the least is %d", size_bytes, SMXI_TT_SIZE_MIN);
	struct smxi_tt *const made = table_make(size_bytes / SMXI_TT_BUCKET_BYTES, error);
	if (!made)
		return SMX_ERR_MEMORY;
	*tt = made;
	return SMX_OK;
}

void smxi_tt_destroy(struct smxi_tt *tt)
{
	if (!tt)
		return;
	munmap(tt->buckets, tt->bucket_count * SMXI_TT_BUCKET_BYTES);
	free(tt);
}

/* ---- single entries ---- */

/* A slot's words, copied out. */
struct entry {
	uint64_t lower, upper, check, meta;
};

static inline struct entry entry_read(const _Atomic uint64_t *words)
{
	return (struct entry){
		atomic_load_explicit(words + 0, memory_order_relaxed),
		atomic_load_explicit(words + 1, memory_order_relaxed),
		atomic_load_explicit(words + 2, memory_order_relaxed),
		atomic_load_explicit(words + 3, memory_order_relaxed),
	};
}

static inline void word_write(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static inline void entry_write(_Atomic uint64_t *words, const struct entry *entry)
{
	word_write(words + 0, entry->lower);
	word_write(words + 1, entry->upper);
	word_write(words + 2, entry->check);
	word_write(words + 3, entry->meta);
}

/* The low 24 bits of meta. */
#define STATE_BITS 24

static inline uint64_t state_make(unsigned depth, uint8_t generation, uint8_t user)
{
	return depth | (uint64_t)generation << 8 | (uint64_t)user << 16;
}

static inline unsigned depth_of(const struct entry *entry)
{
	return entry->meta & 0xff;
}

static inline uint8_t generation_of(const struct entry *entry)
{
	return entry->meta >> 8 & 0xff;
}

static inline uint8_t user_of(const struct entry *entry)
{
	return entry->meta >> 16 & 0xff;
}

static inline bool entry_is_empty(const struct entry *entry)
{
	return (entry->check | entry->meta) == 0;
}

/* The one entry that says this about this key: what is stored, and what a probe compares with. Sums of bijections, not
 * a linear form of the bounds: these often end in many zero bits, of which a product would keep some. */
static inline struct entry entry_make(struct smx_key key, uint64_t lower, uint64_t upper, uint64_t state)
{
	const uint64_t low = mixed(lower ^ UINT64_C(0x6a09e667bb67ae85));
	const uint64_t high = mixed(upper ^ UINT64_C(0xc3a5c85c97cb3127));
	const uint64_t a = low + rotated(high, 32) + state * UINT64_C(0xb492b66fbe98f273);
	const uint64_t b = (low ^ rotated(high, 13)) * UINT64_C(0x9ae16a3b2f90404f) + state * UINT64_C(0xd1b54a32d192ed03);
	return (struct entry){
		.lower = lower,
		.upper = upper,
		.check = key.word[1] ^ a,
		.meta = state | (key.word[0] ^ b >> STATE_BITS) << STATE_BITS,
	};
}

static inline bool entry_is_of(const struct entry *entry, struct smx_key key, unsigned depth)
{
	if (depth_of(entry) != depth || (smx_value)entry->lower > (smx_value)entry->upper)
		return false; /* most foreign entries end here, before anything is mixed */
	const uint64_t state = entry->meta & ((UINT64_C(1) << STATE_BITS) - 1);
	const struct entry right = entry_make(key, entry->lower, entry->upper, state);
	return right.check == entry->check && right.meta == entry->meta;
}

/* Whether `entry` should go rather than `other`, both of other keys than the new one. */
static bool entry_goes_first(const struct entry *entry, const struct entry *other, uint8_t now)
{
	if (entry_is_empty(entry) || entry_is_empty(other))
		return !entry_is_empty(other);
	const uint8_t age = (uint8_t)(now - generation_of(entry)), other_age = (uint8_t)(now - generation_of(other));
	if (age != other_age)
		return age > other_age;
	if (depth_of(entry) != depth_of(other))
		return depth_of(entry) < depth_of(other);
	return entry->upper - entry->lower > other->upper - other->lower;
}

/* ---- probing and storing ---- */

static inline struct bucket *bucket_of(const struct smxi_tt *tt, struct smx_key key)
{
	__extension__ typedef unsigned __int128 wide;
	return tt->buckets + (size_t)((wide)key.word[0] * tt->bucket_count >> 64);
}

static inline uint8_t generation_now(const struct smxi_tt *tt)
{
	return atomic_load_explicit(&tt->generation, memory_order_relaxed);
}

void smxi_tt_new_search(struct smxi_tt *tt)
{
	atomic_fetch_add_explicit(&tt->generation, 1, memory_order_relaxed);
}

void smxi_tt_prefetch(const struct smxi_tt *tt, struct smx_key key)
{
	__builtin_prefetch(bucket_of(tt, key));
}

bool smxi_tt_probe(struct smxi_tt *tt, struct smx_key key, unsigned depth, struct smxi_tt_found *found)
{
	assert(depth <= SMXI_TT_DEPTH_MAX);
	struct bucket *const bucket = bucket_of(tt, key);
	for (unsigned slot = 0; slot < SMXI_TT_ENTRIES; slot++) {
		_Atomic uint64_t *const words = bucket->word[slot];
		const struct entry entry = entry_read(words);
		if (!entry_is_of(&entry, key, depth))
			continue;
		const uint8_t now = generation_now(tt);
		if (generation_of(&entry) != now) {
			/* The bounds stay. Should another key have taken the slot meanwhile, its bounds now stand beside this key's
			 * check words: a torn entry, a miss for both. */
			const struct entry renewed =
				entry_make(key, entry.lower, entry.upper, state_make(depth, now, user_of(&entry)));
			word_write(words + 2, renewed.check);
			word_write(words + 3, renewed.meta);
		}
		*found = (struct smxi_tt_found){(smx_value)entry.lower, (smx_value)entry.upper, user_of(&entry)};
		return true;
	}
	return false;
}

enum smxi_tt_stored smxi_tt_store(struct smxi_tt *tt, struct smx_key key, unsigned depth, smx_value lower,
                                  smx_value upper, uint8_t user)
{
	assert(depth <= SMXI_TT_DEPTH_MAX);
	assert(lower <= upper);
	struct bucket *const bucket = bucket_of(tt, key);
	const uint8_t now = generation_now(tt);
	const uint64_t state = state_make(depth, now, user);
	struct entry goes = {0};
	unsigned goes_slot = 0;
	for (unsigned slot = 0; slot < SMXI_TT_ENTRIES; slot++) {
		const struct entry entry = entry_read(bucket->word[slot]);
		if (entry_is_of(&entry, key, depth)) {
			const smx_value old_lower = (smx_value)entry.lower, old_upper = (smx_value)entry.upper;
			const bool conflict = old_lower > upper || lower > old_upper;
			if (!conflict && old_lower > lower)
				lower = old_lower;
			if (!conflict && old_upper < upper)
				upper = old_upper;
			const struct entry merged = entry_make(key, (uint64_t)lower, (uint64_t)upper, state);
			if (merged.check != entry.check || merged.meta != entry.meta)
				entry_write(bucket->word[slot], &merged);
			return conflict ? SMXI_TT_CONFLICT : SMXI_TT_MERGED;
		}
		if (slot == 0 || entry_goes_first(&entry, &goes, now)) {
			goes = entry;
			goes_slot = slot;
		}
	}
	const struct entry made = entry_make(key, (uint64_t)lower, (uint64_t)upper, state);
	entry_write(bucket->word[goes_slot], &made);
	return entry_is_empty(&goes) ? SMXI_TT_ADDED : SMXI_TT_REPLACED;
}

_Atomic uint64_t *smxi_tt_words(struct smxi_tt *tt, size_t *count)
{
	*count = tt->bucket_count * SMXI_TT_ENTRIES * SMXI_TT_WORDS;
	return tt->buckets->word[0];
}

void smxi_tt_clear(struct smxi_tt *tt)
{
	for (size_t i = 0; i < tt->bucket_count; i++) {
		_Atomic uint64_t *const words = tt->buckets[i].word[0];
		for (unsigned w = 0; w < SMXI_TT_ENTRIES * SMXI_TT_WORDS; w++)
			if (atomic_load_explicit(words + w, memory_order_relaxed)) /* pages never written to stay untaken */
				word_write(words + w, 0);
	}
	atomic_store_explicit(&tt->generation, 0, memory_order_relaxed);
}

/* ---- figures ---- */

size_t smxi_tt_size(const struct smxi_tt *tt)
{
	return tt->bucket_count * SMXI_TT_BUCKET_BYTES;
}

struct smxi_tt_usage smxi_tt_usage(const struct smxi_tt *tt)
{
	const size_t sampled = tt->bucket_count < 1000 ? tt->bucket_count : 1000;
	const uint8_t now = generation_now(tt);
	size_t used = 0, current = 0;
	for (size_t i = 0; i < sampled; i++)
		for (unsigned slot = 0; slot < SMXI_TT_ENTRIES; slot++) {
			const struct entry entry = entry_read(tt->buckets[i * (tt->bucket_count / sampled)].word[slot]);
			used += !entry_is_empty(&entry);
			current += !entry_is_empty(&entry) && generation_of(&entry) == now;
		}
	const size_t slots = sampled * SMXI_TT_ENTRIES;
	assert(slots > 0);
	return (struct smxi_tt_usage){(unsigned)(used * 1000 / slots), (unsigned)(current * 1000 / slots)};
}

struct smxi_tt_memory smxi_tt_memory(const struct smxi_tt *tt)
{
	struct smxi_tt_memory memory = {.size_bytes = smxi_tt_size(tt), .huge_asked = tt->huge_asked};
	FILE *const maps = fopen("/proc/self/smaps", "re");
	if (!maps)
		return memory;
	/* A mapping's range, then lines of its figures. The system may have joined the table with a neighbour, whose pages
	 * are then counted too, but never beyond the table's size. */
	const uintptr_t start = (uintptr_t)tt->buckets, end = start + memory.size_bytes;
	bool inside = false;
	char line[512];
	while (fgets(line, sizeof line, maps)) {
		char *rest;
		const uintmax_t first = strtoumax(line, &rest, 16);
		if (rest != line && *rest == '-')
			inside = first < end && strtoumax(rest + 1, NULL, 16) > start;
		else if (inside && strncmp(line, "AnonHugePages:", 14) == 0)
			memory.huge_bytes += (size_t)strtoumax(line + 14, NULL, 10) * 1024;
	}
	fclose(maps);
	if (memory.huge_bytes > memory.size_bytes)
		memory.huge_bytes = memory.size_bytes;
	return memory;
}

/* ---- files ---- */

#define FILE_MAGIC      "smxtable"
#define FILE_MARK       UINT32_C(0x01020304)
#define FILE_MARK_OTHER UINT32_C(0x04030201)
#define FILE_VERSION    1

struct file_header {
	char magic[8];
	uint32_t mark;    /* FILE_MARK in the writer's byte order */
	uint32_t version; /* what follows is as described here only where this is FILE_VERSION */
	uint64_t fingerprint;
	uint64_t bucket_count;
	uint32_t bucket_bytes;
	uint32_t generation; /* 0..255 */
	uint64_t unused;     /* 0 */
	char text[SMXI_TT_TEXT_MAX];
	uint64_t zero;
	uint64_t checksum; /* of all before */
};
_Static_assert(sizeof(struct file_header) == 192, "a file's header has no padding and its stated size");

enum { CHUNK_WORDS = 2048 };

/* Continue a checksum over count words; each step is a bijection of the sum before it, and of its word. */
static uint64_t checksum_add(uint64_t sum, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		sum = (sum ^ words[i]) * UINT64_C(0x9fb21c651e98df25);
		sum ^= sum >> 32;
	}
	return sum;
}

/* The whole file's sum begins elsewhere than its header's: after the same words both would be equal, and the header's,
 * being the next word, would cancel what the whole file's had gathered. */
#define CHECKSUM_OF_HEADER UINT64_C(0x736d78206c656166)
#define CHECKSUM_OF_FILE   UINT64_C(0x77686f6c65206974)

static uint64_t header_checksum(const struct file_header *header)
{
	uint64_t words[offsetof(struct file_header, checksum) / sizeof(uint64_t)];
	memcpy(words, header, sizeof words);
	return checksum_add(CHECKSUM_OF_HEADER, words, sizeof words / sizeof words[0]);
}

static enum smx_status fail_system(struct smx_error *error, const char *what, int number)
{
	char reason[128] = "";
	if (strerror_r(number, reason, sizeof reason) != 0)
		snprintf(reason, sizeof reason, "error %d", number);
	return fail(error, SMX_ERR_FILE, 0, "table file: cannot %s: %s", what, reason);
}

/* Whether text[0..length) is printable ASCII. */
static bool is_printable(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

static enum smx_status check_text(const char *text, struct smx_error *error)
{
	const size_t length = strlen(text);
	if (length > SMXI_TT_TEXT_MAX)
		return fail(error, SMX_ERR_ARGUMENT, 0, "table file: a description of %zu bytes, at most %d", length,
		            SMXI_TT_TEXT_MAX);
	if (!is_printable(text, length))
		return fail(error, SMX_ERR_ARGUMENT, 0, "table file: a description that is not printable ASCII");
	return SMX_OK;
}

/* Write all of it; false with errno set where that fails. */
static bool write_all(int file, const void *bytes, size_t size)
{
	for (const char *next = bytes; size;) {
		const ssize_t written = write(file, next, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		next += written;
		size -= (size_t)written;
	}
	return true;
}

/* Read up to size bytes, fewer only at the end of the file; -1 with errno set where that fails. */
static ssize_t read_all(int file, void *bytes, size_t size)
{
	size_t done = 0;
	while (done < size) {
		const ssize_t got = read(file, (char *)bytes + done, size - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* Write the whole file; false with errno set where that fails. */
static bool write_table(int file, const struct smxi_tt *tt, const struct file_header *header)
{
	uint64_t chunk[CHUNK_WORDS];
	memcpy(chunk, header, sizeof(*header));
	uint64_t sum = checksum_add(CHECKSUM_OF_FILE, chunk, sizeof(*header) / sizeof(uint64_t));
	if (!write_all(file, header, sizeof(*header)))
		return false;
	const size_t words = tt->bucket_count * SMXI_TT_ENTRIES * SMXI_TT_WORDS;
	const _Atomic uint64_t *const table = tt->buckets->word[0];
	for (size_t i = 0; i < words;) {
		size_t count = 0;
		while (count < CHUNK_WORDS && i < words)
			chunk[count++] = atomic_load_explicit(table + i++, memory_order_relaxed);
		sum = checksum_add(sum, chunk, count);
		if (!write_all(file, chunk, count * sizeof(uint64_t)))
			return false;
	}
	return write_all(file, &sum, sizeof sum) && fsync(file) == 0;
}

/* Create a file with a name of its own beside path, whose name is written to `name`; -1 with errno set. */
static int create_beside(const char *path, char *name, size_t size)
{
	for (unsigned attempt = 0;; attempt++) {
		snprintf(name, size, "%s.%ld-%u.tmp", path, (long)getpid(), attempt);
		const int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (file >= 0 || errno != EEXIST || attempt == 999)
			return file;
	}
}

/* Force the new name to the disk. Some file systems cannot; the file itself is whole in any case. */
static void sync_directory(char *path)
{
	char *const slash = strrchr(path, '/');
	if (slash)
		slash[slash == path] = '\0';
	const int directory = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0)
		return;
	(void)fsync(directory);
	close(directory);
}

enum smx_status smxi_tt_save(const struct smxi_tt *tt, const char *path, uint64_t fingerprint, const char *text,
                             struct smx_error *error)
{
	const enum smx_status status = check_text(text, error);
	if (status != SMX_OK)
		return status;
	struct file_header header = {
		.mark = FILE_MARK,
		.version = FILE_VERSION,
		.fingerprint = fingerprint,
		.bucket_count = tt->bucket_count,
		.bucket_bytes = SMXI_TT_BUCKET_BYTES,
		.generation = generation_now(tt),
	};
	memcpy(header.magic, FILE_MAGIC, sizeof header.magic);
	memcpy(header.text, text, strlen(text));
	header.checksum = header_checksum(&header);

	const size_t size = strlen(path) + 48;
	char *const name = malloc(size);
	if (!name)
		return fail(error, SMX_ERR_MEMORY, 0, "no memory to save a table");
	const char *doing = "create a file beside it";
	int number = 0;
	const int file = create_beside(path, name, size);
	if (file < 0) {
		number = errno;
	} else {
		doing = "write";
		if (!write_table(file, tt, &header))
			number = errno;
		if (close(file) != 0 && number == 0)
			number = errno;
		if (number == 0 && rename(name, path) != 0) {
			doing = "rename the new file";
			number = errno;
		}
		if (number)
			unlink(name);
		else
			sync_directory(name);
	}
	free(name);
	return number ? fail_system(error, doing, number) : SMX_OK;
}

/* Check everything a header says, in an order that gives the most telling reason, against the file's real size. */
static enum smx_status check_header(const struct file_header *header, uint64_t file_size, uint64_t fingerprint,
                                    const char *text, struct smx_error *error)
{
	const uint64_t present = file_size < sizeof(*header) ? file_size : sizeof(*header);
	const size_t magic = present < sizeof header->magic ? (size_t)present : sizeof header->magic;
	if (present == 0 || memcmp(header->magic, FILE_MAGIC, magic) != 0)
		return fail(error, SMX_ERR_PARSE, 0, "table file: not a saved table");
	if (present < sizeof(*header))
		return fail(error, SMX_ERR_PARSE, (size_t)present,
		            "table file: truncated: %" PRIu64 " bytes, the header has %zu", file_size, sizeof(*header));
	if (header->mark == FILE_MARK_OTHER)
		return fail(error, SMX_ERR_PARSE, offsetof(struct file_header, mark),
		            "table file: written on a machine of the other byte order");
	if (header->mark != FILE_MARK)
		return fail(error, SMX_ERR_PARSE, offsetof(struct file_header, mark), "table file: damaged byte-order mark");
	if (header->version != FILE_VERSION)
		return fail(error, SMX_ERR_PARSE, offsetof(struct file_header, version),
		            "table file: format version %" PRIu32 ", not %d", header->version, FILE_VERSION);
	if (header->checksum != header_checksum(header))
		return fail(error, SMX_ERR_PARSE, offsetof(struct file_header, checksum), "table file: damaged header");
	const size_t length = strnlen(header->text, sizeof header->text);
	const uint64_t most = (SIZE_MAX / 2 - sizeof(*header)) / SMXI_TT_BUCKET_BYTES;
	if (!is_printable(header->text, length) || header->bucket_bytes != SMXI_TT_BUCKET_BYTES ||
	    header->generation > 255 || header->bucket_count < SMXI_TT_SIZE_MIN / SMXI_TT_BUCKET_BYTES ||
	    header->bucket_count > most)
		return fail(error, SMX_ERR_PARSE, offsetof(struct file_header, bucket_count),
		            "table file: a header that no table has");
	if (length != strlen(text) || memcmp(header->text, text, length) != 0)
		return fail(error, SMX_ERR_FILE, offsetof(struct file_header, text),
		            "table file: made for \"%.*s\", not for \"%.90s\"", length < 90 ? (int)length : 90, header->text,
		            text);
	if (header->fingerprint != fingerprint)
		return fail(error, SMX_ERR_FILE, offsetof(struct file_header, fingerprint),
		            "table file: made for fingerprint %016" PRIx64 ", not for %016" PRIx64, header->fingerprint,
		            fingerprint);
	const uint64_t whole = sizeof(*header) + header->bucket_count * SMXI_TT_BUCKET_BYTES + sizeof(uint64_t);
	if (file_size != whole)
		return fail(error, SMX_ERR_PARSE, (size_t)(file_size < whole ? file_size : whole),
		            "table file: %s: %" PRIu64 " bytes, its header says %" PRIu64,
		            file_size < whole ? "truncated" : "longer than it should be", file_size, whole);
	return SMX_OK;
}

/* Read the buckets and the closing checksum, the header having been read. */
static enum smx_status read_buckets(int file, struct smxi_tt *tt, const struct file_header *header,
                                    struct smx_error *error)
{
	uint64_t chunk[CHUNK_WORDS];
	memcpy(chunk, header, sizeof(*header));
	uint64_t sum = checksum_add(CHECKSUM_OF_FILE, chunk, sizeof(*header) / sizeof(uint64_t));
	const size_t words = tt->bucket_count * SMXI_TT_ENTRIES * SMXI_TT_WORDS;
	_Atomic uint64_t *const table = tt->buckets->word[0];
	for (size_t i = 0; i <= words;) {
		/* The closing checksum is the word behind the table's last. */
		const size_t count = words + 1 - i < CHUNK_WORDS ? words + 1 - i : CHUNK_WORDS;
		const ssize_t got = read_all(file, chunk, count * sizeof(uint64_t));
		if (got < 0)
			return fail_system(error, "read", errno);
		if ((size_t)got != count * sizeof(uint64_t))
			return fail(error, SMX_ERR_PARSE, sizeof(*header) + i * sizeof(uint64_t) + (size_t)got,
			            "table file: truncated while it was read");
		const size_t in_table = i + count > words ? count - 1 : count;
		sum = checksum_add(sum, chunk, in_table);
		for (size_t w = 0; w < in_table; w++)
			if (chunk[w]) /* empty pages stay untaken */
				word_write(table + i + w, chunk[w]);
		if (in_table < count && chunk[in_table] != sum)
			return fail(error, SMX_ERR_PARSE, sizeof(*header), "table file: damaged: wrong checksum");
		i += count;
	}
	atomic_store_explicit(&tt->generation, (uint8_t)header->generation, memory_order_relaxed);
	return SMX_OK;
}

static enum smx_status load_open(int file, uint64_t fingerprint, const char *text, struct smxi_tt **tt,
                                 struct smx_error *error)
{
	struct stat what;
	if (fstat(file, &what) != 0)
		return fail_system(error, "examine", errno);
	if (!S_ISREG(what.st_mode))
		return fail(error, SMX_ERR_FILE, 0, "table file: not a regular file");
	struct file_header header = {0};
	const ssize_t got = read_all(file, &header, sizeof header);
	if (got < 0)
		return fail_system(error, "read", errno);
	/* A file that shrinks while it is read counts as it was found. */
	const uint64_t size = (size_t)got < sizeof header ? (uint64_t)got : (uint64_t)what.st_size;
	enum smx_status status = check_header(&header, size, fingerprint, text, error);
	if (status != SMX_OK)
		return status;
	struct smxi_tt *const made = table_make((size_t)header.bucket_count, error);
	if (!made)
		return SMX_ERR_MEMORY;
	status = read_buckets(file, made, &header, error);
	if (status == SMX_OK)
		*tt = made;
	else
		smxi_tt_destroy(made);
	return status;
}

enum smx_status smxi_tt_load(const char *path, uint64_t fingerprint, const char *text, struct smxi_tt **tt,
                             struct smx_error *error)
{
	enum smx_status status = check_text(text, error);
	if (status != SMX_OK)
		return status;
	const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a named pipe must not hold us up */
	if (file < 0)
		return fail_system(error, "open", errno);
	status = load_open(file, fingerprint, text, tt, error);
	close(file);
	return status;
}
