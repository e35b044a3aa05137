/*
 * test_odd_files.c: small vocabulary files with something rare in them, opened, encoded and decoded through the public
 * header: what they give is what tokenizers 0.23.3, tiktoken 0.14.0 and sentencepiece 0.2.3 give, and where those fail,
 * so does leat.
 */
#include "odd_files.h"

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
        struct opened o;

        o = opened(file_with("tokenizer.json",
                             t_text("{\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":%s},\"model\":{"
                                    "\"type\":\"BPE\","
                                    "\"vocab\":{\"I\":0,\"do\":1,\"##n\":2,\"not\":3,\".\":4,\"n't\":5,\"'s\":6,\"'\":"
                                    "7,\"##\":8,\"'m\":9,"
                                    "\" ,\":10,\"?\":11,\"!\":12,\"##x .\":13,\"'ve\":14,\"'re\":15},\"merges\":[]}}",
                                    clean ? "true" : "false")),
                   NULL);
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
        struct opened o;

        o = opened(
            file_with(
                "tokenizer.json",
                t_text("{%s\"model\":{\"type\":\"BPE\",%s\"vocab\":{\"a\":0,\"\\u0120\":1,\"\\u00c4\":2,\"\\u0142\":3,"
                       "\"\\u00c4\\u0142\":4,\"G\":5,\"\\u0307\":6,\"_\":7,\"_a\":8,\"\\u4e2da\":9},\"merges\":[%s]}}",
                       rows[i].parts, rows[i].options, *rows[i].options ? "" : "\"\\u00c4 \\u0142\",\"_ a\"")),
            NULL);
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
#define PREPEND              "{\"type\":\"Prepend\",\"prepend\":\"\"}"
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
        /* an empty Prepend makes what is first then the first character */
        { FORM_AND("NFC", REPLACE("^a", "") "," PREPEND), METASPACE, "ab", "2 1 " },
        { FORM_AND("NFC", REPLACE("^a", "") "," PREPEND), METASPACE, "bb", "2 1 1 " },
        { FORM_AND("NFC", REPLACE("^a", "") "," PREPEND "," REPLACE("^b", "")), METASPACE, "abx", "4 " },
        { FORM_AND("NFC", PREPEND "," REPLACE("^a", "")), METASPACE, "ab", "1 " },
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
#undef PREPEND

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

/* Unigram after Metaspace, where spaces cannot stand for marks: with another character in their place, and where each
 * byte has become a letter before. As in tokenizers. */
static void test_unigram_marks(void)
{
    static const struct {
        const char *normalizer, *mark, *text, *ids;
    } rows[] = {
        { "null", "\u2581", "ab  _a \u2581a", "3 5 3 3 0 1 3 4 " },
        { "null", "_", "ab  _a \u2581a", "3 5 3 3 4 3 0 1 " },
        { "{\"type\":\"ByteLevel\"}", "\u2581", "a ab b", "4 9 2 7 2 " },
        { "{\"type\":\"ByteLevel\"}", "\u2581", " \u00e9", "3 7 6 0 " },
        { "{\"type\":\"ByteLevel\"}", "\u2581", "\u2581", "8 0 " },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *m = rows[i].mark;
        char json[1024];
        struct opened o;

        snprintf(
            json, sizeof json,
            "{\"normalizer\":%s,\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"%s\",\"prepend_scheme\":"
            "\"always\",\"split\":true},\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"vocab\":[[\"<unk>\",0],[\"a\",-"
            "2],"
            "[\"b\",-2.5],[\"%s\",-3],[\"%sa\",-3.5],[\"ab\",-3],[\"\\u00c3\",-4],[\"\\u0120\",-4],[\"%s\\u00e2\",-4],"
            "[\"\\u0120a\",-3]]}}",
            rows[i].normalizer, m, m, m, m);
        o = opened(file_with("tokenizer.json", json), NULL);
        encodes(&o, rows[i].text, rows[i].ids);
        closed(&o);
    }
}

/* More changes of the script than are found at once. */
static void test_many_scripts(void)
{
    static const uint32_t wanted[] = { 0, 1 };
    struct opened o = opened(file_with("tokenizer.json", "{\"pre_tokenizer\":{\"type\":\"UnicodeScripts\"},\"model\":{"
                                                         "\"type\":\"BPE\",\"vocab\":{\"a\":0,\"\\u0436\":1,"
                                                         "\"a\\u0436\":2,\"\\u0436a\":3},\"merges\":[[\"a\","
                                                         "\"\\u0436\"],[\"\\u0436\",\"a\"]]}}"),
                             NULL);

    encodes_many(&o, "a\u0436", 3000, wanted, 2);
    closed(&o);
}

/* CTC with a delimiter of nothing: before, between and after all characters. As in tokenizers. */
static void test_empty_delimiter(void)
{
    struct opened o =
        with("\"decoder\":{\"type\":\"CTC\",\"pad_token\":\"x\",\"word_delimiter_token\":\"\",\"cleanup\":true},", "");

    decodes(&o, " a  a b  b ");
    closed(&o);
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
    test_unigram_marks();
    test_many_scripts();
    test_empty_delimiter();
    test_tiktoken();
    test_suffix();
    return t_end();
}
