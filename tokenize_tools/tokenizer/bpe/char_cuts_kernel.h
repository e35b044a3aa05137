/*
 * char_cuts_kernel.h: cuts pretokens where char_cuts.h allows it, for pretoken_kernel.c.
 *
 * Whether a place is safe depends only on the characters on both sides of it. So one pass over all the text of a batch
 * finds the safe places as bits, whatever pretokens it consists of; then the ends of pretokens, which are bits too, are
 * joined with them. The result is one list of beginnings, with a mark for each stretch that is a part of a pretoken.
 */
#if !defined(__AVX2__) && !defined(LEVEL_NEON)
#define BYTES64_BY_WORDS 1
#endif
#include "base/bytes64.h"
#include "char_cuts.h"
#include "pretoken_batch.h"

/* Returns a bit for each of 64 bytes that begins a character beyond ASCII. */
static inline uint64_t block_leads(const uint8_t *text)
{
    return bytes64_from(bytes64_load(text), 0xc0);
}

/* Returns the high bit of each of four bytes that does not continue a character. */
static inline uint32_t word_starts(uint32_t word)
{
    return (~word | word << 1) & 0x80808080u;
}

/* Returns 1 if it is safe to cut before text[at], which begins a character beyond ASCII. Four bytes can be read before
 * and after the place. */
static inline uint64_t safe_at(const struct char_cuts *c, const uint8_t *text, size_t at)
{
    uint32_t before = bytes_load32(text + at - 4), after = bytes_load32(text + at);
    uint64_t next = (uint64_t)(word_starts(after) & ~(uint32_t)0xff) | (uint64_t)1 << 39;
    uint8_t last = (uint8_t)(before >> 24);

    before >>= (31 - __builtin_clz(word_starts(before) | 0x80)) - 7;
    after &= (uint32_t)(((uint64_t)1 << (__builtin_ctzll(next) - 7)) - 1);
    return char_cuts_safe(c, before, last, after);
}

/* The ends of pretokens that are left, and the place from which they count. */
struct cut_ends {
    const uint32_t *first, *next, *last;
    uint32_t base;
};

/* Bytes for which each step is done before the next step, since a CPU cannot foresee how many places a block of 64
 * bytes has. */
#define CUT_STRETCH 4096

/* A block that has characters beyond ASCII inside of pretokens. */
struct cut_block {
    uint64_t ends, fixed, inside;
    const uint32_t *next; /* first end after the block */
    uint32_t at;          /* place in the stretch at which the block starts */
    uint32_t first;       /* number of the first place of `inside` */
};

struct cut_stretch {
    uint32_t count;
    struct cut_block blocks[CUT_STRETCH / 64];
    /* for mark_safe(): the places inside pretokens of all blocks, and a bit for each by its number; eight are
     * written at a time */
    uint32_t place_count;
    uint16_t places[CUT_STRETCH + 64];
    uint8_t safe[CUT_STRETCH / 8 + 8];
    uint8_t copy[4 + CUT_STRETCH + 4 + 64];
};

/* Notes, by bits, which pretokens are fixed: of those that end where pretokens number `first` and so on begin. */
static inline void note_fixed(struct pretoken_batch *b, uint32_t first, uint32_t which)
{
    for (; which; which &= which - 1)
        b->fixed[b->fixed_count++] = first + (uint32_t)__builtin_ctz(which) - 1;
}

/* Each level has its own functions: put_pretokens(), take_ends(), put_all(); with AVX-512 safe_leads(), which does
 * block_safe() for many places; with AVX2 list_places() and mark_safe(), for the places of a whole stretch. */
#if defined(__AVX512F__)
#include "char_cuts_avx512.h"
#else
#if defined(__AVX2__)
#include "char_cuts_avx2.h"
#endif
#include "char_cuts_plain.h"
#endif

/* Number of places that are looked at together, if the CPU can. */
#define CUT_MANY 4

/* Returns bits for the safe ones among places `leads` of 64 bytes. Four more bytes can be read before and after
 * them. */
static inline uint64_t block_safe(const struct char_cuts *c, const uint8_t *text, uint64_t leads)
{
    uint64_t safe = 0;

#if defined(__AVX512F__)
    if (__builtin_popcountll(leads) >= CUT_MANY)
        return safe_leads(c, text, leads);
#endif
    for (; leads; leads &= leads - 1) {
        size_t i = (size_t)__builtin_ctzll(leads);

        safe |= safe_at(c, text, i) << i;
    }
    return safe;
}

/* Returns the text of a stretch, with four more bytes that can be read on both sides: near the ends of text[0..room)
 * it is a copy. */
static inline const uint8_t *stretch_text(struct cut_stretch *s, const uint8_t *text, size_t room, size_t at)
{
    size_t before = at < 4 ? at : 4, behind = room - at < CUT_STRETCH + 4 ? room - at : CUT_STRETCH + 4;

    if (before == 4 && behind == CUT_STRETCH + 4)
        return text + at;
    memset(s->copy, 0, 4);
    memcpy(s->copy + 4 - before, text + at - before, before + behind);
    memset(s->copy + 4 + behind, 0, 64);
    return s->copy + 4;
}

