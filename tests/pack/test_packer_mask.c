/*
 * test_packer_mask.c: masks of a packer: of ids as they are given; of texts by their spans, where a token counts if one
 * of its bytes is in a span, for byte-level vocabularies, those of sentencepiece and added tokens; 255 for what has no
 * mask; the same for any threads and across a checkpoint; texts whose tokens cannot be traced are rejected; mistakes.
 */
#include "leat_pack.h"
#include "one_text.h"
#include "t.h"

#define MOST 4096u

static const char *folder;
static struct leat_tokenizer *gpt2;

static struct leat_pack_options options_of(const struct leat_tokenizer *t, unsigned threads)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.tokenizer = t;
    o.threads = threads;
    o.force = 1;
    o.special = 1;
    o.store_mask = 1;
    o.max_rejects = LEAT_NONE;
    return o;
}

/* A document and what its mask must be. */
struct document {
    char text[512];
    uint64_t bytes, span_count, ids;
    struct leat_span spans[8];
    uint8_t mask[MOST];
};

/* Spans cut the text anywhere, also inside characters; each token is decoded alone, which says where it ends. */
static void make(struct document *d, struct leat_encoder *e, uint64_t *seed)
{
    static const char *const words[] = { "water", " mill", "\n", " 1234", "\xc3\xa9t\xc3\xa9", "\xe6\xb0\xb4", "  " };
    static uint32_t kept[MOST];
    const uint32_t *ids;
    const char *text;
    uint64_t at = 0, begin = 0, bytes;

    d->bytes = 0;
    for (uint64_t i = 1 + t_below(seed, 30); i > 0; i--) {
        const char *word = words[t_below(seed, sizeof words / sizeof words[0])];

        memcpy(d->text + d->bytes, word, strlen(word));
        d->bytes += strlen(word);
    }
    for (d->span_count = 0; d->span_count < 8; d->span_count++) {
        struct leat_span *s = &d->spans[d->span_count];

        s->begin = at + t_below(seed, 9);
        s->end = s->begin + t_below(seed, 9); /* some are empty */
        at = s->end;
        if (at > d->bytes)
            break;
    }
    T_OK(leat_encoder_encode(e, d->text, d->bytes, &ids, &d->ids, &t_err));
    memcpy(kept, ids, d->ids * sizeof *kept);
    for (uint64_t i = 0; i < d->ids; i++, begin += bytes) {
        T_OK(leat_encoder_decode(e, &kept[i], 1, &text, &bytes, &t_err));
        d->mask[i] = 0;
        for (uint64_t s = 0; s < d->span_count; s++)
            for (uint64_t b = d->spans[s].begin; b < d->spans[s].end; b++)
                if (b >= begin && b < begin + bytes)
                    d->mask[i] = 255;
    }
    T_EQ(begin, d->bytes);
}

static void check_document(const struct leat_dataset *set, uint64_t number, const uint8_t *want, uint64_t ids)
{
    uint64_t first, count;
    uint8_t mask[MOST];

    T_OK(leat_dataset_document(set, number, &first, &count, &t_err));
    T_EQ(count, ids + 1);
    T_OK(leat_dataset_mask(set, first, count, mask, &t_err));
    T_CHECK(!want || memcmp(mask, want, ids) == 0);
    for (uint64_t i = 0; !want && i < ids; i++)
        T_EQ(mask[i], 255);
    T_EQ(mask[ids], want && ids > 0 ? want[ids - 1] : 255);
}

/* A text, an empty one and the text again, at once. */
static void add_twice(struct leat_packer *p, const struct document *d)
{
    struct leat_texts t = LEAT_TEXTS_INIT;
    uint64_t lengths[3] = { d->bytes, 0, d->bytes }, counts[3] = { d->span_count, 0, d->span_count };
    struct leat_span spans[16];
    char text[1024];

    memcpy(text, d->text, d->bytes);
    memcpy(text + d->bytes, d->text, d->bytes);
    memcpy(spans, d->spans, d->span_count * sizeof *spans);
    memcpy(spans + d->span_count, d->spans, d->span_count * sizeof *spans);
    t.data = text;
    t.lengths = lengths;
    t.spans = spans;
    t.span_counts = counts;
    t.count = 3;
    T_OK(leat_packer_add_texts(p, &t, &t_err));
}

