/*
 * test_cuda_faults.c: a GPU that is not there, has no memory, fails, or goes away first. No driver, one that is too
 * old, no device, a device that is not there: refused with a sentence that says what to do. Memory that is short: fewer
 * slots, then without pinning, and the statistics tell. Every call of the driver may fail, and every piece of work: an
 * error once, no batch after it, closing works and gives all back. The driver may be shut down before; a child after
 * fork is refused. Each case runs in a process of its own. The loader's thread runs here.
 */
#include "cuda_loading.h"

#include <sys/wait.h>
#include <unistd.h>

#define LENGTH 50u
#define ROWS   6u
#define BYTES  (8 * ROWS * LENGTH)

static char folder[512], name[600];
static struct loading w;
static struct fake_options fake = FAKE_OPTIONS_INIT;

static struct leat_loader_options options(void)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = ROWS;
    return o;
}

static void configure(void)
{
    cuda->fake->configure(&fake);
}

/* `driver` NULL: the stand-in. */
static void refused(const char *device, const char *driver, enum leat_status status, const char *words)
{
    struct leat_loader_options o = options();
    struct leat_loader *l;

    o.device = device;
    o.driver = driver;
    T_STATUS(cuda_open(&l, &w, o), status);
    T_CHECK(!l);
    T_CONTAINS(t_err.message, words);
}

/* ---- What is not there ---- */

#define STUB "/usr/local/cuda/lib64/stubs/libcuda.so" /* where CUDA is installed, as it mostly is */

static void no_driver(void)
{
    refused("cuda", "/nowhere/libcuda.so.1", LEAT_E_UNSUPPORTED, "for the device \"host\"");
    refused("cuda:0", "libm.so.6", LEAT_E_UNSUPPORTED, "it has no cuInit");
    if (access(STUB, R_OK) == 0)
        refused("cuda", STUB, LEAT_E_UNSUPPORTED, "remove the folder from LD_LIBRARY_PATH");
    fake.version = 11020;
    configure();
    refused("cuda", NULL, LEAT_E_UNSUPPORTED, "CUDA 11.4 or newer is needed");
}

static void no_device(void)
{
    refused("cuda:2", NULL, LEAT_E_UNSUPPORTED, "0 is Stand-in (000102030405060708090a0b0c0d0e0f), 1 is Stand-in (10");
    refused("cuda:GPU-2021", NULL, LEAT_E_UNSUPPORTED, "no GPU \"GPU-2021\"");
    refused("cuda:GPU-20zz", NULL, LEAT_E_ARGUMENT, "neither the number of a GPU nor the UUID");
    refused("cuda:", NULL, LEAT_E_ARGUMENT, "unknown device");
    refused("cuda:0@libm.so.6", NULL, LEAT_E_ARGUMENT, "neither the number of a GPU nor the UUID");
    refused("cudas", NULL, LEAT_E_UNSUPPORTED, "\"host\" is always there");
    refused("cuda@libm.so.6", NULL, LEAT_E_UNSUPPORTED, "\"host\" is always there");
    refused("host", "libm.so.6", LEAT_E_ARGUMENT, "is for a GPU");
    fake.devices = 0;
    configure();
    refused("cuda", NULL, LEAT_E_UNSUPPORTED, "found no GPU");
}

/* A MIG instance; and the device that the calling thread works with. */
static void chosen(void)
{
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    struct leat_loader_options o = options();
    cuda_context context;
    struct leat_loader *l;

    fake.devices = 4;
    configure();
    o.device = "cuda:MIG-30313233-3435-3637-3839-3a3b3c3d3e3f";
    T_OK(cuda_open(&l, &w, o));
    leat_loader_stats(l, &stats);
    T_STR(stats.device, "cuda:3, Stand-in MIG 1g");
    cuda_close(l);
    cuda->fake->exempt(1);
    MUST(cuda->driver.context_retain(&context, 2));
    MUST(cuda->driver.context_push(context));
    cuda->fake->exempt(-1);
    o.device = NULL;
    T_OK(cuda_open(&l, &w, o));
    leat_loader_stats(l, &stats);
    T_STR(stats.device, "cuda:2, Stand-in");
    cuda_close(l);
    T_EQ(cuda->fake->depth(), 1);
}

