/*
 * test_cuda_faults.c: a GPU that fails, or goes away first. Every call of the driver may fail, and every piece of work:
 * an error once, no batch after it, closing works and gives all back. The driver may be shut down before; a child after
 * fork is refused. test_cuda_missing.c has what is not there. The loader's thread runs here.
 */
#include "cuda_faulty.h"

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
    o.device.name = "cuda:1";
    o.io.threads = threads;
    o.outputs.borrow = borrow;
    o.outputs.wanted = LEAT_OUTPUT_INPUTS;
    o.io.slots = 3;
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
            o.device.name = devices[kind / 2];
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
    o.io.threads = 0;
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
        T_REFUSED(cuda_open(&other, &w, o), LEAT_E_UNSUPPORTED, "spawn");
        T_CONTAINS(t_err.message, "the driver itself does not start"); /* error 3 may also mean that */
        leat_loader_close(l);
        _exit(t_failures != 0);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    take(l);
    cuda_close(l);
}

int main(void)
{
    begin_faulty();
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
