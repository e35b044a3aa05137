/*
 * dataset_open.c: goes from names to an open dataset.
 *
 * A name stands for one part, a folder of parts, or a list in a file (@FILE). resolve() turns each into names of single
 * parts, in order; part_open() finds the kind of each and opens it; append_part() joins them, if they agree. If a
 * folder has a list (folder_list.h), its parts are those that the list names, and each file must be the one that the
 * list means.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/file_kind.h"
#include "base/grow.h"
#include "base/nearest.h"
#include "base/options.h"
#include "base/path.h"
#include "base/status.h"
#include "cache/cache.h"
#include "dataset.h"
#include "list/folder_list.h"
#include "part_foreign.h"
#include "part_index.h"

/* ---- What there is instead --------------------------------------------------------------------------------------- */

/* Extends an error about missing files of a dataset with what does exist: an unfinished run, a file that is not a
 * dataset, half of Megatron's two files, or a near name in that folder. */

#define NAME_BYTES 256 /* room for the name of a folder's entry */

static bool exists(const char *name, const char *suffix)
{
    char path[PATH_MAX];
    struct stat st;
    int length = snprintf(path, sizeof path, "%s%s", name, suffix);

    return length > 0 && (size_t)length < sizeof path && stat(path, &st) == 0;
}

/* Turns NAME.leat of a finished dataset into NAME, and so NAME.idx of Megatron's if NAME.bin is there. Returns false
 * for another kind of file. */
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

/* Finds the dataset in this folder with the nearest name, the first by bytes if several are as near; the name is ""
 * if there is none. Returns the length of the folder in `path`. */
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

/* Adds to `err`, which says that a folder holds no dataset, the first dataset of Megatron's in it, if there is one. */
static void dataset_say_folder(const char *path, struct leat_error *err)
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

/* Adds what Megatron's files lack: the name is NAME, NAME.bin or NAME.idx, and one of the two files is missing or
 * another one. */
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

/* Says what kind of file has the name, which is not a dataset's. */
static void say_file(const char *name, struct leat_error *err)
{
    const struct file_kind *kind = NULL;

    if (file_kind_look(name, true, NULL, &kind, NULL) != LEAT_OK)
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
    /* tokens need not be packed again */
    err->hint = kind && (kind->what == FILE_OTHER || kind->what == FILE_TOKENS || kind->what == FILE_BINARY)
                    ? LEAT_HINT_NONE
                    : LEAT_HINT_PACK;
}

