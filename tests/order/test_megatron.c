/*
 * test_megatron.c: numpy's shuffle and sum are numpy's; a plan of Megatron's order has a text that reads back as the
 * same plan; what Megatron has no room for, or what is not its, is refused by name; its states keep all that decides
 * the samples; and a loader delivers rows of several documents. test_order_vectors.c has the order itself.
 */
#include "base/bytes.h"
#include "one_document.h"
#include "order/megatron.h"
#include "pieces_of.h"
#include "plan/plan.h"
#include "t.h"

/* Checksums of numpy.random.RandomState(seed).shuffle(arange(count)), made with numpy 2.4. */
static void check_shuffles(void)
{
    static const struct {
        uint32_t seed, count, sum;
    } made[] = { { 1234, 10, 2999870969u }, { 0, 10, 140493457u },    { UINT32_MAX, 5, 3723940u },
                 { 5, 34, 3190847719u },    { 7, 1000, 1331244634u }, { 42, 100000, 1195164374u } };
    static uint32_t items[100000];

    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        struct numpy_random random;
        uint32_t sum = 0;

        for (uint32_t k = 0; k < made[i].count; k++)
            items[k] = k;
        numpy_random_seed(&random, made[i].seed);
        numpy_random_shuffle(&random, items, made[i].count);
        for (uint32_t k = 0; k < made[i].count; k++)
            sum = sum * 31 + items[k];
        T_EQ(sum, made[i].sum);
    }
}

/* Sums of the bits of x / numpy.sum(x), made with numpy 2.4: it adds eight numbers side by side, and more than 128 in
 * halves. From 100 numbers on, adding them one by one gives others. */
static void check_sums(void)
{
    static const struct {
        uint32_t count, sum;
    } made[] = { { 3, 902824929u },    { 7, 2606437378u },   { 8, 3378407877u },    { 15, 3809782524u },
                 { 100, 3916741354u }, { 127, 3518406603u }, { 128, 1221004686u },  { 129, 3575132002u },
                 { 136, 2167018134u }, { 137, 1892003291u }, { 200, 2602208619u },  { 256, 4292598128u },
                 { 257, 684601604u },  { 300, 4019211088u }, { 1000, 1882952447u }, { 5000, 3509856356u },
                 { 32766, 404244157u } };
    static double x[32766];

    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        uint32_t sum = 0;

        for (uint64_t k = 0; k < made[i].count; k++)
            x[k] = 1.0 / (double)(1 + k * k % 97);
        megatron_normalize(x, made[i].count);
        for (uint32_t k = 0; k < made[i].count; k++) {
            uint64_t bits;

            memcpy(&bits, &x[k], sizeof bits);
            sum = sum * 31 + (uint32_t)(bits ^ bits >> 32);
        }
        T_EQ(sum, made[i].sum);
    }
}

/* What a plan of moderate size does not come to. */
static void check_limits(void)
{
    static const uint32_t lengths[3] = { 10, 20, 30 };
    struct megatron_source source;
    struct megatron_blend blend;
    uint64_t taken[2];

    /* more tokens than 64 bits can count */
    T_REFUSED(megatron_source_make(&source, lengths, 3, 1 << 30, (uint64_t)1 << 59, 1, &t_err), LEAT_E_UNSUPPORTED,
              "307445734561825861 epochs of 3 sequences with 60 tokens;");
    megatron_source_free(&source);
    T_REFUSED(megatron_blend_make(&blend, (double[]) { 0.5, 0.5 }, (uint64_t[]) { 1, 9 }, 2, 10, taken, &t_err),
              LEAT_E_ARGUMENT, "takes more samples of source 0 than the 1 that were built for it, from sample 2 on");
    megatron_blend_free(&blend);
}

static struct leat_dataset *data;
static const char *folder;

/* Opens a plan of these lines, with the source NAME that is `data`; NULL: refused, with the error in t_err. */
static struct leat_plan *open_lines(const char *lines)
{
    struct plan_rules rules = { .seed = 0 };
    struct leat_plan *plan = NULL;
    enum leat_status s;
    const char *text = t_text("leat plan 1\norder megatron\nseq-len 16\n%s\n", lines);

    s = plan_rules_read(&rules, text, strlen(text), "test", &t_err);
    for (size_t i = 0; i < rules.source_count; i++)
        rules.sources[i].dataset = data;
    if (s == LEAT_OK)
        s = plan_open_rules(&plan, &rules, NULL, &t_err);
    else
        plan_rules_free(&rules);
    return s == LEAT_OK ? plan : NULL;
}

