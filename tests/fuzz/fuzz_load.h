/*
 * fuzz_load.h: what the fuzzers of the loaders share. A file of hostile bytes that loads is fingerprinted, so that
 * every field is read; its numbers must agree with each other; and an pipeline made of it must encode and decode some
 * text.
 */
#ifndef LEAT_TESTS_FUZZ_LOAD_H
#define LEAT_TESTS_FUZZ_LOAD_H

#include "fuzz.h"

#include "tokenizer/decode/decoder.h"
#include "tokenizer/load/end_token.h"
#include "tokenizer/load/load.h"
#include "tokenizer/pipeline/encoder.h"
#include "tokenizer/pipeline/pipeline.h"
#include "tokenizer/spec/fingerprint.h"

/* Of memory for one piece; specs with large prefixes and replacements make long ones of short texts. */
#define FUZZ_LOAD_MAX ((uint64_t)64 << 20)

/* A call that reads hostile bytes: it may refuse them, in words. */
static inline int fuzz_load_ok(enum leat_status s, const struct leat_error *err)
{
    if (s == LEAT_OK)
        return 1;
    FUZZ_CHECK(err->status == s && memchr(err->message, '\0', sizeof err->message) && err->message[0]);
    FUZZ_CHECK(s == LEAT_E_VOCABULARY || s == LEAT_E_UNSUPPORTED || s == LEAT_E_ARGUMENT || s == LEAT_E_TEXT ||
               s == LEAT_E_PRETOKEN || s == LEAT_E_NO_MEMORY);
    return 0;
}

/* The numbers of a finished spec agree with each other. */
static inline void fuzz_load_check(const struct tokenizer_spec *spec)
{
    for (uint32_t i = 0; i < spec->token_count; i++) {
        FUZZ_CHECK(spec->tokens[i].id < spec->vocabulary_size);
        FUZZ_CHECK((uint64_t)spec->tokens[i].offset + spec->tokens[i].length <= spec->text_bytes);
        FUZZ_CHECK(i == 0 || spec->tokens[i - 1].id <= spec->tokens[i].id);
    }
    for (uint32_t i = 0; i < spec->merge_count; i++)
        FUZZ_CHECK(spec_find_id(spec, spec->merges[i].left) && spec_find_id(spec, spec->merges[i].right) &&
                   spec_find_id(spec, spec->merges[i].result));
    for (uint32_t i = 0; i < spec->added_count; i++)
        FUZZ_CHECK(spec->added[i].id < spec->vocabulary_size);
}

/* Any text is encoded to ids of the vocabulary, which can be decoded. */
static inline void fuzz_load_encode(const struct pipeline *pipeline)
{
    static const char text[] = "Hello world, it's 2026.\n\n  \xc3\xa9l\xc3\xa8ve \xe4\xb8\xad\xe6\x96\x87 a\xcc\x81 "
                               "\xf0\x9f\x98\x80\t<s> ab  abab\xff\xe2\x96\x81x";
    struct encoder_options options = { .special = true, .max_bytes = FUZZ_LOAD_MAX };
    struct leat_error err = { 0 };
    struct buffer back = { 0 };
    struct encoder *encoder;
    const uint32_t *ids;
    size_t count;

    FUZZ_CHECK(encoder_make(&encoder, pipeline, &options, &err) == LEAT_OK);
    for (size_t bytes = 0; bytes < sizeof text; bytes += 1 + bytes / 2) {
        if (!fuzz_load_ok(encoder_run(encoder, (const uint8_t *)text, bytes, &ids, &count, &err), &err))
            continue;
        for (size_t i = 0; i < count; i++)
            FUZZ_CHECK(ids[i] < pipeline->spec->vocabulary_size);
        back.size = 0;
        fuzz_load_ok(decoder_run(pipeline->decoder, ids, count, &back, &err), &err);
    }
    buffer_free(&back);
    encoder_free(encoder);
}

static inline int fuzz_load(const uint8_t *bytes, size_t size, const char *path, const char *pattern)
{
    struct load_source source = { .path = path, .bytes = bytes, .size = size, .pattern = pattern };
    uint8_t print[FINGERPRINT_BYTES];
    struct tokenizer_spec *spec;
    struct leat_error err = { 0 };
    enum load_format format;
    struct end_token end;
    struct pipeline *pipeline;

    if (!fuzz_load_ok(load_spec(&spec, &format, &source, &err), &err)) {
        FUZZ_CHECK(!spec);
        return 0;
    }
    fuzz_load_check(spec);
    fingerprint(print, spec);
    end_token_find(&end, spec, print, NULL);
    if (fuzz_load_ok(pipeline_make(&pipeline, spec, &err), &err)) {
        fuzz_load_encode(pipeline);
        pipeline_free(pipeline);
    }
    return 0;
}

#endif
