/*
 * assemble_pieces.c: the classes of transformers 5.23.0 that convert a sentencepiece model of type Unigram: a row for
 * each, with its names, its tokens, what it makes of the model's vocabulary, and the stations of its pipeline.
 *
 * A class's vocabulary is the model's tokens with their scores, and those that it puts before and after them
 * (assemble_add_piece()). It is written as the Unigram model of a tokenizer.json, with numbers that are read as these
 * scores.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "assemble_stations.h"
#include "base/status.h"
#include "load.h"
#include "load_hf.h"

/* ---- The vocabulary ---- */

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

/* ---- Stations ---- */

#define WORDS "{\"type\":\"WhitespaceSplit\"},"
#define WHITE_SPACE                                                                                                    \
    ASSEMBLE_REPLACE("\"Regex\":\"\\\\s{2,}|[\\n\\r\\t]\"", " ")                                                       \
    ",{\"type\":\"NFC\"},{\"type\":\"Strip\","                                                                         \
    "\"strip_left\":false,\"strip_right\":true}"

/* ---- T5 ---- */

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

/* ---- XLM-R and CamemBERT ---- */

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

/* ---- MBart and Barthez ---- */

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

/* ---- Pegasus ---- */

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

/* ---- ALBERT and DeBERTa ---- */

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
