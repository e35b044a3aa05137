/*
 * string_finder.h: finds any of a set of strings in a text: the leftmost place where one begins, and there the longest.
 * For added tokens ("<|endoftext|>"), which cut a text before anything else looks at it.
 */
#ifndef LEAT_TOKENIZER_STRING_FINDER_H
#define LEAT_TOKENIZER_STRING_FINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

struct string_finder;

enum leat_status string_finder_make(struct string_finder **out, struct leat_error *err);
void string_finder_free(struct string_finder *f);

/* Adds a string with the caller's number for it; two equal ones are refused. Empty: ignored. */
enum leat_status string_finder_add(struct string_finder *f, const uint8_t *text, size_t bytes, uint32_t number,
                                   struct leat_error *err);

/* The first match at or after `from`; false if there is none. */
bool string_finder_next(const struct string_finder *f, const uint8_t *text, size_t bytes, size_t from, size_t *start,
                        size_t *end, uint32_t *number);

/* The length of the longest string: a match cannot reach further than this across a cut. */
size_t string_finder_longest(const struct string_finder *f);

#endif
