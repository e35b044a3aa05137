/*
 * assemble_class.c: the classes of transformers 5.23.0 whose files assemble.c puts together: a row for each, with its
 * names, its tokens and the stations of its pipeline. A class whose tokenizer is that of another stands in its row.
 *
 * There are three tables: classes with vocab.txt or vocab.json, and those that convert a sentencepiece model, to
 * Unigram or to BPE. Before each stand the stations of its classes; last comes finding the class of a folder.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "base/status.h"
#include "load.h"
#include "load_hf.h"

/* ---- What several classes have ----------------------------------------------------------------------------------- */

/* "NAME": and an option of tokenizer_config.json: true, false, or null where the class takes it. */
static void put_option(struct assembling *a, const char *name, const char *option, const char *otherwise, bool null)
{
    static const char *const words[] = { "null", "false", "true" };
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, option) : JSONTREE_NONE;
    unsigned kind = node == JSONTREE_NONE ? JSONTREE_NULL : config->nodes[node].kind;

    if (node != JSONTREE_NONE && (kind > JSONTREE_TRUE || (kind == JSONTREE_NULL && !null)))
        assemble_wrong(a, LEAT_E_VOCABULARY, config, node, "an option of the tokenizer must be true or false");
    assemble_put(a, name);
    assemble_put(a, kind == JSONTREE_NULL ? otherwise : kind <= JSONTREE_TRUE ? words[kind] : "");
}

/* The id of a token; the class puts it around texts, so it must be there. */
static uint32_t id_around(struct assembling *a, struct jsontree_text t)
{
    uint32_t place = t.bytes
                         ? string_map_find(&a->texts, string_map_hash(&a->texts, t.bytes, t.length), t.bytes, t.length)
                         : STRING_MAP_NONE;

    if (place != STRING_MAP_NONE)
        return a->tokens[a->texts.entries[place].value].id;
    if (t.bytes)
        place = string_map_find(&a->ids, string_map_hash(&a->ids, t.bytes, t.length), t.bytes, t.length);
    if (place != STRING_MAP_NONE)
        return a->ids.entries[place].value;
    if (a->kind->unknown_around)
        return a->unknown;
    if (a->status == LEAT_OK)
        a->status = status_set_in(a->err, LEAT_E_UNSUPPORTED, a->source->path,
                                  "%s: tokenizer_config.json removes a token that stands around texts, which is not "
                                  "supported",
                                  a->source->path);
    return 0;
}

uint32_t assemble_named_id(struct assembling *a, enum assemble_named n)
{
    return id_around(a, a->named[n].text);
}

/* Appends the post-processor with these texts, before, after and after that; no bytes: none. */
static void put_around(struct assembling *a, const struct jsontree_text around[3])
{
    const char *comma = "";

    assemble_put(a, "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[");
    for (unsigned i = 0; i < 3; i++) {
        if (i == 1)
            assemble_put(a, "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}");
        if (!around[i].bytes)
            continue;
        assemble_put(a, i > 0 ? ",{\"SpecialToken\":{\"id\":" : "{\"SpecialToken\":{\"id\":");
        assemble_put_string(a, around[i]);
        assemble_put(a, i > 0 ? ",\"type_id\":0}}" : ",\"type_id\":0}},");
    }
    assemble_put(a, "],\"pair\":[{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"Sequence\":{\"id\":\"B\",\"type_id\":1"
                    "}}],\"special_tokens\":{");
    for (unsigned i = 0; i < 3; i++) {
        if (!around[i].bytes)
            continue;
        assemble_put(a, comma);
        assemble_put_string(a, around[i]);
        assemble_put(a, ":{\"id\":");
        assemble_put_string(a, around[i]);
        assemble_put(a, ",\"ids\":[");
        assemble_put_id(a, id_around(a, around[i]));
        assemble_put(a, "],\"tokens\":[");
        assemble_put_string(a, around[i]);
        assemble_put(a, "]}");
        comma = ",";
    }
    assemble_put(a, "}}");
}

/* The same with tokens before and after a text; NAMED_COUNT: none. */
static void put_template(struct assembling *a, enum assemble_named before, enum assemble_named after)
{
    struct jsontree_text around[3] = { { NULL, 0 } };

    if (before != NAMED_COUNT)
        around[0] = a->named[before].text;
    if (after != NAMED_COUNT)
        around[1] = a->named[after].text;
    put_around(a, around);
}

