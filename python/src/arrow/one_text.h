/* one_text.h: adds one text to a packer, or one document of ids. */
#ifndef LEAT_PYTHON_ONE_TEXT_H
#define LEAT_PYTHON_ONE_TEXT_H

#include <leat_pack.h>

/* Adds a text to a packer, with the spans that are learned, or without if `spans` is NULL. */
static inline enum leat_status add_one_text(struct leat_packer *p, const char *text, uint64_t bytes,
                                            const struct leat_span *spans, uint64_t span_count,
                                            const struct leat_origin *origin, struct leat_error *err)
{
    struct leat_texts one = LEAT_TEXTS_INIT;

    one.data = text;
    one.lengths = &bytes;
    one.spans = spans;
    one.span_counts = spans ? &span_count : NULL;
    one.origins = origin;
    one.count = 1;
    return leat_packer_add_texts(p, &one, err);
}

/* Adds a document of ids to a packer, with a mask, or without if `mask` is NULL. */
static inline enum leat_status add_one_of_ids(struct leat_packer *p, const uint32_t *ids, const uint8_t *mask,
                                              uint64_t count, const struct leat_origin *origin, struct leat_error *err)
{
    struct leat_documents one = LEAT_DOCUMENTS_INIT;

    one.ids = ids;
    one.id_width = 4;
    one.mask = mask;
    one.lengths = &count;
    one.origins = origin;
    one.count = 1;
    return leat_packer_add_ids(p, &one, err);
}

#endif
