/*
 * test_pretokens.c: pretokens encoded by the batch give the ids that each gives alone, merged plainly and without a
 * cache, at every CPU level, with all vocabularies at hand. Texts are made of tokens, parts of tokens and characters of
 * all lengths, cut anywhere between characters, and end where their memory ends. test_pretokens_tiny.c has caches so
 * small that all entries are pushed out again and again.
 */
#include "tokenizer/bpe/bpe_internal.h"

#include "base/utf8.h"
#include "support/cpu_limit.h"
#include "t.h"
#include "tokenizer/load/spec_open.h"
#include "valid_text.h"
#include "vectors.h"
#include "vocabularies.h"

/* Another text in each run. Twice it is more than the text after which a cache becomes large. */
#define TEXT_BYTES ((size_t)(t_every() ? 300 : 140) << 10)
#define PRETOKENS  65536

static uint64_t random_state;

static size_t below(size_t n)
{
    return (size_t)t_below(&random_state, n);
}

/* ---- Texts ---- */

static struct vectors_text lines[VECTORS_TEXTS];
static size_t line_count;

/* A few bytes of one kind or another. */
static void append_something(struct buffer *out, const struct tokenizer_spec *spec)
{
    const struct spec_token *t = &spec->tokens[below(spec->token_count)];
    const uint8_t *bytes = spec_token_bytes(spec, t);
    uint8_t c[4] = { 0 };

    switch (below(8)) {
    case 0:
        T_OK(buffer_append(out, lines[below(line_count)].bytes, 1 + below(8), &t_err));
        break;
    case 1:
        T_OK(buffer_append(out, c, utf8_encode(c, (uint32_t)(0x20 + below(0x60))), &t_err));
        break;
    case 2:
        T_OK(buffer_append(out, c, utf8_encode(c, (uint32_t)(0x80 + below(0x3000))), &t_err));
        break;
    case 3:
        T_OK(buffer_append(out, c, utf8_encode(c, (uint32_t)(below(2) ? 0x4e00 + below(300) : 0x1f300 + below(600))),
                           &t_err));
        break;
    case 4:
        T_OK(buffer_append(out, bytes, t->length > 0 ? 1 + below(t->length) : 0, &t_err));
        break;
    default:
        T_OK(buffer_append(out, bytes, t->length, &t_err));
        break;
    }
}

/* Valid UTF-8, in memory that ends with it. */
static uint8_t *make_text(const struct tokenizer_spec *spec, size_t *bytes)
{
    struct buffer some = { 0 };

    while (some.size < TEXT_BYTES)
        append_something(&some, spec);
    return valid_text(&some, bytes);
}

/* Ends of pretokens up to the end of the text; mostly short ones. */
static size_t make_pretokens(const uint8_t *text, size_t bytes, uint32_t *ends)
{
    size_t count = 0, at = 0;

    while (at < bytes && count < PRETOKENS) {
        size_t kind = below(2000), max = kind == 0 ? 40000 : kind < 20 ? 300 : kind < 200 ? 64 : kind < 800 ? 20 : 9;

        at += 1 + below(max);
        at = at < bytes ? at : bytes;
        while (at < bytes && (text[at] & 0xc0) == 0x80)
            at++;
        ends[count++] = (uint32_t)at;
    }
    ends[count - 1] = (uint32_t)bytes;
    return count;
}

/* ---- Two ways ---- */

static void encode_plainly(const struct bpe *m, const uint8_t *text, const uint32_t *ends, size_t count,
                           struct id_list *out)
{
    void *s;
    uint32_t begin = 0;

    T_OK(bpe_scratch_make(&s, NULL, 0, &t_err));
    for (size_t i = 0; i < count; begin = ends[i++])
        T_OK(bpe_encode_whole(m, s, text + begin, ends[i] - begin, out, &t_err));
    bpe_scratch_free(s);
}

