/*
 * bpe.c: bpe_encode() encodes a pretoken. If the model has safe cuts, a pretoken that is a token is taken whole, and
 * any other is cut. Each part, or the pretoken itself, then goes through bpe_encode_cached(): the cache may know it;
 * otherwise it becomes symbols (bpe_part.c), which are merged (merge_table.h), and the result is kept in the cache.
 * Batches of pretokens take a faster way (bpe_pretokens.c).
 */
#include "bpe.h"

#include "base/big.h"
#include "base/status.h"
#include "base/tiny.h"
#include "base/utf8.h"
#include "bpe_internal.h"
#include "tokenizer/unicode/unicode.h"

/* Appends the ids of a part, from the cache or by merging. */
static enum leat_status bpe_encode_cached(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                          struct id_list *out, struct leat_error *err)
{
    enum leat_status status;
    struct pretoken_key key;
    uint32_t ids[PRETOKEN_IDS];
    size_t count, before;

    if (bytes > PRETOKEN_MAX)
        return bpe_encode_whole(m, s, text, bytes, out, err);
    key = pretoken_key_make(text, bytes, 0);
    count = pretoken_cache_find(&s->words.own, &key, ids);
    if (count > 0) {
        status = id_list_reserve(out, count, err);
        for (size_t i = 0; status == LEAT_OK && i < count; i++)
            out->ids[out->count++] = ids[i];
        return status;
    }
    before = out->count;
    status = bpe_encode_whole(m, s, text, bytes, out, err);
    if (status == LEAT_OK)
        pretoken_cache_add(&s->words.own, &key, out->ids + before, out->count - before);
    return status;
}

/* ---- Cuts -------------------------------------------------------------------------------------------------------- */

/*
 * Finds safe cuts. Between neighbouring characters that do not stand side by side in any product of a merge no merge
 * can ever reach across, so the two sides encode alone as they do together. Texts without a pre-tokenizer, whole
 * documents that are one pretoken, become words and syllables that way, which a cache can hold.
 *
 * The two characters around a place decide whether it may be cut. The bytes around it mostly do, and much faster
 * (class_cuts.h); long parts with characters beyond ASCII are cut again by characters when a batch is filled.
 */

/* Number of cuts that are looked for at a time. */
#define CUTS ((size_t)TINY_OR(5, 4000))

/* Returns true if the character has a symbol, or needs none. */
static bool is_known(const struct bpe *m, const uint8_t *text)
{
    size_t length;
    uint32_t c = m->known ? unicode_decode(text, &length) : 0;

    return !m->known || (m->known[c / 64] >> c % 64 & 1);
}

/* Returns the place of the first safe cut after the beginning of the text, or `bytes`. */
static size_t next_cut(const struct bpe *m, const uint8_t *text, size_t bytes)
{
    unsigned length = char_cuts_length(*text);
    uint32_t before = char_cuts_load(text, length, bytes);
    size_t at = length, last = 0;

    for (; at < bytes; last = at, at += length) {
        uint32_t after;

        length = char_cuts_length(text[at]);
        after = char_cuts_load(text + at, length, bytes - at);
        if (char_cuts_safe_whole(&m->char_cuts, before, after) && is_known(m, text + last) && is_known(m, text + at))
            break;
        before = after;
    }
    return at;
}

/* Encodes a pretoken up to its last safe cut, or to the end if the pretoken ends there. Sets *used to how far it
 * came. */
static enum leat_status encode_by_characters(const struct bpe *m, struct bpe_scratch *s, const struct model_chunk *c,
                                             struct id_list *out, size_t *used, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    size_t at = 0, length = 0;

    for (; status == LEAT_OK && at < c->bytes; at += length) {
        length = next_cut(m, c->text + at, c->bytes - at);
        if (at + length == c->bytes && !c->last)
            break;
        status = bpe_encode_cached(m, s, c->text + at, length, out, err);
    }
    *used = at;
    return status;
}

/* Ends of parts that have been found and not yet encoded. */
struct found {
    const struct bpe *m;
    struct bpe_scratch *s;
    const uint8_t *text;
    size_t bytes; /* bytes that can be read */
    struct id_list *out;
    uint32_t begin, count;
    uint32_t ends[CUTS + CUT_SLACK + 2];
};

static enum leat_status encode_found(struct found *f, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    if (f->count > 0) {
        const struct model_pretokens parts = { f->text, f->bytes, f->begin, f->ends, f->count };

        f->s->fixed_used = 0;
        status = bpe_encode_batches(f->m, f->s, &parts, true, f->out, err);
        f->begin = f->ends[f->count - 1] & ~BPE_FIXED;
    }
    f->count = 0;
    f->s->fixed.count = 0;
    return status;
}

/* Finds the parts of a pretoken from text[begin] to text[end]. */
static enum leat_status find_parts(struct found *f, size_t begin, size_t end, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    for (size_t from = begin + 1, to; status == LEAT_OK && from < end; from = to) {
        uint32_t *cuts = f->ends + f->count;
        size_t count =
            f->s->cutter->find(&f->m->classes, f->text, f->bytes, from, end, cuts, (size_t)(CUTS - f->count), &to);

        f->count += (uint32_t)count;
        if (f->count >= CUTS)
            status = encode_found(f, err);
    }
    if (end > begin)
        f->ends[f->count++] = (uint32_t)end;
    return status;
}

