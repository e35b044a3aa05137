/*
 * test_loader_options.c: options that make no sense are refused, with a sentence that says what would; a state that is
 * saved with a batch goes on after it, with other batches and ranks; rows of documents are the documents, each once an
 * epoch, longest first, padded, cut where they are too long; of a split, those that begin in it. A thread runs here.
 */
#include "base/numa.h"
#include "loading.h"
#include "one_document.h"
#include "order/permute.h"

static char folder[512];

/* ---- Refusals ---- */

static void refused(const struct loading *w, struct leat_loader_options o, enum leat_status status, const char *words)
{
    struct leat_loader *l;

    T_STATUS(leat_loader_open(&l, w->plan, &o, &t_err), status);
    T_CHECK(!l);
    T_CONTAINS(t_err.message, words);
    leat_loader_close(l);
}

#define REFUSED(status, words, ...)                                                                                    \
    do {                                                                                                               \
        struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;                                                       \
        o.batch = 4;                                                                                                   \
        __VA_ARGS__;                                                                                                   \
        refused(w, o, status, words);                                                                                  \
    } while (0)

static void refusals(const struct loading *w)
{
    REFUSED(LEAT_E_ARGUMENT, "0 rows", o.batch = 0);
    REFUSED(LEAT_E_ARGUMENT, "2^31", o.batch = (uint64_t)1 << 40);
    REFUSED(LEAT_E_NO_MEMORY, "use fewer rows", o.batch = (uint64_t)1 << 31);
    REFUSED(LEAT_E_ARGUMENT, "ranks count from 0", o.ranks.rank = 1);
    REFUSED(LEAT_E_ARGUMENT, "nearest", o.ranks.world = 3);
    REFUSED(LEAT_E_ARGUMENT, "unknown value 5 for engine", o.io.engine = (enum leat_engine)5);
    REFUSED(LEAT_E_ARGUMENT, "damage", o.on_damage = (enum leat_on_damage)2);
    REFUSED(LEAT_E_ARGUMENT, "for last", o.last = (enum leat_last_batch)3);
    REFUSED(LEAT_E_ARGUMENT, "for apart", o.io.apart = (enum leat_apart)(LEAT_APART_NEVER + 1));
    REFUSED(LEAT_E_ARGUMENT, "a loader has 0 to 64 threads, not 65", o.io.threads = 65);
    REFUSED(LEAT_E_ARGUMENT, "2 to 64 slots", o.io.slots = 1);
    REFUSED(LEAT_E_ARGUMENT, "2 to 64 slots", o.io.slots = 65);
    REFUSED(LEAT_E_ARGUMENT, "4 or 8 bytes", o.outputs.number_bytes = 2);
    REFUSED(LEAT_E_ARGUMENT, "unknown bits 0x80000000 in `outputs.wanted`", o.outputs.wanted = (uint32_t)1 << 31);
    REFUSED(LEAT_E_ARGUMENT, "`outputs.borrow` needs `outputs.wanted`", o.outputs.borrow = 1);
    REFUSED(LEAT_E_ARGUMENT, "at least 2 numbers", o.outputs.borrow = 1; o.outputs.wanted = LEAT_OUTPUT_CU_SEQLENS);
    REFUSED(LEAT_E_ARGUMENT, "not for 1099511627776", o.outputs.borrow = 1, o.outputs.wanted = 64,
            o.outputs.cu_seqlens_room = (uint64_t)1 << 40);
    REFUSED(LEAT_E_ARGUMENT, "no position", o.position = LEAT_MAX_SAMPLES + 1);
    REFUSED(LEAT_E_NO_MEMORY, "allow more memory", o.io.memory = 400);
    REFUSED(LEAT_E_UNSUPPORTED, "\"host\" always works", o.device.name = "abacus:0");
    REFUSED(LEAT_E_CHECKPOINT, "not a state", o.state = "x"; o.state_bytes = 1);
}

