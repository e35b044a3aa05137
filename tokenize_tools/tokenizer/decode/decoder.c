/*
 * decoder.c: see decoder.h.
 *
 * There are three ways, one per reference library. tiktoken: the bytes of the tokens, one after another. sentencepiece:
 * sentencepiece_decoder.c, then its denormalizer. tokenizer.json: each id becomes a text in a list, and each decoder of
 * the spec (decoder_steps.c) makes a new list of it; without decoders, the texts are joined with spaces, as in the
 * reference. The spec holds byte-level tokens as bytes, but decoders see the letters of the file, so add_mapped() turns
 * bytes into letters again. decoder_make() looks up beforehand what every run needs.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "base/utf8.h"
#include "decoder_internal.h"
#include "sentencepiece_decoder.h"
#include "tokenizer/normalize/charsmap.h"
#include "tokenizer/unicode/unicode.h"

/* ---- Making ---- */

/* Ids so far apart that the files of vocabularies do not explain it are searched for: a file of 200 bytes with one id
 * of 24 bits took 128 MiB. */
static bool is_sparse(const struct tokenizer_spec *spec)
{
    return spec->vocabulary_size > (1u << 20) && spec->vocabulary_size / 4 > spec->token_count + spec->added_count;
}

static enum leat_status index_ids(struct decoder *d, struct leat_error *err)
{
    const struct tokenizer_spec *spec = d->spec;
    size_t size = ((size_t)spec->vocabulary_size + 1) * sizeof *d->places;

    if (is_sparse(spec))
        return LEAT_OK;
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

enum leat_status decoder_make(struct decoder **out, const struct tokenizer_spec *spec, struct leat_error *err)
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
    free(d->places);
    free(d->added);
    free(d);
}

/* ---- Ids to texts ---- */

/* What an id stands for: one of the two, or neither. */
struct meaning {
    const struct spec_added *added;
    const struct spec_token *token;
};

/* As index_ids() has it: of several with one id the last. */
static const struct spec_added *last_added(const struct tokenizer_spec *spec, uint32_t id)
{
    const struct spec_added *a = spec_find_added(spec, id);

    while (a && a + 1 < spec->added + spec->added_count && a[1].id == id)
        a++;
    return a;
}

static struct meaning meaning_of(const struct decoder *d, uint32_t id)
{
    const struct tokenizer_spec *spec = d->spec;
    struct meaning m = { NULL, NULL };

    if (id >= spec->vocabulary_size)
        return m;
    if (!d->places) {
        m.added = last_added(spec, id);
        m.token = m.added ? NULL : spec_find_id(spec, id);
    } else if (d->added[id] != SPEC_NONE) {
        m.added = &spec->added[d->added[id]];
    } else if (d->places[id] != SPEC_NONE) {
        m.token = &spec->tokens[d->places[id]];
    }
    return m;
}

/* An added token that is looked for in normalized text decodes to its normalized content, as in the reference. */
static enum leat_status append_name(const struct spec_added *added, struct buffer *out, struct leat_error *err)
{
    const struct spec_string *name = added->name.length > 0 ? &added->name : &added->content;

    return buffer_append(out, name->bytes, name->length, err);
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

static enum leat_status no_such_id(const struct decoder *d, uint32_t id, struct leat_error *err)
{
    return status_set(err, LEAT_E_RANGE, "unknown id %u: the vocabulary ends at %u", id,
                      d->spec->vocabulary_size > 0 ? d->spec->vocabulary_size - 1 : 0);
}

static enum leat_status add_token(const struct decoder *d, uint32_t id, struct text_list *t, struct leat_error *err)
{
    struct meaning m = meaning_of(d, id);
    const struct spec_token *token = m.token;

    if (m.added) {
        enum leat_status s = append_name(m.added, &t->bytes, err);

        return s == LEAT_OK ? text_list_end(t, err) : s;
    }
    if (!token)
        return no_such_id(d, id, err);
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
        struct meaning m = meaning_of(d, ids[i]);