/* A member of tokenizer_config.json that is a string; `otherwise`: it is missing, or null. */
static struct jsontree_text option_text(struct assembling *a, const char *option, const char *otherwise)
{
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, option) : JSONTREE_NONE;

    if (node == JSONTREE_NONE || config->nodes[node].kind == JSONTREE_NULL)
        return (struct jsontree_text) { (const uint8_t *)otherwise, (uint32_t)strlen(otherwise) };
    if (config->nodes[node].kind != JSONTREE_STRING)
        assemble_wrong(a, LEAT_E_UNSUPPORTED, config, node,
                       "an option that names a token, and is not a string, is not supported");
    return jsontree_string(config, node);
}

/* An option of tokenizer_config.json that is true or false; null is false, as in Python. `otherwise`: it is missing. */
static bool flag(struct assembling *a, const char *option, bool otherwise)
{
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, option) : JSONTREE_NONE;

    if (node == JSONTREE_NONE)
        return otherwise;
    if (config->nodes[node].kind > JSONTREE_TRUE)
        assemble_wrong(a, LEAT_E_UNSUPPORTED, config, node,
                       "an option of the tokenizer other than true, false or null is not supported");
    return config->nodes[node].kind == JSONTREE_TRUE;
}

/* The token, if such an option is true; else NAMED_COUNT. */
static enum assemble_named if_asked(struct assembling *a, const char *option, enum assemble_named n)
{
    return flag(a, option, false) ? n : NAMED_COUNT;
}

/* ---- vocab.txt and vocab.json ------------------------------------------------------------------------------------ */

static void bert(struct assembling *a)
{
    put_option(a, "\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":",
               "tokenize_chinese_chars", "true", false);
    put_option(a, ",\"strip_accents\":", "strip_accents", "null", true);
    put_option(a, ",\"lowercase\":", "do_lower_case", "true", false);
    assemble_put(a, "},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
                    "\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},");
    put_template(a, NAMED_CLS, NAMED_SEP);
}

#define DECODER                                                                                                        \
    "\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true},"

static void gpt2(struct assembling *a)
{
    put_option(a, "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":", "add_prefix_space", "false",
               false);
    assemble_put(a, ",\"trim_offsets\":true,\"use_regex\":true}," DECODER);
    put_template(a, if_asked(a, "add_bos_token", NAMED_BOS), if_asked(a, "add_eos_token", NAMED_EOS));
}

/* [TEXT, ID] */
static void put_pair(struct assembling *a, enum assemble_named n)
{
    assemble_put(a, "[");
    assemble_put_string(a, a->named[n].text);
    assemble_put(a, ",");
    assemble_put_id(a, assemble_named_id(a, n));
    assemble_put(a, "]");
}

/* The post-processor changes offsets, too: no white space belongs to a token. */
static void roberta(struct assembling *a)
{
    put_option(a, "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":", "add_prefix_space", "false",
               false);
    assemble_put(a, ",\"trim_offsets\":true,\"use_regex\":true}," DECODER
                    "\"post_processor\":{\"type\":\"RobertaProcessing\",\"sep\":");
    put_pair(a, NAMED_SEP);
    assemble_put(a, ",\"cls\":");
    put_pair(a, NAMED_CLS);
    put_option(a, ",\"trim_offsets\":", "trim_offsets", "true", false);
    put_option(a, ",\"add_prefix_space\":", "add_prefix_space", "false", false);
    assemble_put(a, "}");
}

static void qwen2(struct assembling *a)
{
    assemble_put(a, "\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{"
                    "\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|"
                    "[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|"
                    "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"},\"behavior\":\"Isolated\",\"invert\":false},"
                    "{\"type\":\"ByteLevel\",\"trim_offsets\":true,\"use_regex\":false");
    put_option(a, ",\"add_prefix_space\":", "add_prefix_space", "false", true);
    assemble_put(a, "}]}," DECODER);
    put_template(a, if_asked(a, "add_bos_token", NAMED_BOS), if_asked(a, "add_eos_token", NAMED_EOS));
}

#define END "<|endoftext|>"

