/*
 * test_assemble_rare.c: classes that convert a sentencepiece model, and that no other test has, become the
 * tokenizer.json that transformers 5.23.0 makes of them: Barthez, CamemBERT of type Unigram, NLLB with a map of
 * characters. A language around texts that only the vocabulary has; a compressed model; what files say that cannot be
 * taken, and a vocabulary of too many lines: each has its sentence.
 */
#include <zstd.h>

#include "made_sentencepiece.h"
#include "t.h"

#include "tokenizer/load/spec_open.h"

#define MARK  "\342\226\201"
#define SPACE "{\"type\":\"Metaspace\",\"replacement\":\"" MARK "\",\"prepend_scheme\":\"always\",\"split\":true}"

static const struct made_piece pieces[] = {
    { "<s>", CONTROL, 0 },   { "<pad>", CONTROL, 0 }, { "</s>", CONTROL, 0 },
    { "<unk>", UNKNOWN, 0 }, { "a", NORMAL, -1 },     { MARK, NORMAL, -2 },
    { "b", NORMAL, -4 },     { "ba", NORMAL, -8 },    { MARK "b", NORMAL, -8 },
};
/* The unknown token first, as CamemBERT and MBart expect it. */
static const struct made_piece unknown_first[] = {
    { "<unk>", UNKNOWN, 0 }, { "<s>", CONTROL, 0 }, { "</s>", CONTROL, 0 }, { "a", NORMAL, -1 },
    { MARK, NORMAL, -2 },    { "b", NORMAL, -4 },   { "ba", NORMAL, -8 },   { "<x>", CONTROL, -8 },
};
/* No text twice, but for a token that is reserved. */
static const struct made_piece twice[] = {
    { "<unk>", UNKNOWN, 0 }, { "<s>", CONTROL, 0 }, { "</s>", CONTROL, 0 }, { "a", NORMAL, -1 }, { "<s>", NORMAL, -2 },
};
#define COUNT(list) (sizeof(list) / sizeof *(list))

/* trainer_spec.model_type; and a normalizer_spec whose map changes nothing */
static const uint8_t unigram[] = { 0x12, 0x02, 0x18, 0x01 };
static const uint8_t mapped[] = { 0x12, 0x02, 0x18, 0x02, 0x1a, 0x0b, 0x12, 0x09, 4, 0, 0, 0, 1, 1, 1, 1, 0 };

static const struct made_model {
    const struct made_piece *pieces;
    size_t count;
    const uint8_t *more;
    size_t more_bytes;
} barthez = { pieces, COUNT(pieces), unigram, sizeof unigram },
  camembert = { unknown_first, COUNT(unknown_first), unigram, sizeof unigram },
  nllb = { unknown_first, COUNT(unknown_first), mapped, sizeof mapped },
  doubled = { twice, COUNT(twice), unigram, sizeof unigram };

#define ADDED(id, text, lstrip, normalized)                                                                            \
    "{\"id\":" id ",\"content\":\"" text "\",\"single_word\":false,\"lstrip\":" lstrip ",\"rstrip\":false,"            \
    "\"normalized\":" normalized ",\"special\":true}"
#define SPECIAL(id, text)  ADDED(id, text, "false", "false")
#define SEQUENCE(of, them) "{\"type\":\"Sequence\",\"" of "\":[" them "]}"
#define REPLACE(of)        "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"" of "\"},\"content\":\" \"}"
#define UNIGRAM(tokens)    "\"type\":\"Unigram\",\"unk_id\":3,\"vocab\":[" tokens "]"
#define A_B                "[\"a\",-1],[\"" MARK "\",-2],[\"b\",-4],[\"ba\",-8]"

/* A folder, and the tokenizer.json that is made of it, in parts and without its post-processor; the tokens around
 * texts. */