/* Options of an older program, which knows only the first of them: the others have the defaults. */
static void older_program(const struct loading *w)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = 4;
    o.ranks.rank = 7; /* not looked at */
    o.size = offsetof(struct leat_loader_options, ranks);
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    T_OK(leat_loader_next(l, &b, &t_err));
    loading_check(w, b, 0);
    T_EQ(b->rows, 4);
    leat_loader_close(l);
}

/* A dataset of one document, with ids that do not fit into 31 bits. */
static void write_wide(const char *name)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    static uint32_t ids[1000];
    struct leat_writer *writer;

    for (uint32_t i = 0; i < 1000; i++)
        ids[i] = UINT32_MAX - i;
    o.vocabulary = (uint64_t)1 << 32;
    T_OK(leat_writer_open(&writer, name, &o, &t_err));
    T_OK(add_one_document(writer, ids, 4, NULL, 1000, NULL, &t_err));
    T_OK(leat_writer_finish(writer, NULL, &t_err));
}

static void wide_ids(const char *name)
{
    struct leat_loader_options options = LEAT_LOADER_OPTIONS_INIT;
    struct leat_outputs out = LEAT_OUTPUTS_INIT;
    struct loading wide = { .width = 4 };
    const struct leat_batch *b;
    struct leat_loader *l;
    char text[1000];

    snprintf(text, sizeof text, "source %s\nseq-len 20\n", name);
    wide.plan = loading_plan(text);
    options.outputs.borrow = options.batch = 1;
    options.outputs.wanted = LEAT_OUTPUT_INPUTS;
    options.outputs.number_bytes = 4;
    refused(&wide, options, LEAT_E_ARGUMENT, "do not fit into 4 signed bytes");
    options.outputs.borrow = options.outputs.wanted = 0;
    T_OK(leat_loader_open(&l, wide.plan, &options, &t_err));
    T_OK(leat_loader_next(l, &b, &t_err));
    out.number_bytes = 4;
    out.inputs = text; /* is not touched */
    T_REFUSED(leat_batch_write(b, &out, NULL, &t_err), LEAT_E_ARGUMENT, "use 8");
    leat_loader_close(l);
    leat_plan_close(wide.plan);
}

/* More documents than there are numbers: samples are numbered below 2^60. */
static void without_end(void)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_plan *plan;
    const struct leat_batch *b;
    struct leat_loader *l;
    char text[900];

    snprintf(text, sizeof text, "source %s/d\nseq-len 20\nepochs 9223372036854775809\norder documents\n", folder);
    plan = loading_plan(text);
    o.batch = 4;
    o.position = LEAT_MAX_SAMPLES - 2;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    T_OK(leat_loader_next(l, &b, &t_err));
    T_EQ(b->rows, 2);
    leat_loader_close(l);
    leat_plan_close(plan);
    snprintf(text, sizeof text, "source %s/d\nseq-len 1073741824\norder documents\n", folder);
    plan = loading_plan(text);
    o.batch = (uint64_t)1 << 31;
    T_REFUSED(leat_loader_open(&l, plan, &o, &t_err), LEAT_E_ARGUMENT, "does not fit into memory");
    leat_plan_close(plan);
}

/* Rows that lie apart take whole pages each: where there is no room for that, they lie together. */
static void little_memory(const struct loading *w)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = 4;
    o.io.apart = LEAT_APART_ALWAYS;
    o.io.memory = 20000;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    T_OK(leat_loader_next(l, &b, &t_err));
    loading_check(w, b, 0);
    leat_loader_stats(l, &stats);
    T_CHECK(stats.ring.bytes <= 20000);
    leat_loader_close(l);
}

/* Nothing is announced without a thread; and batches go on where nobody has read what was. */
static void events(const struct loading *w)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    const uint64_t full = UINT64_MAX - 1;
    const struct leat_batch *b;
    struct leat_loader *l;
    uint64_t count;
    int fd;

    o.batch = 4;
    o.io.threads = 0;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    T_STATUS(leat_loader_event_fd(l, &fd, &t_err), LEAT_E_UNSUPPORTED);
    leat_loader_close(l);
    o.io.threads = 1;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    T_OK(leat_loader_event_fd(l, &fd, &t_err));
    while (write(fd, &full, sizeof full) < 0) /* until nothing came in between */
        T_EQ(read(fd, &count, sizeof count), sizeof count);
    for (uint64_t k = 0; k < 100; k++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        loading_check(w, b, 4 * k);
        leat_batch_release(b, NULL);
    }
    T_EQ(read(fd, &count, sizeof count), sizeof count);
    T_EQ(count, full);
    leat_loader_close(l);
}

