/*
 * test_parquet_files.c: files that pyarrow, DuckDB, Polars and fastparquet have written hold what
 * pyarrow reads in them: read from the start and from each row on, with no more memory than is needed, and with none,
 * from files; what cannot be read is refused with a sentence; and texts of pages that are lent stay what they are.
 */
#include "corpus/parquet/codec.h"
#include "parquet_files.h"

static const char *const names[] = { "plain",     "plain_2", "dictionary",   "dictionary_2_snappy",
                                     "fall_back", "delta",   "delta_2_zstd", "snappy",
                                     "gzip",      "zstd",    "lz4",          "brotli",
                                     "required",  "split",   "empty",        "duckdb_v1",
                                     "duckdb_v2", "polars",  "fastparquet",  "long",
                                     "pages" };

/* Whether the build has the library for it. */
static bool can_read(const char *name)
{
    return !(strcmp(name, "brotli") == 0 && codec_number(4)->refused) &&
           !(strcmp(name, "gzip") == 0 && codec_number(2)->refused);
}

static void check_rows(struct buffer *bytes, const char *name)
{
    struct parquet_source source = source_of(bytes);
    struct buffer all = { 0 }, rest = { 0 };
    struct parquet_file *file;
    uint64_t rows = 0;

    T_OK(parquet_open(&file, &source, text_and_id, 2, &t_err));
    for (uint64_t g = 0; g < parquet_groups(file); g++) {
        const struct parquet_group *group = parquet_group(file, g);

        T_EQ(group->first_row, rows);
        T_CHECK(group->rows == 0 ||
                (group->begin >= 4 && group->bytes > 0 && group->begin + group->bytes < bytes->size));
        rows += group->rows;
        all.size = 0;
        T_OK(read_group(&all, file, g, 0, UNLIMITED, &t_err));
        for (uint64_t row = 0; row <= group->rows; row++) {
            rest.size = 0;
            T_OK(read_group(&rest, file, g, row, (enum memory)(row % 3), &t_err));
            if (rest.size > all.size ||
                (rest.size > 0 && memcmp(all.bytes + (all.size - rest.size), rest.bytes, rest.size) != 0) ||
                (row == group->rows) != (rest.size == 0))
                T_FAIL("%s: from row %" PRIu64 " on: other values", name, row);
        }
    }
    T_EQ(rows, parquet_rows(file));
    parquet_close(file);
    buffer_free(&all);
    buffer_free(&rest);
}

static void check_file(const char *name)
{
    struct buffer bytes = load(name, ".parquet"), want = expected(name), got = { 0 };

    if (!can_read(name)) {
        T_REFUSED(read_all(&got, &bytes, UNLIMITED, &t_err), LEAT_E_UNSUPPORTED, "which this build cannot read");
    } else {
        for (int limit = UNLIMITED; limit <= MAPPED; limit++) {
            maps = got.size = 0;
            T_OK(read_all(&got, &bytes, (enum memory)limit, &t_err));
            if (!same_bytes(&got, &want))
                T_FAIL("%s: other values than expected", name);
            T_EQ(maps > 0, limit == MAPPED && want.size > 0);
        }
        check_rows(&bytes, name);
    }
    buffer_free(&bytes);
    buffer_free(&want);
    buffer_free(&got);
}

static void check_refused(struct buffer *bytes, const char *path, enum parquet_use use, enum leat_status status,
                          const char *sentence)
{
    struct parquet_source source = source_of(bytes);
    struct parquet_want want = { .path = path, .use = use };
    struct parquet_file *file;

    T_STATUS(parquet_open(&file, &source, &want, 1, &t_err), status);
    T_CHECK(!file);
    T_CONTAINS(t_err.message, sentence);
}

static void test_refused(void)
{
    struct buffer bytes = load("plain", ".parquet");

    check_refused(&bytes, "body", PARQUET_TEXT, LEAT_E_NOT_FOUND, "has no column body; its columns are text, n, id");
    check_refused(&bytes, "tex", PARQUET_TEXT, LEAT_E_NOT_FOUND, "has no column tex;");
    check_refused(&bytes, "text.a", PARQUET_TEXT, LEAT_E_NOT_FOUND, "has no column text.a;");
    check_refused(&bytes, "n", PARQUET_TEXT, LEAT_E_UNSUPPORTED, "the column n does not hold texts");
    memcpy(bytes.bytes + bytes.size - 4, "PARE", 4);
    check_refused(&bytes, "text", PARQUET_TEXT, LEAT_E_UNSUPPORTED, "is encrypted");
    memcpy(bytes.bytes + bytes.size - 4, "PAR2", 4);
    check_refused(&bytes, "text", PARQUET_TEXT, LEAT_E_TRUNCATED, "is cut off");
    bytes.size = 11;
    check_refused(&bytes, "text", PARQUET_TEXT, LEAT_E_TRUNCATED, "has 11 bytes");
    buffer_free(&bytes);
    bytes = load("described", ".parquet");
    check_refused(&bytes, "text", PARQUET_TEXT, LEAT_E_UNSUPPORTED,
                  "the column text lies in another file, since this one only describes others, as _metadata does: "
                  "pack the files that it describes");
    buffer_free(&bytes);
}

