/* whole_file.h: a small file's bytes in memory, and what they are when decompressed (zstd, any number of frames). */
#ifndef LEAT_TOKENIZER_WHOLE_FILE_H
#define LEAT_TOKENIZER_WHOLE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "leat.h"

/* Neither the file nor what it decompresses to may be larger. */
#define WHOLE_FILE_MAX ((uint64_t)1 << 30)

/* *bytes is the caller's, to be freed; at least one byte is allocated. */
enum leat_status whole_file_read(uint8_t **bytes, uint64_t *size, const char *path, struct leat_error *err);

bool whole_file_is_zstd(const uint8_t *bytes, uint64_t size);

/* Returns LEAT_E_VOCABULARY, with `path` in the sentence, for what is damaged, cut off or too large. */
enum leat_status whole_file_unzstd(uint8_t **plain, uint64_t *plain_size, const uint8_t *bytes, uint64_t size,
                                   const char *path, struct leat_error *err);

#endif
