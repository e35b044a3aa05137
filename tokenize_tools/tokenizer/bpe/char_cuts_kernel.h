/*
 * char_cuts_kernel.h: cuts pretokens where char_cuts.h allows it, for pretoken_kernel.c.
 *
 * Whether a place is safe depends only on the characters on both sides of it. So one pass over all the text of a batch
 * finds the safe places as bits, whatever pretokens it consists of; then the ends of pretokens, which are bits too, are
 * joined with them, and one list of begins comes out, with a mark for each stretch that is a part of a pretoken.
 */
#if !defined(__AVX2__) && !defined(LEVEL_NEON)
#define BYTES64_BY_WORDS 1
#endif
#include "base/bytes64.h"
#include "char_cuts.h"
#include "pretoken_batch.h"

/* Bits for those of 64 bytes that begin a character beyond ASCII. */
static inline uint64_t block_leads(const uint8_t *text)
{
    return bytes64_from(bytes64_load(text), 0xc0);
}

/* For words of four bytes: high bits at bytes that do not continue a character. */
static inline uint32_t word_starts(uint32_t word)
{
    return (~word | word << 1) & 0x80808080u;
}

/* Whether there may be a cut before text[at], which begins a character beyond ASCII. Four bytes can be read before it
 * and from it on. */
static inline uint64_t safe_at(const struct char_cuts *c, const uint8_t *text, size_t at)
{
    uint32_t before = bytes_load32(text + at - 4), after = bytes_load32(text + at);
    uint64_t next = (uint64_t)(word_starts(after) & ~(uint32_t)0xff) | (uint64_t)1 << 39;
    uint8_t last = (uint8_t)(before >> 24);

    before >>= (31 - __builtin_clz(word_starts(before) | 0x80)) - 7;
    after &= (uint32_t)(((uint64_t)1 << (__builtin_ctzll(next) - 7)) - 1);
    return char_cuts_safe(c, before, last, after);
}

/* The ends of pretokens that are left, and what they count from. */
struct cut_ends {
    const uint32_t *first, *next, *last;
    uint32_t base;
};

/* Notes the pretokens that end where pretokens number `first` and so on begin, by bits: fixed ones. */
static inline void note_fixed(struct pretoken_batch *b, uint32_t first, uint32_t which)
{
    for (; which; which &= which - 1)
        b->fixed[b->fixed_count++] = first + (uint32_t)__builtin_ctz(which) - 1;
}

/* What the levels do in their own ways: put_pretokens(), take_ends(), put_all(), and with vectors safe_leads(), which
 * is block_safe() for many places. */
#if defined(__AVX512F__)
#include "char_cuts_avx512.h"
#else
#if defined(__AVX2__)
#include "char_cuts_avx2.h"
#endif
#include "char_cuts_plain.h"
#endif

/* So many places are gone through at once, if the CPU can. */
#define CUT_MANY 4

/* Bits for the safe ones among places `leads` of 64 bytes. Four more bytes can be read before and after them. */
static inline uint64_t block_safe(const struct char_cuts *c, const uint8_t *text, uint64_t leads)
{
    uint64_t safe = 0;

#if defined(__AVX2__)
    if (__builtin_popcountll(leads) >= CUT_MANY)
        return safe_leads(c, text, leads);
#endif
    for (; leads; leads &= leads - 1) {
        size_t i = (size_t)__builtin_ctzll(leads);

        safe |= safe_at(c, text, i) << i;
    }
    return safe;
}

/* What block_safe() reads of text[0..room), from text[at] on: near the ends from a copy. */
static inline const uint8_t *block_text(uint8_t copy[4 + 64 + 4], const uint8_t *text, size_t room, size_t at)
{
    size_t before = at < 4 ? at : 4, behind = room - at < 64 + 4 ? room - at : 64 + 4;

    if (before == 4 && behind == 64 + 4)
        return text + at;
    memset(copy, 0, 4 + 64 + 4);
    memcpy(copy + 4 - before, text + at - before, before + behind);
    return copy + 4;
}

/* ---- Pretokens and cuts in their order --------------------------------------------------------------------------- */

/* The places after the last of these. */
static inline uint64_t behind_last(uint64_t bits)
{
    return bits ? ~(((uint64_t)2 << (63 - __builtin_clzll(bits))) - 1) : ~(uint64_t)0;
}