static const struct assemble_class classes[] = {
    { .names = " BertTokenizer DistilBertTokenizer ElectraTokenizer MobileBertTokenizer SqueezeBertTokenizer "
               "ConvBertTokenizer LayoutLMTokenizer LxmertTokenizer bert distilbert electra mobilebert squeezebert "
               "convbert layoutlm lxmert ",
      .words = true,
      .named = { NULL, NULL, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]" },
      .pipeline = bert },
    { .names = " GPT2Tokenizer gpt2 gpt_neo gptj ", .named = { END, END, END }, .pipeline = gpt2 },
    { .names = " RobertaTokenizer BartTokenizer LongformerTokenizer LEDTokenizer MvpTokenizer roberta bart longformer ",
      .named = { "<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>" },
      .pipeline = roberta },
    { .names = " Qwen2Tokenizer qwen2 qwen2_moe qwen3 qwen3_moe ",
      .named = { NULL, END, END, NULL, END },
      .adds_again = true,
      .pipeline = qwen2 },
};

#define REPLACE(of, by) "{\"type\":\"Replace\",\"pattern\":{" of "},\"content\":\"" by "\"}"
#define ONE_SPACE       REPLACE("\"Regex\":\" {2,}\"", " ")

/* ---- Stations that several classes have -------------------------------------------------------------------------- */

/* Add the next token: this text; the token with this name, which must be there. */
static void add_piece(struct assembling *a, struct jsontree_text text, double score)
{
    bool found;

    if (a->status != LEAT_OK)
        return;
    if (a->piece_count == a->piece_room)
        a->status = status_set_in(a->err, LEAT_E_VOCABULARY, a->source->path, "%s: too many tokens", a->source->path);
    if (a->status != LEAT_OK)
        return;
    a->ids
        .entries[string_map_add(&a->ids, string_map_hash(&a->ids, text.bytes, text.length), text.bytes, text.length,
                                &found)]
        .value = a->piece_count;
    a->pieces[a->piece_count++] = (struct assemble_piece) { text, score };
}

static void add_piece_named(struct assembling *a, enum assemble_named n)
{
    if (a->named[n].text.bytes)
        add_piece(a, a->named[n].text, 0);
    else if (a->status == LEAT_OK)
        a->status = status_set_in(a->err, LEAT_E_UNSUPPORTED, a->source->path,
                                  "%s: tokenizer_config.json removes a token of the vocabulary, which is not supported",
                                  a->source->path);
}

static void put_charsmap(struct assembling *a)
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
static bool has_map(const struct assembling *a)
{
    return a->model->sentencepiece.charsmap.length > 0;
}

/* Appends a Sequence: `before`, with a comma at its end; the map, if there is one; `after`. */
static void put_normalizers(struct assembling *a, const char *before, const char *after)
{
    assemble_put(a, "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[");
    assemble_put(a, before);
    if (has_map(a))
        put_charsmap(a);
    assemble_put(a, has_map(a) && *after ? "," : "");
    assemble_put(a, after);
    assemble_put(a, "]},");
}

/* Appends the pre-tokenizers before Metaspace, with a comma; then the decoder. `without`: the scheme without
 * add_prefix_space; NULL: the class does not ask for that. */
