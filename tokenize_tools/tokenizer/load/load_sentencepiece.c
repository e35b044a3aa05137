/*
 * load_sentencepiece.c: sentencepiece's ModelProto (tokenizer.model, spiece.model), of any type.
 *
 * Two walks over the fields: look_ahead() reads the model's type and counts the tokens, to make room for them; then
 * read_model() takes tokens, normalizer and trainer settings, in whatever order the file has them. check() makes the
 * checks that sentencepiece 0.2.3 makes when it loads a model. Fields that only training needs are skipped.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/big.h"
#include "base/status.h"
#include "base/utf8.h"
#include "load.h"
#include "tokenizer/containers/string_map.h"
#include "tokenizer/notation/protobuf.h"
#include "tokenizer/spec/model.h"

/* Field numbers of sentencepiece_model.proto. */
enum {
    MODEL_TOKENS = 1,
    MODEL_TRAINER = 2,
    MODEL_NORMALIZER = 3,
    MODEL_DENORMALIZER = 5,
    TOKEN_TEXT = 1,
    TOKEN_SCORE = 2,
    TOKEN_TYPE = 3,
    TRAINER_MODEL_TYPE = 3,
    TRAINER_WHITESPACE_AS_SUFFIX = 24,
    TRAINER_BYTE_FALLBACK = 35,
    TRAINER_UNK_SURFACE = 44,
    NORMALIZER_CHARSMAP = 2,
    NORMALIZER_DUMMY_PREFIX = 3,
    NORMALIZER_EXTRA_WHITESPACES = 4,
    NORMALIZER_ESCAPE_WHITESPACES = 5
};

enum model_type {
    UNIGRAM = 1,
    BPE = 2,
    CHARACTER = 4
}; /* numbers of types: the default, which is the first, and
                                                            the last */

/* A token's text that has not been added to its map yet. */
struct waiting_text {
    struct string_map *map;
    uint64_t hash;
    const uint8_t *text;
    uint32_t length;
    const uint8_t *at; /* in the file */
};
#define WAITING 32

struct proto {
    struct tokenizer_spec *spec;
    const struct load_source *source;
    struct leat_error *err;
    uint64_t type; /* enum model_type */
    /* Tokens by name, to refuse duplicates, as sentencepiece does. For BPE, tokens that text cannot become are in a
     * map of their own. */
    struct string_map tokens, reserved;
    struct waiting_text texts[WAITING];
    unsigned waiting;
    bool byte_found[256];
};

static enum leat_status wrong_at(struct proto *m, const uint8_t *at, const char *what)
{
    uint64_t offset = (uint64_t)(at - m->source->bytes);

    return status_set_at(m->err, LEAT_E_VOCABULARY, m->source->path, offset, "%s: %s (byte %" PRIu64 ")",
                         m->source->path, what, offset);
}

static enum leat_status wrong(struct proto *m, const char *what)
{
    return status_set_in(m->err, LEAT_E_VOCABULARY, m->source->path, "%s: %s", m->source->path, what);
}

/* Ends a walk over fields. */
static enum leat_status walked(struct proto *m, const struct protobuf *walk)
{
    return walk->problem ? wrong_at(m, walk->p, walk->problem) : LEAT_OK;
}

/* ---- Tokens ---- */

static enum leat_status note_type(struct proto *m, const struct spec_token *t, const uint8_t *at)
{
    const uint8_t *name = m->spec->text + t->offset;
    int byte;

    if (t->type == SPEC_UNKNOWN) {
        if (m->spec->unknown != SPEC_NONE)
            return wrong_at(m, at, "a second token of type unknown");
        m->spec->unknown = t->id;
    }
    if (t->type == SPEC_BYTE) {
        byte = spec_named_byte(name, t->length);
        if (byte < 0 || name[3] > 'F' || name[4] > 'F') /* in sentencepiece, small letters name no byte */
            return wrong_at(m, at, "a token of type byte has a name other than <0x00> to <0xFF>");
        m->byte_found[byte] = true;
    }
    return LEAT_OK;
}

static bool is_reserved(uint8_t type)
{
    return type == SPEC_UNKNOWN || type == SPEC_CONTROL || type == SPEC_BYTE;
}

/* Adds the waiting texts to their maps. */
static enum leat_status add_texts(struct proto *m)
{
    bool found = false;

    for (unsigned i = 0; i < m->waiting; i++) {
        const struct waiting_text *w = &m->texts[i];

        string_map_add(w->map, w->hash, w->text, w->length, &found);
        if (found)
            return wrong_at(m, w->at, "this token appears twice in the file");
    }
    m->waiting = 0;
    return LEAT_OK;
}

/* Keeps a text until the memory that its map will read has been fetched. */
static enum leat_status add_text(struct proto *m, struct string_map *map, const struct spec_token *t, const uint8_t *at)
{
    const uint8_t *text = spec_token_bytes(m->spec, t);
    uint64_t hash = string_map_hash(map, text, t->length);

