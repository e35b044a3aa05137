/*
 * test_assemble.c: vocab.txt, vocab.json with merges.txt, and a sentencepiece model that a class converts become the
 * tokenizer.json that transformers makes of them: the same fingerprint as a file that it wrote, for each class, and for
 * what files beside them say of added tokens. What cannot be read is refused in words. The special tokens of a
 * *.tiktoken that only tokenizer_config.json has, and models by other names.
 */
#include "leat_pack.h"
#include "t.h"

#include "tokenizer/load/spec_open.h"

/* "the" twice; a token with a quote and a backslash; white space at an end; an empty line; no newline at the end */
#define WORDS "[PAD]\r\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n##s \nthe\n\n\"q\\\nh"
#define MODEL                                                                                                          \
    "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","                  \
    "\"max_input_chars_per_word\":100,\"vocab\":{\"[PAD]\":0,\"[UNK]\":1,\"[CLS]\":2,\"[SEP]\":3,\"[MASK]\":4,"        \
    "\"##s\":6,\"the\":7,\"\":8,\"\\\"q\\\\\":9,\"h\":10}}}"
#define BERT(accents, lowercase)                                                                                       \
    "\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,"                   \
    "\"strip_accents\":" accents ",\"lowercase\":" lowercase "},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"    \
    "\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},"
#define ADDED(id, text, lstrip, normalized, special)                                                                   \
    "{\"id\":" id ",\"content\":\"" text "\",\"single_word\":false,\"lstrip\":" lstrip ",\"rstrip\":false,"            \
    "\"normalized\":" normalized ",\"special\":" special "}"
#define SPECIAL(id, text) ADDED(id, text, "false", "false", "true")
#define FOUR              SPECIAL("0", "[PAD]") "," SPECIAL("1", "[UNK]") "," TWO_AND_THREE
#define TWO_AND_THREE     SPECIAL("2", "[CLS]") "," SPECIAL("3", "[SEP]")

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
    const char *whole;                        /* the tokenizer.json */
};

static const struct row words[] = {
    { "{\"tokenizer_class\":\"BertTokenizer\"}", NULL, NULL, NULL,
      "{\"added_tokens\":[" FOUR "," SPECIAL("4", "[MASK]") "]," BERT("null", "true") MODEL },
    { "{\"tokenizer_class\":\"DistilBertTokenizerFast\",\"do_lower_case\":false,\"strip_accents\":true}", NULL, NULL,
      NULL, "{\"added_tokens\":[" FOUR "," SPECIAL("4", "[MASK]") "]," BERT("true", "false") MODEL },
    { NULL, "{\"model_type\":\"electra\"}", NULL, NULL,
      "{\"added_tokens\":[" FOUR "," SPECIAL("4", "[MASK]") "]," BERT("null", "true") MODEL },
    /* listed tokens first, in the order of their ids, which do not count; then those with names, then the others */
    { "{\"tokenizer_class\":\"BertTokenizer\",\"extra_special_tokens\":[\"<e>\"]}", NULL,
      "{\"mask_token\":{\"content\":\"<m>\",\"lstrip\":true},\"image_token\":\"<i>\"}", "{\"x\":31,\"y\":30}",
      "{\"added_tokens\":[" ADDED("10", "y", "false", "true", "false") "," ADDED(
          "11", "x", "false", "true", "false") "," FOUR
                                               "," ADDED("12", "<m>", "true", "false", "true") "," SPECIAL(
                                                   "13", "<i>") "," SPECIAL("14", "<e>") "]," BERT("null", "true")
                                                   MODEL },
    { "{\"tokenizer_class\":\"BertTokenizer\",\"added_tokens_decoder\":{\"4\":{\"content\":\"[MASK]\",\"lstrip\":true,"
      "\"normalized\":false,\"special\":true}}}",
      NULL, "{\"mask_token\":\"<not read>\"}", "{\"not read\":7}",
      "{\"added_tokens\":[" ADDED("4", "[MASK]", "true", "false", "true") "," FOUR "]," BERT("null", "true") MODEL },
};

