/*
 * duplicates.h: which documents have the same text as an earlier one: the same hash of the text, and the same tokens.
 * They are found before documents are copied, by sorting (hash, number) in bounded memory, and asked for one by one
 * while documents are copied.
 */
#ifndef LEAT_ARRANGE_DUPLICATES_H
#define LEAT_ARRANGE_DUPLICATES_H

#include "merge_parts.h"
#include "sorting/external_sort.h"
#include "sorting/helpers.h"

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

/* Whether document `number` is a duplicate; numbers must rise from call to call. */
enum leat_status duplicates_has(struct duplicates *d, uint64_t number, bool *has, struct leat_error *err);

/* A zeroed struct whose numbers.fd is -1 is fine. */
void duplicates_end(struct duplicates *d);

/* The number of duplicates. */
static inline uint64_t duplicates_count(const struct duplicates *d)
{
    return d->numbers.total;
}

#endif
