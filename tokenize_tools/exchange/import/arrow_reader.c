/*
 * arrow_reader.c: see arrow_reader.h. A message is u32 0xffffffff, i32 size of its metadata (0: the stream's end), the
 * metadata, its body. A stream is a schema, then batches. A file is "ARROW1", a stream, and a footer that says where
 * batches are: footer, i32 its size, "ARROW1".
 */
#include "arrow_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#define MAGIC        "ARROW1"
#define MAGIC_BYTES  6u
#define BLOCK_BYTES  24u
#define SCHEMA       1u /* kinds of messages */
#define DICTIONARY   2u
#define RECORD_BATCH 3u

/* ---- Messages ---- */

struct message {
    uint8_t *metadata; /* owned */
    struct flat flat;
    uint64_t kind, table;     /* of what it holds */
    uint64_t body, body_size; /* in the file */
    bool last;                /* there is no message any more */
};

static enum leat_status read_message(struct arrow_reader *r, uint64_t at, struct message *m, struct leat_error *err)
{
    struct import_bytes *b = &r->ids;
    uint64_t size, root;
    uint8_t head[8];
    enum leat_status s = LEAT_OK;

    *m = (struct message) { 0 };
    if (!bytes_inside(at, sizeof head, r->end))
        return status_set_at(err, LEAT_E_TRUNCATED, at,
                             "%s ends without the mark of an Arrow stream's end: it is cut, or was not finished; write "
                             "it again",
                             b->path);
    s = import_bytes_read(b, at, head, sizeof head, err);
    if (s != LEAT_OK)
        return s;
    size = bytes_load32(head + 4);
    if (bytes_load32(head) != UINT32_MAX)
        return arrow_damaged(b, at, "it has no mark (Arrow before 0.15 wrote none: write the file again)", err);
    m->last = size == 0;
    if (m->last)
        return LEAT_OK;
    if (!bytes_inside(at + 8, size, r->end))
        return arrow_damaged(b, at, "the file ends before it does", err);
    m->metadata = malloc(size);
    s = m->metadata ? import_bytes_read(b, at + 8, m->metadata, size, err) : status_no_memory(err, size);
    if (s != LEAT_OK)
        return s;
    m->flat = (struct flat) { .bytes = m->metadata, .size = size };
    root = flat_root(&m->flat);
    m->kind = flat_number(&m->flat, root, 1, 1);
    m->table = flat_table(&m->flat, root, 2);
    m->body = at + 8 + size;
    m->body_size = flat_number(&m->flat, root, 3, 8);
    if (m->flat.bad || m->table == 0)
        return arrow_damaged(b, at, "its metadata lead out of it", err);
    if (!bytes_inside(m->body, m->body_size, r->end))
        return arrow_damaged(b, at, "the file ends before it does", err);
    return LEAT_OK;
}

/* Nothing may follow the end mark, in a file but the footer: it would be lost without a word. */
static enum leat_status check_end(struct arrow_reader *r, uint64_t at, struct leat_error *err)
{
    uint8_t mark[8] = { 0 };
    enum leat_status s = LEAT_OK;

    if (bytes_inside(at, sizeof mark, r->end))
        s = import_bytes_read(&r->ids, at, mark, sizeof mark, err);
    at += sizeof mark;
    if (s != LEAT_OK || bytes_load64(mark) != UINT32_MAX || at == r->end)
        return s;
    return status_set_at(err, LEAT_E_UNSUPPORTED, at,
                         "%s: the Arrow data end at byte %llu, and %llu bytes follow; if it is several streams or "
                         "files in one, import them as files of their own, else restore the file from its source",
                         r->ids.path, (ull)at, (ull)(r->end - at));
}

/* Nor may a batch follow the last one that the footer of a file lists, or be there when it lists none. */
static enum leat_status check_listed(struct arrow_reader *r, uint64_t at, struct leat_error *err)
{
    uint8_t mark[8];
    struct message m;
    enum leat_status s = LEAT_OK;

    at += r->block_count == 0 ? sizeof mark : 0; /* the file's own mark */
    while (s == LEAT_OK && bytes_inside(at, sizeof mark, r->end)) {
        s = import_bytes_read(&r->ids, at, mark, sizeof mark, err);
        if (s == LEAT_OK && r->block_count == 0 && bytes_load64(mark) == 0) { /* some align the schema, too */
            at += sizeof mark;
            continue;
        }
        if (s != LEAT_OK || bytes_load32(mark) != UINT32_MAX || bytes_load64(mark) == UINT32_MAX)
            return s == LEAT_OK ? check_end(r, at, err) : s;
        s = read_message(r, at, &m, err);
        if (s == LEAT_OK && m.kind == RECORD_BATCH)
            s = arrow_damaged(&r->ids, at, "the footer leaves it out", err);
        at = m.body + m.body_size;
        free(m.metadata);
    }
    return s;
}

/* ---- Opening ---- */

/* Keeps where the batches of a file are. */
static enum leat_status read_blocks(struct arrow_reader *r, struct flat *f, struct leat_error *err)
{
    uint64_t blocks = flat_vector(f, flat_root(f), 3, BLOCK_BYTES, &r->block_count);

