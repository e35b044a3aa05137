/*
 * test_assemble.c: vocab.json with merges.txt becomes the tokenizer.json that GPT2Tokenizer and Qwen2Tokenizer of
 * transformers make of it: the same fingerprint as a file that they wrote, for what files beside it say of added
 * tokens. Folders of other classes are refused with the line that makes a tokenizer.json, where a vocabulary does not
 * say how text is encoded, or a sentencepiece model's ids are not the class's. The special tokens of a *.tiktoken that
 * only tokenizer_config.json has, and models by other names.
 */
#include "leat_pack.h"
#include "t.h"

#include "tokenizer/load/spec_open.h"

#define ADDED(id, text, lstrip, normalized, special)                                                                   \
    "{\"id\":" id ",\"content\":\"" text "\",\"single_word\":false,\"lstrip\":" lstrip ",\"rstrip\":false,"            \
    "\"normalized\":" normalized ",\"special\":" special "}"
#define SPECIAL(id, text) ADDED(id, text, "false", "false", "true")
#define PAIRS             "{\"a\":0,\"b\":1,\"ab\":2,\"\\u0120\":3,\"<s>\":4}"
#define MERGES            "#version: 0.2\na b\r\n"
#define LEVEL(space, regex)                                                                                            \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":" space ",\"trim_offsets\":true,\"use_regex\":" regex "}"
#define BPE(pipeline)                                                                                                  \
    pipeline ",\"decoder\":" LEVEL("true", "true") ",\"model\":{\"type\":\"BPE\",\"vocab\":" PAIRS                     \
                                                   ",\"merges\":[\"a b\"]}}"
#define QWEN                                                                                                           \
    "\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":"         \
    "\"Split\",\"pattern\":{\"Regex\":\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|"         \
    "\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"},\"behavior\":"    \
    "\"Isolated\",\"invert\":false}," LEVEL("false", "false") "]}"

struct row {
    const char *config, *model, *map, *added; /* files; NULL: missing */
    const char *whole; /* the tokenizer.json; of those that are refused, a part of the sentence */
};

#define END(id)   SPECIAL(id, "<|endoftext|>")
#define GPT2(end) "{\"added_tokens\":[" end "],\"pre_tokenizer\":" BPE(LEVEL("false", "true"))

static const struct row pairs[] = {
    { "{\"tokenizer_class\":\"GPT2Tokenizer\",\"add_prefix_space\":true,\"add_bos_token\":true}", NULL, NULL, NULL,
      "{\"added_tokens\":[" END("5") "],\"pre_tokenizer\":" BPE(LEVEL("true", "true")) },
    { NULL, NULL, NULL, NULL, GPT2(END("5")) },
    { NULL, "{\"model_type\":\"gpt2\"}", NULL, NULL, GPT2(END("5")) },
    { "{\"tokenizer_class\":\"GPT2Tokenizer\",\"eos_token\":{\"__type\":\"AddedToken\",\"content\":\"<z>\","
      "\"lstrip\":true}}",
      NULL, NULL, NULL, GPT2(END("5") "," ADDED("6", "<z>", "true", "false", "true")) },
    /* listed tokens first, in the order of their ids, which do not count; then those with names, then the others */
    { "{\"extra_special_tokens\":[\"<e>\",\"ab\"]}", NULL,
      "{\"eos_token\":{\"content\":\"<m>\",\"lstrip\":true},\"image_token\":\"<i>\"}", "{\"x\":31,\"y\":30,\"<e>\":32}",
      GPT2(ADDED("5", "y", "false", "true", "false") "," ADDED("6", "x", "false", "true", "false") "," SPECIAL(
          "7", "<e>") "," END("8") "," ADDED("9", "<m>", "true", "false",
                                             "true") "," SPECIAL("10", "<i>") "," SPECIAL("2", "ab")) },
    { "{\"added_tokens_decoder\":{\"4\":{\"content\":\"<s>\",\"lstrip\":true,\"normalized\":false,\"special\":true}}}",
      NULL, "{\"eos_token\":\"<not read>\"}", "{\"not read\":7}",
      GPT2(ADDED("4", "<s>", "true", "false", "true") "," END("5")) },
    /* Qwen2Tokenizer forgets what a file says of its special tokens */
    { "{\"tokenizer_class\":\"Qwen2Tokenizer\",\"eos_token\":\"<s>\",\"added_tokens_decoder\":{\"9\":{\"content\":"
      "\"<s>\",\"lstrip\":true}}}",
      NULL, NULL, NULL, "{\"added_tokens\":[" SPECIAL("4", "<s>") "," END("5") "]," BPE(QWEN) },
    { NULL, "{\"tokenizer_class\":\"Qwen2TokenizerFast\",\"model_type\":\"x\"}", NULL, NULL,
      "{\"added_tokens\":[" END("5") "]," BPE(QWEN) },
};

