/*
 * run_attempt.c: an attempt at a part that is pushed: leat_run_push() and leat_run_finish(), and the piece that is
 * their result. It is a packer (pack.h, struct packer_part) that writes in the run's folder; for a bucket it writes
 * in a scratch folder, from which finished files are sent. In a run with splits, it writes one dataset, which is
 * divided when it is finished. In the scratch folder, which has the attempts of all runs and no folders, the results
 * lie beside each other, with names that begin like those of an unfinished attempt.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrange/merge.h"
#include "base/file.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/random_words.h"
#include "base/status.h"
#include "pack/pack.h"
#include "run_pushed.h"

#define PAGE_BYTES 4096u /* bytes of an index's first page, which ends in its checksum (FORMAT.md) */

/* ---- An attempt -------------------------------------------------------------------------------------------------- */

struct attempt {
    struct packer_part part; /* first */
    char *place;             /* of the run */
    char *path;              /* path of the dataset on this machine, in the folder or in the scratch folder */
    char *whole;             /* with splits, the dataset that is divided; else NULL */
    char *given;             /* dataset whose name the list of rejects has */
    struct leat_merge_options dividing;
    bool divided;
    char *chat;
    uint8_t run[16];
    uint64_t number;
    char key[LEAT_RUN_MAX_KEY + 1];
    char name[PUSHED_NAME];
    bool remote, complete, counts; /* remote: the run is in a bucket; complete: all is written here; counts: a commit
                                      may name it */
    char *lock_path;               /* file that is locked until the attempt ends, for a scratch folder or with
                                      splits; else NULL */
    int lock_fd;
};

static const char *const finished[] = { ".leat", ".tokens", ".rejects.jsonl" };

#define SUFFIXES (sizeof finished / sizeof *finished)

/* Returns the split that gets dataset `i` of an attempt; NULL for the rest. */
static const char *split_of(const struct attempt *a, uint64_t i)
{
    return i == 0 ? NULL : a->dividing.splits[i - 1].name;
}

static bool is_any(void *context, const char *name)
{
    (void)context;
    (void)name;
    return true;
}

/* Return the dataset's name on this machine, and in the place, with a suffix. The caller frees it. */
static char *dataset_here(const struct attempt *a, uint64_t i, const char *suffix)
{
    return split_fractions_output(a->path, split_of(a, i), !a->remote, suffix);
}

static void dataset_there(const struct attempt *a, uint64_t i, char name[PUSHED_NAME])
{
    pushed_attempt_name(name, i == 0 ? "" : split_of(a, i), a->key, a->number);
}

static void remove_file(char *path)
{
    if (path)
        (void)file_remove(path, NULL);
    free(path);
}

static void remove_whole(const struct attempt *a)
{
    for (size_t i = 0; a->whole && i < 2; i++)
        remove_file(path_append(a->whole, strlen(a->whole), finished[i], NULL));
}

static void remove_here(const struct attempt *a)
{
    for (uint64_t i = 0; i <= a->dividing.split_count; i++)
        for (size_t k = 0; k < 2; k++)
            remove_file(dataset_here(a, i, finished[k]));
    remove_file(path_append(a->given, strlen(a->given), finished[2], NULL));
    remove_whole(a);
}

static void remove_there(struct run_place *place, const struct attempt *a)
{
    for (uint64_t i = 0; i <= a->dividing.split_count; i++) {
        char name[PUSHED_NAME];

        dataset_there(a, i, name);
        for (size_t k = 0; k < SUFFIXES; k++) {
            char *file = path_append(name, strlen(name), finished[k], NULL);

            if (file)
                (void)run_place_remove(place, file, NULL);
            free(file);
        }
        (void)run_place_sweep_uploads(place, name, is_any, NULL, NULL);
    }
}

static void free_attempt(struct attempt *a)
{
    if (a->lock_path)
        (void)file_remove(a->lock_path, NULL);
    own_file_unlock(&a->lock_fd);
    free(a->lock_path);
    free(a->place);
    free(a->path);
    free(a->whole);
    free(a->given);
    free(a->chat);
    free(a);
}

