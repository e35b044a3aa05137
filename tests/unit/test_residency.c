/*
 * test_residency.c: what is in the page cache on a kernel that cannot be asked for whole ranges, and of what is no
 * file.
 */
#include "gather/warm.h"

#include <sys/mman.h>

#include "loader/refused_call.h"
#include "t.h"

#define CACHESTAT 451

static const char *root;

/* Where nobody knows what is there, all is read. */
static void warms(int fd, uint64_t bytes)
{
    struct warm_stretch all = { .fd = fd, .bytes = bytes };
    struct warm *w = warm_open(&all, 1, true);
    uint64_t added = 1;

    while (!warm_ended(w))
        usleep(1000);
    T_EQ(warm_bytes(w), bytes);
    for (unsigned i = 0; i < 1000; i++)
        added += warm_add(w, &all);
    T_CHECK(added > 256);
    while (!warm_ended(w))
        usleep(1000);
    T_EQ(warm_bytes(w), added * bytes);
    warm_close(w);
}

/* cachestat is of Linux 6.5. */
static void test_older_kernel(void)
{
#if defined(__linux__)
    pid_t child = fork();
    int fd;

    if (child == 0) {
        if (!refuse_call(CACHESTAT, ENOSYS))
            _exit(0); /* no filters here */
        fd = open(t_path(root, "file"), O_RDWR | O_CREAT, 0600);
        T_CHECK(write(fd, "some text", 9) == 9);
        T_EQ(residency_share(fd, 0, 9, 1), 1);
        T_CHECK(!residency_whole(fd, 0, 9) && !residency_lacks(fd, 0, 9)); /* nobody knows */
        T_EQ(residency_share(fd, 0, 1 << 20, 1), 0);                       /* what it does not have is not there */
        T_EQ(residency_share(-1, 0, 9, 1), 0);
        warms(fd, 9);
        fd = memfd_create("in memory", 0); /* a file of a tmpfs */
        T_EQ(ftruncate(fd, 1 << 20), 0);
        T_EQ(residency_share(fd, 0, 1 << 20, 1), 1);
        _exit(t_failures != 0);
    }
    expect_success(child);
#endif
}

static void test_nothing(void)
{
    T_EQ(residency_share(-1, 0, 0, 1), 1);
    T_CHECK(residency_whole(-1, 5, 0) && !residency_lacks(-1, 5, 0));
    T_EQ(residency_share(-1, 0, 9, 1), 0);
}

int main(void)
{
    root = t_folder();
    test_older_kernel();
    test_nothing();
    return t_end();
}
