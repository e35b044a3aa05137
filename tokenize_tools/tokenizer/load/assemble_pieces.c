/*
 * assemble_pieces.c: the classes of transformers 5.23.0 that convert a sentencepiece model: a row for each, with its
 * names, its tokens and the stations of its pipeline. Those of the first table convert it to Unigram, those of the
 * second one to BPE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "base/status.h"
#include "load.h"
#include "load_hf.h"

#define ASSEMBLE_REPLACE(of, by) "{\"type\":\"Replace\",\"pattern\":{" of "},\"content\":\"" by "\"}"
#define ASSEMBLE_ONE_SPACE       ASSEMBLE_REPLACE("\"Regex\":\" {2,}\"", " ")

/* ---- Stations that several classes have -------------------------------------------------------------------------- */

/* Add the next token: this text; the token with this name, which must be there. */
static void assemble_add_piece(struct assembling *a, struct jsontree_text text, double score)
{
    bool found;

    if (a->status != LEAT_OK)
        return;
    if (a->piece_count == a->piece_room)
        a->status = status_set(a->err, LEAT_E_VOCABULARY, "%s: too many tokens", a->source->path);
    if (a->status != LEAT_OK)
        return;
    a->ids
        .entries[string_map_add(&a->ids, string_map_hash(&a->ids, text.bytes, text.length), text.bytes, text.length,
                                &found)]
        .value = a->piece_count;
    a->pieces[a->piece_count++] = (struct assemble_piece) { text, score };
}

static void assemble_add_piece_named(struct assembling *a, enum assemble_named n)
{
    if (a->named[n].text.bytes)
        assemble_add_piece(a, a->named[n].text, 0);
    else if (a->status == LEAT_OK)
        a->status = status_set(a->err, LEAT_E_UNSUPPORTED,
                               "%s: tokenizer_config.json removes a token of the vocabulary, which is not supported",
                               a->source->path);
}

static void assemble_put_charsmap(struct assembling *a)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const struct spec_string *map = &a->model->sentencepiece.charsmap;
    char four[5] = "";

    assemble_put(a, "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"");
    for (uint32_t i = 0; a->status == LEAT_OK && i < map->length; i += 3) {
        uint32_t left = map->length - i, bits = (uint32_t)map->bytes[i] << 16;

        bits |= left > 1 ? (uint32_t)map->bytes[i + 1] << 8 : 0;
        bits |= left > 2 ? map->bytes[i + 2] : 0;
        for (unsigned k = 0; k < 4; k++)
            four[k] = k <= left ? letters[bits >> (18 - 6 * k) & 63] : '=';
        assemble_put(a, four);
    }
    assemble_put(a, "\"}");
}

/* Whether the model has a map of characters; then appends it as a normalizer. */
static bool assemble_has_map(const struct assembling *a)
{
    return a->model->sentencepiece.charsmap.length > 0;
}

/* Appends a Sequence: `before`, with a comma at its end; the map, if there is one; `after`. */
static void assemble_put_normalizers(struct assembling *a, const char *before, const char *after)
{
    assemble_put(a, "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[");
    assemble_put(a, before);
    if (assemble_has_map(a))
        assemble_put_charsmap(a);
    assemble_put(a, assemble_has_map(a) && *after ? "," : "");
    assemble_put(a, after);
    assemble_put(a, "]},");
}

/* Appends the pre-tokenizers before Metaspace, with a comma; then the decoder. `without`: the scheme without
 * add_prefix_space; NULL: the class does not ask for that. */
static void assemble_put_metaspace(struct assembling *a, const char *before, const char *without)
{
    const char *scheme = without && !assemble_flag(a, "add_prefix_space", true) ? without : "always";

    assemble_put(a, "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[");
    assemble_put(a, before);
    for (unsigned i = 0; i < 2; i++) {
        assemble_put(a, i ? "]},\"decoder\":" : "");
        assemble_put(a,
                     "{\"type\":\"Metaspace\",\"replacement\":\"" SPEC_MARK "\",\"split\":true,\"prepend_scheme\":\"");
        assemble_put(a, scheme);
        assemble_put(a, "\"}");
    }
    assemble_put(a, ",");
}

/* ---- To Unigram: the vocabulary ---------------------------------------------------------------------------------- */

/* A class's vocabulary is the model's tokens with their scores, and those that it puts before and after them
 * (assemble_add_piece()). It is written as the Unigram model of a tokenizer.json, with numbers that are read as these
 * scores. */

