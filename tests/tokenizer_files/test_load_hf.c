/*
 * test_load_hf.c: the reader of tokenizer.json on small files that are made here: every component with its members,
 * and the rules for merges and added tokens. What is expected was tried with tokenizers 0.23.3, file by file.
 * test_load_hf_refused.c has the files that it refuses.
 */
#include "made_json.h"
#include "tokenizer/spec/fingerprint.h"

static struct tokenizer_spec *loaded(const char *json)
{
    struct tokenizer_spec *spec;

    if (load(&spec, json) != LEAT_OK) {
        T_FAIL("%s: %s", json, t_err.message);
        exit(1);
    }
    return spec;
}

static int text_is(const struct spec_string *s, const char *text)
{
    return s->length == strlen(text) && (s->length == 0 || memcmp(s->bytes, text, s->length) == 0);
}

static int token_is(const struct tokenizer_spec *spec, uint32_t id, const char *text)
{
    const struct spec_token *t = spec_find_id(spec, id);

    return t && t->length == strlen(text) && memcmp(spec_token_bytes(spec, t), text, t->length) == 0;
}

static void test_model(void)
{
    struct tokenizer_spec *spec = loaded(with_model(
        VOCAB
        ",\"merges\":[\"#version: 0.2\",\"a b\"],\"unk_token\":\"b\",\"fuse_unk\":true,\"byte_fallback\":true,"
        "\"ignore_merges\":true,\"dropout\":0.0,\"end_of_word_suffix\":\"</w>\",\"continuing_subword_prefix\":null"));

    T_EQ(spec->model, SPEC_MERGES);
    T_EQ(spec->token_count, 3);
    T_EQ(spec->vocabulary_size, 3);
    T_CHECK(token_is(spec, 0, "a") && token_is(spec, 1, "b") && token_is(spec, 2, "ab") && !spec_find_id(spec, 3));
    T_EQ(spec->merge_count, 1);
    T_CHECK(spec->merges[0].left == 0 && spec->merges[0].right == 1 && spec->merges[0].result == 2);
    T_EQ(spec->unknown, 1);
    T_CHECK(spec->fuse_unknown && spec->byte_fallback && spec->ignore_merges && !spec->byte_level);
    T_CHECK(text_is(&spec->word_suffix, "</w>") && text_is(&spec->continuing_prefix, ""));
    spec_free(spec);

    spec = loaded(with_model(VOCAB ",\"merges\":[],\"unk_token\":\"<unk>\",\"fuse_unk\":null"));
    T_EQ(spec->unknown, SPEC_NONE); /* the reference minds only when a text needs it */
    T_CHECK(text_is(&spec->unknown_text, "<unk>"));
    spec_free(spec);
}

/* Of a pair given twice the last one counts, at its place; so do members given twice. */
static void test_twice(void)
{
    struct tokenizer_spec *spec = loaded(with_model(
        "\"vocab\":{\"a\":9,\"b\":1,\"ab\":2,\"c\":3,\"bc\":4,\"abc\":5,\"a\":0},"
        "\"merges\":[[\"a\",\"b\"],[\"ab\",\"c\"],[\"b\",\"c\"],[\"a\",\"bc\"],[\"a\",\"b\"],[\"ab\",\"c\"]]"));

    T_EQ(spec->token_count, 6);
    T_CHECK(token_is(spec, 0, "a") && !spec_find_id(spec, 9));
    T_EQ(spec->merge_count, 4);
    T_EQ(spec->merges[0].result, 4);
    T_CHECK(spec->merges[1].left == 0 && spec->merges[1].right == 4 && spec->merges[1].result == 5);
    T_EQ(spec->merges[2].result, 2);
    T_CHECK(spec->merges[3].left == 2 && spec->merges[3].right == 3 && spec->merges[3].result == 5);
    spec_free(spec);

    spec = loaded(with_model(VOCAB ",\"merges\":[\"b a\"],\"merges\":[\"a b\"]"));
    T_EQ(spec->merge_count, 1);
    spec_free(spec);
    spec = loaded(with_model("\"continuing_subword_prefix\":\"##\",\"vocab\":{\"a\":0,\"##b\":1,\"ab\":2,\"xxb\":3},"
                             "\"merges\":[\"a ##b\",\"a xxb\"]"));
    T_EQ(spec->merge_count, 2); /* the prefix is cut by its length, whatever stands there */
    T_EQ(spec->merges[1].right, 3);
    spec_free(spec);
}

