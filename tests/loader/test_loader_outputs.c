/*
 * test_loader_outputs.c: every output is what leat.h says, number by number, computed here from the tokens' definition
 * and the documents' lengths alone; written, borrowed, wide and narrow, into larger buffers, beside which nothing is
 * written, with damaged and padded rows. Kernels of every CPU level, and what a device runs (rows_device.h), are tried
 * against the definition of a single number. For each output of src/rows/rows_outputs.h there is a function
 * expect_FIELD here. A thread runs here.
 */
#include "loading.h"
#include "rows/rows_device.h"
#include "rows/rows_outputs.h"
#include "support/cpu_limit.h"
#include "support/rows_made.h"

static char folder[512];

/* ---- One number, by other means than the library's ---- */

struct expected {
    const struct loading *w;
    const struct leat_batch *b;
    struct loading_starts starts; /* of both datasets */
    uint32_t unshifted, mask_first, pad, weighted;
};

static uint32_t row_length(const struct expected *e, uint32_t row)
{
    return row < e->b->rows && !(e->b->flags[row] & LEAT_ROW_PADDED) ? e->b->samples[row].length + e->unshifted : 0;
}

static bool begins(const struct expected *e, uint32_t row, uint32_t i)
{
    return i == 0 || (!(e->b->flags[row] & LEAT_ROW_DAMAGED) && e->starts.bits[e->b->samples[row].offset + i]);
}

static int64_t expect_inputs(const struct expected *e, uint32_t row, uint32_t i)
{
    if (i >= row_length(e, row) || e->b->flags[row])
        return e->pad;
    return loading_token(e->w, &e->b->samples[row], i);
}

static int64_t expect_loss_mask(const struct expected *e, uint32_t row, uint32_t i)
{
    uint32_t token = e->unshifted ? i : i + 1;

    return i < row_length(e, row) && e->b->flags[row] == 0 && !(e->mask_first && token > 0 && begins(e, row, token));
}

static int64_t expect_labels(const struct expected *e, uint32_t row, uint32_t i)
{
    return expect_loss_mask(e, row, i) ? (int64_t)loading_token(e->w, &e->b->samples[row], e->unshifted ? i : i + 1)
                                       : -100;
}

/* Of the two sources, both of the same tokens. */
static const double source_weights[] = { 1.0 / 3, 7 };

static uint64_t source_of(const struct expected *e, uint32_t row)
{
    struct leat_sample x;

    T_OK(leat_plan_sample(e->w->plan, e->b->samples[row].number, &x, &t_err));
    return x.source;
}

/* The bits of the float; this dataset has no mask. */
static int64_t expect_loss_weights(const struct expected *e, uint32_t row, uint32_t i)
{
    static const int64_t bits[] = { 0x3eaaaaab, 0x40e00000 };

    return expect_loss_mask(e, row, i) ? e->weighted ? bits[source_of(e, row)] : 0x3f800000 : 0;
}

static int64_t expect_source_ids(const struct expected *e, uint32_t row, uint32_t i)
{
    return i < row_length(e, row) ? (int64_t)source_of(e, row) : -1;
}

static int64_t expect_attention_mask(const struct expected *e, uint32_t row, uint32_t i)
{
    return i < row_length(e, row) || row_length(e, row) == 0;
}

/* Position and document, going along the row. */
static void walk(const struct expected *e, uint32_t row, uint32_t i, int64_t *position, int64_t *document)
{
    *position = *document = 0;
    for (uint32_t at = 1; at <= i; at++) {
        bool new = at == row_length(e, row) || (at < row_length(e, row) && begins(e, row, at));

        *position = new ? 0 : *position + 1;
        *document += new;
    }
}

static int64_t expect_position_ids(const struct expected *e, uint32_t row, uint32_t i)
{
    int64_t position, document;

    walk(e, row, i, &position, &document);
    return position;
}

static int64_t expect_document_ids(const struct expected *e, uint32_t row, uint32_t i)
{
    int64_t position, document;

    walk(e, row, i, &position, &document);
    return document;
}

/* ---- Buffers with a border ---- */

