/*
 * pack_arranged.c: packs in two passes, to shuffle, deduplicate or split the documents.
 *
 * The first pass packs the dataset OUTPUT.partial.packed/all; the second arranges it by leat_merge() and removes it.
 * So shares that are packed apart and merged become what one run gives: the code is the same. A part of a run is
 * also split like this; shuffling and deduplicating need the documents of all parts, and are left to merging them. A
 * run that is resumed finds out how far it had come: if all outputs exist and hold what this run makes, it had
 * ended; if the first pass is complete, only the second one is left.
 *
 * OUTPUT.partial.packed is a folder, so that nobody opens a dataset that is not yet shuffled or deduplicated, and so
 * that its name cannot be that of a user's dataset: OUTPUT.packed could be, and would be replaced.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrange/merge.h"
#include "arrange/splits/split_fractions.h"
#include "base/file.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/status.h"
#include "pack.h"
#include "pack_by.h"
#include "pack_facts.h"
#include "pack_run.h"

struct arranging {
    const struct leat_pack_options *options;
    const char *output;
    char *folder, *packed, *packed_index, *packed_tokens, *packed_checkpoint;
    struct leat_pack_report *report;
    const struct pack_in_run *in_run; /* what a run in parts adds; NULL: this is not a part of one */
    bool again;                       /* true if the outputs that exist belong to this run */
};

/* Removes the folder; with `all` also the files of a run in it. Otherwise it stays while such files are in it, but
 * .leat-* are removed: these are files without a name whose old name could not be removed. */
static void remove_folder(const struct arranging *a, bool all)
{
    int fd = open(a->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;

    while (d && (entry = readdir(d)))
        if ((all && strncmp(entry->d_name, "all.", 4) == 0) || strncmp(entry->d_name, ".leat-", 6) == 0)
            (void)unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    (void)rmdir(a->folder);
}

/* Returns true if a process writes in the folder. */
static bool is_busy(const struct arranging *a)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;
    enum leat_status s;

    options.vocabulary = 1;
    options.force = 1;
    s = leat_writer_open(&w, a->packed, &options, NULL);
    if (s == LEAT_OK)
        leat_writer_abandon(w);
    return s == LEAT_E_BUSY;
}

static enum leat_status remove_packed(const struct arranging *a, struct leat_error *err)
{
    struct stat st;
    bool made;
    enum leat_status s;

    if (lstat(a->folder, &st) != 0 || own_file_make_folder(a->folder, &made, NULL) != LEAT_OK || is_busy(a))
        return LEAT_OK;
    s = file_remove(a->packed_index, err);
    if (s == LEAT_OK) /* when the power is cut, the index must not come back without its tokens */
        s = file_sync_folder(a->packed_index, err);
    if (s == LEAT_OK)
        s = file_remove(a->packed_tokens, err);
    remove_folder(a, true); /* removes files, too, that came back when the power was cut */
    return s;
}

/* Makes the folder durable, as the outputs are: while some of these have their names, a resumed run looks for it. */
static enum leat_status begin_folder(const struct arranging *a, struct leat_error *err)
{
    bool made;
    enum leat_status s = own_file_make_folder(a->folder, &made, err);

    return s == LEAT_OK && made ? file_sync_folder(a->folder, err) : s;
}

/* Reports progress: the token bytes that are done, in place of bytes of inputs. */
static uint32_t on_progress(void *context, uint64_t done, uint64_t total)
{
    const struct arranging *a = context;
    const struct leat_pack_report *r = a->report;
    struct leat_pack_progress p = { .bytes = done,
                                    .total_bytes = total,
                                    .text_bytes = r->text_bytes,
                                    .tokens = r->tokens,
                                    .documents = r->documents,
                                    .rejects = r->rejects,
                                    .bound = "arranging" };

    return a->options->progress ? a->options->progress(a->options->context, &p) : 0;
}

