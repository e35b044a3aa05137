/*
 * test_cuda_nodes.c: the NUMA node of each of several GPUs in one process, as a made tree of sysfs has it: the loader's
 * ring, its thread and the threads that help it are asked to go there, and statistics say so. One that sysfs gives -1,
 * or does not know, changes nothing, and the option counts before it. What the calls of a loader would place is written
 * down, and then done: this machine may have one node only.
 */
#include "base/numa.h"

#include <stdatomic.h>

#include "cuda_loading.h"

/* The linker sends the library's calls here (fake_cuda.mk). */
int __real_numa_of_pci(const char *sys, unsigned domain, unsigned bus, unsigned device);
int __wrap_numa_of_pci(const char *sys, unsigned domain, unsigned bus, unsigned device);
void __real_numa_place_thread(const char *mounted, pthread_t thread, int node);
void __wrap_numa_place_thread(const char *mounted, pthread_t thread, int node);
void __real_numa_place_memory(void *memory, size_t bytes, int node);
void __wrap_numa_place_memory(void *memory, size_t bytes, int node);

static char sys[400];
static int thread_nodes[8], memory_node;
static atomic_uint threads;
static size_t memory_bytes;

int __wrap_numa_of_pci(const char *mounted, unsigned domain, unsigned bus, unsigned device)
{
    T_STR(mounted, "/sys");
    return __real_numa_of_pci(sys, domain, bus, device);
}

void __wrap_numa_place_thread(const char *mounted, pthread_t thread, int node)
{
    thread_nodes[atomic_fetch_add(&threads, 1) % 8] = node;
    __real_numa_place_thread(mounted, thread, node);
}

void __wrap_numa_place_memory(void *memory, size_t bytes, int node)
{
    memory_bytes = bytes;
    memory_node = node;
    __real_numa_place_memory(memory, bytes, node);
}

/* Opens a loader, and checks where it was asked to go. */
static struct leat_loader *open_at(const struct loading *w, const char *name, int wanted, int node)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    struct leat_loader *l;

    o.batch = 4;
    o.io.threads = 3;
    o.io.numa_node = wanted;
    o.device.name = name;
    atomic_store(&threads, 0);
    memory_bytes = 0;
    T_OK(cuda_open(&l, w, o));
    leat_loader_stats(l, &stats);
    T_EQ(stats.ring.numa_node, node);
    T_EQ(memory_node, node);
    T_CHECK(memory_bytes >= stats.ring.bytes);
    T_EQ(atomic_load(&threads), 3);
    for (unsigned i = 0; i < 3; i++)
        T_EQ(thread_nodes[i], node);
    return l;
}

/* Statistics say where it is: on a node that there is, as asked for if the system allows. */
static void check_place(struct leat_loader *l, int node)
{
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;

    leat_loader_stats(l, &stats);
    T_EQ(stats.ring.numa_node, node);
    if (stats.ring.memory_node < 0) /* the system says nothing */
        return;
    if (node == 0) {
        T_EQ(stats.ring.memory_node, 0);
        T_EQ(stats.ring.thread_node, 0);
    }
    T_CHECK(stats.ring.thread_node >= 0);
}

int main(void)
{
    static const struct {
        const char *name;
        int wanted, node;
    } rows[] = { { "cuda:0", LEAT_NUMA_DEVICE, 1 },
                 { "cuda:1", LEAT_NUMA_DEVICE, 0 },
                 { "cuda:2", LEAT_NUMA_DEVICE, -1 },
                 { "cuda:3", LEAT_NUMA_DEVICE, -1 },
                 { "cuda:0", 0, 0 },
                 { "cuda:1", LEAT_NUMA_ANY, LEAT_NUMA_ANY } };
    static const char *const said[] = { "1\n", "0\n", "-1\n" }; /* of the fourth there is no file */
    struct fake_options options = FAKE_OPTIONS_INIT;
    struct leat_loader *loaders[sizeof rows / sizeof rows[0]];
    const struct leat_batch *b;
    struct loading w;
    char name[500];

    if (!cuda_start())
        return 77;
    if (!cuda->fake) {
        fprintf(stderr, "skipped: only the stand-in has GPUs at known places\n");
        return 77;
    }
    options.devices = 4;
    cuda->fake->configure(&options);
    snprintf(sys, sizeof sys, "%.300s", t_folder());
    for (unsigned i = 0; i < sizeof said / sizeof said[0]; i++) {
        snprintf(name, sizeof name, "bus/pci/devices/00fe:%02x:%02x.0/numa_node", 0x3b + i, 2 * i);
        t_write_below(sys, name, said[i]);
    }
    snprintf(name, sizeof name, "%.300s/d", t_folder());
    loading_write(name, 20000, 2, 60);
    w = cuda_plan(name, 2, 50);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        loaders[i] = open_at(&w, rows[i].name, rows[i].wanted, rows[i].node);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) { /* all at once, and each keeps its own */
        T_OK(leat_loader_next(loaders[i], &b, &t_err));
        loading_check(&w, b, 0);
        leat_batch_release(b, NULL);
        check_place(loaders[i], rows[i].node);
    }
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cuda_close(loaders[i]);
    leat_plan_close(w.plan);
    return t_end();
}
