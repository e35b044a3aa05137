/*
 * pack_run.c: begins, resumes and ends a run.
 *
 * A run is resumable from its first checkpoint on, which also writes NAME.partial.run, the description of its inputs
 * and options; a resumed run must have the same description. It is removed last: if a run was killed after the
 * dataset got its name, the dataset's own facts show that the run is finished.
 */
#include "pack_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/path.h"
#include "base/status.h"
#include "base/thread.h"
#include "corpus/input_fields.h"
#include "corpus/record/pair.h"
#include "pack.h"
#include "pack_chat.h"
#include "pack_columns.h"
#include "pack_description.h"
#include "pack_facts.h"

/* ---- Reports ----------------------------------------------------------------------------------------------------- */

/* The figures that a run reports when it ends. */

/* Reads VmHWM: getrusage() also counts the process before exec, that is the parent, which may be large. */
uint64_t pack_run_peak_memory(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    unsigned long long kib = 0;
    struct rusage usage;
    char line[256];

    while (f && kib == 0 && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %llu kB", &kib) != 1)
            kib = 0;
    if (f)
        fclose(f);
    if (kib > 0)
        return kib * 1024;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

/* The number of a report that each count becomes. */
static const size_t count_in_report[COUNTS] = {
    [COUNT_SPECIAL_STRINGS] = offsetof(struct leat_pack_report, special_strings),
    [COUNT_NOT_JSON] = offsetof(struct leat_pack_report, not_json),
    [COUNT_KEPT_OUT] = offsetof(struct leat_pack_report, kept_out),
    [COUNT_TOO_LONG] = offsetof(struct leat_pack_report, too_long),
};

void pack_run_report(const struct pack_run *r, const struct leat_info *info, struct leat_pack_report *report)
{
    const struct pack_output *o = &r->output;

    report->inputs = r->setup.inputs.count;
    report->documents = info->documents;
    report->tokens = info->tokens;
    if (r->finished) {
        report->documents = r->found.documents;
        report->tokens = r->found.tokens;
    } else if (o->writer) {
        report->documents = leat_writer_documents(o->writer);
        report->tokens = leat_writer_tokens(o->writer);
    }
    report->direct_bytes = r->direct_bytes;
    report->text_bytes = o->at.text_bytes;
    report->disk_bytes = o->at.disk_bytes;
    report->rejects = o->at.rejects;
    report->replaced = o->at.replaced;
    for (unsigned i = 0; i < COUNTS; i++)
        memcpy((char *)report + count_in_report[i], &o->at.counts[i], sizeof o->at.counts[i]);
    report->values = o->values.count;
    report->row_groups = o->at.row_groups;
    report->units = r->units;
    report->lock_wait_ns = r->lock_ns;
    report->damaged_inputs = o->at.damaged_inputs;
    memcpy(report->damage, o->damage, sizeof report->damage);
    memcpy(report->learned, r->learned, sizeof report->learned);
    if (r->finished)
        pack_past_report(&r->past, report);
    report->peak_memory = pack_run_peak_memory();
    report->was_finished = r->finished;
    report->serial = r->serial;
    report->stream = r->stream;
    report->serial.place_ns = o->spent_ns[PACK_STEP_WRITE];
    report->times = (struct leat_pack_times) { o->spent_ns[PACK_STEP_READ],
                                               o->spent_ns[PACK_STEP_SCAN],
                                               o->spent_ns[PACK_STEP_ENCODE],
                                               o->spent_ns[PACK_STEP_WRITE] + o->put_ns,
                                               { 0 } };
}

/* ---- What is asked ---- */

enum leat_status pack_options_read(struct leat_pack_options *o, const struct leat_pack_options *given,
                                   struct leat_error *err)
{
    enum leat_status s = options_read(o, sizeof *o, NULL, given, "leat_pack_options", err);

    if (s == LEAT_OK && o->renderers && (!o->renderers->open || !o->renderers->close))
        s = status_argument(err, "renderers", "`renderers` needs both functions, open and close");
    return s;
}

void pack_options_default(struct leat_pack_options *o)
{
    o->text = o->text ? o->text : "text";
    o->id = o->id ? o->id : "id";
    o->messages = o->messages ? o->messages : "messages";
    o->tools = o->tools ? o->tools : "tools";
}

bool pack_may_be_empty(const struct leat_pack_options *o, uint64_t documents, uint64_t kept_out)
{
    return documents > 0 || kept_out == 0 || o->allow_empty;
}

void pack_lift_limits(struct leat_pack_options *o)
{
    o->max_rejects = o->max_rejects_ppm = LEAT_NONE;
    o->allow_empty = 1;
}

/* Checks the options of long documents. */
static enum leat_status check_length(const struct leat_pack_options *o, struct leat_error *err)
{
    if (o->too_long > LEAT_TOO_LONG_SPLIT)
        return status_argument(err, "too_long", "unknown value %u for too_long", o->too_long);
    if (o->too_long > 0 && o->max_length == 0)
        return status_argument(err, "too_long", "no longest length is given, so that nothing is too long");
    if (o->too_long == LEAT_TOO_LONG_SPLIT && (!o->chat || pair_prompt(o)))
        return status_argument(err, "too_long",
                               "only a conversation has turns to be split between: reject or cut what is too long");
    if (o->max_length > 0 && o->max_length <= (o->begin_token != LEAT_NONE) + (o->end_token != LEAT_NONE) + 0u)
        return status_argument(err, "max_length",
                               "a length of %u leaves no room for the tokens before and after a document",
                               o->max_length);
    return LEAT_OK;
}

static enum leat_status take_options(struct pack_run *r, const char *output, const struct leat_pack_options *options,
                                     struct leat_error *err)
{
    struct leat_pack_options *o = &r->options;

    *o = *options;
    if (!output || !*output || !o->tokenizer)
        return status_argument(err, !output || !*output ? "output" : "tokenizer",
                               "packing needs an output and a tokenizer");
    if (o->parts > 0 && (o->part < 1 || o->part > o->parts))
        return status_argument(err, "part", "no share %u of %u: shares count from 1", o->part, o->parts);
    pack_options_default(o);
    if (o->write > LEAT_WRITE_DIRECT)
        return status_argument(err, "write", "unknown value %u for write", (unsigned)o->write);
    if (o->chat && o->mask_field)
        return status_argument(err, "mask_field",
                               "a conversation says by its template what is learned, not by a field");
    if (pair_prompt(o) && o->mask_field)
        return status_argument(err, "mask_field", "of a pair the completion is learned, which no field says");
    if (o->alpaca && o->chat)
        return status_argument(err, "alpaca", "Alpaca's prompt is a text, which no chat template renders");
    o->store_mask = pack_facts_mask(o);
    if (o->memory == 0) {
        uint64_t usual = PACK_USUAL_MEMORY + memory_resident() / PACK_GIB * PACK_GIB;

        o->memory = memory_within_groups(usual);
        r->setup.grouped = o->memory < usual;
    }
    return check_length(o, err);
}

static enum leat_status take_names(struct pack_run *r, const char *output, const char *given, struct leat_error *err)
{
    size_t length = file_dataset_length(output, strlen(output));

    r->name = strndup(output, length);
    if (!r->name || !(r->description_path = path_append(r->name, strlen(r->name), ".partial.run", NULL)) ||
        !(r->checkpoint_path = path_append(r->name, strlen(r->name), ".partial.checkpoint", NULL)) ||
        !(r->index_path = path_append(r->name, strlen(r->name), ".leat", NULL)))
        return status_no_memory(err, length);
    r->setup.output = r->name;
    given = given ? given : output;
    r->given = strndup(given, file_dataset_length(given, strlen(given)));
    return r->given ? reject_file_init(&r->output.rejects, r->given, err) : status_no_memory(err, strlen(given));
}

enum leat_status pack_run_init(struct pack_run *r, const char *output, const char *given,
                               const struct leat_pack_options *options, struct leat_error *err)
{
    struct pack_setup *setup = &r->setup;
    const struct leat_pack_options *o = &r->options;
    enum leat_status s;

    memset(r, 0, sizeof *r);
    r->tokenizer.size = sizeof r->tokenizer;
    r->output.rejects.fd = -1;
    pthread_mutex_init(&setup->long_lock, NULL);
    s = take_options(r, output, options, err);
    if (s == LEAT_OK)
        s = take_names(r, output, given, err);
    if (s != LEAT_OK)
        return s;
    leat_tokenizer_info(o->tokenizer, &r->tokenizer);
    setup->options = o;
    setup->tokenizer = o->tokenizer;
    setup->special = o->special != 0;
    setup->reject_invalid = o->reject_invalid != 0;
    setup->allow_binary = o->allow_binary != 0;
    setup->ids_wide = r->tokenizer.vocabulary > 65536;
    setup->masks = o->store_mask != 0;
    setup->whole_records = o->mask_field || o->weight || o->chat || pair_prompt(o);
    setup->chat = o->chat != NULL;
    setup->pairs = pair_prompt(o) != NULL;
    setup->spans = o->mask_field != NULL;
    setup->by = o->by != NULL;
    s = column_specs_make(&setup->columns, o, err);
    if (s != LEAT_OK)
        return s;
    if (o->max_length > 0)
        setup->max_tokens = o->max_length - (o->begin_token != LEAT_NONE) - (o->end_token != LEAT_NONE);
    setup->splits = o->too_long == LEAT_TOO_LONG_SPLIT;
    setup->render_limits.seconds = setup->long_render_limits.seconds = o->chat_seconds > 0 ? o->chat_seconds : 10;
    setup->threads = o->threads > 0 ? o->threads : thread_cpus();
    r->output.setup = setup;
    r->judges = &setup->judges;
    r->output.description = &r->description;
    r->output.description_path = r->description_path;
    r->output.checkpoints = true;
    r->output.field = o->by;
    s = pack_setup_memory(setup, o->memory, err);
    return s == LEAT_OK && setup->masks ? token_texts_make(&setup->token_texts, o->tokenizer, err) : s;
}

bool pack_run_ask(void *options)
{
    static const struct leat_pack_progress nothing = { .bound = "reading" };
    const struct leat_pack_options *o = options;

    return o->progress && o->progress(o->context, &nothing) != 0;
}

void pack_run_say_waits(void *options, const char *why)
{
    const struct leat_pack_options *o = options;

    if (o->notice)
        o->notice(o->context, &(struct leat_pack_notice) { .kind = LEAT_NOTICE_WAITING, .path = "", .message = why });
}

enum leat_status pack_run_take_chat(struct pack_run *r, struct leat_error *err)
{
    const struct leat_pack_options *o = &r->options;
    struct pack_setup *setup = &r->setup;

    setup->renderers = o->renderers;
    setup->render_plan = &r->chat.plan;
    setup->first_renderer = &r->chat.renderer;
    return pack_chat_open(&r->chat, o, &setup->render_limits, err);
}

void pack_run_free(struct pack_run *r)
{
    leat_encoder_close(r->setup.long_encoder);
    leat_encoder_close(r->setup.long_chat_encoder);
    pthread_mutex_destroy(&r->setup.long_lock);
    inputs_free(&r->setup.inputs);
    judges_free(&r->setup.judges);
    token_texts_free(&r->setup.token_texts);
    record_fields_free(&r->setup.fields);
    column_specs_free(&r->setup.columns);
    pack_past_free(&r->past);
    pack_chat_free(&r->chat);
    pack_output_free(&r->output);
    buffer_free(&r->description);
    leat_writer_free_note(r->note);
    free(r->description_path);
    free(r->checkpoint_path);
    free(r->index_path);
    free(r->name);
    free(r->given);
}

/* ---- The output ---- */

static uint32_t on_reading_back(void *context, uint64_t done, uint64_t total)
{
    const struct leat_pack_options *o = context;
    struct leat_pack_progress p = { .bytes = done, .total_bytes = total, .bound = "checking" };

    return o->progress(o->context, &p);
}

/*
 * The size from which on tokens are written directly. Up to some share of the memory, the page cache takes a file at
 * once, and still has it when training reads it next. A larger file pushes everything else out of the cache, and is
 * not in it when it is needed.
 */
#define DIRECT_SHARE   4
#define DIRECT_THREADS 8 /* with more threads, the kernel's lock of the file limits a run (bench/RESULTS.md) */
#define DIRECT_LEAST   ((uint64_t)1 << 30)

static uint64_t direct_from(const struct pack_run *r)
{
    uint64_t from = memory_left() / DIRECT_SHARE + 1;

    if (r->options.write != LEAT_WRITE_AUTO)
        return r->options.write == LEAT_WRITE_DIRECT;
    return r->setup.threads > DIRECT_THREADS && from > DIRECT_LEAST ? DIRECT_LEAST : from;
}

static struct leat_writer_options writer_options(struct pack_run *r, struct leat_stored_tokenizer *stored)
{
    struct leat_writer_options w = LEAT_WRITER_OPTIONS_INIT;
    struct leat_pack_options *o = &r->options;

    leat_tokenizer_stored(o->tokenizer, stored);
    w.vocabulary = r->tokenizer.vocabulary;
    w.end_token = o->end_token;
    w.begin_token = o->begin_token;
    w.tokenizer = stored;
    w.fingerprint = r->tokenizer.fingerprint;
    w.created = o->created;
    w.force = o->force;
    w.store_hashes = 1;
    w.store_mask = r->setup.masks;
    w.store_lines = w.store_ids = r->stores_all;
    w.progress = o->progress ? on_reading_back : NULL;
    w.context = o;
    return w;
}

static enum leat_status begin_output(struct pack_run *r, struct leat_error *err)
{
    struct leat_stored_tokenizer stored;
    struct leat_writer_options w = writer_options(r, &stored);
    enum leat_status s = leat_writer_open(&r->output.writer, r->name, &w, err);

    if (s == LEAT_OK)
        leat_writer_write_direct(r->output.writer, direct_from(r));
    if (s == LEAT_OK && r->setup.columns.count > 0)
        s = leat_writer_keep_values(r->output.writer, err);
    if (s == LEAT_OK)
        s = reject_file_begin(&r->output.rejects, err);
    /* Before the first checkpoint, a description is left over from another run: there is nothing to resume. */
    return s == LEAT_OK ? file_remove(r->description_path, err) : s;
}

void pack_run_tidy(const char *name)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *none;

    /* There is nothing to resume: opening the writer only removes leftovers. */
    options.vocabulary = 1;
    if (leat_writer_resume(&none, name, &options, NULL, NULL, NULL) == LEAT_OK)
        leat_writer_suspend(none);
}

/* Removes the last files of a finished run, which may have been killed before it removed them. It has published its
 * rejects, or had none; in the second case (`all`), an older run's rejects are removed, too. */
static enum leat_status tidy(struct pack_run *r, bool all, struct leat_error *err)
{
    enum leat_status s;

    pack_run_tidy(r->name);
    reject_file_remove(&r->output.rejects, all);
    s = file_remove(r->description_path, err);
    return s == LEAT_E_PERMISSION ? LEAT_OK : s; /* a dataset is finished even where nothing can be removed */
}

/* Checks whether the dataset that exists is what this run makes: then the run had ended. */
static enum leat_status look_if_finished(struct pack_run *r, const struct leat_error *said, struct leat_error *err)
{
    const struct input_list *inputs = r->takes_texts ? NULL : &r->setup.inputs;
    struct leat_dataset *d;
    char *learned;

    r->found = (struct leat_info)LEAT_INFO_INIT;
    pack_past_free(&r->past);
    if (leat_dataset_open(&d, r->name, NULL, NULL) == LEAT_OK) {
        r->finished = pack_facts_fit(d, &r->options, inputs, strcmp(r->name, r->given) ? PACK_PACKED : PACK_WHOLE,
                                     r->in_run != NULL, &r->past);
        leat_dataset_info(d, &r->found);
        leat_dataset_close(d);
    }
    learned = r->finished ? pack_facts_value(r->name, LEARNED_KEY) : NULL;
    snprintf(r->learned, sizeof r->learned, "%s", learned ? learned : "");
    free(learned);
    if (r->finished) /* the dataset does not say how many of a program's texts were rejected */
        return tidy(r, r->past.rejects == 0 && !r->takes_texts, err);
    if (err)
        *err = *said;
    if (r->past.damaged.count > 0)
        status_set_hint(err, said->status, said->hint, r->index_path,
                        "%s already exists, packed from inputs that were cut off or broken: if these are whole now, "
                        "replace it",
                        r->index_path);
    return said->status;
}

/* Returns true if a run that replaces the dataset stopped at a checkpoint. The writer refused (`said`) because a
 * dataset exists. If the run had ended, it would have removed the checkpoint. */
static bool stopped_replacing(struct pack_run *r, const struct leat_error *said, struct leat_error *err)
{
    struct file_identity checkpoint;

    if (said->hint != LEAT_HINT_REPLACE) /* it was not a dataset that was in the way, but something else */
        return false;
    if (file_identify(r->checkpoint_path, &checkpoint, NULL) != LEAT_OK || !checkpoint.exists)
        return false;
    r->replacing = true;
    status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, r->index_path,
                    "%s exists, and a run that replaces it has stopped at a checkpoint: to resume that run, ask again "
                    "to replace the dataset",
                    r->index_path);
    return true;
}

