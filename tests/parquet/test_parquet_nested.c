/*
 * test_parquet_nested.c: columns that are lists and groups, as pyarrow, DuckDB and Polars have written them, are given
 * as the JSON that Python writes of what pyarrow reads: from each row on, with no more memory than is needed; what is
 * not read is refused with a sentence; and where pages have checksums no flipped bit or cut gives other values. With
 * FILE COLUMN it prints the column of a file, a line per row.
 */
#include "base/bytes.h"
#include "parquet_files.h"

static const char *const names[] = { "nested_pages", "nested_2",     "nested_old",    "nested_required",
                                     "nested_group", "nested_spans", "nested_duckdb", "nested_polars" };

/* A line for a row. */
static void put_line(struct buffer *to, const struct parquet_value *values)
{
    struct parquet_value v = values[0];

    if (v.size == SIZE_MAX)
        v = (struct parquet_value) { (const uint8_t *)"large", 5 };
    if (!v.bytes)
        v = (struct parquet_value) { (const uint8_t *)"null", 4 };
    T_OK(buffer_append(to, v.bytes, v.size, &t_err));
    T_OK(buffer_append(to, "\n", 1, &t_err));
}

static enum leat_status read_column(struct buffer *to, struct buffer *bytes, const char *column, size_t max,
                                    enum memory limit, struct leat_error *err)
{
    struct parquet_want want = { .path = column, .use = PARQUET_JSON, .max_bytes = max };
    struct parquet_source source = source_of(bytes);
    struct parquet_file *file;
    enum leat_status s = parquet_open(&file, &source, &want, 1, err);

    to->size = 0;
    for (uint64_t g = 0; s == LEAT_OK && g < parquet_groups(file); g++)
        s = read_rows(to, put_line, file, g, 0, limit, err);
    parquet_close(file);
    return s;
}

static void check_rows(struct buffer *bytes, const char *name)
{
    struct parquet_want want = { .path = "messages", .use = PARQUET_JSON };
    struct parquet_source source = source_of(bytes);
    struct buffer all = { 0 }, rest = { 0 };
    struct parquet_file *file;

    T_OK(parquet_open(&file, &source, &want, 1, &t_err));
    for (uint64_t g = 0; g < parquet_groups(file); g++) {
        uint64_t begin, count;

        for (unsigned i = 1; i < parquet_stretches(file); i++) { /* the first is the want's own, which has no pages */
            parquet_stretch(file, g, i, &begin, &count);
            T_CHECK(count > 0 && begin >= 4 && begin + count < bytes->size);
        }
        all.size = 0;
        T_OK(read_rows(&all, put_line, file, g, 0, UNLIMITED, &t_err));
        for (uint64_t row = 0; row <= parquet_group(file, g)->rows; row++) {
            rest.size = 0;
            T_OK(read_rows(&rest, put_line, file, g, row, (enum memory)(row % 3), &t_err));
            if (rest.size > all.size || (row < parquet_group(file, g)->rows) != (rest.size > 0) ||
                (rest.size > 0 && memcmp(all.bytes + (all.size - rest.size), rest.bytes, rest.size) != 0))
                T_FAIL("%s: from row %" PRIu64 " on: other values", name, row);
        }
    }
    parquet_close(file);
    buffer_free(&all);
    buffer_free(&rest);
}

/* Values of more than `max` bytes are passed over, and no others. */
static void check_large(struct buffer *bytes, const struct buffer *lines, const char *name, size_t max)
{
    struct buffer want = { 0 }, got = { 0 };

    for (size_t at = 0, count; at < lines->size; at += count + 1) {
        const uint8_t *line = lines->bytes + at;

        count = (size_t)((const uint8_t *)memchr(line, '\n', lines->size - at) - line);
        T_OK(buffer_append(&want, count > max ? (const uint8_t *)"large" : line, count > max ? 5 : count, &t_err));
        T_OK(buffer_append(&want, "\n", 1, &t_err));
    }
    T_OK(read_column(&got, bytes, "messages", max, AS_NEEDED, &t_err));
    if (!same_bytes(&got, &want))
        T_FAIL("%s: other values of more than %zu bytes", name, max);
    buffer_free(&want);
    buffer_free(&got);
}

