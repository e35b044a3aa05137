/* page.h: the header of a page, and the checksum of its bytes. */
#ifndef LEAT_PARQUET_PAGE_H
#define LEAT_PARQUET_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "thrift.h"

/* Continues the CRC-32 of gzip, which pages may have: `crc` is that of the bytes before, or 0. */
uint32_t crc32_of(uint32_t crc, const uint8_t *bytes, size_t count);

enum page_kind { PAGE_DATA, PAGE_INDEX, PAGE_DICTIONARY, PAGE_DATA_2 };

/* The header of a page. */
struct page {
    uint64_t offset, body;             /* places of the header and of its end */
    uint64_t kind;                     /* enum page_kind, or a kind of a later version */
    uint64_t packed, bytes;            /* size in the file, and decompressed; at most INT32_MAX */
    uint64_t values;                   /* number of values, with nulls; at most INT32_MAX */
    uint64_t encoding;                 /* encoding of the values */
    uint64_t level_encoding;           /* encoding of the definition levels (PAGE_DATA) */
    uint64_t repetition_encoding;      /* encoding of the repetition levels (PAGE_DATA) */
    uint64_t definitions, repetitions; /* bytes of the levels, which are not compressed (PAGE_DATA_2) */
    bool plain;                        /* true if the values are not compressed either (PAGE_DATA_2) */
    bool has_crc;
    uint32_t crc;
};

/* Reads the header at `offset`. `what` is the page's column, for messages. */
enum leat_status page_read(struct page *p, struct window *w, uint64_t offset, const char *what, struct leat_error *err);

#endif
