/*
 * duplicates.h: finds documents whose text is that of an earlier document: the hashes of both texts are equal, and so
 * are their tokens. They are found before documents are copied, by sorting (hash, number) in bounded memory, and asked
 * for one by one while documents are copied.
 */
#ifndef LEAT_ARRANGE_DUPLICATES_H
#define LEAT_ARRANGE_DUPLICATES_H

#include "merge_parts.h"
#include "sorting/external_sort.h"
#include "sorting/helpers.h"

struct duplicates {
    struct external_sort numbers; /* numbers of the documents that will be dropped */
    struct triple next;           /* the next document that will be dropped */
    bool more;                    /* false if `next` is none, since all were taken */
};

/* Finds all duplicates; `helpers` (or NULL) read and hash the tokens of candidates. Files lie on the disk of `path`,
 * which is kept. duplicates_end() must follow, on failure too. */
enum leat_status duplicates_find(struct duplicates *d, const struct merge_parts *parts, const char *path,
                                 uint64_t memory_bytes, struct helpers *helpers, struct pace *pace,
                                 struct leat_error *err);

/* Sets *has to true if document `number` is a duplicate. Numbers must rise from call to call. */
enum leat_status duplicates_has(struct duplicates *d, uint64_t number, bool *has, struct leat_error *err);

/* Frees everything. A zeroed struct whose numbers.fd is -1 is fine. */
void duplicates_end(struct duplicates *d);

/* Returns the number of duplicates. */
static inline uint64_t duplicates_count(const struct duplicates *d)
{
    return d->numbers.total;
}

#endif
