/* page.h: the header of a page, and the checksum of its bytes. */
#ifndef LEAT_PARQUET_PAGE_H
#define LEAT_PARQUET_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "thrift.h"

/* ---- Checksum ---------------------------------------------------------------------------------------------------- */

/* The CRC-32 of gzip, which pages may have. */

/* Of the bytes before, whose CRC is `crc` (0: none), followed by these. */
uint32_t crc32_of(uint32_t crc, const uint8_t *bytes, size_t count);

/* ---- Header ------------------------------------------------------------------------------------------------------ */

/* The header of a page. */

enum page_kind { PAGE_DATA, PAGE_INDEX, PAGE_DICTIONARY, PAGE_DATA_2 };

struct page {
    uint64_t offset, body;             /* where it begins, and where its header ends */
    uint64_t kind;                     /* enum page_kind, or one of a later version */
    uint64_t packed, bytes;            /* its size in the file, and decompressed; at most INT32_MAX */
    uint64_t values;                   /* with nulls; at most INT32_MAX */
    uint64_t encoding;                 /* of the values */
    uint64_t level_encoding;           /* PAGE_DATA: of the definition levels */
    uint64_t repetition_encoding;      /* likewise, of the repetition levels */
    uint64_t definitions, repetitions; /* PAGE_DATA_2: bytes of the levels, which are not compressed */
    bool plain;                        /* PAGE_DATA_2: nor are its values */
    bool has_crc;
    uint32_t crc;
};

/* Reads the header at `offset`. `what` is the page's column, for messages. */
enum leat_status page_read(struct page *p, struct window *w, uint64_t offset, const char *what, struct leat_error *err);

#endif
