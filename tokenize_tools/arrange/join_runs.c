/* join_runs.c: see join_runs.h. */
#include "join_runs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"

char *join_name(const char *name, size_t length, const char *suffix, const char *more)
{
    size_t room = length + strlen(suffix) + strlen(more) + 1;
    char *all = malloc(room);

    if (all)
        snprintf(all, room, "%.*s%s%s", (int)length, name, suffix, more);
    return all;
}

/* Compares a mark that is there with what this joining would write. */
static enum leat_status check_mark(const char *mark, const char *text, struct leat_error *err)
{
    char there[PATH_MAX + 2] = "";
    uint64_t size;
    int fd = -1;
    enum leat_status s = own_file_open(&fd, &size, mark, OWN_FILE_READ, err);

    if (s == LEAT_OK && size < sizeof there)
        s = file_read_at(fd, 0, there, size, mark, err);
    file_close(&fd);
    if (s == LEAT_OK && strcmp(there, text) != 0)
        s = status_set(err, LEAT_E_EXISTS, "%s says that the run is being joined into %.*s: end that first", mark,
                       (int)strcspn(there, "\n"), there);
    return s;
}

enum leat_status join_runs_mark(char *const *runs, size_t count, const char *plan, struct leat_error *err)
{
    char *whole = realpath(plan, NULL), *text;
    enum leat_status s = whole ? LEAT_OK : status_set_os(err, errno, "cannot find %s", plan);

    text = whole ? join_name(whole, strlen(whole) - strlen(".joining"), "\n", "") : NULL;
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        char *run = join_name(runs[i], strlen(runs[i]), JOIN_RUN, "");
        char *mark = join_name(runs[i], strlen(runs[i]), JOIN_RUN, ".joining");

        if (!text || !run || !mark)
            s = status_no_memory(err, strlen(whole));
        else if (access(run, F_OK) == 0) /* else it is removed already */
            s = own_file_publish(mark, text, strlen(text), err);
        if (s == LEAT_E_EXISTS)
            s = check_mark(mark, text, err);
        free(run);
        free(mark);
    }
    free(whole);
    free(text);
    return s;
}

enum leat_status join_runs_forget(char *const *runs, size_t count, struct leat_error *err)
{
    static const char *const suffixes[] = { "", ".inputs", ".joining", ".joining.partial" };
    size_t each = sizeof suffixes / sizeof *suffixes;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < count * each; i++) {
        const char *folder = runs[i / each];
        char *file = join_name(folder, strlen(folder), JOIN_RUN, suffixes[i % each]);

        s = file ? file_remove(file, err) : status_no_memory(err, strlen(folder));
        if (s == LEAT_OK)
            s = file_sync_folder(file, err);
        free(file);
    }
    return s;
}
