/* crc32.h: the CRC-32 of gzip, which pages may have. */
#ifndef LEAT_PARQUET_CRC32_H
#define LEAT_PARQUET_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Of the bytes before, whose CRC is `crc` (0: none), followed by these. */
uint32_t crc32_of(uint32_t crc, const uint8_t *bytes, size_t count);

#endif