/* A wish, whatever the machine makes of it. Statistics say what was wished, and no node where no batch was made yet. */
static void placed(const struct loading *w, int32_t node)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = 4;
    o.io.numa_node = node;
    o.io.threads = 0;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    leat_loader_stats(l, &stats);
    T_EQ(stats.ring.thread_node, -1);
    T_OK(leat_loader_next(l, &b, &t_err));
    leat_loader_stats(l, &stats);
    T_EQ(stats.ring.numa_node, node);
    T_EQ(stats.ring.thread_node >= 0, numa_of_thread() >= 0); /* the thread may move meanwhile */
    leat_loader_close(l);
    o.io.threads = 1;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    T_OK(leat_loader_next(l, &b, &t_err));
    loading_check(w, b, 0);
    leat_loader_close(l);
}

/* The ring has room for the outputs that are named, and for no others. */
static void rooms(const struct loading *w)
{
    static const struct {
        unsigned output, bytes; /* of a number */
    } rows[] = { { 0, 0 },
                 { LEAT_OUTPUT_INPUTS, 8 },
                 { LEAT_OUTPUT_LABELS, 8 },
                 { LEAT_OUTPUT_LOSS_MASK, 1 },
                 { LEAT_OUTPUT_ATTENTION_MASK, 1 } };
    uint64_t none = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
        struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
        uint64_t room, wanted = (uint64_t)4 * 16384 * 20 * rows[i].bytes;
        struct leat_loader *l;

        o.batch = 16384;
        o.io.slots = 4;
        o.outputs.borrow = i > 0;
        o.outputs.wanted = rows[i].output;
        o.outputs.number_bytes = 8;
        T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
        leat_loader_stats(l, &stats);
        room = stats.device.ring_bytes ? stats.device.ring_bytes : stats.ring.bytes;
        none = i == 0 ? room : none;
        T_CHECK(room - none >= wanted && room - none < wanted + (1 << 20)); /* whole pages */
        leat_loader_close(l);
    }
}

/* ---- States ---- */

static void resumes(const struct loading *w)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    char text[LEAT_PLAN_STATE_BYTES], longer[200];
    struct loading other = *w;
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = 6;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    for (unsigned k = 0; k < 11; k++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        T_OK(leat_batch_state(b, text, &t_err));
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
    o.batch = 8; /* what comes next does not depend on it */
    o.ranks.world = 2;
    o.ranks.rank = 1;
    o.state = text;
    o.state_bytes = strlen(text);
    o.position = 5; /* does not count */
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    for (unsigned k = 0; k < 5; k++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        T_EQ(b->position, 66 + 8 * k);
        loading_check(w, b, 66 + 8 * k + 4);
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);

    snprintf(longer, sizeof longer, "source %.150s/d\nseq-len 20\nseed 2\n", folder);
    other.plan = loading_plan(longer);
    T_REFUSED(leat_loader_open(&l, other.plan, &o, &t_err), LEAT_E_CHECKPOINT, "seed");
    leat_plan_close(other.plan);
}

/* ---- Rows of documents ---- */

struct documents {
    uint64_t count, *lengths, *starts;
};

static void check_row(const struct documents *d, const struct loading *w, const struct leat_batch *b, uint32_t row,
                      uint64_t max)
{
    const struct leat_sample *x = &b->samples[row];
    uint64_t tokens = d->lengths[x->block] < max + 1 ? d->lengths[x->block] : max + 1, wrong = 0;

    T_CHECK(x->block < d->count);
    T_EQ(x->token, d->starts[x->block]);
    T_EQ(b->lengths[row], tokens ? tokens - 1 : 0);
    T_CHECK(row == 0 || b->lengths[row] <= b->lengths[row - 1]);
    for (uint64_t i = 0; i < b->width; i++)
        wrong += loading_stored(b, row, i) != (i < tokens ? counting_token(x->token + i, w->width) : 0);
    T_EQ(wrong, 0);
}

