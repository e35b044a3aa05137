/*
 * parquet_dump.c: what check_parquet.py compares with pyarrow. Writes the rows of Parquet files to the standard output:
 *
 *     parquet_dump [-j] [-r] [-m BYTES] TEXT ID FILE...
 *
 * TEXT and ID name the columns; ID "-" is none. For each file: a byte that is 0, the number of rows (8 bytes), and each
 * row's text and id as a length of four bytes (little-endian; -1: null) and the bytes; or a byte that is the status,
 * and the error as a length and text. With -r each row is read by a reader of its own, opened at that row, with -m with
 * at most so much memory, with -j the text's column is given as JSON.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/file.h"
#include "corpus/parquet/parquet.h"

static bool by_rows;
static uint64_t max_bytes = UINT64_MAX;

struct place {
    int fd;
    const char *path;
};

static enum leat_status read_place(void *context, uint64_t offset, void *out, uint64_t count, struct leat_error *err)
{
    const struct place *p = context;

    return file_read_at(p->fd, offset, out, count, p->path, err);
}

static void put(struct buffer *out, const void *bytes, size_t count)
{
    if (buffer_append(out, bytes, count, NULL) != LEAT_OK)
        exit(1);
}

static void put_value(struct buffer *out, struct parquet_value v)
{
    uint32_t size = bytes_le32(v.bytes ? (uint32_t)v.size : UINT32_MAX);

    put(out, &size, sizeof size);
    put(out, v.bytes, v.bytes ? v.size : 0);
}

/* The rows from `row` of a group on: one or all. */
static enum leat_status dump_rows(struct buffer *out, const struct parquet_file *file, uint64_t group, uint64_t row,
                                  struct leat_error *err)
{
    struct parquet_value values[PARQUET_MAX_COLUMNS] = { { NULL, 0 } };
    struct parquet_reader *r;
    bool found = true;
    enum leat_status s = parquet_reader_open(&r, file, NULL, group, row, err);

    if (s == LEAT_OK)
        parquet_reader_limit(r, max_bytes, false);
    while (s == LEAT_OK && found) {
        s = parquet_reader_next(r, values, &found, err);
        if (s == LEAT_OK && found) {
            put_value(out, values[0]);
            put_value(out, values[1]);
        }
        if (by_rows)
            break;
    }
    parquet_reader_close(r);
    return s;
}

static enum leat_status dump_file(struct buffer *out, const struct parquet_source *source,
                                  const struct parquet_want wants[2], unsigned count, struct leat_error *err)
{
    struct parquet_file *file;
    enum leat_status s = parquet_open(&file, source, wants, count, err);
    uint64_t rows;

    if (s != LEAT_OK)
        return s;
    rows = bytes_le64(parquet_rows(file));
    put(out, "", 1);
    put(out, &rows, sizeof rows);
    for (uint64_t g = 0; g < parquet_groups(file) && s == LEAT_OK; g++)
        for (uint64_t row = 0; row < (by_rows ? parquet_group(file, g)->rows : 1) && s == LEAT_OK; row++)
            s = dump_rows(out, file, g, row, err);
    parquet_close(file);
    return s;
}

static void dump(const char *path, const struct parquet_want wants[2], unsigned count)
{
    struct place p = { .path = path };
    struct parquet_source source = { .read = read_place, .context = &p, .name = path };
    struct buffer out = { 0 };
    struct leat_error err = { 0 };
    enum leat_status s = file_open_read(&p.fd, &source.size, path, &err);

    if (s == LEAT_OK)
        s = dump_file(&out, &source, wants, count, &err);
    if (s != LEAT_OK) {
        uint8_t code = (uint8_t)s;

        out.size = 0;
        put(&out, &code, 1);
        put_value(&out, (struct parquet_value) { (const uint8_t *)err.message, strlen(err.message) });
    }
    fwrite(out.bytes, 1, out.size, stdout);
    buffer_free(&out);
    file_close(&p.fd);
}

int main(int argc, char **argv)
{
    struct parquet_want wants[2] = { { .use = PARQUET_TEXT }, { .use = PARQUET_ID } };
    int c;

    while ((c = getopt(argc, argv, "jrm:")) != -1)
        if (c == 'j')
            wants[0].use = PARQUET_JSON;
        else if (c == 'r')
            by_rows = true;
        else if (c == 'm')
            max_bytes = strtoull(optarg, NULL, 0);
        else
            return 2;
    if (argc - optind < 3)
        return 2;
    wants[0].path = argv[optind++];
    wants[1].path = argv[optind++];
    for (; optind < argc; optind++)
        dump(argv[optind], wants, strcmp(wants[1].path, "-") == 0 ? 1 : 2);
    return fflush(stdout) == 0 ? 0 : 1;
}
