/*
 * scan_bytes.h: what scanners that work in blocks do with 64 bytes in registers (base/bytes64.h): the classes of ASCII,
 * and masks as lists of offsets.
 *
 *     scan_bytes_ascii(b)            struct scan_ascii
 *     scan_chars_load(p)             the characters that begin at each of the bytes; two more bytes are read
 *     scan_chars_sets(chars, rows)   which sets of a table of scan_tables.h they are in, a bit each
 *     scan_codes_with(sets, bits)    which are in one of these
 *     scan_positions(ends, base, x)  writes base + i for each bit i of x, and perhaps more: there is room for 64
 */
#ifndef LEAT_TOKENIZER_SCAN_BYTES_H
#define LEAT_TOKENIZER_SCAN_BYTES_H

#if defined(BYTES64_BY_WORDS)
#include "scan_bytes_words.h"
#elif defined(__AVX512BW__)
#include "scan_bytes_avx512.h"
#elif defined(__AVX2__)
#include "scan_bytes_avx2.h"
#else
#include "scan_bytes_neon.h"
#endif

#endif
