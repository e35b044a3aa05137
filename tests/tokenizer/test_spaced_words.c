/*
 * test_spaced_words.c: Unigram models after Metaspace give the same ids if pretokens begin with spaces (split_words.h)
 * as with marks in their place, and if expressions for runs of spaces go without an expression engine as with it. Made
 * vocabularies, in which marks stand inside of tokens, tokens hold spaces, and letters or the bytes of some have none;
 * Metaspace with each prefix, alone and after WhitespaceSplit; texts of letters, all kinds of white space, marks, added
 * tokens, and what has no token, at once and in parts.
 */
#include "t.h"

#include "tokenizer/load/load.h"
#include "tokenizer/pipeline/encoder.h"
#include "tokenizer/pipeline/pipeline.h"

#define MARK "\xe2\x96\x81"

static uint64_t state;

static const char *const letters[] = { MARK, MARK MARK, "a", "b", "c", " ", "\xc3\xa9", "\xe4\xb8\xad", "x " };
static const char *const bits[] = { " ",
                                    "  ",
                                    "a",
                                    "b",
                                    "c",
                                    "abc",
                                    "\xc3\xa9",
                                    "\xe4\xb8\xad",
                                    "\n",
                                    "\t \xc2\xa0",
                                    MARK,
                                    "<x>",
                                    "<n>",
                                    "z",
                                    "\xe3\x80\x80",
                                    " " MARK,
                                    "\r",
                                    "\xe2\x80\x89",
                                    "ab c",
                                    MARK " ",
                                    "\xf0\x9f\x98\x80",
                                    " ?z" };

/* The same text by an expression that leat knows, and by one that it does not. */
static const char *const normalizers[][2] = {
    { "null", "null" },
    { "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" {2,}\"},\"content\":\"" MARK "\"}",
      "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(?: {2,})\"},\"content\":\"" MARK "\"}" },
    { "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true},{\"type\":"
      "\"Replace\",\"pattern\":{\"Regex\":\"a+\"},\"content\":\" \"}]}",
      "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true},{\"type\":"
      "\"Replace\",\"pattern\":{\"Regex\":\"(?:a+)\"},\"content\":\" \"}]}" },
};

#define METASPACE(prefix) "{\"type\":\"Metaspace\",\"replacement\":\"" MARK "\",\"prepend_scheme\":\"" prefix "\"}"

static const char *const pre_tokenizers[] = {
    METASPACE("always"), METASPACE("first"), METASPACE("never"),
    "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"}," METASPACE("always") "]}"
};

static uint32_t below(size_t n)
{
    return (uint32_t)t_below(&state, n);
}

/* ---- Files ---- */

static void put_token(FILE *out, const char *text)
{
    fprintf(out, ",[\"%s\",%d.%u]", text, -1 - (int)below(12), (unsigned)below(4) * 25);
}

static void put_word(FILE *out)
{
    char word[64] = "";
    size_t used = 0;

    for (unsigned count = 1 + below(4); count > 0; count--)
        used +=
            (size_t)snprintf(word + used, sizeof word - used, "%s", letters[below(sizeof letters / sizeof letters[0])]);
    put_token(out, word);
}

/* Its unknown token may have a mark. */
static void put_model(FILE *out)
{
    bool bytes = below(2);

    fprintf(out, "{\"type\":\"Unigram\",\"unk_id\":%u,\"byte_fallback\":%s,\"vocab\":[[\"<unk>\",0],[\"%s?\",-20]",
            (unsigned)(below(6) == 0), bytes ? "true" : "false", below(2) ? MARK : "");
    if (below(8))
        put_token(out, MARK);
    for (unsigned i = 0; i < 40; i++)
        put_word(out);
    for (unsigned b = 0; bytes && b < 256; b++)
        fprintf(out, ",[\"<0x%02X>\",-30]", b);
    fprintf(out, "]}");
}

static void put_file(FILE *out, const char *normalizer, const char *pre, const char *model)
{
    fprintf(out,
            "{\"added_tokens\":[{\"id\":0,\"content\":\"<x>\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
            "\"normalized\":false,\"special\":false},{\"id\":1,\"content\":\"<n>\",\"single_word\":false,\"lstrip\":"
            "false,\"rstrip\":true,\"normalized\":true,\"special\":false}],\"normalizer\":%s,\"pre_tokenizer\":%s,"
            "\"model\":%s}",
            normalizer, pre, model);
}

static struct encoder *open_encoder(struct pipeline **e, const char *normalizer, const char *pre, const char *model)
{
    static char json[1 << 16];
    FILE *out = fmemopen(json, sizeof json, "w");
    struct load_source source = { .path = "made.json", .bytes = (const uint8_t *)json };
    struct encoder_options options = { .max_bytes = (uint64_t)1 << 30 };
    struct tokenizer_spec *spec;
    enum load_format format;
    struct encoder *encoder;

