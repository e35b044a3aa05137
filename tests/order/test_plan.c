/*
 * test_plan.c: plans over real datasets: options and text make the same plan; what is printed reads back; where a
 * sample lies in a list of datasets and in a split; which samples show a token, against a plain search; the rows of
 * ranks make up the batch for any number of ranks. test_plan_refused.c has the mistakes.
 */
#include "plan_made.h"

static void test_text(void)
{
    struct leat_plan_source sources[] = { source_of("a", "0.50", 0), source_of("list.txt", NULL, 3) };
    struct leat_plan_phase phases[] = { { sizeof *phases, 6400, "1,2e0", 32 }, { sizeof *phases, 6528, ".10", 0 } };
    struct leat_plan_range skips[] = { { 100, 105 }, { 7, 9 } };
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan *plan, *again;
    char *text, *second, expected[2000];

    o.sources = sources;
    o.source_count = 2;
    o.seq_len = 16;
    o.base_len = 64;
    o.seed = UINT64_MAX;
    o.split = "x=0.90,y=1e-1";
    o.use = "x";
    o.phases = phases;
    o.phase_count = 2;
    o.skips = skips;
    o.skip_count = 2;
    T_OK(leat_plan_open(&plan, &o, &t_err));
    text = text_of(plan);
    snprintf(
        expected, sizeof expected,
        "leat plan 1\nseed 18446744073709551615\nseq-len 16\nbase-len 64\norder shuffled\nsplit x=0.9,y=0.1\n"
        "use x\nsource %s/a:0.5\nsource @%s/list.txt:1:3\nat 6400:1,2:len=32\nat 6528:0.1\nskip 7:9\nskip 100:105\n",
        folder, folder);
    T_STR(text, expected);
    T_OK(leat_plan_parse(&again, text, strlen(text), "again", NULL, &t_err));
    second = text_of(again);
    T_STR(second, text);
    for (uint64_t n = 0; n < 20000; n += 37) {
        struct leat_sample x, y;

        T_OK(leat_plan_sample(plan, n, &x, &t_err));
        T_OK(leat_plan_sample(again, n, &y, &t_err));
        T_CHECK(memcmp(&x, &y, sizeof x) == 0);
    }
    leat_plan_close(plan);
    leat_plan_close(again);
    free(text);
    free(second);
    /* the same plan in other words, and in other sizes of structs */
    again = parse("# notes\n\n source \t%s/a:5e-1 \r\nsource @%s/list.txt:1.0:3\nuse x\nsplit x=.9,y=0.1\nseed "
                  "18446744073709551615\nseq-len 16\nskip 100:105\nskip 7:9\nbase-len 64\nat 6400:1,2:len=32\n"
                  "at 6528:0.10",
                  folder, folder);
    second = text_of(again);
    T_STR(second, expected);
    leat_plan_close(again);
    free(second);
}

/* A plan's text in a file is that plan; what is wrong names the file, and the line. */
static void test_load(void)
{
    const char *path = t_path(folder, "my.plan");
    struct leat_plan *plan, *again;
    char *text, *second, named[700];
    FILE *f = fopen(path, "w");

    fprintf(f, "leat plan 1\nsource %s/a:2\nsource %s/b:1\nseq-len 16", folder, folder);
    fclose(f);
    T_OK(leat_plan_load(&plan, path, NULL, &t_err));
    again = parse("source %s/a:2\nsource %s/b:1\nseq-len 16", folder, folder);
    text = text_of(plan);
    second = text_of(again);
    T_STR(text, second);
    leat_plan_close(plan);
    leat_plan_close(again);
    free(text);
    free(second);

    f = fopen(path, "w");
    fprintf(f, "leat plan 1\nsauce a\n");
    fclose(f);
    snprintf(named, sizeof named, "%s, line 2: ", path);
    T_REFUSED(leat_plan_load(&plan, path, NULL, &t_err), LEAT_E_ARGUMENT, named);
    T_EQ(t_err.offset, 12);
    T_CHECK(!plan);
    T_CHECK(truncate(path, (64 << 20) + 1) == 0);
    T_REFUSED(leat_plan_load(&plan, path, NULL, &t_err), LEAT_E_ARGUMENT, "is not a plan: it is larger than 64 MiB");
    T_STR(t_err.file, path);
    T_STATUS(leat_plan_load(&plan, folder, NULL, &t_err), LEAT_E_IO);
    T_STATUS(leat_plan_load(&plan, t_path(folder, "none"), NULL, NULL), LEAT_E_NO_FILE);
    T_CHECK(!plan);
}

/* ---- Places ---- */