/* In runs of random lengths; `times` the same again, with what the cache then knows. */
static void encode_batches(const struct bpe *m, const char *name, const uint8_t *text, size_t bytes,
                           const uint32_t *ends, size_t count, const struct id_list *want, size_t cache_bytes)
{
    struct bpe_scratch *s;
    void *scratch;
    struct id_list out = { 0 };

    T_OK(bpe_scratch_make(&scratch, NULL, cache_bytes, &t_err));
    s = scratch;
    for (unsigned times = 0; times < 2; times++) {
        out.count = 0;
        for (size_t at = 0, run; at < count; at += run) {
            struct model_pretokens p = { text, bytes, at > 0 ? ends[at - 1] : 0, ends + at, 0 };

            run = 1 + below(below(4) ? 3000 : 40);
            p.count = run = run < count - at ? run : count - at;
            T_OK(bpe_encode_pretokens(&m->model, s, &p, &out, &t_err));
        }
        if (out.count != want->count || memcmp(out.ids, want->ids, out.count * sizeof *out.ids) != 0)
            T_FAIL("%s, %s, pass %u: %zu ids, not the %zu of single pretokens", name, s->kernels->name, times,
                   out.count, want->count);
    }
    T_CHECK(s->words.own.large == (cache_bytes > 0));
    id_list_free(&out);
    bpe_scratch_free(s);
}

static void check_levels(const char *name, const struct bpe *m, const uint8_t *text, size_t bytes, const uint32_t *ends,
                         size_t count)
{
    static const enum cpu_level levels[] = { CPU_PLAIN, CPU_AVX2, CPU_AVX512, CPU_AVX512_VBMI };
    struct id_list want = { 0 };

    encode_plainly(m, text, ends, count, &want);
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        cpu_limit(levels[i]);
        encode_batches(m, name, text, bytes, ends, count, &want, 0);
        encode_batches(m, name, text, bytes, ends, count, &want, (size_t)64 << 20);
    }
    cpu_limit(CPU_AVX512_VBMI);
    id_list_free(&want);
}

/* Bytes, and Chinese characters that are tokens but that no merge makes: alone they are a token, as a part of a
 * pretoken they are their bytes. */
static void write_unreachable(const char *path)
{
    FILE *f = fopen(path, "w");
    struct byte_alphabet alphabet;
    uint8_t c[4] = { 0 };

    byte_alphabet_init(&alphabet);
    fprintf(f, "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_"
               "regex\":true},\"model\":{"
               "\"type\":\"BPE\",\"ignore_merges\":true,\"merges\":[],\"vocab\":{");
    for (unsigned b = 0; b < 256; b++)
        fprintf(f, "\"\\u%04x\":%u,", alphabet.code_of[b], b);
    for (unsigned i = 0; i < 300; i++) {
        utf8_encode(c, 0x4e00 + i);
        fprintf(f, "%s\"\\u%04x\\u%04x\\u%04x\":%u", i > 0 ? "," : "", alphabet.code_of[c[0]], alphabet.code_of[c[1]],
                alphabet.code_of[c[2]], 256 + i);
    }
    fprintf(f, "}}}");
    T_CHECK(fclose(f) == 0);
}

static void check_vocabulary(const char *name)
{
    static uint32_t ends[PRETOKENS];
    struct opened_spec opened;
    struct model *model;
    const struct bpe *m;
    uint8_t *text;
    size_t bytes, count;

    T_OK(spec_open(&opened, name, NULL, &t_err));
    T_OK(bpe_make(&model, opened.spec, &t_err));
    m = bpe_of(model);
    if (!m->cuts && !m->apart) {
        text = make_text(opened.spec, &bytes);
        count = make_pretokens(text, bytes, ends);
        check_levels(name, m, text, bytes, ends, count);
        free(text);
    }
    bpe_free(model);
    spec_close(&opened);
}

int main(void)
{
    static const char *const built_in[] = { "gpt2", "cl100k_base", "o200k_base" };
    static const char *const files[] = { "ignore_merges.json", "nfc.json",   "three_splits.json", "prefix_space.json",
                                         "digits.json",        "added.json", "word_suffix.json",  "tekken.json" };
    static const char *const published[] = { "llama3_1.tokenizer.json.zst", "qwen2_5.tokenizer.json.zst",
                                             "deepseek_v3.tokenizer.json.zst" };
    const char *made = t_path(t_folder(), "unreachable.json");
    char *memory, path[256];

    random_state = t_draw();
    line_count = vectors_texts(lines, &memory);
    for (size_t i = 0; i < line_count; i++)
        if (lines[i].size < 8)
            lines[i--] = lines[--line_count];
    write_unreachable(made);
    check_vocabulary(made);
    for (size_t i = 0; i < sizeof built_in / sizeof built_in[0]; i++)
        check_vocabulary(built_in[i]);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", VECTORS_FOLDER, files[i]);
        check_vocabulary(path);
    }
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        if (vocabulary_path(published[i]))
            check_vocabulary(vocabulary_path(published[i]));
    free(memory);
    return t_end();
}
