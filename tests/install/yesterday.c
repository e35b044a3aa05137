/*
 * yesterday.c: a program that uses structs of both headers, for test_yesterday.sh: compiled with headers of another day
 * than the library's. yesterday NAME [UNKNOWN] writes a dataset, reads it by a plan and a loader, and prints what it
 * got. With UNKNOWN (compiled with -DNEWER, by headers with fields that the library does not know) it sets such a
 * field, "inside" a struct in the options or at their end, which must be refused.
 */
#include <leat.h>
#include <leat_pack.h>
#include <stdio.h>
#include <string.h>

static struct leat_error err;

static int write_one(const char *name)
{
    static const uint16_t ids[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_documents one = LEAT_DOCUMENTS_INIT;
    struct leat_input input = LEAT_INPUT_INIT;
    struct leat_writer *w;
    uint64_t number, length = 9;

    options.vocabulary = 100;
    options.end_token = 99;
    options.force = 1;
    input.bytes = 18;
    one.ids = ids;
    one.id_width = 2;
    one.lengths = &length;
    one.count = 1;
    return leat_writer_open(&w, name, &options, &err) == LEAT_OK &&
           leat_writer_add_input(w, "input", &number, &err) == LEAT_OK &&
           leat_writer_set_input(w, number, &input, &err) == LEAT_OK && leat_writer_add(w, &one, &err) == LEAT_OK &&
           leat_writer_finish(w, NULL, &err) == LEAT_OK;
}

/* The labels of the first batch: 2 3 4 | 5 6 7 of "1 2 3 4 5 6 7 8 9 end", in their order. */
static int load(const char *name, const char *unknown)
{
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options plan_options = LEAT_PLAN_OPTIONS_INIT;
    struct leat_loader_options options = LEAT_LOADER_OPTIONS_INIT;
    struct leat_open_options how = LEAT_OPEN_OPTIONS_INIT;
    struct {
        struct leat_loader_stats stats;
        uint64_t after;
    } seen = { LEAT_LOADER_STATS_INIT, 77 };
    struct leat_outputs outputs = LEAT_OUTPUTS_INIT;
    const struct leat_batch *batch;
    struct leat_loader *loader;
    struct leat_plan *plan;
    int64_t labels[6];

    source.name = name;
    how.access = LEAT_ACCESS_READ;
    plan_options.sources = &source;
    plan_options.source_count = 1;
    plan_options.seq_len = 3;
    plan_options.order = LEAT_ORDER_SEQUENTIAL;
    plan_options.open = &how;
    options.batch = 2;
#ifdef NEWER
    options.of_tomorrow = unknown && strcmp(unknown, "inside") != 0;
    options.io.of_tomorrow = unknown && !options.of_tomorrow;
#endif
    if (leat_plan_open(&plan, &plan_options, &err) != LEAT_OK)
        return 0;
    if (leat_loader_open(&loader, plan, &options, &err) != LEAT_OK) {
        leat_plan_close(plan);
        if (unknown && err.status == LEAT_E_UNSUPPORTED && strstr(err.message, "leat_loader_options"))
            printf("refused\n");
        return unknown != NULL;
    }
    outputs.labels = labels;
    if (unknown || leat_loader_next(loader, &batch, &err) != LEAT_OK ||
        leat_batch_write(batch, &outputs, NULL, &err) != LEAT_OK)
        return 0;
    leat_batch_release(batch, NULL);
    leat_loader_stats(loader, &seen.stats);
    leat_loader_close(loader);
    leat_plan_close(plan);
    printf("%d %d %d %d %d %d, %u batch, %u\n", (int)labels[0], (int)labels[1], (int)labels[2], (int)labels[3],
           (int)labels[4], (int)labels[5], (unsigned)seen.stats.batches, (unsigned)seen.after);
    return 1;
}

int main(int argc, char **argv)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_input input = LEAT_INPUT_INIT;
    struct leat_merge_options merge = LEAT_MERGE_OPTIONS_INIT;
    struct leat_tokenizer_options none = LEAT_TOKENIZER_OPTIONS_INIT;
    struct leat_tokenizer *t;
    struct leat_dataset *d;
    const char *name = argv[1];
    char joined[4096];

    if (argc < 2)
        return 2;
    snprintf(joined, sizeof joined, "%s.joined", name);
    merge.force = 1;
    if (!write_one(name) || leat_merge(joined, &name, 1, &merge, NULL, &err) != LEAT_OK ||
        leat_tokenizer_open(&t, "bytes", &none, &err) != LEAT_OK ||
        leat_dataset_open(&d, joined, NULL, &err) != LEAT_OK || leat_dataset_input(d, 0, &input, &err) != LEAT_OK) {
        printf("%s\n", err.message);
        return 1;
    }
    leat_dataset_info(d, &info);
    leat_tokenizer_close(t);
    leat_dataset_close(d);
    printf("%u tokens, end %u, %u bytes\n", (unsigned)info.tokens, (unsigned)info.end_token, (unsigned)input.bytes);
    if (!load(joined, argv[2])) {
        printf("%s\n", err.message);
        return 1;
    }
    return 0;
}
