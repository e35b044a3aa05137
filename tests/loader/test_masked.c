/*
 * test_masked.c: labels and loss masks of batches leave out what the mask of a dataset does, and loss weights are its
 * bytes / 255: in windows, in rows of whole documents and in documents, written and borrowed, shifted and not, by every
 * engine, in rows that lie apart or in a file's map, in outputs larger than the batch, from sources with a mask and
 * without; on the host, and as tests/device/test_masked on a device. So do plans leave out the tokens of documents that
 * they ban, from a sample on, in these orders and in Megatron's. A damaged page of a mask fails its batch, or masks its
 * rows.
 */
#include "gather/gather.h"
#include "one_document.h"
#include "pieces_of.h"
#include "t.h"

#define BATCH   6u
#define LENGTH  40u
#define TOKENS  30000u
#define MORE    3u           /* places after each row, and rows after the last */
#define END     499          /* rows are padded with it */
#define LONGEST (2 * LENGTH) /* with the last token of each document among the inputs */
#define NUMBERS ((BATCH + MORE) * (LONGEST + MORE))

static const char *folder;
static struct leat_dataset *datasets[2]; /* with a mask and without */
static char names[2][700];
static uint64_t left_out, counted, banned;

/* Ranges of documents of a source, from a sample on; they may overlap. */
#define BANS 60u
static struct {
    uint64_t source, start, first, last;
} bans[BANS];

static void draw_bans(uint64_t *random)
{
    for (unsigned i = 0; i < BANS; i++) {
        bans[i].source = t_below(random, 2);
        bans[i].start = t_below(random, 3) * t_below(random, 90);
        bans[i].first = t_below(random, 400);
        bans[i].last = bans[i].first + t_below(random, 4) * t_below(random, 4);
    }
}

static const char *ban_lines(void)
{
    static char text[BANS * 800];
    size_t at = 0;

    for (unsigned i = 0; i < BANS; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "ban %" PRIu64 ":%s:%" PRIu64 "-%" PRIu64 "\n",
                               bans[i].start, names[bans[i].source], bans[i].first, bans[i].last);
    return text;
}

/* Whether a token of a source has no loss in a sample because its document is banned. */
static bool is_banned(uint64_t source, uint64_t token, uint64_t number)
{
    uint64_t document, count;
    bool found = false;

    T_OK(leat_dataset_documents_in(datasets[source], token, 1, &document, &count, &t_err));
    for (unsigned i = 0; i < BANS; i++)
        found |= bans[i].source == source && bans[i].first <= document && document <= bans[i].last &&
                 bans[i].start <= number;
    banned += found;
    return found;
}