/* ---- Memory ---- */

/* Some batches, looked at. */
static void take(struct leat_loader *l)
{
    void *buffer = cuda_allocate(BYTES);
    int64_t *host = malloc(BYTES);

    for (unsigned k = 0; k < 40; k++) {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;
        const struct leat_batch *b;

        out.inputs = buffer;
        T_OK(leat_loader_next(l, &b, &t_err));
        cuda->driver.context_push(cuda->context); /* for the default stream */
        T_OK(leat_batch_write(b, &out, NULL, &t_err));
        leat_batch_release(b, NULL);
        cuda->driver.context_pop(&cuda->context);
        cuda_bring(host, buffer, BYTES, NULL);
        cuda_check_inputs(&w, host, k * ROWS, ROWS, LENGTH);
    }
    free(host);
    cuda_free(buffer);
}

static struct leat_loader_stats with_memory(unsigned slots, const char *words)
{
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    struct leat_loader_options o = options();
    struct leat_loader *l;
    bool told = false;
    char text[600];

    configure();
    o.slots = 16;
    T_OK(cuda_open(&l, &w, o));
    take(l);
    leat_loader_stats(l, &stats);
    T_EQ(stats.slots, slots);
    while (leat_loader_notice(l, text, sizeof text))
        told = told || (words && strstr(text, words));
    T_EQ(told, words != NULL);
    cuda_close(l);
    return stats;
}

static void pinned_memory(void)
{
    size_t slot = (size_t)(with_memory(16, NULL).ring_bytes / 16);
    struct leat_loader_stats stats;

    fake.pinned = 5 * slot;
    stats = with_memory(4, "the ring has 4 slots instead of 16");
    T_EQ(stats.slots_wanted, 16);
    T_EQ(stats.unpinned, 0);
    fake.pinned = 2 * slot;
    with_memory(2, "the ring has 2 slots instead of 16");
    fake.pinned = slot;
    fake.pageable = true;
    stats = with_memory(16, "refused to pin");
    T_EQ(stats.unpinned, 1);
}

static void device_memory(void)
{
    struct leat_loader_options o = options();
    struct leat_loader_stats stats = with_memory(16, NULL);
    size_t slot = (size_t)(stats.device_ring_bytes / 16);
    struct leat_loader *l;

    T_CHECK(stats.device_memory_used > 0 && stats.device_memory_used < 0.001);
    fake.memory = 16 * slot - 1;
    stats = with_memory(8, "the ring has 8 slots instead of 16");
    T_CHECK(stats.device_memory_used > 0.3 && stats.device_memory_used < 0.7);
    fake.memory = 16 * slot + BYTES; /* of the test's own */
    stats = with_memory(16, "% of the GPU's memory is in use");
    T_CHECK(stats.device_memory_used > 0.8);
    fake.memory = slot + slot / 2;
    configure();
    o.slots = 8;
    T_STATUS(cuda_open(&l, &w, o), LEAT_E_NO_MEMORY);
    T_CONTAINS(t_err.message, "the GPU has no room for 2 slots of ");
    o.slots = 0; /* chosen from what is free */
    T_STATUS(cuda_open(&l, &w, o), LEAT_E_NO_MEMORY);
    fake.memory = 100 * slot;
    configure();
    T_OK(cuda_open(&l, &w, o));
    leat_loader_stats(l, &stats);
    T_CHECK(stats.slots >= 4 && stats.device_ring_bytes <= fake.memory / 8);
    cuda_close(l);
}

