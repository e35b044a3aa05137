/*
 * rows.c: makes outputs row by row, and in a row stretch by stretch (a stretch is the tokens of one document, or the
 * padding): within a stretch every output is a simple run of numbers: converted tokens, 0 1 2 ..., or one value
 * repeated. Kernels, which are chosen once by the CPU level, write long runs. The start of a stretch is found by the
 * lowest bit set in words of 64 bits, so rows without documents cost nothing per token.
 */
#include "rows.h"

#include <string.h>

#include "base/cpu.h"
#include "rows_body.h"

extern const struct rows_kernels rows_row_plain;
#if defined(__x86_64__)
extern const struct rows_kernels rows_row_avx2, rows_row_avx512;
#elif defined(__aarch64__) && defined(__ARM_NEON)
extern const struct rows_kernels rows_row_neon;
#endif

/* The kernels, fastest first; the last one needs nothing, so it ends every search. */
static const struct cpu_row table[] = {
#if defined(__x86_64__)
    { CPU_AVX512, &rows_row_avx512 },
    { CPU_AVX2, &rows_row_avx2 },
#elif defined(__aarch64__) && defined(__ARM_NEON)
    { CPU_PLAIN, &rows_row_neon },
#endif
    { CPU_PLAIN, &rows_row_plain },
};

const struct rows_kernels *rows_kernels(void)
{
    return cpu_choose(table);
}

const struct rows_kernels *rows_row(unsigned number, int *usable)
{
    return cpu_row(table, sizeof table / sizeof table[0], number, usable);
}

/* ---- One row ---- */

static void *number_at(const struct rows_job *j, void *numbers, uint64_t at)
{
    return (uint8_t *)numbers + at * j->number_bytes;
}

static void ignore_label(const struct rows_job *j, uint64_t at)
{
    if (j->labels && j->number_bytes == 8)
        ((int64_t *)j->labels)[at] = j->ignored;
    else if (j->labels)
        ((int32_t *)j->labels)[at] = j->ignored;
    if (j->loss_mask)
        j->loss_mask[at] = 0;
    if (j->loss_weights)
        memset((uint8_t *)j->loss_weights + 4 * at, 0, 4);
}

static void weigh_label(const struct rows_job *j, const struct rows_line *r, uint64_t at, uint8_t weight)
{
    uint32_t bits = rows_weight_of(weight, r->source_weight);

    if (j->loss_weights && weight < 255)
        memcpy((uint8_t *)j->loss_weights + 4 * at, &bits, sizeof bits);
}

/* Converts `length` tokens of a row from token `shift` on. If each stretch has a label of its own, it goes stretch
 * by stretch, and leaves out a token after each. */
static void widen_row(const struct rows_kernels *k, const struct rows_job *j, const struct rows_line *r, void *numbers,
                      uint64_t at, uint32_t shift, uint32_t length)
{
    const uint8_t *tokens = r->tokens + (size_t)shift * r->token_width;

    for (uint32_t from = 0, end; from < length; from = end, tokens += r->token_width) {
        end = j->layout.own_labels ? rows_line_end(r, from, length) : length;
        k->widen(number_at(j, numbers, at + from), j->number_bytes, tokens + (size_t)from * r->token_width,
                 r->token_width, end - from);
    }
}

/* Applies the mask to the labels, stretch by stretch as in widen_row(). */
static void mask_row(const struct rows_job *j, const struct rows_line *r, uint64_t at, uint32_t shift, uint32_t length)
{
    const uint8_t *mask = r->mask + shift;

    for (uint32_t from = 0, end; from < length; from = end, mask++) {
        end = j->layout.own_labels ? rows_line_end(r, from, length) : length;
        for (uint32_t i = from; i < end; i++)
            if (mask[i] == 0)
                ignore_label(j, at + i);
            else
                weigh_label(j, r, at + i, mask[i]);
    }
}

static void fill_labels(const struct rows_kernels *k, const struct rows_job *j, const struct rows_line *r, uint64_t at)
{
    uint32_t shift = j->unshifted ? 0 : 1, length = r->flags ? 0 : r->length;

    if (j->labels) {
        widen_row(k, j, r, j->labels, at, shift, length);
        if (length < j->length)
            k->fill(number_at(j, j->labels, at + length), j->number_bytes, j->ignored, j->length - length);
    }
    if (j->loss_mask) {
        memset(j->loss_mask + at, 1, length);
        memset(j->loss_mask + at + length, 0, j->length - length);
    }
    if (j->loss_weights) {
        uint8_t *weights = (uint8_t *)j->loss_weights + 4 * at;

        k->fill(weights, 4, rows_weight_of(255, r->source_weight), length);
        memset(weights + (size_t)4 * length, 0, (size_t)4 * (j->length - length));
    }
    if (r->mask)
        mask_row(j, r, at, shift, length);
    if (rows_masks_first(j))
        for (uint32_t i = rows_line_start_from(r, 1, length + shift); i < length + shift;
             i = rows_line_start_from(r, i + 1, length + shift))
            ignore_label(j, at + i - shift);
}

static void fill_stretches(const struct rows_kernels *k, const struct rows_job *j, const struct rows_line *r,
                           uint64_t at)
{
    int64_t document = 0;

    for (uint32_t from = 0, end; from < j->length; from = end, document++) {
        end = rows_line_end(r, from, j->length);
        if (j->position_ids)
            k->count_up(number_at(j, j->position_ids, at + from), j->number_bytes, end - from);
        if (j->document_ids)
            k->fill(number_at(j, j->document_ids, at + from), j->number_bytes, document, end - from);
    }
}

static uint32_t count_nonzero(const uint8_t *bytes, uint32_t count)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < count; i++)
        n += bytes[i] != 0;
    return n;
}

