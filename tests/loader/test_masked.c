/*
 * test_masked.c: labels and loss masks of batches leave out what the mask of a dataset does: in windows, in rows of
 * whole documents and in documents, written and borrowed, shifted and not, from sources with a mask and without. A
 * damaged page of a mask fails its batch, or masks its rows; a device without kernels for masks is refused.
 */
#include "t.h"

#define BATCH   6u
#define LENGTH  40u
#define TOKENS  30000u
#define NUMBERS (BATCH * LENGTH)

static const char *folder;
static struct leat_dataset *datasets[2]; /* with a mask and without */
static char names[2][700];
static uint64_t left_out, counted;

static void write_dataset(unsigned number, uint64_t *random)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;
    uint32_t ids[120];
    uint8_t mask[120];

    o.vocabulary = 500;
    o.end_token = 499;
    o.store_mask = number == 0;
    snprintf(names[number], sizeof names[number], "%s/%u", folder, number);
    T_OK(leat_writer_open(&w, names[number], &o, &t_err));
    while (leat_writer_tokens(w) < TOKENS) {
        uint64_t count = t_below(random, 120);

        for (uint64_t i = 0; i < count; i++) {
            ids[i] = (uint32_t)t_below(random, 499);
            mask[i] = (uint8_t)(t_below(random, 3) * 100);
        }
        T_OK(leat_writer_add_masked(w, ids, 4, number == 0 && t_below(random, 9) > 0 ? mask : NULL, count, NULL,
                                    &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
    T_OK(leat_dataset_open(&datasets[number], names[number], NULL, &t_err));
}

static struct leat_plan *open_plan(enum leat_order order)
{
    struct leat_plan_source sources[2] = { LEAT_PLAN_SOURCE_INIT, LEAT_PLAN_SOURCE_INIT };
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan *plan;

    for (unsigned i = 0; i < 2; i++) {
        sources[i].name = names[i];
        sources[i].dataset = datasets[i];
        sources[i].weight = "1";
    }
    o.sources = sources;
    o.source_count = 2;
    o.seq_len = LENGTH;
    o.order = order;
    o.epochs = 1;
    T_OK(leat_plan_open(&plan, &o, &t_err));
    return plan;
}

/* What a place must have whose label is this token of a source. */
static int64_t label_of(const struct leat_piece *p, uint64_t i)
{
    uint32_t id;
    uint8_t mask;

    T_OK(leat_dataset_read_u32(datasets[p->source], p->token + i, 1, &id, &t_err));
    T_OK(leat_dataset_mask(datasets[p->source], p->token + i, 1, &mask, &t_err));
    return mask == 0 ? -100 : (int64_t)id;
}

static void check_row(const struct leat_plan *plan, const struct leat_batch *b, uint32_t row, const int64_t *labels,
                      const uint8_t *loss, uint32_t unshifted, uint32_t own)
{
    struct leat_piece pieces[LENGTH];
    uint64_t count, at = 0;

    T_OK(leat_plan_pieces(plan, b->samples[row].number, pieces, LENGTH, &count, &t_err));
    for (uint64_t k = 0; k < count; k++) {
        uint64_t places = pieces[k].count - (own || k + 1 == count);

        for (uint64_t i = 0; pieces[k].count > 0 && i < places; i++, at++) {
            int64_t want = label_of(&pieces[k], i + !unshifted);

            if (unshifted && own && i == 0 && k > 0) /* a document's first token, after another document */
                want = -100;
            T_EQ(labels[at], want);
            T_EQ(loss[at], want != -100);
            left_out += want == -100;
            counted += want != -100;
        }
    }
    for (; at < b->length; at++)
        T_EQ(labels[at], -100);
}

static void check_batches(enum leat_order order, uint32_t unshifted, uint32_t borrow)
{
    static int64_t labels[NUMBERS];
    static uint8_t loss[NUMBERS];
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_outputs out = LEAT_OUTPUTS_INIT;
    struct leat_plan *plan = open_plan(order);
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = BATCH;
    o.number_bytes = 8;
    o.borrow = borrow;
    o.unshifted = unshifted;
    o.outputs = LEAT_OUTPUT_LABELS | LEAT_OUTPUT_LOSS_MASK;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    while (leat_loader_next(l, &b, &t_err) == LEAT_OK && b->number < 60) {
        out.labels = labels;
        out.loss_mask = loss;
        out.number_bytes = 8;
        out.unshifted = unshifted;
        if (borrow)
            T_OK(leat_batch_borrow(b, &out, NULL, &t_err));
        else
            T_OK(leat_batch_write(b, &out, NULL, &t_err));
        for (uint32_t row = 0; row < b->rows; row++)
            check_row(plan, b, row, (const int64_t *)out.labels + row * b->length, out.loss_mask + row * b->length,
                      unshifted, order == LEAT_ORDER_FIT);
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
    leat_plan_close(plan);
}

/* The batch counts its sequences as they are after rows were emptied. */
static void check_sequences(const struct leat_batch *b)
{
    static int32_t ends[BATCH * LENGTH + 1];
    struct leat_outputs out = LEAT_OUTPUTS_INIT;
    int32_t longest = 0;

    out.cu_seqlens = ends;
    out.cu_seqlens_room = (uint64_t)b->sequences + 1;
    T_OK(leat_batch_write(b, &out, NULL, &t_err));
    T_EQ(ends[b->sequences], b->rows * b->length);
    for (uint32_t i = 0; i < b->sequences; i++)
        longest = ends[i + 1] - ends[i] > longest ? ends[i + 1] - ends[i] : longest;
    T_EQ(longest, b->max_seqlen);
}

/* How many rows are masked until the end, or the failure. */
static enum leat_status load_all(struct leat_plan *plan, enum leat_on_damage on_damage, uint64_t *damaged)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;
    enum leat_status s;

    *damaged = 0;
    o.batch = BATCH;
    o.on_damage = on_damage;
    o.outputs = LEAT_OUTPUT_CU_SEQLENS;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    while ((s = leat_loader_next(l, &b, &t_err)) == LEAT_OK) {
        *damaged += b->damaged_rows;
        check_sequences(b);
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
    return s;
}

static void check_damage(void)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_plan *plan;
    struct leat_loader *l;
    uint64_t damaged;
    char path[720];
    FILE *f;

    leat_dataset_info(datasets[0], &info);
    leat_dataset_close(datasets[0]);
    snprintf(path, sizeof path, "%s.leat", names[0]);
    f = fopen(path, "r+b");
    /* the mask's pages end the file, after the mask and at most 63 zeros */
    fseek(f, (long)(info.index_bytes - 4 * ((info.tokens + 4095) / 4096) - 64 - 9000), SEEK_SET);
    fputc(77, f);
    fclose(f);
    T_OK(leat_dataset_open(&datasets[0], names[0], NULL, &t_err));
    plan = open_plan(LEAT_ORDER_SHUFFLED);
    T_STATUS(load_all(plan, LEAT_ON_DAMAGE_ERROR, &damaged), LEAT_E_CHECKSUM);
    T_CONTAINS(t_err.message, "the mask of tokens");
    T_STATUS(load_all(plan, LEAT_ON_DAMAGE_MASK, &damaged), LEAT_E_END);
    T_CHECK(damaged >= 4096 / LENGTH && damaged <= 4096 / LENGTH + 2);
    o.batch = BATCH;
    o.device = "cuda:0";
    T_STATUS(leat_loader_open(&l, plan, &o, &t_err), LEAT_E_UNSUPPORTED);
    T_CONTAINS(t_err.message, "take batches on the host");
    leat_plan_close(plan);
}

int main(void)
{
    static const enum leat_order orders[] = { LEAT_ORDER_SHUFFLED, LEAT_ORDER_FIT, LEAT_ORDER_DOCUMENTS };
    uint64_t random = t_seed();

    folder = t_folder();
    for (unsigned i = 0; i < 2; i++)
        write_dataset(i, &random);
    for (unsigned i = 0; i < 3; i++)
        for (uint32_t way = 0; way < 4; way++) {
            left_out = counted = 0;
            check_batches(orders[i], way % 2, way / 2);
            T_CHECK(left_out > 500 && counted > 2 * left_out);
        }
    check_damage();
    for (unsigned i = 0; i < 2; i++)
        leat_dataset_close(datasets[i]);
    return t_end();
}
