/*
 * test_spaced.c: vocabularies in sentencepiece's way give the same ids by the fast way (plain spaces, cuts by bytes and
 * characters, batches, merges in turns, spans between added tokens) as by the general one: normalized by a copy, and
 * merged whole, without cuts or cache. Made vocabularies, in which marks stand inside of tokens, tokens hold spaces,
 * letters have none, and merges are in odd orders; texts of letters, spaces, marks, newlines, and what has no token, at
 * once and in parts.
 */
#include "t.h"

#include "tokenizer/bpe/bpe_internal.h"
#include "tokenizer/load/load.h"
#include "tokenizer/pipeline/encoder.h"
#include "tokenizer/pipeline/pipeline.h"

#define MARK    "\xe2\x96\x81"
#define TOKENS  400u
#define LONGEST 24u

static uint64_t state;

/* What tokens are made of; the mark is always a token. */
static const char *const letters[] = { MARK,           "a", "b",  "c", "e", "t", "1", ".", "\xc3\xa9", "\xd0\xb0",
                                       "\xe4\xb8\xad", " ", "\\n" };
/* What texts are made of. */
static const char *const bits[] = { " ",
                                    "  ",
                                    "a",
                                    "b",
                                    "c",
                                    "e",
                                    "t",
                                    "1",
                                    ".",
                                    "\xc3\xa9",
                                    "\n",
                                    "\n\n",
                                    MARK,
                                    "x",
                                    "\xd0\xb0",
                                    "\xe4\xb8\xad",
                                    "\xe4\xb8\xae",
                                    "\xf0\x9f\x98\x80",
                                    "<x>",
                                    "\t",
                                    "abc te" };

static const char *const normalizers[] = {
    "{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"" MARK "\"}",
    "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"" MARK "\"},{\"type\":\"Replace\","
    "\"pattern\":{\"String\":\" \"},\"content\":\"" MARK "\"}]}",
    "null",
    "null",
};
static const char *const pre_tokenizers[] = {
    "{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},\"behavior\":\"MergedWithPrevious\",\"invert\":false}",
    "null",
    "{\"type\":\"Metaspace\",\"replacement\":\"" MARK "\",\"prepend_scheme\":\"always\",\"split\":false}",
    "{\"type\":\"Metaspace\",\"replacement\":\"" MARK "\",\"prepend_scheme\":\"first\",\"split\":false}",
};

struct vocabulary {
    char token[TOKENS][LONGEST + 8];
    uint32_t count, left[4 * TOKENS], right[4 * TOKENS], merges;
};

static uint32_t find(const struct vocabulary *v, const char *text)
{
    for (uint32_t i = 0; i < v->count; i++)
        if (strcmp(v->token[i], text) == 0)
            return i;
    return TOKENS;
}

/* Letters, some of them missing; then joins of two, most of what is joined being short. */
static void make_vocabulary(struct vocabulary *v)
{
    uint32_t tries = 20 + (uint32_t)t_below(&state, 500);

    v->count = v->merges = 0;
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
        if (i == 0 || t_below(&state, 12) > 0)
            snprintf(v->token[v->count++], sizeof v->token[0], "%s", letters[i]);
    while (tries-- > 0 && v->count < TOKENS && v->merges < 4 * TOKENS) {
        uint32_t a = (uint32_t)t_below(&state, v->count), b = (uint32_t)t_below(&state, v->count);
        char text[2 * LONGEST + 16];

        snprintf(text, sizeof text, "%s%s", v->token[a], v->token[b]);
        if (strlen(text) > LONGEST || strcmp(v->token[a], " ") == 0 || strcmp(v->token[b], " ") == 0)
            continue;
        if (find(v, text) == TOKENS)
            memcpy(v->token[v->count++], text, strlen(text) + 1);
        v->left[v->merges] = a;
        v->right[v->merges++] = b;
    }
}

/* In the order in which they were found, or another. */
static void shuffle(struct vocabulary *v, uint32_t times)
{
    while (times-- > 0 && v->merges > 1) {
        uint32_t a = (uint32_t)t_below(&state, v->merges), b = (uint32_t)t_below(&state, v->merges);
        uint32_t left = v->left[a], right = v->right[a];

        v->left[a] = v->left[b];
        v->right[a] = v->right[b];
        v->left[b] = left;
        v->right[b] = right;
    }
}

static size_t write_json(char *out, size_t room, const struct vocabulary *v, unsigned kind, bool newline_added)
{
    size_t n = 0;
    uint32_t id = 3;

    n += (size_t)snprintf(out + n, room - n, "{\"added_tokens\":[");
    for (uint32_t i = 1; i < 3; i++)
        n += (size_t)snprintf(out + n, room - n,
                              "%s{\"id\":%u,\"content\":\"%s\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
                              "\"normalized\":false,\"special\":false}",
                              i > 1 ? "," : "", (unsigned)i,
                              i == 1          ? "<x>"
                              : newline_added ? "\\n"
                                              : "<y>");
    n +=
        (size_t)snprintf(out + n, room - n,
                         "],\"normalizer\":%s,\"pre_tokenizer\":%s,\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\","
                         "\"fuse_unk\":true,\"byte_fallback\":true,\"vocab\":{\"<unk>\":0,\"<x>\":1,\"<y>\":2",
                         normalizers[kind], pre_tokenizers[kind]);
    for (unsigned b = 0; b < 256; b++)
        n += (size_t)snprintf(out + n, room - n, ",\"<0x%02X>\":%u", b, (unsigned)id++);
    for (uint32_t i = 0; i < v->count; i++)
        n += (size_t)snprintf(out + n, room - n, ",\"%s\":%u", v->token[i], (unsigned)id++);
    n += (size_t)snprintf(out + n, room - n, "},\"merges\":[");
    for (uint32_t i = 0; i < v->merges; i++)
        n += (size_t)snprintf(out + n, room - n, "%s[\"%s\",\"%s\"]", i ? "," : "", v->token[v->left[i]],
                              v->token[v->right[i]]);
    n += (size_t)snprintf(out + n, room - n, "]}}");
    return n;
}

