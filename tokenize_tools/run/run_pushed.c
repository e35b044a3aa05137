/* run_pushed.c: from top to bottom: names; removing old files; where a run stands; how one begins. */
#include "run_pushed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own_file.h"
#include "base/random_words.h"
#include "base/status.h"
#include "pack/pack.h"
#include "run_advice.h"

#define LOCK_TRIES   500u /* tries, 20 ms apart: a commit looks at each part */
#define LOCK_WAIT_NS 20000000

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static bool is_key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-_.=", c);
}

enum leat_status pushed_check_key(const char *key, struct leat_error *err)
{
    size_t length = key ? strlen(key) : 0;

    for (size_t i = 0; i < length; i++)
        if (!is_key_char(key[i]))
            length = 0;
    if (length > 0 && length <= LEAT_RUN_MAX_KEY && key[0] != '.')
        return LEAT_OK;
    return status_argument(
        err, "key", "%.200s%s cannot name a part: use at most %d letters, digits and -_.=, without a dot at the start",
        key ? key : "NULL", key && !*key ? "an empty text" : "", LEAT_RUN_MAX_KEY);
}

void pushed_attempt_name(char name[PUSHED_NAME], const char *split, const char *key, uint64_t attempt)
{
    snprintf(name, PUSHED_NAME, "%.64s%s%.128s.%016" PRIx64, split, *split ? "/" : "", key, attempt);
}

/* Returns true for the suffixes of an attempt's files. */
static bool is_suffix(const char *text)
{
    return strcmp(text, ".leat") == 0 || strcmp(text, ".tokens") == 0 || strncmp(text, ".rejects", 8) == 0 ||
           strncmp(text, ".partial", 8) == 0;
}

/* Returns the length of KEY.ATTEMPT in the name of one of its files; 0 if the file is another one. A key may look
 * like an attempt, too: the last one in the name is that of the file. */
size_t pushed_attempt_length(const char *file)
{
    size_t length = 0;

    for (const char *dot = strchr(file, '.'); dot; dot = strchr(dot + 1, '.'))
        if (dot > file && *file != '.' && strspn(dot + 1, "0123456789abcdef") == PUSHED_DIGITS &&
            is_suffix(dot + 1 + PUSHED_DIGITS))
            length = (size_t)(dot - file) + 1 + PUSHED_DIGITS;
    return length;
}