static const struct row refused_pairs[] = {
    { "{\"tokenizer_class\":\"RobertaTokenizer\"}", NULL, NULL, NULL,
      "tokenizer RobertaTokenizer are not supported; let" },
    { "{\"tokenizer_class\":\"X Y\"}", NULL, NULL, NULL, "tokenizer X Y are not" },
    { "{\"tokenizer_class\":null}", "{\"model_type\":\"clip\"}", NULL, NULL, "tokenizer clip are not" },
    { "{\"add_eos_token\":true,\"eos_token\":null}", NULL, NULL, NULL, "removes a token that stands around texts" },
    { "{\"extra_special_tokens\":{\"a\":\"b\"}}", NULL, NULL, NULL, "that are not a list" },
    { "{\"image_token\":{\"content\":\"<i>\"}}", NULL, NULL, NULL, "a token of another name, as an object" },
};

static const struct row broken_pairs[] = {
    { "{\"add_prefix_space\":1}", NULL, NULL, NULL, "an option of the tokenizer must be true or false (byte" },
    { "{\"add_prefix_space\":null}", NULL, NULL, NULL, "an option of the tokenizer must be true or false (byte" },
    { "{\"unk_token\":[]}", NULL, NULL, NULL, "neither a string nor an object" },
    { "{\"added_tokens_decoder\":{\"x\":{\"content\":\"b\"}}}", NULL, NULL, NULL, "not a text with an id" },
    { "{\"added_tokens_decoder\":{\"9\":{\"content\":\"b\",\"lstrip\":1}}}", NULL, NULL, NULL, "a flag of a token is" },
    { NULL, NULL, NULL, "[]", "the added tokens are not an object" },
};

