/*
 * whole.c: sentencepiece's models of types Word and Character, two rows of the table.
 *
 * A word, or a character, is a token as a whole, or unknown: then it becomes its bytes with byte_fallback, else a run
 * of unknown ones becomes one unknown token. A word ends before each mark (U+2581), and user-defined tokens are words
 * like others. They cut the text of characters, before it comes here. Control, unknown, byte and unused tokens are
 * never found, whatever their names.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "tokenizer/containers/string_map.h"
#include "tokenizer/spec/model.h"
#include "tokenizer/unicode/unicode.h"

/* The state of a text that comes in chunks. */
struct whole_scratch {
    bool unknown; /* the last unit was unknown, and the unknown token stands for further unknown ones, too */
};

struct whole {
    struct model model;
    const struct tokenizer_spec *spec;
    bool words;
    struct string_map tokens; /* ids by text */
    uint32_t bytes[256];      /* ids, with byte_fallback */
};

static const struct whole *of(const struct model *model)
{
    return (const struct whole *)(const void *)model;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static bool can_be_found(const struct spec_token *t)
{
    return t->type == SPEC_NORMAL || t->type == SPEC_USER_DEFINED;
}

static void take_tokens(struct whole *m)
{
    const struct tokenizer_spec *spec = m->spec;
    bool found;

    for (uint32_t i = 0; i < spec->token_count; i++) {
        const struct spec_token *t = &spec->tokens[i];
        const uint8_t *text = spec_token_bytes(spec, t);

        if (t->type == SPEC_BYTE)
            m->bytes[spec_named_byte(text, t->length)] = t->id;
        if (can_be_found(t)) {
            uint64_t hash = string_map_hash(&m->tokens, text, t->length);
            uint32_t entry = string_map_add(&m->tokens, hash, text, t->length, &found);

            m->tokens.entries[entry].value = t->id;
        }
    }
}

static void free_model(struct model *model)
{
    struct whole *m = (struct whole *)(void *)model;

    string_map_free(&m->tokens);
    free(m);
}

static enum leat_status make_whole(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct whole *m = calloc(1, sizeof *m);

    *out = NULL;
    if (!m)
        return status_no_memory(err, sizeof *m);
    m->spec = spec;
    m->words = spec->model == SPEC_WORDS;
    if (!string_map_init(&m->tokens, spec->token_count)) {
        free_model(&m->model);
        return status_no_memory(err, (uint64_t)spec->token_count * sizeof *m->tokens.entries);
    }
    take_tokens(m);
    *out = &m->model;
    return LEAT_OK;
}

static enum leat_status scratch_make(void **out, struct bound *bound, size_t cache_bytes, struct leat_error *err)
{
    (void)bound;
    (void)cache_bytes;
    *out = calloc(1, sizeof(struct whole_scratch));
    return *out ? LEAT_OK : status_no_memory(err, sizeof(struct whole_scratch));
}

/* ---- Encoding ---------------------------------------------------------------------------------------------------- */

/* Returns the place of the next mark after the beginning, or `bytes`. */
static size_t next_mark(const uint8_t *text, size_t bytes)
{
    const uint8_t *mark = bytes > 0 ? memmem(text + 1, bytes - 1, SPEC_MARK, SPEC_MARK_BYTES) : NULL;

    return mark ? (size_t)(mark - text) : bytes;
}

/* Returns the bytes of the word or character that the text begins with. */
static size_t unit(const struct whole *m, const uint8_t *text, size_t bytes)
{
    size_t length = 0;

    if (m->words)
        return next_mark(text, bytes);
    unicode_decode(text, &length);
    return length;
}

static enum leat_status put_bytes(const struct whole *m, const uint8_t *text, size_t bytes, struct id_list *out,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < bytes; i++)
        s = id_list_append(out, m->bytes[text[i]], err);
    return s;
}

static enum leat_status append_piece(const struct whole *m, const uint8_t *text, size_t bytes, bool *unknown,
                                     struct id_list *out, struct leat_error *err)
{
    uint32_t entry = string_map_find(&m->tokens, string_map_hash(&m->tokens, text, bytes), text, bytes);
    bool after_unknown = *unknown;

    *unknown = entry == STRING_MAP_NONE && !m->spec->byte_fallback;
    if (entry != STRING_MAP_NONE)
        return id_list_append(out, m->tokens.entries[entry].value, err);
    if (m->spec->byte_fallback)
        return put_bytes(m, text, bytes, out, err);
    return after_unknown ? LEAT_OK : id_list_append(out, m->spec->unknown, err);
}

/* Encodes all units of a text, except the last one if it is a word that may go on. */
static enum leat_status put_all(const struct whole *m, const struct model_chunk *c, bool *unknown, struct id_list *out,
                                size_t *used, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    size_t at = 0, length;

    while (s == LEAT_OK && at < c->bytes) {
        length = unit(m, c->text + at, c->bytes - at);
        if (m->words && !c->last && at + length == c->bytes)
            break;
        s = append_piece(m, c->text + at, length, unknown, out, err);
        at += length;
    }
    *used = at;
    return s;
}

static enum leat_status encode(const struct model *model, void *scratch, const uint8_t *text, size_t bytes,
                               struct id_list *out, struct leat_error *err)
{
    const struct model_chunk all = { .text = text, .bytes = bytes, .begins = true, .last = true };
    bool unknown = false;
    size_t used;

    (void)scratch;
    return put_all(of(model), &all, &unknown, out, &used, err);
}

static enum leat_status encode_chunk(const struct model *model, void *scratch, const struct model_chunk *c,
                                     struct id_list *out, size_t *used, struct leat_error *err)
{
    struct whole_scratch *s = scratch;

    if (c->begins)
        s->unknown = false;
    return put_all(of(model), c, &s->unknown, out, used, err);
}

#define WHOLE                                                                                                          \
    .make = make_whole, .free = free_model, .scratch_make = scratch_make, .scratch_free = free, .encode = encode,      \
    .encode_chunk = encode_chunk

const struct model_kind model_words = { .sentencepiece = 3, .finds_defined = true, WHOLE };
const struct model_kind model_characters = { .sentencepiece = 4, WHOLE };