static void add_model(struct assembling *a, uint32_t first)
{
    const struct tokenizer_spec *m = a->model;

    for (uint32_t i = first; i < m->token_count; i++)
        assemble_add_piece(a, (struct jsontree_text) { spec_token_bytes(m, &m->tokens[i]), m->tokens[i].length },
                           (double)m->scores[i]);
}

static struct jsontree_text numbered(struct assembling *a, const char *before, unsigned number)
{
    char *text = spec_alloc(a->model, 40);

    if (!text) {
        a->status = status_no_memory(a->err, 40);
        return (struct jsontree_text) { (const uint8_t *)"", 0 };
    }
    snprintf(text, 40, "%s%u>", before, number);
    return (struct jsontree_text) { (const uint8_t *)text, (uint32_t)strlen(text) };
}

static unsigned count_of(struct assembling *a, const char *option, unsigned otherwise)
{
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, option) : JSONTREE_NONE;
    uint64_t value = otherwise;

    if (node != JSONTREE_NONE && (!jsontree_u64(config, node, &value) || value > ASSEMBLE_MAX_COUNT))
        assemble_wrong(a, LEAT_E_VOCABULARY, config, node,
                       "an option of the tokenizer must be a whole number to 10000");
    return (unsigned)value;
}

/* ---- Stations ---------------------------------------------------------------------------------------------------- */

#define WORDS "{\"type\":\"WhitespaceSplit\"},"
#define WHITE_SPACE                                                                                                    \
    ASSEMBLE_REPLACE("\"Regex\":\"\\\\s{2,}|[\\n\\r\\t]\"", " ")                                                       \
    ",{\"type\":\"NFC\"},{\"type\":\"Strip\","                                                                         \
    "\"strip_left\":false,\"strip_right\":true}"

/* ---- T5 ---------------------------------------------------------------------------------------------------------- */

static unsigned extra_ids(struct assembling *a)
{
    return count_of(a, "extra_ids", 100);
}

static void t5_vocabulary(struct assembling *a)
{
    add_model(a, 0);
    for (unsigned i = extra_ids(a); i > 0; i--)
        assemble_add_piece(a, numbered(a, "<extra_id_", i - 1), 0);
    a->unknown = 2;
}

static bool has_extra_id(struct jsontree_text t)
{
    for (uint32_t i = 0; i + 10 <= t.length; i++)
        if (memcmp(t.bytes + i, "<extra_id_", 10) == 0)
            return true;
    return false;
}

/* Those of the model, unless it has some of its own, which then must be all. */
static void t5_extra(struct assembling *a)
{
    unsigned wanted = extra_ids(a), found = 0;

    for (uint32_t i = 0; i < a->model->token_count; i++) {
        const struct spec_token *t = &a->model->tokens[i];

        found += (t->type == SPEC_CONTROL || t->type == SPEC_USER_DEFINED) &&
                 has_extra_id((struct jsontree_text) { spec_token_bytes(a->model, t), t->length });
    }
    if (found > 0 && wanted > 0 && found != wanted && a->status == LEAT_OK)
        a->status = status_set(a->err, LEAT_E_VOCABULARY, "%s has %u tokens <extra_id_...>, and extra_ids is %u",
                               a->source->path, found, wanted);
    assemble_add_reserved(a);
    for (unsigned i = 0; found == 0 && i < wanted; i++)
        assemble_add_extra(a, numbered(a, "<extra_id_", i), true);
}

static void t5(struct assembling *a)
{
    if (assemble_has_map(a))
        assemble_put_normalizers(a, "", "");
    assemble_put_metaspace(a, WORDS, NULL);
    assemble_put_template(a, NAMED_COUNT, NAMED_EOS);
}

/* ---- XLM-R and CamemBERT ----------------------------------------------------------------------------------------- */

static void xlmr_vocabulary(struct assembling *a)
{
    static const enum assemble_named first[] = { NAMED_BOS, NAMED_PAD, NAMED_EOS, NAMED_UNK };

    for (unsigned i = 0; i < 4; i++)
        assemble_add_piece_named(a, first[i]);
    add_model(a, 3);
    assemble_add_piece_named(a, NAMED_MASK);
    a->unknown = 3;
}

