/*
 * test_notices.c: what a loader tells of its own accord: each notice once, those of memory first; which of its times it
 * names as the cause of waiting; and the line of statistics. On a loader that was never opened, whose counters are set.
 */
#include "loader/loader.h"
#include "t.h"

static void describe(struct backend *b, char *text, size_t capacity)
{
    (void)b;
    snprintf(text, capacity, "none");
}

/* One that has nothing to tell. */
static struct leat_loader *quiet(void)
{
    static const struct backend_ops ops = { .describe = describe };
    static struct plan_source source = { .blocks = 5000000 };
    static const struct leat_plan plan = { .sources = &source,
                                           .order = &plan_order_windows,
                                           .token_width = 2,
                                           .rules = { .source_count = 1, .base_len = 4096 } };
    struct leat_loader *l = aligned_alloc(64, (sizeof *l + 63) / 64 * 64);

    T_CHECK(l != NULL);
    memset(l, 0, sizeof *l);
    l->device.ops = &ops;
    l->shape.plan = &plan;
    l->process.owner = getpid();
    l->thread.runs = true;
    l->device.memory = (struct backend_memory) { .bytes = 3 << 20, .slots = 4, .slots_wanted = 4 };
    return l;
}

static void tells(struct leat_loader *l, const char *part)
{
    char text[512];

    T_EQ(leat_loader_notice(l, text, sizeof text), 1);
    T_CONTAINS(text, part);
    T_EQ(leat_loader_notice(l, text, sizeof text), 0); /* once */
}

/* A batch more than its share is looked at, of which a tenth and a bit was waiting, and a fourth had work. */
static void waits(struct leat_loader *l)
{
    l->consumer.batches = LOADER_RECENT + 1;
    l->consumer.recent_wait_sum = 11000000;
    l->consumer.recent_all_sum = 100000000;
    l->consumer.recent_worked = LOADER_RECENT / 4;
}

static void test_memory(void)
{
    struct leat_loader *l = quiet();
    char text[512];

    T_EQ(leat_loader_notice(l, text, sizeof text), 0);
    l->device.memory.unpinned = true;
    tells(l, "refused to pin 3.0 MiB for the ring");
    l->device.memory.slots_wanted = 5;
    tells(l, "the ring has 4 slots instead of 5");
    l->device.memory.device_total = 1000;
    l->device.memory.device_free = 200;
    T_EQ(leat_loader_notice(l, text, sizeof text), 0); /* 80 % are not too much */
    l->device.memory.device_free = 199;
    tells(l, "80 % of the GPU's memory is in use");
    free(l);
}

static void test_files(void)
{
    static const struct {
        int error;
        const char *why;
    } reasons[] = {
        { EPERM, "forbidden by the system" },   { EACCES, "forbidden by the system" },
        { ENOMEM, "limit of locked memory" },   { EMFILE, "too many open files" },
        { ENFILE, "too many open files" },      { ENOTSUP, "not built in: install liburing" },
        { ENOSYS, "not known to this kernel" },
    };
    struct part part = { 0 };
    struct gather_file files[3] = { { .part = &part }, { .part = &part }, { .part = &part } };
    struct leat_loader *l;
    char text[512];

    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        l = quiet();
        l->gather.uring_is_refused = true;
        l->gather.uring_error = reasons[i].error;
        tells(l, reasons[i].why);
        free(l);
    }
    l = quiet();
    l->gather.unhashed = 2;
    l->gather.file_count = 3;
    l->gather.files = files;
    T_EQ(leat_loader_notice(l, text, sizeof text), 0); /* nothing is to be checked */
    l->gather.verify = true;
    tells(l, "2 of 3 token files have no hashes");
    free(l);
    l = quiet();
    l->gather.lost_maps = 1;
    tells(l, "another program opened a token file for writing");
    l->stage.rows_damaged = 1;
    tells(l, "rows whose tokens are damaged");
    free(l);
}

static void test_causes(void)
{
    struct leat_loader *l;
    char text[512];

    for (int cause = 0; cause < 6; cause++) {
        static const char *const sentences[] = { "waiting for storage",     "copying tokens",
                                                 "finding document starts", "widening on the host",
                                                 "computing the order",     "has no thread" };

        l = quiet();
        waits(l);
        /* each is a bit more than all before it */
        l->gather.counters.storage_ns = 10;
        l->stage.gather_ns = cause >= 1 ? 11 : 9;
        l->stage.documents_ns = cause >= 2 ? 12 : 10;
        l->stage.outputs_ns = cause >= 3 ? 13 : 10;
        l->stage.order_ns = cause >= 4 ? 14 : 10;
        l->thread.runs = cause != 5;
        tells(l, sentences[cause]);
        free(l);
    }
    /* a loader without a thread that does wait for storage */
    l = quiet();
    waits(l);
    l->thread.runs = false;
    l->gather.counters.storage_ns = l->stage.gather_ns = 10;
    tells(l, "11 % of its time: the time goes into waiting for storage: use a faster disk, or more memory to keep the "
             "files in; a new run can read in large pieces: stretch 8192KiB and mix 64 of the plan");
    free(l);
    l = quiet();
    waits(l);
    l->consumer.batches = LOADER_RECENT; /* too few to tell */
    T_EQ(leat_loader_notice(l, text, sizeof text), 0);
    l->consumer.batches++;
    l->consumer.recent_wait_sum = 10000000; /* no more than a tenth */
    T_EQ(leat_loader_notice(l, text, sizeof text), 0);
    l->consumer.recent_wait_sum = 11000000;
    l->consumer.recent_worked--; /* a loop that only takes batches */
    T_EQ(leat_loader_notice(l, text, sizeof text), 0);
    l->consumer.recent_worked++;
    l->process.owner = getpid() + 1; /* in a child */
    T_EQ(leat_loader_notice(l, text, sizeof text), 0);
    free(l);
}

static void test_line(void)
{
    struct leat_loader *l = quiet();
    char text[512];

    l->gather.in_use[LEAT_ENGINE_MAP] = 3;
    l->gather.in_use[LEAT_ENGINE_URING] = 1;
    l->consumer.batches = 7;
    l->consumer.rows = 9;
    l->consumer.wait_ns = 250;
    l->consumer.all_ns = 1000;
    durations_add(&l->consumer.next, 15000);
    waits(l);
    leat_loader_stats_line(l, text, sizeof text);
    T_STR(text,
          "batches 101, rows 9, waited 11.0 % of the last 100 (all: 25.0 %), next p50 15.0 us p99 15.0 us, engine "
          "map 3, uring 1, ring 4 x 768.0 KiB");
    l->stage.rows_damaged = 2;
    leat_loader_stats_line(l, text, sizeof text);
    T_CONTAINS(text, "KiB, damaged rows 2");
    for (size_t capacity = 0; capacity < 200; capacity += 33) { /* cut, within its bounds */
        memset(text, 'x', sizeof text);
        leat_loader_stats_line(l, text, capacity);
        T_EQ(text[capacity], 'x');
        T_CHECK(capacity == 0 || strlen(text) < capacity);
    }
    free(l);
}

int main(void)
{
    test_memory();
    test_files();
    test_causes();
    test_line();
    return t_end();
}
