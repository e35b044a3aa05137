/*
 * char_cuts_plain.h: the part of char_cuts_kernel.h that puts pretokens and cuts in their order without AVX-512.
 */
#if defined(LEVEL_NEON)
/* Writes eight pretokens. */
static inline void put_eight(struct pretoken_batch *b, uint32_t count, const struct cut_ends *e)
{
    const uint32x4_t fixed = vdupq_n_u32(MODEL_FIXED), base = vdupq_n_u32(e->base);
    uint32x4_t low = vld1q_u32(e->next), high = vld1q_u32(e->next + 4);

    vst1q_u32(b->begins + count, vsubq_u32(vbicq_u32(low, fixed), base));
    vst1q_u32(b->begins + count + 4, vsubq_u32(vbicq_u32(high, fixed), base));
    vst1_u8(b->parts + count, vdup_n_u8(1));
    if (vmaxvq_u32(vorrq_u32(low, high)) >= MODEL_FIXED)
        for (unsigned k = 0; k < 8; k++)
            note_fixed(b, count + k, e->next[k] >> 31);
}
#endif

/* Writes the pretokens that begin before `limit`, where no place is safe to cut. */
static inline uint32_t put_pretokens(struct pretoken_batch *b, uint32_t count, struct cut_ends *e, uint32_t limit)
{
#if defined(__AVX2__) || defined(LEVEL_NEON)
    for (; e->last - e->next > 8 && (e->next[7] & ~MODEL_FIXED) - e->base < limit; e->next += 8, count += 8)
        put_eight(b, count, e);
#endif
    for (; e->next < e->last && (*e->next & ~MODEL_FIXED) - e->base < limit; count++) {
        if (*e->next & MODEL_FIXED)
            note_fixed(b, count, 1);
        b->begins[count] = (*e->next++ & ~MODEL_FIXED) - e->base;
        b->parts[count] = 1;
    }
    return count;
}

/* Takes the ends in the 64 places from `at` on, up to `limit`, and returns a bit each. *fixed gets the bits of fixed
 * pretokens. */
static inline uint64_t take_ends(struct cut_ends *e, uint32_t at, uint32_t limit, uint64_t *fixed)
{
    uint64_t ends = 0;

    *fixed = 0;
#if defined(__AVX2__)
    if (take_sixteen(e, at, limit, &ends))
        return ends;
#endif
    for (; e->next < e->last && (*e->next & ~MODEL_FIXED) - e->base < limit; e->next++) {
        uint64_t bit = (uint64_t)1 << ((*e->next & ~MODEL_FIXED) - e->base - at);

        ends |= bit;
        *fixed |= *e->next & MODEL_FIXED ? bit : 0;
    }
    return ends;
}

#if !defined(__AVX2__)
/* Writes the parts that begin at the bits of `all`, from `at` on; those at the bits of `ends` begin a pretoken. */
static inline uint32_t put_all(const struct char_cuts *c, struct pretoken_batch *b, uint32_t count, uint32_t at,
                               uint64_t all, uint64_t ends)
{
    (void)c;
    for (; all; all &= all - 1) {
        unsigned i = (unsigned)__builtin_ctzll(all);

        b->begins[count] = at + i;
        b->parts[count++] = ends >> i & 1;
    }
    return count;
}
#endif
