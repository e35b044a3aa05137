/*
 * writer_add.c: documents one after another, whole or in chunks, at the ends of the spills; writer_put.c takes several
 * at once.
 */
#include "base/status.h"
#include "writer.h"

static enum leat_status check_origin(const struct leat_writer *w, const struct leat_origin *o, struct leat_error *err)
{
    if (o && o->input != LEAT_NONE && o->input >= w->input_count)
        return status_set(
            err, LEAT_E_ARGUMENT, "document %llu names input %llu as its origin, but only %llu were declared",
            (unsigned long long)w->end.document, (unsigned long long)o->input, (unsigned long long)w->input_count);
    return LEAT_OK;
}

static uint64_t written(const struct leat_writer *w)
{
    return w->end.of[SPILL_TOKENS].at / w->width;
}

static enum leat_status begin_document(struct leat_writer *w, struct leat_error *err)
{
    w->document_open = true;
    return writer_put_token(w, &w->end, w->begin_token, err);
}

static enum leat_status end_document(struct leat_writer *w, const struct leat_origin *o, struct leat_error *err)
{
    uint64_t start = w->end.start;
    enum leat_status s = writer_put_token(w, &w->end, w->end_token, err);

    if (s == LEAT_OK)
        s = writer_put_document(w, &w->end, o, o ? o->line : LEAT_NONE, err);
    if (s == LEAT_OK)
        writer_note_origins(w, o ? o : &writer_no_origin, o ? o : &writer_no_origin);
    if (s == LEAT_OK && o && o->input != LEAT_NONE)
        writer_count_input(w, o->input, 1, w->end.start - start);
    w->document_open = false;
    return s;
}

static enum leat_status add(struct leat_writer *w, const void *ids, uint32_t width, const uint8_t *mask, uint64_t count,
                            const struct leat_origin *origin, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = writer_ready(w, err);

    if (s != LEAT_OK)
        return s;
    if (w->document_open)
        return status_set(err, LEAT_E_STATE, "a document is open: end it before adding a whole one");
    s = check_origin(w, origin, err);
    if (s == LEAT_OK)
        s = writer_check_ids(w, ids, width, count, w->end.document, err);
    if (s != LEAT_OK)
        return s;
    s = begin_document(w, &why);
    if (s == LEAT_OK)
        s = writer_put_ids(w, &w->end, ids, width, count, &why);
    if (s == LEAT_OK)
        s = writer_put_mask(w, &w->end, mask, count, &why);
    if (s == LEAT_OK)
        s = end_document(w, origin, &why);
    return writer_fail(w, s, &why, err);
}

/* Begins a document that comes in chunks. The mask of its begin token is that of its first id. */
static enum leat_status begin_chunked(struct leat_writer *w, struct leat_error *err)
{
    w->mask_open = false;
    w->last_mask = UINT8_MAX;
    return begin_document(w, err);
}

static enum leat_status append_mask(struct leat_writer *w, const uint8_t *mask, uint64_t count, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (count == 0)
        return LEAT_OK;
    if (!w->mask_open)
        s = writer_put_bytes(w, &w->end, mask ? mask[0] : UINT8_MAX, w->begin_token != LEAT_NONE, err);
    w->mask_open = true;
    w->last_mask = mask ? mask[count - 1] : UINT8_MAX;
    if (s != LEAT_OK || !mask)
        return s == LEAT_OK ? writer_put_unmasked(w, &w->end, count, err) : s;
    return sink_stream_put(&w->end.of[SPILL_MASK], mask, (size_t)count, err);
}

static enum leat_status append_chunk(struct leat_writer *w, const void *ids, uint32_t width, const uint8_t *mask,
                                     uint64_t count, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = writer_ready(w, err);

    if (s != LEAT_OK)
        return s;
    s = writer_check_ids(w, ids, width, count, w->end.document, &why);
    if (s == LEAT_OK && !w->document_open)
        s = begin_chunked(w, &why);
    if (s == LEAT_OK)
        s = writer_put_ids(w, &w->end, ids, width, count, &why);
    if (s == LEAT_OK)
        s = append_mask(w, mask, count, &why);
    return writer_fail(w, s, &why, err);
}

enum leat_status leat_writer_add_u16(struct leat_writer *w, const uint16_t *ids, uint64_t count,
                                     const struct leat_origin *origin, struct leat_error *err)
{
    return add(w, ids, 2, NULL, count, origin, err);
}

enum leat_status leat_writer_add_u32(struct leat_writer *w, const uint32_t *ids, uint64_t count,
                                     const struct leat_origin *origin, struct leat_error *err)
{
    return add(w, ids, 4, NULL, count, origin, err);
}

enum leat_status leat_writer_add_masked(struct leat_writer *w, const void *ids, uint32_t id_width, const uint8_t *mask,
                                        uint64_t count, const struct leat_origin *origin, struct leat_error *err)
{
    if (id_width != 2 && id_width != 4)
        return status_set(err, LEAT_E_ARGUMENT, "ids have 2 or 4 bytes, not %u", id_width);
    if (mask && !w->store_mask)
        return status_set(err, LEAT_E_ARGUMENT, "a mask, but this dataset stores none");
    return add(w, ids, id_width, mask, count, origin, err);
}

enum leat_status leat_writer_append_u16(struct leat_writer *w, const uint16_t *ids, uint64_t count,
                                        struct leat_error *err)
{
    return append_chunk(w, ids, 2, NULL, count, err);
}

enum leat_status leat_writer_append_u32(struct leat_writer *w, const uint32_t *ids, uint64_t count,
                                        struct leat_error *err)
{
    return append_chunk(w, ids, 4, NULL, count, err);
}

enum leat_status leat_writer_append_masked(struct leat_writer *w, const void *ids, uint32_t id_width,
                                           const uint8_t *mask, uint64_t count, struct leat_error *err)
{
    if (id_width != 2 && id_width != 4)
        return status_set(err, LEAT_E_ARGUMENT, "ids have 2 or 4 bytes, not %u", id_width);
    if (mask && !w->store_mask)
        return status_set(err, LEAT_E_ARGUMENT, "a mask, but this dataset stores none");
    return append_chunk(w, ids, id_width, mask, count, err);
}

enum leat_status leat_writer_end_document(struct leat_writer *w, const struct leat_origin *origin,
                                          struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = writer_ready(w, err);

    if (s == LEAT_OK)
        s = check_origin(w, origin, err);
    if (s != LEAT_OK)
        return s;
    s = w->document_open ? LEAT_OK : begin_chunked(w, &why); /* a document without a token */
    if (s == LEAT_OK)
        s = writer_put_bytes(w, &w->end, w->last_mask,
                             (w->end_token != LEAT_NONE) + (!w->mask_open && w->begin_token != LEAT_NONE), &why);
    if (s == LEAT_OK)
        s = end_document(w, origin, &why);
    return writer_fail(w, s, &why, err);
}

uint64_t leat_writer_tokens(const struct leat_writer *w)
{
    return written(w);
}

uint64_t leat_writer_direct_bytes(const struct leat_writer *w)
{
    return sink_direct_bytes(&w->spills[SPILL_TOKENS]);
}

uint64_t leat_writer_documents(const struct leat_writer *w)
{
    return w->end.document;
}