static void test_texts_and_ids(uint64_t *seed)
{
    static struct document docs[60];
    struct leat_encoder *e;
    struct leat_dataset *set;

    T_OK(leat_encoder_open(&e, gpt2, NULL, &t_err));
    for (unsigned i = 0; i < 60; i++)
        make(&docs[i], e, seed);
    for (unsigned threads = 1; threads < 4; threads += 2) {
        struct leat_pack_options o = options_of(gpt2, threads);
        struct leat_packer *p;

        o.end_token = 50256;
        T_OK(leat_packer_open(&p, t_path(folder, "a"), &o, &t_err));
        for (unsigned i = 0; i < 60; i++) {
            const struct document *d = &docs[i];
            static uint8_t any[MOST];
            const uint32_t *ids;
            uint64_t count;

            T_OK(add_one_text(p, d->text, d->bytes, d->spans, d->span_count, NULL, &t_err));
            T_OK(add_one_text(p, d->text, d->bytes, NULL, 0, NULL, &t_err));
            add_twice(p, d);
            T_OK(leat_encoder_encode(e, d->text, d->bytes, &ids, &count, &t_err));
            for (uint64_t k = 0; k < count; k++)
                any[k] = (uint8_t)(i + k);
            T_OK(add_one_of_ids(p, ids, any, count, NULL, &t_err));
            T_OK(add_one_of_ids(p, ids, NULL, count, NULL, &t_err));
            if (i == 20) {
                T_OK(leat_packer_checkpoint(p, "n", 1, &t_err));
                leat_packer_suspend(p);
                o.resume = 1;
                T_OK(leat_packer_open(&p, t_path(folder, "a"), &o, &t_err));
            }
        }
        T_OK(leat_packer_finish(p, NULL, &t_err));
        T_OK(leat_dataset_open(&set, t_path(folder, "a"), NULL, &t_err));
        for (unsigned i = 0; i < 60; i++) {
            uint8_t any[MOST];

            for (uint64_t k = 0; k < docs[i].ids; k++)
                any[k] = (uint8_t)(i + k);
            check_document(set, 7 * i, docs[i].mask, docs[i].ids);
            check_document(set, 7 * i + 1, NULL, docs[i].ids);
            check_document(set, 7 * i + 2, docs[i].mask, docs[i].ids);
            check_document(set, 7 * i + 3, NULL, 0);
            check_document(set, 7 * i + 4, docs[i].mask, docs[i].ids);
            check_document(set, 7 * i + 5, any, docs[i].ids);
            check_document(set, 7 * i + 6, NULL, docs[i].ids);
        }
        T_OK(leat_dataset_verify(set, NULL, NULL, &t_err));
        leat_dataset_close(set);
    }
    leat_encoder_close(e);
}

/* Packs a text with one span, for a vocabulary of tests/tokenizer; `want`: the tokens that are learned, each with a |
 * after it, or "rejected". */
static void expect_bytes(const char *file, const char *text, uint64_t bytes, uint64_t begin, uint64_t end,
                         const char *want)
{
    struct leat_tokenizer *t;
    struct leat_packer *p;
    struct leat_dataset *set;
    struct leat_span span = { begin, end };
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_pack_options o;
    char have[512] = "", path[200];
    uint8_t mask[64];
    uint32_t ids[64];

    snprintf(path, sizeof path, "tests/tokenizer/vectors/%s", file);
    T_OK(leat_tokenizer_open(&t, path, NULL, &t_err));
    o = options_of(t, 1);
    T_OK(leat_packer_open(&p, t_path(folder, "s"), &o, &t_err));
    T_OK(add_one_text(p, text, bytes, &span, 1, NULL, &t_err));
    T_OK(leat_packer_finish(p, &report, &t_err));
    T_OK(leat_dataset_open(&set, t_path(folder, "s"), NULL, &t_err));
    leat_dataset_info(set, &info);
    T_OK(leat_dataset_read_u32(set, 0, info.tokens, ids, &t_err));
    T_OK(leat_dataset_mask(set, 0, info.tokens, mask, &t_err));
    for (uint64_t i = 0; i < info.tokens; i++) {
        struct leat_token token = LEAT_TOKEN_INIT;
        size_t used = strlen(have);

        T_OK(leat_tokenizer_token(t, ids[i], &token, &t_err));
        if (mask[i])
            snprintf(have + used, sizeof have - used, "%.*s|", (int)token.bytes, token.text);
    }
    T_STR(report.rejects ? "rejected" : have, want);
    leat_dataset_close(set);
    leat_tokenizer_close(t);
}

