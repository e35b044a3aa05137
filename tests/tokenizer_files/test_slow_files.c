/*
 * test_slow_files.c: what little a tokenizer's file says cannot make texts slow, nor keep an interrupt from being
 * noticed: long added tokens, white space taken along, expressions with many steps, replacements of replacements. What
 * has quadratic time goes on for days here.
 */
#include "base/buffer.h"
#include "base/bytes.h"
#include "leat_pack.h"
#include "t.h"
#include "tokenizer/vectors.h"

#include "tokenizer/decode/decoder.h"
#include "tokenizer/load/spec_open.h"
#include "tokenizer/normalize/charsmap.h"
#include "tokenizer/pipeline/encoder.h"
#include "tokenizer/pipeline/pipeline.h"

#define MIB ((size_t)1 << 20)

static struct buffer file;

static void add(const char *text)
{
    T_OK(buffer_append(&file, text, strlen(text), &t_err));
}

static void add_many(char c, size_t count)
{
    T_OK(buffer_reserve(&file, count, &t_err));
    memset(file.bytes + file.size, c, count);
    file.size += count;
}

static void begin_file(void)
{
    file.size = 0;
    add("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":2,\" \":3},\"merges\":[]}");
}

/* So many bytes of one letter. */
static uint64_t encode(char c, size_t bytes, uint32_t *last)
{
    struct leat_stored_tokenizer stored = { "made.json", "", (const char *)file.bytes, file.size };
    char *text = malloc(bytes);
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    const uint32_t *ids;
    uint64_t count;

    memset(text, c, bytes);
    T_OK(leat_tokenizer_open_stored(&t, &stored, &t_err));
    T_OK(leat_encoder_open(&e, t, NULL, &t_err));
    T_OK(leat_encoder_encode(e, text, bytes, &ids, &count, &t_err));
    *last = count > 0 ? ids[count - 1] : UINT32_MAX;
    leat_encoder_close(e);
    leat_tokenizer_close(t);
    free(text);
    return count;
}

static void check_long_added(const char *normalized)
{
    uint32_t last;

    begin_file();
    add(",\"added_tokens\":[{\"id\":4,\"content\":\"");
    add_many('a', MIB);
    add("b\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"special\":false,\"normalized\":");
    add(normalized);
    add("}]}");
    T_EQ(encode('a', 3 * MIB, &last), 3 * MIB);
    T_EQ(last, 0);
}

static void check_space_after(void)
{
    uint32_t last;

    begin_file();
    add(",\"added_tokens\":[{\"id\":4,\"content\":\"\\n\",\"single_word\":false,\"lstrip\":false,\"rstrip\":true,"
        "\"special\":false,\"normalized\":false}]}");
    T_EQ(encode('\n', 3 * MIB, &last), 3 * MIB);
    T_EQ(last, 4);
}

/* A compiled map whose trie leads from "a" back to its root: no key ends, and none is ever left. */
static void check_round_trie(void)
{
    uint8_t map[4 + 1024 + 2] = { 0 }, *text = malloc(MIB);
    struct buffer out = { 0 };
    struct charsmap *charsmap;

    bytes_store32(map, 1024);
    bytes_store32(map + 4, 1u << 10);
    bytes_store32(map + 4 + 4 * (1 ^ 'a'), (uint32_t)(1 ^ 'a' ^ 1) << 10 | 'a');
    memset(text, 'a', MIB);
    T_OK(charsmap_create(&charsmap, map, sizeof map, &t_err));
    T_OK(charsmap_append(&out, charsmap, CHARSMAP_LONGEST, text, MIB, &t_err));
    T_EQ(out.size, MIB);
    buffer_free(&out);
    charsmap_free(charsmap);
    free(text);
}

/* ---- Expressions ---- */

/* What docs/tokenizers.md says that a text may cost. */
#define STEPS_FIRST 10000000u
#define STEPS_BYTE  50000u

static void begin_split(const char *expression)
{
    begin_file();
    add(",\"pre_tokenizer\":{\"type\":\"Split\",\"behavior\":\"Isolated\",\"invert\":false,\"pattern\":{\"Regex\":\"");
    add(expression);
    add("\"}}}");
}

static struct pipeline *make_pipeline(void)
{
    struct opened_spec opened;
    struct pipeline *pipeline;

    T_OK(spec_open_stored(&opened, file.bytes, file.size, "made.json", NULL, &t_err));
    T_OK(pipeline_make(&pipeline, opened.spec, &t_err));
    opened.spec = NULL;
    spec_close(&opened);
    return pipeline;
}

static int asked;

static uint32_t stop_third(void *context)
{
    T_CHECK(context == &asked);
    return ++asked == 3;
}

