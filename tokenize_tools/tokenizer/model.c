/*
 * model.c: see model.h; model_parts.h says what lies where. Here a piece is cut, looked up in the cache, and merged.
 *
 * Safe cuts. Between neighbouring characters that do not stand side by side in any product of a merge no merge can ever
 * reach across, so the two sides encode alone as they do together. Texts without a pre-tokenizer, whole documents that
 * are one piece, become words and syllables that way, which a cache can hold.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "merge_blocks.h"
#include "model_parts.h"
#include "unicode.h"

/* ---- A thread's memory ---- */

/* Cuts that are looked for at a time, and the bytes they are looked for in. */
#define CUTS         ((size_t)TINY_OR(5, 960))
#define CUT_BYTES    ((size_t)TINY_OR(80, 8192))

#define MANY_SYMBOLS ((size_t)1 << 18) /* more are not kept: a piece so long is rare */

enum leat_status model_scratch_make(struct model_scratch **out, struct bound *bound, size_t cache_bytes,
                                    struct leat_error *err)
{
    struct model_scratch *s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s || !piece_cache_make(&s->cache)) {
        free(s);
        return status_no_memory(err, sizeof *s);
    }
    s->bound = s->merge.bound = bound;
    s->cache_bytes = cache_bytes;
    s->kernels = piece_kernels();
    s->cutter = cut_kernels();
    *out = s;
    return LEAT_OK;
}

static void free_symbols(struct model_scratch *s)
{
    bound_give(s->bound, s->room * sizeof *s->symbols);
    free(s->symbols);
    s->symbols = NULL;
    s->room = 0;
}

void model_scratch_free(struct model_scratch *s)
{
    if (s) {
        merge_scratch_free(&s->merge);
        free_symbols(s);
        id_list_free(&s->many);
        id_list_free(&s->fixed);
        piece_cache_free(&s->cache);
    }
    free(s);
}

/* What is there is not kept. */
static enum leat_status reserve_symbols(struct model_scratch *s, size_t count, size_t piece_bytes,
                                        struct leat_error *err)
{
    size_t room = count < MANY_SYMBOLS ? 2 * count : count;

    if (count <= s->room)
        return LEAT_OK;
    free_symbols(s);
    if (count > SIZE_MAX / 8)
        return status_no_memory(err, count);
    if (!bound_take(s->bound, room * sizeof *s->symbols))
        return bound_refuse(s->bound, piece_bytes, err);
    s->symbols = malloc(room * sizeof *s->symbols);
    if (!s->symbols) {
        bound_give(s->bound, room * sizeof *s->symbols);
        return status_no_memory(err, room * sizeof *s->symbols);
    }
    s->room = room;
    return LEAT_OK;
}

const uint32_t *model_symbols(const struct model_scratch *s)
{
    return s->symbols;
}

/* ---- A part ---- */

enum leat_status model_append(const struct model *m, const uint32_t *symbols, size_t count, struct id_list *out,
                              struct leat_error *err)
{
    enum leat_status s = id_list_reserve(out, count, err);

    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        out->ids[out->count++] = m->spec->tokens[symbols[i]].id;
    return s;
}

/* The symbols of a text, merged, lie in the scratch. */
enum leat_status model_merge_text(const struct model *m, struct model_scratch *s, model_make_symbols *make,
                                  const uint8_t *text, size_t bytes, size_t *count, struct leat_error *err)
{
    enum leat_status status = make(m, s->symbols, text, bytes, count, err);
    bool done = false;

    if (status == LEAT_OK && *count >= MERGE_LONG) {
        status = merge_blocks(m->merges, &s->merge, s->symbols, count, 0, &done, err);
        if (status == LEAT_OK && !done)
            status = make(m, s->symbols, text, bytes, count, err);
    }
    return status == LEAT_OK && !done ? merge_symbols(m->merges, &s->merge, s->symbols, count, err) : status;
}

static enum leat_status encode_merges(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                      struct id_list *out, struct leat_error *err)
{
    size_t count;
    enum leat_status status = model_merge_text(m, s, model_symbols_of_text, text, bytes, &count, err);

    return status == LEAT_OK ? model_append(m, s->symbols, count, out, err) : status;
}

/* The piece's own token, where pieces are taken whole; false if it has none. */
static bool encode_whole(const struct model *m, const uint8_t *piece, size_t bytes, struct id_list *out,
                         enum leat_status *status, struct leat_error *err)
{
    uint32_t symbol = m->whole ? model_find_symbol(m, piece, bytes) : NO_SYMBOL;

    if (symbol == NO_SYMBOL)
        return false;
    *status = model_append(m, &symbol, 1, out, err);
    return true;
}

enum leat_status model_encode_merges(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                     struct id_list *out, struct leat_error *err)
{
    enum leat_status status = reserve_symbols(s, model_symbols_most(m, bytes), bytes, err);

