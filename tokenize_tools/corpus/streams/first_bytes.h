/* first_bytes.h: what an input is by its first bytes, where four of them or its name do not tell. */
#ifndef LEAT_TOKENIZE_TOOLS_FIRST_BYTES_H
#define LEAT_TOKENIZE_TOOLS_FIRST_BYTES_H

#include "decompressor.h"

/* The four bytes behind the skippable frames that zstd and lz4 have in common; *bytes is 0 if the input does not begin
 * with one, if what follows cannot be seen yet, or behind more than 1,024 of them. */
enum leat_status first_bytes_behind(struct raw_input *in, uint8_t head[RAW_HEAD], size_t *bytes,
                                    struct leat_error *err);

/* Says what an input is that is named like files of `d` and does not begin like them; returns the status, or that of a
 * failure to read. */
enum leat_status first_bytes_misnamed(struct raw_input *in, const char *path, const struct decompressor *d,
                                      struct leat_error *err);

#endif
