/*
 * pack_steps.c: see pack_steps.h. Which step a part has behind it is said by files of the folder, which get their names
 * when they are whole: what a killed process had not finished is done again. The files of a part that are needed no
 * more are removed when its last dataset is there, or its documents are where other parts find them; files that all
 * parts need, when all datasets are there.
 */
#include "pack_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/status.h"
#include "commands/common/common.h"
#include "pack_advice.h"
#include "pack_steps_print.h"

static const char hashes_suffix[] = ".hashes", same_suffix[] = ".same", counts_suffix[] = ".counts";
static const char scattered_suffix[] = ".scattered"; /* a file, and the name of a dataset */

bool pack_steps_needed(const struct pack_values *v)
{
    return v->run && (v->dedup || v->splits.count > 0 || v->shuffle.given);
}

enum leat_status pack_steps_plan(const struct pack_values *v, const struct run_folder *r, struct leat_error *err)
{
    enum leat_status s = pack_steps_needed(v) ? run_folder_make_inner(r, RUN_PACKED, err) : LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < v->splits.count; i++)
        s = run_folder_write_split(r, v->splits.items[i].name, err);
    return s;
}

/* ---- Files ---- */

/* Takes the path over. */
static bool is_there(char *path)
{
    bool there = path && access(path, F_OK) == 0;

    free(path);
    return there;
}

static bool has_packed(const struct pack_steps *s, const char *suffix)
{
    return is_there(run_folder_inner(s->folder, RUN_PACKED, s->options->part, suffix));
}

static bool is_finished(const struct pack_steps *s)
{
    return is_there(run_folder_part(s->folder, s->options->part, ".leat"));
}

bool pack_steps_pack_first(const struct pack_steps *s)
{
    bool read = has_packed(s, ".leat") && (has_packed(s, hashes_suffix) || has_packed(s, counts_suffix));

    return !is_finished(s) && !has_packed(s, scattered_suffix) && !read;
}

enum leat_status pack_steps_check_force(const struct pack_steps *s, struct leat_error *err)
{
    if (!s->values->force || !pack_steps_needed(s->values) || pack_steps_pack_first(s))
        return LEAT_OK;
    return status_set(err, LEAT_E_EXISTS,
                      "part %u of the run in %s is packed, and others may have read it: leave --force out, or plan the "
                      "run anew in another folder",
                      s->options->part, s->folder->path);
}

enum leat_status pack_steps_begin(const struct pack_steps *s, struct leat_error *err)
{
    const char *last = s->values->shuffle.given ? counts_suffix : same_suffix; /* that no part makes again alone */
    unsigned finished = 0, there = 0;
    enum leat_status status;

    if (!pack_steps_needed(s->values) || is_finished(s))
        return LEAT_OK;
    status = run_folder_make_inner(s->folder, RUN_PACKED, err);
    if (status != LEAT_OK || (!s->values->dedup && !s->values->shuffle.given))
        return status;
    status = run_folder_count(s->folder, RUN_PACKED, last, &there, err);
    if (status == LEAT_OK && there < s->folder->parts)
        status = run_folder_count(s->folder, "", ".leat", &finished, err);
    if (status != LEAT_OK || finished == 0)
        return status;
    return status_set(err, LEAT_E_INCOMPATIBLE,
                      "part %u of the run in %s was finished once and is lost, and what the parts had left for it is "
                      "removed: remove all part-* of the run, and pack all parts again",
                      s->options->part, s->folder->path);
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

/* The files of all parts with the suffix. NULL: no memory. */
static char **name_all(const struct pack_steps *s, const char *suffix)
{
    size_t parts = s->folder->parts;
    char **names = calloc(parts, sizeof *names);

    for (size_t i = 0; names && i < parts; i++) {
        names[i] = run_folder_inner(s->folder, RUN_PACKED, (unsigned)i + 1, suffix);
        if (!names[i]) {
            free_names(names, parts);
            names = NULL;
        }
    }
    return names;
}

static void remove_packed(const struct pack_steps *s, unsigned part, const char *suffix)
{
    char *path = run_folder_inner(s->folder, RUN_PACKED, part, suffix);

    if (path)
        (void)file_remove(path, NULL);
    free(path);
}

/* If nothing is left in it, as rejects are. */
static void remove_folder(const struct pack_steps *s)
{
    char *path = run_folder_inner(s->folder, RUN_PACKED, 1, ""), *folder = path ? file_folder(path) : NULL;

    if (folder)
        (void)rmdir(folder);
    free(folder);
    free(path);
}

static void remove_own(const struct pack_steps *s)
{
    static const char *const suffixes[] = { ".leat", ".tokens", hashes_suffix };

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        remove_packed(s, s->options->part, suffixes[i]);
}

/* What is left of it only takes room: a failure is not one of the part. */
static void tidy(const struct pack_steps *s)
{
    static const char *const suffixes[] = { same_suffix, counts_suffix, scattered_suffix, ".scattered.leat",
                                            ".scattered.tokens" };
    size_t count = s->values->shuffle.given ? sizeof suffixes / sizeof *suffixes : 1;
    bool all = true;

    remove_own(s);
    for (unsigned part = 1; all && part <= s->folder->parts; part++) /* which ends at the first that is not */
        all = is_there(run_folder_part(s->folder, part, ".leat"));
    for (unsigned part = 1; all && part <= s->folder->parts; part++)
        for (size_t i = 0; i < count; i++)
            remove_packed(s, part, suffixes[i]);
    if (all)
        remove_folder(s);
}

/* ---- The steps ---- */

static uint32_t on_progress(void *context, uint64_t done, uint64_t total)
{
    struct pack_steps *s = context;

    return commands_on_progress(&s->progress, done, total);
}

static struct leat_merge_options options_of(struct pack_steps *s)
{
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;

