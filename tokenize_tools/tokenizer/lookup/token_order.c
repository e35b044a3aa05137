/*
 * token_order.c: see token_order.h.
 *
 * Most texts differ in their first eight bytes. So these are sorted as numbers, sixteen bits at a time from the low end
 * on, which looks at each token four times. Texts that are equal so far are compared by the next eight, which are put
 * in the same place, and only then as a whole: that has to fetch both.
 */
#include "token_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#define DIGIT_BITS 16u
#define DIGITS     (1u << DIGIT_BITS)

struct entry {
    uint64_t head; /* the first eight bytes, later the next eight, the first one highest; zeros after a shorter text */
    uint32_t token;
};

struct comparing {
    const struct tokenizer_spec *spec;
    bool last_first;
};

/* Eight bytes from `at` on. */
static uint64_t head_of(const struct tokenizer_spec *spec, uint32_t token, uint32_t at)
{
    const struct spec_token *t = &spec->tokens[token];
    const uint8_t *text = spec_token_bytes(spec, t);
    uint64_t head = 0;

    for (uint32_t i = at; i < at + 8; i++)
        head = head << 8 | (i < t->length ? text[i] : 0);
    return head;
}

static void sort_digit(const struct entry *from, struct entry *to, uint32_t count, unsigned shift, uint32_t *places)
{
    uint32_t next = 0;

    memset(places, 0, DIGITS * sizeof *places);
    for (uint32_t i = 0; i < count; i++)
        places[from[i].head >> shift & (DIGITS - 1)]++;
    for (uint32_t k = 0; k < DIGITS; k++) {
        uint32_t here = places[k];

        places[k] = next;
        next += here;
    }
    for (uint32_t i = 0; i < count; i++)
        to[places[from[i].head >> shift & (DIGITS - 1)]++] = from[i];
}

static int compare(const void *a, const void *b, void *context)
{
    const struct comparing *c = context;
    uint32_t one = ((const struct entry *)a)->token, two = ((const struct entry *)b)->token;
    const struct spec_token *x = &c->spec->tokens[one], *y = &c->spec->tokens[two];
    uint64_t head_one = ((const struct entry *)a)->head, head_two = ((const struct entry *)b)->head;
    uint32_t common = x->length < y->length ? x->length : y->length;
    int order = (head_one > head_two) - (head_one < head_two);

    if (order == 0)
        order = memcmp(spec_token_bytes(c->spec, x), spec_token_bytes(c->spec, y), common);
    if (order == 0)
        order = (x->length > y->length) - (x->length < y->length);
    if (order == 0)
        order = c->last_first ? (one < two) - (one > two) : (one > two) - (one < two);
    return order;
}

/* Four passes, so that the result is where it began. */
static void sort(struct entry *entries, struct entry *spare, uint32_t count, uint32_t *places, struct comparing *c)
{
    for (unsigned pass = 0; pass < 4; pass++)
        sort_digit(pass % 2 ? spare : entries, pass % 2 ? entries : spare, count, pass * DIGIT_BITS, places);
    for (uint32_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && entries[end].head == entries[begin].head;)
            end++;
        if (end == begin + 1)
            continue;
        for (uint32_t i = begin; i < end; i++)
            entries[i].head = head_of(c->spec, entries[i].token, 8);
        qsort_r(&entries[begin], end - begin, sizeof *entries, compare, c);
    }
}

enum leat_status token_order_make(uint32_t **order, uint32_t *count, const struct tokenizer_spec *spec,
                                  token_order_wanted *wanted, bool last_first, struct leat_error *err)
{
    size_t room = (size_t)spec->token_count + 1;
    struct entry *entries = malloc(2 * room * sizeof *entries);
    uint32_t *places = malloc(DIGITS * sizeof *places), *out = malloc(room * sizeof *out), n = 0;
    struct comparing c = { spec, last_first };

    if (!entries || !places || !out) {
        free(entries);
        free(places);
        free(out);
        return status_no_memory(err, 2 * room * sizeof *entries);
    }
    for (uint32_t i = 0; i < spec->token_count; i++)
        if (wanted(&spec->tokens[i]))
            entries[n++] = (struct entry) { head_of(spec, i, 0), i };
    sort(entries, entries + room, n, places, &c);
    for (uint32_t i = 0; i < n; i++)
        out[i] = entries[i].token;
    free(entries);
    free(places);
    *order = out;
    *count = n;
    return LEAT_OK;
}
