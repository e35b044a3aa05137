/*
 * bpe.c: bpe_encode() encodes a pretoken. If the model has safe cuts, a pretoken that is a token is taken whole, and
 * any other is cut. Each part, or the pretoken itself, then goes through bpe_encode_cached(): the cache may know it;
 * otherwise it becomes symbols, which are merged (merge_table.h), and the result is kept in the cache. Batches of
 * pretokens take a faster way (bpe_pretokens.c), which comes here for what it does not know. A thread's scratch is made
 * here, too.
 */
#include "bpe.h"

#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/status.h"
#include "base/tiny.h"
#include "base/utf8.h"
#include "bpe_internal.h"
#include "tokenizer/unicode/unicode.h"

/* ---- Symbols ----------------------------------------------------------------------------------------------------- */

/* Makes the symbols that a text begins with, before anything is merged: bytes or characters, spelled with prefix and
 * suffix where the file has them. A character without a token falls back to bytes, or becomes unknown. */

/* Exactly Hugging Face's order: the unknown token of a run of unknown characters is written when a known character
 * comes or the pretoken ends, but not when a character falls back to bytes. */
static size_t put_pending(const struct bpe *m, uint32_t *symbols, size_t n, bool *pending)
{
    if (*pending)
        symbols[n++] = m->unknown;
    *pending = false;
    return n;
}

/* Refuses a character, or byte of byte-level text, without a token, if there is no unknown token. If the file names
 * none either, the character vanishes. */
static enum leat_status refuse_unknown(const struct bpe *m, const uint8_t *character, struct leat_error *err)
{
    if (m->kind->needs_bytes)
        return status_set(err, LEAT_E_TEXT, "the text has the byte 0x%02x, for which the vocabulary has no token",
                          *character);
    if (!m->spec->unknown_text.bytes)
        return LEAT_OK;
    return status_set(err, LEAT_E_TEXT,
                      "the text has a character that is not in the vocabulary, and neither is the unknown token "
                      "\"%.100s\"",
                      (const char *)m->spec->unknown_text.bytes);
}

static enum leat_status put_unknown(const struct bpe *m, const uint8_t *character, uint32_t *symbols, size_t *n,
                                    bool *pending, struct leat_error *err)
{
    if (m->unknown == NO_SYMBOL)
        return refuse_unknown(m, character, err);
    if (!m->spec->fuse_unknown)
        *n = put_pending(m, symbols, *n, pending);
    *pending = true;
    return LEAT_OK;
}

/* A character as the file spells it: with a prefix unless it begins a word, and a suffix after the last one. */
struct spelled {
    uint8_t bytes[2 * SPEC_MAX_AFFIX + 4];
    size_t count;
};

static void append_spelled(struct spelled *out, const uint8_t *bytes, size_t count)
{
    memcpy(out->bytes + out->count, bytes, count);
    out->count += count;
}

static void spell(const struct bpe *m, const uint8_t *text, size_t length, bool first, bool last, struct spelled *out)
{
    const struct spec_string *prefix = &m->spec->continuing_prefix, *suffix = &m->spec->word_suffix;

    out->count = 0;
    if (!first && prefix->length > 0)
        append_spelled(out, prefix->bytes, prefix->length);
    append_spelled(out, text, length);
    if (last && suffix->length > 0)
        append_spelled(out, suffix->bytes, suffix->length);
}

/* Writes the bytes that a character without a token falls back to: in a byte-level file, those of its mapped letter. */
static size_t written(const struct bpe *m, const uint8_t *text, size_t bytes, uint8_t *out)
{
    size_t n = 0;

    for (size_t i = 0; i < bytes; i++)
        if (m->spec->byte_level)
            n += utf8_encode(out + n, m->alphabet.code_of[text[i]]);
        else
            out[n++] = text[i];
    return n;
}

/* Writes the symbols of a spelled character's bytes; returns false, and writes none, if one of them has none. */
static bool put_fallback(const struct bpe *m, uint32_t *symbols, size_t *n, const uint8_t *text, size_t bytes)
{
    uint8_t out[2 * sizeof((struct spelled *)0)->bytes];
    size_t count = m->spec->byte_fallback ? written(m, text, bytes, out) : 0;

    for (size_t i = 0; i < count; i++)
        if (m->fallback[out[i]] == NO_SYMBOL)
            return false;
    for (size_t i = 0; i < count; i++)
        symbols[(*n)++] = m->fallback[out[i]];
    return count > 0;
}

/* Makes one symbol per byte of byte-level text, or per character of other text. With affixes, the part is a whole
 * pretoken, since these are not cut. */
static enum leat_status bpe_symbols_of_text(const struct bpe *m, uint32_t *symbols, const uint8_t *text, size_t bytes,
                                            size_t *count, struct leat_error *err)
{
    bool pending = false;
    enum leat_status s = LEAT_OK;
    struct spelled spelled;
    size_t n = 0, length = 1;

    for (size_t at = 0; s == LEAT_OK && at < bytes; at += length) {
        const uint8_t *character = text + at;
        size_t size;
        uint32_t symbol;

        if (!m->spec->byte_level)
            unicode_decode(character, &length);
        size = length;
        if (m->affixes) {
            spell(m, character, length, at == 0, at + length == bytes, &spelled);
            character = spelled.bytes;
            size = spelled.count;
        }
        symbol = m->spec->byte_level && !m->affixes ? m->bytes[*character] : bpe_find_symbol(m, character, size);
        if (symbol != NO_SYMBOL) {
            n = put_pending(m, symbols, n, &pending);
            symbols[n++] = symbol;
        } else if (!put_fallback(m, symbols, &n, character, size)) {
            s = put_unknown(m, character, symbols, &n, &pending, err);
        }
    }
    *count = put_pending(m, symbols, n, &pending);
    return s;
}

