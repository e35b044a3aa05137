/*
 * test_parts.c: a text that is encoded in parts gives the ids of the whole text, wherever it is cut, and one that is
 * encoded with others those that it has alone: the built-in vocabularies, the small ones of tests/tokenizer/vectors,
 * the published ones where they are at hand, and small tokenizer.json made here, with every normalizer, pre-tokenizer
 * and flag of an added token, alone and mixed at random. Each text is cut in two at every third byte, which each run
 * draws (at every byte by make check-every), into single bytes, and into random parts.
 */
#include <stdbool.h>

#include "leat_pack.h"
#include "made_parts.h"
#include "t.h"
#include "tokenizer_files/small_charsmap.h"
#include "vectors.h"
#include "vocabularies.h"

#include "tokenizer/load/load.h"
#include "tokenizer/load/spec_open.h"
#include "tokenizer/pipeline/encoder.h"
#include "tokenizer/pipeline/pipeline.h"

/* ---- Comparing ---- */

static uint64_t drawn; /* where texts are cut in two */

struct answer {
    enum leat_status status;
    uint64_t offset, specials;
    bool no_place; /* a Replace before ByteLevel has refused it */
    uint32_t *ids;
    size_t count, room;
};

static void add_ids(struct answer *a, const uint32_t *ids, size_t count)
{
    if (a->count + count > a->room) {
        a->room = 2 * (a->count + count);
        a->ids = realloc(a->ids, a->room * sizeof *ids);
        if (!a->ids)
            exit(1);
    }
    if (count > 0)
        memcpy(a->ids + a->count, ids, count * sizeof *ids);
    a->count += count;
}

static bool add_part(struct encoder *e, struct answer *a, const uint8_t *text, size_t bytes)
{
    while (bytes > 0 && a->status == LEAT_OK) {
        /* of its own, so that a sanitizer sees what is read after the call */
        uint8_t *copy = malloc(bytes);
        const uint32_t *ids;
        size_t count, used;

        if (!copy)
            exit(1);
        memcpy(copy, text, bytes);
        a->status = encoder_chunk(e, copy, bytes, &used, &ids, &count, &t_err);
        free(copy);
        if (a->status != LEAT_OK)
            break;
        T_CHECK(used > 0 && used <= bytes);
        add_ids(a, ids, count);
        text += used;
        bytes -= used;
    }
    return a->status == LEAT_OK;
}

/* The text cut at ends[0..count), which rise. */
static void encode_parts(struct encoder *e, struct answer *a, const uint8_t *text, size_t bytes, const size_t *ends,
                         size_t count)
{
    const uint32_t *ids;
    size_t at = 0, n;

    a->status = LEAT_OK;
    a->count = 0;
    encoder_begin(e);
    for (size_t i = 0; i < count && add_part(e, a, text + at, ends[i] - at); i++)
        at = ends[i];
    if (add_part(e, a, text + at, bytes - at)) {
        a->status = encoder_end(e, &ids, &n, &t_err);
        if (a->status == LEAT_OK)
            add_ids(a, ids, n);
    }
    a->offset = a->status == LEAT_OK ? 0 : t_err.offset;
    a->no_place = a->status == LEAT_E_TEXT && strstr(t_err.message, "without replacing anything");
    a->specials = encoder_special_strings(e);
}

static void show(const char *what, const uint8_t *text, size_t bytes)
{
    fprintf(stderr, "    %s: \"", what);
    for (size_t i = 0; i < bytes; i++)
        fprintf(stderr, text[i] < 0x20 || text[i] >= 0x7f || text[i] == '"' ? "\\x%02x" : "%c", text[i]);
    fprintf(stderr, "\"\n");
}

static bool compare(const char *name, const struct answer *want, const struct answer *got, const uint8_t *text,
                    size_t bytes, size_t at)
{
    /* what has no place at the text's beginning may be found before the text is malformed */
    if (want->status == got->status && (want->offset == got->offset || got->no_place) &&
        (want->status != LEAT_OK || (want->specials == got->specials && want->count == got->count &&
                                     memcmp(want->ids, got->ids, want->count * sizeof *want->ids) == 0)))
        return true;
    T_FAIL("%s: in parts it is another (%s and %s, %zu and %zu ids)", name, leat_status_name(want->status),
           leat_status_name(got->status), want->count, got->count);
    show("before", text, at);
    show("after", text + at, bytes - at);
    return false;
}

