/* end_token.c: looks the end token up in one source after another. */
#include "end_token.h"

#include <string.h>

#include "base/bytes.h"

/*
 * Known vocabularies: the low eight bytes of the fingerprint, read as a little-endian number, and the id. Whoever
 * changes the fingerprint renews the table: tests/tokenizer_files/test_vocabularies.c prints what it should be.
 */
static const struct {
    uint64_t print;
    uint32_t id;
} known[] = {
    { UINT64_C(0x47f23944142cc17e), 256 },    /* bytes, the built-in */
    { UINT64_C(0x751675b87e75eb02), 50256 },  /* gpt2, r50k_base */
    { UINT64_C(0x5dc727be0d42c2c4), 50256 },  /* p50k_base */
    { UINT64_C(0x4d588256ad637124), 50256 },  /* p50k_edit */
    { UINT64_C(0xb9137fb9b46ad193), 50256 },  /* gpt2, tokenizer.json */
    { UINT64_C(0xd64b40c0d281520b), 100257 }, /* cl100k_base */
    { UINT64_C(0xb9f949c2abe021c6), 100257 }, /* cl100k_base, tokenizer.json */
    { UINT64_C(0x73f02b87aa275f2b), 199999 }, /* o200k_base */
    { UINT64_C(0xd014656cecd129db), 199999 }, /* o200k_harmony */
    { UINT64_C(0x5f18123cc1460c43), 199999 }, /* o200k_base, tokenizer.json */
    { UINT64_C(0xb0a074cbe3b6724b), 128001 }, /* Llama 3.1 */
    { UINT64_C(0xc4049335cb20d735), 151643 }, /* Qwen 2.5 */
    { UINT64_C(0x78f3ac08ed3943a1), 1 },      /* DeepSeek V3 */
    { UINT64_C(0xecd81c7cab7c0d84), 1 },      /* Gemma 2 */
    { UINT64_C(0x7e71d63351d2019e), 2 },      /* Mistral Nemo, tokenizer.json */
    { UINT64_C(0x85e97998a6c78122), 2 },      /* Mistral 7B v0.1, tokenizer.json */
    { UINT64_C(0xb62dc805318b95bd), 2 },      /* Mistral v1, sentencepiece */
    { UINT64_C(0xc4dabe3e2da8a7fd), 2 },      /* Mistral v2, sentencepiece */
    { UINT64_C(0xb21242288f65aa59), 2 },      /* Mistral v3, sentencepiece */
    { UINT64_C(0xa99b5285f60494d4), 2 },      /* Mistral v7, sentencepiece */
    { UINT64_C(0x3cb2fbec6ecb3666), 2 },      /* Tekken 240718 and 240911 */
};

/*
 * Families of vocabularies. Their markers have consecutive ids, which all vocabularies of a publisher share,
 * whatever other tokens a version adds. A single marker could belong to another publisher; all of them at these ids
 * cannot.
 */
#define FAMILY_MARKS 5

static const struct family {
    uint32_t first; /* id of the first mark; SPEC_NONE: any id */
    uint32_t end;   /* number of the mark that ends a document */
    const char *marks[FAMILY_MARKS];
} families[] = {
    { 50256, 0, { "<|endoftext|>" } },                                                        /* GPT-2, Phi-2 */
    { 100257, 0, { "<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>" } }, /* OLMo 2 and 3, Phi-4 */
    { 199998, 1, { "<|startoftext|>", "<|endoftext|>" } },                                    /* GPT-OSS */
    { SPEC_NONE, 0, { "<|endoftext|>", "<|im_start|>", "<|im_end|>" } },                      /* Qwen, SmolLM */
    { SPEC_NONE, 1, { "<|begin_of_text|>", "<|end_of_text|>" } },                             /* Llama 3 and 4 */
    { SPEC_NONE, 0, { "<|endoftext|>", "[MASK]", "[gMASK]", "[sMASK]" } },                    /* GLM-4 */
    { 0, 1, { "<pad>", "<eos>", "<bos>", "<unk>", "<mask>" } },                               /* Gemma */
    { 0, 2, { "<unk>", "<s>", "</s>", "[INST]", "[/INST]" } },                                /* Mistral */
    { 0, 0, { "<|endoftext|>", "<fim_prefix>", "<fim_middle>", "<fim_suffix>" } },            /* StarCoder */
    { 163584, 1, { "[BOS]", "[EOS]" } },                                                      /* Kimi K2 */
    { SPEC_NONE,
      1, /* DeepSeek; its names have U+FF5C for the bars, and U+2581 between words */
      { "<\357\275\234begin\342\226\201of\342\226\201sentence\357\275\234>",
        "<\357\275\234end\342\226\201of\342\226\201sentence\357\275\234>" } },
};

