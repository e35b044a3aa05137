/*
 * import_shard.h: a shard as MDS and litdata have them: u32 N; u32 offsets[N + 1], from the first byte of the file;
 * then samples, each of which has u32 sizes of some columns first, then the columns.
 */
#ifndef LEAT_IMPORT_SHARD_H
#define LEAT_IMPORT_SHARD_H

#include "import.h"

struct import_shard {
    struct import_bytes bytes;
    uint64_t count, next;
    uint8_t *offsets; /* count + 1, as in the file */
    uint64_t base;    /* is added to them */
};

/* All zero but bytes.fd = -1: closed. */
void import_shard_close(struct import_shard *s);

/* Opens the bytes of a shard, decompressed if the file is: as many as file->plain, else LEAT_E_TRUNCATED. */
enum leat_status import_shard_open(struct import_shard *s, const struct import_file *file, struct leat_error *err);

/* Reads `count` + 1 offsets at byte `at`. They never fall, begin at `first` or after it, and end at `end`. */
enum leat_status import_shard_offsets(struct import_shard *s, uint64_t count, uint64_t at, uint64_t first, uint64_t end,
                                      struct leat_error *err);

/* Reads N and the offsets; N is that of the index. The samples fill the file. */
enum leat_status import_shard_begin(struct import_shard *s, const struct import_file *file, struct leat_error *err);

/* The next sample; the caller knows that there is one. */
void import_shard_next(struct import_shard *s, uint64_t *at, uint64_t *count);

/* Finds column `column` in a sample: *at and *count, in bytes of it. `fixed[i]` is the size of column i, or 0 if the
 * sample says it. */
enum leat_status import_shard_column(struct import_bytes *b, const uint64_t *fixed, uint64_t columns, uint64_t column,
                                     uint64_t *at, uint64_t *count, struct leat_error *err);

/* "FILE: sample N is damaged: WHY" */
enum leat_status import_shard_wrong(const struct import_bytes *b, uint64_t at, const char *why, struct leat_error *err);

#endif