    if (status != LEAT_OK)
        return status;
    status = m->spec->model == SPEC_SCORES ? model_scores_encode(m, s, text, bytes, out, err)
                                           : encode_merges(m, s, text, bytes, out, err);
    if (s->room > MANY_SYMBOLS)
        free_symbols(s);
    return status;
}

enum leat_status model_encode_whole(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                    struct id_list *out, struct leat_error *err)
{
    enum leat_status status;

    if (!m->cuts && encode_whole(m, text, bytes, out, &status, err))
        return status;
    return model_encode_merges(m, s, text, bytes, out, err);
}

/* A part by way of the cache. */
static enum leat_status encode_cached(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                      struct id_list *out, struct leat_error *err)
{
    enum leat_status status;
    struct piece_key key;
    uint32_t ids[PIECE_IDS];
    size_t count, before;

    if (bytes > PIECE_MOST)
        return model_encode_whole(m, s, text, bytes, out, err);
    key = piece_key_make(text, bytes, 0);
    count = piece_cache_find(&s->cache, &key, ids);
    if (count > 0) {
        status = id_list_reserve(out, count, err);
        for (size_t i = 0; status == LEAT_OK && i < count; i++)
            out->ids[out->count++] = ids[i];
        return status;
    }
    before = out->count;
    status = model_encode_whole(m, s, text, bytes, out, err);
    if (status == LEAT_OK)
        piece_cache_add(&s->cache, &key, out->ids + before, out->count - before);
    return status;
}

/* ---- A piece ---- */

/* Whether the character has a symbol, where that matters. */
static bool is_known(const struct model *m, const uint8_t *text)
{
    size_t length;
    uint32_t c = m->known ? unicode_decode(text, &length) : 0;

    return !m->known || (m->known[c / 64] >> c % 64 & 1);
}

/* Where the next safe cut is after the beginning of the text; `bytes` if there is none. */
static size_t next_cut(const struct model *m, const uint8_t *text, size_t bytes)
{
    unsigned length = byte_cuts_length(*text);
    uint32_t before = byte_cuts_load(text, length, bytes);
    size_t at = length, last = 0;

    for (; at < bytes; last = at, at += length) {
        uint32_t after;

        length = byte_cuts_length(text[at]);
        after = byte_cuts_load(text + at, length, bytes - at);
        if (byte_cuts_safe_whole(&m->byte_cuts, before, after) && is_known(m, text + last) && is_known(m, text + at))
            break;
        before = after;
    }
    return at;
}

enum leat_status model_encode_characters(const struct model *m, struct model_scratch *s, const uint8_t *text,
                                         size_t bytes, struct id_list *out, struct leat_error *err)
{
    size_t length = next_cut(m, text, bytes);
    enum leat_status status = LEAT_OK;

    if (length == bytes) /* the caller has looked in the cache */
        return model_encode_whole(m, s, text, bytes, out, err);
    for (; status == LEAT_OK && bytes > 0; text += length, bytes -= length) {
        length = next_cut(m, text, bytes);
        status = encode_cached(m, s, text, length, out, err);
    }
    return status;
}

/* Up to the last safe cut, or to the end if that is the piece's; *used is how far. */
static enum leat_status encode_by_characters(const struct model *m, struct model_scratch *s, const uint8_t *text,
                                             size_t bytes, bool last, struct id_list *out, size_t *used,
                                             struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    size_t at = 0, length = 0;

    for (; status == LEAT_OK && at < bytes; at += length) {
        length = next_cut(m, text + at, bytes - at);
        if (at + length == bytes && !last)
            break;
        status = encode_cached(m, s, text + at, length, out, err);
    }
    *used = at;
    return status;
}

/* A part that may be long. */
static enum leat_status encode_part(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                    struct id_list *out, struct leat_error *err)
{
    uint32_t end = (uint32_t)bytes;

    return bytes <= BATCH_BYTES ? model_encode_parts(m, s, text, bytes, 0, &end, 1, out, err)
                                : model_encode_characters(m, s, text, bytes, out, err);
}

/* The same by bytes: all parts between the cuts that a call finds are encoded together, but for the first, which may
 * have begun long before. */
static enum leat_status encode_by_bytes(const struct model *m, struct model_scratch *s, const uint8_t *text,
                                        size_t bytes, bool last, struct id_list *out, size_t *used,
                                        struct leat_error *err)
{
    uint32_t cuts[CUTS + CUT_SLACK];
    size_t begin = 0, from = 1, to;
    enum leat_status status = LEAT_OK;