    if (f->bad)
        return arrow_damaged(&r->ids, r->end, "the footer leads out of itself", err);
    r->blocks = malloc(r->block_count * BLOCK_BYTES + 1);
    if (!r->blocks)
        return status_no_memory(err, r->block_count * BLOCK_BYTES);
    if (r->block_count > 0)
        memcpy(r->blocks, f->bytes + blocks, r->block_count * BLOCK_BYTES);
    return LEAT_OK;
}

static enum leat_status open_file(struct arrow_reader *r, struct import_source *s, struct leat_error *err)
{
    uint8_t tail[4 + MAGIC_BYTES], *footer = NULL;
    struct flat f = { 0 };
    uint64_t size;
    enum leat_status status = LEAT_OK;

    if (r->end - r->begin < 2 * sizeof tail)
        return arrow_damaged(&r->ids, r->end, "the file has no footer", err);
    status = import_bytes_read(&r->ids, r->end - sizeof tail, tail, sizeof tail, err);
    size = bytes_load32(tail);
    if (status == LEAT_OK && (memcmp(tail + 4, MAGIC, MAGIC_BYTES) != 0 || size > r->end - r->begin - sizeof tail))
        status = status_set_at(err, LEAT_E_TRUNCATED, r->end,
                               "%s begins as an Arrow file and does not end as one: it is cut, or was not finished; "
                               "write it again",
                               r->ids.path);
    if (status != LEAT_OK)
        return status;
    footer = malloc((size_t)size + 1);
    status = footer ? import_bytes_read(&r->ids, r->end - sizeof tail - size, footer, size, err)
                    : status_no_memory(err, size);
    f.bytes = footer;
    f.size = size;
    if (status == LEAT_OK)
        status = read_blocks(r, &f, err);
    r->end -= sizeof tail + size;
    if (status == LEAT_OK)
        status = arrow_schema_find(&r->column, &f, flat_table(&f, flat_root(&f), 1), s, r->ids.path, err);
    free(footer);
    return status;
}

static enum leat_status open_stream(struct arrow_reader *r, struct import_source *s, struct leat_error *err)
{
    struct message m;
    enum leat_status status = read_message(r, r->begin, &m, err);

    if (status == LEAT_OK && (m.last || m.kind != SCHEMA))
        status = arrow_damaged(&r->ids, r->begin, "a stream begins with a schema", err);
    if (status == LEAT_OK)
        status = arrow_schema_find(&r->column, &m.flat, m.table, s, r->ids.path, err);
    r->at = m.body + m.body_size;
    free(m.metadata);
    return status;
}

void arrow_reader_begin(struct arrow_reader *r)
{
    *r = (struct arrow_reader) { .lists.fd = -1, .ids.fd = -1, .plain_lists.fd = -1, .plain_ids.fd = -1 };
}

void arrow_reader_close(struct arrow_reader *r)
{
    import_bytes_close(&r->lists);
    import_bytes_close(&r->ids);
    import_bytes_close(&r->plain_lists);
    import_bytes_close(&r->plain_ids);
    free(r->blocks);
    arrow_reader_begin(r);
}

enum leat_status arrow_reader_open(struct arrow_reader *r, struct import_source *s, const char *path, uint64_t begin,
                                   uint64_t end, struct leat_error *err)
{
    uint8_t head[MAGIC_BYTES] = { 0 };
    enum leat_status status;

    arrow_reader_close(r);
    status = import_bytes_open(&r->ids, path, err);
    if (status == LEAT_OK)
        status = import_bytes_open(&r->lists, path, err);
    r->plain_ids.path = strdup(path);
    r->plain_lists.path = strdup(path);
    if (status == LEAT_OK && (!r->plain_ids.path || !r->plain_lists.path))
        status = status_no_memory(err, strlen(path));
    if (status != LEAT_OK)
        return status;
    r->begin = r->at = begin;
    r->end = end < r->ids.size ? end : r->ids.size;
    if (bytes_inside(begin, sizeof head, r->end))
        status = import_bytes_read(&r->ids, begin, head, sizeof head, err);
    if (status != LEAT_OK)
        return status;
    return memcmp(head, MAGIC, MAGIC_BYTES) == 0 ? open_file(r, s, err) : open_stream(r, s, err);
}

/* ---- Batches ---- */

/* A field node of the batch: how many elements, of which none may be null. */
static enum leat_status take_node(struct arrow_reader *r, struct message *m, uint64_t number, uint64_t *elements,
                                  struct leat_error *err)
{
    uint64_t count, nodes = flat_vector(&m->flat, m->table, 1, 16, &count);

    if (number >= count)
        return arrow_damaged(&r->ids, m->body, "it has too few columns", err);
    *elements = bytes_load64(m->flat.bytes + nodes + 16 * number);
    if (bytes_load64(m->flat.bytes + nodes + 16 * number + 8) == 0)
        return LEAT_OK;
    return status_set_at(err, LEAT_E_UNSUPPORTED, m->body,
                         "%s: the column of ids has nulls, in the batch at byte %llu; leave these rows out",
                         r->ids.path, (ull)m->body);
}

