/*
 * run_commit.c: the end of a run whose parts are pushed. leat_run_commit() checks the parts that it is given, writes
 * the list that decides, and removes all other files. leat_run_abort() takes the plan away from the run, removes all
 * its files, and then the plan; called again, it goes on with that.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/own_file.h"
#include "base/status.h"
#include "pack/pack.h"
#include "run_advice.h"
#include "run_pushed.h"

/* ---- The commit -------------------------------------------------------------------------------------------------- */

struct committing {
    struct leat_run *run;
    struct run_place place;
    uint8_t number[16];
    const struct leat_run_piece *pieces;
    uint64_t count;
    uint64_t each; /* number of pieces of a part: its own, and one for each split */
    bool sweeps;   /* true once it is committed */
    char (*names)[PUSHED_NAME];
    const struct leat_run_piece **sorted; /* the parts' own pieces, sorted by key */
    uint64_t split;                       /* split whose folder is looked at; 0: none */
    uint8_t *there;                       /* a byte per piece: bit 0, its index exists; bit 1, its tokens exist */
};

/* Returns the split of the nth piece of a part; "" for the part's own piece. */
static const char *split_of(const struct committing *c, uint64_t n)
{
    return n == 0 ? "" : c->run->plan.pack.splits[n - 1].name;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp((*(const struct leat_run_piece *const *)a)->key, (*(const struct leat_run_piece *const *)b)->key);
}

static enum leat_status check_pieces(struct committing *c, struct leat_error *err)
{
    const struct leat_run_piece *first = &c->pieces[0];

    for (uint64_t i = 0; i < c->count; i++) {
        const struct leat_run_piece *p = &c->pieces[i], *own = p - i % c->each;
        enum leat_status s = memchr(p->key, '\0', sizeof p->key) && memchr(p->split, '\0', sizeof p->split)
                                 ? pushed_check_key(p->key, err)
                                 : status_argument(err, "pieces", "piece %" PRIu64 " is not the piece of a run", i);

        if (s != LEAT_OK)
            return s;
        if (memcmp(p->run, c->number, sizeof p->run) != 0)
            return status_set_in(err, LEAT_E_INCOMPATIBLE, c->place.path,
                                 "the piece of the part %s is of another run than that in %s", p->key, c->place.path);
        if (memcmp(p->fingerprint, first->fingerprint, sizeof p->fingerprint) != 0)
            return status_set_in(err, LEAT_E_INCOMPATIBLE, c->place.path,
                                 "the parts %s and %s were packed with different tokenizers: push one of them again",
                                 first->key, p->key);
        if (strcmp(p->split, split_of(c, i % c->each)) != 0 || strcmp(p->key, own->key) != 0 ||
            p->attempt != own->attempt || c->count % c->each != 0)
            return status_argument(err, "pieces",
                                   "the pieces of the part %s are not all that one attempt has made, in their order: "
                                   "its own, then one for each split",
                                   own->key);
        c->sorted[i / c->each] = own;
        pushed_attempt_name(c->names[i], p->split, p->key, p->attempt);
    }
    qsort(c->sorted, (size_t)(c->count / c->each), sizeof *c->sorted, compare_keys);
    for (uint64_t i = 1; i < c->count / c->each; i++)
        if (strcmp(c->sorted[i - 1]->key, c->sorted[i]->key) == 0)
            return status_argument(err, "pieces", "the part %s comes twice: a commit names one attempt at each part",
                                   c->sorted[i]->key);
    return LEAT_OK;
}

/* Refuses a dataset that is empty because of its conditions, which are probably wrong. */
static enum leat_status check_kept(const struct committing *c, struct leat_error *err)
{
    uint64_t documents = 0, kept_out = 0;

