/* string_map.c: open addressing, at most half full, in steps of one. */
#include "string_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/big.h"

bool string_map_init(struct string_map *m, uint32_t room)
{
    size_t slots;

    *m = (struct string_map) { .bits = 4, .hash_key = hash_key_new() };
    while ((uint64_t)1 << m->bits < (uint64_t)room * 2)
        m->bits++;
    slots = (size_t)1 << m->bits;
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

/* Returns the slot of the string, or the free one where it would go. */
static uint32_t place(const struct string_map *m, uint64_t key, const void *bytes, size_t length)
{
    uint32_t i = text_key_place(key, m->hash_key, m->bits);

    for (; m->slots[i].entry; i = (i + 1) & (((uint32_t)1 << m->bits) - 1)) {
        const struct string_map_entry *e = &m->entries[m->slots[i].entry - 1];

        if (m->slots[i].key == key &&
            (text_key_is_text(key) || (e->length == length && memcmp(e->bytes, bytes, length) == 0)))
            break;
    }
    return i;
}

uint32_t string_map_find(const struct string_map *m, uint64_t hash, const void *bytes, size_t length)
{
    return m->slots[place(m, hash, bytes, length)].entry - 1; /* an entry of 0 gives STRING_MAP_NONE */
}

uint32_t string_map_add(struct string_map *m, uint64_t hash, const uint8_t *bytes, uint32_t length, bool *found)
{
    uint32_t i = place(m, hash, bytes, length);

    *found = m->slots[i].entry != 0;
    if (!*found) {
        m->entries[m->count] = (struct string_map_entry) { .bytes = bytes, .length = length };
        m->slots[i] = (struct string_map_slot) { hash, ++m->count };
    }
    return m->slots[i].entry - 1;
}
