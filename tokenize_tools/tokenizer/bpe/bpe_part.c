/* bpe_part.c: the symbols of a part, which are merged in a thread's scratch. */
#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/status.h"
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
static enum leat_status symbols_of_text(const struct bpe *m, uint32_t *symbols, const uint8_t *text, size_t bytes,
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

enum leat_status bpe_symbols_reserve(const struct bpe *m, struct bpe_scratch *s, size_t pretoken_bytes,
                                     struct leat_error *err)
{
    size_t count = bpe_symbols_max(m, pretoken_bytes), room = count < MANY_SYMBOLS ? 2 * count : count;

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

enum leat_status bpe_symbols_encode(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                    struct id_list *out, struct leat_error *err)
{
    size_t count;
    enum leat_status status = bpe_merge_text(m, s, symbols_of_text, text, bytes, &count, err);

    return status == LEAT_OK ? bpe_append(m, s->symbols, count, out, err) : status;
}

void bpe_symbols_trim(struct bpe_scratch *s)
{
    if (s->room > MANY_SYMBOLS)
        free_symbols(s);
}
