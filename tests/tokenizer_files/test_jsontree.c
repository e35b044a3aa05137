/*
 * test_jsontree.c: the JSON reader against tables of valid and invalid texts. `test_jsontree FILE...` instead prints
 * what each file holds, in one form, or "invalid": test_jsontree_python.py compares that with Python's reader.
 */
#include "t.h"

#include "base/jsontree.h"

static void print_text(struct jsontree_text t)
{
    putchar('"');
    for (uint32_t i = 0; i < t.length; i++)
        printf("%02x", t.bytes[i]);
    putchar('"');
}

/* Strings as hexadecimal, numbers as written, members in order. */
static void print(const struct jsontree *j, uint32_t node)
{
    const struct jsontree_node *n = &j->nodes[node];
    uint32_t k = node + 1;

    switch (n->kind) {
    case JSONTREE_STRING:
        print_text(jsontree_string(j, node));
        break;
    case JSONTREE_ARRAY:
        for (putchar('['); k < jsontree_next(j, node); k = jsontree_next(j, k))
            print(j, k), putchar(',');
        putchar(']');
        break;
    case JSONTREE_OBJECT:
        for (putchar('{'); k < jsontree_next(j, node); k = jsontree_next(j, k + 1))
            print(j, k), putchar(':'), print(j, k + 1), putchar(',');
        putchar('}');
        break;
    default:
        printf("%.*s", (int)n->length, (const char *)j->text + n->at);
    }
}

static int print_files(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        static uint8_t bytes[1 << 20];
        FILE *f = fopen(argv[i], "rb");
        size_t size = f ? fread(bytes, 1, sizeof bytes, f) : 0;
        struct jsontree j;

        if (!f)
            return 1;
        fclose(f);
        if (jsontree_parse(&j, bytes, size, argv[i], &t_err) == LEAT_OK)
            print(&j, 0);
        else
            printf("invalid");
        putchar('\n');
        jsontree_free(&j);
    }
    return 0;
}

/* In a block of exactly its size, so that a sanitizer sees a read beyond it. */
static enum leat_status parse(struct jsontree *j, const char *text, size_t length)
{
    static uint8_t *copy;

    free(copy);
    copy = malloc(length ? length : 1);
    memcpy(copy, text, length);
    return jsontree_parse(j, copy, length, "made.json", &t_err);
}

