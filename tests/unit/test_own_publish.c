/*
 * test_own_publish.c: own_file_publish() gives a name to a whole file, and never to a second one: what is there stays,
 * what another process writes is left alone, what a killed one left is taken over.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/own_file.h"
#include "t.h"

static char path[600], partial[640];

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    T_CHECK(f != NULL);
    fputs(text, f);
    fclose(f);
}

static void check_text(const char *name, const char *text)
{
    char there[64] = "";
    FILE *f = fopen(name, "r");

    T_CHECK(f != NULL);
    T_EQ(fread(there, 1, sizeof there - 1, f), strlen(text));
    fclose(f);
    T_STR(there, text);
}

int main(void)
{
    struct leat_error err;
    int other;

    snprintf(path, sizeof path, "%s/plan", t_folder());
    snprintf(partial, sizeof partial, "%s.partial", path);
    put(partial, "what a killed process left");
    T_EQ(own_file_publish(path, "first", 5, &err), LEAT_OK);
    check_text(path, "first");
    T_EQ(access(partial, F_OK), -1);
    T_EQ(own_file_publish(path, "second", 6, &err), LEAT_E_EXISTS);
    check_text(path, "first");
    T_EQ(access(partial, F_OK), -1);
    unlink(path);
    put(partial, "what another one writes");
    other = open(partial, O_RDWR);
    T_EQ(flock(other, LOCK_EX), 0);
    T_EQ(own_file_publish(path, "third", 5, &err), LEAT_E_BUSY);
    check_text(partial, "what another one writes");
    T_EQ(access(path, F_OK), -1);
    close(other);
    return t_end();
}
