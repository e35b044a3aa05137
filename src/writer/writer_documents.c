/* writer_documents.c: what a document leaves in the files: its tokens, and an entry in each section. */
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "writer.h"

const struct leat_origin writer_no_origin = { .input = LEAT_NONE, .line = LEAT_NONE };

/* ---- Tokens ---- */

enum leat_status writer_check_ids(const struct leat_writer *w, const void *ids, uint32_t width, uint64_t count,
                                  uint64_t document, struct leat_error *err)
{
    uint32_t max = 0, id;

    if (count == 0 || (width == 2 && w->vocabulary >= 65536))
        return LEAT_OK;
    /* the kernels read little-endian ids; on other machines each is looked at here */
    if (!BYTES_BIG_ENDIAN)
        max = width == 2 ? w->kernels->max16(ids, (size_t)count) : w->kernels->max32(ids, (size_t)count);
    if (!BYTES_BIG_ENDIAN && max < w->vocabulary)
        return LEAT_OK;
    for (uint64_t i = 0; i < count; i++) {
        id = width == 2 ? ((const uint16_t *)ids)[i] : ((const uint32_t *)ids)[i];
        if (id >= w->vocabulary)
            return status_set(err, LEAT_E_TOKEN,
                              "token id %u, token %llu of document %llu, is not below the vocabulary size %llu", id,
                              (unsigned long long)i, (unsigned long long)document, (unsigned long long)w->vocabulary);
    }
    return LEAT_OK;
}

/* Converts ids of `from_width` bytes, in this machine's order, to stored ones. */
static void store_ids(uint8_t *to, uint32_t to_width, const void *ids, uint32_t from_width, uint64_t at, size_t count)
{
    const uint16_t *narrow = ids;
    const uint32_t *wide = ids;

    for (size_t i = 0; i < count; i++) {
        uint32_t id = from_width == 2 ? narrow[at + i] : wide[at + i];

        if (to_width == 2) {
            uint16_t stored = bytes_le16((uint16_t)id);
            memcpy(to + 2 * i, &stored, 2);
        } else {
            bytes_store32(to + 4 * i, id);
        }
    }
}

#define STORED_AT_ONCE 1024u

enum leat_status writer_put_ids(const struct leat_writer *w, struct writer_streams *to, const void *ids, uint32_t width,
                                uint64_t count, struct leat_error *err)
{
    struct sink_stream *tokens = &to->of[SPILL_TOKENS];
    uint8_t stored[4 * STORED_AT_ONCE];
    enum leat_status s = LEAT_OK;

    if (width == w->width && !BYTES_BIG_ENDIAN)
        return sink_stream_put(tokens, ids, (size_t)(count * width), err);
    for (uint64_t at = 0, here; s == LEAT_OK && at < count; at += here) {
        here = count - at < STORED_AT_ONCE ? count - at : STORED_AT_ONCE;
        store_ids(stored, w->width, ids, width, at, (size_t)here);
        s = sink_stream_put(tokens, stored, (size_t)here * w->width, err);
    }
    return s;
}

enum leat_status writer_put_token(const struct leat_writer *w, struct writer_streams *to, uint64_t token,
                                  struct leat_error *err)
{
    uint32_t id = (uint32_t)token;

    return token == LEAT_NONE ? LEAT_OK : writer_put_ids(w, to, &id, 4, 1, err);
}

/* ---- The mask ---- */

static enum leat_status put_bytes(struct sink_stream *to, uint8_t byte, uint64_t count, struct leat_error *err)
{
    uint8_t bytes[STORED_AT_ONCE];
    enum leat_status s = LEAT_OK;

    memset(bytes, byte, sizeof bytes);
    for (uint64_t here; s == LEAT_OK && count > 0; count -= here) {
        here = count < sizeof bytes ? count : sizeof bytes;
        s = sink_stream_put(to, bytes, (size_t)here, err);
    }
    return s;
}

enum leat_status writer_put_bytes(const struct leat_writer *w, struct writer_streams *to, uint8_t byte, uint64_t count,
                                  struct leat_error *err)
{
    return w->store_mask ? put_bytes(&to->of[SPILL_MASK], byte, count, err) : LEAT_OK;
}