#define BORDER 64

static void *buffer(size_t bytes)
{
    uint8_t *p = malloc(bytes + 2 * BORDER);

    memset(p, 0xa5, bytes + 2 * BORDER);
    return p + BORDER;
}

static void check_border(void *at, size_t bytes)
{
    uint8_t *p = (uint8_t *)at - BORDER;

    for (unsigned i = 0; i < BORDER; i++)
        T_CHECK(p[i] == 0xa5 && p[BORDER + bytes + i] == 0xa5);
    free(p);
}

static int64_t number(const void *numbers, enum rows_output_kind kind, unsigned bytes, uint64_t at)
{
    if (kind == ROWS_MASK)
        return ((const uint8_t *)numbers)[at];
    if (kind == ROWS_WEIGHTS)
        return ((const int32_t *)numbers)[at];
    return bytes == 8 ? ((const int64_t *)numbers)[at] : ((const int32_t *)numbers)[at];
}

/* ---- A whole batch ---- */

static void check_sequences(const struct expected *e, const struct leat_outputs *o)
{
    uint64_t n = 1, longest = 0, last = 0;
    int64_t position, document;

    T_EQ(o->cu_seqlens[0], 0);
    for (uint32_t row = 0; row < o->rows; row++)
        for (uint32_t i = 0; i < o->length; i++) {
            walk(e, row, i, &position, &document);
            if (position == 0 && (row > 0 || i > 0)) {
                T_EQ(o->cu_seqlens[n], row * o->length + i);
                longest = row * o->length + i - last > longest ? row * o->length + i - last : longest;
                last = row * o->length + i;
                n++;
            }
        }
    for (; n < o->cu_seqlens_room; n++)
        T_EQ(o->cu_seqlens[n], o->rows * o->length);
    if (o->rows == e->b->rows && o->length == e->b->length)
        T_EQ(e->b->max_seqlen, o->rows * o->length - last > longest ? o->rows * o->length - last : longest);
}

