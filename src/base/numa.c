#include "numa.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file.h"

#define MAX_NODE 1023

/* Reads a small file of sysfs; the text is "" if there is no such file. */
static void read_small(const char *path, char *text, size_t capacity)
{
    int fd = -1;
    uint64_t size;
    ssize_t got = 0;

    if (file_open_read(&fd, &size, path, NULL) == LEAT_OK)
        got = read(fd, text, capacity - 1);
    file_close(&fd);
    text[got > 0 ? got : 0] = '\0';
}

int numa_of_pci(const char *sys, unsigned domain, unsigned bus, unsigned device)
{
    char path[512], text[32], *end;
    long node;

    snprintf(path, sizeof path, "%s/bus/pci/devices/%04x:%02x:%02x.0/numa_node", sys, domain, bus, device);
    read_small(path, text, sizeof text);
    node = strtol(text, &end, 10);
    return end > text && node >= 0 && node <= MAX_NODE ? (int)node : -1;
}

void numa_place_thread(const char *sys, pthread_t thread, int node)
{
#if defined(__linux__) && defined(__GLIBC__)
    char path[512], text[1024], *at = text;
    cpu_set_t allowed, cpus;

    if (node < 0 || pthread_getaffinity_np(thread, sizeof allowed, &allowed) != 0)
        return;
    snprintf(path, sizeof path, "%s/devices/system/node/node%d/cpulist", sys, node);
    read_small(path, text, sizeof text);
    CPU_ZERO(&cpus);
    while (*at >= '0' && *at <= '9') { /* "0-3,8-11" */
        unsigned long first = strtoul(at, &at, 10), last = *at == '-' ? strtoul(at + 1, &at, 10) : first;

        for (unsigned long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &allowed))
                CPU_SET(cpu, &cpus);
        at += *at == ',';
    }
    if (CPU_COUNT(&cpus) > 0)
        pthread_setaffinity_np(thread, sizeof cpus, &cpus);
#else
    (void)sys;
    (void)thread;
    (void)node;
#endif
}

void numa_place_memory(void *memory, size_t bytes, int node)
{
#if defined(SYS_mbind)
    unsigned long mask[(MAX_NODE + 1) / (8 * sizeof(unsigned long))] = { 0 };

    if (node < 0 || node > MAX_NODE)
        return;
    mask[(size_t)node / (8 * sizeof mask[0])] = 1ul << (size_t)node % (8 * sizeof mask[0]);
    syscall(SYS_mbind, memory, bytes, 1 /* MPOL_PREFERRED */, mask, (unsigned long)MAX_NODE + 1, 0);
#else
    (void)memory;
    (void)bytes;
    (void)node;
#endif
}

int numa_of_memory(const void *memory)
{
    int node = -1;

#if defined(SYS_get_mempolicy)
    if (syscall(SYS_get_mempolicy, &node, NULL, 0ul, memory, 3ul /* MPOL_F_NODE | MPOL_F_ADDR */) != 0)
        node = -1;
#else
    (void)memory;
#endif
    return node;
}

int numa_of_thread(void)
{
#if defined(SYS_getcpu)
    unsigned cpu, node;

    if (syscall(SYS_getcpu, &cpu, &node, NULL) == 0)
        return (int)node;
#endif
    return -1;
}
