/*
 * decoder.c: see decoder.h.
 *
 * There are three ways, one per reference library. tiktoken: the bytes of the tokens, one after another. sentencepiece:
 * sentencepiece_decoder.c, then its denormalizer. tokenizer.json: each id becomes a text of a list, and each decoder of
 * the spec (decoder_steps.c) writes the list anew, from one list to another that takes its place; without decoders,
 * spaces join the texts, as in the reference. The spec holds byte-level tokens as bytes, but decoders see the letters
 * of the file, so add_mapped() makes letters of them again. decoder_make() looks up beforehand what every run needs.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "decoder_internal.h"
#include "sentencepiece_decoder.h"
#include "tokenizer/normalize/charsmap.h"
#include "tokenizer/unicode/unicode.h"

/* ---- Making ---- */

static enum leat_status index_ids(struct decoder *d, struct leat_error *err)
{
    const struct tokenizer_spec *spec = d->spec;
    size_t size = ((size_t)spec->vocabulary_size + 1) * sizeof *d->places;

    d->places = malloc(size);
    d->added = malloc(size);
    if (!d->places || !d->added)
        return status_no_memory(err, size);
    memset(d->places, 0xff, size);
    memset(d->added, 0xff, size);
    for (uint32_t i = 0; i < spec->token_count; i++)
        d->places[spec->tokens[i].id] = i;
    for (uint32_t i = 0; i < spec->added_count; i++)
        d->added[spec->added[i].id] = i;
    return LEAT_OK;
}

/* An added token that is looked for in normalized text decodes to its normalized content, as in the reference. */
static enum leat_status name_added(struct decoder *d, const struct normalizer *normalizer, struct leat_error *err)
{
    const struct tokenizer_spec *spec = d->spec;
    struct normalizer_scratch scratch;
    enum leat_status s;

    d->name_ends = calloc((size_t)spec->added_count + 1, sizeof *d->name_ends);
    if (!d->name_ends)
        return status_no_memory(err, spec->added_count);
    s = normalizer_scratch_make(&scratch, normalizer, NULL, err);
    for (uint32_t i = 0; s == LEAT_OK && i < spec->added_count; i++) {
        const uint8_t *text = spec->added[i].content.bytes;
        size_t bytes = spec->added[i].content.length;

        if (spec->added[i].normalized)
            s = normalizer_run(normalizer, &scratch, &text, &bytes, true, err);
        if (s == LEAT_OK)
            s = buffer_append(&d->names, text, bytes, err);
        d->name_ends[i + 1] = d->names.size;
    }
    normalizer_scratch_free(&scratch);
    return s;
}

enum leat_status decoder_make(struct decoder **out, const struct tokenizer_spec *spec,
                              const struct normalizer *normalizer, struct leat_error *err)
{
    struct decoder *d = calloc(1, sizeof *d);
    enum leat_status s;

    *out = NULL;
    if (!d)
        return status_no_memory(err, sizeof *d);
    d->spec = spec;
    byte_alphabet_init(&d->alphabet);
    d->matchers = calloc(spec->decoder_count + 1, sizeof *d->matchers);
    s = d->matchers ? index_ids(d, err) : status_no_memory(err, spec->decoder_count);
    if (s == LEAT_OK)
        s = name_added(d, normalizer, err);
    if (s == LEAT_OK && spec->sentencepiece.denormalizer.length > 0)
        s = charsmap_create(&d->denormalizer, spec->sentencepiece.denormalizer.bytes,
                            spec->sentencepiece.denormalizer.length, err);
    for (uint32_t i = 0; s == LEAT_OK && i < spec->decoder_count; i++)
        if (spec->decoders[i].kind == SPEC_DECODE_REPLACE || spec->decoders[i].kind == SPEC_DECODE_BPE)
            s = matcher_make(&d->matchers[i], &spec->decoders[i].pattern, spec->dialect, "decoder Replace", err);
    if (s != LEAT_OK) {
        decoder_free(d);
        return s;
    }
    *out = d;
    return LEAT_OK;
}

void decoder_free(struct decoder *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; d->matchers && i < d->spec->decoder_count; i++)
        matcher_free(&d->matchers[i]);
    charsmap_free(d->denormalizer);
    free(d->matchers);
    buffer_free(&d->names);
    free(d->name_ends);
    free(d->places);
    free(d->added);
    free(d);
}

/* ---- Ids to texts ---- */

static enum leat_status append_name(const struct decoder *d, uint32_t id, struct buffer *out, struct leat_error *err)
{
    const size_t *ends = d->name_ends + d->added[id];

    return ends[1] > ends[0] ? buffer_append(out, d->names.bytes + ends[0], ends[1] - ends[0], err) : LEAT_OK;
}

/* Bytes of a byte-level token as the file writes them. */
static enum leat_status add_mapped(const struct decoder *d, const uint8_t *bytes, size_t count, struct text_list *t,
                                   struct leat_error *err)
{
    enum leat_status s = buffer_reserve(&t->bytes, 2 * count, err);

    if (s != LEAT_OK)
        return s;
    for (size_t i = 0; i < count; i++)
        t->bytes.size += utf8_encode(t->bytes.bytes + t->bytes.size, d->alphabet.code_of[bytes[i]]);
    return text_list_end(t, err);
}

static bool has_id(const struct decoder *d, uint32_t id)
{
    return id < d->spec->vocabulary_size && (d->added[id] != SPEC_NONE || d->places[id] != SPEC_NONE);
}

