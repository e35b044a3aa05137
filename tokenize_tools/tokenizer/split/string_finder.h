/*
 * string_finder.h: finds any of a set of strings in a text: at the leftmost place where one begins, the longest. It
 * finds added tokens ("<|endoftext|>"), which cut a text before its other stations.
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

/* Adds a string with a number of the caller. Refuses a string that was added before, and ignores an empty one. */
enum leat_status string_finder_add(struct string_finder *f, const uint8_t *text, size_t bytes, uint32_t number,
                                   struct leat_error *err);

/* Ends adding strings. Called before the first search. */
enum leat_status string_finder_end(struct string_finder *f, struct leat_error *err);

/* A stretch of a text that was searched for long strings. */
struct string_places {
    struct buffer places; /* a number for each place of text[begin, end) */
    size_t begin, end;
};

/* A search of a text, and facts about it that were found on the way, since matches follow each other closely. Zeroed at
 * first, except the text, and perhaps places.places.bound. */
struct string_search {
    const uint8_t *text;
    size_t bytes;
    size_t from;     /* place at which the search goes on; the caller moves it */
    size_t block;    /* start of a block of text */
    uint64_t firsts; /* bits of the block's bytes that strings begin with; 0 if they are not known */
    struct string_places places;
};

static inline void string_search_free(struct string_search *s)
{
    buffer_free(&s->places.places);
    s->places.begin = s->places.end = 0;
}

/* Finds the first match at or after `from`. The time is proportional to the text, whatever the strings. */
enum leat_status string_finder_next(const struct string_finder *f, struct string_search *search, bool *found,
                                    size_t *start, size_t *end, uint32_t *number, struct leat_error *err);

/* Sets *end to the end of the longest string that begins at text[at], at < bytes; to 0 if none does. */
enum leat_status string_finder_at(const struct string_finder *f, struct string_search *search, size_t at, size_t *end,
                                  uint32_t *number, struct leat_error *err);

/* Returns the length of the longest string. */
size_t string_finder_longest(const struct string_finder *f);

#endif