    string_map_prefetch(map, hash);
    m->texts[m->waiting++] = (struct waiting_text) { map, hash, text, t->length, at };
    return m->waiting == WAITING ? add_texts(m) : LEAT_OK;
}

static enum leat_status read_token(struct proto *m, const struct protobuf_field *message)
{
    struct tokenizer_spec *spec = m->spec;
    struct protobuf walk = protobuf_begin(message->bytes, message->length);
    uint8_t *text = (uint8_t *)(uintptr_t)spec->text + spec->text_bytes;
    struct spec_token t = { .id = spec->token_count, .offset = (uint32_t)spec->text_bytes, .type = SPEC_NORMAL };
    struct string_map *names;
    const uint8_t *bytes = NULL;
    struct protobuf_field f;
    enum leat_status s;
    float score = 0;

    while (protobuf_next(&walk, &f)) {
        if (f.number == TOKEN_TEXT && f.type == PROTOBUF_BYTES) {
            bytes = f.bytes;
            t.length = (uint32_t)f.length;
        } else if (f.number == TOKEN_SCORE && f.type == PROTOBUF_FIXED32) {
            score = protobuf_float(&f);
        } else if (f.number == TOKEN_TYPE && f.type == PROTOBUF_VARINT && f.value >= SPEC_NORMAL &&
                   f.value <= SPEC_BYTE) {
            t.type = (uint8_t)f.value;
        }
    }
    if (walk.problem)
        return walked(m, &walk);
    if (t.length == 0)
        return wrong_at(m, message->at, "a token without text");
    /* sentencepiece accepts such a token, and never finds it in a text, which it makes well-formed first. Here it is
     * refused, because the model reads its tokens' characters without checking them again. */
    if (utf8_valid_prefix(bytes, t.length) != t.length)
        return wrong_at(m, message->at, "a token that is not valid UTF-8");
    if (memchr(bytes, 0, t.length) && (t.length > 1 || !spec->byte_fallback || t.type != SPEC_NORMAL))
        return wrong_at(m, message->at, "a token with a zero byte");
    if (bytes[0] == 0) /* sentencepiece looks at the first byte only */
        t.type = SPEC_UNUSED;
    if ((m->type == BPE && isnan(score)) || (m->type == UNIGRAM && !isfinite(score)))
        return wrong_at(m, message->at, "a token whose score is not a number");
    names = m->type != BPE && is_reserved(t.type) ? &m->reserved : &m->tokens;
    memcpy(text, bytes, t.length);
    s = add_text(m, names, &t, message->at);
    if (s != LEAT_OK)
        return s;
    spec->scores[spec->token_count] = score;
    spec->tokens[spec->token_count++] = t;
    spec->text_bytes += t.length;
    return note_type(m, &t, message->at);
}

/* ---- The other messages ---- */

static enum leat_status copy_field(struct proto *m, struct spec_string *out, const struct protobuf_field *f)
{
    return spec_copy(m->spec, out, f->bytes, f->length) ? LEAT_OK : status_no_memory(m->err, f->length);
}

static enum leat_status read_trainer(struct proto *m, const struct protobuf_field *message)
{
    struct spec_sentencepiece *sp = &m->spec->sentencepiece;
    struct protobuf walk = protobuf_begin(message->bytes, message->length);
    struct protobuf_field f;
    enum leat_status s;

    while (protobuf_next(&walk, &f)) {
        if (f.number == TRAINER_UNK_SURFACE && f.type == PROTOBUF_BYTES) {
            s = copy_field(m, &sp->unknown_surface, &f);
            if (s != LEAT_OK)
                return s;
        }
        if (f.type != PROTOBUF_VARINT)
            continue;
        if (f.number == TRAINER_MODEL_TYPE && f.value >= UNIGRAM && f.value <= CHARACTER)
            m->type = f.value;
        else if (f.number == TRAINER_WHITESPACE_AS_SUFFIX)
            sp->whitespace_as_suffix = f.value != 0;
        else if (f.number == TRAINER_BYTE_FALLBACK)
            m->spec->byte_fallback = f.value != 0;
    }
    return walked(m, &walk);
}

static enum leat_status read_normalizer(struct proto *m, const struct protobuf_field *message, bool denormalizer)
{
    struct spec_sentencepiece *sp = &m->spec->sentencepiece;
    struct spec_string *map = denormalizer ? &sp->denormalizer : &sp->charsmap;
    struct protobuf walk = protobuf_begin(message->bytes, message->length);
    struct protobuf_field f;
    enum leat_status s;