static void expect(const char *file, const char *text, uint64_t begin, uint64_t end, const char *want)
{
    expect_bytes(file, text, strlen(text), begin, end, want);
}

static void test_vocabularies(void)
{
    expect("metaspace_always.json", "the mill", 4, 6, "m|i|");
    expect("metaspace_always.json", "the mill", 5, 5, "");
    expect("metaspace_always.json", "the mill", 1, 1, "");
    expect("metaspace_always.json", "the mill", 0, 1, "\xe2\x96\x81the|");
    expect("metaspace_always.json", " the mill", 0, 2, "\xe2\x96\x81the|");
    expect("metaspace_first.json", "</s> the mill", 4, 5, "\xe2\x96\x81the|");
    expect("metaspace_never.json", "the mill", 3, 4, "\xe2\x96\x81|");
    expect("prefix_space.json", "the mill", 0, 1, " the|");
    expect("prefix_space.json", " the mill", 1, 2, " the|");
    expect("piece_fallback.model", "the \xe6\xb0\xb4 mill", 5, 6, "<0xB0>|");
    expect_bytes("piece_fallback.model", "the \0 mill", 10, 4, 5, "<0x00>|");
    /* white space that an added token swallows is its own, before it and after it */
    expect("added.json", "a<|endoftext|>  b", 14, 15, "<|endoftext|>|");
    expect("added.json", "a  <mask>b", 1, 2, "<mask>|");
    expect("added.json", "a<|endoftext|>  b", 16, 17, "b|");
    expect("added.json", "a<|endoftext|>  ", 14, 16, "<|endoftext|>|");
    expect("nfc.json", "\xc3\xa9 m", 1, 2, "\xc3\xa9|");
    expect("nfc.json", "e\xcc\x81 mill", 0, 1, "rejected");
    expect("added.json", "Mill", 0, 1, "rejected"); /* lower case */
}

static void test_mistakes(void)
{
    static const struct leat_span wrong[][2] = { { { 2, 1 }, { 2, 3 } },
                                                 { { 1, 3 }, { 2, 4 } },
                                                 { { 0, 1 }, { 3, 9 } } };
    struct leat_pack_options o = options_of(gpt2, 1);
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_span whole = { 0, 2 };
    const uint8_t mask[] = { 1 };
    const uint32_t id = 5;
    struct leat_packer *p;

    T_OK(leat_packer_open(&p, t_path(folder, "m"), &o, &t_err));
    for (unsigned i = 0; i < 3; i++) {
        T_REFUSED(add_one_text(p, "text", 4, wrong[i], 2, NULL, &t_err), LEAT_E_ARGUMENT,
                  i == 0 ? "span 0 of a mask" : "span 1 of a mask");
    }
    T_OK(add_one_text(p, "\xff!", 2, &whole, 1, NULL, &t_err));
    T_OK(leat_packer_finish(p, &report, &t_err));
    T_EQ(report.rejects, 1);
    o.store_mask = 0;
    T_OK(leat_packer_open(&p, t_path(folder, "m"), &o, &t_err));
    T_REFUSED(add_one_text(p, "te", 2, &whole, 1, NULL, &t_err), LEAT_E_ARGUMENT, "stores none");
    T_STATUS(add_one_of_ids(p, &id, mask, 1, NULL, &t_err), LEAT_E_ARGUMENT);
    T_OK(add_one_text(p, "text", 4, NULL, 0, NULL, &t_err));
    leat_packer_abandon(p);
}

int main(void)
{
    uint64_t seed = t_seed();

    folder = t_folder();
    T_OK(leat_tokenizer_open(&gpt2, "gpt2", NULL, &t_err));
    test_texts_and_ids(&seed);
    test_mistakes();
    leat_tokenizer_close(gpt2);
    test_vocabularies();
    return t_end();
}
