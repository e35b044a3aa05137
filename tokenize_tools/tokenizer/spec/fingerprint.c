/* fingerprint.c: computes a fingerprint. Numbers go through a small buffer, so that the hash sees long runs. */
#include "fingerprint.h"

#include <string.h>

#include "base/bytes.h"
#include "model.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct fingerprint_hash {
    XXH3_state_t state;
    uint8_t buffer[4096];
    size_t used;
};

static void flush(struct fingerprint_hash *h)
{
    XXH3_128bits_update(&h->state, h->buffer, h->used);
    h->used = 0;
}

void fingerprint_number(struct fingerprint_hash *h, uint32_t v)
{
    if (sizeof h->buffer - h->used < 4)
        flush(h);
    bytes_store32(h->buffer + h->used, v);
    h->used += 4;
}

void fingerprint_numbers(struct fingerprint_hash *h, const uint32_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fingerprint_number(h, numbers[i]);
}

void fingerprint_floats(struct fingerprint_hash *h, const float *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;

        memcpy(&bits, &numbers[i], sizeof bits);
        fingerprint_number(h, bits);
    }
}

static void fingerprint_bytes(struct fingerprint_hash *h, const void *p, uint64_t length)
{
    if (length == 0)
        return;
    flush(h);
    XXH3_128bits_update(&h->state, p, length);
}

static void fingerprint_string(struct fingerprint_hash *h, const struct spec_string *s)
{
    fingerprint_number(h, s->length);
    fingerprint_bytes(h, s->bytes, s->length);
}

static void model(struct fingerprint_hash *h, const struct tokenizer_spec *spec)
{
    const struct model_kind *kind = model_kind_of(spec);
    const uint32_t numbers[] = { spec->model,         spec->dialect,      spec->byte_level,   spec->unknown,
                                 spec->byte_fallback, spec->fuse_unknown, spec->ignore_merges };

    fingerprint_numbers(h, numbers, sizeof numbers / sizeof numbers[0]);
    fingerprint_string(h, &spec->unknown_text);
    fingerprint_string(h, &spec->continuing_prefix);
    fingerprint_string(h, &spec->word_suffix);
    fingerprint_number(h, spec->token_count);
    for (uint32_t i = 0; i < spec->token_count; i++) {
        fingerprint_number(h, spec->tokens[i].id);
        fingerprint_number(h, spec->tokens[i].length);
        fingerprint_number(h, spec->tokens[i].type + (spec->tokens[i].foreign ? 256u : 0));
    }
    fingerprint_bytes(h, spec->text, spec->text_bytes);
    if (kind->hash)
        kind->hash(h, spec);
}

static void pipeline(struct fingerprint_hash *h, const struct tokenizer_spec *spec)
{
    fingerprint_number(h, spec->normalizer_count);
    for (uint32_t i = 0; i < spec->normalizer_count; i++) {
        const struct spec_normalizer *n = &spec->normalizers[i];

        fingerprint_number(h, n->kind);
        fingerprint_number(h, n->strip_left);
        fingerprint_number(h, n->strip_right);
        fingerprint_number(h, n->pattern.regex);
        fingerprint_string(h, &n->pattern.text);
        fingerprint_string(h, &n->content);
    }
    fingerprint_number(h, spec->pre_tokenizer_count);
    for (uint32_t i = 0; i < spec->pre_tokenizer_count; i++) {
        const struct spec_pre_tokenizer *p = &spec->pre_tokenizers[i];
        const uint32_t numbers[] = {
            p->kind,      p->behavior,          p->prepend, p->invert,       p->add_prefix_space,
            p->use_regex, p->individual_digits, p->split,   p->pattern.regex
        };

        fingerprint_numbers(h, numbers, sizeof numbers / sizeof numbers[0]);
        fingerprint_string(h, &p->pattern.text);
        fingerprint_string(h, &p->replacement);
    }
}

static void added(struct fingerprint_hash *h, const struct tokenizer_spec *spec)
{
    fingerprint_number(h, spec->added_count);
    for (uint32_t i = 0; i < spec->added_count; i++) {
        const struct spec_added *a = &spec->added[i];

        fingerprint_number(h, a->id);
        fingerprint_number(h, a->special);
        fingerprint_number(h, a->single_word);
        fingerprint_number(h, a->lstrip);
        fingerprint_number(h, a->rstrip);
        fingerprint_number(h, a->normalized);
        fingerprint_string(h, &a->content);
    }
}

void fingerprint(uint8_t out[FINGERPRINT_BYTES], const struct tokenizer_spec *spec)
{
    static const char name[] = "leat tokenizer 1";
    struct fingerprint_hash h = { .used = 0 };
    XXH128_hash_t sum;

    XXH3_128bits_reset(&h.state);
    fingerprint_bytes(&h, name, sizeof name);
    model(&h, spec);
    pipeline(&h, spec);
    added(&h, spec);
    fingerprint_number(&h, spec->sentencepiece.add_dummy_prefix ? 1u + spec->sentencepiece.whitespace_as_suffix : 0u);
    fingerprint_number(&h, spec->sentencepiece.remove_extra_whitespaces);
    fingerprint_number(&h, spec->sentencepiece.escape_whitespaces);
    fingerprint_string(&h, &spec->sentencepiece.charsmap);
    flush(&h);
    sum = XXH3_128bits_digest(&h.state);
    bytes_store64(out, sum.low64);
    bytes_store64(out + 8, sum.high64);
}