static const struct row pairs[] = {
    { "{\"tokenizer_class\":\"GPT2Tokenizer\",\"add_prefix_space\":true,\"add_bos_token\":true}", NULL, NULL, NULL,
      "{\"added_tokens\":[" SPECIAL("5", "<|endoftext|>") "],\"pre_tokenizer\":" BPE(LEVEL("true", "true")) },
    { "{\"tokenizer_class\":\"RobertaTokenizer\"}", NULL, NULL, NULL,
      "{\"added_tokens\":[" SPECIAL("4", "<s>") "," SPECIAL("5", "</s>") "," SPECIAL("6", "<unk>") "," SPECIAL(
          "7", "<pad>") "," SPECIAL("8", "<mask>") "],\"pre_tokenizer\":" BPE(LEVEL("false", "true")) },
    { "{\"tokenizer_class\":\"GPT2Tokenizer\",\"eos_token\":{\"__type\":\"AddedToken\",\"content\":\"<z>\","
      "\"lstrip\":true}}",
      NULL, NULL, NULL,
      "{\"added_tokens\":[" SPECIAL("5", "<|endoftext|>") "," ADDED(
          "6", "<z>", "true", "false", "true") "],\"pre_tokenizer\":" BPE(LEVEL("false", "true")) },
    /* Qwen2Tokenizer forgets what a file says of its special tokens */
    { "{\"tokenizer_class\":\"Qwen2Tokenizer\",\"eos_token\":\"<s>\",\"added_tokens_decoder\":{\"9\":{\"content\":"
      "\"<s>\",\"lstrip\":true}}}",
      NULL, NULL, NULL, "{\"added_tokens\":[" SPECIAL("4", "<s>") "," SPECIAL("5", "<|endoftext|>") "]," BPE(QWEN) },
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

static void test_words(void)
{
    static const struct {
        struct row files;
        enum leat_status status;
        const char *sentence;
    } refused[] = {
        { { .config = "{}" }, LEAT_E_UNSUPPORTED, "no file beside it names a tokenizer" },
        { { .config = "{\"tokenizer_class\":\"X Y\"}" }, LEAT_E_UNSUPPORTED, "the tokenizer X Y is not known" },
        { { .config = "{\"tokenizer_class\":\"GPT2Tokenizer\"}" }, LEAT_E_UNSUPPORTED, "GPT2Tokenizer is not known" },
        { { .config = "{\"tokenizer_class\":\"BertTokenizer\",\"do_lower_case\":1}" },
          LEAT_E_VOCABULARY,
          "an option of the tokenizer must be true or false (byte" },
        { { .config = "{\"tokenizer_class\":\"BertTokenizer\",\"unk_token\":null}" },
          LEAT_E_UNSUPPORTED,
          "tokenizer_config.json removes a token" },
        { { .config = "{\"tokenizer_class\":\"BertTokenizer\",\"unk_token\":[]}" },
          LEAT_E_VOCABULARY,
          "neither a string nor an object" },
        { { .config = "{\"tokenizer_class\":\"BertTokenizer\",\"extra_special_tokens\":{\"a\":\"b\"}}" },
          LEAT_E_UNSUPPORTED,
          "that are not a list" },
        { { .config = "{\"tokenizer_class\":\"BertTokenizer\",\"added_tokens_decoder\":{\"x\":{\"content\":\"b\"}}}" },
          LEAT_E_VOCABULARY,
          "an added token is not a text with an id" },
        { { .config = "{\"tokenizer_class\":\"BertTokenizer\"}", .added = "[]" },
          LEAT_E_VOCABULARY,
          "the added tokens are not an object" },
    };
    const char *folder = t_folder();

    put(folder, "vocab.txt", WORDS);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        same(folder, &words[i]);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        put_row(folder, &refused[i].files);
        not_opened(folder, refused[i].status, refused[i].sentence);
    }
    put_row(folder, &words[0]);
    put(folder, "vocab.txt", "a\n\xff\n");
    not_opened(folder, LEAT_E_VOCABULARY, "is not valid UTF-8 (byte 2)");
}

static void test_pairs(void)
{
    const char *folder = t_folder();
    char file[1024];

    put(folder, "vocab.json", PAIRS);
    put_row(folder, &pairs[0]);
    not_opened(folder, LEAT_E_NO_FILE, "has no tokenizer");
    snprintf(file, sizeof file, "%s/vocab.json", folder);
    not_opened(file, LEAT_E_NO_FILE, "needs the file merges.txt beside it");
    put(folder, "merges.txt", MERGES);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        same(folder, &pairs[i]);
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
    not_added(folder, "added_tokens.json", "{\"<x>\":2}", "spiece.model lacks: let transformers write");
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
    char file[1024];

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *folder = t_folder();
        struct opened_spec o;

        put(folder, names[i], model);
        T_OK(spec_open(&o, folder, NULL, &t_err));
        T_STR(o.at.name, names[i]);
        spec_close(&o);
        put(folder, "tokenizer_config.json", "{\"tokenizer_class\":\"XGLMTokenizerFast\"}");
        not_opened(folder, LEAT_E_UNSUPPORTED, "the ids of a XGLMTokenizer are not those of its");
        snprintf(file, sizeof file, "%s/%s", folder, names[i]);
        T_OK(spec_open(&o, file, NULL, &t_err));
        spec_close(&o);
    }
}

