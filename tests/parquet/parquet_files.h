/* parquet_files.h: a Parquet file in memory, for tests: read as a source, with what it should hold beside it. */
#ifndef LEAT_TESTS_PARQUET_FILES_H
#define LEAT_TESTS_PARQUET_FILES_H

#include <sys/mman.h>

#include "base/buffer.h"
#include "corpus/parquet/parquet.h"
#include "corpus/record/record.h"
#include "t.h"

#define FILES "tests/parquet/files"

static const struct parquet_want text_and_id[2] = { { .path = "text", .use = PARQUET_TEXT },
                                                    { .path = "id", .use = PARQUET_ID } };

static inline enum leat_status read_memory(void *context, uint64_t offset, void *out, uint64_t count,
                                           struct leat_error *err)
{
    const struct buffer *file = context;

    (void)err;
    if (offset > file->size || count > file->size - offset) {
        T_FAIL("bytes from %" PRIu64 " on are read, of %zu", offset, file->size);
        exit(1);
    }
    memcpy(out, file->bytes + offset, count);
    return LEAT_OK;
}

/* How often memory was mapped, in place of that of files. */
static unsigned maps;

static inline enum leat_status map_memory(const char *beside, size_t size, void **memory, struct leat_error *err)
{
    (void)err;
    T_CHECK(strcmp(beside, "here") == 0);
    *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    T_CHECK(*memory != MAP_FAILED);
    maps++;
    return LEAT_OK;
}

static inline struct parquet_source source_of(struct buffer *file)
{
    return (struct parquet_source) {
        .read = read_memory, .context = file, .size = file->size, .name = "memory", .map = map_memory, .beside = "here"
    };
}

/* How much memory a reader gets: no limit; as it is needed, no more; none, so that all pages are mapped. */
enum memory { UNLIMITED, AS_NEEDED, MAPPED };

static inline struct buffer load(const char *name, const char *suffix)
{
    struct buffer all = { 0 };
    FILE *f;
    int c;

    f = fopen(t_text(FILES "/%s%s", name, suffix), "rb");
    T_CHECK(f);
    while (f && (c = getc(f)) != EOF) {
        uint8_t byte = (uint8_t)c;

        T_OK(buffer_append(&all, &byte, 1, &t_err));
    }
    if (f)
        fclose(f);
    return all;
}

/* Adds a value: its length, or -1 for null, and its bytes. */
static inline void add_value(struct buffer *to, const void *bytes, size_t size)
{
    uint64_t length = bytes ? size : UINT64_MAX;

    T_OK(buffer_append(to, &length, sizeof length, &t_err));
    T_OK(buffer_append(to, bytes, bytes ? size : 0, &t_err));
}

/* What is added of a row. */
typedef void put_row(struct buffer *to, const struct parquet_value *values);

/* All rows of an opened group from a row on. */
static inline enum leat_status read_rows(struct buffer *to, put_row *put, const struct parquet_file *file,
                                         uint64_t group, uint64_t row, enum memory limit, struct leat_error *err)
{
    struct parquet_value values[PARQUET_MAX_COLUMNS];
    struct parquet_reader *r;
    bool found = true;
    enum leat_status s = parquet_reader_open(&r, file, NULL, group, row, err);

    if (s == LEAT_OK && limit)
        parquet_reader_limit(r, 0, limit == MAPPED);
    while (s == LEAT_OK && found) {
        s = parquet_reader_next(r, values, &found, err);
        if (s == LEAT_E_NO_MEMORY && limit == AS_NEEDED && parquet_reader_outgrew(r)) {
            T_CHECK(parquet_reader_needs(r) > parquet_reader_memory(r));
            parquet_reader_limit(r, parquet_reader_needs(r), false);
            found = true;
            s = LEAT_OK;
        } else if (s == LEAT_OK && found) {
            T_CHECK(!limit || parquet_reader_memory(r) <= parquet_reader_needs(r));
            put(to, values);
        }
    }
    parquet_reader_close(r);
    return s;
}

static inline void put_text_and_id(struct buffer *to, const struct parquet_value *values)
{
    add_value(to, values[0].bytes, values[0].size);
    add_value(to, values[1].bytes, values[1].size);
}

/* All texts and ids of an opened group from a row on. */
static inline enum leat_status read_group(struct buffer *to, const struct parquet_file *file, uint64_t group,
                                          uint64_t row, enum memory limit, struct leat_error *err)
{
    return read_rows(to, put_text_and_id, file, group, row, limit, err);
}

static inline enum leat_status read_all(struct buffer *to, struct buffer *bytes, enum memory limit,
                                        struct leat_error *err)
{
    struct parquet_source source = source_of(bytes);
    struct parquet_file *file;
    enum leat_status s = parquet_open(&file, &source, text_and_id, 2, err);

    for (uint64_t g = 0; s == LEAT_OK && g < parquet_groups(file); g++)
        s = read_group(to, file, g, 0, limit, err);
    parquet_close(file);
    return s;
}

/* What the JSON lines beside the file say; a text that is null is a member "null". */
static inline struct buffer expected(const char *name)
{
    struct buffer lines = load(name, ".jsonl"), all = { 0 };
    static const struct record_want wants[] = {
        { .path = "text", .use = RECORD_TEXT },
        { .path = "id", .use = RECORD_ID },
        { .path = "null", .use = RECORD_EXISTS },
    };
    struct record_fields fields = { 0 };
    struct record record;
    uint32_t is_null;

    T_OK(record_want(&fields, &wants[0], &fields.text, &t_err));
    T_OK(record_want(&fields, &wants[1], &fields.id, &t_err));
    T_OK(record_want(&fields, &wants[2], &is_null, &t_err));
    T_OK(record_make(&record, &fields, &t_err));
    for (size_t at = 0, end, bytes; at < lines.size; at = end + 1) {
        const char *line = (char *)lines.bytes + at, *id;

        end = (size_t)((uint8_t *)memchr(line, '\n', lines.size - at) - lines.bytes);
        T_OK(record_read(&record, line, end - at, &t_err));
        if (record_check(&record, &t_err) == LEAT_OK) {
            const char *text = record_take_text(&record, &bytes);

            add_value(&all, text, bytes);
        } else {
            T_CHECK(record_value(&record, is_null)->kind != JSON_KIND_NONE);
            add_value(&all, NULL, 0);
        }
        id = record_take_id(&record, &bytes);
        add_value(&all, id, bytes);
    }
    record_free(&record);
    record_fields_free(&fields);
    buffer_free(&lines);
    return all;
}

static inline bool same_bytes(const struct buffer *a, const struct buffer *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

#endif
