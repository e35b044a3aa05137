/* cuda_faulty.h: what test_cuda_faults.c and test_cuda_missing.c share: a plan, options of the stand-in, what is
 * refused, and cases, each in a process of its own. */
#ifndef LEAT_TESTS_CUDA_CUDA_FAULTY_H
#define LEAT_TESTS_CUDA_CUDA_FAULTY_H

#include <sys/wait.h>

#include "cuda_loading.h"

#define LENGTH 50u
#define ROWS   6u
#define BYTES  (8 * ROWS * LENGTH)

static char name[600];
static struct loading w;
static struct fake_options fake = FAKE_OPTIONS_INIT;

static inline struct leat_loader_options options(void)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = ROWS;
    return o;
}

static inline void configure(void)
{
    cuda->fake->configure(&fake);
}

/* `driver` NULL: the stand-in. */
static inline void refused(const char *device, const char *driver, enum leat_status status, const char *words)
{
    struct leat_loader_options o = options();
    struct leat_loader *l;

    o.device.name = device;
    o.device.driver = driver;
    T_STATUS(cuda_open(&l, &w, o), status);
    T_CHECK(!l);
    T_CONTAINS(t_err.message, words);
}

/* Some batches, looked at. */
static inline void take(struct leat_loader *l)
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

/* ---- Cases ---- */

static inline void in_child(void (*test)(void), const char *words)
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

static inline void begin_faulty(void)
{
    snprintf(name, sizeof name, "%s/d", t_text("%s", t_folder()));
    loading_write(name, 30000, 2, 60);
}

#endif
