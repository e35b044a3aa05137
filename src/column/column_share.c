/* column_share.c: which documents and which files each part of a column has that many processes attach. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/search.h"
#include "base/status.h"
#include "column.h"

struct wanted_start {
    const struct leat_dataset *dataset;
    uint64_t token;
};

static enum leat_status starts_before(void *context, uint64_t document, bool *before, struct leat_error *err)
{
    const struct wanted_start *wanted = context;
    uint64_t start = 0;
    enum leat_status s = leat_dataset_starts(wanted->dataset, document, 1, &start, err);

    *before = start < wanted->token;
    return s;
}

/* Finds the document that a share begins with. */
static enum leat_status first_document(uint64_t *document, const struct leat_dataset *d, struct column_share share,
                                       struct leat_error *err)
{
    uint64_t i = share.number, n = share.count;
    struct wanted_start wanted = { d, d->tokens / n * i + d->tokens % n * i / n };

    *document = d->documents;
    return i < n ? search_first_read(document, 0, d->documents, starts_before, &wanted, err) : LEAT_OK;
}

enum leat_status leat_column_range(const struct leat_dataset *d, uint64_t part, uint64_t parts, uint64_t *first,
                                   uint64_t *count, struct leat_error *err)
{
    enum leat_status s;

    if (part >= parts || parts > LEAT_COLUMN_MAX_PARTS)
        return status_argument(
            err, "part", "no part %" PRIu64 " of %" PRIu64 ": parts are numbered from 0, and there are at most %u",
            part, parts, LEAT_COLUMN_MAX_PARTS);
    s = dataset_need_documents(d, err);
    if (s == LEAT_OK)
        s = first_document(first, d, (struct column_share) { part, parts }, err);
    if (s == LEAT_OK)
        s = first_document(count, d, (struct column_share) { part + 1, parts }, err);
    if (s == LEAT_OK)
        *count -= *first;
    return s;
}

enum leat_status column_share_entries(const struct leat_dataset *d, struct column_share share, uint32_t at,
                                      uint64_t *first, uint64_t *count, struct leat_error *err)
{
    uint64_t end;
    enum leat_status s;

    *first = 0;
    *count = at == LEAT_COLUMN_TOKEN ? d->tokens : d->documents;
    if (share.count == 0 && share.number == 0)
        return LEAT_OK;
    s = leat_column_range(d, share.number, share.count, first, count, err);
    if (s != LEAT_OK || at == LEAT_COLUMN_DOCUMENT)
        return s;
    s = leat_dataset_starts(d, *first + *count, 1, &end, err);
    if (s == LEAT_OK)
        s = leat_dataset_starts(d, *first, 1, first, err);
    if (s == LEAT_OK)
        *count = end - *first;
    return s;
}

char *column_path(const struct leat_dataset *d, const struct part *p, const char *column, const char *suffix)
{
    char *end = column ? path_append(".", 1, column, suffix, NULL) : path_append(suffix, strlen(suffix), NULL);
    char *path = end ? dataset_beside(d, p->name, strlen(p->name), end) : NULL;

    free(end);
    return path;
}

char *column_share_path(const struct leat_dataset *d, const struct part *p, const char *column, const char *suffix,
                        struct column_share share)
{
    char whole[80];

    if (share.count == 0)
        return column_path(d, p, column, suffix);
    snprintf(whole, sizeof whole, "%s.%" PRIu64 "-of-%" PRIu64, suffix, share.number, share.count);
    return column_path(d, p, column, whole);
}
