/* footer.c: see footer.h. */
#include "footer.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file_kind.h"
#include "base/status.h"
#include "groups.h"

#define MAGIC_BYTES 4u
#define END_BYTES   8u /* the footer's length, and the magic again */

const struct parquet_group *parquet_group(const struct parquet_file *file, uint64_t group)
{
    return (const struct parquet_group *)(const void *)file->groups.bytes + group;
}

const struct parquet_chunk *parquet_chunk(const struct parquet_file *file, uint64_t group, unsigned column)
{
    return (const struct parquet_chunk *)(const void *)file->chunks.bytes + group * file->count + column;
}

uint64_t parquet_groups(const struct parquet_file *file)
{
    return file->groups.size / sizeof(struct parquet_group);
}

bool parquet_is_number(const struct parquet_file *file, unsigned wish)
{
    enum parquet_form form = file->columns[wish].form;

    return form == PARQUET_SIGNED || form == PARQUET_UNSIGNED || form == PARQUET_DECIMAL;
}

unsigned parquet_stretches(const struct parquet_file *file)
{
    return file->count;
}

void parquet_stretch(const struct parquet_file *file, uint64_t group, unsigned number, uint64_t *begin, uint64_t *bytes)
{
    const struct parquet_chunk *chunk = parquet_chunk(file, group, number);
    bool exists = file->columns[number].exists && bytes_inside(chunk->offset, chunk->bytes, file->data_end);

    *begin = exists ? chunk->offset : 0;
    *bytes = exists ? chunk->bytes : 0;
}

uint64_t parquet_rows(const struct parquet_file *file)
{
    return file->rows;
}

uint64_t parquet_memory(const struct parquet_file *file)
{
    return sizeof *file + file->groups.room + file->chunks.room;
}

void parquet_close(struct parquet_file *file)
{
    if (!file)
        return;
    for (unsigned i = 0; i < file->count; i++)
        free(file->columns[i].path);
    for (unsigned i = 0; i < file->nested.count; i++)
        free(file->nested.nodes[i].name);
    buffer_free(&file->groups);
    buffer_free(&file->chunks);
    free(file);
}

/* Finds the footer: from data_end up to END_BYTES before the end of the file. */
static enum leat_status find_footer(struct parquet_file *file, struct leat_error *err)
{
    const struct parquet_source *from = &file->source;
    uint8_t head[MAGIC_BYTES + END_BYTES], end[END_BYTES]; /* magic numbers of other kinds are longer */
    const struct file_kind *kind;
    enum leat_status s;
    uint64_t bytes;

    if (from->size < MAGIC_BYTES + END_BYTES)
        return status_set(err, LEAT_E_TRUNCATED, "%s has %llu bytes: it is no Parquet file, or cut off", from->name,
                          (unsigned long long)from->size);
    s = from->read(from->context, 0, head, sizeof head, err);
    if (s == LEAT_OK)
        s = from->read(from->context, from->size - END_BYTES, end, sizeof end, err);
    if (s != LEAT_OK)
        return s;
    if (memcmp(end + 4, "PARE", MAGIC_BYTES) == 0)
        return status_set(err, LEAT_E_UNSUPPORTED, "%s is encrypted, which leat does not read; decrypt it first",
                          from->name);
    kind = file_kind_of_bytes(head, sizeof head);
    if (kind && kind->what == FILE_COMPRESSED)
        return status_set(err, LEAT_E_UNSUPPORTED, "%s is %s, and no Parquet file: decompress it first", from->name,
                          kind->name);
    if (memcmp(head, "PAR1", MAGIC_BYTES) != 0)
        return status_set(err, LEAT_E_UNSUPPORTED, "%s is no Parquet file: it does not begin with PAR1", from->name);
    if (memcmp(end + 4, "PAR1", MAGIC_BYTES) != 0)
        return status_set(err, LEAT_E_TRUNCATED, "%s is cut off: it does not end with PAR1", from->name);
    bytes = bytes_load32(end);
    if (bytes > from->size - MAGIC_BYTES - END_BYTES)
        return status_set(err, LEAT_E_TEXT, "%s is broken: its footer has %llu bytes, and the file only %llu",
                          from->name, (unsigned long long)bytes, (unsigned long long)from->size);
    file->data_end = from->size - END_BYTES - bytes;
    return LEAT_OK;
}

/* ---- Two ways through the footer ---- */

static void begin(struct thrift *t, const struct parquet_file *file, struct window *w, struct leat_error *err)
{
    memset(w, 0, sizeof *w);
    w->source = &file->source;
    w->end = file->source.size - END_BYTES;
    *t = (struct thrift) { .window = w, .at = file->data_end, .what = "the footer", .err = err };
}

/* Reads the schema; *leaves: how many columns the file has. */
static enum leat_status read_schema(struct parquet_file *file, struct thrift *t, const struct parquet_wish *wishes,
                                    uint64_t *leaves)
{
    struct thrift_field f = { 0 };

    while (thrift_next(t, &f))
        if (f.id == 2)
            schema_read(t, f, wishes, file->wishes, file->columns, &file->count, &file->nested, leaves);
        else if (f.id == 3)
            file->rows = thrift_count(t, f);
        else
            thrift_skip(t, f);
    thrift_need(t, f, 1u << 2 | 1u << 3 | 1u << 4);
    return t->status;
}

static enum leat_status read_groups(struct parquet_file *file, struct thrift *t, uint64_t leaves)
{
    struct thrift_field f = { 0 };
    uint64_t rows = 0;

    while (thrift_next(t, &f))
        if (f.id == 4)
            groups_read(t, f, file, leaves, &rows);
        else
            thrift_skip(t, f);
    return rows == file->rows ? t->status : thrift_broken(t, "its row groups have more or fewer rows than it says");
}

static enum leat_status read_footer(struct parquet_file *file, const struct parquet_wish *wishes,
                                    struct leat_error *err)
{
    struct window *w = malloc(sizeof *w);
    uint64_t leaves = 0;
    struct thrift t;
    enum leat_status s;

    if (!w)
        return status_no_memory(err, sizeof *w);
    begin(&t, file, w, err);
    s = read_schema(file, &t, wishes, &leaves);
    if (s == LEAT_OK) {
        begin(&t, file, w, err);
        s = read_groups(file, &t, leaves);
    }
    free(w);
    return s;
}

enum leat_status parquet_open(struct parquet_file **out, const struct parquet_source *source,
                              const struct parquet_wish *wishes, unsigned count, struct leat_error *err)
{
    struct parquet_file *file = calloc(1, sizeof *file);
    enum leat_status s = LEAT_OK;

    *out = NULL;
    if (!file)
        return status_no_memory(err, sizeof *file);
    file->source = *source;
    file->wishes = count;
    for (; file->count < count && s == LEAT_OK; file->count++) {
        file->columns[file->count].path = strdup(wishes[file->count].path);
        if (!file->columns[file->count].path)
            s = status_no_memory(err, strlen(wishes[file->count].path));
    }
    if (s == LEAT_OK)
        s = find_footer(file, err);
    if (s == LEAT_OK)
        s = read_footer(file, wishes, err);
    if (s != LEAT_OK) {
        parquet_close(file);
        return s;
    }
    *out = file;
    return LEAT_OK;
}