static void xlmr(struct assembling *a)
{
    if (assemble_has_map(a))
        assemble_put_normalizers(a, "", "");
    assemble_put_metaspace(a, WORDS, "never");
    assemble_put_template(a, NAMED_BOS, NAMED_EOS);
}

/* Of a model of another type, AutoTokenizer makes what these classes cannot take. */
static void refuse_other_types(struct assembling *a, const char *name)
{
    if (a->status == LEAT_OK && a->model->model != SPEC_SUMS)
        a->status =
            status_set(a->err, LEAT_E_UNSUPPORTED,
                       "%s: %s takes only a sentencepiece model of type unigram, and this one has another type; "
                       "name the file itself to get sentencepiece's ids",
                       a->source->path, name);
}

static void camembert_vocabulary(struct assembling *a)
{
    refuse_other_types(a, "CamembertTokenizer");
    assemble_add_piece(a, assemble_text_of("<s>NOTUSED"), 0);
    assemble_add_piece_named(a, NAMED_PAD);
    assemble_add_piece(a, assemble_text_of("</s>NOTUSED"), 0);
    assemble_add_piece_named(a, NAMED_UNK);
    assemble_add_piece(a, assemble_text_of("<unk>NOTUSED"), -100);
    add_model(a, 1);
    assemble_add_piece_named(a, NAMED_MASK);
    if (a->status != LEAT_OK)
        return;
    while (!assemble_same(a->pieces[a->unknown].text, a->named[NAMED_UNK].text))
        a->unknown++;
}

/* ---- MBart and Barthez ------------------------------------------------------------------------------------------- */

#define LANGUAGES    25 /* of MBart; MBart-50 has all */
#define LANGUAGES_50 52
#define LANGUAGE     6 /* bytes, with the end */

static const char languages[LANGUAGES_50][LANGUAGE] = {
    "ar_AR", "cs_CZ", "de_DE", "en_XX", "es_XX", "et_EE", "fi_FI", "fr_XX", "gu_IN", "hi_IN", "it_IT", "ja_XX", "kk_KZ",
    "ko_KR", "lt_LT", "lv_LV", "my_MM", "ne_NP", "nl_XX", "ro_RO", "ru_RU", "si_LK", "tr_TR", "vi_VN", "zh_CN", "af_ZA",
    "az_AZ", "bn_IN", "fa_IR", "he_IL", "hr_HR", "id_ID", "ka_GE", "km_KH", "mk_MK", "ml_IN", "mn_MN", "mr_IN", "pl_PL",
    "ps_AF", "pt_XX", "sv_SE", "sw_KE", "ta_IN", "te_IN", "th_TH", "tl_XX", "uk_UA", "ur_PK", "xh_ZA", "gl_ES", "sl_SI",
};

static void language_vocabulary(struct assembling *a, enum assemble_named begin, unsigned count)
{
    const enum assemble_named first[] = { begin, NAMED_PAD, NAMED_EOS, NAMED_UNK };

    for (unsigned i = 0; i < 4; i++)
        assemble_add_piece_named(a, first[i]);
    add_model(a, 3);
    for (unsigned i = 0; i < count; i++)
        assemble_add_piece(a, assemble_text_of(languages[i]), 0);
    assemble_add_piece_named(a, NAMED_MASK);
    a->unknown = 3;
}

static void mbart_vocabulary(struct assembling *a)
{
    language_vocabulary(a, NAMED_BOS, LANGUAGES);
}

static void mbart50_vocabulary(struct assembling *a)
{
    language_vocabulary(a, NAMED_CLS, LANGUAGES_50);
}

static void mbart_extra(struct assembling *a)
{
    for (unsigned i = 0; i < LANGUAGES; i++)
        assemble_add_extra(a, assemble_text_of(languages[i]), true);
    assemble_add_reserved(a);
}

static void mbart50_languages(struct assembling *a)
{
    for (unsigned i = 0; i < LANGUAGES_50; i++)
        assemble_add_extra(a, assemble_text_of(languages[i]), true);
}

static void mbart50_extra(struct assembling *a)
{
    assemble_add_reserved(a);
    mbart50_languages(a);
}

/* The language that stands around single texts. */
static struct jsontree_text source_language(struct assembling *a, unsigned count)
{
    struct jsontree_text t = assemble_option(a, "src_lang", "en_XX");