/* Refuses a split whose name looks like the digits of an attempt: in a bucket it would be taken for these. */
enum leat_status pushed_check_splits(const struct leat_pack_options *o, struct leat_error *err)
{
    for (uint64_t i = 0; i < o->split_count; i++)
        if (o->splits[i].name && strspn(o->splits[i].name, "0123456789abcdef") == PUSHED_DIGITS &&
            !o->splits[i].name[PUSHED_DIGITS])
            return status_argument(err, "splits", "%.100s is no name for a split: its files would look like a part's",
                                   o->splits[i].name);
    return pack_arranged_check(o, true, err);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static bool is_committed(const struct folder_list *list, const uint8_t run[16])
{
    return list->count > 0 && memcmp(list->run, run, sizeof list->run) == 0;
}

enum leat_status pushed_open_split(struct run_place *split, const struct run_place *place, const char *name, bool make,
                                   bool *ours, struct leat_error *err)
{
    struct folder_list list = { 0 };
    struct buffer text = { 0 };
    enum leat_status s = run_place_open_split(split, place, name, make, err);

    if (s == LEAT_OK)
        s = run_place_read_list(split, FOLDER_LIST, &list, &text, err);
    *ours = s == LEAT_OK && list.split && strcmp(list.split, name) == 0;
    folder_list_free(&list);
    buffer_free(&text);
    return s;
}

enum leat_status pushed_check_folders(const struct run_place *place, const struct leat_split *splits, uint64_t count,
                                      struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && place->folder && i < count; i++) {
        struct run_place split;

        s = run_place_open_split(&split, place, splits[i].name, false, &why);
        run_place_close(&split);
        if (s == LEAT_E_NO_FILE) /* missing files in it are reported next */
            s = LEAT_OK;
    }
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

/* ---- What is swept ----------------------------------------------------------------------------------------------- */

struct sweep {
    struct run_place *place;
    const struct folder_list *list;
    const char **kept; /* its attempts, sorted */
    size_t count;
    const struct run_plan *plan;
    bool dead_only; /* true to remove only files of processes that are dead */
    bool in_split;
};

/* A file's name, and the length of the attempt's name in it. */
struct file_name {
    const char *text;
    size_t length;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_file(const void *file, const void *name)
{
    const struct file_name *f = file;
    const char *kept = *(const char *const *)name;
    int r = strncmp(f->text, kept, f->length);

    return r != 0 ? r : kept[f->length] ? -1 : 0;
}

/* Returns true if a process has locked this file of an attempt. */
static bool is_locked(struct run_place *place, const char *file, size_t length, const char *suffix)
{
    char *stem = strndup(file, length), *path = stem ? run_place_file(place, stem, suffix) : NULL;
    int fd = -1;
    enum leat_status s = path ? own_file_open(&fd, NULL, path, OWN_FILE_LOCK, NULL) : LEAT_E_NO_MEMORY;
    bool live = s != LEAT_E_NO_FILE; /* if this is not known, nothing is removed */

    if (s == LEAT_OK)
        live = own_file_lock(fd, path, NULL, NULL) != LEAT_OK;
    own_file_unlock(&fd);
    free(path);
    free(stem);
    return live;
}

/* Returns true if a process makes this attempt. */
static bool is_live(struct run_place *place, const char *file, size_t length)
{
    return is_locked(place, file, length, ".partial.lock") || is_locked(place, file, length, PUSHED_WHOLE ".lock");
}

static bool has_split(const struct sweep *s, const char *name)
{
    for (uint64_t i = 0; s->plan && i < s->plan->pack.split_count; i++)
        if (strcmp(s->plan->pack.splits[i].name, name) == 0)
            return true;
    return pushed_has_split(s->list, name);
}

static bool is_kept(const struct sweep *s, const char *file, size_t length)
{
    return bsearch(&(struct file_name) { file, length }, s->kept, s->count, sizeof *s->kept, compare_file) != NULL;
}

static bool is_swept_upload(void *context, const char *file)
{
    size_t length = pushed_attempt_length(file);

    return length > 0 && !is_kept(context, file, length);
}

static run_place_take sweep_file;

enum leat_status pushed_remove_split(const struct run_place *place, const char *name, struct leat_error *err)
{
    if (!place->remote && unlinkat(dirfd(place->folder), name, AT_REMOVEDIR) != 0 && errno != ENOTEMPTY &&
        errno != EEXIST && errno != ENOENT && errno != ENOTDIR)
        return status_set_os(err, errno, place->path, "cannot remove the folder %s in %s", name, place->path);
    return LEAT_OK;
}

/* Looks into a folder in the place, if it is that of a split. */
static enum leat_status sweep_split(const struct sweep *outer, const char *name, struct leat_error *err)
{
    struct sweep s = *outer;
    struct run_place place;
    bool ours;
    enum leat_status status = pushed_open_split(&place, outer->place, name, false, &ours, err);

    s.place = &place;
    s.in_split = true;
    if (status == LEAT_OK && ours)
        status = run_place_list(&place, sweep_file, &s, err);
    if (status == LEAT_OK && ours && !s.dead_only)
        status = run_place_sweep_uploads(&place, "", is_swept_upload, &s, err);
    if (status == LEAT_OK && ours && has_split(&s, name))
        status = run_place_sync(&place, err);
    else if (status == LEAT_OK && ours) {
        status = run_place_remove(&place, FOLDER_LIST, err);
        if (status == LEAT_OK)
            status = pushed_remove_split(outer->place, name, err);
    }
    run_place_close(&place);
    /* A folder of somebody else may have any content, or be gone by now. */
    return status == LEAT_E_EXISTS || status == LEAT_E_CHECKSUM || status == LEAT_E_VERSION || status == LEAT_E_NO_FILE
               ? LEAT_OK
               : status;
}

static enum leat_status sweep_file(void *context, const char *file, uint64_t size, struct leat_error *err)
{
    struct sweep *s = context;
    size_t length = pushed_attempt_length(file);
    bool partial = length > 0 && strncmp(file + length, ".partial", 8) == 0; /* this also finds a file that a
                                                                                finished attempt has left */

