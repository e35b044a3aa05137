/*
 * test_load_hf.c: the reader of tokenizer.json on small files that are made here: every component with its members,
 * every sentence it can refuse with, and the rules for merges and added tokens. What is expected was tried with
 * tokenizers 0.23.3, file by file.
 */
#include "t.h"

#include "tokenizer/load/load.h"
#include "tokenizer/spec/fingerprint.h"

#define VOCAB "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2}"
#define MODEL "\"model\":{\"type\":\"BPE\"," VOCAB ",\"merges\":[\"a b\"]}"

static enum leat_status load(struct tokenizer_spec **spec, const char *json)
{
    struct load_source source = { .path = "made.json", .bytes = (const uint8_t *)json, .size = strlen(json) };
    enum load_format format = 0;
    enum leat_status s = load_spec(spec, &format, &source, &t_err);

    if (s == LEAT_OK)
        T_EQ(format, LOAD_TOKENIZER_JSON);
    return s;
}

static struct tokenizer_spec *loaded(const char *json)
{
    struct tokenizer_spec *spec;

    if (load(&spec, json) != LEAT_OK) {
        T_FAIL("%s: %s", json, t_err.message);
        exit(1);
    }
    return spec;
}

/* A file of a good model and other parts. */
static const char *with(const char *parts)
{
    static char json[4096];

    snprintf(json, sizeof json, "{\"version\":\"1.0\",%s," MODEL "}", parts);
    return json;
}

