/*
 * test_loader_sources.c: the sources of rows: source_ids say which one each place is of; weights of sources multiply
 * loss_weights, rounded once, and change nothing else; and what a loader says that it gave of each source is what its
 * batches hold, added up: in all orders, of datasets with a mask and without, shifted and not, with and without loss of
 * first tokens, on one rank and two, with padded and damaged rows; on the host, and as tests/device/test_loader_sources
 * on a device. A thread runs here.
 */
#include "gather/gather.h"
#include "one_document.h"
#include "t.h"

#define SOURCES 3u
#define BATCH   8u
#define LENGTH  48u
#define NUMBERS ((size_t)(BATCH + 1) * 4 * LENGTH)

static const char *folder;
static char names[SOURCES][700];
static const double weights[] = { 1.0 / 3, 1 }; /* the last source has none: 1 */

/* The first of them has a mask. */
static void write_dataset(unsigned number, uint64_t *random)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;
    uint32_t ids[100];
    uint8_t mask[100];

    o.vocabulary = 500;
    o.end_token = 499;
    o.store_mask = number == 0;
    snprintf(names[number], sizeof names[number], "%s/%u", folder, number);
    T_OK(leat_writer_open(&w, names[number], &o, &t_err));
    while (leat_writer_tokens(w) < 9000) {
        uint64_t count = 1 + t_below(random, 99);

        for (uint64_t i = 0; i < count; i++) {
            ids[i] = (uint32_t)t_below(random, 499);
            mask[i] = t_below(random, 3) ? (uint8_t)t_random(random) : 0;
        }
        T_OK(add_one_document(w, ids, 4, number == 0 ? mask : NULL, count, NULL, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* `masked`: with the source that has a mask. */
static struct leat_plan *open_plan(enum leat_order order, bool masked, uint64_t align, uint64_t overlap)
{
    struct leat_plan_source sources[SOURCES];
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan *plan;

    for (unsigned i = 0; i < SOURCES; i++) {
        sources[i] = (struct leat_plan_source)LEAT_PLAN_SOURCE_INIT;
        sources[i].name = names[i];
        sources[i].weight = i == 1 ? "3" : "1";
    }
    o.sources = sources + !masked;
    o.source_count = SOURCES - !masked;
    o.seq_len = LENGTH;
    o.order = order;
    o.epochs = order == LEAT_ORDER_MEGATRON ? 0 : 1;
    o.fit.align = align;
    o.fit.overlap = overlap;
    if (order == LEAT_ORDER_MEGATRON)
        o.megatron.samples = 300;
    T_OK(leat_plan_open(&plan, &o, &t_err));
    return plan;
}

struct sums {
    struct leat_loader_source of[SOURCES];
    uint64_t skipped; /* rows that count for no source */
};

static float weight_in(const struct leat_plan *plan, bool weighted, uint32_t source)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;

    leat_plan_info(plan, &info);
    return weighted && source < info.sources - 1 ? (float)weights[source] : 1;
}

/* The places of a row, of which `plain` are the weights without those of sources. */
static void check_row(const struct leat_plan *plan, const struct leat_batch *b, uint32_t row,
                      const struct leat_outputs *o, const float *plain, bool weighted, struct sums *sums)
{
    uint32_t length = row < b->rows ? b->lengths[row] : 0;
    struct leat_sample x = { .source = 0 };
    uint64_t learned = 0, wrong = 0;

    if (length > 0)
        T_OK(leat_plan_sample(plan, b->samples[row].number, &x, &t_err));
    for (uint64_t i = 0; i < o->length; i++) {
        uint64_t at = row * o->length + i;
        int64_t id = o->number_bytes == 8 ? ((int64_t *)o->source_ids)[at] : ((int32_t *)o->source_ids)[at];

        wrong += id != (i < length ? (int64_t)x.source : -1);
        wrong += o->loss_weights[at] != (float)((double)plain[at] * (double)weight_in(plan, weighted, x.source));
        wrong += (o->loss_mask[at] != 0) != (plain[at] > 0);
        learned += o->loss_mask[at] && !(i == 0 && o->unshifted);
    }
    T_EQ(wrong, 0);
    if (row < b->rows && b->flags[row] == 0) {
        sums->of[x.source].rows++;
        sums->of[x.source].tokens += length;
        sums->of[x.source].loss_tokens += learned;
    } else if (row < b->rows) {
        sums->skipped++;
    }
}

/* Bits of `way`: unshifted, mask_first, numbers of 4 bytes, borrowed, weighted. */
static void take(const struct leat_plan *plan, uint64_t rank, uint64_t world, uint32_t way, struct sums *all)
{
    static int64_t ids[NUMBERS];
    static uint8_t loss[NUMBERS];
    static float given[NUMBERS], plain[NUMBERS];
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader_source got[SOURCES + 1];
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_loader *l, *second;
    const struct leat_batch *b, *twin;
    struct sums sums = { .skipped = 0 };

    leat_plan_info(plan, &info);
    o.batch = BATCH * world;
    o.ranks.rank = rank;
    o.ranks.world = world;
    o.last = LEAT_LAST_PADDED;
    o.on_damage = LEAT_ON_DAMAGE_MASK;
    o.outputs.unshifted = way & 1;
    o.outputs.mask_first = way >> 1 & 1;
    o.outputs.number_bytes = way & 4 ? 4 : 8;
    o.outputs.wanted = LEAT_OUTPUT_SOURCE_IDS | LEAT_OUTPUT_LOSS_MASK | LEAT_OUTPUT_LOSS_WEIGHTS;
    T_OK(leat_loader_open(&second, plan, &o, &t_err));
    o.outputs.borrow = way >> 3 & 1;
    o.source_weights = way & 16 ? weights : NULL;
    o.source_weight_count = info.sources - 1;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    while (leat_loader_next(l, &b, &t_err) == LEAT_OK) {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;

        out.number_bytes = o.outputs.number_bytes;
        out.unshifted = o.outputs.unshifted;
        out.mask_first = o.outputs.mask_first;
        out.rows = b->rows + !o.outputs.borrow;
        out.length = b->length + !o.outputs.borrow;
        out.loss_weights = plain;
        T_OK(leat_loader_next(second, &twin, &t_err));
        T_OK(leat_batch_write(twin, &out, NULL, &t_err));
        leat_batch_release(twin, NULL);
        out.source_ids = ids;
        out.loss_mask = loss;
        out.loss_weights = given;
        if (o.outputs.borrow)
            T_OK(leat_batch_borrow(b, &out, NULL, &t_err));
        else
            T_OK(leat_batch_write(b, &out, NULL, &t_err));
        for (uint32_t row = 0; row < out.rows; row++)
            check_row(plan, b, row, &out, plain, way & 16, &sums);
        leat_batch_release(b, NULL);
        T_EQ(leat_loader_sources(l, 0, SOURCES + 1, got), info.sources);
        for (uint64_t i = 0; i < info.sources; i++) {
            T_EQ(got[i].rows, sums.of[i].rows);
            T_EQ(got[i].tokens, sums.of[i].tokens);
            T_EQ(got[i].loss_tokens, sums.of[i].loss_tokens);
        }
    }
    T_EQ(leat_loader_sources(l, info.sources - 1, 1, got), 1);
    T_EQ(got[0].tokens, sums.of[info.sources - 1].tokens);
    T_EQ(leat_loader_sources(l, info.sources, 1, got), 0);
    T_EQ(leat_loader_sources(l, UINT64_MAX, UINT64_MAX, got), 0);
    leat_loader_close(l);
    leat_loader_close(second);
    for (uint64_t i = 0; i < info.sources; i++) {
        all->of[i].rows += sums.of[i].rows;
        all->of[i].tokens += sums.of[i].tokens;
        all->of[i].loss_tokens += sums.of[i].loss_tokens;
    }
    all->skipped += sums.skipped;
}

/* Both ranks together have the plan's samples, once; without a mask, all their predictions have a loss. */
static void check_plan(const struct leat_plan *plan, bool all_learned, uint32_t way)
{
    struct sums expected = { .skipped = 0 };
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_sample x;
    uint64_t world = 1 + (way ^ way >> 3) % 2, got;

    for (uint64_t rank = 0; rank < world; rank++)
        take(plan, rank, world, way, &expected);
    leat_plan_info(plan, &info);
    for (uint64_t p = 0; p < info.positions; p++) {
        T_OK(leat_plan_samples(plan, p, 1, &x, &got, &t_err));
        expected.of[x.source].rows--;
        expected.of[x.source].loss_tokens -= x.length;
    }
    for (uint64_t i = 0; i < info.sources; i++) {
        T_EQ(expected.of[i].rows, 0);
        T_CHECK(expected.of[i].tokens > 0);
        if (all_learned && !(way & 2))
            T_EQ(expected.of[i].loss_tokens, 0);
    }
    T_EQ(expected.skipped, (BATCH * world - info.positions % (BATCH * world)) % (BATCH * world));
}

static void check_order(enum leat_order order, bool masked, uint64_t align, uint64_t overlap)
{
    struct leat_plan *plan = open_plan(order, masked, align, overlap);

    for (uint32_t way = 0; way < 32; way++)
        check_plan(plan, !masked && align == 0 && overlap == 0, way);
    leat_plan_close(plan);
}

/* Rows of a damaged page are there, and count for no source. */
static void check_damage(void)
{
    struct leat_plan *plan;
    struct sums sums = { .skipped = 0 };

    t_flip(t_text("%s.tokens", names[1]), 5000);
    plan = open_plan(LEAT_ORDER_SEQUENTIAL, false, 0, 0);
    take(plan, 0, 1, 0, &sums);
    T_CHECK(sums.skipped > 40);
    leat_plan_close(plan);
}

/* The share that the plan gives to sources is that of the phase of the last batch, or of the place to begin at. */
static void check_shares(void)
{
    static const double expected[2][SOURCES] = { { 0.2, 0.6, 0.2 }, { 0.75, 0.25, 0 } };
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader_source got[SOURCES];
    struct leat_plan *plan;
    struct leat_loader *l;
    const struct leat_batch *b;
    const char *text =
        t_text("source %s:1\nsource %s:3\nsource %s:1\nseq-len 48\nat 32:3,1\n", names[0], names[1], names[2]);

    T_OK(leat_plan_parse(&plan, text, strlen(text), NULL, NULL, &t_err));
    o.batch = 16;
    for (o.position = 0; o.position <= 48; o.position += 16) {
        T_OK(leat_loader_open(&l, plan, &o, &t_err));
        for (uint64_t cursor = o.position; cursor < o.position + 48; cursor += 16) {
            T_EQ(leat_loader_sources(l, 0, SOURCES, got), SOURCES);
            for (unsigned i = 0; i < SOURCES; i++)
                T_CHECK(got[i].share == expected[cursor > 32][i]);
            T_OK(leat_loader_next(l, &b, &t_err));
            leat_batch_release(b, NULL);
        }
        leat_loader_close(l);
    }
    leat_plan_close(plan);
    plan = open_plan(LEAT_ORDER_DOCUMENTS, true, 0, 0);
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    T_EQ(leat_loader_sources(l, 1, 1, got), 1);
    T_CHECK(got[0].share == 0);
    leat_loader_close(l);
    leat_plan_close(plan);
}

static void refuse(const struct leat_plan *plan, double weight, uint64_t count, const char *words)
{
    double some[] = { 1, weight, 1, 1 };
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader *l;

    o.batch = 1;
    o.source_weights = some;
    o.source_weight_count = count;
    T_REFUSED(leat_loader_open(&l, plan, &o, &t_err), LEAT_E_ARGUMENT, words);
    T_STR(t_err.field, "source_weights");
}

static void check_refusals(void)
{
    struct leat_plan *plan = open_plan(LEAT_ORDER_SHUFFLED, true, 0, 0);

    refuse(plan, 1, 4, "4 weights are too many for a plan of 3 sources");
    refuse(plan, -1, 3, "source 1 has -1");
    refuse(plan, 1e-31, 3, "source 1 has 1e-31");
    refuse(plan, 1e31, 3, "source 1 has 1e+31");
    refuse(plan, 0.0 / 0.0, 2, "is 0, or 1e-30 to 1e30");
    leat_plan_close(plan);
}

int main(void)
{
    static const enum leat_order orders[] = { LEAT_ORDER_SHUFFLED, LEAT_ORDER_DOCUMENTS, LEAT_ORDER_FIT,
                                              LEAT_ORDER_MEGATRON };
    uint64_t random = t_seed();

    folder = t_folder();
    for (unsigned i = 0; i < SOURCES; i++)
        write_dataset(i, &random);
    for (unsigned i = 0; i < sizeof orders / sizeof *orders; i++)
        for (unsigned masked = 0; masked < 2; masked++)
            check_order(orders[i], masked, 0, 0);
    check_order(LEAT_ORDER_FIT, false, 4, 0);
    check_order(LEAT_ORDER_FIT, true, 0, 5);
    check_refusals();
    check_shares();
    check_damage();
    return t_end();
}
