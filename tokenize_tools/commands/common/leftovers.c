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

struct names {
    char **items;
    size_t count;
};

static const char *value_of(const struct leat_metadata *m, const char *key)
{
    for (uint64_t i = 0; i < m->count; i++)
        if (strcmp(m->pairs[i].key, key) == 0)
            return m->pairs[i].value;
    return NULL;
}

/* OUT.SPLIT, OUT.VALUE or OUT.VALUE.SPLIT, by what the dataset says of itself; `name` comes after "OUT.". There are no
 * periods in what stands for a value. leat_merge() hands both entries down, so a split of what was divided off names a
 * value as well, and a merged dataset that was given such a name looks the same: nothing tells it apart. */
static bool may_be(const struct leat_metadata *m, const char *name)
{
    const char *split = value_of(m, "leat.split");
    bool value = value_of(m, "leat.by.value") != NULL;
    size_t length = strlen(name), end = split ? strlen(split) : 0;

    if (!split)
        return value && !strchr(name, '.');
    if (length < end || strcmp(name + length - end, split) != 0)
        return false;
    if (length == end)
        return true;
    return value && length >= end + 2 && name[length - end - 1] == '.' && !memchr(name, '.', length - end - 1);
}

static bool may_be_from_a_run(const struct look *l, const char *path)
{
    struct leat_metadata *m = NULL;
    struct leat_dataset *d;
    bool is = false;

    if (leat_dataset_open(&d, path, NULL, NULL) != LEAT_OK)
        return false;
    if (leat_dataset_metadata(d, 0, &m, NULL) == LEAT_OK) {
        is = may_be(m, path + l->length + 1);
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

/* The path of the dataset whose index this file of the folder is, if the dataset may be a leftover; else NULL. The
 * caller frees it. */
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
    if (!is_written(l, path) && may_be_from_a_run(l, path))
        return path;
    free(path);
    return NULL;
}

static void warn(const char *output, int length, const struct names *n)
{
    char names[1400] = "", more[64] = "";
    bool one = n->count == 1;
    size_t used = 0;

    for (size_t i = 0; i < n->count && i < MAX_NAMED; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.250s", i > 0 ? ", " : "", n->items[i]);
    if (n->count > MAX_NAMED)
        snprintf(more, sizeof more, " and %s more", units_count(n->count - MAX_NAMED).text);
    cli_error("warning: %s%s %s: this run does not write %s. If an earlier run of %.*s made %s, documents of %s may be "
              "in the new datasets, too; then remove %s, unless you need %s",
              names, more, one ? "stays" : "stay", one ? "it" : "them", length, output, one ? "it" : "them",
              one ? "it" : "theirs", one ? "it" : "them", one ? "it" : "them");
}

/* Without memory, it is only not named. */
static void add(struct names *n, char *path)
{
    char **items = path ? reallocarray(n->items, n->count + 1, sizeof *items) : NULL;

    if (items) {
        n->items = items;
        items[n->count++] = path;
    } else {
        free(path);
    }
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

void leftovers_warn(const char *output, const struct arrange_splits *splits, const struct by_outputs *outputs, bool by)
{
    struct look l = { output, file_dataset_length(output, strlen(output)), splits, outputs, by };
    char *folder = file_folder(output);
    DIR *d = folder ? opendir(folder) : NULL;
    struct names n = { 0 };
    struct dirent *entry;

    while (d && (entry = readdir(d)) != NULL)
        add(&n, take(&l, entry->d_name));
    if (d)
        closedir(d);
    free(folder);
    if (n.count > 0) {
        qsort(n.items, n.count, sizeof *n.items, by_name);
        warn(output, (int)l.length, &n);
    }
    for (size_t i = 0; i < n.count; i++)
        free(n.items[i]);
    free(n.items);
}