static void test_places(void)
{
    struct leat_plan *plan = parse("source @%s/list.txt\nseq-len 8\nbase-len 16\nepochs 1\n", folder);
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_info data = LEAT_INFO_INIT;
    uint8_t *shown;
    uint64_t inputs = 0;

    leat_plan_info(plan, &info);
    T_EQ(info.token_width, 2);
    T_OK(leat_plan_source_info(plan, 0, &source, &t_err));
    leat_dataset_info(source.dataset, &data);
    T_EQ(source.tokens, data.tokens);
    T_EQ(info.samples, 2 * source.blocks);
    T_EQ(source.blocks * 16 + source.dropped, data.tokens);
    shown = calloc((size_t)data.tokens, 1);
    for (uint64_t n = 0; n < info.samples; n++) {
        struct leat_part part = LEAT_PART_INIT;
        struct leat_sample x;
        uint32_t ids[9];

        T_OK(leat_plan_sample(plan, n, &x, &t_err));
        T_OK(leat_dataset_part(source.dataset, x.part, &part, &t_err));
        T_EQ(part.first_token + x.offset, x.token);
        T_CHECK(x.offset + x.length + 1 <= part.tokens);
        T_OK(leat_dataset_read_u32(source.dataset, x.token, x.length + 1, ids, &t_err));
        T_EQ(ids[8], (x.offset + 8) % 65536);
        for (uint32_t i = 0; i < x.length; i++)
            inputs += shown[x.token + i]++ == 0;
    }
    T_EQ(inputs, 16 * source.blocks);
    free(shown);
    leat_plan_close(plan);
}

/* Parts are cut at documents' begins, do not overlap, and leave nothing out. */
static void test_split(void)
{
    static const char *const parts[] = { "one", "two", "three" };
    uint64_t tokens = 0;
    struct leat_dataset *d;
    struct leat_info info = LEAT_INFO_INIT;

    for (unsigned i = 0; i < 3; i++) {
        struct leat_plan *plan = parse("source %s/a\nseq-len 1\norder sequential\nepochs 1\nsplit "
                                       "one=0.5,two=0.3,three=0.2\nuse %s\n",
                                       folder, parts[i]);
        struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
        struct leat_sample x;
        uint64_t document, documents, first, count;

        T_OK(leat_plan_source_info(plan, 0, &source, &t_err));
        T_OK(leat_plan_sample(plan, 0, &x, &t_err));
        T_EQ(x.token, tokens);
        tokens += source.tokens;
        T_OK(leat_dataset_documents_in(source.dataset, x.token, 1, &document, &documents, &t_err));
        T_OK(leat_dataset_document(source.dataset, document, &first, &count, &t_err));
        T_EQ(first, x.token);
        leat_plan_close(plan);
    }
    T_OK(leat_dataset_open(&d, t_path(folder, "a"), NULL, &t_err));
    leat_dataset_info(d, &info);
    T_EQ(tokens, info.tokens);
    leat_dataset_close(d);
}

/* ---- The way back ---- */

struct found {
    uint64_t numbers[20000];
    unsigned count, stop;
};

