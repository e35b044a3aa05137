/*
 * test_same_hash.c: --dedup drops only documents with the same text, not those with the same XXH3-128. Such pairs can
 * be made: of each 64 bytes, XXH3 adds numbers x to sums, and the products of the halves of x ^ s, with a known s, to
 * others. x1 and x2 have low halves for which both products have the same first factor; one bit of the upper half is
 * set in one and cleared in the other, so both sums stay.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "arrange/sorting/keyed_hash.h"
#include "leat_pack.h"
#include "t.h"

#define TEXT_BYTES 640u

static const char *folder;

/* One of the two texts. */
static void make_text(char text[TEXT_BYTES + 1], int second)
{
    memset(text, '-', TEXT_BYTES);
    text[TEXT_BYTES] = '\0';
    memcpy(text + 256, second ? "0AAA1" : "0AAA0", 5);
    memcpy(text + 320, second ? "ybwr0" : "ybwr1", 5);
}

static void test_pair(void)
{
    char texts[2][TEXT_BYTES + 1];
    XXH128_hash_t hashes[2];

    for (int i = 0; i < 2; i++) {
        make_text(texts[i], i);
        hashes[i] = XXH3_128bits(texts[i], TEXT_BYTES);
    }
    T_CHECK(strcmp(texts[0], texts[1]) != 0);
    T_CHECK(XXH128_isEqual(hashes[0], hashes[1]));
}

/* Packs texts A, B, A, B, and one more. */
static void test_pack(int split, const char *tokenizer, const char *expected)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    const struct leat_split none[] = { { "none", "0.000000000000000001" } };
    const char *input = t_path(folder, "in.jsonl");
    struct leat_info info = LEAT_INFO_INIT, of_split = LEAT_INFO_INIT;
    char text[TEXT_BYTES + 1];
    struct leat_dataset *d;
    struct leat_tokenizer *t;
    FILE *f = fopen(input, "w");

    for (int i = 0; f && i < 5; i++) {
        make_text(text, i % 2);
        fprintf(f, "{\"text\": \"%s\"}\n", i == 4 ? "another" : text);
    }
    T_CHECK(f && fclose(f) == 0);
    T_OK(leat_tokenizer_open(&t, tokenizer, NULL, &t_err));
    o.tokenizer = t;
    o.dedup = 1;
    o.force = 1;
    o.splits = split ? none : NULL;
    o.split_count = split ? 1 : 0;
    report.splits = &of_split;
    T_OK(leat_pack(t_path(folder, "out"), &input, 1, &o, &report, &t_err));
    T_EQ(report.deduplicated, 2);
    T_OK(leat_dataset_open(&d, t_path(folder, "out"), NULL, &t_err));
    leat_dataset_info(d, &info);
    T_EQ(info.documents, 3);
    for (uint64_t i = 0; i < info.documents; i++) {
        struct leat_origin origin;

        T_OK(leat_dataset_origins(d, i, 1, &origin, &t_err));
        T_EQ(origin.line, (uint64_t)expected[i] - '0');
    }
    leat_dataset_close(d);
    leat_tokenizer_close(t);
}

/* SipHash-2-4-128 of the bytes 0 to n - 1 with the key 00 01 ... 0f, as OpenSSL gives it. */
static void test_vectors(void)
{
    static const uint64_t expected[4][2] = { { 0xe6a825ba047f81a3u, 0x930255c71472f66du },
                                             { 0x61f55862baa9623bu, 0xb49714f364e2830fu },
                                             { 0xbb54b067caa4e26eu, 0x77052385bf1533fdu },
                                             { 0xd850bd78ae79b42du, 0xad32618a178a2a88u } };
    const uint64_t key[2] = { 0x0706050403020100u, 0x0f0e0d0c0b0a0908u };

    for (uint64_t words = 0; words < 4; words++) {
        struct keyed_hash h;
        uint64_t out[2];

        keyed_hash_begin(&h, key);
        for (uint64_t i = 0; i < words; i++)
            keyed_hash_add(&h, 0x0706050403020100u + i * 0x0808080808080808u);
        keyed_hash_end(&h, out);
        T_EQ(out[0], expected[words][0]);
        T_EQ(out[1], expected[words][1]);
    }
}

int main(void)
{
    folder = t_folder();
    test_vectors();
    test_pair();
    test_pack(0, "bytes", "125");
    test_pack(1, "bytes", "125");
    test_pack(0, "gpt2", "125");
    return t_end();
}