/* More merges than a batch, in the order of their results, with another order mixed in, and long tokens. */
static void test_many_merges(void)
{
    enum { CHAIN = 300, ROOM = 1 << 20 };
    char *json = malloc(ROOM), *p = json, *x = malloc(CHAIN + 2);
    struct tokenizer_spec *spec;

    memset(x, 'x', CHAIN + 1);
    x[CHAIN + 1] = '\0';
    p += snprintf(p, (size_t)(json + ROOM - p), "{\"model\":{\"merges\":[");
    for (int i = 1; i < CHAIN; i++)
        p += snprintf(p, (size_t)(json + ROOM - p), "%s[\"%.*s\",\"x\"]", i > 1 ? "," : "", i, x);
    for (int i = CHAIN - 1; i > 1; i--)
        p += snprintf(p, (size_t)(json + ROOM - p), ",[\"x\",\"%.*s\"]", i, x);
    p += snprintf(p, (size_t)(json + ROOM - p), "],\"vocab\":{");
    for (int i = 1; i <= CHAIN; i++)
        p += snprintf(p, (size_t)(json + ROOM - p), "%s\"%.*s\":%d", i > 1 ? "," : "", i, x, CHAIN - i);
    snprintf(p, (size_t)(json + ROOM - p), "}}}");
    spec = loaded(json);
    T_EQ(spec->merge_count, CHAIN - 1 + CHAIN - 2);
    for (uint32_t i = 0; i < CHAIN - 1; i++)
        T_CHECK(spec->merges[i].left == CHAIN - 1 - i && spec->merges[i].right == CHAIN - 1 &&
                spec->merges[i].result == CHAIN - 2 - i);
    T_EQ(spec->merges[CHAIN - 1].result, 0);
    T_CHECK(token_is(spec, CHAIN - 3, "xxx")); /* sorted by id, though the file is not */
    for (uint32_t i = 1; i < spec->token_count; i++)
        T_CHECK(spec->tokens[i].offset == spec->tokens[i - 1].offset + spec->tokens[i - 1].length);
    spec_free(spec);
    free(json);
    free(x);
}

static void test_byte_level(void)
{
    static const char json[] =
        "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true},"
        "\"model\":{\"vocab\":{\"a\":0,\"\\u0120a\":1,\"\\u00e9\":2,\"\\u010a\":3,\"\\u4e00\":4,\"\\u0120\":5,"
        "\"\\u0144\":6,\"\\u0143\":7,\"\":8},\"merges\":[\"\\u0120 a\"]}}";
    struct tokenizer_spec *spec = loaded(json);

    T_CHECK(spec->byte_level);
    T_CHECK(token_is(spec, 1, " a") && token_is(spec, 2, "\xe9") && token_is(spec, 3, "\n") && token_is(spec, 5, " "));
    T_CHECK(spec_find_id(spec, 4)->foreign && token_is(spec, 4, "\xe4\xb8\x80"));
    T_CHECK(spec_find_id(spec, 6)->foreign && !spec_find_id(spec, 7)->foreign && token_is(spec, 7, "\xad"));
    T_EQ(spec_find_id(spec, 8)->length, 0);
    T_CHECK(spec->pre_tokenizers[0].add_prefix_space && spec->pre_tokenizers[0].use_regex);
    spec_free(spec);
    spec = loaded("{\"normalizer\":{\"type\":\"ByteLevel\"},\"model\":{\"vocab\":{\"\\u0120\":0},\"merges\":[]}}");
    T_CHECK(spec->byte_level && token_is(spec, 0, " "));
    spec_free(spec);
}

