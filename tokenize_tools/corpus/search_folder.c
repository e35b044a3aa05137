/*
 * search_folder.c: finds the inputs in a folder. Its contents are sorted, so that the order does not depend on the
 * file system. A file that may be a corpus and cannot be read is an error only after its whole folder, so that the
 * message can count such files.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/status.h"
#include "corpus/hub/hub_glob.h"
#include "own_outputs.h"
#include "search.h"

/* ---- Names ------------------------------------------------------------------------------------------------------- */

#define UUID_BYTES 36u

struct table {
    const char *name, *folder; /* a name and a folder that only such a table has */
    const char *cure;
};

static const struct table delta = { "a Delta Lake table", "_delta_log",
                                    "list the files of its current version, as DeltaTable(...).file_uris() of the "
                                    "package deltalake does" };
static const struct table hudi = { "a Hudi table", ".hoodie",
                                   "export its current rows, or list the files of its latest snapshot" };
static const struct table iceberg = { "an Iceberg table", NULL,
                                      "list the files of its current snapshot, as scan().plan_files() of the package "
                                      "pyiceberg does" };

enum found_name found_name(const char *name, enum leat_pack_format format)
{
    if (name[0] == '.')
        return NAME_HIDDEN;
    if (name[0] != '_' || format == LEAT_PACK_TEXT || name[strcspn(name, "/=")] == '=')
        return NAME_PLAIN;
    return NAME_MARKED;
}