void dataset_say_missing(const char *name, struct leat_error *err)
{
    if (!err)
        return;
    if (!exists(name, ".leat") && !exists(name, ".tokens"))
        err->file[0] = '\0'; /* no file of the dataset is there, so the name as it was given stands for all of them:
                                see named() */
    if (exists(name, ".leat"))
        status_after(err, "; %.300s.leat is there, and a dataset is both files: restore the other one", name);
    else if (exists(name, ".partial.checkpoint")) {
        status_after(err, "; %.300s.partial.tokens is from an unfinished run: resume it", name);
        err->hint = LEAT_HINT_RESUME;
    } else if (exists(name, ".partial.tokens"))
        status_after(err,
                     "; %.300s.partial.tokens is from a run that has not ended: do the same again, or remove "
                     "%.300s.partial.*",
                     name, name);
    else if (exists(name, ".tokens"))
        status_after(err, "; %.300s.tokens is there, and a dataset is both files: restore the other one", name);
    else if (say_megatron(name, err))
        return;
    else if (exists(name, ""))
        say_file(name, err);
    else
        say_nearest(name, err);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* The checksum of a part in the list of a folder. */
struct listed {
    size_t item; /* number of the part among the names */
    struct hash128 checksum;
};

/* Growing array of names, each its own allocation. */
struct names {
    char **items;
    size_t count, room;
    struct listed *listed; /* checksums of parts, in the order of the names */
    size_t listed_count, listed_room;
};

static void names_cut(struct names *n, size_t count)
{
    while (n->count > count)
        free(n->items[--n->count]);
}

static void names_free(struct names *n)
{
    names_cut(n, 0);
    free(n->items);
    free(n->listed);
}

/* characters of a name that a sentence shows */
#define SHOWN_BYTES 200u

/* Bytes of the sign of life of a process that packs a part of a run; its size is fixed. */
#define BEAT_BYTES 2048u

/* A stretch of text. */
struct text {
    const char *at;
    size_t length;
};

static char *append(char *to, struct text text)
{
    if (text.length > 0)
        memcpy(to, text.at, text.length);
    return to + text.length;
}

/* Adds SCHEME:FOLDER/NAME; scheme and folder may be empty. */
static enum leat_status names_add(struct names *n, struct text scheme, struct text folder, struct text name,
                                  struct leat_error *err)
{
    size_t size = scheme.length + folder.length + 1 + name.length + 1;
    enum leat_status s = GROW(n->items, n->count + 1, n->room, err);
    char *item;

    if (s != LEAT_OK)
        return s;
    item = malloc(size);
    if (!item)
        return status_no_memory(err, size);
    n->items[n->count++] = item;
    item = append(append(item, scheme), folder);
    if (folder.length > 0 && folder.at[folder.length - 1] != '/')
        *item++ = '/';
    item = append(item, name);
    *item = '\0';
    return LEAT_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum leat_status say_uncommitted(const char *folder, struct leat_error *err)
{
    return status_set_in(
        err, LEAT_E_NO_FILE, folder,
        "the run in the folder %s is not committed: nobody has said yet which of the files there are its parts",
        folder);
}

/* Adds the parts that a list names for the folder. For a split, the list is that of the folder above. */
static enum leat_status names_of_parts(struct names *n, const char *folder, const char *split,
                                       const struct folder_list *list, struct leat_error *err)
{
    struct text place = { folder, strlen(folder) }, nothing = { NULL, 0 };
    enum leat_status s = LEAT_OK;
    size_t before = n->count;

    for (size_t i = 0; s == LEAT_OK && i < list->count; i++) {
        const char *name = folder_part_in(&list->parts[i], split);

        if (!name)
            continue;
        s = GROW(n->listed, n->listed_count + 1, n->listed_room, err);
        if (s == LEAT_OK)
            n->listed[n->listed_count++] = (struct listed) { n->count, list->parts[i].checksum };
        if (s == LEAT_OK)
            s = names_add(n, nothing, place, (struct text) { name, strlen(name) }, err);
    }
    return s == LEAT_OK && n->count == before ? say_uncommitted(folder, err) : s;
}

/* Reads the list FOLDER/NAME of a folder of this machine; *has is false if there is none. Free it by
 * folder_list_free(). */
static enum leat_status read_list(struct folder_list *list, const char *folder, const char *name, bool *has,
                                  struct leat_error *err)
{
    char *path = path_join(folder, name, NULL);
    struct buffer text = { 0 };
    struct leat_error why;
    enum leat_status s;

    *list = (struct folder_list) { 0 };
    *has = false;
    if (!path)
        return status_no_memory(err, strlen(folder));
    s = buffer_read(&text, path, BUFFER_TEXT_MAX, &why);
    *has = s != LEAT_E_NO_FILE;
    if (s == LEAT_OK)
        s = folder_list_read(list, (char *)text.bytes, text.size, path, err); /* folder_list_read() takes the text
                                                                                 over */
    else {
        buffer_free(&text);
        if (*has && err)
            *err = why;
    }
    free(path);
    return *has ? s : LEAT_OK;
}

/* Adds the parts that a list of a folder of this machine names; *has is false if there is no such list. */
static enum leat_status names_of_folder_list(struct names *n, const char *folder, const char *name, bool *has,
                                             struct leat_error *err)
{
    struct folder_list list, above = { 0 };
    bool committed = true;
    enum leat_status s = read_list(&list, folder, name, has, err);

    if (s == LEAT_OK && list.split)
        s = read_list(&above, folder, "../" FOLDER_LIST, &committed, err);
    if (s == LEAT_OK && *has)
        s = committed ? names_of_parts(n, folder, list.split, list.split ? &above : &list, err)
                      : say_uncommitted(folder, err);
    folder_list_free(&list);
    folder_list_free(&above);
    return s;
}

/* Returns a file in the folder of a run that is not one of its parts, or NULL. The names of the folder begin at
 * `first`. */
static const char *other_than_part(const struct names *found, size_t first)
{
    for (size_t i = first; i < found->count; i++) {
        const char *slash = strrchr(found->items[i], '/'), *name = slash ? slash + 1 : found->items[i];

        if (strncmp(name, "part-", 5) != 0 || strlen(name + 5) != strspn(name + 5, "0123456789"))
            return found->items[i];
    }
    return NULL;
}

/*
 * Checks that all parts of a run are there.
 *
 * A run that is packed in parts has the file leat-run in its folder, which begins "leat run 1\nparts N\n". Until all
 * parts are there, and nothing else, the folder is not a dataset, so that nobody trains on half of it, or on some of
 * it twice, by mistake. It is not a dataset either while a part has failed (check_failed()). If parts are pushed (N
 * is 0), only the list says which files are parts.
 */
static enum leat_status judge_parts(const char *folder, const char *run, const struct names *found, size_t first,
                                    struct leat_error *err)
{
    const char *other = other_than_part(found, first);
    unsigned parts = 0;

    if (sscanf(run, "leat run %*u\nparts %u", &parts) != 1)
        return LEAT_OK;
    if (parts == 0)
        return say_uncommitted(folder, err);
    if (other)
        return status_set_in(
            err, LEAT_E_INCOMPATIBLE, folder,
            "%s.leat is not a part of the run in its folder: move it elsewhere, so that the folder opens", other);
    if (found->count - first < parts)
        return status_set_in(err, LEAT_E_NO_FILE, folder,
                             "the run in the folder %s is not finished: %zu of its %u parts are there; pack the others",
                             folder, found->count - first, parts);
    return LEAT_OK;
}

/* Reads the first bytes of a file, as a string: "" if it does not exist or is not a regular file. */
static enum leat_status read_start(const char *path, char *text, size_t room, struct leat_error *err)
{
    uint64_t size;
    int fd = -1;
    struct leat_error why;
    enum leat_status s = file_open_read(&fd, &size, path, &why);

    memset(text, 0, room);
    if (s == LEAT_OK)
        s = file_read_at(fd, 0, text, size < room - 1 ? size : room - 1, path, &why);
    file_close(&fd);
    if (s != LEAT_E_IO || why.os_error == 0)
        return LEAT_OK;
    if (err)
        *err = why;
    return s;
}

/* Fails for a part whose inputs were cut off. It has its dataset, but its sign of life, part-N.beat, says "damage
 * WHY": it has failed until somebody accepts that. */
static enum leat_status check_failed(const char *folder, const struct names *beats, struct leat_error *err)
{
    for (size_t i = 0; i < beats->count; i++) {
        const char *slash = strrchr(beats->items[i], '/'), *name = slash ? slash + 1 : beats->items[i], *why;
        char text[BEAT_BYTES + 1];
        enum leat_status s = read_start(beats->items[i], text, sizeof text, err);

        if (s != LEAT_OK)
            return s;
        why = strstr(text, "\ndamage ");
        if (why && why[8] != '\n' && why[8] != '\0')
            return status_set_in(err, LEAT_E_NO_FILE, folder,
                                 "the run in the folder %.200s is not finished: %.*s has failed: %.*s", folder,
                                 (int)strcspn(name, "."), name, (int)strcspn(why + 8, "\n"), why + 8);
    }
    return LEAT_OK;
}

static enum leat_status check_parts(const char *folder, const struct names *found, size_t first,
                                    const struct names *beats, struct leat_error *err)
{
    struct text place = { folder, strlen(folder) }, name = { "leat-run", 8 }, nothing = { NULL, 0 };
    struct names plan = { 0 };
    char text[64] = "";
    enum leat_status s = names_add(&plan, nothing, place, name, err);

    if (s == LEAT_OK)
        s = read_start(plan.items[0], text, sizeof text, err);
    names_free(&plan);
    if (s == LEAT_OK)
        s = judge_parts(folder, text, found, first, err);
    return s == LEAT_OK && text[0] ? check_failed(folder, beats, err) : s;
}

/* Adds the names of a folder's files that end in `suffix`, without the suffix. */
static enum leat_status names_of_folder(struct names *n, const char *folder, const char *suffix, struct leat_error *err)
{
    struct text place = { folder, strlen(folder) }, nothing = { NULL, 0 };
    DIR *dir = opendir(folder);
    enum leat_status s = LEAT_OK;
    size_t before = n->count;
    struct names beats = { 0 };
    const char *entry;

    if (!dir)
        return status_set_os(err, errno, folder, "cannot open the folder %s", folder);
    while (folder_next(dir, folder, &entry, &s, err)) {
        struct text name = { entry, strlen(entry) };

        if (file_ends_with(name.at, name.length, ".beat") && strncmp(name.at, "part-", 5) == 0)
            s = names_add(&beats, nothing, place, name, err);
        /* hidden names begin with a dot, as for a shell's *; NAME.partial.leat is not finished */
        if (name.at[0] == '.' || !file_ends_with(name.at, name.length, suffix))
            continue;
        name.length -= strlen(suffix);
        if (!file_ends_with(name.at, name.length, ".partial"))
            s = names_add(n, nothing, place, name, err);
    }
    closedir(dir);
    if (s == LEAT_OK && strcmp(suffix, ".leat") == 0)
        s = check_parts(folder, n, before, &beats, err);
    names_free(&beats);
    if (s == LEAT_OK && n->count == before) {
        s = status_set_in(err, LEAT_E_NO_FILE, folder, "the folder %s holds no dataset (no *%s in it)", folder, suffix);
        dataset_say_folder(folder, err);
    }
    if (n->count > before)
        qsort(n->items + before, n->count - before, sizeof *n->items, compare_names);
    return s;
}

/* Returns true for a URL. cache_takes() needs no more of it than its scheme. */
static bool is_url(struct text line)
{
    char start[16];
    size_t length = line.length < sizeof start - 1 ? line.length : sizeof start - 1;

    memcpy(start, line.at, length);
    start[length] = '\0';
    return cache_takes(start);
}

/* Adds a line of a list. Relative names in it start from the list's folder, after their scheme. */
static enum leat_status add_line(struct names *n, const char *path, struct text line, struct leat_error *err)
{
    const char *slash = strrchr(path, '/');
    struct text scheme = { line.at, part_scheme_length(line.at, line.length) };
    struct text folder = { path, slash ? (size_t)(slash - path) + 1 : 0 };

    line.at += scheme.length;
    line.length -= scheme.length;
    if ((line.length > 0 && line.at[0] == '/') || is_url(line))
        folder.length = 0;
    return names_add(n, scheme, folder, line, err);
}

static enum leat_status add_lines(struct names *n, const char *path, const char *text, size_t size,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t at = 0; s == LEAT_OK && at < size;) {
        const char *line = text + at, *newline = memchr(line, '\n', size - at);
        size_t length = newline ? (size_t)(newline - line) : size - at;

        at += length + 1;
        for (; length > 0 && (line[0] == ' ' || line[0] == '\t'); length--)
            line++;
        while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' ' || line[length - 1] == '\t'))
            length--;
        if (length == 0 || line[0] == '#')
            continue;
        if (memchr(line, '\0', length))
            return status_set_at(
                err, LEAT_E_ARGUMENT, path, (uint64_t)(line - text),
                "%s is not a list of datasets: it has a zero byte at byte %td; write one name per line", path,
                line - text);
        if (line[0] == '@')
            return status_set_at(err, LEAT_E_ARGUMENT, path, (uint64_t)(line - text),
                                 "%s names a list (%.*s): a list holds datasets only; write @ as ./@ in a name", path,
                                 (int)(length < SHOWN_BYTES ? length : SHOWN_BYTES), line);
        s = add_line(n, path, (struct text) { line, length }, err);
    }
    return s;
}