/* A column that is not there has nulls, if that is wanted. */
static void test_optional(void)
{
    struct buffer bytes = load("plain", ".parquet");
    struct parquet_source source = source_of(&bytes);
    struct parquet_want wants[2] = { text_and_id[0], { .path = "url", .use = PARQUET_ID, .optional = true } };
    struct parquet_value values[PARQUET_MAX_COLUMNS];
    struct parquet_file *file;
    struct parquet_reader *r;
    uint64_t rows = 0;
    bool found;

    T_OK(parquet_open(&file, &source, wants, 2, &t_err));
    T_OK(parquet_reader_open(&r, file, NULL, 0, 0, &t_err));
    for (;; rows++) {
        T_OK(parquet_reader_next(r, values, &found, &t_err));
        if (!found)
            break;
        T_CHECK(!values[1].bytes);
    }
    T_EQ(rows, parquet_group(file, 0)->rows);
    parquet_reader_close(r);
    parquet_close(file);
    buffer_free(&bytes);
}

/* Texts of pages that are lent stay what they are while others are read, and after the reader; what it has left counts,
 * also for its limit. */
static void test_lent(void)
{
    struct buffer bytes = load("pages", ".parquet"), want = { 0 }, got = { 0 };
    struct parquet_source source = source_of(&bytes);
    struct parquet_value values[PARQUET_MAX_COLUMNS], texts[100];
    struct parquet_loan *loans[100];
    atomic_uint_least64_t left = 0;
    struct parquet_reader *r;
    struct parquet_file *file;
    uint64_t most = 0;
    size_t rows = 0;
    bool found;

    T_OK(parquet_open(&file, &source, text_and_id, 1, &t_err));
    T_OK(parquet_reader_open(&r, file, NULL, 0, 0, &t_err));
    T_OK(parquet_reader_next(r, values, &found, &t_err));
    T_CHECK(found && !parquet_reader_lend(r, 0, &values[0], 0)); /* it was not said that it lends */
    parquet_reader_lends(r, &left);
    parquet_reader_limit(r, parquet_reader_memory(r), false);
    T_CHECK(!parquet_reader_lend(r, 0, &values[0], 0)); /* another page would be too much */
    parquet_reader_limit(r, UINT64_MAX, false);
    T_CHECK(!parquet_reader_lend(r, 0, &values[0], SIZE_MAX));
    for (; found && rows < 100; rows++) {
        loans[rows] = values[0].bytes ? parquet_reader_lend(r, 0, &values[0], 0) : NULL;
        T_CHECK(!values[0].bytes || loans[rows]);
        texts[rows] = values[0];
        add_value(&want, values[0].bytes, values[0].size);
        T_OK(parquet_reader_next(r, values, &found, &t_err));
        most = left > most ? left : most;
    }
    T_CHECK(!found && most > 0);
    parquet_reader_close(r);
    for (size_t row = 0; row < rows; row++) {
        add_value(&got, texts[row].bytes, texts[row].size);
        parquet_loan_release(loans[row]);
    }
    T_CHECK(same_bytes(&want, &got));
    T_EQ(left, 0);
    parquet_close(file);
    buffer_free(&bytes);
    buffer_free(&want);
    buffer_free(&got);
}

/* The places of row groups count as memory; so a file with very many is refused before they take any. */
static void test_memory(void)
{
    struct buffer bytes = load("many", ".parquet");
    struct parquet_source source = source_of(&bytes);
    struct parquet_file *file;
    uint64_t needs = 0;

    source.needs = &needs;
    source.most = 100;
    T_STATUS(parquet_open(&file, &source, text_and_id, 2, &t_err), LEAT_E_NO_MEMORY);
    T_CHECK(!file && needs > 100);
    T_CONTAINS(t_err.message, "row groups need");
    source.most = needs;
    T_OK(parquet_open(&file, &source, text_and_id, 2, &t_err));
    parquet_close(file);
    source.most = needs - 1;
    T_STATUS(parquet_open(&file, &source, text_and_id, 2, &t_err), LEAT_E_NO_MEMORY);
    buffer_free(&bytes);
}

int main(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_file(names[i]);
    test_refused();
    test_optional();
    test_memory();
    test_lent();
    return t_end();
}