/* A file of this attempt, which does not count: it may have got its name while an abort removed the others. */
struct mine {
    struct run_place *place;
    const char *name;
};

static enum leat_status remove_mine(void *context, const char *file, uint64_t size, struct leat_error *err)
{
    const struct mine *m = context;
    size_t length = strlen(m->name);

    (void)size;
    return strncmp(file, m->name, length) == 0 && file[length] == '.' && strncmp(file + length, ".rejects", 8) != 0
               ? run_place_remove(m->place, file, err)
               : LEAT_OK;
}

/* Removes the files of a packer whose lock was removed by an abort or a commit while it opened. The packer leaves
 * these files alone, since another one might have taken its name; but nobody else has the name of an attempt. */
static void remove_unfinished_in(struct run_place *place, const struct attempt *a)
{
    if (place->folder) {
        (void)run_place_list(place, remove_mine, &(struct mine) { place, a->name }, NULL);
        (void)rmdir(place->path); /* an empty folder means that its run was aborted */
    }
    run_place_close(place);
}

static void remove_unfinished(const struct attempt *a)
{
    struct run_place place, split;

    (void)run_place_open(&place, a->place, false, NULL, NULL);
    for (uint64_t i = 1; place.folder && i <= a->dividing.split_count; i++) {
        (void)run_place_open_split(&split, &place, split_of(a, i), false, NULL);
        remove_unfinished_in(&split, a);
    }
    remove_unfinished_in(&place, a);
}

/* Frees the attempt when its packer is freed, and removes files that do not count. If there were too many rejects,
 * their list stays, as its error has promised. */
static void freed(struct packer_part *part)
{
    struct attempt *a = (struct attempt *)part;
    struct run_place place;

    if (!a->counts && !a->remote)
        remove_unfinished(a);
    if (a->complete && (a->remote || !a->counts))
        remove_here(a);
    if (a->complete && a->remote && !a->counts && run_place_open(&place, a->place, false, NULL, NULL) == LEAT_OK) {
        remove_there(&place, a);
        run_place_close(&place);
    }
    free_attempt(a);
}

/* ---- In a scratch folder ---- */

/* Returns true if an attempt that was made on this machine has ended: nobody has locked NAME.lock, which is made
 * first. */
static bool has_ended(const struct run_place *folder, const char *file, size_t length)
{
    char *name = strndup(file, length), *path = name ? run_place_file(folder, name, ".lock") : NULL;
    int fd = -1;
    enum leat_status s = path ? own_file_open(&fd, NULL, path, OWN_FILE_LOCK, NULL) : LEAT_E_NO_MEMORY;
    bool ended = s == LEAT_E_NO_FILE || (s == LEAT_OK && own_file_lock(fd, path, NULL, NULL) == LEAT_OK);

    own_file_unlock(&fd);
    free(path);
    free(name);
    return ended;
}

static enum leat_status sweep_scratch(void *context, const char *file, uint64_t size, struct leat_error *err)
{
    struct run_place *folder = context;
    size_t length = strlen(file);

    (void)size;
    length = file_ends_with(file, length, ".lock") && !strstr(file, ".partial.") ? length - strlen(".lock")
                                                                                 : pushed_attempt_length(file);
    return length > 0 && has_ended(folder, file, length) ? run_place_remove(folder, file, err) : LEAT_OK;
}

/* Finds where the attempt is made, and locks that place. */
static enum leat_status take_names(struct attempt *a, const struct run_place *here, const char *lock,
                                   struct leat_error *err)
{
    bool split = a->dividing.split_count > 0;

    a->given = run_place_file(here, a->name, NULL);
    a->path = run_place_file(here, a->name, split && a->remote ? ".partial.divided" : NULL);
    if (split)
        a->whole = run_place_file(here, a->name, PUSHED_WHOLE);
    if (lock)
        a->lock_path = run_place_file(here, a->name, lock);
    if (!a->given || !a->path || (split && !a->whole) || (lock && !a->lock_path))
        return status_no_memory(err, strlen(a->name));
    a->part.given = a->given;
    return lock ? own_file_begin(&a->lock_fd, a->lock_path, err) : LEAT_OK;
}

