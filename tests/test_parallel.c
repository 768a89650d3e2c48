/* The machine's facts, and chunks from jemalloc. */
#include <starmax/parallel.h>

#include <criterion/criterion.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool without_jemalloc(void)
{
	struct smx_parallel_machine machine;
	smx_parallel_machine(&machine);
	return strcmp(machine.jemalloc, "none") == 0;
}

Test(machine, counts_are_possible)
{
	struct smx_parallel_machine machine;
	memset(&machine, 0xff, sizeof(machine));
	smx_parallel_machine(&machine);
	cr_assert_geq(machine.usable, 1);
	cr_assert_leq(machine.usable, machine.processors);
	cr_assert_leq(machine.cores, machine.processors);
	cr_assert_leq(machine.numa_nodes, machine.processors);
}

Test(machine, every_name_is_filled_in)
{
	struct smx_parallel_machine machine;
	memset(&machine, 0xff, sizeof(machine));
	smx_parallel_machine(&machine);
	const struct {
		const char *text;
		size_t size;
	} names[] = {
		{machine.model, sizeof(machine.model)},
		{machine.hwloc, sizeof(machine.hwloc)},
		{machine.openmp_runtime, sizeof(machine.openmp_runtime)},
		{machine.jemalloc, sizeof(machine.jemalloc)},
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		cr_assert_not_null(memchr(names[i].text, 0, names[i].size), "name %zu does not end", i);
		cr_assert_neq(names[i].text[0], 0, "name %zu is empty", i);
	}
}

Test(machine, names_a_runtime_exactly_where_openmp_is_on)
{
	struct smx_parallel_machine machine;
	smx_parallel_machine(&machine);
	if (machine.openmp_date == 0) {
		cr_assert_str_eq(machine.openmp_runtime, "none");
	} else {
		cr_assert_geq(machine.openmp_date, 201511);
		cr_assert(strcmp(machine.openmp_runtime, "GNU libgomp") == 0 ||
		              strcmp(machine.openmp_runtime, "LLVM libomp") == 0,
		          "the runtime is '%s'", machine.openmp_runtime);
	}
}

Test(machine, knows_the_cores_exactly_where_hwloc_is_on)
{
	struct smx_parallel_machine machine;
	smx_parallel_machine(&machine);
	cr_assert_eq(machine.cores > 0, strcmp(machine.hwloc, "none") != 0);
}

Test(chunks, are_null_exactly_without_jemalloc)
{
	struct smx_parallel_chunks *chunks = NULL;
	cr_assert_eq(smx_parallel_chunks_create(&chunks), SMX_OK);
	cr_assert_eq(chunks == NULL, without_jemalloc());
	cr_assert_eq(smx_parallel_chunks_source(chunks) == NULL, without_jemalloc());
	smx_parallel_chunks_destroy(chunks);
}

Test(chunks, are_aligned_and_apart)
{
	struct smx_parallel_chunks *chunks = NULL;
	cr_assert_eq(smx_parallel_chunks_create(&chunks), SMX_OK);
	const struct smx_chunk_source *source = smx_parallel_chunks_source(chunks);
	if (source) {
		enum { COUNT = 12 };
		unsigned char *chunk[COUNT];
		size_t size = 1;
		for (size_t i = 0; i < COUNT; i++, size *= 4) {
			chunk[i] = source->acquire(source->context, size);
			cr_assert_not_null(chunk[i]);
			cr_assert_eq((uintptr_t)chunk[i] % SMX_CACHE_LINE, 0);
			memset(chunk[i], (int)i, size);
		}
		for (size_t i = COUNT; i-- > 0;) {
			size /= 4;
			cr_assert_eq(chunk[i][0], i);
			cr_assert_eq(chunk[i][size - 1], i);
			source->release(source->context, chunk[i], size);
		}
	}
	smx_parallel_chunks_destroy(chunks);
}

/* jemalloc has 4,094 arenas in all: it would run out if destroying one kept its number. */
Test(chunks, destroying_gives_the_arena_back)
{
	for (int i = 0; i < 5000; i++) {
		struct smx_parallel_chunks *chunks = NULL;
		cr_assert_eq(smx_parallel_chunks_create(&chunks), SMX_OK, "object %d", i);
		const struct smx_chunk_source *source = smx_parallel_chunks_source(chunks);
		if (source)
			cr_assert_not_null(source->acquire(source->context, 4096));
		smx_parallel_chunks_destroy(chunks);
	}
}

enum { RACES = 5000 };

struct race {
	atomic_int number;                     /* of the race that is on; -1: there are no more */
	atomic_int ended;                      /* the last one in which the other thread has its chunk */
	const struct smx_chunk_source *source; /* of this race */
	void *chunk;                           /* the other thread's */
};

static void *take_one_each(void *argument)
{
	struct race *race = argument;
	for (int last = 0;;) {
		int number;
		while ((number = atomic_load(&race->number)) == last)
			sched_yield(); /* awake, so that both are off together */
		if (number < 0)
			return NULL;
		last = number;
		race->chunk = race->source->acquire(race->source->context, 64);
		atomic_store(&race->ended, number);
	}
}

/* Two threads that ask for the first chunk together may both make jemalloc's arena. */
Test(chunks, are_given_to_threads_that_begin_together, .timeout = 120)
{
	pthread_t other;
	struct race race = {.source = NULL};
	if (without_jemalloc())
		return;
	cr_assert_eq(pthread_create(&other, NULL, take_one_each, &race), 0);
	for (int number = 1; number <= RACES; number++) {
		struct smx_parallel_chunks *chunks;
		cr_assert_eq(smx_parallel_chunks_create(&chunks), SMX_OK);
		race.source = smx_parallel_chunks_source(chunks);
		atomic_store(&race.number, number);
		void *chunk = race.source->acquire(race.source->context, 64);
		while (atomic_load(&race.ended) < number)
			sched_yield();
		cr_assert(chunk && race.chunk && chunk != race.chunk, "race %d", number);
		race.source->release(race.source->context, chunk, 64);
		race.source->release(race.source->context, race.chunk, 64);
		smx_parallel_chunks_destroy(chunks);
	}
	atomic_store(&race.number, -1);
	pthread_join(other, NULL);
}

Test(chunks, carry_an_arena)
{
	struct smx_parallel_chunks *chunks = NULL;
	cr_assert_eq(smx_parallel_chunks_create(&chunks), SMX_OK);
	struct smx_arena *arena = smx_arena_create(smx_parallel_chunks_source(chunks));
	cr_assert_not_null(arena);
	unsigned char *first = smx_arena_alloc(arena, 3000);
	unsigned char *second = smx_arena_alloc(arena, (size_t)8 << 20);
	cr_assert(first && second);
	memset(first, 1, 3000);
	memset(second, 2, (size_t)8 << 20);
	cr_assert_eq(first[2999], 1);
	smx_arena_destroy(arena);
	smx_parallel_chunks_destroy(chunks);
}