static const struct {
    const struct made_model *model;
    const char *config, *added, *normalizer, *pre_tokenizer, *of_model;
    uint32_t before, after;
} rows[] = {
    { &barthez, "{\"tokenizer_class\":\"BarthezTokenizer\"}",
      SPECIAL("0", "<s>") "," SPECIAL("2", "</s>") "," SPECIAL("3", "<unk>") "," SPECIAL("1", "<pad>") "," ADDED(
          "9", "<mask>", "true", "false"),
      SEQUENCE("normalizers", REPLACE("\\\\s{2,}|[\\n\\r\\t]") ",{\"type\":\"NFC\"},{\"type\":\"Strip\","
                                                               "\"strip_left\":false,\"strip_right\":true}"),
      SPACE, UNIGRAM("[\"<s>\",0],[\"<pad>\",0],[\"</s>\",0],[\"<unk>\",0]," A_B ",[\"" MARK "b\",-8]"), SPEC_NONE,
      SPEC_NONE },
    { &camembert, "{\"tokenizer_class\":\"CamembertTokenizer\",\"additional_special_tokens\":[]}",
      SPECIAL("5", "<s>") "," SPECIAL("6", "</s>") "," SPECIAL("3", "<unk>") "," SPECIAL("1", "<pad>") "," ADDED(
          "12", "<mask>", "true", "false"),
      "null", SEQUENCE("pretokenizers", "{\"type\":\"WhitespaceSplit\"}," SPACE),
      UNIGRAM("[\"<s>NOTUSED\",0],[\"<pad>\",0],[\"</s>NOTUSED\",0],[\"<unk>\",0],[\"<unk>NOTUSED\",-100],[\"<s>\",0],"
              "[\"</s>\",0]," A_B ",[\"<x>\",-8],[\"<mask>\",0]"),
      5, 6 },
    /* src_lang is in the vocabulary, and no added token */
    { &nllb, "{\"tokenizer_class\":\"NllbTokenizer\",\"src_lang\":\"ba\",\"additional_special_tokens\":[]}",
      SPECIAL("0", "<s>") "," SPECIAL("1", "<pad>") "," SPECIAL("2", "</s>") "," SPECIAL("3", "<unk>") "," ADDED(
          "9", "<mask>", "true", "true"),
      SEQUENCE("normalizers", "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"BAAAAAEBAQEA\"}," REPLACE(" {2,}")),
      SPACE,
      "\"type\":\"BPE\",\"dropout\":null,\"unk_token\":\"<unk>\",\"fuse_unk\":true,\"byte_fallback\":false,\"vocab\":{"
      "\"<s>\":0,\"<pad>\":1,\"</s>\":2,\"<unk>\":3,\"a\":4,\"" MARK "\":5,\"b\":6,\"ba\":7,\"<x>\":8},"
      "\"merges\":[[\"b\",\"a\"]]",
      7, 2 },
};

static void put(const char *folder, const char *name, const char *text)
{
    t_write(t_path(folder, name), text, strlen(text));
}

static void put_model(const char *folder, const char *name, const struct made_model *m)
{
    write_model(t_path(folder, name), m->pieces, m->count, m->more, m->more_bytes);
}

static void test_rows(void)
{
    static char json[8192];
    struct opened_spec parts, whole;

    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *folder = t_folder();

        put_model(folder, "sentencepiece.bpe.model", rows[i].model);
        put(folder, "tokenizer_config.json", rows[i].config);
        snprintf(json, sizeof json,
                 "{\"added_tokens\":[%s],\"normalizer\":%s,\"pre_tokenizer\":%s,\"decoder\":" SPACE ",\"model\":{%s}}",
                 rows[i].added, rows[i].normalizer, rows[i].pre_tokenizer, rows[i].of_model);
        T_OK(spec_open(&parts, folder, NULL, &t_err));
        T_OK(spec_open_stored(&whole, (const uint8_t *)json, strlen(json), "whole", NULL, &t_err));
        if (memcmp(parts.print, whole.print, FINGERPRINT_BYTES) != 0)
            T_FAIL("%s: not %s, but %.*s", rows[i].config, json, (int)parts.at.stored_size,
                   (const char *)parts.at.stored);
        T_EQ(parts.spec->around.before, rows[i].before);
        T_EQ(parts.spec->around.after, rows[i].after);
        spec_close(&parts);
        spec_close(&whole);
    }
}