    for (uint64_t i = 0; i < c->count; i++)
        if (!bytes_add(documents, c->pieces[i].documents, &documents) ||
            !bytes_add(kept_out, c->pieces[i].kept_out, &kept_out))
            return status_argument(err, "pieces", "piece %" PRIu64 " is not the piece of a run", i);
    if (pack_may_be_empty(&c->run->plan.pack, documents, kept_out))
        return LEAT_OK;
    return status_set_hint(err, LEAT_E_EMPTY, LEAT_HINT_EMPTY, c->place.path,
                           "no document is left for %s: the conditions of the run left out %" PRIu64
                           " rows of all parts, and a dataset without documents is not made",
                           c->place.path, kept_out);
}

/* Judges the rejects of the whole run, since one bad document in a small part says little. */
static enum leat_status judge_limits(const struct committing *c, const struct leat_pack_options *o,
                                     struct leat_error *err)
{
    const struct leat_run_piece *most = &c->pieces[0];
    uint64_t rejects = 0, documents = 0;
    char *list;
    enum leat_status s;

    for (uint64_t i = 0; i < c->count; i++) {
        const struct leat_run_piece *p = &c->pieces[i];

        if (!bytes_add(rejects, p->rejects, &rejects) || !bytes_add(documents, p->documents, &documents))
            return status_argument(err, "pieces", "piece %" PRIu64 " is not the piece of a run", i);
        most = p->rejects > most->rejects ? p : most;
    }
    if (!bytes_add(rejects, documents, &documents) || !pack_too_many(rejects, documents, o))
        return LEAT_OK;
    list = run_place_file(&c->place, c->names[most - c->pieces], ".rejects.jsonl");
    s = list ? status_set_in(err, LEAT_E_REJECTS, list,
                             "%" PRIu64 " of %" PRIu64 " record%s of the run %s rejected, more than allowed; %s lists "
                             "those of the part %s, which has most of them, with the reasons",
                             rejects, documents, documents == 1 ? "" : "s", rejects == 1 ? "was" : "were", list,
                             most->key)
             : status_no_memory(err, 0);
    free(list);
    return s == LEAT_E_REJECTS ? run_advise(err, s, RUN_REJECTS_OF_ALL) : s;
}

/* Judges by the present limits of the plan: the run may have been begun again with others. */
static enum leat_status judge_rejects(struct committing *c, struct leat_error *err)
{
    struct run_plan now;
    char etag[sizeof c->place.etag]; /* version of the list that is to be replaced */
    enum leat_status s;

    memcpy(etag, c->place.etag, sizeof etag);
    s = pushed_read_plan(&c->place, &now, err);
    memcpy(c->place.etag, etag, sizeof etag);
    if (s == LEAT_OK)
        s = judge_limits(c, &now.pack, err);
    run_plan_free(&now);
    return s;
}

static enum leat_status say_missing(const struct committing *c, const struct leat_run_piece *p, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_MISMATCH, c->place.path,
                         "the files of the part %s are not there as its attempt left them, in %s: push it again",
                         p->key, c->place.path);
}

static enum leat_status check_files_here(struct committing *c, struct leat_error *err)
{
    const struct leat_pack_options *o = &c->run->plan.pack;
    enum leat_status s = pushed_check_folders(&c->place, o->splits, o->split_count, err);

    for (uint64_t i = 0; s == LEAT_OK && i < c->count; i++) {
        const struct leat_run_piece *p = &c->pieces[i];
        struct leat_run_piece now = { .attempt = 0 };
        char *path = run_place_file(&c->place, c->names[i], NULL);

        s = path ? pushed_describe(&now, path, err) : status_no_memory(err, 0);
        if (s == LEAT_E_NO_FILE ||
            (s == LEAT_OK &&
             (memcmp(now.checksum, p->checksum, sizeof p->checksum) != 0 || now.index_bytes != p->index_bytes ||
              now.token_bytes != p->token_bytes || now.documents != p->documents || now.tokens != p->tokens)))
            s = say_missing(c, p, err);
        free(path);
    }
    return s;
}

static enum leat_status note_object(void *context, const char *file, uint64_t size, struct leat_error *err)
{
    struct committing *c = context;
    struct leat_run_piece wanted;
    const struct leat_run_piece *key = &wanted, **found;
    size_t length = pushed_attempt_length(file);
    uint64_t i;