/* Makes FOLDER/leat-parts-USER, which nobody else can look into, since the folder may be one for all users. Removes
 * what attempts left there whose processes died on this machine, and locks a place in it. */
static enum leat_status take_scratch(struct attempt *a, const char *folder, struct leat_error *err)
{
    struct run_place place = { 0 };
    char user[24], *parts;
    bool made;
    enum leat_status s;

    if (!folder)
        return status_argument(
            err, "scratch",
            "a part of a run in a bucket is made on this machine before it is sent: give a scratch folder");
    snprintf(user, sizeof user, "%lu", (unsigned long)geteuid());
    parts = path_join(folder, "leat-parts-", user, NULL);
    if (parts)
        (void)mkdir(parts, 0700); /* a failure shows in the next call */
    s = parts ? own_file_make_folder(parts, &made, err) : status_no_memory(err, strlen(folder));
    if (s == LEAT_OK)
        s = run_place_open(&place, parts, false, NULL, err);
    if (s == LEAT_OK)
        s = run_place_list(&place, sweep_scratch, &place, err);
    if (s == LEAT_OK)
        s = take_names(a, &place, ".lock", err);
    run_place_close(&place);
    free(parts);
    return s;
}

/* ---- Its begin and its end ---- */

/* Opens the run's place. If the folder is missing, it was removed with its run. */
static enum leat_status open_place(struct run_place *place, const char *path, struct leat_error *err)
{
    enum leat_status s = run_place_open(place, path, false, NULL, err);

    return s == LEAT_E_NO_FILE ? status_set_in(err, LEAT_E_STATE, path,
                                               "the run in %s is no more: it was aborted, or its folder removed", path)
                               : s;
}

static bool is_listed(const struct folder_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->parts[i].name, name) == 0)
            return true;
    return false;
}

static enum leat_status check_stands(struct run_place *place, const struct attempt *a, struct leat_error *err)
{
    enum standing standing;
    struct folder_list list;
    struct buffer text = { 0 };
    enum leat_status s = pushed_look(place, a->run, &standing, &list, &text, err);

    if (s == LEAT_OK && standing >= IS_ABORTED)
        s = pushed_say_gone(place, err);
    if (s == LEAT_OK && (standing == IS_COMMITTED || standing == IS_FOLLOWED) && !is_listed(&list, a->name))
        s = status_set_in(err, LEAT_E_STATE, place->path,
                          "the run in %s is committed without this attempt at the part %s", place->path, a->key);
    folder_list_free(&list);
    buffer_free(&text);
    return s;
}

static enum leat_status make_options(struct leat_pack_options *o, struct attempt *a, struct leat_run *run,
                                     const struct leat_run_push_options *how, struct leat_error *err)
{
    enum leat_status s = run_take_tokenizer(run, err);

    *o = run->plan.pack;
    o->tokenizer = run->tokenizer;
    o->threads = how->threads > 0 ? how->threads : o->threads;
    o->memory = how->memory > 0 ? how->memory : o->memory;
    o->renderers = how->renderers;
    o->max_rejects_ppm = LEAT_NONE;         /* a share of the rejects of all parts, which only the commit knows */
    o->store_mask |= o->mask_field != NULL; /* documents come with their masks */
    o->mask_field = NULL;
    o->split_count = 0; /* splitting comes later */
    a->dividing.threads = o->threads;
    a->dividing.memory = o->memory / 2;
    a->dividing.created = o->created;
    a->dividing.force = 1; /* an earlier try may have left files */
    if (s == LEAT_OK && o->chat && *o->chat) {
        a->chat = run_plan_path(&run->plan, o->chat);
        o->chat = a->chat;
        s = a->chat ? LEAT_OK : status_no_memory(err, 0);
    }
    return s;
}

