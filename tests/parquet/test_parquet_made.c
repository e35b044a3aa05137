/*
 * test_parquet_made.c: files that no writer makes, or few do, made by hand (made_parquet.h): pages that are passed
 * over; lists without a group around them, as protobuf's and Thrift's writers make them; UUIDs; truth values in runs.
 * And what a file may say wrongly while its footer and headers are whole: levels that end too early or go on, columns
 * of a list that do not go together, schemas that are too deep, too wide or have a name twice, row groups without end.
 * Each of these is refused with a sentence.
 */
#include <zstd.h>

#include "corpus/parquet/block.h"
#include "made_parquet.h"
#include "parquet_files.h"

#define BYTES(literal) literal, sizeof(literal) - 1
#define COUNT(array)   (unsigned)(sizeof(array) / sizeof *(array))

/* A run of a level, or of a truth value: `count` times `value`, as a literal. */
#define RUN(count, value) count value
#define R1                "\x02"
#define R2                "\x04"
#define R3                "\x06"

/* Levels of PAGE_DATA, with their length before them. */
#define LEVELS2 "\2\0\0\0"
#define LEVELS4 "\4\0\0\0"
#define LEVELS6 "\6\0\0\0"

#define A       "\1\0\0\0a"
#define B       "\1\0\0\0b"
#define C       "\1\0\0\0c"

struct made_case {
    const char *what;
    struct made_node nodes[6];
    struct made_page pages[4];
    uint64_t rows;
    const char *want;
    enum parquet_use use;
    const char *values; /* a line each; NULL: it is broken */
    const char *says;
};

#define ROOT(children)                                                                                                 \
    {                                                                                                                  \
        "root", MADE_GROUP, MADE_REQUIRED, children, 0, 0                                                              \
    }
#define GROUP(name, repetition, children)                                                                              \
    {                                                                                                                  \
        name, MADE_GROUP, repetition, children, 0, 0                                                                   \
    }
#define LEAF(name, type, repetition)                                                                                   \
    {                                                                                                                  \
        name, type, repetition, 0, 0, 0                                                                                \
    }
#define PAGE(column, kind, values, encoding, bytes)                                                                    \
    {                                                                                                                  \
        column, kind, values, encoding, BYTES(bytes), 0, 0, 0                                                          \
    }

/* A repeated group m of two columns, and what is said of them. */
#define PAIRS                                                                                                          \
    ROOT(1), GROUP("m", MADE_REPEATED, 2), LEAF("a", MADE_BYTES, MADE_REQUIRED), LEAF("b", MADE_BYTES, MADE_REQUIRED)
#define APART "its columns do not go together"

