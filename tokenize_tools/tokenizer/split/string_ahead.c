/*
 * string_ahead.c: see string_ahead.h. Aho and Corasick's automaton, of the strings read backwards, goes through a
 * stretch of text backwards. Having read text[at], it has found which strings, read backwards, end there: those that
 * begin there. The longest of them is known for each of its states.
 *
 * Forwards it would find which strings end at a place. But of two that overlap the one that begins first is wanted, and
 * of those the longest: that takes a look ahead, again for each match.
 */
#include "string_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "tokenizer/containers/trie.h"

/* Places at a time, or as many as the longest string has bytes: that far beyond the stretch the automaton begins. */
#define STRETCH ((size_t)TINY_OR(8, 1 << 16))

/* A node of the trie is a state: what has been read last is this beginning of a string, and no longer one. */
struct state {
    uint32_t shorter; /* the longest end of it that is such a beginning, too */
    uint32_t longest; /* the longest end of it that is a string; TRIE_ROOT: none */
    uint32_t length;
};

struct string_ahead {
    struct trie trie; /* of the strings backwards */
    struct state *states;
    size_t longest;
};

static uint32_t step(const struct string_ahead *a, uint32_t state, uint8_t byte)
{
    uint32_t next;

    while ((next = trie_child(&a->trie, state, byte)) == TRIE_NONE && state != TRIE_ROOT)
        state = a->states[state].shorter;
    return next;
}

/* Nodes further from the root come later, so that those that a state leads to are done. */
static void link_states(struct string_ahead *a)
{
    for (uint32_t i = 0; i < a->trie.count; i++) {
        const struct trie_node *n = &a->trie.nodes[i];

        for (uint32_t k = n->first; k < n->first + n->count; k++) {
            const struct trie_node *child = &a->trie.nodes[k];
            struct state *s = &a->states[k];

            s->length = a->states[i].length + 1;
            s->shorter = i == TRIE_ROOT ? TRIE_ROOT : step(a, a->states[i].shorter, child->byte);
            s->longest = child->number != TRIE_NO_NUMBER ? k : a->states[s->shorter].longest;
        }
    }
}

static enum leat_status add_backwards(struct string_ahead *a, const uint8_t *text, size_t bytes, uint32_t number,
                                      uint8_t *room, struct leat_error *err)
{
    uint32_t known;

    for (size_t i = 0; i < bytes; i++)
        room[i] = text[bytes - 1 - i];
    return trie_add(&a->trie, room, bytes, number, &known, err);
}

enum leat_status string_ahead_make(struct string_ahead **out, const uint8_t *text, const size_t *ends,
                                   const uint32_t *numbers, size_t count, struct leat_error *err)
{
    struct string_ahead *a = calloc(1, sizeof *a);
    uint8_t *room = malloc(count > 0 ? ends[count - 1] : 1);
    enum leat_status s = a && room ? LEAT_OK : status_no_memory(err, count > 0 ? ends[count - 1] : 1);

    *out = NULL;
    for (size_t i = 0, begin = 0; s == LEAT_OK && i < count; begin = ends[i++]) {
        s = add_backwards(a, text + begin, ends[i] - begin, numbers[i], room, err);
        if (ends[i] - begin > a->longest)
            a->longest = ends[i] - begin;
    }
    free(room);
    if (s == LEAT_OK)
        s = trie_seal(&a->trie, err);
    if (s == LEAT_OK && !(a->states = calloc(a->trie.count, sizeof *a->states)))
        s = status_no_memory(err, a->trie.count * sizeof *a->states);
    if (s != LEAT_OK) {
        string_ahead_free(a);
        return s;
    }
    link_states(a);
    *out = a;
    return LEAT_OK;
}

void string_ahead_free(struct string_ahead *a)
{
    if (!a)
        return;
    trie_free(&a->trie);
    free(a->states);
    free(a);
}

/* The stretch that begins at this place: what begins in it ends before text[from]. */
static enum leat_status go_through(const struct string_ahead *a, struct string_places *p, const uint8_t *text,
                                   size_t bytes, size_t at, struct leat_error *err)
{
    size_t room = a->longest > STRETCH ? a->longest : STRETCH, count = bytes - at < room ? bytes - at : room;
    size_t from = bytes - at - count < a->longest ? bytes : at + count + a->longest;
    uint32_t state = TRIE_ROOT, *places;
    enum leat_status s;

    p->places.size = 0;
    string_places_clear(p);
    s = buffer_reserve(&p->places, count * sizeof *places, err);
    if (s != LEAT_OK)
        return s;
    places = (uint32_t *)(void *)p->places.bytes;
    while (from > at) {
        state = step(a, state, text[--from]);
        if (from < at + count)
            places[from - at] = a->states[state].longest;
    }
    p->begin = at;
    p->end = at + count;
    return LEAT_OK;
}

enum leat_status string_ahead_at(const struct string_ahead *a, struct string_places *p, const uint8_t *text,
                                 size_t bytes, size_t at, size_t *end, uint32_t *number, struct leat_error *err)
{
    uint32_t found;

    if (at < p->begin || at >= p->end) {
        enum leat_status s = go_through(a, p, text, bytes, at, err);

        if (s != LEAT_OK)
            return s;
    }
    found = ((const uint32_t *)(const void *)p->places.bytes)[at - p->begin];
    *end = found != TRIE_ROOT ? at + a->states[found].length : 0;
    if (found != TRIE_ROOT)
        *number = a->trie.nodes[found].number;
    return LEAT_OK;
}
