/*
 * model_pieces.c: many pieces at once, by way of the cache (piece_batch.h); what it does not know is merged and goes into
 * it. Here are the borders: between batches, at the end of the text, where kernels must not read on, and around pieces
 * so long that they are better off alone.
 */
#include <string.h>

#include "base/tiny.h"
#include "model_parts.h"

/* After so much text a larger cache is worth its making. */
#define MUCH_TEXT ((size_t)TINY_OR(64, 1 << 18))

/* The vocabulary itself, where a piece that is a token is that token; but not what is cut out of a piece. */
static void seed(const struct model *m, struct model_scratch *s)
{
    for (uint32_t i = 0; m->whole && !m->cuts && i < m->spec->token_count; i++) {
        const struct spec_token *t = &m->spec->tokens[i];

        if (!t->foreign && t->length > 0 && t->length <= PIECE_MOST) {
            struct piece_key key = piece_key_make(spec_token_bytes(m->spec, t), t->length);

            piece_cache_add(&s->cache, &key, &t->id, 1);
        }
    }
}

static void count_text(const struct model *m, struct model_scratch *s, size_t bytes)
{
    s->seen_bytes += bytes;
    if (s->seen_bytes >= MUCH_TEXT && !s->cache.large && s->cache_bytes > 0) {
        if (piece_cache_enlarge(&s->cache, s->cache_bytes))
            seed(m, s);
        else
            s->cache_bytes = 0; /* once is enough */
    }
}

/* A piece that the batch did not find: it may be there by now, or lie in a wider table. */
static enum leat_status encode_missed(const struct model *m, struct model_scratch *s, uint32_t at,
                                      struct leat_error *err)
{
    struct piece_batch *b = &s->batch;
    const uint8_t *piece = b->text + b->begins[at];
    size_t bytes = b->begins[at + 1] - b->begins[at], begin = s->many.count, count = 0;
    enum leat_status status = id_list_reserve(&s->many, 12, err);
    struct piece_key key;

    if (status == LEAT_OK && bytes <= PIECE_MOST) {
        key = piece_key_make(piece, bytes);
        count = piece_cache_find(&s->cache, &key, s->many.ids + begin);
        s->many.count += count;
    }
    if (status == LEAT_OK && count == 0) {
        status = m->cuts ? model_encode_characters(m, s, piece, bytes, &s->many, err)
                         : model_encode_whole(m, s, piece, bytes, &s->many, err);
        if (status == LEAT_OK && bytes <= PIECE_MOST)
            piece_cache_add(&s->cache, &key, s->many.ids + begin, s->many.count - begin);
    }
    if (status != LEAT_OK)
        return status;
    count = s->many.count - begin;
    b->values[at] = piece_value(s->many.ids + begin, count, begin);
    if (piece_fits(s->many.ids + begin, count))
        s->many.count = begin;
    return status;
}

static enum leat_status encode_batch(const struct model *m, struct model_scratch *s, struct id_list *out,
                                     struct leat_error *err)
{
    struct piece_batch *b = &s->batch;
    enum leat_status status;

    s->many.count = 0;
    status = id_list_reserve(&s->many, 12 * BATCH_PIECES + BATCH_BYTES + 12, err);
    if (status != LEAT_OK)
        return status;
    b->many = s->many.ids;
    b->many_count = 0;
    s->kernels->find(&s->cache, b);
    if (m->rules.pairs)
        s->kernels->merge(&m->rules, &s->cache, b);
    s->many.count = b->many_count;
    for (uint32_t i = 0; status == LEAT_OK && i < b->missed_count; i++)
        status = encode_missed(m, s, b->missed[i], err);
    b->many = s->many.ids;
    if (status == LEAT_OK)
        status = id_list_reserve(out, 3 * b->count + s->many.count + 3, err);
    if (status == LEAT_OK)
        out->count += s->kernels->write(b, out->ids + out->count);
    return status;
}

/* How many of the pieces make up the next batch: 0 if the first is too long for one. */
static size_t batch_count(uint32_t begin, const uint32_t *ends, size_t count)
{
    if (count > BATCH_PIECES)
        count = BATCH_PIECES;
    while (count > 0 && ends[count - 1] - begin > BATCH_BYTES)
        count = ends[count / 2] - begin > BATCH_BYTES ? count / 2 : count - 1;
    return count;
}

/* Pieces that lie so near the end that kernels would read behind it go from a copy. */
static size_t far_from_end(size_t bytes, uint32_t begin, const uint32_t *ends, size_t count)
{
    while (count > 0 && (count > 1 ? ends[count - 2] : begin) + BATCH_AHEAD > bytes)
        count--;
    return count;
}

static enum leat_status encode_some(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                    uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                    struct leat_error *err)
{
    struct piece_batch *b = &s->batch;
    uint8_t copy[3 * BATCH_AHEAD] = { 0 };

    b->text = text + begin;
    if (begin + BATCH_AHEAD > bytes) {
        memcpy(copy, text + begin, ends[count - 1] - begin);
        b->text = copy;
    }
    b->count = (uint32_t)count;
    b->begins[0] = 0;
    for (size_t i = 0; i < count; i++)
        b->begins[i + 1] = ends[i] - begin;
    return encode_batch(m, s, out, err);
}

enum leat_status model_encode_parts(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                    uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                    struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    if (count > 0)
        count_text(m, s, ends[count - 1] - begin);
    while (status == LEAT_OK && count > 0) {
        size_t some = batch_count(begin, ends, count), far;

        if (some == 0) {
            some = 1;
            status = m->cuts ? model_encode_characters(m, s, text + begin, ends[0] - begin, out, err)
                             : model_encode(m, s, text + begin, ends[0] - begin, out, err);
        } else {
            far = far_from_end(bytes, begin, ends, some);
            some = far > 0 ? far : some;
            status = encode_some(m, s, text, bytes, begin, ends, some, out, err);
        }
        begin = ends[some - 1];
        ends += some;
        count -= some;
    }
    return status;
}

enum leat_status model_encode_pieces(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                     uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                     struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    if (!m->cuts && !m->apart)
        return model_encode_parts(m, s, text, bytes, begin, ends, count, out, err);
    for (size_t i = 0; status == LEAT_OK && i < count; begin = ends[i++])
        status = model_encode(m, s, text + begin, ends[i] - begin, out, err);
    return status;
}
