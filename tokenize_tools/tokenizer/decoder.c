/*
 * decoder.c: see decoder.h. The general way keeps the tokens' texts in one buffer with the place where each ends; a
 * decoder writes such a list anew, from one to the other of two.
 */
#include "decoder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "byte_alphabet.h"
#include "charsmap.h"
#include "matcher.h"
#include "sentencepiece_decoder.h"
#include "unicode.h"
#include "utf8.h"

struct decoder {
    const struct tokenizer_spec *spec;
    struct matcher *matchers; /* one a decoder; used by Replace and BPEDecoder */
    struct byte_alphabet alphabet;
    uint32_t *places;              /* of the text of each id in spec->tokens; SPEC_NONE */
    uint32_t *added;               /* likewise in spec->added */
    struct buffer names;           /* what added tokens decode to, end to end */
    size_t *name_ends;             /* that of spec->added[i] is names[name_ends[i], name_ends[i + 1]) */
    struct charsmap *denormalizer; /* sentencepiece; NULL: none */
};

/* Texts end to end. */
struct texts {
    struct buffer bytes;
    size_t *ends;
    size_t count, room;
};

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

/* ---- Lists of texts ---- */

static void texts_free(struct texts *t)
{
    buffer_free(&t->bytes);
    free(t->ends);
}

/* Ends the text whose bytes were appended last. */
static enum leat_status end_text(struct texts *t, struct leat_error *err)
{
    if (t->count == t->room) {
        size_t room = t->room ? 2 * t->room : 256;
        size_t *ends = realloc(t->ends, room * sizeof *ends);

        if (!ends)
            return status_no_memory(err, room * sizeof *ends);
        t->ends = ends;
        t->room = room;
    }
    t->ends[t->count++] = t->bytes.size;
    return LEAT_OK;
}

static enum leat_status add_text(struct texts *t, const void *bytes, size_t count, struct leat_error *err)
{
    enum leat_status s = buffer_append(&t->bytes, bytes, count, err);

    return s == LEAT_OK ? end_text(t, err) : s;
}

struct view {
    const uint8_t *bytes;
    size_t size;
};

static struct view text_at(const struct texts *t, size_t i)
{
    size_t begin = i > 0 ? t->ends[i - 1] : 0;

    return (struct view) { t->bytes.bytes ? t->bytes.bytes + begin : (const uint8_t *)"", t->ends[i] - begin };
}

/* ---- Ids to texts ---- */

static enum leat_status append_name(const struct decoder *d, uint32_t id, struct buffer *out, struct leat_error *err)
{
    const size_t *ends = d->name_ends + d->added[id];

    return ends[1] > ends[0] ? buffer_append(out, d->names.bytes + ends[0], ends[1] - ends[0], err) : LEAT_OK;
}

/* Bytes of a byte-level token as the file writes them. */
static enum leat_status add_mapped(const struct decoder *d, const uint8_t *bytes, size_t count, struct texts *t,
                                   struct leat_error *err)
{
    enum leat_status s = buffer_reserve(&t->bytes, 2 * count, err);

    if (s != LEAT_OK)
        return s;
    for (size_t i = 0; i < count; i++)
        t->bytes.size += utf8_encode(t->bytes.bytes + t->bytes.size, d->alphabet.code_of[bytes[i]]);
    return end_text(t, err);
}

static enum leat_status no_such_id(const struct decoder *d, uint32_t id, struct leat_error *err)
{
    return status_set(err, LEAT_E_RANGE, "%u is no id of this vocabulary, whose greatest is %u", id,
                      d->spec->vocabulary_size > 0 ? d->spec->vocabulary_size - 1 : 0);
}

static enum leat_status add_token(const struct decoder *d, uint32_t id, struct texts *t, struct leat_error *err)
{
    const struct spec_token *token;

    if (id >= d->spec->vocabulary_size || (d->added[id] == SPEC_NONE && d->places[id] == SPEC_NONE))
        return no_such_id(d, id, err);
    if (d->added[id] != SPEC_NONE) {
        enum leat_status s = append_name(d, id, &t->bytes, err);

        return s == LEAT_OK ? end_text(t, err) : s;
    }
    token = &d->spec->tokens[d->places[id]];
    if (d->spec->byte_level && !token->foreign)
        return add_mapped(d, spec_token_bytes(d->spec, token), token->length, t, err);
    return add_text(t, spec_token_bytes(d->spec, token), token->length, err);
}

