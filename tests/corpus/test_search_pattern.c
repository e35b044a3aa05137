/*
 * test_search_pattern.c: patterns of inputs find what the shell's glob() finds, in the order of bytes: given ones, and
 * random ones over a tree with hidden names, links, folders and names that are patterns themselves; but for how many
 * slashes follow each other, and a \ before a slash, which glob() passes over.
 * tests/disks/test_pack_fuse.c has what glob() does not do: folders that cannot be read for a while.
 */
#include <glob.h>
#include <unistd.h>

#include "corpus/search.h"
#include "t.h"

static bool never(void *context)
{
    (void)context;
    return false;
}

static bool same_path(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (a[0] == '/' && a[1] == '/')
            a++;
        while (b[0] == '/' && b[1] == '/')
            b++;
        if (*a != *b || *a == '\0')
            return *a == *b;
    }
}

static void compare(const char *pattern)
{
    struct search_tries tries = { .ended = false };
    struct search s = { .tries = &tries, .stop = { .asked = never } };
    struct search_names got;
    glob_t wanted = { .gl_pathc = 0 };
    int code = glob(pattern, 0, NULL, &wanted);
    size_t count = code == 0 ? wanted.gl_pathc : 0;
    bool same;

    T_CHECK(code == 0 || code == GLOB_NOMATCH);
    T_OK(search_expand(&s, pattern, &got, &t_err));
    same = got.count == count;
    for (size_t i = 0; same && i < count; i++)
        same = same_path(got.items[i], wanted.gl_pathv[i]);
    if (!same)
        T_FAIL("%s: %zu names, first %s; glob() has %zu, first %s", pattern, got.count,
               got.count > 0 ? got.items[0] : "none", count, count > 0 ? wanted.gl_pathv[0] : "none");
    search_names_free(&got);
    globfree(&wanted);
}

int main(void)
{
    static const char *const folders[] = { "a", "ab", ".hidden", "[x]", "a/b", "a/b/c", "ab/b", "ab/.c" };
    static const char *const files[] = { "a/x.jsonl",       "a/b/x.jsonl", "a/.x",    "ab/y.jsonl", "ab/b/*",
                                         ".hidden/x.jsonl", "[x]/x",       "x.jsonl", "y.jsonl.gz", "-",
                                         "@list",           "a b",         "\\",      "a/b/c/]" };
    static const char *const patterns[] = {
        "*",    "*.jsonl", "*/*.jsonl", "*/*/*",  "a/*",       "a//*",      "./*",      "*/",         "a/*/",
        ".*",   ".*/x*",   "[ab]",      "[!a]*",  "\\[x\\]/*", "[x]/*",     "ab/b/\\*", "nothing/*",  "a/?.j*",
        "*/.*", "**",      "[",         "[a",     "*[",        "x.jsonl/*", "link/*",   "broken*",    "*/../*.jsonl",
        "\\*",  "\\\\*",   "*\\",       "[a-b]?", "a/b*/*",    "?",         "a*/b/x*",  "/dev/nul[l]"
    };
    static const char signs[] = "ab/*?[].x\\!-";
    uint64_t seed = t_seed();
    char pattern[12];

    T_CHECK(chdir(t_folder()) == 0);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        T_CHECK(mkdir(folders[i], 0755) == 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        t_write(files[i], "x", 1);
    T_CHECK(symlink("a", "link") == 0 && symlink("gone", "broken") == 0 && symlink("loop", "loop") == 0);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        compare(patterns[i]);
    for (unsigned i = 0; i < 20000; i++) {
        size_t length = 1 + t_random(&seed) % (sizeof pattern - 1);

        for (size_t k = 0; k < length; k++)
            pattern[k] = signs[t_random(&seed) % (sizeof signs - 1)];
        pattern[length] = '\0';
        if (pattern[0] != '/' && strpbrk(pattern, "*?[") && !strstr(pattern, "\\/"))
            compare(pattern);
    }
    return t_end();
}