    (void)size;
    if (strchr(file, '/')) {
        char *name = s->in_split ? NULL : strndup(file, strcspn(file, "/"));
        enum leat_status status = name          ? sweep_split(s, name, err)
                                  : s->in_split ? LEAT_OK
                                                : status_no_memory(err, strlen(file));

        free(name);
        return status;
    }
    if (length == 0 && !s->dead_only)
        return pushed_sweep_list(s->place, s->list, file, err);
    if (length == 0 || (!partial && is_kept(s, file, length)))
        return LEAT_OK;
    if (s->dead_only && (!partial || is_live(s->place, file, length)))
        return LEAT_OK;
    return run_place_remove(s->place, file, err);
}

enum leat_status pushed_sweep(struct run_place *place, const struct folder_list *list, const struct run_plan *plan,
                              bool dead_only, struct leat_error *err)
{
    struct sweep s = { .place = place, .count = list->count, .list = list, .plan = plan, .dead_only = dead_only };
    enum leat_status status = LEAT_OK;

    s.kept = calloc(list->count + 1, sizeof *s.kept);
    if (!s.kept)
        return status_no_memory(err, list->count);
    for (size_t i = 0; i < list->count; i++)
        s.kept[i] = list->parts[i].name;
    qsort(s.kept, s.count, sizeof *s.kept, compare_names);
    status = run_place_list(place, sweep_file, &s, err);
    if (status == LEAT_OK && !dead_only)
        status = run_place_sweep_uploads(place, "", is_swept_upload, &s, err);
    free(s.kept);
    return status == LEAT_OK ? run_place_sync(place, err) : status;
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

enum leat_status pushed_read_plan(struct run_place *place, struct run_plan *plan, struct leat_error *err)
{
    char *path = run_place_file(place, PUSHED_PLAN, NULL);
    enum leat_status s = path ? LEAT_OK : status_no_memory(err, 0);

    *plan = (struct run_plan)RUN_PLAN_INIT;
    if (s == LEAT_OK)
        s = run_place_read(place, PUSHED_PLAN, &plan->text, err);
    if (s == LEAT_OK)
        s = run_plan_take(plan, path, err);
    if (s == LEAT_OK && (plan->parts == 0) != (plan->run != NULL))
        s = status_set_in(err, LEAT_E_UNSUPPORTED, path, "%s is not the plan of a run that this version can read",
                          path);
    free(path);
    return s;
}

enum leat_status pushed_number(const struct run_plan *plan, uint8_t run[16], struct leat_error *err)
{
    if (plan->run && folder_list_bytes(plan->run, run))
        return LEAT_OK;
    return status_argument(err, "run", "the parts of this run read its inputs: none is pushed");
}

enum leat_status pushed_look(struct run_place *place, const uint8_t run[16], enum standing *standing,
                             struct folder_list *list, struct buffer *text, struct leat_error *err)
{
    struct run_plan plan;
    struct leat_error why;
    uint8_t now[16];
    enum leat_status s = pushed_read_plan(place, &plan, &why);

    *list = (struct folder_list) { 0 };
    *standing = IS_GONE;
    if (s == LEAT_OK && pushed_number(&plan, now, NULL) == LEAT_OK && memcmp(now, run, 16) == 0)
        *standing = plan.aborted ? IS_ABORTED : STANDS;
    else if (s == LEAT_OK && plan.aborted && folder_list_bytes(plan.aborted, now) && memcmp(now, run, 16) == 0)
        *standing = IS_ABORTED;
    run_plan_free(&plan);
    if (s == LEAT_E_NO_FILE)
        s = LEAT_OK;
    if (s != LEAT_OK && err)
        *err = why;
    if (s == LEAT_OK)
        s = run_place_read_list(place, FOLDER_LIST, list, text, err);
    if (s == LEAT_OK && is_committed(list, run))
        *standing = *standing == STANDS ? IS_COMMITTED : IS_FOLLOWED;
    return s;
}

enum leat_status pushed_say_gone(const struct run_place *place, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_STATE, place->path,
                         "the run in %s is no more: it was aborted, or another one has taken its place", place->path);
}

/* Without a lock, another list that appears is found when this one is written. */
enum leat_status pushed_lock(struct run_place *place, int *fd, struct leat_error *err)
{
    char *path = place->remote ? NULL : run_place_file(place, PUSHED_PLAN, NULL);
    enum leat_status s = LEAT_OK;
    bool named = false;

