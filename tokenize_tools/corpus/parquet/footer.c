/* footer.c: reads the footer, twice, through a window. */
#include "footer.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file_kind.h"
#include "base/status.h"

/* ---- Row groups -------------------------------------------------------------------------------------------------- */

/* Field numbers are those of parquet.thrift. */

/* Bytes of the shortest row group: three fields with a byte of type and at least one of value, and the end. */
#define MIN_GROUP 7u

/* The metadata of a column in a row group. */
struct chunk_meta {
    uint64_t type, codec, values, bytes;
    uint64_t first, data; /* places of the first page, and of the first page with data */
    bool has_meta, elsewhere, encrypted;
};

static void read_meta(struct thrift *t, struct thrift_field f, struct chunk_meta *m)
{
    struct thrift_field part = { 0 };

    if (!thrift_struct(t, f))
        return;
    m->has_meta = true;
    while (thrift_next(t, &part))
        switch (part.id) {
        case 1:
            m->type = thrift_count(t, part);
            break;
        case 4:
            m->codec = thrift_count(t, part);
            break;
        case 5:
            m->values = thrift_count(t, part);
            break;
        case 7:
            m->bytes = thrift_count(t, part);
            break;
        case 9:
            m->data = thrift_count(t, part);
            break;
        case 11: /* the dictionary's */
            m->first = thrift_count(t, part);
            break;
        default:
            thrift_skip(t, part);
        }
    thrift_need(t, part, 1u << 1 | 1u << 4 | 1u << 5 | 1u << 7 | 1u << 9);
    if (m->first == 0 || m->first > m->data) /* some writers put 0 if there is no dictionary */
        m->first = m->data;
}

static void read_chunk(struct thrift *t, struct chunk_meta *m)
{
    struct thrift_field f = { 0 };

    *m = (struct chunk_meta) { 0 };
    while (thrift_next(t, &f))
        switch (f.id) {
        case 1:
            m->elsewhere = thrift_bytes(t, f, NULL, 0) > 0;
            break;
        case 3:
            read_meta(t, f, m);
            break;
        case 8:
            m->encrypted = true;
            thrift_skip(t, f);
            break;
        default:
            thrift_skip(t, f);
        }
}

/* Widens the stretch of the file that a group takes. */
static void stretch(struct parquet_group *g, const struct chunk_meta *m, uint64_t data_end)
{
    uint64_t begin = m->first, end = begin + m->bytes, old = g->begin + g->bytes;

    if (m->bytes == 0 || !bytes_inside(begin, m->bytes, data_end))
        return;
    if (g->bytes > 0) {
        begin = begin < g->begin ? begin : g->begin;
        end = end > old ? end : old;
    }
    g->begin = begin;
    g->bytes = end - begin;
}

/* Finds the wanted columns among those of a group. */
static void read_columns(struct thrift *t, struct thrift_field f, const struct parquet_file *file, uint64_t leaves,
                         struct parquet_group *g, struct chunk_meta found[SCHEMA_MAX_COLUMNS])
{
    uint64_t count = thrift_list(t, f, THRIFT_STRUCT);
    struct chunk_meta m;

    if (count != leaves)
        thrift_broken(t, "a row group has more or fewer columns than the file");
    for (uint64_t i = 0; i < count && t->status == LEAT_OK; i++) {
        read_chunk(t, &m);
        stretch(g, &m, file->data_end);
        for (unsigned c = 0; c < file->count; c++)
            if (file->columns[c].exists && file->columns[c].number == i)
                found[c] = m;
    }
}

/* Returns why the pages of a column cannot be read, or NULL if they can. */
static const char *refusal(const struct chunk_meta *m, const struct codec *codec)
{
    if (m->encrypted || !m->has_meta)
        return "is encrypted, which leat does not read; decrypt it first";
    if (m->elsewhere)
        return "lies in another file, since this one only describes others, as _metadata does: pack the files that it "
               "describes";
    return codec ? codec->refused : "is compressed with an unknown codec";
}

