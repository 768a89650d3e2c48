/* The transposition table under threads: every answer must be one that its key can have.
 *
 * usage: stress_tt [pairs] [threads] [seed]
 *
 * Workers store and probe random keys of a population several times the table, so that slots are fought for. A key
 * decides its value, user byte and the few bounds that may be stored for it; a probe that returns anything else is
 * wrong, even if the interval should hold the value. Meanwhile an injector damages slots as no pair of writers could be
 * relied on to: it moves single words and halves of entries into other slots, of the same bucket and of others, and
 * puts back words it copied earlier; and the main thread begins searches, saves the table and looks at loaded copies.
 *
 * A plain program, so that it runs under any sanitizer. Exit status 0: no wrong answer, and everything
 * above happened. */
#include "tt/tt.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	SIZE_BYTES = 1 << 18, /* 8,192 slots */
	KEYS = 1 << 15,
	HOT_KEYS = 64, /* a quarter of all accesses, so that threads meet */
	THREADS_MAX = 256,
	DAMAGE_INTERVAL = 16, /* pairs of all workers between two damages, roughly */
	BATCH = 1024          /* pairs between two reports to the others */
};

#define FINGERPRINT UINT64_C(0x5354524553533031)
#define TEXT        "stress"
#define VALUE_LIMIT (SMX_SUM_LIMIT / 216)

static struct smxi_tt *table;
static struct smx_key salts[4];
static _Atomic uint64_t pairs_done;
static _Atomic bool finished;

struct worker {
	pthread_t thread;
	uint64_t seed, pairs;
	uint64_t hits, exact, merged, replaced, conflicts, wrong;
};

struct injector {
	pthread_t thread;
	uint64_t seed, damages;
};

