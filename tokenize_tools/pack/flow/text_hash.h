/* text_hash.h: the XXH3-128 of a text that comes in chunks; checksum.h hashes a text in memory faster. */
#ifndef LEAT_PACK_TEXT_HASH_H
#define LEAT_PACK_TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "leat.h"

struct text_hash {
    void *state;
};

enum leat_status text_hash_begin(struct text_hash *h, struct leat_error *err);
void text_hash_add(struct text_hash *h, const void *bytes, size_t count);
void text_hash_end(struct text_hash *h, uint8_t out[16]);
void text_hash_free(struct text_hash *h); /* zeroed is fine */

#endif