    for (unsigned i = 0; i < count; i++)
        if (assemble_same(t, assemble_text_of(languages[i])))
            return t;
    if (a->status == LEAT_OK)
        a->status = status_set(a->err, LEAT_E_UNSUPPORTED,
                               "%s: \"src_lang\" of tokenizer_config.json, \"%.*s\", is not one of the %u languages of "
                               "this tokenizer; use one, such as \"en_XX\"",
                               a->source->path, t.length < 40 ? (int)t.length : 40, (const char *)t.bytes, count);
    return t;
}

static void mbart(struct assembling *a)
{
    const struct jsontree_text around[3] = { { NULL, 0 }, a->named[NAMED_EOS].text, source_language(a, LANGUAGES) };

    assemble_put_metaspace(a, WORDS, NULL);
    assemble_put_around(a, around);
}

static void mbart50(struct assembling *a)
{
    const struct jsontree_text around[3] = { source_language(a, LANGUAGES_50), a->named[NAMED_EOS].text };

    assemble_put_normalizers(a, "", ASSEMBLE_ONE_SPACE);
    assemble_put_metaspace(a, "", NULL);
    assemble_put_around(a, around);
}

static void barthez_vocabulary(struct assembling *a)
{
    refuse_other_types(a, "BarthezTokenizer");
    add_model(a, 0);
    a->unknown = 3;
}

static void barthez(struct assembling *a)
{
    assemble_put(a, "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" WHITE_SPACE "]},");
    assemble_put_metaspace(a, "", "never");
    assemble_put_template(a, NAMED_COUNT, NAMED_COUNT);
}

/* ---- Pegasus ----------------------------------------------------------------------------------------------------- */

/* mask_token_sent; no bytes: it is null. */
static struct jsontree_text sentence_mask(struct assembling *a, const char *otherwise)
{
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, "mask_token_sent") : JSONTREE_NONE;

    if (node != JSONTREE_NONE && config->nodes[node].kind == JSONTREE_NULL)
        return (struct jsontree_text) { NULL, 0 };
    return assemble_option(a, "mask_token_sent", otherwise);
}

/* Where no file gives the two masks, transformers has them here the other way round than among the added tokens. */
static void add_masks(struct assembling *a)
{
    const struct assemble_token *named = &a->named[NAMED_MASK];
    struct jsontree_text mask = named->text.bytes && !named->given ? assemble_text_of("<mask_1>") : named->text;
    struct jsontree_text sentence = sentence_mask(a, "<mask_2>");

    if (mask.bytes)
        assemble_add_piece(a, mask, 0);
    if (sentence.bytes && !(mask.bytes && assemble_same(sentence, mask)))
        assemble_add_piece(a, sentence, 0);
}

static void pegasus_vocabulary(struct assembling *a)
{
    unsigned offset = count_of(a, "offset", 103);

    assemble_add_piece_named(a, NAMED_PAD);
    assemble_add_piece_named(a, NAMED_EOS);
    add_masks(a);
    for (unsigned i = 2; i < offset; i++)
        assemble_add_piece(a, numbered(a, "<unk_", i), -100);
    add_model(a, 2);
    for (a->unknown = 1; a->status == LEAT_OK && a->unknown < a->piece_count; a->unknown++)
        if (assemble_same(a->pieces[a->unknown].text, a->named[NAMED_UNK].text) && a->pieces[a->unknown].score == 0)
            return;
    if (a->status == LEAT_OK)
        a->status = status_set(a->err, LEAT_E_VOCABULARY, "%s lacks the unknown token", a->source->path);
}

static void pegasus_extra(struct assembling *a)
{
    unsigned offset = count_of(a, "offset", 103);
    struct jsontree_text sentence = sentence_mask(a, "<mask_1>");

    if (sentence.bytes)
        assemble_add_extra(a, sentence, true);
    for (unsigned i = 2; i < offset; i++)
        assemble_add_extra(a, numbered(a, "<unk_", i), true);
}

static void pegasus(struct assembling *a)
{
    assemble_put_normalizers(a, assemble_has_map(a) ? "" : ASSEMBLE_REPLACE("\"Regex\":\"\\n\"", " ") ",",
                             ASSEMBLE_ONE_SPACE);
    assemble_put_metaspace(a, "", NULL);
    assemble_put_template(a, NAMED_COUNT, NAMED_EOS);
}

/* ---- ALBERT and DeBERTa ------------------------------------------------------------------------------------------ */

static void albert_vocabulary(struct assembling *a)
{
    add_model(a, 0);
    a->unknown = 1;
}

