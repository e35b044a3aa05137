/*
 * test_odd_tokens.c: small vocabulary files with odd tokens, as test_odd_files.c has them: of single bytes, empty, very
 * long, added ones among these, two with one id, the bytes that Unigram falls back to; texts of one long run, cut late,
 * and with little memory.
 */
#include "odd_files.h"

/* Merges of the tokens that a character's bytes fall back to; what tokenizers gives. */
static void test_merged_bytes(void)
{
    static const uint32_t wanted[] = { 3, 3, 0, 5 };
    struct opened o = opened(file_with("tokenizer.json",
                                       "{\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{\"a\":0,"
                                       "\"<0xC3>\":1,\"<0xA9>\":2,\"<0xC3><0xA9>\":3,\"<0xA8>\":4,\"ab\":5,\"b\":6},"
                                       "\"merges\":[\"<0xC3> <0xA9>\",\"a b\"]}}"),
                             NULL);

    encodes(&o, "\xc3\xa9", "3 ");
    encodes(&o, "\xc3\xa8", "1 4 ");
    encodes_many(&o,
                 "\xc3\xa9\xc3\xa9"
                 "aab",
                 20000, wanted, 4);
    closed(&o);
}

/* An empty token is of no text; merges with it are never made. As in tokenizers. */
static void test_empty_token(void)
{
    static const uint32_t ab = 2;
    struct opened o =
        opened(file_with("tokenizer.json", "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"\":3},"
                                           "\"merges\":[[\"\",\"a\"],[\"a\",\"\"],[\"a\",\"b\"]]}}"),
               NULL);

    encodes(&o, "abb", "2 1 ");
    encodes_many(&o, "ab", 50000, &ab, 1);
    closed(&o);
    o = opened(file_with("tokenizer.json", /* here no merge can be told to be dead, for the unknown token has one */
                         "{\"model\":{\"type\":\"BPE\",\"unk_token\":\"b\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\"\":3},"
                         "\"merges\":[[\"\",\"a\"],[\"a\",\"\"],[\"a\",\"b\"]]}}"),
               NULL);
    encodes(&o, "abb", "2 1 ");
    encodes_many(&o, "ab", 50000, &ab, 1);
    closed(&o);
}

/* A Unigram model falls back to the bytes that a byte-level text is written with, if all have tokens; and one that has
 * no token to find. As in tokenizers 0.23.3. */
static void test_unigram_bytes(void)
{
#define UNIGRAM "\"model\":{\"type\":\"Unigram\",\"unk_id\":0,"
    static const struct {
        unsigned bytes;
        const char *text, *ids;
    } rows[] = {
        { 256, "a\xc3\xa9", "1 197 133 196 171 " },
        { 256, "b", "100 " },
        { 256, "a b\n", "1 198 162 100 198 140 " },
        { 128, "a\xc3\xa9", "1 0 " },
        { 128, "b", "100 " },
        { 128, "a b\n", "1 0 " },
    };
    static const uint32_t unknown = 0;
    static char json[8192];
    struct opened o;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t used = (size_t)snprintf(json, sizeof json,
                                       "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
                                       "\"trim_offsets\":false,\"use_regex\":false}," UNIGRAM
                                       "\"byte_fallback\":true,\"vocab\":[[\"<unk>\",0],[\"a\",-1]");

        for (unsigned b = 0; b < rows[i].bytes; b++)
            used += (size_t)snprintf(json + used, sizeof json - used, ",[\"<0x%02X>\",-5]", b);
        snprintf(json + used, sizeof json - used, "]}}");
        o = opened(file_with("tokenizer.json", json), NULL);
        encodes(&o, rows[i].text, rows[i].ids);
        closed(&o);
    }
    o = opened(file_with("tokenizer.json",
                         "{\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"}," UNIGRAM "\"vocab\":[[\"\",0]]}}"),
               NULL);
    encodes(&o, "xyz a xyz ", "0 0 0 ");
    closed(&o);
    o = opened(file_with("tokenizer.json", "{" UNIGRAM "\"vocab\":[[\"\",0]]}}"), NULL);
    encodes(&o, "xyz a xyz ", "0 ");
    closed(&o);
    o = opened(file_with("tokenizer.json",
                         "{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\","
                         "\"prepend_scheme\":\"always\",\"split\":true}," UNIGRAM "\"vocab\":[[\"\",0]]}}"),
               NULL);
    encodes_many(&o, " xyz", 400, &unknown, 1);
    closed(&o);
}

