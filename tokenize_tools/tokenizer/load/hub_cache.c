/* hub_cache.c: see hub_cache.h. */
#include "hub_cache.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/status.h"
#include "whole_file.h"

#define ROOM 4096

/* The hub allows letters, digits, '-', '_' and '.' in names. */
static bool is_name(const char *text, size_t length)
{
    if (length == 0 || length > 96 || text[0] == '.' || text[0] == '-')
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
              c == '.'))
            return false;
    }
    return true;
}

/* A revision is a branch, a tag, a hash, or a name like "refs/pr/7" with '/' in it. */
static bool is_revision(const char *text)
{
    const char *slash;

    for (; (slash = strchr(text, '/')) != NULL; text = slash + 1)
        if (!is_name(text, (size_t)(slash - text)))
            return false;
    return is_name(text, strlen(text));
}

bool hub_cache_is_id(const char *id)
{
    const char *at = strchr(id, '@'), *slash = strchr(id, '/');
    size_t length = at ? (size_t)(at - id) : strlen(id);

    if (at && !is_revision(at + 1))
        return false;
    if (!slash || slash > id + length)
        return is_name(id, length);
    return is_name(id, (size_t)(slash - id)) && is_name(slash + 1, length - (size_t)(slash + 1 - id));
}

/* Reads the environment, which says where the cache is. No other part of the library reads it. */
static const char *set(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] ? value : NULL;
}

/* Returns false if it does not fit. As in the hub's own code, a leading "~/" of the variable stands for the home
 * folder. */
static bool cache_folder(char *out, size_t room)
{
    const char *home = set("HOME"), *value, *tail = "";
    int n;

    if ((value = set("HF_HUB_CACHE")) != NULL || (value = set("HUGGINGFACE_HUB_CACHE")) != NULL)
        tail = "";
    else if ((value = set("HF_HOME")) != NULL)
        tail = "/hub";
    else if ((value = set("XDG_CACHE_HOME")) != NULL)
        tail = "/huggingface/hub";
    else {
        value = "~/.cache";
        tail = "/huggingface/hub";
    }
    if (value[0] == '~' && (value[1] == '/' || value[1] == '\0'))
        n = snprintf(out, room, "%s%s%s", home ? home : "", value + 1, tail);
    else
        n = snprintf(out, room, "%s%s", value, tail);
    return n >= 0 && (size_t)n < room;
}

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The commit that refs/REVISION names. False: no such file, or no name in it. */
static bool read_ref(char *commit, size_t room, const char *model, const char *revision)
{
    char path[ROOM];
    uint8_t *bytes;
    uint64_t size;
    bool good;

    if (snprintf(path, sizeof path, "%s/refs/%s", model, revision) >= (int)sizeof path ||
        whole_file_read(&bytes, &size, path, NULL) != LEAT_OK)
        return false;
    while (size > 0 && (bytes[size - 1] == '\n' || bytes[size - 1] == '\r' || bytes[size - 1] == ' '))
        size--;
    good = size < room && is_name((const char *)bytes, size);
    if (good)
        snprintf(commit, room, "%.*s", (int)size, (const char *)bytes);
    free(bytes);
    return good;
}

/* The only folder under snapshots/: a cache that was copied without refs. */
static bool only_snapshot(char *commit, size_t room, const char *model)
{
    char path[ROOM];
    struct dirent *entry;
    unsigned found = 0;
    DIR *d;

    if (snprintf(path, sizeof path, "%s/snapshots", model) >= (int)sizeof path || (d = opendir(path)) == NULL)
        return false;
    while ((entry = readdir(d)) != NULL)
        if (entry->d_name[0] != '.' && strlen(entry->d_name) < room && found++ == 0)
            snprintf(commit, room, "%s", entry->d_name);
    closedir(d);
    return found == 1;
}

/* Fills *folder if the model is there in this revision. */
static bool find_snapshot(char *folder, size_t room, const char *model, const char *revision)
{
    char commit[256];

    snprintf(commit, sizeof commit, "%s", revision ? revision : "");
    if (!read_ref(commit, sizeof commit, model, revision ? revision : "main") && !revision &&
        !only_snapshot(commit, sizeof commit, model))
        return false;
    return snprintf(folder, room, "%s/snapshots/%s", model, commit) < (int)room && is_folder(folder);
}

enum leat_status hub_cache_find(char *folder, size_t room, const char *id, struct leat_error *err)
{
    const char *at = strchr(id, '@');
    char cache[ROOM], model[ROOM];
    size_t length = at ? (size_t)(at - id) : strlen(id), used;

    folder[0] = '\0';
    if (!cache_folder(cache, sizeof cache) ||
        (used = (size_t)snprintf(model, sizeof model, "%s/models--", cache)) + 2 * length + 1 > sizeof model)
        return status_set(err, LEAT_E_ARGUMENT, "the path of the Hugging Face cache is too long");
    for (size_t i = 0; i < length; i++) {
        model[used++] = id[i] == '/' ? '-' : id[i];
        if (id[i] == '/')
            model[used++] = '-';
    }
    model[used] = '\0';
    if (!is_folder(model))
        return status_set(err, LEAT_E_NO_FILE,
                          "the Hugging Face cache %s has no %s (leat downloads nothing: run hf download %.*s)", cache,
                          strrchr(model, '/') + 1, (int)length, id);
    if (!find_snapshot(folder, room, model, at ? at + 1 : NULL))
        return status_set(err, LEAT_E_NO_FILE, "%s has no snapshot of revision %s", model, at ? at + 1 : "main");
    return LEAT_OK;
}