/* ---- Pretokens and cuts in their order --------------------------------------------------------------------------- */

/* Returns the places after the last one of these. */
static inline uint64_t behind_last(uint64_t bits)
{
    return bits ? ~(((uint64_t)2 << (63 - __builtin_clzll(bits))) - 1) : ~(uint64_t)0;
}

/* Returns the places inside fixed pretokens: those that end here, and one that goes on. */
static inline uint64_t inside_fixed(const struct cut_ends *e, uint64_t ends, uint64_t fixed)
{
    uint64_t inside = e->next < e->last && *e->next & MODEL_FIXED ? behind_last(ends) : 0;

    for (; fixed; fixed &= fixed - 1) {
        uint64_t before = (fixed & -fixed) - 1;

        inside |= before & behind_last(ends & before);
    }
    return inside;
}

/* Returns the places in pretokens of more than CHAR_CUTS_MIN bytes. Pretokens begin at `ends`, and one begins
 * `before` bytes before the first place; the last one ends `behind` bytes after the first place. */
static inline uint64_t inside_long(uint64_t ends, uint32_t before, uint32_t behind)
{
    uint64_t first = ends & -ends, last = behind_last(ends), none = ~ends & ~last & ~(first - 1);

    if (!ends)
        return before + behind > CHAR_CUTS_MIN ? ~(uint64_t)0 : 0;
    none &= none >> 1; /* places followed by no end for two bytes, then four, eight, fifteen */
    none &= none >> 2;
    none &= none >> 4;
    none &= none >> 7;
    none |= none << 1;
    none |= none << 2;
    none |= none << 4;
    none |= none << 7;
    if (before + (uint32_t)__builtin_ctzll(ends) > CHAR_CUTS_MIN)
        none |= first - 1;
    return behind - (63 - (uint32_t)__builtin_clzll(ends)) > CHAR_CUTS_MIN ? none | last : none;
}

/* Writes the pretokens that begin at `ends` and at safe places, from `at` on. `parts` says which is which. */
static inline uint32_t put_both(const struct char_cuts *c, struct pretoken_batch *b, uint32_t count, uint32_t at,
                                const struct cut_block *block, uint64_t safe)
{
    uint64_t all = block->ends | safe;

    for (uint64_t fixed = block->fixed; fixed; fixed &= fixed - 1)
        note_fixed(b, count + (uint32_t)__builtin_popcountll(all & ((fixed & -fixed) - 1)), 1);
    return put_all(c, b, count, at, all, block->ends);
}

/* Sets the kinds of pretokens. A pretoken that begins and ends where one of the text does is whole. The others are
 * looked at without a branch on their kind. */
static void tell_kinds(const struct orphans *orphans, struct pretoken_batch *b)
{
    const uint64_t ones = BYTES_EACH(1);
    uint32_t *at = b->missed, count = 0; /* nothing is missed yet */

    for (uint32_t i = 0; orphans && i < b->count; i += 8) {
        uint64_t whole = bytes_load64(b->parts + i) & bytes_load64(b->parts + i + 1);

        for (uint32_t k = 0; whole != ones && k < 8; k++) {
            at[count] = i + k;
            count += !(whole >> 8 * k & 1);
        }
    }
    memset(b->parts, 0, b->count);
    for (uint32_t k = 0; k < count; k++)
        if (at[k] < b->count)
            b->parts[at[k]] =
                orphan_maybe(orphans, b->text + b->begins[at[k]], b->begins[at[k] + 1] - b->begins[at[k]]);
}

/* Passes over the ends that lie before a place. */
static inline void skip_ends(struct cut_ends *e, uint32_t place)
{
    while (e->last - e->next > 8 && (e->next[7] & ~MODEL_FIXED) - e->base < place)
        e->next += 8;
    while (e->next < e->last && (*e->next & ~MODEL_FIXED) - e->base < place)
        e->next++;
}

/* Blocks of 64 bytes as bits, a word for each stretch. */
#define CUT_WORDS (BATCH_BYTES / CUT_STRETCH)

/* Marks the blocks that have a part of a pretoken, if that is long. */
static inline void mark_long(uint64_t *blocks, uint32_t begin, uint32_t end, uint32_t bytes)
{
    if (end - begin > CHAR_CUTS_MIN)
        for (uint32_t i = begin / 64; 64 * i < end && 64 * i < bytes; i++)
            blocks[i / 64] |= (uint64_t)1 << i % 64;
}

