/*
 * bpe_symbols.c: the symbols that a text begins with, before anything is merged: bytes or characters, spelled with
 * prefix and suffix where the file has them; what has no token falls back to bytes or becomes unknown.
 */
#include "bpe_internal.h"

#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "tokenizer/unicode/unicode.h"

/* The vocabulary lacks the unknown token that the text needs. */
static enum leat_status bpe_no_unknown(const struct bpe *m, struct leat_error *err)
{
    return status_set(err, LEAT_E_TEXT,
                      "the text has a character that is not in the vocabulary, and neither is the unknown token "
                      "\"%.100s\"",
                      (const char *)m->spec->unknown_text.bytes);
}

/* Exactly Hugging Face's order: the unknown token of a run of unknown characters is written when a known character
 * comes or the pretoken ends, but not when a character falls back to bytes. */
static size_t put_pending(const struct bpe *m, uint32_t *symbols, size_t n, bool *pending)
{
    if (*pending)
        symbols[n++] = m->unknown;
    *pending = false;
    return n;
}

/* A character, or byte of byte-level text, without a token, if there is no unknown token. */
static enum leat_status refuse_unknown(const struct bpe *m, const uint8_t *character, struct leat_error *err)
{
    if (m->kind->needs_bytes)
        return status_set(err, LEAT_E_TEXT, "the text has the byte 0x%02x, for which the vocabulary has no token",
                          *character);
    return m->spec->unknown_text.bytes ? bpe_no_unknown(m, err) : LEAT_OK; /* it vanishes */
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

/* A character as the file spells it: with a prefix where it does not begin a word, and a suffix after the last one. */
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

/* The bytes that fallback goes by: a byte-level file's own way of writing, not what it stands for. */
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

enum leat_status bpe_symbols_of_text(const struct bpe *m, uint32_t *symbols, const uint8_t *text, size_t bytes,
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
