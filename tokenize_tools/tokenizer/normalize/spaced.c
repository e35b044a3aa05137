/* spaced.c: decides by the normalizers and tokens whether a vocabulary is of this kind, and rewrites its tokens. */
#include "spaced.h"

#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/status.h"
#include "tokenizer/spec/model.h"
#include "tokenizer/split/pretokenizer.h"

static bool is_mark(const struct spec_string *s)
{
    return s->length == SPEC_MARK_BYTES && memcmp(s->bytes, SPEC_MARK, SPEC_MARK_BYTES) == 0;
}

/* Spaces become marks. */
static bool is_replace(const struct spec_normalizer *n)
{
    return n->kind == SPEC_NORM_REPLACE && !n->pattern.regex && n->pattern.text.length == 1 &&
           n->pattern.text.bytes[0] == ' ' && is_mark(&n->content);
}

static enum spaced_prefix prefix_of_normalizers(const struct tokenizer_spec *spec)
{
    const struct spec_normalizer *n = spec->normalizers;

    if (spec->normalizer_count == 1 && is_replace(n))
        return SPACED_NONE;
    if (spec->normalizer_count == 2 && is_replace(&n[1]) && n[0].kind == SPEC_NORM_PREPEND &&
        (is_mark(&n[0].content) || (n[0].content.length == 1 && n[0].content.bytes[0] == ' ')))
        return SPACED_ALWAYS;
    return SPACED_NOT;
}

/* Returns true if a pre-tokenizer splits at spaces when none are left. */
static bool does_nothing(const struct spec_pre_tokenizer *p)
{
    return p->kind == SPEC_PRE_SPLIT && !p->pattern.regex && !p->invert && p->pattern.text.length == 1 &&
           p->pattern.text.bytes[0] == ' ';
}

static enum spaced_prefix prefix_of_metaspace(const struct spec_pre_tokenizer *p)
{
    if (p->kind != SPEC_PRE_METASPACE || p->split || !is_mark(&p->replacement))
        return SPACED_NOT;
    return p->prepend == SPEC_PREPEND_ALWAYS  ? SPACED_UNLESS
           : p->prepend == SPEC_PREPEND_FIRST ? SPACED_FIRST
                                              : SPACED_NONE;
}

/* Returns true if the mark is a token: otherwise a space and a mark would fall back to different bytes. */
static bool has_mark_token(const struct tokenizer_spec *spec)
{
    for (uint32_t i = 0; i < spec->token_count; i++)
        if (spec->tokens[i].length == SPEC_MARK_BYTES && spec->tokens[i].type == SPEC_NORMAL &&
            memcmp(spec_token_bytes(spec, &spec->tokens[i]), SPEC_MARK, SPEC_MARK_BYTES) == 0)
            return true;
    return false;
}

/* Returns the prefix that a model of sentencepiece puts, if nothing else changes or cuts text. */
static enum spaced_prefix prefix_of_sentencepiece(const struct tokenizer_spec *spec)
{
    const struct spec_sentencepiece *sp = &spec->sentencepiece;

    if (sp->remove_extra_whitespaces || !sp->escape_whitespaces || sp->whitespace_as_suffix || sp->charsmap.length > 0)
        return SPACED_NOT;
    if (!has_mark_token(spec) || memchr(spec->text, ' ', spec->text_bytes))
        return SPACED_NOT;
    for (uint32_t i = 0; i < spec->token_count; i++)
        if (spec->tokens[i].type == SPEC_USER_DEFINED)
            return SPACED_NOT;
    return sp->add_dummy_prefix ? SPACED_ALWAYS : SPACED_NONE;
}

enum spaced_prefix spaced_find(const struct tokenizer_spec *spec)
{
    if (!model_kind_of(spec)->spaced)
        return SPACED_NOT;
    if (spec->reference == SPEC_SENTENCEPIECE)
        return prefix_of_sentencepiece(spec);
    if (spec->byte_level || spec->continuing_prefix.length > 0 || spec->word_suffix.length > 0 || !has_mark_token(spec))
        return SPACED_NOT;
    for (uint32_t i = 0; i < spec->added_count; i++)
        if (spec->added[i].normalized)
            return SPACED_NOT;
    if (spec->normalizer_count == 0 && spec->pre_tokenizer_count == 1)
        return prefix_of_metaspace(spec->pre_tokenizers);
    if (spec->pre_tokenizer_count > 1 || (spec->pre_tokenizer_count == 1 && !does_nothing(spec->pre_tokenizers)))
        return SPACED_NOT;
    return prefix_of_normalizers(spec);
}