static void test_parts(void)
{
    struct tokenizer_spec *spec = loaded(with(
        "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"NFD\"},{\"type\":"
        "\"NFKC\"},"
        "{\"type\":\"NFKD\"},{\"type\":\"Lowercase\"},{\"type\":\"Sequence\",\"normalizers\":["
        "{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":false},"
        "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"x+\"},\"content\":\"y\\u0000\"}]},"
        "{\"type\":\"Prepend\",\"prepend\":\"\\u2581\"},"
        "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"BAAAAAEAAABhAA==\"}]},"
        "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":["
        "{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},\"behavior\":\"MergedWithPrevious\",\"invert\":true},"
        "{\"type\":\"Digits\",\"individual_digits\":true},{\"type\":\"Punctuation\"},"
        "{\"type\":\"Punctuation\",\"behavior\":\"Contiguous\"},{\"type\":\"Whitespace\"},{\"type\":"
        "\"WhitespaceSplit\"},"
        "{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\",\"prepend_scheme\":\"never\",\"split\":false,"
        "\"str_rep\":\"x\"},"
        "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"add_prefix_space\":true}]},"
        "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},"
        "{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0},{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"},"
        "{\"type\":\"Replace\",\"pattern\":{\"String\":\"\\u2581\"},\"content\":\" \"},"
        "{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},"
        "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"add_prefix_space\":false,\"prepend_scheme\":\"never\"},"
        "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true}]},"
        "\"post_processor\":[[\"a\",0],[\"a\",0]],\"truncation\":[\"Left\",1,\"OnlyFirst\",0],"
        "\"padding\":[\"BatchLongest\",\"Left\",8,0,0,\"\"]"));
    const struct spec_normalizer *n = spec->normalizers;
    const struct spec_pre_tokenizer *p = spec->pre_tokenizers;
    const struct spec_decoder *d = spec->decoders;

    T_EQ(spec->normalizer_count, 9);
    for (uint32_t i = 0; i < 9; i++)
        T_EQ(n[i].kind, i + 1);
    T_CHECK(n[5].strip_left && !n[5].strip_right);
    T_CHECK(n[6].pattern.regex && text_is(&n[6].pattern.text, "x+") && n[6].content.length == 2);
    T_CHECK(text_is(&n[7].content, "\xe2\x96\x81") && n[8].content.length == 10);
    T_EQ(spec->pre_tokenizer_count, 8);
    T_CHECK(p[0].kind == SPEC_PRE_SPLIT && p[0].behavior == SPEC_MERGED_WITH_PREVIOUS && p[0].invert &&
            !p[0].pattern.regex && text_is(&p[0].pattern.text, " "));
    T_CHECK(p[1].kind == SPEC_PRE_DIGITS && p[1].individual_digits);
    T_CHECK(p[2].kind == SPEC_PRE_PUNCTUATION && p[2].behavior == SPEC_ISOLATED && p[3].behavior == SPEC_CONTIGUOUS);
    T_CHECK(p[4].kind == SPEC_PRE_WHITESPACE && p[5].kind == SPEC_PRE_WHITESPACE_SPLIT);
    T_CHECK(p[6].kind == SPEC_PRE_METASPACE && p[6].prepend == SPEC_PREPEND_NEVER && !p[6].split);
    T_CHECK(p[7].prepend == SPEC_PREPEND_ALWAYS && p[7].split && text_is(&p[7].replacement, "_"));
    T_EQ(spec->decoder_count, 8);
    T_CHECK(d[0].kind == SPEC_DECODE_BYTE_FALLBACK && d[1].kind == SPEC_DECODE_FUSE);
    T_CHECK(d[2].kind == SPEC_DECODE_STRIP && d[2].start == 1 && d[2].stop == 0 && text_is(&d[2].content, " "));
    T_CHECK(d[3].kind == SPEC_DECODE_BPE && text_is(&d[3].content, "</w>"));
    T_CHECK(d[4].kind == SPEC_DECODE_REPLACE && text_is(&d[4].content, " "));
    T_CHECK(d[5].kind == SPEC_DECODE_WORDPIECE && d[5].cleanup && text_is(&d[5].content, "##"));
    T_CHECK(d[6].kind == SPEC_DECODE_METASPACE && d[6].prepend == SPEC_PREPEND_NEVER);
    T_EQ(d[7].kind, SPEC_DECODE_BYTE_LEVEL);
    T_EQ(spec->notes, SPEC_NOTE_TRUNCATION | SPEC_NOTE_PADDING | SPEC_NOTE_POST_PROCESSOR);
    spec_free(spec);
}

static void test_metaspace_first(void)
{
    struct tokenizer_spec *spec = loaded(with("\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\","
                                              "\"prepend_scheme\":\"first\"}"));

    T_CHECK(spec->pre_tokenizer_count == 1 && spec->pre_tokenizers[0].prepend == SPEC_PREPEND_FIRST);
    spec_free(spec);
}

#define ADDED(id, content, rest) "{\"id\":" #id ",\"content\":\"" content "\"," rest "}"
#define PLAIN                                                                                                          \
    "\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":false,\"special\":true,\"extra\":1"
#define OTHER "\"single_word\":true,\"lstrip\":true,\"rstrip\":true,\"normalized\":true,\"special\":false"

