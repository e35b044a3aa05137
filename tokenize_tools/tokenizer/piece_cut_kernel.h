/*
 * piece_cut_kernel.h: cutting pieces where byte_cuts.h allows, for piece_kernel.h: which places of the text are safe
 * depends on the characters at both sides alone, so that all of a batch's text is gone through once, whatever the
 * pieces in it; then pieces and cuts are put in order together.
 */
#include "byte_cuts.h"
#include "piece_batch.h"

/* Bits for those of 64 bytes that begin a character beyond ASCII. */
static inline uint64_t block_leads(const uint8_t *text)
{
#if defined(__AVX512BW__)
    return _mm512_cmpge_epu8_mask(_mm512_loadu_si512(text), _mm512_set1_epi8((char)0xc0));
#elif defined(__AVX2__)
    __m256i most = _mm256_set1_epi8((char)0xbf), zero = _mm256_setzero_si256();
    __m256i a = _mm256_subs_epu8(_mm256_loadu_si256((const __m256i *)text), most);
    __m256i b = _mm256_subs_epu8(_mm256_loadu_si256((const __m256i *)(text + 32)), most);

    return ~((uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, zero)) |
             (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, zero)) << 32);
#else
    uint64_t leads = 0;

    for (unsigned i = 0; i < 64; i += 8) {
        uint64_t word = bytes_load64(text + i), high = word & word << 1 & 0x8080808080808080u;

        leads |= ((high >> 7) * 0x0102040810204080u >> 56) << i;
    }
    return leads;
#endif
}

/* Of words of four bytes, high bits at those that do not go on with a character. */
static inline uint32_t word_starts(uint32_t word)
{
    return (~word | word << 1) & 0x80808080u;
}

/* Whether there may be a cut before text[at], which begins a character beyond ASCII. Four bytes can be read before it
 * and from it on. */
static inline uint64_t safe_at(const struct byte_cuts *c, const uint8_t *text, size_t at)
{
    uint32_t before = bytes_load32(text + at - 4), after = bytes_load32(text + at);
    uint64_t next = (uint64_t)(word_starts(after) & ~(uint32_t)0xff) | (uint64_t)1 << 39;
    uint8_t last = (uint8_t)(before >> 24);

    before >>= (31 - __builtin_clz(word_starts(before) | 0x80)) - 7;
    after &= (uint32_t)(((uint64_t)1 << (__builtin_ctzll(next) - 7)) - 1);
    return byte_cuts_safe(c, before, last, after);
}

/* The same near the beginning of what can be read. */
static uint64_t safe_near_begin(const struct byte_cuts *c, const uint8_t *text, size_t at)
{
    uint8_t copy[8];

    for (size_t i = 0; i < 4; i++) {
        copy[4 + i] = text[at + i];
        copy[3 - i] = i < at ? text[at - 1 - i] : 0;
    }
    return safe_at(c, copy, 4);
}

/* Bits for the safe places among 64 bytes from `begin` on. */
static inline uint64_t block_safe(const struct byte_cuts *c, const uint8_t *text, size_t begin)
{
    uint64_t safe = 0;

    for (uint64_t leads = block_leads(text + begin); leads; leads &= leads - 1) {
        size_t i = (size_t)__builtin_ctzll(leads), at = begin + i;

        safe |= (at < 4 ? safe_near_begin(c, text, at) : safe_at(c, text, at)) << i;
    }
    return safe;
}

/* The same where not so much can be read; from a copy. */
static uint64_t last_block_safe(const struct byte_cuts *c, const uint8_t *text, size_t begin, size_t bytes)
{
    uint8_t copy[4 + 64 + 4] = { 0 };
    size_t before = begin < 4 ? begin : 4;

    memcpy(copy + 4 - before, text + begin - before, before + (bytes - begin));
    return block_safe(c, copy, 4);
}

static void cut(const struct byte_cuts *c, bool kinds, const uint8_t *text, size_t bytes, size_t room,
                const uint64_t *starts, struct piece_batch *b)
{
    uint32_t count = 0;

    for (size_t at = 0; at < bytes; at += 64) {
        uint64_t here = bytes - at < 64 ? ((uint64_t)1 << (bytes - at)) - 1 : ~(uint64_t)0;
        uint64_t safe = room - at < 64 + 4 ? last_block_safe(c, text, at, bytes) : block_safe(c, text, at);

        for (uint64_t all = (safe | starts[at / 64]) & here; all; all &= all - 1) {
            unsigned i = (unsigned)__builtin_ctzll(all);

            b->begins[count] = (uint32_t)at + i;
            b->parts[count++] = starts[at / 64] >> i & 1;
        }
    }
    b->begins[count] = (uint32_t)bytes;
    b->parts[count] = 1;
    b->count = count;
    for (uint32_t i = 0; i < count; i++)
        b->parts[i] = kinds & !(b->parts[i] & b->parts[i + 1]);
}
