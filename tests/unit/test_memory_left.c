/*
 * test_memory_left.c: how much memory control groups leave: the least of the process's group and of all that hold it,
 * in both versions of groups, pages of files not counted as taken; in a container the process's own group lies at the
 * root. And the bound of those who are given none.
 */
#include "base/memory.h"

#include "t.h"

#define GIB ((uint64_t)1 << 30)
#define MIB ((uint64_t)1 << 20)

static const char *root;

static void put(const char *path, const char *text)
{
    t_write_below(root, path, text);
}

static uint64_t left(const char *groups)
{
    put("groups", groups);
    return memory_group_left(t_path(root, "groups"), root);
}

static void test_groups(void)
{
    T_EQ(memory_group_left(t_path(root, "none"), root), UINT64_MAX);
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
    T_CHECK(memory_left() > 0);
}

static void test_bound(void)
{
    T_EQ(memory_within(2 * GIB, 30 * MIB, UINT64_MAX), 2 * GIB);
    T_EQ(memory_within(2 * GIB, 30 * MIB, 8 * GIB), 2 * GIB);
    T_EQ(memory_within(2 * GIB, GIB, GIB), 3 * GIB / 2);
    T_EQ(memory_within(2 * GIB, 8 * MIB, 40 * MIB), 36 * MIB);
    T_EQ(memory_within(2 * GIB, 48 * MIB, 0), 36 * MIB);
    T_EQ(memory_within(UINT64_MAX, GIB, UINT64_MAX - 1), UINT64_MAX - UINT64_MAX / 4);
    T_CHECK(memory_resident() > 4096 && memory_resident() < 64 * GIB);
    T_EQ(memory_within_groups(1), 1);
}

int main(void)
{
    root = t_folder();
    test_groups();
    test_bound();
    return t_end();
}
