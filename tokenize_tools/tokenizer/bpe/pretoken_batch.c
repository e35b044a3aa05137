/*
 * pretoken_batch.c: the table of kernels over batches of pretokens, and filling a batch; see pretoken_batch.h.
 */
#include "pretoken_batch.h"

#include <string.h>

#include "base/cpu.h"
#include "base/utf8.h"

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

extern const struct pretoken_kernels pretoken_kernels_plain;
#if defined(__x86_64__)
extern const struct pretoken_kernels pretoken_kernels_avx2, pretoken_kernels_avx512, pretoken_kernels_avx512vbmi;
#elif defined(__aarch64__) && defined(__ARM_NEON)
extern const struct pretoken_kernels pretoken_kernels_neon;
#endif

/* Fastest first; the last needs nothing, so it ends every search. */
static const struct {
    enum cpu_level needs;
    const struct pretoken_kernels *kernels;
} rows[] = {
#if defined(__x86_64__)
    { CPU_AVX512_VBMI, &pretoken_kernels_avx512vbmi },
    { CPU_AVX512, &pretoken_kernels_avx512 },
    { CPU_AVX2, &pretoken_kernels_avx2 },
#elif defined(__aarch64__) && defined(__ARM_NEON)
    { CPU_PLAIN, &pretoken_kernels_neon },
#endif
    { CPU_PLAIN, &pretoken_kernels_plain },
};

const struct pretoken_kernels *pretoken_kernels(void)
{
    enum cpu_level level = cpu_level();
    unsigned i = 0;

    while (rows[i].needs > level)
        i++;
    return rows[i].kernels;
}

const struct pretoken_kernels *pretoken_kernels_row(unsigned number, int *usable)
{
    if (number >= sizeof rows / sizeof rows[0])
        return NULL;
    if (usable)
        *usable = rows[number].needs <= cpu_level();
    return rows[number].kernels;
}

/* ---- Filling ----------------------------------------------------------------------------------------------------- */

void pretoken_place_text(struct pretoken_place *p, struct pretoken_batch *b, const struct pretoken_rest *r)
{
    size_t left = r->bytes - r->begin;

    b->text = r->text + r->begin;
    p->room = left;
    p->max = left - PRETOKEN_AHEAD < BATCH_BYTES ? (uint32_t)(left - PRETOKEN_AHEAD) : BATCH_BYTES;
    if (left < PRETOKEN_AHEAD) {
        memset(p->copy, 0, sizeof p->copy);
        memcpy(p->copy, b->text, left);
        b->text = p->copy;
        p->room = sizeof p->copy;
        p->max = PRETOKEN_AHEAD;
    }
}

/* Moves on to a place, which may be inside of a pretoken; `next`: the first end that is not before. */
static void move_on(struct pretoken_rest *r, const uint32_t *next, uint32_t to)
{
    r->inside = next == r->last || pretoken_end(next) != to;
    r->ends = next + !r->inside;
    r->begin = to;
}

void pretoken_fill(struct pretoken_batch *b, const struct pretoken_kernels *kernels, const struct char_cuts *cuts,
                   const struct orphans *orphans, struct pretoken_rest *r, const struct pretoken_place *p)
{
    uint32_t base = r->begin, bytes = pretoken_end(r->last - 1) - base;
    const uint32_t *ends = r->ends, *next;
    bool inside = r->inside;

    if (bytes > BATCH_BYTES)
        for (bytes = BATCH_BYTES; (b->text[bytes] & 0xc0) == 0x80;)
            bytes--;
    if (!cuts->pairs || !bytes_any_high(b->text, bytes))
        cuts = NULL;
    next = kernels->cut(&(struct pretoken_cut) { cuts, orphans, b->text, bytes, p->room, ends, r->last, base }, b);
    if (inside)
        b->parts[0] = orphans != NULL;
    move_on(r, next, base + bytes);
    b->count -= r->inside;
    while (b->count > 0 && b->begins[b->count - 1] > p->max)
        b->count--;
    while (b->fixed_count > 0 && b->fixed[b->fixed_count - 1] >= b->count)
        b->fixed_count--;
    bytes = b->begins[b->count];
    while (next > ends && pretoken_end(next - 1) >= base + bytes)
        next--;
    move_on(r, next, base + bytes);
    if (b->count == 0)
        r->inside = inside;
}
