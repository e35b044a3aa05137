/*
 * test_cuda_missing.c: a GPU that is not there, or has no memory. No driver, one that is too old, no device, a device
 * that is not there: refused with a sentence that says what to do. Memory that is short: fewer slots, then without
 * pinning, and the statistics tell. The loader's thread runs here.
 */
#include <dlfcn.h>

#include "cuda_faulty.h"

/* ---- What is not there ---- */

#define STUB "/usr/local/cuda/lib64/stubs/libcuda.so" /* where CUDA is installed, as it mostly is */

static void no_driver(void)
{
    refused("cuda", "/nowhere/libcuda.so.1", LEAT_E_UNSUPPORTED, "for the device \"host\"");
    refused("cuda:0", "libm.so.6", LEAT_E_UNSUPPORTED, "it has no cuInit");
    if (!dlopen("libcuda.so.1", RTLD_NOW)) /* an empty name is as if none were given */
        refused("cuda", "", LEAT_E_UNSUPPORTED, "no CUDA driver: cannot load libcuda.so.1 (");
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
    refused("cudas", NULL, LEAT_E_UNSUPPORTED, "\"host\" always works");
    refused("cuda@libm.so.6", NULL, LEAT_E_UNSUPPORTED, "\"host\" always works");
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
    o.device.name = "cuda:MIG-30313233-3435-3637-3839-3a3b3c3d3e3f";
    T_OK(cuda_open(&l, &w, o));
    leat_loader_stats(l, &stats);
    T_STR(stats.device.name, "cuda:3, Stand-in MIG 1g");
    cuda_close(l);
    cuda->fake->exempt(1);
    MUST(cuda->driver.context_retain(&context, 2));
    MUST(cuda->driver.context_push(context));
    cuda->fake->exempt(-1);
    o.device.name = NULL;
    T_OK(cuda_open(&l, &w, o));
    leat_loader_stats(l, &stats);
    T_STR(stats.device.name, "cuda:2, Stand-in");
    cuda_close(l);
    T_EQ(cuda->fake->depth(), 1);
}

/* ---- Memory ---- */

static struct leat_loader_stats with_memory(unsigned slots, const char *words)
{
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    struct leat_loader_options o = options();
    struct leat_loader *l;
    bool told = false;
    char text[600];

    configure();
    o.io.slots = 16;
    T_OK(cuda_open(&l, &w, o));
    take(l);
    leat_loader_stats(l, &stats);
    T_EQ(stats.ring.slots, slots);
    while (leat_loader_notice(l, text, sizeof text))
        told = told || (words && strstr(text, words));
    T_EQ(told, words != NULL);
    cuda_close(l);
    return stats;
}

static void pinned_memory(void)
{
    size_t slot = (size_t)(with_memory(16, NULL).ring.bytes / 16);
    struct leat_loader_stats stats;

    fake.pinned = 5 * slot;
    stats = with_memory(4, "the ring has 4 slots instead of 16");
    T_EQ(stats.ring.slots_wanted, 16);
    T_EQ(stats.ring.unpinned, 0);
    fake.pinned = 2 * slot;
    with_memory(2, "the ring has 2 slots instead of 16");
    fake.pinned = slot;
    fake.pageable = true;
    stats = with_memory(16, "refused to pin");
    T_EQ(stats.ring.unpinned, 1);
}

static void device_memory(void)
{
    struct leat_loader_options o = options();
    struct leat_loader_stats stats = with_memory(16, NULL);
    size_t slot = (size_t)(stats.device.ring_bytes / 16);
    struct leat_loader *l;

    T_CHECK(stats.device.memory_used > 0 && stats.device.memory_used < 0.001);
    fake.memory = 16 * slot - 1;
    stats = with_memory(8, "the ring has 8 slots instead of 16");
    T_CHECK(stats.device.memory_used > 0.3 && stats.device.memory_used < 0.7);
    fake.memory = 16 * slot + BYTES; /* of the test's own */
    stats = with_memory(16, "% of the GPU's memory is in use");
    T_CHECK(stats.device.memory_used > 0.8);
    fake.memory = slot + slot / 2;
    configure();
    o.io.slots = 8;
    T_REFUSED(cuda_open(&l, &w, o), LEAT_E_NO_MEMORY, "the GPU has no room for 2 slots of ");
    o.io.slots = 0; /* chosen from what is free */
    T_STATUS(cuda_open(&l, &w, o), LEAT_E_NO_MEMORY);
    fake.memory = 100 * slot;
    configure();
    T_OK(cuda_open(&l, &w, o));
    leat_loader_stats(l, &stats);
    T_CHECK(stats.ring.slots >= 4);
    T_CHECK(stats.device.ring_bytes < fake.memory / 8 + stats.ring.slots * 256); /* to which it aligns each slot */
    cuda_close(l);
}

int main(void)
{
    begin_faulty();
    IN_CHILD(no_driver);
    IN_CHILD(no_device);
    IN_CHILD(chosen);
    IN_CHILD(pinned_memory);
    IN_CHILD(device_memory);
    return t_end();
}