/* The whole with one encoder, the parts with another. */
static bool check_text(const char *name, struct encoder *whole, struct encoder *parts, const uint8_t *text,
                       size_t bytes, uint64_t *random)
{
    struct answer want = { 0 }, got = { 0 };
    const uint32_t *ids;
    size_t count, *ends = calloc(bytes + 1, sizeof *ends), n = 0;
    bool good = true;

    if (!ends)
        exit(1);
    add_ids(&want, (const uint32_t[1]) { 0 }, 1); /* never NULL */
    add_ids(&got, want.ids, 1);
    want.count = 0;
    want.status = encoder_run(whole, text, bytes, &ids, &count, &t_err);
    want.offset = want.status == LEAT_OK ? 0 : t_err.offset;
    want.specials = encoder_special_strings(whole);
    if (want.status == LEAT_OK)
        add_ids(&want, ids, count);
    for (size_t at = t_below(&drawn, t_step(3)); at <= bytes && good; at += t_step(3)) {
        encode_parts(parts, &got, text, bytes, &at, 1);
        good = compare(name, &want, &got, text, bytes, at);
    }
    for (size_t i = 0; i < bytes; i++)
        ends[i] = i;
    encode_parts(parts, &got, text, bytes, ends, bytes);
    good = good && compare(name, &want, &got, text, bytes, 0);
    for (size_t i = 0; i < bytes; i++)
        if (t_below(random, 4) == 0)
            ends[n++] = i;
    encode_parts(parts, &got, text, bytes, ends, n);
    good = good && compare(name, &want, &got, text, bytes, 0);
    free(want.ids);
    free(got.ids);
    free(ends);
    return good;
}

/* ---- Texts together ---- */

#define TOGETHER  60
#define MOST_TEXT 17000 /* more than any group takes */

/* Ordinary text: nothing in it keeps it from going with others. */
static size_t plain_text(uint64_t *random, uint8_t *out, size_t max)
{
    static const char *const words[] = { "the", " ab", " The", "word",      " 12",          "345",     "\n",
                                         "  ",  "'s",  "...",  " \xc3\xa9", "\xe4\xb8\xad", "\xd0\xb6" };
    size_t size = 0;

    for (;;) {
        const char *word = words[t_below(random, sizeof words / sizeof words[0])];
        size_t length = strlen(word);

        if (length > max - size)
            return size;
        memcpy(out + size, word, length);
        size += length;
    }
}

/* Mostly short; if `longer`, now and then about as long as a text of a group may be. In memory of its own, so that a
 * sanitizer sees what is read behind it. */
static struct leat_text made_text(bool longer, uint64_t *random)
{
    static const size_t lengths[] = { 3000, 16000, 16384, 16387, MOST_TEXT };
    bool is_long = longer && t_below(random, TOGETHER) < 4;
    size_t bytes;
    uint8_t *text = malloc(MOST_TEXT);
    char *exact;

    if (!text)
        exit(1);
    bytes = is_long ? plain_text(random, text, lengths[t_below(random, 5)]) : random_text(random, text, 400);
    exact = malloc(bytes + (bytes == 0));
    if (!exact)
        exit(1);
    memcpy(exact, text, bytes);
    free(text);
    return (struct leat_text) { exact, bytes };
}

/* One text alone, and as text `i` of those that were encoded together with this status. */
static bool check_one(const char *name, struct encoder *alone, const struct leat_text *text, struct answer *got)
{
    struct answer want = { 0 };
    const uint32_t *ids;
    size_t count;
    bool good;

    add_ids(&want, (const uint32_t[1]) { 0 }, 1); /* never NULL */
    want.count = 0;
    want.status = encoder_run(alone, (const uint8_t *)text->text, (size_t)text->bytes, &ids, &count, &t_err);
    want.offset = want.status == LEAT_OK ? 0 : t_err.offset;
    want.specials = encoder_special_strings(alone);
    if (want.status == LEAT_OK)
        add_ids(&want, ids, count);
    good = compare(name, &want, got, (const uint8_t *)text->text, (size_t)text->bytes, 0);
    free(want.ids);
    return good;
}

