/*
 * unigram.c: the Unigram models of tokenizer.json and of sentencepiece, two rows of the table. lookup/ does the work;
 * read_unigram.c reads the section of a tokenizer.json.
 */
#include <string.h>

#include "read_unigram.h"
#include "tokenizer/bpe/pretoken_cache.h"
#include "tokenizer/lookup/unigram.h"
#include "tokenizer/spec/fingerprint.h"
#include "tokenizer/spec/model.h"

static const struct unigram *of(const struct model *m)
{
    return (const struct unigram *)(const void *)m;
}

static void hash_doubles(struct fingerprint_hash *h, const struct tokenizer_spec *spec)
{
    const struct unigram_data *data = spec->model_data;

    for (uint32_t i = 0; i < spec->token_count; i++) {
        uint64_t bits;

        memcpy(&bits, &data->scores[i], sizeof bits);
        fingerprint_number(h, (uint32_t)bits);
        fingerprint_number(h, (uint32_t)(bits >> 32));
    }
}

static void hash_floats(struct fingerprint_hash *h, const struct tokenizer_spec *spec)
{
    for (uint32_t i = 0; i < spec->token_count; i++) {
        uint32_t bits;

        memcpy(&bits, &spec->scores[i], sizeof bits);
        fingerprint_number(h, bits);
    }
}

static enum leat_status make(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct unigram *m;
    enum leat_status s = unigram_make(&m, spec, err);

    *out = (struct model *)(void *)m;
    return s;
}

static void free_model(struct model *m)
{
    unigram_free((struct unigram *)(void *)m);
}

static enum leat_status scratch_make(void **out, struct bound *bound, size_t cache_bytes, struct leat_error *err)
{
    struct unigram_scratch *s;
    enum leat_status status = unigram_scratch_make(&s, bound, cache_bytes, err);

    *out = s;
    return status;
}

static void scratch_free(void *scratch)
{
    unigram_scratch_free(scratch);
}

static enum leat_status encode(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                               struct id_list *out, struct leat_error *err)
{
    return unigram_encode(of(m), scratch, text, bytes, out, err);
}

static enum leat_status encode_batch(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                     uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                     struct leat_error *err)
{
    return unigram_encode_batch(of(m), scratch, text, bytes, begin, ends, count, out, err);
}

static enum leat_status encode_chunk(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                     bool begins, bool last, struct id_list *out, size_t *used, struct leat_error *err)
{
    return unigram_encode_chunk(of(m), scratch, text, bytes, begins, last, out, used, err);
}

#define UNIGRAM                                                                                                        \
    .make = make, .free = free_model, .scratch_make = scratch_make, .scratch_free = scratch_free,                      \
    .cache_bytes = pretoken_cache_large, .encode = encode, .encode_batch = encode_batch, .encode_chunk = encode_chunk

const struct model_kind model_unigram = {
    .type = "Unigram", .member = "unk_id", .read = read_unigram, .hash = hash_doubles, .spaced_words = true, UNIGRAM
};
const struct model_kind model_sums = {
    .sentencepiece = 1, .hash = hash_floats, .finds_defined = true, .spaced_normalized = true, UNIGRAM
};