/* Resumes a run that has a description: it was started and did not end. */
static enum leat_status resume_begun(struct pack_run *r, struct leat_error *err)
{
    struct leat_stored_tokenizer stored;
    struct leat_writer_options w = writer_options(r, &stored);
    struct leat_error why;
    uint64_t note_bytes = 0;
    enum leat_status s =
        pack_description_compare(r->description_path, &r->description, r->given, pack_description_say_difference, err);

    if (s != LEAT_OK)
        return s;
    s = leat_writer_resume(&r->output.writer, r->name, &w, &r->note, &note_bytes, &why);
    if (s == LEAT_E_EXISTS)
        return stopped_replacing(r, &why, err) ? s : look_if_finished(r, &why, err);
    if (s != LEAT_OK) {
        if (err)
            *err = why;
        return s;
    }
    leat_writer_write_direct(r->output.writer, direct_from(r));
    if (!pack_output_load_note(&r->output, r->note, (size_t)note_bytes, &r->own_note, &r->own_note_bytes))
        s = status_set_in(err, LEAT_E_CHECKPOINT, r->name, "the checkpoint of %s was not made by the packer", r->name);
    if (s == LEAT_OK)
        s = reject_file_resume(&r->output.rejects, r->output.at.reject_bytes, r->output.at.reject_sum, err);
    if (s != LEAT_OK) { /* files that are refused stay as they are */
        leat_writer_suspend(r->output.writer);
        r->output.writer = NULL;
        return s;
    }
    r->start = (struct lane_start) { (size_t)r->output.at.input, r->output.at.offset, r->output.at.mark };
    r->output.text_at_checkpoint = r->output.at.text_bytes;
    r->output.described = r->output.resumable = true;
    pack_output_show(&r->output);
    pack_output_kept(&r->output);
    return s;
}