#define PIECE(size, length, text, score, type) "\x0a" size "\x0a" length text "\x15" score "\x18" type
#define SPACE                                                                                                          \
    "{\"type\":\"Metaspace\",\"replacement\":\"\u2581\",\"prepend_scheme\":\"always\","                                \
    "\"split\":true}"
#define T5_REST                                                                                                        \
    "\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"BAAAAAEBAQEA\"},\"pre_tokenizer\":{\"type\":" \
    "\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"}," SPACE "]},\"decoder\":" SPACE                    \
    ",\"model\":{\"type\":\"Unigram\",\"unk_id\":2,\"vocab\":[[\"<pad>\",0],[\"</s>\",0],[\"<unk>\",0],[\"a\","        \
    "-1.1000000238418579],[\"<u>\",-4],[\"<extra_id_1>\",0],[\"<extra_id_0>\",0]]}}"

#define T5_NAMED SPECIAL("0", "<pad>") "," SPECIAL("1", "</s>") "," SPECIAL("2", "<unk>")
#define TOKENS                                                                                                         \
    T5_NAMED "," ADDED("4", "<u>", "false", "false", "false") "," SPECIAL("5", "<extra_id_1>") "," SPECIAL(            \
        "6", "<extra_id_0>") "," ADDED("7", "z", "false", "true", "false")

static const char pieces[] =
    PIECE("\x0e", "\x05", "<pad>", "\0\0\0\0", "\x03") PIECE("\x0d", "\x04", "</s>", "\0\0\0\0", "\x03")
        PIECE("\x0e", "\x05", "<unk>", "\0\0\0\0", "\x02") PIECE("\x0a", "\x01", "a", "\xcd\xcc\x8c\xbf", "\x01")
            PIECE("\x0c", "\x03", "<u>", "\0\0\x80\xc0", "\x04") "\x12\x02\x18\x01\x1a\x0b\x12\x09\x04\0\0\0\1\1\1\1";

/* A sentencepiece model that a class converts: pieces after its own, scores that are read as the model's floats, extra
 * tokens, the map of characters, languages. With a type of model that is not the class's, and named alone, it is
 * sentencepiece's; its added tokens were refused. */
static void test_converted(void)
{
    static const struct row t5[] = {
        { "{\"tokenizer_class\":\"T5TokenizerFast\",\"extra_ids\":2}", NULL, NULL, "{\"z\":9}",
          "{\"added_tokens\":[" TOKENS "]," T5_REST },
        { "{\"additional_special_tokens\":null,\"extra_ids\":2}", "{\"model_type\":\"t5\"}", NULL, NULL,
          "{\"added_tokens\":[" T5_NAMED "]," T5_REST },
    };
    const char *folder = t_folder();
    struct opened_spec o;
    char file[1024];

    put_bytes(folder, "spiece.model", pieces, sizeof pieces); /* with the NUL that ends the map */
    for (size_t i = 0; i < sizeof t5 / sizeof t5[0]; i++)
        same(folder, &t5[i]);
    put(folder, "config.json", "{\"model_type\":\"umt5\"}");
    T_OK(spec_open(&o, folder, NULL, &t_err));
    T_STR(o.at.name, "spiece.model");
    spec_close(&o);
    put_row(folder, &t5[0]);
    snprintf(file, sizeof file, "%s/spiece.model", folder);
    T_OK(spec_open(&o, file, NULL, &t_err));
    T_STR(o.at.name, "spiece.model");
    spec_close(&o);
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\":\"T5Tokenizer\",\"extra_ids\":\"a\"}");
    not_opened(folder, LEAT_E_VOCABULARY, "must be a whole number");
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\":\"T5Tokenizer\",\"pad_token\":null}");
    T_OK(spec_open(&o, folder, NULL, &t_err));
    spec_close(&o);
    remove(file);
    put_bytes(folder, "sentencepiece.bpe.model", pieces, sizeof pieces);
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\":\"XLMRobertaTokenizer\",\"mask_token\":null}");
    not_opened(folder, LEAT_E_UNSUPPORTED, "removes a token of the vocabulary");
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\":\"MBart50Tokenizer\",\"src_lang\":\"sl_SI\"}");
    T_OK(spec_open(&o, folder, NULL, &t_err));
    T_EQ(o.spec->token_count, 4 + 2 + 52 + 1);
    T_EQ(o.spec->around.before, 4 + 2 + 51);
    spec_close(&o);
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\":\"MBartTokenizer\",\"src_lang\":\"sl_SI\"}");
    not_opened(folder, LEAT_E_UNSUPPORTED, "\"sl_SI\", is not one of the 25 languages");
}

