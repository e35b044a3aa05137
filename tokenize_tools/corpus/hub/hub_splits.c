/* hub_splits.c: finds splits by patterns, those of datasets 5.2 (data_files.py), in its order: the first group with
 * a pattern that matches any name decides for all names. */
#include "hub_splits.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "hub_glob.h"

#define SEPARATOR "[-._ 0-9]"
#define IN_FILES(w)                                                                                                    \
    {                                                                                                                  \
        "**/" w SEPARATOR "*", "**/*" SEPARATOR w SEPARATOR "*"                                                        \
    }
#define IN_FOLDERS(w)                                                                                                  \
    {                                                                                                                  \
        "**/" w "/**", "**/" w SEPARATOR "*/**", "**/*" SEPARATOR w "/**", "**/*" SEPARATOR w SEPARATOR "*/**"         \
    }
#define WORDS(PATTERNS)                                                                                                \
    {                                                                                                                  \
        { "train", "train", PATTERNS("train") }, { "train", "training", PATTERNS("training") },                        \
            { "validation", "validation", PATTERNS("validation") }, { "validation", "valid", PATTERNS("valid") },      \
            { "validation", "dev", PATTERNS("dev") }, { "validation", "val", PATTERNS("val") },                        \
            { "test", "test", PATTERNS("test") }, { "test", "testing", PATTERNS("testing") },                          \
            { "test", "eval", PATTERNS("eval") }, { "test", "evaluation", PATTERNS("evaluation") },                    \
    }

#define MAX_ROWS     10u
#define MAX_PATTERNS 4u

/* A name without the word matches none of the patterns, and is soon done with. */
struct row {
    const char *split, *word, *patterns[MAX_PATTERNS];
};

static const struct row groups[][MAX_ROWS] = {
    { { "logs", ".eval", { "**/*.eval" } } },
    { { "test", "task.toml", { "**/task.toml" } }, { "test", "instruction.md", { "**/instruction.md" } } },
    WORDS(IN_FOLDERS),
    WORDS(IN_FILES),
};

/* ---- Lists ---- */

static enum leat_status add_split(struct hub_splits *splits, const char *name, size_t bytes, struct leat_error *err)
{
    enum leat_status s = GROW(splits->items, splits->count + 1, splits->room, err);
    char *copy = s == LEAT_OK && name ? strndup(name, bytes) : NULL;

    if (s == LEAT_OK && name && !copy)
        s = status_no_memory(err, bytes);
    if (s == LEAT_OK)
        splits->items[splits->count++] = (struct hub_split) { .name = copy };
    return s;
}

static bool is_called(const struct hub_split *split, const char *name, size_t bytes)
{
    if (!name || !split->name)
        return name == split->name;
    return strncmp(split->name, name, bytes) == 0 && !split->name[bytes];
}

enum leat_status hub_splits_add(struct hub_splits *splits, const char *name, size_t bytes, size_t file,
                                struct leat_error *err)
{
    struct hub_split *split;
    enum leat_status s;
    size_t i = 0;

    while (i < splits->count && !is_called(&splits->items[i], name, bytes))
        i++;
    s = i == splits->count ? add_split(splits, name, bytes, err) : LEAT_OK;
    if (s != LEAT_OK)
        return s;
    split = &splits->items[i];
    if (split->count > 0 && split->files[split->count - 1] == file)
        return LEAT_OK;
    s = GROW(split->files, split->count + 1, split->room, err);
    if (s == LEAT_OK)
        split->files[split->count++] = file;
    return s;
}

void hub_splits_free(struct hub_splits *splits)
{
    for (size_t i = 0; i < splits->count; i++) {
        free(splits->items[i].name);
        free(splits->items[i].files);
    }
    free(splits->items);
    *splits = (struct hub_splits) { 0 };
}

/* ---- Names ---- */

struct names {
    const char *const *items;
    size_t count;
    const char *folder; /* folder below which names count, relative to it; "": all names */
    const struct input_stop *stop;
};

