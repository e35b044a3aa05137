/*
 * verify.h: what verify.c (threads, tokens, sections) and verify_records.c (the small records) share.
 */
#ifndef LEAT_VERIFY_H
#define LEAT_VERIFY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "dataset.h"

/* A section and the sum of its pages, as far as they have been read. */
struct verify_area {
    unsigned kind; /* 0: one that is not known */
    struct format_place place;
    struct hash128 sum;
};

/* Counted from the origins, to be compared with what the inputs say. */
struct verify_count {
    _Atomic uint64_t documents, tokens;
};

struct verify {
    struct part *part;
    const struct leat_dataset *dataset;
    uint64_t part_number;
    const struct leat_verify_options *options;
    struct verify_area areas[FORMAT_KINDS + FORMAT_MAX_SECTIONS];
    unsigned area_count;
    uint64_t token_tasks, tasks; /* those of tokens, and all: areas follow in order */
    uint64_t inputs;
    struct verify_count *counts; /* one an input */
    atomic_bool uncounted;       /* something is wrong with the origins: the counts are not complete */

    pthread_mutex_t lock; /* guards what follows while threads run */
    uint64_t next_task;
    uint64_t total; /* bytes of the whole dataset, for the progress */
    struct hash128 token_sum;
    bool stopped;
    enum leat_status status;
    struct leat_error first; /* the damage of least rank */
    uint64_t rank;
    struct leat_verify_report *report;
};

/*
 * Damage is reported in an order that does not depend on threads: after what could not be read at all, damaged sections
 * (what they say of the rest is not worth much), damaged pages by their number, then ids, document borders, and what
 * is wrong in sections that are not damaged, by their place.
 */
#define VERIFY_RANK_SUMS      ((uint64_t)1 << 60)
#define VERIFY_RANK_PAGES     ((uint64_t)2 << 60)
#define VERIFY_RANK_TOKENS    ((uint64_t)3 << 60)
#define VERIFY_RANK_DOCUMENTS ((uint64_t)4 << 60)
#define VERIFY_RANK_RECORDS   ((uint64_t)5 << 60)

/* Whether a status speaks of the dataset, and not of a disk that fails or a lack of memory. */
static inline bool verify_is_damage(enum leat_status s)
{
    return s >= LEAT_E_NOT_LEAT && s <= LEAT_E_MISMATCH && s != LEAT_E_TRUNCATED;
}

void verify_note(struct verify *v, enum leat_status status, const struct leat_error *why, uint64_t rank);

/* After the threads: the sums, the padding, inputs, tokenizer and metadata. */
void verify_records(struct verify *v);

#endif