/* The names that publishers give the end token, the clearest first. In two of them, U+2581 stands between words, and
 * U+FF5C for the bars. */
static const char *const names[] = {
    "<|endoftext|>",
    "<|end_of_text|>",
    "</s>",
    "<eos>",
    "<|end\342\226\201of\342\226\201sentence|>",
    "<\357\275\234end\342\226\201of\342\226\201sentence\357\275\234>",
    "<EOS>",
    "[EOS]",
    "<|eos|>",
    "<|endofdocument|>",
    "<|end_of_document|>",
    "<end_of_text>",
    "<endoftext>",
    "<eod>",
    "<|eod|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|eot_id|>",
    "<|im_end|>",
    "[SEP]",
};

static uint32_t from_table(const uint8_t print[FINGERPRINT_BYTES])
{
    uint64_t low = bytes_load64(print);

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].print == low)
            return known[i].id;
    return SPEC_NONE;
}

/* Returns the "eos_token" of a config, or JSONTREE_NONE if it has none. */
static uint32_t named_by(const struct jsontree *config)
{
    uint32_t node = config ? jsontree_member(config, 0, "eos_token") : JSONTREE_NONE;

    if (node != JSONTREE_NONE && config->nodes[node].kind == JSONTREE_OBJECT)
        node = jsontree_member(config, node, "content");
    return node != JSONTREE_NONE && config->nodes[node].kind == JSONTREE_STRING ? node : JSONTREE_NONE;
}

/* Returns true for a token that is not text: an added one, or sentencepiece's control token. */
static bool is_marker(const struct tokenizer_spec *spec, uint32_t id)
{
    const struct spec_token *t = spec_find_id(spec, id);

    return spec_find_added(spec, id) || (t && t->type == SPEC_CONTROL);
}

static uint32_t from_family(const struct tokenizer_spec *spec)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct family *f = &families[i];
        uint32_t first = spec_find_text(spec, f->marks[0], strlen(f->marks[0]));
        bool all = first != SPEC_NONE && (f->first == SPEC_NONE || f->first == first);

        for (uint32_t k = 0; all && k < FAMILY_MARKS && f->marks[k]; k++)
            all = spec_find_text(spec, f->marks[k], strlen(f->marks[k])) == first + k && is_marker(spec, first + k);
        if (all)
            return first + f->end;
    }
    return SPEC_NONE;
}

/* Returns how likely a token with such a name ends documents: 2 for a special token; 1 for an added one, perhaps a
 * tag of HTML, as Gemma's </s> is; 0 for ordinary text. */
static int likelihood(const struct tokenizer_spec *spec, uint32_t id)
{
    const struct spec_added *a = spec_find_added(spec, id);

    return a && !a->special ? 1 : is_marker(spec, id) ? 2 : 0;
}

/* Lists the likely tokens first, in the order of the names. Ordinary tokens are listed only if there are no others. */
static void find_candidates(struct end_token *out, const struct tokenizer_spec *spec)
{
    for (int wanted = 2; wanted >= 0 && (wanted > 0 || out->candidate_count == 0); wanted--)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            uint32_t id = spec_find_text(spec, names[i], strlen(names[i]));

            if (id != SPEC_NONE && likelihood(spec, id) == wanted && out->candidate_count < END_TOKEN_CANDIDATES)
                out->candidates[out->candidate_count++] = id;
        }
}

void end_token_find(struct end_token *out, const struct tokenizer_spec *spec, const uint8_t print[FINGERPRINT_BYTES],
                    const struct jsontree *config)
{
    uint32_t node = named_by(config);

    *out = (struct end_token) { .id = SPEC_NONE, .begin = SPEC_NONE };
    if (node != JSONTREE_NONE) {
        struct jsontree_text t = jsontree_string(config, node);

        out->id = spec_find_text(spec, t.bytes, t.length);
    } else {
        out->id = from_table(print);
        if (out->id == SPEC_NONE)
            out->id = from_family(spec);
        if (out->id == SPEC_NONE)
            out->id = spec->around.after;
    }
    if (out->id != SPEC_NONE && (spec->around.after == SPEC_NONE || spec->around.after == out->id))
        out->begin = spec->around.before;
    if (out->id == SPEC_NONE)
        find_candidates(out, spec);
}