    *fd = -1;
    if (place->remote)
        return LEAT_OK;
    if (!path)
        return status_no_memory(err, 0);
    for (unsigned tries = 0; s == LEAT_OK && !named; tries++) {
        struct leat_error why;

        s = own_file_open(fd, NULL, path, OWN_FILE_LOCK, &why);
        if (s == LEAT_E_NO_FILE) {
            s = LEAT_OK;
            break;
        }
        if (s == LEAT_OK)
            s = own_file_lock(*fd, path, path, &why);
        if (s == LEAT_OK)
            s = own_file_is_named(*fd, path, &named, &why);
        if (s == LEAT_E_BUSY && tries < LOCK_TRIES) {
            nanosleep(&(struct timespec) { .tv_nsec = LOCK_WAIT_NS }, NULL);
            s = LEAT_OK;
        }
        if (!named)
            own_file_unlock(fd);
        if (s != LEAT_OK && err)
            *err = why;
    }
    free(path);
    return s;
}

/* ---- How a run begins -------------------------------------------------------------------------------------------- */

/* Refuses datasets that somebody has put there, since they would vanish from the folder's dataset without a notice. */
static enum leat_status check_foreign(void *context, const char *file, uint64_t size, struct leat_error *err)
{
    const struct run_place *place = context;
    size_t length = strlen(file);

    (void)size;
    if (file[0] == '.' || pushed_attempt_length(file) > 0 || !file_ends_with(file, length, ".leat"))
        return LEAT_OK;
    return status_set_in(err, LEAT_E_EXISTS, place->path,
                         "%s has the dataset %s, which is not of a run that was pushed: choose an empty "
                         "folder",
                         place->path, file);
}

static enum leat_status check_split_file(void *context, const char *file, uint64_t size, struct leat_error *err)
{
    const struct run_place *split = context;
    size_t length = strlen(file);

    (void)size;
    if (file[0] == '.' || pushed_attempt_length(file) > 0 ||
        !(strcmp(file, PUSHED_PLAN) == 0 || strcmp(file, FOLDER_LIST) == 0 || file_ends_with(file, length, ".leat")))
        return LEAT_OK;
    return status_set_in(err, LEAT_E_EXISTS, split->path,
                         "%s is to become the folder of a split, and has %s, which is not of that: choose an empty "
                         "folder, or another name for the split",
                         split->path, file);
}

/* Checks, before anything is written, that the folder of each split belongs to it, or can be made; then makes them. */
static enum leat_status take_splits(struct run_place *place, const struct run_plan *plan, bool make,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < plan->pack.split_count; i++) {
        const char *name = plan->pack.splits[i].name;
        struct run_place split;
        struct leat_error why;
        struct buffer text = { 0 };
        bool ours;

        s = pushed_open_split(&split, place, name, make, &ours, &why);
        if (s == LEAT_OK && !ours && !make)
            s = run_place_list(&split, check_split_file, &split, &why);
        if (s == LEAT_OK && !ours && make)
            s = folder_list_make_split(&text, name, &why);
        if (s == LEAT_OK && !ours && make)
            s = run_place_write(&split, FOLDER_LIST, text.bytes, text.size, false, &why);
        if (make ? s == LEAT_E_EXISTS : s == LEAT_E_NO_FILE) /* another process begins the same run; or the folder is
                                                                missing */
            s = LEAT_OK;
        if (s != LEAT_OK && err)
            *err = why;
        buffer_free(&text);
        run_place_close(&split);
    }
    return s;
}

/* Returns true if a name of the plan is relative to the place where it was planned. */
static bool is_relative(const struct run_plan *plan, const char *name)
{
    char *path = name && *name && *name != '/' ? run_plan_path(plan, name) : NULL;
    bool relative = path && access(path, F_OK) == 0;

    free(path);
    return relative;
}

/* Returns LEAT_OK if the run that is there has the same plan, but for its number, and for options that change no
 * byte. */
static enum leat_status is_same(const struct run_plan *there, const struct run_plan *plan, bool *same,
                                struct leat_error *err)
{
    struct run_plan wanted = *plan;
    struct buffer text = { 0 }, other = { 0 };
    enum leat_status s;

