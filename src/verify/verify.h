/*
 * verify.h: the room that checks an open dataset from end to end. What enters: a check of bytes, ids, borders or
 * records that reading does not make. What does not: repair, and checks that a reader needs at once (these are the
 * part's).
 *
 * It alone looks behind a part, at the index of leat's own format. A part without an index has its ids, its documents
 * and its hashes checked, as far as it has them. This is what its files share: verify.c has threads, reading and
 * damage.
 */
#ifndef LEAT_VERIFY_H
#define LEAT_VERIFY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/tiny.h"
#include "dataset/part_index.h"

#define VERIFY_TASK_BYTES   TINY_OR((uint64_t)128 << 10, (uint64_t)16 << 20)
#define VERIFY_BUFFER_BYTES TINY_OR((uint64_t)4 << 10, (uint64_t)256 << 10) /* stays in the second-level cache */
#define VERIFY_STARTS       (VERIFY_BUFFER_BYTES / FORMAT_ORIGIN_BYTES + 1)

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
    uint64_t damaged_pages; /* of this part */
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

/* A thread's own. */
struct verify_worker {
    struct verify *v;
    const uint8_t *bytes; /* the piece that is looked at: in a window of the file, or in `buffer` */
    uint8_t *buffer;      /* VERIFY_BUFFER_BYTES */
    uint64_t *starts;     /* VERIFY_STARTS */
    struct leat_error err;
};

/* Keeps the damage if nothing of less rank is known; what is not damage stops the work. */
void verify_note(struct verify *v, enum leat_status status, const struct leat_error *why, uint64_t rank);

/* The same for a page of tokens whose hash is wrong. */
void verify_note_page(struct verify_worker *w, uint64_t page);

/* How much of `size` bytes task `task` of them has. */
static inline uint64_t verify_task_bytes(uint64_t size, uint64_t task)
{
    uint64_t left = size - task * VERIFY_TASK_BYTES;

    return left < VERIFY_TASK_BYTES ? left : VERIFY_TASK_BYTES;
}

/* A stretch of a file that is gone through piece by piece. */
struct verify_stretch {
    struct file_map *file;
    uint64_t offset;
    struct file_window window;
    bool mapped;
};

struct verify_stretch verify_open_stretch(struct file_map *file, uint64_t offset, uint64_t bytes);
void verify_close_stretch(struct verify_stretch *s);

/* Sets w->bytes to `count` bytes, at `at` in the stretch. */
enum leat_status verify_load_piece(struct verify_worker *w, const struct verify_stretch *s, uint64_t at,
                                   uint64_t count);

/* A task each; what they find goes to verify_note(). */
void verify_tokens(struct verify_worker *w, uint64_t task);
void verify_section(struct verify_worker *w, struct verify_area *a, uint64_t task);

/* After the threads: the sums, the padding, inputs, tokenizer and metadata. */
void verify_records(struct verify *v);

#endif