static void put_bytes(const char *folder, const char *name, const char *bytes, size_t size)
{
    const char *path = t_path(folder, name);
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(bytes, 1, size, f) < size || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static void put(const char *folder, const char *name, const char *text)
{
    if (text)
        put_bytes(folder, name, text, strlen(text));
    else
        remove(t_path(folder, name));
}

static void put_row(const char *folder, const struct row *r)
{
    put(folder, "tokenizer_config.json", r->config);
    put(folder, "config.json", r->model);
    put(folder, "special_tokens_map.json", r->map);
    put(folder, "added_tokens.json", r->added);
}

static void same(const char *folder, const struct row *r)
{
    struct opened_spec parts, whole, stored;

    put_row(folder, r);
    T_OK(spec_open(&parts, folder, NULL, &t_err));
    T_STR(parts.at.name, "tokenizer.json");
    T_OK(spec_open_stored(&whole, (const uint8_t *)r->whole, strlen(r->whole), "whole", NULL, &t_err));
    T_OK(spec_open_stored(&stored, parts.at.stored, parts.at.stored_size, "stored", NULL, &t_err));
    if (memcmp(parts.print, whole.print, FINGERPRINT_BYTES) != 0)
        T_FAIL("%s: not %s", r->config ? r->config : r->model, r->whole);
    T_CHECK(memcmp(parts.print, stored.print, FINGERPRINT_BYTES) == 0);
    spec_close(&parts);
    spec_close(&whole);
    spec_close(&stored);
}

static void not_opened(const char *name, enum leat_status status, const char *sentence)
{
    struct opened_spec o;
    enum leat_status s = spec_open(&o, name, NULL, &t_err);

    if (s != status || !strstr(t_err.message, sentence))
        T_FAIL("%s: %s, \"%s\" instead of \"%s\"", name, leat_status_name(s), s ? t_err.message : "", sentence);
    spec_close(&o);
}

/* Opening is refused with a line that makes a tokenizer.json in the folder. */
static void refused_with_line(const char *name, const char *folder)
{
    not_opened(
        name, LEAT_E_UNSUPPORTED,
        t_text(
            "; let transformers write a tokenizer.json: AutoTokenizer.from_pretrained(\"%s\").save_pretrained(\"%s\")",
            folder, folder));
}

static void test_words(void)
{
    const char *folder = t_folder();

    put(folder, "vocab.txt", "[UNK]\nthe\n##s\n");
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\":\"BertTokenizer\"}");
    refused_with_line(folder, folder);
    refused_with_line(t_path(folder, "vocab.txt"), folder);
    not_opened(folder, LEAT_E_UNSUPPORTED, "vocab.txt alone does not say how text is encoded; let");
}

static void test_pairs(void)
{
    const char *folder = t_folder();

    put(folder, "vocab.json", PAIRS);
    put_row(folder, &pairs[0]);
    not_opened(folder, LEAT_E_NO_FILE, "has no tokenizer");
    not_opened(t_text("%s/vocab.json", folder), LEAT_E_NO_FILE, "needs the file merges.txt beside it");
    put(folder, "merges.txt", MERGES);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        same(folder, &pairs[i]);
    for (size_t i = 0; i < sizeof refused_pairs / sizeof refused_pairs[0]; i++) {
        put_row(folder, &refused_pairs[i]);
        not_opened(folder, LEAT_E_UNSUPPORTED, refused_pairs[i].whole);
    }
    for (size_t i = 0; i < sizeof broken_pairs / sizeof broken_pairs[0]; i++) {
        put_row(folder, &broken_pairs[i]);
        not_opened(folder, LEAT_E_VOCABULARY, broken_pairs[i].whole);
    }
    put_row(folder, &refused_pairs[0]);
    refused_with_line(folder, folder);
    put_row(folder, &pairs[0]);
    put(folder, "merges.txt", MERGES "\n");
    not_opened(folder, LEAT_E_VOCABULARY, "merge 2, \"\", must be two tokens");
    put(folder, "vocab.json", "[1]");
    not_opened(folder, LEAT_E_VOCABULARY, "a vocabulary must be an object");
    put(folder, "vocab.json", "{\"a\":-1}");
    not_opened(folder, LEAT_E_VOCABULARY, "the id of a token must be a whole number");
}

/* The special tokens of a *.tiktoken lie in another file; a dataset stores both. */
static void test_tiktoken(void)
{
    const char *folder = t_folder();
    struct leat_stored_tokenizer stored;
    struct leat_tokenizer_options options = LEAT_TOKENIZER_OPTIONS_INIT;
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT, again = LEAT_TOKENIZER_INFO_INIT;
    struct leat_tokenizer *t, *u;
    uint32_t id;

    put(folder, "own.tiktoken", "\xef\xbb\xbfYQ== 0\nYg== +1\n");
    put(folder, "tokenizer_config.json", "{\"added_tokens_decoder\":{\"7\":{\"content\":\"<\\\"end\\\">\"}}}");
    options.pattern = "qwen"; /* with NFC */
    T_OK(leat_tokenizer_open(&t, folder, &options, &t_err));
    leat_tokenizer_stored(t, &stored);
    T_STR(stored.name, "own.tiktoken");
    T_STR(stored.pattern, "");
    T_OK(leat_tokenizer_open_stored(&u, &stored, &t_err));
    leat_tokenizer_info(t, &info);
    leat_tokenizer_info(u, &again);
    T_EQ(info.vocabulary, 8);
    T_CHECK(memcmp(info.fingerprint, again.fingerprint, sizeof info.fingerprint) == 0);
    T_OK(leat_tokenizer_find(u, "<\"end\">", 7, &id, &t_err));
    T_EQ(id, 7);
    leat_tokenizer_close(t);
    leat_tokenizer_close(u);
}