/* Marks the blocks that have a part of a long pretoken: most have none. */
static void find_long_blocks(const struct pretoken_cut *w, uint64_t *blocks)
{
    const uint32_t *end = w->ends;
    uint32_t begin = 0;

    memset(blocks, 0, CUT_WORDS * sizeof *blocks);
    for (; end < w->last && begin < w->bytes; end++) {
#if defined(__AVX2__)
        for (; end > w->ends && w->last - end >= 8; end += 8) {
            const __m256i fixed = _mm256_set1_epi32((int)MODEL_FIXED);
            __m256i from = _mm256_andnot_si256(fixed, _mm256_loadu_si256((const __m256i *)(end - 1)));
            __m256i to = _mm256_andnot_si256(fixed, _mm256_loadu_si256((const __m256i *)end));
            __m256i is_long = _mm256_cmpgt_epi32(_mm256_sub_epi32(to, from), _mm256_set1_epi32(CHAR_CUTS_MIN));
            unsigned which = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(is_long));

            for (; which; which &= which - 1) {
                const uint32_t *at = end + __builtin_ctz(which);

                mark_long(blocks, (at[-1] & ~MODEL_FIXED) - w->base, (*at & ~MODEL_FIXED) - w->base, w->bytes);
            }
            if ((end[7] & ~MODEL_FIXED) - w->base >= w->bytes)
                return;
        }
        if (end > w->ends)
            begin = (end[-1] & ~MODEL_FIXED) - w->base;
        if (end == w->last)
            return;
#endif
        mark_long(blocks, begin, (*end & ~MODEL_FIXED) - w->base, w->bytes);
        begin = (*end & ~MODEL_FIXED) - w->base;
    }
}

/* Finds the blocks in which cuts may be made, of those `which` in `bytes` bytes from `at` on. */
static void find_blocks(const struct char_cuts *c, struct cut_stretch *s, const uint8_t *text, uint32_t at,
                        uint32_t bytes, uint64_t which, struct cut_ends *e)
{
    s->count = s->place_count = 0;
    for (; which; which &= which - 1) {
        uint32_t i = 64 * (uint32_t)__builtin_ctzll(which);
        uint32_t from = at + i, limit = bytes - i < 64 ? at + bytes : from + 64, begin;
        uint64_t leads = block_leads(text + i) & ~(uint64_t)0 >> (64 - (limit - from));
        struct cut_block *b = &s->blocks[s->count];

        if (from == 0)
            leads &= ~(uint64_t)1;
        if (!leads)
            continue;
        skip_ends(e, from);
        begin = e->next > e->first ? (e->next[-1] & ~MODEL_FIXED) - e->base : 0; /* the pretoken that goes on */
        b->ends = take_ends(e, from, limit, &b->fixed);
        b->inside = leads & ~(b->ends | inside_fixed(e, b->ends, b->fixed));
        if (c->long_only && b->inside) {
            uint32_t next = e->next < e->last ? (*e->next & ~MODEL_FIXED) - e->base : at + bytes;

            b->inside &= inside_long(b->ends, from - begin, next - from);
        }
        if (!b->inside)
            continue;
        b->at = i;
        b->next = e->next;
        s->count++;
#if defined(CUT_BY_LIST)
        list_places(c, s, b);
#endif
    }
}

static uint32_t put_blocks(const struct char_cuts *c, const struct pretoken_cut *w, struct cut_ends *e,
                           struct pretoken_batch *b)
{
    struct cut_ends ahead = *e;
    uint64_t blocks[CUT_WORDS];
    struct cut_stretch s;
    uint32_t count = 1;

    if (c->long_only)
        find_long_blocks(w, blocks);
    for (uint32_t at = 0; at < w->bytes; at += CUT_STRETCH) {
        uint32_t bytes = w->bytes - at < CUT_STRETCH ? w->bytes - at : CUT_STRETCH;
        const uint8_t *text = stretch_text(&s, w->text, w->room, at);

        find_blocks(c, &s, text, at, bytes,
                    c->long_only ? blocks[at / CUT_STRETCH] : ~(uint64_t)0 >> (63 - (bytes - 1) / 64), &ahead);
#if defined(CUT_BY_LIST)
        mark_safe(c, &s, text);
#endif
        for (uint32_t i = 0; i < s.count; i++) {
            const struct cut_block *block = &s.blocks[i];
#if defined(CUT_BY_LIST)
            uint64_t safe = marked_safe(&s, block);
#else
            uint64_t safe = block_safe(c, text + block->at, block->inside);
#endif

            count = put_pretokens(b, count, e, at + block->at);
            count = put_both(c, b, count, at + block->at, block, safe);
            e->next = block->next;
        }
    }
    return put_pretokens(b, count, e, w->bytes);
}

static const uint32_t *cut(const struct pretoken_cut *w, struct pretoken_batch *b)
{
    struct cut_ends e = { w->ends, w->ends, w->last, w->base };
    uint32_t bytes = w->bytes, count;

    b->begins[0] = b->fixed_count = 0;
    b->parts[0] = 1;
    count = w->cuts ? put_blocks(w->cuts, w, &e, b) : put_pretokens(b, 1, &e, bytes);
    if (e.next < e.last && *e.next == ((bytes + e.base) | MODEL_FIXED))
        note_fixed(b, count, 1);
    b->begins[count] = bytes;
    b->parts[count] = 1;
    b->count = count;
    tell_kinds(w->cuts ? w->orphans : NULL, b);
    return e.next;
}
