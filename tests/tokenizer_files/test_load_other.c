/*
 * test_load_other.c: the readers of *.tiktoken, tekken.json and sentencepiece models on small files that are made here:
 * what they read, and every sentence they can refuse with.
 */
#include "t.h"

#include "tokenizer/load/load.h"
#include "tokenizer/spec/fingerprint.h"

static enum leat_status load(struct tokenizer_spec **spec, const char *path, const void *bytes, size_t size,
                             const char *pattern)
{
    struct load_source source = { .path = path, .pattern = pattern };
    uint8_t *copy = malloc(size ? size : 1); /* of exactly this size, for sanitizers */
    enum load_format format;
    enum leat_status s;

    memcpy(copy, bytes, size);
    source.bytes = copy;
    source.size = size;
    s = load_spec(spec, &format, &source, &t_err);
    free(copy);
    return s;
}

static void refused(const char *path, const void *bytes, size_t size, const char *pattern, enum leat_status status,
                    const char *sentence)
{
    struct tokenizer_spec *spec;
    enum leat_status s = load(&spec, path, bytes, size, pattern);

    if (s != status || !strstr(t_err.message, sentence))
        T_FAIL("%s: %s, \"%s\" instead of \"%s\"", path, leat_status_name(s), s ? t_err.message : "", sentence);
    spec_free(spec);
}

static int token_is(const struct tokenizer_spec *spec, uint32_t id, const char *bytes, size_t length)
{
    const struct spec_token *t = spec_find_id(spec, id);

    return t && t->length == length && memcmp(spec_token_bytes(spec, t), bytes, length) == 0;
}

static int added_is(const struct tokenizer_spec *spec, uint32_t id, const char *text)
{
    const struct spec_added *a = spec_find_added(spec, id);

    return a && a->content.length == strlen(text) && memcmp(a->content.bytes, text, a->content.length) == 0 &&
           a->special;
}

/* ---- tiktoken ---- */

static void test_tiktoken(void)
{
    static const char file[] = "YQ== 5\r\nYg==\t 0\n\n  YWI= 2  \n= 3\rgIE= 1";
    struct tokenizer_spec *spec;

    T_OK(load(&spec, "own.tiktoken", file, sizeof file - 1, "CL100K_base"));
    T_EQ(spec->model, SPEC_RANKS);
    T_EQ(spec->dialect, SPEC_RUST);
    T_CHECK(spec->byte_level);
    T_EQ(spec->token_count, 5);
    T_CHECK(token_is(spec, 5, "a", 1) && token_is(spec, 0, "b", 1) && token_is(spec, 2, "ab", 2));
    T_CHECK(token_is(spec, 3, "", 0) && token_is(spec, 1, "\x80\x81", 2) && !spec_find_id(spec, 4));
    T_EQ(spec->added_count, 0); /* it is not the published vocabulary */
    T_EQ(spec->vocabulary_size, 6);
    T_EQ(spec->pre_tokenizer_count, 1);
    T_CHECK(spec->pre_tokenizers[0].invert && spec->pre_tokenizers[0].behavior == SPEC_REMOVED);
    T_CHECK(memmem(spec->pre_tokenizers[0].pattern.text.bytes, spec->pre_tokenizers[0].pattern.text.length,
                   "\\p{N}{1,3}+", 11) != NULL);
    T_EQ(spec->normalizer_count, 0);
    spec_free(spec);
    T_OK(load(&spec, "own.tiktoken", file, sizeof file - 1, "qwen"));
    T_EQ(spec->normalizer_count, 1); /* NFC */
    spec_free(spec);
}

/* What tiktoken's load_tiktoken_bpe() takes: a byte-order mark, a sign, a token given twice, whose later rank
 * counts. */