static enum leat_status check_stop(const struct names *n, struct leat_error *err)
{
    return n->stop && n->stop->asked && n->stop->asked(n->stop->context)
               ? status_set(err, LEAT_E_STOPPED, "looking for splits was stopped")
               : LEAT_OK;
}

/* Returns name i relative to the folder, or NULL. */
static const char *name_at(const struct names *n, size_t i)
{
    const char *name = n->items[i];
    size_t bytes = strlen(n->folder);

    while (bytes > 0 && n->folder[bytes - 1] == '/')
        bytes--;
    if (bytes == 0)
        return name;
    return strncmp(name, n->folder, bytes) == 0 && name[bytes] == '/' ? name + bytes + 1 : NULL;
}

/* Returns the split in data/SPLIT-00000-of-00001.parquet, and sets *bytes to its length. Returns NULL for other
 * names. */
static const char *sharded(const char *name, size_t *bytes)
{
    static const char shards[] = "-00000-of-00000";
    const char *begin, *end = NULL;

    if (!hub_glob("data/*-[0-9][0-9][0-9][0-9][0-9]-of-[0-9][0-9][0-9][0-9][0-9]*.*", name))
        return NULL;
    begin = name + strlen("data/");
    for (const char *at = begin; *at; at++) { /* the last place counts */
        size_t i = 0;

        while (shards[i] && (shards[i] == '0' ? at[i] >= '0' && at[i] <= '9' : at[i] == shards[i]))
            i++;
        if (!shards[i] && at > begin)
            end = at;
    }
    *bytes = end ? (size_t)(end - begin) : 0;
    return end ? begin : NULL;
}

static int by_name(const void *a, const void *b)
{
    static const char *const first[] = { "train", "validation", "test" };
    const char *x = ((const struct hub_split *)a)->name, *y = ((const struct hub_split *)b)->name;

    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (strcmp(x, first[i]) == 0 || strcmp(y, first[i]) == 0)
            return (strcmp(y, first[i]) == 0) - (strcmp(x, first[i]) == 0);
    return strcmp(x, y);
}

static enum leat_status find_sharded(struct hub_splits *splits, const struct names *n, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < n->count; i++) {
        const char *name = name_at(n, i), *split;
        size_t bytes;

        s = check_stop(n, err);
        split = s == LEAT_OK && name ? sharded(name, &bytes) : NULL;
        if (split)
            s = hub_splits_add(splits, split, bytes, i, err);
    }
    if (splits->count > 1)
        qsort(splits->items, splits->count, sizeof *splits->items, by_name);
    return s;
}

static bool fits(const struct row *row, const char *name)
{
    if (!strstr(name, row->word))
        return false;
    for (size_t i = 0; i < MAX_PATTERNS && row->patterns[i]; i++)
        if (hub_glob(row->patterns[i], name))
            return true;
    return false;
}

static enum leat_status find_group(struct hub_splits *splits, const struct row *rows, const struct names *n,
                                   struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < n->count; i++) {
        const char *name = name_at(n, i);

        s = check_stop(n, err);
        for (size_t k = 0; s == LEAT_OK && name && k < MAX_ROWS && rows[k].split; k++)
            if (fits(&rows[k], name))
                s = hub_splits_add(splits, rows[k].split, strlen(rows[k].split), i, err);
    }
    if (splits->count > 1)
        qsort(splits->items, splits->count, sizeof *splits->items, by_name);
    return s;
}

static enum leat_status find_by_names(struct hub_splits *splits, const struct names *n, struct leat_error *err)
{
    enum leat_status s = find_sharded(splits, n, err);

    for (size_t i = 0; s == LEAT_OK && splits->count == 0 && i < sizeof groups / sizeof *groups; i++)
        s = find_group(splits, groups[i], n, err);
    return s;
}

