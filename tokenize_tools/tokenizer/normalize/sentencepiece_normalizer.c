/*
 * sentencepiece_normalizer.c: follows sentencepiece's Normalizer::Normalize.
 *
 * The text is taken from the front: prefix() finds a user-defined token there, else the longest match of the map, else
 * one character. Texts come in chunks: if more text could change the match, the rest waits in `held` for the next call.
 * If the spec removes extra white space, white space at the beginning and after other white space is dropped at once.
 * White space at the end of `out` may end the text: it is given when something follows it, or dropped with the end.
 */
#include "sentencepiece_normalizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "charsmap.h"
#include "spaced.h"
#include "tokenizer/split/string_finder.h"
#include "tokenizer/unicode/unicode.h"

struct sentencepiece_normalizer {
    const struct spec_sentencepiece *spec;
    struct charsmap *map;          /* NULL: none */
    struct string_finder *defined; /* user-defined tokens, by id */
    bool spaces;                   /* true: spaces, and marks in the text, become or stay spaces */
    bool copies;                   /* true: most of a text can be copied unchanged */
};

enum leat_status sentencepiece_normalizer_make(struct sentencepiece_normalizer **out, const struct tokenizer_spec *spec,
                                               bool spaces, struct leat_error *err)
{
    struct sentencepiece_normalizer *n = calloc(1, sizeof *n);
    enum leat_status s = n ? string_finder_make(&n->defined, err) : status_no_memory(err, sizeof *n);

    *out = NULL;
    if (s == LEAT_OK) {
        n->spec = &spec->sentencepiece;
        n->spaces = spaces;
        if (n->spec->charsmap.length > 0)
            s = charsmap_create(&n->map, n->spec->charsmap.bytes, n->spec->charsmap.length, err);
    }
    for (uint32_t i = 0; s == LEAT_OK && i < spec->token_count; i++)
        if (spec->tokens[i].type == SPEC_USER_DEFINED)
            s = string_finder_add(n->defined, spec_token_bytes(spec, &spec->tokens[i]), spec->tokens[i].length,
                                  spec->tokens[i].id, err);
    if (s == LEAT_OK)
        s = string_finder_end(n->defined, err);
    if (s == LEAT_OK)
        n->copies = string_finder_longest(n->defined) == 0 && (spaces || !n->spec->escape_whitespaces);
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

/* A chunk of a text, and the part of it that is done. */
struct chunk {
    const uint8_t *text;
    size_t bytes, at;
    bool last;
    struct string_search search;
    enum leat_status status;
    struct leat_error *err;
};

/* Normalizes the text at `at` up to the end of a key or character. Returns the number of bytes of it, or 0 if later
 * text may change the result, or if it failed: then the chunk has the status. */
static size_t prefix(const struct sentencepiece_normalizer *n, struct chunk *p, const uint8_t **to, size_t *to_bytes)
{
    size_t longest = string_finder_longest(n->defined), end = 0, length, bytes = p->bytes - p->at;
    const uint8_t *text = p->text + p->at;
    bool open = false;
    uint32_t id;

    if (bytes < longest && !p->last)
        return 0;
    if (longest > 0)
        p->status = string_finder_at(n->defined, &p->search, p->at, &end, &id, p->err);
    if (p->status != LEAT_OK)
        return 0;
    if (end > 0) {
        *to = text;
        *to_bytes = end - p->at;
        return end - p->at;
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

static enum leat_status append_text(const struct sentencepiece_normalizer *n, struct buffer *out, const uint8_t *text,
                                    size_t bytes, struct leat_error *err)
{
    enum leat_status s = buffer_reserve(out, SPEC_MARK_BYTES * bytes, err);

    if (s == LEAT_OK && n->spaces) {
        out->size += spaced_put(out->bytes + out->size, text, bytes);
        return s;
    }
    for (size_t i = 0; s == LEAT_OK && i < bytes; i++) {
        bool mark = text[i] == ' ' && n->spec->escape_whitespaces;

        memcpy(out->bytes + out->size, mark ? (const uint8_t *)SPEC_MARK : text + i, mark ? SPEC_MARK_BYTES : 1);
        out->size += mark ? SPEC_MARK_BYTES : 1;
    }
    return s;
}

static enum leat_status put_dummy(const struct sentencepiece_normalizer *n, struct sentencepiece_state *s,
                                  struct leat_error *err)
{
    return n->spec->add_dummy_prefix ? append_text(n, &s->out, (const uint8_t *)" ", 1, err) : LEAT_OK;
}

/* Begins a text. If extra white space is removed, white space at its beginning is dropped; a prefix comes before the
 * first character of the rest. */
static enum leat_status begin_text(const struct sentencepiece_normalizer *n, struct sentencepiece_state *s,
                                   struct chunk *p, struct leat_error *err)
{
    const uint8_t *to;
    size_t used, to_bytes;

    while (!s->begun && p->at < p->bytes && (used = prefix(n, p, &to, &to_bytes)) > 0) {
        s->begun = !n->spec->remove_extra_whitespaces || to_bytes != 1 || *to != ' ';
        p->at += s->begun ? 0 : used;
    }
    if (p->status != LEAT_OK)
        return p->status;
    s->after_space = n->spec->remove_extra_whitespaces;
    return s->begun && !n->spec->whitespace_as_suffix ? put_dummy(n, s, err) : LEAT_OK;
}

/* Returns how much of the output does not end in white space, which is dropped at the end if extra white space is
 * removed. The first `spaces` bytes are known to be white space. */
static size_t trimmed(const struct sentencepiece_normalizer *n, const struct buffer *out, size_t spaces)
{
    const char *space = n->spec->escape_whitespaces && !n->spaces ? SPEC_MARK : " ";
    size_t length = strlen(space), size = out->size;

    while (n->spec->remove_extra_whitespaces && size > spaces && size >= length &&
           memcmp(out->bytes + size - length, space, length) == 0)
        size -= length;
    return size > spaces ? size : 0;
}

/* Copies what can be copied. Near the end of a chunk that more text follows, characters are looked at one by one. */
static enum leat_status copy_text(const struct sentencepiece_normalizer *n, struct sentencepiece_state *s,
                                  struct chunk *p, struct leat_error *err)
{
    size_t bytes = p->bytes - p->at, end = p->last ? bytes : bytes < CHARSMAP_KEY_MAX ? 0 : bytes - CHARSMAP_KEY_MAX;
    struct charsmap_text t = { .text = p->text + p->at, .single = n->spec->remove_extra_whitespaces };
    enum leat_status status = buffer_reserve(&s->out, end + 8, err);

    if (status != LEAT_OK || end == 0)
        return status;
    t.to = s->out.bytes + s->out.size;
    t.after_space = s->after_space;
    charsmap_copy(n->map, CHARSMAP_LONGEST, &t, end, bytes);
    s->out.size = (size_t)(t.to - s->out.bytes);
    p->at += t.at;
    s->after_space = t.single && t.after_space;
    return LEAT_OK;
}

static enum leat_status normalize_chunk(const struct sentencepiece_normalizer *n, struct sentencepiece_state *s,
                                        struct chunk *p, struct leat_error *err)
{
    enum leat_status status = s->begun ? LEAT_OK : begin_text(n, s, p, err);
    size_t used, to_bytes;
    const uint8_t *to;

    while (status == LEAT_OK && s->begun && p->at < p->bytes) {
        if (n->copies)
            status = copy_text(n, s, p, err);
        used = status == LEAT_OK && p->at < p->bytes ? prefix(n, p, &to, &to_bytes) : 0;
        if (used == 0)
            break;
        p->at += used;
        for (; s->after_space && to_bytes > 0 && *to == ' '; to_bytes--)
            to++;
        if (to_bytes > 0) {
            status = append_text(n, &s->out, to, to_bytes, err);
            s->after_space = to[to_bytes - 1] == ' ';
        }
        s->after_space = s->after_space && n->spec->remove_extra_whitespaces;
    }
    return status == LEAT_OK ? p->status : status;
}

enum leat_status sentencepiece_normalizer_run(const struct sentencepiece_normalizer *n, struct sentencepiece_state *s,
                                              const uint8_t **text, size_t *bytes, bool last, struct leat_error *err)
{
    struct chunk p = { .last = last, .err = err };
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
    p.search = (struct string_search) { .text = p.text, .bytes = p.bytes, .places.places.bound = s->out.bound };
    status = normalize_chunk(n, s, &p, err);
    string_search_free(&p.search);
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