/* Returns true if the unknown token has a mark. It may be a part of runs of unknown characters, which fall back to
 * bytes. */
static bool unknown_has_mark(const struct tokenizer_spec *spec)
{
    const struct spec_token *t = spec->unknown < spec->token_count ? &spec->tokens[spec->unknown] : NULL;

    return t && memmem(spec_token_bytes(spec, t), t->length, SPEC_MARK, SPEC_MARK_BYTES);
}

bool spaced_after_pretokenizer(const struct tokenizer_spec *spec)
{
    if (!model_kind_of(spec)->spaced_words || spec->byte_level || !pretokenizer_only_spaces(spec))
        return false;
    for (uint32_t i = 0; i < spec->normalizer_count; i++)
        if (spec->normalizers[i].kind == SPEC_NORM_BYTE_LEVEL)
            return false;
    return has_mark_token(spec) && !unknown_has_mark(spec);
}

bool spaced_after_normalizer(const struct tokenizer_spec *spec)
{
    if (spec->reference != SPEC_SENTENCEPIECE || !model_kind_of(spec)->spaced_normalized)
        return false;
    if (!spec->sentencepiece.escape_whitespaces || !has_mark_token(spec) || memchr(spec->text, ' ', spec->text_bytes))
        return false;
    for (uint32_t i = 0; i < spec->token_count; i++)
        if (spec->tokens[i].type == SPEC_USER_DEFINED)
            return false;
    return true;
}

size_t spaced_put(uint8_t *to, const uint8_t *text, size_t bytes)
{
    uint8_t *begin = to;

    for (size_t i = 0; i < bytes;) {
        bool mark = spec_begins_with_mark(text + i, bytes - i);

        *to++ = mark ? ' ' : text[i];
        i += mark ? SPEC_MARK_BYTES : 1;
    }
    return (size_t)(to - begin);
}

static void make_tokens(struct tokenizer_spec *spaced, uint8_t *text, const struct tokenizer_spec *spec)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < spec->token_count; i++) {
        const uint8_t *bytes = spec_token_bytes(spec, &spec->tokens[i]);
        struct spec_token *t = &spaced->tokens[i];

        *t = spec->tokens[i];
        t->offset = (uint32_t)end;
        t->length = (uint32_t)spaced_put(text + end, bytes, t->length);
        t->foreign = t->foreign || memchr(bytes, ' ', spec->tokens[i].length);
        end += t->length;
    }
    spaced->text_bytes = end;
}

enum leat_status spaced_make(struct tokenizer_spec **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct tokenizer_spec *s = malloc(sizeof *s);
    uint8_t *text = big_alloc(spec->text_bytes + 1);

    *out = NULL;
    if (s) {
        *s = *spec;
        s->tokens = big_alloc((size_t)spec->token_count * sizeof *s->tokens);
        s->text = text;
    }
    if (!s || !text || !s->tokens) {
        free(s ? s->tokens : NULL);
        free(text);
        free(s);
        return status_no_memory(err, spec->token_count * sizeof *s->tokens + spec->text_bytes);
    }
    make_tokens(s, text, spec);
    *out = s;
    return LEAT_OK;
}

void spaced_free(struct tokenizer_spec *spaced)
{
    if (!spaced)
        return;
    free(spaced->tokens);
    free((void *)(uintptr_t)spaced->text);
    free(spaced);
}

/* The loop has no branch, so that compilers make vectors of it: many characters of a text have the mark's first
 * byte. */
bool spaced_has_mark(const uint8_t *text, size_t bytes)
{
    uint8_t any = 0;

    for (size_t i = 0; i + 2 < bytes; i++)
        any |= (uint8_t)(-(text[i] == 0xe2) & -(text[i + 1] == 0x96) & -(text[i + 2] == 0x81));
    return any != 0;
}

enum leat_status spaced_replace(struct buffer *out, const uint8_t *text, size_t bytes, struct leat_error *err)
{
    enum leat_status s = buffer_reserve(out, bytes, err);

    if (s == LEAT_OK && bytes > 0)
        out->size += spaced_put(out->bytes + out->size, text, bytes);
    return s;
}
