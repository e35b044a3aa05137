/*
 * decoder_steps.c: the decoders of a spec, each of which writes a list of texts anew, from one to the other of two.
 *
 * Each does exactly what its namesake in the reference does, odd cases too: bytes that are not UTF-8 become one U+FFFD
 * each, not one per run, and Strip looks for the end in the whole text even after it has cut the start. Where one text
 * ends matters to the next decoder, so each keeps the borders that the reference keeps: ByteLevel and Fuse join all
 * texts, ByteFallback joins runs of bytes, the others change texts one by one.
 */
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/utf8.h"
#include "decoder_internal.h"

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

/* "<0xNN>" */
static bool is_byte(struct text_view v, uint8_t *byte)
{
    if (v.size != 6 || memcmp(v.bytes, "<0x", 3) != 0 || v.bytes[5] != '>' || bytes_hex_digit(v.bytes[3]) < 0 ||
        bytes_hex_digit(v.bytes[4]) < 0)
        return false;
    *byte = (uint8_t)(bytes_hex_digit(v.bytes[3]) << 4 | bytes_hex_digit(v.bytes[4]));
    return true;
}

/* A run of bytes: a text if it is valid UTF-8, else U+FFFD for each. */
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
    uint8_t byte;

    for (size_t i = 0; s == LEAT_OK && i < from->count; i++) {
        struct text_view v = text_list_at(from, i);

        if (is_byte(v, &byte)) {
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

static enum leat_status fuse(const struct text_list *from, struct text_list *to, struct leat_error *err)
{
    return text_list_add(to, from->bytes.bytes, from->bytes.size, err);
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
        /* the end is looked for in the whole text, as the reference does; what both take is taken once */
        for (uint32_t k = 0; k < spec->stop && ends_with(all, &spec->content); k++) {
            all.size -= spec->content.length;
            v.size -= v.size >= spec->content.length ? spec->content.length : v.size;
        }
        s = text_list_add(to, v.bytes, v.size, err);
    }
    return s;
}

/* `in_nothing`: whether an expression can match a text of no bytes. In a Replace it cannot, as in the reference. */
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

        s = matcher_begin(&pass, m, run, v.bytes, v.size, false, false, err);
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

/* Replaces the mark by a space; in the first text, where a prefix put it, by nothing. */
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

/* Replaces the suffix of a word's last part by a space; at the very end by nothing. */
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

/* What the reference does to a text, in this order, to undo the spaces that tokenizing English puts in. */
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

/* Texts with the prefix join the one before; others are set off by a space. */
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

/* A space for each delimiter; an empty one stands before, between and after all characters, as in Rust. */
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

/* Drops a token that is the one before it again, and the padding in the others; what is left of nothing is no text. */
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

enum leat_status decoder_step(const struct decoder *d, uint32_t i, const struct text_list *from, struct text_list *to,
                              struct pattern_steps *steps, struct leat_error *err)
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