/* Resumes a run, or begins it. The description is there from the first checkpoint on, and is the last file to be
 * removed. */
static enum leat_status resume(struct pack_run *r, struct leat_error *err)
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
    if (description.exists && (checkpoint.exists || (index.exists && !r->options.force))) {
        s = resume_begun(r, err);
        if (s != LEAT_E_NO_FILE || file_identify(r->description_path, &description, NULL) != LEAT_OK ||
            description.exists)
            return s;
        /* another process has ended the run meanwhile */
    }
    s = begin_output(r, &why);
    /* Without permission to write, nothing is locked either; a finished dataset still counts. */
    if (s == LEAT_E_EXISTS || (s == LEAT_E_PERMISSION && index.exists && !r->options.force))
        return look_if_finished(r, &why, err);
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

enum leat_status pack_run_begin(struct pack_run *r, struct leat_error *err)
{
    enum leat_status s = r->options.resume ? resume(r, err) : begin_output(r, err);

    /* A part of a run cannot choose another name. */
    if (s == LEAT_E_EXISTS && r->in_run && r->past.damaged.count == 0 && !r->replacing)
        status_set_hint(
            err, s, LEAT_HINT_REPLACE, r->name,
            "%.300s.leat and its .tokens are not those of this part: one is missing or damaged, or they are "
            "from another run; pack the part again and replace them",
            r->name);
    return s;
}