size_t bpe_symbols_max(const struct bpe *m, size_t bytes)
{
    size_t each = 1;

    if (m->spec->byte_fallback && (m->affixes || m->spec->byte_level))
        each = 2 * (1 + (size_t)m->spec->continuing_prefix.length + m->spec->word_suffix.length);
    return bytes < SIZE_MAX / 2 / each ? each * bytes + 1 : SIZE_MAX;
}

/* ---- A thread's memory ------------------------------------------------------------------------------------------- */

#define MANY_SYMBOLS ((size_t)1 << 18) /* scratch for more symbols is freed: such long pretokens are rare */

enum leat_status bpe_scratch_make(void **out, struct bound *bound, size_t cache_bytes, struct leat_error *err)
{
    /* calloc() takes untouched memory from the system, which costs nothing; so the struct is aligned here */
    void *memory = calloc(1, sizeof(struct bpe_scratch) + _Alignof(struct bpe_scratch));
    struct bpe_scratch *s = memory ? big_align(memory, _Alignof(struct bpe_scratch)) : NULL;

    *out = NULL;
    if (!s || !word_cache_make(&s->words, bound, cache_bytes)) {
        free(memory);
        return status_no_memory(err, sizeof *s);
    }
    s->memory = memory;
    s->bound = s->merge.bound = bound;
    s->kernels = pretoken_kernels();
    s->cutter = class_cuts_kernels();
    *out = s;
    return LEAT_OK;
}

static void free_symbols(struct bpe_scratch *s)
{
    bound_give(s->bound, s->room * sizeof *s->symbols);
    free(s->symbols);
    s->symbols = NULL;
    s->room = 0;
}

void bpe_scratch_free(void *scratch)
{
    struct bpe_scratch *s = scratch;

    if (!s)
        return;
    merge_scratch_free(&s->merge);
    free_symbols(s);
    id_list_free(&s->many);
    id_list_free(&s->fixed);
    word_cache_free(&s->words);
    free(s->memory);
}

/* Makes room for symbols. The old contents are lost. */
static enum leat_status reserve_symbols(struct bpe_scratch *s, size_t count, size_t pretoken_bytes,
                                        struct leat_error *err)
{
    size_t room = count < MANY_SYMBOLS ? 2 * count : count;

    if (count <= s->room)
        return LEAT_OK;
    free_symbols(s);
    if (count > SIZE_MAX / 8)
        return status_no_memory(err, count);
    if (!bound_take(s->bound, room * sizeof *s->symbols))
        return bound_refuse(s->bound, pretoken_bytes, err);
    s->symbols = malloc(room * sizeof *s->symbols);
    if (!s->symbols) {
        bound_give(s->bound, room * sizeof *s->symbols);
        return status_no_memory(err, room * sizeof *s->symbols);
    }
    s->room = room;
    return LEAT_OK;
}

/* ---- A part ------------------------------------------------------------------------------------------------------ */

enum leat_status bpe_append(const struct bpe *m, const uint32_t *symbols, size_t count, struct id_list *out,
                            struct leat_error *err)
{
    enum leat_status s = id_list_reserve(out, count, err);

    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        out->ids[out->count++] = m->spec->tokens[symbols[i]].id;
    return s;
}

enum leat_status bpe_merge_text(const struct bpe *m, struct bpe_scratch *s, bpe_make_symbols *make, const uint8_t *text,
                                size_t bytes, size_t *count, struct leat_error *err)
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

/* Writes the token that the pretoken is as a whole, if the model takes pretokens whole. Returns false if there is
 * none. */
static bool encode_whole(const struct bpe *m, const uint8_t *pretoken, size_t bytes, struct id_list *out,
                         enum leat_status *status, struct leat_error *err)
{
    uint32_t symbol = m->whole ? bpe_find_symbol(m, pretoken, bytes) : NO_SYMBOL;

    if (symbol == NO_SYMBOL)
        return false;
    *status = bpe_append(m, &symbol, 1, out, err);
    return true;
}

enum leat_status bpe_encode_merges(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                   struct id_list *out, struct leat_error *err)
{
    enum leat_status status = reserve_symbols(s, bpe_symbols_max(m, bytes), bytes, err);
    size_t count;

    if (status != LEAT_OK)
        return status;
    if (m->kind->scored) {
        status = bpe_scores_encode(m, s, text, bytes, out, err);
    } else {
        status = bpe_merge_text(m, s, bpe_symbols_of_text, text, bytes, &count, err);
        if (status == LEAT_OK)
            status = bpe_append(m, s->symbols, count, out, err);
    }
    if (s->room > MANY_SYMBOLS)
        free_symbols(s);
    return status;
}

enum leat_status bpe_encode_whole(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                  struct id_list *out, struct leat_error *err)
{
    enum leat_status status;

    if (!m->cuts && encode_whole(m, text, bytes, out, &status, err))
        return status;
    return bpe_encode_merges(m, s, text, bytes, out, err);
}

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
        status = bpe_encode_parts(f->m, f->s, &parts, f->out, err);
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
    if (encode_whole(m, pretoken, bytes, out, &status, err))
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