/* ---- The decoders ---- */

/* Each text whose characters are all of the byte alphabet becomes the bytes; another one stays. All are joined. */
static enum leat_status byte_level(const struct decoder *d, const struct texts *from, struct texts *to,
                                   struct leat_error *err)
{
    for (size_t i = 0; i < from->count; i++) {
        struct view v = text_at(from, i);
        enum leat_status s = buffer_reserve(&to->bytes, v.size, err);
        uint32_t bytes;

        if (s != LEAT_OK)
            return s;
        if (byte_alphabet_decode(&d->alphabet, to->bytes.bytes + to->bytes.size, &bytes, v.bytes, (uint32_t)v.size))
            to->bytes.size += bytes;
        else if ((s = buffer_append(&to->bytes, v.bytes, v.size, err)) != LEAT_OK)
            return s;
    }
    return end_text(to, err);
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "<0xNN>" */
static bool is_byte(struct view v, uint8_t *byte)
{
    if (v.size != 6 || memcmp(v.bytes, "<0x", 3) != 0 || v.bytes[5] != '>' || hex_digit(v.bytes[3]) < 0 ||
        hex_digit(v.bytes[4]) < 0)
        return false;
    *byte = (uint8_t)(hex_digit(v.bytes[3]) << 4 | hex_digit(v.bytes[4]));
    return true;
}

/* A run of bytes: a text if it is valid UTF-8, else U+FFFD for each. */
static enum leat_status end_bytes(struct buffer *run, struct texts *to, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (run->size == 0)
        return LEAT_OK;
    if (utf8_valid_prefix(run->bytes, run->size) == run->size)
        s = add_text(to, run->bytes, run->size, err);
    else
        for (size_t i = 0; s == LEAT_OK && i < run->size; i++)
            s = add_text(to, UTF8_REPLACEMENT, 3, err);
    run->size = 0;
    return s;
}

static enum leat_status byte_fallback(const struct texts *from, struct texts *to, struct leat_error *err)
{
    struct buffer run = { 0 };
    enum leat_status s = LEAT_OK;
    uint8_t byte;

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct view v = text_at(from, i);

        if (is_byte(v, &byte)) {
            s = buffer_append(&run, &byte, 1, err);
        } else {
            s = end_bytes(&run, to, err);
            if (s == LEAT_OK)
                s = add_text(to, v.bytes, v.size, err);
        }
    }
    if (s == LEAT_OK)
        s = end_bytes(&run, to, err);
    buffer_free(&run);
    return s;
}

static enum leat_status fuse(const struct texts *from, struct texts *to, struct leat_error *err)
{
    return add_text(to, from->bytes.bytes, from->bytes.size, err);
}

static bool begins_with(struct view v, const struct spec_string *s)
{
    return v.size >= s->length && memcmp(v.bytes, s->bytes, s->length) == 0;
}

static bool ends_with(struct view v, const struct spec_string *s)
{
    return v.size >= s->length && memcmp(v.bytes + v.size - s->length, s->bytes, s->length) == 0;
}

static enum leat_status strip(const struct spec_decoder *spec, const struct texts *from, struct texts *to,
                              struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct view v = text_at(from, i), all = v;

        for (uint32_t k = 0; k < spec->start && begins_with(v, &spec->content); k++) {
            v.bytes += spec->content.length;
            v.size -= spec->content.length;
        }
        /* the end is looked for in the whole text, as the reference does; what both take is taken once */
        for (uint32_t k = 0; k < spec->stop && ends_with(all, &spec->content); k++) {
            all.size -= spec->content.length;
            v.size -= v.size >= spec->content.length ? spec->content.length : v.size;
        }
        s = add_text(to, v.bytes, v.size, err);
    }
    return s;
}

static enum leat_status replace(const struct matcher *m, const struct spec_string *content, const struct texts *from,
                                struct texts *to, struct leat_error *err)
{
    struct matcher_pass pass;
    struct pattern_run *run;
    enum leat_status s = matcher_run_make(&run, m, NULL, err);

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct view v = text_at(from, i);
        size_t begin, end, copied = 0;
        bool found = true;