/* Encodes the first of some texts, or a few; returns how many, 0 if the test is over. *more: several of them. */
static uint64_t check_some(const char *name, struct encoder *alone, struct encoder *e, const struct leat_text *texts,
                           uint64_t count, uint64_t *several)
{
    uint64_t counts[TOGETHER], done = 0;
    const uint32_t *ids;
    enum leat_status s = encoder_run_texts(e, texts, count, &done, &ids, counts, &t_err);
    uint64_t offset = s == LEAT_OK ? 0 : t_err.offset, specials = encoder_special_strings(e);

    T_CHECK(done >= 1 && done <= count);
    *several += done > 1;
    if (s != LEAT_OK)
        done = 1;
    for (uint64_t i = 0; i < done; i++) {
        struct answer got = { .status = s, .offset = offset, .specials = specials };
        bool good;

        add_ids(&got, (const uint32_t[1]) { 0 }, 1);
        got.count = 0;
        if (s == LEAT_OK) {
            add_ids(&got, ids, (size_t)counts[i]);
            ids += counts[i];
        }
        good = check_one(name, alone, &texts[i], &got);
        free(got.ids);
        if (!good)
            return 0;
    }
    return done;
}

/* Returns how often several went together. */
static uint64_t check_together(const char *name, struct encoder *alone, struct encoder *e, bool longer,
                               uint64_t *random)
{
    struct leat_text texts[TOGETHER];
    uint64_t several = 0;

    for (unsigned i = 0; i < TOGETHER; i++)
        texts[i] = made_text(longer, random);
    for (uint64_t i = 0, done = 1; i < TOGETHER && done > 0; i += done)
        done = check_some(name, alone, e, texts + i, TOGETHER - i, &several);
    for (unsigned i = 0; i < TOGETHER; i++)
        free((void *)(uintptr_t)texts[i].text);
    return several;
}

/* ---- All of it ---- */

/* Of all vocabularies: how often several texts went together. */
static uint64_t several;

static void check_texts(const char *name, const struct pipeline *pipeline, unsigned texts, uint64_t *random)
{
    uint8_t text[400];

    for (int mode = 0; mode < 3; mode++) {
        struct encoder_options options = { .special = mode == 1, .reject_invalid = mode == 2, .max_bytes = 1 << 26 };
        struct encoder *whole, *parts;
        uint64_t together;
        bool good = true;

        T_OK(encoder_make(&whole, pipeline, &options, &t_err));
        T_OK(encoder_make(&parts, pipeline, &options, &t_err));
        for (unsigned i = 0; i < (mode == 2 ? (texts + 3) / 4 : texts) && good; i++) {
            size_t bytes = random_text(random, text, sizeof text);

            good = check_text(name, whole, parts, text, bytes, random);
        }
        /* what is counted does not drift away from what is there */
        T_CHECK(encoder_held(whole) < 1 << 18 && encoder_held(parts) < 1 << 18);
        together = check_together(name, whole, parts, false, random);
        for (unsigned i = 0; i < texts && together > 0; i += 4) /* with a vocabulary that lets texts go together */
            together += check_together(name, whole, parts, true, random);
        several += together;
        encoder_free(whole);
        encoder_free(parts);
    }
}

/* ---- Files ---- */

static void check_file(const char *path, unsigned texts, uint64_t *random)
{
    struct opened_spec o;
    struct pipeline *pipeline;
    struct tokenizer_spec *spec;

    T_OK(spec_open(&o, path, NULL, &t_err));
    spec = o.spec;
    o.spec = NULL;
    T_OK(pipeline_make(&pipeline, spec, &t_err));
    check_texts(path, pipeline, texts, random);
    pipeline_free(pipeline);
    spec_close(&o);
}