    while (protobuf_next(&walk, &f)) {
        if (f.number == NORMALIZER_CHARSMAP && f.type == PROTOBUF_BYTES) {
            s = copy_field(m, map, &f);
            if (s != LEAT_OK)
                return s;
            if (map->length > 0 && !charsmap_check(map))
                return wrong_at(m, f.at, "\"precompiled_charsmap\" does not have the form of a compiled map");
        }
        if (denormalizer || f.type != PROTOBUF_VARINT)
            continue;
        if (f.number == NORMALIZER_DUMMY_PREFIX)
            sp->add_dummy_prefix = f.value != 0;
        else if (f.number == NORMALIZER_EXTRA_WHITESPACES)
            sp->remove_extra_whitespaces = f.value != 0;
        else if (f.number == NORMALIZER_ESCAPE_WHITESPACES)
            sp->escape_whitespaces = f.value != 0;
    }
    return walked(m, &walk);
}

/* ---- The model ---- */

static enum leat_status read_model(struct proto *m)
{
    struct protobuf walk = protobuf_begin(m->source->bytes, m->source->size);
    enum leat_status s = LEAT_OK;
    struct protobuf_field f;

    while (s == LEAT_OK && protobuf_next(&walk, &f)) {
        if (f.type != PROTOBUF_BYTES)
            continue;
        if (f.number == MODEL_TOKENS)
            s = read_token(m, &f);
        else if (f.number == MODEL_TRAINER)
            s = read_trainer(m, &f);
        else if (f.number == MODEL_NORMALIZER || f.number == MODEL_DENORMALIZER)
            s = read_normalizer(m, &f, f.number == MODEL_DENORMALIZER);
    }
    if (s == LEAT_OK)
        s = walked(m, &walk);
    return s == LEAT_OK ? add_texts(m) : s;
}

/* Sets the model's kind, before its tokens are read, since each type has its own rules for them, and its own row. */
static void take_type(struct proto *m)
{
    struct model_row row = model_row(0);

    for (size_t i = 0; row.kind && row.kind->sentencepiece != m->type; i++)
        row = model_row(i + 1);
    m->spec->model = row.number;
}

static enum leat_status check(struct proto *m)
{
    bool any = false, all = true;

    for (int i = 0; i < 256; i++) {
        any |= m->byte_found[i];
        all &= m->byte_found[i];
    }
    if (m->spec->unknown == SPEC_NONE)
        return wrong(m, "no token has the type unknown");
    if (any && !m->spec->byte_fallback)
        return wrong(m, "it has byte tokens, but byte_fallback is not set");
    if (!all && m->spec->byte_fallback)
        return wrong(m, "byte_fallback is set, but some of the 256 byte tokens are missing");
    return LEAT_OK;
}

/* Reads the type first, and counts tokens to make room. */
static enum leat_status look_ahead(struct proto *m)
{
    struct protobuf walk = protobuf_begin(m->source->bytes, m->source->size);
    uint64_t count = 0, bytes = 0;
    enum leat_status s = LEAT_OK;
    struct protobuf_field f;

    while (s == LEAT_OK && protobuf_next(&walk, &f)) {
        if (f.type != PROTOBUF_BYTES)
            continue;
        if (f.number == MODEL_TRAINER)
            s = read_trainer(m, &f);
        if (f.number == MODEL_TOKENS) {
            count++;
            bytes += f.length;
        }
    }
    if (s == LEAT_OK)
        s = walked(m, &walk);
    if (s != LEAT_OK)
        return s;
    if (count == 0)
        return wrong(m, "it has no tokens: is it a sentencepiece model?");
    if (count > SPEC_MAX_ID)
        return wrong(m, "it has too many tokens for a vocabulary");
    take_type(m);
    m->spec->tokens = big_alloc(count * sizeof *m->spec->tokens);
    m->spec->scores = big_alloc(count * sizeof *m->spec->scores);
    m->spec->text = big_alloc(bytes + 1);
    if (!m->spec->tokens || !m->spec->scores || !m->spec->text || !string_map_init(&m->tokens, (uint32_t)count) ||
        !string_map_init(&m->reserved, (uint32_t)count))
        return status_no_memory(m->err, count * 64 + bytes);
    return LEAT_OK;
}

enum leat_status load_sentencepiece(struct tokenizer_spec *spec, const struct load_source *source,
                                    struct leat_error *err)
{
    struct proto m = { .spec = spec, .source = source, .err = err, .type = UNIGRAM };
    struct spec_sentencepiece *sp = &spec->sentencepiece;
    enum leat_status s;

    spec->reference = SPEC_SENTENCEPIECE;
    *sp = (struct spec_sentencepiece) { .add_dummy_prefix = true,
                                        .remove_extra_whitespaces = true,
                                        .escape_whitespaces = true };
    if (source->size > JSONTREE_MAX_BYTES)
        return wrong(&m, "it is larger than 1 GiB, the limit of a vocabulary");
    if (!spec_copy(spec, &sp->unknown_surface, " \xe2\x81\x87 ", 5))
        return status_no_memory(err, 5);
    s = look_ahead(&m);
    if (s == LEAT_OK)
        s = read_model(&m);
    if (s == LEAT_OK)
        s = check(&m);
    if (s == LEAT_OK)
        s = spec_finish(spec, source->path, err);
    string_map_free(&m.tokens);
    string_map_free(&m.reserved);
    return s;
}
