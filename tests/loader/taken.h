/* taken.h: everything that is made of a run's batches, to be compared with another run's: its sum, since hundreds of
 * megabytes took longer to be kept than to be made. */
#ifndef LEAT_TESTS_LOADER_TAKEN_H
#define LEAT_TESTS_LOADER_TAKEN_H

#include "checksum/checksum.h"
#include "loading.h"

struct taken {
    struct hash128 sum; /* of the pieces in their order */
    uint64_t pieces, bytes;
    uint8_t *outputs; /* of the batch at hand */
    size_t room;
    uint64_t batches, apart; /* of them, those whose rows lie apart */
    struct leat_loader_stats stats;
};

static inline void taken_keep(struct taken *t, const void *bytes, size_t count)
{
    struct {
        struct hash128 piece;
        uint64_t number, bytes;
    } one = { checksum_kernels()->hash(bytes, count), t->pieces++, count };

    checksum_add(&t->sum, checksum_kernels()->hash(&one, sizeof one));
    t->bytes += count;
}

static inline bool taken_equal(const struct taken *a, const struct taken *b)
{
    return a->pieces == b->pieces && a->bytes == b->bytes && checksum_equal(a->sum, b->sum);
}

static inline void taken_outputs(struct taken *t, const struct leat_batch *b, uint32_t unshifted, unsigned number_bytes)
{
    struct leat_outputs o = LEAT_OUTPUTS_INIT;
    size_t numbers = (size_t)(b->rows + 1) * (b->length + 3), wide = numbers * number_bytes;
    size_t bytes = 5 * wide + 2 * numbers + 4 * (numbers + 1) + 4 * numbers;
    uint8_t *room;

    if (bytes > t->room) {
        free(t->outputs);
        t->outputs = malloc(t->room = bytes);
    }
    room = memset(t->outputs, 0, bytes);
    o.number_bytes = number_bytes;
    o.unshifted = unshifted;
    o.mask_first = b->number % 2;
    o.rows = b->rows + 1;
    o.length = b->length + 3;
    o.inputs = room;
    o.labels = room + wide;
    o.position_ids = room + 2 * wide;
    o.document_ids = room + 3 * wide;
    o.source_ids = room + 4 * wide;
    o.cu_seqlens = (int32_t *)(void *)(room + 5 * wide);
    o.cu_seqlens_room = numbers + 1;
    o.loss_weights = (float *)(void *)(o.cu_seqlens + numbers + 1);
    o.loss_mask = (uint8_t *)(o.loss_weights + numbers);
    o.attention_mask = o.loss_mask + numbers;
    T_OK(leat_batch_write(b, &o, NULL, &t_err));
    taken_keep(t, room, bytes);
}

static inline void taken_borrowed(struct taken *t, const struct leat_batch *b)
{
    struct leat_outputs o = LEAT_OUTPUTS_INIT;

    T_OK(leat_batch_borrow(b, &o, NULL, &t_err));
    taken_keep(t, o.inputs, o.rows * o.length * o.number_bytes);
    taken_keep(t, o.labels, o.rows * o.length * o.number_bytes);
    taken_keep(t, o.document_ids, o.rows * o.length * o.number_bytes);
}

static inline void taken_rows(struct taken *t, const struct leat_batch *b)
{
    taken_keep(t, b->lengths, b->rows * sizeof *b->lengths);
    taken_keep(t, b->flags, b->rows);
    for (uint32_t row = 0; row < b->rows; row++)
        taken_keep(t, leat_batch_row(b, row), ((uint64_t)b->lengths[row] + 1) * b->token_width);
    T_CHECK(!leat_batch_row(b, b->rows));
    if (b->tokens)
        T_CHECK(leat_batch_row(b, 0) == b->tokens);
}

static inline struct taken taken_run(const struct loading *w, struct leat_loader_options o, uint64_t max)
{
    struct taken t = { .outputs = NULL };
    const struct leat_batch *b;
    struct leat_loader *l;

    o.outputs.wanted = LEAT_OUTPUT_INPUTS | LEAT_OUTPUT_LABELS | LEAT_OUTPUT_DOCUMENT_IDS;
    o.outputs.mask_first = o.outputs.borrow;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    while (l && t.batches < max && leat_loader_next(l, &b, &t_err) == LEAT_OK) {
        taken_rows(&t, b);
        taken_outputs(&t, b, o.outputs.unshifted, b->number % 2 ? 4 : 8);
        if (o.outputs.borrow)
            taken_borrowed(&t, b);
        t.batches++;
        t.apart += b->tokens == NULL;
        leat_batch_release(b, NULL);
    }
    t.stats = (struct leat_loader_stats)LEAT_LOADER_STATS_INIT;
    leat_loader_stats(l, &t.stats);
    leat_loader_close(l);
    free(t.outputs);
    return t;
}

#endif