/* Two special tokens with one id, as tiktoken takes them: the last of their texts is what the id stands for, also where
 * ids lie so far apart that they are searched for. */
static void test_shared_id(void)
{
    static const uint32_t ids[] = { 3, 3000000 };

    for (size_t i = 0; i < 2; i++) {
        const char *text;
        struct leat_encoder_options special = LEAT_ENCODER_OPTIONS_INIT;
        struct opened o;
        uint64_t bytes;

        o = opened(
            file_with(
                "mine.json",
                t_text("{\"pat_str\":\"a|b\",\"mergeable_ranks\":\"YQ== 0\\nYg== 1\\n\",\"special_tokens\":{\"<y>\":%u,"
                       "\"<x>\":%u,\"<z>\":%u}}",
                       (unsigned)ids[i], (unsigned)ids[i], (unsigned)ids[i] + 1)),
            NULL);
        leat_encoder_close(o.encoder);
        special.special = 1;
        T_OK(leat_encoder_open(&o.encoder, o.tokenizer, &special, &t_err));
        T_OK(leat_encoder_decode(o.encoder, &ids[i], 1, &text, &bytes, &t_err));
        T_STR(text, "<y>");
        encodes(&o, "<x>a<y>", t_text("%u 0 %u ", (unsigned)ids[i], (unsigned)ids[i]));
        closed(&o);
    }
}

/* A run of which a block becomes one token, so that blocks cannot be told apart: from the left as many of the longest
 * as there are, then one of each length of which the rest is made up. */
static void test_one_long_run(void)
{
    enum { LENGTHS = 15, RUN = 40000 };
    static char as[RUN], json[1 << 18];
    size_t used = (size_t)snprintf(json, sizeof json, "{\"model\":{\"type\":\"BPE\",\"vocab\":{");
    const uint32_t *ids;
    struct opened o;
    uint64_t count, at = 0;

    memset(as, 'a', sizeof as);
    for (int i = 0; i < LENGTHS; i++)
        used += (size_t)snprintf(json + used, sizeof json - used, "%s\"%.*s\":%d", i ? "," : "", 1 << i, as, i);
    used += (size_t)snprintf(json + used, sizeof json - used, "},\"merges\":[");
    for (int i = 0; i < LENGTHS - 1; i++)
        used +=
            (size_t)snprintf(json + used, sizeof json - used, "%s\"%.*s %.*s\"", i ? "," : "", 1 << i, as, 1 << i, as);
    snprintf(json + used, sizeof json - used, "]}}");
    o = opened(file_with("tokenizer.json", json), NULL);
    T_OK(leat_encoder_encode(o.encoder, as, RUN, &ids, &count, &t_err));
    for (int i = LENGTHS - 1; i >= 0; i--)
        for (uint64_t left = i == LENGTHS - 1 ? RUN >> i : RUN >> i & 1; left > 0; left--, at++)
            T_CHECK(at < count && ids[at] == (uint32_t)i);
    T_EQ(at, count);
    closed(&o);
}

/* All bytes as tokens to fall back to, then what is given. */
static struct opened with_bytes(const char *parts, const char *model, const char *vocabulary)
{
    static char json[200000];
    size_t used = (size_t)snprintf(json, sizeof json, "{%s\"model\":{\"type\":\"BPE\",%s\"vocab\":{", parts, model);

    for (unsigned b = 0; b < 256; b++)
        used += (size_t)snprintf(json + used, sizeof json - used, "\"<0x%02X>\":%u,", b, b);
    snprintf(json + used, sizeof json - used, "%s}}", vocabulary);
    return opened(file_with("tokenizer.json", json), NULL);
}

/* An added token that is longer than a batch of pieces, among others, where pieces and tokens go together. */
static void test_long_added_token(void)
{
    enum { LONG = 70000 };
    static char xs[LONG + 1], parts[LONG + 1024];
    struct opened o;

    memset(xs, 'x', LONG);
#define ADDED(id, content)                                                                                             \
    "{\"id\":" id ",\"content\":\"" content "\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"              \
    "\"normalized\":false,\"special\":false}"
    snprintf(parts, sizeof parts,
             "\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":\"\\u2581\"},"
             "\"added_tokens\":[" ADDED("260", "%s") "," ADDED("261", "<y>") "],",
             xs);
#undef ADDED
    o = with_bytes(parts, "\"byte_fallback\":true,",
                   "\"a\":256,\"b\":257,\"ab\":258,\"\\u2581\":259},\"merges\":[\"a b\"]");
    encodes(&o, t_text("a<y>b%sab<y>%s<y>a", xs, xs), "256 261 257 260 258 261 260 261 256 ");
    closed(&o);
}

