/*
 * string_ahead.h: for each place of a text, the longest of a set of strings that begins there, in time that grows with
 * the text only, however long the strings are and whatever they have in common. Trying each place by itself took 21 s
 * for one string of 100,000 "a" and a "b" in 100 KB of "a".
 */
#ifndef LEAT_TOKENIZER_STRING_AHEAD_H
#define LEAT_TOKENIZER_STRING_AHEAD_H

#include <stdbool.h>

#include "base/buffer.h"
#include "leat.h"

struct string_ahead;

/* A stretch of a text that has been gone through. All zero at first, but perhaps places.bound. */
struct string_places {
    struct buffer places; /* a number for each place of text[begin, end) */
    size_t begin, end;
};

/* `bytes` of text in which strings lie: `ends` where each of `count` ends, one after the other, none empty. */
enum leat_status string_ahead_make(struct string_ahead **out, const uint8_t *text, const size_t *ends,
                                   const uint32_t *numbers, size_t count, struct leat_error *err);
void string_ahead_free(struct string_ahead *a);

/* The longest string that begins at text[at], at < bytes: where it ends, with its number; *end 0: none does. The text
 * stays the same from call to call, or the places are emptied (string_places_clear()). */
enum leat_status string_ahead_at(const struct string_ahead *a, struct string_places *p, const uint8_t *text,
                                 size_t bytes, size_t at, size_t *end, uint32_t *number, struct leat_error *err);

static inline void string_places_clear(struct string_places *p)
{
    p->begin = p->end = 0;
}

static inline void string_places_free(struct string_places *p)
{
    buffer_free(&p->places);
    string_places_clear(p);
}

#endif
