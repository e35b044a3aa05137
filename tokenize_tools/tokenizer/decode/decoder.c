/*
 * decoder.c: decodes ids in three ways, one per reference library. tiktoken: the bytes of the tokens, one after
 * another. sentencepiece: its own rules for spaces and single bytes, then its denormalizer. tokenizer.json: each id
 * becomes a text in a list, and each decoder of the spec makes a new list of it; without decoders, the texts are
 * joined with spaces, as in the reference.
 *
 * The spec holds byte-level tokens as bytes, but decoders see the letters of the file, so add_mapped() turns bytes
 * into letters again. decoder_make() looks up beforehand what every run needs.
 */
#include "decoder.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/status.h"
#include "base/tiny.h"
#include "base/utf8.h"
#include "tokenizer/normalize/charsmap.h"
#include "tokenizer/normalize/spaced.h"
#include "tokenizer/spec/spec.h"
#include "tokenizer/split/matcher.h"
#include "tokenizer/unicode/unicode.h"

struct decoder {
    const struct tokenizer_spec *spec;
    struct matcher *matchers; /* one for each decoder; used by Replace and BPEDecoder */
    struct byte_alphabet alphabet;
    uint32_t *places;              /* place of each id in spec->tokens, or SPEC_NONE; NULL if ids are searched for */
    uint32_t *added;               /* place of each id in spec->added, or SPEC_NONE; NULL if ids are searched for */
    struct charsmap *denormalizer; /* sentencepiece; NULL: none */
};

/* ---- Lists of texts ---------------------------------------------------------------------------------------------- */

/* A list of texts, in one buffer with the place where each ends. All zero is an empty list; the buffer's bound, if
 * it has one, counts all of it. */
struct text_list {
    struct buffer bytes;
    size_t *ends;
    size_t count, room;
};

struct text_view {
    const uint8_t *bytes;
    size_t size;
};

static void text_list_free(struct text_list *t)
{
    bound_give(t->bytes.bound, t->room * sizeof *t->ends);
    buffer_free(&t->bytes);
    free(t->ends);
}

/* Ends the text whose bytes were appended last. */
static enum leat_status text_list_end(struct text_list *t, struct leat_error *err)
{
    if (t->count == t->room) {
        size_t room = t->room ? 2 * t->room : 256;
        size_t *ends;

        if (!bound_take(t->bytes.bound, room * sizeof *ends))
            return bound_refuse(t->bytes.bound, t->bytes.size, err);
        ends = realloc(t->ends, room * sizeof *ends);
        if (!ends) {
            bound_give(t->bytes.bound, room * sizeof *ends);
            return status_no_memory(err, room * sizeof *ends);
        }
        bound_give(t->bytes.bound, t->room * sizeof *ends);
        t->ends = ends;
        t->room = room;
    }
    t->ends[t->count++] = t->bytes.size;
    return LEAT_OK;
}

static enum leat_status text_list_add(struct text_list *t, const void *bytes, size_t count, struct leat_error *err)
{
    enum leat_status s = buffer_append(&t->bytes, bytes, count, err);

    return s == LEAT_OK ? text_list_end(t, err) : s;
}

/* Returns text `i`, which is valid until the list changes. */
static struct text_view text_list_at(const struct text_list *t, size_t i)
{
    size_t begin = i > 0 ? t->ends[i - 1] : 0;

    return (struct text_view) { t->bytes.bytes ? t->bytes.bytes + begin : (const uint8_t *)"", t->ends[i] - begin };
}

/* ---- The decoders of a spec -------------------------------------------------------------------------------------- */

/*
 * The decoders. Each makes a new list of texts of another one, and does exactly what its namesake in the reference
 * does, odd cases too: bytes that are not UTF-8 become one U+FFFD each, not one per run, and Strip looks for the end
 * in the whole text even after it has cut the start. Where one text ends matters to the next decoder, so each keeps
 * the borders that the reference keeps: ByteLevel and Fuse join all texts, ByteFallback joins runs of bytes, the
 * others change texts one by one.
 */