static void check_text(void)
{
    struct leat_plan *plan = open_lines("source a:0.50\nsource b:1\nsamples 60\nsplit 8, 1,1.0"), *again;
    char text[1024], more[1024];
    uint64_t bytes;

    T_CHECK(plan);
    if (!plan)
        return;
    T_OK(leat_plan_text(plan, text, sizeof text, &bytes, &t_err));
    T_CHECK(strcmp(text, "leat plan 1\nseed 1234\nseq-len 16\nbase-len 16\norder megatron\nsplit 8,1,1\nuse train\n"
                         "samples 60\nmid-level-dataset-surplus 0.005\nsource a:0.5\nsource b:1\n") == 0);
    again = open_lines(strstr(text, "split"));
    T_CHECK(again);
    T_OK(leat_plan_text(again, more, sizeof more, &bytes, &t_err));
    T_CHECK(strcmp(text, more) == 0);
    leat_plan_close(again);
    leat_plan_close(plan);
    plan = open_lines("source a\nsource b\nseed 0");
    T_OK(leat_plan_text(plan, text, sizeof text, &bytes, &t_err));
    T_CHECK(strstr(text, "seed 0\n") && strstr(text, "source a\nsource b\n"));
    leat_plan_close(plan);
}

/* Options of leat_plan_open() give the plan that their text gives. The number of samples and the surplus once had no
 * effect: a source without a weight had one epoch, and weights were refused. */
static void check_options(void)
{
    struct leat_plan *made, *read = open_lines("source a:3\nsource b:1\nsamples 60\nsplit 8,1,1\n"
                                               "mid-level-dataset-surplus 0.25");
    struct leat_plan_options options = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan_source sources[2] = { LEAT_PLAN_SOURCE_INIT, LEAT_PLAN_SOURCE_INIT };
    char text[1024], more[1024];
    uint64_t bytes;

    for (unsigned i = 0; i < 2; i++) {
        sources[i].name = i == 0 ? "a" : "b";
        sources[i].weight = i == 0 ? "3" : "1";
        sources[i].dataset = data;
    }
    options.sources = sources;
    options.source_count = 2;
    options.seq_len = 16;
    options.seed = 1234;
    options.order = LEAT_ORDER_MEGATRON;
    options.split = "8,1,1";
    options.megatron.samples = 60;
    options.megatron.mid_level_dataset_surplus = "0.25";
    T_OK(leat_plan_open(&made, &options, &t_err));
    T_OK(leat_plan_text(read, text, sizeof text, &bytes, &t_err));
    T_OK(leat_plan_text(made, more, sizeof more, &bytes, &t_err));
    T_CHECK(strcmp(text, more) == 0);
    leat_plan_close(made);
    leat_plan_close(read);
}

static void check_refused(void)
{
    static const struct {
        const char *lines, *why;
    } wrong[] = {
        { "source a\nseed 4294967296", "not below 2^32" },
        { "source a\nepochs 2", "no limit of epochs" },
        { "source a:1:2\nsamples 5", "has a limit of epochs" },
        { "source a\nbase-len 32", "no base length" },
        { "source a\nat 5:1", "no phases" },
        { "source a\nsplit train=0.9\nuse train", "Megatron's split" },
        { "source a\nuse train", "the split is missing" },
        { "source a\nsplit 1,1\nuse dev", "train, valid and test" },
        { "source a\nsplit 1,1\nuse test", "gives nothing" },
        { "source a\nsplit 1,2,3,4", "more than three numbers" },
        { "source a\nsplit 0,0", "no number above 0" },
        { "source a\nsplit 1.2.3", "of the split" },
        { "source a:1\nsource b:1", "number of samples is missing" },
        { "source a:1", "number of samples is missing" },
        { "source a:1\nsource b\nsamples 5", "weights for all sources" },
        { "source a:1\nsource b:0\nsamples 5", "weight 0" },
        { "source a\nsamples 0", "number of samples is 0" },
        { "source a\nsamples 1099511627777", "at most 2^40" },
        { "source a\nsamples 1099511627776", "too large" },
        { "source a\nsplit 1,1000\nuse train", "\"train\" none of the 60 documents of a" },
        { "source a:1\nsource b:1000\nsamples 900\nmid-level-dataset-surplus x", "the surplus" },
        { "source a:1\nsource b:1\nsamples 9\nmid-level-dataset-surplus 1e30", "\"1e30\" is too large" },
        { "source a:1\nsource b:1\nsamples 9\nmid-level-dataset-surplus 1000000.1", "at most 1000000" },
        { "source a:1\nsource b:1\nsamples 1099511627776\nmid-level-dataset-surplus 1e6", "index is too large" },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct leat_plan *plan = open_lines(wrong[i].lines);

        if (plan || !strstr(t_err.message, wrong[i].why))
            T_FAIL("%s: %s", wrong[i].lines, plan ? "accepted" : t_err.message);
        leat_plan_close(plan);
    }
}

