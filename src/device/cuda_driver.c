#include "cuda_driver.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "base/status.h"

#define USUAL_NAME "libcuda.so.1"

/* ---- Finding functions ---- */

typedef cuda_result find_old(const char *symbol, void **function, int version, cuda_flags64 flags);
typedef cuda_result find_new(const char *symbol, void **function, int version, cuda_flags64 flags,
                             cuda_query_result *found);

/* Stores a function's address that dlsym() returned. POSIX lets a function be called through that pointer, but ISO C
 * has no cast for it. */
static void store(void *member, void *function)
{
    memcpy(member, &function, sizeof function);
}

void *cuda_driver_entry(const struct cuda_driver *d, const char *symbol, int since)
{
    find_new *find;
    find_old *older;
    void *function = NULL;

    store(&find, dlsym(d->library, "cuGetProcAddress_v2"));
    store(&older, dlsym(d->library, "cuGetProcAddress"));
    if (find && find(symbol, &function, since, CUDA_LEGACY_STREAM, NULL) == CUDA_OK)
        return function;
    if (!find && older && older(symbol, &function, since, CUDA_LEGACY_STREAM) == CUDA_OK)
        return function;
    return NULL;
}

/* Finds all functions. Returns false if the driver lacks some, and sets *missing to the first of them. */
static bool find_all(struct cuda_driver *d, const char **missing)
{
    void *function;

#define CUDA_DRIVER_FIND(member, symbol, since, parameters)                                                            \
    function = cuda_driver_entry(d, *missing = #symbol, since);                                                        \
    if (!function)                                                                                                     \
        return false;                                                                                                  \
    store(&d->member, function);
    CUDA_DRIVER_ENTRIES(CUDA_DRIVER_FIND)
#undef CUDA_DRIVER_FIND
    return true;
}

/* ---- Opening ---- */

static enum leat_status no_driver(const char *name, const char *why, struct leat_error *err)
{
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "no CUDA driver: cannot load %.300s (%.300s); install NVIDIA's driver, or open the loader for "
                      "the device \"host\"",
                      name, why ? why : "no reason given");
}

static enum leat_status not_initialized(struct cuda_driver *d, cuda_result r, struct leat_error *err)
{
    if (r == CUDA_NO_DEVICE)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "the driver found no GPU: check nvidia-smi and CUDA_VISIBLE_DEVICES, or open the loader "
                          "for the device \"host\"");
    if (r == CUDA_NOT_INITIALIZED)
        return status_set(
            err, LEAT_E_UNSUPPORTED,
            "CUDA does not start in this process (cuInit: CUDA_ERROR_NOT_INITIALIZED). If it was forked "
            "from one that had used CUDA, start workers afresh (spawn) instead; if not, the driver itself "
            "does not start: see nvidia-smi and the kernel's log (dmesg)");
    if (r == CUDA_DEINITIALIZED)
        return status_set(err, LEAT_E_DEVICE, "the CUDA driver is shut down: this process is ending");
    return cuda_driver_failed(d, r, "starting CUDA (cuInit)", err);
}

/* Returns true if this is CUDA's stub library for linking, which LD_LIBRARY_PATH may lead to. */
static bool is_stub(const struct cuda_driver *d)
{
    cuda_result (*init)(unsigned flags);

    store(&init, dlsym(d->library, "cuInit"));
    return init && init(0) == CUDA_STUB_LIBRARY;
}

static enum leat_status prepare(struct cuda_driver *d, struct leat_error *err)
{
    const char *missing = "";
    bool found = find_all(d, &missing);
    cuda_result r;

    if (!found && is_stub(d))
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "the libcuda that was found is a stub in CUDA's folder \"stubs\": remove the folder from "
                          "LD_LIBRARY_PATH, or open the loader for the device \"host\"");
    if (!found)
        return status_set(
            err, LEAT_E_UNSUPPORTED,
            "the CUDA driver is too old: it has no %s; CUDA %d.%d or newer is needed (driver 470 or newer)", missing,
            CUDA_DRIVER_MIN / 1000, CUDA_DRIVER_MIN % 1000 / 10);
    r = d->init(0);
    if (r != CUDA_OK)
        return not_initialized(d, r, err);
    r = d->driver_version(&d->version);
    return r == CUDA_OK ? LEAT_OK : cuda_driver_failed(d, r, "asking for the driver's version", err);
}

enum leat_status cuda_driver_open(struct cuda_driver *d, const char *path, struct leat_error *err)
{
    enum leat_status s;

    memset(d, 0, sizeof *d);
    /* the driver is never unloaded, because it has threads and handlers of its own */
    d->library = dlopen(path ? path : USUAL_NAME, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!d->library)
        return no_driver(path ? path : USUAL_NAME, dlerror(), err);
    s = prepare(d, err);
    if (s != LEAT_OK)
        cuda_driver_close(d);
    return s;
}

void cuda_driver_close(struct cuda_driver *d)
{
    if (d->library)
        dlclose(d->library);
    memset(d, 0, sizeof *d);
}

/* ---- Failures ---- */

static enum leat_status status_of(cuda_result r)
{
    switch ((int)r) {
    case CUDA_OUT_OF_MEMORY:
        return LEAT_E_NO_MEMORY;
    case CUDA_NO_BINARY_FOR_GPU:
    case CUDA_INVALID_PTX:
    case CUDA_UNSUPPORTED_PTX:
        return LEAT_E_UNSUPPORTED;
    default:
        return LEAT_E_DEVICE;
    }
}

enum leat_status cuda_driver_failed(const struct cuda_driver *d, cuda_result r, const char *tried,
                                    struct leat_error *err)
{
    const char *name = NULL, *words = NULL;

    if (d->error_name && d->error_name(r, &name) != CUDA_OK)
        name = NULL;
    if (d->error_string && d->error_string(r, &words) != CUDA_OK)
        words = NULL;
    return status_set(err, status_of(r), "%s failed: %s (%d: %s)", tried, name ? name : "an error without a name",
                      (int)r, words ? words : "unknown reason");
}