static void put_metaspace(struct assembling *a, const char *before, const char *without)
{
    const char *scheme = without && !flag(a, "add_prefix_space", true) ? without : "always";

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
 * (add_piece()). It is written as the Unigram model of a tokenizer.json, with numbers that are read as these
 * scores. */

static void add_model(struct assembling *a, uint32_t first)
{
    const struct tokenizer_spec *m = a->model;

    for (uint32_t i = first; i < m->token_count; i++)
        add_piece(a, (struct jsontree_text) { spec_token_bytes(m, &m->tokens[i]), m->tokens[i].length },
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
    REPLACE("\"Regex\":\"\\\\s{2,}|[\\n\\r\\t]\"", " ")                                                                \
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
        add_piece(a, numbered(a, "<extra_id_", i - 1), 0);
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
        a->status =
            status_set_in(a->err, LEAT_E_VOCABULARY, a->source->path,
                          "%s has %u tokens <extra_id_...>, and extra_ids is %u", a->source->path, found, wanted);
    assemble_add_reserved(a);
    for (unsigned i = 0; found == 0 && i < wanted; i++)
        assemble_add_extra(a, numbered(a, "<extra_id_", i), true);
}

static void t5(struct assembling *a)
{
    if (has_map(a))
        put_normalizers(a, "", "");
    put_metaspace(a, WORDS, NULL);
    put_template(a, NAMED_COUNT, NAMED_EOS);
}

/* ---- XLM-R and CamemBERT ----------------------------------------------------------------------------------------- */

static void xlmr_vocabulary(struct assembling *a)
{
    static const enum assemble_named first[] = { NAMED_BOS, NAMED_PAD, NAMED_EOS, NAMED_UNK };

    for (unsigned i = 0; i < 4; i++)
        add_piece_named(a, first[i]);
    add_model(a, 3);
    add_piece_named(a, NAMED_MASK);
    a->unknown = 3;
}

static void xlmr(struct assembling *a)
{
    if (has_map(a))
        put_normalizers(a, "", "");
    put_metaspace(a, WORDS, "never");
    put_template(a, NAMED_BOS, NAMED_EOS);
}

/* Of a model of another type, AutoTokenizer makes what these classes cannot take. */
static void refuse_other_types(struct assembling *a, const char *name)
{
    if (a->status == LEAT_OK && a->model->model != SPEC_SUMS)
        a->status =
            status_set_in(a->err, LEAT_E_UNSUPPORTED, a->source->path,
                          "%s: %s takes only a sentencepiece model of type unigram, and this one has another type; "
                          "name the file itself to get sentencepiece's ids",
                          a->source->path, name);
}

static void camembert_vocabulary(struct assembling *a)
{
    refuse_other_types(a, "CamembertTokenizer");
    add_piece(a, assemble_text_of("<s>NOTUSED"), 0);
    add_piece_named(a, NAMED_PAD);
    add_piece(a, assemble_text_of("</s>NOTUSED"), 0);
    add_piece_named(a, NAMED_UNK);
    add_piece(a, assemble_text_of("<unk>NOTUSED"), -100);
    add_model(a, 1);
    add_piece_named(a, NAMED_MASK);
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
        add_piece_named(a, first[i]);
    add_model(a, 3);
    for (unsigned i = 0; i < count; i++)
        add_piece(a, assemble_text_of(languages[i]), 0);
    add_piece_named(a, NAMED_MASK);
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

static void mbart50_extra(struct assembling *a)
{
    assemble_add_reserved(a);
    for (unsigned i = 0; i < LANGUAGES_50; i++)
        assemble_add_extra(a, assemble_text_of(languages[i]), true);
}

/* The language that stands around single texts. */
static struct jsontree_text source_language(struct assembling *a, unsigned count)
{
    struct jsontree_text t = option_text(a, "src_lang", "en_XX");

    for (unsigned i = 0; i < count; i++)
        if (assemble_same(t, assemble_text_of(languages[i])))
            return t;
    if (a->status == LEAT_OK)
        a->status =
            status_set_in(a->err, LEAT_E_UNSUPPORTED, a->source->path,
                          "%s: \"src_lang\" of tokenizer_config.json, \"%.*s\", is not one of the %u languages of "
                          "this tokenizer; use one, such as \"en_XX\"",
                          a->source->path, t.length < 40 ? (int)t.length : 40, (const char *)t.bytes, count);
    return t;
}

static void mbart(struct assembling *a)
{
    const struct jsontree_text around[3] = { { NULL, 0 }, a->named[NAMED_EOS].text, source_language(a, LANGUAGES) };

    put_metaspace(a, WORDS, NULL);
    put_around(a, around);
}

static void mbart50(struct assembling *a)
{
    const struct jsontree_text around[3] = { source_language(a, LANGUAGES_50), a->named[NAMED_EOS].text };

    put_normalizers(a, "", ONE_SPACE);
    put_metaspace(a, "", NULL);
    put_around(a, around);
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
    put_metaspace(a, "", "never");
    put_template(a, NAMED_COUNT, NAMED_COUNT);
}

/* ---- Pegasus ----------------------------------------------------------------------------------------------------- */

/* mask_token_sent; no bytes: it is null. */
static struct jsontree_text sentence_mask(struct assembling *a, const char *otherwise)
{
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, "mask_token_sent") : JSONTREE_NONE;

    if (node != JSONTREE_NONE && config->nodes[node].kind == JSONTREE_NULL)
        return (struct jsontree_text) { NULL, 0 };
    return option_text(a, "mask_token_sent", otherwise);
}

/* Where no file gives the two masks, transformers has them here the other way round than among the added tokens. */
static void add_masks(struct assembling *a)
{
    const struct assemble_token *named = &a->named[NAMED_MASK];
    struct jsontree_text mask = named->text.bytes && !named->given ? assemble_text_of("<mask_1>") : named->text;
    struct jsontree_text sentence = sentence_mask(a, "<mask_2>");

    if (mask.bytes)
        add_piece(a, mask, 0);
    if (sentence.bytes && !(mask.bytes && assemble_same(sentence, mask)))
        add_piece(a, sentence, 0);
}

static void pegasus_vocabulary(struct assembling *a)
{
    unsigned offset = count_of(a, "offset", 103);

    add_piece_named(a, NAMED_PAD);
    add_piece_named(a, NAMED_EOS);
    add_masks(a);
    for (unsigned i = 2; i < offset; i++)
        add_piece(a, numbered(a, "<unk_", i), -100);
    add_model(a, 2);
    for (a->unknown = 1; a->status == LEAT_OK && a->unknown < a->piece_count; a->unknown++)
        if (assemble_same(a->pieces[a->unknown].text, a->named[NAMED_UNK].text) && a->pieces[a->unknown].score == 0)
            return;
    if (a->status == LEAT_OK)
        a->status =
            status_set_in(a->err, LEAT_E_VOCABULARY, a->source->path, "%s lacks the unknown token", a->source->path);
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
    put_normalizers(a, has_map(a) ? "" : REPLACE("\"Regex\":\"\\n\"", " ") ",", ONE_SPACE);
    put_metaspace(a, "", NULL);
    put_template(a, NAMED_COUNT, NAMED_EOS);
}

/* ---- ALBERT and DeBERTa ------------------------------------------------------------------------------------------ */

static void albert_vocabulary(struct assembling *a)
{
    add_model(a, 0);
    a->unknown = 1;
}

static void albert(struct assembling *a)
{
    bool accents = flag(a, "keep_accents", false), cased = !flag(a, "do_lower_case", true);

    assemble_put(a, "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" REPLACE(
                        "\"String\":\"``\"", "\\\"") "," REPLACE("\"String\":\"''\"", "\\\""));
    assemble_put(a, accents ? "" : ",{\"type\":\"NFKD\"},{\"type\":\"StripAccents\"}");
    assemble_put(a, cased ? "" : ",{\"type\":\"Lowercase\"}");
    if (has_map(a)) {
        assemble_put(a, ",");
        put_charsmap(a);
    }
    assemble_put(a, "]},");
    put_metaspace(a, WORDS, "never");
    put_template(a, NAMED_CLS, NAMED_SEP);
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
    assemble_put(a, flag(a, "do_lower_case", false) ? "{\"type\":\"Lowercase\"}," : "");
    assemble_put(a, WHITE_SPACE "]},");
    put_metaspace(a, flag(a, "split_by_punct", false) ? "{\"type\":\"Punctuation\",\"behavior\":\"Isolated\"}," : "",
                  "first");
    put_template(a, NAMED_CLS, NAMED_SEP);
}

static const struct assemble_class piece_classes[] = {
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
            a->status = status_set_in(a->err, LEAT_E_UNSUPPORTED, a->source->path,
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
        add_piece(a, token_text(a, i), 0);
    a->unknown = SPEC_NONE;
}

/* Unlike other options, null for add_prefix_space is true. */
static bool adds_space(struct assembling *a)
{
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, "add_prefix_space") : JSONTREE_NONE;
    bool null = node == JSONTREE_NONE || config->nodes[node].kind == JSONTREE_NULL;

    return null || flag(a, "add_prefix_space", true);
}

static void put_around_if_asked(struct assembling *a)
{
    put_template(a, if_asked(a, "add_bos_token", NAMED_BOS), if_asked(a, "add_eos_token", NAMED_EOS));
}

#define AS_SPACE                                                                                                       \
    "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[" REPLACE(                                                       \
        "\"String\":\"" SPEC_MARK "\"", " ") ",{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"}"

static void llama(struct assembling *a)
{
    bool space = adds_space(a), legacy = flag(a, "legacy", false);

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
        a->status = status_set_in(a->err, LEAT_E_UNSUPPORTED, a->source->path,
                                  "%s: tokenizer_config.json removes the unknown token, which is not supported",
                                  a->source->path);
}

static void gemma(struct assembling *a)
{
    assemble_put(a, "\"normalizer\":" REPLACE("\"String\":\" \"", SPEC_MARK) ",");
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
        add_piece_named(a, first[i]);
    if (a->status == LEAT_OK && a->ids.count < 4)
        a->status = status_set_in(a->err, LEAT_E_UNSUPPORTED, a->source->path,
                                  "%s: two of bos_token, pad_token, eos_token and unk_token are the same, which is not "
                                  "supported for this class",
                                  a->source->path);
    for (uint32_t i = 0; a->status == LEAT_OK && i < a->model->token_count; i++) {
        struct jsontree_text t = token_text(a, i);

        if (!has(&a->ids, t.bytes, t.length))
            add_piece(a, t, 0);
    }
    a->unknown = 3;
}

/* The language stands around single texts. */
static void nllb(struct assembling *a)
{
    struct jsontree_text eos = a->named[NAMED_EOS].text, language = option_text(a, "src_lang", "eng_Latn");
    bool after = flag(a, "legacy_behaviour", false);
    const struct jsontree_text around[3] = { { after ? NULL : language.bytes, language.length },
                                             eos,
                                             { after ? language.bytes : NULL, language.length } };

    if (has_map(a))
        put_normalizers(a, "", ONE_SPACE);
    put_metaspace(a, "", NULL);
    put_around(a, around);
}

static const struct assemble_class merge_classes[] = {
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

/* ---- The class of a folder --------------------------------------------------------------------------------------- */

/* A member that names a class or a type of models, without Fast, between spaces; "": no such member. */
static void read_name(const struct jsontree *tree, const char *key, char name[80])
{
    uint32_t node = tree ? jsontree_member(tree, 0, key) : JSONTREE_NONE;
    struct jsontree_text t;

    name[0] = '\0';
    if (node == JSONTREE_NONE || tree->nodes[node].kind != JSONTREE_STRING)
        return;
    t = jsontree_string(tree, node);
    if (t.length > 4 && memcmp(t.bytes + t.length - 4, "Fast", 4) == 0)
        t.length -= 4;
    snprintf(name, 80, " %.*s ", (int)(t.length < 76 ? t.length : 76), (const char *)t.bytes);
}

static bool is_in(const char *name, const char *names)
{
    return name[0] && !strchr(name + 1, ' ')[1] && strstr(names, name);
}

/* The class that converts a sentencepiece model: the one that is named, if it is the one of the model's type, too; of
 * other pairs transformers takes what this table does not have. */
static const struct assemble_class *converter(const struct assemble_source *s)
{
    const char *slash = strrchr(s->path, '/'), *file = slash ? slash + 1 : s->path;
    char name[80], type[80];

    read_name(s->config, "tokenizer_class", name);
    if (!name[0])
        read_name(s->model, "tokenizer_class", name);
    read_name(s->model, "model_type", type);
    for (unsigned i = 0; i < 2; i++)
        for (const struct assemble_class *c = i ? merge_classes : piece_classes; c->names; c++)
            if (is_in(name[0] ? name : type, c->names) &&
                (!type[0] || is_in(type, c->names) || (c->beside && is_in(type, c->beside))) &&
                strncmp(file, c->file, strlen(c->file)) == 0)
                return c;
    return NULL;
}

bool assemble_converts(const struct assemble_source *source)
{
    return converter(source) != NULL;
}

/* The class that the configuration names, else the model's configuration: its class, its type of model. */
static void class_name(const struct assemble_source *s, char name[80])
{
    read_name(s->config, "tokenizer_class", name);
    if (!name[0])
        read_name(s->model, "tokenizer_class", name);
    if (!name[0])
        read_name(s->model, "model_type", name);
}

void assemble_find_class(struct assembling *a)
{
    char name[80];

    a->kind = converter(a->source);
    class_name(a->source, name);
    for (size_t i = 0; !a->kind && i < sizeof classes / sizeof classes[0]; i++)
        if (classes[i].words == a->words && is_in(name, classes[i].names))
            a->kind = &classes[i];
    if (a->kind)
        return;
    a->status = status_set_in(
        a->err, LEAT_E_UNSUPPORTED, a->source->path,
        "%s alone does not say how text is encoded: %s%.*s%s. leat reads it for the classes BertTokenizer (vocab.txt), "
        "GPT2Tokenizer, RobertaTokenizer and Qwen2Tokenizer (vocab.json), if tokenizer_config.json beside it names one "
        "as \"tokenizer_class\"; for others, let transformers write a tokenizer.json: save_pretrained()",
        a->source->path, name[0] ? "the tokenizer " : "no file beside it names a tokenizer",
        name[0] ? (int)strlen(name) - 2 : 0, name + 1, name[0] ? " is not known" : "");
}
