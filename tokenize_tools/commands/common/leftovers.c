/* leftovers.c: see leftovers.h. */
#include "leftovers.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/units.h"

#define MAX_NAMED 5u /* in a sentence */

struct look {
    const char *output;
    size_t length; /* of OUT in it */
    const struct arrange_splits *splits;
    const struct by_outputs *outputs;
    bool by;
};

static const char *value_of(const struct leat_metadata *m, const char *key)
{
    for (uint64_t i = 0; i < m->count; i++)
        if (strcmp(m->pairs[i].key, key) == 0)
            return m->pairs[i].value;
    return NULL;
}

/* OUT.SPLIT, OUT.VALUE or OUT.VALUE.SPLIT, by what the dataset says of itself; `name` comes after "OUT.". There are no
 * periods in what stands for a value. */
static bool says_so(const struct leat_metadata *m, const char *name)
{
    const char *split = value_of(m, "leat.split"), *value = value_of(m, "leat.by.value");
    size_t length = strlen(name), end = split ? strlen(split) : 0;

    if (split && (length < end || strcmp(name + length - end, split) != 0))
        return false;
    if (!value)
        return split && length == end;
    if (split && (length < end + 2 || name[length - end - 1] != '.'))
        return false;
    return !memchr(name, '.', split ? length - end - 1 : length);
}

static bool is_from_a_run(const struct look *l, const char *path)
{
    struct leat_metadata *m = NULL;
    struct leat_dataset *d;
    bool is = false;

    if (leat_dataset_open(&d, path, NULL, NULL) != LEAT_OK)
        return false;
    if (leat_dataset_metadata(d, 0, &m, NULL) == LEAT_OK) {
        is = says_so(m, path + l->length + 1);
        leat_metadata_free(m);
    }
    leat_dataset_close(d);
    return is;
}

static bool is_written(const struct look *l, const char *path)
{
    for (size_t i = 0; !l->by && i < l->splits->count; i++)
        if (strcmp(path + l->length + 1, l->splits->items[i].name) == 0)
            return true;
    return l->by && by_outputs_has(l->outputs, path);
}

/* A file of the folder, as the dataset that it is the index of: the path, which the caller frees; NULL: it is none. */
static char *take(const struct look *l, const char *file)
{
    size_t folder = l->length, bytes = strlen(file);
    char *path = NULL;

    while (folder > 0 && l->output[folder - 1] != '/')
        folder--;
    if (strncmp(file, l->output + folder, l->length - folder) != 0 || file[l->length - folder] != '.' ||
        !file_ends_with(file, bytes, ".leat") || bytes - 5 <= l->length - folder + 1)
        return NULL;
    if (asprintf(&path, "%.*s%.*s", (int)folder, l->output, (int)bytes - 5, file) < 0)
        return NULL;
    if (!is_written(l, path) && is_from_a_run(l, path))
        return path;
    free(path);
    return NULL;
}

static void warn(const char *output, int length, const char *names, size_t count)
{
    char more[64] = "";

    if (count > MAX_NAMED)
        snprintf(more, sizeof more, " and %s more", units_count(count - MAX_NAMED).text);
    cli_error("warning: %s%s %s of an earlier run of %.*s, and %s: this run does not write %s, and documents of %s may "
              "be in its datasets, too; remove %s if nothing needs %s",
              names, more, count == 1 ? "is" : "are", length, output, count == 1 ? "stays" : "stay",
              count == 1 ? "it" : "them", count == 1 ? "it" : "them", count == 1 ? "it" : "them",
              count == 1 ? "it" : "them");
}

void leftovers_warn(const char *output, const struct arrange_splits *splits, const struct by_outputs *outputs, bool by)
{
    struct look l = { output, file_dataset_length(output, strlen(output)), splits, outputs, by };
    char *folder = file_folder(output), names[1400] = "";
    DIR *d = folder ? opendir(folder) : NULL;
    size_t used = 0, count = 0;
    struct dirent *entry;

    while (d && (entry = readdir(d)) != NULL) {
        char *path = take(&l, entry->d_name);

        if (path && ++count <= MAX_NAMED && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.250s", count > 1 ? ", " : "", path);
        free(path);
    }
    if (d)
        closedir(d);
    free(folder);
    if (count > 0)
        warn(output, (int)l.length, names, count);
}
