/* text_hash.c: see text_hash.h. */
#include "text_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/status.h"
#include "checksum/checksum.h"

enum leat_status text_hash_begin(struct text_hash *h, struct leat_error *err)
{
    h->state = XXH3_createState();
    if (!h->state)
        return status_no_memory(err, sizeof(XXH3_state_t));
    XXH3_128bits_reset(h->state);
    return LEAT_OK;
}

void text_hash_add(struct text_hash *h, const void *bytes, size_t count)
{
    XXH3_128bits_update(h->state, bytes, count);
}

void text_hash_end(struct text_hash *h, uint8_t out[16])
{
    XXH128_hash_t hash = XXH3_128bits_digest(h->state);

    checksum_store(out, (struct hash128) { hash.low64, hash.high64 });
}

void text_hash_free(struct text_hash *h)
{
    XXH3_freeState(h->state);
    h->state = NULL;
}
