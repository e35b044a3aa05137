/*
 * dataset_missing.c: when a dataset's files do not exist, extends the error with what does: an unfinished run, a file
 * that is not a dataset, half of Megatron's two files, or a near name in that folder.
 */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/file_kind.h"
#include "base/nearest.h"
#include "base/status.h"
#include "dataset.h"
#include "part_megatron.h"

#define NAME_BYTES 256 /* of a folder's entry */

static bool exists(const char *name, const char *suffix)
{
    char path[PATH_MAX];
    struct stat st;
    int length = snprintf(path, sizeof path, "%s%s", name, suffix);

    return length > 0 && (size_t)length < sizeof path && stat(path, &st) == 0;
}

/* Turns NAME.leat of a finished dataset into NAME, and NAME.idx of Megatron's, with NAME.bin; false: another kind of
 * file. */
static bool cut_suffix(const char *folder, char *entry)
{
    size_t length = strlen(entry);
    bool other = file_ends_with(entry, length, ".idx");
    char path[PATH_MAX];
    int written;

    if (entry[0] == '.' || !(other || file_ends_with(entry, length, ".leat")))
        return false;
    length -= strlen(other ? ".idx" : ".leat");
    entry[length] = '\0';
    written = snprintf(path, sizeof path, "%s/%s", folder, entry);
    return other ? written > 0 && (size_t)written < sizeof path && exists(path, ".bin")
                 : !file_ends_with(entry, length, ".partial");
}

/* The dataset in this folder with the nearest name, the first by bytes if several are; "" if there is none. */
static size_t find_nearest(DIR *folder, const char *path, const char *name, char best[NAME_BYTES])
{
    char entry[NAME_BYTES];
    struct dirent *e;
    size_t min = SIZE_MAX, distance;

    best[0] = '\0';
    while ((e = readdir(folder))) {
        snprintf(entry, sizeof entry, "%s", e->d_name);
        if (!cut_suffix(path, entry))
            continue;
        distance = nearest_distance(name, entry);
        if (distance < min || (distance == min && strcmp(entry, best) < 0)) {
            memcpy(best, entry, sizeof entry);
            min = distance;
        }
    }
    return min;
}

static void say_nearest(const char *name, struct leat_error *err)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    char path[PATH_MAX] = ".", best[NAME_BYTES];
    int before = (int)(base - name);
    size_t distance;
    DIR *folder;

    if (before >= PATH_MAX)
        return;
    if (before > 0)
        snprintf(path, sizeof path, "%.*s", before, name);
    folder = opendir(path);
    if (!folder) {
        status_after(err, "; no folder %.300s", path);
        return;
    }
    distance = find_nearest(folder, path, base, best);
    closedir(folder);
    if (!best[0])
        status_after(err, "; no dataset in %s", before > 0 ? path : "this folder");
    else if (nearest_is_near(base, best, distance))
        status_after(err, "; did you mean %.*s%s?", before, name, best);
    else
        status_after(err, "; no dataset in %s has a similar name", before > 0 ? path : "this folder");
}

void dataset_say_folder(const char *path, struct leat_error *err)
{
    char entry[NAME_BYTES] = "", best[NAME_BYTES] = "";
    DIR *folder = err ? opendir(path) : NULL;
    struct dirent *e;

    while (folder && (e = readdir(folder))) {
        snprintf(entry, sizeof entry, "%s", e->d_name);
        if (file_ends_with(entry, strlen(entry), ".idx") && cut_suffix(path, entry) &&
            (!best[0] || strcmp(entry, best) < 0))
            memcpy(best, entry, sizeof entry);
    }
    if (folder)
        closedir(folder);
    if (best[0])
        status_after(err, "; it has files of Megatron's, such as %s: name each of them, or list them in a file (@FILE)",
                     best);
}

