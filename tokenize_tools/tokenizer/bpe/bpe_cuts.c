/*
 * bpe_cuts.c: pretokens that are cut further before they are looked up and merged; bpe_internal.h says what lies where.
 *
 * Safe cuts. Between neighbouring characters that do not stand side by side in any product of a merge no merge can ever
 * reach across, so the two sides encode alone as they do together. Texts without a pre-tokenizer, whole documents that
 * are one pretoken, become words and syllables that way, which a cache can hold.
 * The two characters around a place decide whether it may be cut. The bytes around it mostly do, and much faster
 * (cut_classes.h); long parts with characters beyond ASCII are cut again by these when a batch is filled.
 */
#include "base/tiny.h"
#include "bpe_internal.h"
#include "tokenizer/unicode/unicode.h"

/* Cuts that are looked for at a time. */
#define CUTS ((size_t)TINY_OR(5, 4000))

/* Whether the character has a symbol, where that matters. */
static bool is_known(const struct bpe *m, const uint8_t *text)
{
    size_t length;
    uint32_t c = m->known ? unicode_decode(text, &length) : 0;

    return !m->known || (m->known[c / 64] >> c % 64 & 1);
}

/* Where the next safe cut is after the beginning of the text; `bytes` if there is none. */
static size_t next_cut(const struct bpe *m, const uint8_t *text, size_t bytes)
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

/* Up to the last safe cut, or to the end if that is the pretoken's; *used is how far. */
static enum leat_status encode_by_characters(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text,
                                             size_t bytes, bool last, struct id_list *out, size_t *used,
                                             struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    size_t at = 0, length = 0;

    for (; status == LEAT_OK && at < bytes; at += length) {
        length = next_cut(m, text + at, bytes - at);
        if (at + length == bytes && !last)
            break;
        status = bpe_encode_cached(m, s, text + at, length, out, err);
    }
    *used = at;
    return status;
}

/* Ends of parts that have been found and not yet encoded. */
struct found {
    const struct bpe *m;
    struct bpe_scratch *s;
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
        status = bpe_encode_parts(f->m, f->s, f->text, f->bytes, f->begin, f->ends, f->count, f->out, err);
        f->begin = f->ends[f->count - 1] & ~BPE_FIXED;
    }
    f->count = 0;
    f->s->fixed.count = 0;
    return status;
}

/* A pretoken from text[begin] to text[end]. */
static enum leat_status find_parts(struct found *f, size_t begin, size_t end, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    for (size_t from = begin + 1, to; status == LEAT_OK && from < end; from = to) {
        uint32_t *cuts = f->ends + f->count;
        size_t count = f->s->cutter->find(&f->m->classes, f->text, from, end, cuts, (size_t)(CUTS - f->count), &to);

        f->count += (uint32_t)count;
        if (f->count >= CUTS)
            status = encode_found(f, err);
    }
    if (end > begin)
        f->ends[f->count++] = (uint32_t)end;
    return status;
}

/* As encode_by_characters() by the bytes around the cuts. */
static enum leat_status encode_by_bytes(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                        bool last, struct id_list *out, size_t *used, struct leat_error *err)
{
    struct found f = { .m = m, .s = s, .text = text, .bytes = bytes, .out = out };
    enum leat_status status;

    s->fixed.count = 0;
    status = find_parts(&f, 0, bytes, err);
    f.count -= !last && f.count > 0;
    if (status == LEAT_OK)
        status = encode_found(&f, err);
    *used = f.begin;
    return status;
}

bool bpe_takes_spans(const struct bpe *m)
{
    return m->cuts_by_bytes && !m->whole;
}

enum leat_status bpe_encode_spans(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                  const struct model_span *spans, size_t count, struct id_list *out,
                                  struct leat_error *err)
{
    struct found f = { .m = m, .s = s, .text = text, .bytes = bytes, .out = out };
    enum leat_status status = LEAT_OK;
    uint32_t begin = 0;

    s->fixed.count = 0;
    for (size_t i = 0; status == LEAT_OK && i < count; begin = spans[i++].end) {
        if (f.count >= CUTS) {
            status = encode_found(&f, err);
            if (status != LEAT_OK)
                break;
        }
        if (spans[i].id == MODEL_PRETOKEN) {
            status = find_parts(&f, begin, spans[i].end, err);
        } else {
            status = id_list_append(&s->fixed, spans[i].id, err);
            f.ends[f.count++] = spans[i].end | BPE_FIXED;
        }
    }
    return status == LEAT_OK ? encode_found(&f, err) : status;
}

enum leat_status bpe_encode_cut(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                bool last, struct id_list *out, size_t *used, struct leat_error *err)
{
    return m->cuts_by_bytes && bytes < BPE_FIXED ? encode_by_bytes(m, s, text, bytes, last, out, used, err)
                                                 : encode_by_characters(m, s, text, bytes, last, out, used, err);
}