static void not_added(const char *folder, const char *name, const char *text, const char *sentence)
{
    put(folder, name, text);
    not_opened(folder, sentence[0] == ':' ? LEAT_E_VOCABULARY : LEAT_E_UNSUPPORTED, sentence);
    put(folder, name, "{}");
}

/* Tokens that files beside a model of sentencepiece add: it must have them already. They were text without a word. */
static void test_added_pieces(void)
{
    static const char model[] = "\x0a\x0e\x0a\x05<unk>\x15\x01\x01\x01\x01\x18\x02\x0a\x08\x0a\x01"
                                "a\x15\x01\x01\x01\x01\x12\x02\x18\x02";
    const char *folder = t_folder();
    struct opened_spec o;
    char file[1024];

    put(folder, "spiece.model", model);
    put(folder, "added_tokens.json", "{\"a\":1}");
    put(folder, "special_tokens_map.json", "{\"eos_token\":\"a\"}");
    T_OK(spec_open(&o, folder, NULL, &t_err));
    T_EQ(o.end.id, 1);
    spec_close(&o);
    /* which file names the end: the map, unless the configuration lists added tokens */
    put(folder, "tokenizer_config.json", "{\"eos_token\":\"<unk>\"}");
    T_OK(spec_open(&o, folder, NULL, &t_err));
    T_EQ(o.end.id, 1);
    spec_close(&o);
    put(folder, "tokenizer_config.json",
        "{\"eos_token\":\"<unk>\",\"added_tokens_decoder\":{\"1\":{\"content\":\"a\"}}}");
    T_OK(spec_open(&o, folder, NULL, &t_err));
    T_EQ(o.end.id, 0);
    spec_close(&o);
    put(folder, "tokenizer_config.json", "{}");
    not_added(folder, "added_tokens.json", "{\"a\":2}", "added_tokens.json adds the token a, which ");
    not_added(folder, "added_tokens.json", "{\"<x>\":2}", "spiece.model lacks; name the file itself");
    not_added(folder, "added_tokens.json", "{\"a\":\"1\"}", ": an id must be a whole number");
    not_added(folder, "added_tokens.json", "[]", ": added tokens must be an object");
    not_added(folder, "tokenizer_config.json", "{\"added_tokens_decoder\":{\"2\":{\"content\":\"<x>\"}}}",
              "tokenizer_config.json adds the token <x>, which ");
    not_added(folder, "tokenizer_config.json", "{\"added_tokens_decoder\":{\"2\":{\"content\":\"a\"}}}",
              "has with another id");
    not_added(folder, "tokenizer_config.json", "{\"added_tokens_decoder\":{\"2\":{}}}", ": an added token is neither");
    not_added(folder, "tokenizer_config.json", "{\"additional_special_tokens\":[\"a\",\"<x>\"]}", "the token <x>");
    not_added(folder, "tokenizer_config.json", "{\"extra_special_tokens\":[{\"content\":\"<x>\"}]}", "the token <x>");
    T_OK(spec_open(&o, folder, NULL, &t_err));
    spec_close(&o);
    put(folder, "added_tokens.json", "{\"<x>\":2}"); /* not for the file itself */
    snprintf(file, sizeof file, "%s/spiece.model", folder);
    T_OK(spec_open(&o, file, NULL, &t_err));
    spec_close(&o);
}

