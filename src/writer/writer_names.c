/*
 * writer_names.c: the files of an unfinished dataset. All are named NAME.partial.<what>, so that people see what they
 * are. NAME.partial.lock is locked (flock) while a process writes, to distinguish files in use from leftovers of a
 * killed run. An operator may remove it all the same, and on some file systems locks do nothing: so a writer looks
 * before each step that others see whether the file of that name is still its own.
 *
 * A lock belongs to the opened file, not to the process, so a process can meet itself. What was found, and is done:
 *
 *   A child of fork() (of another thread, say, for a moment until it runs its program, or a worker that lives on) has
 *   the file open, too. Closing would leave the lock to it: so the file is removed and unlocked first. Only if the
 *   writer's process is killed, its child keeps the output busy until it ends: it cannot be told from a writer.
 *   A writer that was not ended, as of an exception whose traceback is kept, or one of another thread: that is said.
 *   Another thread leaves the folder while a relative name is looked up: the lock file seemed removed. Its absolute
 *   name decides.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "column/column_files.h"
#include "writer.h"

#define LONGEST_NAME 4096u
#define LOCK_TRIES                                                                                                     \
    1000u /* tries to lock the file, each after another writer removed it between our opening and
                              locking it */

static const char *const suffixes[FILE_COUNT] = {
    [SPILL_TOKENS] = "tokens",
    [SPILL_DOCUMENTS] = "documents",
    [SPILL_DIRECTORY] = "directory",
    [SPILL_PAGES] = "pages",
    [SPILL_ORIGINS] = "origins",
    [SPILL_LINES] = "lines",
    [SPILL_ID_ENDS] = "id-ends",
    [SPILL_IDS] = "ids",
    [SPILL_HASHES] = "hashes",
    [SPILL_MASK] = "mask",
    [SPILL_MASK_PAGES] = "mask-pages",
    [SPILL_VALUES] = "values",
    [FILE_INDEX] = "leat",
    [FILE_CHECKPOINT] = "checkpoint",
    [FILE_CHECKPOINT_NEW] = "checkpoint.new",
    [FILE_LOCK] = "lock",
    [FILE_ADOPT] = "adopt",
};

/* Checks the name of a dataset. A name that ends in .partial would be taken for leftovers of another dataset, and
 * removed. */
static enum leat_status check_name(const char *name, size_t length, struct leat_error *err)
{
    size_t last = length;

    while (last > 0 && name[last - 1] != '/')
        last--;
    last = length - last; /* length of the name's last part */
    if (last == 0 || length > LONGEST_NAME || name[length - 1] == '.')
        return status_in_file(
            err,
            status_argument(err, "name",
                            "invalid dataset name \"%.200s\": it must end in a file name that does not end in a dot",
                            name),
            name);
    if (file_ends_with(name, length, ".partial"))
        return status_in_file(
            err,
            status_argument(err, "name",
                            "invalid dataset name \"%.200s\": names that end in .partial are for unfinished datasets",
                            name),
            name);
    return own_file_check_local(name, err);
}

enum leat_status writer_names_make(struct writer_names *n, const char *name, struct leat_error *err)
{
    size_t length = file_dataset_length(name, strlen(name));
    enum leat_status s;
    bool whole;

    memset(n, 0, sizeof *n);
    s = check_name(name, length, err);
    if (s != LEAT_OK)
        return s;
    n->tokens = path_append(name, length, ".tokens", NULL);
    n->index = path_append(name, length, ".leat", NULL);
    n->name = path_append(name, length, NULL);
    n->unfinished = path_append(name, length, ".partial", NULL);
    whole = n->tokens && n->index && n->name && n->unfinished;
    for (unsigned i = 0; i < FILE_COUNT; i++) {
        n->partial[i] = path_append(name, length, ".partial.", suffixes[i], NULL);
        whole = whole && n->partial[i];
    }
    if (whole)
        return LEAT_OK;
    writer_names_free(n);
    return status_no_memory(err, length);
}

void writer_names_free(struct writer_names *n)
{
    for (unsigned i = 0; i < FILE_COUNT; i++)
        free(n->partial[i]);
    free(n->tokens);
    free(n->index);
    free(n->name);
    free(n->unfinished);
    memset(n, 0, sizeof *n);
}

enum leat_status writer_take_names(struct leat_writer *w, const char *name, struct leat_error *err)
{
    enum leat_status s = writer_names_make(&w->names, name, err);
    char *whole;