    (void)err;
    if (length <= PUSHED_DIGITS + 1 || length - PUSHED_DIGITS - 1 > LEAT_RUN_MAX_KEY)
        return LEAT_OK;
    memcpy(wanted.key, file, length - PUSHED_DIGITS - 1);
    wanted.key[length - PUSHED_DIGITS - 1] = '\0';
    found = bsearch(&key, c->sorted, (size_t)(c->count / c->each), sizeof *c->sorted, compare_keys);
    i = found ? (uint64_t)(*found - c->pieces) : 0;
    if (!found || strncmp(c->names[i], file, length) != 0)
        return LEAT_OK;
    i += c->split;
    if (strcmp(file + length, ".leat") == 0 && size == c->pieces[i].index_bytes)
        c->there[i] |= 1;
    if (strcmp(file + length, ".tokens") == 0 && size == c->pieces[i].token_bytes)
        c->there[i] |= 2;
    return LEAT_OK;
}

/* Checks objects by their sizes alone; opening the dataset compares the rest. */
static enum leat_status check_objects(struct committing *c, struct leat_error *err)
{
    enum leat_status s = run_place_list(&c->place, note_object, c, err);

    for (c->split = 1; s == LEAT_OK && c->split < c->each; c->split++) {
        struct run_place split;
        bool ours;

        s = pushed_open_split(&split, &c->place, split_of(c, c->split), false, &ours, err);
        if (s == LEAT_OK)
            s = run_place_list(&split, note_object, c, err);
        run_place_close(&split);
    }
    for (uint64_t i = 0; s == LEAT_OK && i < c->count; i++)
        if (c->there[i] != 3)
            s = say_missing(c, &c->pieces[i], err);
    return s;
}

/* Makes the list. The pieces follow `count` parts that were there before. */
static enum leat_status make_list(struct committing *c, const struct folder_part *before, size_t count,
                                  struct buffer *text, struct leat_error *err)
{
    struct folder_part *parts = calloc(count + (size_t)c->count, sizeof *parts);
    enum leat_status s = parts ? LEAT_OK : status_no_memory(err, c->count * sizeof *parts);

    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        parts[i] = before[i];

    for (uint64_t i = 0; s == LEAT_OK && i < c->count; i++) {
        const struct leat_run_piece *p = &c->pieces[i];

        parts[count + i] = (struct folder_part) { .name = c->names[i],
                                                  .checksum = checksum_load(p->checksum),
                                                  .index_bytes = p->index_bytes,
                                                  .token_bytes = p->token_bytes,
                                                  .documents = p->documents,
                                                  .tokens = p->tokens };
    }
    if (s == LEAT_OK)
        s = folder_list_make(text, c->number, parts, count + (size_t)c->count, err);
    free(parts);
    return s;
}

static enum leat_status compare(const struct committing *c, const struct buffer *there, const struct buffer *wanted,
                                struct leat_error *err)
{
    if (there->size == wanted->size && memcmp(there->bytes, wanted->bytes, there->size) == 0)
        return LEAT_OK;
    return status_set_in(err, LEAT_E_EXISTS, c->place.path,
                         "the run in %s is committed already, with other parts or attempts, or in "
                         "another order",
                         c->place.path);
}

/* Writes the list if there is none, or in place of that of an earlier run, which was read last. */
static enum leat_status publish(struct committing *c, const struct buffer *wanted, bool replace, struct leat_error *err)
{
    struct buffer there = { 0 };
    struct leat_error why;
    enum leat_status s = replace ? run_place_swap(&c->place, FOLDER_LIST, wanted->bytes, wanted->size, &why)
                                 : run_place_write(&c->place, FOLDER_LIST, wanted->bytes, wanted->size, false, &why);

