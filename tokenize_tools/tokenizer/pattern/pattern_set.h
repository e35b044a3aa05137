/*
 * pattern_set.h: sets of code points, as bit maps, for the character classes of an expression.
 */
#ifndef LEAT_TOKENIZER_PATTERN_SET_H
#define LEAT_TOKENIZER_PATTERN_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokenizer/unicode/unicode.h"

#define PATTERN_SET_POINTS 0x110000u
#define PATTERN_SET_WORDS  (PATTERN_SET_POINTS / 64)

struct pattern_set {
    uint64_t words[PATTERN_SET_WORDS];
};

static inline bool pattern_set_has(const struct pattern_set *s, uint32_t c)
{
    return s->words[c / 64] >> c % 64 & 1;
}

void pattern_set_clear(struct pattern_set *s);
void pattern_set_add(struct pattern_set *s, uint32_t first, uint32_t last);
void pattern_set_remove(struct pattern_set *s, uint32_t first, uint32_t last);
void pattern_set_invert(struct pattern_set *s);

/* Makes the set of code points that have one of `mask`'s bits in that edition. */
void pattern_set_class(struct pattern_set *s, const struct unicode_classes *classes, unsigned mask);

/* Adds the code points that have a property of property_tables.h, by its name in small letters without blanks, '-' and
 * '_'. Returns false if that table does not have it. */
bool pattern_set_property(struct pattern_set *s, const char *name);

enum pattern_set_operation { PATTERN_SET_UNION, PATTERN_SET_INTERSECTION, PATTERN_SET_DIFFERENCE };

/* s = s operation other */
void pattern_set_combine(struct pattern_set *s, const struct pattern_set *other, enum pattern_set_operation operation);

bool pattern_set_equal(const struct pattern_set *a, const struct pattern_set *b);

/* Makes the set of characters beyond ASCII that may have another case, except U+017F and U+212A. It may have some
 * without another case, too. */
void pattern_set_cased(struct pattern_set *s, const struct unicode_classes *classes);

/*
 * Adds the other case of every member, if that needs only ASCII's letters (and U+017F and U+212A, which are S and K in
 * both dialects). Returns false, and the set is of no use, if it holds some but not all of `cased`, the set of
 * pattern_set_cased(): there is no table of the pairs of other letters.
 */
bool pattern_set_fold(struct pattern_set *s, const struct pattern_set *cased);

#endif