enum leat_status hub_splits_by_names(struct hub_splits *splits, const char *const *names, size_t count,
                                     const struct input_stop *stop, struct leat_error *err)
{
    struct names n = { names, count, "", stop };
    enum leat_status s;

    *splits = (struct hub_splits) { 0 };
    s = find_by_names(splits, &n, err);
    if (s != LEAT_OK)
        hub_splits_free(splits);
    return s;
}

/* ---- README.md ---- */

/* Writes a path in a folder in its plain form: ./data and data/ become data. */
static const char *plain(const char *path)
{
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return strcmp(path, ".") == 0 ? "" : path;
}

static enum leat_status find_listed(struct hub_splits *splits, const struct hub_card_split *listed,
                                    const struct names *n, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < n->count; i++) {
        const char *name = name_at(n, i);
        bool found = false;

        for (size_t k = 0; s == LEAT_OK && name && !found && k < listed->count; k++) {
            found = hub_glob(plain(listed->patterns[k]), name);
            s = check_stop(n, err);
        }
        if (s == LEAT_OK && found)
            s = hub_splits_add(splits, listed->name, strlen(listed->name), i, err);
    }
    return s;
}

/* Finds the splits of one configuration. Files whose names say nothing are train. */
static enum leat_status find_config(struct hub_splits *splits, const struct hub_card_config *c, const struct names *all,
                                    struct leat_error *err)
{
    struct names n = *all;
    enum leat_status s = LEAT_OK;

    n.folder = plain(c->data_dir ? c->data_dir : "");
    for (size_t i = 0; s == LEAT_OK && i < c->count; i++)
        s = find_listed(splits, &c->splits[i], &n, err);
    if (s == LEAT_OK && c->by_names)
        s = find_by_names(splits, &n, err);
    if (s != LEAT_OK || !c->by_names || splits->count > 0)
        return s;
    for (size_t i = 0; s == LEAT_OK && i < n.count; i++)
        if (name_at(&n, i))
            s = hub_splits_add(splits, "train", 5, i, err);
    return s;
}

/* Returns how many names have a split. */
static enum leat_status count_files(const struct hub_splits *splits, size_t names, size_t *count,
                                    struct leat_error *err)
{
    bool *in = calloc(names > 0 ? names : 1, sizeof *in);

    *count = 0;
    if (!in)
        return status_no_memory(err, names);
    for (size_t i = 0; i < splits->count; i++)
        for (size_t k = 0; k < splits->items[i].count; k++)
            in[splits->items[i].files[k]] = true;
    for (size_t i = 0; i < names; i++)
        *count += in[i];
    free(in);
    return LEAT_OK;
}

static enum leat_status find_configs(struct hub_splits *splits, const struct names *n, const struct hub_card *card,
                                     size_t *counts, size_t *found, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < card->count; i++) {
        struct hub_splits of = { 0 };

        s = find_config(&of, &card->configs[i], n, err);
        if (s == LEAT_OK)
            s = count_files(&of, n->count, &counts[i], err);
        if (s == LEAT_OK && counts[i] > 0 && ++*found == 1)
            *splits = of;
        else
            hub_splits_free(&of);
    }
    return s;
}

enum leat_status hub_splits_find(struct hub_splits *splits, const char *const *names, size_t count,
                                 const struct hub_card *card, size_t **configs, const struct input_stop *stop,
                                 struct leat_error *err)
{
    struct names n = { names, count, "", stop };
    size_t *counts = calloc(card->count > 0 ? card->count : 1, sizeof *counts), found = 0;
    enum leat_status s = counts ? LEAT_OK : status_no_memory(err, card->count * sizeof *counts);

    *splits = (struct hub_splits) { 0 };
    *configs = NULL;
    if (s == LEAT_OK)
        s = find_configs(splits, &n, card, counts, &found, err);
    if (s == LEAT_OK && found == 0)
        s = find_by_names(splits, &n, err);
    if (s != LEAT_OK || found > 1)
        hub_splits_free(splits);
    if (s == LEAT_OK && found > 1)
        *configs = counts;
    else
        free(counts);
    return s;
}
