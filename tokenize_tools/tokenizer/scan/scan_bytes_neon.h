/* scan_bytes_neon.h: 64 bytes for NEON of aarch64; part of scan_bytes.h. */
#ifndef LEAT_TOKENIZER_SCAN_BYTES_NEON_H
#define LEAT_TOKENIZER_SCAN_BYTES_NEON_H

#include <arm_neon.h>

static const uint8_t scan_low[16] = { SCAN_LOW }, scan_high[16] = { SCAN_HIGH };

SCAN_INLINE uint8x16_t scan_quarter_codes(uint8x16_t b)
{
    return vandq_u8(vqtbl1q_u8(vld1q_u8(scan_low), vandq_u8(b, vdupq_n_u8(15))),
                    vqtbl1q_u8(vld1q_u8(scan_high), vshrq_n_u8(b, 4)));
}

SCAN_INLINE uint64_t scan_codes_with(scan_codes codes, uint8_t bits)
{
    uint8x16_t all = vdupq_n_u8(bits);

    return bytes64_mask(vtstq_u8(codes.val[0], all), vtstq_u8(codes.val[1], all), vtstq_u8(codes.val[2], all),
                        vtstq_u8(codes.val[3], all));
}

SCAN_INLINE struct scan_ascii scan_bytes_ascii(bytes64 b)
{
    scan_codes codes = { { scan_quarter_codes(b.val[0]), scan_quarter_codes(b.val[1]), scan_quarter_codes(b.val[2]),
                           scan_quarter_codes(b.val[3]) } };
    struct scan_ascii a = {
        .letters = scan_codes_with(codes, SCAN_LETTERS),
        .digits = scan_codes_with(codes, SCAN_DIGITS),
        .white = scan_codes_with(codes, SCAN_WHITE),
        .newlines = scan_codes_with(codes, SCAN_NEWLINES),
        .spaces = scan_codes_with(codes, SCAN_SPACES),
        .quotes = scan_codes_with(codes, SCAN_QUOTES),
        .slashes = scan_codes_with(codes, SCAN_SLASHES),
    };

    a.controls = (~bytes64_from(b, 0x20) & ~a.white) | bytes64_equal(b, 0x7f);
    return a;
}

/* ---- Lists of positions ---- */

SCAN_INLINE void scan_positions(uint32_t *ends, uint32_t base, uint64_t bits)
{
    scan_positions_by_bits(ends, base, bits);
}

#endif