static void check_outputs(const struct expected *e, const struct leat_outputs *o)
{
    for (uint32_t row = 0; row < o->rows; row++)
        for (uint32_t i = 0; i < o->length; i++) {
            uint64_t at = row * o->length + i;

#define CHECK(field, name, kind, documents) CHECK_##kind(field, kind)
#define CHECK_NUMBER(field, kind)                                                                                      \
    if (o->field)                                                                                                      \
        T_EQ(number(o->field, kind, o->number_bytes, at), expect_##field(e, row, i));
#define CHECK_ROWS_NUMBERS                CHECK_NUMBER
#define CHECK_ROWS_MASK                   CHECK_NUMBER
#define CHECK_ROWS_WEIGHTS                CHECK_NUMBER
#define CHECK_ROWS_SEQUENCES(field, kind) /* see below */
#define CHECK_ROWS_AHEAD(field, kind)     /* test_loader_slices.c */
            ROWS_OUTPUTS(CHECK, CHECK)
#undef CHECK
        }
    if (o->cu_seqlens)
        check_sequences(e, o);
}

static void write_and_check(struct expected *e, uint64_t rows, uint64_t length, unsigned number_bytes)
{
    struct leat_outputs o = LEAT_OUTPUTS_INIT;
    size_t numbers = (size_t)(rows * length), room = numbers + 1;
    void *ahead;

    o.number_bytes = number_bytes;
    o.rows = rows;
    o.length = length;
    o.unshifted = e->unshifted;
    o.mask_first = e->mask_first;
    o.cu_seqlens_room = room;
#define BYTES(kind)                          (size_t) rows_output_bytes(kind, numbers, number_bytes, room, 0)
#define BUFFER(field, name, kind, documents) o.field = buffer(BYTES(kind));
    ROWS_OUTPUTS(BUFFER, BUFFER)
    T_REFUSED(leat_batch_write(e->b, &o, NULL, &t_err), LEAT_E_ARGUMENT, "ahead_labels need a loader");
    ahead = o.ahead_labels;
    o.ahead_labels = NULL;
    T_OK(leat_batch_write(e->b, &o, NULL, &t_err));
    check_outputs(e, &o);
    o.cu_seqlens_room = e->b->sequences; /* one too few */
    T_STATUS(leat_batch_write(e->b, &o, NULL, &t_err), LEAT_E_RANGE);
    o.ahead_labels = ahead;
#define BORDER_OF(field, name, kind, documents) check_border(o.field, BYTES(kind));
    ROWS_OUTPUTS(BORDER_OF, BORDER_OF)
}

static void refusals(const struct leat_batch *b, uint32_t unshifted)
{
    struct leat_outputs o = LEAT_OUTPUTS_INIT;

    o.unshifted = !unshifted; /* rows of unshifted labels lost their last one without a word */
    T_REFUSED(leat_batch_write(b, &o, NULL, &t_err), LEAT_E_ARGUMENT, "`unshifted` must be the same");
    o.unshifted = unshifted;

    o.length = b->length - 1;
    T_STATUS(leat_batch_write(b, &o, NULL, &t_err), LEAT_E_ARGUMENT);
    o.length = 0;
    o.rows = b->rows - 1;
    T_STATUS(leat_batch_write(b, &o, NULL, &t_err), b->rows > 1 ? LEAT_E_ARGUMENT : LEAT_OK);
    o.rows = o.length = 1 << 20;
    o.cu_seqlens = (int32_t[1]) { 0 };
    T_REFUSED(leat_batch_write(b, &o, NULL, &t_err), LEAT_E_RANGE, "too many for sequences of 32 bits");
    o.length = (uint64_t)1 << 31; /* were said to be too short, and too small */
    T_REFUSED(leat_batch_write(b, &o, NULL, &t_err), LEAT_E_ARGUMENT, "too long; the limit is 2^30");
    o.length = 0;
    o.rows = (uint64_t)1 << 33;
    T_REFUSED(leat_batch_write(b, &o, NULL, &t_err), LEAT_E_ARGUMENT, "too many; the limit is 2^31");
    o.rows = 0;
    o.number_bytes = 3;
    T_STATUS(leat_batch_write(b, &o, NULL, &t_err), LEAT_E_ARGUMENT);
}

/* `world`: the last of so many ranks, which has no row of the last batch unless that is whole. */
static void write_batches(const struct loading *w, struct loading_starts starts, uint32_t unshifted, uint32_t first,
                          uint64_t world)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = 7;
    o.ranks.world = world;
    o.ranks.rank = world - 1;
    o.outputs.wanted = LEAT_OUTPUT_POSITION_IDS;
    o.last = LEAT_LAST_PADDED;
    o.outputs.unshifted = unshifted;
    o.source_weights = first ? source_weights : NULL;
    o.source_weight_count = 2;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    while (leat_loader_next(l, &b, &t_err) == LEAT_OK) {
        struct expected e = { w, b, starts, unshifted, first, 0, first };

        T_CHECK(b->length <= leat_loader_max_length(l));
        write_and_check(&e, b->rows, b->length, 8);
        write_and_check(&e, b->rows + 2, b->length + 3, 4);
        refusals(b, unshifted);
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
}

static void borrow_batches(const struct loading *w, struct loading_starts starts, uint32_t outputs)
{
    for (uint32_t bytes = 4; bytes <= 8; bytes += 4) {
        struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
        const struct leat_batch *b;
        struct leat_loader *l;

        o.batch = 6;
        o.outputs.wanted = outputs;
        o.outputs.borrow = 1;
        o.outputs.number_bytes = bytes;
        o.outputs.ahead = outputs & LEAT_OUTPUT_AHEAD_LABELS ? 3 : 0;
        o.outputs.unshifted = bytes == 4 && o.outputs.ahead == 0;
        o.outputs.mask_first = bytes == 8;
        o.outputs.cu_seqlens_room = 1000;
        o.source_weights = bytes == 4 ? source_weights : NULL;
        o.source_weight_count = 2;
        o.io.threads = bytes == 8;
        T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
        for (unsigned i = 0; i < 5; i++) {
            struct leat_outputs out = LEAT_OUTPUTS_INIT;

            T_OK(leat_loader_next(l, &b, &t_err));
            T_OK(leat_batch_borrow(b, &out, NULL, &t_err));
#define BORROWED(field, name, kind, documents) T_EQ(out.field != NULL, (outputs & LEAT_OUTPUT_##name) != 0);
            ROWS_OUTPUTS(BORROWED, BORROWED)
#undef BORROWED
            check_outputs(&(struct expected) { w, b, starts, o.outputs.unshifted, o.outputs.mask_first, 0, bytes == 4 },
                          &out);
            leat_batch_release(b, NULL);
        }
        leat_loader_close(l);
    }
}

static void not_asked_for(const struct loading *w)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_outputs out = LEAT_OUTPUTS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;
    int64_t numbers[1000];

    o.batch = 2;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    T_OK(leat_loader_next(l, &b, &t_err));
    T_EQ(b->sequences, 0);
    out.position_ids = numbers;
    T_STATUS(leat_batch_write(b, &out, NULL, &t_err), LEAT_E_ARGUMENT);
    T_CHECK(strncmp(t_err.message, "position_ids needs a", 20) == 0);
    out.position_ids = NULL;
    out.mask_first = 1;
    T_STATUS(leat_batch_write(b, &out, NULL, &t_err), LEAT_E_ARGUMENT);
    T_CHECK(strncmp(t_err.message, "mask_first needs a", 18) == 0);
    T_STATUS(leat_batch_borrow(b, &out, NULL, &t_err), LEAT_E_ARGUMENT);
    leat_loader_close(l);
}