    wanted.run = there->run;
    wanted.pack.threads = there->pack.threads;
    wanted.pack.memory = there->pack.memory;
    wanted.pack.write = there->pack.write;
    wanted.pack.max_rejects = there->pack.max_rejects;
    wanted.pack.max_rejects_ppm = there->pack.max_rejects_ppm;
    if (!is_relative(plan, plan->tokenizer) && !is_relative(plan, plan->pack.chat))
        wanted.from = there->from;
    s = run_plan_make(&text, &wanted, err);
    if (s == LEAT_OK)
        s = run_plan_make(&other, there, err);
    *same = s == LEAT_OK && text.size == other.size && memcmp(text.bytes, other.bytes, text.size) == 0;
    buffer_free(&text);
    buffer_free(&other);
    return s;
}

/* Decides about a run that is not committed when another would begin in its place. */
static enum leat_status join(struct run_place *place, const struct run_plan *plan, const struct folder_list *list,
                             struct run_plan *there, bool *joined, struct leat_error *err)
{
    uint8_t run[16];
    bool same, ended;
    size_t before;
    enum leat_status s = there->run ? is_same(there, plan, &same, err) : LEAT_E_EXISTS;

    if (!there->run)
        return status_set_in(err, s, place->path,
                             "%s is the folder of a run that reads its inputs: choose another folder", place->path);
    if (s == LEAT_OK)
        s = pushed_number(there, run, err);
    if (s != LEAT_OK)
        return s;
    ended = is_committed(list, run) || pushed_base(place, there, list, false, &before, NULL) == LEAT_E_STATE;
    *joined = same && !ended;
    if (*joined || ended)
        return LEAT_OK;
    return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, place->path,
                           "a run with other options has begun in %s, and was not committed: abort it, choose another "
                           "folder or replace it",
                           place->path);
}

enum leat_status pushed_write_plan(struct run_place *place, const struct run_plan *plan, bool replace, int *fd,
                                   struct leat_error *err)
{
    char *path = run_place_file(place, PUSHED_PLAN, NULL);
    struct run_plan numbered = *plan;
    struct buffer text = { 0 };
    uint64_t words[2];
    uint8_t bytes[16];
    char run[33];
    enum leat_status s;

    random_words(words, 2);
    memcpy(bytes, words, sizeof bytes);
    folder_list_hex(run, bytes);
    numbered.run = plan->run ? plan->run : run;
    s = path ? run_plan_make(&text, &numbered, err) : status_no_memory(err, 0);
    if (s == LEAT_OK)
        s = !place->remote ? own_file_write_held(fd, path, text.bytes, text.size, replace, err)
            : replace      ? run_place_swap(place, PUSHED_PLAN, text.bytes, text.size, err)
                           : run_place_write(place, PUSHED_PLAN, text.bytes, text.size, false, err);
    free(path);
    buffer_free(&text);
    return s;
}

/* Sets the limits of rejects of the run that is there, which a process that takes part in it may do. */
static enum leat_status take_limits(struct run_place *place, struct run_plan *there, const struct run_plan *plan,
                                    int *fd, struct leat_error *err)
{
    if (there->pack.max_rejects == plan->pack.max_rejects && there->pack.max_rejects_ppm == plan->pack.max_rejects_ppm)
        return LEAT_OK;
    there->pack.max_rejects = plan->pack.max_rejects;
    there->pack.max_rejects_ppm = plan->pack.max_rejects_ppm;
    return pushed_write_plan(place, there, true, fd, err);
}