static const struct made_case cases[] = {
    { "pages of 1, 2 and 1 values",
      { ROOT(1), LEAF("t", MADE_BYTES, MADE_REQUIRED) },
      { PAGE(0, MADE_DATA, 1, 0, A), PAGE(0, MADE_DATA, 2, 0, B C), PAGE(0, MADE_DATA, 1, 0, A) },
      4,
      "t",
      PARQUET_TEXT,
      "a\nb\nc\na\n",
      NULL },
    { "a list without a group around it",
      { PAIRS },
      { PAGE(0, MADE_DATA, 4, 0,
             LEVELS6 RUN(R1, "\0") RUN(R1, "\1") RUN(R2, "\0") LEVELS4 RUN(R3, "\1") RUN(R1, "\0") A B C),
        PAGE(1, MADE_DATA, 4, 0,
             LEVELS6 RUN(R1, "\0") RUN(R1, "\1") RUN(R2, "\0") LEVELS4 RUN(R3, "\1") RUN(R1, "\0") C B A) },
      3,
      "m",
      PARQUET_JSON,
      "[{\"a\":\"a\",\"b\":\"c\"},{\"a\":\"b\",\"b\":\"b\"}]\n[{\"a\":\"c\",\"b\":\"a\"}]\n[]\n",
      NULL },
    { "a UUID",
      { ROOT(1), { "t", MADE_FIXED, MADE_REQUIRED, 0, 16, 14 } },
      { PAGE(0, MADE_DATA, 1, 0, "\x01\x23\x45\x67\x89\xab\xcd\xef\xfe\xdc\xba\x98\x76\x54\x32\x10") },
      1,
      "t",
      PARQUET_ID,
      "01234567-89ab-cdef-fedc-ba9876543210\n",
      NULL },
    { "truth values in runs",
      { ROOT(1), GROUP("m", MADE_REQUIRED, 1), LEAF("a", MADE_BOOLEAN, MADE_REQUIRED) },
      { PAGE(0, MADE_DATA, 3, 3, "\4\0\0\0" RUN(R2, "\1") RUN(R1, "\0")) },
      3,
      "m",
      PARQUET_JSON,
      "{\"a\":true}\n{\"a\":true}\n{\"a\":false}\n",
      NULL },
    { "truth values in runs, all of them null",
      { ROOT(1), GROUP("m", MADE_REQUIRED, 1), LEAF("a", MADE_BOOLEAN, MADE_OPTIONAL) },
      { PAGE(0, MADE_DATA, 2, 3, LEVELS2 RUN(R2, "\0")) },
      2,
      "m",
      PARQUET_JSON,
      "{\"a\":null}\n{\"a\":null}\n",
      NULL },

    { "runs that are cut off",
      { ROOT(1), GROUP("m", MADE_REQUIRED, 1), LEAF("a", MADE_BOOLEAN, MADE_REQUIRED) },
      { PAGE(0, MADE_DATA, 2, 3, "\2\0\0") },
      2,
      "m",
      PARQUET_JSON,
      NULL,
      "its values end too early" },
    { "runs that say more than there is",
      { ROOT(1), GROUP("m", MADE_REQUIRED, 1), LEAF("a", MADE_BOOLEAN, MADE_REQUIRED) },
      { PAGE(0, MADE_DATA, 2, 3, "\3\0\0\0" RUN(R2, "\1")) },
      2,
      "m",
      PARQUET_JSON,
      NULL,
      "its values end too early" },
    { "nine bits in a byte",
      { ROOT(1), GROUP("m", MADE_REQUIRED, 1), LEAF("a", MADE_BOOLEAN, MADE_REQUIRED) },
      { PAGE(0, MADE_DATA, 9, 0, "\377") },
      9,
      "m",
      PARQUET_JSON,
      NULL,
      "its values end too early" },
    { "repetition levels that end too early",
      { PAIRS },
      { PAGE(0, MADE_DATA, 2, 0, LEVELS2 RUN(R1, "\0") LEVELS2 RUN(R2, "\1") A B),
        PAGE(1, MADE_DATA, 2, 0, LEVELS2 RUN(R2, "\0") LEVELS2 RUN(R2, "\1") A B) },
      2,
      "m",
      PARQUET_JSON,
      NULL,
      "its repetition levels end too early" },
    { "repetition levels that go on",
      { PAIRS },
      { { 0, MADE_DATA_2, 2, 0, BYTES(RUN(R2, "\0") RUN(R1, "\0") RUN(R2, "\1") A B), 4, 2, 0 },
        PAGE(1, MADE_DATA, 2, 0, LEVELS2 RUN(R2, "\0") LEVELS2 RUN(R2, "\1") A B) },
      2,
      "m",
      PARQUET_JSON,
      NULL,
      "it has more repetition levels than values" },
    { "a first row that begins within a list",
      { PAIRS },
      { PAGE(0, MADE_DATA, 2, 0, LEVELS4 RUN(R1, "\1") RUN(R1, "\0") LEVELS2 RUN(R2, "\1") A B),
        PAGE(1, MADE_DATA, 2, 0, LEVELS2 RUN(R2, "\0") LEVELS2 RUN(R2, "\1") A B) },
      2,
      "m",
      PARQUET_JSON,
      NULL,
      "a row begins in the middle of a list" },
    { "lists of two elements and of one",
      { PAIRS },
      { PAGE(0, MADE_DATA, 3, 0, LEVELS6 RUN(R1, "\0") RUN(R1, "\1") RUN(R1, "\0") LEVELS2 RUN(R3, "\1") A B C),
        PAGE(1, MADE_DATA, 2, 0, LEVELS2 RUN(R2, "\0") LEVELS2 RUN(R2, "\1") A B) },
      2,
      "m",
      PARQUET_JSON,
      NULL,
      APART },
    { "an element that is there and an empty list",
      { PAIRS },
      { PAGE(0, MADE_DATA, 1, 0, LEVELS2 RUN(R1, "\0") LEVELS2 RUN(R1, "\1") A),
        PAGE(1, MADE_DATA, 1, 0, LEVELS2 RUN(R1, "\0") LEVELS2 RUN(R1, "\0")) },
      1,
      "m",
      PARQUET_JSON,
      NULL,
      APART },
    { "an empty list that goes on",
      { PAIRS },
      { PAGE(0, MADE_DATA, 2, 0, LEVELS4 RUN(R1, "\0") RUN(R1, "\1") LEVELS2 RUN(R2, "\0")),
        PAGE(1, MADE_DATA, 2, 0, LEVELS4 RUN(R1, "\0") RUN(R1, "\1") LEVELS2 RUN(R2, "\0")) },
      1,
      "m",
      PARQUET_JSON,
      NULL,
      APART },
    { "an element, and an empty list that it goes on with",
      { PAIRS },
      { PAGE(0, MADE_DATA, 2, 0, LEVELS4 RUN(R1, "\0") RUN(R1, "\1") LEVELS4 RUN(R1, "\1") RUN(R1, "\0") A),
        PAGE(1, MADE_DATA, 2, 0, LEVELS4 RUN(R1, "\0") RUN(R1, "\1") LEVELS4 RUN(R1, "\1") RUN(R1, "\0") A) },
      1,
      "m",
      PARQUET_JSON,
      NULL,
      APART },
    { "a list twice",
      { ROOT(2), GROUP("m", MADE_REPEATED, 1), LEAF("a", MADE_BYTES, MADE_REQUIRED), GROUP("m", MADE_REPEATED, 1),
        LEAF("a", MADE_BYTES, MADE_REQUIRED) },
      { { 0 } },
      1,
      "m",
      PARQUET_JSON,
      NULL,
      "the column m appears twice" },
    { "a column twice",
      { ROOT(2), LEAF("t", MADE_BYTES, MADE_REQUIRED), LEAF("t", MADE_BYTES, MADE_REQUIRED) },
      { { 0 } },
      1,
      "t",
      PARQUET_TEXT,
      NULL,
      "the column t appears twice" },
    { "values of 1 MiB and a byte",
      { ROOT(1), { "t", MADE_FIXED, MADE_REQUIRED, 0, (1 << 20) + 1, 0 } },
      { { 0 } },
      1,
      "t",
      PARQUET_TEXT,
      NULL,
      "has values of more than 1 MiB, all of the same length" },
};