    if (s == LEAT_E_EXISTS) { /* the list is new, or a first try, whose answer was lost, has written it */
        s = run_place_read(&c->place, FOLDER_LIST, &there, &why);
        s = s == LEAT_OK ? compare(c, &there, wanted, &why) : s;
    }
    buffer_free(&there);
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

/* Checks the list after it was written. In a bucket, where nothing is locked, an abort or another run may have
 * looked before this list was there, and remove its parts: then the list before is the right one. */
static enum leat_status check_published(struct committing *c, const struct buffer *before, const struct buffer *wanted,
                                        struct leat_error *err)
{
    struct folder_list list;
    struct buffer there = { 0 };
    enum standing standing;
    enum leat_status s = pushed_look(&c->place, c->number, &standing, &list, &there, err);
    bool mine = s == LEAT_OK && there.size == wanted->size && memcmp(there.bytes, wanted->bytes, there.size) == 0;

    if (s == LEAT_OK && standing != IS_COMMITTED) {
        if (mine && before->size > 0)
            s = run_place_swap(&c->place, FOLDER_LIST, before->bytes, before->size, err);
        else if (mine)
            s = run_place_remove(&c->place, FOLDER_LIST, err);
        if (s == LEAT_OK)
            s = pushed_say_gone(&c->place, err);
    }
    folder_list_free(&list);
    buffer_free(&there);
    return s;
}

/* Writes the list, which decides: once it is there, later failures cannot undo it. */
static enum leat_status write_list(struct committing *c, struct leat_error *err)
{
    struct folder_list list;
    struct buffer there = { 0 }, wanted = { 0 };
    enum standing standing;
    bool committed;
    size_t before = 0;
    enum leat_status s = pushed_look(&c->place, c->number, &standing, &list, &there, err);

    if (s == LEAT_OK && standing >= IS_ABORTED)
        s = pushed_say_gone(&c->place, err);
    committed = s == LEAT_OK && (standing == IS_COMMITTED || standing == IS_FOLLOWED);
    c->sweeps = s == LEAT_OK && standing != IS_FOLLOWED; /* otherwise the attempts there belong to another run */
    if (s == LEAT_OK)
        s = pushed_base(&c->place, &c->run->plan, &list, committed, &before, err);
    if (s == LEAT_OK)
        s = make_list(c, list.parts, before, &wanted, err);
    if (s == LEAT_OK && committed)
        s = compare(c, &there, &wanted, err);
    else if (s == LEAT_OK) {
        s = c->place.remote ? check_objects(c, err) : check_files_here(c, err);
        if (s == LEAT_OK)
            s = judge_rejects(c, err);
        if (s == LEAT_OK && before > 0)
            s = pushed_keep_list(&c->place, &list, &there, c->names[0], err);
        if (s == LEAT_OK)
            s = publish(c, &wanted, list.count > 0, err);
        if (s == LEAT_OK && c->place.remote)
            s = check_published(c, &there, &wanted, err);
    }
    folder_list_free(&list);
    buffer_free(&there);
    buffer_free(&wanted);
    return s;
}

/* Removes the attempts that do not count. The next run or commit removes what cannot be removed now. */
static void sweep_rest(struct run_place *place, const struct run_plan *plan)
{
    struct folder_list list;
    struct buffer text = { 0 };

    if (run_place_read_list(place, FOLDER_LIST, &list, &text, NULL) == LEAT_OK)
        (void)pushed_sweep(place, &list, plan, false, NULL);
    folder_list_free(&list);
    buffer_free(&text);
}

enum leat_status leat_run_commit(struct leat_run *run, const struct leat_run_piece *pieces, uint64_t count,
                                 struct leat_error *err)
{
    struct committing c = { .run = run, .pieces = pieces, .count = count, .each = 1 + run->plan.pack.split_count };
    int fd = -1;
    enum leat_status s = pushed_number(&run->plan, c.number, err);