/* The ids in the file do not count; see load_hf_tokens.c. */
static void test_added(void)
{
    struct tokenizer_spec *spec = loaded(with("\"added_tokens\":[" ADDED(77, "X", PLAIN) "," ADDED(
        9, "ab", PLAIN) "," ADDED(1, "Y", OTHER) "," ADDED(5, "", PLAIN) "," ADDED(6, "X", OTHER) "]"));

    T_EQ(spec->added_count, 3);
    T_CHECK(spec->added[0].id == 2 && text_is(&spec->added[0].content, "ab") && !spec->added[0].normalized);
    T_CHECK(spec->added[1].id == 3 && text_is(&spec->added[1].content, "X"));
    T_CHECK(spec->added[1].special && spec->added[1].single_word && spec->added[1].normalized); /* the later flags */
    T_CHECK(spec->added[2].id == 4 && text_is(&spec->added[2].content, "Y") && spec->added[2].lstrip &&
            spec->added[2].rstrip && !spec->added[2].special);
    T_EQ(spec->vocabulary_size, 5);
    T_EQ(spec_find_text(spec, "Y", 1), 4);
    T_CHECK(spec_find_added(spec, 4) == &spec->added[2] && !spec_find_added(spec, 0));
    spec_free(spec);

    /* holes: new ids begin at the number of entries, and may meet one of them */
    spec = loaded("{\"added_tokens\":[" ADDED(0, "ab", PLAIN) "," ADDED(0, "P", PLAIN) "," ADDED(
        0, "Q", PLAIN) "],"
                       "\"model\":{\"vocab\":{\"a\":0,\"b\":2,\"ab\":3},\"merges\":[\"a b\"]}}");
    T_EQ(spec->added_count, 2);
    T_CHECK(spec->added[0].id == 3 && text_is(&spec->added[0].content, "P"));
    T_CHECK(spec->added[1].id == 4 && text_is(&spec->added[1].content, "Q"));
    spec_free(spec);
}

static int same_print(const char *a, const char *b)
{
    struct tokenizer_spec *x = loaded(a), *y = loaded(b);
    uint8_t p[FINGERPRINT_BYTES], q[FINGERPRINT_BYTES];

    fingerprint(p, x);
    fingerprint(q, y);
    spec_free(x);
    spec_free(y);
    return memcmp(p, q, sizeof p) == 0;
}

#define UNIGRAM(score) "{\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"a\"," score "]]}}"

/* Only what decides the ids counts. */
static void test_fingerprint(void)
{
    static const char plain[] = "{" MODEL "}";

    T_CHECK(same_print(plain, " { \"decoder\" : {\"type\":\"Fuse\"}, \"version\":\"1.0\", \"model\" : {\"merges\":"
                              "[[\"a\" , \"\\u0062\"]], \"vocab\":{\"ab\":2,\"b\":1,\"a\":0}} }"));
    T_CHECK(!same_print(plain, "{\"model\":{" VOCAB ",\"merges\":[]}}"));
    T_CHECK(!same_print(plain, "{\"model\":{" VOCAB ",\"merges\":[\"a b\"],\"ignore_merges\":true}}"));
    T_CHECK(!same_print(plain, "{\"model\":{\"vocab\":{\"a\":0,\"b\":1,\"ab\":3},\"merges\":[\"a b\"]}}"));
    T_CHECK(!same_print(plain, "{\"normalizer\":{\"type\":\"NFC\"}," MODEL "}"));
    T_CHECK(!same_print(plain, "{\"pre_tokenizer\":{\"type\":\"Whitespace\"}," MODEL "}"));
    T_CHECK(!same_print(plain, "{\"added_tokens\":[" ADDED(3, "X", PLAIN) "]," MODEL "}"));
    T_CHECK(!same_print("{\"added_tokens\":[" ADDED(3, "X", PLAIN) "]," MODEL "}",
                        "{\"added_tokens\":[" ADDED(3, "X", OTHER) "]," MODEL "}"));
    /* a score's halves */
    T_CHECK(!same_print(UNIGRAM("-1.5"), UNIGRAM("-2.5")));
    T_CHECK(!same_print(UNIGRAM("-1.5"), UNIGRAM("-1.5000000000000002")));
}

int main(void)
{
    test_model();
    test_twice();
    test_many_merges();
    test_byte_level();
    test_parts();
    test_metaspace_first();
    test_added();
    test_fingerprint();
    return t_end();
}
