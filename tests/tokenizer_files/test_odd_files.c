/*
 * test_odd_files.c: small vocabulary files with something rare in them, opened, encoded and decoded through the public
 * header: what they give is what tokenizers 0.23.3, tiktoken 0.14.0 and sentencepiece 0.2.3 give, and where those fail,
 * so does leat. And that a sentence about an expression that cannot be used names the file and the component.
 *
 * Once an empty unk_token made unknown characters vanish, and so did bytes that a *.tiktoken lacks; an empty Sequence
 * of decoders put spaces between tokens, and an empty string to replace was found nowhere.
 */
#include "odd_files.h"

#define REPLACE(from, to) "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"" from "\"},\"content\":\"" to "\"}"

static void test_unknown(void)
{
    struct opened o = with("", "");

    encodes(&o, "axb", "2 "); /* no unknown token: it vanishes, there too */
    closed(&o);
    o = with("", "\"unk_token\":\"<unk>\",");
    refuses(&o, "axb", "neither is the unknown token \"<unk>\"");
    closed(&o);
    o = with("", "\"unk_token\":\"\",");
    encodes(&o, "ab", "2 ");
    refuses(&o, "axb", "neither is the unknown token \"\"");
    closed(&o);
}

/* What ByteLevel gave is UTF-8 before the next decoder sees it: "the" goes, and the bytes around it do not become one
 * character. Found by random combinations. */
static void test_bytes_between_decoders(void)
{
    static const char json[] =
        "{\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteLevel\",\"add_prefix_space\":true,"
        "\"trim_offsets\":true,\"use_regex\":true},{\"type\":\"Replace\",\"pattern\":{\"String\":\"the\"},\"content\":"
        "\"\"}]},"
        "\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":"
        "false},"
        "\"model\":{\"type\":\"BPE\",\"vocab\":{\"\\u00c3\":0,\"the\":1,\"\\u00a9\":2},\"merges\":[]}}";
    static const uint32_t ids[] = { 0, 1, 2 };
    struct opened o = opened(file_with("tokenizer.json", json), NULL);
    const char *text;
    uint64_t bytes;

    T_OK(leat_encoder_decode(o.encoder, ids, 3, &text, &bytes, &t_err));
    T_STR(text, "\xef\xbf\xbd\xef\xbf\xbd");
    T_OK(leat_encoder_decode(o.encoder, ids + 2, 1, &text, &bytes, &t_err));
    T_STR(text, "\xef\xbf\xbd");
    closed(&o);
}

#define STRIP_DECODER(start, stop)                                                                                     \
    "\"decoder\":{\"type\":\"Strip\",\"content\":\"b\",\"start\":" start ",\"stop\":" stop "},"

static void test_decoders(void)
{
    struct opened o = with("", "");

    decodes(&o, "a ab b");
    closed(&o);
    o = with("\"decoder\":{\"type\":\"Sequence\",\"decoders\":[]},", "");
    decodes(&o, "aabb");
    closed(&o);
    o = with("\"decoder\":{\"type\":\"BPEDecoder\",\"suffix\":\"b\"},", "");
    decodes(&o, "aa ");
    closed(&o);
    o = with(STRIP_DECODER("0", "2"), "");
    decodes(&o, "aa");
    closed(&o);
    o = with(STRIP_DECODER("1", "1"), ""); /* of "b" the one letter is both its begin and its end */
    decodes(&o, "aa");
    closed(&o);
#ifdef LEAT_HAVE_PCRE2
    o = with("\"decoder\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"\"},\"content\":\".\"},", "");
    decodes(&o, ".a..a.b..b.");
    closed(&o);
    /* of "b" nothing is left, in which nothing is found; it became a point */
    o = with("\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{\"String\":\"b\"},"
             "\"content\":\"\"},{\"type\":\"Replace\",\"pattern\":{\"String\":\"\"},\"content\":\".\"}]},",
             "");
    decodes(&o, ".a..a.");
    closed(&o);
    o = with("\"decoder\":{\"type\":\"BPEDecoder\",\"suffix\":\"\"},", "");
    decodes(&o, " a  a b b");
    closed(&o);
#endif
}