    if (s != LEAT_OK || name[0] == '/')
        return s;
    folder_note(&w->home);
    whole = folder_name(&w->home, name);
    s = whole ? LEAT_OK : status_no_memory(err, strlen(name));
    if (whole && whole[0] == '/')
        s = writer_names_make(&w->whole, whole, err);
    free(whole);
    return s;
}

/* Errors show the names that the caller gave, as long as these are right. */
void writer_follow_names(struct leat_writer *w)
{
    if (!w->whole.index || !folder_left(&w->home))
        return;
    writer_names_free(&w->names);
    w->names = w->whole;
    memset(&w->whole, 0, sizeof w->whole);
}

/* Opens the lock file. *lock stays -1 if its last holder removed the file after we found it. */
static enum leat_status open_lock(int *lock, const struct writer_names *n, struct leat_error *err)
{
    const char *path = n->partial[FILE_LOCK];
    struct leat_error why;
    enum leat_status s = file_create(lock, path, &why);

    if (s == LEAT_E_NO_FILE) {
        s = status_set_in(err, LEAT_E_NO_FILE, n->index, "the folder for %s does not exist", n->index);
        if (err)
            err->os_error = why.os_error;
        return s;
    }
    if (s == LEAT_E_EXISTS)
        s = own_file_open(lock, NULL, path, OWN_FILE_LOCK, &why);
    if (s == LEAT_E_NO_FILE)
        return LEAT_OK;
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

/* Takes the lock. A failure closes the file but leaves it, since another process may hold it. */
static enum leat_status take_lock(int *lock, const struct writer_names *n, struct leat_error *err)
{
    enum leat_status s = own_file_lock(*lock, n->partial[FILE_LOCK], n->index, err);

    if (s != LEAT_OK)
        file_close(lock);
    return s;
}

enum leat_status writer_lock(int *lock, const struct writer_names *n, struct leat_error *err)
{
    const char *path = n->partial[FILE_LOCK];

    for (unsigned tries = 0; tries < LOCK_TRIES; tries++) {
        bool named = false;
        enum leat_status s = open_lock(lock, n, err);

        if (s == LEAT_OK && *lock < 0)
            continue;
        if (s == LEAT_OK)
            s = take_lock(lock, n, err);
        if (s != LEAT_OK)
            return s;
        s = own_file_is_named(*lock, path, &named, err);
        if (s != LEAT_OK)
            writer_unlock(lock, n);
        if (s != LEAT_OK || named)
            return s;
        own_file_unlock(lock);
    }
    return status_set_in(err, LEAT_E_BUSY, path,
                         "%s was removed each of the %u times that it was made: choose another name", path, LOCK_TRIES);
}

bool writer_lost_lock(int lock, const struct writer_names *n)
{
    bool named = true; /* the file counts as ours unless that is known to be wrong */

    return lock >= 0 && own_file_is_named(lock, n->partial[FILE_LOCK], &named, NULL) == LEAT_OK && !named;
}

enum leat_status writer_check_lock(int lock, const struct writer_names *n, struct leat_error *err)
{
    if (!writer_lost_lock(lock, n))
        return LEAT_OK;
    return status_set_in(err, LEAT_E_BUSY, n->index,
                         "%s: its lock file %s was removed while this process was writing, so another process may be "
                         "writing the same files; when no process writes them, start over",
                         n->index, n->partial[FILE_LOCK]);
}

enum leat_status writer_check_own_lock(struct leat_writer *w, struct leat_error *err)
{
    if (writer_lost_lock(w->lock, &w->names))
        writer_follow_names(w);
    return writer_check_lock(w->lock, &w->names, err);
}

void writer_unlock(int *lock, const struct writer_names *n)
{
    if (*lock >= 0 && !writer_lost_lock(*lock, n))
        file_remove(n->partial[FILE_LOCK], NULL);
    own_file_unlock(lock);
}

/* Returns true if the index belongs to a token file of this length: then a killed run has left both. */
static bool is_index_of(const char *index, const char *tokens)
{
    uint8_t page[FORMAT_HEADER_BYTES];
    struct format_found found = { .page = page, .count = sizeof page, .path = index, .token_path = tokens };
    struct format_header header;
    int fd = -1, tokens_fd = -1;
    bool is = own_file_open(&fd, &found.index_bytes, index, OWN_FILE_READ, NULL) == LEAT_OK &&
              own_file_open(&tokens_fd, &found.token_file_bytes, tokens, OWN_FILE_READ, NULL) == LEAT_OK &&
              file_read_at(fd, 0, page, sizeof page, index, NULL) == LEAT_OK &&
              format_parse(&header, &found, checksum_kernels(), NULL) == LEAT_OK;

    file_close(&fd);
    file_close(&tokens_fd);
    return is;
}

enum leat_status writer_look(const struct writer_names *n, struct writer_found *found, struct leat_error *err)
{
    struct file_identity tokens, index, checkpoint, partial_tokens, partial_index;
    enum leat_status s;

