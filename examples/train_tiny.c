/*
 * train_tiny.c: trains a tiny language model on the CPU from a leat plan, with checkpoint and exact resume:
 *
 *     train_tiny NAME [--steps N] [--batch B] [--seq-len L] [--seed S] [--checkpoint FILE] [--resume]
 *
 * Prints the loss of each step. A run that is stopped at any step and resumed from its checkpoint prints the same
 * losses, digit for digit, as one that ran through: the checkpoint holds the numbers of the model and the state of the
 * plan, both of the same step, and takes its name only when it is whole.
 *
 * The model sees the CONTEXT tokens before the one that it guesses, as far as they are of the same document: each has a
 * vector for its token and its distance; their sum goes through tanh to the logits of the next token. Plain gradient
 * descent. Small vocabularies only: train it on bytes.
 *
 *     cc -O2 train_tiny.c $(pkg-config --cflags --libs leat) -lm -o train_tiny
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <leat.h>

#define CONTEXT 4
#define HIDDEN  48
#define RATE    0.03F

struct options {
    const char *name, *checkpoint;
    unsigned long steps, batch, seq_len, seed;
    int resume;
};

/* All numbers that are learned, in one allocation: so a checkpoint is one write. */
struct model {
    size_t vocabulary, count;
    float *numbers;
    float *seen;   /* [CONTEXT][vocabulary][HIDDEN]: what a token says about the one so far after it */
    float *guess;  /* [vocabulary][HIDDEN]: what a hidden vector says about the next token */
    float *bias;   /* [vocabulary] */
    float *logits; /* [vocabulary]: of one place; not learned */
};

/* Where the run stands. */
struct run {
    const struct options *options;
    struct model model;
    struct leat_plan *plan;
    struct leat_loader *loader;
    unsigned long step;
    char state[LEAT_PLAN_STATE_BYTES]; /* of the plan, after that step; empty: at the begin */
    int64_t *inputs, *labels, *positions;
};

static int fail(const char *what, const char *why)
{
    fprintf(stderr, "train_tiny: %s: %s\n", what, why);
    return 1;
}

/* ---- The model -------------------------------------------------------------------------------------------------- */

/* Small numbers that look random and are the same everywhere. */
static float first_number(size_t i)
{
    uint64_t z = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 32) * 0xd6e8feb86659fd93u;
    return ((float)(z >> 40) / 16777216.0F - 0.5F) * 0.2F;
}

static int model_make(struct model *m, size_t vocabulary)
{
    size_t seen = CONTEXT * vocabulary * HIDDEN, guess = vocabulary * HIDDEN;

    m->vocabulary = vocabulary;
    m->count = seen + guess + vocabulary;
    m->numbers = malloc(m->count * sizeof *m->numbers);
    m->logits = malloc(vocabulary * sizeof *m->logits);
    if (!m->numbers || !m->logits)
        return fail("model", "out of memory");
    m->seen = m->numbers;
    m->guess = m->seen + seen;
    m->bias = m->guess + guess;
    for (size_t i = 0; i < m->count; i++)
        m->numbers[i] = first_number(i);
    return 0;
}

static void model_free(struct model *m)
{
    free(m->numbers);
    free(m->logits);
}

/* Logits become probabilities; returns the loss of `label`. */
static float softmax(float *logits, size_t count, size_t label)
{
    float max = logits[0], sum = 0, of_label = logits[label];

    for (size_t v = 1; v < count; v++)
        max = logits[v] > max ? logits[v] : max;
    for (size_t v = 0; v < count; v++)
        sum += logits[v] = expf(logits[v] - max);
    for (size_t v = 0; v < count; v++)
        logits[v] /= sum;
    return logf(sum) + max - of_label;
}

