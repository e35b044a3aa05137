/* batch.c: see batch.h. */
#include "batch.h"

#include <string.h>

void batch_begin(struct batch *b, struct leat_writer *writer, uint32_t width)
{
    b->next = NULL;
    b->writer = writer;
    b->width = width;
    b->count = 0;
    b->masked = false;
    b->bytes = b->open = b->texts = 0;
}

bool batch_append(struct batch *b, const void *ids, const uint8_t *mask, uint64_t bytes)
{
    if (bytes > BATCH_BYTES - b->bytes)
        return false;
    if (mask)
        memcpy(b->mask + b->bytes / b->width, mask, (size_t)bytes / b->width);
    b->masked = mask != NULL;
    memcpy(b->ids + b->bytes, ids, (size_t)bytes);
    b->bytes += (size_t)bytes;
    b->open += (size_t)bytes;
    return true;
}

bool batch_end_document(struct batch *b, const struct leat_origin *origin)
{
    struct leat_origin *o = &b->origins[b->count];

    if (b->count == BATCH_DOCUMENTS || origin->id_bytes > BATCH_TEXTS - b->texts)
        return false;
    *o = *origin;
    if (origin->id) {
        o->id = memcpy(b->text + b->texts, origin->id, (size_t)origin->id_bytes);
        b->texts += (size_t)origin->id_bytes;
    }
    if (origin->text_hash)
        o->text_hash = memcpy(b->hashes[b->count], origin->text_hash, sizeof b->hashes[0]);
    b->lengths[b->count++] = b->open / b->width;
    b->open = 0;
    return true;
}

void batch_move_open(struct batch *to, struct batch *from)
{
    from->bytes -= from->open;
    batch_append(to, from->ids + from->bytes, from->masked ? from->mask + from->bytes / from->width : NULL, from->open);
    from->open = 0;
}

struct leat_documents batch_documents(const struct batch *b)
{
    struct leat_documents d = LEAT_DOCUMENTS_INIT;

    d.ids = b->ids;
    d.lengths = b->lengths;
    d.origins = b->origins;
    d.count = b->count;
    d.id_width = b->width;
    d.mask = b->masked ? b->mask : NULL;
    return d;
}