static void test_tiktoken_odd(void)
{
    static const char file[] = "\xef\xbb\xbfYQ== 0\nYWI= +3\nYg==\t+1\nYQ== 7\n";
    struct tokenizer_spec *spec;

    T_OK(load(&spec, "own.tiktoken", file, sizeof file - 1, "gpt2"));
    T_EQ(spec->token_count, 3);
    T_CHECK(token_is(spec, 7, "a", 1) && token_is(spec, 1, "b", 1) && token_is(spec, 3, "ab", 2));
    T_CHECK(!spec_find_id(spec, 0));
    T_EQ(spec->vocabulary_size, 8);
    spec_free(spec);
    refused("x.tiktoken", "YQ== 0\nYg== ++1\n", 16, "gpt2", LEAT_E_VOCABULARY, "missing rank after the token");
    refused("x.tiktoken", "YQ== 0\nYg== 0\n", 14, "gpt2", LEAT_E_VOCABULARY, "two tokens have the id 0");
}

#define TEN       "abcdefghij"
#define LONG_NAME TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void test_tiktoken_refusals(void)
{
    static const struct {
        const char *path, *file, *pattern;
        enum leat_status status;
        const char *sentence;
    } rows[] = {
        { "x.tiktoken", "YQ== 0\n", NULL, LEAT_E_ARGUMENT, "which pattern splits text; choose one of gpt2, r50k_base" },
        { "x.tiktoken", "YQ== 0\n", "foo", LEAT_E_ARGUMENT, "unknown pattern foo; choose one of gpt2" },
        { "cl100k_base.tiktoken", "YQ== 0\n", NULL, LEAT_E_VOCABULARY,
          "has 1 tokens, but the published cl100k_base has 100256" },
        { LONG_NAME ".tiktoken", "YQ== 0\n", NULL, LEAT_E_ARGUMENT, "which pattern splits text" },
        { "dir/QWEN.tiktoken.zst", "YQ== 0\n", NULL, LEAT_E_VOCABULARY, "the published qwen has 151643" },
        { "dir/tiktoken.model", "YQ== 0\n", NULL, LEAT_E_VOCABULARY, "the published kimi has 163584" },
        { "x.tiktoken", "YQ== 0\nYQ=x 1\n", "gpt2", LEAT_E_VOCABULARY, "line 2: the token is not base64 (byte 7)" },
        { "x.tiktoken", "YQ== 0\nYQ 1\n", "gpt2", LEAT_E_VOCABULARY, "line 2: the token is not base64" },
        { "x.tiktoken", "YQ== 0\nYg==\n", "gpt2", LEAT_E_VOCABULARY, "line 2: missing rank after the token" },
        { "x.tiktoken", "YQ== 0\nYg== x\n", "gpt2", LEAT_E_VOCABULARY, "line 2: missing rank after the token" },
        { "x.tiktoken", "YQ== 0\nYg== -1\n", "gpt2", LEAT_E_VOCABULARY, "line 2: missing rank" },
        { "x.tiktoken", "YQ== 0\nYg== 1 2\n", "gpt2", LEAT_E_VOCABULARY, "line 2: unexpected text after the rank" },
        { "x.tiktoken", "YQ== 0\nYg== 1x\n", "gpt2", LEAT_E_VOCABULARY, "line 2: unexpected text after the rank" },
        { "x.tiktoken", "YQ== 16777216\n", "gpt2", LEAT_E_VOCABULARY, "ranks above 16777215" },
        { "x.tiktoken", "YQ== 99999999999999999999999\n", "gpt2", LEAT_E_VOCABULARY, "ranks above 16777215" },
        { "x.tiktoken", "YQ== 3\nYg== 3\n", "gpt2", LEAT_E_VOCABULARY, "two tokens have the id 3" },
        { "x.json", "{\"model\":{}}", "gpt2", LEAT_E_ARGUMENT, "a pattern applies only to *.tiktoken files" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        refused(rows[i].path, rows[i].file, strlen(rows[i].file), rows[i].pattern, rows[i].status, rows[i].sentence);
}

/* The arguments of tiktoken's Encoding. */
static void test_encoding(void)
{
    static const char file[] = "{\"pat_str\":\"[a-z]+|\\\\s\",\"mergeable_ranks\":\"YQ== 0\\nYg== 1\\nYWI= 4\\n\","
                               "\"special_tokens\":{\"<|b|>\":9,\"<|a\\n|>\":7}}";
    static const struct {
        const char *file, *sentence;
    } rows[] = {
        { "{\"mergeable_ranks\":\"YQ== 0\"}", "an encoding must have the strings" },
        { "{\"pat_str\":1,\"mergeable_ranks\":\"YQ== 0\",\"special_tokens\":{}}", "must have the strings" },
        { "{\"pat_str\":\"a\",\"mergeable_ranks\":{},\"special_tokens\":{}}", "must have the strings" },
        { "{\"pat_str\":\"a\",\"mergeable_ranks\":\"YQ== 0\",\"special_tokens\":[]}", "must have the strings" },
        { "{\"pat_str\":\"a\\u0000\",\"mergeable_ranks\":\"YQ== 0\",\"special_tokens\":{}}", "holds a NUL" },
        { "{\"pat_str\":\"a\",\"mergeable_ranks\":\"\",\"special_tokens\":{}}", "the file has no tokens" },
        { "{\"pat_str\":\"a\",\"mergeable_ranks\":\"YQ== 0\\nY 1\",\"special_tokens\":{}}",
          "line 2: the token is not" },
        { "{\"pat_str\":\"a\",\"mergeable_ranks\":\"YQ== 0\",\"special_tokens\":{\"x\":0}}", "the id 0 is that of" },
        { "{\"pat_str\":\"a\",\"mergeable_ranks\":\"YQ== 0\",\"special_tokens\":{\"\":1}}",
          "a special token is empty" },
        { "{\"pat_str\":\"a\",\"mergeable_ranks\":\"YQ== 0\",\"special_tokens\":{\"x\":-1}}", "is not a whole number" },
        { "{\"pat_str\":\"a\",\"mergeable_ranks\":\"YQ== 0\",\"special_tokens\":{\"x\":16777216}}",
          "not a whole number" },
        { "{\"pat_str\":\"a\",\"mergeable_ranks\":\"YQ== 0\",\"special_tokens\":{\"x\":1,\"x\":2}}", "appears twice" },
    };
    struct tokenizer_spec *spec;

    T_OK(load(&spec, "mine", file, sizeof file - 1, NULL));
    T_EQ(spec->model, SPEC_RANKS);
    T_EQ(spec->reference, SPEC_TIKTOKEN);
    T_CHECK(spec->token_count == 3 && token_is(spec, 0, "a", 1) && token_is(spec, 4, "ab", 2));
    T_CHECK(spec->added_count == 2 && added_is(spec, 7, "<|a\n|>") && added_is(spec, 9, "<|b|>"));
    T_EQ(spec->vocabulary_size, 10);
    T_EQ(spec->pre_tokenizers[0].pattern.text.length, strlen("[a-z]+|\\s"));
    T_CHECK(memcmp(spec->pre_tokenizers[0].pattern.text.bytes, "[a-z]+|\\s", strlen("[a-z]+|\\s")) == 0);
    spec_free(spec);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        refused("mine", rows[i].file, strlen(rows[i].file), NULL, LEAT_E_VOCABULARY, rows[i].sentence);
}

/* Special tokens that stand beside it, in tokenizer_config.json. */
static void test_tiktoken_config(void)
{
    static const char file[] = "YQ== 0\nYg== 1\n";
    static const char json[] = "{\"added_tokens_decoder\":{\"7\":{\"content\":\"[EOS]\"},\"1\":{\"content\":\"b\"},"
                               "\"5\":{\"content\":\"[BOS]\",\"special\":true}}}";
    static const char wrong[] = "{\"added_tokens_decoder\":{\"x\":{\"content\":\"[EOS]\"}}}";
    struct load_source source = {
        .path = "t.tiktoken", .bytes = (const uint8_t *)file, .size = sizeof file - 1, .pattern = "kimi"
    };
    struct tokenizer_spec *spec;
    enum load_format format;
    struct jsontree config;

    T_OK(jsontree_parse(&config, (const uint8_t *)json, sizeof json - 1, "tokenizer_config.json", &t_err));
    source.config = &config;
    T_OK(load_spec(&spec, &format, &source, &t_err));
    T_EQ(format, LOAD_TIKTOKEN);
    T_CHECK(spec->added_count == 2 && added_is(spec, 5, "[BOS]") && added_is(spec, 7, "[EOS]"));
    T_EQ(spec->vocabulary_size, 8);
    spec_free(spec);
    jsontree_free(&config);
    T_OK(jsontree_parse(&config, (const uint8_t *)wrong, sizeof wrong - 1, "tokenizer_config.json", &t_err));
    T_REFUSED(load_spec(&spec, &format, &source, &t_err), LEAT_E_VOCABULARY,
              "tokenizer_config.json: an entry of \"added_tokens_decoder\"");
    jsontree_free(&config);
}

/* ---- tekken ---- */

/* A file of 256 bytes and "ab", "abc"; `config` and `special` are members' texts. */
static char *tekken(const char *config, const char *special)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static char json[65536];
    char *end = json + sizeof json,
         *p = json + snprintf(json, sizeof json, "{\"config\":{%s}%s,\"vocab\":[", config, special);

    for (int b = 0; b < 256; b++)
        p += snprintf(p, (size_t)(end - p), "{\"rank\":%d,\"token_bytes\":\"%c%c==\",\"token_str\":null},", b,
                      letters[b >> 2], letters[(b & 3) << 4]);
    snprintf(p, (size_t)(end - p),
             "{\"rank\":256,\"token_bytes\":\"YWI=\",\"token_str\":\"ab\"},"
             "{\"rank\":257,\"token_bytes\":\"YWJj\",\"token_str\":\"abc\"}]}");
    return json;
}

#define CONFIG(size, special, version)                                                                                 \
    "\"pattern\":\"a+\",\"num_vocab_tokens\":258,\"default_vocab_size\":" #size                                        \
    ",\"default_num_special_tokens\":" #special ",\"version\":\"" version "\""
#define SPECIALS ",\"special_tokens\":[{\"rank\":1,\"token_str\":\"</s>\"},{\"rank\":0,\"token_str\":\"<unk>\"}]"

static void test_tekken(void)
{
    struct tokenizer_spec *spec;
    char *json = tekken(CONFIG(261, 4, "v11"), SPECIALS);

    T_OK(load(&spec, "tekken.json", json, strlen(json), NULL));
    T_EQ(spec->model, SPEC_RANKS);
    T_EQ(spec->token_count, 257); /* cut to 261 - 4 */
    T_CHECK(token_is(spec, 4, "\0", 1) && token_is(spec, 259, "\xff", 1) && token_is(spec, 260, "ab", 2));
    T_CHECK(spec->added_count == 4 && added_is(spec, 1, "</s>") && added_is(spec, 0, "<unk>"));
    T_CHECK(added_is(spec, 2, "<SPECIAL_2>") && added_is(spec, 3, "<SPECIAL_3>"));
    T_EQ(spec->vocabulary_size, 261);
    T_CHECK(spec->pre_tokenizers[0].pattern.regex && spec->pre_tokenizers[0].pattern.text.length == 2);
    spec_free(spec);

    json = tekken(CONFIG(280, 22, "v3"), ",\"special_tokens\":null");
    T_OK(load(&spec, "tekken.json", json, strlen(json), NULL));
    T_CHECK(spec->added_count == 22 && added_is(spec, 2, "</s>") && added_is(spec, 19, "[TOOL_CONTENT]"));
    T_CHECK(added_is(spec, 20, "<SPECIAL_20>") && added_is(spec, 17, "[SYSTEM_PROMPT]"));
    spec_free(spec);
}

static void test_tekken_refusals(void)
{
    static const struct {
        const char *config, *special, *from, *to, *sentence;
    } rows[] = {
        { CONFIG(263, 4, "v11"), SPECIALS, "", "", "above the number of tokens" },
        { CONFIG(3, 4, "v11"), SPECIALS, "", "", "is below the number of special tokens" },
        { CONFIG(261, 1, "v11"), SPECIALS, "", "", "above the number of tokens" },
        { CONFIG(258, 1, "v11"), SPECIALS, "", "", "below the number of special tokens" },
        { CONFIG(261, 4, "v11"), "", "", "", "missing \"special_tokens\"" },
        { CONFIG(261, 4, "v3"), "", "", "", "below the number of special tokens" },
        { CONFIG(261, 4, "v3"), ",\"special_tokens\":7", "", "", "\"special_tokens\" must be an array" },
        { CONFIG(261, 4, "v11"), SPECIALS, "\"pattern\"", "\"pattirn\"", "a string \"pattern\"" },
        { CONFIG(261, 4, "v11"), SPECIALS, "\"version\"", "\"versiin\"", "a string \"version\"" },
        { CONFIG(261, -4, "v11"), SPECIALS, "", "", "a whole number \"default_num_special_tokens\"" },
        { CONFIG(261, 4, "v11"), SPECIALS, "\"rank\":70", "\"rank\":71", "must be 0, 1, 2, ... in order" },
        { CONFIG(261, 4, "v11"), SPECIALS, "\"AQ==\"", "\"AR!=\"", "\"token_bytes\" is not base64" },
        { CONFIG(261, 4, "v11"), SPECIALS, "\"AQ==\"", "\"AA==\"", "the first 256 tokens must be the bytes" },
        { CONFIG(261, 4, "v11"), SPECIALS, "\"YWI=\"", "\"YQ==\"", "this token appears twice in the file" },
        { CONFIG(261, 4, "v11"), SPECIALS, "\"token_bytes\"", "\"tokin_bytes\"", "must have a \"rank\" and" },
        { CONFIG(261, 4, "v11"), SPECIALS, "\"<unk>\"", "\"</s>\"", "appears twice in the file" },
        { CONFIG(261, 4, "v11"), SPECIALS, "\"<unk>\"", "\"<SPECIAL_2>\"", "appears twice in the file" },
        { CONFIG(261, 4, "v11"), SPECIALS, "\"rank\":1,", "\"rank\":0,", "must differ" },
        { CONFIG(261, 4, "v11"), SPECIALS, "\"rank\":1,", "\"rank\":4,", "must differ, and be below" },
        { CONFIG(261, 4, "v11"), SPECIALS, "\"token_str\":\"</s>\"", "\"x\":\"\"",
          "a \"rank\" and a string \"token_str\"" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *json = tekken(rows[i].config, rows[i].special), *at = strstr(json, rows[i].from), changed[65536];

        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - json), json, rows[i].to, at + strlen(rows[i].from));
        refused("tekken.json", changed, strlen(changed), NULL, LEAT_E_VOCABULARY, rows[i].sentence);
    }
}

