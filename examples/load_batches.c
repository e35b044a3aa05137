/*
 * load_batches.c: takes some batches of a dataset as a training loop would: load_batches NAME [BATCHES]
 *
 *   cc load_batches.c $(pkg-config --cflags --libs leat)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <leat.h>

#define ROWS   8
#define LENGTH 256

static int fail(const char *what, const struct leat_error *err)
{
    fprintf(stderr, "load_batches: %s: %s\n", what, err->message);
    return 1;
}

/* In place of a model: how often the next token is greater, among the labels that count. */
static double train_step(const int64_t *inputs, const int64_t *labels, uint64_t numbers)
{
    uint64_t greater = 0, count = 0;

    for (uint64_t i = 0; i < numbers; i++)
        if (labels[i] >= 0) {
            greater += labels[i] > inputs[i];
            count++;
        }
    return count ? (double)greater / (double)count : 0;
}

static int run(struct leat_loader *loader, unsigned long batches, int64_t *inputs, int64_t *labels)
{
    char state[LEAT_PLAN_STATE_BYTES], line[512];
    const struct leat_batch *batch;
    struct leat_error err;
    enum leat_status s = LEAT_OK;

    for (unsigned long k = 0; k < batches; k++) {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;

        s = leat_loader_next(loader, &batch, &err);
        if (s == LEAT_E_END)
            break;
        if (s != LEAT_OK)
            return fail("next", &err);
        out.inputs = inputs;
        out.labels = labels;
        if (leat_batch_write(batch, &out, NULL, &err) != LEAT_OK || leat_batch_state(batch, state, &err) != LEAT_OK)
            return fail("batch", &err);
        printf("batch %" PRIu64 ": %u rows of %u tokens, %.3f\n", batch->number, batch->rows, batch->length,
               train_step(inputs, labels, (uint64_t)batch->rows * batch->length));
        leat_batch_release(batch, NULL);
    }
    leat_loader_stats_line(loader, line, sizeof line);
    printf("%s\n", line);
    return 0;
}

int main(int argc, char **argv)
{
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options plan_options = LEAT_PLAN_OPTIONS_INIT;
    struct leat_loader_options options = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader *loader = NULL;
    struct leat_plan *plan = NULL;
    int64_t *inputs = malloc(ROWS * LENGTH * sizeof *inputs), *labels = malloc(ROWS * LENGTH * sizeof *labels);
    struct leat_error err;
    int code = 1;

    if (argc < 2 || argc > 3 || !inputs || !labels) {
        fprintf(stderr, "usage: load_batches NAME [BATCHES]\n");
        free(inputs);
        free(labels);
        return 2;
    }
    source.name = argv[1];
    plan_options.sources = &source;
    plan_options.source_count = 1;
    plan_options.seq_len = LENGTH;
    options.batch = ROWS;
    if (leat_plan_open(&plan, &plan_options, &err) != LEAT_OK)
        fail("plan", &err);
    else if (leat_loader_open(&loader, plan, &options, &err) != LEAT_OK)
        fail("loader", &err);
    else
        code = run(loader, argc > 2 ? strtoul(argv[2], NULL, 10) : 5, inputs, labels);
    leat_loader_close(loader);
    leat_plan_close(plan);
    free(inputs);
    free(labels);
    return code;
}