/* Adds what training learns of a finished dataset. */
static void join_learned(const struct arranging *a, const char *name)
{
    char *learned = pack_facts_value(name, LEARNED_KEY);

    if (learned)
        learned_join(a->report->learned, learned);
    free(learned);
}

static void on_output(void *context, const struct leat_by_output *output)
{
    const struct arranging *a = context;

    join_learned(a, output->name);
    if (a->options->output)
        a->options->output(a->options->context, output);
}

static enum leat_status arrange(struct arranging *a, struct leat_error *err)
{
    const struct leat_pack_options *o = a->options;
    struct leat_merge_options m = LEAT_MERGE_OPTIONS_INIT;
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t memory = o->memory > 0 ? o->memory : PACK_USUAL_MEMORY;
    const char *const packed = a->packed;
    enum leat_status s;

    report.splits = a->report->splits;
    report.info = &info;
    m.force = o->force || a->again;
    m.created = o->created;
    m.progress = on_progress;
    m.context = a;
    m.threads = o->threads;
    m.shuffle = o->shuffle;
    m.seed = o->seed;
    m.dedup = o->dedup;
    m.splits = o->splits;
    m.split_count = o->split_count;
    m.memory = memory / 2;
    m.output = on_output;
    a->report->learned[0] = '\0'; /* of what is to be arranged */
    s = merge_into(a->output, &packed, 1, a->in_run != NULL, &m, &report, err);
    if (s != LEAT_OK)
        return s;
    a->report->documents = info.documents;
    a->report->tokens = info.tokens;
    a->report->deduplicated = report.deduplicated;
    if (!o->by)
        join_learned(a, a->output);
    return remove_packed(a, err);
}

/* Opens a writer now, since hours may pass before leat_merge() finds an obstacle, and ends it again. */
static enum leat_status look_before(const struct arranging *a, const char *split, struct leat_error *err)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    char *name = split_fractions_output(a->output, split, a->in_run != NULL, "");
    struct leat_writer *w = NULL;
    enum leat_status s;

    options.vocabulary = 1;
    options.force = a->options->force || a->again;
    s = name ? leat_writer_open(&w, name, &options, err) : status_no_memory(err, strlen(a->output));
    leat_writer_abandon(w);
    free(name);
    return s;
}

static enum leat_status look_before_all(const struct arranging *a, struct leat_error *err)
{
    enum leat_status s = look_before(a, NULL, err);

    for (size_t i = 0; s == LEAT_OK && i < a->options->split_count; i++)
        s = look_before(a, a->options->splits[i].name, err);
    return s;
}

static enum leat_status check_splits(const struct leat_pack_options *o, struct leat_error *err)
{
    struct split_fractions fractions;
    enum leat_status s = split_fractions_make(&fractions, o->splits, o->split_count, err);

    if (s == LEAT_OK)
        split_fractions_free(&fractions);
    return s;
}

/* ---- Going on with a run that was killed ---- */

/* The outputs that exist already (the rest and the splits), and whether all of them are what this run makes. */
struct outputs_found {
    size_t there;
    bool ours;
    struct leat_info last; /* facts of the output that was looked at last */
    struct pack_past past;
};

static enum leat_status look_at(const struct arranging *a, const struct input_list *inputs, const char *split,
                                struct outputs_found *found, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct file_identity index;
    struct leat_dataset *d;
    char *name = split_fractions_output(a->output, split, a->in_run != NULL, ".leat");
    enum leat_status s = name ? file_identify(name, &index, err) : status_no_memory(err, strlen(a->output));

    if (s == LEAT_OK && index.exists) {
        found->there++;
        s = leat_dataset_open(&d, name, NULL, err);
        if (s == LEAT_OK) {
            found->ours =
                found->ours && pack_facts_fit(d, a->options, inputs, PACK_ARRANGED, a->in_run != NULL, &found->past);
            leat_dataset_info(d, &info);
            leat_dataset_close(d);
        }
    }
    found->last = info;
    if (s == LEAT_OK && index.exists && found->ours)
        pack_run_tidy(name);
    free(name);
    return s;
}

