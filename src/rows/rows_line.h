/*
 * rows_line.h: a row of the outputs as one sees it who makes its numbers, on the host and on a device: what an
 * output_NAME.h has to say what its numbers are. Free of everything but C, so that device kernels include it as it is.
 */
#ifndef LEAT_ROWS_LINE_H
#define LEAT_ROWS_LINE_H

#include <stddef.h>
#include <stdint.h>

#ifndef ROWS_BODY
#define ROWS_BODY static inline
#endif

/* Of 64 bits: how many are 1; the lowest and the highest of them, where there is one. */
#if defined(__CUDA_ARCH__)
#define ROWS_COUNT(bits) ((uint32_t)__popcll(bits))
#define ROWS_FIRST(bits) ((uint32_t)__ffsll((long long)(bits)) - 1)
#define ROWS_LAST(bits)  (63 - (uint32_t)__clzll((long long)(bits)))
#else
#define ROWS_COUNT(bits) ((uint32_t)__builtin_popcountll(bits))
#define ROWS_FIRST(bits) ((uint32_t)__builtin_ctzll(bits))
#define ROWS_LAST(bits)  (63 - (uint32_t)__builtin_clzll(bits))
#endif

/* A row. One that the slot does not have is one without tokens. */
struct rows_line {
    const uint8_t *tokens;         /* length + 1 of them */
    const uint64_t *starts;        /* a bit for each that begins a document; NULL: none known but the first */
    const struct rows_mark *marks; /* of a device (rows.h) */
    uint32_t length, flags;        /* inputs; LEAT_ROW_... */
    uint32_t token_width;
    uint32_t first_sequence; /* of a device: of those of all rows */
};

/*
 * Where a number lies in its row: begin <= i < end. Each document is a stretch, and the padding behind the tokens is one
 * of its own (begin >= length). An output that does not need documents sees all of a row's tokens as one stretch.
 */
struct rows_stretch {
    uint32_t begin, end;
    uint32_t number; /* of the row's, from 0 */
};

/* Token `i` of the row, i <= its length. Byte by byte: the same on every machine. */
ROWS_BODY uint32_t rows_line_token(const struct rows_line *r, uint32_t i)
{
#if defined(__CUDA_ARCH__) /* rows begin at multiples of their tokens' width, and all devices are little-endian */
    return r->token_width == 2 ? ((const uint16_t *)(const void *)r->tokens)[i]
                               : ((const uint32_t *)(const void *)r->tokens)[i];
#else
    const uint8_t *p = r->tokens + (size_t)i * r->token_width;
    uint32_t t = p[0] | (uint32_t)p[1] << 8;

    return r->token_width == 2 ? t : t | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
#endif
}

/* The first document start at or after token `from`, below `end`; `end` if there is none. */
ROWS_BODY uint32_t rows_line_start_from(const struct rows_line *r, uint32_t from, uint32_t end)
{
    uint32_t word = from / 64;
    uint64_t bits;

    if (!r->starts || from >= end)
        return end;
    bits = r->starts[word] >> from % 64 << from % 64;
    while (bits == 0) {
        if (++word > (end - 1) / 64)
            return end;
        bits = r->starts[word];
    }
    from = 64 * word + ROWS_FIRST(bits);
    return from < end ? from : end;
}

/* Where the stretch of number `i` ends, in a row of `numbers` of them. */
ROWS_BODY uint32_t rows_line_end(const struct rows_line *r, uint32_t i, uint32_t numbers)
{
    return i < r->length ? rows_line_start_from(r, i + 1, r->length) : numbers;
}

/* The row as an output sees it that does not need documents. */
ROWS_BODY struct rows_line rows_line_undivided(const struct rows_line *r)
{
    struct rows_line whole = *r;

    whole.starts = 0;
    whole.marks = 0;
    return whole;
}

#endif
