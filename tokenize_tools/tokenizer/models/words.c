/*
 * words.c: WordPiece and WordLevel, two rows of the table, and their sections in a tokenizer.json. lookup/ does the
 * work.
 */
#include "tokenizer/lookup/words.h"

#include "base/status.h"
#include "tokenizer/bpe/pretoken_cache.h"
#include "tokenizer/load/load_hf.h"
#include "tokenizer/spec/fingerprint.h"
#include "tokenizer/spec/model.h"

/* ---- Files ---- */

static enum leat_status read_wordlevel(struct load_hf *h, uint32_t node)
{
    enum leat_status s = load_hf_vocabulary(h, node);
    uint32_t unknown;

    if (s == LEAT_OK)
        s = load_hf_string(h, node, "unk_token", LOAD_HF_REQUIRED, &unknown);
    if (s == LEAT_OK)
        s = load_hf_unknown(h, node);
    return s == LEAT_OK ? load_hf_tokens(h) : s;
}

static enum leat_status read_wordpiece(struct load_hf *h, uint32_t node)
{
    struct words_data *data = spec_alloc(h->spec, sizeof *data);
    enum leat_status s;

    if (!data)
        return status_no_memory(h->err, sizeof *data);
    h->spec->model_data = data;
    s = load_hf_affix(h, node, "continuing_subword_prefix", LOAD_HF_REQUIRED, &h->spec->continuing_prefix);
    if (s == LEAT_OK)
        s = load_hf_number(h, node, "max_input_chars_per_word", &data->max_characters);
    return s == LEAT_OK ? read_wordlevel(h, node) : s;
}

static void hash_wordpiece(struct fingerprint_hash *h, const struct tokenizer_spec *spec)
{
    const struct words_data *data = spec->model_data;

    fingerprint_number(h, data->max_characters);
}

/* ---- Models ---- */

static const struct words *of(const struct model *m)
{
    return (const struct words *)(const void *)m;
}

static enum leat_status make(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct words *m;
    enum leat_status s = words_make(&m, spec, err);

    *out = (struct model *)(void *)m;
    return s;
}

static void free_model(struct model *m)
{
    words_free((struct words *)(void *)m);
}

static enum leat_status scratch_make(void **out, struct bound *bound, size_t cache_bytes, struct leat_error *err)
{
    struct words_scratch *s;
    enum leat_status status = words_scratch_make(&s, cache_bytes, err);

    (void)bound;
    *out = s;
    return status;
}

static void scratch_free(void *scratch)
{
    words_scratch_free(scratch);
}

static enum leat_status encode(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                               struct id_list *out, struct leat_error *err)
{
    (void)scratch;
    return words_encode(of(m), text, bytes, out, err);
}

static enum leat_status encode_batch(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                     uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                     struct leat_error *err)
{
    return words_encode_batch(of(m), scratch, text, bytes, begin, ends, count, out, err);
}

static enum leat_status encode_words(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                     uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                     struct leat_error *err)
{
    return words_encode_after_space(of(m), scratch, text, bytes, begin, ends, count, out, err);
}

static enum leat_status encode_chunk(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                     bool begins, bool last, struct id_list *out, size_t *used, struct leat_error *err)
{
    return words_encode_chunk(of(m), scratch, text, bytes, begins, last, out, used, err);
}

#define WORDS                                                                                                          \
    .make = make, .free = free_model, .scratch_make = scratch_make, .scratch_free = scratch_free,                      \
    .cache_bytes = pretoken_cache_large, .encode = encode, .encode_batch = encode_batch, .encode_words = encode_words, \
    .encode_chunk = encode_chunk

const struct model_kind model_wordpiece = {
    .type = "WordPiece", .member = "max_input_chars_per_word", .read = read_wordpiece, .hash = hash_wordpiece, WORDS
};
const struct model_kind model_wordlevel = { .type = "WordLevel", .member = "unk_token", .read = read_wordlevel, WORDS };
