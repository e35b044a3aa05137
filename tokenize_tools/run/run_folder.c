/* run_folder.c: see run_folder.h. */
#include "run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "run_advice.h"

char *run_file(const char *folder, const char *suffix)
{
    return path_join(folder, "leat-run", suffix, NULL);
}

char *run_part_file(const struct leat_run *run, uint32_t part, const char *suffix)
{
    size_t room = (size_t)leat_run_part_name(run, part, NULL, 0) + strlen(suffix) + 1;
    char *name = malloc(room);

    if (name)
        memcpy(name + leat_run_part_name(run, part, name, room), suffix, strlen(suffix) + 1);
    return name;
}

/* All names are as long as the last one: their order as bytes is that of the parts. */
uint64_t leat_run_part_name(const struct leat_run *run, uint32_t part, char *out, uint64_t capacity)
{
    return (uint64_t)snprintf(out, capacity, "%s/part-%0*u", run->folder, snprintf(NULL, 0, "%u", run->plan.parts),
                              part);
}

bool run_exists(const char *folder, const char *suffix)
{
    char *name = run_file(folder, suffix);
    struct stat st;
    bool is = name && stat(name, &st) == 0 && S_ISREG(st.st_mode);

    free(name);
    return is;
}

char *run_make_folder(const char *path, struct leat_error *err)
{
    char *whole;

    if (own_file_check_local(path, err) != LEAT_OK)
        return NULL;
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        status_set_os(err, errno, path, "cannot make the folder %s", path);
        return NULL;
    }
    whole = realpath(path, NULL);
    if (!whole)
        status_set_os(err, errno, path, "cannot find the folder %s", path);
    return whole;
}

enum leat_status run_check_new(const char *path, struct leat_error *err)
{
    DIR *folder = opendir(path);
    enum leat_status s = LEAT_OK;
    const char *name;

    if (!folder)
        return status_set_os(err, errno, path, "cannot read the folder %s", path);
    while (folder_next(folder, path, &name, &s, err))
        if (strncmp(name, "part-", 5) == 0)
            s = run_advise(
                err,
                status_set_in(err, LEAT_E_EXISTS, path,
                              "%s/%s is of another run: choose an empty folder, or remove all files of this one", path,
                              name),
                RUN_PARTS_OTHER);
    closedir(folder);
    /* This comes last, since another process may have planned this run meanwhile, and a part may have begun. If only
     * the plan was lost, the facts that the parts have in common are compared. */
    return s == LEAT_OK || run_exists(path, "") || run_exists(path, ".inputs") ? LEAT_OK : s;
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

static enum leat_status compare_plan(const char *folder, const char *name, const struct buffer *plan,
                                     struct leat_error *err)
{
    struct buffer there = { 0 };
    enum leat_status s = buffer_read(&there, name, BUFFER_TEXT_MAX, err);

    if (s == LEAT_OK && (there.size != plan->size || memcmp(there.bytes, plan->bytes, plan->size) != 0))
        s = run_advise(
            err,
            status_set_in(err, LEAT_E_EXISTS, folder,
                          "%s is the folder of another run (%s says which): choose another folder, or give the "
                          "same arguments in the same folder",
                          folder, name),
            RUN_PLAN_OTHER);
    buffer_free(&there);
    return s;
}

enum leat_status run_publish(const char *folder, const struct run_plan *plan, struct leat_error *err)
{
    char *name = run_file(folder, "");
    struct buffer text = { 0 };
    enum leat_status s = name ? run_plan_make(&text, plan, err) : status_no_memory(err, strlen(folder));

    if (s == LEAT_OK && !run_exists(folder, ""))
        s = own_file_publish(name, text.bytes, text.size, err);
    else if (s == LEAT_OK)
        s = LEAT_E_EXISTS;
    if (s == LEAT_E_EXISTS) /* another process may have written it a moment ago */
        s = compare_plan(folder, name, &text, err);
    free(name);
    buffer_free(&text);
    return s;
}

enum leat_status run_publish_split(const struct leat_run *run, const char *split, struct leat_error *err)
{
    char *path = path_join(run->folder, split, NULL);
    bool made;
    enum leat_status s = path ? own_file_make_folder(path, &made, err) : status_no_memory(err, strlen(split));

    if (s == LEAT_OK)
        s = run_publish(path, &run->plan, err);
    free(path);
    return s;
}