static void test_refused(void)
{
    static const struct {
        const struct made_model *model;
        const char *file, *config;
        enum leat_status status;
        const char *sentence;
    } refused[] = {
#define NAMED(class) "{\"tokenizer_class\":\"" class "\","
        { &camembert, "sentencepiece.bpe.model", NAMED("MBartTokenizer") "\"src_lang\":7}", LEAT_E_UNSUPPORTED,
          "an option that names a token, and is not a string, is not supported (byte" },
        { &camembert, "sentencepiece.bpe.model", NAMED("XLMRobertaTokenizer") "\"image_token\":{\"content\":\"<i>\"}}",
          LEAT_E_UNSUPPORTED, "a token of another name, as an object, is not supported (byte" },
        { &camembert, "sentencepiece.bpe.model",
          NAMED("XLMRobertaTokenizer") "\"added_tokens_decoder\":{\"9\":{\"content\":\"<i>\",\"lstrip\":1}}}",
          LEAT_E_VOCABULARY, "a flag of a token is neither true nor false (byte" },
        { &barthez, "spiece.model", NAMED("PegasusTokenizer") "\"unk_token\":\"<none>\"}", LEAT_E_VOCABULARY,
          "spiece.model lacks the unknown token" },
        { &doubled, "tokenizer.model", NAMED("LlamaTokenizer") "\"x\":0}", LEAT_E_UNSUPPORTED,
          "has the token <s> twice, which is not supported for this class" },
    };
    struct opened_spec o;

    for (size_t i = 0; i < COUNT(refused); i++) {
        const char *folder = t_folder();

        put_model(folder, refused[i].file, refused[i].model);
        put(folder, "tokenizer_config.json", refused[i].config);
        T_REFUSED(spec_open(&o, folder, NULL, &t_err), refused[i].status, refused[i].sentence);
        spec_close(&o);
    }
}

/* A model that is compressed gives the same tokenizer.json. */
static void test_compressed(void)
{
    const char *folder = t_folder();
    struct opened_spec plain, compressed;
    uint8_t bytes[512], zst[1024];
    size_t size, used;
    char path[600];
    FILE *f;

    snprintf(path, sizeof path, "%s/sentencepiece.bpe.model", folder);
    put_model(folder, "sentencepiece.bpe.model", &camembert);
    put(folder, "tokenizer_config.json", rows[1].config);
    T_OK(spec_open(&plain, folder, NULL, &t_err));
    f = fopen(path, "rb");
    T_CHECK(f != NULL);
    size = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    T_CHECK(size < sizeof bytes && remove(path) == 0);
    used = ZSTD_compress(zst, sizeof zst, bytes, size, 3);
    T_CHECK(!ZSTD_isError(used));
    t_write(t_path(folder, "sentencepiece.bpe.model.zst"), zst, used);
    T_OK(spec_open(&compressed, folder, NULL, &t_err));
    T_CHECK(memcmp(plain.print, compressed.print, FINGERPRINT_BYTES) == 0);
    T_EQ(plain.at.stored_size, compressed.at.stored_size);
    T_CHECK(memcmp(plain.at.stored, compressed.at.stored, plain.at.stored_size) == 0);
    spec_close(&plain);
    spec_close(&compressed);
}

static void test_many_lines(void)
{
    enum { LINES = 1 << 24 };
    const char *folder = t_folder();
    char *lines = malloc(LINES);
    struct opened_spec o;

    memset(lines, '\n', LINES);
    t_write(t_path(folder, "vocab.txt"), lines, LINES);
    free(lines);
    put(folder, "tokenizer_config.json", NAMED("BertTokenizer") "\"x\":0}");
    T_REFUSED(spec_open(&o, folder, NULL, &t_err), LEAT_E_VOCABULARY, "vocab.txt has too many tokens: 16777216");
    spec_close(&o);
    remove(t_path(folder, "vocab.txt"));
}

int main(void)
{
    test_rows();
    test_refused();
    test_compressed();
    test_many_lines();
    return t_end();
}