/* Most GPUs read no memory of programs. */
static void no_maps(void)
{
    struct leat_loader_options o = options();
    struct leat_loader *l;

    fake.no_maps = true;
    configure();
    o.apart = LEAT_APART_MAPPED;
    T_STATUS(cuda_open(&l, &w, o), LEAT_E_UNSUPPORTED);
    T_CONTAINS(t_err.message, "Stand-in cannot read the memory of programs by itself");
}

/* ---- Calls and work that fail ---- */

struct run {
    enum leat_status opening, next, use;
    struct leat_error error;
};

/* Opens, takes some batches on the second device and its default stream, and stops at the first failure; then `before`
 * is called, and the loader closed. */
static struct run run(uint32_t threads, bool borrow, void (*before)(void))
{
    struct leat_loader_options o = options();
    struct run r = { LEAT_OK, LEAT_OK, LEAT_OK, { 0 } };
    cuda_context context;
    cuda_pointer memory;
    struct leat_loader *l;

    cuda->fake->exempt(1);
    MUST(cuda->driver.context_retain(&context, 1));
    MUST(cuda->driver.context_push(context));
    MUST(cuda->driver.memory_allocate(&memory, BYTES));
    cuda->fake->exempt(-1);
    o.device = "cuda:1";
    o.threads = threads;
    o.borrow = borrow;
    o.apart = borrow ? LEAT_APART_MAPPED : LEAT_APART_AUTO; /* one call more */
    o.outputs = LEAT_OUTPUT_INPUTS;
    o.slots = 3;
    r.opening = cuda_open(&l, &w, o);
    r.error = t_err;
    T_CHECK((r.opening == LEAT_OK) == (l != NULL));
    for (unsigned k = 0; l && k < 6 && r.next == LEAT_OK && r.use == LEAT_OK; k++) {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;
        const struct leat_batch *b;

        r.next = leat_loader_next(l, &b, &r.error);
        if (r.next != LEAT_OK)
            break;
        loading_check(&w, b, k * ROWS);
        out.inputs = (void *)(uintptr_t)memory;
        r.use = borrow ? leat_batch_borrow(b, &out, NULL, &r.error) : leat_batch_write(b, &out, NULL, &r.error);
        leat_batch_release(b, NULL);
    }
    if (l && r.next != LEAT_OK) { /* it stays */
        const struct leat_batch *b;

        T_STATUS(leat_loader_next(l, &b, &t_err), r.next);
        T_STR(t_err.message, r.error.message);
    }
    if (before)
        before();
    cuda_close(l);
    cuda->fake->exempt(1);
    cuda->driver.stream_synchronize(NULL);
    cuda->driver.memory_free(memory);
    cuda->driver.context_pop(&context);
    cuda->driver.context_release(1);
    cuda->fake->exempt(-1);
    return r;
}

static const char *failing; /* the call that has failed; NULL: none */

static void stop_failing(void)
{
    if (!failing)
        failing = cuda->fake->failed_call();
    cuda->fake->fail_call(0, 0, false);
}

/* Each call of opening and of the steps fails, once or with all after it, in two ways. What a batch holds is right as
 * long as there are batches, and after a single failure all is given back. */
static void every_call(bool borrow, uint32_t threads)
{
    static const int results[] = { CUDA_OUT_OF_MEMORY, 719 };

    for (unsigned kind = 0; kind < 4; kind++)
        for (uint64_t n = 1;; n++) {
            unsigned live = cuda->fake->live();
            struct run r;

            cuda->fake->fail_call(n, results[kind / 2], kind % 2 != 0);
            failing = NULL;
            r = run(threads, borrow, stop_failing);
            if (r.opening != LEAT_OK)
                stop_failing();
            if (!failing)
                break;
            T_CHECK(r.error.message[0] || (r.opening == LEAT_OK && r.next == LEAT_OK && r.use == LEAT_OK));
            if (cuda->fake->live() != live)
                T_FAIL("call %" PRIu64 ", %s: %u things are left (%s)", n, failing, cuda->fake->live() - live,
                       r.error.message);
            /* a broken device is not passed over */
            if (kind == 3 && r.opening != LEAT_OK)
                T_EQ(r.opening, LEAT_E_DEVICE);
        }
}

