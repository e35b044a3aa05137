/* whole_file.h: reads a small file into memory, and decompresses it (zstd, any number of frames). */
#ifndef LEAT_TOKENIZER_WHOLE_FILE_H
#define LEAT_TOKENIZER_WHOLE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "leat.h"

/* The greatest size of a file, and of its decompressed bytes. */
#define WHOLE_FILE_MAX ((uint64_t)1 << 30)

/* Limit of the bytes that a file may become: a base, and this many times its size. Vocabularies become 3 to 10 times
 * as large; 9 KB that become 40 MB take 623 MB to read. */
#define WHOLE_FILE_BASE  ((uint64_t)8 << 20)
#define WHOLE_FILE_TIMES 100u

/* Reads a file into *bytes, which the caller frees. At least one byte is allocated. */
enum leat_status whole_file_read(uint8_t **bytes, uint64_t *size, const char *path, struct leat_error *err);

bool whole_file_is_zstd(const uint8_t *bytes, uint64_t size);

/* Decompresses a file. Returns LEAT_E_VOCABULARY, with `path` in the error, if it is damaged, cut off or too large. */
enum leat_status whole_file_unzstd(uint8_t **plain, uint64_t *plain_size, const uint8_t *bytes, uint64_t size,
                                   const char *path, struct leat_error *err);

#endif