static enum leat_status set_pins(struct pack_run *r, struct leat_error *err)
{
    const struct hub_pins *pins = &r->setup.inputs.pins;
    struct buffer text = { 0 };
    enum leat_status s = hub_pins_write(pins, "", &text, err);

    if (s == LEAT_OK && pins->count > 0) {
        text.bytes[text.size - 1] = '\0'; /* the last line needs no line feed */
        s = leat_writer_set_metadata(r->output.writer, PACK_HUB, (const char *)text.bytes, err);
    }
    buffer_free(&text);
    return s;
}

static enum leat_status set_metadata(struct pack_run *r, struct leat_error *err)
{
    struct pack_facts facts;
    enum leat_status s = LEAT_OK;

    pack_facts_make(&facts, &r->options, r->options.by);
    for (unsigned i = 0; s == LEAT_OK && i < PACK_FACTS; i++)
        if (facts.of[i].value)
            s = leat_writer_set_metadata(r->output.writer, facts.of[i].key, facts.of[i].value, err);
    if (s == LEAT_OK && r->options.chat)
        s = leat_writer_set_metadata(r->output.writer, "leat.jinja2", r->chat.version, err);
    if (s == LEAT_OK)
        s = set_pins(r, err);
    if (s == LEAT_OK && r->output.damages.count > 0) {
        struct buffer value = { 0 };

        s = damage_list_write(&r->output.damages, &value, err);
        if (s == LEAT_OK)
            s = leat_writer_set_metadata(r->output.writer, DAMAGE_KEY, (const char *)value.bytes, err);
        buffer_free(&value);
    }
    if (s == LEAT_OK && r->learned[0])
        s = leat_writer_set_metadata(r->output.writer, LEARNED_KEY, r->learned, err);
    if (s == LEAT_OK && r->options.parts > 0) /* says whether the part before begins its first input */
        s = leat_writer_set_metadata(r->output.writer, "leat.part.cut",
                                     r->setup.inputs.count > 0 && r->setup.inputs.items[0].begin > 0 ? "1" : "0", err);
    return s;
}

