/*
 * test_odd_patterns.c: vocabulary files with rare expressions in them, or such as match nothing: what they give is what
 * tokenizers 0.23.3 gives, and where that fails, so does leat. A sentence about an expression that cannot be used names
 * the file and the component.
 */
#include "odd_files.h"

static void test_replace_nothing(void)
{
#ifdef LEAT_HAVE_PCRE2
    struct opened o =
        with("\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"\"},\"content\":\"b\"},", "");

    encodes(&o, "a", "1 2 ");
    encodes(&o, "aa", "1 2 2 ");
    closed(&o);
    /* In a text of which nothing remains, not even nothing is found. */
    o = with("\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[" REPLACE("a", "") "," REPLACE("^", "b") "]},",
             "");
    encodes(&o, "b", "1 1 ");
    encodes(&o, "aba", "1 1 ");
    encodes(&o, "a", "");
    closed(&o);
#endif
}

#define E_9 "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
#define SPLIT(pattern)                                                                                                 \
    "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{" pattern "},\"behavior\":\"Isolated\",\"invert\":false},"

/* Between all characters, many of them. */
static void test_split_by_nothing(void)
{
    static const uint32_t a_b[] = { 0, 1 };
    struct opened o = with(SPLIT("\"String\":\"\""), "");

    encodes_many(&o, "ab", 3000, a_b, 2);
    closed(&o);
}

/* A class within a class, of a colon and a letter, and no POSIX name. As in tokenizers. */
static void test_colon(void)
{
#ifdef LEAT_HAVE_PCRE2
    struct opened o = with(SPLIT("\"Regex\":\"[[:a]]\""), "");

    encodes(&o, "abab", "0 1 0 1 ");
    closed(&o);
#endif
}

/* An expression that would go back and forth forever; one that matches much at once; and what needs more of the stack
 * than its compiled form has, and then, as PCRE2 is built, too many steps. */