static void check_files(uint64_t *random)
{
    static const char *const builtin[] = { "bytes", "gpt2", "cl100k_base", "o200k_base" };
    static const char *const small[] = {
        "ignore_merges.json",   "nfc.json",
        "three_splits.json",    "prefix_space.json",
        "digits.json",          "prepend_replace.json",
        "split_spaces.json",    "metaspace_always.json",
        "metaspace_first.json", "metaspace_never.json",
        "added.json",           "word_suffix.json",
        "piece_fallback.model", "piece_unknown.model",
        "unigram.json",         "unigram_whole.json",
        "piece_unigram.model",  "wordpiece.json",
    };
    static const char *const published[] = { "llama3_1.tokenizer.json.zst",    "qwen2_5.tokenizer.json.zst",
                                             "deepseek_v3.tokenizer.json.zst", "mistral_nemo.tokenizer.json.zst",
                                             "mistral_v1.tokenizer.json.zst",  "gemma2.tokenizer.json.zst" };

    for (size_t i = 0; i < sizeof builtin / sizeof builtin[0]; i++)
        check_file(builtin[i], 8, random);
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        check_file(t_text("%s/%s", VECTORS_FOLDER, small[i]), 20, random);
    }
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        if (vocabulary_path(published[i]))
            check_file(vocabulary_path(published[i]), 4, random);
}

/* A sentencepiece model with other settings than it has. */
static void check_sentencepiece(const char *name, unsigned settings, uint64_t *random)
{
    uint8_t map[SMALL_CHARSMAP_ROOM];
    struct spec_sentencepiece *s;
    struct tokenizer_spec *spec;
    struct opened_spec o;
    struct pipeline *pipeline;

    T_OK(spec_open(&o, t_text("%s/%s", VECTORS_FOLDER, name), NULL, &t_err));
    spec = o.spec;
    o.spec = NULL;
    s = &spec->sentencepiece;
    s->add_dummy_prefix = settings & 1;
    s->remove_extra_whitespaces = settings & 2;
    s->escape_whitespaces = settings & 4;
    s->whitespace_as_suffix = settings & 32;
    for (uint32_t i = 0; settings & 16 && i < spec->token_count; i++)
        if (spec->tokens[i].type == SPEC_USER_DEFINED)
            spec->tokens[i].type = SPEC_NORMAL;
    if (settings & 8)
        s->charsmap = (struct spec_string) { map, (uint32_t)small_charsmap(map) };
    T_OK(pipeline_make(&pipeline, spec, &t_err));
    check_texts(t_text("%s, settings %u", name, settings), pipeline, 8, random);
    pipeline_free(pipeline);
    spec_close(&o);
}

/* ---- Made tokenizer.json ---- */

#define COUNT(list) (sizeof list / sizeof list[0])

/* The end of a file of tests/tokenizer/vectors, from its model on; to be freed. */
static char *model_of(const char *name)
{
    size_t size;
    char *file = vectors_file(name, &size), *model = strstr(file, "\"model\":");

    if (!model) {
        T_FAIL("%s has no model at its end", name);
        exit(1);
    }
    memmove(file, model, strlen(model) + 1);
    return file;
}

/* Copies a string with its NUL; returns where that is. */
static char *put(char *to, const char *text)
{
    size_t length = strlen(text);

    memcpy(to, text, length + 1);
    return to + length;
}

/* The same as model_of() with a token that no merge makes, and which is taken where it is a whole pretoken; to be
 * freed. */
static char *whole_tokens_of(const char *name)
{
    static const char vocab[] = "\"vocab\":{", more[] = "\"a b\":900,\"The Word\":901,", flag[] = "\"ignore_merges\":";
    char *model = model_of(name), *out = malloc(strlen(model) + sizeof more), *at = strstr(model, flag), *from;
    size_t length;

    if (!out || !at || !(from = strstr(model, vocab)))
        exit(1);
    memcpy(at + strlen(flag), "true ", 5);
    length = (size_t)(from - model) + strlen(vocab);
    memcpy(out, model, length);
    put(put(out + length, more), model + length);
    free(model);
    return out;
}

