/*
 * test_growing_files.c: what little a tokenizer's file says cannot take much memory, when it is opened, when a text is
 * encoded with it, and when ids are decoded.
 */
#include <malloc.h>
#include <zstd.h>

#include "base/buffer.h"
#include "leat_pack.h"
#include "support/peak.h"
#include "t.h"

#define MIB ((uint64_t)1 << 20)

static struct buffer file;

static void add(const char *text)
{
    T_OK(buffer_append(&file, text, strlen(text), &t_err));
}

static void add_times(const char *text, size_t times)
{
    while (times-- > 0)
        add(text);
}

/* A tokenizer.json whose tokens are a, b, c and what is given; further members follow. */
static void begin_file(const char *tokens)
{
    file.size = 0;
    add("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":2");
    add(tokens);
    add("},\"merges\":[]}");
}

/* Many letters at a time take less of the test's. */
#define MANY   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define DOUBLE "{\"type\":\"Replace\",\"pattern\":{\"String\":\"" MANY "\"},\"content\":\"" MANY MANY "\"}"

static void add_doubling(const char *member, const char *list, unsigned times)
{
    add(",\"");
    add(member);
    add("\":{\"type\":\"Sequence\",\"");
    add(list);
    add("\":[" DOUBLE);
    add_times("," DOUBLE, times - 1);
    add("]}");
}

static void add_token(const char *content, const char *normalized)
{
    add(",\"added_tokens\":[{\"id\":3,\"content\":\"");
    add(content);
    add("\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,\"normalized\":");
    add(normalized);
    add(",\"special\":false}]");
}

static enum leat_status open_file(struct leat_tokenizer **t)
{
    struct leat_stored_tokenizer stored = { "made.json", "", (const char *)file.bytes, file.size };

    return leat_tokenizer_open_stored(t, &stored, &t_err);
}

/* What was freed before does not count. */
static uint64_t begin_peak(void)
{
    malloc_trim(0);
    return peak_begin();
}

static void check_peak(const char *what, uint64_t begin, uint64_t max)
{
    uint64_t peak = peak_bytes(begin);

    printf("%-40s %6" PRIu64 " KiB\n", what, peak >> 10);
    if (peak > max)
        T_FAIL("%s: %" PRIu64 " MiB of memory", what, peak >> 20);
}

static void check_refused(const char *what, enum leat_status status, const char *why, uint64_t max)
{
    uint64_t begin = begin_peak();
    struct leat_tokenizer *t = NULL;

    T_REFUSED(open_file(&t), status, why);
    leat_tokenizer_close(t);
    check_peak(what, begin, max);
}

/* Decodes so many times the same id. */
static void check_decode(const char *what, uint32_t id, size_t count, enum leat_status status, uint64_t max)
{
    uint32_t *ids = malloc(count * sizeof *ids);
    uint64_t begin = begin_peak(), bytes;
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    const char *text;

    T_OK(open_file(&t));
    T_OK(leat_encoder_open(&e, t, NULL, &t_err));
    for (size_t i = 0; i < count; i++)
        ids[i] = id;
    T_STATUS(leat_encoder_decode(e, ids, count, &text, &bytes, &t_err), status);
    if (status != LEAT_OK)
        T_CONTAINS(t_err.message, "too much text");
    T_OK(leat_encoder_decode(e, ids, 0, &text, &bytes, &t_err));
    T_EQ(bytes, 0);
    check_peak(what, begin, max);
    leat_encoder_close(e);
    leat_tokenizer_close(t);
    free(ids);
}

static void check_doubling(void)
{
    if (!T_SANITIZED) { /* where memory is not measured, and 64 MiB of it take minutes */
        begin_file(",\"" MANY "\":3");
        add_doubling("decoder", "decoders", 31);
        add("}");
        check_decode("decoders that double", 3, 100, LEAT_E_VOCABULARY, 80 * MIB);
    }
    begin_file(",\"" MANY "\":3");
    add_doubling("decoder", "decoders", 2);
    add("}");
    check_decode("decoders that double twice", 3, 1000, LEAT_OK, 16 * MIB);
    begin_file("");
    add_doubling("normalizer", "normalizers", 31);
    add_token("[" MANY "]", "true");
    add("}");
    check_refused("a normalized token that doubles", LEAT_E_UNSUPPORTED, "becomes too long when normalized", 16 * MIB);
}

static void check_long_token(void)
{
    char *token = malloc(MIB + 64);

    memcpy(token, ",\"", 2);
    memset(token + 2, 'x', MIB);
    memcpy(token + 2 + MIB, "\":3", 4);
    begin_file(token);
    add("}");
    if (!T_SANITIZED)
        check_decode("a token of 1 MiB, 5,000 times", 3, 5000, LEAT_E_VOCABULARY, 120 * MIB);
    check_decode("a token of 1 MiB, ten times", 3, 10, LEAT_OK, 120 * MIB);
    free(token);
}

static void check_high_id(void)
{
    begin_file(",\"x\":16777215");
    add("}");
    check_decode("an id of 24 bits", 16777215, 5, LEAT_OK, 80 * MIB);
    check_decode("others below it", 1, 5, LEAT_OK, 80 * MIB);
}

/* What is decompressed is in proportion to the file. */
static void check_compressed(void)
{
    size_t plain_bytes = 40 * MIB, room = ZSTD_compressBound(plain_bytes), bytes;
    char *plain = malloc(plain_bytes), *packed = malloc(room);

    for (size_t i = 0; i + 3 <= plain_bytes; i += 3)
        memcpy(plain + i, "[],", 3);
    plain[0] = '[';
    bytes = ZSTD_compress(packed, room, plain, plain_bytes, 3);
    T_CHECK(!ZSTD_isError(bytes));
    file.size = 0;
    T_OK(buffer_append(&file, packed, bytes, &t_err));
    free(plain);
    free(packed);
    check_refused("compressed brackets", LEAT_E_VOCABULARY, "decompresses to more than 8 MiB", 40 * MIB);
}

/* 128 KiB before each stretch between added tokens. */
static void check_prepend(void)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    const uint32_t *ids;
    uint64_t begin, count;

    begin_file("");
    add(",\"normalizer\":{\"type\":\"Prepend\",\"prepend\":\"");
    add_times(MANY, MIB / 8 / strlen(MANY));
    add("\"}");
    add_token("|", "false");
    add("}");
    T_OK(open_file(&t));
    options.max_bytes = 8 * MIB;
    T_OK(leat_encoder_open(&e, t, &options, &t_err));
    begin = begin_peak();
    T_OK(leat_encoder_encode(e, "b|b", 3, &ids, &count, &t_err));
    T_EQ(count, MIB / 4 + 3);
    T_STATUS(leat_encoder_encode(e, "b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b|b", 65, &ids,
                                 &count, &t_err),
             LEAT_E_PRETOKEN);
    check_peak("a long text before each word", begin, 24 * MIB);
    leat_encoder_close(e);
    leat_tokenizer_close(t);
}