    if (s == LEAT_OK && count == 0)
        s = status_argument(err, "pieces", "a commit names at least one part");
    if (s == LEAT_OK)
        s = run_place_open(&c.place, run->folder, false, NULL, err);
    if (s == LEAT_OK && count < SIZE_MAX / sizeof *c.names) {
        c.names = calloc((size_t)count, sizeof *c.names);
        c.sorted = calloc((size_t)count, sizeof *c.sorted);
        c.there = calloc((size_t)count, 1);
    }
    if (s == LEAT_OK && (!c.names || !c.sorted || !c.there))
        s = status_no_memory(err, count);
    if (s == LEAT_OK)
        s = check_pieces(&c, err);
    if (s == LEAT_OK)
        s = check_kept(&c, err);
    if (s == LEAT_OK)
        s = pushed_lock(&c.place, &fd, err);
    if (s == LEAT_OK)
        s = write_list(&c, err);
    if (s == LEAT_OK && c.sweeps)
        sweep_rest(&c.place, &run->plan);
    own_file_unlock(&fd);
    run_place_close(&c.place);
    free(c.names);
    free(c.sorted);
    free(c.there);
    return s;
}

/* ---- Giving up --------------------------------------------------------------------------------------------------- */

static enum leat_status say_committed(const struct run_place *place, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_STATE, place->path, "the run in %s is committed: to undo that, remove the folder",
                         place->path);
}

static enum leat_status abort_run(struct run_place *place, const struct leat_run *run, const uint8_t number[16],
                                  int *fd, struct leat_error *err)
{
    struct folder_list list = { 0 };
    struct buffer text = { 0 };
    enum standing standing;
    enum leat_status s = pushed_look(place, number, &standing, &list, &text, err);

    if (s == LEAT_OK && (standing == IS_COMMITTED || standing == IS_FOLLOWED))
        s = say_committed(place, err);
    if (s == LEAT_OK && standing == STANDS) {
        struct run_plan none = run->plan;

        none.aborted = run->plan.run;
        none.run = NULL;
        place->etag[0] = '\0'; /* whatever the plan is now */
        s = pushed_write_plan(place, &none, true, fd, err);
    }
    if (s == LEAT_OK && standing == STANDS && place->remote) { /* nothing is locked in a bucket, so a commit may have
                                                                  come first */
        folder_list_free(&list);
        buffer_free(&text);
        s = run_place_read_list(place, FOLDER_LIST, &list, &text, err);
        if (s == LEAT_OK && list.count > 0 && memcmp(list.run, number, sizeof list.run) == 0) {
            s = run_place_remove(place, PUSHED_PLAN, err);
            s = s == LEAT_OK ? say_committed(place, err) : s;
        }
    }
    if (s == LEAT_OK && (standing == STANDS || standing == IS_ABORTED)) {
        s = pushed_sweep(place, &list, NULL, false, err);
        /* removes also a list that an earlier try has left behind */
        for (uint64_t i = 0; s == LEAT_OK && i < run->plan.pack.split_count; i++)
            s = pushed_remove_split(place, run->plan.pack.splits[i].name, err);
        if (s == LEAT_OK)
            s = run_place_remove(place, PUSHED_PLAN, err);
        if (s == LEAT_OK)
            s = run_place_sync(place, err);
    }
    folder_list_free(&list);
    buffer_free(&text);
    return s;
}

enum leat_status leat_run_abort(struct leat_run *run, struct leat_error *err)
{
    struct run_place place;
    uint8_t number[16];
    int fd = -1;
    enum leat_status s = pushed_number(&run->plan, number, err);

    if (s != LEAT_OK)
        return s;
    s = run_place_open(&place, run->folder, false, NULL, err);
    if (s == LEAT_E_NO_FILE)
        return LEAT_OK;
    if (s == LEAT_OK)
        s = pushed_lock(&place, &fd, err);
    if (s == LEAT_OK)
        s = abort_run(&place, run, number, &fd, err);
    own_file_unlock(&fd);
    if (s == LEAT_OK && !place.remote)
        (void)rmdir(place.path); /* removes the folder if nothing else is in it */
    run_place_close(&place);
    return s;
}