static enum leat_status look_at_outputs(const struct arranging *a, const struct input_list *inputs,
                                        struct outputs_found *found, struct leat_error *err)
{
    enum leat_status s;

    *found = (struct outputs_found) { .ours = true };
    s = look_at(a, inputs, NULL, found, err);
    a->report->documents = found->last.documents;
    a->report->tokens = found->last.tokens;
    for (size_t i = 0; s == LEAT_OK && i < a->options->split_count; i++) {
        s = look_at(a, inputs, a->options->splits[i].name, found, err);
        if (a->report->splits)
            options_fill(&a->report->splits[i], &found->last, sizeof found->last);
    }
    return s;
}

/* Sets *ended if the run had come to its end. If it was killed while the outputs got their names, those that have
 * their names are replaced. */
static enum leat_status look_if_ended(struct arranging *a, const struct input_list *inputs, bool *ended,
                                      struct leat_error *err)
{
    struct outputs_found found;
    struct file_identity packed;
    enum leat_status s = file_identify(a->packed_index, &packed, err);

    *ended = false;
    if (s != LEAT_OK)
        return s;
    /* If this is a part, its run's file has been compared, and the list has the inputs of all parts. */
    s = look_at_outputs(a, a->options->parts > 0 ? NULL : inputs, &found, err);
    if (s == LEAT_OK && found.ours) {
        *ended = found.there == 1 + a->options->split_count;
        /* A part of which a dataset was lost is made again, since it has no other name to choose. */
        a->again = found.there > 0 && (packed.exists || a->in_run);
    }
    if (*ended) {
        join_learned(a, a->output);
        a->report->was_finished = 1;
        pack_past_report(&found.past, a->report);
        pack_facts_notice(&found.past.damaged, a->options);
        s = remove_packed(a, err);
    }
    pack_past_free(&found.past);
    return s;
}

/* Does so for a run with `by`. If it was killed while its outputs got their names, these are removed, and made
 * again. */
static enum leat_status look_if_divided(struct arranging *a, const struct input_list *inputs, bool *ended,
                                        struct leat_error *err)
{
    struct file_identity packed;
    enum leat_status s = file_identify(a->packed_index, &packed, err);

    if (s == LEAT_OK && packed.exists)
        return pack_by_remove(a->output, a->packed, a->options, inputs, err);
    if (s == LEAT_OK)
        s = pack_by_look(a->output, a->options, inputs, a->report, ended, err);
    return s == LEAT_OK && *ended ? remove_packed(a, err) : s;
}

/* Returns true if the first pass cannot begin, because the files of another run are there, or those of this run
 * without `resume`. */
static bool is_in_way(const struct arranging *a)
{
    bool tokens = access(a->packed_tokens, F_OK) == 0, checkpoint = access(a->packed_checkpoint, F_OK) == 0;

    if (a->options->force)
        return false;
    return access(a->packed_index, F_OK) == 0 || (a->options->resume ? tokens && !checkpoint : tokens || checkpoint);
}

/* Rewrites the error of a failed first pass so that it names the caller's output instead of the packed dataset. It does
 * so if existing files are the cause (`in_way`), or if another process has locked them (os_error is set). Any other
 * error stays as it is. */
static enum leat_status refuse_packed(const struct arranging *a, bool in_way, enum leat_status s,
                                      struct leat_error *err)
{
    if (s == LEAT_E_BUSY && err && err->os_error)
        return status_set_in(
            err, s, a->output,
            "%s is being written already, by another process or another call of this one: wait for that, "
            "or choose another name",
            a->output);
    if (s != LEAT_E_EXISTS || !in_way)
        return s;
    return status_set_hint(err, s, a->options->resume ? LEAT_HINT_REPLACE : LEAT_HINT_RESUME_OR_REPLACE, a->output,
                           a->options->resume
                               ? "the earlier run of %s had other inputs or options: give the same ones, or start over"
                               : "the earlier run of %s has not ended: resume it, or start over",
                           a->output);
}