static void add_chunk(struct thrift *t, struct parquet_file *file, const struct parquet_column *c, uint64_t rows,
                      const struct chunk_meta *m)
{
    struct parquet_chunk chunk = {
        .offset = m->first, .bytes = m->bytes, .values = m->values, .codec = codec_number(m->codec)
    };
    const char *why = c->exists ? refusal(m, chunk.codec) : NULL;

    if (t->status != LEAT_OK)
        return;
    if (why)
        t->status = status_field(t->err,
                                 status_set_in(t->err, LEAT_E_UNSUPPORTED, file->source.name, "%s: the column %s %s",
                                               file->source.name, c->path, why),
                                 c->path);
    else if (c->exists && m->type != (uint64_t)c->type)
        thrift_broken(t, "a column has another type than its pages");
    else if (c->exists && (c->max_repetition > 0 ? m->values < rows : m->values != rows))
        thrift_broken(t, "a column has more or fewer values than its row group has rows");
    else if (c->exists && rows > 0 && (chunk.offset == 0 || chunk.offset >= file->data_end))
        thrift_broken(t, "pages lie outside of the file");
    else
        t->status = buffer_append(&file->chunks, &chunk, sizeof chunk, t->err);
}

static void read_group(struct thrift *t, struct parquet_file *file, uint64_t leaves, uint64_t *rows)
{
    struct chunk_meta found[SCHEMA_MAX_COLUMNS] = { 0 };
    struct parquet_group g = { .first_row = *rows };
    struct thrift_field f = { 0 };

    while (thrift_next(t, &f))
        if (f.id == 1)
            read_columns(t, f, file, leaves, &g, found);
        else if (f.id == 3)
            g.rows = thrift_count(t, f);
        else
            thrift_skip(t, f);
    thrift_need(t, f, 1u << 1 | 1u << 3);
    if (!bytes_add(*rows, g.rows, rows))
        thrift_broken(t, "its row groups have too many rows");
    for (unsigned c = 0; c < file->count; c++)
        add_chunk(t, file, &file->columns[c], g.rows, &found[c]);
    if (t->status == LEAT_OK)
        t->status = buffer_append(&file->groups, &g, sizeof g, t->err);
}

/* Gets the memory for `count` groups at once, if it is allowed. */
static void make_room(struct thrift *t, struct parquet_file *file, uint64_t count)
{
    uint64_t groups = count * sizeof(struct parquet_group), chunks = count * file->count * sizeof(struct parquet_chunk);
    uint64_t needs = sizeof *file + groups + chunks;

    if (t->status == LEAT_OK && count > (t->window->end - t->at) / MIN_GROUP)
        thrift_broken(t, "it lists more row groups than it has bytes for");
    if (t->status != LEAT_OK)
        return;
    if (file->source.needs)
        *file->source.needs = needs;
    if (file->source.most > 0 && needs > file->source.most)
        t->status = status_set_in(t->err, LEAT_E_NO_MEMORY, file->source.name,
                                  "%s: its %llu row groups need %llu bytes of memory", file->source.name,
                                  (unsigned long long)count, (unsigned long long)needs);
    if (t->status == LEAT_OK)
        t->status = buffer_reserve(&file->groups, (size_t)groups, t->err);
    if (t->status == LEAT_OK)
        t->status = buffer_reserve(&file->chunks, (size_t)chunks, t->err);
}

/* Reads the row groups, the value of field `f`, of a file with `leaves` columns, and adds them to the file's. *rows
 * gets the rows of all. */
static enum leat_status groups_read(struct thrift *t, struct thrift_field f, struct parquet_file *file, uint64_t leaves,
                                    uint64_t *rows)
{
    uint64_t count = thrift_list(t, f, THRIFT_STRUCT);

    make_room(t, file, count);
    for (; count > 0 && t->status == LEAT_OK; count--)
        read_group(t, file, leaves, rows);
    return t->status;
}

/* ---- The whole footer -------------------------------------------------------------------------------------------- */

#define MAGIC_BYTES 4u
#define END_BYTES   8u /* bytes of the footer's length, and the magic number at the end */

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

bool parquet_is_number(const struct parquet_file *file, unsigned want)
{
    enum parquet_form form = file->columns[want].form;

    return form == PARQUET_SIGNED || form == PARQUET_UNSIGNED || form == PARQUET_DECIMAL || form == PARQUET_EXACT;
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
    for (unsigned n = 0; n < file->nested_count; n++)
        for (unsigned i = 0; i < file->nested[n].count; i++)
            free(file->nested[n].nodes[i].name);
    buffer_free(&file->groups);
    buffer_free(&file->chunks);
    free(file);
}

/* Finds the footer: from data_end up to END_BYTES before the end of the file. */
static enum leat_status find_footer(struct parquet_file *file, struct leat_error *err)
{
    const struct parquet_source *from = &file->source;
    uint8_t head[64], end[END_BYTES]; /* room for magic numbers of other kinds, which are longer */
    size_t seen = from->size < sizeof head ? (size_t)from->size : sizeof head;
    const struct file_kind *kind;
    enum leat_status s;
    uint64_t bytes;

