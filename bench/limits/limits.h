/*
 * limits.h: what the parts of `leat-bench limits` share: the files and buffers that they measure with. Each part is a
 * function that fills a group of cases; limits.c runs and prints them.
 *
 * The room limits/ measures the ceilings of the machine: memory, files, hashes, zstd. What may enter: bare loops
 * that do what any program would have to do, without a room that knows tokens.
 */
#ifndef LEAT_BENCH_LIMITS_H
#define LEAT_BENCH_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/measure/contest.h"

#define LIMITS_MAX_CASES 16u

struct limits {
    const char *folder;
    unsigned cores;
    uint64_t file_bytes; /* size of the test file */
    uint64_t hot_bytes;  /* size of the file's beginning, which fits in memory and which the rows of the page cache
                            read */
    uint64_t write_bytes;
    int file;   /* the test file, which has no name */
    int direct; /* the test file opened with O_DIRECT; -1: refused, for the reason in direct_errno */
    int direct_errno;
    int scratch;         /* a second file, for the writing row */
    size_t buffer_bytes; /* size of a buffer: far larger than the cache of a core, unless --size is small */
    uint8_t *from, *to;  /* buffer_bytes each */
    uint8_t *map;        /* map of the test file's hot part; NULL: not made yet */
    uint64_t seed;       /* state of the random places; it continues from run to run, so that runs read different
                            places */
};

/* The context of a case. */
struct limits_case {
    struct limits *limits;
    unsigned threads;
    uint64_t block; /* bytes per read */
    unsigned depth; /* reads in flight */
    void *extra;    /* data of this group's cases that no other group needs */
};

/* The cases of one group, ready for contest_run(). */
struct limits_group {
    const char *title, *key;
    size_t count;
    struct contest_case cases[LIMITS_MAX_CASES];
    struct limits_case contexts[LIMITS_MAX_CASES];
    void *extra;
    void (*release)(void *extra); /* frees `extra`; NULL: nothing to free */
};

/* Adds a case whose context is a copy of `context`. What the case has set already, such as `prepare`, stays. */
void limits_add(struct limits_group *g, const char *name, const char *item, struct limits_case context,
                bool (*run)(void *context, struct contest_work *work));

/* Fill a zeroed group, and return false if there is no memory. */
bool limits_memory(struct limits_group *g, struct limits *l);
bool limits_cache(struct limits_group *g, struct limits *l);
bool limits_disk(struct limits_group *g, struct limits *l);
bool limits_hash(struct limits_group *g, struct limits *l);
bool limits_zstd(struct limits_group *g, struct limits *l);

/* Calls contest_refuse() with `what`, and with the text of os_error unless that is 0. */
bool limits_refuse(struct contest_work *work, const char *what, int os_error);

/* Returns page-aligned memory, in huge pages if possible, or NULL if there is none. */
void *limits_map(size_t bytes);
void limits_unmap(void *memory, size_t bytes);

#endif
