/*
 * test_assemble_merges.c: a sentencepiece model that a class converts to BPE (Llama, Gemma, NLLB) becomes the
 * tokenizer.json that transformers 5.23.0 makes of it: the same fingerprint and the same tokens around texts as a file
 * that it wrote, for what the files beside the model say. Classes that number the tokens anew and are not converted are
 * refused, also where only a type of models names them: those gave sentencepiece's ids without a word.
 */
#include "made_sentencepiece.h"
#include "t.h"

#include "tokenizer/load/spec_open.h"

#define MARK "\342\226\201"

static const struct made_piece pieces[] = {
    { "<unk>", UNKNOWN, 0 },     { "<s>", CONTROL, 0 },      { "</s>", CONTROL, 0 },  { "<0x0A>", NORMAL, 0 },
    { "<u>", USER_DEFINED, 0 },  { "b", NORMAL, 0 },         { "ab", NORMAL, 0 },     { "a", NORMAL, 0 },
    { "aba", NORMAL, 0 },        { MARK, NORMAL, 0 },        { MARK "a", NORMAL, 0 }, { "\303\251", NORMAL, 0 },
    { "a\303\251b", NORMAL, 0 }, { "a\303\251", NORMAL, 0 }, { "ba", NORMAL, 0 },
};

#define ADDED(id, text, lstrip, normalized, special)                                                                   \
    "{\"id\":" id ",\"content\":\"" text "\",\"single_word\":false,\"lstrip\":" lstrip ",\"rstrip\":false,"            \
    "\"normalized\":" normalized ",\"special\":" special "}"
#define SPECIAL(id, text) ADDED(id, text, "false", "false", "true")
#define USER(id)          ADDED(id, "<u>", "false", "false", "false")
#define LLAMA             SPECIAL("0", "<unk>") "," SPECIAL("1", "<s>") "," SPECIAL("2", "</s>")
#define PADDED            SPECIAL("0", "<s>") "," SPECIAL("1", "<pad>")
#define NLLB              PADDED "," SPECIAL("2", "</s>") "," SPECIAL("3", "<unk>")
#define SPACE(scheme, split)                                                                                           \
    "{\"type\":\"Metaspace\",\"replacement\":\"" MARK "\",\"prepend_scheme\":\"" scheme "\",\"split\":" split "}"
#define BYTES(strip)                                                                                                   \
    ",\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"" MARK          \
    "\"},\"content\":\" \"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}" strip "]}"
#define STRIP ",{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}"
#define MODEL(unknown, bytes, vocabulary)                                                                              \
    ",\"model\":{\"type\":\"BPE\",\"dropout\":null,\"unk_token\":" unknown                                             \
    ",\"fuse_unk\":true,\"byte_fallback\":" bytes ",\"vocab\":{" vocabulary                                            \
    "},\"merges\":[[\"a\",\"b\"],[\"a\",\"ba\"],[\"ab\",\"a\"],[\"" MARK "\",\"a\"],"                                  \
    "[\"a\303\251\",\"b\"],[\"a\",\"\303\251\"],[\"b\",\"a\"]]}}"
#define OWN                                                                                                            \
    "\"<unk>\":0,\"<s>\":1,\"</s>\":2,\"<0x0A>\":3,\"<u>\":4,\"b\":5,\"ab\":6,\"a\":7,\"aba\":8,\"" MARK               \
    "\":9,\"" MARK "a\":10,\"\303\251\":11,\"a\303\251b\":12,\"a\303\251\":13,\"ba\":14"
#define ANEW                                                                                                           \
    "\"<s>\":0,\"<pad>\":1,\"</s>\":2,\"<unk>\":3,\"<0x0A>\":4,\"<u>\":5,\"b\":6,\"ab\":7,\"a\":8,\"aba\":9,\"" MARK   \
    "\":10,\"" MARK "a\":11,\"\303\251\":12,\"a\303\251b\":13,\"a\303\251\":14,\"ba\":15"
#define NLLB_REST                                                                                                      \
    "],\"pre_tokenizer\":" SPACE("always", "true") ",\"decoder\":" SPACE("always", "true")                             \
        MODEL("\"<unk>\"", "false", ANEW)