/* The places inside of fixed pretokens: those that end here, and one that goes on. */
static inline uint64_t inside_fixed(const struct cut_ends *e, uint64_t ends, uint64_t fixed)
{
    uint64_t inside = e->next < e->last && *e->next & BATCH_FIXED ? behind_last(ends) : 0;

    for (; fixed; fixed &= fixed - 1) {
        uint64_t before = (fixed & -fixed) - 1;

        inside |= before & behind_last(ends & before);
    }
    return inside;
}

/* The places in pretokens of more than CHAR_CUTS_MIN bytes, of pretokens that begin at `ends`, and `before` bytes
 * before the first place; the last one ends `behind` bytes after the first place. */
static inline uint64_t inside_long(uint64_t ends, uint32_t before, uint32_t behind)
{
    uint64_t first = ends & -ends, last = behind_last(ends), none = ~ends & ~last & ~(first - 1);

    if (!ends)
        return before + behind > CHAR_CUTS_MIN ? ~(uint64_t)0 : 0;
    none &= none >> 1; /* two places without an end, then four, eight, fifteen */
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

/* Puts down the pretokens that begin at `ends` and at safe places, from `at` on. `parts` says which is which. */
static inline uint32_t put_both(struct pretoken_batch *b, uint32_t count, uint32_t at, uint64_t ends, uint64_t fixed,
                                uint64_t safe)
{
    uint64_t all = ends | safe;

    for (; fixed; fixed &= fixed - 1)
        note_fixed(b, count + (uint32_t)__builtin_popcountll(all & ((fixed & -fixed) - 1)), 1);
    return put_all(b, count, at, all, ends);
}

/* What was noted is which pretokens begin where one of the text does: all that do, and end where one does, are
 * whole. */
static void tell_kinds(const struct orphans *orphans, struct pretoken_batch *b)
{
    if (!orphans) {
        memset(b->parts, 0, b->count);
        return;
    }
    for (uint32_t i = 0; i < b->count; i++)
        b->parts[i] = !(b->parts[i] & b->parts[i + 1]) &&
                      orphan_maybe(orphans, b->text + b->begins[i], b->begins[i + 1] - b->begins[i]);
}

static uint32_t put_blocks(const struct char_cuts *c, const uint8_t *text, uint32_t bytes, size_t room,
                           struct cut_ends *e, struct pretoken_batch *b)
{
    uint32_t count = 1;

    for (uint32_t at = 0; at < bytes; at += 64) {
        uint32_t limit = bytes - at < 64 ? bytes : at + 64, begin;
        uint8_t copy[4 + 64 + 4];
        const uint8_t *block = block_text(copy, text, room, at);
        uint64_t leads = block_leads(block) & ~(uint64_t)0 >> (64 - (limit - at)), fixed, ends;

        if (at == 0)
            leads &= ~(uint64_t)1;
        if (!leads)
            continue;
        count = put_pretokens(b, count, e, at);
        begin = e->next > e->first ? (e->next[-1] & ~BATCH_FIXED) - e->base : 0; /* of the pretoken that goes on */
        ends = take_ends(e, at, limit, &fixed);
        leads &= ~(ends | inside_fixed(e, ends, fixed));
        if (c->long_only && leads) {
            uint32_t next = e->next < e->last ? (*e->next & ~BATCH_FIXED) - e->base : bytes;

            leads &= inside_long(ends, at - begin, next - at);
        }
        count = put_both(b, count, at, ends, fixed, leads ? block_safe(c, block, leads) : 0);
    }
    return put_pretokens(b, count, e, bytes);
}

static const uint32_t *cut(const struct pretoken_cut *w, struct pretoken_batch *b)
{
    struct cut_ends e = { w->ends, w->ends, w->last, w->base };
    uint32_t bytes = w->bytes, count;

    b->begins[0] = b->fixed_count = 0;
    b->parts[0] = 1;
    count = w->cuts ? put_blocks(w->cuts, w->text, bytes, w->room, &e, b) : put_pretokens(b, 1, &e, bytes);
    if (e.next < e.last && *e.next == ((bytes + e.base) | BATCH_FIXED))
        note_fixed(b, count, 1);
    b->begins[count] = bytes;
    b->parts[count] = 1;
    b->count = count;
    tell_kinds(w->cuts ? w->orphans : NULL, b);
    return e.next;
}