static enum leat_status names_of_list(struct names *n, const char *path, struct leat_error *err)
{
    size_t before = n->count;
    struct buffer text = { 0 };
    enum leat_status s = buffer_read(&text, path, BUFFER_TEXT_MAX, err);

    if (s == LEAT_OK)
        s = add_lines(n, path, (const char *)text.bytes, text.size, err);
    if (s == LEAT_OK && n->count == before)
        s = status_set_in(err, LEAT_E_NO_FILE, path, "the list %s names no dataset", path);
    buffer_free(&text);
    return s;
}

/* Sets *has if NAME.leat exists. There is often a folder NAME, too, with the texts that it was made from. */
static enum leat_status has_file(const char *name, const char *suffix, bool *has, struct leat_error *err)
{
    size_t length = strlen(name);
    struct file_identity file;
    enum leat_status s;
    char *path;

    *has = false;
    if (length > 0 && name[length - 1] == '/')
        return LEAT_OK;
    path = path_append(name, length, suffix, NULL);
    if (!path)
        return status_no_memory(err, length);
    s = file_identify(path, &file, err);
    *has = file.exists;
    free(path);
    return s;
}

/* Follows a link in the folder of a run, which may lead to a split of another run. */
static enum leat_status check_link(const char *name, struct leat_error *err)
{
    char *path = strdup(name), *folder = NULL;
    size_t length = strlen(name);
    enum leat_status s = LEAT_OK;
    struct stat st;

