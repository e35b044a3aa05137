/* groups.c: see groups.h. The numbers are those of parquet.thrift. */
#include "groups.h"

#include "base/bytes.h"
#include "base/status.h"

/* Bytes of the shortest row group: three fields with a byte of type and at least one of value, and the end. */
#define MIN_GROUP 7u

/* What is said of a column in a row group. */
struct chunk_meta {
    uint64_t type, codec, values, bytes;
    uint64_t first, data; /* where the first page begins, and the first one with data */
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
    if (m->first == 0 || m->first > m->data) /* some writers say 0 where there is no dictionary */
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

/* Widens the stretch that a group takes. */
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

/* Finds the wished columns among those of a group. */
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

/* Why the pages of a column cannot be read; NULL: they can. */
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
        t->status = status_set(t->err, LEAT_E_UNSUPPORTED, "%s: the column %s %s", file->source.name, c->path, why);
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

/* Gets the memory for so many groups at once, if it is allowed. */
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
        t->status = status_set(t->err, LEAT_E_NO_MEMORY, "%s: its %llu row groups need %llu bytes of memory",
                               file->source.name, (unsigned long long)count, (unsigned long long)needs);
    if (t->status == LEAT_OK)
        t->status = buffer_reserve(&file->groups, (size_t)groups, t->err);
    if (t->status == LEAT_OK)
        t->status = buffer_reserve(&file->chunks, (size_t)chunks, t->err);
}

enum leat_status groups_read(struct thrift *t, struct thrift_field f, struct parquet_file *file, uint64_t leaves,
                             uint64_t *rows)
{
    uint64_t count = thrift_list(t, f, THRIFT_STRUCT);

    make_room(t, file, count);
    for (; count > 0 && t->status == LEAT_OK; count--)
        read_group(t, file, leaves, rows);
    return t->status;
}