static void document_rows(struct documents *d, const char *plan, uint64_t epochs, uint64_t max, bool shuffled)
{
    struct loading w = { .width = 2, .plan = loading_plan(plan) };
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    uint64_t shown = 0, *seen = calloc(d->count, sizeof *seen), in_order = 0, batches = 0;
    uint64_t set = (d->count * epochs + 7) / 8;
    struct permute order = permute_make(d->count, 3, UINT32_MAX);
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;
    char text[LEAT_PLAN_STATE_BYTES];

    o.batch = 8;
    T_OK(leat_loader_open(&l, w.plan, &o, &t_err));
    while (leat_loader_next(l, &b, &t_err) == LEAT_OK) {
        T_EQ(b->length, b->lengths[0] ? b->lengths[0] : 1);
        for (uint32_t row = 0; row < b->rows; row++) {
            check_row(d, &w, b, row, max);
            T_EQ(seen[b->samples[row].block], b->samples[row].epoch);
            seen[b->samples[row].block]++;
            if (shuffled)
                T_EQ(b->samples[row].block,
                     permute_forward(&order, b->samples[row].epoch, b->samples[row].number % d->count));
            in_order += b->samples[row].block == b->samples[row].number % d->count;
            shown++;
        }
        T_OK(leat_batch_state(b, text, &t_err));
        T_OK(leat_plan_state_load(w.plan, text, strlen(text), &state, &t_err));
        T_EQ(state.position, b->cursor);
        leat_batch_release(b, NULL);
        batches++;
    }
    T_EQ(t_err.status, LEAT_E_END);
    T_EQ(shown, d->count * epochs);
    T_EQ(batches, set);
    for (uint64_t i = 0; i < d->count; i++)
        T_EQ(seen[i], epochs);
    if (!shuffled)
        T_EQ(in_order, shown);
    else
        T_CHECK(in_order < shown / 4);
    leat_loader_close(l);
    leat_plan_close(w.plan);
    free(seen);
}

static void documents(void)
{
    struct documents d = { .lengths = calloc(20000, 8), .starts = calloc(20000, 8) };
    uint64_t at = 0;
    char text[900];

    for (; at < 30000; d.count++) {
        uint64_t length = counting_length(d.count, 40);

        d.starts[d.count] = at;
        d.lengths[d.count] = length < 30000 - at ? length : 30000 - at;
        at += d.lengths[d.count];
    }
    snprintf(text, sizeof text, "source %s/d\nseq-len 60\nepochs 2\nseed 3\norder documents\n", folder);
    document_rows(&d, text, 2, 60, true);
    snprintf(text, sizeof text, "source %s/d\nseq-len 1000\nepochs 1\norder documents-sequential\n", folder);
    document_rows(&d, text, 1, 1000, false);
    free(d.lengths);
    free(d.starts);
}

/* ---- Rows of documents of a plan with a split ---- */

#define SIZES 3u

static const uint64_t sizes[SIZES] = { 30000, 500, 7001 };

/* All documents of a list of counting datasets, in its order. */
struct all_documents {
    uint64_t count, starts[20000], bases[20000], totals[20000]; /* in the dataset; of the dataset */
};

static void list_all(struct all_documents *a)
{
    uint64_t base = 0;

    a->count = 0;
    for (unsigned i = 0; i < SIZES; base += sizes[i++])
        for (uint64_t n = 0, at = 0; at < sizes[i]; n++, a->count++) {
            a->starts[a->count] = at;
            a->bases[a->count] = base;
            a->totals[a->count] = sizes[i];
            at += counting_length(n, 40);
        }
}