/* {"type":"Precompiled",...} with a small map; to be freed. */
static char *precompiled(void)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t map[SMALL_CHARSMAP_ROOM] = { 0 };
    size_t length = small_charsmap(map) + 1; /* files have the last string's NUL */
    char *out = malloc(2 * length + 100), *to;

    if (!out)
        exit(1);
    to = put(out, "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"");
    for (size_t i = 0; i < length; i += 3) {
        uint32_t left = (uint32_t)(length - i), word = (uint32_t)map[i] << 16;

        word |= left > 1 ? (uint32_t)map[i + 1] << 8 : 0;
        word |= left > 2 ? map[i + 2] : 0;
        *to++ = digits[word >> 18];
        *to++ = digits[word >> 12 & 63];
        *to++ = left > 1 ? digits[word >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[word & 63] : '=';
    }
    put(to, "\"}");
    return out;
}

/* Replaces each '@'; to be freed. */
static char *expand(const char *text, const char *by)
{
    size_t count = 0;
    char *out, *to;

    for (const char *p = text; *p; p++)
        count += *p == '@';
    to = out = malloc(strlen(text) + count * strlen(by) + 1);
    if (!out)
        exit(1);
    for (; *text; text++)
        if (*text == '@')
            to = put(to, by);
        else
            *to++ = *text;
    *to = '\0';
    return out;
}

static void check_made(const char *normalizer, const char *pre, const char *tokens, const char *model, const char *map,
                       unsigned texts, uint64_t *random)
{
    char *json, name[600], *full = expand(normalizer, map);
    size_t room = strlen(full) + strlen(pre) + strlen(tokens) + strlen(model) + 200;
    struct load_source source = { .path = "made.json" };
    struct tokenizer_spec *spec;
    enum load_format format;
    struct pipeline *pipeline;

    json = malloc(room);
    if (!json)
        exit(1);
    source.bytes = (uint8_t *)json;
    source.size =
        (uint64_t)snprintf(json, room,
                           "{\"version\":\"1.0\",\"added_tokens\":[%s],\"normalizer\":%s,\"pre_tokenizer\":%s,"
                           "\"post_processor\":null,\"decoder\":null,%s",
                           tokens, full, pre, model);
    snprintf(name, sizeof name, "%s, %s, %.20s", normalizer, pre, tokens);
    if (load_spec(&spec, &format, &source, &t_err) != LEAT_OK || pipeline_make(&pipeline, spec, &t_err) != LEAT_OK) {
        /* as where there is no PCRE2, or a token is normalized to nothing */
        if (t_err.status != LEAT_E_UNSUPPORTED)
            T_FAIL("%s: %s", name, t_err.message);
    } else {
        check_texts(name, pipeline, texts, random);
        pipeline_free(pipeline);
    }
    free(json);
    free(full);
}

static void check_all_made(uint64_t *random)
{
    char *bytes = model_of("digits.json"), *unknown = model_of("metaspace_first.json"), *map = precompiled();
    char *fallback = model_of("prepend_replace.json"), *suffix = model_of("word_suffix.json");
    char *whole = whole_tokens_of("prepend_replace.json");
    const char *models[] = { unknown, fallback, suffix, whole };

    for (size_t i = 0; i < COUNT(normalizers); i++) {
        check_made(normalizers[i], byte_level[0], added[0], bytes, map, 10, random);
        check_made(normalizers[i], "null", added[i % COUNT(added)], models[i % 2], map, 10, random);
    }
    for (size_t i = 0; i < COUNT(byte_level); i++)
        check_made("null", byte_level[i], added[0], bytes, map, 10, random);
    for (size_t i = 0; i < COUNT(others); i++)
        check_made("null", others[i], added[0], models[i % 3], map, 10, random);
    check_made("null", "null", added[0], whole, map, 60, random);
    check_made("null", "null", added[3], whole, map, 30, random);
    check_made("@", STEPS(SPLIT(REGEX("."), "Isolated", "false") "," METASPACE("first", "true")), added[0], unknown,
               map, 60, random);
    for (size_t i = 0; i < COUNT(added); i++)
        check_made("null", byte_level[0], added[i], bytes, map, 40, random);
    for (int i = 0; i < 120; i++) {
        bool of_bytes = t_below(random, 2);
        const char *pre =
            of_bytes ? byte_level[t_below(random, COUNT(byte_level))] : others[t_below(random, COUNT(others))];

        check_made(normalizers[t_below(random, COUNT(normalizers))], pre, added[t_below(random, COUNT(added))],
                   of_bytes ? bytes : models[t_below(random, 4)], map, 6, random);
    }
    free(bytes);
    free(unknown);
    free(fallback);
    free(suffix);
    free(whole);
    free(map);
}

int main(void)
{
    uint64_t random = t_seed();

    drawn = t_draw();
    check_files(&random);
    for (unsigned settings = 0; settings < 64; settings++)
        check_sentencepiece(settings % 3 ? "piece_unknown.model" : "piece_fallback.model", settings, &random);
    check_all_made(&random);
    T_CHECK(several > 1000);
    return t_end();
}
