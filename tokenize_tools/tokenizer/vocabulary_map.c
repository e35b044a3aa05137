/*
 * vocabulary_map.c: see vocabulary_map.h. Open addressing, at most half full; each slot keeps 32 bits of the hash, so
 * that nearly every look-up touches one slot and one text.
 */
#define XXH_INLINE_ALL
#include "vocabulary_map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/status.h"

struct vocabulary_slot {
    uint32_t hash;
    uint32_t token; /* SPEC_NONE: free */
};

enum leat_status vocabulary_map_make(struct vocabulary_map *m, const struct tokenizer_spec *spec,
                                     struct leat_error *err)
{
    uint64_t slots = 64;

    while (slots < 2 * (uint64_t)spec->token_count)
        slots *= 2;
    m->spec = spec;
    m->mask = (uint32_t)(slots - 1);
    m->slots = malloc(slots * sizeof *m->slots);
    if (!m->slots)
        return status_no_memory(err, slots * sizeof *m->slots);
    memset(m->slots, 0xff, slots * sizeof *m->slots);
    for (uint32_t i = 0; i < spec->token_count; i++) {
        const struct spec_token *t = &spec->tokens[i];
        uint64_t hash;
        uint32_t at;

        if (t->foreign || t->length == 0)
            continue;
        hash = XXH3_64bits(spec_token_bytes(spec, t), t->length);
        for (at = (uint32_t)hash & m->mask; m->slots[at].token != SPEC_NONE; at = (at + 1) & m->mask)
            ;
        m->slots[at] = (struct vocabulary_slot) { (uint32_t)(hash >> 32), i };
    }
    return LEAT_OK;
}

void vocabulary_map_free(struct vocabulary_map *m)
{
    free(m->slots);
    m->slots = NULL;
}

uint64_t vocabulary_map_hash(const struct vocabulary_map *m, const uint8_t *bytes, size_t count)
{
    uint64_t hash = XXH3_64bits(bytes, count);

    __builtin_prefetch(&m->slots[(uint32_t)hash & m->mask]);
    return hash;
}

uint32_t vocabulary_map_find_hashed(const struct vocabulary_map *m, uint64_t hash, const uint8_t *bytes, size_t count)
{
    for (uint32_t at = (uint32_t)hash & m->mask; m->slots[at].token != SPEC_NONE; at = (at + 1) & m->mask) {
        const struct spec_token *t = &m->spec->tokens[m->slots[at].token];

        if (m->slots[at].hash == (uint32_t)(hash >> 32) && t->length == count &&
            memcmp(spec_token_bytes(m->spec, t), bytes, count) == 0)
            return m->slots[at].token;
    }
    return SPEC_NONE;
}

uint32_t vocabulary_map_find(const struct vocabulary_map *m, const uint8_t *bytes, size_t count)
{
    return vocabulary_map_find_hashed(m, XXH3_64bits(bytes, count), bytes, count);
}
