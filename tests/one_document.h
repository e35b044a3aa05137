/* one_document.h: adds one whole document to a writer. */
#ifndef LEAT_TESTS_ONE_DOCUMENT_H
#define LEAT_TESTS_ONE_DOCUMENT_H

#include "leat.h"

static inline enum leat_status add_one_document(struct leat_writer *w, const void *ids, uint32_t id_width,
                                                const uint8_t *mask, uint64_t count, const struct leat_origin *origin,
                                                struct leat_error *err)
{
    struct leat_documents one = LEAT_DOCUMENTS_INIT;

    one.ids = ids;
    one.id_width = id_width;
    one.mask = mask;
    one.lengths = &count;
    one.origins = origin;
    one.count = 1;
    return leat_writer_add(w, &one, err);
}

#endif