static struct encoder *make_encoder(const struct pipeline *p, uint32_t (*stop)(void *context))
{
    struct encoder_options options = { .max_bytes = 64 * MIB, .stop = stop, .stop_context = &asked };
    struct encoder *e;

    T_OK(encoder_make(&e, p, &options, &t_err));
    return e;
}

/* A text of so many a: refused or not, the same whole and in parts, and again after it, within its steps. */
static void check_steps(const char *expression, size_t bytes, bool refused)
{
    uint8_t *text = malloc(bytes);
    const uint32_t *ids;
    size_t count, used;
    struct pipeline *p;
    struct encoder *e;

    begin_split(expression);
    p = make_pipeline();
    e = make_encoder(p, NULL);
    memset(text, 'a', bytes);
    for (int round = 0; round < 2; round++) {
        uint64_t before = encoder_steps(e);
        enum leat_status s = encoder_run(e, text, bytes, &ids, &count, &t_err);

        if (s != (refused ? LEAT_E_TEXT : LEAT_OK))
            T_FAIL("%s on %zu a: %s", expression, bytes, leat_status_name(s));
        if (encoder_steps(e) - before > STEPS_FIRST + (uint64_t)STEPS_BYTE * bytes)
            T_FAIL("%s on %zu a: %" PRIu64 " steps", expression, bytes, encoder_steps(e) - before);
        T_OK(encoder_run(e, (const uint8_t *)"cab", 3, &ids, &count, &t_err));
        encoder_begin(e);
        s = LEAT_OK;
        for (size_t at = 0; s == LEAT_OK && at < bytes; at += used)
            s = encoder_chunk(e, text + at, bytes - at < 1000 ? bytes - at : 1000, &used, &ids, &count, &t_err);
        if (s == LEAT_OK)
            s = encoder_end(e, &ids, &count, &t_err);
        if (s != (refused ? LEAT_E_TEXT : LEAT_OK))
            T_FAIL("%s on %zu a in parts: %s", expression, bytes, leat_status_name(s));
    }
    encoder_free(e);
    pipeline_free(p);
    free(text);
}

/* A long text of no trouble asks after each MiB. */
static void check_long_stop(void)
{
    size_t bytes = 5 * MIB, count;
    uint8_t *text = malloc(bytes);
    const uint32_t *ids;
    struct pipeline *p;
    struct encoder *e;

    begin_split("a");
    p = make_pipeline();
    e = make_encoder(p, stop_third);
    memset(text, 'a', bytes);
    asked = 0;
    T_STATUS(encoder_run(e, text, bytes, &ids, &count, &t_err), LEAT_E_STOPPED);
    T_EQ(asked, 3);
    T_OK(encoder_run(e, text, MIB / 64, &ids, &count, &t_err));
    T_EQ(count, MIB / 64);
    encoder_free(e);
    pipeline_free(p);
    free(text);
}

/* In the middle of an expression. */
static void check_stop(bool normalizer)
{
    size_t bytes = 60000;
    uint8_t *text = malloc(bytes);
    const uint32_t *ids;
    size_t count;
    struct pipeline *p;
    struct encoder *e;

    asked = 0;
    if (normalizer) {
        begin_file();
        add(",\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(?:a|b)+c|.\"},\"content\":\"a\"}}");
    } else {
        begin_split("(?:a|b)+c|.");
    }
    p = make_pipeline();
    e = make_encoder(p, stop_third);
    memset(text, 'a', bytes);
    T_REFUSED(encoder_run(e, text, bytes, &ids, &count, &t_err), LEAT_E_STOPPED, "was stopped");
    T_EQ(asked, 3);
    T_OK(encoder_run(e, (const uint8_t *)"aba", 3, &ids, &count, &t_err));
    T_EQ(count, 3);
    T_EQ(asked, 3);
    encoder_free(e);
    pipeline_free(p);
    free(text);
}

/* What words and spaces take is not even counted. */
static void check_ordinary(void)
{
    const uint32_t *ids;
    size_t count;
    struct pipeline *p;
    struct encoder *e;
    uint8_t text[6000];

    begin_split(" ?[ab]+| ?c{1,3}(?=(?:ccc)*a)|\\\\s+(?!\\\\S)|.");
    p = make_pipeline();
    e = make_encoder(p, stop_third);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t) "ab cab  abc ccccabba"[i % 20];
    T_OK(encoder_run(e, text, sizeof text, &ids, &count, &t_err));
    T_EQ(count, sizeof text);
    T_EQ(encoder_steps(e), 0);
    encoder_free(e);
    pipeline_free(p);
}

/* ---- Replacements ---- */

#define LONG 128 /* letters that are replaced at once */

/* A list of 13 that double a text of so many a, and others that replace it by itself. */
static void add_replacements(const char *begin, unsigned same)
{
    add(begin);
    for (unsigned i = 0; i < 13 + same; i++) {
        add(",{\"type\":\"Replace\",\"pattern\":{\"String\":\"");
        add_many('a', LONG);
        add("\"},\"content\":\"");
        add_many('a', i < 13 ? 2 * LONG : LONG);
        add("\"}");
    }
    add("]}}");
}

