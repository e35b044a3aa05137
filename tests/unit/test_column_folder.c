/*
 * test_column_folder.c: the columns of many datasets in one folder are found by reading the folder once. Before, a list
 * with a single column read it for each part.
 */
#include "column/column_files.h"
#include "support/files.h"
#include "t.h"

static void touch(const char *folder, const char *file)
{
    t_write(t_path(folder, file), "", 0);
}

static uint64_t find(struct column_folder *f, const char *name, const char *first)
{
    struct column_names found;
    uint64_t count;

    T_OK(column_folder_find(f, &found, name, &t_err));
    count = found.count;
    if (count > 0)
        T_STR(found.names[0], first);
    column_names_free(&found);
    return count;
}

int main(void)
{
    const char *folder = t_folder();
    struct column_folder f = { .path = NULL };
    char a[4096], b[4096], c[4096], other[4096];

    snprintf(a, sizeof a, "%s", t_path(folder, "a"));
    snprintf(b, sizeof b, "%s", t_path(folder, "a-b"));
    snprintf(c, sizeof c, "%s", t_path(folder, "a.b"));
    snprintf(other, sizeof other, "%s", t_path(folder, "none/a"));
    touch(folder, "a.x.column-index");
    touch(folder, "a.y.column-index");
    touch(folder, "a.z.column");
    touch(folder, "a-b.u.column-index");
    touch(folder, "a.b.v.column-index");
    touch(folder, "ab.w.column-index");
    T_EQ(find(&f, a, "x"), 2);
    unlink(t_path(folder, "a-b.u.column-index")); /* only who reads the folder again misses it */
    T_EQ(find(&f, b, "u"), 1);
    T_EQ(find(&f, c, "v"), 1);
    T_EQ(find(&f, other, ""), 0);
    T_EQ(find(&f, b, ""), 0);
    column_folder_free(&f);
    return t_end();
}