static struct encoder *open_encoder(struct pipeline **e, const char *json, size_t bytes)
{
    struct load_source source = { .path = "made.json", .bytes = (const uint8_t *)json, .size = bytes };
    struct encoder_options options = { .max_bytes = (uint64_t)1 << 30 };
    struct tokenizer_spec *spec;
    enum load_format format;
    struct encoder *encoder;

    T_OK(load_spec(&spec, &format, &source, &t_err));
    T_OK(pipeline_make(e, spec, &t_err));
    T_OK(encoder_make(&encoder, *e, &options, &t_err));
    return encoder;
}

static struct bpe *byte_pairs_of(struct pipeline *e)
{
    return (struct bpe *)(void *)e->model;
}

/* The general way, without cuts or cache. */
static void make_plain(struct pipeline *e)
{
    struct bpe *m;

    model_free(e->model);
    T_OK(model_make(&e->model, e->spec, &t_err));
    e->prefix = SPACED_NOT;
    m = byte_pairs_of(e);
    m->cuts = m->cuts_by_bytes = false;
    m->rules.pairs = NULL;
}

static size_t make_text(char *text, size_t room)
{
    size_t n = 0, count = t_below(&state, t_below(&state, 20) == 0 ? room / 8 : 100);

    for (size_t i = 0; i < count; i++) {
        const char *bit = bits[t_below(&state, sizeof bits / sizeof bits[0])];
        size_t times = t_below(&state, 60) == 0 ? 1 + t_below(&state, 90) : 1;

        for (; times > 0 && n + strlen(bit) < room; times--) {
            memcpy(text + n, bit, strlen(bit));
            n += strlen(bit);
        }
    }
    return n;
}

static void same(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count, const char *text, size_t bytes)
{
    if (a_count == b_count && memcmp(a, b, a_count * sizeof *a) == 0)
        return;
    T_FAIL("%zu ids, and %zu by the general way, of: %.*s", a_count, b_count, bytes < 200 ? (int)bytes : 200, text);
}

/* The text in parts, of random lengths. */
static void in_parts(struct encoder *e, const char *text, size_t bytes, const uint32_t *want, size_t want_count)
{
    static uint32_t all[1 << 16];
    const uint32_t *ids;
    size_t count, used, n = 0;

    encoder_begin(e);
    for (size_t at = 0; at < bytes; at += used) {
        size_t some = 1 + t_below(&state, 2 * bytes);

        T_OK(encoder_chunk(e, (const uint8_t *)text + at, some < bytes - at ? some : bytes - at, &used, &ids, &count,
                           &t_err));
        memcpy(all + n, ids, count * sizeof *ids);
        n += count;
    }
    T_OK(encoder_end(e, &ids, &count, &t_err));
    memcpy(all + n, ids, count * sizeof *ids);
    same(all, n + count, want, want_count, text, bytes);
}

static void try_texts(struct encoder *fast, struct encoder *plain)
{
    static char text[12000];

    for (int i = 0; i < 60; i++) {
        size_t bytes = make_text(text, sizeof text), a_count, b_count;
        const uint32_t *a, *b;

        T_OK(encoder_run(fast, (const uint8_t *)text, bytes, &a, &a_count, &t_err));
        T_OK(encoder_run(plain, (const uint8_t *)text, bytes, &b, &b_count, &t_err));
        same(a, a_count, b, b_count, text, bytes);
        in_parts(fast, text, bytes, b, b_count);
    }
}

int main(void)
{
    static struct vocabulary v;
    static char json[1 << 19];

    state = t_seed();
    for (unsigned i = 0; i < 64; i++) {
        struct pipeline *fast_pipeline, *plain_pipeline;
        struct encoder *fast, *plain;
        size_t bytes;

        make_vocabulary(&v);
        if (i % 3 == 0)
            shuffle(&v, 1 + (uint32_t)t_below(&state, 2 * v.merges + 1));
        bytes = write_json(json, sizeof json, &v, i % 4, i / 4 % 2);
        fast = open_encoder(&fast_pipeline, json, bytes);
        plain = open_encoder(&plain_pipeline, json, bytes);
        make_plain(plain_pipeline);
        T_CHECK(fast_pipeline->prefix != SPACED_NOT && byte_pairs_of(fast_pipeline)->cuts_by_bytes &&
                byte_pairs_of(fast_pipeline)->rules.pairs);
        try_texts(fast, plain);
        encoder_free(fast);
        encoder_free(plain);
        pipeline_free(fast_pipeline);
        pipeline_free(plain_pipeline);
    }
    return t_end();
}