    for (; path && length > 1 && path[length - 1] == '/'; length--)
        path[length - 1] = '\0';
    if (!path || !(folder = file_folder(path)))
        s = status_no_memory(err, length);
    else if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) &&
             (exists(folder, "/leat-run") || exists(folder, "/" FOLDER_LIST)))
        s = status_set_in(err, LEAT_E_EXISTS, name,
                          "%s is a symbolic link in the folder of a run, where the folder of a split is to be: open "
                          "what it leads to by its own name, or remove it",
                          name);
    free(folder);
    free(path);
    return s;
}

static enum leat_status take_url(void *context, const char *url, struct leat_error *err)
{
    struct text whole = { url, strlen(url) }, nothing = { NULL, 0 };

    return names_add(context, nothing, nothing, whole, err);
}

static enum leat_status take_nothing(void *context, const char *url, struct leat_error *err)
{
    (void)context, (void)url, (void)err;
    return LEAT_OK;
}

/* Reads the list of the folder above that of a split. The list stays empty if there is none. */
static enum leat_status read_list_above(struct folder_list *list, const char *url, struct leat_error *err)
{
    char run[64], *text = NULL, *folder = strdup(url);
    enum leat_status s = folder ? LEAT_OK : status_no_memory(err, strlen(url));
    size_t size = 0;

