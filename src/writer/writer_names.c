/*
 * writer_names.c: the files of an unfinished dataset. All are named NAME.partial.<what>, so that people see what they
 * are. NAME.partial.lock is locked (flock) while a process writes, to distinguish files in use from leftovers of a
 * killed run.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/status.h"
#include "writer.h"

#define LONGEST_NAME 4096u

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
    [FILE_INDEX] = "leat",
    [FILE_CHECKPOINT] = "checkpoint",
    [FILE_CHECKPOINT_NEW] = "checkpoint.new",
    [FILE_LOCK] = "lock",
};

static char *join(const char *name, size_t length, const char *middle, const char *suffix)
{
    size_t size = length + strlen(middle) + strlen(suffix) + 1;
    char *text = malloc(size);

    if (text)
        snprintf(text, size, "%.*s%s%s", (int)length, name, middle, suffix);
    return text;
}

/* Checks the name of a dataset. One that ends in .partial would be taken for leftovers of another, and removed. */
static enum leat_status check_name(const char *name, size_t length, struct leat_error *err)
{
    size_t last = length;

    while (last > 0 && name[last - 1] != '/')
        last--;
    last = length - last; /* of its last part */
    if (last == 0 || length > LONGEST_NAME || name[length - 1] == '.')
        return status_set(err, LEAT_E_ARGUMENT,
                          "invalid dataset name '%.200s': it must end in a file name that does not end in a dot", name);
    if (file_ends_with(name, length, ".partial"))
        return status_set(err, LEAT_E_ARGUMENT,
                          "invalid dataset name '%.200s': names that end in .partial are for unfinished datasets",
                          name);
    return LEAT_OK;
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
    n->tokens = join(name, length, "", ".tokens");
    n->index = join(name, length, "", ".leat");
    whole = n->tokens && n->index;
    for (unsigned i = 0; i < FILE_COUNT; i++) {
        n->partial[i] = join(name, length, ".partial.", suffixes[i]);
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
    memset(n, 0, sizeof *n);
}

/* Whether the path still names the open file: its last holder may have removed it after we opened it. */
static enum leat_status still_named(int fd, const char *path, bool *named, struct leat_error *err)
{
    struct file_identity now;
    struct stat st;
    enum leat_status s = file_identify(path, &now, err);

    if (s == LEAT_OK && fstat(fd, &st) != 0)
        s = status_set_os(err, errno, "cannot examine %s", path);
    if (s == LEAT_OK)
        *named = file_same(now, (struct file_identity) { true, st.st_dev, st.st_ino });
    return s;
}

enum leat_status writer_lock(int *lock, const struct writer_names *n, struct leat_error *err)
{
    const char *path = n->partial[FILE_LOCK];

    for (;;) {
        enum leat_status s;
        bool named = false;
        int r;

        *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (*lock < 0 && errno == EINTR)
            continue;
        if (*lock < 0 && errno == ENOENT)
            return status_set_os(err, ENOENT, "the folder for %s does not exist", n->index);
        if (*lock < 0)
            return status_set_os(err, errno, "cannot create %s", path);
        do
            r = flock(*lock, LOCK_EX | LOCK_NB);
        while (r != 0 && errno == EINTR);
        if (r != 0) {
            int os_error = errno;

            file_close(lock);
            if (os_error != EWOULDBLOCK) /* another process may hold it all the same: it stays */
                return status_set_os(err, os_error, "cannot lock %s", path);
            return status_set(err, LEAT_E_BUSY,
                              "another process is writing %s (it holds %s): wait for it, or choose another name",
                              n->index, path);
        }
        s = still_named(*lock, path, &named, err);
        if (s != LEAT_OK)
            writer_unlock(lock, n);
        if (s != LEAT_OK || named)
            return s;
        file_close(lock);
    }
}

void writer_unlock(int *lock, const struct writer_names *n)
{
    if (*lock >= 0)
        file_remove(n->partial[FILE_LOCK], NULL);
    file_close(lock);
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
    found->half_named = partial_index.exists && !index.exists && tokens.exists && !found->partial_tokens;
    return LEAT_OK;
}

enum leat_status writer_remove_partial(const struct writer_names *n, struct leat_error *err)
{
    struct writer_found found;
    enum leat_status s = writer_look(n, &found, err);

    /* the checkpoint first: without it the rest is useless */
    if (s == LEAT_OK)
        s = file_remove(n->partial[FILE_CHECKPOINT], err);
    if (s == LEAT_OK && found.half_named)
        s = file_remove(n->tokens, err);
    for (unsigned i = 0; s == LEAT_OK && i < FILE_COUNT; i++)
        if (i != FILE_LOCK && i != FILE_INDEX)
            s = file_remove(n->partial[i], err);
    /* the index last: with it writer_look() still sees what is left */
    if (s == LEAT_OK)
        s = file_remove(n->partial[FILE_INDEX], err);
    return s;
}