enum leat_status writer_put_unmasked(const struct leat_writer *w, struct writer_streams *to, uint64_t count,
                                     struct leat_error *err)
{
    return writer_put_bytes(w, to, UINT8_MAX, count, err);
}

enum leat_status writer_put_mask(const struct leat_writer *w, struct writer_streams *to, const uint8_t *mask,
                                 uint64_t count, struct leat_error *err)
{
    struct sink_stream *stream = &to->of[SPILL_MASK];
    bool begin = w->begin_token != LEAT_NONE, end = w->end_token != LEAT_NONE;
    enum leat_status s;

    if (!mask || count == 0)
        return writer_put_unmasked(w, to, begin + count + end, err);
    s = put_bytes(stream, mask[0], begin, err);
    if (s == LEAT_OK)
        s = sink_stream_put(stream, mask, (size_t)count, err);
    return s == LEAT_OK ? put_bytes(stream, mask[count - 1], end, err) : s;
}

/* ---- Sections ---- */

/*
 * The directory: a document is the first to start in or after each 64 KiB up to its start that has no entry yet. One
 * that starts exactly at a cell's edge, after the last token so far, may be one entry too many; finish removes it.
 */
uint64_t writer_cells_due(const struct leat_writer *w, uint64_t start)
{
    return start / (FORMAT_CELL_BYTES / w->width) + 1;
}

static enum leat_status put_origin(const struct leat_writer *w, struct writer_streams *to, const struct leat_origin *o,
                                   uint64_t line, struct leat_error *err)
{
    static const uint8_t none[FORMAT_HASH_BYTES];
    enum leat_status s = sink_stream_put_u64(&to->of[SPILL_ORIGINS], o->offset, err);

    if (s == LEAT_OK)
        s = sink_stream_put_u64(&to->of[SPILL_ORIGINS], o->input, err);
    if (s == LEAT_OK && w->store_lines)
        s = sink_stream_put_u64(&to->of[SPILL_LINES], line > 0 ? line : LEAT_NONE, err);
    if (s == LEAT_OK && w->store_ids && o->id)
        s = sink_stream_put(&to->of[SPILL_IDS], o->id, (size_t)o->id_bytes, err);
    if (s == LEAT_OK && w->store_ids)
        s = sink_stream_put_u64(&to->of[SPILL_ID_ENDS], to->of[SPILL_IDS].at, err);
    if (s == LEAT_OK && w->store_hashes)
        s = sink_stream_put(&to->of[SPILL_HASHES], o->text_hash ? o->text_hash : none, sizeof none, err);
    return s;
}

enum leat_status writer_put_document(const struct leat_writer *w, struct writer_streams *to,
                                     const struct leat_origin *o, uint64_t line, struct leat_error *err)
{
    struct sink_stream *directory = &to->of[SPILL_DIRECTORY];
    uint64_t due = writer_cells_due(w, to->start);
    enum leat_status s = sink_stream_put_u64(&to->of[SPILL_DOCUMENTS], to->start, err);

    while (s == LEAT_OK && directory->at / 8 < due)
        s = sink_stream_put_u64(directory, to->document, err);
    if (s == LEAT_OK)
        s = put_origin(w, to, o ? o : &writer_no_origin, line, err);
    to->document++;
    to->start = to->of[SPILL_TOKENS].at / w->width;
    return s;
}

enum leat_status writer_end_streams(struct writer_streams *t, struct leat_error *err)
{
    enum leat_status first = LEAT_OK, s;

    for (unsigned i = 0; i < SPILL_COUNT; i++) {
        s = sink_stream_end(&t->of[i], first == LEAT_OK ? err : NULL);
        if (first == LEAT_OK)
            first = s;
    }
    return first;
}

/* ---- What is known of all documents together ---- */

void writer_note_origins(struct leat_writer *w, const struct leat_origin *first, const struct leat_origin *last)
{
    if (first->input < w->last_input || (first->input == w->last_input && first->offset < w->last_offset))
        atomic_store(&w->ordered, false);
    w->last_input = last->input;
    w->last_offset = last->offset;
}

void writer_count_input(struct leat_writer *w, uint64_t input, uint64_t documents, uint64_t tokens)
{
    pthread_mutex_lock(&w->mutex);
    w->inputs[input].record.documents += documents;
    w->inputs[input].record.tokens += tokens;
    pthread_mutex_unlock(&w->mutex);
}