    if (s == LEAT_OK) {
        folder[strlen(folder) - 1] = '\0'; /* removes the slash at the end */
        folder[strrchr(folder, '/') + 1 - folder] = '\0';
        s = cache_list(folder, take_nothing, NULL, run, sizeof run, FOLDER_LIST, &text, &size, err);
    }
    if (s == LEAT_OK && text)
        s = folder_list_read(list, text, size, folder, err);
    free(folder);
    return s;
}

/* Adds the parts that a list on a server names. Takes over its text, which has room for a NUL. */
static enum leat_status names_of_url_list(struct names *n, const char *url, char *text, size_t size,
                                          struct leat_error *err)
{
    struct folder_list list, above = { 0 };
    enum leat_status s = folder_list_read(&list, text, size, url, err);

    if (s == LEAT_OK && list.split)
        s = read_list_above(&above, url, err);
    if (s == LEAT_OK)
        s = names_of_parts(n, url, list.split, list.split ? &above : &list, err);
    folder_list_free(&list);
    folder_list_free(&above);
    return s;
}

/* Adds the parts of a folder on a server. The name of a folder ends in /. */
static enum leat_status names_of_url(struct names *n, const char *url, struct leat_error *err)
{
    size_t before = n->count;
    char run[64], *list = NULL;
    size_t size = 0;
    enum leat_status s = cache_list(url, take_url, n, run, sizeof run, FOLDER_LIST, &list, &size, err);