static void put_value(struct buffer *to, const struct parquet_value *values)
{
    made_put(to, values[0].bytes ? values[0].bytes : (const uint8_t *)"null", values[0].bytes ? values[0].size : 4);
    made_put(to, "\n", 1);
}

/* All rows of a file from one on, of the first group. */
static enum leat_status read_from(struct buffer *to, struct buffer *bytes, const char *path, enum parquet_use use,
                                  uint64_t row, enum memory limit)
{
    struct parquet_want want = { .path = path, .use = use };
    struct parquet_source source = source_of(bytes);
    struct parquet_file *file;
    enum leat_status s = parquet_open(&file, &source, &want, 1, &t_err);

    to->size = 0;
    if (s == LEAT_OK)
        s = read_rows(to, put_value, file, 0, row, limit, &t_err);
    parquet_close(file);
    return s;
}

static unsigned count_nodes(const struct made_case *c)
{
    unsigned count = 0;

    while (count < COUNT(c->nodes) && c->nodes[count].name)
        count++;
    return count;
}

static void check(const struct made_case *c)
{
    struct made_file f = { .nodes = c->nodes, .pages = c->pages, .node_count = count_nodes(c), .rows = c->rows };
    struct buffer bytes, got = { 0 };
    const char *rest = c->values;

    for (unsigned i = 0; i < f.node_count; i++)
        f.columns += c->nodes[i].type != MADE_GROUP;
    while (f.page_count < COUNT(c->pages) && c->pages[f.page_count].bytes)
        f.page_count++;
    f.groups = 1;
    bytes = made_parquet(&f);
    for (uint64_t row = 0; row < (rest ? c->rows : 1); row++) {
        enum leat_status s = read_from(&got, &bytes, c->want, c->use, row, (enum memory)(row % 3));

        if (!rest) {
            T_STATUS(s, c->pages[0].bytes ? LEAT_E_TEXT : LEAT_E_UNSUPPORTED);
            if (!strstr(t_err.message, c->says))
                T_FAIL("%s: %s", c->what, t_err.message);
            continue;
        }
        if (s != LEAT_OK)
            T_FAIL("%s: %s", c->what, t_err.message);
        else if (got.size != strlen(rest) || memcmp(got.bytes, rest, got.size) != 0)
            T_FAIL("%s, from row %d: %.*s", c->what, (int)row, (int)got.size, (const char *)got.bytes);
        rest = strchr(rest, '\n') + 1;
    }
    buffer_free(&bytes);
    buffer_free(&got);
}

/* ---- Footers ---- */

