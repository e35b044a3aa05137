/*
 * test_load_hf_refused.c: every sentence with which the reader of tokenizer.json can refuse a file, on small files that
 * are made here. What is expected was tried with tokenizers 0.23.3, file by file.
 */
#include "made_json.h"

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
        { UNIGRAM "[[\"a\",-1e999]]", LEAT_E_VOCABULARY, "score of token 0 is out of range" },
        { "\"type\":\"WordPiece\"", LEAT_E_VOCABULARY, "it lacks \"continuing_subword_prefix\"" },
        { "\"type\":\"WordPiece\",\"continuing_subword_prefix\":\"##\"", LEAT_E_VOCABULARY,
          "it lacks \"max_input_chars_per_word\"" },
        { "\"type\":\"WordLevel\"", LEAT_E_VOCABULARY, "\"vocab\" must be an object, but is missing" },
        { VOCAB ",\"type\":\"WordLevel\"", LEAT_E_VOCABULARY, "it lacks \"unk_token\"" },
        { "\"type\":\"Foo\"", LEAT_E_UNSUPPORTED, "unknown type \"Foo\"; supported: BPE" },
        { VOCAB ",\"merges\":[],\"type\":\"BPE\",\"type\":\"BPE\"", LEAT_E_VOCABULARY, "it has \"type\" twice" },
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
        { VOCAB ",\"merges\":[\"a b\"],\"continuing_subword_prefix\":\"##\"", LEAT_E_UNSUPPORTED, "shorter than" },
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
        { "\"normalizer\":{\"append\":\"x\"}", LEAT_E_VOCABULARY, "without \"type\", and its members are of none" },
        { "\"normalizer\":7", LEAT_E_VOCABULARY, "must be an object, not a number" },
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
        { "\"pre_tokenizer\":{\"type\":\"FixedLength\",\"length\":\"x\"}", LEAT_E_VOCABULARY,
          "\"length\" must be a whole number" },
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
        { "\"added_tokens\":[{\"content\":\"X\"}]", LEAT_E_VOCABULARY, "added_tokens: it lacks \"id\"" },
        { "\"added_tokens\":[{\"id\":-1}]", LEAT_E_VOCABULARY, "\"id\" must be a whole number" },
        { "\"added_tokens\":[{\"id\":3,\"content\":\"X\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"
          "\"normalized\":false}]",
          LEAT_E_VOCABULARY, "lacks \"special\"" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        refused(with(rows[i].parts), rows[i].status, rows[i].sentence);
}

int main(void)
{
    test_place();
    test_broken_frame();
    test_broken_model();
    test_broken_parts();
    return t_end();
}
