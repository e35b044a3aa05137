/*
 * test_loader_options.c: options that make no sense are refused, with a sentence that says what would; a state that is
 * saved with a batch goes on after it, with other batches and ranks. A thread runs here.
 */
#include "base/numa.h"
#include "loading.h"
#include "one_document.h"

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
    REFUSED(LEAT_E_ARGUMENT, "ignore_index must be below 0, not 5", o.outputs.ignore_index = 5);
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
    char *text = t_text("source %s\nseq-len 20\n", name);

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

    plan = loading_plan(t_text("source %s/d\nseq-len 20\nepochs 9223372036854775809\norder documents\n", folder));
    o.batch = 4;
    o.position = LEAT_MAX_SAMPLES - 2;
    T_OK(leat_loader_open(&l, plan, &o, &t_err));
    T_OK(leat_loader_next(l, &b, &t_err));
    T_EQ(b->rows, 2);
    leat_loader_close(l);
    leat_plan_close(plan);
    plan = loading_plan(t_text("source %s/d\nseq-len 1073741824\norder documents\n", folder));
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
    char text[LEAT_PLAN_STATE_BYTES];
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

    other.plan = loading_plan(t_text("source %.150s/d\nseq-len 20\nseed 2\n", folder));
    T_REFUSED(leat_loader_open(&l, other.plan, &o, &t_err), LEAT_E_CHECKPOINT, "seed");
    leat_plan_close(other.plan);
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
    return t_end();
}