static void write_dataset(unsigned number, uint64_t *random)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_open_options trusted = LEAT_OPEN_OPTIONS_INIT;
    struct leat_writer *w;
    uint32_t ids[120];
    uint8_t mask[120];

    o.vocabulary = 500;
    o.end_token = END;
    o.store_mask = number == 0;
    snprintf(names[number], sizeof names[number], "%s/%u", folder, number);
    T_OK(leat_writer_open(&w, names[number], &o, &t_err));
    while (leat_writer_tokens(w) < TOKENS) {
        uint64_t count = t_below(random, 120);

        for (uint64_t i = 0; i < count; i++) {
            ids[i] = (uint32_t)t_below(random, 499);
            mask[i] = t_below(random, 3) ? (uint8_t)t_random(random) : 0;
        }
        T_OK(add_one_document(w, ids, 4, number == 0 && t_below(random, 9) > 0 ? mask : NULL, count, NULL, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
    trusted.access = LEAT_ACCESS_TRUSTED;
    T_OK(leat_dataset_open(&datasets[number], names[number], &trusted, &t_err));
}

static struct leat_plan *open_plan(enum leat_order order, bool with_bans)
{
    struct leat_plan_source sources[2] = { LEAT_PLAN_SOURCE_INIT, LEAT_PLAN_SOURCE_INIT };
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan *plan;

    for (unsigned i = 0; i < 2; i++) {
        sources[i].name = names[i];
        sources[i].dataset = datasets[i];
        sources[i].weight = order == LEAT_ORDER_MEGATRON ? NULL : "1";
    }
    o.sources = sources;
    o.source_count = 2;
    o.seq_len = LENGTH;
    o.order = order;
    o.epochs = order != LEAT_ORDER_MEGATRON;
    o.bans = with_bans ? ban_lines() : NULL;
    T_OK(leat_plan_open(&plan, &o, &t_err));
    return plan;
}

static void check_place(const struct leat_outputs *out, uint64_t at, int64_t label, uint8_t weight)
{
    T_EQ(out->number_bytes == 8 ? ((const int64_t *)out->labels)[at] : ((const int32_t *)out->labels)[at],
         weight ? label : -100);
    T_EQ(out->loss_mask[at], weight != 0);
    T_CHECK(out->loss_weights[at] == (float)weight / 255.0f);
    left_out += weight == 0;
    counted += weight != 0;
}

/* A row of which place `at` of the outputs is the first. */
static void check_row(const struct leat_plan *plan, const struct leat_batch *b, uint32_t row,
                      const struct leat_outputs *out, uint32_t own, bool with_bans)
{
    uint64_t at = row * out->length, end = at + out->length, count = 0;
    struct leat_piece pieces[LENGTH];

    if (row < b->rows)
        T_OK(pieces_of(plan, b->samples[row].number, pieces, LENGTH, &count, &t_err));
    for (uint64_t k = 0; k < count; k++) {
        /* shifted, the first token of the row, or of each document with labels of its own, is no label */
        for (uint64_t i = !out->unshifted && (own || k == 0); i < pieces[k].count; i++, at++) {
            uint64_t token = pieces[k].token + i;
            uint8_t weight;
            uint32_t id;

            T_OK(leat_dataset_read_u32(datasets[pieces[k].source], token, 1, &id, &t_err));
            T_OK(leat_dataset_mask(datasets[pieces[k].source], token, 1, &weight, &t_err));
            if (with_bans && is_banned(pieces[k].source, token, b->samples[row].number))
                weight = 0;
            if (out->unshifted && own && i == 0 && k > 0) /* a document's first token, after another document */
                weight = 0;
            check_place(out, at, id, weight);
        }
    }
    for (; at < end; at++) {
        check_place(out, at, -100, 0);
        left_out--;
    }
}

static const enum leat_apart aparts[] = { LEAT_APART_AUTO, LEAT_APART_ALWAYS, LEAT_APART_NEVER };

/* Bits of `way`: unshifted, borrowed, numbers of 4 bytes; then where rows lie. */
static void check_batches(enum leat_order order, enum leat_engine engine, uint32_t way, bool with_bans)
{
    static int64_t labels[NUMBERS];
    static uint8_t loss[NUMBERS];
    static float weights[NUMBERS];
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan *plan = open_plan(order, with_bans);
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = BATCH;
    o.io.engine = engine;
    o.outputs.number_bytes = way & 4 ? 4 : 8;
    o.outputs.borrow = way & 2 ? 1 : 0;
    o.outputs.unshifted = way & 1;
    o.io.apart = aparts[way >> 3];
    o.outputs.wanted = LEAT_OUTPUT_LABELS | LEAT_OUTPUT_LOSS_MASK | LEAT_OUTPUT_LOSS_WEIGHTS;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    T_CHECK(leat_loader_max_length(l) <= LONGEST);
    while (leat_loader_next(l, &b, &t_err) == LEAT_OK && b->number < 20) {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;

        out.labels = labels;
        out.loss_mask = loss;
        out.loss_weights = weights;
        out.number_bytes = o.outputs.number_bytes;
        out.unshifted = o.outputs.unshifted;
        out.rows = b->rows + MORE;
        out.length = b->length + MORE;
        if (o.outputs.borrow)
            T_OK(leat_batch_borrow(b, &out, NULL, &t_err));
        else
            T_OK(leat_batch_write(b, &out, NULL, &t_err));
        for (uint32_t row = 0; row < out.rows; row++)
            check_row(plan, b, row, &out, order == LEAT_ORDER_FIT, with_bans);
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

static void check_damage(void)
{
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_plan *plan;
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
    open.access = LEAT_ACCESS_TRUSTED;
    T_OK(leat_dataset_open(&datasets[0], names[0], &open, &t_err));
    plan = open_plan(LEAT_ORDER_SHUFFLED, false);
    for (unsigned i = 0; i < 3; i++) {
        T_STATUS(load_all(plan, LEAT_ON_DAMAGE_ERROR, aparts[i], &damaged), LEAT_E_CHECKSUM);
        T_CONTAINS(t_err.message, "the mask of tokens");
        T_STATUS(load_all(plan, LEAT_ON_DAMAGE_MASK, aparts[i], &damaged), LEAT_E_END);
        T_CHECK(damaged >= 4096 / LENGTH && damaged <= 4096 / LENGTH + 2);
    }
    leat_plan_close(plan);
}

int main(void)
{
    static const enum leat_order orders[] = { LEAT_ORDER_SHUFFLED, LEAT_ORDER_FIT, LEAT_ORDER_DOCUMENTS,
                                              LEAT_ORDER_MEGATRON };
    uint64_t random = t_seed();

    folder = t_folder();
    for (unsigned i = 0; i < 2; i++)
        write_dataset(i, &random);
    draw_bans(&random);
    for (unsigned i = 0; i < 8; i++)
        for (uint32_t way = 0; way < 24; way++) {
            left_out = counted = banned = 0;
            check_batches(orders[i / 2], (enum leat_engine)((way + i) % GATHER_ENGINE_COUNT), way, i % 2);
            T_CHECK(left_out > 300 && counted > (i % 2 ? 0 : 2 * left_out));
            T_CHECK(i % 2 ? banned > 100 : banned == 0);
        }
    check_damage();
    for (unsigned i = 0; i < 2; i++)
        leat_dataset_close(datasets[i]);
    return t_end();
}
