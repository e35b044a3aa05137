/*
 * resume_loop.c: the shortest loop that can be resumed: resume_loop NAME takes four batches of a dataset, and prints
 * where it stands; given that on standard input, it goes on from there.
 *
 *   cc resume_loop.c $(pkg-config --cflags --libs leat)
 */
#include <inttypes.h>
#include <stdio.h>

#include <leat.h>

static int64_t inputs[8 * 256], labels[8 * 256];

static int fail(const struct leat_error *err)
{
    return fprintf(stderr, "resume_loop: %s\n", err->message), 1;
}

int main(int argc, char **argv)
{
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options p = LEAT_PLAN_OPTIONS_INIT;
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_outputs out = LEAT_OUTPUTS_INIT;
    char state[LEAT_PLAN_STATE_BYTES] = "";
    const struct leat_batch *batch;
    struct leat_loader *loader;
    struct leat_plan *plan;
    struct leat_error err;

    source.name = argc > 1 ? argv[1] : NULL;
    p.sources = &source;
    p.source_count = 1;
    p.seq_len = 256;
    o.batch = 8;
    o.state = fread(state, 1, sizeof state - 1, stdin) > 0 ? state : NULL;
    out.inputs = inputs;
    out.labels = labels;
    if (leat_plan_open(&plan, &p, &err) != LEAT_OK || leat_loader_open(&loader, plan, &o, &err) != LEAT_OK)
        return fail(&err);
    for (int step = 0; step < 4; step++) {
        if (leat_loader_next(loader, &batch, &err) != LEAT_OK || leat_batch_write(batch, &out, NULL, &err) != LEAT_OK ||
            leat_batch_state(batch, state, &err) != LEAT_OK)
            return fail(&err);
        fprintf(stderr, "position %" PRIu64 ": %" PRId64 "\n", batch->position, inputs[0]); /* here a model trains */
        leat_batch_release(batch, NULL);
    }
    fputs(state, stdout);
    leat_loader_close(loader);
    return leat_plan_close(plan), 0;
}