/* Turns each text whose characters are all in the byte alphabet into bytes, leaves the others, and joins all of
 * them. */
static enum leat_status byte_level(const struct decoder *d, const struct text_list *from, struct text_list *to,
                                   struct leat_error *err)
{
    for (size_t i = 0; i < from->count; i++) {
        struct text_view v = text_list_at(from, i);
        enum leat_status s = buffer_reserve(&to->bytes, v.size, err);
        uint32_t bytes;

        if (s == LEAT_OK && v.size > 0 &&
            byte_alphabet_decode(&d->alphabet, to->bytes.bytes + to->bytes.size, &bytes, v.bytes, (uint32_t)v.size))
            to->bytes.size += bytes;
        else if (s == LEAT_OK)
            s = buffer_append(&to->bytes, v.bytes, v.size, err);
        if (s != LEAT_OK)
            return s;
    }
    return text_list_end(to, err);
}

/* Ends a run of bytes: it becomes a text if it is valid UTF-8, else U+FFFD for each byte. */
static enum leat_status end_bytes(struct buffer *run, struct text_list *to, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (run->size == 0)
        return LEAT_OK;
    if (utf8_valid_prefix(run->bytes, run->size) == run->size)
        s = text_list_add(to, run->bytes, run->size, err);
    else
        for (size_t i = 0; s == LEAT_OK && i < run->size; i++)
            s = text_list_add(to, UTF8_REPLACEMENT, 3, err);
    run->size = 0;
    return s;
}

static enum leat_status byte_fallback(const struct text_list *from, struct text_list *to, struct leat_error *err)
{
    struct buffer run = { .bound = to->bytes.bound };
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct text_view v = text_list_at(from, i);
        int named = spec_named_byte(v.bytes, v.size);
        uint8_t byte = (uint8_t)named;

        if (named >= 0) {
            s = buffer_append(&run, &byte, 1, err);
        } else {
            s = end_bytes(&run, to, err);
            if (s == LEAT_OK)
                s = text_list_add(to, v.bytes, v.size, err);
        }
    }
    if (s == LEAT_OK)
        s = end_bytes(&run, to, err);
    buffer_free(&run);
    return s;
}

static bool begins_with(struct text_view v, const struct spec_string *s)
{
    return v.size >= s->length && memcmp(v.bytes, s->bytes, s->length) == 0;
}

static bool ends_with(struct text_view v, const struct spec_string *s)
{
    return v.size >= s->length && memcmp(v.bytes + v.size - s->length, s->bytes, s->length) == 0;
}

static enum leat_status strip(const struct spec_decoder *spec, const struct text_list *from, struct text_list *to,
                              struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct text_view v = text_list_at(from, i), all = v;

        for (uint32_t k = 0; k < spec->start && begins_with(v, &spec->content); k++) {
            v.bytes += spec->content.length;
            v.size -= spec->content.length;
        }
        /* the end is looked for in the whole text, as in the reference; characters at both ends are removed once */
        for (uint32_t k = 0; k < spec->stop && ends_with(all, &spec->content); k++) {
            all.size -= spec->content.length;
            v.size -= v.size >= spec->content.length ? spec->content.length : v.size;
        }
        s = text_list_add(to, v.bytes, v.size, err);
    }
    return s;
}

/* Replaces matches. `in_nothing` says whether an expression can match a text of no bytes; in a Replace it cannot, as
 * in the reference. */
static enum leat_status replace(const struct matcher *m, const struct spec_string *content, bool in_nothing,
                                const struct text_list *from, struct text_list *to, struct pattern_steps *steps,
                                struct leat_error *err)
{
    struct matcher_pass pass;
    struct pattern_run *run;
    enum leat_status s = matcher_run_make(&run, m, to->bytes.bound, steps, err);

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct text_view v = text_list_at(from, i);
        size_t begin, end, copied = 0;
        bool found = true;