    if (list) {
        names_cut(n, before);
        return names_of_url_list(n, url, list, size, err);
    }
    if (s == LEAT_OK && n->count == before)
        return status_set_in(err, LEAT_E_NO_FILE, url, "%s holds no dataset (no *.leat in it)", url);
    if (s == LEAT_OK)
        s = judge_parts(url, run, n, before, err);
    if (n->count > before)
        qsort(n->items + before, n->count - before, sizeof *n->items, compare_names);
    return s;
}

/* Adds the parts of a list that is named itself: the folder's present list, or one from before parts were appended. */
static enum leat_status names_of_one_list(struct names *n, const char *name, struct text folder, bool *has,
                                          struct leat_error *err)
{
    char *place, *list = NULL;
    size_t size = 0;
    enum leat_status s;

    place = folder.length > 0 ? strndup(folder.at, folder.length) : strdup(".");
    if (!place)
        return status_no_memory(err, folder.length);
    name += folder.length;
    *has = true;
    if (!cache_takes(place))
        s = names_of_folder_list(n, place, name, has, err);
    else {
        s = cache_read(place, name, &list, &size, err);
        if (s == LEAT_OK)
            s = names_of_url_list(n, place, list, size, err);
    }
    free(place);
    return s;
}

static enum leat_status resolve(struct names *n, const char *name, struct leat_error *err)
{
    const struct part_kind *kind;
    struct text whole = { name, strlen(name) }, nothing = { NULL, 0 }, folder = { name, 0 };
    enum leat_status s;
    struct stat st;
    bool has, there;

    if (name[0] == '@')
        return names_of_list(n, name + 1, err);
    if (folder_list_is(name, &folder.length)) {
        s = names_of_one_list(n, name, folder, &has, err);
        if (s != LEAT_OK || has)
            return s;
    }
    if (cache_takes(name) && name[whole.length - 1] == '/')
        return names_of_url(n, name, err);
    s = part_kind_of(&kind, name, err);
    if (s == LEAT_OK && kind->suffix && !cache_takes(name) && file_dataset_length(name, whole.length) == whole.length) {
        /* if the dataset is there, a folder of its name does not count, and is not looked for */
        s = has_file(name, kind->suffix, &has, err);
        if (s == LEAT_OK && has)
            return names_add(n, nothing, nothing, whole, err);
    }
    if (s != LEAT_OK)
        return s;
    there = kind->suffix && !cache_takes(name) && stat(name, &st) == 0;
    if (!there && kind->suffix && !cache_takes(name) && errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
        return status_set_os(err, errno, name, "cannot look at %s", name);
    if (there && S_ISDIR(st.st_mode)) {
        s = has_file(name, kind->suffix, &has, err);
        if (s == LEAT_OK)
            s = check_link(name, err);
        if (s != LEAT_OK)
            return s;
        if (!has && strcmp(kind->suffix, ".leat") == 0) {
            s = names_of_folder_list(n, name, FOLDER_LIST, &has, err);
            if (s != LEAT_OK || has)
                return s;
        }
        if (!has)
            return names_of_folder(n, name, kind->suffix, err);
    }
    return names_add(n, nothing, nothing, whole, err);
}

/* Checks that a part is the one that its folder's list names, file by file. */
static enum leat_status check_listed(const struct part *p, const struct listed *l, struct leat_error *err)
{
    if (p->index && checksum_equal(p->index->header.checksum, l->checksum))
        return LEAT_OK;
    return status_set_in(err, LEAT_E_MISMATCH, p->name,
                         "%s.leat is not the part that " FOLDER_LIST
                         " in its folder names: it was changed or replaced; restore it from its source",
                         p->name);
}

/* Returns the first part with a begin token: a file of another tool may have one without an end token, or the
 * reverse. */
static const struct part *first_with_begin(const struct leat_dataset *d)
{
    for (uint64_t i = 0; i < d->part_count; i++)
        if (d->parts[i].begin_token != LEAT_NONE)
            return &d->parts[i];
    return &d->parts[0];
}

/*
 * Checks that the new last part agrees with all parts before it. Two of those stand for all: dataset_facts() and the
 * first part with a begin token, which dataset_facts() may not know. But if the new part is itself dataset_facts(),
 * it is compared with each.
 */
static enum leat_status check_agreement(const struct leat_dataset *d, const struct part *p, struct leat_error *err)
{
    const struct part *facts = dataset_facts(d);
    enum leat_status s = LEAT_OK;

