/*
 * test_loader_tokens.c: batches by tokens: rows times tokens of the longest row are within the limit, rows have the
 * tokens and the outputs of their documents, shifted and unshifted, copied and borrowed, with narrow and wide numbers,
 * to the plan's end, whatever becomes of the last step. All ranks together show each sample once, in the order of the
 * plan, also where a run begins inside a batch, and skipped samples are left out. Refused: a number of rows, rows that
 * stay in their files, a limit that a row exceeds.
 */
#include "loading.h"

static struct loading loading;
static struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
static uint8_t *seen; /* of each sample, how often it was given */

static void check_outputs(const struct leat_batch *b, const struct leat_outputs *o)
{
    for (uint32_t row = 0; row < b->rows; row++)
        for (uint32_t i = 0; i < b->length; i++) {
            int64_t input = o->number_bytes == 8 ? ((int64_t *)o->inputs)[(size_t)row * b->length + i]
                                                 : ((int32_t *)o->inputs)[(size_t)row * b->length + i];
            int64_t label = o->number_bytes == 8 ? ((int64_t *)o->labels)[(size_t)row * b->length + i]
                                                 : ((int32_t *)o->labels)[(size_t)row * b->length + i];
            bool padded = b->flags[row] & LEAT_ROW_PADDED || i >= b->lengths[row];

            T_EQ(input, padded ? 0 : (int64_t)loading_token(&loading, &b->samples[row], i));
            T_EQ(label, padded ? -100 : (int64_t)loading_token(&loading, &b->samples[row], i + !o->unshifted));
        }
}

/* All batches of a rank; returns how many there are. */
static uint64_t run(struct leat_loader_options o)
{
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    uint64_t k = 0, places = 0, inputs = 0;
    const struct leat_batch *b;
    struct leat_loader *l;
    enum leat_status s;

    T_OK(leat_loader_open(&l, loading.plan, &o, &t_err));
    for (; (s = leat_loader_next(l, &b, &t_err)) == LEAT_OK; k++) {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;

        T_CHECK(b->rows <= info.max_rows);
        T_CHECK((uint64_t)b->rows * (b->length + !o.outputs.unshifted) <= info.max_tokens);
        for (uint32_t row = 0; row < b->rows; row++) {
            inputs += b->lengths[row];
            if (!(b->flags[row] & LEAT_ROW_PADDED))
                seen[b->samples[row].number]++;
            T_CHECK(row == 0 || b->samples[row].length <= b->samples[row - 1].length);
        }
        places += (uint64_t)b->rows * b->length;
        if (o.outputs.borrow) {
            T_OK(leat_batch_borrow(b, &out, NULL, &t_err));
        } else {
            out.number_bytes = o.outputs.number_bytes;
            out.unshifted = o.outputs.unshifted;
            out.inputs = calloc((size_t)b->rows * b->length, 8);
            out.labels = calloc((size_t)b->rows * b->length, 8);
            T_OK(leat_batch_write(b, &out, NULL, &t_err));
        }
        check_outputs(b, &out);
        if (!o.outputs.borrow) {
            free(out.inputs);
            free(out.labels);
        }
        leat_batch_release(b, NULL);
    }
    T_EQ(s, LEAT_E_END);
    leat_loader_stats(l, &stats);
    T_CHECK(stats.padding_share > (double)(places - inputs) / (double)places - 1e-9);
    T_CHECK(stats.padding_share < (double)(places - inputs) / (double)places + 1e-9);
    leat_loader_close(l);
    return k;
}

static void check_seen(uint64_t from, uint64_t end)
{
    for (uint64_t n = 0; n < info.samples; n++) {
        uint32_t skipped;
        uint64_t position = leat_plan_position(loading.plan, n, &skipped);

        T_EQ(seen[n], !skipped && position >= from && position < end);
    }
    memset(seen, 0, info.samples);
}

static void check_world(uint64_t world, uint64_t position)
{
    for (enum leat_last_batch last = LEAT_LAST_SHORT; last <= LEAT_LAST_DROPPED; last++) {
        uint64_t first = 0, k = 0, dropped = 0;

        for (uint64_t rank = 0; rank < world; rank++) {
            struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

            o.ranks.rank = rank;
            o.ranks.world = world;
            o.position = position;
            o.last = last;
            o.io.threads = rank % 2;
            o.outputs.number_bytes = rank % 2 ? 4 : 8;
            o.outputs.unshifted = rank / 2 % 2;
            o.outputs.ahead = o.outputs.unshifted ? 0 : (uint32_t)rank % 2; /* rows in segments */
            o.outputs.borrow = rank / 4 % 2;
            o.outputs.wanted = LEAT_OUTPUT_INPUTS | LEAT_OUTPUT_LABELS;
            k = run(o);
            first = rank == 0 ? k : first;
            T_CHECK(last == LEAT_LAST_SHORT ? k <= first && k + 1 >= first : k == first);
        }
        if (last != LEAT_LAST_DROPPED) {
            check_seen(position, info.positions);
            continue;
        }
        for (uint64_t n = 0; n < info.samples; n++) /* less than a step at the end */
            dropped += !seen[n];
        T_CHECK(dropped <= position + (info.samples - info.positions) + world * info.max_rows);
        memset(seen, 0, info.samples);
    }
}

static void check_refused(void)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan *plan, *from;
    struct leat_loader *l;

    o.batch = 8;
    T_REFUSED(leat_loader_open(&l, loading.plan, &o, &t_err), LEAT_E_ARGUMENT, "has batches by tokens");
    T_STR(t_err.field, "batch");
    o.batch = 0;
    T_REFUSED(leat_plan_by_tokens(&plan, loading.plan, 300, 0, 0, &t_err), LEAT_E_ARGUMENT, "a plan with skips");
    from = loading_plan(
        t_text("source %s\nseq-len 200\norder documents\nban 9:%s:1\n", loading.names[0], loading.names[0]));
    T_REFUSED(leat_plan_by_tokens(&plan, from, 300, 0, 0, &t_err), LEAT_E_ARGUMENT, "bans from a sample on");
    leat_plan_close(from);
}

int main(void)
{
    static const uint64_t worlds[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

    loading.width = 2;
    loading.mean = 60;
    snprintf(loading.names[0], sizeof loading.names[0], "%s/documents", t_folder());
    loading_write(loading.names[0], 60000, 2, loading.mean);
    loading.plan = loading_plan(
        t_text("source %s\nseq-len 200\norder documents\nepochs 2\nmax-tokens 900\nmax-rows 20\npool 150\nskip 3:9\n"
               "skip 140:161",
               loading.names[0]));
    leat_plan_info(loading.plan, &info);
    T_EQ(info.samples, info.positions + 27);
    seen = calloc(info.samples, 1);
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        check_world(worlds[i], i * 37);
    check_refused();
    free(seen);
    leat_plan_close(loading.plan);
    return t_end();
}