static void check_footer(const struct made_file *f, const char *path, enum leat_status status, const char *says)
{
    struct parquet_want want = { .path = path, .use = PARQUET_JSON };
    struct buffer bytes = made_parquet(f);
    struct parquet_source source = source_of(&bytes);
    struct parquet_file *file;

    T_STATUS(parquet_open(&file, &source, &want, 1, &t_err), status);
    if (status != LEAT_OK)
        T_CONTAINS(t_err.message, says);
    parquet_close(file);
    buffer_free(&bytes);
}

static void test_schemas(void)
{
    static struct made_node nodes[70];
    struct made_file f = { .nodes = nodes, .columns = 1, .groups = 1, .rows = 0 };

    for (unsigned depth = 63; depth <= 64; depth++) { /* groups below the root */
        nodes[0] = (struct made_node)ROOT(1);
        for (unsigned i = 1; i <= depth; i++)
            nodes[i] = (struct made_node)GROUP("m", MADE_REQUIRED, 1);
        nodes[depth + 1] = (struct made_node)LEAF("a", MADE_BYTES, MADE_REQUIRED);
        f.node_count = depth + 2;
        check_footer(&f, "m", depth == 63 ? LEAT_OK : LEAT_E_TEXT, "its columns are nested too deep");
    }
    for (unsigned width = 48; width <= 49; width++) { /* columns below one */
        nodes[1] = (struct made_node)GROUP("m", MADE_REQUIRED, width);
        for (unsigned i = 0; i < width; i++)
            nodes[2 + i] = (struct made_node)LEAF("a", MADE_BYTES, MADE_REQUIRED);
        f.node_count = width + 2;
        f.columns = width;
        check_footer(&f, "m", width == 48 ? LEAT_OK : LEAT_E_UNSUPPORTED, "the column m has too many columns below it");
    }
}

static void test_groups(void)
{
    static const struct made_node nodes[] = { ROOT(1), LEAF("t", MADE_BYTES, MADE_REQUIRED) };
    struct made_file f = { .nodes = nodes, .node_count = 2, .columns = 1, .groups = 2, .rows = INT64_MAX };

    f.rows = INT64_MAX / 2;
    check_footer(&f, "t", LEAT_OK, "");
    f.rows = INT64_MAX;
    f.groups = 3;
    check_footer(&f, "t", LEAT_E_TEXT, "its row groups have too many rows");
    f.rows = f.columns = 0; /* groups of a byte */
    f.groups = 1000;
    check_footer(&f, "t", LEAT_E_TEXT, "it lists more row groups than it has bytes for");
}

/* ---- Stopping ---- */

static unsigned asked, stop_at;

static bool stop(void *context)
{
    (void)context;
    return ++asked >= stop_at && stop_at > 0;
}

/* While a page comes into a file, as it is or to be decompressed there. */
static void test_stop(void)
{
    static const struct made_node nodes[] = { ROOT(1), LEAF("t", MADE_BYTES, MADE_REQUIRED) };
    const size_t size = 3 * BLOCK_STRETCH;
    struct parquet_want want = { .path = "t", .use = PARQUET_TEXT };
    struct made_page page = { .values = 1, .unpacked = size };
    struct made_file f = {
        .nodes = nodes, .pages = &page, .node_count = 2, .page_count = 1, .columns = 1, .groups = 1, .rows = 1
    };
    uint8_t *text = calloc(size, 1), *packed = malloc(ZSTD_compressBound(size));

    bytes_store32(text, (uint32_t)(size - 4));
    for (unsigned codec = 0; codec <= 6; codec += 6) {
        struct buffer bytes, got = { 0 };
        struct parquet_source source;
        struct parquet_file *file;

        page.bytes = (const char *)(codec == 0 ? text : packed);
        page.size = codec == 0 ? size : ZSTD_compress(packed, ZSTD_compressBound(size), text, size, 1);
        f.codec = codec;
        bytes = made_parquet(&f);
        source = source_of(&bytes);
        source.stopped = stop;
        T_OK(parquet_open(&file, &source, &want, 1, &t_err));
        stop_at = 0;
        T_OK(read_rows(&got, put_value, file, 0, 0, MAPPED, &t_err));
        T_EQ(got.size, size - 3);
        for (stop_at = 1; stop_at <= 2; stop_at++) {
            asked = 0;
            T_REFUSED(read_rows(&got, put_value, file, 0, 0, MAPPED, &t_err), LEAT_E_STOPPED,
                      "reading memory was stopped");
        }
        parquet_close(file);
        buffer_free(&bytes);
        buffer_free(&got);
    }
    free(text);
    free(packed);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
    test_schemas();
    test_groups();
    test_stop();
    return t_end();
}
