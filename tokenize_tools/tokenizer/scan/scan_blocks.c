/*
 * scan_blocks.c: scanners that cut 64 bytes at a time. A block begins where a pretoken begins. Its bytes become
 * masks of classes, from which the family's algebra computes where pretokens begin. The beginnings that nothing
 * after the block can change are given out, and the next block begins at the last of them. If a block has none, the
 * family's scalar scanner takes one pretoken. Compiled once for each CPU level.
 */
#include "base/cpu.h"
#include "scan_bytes.h"
#include "scan_rule.h"
#include "scan_tables.h"

#define SCAN_BLOCK  64
#define SCAN_BEHIND 3 /* bytes read after a block, so that a character there is whole */

/* Returns the masks of a block as far as it is ASCII. */
SCAN_INLINE struct scan_masks scan_ascii_masks(const uint8_t *text, bytes64 b, const struct scan_kind *kind)
{
    struct scan_ascii a = scan_bytes_ascii(b);
    struct scan_masks m = {
        .text = text,
        .valid = ~UINT64_C(0),
        .high = bytes64_high(b),
        .letters = a.letters,
        .digits = a.digits,
        .white = a.white,
        .newlines = a.newlines,
        .spaces = a.spaces,
        .quotes = a.quotes,
        .slashes = a.slashes,
    };

    if (kind->cases) {
        m.lower = a.letters & bytes64_from(b, 'a');
        m.upper = a.letters & ~m.lower;
    }
    if (kind->symbols)
        m.symbols = ~(a.letters | a.digits | a.white | a.controls);
    return m;
}

/* Returns the code point at p, of which four bytes can be read. There is no branch, since lengths are mixed. */
SCAN_INLINE uint32_t scan_decode(const uint8_t *p)
{
    static const struct {
        uint32_t shift, mask;
    } lengths[4] = { { 12, 0x7ff }, { 12, 0x7ff }, { 6, 0xffff }, { 0, 0x1fffff } };
    unsigned length = p[0] >> 4 & 3;
    uint32_t c = (p[0] & 0x3fu) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);

    return c >> lengths[length].shift & lengths[length].mask;
}

/* Adds the class of a character to the masks, at its first byte. */
SCAN_INLINE void scan_add_class(struct scan_masks *m, unsigned class, uint32_t c, uint64_t bit,
                                const struct scan_kind *kind)
{
    bool han = kind->han && class & UNICODE_HAN;

    m->letters |= class & kind->letters && !han ? bit : 0;
    m->digits |= class & UNICODE_N ? bit : 0;
    m->white |= class & UNICODE_SPACE ? bit : 0;
    if (kind->cases && !han) {
        m->upper |= class & (UNICODE_LU | UNICODE_LT) ? bit : 0;
        m->lower |= class & UNICODE_LL ? bit : 0;
        m->either |= class & (UNICODE_LM | UNICODE_LO | UNICODE_M) ? bit : 0;
        m->marks |= class & UNICODE_M ? bit : 0;
    }
    if (kind->symbols)
        m->symbols |= class & (UNICODE_P | UNICODE_S) ? bit : 0;
    if (kind->kana)
        m->apart |= (c >= 0x4e00 && c <= 0x9fa5) || (c >= 0x3040 && c <= 0x30ff) ? bit : 0;
    if (han) {
        m->apart |= class & UNICODE_L ? bit : 0;
        m->odd |= class & UNICODE_L ? 0 : bit;
    }
}

/* Facts about characters that vectors find, at their first bytes. */
struct scan_told {
    uint64_t any; /* characters that are decided without a look-up */
    uint64_t letters, upper, lower, either, symbols;
};

SCAN_INLINE struct scan_told scan_tell(const uint8_t *text, const struct scan_kind *kind)
{
    struct char_halves chars = char_halves_load(text);
    struct scan_told t = { .symbols = scan_codes_with(char_boxes(&chars, scan_set_symbols), 0xff) };

    if (kind->cases) {
        scan_codes cases = char_boxes(&chars, scan_set_cases);

        t.upper = scan_codes_with(cases, 0x07);
        t.lower = scan_codes_with(cases, 0xf8);
        t.either = scan_codes_with(char_boxes(&chars, scan_set_either), 0xff);
        t.letters = t.upper | t.lower | t.either;
    } else {
        t.letters = scan_codes_with(char_boxes(&chars, scan_set_letters), 0xff);
    }
    t.any = t.letters | t.symbols;
    return t;
}

/* Returns the first bytes of U+3040 to U+30FF and U+4E00 to U+9F7F. */
SCAN_INLINE uint64_t scan_kana_and_han(bytes64 b, bytes64 second)
{
    uint64_t kana = bytes64_equal(b, 0xe3) & bytes64_from(second, 0x81) & ~bytes64_from(second, 0x84);
    uint64_t first = bytes64_equal(b, 0xe4) & bytes64_from(second, 0xb8);
    uint64_t last = bytes64_equal(b, 0xe9) & ~bytes64_from(second, 0xbe);

    return kana | first | last | (bytes64_from(b, 0xe5) & ~bytes64_from(b, 0xe9));
}

