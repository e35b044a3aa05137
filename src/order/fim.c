#include "fim.h"

#include "decimal.h"

#define SOURCES                                                                                                        \
    ((uint64_t)1 << 62) /* numbers of sources for this; permutations of documents and of pieces use other
                                       ones */

/* A document's numbers. */
enum { CHANGES, FORM, ONE_CUT, OTHER_CUT, NUMBERS };

struct permute fim_numbers(uint64_t seed, uint64_t source)
{
    return permute_make(1, seed, SOURCES + source);
}

bool fim_cut(const struct fim_rule *rule, const struct permute *numbers, uint64_t n, uint64_t document, uint32_t tokens,
             struct fim_cut *cut)
{
    uint64_t u[NUMBERS], a, b, kept;

    if (tokens <= FIM_TOKENS)
        return false;
    kept = tokens - FIM_TOKENS;
    for (unsigned i = 0; i < NUMBERS; i++)
        u[i] = permute_number(numbers, n, NUMBERS * document + i);
    if (wide_high(u[CHANGES], DECIMAL_UNIT) >= rule->rate)
        return false;
    a = wide_high(u[ONE_CUT], kept + 1);
    b = wide_high(u[OTHER_CUT], kept + 1);
    cut->prefix = (uint32_t)(a < b ? a : b);
    cut->middle = (uint32_t)(a < b ? b - a : a - b);
    cut->suffix = (uint32_t)(kept - (a < b ? b : a));
    cut->spm = wide_high(u[FORM], DECIMAL_UNIT) < rule->spm;
    return true;
}
