/*
 * by_stage.c: gives all datasets their names in the steps in which one dataset gets its own (FORMAT.md, chapter 7),
 * each step for all of them: older indexes are removed, tokens are renamed, indexes are renamed, and the folder is
 * synced after each step. If the process is killed in between, each dataset is either whole or does not open: its
 * token file has no index. The index that still lies in the folder without its tokens shows that this token file is
 * a leftover.
 */
#include "by_stage.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"

/* The folder is locked by a writer of this name. No value's dataset has it, since no name begins like this. */
#define LOCK_NAME "%lock"

char *by_stage_path(const struct by_stage *s, const char *name, const char *suffix)
{
    return path_append(s->folder, strlen(s->folder), "/", name, suffix, NULL);
}

static char *by_stage_final(const struct by_stage *s, const char *name, const char *suffix)
{
    return path_append(s->output, (size_t)s->base, ".", name, suffix, NULL);
}

/* ---- The folder ---- */

/* Calls `act` with the name of each file in the folder, except the lock's. */
static enum leat_status each_file(const struct by_stage *s,
                                  enum leat_status (*act)(const struct by_stage *s, const char *file,
                                                          struct leat_error *err),
                                  struct leat_error *err)
{
    DIR *d = opendir(s->folder);
    enum leat_status status = LEAT_OK;
    const char *name;

    if (!d)
        return status_set_os(err, errno, s->folder, "cannot read the folder %s", s->folder);
    while (folder_next(d, s->folder, &name, &status, err))
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && strncmp(name, LOCK_NAME, strlen(LOCK_NAME)) != 0)
            status = act(s, name, err);
    closedir(d);
    return status;
}

/* Returns true if both files of the dataset are in the folder. */
static bool is_whole(const struct by_stage *s, const char *name)
{
    const struct leat_open_options how = { .size = sizeof how, .access = LEAT_ACCESS_READ };
    char *path = by_stage_path(s, name, "");
    struct leat_dataset *d = NULL;
    bool whole = path && leat_dataset_open(&d, path, &how, NULL) == LEAT_OK;

    leat_dataset_close(d);
    free(path);
    return whole;
}

/* Removes the tokens of an index that lies in the folder without them: they have their final name already, but no
 * index there. Tokens that do not belong to the index stay. */
static enum leat_status remove_leftover(const struct by_stage *s, const char *name, struct leat_error *err)
{
    char *staged = by_stage_path(s, name, ".tokens"), *tokens = by_stage_final(s, name, ".tokens");
    char *index = by_stage_final(s, name, ".leat");
    struct file_identity from, to, beside;
    enum leat_status status =
        staged && tokens && index ? file_identify(staged, &from, err) : status_no_memory(err, strlen(name));

    if (status == LEAT_OK)
        status = file_identify(tokens, &to, err);
    if (status == LEAT_OK)
        status = file_identify(index, &beside, err);
    if (status == LEAT_OK && to.exists && !beside.exists && (!from.exists || file_same(from, to))) {
        if (!from.exists)
            status = file_rename(tokens, staged, false, err);
        if (status == LEAT_OK && is_whole(s, name))
            status = from.exists ? file_remove(tokens, err) : LEAT_OK;
        else if (status == LEAT_OK && !from.exists)
            status = file_rename(staged, tokens, false, err);
    }
    free(staged);
    free(tokens);
    free(index);
    return status;
}

/* Removes an index, with the tokens that it left. Indexes are removed before other files, since they say what was
 * left. */
static enum leat_status remove_index(const struct by_stage *s, const char *file, struct leat_error *err)
{
    size_t length = strlen(file), name_bytes = file_dataset_length(file, length);
    char *name = strndup(file, name_bytes), *path = by_stage_path(s, file, "");
    enum leat_status status = name && path ? LEAT_OK : status_no_memory(err, length);

    if (status == LEAT_OK && file_ends_with(file, length, ".leat") && !file_ends_with(name, name_bytes, ".partial")) {
        status = remove_leftover(s, name, err);
        if (status == LEAT_OK)
            status = file_remove(path, err);
    }
    free(name);
    free(path);
    return status;
}

static enum leat_status remove_file(const struct by_stage *s, const char *file, struct leat_error *err)
{
    char *path = by_stage_path(s, file, "");
    enum leat_status status = path ? file_remove(path, err) : status_no_memory(err, strlen(file));

    free(path);
    return status;
}

static enum leat_status take_lock(struct by_stage *s, struct leat_error *err)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    char *name = by_stage_path(s, LOCK_NAME, "");
    enum leat_status status;

    options.vocabulary = 1;
    options.force = 1;
    status = name ? leat_writer_open(&s->lock, name, &options, err) : status_no_memory(err, strlen(s->folder));
    free(name);
    return status;
}

enum leat_status by_stage_open(struct by_stage *s, const char *output, struct leat_error *err)
{
    enum leat_status status;