static enum leat_status open_attempt(struct leat_packer **out, struct attempt *a, struct leat_run *run,
                                     const struct leat_run_push_options *how, struct leat_error *err)
{
    struct leat_pack_options options;
    struct run_place place;
    enum leat_status s = open_place(&place, run->folder, err);

    a->remote = place.remote != NULL;
    a->dividing.splits = run->plan.pack.splits;
    a->dividing.split_count = run->plan.pack.split_count;
    a->part.needs_hashes = a->dividing.split_count > 0;
    if (s == LEAT_OK && !(a->place = strdup(place.path)))
        s = status_no_memory(err, strlen(place.path));
    if (s == LEAT_OK)
        s = check_stands(&place, a, err);
    if (s == LEAT_OK && a->remote)
        s = take_scratch(a, how->scratch, err);
    else if (s == LEAT_OK)
        s = take_names(a, &place, a->dividing.split_count > 0 ? PUSHED_WHOLE ".lock" : NULL, err);
    run_place_close(&place);
    if (s == LEAT_OK)
        s = make_options(&options, a, run, how, err);
    return s == LEAT_OK ? packer_open(out, a->whole ? a->whole : a->path, &options, &a->part, err) : s;
}

enum leat_status leat_run_push(struct leat_packer **out, struct leat_run *run, const char *key,
                               const struct leat_run_push_options *options, struct leat_error *err)
{
    struct leat_run_push_options how = LEAT_RUN_PUSH_OPTIONS_INIT;
    struct attempt *a = calloc(1, sizeof *a);
    static const struct options_reserved reserved[] = { OPTIONS_RESERVED(leat_run_push_options, reserved), { 0, 0 } };
    enum leat_status s = a ? options_read(&how, sizeof how, reserved, options, "leat_run_push_options", err)
                           : status_no_memory(err, sizeof *a);

    *out = NULL;
    if (!a)
        return s;
    a->part.freed = freed;
    a->dividing = (struct leat_merge_options)LEAT_MERGE_OPTIONS_INIT;
    a->lock_fd = -1;
    if (s == LEAT_OK)
        s = pushed_number(&run->plan, a->run, err);
    if (s == LEAT_OK)
        s = pushed_check_key(key, err);
    if (s == LEAT_OK) {
        random_words(&a->number, 1);
        snprintf(a->key, sizeof a->key, "%s", key);
        pushed_attempt_name(a->name, "", key, a->number);
        s = open_attempt(out, a, run, &how, err);
    }
    if (s != LEAT_OK && a->name[0] && a->place && !a->remote)
        remove_unfinished(a);
    if (s != LEAT_OK)
        free_attempt(a);
    return s;
}

/* Describes a finished dataset of this machine as a list has it. */
enum leat_status pushed_describe(struct leat_run_piece *piece, const char *path, struct leat_error *err)
{
    const struct leat_open_options how = { .size = sizeof how, .access = LEAT_ACCESS_READ };
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    char *index;
    int fd = -1;
    uint64_t size;
    enum leat_status s = leat_dataset_open(&d, path, &how, err);

    if (s != LEAT_OK)
        return s;
    leat_dataset_info(d, &info);
    leat_dataset_close(d);
    piece->documents = info.documents;
    piece->tokens = info.tokens;
    piece->index_bytes = info.index_bytes;
    piece->token_bytes = info.token_bytes;
    memcpy(piece->identity, info.identity, sizeof piece->identity);
    memcpy(piece->fingerprint, info.fingerprint, sizeof piece->fingerprint);
    index = path_append(path, strlen(path), ".leat", NULL);
    s = index ? file_open_read(&fd, &size, index, err) : status_no_memory(err, strlen(path));
    if (s == LEAT_OK)
        s = file_read_at(fd, PAGE_BYTES - sizeof piece->checksum, piece->checksum, sizeof piece->checksum, index, err);
    file_close(&fd);
    free(index);
    return s;
}

