/* vocabulary_map.c: open addressing by lines, at most half full. A short token, as nearly all tokens that are looked
 * for are, is decided by its slot alone. */
#include "vocabulary_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/status.h"

static bool same_text(const struct vocabulary_map *m, uint32_t token, const uint8_t *bytes, size_t count)
{
    const struct spec_token *t = &m->spec->tokens[token];

    return t->length == count && memcmp(spec_token_bytes(m->spec, t), bytes, count) == 0;
}

/* Returns the slot after this one, in the order in which they are looked through. */
static size_t next_slot(const struct vocabulary_map *m, size_t slot)
{
    return (slot + 1) & (((size_t)VOCABULARY_LINE << m->bits) - 1);
}

/* Prefetches the line of a token that is entered later: this many tokens ahead. */
#define AHEAD 16u

static void prefetch(const struct vocabulary_map *m, const struct spec_token *t)
{
    uint64_t key = text_key(spec_token_bytes(m->spec, t), t->length, m->hash_key);

    __builtin_prefetch(m->keys + (size_t)text_key_place(key, m->hash_key, m->bits) * VOCABULARY_LINE, 1);
}

/* Enters tokens in their order: of two with one text the first is found. */
static void fill_map(struct vocabulary_map *m)
{
    const struct tokenizer_spec *spec = m->spec;

    for (uint32_t i = 0; i < spec->token_count; i++) {
        const struct spec_token *t = &spec->tokens[i];
        uint64_t key;
        size_t at;

        if (i + AHEAD < spec->token_count)
            prefetch(m, t + AHEAD);
        if (t->foreign || t->length == 0)
            continue;
        key = text_key(spec_token_bytes(spec, t), t->length, m->hash_key);
        at = (size_t)text_key_place(key, m->hash_key, m->bits) * VOCABULARY_LINE;
        while (m->keys[at] != VOCABULARY_FREE)
            at = next_slot(m, at);
        m->keys[at] = key;
        m->tokens[at] = i;
    }
}

enum leat_status vocabulary_map_make(struct vocabulary_map *m, const struct tokenizer_spec *spec,
                                     struct leat_error *err)
{
    size_t slots, bytes;

    m->spec = spec;
    m->bits = 4;
    m->hash_key = hash_key_new();
    while ((uint64_t)VOCABULARY_LINE << m->bits < 2 * (uint64_t)spec->token_count)
        m->bits++;
    slots = (size_t)VOCABULARY_LINE << m->bits;
    bytes = slots * (sizeof *m->keys + sizeof *m->tokens);
    m->memory = big_alloc(bytes + 64);
    if (!m->memory)
        return status_no_memory(err, bytes);
    m->keys = (uint64_t *)(((uintptr_t)m->memory + 63) & ~(uintptr_t)63); /* lines must not cross the lines of the
                                                                             CPU's cache */
    m->tokens = (uint32_t *)(m->keys + slots);
    memset(m->keys, 0xff, slots * sizeof *m->keys);
    fill_map(m);
    return LEAT_OK;
}

void vocabulary_map_free(struct vocabulary_map *m)
{
    free(m->memory);
    *m = (struct vocabulary_map) { 0 };
}

uint32_t vocabulary_map_find(const struct vocabulary_map *m, const uint8_t *bytes, size_t count)
{
    uint64_t key = text_key(bytes, count, m->hash_key);

    if (text_key_is_text(key))
        return vocabulary_map_find_short(m, key);
    for (size_t at = (size_t)text_key_place(key, m->hash_key, m->bits) * VOCABULARY_LINE;
         m->keys[at] != VOCABULARY_FREE; at = next_slot(m, at))
        if (m->keys[at] == key && same_text(m, m->tokens[at], bytes, count))
            return m->tokens[at];
    return SPEC_NONE;
}