        s = matcher_begin(&pass, m, run, &(struct scan_window) { v.bytes, v.size, true }, false, err);
        while (s == LEAT_OK && (in_nothing || v.size > 0)) {
            s = matcher_next(&pass, &begin, &end, &found, err);
            if (s != LEAT_OK || !found)
                break;
            s = buffer_append(&to->bytes, v.bytes + copied, begin - copied, err);
            if (s == LEAT_OK)
                s = buffer_append(&to->bytes, content->bytes, content->length, err);
            copied = end;
        }
        if (s == LEAT_OK)
            s = text_list_add(to, v.bytes + copied, v.size - copied, err);
    }
    pattern_run_free(run);
    return s;
}

/* Replaces the mark by a space, and in the first text, where a prefix put it, by nothing. */
static enum leat_status metaspace(const struct spec_decoder *spec, const struct text_list *from, struct text_list *to,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct text_view v = text_list_at(from, i);

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
            s = text_list_end(to, err);
    }
    return s;
}

/* Replaces the suffix of a word's last part by a space, and at the very end by nothing. */
static enum leat_status word_suffix(const struct matcher *m, const struct text_list *from, struct text_list *to,
                                    struct pattern_steps *steps, struct leat_error *err)
{
    struct spec_string space = { (const uint8_t *)" ", 1 }, nothing = { (const uint8_t *)"", 0 };
    struct text_list one = { .bytes.bound = to->bytes.bound };
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct text_view v = text_list_at(from, i);

        one.bytes.size = one.count = 0;
        s = text_list_add(&one, v.bytes, v.size, err);
        if (s == LEAT_OK)
            s = replace(m, i + 1 < from->count ? &space : &nothing, true, &one, to, steps, err);
    }
    text_list_free(&one);
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

/* Removes spaces that tokenizing English puts in, by the replacements of the reference in their order. */
static enum leat_status clean_up(struct buffer *text, struct leat_error *err)
{
    static const char *const pairs[][2] = { { " .", "." },     { " ?", "?" },           { " !", "!" },
                                            { " ,", "," },     { " ' ", "'" },          { " n't", "n't" },
                                            { " 'm", "'m" },   { " do not", " don't" }, { " 's", "'s" },
                                            { " 've", "'ve" }, { " 're", "'re" } };
    struct buffer other = { .bound = text->bound };
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

/* Joins a text with the prefix to the text before it; sets any other text off by a space. */
static enum leat_status wordpiece(const struct spec_decoder *spec, const struct text_list *from, struct text_list *to,
                                  struct leat_error *err)
{
    struct buffer text = { .bound = to->bytes.bound };
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct text_view v = text_list_at(from, i);
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
            s = text_list_add(to, text.bytes, text.size, err);
    }
    buffer_free(&text);
    return s;
}

/* Replaces each delimiter by a space. An empty delimiter stands before, between and after all characters, as in
 * Rust. */
static enum leat_status space_out(const struct spec_string *delimiter, const struct buffer *text, struct buffer *out,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    struct text_view v = { text->bytes, text->size };

    while (s == LEAT_OK && v.size > 0) {
        bool found = begins_with(v, delimiter), stays = !found || delimiter->length == 0;
        size_t take = stays ? 1 : delimiter->length;

        if (found && (delimiter->length > 0 || (v.bytes[0] & 0xc0) != 0x80))
            s = buffer_append(out, " ", 1, err);
        if (s == LEAT_OK && stays)
            s = buffer_append(out, v.bytes, 1, err);
        v.bytes += take;
        v.size -= take;
    }
    if (s == LEAT_OK && delimiter->length == 0)
        s = buffer_append(out, " ", 1, err);
    return s;
}

/* Drops a token that repeats the token before it, and removes the padding from the others. A text that becomes empty
 * is dropped. */
static enum leat_status ctc(const struct spec_decoder *spec, const struct text_list *from, struct text_list *to,
                            struct leat_error *err)
{
    struct buffer text = { .bound = to->bytes.bound };
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct text_view v = text_list_at(from, i), before = i > 0 ? text_list_at(from, i - 1) : v;
        size_t begun = to->bytes.size;

