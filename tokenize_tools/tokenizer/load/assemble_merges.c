/*
 * assemble_merges.c: the classes of transformers 5.23.0 that convert a sentencepiece model to BPE: a row for each, with
 * its names, its tokens and the stations of its pipeline.
 *
 * Whatever the model's type and scores, the merges follow from its tokens alone: each way to write a token as two
 * others is a merge. They stand in the order of the tokens, those of one token by the length of their left part.
 */
#include <string.h>

#include "assemble.h"
#include "assemble_stations.h"
#include "base/status.h"

/* ---- The model ---- */

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

/* ---- Llama and Gemma ---- */

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

/* ---- NLLB ---- */

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