/* Each call fails by which a device is found: one that is current, one that a UUID names, and one that is not there. */
static void every_call_of_finding(void)
{
    static const char *const devices[] = { "cuda", "cuda:GPU-1011", "cuda:GPU-2021" };
    static const int results[] = { 719, 12345 }; /* one that no driver has words for */
    struct leat_loader_options o = options();
    unsigned nameless = 0;
    cuda_context context;

    cuda->fake->exempt(1);
    MUST(cuda->driver.context_retain(&context, 1));
    MUST(cuda->driver.context_push(context));
    cuda->fake->exempt(-1);
    for (unsigned kind = 0; kind < 6; kind++) {
        failing = "";
        for (uint64_t n = 1; failing; n++) {
            unsigned live = cuda->fake->live();
            struct leat_loader *l;
            enum leat_status s;

            failing = NULL;
            o.device = devices[kind / 2];
            cuda->fake->fail_call(n, results[kind % 2], false);
            s = cuda_open(&l, &w, o);
            stop_failing();
            T_CHECK((s == LEAT_OK) == (l != NULL) && (l || t_err.message[0]));
            T_CHECK(s == LEAT_OK || s == LEAT_E_DEVICE || (s == LEAT_E_UNSUPPORTED && kind / 2 == 2));
            nameless += s != LEAT_OK && strstr(t_err.message, "an error without a name (12345: unknown reason)");
            if (l)
                cuda_close(l);
            T_EQ(cuda->fake->live(), live);
        }
    }
    T_CHECK(nameless > 10);
    cuda->fake->exempt(1);
    cuda->driver.context_pop(&context);
    cuda->driver.context_release(1);
    cuda->fake->exempt(-1);
}

/* A GPU that the kernels are not made for. */
static void no_kernels(void)
{
    const char *call = "";

    for (uint64_t n = 1; strcmp(call, "cuModuleLoadData") != 0; n++) {
        cuda->fake->fail_call(n, CUDA_NO_BINARY_FOR_GPU, true);
        refused("cuda:1", NULL, LEAT_E_UNSUPPORTED, "failed: ");
        call = cuda->fake->failed_call();
        cuda->fake->fail_call(0, 0, false);
    }
}

static uint64_t close_at;
static void fail_in_closing(void)
{
    cuda->fake->exempt(1);
    cuda->driver.context_synchronize(); /* a failure to wait must not mean that something is not waited for */
    cuda->fake->exempt(-1);
    cuda->fake->fail_call(close_at, 719, false);
}

static void every_call_of_closing(void)
{
    for (close_at = 1;; close_at++) {
        unsigned live = cuda->fake->live();
        struct run r = run(0, true, fail_in_closing);

        T_EQ(r.next, LEAT_OK);
        failing = NULL;
        stop_failing();
        if (!failing)
            break;
        T_EQ(cuda->fake->live(), live); /* where the context cannot be entered, its end gives all back */
    }
    T_CHECK(close_at > 10);
}

/* From a piece of work on nothing is done on the device: reported once, by whichever call meets it first. */
static void every_work(bool borrow, uint32_t threads)
{
    unsigned failures = 0;

    for (uint64_t n = 1; n < 14; n++) {
        unsigned live = cuda->fake->live();
        struct run r;

        cuda->fake->fail_work(n, 719);
        r = run(threads, borrow, NULL);
        T_EQ(r.opening, LEAT_OK);
        T_EQ(cuda->fake->live(), live);
        if (r.next != LEAT_OK || r.use != LEAT_OK) {
            failures++;
            T_EQ(r.error.status, LEAT_E_DEVICE);
            T_CONTAINS(r.error.message, "CUDA_ERROR_LAUNCH_FAILED (719: unspecified launch failure)");
        }
        cuda->fake->fail_work(0, 0);
    }
    T_CHECK(failures > 0);
}