    memset(found, 0, sizeof *found);
    s = file_identify(n->tokens, &tokens, err);
    if (s == LEAT_OK)
        s = file_identify(n->index, &index, err);
    if (s == LEAT_OK)
        s = file_identify(n->partial[FILE_CHECKPOINT], &checkpoint, err);
    if (s == LEAT_OK)
        s = file_identify(n->partial[SPILL_TOKENS], &partial_tokens, err);
    if (s == LEAT_OK)
        s = file_identify(n->partial[FILE_INDEX], &partial_index, err);
    if (s != LEAT_OK)
        return s;
    found->tokens = tokens.exists;
    found->index = index.exists;
    found->checkpoint = checkpoint.exists;
    found->two_names = file_same(tokens, partial_tokens);
    found->partial_tokens = partial_tokens.exists && !found->two_names;
    found->half_named = partial_index.exists && !index.exists && tokens.exists && !found->partial_tokens &&
                        is_index_of(n->partial[FILE_INDEX], n->tokens);
    return LEAT_OK;
}

/* Removes the columns that a writer has made, if it makes any; also those that have their names, if `named`. */
static enum leat_status remove_columns(const struct writer_names *n, bool named, struct leat_error *err)
{
    struct file_identity values;
    enum leat_status s = file_identify(n->partial[SPILL_VALUES], &values, err);

    if (s == LEAT_OK && values.exists)
        s = column_files_remove(n->unfinished, err);
    return s == LEAT_OK && values.exists && named ? column_files_remove(n->name, err) : s;
}

enum leat_status writer_unname_tokens(const struct writer_names *n, const struct writer_found *found,
                                      struct leat_error *err)
{
    enum leat_status s = remove_columns(n, true, err);

    if (s != LEAT_OK)
        return s;
    if (found->two_names)
        return file_remove(n->tokens, err);
    return file_rename(n->tokens, n->partial[SPILL_TOKENS], false, err);
}

enum leat_status writer_check_names(const struct writer_names *n, struct leat_error *err)
{
    enum leat_status s = own_file_check_name(n->tokens, err);

    return s == LEAT_OK ? own_file_check_name(n->index, err) : s;
}

/* Renames a file of a column from the unfinished dataset to the finished one. */
static enum leat_status name_file(const struct writer_names *n, const char *column, const char *suffix,
                                  struct leat_error *err)
{
    char *from = path_append(n->unfinished, strlen(n->unfinished), ".", column, suffix, NULL);
    char *to = path_append(n->name, strlen(n->name), ".", column, suffix, NULL);
    enum leat_status s = from && to ? file_rename(from, to, true, err) : status_no_memory(err, strlen(n->name));

    free(from);
    free(to);
    return s;
}

enum leat_status writer_name_columns(const struct writer_names *n, struct leat_error *err)
{
    struct column_names found;
    enum leat_status s = column_names_find(&found, n->unfinished, err);

    for (size_t i = 0; s == LEAT_OK && i < found.count; i++) {
        s = name_file(n, found.names[i], COLUMN_VALUES, err);
        if (s == LEAT_OK)
            s = name_file(n, found.names[i], COLUMN_INDEX, err);
    }
    if (s == LEAT_OK && found.count > 0)
        s = file_sync_folder(n->index, err);
    column_names_free(&found);
    return s;
}

enum leat_status writer_remove_partial(const struct writer_names *n, struct leat_error *err)
{
    struct writer_found found;
    enum leat_status s = writer_look(n, &found, err);

    /* the checkpoint goes first: without it the rest is useless */
    if (s == LEAT_OK)
        s = file_remove(n->partial[FILE_CHECKPOINT], err);
    if (s == LEAT_OK)
        s = remove_columns(n, found.half_named, err);
    if (s == LEAT_OK && found.half_named)
        s = file_remove(n->tokens, err);
    for (unsigned i = 0; s == LEAT_OK && i < FILE_COUNT; i++)
        if (i != FILE_LOCK && i != FILE_INDEX)
            s = file_remove(n->partial[i], err);
    /* the index goes last: with it writer_look() still sees what is left */
    if (s == LEAT_OK)
        s = file_remove(n->partial[FILE_INDEX], err);
    return s;
}
