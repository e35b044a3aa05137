/* thread.c: see thread.h. */
#include "thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "file.h"

int thread_start(pthread_t *thread, size_t stack, void *(*run)(void *context), void *context)
{
    pthread_attr_t how;
    sigset_t all, before;
    int r = pthread_attr_init(&how);

    if (r != 0)
        return r;
    pthread_attr_setstacksize(&how, stack);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(thread, &how, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&how);
    return r;
}

/* Linux refuses a set smaller than its own with EINVAL; the usual one has 1,024 CPUs. */
unsigned thread_cpus(void)
{
    for (size_t max = CPU_SETSIZE; max <= (size_t)CPU_SETSIZE << 10; max *= 2) {
        cpu_set_t *set = CPU_ALLOC(max);
        bool small = false;
        int count = 0;

        if (set && sched_getaffinity(0, CPU_ALLOC_SIZE(max), set) == 0)
            count = CPU_COUNT_S(CPU_ALLOC_SIZE(max), set);
        else
            small = set && errno == EINVAL;
        CPU_FREE(set);
        if (!small)
            return count > 0 ? (unsigned)count : 1;
    }
    return 1;
}

void thread_place(pthread_t thread, int node)
{
#if defined(__linux__) && defined(__GLIBC__)
    char path[64], text[1024] = "", *at = text;
    cpu_set_t cpus;
    int fd = -1;
    uint64_t size;

    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
    if (node < 0 || file_open_read(&fd, &size, path, NULL) != LEAT_OK)
        return;
    if (read(fd, text, sizeof text - 1) < 0)
        text[0] = '\0';
    file_close(&fd);
    CPU_ZERO(&cpus);
    while (*at >= '0' && *at <= '9') { /* "0-3,8-11" */
        unsigned long first = strtoul(at, &at, 10), last = *at == '-' ? strtoul(at + 1, &at, 10) : first;

        for (unsigned long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET(cpu, &cpus);
        at += *at == ',';
    }
    if (CPU_COUNT(&cpus) > 0)
        pthread_setaffinity_np(thread, sizeof cpus, &cpus);
#else
    (void)thread;
    (void)node;
#endif
}