/* Where a part ends that ends after so many tenths: at the first begin of a document from there on. */
static uint64_t border(const struct all_documents *a, uint64_t n, uint64_t tenths)
{
    uint64_t wish = a->totals[n] * tenths / 10, min = a->totals[n];

    for (uint64_t k = 0; k < a->count && wish > 0; k++)
        if (a->bases[k] == a->bases[n] && a->starts[k] >= wish && a->starts[k] < min)
            min = a->starts[k];
    return wish > 0 ? min : 0;
}

/* The documents of one part, by going through all; then those of the loader, one a batch. */
static void split_part(const struct all_documents *a, const char *order, const char *use, uint64_t begin, uint64_t end,
                       uint8_t *seen)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    uint64_t *used = calloc(a->count, sizeof *used), count = 0, position = 0;
    const struct leat_batch *b;
    struct permute permute;
    struct leat_plan *plan;
    struct leat_loader *l;
    char text[900];

    for (uint64_t n = 0; n < a->count; n++)
        if (a->starts[n] >= border(a, n, begin) && a->starts[n] < border(a, n, end))
            used[count++] = n;
    permute = permute_make(count, 0, UINT32_MAX);
    snprintf(text, sizeof text, "source @%s/list\nseq-len 20\nepochs 1\norder %s\nsplit x=0.5,y=0.3,z=0.2\nuse %s\n",
             folder, order, use);
    plan = loading_plan(text);
    o.batch = 1;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    for (; leat_loader_next(l, &b, &t_err) == LEAT_OK && position < count; position++) {
        uint64_t at = strcmp(order, "documents") != 0 ? position : permute_forward(&permute, 0, position), n = used[at];

        T_EQ(b->samples[0].block, n);
        T_EQ(b->samples[0].token, a->bases[n] + a->starts[n]);
        T_EQ(b->samples[0].offset, a->starts[n]);
        if (b->lengths[0] > 0)
            T_EQ(loading_stored(b, 0, 0), counting_token(a->starts[n], 2));
        seen[n]++;
        leat_batch_release(b, NULL);
    }
    T_EQ(t_err.status, LEAT_E_END);
    T_EQ(position, count);
    leat_loader_close(l);
    leat_plan_close(plan);
    free(used);
}

static void split_documents(void)
{
    struct all_documents *a = calloc(1, sizeof *a);
    uint8_t *seen;
    char text[700];
    FILE *list;

    snprintf(text, sizeof text, "%s/list", folder);
    list = fopen(text, "w");
    for (unsigned i = 0; i < SIZES; i++) {
        snprintf(text, sizeof text, "%s/s%u", folder, i);
        loading_write(text, sizes[i], 2, 40);
        fprintf(list, "s%u\n", i);
    }
    fclose(list);
    list_all(a);
    seen = calloc(a->count, 1);
    for (unsigned shuffled = 0; shuffled < 2; shuffled++) {
        const char *order = shuffled ? "documents" : "documents-sequential";

        split_part(a, order, "x", 0, 5, seen);
        split_part(a, order, "y", 5, 8, seen);
        split_part(a, order, "z", 8, 10, seen);
    }
    for (uint64_t n = 0; n < a->count; n++)
        T_EQ(seen[n], 2);
    free(seen);
    free(a);
}

int main(void)
{
    struct loading w = { .width = 2, .mean = 40 };
    char text[900];

    snprintf(folder, sizeof folder, "%s", t_folder());
    snprintf(text, sizeof text, "%s/d", folder);
    loading_write(text, 30000, 2, w.mean);
    snprintf(text, sizeof text, "source %s/d\nseq-len 20\nseed 1\n", folder);
    w.plan = loading_plan(text);
    refusals(&w);
    older_program(&w);
    rooms(&w);
    little_memory(&w);
    events(&w);
    placed(&w, LEAT_NUMA_ANY);
    placed(&w, 0);
    placed(&w, 900);
    placed(&w, 100000);
    resumes(&w);
    leat_plan_close(w.plan);
    without_end();
    snprintf(text, sizeof text, "%s/wide", folder);
    write_wide(text);
    wide_ids(text);
    documents();
    split_documents();
    return t_end();
}