static uint32_t add(void *context, const struct leat_sample *sample)
{
    struct found *f = context;

    f->numbers[f->count++] = sample->number;
    return f->count == f->stop;
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static enum leat_status trace(const struct leat_plan *plan, uint64_t source, uint64_t first, uint64_t count,
                              uint64_t epochs, uint64_t from, uint64_t until, struct found *f)
{
    return leat_plan_trace(
        plan, &(struct leat_trace) { sizeof(struct leat_trace), source, first, count, epochs, from, until }, add, f,
        &t_err);
}

/* The same samples, found stretch by stretch. */
static void check_stretches(const struct leat_plan *plan, uint64_t source, uint64_t first, uint64_t count,
                            uint64_t epochs, uint64_t until, const struct found *whole)
{
    static struct found f;
    uint64_t random = first + count;

    memset(&f, 0, sizeof f);
    for (uint64_t from = 0, to; from < until; from = to) {
        to = from + 1 + t_below(&random, t_below(&random, 2) ? 4000 : 20);
        to = to < until ? to : until;
        T_OK(trace(plan, source, first, count, epochs, from, to, &f));
        for (unsigned i = 0; i < f.count; i++)
            T_CHECK(f.numbers[i] < to);
    }
    qsort(f.numbers, f.count, sizeof f.numbers[0], compare);
    T_EQ(f.count, whole->count);
    T_CHECK(memcmp(f.numbers, whole->numbers, f.count * sizeof f.numbers[0]) == 0);
}

static void check_trace(const struct leat_plan *plan, uint64_t source, uint64_t first, uint64_t count, uint64_t epochs,
                        uint64_t until)
{
    static struct found f;
    unsigned at = 0;

    memset(&f, 0, sizeof f);
    T_OK(trace(plan, source, first, count, epochs, 0, until, &f));
    qsort(f.numbers, f.count, sizeof f.numbers[0], compare);
    for (uint64_t n = 0; n < until; n++) {
        struct leat_sample x;

        if (leat_plan_sample(plan, n, &x, &t_err) != LEAT_OK)
            break;
        if (x.source != source || x.epoch >= epochs || x.token >= first + count || x.token + x.length <= first)
            continue;
        if (at >= f.count || f.numbers[at++] != n) {
            T_FAIL("sample %" PRIu64 " shows tokens %" PRIu64 " to %" PRIu64 " of source %" PRIu64
                   ", and is not among the %u found",
                   n, first, first + count, source, f.count);
            return;
        }
    }
    T_EQ(at, f.count);
    check_stretches(plan, source, first, count, epochs, until, &f);
}

static void test_trace(uint64_t *random)
{
    struct leat_plan *plan = parse("source %s/a:2\nsource @%s/list.txt:3:2\nseq-len 16\nbase-len 64\nseed 4\nat "
                                   "6400:1,1:len=64\nskip 70:80\n",
                                   folder, folder);
    struct found f = { .stop = 3 };

    for (unsigned i = 0; i < 60; i++) {
        uint64_t source = t_below(random, 2), first = t_below(random, 9000);

        check_trace(plan, source, first, 1 + t_below(random, i % 2 ? 300 : 2000),
                    i % 3 ? LEAT_NONE : t_below(random, 4), 1 + t_below(random, i % 4 ? 9000 : 50));
    }
    for (uint64_t source = 0; source < 2; source++) { /* the last tokens, which are no whole block */
        struct leat_plan_source_info info = LEAT_PLAN_SOURCE_INFO_INIT;

        T_OK(leat_plan_source_info(plan, source, &info, &t_err));
        check_trace(plan, source, info.tokens - 200, 200, LEAT_NONE, 9000);
    }
    T_OK(trace(plan, 0, 100, 0, LEAT_NONE, 0, 5000, &f));
    T_EQ(f.count, 0);
    T_OK(trace(plan, 0, 0, 1000, 2, 0, LEAT_NONE, &f));
    T_EQ(f.count, 3);
    T_STATUS(trace(plan, 0, 0, 1, LEAT_NONE, 0, LEAT_NONE, &f), LEAT_E_ARGUMENT);
    T_STATUS(trace(plan, 2, 0, 1, 1, 0, LEAT_NONE, &f), LEAT_E_RANGE);
    T_STATUS(trace(plan, 0, UINT64_MAX, 1, 1, 0, LEAT_NONE, &f), LEAT_E_RANGE);
    T_STATUS(trace(plan, 0, 5, UINT64_MAX, 1, 0, LEAT_NONE, &f), LEAT_E_RANGE);
    leat_plan_close(plan);
}

/* ---- Batches ---- */

/* The rows of all ranks, batch by batch, are the samples in their order, however they are asked for. */
static void test_ranks(uint64_t *random)
{
    struct leat_plan *plan =
        parse("source %s/a:2\nsource %s/b:1:2\nseq-len 16\nseed 4\nskip 70:80\nskip 5:6\nepochs 4\n", folder, folder);
    static const uint64_t worlds[] = { 1, 2, 3, 4, 6, 12, 24 };
    static struct leat_sample all[5000], some[5000];
    uint64_t count, got, first, rows;

    T_OK(leat_plan_samples(plan, 0, 5000, all, &count, &t_err));
    T_CHECK(count > 1000 && count < 5000);
    for (uint64_t i = 0; i < count; i++)
        T_EQ(all[i].number, leat_plan_number(plan, i));
    for (unsigned w = 0; w < sizeof worlds / sizeof worlds[0]; w++)
        for (uint64_t rank = 0; rank < worlds[w]; rank++) {
            T_OK(leat_plan_rank_rows(24, rank, worlds[w], &first, &rows, &t_err));
            for (uint64_t batch = 0; batch * 24 < count; batch++) {
                uint64_t left = count - batch * 24 < first ? 0 : count - batch * 24 - first;

                T_OK(leat_plan_samples(plan, batch * 24 + first, rows, some, &got, &t_err));
                T_EQ(got, left < rows ? left : rows);
                T_CHECK(memcmp(some, all + batch * 24 + first, (size_t)got * sizeof *some) == 0);
            }
        }
    for (unsigned i = 0; i < 200; i++) { /* from any place, any number at once */
        first = t_below(random, count + 10);
        T_OK(leat_plan_samples(plan, first, t_below(random, 300), some, &got, &t_err));
        T_CHECK(got == 0 || memcmp(some, all + first, (size_t)got * sizeof *some) == 0);
    }
    T_REFUSED(leat_plan_rank_rows(24, 0, 5, &first, &rows, &t_err), LEAT_E_ARGUMENT,
              "the nearest size that does is 25");
    T_STATUS(leat_plan_rank_rows(24, 4, 4, &first, &rows, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_plan_rank_rows(24, 0, 0, &first, &rows, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_plan_rank_rows(0, 0, 1, &first, &rows, &t_err), LEAT_E_ARGUMENT);
    leat_plan_close(plan);
}

int main(void)
{
    uint64_t random = t_seed();

    folder = t_folder();
    write_dataset("a", 300, 90, 1);
    write_dataset("b", 200, 60, 2);
    write_dataset("short", 2, 3, 9);
    write_list();
    test_text();
    test_load();
    test_places();
    test_split();
    test_trace(&random);
    test_ranks(&random);
    return t_end();
}