static enum leat_status pack_and_arrange(struct arranging *a, struct input_list *inputs, struct leat_error *err)
{
    bool ended = false, in_way;
    enum leat_status s = LEAT_OK;

    if (a->options->resume && !a->options->force)
        s = a->options->by ? look_if_divided(a, inputs, &ended, err) : look_if_ended(a, inputs, &ended, err);
    if (s != LEAT_OK || ended)
        return s;
    if (!a->options->by) /* with `by`, each value is looked at when it comes up */
        s = look_before_all(a, err);
    if (s != LEAT_OK)
        return s;
    in_way = is_in_way(a);
    s = begin_folder(a, err);
    if (s == LEAT_OK)
        s = pack_files(a->packed, a->output, a->options->force ? NULL : a->output, inputs, a->options, a->in_run,
                       a->report, err);
    if (s != LEAT_OK) {
        remove_folder(a, false);
        return refuse_packed(a, in_way, s, err);
    }
    a->report->was_finished = 0;
    s = arrange(a, err);
    a->report->peak_memory = pack_run_peak_memory(); /* arranging may have needed more than packing */
    a->report->resumable = s != LEAT_OK;
    return s;
}

/* ---- The whole ---- */

bool pack_arranges(const struct leat_pack_options *o)
{
    return o->shuffle || o->dedup || o->split_count > 0 || (o->by && o->parts == 0);
}

enum leat_status pack_arranged_check(const struct leat_pack_options *o, bool in_run, struct leat_error *err)
{
    if (in_run && o->by && o->split_count > 0)
        return status_argument(
            err, "splits",
            "the documents of each value are split alone, when a run is divided by values: split them "
            "when merging the parts");
    if (o->parts > 0 && (!in_run || o->shuffle || o->dedup))
        return status_argument(
            err,
            o->shuffle ? "shuffle"
            : o->dedup ? "dedup"
                       : "splits",
            in_run ? "shuffling and deduplicating need the whole run: use them when merging its parts"
                   : "shuffling, deduplicating and splitting need the whole run: use them when merging its shares");
    return check_splits(o, err);
}

static bool name_packed(struct arranging *a)
{
    a->folder = pack_split_name(a->output, NULL, ".partial.packed");
    a->packed = pack_split_name(a->output, NULL, ".partial.packed/all");
    a->packed_index = pack_split_name(a->output, NULL, ".partial.packed/all.leat");
    a->packed_tokens = pack_split_name(a->output, NULL, ".partial.packed/all.tokens");
    a->packed_checkpoint = pack_split_name(a->output, NULL, ".partial.packed/all.partial.checkpoint");
    return a->folder && a->packed && a->packed_index && a->packed_tokens && a->packed_checkpoint;
}

static void free_names(struct arranging *a)
{
    free(a->folder);
    free(a->packed);
    free(a->packed_index);
    free(a->packed_tokens);
    free(a->packed_checkpoint);
}

void pack_arranged_forget(const char *output)
{
    struct arranging a = { .output = output };

    if (name_packed(&a))
        remove_packed(&a, NULL);
    free_names(&a);
}

enum leat_status pack_arranged(const char *output, struct input_list *inputs, const struct leat_pack_options *options,
                               const struct pack_in_run *in_run, struct leat_pack_report *report,
                               struct leat_error *err)
{
    struct arranging a = { .options = options, .output = output, .in_run = in_run, .report = report };
    enum leat_status s;

    if (name_packed(&a))
        s = pack_and_arrange(&a, inputs, err);
    else
        s = status_no_memory(err, strlen(output));
    free_names(&a);
    return s;
}