        if (i > 0 && before.size == v.size && (v.size == 0 || memcmp(before.bytes, v.bytes, v.size) == 0))
            continue;
        text.size = 0;
        while (s == LEAT_OK && v.size > 0) {
            bool padding = spec->content.length > 0 && begins_with(v, &spec->content);
            size_t take = padding ? spec->content.length : 1;

            if (!padding)
                s = buffer_append(&text, v.bytes, 1, err);
            v.bytes += take;
            v.size -= take;
        }
        if (s == LEAT_OK && spec->cleanup)
            s = clean_up(&text, err);
        if (s == LEAT_OK)
            s = spec->cleanup ? space_out(&spec->delimiter, &text, &to->bytes, err)
                              : buffer_append(&to->bytes, text.bytes, text.size, err);
        if (s == LEAT_OK && to->bytes.size > begun)
            s = text_list_end(to, err);
    }
    buffer_free(&text);
    return s;
}

/* Runs decoder `i` of the spec: from one list to another, which is empty before. */
static enum leat_status decoder_step(const struct decoder *d, uint32_t i, const struct text_list *from,
                                     struct text_list *to, struct pattern_steps *steps, struct leat_error *err)
{
    const struct spec_decoder *spec = &d->spec->decoders[i];

    switch (spec->kind) {
    case SPEC_DECODE_BYTE_LEVEL:
        return byte_level(d, from, to, err);
    case SPEC_DECODE_BYTE_FALLBACK:
        return byte_fallback(from, to, err);
    case SPEC_DECODE_FUSE:
        return text_list_add(to, from->bytes.bytes, from->bytes.size, err);
    case SPEC_DECODE_STRIP:
        return strip(spec, from, to, err);
    case SPEC_DECODE_REPLACE:
        return replace(&d->matchers[i], &spec->content, false, from, to, steps, err);
    case SPEC_DECODE_METASPACE:
        return metaspace(spec, from, to, err);
    case SPEC_DECODE_BPE:
        return word_suffix(&d->matchers[i], from, to, steps, err);
    case SPEC_DECODE_WORDPIECE:
        return wordpiece(spec, from, to, err);
    case SPEC_DECODE_CTC:
        return ctc(spec, from, to, err);
    }
    return LEAT_OK;
}

/* ---- sentencepiece ----------------------------------------------------------------------------------------------- */

/* Turns a sentencepiece model's ids back into text, as SentencePieceProcessor::Decode does, except that control tokens
 * are shown by their names. */

/* The state of decoding; all zero at first, except the spec, which must outlive it. */
struct sentencepiece_decoder {
    const struct tokenizer_spec *spec;
    bool after_text;   /* true if a space at the beginning of a token belongs to the text, and is not the dummy
                          prefix */
    struct buffer run; /* bytes of consecutive single-byte tokens */
};

/* Ends a run of bytes: appends its characters, and U+FFFD for each byte that belongs to none. */
static enum leat_status sentencepiece_decoder_end(struct sentencepiece_decoder *d, struct buffer *out,
                                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t at = 0; s == LEAT_OK && at < d->run.size;) {
        size_t valid = utf8_valid_prefix(d->run.bytes + at, d->run.size - at);

        s = buffer_append(out, d->run.bytes + at, valid, err);
        at += valid;
        if (s == LEAT_OK && at < d->run.size)
            s = buffer_append(out, UTF8_REPLACEMENT, 3, err);
        at += at < d->run.size;
    }
    d->run.size = 0;
    return s;
}

/* Appends the text of a token. Single bytes are appended when their run ends, since only then is their meaning
 * known. */
static enum leat_status sentencepiece_decoder_add(struct sentencepiece_decoder *d, const struct spec_token *token,
                                                  struct buffer *out, struct leat_error *err)
{
    const struct spec_sentencepiece *sp = &d->spec->sentencepiece;
    const uint8_t *text = spec_token_bytes(d->spec, token);
    size_t bytes = token->length, before;
    enum leat_status s;

