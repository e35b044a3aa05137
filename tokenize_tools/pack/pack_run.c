/* pack_run.c: leat_pack(): a run of the packer from its arguments to the finished dataset. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "flow.h"
#include "pack_description.h"
#include "pack_output.h"

#define USUAL_MEMORY ((uint64_t)2 << 30)
#define TICK_MS      100

struct run {
    struct leat_pack_options options;
    struct pack_setup setup;
    struct pack_output output;
    struct leat_tokenizer_info tokenizer;
    char *name; /* of the dataset, without .leat */
    char *description_path, *checkpoint_path, *index_path;
    struct buffer description;
    struct flow_start start;
    struct flow *flow;
    bool finished, stopped;
};

/* ---- What is asked ---- */

static unsigned cores(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static enum leat_status take_options(struct run *r, const char *output, size_t count,
                                     const struct leat_pack_options *options, struct leat_error *err)
{
    struct leat_pack_options *o = &r->options;

    *o = (struct leat_pack_options)LEAT_PACK_OPTIONS_INIT;
    if (options)
        struct_give(o, sizeof *o, options, options->size < sizeof *o ? options->size : sizeof *o);
    if (!output || !*output || !o->tokenizer || count == 0)
        return status_set(err, LEAT_E_ARGUMENT, "leat_pack: an output, a tokenizer and an input must be given");
    if (o->parts > 0 && (o->part < 1 || o->part > o->parts))
        return status_set(err, LEAT_E_ARGUMENT, "there is no part %u of %u: parts count from 1", o->part, o->parts);
    if (!o->text_field)
        o->text_field = "text";
    if (!o->id_field)
        o->id_field = "id";
    if (o->memory == 0)
        o->memory = USUAL_MEMORY;
    return LEAT_OK;
}

static size_t name_length(const char *output)
{
    static const char *const suffixes[] = { ".leat", ".tokens" };
    size_t length = strlen(output);

    for (unsigned i = 0; i < 2; i++) {
        size_t n = strlen(suffixes[i]);

        if (length > n && strcmp(output + length - n, suffixes[i]) == 0)
            return length - n;
    }
    return length;
}

static char *path_with(const char *name, const char *suffix)
{
    size_t size = strlen(name) + strlen(suffix) + 1;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%s%s", name, suffix);
    return path;
}

static enum leat_status take_name(struct run *r, const char *output, struct leat_error *err)
{
    size_t length = name_length(output);

    r->name = strndup(output, length);
    if (!r->name || !(r->description_path = path_with(r->name, ".partial.run")) ||
        !(r->checkpoint_path = path_with(r->name, ".partial.checkpoint")) ||
        !(r->index_path = path_with(r->name, ".leat")))
        return status_no_memory(err, length);
    r->setup.output = r->name;
    return reject_file_init(&r->output.rejects, r->name, err);
}

static enum leat_status set_up(struct run *r, const char *const *words, size_t count, struct leat_error *err)
{
    const struct leat_pack_options *o = &r->options;
    struct pack_setup *setup = &r->setup;
    enum leat_status s = inputs_find(&setup->inputs, words, count, o->format, err);

    if (s == LEAT_OK && o->parts > 0)
        s = inputs_share(&setup->inputs, o->part, o->parts, err);
    if (s == LEAT_OK)
        s = json_fields_prepare(&setup->fields, o->text_field, *o->id_field ? o->id_field : NULL, err);
    if (s == LEAT_OK)
        s = pack_description_make(&r->description, o, &setup->inputs, err);
    if (s != LEAT_OK)
        return s;
    leat_tokenizer_info(o->tokenizer, &r->tokenizer);
    setup->tokenizer = o->tokenizer;
    setup->special = o->special != 0;
    setup->reject_invalid = o->reject_invalid != 0;
    setup->ids_wide = r->tokenizer.vocabulary > 65536;
    setup->threads = o->threads > 0 ? o->threads : cores();
    r->output.setup = setup;
    r->output.most_rejects = o->most_rejects;
    r->output.most_rejects_ppm = o->most_rejects_ppm;
    r->output.checkpoints = true;
    for (size_t i = 0; i < setup->inputs.count; i++)
        r->output.checkpoints = r->output.checkpoints && strcmp(setup->inputs.items[i].path, "-") != 0;
    return pack_setup_memory(setup, o->memory, err);
}

/* ---- The output ---- */

static struct leat_writer_options writer_options(const struct run *r, struct leat_stored_tokenizer *stored)
{
    struct leat_writer_options w = LEAT_WRITER_OPTIONS_INIT;
    const struct leat_pack_options *o = &r->options;

    leat_tokenizer_stored(o->tokenizer, stored);
    w.vocabulary = r->tokenizer.vocabulary;
    w.end_token = o->end_token;
    w.begin_token = o->begin_token;
    w.tokenizer = stored;
    w.fingerprint = r->tokenizer.fingerprint;
    w.created = o->created;
    w.replace = o->replace;
    w.store_hashes = 1;
    for (size_t i = 0; i < r->setup.inputs.count; i++)
        if (r->setup.inputs.items[i].kind == INPUT_JSONL)
            w.store_lines = w.store_ids = 1;
    return w;
}

static enum leat_status begin_output(struct run *r, struct leat_error *err)
{
    struct leat_stored_tokenizer stored;
    struct leat_writer_options w = writer_options(r, &stored);
    enum leat_status s = leat_writer_open(&r->output.writer, r->name, &w, err);

    if (s == LEAT_OK)
        s = pack_description_write(r->description_path, &r->description, err);
    if (s == LEAT_OK)
        s = reject_file_begin(&r->output.rejects, err);
    /* from here on there is something to resume */
    return s == LEAT_OK && r->output.checkpoints ? pack_output_checkpoint(&r->output, err) : s;
}

/* Whether the dataset that is there has these inputs and this tokenizer: the run had come to its end. */
static bool is_this_run(const struct run *r, struct leat_dataset *d)
{
    struct leat_info info = LEAT_INFO_INIT;
    bool same;

    leat_dataset_info(d, &info);
    same = info.parts == 1 && info.inputs == r->setup.inputs.count && info.end_token == r->options.end_token &&
           info.begin_token == r->options.begin_token &&
           memcmp(info.fingerprint, r->tokenizer.fingerprint, sizeof info.fingerprint) == 0;
    for (size_t i = 0; same && i < r->setup.inputs.count; i++) {
        struct leat_input input = LEAT_INPUT_INIT;
        char path[4096];
        uint64_t bytes;

        same = leat_dataset_input(d, i, &input, NULL) == LEAT_OK && input.bytes == r->setup.inputs.items[i].size &&
               leat_dataset_input_path(d, i, path, sizeof path, &bytes, NULL) == LEAT_OK && bytes < sizeof path &&
               strcmp(path, r->setup.inputs.items[i].path) == 0;
    }
    return same;
}

static enum leat_status look_if_finished(struct run *r, const struct leat_error *said, struct leat_error *err)
{
    struct leat_dataset *d;

    if (leat_dataset_open(&d, r->name, NULL, NULL) == LEAT_OK) {
        r->finished = is_this_run(r, d);
        leat_dataset_close(d);
    }
    if (r->finished)
        return LEAT_OK;
    if (err)
        *err = *said;
    return said->status;
}

/* There is a description, so a run was begun and not ended. */
static enum leat_status resume_begun(struct run *r, struct leat_error *err)
{
    struct leat_stored_tokenizer stored;
    struct leat_writer_options w = writer_options(r, &stored);
    struct leat_error why;
    size_t note_bytes = 0;
    void *note = NULL;
    enum leat_status s = pack_description_compare(r->description_path, &r->description, err);

    if (s != LEAT_OK)
        return s;
    s = leat_writer_resume(&r->output.writer, r->name, &w, &note, &note_bytes, &why);
    if (s == LEAT_E_EXISTS)
        return look_if_finished(r, &why, err);
    if (s != LEAT_OK) {
        if (err)
            *err = why;
        return s;
    }
    if (!pack_position_load(&r->output.at, note, note_bytes))
        s = status_set(err, LEAT_E_CHECKPOINT, "the checkpoint of %s is not one of leat pack", r->name);
    leat_writer_free_note(note);
    if (s == LEAT_OK)
        s = reject_file_resume(&r->output.rejects, r->output.at.reject_bytes, err);
    r->start = (struct flow_start) { (size_t)r->output.at.input, r->output.at.offset, r->output.at.mark };
    r->output.text_at_checkpoint = r->output.at.text_bytes;
    return s;
}

/* The description is the first file of a run that is made durable, and the last one removed. */
static enum leat_status resume_output(struct run *r, struct leat_error *err)
{
    struct file_identity description, checkpoint, index;
    struct leat_error why;
    enum leat_status s = file_identify(r->description_path, &description, err);

    if (s == LEAT_OK)
        s = file_identify(r->checkpoint_path, &checkpoint, err);
    if (s == LEAT_OK)
        s = file_identify(r->index_path, &index, err);
    if (s != LEAT_OK)
        return s;
    if (description.exists && (checkpoint.exists || (index.exists && !r->options.replace)))
        return resume_begun(r, err);
    s = begin_output(r, &why);
    if (s == LEAT_E_EXISTS)
        return look_if_finished(r, &why, err);
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

/* What decides the bytes besides the inputs and what the header says. */
static enum leat_status set_metadata(struct run *r, struct leat_error *err)
{
    const struct leat_pack_options *o = &r->options;
    struct leat_writer *w = r->output.writer;
    char part[32];
    enum leat_status s = leat_writer_set_metadata(w, "leat.text", o->text_field, err);

    if (s == LEAT_OK)
        s = leat_writer_set_metadata(w, "leat.id", o->id_field, err);
    if (s == LEAT_OK)
        s = leat_writer_set_metadata(w, "leat.special", o->special ? "encoded" : "text", err);
    if (s == LEAT_OK)
        s = leat_writer_set_metadata(w, "leat.invalid_utf8", o->reject_invalid ? "reject" : "replace", err);
    if (s == LEAT_OK && o->parts > 0) {
        snprintf(part, sizeof part, "%u/%u", o->part, o->parts);
        s = leat_writer_set_metadata(w, "leat.part", part, err);
    }
    return s;
}

/* ---- Running ---- */

static const char *bound_of(const struct flow_facts *facts)
{
    if (facts->encoding > 0 && facts->waiting == 0)
        return "encoding";
    return facts->writing > 0 ? "writing" : "reading";
}

/* True: the caller wants to stop. */
static bool tell_progress(struct run *r, uint64_t before)
{
    struct leat_pack_progress p = { 0 };
    struct flow_facts facts;

    if (!r->options.progress)
        return false;
    flow_facts(r->flow, &facts);
    p.bytes = atomic_load_explicit(&r->output.seen_disk_bytes, memory_order_relaxed);
    p.total_bytes = r->output.checkpoints ? r->setup.inputs.bytes : 0;
    p.text_bytes = atomic_load_explicit(&r->output.seen_text_bytes, memory_order_relaxed);
    p.tokens = atomic_load_explicit(&r->output.seen_tokens, memory_order_relaxed);
    p.documents = atomic_load_explicit(&r->output.seen_documents, memory_order_relaxed);
    p.rejects = atomic_load_explicit(&r->output.seen_rejects, memory_order_relaxed);
    p.bytes_before = before;
    p.bound = bound_of(&facts);
    return r->options.progress(r->options.context, &p) != 0;
}

static enum leat_status flow_all(struct run *r, struct leat_error *err)
{
    uint64_t before = r->output.at.disk_bytes;
    enum leat_status s;
    bool ended = false;

    s = flow_open(&r->flow, &r->setup, &r->start, pack_output_write, &r->output, err);
    while (s == LEAT_OK && !ended) {
        s = flow_wait(r->flow, TICK_MS, &ended, err);
        if (s == LEAT_OK && !ended && !r->stopped && tell_progress(r, before)) {
            r->stopped = true;
            flow_stop(r->flow);
        }
    }
    if (s == LEAT_OK && !r->stopped)
        tell_progress(r, before);
    flow_free(r->flow);
    r->flow = NULL;
    return s;
}

static enum leat_status finish(struct run *r, struct leat_info *info, struct leat_error *err)
{
    struct pack_output *o = &r->output;
    enum leat_status s = pack_output_judge(o, err);

    if (s == LEAT_OK)
        s = set_metadata(r, err);
    if (s == LEAT_OK)
        s = reject_file_publish(&o->rejects, err);
    if (s == LEAT_OK)
        s = leat_writer_finish(o->writer, info, err);
    if (s != LEAT_OK)
        return s;
    o->writer = NULL;
    if (o->rejects.bytes == 0)
        reject_file_remove(&o->rejects, true);
    return file_remove(r->description_path, err);
}

/* After a failure: what can be gone on with is kept, with the rejects at their name if they are the reason. */
static void keep_for_later(struct run *r, enum leat_status s, struct leat_pack_report *report)
{
    struct pack_output *o = &r->output;
    bool whole = s == LEAT_E_REJECTS || s == LEAT_E_STATE;

    if (!o->writer)
        return;
    if (!o->checkpoints) {
        leat_writer_abandon(o->writer);
        if (s == LEAT_E_REJECTS)
            reject_file_publish(&o->rejects, NULL);
        reject_file_remove(&o->rejects, false);
        file_remove(r->description_path, NULL);
        return;
    }
    if (whole)
        pack_output_checkpoint(o, NULL);
    leat_writer_suspend(o->writer);
    if (s == LEAT_E_REJECTS)
        reject_file_publish(&o->rejects, NULL);
    report->resumable = 1;
}

static enum leat_status pack(struct run *r, const char *output, const char *const *words, size_t count,
                             struct leat_info *info, struct leat_error *err)
{
    enum leat_status s;

    if ((s = take_name(r, output, err)) != LEAT_OK || (s = set_up(r, words, count, err)) != LEAT_OK)
        return s;
    s = r->options.resume ? resume_output(r, err) : begin_output(r, err);
    if (s != LEAT_OK || r->finished)
        return s;
    s = flow_all(r, err);
    if (s == LEAT_OK && r->stopped)
        return status_set(err, LEAT_E_STATE, "packing was stopped");
    return s == LEAT_OK ? finish(r, info, err) : s;
}

static uint64_t peak_memory(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static void fill_report(const struct run *r, const struct leat_info *info, struct leat_pack_report *report)
{
    const struct pack_output *o = &r->output;

    report->inputs = r->setup.inputs.count;
    report->documents = info->documents;
    report->tokens = info->tokens;
    if (o->writer) {
        report->documents = leat_writer_documents(o->writer);
        report->tokens = leat_writer_tokens(o->writer);
    }
    report->text_bytes = o->at.text_bytes;
    report->disk_bytes = o->at.disk_bytes;
    report->rejects = o->at.rejects;
    report->special_strings = o->at.special_strings;
    report->damaged_inputs = o->at.damaged_inputs;
    memcpy(report->damage, o->damage, sizeof report->damage);
    report->peak_memory = peak_memory();
    report->was_finished = r->finished;
    report->times = (struct leat_pack_times) { o->spent_ns[STAGE_READ], o->spent_ns[STAGE_SCAN],
                                               o->spent_ns[STAGE_ENCODE], o->spent_ns[STAGE_WRITE] };
}

enum leat_status leat_pack(const char *output, const char *const *inputs, size_t count,
                           const struct leat_pack_options *options, struct leat_pack_report *report,
                           struct leat_error *err)
{
    struct run *r = calloc(1, sizeof *r);
    struct leat_pack_report full = LEAT_PACK_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s;

    if (!r)
        return status_no_memory(err, sizeof *r);
    r->tokenizer.size = sizeof r->tokenizer;
    r->output.rejects.fd = -1;
    pthread_mutex_init(&r->setup.long_lock, NULL);
    s = take_options(r, output, count, options, err);
    if (s == LEAT_OK)
        s = pack(r, output, inputs, count, &info, err);
    fill_report(r, &info, &full);
    if (s != LEAT_OK)
        keep_for_later(r, s, &full);
    if (report)
        struct_give(report, report->size, &full, sizeof full);
    leat_encoder_close(r->setup.long_encoder);
    pthread_mutex_destroy(&r->setup.long_lock);
    inputs_free(&r->setup.inputs);
    reject_file_free(&r->output.rejects);
    buffer_free(&r->description);
    free(r->description_path);
    free(r->checkpoint_path);
    free(r->index_path);
    free(r->name);
    free(r);
    return s;
}