/* ---- The end ---- */

enum leat_status pack_run_say_damaged(const struct pack_run *r, const struct damage_list *damaged,
                                      struct leat_error *err)
{
    return r->in_run && damaged->count > 0 ? r->in_run->damaged(r->options.context, damaged, err) : LEAT_OK;
}

/* Names the conditions as the caller gave them. */
static void name_conditions(const struct leat_pack_options *o, char *text, size_t room)
{
    size_t used = 0;

    for (uint64_t i = 0; i < o->keep_count && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s\"%.100s\"", i > 0 ? " and " : "", o->keep[i]);
}

#define KINDS "; a number is compared with numbers, and any other value, or one in quotes, with strings"

/* Fails for a run of whose records conditions have left none, which is hardly what was meant, unless the options allow
 * it; a part of a run may well keep nothing. The sentence names the list of what was rejected, which gets its name
 * then, and a field that no record has: a notice does in a run that succeeds. */
static enum leat_status check_kept(struct pack_run *r, struct leat_error *err)
{
    const struct leat_pack_options *o = &r->options;
    const struct input_stop stop = { pack_run_ask, &r->options, pack_run_say_waits }; /* the flow, which had its own,
                                                                                         has ended */
    uint64_t kept_out = r->output.at.counts[COUNT_KEPT_OUT], rejected = r->output.at.rejects;
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

static void suspect(const struct pack_run *r, const char *message)
{
    const struct leat_pack_options *o = &r->options;

    if (o->notice)
        o->notice(o->context, &(struct leat_pack_notice) { LEAT_NOTICE_SUSPECT, 0, "", 0, 0, message });
}

/*
 * Byte-pair vocabularies make 3 to 5 bytes of a language, or of code, that they were made from into a token, and seldom
 * less than 1.5 of any text; a vocabulary of other languages, or other bytes than text, gives about one.
 */
#define LEAST_TOKENS 1000u /* fewer: no warning */
#define LEAST_BYTES  1.3   /* per token */
#define SMALL        1024u /* a vocabulary of bytes, or of characters, has one byte per token by intent */

/* Gives a notice if the tokenizer hardly fits the texts: a wrong one shows before training does. */
static void look_at_fit(const struct pack_run *r)
{
    const struct leat_pack_options *o = &r->options;
    uint64_t around = (o->end_token != LEAT_NONE) + (o->begin_token != LEAT_NONE);
    uint64_t tokens = leat_writer_tokens(r->output.writer) - around * leat_writer_documents(r->output.writer);
    double bytes = tokens > 0 ? (double)r->output.at.text_bytes / (double)tokens : 0;
    struct leat_stored_tokenizer stored;
    char message[400];

    if (tokens < LEAST_TOKENS || bytes >= LEAST_BYTES || r->tokenizer.vocabulary < SMALL || r->takes_texts)
        return;
    leat_tokenizer_stored(o->tokenizer, &stored);
    snprintf(message, sizeof message,
             "a token of %.200s has %.2f bytes of this text on average, and less than 1.3 is rare: is it the right "
             "tokenizer, and is this text?",
             stored.name, bytes);
    suspect(r, message);
}

void pack_run_look_back(struct pack_run *r)
{
    struct learned l = { 0 };

    look_at_fit(r);
    if (!leat_writer_learned(r->output.writer, &l.tokens, &l.documents_without))
        return;
    memcpy(l.by_role, r->output.at.learned_by_role, sizeof l.by_role);
    learned_choose_roles(&l, &l);
    learned_print(&l, r->learned);
    if (l.tokens == 0 && leat_writer_tokens(r->output.writer) > 0)
        suspect(r, r->options.chat
                       ? "training learns no token of these conversations: they have no message of the role "
                         "assistant, or the options leave out what it says"
                       : "training learns no token of these documents: their masks are all 0");
}

enum leat_status pack_run_finish(struct pack_run *r, struct leat_info *info, struct leat_error *err)
{
    struct pack_output *o = &r->output;
    enum leat_status s = pack_output_judge(o, err);