/* One place: guesses the label from the `known` inputs that end there, and learns from it. Returns the loss. */
static float learn(struct model *m, const int64_t *inputs, size_t known, size_t label, float rate)
{
    float hidden[HIDDEN] = { 0 }, slope[HIDDEN] = { 0 }, loss;

    for (size_t c = 0; c < known; c++)
        for (size_t h = 0; h < HIDDEN; h++)
            hidden[h] += m->seen[(c * m->vocabulary + (size_t)inputs[-(ptrdiff_t)c]) * HIDDEN + h];
    for (size_t h = 0; h < HIDDEN; h++)
        hidden[h] = tanhf(hidden[h]);
    for (size_t v = 0; v < m->vocabulary; v++) {
        float sum = m->bias[v];

        for (size_t h = 0; h < HIDDEN; h++)
            sum += m->guess[v * HIDDEN + h] * hidden[h];
        m->logits[v] = sum;
    }
    loss = softmax(m->logits, m->vocabulary, label);
    for (size_t v = 0; v < m->vocabulary; v++) {
        float error = m->logits[v] - (v == label ? 1.0F : 0.0F);

        m->bias[v] -= rate * error;
        for (size_t h = 0; h < HIDDEN; h++) {
            slope[h] += error * m->guess[v * HIDDEN + h];
            m->guess[v * HIDDEN + h] -= rate * error * hidden[h];
        }
    }
    for (size_t c = 0; c < known; c++)
        for (size_t h = 0; h < HIDDEN; h++)
            m->seen[(c * m->vocabulary + (size_t)inputs[-(ptrdiff_t)c]) * HIDDEN + h] -=
                rate * slope[h] * (1 - hidden[h] * hidden[h]);
    return loss;
}

/* A batch, place by place. Labels below 0 do not count; a position says how long ago its document began. */
static double train_step(struct run *r, uint32_t rows, uint32_t length)
{
    double loss = 0;
    uint64_t count = 0;

    for (uint64_t i = 0; i < (uint64_t)rows * length; i++) {
        uint64_t known = 1 + (uint64_t)r->positions[i];

        if (r->labels[i] < 0)
            continue;
        loss += (double)learn(&r->model, r->inputs + i, known < CONTEXT ? (size_t)known : CONTEXT, (size_t)r->labels[i],
                              RATE);
        count++;
    }
    return count ? loss / (double)count : 0;
}

/* ---- Checkpoints ------------------------------------------------------------------------------------------------ */

static int write_checkpoint(const struct run *r)
{
    const struct model *m = &r->model;
    char name[4096];
    FILE *file;
    int good;

    if (!r->options->checkpoint)
        return 0;
    if (snprintf(name, sizeof name, "%s.new", r->options->checkpoint) >= (int)sizeof name)
        return fail(r->options->checkpoint, "the name is too long");
    file = fopen(name, "wb");
    if (!file)
        return fail(name, strerror(errno));
    good = fwrite(&m->count, sizeof m->count, 1, file) == 1 && fwrite(&r->step, sizeof r->step, 1, file) == 1 &&
           fwrite(r->state, sizeof r->state, 1, file) == 1 &&
           fwrite(m->numbers, sizeof *m->numbers, m->count, file) == m->count;
    good = fclose(file) == 0 && good && rename(name, r->options->checkpoint) == 0;
    return good ? 0 : fail(r->options->checkpoint, strerror(errno));
}

static int read_checkpoint(struct run *r)
{
    struct model *m = &r->model;
    size_t count = 0;
    FILE *file;
    int good;

    if (!r->options->resume)
        return 0;
    file = r->options->checkpoint ? fopen(r->options->checkpoint, "rb") : NULL;
    if (!file)
        return fail("--resume", r->options->checkpoint ? strerror(errno) : "name the file with --checkpoint");
    good = fread(&count, sizeof count, 1, file) == 1 && count == m->count &&
           fread(&r->step, sizeof r->step, 1, file) == 1 && fread(r->state, sizeof r->state, 1, file) == 1 &&
           fread(m->numbers, sizeof *m->numbers, m->count, file) == m->count;
    fclose(file);
    r->state[sizeof r->state - 1] = '\0';
    return good ? 0 : fail(r->options->checkpoint, "not a checkpoint of this model");
}

/* ---- Training --------------------------------------------------------------------------------------------------- */

