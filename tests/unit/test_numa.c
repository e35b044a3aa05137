/*
 * test_numa.c: the node of a PCI device by a made tree of sysfs: what the file says, and none where it is missing,
 * empty, no number, or the -1 of a machine with one node; memory and threads placed on a node that is there and on ones
 * that are not; a thread goes to the CPUs of a node, as a made tree lists them, that it was allowed before, and stays
 * where there are none of them.
 */
#include "base/numa.h"

#include <sched.h>
#include <sys/mman.h>

#include "t.h"

static const char *root;

static void put(const char *device, const char *text)
{
    t_write_below(root, t_text("bus/pci/devices/%s/numa_node", device), text);
}

/* -1, or a node that this machine has, with this CPU if that is not negative. */
static void check_node(int node, int cpu)
{
    char path[100];

    snprintf(path, sizeof path, "/sys/devices/system/node/node%d", node);
    if (cpu >= 0)
        snprintf(path + strlen(path), sizeof path - strlen(path), "/cpu%d", cpu);
    if (node != -1 && access("/sys/devices/system/node", F_OK) == 0)
        T_EQ(access(path, F_OK), 0);
}

static void devices(void)
{
    put("0000:3b:00.0", "1\n");
    put("0000:af:00.0", "0\n");
    put("0001:00:1f.0", "7");
    put("0000:01:00.0", "-1\n");
    put("0000:02:00.0", "");
    put("0000:03:00.0", "none\n");
    put("0000:04:00.0", "99999999999999999999\n");
    T_EQ(numa_of_pci(root, 0, 0x3b, 0), 1);
    T_EQ(numa_of_pci(root, 0, 0xaf, 0), 0);
    T_EQ(numa_of_pci(root, 1, 0, 0x1f), 7);
    for (unsigned bus = 1; bus <= 5; bus++) /* the last is not there */
        T_EQ(numa_of_pci(root, 0, bus, 0), -1);
    T_EQ(numa_of_pci("/nowhere", 0, 0x3b, 0), -1);
}

static void memory(void)
{
    size_t bytes = (size_t)1 << 20;

    for (int node = -2; node <= 3; node++) {
        uint8_t *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        T_CHECK(m != MAP_FAILED);
        numa_place_memory(m, bytes, node == 3 ? 5000 : node);
        m[0] = 1;
        check_node(numa_of_memory(m), -1);
        munmap(m, bytes);
    }
    T_EQ(numa_of_memory(NULL), -1);
}

static void thread(void)
{
    cpu_set_t before, after;

    T_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    for (int cpu = CPU_SETSIZE; CPU_COUNT(&before) > 1;) /* one of those that are allowed is left */
        CPU_CLR(--cpu, &before);
    T_EQ(sched_setaffinity(0, sizeof before, &before), 0);
    check_node(numa_of_thread(), sched_getcpu());
    for (int node = -1; node < 4; node++) {
        numa_place_thread("/sys", pthread_self(), node);
        T_EQ(sched_getaffinity(0, sizeof after, &after), 0);
        T_CHECK(CPU_EQUAL(&before, &after));
    }
}

/* The first two CPUs that are allowed are A and B. */
static void lists(void)
{
    static const struct {
        const char *list, *left; /* with A and B in them */
    } rows[] = { { "A\n", "A" }, { "B\n", "B" },     { "A-B\n", "AB" }, { "A,B\n", "AB" }, { "4000-4001,B\n", "B" },
                 { "\n", "AB" }, { "4000\n", "AB" }, { "none", "AB" },  { NULL, "AB" } };
    cpu_set_t all, both, wanted, got;
    int cpu[2], found = 0;

    T_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&both);
    for (int c = 0; c < CPU_SETSIZE && found < 2; c++)
        if (CPU_ISSET(c, &all)) {
            CPU_SET(c, &both);
            cpu[found++] = c;
        }
    for (size_t i = 0; found == 2 && i < sizeof rows / sizeof rows[0]; i++) {
        char text[100] = "", path[100];

        for (const char *at = rows[i].list; at && *at; at++)
            if (*at == 'A' || *at == 'B')
                snprintf(text + strlen(text), sizeof text - strlen(text), "%d", cpu[*at == 'B']);
            else
                text[strlen(text)] = *at;
        CPU_ZERO(&wanted);
        for (const char *at = rows[i].left; *at; at++)
            CPU_SET(cpu[*at == 'B'], &wanted);
        snprintf(path, sizeof path, "devices/system/node/node%zu/cpulist", 10 + i);
        if (rows[i].list)
            t_write_below(root, path, text);
        T_EQ(sched_setaffinity(0, sizeof both, &both), 0);
        numa_place_thread(root, pthread_self(), (int)(10 + i));
        T_EQ(sched_getaffinity(0, sizeof got, &got), 0);
        if (!CPU_EQUAL(&got, &wanted))
            T_FAIL("by the list %s", text);
    }
    T_EQ(sched_setaffinity(0, sizeof all, &all), 0);
}

int main(void)
{
    root = t_folder();
    devices();
    lists();
    memory();
    thread();
    return t_end();
}