/* Borrowed sequences for which no room was kept end the batches. */
static void too_many_sequences(const struct loading *w)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = 7;
    o.outputs.borrow = 1;
    o.outputs.wanted = LEAT_OUTPUT_CU_SEQLENS;
    o.outputs.cu_seqlens_room = 2;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    T_REFUSED(leat_loader_next(l, &b, &t_err), LEAT_E_RANGE, "the room for 2 numbers of cu_seqlens");
    leat_loader_close(l);
}

static void with_width(unsigned width)
{
    struct loading w = { .width = width, .mean = 9 };
    struct loading_starts starts;
    char twin[600];
    const char *name = t_text("%s/d%u", folder, width);

    snprintf(twin, sizeof twin, "%s/twin%u", folder, width);
    loading_write(name, 3001, width, w.mean);
    loading_write(twin, 3001, width, w.mean);
    starts = loading_starts(3001, w.mean);
    /* two lengths, so that one batch has both; 6000 tokens: the last batch is short */
    w.plan = loading_plan(
        t_text("source %s:3\nsource %s:1\nseq-len 30\nbase-len 90\nat 48:1,2:len=90\nepochs 1\n", name, twin));
    for (uint32_t i = 0; i < 4; i++)
        for (uint64_t world = 1; world <= 7; world += 6)
            write_batches(&w, starts, i & 1, i >> 1, world);
    for (uint32_t outputs = 1; outputs < 1u << ROWS_OUTPUT_COUNT; outputs += 9)
        borrow_batches(&w, starts, outputs);
    borrow_batches(&w, starts, (1u << ROWS_OUTPUT_COUNT) - 1);
    not_asked_for(&w);
    too_many_sequences(&w);
    leat_plan_close(w.plan);
    free(starts.bits);
}

/* ---- Kernels against the definition ---- */

/* All threads of a device, from a random one on and in steps of a random odd number, so that each comes once. */
static void run_threads(const struct rows_job *j, uint32_t number_bytes, uint64_t *random)
{
    uint64_t blocks, threads, all = 1, step = 2 * t_below(random, 1 << 20) + 1, at = t_random(random);
    struct rows_grid grid = rows_grid(j, number_bytes, &blocks);

    for (threads = blocks * ROWS_BLOCK; all < threads;)
        all *= 2;
    for (uint64_t i = 0; i < all; i++, at += step)
        if (at % all < threads)
            rows_do_thread(j, grid, (uint32_t)(at % all / ROWS_BLOCK), (uint32_t)blocks,
                           (uint32_t)(at % all % ROWS_BLOCK), j->layout.token_width, number_bytes);
}

