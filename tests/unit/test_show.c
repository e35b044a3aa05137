/*
 * test_show.c: leat_show() and sentences in struct leat_error let through what people can read, and nothing that a
 * terminal obeys, that changes the order of what is shown or that cannot be seen; for every code point, and every byte
 * that is not UTF-8.
 */
#include "base/show.h"
#include "base/status.h"
#include "base/utf8.h"
#include "t.h"

static void shows(const char *text, size_t bytes, const char *expected)
{
    char out[256];

    T_EQ(leat_show(out, sizeof out, text, bytes), strlen(expected));
    T_STR(out, expected);
    T_EQ(leat_show(NULL, 0, text, bytes), strlen(expected));
    T_EQ(leat_show(out, sizeof out, expected, strlen(expected)), strlen(expected)); /* what is shown stays */
    T_STR(out, expected);
}

#define SHOWS(text, expected) shows(text, sizeof text - 1, expected)

static void test_examples(void)
{
    SHOWS("", "");
    SHOWS("a name, 100 %", "a name, 100 %");
    SHOWS("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \\", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \\");
    SHOWS("a\x1b]0;title\x07\x7f\0b\n", "a\\x1b]0;title\\x07\\x7f\\x00b\\x0a");
    SHOWS("\xc2\x9b"
          "31m",
          "\\u009b31m");
    SHOWS("\xe2\x80\xaegpj.exe", "\\u202egpj.exe");
    SHOWS("\x9b"
          "31m \xff \xe2\x82 \xc2",
          "\\x9b31m \\xff \\xe2\\x82 \\xc2");
    SHOWS("\xed\xa0\x80\xf4\x90\x80\x80\xc0\x9b", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xc0\\x9b"); /* no characters */
}

/* Before, info, verify, show, repr() and errors of misuse printed signatures and passwords of URLs. */
static void test_urls(void)
{
    static const struct {
        const char *given, *name, *sentence; /* NULL: as it was given */
    } urls[] = {
        { "https://h/a?sig=SECRET", "https://h/a", "https://h/a" },
        { "http://u:SECRET@h:8/a#SECRET", "http://h:8/a", "http://h:8/a" },
        { "HTTPS://SECRET@h?SECRET", "HTTPS://h", "HTTPS://h" },
        { "https://u:SE@CRET@h/a@b?SECRET@x", "https://h/a@b", "https://h/a@b" },
        { "https://h/a?b SECRET", "https://h/a", "https://h/a SECRET" },
        { "s3://id:SECRET@b/a?b", "s3://b/a?b", "s3://b/a?b" },
        { "abfss://c@x.dfs.core.windows.net/n?a", NULL, NULL },
        { "raw:FILE?dtype=u16", NULL, NULL },
        { "https://h/a.", NULL, NULL },
        { "a?b https://", NULL, NULL },
        { "\"https://h/a?SECRET\": see https://h/?SECRET; http://u:SECRET@h, or https://h?", "\"https://h/a",
          "\"https://h/a\": see https://h/; http://h, or https://h" },
    };
    struct leat_error err = { 0 };
    char out[128];

    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        const char *given = urls[i].given, *name = urls[i].name ? urls[i].name : given;

        T_EQ(leat_show_name(out, sizeof out, given, strlen(given)), strlen(name));
        T_STR(out, name);
        T_EQ(leat_show_name(NULL, 0, given, strlen(given)), strlen(name));
        status_set_in(&err, LEAT_E_IO, given, "%s", given);
        T_STR(err.message, urls[i].sentence ? urls[i].sentence : given);
        T_STR(err.file, name);
        status_after(&err, "; %s", given);
        status_before(&err, LEAT_E_IO, "%s", given);
        T_CHECK(!strstr(err.message, "=SECRET") && !strstr(err.message, ":SECRET"));
    }
}

/* From the Unicode standard: categories Cc, Zl and Zp, and the properties Bidi_Control and
 * Default_Ignorable_Code_Point, but for what words of some scripts, and emoji, are spelled with: joiners, variation
 * selectors, Khmer's vowels. Beside these, marks of annotations. */
static bool is_hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0xad || c == 0x61c || c == 0x115f || c == 0x1160 ||
           c == 0x180e || c == 0x200b || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0x3164 || c == 0xfeff || c == 0xffa0 || (c >= 0xfff0 && c <= 0xfffb) ||
           (c >= 0x1bca0 && c <= 0x1bca3) || (c >= 0x1d173 && c <= 0x1d17a) ||
           (c >= 0xe0000 && c <= 0xe0fff && (c < 0xe0100 || c > 0xe01ef));
}

