/*
 * test_guessed_types.c: parts of a tokenizer.json as serde reads them, with which tokenizers 0.23.3 is written:
 * components and models without a type or with one that it does not know are the first whose members are there; an
 * array is a component with all of its members in order; {"NAME": null} is a name. What is expected was tried with that
 * library, file by file. Files of other programs have such parts: leat refused them.
 */
#include "made_json.h"

#define BERT_MEMBERS "\"clean_text\":true,\"handle_chinese_chars\":false,\"lowercase\":true"

/* Kinds of all entries, 0 after the last. */
struct row {
    const char *part;
    unsigned kinds[6];
};

static const struct row normalizers[] = {
    { "{\"prepend\":\"x\"}", { SPEC_NORM_PREPEND } },
    { "{\"type\":\"Nope\",\"prepend\":\"x\"}", { SPEC_NORM_PREPEND } },
    { "{\"type\":7,\"prepend\":\"x\"}", { SPEC_NORM_PREPEND } },
    { "{\"type\":null,\"strip_left\":true,\"strip_right\":false,\"prepend\":\"x\"}", { SPEC_NORM_STRIP } },
    { "{\"strip_left\":1,\"strip_right\":false,\"prepend\":\"x\"}", { SPEC_NORM_PREPEND } },
    { "{\"content\":\"\",\"pattern\":{\"String\":\"a\"},\"prepend\":\"x\"}", { SPEC_NORM_REPLACE } },
    { "{\"normalizers\":[{\"prepend\":\"x\"},[true,true]]}", { SPEC_NORM_PREPEND, SPEC_NORM_STRIP } },
    { "{" BERT_MEMBERS "}", { SPEC_NORM_CLEAN, SPEC_NORM_NFD, SPEC_NORM_NONSPACING, SPEC_NORM_LOWERCASE } },
    { "{\"type\":\"Bert\",\"strip_accents\":false," BERT_MEMBERS "}", { SPEC_NORM_CLEAN, SPEC_NORM_LOWERCASE } },
    { "{\"type\":\"BertNormalizer\",\"prepend\":\"x\"}", { SPEC_NORM_PREPEND } }, /* it knows that one as Bert */
    { "{\"type\":{\"NFC\":null}}", { SPEC_NORM_NFC } },
    { "[\"NFKD\"]", { SPEC_NORM_NFKD } },
    { "[{\"StripAccents\":null}]", { SPEC_NORM_STRIP_ACCENTS } },
    { "[\"ByteLevel\"]", { SPEC_NORM_PREPEND } }, /* which is tried before */
    { "[true,true,false,true]", { SPEC_NORM_CLEAN, SPEC_NORM_SPACE_HAN, SPEC_NORM_LOWERCASE } },
    { "[true,true,null,true]",
      { SPEC_NORM_CLEAN, SPEC_NORM_SPACE_HAN, SPEC_NORM_NFD, SPEC_NORM_NONSPACING, SPEC_NORM_LOWERCASE } },
    { "[[[\"NFC\"],{\"type\":\"NFD\"}]]", { SPEC_NORM_NFC, SPEC_NORM_NFD } },
    { "[{\"Regex\":\"a\"},\"x\"]", { SPEC_NORM_REPLACE } },
    { "{\"type\":\"Strip\",\"type\":\"Strip\",\"prepend\":\"x\"}", { SPEC_NORM_PREPEND } }, /* no type */
    { "[[{\"type\":7,\"type\":\"NFC\",\"prepend\":\"x\"}]]", { SPEC_NORM_NFC } },           /* but the last one here */
};

static const struct row pre_tokenizers[] = {
    { "[\"Whitespace\"]", { SPEC_PRE_WHITESPACE } },
    { "[\"BertPreTokenizer\"]", { SPEC_PRE_WHITESPACE_SPLIT, SPEC_PRE_PUNCTUATION } },
    { "[\"Metaspace\",\"_\",null,{\"never\":null},true,\"x\"]", { SPEC_PRE_METASPACE } },
    { "[\"Split\",{\"String\":\"x\"},\"Removed\",false]", { SPEC_PRE_SPLIT } },
    { "{\"type\":{\"CharDelimiterSplit\":null},\"delimiter\":\"x\"}", { SPEC_PRE_SPLIT } },
    { "{\"type\":\"Punctuation\",\"behavior\":{\"Removed\":null}}", { SPEC_PRE_PUNCTUATION } },
    { "{\"type\":\"Sequence\",\"pretokenizers\":[[\"UnicodeScripts\"],{\"type\":\"WhitespaceSplit\"}]}",
      { SPEC_PRE_SCRIPTS, SPEC_PRE_WHITESPACE_SPLIT } },
};

