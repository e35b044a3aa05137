/* class_cuts.c: makes the classes. Each set of followers begins as a class of its own; then two classes at a time
 * become one, first those whose union loses the fewest cuts, until eight are left. */
#include "class_cuts.h"

#include <string.h>

#include "base/cpu.h"

#define CLASSES 8

/* clang-format off */
/* How often each byte occurs, in 200,000 bytes of English, many languages and code, a third each; at least 1. */
static const uint16_t frequency[256] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1017, 3998, 1, 1, 288, 1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    30705, 89, 849, 231, 109, 42, 141, 608, 975, 974, 490, 87, 1772, 1474, 1955, 883,
    703, 563, 434, 267, 227, 183, 174, 131, 167, 126, 736, 474, 177, 723, 275, 65,
    75, 520, 245, 462, 313, 559, 264, 163, 183, 592, 54, 82, 347, 355, 328, 340,
    396, 45, 381, 596, 707, 188, 116, 151, 119, 87, 22, 217, 144, 215, 27, 1270,
    655, 7959, 1643, 3475, 3911, 12179, 2303, 2019, 3711, 7167, 281, 1008, 4451, 2677, 7077, 6934,
    2623, 228, 6441, 6697, 9080, 3397, 1043, 1339, 597, 1573, 277, 306, 110, 304, 31, 1,
    930, 1654, 1023, 379, 387, 259, 196, 322, 329, 206, 205, 550, 403, 244, 96, 214,
    142, 147, 163, 157, 223, 377, 175, 203, 158, 206, 152, 153, 209, 166, 323, 270,
    174, 235, 103, 195, 1039, 374, 315, 377, 367, 238, 403, 211, 135, 217, 368, 299,
    610, 306, 350, 239, 276, 456, 148, 186, 1114, 374, 352, 334, 523, 679, 657, 268,
    1, 1, 26, 380, 98, 53, 21, 1, 6, 12, 14, 1, 41, 1, 173, 90,
    2635, 1125, 8, 20, 1, 1, 1, 205, 698, 457, 59, 115, 1, 1, 1, 1,
    2740, 539, 107, 1932, 230, 580, 428, 295, 270, 218, 141, 189, 269, 96, 1, 94,
    17, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
};
/* clang-format on */

struct making {
    uint64_t follows[256][4]; /* bytes that must not be cut off after the class */
    uint32_t weight[256];     /* how often its bytes occur */
    uint8_t of[256];          /* a byte's class */
    unsigned count;
};

static bool is_continuation(unsigned byte)
{
    return (byte & 0xc0) == 0x80;
}

/* Puts bytes with equal followers into one class. The byte after a lead byte is inside its character. */
static void class_bytes_by_followers(struct making *m, const struct class_cuts_pairs *pairs)
{
    for (unsigned a = 0; a < 256; a++) {
        unsigned k = 0;

        if (a >= 0xc0)
            continue;
        while (k < m->count && memcmp(m->follows[k], pairs->rows[a], sizeof m->follows[k]) != 0)
            k++;
        if (k == m->count)
            memcpy(m->follows[m->count++], pairs->rows[a], sizeof m->follows[k]);
        m->weight[k] += frequency[a];
        m->of[a] = (uint8_t)k;
    }
}

/* Returns how often one of these bytes occurs. */
static uint64_t weigh(uint64_t set, unsigned word)
{
    uint64_t sum = 0;

    for (; set; set &= set - 1)
        sum += frequency[64 * word + (unsigned)__builtin_ctzll(set)];
    return sum;
}

/* Returns the cuts that are lost when two classes become one: between the bytes of each and the followers of the
 * other. */
static uint64_t cost(const struct making *m, unsigned a, unsigned b)
{
    uint64_t sum = 0;

    for (unsigned w = 0; w < 4; w++)
        sum += m->weight[a] * weigh(m->follows[b][w] & ~m->follows[a][w], w) +
               m->weight[b] * weigh(m->follows[a][w] & ~m->follows[b][w], w);
    return sum;
}

