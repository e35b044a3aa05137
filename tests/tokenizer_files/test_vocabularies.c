/*
 * test_vocabularies.c: the published vocabularies, where they are at hand: their sizes, pipelines and end tokens; that
 * the built-ins are the same as their files; how long loading takes (printed). A row whose end token is wrong prints
 * the fingerprint that end_token.c should have.
 */
#include "t.h"
#include "tokenizer/vocabularies.h"

#include "tokenizer/load/spec_open.h"

static const struct {
    const char *file, *pattern;
    uint32_t tokens, merges, added, size, end;
    uint32_t normalizers, pre_tokenizers;
} rows[] = {
    { "r50k_base.tiktoken.zst", NULL, 50256, 0, 1, 50257, 50256, 0, 1 },
    { "cl100k_base.tiktoken.zst", NULL, 100256, 0, 5, 100277, 100257, 0, 1 },
    { "o200k_base.tiktoken.zst", NULL, 199998, 0, 2, 200019, 199999, 0, 1 },
    { "o200k_base.tiktoken.zst", "o200k_harmony", 199998, 0, 1091, 201088, 199999, 0, 1 },
    { "gpt2.tokenizer.json.zst", NULL, 50257, 50000, 1, 50257, 50256, 0, 1 },
    { "gpt4.tokenizer.json.zst", NULL, 100263, 100000, 7, 100277, 100257, 0, 2 },
    { "gpt4o.tokenizer.json.zst", NULL, 200000, 199742, 2, 200019, 199999, 0, 2 },
    { "llama3_1.tokenizer.json.zst", NULL, 128000, 280147, 256, 128256, 128001, 0, 2 },
    { "qwen2_5.tokenizer.json.zst", NULL, 151643, 151387, 22, 151665, 151643, 1, 2 },
    { "deepseek_v3.tokenizer.json.zst", NULL, 128000, 127741, 818, 128815, 1, 0, 4 },
    { "mistral_nemo.tokenizer.json.zst", NULL, 131072, 269443, 1000, 131072, 2, 0, 2 },
    { "mistral_v1.tokenizer.json.zst", NULL, 32000, 58980, 3, 32000, 2, 2, 0 },
    { "gemma2.tokenizer.json.zst", NULL, 256000, 580604, 249, 256000, 1, 1, 1 },
};

static double now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void check_builtin(const char *name, const uint8_t print[FINGERPRINT_BYTES])
{
    struct opened_spec o;

    T_OK(spec_open(&o, name, NULL, &t_err));
    T_CHECK(memcmp(o.print, print, FINGERPRINT_BYTES) == 0);
    spec_close(&o);
}

int main(void)
{
    unsigned seen = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *path = vocabulary_path(rows[i].file);
        double begin = now_ms();
        struct opened_spec o;
        uint64_t low = 0;

        if (!path)
            continue;
        seen++;
        T_OK(spec_open(&o, path, rows[i].pattern, &t_err));
        printf("%-32s %7.1f ms\n", rows[i].file, now_ms() - begin);
        T_EQ(o.spec->token_count, rows[i].tokens);
        T_EQ(o.spec->merge_count, rows[i].merges);
        T_EQ(o.spec->added_count, rows[i].added);
        T_EQ(o.spec->vocabulary_size, rows[i].size);
        T_EQ(o.spec->normalizer_count, rows[i].normalizers);
        T_EQ(o.spec->pre_tokenizer_count, rows[i].pre_tokenizers);
        for (int k = 7; k >= 0; k--)
            low = low << 8 | o.print[k];
        if (o.end.id != rows[i].end)
            T_FAIL("%s: end token %" PRIu32 ", fingerprint UINT64_C(0x%016" PRIx64 ")", rows[i].file, o.end.id, low);
        if (i < 3)
            check_builtin(i == 0 ? "gpt2" : i == 1 ? "cl100k_base" : "o200k_base", o.print);
        spec_close(&o);
    }
    if (seen == 0)
        return t_skip("no vocabularies at LEAT_VOCAB or ../shared/vocab");
    return t_end();
}