        s = matcher_begin(&pass, m, run, v.bytes, v.size, false, false, err);
        while (s == LEAT_OK && (s = matcher_next(&pass, &begin, &end, &found, err)) == LEAT_OK && found) {
            s = buffer_append(&to->bytes, v.bytes + copied, begin - copied, err);
            if (s == LEAT_OK)
                s = buffer_append(&to->bytes, content->bytes, content->length, err);
            copied = end;
        }
        if (s == LEAT_OK)
            s = add_text(to, v.bytes + copied, v.size - copied, err);
    }
    pattern_run_free(run);
    return s;
}

/* The mark becomes a space, but in the first text, where a prefix put it, nothing. */
static enum leat_status metaspace(const struct spec_decoder *spec, const struct texts *from, struct texts *to,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct view v = text_at(from, i);

        while (s == LEAT_OK && v.size > 0) {
            size_t take = 1;

            if (begins_with(v, &spec->content)) {
                take = spec->content.length;
                if (i > 0 || spec->prepend == SPEC_PREPEND_NEVER)
                    s = buffer_append(&to->bytes, " ", 1, err);
            } else {
                s = buffer_append(&to->bytes, v.bytes, 1, err);
            }
            v.bytes += take;
            v.size -= take;
        }
        if (s == LEAT_OK)
            s = end_text(to, err);
    }
    return s;
}

/* The suffix of a word's last part becomes a space, at the very end nothing. */
static enum leat_status word_suffix(const struct matcher *m, const struct texts *from, struct texts *to,
                                    struct leat_error *err)
{
    struct spec_string space = { (const uint8_t *)" ", 1 }, nothing = { (const uint8_t *)"", 0 };
    struct texts one = { 0 };
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct view v = text_at(from, i);

        one.bytes.size = one.count = 0;
        s = add_text(&one, v.bytes, v.size, err);
        if (s == LEAT_OK)
            s = replace(m, i + 1 < from->count ? &space : &nothing, &one, to, err);
    }
    texts_free(&one);
    return s;
}

static enum leat_status replace_string(const struct buffer *text, const char *what, const char *with,
                                       struct buffer *out, struct leat_error *err)
{
    size_t length = strlen(what), copied = 0;
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && copied < text->size) {
        const uint8_t *begin = text->bytes + copied, *found = memmem(begin, text->size - copied, what, length);
        size_t keep = found ? (size_t)(found - begin) : text->size - copied;

        s = buffer_append(out, begin, keep, err);
        if (s == LEAT_OK && found)
            s = buffer_append(out, with, strlen(with), err);
        copied += keep + (found ? length : 0);
    }
    return s;
}

/* What the reference does to a text, in this order, to undo the spaces that tokenizing English puts in. */
static enum leat_status clean_up(struct buffer *text, struct leat_error *err)
{
    static const char *const pairs[][2] = { { " .", "." },     { " ?", "?" },           { " !", "!" },
                                            { " ,", "," },     { " ' ", "'" },          { " n't", "n't" },
                                            { " 'm", "'m" },   { " do not", " don't" }, { " 's", "'s" },
                                            { " 've", "'ve" }, { " 're", "'re" } };
    struct buffer other = { 0 };
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < sizeof pairs / sizeof pairs[0]; i++) {
        struct buffer swap;

        other.size = 0;
        s = replace_string(text, pairs[i][0], pairs[i][1], &other, err);
        swap = *text;
        *text = other;
        other = swap;
    }
    buffer_free(&other);
    return s;
}

/* Texts with the prefix join the one before; others are set off by a space. */
static enum leat_status wordpiece(const struct spec_decoder *spec, const struct texts *from, struct texts *to,
                                  struct leat_error *err)
{
    struct buffer text = { 0 };
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct view v = text_at(from, i);
        bool joins = i > 0 && begins_with(v, &spec->content);