    T_CHECK(out != NULL);
    put_file(out, normalizer, pre, model);
    fclose(out);
    source.size = strlen(json);
    T_OK(load_spec(&spec, &format, &source, &t_err));
    T_OK(pipeline_make(e, spec, &t_err));
    T_OK(encoder_make(&encoder, *e, &options, &t_err));
    return encoder;
}

/* The same with marks, as the file says. */
static struct encoder *open_plain(struct pipeline **e, const char *normalizer, const char *pre, const char *model)
{
    struct encoder_options options = { .max_bytes = (uint64_t)1 << 30 };
    struct encoder *encoder = open_encoder(e, normalizer, pre, model);

    encoder_free(encoder);
    pretokenizer_free((*e)->pretokenizer);
    model_free((*e)->model);
    T_OK(pretokenizer_make(&(*e)->pretokenizer, (*e)->spec, &t_err));
    T_OK(model_make(&(*e)->model, (*e)->spec, &t_err));
    T_OK(encoder_make(&encoder, *e, &options, &t_err));
    return encoder;
}

/* ---- Texts ---- */

static size_t make_text(char *text, size_t room)
{
    size_t n = 0, count = below(below(20) == 0 ? room / 8 : 60);

    for (size_t i = 0; i < count; i++) {
        const char *bit = bits[below(sizeof bits / sizeof bits[0])];

        for (unsigned times = below(60) == 0 ? 1 + below(90) : 1; times > 0 && n + strlen(bit) < room; times--) {
            memcpy(text + n, bit, strlen(bit));
            n += strlen(bit);
        }
    }
    return n;
}

static void same(enum leat_status got, const uint32_t *a, size_t a_count, enum leat_status want, const uint32_t *b,
                 size_t b_count, const char *text, size_t bytes)
{
    if (got == want && (got != LEAT_OK || (a_count == b_count && memcmp(a, b, a_count * sizeof *a) == 0)))
        return;
    T_FAIL("status %d, %zu ids, and status %d, %zu ids with marks, of: %.*s", got, a_count, want, b_count,
           bytes < 200 ? (int)bytes : 200, text);
}

/* The text in parts of random lengths. */
static enum leat_status in_parts(struct encoder *e, const char *text, size_t bytes, uint32_t *all, size_t *n)
{
    enum leat_status s = LEAT_OK;
    const uint32_t *ids;
    size_t count, used;

    *n = 0;
    encoder_begin(e);
    for (size_t at = 0; s == LEAT_OK && at < bytes; at += used) {
        size_t some = 1 + below(bytes);

        s = encoder_chunk(e, (const uint8_t *)text + at, some < bytes - at ? some : bytes - at, &used, &ids, &count,
                          &t_err);
        if (s == LEAT_OK)
            memcpy(all + *n, ids, count * sizeof *ids);
        *n += s == LEAT_OK ? count : 0;
    }
    if (s == LEAT_OK)
        s = encoder_end(e, &ids, &count, &t_err);
    if (s == LEAT_OK)
        memcpy(all + *n, ids, count * sizeof *ids);
    *n += s == LEAT_OK ? count : 0;
    return s;
}

static void try_texts(struct encoder *fast, struct encoder *plain)
{
    static char text[6000];
    static uint32_t all[1 << 16];

    for (int i = 0; i < 40; i++) {
        size_t bytes = make_text(text, sizeof text), a_count = 0, b_count = 0, count;
        const uint32_t *a = NULL, *b = NULL;
        enum leat_status want = encoder_run(plain, (const uint8_t *)text, bytes, &b, &b_count, &t_err), got;

        got = encoder_run(fast, (const uint8_t *)text, bytes, &a, &a_count, &t_err);
        same(got, a, a_count, want, b, b_count, text, bytes);
        got = in_parts(fast, text, bytes, all, &count);
        same(got, all, count, want, b, b_count, text, bytes);
    }
}

int main(void)
{
    static char model[1 << 15];
    unsigned fast_ones = 0;

    state = t_seed();
    for (unsigned i = 0; i < 192; i++) {
        const char *const *normalizer = normalizers[i / 4 % 3], *pre = pre_tokenizers[i % 4];
        struct pipeline *fast_pipeline, *plain_pipeline;
        struct encoder *fast, *plain;
        FILE *out = fmemopen(model, sizeof model, "w");

        T_CHECK(out != NULL);
        put_model(out);
        fclose(out);
        fast = open_encoder(&fast_pipeline, normalizer[0], pre, model);
        plain = open_plain(&plain_pipeline, normalizer[1], pre, model);
        fast_ones += fast_pipeline->spaced != NULL;
        try_texts(fast, plain);
        encoder_free(fast);
        encoder_free(plain);
        pipeline_free(fast_pipeline);
        pipeline_free(plain_pipeline);
    }
    T_CHECK(fast_ones > 80);
    return t_end();
}