static const struct row decoders[] = {
    { "{\"suffix\":\"x\",\"prefix\":\"\",\"cleanup\":true}", { SPEC_DECODE_BPE } },
    { "{\"prefix\":\"\",\"cleanup\":true}", { SPEC_DECODE_WORDPIECE } },
    { "{\"type\":\"BPE\",\"pad_token\":\"\",\"word_delimiter_token\":\"\",\"cleanup\":true}", { SPEC_DECODE_CTC } },
    { "{\"content\":\"x\",\"start\":0,\"stop\":1}", { SPEC_DECODE_STRIP } },
    { "{\"content\":\"x\",\"start\":0,\"stop\":1,\"pattern\":{\"String\":\"\"}}", { SPEC_DECODE_REPLACE } },
    { "[\"Fuse\"]", { SPEC_DECODE_BPE } },
    { "[\"x\",1,0]", { SPEC_DECODE_STRIP } },
    { "[\"x\",\"y\",true]", { SPEC_DECODE_CTC } },
    { "{\"type\":{\"Fuse\":null}}", { SPEC_DECODE_FUSE } },
    { "{\"type\":\"Sequence\",\"decoders\":[[\"x\"],{\"type\":\"ByteFallback\"}]}",
      { SPEC_DECODE_BPE, SPEC_DECODE_BYTE_FALLBACK } },
};

static unsigned kind_of(const struct tokenizer_spec *spec, const char *part, uint32_t i)
{
    if (*part == 'n')
        return i < spec->normalizer_count ? (unsigned)spec->normalizers[i].kind : 0;
    if (*part == 'p')
        return i < spec->pre_tokenizer_count ? (unsigned)spec->pre_tokenizers[i].kind : 0;
    return i < spec->decoder_count ? (unsigned)spec->decoders[i].kind : 0;
}

static void test_components(const char *part, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct tokenizer_spec *spec;
        const char *member = t_text("\"%s\":%s", part, rows[i].part);

        if (load(&spec, with(member)) != LEAT_OK) {
            T_FAIL("%s: %s", member, t_err.message);
            continue;
        }
        for (uint32_t k = 0; k < 6; k++)
            if (kind_of(spec, part, k) != rows[i].kinds[k])
                T_FAIL("%s: entry %u is of kind %u", member, (unsigned)k, kind_of(spec, part, k));
        spec_free(spec);
    }
}

/* What was read of a component that was not taken leaves nothing behind. */
static void test_nothing_left(void)
{
    struct tokenizer_spec *spec;

    T_OK(load(&spec, with("\"normalizer\":{\"strip_left\":true,\"pattern\":{\"Regex\":\"a\"},\"prepend\":\"x\"},"
                          "\"decoder\":{\"prefix\":\"##\",\"content\":\"y\",\"start\":2,\"stop\":0}")));
    T_CHECK(!spec->normalizers[0].strip_left && !spec->normalizers[0].pattern.text.length);
    T_CHECK(spec->decoders[0].kind == SPEC_DECODE_STRIP && spec->decoders[0].content.bytes[0] == 'y');
    spec_free(spec);
}

#define WORDS "\"vocab\":{\"a\":0,\"b\":1,\"##b\":2}"

static void test_models(void)
{
    static const struct {
        const char *members;
        enum spec_model model;
    } rows[] = {
        { "\"type\":{\"BPE\":null}," WORDS ",\"merges\":[]", SPEC_MERGES },
        { WORDS ",\"merges\":[],\"unk_token\":\"a\"", SPEC_MERGES },
        /* the merges need a token that the vocabulary lacks */
        { WORDS ",\"merges\":[\"a b\"],\"unk_token\":\"a\"", SPEC_WORDLEVEL },
        { WORDS ",\"merges\":[],\"dropout\":1.5,\"unk_token\":\"a\"", SPEC_WORDLEVEL },
        { WORDS ",\"unk_token\":\"a\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":9",
          SPEC_WORDPIECE },
        { WORDS ",\"unk_token\":\"a\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":-9",
          SPEC_WORDLEVEL },
        { "\"vocab\":[[\"a\",0]]", SPEC_UNIGRAM },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tokenizer_spec *spec;

        if (load(&spec, with_model(rows[i].members)) != LEAT_OK || spec->model != rows[i].model)
            T_FAIL("%s: %s", rows[i].members, spec ? "another model" : t_err.message);
        if (spec && spec->model == SPEC_WORDLEVEL)
            T_CHECK(spec->continuing_prefix.length == 0 && spec->merge_count == 0);
        spec_free(spec);
    }
}