static void albert(struct assembling *a)
{
    bool accents = assemble_flag(a, "keep_accents", false), cased = !assemble_flag(a, "do_lower_case", true);

    assemble_put(a, "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" ASSEMBLE_REPLACE(
                        "\"String\":\"``\"", "\\\"") "," ASSEMBLE_REPLACE("\"String\":\"''\"", "\\\""));
    assemble_put(a, accents ? "" : ",{\"type\":\"NFKD\"},{\"type\":\"StripAccents\"}");
    assemble_put(a, cased ? "" : ",{\"type\":\"Lowercase\"}");
    if (assemble_has_map(a)) {
        assemble_put(a, ",");
        assemble_put_charsmap(a);
    }
    assemble_put(a, "]},");
    assemble_put_metaspace(a, WORDS, "never");
    assemble_put_template(a, NAMED_CLS, NAMED_SEP);
}

static void deberta_vocabulary(struct assembling *a)
{
    add_model(a, 0);
    a->unknown = a->model->unknown;
    for (uint32_t i = a->piece_count; a->status == LEAT_OK && a->named[NAMED_UNK].text.bytes && i-- > 0;)
        if (assemble_same(a->pieces[i].text, a->named[NAMED_UNK].text) && a->pieces[i].score == 0)
            a->unknown = i;
}

static void deberta(struct assembling *a)
{
    assemble_put(a, "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[");
    assemble_put(a, assemble_flag(a, "do_lower_case", false) ? "{\"type\":\"Lowercase\"}," : "");
    assemble_put(a, WHITE_SPACE "]},");
    assemble_put_metaspace(
        a, assemble_flag(a, "split_by_punct", false) ? "{\"type\":\"Punctuation\",\"behavior\":\"Isolated\"}," : "",
        "first");
    assemble_put_template(a, NAMED_CLS, NAMED_SEP);
}