    for (; status == LEAT_OK && from < bytes; from = to) {
        size_t most = bytes - from < CUT_BYTES ? bytes : from + CUT_BYTES;
        size_t count = s->cutter->find(&m->classes, text, from, most, cuts, CUTS, &to);

        if (count == 0)
            continue;
        status = encode_part(m, s, text + begin, from + cuts[0] - begin, out, err);
        begin = from + cuts[count - 1];
        if (status == LEAT_OK && count > 1)
            status = model_encode_parts(m, s, text + from, bytes - from, cuts[0], cuts + 1, count - 1, out, err);
    }
    if (status == LEAT_OK && last && begin < bytes)
        status = encode_part(m, s, text + begin, bytes - begin, out, err);
    *used = last ? bytes : begin;
    return status;
}

/* Ends of parts that have been found and not yet encoded. */
struct found {
    const struct model *m;
    struct model_scratch *s;
    const uint8_t *text;
    size_t bytes; /* that can be read */
    struct id_list *out;
    uint32_t begin, count;
    uint32_t ends[CUTS + CUT_SLACK + 2];
};

static enum leat_status encode_found(struct found *f, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    if (f->count > 0) {
        f->s->fixed_used = 0;
        status = model_encode_parts(f->m, f->s, f->text, f->bytes, f->begin, f->ends, f->count, f->out, err);
        f->begin = f->ends[f->count - 1] & ~MODEL_FIXED;
    }
    f->count = 0;
    f->s->fixed.count = 0;
    return status;
}

/* A piece from text[begin] to text[end]. */
static enum leat_status find_parts(struct found *f, size_t begin, size_t end, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    for (size_t from = begin + 1, to; status == LEAT_OK && from < end; from = to) {
        uint32_t *cuts = f->ends + f->count;
        size_t count = f->s->cutter->find(&f->m->classes, f->text, from, end, cuts, (size_t)(CUTS - f->count), &to);

        for (size_t i = 0; i < count; i++)
            cuts[i] += (uint32_t)from;
        f->count += (uint32_t)count;
        if (f->count >= CUTS)
            status = encode_found(f, err);
    }
    if (end > begin)
        f->ends[f->count++] = (uint32_t)end;
    return status;
}

bool model_takes_spans(const struct model *m)
{
    return m->cuts_by_bytes && !m->whole;
}

enum leat_status model_encode_spans(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                    const struct model_span *spans, size_t count, struct id_list *out,
                                    struct leat_error *err)
{
    struct found f = { .m = m, .s = s, .text = text, .bytes = bytes, .out = out };
    enum leat_status status = LEAT_OK;
    uint32_t begin = 0;

    s->fixed.count = 0;
    for (size_t i = 0; status == LEAT_OK && i < count; begin = spans[i++].end) {
        if (f.count >= CUTS && (status = encode_found(&f, err)) != LEAT_OK)
            break;
        if (spans[i].id == MODEL_PIECE) {
            status = find_parts(&f, begin, spans[i].end, err);
        } else {
            status = id_list_append(&s->fixed, spans[i].id, err);
            f.ends[f.count++] = spans[i].end | MODEL_FIXED;
        }
    }
    return status == LEAT_OK ? encode_found(&f, err) : status;
}

static enum leat_status encode_cut(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                   bool last, struct id_list *out, size_t *used, struct leat_error *err)
{
    return m->cuts_by_bytes ? encode_by_bytes(m, s, text, bytes, last, out, used, err)
                            : encode_by_characters(m, s, text, bytes, last, out, used, err);
}

static enum leat_status encode_bytes(const struct model *m, const uint8_t *text, size_t bytes, struct id_list *out,
                                     struct leat_error *err)
{
    enum leat_status status = id_list_reserve(out, bytes, err);

    for (size_t i = 0; status == LEAT_OK && i < bytes; i++)
        out->ids[out->count++] = m->spec->tokens[m->bytes[text[i]]].id;
    return status;
}

enum leat_status model_encode(const struct model *m, struct model_scratch *s, const uint8_t *piece, size_t bytes,
                              struct id_list *out, struct leat_error *err)
{
    enum leat_status status;
    size_t used;

    if (m->apart)
        return encode_bytes(m, piece, bytes, out, err);
    if (!m->cuts)
        return encode_cached(m, s, piece, bytes, out, err);
    if (encode_whole(m, piece, bytes, out, &status, err))
        return status;
    return encode_cut(m, s, piece, bytes, true, out, &used, err);
}

enum leat_status model_encode_part(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                   bool begins, bool last, struct id_list *out, size_t *used, struct leat_error *err)
{
    *used = last ? bytes : 0;
    if (begins && last)
        return model_encode(m, s, text, bytes, out, err);
    if (m->apart) {
        *used = bytes;
        return encode_bytes(m, text, bytes, out, err);
    }
    /* the piece may yet turn out to be a token */
    if (!m->cuts || (begins && m->whole && bytes <= m->longest))
        return LEAT_OK;
    return encode_cut(m, s, text, bytes, last, out, used, err);
}