/* Encodes as encode_by_characters() does, but finds cuts by the bytes around them. */
static enum leat_status encode_by_bytes(const struct bpe *m, struct bpe_scratch *s, const struct model_chunk *c,
                                        struct id_list *out, size_t *used, struct leat_error *err)
{
    struct found f = { .m = m, .s = s, .text = c->text, .bytes = c->bytes, .out = out };
    enum leat_status status;

    s->fixed.count = 0;
    status = find_parts(&f, 0, c->bytes, err);
    f.count -= !c->last && f.count > 0;
    if (status == LEAT_OK)
        status = encode_found(&f, err);
    *used = f.begin;
    return status;
}

bool bpe_takes_spans(const struct model *model)
{
    return bpe_of(model)->cuts_by_bytes && !bpe_of(model)->whole;
}

enum leat_status bpe_encode_spans(const struct model *model, void *scratch, const struct model_spans *spans,
                                  struct id_list *out, struct leat_error *err)
{
    struct bpe_scratch *s = scratch;
    struct found f = { .m = bpe_of(model), .s = s, .text = spans->text, .bytes = spans->bytes, .out = out };
    enum leat_status status = LEAT_OK;
    uint32_t begin = 0;

    s->fixed.count = 0;
    for (size_t i = 0; status == LEAT_OK && i < spans->count; begin = spans->spans[i++].end) {
        const struct model_span *span = &spans->spans[i];

        if (f.count >= CUTS) {
            status = encode_found(&f, err);
            if (status != LEAT_OK)
                break;
        }
        if (span->id == MODEL_PRETOKEN) {
            status = find_parts(&f, begin, span->end, err);
        } else {
            status = id_list_append(&s->fixed, span->id, err);
            f.ends[f.count++] = span->end | BPE_FIXED;
        }
    }
    return status == LEAT_OK ? encode_found(&f, err) : status;
}

/* Encodes a pretoken up to the last safe cut, or to its end if that is known; *used is how far. */
static enum leat_status bpe_encode_cut(const struct bpe *m, struct bpe_scratch *s, const struct model_chunk *c,
                                       struct id_list *out, size_t *used, struct leat_error *err)
{
    return m->cuts_by_bytes && c->bytes < BPE_FIXED ? encode_by_bytes(m, s, c, out, used, err)
                                                    : encode_by_characters(m, s, c, out, used, err);
}

/* ---- A pretoken -------------------------------------------------------------------------------------------------- */

static enum leat_status encode_bytes(const struct bpe *m, const uint8_t *text, size_t bytes, struct id_list *out,
                                     struct leat_error *err)
{
    enum leat_status status = id_list_reserve(out, bytes, err);

    for (size_t i = 0; status == LEAT_OK && i < bytes; i++)
        out->ids[out->count++] = m->spec->tokens[m->bytes[text[i]]].id;
    return status;
}

enum leat_status bpe_encode(const struct model *model, void *scratch, const uint8_t *pretoken, size_t bytes,
                            struct id_list *out, struct leat_error *err)
{
    const struct bpe *m = bpe_of(model);
    struct bpe_scratch *s = scratch;
    const struct model_chunk all = { .text = pretoken, .bytes = bytes, .begins = true, .last = true };
    enum leat_status status;
    size_t used;

    if (m->apart)
        return encode_bytes(m, pretoken, bytes, out, err);
    if (!m->cuts)
        return bpe_encode_cached(m, s, pretoken, bytes, out, err);
    if (bpe_encode_token(m, pretoken, bytes, out, &status, err))
        return status;
    return bpe_encode_cut(m, s, &all, out, &used, err);
}

enum leat_status bpe_encode_chunk(const struct model *model, void *scratch, const struct model_chunk *c,
                                  struct id_list *out, size_t *used, struct leat_error *err)
{
    const struct bpe *m = bpe_of(model);
    struct bpe_scratch *s = scratch;

    *used = c->last ? c->bytes : 0;
    if (c->begins && c->last)
        return bpe_encode(model, s, c->text, c->bytes, out, err);
    if (m->apart) {
        *used = c->bytes;
        return encode_bytes(m, c->text, c->bytes, out, err);
    }
    /* the pretoken may yet turn out to be a token */
    if (!m->cuts || (c->begins && m->whole && c->bytes <= m->longest))
        return LEAT_OK;
    return bpe_encode_cut(m, s, c, out, used, err);
}

enum leat_status bpe_encode_pretokens(const struct model *model, void *scratch, const struct model_pretokens *p,
                                      struct id_list *out, struct leat_error *err)
{
    const struct bpe *m = bpe_of(model);
    size_t begin = p->begin;
    enum leat_status status = LEAT_OK;

    if (!m->cuts && !m->apart)
        return bpe_encode_batches(m, scratch, p, false, out, err);
    /* These pretokens are cut into parts of another kind. Pretokens and parts cannot be encoded together, so each
     * pretoken goes alone. */
    for (size_t i = 0; status == LEAT_OK && i < p->count; begin = p->ends[i++])
        status = bpe_encode(model, scratch, p->text + begin, p->ends[i] - begin, out, err);
    return status;
}