    if (facts != p) {
        s = part_check_agreement(facts, p, err);
        return s == LEAT_OK ? part_check_agreement(first_with_begin(d), p, err) : s;
    }
    for (uint64_t i = 0; s == LEAT_OK && i + 1 < d->part_count; i++)
        s = part_check_agreement(&d->parts[i], p, err);
    return s;
}

static enum leat_status too_many(const char *name, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_HEADER, name, "the list with %s has more than 2^64 tokens or documents", name);
}

/* Names the dataset in the error of a failed call, unless a file is named. A URL is not added: it may hold a key,
 * and errors name it without. */
static enum leat_status named(const char *name, enum leat_status s, struct leat_error *err)
{
    if (s == LEAT_E_ARGUMENT)
        status_field(err, s, "name");
    return cache_takes(name) ? s : status_in_file(err, s, name);
}

/* Resolves a name, and tries again while a file server fails (base/mounts.h). */
static enum leat_status resolve_again(struct mounts *m, struct names *n, const char *name, struct leat_error *err)
{
    size_t count = n->count, listed = n->listed_count;
    struct mounts_tries tries = { 0 };
    struct leat_error why;
    enum leat_status s;

    do {
        names_cut(n, count);
        n->listed_count = listed;
        s = resolve(n, name, &why);
    } while (s != LEAT_OK && mounts_again(m, &tries, file_path_is_remote(why.file), &s, &why));
    if (s == LEAT_OK)
        mounts_worked(m, &tries);
    else if (err)
        *err = why;
    return s;
}

static enum leat_status open_part_again(struct part *p, const char *name, const struct leat_open_options *how,
                                        struct mounts *m, struct leat_error *err)
{
    struct mounts_tries tries = { 0 };
    struct leat_error why;
    enum leat_status s;

    do
        s = part_open(p, name, how, m, &why);
    while (s != LEAT_OK && mounts_again(m, &tries, file_path_is_remote(why.file), &s, &why));
    if (s == LEAT_OK)
        mounts_worked(m, &tries);
    else if (err)
        *err = why;
    return s;
}

static enum leat_status append_part(struct leat_dataset *d, const char *name, const struct leat_open_options *how,
                                    struct leat_error *err)
{
    struct part *p = &d->parts[d->part_count];
    enum leat_status s = open_part_again(p, name, how, d->mounts, err);

    if (s != LEAT_OK)
        return s;
    d->part_count++;
    p->first_token = d->tokens;
    p->first_document = d->documents;
    p->first_input = d->inputs;
    p->first_sequence = d->sequences;
    if (d->documents == LEAT_NONE || p->documents == LEAT_NONE)
        d->documents = LEAT_NONE;
    else if (!bytes_add(d->documents, p->documents, &d->documents) ||
             !bytes_add(d->sequences, part_sequences(p), &d->sequences))
        return too_many(name, err);
    if (!bytes_add(d->tokens, p->tokens, &d->tokens) || !bytes_add(d->inputs, p->inputs, &d->inputs))
        return too_many(name, err);
    return check_agreement(d, p, err);
}

