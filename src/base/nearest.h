/* nearest.h: how near a mistyped word is to a known one, for sentences that name what was probably meant. */
#ifndef LEAT_BASE_NEAREST_H
#define LEAT_BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Returns how many letters must be inserted, dropped, changed or swapped with a neighbour to turn `word` into
 * `candidate`; at most 1 if `candidate` begins with `word`. Only the first 128 letters count. */
size_t nearest_distance(const char *word, const char *candidate);

/* Returns true if somebody who wrote `word` probably meant the candidate, which is at this distance. */
bool nearest_is_near(const char *word, const char *candidate, size_t distance);

#endif
