/*
 * footer.h: an opened file: what its footer says of the wanted columns, and of each row group. The footer is read
 * twice: its fields may come in any order, and of the row groups only what belongs to the columns is kept.
 */
#ifndef LEAT_PARQUET_FOOTER_H
#define LEAT_PARQUET_FOOTER_H

#include "base/buffer.h"
#include "codec.h"
#include "schema.h"

/* The pages of a column in a row group. */
struct parquet_chunk {
    uint64_t offset; /* of the first page, which may hold the dictionary */
    uint64_t bytes;  /* of all pages, as the footer says; only where reading ahead is worth it depends on this */
    uint64_t values; /* with nulls */
    const struct codec *codec;
};

struct parquet_file {
    struct parquet_source source;
    struct parquet_column columns[SCHEMA_MAX_COLUMNS]; /* of the wants, then the leaves of a nested one */
    unsigned wants, count;
    struct nested nested;
    uint64_t data_end; /* where the footer begins */
    uint64_t rows;
    struct buffer groups; /* struct parquet_group, one after another */
    struct buffer chunks; /* struct parquet_chunk, `count` for each group */
};

const struct parquet_chunk *parquet_chunk(const struct parquet_file *file, uint64_t group, unsigned column);

#endif