    o.force = 1; /* a split's, that got its name before the process was killed */
    o.created = s->options->created;
    o.progress = on_progress;
    o.context = s;
    o.shuffle = s->options->shuffle;
    o.seed = s->options->seed;
    o.dedup = s->options->dedup;
    o.splits = s->options->splits;
    o.split_count = s->options->split_count;
    o.memory = s->options->memory;
    return o;
}

static enum leat_status write_hashes(struct pack_steps *s, struct leat_error *err)
{
    struct leat_merge_options o = options_of(s);
    char *file = run_folder_inner(s->folder, RUN_PACKED, s->options->part, hashes_suffix);
    enum leat_status status = file ? leat_part_hashes(file, s->values->output, s->folder->parts, &o, err)
                                   : status_no_memory(err, strlen(s->folder->path));

    free(file);
    return status;
}

static enum leat_status find_duplicates(struct pack_steps *s, struct leat_error *err)
{
    struct leat_merge_options o = options_of(s);
    char *file = run_folder_inner(s->folder, RUN_PACKED, s->options->part, same_suffix);
    char **datasets = name_all(s, ""), **hashes = name_all(s, hashes_suffix);
    enum leat_status status = LEAT_E_NO_MEMORY;

    if (file && datasets && hashes)
        status = leat_part_duplicates(file, (const char *const *)datasets, (const char *const *)hashes,
                                      s->folder->parts, s->options->part, &o, err);
    else
        status_no_memory(err, s->folder->parts * sizeof *datasets);
    free(file);
    free_names(datasets, s->folder->parts);
    free_names(hashes, s->folder->parts);
    return status;
}

static enum leat_status count_documents(struct pack_steps *s, struct leat_error *err)
{
    struct leat_merge_options o = options_of(s);
    char *file = run_folder_inner(s->folder, RUN_PACKED, s->options->part, counts_suffix);
    char **same = s->values->dedup ? name_all(s, same_suffix) : NULL;
    enum leat_status status = LEAT_E_NO_MEMORY;

    if (file && (same || !s->values->dedup))
        status = leat_part_counts(file, s->values->output, (const char *const *)same, s->folder->parts,
                                  s->options->part, &o, err);
    else
        status_no_memory(err, s->folder->parts * sizeof *same);
    free(file);
    free_names(same, s->folder->parts);
    return status;
}

static enum leat_status scatter(struct pack_steps *s, struct leat_error *err)
{
    struct leat_merge_options o = options_of(s);
    char *file = run_folder_inner(s->folder, RUN_PACKED, s->options->part, scattered_suffix);
    char **counts = name_all(s, counts_suffix), **same = s->values->dedup ? name_all(s, same_suffix) : NULL;
    enum leat_status status = LEAT_E_NO_MEMORY;

    if (file && counts && (same || !s->values->dedup))
        status = leat_part_scatter(file, s->values->output, (const char *const *)counts, (const char *const *)same,
                                   s->folder->parts, s->options->part, &o, err);
    else
        status_no_memory(err, s->folder->parts * sizeof *counts);
    if (status == LEAT_OK)
        remove_own(s); /* so that the folder never has all tokens three times */
    free(file);
    free_names(counts, s->folder->parts);
    free_names(same, s->folder->parts);
    return status;
}

/* The splits' datasets, then the rest's. NULL: no memory. */
static char **name_outputs(const struct pack_steps *s)
{
    size_t splits = s->values->splits.count;
    char **names = calloc(splits + 1, sizeof *names);
    bool all = names != NULL;

    for (size_t i = 0; all && i <= splits; i++) {
        names[i] = i < splits ? run_folder_inner(s->folder, s->values->splits.items[i].name, s->options->part, "")
                              : run_folder_part(s->folder, s->options->part, "");
        all = names[i] != NULL;
    }
    if (!all)
        free_names(names, splits + 1);
    return all ? names : NULL;
}

/* Writes the part's datasets, with what other parts have left for it. */
static enum leat_status write_outputs(struct pack_steps *s, char *const *outputs, struct leat_merge_report *report,
                                      struct leat_error *err)
{
    bool shuffle = s->values->shuffle.given, needs = shuffle || s->values->dedup;
    const char *const *to = (const char *const *)outputs;
    struct leat_merge_options o = options_of(s);
    char **files = needs ? name_all(s, shuffle ? scattered_suffix : same_suffix) : NULL;
    const char *const *from = (const char *const *)files;
    enum leat_status status;