    if (token->type == SPEC_BYTE) {
        uint8_t byte = (uint8_t)spec_named_byte(text, bytes); /* the loader has checked its name */

        return buffer_append(&d->run, &byte, 1, err);
    }
    s = sentencepiece_decoder_end(d, out, err);
    if (s != LEAT_OK)
        return s;
    d->after_text = d->after_text || out->size > 0;
    if (token->type == SPEC_CONTROL)
        return buffer_append(out, text, bytes, err);
    if (token->type == SPEC_UNKNOWN)
        return buffer_append(out, sp->unknown_surface.bytes, sp->unknown_surface.length, err);
    before = bytes;
    if (!d->after_text && (sp->add_dummy_prefix || sp->remove_extra_whitespaces) &&
        spec_begins_with_mark(text, bytes)) {
        text += SPEC_MARK_BYTES;
        bytes -= SPEC_MARK_BYTES;
    }
    d->after_text = d->after_text || (before != bytes && !sp->remove_extra_whitespaces);
    return spaced_replace(out, text, bytes, err);
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* Returns true if ids are so far apart that they are searched for, which no file of a real vocabulary needs: a file
 * of 200 bytes with one id of 24 bits took 128 MiB. */
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

/* ---- Ids to texts ------------------------------------------------------------------------------------------------ */

/* The meaning of an id: a token, an added token, or neither. */
struct meaning {
    const struct spec_added *added;
    const struct spec_token *token;
};

/* Returns the last of several added tokens with one id, as index_ids() does. */
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

/* Appends the name of an added token. One that is looked for in normalized text decodes to its normalized content,
 * as in the reference. */
static enum leat_status append_name(const struct spec_added *added, struct buffer *out, struct leat_error *err)
{
    const struct spec_string *name = added->name.length > 0 ? &added->name : &added->content;

    return buffer_append(out, name->bytes, name->length, err);
}

/* Adds the bytes of a byte-level token in the form in which the file writes them. */
static enum leat_status add_mapped(const struct decoder *d, const uint8_t *bytes, size_t count, struct text_list *t,
                                   struct leat_error *err)
{
    enum leat_status s = byte_alphabet_append(&t->bytes, &d->alphabet, bytes, count, err);

    return s == LEAT_OK ? text_list_end(t, err) : s;
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

/* ---- The whole --------------------------------------------------------------------------------------------------- */

/* Decodes as tiktoken does: appends the bytes of the tokens. */
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

/* Decodes in sentencepiece's own way; its models have no added tokens. */
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
    buffer_free(&pieces.run);
    buffer_free(&text);
    return s;
}

/* Returns true if a later decoder may join bytes that stood apart, so that halves of two characters become one. */
static bool changes_text_after(const struct decoder *d, uint32_t i)
{
    while (++i < d->spec->decoder_count)
        if (d->spec->decoders[i].kind != SPEC_DECODE_FUSE)
            return true;
    return false;
}

/* Repairs the one text that ByteLevel gave. The reference makes it UTF-8 there; leat leaves that to the caller,
 * unless a later decoder would notice. */
static enum leat_status repair_bytes(struct text_list *t, struct text_list *spare, struct leat_error *err)
{
    struct text_list swap;
    enum leat_status s;

    if (t->bytes.size == 0) /* an empty text may have no memory */
        return LEAT_OK;
    spare->bytes.size = spare->count = 0;
    s = buffer_append_repaired(&spare->bytes, t->bytes.bytes, t->bytes.size, NULL, err);
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

/* Memory that decoding may take. The file says how long tokens are, and what decoders make of them: 31 decoders that
 * replace an a by two once made 5.2 GB of 10 KB. Ordinary tokens take a tenth of the memory that is allowed per id. */
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
                          "the tokenizer makes too much text of %zu ids: it takes more than the limit of %" PRIu64
                          " KiB",
                          count, (bound.max >> 10));
    return s;
}