/* NAME, NAME.bin or NAME.idx, one of which is not what Megatron needs. */
static bool say_megatron(const char *name, struct leat_error *err)
{
    size_t length = strlen(name);
    bool given = file_ends_with(name, length, ".idx"), is_bin = file_ends_with(name, length, ".bin"), index = false;
    char prefix[PATH_MAX];

    length -= given || is_bin ? 4 : 0;
    if (length >= sizeof prefix)
        return false;
    memcpy(prefix, name, length);
    prefix[length] = '\0';
    if (exists(prefix, ".idx") && (given || exists(prefix, ".bin")) &&
        megatron_peek(prefix, length, &index, NULL) == LEAT_OK && !index)
        status_after(err, "; %.300s.idx is not an index of Megatron: it does not begin with MMIDIDX", prefix);
    else if (!given && !is_bin && !exists(name, "") && exists(prefix, ".bin") && !exists(prefix, ".idx"))
        status_after(err, "; %.300s.bin is there, but its index %.300s.idx is missing", prefix, prefix);
    else
        return false;
    return true;
}

/* The name is that of another file or of a folder. */
static void say_file(const char *name, struct leat_error *err)
{
    const struct file_kind *kind = NULL;

    if (file_kind_look(name, true, &kind, NULL) != LEAT_OK)
        kind = NULL;
    if (kind && kind->what == FILE_TOKENS)
        status_after(err,
                     "; %.300s is %s by its name: if it holds bare token ids, as OLMo-core's .npy does, "
                     "raw:FILE?dtype=u16 (or u32) reads it",
                     name, kind->name);
    else if (kind && kind->what == FILE_BINARY)
        status_after(err,
                     "; %.300s may hold bare token ids, as nanoGPT's train.bin does: raw:FILE?dtype=u16 (or u32) reads "
                     "such a file, with &end=ID its documents too",
                     name);
    else if (kind && kind->what != FILE_COMPRESSED)
        status_after(err, "; %.300s is %s: %s", name, kind->name, kind->cure);
    else
        status_after(err, "; %.300s itself exists, but is not a dataset: pack it into one", name);
    if (file_ends_with(name, strlen(name), ".bin"))
        status_after(err, "; if it is Megatron's, its index is missing: %.*s.idx", (int)strlen(name) - 4, name);
    /* tokens are not packed again */
    err->hint = kind && (kind->what == FILE_OTHER || kind->what == FILE_TOKENS || kind->what == FILE_BINARY)
                    ? LEAT_HINT_NONE
                    : LEAT_HINT_PACK;
}

/* While parts are joined in place neither they nor what they become are datasets. leat-run.joining, beside the parts of
 * a run, has the name of that. */
static bool say_joining(const char *name, struct leat_error *err)
{
    const char *slash = strrchr(name, '/');
    int before = slash ? (int)(slash + 1 - name) : 0;
    char mark[PATH_MAX], output[PATH_MAX] = "";
    FILE *in;

    if (exists(name, ".joining")) {
        status_after(err, "; it is being joined in place: joining the same parts into it again goes on with that");
        return true;
    }
    snprintf(mark, sizeof mark, "%.*sleat-run.joining", before, name);
    in = exists(name, ".leat") || exists(name, ".tokens") ? fopen(mark, "re") : NULL;
    if (in && fgets(output, sizeof output, in)) {
        output[strcspn(output, "\n")] = '\0';
        status_after(err, "; it is being joined in place: joining %.*s into %.300s again goes on with that",
                     before > 1 ? before - 1 : 1, before > 0 ? name : ".", output);
    } else if (exists(name, ".tokens.joining"))
        status_after(err, "; it is being joined in place: joining the same parts again goes on with that");
    if (in)
        (void)fclose(in);
    return output[0] || exists(name, ".tokens.joining");
}

void dataset_say_missing(const char *name, struct leat_error *err)
{
    if (!err || say_joining(name, err))
        return;
    if (exists(name, ".leat"))
        status_after(err, "; %.300s.leat is there, and a dataset is both files: restore the other one", name);
    else if (exists(name, ".partial.tokens")) {
        status_after(err, "; %.300s.partial.tokens is from an unfinished run: resume it", name);
        err->hint = LEAT_HINT_RESUME;
    } else if (exists(name, ".tokens"))
        status_after(err, "; %.300s.tokens is there, and a dataset is both files: restore the other one", name);
    else if (say_megatron(name, err))
        return;
    else if (exists(name, ""))
        say_file(name, err);
    else
        say_nearest(name, err);
}
