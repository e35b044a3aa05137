/*
 * test_own_publish.c: own_file_publish() gives a name to a whole file, and never to a second one: what is there stays,
 * what another process writes is left alone, what a killed one left is taken over. own_file_make_folder() takes a
 * folder that is there, but not one of another user, who could change what is written there.
 */
#include <sys/file.h>

#include "base/own_file.h"
#include "t.h"

static char path[600], partial[640];

static void check_text(const char *name, const char *text)
{
    char there[64] = "";
    FILE *f = fopen(name, "r");

    T_CHECK(f != NULL);
    T_EQ(fread(there, 1, sizeof there - 1, f), strlen(text));
    fclose(f);
    T_STR(there, text);
}

/* Root can give folders away. */
static void check_folder(const char *folder)
{
    bool made;
    const char *inner = t_text("%s/run", folder);

    T_OK(own_file_make_folder(inner, &made, &t_err));
    T_CHECK(made);
    T_OK(own_file_make_folder(inner, &made, &t_err));
    T_CHECK(!made);
    if (geteuid() != 0)
        return;
    T_EQ(chown(inner, 4321, 0), 0);
    T_REFUSED(own_file_make_folder(inner, &made, &t_err), LEAT_E_PERMISSION,
              "/run belongs to user 4321, who can change it at any time: remove it, or choose another");
    T_EQ(chown(folder, 4321, 0), 0); /* whose folders both are: that is how it came there */
    T_OK(own_file_make_folder(inner, &made, &t_err));
    T_EQ(chown(folder, 0, 0), 0);
}

int main(void)
{
    const char *folder = t_folder();
    struct leat_error err;
    int other;

    check_folder(folder);
    snprintf(path, sizeof path, "%s/plan", folder);
    snprintf(partial, sizeof partial, "%s.partial", path);
    t_write_text(partial, "what a killed process left");
    T_EQ(own_file_publish(path, "first", 5, &err), LEAT_OK);
    check_text(path, "first");
    T_EQ(access(partial, F_OK), -1);
    T_EQ(own_file_publish(path, "second", 6, &err), LEAT_E_EXISTS);
    check_text(path, "first");
    T_EQ(access(partial, F_OK), -1);
    unlink(path);
    t_write_text(partial, "what another one writes");
    other = open(partial, O_RDWR);
    T_EQ(flock(other, LOCK_EX), 0);
    T_EQ(own_file_publish(path, "third", 5, &err), LEAT_E_BUSY);
    check_text(partial, "what another one writes");
    T_EQ(access(path, F_OK), -1);
    close(other);
    return t_end();
}
