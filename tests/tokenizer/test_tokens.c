/*
 * test_tokens.c: leat_tokenizer_token() of every id is what decoding it gives, and what leat_tokenizer_find() leads
 * back from; bytes, added and special tokens are told apart; holes and ids past the end are LEAT_E_RANGE.
 */
#include "leat_pack.h"
#include "t.h"

static const char vocabulary[] =
    "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"\\u0120\":1,\"\\u0120a\":2,\"\\u00c3\":3,\"\\u2581x\":4},"
    "\"merges\":[\"\\u0120 a\"]},\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
    "\"trim_offsets\":true,\"use_regex\":true},\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,"
    "\"trim_offsets\":true,\"use_regex\":true},\"added_tokens\":["
    "{\"id\":5,\"content\":\"<end>\",\"special\":true,\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
    "\"normalized\":false},{\"id\":6,\"content\":\"<think>\",\"special\":false,\"single_word\":false,\"lstrip\":false,"
    "\"rstrip\":false,\"normalized\":false}]}";

static struct leat_token get(const struct leat_tokenizer *t, uint32_t id)
{
    struct leat_token token = LEAT_TOKEN_INIT;

    T_OK(leat_tokenizer_token(t, id, &token, &t_err));
    return token;
}

static void check(const struct leat_tokenizer *t, uint32_t id, const char *text, uint32_t bytewise, uint32_t added,
                  uint32_t special)
{
    struct leat_token token = get(t, id);

    T_EQ(token.bytes, strlen(text));
    T_CHECK(memcmp(token.text, text, strlen(text)) == 0);
    T_EQ(token.bytewise, bytewise);
    T_EQ(token.added, added);
    T_EQ(token.special, special);
}

static void test_made(void)
{
    const char *path = t_path(t_folder(), "tokenizer.json");
    FILE *f = fopen(path, "wb");
    struct leat_token token = LEAT_TOKEN_INIT;
    struct leat_tokenizer *t;

    T_CHECK(f && fputs(vocabulary, f) >= 0 && fclose(f) == 0);
    T_OK(leat_tokenizer_open(&t, path, NULL, &t_err));
    check(t, 2, " a", 1, 0, 0);
    check(t, 3, "\xc3", 1, 0, 0);
    check(t, 4, "\xe2\x96\x81x", 0, 0, 0); /* a letter outside the bytes' alphabet: as it stands */
    check(t, 5, "<end>", 0, 1, 1);
    check(t, 6, "<think>", 0, 1, 0);
    T_REFUSED(leat_tokenizer_token(t, 7, &token, &t_err), LEAT_E_RANGE, "tokenizer.json has no token with the id 7");
    leat_tokenizer_close(t);
    T_OK(leat_tokenizer_open(&t, "cl100k_base", NULL, &t_err));
    T_STATUS(leat_tokenizer_token(t, 100256, &token, &t_err), LEAT_E_RANGE); /* a hole */
    leat_tokenizer_close(t);
}

/* Added tokens that are looked for in normalized text are called by their normalized text. */
static void test_names(void)
{
    static const char lowered[] =
        "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1},\"merges\":[]},\"normalizer\":{\"type\":"
        "\"Lowercase\"},"
        "\"added_tokens\":[{\"id\":2,\"content\":\"<A>\",\"special\":true,\"single_word\":false,\"lstrip\":false,"
        "\"rstrip\":false,\"normalized\":true},{\"id\":3,\"content\":\"<b>\",\"special\":true,\"single_word\":false,"
        "\"lstrip\":false,\"rstrip\":false,\"normalized\":true},{\"id\":4,\"content\":\"<C>\",\"special\":true,"
        "\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false}]}";
    const char *path = t_path(t_folder(), "lowered.json");
    FILE *f = fopen(path, "wb");
    struct leat_tokenizer *t;

    T_CHECK(f && fputs(lowered, f) >= 0 && fclose(f) == 0);
    T_OK(leat_tokenizer_open(&t, path, NULL, &t_err));
    check(t, 2, "<A>", 0, 1, 1);
    T_EQ(get(t, 2).name_bytes, 3);
    T_CHECK(get(t, 2).name && memcmp(get(t, 2).name, "<a>", 3) == 0);
    for (uint32_t id = 0; id < 5; id++)
        T_CHECK(id == 2 || (!get(t, id).name && get(t, id).name_bytes == 0));
    leat_tokenizer_close(t);
}

/* A caller that was compiled when the struct was shorter. */
static void test_short_struct(void)
{
    struct leat_token token = LEAT_TOKEN_INIT;
    struct leat_tokenizer *t;

    T_OK(leat_tokenizer_open(&t, "gpt2", NULL, &t_err));
    token.size = offsetof(struct leat_token, added);
    token.special = 77;
    T_OK(leat_tokenizer_token(t, 50256, &token, &t_err));
    T_EQ(token.bytes, strlen("<|endoftext|>"));
    T_EQ(token.special, 77);
    leat_tokenizer_close(t);
}

static void test_all(const char *name, uint32_t specials)
{
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    uint32_t found = 0, id;

    T_OK(leat_tokenizer_open(&t, name, NULL, &t_err));
    T_OK(leat_encoder_open(&e, t, NULL, &t_err));
    leat_tokenizer_info(t, &info);
    for (uint32_t i = 0; i < info.vocabulary; i++) {
        struct leat_token token = LEAT_TOKEN_INIT;
        const char *text;
        uint64_t bytes;

        if (leat_tokenizer_token(t, i, &token, NULL) != LEAT_OK)
            continue;
        T_OK(leat_encoder_decode(e, &i, 1, &text, &bytes, &t_err));
        if (bytes != token.bytes || memcmp(text, token.text, (size_t)bytes) != 0)
            T_FAIL("%s: token %u is not what it decodes to", name, i);
        found += token.special;
        if (i % 1009 == 0 || token.special) { /* finding is a search through all */
            T_OK(leat_tokenizer_find(t, token.text, token.bytes, &id, &t_err));
            T_EQ(id, i);
        }
    }
    T_EQ(found, specials);
    leat_encoder_close(e);
    leat_tokenizer_close(t);
}

int main(void)
{
    test_made();
    test_names();
    test_short_struct();
    test_all("bytes", 1);
    test_all("gpt2", 1);
    test_all("cl100k_base", 5);
    test_all("o200k_base", 2);
    return t_end();
}
