/*
 * test_status.c: which status an errno becomes, and with which remedy; a sentence never pushes out the system's reason,
 * however long the path in it is, nor its own first words; where nobody asks for a sentence, the status still comes.
 */
#include "base/status.h"
#include "t.h"

static void test_errnos(void)
{
    static const struct {
        int os_error;
        enum leat_status status;
        const char *words;
    } rows[] = {
        { ENOENT, LEAT_E_NO_FILE, "cannot do it: No such file" },
        { ENOTDIR, LEAT_E_NO_FILE, "cannot do it: Not a directory" },
        { EEXIST, LEAT_E_EXISTS, "File exists" },
        { ENOSPC, LEAT_E_NO_SPACE, "; free some space or inodes (df, df -i), or write to another disk" },
        { EDQUOT, LEAT_E_NO_SPACE, "; free some of the user's quota, of bytes or of inodes (quota), or write" },
        { EFBIG, LEAT_E_NO_SPACE, "(ulimit -f)" },
        { EACCES, LEAT_E_PERMISSION, "Permission denied" },
        { EPERM, LEAT_E_PERMISSION, "not permitted" },
        { EROFS, LEAT_E_PERMISSION, "Read-only" },
        { ENOMEM, LEAT_E_NO_MEMORY, "memory" },
        { EMFILE, LEAT_E_IO, "(ulimit -n)" },
        { EIO, LEAT_E_IO, "Input/output error" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        T_STATUS(status_set_os(&t_err, rows[i].os_error, "it", "cannot do %s", "it"), rows[i].status);
        T_EQ(t_err.status, rows[i].status);
        T_EQ(t_err.os_error, rows[i].os_error);
        T_CONTAINS(t_err.message, rows[i].words);
    }
    /* what needs the files is not known here: a plain pack was told of the datasets of a list */
    T_REFUSED(status_set_os(&t_err, EMFILE, NULL, "cannot open it"), LEAT_E_IO,
              "; raise the limit of open files (ulimit -n)");
    T_CHECK(!strstr(t_err.message, "dataset"));
}

static void test_long_paths(void)
{
    char path[5000];

    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    T_REFUSED(status_set_os(&t_err, ENOSPC, path, "cannot write %s", path), LEAT_E_NO_SPACE, "cannot write ppp");
    T_CONTAINS(t_err.message,
               "ppp...: No space left on device; free some space or inodes (df, df -i), or write to another disk");
    T_REFUSED(status_before(&t_err, LEAT_E_NO_SPACE, "lane %d", 7), LEAT_E_NO_SPACE, "lane 7: cannot write ppp");
    T_CHECK(strlen(t_err.message) < sizeof t_err.message);
}

static void test_hint(void)
{
    T_STATUS(status_set_hint(&t_err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, "a", "%s exists", "a"), LEAT_E_EXISTS);
    T_CHECK(t_err.hint == LEAT_HINT_REPLACE && t_err.offset == LEAT_NONE && t_err.os_error == 0);
    status_before(&t_err, LEAT_E_EXISTS, "lane %d", 7);
    status_after(&t_err, "; %s", "really");
    T_CHECK(t_err.hint == LEAT_HINT_REPLACE && strcmp(t_err.message, "lane 7: a exists; really") == 0);
    status_set_os(&t_err, ENOENT, NULL, "x");
    T_CHECK(t_err.hint == LEAT_HINT_NONE);
}

static void test_nobody_asks(void)
{
    T_STATUS(status_set_hint(NULL, LEAT_E_EXISTS, LEAT_HINT_REPLACE, NULL, "x"), LEAT_E_EXISTS);
    T_STATUS(status_set(NULL, LEAT_E_STATE, "x"), LEAT_E_STATE);
    T_STATUS(status_set_at(NULL, LEAT_E_HEADER, "f", 3, "x"), LEAT_E_HEADER);
    T_STATUS(status_set_os(NULL, ENOENT, NULL, "x"), LEAT_E_NO_FILE);
    T_STATUS(status_before(NULL, LEAT_E_IO, "x"), LEAT_E_IO);
    T_STATUS(status_no_memory(NULL, 5), LEAT_E_NO_MEMORY);
}

static void test_names(void)
{
    T_STR(leat_status_name(LEAT_OK), "ok");
    T_STR(leat_status_name((enum leat_status)9999), "unknown");
}

int main(void)
{
    test_errnos();
    test_long_paths();
    test_hint();
    test_nobody_asks();
    test_names();
    return t_end();
}
