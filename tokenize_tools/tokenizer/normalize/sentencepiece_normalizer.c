/*
 * sentencepiece_normalizer.c: see sentencepiece_normalizer.h. Follows sentencepiece's Normalizer::Normalize.
 *
 * The text is taken from the front: prefix() finds a user-defined piece there, else the longest match of the map, else
 * one character. Texts come in chunks: where more text could change the match, the rest waits in `held` for the next
 * call. If the spec removes extra white space, that at the beginning and after other white space is dropped at once.
 * White space at the end of `out` may be the text's last: it is not given until something follows it, or dropped with
 * the end.
 */
#include "sentencepiece_normalizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "charsmap.h"
#include "tokenizer/split/string_finder.h"
#include "tokenizer/unicode/unicode.h"

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

void sentencepiece_state_bound(struct sentencepiece_state *s, struct bound *bound)
{
    s->held.text.bound = s->out.bound = bound;
}

void sentencepiece_state_free(struct sentencepiece_state *s)
{
    held_free(&s->held);
    buffer_free(&s->out);
}

void sentencepiece_state_clear(struct sentencepiece_state *s)
{
    held_clear(&s->held);
    s->out.size = s->given = 0;
    buffer_trim(&s->out);
    s->begun = s->after_space = false;
}

const struct string_finder *sentencepiece_defined(const struct sentencepiece_normalizer *n)
{
    return n->defined;
}

/* What has come of a text, and how much of it is done. */
struct chunk {
    const uint8_t *text;
    size_t bytes, at;
    bool last;
};

/* What the text at `at` is normalized to; returns how many bytes that takes of it, 0 if what follows may change it. */
static size_t prefix(const struct sentencepiece_normalizer *n, const struct chunk *p, const uint8_t **to,
                     size_t *to_bytes)
{
    size_t longest = string_finder_longest(n->defined), start, end, length, bytes = p->bytes - p->at;
    const uint8_t *text = p->text + p->at;
    struct string_search search = { .text = text, .bytes = bytes < longest ? bytes : longest };
    bool open = false;
    uint32_t id;

    if (bytes < longest && !p->last)
        return 0;
    /* only a piece that begins right here counts: no need to look further than the longest one */
    if (longest > 0 && string_finder_next(n->defined, &search, &start, &end, &id) && start == 0) {
        *to = text;
        *to_bytes = end;
        return end;
    }
    length = n->map ? charsmap_longest(n->map, text, bytes, to, to_bytes, &open) : 0;
    if (open && !p->last)
        return 0;
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
        s = text[i] == ' ' && n->spec->escape_whitespaces ? buffer_append(out, SPEC_MARK, SPEC_MARK_BYTES, err)
                                                          : buffer_append(out, text + i, 1, err);
    return s;
}

static enum leat_status put_dummy(const struct sentencepiece_normalizer *n, struct sentencepiece_state *s,
                                  struct leat_error *err)
{
    return n->spec->add_dummy_prefix ? put(n, &s->out, (const uint8_t *)" ", 1, err) : LEAT_OK;
}

/* White space at the text's beginning goes, where extra white space does; a prefix comes before the first of the
 * rest. */
static enum leat_status begin(const struct sentencepiece_normalizer *n, struct sentencepiece_state *s, struct chunk *p,
                              struct leat_error *err)
{
    const uint8_t *to;
    size_t used, to_bytes;

    while (!s->begun && p->at < p->bytes && (used = prefix(n, p, &to, &to_bytes)) > 0) {
        s->begun = !n->spec->remove_extra_whitespaces || to_bytes != 1 || *to != ' ';
        p->at += s->begun ? 0 : used;
    }
    s->after_space = n->spec->remove_extra_whitespaces;
    return s->begun && !n->spec->whitespace_as_suffix ? put_dummy(n, s, err) : LEAT_OK;
}

/* How much of what has come out is not white space at the end, which goes where extra white space does. The first
 * `spaces` bytes are known to be white space. */
static size_t trimmed(const struct sentencepiece_normalizer *n, const struct buffer *out, size_t spaces)
{
    const char *space = n->spec->escape_whitespaces ? SPEC_MARK : " ";
    size_t length = strlen(space), size = out->size;

    while (n->spec->remove_extra_whitespaces && size > spaces && size >= length &&
           memcmp(out->bytes + size - length, space, length) == 0)
        size -= length;
    return size > spaces ? size : 0;
}

static enum leat_status run(const struct sentencepiece_normalizer *n, struct sentencepiece_state *s, struct chunk *p,
                            struct leat_error *err)
{
    enum leat_status status = s->begun ? LEAT_OK : begin(n, s, p, err);
    size_t used, to_bytes;
    const uint8_t *to;

    while (status == LEAT_OK && s->begun && p->at < p->bytes && (used = prefix(n, p, &to, &to_bytes)) > 0) {
        p->at += used;
        for (; s->after_space && to_bytes > 0 && *to == ' '; to_bytes--)
            to++;
        if (to_bytes > 0) {
            status = put(n, &s->out, to, to_bytes, err);
            s->after_space = to[to_bytes - 1] == ' ';
        }
        s->after_space = s->after_space && n->spec->remove_extra_whitespaces;
    }
    return status;
}

enum leat_status sentencepiece_normalizer_run(const struct sentencepiece_normalizer *n, struct sentencepiece_state *s,
                                              const uint8_t **text, size_t *bytes, bool last, struct leat_error *err)
{
    struct chunk p = { .last = last };
    size_t spaces = s->out.size - s->given;
    enum leat_status status;
    bool ready;

    if (s->given > 0 && spaces > 0)
        memmove(s->out.bytes, s->out.bytes + s->given, spaces);
    s->out.size = spaces;
    s->given = 0;
    status = held_join(&s->held, text, bytes, last, &ready, err);
    if (status != LEAT_OK || !ready) {
        *bytes = 0;
        return status;
    }
    p.text = *text;
    p.bytes = *bytes;
    status = run(n, s, &p, err);
    if (status == LEAT_OK)
        status = held_keep(&s->held, p.text, p.bytes, p.at, err);
    s->given = trimmed(n, &s->out, spaces);
    if (last) {
        s->out.size = s->given;
        if (status == LEAT_OK && s->begun && n->spec->whitespace_as_suffix)
            status = put_dummy(n, s, err);
        s->given = s->out.size;
        s->begun = false;
    }
    *text = s->out.bytes ? s->out.bytes : (const uint8_t *)"";
    *bytes = s->given;
    return status;
}
