/*
 * read_again.h: opens a dataset by include/leat_read.h, which knows nothing of the library, and compares what both say
 * of it: whether and why it does not open, documents, tokens, masks.
 */
#ifndef LEAT_TESTS_SUPPORT_READ_AGAIN_H
#define LEAT_TESTS_SUPPORT_READ_AGAIN_H

#include <stdbool.h>

#include "leat.h"
#include "leat_read.h"

/* Returns what differs in the tokens of a document, or NULL. */
static inline const char *read_again_tokens(struct leat_read *r, const struct leat_dataset *d, uint64_t first,
                                            uint64_t count)
{
    uint32_t *ids = malloc(((size_t)count + 1) * 2 * sizeof *ids);
    uint8_t *masks = malloc(((size_t)count + 1) * 2);
    const char *differs = NULL;

    if (leat_read_tokens(r, first, count, ids) == 0) {
        if (leat_dataset_verify_range(d, first, count, NULL) != LEAT_OK)
            differs = "damage is not found";
        else if (leat_dataset_read_u32(d, first, count, ids + count, NULL) != LEAT_OK ||
                 memcmp(ids, ids + count, (size_t)count * sizeof *ids) != 0)
            differs = "other tokens";
        for (uint64_t i = 0; !differs && i < count; i++)
            if (ids[i] >= r->vocabulary)
                differs = "a token beyond the vocabulary";
    } else if (strcmp(r->status, "checksum") == 0 && leat_dataset_verify_range(d, first, count, NULL) == LEAT_OK) {
        differs = r->error;
    }
    if (!differs && r->mask && leat_read_weights(r, first, count, masks) == 0 &&
        (leat_dataset_mask(d, first, count, masks + count, NULL) != LEAT_OK ||
         memcmp(masks, masks + count, (size_t)count) != 0))
        differs = "another mask";
    free(masks);
    free(ids);
    return differs;
}

/* Returns what differs in a document, or NULL. */
static inline const char *read_again_document(struct leat_read *r, const struct leat_dataset *d, uint64_t number,
                                              bool whole)
{
    uint64_t begin = 0, tokens = 0, first, count, found;
    bool fine = leat_dataset_document(d, number, &begin, &tokens, NULL) == LEAT_OK;

    if ((leat_read_document(r, number, &first, &count) == 0) != fine || (fine && (first != begin || count != tokens)))
        return "another document";
    if (!fine || count == 0)
        return NULL;
    if (whole && (leat_read_document_at(r, first, &found) != 0 || found != number ||
                  leat_read_document_at(r, first + count - 1, &found) != 0 || found != number))
        return "another document of a token";
    return read_again_tokens(r, d, first, count);
}

/* Returns what leat_read.h says otherwise than the library, or NULL. The library opened the dataset, or did not and
 * gave `s`; it found it whole, or did not. At most the first `most` documents are read. */
static inline const char *read_again(const char *name, const struct leat_dataset *d, enum leat_status s, bool whole,
                                     uint64_t most)
{
    static struct leat_read r;
    const char *differs = NULL;

    if (leat_read_open(&r, name) != 0)
        return d || strcmp(r.status, leat_status_name(s)) != 0 ? r.error : NULL;
    if (!d)
        differs = "it opens";
    for (uint64_t i = 0; !differs && i < r.documents && i < most; i++)
        differs = read_again_document(&r, d, i, whole);
    leat_read_close(&r);
    return differs;
}

#endif