static uint64_t random_next(uint64_t *seed)
{
	uint64_t x = *seed += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* All that may be known about one key. */
struct truth {
	struct smx_key key;
	unsigned depth;
	smx_value lower[4], upper[4]; /* the last of each is exact, the first says nothing */
	uint8_t user;
};

static struct truth truth_of(uint64_t number)
{
	uint64_t seed = number * UINT64_C(0xd1342543de82ef95) + 1;
	struct truth truth = {.depth = (unsigned)(number % 4)};
	/* Position keys as a game with well-mixed ones would have them. */
	truth.key = smxi_tt_key((struct smx_key){{random_next(&seed), random_next(&seed)}}, salts[truth.depth]);
	const uint64_t noise = random_next(&seed);
	/* Many zero bits at the end, as evaluators on a coarse scale have them, for some keys; all bits for others. */
	const unsigned zeros = noise & 1 ? 40 : 0;
	const smx_value value = (smx_value)(noise >> 12 >> zeros << zeros) - VALUE_LIMIT / 4;
	const smx_value step = (smx_value)(1 + (noise >> 1 & 7)) * (INT64_C(1) << zeros);
	for (int i = 0; i < 4; i++) {
		truth.lower[i] = i ? value - step * (3 - i) : -VALUE_LIMIT;
		truth.upper[i] = i ? value + step * (3 - i) * 3 : VALUE_LIMIT;
	}
	truth.user = (uint8_t)(noise >> 4);
	return truth;
}

static bool is_one_of(smx_value bound, const smx_value bounds[4])
{
	return bound == bounds[0] || bound == bounds[1] || bound == bounds[2] || bound == bounds[3];
}

static bool is_true(const struct truth *truth, const struct smxi_tt_found *found)
{
	return is_one_of(found->lower, truth->lower) && is_one_of(found->upper, truth->upper) && found->user == truth->user;
}

static uint64_t number_next(uint64_t *seed)
{
	const uint64_t r = random_next(seed);
	return r & 3 ? (r >> 2) % KEYS : (r >> 2) % HOT_KEYS;
}

/* Leave the processor to the workers. */
static void pause_shortly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

static void *work(void *context)
{
	struct worker *const worker = context;
	for (uint64_t done = 0; done < worker->pairs;) {
		const uint64_t batch = worker->pairs - done < BATCH ? worker->pairs - done : BATCH;
		for (uint64_t i = 0; i < batch; i++) {
			const struct truth stored = truth_of(number_next(&worker->seed));
			const uint64_t choice = random_next(&worker->seed);
			switch (smxi_tt_store(table, stored.key, stored.depth, stored.lower[choice & 3],
			                      stored.upper[choice >> 2 & 3], stored.user)) {
			case SMXI_TT_ADDED:
				break;
			case SMXI_TT_MERGED:
				worker->merged++;
				break;
			case SMXI_TT_REPLACED:
				worker->replaced++;
				break;
			case SMXI_TT_CONFLICT: /* true bounds cannot contradict each other */
				worker->conflicts++;
				break;
			}
			const struct truth asked = truth_of(number_next(&worker->seed));
			struct smxi_tt_found found;
			smxi_tt_prefetch(table, asked.key);
			if (smxi_tt_probe(table, asked.key, asked.depth, &found)) {
				worker->hits++;
				worker->exact += found.lower == found.upper;
				worker->wrong += !is_true(&asked, &found);
			}
		}
		done += batch;
		atomic_fetch_add_explicit(&pairs_done, batch, memory_order_relaxed);
	}
	return NULL;
}

static uint64_t word_get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void word_set(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

/* Damage slots at a rate that leaves most of the table sound at any time: a slot damaged too often answers nothing, and
 * then nothing is tested. */
static void *inject(void *context)
{
	struct injector *const injector = context;
	size_t words;
	_Atomic uint64_t *const first = smxi_tt_words(table, &words);
	const uint64_t slots = words / SMXI_TT_WORDS;
	uint64_t kept[16][SMXI_TT_WORDS] = {{0}}; /* whole entries copied out earlier, with the slots they lay in */
	uint64_t kept_slot[16] = {0};
	for (uint64_t turn = 0; !atomic_load_explicit(&finished, memory_order_relaxed);) {
		if (injector->damages * DAMAGE_INTERVAL > atomic_load_explicit(&pairs_done, memory_order_relaxed)) {
			pause_shortly();
			continue;
		}
		const uint64_t r = random_next(&injector->seed);
		const uint64_t slot = r % slots;
		const uint64_t other = r >> 20 & 1 ? slot ^ 1 : random_next(&injector->seed) % slots;
		_Atomic uint64_t *const to = first + slot * SMXI_TT_WORDS, *const from = first + other * SMXI_TT_WORDS;
		const unsigned mask = (unsigned)(r >> 24 & 15); /* which words; some are halves, some single, some all */
		const unsigned memory = (unsigned)(turn++ % 16);
		switch (r >> 32 & 3) {
		case 0: /* words of another slot */
			for (unsigned w = 0; w < SMXI_TT_WORDS; w++)
				if (mask >> w & 1)
					word_set(to + w, word_get(from + w));
			break;
		case 1: /* the slot's own words of some time ago, as a writer that was stopped halfway would leave them */
			for (unsigned w = 0; w < SMXI_TT_WORDS; w++)
				if (mask >> w & 1)
					word_set(first + kept_slot[memory] * SMXI_TT_WORDS + w, kept[memory][w]);
			for (unsigned w = 0; w < SMXI_TT_WORDS; w++)
				kept[memory][w] = word_get(to + w);
			kept_slot[memory] = slot;
			break;
		case 2: /* two slots exchange words */
			for (unsigned w = 0; w < SMXI_TT_WORDS; w++)
				if (mask >> w & 1) {
					const uint64_t word = word_get(to + w);
					word_set(to + w, word_get(from + w));
					word_set(from + w, word);
				}
			break;
		default: /* one bit, anywhere */
			word_set(to + (r >> 40 & 3), word_get(to + (r >> 40 & 3)) ^ UINT64_C(1) << (r >> 48 & 63));
			break;
		}
		injector->damages++;
	}
	return NULL;
}

/* Every key's answer in a table that was loaded from a file written while others worked. */
static uint64_t wrong_in(struct smxi_tt *tt, uint64_t *hits)
{
	uint64_t wrong = 0;
	for (uint64_t number = 0; number < KEYS; number++) {
		const struct truth truth = truth_of(number);
		struct smxi_tt_found found;
		if (smxi_tt_probe(tt, truth.key, truth.depth, &found)) {
			(*hits)++;
			wrong += !is_true(&truth, &found);
		}
	}
	return wrong;
}

static bool read_number(const char *text, uint64_t *number)
{
	char *end;
	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0';
}

int main(int count, char **arguments)
{
	uint64_t pairs = 2000000, threads = 4, seed = 20240229;
	if (count > 4 || (count > 1 && !read_number(arguments[1], &pairs)) ||
	    (count > 2 && !read_number(arguments[2], &threads)) || (count > 3 && !read_number(arguments[3], &seed)) ||
	    pairs < 100000 || threads < 1 || threads > THREADS_MAX) {
		fprintf(stderr, "usage: stress_tt [pairs >= 100000] [threads 1..%d] [seed]\n", THREADS_MAX);
		return 2;
	}
	printf("pairs %" PRIu64 ", threads %" PRIu64 " and an injector, seed %" PRIu64 "\n", pairs, threads, seed);
	fflush(stdout);

	const char *parent = getenv("TMPDIR");
	char directory[512], path[600];
	snprintf(directory, sizeof directory, "%s/stress-tt-XXXXXX", parent ? parent : "/tmp");
	struct smx_error error = {.message = ""};
	if (!mkdtemp(directory) || smxi_tt_create(SIZE_BYTES, &table, &error) != SMX_OK) {
		fprintf(stderr, "stress_tt: no directory for files, or no table: %s\n", error.message);
		return 2;
	}
	snprintf(path, sizeof path, "%s/table", directory);
	for (unsigned depth = 0; depth < 4; depth++)
		salts[depth] = smxi_tt_salt(FINGERPRINT, depth);

	static struct worker workers[THREADS_MAX];
	struct injector injector = {.seed = random_next(&seed)};
	if (pthread_create(&injector.thread, NULL, inject, &injector) != 0)
		return 2;
	for (uint64_t i = 0; i < threads; i++) {
		workers[i].seed = random_next(&seed);
		workers[i].pairs = pairs / threads + (i < pairs % threads);
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
			return 2;
	}

	/* A search begins every 64th, a file is written and read back every 16th, a clearing happens halfway. */
	uint64_t searches = 0, files = 0, file_hits = 0, file_wrong = 0, refused = 0;
	unsigned used_most = 0;
	for (uint64_t part = 1; part < 64; part++) {
		while (atomic_load_explicit(&pairs_done, memory_order_relaxed) < pairs / 64 * part)
			pause_shortly();
		smxi_tt_new_search(table);
		searches++;
		const struct smxi_tt_usage usage = smxi_tt_usage(table);
		used_most = usage.used_permille > used_most ? usage.used_permille : used_most;
		if (part == 32)
			smxi_tt_clear(table);
		if (part % 4)
			continue;
		struct smxi_tt *loaded;
		if (smxi_tt_save(table, path, FINGERPRINT, TEXT, &error) != SMX_OK ||
		    smxi_tt_load(path, FINGERPRINT, TEXT, &loaded, &error) != SMX_OK) {
			printf("a file failed: %s\n", error.message);
			refused++;
			continue;
		}
		files++;
		file_wrong += wrong_in(loaded, &file_hits);
		smxi_tt_destroy(loaded);
	}
	struct worker all = {0};
	for (uint64_t i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		all.hits += workers[i].hits;
		all.exact += workers[i].exact;
		all.merged += workers[i].merged;
		all.replaced += workers[i].replaced;
		all.conflicts += workers[i].conflicts;
		all.wrong += workers[i].wrong;
	}
	atomic_store_explicit(&finished, true, memory_order_relaxed);
	pthread_join(injector.thread, NULL);
	unlink(path);
	rmdir(directory);
	smxi_tt_destroy(table);

	printf("hits %" PRIu64 " (exact %" PRIu64 "), merged %" PRIu64 ", replaced %" PRIu64 ", damages %" PRIu64 "\n",
	       all.hits, all.exact, all.merged, all.replaced, injector.damages);
	printf("searches %" PRIu64 ", files %" PRIu64 " with %" PRIu64 " hits, used at most %u per mille\n", searches,
	       files, file_hits, used_most);
	printf("wrong answers %" PRIu64 ", contradictions %" PRIu64 ", wrong answers from files %" PRIu64
	       ", files refused %" PRIu64 "\n",
	       all.wrong, all.conflicts, file_wrong, refused);
	if (all.wrong || all.conflicts || file_wrong || refused)
		return 1;
	/* What did not happen was not tested. */
	if (all.hits < pairs / 20 || all.merged < pairs / 20 || all.replaced < pairs / 20 || all.exact == 0 ||
	    injector.damages < pairs / DAMAGE_INTERVAL / 4 || files == 0 || file_hits == 0) {
		printf("too little happened\n");
		return 1;
	}
	return 0;
}
