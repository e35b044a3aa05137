/* test_path.c: names of files are put together with one slash where one is missing. */
#include "base/path.h"
#include "t.h"

static void check(char *path, const char *wanted)
{
    T_STR(path, wanted);
    free(path);
}

int main(void)
{
    check(path_join("a", "b", NULL), "a/b");
    check(path_join("a/", "b", NULL), "a/b");
    check(path_join("/", "b", ".zst", NULL), "/b.zst");
    check(path_join("", "b", NULL), "/b");
    check(path_join("a", NULL), "a/");
    check(path_append("name.leat", 4, ".partial.", "tokens", NULL), "name.partial.tokens");
    check(path_append("name/", 5, "x", NULL), "name/x");
    check(path_append(NULL, 0, "", "x", NULL), "x");
    check(path_append("name", 4, NULL), "name");
    return t_end();
}