        if (m.added)
            s = append_name(m.added, out, err);
        else if (m.token)
            s = buffer_append(out, spec_token_bytes(d->spec, m.token), m.token->length, err);
        else
            s = no_such_id(d, ids[i], err);
    }
    return s;
}

/* sentencepiece's own way; its models have no added tokens. */
static enum leat_status run_sentencepiece(const struct decoder *d, const uint32_t *ids, size_t count,
                                          struct buffer *out, struct leat_error *err)
{
    struct sentencepiece_decoder pieces = { .spec = d->spec };
    struct buffer text = { .bound = out->bound };
    enum leat_status s = LEAT_OK;

    pieces.run.bound = out->bound;
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        struct meaning m = meaning_of(d, ids[i]);

        s = m.token ? sentencepiece_decoder_add(&pieces, m.token, &text, err) : no_such_id(d, ids[i], err);
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

/* The one text that ByteLevel gave: the reference makes it UTF-8 there; leat leaves that to the caller, unless a later
 * decoder would notice. */
static enum leat_status repair_bytes(struct text_list *t, struct text_list *spare, struct leat_error *err)
{
    struct text_list swap;
    enum leat_status s;

    if (t->bytes.size == 0) /* and perhaps no memory */
        return LEAT_OK;
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

/* tokenizer.json's. */
static enum leat_status run_decoders(const struct decoder *d, const uint32_t *ids, size_t count, struct buffer *out,
                                     struct leat_error *err)
{
    struct text_list a = { .bytes.bound = out->bound }, b = { .bytes.bound = out->bound };
    struct pattern_steps steps = { .left = 0 };
    enum leat_status s = LEAT_OK;

    pattern_steps_begin(&steps);
    matcher_take(&steps, count);
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = add_token(d, ids[i], &a, err);
    for (uint32_t i = 0; s == LEAT_OK && i < d->spec->decoder_count; i++) {
        struct text_list swap;

        b.bytes.size = b.count = 0;
        s = decoder_step(d, i, &a, &b, &steps, err);
        swap = a;
        a = b;
        b = swap;
        if (s == LEAT_OK && d->spec->decoders[i].kind == SPEC_DECODE_BYTE_LEVEL && changes_text_after(d, i))
            s = repair_bytes(&a, &b, err);
        if (s == LEAT_OK)
            s = matcher_wrote(&steps, a.bytes.size, err);
    }
    if (s == LEAT_OK)
        s = join(d, &a, out, err);
    text_list_free(&a);
    text_list_free(&b);
    return s;
}

/*
 * Memory that decoding may take: the file says how long tokens are, and what decoders make of them. 31 of them that
 * replace an a by two once made 5.2 GB of 10 KB. Ordinary tokens take a tenth of what is allowed per id.
 */
#define DECODE_BASE ((uint64_t)TINY_OR(256 << 10, 64 << 20))
#define DECODE_ID   256

enum leat_status decoder_run(const struct decoder *d, const uint32_t *ids, size_t count, struct buffer *out,
                             struct leat_error *err)
{
    struct bound bound = { .max = DECODE_BASE + out->room + (uint64_t)count * DECODE_ID, .held = out->room };
    enum leat_status s;

    out->bound = &bound;
    if (d->spec->reference == SPEC_TIKTOKEN)
        s = run_bytes(d, ids, count, out, err);
    else if (d->spec->reference == SPEC_SENTENCEPIECE)
        s = run_sentencepiece(d, ids, count, out, err);
    else
        s = run_decoders(d, ids, count, out, err);
    out->bound = NULL;
    if (s == LEAT_E_PRETOKEN)
        return status_set(err, LEAT_E_VOCABULARY,
                          "the tokenizer makes too much text of %zu ids: it takes more than the limit of %llu KiB",
                          count, (unsigned long long)(bound.max >> 10));
    return s;
}
