/*
 * test_residency.c: how much memory control groups leave: the least of the process's group and of all that hold it, in
 * both versions of groups, pages of files not counted as taken; in a container the process's own group lies at the
 * root. Once the limit of a group that was not the root was not seen.
 */
#include "gather/residency.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "gather/warm.h"
#include "loader/refused_call.h"
#include "t.h"

#define CACHESTAT 451

static const char *root;

/* Writes a file below the root, and makes its folders. */
static void put(const char *path, const char *text)
{
    char full[700];
    FILE *f;

    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(full, 0700);
        *at = '/';
    }
    f = fopen(full, "w");
    T_CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static uint64_t left(const char *groups)
{
    put("groups", groups);
    return residency_group_memory(t_path(root, "groups"), root);
}

/* Where nobody knows what is there, all is read. */
static void warms(int fd, uint64_t bytes)
{
    struct warm_stretch all = { .fd = fd, .bytes = bytes };
    struct warm *w = warm_open(&all, 1);

    while (!warm_ended(w))
        usleep(1000);
    T_EQ(warm_bytes(w), bytes);
    warm_close(w);
}

/* What is cached, on a kernel that cannot be asked for whole ranges (cachestat is of Linux 6.5); and of what is no
 * file. */
static void test_older_kernel(void)
{
#if defined(__linux__)
    pid_t child = fork();
    int fd;

    if (child == 0) {
        if (!refuse_call(CACHESTAT, ENOSYS))
            _exit(0); /* no filters here */
        put("file", "some text");
        fd = open(t_path(root, "file"), O_RDWR);
        T_EQ(residency_share(fd, 0, 9, 1), 1);
        T_CHECK(!residency_whole(fd, 0, 9) && !residency_lacks(fd, 0, 9)); /* nobody knows */
        T_EQ(residency_share(fd, 0, 1 << 20, 1), 0);                       /* what it does not have is not there */
        T_EQ(residency_share(-1, 0, 9, 1), 0);
        warms(fd, 9);
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
    T_EQ(residency_group_memory(t_path(root, "none"), root), UINT64_MAX);
    T_EQ(left("0::/\n"), UINT64_MAX);
    T_EQ(left(""), UINT64_MAX);
    T_EQ(left("no colons\n5:memory\n:::\n"), UINT64_MAX);

    /* the newer version */
    put("a/b/memory.max", "max\n");
    put("a/b/memory.current", "50\n");
    put("a/memory.max", "9000\n");
    put("a/memory.current", "5000\n");
    put("a/memory.stat", "anon 2500\nfile 2500\ninactive_file 1000\nactive_file 1500\n");
    T_EQ(left("0::/a/b\n"), 6500);
    T_EQ(left("0::/a/b/c/d\n"), 6500);
    T_EQ(left("1:cpu:/a/b\n"), UINT64_MAX);
    put("a/b/memory.high", "150\n");
    T_EQ(left("0::/a/b\n"), 100);
    T_EQ(left("0::/a\n"), 6500);
    T_EQ(left("0::/a/bb\n"), 6500);
    put("memory.max", "6\n");
    put("memory.current", "7\n");
    T_EQ(left("0::/a\n"), 0);
    T_EQ(left("0::/outside/of/the/container\n"), 0);

    /* the older one */
    put("memory/x/memory.limit_in_bytes", "3000\n");
    put("memory/x/memory.usage_in_bytes", "2900\n");
    put("memory/x/memory.stat", "cache 9\ninactive_file 1\ntotal_inactive_file 10\ntotal_active_file 20\n");
    put("memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("memory/memory.usage_in_bytes", "99\n");
    T_EQ(left("7:pids:/x\n4:cpuacct,memory:/x/y\n"), 130);
    T_EQ(left("4:memory:/"), 9223372036854771712u - 99);
    T_CHECK(residency_memory() > 0);
    return t_end();
}
