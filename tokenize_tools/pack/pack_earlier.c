/*
 * pack_earlier.c: finds files that a run of the other kind has left beside the output. A run in one pass has its
 * checkpoint in OUT.partial.*; a run that shuffles, deduplicates, splits or divides has it in the folder
 * OUT.partial.packed. Neither can resume the other: the files would stay beside the finished output, and a resumed
 * run would start over without saying so.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "pack.h"

static enum leat_status look_for(const char *output, const char *suffix, bool *exists, struct leat_error *err)
{
    struct file_identity there = { 0 };
    char *path = pack_split_name(output, NULL, suffix);
    enum leat_status s = path ? file_identify(path, &there, err) : status_no_memory(err, strlen(output));

    *exists = *exists || there.exists;
    free(path);
    return s;
}

enum leat_status pack_earlier_check(const char *output, const struct leat_pack_options *o, struct leat_error *err)
{
    bool arranges = pack_arranges(o), finished = false, left = false;
    enum leat_status s = look_for(output, ".leat", &finished, err);
    const char *kind =
        arranges ? "does not shuffle, deduplicate, split or divide" : "shuffles, deduplicates, splits or divides";

    if (s == LEAT_OK && arranges)
        s = look_for(output, ".partial.checkpoint", &left, err);
    if (s == LEAT_OK && !arranges)
        s = look_for(output, ".partial.packed/all.partial.checkpoint", &left, err);
    if (s == LEAT_OK && !arranges)
        s = look_for(output, ".partial.packed/all.leat", &left, err);
    if (s != LEAT_OK || finished || !left)
        return s;
    if (o->resume)
        return status_set_hint(err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE, output,
                               "the earlier run of %.300s has not ended, and it %s: give the same inputs and options, "
                               "or start over",
                               output, kind);
    return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_RESUME_OR_REPLACE, output,
                           "the earlier run of %.300s has not ended, and it %s: resume it with its options, or start "
                           "over",
                           output, kind);
}

/* Removes the files of an earlier run that packed in one pass: a writer that is opened with `force` removes them. */
static void forget_plain(const char *output)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    char *description = pack_split_name(output, NULL, ".partial.run");
    struct leat_writer *w;

    options.vocabulary = 1;
    options.force = 1;
    if (description && leat_writer_open(&w, output, &options, NULL) == LEAT_OK) {
        file_remove(description, NULL);
        leat_writer_abandon(w);
    }
    free(description);
}

/* Returns true if there are files of a run in one pass: one that it has from its start on, and one that it removes
 * last. */
static bool has_plain(const char *output)
{
    bool left = false;
    enum leat_status s = look_for(output, ".partial.tokens", &left, NULL);

    if (s == LEAT_OK)
        s = look_for(output, ".partial.run", &left, NULL);
    return s != LEAT_OK || left;
}

void pack_earlier_tidy(const char *output)
{
    bool left = false;
    enum leat_status s = look_for(output, ".partial.packed/all.partial.checkpoint", &left, NULL);

    if (s == LEAT_OK)
        s = look_for(output, ".partial.packed/all.leat", &left, NULL);
    if (s == LEAT_OK && !left)
        pack_arranged_forget(output);
}

void pack_earlier_forget(const char *output, bool arranges)
{
    if (!arranges)
        pack_arranged_forget(output);
    else if (has_plain(output))
        forget_plain(output);
}
