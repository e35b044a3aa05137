/*
 * test_plan.c: plans over real datasets: options and text make the same plan; what is printed reads back; where a
 * sample lies in a list of datasets and in a split; which samples show a token, against a plain search; the rows of
 * ranks make up the batch for any number of ranks; and each mistake is refused with its line and remedy.
 */
#include <stdarg.h>

#include "t.h"

static const char *folder;

/* A dataset of documents of pseudo-random lengths; the token at position p is p modulo 2^16. */
static void write_dataset(const char *name, uint64_t documents, uint64_t max, uint64_t seed)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    static uint16_t ids[4096];
    struct leat_writer *w;
    uint16_t next = 0;

    options.vocabulary = 65536;
    T_OK(leat_writer_open(&w, t_path(folder, name), &options, &t_err));
    for (uint64_t i = 0; i < documents; i++) {
        uint64_t length = t_below(&seed, max);

        for (uint64_t k = 0; k < length; k++)
            ids[k] = next++;
        T_OK(leat_writer_add_u16(w, ids, length, NULL, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* A list of a, b and a third one too short for a block. */
static void write_list(void)
{
    FILE *f = fopen(t_path(folder, "list.txt"), "w");

    fprintf(f, "a\nshort\nb\n");
    fclose(f);
}

static char names[4][600];

static struct leat_plan_source source_of(const char *name, const char *weight, uint64_t epochs)
{
    struct leat_plan_source s = LEAT_PLAN_SOURCE_INIT;
    static unsigned next;
    char *text = names[next++ % 4];

    snprintf(text, sizeof names[0], "%s%s/%s", strchr(name, '.') ? "@" : "", folder, name);
    s.name = text;
    s.weight = weight;
    s.epochs = epochs;
    return s;
}

/* ---- Options and text ---- */

static char *text_of(const struct leat_plan *plan)
{
    uint64_t bytes;
    char *text, small[10];

    T_OK(leat_plan_text(plan, small, sizeof small, &bytes, &t_err));
    T_STR(small, "leat plan");
    text = malloc((size_t)bytes + 1);
    T_OK(leat_plan_text(plan, text, (size_t)bytes + 1, &bytes, &t_err));
    T_EQ(strlen(text), bytes);
    return text;
}

static struct leat_plan *parse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static struct leat_plan *parse(const char *format, ...)
{
    static char text[8192];
    struct leat_plan *plan;
    va_list args;
    int n = snprintf(text, sizeof text, "leat plan 1\n");

    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    T_OK(leat_plan_parse(&plan, text, strlen(text), "plan", NULL, &t_err));
    return plan;
}

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
        T_OK(leat_plan_trace_range(plan, source, first, count, epochs, from, to, add, &f, &t_err));
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
    T_OK(leat_plan_trace(plan, source, first, count, epochs, until, add, &f, &t_err));
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
    T_OK(leat_plan_trace(plan, 0, 100, 0, LEAT_NONE, 5000, add, &f, &t_err));
    T_EQ(f.count, 0);
    T_OK(leat_plan_trace(plan, 0, 0, 1000, 2, LEAT_NONE, add, &f, &t_err));
    T_EQ(f.count, 3);
    T_STATUS(leat_plan_trace(plan, 0, 0, 1, LEAT_NONE, LEAT_NONE, add, &f, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_plan_trace(plan, 2, 0, 1, 1, LEAT_NONE, add, &f, &t_err), LEAT_E_RANGE);
    T_STATUS(leat_plan_trace(plan, 0, UINT64_MAX, 1, 1, LEAT_NONE, add, &f, &t_err), LEAT_E_RANGE);
    T_STATUS(leat_plan_trace(plan, 0, 5, UINT64_MAX, 1, LEAT_NONE, add, &f, &t_err), LEAT_E_RANGE);
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
    T_STATUS(leat_plan_rank_rows(24, 0, 5, &first, &rows, &t_err), LEAT_E_ARGUMENT);
    T_CONTAINS(t_err.message, "the nearest size that does is 25");
    T_STATUS(leat_plan_rank_rows(24, 4, 4, &first, &rows, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_plan_rank_rows(24, 0, 0, &first, &rows, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_plan_rank_rows(0, 0, 1, &first, &rows, &t_err), LEAT_E_ARGUMENT);
    leat_plan_close(plan);
}

/* ---- Mistakes ---- */

static void refuse(const char *lines, const char *part)
{
    struct leat_plan *plan = (struct leat_plan *)1;
    static char text[8192];
    enum leat_status s;
    size_t at = 0;

    for (; *lines; lines++) /* % stands for the folder */
        if (*lines == '%')
            at += (size_t)snprintf(text + at, sizeof text - at, "%s", folder);
        else
            text[at++] = *lines;
    text[at] = '\0';
    s = leat_plan_parse(&plan, text, at, "my.plan", NULL, &t_err);
    if (s != LEAT_E_ARGUMENT || plan || !strstr(t_err.message, part))
        T_FAIL("%s: %s, \"%s\", without \"%s\"", text, leat_status_name(s), t_err.message, part);
}

static void test_refusals(void)
{
    static const struct {
        const char *lines, *part;
    } mistakes[] = {
        { "", "not a plan: it is empty" },
        { "leat plans 1\n", "its first line is not \"leat plan 1\"" },
        { "leat plan 2\n", "unknown version" },
        { "leat plan 1\n", "needs a source" },
        { "leat plan 1\nsource %/a\n", "needs a sequence length" },
        { "leat plan 1\n\nsorce x", "my.plan, line 3: unknown key \"sorce\"; a line of a plan starts with" },
        { "leat plan 1\nseed", "line 2: seed has no value" },
        { "leat plan 1\nseed 1\nseed 2", "line 3: seed is given twice" },
        { "leat plan 1\nseed 18446744073709551616", "line 2: \"18446744073709551616\" is not a whole number" },
        { "leat plan 1\nseq-len 5x", "is not a whole number" },
        { "leat plan 1\norder random", "unknown order \"random\"; the orders are shuffled, sequential" },
        { "leat plan 1\nsource :1", "no name" },
        { "leat plan 1\nsource x:0.5:0.5", "the limit of epochs is not a whole number" },
        { "leat plan 1\nsource x:1:0", "the limit of epochs" },
        { "leat plan 1\nat 5:1234567890123456789012", "more than 18 digits" },
        { "leat plan 1\nat 5", "line 2: \"5\" is not N:WEIGHTS" },
        { "leat plan 1\nat 5:1,x", "the weight \"x\" is not a decimal number" },
        { "leat plan 1\nat 5:1:l=3", "has no length" },
        { "leat plan 1\nat 5:1e31", "beyond 10^30" },
        { "leat plan 1\nskip 5", "is not A:B" },
        { "leat plan 1\nskip 5:5", "line 2: the skip from sample 5 to 5 is empty" },
        { "leat plan 1\nskip 0:1152921504606846977", "below 2^60" },
        { "leat plan 1\nsplit a", "is not NAME=FRACTION" },
        { "leat plan 1\nsplit a=x", "has no decimal number after its =" },
        { "leat plan 1\nsplit a=1.5", "above 0 and at most 1" },
        { "leat plan 1\nsplit a=0", "above 0 and at most 1" },
        { "leat plan 1\nsplit a=.5,a=.2", "two splits are called \"a\"" },
        { "leat plan 1\nsource %/a\nseq-len 4\nsplit a=.5,b=.6\nuse a", "add up to more than 1" },
        { "leat plan 1\nsource %/a\nseq-len 4\nsplit a=.5", "missing name of the range to use" },
        { "leat plan 1\nsource %/a\nseq-len 4\nuse a", "but the split is missing" },
        { "leat plan 1\nsource %/a\nseq-len 4\nsplit a=.5\nuse b", "unknown range" },
        { "leat plan 1\nsource %/a\nseq-len 0", "needs a sequence length" },
        { "leat plan 1\nsource %/a\nseq-len 2000000000", "not between 1 and 2^30" },
        { "leat plan 1\nsource %/a\nseq-len 2147483648\nbase-len 16", "of 2147483648 is not between 1 and 2^30" },
        { "leat plan 1\nsource %/a\nseq-len 3\nbase-len 4", "does not divide" },
        { "leat plan 1\nsource %/a\nseq-len 4\nat 9:1:len=3", "does not divide" },
        { "leat plan 1\nsource %/a\nseq-len 4\nat 9:1\nat 9:2", "not after the phase before it" },
        { "leat plan 1\nsource %/a\nseq-len 4\nat 0:1", "not after the phase before it" },
        { "leat plan 1\nsource %/a\nseq-len 4\nat 9:1,2", "has 2 weights for 1 sources" },
        { "leat plan 1\nsource %/a\nseq-len 4\nat 9:0", "no source has a weight from sample 9 on" },
        { "leat plan 1\nsource %/a:0\nseq-len 4", "no source has a weight from sample 0 on" },
        { "leat plan 1\nsource %/a:1e-9\nsource %/b:1e9\nseq-len 4", "too fine" },
        { "leat plan 1\nsource %/short\nseq-len 4", "has a weight, but no block of 4 tokens" },
        { "leat plan 1\nsource %/a\nsource %/short:0\nseq-len 4\nat 9:1,1", "has a weight, but no block" },
        { "leat plan 1\nsource %/a\nseq-len 64\nsplit a=0.9995,b=0.0005\nuse b",
          "its range \"b\" of the split has no block of 64 tokens and one more: it has 0 tokens in 1 dataset; give the "
          "range a larger fraction than 0.0005, or use a shorter length" },
        { "leat plan 1\nsource %/short\nseq-len 4\nsplit a=.9\nuse a",
          "no block of 4 tokens and one more: the range of it that is used has" },
        { "leat plan 1\nsource %/a\nseq-len 64\norder documents\nsplit a=0.9995,b=0.0005\nuse b",
          "and the plan has 0: none starts in the range \"b\" of the split; give it a larger fraction than 0.0005" },
        { "leat plan 1\nsource %/a\nseq-len 4\nbase-len 16\nat 65:1", "the nearest is sample 64" },
        { "leat plan 1\nsource %/a\nseq-len 4\nskip 5:9\nskip 1:6", "overlap" },
        { "leat plan 1\nsource %/a:1:1\nseq-len 4\nat 1000000:1", "the plan ends at sample" },
    };
    struct leat_plan *plan;

    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        refuse(mistakes[i].lines, mistakes[i].part);
    T_STATUS(leat_plan_parse(&plan, "skip 9", 6, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    T_CONTAINS(t_err.message, "skip: \"9\" is not A:B");
    T_EQ(t_err.offset, 0);
    T_STATUS(leat_plan_parse(&plan, "skip 9", 6, NULL, NULL, NULL), LEAT_E_ARGUMENT);
    T_STATUS(leat_plan_parse(&plan, "source nothing\nseq-len 4", 24, NULL, NULL, &t_err), LEAT_E_NO_FILE);
}

/* More sources, or phases of so many sources, than a plan can have. */
static void test_too_many(void)
{
    static struct leat_plan_source sources[65537];
    static struct leat_plan_phase phases[256];
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_dataset *d;
    struct leat_plan *plan;

    T_OK(leat_dataset_open(&d, t_path(folder, "a"), NULL, &t_err));
    for (unsigned i = 0; i < 65537; i++)
        sources[i] = (struct leat_plan_source) { .size = sizeof *sources, .name = "a", .weight = "1", .dataset = d };
    for (unsigned i = 0; i < 256; i++)
        phases[i] = (struct leat_plan_phase) { .size = sizeof *phases, .begin = 16 * (i + 1), .weights = "1" };
    o.sources = sources;
    o.source_count = 65537;
    o.seq_len = 16;
    T_STATUS(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT);
    T_CONTAINS(t_err.message, "more than 65536 sources");
    o.source_count = 65536;
    o.phases = phases;
    o.phase_count = 256;
    T_STATUS(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT);
    T_CONTAINS(t_err.message, "257 phases of 65536 sources are too many; the limit is 256");
    leat_dataset_close(d);
}

/* A source whose epochs end behind the last sample that has a number: the plan is one without end. */
static void test_end_of_numbers(void)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_plan *plan = parse("source %s/a\nseq-len 16\n", folder);

    T_OK(leat_plan_source_info(plan, 0, &source, &t_err));
    leat_plan_close(plan);
    plan = parse("source %s/a:0:%" PRIu64 "\nsource %s/b:1\nseq-len 16\nat 1600000:1,0\n", folder,
                 LEAT_MAX_SAMPLES / source.blocks, folder);
    leat_plan_info(plan, &info);
    T_EQ(info.samples, LEAT_NONE);
    leat_plan_close(plan);
}

/* A dataset without documents, with other options than those of write_dataset(). */
static void write_other(const char *name, uint64_t vocabulary, uint64_t end, uint64_t begin, const char *tokenizer)
{
    struct leat_stored_tokenizer stored = { .name = tokenizer };
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    options.vocabulary = vocabulary;
    options.end_token = end;
    options.begin_token = begin;
    options.tokenizer = tokenizer ? &stored : NULL;
    T_OK(leat_writer_open(&w, t_path(folder, name), &options, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* Tokens of all sources must mean the same. */
static void test_agreement(void)
{
    static const struct {
        const char *name, *differ;
    } others[] = {
        { "fewer", "/fewer cannot be in one plan: they differ in their vocabulary size" },
        { "end", "/end cannot be in one plan: they differ in their end-of-document token" },
        { "begin", "/begin cannot be in one plan: they differ in their begin token" },
        { "known", "/known cannot be in one plan: they differ in their tokenizer" },
    };

    write_other("fewer", 65535, LEAT_NONE, LEAT_NONE, NULL);
    write_other("end", 65536, 5, LEAT_NONE, NULL);
    write_other("begin", 65536, LEAT_NONE, 5, NULL);
    write_other("known", 65536, LEAT_NONE, LEAT_NONE, "known");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct leat_plan_source sources[] = { source_of("a", NULL, 0), source_of(others[i].name, "0", 0) };
        struct leat_plan_options options = LEAT_PLAN_OPTIONS_INIT;
        struct leat_plan *plan;

        options.sources = sources;
        options.source_count = 2;
        options.seq_len = 4;
        T_STATUS(leat_plan_open(&plan, &options, &t_err), LEAT_E_INCOMPATIBLE);
        T_CONTAINS(t_err.message, others[i].differ);
        T_CHECK(plan == NULL);
    }
}

/* Options that no text could hold, and a source that there is not. */
static void test_wrong_options(void)
{
    struct leat_plan_source source = source_of("a", NULL, 0);
    struct leat_plan_phase phase = LEAT_PLAN_PHASE_INIT;
    struct leat_plan_source_info info = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_plan_options options = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan *plan;

    options.sources = &source;
    options.source_count = 1;
    options.seq_len = 4;
    options.order = (enum leat_order)7;
    T_STATUS(leat_plan_open(&plan, &options, &t_err), LEAT_E_ARGUMENT);
    T_CONTAINS(t_err.message, "unknown order 7");
    options.order = LEAT_ORDER_SHUFFLED;
    phase.begin = 9;
    options.phases = &phase;
    options.phase_count = 1;
    T_STATUS(leat_plan_open(&plan, &options, &t_err), LEAT_E_ARGUMENT);
    T_CONTAINS(t_err.message, "phase 0 of the plan has no weights");
    options.phase_count = 0;
    T_OK(leat_plan_open(&plan, &options, &t_err));
    T_OK(leat_plan_source_info(plan, 0, &info, &t_err));
    T_STATUS(leat_plan_source_info(plan, 1, &info, &t_err), LEAT_E_RANGE);
    T_CONTAINS(t_err.message, "no source 1: the plan has 1, numbered from 0");
    leat_plan_close(plan);
}

/* A name whose end looks like a weight is printed so that it is read back as it is. */
static void test_names(void)
{
    struct leat_plan_source source;
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan *plan, *again;
    char *text;

    write_dataset("odd:3", 50, 100, 3);
    source = source_of("odd:3", "2", 0);
    o.sources = &source;
    o.source_count = 1;
    o.seq_len = 8;
    T_OK(leat_plan_open(&plan, &o, &t_err));
    text = text_of(plan);
    T_CONTAINS(text, "/odd:3:2:none\n");
    T_OK(leat_plan_parse(&again, text, strlen(text), "again", NULL, &t_err));
    free(text);
    leat_plan_close(plan);
    leat_plan_close(again);
    source.name = "line\nbreak";
    T_STATUS(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT);
    T_CONTAINS(t_err.message, "newline");
    source.name = NULL;
    T_STATUS(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT);
    o.source_count = 0;
    T_STATUS(leat_plan_open(&plan, &o, &t_err), LEAT_E_ARGUMENT);
    T_CHECK(plan == NULL);
    leat_plan_close(NULL);
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
    test_places();
    test_split();
    test_trace(&random);
    test_ranks(&random);
    test_refusals();
    test_too_many();
    test_end_of_numbers();
    test_agreement();
    test_wrong_options();
    test_names();
    return t_end();
}
