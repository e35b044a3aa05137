/*
 * string_finder.h: finds any of a set of strings in a text: the leftmost place where one begins, and there the longest.
 * For added tokens ("<|endoftext|>"), which cut a text before anything else looks at it.
 */
#ifndef LEAT_TOKENIZER_STRING_FINDER_H
#define LEAT_TOKENIZER_STRING_FINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "leat.h"

struct string_finder;

enum leat_status string_finder_make(struct string_finder **out, struct leat_error *err);
void string_finder_free(struct string_finder *f);

/* Adds a string with the caller's number for it; two equal ones are refused. Empty: ignored. */
enum leat_status string_finder_add(struct string_finder *f, const uint8_t *text, size_t bytes, uint32_t number,
                                   struct leat_error *err);

/* After the last string, before the first search. */
enum leat_status string_finder_end(struct string_finder *f, struct leat_error *err);

/* A stretch of a text in which long strings have been looked for. */
struct string_places {
    struct buffer places; /* a number for each place of text[begin, end) */
    size_t begin, end;
};

/* A text that is gone through, and what has been found out about it on the way: matches follow each other closely. All
 * zero at first but for the text, and perhaps places.places.bound. */
struct string_search {
    const uint8_t *text;
    size_t bytes;
    size_t from;     /* matches before do not count: the caller's to move on */
    size_t block;    /* where a block begins of which it is known: */
    uint64_t firsts; /* which of its bytes strings begin with; 0: nothing is known */
    struct string_places places;
};

static inline void string_search_free(struct string_search *s)
{
    buffer_free(&s->places.places);
    s->places.begin = s->places.end = 0;
}

/* The first match at or after `from`. Takes time in proportion to the text, whatever the strings. */
enum leat_status string_finder_next(const struct string_finder *f, struct string_search *search, bool *found,
                                    size_t *start, size_t *end, uint32_t *number, struct leat_error *err);

/* The longest string that begins at text[at], at < bytes: its end; 0 if none does. */
enum leat_status string_finder_at(const struct string_finder *f, struct string_search *search, size_t at, size_t *end,
                                  uint32_t *number, struct leat_error *err);

/* The length of the longest string: a match cannot reach further than this across a cut. */
size_t string_finder_longest(const struct string_finder *f);

#endif