static void test_all_characters(void)
{
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        uint8_t text[4];
        char out[16], expected[16];
        size_t bytes;

        if (c >= 0xd800 && c < 0xe000)
            continue;
        bytes = utf8_encode(text, c);
        if (is_hidden(c))
            snprintf(expected, sizeof expected, c < 0x80 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
        else
            snprintf(expected, sizeof expected, "%.*s", (int)bytes, (const char *)text);
        leat_show(out, sizeof out, (const char *)text, bytes);
        if (strcmp(out, expected) != 0)
            T_FAIL("U+%04X is shown as \"%s\", expected \"%s\"", c, out, expected);
    }
}

/* Nothing is cut: what does not fit is left out, with all after it. */
static void test_room(void)
{
    static const char text[] = "ab\x1b\xe2\x82\xac\xe2\x80\xaez";
    static const char *const whole[] = { "", "a", "ab", "ab\\x1b", "ab\\x1b\xe2\x82\xac" };
    char out[32];

    for (size_t room = 1; room < 20; room++) {
        const char *expected = whole[0];

        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
            if (strlen(whole[i]) < room)
                expected = whole[i];
        if (room == 16)
            expected = "ab\\x1b\xe2\x82\xac\\u202e";
        if (room > 16)
            expected = "ab\\x1b\xe2\x82\xac\\u202ez";
        memset(out, '#', sizeof out);
        T_EQ(leat_show(out, room, text, sizeof text - 1), 16);
        T_STR(out, expected);
        T_EQ(out[room], '#');
    }
}

static void test_sentences(void)
{
    struct leat_error err;
    char name[2000];

    status_set(&err, LEAT_E_IO, "%s: bad", "x\x1b[2J\xc2\x9b\n");
    T_STR(err.message, "x\\x1b[2J\\u009b\\x0a: bad");
    status_before(&err, err.status, "%s", "\xe2\x81\xa6part");
    T_STR(err.message, "\\u2066part: x\\x1b[2J\\u009b\\x0a: bad");
    status_after(&err, " (%s)", "\x07");
    T_STR(err.message, "\\u2066part: x\\x1b[2J\\u009b\\x0a: bad (\\x07)");
    status_set_os(&err, 2, NULL, "cannot open %s", "\xff");
    T_STR(err.message, "cannot open \\xff: No such file or directory");

    /* a name that is cut is cut between characters */
    for (size_t i = 0; i + 3 < sizeof name; i += 3)
        memcpy(name + i, "\xe2\x82\xac", 4);
    for (unsigned shift = 0; shift < 3; shift++) {
        status_set(&err, LEAT_E_IO, "%.*s%s", (int)shift, "ab", name);
        T_CHECK(!strchr(err.message, '\\') && strlen(err.message) > sizeof err.message - 8);
        status_set_os(&err, 2, NULL, "%.*s%s", (int)shift, "ab", name);
        T_CHECK(!strchr(err.message, '\\') && strstr(err.message, "\xe2\x82\xac...: No such file"));
        T_EQ(utf8_valid_prefix((const uint8_t *)err.message, strlen(err.message)), strlen(err.message));
    }
}

int main(void)
{
    test_examples();
    test_urls();
    test_all_characters();
    test_room();
    test_sentences();
    return t_failures > 0;
}