/* A text that leaves a normalizer's expression no room was LEAT_E_NO_MEMORY ("no memory for 0 bytes"), which ends
 * `leat pack`, and not a reject; seen with six normalizers that made an added token of 134 bytes long. */
static void check_expression_without_room(void)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    size_t bytes = MIB / 4; /* much more than an encoder has besides */
    unsigned refused = 0;
    uint8_t *text = malloc(bytes);
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    const uint32_t *ids;
    uint64_t count;

    begin_file("");
    add(",\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(?<=c)b\"},\"content\":\"a\"}}");
    T_OK(open_file(&t));
    memset(text, 'a', bytes);
    for (options.max_bytes = bytes / 4; options.max_bytes <= 4 * bytes; options.max_bytes += bytes / 16) {
        T_OK(leat_encoder_open(&e, t, &options, &t_err));
        enum leat_status s = leat_encoder_encode(e, (const char *)text, bytes, &ids, &count, &t_err);
        if (s != LEAT_OK && s != LEAT_E_PRETOKEN)
            T_FAIL("%" PRIu64 " KiB: %s", options.max_bytes >> 10, t_err.message);
        refused += s != LEAT_OK;
        leat_encoder_close(e);
    }
    T_CHECK(refused > 0 && refused < 60);
    leat_tokenizer_close(t);
    free(text);
}

/* Machine code for short expressions that repeat much: 1,024 of these took 908 MiB and 14 s to open. */
static void check_repeating_expressions(void)
{
    uint64_t begin, count;
    struct leat_tokenizer *t;
    struct leat_encoder *e;
    const uint32_t *ids;

    begin_file("");
    add(",\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":["
        "{\"type\":\"Digits\",\"individual_digits\":true}");
    add_times(",{\"type\":\"Split\",\"behavior\":\"Isolated\",\"invert\":false,"
              "\"pattern\":{\"Regex\":\"(?:ab?){0,900}\"}}",
              100);
    add("]}}");
    begin = begin_peak();
    T_OK(open_file(&t));
    T_OK(leat_encoder_open(&e, t, NULL, &t_err));
    T_OK(leat_encoder_encode(e, "aabacab", 7, &ids, &count, &t_err));
    T_EQ(count, 7);
    check_peak("100 expressions that repeat 900 times", begin, 40 * MIB);
    leat_encoder_close(e);
    leat_tokenizer_close(t);
}

int main(void)
{
    check_doubling();
    check_long_token();
    check_high_id();
    check_compressed();
    check_prepend();
    check_expression_without_room();
    check_repeating_expressions();
    buffer_free(&file);
    return t_end();
}