static void calls_threaded(void)
{
    every_call(false, 1);
    every_call(true, 1);
}

static void calls_unthreaded(void)
{
    every_call(false, 0);
    every_call(true, 0);
}

static void work(void)
{
    for (uint32_t threads = 0; threads < 2; threads++) {
        every_work(false, threads);
        every_work(true, threads);
    }
}

/* ---- The end ---- */

static void shut_down(void)
{
    cuda->fake->shut_down();
}

static void driver_goes_first(void)
{
    struct leat_loader_options o = options();
    const struct leat_batch *b;
    struct leat_loader *l[2];

    T_OK(cuda_open(&l[0], &w, o));
    o.threads = 0;
    T_OK(cuda_open(&l[1], &w, o));
    T_OK(leat_loader_next(l[0], &b, &t_err));
    T_OK(leat_loader_next(l[1], &b, &t_err));
    shut_down();
    leat_batch_release(b, NULL);
    while (leat_loader_next(l[1], &b, &t_err) == LEAT_OK)
        leat_batch_release(b, NULL);
    T_EQ(t_err.status, LEAT_E_DEVICE);
    T_CONTAINS(t_err.message, "CUDA_ERROR_DEINITIALIZED");
    cuda_close(l[0]);
    cuda_close(l[1]);
    T_STATUS(cuda_open(&l[0], &w, o), LEAT_E_DEVICE);
}

/* A program that ends with a loader open. */
static void not_closed(void)
{
    struct leat_loader_options o = options();
    struct leat_loader *l;

    fake.strict = false;
    configure();
    T_OK(cuda_open(&l, &w, o));
    if (t_failures == 0)
        exit(0);
}

static void forked(void)
{
    struct leat_loader_options o = options();
    struct leat_loader *l, *other;
    int status;
    pid_t child;

    T_OK(cuda_open(&l, &w, o));
    child = fork();
    if (child == 0) {
        T_STATUS(cuda_open(&other, &w, o), LEAT_E_UNSUPPORTED);
        T_CONTAINS(t_err.message, "spawn");
        T_CONTAINS(t_err.message, "the driver itself does not start"); /* error 3 may also mean that */
        leat_loader_close(l);
        _exit(t_failures != 0);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    take(l);
    cuda_close(l);
}

/* ---- Cases ---- */

static void in_child(void (*test)(void), const char *words)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        t_failures = 0;
        w = cuda_plan(name, 2, LENGTH);
        if (!cuda_start())
            _exit(77);
        if (!cuda->fake)
            _exit(t_skip("these faults are the stand-in's: not on a real GPU"));
        configure();
        test();
        _exit(t_failures != 0);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        exit(77);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        T_FAIL("%s: status %d", words, status);
}

#define IN_CHILD(test) in_child(test, #test)

int main(void)
{
    snprintf(folder, sizeof folder, "%s", t_folder());
    snprintf(name, sizeof name, "%s/d", folder);
    loading_write(name, 30000, 2, 60);
    IN_CHILD(no_driver);
    IN_CHILD(no_device);
    IN_CHILD(chosen);
    IN_CHILD(pinned_memory);
    IN_CHILD(device_memory);
    IN_CHILD(no_maps);
    IN_CHILD(calls_threaded);
    IN_CHILD(calls_unthreaded);
    IN_CHILD(every_call_of_finding);
    IN_CHILD(no_kernels);
    IN_CHILD(every_call_of_closing);
    IN_CHILD(work);
    IN_CHILD(driver_goes_first);
    IN_CHILD(not_closed);
    IN_CHILD(forked);
    return t_end();
}
