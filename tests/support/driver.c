/* driver.c: the driver that tests use: see on_device.h. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>

#include "on_device.h"

static struct on_device device;
static char stand_in[600];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *problem;
static struct leat_error err;

static void set_up(void)
{
    const char *given = getenv("LEAT_TEST_DEVICE");
    const char *build = getenv("LEAT_BUILD"), *seed;
    const struct fake_control *(*find)(void) = NULL;
    void *symbol;

    snprintf(stand_in, sizeof stand_in, "%s/fake_cuda/libfake_cuda.so", build ? build : "build");
    device.name = given ? given : "cuda";
    device.driver_name = given ? getenv("LEAT_TEST_DRIVER") : stand_in;
    if (cuda_driver_open(&device.driver, device.driver_name, &err) != LEAT_OK) {
        problem = err.message;
        return;
    }
    problem = cuda_extra_find(&device.driver, &device.extra);
    if (problem)
        return;
    symbol = dlsym(device.driver.library, "fake_control");
    memcpy(&find, &symbol, sizeof find);
    if (find) {
        struct fake_options o = FAKE_OPTIONS_INIT;

        seed = getenv("LEAT_TEST_SEED");
        o.seed = seed ? strtoull(seed, NULL, 0) : 1;
        o.pause_us = 150;
        device.fake = find();
        device.fake->configure(&o);
        device.fake->allow_waiting(1);
    }
    if (device.driver.context_retain(&device.context, 0) != CUDA_OK)
        problem = "there is no first device";
    if (device.fake)
        device.fake->allow_waiting(-1);
}

/* The process's own hold of the context, which is not forgotten. */
static void tear_down(void)
{
    if (device.context) {
        if (device.fake)
            device.fake->exempt(1);
        device.driver.context_release(0);
    }
}

static void start(void)
{
    set_up();
    atexit(tear_down);
}

struct on_device *on_device(const char **why)
{
    pthread_once(&once, start);
    if (why)
        *why = problem;
    return problem ? NULL : &device;
}

void on_device_begin(struct on_device *d)
{
    if (d->fake)
        d->fake->exempt(1);
    d->driver.context_push(d->context);
}

void on_device_end(struct on_device *d)
{
    cuda_context ours;

    d->driver.context_pop(&ours);
    if (d->fake)
        d->fake->exempt(-1);
}