/* Tokens that begin with the prefix are joined; the spaces that tokenizing English puts in go if asked for, in each
 * token for itself. */
static void test_wordpiece(void)
{
    static const struct {
        uint32_t ids[6];
        const char *text, *cleaned;
    } rows[] = {
        { { 0, 1, 2, 3, 4, 4 }, "I don not . .", "I don not.." },
        { { 0, 5, 6, 7, 8, 8 }, "I n't 's '", "In't's '" },
        { { 8, 0, 9, 10, 11, 12 }, "## I 'm  , ? !", "## I'm ,?!" },
        { { 2, 13, 14, 15, 1, 3 }, "##nx . 've 're do not", "##nx.'ve're do not" },
    };

    for (int clean = 0; clean < 2; clean++) {
        char json[1024];
        struct opened o;

        snprintf(json, sizeof json,
                 "{\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":%s},\"model\":{\"type\":\"BPE\","
                 "\"vocab\":{\"I\":0,\"do\":1,\"##n\":2,\"not\":3,\".\":4,\"n't\":5,\"'s\":6,\"'\":7,\"##\":8,\"'m\":9,"
                 "\" ,\":10,\"?\":11,\"!\":12,\"##x .\":13,\"'ve\":14,\"'re\":15},\"merges\":[]}}",
                 clean ? "true" : "false");
        o = opened(file_with("tokenizer.json", json), NULL);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            const char *text;
            uint64_t bytes;

            T_OK(leat_encoder_decode(o.encoder, rows[i].ids, 6, &text, &bytes, &t_err));
            T_STR(text, clean ? rows[i].cleaned : rows[i].text);
        }
        closed(&o);
    }
}

/* Bytes become letters before the model sees them, without a pre-tokenizer. */
static void test_byte_level_normalizer(void)
{
    struct opened o = opened(
        file_with("tokenizer.json",
                  "{\"normalizer\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\",\"vocab\":{\"\\u0120\":0,"
                  "\"\\u00c3\":1,\"\\u00a9\":2,\"\\u00c3\\u00a9\":3,\"\\u0120\\u00c3\\u00a9\":4,\"a\":5},"
                  "\"merges\":[\"\\u00c3 \\u00a9\",\"\\u0120 \\u00c3\\u00a9\"]}}"),
        NULL);

    encodes(&o, "a \xc3\xa9\xc3\xa9", "5 4 3 ");
    encodes(&o, "\xc3\xa9 a", "3 0 5 ");
    encodes(&o, "\xc3\x83", "1 ");
    closed(&o);
}

/* Where the letters of bytes are mapped again or changed, the model sees letters: a second ByteLevel maps the two bytes
 * of each letter; NFD takes the dot off the letter for a space; Metaspace puts a mark there that no byte becomes; and a
 * prefix of tokens may have one, too. */
static void test_letters(void)
{
#define BYTE_LEVEL "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":false}"
    static const struct {
        const char *parts, *options, *text, *ids;
    } rows[] = {
        { "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[" BYTE_LEVEL "," BYTE_LEVEL "]},", "", " a",
          "4 0 " },
        { "\"normalizer\":{\"type\":\"ByteLevel\"},\"pre_tokenizer\":" BYTE_LEVEL ",", "", "a ", "0 4 " },
        { "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"ByteLevel\"},{\"type\":\"NFD\"}]},", "",
          " a", "5 6 0 " },
        { "\"normalizer\":{\"type\":\"ByteLevel\"},\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"_\","
          "\"prepend_scheme\":\"always\"},",
          "", "a a", "8 1 0 " },
        { "\"pre_tokenizer\":" BYTE_LEVEL ",", "\"continuing_subword_prefix\":\"\\u4e2d\",", "aa", "0 9 " },
    };
#undef BYTE_LEVEL

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char json[1024];
        struct opened o;

        snprintf(json, sizeof json,
                 "{%s\"model\":{\"type\":\"BPE\",%s\"vocab\":{\"a\":0,\"\\u0120\":1,\"\\u00c4\":2,\"\\u0142\":3,"
                 "\"\\u00c4\\u0142\":4,\"G\":5,\"\\u0307\":6,\"_\":7,\"_a\":8,\"\\u4e2da\":9},\"merges\":[%s]}}",
                 rows[i].parts, rows[i].options, *rows[i].options ? "" : "\"\\u00c4 \\u0142\",\"_ a\"");
        o = opened(file_with("tokenizer.json", json), NULL);
        encodes(&o, rows[i].text, rows[i].ids);
        closed(&o);
    }
}

