/*
 * test_thread_cpus.c: how many CPUs a thread may use: those of its affinity, also on a machine with more of them than a
 * plain set has, and 1 where nobody can say. The kernel's answers are made here.
 */
#include <sched.h>

#include "base/thread.h"
#include "t.h"

static size_t machine_cpus, allowed; /* the set that the kernel has, and how many of it are this thread's */
static int failure;

/* Stands for the C library's: refuses a set smaller than the machine's, as Linux does. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    (void)pid;
    if (failure != 0 || size * 8 < machine_cpus) {
        errno = failure != 0 ? failure : EINVAL;
        return -1;
    }
    memset(set, 0, size);
    for (size_t i = 0; i < allowed; i++)
        CPU_SET_S(machine_cpus - 1 - i, size, set);
    return 0;
}

static unsigned cpus(size_t machine, size_t of_thread)
{
    machine_cpus = machine;
    allowed = of_thread;
    return thread_cpus();
}

int main(void)
{
    T_EQ(cpus(1, 1), 1);
    T_EQ(cpus(64, 3), 3);
    T_EQ(cpus(1024, 1024), 1024);
    T_EQ(cpus(1025, 1025), 1025);
    T_EQ(cpus(8192, 8000), 8000);
    T_EQ(cpus((size_t)CPU_SETSIZE << 10, 5), 5);
    /* larger than any machine, an answer of none, and no answer */
    T_EQ(cpus(((size_t)CPU_SETSIZE << 10) + 1, 5), 1);
    T_EQ(cpus(64, 0), 1);
    failure = EPERM;
    T_EQ(cpus(64, 3), 1);
    return t_end();
}
