/*
 * test_models.c: the table of models (spec/model.c). Numbers stand in fingerprints, so those that were
 * ever used keep their meaning; no two rows answer to one type. And a kind needs no more than make, free and encode:
 * here one that gives each character its code point, of which all else is asked through model.h.
 */
#include <stdlib.h>
#include <string.h>

#include "../t.h"
#include "tokenizer/spec/model.h"
#include "tokenizer/unicode/unicode.h"

static void test_rows(void)
{
    size_t count = 0;

    T_EQ(SPEC_BYTES, 1);
    T_EQ(SPEC_RANKS, 2);
    T_EQ(SPEC_MERGES, 3);
    T_EQ(SPEC_SCORES, 4);
    T_EQ(SPEC_UNIGRAM, 5);
    T_EQ(SPEC_SUMS, 6);
    T_EQ(SPEC_WORDPIECE, 7);
    T_EQ(SPEC_WORDLEVEL, 8);
    T_EQ(SPEC_WORDS, 9);
    T_EQ(SPEC_CHARACTERS, 10);
    for (; model_row(count).kind; count++) {
        const struct model_kind *kind = model_row(count).kind;
        struct tokenizer_spec spec = { .model = model_row(count).number };

        T_CHECK(model_kind_of(&spec) == kind);
        T_CHECK(kind->make && kind->free && kind->encode);
        T_EQ(kind->type != NULL, kind->read != NULL);
        T_EQ(kind->takes_spans != NULL, kind->encode_spans != NULL);
        T_EQ(kind->scratch_make != NULL, kind->scratch_free != NULL);
        for (size_t i = 0; i < count; i++) {
            const struct model_kind *other = model_row(i).kind;

            T_CHECK(!kind->type || !other->type || strcmp(kind->type, other->type) != 0);
            T_CHECK(!kind->member || !other->member || strcmp(kind->member, other->member) != 0);
            T_CHECK(!kind->sentencepiece || kind->sentencepiece != other->sentencepiece);
        }
    }
    T_CHECK(count >= 6);
    T_CHECK(model_row(count + 1).kind == NULL);
}

static enum leat_status encode(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                               struct id_list *out, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    size_t length;

    (void)m;
    T_CHECK(scratch == NULL);
    for (size_t at = 0; s == LEAT_OK && at < bytes; at += length)
        s = id_list_append(out, unicode_decode(text + at, &length), err);
    return s;
}

static void test_least(void)
{
    static const struct model_kind kind = { .encode = encode };
    static const uint32_t want[] = { 'a', 0xe9, 0x4e00, 'b' }, ends[] = { 1, 3, 7 };
    const uint8_t *text = (const uint8_t *)"a\xc3\xa9\xe4\xb8\x80"
                                           "b";
    const struct model_pretokens three = { text, 7, 0, ends, 3 }, second = { text, 7, 1, ends + 1, 1 };
    const struct model_chunk first = { text, 3, true, false }, all = { text, 7, true, true };
    struct model m = { .kind = &kind };
    struct id_list out = { 0 };
    void *scratch = &m;
    size_t used = 1;

    T_OK(model_scratch_make(&scratch, &m, NULL, 1 << 20, &t_err));
    T_EQ(model_cache_bytes(&m, 1 << 20), 0);
    T_CHECK(!model_takes_spans(&m));
    T_OK(model_encode_batch(&m, scratch, &three, &out, &t_err));
    T_EQ(out.count, 4);
    T_CHECK(memcmp(out.ids, want, sizeof want) == 0);
    out.count = 0;
    T_OK(model_encode_batch(&m, scratch, &second, &out, &t_err));
    T_EQ(out.count, 1);
    T_EQ(out.ids[0], 0xe9);
    out.count = 0;
    T_OK(model_encode_chunk(&m, scratch, &first, &out, &used, &t_err));
    T_EQ(used, 0);
    T_EQ(out.count, 0);
    T_OK(model_encode_chunk(&m, scratch, &all, &out, &used, &t_err));
    T_EQ(used, 7);
    T_EQ(out.count, 4);
    model_scratch_free(&m, scratch);
    id_list_free(&out);
}

int main(void)
{
    test_rows();
    test_least();
    return t_end();
}