    if (needs && !files)
        status = status_no_memory(err, s->folder->parts * sizeof *files);
    else if (shuffle)
        status = leat_part_shuffle(to, from, s->folder->parts, s->options->part, &o, report, err);
    else
        status = leat_part_arrange(to, s->values->output, from, s->folder->parts, s->options->part, &o, report, err);
    free_names(files, s->folder->parts);
    return status;
}

static enum leat_status arrange(struct pack_steps *s, struct leat_error *err)
{
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT, splits[ARRANGE_SPLITS];
    char **outputs = name_outputs(s);
    enum leat_status status;

    for (size_t i = 0; i < ARRANGE_SPLITS; i++)
        splits[i] = info;
    report.splits = splits;
    report.info = &info;
    status = outputs ? write_outputs(s, outputs, &report, err) : status_no_memory(err, sizeof splits);
    if (status == LEAT_OK) {
        tidy(s);
        pack_steps_print(s, outputs, &report);
    }
    free_names(outputs, s->values->splits.count + 1);
    return status;
}

/* ---- Which one ---- */

static enum leat_status say_finished(struct pack_steps *s, struct leat_error *err)
{
    char *name = run_folder_part(s->folder, s->options->part, "");
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    enum leat_status status = name ? leat_dataset_open(&d, name, NULL, err) : status_no_memory(err, 1);

    if (status == LEAT_OK) {
        leat_dataset_info(d, &info);
        leat_dataset_close(d);
        tidy(s);
        pack_steps_print_finished(s, name, &info);
    }
    free(name);
    return status;
}

/* The steps of shuffling, when it is known which documents stay. *step: as below. */
static enum leat_status shuffle_next(struct pack_steps *s, enum beat_step *step, struct leat_error *err)
{
    bool scattered = has_packed(s, scattered_suffix);
    enum leat_status status;
    unsigned ready;

    *step = scattered ? BEAT_SCATTERED : BEAT_COUNTED;
    if (!scattered && !has_packed(s, counts_suffix))
        return count_documents(s, err);
    status = run_folder_count(s->folder, RUN_PACKED, scattered ? scattered_suffix : counts_suffix, &ready, err);
    if (status != LEAT_OK || ready < s->folder->parts)
        return status;
    *step = scattered ? BEAT_NOTHING : BEAT_SCATTERED;
    return scattered ? arrange(s, err) : scatter(s, err);
}

/* The steps of finding duplicates. *step is BEAT_NOTHING when that is known. */
static enum leat_status compare_next(struct pack_steps *s, enum beat_step *step, struct leat_error *err)
{
    bool compared = has_packed(s, same_suffix);
    enum leat_status status;
    unsigned ready;

    *step = compared ? BEAT_COMPARED : BEAT_PACKED;
    if (!has_packed(s, hashes_suffix))
        return write_hashes(s, err);
    status = run_folder_count(s->folder, RUN_PACKED, compared ? same_suffix : hashes_suffix, &ready, err);
    if (status != LEAT_OK || ready < s->folder->parts)
        return status;
    *step = compared ? BEAT_NOTHING : BEAT_COMPARED;
    return compared ? LEAT_OK : find_duplicates(s, err);
}

/* *step: what the part has behind it, if it waits now; BEAT_NOTHING: it is finished. */
static enum leat_status do_next(struct pack_steps *s, enum beat_step *step, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    *step = BEAT_NOTHING;
    if (is_finished(s))
        return say_finished(s, err);
    if (s->values->dedup && !has_packed(s, scattered_suffix) &&
        !(has_packed(s, counts_suffix) && has_packed(s, same_suffix)))
        status = compare_next(s, step, err);
    if (status != LEAT_OK || *step != BEAT_NOTHING)
        return status;
    return s->values->shuffle.given ? shuffle_next(s, step, err) : arrange(s, err);
}

int pack_steps_go_on(struct pack_steps *s)
{
    struct leat_error err;
    enum beat_step step;
    enum leat_status status;

    progress_begin(&s->progress, (enum progress_mode)s->values->progress, "arrange", PROGRESS_BYTES);
    status = do_next(s, &step, &err);
    progress_end(&s->progress);
    if (status != LEAT_OK) {
        pack_advice_add(s, &err);
        run_beat_failed(s->beat, status == LEAT_E_STOPPED, err.message);
        return cli_failed_or_damaged(&err);
    }
    if (step == BEAT_NOTHING) {
        run_beat_done(s->beat);
    } else {
        run_beat_waiting(s->beat, step);
        pack_steps_print_waiting(s, step);
    }
    return cli_finish_stdout(CLI_DONE);
}
