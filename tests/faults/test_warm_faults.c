/*
 * test_warm_faults.c: warming files that cannot begin, for whichever allocation or system call fails, leaves no memory,
 * no map and no thread behind. Runs a thread.
 */
#include "gather/warm.h"
#include "support/fault.h"
#include "support/peak.h"
#include "t.h"

/* Pages that are mapped; two maps beside each other may count as one. */
static unsigned long mapped(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    T_CHECK(f && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    return pages;
}

/* Whether there was an n-th call. */
static bool fail_one(const struct warm_stretch *stretch, enum fault_kind kind, uint64_t n)
{
    unsigned long before = mapped();
    long allocations = fault_allocations();
    struct warm *w;
    uint64_t calls;

    fault_arm(kind, FAULT_ONCE, n, EAGAIN);
    w = warm_open(stretch, 1, false);
    calls = fault_disarm();
    warm_close(w);
    T_EQ(fault_allocations(), allocations);
    if (!w && !T_SANITIZED) /* which maps as it likes */
        T_EQ(mapped(), before);
    return calls >= n;
}

int main(void)
{
    const char *path = t_path(t_disk_folder(), "file");
    struct warm_stretch stretch = { .bytes = 10000 };
    unsigned failed = 0;

    stretch.fd = open(path, O_RDWR | O_CREAT, 0600);
    T_CHECK(stretch.fd >= 0 && ftruncate(stretch.fd, 10000) == 0);
    (void)fail_one(&stretch, FAULT_SYSTEM, 1000); /* the C library keeps the stack of a thread that has ended */
    for (uint64_t n = 1; fail_one(&stretch, FAULT_SYSTEM, n) && n < 100; n++)
        failed++;
    for (uint64_t n = 1; fail_one(&stretch, FAULT_MEMORY, n) && n < 100; n++)
        failed++;
    T_CHECK(failed >= 3); /* a map, a thread, an allocation */
    close(stretch.fd);
    return t_end();
}