bool found_name_is_note(const char *name)
{
    static const char *const whole[] = { "_SUCCESS", "_metadata", "_common_metadata" };
    static const char *const starts[] = { "_committed_", "_started_" };

    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(name, whole[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Returns true if a name ends in `end`, with `around` perhaps before or after that, and takes both off *bytes. */
static bool ends_in(const char *name, size_t *bytes, const char *end, const char *around)
{
    if (file_ends_with(name, *bytes, around))
        *bytes -= strlen(around);
    if (!file_ends_with(name, *bytes, end))
        return false;
    *bytes -= strlen(end);
    if (file_ends_with(name, *bytes, around))
        *bytes -= strlen(around);
    return true;
}

/* Returns true if a file has the name of Iceberg's description of a table: metadata/v3.metadata.json, or metadata/,
 * five digits, -, a UUID and .metadata.json. If it is compressed, .gz stands before or after .metadata.json. */
static bool describes_iceberg(const char *name, const char *path)
{
    static const char folder[] = "metadata/", end[] = ".metadata.json";
    size_t before = (size_t)(name - path), bytes = strlen(name), digits;

    if (before < strlen(folder) || strncmp(name - strlen(folder), folder, strlen(folder)) != 0 ||
        (before > strlen(folder) && name[-1 - (ptrdiff_t)strlen(folder)] != '/') || !ends_in(name, &bytes, end, ".gz"))
        return false;
    digits = strspn(name + (name[0] == 'v'), "0123456789");
    if (name[0] == 'v')
        return digits > 0 && digits + 1 == bytes;
    return digits >= 5 && name[digits] == '-' && bytes == digits + 1 + UUID_BYTES;
}

static enum leat_status refuse(const char *path, size_t bytes, const struct table *t, struct leat_error *err)
{
    while (bytes > 1 && path[bytes - 1] == '/')
        bytes--;
    if (bytes == 0)
        path = ".", bytes = 1;
    return status_set(
        err, LEAT_E_UNSUPPORTED,
        "the folder %.*s is %s, and some of its files may hold rows that were deleted or changed since; %s, "
        "and pack that list (@LIST)",
        (int)bytes, path, t->name, t->cure);
}

enum leat_status found_names_refuse_table(const char *path, size_t stem, struct leat_error *err)
{
    static const struct table *const tables[] = { &delta, &hudi };
    const char *name = path + stem;

    for (const char *slash; (slash = strchr(name, '/')); name = slash + 1)
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
            if ((size_t)(slash - name) == strlen(tables[i]->folder) &&
                strncmp(name, tables[i]->folder, strlen(tables[i]->folder)) == 0)
                return refuse(path, (size_t)(name - path), tables[i], err);
    if (describes_iceberg(name, path))
        return refuse(path, (size_t)(name - path) - strlen("metadata/"), &iceberg, err);
    return LEAT_OK;
}

/* ---- Links that lead out of a folder ----------------------------------------------------------------------------- */

/* Gets the real path of a file: paths are compared without any link in them. */

static enum leat_status real_path(char **real, const char *path, struct leat_error *err)
{
    *real = realpath(path, NULL);
    if (*real)
        return LEAT_OK;
    return errno == ENOMEM ? status_no_memory(err, strlen(path))
                           : status_set_os(err, errno, path, "cannot find what %s leads to", path);
}

/* Returns true if `path` is folder[0..length), or lies in it. */
static bool is_in(const char *path, const char *folder, size_t length)
{
    if (length == 1) /* "/" */
        return true;
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Returns true if folder[0..length) has a name that the hub's client gives a repository in its cache. */
static bool is_repository(const char *folder, size_t length)
{
    static const char *const kinds[] = { "datasets--", "models--", "spaces--" };
    size_t at = length;

    while (at > 0 && folder[at - 1] != '/')
        at--;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (length - at > strlen(kinds[i]) && memcmp(folder + at, kinds[i], strlen(kinds[i])) == 0)
            return true;
    return false;
}

/* Returns true for a blob of the repository: REPOSITORY/snapshots/REVISION has links to REPOSITORY/blobs. */
static bool is_blob_of(const char *path, const char *folder)
{
    static const char snapshots[] = "/snapshots", blobs[] = "/blobs/";

    for (const char *at = folder; (at = strstr(at, snapshots)) != NULL; at++) {
        size_t length = (size_t)(at - folder);
        char after = at[strlen(snapshots)];

        if ((after == '/' || after == '\0') && is_repository(folder, length) && strncmp(path, folder, length) == 0 &&
            strncmp(path + length, blobs, strlen(blobs)) == 0)
            return true;
    }
    return false;
}

/* Sets *leaves if a link that exists leads out of the folder. In the cache of the Hugging Face Hub, whose snapshots are
 * folders of links, the blobs of a repository belong to its snapshots. */
static enum leat_status folder_links_leaves(struct folder_links *links, const char *path, bool *leaves,
                                            struct leat_error *err)
{
    enum leat_status s = links->real ? LEAT_OK : real_path(&links->real, links->folder, err);
    char *real;

    *leaves = true;
    if (s == LEAT_OK)
        s = real_path(&real, path, err);
    if (s != LEAT_OK)
        return s;
    *leaves = !is_in(real, links->real, strlen(links->real)) && !is_blob_of(real, links->real);
    free(real);
    return LEAT_OK;
}

/* ---- Patterns ---------------------------------------------------------------------------------------------------- */

static bool matches(const char *pattern, const char *below)
{
    const char *slash = strrchr(below, '/');

    return strchr(pattern, '/') ? hub_glob(pattern + (*pattern == '/'), below)
                                : hub_glob(pattern, slash ? slash + 1 : below);
}

bool search_is_patterned(const struct search *s, const char *below)
{
    const struct input_rules *rules = s->rules;
    bool taken = rules->options->include_count == 0;

    for (size_t i = 0; !taken && i < rules->options->include_count; i++)
        taken = matches(rules->options->include[i], below);
    for (size_t i = 0; taken && i < rules->options->exclude_count; i++)
        taken = !matches(rules->options->exclude[i], below);
    return !taken;
}

enum leat_status search_pass_patterned(struct search *s, const char *path, struct leat_error *err)
{
    const char *kept;
    enum leat_status status = search_skip(s, path, LEAT_SKIP_PATTERN, &kept, err);

    if (status == LEAT_OK && (!s->patterned || strcmp(kept, s->patterned) < 0))
        s->patterned = kept;
    return status;
}

static enum leat_status check_patterns(const char *option, const char *const *patterns, size_t count,
                                       struct leat_error *err)
{
    for (size_t i = 0; i < count; i++) {
        size_t bytes = strlen(patterns[i]);

        if (bytes == 0)
            return status_argument(err, option, "an empty pattern matches no file");
        if (patterns[i][bytes - 1] == '/')
            return status_argument(err, option, "the pattern %.200s matches no file: %.200s** matches all below it",
                                   patterns[i], patterns[i]);
    }
    return LEAT_OK;
}

enum leat_status search_check_patterns(const struct search *s, struct leat_error *err)
{
    const struct input_rules *rules = s->rules;
    enum leat_status status = check_patterns("include", rules->options->include, rules->options->include_count, err);

    return status == LEAT_OK ? check_patterns("exclude", rules->options->exclude, rules->options->exclude_count, err)
                             : status;
}

/* Returns the path below the folder that is searched. */
static const char *below_folder(const struct search *s, const char *path)
{
    path += strlen(s->folder.folder);
    return path + (*path == '/');
}

/* ---- The inputs in a folder -------------------------------------------------------------------------------------- */

static enum leat_status search_in(struct search *s, const char *folder, struct leat_error *err);

enum leat_status search_leave_out(struct search *s, const char *path, const struct file_kind *corpus,
                                  struct leat_error *err)
{
    const char *kept;
    enum leat_status status = search_skip(s, path, LEAT_SKIP_KIND, &kept, err);

    if (status != LEAT_OK || !corpus)
        return status;
    s->list->skipped[s->list->skipped_count - 1].unread = corpus;
    s->unread_count++;
    if (!s->unread || strcmp(path, s->unread) < 0) {
        s->unread = kept;
        s->unread_kind = corpus;
    }
    return LEAT_OK;
}

enum leat_status search_pass_marked(struct search *s, const char *path, bool note, struct leat_error *err)
{
    enum leat_status status;
    const char *kept;

    if (note)
        return LEAT_OK;
    status = search_skip(s, path, LEAT_SKIP_MARKED, &kept, err);
    if (status == LEAT_OK && (!s->marked || strcmp(kept, s->marked) < 0))
        s->marked = kept;
    return status;
}

/* Judges a file or folder with a marked name. `st` is NULL for a link that leads nowhere. */
static enum leat_status found_marked(struct search *s, const char *path, const char *name, const struct stat *st,
                                     struct leat_error *err)
{
    const struct own_output *own = st ? own_outputs_find(s->rules->own, st) : NULL;
    bool is_own = own && strcmp(own->name, name) == 0, is_file = st && S_ISREG(st->st_mode);
    enum leat_status status;
    char *folder;

    if (!st || !S_ISDIR(st->st_mode))
        return search_pass_marked(s, path, is_own || found_name_is_note(name) || (is_file && st->st_size == 0), err);
    folder = search_join(path, strlen(path), "");
    if (!folder)
        return status_no_memory(err, strlen(path));
    status = search_pass_marked(s, folder, false, err);
    free(folder);
    return status;
}

static enum leat_status found_file(struct search *s, const char *path, const char *name, const struct stat *st,
                                   struct leat_error *err)
{
    const struct own_output *own = own_outputs_find(s->rules->own, st);
    const struct record_format *format;
    const struct file_kind *corpus;
    enum leat_status status;

    if (own && strcmp(own->name, name) == 0)
        return LEAT_OK; /* its name shows that it belongs to the output */
    if (own)
        return search_skip(s, path, LEAT_SKIP_OWN, NULL, err);
    status = input_judge_found(path, s->rules, &s->tries->mounts, &format, &corpus, err);
    if (status == LEAT_OK && s->tries->ended) /* otherwise a file that could not be looked at is left out */
        status = search_check_stop(s, err);
    if (status != LEAT_OK)
        return status;
    return format ? search_add(s, path, format, st, err) : search_leave_out(s, path, corpus, err);
}

static enum leat_status found_folder(struct search *s, const char *path, bool is_link, struct leat_error *err)
{
    enum leat_status status;

    if (is_link && ++s->visits > SEARCH_VISITS)
        return status_in_file(
            err,
            status_argument(err, "inputs",
                            "%s: links lead to more than %u folders; do they lead to each other again and again?", path,
                            SEARCH_VISITS),
            path);
    if (s->depth == SEARCH_DEPTH)
        return status_in_file(err,
                              status_argument(err, "inputs",
                                              "%s: folders are nested more than %d deep; does a link form a cycle?",
                                              path, SEARCH_DEPTH),
                              path);
    s->depth++;
    s->links += is_link;
    status = search_in(s, path, err);
    s->links -= is_link;
    s->depth--;
    return status;
}

/* Sets *left if a link is left out, because it leads out of the folder. */
static enum leat_status judge_link(struct search *s, const char *path, bool *left, struct leat_error *err)
{
    enum leat_status status = folder_links_leaves(&s->folder, path, left, err);
    const char *kept;

    if (status == LEAT_OK && *left)
        status = search_skip(s, path, LEAT_SKIP_LINK, &kept, err);
    if (status == LEAT_OK && *left && (!s->outside || strcmp(kept, s->outside) < 0))
        s->outside = kept;
    return status;
}

/* Fails with errno for a link that cannot be followed. A missing file is not left out silently, since it may be part
 * of the corpus. */
static enum leat_status cannot_follow(const char *path, struct leat_error *err)
{
    char target[PATH_MAX];
    int why = errno;
    ssize_t size = readlink(path, target, sizeof target - 1);

    if (why == ELOOP)
        return status_in_file(
            err, status_argument(err, "inputs", "%.300s: too many symbolic links; does a link form a cycle?", path),
            path);
    if (why != ENOENT || size < 0)
        return status_set_os(err, why, path, "cannot follow the symbolic link %s", path);
    target[size] = '\0';
    return status_set_in(err, LEAT_E_NO_FILE, path,
                         "%.300s is a symbolic link to %.300s, which is missing; restore that, or remove the link",
                         path, target);
}

/* Refuses a folder if a name in it shows that it is a table, whose files must not be packed one by one. */
static enum leat_status refuse_table(const char *path, const char *name, const struct stat *st, struct leat_error *err)
{
    size_t stem = strlen(path) - strlen(name);
    enum leat_status status;
    char *folder;

    if (!S_ISDIR(st->st_mode))
        return found_names_refuse_table(path, stem, err);
    folder = search_join(path, strlen(path), "");
    status = folder ? found_names_refuse_table(folder, stem, err) : status_no_memory(err, strlen(path));
    free(folder);
    return status;
}

static enum leat_status pass_special(struct search *s, const char *path, struct leat_error *err)
{
    const char *kept;
    enum leat_status status = search_skip(s, path, LEAT_SKIP_KIND, &kept, err);

    if (status == LEAT_OK && (!s->special || strcmp(kept, s->special) < 0))
        s->special = kept;
    return status;
}

static enum leat_status found(struct search *s, const char *path, const char *name, struct leat_error *err)
{
    enum found_name kind = found_name(name, s->rules->options->format);
    enum leat_status status;
    bool is_link, leads = true, left = false;
    struct stat st;

    if (lstat(path, &st) != 0) /* hidden files may come and go */
        return kind == NAME_HIDDEN ? LEAT_OK : status_set_os(err, errno, path, "cannot examine %s", path);
    is_link = S_ISLNK(st.st_mode);
    if (is_link)
        leads = stat(path, &st) == 0;
    if (kind == NAME_PLAIN && !S_ISDIR(st.st_mode) && search_is_patterned(s, below_folder(s, path)) &&
        !own_outputs_find(s->rules->own, &st))
        return search_pass_patterned(s, path, err);
    if (!leads && kind == NAME_PLAIN)
        return cannot_follow(path, err);
    status = leads ? refuse_table(path, name, &st, err) : LEAT_OK;
    if (status != LEAT_OK || kind == NAME_HIDDEN)
        return status;
    if (kind == NAME_MARKED)
        return found_marked(s, path, name, leads ? &st : NULL, err);
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
        return pass_special(s, path, err);
    if (is_link && !s->rules->options->follow_links)
        status = judge_link(s, path, &left, err);
    if (status != LEAT_OK || left)
        return status;
    return S_ISDIR(st.st_mode) ? found_folder(s, path, is_link, err) : found_file(s, path, name, &st, err);
}

/* Returns true if --exclude leaves out all that may lie in this folder, by a pattern of its path, a slash and two
 * stars. */
static bool is_left_out(const struct search *s, const char *folder)
{
    const char *below = below_folder(s, folder);
    bool out = false;

    for (size_t i = 0; !out && *below && i < s->rules->options->exclude_count; i++) {
        const char *pattern = s->rules->options->exclude[i];
        size_t bytes = strlen(pattern);
        char *itself = bytes > 3 && strcmp(pattern + bytes - 3, "/**") == 0 ? strndup(pattern, bytes - 3) : NULL;

        out = itself && hub_glob(itself + (*itself == '/'), below);
        free(itself);
    }
    return out;
}

static enum leat_status search_in(struct search *s, const char *folder, struct leat_error *err)
{
    DIR *d = opendir(folder);
    enum leat_status status = LEAT_OK;
    const char *name;

    if (!d && errno == EACCES && is_left_out(s, folder))
        return search_pass_patterned(s, folder, err);
    if (!d)
        return status_set_os(err, errno, folder, "cannot read the folder %s", folder);
    while (folder_next(d, folder, &name, &status, err)) {
        char *path;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        status = search_check_stop(s, err);
        if (status != LEAT_OK)
            break;
        path = search_join(folder, strlen(folder), name);
        status = path ? found(s, path, name, err) : status_no_memory(err, strlen(folder));
        free(path);
    }
    closedir(d);
    return status;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct input *)a)->path, ((const struct input *)b)->path);
}

static enum leat_status say_no_files(const struct search *s, const char *folder, struct leat_error *err)
{
    char names[RECORD_FORMAT_SENTENCE];

    if (s->patterned)
        return status_set_in(err, LEAT_E_NOT_FOUND, folder,
                             "the folder %s has no file to pack but what include and exclude leave out, such as %s",
                             folder, s->patterned);
    if (s->outside)
        return status_set_hint(err, LEAT_E_NOT_FOUND, LEAT_HINT_FOLLOW, folder,
                               "the folder %s has no file to pack but links that lead out of it, such as %s; follow "
                               "links to pack what they lead to",
                               folder, s->outside);
    if (s->marked)
        return status_set_in(err, LEAT_E_NOT_FOUND, folder,
                             "the folder %s has no file to pack but names that begin with _, which are passed over in "
                             "folders, such as %s; name these to pack them",
                             folder, s->marked);
    if (s->special)
        return status_set_in(
            err, LEAT_E_NOT_FOUND, folder,
            "the folder %s has no file to pack; %s is neither a file nor a folder; for a pipe, use - and "
            "redirect it",
            folder, s->special);
    if (s->rules->options->format != LEAT_PACK_AUTO)
        return status_set_in(err, LEAT_E_NOT_FOUND, folder, "the folder %s has no files", folder);
    record_format_tell(names);
    return status_set_hint(err, LEAT_E_NOT_FOUND, LEAT_HINT_FORMAT, folder,
                           "the folder %s has no file with a known suffix %s", folder, names);
}

static enum leat_status add_root(struct search *s, const char *folder, size_t before, bool card, struct leat_error *err)
{
    struct search_root *roots = reallocarray(s->roots, s->root_count + 1, sizeof *roots);
    char *path = strdup(folder);

    if (roots)
        s->roots = roots;
    if (!roots || !path) {
        free(path);
        return status_no_memory(err, (s->root_count + 1) * sizeof *roots);
    }
    roots[s->root_count++] = (struct search_root) { path, before, s->list->count - before, card };
    return LEAT_OK;
}

enum leat_status search_end_folder(struct search *s, const char *folder, size_t before, bool card,
                                   struct leat_error *err)
{
    if (s->unread_count > 0 && !s->rules->options->skip_unknown)
        return status_set_hint(err, LEAT_E_UNSUPPORTED, LEAT_HINT_SKIP, folder,
                               "the folder %s has %zu file%s that may hold texts but cannot be read; %s is %s: %s, or "
                               "skip such files",
                               folder, s->unread_count, s->unread_count == 1 ? "" : "s", s->unread,
                               s->unread_kind->name, s->unread_kind->cure);
    if (s->list->count == before)
        return say_no_files(s, folder, err);
    qsort(s->list->items + before, s->list->count - before, sizeof *s->list->items, by_path);
    return add_root(s, folder, before, card, err);
}

void search_begin_folder(struct search *s, const char *folder)
{
    s->folder = (struct folder_links) { .folder = folder };
    s->outside = s->marked = s->marked_last = s->special = s->patterned = NULL;
}

/* Whether README.md is a file in it. */
static enum leat_status look_for_card(const char *folder, bool *card, struct leat_error *err)
{
    char *path = search_join(folder, strlen(folder), "README.md");
    enum leat_status status = LEAT_OK;
    struct stat st;

    if (!path)
        return status_no_memory(err, strlen(folder));
    if (stat(path, &st) == 0)
        *card = S_ISREG(st.st_mode);
    else if (errno != ENOENT) /* a README.md that cannot be read is an error */
        status = status_set_os(err, errno, path, "cannot examine %s", path);
    free(path);
    return status;
}

enum leat_status search_folder(struct search *s, const char *folder, struct leat_error *err)
{
    size_t before = s->list->count;
    enum leat_status status;
    bool card = false;

    search_begin_folder(s, folder);
    status = search_in(s, folder, err);
    free(s->folder.real);
    s->folder.real = NULL;
    if (status == LEAT_OK)
        status = look_for_card(folder, &card, err);
    return status == LEAT_OK ? search_end_folder(s, folder, before, card, err) : status;
}
