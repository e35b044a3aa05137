/* format_parquet.c: Parquet: a row per document; one of its columns is the text, another the id. */
#include "record_format.h"

const struct record_format format_parquet = { .suffixes = { ".parquet", ".pq" }, .rows = true };
