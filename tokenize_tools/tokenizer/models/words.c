/*
 * words.c: WordPiece and WordLevel, two rows of the table, and their sections in a tokenizer.json.
 *
 * WordLevel: a word's own token. WordPiece: the longest token that the word begins with, then the longest for what
 * follows, whose tokens are written with a prefix ("##"), and so on; if nothing fits anywhere, or the word has too many
 * characters, the whole word is unknown.
 */
#include <stdlib.h>

#include "base/status.h"
#include "lookup_batch.h"
#include "token_trie.h"
#include "tokenizer/load/load_hf.h"
#include "tokenizer/spec/fingerprint.h"
#include "tokenizer/spec/model.h"
#include "tokenizer/unicode/unicode.h"

/* The state of a word that comes in chunks. */
struct words_scratch {
    bool too_long; /* the word is too long, and its rest does not matter */
    struct lookup_batch *batch;
};

struct words {
    struct model model;
    const struct tokenizer_spec *spec;
    const struct spec_wordpiece *data;
    struct token_trie trie; /* trie of the tokens; its numbers are places in spec->tokens */
    uint32_t inside;        /* base of the prefix's node, at which the rest of a word is looked up */
    uint32_t longest;       /* bytes of the longest token */
};

static const struct words *of(const struct model *model)
{
    return (const struct words *)(const void *)model;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static enum leat_status read_wordlevel(struct load_hf *h, uint32_t node)
{
    enum leat_status s = load_hf_vocabulary(h, node);
    uint32_t unknown;

    if (s == LEAT_OK)
        s = load_hf_string(h, node, "unk_token", LOAD_HF_REQUIRED, &unknown);
    if (s == LEAT_OK)
        s = load_hf_unknown(h, node);
    return s == LEAT_OK ? load_hf_tokens(h) : s;
}

static enum leat_status read_wordpiece(struct load_hf *h, uint32_t node)
{
    struct spec_wordpiece *data = spec_alloc(h->spec, sizeof *data);
    enum leat_status s;

    if (!data)
        return status_no_memory(h->err, sizeof *data);
    h->spec->model_data = data;
    s = load_hf_affix(h, node, "continuing_subword_prefix", LOAD_HF_REQUIRED, &h->spec->continuing_prefix);
    if (s == LEAT_OK)
        s = load_hf_number(h, node, "max_input_chars_per_word", &data->max_characters);
    return s == LEAT_OK ? read_wordlevel(h, node) : s;
}

static void hash_wordpiece(struct fingerprint_hash *h, const struct tokenizer_spec *spec)
{
    const struct spec_wordpiece *data = spec->model_data;

    fingerprint_number(h, data->max_characters);
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static bool can_be_found(const struct spec_token *t)
{
    return !t->foreign && t->length > 0;
}

static enum leat_status make_trie(struct words *m, struct leat_error *err)
{
    const struct spec_string *prefix = &m->spec->continuing_prefix;
    enum leat_status s = token_trie_of_spec(&m->trie, m->spec, can_be_found, false, &m->longest, err);
    uint32_t number;
    bool found = true;

    m->inside = m->trie.root;
    for (uint32_t i = 0; s == LEAT_OK && found && i < prefix->length; i++)
        found = token_step(&m->trie, &m->inside, prefix->bytes[i], &number);
    if (!found)
        m->inside = TOKEN_NO_CHILD;
    return s;
}

static void free_model(struct model *model)
{
    struct words *m = (struct words *)(void *)model;

    token_trie_free(&m->trie);
    word_store_free(m->model.words);
    free(m);
}

static enum leat_status make_words(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct words *m = calloc(1, sizeof *m);
    enum leat_status s;

    *out = NULL;
    if (!m)
        return status_no_memory(err, sizeof *m);
    m->spec = spec;
    m->data = spec->model_data;
    s = make_trie(m, err);
    if (s == LEAT_OK)
        s = word_store_make(&m->model.words, err);
    if (s != LEAT_OK) {
        free_model(&m->model);
        return s;
    }
    *out = &m->model;
    return LEAT_OK;
}

/* ---- A thread's memory ------------------------------------------------------------------------------------------- */

static enum leat_status scratch_make(void **out, struct bound *bound, size_t cache_bytes, struct leat_error *err)
{
    struct words_scratch *s = calloc(1, sizeof *s);
    enum leat_status status =
        s ? lookup_batch_make(&s->batch, bound, cache_bytes, err) : status_no_memory(err, sizeof *s);

    if (status != LEAT_OK) {
        free(s);
        s = NULL;
    }
    *out = s;
    return status;
}

static void scratch_free(void *scratch)
{
    struct words_scratch *s = scratch;

    if (!s)
        return;
    lookup_batch_free(s->batch);
    free(s);
}

/* ---- Encoding ---------------------------------------------------------------------------------------------------- */

/* Returns true if a word has too many characters. In byte-level text, each byte is a character. */
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

/* Returns the length of the longest token that the text begins with, or 0. `base` says where to look. */
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

static enum leat_status encode_word(const struct words *m, const uint8_t *text, size_t bytes, struct id_list *out,
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

static enum leat_status encode(const struct model *model, void *scratch, const uint8_t *text, size_t bytes,
                               struct id_list *out, struct leat_error *err)
{
    (void)scratch;
    return encode_word(of(model), text, bytes, out, err);
}

static enum leat_status encode_chunk(const struct model *model, void *scratch, const struct model_chunk *c,
                                     struct id_list *out, size_t *used, struct leat_error *err)
{
    const struct words *m = of(model);
    struct words_scratch *s = scratch;

    if (c->begins)
        s->too_long = false;
    s->too_long = s->too_long || too_long(m, c->text, c->bytes);
    *used = c->last || s->too_long ? c->bytes : 0;
    if (!c->last)
        return LEAT_OK;
    return s->too_long ? put_unknown(m, out, err) : encode_word(m, c->text, c->bytes, out, err);
}

static enum leat_status encode_one(const void *context, void *scratch, const uint8_t *text, size_t bytes,
                                   struct id_list *out, bool *apart, struct leat_error *err)
{
    (void)scratch;
    (void)apart;
    return encode_word(context, text, bytes, out, err);
}

static enum leat_status encode_batch(const struct model *model, void *scratch, const struct model_pretokens *p,
                                     struct id_list *out, struct leat_error *err)
{
    struct words_scratch *s = scratch;
    const struct lookup_way way = { .one = encode_one, .context = of(model), .scratch = s };

    return lookup_batch_encode(s->batch, model, &way, p, out, err);
}

static enum leat_status encode_after_space(const void *context, void *scratch, const uint8_t *text, size_t bytes,
                                           struct id_list *out, bool *apart, struct leat_error *err)
{
    size_t space = 0, length;

    (void)scratch;
    (void)apart;
    while (space < bytes && char_tests(unicode_decode(text + space, &length)) & CHAR_WHITESPACE)
        space += length;
    return space < bytes ? encode_word(context, text + space, bytes - space, out, err) : LEAT_OK;
}

static enum leat_status encode_words(const struct model *model, void *scratch, const struct model_pretokens *p,
                                     struct id_list *out, struct leat_error *err)
{
    struct words_scratch *s = scratch;
    const struct lookup_way way = { .one = encode_after_space, .context = of(model), .scratch = s };

    return lookup_batch_encode(s->batch, model, &way, p, out, err);
}

#define WORDS                                                                                                          \
    .make = make_words, .free = free_model, .scratch_make = scratch_make, .scratch_free = scratch_free,                \
    .cache_bytes = pretoken_cache_large, .share = word_store_share, .encode = encode, .encode_batch = encode_batch,    \
    .encode_words = encode_words, .encode_chunk = encode_chunk

const struct model_kind model_wordpiece = {
    .type = "WordPiece", .member = "max_input_chars_per_word", .read = read_wordpiece, .hash = hash_wordpiece, WORDS
};
const struct model_kind model_wordlevel = { .type = "WordLevel", .member = "unk_token", .read = read_wordlevel, WORDS };