#define LIMITS "\"max_length\":5,\"stride\":0"
#define PAD    "\"pad_id\":0,\"pad_type_id\":0,\"pad_token\":\"\""
#define PAIR   "[\"a\",0]"

static void test_whole_parts(void)
{
    static const char *const rows[] = {
        "\"truncation\":{\"strategy\":\"LongestFirst\"," LIMITS "}",
        "\"truncation\":{\"direction\":\"Left\",\"strategy\":{\"OnlyFirst\":null}," LIMITS ",\"x\":1,\"x\":2}",
        "\"truncation\":[\"Right\",18446744073709551615,\"OnlySecond\",0]",
        "\"truncation\":null,\"padding\":null,\"post_processor\":null",
        "\"padding\":{\"strategy\":\"BatchLongest\",\"direction\":\"Right\"," PAD "}",
        "\"padding\":{\"strategy\":{\"Fixed\":5},\"direction\":\"Left\",\"pad_to_multiple_of\":null," PAD "}",
        "\"padding\":[{\"BatchLongest\":null},{\"Left\":null},null,4294967295,0,\"\"]",
        "\"truncation\":{\"strategy\":5},\"padding\":\"longest\"", /* of which nothing is used */
        "\"post_processor\":{\"type\":7,\"sep\":" PAIR ",\"cls\":" PAIR "}",
        "\"post_processor\":[" PAIR "," PAIR "]",
        "\"post_processor\":{\"type\":\"Sequence\",\"processors\":[[" PAIR "," PAIR ",true,false]]}",
        "\"post_processor\":[[{\"Sequence\":[\"A\",0]},{\"SpecialToken\":[\"none\",0]}],[],{}]",
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tokenizer_spec *spec;

        if (load(&spec, with(rows[i])) != LEAT_OK)
            T_FAIL("%s: %s", rows[i], t_err.message);
        spec_free(spec);
    }
}

static void test_refused(void)
{
    static const struct {
        const char *part, *sentence;
    } rows[] = {
        { "\"normalizer\":[true,false,true]", "a normalizer without \"type\", and its members are of none" },
        { "\"normalizer\":{\"precompiled_charsmap\":\"BAAAAAEAAABhAA==\"}", "without \"type\"" },
        { "\"pre_tokenizer\":{\"replacement\":\"_\"}", "a pre_tokenizer without \"type\"" },
        { "\"pre_tokenizer\":[\"Digits\",true]", "a pre_tokenizer without \"type\"" },
        { "\"pre_tokenizer\":[\"Metaspace\",\"_\",null,\"always\",true]", "a pre_tokenizer without \"type\"" },
        { "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\",\"str_rep\":5}", "\"str_rep\" must be a" },
        { "\"decoder\":{\"decoders\":[]}", "a decoder without \"type\"" },
        { "\"decoder\":[[]]", "a decoder without \"type\"" },
        { "\"post_processor\":{\"type\":\"Another\"}", "it has the members of no post-processor" },
        { "\"post_processor\":[7]", "it has the members of no post-processor" },
        { "\"post_processor\":{\"type\":\"BertProcessing\",\"cls\":" PAIR "}",
          "it has the members of no post-processor" },
        { "\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":[\"a\",-1],\"cls\":" PAIR "}",
          "it has the members of no post-processor" },
        { "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":\"$A\",\"pair\":[],\"special_tokens\":{}}",
          "it has the members of no post-processor" },
        { "\"post_processor\":{\"processors\":[]}", "it has the members of no post-processor" },
        { "\"post_processor\":{\"type\":\"Sequence\",\"processors\":[{\"type\":\"Another\"}]}",
          "it has the members of no post-processor" },
        { "\"added_tokens\":[{\"id\":4294967296}]", "\"id\" must be a whole number below 2^32" },
        { "\"added_tokens\":[{\"id\":3,\"id\":3}]", "it has \"id\" twice" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tokenizer_spec *spec;

        if (load(&spec, with(rows[i].part)) != LEAT_E_VOCABULARY || !strstr(t_err.message, rows[i].sentence))
            T_FAIL("%s: \"%s\" instead of \"%s\"", rows[i].part, t_err.message, rows[i].sentence);
        spec_free(spec);
    }
}

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

int main(void)
{
    test_components("normalizer", normalizers, COUNT(normalizers));
    test_components("pre_tokenizer", pre_tokenizers, COUNT(pre_tokenizers));
    test_components("decoder", decoders, COUNT(decoders));
    test_nothing_left();
    test_models();
    test_whole_parts();
    test_refused();
    return t_end();
}
