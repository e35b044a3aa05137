/*
 * duplicates.h: which documents have the same text as an earlier one: the same hash of the text, and the same tokens.
 * They are found before documents are copied, by sorting (hash, number) in bounded memory, and asked for one by one
 * while documents are copied.
 */
#ifndef LEAT_ARRANGE_DUPLICATES_H
#define LEAT_ARRANGE_DUPLICATES_H

#include "merge_parts.h"
#include "pace.h"
#include "sorting/external_sort.h"
#include "sorting/helpers.h"
#include "sorting/slices.h"

struct duplicates {
    struct external_sort numbers; /* of the documents to be dropped */
    struct triple next;
    bool more; /* `next` is one */
};

/* Finds them all; `helpers` (NULL: none) read and hash the tokens of candidates. Files lie on the disk of `path`, which
 * is kept. On failure too duplicates_end() must follow. */
enum leat_status duplicates_find(struct duplicates *d, const struct merge_parts *parts, const char *path,
                                 uint64_t memory_bytes, struct helpers *helpers, struct pace *pace,
                                 struct leat_error *err);

/* Takes their numbers from slice `slice` of `count` files of as many slices, instead; all are below `documents`. */
#define DUPLICATES_WORDS 1
enum leat_status duplicates_load(struct duplicates *d, const char *const *files, uint64_t count, uint64_t slice,
                                 uint64_t documents, const char *path, uint64_t memory_bytes, struct leat_error *err);

/* Whether document `number` is a duplicate; numbers must rise from call to call. */
enum leat_status duplicates_has(struct duplicates *d, uint64_t number, bool *has, struct leat_error *err);

/* A zeroed struct whose numbers.fd is -1 is fine. */
void duplicates_end(struct duplicates *d);

/* ---- Step by step, for hashes of parts that are not all open at once ---- */

struct candidates;

struct duplicates_finder {
    const char *path;
    uint64_t memory;
    struct helpers *helpers;
    struct pace *pace;
    uint64_t key[2];
    uint8_t (*hashes)[16];
    struct candidates *groups; /* of candidates; they take turns */
    unsigned next_group;
    struct external_sort by_text, candidates, by_tokens;
    struct triple next; /* of the candidates */
    bool more;
};

/* `helpers` as for duplicates_find(). On failure too duplicates_close() must follow. */
enum leat_status duplicates_open(struct duplicates_finder *f, const char *path, uint64_t memory,
                                 struct helpers *helpers, struct pace *pace, struct leat_error *err);
void duplicates_close(struct duplicates_finder *f);

/* First: the halves of a text's hash, the high one first, and the document's number; or all of a part, whose first
 * document has the number `number`. */
enum leat_status duplicates_put(struct duplicates_finder *f, struct triple t, struct leat_error *err);
enum leat_status duplicates_put_part(struct duplicates_finder *f, const struct merge_part *part, uint64_t number,
                                     struct leat_error *err);
enum leat_status duplicates_turn(struct duplicates_finder *f, struct leat_error *err);

/* Then each part in its order, but those with no candidate among their documents. */
bool duplicates_wants(const struct duplicates_finder *f, uint64_t number, uint64_t documents);
enum leat_status duplicates_compare(struct duplicates_finder *f, const struct merge_part *part, uint64_t number,
                                    struct leat_error *err);

/* Last: the numbers of duplicates, in their order. */
enum leat_status duplicates_numbers(struct duplicates_finder *f, struct external_sort *numbers, struct leat_error *err);

/* The number of duplicates. */
static inline uint64_t duplicates_count(const struct duplicates *d)
{
    return d->numbers.total;
}

#endif
