/* The shared transposition table: what is known about chance nodes, for all threads, without a lock.
 *
 * What it holds. One entry is one chance node searched to one depth: the interval [lower, upper] that is known to hold
 * its value, 64 bits each, so every smx_value survives unchanged. Depth is part of the key (smxi_tt_salt) and is
 * compared once more on every probe: a node at another depth is another key. The generation says in which search an
 * entry was last used; it only ages entries and never decides whether one counts. Eight bits (`user`) are the caller's.
 *
 * Layout. An entry is four 64-bit words, 32 bytes; a bucket is one 64-byte line of two entries, so a probe costs one
 * memory access whatever it finds. Four entries over two lines would lose fewer keys (with one key per slot 20% find no
 * room instead of 27%, with one key per two slots 4% instead of 10%), but would double the traffic of the probes, most
 * of which find nothing. The bucket is the high half of key word 0 times the number of buckets: any number of buckets
 * will do.
 *
 *     word 0  lower                   word 2  key word 1 ^ A(lower, upper, state)
 *     word 1  upper                   word 3  state | (key word 0 ^ B(lower, upper, state)) << 24
 *     state = depth | generation << 8 | user << 16; A has 64 bits, B has 40; of key word 0 the low 40 bits are kept
 *
 * The race contract. Words are read and written as relaxed atomics, four at a time but not together. A reader may find
 * any mixture of words that different threads, entries and searches left in a slot. It copies the four words out, then
 * recomputes A and B from its copy and its own key; only a copy that agrees in all 104 bits is an answer, anything else
 * is a miss. So a probe returns an interval and a user byte that were stored together (or merged, see below) under that
 * key and depth, or nothing. An entry torn by two writers is lost, not wrong, and stays a miss until replaced. A and B
 * each put lower and upper through a bijection before they combine them, so one word that is not its entry's is always
 * noticed. A mixture of two and two, as far as the mixing is as good as chance, passes with probability 2^-64 where all
 * its words belong to one key, when every bound in it is true anyway, and with 2^-104 where a bound of another key is
 * in it.
 *
 * Why relaxed order is enough. An answer is made of nothing but the four words that were checked together: no entry
 * points to other memory, none promises that something else was written before it. Seeing an old entry is harmless, for
 * an interval once proved stays true. All that is needed is that no single word is torn, which the atomics give.
 *
 * How sure. For uniformly distributed keys, another key's entry in the same bucket passes with probability at most
 * 2^-104 + N * 2^-128 for N buckets: word 1 must agree in 64 bits, word 0 in 40 within the range of one bucket. Over
 * 10^12 probes that each meet two foreign entries, some wrong answer has probability below 2 * 10^-19 for a table of 1
 * GiB (N = 2^24) and of about 10^-16 for 1 TiB (N = 2^34). Two positions with the same 128-bit key are the game's
 * affair.
 *
 * Replacement. Where the key is there already, its entry is merged: the lower bound rises, the upper bound falls, the
 * generation and the user byte become the new ones; nothing is written where nothing changes. Otherwise an empty slot
 * is taken; otherwise the entry that was not used for the most searches goes; of equally old ones the shallower, which
 * was cheaper to find; of equally deep ones that with the wider interval, which says less; else the first. A new entry
 * is always stored: the entry that goes is the lesser of two, so the better one outlives any number of lesser
 * newcomers. A probe that finds an entry of an earlier search makes it current. An entry that was not used for 256
 * searches looks new again.
 *
 * When it does not help: values of nodes that take less time than a memory access are better computed again.
 *
 * Thread safety: any number of threads may call everything but smxi_tt_destroy on one table at once. */
#ifndef SMXI_TT_H
#define SMXI_TT_H

#include <starmax/game.h>
#include <starmax/status.h>
#include <starmax/value.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SMXI_TT_SIZE_MIN     1024 /* bytes of the smallest table */
#define SMXI_TT_BUCKET_BYTES 64
#define SMXI_TT_ENTRIES      2 /* of a bucket */
#define SMXI_TT_WORDS        4 /* of an entry */
#define SMXI_TT_DEPTH_MAX    255
#define SMXI_TT_TEXT_MAX     128 /* bytes of a saved table's description, without a NUL */

struct smxi_tt;

/* What a probe found: a copy. lower <= upper; they are equal where the value is known. */
struct smxi_tt_found {
	smx_value lower, upper;
	uint8_t user;
};

/* What became of a store. */
enum smxi_tt_stored {
	SMXI_TT_ADDED,    /* an empty slot was taken */
	SMXI_TT_MERGED,   /* the key was there */
	SMXI_TT_REPLACED, /* another entry went */
	SMXI_TT_CONFLICT, /* the key was there with an interval that excludes the new one, which took its place: one of the
	                   * two was wrong, or two nodes share a key */
};

struct smxi_tt_usage {
	unsigned used_permille;    /* slots that hold anything */
	unsigned current_permille; /* slots last used since smxi_tt_new_search */
};

