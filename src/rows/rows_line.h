/* rows_line.h: a row of the outputs as the code that makes its numbers sees it, on host and device. It is all that
 * an output_NAME.h has for computing a number. It is plain C, so that device kernels can include it. */
#ifndef LEAT_ROWS_LINE_H
#define LEAT_ROWS_LINE_H

#include <stddef.h>
#include <stdint.h>

#ifndef ROWS_BODY
#define ROWS_BODY static inline
#endif

/* Count the bits of 64 that are 1, and find the lowest and the highest of them, of which there must be one. */
#if defined(__CUDA_ARCH__)
#define ROWS_COUNT(bits) ((uint32_t)__popcll(bits))
#define ROWS_FIRST(bits) ((uint32_t)__ffsll((long long)(bits)) - 1)
#define ROWS_LAST(bits)  (63 - (uint32_t)__clzll((long long)(bits)))
#else
#define ROWS_COUNT(bits) ((uint32_t)__builtin_popcountll(bits))
#define ROWS_FIRST(bits) ((uint32_t)__builtin_ctzll(bits))
#define ROWS_LAST(bits)  (63 - (uint32_t)__builtin_clzll(bits))
#endif

/* A row. If the slot does not have the row, it has no tokens. */
struct rows_line {
    const uint8_t *tokens;         /* length + 1 tokens */
    const uint8_t *mask;           /* a byte per token; NULL: all are 255 */
    const uint64_t *starts;        /* a bit per token, which is 1 if it begins a document; NULL: only the first token
                                      is known to */
    const struct rows_mark *marks; /* set on a device only (rows.h) */
    uint32_t length, flags;        /* inputs; LEAT_ROW_... */
    uint32_t token_width;
    uint32_t first_sequence; /* set on a device only: number of its first stretch, counted through all rows */
    int32_t source;          /* number of the row's source; -1 for a row of padding */
    float source_weight;     /* factor of the weights of the row's labels */
};

/*
 * The stretch in which number i lies: begin <= i < end. Each document is a stretch, and so is the padding after the
 * tokens (begin >= length). A row or a piece that begins inside a document counts as one that begins there; in a row of
 * segments (rows_segments.h), a stretch is a segment, which may continue a document of the whole row. An output that
 * does not need documents sees all tokens of a row as one stretch.
 */
struct rows_stretch {
    uint32_t begin, end;
    uint32_t number; /* number of the stretch in its row, from 0 */
};

/* Returns token `i` of the row; i <= its length. On the host it is read byte by byte, so that every machine reads
 * the same number. */
ROWS_BODY uint32_t rows_line_token(const struct rows_line *r, uint32_t i)
{
#if defined(__CUDA_ARCH__) /* rows are aligned to their tokens' width, and all devices are little-endian */
    return r->token_width == 2 ? ((const uint16_t *)(const void *)r->tokens)[i]
                               : ((const uint32_t *)(const void *)r->tokens)[i];
#else
    const uint8_t *p = r->tokens + (size_t)i * r->token_width;
    uint32_t t = p[0] | (uint32_t)p[1] << 8;

    return r->token_width == 2 ? t : t | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
#endif
}

/* Returns the first document start in [from, end), or `end`. */
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

/* Returns the place where the stretch of number `i` ends, in a row of `numbers` numbers. */
ROWS_BODY uint32_t rows_line_end(const struct rows_line *r, uint32_t i, uint32_t numbers)
{
    return i < r->length ? rows_line_start_from(r, i + 1, r->length) : numbers;
}

/* Returns the row for an output that does not need documents. */
ROWS_BODY struct rows_line rows_line_undivided(const struct rows_line *r)
{
    struct rows_line whole = *r;

    whole.starts = 0;
    whole.marks = 0;
    return whole;
}

#endif
