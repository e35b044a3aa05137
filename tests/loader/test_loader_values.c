/*
 * test_loader_values.c: what stands beside the tokens of a batch, by the C interface: places and columns, written to
 * memory of the batch's size and of a larger one, beside which nothing is written, and borrowed; of rows of the plan
 * and of slices. What the loader was not asked for, and columns that it cannot read, are refused. Python's tests
 * compare all orders with a twin. A thread runs here.
 */
#include "loading.h"

#define TOKENS 5000u
#define LENGTH 32u
#define ROWS   3u
#define BORDER 64u

static char name[700];
static struct leat_plan *plan;

/* The values of token t: t + 1 and 3 t as u16; and -t as f32. */
static void attach(void)
{
    static uint16_t pairs[TOKENS][2];
    static float floats[TOKENS];
    const struct {
        const char *name;
        uint32_t type, width, from;
        const void *values;
    } columns[] = { { "pairs", LEAT_COLUMN_U16, 2, LEAT_COLUMN_U16, pairs },
                    { "floats", LEAT_COLUMN_BF16, 1, LEAT_COLUMN_F32, floats } };
    struct leat_dataset *d;

    for (uint32_t i = 0; i < TOKENS; i++) {
        pairs[i][0] = (uint16_t)(i + 1);
        pairs[i][1] = (uint16_t)(3 * i);
        floats[i] = -(float)(i % 256); /* which bf16 holds */
    }
    T_OK(leat_dataset_open(&d, name, NULL, &t_err));
    for (unsigned i = 0; i < 2; i++) {
        struct leat_column_options o = LEAT_COLUMN_OPTIONS_INIT;
        struct leat_column_writer *w;

        o.name = columns[i].name;
        o.type = columns[i].type;
        o.width = columns[i].width;
        T_OK(leat_column_writer_open(&w, d, &o, &t_err));
        T_OK(leat_column_writer_add(w, columns[i].values, TOKENS, columns[i].from, &t_err));
        T_OK(leat_column_writer_finish(w, &t_err));
    }
    leat_dataset_close(d);
}

static const struct leat_loader_column columns[] = {
    { sizeof(struct leat_loader_column), "pairs", 7, LEAT_AT_INPUTS, 0 },
    { sizeof(struct leat_loader_column), "floats", 0.5, LEAT_AT_LABELS, 1 },
};

static struct leat_loader_options options(void)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = ROWS;
    o.last = LEAT_LAST_PADDED;
    o.outputs.wanted = LEAT_OUTPUT_PLACES;
    o.columns = columns;
    o.column_count = 2;
    return o;
}

/* Compares outputs of rows of `length` with the plan's rows, of which a slice of `places` begins at place `first`. */
static void check(const struct leat_batch *b, const struct leat_outputs *o, uint64_t rows, uint64_t length,
                  uint64_t first, uint64_t places)
{
    const uint16_t *pairs = o->columns[0];
    const float *floats = o->columns[1];

    for (uint64_t row = 0; row < rows; row++)
        for (uint64_t i = 0; i < length; i++) {
            bool real = row < b->rows && b->flags[row] == 0 && i < places;
            uint64_t at = row * length + i, token = real ? b->samples[row].token + first + i : 0;

            T_EQ(o->places[at], real ? (int64_t)token : -1);
            T_EQ(pairs[2 * at], real ? (uint16_t)(token + 1) : 7);
            T_EQ(pairs[2 * at + 1], real ? (uint16_t)(3 * token) : 7);
            T_CHECK(floats[at] == (real ? -(float)((token + 1) % 256) : 0.5f));
        }
}

static void *with_border(size_t bytes)
{
    uint8_t *p = malloc(bytes + 2 * BORDER);

    memset(p, 0xa5, bytes + 2 * BORDER);
    return p + BORDER;
}

static void check_border(void *memory, size_t bytes)
{
    uint8_t *p = (uint8_t *)memory - BORDER;

    for (unsigned i = 0; i < BORDER; i++)
        T_CHECK(p[i] == 0xa5 && p[BORDER + bytes + i] == 0xa5);
    free(p);
}

