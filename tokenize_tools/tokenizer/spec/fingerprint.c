/* fingerprint.c: see fingerprint.h. Numbers go through a small buffer, so that the hash sees long runs. */
#include "fingerprint.h"

#include <string.h>

#include "base/bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct hashing {
    XXH3_state_t state;
    uint8_t buffer[4096];
    size_t used;
};

static void flush(struct hashing *h)
{
    XXH3_128bits_update(&h->state, h->buffer, h->used);
    h->used = 0;
}

static void number(struct hashing *h, uint32_t v)
{
    if (sizeof h->buffer - h->used < 4)
        flush(h);
    bytes_store32(h->buffer + h->used, v);
    h->used += 4;
}

static void bytes(struct hashing *h, const void *p, uint64_t length)
{
    if (length == 0)
        return;
    flush(h);
    XXH3_128bits_update(&h->state, p, length);
}

static void string(struct hashing *h, const struct spec_string *s)
{
    number(h, s->length);
    bytes(h, s->bytes, s->length);
}

static void model(struct hashing *h, const struct tokenizer_spec *spec)
{
    const uint32_t numbers[] = { spec->model,         spec->dialect,      spec->byte_level,   spec->unknown,
                                 spec->byte_fallback, spec->fuse_unknown, spec->ignore_merges };

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        number(h, numbers[i]);
    string(h, &spec->unknown_text);
    string(h, &spec->continuing_prefix);
    string(h, &spec->word_suffix);
    number(h, spec->token_count);
    for (uint32_t i = 0; i < spec->token_count; i++) {
        number(h, spec->tokens[i].id);
        number(h, spec->tokens[i].length);
        number(h, spec->tokens[i].type + (spec->tokens[i].foreign ? 256u : 0));
    }
    bytes(h, spec->text, spec->text_bytes);
    for (uint32_t i = 0; spec->scores && i < spec->token_count; i++) {
        uint32_t bits;

        memcpy(&bits, &spec->scores[i], sizeof bits);
        number(h, bits);
    }
    number(h, spec->merge_count);
    for (uint32_t i = 0; i < spec->merge_count; i++) {
        number(h, spec->merges[i].left);
        number(h, spec->merges[i].right);
        number(h, spec->merges[i].result);
    }
}

static void pipeline(struct hashing *h, const struct tokenizer_spec *spec)
{
    number(h, spec->normalizer_count);
    for (uint32_t i = 0; i < spec->normalizer_count; i++) {
        const struct spec_normalizer *n = &spec->normalizers[i];

        number(h, n->kind);
        number(h, n->strip_left);
        number(h, n->strip_right);
        number(h, n->pattern.regex);
        string(h, &n->pattern.text);
        string(h, &n->content);
    }
    number(h, spec->pre_tokenizer_count);
    for (uint32_t i = 0; i < spec->pre_tokenizer_count; i++) {
        const struct spec_pre_tokenizer *p = &spec->pre_tokenizers[i];
        const uint32_t numbers[] = {
            p->kind,      p->behavior,          p->prepend, p->invert,       p->add_prefix_space,
            p->use_regex, p->individual_digits, p->split,   p->pattern.regex
        };

        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
            number(h, numbers[k]);
        string(h, &p->pattern.text);
        string(h, &p->replacement);
    }
}

static void added(struct hashing *h, const struct tokenizer_spec *spec)
{
    number(h, spec->added_count);
    for (uint32_t i = 0; i < spec->added_count; i++) {
        const struct spec_added *a = &spec->added[i];

        number(h, a->id);
        number(h, a->special);
        number(h, a->single_word);
        number(h, a->lstrip);
        number(h, a->rstrip);
        number(h, a->normalized);
        string(h, &a->content);
    }
}

void fingerprint(uint8_t out[FINGERPRINT_BYTES], const struct tokenizer_spec *spec)
{
    static const char name[] = "leat tokenizer 1";
    struct hashing h = { .used = 0 };
    XXH128_hash_t sum;

    XXH3_128bits_reset(&h.state);
    bytes(&h, name, sizeof name);
    model(&h, spec);
    pipeline(&h, spec);
    added(&h, spec);
    number(&h, spec->sentencepiece.add_dummy_prefix ? 1u + spec->sentencepiece.whitespace_as_suffix : 0u);
    number(&h, spec->sentencepiece.remove_extra_whitespaces);
    number(&h, spec->sentencepiece.escape_whitespaces);
    string(&h, &spec->sentencepiece.charsmap);
    flush(&h);
    sum = XXH3_128bits_digest(&h.state);
    bytes_store64(out, sum.low64);
    bytes_store64(out + 8, sum.high64);
}
