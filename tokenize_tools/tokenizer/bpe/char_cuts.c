/* char_cuts.c: makes the table of pairs. All tokens count, also those that no merge makes: a pretoken that is one of
 * these stays whole. */
#include "char_cuts.h"

#include <stdlib.h>

#include "base/status.h"

/* Number of words of the table, as powers of two. */
#define MIN_BITS 8
#define MAX_BITS 14

/* Least bits of the table per pair, so that few pairs are taken as unsafe without being so. */
#define BITS_A_PAIR 32

/* Adds the characters, or parts of characters, on both sides of each place in a token at which a cut could be made. */
static void add_token(struct char_cuts *c, const uint8_t *text, size_t bytes)
{
    bool whole_before = false;
    uint32_t before = 0;
    size_t at = 0;

    while (at < bytes && (text[at] & 0xc0) == 0x80)
        at++;
    while (at < bytes) {
        unsigned length = char_cuts_length(text[at]);
        bool whole = length <= bytes - at;
        uint32_t after = whole ? char_cuts_load(text + at, length, bytes - at) : 0;

        if (at > 0 && text[at] >= 0xc0) {
            if (whole && whole_before) {
                char_cuts_add(c, before, after);
            } else {
                c->partial[text[at - 1]] |= (uint64_t)1 << (text[at] & 63);
                c->has_partial = true;
            }
        }
        before = after;
        whole_before = whole;
        at += whole ? length : bytes - at;
    }
}

enum leat_status char_cuts_begin(struct char_cuts *c, struct leat_error *err)
{
    *c = (struct char_cuts) { .shift = 32 - MAX_BITS, .pairs = calloc((size_t)1 << MAX_BITS, sizeof *c->pairs) };
    for (unsigned byte = 0; byte < 256; byte++)
        for (unsigned i = 0, count = 0; i < 8; i++)
            if (byte >> i & 1)
                c->bits[byte][count++] = (uint8_t)i;
    return c->pairs ? LEAT_OK : status_no_memory(err, ((size_t)1 << MAX_BITS) * sizeof *c->pairs);
}

void char_cuts_end(struct char_cuts *c)
{
    size_t words = (size_t)1 << (32 - c->shift), pairs = 0;

    for (size_t i = 0; i < words; i++)
        pairs += (size_t)__builtin_popcountll(c->pairs[i]);
    for (; words > (size_t)1 << MIN_BITS && BITS_A_PAIR * pairs <= 64 * words / 2; words /= 2, c->shift++)
        for (size_t i = 0; i < words / 2; i++)
            c->pairs[i] = c->pairs[2 * i] | c->pairs[2 * i + 1];
}

enum leat_status char_cuts_make(struct char_cuts *c, const struct tokenizer_spec *spec, struct leat_error *err)
{
    enum leat_status s = char_cuts_begin(c, err);

    for (uint32_t i = 0; s == LEAT_OK && i < spec->token_count; i++)
        if (!spec->tokens[i].foreign)
            add_token(c, spec_token_bytes(spec, &spec->tokens[i]), spec->tokens[i].length);
    if (s == LEAT_OK)
        char_cuts_end(c);
    return s;
}

void char_cuts_free(struct char_cuts *c)
{
    free(c->pairs);
    c->pairs = NULL;
}