static void check_file(const char *name)
{
    struct buffer bytes = load(name, ".parquet"), want = load(name, ".jsonl"), got = { 0 };

    for (int limit = UNLIMITED; limit <= MAPPED; limit++) {
        maps = 0;
        T_OK(read_column(&got, &bytes, "messages", 0, (enum memory)limit, &t_err));
        T_EQ(maps > 0, limit == MAPPED);
        if (!same_bytes(&got, &want))
            T_FAIL("%s: other values than expected:\n%.*s", name, (int)got.size, got.bytes);
    }
    check_rows(&bytes, name);
    for (size_t max = 4; max < 300; max += 7) /* null is never too large */
        check_large(&bytes, &want, name, max);
    buffer_free(&bytes);
    buffer_free(&want);
    buffer_free(&got);
}

static void check_refused(struct buffer *bytes, const char *path, enum parquet_use use, const char *sentence)
{
    struct parquet_source source = source_of(bytes);
    struct parquet_want want = { .path = path, .use = use };
    struct parquet_file *file;

    T_REFUSED(parquet_open(&file, &source, &want, 1, &t_err), LEAT_E_UNSUPPORTED, sentence);
}

static void test_refused(void)
{
    struct buffer bytes = load("nested_pages", ".parquet"), typed = load("typed", ".parquet");

    check_refused(&bytes, "messages", PARQUET_TEXT, "the column messages is a list; name a column");
    check_refused(&bytes, "messages.list.element.role", PARQUET_TEXT, "is in a list");
    check_refused(&typed, "score", PARQUET_JSON, "does not hold texts");
    buffer_free(&bytes);
    buffer_free(&typed);
}

/* Of a file whose pages have checksums: an error or the same lines, whatever byte is wrong or missing; but for those of
 * the footer, which has no checksum, and says what is a list. */
static void test_damage(void)
{
    struct buffer bytes = load("nested_spans", ".parquet"), want = load("nested_spans", ".jsonl"), got = { 0 };
    size_t footer = bytes.size - 8 - bytes_load32(bytes.bytes + bytes.size - 8);

    for (size_t bit = 0; bit < 8 * bytes.size; bit++) {
        enum leat_status s;

        bytes.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        s = read_column(&got, &bytes, "messages", 0, UNLIMITED, &t_err);
        if (s == LEAT_OK && !same_bytes(&got, &want) && bit / 8 < footer)
            T_FAIL("bit %zu of byte %zu changes values", bit % 8, bit / 8);
        T_CHECK(s == LEAT_OK || t_err.message[0]);
        bytes.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t size = bytes.size; size-- > 0;) {
        struct buffer part = { .bytes = malloc(size + 1), .size = size };

        memcpy(part.bytes, bytes.bytes, size);
        T_CHECK(read_column(&got, &part, "messages", 0, UNLIMITED, &t_err) != LEAT_OK);
        free(part.bytes);
    }
    buffer_free(&bytes);
    buffer_free(&want);
    buffer_free(&got);
}

static int print(const char *path, const char *column)
{
    struct buffer bytes = { 0 }, lines = { 0 };
    FILE *f = fopen(path, "rb");
    uint8_t part[4096];
    size_t count;

    while (f && (count = fread(part, 1, sizeof part, f)) > 0)
        T_OK(buffer_append(&bytes, part, count, &t_err));
    if (!f || read_column(&lines, &bytes, column, 0, UNLIMITED, &t_err) != LEAT_OK)
        return fprintf(stderr, "%s\n", t_err.message), 1;
    return fwrite(lines.bytes, 1, lines.size, stdout) != lines.size;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return print(argv[1], argv[2]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_file(names[i]);
    test_refused();
    test_damage();
    return t_end();
}