static enum leat_status no_such_id(const struct decoder *d, uint32_t id, struct leat_error *err)
{
    return status_set(err, LEAT_E_RANGE, "unknown id %u: the vocabulary ends at %u", id,
                      d->spec->vocabulary_size > 0 ? d->spec->vocabulary_size - 1 : 0);
}

static enum leat_status add_token(const struct decoder *d, uint32_t id, struct text_list *t, struct leat_error *err)
{
    const struct spec_token *token;

    if (!has_id(d, id))
        return no_such_id(d, id, err);
    if (d->added[id] != SPEC_NONE) {
        enum leat_status s = append_name(d, id, &t->bytes, err);

        return s == LEAT_OK ? text_list_end(t, err) : s;
    }
    token = &d->spec->tokens[d->places[id]];
    if (d->spec->byte_level && !token->foreign)
        return add_mapped(d, spec_token_bytes(d->spec, token), token->length, t, err);
    return text_list_add(t, spec_token_bytes(d->spec, token), token->length, err);
}

/* ---- The whole ---- */

/* As tiktoken does: the bytes of the tokens, one after another. */
static enum leat_status run_bytes(const struct decoder *d, const uint32_t *ids, size_t count, struct buffer *out,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        const struct spec_token *t;

        if (!has_id(d, ids[i]))
            return no_such_id(d, ids[i], err);
        if (d->added[ids[i]] != SPEC_NONE) {
            s = append_name(d, ids[i], out, err);
        } else {
            t = &d->spec->tokens[d->places[ids[i]]];
            s = buffer_append(out, spec_token_bytes(d->spec, t), t->length, err);
        }
    }
    return s;
}

/* sentencepiece's own way; its models have no added tokens. */
static enum leat_status run_sentencepiece(const struct decoder *d, const uint32_t *ids, size_t count,
                                          struct buffer *out, struct leat_error *err)
{
    struct sentencepiece_decoder pieces = { .spec = d->spec };
    struct buffer text = { 0 };
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        if (ids[i] >= d->spec->vocabulary_size || d->places[ids[i]] == SPEC_NONE)
            s = no_such_id(d, ids[i], err);
        else
            s = sentencepiece_decoder_add(&pieces, &d->spec->tokens[d->places[ids[i]]], &text, err);
    }
    if (s == LEAT_OK)
        s = sentencepiece_decoder_end(&pieces, &text, err);
    if (s == LEAT_OK && text.size > 0)
        s = d->denormalizer ? charsmap_append(out, d->denormalizer, CHARSMAP_LONGEST, text.bytes, text.size, err)
                            : buffer_append(out, text.bytes, text.size, err);
    sentencepiece_decoder_free(&pieces);
    buffer_free(&text);
    return s;
}

/* Whether a later decoder may join bytes that stood apart, so that halves of two characters become one. */
static bool changes_text_after(const struct decoder *d, uint32_t i)
{
    while (++i < d->spec->decoder_count)
        if (d->spec->decoders[i].kind != SPEC_DECODE_FUSE)
            return true;
    return false;
}

/* What ByteLevel gave, one text: the reference makes it UTF-8 there, which leat leaves to the caller unless it
 * shows. */
static enum leat_status repair_bytes(struct text_list *t, struct text_list *spare, struct leat_error *err)
{
    struct text_list swap;
    enum leat_status s;

    spare->bytes.size = spare->count = 0;
    s = utf8_repair(&spare->bytes, t->bytes.bytes, t->bytes.size, NULL, err);
    if (s == LEAT_OK)
        s = text_list_end(spare, err);
    swap = *t;
    *t = *spare;
    *spare = swap;
    return s;
}

static enum leat_status join(const struct decoder *d, const struct text_list *t, struct buffer *out,
                             struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (d->spec->decoder_count > 0)
        return buffer_append(out, t->bytes.bytes, t->bytes.size, err);
    for (size_t i = 0; s == LEAT_OK && i < t->count; i++) {
        struct text_view v = text_list_at(t, i);

        if (i > 0)
            s = buffer_append(out, " ", 1, err);
        if (s == LEAT_OK)
            s = buffer_append(out, v.bytes, v.size, err);
    }
    return s;
}

enum leat_status decoder_run(const struct decoder *d, const uint32_t *ids, size_t count, struct buffer *out,
                             struct leat_error *err)
{
    struct text_list a = { 0 }, b = { 0 };
    enum leat_status s = LEAT_OK;

    if (d->spec->reference == SPEC_TIKTOKEN)
        return run_bytes(d, ids, count, out, err);
    if (d->spec->reference == SPEC_SENTENCEPIECE)
        return run_sentencepiece(d, ids, count, out, err);
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = add_token(d, ids[i], &a, err);
    for (uint32_t i = 0; s == LEAT_OK && i < d->spec->decoder_count; i++) {
        struct text_list swap;

        b.bytes.size = b.count = 0;
        s = decoder_step(d, i, &a, &b, err);
        swap = a;
        a = b;
        b = swap;
        if (s == LEAT_OK && d->spec->decoders[i].kind == SPEC_DECODE_BYTE_LEVEL && changes_text_after(d, i))
            s = repair_bytes(&a, &b, err);
    }
    if (s == LEAT_OK)
        s = join(d, &a, out, err);
    text_list_free(&a);
    text_list_free(&b);
    return s;
}
