/* load_device.c: see load_device.h. */
#include "load_device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "device/cuda_device.h"
#include "tests/fake_cuda/fake_control.h"

bool load_device_is_gpu(const char *device)
{
    return device && (strcmp(device, "simulated") == 0 || cuda_device_named(device));
}

enum leat_status load_device_check(const struct load_device *d, cuda_result r, const char *tried,
                                   struct leat_error *err)
{
    return r == CUDA_OK ? LEAT_OK : cuda_driver_failed(&d->driver, r, tried, err);
}

/* The stand-ins are beside this program where they were built, or where `make install` puts them. */
static bool find_beside(const char *file, char *found, size_t capacity)
{
    static const char *const places[] = { "fake_cuda", "../lib/leat" };
    char path[4096], *slash;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    path[n > 0 ? n : 0] = '\0';
    slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    for (unsigned i = 0; slash && i < sizeof places / sizeof places[0]; i++) {
        int used = snprintf(found, capacity, "%s/%s/%s", path, places[i], file);

        if (used > 0 && (size_t)used < capacity && access(found, R_OK) == 0)
            return true;
    }
    return false;
}

static enum leat_status find_stand_in(char *driver, size_t capacity, struct leat_error *err)
{
    if (find_beside("libfake_cuda.so", driver, capacity))
        return LEAT_OK;
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "the stand-in driver lies neither in fake_cuda/ beside leat-bench, where `make` puts it, nor in "
                      "../lib/leat/");
}

static enum leat_status open_inside(struct load_device *d, struct leat_error *err)
{
    const char *which;
    enum leat_status s = cuda_device_parse(d->name, &which, err);
    const char *missing;
    int ordinal;

    if (s == LEAT_OK)
        s = cuda_driver_open(&d->driver, d->driver_name, err);
    if (s == LEAT_OK && (missing = cuda_extra_find(&d->driver, &d->extra)))
        s = status_set(err, LEAT_E_UNSUPPORTED, "the driver has no %s", missing);
    if (s == LEAT_OK)
        s = cuda_device_find(&d->driver, which, &d->device, &ordinal, err);
    if (s == LEAT_OK)
        s = load_device_check(d, d->driver.context_retain(&d->context, d->device), "opening the GPU's context", err);
    if (s == LEAT_OK)
        s = load_device_check(d, d->driver.context_push(d->context), "entering the GPU's context", err);
    if (s == LEAT_OK)
        s = load_device_check(d, d->driver.stream_create(&d->stream, CUDA_STREAM_NON_BLOCKING, 0), "making a stream",
                              err);
    return s;
}

enum leat_status load_device_open(struct load_device *d, const char *device, const char *driver, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    memset(d, 0, sizeof *d);
    d->simulated = strcmp(device, "simulated") == 0;
    d->name = d->simulated ? "cuda" : device;
    d->driver_name = d->simulated ? d->stand_in : driver;
    if (d->simulated)
        s = find_stand_in(d->stand_in, sizeof d->stand_in, err);
    else if (!cuda_device_named(device))
        s = status_set(err, LEAT_E_UNSUPPORTED,
                       "there is no device \"%.100s\": \"host\", \"cuda:0\" and \"simulated\" are", device);
    if (s == LEAT_OK)
        s = open_inside(d, err);
    if (s != LEAT_OK)
        load_device_close(d);
    return s;
}

void load_device_close(struct load_device *d)
{
    if (d->stream)
        d->driver.stream_destroy(d->stream);
    if (d->context) {
        cuda_context ours;

        d->driver.context_pop(&ours);
        d->driver.context_release(d->device);
    }
    cuda_driver_close(&d->driver);
    memset(d, 0, sizeof *d);
}

enum leat_status load_device_allocate(struct load_device *d, void **memory, size_t bytes, struct leat_error *err)
{
    cuda_pointer p = 0;
    enum leat_status s =
        load_device_check(d, d->driver.memory_allocate(&p, bytes), "allocating memory of the GPU", err);

    *memory = s == LEAT_OK ? (void *)(uintptr_t)p : NULL;
    return s;
}

void load_device_free(struct load_device *d, void *memory)
{
    if (memory)
        d->driver.memory_free((uintptr_t)memory);
}

enum leat_status load_device_bring(struct load_device *d, void *to, const void *from, size_t bytes,
                                   struct leat_error *err)
{
    enum leat_status s =
        load_device_check(d, d->extra.copy_to_host(to, (uintptr_t)from, bytes, d->stream), "copying from the GPU", err);

    return s == LEAT_OK ? load_device_wait(d, err) : s;
}

enum leat_status load_device_wait(struct load_device *d, struct leat_error *err)
{
    return load_device_check(d, d->driver.stream_synchronize(d->stream), "waiting for the GPU", err);
}

const struct count_cuda *load_device_counted(const struct load_device *d, char *driver, size_t capacity)
{
    void *library;

    if (!find_beside("libcount_cuda.so", driver, capacity))
        return NULL;
    if (d->driver_name)
        setenv("LEAT_COUNTED_DRIVER", d->driver_name, 1);
    library = dlopen(driver, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return library ? dlsym(library, "count_cuda") : NULL;
}

const struct fake_control *load_device_control(const struct load_device *d)
{
    const struct fake_control *(*find)(void) = NULL;
    void *symbol = d->simulated ? dlsym(d->driver.library, "fake_control") : NULL;

    memcpy(&find, &symbol, sizeof find);
    return find ? find() : NULL;
}

uint64_t load_device_calls(struct load_device *d)
{
    const struct fake_control *c = load_device_control(d);

    return c ? c->fail_call(0, 0, false) : 0;
}