    if (from->size < MAGIC_BYTES + END_BYTES)
        return status_set_in(err, LEAT_E_TRUNCATED, from->name, "%s has %llu bytes: it is no Parquet file, or cut off",
                             from->name, (unsigned long long)from->size);
    s = from->read(from->context, 0, head, seen, err);
    if (s == LEAT_OK)
        s = from->read(from->context, from->size - END_BYTES, end, sizeof end, err);
    if (s != LEAT_OK)
        return s;
    if (memcmp(end + 4, "PARE", MAGIC_BYTES) == 0)
        return status_set_in(err, LEAT_E_UNSUPPORTED, from->name,
                             "%s is encrypted, which leat does not read; decrypt it first", from->name);
    kind = file_kind_of_bytes(head, seen);
    if (kind && kind->what == FILE_COMPRESSED)
        return status_set_in(err, LEAT_E_UNSUPPORTED, from->name, "%s is %s, and no Parquet file: decompress it first",
                             from->name, kind->name);
    if (kind && kind->what == FILE_CORPUS)
        return status_set_in(err, LEAT_E_UNSUPPORTED, from->name, "%s is %s, and no Parquet file: %s", from->name,
                             kind->name, kind->cure);
    if (memcmp(head, "PAR1", MAGIC_BYTES) != 0)
        return status_set_in(err, LEAT_E_UNSUPPORTED, from->name, "%s is no Parquet file: it does not begin with PAR1",
                             from->name);
    if (memcmp(end + 4, "PAR1", MAGIC_BYTES) != 0)
        return status_set_in(err, LEAT_E_TRUNCATED, from->name, "%s is cut off: it does not end with PAR1", from->name);
    bytes = bytes_load32(end);
    if (bytes > from->size - MAGIC_BYTES - END_BYTES)
        return status_set_in(err, LEAT_E_TEXT, from->name,
                             "%s is broken: its footer has %llu bytes, and the file only %llu", from->name,
                             (unsigned long long)bytes, (unsigned long long)from->size);
    file->data_end = from->size - END_BYTES - bytes;
    return LEAT_OK;
}

/* ---- Two ways through the footer ---- */

static void begin_footer(struct thrift *t, const struct parquet_file *file, struct window *w, struct leat_error *err)
{
    memset(w, 0, sizeof *w);
    w->source = &file->source;
    w->end = file->source.size - END_BYTES;
    *t = (struct thrift) { .window = w, .at = file->data_end, .what = "the footer", .err = err };
}

/* Reads the schema. *leaves gets how many columns the file has. */
static enum leat_status read_schema(struct parquet_file *file, struct thrift *t, const struct parquet_want *wants,
                                    uint64_t *leaves)
{
    struct thrift_field f = { 0 };

    while (thrift_next(t, &f))
        if (f.id == 2)
            schema_read(
                t, f, wants, file->wants,
                &(struct schema_found) { file->columns, &file->count, file->nested, &file->nested_count, leaves });
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

static enum leat_status read_footer(struct parquet_file *file, const struct parquet_want *wants, struct leat_error *err)
{
    struct window *w = malloc(sizeof *w);
    uint64_t leaves = 0;
    struct thrift t;
    enum leat_status s;

    if (!w)
        return status_no_memory(err, sizeof *w);
    begin_footer(&t, file, w, err);
    s = read_schema(file, &t, wants, &leaves);
    if (s == LEAT_OK) {
        begin_footer(&t, file, w, err);
        s = read_groups(file, &t, leaves);
    }
    free(w);
    return s;
}

enum leat_status parquet_open(struct parquet_file **out, const struct parquet_source *source,
                              const struct parquet_want *wants, unsigned count, struct leat_error *err)
{
    struct parquet_file *file = calloc(1, sizeof *file);
    enum leat_status s = LEAT_OK;

    *out = NULL;
    if (!file)
        return status_no_memory(err, sizeof *file);
    file->source = *source;
    file->wants = count;
    for (; file->count < count && s == LEAT_OK; file->count++) {
        file->columns[file->count].path = strdup(wants[file->count].path);
        if (!file->columns[file->count].path)
            s = status_no_memory(err, strlen(wants[file->count].path));
    }
    if (s == LEAT_OK)
        s = find_footer(file, err);
    if (s == LEAT_OK)
        s = read_footer(file, wants, err);
    if (s != LEAT_OK) {
        parquet_close(file);
        return s;
    }
    *out = file;
    return LEAT_OK;
}
