/* litdata_frames.h: what litdata puts around items: zstd frames of many items or of one, and an Arrow file. */
#ifndef LEAT_LITDATA_FRAMES_H
#define LEAT_LITDATA_FRAMES_H

#include "import_shard.h"

/* If the chunk is one of frames, decompresses all its items, and reads their offsets. */
enum leat_status litdata_unframe(struct import_shard *s, const struct import_file *file, bool *framed,
                                 struct leat_error *err);

/* Decompresses an item that is a zstd frame to `item`, where the document is from then on. */
enum leat_status litdata_unpack_item(struct import_bytes *item, struct import_document *d, struct leat_error *err);

/* Where the Arrow file at the chunk's end begins. LEAT_E_UNSUPPORTED: there is none. */
enum leat_status litdata_find_arrow(struct import_bytes *b, uint64_t *at, struct leat_error *err);

#endif