/* Where a number lies, by the definition of a begin. */
static struct rows_stretch stretch_of(const struct rows_job *j, uint32_t row, uint32_t i, bool documents)
{
    uint32_t length = rows_length(j, row);
    struct rows_stretch s = { i, i + 1, 0 };

#define BEGINS(at) (documents ? rows_stretch(j, row, at) : (at) == 0 || (at) == length)
    while (!BEGINS(s.begin))
        s.begin--;
    while (s.end < j->length && !BEGINS(s.end))
        s.end++;
    for (uint32_t at = 1; at <= s.begin; at++)
        s.number += BEGINS(at);
    return s;
}

/* A product of two floats is exact in a double, so that it is rounded once. */
static float weight_in_row(const struct rows_job *j, uint32_t row, uint8_t weight)
{
    return (float)((double)((float)weight / 255.0f) * (double)rows_source_weight(j, row));
}

static float expected_weight(const struct rows_job *j, uint32_t row, uint32_t i)
{
    return weight_in_row(j, row, rows_weight(j, row, i));
}

static void check_learned(const struct rows_job *j)
{
    for (uint32_t row = 0; row < j->layout.rows; row++) {
        uint32_t learned = 0;

        for (uint32_t i = j->unshifted; i < rows_length(j, row); i++)
            learned += rows_loss(j, row, i);
        T_EQ(rows_learned(j, row), learned);
    }
}

