/*
 * pack_earlier.c: finds files that a run of the other kind has left beside the output. A run in one pass has its
 * checkpoint in OUT.partial.*; a run that shuffles, deduplicates, splits or divides has it in the folder
 * OUT.partial.packed. Neither can resume the other: the files would stay beside the finished output, and a resumed
 * run would start over without saying so.
 *
 * It also refuses what no run makes unasked: a dataset that is empty because of its conditions, which are probably
 * wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "corpus/input_fields.h"
#include "pack_run.h"

static enum leat_status look(const char *output, const char *suffix, bool *exists, struct leat_error *err)
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
    enum leat_status s = look(output, ".leat", &finished, err);
    const char *kind =
        arranges ? "does not shuffle, deduplicate, split or divide" : "shuffles, deduplicates, splits or divides";

    if (s == LEAT_OK && arranges)
        s = look(output, ".partial.checkpoint", &left, err);
    if (s == LEAT_OK && !arranges)
        s = look(output, ".partial.packed/all.partial.checkpoint", &left, err);
    if (s == LEAT_OK && !arranges)
        s = look(output, ".partial.packed/all.leat", &left, err);
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

/* Removes the files of an earlier run in one pass, which opening a writer with `force` does. */
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
    enum leat_status s = look(output, ".partial.tokens", &left, NULL);

    if (s == LEAT_OK)
        s = look(output, ".partial.run", &left, NULL);
    return s != LEAT_OK || left;
}

void pack_earlier_tidy(const char *output)
{
    bool left = false;
    enum leat_status s = look(output, ".partial.packed/all.partial.checkpoint", &left, NULL);

    if (s == LEAT_OK)
        s = look(output, ".partial.packed/all.leat", &left, NULL);
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

/* Names the conditions as the caller gave them. */
static void name_conditions(const struct leat_pack_options *o, char *text, size_t room)
{
    size_t used = 0;

    for (uint64_t i = 0; i < o->keep_count && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s\"%.100s\"", i > 0 ? " and " : "", o->keep[i]);
}

#define KINDS "; a number is compared with numbers, and any other value, or one in quotes, with strings"

bool pack_may_be_empty(const struct leat_pack_options *o, uint64_t documents, uint64_t kept_out)
{
    return documents > 0 || kept_out == 0 || o->allow_empty;
}

void pack_lift_limits(struct leat_pack_options *o)
{
    o->max_rejects = o->max_rejects_ppm = LEAT_NONE;
    o->allow_empty = 1;
}

enum leat_status pack_earlier_keep(struct pack_run *r, struct leat_error *err)
{
    const struct leat_pack_options *o = &r->options;
    const struct input_stop stop = { pack_run_ask, &r->options, pack_run_say_waits }; /* the flow, which had its own,
                                                                                         has ended */
    uint64_t kept_out = r->output.at.kept_out, rejected = r->output.at.rejects;
    uint64_t documents = leat_writer_documents(r->output.writer);
    bool fails = !pack_may_be_empty(o, documents, kept_out);
    const char *lacking = r->note ? NULL : judge_keep_lacks(r->judges); /* NULL for a resumed run, which has not seen
                                                                           all records */
    char conditions[400] = "", why[480] = "", what[800] = "no document is left", nearest[JSON_MEMBER_NAME];
    bool listed;

    if (o->parts > 0 || r->pushed || (documents == 0 && kept_out == 0))
        return LEAT_OK;
    if (lacking) {
        inputs_nearest_field(&r->setup.inputs, &r->setup.fields, lacking, &stop, nearest);
        snprintf(what, sizeof what, "no record has a field \"%.200s\" that is not null%s%s%s", lacking,
                 *nearest ? " (did you mean \"" : "", nearest, *nearest ? "\"?)" : "");
    }
    if (lacking && !fails && o->notice)
        o->notice(o->context, &(struct leat_pack_notice) { LEAT_NOTICE_FIELD, 0, lacking, 0, 0, what });
    if (!fails)
        return LEAT_OK;
    name_conditions(o, conditions, sizeof conditions);
    listed = rejected > 0 && reject_file_publish(&r->output.rejects, NULL) == LEAT_OK; /* publishes the list, as if
                                                                                          there were too many rejects */
    if (rejected > 0)
        snprintf(why, sizeof why, " and the other %llu %s rejected%s%.300s", (unsigned long long)rejected,
                 rejected == 1 ? "was" : "were", listed ? ", see " : "", listed ? r->output.rejects.path : "");
    return status_set_hint(
        err, LEAT_E_EMPTY, LEAT_HINT_EMPTY, NULL,
        "%s: of the %llu record%s read, %s left out %llu%s%s; a dataset without documents is not made", what,
        (unsigned long long)(kept_out + rejected), kept_out + rejected == 1 ? "" : "s", conditions,
        (unsigned long long)kept_out, why, lacking ? "" : KINDS);
}