struct smxi_tt_memory {
	size_t size_bytes; /* of all buckets */
	bool huge_asked;   /* the system took the request for huge pages */
	size_t huge_bytes; /* of the table on huge pages now; 0 where the system does not tell */
};

/* The salt of one depth, 0..SMXI_TT_DEPTH_MAX. fingerprint stands for all else that a value depends on besides the
 * position: game, evaluator with its scale, mode, evaluated side. Salts of one fingerprint differ in both words. Make
 * it once per search and depth. */
struct smx_key smxi_tt_salt(uint64_t fingerprint, unsigned depth);

/* The table's key of a position under a salt: a bijection of the position's key for each salt and of the salt for each
 * position, every bit of which depends on all of both; so a game whose keys are unevenly distributed fills the buckets
 * evenly all the same. */
struct smx_key smxi_tt_key(struct smx_key position, struct smx_key salt);

/* Make an empty table of size_bytes bytes, rounded down to whole buckets. The memory comes from the system as zero
 * pages that are not taken before they are first written; from 2 MiB up it is aligned to 2 MiB and huge pages are asked
 * for. SMX_OK, SMX_ERR_ARGUMENT (less than SMXI_TT_SIZE_MIN) or SMX_ERR_MEMORY; *tt is written only on SMX_OK. */
enum smx_status smxi_tt_create(size_t size_bytes, struct smxi_tt **tt, struct smx_error *error);

/* Give all memory back. NULL is fine. No other thread may be using the table. */
void smxi_tt_destroy(struct smxi_tt *tt);

/* Begin a new search: everything in the table is one search older. */
void smxi_tt_new_search(struct smxi_tt *tt);

/* Forget everything. What other threads store meanwhile may be kept or lost. */
void smxi_tt_clear(struct smxi_tt *tt);

/* Begin to fetch the bucket of a key that will soon be probed. */
void smxi_tt_prefetch(const struct smxi_tt *tt, struct smx_key key);

/* Look a key from smxi_tt_key up; depth is the one of its salt. On true *found is filled, on false it is untouched. */
bool smxi_tt_probe(struct smxi_tt *tt, struct smx_key key, unsigned depth, struct smxi_tt_found *found);

/* Store that the value is in [lower, upper], lower <= upper. Only proved, completed results may be stored. */
enum smxi_tt_stored smxi_tt_store(struct smxi_tt *tt, struct smx_key key, unsigned depth, smx_value lower,
                                  smx_value upper, uint8_t user);

size_t smxi_tt_size(const struct smxi_tt *tt);

/* An estimate from at most a thousand buckets spread over the table; exact for a table of no more. */
struct smxi_tt_usage smxi_tt_usage(const struct smxi_tt *tt);

/* Asks the system: not for use while the clock runs. */
struct smxi_tt_memory smxi_tt_memory(const struct smxi_tt *tt);

/* The raw words, SMXI_TT_WORDS for each slot, for tests that damage them and for placing them in memory; nothing else
 * goes past probe and store. */
_Atomic uint64_t *smxi_tt_words(struct smxi_tt *tt, size_t *count);

/* Saved tables. A file is, in the writer's byte order:
 *
 *     192 bytes  header: magic, byte-order mark, format version, fingerprint, number of buckets, bytes of a bucket,
 *                generation, description padded with NULs, checksum of the header up to here
 *     64 * N     the buckets as they are in memory
 *     8          checksum of all before
 *
 * Each 64-bit word enters the checksums by a bijection, so damage within one word is always noticed, any other with
 * probability 1 - 2^-64. They guard against accidents, not against forgery.
 *
 * Save the table. `text` (printable ASCII, at most SMXI_TT_TEXT_MAX bytes) names what fingerprint stands for, for
 * people and as a second check. Written to a new file beside `path`, forced to the disk, then renamed: `path` always
 * holds a whole file, the old one or the new one. Other threads may go on writing; an entry that is being written may
 * be saved torn, which is a miss. SMX_OK; SMX_ERR_ARGUMENT: text is not as it should be; SMX_ERR_FILE: the file cannot be
 * written (the message says why); SMX_ERR_MEMORY. */
enum smx_status smxi_tt_save(const struct smxi_tt *tt, const char *path, uint64_t fingerprint, const char *text,
                             struct smx_error *error);

/* Make a table from a file: as large as the saved one, with its entries and its generation; saving it again gives the
 * same bytes. Nothing of the file is trusted; its length is checked before memory is asked for. SMX_OK;
 * SMX_ERR_ARGUMENT: text is not as it should be; SMX_ERR_FILE: it cannot be read, or it is sound but of another
 * fingerprint or text; SMX_ERR_PARSE: it is not a table, of another format version or byte order, truncated, longer than
 * it says, or damaged (error->offset is where); SMX_ERR_MEMORY. The message says which; *tt is written only on SMX_OK, the caller destroys it. */
enum smx_status smxi_tt_load(const char *path, uint64_t fingerprint, const char *text, struct smxi_tt **tt,
                             struct smx_error *error);

#endif
