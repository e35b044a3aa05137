/*
 * byte_pairs.c: the models of byte pairs, four rows of the table. They differ in where their merges come from
 * (bpe/bpe_make.c), and are one otherwise. bpe/ does the work; read_byte_pairs.c reads the section of a
 * tokenizer.json.
 */
#include <string.h>

#include "read_byte_pairs.h"
#include "tokenizer/bpe/bpe.h"
#include "tokenizer/bpe/pretoken_cache.h"
#include "tokenizer/spec/fingerprint.h"
#include "tokenizer/spec/model.h"

static const struct bpe *of(const struct model *m)
{
    return (const struct bpe *)(const void *)m;
}

static void hash(struct fingerprint_hash *h, const struct tokenizer_spec *spec)
{
    for (uint32_t i = 0; spec->scores && i < spec->token_count; i++) {
        uint32_t bits;

        memcpy(&bits, &spec->scores[i], sizeof bits);
        fingerprint_number(h, bits);
    }
    fingerprint_number(h, spec->merge_count);
    for (uint32_t i = 0; i < spec->merge_count; i++) {
        const struct spec_merge *m = &spec->merges[i];
        const uint32_t numbers[] = { m->left, m->right, m->result };

        fingerprint_numbers(h, numbers, 3);
    }
}

static enum leat_status make(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct bpe *m;
    enum leat_status s = bpe_make(&m, spec, err);

    *out = (struct model *)(void *)m;
    return s;
}

static void free_model(struct model *m)
{
    bpe_free((struct bpe *)(void *)m);
}

static enum leat_status scratch_make(void **out, struct bound *bound, size_t cache_bytes, struct leat_error *err)
{
    struct bpe_scratch *s;
    enum leat_status status = bpe_scratch_make(&s, bound, cache_bytes, err);

    *out = s;
    return status;
}

static void scratch_free(void *scratch)
{
    bpe_scratch_free(scratch);
}

static enum leat_status encode(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                               struct id_list *out, struct leat_error *err)
{
    return bpe_encode(of(m), scratch, text, bytes, out, err);
}

static enum leat_status encode_batch(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                     uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                     struct leat_error *err)
{
    return bpe_encode_pretokens(of(m), scratch, text, bytes, begin, ends, count, out, err);
}

static enum leat_status encode_chunk(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                     bool begins, bool last, struct id_list *out, size_t *used, struct leat_error *err)
{
    return bpe_encode_chunk(of(m), scratch, text, bytes, begins, last, out, used, err);
}

static bool takes_spans(const struct model *m)
{
    return bpe_takes_spans(of(m));
}

static enum leat_status encode_spans(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                     const struct model_span *spans, size_t count, struct id_list *out,
                                     struct leat_error *err)
{
    return bpe_encode_spans(of(m), scratch, text, bytes, spans, count, out, err);
}

#define BYTE_PAIRS(kind)                                                                                               \
    .variant = &(kind), .hash = hash, .make = make, .free = free_model, .scratch_make = scratch_make,                  \
    .scratch_free = scratch_free, .cache_bytes = pretoken_cache_large, .encode = encode, .encode_batch = encode_batch, \
    .encode_chunk = encode_chunk, .takes_spans = takes_spans, .encode_spans = encode_spans

const struct model_kind model_bytes = { BYTE_PAIRS(bpe_bytes) };
const struct model_kind model_ranks = { BYTE_PAIRS(bpe_ranks) };
const struct model_kind model_merges = {
    .type = "BPE", .member = "merges", .read = read_byte_pairs, .spaced = true, BYTE_PAIRS(bpe_merges)
};
const struct model_kind model_scores = { .sentencepiece = 2, .spaced = true, BYTE_PAIRS(bpe_scores) };
