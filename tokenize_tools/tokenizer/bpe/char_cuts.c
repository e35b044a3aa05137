/* char_cuts.c: see char_cuts.h. All tokens count, also those that no merge makes: a pretoken that is one stays
 * whole. */
#include "char_cuts.h"

#include <stdlib.h>

#include "base/status.h"

/* Bits per pair, at least: then one pair in sixteen is taken as unsafe for no reason. */
#define BITS_A_PAIR 16
#define MIN_BITS    14
#define MAX_BITS    20

static void add_partial(struct char_cuts *c, uint8_t before, uint8_t after)
{
    c->partial[before][after >> 5 & 1] |= (uint32_t)1 << (after & 31);
    c->has_partial = true;
}

/* Goes through the places in a token at which a cut could be made; counts pairs of whole characters, and notes them if
 * `note`. */
static size_t go_through(struct char_cuts *c, const uint8_t *text, size_t bytes, bool note)
{
    bool whole_before = false;
    uint32_t before = 0;
    size_t pairs = 0, at = 0;

    while (at < bytes && (text[at] & 0xc0) == 0x80)
        at++;
    while (at < bytes) {
        unsigned length = char_cuts_length(text[at]);
        bool whole = length <= bytes - at;
        uint32_t after = whole ? char_cuts_load(text + at, length, bytes - at) : 0;

        if (at > 0 && text[at] >= 0xc0) {
            bool both = whole && whole_before;

            pairs += both;
            if (note && both)
                char_cuts_add(c, before, after);
            else if (note)
                add_partial(c, text[at - 1], text[at]);
        }
        before = after;
        whole_before = whole;
        at += whole ? length : bytes - at;
    }
    return pairs;
}

static enum leat_status make_room(struct char_cuts *c, unsigned bits, struct leat_error *err)
{
    *c = (struct char_cuts) { .shift = 32 - bits, .pairs = calloc((size_t)1 << (bits - 5), sizeof *c->pairs) };
    return c->pairs ? LEAT_OK : status_no_memory(err, (size_t)1 << (bits - 3));
}

enum leat_status char_cuts_begin(struct char_cuts *c, struct leat_error *err)
{
    return make_room(c, MAX_BITS, err);
}

enum leat_status char_cuts_make(struct char_cuts *c, const struct tokenizer_spec *spec, struct leat_error *err)
{
    size_t pairs = 0;
    unsigned bits = MIN_BITS;
    enum leat_status s;

    for (uint32_t i = 0; i < spec->token_count; i++)
        if (!spec->tokens[i].foreign)
            pairs += go_through(c, spec_token_bytes(spec, &spec->tokens[i]), spec->tokens[i].length, false);
    while (bits < MAX_BITS && (size_t)1 << bits < BITS_A_PAIR * pairs)
        bits++;
    s = make_room(c, bits, err);
    for (uint32_t i = 0; s == LEAT_OK && i < spec->token_count; i++)
        if (!spec->tokens[i].foreign)
            go_through(c, spec_token_bytes(spec, &spec->tokens[i]), spec->tokens[i].length, true);
    return s;
}

void char_cuts_free(struct char_cuts *c)
{
    free(c->pairs);
    c->pairs = NULL;
}
