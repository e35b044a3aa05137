/*
 * test_spaced_pieces.c: a tokenizer.model of type Unigram gives the same ids by the fast way (plain spaces where its
 * tokens have marks) as by the general one, which a user-defined token that no text has makes it take; with each option
 * for spaces, with a map of characters and without, at once and in parts. And a few as sentencepiece 0.2.3 gives them.
 */
#include "leat_pack.h"
#include "made_sentencepiece.h"
#include "small_charsmap.h"

#define MARK "\xe2\x96\x81"

/* The last one is not always there. */
static const struct made_piece pieces[] = {
    { "<unk>", UNKNOWN, 0 },      { MARK, NORMAL, -3 },
    { "a", NORMAL, -2 },          { "b", NORMAL, -2.5f },
    { MARK "a", NORMAL, -3.25f }, { "ab", NORMAL, -3.5f },
    { "b" MARK, NORMAL, -4 },     { "a" MARK "b", NORMAL, -5 },
    { MARK MARK, NORMAL, -5.5f }, { "\xc3\xa9", NORMAL, -4 },
    { "1", NORMAL, -6 },          { "22" MARK, NORMAL, -6 },
    { MARK "c", UNUSED, -1 },     { "<never>", USER_DEFINED, 0 },
};
#define PIECES (sizeof pieces / sizeof *pieces)

static const char *const bits[] = { " ",        " ", "  ", "a",  "b",  "ab", MARK,
                                    "\xc3\xa9", "x", "1",  "\t", "\n", "q",  "a\xcc\x81" };

static struct leat_tokenizer *opened(const char *path, bool general, unsigned options, bool mapped)
{
    uint8_t more[SMALL_CHARSMAP_ROOM + 32], map[SMALL_CHARSMAP_ROOM];
    size_t bytes = mapped ? small_charsmap(map) + 1 : 0, used = 0;
    const uint8_t spaces[] = { 0x18, options & 1, 0x20, options >> 1 & 1, 0x28, options >> 2 & 1 };
    const uint8_t trainer[] = { 0x12, 0x05, 0x18, 0x01, 0xc0, 0x01, options >> 3 & 1 };
    size_t size = sizeof spaces + (mapped ? 3 + bytes : 0);
    struct leat_tokenizer *t;

    map[mapped ? bytes - 1 : 0] = '\0'; /* of its last text */
    memcpy(more, trainer, sizeof trainer);
    used = sizeof trainer;
    memcpy(more + used, (const uint8_t[]) { 0x1a, (uint8_t)(size & 0x7f) | 0x80, (uint8_t)(size >> 7) }, 3);
    used += 3;
    if (mapped) {
        memcpy(more + used, (const uint8_t[]) { 0x12, (uint8_t)(bytes & 0x7f) | 0x80, (uint8_t)(bytes >> 7) }, 3);
        memcpy(more + used + 3, map, bytes);
        used += 3 + bytes;
    }
    memcpy(more + used, spaces, sizeof spaces);
    write_model(path, pieces, PIECES - !general, more, used + sizeof spaces);
    T_OK(leat_tokenizer_open(&t, path, NULL, &t_err));
    return t;
}

static void append(char got[2048], const uint32_t *ids, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        snprintf(got + strlen(got), 2048 - strlen(got), "%s%u", *got ? " " : "", (unsigned)ids[i]);
}

/* At once; `part`: in parts of so many bytes. */
static const char *ids_of(struct leat_encoder *e, const char *text, uint64_t part, char got[2048])
{
    uint64_t bytes = strlen(text), used, count;
    const uint32_t *ids;

    got[0] = '\0';
    if (part == 0) {
        T_OK(leat_encoder_encode(e, text, bytes, &ids, &count, &t_err));
        append(got, ids, count);
        return got;
    }
    T_OK(leat_encoder_begin(e, &t_err));
    for (uint64_t at = 0; at < bytes; at += used) {
        T_OK(leat_encoder_part(e, text + at, bytes - at < part ? bytes - at : part, &used, &ids, &count, &t_err));
        append(got, ids, count);
    }
    T_OK(leat_encoder_end(e, &ids, &count, &t_err));
    append(got, ids, count);
    return got;
}