static const struct {
    const char *model, *config, *type, *map, *added; /* files; NULL: missing */
    const char *whole;                               /* the tokenizer.json, without its post-processor */
    uint32_t before, after;
    bool other; /* more than one token on a side */
} rows[] = {
    { "tokenizer.model", "{\"tokenizer_class\":\"LlamaTokenizer\",\"legacy\":true,\"add_bos_token\":true}", NULL, NULL,
      NULL,
      "{\"added_tokens\":[" LLAMA "," USER("4") "],\"pre_tokenizer\":" SPACE("always", "false") BYTES(STRIP)
          MODEL("null", "true", OWN),
      1, SPEC_NONE, false },
    { "tokenizer.model", "{\"tokenizer_class\":\"LlamaTokenizerFast\",\"add_prefix_space\":null,\"legacy\":null}",
      "{\"model_type\":\"llama\"}", NULL, NULL,
      "{\"added_tokens\":[" LLAMA "," USER("4") "],\"pre_tokenizer\":" SPACE("first", "false") BYTES(STRIP)
          MODEL("null", "true", OWN),
      SPEC_NONE, SPEC_NONE, false },
    /* what added_tokens.json lists is special if another file lists it as such; both files' extra tokens count */
    { "tokenizer.model",
      "{\"tokenizer_class\":\"LlamaTokenizer\",\"add_prefix_space\":false,\"extra_special_tokens\":[\"<x>\"]}", NULL,
      "{\"extra_special_tokens\":[\"<y>\"],\"additional_special_tokens\":[\"<z>\"]}", "{\"<x>\":20,\"ab\":21}",
      "{\"added_tokens\":[" LLAMA "," ADDED("6", "ab", "false", "true", "false") "," SPECIAL("15", "<x>") "," SPECIAL(
          "16", "<y>") "],\"pre_tokenizer\":" SPACE("never", "false") BYTES("") MODEL("null", "true", OWN),
      SPEC_NONE, SPEC_NONE, false },
    { "tokenizer.model", NULL, "{\"model_type\":\"gemma2\"}", NULL, NULL,
      "{\"added_tokens\":[" LLAMA
      "," USER("4") "," SPECIAL("15", "<bos>") "," SPECIAL("16", "<eos>") "," SPECIAL("17", "<pad>") "," SPECIAL(
          "18", "<mask>") "],\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":"
                          "\" \"},\"content\":\"" MARK
                          "\"},\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},"
                          "\"behavior\":\"MergedWithPrevious\",\"invert\":false}" BYTES("")
                              MODEL("\"<unk>\"", "true", OWN),
      SPEC_NONE, SPEC_NONE, false },
    { "sentencepiece.bpe.model", "{\"tokenizer_class\":\"NllbTokenizer\",\"additional_special_tokens\":[\"eng_Latn\"]}",
      "{\"model_type\":\"m2m_100\"}", NULL, NULL,
      "{\"added_tokens\":[" NLLB "," ADDED("16", "<mask>", "true", "true", "true") "," SPECIAL("17", "eng_Latn")
          NLLB_REST,
      17, 2, false },
    { "sentencepiece.bpe.model",
      "{\"tokenizer_class\":\"NllbTokenizer\",\"legacy_behaviour\":true,\"mask_token\":\"<m>\"}", NULL, NULL, NULL,
      "{\"added_tokens\":[" NLLB "," USER("5") "," ADDED("16", "<m>", "true", "true", "true") NLLB_REST, SPEC_NONE,
      SPEC_NONE, true },
};

static void put(const char *folder, const char *name, const char *text)
{
    FILE *f = text ? fopen(t_path(folder, name), "w") : NULL;

    if (text && (!f || fputs(text, f) < 0 || fclose(f) != 0))
        T_FAIL("%s cannot be written", name);
}

static void put_model(const char *folder, const char *name)
{
    write_model(t_path(folder, name), pieces, sizeof pieces / sizeof pieces[0], bpe_model, sizeof bpe_model);
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *folder = t_folder();
        struct opened_spec parts, whole;

        put_model(folder, rows[i].model);
        put(folder, "tokenizer_config.json", rows[i].config);
        put(folder, "config.json", rows[i].type);
        put(folder, "special_tokens_map.json", rows[i].map);
        put(folder, "added_tokens.json", rows[i].added);
        T_OK(spec_open(&parts, folder, NULL, &t_err));
        T_STR(parts.at.name, "tokenizer.json");
        T_OK(spec_open_stored(&whole, (const uint8_t *)rows[i].whole, strlen(rows[i].whole), "whole", NULL, &t_err));
        if (memcmp(parts.print, whole.print, FINGERPRINT_BYTES) != 0)
            T_FAIL("row %zu: not %s", i, rows[i].whole);
        T_EQ(parts.spec->around.before, rows[i].before);
        T_EQ(parts.spec->around.after, rows[i].after);
        T_EQ(parts.spec->around.other, rows[i].other);
        spec_close(&parts);
        spec_close(&whole);
    }
}

static void refused(const char *folder, const char *config, const char *type, const char *sentence)
{
    struct opened_spec o;

    put(folder, "tokenizer_config.json", config);
    put(folder, "config.json", type);
    if (spec_open(&o, folder, NULL, &t_err) != LEAT_E_UNSUPPORTED || !strstr(t_err.message, sentence))
        T_FAIL("%s, %s: \"%s\" instead of \"%s\"", config, type, t_err.message, sentence);
    spec_close(&o);
}

static void test_refused(void)
{
    const char *folder = t_folder(), *llama = t_folder();
    struct opened_spec o;

    put_model(folder, "sentencepiece.bpe.model");
    refused(folder, "{\"tokenizer_class\":\"SeamlessM4TTokenizerFast\"}", "{}", "name the file itself");
    refused(folder, "{\"tokenizer_class\":\"M2M100Tokenizer\"}", "{}",
            "its class has no tokenizer.json, so encode with");
    refused(folder, "{\"tokenizer_class\":null}", "{\"model_type\":\"m2m_100\"}", "the ids of a M2M100Tokenizer are");
    refused(folder, "{}", "{\"tokenizer_class\":\"XGLMTokenizer\"}", "let transformers write a tokenizer.json");
    refused(folder, "{\"tokenizer_class\":\"NllbTokenizer\",\"pad_token\":\"<s>\"}", "{}", "are the same");
    refused(folder, "{\"tokenizer_class\":\"NllbTokenizer\",\"eos_token\":null}", "{}", "removes a token of the");
    put_model(llama, "tokenizer.model");
    refused(llama, "{\"tokenizer_class\":\"GemmaTokenizer\",\"unk_token\":null}", "{}", "removes the unknown token");
    refused(llama, "{\"tokenizer_class\":\"LlamaTokenizer\",\"legacy\":1}", "{}", "other than true, false or null");
    /* a type of models of which transformers makes another tokenizer: sentencepiece's ids */
    put(llama, "tokenizer_config.json", "{\"tokenizer_class\":\"LlamaTokenizer\"}");
    put(llama, "config.json", "{\"model_type\":\"mistral\"}");
    T_OK(spec_open(&o, llama, NULL, &t_err));
    T_STR(o.at.name, "tokenizer.model");
    spec_close(&o);
}

int main(void)
{
    test_rows();
    test_refused();
    return t_end();
}
