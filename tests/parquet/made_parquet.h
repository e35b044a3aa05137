/* made_parquet.h: Parquet files made by hand, after parquet.thrift and Thrift's compact protocol: the schema and the
 * bytes of pages are the test's, whatever they mean. All columns are in row groups of the same pages. */
#ifndef LEAT_TESTS_MADE_PARQUET_H
#define LEAT_TESTS_MADE_PARQUET_H

#include "base/buffer.h"
#include "base/bytes.h"
#include "t.h"

enum { MADE_BOOLEAN, MADE_INT32, MADE_INT64, MADE_INT96, MADE_FLOAT, MADE_DOUBLE, MADE_BYTES, MADE_FIXED, MADE_GROUP };
enum { MADE_REQUIRED, MADE_OPTIONAL, MADE_REPEATED };
enum { MADE_DATA = 0, MADE_DICTIONARY = 2, MADE_DATA_2 = 3 };

struct made_node {
    const char *name;
    unsigned type, repetition, children;
    uint64_t type_bytes;
    unsigned logical; /* a field of LogicalType, which is an empty struct; 0: none */
};

struct made_page {
    unsigned column, kind, values, encoding;
    const char *bytes;
    size_t size;
    size_t repetitions, definitions; /* MADE_DATA_2: so many of the bytes */
    size_t unpacked;                 /* 0: the same as size */
};

struct made_file {
    const struct made_node *nodes;                   /* the root first */
    const struct made_page *pages;                   /* those of a column follow each other */
    unsigned node_count, page_count, columns, codec; /* no columns: groups are empty, without any field */
    uint64_t rows, groups;                           /* rows of each group */
};

static inline void made_put(struct buffer *to, const void *bytes, size_t size)
{
    T_OK(buffer_append(to, bytes, size, &t_err));
}

static inline void made_varint(struct buffer *to, uint64_t value)
{
    uint8_t byte;

    do {
        byte = (uint8_t)(value & 127) | (value > 127 ? 128 : 0);
        made_put(to, &byte, 1);
        value >>= 7;
    } while (value > 0);
}

/* The head of a field, `step` after the one before it in its struct. */
static inline void made_field(struct buffer *to, unsigned step, unsigned type)
{
    uint8_t head = (uint8_t)(step << 4 | type);

    made_put(to, &head, 1);
}

static inline void made_number(struct buffer *to, unsigned step, uint64_t value)
{
    made_field(to, step, 6);
    made_varint(to, value << 1);
}

static inline void made_text(struct buffer *to, unsigned step, const char *text)
{
    made_field(to, step, 8);
    made_varint(to, strlen(text));
    made_put(to, text, strlen(text));
}

static inline void made_list(struct buffer *to, unsigned step, uint64_t count, unsigned type)
{
    uint8_t head = (uint8_t)(15 << 4 | type);

    made_field(to, step, 9);
    made_put(to, &head, 1);
    made_varint(to, count);
}

static inline void made_struct(struct buffer *to, unsigned step)
{
    made_field(to, step, 12);
}

static inline void made_end(struct buffer *to)
{
    made_put(to, "", 1);
}

static inline void made_page(struct buffer *to, const struct made_page *p)
{
    made_number(to, 1, p->kind);
    made_number(to, 1, p->unpacked > 0 ? p->unpacked : p->size);
    made_number(to, 1, p->size);
    made_struct(to, p->kind == MADE_DATA ? 2 : p->kind == MADE_DICTIONARY ? 4 : 5);
    made_number(to, 1, p->values);
    made_number(to, p->kind == MADE_DATA_2 ? 3 : 1, p->encoding);
    if (p->kind == MADE_DATA) {
        made_number(to, 1, 3); /* levels: RLE */
        made_number(to, 1, 3);
    } else if (p->kind == MADE_DATA_2) {
        made_number(to, 1, p->definitions);
        made_number(to, 1, p->repetitions);
    }
    made_end(to);
    made_end(to);
    made_put(to, p->bytes, p->size);
}

static inline void made_schema(struct buffer *to, const struct made_file *f)
{
    made_list(to, 1, f->node_count, 12);
    for (unsigned i = 0; i < f->node_count; i++) {
        const struct made_node *n = &f->nodes[i];
        unsigned last = 0;

        if (n->type != MADE_GROUP)
            made_number(to, 1, n->type), last = 1;
        if (n->type_bytes > 0)
            made_number(to, 1, n->type_bytes), last = 2;
        made_number(to, 3 - last, n->repetition);
        made_text(to, 1, n->name);
        if (n->type == MADE_GROUP)
            made_number(to, 1, n->children), last = 5;
        else
            last = 4;
        if (n->logical > 0) {
            made_struct(to, 10 - last);
            made_struct(to, n->logical);
            made_end(to);
            made_end(to);
        }
        made_end(to);
    }
}

static inline unsigned made_type(const struct made_file *f, unsigned column)
{
    for (unsigned i = 0; i < f->node_count; i++)
        if (f->nodes[i].type != MADE_GROUP && column-- == 0)
            return f->nodes[i].type;
    return MADE_BYTES;
}

/* `places` are those of all pages, and where they end; each column has the values of its pages. */
static inline void made_group(struct buffer *to, const struct made_file *f, const uint64_t *places)
{
    if (f->columns == 0) {
        made_end(to);
        return;
    }
    made_list(to, 1, f->columns, 12);
    for (unsigned c = 0; c < f->columns; c++) {
        uint64_t values = 0, first = 0, end = 0;

        for (unsigned p = 0; p < f->page_count; p++)
            if (f->pages[p].column == c) {
                values += f->pages[p].kind == MADE_DICTIONARY ? 0 : f->pages[p].values;
                first = first > 0 ? first : places[p];
                end = places[p + 1];
            }
        made_struct(to, 3);
        made_number(to, 1, made_type(f, c));
        made_number(to, 3, f->codec);
        made_number(to, 1, values > 0 ? values : f->rows);
        made_number(to, 2, end - first);
        made_number(to, 2, first > 0 ? first : 4);
        made_end(to);
        made_end(to);
    }
    made_number(to, 2, f->rows);
    made_end(to);
}

/* The caller frees it. */
static inline struct buffer made_parquet(const struct made_file *f)
{
    struct buffer all = { 0 }, footer = { 0 };
    uint64_t places[20];
    uint8_t length[4];

    made_put(&all, "PAR1", 4);
    for (unsigned p = 0; p <= f->page_count; p++) {
        places[p] = all.size;
        if (p < f->page_count)
            made_page(&all, &f->pages[p]);
    }
    if (f->page_count == 0)
        made_put(&all, "no pages", 8);
    made_number(&footer, 1, 1);
    made_schema(&footer, f);
    made_number(&footer, 1, f->rows * f->groups);
    made_list(&footer, 1, f->groups, 12);
    for (uint64_t g = 0; g < f->groups; g++)
        made_group(&footer, f, places);
    made_end(&footer);
    made_put(&all, footer.bytes, footer.size);
    bytes_store32(length, (uint32_t)footer.size);
    made_put(&all, length, 4);
    made_put(&all, "PAR1", 4);
    buffer_free(&footer);
    return all;
}

#endif
