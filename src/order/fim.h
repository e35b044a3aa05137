/*
 * fim.h: fill-in-the-middle: whether a fragment of a document is changed, in which form, and where it is cut. Pure
 * arithmetic: docs/ORDER.md, "Fill-in-the-middle", version 1, is the rule; another rule is another version.
 */
#ifndef LEAT_FIM_H
#define LEAT_FIM_H

#include <stdbool.h>
#include <stdint.h>

#include "permute.h"

#define FIM_VERSION 1u
#define FIM_TOKENS  3u /* tokens that a changed body gets, and loses at its end */

/* The shares, in units of 10^-18, at most 1, of bodies that are changed, and of changed bodies that have the form
 * SPM. */
struct fim_rule {
    uint64_t rate, spm;
};

/* The places where a body is cut, as the number of tokens of each part. */
struct fim_cut {
    uint32_t prefix, middle, suffix;
    bool spm;
};

/* Returns the numbers of a source's documents. */
struct permute fim_numbers(uint64_t seed, uint64_t source);

/* Computes where a body of `tokens` tokens of a document is cut in sample n. Returns false if it is not changed. */
bool fim_cut(const struct fim_rule *rule, const struct permute *numbers, uint64_t n, uint64_t document, uint32_t tokens,
             struct fim_cut *cut);

#endif