/* Sends the list of rejects, which is small, and only for people. */
static enum leat_status send_rejects(struct attempt *a, struct run_place *place, struct leat_error *err)
{
    char *folder = file_folder(a->given), *name = path_append(a->name, strlen(a->name), finished[2], NULL);
    char *path = folder && name ? path_join(folder, name, NULL) : NULL;
    struct buffer text = { 0 };
    struct leat_error why;
    enum leat_status s = path ? buffer_read(&text, path, SIZE_MAX - 1, &why) : status_no_memory(&why, 0);

    if (s == LEAT_OK)
        s = run_place_write(place, name, text.bytes, text.size, true, &why);
    if (s == LEAT_E_NO_FILE) /* nothing was rejected */
        s = LEAT_OK;
    if (s != LEAT_OK && err)
        *err = why;
    buffer_free(&text);
    free(path);
    free(folder);
    free(name);
    return s;
}

/* Describes a dataset of the attempt, and sends it to a bucket. */
static enum leat_status take_dataset(struct attempt *a, uint64_t i, struct run_place *place,
                                     struct leat_run_piece *piece, struct leat_error *err)
{
    char name[PUSHED_NAME], *path = dataset_here(a, i, ""), *url;
    enum leat_status s = path ? pushed_describe(piece, path, err) : status_no_memory(err, strlen(a->name));

    dataset_there(a, i, name);
    url = run_place_file(place, name, NULL);
    memcpy(piece->run, a->run, sizeof piece->run);
    memcpy(piece->key, a->key, sizeof a->key);
    snprintf(piece->split, sizeof piece->split, "%s", i == 0 ? "" : split_of(a, i));
    piece->attempt = a->number;
    if (s == LEAT_OK && a->remote)
        s = url ? leat_push(path, url, NULL, NULL, err) : status_no_memory(err, strlen(name));
    if (s == LEAT_E_EXISTS) /* the name is random, so an earlier call, whose answer was lost, has sent it */
        s = LEAT_OK;
    free(path);
    free(url);
    return s;
}

static enum leat_status divide(struct attempt *a, struct leat_error *err)
{
    const char *whole = a->whole;
    enum leat_status s = a->divided ? LEAT_OK : merge_into(a->path, &whole, 1, !a->remote, &a->dividing, NULL, err);

    if (s == LEAT_OK && !a->divided)
        remove_whole(a);
    a->divided = s == LEAT_OK;
    return s;
}

static enum leat_status take_datasets(struct attempt *a, struct run_place *place, struct leat_run_piece *pieces,
                                      struct leat_error *err)
{
    enum leat_status s = pushed_check_folders(place, a->dividing.splits, a->dividing.split_count, err);

    if (s == LEAT_OK && a->whole)
        s = divide(a, err);
    for (uint64_t i = 0; s == LEAT_OK && i <= a->dividing.split_count; i++)
        s = take_dataset(a, i, place, &pieces[i], err);
    return s == LEAT_OK && a->remote ? send_rejects(a, place, err) : s;
}

/* Ends an attempt. It looks at the run last: then the files of an attempt that counts have their names. The files of
 * one that does not may have been removed meanwhile: that is then the reason, whatever failed. */
static enum leat_status end_attempt(struct attempt *a, enum leat_status s, struct leat_run_piece *pieces,
                                    struct leat_error *err)
{
    struct run_place place;
    struct leat_error why;
    enum leat_status t = open_place(&place, a->place, &why);

    if (t == LEAT_OK && s == LEAT_OK)
        s = take_datasets(a, &place, pieces, err);
    if (t == LEAT_OK)
        t = check_stands(&place, a, &why);
    run_place_close(&place);
    if (t == LEAT_OK || (s != LEAT_OK && t != LEAT_E_STATE))
        return s;
    *err = why;
    return t;
}

enum leat_status leat_run_finish(struct leat_packer *p, struct leat_run_piece *pieces, uint64_t count,
                                 struct leat_pack_report *report, struct leat_error *err)
{
    struct attempt *a = (struct attempt *)packer_part_of(p);
    struct leat_pack_report full = LEAT_PACK_REPORT_INIT;
    struct leat_run_piece *made;
    struct leat_error why;
    enum leat_status s;