/* Whether a MiB that is written so many times more is too much to encode. */
static void check_normalizers(unsigned same, enum leat_status status)
{
    uint8_t text[LONG];
    const uint32_t *ids;
    size_t count;
    struct pipeline *p;
    struct encoder *e;

    begin_file();
    add_replacements(",\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"}", same);
    p = make_pipeline();
    memset(text, 'a', LONG);
    for (int stops = 0; stops < 2; stops++) {
        asked = 0;
        e = make_encoder(p, stops ? stop_third : NULL);
        T_STATUS(encoder_run(e, text, LONG, &ids, &count, &t_err), stops ? LEAT_E_STOPPED : status);
        T_OK(encoder_run(e, (const uint8_t *)"cab", 3, &ids, &count, &t_err));
        T_EQ(count, 3);
        encoder_free(e);
    }
    pipeline_free(p);
}

/* The same to decode. */
static void check_decoders(unsigned same, enum leat_status status)
{
    uint32_t ids[LONG] = { 0 };
    struct buffer text = { 0 };
    struct pipeline *p;

    begin_file();
    add_replacements(",\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"}", same);
    p = make_pipeline();
    T_STATUS(decoder_run(p->decoder, ids, LONG, &text, &t_err), status);
    T_OK(decoder_run(p->decoder, ids, 1, &text, &t_err));
    buffer_free(&text);
    pipeline_free(p);
}

/* A tokenizer of bytes, whose texts go together, with replacements: of z nothing remains, and of x nothing either, but
 * it is a MiB in between, for more steps than a text may take. */
static void begin_together(void)
{
    size_t size;
    char *bytes = vectors_file("nfc.json", &size), *rest = strstr(bytes, "\"pre_tokenizer\":");

    T_CHECK(rest != NULL);
    file.size = 0;
    add("{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":["
        "{\"type\":\"Replace\",\"pattern\":{\"String\":\"z\"},\"content\":\"\"},"
        "{\"type\":\"Replace\",\"pattern\":{\"String\":\"x\"},\"content\":\"");
    add_many('a', MIB);
    for (unsigned i = 0; i < 80; i++)
        add(i == 0 ? "\"},{\"type\":\"NFC\"}" : ",{\"type\":\"NFC\"}");
    add(",{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"\"}]},");
    add(rest ? rest : "");
    free(bytes);
}

/* A text has its own steps, whichever come before it, and what stops it stops those that go with it. */
static void check_together(void)
{
    char many[16000];
    const struct leat_text texts[] = { { many, sizeof many }, { many, sizeof many }, { "x", 1 } };
    uint64_t counts[3], done;
    const uint32_t *ids;
    struct pipeline *p;
    struct encoder *e;

    memset(many, 'z', sizeof many);
    begin_together();
    p = make_pipeline();
    e = make_encoder(p, NULL);
    T_OK(encoder_run_texts(e, texts, 3, &done, &ids, counts, &t_err));
    T_EQ(done, 2);
    T_STATUS(encoder_run_texts(e, texts + 2, 1, &done, &ids, counts, &t_err), LEAT_E_TEXT);
    encoder_free(e);
    e = make_encoder(p, stop_third);
    asked = 0;
    T_STATUS(encoder_run_texts(e, texts, 3, &done, &ids, counts, &t_err), LEAT_E_STOPPED);
    T_EQ(asked, 3);
    T_OK(encoder_run_texts(e, texts, 2, &done, &ids, counts, &t_err));
    T_EQ(done, 2);
    encoder_free(e);
    pipeline_free(p);
}

int main(void)
{
    check_together();
    check_normalizers(40, LEAT_OK);
    check_normalizers(80, LEAT_E_TEXT);
    check_decoders(40, LEAT_OK);
    check_decoders(80, LEAT_E_TEXT);
    check_steps("(?:a|aa)+b", 230, false); /* which PCRE2 knows not to be there */
    check_steps("(?:a|aa)+b|.", 230, true);
    check_steps("a*a*a*a*b|.", 230, true);
    check_steps("a*a*a*b|.", 250, true); /* a sixth of the limit for each match */
    check_steps("a+b|.", 3000, false);
    check_steps("a{1,3}(?=(?:aaa)*)", 3000, false);
    check_steps("(?=a+b)|.", 3000, false);
    check_steps("a+", 2 * MIB, false);
    check_stop(false);
    check_stop(true);
    check_long_stop();
    check_ordinary();
    check_long_added("false");
    check_long_added("true");
    check_space_after();
    check_round_trie();
    buffer_free(&file);
    return t_end();
}