static void check_options(const char *path, unsigned options, bool mapped, uint64_t *random)
{
    struct leat_tokenizer *fast = opened(path, false, options, mapped), *general = opened(path, true, options, mapped);
    char text[256], one[2048], other[2048];
    struct leat_encoder *f, *g;

    T_OK(leat_encoder_open(&f, fast, NULL, &t_err));
    T_OK(leat_encoder_open(&g, general, NULL, &t_err));
    for (unsigned i = 0; i < t_times(50); i++) {
        text[0] = '\0';
        for (unsigned n = (unsigned)t_below(random, 30); n > 0; n--)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s",
                     bits[t_below(random, sizeof bits / sizeof *bits)]);
        T_STR(ids_of(f, text, 0, one), ids_of(g, text, 0, other));
        T_STR(ids_of(f, text, 1 + t_below(random, 20), one), other);
    }
    leat_encoder_close(f);
    leat_encoder_close(g);
    leat_tokenizer_close(fast);
    leat_tokenizer_close(general);
}

enum { PREFIX = 1, SINGLE = 2, ESCAPED = 4, SUFFIX = 8 };

static void test_known(const char *path)
{
    static const struct {
        unsigned options;
        const char *text, *ids;
    } rows[] = {
        { PREFIX | SINGLE | ESCAPED, " ab  a" MARK "b x ", "4 6 7 1 0" },
        { PREFIX | SINGLE | ESCAPED, " bb  \xc3\xa9 a b", "1 3 6 9 1 7" },
        { PREFIX | ESCAPED, " ab  a" MARK "b x ", "1 4 6 4 1 6 0 1" },
        { PREFIX | ESCAPED, " bb  \xc3\xa9 a b", "8 3 6 1 9 1 7" },
        { SINGLE | ESCAPED, " ab  a" MARK "b x ", "5 4 1 6 0" },
        { ESCAPED, " bb  \xc3\xa9 a b", "1 3 6 1 9 1 7" },
        { PREFIX | SINGLE | ESCAPED | SUFFIX, " ab  a" MARK "b x ", "5 4 1 6 0 1" },
        { PREFIX | SINGLE | ESCAPED | SUFFIX, " bb  \xc3\xa9 a b", "3 6 9 4 1 6" },
        { PREFIX | ESCAPED | SUFFIX, " ab  a" MARK "b x ", "4 6 4 1 6 0 8" },
    };
    char got[2048];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct leat_tokenizer *t = opened(path, false, rows[i].options, false);
        struct leat_encoder *e;

        T_OK(leat_encoder_open(&e, t, NULL, &t_err));
        T_STR(ids_of(e, rows[i].text, 0, got), rows[i].ids);
        leat_encoder_close(e);
        leat_tokenizer_close(t);
    }
}

/* Runs of spaces, of which two are a token, so that they are not cut: too long to be found as a whole, the second one
 * also for the nodes that are kept. */
static void test_long(const char *path)
{
    enum { SHORTER = 300, LONGER = 200000, ALL = SHORTER + 2000 + LONGER };
    char *text = malloc(ALL + 1), one[2048], other[2048];
    uint32_t *ids = malloc(ALL * sizeof *ids);

    if (!text || !ids)
        exit(1);
    memset(text, ' ', ALL);
    for (size_t i = SHORTER; i < ALL - LONGER; i++)
        text[i] = "ab"[i % 2];
    text[ALL] = '\0';
    for (unsigned general = 0; general < 2; general++) {
        struct leat_tokenizer *t = opened(path, general, PREFIX | ESCAPED, false);
        const uint32_t *got;
        struct leat_encoder *e;
        uint64_t count;

        T_OK(leat_encoder_open(&e, t, NULL, &t_err));
        T_OK(leat_encoder_encode(e, text, ALL, &got, &count, &t_err));
        T_CHECK(count > LONGER / 2 && count <= ALL);
        T_CHECK(!general || memcmp(ids, got, count * sizeof *ids) == 0);
        memcpy(ids, got, count * sizeof *ids);
        ids_of(e, " ab  b", 0, general ? other : one);
        leat_encoder_close(e);
        leat_tokenizer_close(t);
    }
    T_STR(one, other);
    free(text);
    free(ids);
}

int main(void)
{
    const char *path = t_path(t_folder(), "spaced.model");
    uint64_t random = t_seed();

    for (unsigned options = 0; options < 16; options++)
        for (unsigned mapped = 0; mapped < 2; mapped++)
            check_options(path, options, mapped, &random);
    test_known(path);
    test_long(path);
    return t_end();
}