/* Completes the masks of a block with characters that are not ASCII. */
SCAN_INLINE void scan_add_high(struct scan_masks *m, bytes64 b, const struct unicode_classes *classes,
                               const struct scan_kind *kind)
{
    struct scan_told told = scan_tell(m->text, kind);
    uint64_t ascii = ~m->high, first = bytes64_from(b, 0xc0), ask;

    m->inside = m->high & ~first;
    if (kind->kana) {
        bytes64 second = bytes64_load(m->text + 1);

        m->apart = scan_kana_and_han(b, second);
        /* without the characters after U+9FA5 */
        told.any &= ~(bytes64_equal(b, 0xe9) & bytes64_from(second, 0xbe));
    }
    if (kind->han) {
        /* everything decided in U+3400 to U+9FFF, and nothing else */
        m->apart = told.letters & ~bytes64_from(b, 0xea) &
                   (bytes64_from(b, 0xe4) | (bytes64_equal(b, 0xe3) & bytes64_from(bytes64_load(m->text + 1), 0x90)));
        told.letters &= ~m->apart;
        told.either &= ~m->apart;
    }
    m->letters = (m->letters & ascii) | (told.letters & told.any);
    m->digits &= ascii;
    m->white &= ascii;
    m->newlines &= ascii;
    m->spaces &= ascii;
    m->slashes &= ascii;
    m->upper = (m->upper & ascii) | (told.upper & told.any);
    m->lower = (m->lower & ascii) | (told.lower & told.any);
    m->either |= told.either & told.any;
    m->symbols = (m->symbols & ascii) | told.symbols;
    for (ask = first & ~told.any; ask; ask &= ask - 1) {
        uint32_t c = scan_decode(m->text + bits_lowest(ask));

        scan_add_class(m, classes->blocks[classes->index[c >> 8]][c & 255], c, ask & (0 - ask), kind);
    }
    m->letters = scan_to_all_bytes(m, m->letters);
    m->digits = scan_to_all_bytes(m, m->digits);
    m->white = scan_to_all_bytes(m, m->white);
    m->upper = scan_to_all_bytes(m, m->upper);
    m->lower = scan_to_all_bytes(m, m->lower);
    m->either = scan_to_all_bytes(m, m->either);
    m->marks = scan_to_all_bytes(m, m->marks);
    m->symbols = scan_to_all_bytes(m, m->symbols);
    m->apart = scan_to_all_bytes(m, m->apart);
    m->odd = scan_to_all_bytes(m, m->odd);
}

/* A copy of the text's end, if that is shorter than a block, with zeros after it, also for scan_decode(). */
struct scan_tail {
    uint8_t bytes[SCAN_BLOCK + 8];
};

SCAN_INLINE uint64_t scan_tail_end(struct scan_tail *tail, const uint8_t *p, size_t left)
{
    memset(tail->bytes, 0, sizeof tail->bytes);
    memcpy(tail->bytes, p, left);
    return UINT64_C(1) << left;
}

/* Gives some of the offsets, if there is no room for all. */
SCAN_INLINE size_t scan_some_positions(uint32_t *ends, size_t room, uint32_t base, uint64_t bits)
{
    size_t n = 0;

    for (; n < room && bits; bits &= bits - 1)
        ends[n++] = base + bits_lowest(bits);
    return n;
}

/* Returns the certain beginnings of pretokens in the block at p, as bits, without the first beginning. */
SCAN_INLINE uint64_t scan_block(const struct scan_rule *rule, const struct scan_text *t, const uint8_t *p)
{
    size_t left = (size_t)(t->end - p);
    struct scan_tail tail;
    struct scan_masks m;
    uint64_t starts = 0;

    if (left >= SCAN_BLOCK + SCAN_BEHIND) {
        bytes64 b = bytes64_load(p);

        m = scan_ascii_masks(p, b, &rule->kind);
        if (m.high == 0) {
            starts = rule->starts(rule, &m);
        } else {
            scan_add_high(&m, b, t->classes, &rule->kind);
            starts = rule->starts(rule, &m);
        }
    } else if (left < SCAN_BLOCK && t->final) {
        uint64_t end = scan_tail_end(&tail, p, left);
        bytes64 b = bytes64_load(tail.bytes);

        m = scan_ascii_masks(tail.bytes, b, &rule->kind);
        m.valid = end - 1;
        m.end = end;
        scan_add_high(&m, b, t->classes, &rule->kind);
        starts = rule->starts(rule, &m);
    }
    return starts & ~UINT64_C(1);
}

SCAN_INLINE size_t run(const struct scan_rule *rule, const struct unicode_classes *classes,
                       const struct scan_window *window, size_t *at, uint32_t *ends, size_t room)
{
    struct scan_text t = scan_text(classes, window);
    const uint8_t *p = window->text + *at, *e;
    size_t count = 0;

    while (count < room && p < t.end) {
        uint64_t starts = scan_block(rule, &t, p);

        if (starts == 0) {
            e = rule->pretoken(rule, &t, p);
            if (!e || e > t.certain)
                break;
            ends[count++] = (uint32_t)(e - window->text);
            p = e;
        } else if (room - count >= SCAN_BLOCK) {
            scan_positions(ends + count, (uint32_t)(p - window->text), starts);
            count += (size_t)__builtin_popcountll(starts);
            p += bits_highest(starts);
        } else {
            count += scan_some_positions(ends + count, room - count, (uint32_t)(p - window->text), starts);
            p = window->text + ends[count - 1];
        }
    }
    *at = (size_t)(p - window->text);
    return count;
}

#define SCAN_FUNCTIONS LEVEL_NAME(scan_functions)
#include "scan_each.h"