static enum leat_status make_dataset(struct leat_dataset **out, const struct leat_open_options *how,
                                     struct leat_error *err)
{
    struct leat_dataset *d = *out = calloc(1, sizeof *d);

    if (d)
        d->mounts = malloc(sizeof *d->mounts);
    if (!d || !d->mounts) {
        free(d);
        *out = NULL;
        return status_no_memory(err, sizeof *d + sizeof *d->mounts);
    }
    mounts_open(d->mounts, how);
    d->mounts->opening = true;
    return LEAT_OK;
}

enum leat_status leat_dataset_open_list(struct leat_dataset **out, const char *const *list, uint64_t count,
                                        const struct leat_open_options *options, struct leat_error *err)
{
    struct leat_open_options all = LEAT_OPEN_OPTIONS_INIT;
    struct names names = { 0 };
    struct leat_dataset *d = NULL;
    enum leat_status s = options_read(&all, sizeof all, NULL, options, "leat_open_options", err);

    *out = NULL;
    if (s != LEAT_OK)
        return s;
    if (count == 0)
        return status_argument(err, "name", "missing name of the dataset");
    if (all.access > LEAT_ACCESS_READ)
        return status_argument(err, "access", "leat_dataset_open: unknown access mode %u", (unsigned)all.access);
    if (all.reserved != 0)
        return status_argument(err, "reserved", "leat_dataset_open: reserved must be 0");
    if (all.online > 1)
        return status_argument(err, "online", "leat_dataset_open: online must be 0 or 1, not %u", (unsigned)all.online);
    s = make_dataset(&d, &all, err);
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = list[i] && *list[i] ? named(list[i], resolve_again(d->mounts, &names, list[i], err), err)
                                : status_argument(err, "name", "the name of the dataset is empty");
    if (s == LEAT_OK) {
        d->parts = calloc(names.count, sizeof *d->parts);
        if (!d->parts)
            s = status_no_memory(err, names.count * sizeof *d->parts);
    }
    all.access = file_map_access(all.access);
    for (size_t i = 0, l = 0; s == LEAT_OK && i < names.count; i++) {
        s = named(names.items[i], append_part(d, names.items[i], &all, err), err);
        if (l < names.listed_count && names.listed[l].item == i) {
            s = s == LEAT_OK ? check_listed(&d->parts[i], &names.listed[l], err) : s;
            l++;
        }
    }
    names_free(&names);
    if (s != LEAT_OK) {
        leat_dataset_close(d);
        return s;
    }
    d->mounts->opening = false;
    *out = d;
    return LEAT_OK;
}

enum leat_status leat_dataset_open(struct leat_dataset **out, const char *name, const struct leat_open_options *options,
                                   struct leat_error *err)
{
    return leat_dataset_open_list(out, &name, 1, options, err);
}

enum leat_status dataset_of_part(struct leat_dataset **out, const struct part *part, struct leat_error *err)
{
    struct leat_open_options how = LEAT_OPEN_OPTIONS_INIT;
    struct leat_dataset *d;
    struct part *copy = calloc(1, sizeof *copy);
    enum leat_status s = make_dataset(&d, &how, err);

    *out = NULL;
    if (s == LEAT_OK && !copy)
        s = status_no_memory(err, sizeof *copy);
    if (s != LEAT_OK) {
        struct part taken = *part;

        part_close(&taken);
        leat_dataset_close(d);
        free(copy);
        return s;
    }
    *copy = *part;
    d->mounts->opening = false;
    d->parts = copy;
    d->part_count = 1;
    d->tokens = part->tokens;
    d->documents = part->documents;
    d->sequences = part_sequences(part);
    d->inputs = part->inputs;
    *out = d;
    return LEAT_OK;
}

void leat_dataset_close(struct leat_dataset *d)
{
    if (!d)
        return;
    for (uint64_t i = 0; i < d->part_count; i++)
        part_close(&d->parts[i]);
    mounts_close(d->mounts);
    free(d->mounts);
    free(d->parts);
    free(d);
}