    if (!a)
        return status_argument(err, "packer", "this packer makes a dataset of its own, not a part of a run");
    if (count != 1 + a->dividing.split_count)
        return status_argument(err, "count", "an attempt makes %" PRIu64 " pieces, its own and one for each split",
                               1 + a->dividing.split_count);
    made = calloc((size_t)count, sizeof *made);
    s = made ? packer_complete(p, &full, &why) : status_no_memory(&why, count);
    if (report)
        options_fill(report, &full, sizeof full);
    a->complete |= s == LEAT_OK;
    if (made && s != LEAT_E_FORKED)
        s = end_attempt(a, s, made, &why);
    if (s == LEAT_OK) {
        made->text_bytes = full.text_bytes;
        made->rejects = full.rejects;
        made->kept_out = full.kept_out;
        memcpy(pieces, made, (size_t)count * sizeof *pieces);
        a->counts = true;
        packer_free(p);
    } else if (err)
        *err = why;
    free(made);
    return s;
}

/* ---- A piece as text --------------------------------------------------------------------------------------------- */

#define PIECE "leat piece 1 "

void leat_run_piece_text(const struct leat_run_piece *p, char text[LEAT_RUN_PIECE_BYTES])
{
    char run[33], checksum[33], identity[33], fingerprint[33];

    folder_list_hex(run, p->run);
    folder_list_hex(checksum, p->checksum);
    folder_list_hex(identity, p->identity);
    folder_list_hex(fingerprint, p->fingerprint);
    snprintf(text, LEAT_RUN_PIECE_BYTES,
             PIECE "%s%s%s %016" PRIx64 " %s %s %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                   " %" PRIu64 " %" PRIu64,
             p->split, *p->split ? "/" : "", p->key, p->attempt, run, checksum, identity, fingerprint, p->index_bytes,
             p->token_bytes, p->documents, p->tokens, p->text_bytes, p->rejects, p->kept_out);
}

enum leat_status leat_run_piece_read(struct leat_run_piece *piece, const char *text, struct leat_error *err)
{
    struct leat_run_piece p = { .attempt = 0 };
    char run[33] = "", checksum[33] = "", identity[33] = "", fingerprint[33] = "", again[LEAT_RUN_PIECE_BYTES];
    char name[PUSHED_NAME] = "", *slash;

    if (text && strlen(text) < LEAT_RUN_PIECE_BYTES &&
        sscanf(text,
               PIECE "%193[^ ] %16" SCNx64 " %32s %32s %32s %32s %19" SCNu64 " %19" SCNu64 " %19" SCNu64 " %19" SCNu64
                     " %19" SCNu64 " %19" SCNu64 " %19" SCNu64,
               name, &p.attempt, run, checksum, identity, fingerprint, &p.index_bytes, &p.token_bytes, &p.documents,
               &p.tokens, &p.text_bytes, &p.rejects, &p.kept_out) == 13 &&
        folder_list_bytes(run, p.run) && folder_list_bytes(checksum, p.checksum) &&
        folder_list_bytes(identity, p.identity) && folder_list_bytes(fingerprint, p.fingerprint)) {
        slash = strchr(name, '/');
        snprintf(p.split, sizeof p.split, "%.*s", slash ? (int)(slash - name) : 0, name);
        snprintf(p.key, sizeof p.key, "%.128s", slash ? slash + 1 : name);
        leat_run_piece_text(&p, again); /* a piece has only one spelling: signs, blanks or anything after it are
                                           refused */
        if (strcmp(text, again) == 0 && pushed_check_key(p.key, NULL) == LEAT_OK &&
            (!slash || pushed_check_key(p.split, NULL) == LEAT_OK)) {
            *piece = p;
            return LEAT_OK;
        }
    }
    return status_argument(err, "text", "%.200s is not the piece of a run", text ? text : "NULL");
}