static void check_job(const struct rows_job *j)
{
    uint64_t n = 0;

    for (uint32_t row = 0; row < j->rows; row++)
        for (uint32_t i = 0; i < j->length; i++) {
            uint64_t at = (uint64_t)row * j->length + i;
            struct rows_line line = rows_line(j, row, j->layout.token_width);

            line.source = rows_source(j, row);

            T_EQ(number(j->inputs, ROWS_NUMBERS, j->number_bytes, at), rows_input(j, row, i));
            T_EQ(number(j->labels, ROWS_NUMBERS, j->number_bytes, at), rows_label(j, row, i));
            T_EQ(number(j->position_ids, ROWS_NUMBERS, j->number_bytes, at), rows_position(j, row, i));
            T_EQ(number(j->document_ids, ROWS_NUMBERS, j->number_bytes, at), rows_document(j, row, i));
            T_EQ(j->loss_mask[at], rows_loss(j, row, i));
            T_CHECK(((const float *)j->loss_weights)[at] == expected_weight(j, row, i));
#define SINGLY(field, name, kind, documents)                                                                           \
    T_EQ(number(j->field, kind, j->number_bytes, at), output_##field(&line, stretch_of(j, row, i, documents), i));
            ROWS_OUTPUTS(ROWS_SKIP, SINGLY)
            if (rows_stretch(j, row, i))
                T_EQ(j->cu_seqlens[n++], at);
        }
    T_CHECK(n < j->cu_seqlens_room);
    for (; n < j->cu_seqlens_room; n++)
        T_EQ(j->cu_seqlens[n], (uint64_t)j->rows * j->length);
}

/* Of rows in segments. */
static void check_segments(const struct rows_job *j)
{
    uint64_t n = 0, whole = (uint64_t)j->length * j->layout.slices;

    for (uint32_t row = 0; row < j->rows; row++) {
        const struct rows_segmented *x = rows_segmented(j, row);
        uint32_t documents = row < j->layout.rows ? x[1].documents - x->documents : 0;

        for (uint32_t k = 0; k < documents; k++)
            T_EQ(j->cu_seqlens[n++], row * whole + rows_begins(j, row)[k]);
        if (x->length < whole)
            T_EQ(j->cu_seqlens[n++], row * whole + x->length);
        for (uint32_t i = 0; i < j->length; i++) {
            struct rows_segment s = rows_segment_at(j, row, i);
            struct rows_line line = rows_line(j, row, 0);
            uint64_t at = (uint64_t)row * j->length + i;

            T_EQ(number(j->inputs, ROWS_NUMBERS, j->number_bytes, at), rows_segment_input(j, &s, i));
            T_EQ(number(j->labels, ROWS_NUMBERS, j->number_bytes, at), rows_segment_label(j, &s, i, 0));
            T_EQ(number(j->position_ids, ROWS_NUMBERS, j->number_bytes, at), rows_segment_position(&s, i));
            T_EQ(number(j->document_ids, ROWS_NUMBERS, j->number_bytes, at), s.document);
            T_EQ(j->loss_mask[at], rows_segment_weight(j, &s, i, 0) != 0);
            T_CHECK(((const float *)j->loss_weights)[at] ==
                    weight_in_row(j, row, j->loss_mask[at] ? rows_segment_weight(j, &s, i, 0) : 0));
            for (uint32_t k = 0; k < j->layout.ahead; k++, at += (uint64_t)j->rows * j->length)
                T_EQ(number(j->ahead_labels, ROWS_NUMBERS, j->number_bytes, at), rows_segment_label(j, &s, i, k + 1));
            at = (uint64_t)row * j->length + i;
#define SINGLY_OF(field, name, kind, documents)                                                                        \
    T_EQ(number(j->field, kind, j->number_bytes, at),                                                                  \
         output_##field(&line, rows_segment_stretch(&s, i + 1, documents), i));
            ROWS_OUTPUTS(ROWS_SKIP, SINGLY_OF)
        }
    }
    T_CHECK(n < j->cu_seqlens_room);
    for (; n < j->cu_seqlens_room; n++)
        T_EQ(j->cu_seqlens[n], j->rows * whole);
}

static void check_learned_in_segments(const struct rows_job *j)
{
    for (uint32_t row = 0; row < j->layout.rows; row++) {
        uint32_t learned = 0;

        for (uint32_t i = j->unshifted; i < j->layout.whole_length / j->layout.slices; i++) {
            struct rows_segment s = rows_segment_at(j, row, i);

            learned += rows_segment_weight(j, &s, i, 0) != 0;
        }
        T_EQ(rows_learned(j, row), learned);
    }
}

static void check_random_segments(uint64_t *random)
{
    static struct rows_made made;
    int usable;

    rows_make_segments(&made, random);
    check_learned_in_segments(&made.job);
    for (unsigned number_of_row = 0; rows_row(number_of_row, &usable); number_of_row++) {
        if (!usable)
            continue;
        memset(made.outputs, 0xa5, sizeof made.outputs);
        rows_fill(rows_row(number_of_row, NULL), &made.job);
        check_segments(&made.job);
    }
    memset(made.outputs, 0xa5, sizeof made.outputs);
    run_threads(&made.job, ROWS_PASS_SEGMENTS, random);
    check_segments(&made.job);
}

/* Outputs of each kind by every row of kernels. */
static void check_random_job(uint64_t *random)
{
    static struct rows_made made;
    int usable;

    rows_make(&made, random);
    check_learned(&made.job);
    for (unsigned number_of_row = 0; rows_row(number_of_row, &usable); number_of_row++) {
        if (!usable)
            continue;
        memset(made.outputs, 0xa5, sizeof made.outputs);
        rows_fill(rows_row(number_of_row, NULL), &made.job);
        check_job(&made.job);
    }
    memset(made.outputs, 0xa5, sizeof made.outputs);
    run_threads(&made.job, made.job.number_bytes, random);
    if (rows_has_mask_pass(&made.job))
        run_threads(&made.job, 0, random);
    check_job(&made.job);
}

/* What is chosen for a CPU without vectors. */
static void lower_level(void)
{
    cpu_limit(CPU_PLAIN);
    T_STR(rows_kernels()->name, "plain");
    cpu_limit(CPU_AVX512_VBMI);
}

int main(void)
{
    uint64_t random = t_seed();

    lower_level();
    snprintf(folder, sizeof folder, "%s", t_folder());
    with_width(2);
    with_width(4);
    for (unsigned i = 0; i < 300; i++) {
        check_random_job(&random);
        check_random_segments(&random);
    }
    return t_end();
}