/* Metaspace's "first" puts a mark before what comes from the text's first character: before each piece of it, where it
 * is cut, also between the letters of its bytes; and before nothing, where it was removed, or replaced together with
 * the one after it. */
static void test_first(void)
{
#ifdef LEAT_HAVE_PCRE2
#define METASPACE            "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"first\"}"
#define FORM_AND(form, more) "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"" form "\"}," more "]}"
    static const char cut[] =
        "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\".\"},"
        "\"behavior\":\"Isolated\",\"invert\":false}," METASPACE "]}";
    static const char letters[] =
        "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
        "\"trim_offsets\":true,\"use_regex\":false},{\"type\":\"Split\",\"pattern\":{\"Regex\":\".\"},"
        "\"behavior\":\"Isolated\",\"invert\":false}," METASPACE "]}";
    static const struct {
        const char *normalizer, *pre, *text, *ids;
    } rows[] = {
        { "{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":false}", METASPACE, "ab", "2 0 1 " },
        { "{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":false}", METASPACE, " ab", "0 1 " },
        { REPLACE("^ab?", "x"), METASPACE, "ab", "4 " },
        { REPLACE("^ab?", "x"), METASPACE, "a", "2 4 " },
        { REPLACE("a", "xx"), cut, "ab", "2 4 2 4 1 " },
        { REPLACE("a", "xx"), cut, "ba", "2 1 4 4 " },
        { "{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\",\"prepend\":\"x\"}," REPLACE("xa?", "b") "]}",
          METASPACE, "ab", "2 1 1 " },
        { "{\"type\":\"StripAccents\"}", METASPACE,
          "\xcc\x81"
          "ab",
          "0 1 " },
        { "{\"type\":\"Nmt\"}", cut, "\001ab", "0 1 " },
        { FORM_AND("NFD", REPLACE("\\\\p{M}", "x")), cut, "\u00e3b", "2 0 2 4 1 " },
        { FORM_AND("NFD", REPLACE("\\\\p{M}", "x")), cut, "\u00e3\u0323b", "2 0 4 4 1 " },
        { FORM_AND("NFKD", REPLACE("^a", "") "," REPLACE("\\\\p{M}", "x")), METASPACE, "\u00e3b", "2 4 1 " },
        { FORM_AND("NFC", REPLACE("\u00e3", "xx")), cut, "a\u0303b", "2 4 2 4 1 " },
        { "null", letters,
          "\xc3\xa9"
          "b",
          "2 5 2 6 1 " }, /* only the first letter had a mark */
    };
#undef METASPACE
#undef FORM_AND

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char json[1024];
        struct opened o;

        snprintf(
            json, sizeof json,
            "{\"normalizer\":%s,\"pre_tokenizer\":%s,\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"_\":2,"
            "\" \":3,\"x\":4,\"\\u00c3\":5,\"\\u00a9\":6},\"merges\":[]}}",
            rows[i].normalizer, rows[i].pre);
        o = opened(file_with("tokenizer.json", json), NULL);
        encodes(&o, rows[i].text, rows[i].ids);
        closed(&o);
    }
#endif
}

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

static void test_tiktoken(void)
{
    struct opened o = opened(file_with("some.tiktoken", "YQ==\t0\nYg== \t 1\nYWI= 2\n"), "gpt2");

    encodes(&o, "abba", "2 1 0 ");
    refuses(&o, "abc", "the byte 0x63, for which the vocabulary has no token");
    refuses(&o, "\xc3\xa9", "the byte 0xc3");
    closed(&o);
}

