/*
 * assemble_pieces.c: the classes of transformers 5.23.0 that convert a sentencepiece model of type Unigram: a row for
 * each, with its names, its tokens, what it makes of the model's vocabulary, and the stations of its pipeline.
 *
 * A class's vocabulary is the model's tokens with their scores, and those that it puts before and after them
 * (add_piece()). It is written as the Unigram model of a tokenizer.json, with numbers that are read as these scores.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "base/status.h"
#include "load.h"
#include "load_hf.h"

#define MAX_COUNT 10000 /* of the tokens that an option counts */

/* ---- The vocabulary ---- */

static void add_piece(struct assembling *a, struct jsontree_text text, double score)
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

static void add_named(struct assembling *a, enum assemble_named n)
{
    if (a->named[n].text.bytes)
        add_piece(a, a->named[n].text, 0);
    else if (a->status == LEAT_OK)
        a->status = status_set(a->err, LEAT_E_UNSUPPORTED,
                               "%s: tokenizer_config.json removes a token of the vocabulary, which is not supported",
                               a->source->path);
}

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

    if (node != JSONTREE_NONE && (!jsontree_u64(config, node, &value) || value > MAX_COUNT))
        assemble_wrong(a, LEAT_E_VOCABULARY, config, node,
                       "an option of the tokenizer must be a whole number to 10000");
    return (unsigned)value;
}

static struct jsontree_text text_of(const char *text)
{
    return (struct jsontree_text) { (const uint8_t *)text, (uint32_t)strlen(text) };
}