/* What is Megatron's does not belong to other orders. */
static void check_others(void)
{
    static const char *const lines[] = { "samples 5", "mid-level-dataset-surplus 0.1", "split 969,30,1\nuse train" };

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct leat_plan *plan = NULL;
        const char *text = t_text("leat plan 1\nsource a\nseq-len 4\n%s\n", lines[i]);

        T_CHECK(leat_plan_parse(&plan, text, strlen(text), "test", NULL, &t_err) == LEAT_E_ARGUMENT);
        T_CHECK(strstr(t_err.message, "order megatron"));
    }
}

static void check_states(void)
{
    static const char *const others[] = { "source a\nsamples 41", "source a\nsamples 40\nseed 1",
                                          "source a\nsamples 40\nsplit 90,10,0", "source a\nsource b\nsamples 40" };
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    struct leat_plan *plan = open_lines("source a\nsamples 40");
    char text[LEAT_PLAN_STATE_BYTES];

    state.position = 7;
    T_OK(leat_plan_state_save(plan, &state, text, &t_err));
    state.position = 0;
    T_OK(leat_plan_state_load(plan, text, strlen(text), &state, &t_err));
    T_EQ(state.position, 7);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct leat_plan *other = open_lines(others[i]);

        T_CHECK(other);
        T_CHECK(leat_plan_state_load(other, text, strlen(text), &state, &t_err) == LEAT_E_CHECKPOINT);
        leat_plan_close(other);
    }
    leat_plan_close(plan);
}

/* Tokens without documents have no sequences. */
static void check_no_documents(void)
{
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    static const uint8_t zeros[2000];
    struct leat_plan *plan;
    FILE *f;

    f = fopen(t_text("%s/raw", folder), "w");
    T_CHECK(f && fwrite(zeros, 1, sizeof zeros, f) == sizeof zeros && fclose(f) == 0);
    source.name = t_text("raw:%s/raw?dtype=u16", folder);
    o.sources = &source;
    o.source_count = 1;
    o.seq_len = 16;
    o.order = LEAT_ORDER_MEGATRON;
    T_REFUSED(leat_plan_open(&plan, &o, &t_err), LEAT_E_NOT_FOUND,
              "name the token that ends each (end=ID in the name)");
}

/* A loader's rows are the tokens of their samples' pieces. */
static void check_loader(void)
{
    struct leat_loader_options options = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan *plan = open_lines("source a\nsamples 60\nsplit 9,1");
    struct leat_loader *loader;
    const struct leat_batch *batch;
    uint32_t crossed = 0;

    options.batch = 4;
    options.ranks.world = 2;
    options.ranks.rank = 1;
    options.last = LEAT_LAST_DROPPED;
    T_OK(leat_loader_open(&loader, plan, &options, &t_err));
    for (uint64_t step = 0; step < 12; step++) {
        T_OK(leat_loader_next(loader, &batch, &t_err));
        for (uint64_t row = 0; row < 2; row++) {
            uint16_t want[17];
            struct leat_piece pieces[17];
            uint64_t count;

            T_OK(pieces_of(plan, step * 4 + 2 + row, pieces, 17, &count, &t_err));
            crossed += count > 1;
            for (uint64_t i = 0; i < count; i++)
                T_OK(leat_dataset_read(data, pieces[i].token, pieces[i].count, want + pieces[i].at, &t_err));
            for (unsigned i = 0; i < 17; i++)
                T_EQ(bytes_le16(((const uint16_t *)batch->tokens)[row * batch->width + i]), want[i]);
        }
        leat_batch_release(batch, NULL);
    }
    T_CHECK(crossed > 5);
    leat_loader_close(loader);
    leat_plan_close(plan);
}

/* Documents of 0 to 30 tokens, all of them different. */
static void write_documents(const char *path)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    uint16_t ids[30], next = 1;
    struct leat_writer *w;

    options.vocabulary = 65536;
    T_OK(leat_writer_open(&w, path, &options, &t_err));
    for (uint64_t i = 0; i < 60; i++) {
        uint64_t length = i * 7 % 31;

        for (uint64_t k = 0; k < length; k++)
            ids[k] = next++;
        T_OK(add_one_document(w, ids, 2, NULL, length, NULL, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

int main(void)
{
    char path[600];

    folder = t_folder();
    snprintf(path, sizeof path, "%s/data", folder);
    write_documents(path);
    T_OK(leat_dataset_open(&data, path, NULL, &t_err));
    check_shuffles();
    check_sums();
    check_limits();
    check_text();
    check_options();
    check_refused();
    check_others();
    check_states();
    check_no_documents();
    check_loader();
    leat_dataset_close(data);
    return t_end();
}
