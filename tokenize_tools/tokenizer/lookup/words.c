/* words.c: see words.h. */
#include "words.h"

#include <stdlib.h>

#include "base/status.h"
#include "lookup_batch.h"
#include "token_order.h"
#include "token_trie.h"
#include "tokenizer/spec/model.h"
#include "tokenizer/unicode/char_tests.h"
#include "tokenizer/unicode/unicode.h"

struct words {
    struct model model;
    const struct tokenizer_spec *spec;
    const struct words_data *data;
    struct token_trie trie; /* by place in spec->tokens */
    uint32_t inside;        /* base of the node of the prefix: where tokens of what follows are looked for */
    size_t longest;         /* bytes of the longest token */
};

/* ---- Making ---- */

static bool can_be_found(const struct spec_token *t)
{
    return !t->foreign && t->length > 0;
}

static enum leat_status fill_trie(struct words *m, struct trie *trie, struct leat_error *err)
{
    uint32_t *order = NULL, count = 0, known;
    enum leat_status s = token_order_make(&order, &count, m->spec, can_be_found, false, err);

    for (uint32_t i = 0; s == LEAT_OK && i < count; i++) {
        const struct spec_token *t = &m->spec->tokens[order[i]];

        s = trie_add(trie, spec_token_bytes(m->spec, t), t->length, order[i], &known, err);
        m->longest = t->length > m->longest ? t->length : m->longest;
    }
    free(order);
    return s == LEAT_OK ? trie_seal(trie, err) : s;
}

static enum leat_status make_trie(struct words *m, struct leat_error *err)
{
    const struct spec_string *prefix = &m->spec->continuing_prefix;
    struct trie trie = { 0 };
    enum leat_status s = fill_trie(m, &trie, err);
    uint32_t number;
    bool found = true;

    if (s == LEAT_OK)
        s = token_trie_make(&m->trie, &trie, err);
    trie_free(&trie);
    m->inside = m->trie.root;
    for (uint32_t i = 0; s == LEAT_OK && found && i < prefix->length; i++)
        found = token_step(&m->trie, &m->inside, prefix->bytes[i], &number);
    if (!found)
        m->inside = TOKEN_NO_CHILD;
    return s;
}

enum leat_status words_make(struct words **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct words *m = calloc(1, sizeof *m);
    enum leat_status s;

    *out = NULL;
    if (!m)
        return status_no_memory(err, sizeof *m);
    m->spec = spec;
    m->data = spec->model_data;
    s = make_trie(m, err);
    if (s != LEAT_OK) {
        words_free(m);
        return s;
    }
    *out = m;
    return LEAT_OK;
}

void words_free(struct words *m)
{
    if (!m)
        return;
    token_trie_free(&m->trie);
    free(m);
}

/* ---- A thread's memory ---- */

enum leat_status words_scratch_make(struct words_scratch **out, size_t cache_bytes, struct leat_error *err)
{
    struct words_scratch *s = calloc(1, sizeof *s);
    enum leat_status status = s ? lookup_batch_make(&s->batch, cache_bytes, err) : status_no_memory(err, sizeof *s);

    if (status != LEAT_OK) {
        free(s);
        s = NULL;
    }
    *out = s;
    return status;
}

void words_scratch_free(struct words_scratch *s)
{
    if (!s)
        return;
    lookup_batch_free(s->batch);
    free(s);
}

/* ---- Encoding ---- */

/* Of byte-level text, each byte is a character. */
static bool too_long(const struct words *m, const uint8_t *text, size_t bytes)
{
    size_t count = 0, max = m->data ? m->data->max_characters : m->longest;

    if (bytes <= max)
        return false;
    if (m->spec->byte_level || !m->data)
        return true;
    for (size_t i = 0; i < bytes && count <= max; i++)
        count += (text[i] & 0xc0) != 0x80;
    return count > max;
}

static enum leat_status put_unknown(const struct words *m, struct id_list *out, struct leat_error *err)
{
    if (m->spec->unknown != SPEC_NONE)
        return id_list_append(out, m->spec->unknown, err);
    return status_set(err, LEAT_E_TEXT,
                      "the text has a word that is not in the vocabulary, and neither is the unknown token \"%.100s\"",
                      (const char *)m->spec->unknown_text.bytes);
}

/* The longest token that the text begins with: its bytes, or 0. `base`: where to look. */
static size_t find_longest(const struct words *m, uint32_t base, const uint8_t *text, size_t bytes, uint32_t *token)
{
    size_t found = 0;
    uint32_t number;

    for (size_t i = 0; i < bytes && token_step(&m->trie, &base, text[i], &number);) {
        i++;
        if (number != TOKEN_NONE) {
            *token = number;
            found = i;
        }
    }
    return found;
}

enum leat_status words_encode(const struct words *m, const uint8_t *text, size_t bytes, struct id_list *out,
                              struct leat_error *err)
{
    size_t before = out->count, at = 0, length;
    enum leat_status s = LEAT_OK;
    uint32_t token;

    if (too_long(m, text, bytes))
        return put_unknown(m, out, err);
    while (s == LEAT_OK && at < bytes) {
        length = find_longest(m, at == 0 ? m->trie.root : m->inside, text + at, bytes - at, &token);
        if (length == 0 || (!m->data && length < bytes)) {
            out->count = before;
            return put_unknown(m, out, err);
        }
        s = id_list_append(out, m->spec->tokens[token].id, err);
        at += length;
    }
    return s;
}

enum leat_status words_encode_chunk(const struct words *m, struct words_scratch *s, const uint8_t *text, size_t bytes,
                                    bool begins, bool last, struct id_list *out, size_t *used, struct leat_error *err)
{
    if (begins)
        s->too_long = false;
    s->too_long = s->too_long || too_long(m, text, bytes);
    *used = last || s->too_long ? bytes : 0;
    if (!last)
        return LEAT_OK;
    return s->too_long ? put_unknown(m, out, err) : words_encode(m, text, bytes, out, err);
}

static enum leat_status encode_one(const void *context, void *scratch, const uint8_t *text, size_t bytes,
                                   struct id_list *out, bool *apart, struct leat_error *err)
{
    (void)scratch;
    (void)apart;
    return words_encode(context, text, bytes, out, err);
}

enum leat_status words_encode_batch(const struct words *m, struct words_scratch *s, const uint8_t *text, size_t bytes,
                                    uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                    struct leat_error *err)
{
    const struct lookup_way way = { .one = encode_one, .context = m, .scratch = s };

    return lookup_batch_encode(s->batch, &way, text, bytes, begin, ends, count, out, err);
}

static enum leat_status encode_after_space(const void *context, void *scratch, const uint8_t *text, size_t bytes,
                                           struct id_list *out, bool *apart, struct leat_error *err)
{
    size_t space = 0, length;

    (void)scratch;
    (void)apart;
    while (space < bytes && char_tests(unicode_decode(text + space, &length)) & CHAR_WHITESPACE)
        space += length;
    return space < bytes ? words_encode(context, text + space, bytes - space, out, err) : LEAT_OK;
}

enum leat_status words_encode_after_space(const struct words *m, struct words_scratch *s, const uint8_t *text,
                                          size_t bytes, uint32_t begin, const uint32_t *ends, size_t count,
                                          struct id_list *out, struct leat_error *err)
{
    const struct lookup_way way = { .one = encode_after_space, .context = m, .scratch = s };

    return lookup_batch_encode(s->batch, &way, text, bytes, begin, ends, count, out, err);
}