static bool same(struct jsontree_text a, struct jsontree_text b)
{
    return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* ---- Stations ---- */

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

static bool has_map(const struct assembling *a)
{
    return a->model->sentencepiece.charsmap.length > 0;
}

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

/* The pre-tokenizers before Metaspace, with a comma; then the decoder. */
static void put_metaspace(struct assembling *a, const char *before, const char *otherwise)
{
    const char *scheme = assemble_is_false(a, "add_prefix_space") ? otherwise : "always";

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

#define WORDS           "{\"type\":\"WhitespaceSplit\"},"
#define REPLACE(of, by) "{\"type\":\"Replace\",\"pattern\":{" of "},\"content\":\"" by "\"}"
#define ONE_SPACE       REPLACE("\"Regex\":\" {2,}\"", " ")

/* ---- T5 ---- */

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
        a->status = status_set(a->err, LEAT_E_VOCABULARY, "%s has %u tokens <extra_id_...>, and extra_ids is %u",
                               a->source->path, found, wanted);
    assemble_add_reserved(a);
    for (unsigned i = 0; found == 0 && i < wanted; i++)
        assemble_add_extra(a, numbered(a, "<extra_id_", i), true);
}

static void t5(struct assembling *a)
{
    if (has_map(a))
        put_normalizers(a, "", "");
    put_metaspace(a, WORDS, "always");
    assemble_put_template(a, NAMED_COUNT, NAMED_EOS);
}

/* ---- XLM-R and CamemBERT ---- */

static void xlmr_vocabulary(struct assembling *a)
{
    static const enum assemble_named first[] = { NAMED_BOS, NAMED_PAD, NAMED_EOS, NAMED_UNK };

    for (unsigned i = 0; i < 4; i++)
        add_named(a, first[i]);
    add_model(a, 3);
    add_named(a, NAMED_MASK);
    a->unknown = 3;
}

static void xlmr(struct assembling *a)
{
    if (has_map(a))
        put_normalizers(a, "", "");
    put_metaspace(a, WORDS, "never");
    assemble_put_template(a, NAMED_BOS, NAMED_EOS);
}

static void camembert_vocabulary(struct assembling *a)
{
    add_piece(a, text_of("<s>NOTUSED"), 0);
    add_named(a, NAMED_PAD);
    add_piece(a, text_of("</s>NOTUSED"), 0);
    add_named(a, NAMED_UNK);
    add_piece(a, text_of("<unk>NOTUSED"), -100);
    add_model(a, 1);
    add_named(a, NAMED_MASK);
    if (a->status != LEAT_OK)
        return;
    while (!same(a->pieces[a->unknown].text, a->named[NAMED_UNK].text))
        a->unknown++;
}

/* ---- Pegasus ---- */

static struct jsontree_text sentence_mask(struct assembling *a)
{
    const struct jsontree *config = a->source->config;
    uint32_t node = config ? jsontree_member(config, 0, "mask_token_sent") : JSONTREE_NONE;

    if (node == JSONTREE_NONE)
        return text_of("<mask_1>");
    if (config->nodes[node].kind != JSONTREE_STRING)
        assemble_wrong(a, LEAT_E_UNSUPPORTED, config, node, "mask_token_sent that is not a string is not supported");
    return jsontree_string(config, node);
}

static void pegasus_vocabulary(struct assembling *a)
{
    const struct jsontree *config = a->source->config;
    unsigned offset = count_of(a, "offset", 103);

    if (a->status == LEAT_OK && (!config || jsontree_member(config, 0, "mask_token") == JSONTREE_NONE ||
                                 jsontree_member(config, 0, "mask_token_sent") == JSONTREE_NONE))
        a->status = status_set(a->err, LEAT_E_UNSUPPORTED,
                               "%s: a PegasusTokenizer needs mask_token and mask_token_sent in tokenizer_config.json",
                               a->source->path);
    add_named(a, NAMED_PAD);
    add_named(a, NAMED_EOS);
    add_named(a, NAMED_MASK);
    if (a->status == LEAT_OK && !same(sentence_mask(a), a->named[NAMED_MASK].text))
        add_piece(a, sentence_mask(a), 0);
    for (unsigned i = 2; i < offset; i++)
        add_piece(a, numbered(a, "<unk_", i), -100);
    add_model(a, 2);
    for (a->unknown = 1; a->status == LEAT_OK && a->unknown < a->piece_count; a->unknown++)
        if (same(a->pieces[a->unknown].text, a->named[NAMED_UNK].text) && a->pieces[a->unknown].score == 0)
            return;
    if (a->status == LEAT_OK)
        a->status = status_set(a->err, LEAT_E_VOCABULARY, "%s lacks the unknown token", a->source->path);
}

static void pegasus_extra(struct assembling *a)
{
    unsigned offset = count_of(a, "offset", 103);

    assemble_add_extra(a, sentence_mask(a), true);
    for (unsigned i = 2; i < offset; i++)
        assemble_add_extra(a, numbered(a, "<unk_", i), true);
}

static void pegasus(struct assembling *a)
{
    put_normalizers(a, has_map(a) ? "" : REPLACE("\"Regex\":\"\\n\"", " ") ",", ONE_SPACE);
    put_metaspace(a, "", "always");
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
    bool accents = assemble_is_true(a, "keep_accents"), cased = assemble_is_false(a, "do_lower_case");

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
    assemble_put_template(a, NAMED_CLS, NAMED_SEP);
}

static void deberta_vocabulary(struct assembling *a)
{
    add_model(a, 0);
    a->unknown = a->model->unknown;
    for (uint32_t i = a->piece_count; a->status == LEAT_OK && a->named[NAMED_UNK].text.bytes && i-- > 0;)
        if (same(a->pieces[i].text, a->named[NAMED_UNK].text) && a->pieces[i].score == 0)
            a->unknown = i;
}

static void deberta(struct assembling *a)
{
    assemble_put(a, "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[");
    assemble_put(a, assemble_is_true(a, "do_lower_case") ? "{\"type\":\"Lowercase\"}," : "");
    assemble_put(a,
                 REPLACE("\"Regex\":\"\\\\s{2,}|[\\n\\r\\t]\"", " ") ",{\"type\":\"NFC\"},{\"type\":\"Strip\","
                                                                     "\"strip_left\":false,\"strip_right\":true}]},");
    put_metaspace(a,
                  assemble_is_true(a, "split_by_punct") ? "{\"type\":\"Punctuation\",\"behavior\":\"Isolated\"}," : "",
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

/* ---- Reading and writing ---- */

void assemble_read_pieces(struct assembling *a)
{
    const struct load_source source = { .path = a->source->path, .bytes = a->source->bytes, .size = a->source->size };

    a->model = spec_new();
    if (!a->model)
        a->status = status_no_memory(a->err, sizeof *a->model);
    if (a->status == LEAT_OK)
        a->status = load_sentencepiece(a->model, &source, a->err);
    if (a->status != LEAT_OK)
        return;
    a->piece_room = a->model->token_count + MAX_COUNT + NAMED_COUNT;
    a->pieces = malloc(a->piece_room * sizeof *a->pieces);
    if (!a->pieces || !string_map_init(&a->ids, a->piece_room))
        a->status = status_no_memory(a->err, a->piece_room * sizeof *a->pieces);
    else
        a->kind->vocabulary(a);
}

/* The last digits of a number with so many digits, changed by `step`, are read as `score`. */
static bool is_read_as(char *text, size_t room, double score, int digits, int step)
{
    char plain[40];
    double again;
    uint64_t all;
    int exponent;

    snprintf(plain, sizeof plain, "%.*e", digits - 1, score < 0 ? -score : score);
    exponent = (int)strtol(strchr(plain, 'e') + 1, NULL, 10) - (digits - 1);
    memmove(plain + 1, plain + 2, strlen(plain + 1)); /* the point */
    all = strtoull(plain, NULL, 10) + (uint64_t)(int64_t)step;
    snprintf(text, room, "%s%llue%d", score < 0 ? "-" : "", (unsigned long long)all, exponent);
    return json_number((const uint8_t *)text, (uint32_t)strlen(text), &again) && again == score;
}

/* Writes a score so that it is read as this double. The reference does not read numbers to the nearest one, so there
 * are doubles, one in a hundred between 3.6 and 4, that no text is read as: false. */
static bool write_score(double score, char text[40])
{
    bool good = score == 0;

    snprintf(text, 40, "0");
    for (int digits = 9; !good && digits <= 19; digits++)
        for (int step = 0; !good && step < (digits < 17 ? 1 : 200); step++)
            good = is_read_as(text, 40, score, digits, step & 1 ? step / 2 + 1 : -(step / 2));
    return good;
}

static bool can_write_scores(const struct assembling *a)
{
    char text[40];
    uint32_t i = 0;

    while (i < a->piece_count && write_score(a->pieces[i].score, text))
        i++;
    return i == a->piece_count;
}

static void put_score(struct assembling *a, double score, bool as_bits)
{
    unsigned long long bits;
    char text[40];

    memcpy(&bits, &score, sizeof bits);
    if (as_bits)
        snprintf(text, sizeof text, "%llu", bits);
    else
        write_score(score, text);
    assemble_put(a, text);
}

void assemble_put_pieces(struct assembling *a)
{
    bool as_bits = !can_write_scores(a);

    assemble_put(a, ",\"model\":{\"type\":\"Unigram\",\"byte_fallback\":false,\"unk_id\":");
    assemble_put_id(a, a->unknown);
    assemble_put(a, as_bits ? ",\"" LOAD_HF_SCORE_BITS "\":true,\"vocab\":[" : ",\"vocab\":[");
    for (uint32_t i = 0; a->status == LEAT_OK && i < a->piece_count; i++) {
        assemble_put(a, i ? ",[" : "[");
        assemble_put_string(a, a->pieces[i].text);
        assemble_put(a, ",");
        put_score(a, a->pieces[i].score, as_bits);
        assemble_put(a, "]");
    }
    assemble_put(a, "]}}");
}