static enum leat_status begin_run(struct run_place *place, const struct run_plan *given, enum run_beginning how,
                                  int *fd, struct leat_error *err)
{
    struct run_plan there, plan = *given;
    struct folder_list list;
    struct buffer text = { 0 };
    char base[PUSHED_BASE];
    bool joined = false, planned;
    struct leat_error why;
    enum leat_status s = run_place_read_list(place, FOLDER_LIST, &list, &text, err),
                     t = pushed_read_plan(place, &there, &why);

    planned = t == LEAT_OK;
    if (s == LEAT_OK && t != LEAT_OK && t != LEAT_E_NO_FILE) {
        s = t;
        if (err)
            *err = why;
    }
    if (s == LEAT_OK && list.split)
        s = status_set_in(err, LEAT_E_EXISTS, place->path, "%s is the folder of a split: choose another folder",
                          place->path);
    if (s == LEAT_OK && list.count == 0)
        s = run_place_list(place, check_foreign, place, err);
    if (s == LEAT_OK && list.count > 0 && how == BEGIN_APPEND) {
        pushed_base_text(base, &list);
        plan.base = base;
        s = pushed_check_base(place, &list, &plan.pack, err);
    }
    if (s == LEAT_OK && planned && !there.aborted && (how != BEGIN_REPLACE || !there.run))
        s = join(place, &plan, &list, &there, &joined, err);
    if (s == LEAT_OK && list.count > 0 && how == BEGIN_NEW && !joined)
        s = status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_APPEND_OR_REPLACE, place->path,
                            "%s is a finished dataset; choose another folder, append to it or replace it", place->path);
    if (s == LEAT_OK)
        s = take_splits(place, &plan, false, err);
    if (s == LEAT_OK)
        s = joined ? take_limits(place, &there, &plan, fd, err) : pushed_write_plan(place, &plan, planned, fd, err);
    if (s == LEAT_OK)
        s = take_splits(place, &plan, true, err);
    if (s == LEAT_OK && place->remote) { /* Nothing is locked in a bucket; a list that was committed meanwhile stays. */
        folder_list_free(&list);
        buffer_free(&text);
        s = run_place_read_list(place, FOLDER_LIST, &list, &text, err);
    }
    if (s == LEAT_OK)
        s = pushed_sweep(place, &list, &plan, joined, err);
    run_plan_free(&there);
    folder_list_free(&list);
    buffer_free(&text);
    return s;
}

enum leat_status run_pushed_create(const char *output, const struct run_plan *plan, enum run_beginning how,
                                   struct leat_error *err)
{
    struct run_place place;
    bool made, again = true;
    int fd = -1;
    enum leat_status s = run_place_open(&place, output, true, &made, err);

    for (unsigned tries = 0; s == LEAT_OK && again; tries++) {
        bool lost;

        s = pushed_lock(&place, &fd, err);
        if (s == LEAT_OK)
            s = begin_run(&place, plan, how, &fd, err);
        /* Without a plan there is no lock: another process may have begun at this moment. */
        again = fd < 0 && ((s == LEAT_E_EXISTS && tries == 0) || (s == LEAT_E_BUSY && tries < LOCK_TRIES));
        lost = fd < 0 && s == LEAT_E_NO_FILE && !place.remote && access(place.path, F_OK) != 0 && tries < LOCK_TRIES;
        own_file_unlock(&fd);
        if (again && s == LEAT_E_BUSY)
            nanosleep(&(struct timespec) { .tv_nsec = LOCK_WAIT_NS }, NULL);
        s = again ? LEAT_OK : s;
        if (lost) { /* The folder was removed with the run that was aborted in it. */
            run_place_close(&place);
            s = run_place_open(&place, output, true, &made, err);
            again = true;
        }
    }
    if (s != LEAT_OK && made)
        (void)rmdir(place.path); /* this removes a folder that was made for nothing */
    run_place_close(&place);
    return s;
}

enum leat_status run_pushed_read(struct leat_run *run, const char *folder, struct leat_error *err)
{
    struct run_place place;
    uint8_t number[16];
    enum leat_status s = run_place_open(&place, folder, false, NULL, err);

    if (s == LEAT_OK)
        s = pushed_read_plan(&place, &run->plan, err);
    if (s == LEAT_E_NO_FILE)
        s = run_advise(err, status_set_in(err, s, folder, "%s is not the folder of a run", folder), RUN_NO_PLAN);
    if (s == LEAT_OK)
        s = pushed_number(&run->plan, number, err);
    if (s == LEAT_OK && (!(run->folder = strdup(place.path)) || !(run->name = strdup(folder))))
        s = status_no_memory(err, strlen(place.path));
    run_place_close(&place);
    return s;
}
