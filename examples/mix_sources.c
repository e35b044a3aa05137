/*
 * mix_sources.c: trains on a mixture whose plan is a file: mix_sources PLAN STATE [BATCHES] goes on from the state that
 * the file STATE has, if there is one, writes the new state there, and prints how much each source gave.
 *
 *   leat order --source web:0.7 --source code:0.3 --seq-len 256 --print-plan >run.plan
 *   cc mix_sources.c $(pkg-config --cflags --libs leat)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <leat.h>

static int fail(const struct leat_error *err)
{
    return fprintf(stderr, "mix_sources: %s\n", err->message), 1;
}

/* A training program writes its model to this file, too, and then renames it: a kill leaves the old one. */
static int save(const char *path, const char *state)
{
    FILE *file = fopen(path, "w");
    int written = file && fputs(state, file) >= 0;

    if (!file || fclose(file) != 0 || !written)
        return perror(path), 1;
    return 0;
}

static int run(const struct leat_plan *plan, struct leat_loader *loader, unsigned long batches, const char *path)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_loader_source given;
    char state[LEAT_PLAN_STATE_BYTES];
    const struct leat_batch *batch;
    struct leat_error err;
    unsigned long k;

    for (k = 0; k < batches; k++) {
        enum leat_status s = leat_loader_next(loader, &batch, &err);

        if (s == LEAT_E_END)
            break;
        if (s != LEAT_OK || leat_batch_state(batch, state, &err) != LEAT_OK)
            return fail(&err);
        if (k == 0)
            printf("from position %" PRIu64 "\n", batch->position);
        /* here a model trains: leat_batch_write() has inputs and labels */
        leat_batch_release(batch, NULL);
    }
    if (k > 0 && save(path, state) != 0)
        return 1;
    /* counts of this loader: of one rank, since it was opened */
    for (uint64_t i = 0; leat_loader_sources(loader, i, 1, &given) == 1; i++) {
        if (leat_plan_source_info(plan, i, &source, &err) != LEAT_OK)
            return fail(&err);
        printf("%s: %" PRIu64 " rows, %" PRIu64 " tokens\n", source.name, given.rows, given.tokens);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    char state[LEAT_PLAN_STATE_BYTES];
    struct leat_loader *loader = NULL;
    struct leat_plan *plan = NULL;
    struct leat_error err;
    FILE *file;
    int code;

    if (argc < 3)
        return fprintf(stderr, "usage: mix_sources PLAN STATE [BATCHES]\n"), 2;
    file = fopen(argv[2], "r");
    if (file) {
        state[fread(state, 1, sizeof state - 1, file)] = '\0';
        o.state = state;
        fclose(file);
    }
    o.batch = 8;
    if (leat_plan_load(&plan, argv[1], NULL, &err) != LEAT_OK || leat_loader_open(&loader, plan, &o, &err) != LEAT_OK)
        code = fail(&err);
    else
        code = run(plan, loader, argc > 3 ? strtoul(argv[3], NULL, 10) : 10, argv[2]);
    leat_loader_close(loader);
    leat_plan_close(plan);
    return code;
}