/* A file whose model has other members besides vocabulary and merges. */
static const char *with_model(const char *members)
{
    static char json[4096];

    snprintf(json, sizeof json, "{\"model\":{%s}}", members);
    return json;
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

/* ---- Refusals ---- */

static void refused(const char *json, enum leat_status status, const char *sentence)
{
    struct tokenizer_spec *spec;
    enum leat_status s = load(&spec, json);

    if (s != status || !strstr(t_err.message, sentence) || !strstr(t_err.message, "made.json"))
        T_FAIL("%s: %s, \"%s\" instead of \"%s\"", json, leat_status_name(s), s ? t_err.message : "", sentence);
    spec_free(spec);
}

/* Where it is wrong, to the byte. */
static void test_place(void)
{
    static const char json[] = "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a a\", \"a c\"]}}";

    refused(json, LEAT_E_VOCABULARY, "merge 1 needs the token \"aa\"");
    T_EQ(t_err.offset, (uint64_t)(strstr(json, "\"a a\"") - json) + 1);
}

static void test_broken_frame(void)
{
    refused("[]", LEAT_E_VOCABULARY, "neither a tokenizer.json");
    refused("{}", LEAT_E_VOCABULARY, "neither a tokenizer.json");
    refused("{\"model\":{", LEAT_E_VOCABULARY, "is it complete?");
    refused("{\"model\":null}", LEAT_E_VOCABULARY, "it has no \"model\"");
    refused("{\"version\":\"2.0\"," MODEL "}", LEAT_E_UNSUPPORTED, "version \"2.0\"");
    refused("{\"version\":null," MODEL "}", LEAT_E_VOCABULARY, "must be the string \"1.0\", not null");
    refused(with("\"extra\":1"), LEAT_E_UNSUPPORTED, "unknown member \"extra\"");
    refused("", LEAT_E_VOCABULARY, "the file is empty");
    refused("hello", LEAT_E_VOCABULARY, "has an unknown format");
}

#define TEN     "abcdefghij"
#define UNIGRAM "\"type\":\"Unigram\",\"vocab\":"

static void test_broken_model(void)
{
    static const struct {
        const char *members;
        enum leat_status status;
        const char *sentence;
    } rows[] = {
        { "\"type\":\"Unigram\"", LEAT_E_VOCABULARY, "\"vocab\" must be an array, but is missing" },
        { UNIGRAM "{}", LEAT_E_VOCABULARY, "\"vocab\" must be an array, but is an object" },
        { UNIGRAM "[[\"a\",0],[\"b\"]]", LEAT_E_VOCABULARY, "token 1 of \"vocab\" must be an array of a string and a" },
        { UNIGRAM "[[\"a\",\"0\"]]", LEAT_E_VOCABULARY, "token 0 of \"vocab\" must be an array of a string and a" },
        { UNIGRAM "[[\"a\",null]]", LEAT_E_VOCABULARY, "token 0 of \"vocab\" must be an array of a string and a" },
        { UNIGRAM "[[\"a\",0,1]]", LEAT_E_VOCABULARY, "token 0 of \"vocab\" must be an array of a string and a" },
        { UNIGRAM "[[\"a\",1e309]]", LEAT_E_VOCABULARY, "the score of token 0 is out of range" },
        { UNIGRAM "[[\"a\",0]],\"unk_id\":1", LEAT_E_VOCABULARY, "\"unk_id\" must be the place of a token" },
        { UNIGRAM "[],\"unk_id\":0", LEAT_E_VOCABULARY, "\"unk_id\" must be the place of a token" },
        { UNIGRAM "[[\"a\",0]],\"unk_id\":-1", LEAT_E_VOCABULARY, "\"unk_id\" must be the place of a token" },
        { UNIGRAM "[],\"byte_fallback\":null", LEAT_E_VOCABULARY, "\"byte_fallback\" must be true or false" },
        { "\"type\":\"WordPiece\"", LEAT_E_VOCABULARY, "it lacks \"continuing_subword_prefix\"" },
        { "\"type\":\"WordPiece\",\"continuing_subword_prefix\":\"##\"", LEAT_E_VOCABULARY,
          "it lacks \"max_input_chars_per_word\"" },
        { "\"type\":\"WordLevel\"", LEAT_E_VOCABULARY, "\"vocab\" must be an object, but is missing" },
        { VOCAB ",\"type\":\"WordLevel\"", LEAT_E_VOCABULARY, "it lacks \"unk_token\"" },
        { "\"type\":\"Foo\"", LEAT_E_UNSUPPORTED, "unknown type \"Foo\"; supported: BPE" },
        { "\"type\":3", LEAT_E_UNSUPPORTED, "unknown type \"a number\"" },
        { "\"vocab\":{}", LEAT_E_UNSUPPORTED, "missing \"type\", and no member implies it" },
        { "\"type\":\"BPE\",\"merges\":[]", LEAT_E_VOCABULARY, "\"vocab\" must be an object, but is missing" },
        { "\"type\":\"BPE\",\"vocab\":[],\"merges\":[]", LEAT_E_VOCABULARY,
          "\"vocab\" must be an object, but is an array" },
        { VOCAB ",\"type\":\"BPE\"", LEAT_E_VOCABULARY, "\"merges\" must be an array, but is missing" },
        { VOCAB ",\"merges\":null", LEAT_E_VOCABULARY, "\"merges\" must be an array, but is null" },
        { "\"vocab\":{\"a\":-1},\"merges\":[]", LEAT_E_VOCABULARY, "id of the token \"a\" must be a whole number" },
        { "\"vocab\":{\"a\":1.0},\"merges\":[]", LEAT_E_VOCABULARY, "id of the token \"a\" must be a whole number" },
        { "\"vocab\":{\"a\":\"0\"},\"merges\":[]", LEAT_E_VOCABULARY, "id of the token \"a\" must be a whole number" },
        { "\"vocab\":{\"a\":4294967296},\"merges\":[]", LEAT_E_VOCABULARY, "must be a whole number below 2^32" },
        { "\"vocab\":{\"a\":16777216},\"merges\":[]", LEAT_E_UNSUPPORTED, "ids above 16777215 are not supported" },
        { "\"vocab\":{\"a\":7,\"b\":7},\"merges\":[]", LEAT_E_VOCABULARY, "two tokens have the id 7" },
        { VOCAB ",\"merges\":[\"a b\",\"b a\"]", LEAT_E_VOCABULARY, "merge 2 needs the token \"ba\"" },
        { VOCAB ",\"merges\":[\"a c\"]", LEAT_E_VOCABULARY, "merge 1 needs the token \"c\"" },
        { VOCAB ",\"merges\":[\"a b c\"]", LEAT_E_VOCABULARY, "merge 1, \"a b c\", must be two tokens" },
        { VOCAB ",\"merges\":[\"ab\"]", LEAT_E_VOCABULARY, "merge 1, \"ab\", must be two tokens" },
        { VOCAB ",\"merges\":[\"a  b\"]", LEAT_E_VOCABULARY, "must be two tokens separated by one space" },
        { VOCAB ",\"merges\":[\"a b\",[\"a\",\"b\"]]", LEAT_E_VOCABULARY, "merge 2 must be a string" },
        { VOCAB ",\"merges\":[[\"a\",\"b\"],\"a b\"]", LEAT_E_VOCABULARY, "merge 2 must be two strings" },
        { VOCAB ",\"merges\":[[\"a\",\"b\",\"c\"]]", LEAT_E_VOCABULARY, "merge 1 must be two strings" },
        { VOCAB ",\"merges\":[[\"a\",1]]", LEAT_E_VOCABULARY, "merge 1 must be two strings" },
        { VOCAB ",\"merges\":[7]", LEAT_E_VOCABULARY, "merge 1 must be a string" },
        { VOCAB ",\"merges\":[[\"#version\",\"b\"]]", LEAT_E_VOCABULARY, "needs the token \"#version\"" },
        { VOCAB ",\"merges\":[],\"dropout\":0.1", LEAT_E_UNSUPPORTED, "\"dropout\" is not supported" },
        { VOCAB ",\"merges\":[],\"dropout\":1", LEAT_E_UNSUPPORTED, "\"dropout\" is not supported" },
        { VOCAB ",\"merges\":[],\"dropout\":0.09e-1", LEAT_E_UNSUPPORTED, "\"dropout\" is not supported" },
        { VOCAB ",\"merges\":[],\"dropout\":\"x\"", LEAT_E_VOCABULARY, "\"dropout\" must be a number" },
        { VOCAB ",\"merges\":[],\"fuse_unk\":\"x\"", LEAT_E_VOCABULARY, "\"fuse_unk\" must be true or false" },
        { VOCAB ",\"merges\":[],\"unk_token\":3", LEAT_E_VOCABULARY, "\"unk_token\" must be a string" },
        { VOCAB ",\"merges\":[\"a b\"],\"continuing_subword_prefix\":\"##\"", LEAT_E_VOCABULARY, "shorter than" },
        { VOCAB ",\"merges\":[\"a b\"],\"continuing_subword_prefix\":7", LEAT_E_VOCABULARY,
          "\"continuing_subword_prefix\" must be" },
        { VOCAB ",\"merges\":[],\"end_of_word_suffix\":\"" TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN "x\"",
          LEAT_E_UNSUPPORTED, "\"end_of_word_suffix\" is longer than 100 bytes" },
        /* no more of a token than 60 bytes, and none of its characters in part */
        { VOCAB ",\"merges\":[\"a " TEN TEN TEN TEN TEN "123456789\\u00e9\"]", LEAT_E_VOCABULARY,
          "needs the token \"" TEN TEN TEN TEN TEN "123456789\", which" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        refused(with_model(rows[i].members), rows[i].status, rows[i].sentence);
    refused("{\"model\":3}", LEAT_E_VOCABULARY, "must be an object, not a number");
    refused("{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true},\"model\":"
            "{\"type\":\"BPE\"," VOCAB ",\"merges\":[],\"continuing_subword_prefix\":\"\\u4e00\"}}",
            LEAT_E_UNSUPPORTED, "\"continuing_subword_prefix\" has characters that ByteLevel never makes");
}

static void test_broken_parts(void)
{
    static const struct {
        const char *parts;
        enum leat_status status;
        const char *sentence;
    } rows[] = {
        { "\"normalizer\":{\"type\":\"Foo\"}", LEAT_E_UNSUPPORTED, "the normalizer \"Foo\" is not supported" },
        { "\"normalizer\":{\"type\":\"BertNormalizer\"}", LEAT_E_VOCABULARY,
          "normalizer BertNormalizer: it lacks \"clean_text\"" },
        { "\"normalizer\":{\"type\":\"Nfx\"}", LEAT_E_UNSUPPORTED, "\"Nfx\"" },
        { "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Bar\"}]}", LEAT_E_UNSUPPORTED,
          "\"Bar\"" },
        { "\"normalizer\":{\"type\":\"Sequence\"}", LEAT_E_VOCABULARY, "lacks the array \"normalizers\"" },
        { "\"normalizer\":{\"prepend\":\"x\"}", LEAT_E_VOCABULARY, "lacks \"type\"" },
        { "\"normalizer\":[]", LEAT_E_VOCABULARY, "must be an object, not an array" },
        { "\"normalizer\":{\"type\":\"Strip\"}", LEAT_E_VOCABULARY, "normalizer Strip: it lacks \"strip_left\"" },
        { "\"normalizer\":{\"type\":\"Strip\",\"strip_left\":1,\"strip_right\":true}", LEAT_E_VOCABULARY,
          "\"strip_left\" must be true or false, not a number" },
        { "\"normalizer\":{\"type\":\"Prepend\"}", LEAT_E_VOCABULARY, "normalizer Prepend: it lacks \"prepend\"" },
        { "\"normalizer\":{\"type\":\"Replace\",\"content\":\"x\"}", LEAT_E_VOCABULARY, "it lacks \"pattern\"" },
        { "\"normalizer\":{\"type\":\"Replace\",\"pattern\":\"x\",\"content\":\"x\"}", LEAT_E_VOCABULARY,
          "\"pattern\" must be" },
        { "\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"x\",\"Regex\":\"y\"},\"content\":\"x\"}",
          LEAT_E_VOCABULARY, "\"pattern\" must be" },
        { "\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"x\"}}", LEAT_E_VOCABULARY,
          "lacks \"content\"" },
        { "\"normalizer\":{\"type\":\"Precompiled\"}", LEAT_E_VOCABULARY, "lacks \"precompiled_charsmap\"" },
        { "\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"?\"}", LEAT_E_VOCABULARY, "not base64" },
        { "\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"AAAA\"}", LEAT_E_VOCABULARY,
          "the form of a compiled map" },
        { "\"pre_tokenizer\":{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"ab\"}", LEAT_E_VOCABULARY,
          "\"delimiter\" must be exactly one character" },
        { "\"pre_tokenizer\":{\"type\":\"FixedLength\",\"length\":0}", LEAT_E_UNSUPPORTED, "must be 1 to 65535" },
        { "\"pre_tokenizer\":{\"type\":\"FixedLength\",\"length\":65536}", LEAT_E_UNSUPPORTED, "must be 1 to 65535" },
        { "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"trim_offsets\":true}", LEAT_E_VOCABULARY,
          "\"add_prefix_space\"" },
        { "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true}", LEAT_E_VOCABULARY,
          "\"trim_offsets\"" },
        { "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":"
          "null}",
          LEAT_E_VOCABULARY, "\"use_regex\" must be true or false" },
        { "\"pre_tokenizer\":{\"type\":\"Digits\"}", LEAT_E_VOCABULARY, "lacks \"individual_digits\"" },
        { "\"pre_tokenizer\":{\"type\":\"Punctuation\",\"behavior\":\"removed\"}", LEAT_E_VOCABULARY,
          "\"behavior\" must" },
        { "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a\"},\"behavior\":\"Isolated\"}",
          LEAT_E_VOCABULARY, "lacks \"invert\"" },
        { "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a\"},\"invert\":true}", LEAT_E_VOCABULARY,
          "lacks \"behavior\"" },
        { "\"pre_tokenizer\":{\"type\":\"Metaspace\"}", LEAT_E_VOCABULARY, "lacks \"replacement\"" },
        { "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"__\"}", LEAT_E_VOCABULARY, "one character" },
        { "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\",\"add_prefix_space\":false}",
          LEAT_E_VOCABULARY, "\"prepend_scheme\" is not \"never\"" },
        { "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"often\"}",
          LEAT_E_VOCABULARY, "must be first, never or always" },
        { "\"normalizer\":{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":false},\"pre_tokenizer\":"
          "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"first\"}",
          LEAT_E_UNSUPPORTED, "may remove the text's first character" },
        { "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":["
          "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true},"
          "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true}]}",
          LEAT_E_UNSUPPORTED, "ByteLevel twice" },
        { "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"ByteLevel\"},{\"type\":\"NFC\"}]}",
          LEAT_E_UNSUPPORTED, "a normalizer after ByteLevel" },
        { "\"normalizer\":{\"type\":\"ByteLevel\"},\"pre_tokenizer\":"
          "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"never\"}",
          LEAT_E_UNSUPPORTED, "Metaspace after ByteLevel" },
        { "\"decoder\":{\"type\":\"CTC\"}", LEAT_E_VOCABULARY, "decoder CTC: it lacks \"pad_token\"" },
        { "\"decoder\":{\"type\":\"Strip\",\"content\":\"ab\",\"start\":1,\"stop\":0}", LEAT_E_VOCABULARY,
          "one character" },
        { "\"decoder\":{\"type\":\"Strip\",\"content\":\"a\",\"stop\":0}", LEAT_E_VOCABULARY, "lacks \"start\"" },
        { "\"decoder\":{\"type\":\"Strip\",\"content\":\"a\",\"start\":-1,\"stop\":0}", LEAT_E_VOCABULARY,
          "\"start\"" },
        { "\"decoder\":{\"type\":\"BPEDecoder\"}", LEAT_E_VOCABULARY, "lacks \"suffix\"" },
        { "\"decoder\":{\"type\":\"WordPiece\"}", LEAT_E_VOCABULARY, "lacks \"prefix\"" },
        { "\"added_tokens\":null", LEAT_E_VOCABULARY, "must be an array, not null" },
        { "\"added_tokens\":[1]", LEAT_E_VOCABULARY, "must be an object, not a number" },
        { "\"added_tokens\":[{\"id\":-1}]", LEAT_E_VOCABULARY, "\"id\" must be a whole number" },
        { "\"added_tokens\":[{\"id\":3,\"content\":\"X\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
          "\"normalized\":false}]",
          LEAT_E_VOCABULARY, "lacks \"special\"" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        refused(with(rows[i].parts), rows[i].status, rows[i].sentence);
}

/* ---- What is read ---- */

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
        "\"post_processor\":{\"type\":\"Anything\"},\"truncation\":{\"max_length\":1},\"padding\":{\"pad_id\":0}"));
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

/* The ids in the file do not count; see load_hf_added.c. */
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
}

int main(void)
{
    test_place();
    test_broken_frame();
    test_broken_model();
    test_broken_parts();
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