/* Classes that take no model of another type than Unigram, and one that takes any. They were opened. */
static void test_other_types(void)
{
    static const char bpe[] = "\x0a\x0e\x0a\x05<unk>\x15\x01\x01\x01\x01\x18\x02\x12\x02\x18\x02";
    const char *folder = t_folder();
    struct opened_spec o;

    put(folder, "sentencepiece.bpe.model", bpe);
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\":\"CamembertTokenizer\"}");
    not_opened(folder, LEAT_E_UNSUPPORTED, "CamembertTokenizer takes only a sentencepiece model of type unigram");
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\":\"BarthezTokenizer\"}");
    not_opened(folder, LEAT_E_UNSUPPORTED, "BarthezTokenizer takes only a sentencepiece model of type unigram");
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\":\"XLMRobertaTokenizer\"}");
    T_OK(spec_open(&o, folder, NULL, &t_err));
    spec_close(&o);
}

/* null is false, as in Python, and a language that is null is the default one. Null counted as true; languages that are
 * null were refused, and so was Pegasus where no file gives its masks. */
static void test_null(void)
{
    static const struct {
        const char *file, *one, *other;
    } rows[] = {
#define XLMR    "{\"tokenizer_class\":\"XLMRobertaTokenizer\""
#define ALBERT  "{\"tokenizer_class\":\"AlbertTokenizer\""
#define MBART   "{\"tokenizer_class\":\"MBartTokenizer\""
#define PEGASUS "{\"tokenizer_class\":\"PegasusTokenizer\""
        { "sentencepiece.bpe.model", XLMR ",\"add_prefix_space\":null}", XLMR ",\"add_prefix_space\":false}" },
        { "sentencepiece.bpe.model", MBART ",\"src_lang\":null}", MBART "}" },
        { "spiece.model", ALBERT ",\"do_lower_case\":null}", ALBERT ",\"do_lower_case\":false}" },
    };
    const char *folder;
    struct opened_spec o, p;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        folder = t_folder();
        put_bytes(folder, rows[i].file, pieces, sizeof pieces);
        put(folder, "tokenizer_config.json", rows[i].one);
        T_OK(spec_open(&o, folder, NULL, &t_err));
        put(folder, "tokenizer_config.json", rows[i].other);
        T_OK(spec_open(&p, folder, NULL, &t_err));
        if (memcmp(o.print, p.print, FINGERPRINT_BYTES) != 0)
            T_FAIL("%s: not %s", rows[i].one, rows[i].other);
        spec_close(&o);
        spec_close(&p);
    }
    put(folder, "tokenizer_config.json", PEGASUS ",\"mask_token\":null,\"mask_token_sent\":null}");
    T_OK(spec_open(&o, folder, NULL, &t_err));
    T_EQ(o.spec->token_count, 2 + 101 + 3);
    spec_close(&o);
    put(folder, "tokenizer_config.json", PEGASUS "}");
    T_OK(spec_open(&o, folder, NULL, &t_err));
    T_EQ(o.spec->token_count, 2 + 2 + 101 + 3);
    spec_close(&o);
    put(folder, "tokenizer_config.json", ALBERT ",\"keep_accents\":1}");
    not_opened(folder, LEAT_E_UNSUPPORTED, "other than true, false or null");
}

/* Scores that the reference's reading of numbers never gives are given as bits, and come back as the model's. */
static void test_score_bits(void)
{
    static const char model[] = PIECE("\x0e", "\x05", "<pad>", "\0\0\0\0", "\x03")
        PIECE("\x0d", "\x04", "</s>", "\0\0\0\0", "\x03") PIECE("\x0e", "\x05", "<unk>", "\0\0\0\0", "\x02")
            PIECE("\x0a", "\x01", "a", "\x72\x95\x6d\xc0", "\x01") "\x12\x02\x18\x01";
    const double scores[] = { 0, 0, 0, -3.7122464179992676 };
    const struct spec_unigram *data;
    struct opened_spec o;
    const char *folder = t_folder();

    put_bytes(folder, "spiece.model", model, sizeof model - 1);
    put(folder, "tokenizer_config.json", "{\"tokenizer_class\":\"T5TokenizerFast\",\"extra_ids\":0}");
    T_OK(spec_open(&o, folder, NULL, &t_err));
    data = o.spec->model_data;
    for (size_t i = 0; i < 4; i++)
        T_CHECK(data->scores[i] == scores[i]);
    spec_close(&o);
}

int main(void)
{
    test_words();
    test_pairs();
    test_tiktoken();
    test_sentencepiece();
    test_added_pieces();
    test_converted();
    test_other_types();
    test_null();
    test_score_bits();
    return t_end();
}
