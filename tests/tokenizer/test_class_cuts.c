/*
 * test_class_cuts.c: cuts by the bytes around them (class_cuts.h). Random sets of pairs between which must not be cut:
 * the tables never allow such a cut, nor one inside a character, and where the sets fall into eight classes they lose
 * none. Every row of kernels finds what the tables say, on random bytes of every length around a block, reading no
 * further.
 */
#include "t.h"

#include "tokenizer/bpe/class_cuts.h"

static uint64_t state;

static bool is_continuation(unsigned byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Rows of at most `kinds` kinds. */
static void make_pairs(struct class_cuts_pairs *p, unsigned kinds, unsigned dense)
{
    uint64_t rows[64][4] = { { 0 } };

    for (unsigned k = 0; k < kinds; k++)
        for (unsigned b = 0; b < 256; b++)
            rows[k][b / 64] |= (uint64_t)(t_below(&state, 100) < dense) << b % 64;
    for (unsigned a = 0; a < 256; a++)
        memcpy(p->rows[a], rows[t_below(&state, kinds)], sizeof p->rows[a]);
}

static void check_tables(const struct class_cuts *c, const struct class_cuts_pairs *p, bool exact)
{
    for (unsigned a = 0; a < 0xc0; a++)
        for (unsigned b = 0; b < 256; b++) {
            bool cut = !(c->before[a] & c->after[b]), unsafe = p->rows[a][b / 64] >> b % 64 & 1;

            if (cut && (unsafe || is_continuation(b)))
                T_FAIL("a cut between %02x and %02x", a, b);
            if (exact && !cut && !unsafe && !is_continuation(b))
                T_FAIL("no cut between %02x and %02x", a, b);
        }
}

static void check_kernels(const struct class_cuts *c)
{
    const struct class_cuts_kernels *k;
    int usable;

    for (unsigned row = 0; (k = class_cuts_kernels_row(row, &usable)) != NULL; row++) {
        size_t bytes = 2 + t_below(&state, 300), from = 1 + t_below(&state, 3), reached, count, n = 0;
        size_t enough = 1 + t_below(&state, 200), to;
        uint8_t *text = malloc(bytes); /* of exactly this size, for the sanitizer */
        uint32_t cuts[200 + CUT_SLACK];

        for (size_t i = 0; i < bytes; i++)
            text[i] = (uint8_t)t_below(&state, 256);
        from = from < bytes ? from : 1;
        to = t_below(&state, 2) ? bytes : from + t_below(&state, bytes - from + 1);
        if (usable) {
            count = k->find(c, text, bytes, from, to, cuts, enough, &reached);
            T_CHECK(count < enough + CUT_SLACK && reached <= to && (count >= enough || reached == to));
            for (size_t i = from; i < reached; i++)
                if (!(c->before[text[i - 1]] & c->after[text[i]]))
                    T_CHECK(n < count && cuts[n++] == i);
            T_EQ(n, count);
        }
        free(text);
    }
}

int main(void)
{
    static struct class_cuts_pairs pairs;
    struct class_cuts classes;

    state = t_seed();
    for (unsigned i = 0; i < t_times(60); i++) {
        unsigned kinds = 1 + (unsigned)t_below(&state, i % 2 ? 8 : 64), dense = (unsigned)t_below(&state, 101);

        make_pairs(&pairs, kinds, dense);
        class_cuts_make(&classes, &pairs);
        check_tables(&classes, &pairs, kinds <= 8);
        for (int k = 0; k < 50; k++)
            check_kernels(&classes);
    }
    return t_end();
}