/* ---- sentencepiece ---- */

struct model {
    uint8_t bytes[16384];
    size_t size;
};

static void put_piece(struct model *m, const char *text, float score, int type)
{
    size_t length = strlen(text);
    uint8_t *p = m->bytes + m->size;

    *p++ = 0x0a;
    *p++ = (uint8_t)(length + 2 + 5 + (type ? 2 : 0));
    *p++ = 0x0a;
    *p++ = (uint8_t)length;
    memcpy(p, text, length);
    p += length;
    *p++ = 0x15;
    memcpy(p, &score, 4); /* tests run where numbers are little-endian, or the score is 0 */
    p += 4;
    if (type) {
        *p++ = 0x18;
        *p++ = (uint8_t)type;
    }
    m->size = (size_t)(p - m->bytes);
}

static void put(struct model *m, const char *bytes, size_t length)
{
    memcpy(m->bytes + m->size, bytes, length);
    m->size += length;
}

#define PUT(m, text) put(m, text, sizeof text - 1)
#define BPE_MODEL    "\x12\x02\x18\x02"

static void test_sentencepiece(void)
{
    struct model m = { .size = 0 };
    struct tokenizer_spec *spec;

    put_piece(&m, "<unk>", 0, 2);
    put_piece(&m, "<s>", 0, 3);
    put_piece(&m, "ab", 0, 0);
    put_piece(&m, "a", 0, 1);
    put_piece(&m, "user", 0, 4);
    put_piece(&m, "b", 0, 5);
    put_piece(&m, "<s>x", 0, 9); /* a type of the future is a normal one */
    PUT(&m, "\x12\x0e\x18\x02\xd0\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"); /* BPE; end: -1 */
    PUT(&m, "\x12\x03\xc8\x02\x04");                                             /* begin: 4 */
    PUT(&m, "\x12\x05\xe2\x02\x02?!");                                           /* what unknown decodes to */
    PUT(&m, "\x1a\x06\x18\x00\x20\x00\x28\x00");
    PUT(&m, "\x2a\x0c\x12\x0a\x04\x00\x00\x00\x01\x00\x00\x00z\x00");
    PUT(&m, "\x22\x00\xfa\x01\x03xyz\xf8\x01\x07"); /* self-test data and unknown fields */
    T_OK(load(&spec, "m.model", m.bytes, m.size, NULL));
    T_EQ(spec->model, SPEC_SCORES);
    T_EQ(spec->token_count, 7);
    T_CHECK(spec->tokens[0].type == SPEC_UNKNOWN && spec->tokens[1].type == SPEC_CONTROL);
    T_CHECK(spec->tokens[2].type == SPEC_NORMAL && spec->tokens[4].type == SPEC_USER_DEFINED);
    T_CHECK(spec->tokens[5].type == SPEC_UNUSED && spec->tokens[6].type == SPEC_NORMAL);
    T_CHECK(token_is(spec, 2, "ab", 2) && spec->unknown == 0 && spec->scores[2] == 0);
    T_CHECK(!spec->byte_fallback);
    T_CHECK(!spec->sentencepiece.add_dummy_prefix && !spec->sentencepiece.remove_extra_whitespaces &&
            !spec->sentencepiece.escape_whitespaces);
    T_CHECK(spec->sentencepiece.charsmap.length == 0 && spec->sentencepiece.denormalizer.length == 10);
    T_EQ(spec->sentencepiece.unknown_surface.length, 2);
    spec_free(spec);
}