    *s = (struct by_stage) { .output = output, .base = (int)file_dataset_length(output, strlen(output)) };
    s->folder = by_stage_final(s, "partial.by", "");
    if (!s->folder)
        return status_no_memory(err, strlen(output));
    status = own_file_make_folder(s->folder, &s->made, err);
    if (status == LEAT_OK)
        status = take_lock(s, err);
    if (status == LEAT_OK)
        status = each_file(s, remove_index, err);
    return status == LEAT_OK ? each_file(s, remove_file, err) : status;
}

void by_stage_close(struct by_stage *s)
{
    if (s->lock) { /* without the lock, another process uses the folder */
        each_file(s, remove_index, NULL);
        each_file(s, remove_file, NULL);
        leat_writer_abandon(s->lock);
    }
    if (s->lock || s->made) /* this fails if the folder still holds another process's files, as it should */
        rmdir(s->folder);
    for (size_t i = 0; i < s->count; i++) {
        free(s->items[i].name);
        free(s->items[i].final);
    }
    free(s->items);
    free(s->folder);
    *s = (struct by_stage) { 0 };
}

void by_stage_clear(const char *output)
{
    struct by_stage s = { .output = output, .base = (int)file_dataset_length(output, strlen(output)) };
    char *folder = by_stage_final(&s, "partial.by", "");

    if (folder && access(folder, F_OK) == 0) {
        by_stage_open(&s, output, NULL);
        by_stage_close(&s);
    }
    free(folder);
}

/* ---- Datasets ---- */

static enum leat_status check_free(const struct by_stage *s, const char *name, const char *suffix, bool replace,
                                   struct leat_error *err)
{
    char *path = by_stage_final(s, name, suffix);
    struct file_identity there;
    enum leat_status status = path ? own_file_check_name(path, err) : status_no_memory(err, strlen(name));

    if (status == LEAT_OK)
        status = file_identify(path, &there, err);
    if (status == LEAT_OK && there.exists && !replace)
        status = status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, path,
                                 "%s already exists; choose another name or replace it", path);
    free(path);
    return status;
}

enum leat_status by_stage_add(struct by_stage *s, const char *name, bool replace, struct leat_error *err)
{
    struct by_staged item = { .name = strdup(name), .final = by_stage_final(s, name, "") };
    enum leat_status status =
        item.name && item.final ? GROW(s->items, s->count + 1, s->room, err) : status_no_memory(err, strlen(name));

    if (status != LEAT_OK) {
        free(item.name);
        free(item.final);
        return status;
    }
    s->items[s->count++] = item;
    status = check_free(s, name, ".leat", replace, err);
    return status == LEAT_OK ? check_free(s, name, ".tokens", replace, err) : status;
}

/* ---- Names ---- */

/* Renames a file, and frees both paths (NULL: no memory). */
static enum leat_status rename_and_free(char *from, char *to, bool replace, struct leat_error *err)
{
    enum leat_status status = from && to ? file_rename(from, to, replace, err) : status_no_memory(err, 1);

    free(from);
    free(to);
    return status;
}

static enum leat_status name_file(const struct by_stage *s, const char *name, const char *suffix, bool replace,
                                  bool *named, struct leat_error *err)
{
    enum leat_status status =
        rename_and_free(by_stage_path(s, name, suffix), by_stage_final(s, name, suffix), replace, err);

    *named = status == LEAT_OK;
    return status;
}

static enum leat_status remove_final(const struct by_stage *s, const char *name, const char *suffix,
                                     struct leat_error *err)
{
    char *path = by_stage_final(s, name, suffix);
    enum leat_status status = path ? file_remove(path, err) : status_no_memory(err, strlen(name));

    free(path);
    return status;
}

enum leat_status by_stage_take_back(const struct by_stage *s, const char *name, struct leat_error *err)
{
    return rename_and_free(by_stage_final(s, name, ".leat"), by_stage_path(s, name, ".leat"), false, err);
}

static enum leat_status name_all(struct by_stage *s, bool replace, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    for (size_t i = 0; status == LEAT_OK && replace && i < s->count; i++)
        status = remove_final(s, s->items[i].name, ".leat", err);
    if (status == LEAT_OK && replace)
        status = file_sync_folder(s->output, err);
    for (size_t i = 0; status == LEAT_OK && i < s->count; i++)
        status = name_file(s, s->items[i].name, ".tokens", replace, &s->items[i].tokens_named, err);
    if (status == LEAT_OK)
        status = file_sync_folder(s->output, err);
    for (size_t i = 0; status == LEAT_OK && i < s->count; i++)
        status = name_file(s, s->items[i].name, ".leat", replace, &s->items[i].index_named, err);
    return status == LEAT_OK ? file_sync_folder(s->output, err) : status;
}

enum leat_status by_stage_commit(struct by_stage *s, bool replace, struct leat_error *err)
{
    enum leat_status status = name_all(s, replace, err);

    for (size_t i = 0; status != LEAT_OK && i < s->count; i++)
        if (s->items[i].index_named)
            remove_final(s, s->items[i].name, ".leat", NULL);
    for (size_t i = 0; status != LEAT_OK && i < s->count; i++)
        if (s->items[i].tokens_named)
            remove_final(s, s->items[i].name, ".tokens", NULL);
    return status;
}
