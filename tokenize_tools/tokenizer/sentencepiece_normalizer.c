/* sentencepiece_normalizer.c: see sentencepiece_normalizer.h. Follows sentencepiece's Normalizer::Normalize. */
#include "sentencepiece_normalizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "charsmap.h"
#include "string_finder.h"
#include "unicode.h"

#define MARK       "\xe2\x96\x81"
#define MARK_BYTES 3

struct sentencepiece_normalizer {
    const struct spec_sentencepiece *spec;
    struct charsmap *map;          /* NULL: none */
    struct string_finder *defined; /* user-defined pieces, by id */
};

enum leat_status sentencepiece_normalizer_make(struct sentencepiece_normalizer **out, const struct tokenizer_spec *spec,
                                               struct leat_error *err)
{
    struct sentencepiece_normalizer *n = calloc(1, sizeof *n);
    enum leat_status s = n ? string_finder_make(&n->defined, err) : status_no_memory(err, sizeof *n);

    *out = NULL;
    if (s == LEAT_OK) {
        n->spec = &spec->sentencepiece;
        if (n->spec->charsmap.length > 0)
            s = charsmap_create(&n->map, n->spec->charsmap.bytes, n->spec->charsmap.length, err);
    }
    for (uint32_t i = 0; s == LEAT_OK && i < spec->token_count; i++)
        if (spec->tokens[i].type == SPEC_USER_DEFINED)
            s = string_finder_add(n->defined, spec_token_bytes(spec, &spec->tokens[i]), spec->tokens[i].length,
                                  spec->tokens[i].id, err);
    if (s != LEAT_OK) {
        sentencepiece_normalizer_free(n);
        return s;
    }
    *out = n;
    return LEAT_OK;
}

void sentencepiece_normalizer_free(struct sentencepiece_normalizer *n)
{
    if (!n)
        return;
    charsmap_free(n->map);
    string_finder_free(n->defined);
    free(n);
}

/* What the text's beginning is normalized to; returns how many bytes that takes of it. */
static size_t prefix(const struct sentencepiece_normalizer *n, const uint8_t *text, size_t bytes, const uint8_t **to,
                     size_t *to_bytes)
{
    size_t longest = string_finder_longest(n->defined), start, end, length;
    uint32_t id;

    /* only a piece that begins right here counts: no need to look further than the longest one */
    if (longest > 0 && string_finder_next(n->defined, text, bytes < longest ? bytes : longest, 0, &start, &end, &id) &&
        start == 0) {
        *to = text;
        *to_bytes = end;
        return end;
    }
    length = n->map ? charsmap_longest(n->map, text, bytes, to, to_bytes) : 0;
    if (length > 0)
        return length;
    unicode_decode(text, &length);
    *to = text;
    *to_bytes = length;
    return length;
}

static enum leat_status put(const struct sentencepiece_normalizer *n, struct buffer *out, const uint8_t *text,
                            size_t bytes, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < bytes; i++)
        s = text[i] == ' ' && n->spec->escape_whitespaces ? buffer_append(out, MARK, MARK_BYTES, err)
                                                          : buffer_append(out, text + i, 1, err);
    return s;
}

/* White space at the end goes, where extra white space does. */
static void trim(const struct sentencepiece_normalizer *n, struct buffer *out)
{
    const char *space = n->spec->escape_whitespaces ? MARK : " ";
    size_t length = strlen(space);

    while (out->size >= length && memcmp(out->bytes + out->size - length, space, length) == 0)
        out->size -= length;
}

enum leat_status sentencepiece_normalizer_run(const struct sentencepiece_normalizer *n, struct buffer *buffer,
                                              const uint8_t *text, size_t bytes, struct sentencepiece_text *out,
                                              struct leat_error *err)
{
    bool after_space = n->spec->remove_extra_whitespaces;
    enum leat_status s = LEAT_OK;
    size_t at = 0, to_bytes;
    const uint8_t *to;

    buffer->size = 0;
    while (n->spec->remove_extra_whitespaces && at < bytes) {
        size_t used = prefix(n, text + at, bytes - at, &to, &to_bytes);

        if (to_bytes != 1 || *to != ' ')
            break;
        at += used;
    }
    if (at < bytes && n->spec->add_dummy_prefix)
        s = put(n, buffer, (const uint8_t *)" ", 1, err);
    while (s == LEAT_OK && at < bytes) {
        at += prefix(n, text + at, bytes - at, &to, &to_bytes);
        for (; after_space && to_bytes > 0 && *to == ' '; to_bytes--)
            to++;
        if (to_bytes > 0) {
            s = put(n, buffer, to, to_bytes, err);
            after_space = to[to_bytes - 1] == ' ';
        }
        after_space = after_space && n->spec->remove_extra_whitespaces;
    }
    if (n->spec->remove_extra_whitespaces)
        trim(n, buffer);
    *out = (struct sentencepiece_text) { buffer->bytes, buffer->size };
    return s;
}

bool sentencepiece_next(const struct sentencepiece_normalizer *n, const struct sentencepiece_text *text, size_t from,
                        size_t *start, size_t *end, uint32_t *id)
{
    return string_finder_next(n->defined, text->bytes, text->size, from, start, end, id);
}
