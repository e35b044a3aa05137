/*
 * test_unicode.c: classes, normal forms, lower case, UTF-8 and charsmaps, on small frozen cases. The expected values
 * are what the reference libraries say; check_unicode.py compares all characters and many random texts with them.
 */
#include <stdbool.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "t.h"
#include "tokenizer/normalize/charsmap.h"
#include "tokenizer/unicode/grapheme.h"
#include "tokenizer/unicode/normalize_unicode.h"
#include "tokenizer/unicode/unicode.h"
#include "tokenizer_files/small_charsmap.h"

static const uint8_t *u8(const char *text)
{
    return (const uint8_t *)text;
}

/* `want` against a buffer, which is freed. */
static void same(struct buffer *b, const char *want, size_t size, const char *what)
{
    if (b->size != size || (size && memcmp(b->bytes, want, size) != 0))
        T_FAIL("%s: \"%.*s\" instead of \"%s\"", what, (int)b->size, b->bytes ? (const char *)b->bytes : "", want);
    buffer_free(b);
}

/* ---- Classes ---- */

static void classes(void)
{
    static const struct {
        uint32_t c;
        uint16_t rust, oniguruma;
    } cases[] = {
        { 'A', UNICODE_LU | UNICODE_WORD, UNICODE_LU | UNICODE_WORD },
        { '_', UNICODE_P | UNICODE_WORD, UNICODE_P | UNICODE_WORD },
        { 0x0b, UNICODE_SPACE, UNICODE_SPACE },
        { 0x85, UNICODE_SPACE, UNICODE_SPACE },
        { 0x1c, 0, 0 },   /* white space in Python only */
        { 0x200b, 0, 0 }, /* zero width, no white space */
        { 0xb2, UNICODE_N, UNICODE_N | UNICODE_WORD },
        { 0xbc, UNICODE_N, UNICODE_N | UNICODE_WORD },
        { 0x200c, UNICODE_WORD, 0 },
        { 0x200d, UNICODE_WORD, 0 },
        { 0x1c5, UNICODE_LT | UNICODE_WORD, UNICODE_LT | UNICODE_WORD },
        { 0x301, UNICODE_M | UNICODE_WORD, UNICODE_M | UNICODE_WORD },
        { 0x663, UNICODE_N | UNICODE_ND | UNICODE_WORD, UNICODE_N | UNICODE_ND | UNICODE_WORD },
        { 0x3005, UNICODE_LM | UNICODE_HAN | UNICODE_WORD, UNICODE_LM | UNICODE_HAN | UNICODE_WORD },
        { 0x4e00, UNICODE_LO | UNICODE_HAN | UNICODE_WORD, UNICODE_LO | UNICODE_HAN | UNICODE_WORD },
        { 0x1c89, UNICODE_LU | UNICODE_WORD, UNICODE_LU | UNICODE_WORD }, /* Unicode 16 */
        { 0xa7ce, 0, 0 },                                                 /* Unicode 17 */
        { 0x110000, 0, 0 },
        { UINT32_MAX, 0, 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        T_EQ(unicode_class(&unicode_classes[UNICODE_RUST], cases[i].c), cases[i].rust);
        T_EQ(unicode_class(&unicode_classes[UNICODE_ONIGURUMA], cases[i].c), cases[i].oniguruma);
    }
    T_EQ(char_tests('+'), CHAR_PUNCTUATION);
    T_EQ(char_tests(0x3000), CHAR_WHITESPACE);
    T_EQ(char_tests(0x11de0), CHAR_NUMERIC); /* a digit of Unicode 17 */
    T_EQ(char_tests(0x61d), 0);              /* punctuation of Unicode 14 */
    T_EQ(char_tests(0x200b), CHAR_CONTROL);
    T_EQ(char_tests(0x110000), 0);
}

/* ---- Normal forms ---- */

static void normal_form(enum normalize_form form, const char *text, const char *want)
{
    struct buffer out = { 0 };
    size_t size = strlen(text), prefix = normalize_prefix(form, u8(text), size);

    T_OK(normalize_append(&out, form, u8(text), size, &t_err));
    T_CHECK(memcmp(out.bytes ? (const char *)out.bytes : "", text, prefix) == 0);
    if (strcmp(text, want) != 0)
        T_CHECK(prefix < size);
    same(&out, want, strlen(want), text);
}

static void normal_forms(void)
{
    static const struct {
        const char *text, *form[NORMALIZE_FORMS]; /* NFC, NFD, NFKC, NFKD */
    } cases[] = {
        { "", { "", "", "", "" } },
        { "plain text", { "plain text", "plain text", "plain text", "plain text" } },
        { "caf\u00e9 \u4e2d\ud55c",
          { "caf\u00e9 \u4e2d\ud55c", "cafe\u0301 \u4e2d\u1112\u1161\u11ab", "caf\u00e9 \u4e2d\ud55c",
            "cafe\u0301 \u4e2d\u1112\u1161\u11ab" } },
        { "e\u0301x", { "\u00e9x", "e\u0301x", "\u00e9x", "e\u0301x" } },
        { "\u0301e", { "\u0301e", "\u0301e", "\u0301e", "\u0301e" } },
        /* order of marks; the one below composes first, the one above is not blocked */
        { "a\u0302\u0323", { "\u1ead", "a\u0323\u0302", "\u1ead", "a\u0323\u0302" } },
        { "a\u0315\u0300\u05ae\u0300b",
          { "\u00e0\u05ae\u0300\u0315b", "a\u05ae\u0300\u0300\u0315b", "\u00e0\u05ae\u0300\u0315b",
            "a\u05ae\u0300\u0300\u0315b" } },
        /* singletons, and what must not be composed again */
        { "\u212b\u0344\u0958",
          { "\u00c5\u0308\u0301\u0915\u093c", "A\u030a\u0308\u0301\u0915\u093c", "\u00c5\u0308\u0301\u0915\u093c",
            "A\u030a\u0308\u0301\u0915\u093c" } },
        /* Hangul: U+11A7 is no tail */
        { "\u1112\u1161\u11ab\u1112\u1161\u11a7",
          { "\ud55c\ud558\u11a7", "\u1112\u1161\u11ab\u1112\u1161\u11a7", "\ud55c\ud558\u11a7",
            "\u1112\u1161\u11ab\u1112\u1161\u11a7" } },
        { "\uac00\u11a8\uac01\u11a8",
          { "\uac01\uac01\u11a8", "\u1100\u1161\u11a8\u1100\u1161\u11a8\u11a8", "\uac01\uac01\u11a8",
            "\u1100\u1161\u11a8\u1100\u1161\u11a8\u11a8" } },
        /* two starters that compose */
        { "\u09c7\u09be", { "\u09cb", "\u09c7\u09be", "\u09cb", "\u09c7\u09be" } },
        /* compatibility */
        { "\ufb01\u00b2\u2460", { "\ufb01\u00b2\u2460", "\ufb01\u00b2\u2460", "fi21", "fi21" } },
        { "\u1e9b\u0323", { "\u1e9b\u0323", "\u017f\u0323\u0307", "\u1e69", "s\u0323\u0307" } },
        /* newer than Unicode 9: U+11938 decomposes since 13, U+32FF since 12.1, U+1DF6 is a mark since 10 */
        { "\U00011938\u32ff", { "\U00011938\u32ff", "\U00011938\u32ff", "\U00011938\u32ff", "\U00011938\u32ff" } },
        { "a\u0301\u1df6\u0323",
          { "\u00e1\u1df6\u0323", "a\u0301\u1df6\u0323", "\u00e1\u1df6\u0323", "a\u0301\u1df6\u0323" } },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int form = 0; form < NORMALIZE_FORMS; form++)
            normal_form((enum normalize_form)form, cases[i].text, cases[i].form[form]);
    /* text that is in the form is used as it is */
    T_EQ(normalize_prefix(NORMALIZE_NFC, u8("caf\u00e9 \ud55c\u0334"), 11), 11);
    T_EQ(normalize_prefix(NORMALIZE_NFC, u8("caf\u00e9 e\u0301x"), 10), 6);
    T_EQ(normalize_prefix(NORMALIZE_NFD, u8("caf\u00e9"), 5), 3);
    T_CHECK(normalize_boundary_before(NORMALIZE_NFC, 'a'));
    T_CHECK(normalize_boundary_before(NORMALIZE_NFC, 0xac00));
    T_CHECK(normalize_boundary_before(NORMALIZE_NFC, 0x212b));
    T_CHECK(!normalize_boundary_before(NORMALIZE_NFC, 0x301));
    T_CHECK(!normalize_boundary_before(NORMALIZE_NFC, 0x1161));
    T_CHECK(!normalize_boundary_before(NORMALIZE_NFC, 0x9be));
    T_CHECK(normalize_boundary_before(NORMALIZE_NFD, 0x1161));
    T_CHECK(!normalize_boundary_before(NORMALIZE_NFD, 0x344));
}

/* How much of a text's form comes from its first character, as seen in tokenizers 0.23.3. */
static void first_characters(void)
{
    static const struct {
        enum normalize_form form;
        const char *text;
        size_t bytes;
    } rows[] = {
        { NORMALIZE_NFD, "\u00e9x", 3 },
        { NORMALIZE_NFC, "e\u0301x", 2 },
        { NORMALIZE_NFC, "e\u0316\u0301x", 2 },
        { NORMALIZE_NFD, "e\u0301\u0316x", 1 },
        { NORMALIZE_NFD, "\u00e9\u0316x", 1 }, /* its mark goes after the other, and stands with that */
        { NORMALIZE_NFKC, "\ufb01x", 2 },
        { NORMALIZE_NFKD, "\ufdfa", 33 },
        { NORMALIZE_NFC, "\u1100\u1161\u11a8\u11a8", 3 },
        { NORMALIZE_NFD, "\uac01\u11a8", 9 },
        { NORMALIZE_NFC, "\u1ea1\u0302", 3 },
        { NORMALIZE_NFD, "\u0344\u0316a", 2 },
        { NORMALIZE_NFC, "\u0301e", 2 },
        { NORMALIZE_NFD, "\u1e69\u0323", 3 },
        { NORMALIZE_NFKD, "\u1e9b\u0323", 1 },
        { NORMALIZE_NFC, "\u00c5\u0323", 3 },
        { NORMALIZE_NFC, "\u0958x", 6 },
        { NORMALIZE_NFC, "a\u0315\u0300\u05aeb", 2 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint8_t *text = u8(rows[i].text);
        size_t first, bytes;

        unicode_decode(text, &first);
        T_OK(normalize_first(&bytes, rows[i].form, text, strlen(rows[i].text), first, NULL, &t_err));
        if (bytes != rows[i].bytes)
            T_FAIL("%s: %zu bytes come from its first character, not %zu", rows[i].text, bytes, rows[i].bytes);
    }
}

/* A run of marks of any length takes time in proportion: sorted one by one, this one would take hours. */
static void long_run_of_marks(void)
{
    enum { MARKS = 4 << 20 };
    uint8_t *text = malloc(1 + (size_t)MARKS * 2), *p = text;
    struct buffer out = { 0 };

    if (!text)
        exit(1);
    *p++ = 'a';
    for (size_t i = 0; i < MARKS; i++)
        p += utf8_encode(p, i % 2 ? 0x323 : 0x301); /* class 230, then 220 */
    T_OK(normalize_append(&out, NORMALIZE_NFC, text, (size_t)(p - text), &t_err));
    /* U+1EA1; the rest of class 220; all of class 230 */
    T_EQ(out.size, 3 + 2 * (MARKS - 1));
    T_CHECK(memcmp(out.bytes, "\u1ea1\u0323\u0323", 7) == 0);
    T_CHECK(memcmp(out.bytes + 3 + MARKS - 2 - 2, "\u0323\u0301", 4) == 0);
    T_CHECK(memcmp(out.bytes + out.size - 2, "\u0301", 2) == 0);
    buffer_free(&out);
    free(text);
}

/* Runs of every length around the one from which on marks are counted, against a plain sort. */
static void runs_of_every_length(void)
{
    static const uint32_t marks[] = { 0x334, 0x323, 0x301, 0x345, 0x5b0, 0x1d165 }; /* 1, 220, 230, 240, 10, 216 */
    static const int order[] = { 0, 4, 5, 1, 2, 3 };
    uint64_t random = t_seed();

    for (size_t n = 0; n <= 70; n++) {
        uint8_t text[4 * 72], want[4 * 72], *p = text, *q = want;
        size_t counts[6] = { 0 };
        struct buffer out = { 0 };

        *p++ = *q++ = 'x';
        for (size_t i = 0; i < n; i++) {
            size_t which = (size_t)t_below(&random, 6);

            counts[which]++;
            p += utf8_encode(p, marks[which]);
        }
        for (size_t i = 0; i < 6; i++)
            for (size_t j = 0; j < counts[order[i]]; j++)
                q += utf8_encode(q, marks[order[i]]);
        T_OK(normalize_append(&out, NORMALIZE_NFD, text, (size_t)(p - text), &t_err));
        T_EQ(out.size, q - want);
        T_CHECK(out.size == (size_t)(q - want) && memcmp(out.bytes, want, out.size) == 0);
        buffer_free(&out);
    }
}

/* ---- Lower case ---- */

static void lower(const char *text, const char *want)
{
    struct buffer out = { 0 };

    T_OK(lowercase_append(&out, u8(text), strlen(text), &t_err));
    same(&out, want, strlen(want), text);
}

static void lower_case(void)
{
    lower("", "");
    lower("aZ[@`{ \u00c9\u00d7", "az[@`{ \u00e9\u00d7");
    lower("\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c3"); /* no final sigma */
    lower("\u0130I\u0131", "i\u0307i\u0131");
    lower("\u1e9e\u2126\u01c5\ua7ce", "\u00df\u03c9\u01c6\ua7cf");
    T_EQ(lowercase_prefix(u8("abc\u00e9D"), 6), 5);
    T_EQ(lowercase_prefix(u8("ab\u0130"), 4), 2);
    T_EQ(lowercase_prefix(u8("ab 1"), 4), 4);
}

/* ---- UTF-8 ---- */

static void repair(const char *text, size_t size, size_t valid, const char *want, uint64_t count)
{
    /* of its own, so that a sanitizer sees a byte read beyond */
    uint8_t *copy = malloc(size ? size : 1);
    struct buffer out = { 0 };
    uint64_t replaced = 99;

    if (!copy)
        exit(1);
    memcpy(copy, text, size);
    T_EQ(utf8_valid_prefix(copy, size), valid);
    T_OK(buffer_append_repaired(&out, copy, size, &replaced, &t_err));
    T_EQ(replaced, count);
    same(&out, want, strlen(want), want);
    free(copy);
}

#define REPAIR(text, valid, want, count) repair(text, sizeof(text) - 1, valid, want, count)

/* An empty text may be NULL, to which C lets nothing be added: the sanitizer stops a function that does. */
static void no_text(void)
{
    struct buffer out = { 0 };

    T_EQ(utf8_valid_prefix(NULL, 0), 0);
    T_EQ(utf8_malformed(NULL, 0), 0);
    T_OK(buffer_append_repaired(&out, NULL, 0, NULL, &t_err));
    T_EQ(out.size, 0);
}

static void utf8(void)
{
    no_text();
    REPAIR("", 0, "", 0);
    REPAIR("plain ASCII, longer than eight", 30, "plain ASCII, longer than eight", 0);
    REPAIR("\x7f\xc2\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff", 25,
           "\x7f\xc2\x80\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff", 0);
    REPAIR("a\x80"
           "b\xbf\xff",
           1, "a\ufffdb\ufffd\ufffd", 3);
    /* long forms: no beginning of a character */
    REPAIR("\xc0\xaf\xe0\x9f\xbf\xf0\x8f\xbf\xbf", 0, "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd", 9);
    /* surrogates, values too great */
    REPAIR("\xed\xa0\x80\xf4\x90\x80\x80\xf5", 0, "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd", 8);
    /* one for the longest beginning; the byte after it counts anew */
    REPAIR("\xe4\xb8"
           "a\xf0\x9f\x98"
           "b\xf0\x9f"
           "c\xc3\xc3\xa9",
           0, "\ufffda\ufffdb\ufffdc\ufffd\u00e9", 4);
    /* at the end */
    REPAIR("ok\xf0\x9f\x98", 2, "ok\ufffd", 1);
    REPAIR("ok\xe2", 2, "ok\ufffd", 1);
}

/* ---- Charsmaps and grapheme clusters ---- */

static void through(const struct charsmap *map, enum charsmap_mode mode, const char *text, const char *want)
{
    struct buffer out = { 0 };

    T_OK(charsmap_append(&out, map, mode, u8(text), strlen(text), &t_err));
    same(&out, want, strlen(want), text);
    if (strcmp(text, want) == 0)
        T_EQ(charsmap_prefix(map, mode, u8(text), strlen(text)), strlen(text));
}

/* How much of what a map writes stands where the text's first characters do, as seen in tokenizers 0.23.3: what is
 * removed moves what was written before it; a replacement stands with the last of the characters that it replaces. */
static void places(const struct charsmap *map)
{
    static const struct {
        const char *text;
        uint64_t first; /* characters */
        size_t bytes;
    } rows[] = {
        { "\u00a9", 1, 3 },   { "\u00a9b", 1, 3 },  { "\u00a9q", 1, 2 },  { "q\u00a9", 1, 3 },
        { "q\u00a9q", 1, 2 }, { "aqa", 2, 1 },      { "aqb", 2, 1 },      { "aq\u00a9", 2, 1 },
        { "a\u00a9", 2, 4 },  { "a\u00a9q", 2, 3 }, { "a\u0301b", 2, 1 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct charsmap_places p = { .first = rows[i].first };
        size_t bytes = strlen(rows[i].text);

        if (charsmap_first(map, u8(rows[i].text), bytes, true, bytes, &p) != rows[i].bytes)
            T_FAIL("%s: not %zu bytes come from its first characters", rows[i].text, rows[i].bytes);
    }
}

static void charsmaps(void)
{
    uint8_t bytes[2048];
    size_t size = small_charsmap(bytes), to_bytes = 0;
    const uint8_t *to = NULL;
    struct charsmap *map;

    T_OK(charsmap_create(&map, bytes, size, &t_err));
    through(map, CHARSMAP_LONGEST, "", "");
    through(map, CHARSMAP_LONGEST, "bcd\u4e2d\u00e9", "bcd\u4e2d\u00e9");
    through(map, CHARSMAP_LONGEST, "xaabac\u00a9a\u0301\u0301a\u0300",
            "x122"
            "1c(c)33\u03011\u0300");
    through(map, CHARSMAP_GRAPHEMES, "bcd\u4e2d\u00e9", "bcd\u4e2d\u00e9");
    /* the cluster a U+0301 becomes what a is, and the mark is lost; ab are two clusters; six bytes are too many */
    through(map, CHARSMAP_GRAPHEMES, "abxa\u0301", "1bx1");
    through(map, CHARSMAP_GRAPHEMES, "a\u0301\u0301a\u0301\u0301\u0301", "11\u0301\u0301\u0301");
    through(map, CHARSMAP_GRAPHEMES, "\u00a9\u200d\u00a9\u0301", "(c)\u200d(c)\u0301");
    T_EQ(charsmap_longest(map, u8("abc"), 3, &to, &to_bytes, NULL), 2);
    T_CHECK(to_bytes == 2 && memcmp(to, "22", 2) == 0);
    places(map);
    T_EQ(charsmap_longest(map, u8("bc"), 2, &to, &to_bytes, NULL), 0);
    charsmap_free(map);

    for (size_t cut = 0; cut < 4 + 1024; cut++) {
        T_STATUS(charsmap_create(&map, bytes, cut, &t_err), LEAT_E_RECORD);
        T_CHECK(map == NULL);
    }
    T_STATUS(charsmap_create(&map, bytes, 4 + 1024 + 8, &t_err), LEAT_E_RECORD); /* a value behind the end */
    bytes[size - 1] = 0xff;
    T_STATUS(charsmap_create(&map, bytes, size, &t_err), LEAT_E_RECORD);
    charsmap_free(NULL);
}

/* A charsmap with one key, U+0301. */
static size_t mark_charsmap(uint8_t *bytes)
{
    static const uint32_t units[][2] = { { 0, 1 << 10 },
                                         { 1 ^ 0xcc, 0xcc | (1 ^ 0xcc ^ 4) << 10 },
                                         { 4 ^ 0x81, 0x81 | 0x100 | (4 ^ 0x81 ^ 5) << 10 },
                                         { 5, 1u << 31 } };

    memset(bytes, 0, 4 + 1024);
    bytes_store32(bytes, 1024);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        bytes_store32(bytes + 4 + 4 * units[i][0], units[i][1]);
    bytes[4 + 1024] = 'm';
    return 4 + 1024 + 1;
}

/* What the key becomes with which the text begins, in one of the two maps; NULL: there is none. */
static const char *becomes(bool marks, const uint8_t *text)
{
    if (marks)
        return memcmp(text, "\u0301", 2) == 0 ? "m" : NULL;
    return *text == 'a' ? "1" : memcmp(text, "\u00a9", 2) == 0 ? "(c)" : NULL;
}

/* What becomes of a cluster, by the rule: one of less than six bytes that begins with a key becomes what this does, and
 * in others each character that is a key. */
static void put_cluster(struct buffer *out, bool marks, const uint8_t *text, size_t bytes)
{
    for (size_t at = 0, length; at < bytes; at += length) {
        const char *to = becomes(marks, text + at);

        length = text[at] < 0x80 ? 1 : text[at] < 0xe0 ? 2 : text[at] < 0xf0 ? 3 : 4;
        T_OK(buffer_append(out, to ? (const void *)to : text + at, to ? strlen(to) : length, &t_err));
        if (to && at == 0 && bytes < 6)
            return;
    }
}

/* Whole texts against their clusters, one by one. */
static void random_clusters(bool marks)
{
    static const char *const bits[] = { "a",  "b",      "\u0301", "\u00a9", "\u4e2d", "\u200d", "\u0600", "\n",
                                        "\r", "\u0915", "\u094d", "\u1100", "\u1161", "\u0903", "a",      "\u00e9" };
    uint64_t random = t_seed();
    uint8_t bytes[2048];
    struct charsmap *map;

    T_OK(charsmap_create(&map, bytes, marks ? mark_charsmap(bytes) : small_charsmap(bytes), &t_err));
    for (int i = 0; i < 4000; i++) {
        struct buffer got = { 0 }, want = { 0 };
        char text[64] = "";
        size_t used = 0;

        for (uint64_t n = t_below(&random, 12); n > 0; n--)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s",
                                     bits[t_below(&random, sizeof bits / sizeof bits[0])]);
        for (size_t at = 0, length; text[at]; at += length) {
            length = grapheme_length(u8(text + at), strlen(text + at));
            put_cluster(&want, marks, u8(text + at), length);
        }
        T_OK(charsmap_append(&got, map, CHARSMAP_GRAPHEMES, u8(text), strlen(text), &t_err));
        same(&got, want.size > 0 ? (const char *)want.bytes : "", want.size, text);
        buffer_free(&got);
        buffer_free(&want);
    }
    charsmap_free(map);
}

/* Whatever the bytes are: refused, or harmless. */
static void damaged_charsmaps(void)
{
    uint64_t random = t_seed();
    uint8_t bytes[2048];

    for (int i = 0; i < 300; i++) {
        size_t size = small_charsmap(bytes);
        struct charsmap *map;
        struct buffer out = { 0 };

        for (uint64_t n = 1 + t_below(&random, 4); n > 0; n--)
            bytes[4 + t_below(&random, size - 4)] = (uint8_t)t_random(&random);
        if (charsmap_create(&map, bytes, size, &t_err) != LEAT_OK)
            continue;
        for (int mode = 0; mode < 2; mode++)
            T_OK(charsmap_append(&out, map, (enum charsmap_mode)mode, u8("ab\u00a9a\u0301\u4e2dz"), 11, &t_err));
        buffer_free(&out);
        charsmap_free(map);
    }
}

static void graphemes(void)
{
    static const struct {
        const char *text;
        size_t first;
    } cases[] = {
        { "ab", 1 },
        { "\r\n", 2 },
        { "\n\r", 1 },
        { "\n\u0301", 1 },
        { "a\u0301\u0302b", 5 },
        { "a\u0903", 4 },             /* spacing mark */
        { "\u0600a", 3 },             /* prepended */
        { "\u0600\n", 2 },            /* but not before a control */
        { "\u1100\u1161\u11a8a", 9 }, /* Hangul */
        { "\u11a8\u1161", 3 },
        { "\u0915\u094d\u0915x", 9 }, /* conjunct */
        { "\u0915\u0915", 3 },
        { "\u00a9\u0301\u200d\u00a9a", 9 },
        { "a\u200d\u00a9", 4 },
        { "\u00a9\u200d\u200d\u00a9", 8 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        T_EQ(grapheme_length(u8(cases[i].text), strlen(cases[i].text)), cases[i].first);
}

int main(void)
{
    classes();
    normal_forms();
    first_characters();
    long_run_of_marks();
    runs_of_every_length();
    lower_case();
    utf8();
    charsmaps();
    random_clusters(false);
    random_clusters(true);
    damaged_charsmaps();
    graphemes();
    return t_end();
}
