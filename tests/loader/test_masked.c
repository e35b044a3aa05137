/*
 * test_masked.c: a damaged page of a mask fails its batch, or masks its rows, whose sequences the batch counts as they
 * are then; in rows that lie apart or in a file's map; on the host, and as tests/device/test_masked on a device.
 * test_loader_changed.c has what masks do to labels and weights.
 */
#include "loading.h"
#include "one_document.h"

#define BATCH   6u
#define LENGTH  40u
#define TOKENS  30000u
#define END     499 /* rows are padded with it */
#define NUMBERS (BATCH * LENGTH)

static void write_dataset(const char *name)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    uint64_t random = t_seed();
    struct leat_writer *w;
    uint32_t ids[120];
    uint8_t mask[120];

    o.vocabulary = 500;
    o.end_token = END;
    o.store_mask = 1;
    T_OK(leat_writer_open(&w, name, &o, &t_err));
    while (leat_writer_tokens(w) < TOKENS) {
        uint64_t count = t_below(&random, 120);

        for (uint64_t i = 0; i < count; i++) {
            ids[i] = (uint32_t)t_below(&random, 499);
            mask[i] = t_below(&random, 3) ? (uint8_t)t_random(&random) : 0;
        }
        T_OK(add_one_document(w, ids, 4, mask, count, NULL, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
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

/* A row that was masked has only tokens to pad with, and nothing to learn. */
static void check_emptied(const struct leat_batch *b, uint32_t row)
{
    static int64_t inputs[NUMBERS], labels[NUMBERS];
    struct leat_outputs out = LEAT_OUTPUTS_INIT;
    uint64_t wrong = 0;

    if (!(b->flags[row] & LEAT_ROW_DAMAGED))
        return;
    out.inputs = inputs;
    out.labels = labels;
    out.rows = b->rows;
    out.length = b->length;
    T_OK(leat_batch_write(b, &out, NULL, &t_err));
    for (uint32_t i = 0; i < b->length; i++)
        wrong += inputs[row * b->length + i] != END || labels[row * b->length + i] != -100;
    T_EQ(wrong, 0);
}

/* How many rows are masked until the end, or the failure. */
static enum leat_status load_all(struct leat_plan *plan, enum leat_on_damage on_damage, enum leat_apart apart,
                                 uint64_t *damaged)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;
    enum leat_status s;

    *damaged = 0;
    o.batch = BATCH;
    o.on_damage = on_damage;
    o.io.apart = apart;
    o.outputs.wanted = LEAT_OUTPUT_CU_SEQLENS;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    while ((s = leat_loader_next(l, &b, &t_err)) == LEAT_OK) {
        for (uint32_t row = 0; row < b->rows; row++)
            check_emptied(b, row);
        *damaged += b->damaged_rows;
        check_sequences(b);
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
    return s;
}

int main(void)
{
    static const enum leat_apart aparts[] = { LEAT_APART_AUTO, LEAT_APART_ALWAYS, LEAT_APART_NEVER };
    const char *name = t_path(t_folder(), "d");
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_plan *plan;
    struct leat_dataset *d;
    uint64_t damaged;

    write_dataset(name);
    T_OK(leat_dataset_open(&d, name, NULL, &t_err));
    leat_dataset_info(d, &info);
    leat_dataset_close(d);
    /* the mask's pages end the file, after the mask and at most 63 zeros */
    t_flip(t_text("%s.leat", name), info.index_bytes - 4 * ((info.tokens + 4095) / 4096) - 64 - 9000);
    plan = loading_plan(t_text("source %s\nseq-len %u\nepochs 1\n", name, LENGTH));
    for (unsigned i = 0; i < 3; i++) {
        T_REFUSED(load_all(plan, LEAT_ON_DAMAGE_ERROR, aparts[i], &damaged), LEAT_E_CHECKSUM, "the mask of tokens");
        T_STATUS(load_all(plan, LEAT_ON_DAMAGE_MASK, aparts[i], &damaged), LEAT_E_END);
        T_CHECK(damaged >= 4096 / LENGTH && damaged <= 4096 / LENGTH + 2);
    }
    leat_plan_close(plan);
    return t_end();
}