static void test_strings(void)
{
    static const struct {
        const char *json, *want;
    } rows[] = {
        { "\"\"", "" },
        { "\"abc\"", "abc" },
        { "  \"a long string without any escape in it\"\n", "a long string without any escape in it" },
        { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
        { "\"\\u0041\\u00e9\\u20AC\"", "A\xc3\xa9\xe2\x82\xac" },
        { "\"\\ud83d\\ude00!\"", "\xf0\x9f\x98\x80!" },
        { "\"\\uDBFF\\uDFFF\"", "\xf4\x8f\xbf\xbf" },
        { "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 plain behind it, and more\"",
          "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 plain behind it, and more" },
        { "\"before \\n between \xe2\x96\x81 after\"", "before \n between \xe2\x96\x81 after" },
        { "\"\x7f\"", "\x7f" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct jsontree j;

        T_OK(parse(&j, rows[i].json, strlen(rows[i].json)));
        T_EQ(jsontree_string(&j, 0).length, strlen(rows[i].want));
        T_CHECK(jsontree_is(&j, 0, rows[i].want));
        jsontree_free(&j);
    }
}

static void test_invalid(void)
{
    static const struct {
        const char *json;
        uint64_t at;
        const char *what;
    } rows[] = {
        { "", 0, "missing value" },
        { "   ", 3, "missing value" },
        { "nul", 0, "missing value" },
        { "nullx", 4, "unexpected text after" },
        { "tru", 0, "missing value" },
        { "\xef\xbb\xbf{}", 0, "missing value" },
        { "{} {}", 3, "unexpected text after" },
        { "[1,]", 3, "missing value" },
        { "[,1]", 1, "missing value" },
        { "[1 2]", 3, "',' or ']'" },
        { "[1", 2, "',' or ']'" },
        { "[1}", 2, "',' or ']'" },
        { "{\"a\" 1}", 5, "missing ':'" },
        { "{\"a\":1,}", 7, "missing member name" },
        { "{\"a\":1 \"b\":2}", 7, "',' or '}'" },
        { "{a:1}", 1, "missing member name" },
        { "{1:1}", 1, "missing member name" },
        { "{\"a\":}", 5, "missing value" },
        { "'a'", 0, "missing value" },
        { "\"abc", 4, "unclosed string" },
        { "\"abc\\", 5, "unclosed string" },
        { "\"abc\\\"", 6, "unclosed string" },
        { "\"a\\x\"", 2, "unknown escape" },
        { "\"a\\u12g4\"", 4, "four hexadecimal digits" },
        { "\"a\\u12", 4, "four hexadecimal digits" },
        { "\"\\ud800\"", 1, "unpaired surrogate" },
        { "\"\\ud800x\"", 1, "unpaired surrogate" },
        { "\"\\ud800\\n\"", 1, "unpaired surrogate" },
        { "\"\\ud800\\ud800\"", 1, "unpaired surrogate" },
        { "\"\\udc00\\ud800\"", 1, "unpaired surrogate" },
        { "\"a\nb\"", 2, "control character" },
        { "\"a\x01\"", 2, "control character" },
        { "\"a\xff\"", 2, "not UTF-8" },
        { "\"a\x80\"", 2, "not UTF-8" },
        { "\"\xc0\x80\"", 1, "not UTF-8" },
        { "\"\xc3\"", 1, "not UTF-8" },
        { "\"\xed\xa0\x80\"", 1, "not UTF-8" },
        { "\"\xe0\x80\x80\"", 1, "not UTF-8" },
        { "\"\xe2\x82\"", 1, "not UTF-8" },
        { "\"\xf0\x80\x80\x80\"", 1, "not UTF-8" },
        { "\"\xf4\x90\x80\x80\"", 1, "not UTF-8" },
        { "\"\xf5\x80\x80\x80\"", 1, "not UTF-8" },
        { "\"plain for eight bytes and \xf0\x9f\x98\"", 27, "not UTF-8" },
        { "01", 0, "leading 0" },
        { "-", 1, "missing digit" },
        { "-a", 1, "missing digit" },
        { "1.", 2, "missing digit" },
        { ".5", 0, "missing value" },
        { "1e", 2, "missing digit" },
        { "1e+", 3, "missing digit" },
        { "+1", 0, "missing value" },
        { "NaN", 0, "missing value" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct jsontree j;

        t_err.offset = 999;
        T_REFUSED(parse(&j, rows[i].json, strlen(rows[i].json)), LEAT_E_VOCABULARY, rows[i].what);
        T_CONTAINS(t_err.message, "made.json");
        if (t_err.offset != rows[i].at)
            T_FAIL("row %zu (%s): at %" PRIu64 " instead of %" PRIu64, i, rows[i].json, t_err.offset, rows[i].at);
        T_CHECK(j.nodes == NULL);
        jsontree_free(&j);
    }
}

static void test_members(void)
{
    static const char json[] =
        " { \"a\" : 1, \"b\":[ ], \"c\":{\"a\":[1,{\"x\":2}]}, \"\\u0061\":7, \"e\":18446744073709551615,"
        "\"f\":18446744073709551616, \"g\":-1, \"h\":1.0, \"i\":-0, \"j\":00000 } ";
    struct jsontree j;
    char whole[256];
    uint64_t v;

    T_STATUS(parse(&j, json, strlen(json)), LEAT_E_VOCABULARY); /* 00000 */
    snprintf(whole, sizeof whole, "%.*s}", (int)(strstr(json, ", \"j\"") - json), json);
    T_OK(parse(&j, whole, strlen(whole)));
    T_EQ(j.nodes[0].length, 9);
    T_CHECK(jsontree_u64(&j, jsontree_member(&j, 0, "a"), &v));
    T_EQ(v, 7); /* the last one counts */
    T_EQ(j.nodes[jsontree_member(&j, 0, "b")].length, 0);
    T_EQ(j.nodes[jsontree_member(&j, jsontree_member(&j, 0, "c"), "a")].length, 2);
    T_EQ(jsontree_member(&j, 0, "d"), JSONTREE_NONE);
    T_EQ(jsontree_member(&j, jsontree_member(&j, 0, "b"), "d"), JSONTREE_NONE);
    T_CHECK(jsontree_u64(&j, jsontree_member(&j, 0, "e"), &v));
    T_EQ(v, UINT64_MAX);
    T_CHECK(!jsontree_u64(&j, jsontree_member(&j, 0, "f"), &v));
    T_CHECK(!jsontree_u64(&j, jsontree_member(&j, 0, "g"), &v));
    T_CHECK(!jsontree_u64(&j, jsontree_member(&j, 0, "h"), &v));
    T_CHECK(!jsontree_u64(&j, jsontree_member(&j, 0, "i"), &v));
    T_CHECK(!jsontree_u64(&j, jsontree_member(&j, 0, "b"), &v));
    T_EQ(jsontree_at(&j, jsontree_member(&j, 0, "c")), 25);
    jsontree_free(&j);
    jsontree_free(&j);
}

static void test_depth(void)
{
    char text[300];
    struct jsontree j;

    for (int depth = 126; depth <= 128; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        T_STATUS(parse(&j, text, (size_t)depth * 2), depth < 128 ? LEAT_OK : LEAT_E_VOCABULARY);
        jsontree_free(&j);
    }
    memset(text, '[', sizeof text); /* never closed */
    T_STATUS(parse(&j, text, sizeof text), LEAT_E_VOCABULARY);
}

static void test_escapes_everywhere(void)
{
    static const char json[] = "[\"\\u0000\", \"\\\\\", {\"\\n\": \"\\\"\"}, \"x\"]";
    struct jsontree j;

    T_OK(parse(&j, json, strlen(json)));
    T_EQ(jsontree_string(&j, 1).length, 1);
    T_EQ(jsontree_string(&j, 1).bytes[0], 0);
    T_EQ(jsontree_at(&j, 1), 2);
    T_CHECK(jsontree_is(&j, 2, "\\"));
    T_CHECK(jsontree_is(&j, jsontree_member(&j, 3, "\n"), "\""));
    jsontree_free(&j);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return print_files(argc, argv);
    test_strings();
    test_invalid();
    test_members();
    test_depth();
    test_escapes_everywhere();
    return t_end();
}