/* All batches, into rows and lengths that are `more` than the batch's. */
static void written(uint64_t more, uint64_t slices, uint32_t threads)
{
    struct leat_loader_options o = options();
    uint64_t length = LENGTH / slices + more, rows = ROWS + more, numbers = length * rows;
    const struct leat_batch *b;
    struct leat_loader *l;
    uint32_t type, width;

    o.io.threads = threads;
    o.slice.rank = slices - 1;
    o.slice.count = slices;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    T_EQ(leat_loader_column_type(l, 0, &type, &width), 1);
    T_CHECK(type == LEAT_COLUMN_U16 && width == 2);
    T_EQ(leat_loader_column_type(l, 1, &type, &width), 1);
    T_CHECK(type == LEAT_COLUMN_F32 && width == 1);
    T_EQ(leat_loader_column_type(l, 2, &type, &width), 0);
    while (leat_loader_next(l, &b, &t_err) == LEAT_OK) {
        void *memory[] = { with_border(4 * numbers), with_border(4 * numbers) };
        struct leat_outputs out = LEAT_OUTPUTS_INIT;

        out.places = with_border(8 * numbers);
        out.columns = memory;
        out.rows = rows;
        out.length = length;
        T_OK(leat_batch_write(b, &out, NULL, &t_err));
        check(b, &out, rows, length, LENGTH / slices * (slices - 1), LENGTH / slices);
        leat_batch_release(b, NULL);
        check_border(out.places, 8 * numbers);
        check_border(memory[0], 4 * numbers);
        check_border(memory[1], 4 * numbers);
    }
    leat_loader_close(l);
}

static void borrowed(void)
{
    struct leat_loader_options o = options();
    const struct leat_batch *b;
    struct leat_loader *l;

    o.outputs.borrow = 1;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    while (leat_loader_next(l, &b, &t_err) == LEAT_OK) {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;

        T_OK(leat_batch_borrow(b, &out, NULL, &t_err));
        check(b, &out, b->rows, b->length, 0, LENGTH);
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
}

static void refused(void)
{
    struct leat_loader_column other = LEAT_LOADER_COLUMN_INIT, twice[] = { columns[0], columns[0] }, many[65];
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_outputs out = LEAT_OUTPUTS_INIT;
    int64_t places[ROWS * LENGTH];
    void *none[] = { places };
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = ROWS;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    T_OK(leat_loader_next(l, &b, &t_err));
    out.places = places;
    T_REFUSED(leat_batch_write(b, &out, NULL, &t_err), LEAT_E_ARGUMENT, "places need a loader that finds them");
    out.places = NULL;
    out.columns = none;
    T_REFUSED(leat_batch_write(b, &out, NULL, &t_err), LEAT_E_ARGUMENT, "the loader has no columns");
    leat_loader_close(l);
    o.columns = &other;
    o.column_count = 1;
    T_REFUSED(leat_loader_open(&l, plan, &o, &t_err), LEAT_E_ARGUMENT, "has no name");
    other.name = "pair";
    T_REFUSED(leat_loader_open(&l, plan, &o, &t_err), LEAT_E_NOT_FOUND, "did you mean pairs?");
    other = columns[0];
    other.at = 2;
    T_REFUSED(leat_loader_open(&l, plan, &o, &t_err), LEAT_E_ARGUMENT, "unknown value 2 for `at`");
    other = columns[0];
    other.fill = -1;
    T_REFUSED(leat_loader_open(&l, plan, &o, &t_err), LEAT_E_ARGUMENT, "does not hold its default -1");
    other = columns[0];
    other.widen = 1;
    T_REFUSED(leat_loader_open(&l, plan, &o, &t_err), LEAT_E_ARGUMENT, "only f16 and bf16");
    o.columns = twice;
    o.column_count = 2;
    T_REFUSED(leat_loader_open(&l, plan, &o, &t_err), LEAT_E_ARGUMENT, "named twice");
    for (unsigned i = 0; i < 65; i++)
        many[i] = columns[0];
    o.columns = many;
    o.column_count = 65;
    T_REFUSED(leat_loader_open(&l, plan, &o, &t_err), LEAT_E_ARGUMENT, "at most 64 columns");
}

int main(void)
{
    char text[1024];

    snprintf(name, sizeof name, "%s/data", t_folder());
    loading_write(name, TOKENS, 2, 300);
    attach();
    snprintf(text, sizeof text, "source %s\nseq-len %u\nepochs 1\n", name, LENGTH);
    plan = loading_plan(text);
    for (uint32_t threads = 0; threads < 4; threads += 1 + (threads > 0)) {
        written(0, 1, threads);
        written(5, 1, threads);
        written(3, 2, threads);
    }
    borrowed();
    refused();
    leat_plan_close(plan);
    return t_end();
}