static void test_sentencepiece_bytes(void)
{
    struct model m = { .size = 0 };
    struct tokenizer_spec *spec;

    put_piece(&m, "<unk>", 0, 2);
    for (unsigned b = 0; b < 256; b++) {
        put_piece(&m, t_text("<0x%02X>", b), 0, 6);
    }
    PUT(&m, "\x12\x05\x18\x02\x98\x02\x01");
    T_OK(load(&spec, "m.model", m.bytes, m.size, NULL));
    T_CHECK(spec->byte_fallback && spec->tokens[1].type == SPEC_BYTE && spec->sentencepiece.add_dummy_prefix);
    spec_free(spec);
    PUT(&m, "\x12\x03\x98\x02\x00"); /* a later field wins */
    refused("m.model", m.bytes, m.size, NULL, LEAT_E_VOCABULARY, "byte_fallback is not set");
}

static void test_sentencepiece_refusals(void)
{
    static const struct {
        const char *piece;
        int type;
        const char *rest;
        size_t rest_bytes;
        enum leat_status status;
        const char *sentence;
    } rows[] = {
        { "a", 1,
          BPE_MODEL "\x1a\x05\x12\x03"
                    "abc",
          11, LEAT_E_VOCABULARY, "the form of a compiled map" },
        { "a", 1, BPE_MODEL "\x0a\x02\x0a", 7, LEAT_E_VOCABULARY, "past the end of its message" },
        { "a", 1, BPE_MODEL "\x0a\x03\x0a\x02x", 9, LEAT_E_VOCABULARY, "past the end of its message" },
        { "a", 1, BPE_MODEL "\x0b", 5, LEAT_E_VOCABULARY, "a field of unknown type" },
        { "a", 1, BPE_MODEL "\x0a\x00", 6, LEAT_E_VOCABULARY, "a token without text" },
        /* as a character it would be the two-millionth: beyond a table of those that there are */
        { "a", 1, BPE_MODEL "\x0a\x06\x0a\x04\xf7\xbf\xbf\xbf", 12, LEAT_E_VOCABULARY,
          "a token that is not valid UTF-8" },
        { "\xe2\x82", 1, BPE_MODEL, 4, LEAT_E_VOCABULARY, "a token that is not valid UTF-8" },
        { "a", 1,
          BPE_MODEL "\x0a\x03\x0a\x01"
                    "a",
          9, LEAT_E_VOCABULARY, "this token appears twice in the file" },
        { "a", 3, /* so a control piece, and what text can match */
          BPE_MODEL "\x0a\x03\x0a\x01"
                    "a",
          9, LEAT_E_VOCABULARY, "this token appears twice in the file" },
        { "<unk>", 1, BPE_MODEL, 4, LEAT_E_VOCABULARY, "this token appears twice in the file" },
        { "a", 1,
          BPE_MODEL "\x0a\x08\x0a\x01"
                    "x\x15\x00\x00\xc0\x7f",
          14, LEAT_E_VOCABULARY, "a token whose score is not a number" },
        { "a", 2, BPE_MODEL, 4, LEAT_E_VOCABULARY, "a second token of type unknown" },
        { "a", 6, BPE_MODEL, 4, LEAT_E_VOCABULARY, "a token of type byte has a name other than" },
        { "<0x0a>", 6, BPE_MODEL, 4, LEAT_E_VOCABULARY, "a token of type byte has a name other than" },
        { "<0x0A>", 6, BPE_MODEL, 4, LEAT_E_VOCABULARY, "byte_fallback is not set" },
        { "a", 1, "\x12\x05\x18\x02\x98\x02\x01", 7, LEAT_E_VOCABULARY, "some of the 256 byte tokens are missing" },
    };
    struct model m = { .size = 0 };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        m.size = 0;
        put_piece(&m, "<unk>", 0, 2);
        put_piece(&m, rows[i].piece, 0, rows[i].type);
        put(&m, rows[i].rest, rows[i].rest_bytes);
        refused("m.model", m.bytes, m.size, NULL, rows[i].status, rows[i].sentence);
    }
    m.size = 0;
    put_piece(&m, "a", 0, 1);
    PUT(&m, BPE_MODEL);
    refused("m.model", m.bytes, m.size, NULL, LEAT_E_VOCABULARY, "no token has the type unknown");
}

/* Texts are compared some at a time: one given twice is found wherever it stands, and among how many. */
static void test_sentencepiece_twice(void)
{
    struct model m;

    for (unsigned twice = 1; twice <= 70; twice++) {
        m.size = 0;
        put_piece(&m, "<unk>", 0, 2);
        for (unsigned i = 0; i <= 70; i++) {
            put_piece(&m, t_text("%u", i == twice ? i / 2 : i), 0, 1);
        }
        PUT(&m, BPE_MODEL);
        refused("m.model", m.bytes, m.size, NULL, LEAT_E_VOCABULARY, "this token appears twice in the file");
    }
}

int main(void)
{
    test_tiktoken();
    test_tiktoken_odd();
    test_tiktoken_refusals();
    test_tiktoken_config();
    test_encoding();
    test_tekken();
    test_tekken_refusals();
    test_sentencepiece();
    test_sentencepiece_bytes();
    test_sentencepiece_refusals();
    test_sentencepiece_twice();
    return t_end();
}
