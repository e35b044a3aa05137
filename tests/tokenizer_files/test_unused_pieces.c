/*
 * test_unused_pieces.c: a tokenizer.model with unused tokens: they are merged as others are, and then taken apart into
 * what they were merged from; ids as sentencepiece 0.2.3 gives them.
 */
#include "leat_pack.h"
#include "made_sentencepiece.h"

/* model_type; and a normalizer_spec that adds and removes no spaces */
static const uint8_t plain[] = { 0x12, 0x02, 0x18, 0x02, 0x1a, 0x0e, 0x0a, 0x08, 'i',  'd',
                                 'e',  'n',  't',  'i',  't',  'y',  0x18, 0x00, 0x20, 0x00 };

static void check(const struct leat_tokenizer *t, const char *text, const char *wanted)
{
    struct leat_encoder *e;
    char got[64] = "";
    const uint32_t *ids;
    uint64_t count;

    T_OK(leat_encoder_open(&e, t, NULL, &t_err));
    T_OK(leat_encoder_encode(e, text, strlen(text), &ids, &count, &t_err));
    for (uint64_t i = 0; i < count && i < 16; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%u", i ? " " : "", (unsigned)ids[i]);
    T_STR(got, wanted);
    leat_encoder_close(e);
}

static void test_taken_apart(const char *path)
{
    static const struct made_piece pieces[] = {
        { "<unk>", UNKNOWN, 0 }, { "a", NORMAL, -9 },   { "b", NORMAL, -9 },   { "c", NORMAL, -9 },
        { "ab", UNUSED, -1 },    { "abc", NORMAL, -2 }, { "cab", UNUSED, -3 }, { "abca", UNUSED, -2.5f },
    };
    struct leat_tokenizer *t;

    write_model(path, pieces, sizeof pieces / sizeof pieces[0], plain, sizeof plain);
    T_OK(leat_tokenizer_open(&t, path, NULL, &t_err));
    check(t, "abc", "5");
    check(t, "ab", "1 2");
    check(t, "cab", "3 1 2");
    check(t, "abca", "5 1");
    check(t, "abcab", "5 1 2");
    check(t, "abcabc", "5 5");
    check(t, "cabca", "3 5 1");
    leat_tokenizer_close(t);
}

/* Merged in two ways: what the token's own characters are merged into decides, in every text. Such models were refused.
 */
static void test_two_ways(const char *path)
{
    struct made_piece pieces[] = {
        { "<unk>", UNKNOWN, 0 }, { "a", NORMAL, -9 },    { "b", NORMAL, -9 },
        { "c", NORMAL, -9 },     { "ab", NORMAL, -1 },   { "bc", NORMAL, -2 },
        { "abc", UNUSED, -3 },   { "abca", UNUSED, -4 }, { "ca", NORMAL, -5 },
    };
    struct leat_tokenizer *t;

    write_model(path, pieces, sizeof pieces / sizeof pieces[0], plain, sizeof plain);
    T_OK(leat_tokenizer_open(&t, path, NULL, &t_err));
    check(t, "abc", "4 3");
    check(t, "cabc", "3 4 3");
    check(t, "abca", "4 3 1"); /* not "ab" and "ca" */
    leat_tokenizer_close(t);
    pieces[4].score = -2.5f;
    write_model(path, pieces, sizeof pieces / sizeof pieces[0], plain, sizeof plain);
    T_OK(leat_tokenizer_open(&t, path, NULL, &t_err));
    check(t, "abc", "1 5");
    check(t, "abcabc", "1 5 1 5");
    leat_tokenizer_close(t);
}

/* A token that comes about in no way, though two pairs would make it. */
static void test_no_way(const char *path)
{
    static const struct made_piece pieces[] = {
        { "<unk>", UNKNOWN, 0 }, { "a", NORMAL, -9 },   { "b", NORMAL, -9 },   { "c", NORMAL, -9 },
        { "d", NORMAL, -9 },     { "abc", NORMAL, -1 }, { "bcd", NORMAL, -2 }, { "abcd", UNUSED, -3 },
    };
    struct leat_tokenizer *t;

    write_model(path, pieces, sizeof pieces / sizeof pieces[0], plain, sizeof plain);
    T_OK(leat_tokenizer_open(&t, path, NULL, &t_err));
    check(t, "abcd", "1 2 3 4");
    leat_tokenizer_close(t);
}

/* A token that is a zero byte counts as unused: in texts, the byte's own token stands for it. Both are decoded. */
static void test_zero(const char *path)
{
    /* the token, type BPE or Unigram with byte_fallback, and no spaces added or removed */
    uint8_t more[] = { 0x0a, 0x0a, 0x0a, 0x01, 0x00, 0x15, 0x00, 0x00, 0x00, 0xc0, 0x18, 0x01, 0x12,
                       0x05, 0x18, 0x02, 0x98, 0x02, 0x01, 0x1a, 0x04, 0x18, 0x00, 0x20, 0x00 };
    static const uint32_t wanted[] = { 257, 1, 257 }, both[] = { 258, 1 };
    struct made_piece pieces[258] = { { "<unk>", UNKNOWN, 0 } };
    static char names[256][8];

    for (unsigned b = 0; b < 256; b++) {
        snprintf(names[b], sizeof names[b], "<0x%02X>", b);
        pieces[1 + b] = (struct made_piece) { names[b], BYTE, 0 };
    }
    pieces[257] = (struct made_piece) { "a", NORMAL, -1 };
    for (more[15] = 1; more[15] < 3; more[15]++) {
        struct leat_tokenizer *t;
        struct leat_encoder *e;
        const uint32_t *ids;
        uint64_t count, bytes;
        const char *text;

        write_model(path, pieces, 258, more, sizeof more);
        T_OK(leat_tokenizer_open(&t, path, NULL, &t_err));
        T_OK(leat_encoder_open(&e, t, NULL, &t_err));
        T_OK(leat_encoder_encode(e, "a\0a", 3, &ids, &count, &t_err));
        T_CHECK(count == 3 && memcmp(ids, wanted, sizeof wanted) == 0);
        T_OK(leat_encoder_decode(e, both, 2, &text, &bytes, &t_err));
        T_CHECK(bytes == 2 && memcmp(text, "\0\0", 2) == 0);
        leat_encoder_close(e);
        leat_tokenizer_close(t);
    }
}

static void test_refused(const char *path)
{
    static char more[102], most[103], length[101];
    const struct made_piece pieces[] = {
        { "<unk>", UNKNOWN, 0 }, { "a", NORMAL, -9 },  { "aa", NORMAL, -1 },
        { length, NORMAL, -2 },  { more, NORMAL, -3 }, { most, UNUSED, -4 },
    };
    struct leat_tokenizer *t;

    memset(length, 'a', sizeof length - 1);
    memset(more, 'a', sizeof more - 1);
    memset(most, 'a', sizeof most - 1);
    write_model(path, pieces, sizeof pieces / sizeof pieces[0], plain, sizeof plain);
    T_REFUSED(leat_tokenizer_open(&t, path, NULL, &t_err), LEAT_E_UNSUPPORTED,
              "can be merged in two ways and is longer than 100 bytes");
}

int main(void)
{
    const char *path = t_path(t_folder(), "unused.model");

    test_taken_apart(path);
    test_two_ways(path);
    test_no_way(path);
    test_zero(path);
    test_refused(path);
    return t_end();
}
