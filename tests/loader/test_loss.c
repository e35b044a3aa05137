/*
 * test_loss.c: what a loader's options take the loss of: a row's second token and begin tokens; in windows, rows
 * of whole documents with gaps, and documents, borrowed and written, and with labels ahead, which follow the masks; all
 * with an ignore_index of its own. What does not go together is refused.
 */
#include "one_document.h"
#include "pieces_of.h"
#include "t.h"

#define LENGTH  600u
#define BATCH   4u
#define END     499
#define BEGIN   498
#define IGNORED (-7)
#define AHEAD   2u

static const char *folder;
static struct leat_dataset *dataset;
static uint64_t begins, seconds;

/* Documents of up to 299 tokens. */
static void write_dataset(uint64_t *random)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;
    uint32_t ids[300];

    o.vocabulary = 500;
    o.end_token = END;
    o.begin_token = BEGIN;
    T_OK(leat_writer_open(&w, t_path(folder, "d"), &o, &t_err));
    for (unsigned d = 0; d < 150; d++) {
        uint64_t count = t_below(random, 300);

        for (uint64_t i = 0; i < count; i++)
            ids[i] = (uint32_t)t_below(random, 490);
        T_OK(add_one_document(w, ids, 4, NULL, count, NULL, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
    T_OK(leat_dataset_open(&dataset, t_path(folder, "d"), NULL, &t_err));
}

struct row {
    uint32_t ids[3 * LENGTH];
    bool loss[3 * LENGTH]; /* of the token as a label */
    uint64_t starts[LENGTH + 1], pieces;
    uint64_t count;
};

static void make_row(const struct leat_plan *plan, const struct leat_sample *x, const struct leat_loader_outputs *o,
                     struct row *r)
{
    static struct leat_piece pieces[LENGTH];
    uint64_t count;

    T_OK(pieces_of(plan, x->number, pieces, LENGTH, &count, &t_err));
    r->count = 0;
    r->pieces = count;
    for (uint64_t k = 0; k < count; k++) {
        r->starts[k] = r->count;
        T_OK(leat_dataset_read_u32(dataset, pieces[k].token, pieces[k].count, r->ids + r->count, &t_err));
        r->count += pieces[k].count;
    }
    r->starts[count] = r->count;
    for (uint64_t i = 0; i < r->count; i++) {
        r->loss[i] = !(o->mask_begin && r->ids[i] == BEGIN) && !(o->mask_row_first && i == 1);
        begins += o->mask_begin && r->ids[i] == BEGIN;
        seconds += o->mask_row_first && i == 1;
    }
}

/* Labels of a row: of each piece, each token but the first; then the gap of `align`. */
static void check_row(const struct row *r, uint32_t align, const int64_t *labels, const uint8_t *loss, uint64_t length)
{
    uint64_t at = 0, wrong = 0;

    for (uint64_t k = 0; k < r->pieces; k++) {
        for (uint64_t i = r->starts[k] + 1; i < r->starts[k + 1]; i++, at++)
            wrong += labels[at] != (r->loss[i] ? (int64_t)r->ids[i] : IGNORED) || loss[at] != r->loss[i];
        for (; align > 0 && at % align != 0; at++)
            wrong += labels[at] != IGNORED || loss[at] != 0;
    }
    for (; at < length; at++)
        wrong += labels[at] != IGNORED || loss[at] != 0;
    T_EQ(wrong, 0);
}

static struct leat_plan *open_plan(enum leat_order order, uint32_t align)
{
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan *plan;

    source.name = "d";
    source.dataset = dataset;
    o.sources = &source;
    o.source_count = 1;
    o.seq_len = LENGTH;
    o.order = order;
    o.fit.align = align;
    o.epochs = 1;
    T_OK(leat_plan_open(&plan, &o, &t_err));
    return plan;
}

/* Bits of `way`: the two options, borrowed, ahead. */
static void check_batches(enum leat_order order, uint32_t align, uint32_t way)
{
    static int64_t labels[BATCH * LENGTH], ahead[AHEAD * BATCH * LENGTH];
    static uint8_t loss[BATCH * LENGTH];
    static struct row r;
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan *plan = open_plan(order, align);
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = BATCH;
    o.outputs.ignore_index = IGNORED;
    o.outputs.mask_row_first = way & 1;
    o.outputs.mask_begin = way >> 1 & 1;
    o.outputs.borrow = way >> 2 & 1;
    o.outputs.ahead = way & 8 ? AHEAD : 0;
    o.outputs.wanted = LEAT_OUTPUT_LABELS | LEAT_OUTPUT_LOSS_MASK | (way & 8 ? (uint32_t)LEAT_OUTPUT_AHEAD_LABELS : 0);
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    while (leat_loader_next(l, &b, &t_err) == LEAT_OK) {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;

        out.labels = labels;
        out.loss_mask = loss;
        out.ahead_labels = way & 8 ? ahead : NULL;
        if (o.outputs.borrow)
            T_OK(leat_batch_borrow(b, &out, NULL, &t_err));
        else
            T_OK(leat_batch_write(b, &out, NULL, &t_err));
        for (uint32_t row = 0; row < b->rows; row++) {
            const int64_t *at = (const int64_t *)out.labels + row * b->length;

            make_row(plan, &b->samples[row], &o.outputs, &r);
            check_row(&r, align, at, out.loss_mask + row * b->length, b->length);
            /* of a row of windows: a label ahead is the label of a later place, where there is one */
            for (uint32_t k = 1; way & 8 && order == LEAT_ORDER_SHUFFLED && k <= AHEAD; k++)
                T_CHECK(memcmp((const int64_t *)out.ahead_labels + ((uint64_t)(k - 1) * b->rows + row) * b->length,
                               at + k, (b->length - k) * sizeof *at) == 0);
        }
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
    leat_plan_close(plan);
}

static void refuse(struct leat_loader_options *o, const char *why)
{
    struct leat_plan *plan = open_plan(LEAT_ORDER_SHUFFLED, 0);
    struct leat_loader *l;

    o->batch = BATCH;
    T_STATUS(leat_loader_open(&l, plan, o, &t_err), LEAT_E_ARGUMENT);
    T_CONTAINS(t_err.message, why);
    *o = (struct leat_loader_options)LEAT_LOADER_OPTIONS_INIT;
    leat_plan_close(plan);
}

int main(void)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    uint64_t random = t_seed();

    folder = t_folder();
    write_dataset(&random);
    for (uint32_t way = 0; way < 16; way++) {
        check_batches(LEAT_ORDER_SHUFFLED, 0, way);
        check_batches(LEAT_ORDER_FIT, 0, way);
        check_batches(LEAT_ORDER_FIT, 8, way);
        check_batches(LEAT_ORDER_DOCUMENTS, 0, way);
    }
    T_CHECK(begins > 1000 && seconds > 1000);
    o.outputs.ignore_index = 5;
    refuse(&o, "ignore_index must be below 0, not 5");
    leat_dataset_close(dataset);
    return t_end();
}