/* What sentencepiece 0.2.3 gives: the space that it adds comes behind the text. */
static void test_suffix(void)
{
    struct opened o = opened(file_with("suffix.model", "\x0a\x09\x0a\x05<unk>\x18\x02"
                                                       "\x0a\x03\x0a\x01"
                                                       "b"
                                                       "\x0a\x05\x0a\x03\xe2\x96\x81"
                                                       "\x0a\x06\x0a\x04"
                                                       "b\xe2\x96\x81"
                                                       "\x12\x05\x18\x02\xc0\x01\x01"),
                             NULL);

    encodes(&o, "b", "3 ");
    encodes(&o, "  b bb  ", "3 1 3 ");
    encodes(&o, "", "");
    encodes(&o, "  ", "");
    closed(&o);
}

static void not_opened(const char *parts, const char *component)
{
    static char json[32768];
    struct leat_tokenizer *t;
    const char *path;

    snprintf(json, sizeof json, "{%s,\"model\":{\"vocab\":{\"a\":0},\"merges\":[]}}", parts);
    path = file_with("bad.json", json);
    T_STATUS(leat_tokenizer_open(&t, path, NULL, &t_err), LEAT_E_UNSUPPORTED);
    T_CONTAINS(t_err.message, path);
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
        char parts[512];

        snprintf(parts, sizeof parts, SPLIT("\"Regex\":\"%s\"") "\"version\":\"1.0\"", rows[i].regex);
        not_opened(parts, rows[i].sentence);
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
    static char regex[PARTS * 16], parts[sizeof regex + 256];
    static const char *const sentences[] = { "more than 256 kinds of characters",
                                             "too many different character classes", "nested too deeply" };

    for (unsigned k = 0; k < sizeof sentences / sizeof sentences[0]; k++) {
        size_t used = 0;

        for (unsigned i = 0; i < (k == 0 ? 300 : k == 1 ? PARTS : 100); i++)
            used += (size_t)snprintf(regex + used, sizeof regex - used, k == 2 ? "(" : "%s\\\\x{%x}", i ? "|" : "",
                                     0x4e00 + i);
        snprintf(parts, sizeof parts,
                 "\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"%s\"},\"behavior\":\"Isolated\","
                 "\"invert\":false}",
                 regex);
        not_opened(parts, sentences[k]);
    }
}

/* A byte-level file whose bytes have no token falls back to bytes of its own way of writing, two for each: there are
 * more ids than bytes. Once a batch of pieces that the cache knew wrote them past the end of its memory. */
static void test_more_ids_than_bytes(void)
{
    enum { PIECES = 4096, BYTES = 5, IDS = 10 };
    static const char piece[] = " \xc3\xa9\xc3\xa9";
    static const uint32_t wanted[IDS] = { 0xc4, 0xa0, 0xc3, 0x83, 0xc2, 0xa9, 0xc3, 0x83, 0xc2, 0xa9 };
    char json[8192] =
        "{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,"
        "\"use_regex\":true},\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"merges\":[],\"vocab\":{";
    static char text[PIECES * BYTES];
    const uint32_t *ids;
    struct opened o;
    uint64_t count;

    for (unsigned b = 0; b < 256; b++)
        snprintf(json + strlen(json), sizeof json - strlen(json), "\"<0x%02X>\":%u%s", b, b, b < 255 ? "," : "}}}");
    for (size_t i = 0; i < PIECES; i++)
        memcpy(text + i * BYTES, piece, BYTES);
    o = opened(file_with("tokenizer.json", json), NULL);
    for (size_t pieces = 1; pieces <= PIECES; pieces *= PIECES) { /* the first time the cache learns it */
        T_OK(leat_encoder_encode(o.encoder, text, pieces * BYTES, &ids, &count, &t_err));
        T_EQ(count, pieces * IDS);
        for (uint64_t i = 0; i < count; i++)
            T_EQ(ids[i], wanted[i % IDS]);
    }
    closed(&o);
}

int main(void)
{
    test_more_ids_than_bytes();
    test_unknown();
    test_decoders();
    test_bytes_between_decoders();
    test_wordpiece();
    test_byte_level_normalizer();
    test_letters();
    test_first();
    test_replace_nothing();
    test_split_by_nothing();
    test_colon();
    test_slow_expressions();
    test_shown_expressions();
    test_tiktoken();
    test_suffix();
    test_replaced_nothing();
    test_sentences();
    test_large_expressions();
    return t_end();
}