    if (s == LEAT_OK)
        s = check_kept(r, err);
    if (s == LEAT_OK)
        pack_run_look_back(r);
    if (s == LEAT_OK)
        s = set_metadata(r, err);
    if (s == LEAT_OK) /* this also finds out if another process has taken over */
        s = leat_writer_prepare(o->writer, err);
    if (s == LEAT_OK)
        s = pack_columns_make(o->writer, &r->setup.columns, err);
    r->direct_bytes = leat_writer_direct_bytes(o->writer);
    if (s == LEAT_OK)
        s = reject_file_publish(&o->rejects, err);
    if (s == LEAT_OK)
        s = pack_run_say_damaged(r, &o->damages, err);
    if (s == LEAT_OK)
        s = leat_writer_finish(o->writer, info, err);
    if (s != LEAT_OK)
        return s;
    o->writer = NULL;
    if (o->rejects.bytes == 0)
        reject_file_remove(&o->rejects, true);
    return file_remove(r->description_path, err);
}

void pack_run_abandon(struct pack_run *r)
{
    leat_writer_abandon(r->output.writer);
    r->output.writer = NULL;
    reject_file_remove(&r->output.rejects, false);
    file_remove(r->description_path, NULL);
}

/* Publishes the list of rejects, which the error has promised, even if there are too many. */
static void publish_rejects(struct pack_run *r, const struct leat_pack_report *report, struct leat_error *err)
{
    struct leat_error why;

    if (reject_file_publish(&r->output.rejects, &why) != LEAT_OK)
        pack_output_say_unlisted(&r->output, report->rejects + report->documents, &why, err);
}

void pack_run_keep(struct pack_run *r, enum leat_status s, struct leat_pack_report *report, struct leat_error *err)
{
    struct pack_output *o = &r->output;
    bool whole = s == LEAT_E_REJECTS || s == LEAT_E_STOPPED, nothing;

    if (!o->writer) {
        report->resumable = s == LEAT_E_STOPPED; /* it was stopped while it was read back */
        return;
    }
    if (s == LEAT_E_BUSY) { /* the files now belong to another process, with its description and its rejects */
        leat_writer_suspend(o->writer);
        o->writer = NULL;
        return;
    }
    nothing = (s == LEAT_E_REJECTS || s == LEAT_E_EMPTY) &&
              leat_writer_documents(o->writer) == 0; /* there is nothing to go on from */
    if (whole && o->checkpoints && !nothing)
        pack_output_checkpoint(o, NULL);
    if (!o->resumable || nothing) {
        report->kept_bytes = report->kept_tokens = report->kept_documents = 0;
        if (s == LEAT_E_REJECTS)
            publish_rejects(r, report, err);
        pack_run_abandon(r);
        return;
    }
    report->kept_bytes = atomic_load_explicit(&o->kept_disk_bytes, memory_order_relaxed);
    report->kept_tokens = atomic_load_explicit(&o->kept_tokens, memory_order_relaxed);
    report->kept_documents = atomic_load_explicit(&o->kept_documents, memory_order_relaxed);
    leat_writer_suspend(o->writer);
    if (s == LEAT_E_REJECTS)
        publish_rejects(r, report, err);
    report->resumable = 1;
}