/* A piece of which the first place where it can be cut lies beyond a batch. */
static void test_late_cut(void)
{
    enum { ASCII = 40000, AFTER = 3 };
    static char text[ASCII + 3 * AFTER + 1];
    const uint32_t *ids;
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    uint64_t count, wanted;

    T_OK(leat_tokenizer_open(&t, "gpt2", NULL, &t_err));
    T_OK(leat_encoder_open(&e, t, NULL, &t_err));
    memset(text, 'a', ASCII);
    T_OK(leat_encoder_encode(e, text, ASCII, &ids, &wanted, &t_err));
    for (int i = 0; i < AFTER; i++)
        memcpy(text + ASCII + 3 * i, "\xe4\xb8\xad", 3);
    T_OK(leat_encoder_encode(e, text, ASCII + 3 * AFTER, &ids, &count, &t_err));
    T_CHECK(count == wanted + AFTER && ids[count - 1] == 40792 && ids[count - 2] == 40792);
    leat_encoder_close(e);
    leat_tokenizer_close(t);
}

/* Tokens and an added one that are longer than what is taken together; the second of two such merges. */
static void test_long_tokens(void)
{
    enum { LONG = 20000, LONGER = 140000 };
    static char as[LONG + 1], xs[LONGER + 1];
    struct opened o;

    memset(as, 'a', LONG);
    memset(xs, 'x', LONGER);
    o = opened(
        file_with(
            "tokenizer.json",
            t_text(
                "{\"added_tokens\":[{\"id\":5,\"content\":\"%s\",\"single_word\":false,\"lstrip\":false,\"rstrip\":"
                "false,\"normalized\":false,\"special\":false}],\"normalizer\":{\"type\":\"Replace\",\"pattern\":"
                "{\"String\":\" \"},\"content\":\"_\"},\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,"
                "\"%s\":3,\"%sb\":4},\"merges\":[\"a b\",\"%s b\"]}}",
                xs, as, as, as)),
        NULL);
    encodes(&o, t_text("a%sb", xs), "0 5 1 ");
    closed(&o);
}

/* A part whose text becomes much more, and what follows it. */
static void test_growing_parts(void)
{
    enum { TIMES = 1 << 20, EACH = 5 };
    struct opened o =
        with("\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"bbbbb\"},", "");
    char *text = malloc(2 * TIMES);
    uint64_t used, count, all = 0;
    const uint32_t *ids;

    memset(text, 'a', 2 * TIMES);
    T_OK(leat_encoder_begin(o.encoder, &t_err));
    for (size_t at = 0; at < 2 * TIMES; at += used, all += count) {
        T_OK(leat_encoder_part(o.encoder, text + at, 2 * TIMES - at, &used, &ids, &count, &t_err));
        for (uint64_t i = 0; i < count; i++)
            T_EQ(ids[i], 1);
    }
    T_OK(leat_encoder_end(o.encoder, &ids, &count, &t_err));
    T_EQ(all + count, (uint64_t)2 * TIMES * EACH);
    closed(&o);
    free(text);
}

/* With little memory a text is refused, or has the ids that it has with much. */
static void test_little_memory(void)
{
    enum { TIMES = 40000 };
    static char text[2 * TIMES];
    struct opened o = with("", "");
    unsigned refused = 0, taken = 0;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 ? 'b' : 'a';
    for (uint64_t max = 1; max < 3 << 20; max += max / 8 + 1) {
        struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
        struct leat_encoder *e;
        const uint32_t *ids;
        uint64_t count;
        enum leat_status s;

        options.max_bytes = max;
        T_OK(leat_encoder_open(&e, o.tokenizer, &options, &t_err));
        s = leat_encoder_encode(e, text, sizeof text, &ids, &count, &t_err);
        T_CHECK(s == LEAT_OK || s == LEAT_E_PRETOKEN);
        refused += s != LEAT_OK;
        taken += s == LEAT_OK;
        for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
            T_EQ(ids[i], 2);
        T_CHECK(s != LEAT_OK || count == TIMES);
        leat_encoder_close(e);
    }
    T_CHECK(refused > 0 && taken > 0);
    closed(&o);
}

int main(void)
{
    test_merged_bytes();
    test_empty_token();
    test_unigram_bytes();
    test_shared_id();
    test_one_long_run();
    test_long_added_token();
    test_late_cut();
    test_long_tokens();
    test_growing_parts();
    test_little_memory();
    return t_end();
}