static enum leat_status take_batch(struct arrow_reader *r, struct message *m, struct leat_error *err)
{
    const struct arrow_column *c = &r->column;
    uint64_t lists = c->offset_bytes > 0 ? 1 : 0, needed = 0;
    enum leat_status s = take_node(r, m, c->node, &r->rows, err);

    if (s == LEAT_OK && r->rows != flat_number(&m->flat, m->table, 0, 8))
        s = arrow_damaged(&r->ids, m->body, "its column of ids is not as long as the batch", err);
    if (s == LEAT_OK)
        s = take_node(r, m, c->node + 1, &r->values, err);
    if (s == LEAT_OK && lists)
        s = arrow_buffer_take(&r->offsets, &m->flat, m->table, c->buffer + 1, m->body, m->body_size, &r->lists,
                              &r->plain_lists, err);
    if (s == LEAT_OK)
        s = arrow_buffer_take(&r->data, &m->flat, m->table, c->buffer + 2 + lists, m->body, m->body_size, &r->ids,
                              &r->plain_ids, err);
    if (s != LEAT_OK)
        return s;
    if (m->flat.bad || !bytes_multiply(r->values, c->dtype->bytes, &needed) || needed > r->data.count)
        return arrow_damaged(&r->ids, m->body, "its buffer of ids is too short", err);
    if (lists && r->rows > 0 && (r->rows >= UINT64_MAX / 8 || (r->rows + 1) * c->offset_bytes > r->offsets.count))
        return arrow_damaged(&r->ids, m->body, "its buffer of offsets is too short", err);
    if (!lists && (!bytes_multiply(r->rows, c->list_size, &needed) || needed > r->values))
        return arrow_damaged(&r->ids, m->body, "its lists are longer than its ids", err);
    r->row = 0;
    r->batch_at = m->body;
    return LEAT_OK;
}

/* The next batch; *any is false after the last one. */
static enum leat_status next_batch(struct arrow_reader *r, bool *any, struct leat_error *err)
{
    uint64_t at = r->at;
    struct message m;
    enum leat_status s;

    *any = false;
    r->rows = r->row = 0;
    if (r->blocks && r->block == r->block_count)
        return check_listed(r, r->at, err);
    if (r->blocks && !bytes_add(r->begin, bytes_load64(r->blocks + BLOCK_BYTES * r->block), &at))
        return arrow_damaged(&r->ids, r->end, "the footer leads out of the file", err);
    s = read_message(r, at, &m, err);
    r->block++;
    *any = s == LEAT_OK && !m.last;
    r->at = m.body + m.body_size;
    if (*any && m.kind == RECORD_BATCH)
        s = take_batch(r, &m, err);
    else if (s == LEAT_OK && r->blocks)
        s = arrow_damaged(&r->ids, at, "the footer says that it is a batch, and it is not", err);
    else if (*any && (m.kind != DICTIONARY || !r->column.dictionaries))
        s = arrow_damaged(&r->ids, at, "it is neither a batch nor a dictionary", err);
    else if (s == LEAT_OK && m.last)
        s = check_end(r, at, err);
    free(m.metadata);
    return s;
}

/* Where list `row` is among the ids, of which it has *count. */
static enum leat_status take_list(struct arrow_reader *r, uint64_t *first, uint64_t *count, struct leat_error *err)
{
    uint64_t width = r->column.offset_bytes, end;
    const uint8_t *at;
    enum leat_status s;

    if (width == 0) {
        *count = r->column.list_size;
        *first = r->row * *count;
        return LEAT_OK;
    }
    s = import_bytes_view(r->offsets.bytes, r->offsets.at + r->row * width, 2 * (size_t)width, &at, err);
    if (s != LEAT_OK)
        return s;
    *first = width == 4 ? bytes_load32(at) : bytes_load64(at);
    end = width == 4 ? bytes_load32(at + 4) : bytes_load64(at + 8);
    if (*first > end || end > r->values)
        return arrow_damaged(&r->ids, r->batch_at, "a list is not among its ids", err);
    *count = end - *first;
    return LEAT_OK;
}

enum leat_status arrow_reader_next(struct arrow_reader *r, struct import_document *d, bool *any, struct leat_error *err)
{
    uint64_t first = 0, count = 0, bytes = r->column.dtype->bytes;
    enum leat_status s = LEAT_OK;

    *any = true;
    while (s == LEAT_OK && *any && r->row == r->rows)
        s = next_batch(r, any, err);
    if (s == LEAT_OK && *any)
        s = take_list(r, &first, &count, err);
    if (s != LEAT_OK || !*any)
        return s;
    r->row++;
    *d = (struct import_document) {
        .bytes = r->data.bytes, .at = r->data.at + first * bytes, .count = count * bytes, .dtype = r->column.dtype
    };
    d->origin = r->data.bytes == &r->ids ? d->at : r->batch_at;
    return LEAT_OK;
}