/* Counts the labels that have a loss. If the first token of a document has none as a label, it goes document by
 * document and leaves that label out. */
uint32_t rows_learned(const struct rows_job *j, uint32_t number)
{
    const struct rows_line r = rows_line_here(j, number);
    uint32_t shift = j->unshifted ? 0 : 1, length = r.flags ? 0 : r.length, learned = 0;
    bool own = j->layout.own_labels, first = rows_masks_first(j);

    if (j->layout.segments_at)
        return rows_learned_in_segments(j, number);
    for (uint32_t from = 0, end; from < length; from = end, shift += own) {
        uint32_t begin, last;

        end = first || own ? rows_line_end(&r, from, length) : length;
        begin = from + (j->unshifted && (first || from == 0));
        last = end - (!j->unshifted && first && rows_line_start_from(&r, end, end + 1) == end);
        learned += r.mask ? count_nonzero(r.mask + shift + begin, last - begin) : last - begin;
    }
    return learned;
}

/* ---- Outputs made singly ---- */

static void fill_singly(void (*kernel)(void *to, unsigned number_bytes, struct rows_line row, struct rows_stretch s),
                        const struct rows_job *j, struct rows_line r, void *to)
{
    struct rows_stretch s = { 0, 0, 0 };

    for (; s.begin < j->length; s.begin = s.end, s.number++) {
        s.end = rows_line_end(&r, s.begin, j->length);
        kernel(to, j->number_bytes, r, s);
    }
}

static void fill_all_singly(const struct rows_kernels *k, const struct rows_job *j, const struct rows_line *r,
                            uint64_t at)
{
#define FILL(field, name, kind, documents)                                                                             \
    if (j->field)                                                                                                      \
        fill_singly(k->field, j, documents ? *r : rows_line_undivided(r),                                              \
                    (uint8_t *)j->field + rows_output_bytes(kind, at, j->number_bytes, 0, 0));
    ROWS_OUTPUTS(ROWS_SKIP, FILL)
#undef FILL
}

/* ---- All rows ---- */

static void fill_sequences(const struct rows_job *j)
{
    uint64_t n = 0;

    j->cu_seqlens[n++] = 0;
    for (uint32_t row = 0; row < j->rows; row++) {
        struct rows_line r = rows_line_here(j, row);

        for (uint32_t from = 0; from < j->length;) {
            from = rows_line_end(&r, from, j->length);
            j->cu_seqlens[n++] = (int32_t)((uint64_t)row * j->length + from);
        }
    }
    while (n < j->cu_seqlens_room)
        j->cu_seqlens[n++] = (int32_t)((uint64_t)j->rows * j->length);
}

uint64_t rows_sequences(const struct rows_job *j, uint64_t *longest)
{
    uint64_t n = 0;

    if (j->layout.segments_at)
        return rows_whole_sequences(j, longest);
    *longest = 0;
    for (uint32_t row = 0; row < j->rows; row++) {
        struct rows_line r = rows_line_here(j, row);

        for (uint32_t from = 0, end; from < j->length; from = end, n++) {
            end = rows_line_end(&r, from, j->length);
            if (end - from > *longest)
                *longest = end - from;
        }
    }
    return n;
}

void rows_fill(const struct rows_kernels *k, const struct rows_job *j)
{
    if (j->layout.segments_at) {
        rows_fill_segments(k, j);
        return;
    }
    for (uint32_t row = 0; row < j->rows; row++) {
        struct rows_line r = rows_line_here(j, row);
        uint64_t at = (uint64_t)row * j->length;

        if (j->inputs) {
            widen_row(k, j, &r, j->inputs, at, 0, r.length);
            if (r.length < j->length)
                k->fill(number_at(j, j->inputs, at + r.length), j->number_bytes, j->pad, j->length - r.length);
        }
        if (j->labels || j->loss_mask || j->loss_weights)
            fill_labels(k, j, &r, at);
        if (j->position_ids || j->document_ids)
            fill_stretches(k, j, &r, at);
        fill_all_singly(k, j, &r, at);
    }
    if (j->cu_seqlens)
        fill_sequences(j);
}

/* ---- For devices ---- */

void rows_mark(uint8_t *base, const struct rows_layout *l)
{
    struct rows_mark *marks = (struct rows_mark *)(void *)(base + l->marks_at);
    struct rows_head *heads = (struct rows_head *)(void *)(base + l->heads_at);
    const uint32_t *lengths = (const uint32_t *)(const void *)(base + l->lengths_at);
    const uint64_t *words = (const uint64_t *)(const void *)(base + l->starts_at);
    struct rows_head head = { 0, 0, 0, 0 };

    for (uint32_t row = 0; row < l->rows; row++, words += l->start_words) {
        struct rows_mark mark = { 0, 0 };
        uint32_t length = lengths[row];
        uint64_t bit = length < (uint64_t)l->start_words * 64 ? words[length / 64] >> length % 64 & 1 : 0;

        for (uint32_t w = 0; w < l->start_words; w++) {
            uint64_t bits = w == 0 ? words[0] & ~(uint64_t)1 : words[w];

            *marks++ = mark;
            if (bits)
                mark.begin = 64 * w + 63 - (uint32_t)__builtin_clzll(bits);
            mark.documents += (uint32_t)__builtin_popcountll(bits);
        }
        heads[row] = head;
        /* the token after the inputs is no input, even if it begins a document */
        head.documents += 1 + mark.documents - (length > 0 ? (uint32_t)bit : 0);
        head.shorter += length > 0 && length + 1 < l->width;
        head.filled += length > 0;
    }
    heads[l->rows] = head;
}
