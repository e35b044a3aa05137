/* string_map.c: see string_map.h. Open addressing, at most half full, steps of one. */
#include "string_map.h"

#include <stdlib.h>
#include <string.h>

#include "big.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

bool string_map_init(struct string_map *m, uint32_t room)
{
    uint64_t slots = 16;

    while (slots < (uint64_t)room * 2)
        slots *= 2;
    *m = (struct string_map) { .room = room, .mask = slots - 1 };
    m->entries = big_alloc((size_t)room * sizeof *m->entries);
    m->slots = big_alloc(slots * sizeof *m->slots);
    if (m->entries && m->slots) {
        memset(m->slots, 0, slots * sizeof *m->slots);
        return true;
    }
    string_map_free(m);
    return false;
}

void string_map_free(struct string_map *m)
{
    free(m->entries);
    free(m->slots);
    *m = (struct string_map) { 0 };
}

uint64_t string_map_hash(const void *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

/* The slot of the string, or the free one where it would go. */
static uint64_t place(const struct string_map *m, uint64_t hash, const void *bytes, size_t length)
{
    uint32_t tag = (uint32_t)(hash >> 32);
    uint64_t i = hash & m->mask;

    for (; m->slots[i].entry; i = (i + 1) & m->mask) {
        const struct string_map_entry *e = &m->entries[m->slots[i].entry - 1];

        if (m->slots[i].tag == tag && e->length == length && memcmp(e->bytes, bytes, length) == 0)
            break;
    }
    return i;
}

uint32_t string_map_find(const struct string_map *m, uint64_t hash, const void *bytes, size_t length)
{
    return m->slots[place(m, hash, bytes, length)].entry - 1; /* 0 - 1 is STRING_MAP_NONE */
}

uint32_t string_map_add(struct string_map *m, uint64_t hash, const uint8_t *bytes, uint32_t length, bool *found)
{
    uint64_t i = place(m, hash, bytes, length);

    *found = m->slots[i].entry != 0;
    if (!*found) {
        m->entries[m->count] = (struct string_map_entry) { .bytes = bytes, .length = length };
        m->slots[i] = (struct string_map_slot) { (uint32_t)(hash >> 32), ++m->count };
    }
    return m->slots[i].entry - 1;
}