        text.size = 0;
        if (i > 0 && !joins)
            s = buffer_append(&text, " ", 1, err);
        if (s == LEAT_OK)
            s = joins ? buffer_append(&text, v.bytes + spec->content.length, v.size - spec->content.length, err)
                      : buffer_append(&text, v.bytes, v.size, err);
        if (s == LEAT_OK && spec->cleanup)
            s = clean_up(&text, err);
        if (s == LEAT_OK)
            s = add_text(to, text.bytes, text.size, err);
    }
    buffer_free(&text);
    return s;
}

static enum leat_status run_decoder(const struct decoder *d, uint32_t i, const struct texts *from, struct texts *to,
                                    struct leat_error *err)
{
    const struct spec_decoder *spec = &d->spec->decoders[i];

    switch (spec->kind) {
    case SPEC_DECODE_BYTE_LEVEL:
        return byte_level(d, from, to, err);
    case SPEC_DECODE_BYTE_FALLBACK:
        return byte_fallback(from, to, err);
    case SPEC_DECODE_FUSE:
        return fuse(from, to, err);
    case SPEC_DECODE_STRIP:
        return strip(spec, from, to, err);
    case SPEC_DECODE_REPLACE:
        return replace(&d->matchers[i], &spec->content, from, to, err);
    case SPEC_DECODE_METASPACE:
        return metaspace(spec, from, to, err);
    case SPEC_DECODE_BPE:
        return word_suffix(&d->matchers[i], from, to, err);
    case SPEC_DECODE_WORDPIECE:
        return wordpiece(spec, from, to, err);
    }
    return LEAT_OK;
}

/* ---- The whole ---- */

/* Only ByteLevel, and model tokens: the bytes one after the other. */
static enum leat_status run_bytes(const struct decoder *d, const uint32_t *ids, size_t count, struct buffer *out,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        const struct spec_token *t;

        if (ids[i] >= d->spec->vocabulary_size || (d->added[ids[i]] == SPEC_NONE && d->places[ids[i]] == SPEC_NONE))
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
static enum leat_status run_pieces(const struct decoder *d, const uint32_t *ids, size_t count, struct buffer *out,
                                   struct leat_error *err)
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

/* Whether a decoder behind this one may join bytes that stood apart, so that halves of two characters become one. */
static bool changes_text_after(const struct decoder *d, uint32_t i)
{
    while (++i < d->spec->decoder_count)
        if (d->spec->decoders[i].kind != SPEC_DECODE_FUSE)
            return true;
    return false;
}

/* What ByteLevel gave, one text: the reference makes it UTF-8 there, which leat leaves to the caller unless it shows. */
static enum leat_status repair_bytes(struct texts *t, struct texts *spare, struct leat_error *err)
{
    struct texts swap;
    enum leat_status s;

    spare->bytes.size = spare->count = 0;
    s = utf8_repair(&spare->bytes, t->bytes.bytes, t->bytes.size, NULL, err);
    if (s == LEAT_OK)
        s = end_text(spare, err);
    swap = *t;
    *t = *spare;
    *spare = swap;
    return s;
}

static enum leat_status join(const struct decoder *d, const struct texts *t, struct buffer *out, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (d->spec->decoder_count > 0)
        return buffer_append(out, t->bytes.bytes, t->bytes.size, err);
    for (size_t i = 0; s == LEAT_OK && i < t->count; i++) {
        struct view v = text_at(t, i);

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
    struct texts a = { 0 }, b = { 0 };
    enum leat_status s = LEAT_OK;

    if (d->spec->model == SPEC_RANKS || d->spec->model == SPEC_BYTES)
        return run_bytes(d, ids, count, out, err);
    if (d->spec->model == SPEC_SCORES)
        return run_pieces(d, ids, count, out, err);
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = add_token(d, ids[i], &a, err);
    for (uint32_t i = 0; s == LEAT_OK && i < d->spec->decoder_count; i++) {
        struct texts swap;

        b.bytes.size = b.count = 0;
        s = run_decoder(d, i, &a, &b, err);
        swap = a;
        a = b;
        b = swap;
        if (s == LEAT_OK && d->spec->decoders[i].kind == SPEC_DECODE_BYTE_LEVEL && changes_text_after(d, i))
            s = repair_bytes(&a, &b, err);
    }
    if (s == LEAT_OK)
        s = join(d, &a, out, err);
    texts_free(&a);
    texts_free(&b);
    return s;
}
