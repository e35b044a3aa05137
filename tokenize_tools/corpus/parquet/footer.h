/*
 * footer.h: an opened file: the wanted columns, and the row groups, as its footer describes them. The footer is read
 * twice, since its fields may come in any order, and only the wanted columns of row groups are kept.
 */
#ifndef LEAT_PARQUET_FOOTER_H
#define LEAT_PARQUET_FOOTER_H

#include "base/buffer.h"
#include "codec.h"
#include "schema.h"

/* The pages of a column in a row group. */
struct parquet_chunk {
    uint64_t offset; /* place of the first page, which may hold the dictionary */
    uint64_t bytes;  /* size of all pages, as the footer says; used only to read ahead */
    uint64_t values; /* number of values, with nulls */
    const struct codec *codec;
};

struct parquet_file {
    struct parquet_source source;
    struct parquet_column columns[SCHEMA_MAX_COLUMNS]; /* columns of the wants, then the leaves of nested ones */
    unsigned wants, count;
    struct nested nested[PARQUET_MAX_NESTED];
    unsigned nested_count;
    uint64_t data_end; /* start of the footer */
    uint64_t rows;
    struct buffer groups; /* struct parquet_group, one after another */
    struct buffer chunks; /* struct parquet_chunk, `count` for each group */
};

const struct parquet_chunk *parquet_chunk(const struct parquet_file *file, uint64_t group, unsigned column);

#endif