const struct assemble_class assemble_piece_classes[] = {
    { .names = " T5Tokenizer t5 mt5 switch_transformers ",
      .file = "spiece.model",
      .named = { NULL, "</s>", "<unk>", NULL, "<pad>" },
      .vocabulary = t5_vocabulary,
      .extra = t5_extra,
      .pipeline = t5 },
    { .names = " XLMRobertaTokenizer xlm-roberta ",
      .file = "sentencepiece.bpe.model",
      .named = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
      .vocabulary = xlmr_vocabulary,
      .extra = assemble_add_reserved,
      .pipeline = xlmr },
    { .names = " CamembertTokenizer camembert ",
      .file = "sentencepiece.bpe.model",
      .named = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
      .strips_before_mask = true,
      .vocabulary = camembert_vocabulary,
      .extra = assemble_add_reserved,
      .pipeline = xlmr },
    { .names = " MBartTokenizer mbart ",
      .file = "sentencepiece.bpe.model",
      .named = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
      .strips_before_mask = true,
      .vocabulary = mbart_vocabulary,
      .extra = mbart_extra,
      .pipeline = mbart },
    { .names = " MBart50Tokenizer mbart ",
      .file = "sentencepiece.bpe.model",
      .named = { NULL, "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
      .strips_before_mask = true,
      .vocabulary = mbart50_vocabulary,
      .extra = mbart50_extra,
      .also_extra = mbart50_languages,
      .pipeline = mbart50 },
    { .names = " BarthezTokenizer mbart ",
      .file = "sentencepiece.bpe.model",
      .named = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
      .strips_before_mask = true,
      .vocabulary = barthez_vocabulary,
      .extra = assemble_add_reserved,
      .pipeline = barthez },
    { .names = " PegasusTokenizer pegasus ",
      .file = "spiece.model",
      .named = { NULL, "</s>", "<unk>", NULL, "<pad>", NULL, "<mask_2>" },
      .vocabulary = pegasus_vocabulary,
      .extra = pegasus_extra,
      .pipeline = pegasus },
    { .names = " AlbertTokenizer albert ",
      .file = "spiece.model",
      .named = { "[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]" },
      .vocabulary = albert_vocabulary,
      .extra = assemble_add_reserved,
      .pipeline = albert },
    { .names = " DebertaV2Tokenizer deberta-v2 ",
      .file = "spm.model",
      .named = { "[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
      .vocabulary = deberta_vocabulary,
      .extra = assemble_add_reserved,
      .pipeline = deberta },
    { .names = NULL },
};

/* ---- To BPE: the model ------------------------------------------------------------------------------------------- */

/* Whatever the model's type and scores, the merges follow from its tokens alone: each way to write a token as two
 * others is a merge. They stand in the order of the tokens, those of one token by the length of their left part. */

static bool has(const struct string_map *map, const uint8_t *text, uint32_t length)
{
    return string_map_find(map, string_map_hash(map, text, length), text, length) != STRING_MAP_NONE;
}

static void put_merges_to(struct assembling *a, const struct string_map *tokens, struct jsontree_text t,
                          const char **comma)
{
    for (uint32_t at = 1; at < t.length; at++) {
        struct jsontree_text left = { t.bytes, at }, right = { t.bytes + at, t.length - at };

        if ((t.bytes[at] & 0xc0) == 0x80 || !has(tokens, left.bytes, left.length) ||
            !has(tokens, right.bytes, right.length))
            continue;
        assemble_put(a, *comma);
        assemble_put_string(a, left);
        assemble_put(a, ",");
        assemble_put_string(a, right);
        *comma = "],[";
    }
}

static struct jsontree_text token_text(const struct assembling *a, uint32_t i)
{
    const struct spec_token *t = &a->model->tokens[i];

    return (struct jsontree_text) { spec_token_bytes(a->model, t), t->length };
}

/* Fills a map with the model's own tokens: those that only the class has are in no merge. */
static void fill(struct assembling *a, struct string_map *tokens)
{
    bool found = false;

    if (!string_map_init(tokens, a->model->token_count))
        a->status = status_no_memory(a->err, a->model->token_count * sizeof *tokens->entries);
    for (uint32_t i = 0; a->status == LEAT_OK && i < a->model->token_count; i++) {
        struct jsontree_text t = token_text(a, i);

        string_map_add(tokens, string_map_hash(tokens, t.bytes, t.length), t.bytes, t.length, &found);
        if (found)
            a->status = status_set(a->err, LEAT_E_UNSUPPORTED,
                                   "%s has the token %.*s twice, which is not supported for this class",
                                   a->source->path, (int)(t.length < 100 ? t.length : 100), (const char *)t.bytes);
    }
}

void assemble_put_merges(struct assembling *a)
{
    struct string_map tokens = { 0 };
    const char *comma = "[";

    assemble_put(a, ",\"model\":{\"type\":\"BPE\",\"dropout\":null,\"fuse_unk\":true,\"ignore_merges\":false,"
                    "\"continuing_subword_prefix\":null,\"end_of_word_suffix\":null,\"byte_fallback\":");
    assemble_put(a, a->kind->bytes ? "true,\"unk_token\":" : "false,\"unk_token\":");
    if (a->unknown == SPEC_NONE)
        assemble_put(a, "null");
    else
        assemble_put_string(a, a->named[NAMED_UNK].text);
    assemble_put_extra(a);
    for (uint32_t i = 0; a->status == LEAT_OK && i < a->piece_count; i++) {
        assemble_put(a, i ? "," : ",\"vocab\":{");
        assemble_put_string(a, a->pieces[i].text);
        assemble_put(a, ":");
        assemble_put_id(a, i);
    }
    assemble_put(a, "},\"merges\":[");
    if (a->status == LEAT_OK)
        fill(a, &tokens);
    for (uint32_t i = 0; a->status == LEAT_OK && i < a->model->token_count; i++)
        put_merges_to(a, &tokens, token_text(a, i), &comma);
    assemble_put(a, *comma == ']' ? "]]}}" : "]}}");
    string_map_free(&tokens);
}

/* ---- Llama and Gemma --------------------------------------------------------------------------------------------- */

static void llama_vocabulary(struct assembling *a)
{
    for (uint32_t i = 0; i < a->model->token_count; i++)
        assemble_add_piece(a, token_text(a, i), 0);
    a->unknown = SPEC_NONE;
}

/* Unlike other options, null for add_prefix_space is true. */
static bool adds_space(struct assembling *a)
{
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, "add_prefix_space") : JSONTREE_NONE;
    bool null = node == JSONTREE_NONE || config->nodes[node].kind == JSONTREE_NULL;

    return null || assemble_flag(a, "add_prefix_space", true);
}

static void put_around_if_asked(struct assembling *a)
{
    assemble_put_template(a, assemble_if_asked(a, "add_bos_token", NAMED_BOS),
                          assemble_if_asked(a, "add_eos_token", NAMED_EOS));
}

#define AS_SPACE                                                                                                       \
    "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[" ASSEMBLE_REPLACE(                                              \
        "\"String\":\"" SPEC_MARK "\"", " ") ",{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}"

static void llama(struct assembling *a)
{
    bool space = adds_space(a), legacy = assemble_flag(a, "legacy", false);

    assemble_put(a, "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"" SPEC_MARK
                    "\",\"split\":false,\"prepend_scheme\":\"");
    assemble_put(a, !space ? "never" : legacy ? "always" : "first");
    assemble_put(a, "\"}," AS_SPACE);
    assemble_put(a, space ? ",{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]}," : "]},");
    put_around_if_asked(a);
}

static void gemma_vocabulary(struct assembling *a)
{
    llama_vocabulary(a);
    a->unknown = 0;
    if (a->status == LEAT_OK && !a->named[NAMED_UNK].text.bytes)
        a->status =
            status_set(a->err, LEAT_E_UNSUPPORTED,
                       "%s: tokenizer_config.json removes the unknown token, which is not supported", a->source->path);
}

static void gemma(struct assembling *a)
{
    assemble_put(a, "\"normalizer\":" ASSEMBLE_REPLACE("\"String\":\" \"", SPEC_MARK) ",");
    assemble_put(a, "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},\"behavior\":"
                    "\"MergedWithPrevious\",\"invert\":false}," AS_SPACE "]},");
    put_around_if_asked(a);
}

/* ---- NLLB -------------------------------------------------------------------------------------------------------- */

/* Four tokens of the class, then the model's others. */
static void nllb_vocabulary(struct assembling *a)
{
    static const enum assemble_named first[] = { NAMED_BOS, NAMED_PAD, NAMED_EOS, NAMED_UNK };

    for (unsigned i = 0; i < 4; i++)
        assemble_add_piece_named(a, first[i]);
    if (a->status == LEAT_OK && a->ids.count < 4)
        a->status = status_set(a->err, LEAT_E_UNSUPPORTED,
                               "%s: two of bos_token, pad_token, eos_token and unk_token are the same, which is not "
                               "supported for this class",
                               a->source->path);
    for (uint32_t i = 0; a->status == LEAT_OK && i < a->model->token_count; i++) {
        struct jsontree_text t = token_text(a, i);

        if (!has(&a->ids, t.bytes, t.length))
            assemble_add_piece(a, t, 0);
    }
    a->unknown = 3;
}

/* The language stands around single texts. */
static void nllb(struct assembling *a)
{
    struct jsontree_text eos = a->named[NAMED_EOS].text, language = assemble_option(a, "src_lang", "eng_Latn");
    bool after = assemble_flag(a, "legacy_behaviour", false);
    const struct jsontree_text around[3] = { { after ? NULL : language.bytes, language.length },
                                             eos,
                                             { after ? language.bytes : NULL, language.length } };

    if (assemble_has_map(a))
        assemble_put_normalizers(a, "", ASSEMBLE_ONE_SPACE);
    assemble_put_metaspace(a, "", NULL);
    assemble_put_around(a, around);
}

const struct assemble_class assemble_merge_classes[] = {
    { .names = " LlamaTokenizer ",
      .beside = " llama ",
      .file = "tokenizer.model",
      .named = { "<s>", "</s>", "<unk>" },
      .merges = true,
      .bytes = true,
      .vocabulary = llama_vocabulary,
      .extra = assemble_add_reserved,
      .pipeline = llama },
    { .names = " GemmaTokenizer gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma shieldgemma2 ",
      .file = "tokenizer.model",
      .named = { "<bos>", "<eos>", "<unk>", NULL, "<pad>", NULL, "<mask>" },
      .merges = true,
      .bytes = true,
      .vocabulary = gemma_vocabulary,
      .extra = assemble_add_reserved,
      .pipeline = gemma },
    { .names = " NllbTokenizer nllb-moe ",
      .beside = " m2m_100 ",
      .file = "sentencepiece.bpe.model",
      .named = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
      .strips_before_mask = true,
      .normalized_mask = true,
      .merges = true,
      .unknown_around = true,
      .vocabulary = nllb_vocabulary,
      .extra = assemble_add_reserved,
      .pipeline = nllb },
    { .names = NULL },
};