static void unite(struct making *m, unsigned a, unsigned b)
{
    unsigned last = --m->count;

    for (unsigned w = 0; w < 4; w++)
        m->follows[a][w] |= m->follows[b][w];
    m->weight[a] += m->weight[b];
    memcpy(m->follows[b], m->follows[last], sizeof m->follows[b]);
    m->weight[b] = m->weight[last];
    for (unsigned i = 0; i < 256; i++)
        m->of[i] = m->of[i] == b ? (uint8_t)a : m->of[i] == last ? (uint8_t)b : m->of[i];
}

static void find_partner(const struct making *m, unsigned a, uint64_t *min, uint8_t *partner)
{
    *min = UINT64_MAX;
    for (unsigned b = a + 1; b < m->count; b++) {
        uint64_t c = cost(m, a, b);

        if (c < *min) {
            *min = c;
            *partner = (uint8_t)b;
        }
    }
}

/* Joins the two classes whose union costs least, again and again. Each class remembers its cheapest partner, since a
 * union changes few. */
static void reduce(struct making *m)
{
    uint64_t min[256];
    uint8_t partner[256];
    bool stale[256];

    memset(stale, 1, sizeof stale);
    while (m->count > CLASSES) {
        unsigned best = 0, second;

        for (unsigned a = 0; a + 1 < m->count; a++) {
            if (stale[a])
                find_partner(m, a, &min[a], &partner[a]);
            stale[a] = false;
            if (min[a] < min[best])
                best = a;
        }
        second = partner[best];
        unite(m, best, second);
        for (unsigned a = 0; a < m->count; a++)
            stale[a] = stale[a] || a == best || a == second || partner[a] == best || partner[a] == second ||
                       partner[a] == m->count;
    }
}

/* Makes the tables. Bytes that begin a character have the class of the byte that is lower by 64: what follows them
 * must not be cut off anyway, and kernels need not tell them apart. */
void class_cuts_make(struct class_cuts *c, const struct class_cuts_pairs *pairs)
{
    struct making m = { .count = 0 };

    class_bytes_by_followers(&m, pairs);
    reduce(&m);
    memset(c, 0, sizeof *c);
    for (unsigned i = 0; i < 256; i++) {
        c->before[i] = (uint8_t)(1u << m.of[i < 0xc0 ? i : i - 64]);
        for (unsigned k = 0; k < m.count; k++)
            if (is_continuation(i) || (m.follows[k][i / 64] >> i % 64 & 1))
                c->after[i] |= (uint8_t)(1u << k);
        for (unsigned bits = i, n = 0; bits; bits &= bits - 1)
            c->bits[i][n++] = (uint8_t)__builtin_ctz(bits);
    }
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

extern const struct class_cuts_kernels class_cuts_kernels_plain;
#if defined(__x86_64__)
extern const struct class_cuts_kernels class_cuts_kernels_avx2, class_cuts_kernels_avx512vbmi;
#elif defined(__aarch64__) && defined(__ARM_NEON)
extern const struct class_cuts_kernels class_cuts_kernels_neon;
#endif

/* The kernels, fastest first; the last one needs nothing, so it ends every search. */
static const struct cpu_row rows[] = {
#if defined(__x86_64__)
    { CPU_AVX512_VBMI, &class_cuts_kernels_avx512vbmi },
    { CPU_AVX2, &class_cuts_kernels_avx2 },
#elif defined(__aarch64__) && defined(__ARM_NEON)
    { CPU_PLAIN, &class_cuts_kernels_neon },
#endif
    { CPU_PLAIN, &class_cuts_kernels_plain },
};

const struct class_cuts_kernels *class_cuts_kernels(void)
{
    return cpu_choose(rows);
}

const struct class_cuts_kernels *class_cuts_kernels_row(unsigned number, int *usable)
{
    return cpu_row(rows, sizeof rows / sizeof rows[0], number, usable);
}