static void test_slow_expressions(void)
{
#ifdef LEAT_HAVE_PCRE2
    static const char slow[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabcb";
    static const uint32_t ab = 2;
    enum { MUCH = 2 << 20 };
    struct opened o = with(SPLIT("\"Regex\":\"(?:a|aa)+c\""), "");
    char *much = malloc(MUCH);
    const uint32_t *ids;
    enum leat_status s;
    uint64_t count;

    refuses(&o, slow, "takes too many steps on this text");
    encodes(&o, "ab", "2 "); /* and goes on */
    closed(&o);
    o = with("\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(?:a|aa)+c\"},\"content\":\"b\"},", "");
    refuses(&o, slow, "takes too many steps on this text");
    encodes(&o, "aac", "1 ");
    closed(&o);
    o = with(SPLIT("\"Regex\":\"(?:ab|b)+?$\""), "");
    encodes_many(&o, "ab", 100000, &ab, 1);
    memset(much, 'b', MUCH);
    s = leat_encoder_encode(o.encoder, much, MUCH, &ids, &count, &t_err);
    T_CHECK(s == LEAT_E_TEXT || (s == LEAT_OK && count == MUCH));
    free(much);
    closed(&o);
#endif
}

static void not_opened(const char *parts, const char *component)
{
    struct leat_tokenizer *t;
    const char *path;

    path = file_with("bad.json", t_text("{%s,\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}", parts));
    T_REFUSED(leat_tokenizer_open(&t, path, NULL, &t_err), LEAT_E_UNSUPPORTED, path);
    T_CONTAINS(t_err.message, component);
}

/* Sentences show the beginning of an expression, and no half of a character. */
static void test_shown_expressions(void)
{
    static const struct {
        const char *regex, *sentence;
    } rows[] = {
        { "[[:foo:]]", "\"[:foo:]\" at byte 1" },
        { "(?i)\\u4e00s", "ignoring case" },
        { "\\\\p{" E_9 E_9 E_9 "}", "\"\\p{" E_9 E_9 "\" at byte 0" },
        { "(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((", "\"\" at byte 65: nested too deeply" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        not_opened(t_text(SPLIT("\"Regex\":\"%s\"") "\"version\":\"1.0\"", rows[i].regex), rows[i].sentence);
    }
}

/* The same, byte by byte. */
static void encodes_in_parts(const struct opened *o, const char *text, const char *wanted)
{
    char got[256] = "";
    const uint32_t *ids;
    uint64_t used, count;

    T_OK(leat_encoder_begin(o->encoder, &t_err));
    for (const char *at = text;; at++) {
        if (*at)
            T_OK(leat_encoder_part(o->encoder, at, 1, &used, &ids, &count, &t_err));
        else
            T_OK(leat_encoder_end(o->encoder, &ids, &count, &t_err));
        for (uint64_t i = 0; i < count && i < IDS_MAX; i++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "%u ", (unsigned)ids[i]);
        if (!*at)
            break;
    }
    T_STR(got, wanted);
}

/* Before ByteLevel, tokenizers fails where something is put before a text and nothing replaced. Such a text is
 * rejected; once each file was refused that has an expression which can match nothing. */
static void test_replaced_nothing(void)
{
#ifdef LEAT_HAVE_PCRE2
#define BYTE_LEVEL "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":false,\"use_regex\":false}"
    static const struct {
        const char *pattern, *text, *ids; /* NULL: rejected */
    } rows[] = {
        { "\"Regex\":\"$\"", "a", "0 3 " },
        { "\"Regex\":\"$\"", "", "" },
        { "\"Regex\":\"$\"", "\na", NULL },
        { "\"Regex\":\"(?<=a)\"", "ba", "1 0 3 " },
        { "\"Regex\":\"(?=a)|b\"", "ba", "3 0 " },
        { "\"Regex\":\"(?=a)|b\"", "aa", NULL },
        { "\"Regex\":\"(?=a)\"", "ba", "1 3 0 " },
        { "\"Regex\":\"b*\"", "ba", "3 0 3 " },
        { "\"Regex\":\"b*\"", "a", NULL },
        { "\"String\":\"\"", "a", NULL },
        { "\"String\":\"\"", "", "" },
    };
    static const char vocab[] = "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2,\".\":3},"
                                "\"merges\":[]}}";
    char json[1024];
    struct opened o;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(
            json, sizeof json,
            "{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{%s},\"content\":\".\"},\"pre_tokenizer\":" BYTE_LEVEL
            ",%s",
            rows[i].pattern, vocab);
        o = opened(file_with("tokenizer.json", json), NULL);
        if (rows[i].ids) {
            encodes(&o, rows[i].text, rows[i].ids);
            encodes_in_parts(&o, rows[i].text, rows[i].ids);
        } else {
            refuses(&o, rows[i].text, "puts something before this text without replacing anything");
        }
        closed(&o);
    }
    /* after it, no text is rejected, and an empty Prepend does nothing */
    snprintf(json, sizeof json,
             "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"ByteLevel\"},{\"type\":\"Replace\","
             "\"pattern\":{\"Regex\":\"^\"},\"content\":\".\"},{\"type\":\"Prepend\",\"prepend\":\"\"}]},%s",
             vocab);
    o = opened(file_with("tokenizer.json", json), NULL);
    encodes(&o, "ab", "3 0 1 ");
    closed(&o);
#undef BYTE_LEVEL
#endif
}

static void test_sentences(void)
{
    not_opened("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(\"},\"behavior\":\"Isolated\","
               "\"invert\":false}",
               "bad.json: pre_tokenizer Split: the tokenizer's pattern");
    not_opened("\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(\"},\"content\":\"\"}",
               "bad.json: normalizer Replace: the tokenizer's pattern");
#define BEFORE_BYTE_LEVEL(normalizer)                                                                                  \
    "\"normalizer\":{" normalizer "},\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"            \
    "\"trim_offsets\":false}"
    not_opened(BEFORE_BYTE_LEVEL("\"type\":\"Prepend\",\"prepend\":\"\""),
               "an empty Prepend before ByteLevel is not supported: tokenizers fails there");
#undef BEFORE_BYTE_LEVEL
    not_opened("\"decoder\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(\"},\"content\":\"\"}",
               "bad.json: decoder Replace: the tokenizer's pattern");
    not_opened(
        "\"normalizer\":{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true},\"added_tokens\":[{\"id\":1,"
        "\"content\":\" \",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":true,"
        "\"special\":false}]",
        "bad.json: the added token \" \" becomes empty when normalized");
#define LOWERED(id, content)                                                                                           \
    "{\"id\":" id ",\"content\":\"" content "\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"              \
    "\"normalized\":true,\"special\":false}"
    not_opened(
        "\"normalizer\":{\"type\":\"Lowercase\"},\"added_tokens\":[" LOWERED("1", "XY") "," LOWERED("2", "xY") "]",
        "two added tokens have the same text \"xy\"");
#undef LOWERED
}

/* An expression that tells more kinds of characters apart, has more classes, or goes deeper than can be told, is
 * refused. */
static void test_large_expressions(void)
{
    enum { PARTS = 1200 };
    static char regex[PARTS * 16];
    static const char *const sentences[] = { "more than 256 kinds of characters",
                                             "too many different character classes", "nested too deeply" };

    for (unsigned k = 0; k < sizeof sentences / sizeof sentences[0]; k++) {
        size_t used = 0;

        for (unsigned i = 0; i < (k == 0 ? 300 : k == 1 ? PARTS : 100); i++)
            used += (size_t)snprintf(regex + used, sizeof regex - used, k == 2 ? "(" : "%s\\\\x{%x}", i ? "|" : "",
                                     0x4e00 + i);
        not_opened(
            t_text("\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"%s\"},\"behavior\":\"Isolated\","
                   "\"invert\":false}",
                   regex),
            sentences[k]);
    }
}

int main(void)
{
    test_replace_nothing();
    test_split_by_nothing();
    test_colon();
    test_slow_expressions();
    test_shown_expressions();
    test_replaced_nothing();
    test_sentences();
    test_large_expressions();
    return t_end();
}