static int take_step(struct run *r)
{
    struct leat_outputs out = LEAT_OUTPUTS_INIT;
    const struct leat_batch *batch;
    struct leat_error err;
    double loss;

    if (leat_loader_next(r->loader, &batch, &err) != LEAT_OK)
        return fail("next", err.message);
    out.inputs = r->inputs;
    out.labels = r->labels;
    out.position_ids = r->positions;
    out.mask_first = 1; /* nothing is known of a document before it begins */
    if (leat_batch_write(batch, &out, NULL, &err) != LEAT_OK || leat_batch_state(batch, r->state, &err) != LEAT_OK)
        return fail("batch", err.message);
    loss = train_step(r, batch->rows, batch->length);
    leat_batch_release(batch, NULL);
    printf("step %lu: loss %.9g\n", ++r->step, loss);
    return 0;
}

/* The dataset and the loader; begins where the checkpoint says. */
static int open_all(struct run *r)
{
    struct leat_plan_source source = { .size = sizeof source, .name = r->options->name };
    struct leat_plan_source_info found = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_plan_options plan = LEAT_PLAN_OPTIONS_INIT;
    struct leat_loader_options loader = LEAT_LOADER_OPTIONS_INIT;
    size_t numbers = r->options->batch * r->options->seq_len;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_error err;

    plan.sources = &source;
    plan.source_count = 1;
    plan.seq_len = r->options->seq_len;
    plan.seed = r->options->seed;
    if (leat_plan_open(&r->plan, &plan, &err) != LEAT_OK || leat_plan_source_info(r->plan, 0, &found, &err) != LEAT_OK)
        return fail(r->options->name, err.message);
    leat_dataset_info(found.dataset, &info);
    if (info.vocabulary > 4096)
        return fail(r->options->name, "this model is for vocabularies of at most 4096 tokens: pack with -t bytes");
    if (model_make(&r->model, (size_t)info.vocabulary) || read_checkpoint(r))
        return 1;
    r->inputs = malloc(numbers * sizeof *r->inputs);
    r->labels = malloc(numbers * sizeof *r->labels);
    r->positions = malloc(numbers * sizeof *r->positions);
    if (!r->inputs || !r->labels || !r->positions)
        return fail("batch", "out of memory");
    loader.batch = r->options->batch;
    loader.outputs.wanted = LEAT_OUTPUT_POSITION_IDS;
    loader.state = r->state[0] ? r->state : NULL;
    if (leat_loader_open(&r->loader, r->plan, &loader, &err) != LEAT_OK)
        return fail("loader", err.message);
    return 0;
}

static int number_option(int argc, char **argv, int *i, const char *name, unsigned long *value)
{
    if (strcmp(argv[*i], name) != 0 || *i + 1 >= argc)
        return 0;
    *value = strtoul(argv[++*i], NULL, 10);
    return 1;
}

static int read_options(int argc, char **argv, struct options *o)
{
    *o = (struct options) { .steps = 20, .batch = 8, .seq_len = 128 };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--resume") == 0)
            o->resume = 1;
        else if (strcmp(argv[i], "--checkpoint") == 0 && i + 1 < argc)
            o->checkpoint = argv[++i];
        else if (!o->name && argv[i][0] != '-')
            o->name = argv[i];
        else if (!number_option(argc, argv, &i, "--steps", &o->steps) &&
                 !number_option(argc, argv, &i, "--batch", &o->batch) &&
                 !number_option(argc, argv, &i, "--seq-len", &o->seq_len) &&
                 !number_option(argc, argv, &i, "--seed", &o->seed))
            return 0;
    }
    return o->name && o->batch > 0 && o->batch <= 65536 && o->seq_len > 0 && o->seq_len <= 65536;
}

int main(int argc, char **argv)
{
    struct options options;
    struct run r = { .options = &options };
    int code;

    if (!read_options(argc, argv, &options)) {
        fprintf(stderr, "usage: train_tiny NAME [--steps N] [--batch B] [--seq-len L] [--seed S] [--checkpoint FILE] "
                        "[--resume]\n");
        return 2;
    }
    code = open_all(&r);
    while (code == 0 && r.step < options.steps)
        code = take_step(&r) || write_checkpoint(&r);
    leat_loader_close(r.loader);
    leat_plan_close(r.plan);
    model_free(&r.model);
    free(r.inputs);
    free(r.labels);
    free(r.positions);
    return code;
}