/* A model of sentencepiece by each of its names; and where its ids are not those that transformers would give. */
static void test_sentencepiece(void)
{
    static const char *const names[] = { "tokenizer.model",     "spiece.model", "sentencepiece.bpe.model",
                                         "sentencepiece.model", "spm.model",    "tokenizer.model.v3" };
    static const char model[] = "\x0a\x0e\x0a\x05<unk>\x15\x01\x01\x01\x01\x18\x02\x0a\x08\x0a\x01"
                                "a\x15\x01\x01\x01\x01\x12\x02\x18\x02";

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *folder = t_folder();
        struct opened_spec o;

        put(folder, names[i], model);
        T_OK(spec_open(&o, folder, NULL, &t_err));
        T_STR(o.at.name, names[i]);
        spec_close(&o);
        put(folder, "tokenizer_config.json", "{\"tokenizer_class\":\"XGLMTokenizerFast\"}");
        not_opened(folder, LEAT_E_UNSUPPORTED, "the ids of a XGLMTokenizer are not those of its");
        T_OK(spec_open(&o, t_text("%s/%s", folder, names[i]), NULL, &t_err));
        spec_close(&o);
    }
}

/* Classes that give other ids than their sentencepiece model, by their names or by the type of a model; and types
 * beside which transformers makes another tokenizer: there the ids are sentencepiece's, as for the file alone. */
static void test_classes(void)
{
    static const struct {
        const char *config, *model, *sentence; /* NULL: it is opened */
    } rows[] = {
        { "{\"tokenizer_class\":\"T5TokenizerFast\"}", NULL, "the ids of a T5Tokenizer are not those of its" },
        { "{\"tokenizer_class\":\"T5Tokenizer\"}", "{\"model_type\":\"umt5\"}", NULL },
        { NULL, "{\"model_type\":\"mt5\"}", "the ids of a T5Tokenizer are" },
        { "{\"tokenizer_class\":\"LlamaTokenizer\"}", "{\"model_type\":\"llama\"}", "the ids of a LlamaTokenizer are" },
        { "{\"tokenizer_class\":\"LlamaTokenizer\"}", "{\"model_type\":\"mistral\"}", NULL },
        { "{}", "{\"model_type\":\"llama\"}", NULL },
        { "{}", "{\"model_type\":\"gemma2\"}", "the ids of a GemmaTokenizer are" },
        { "{\"tokenizer_class\":\"XLMRobertaTokenizer\"}", "{\"model_type\":\"x\"}", "a XLMRobertaTokenizer are not" },
        { "{\"tokenizer_class\":null}", "{\"model_type\":\"m2m_100\"}", "; its class has no tokenizer.json: encode" },
        { "{}", "{\"tokenizer_class\":\"XGLMTokenizer\"}", "; let transformers write a tokenizer.json" },
        { "{\"tokenizer_class\":\"Foo\"}", "{\"model_type\":\"t5\"}", NULL },
    };
    static const char model[] = "\x0a\x0e\x0a\x05<unk>\x15\x01\x01\x01\x01\x18\x02\x12\x02\x18\x02";
    const char *folder = t_folder();
    struct opened_spec o;

    put(folder, "spiece.model", model);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        put(folder, "tokenizer_config.json", rows[i].config);
        put(folder, "config.json", rows[i].model);
        if (rows[i].sentence) {
            not_opened(folder, LEAT_E_UNSUPPORTED, rows[i].sentence);
        } else {
            T_OK(spec_open(&o, folder, NULL, &t_err));
            T_STR(o.at.name, "spiece.model");
            spec_close(&o);
        }
        T_OK(spec_open(&o, t_path(folder, "spiece.model"), NULL, &t_err));
        spec_close(&o);
    }
    put(folder, "config.json", NULL);
    put(folder, "tokenizer_config.json", rows[0].config);
    refused_with_line(folder, folder);
}

int main(void)
{
    test_words();
    test_pairs();
    test_tiktoken();
    test_sentencepiece();
    test_added_pieces();
    test_classes();
    return t_end();
}
