/*
 * verify.h: the room that checks an open dataset from end to end. Checks of bytes, ids, borders or records that reading
 * does not make belong here; repair, and checks that a reader needs at once (the part makes these), do not.
 *
 * Only this room looks into the index of leat's own format without asking the part. For a part without an index, it
 * checks ids, documents and hashes, as far as they exist. This header is for the files of the room: verify.c has
 * threads, reading and damage.
 */
#ifndef LEAT_VERIFY_H
#define LEAT_VERIFY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/tiny.h"
#include "dataset/part_index.h"

#define VERIFY_BY_MAP     1u /* this task goes by a map and the next one reads; then it is known what is faster */
#define VERIFY_TASK_BYTES TINY_OR((uint64_t)128 << 10, (uint64_t)16 << 20)
#define VERIFY_BUFFER_BYTES                                                                                            \
    TINY_OR((uint64_t)4 << 10, (uint64_t)256 << 10) /* bytes of a buffer, which stays in the
                                                                               second-level cache */
#define VERIFY_STARTS (VERIFY_BUFFER_BYTES / FORMAT_ORIGIN_BYTES + 1)

/* A section and the sum of its pages, as far as they have been read. */
struct verify_area {
    unsigned kind; /* 0: unknown */
    struct format_place place;
    struct hash128 sum;
};

/* Documents and tokens counted from the origins, to compare with the inputs. */
struct verify_count {
    _Atomic uint64_t documents, tokens;
};

struct verify {
    struct part *part;
    uint64_t part_number;
    const struct leat_verify_options *options;
    bool index_only; /* true if tokens are not read */
    struct verify_area areas[FORMAT_KINDS + FORMAT_MAX_SECTIONS];
    unsigned area_count;
    uint64_t token_tasks, tasks;         /* tasks of tokens, and tasks of all kinds: areas follow the tokens in order */
    _Atomic uint64_t mapped_ns, read_ns; /* time that VERIFY_BY_MAP and the task after it took; 0: not known */
    uint64_t inputs;
    struct verify_count *counts; /* one per input */
    atomic_bool uncounted;       /* the origins are damaged, so the counts are incomplete */

    pthread_mutex_t lock; /* guards the following members while threads run */
    uint64_t next_task;
    uint64_t total; /* bytes of the whole dataset, for the progress */
    struct hash128 token_sum;
    struct leat_verify_part found; /* in this part */
    bool stopped;
    enum leat_status status;
    struct leat_error first; /* the damage that has the lowest rank */
    uint64_t rank;
    struct leat_verify_report *report;
};

/*
 * Ranks of damage, so that the report does not depend on threads: failures to read, damaged sections (what they say
 * about the rest is worth little), damaged pages by number, then ids, document borders, and mistakes in sections
 * whose bytes are sound, by their place.
 */
#define VERIFY_RANK_SUMS      ((uint64_t)1 << 60)
#define VERIFY_RANK_PAGES     ((uint64_t)2 << 60)
#define VERIFY_RANK_TOKENS    ((uint64_t)3 << 60)
#define VERIFY_RANK_DOCUMENTS ((uint64_t)4 << 60)
#define VERIFY_RANK_RECORDS   ((uint64_t)5 << 60)
#define VERIFY_RANK_COLUMNS   ((uint64_t)6 << 60)

/* Returns true if an error is about the dataset, not about a failing disk, missing memory, or an object that is
 * replaced on its server. */
static inline bool verify_is_damage(enum leat_status s, const struct leat_error *why)
{
    return s >= LEAT_E_NOT_LEAT && s <= LEAT_E_MISMATCH && s != LEAT_E_TRUNCATED && why->hint != LEAT_HINT_AGAIN;
}

/* One thread's state. */
struct verify_worker {
    struct verify *v;
    bool maps;            /* this task goes by a map, if there is one */
    const uint8_t *bytes; /* the bytes to check now: in a window of the file, or in `buffer` */
    uint8_t *buffer;      /* VERIFY_BUFFER_BYTES */
    uint64_t *starts;     /* VERIFY_STARTS */
    struct leat_error err;
};

/* ---- verify_share.c ---- */

/* Keeps the damage if it has the lowest rank so far. A failure that is not damage stops the work. */
void verify_note(struct verify *v, enum leat_status status, const struct leat_error *why, uint64_t rank);

/* Notes a page of tokens with a wrong hash. `why` is the sentence; NULL: one is made. */
void verify_note_page(struct verify_worker *w, uint64_t page, const struct leat_error *why);

/* Returns how many of `size` bytes belong to task `task`. */
static inline uint64_t verify_task_bytes(uint64_t size, uint64_t task)
{
    uint64_t left = size - task * VERIFY_TASK_BYTES;

    return left < VERIFY_TASK_BYTES ? left : VERIFY_TASK_BYTES;
}

/* A stretch of a file that is read chunk by chunk. */
struct verify_stretch {
    struct file_map *file;
    uint64_t offset;
    struct file_window window;
    bool mapped;
};

struct verify_stretch verify_open_stretch(const struct verify_worker *w, struct file_map *file, uint64_t offset,
                                          uint64_t bytes);
void verify_close_stretch(struct verify_stretch *s);

/* Sets w->bytes to `count` bytes at `at` in the stretch. */
enum leat_status verify_load_chunk(struct verify_worker *w, const struct verify_stretch *s, uint64_t at,
                                   uint64_t count);

/* ---- verify_tokens.c ---- */

/* Does a task of tokens, and reports damage to verify_note(). */
void verify_tokens(struct verify_worker *w, uint64_t task);

#endif
