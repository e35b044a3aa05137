/* pack_files.c: packs files to a dataset, in their order. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "corpus/record/pair.h"
#include "pack.h"
#include "pack/flow/pack_worker.h"
#include "pack/flow/row_input.h"
#include "pack/flow/unit_kinds.h"
#include "pack_by.h"
#include "pack_description.h"
#include "pack_run.h"

#define TICK_MS 100

/* Refuses inputs without fields or columns if conditions or conversations need them: such a text would be left out,
 * or rejected, without a notice. */
static enum leat_status check_formats(const struct pack_run *r, struct leat_error *err)
{
    const struct leat_pack_options *o = &r->options;
    const struct record_judge *judge = judges_asked(o, true);
    const struct input_list *inputs = &r->setup.inputs;

    if (o->by && !*o->by)
        return status_argument(err, "by", "the field to choose datasets by has no name");
    for (size_t i = 0; (judge || o->chat || pair_prompt(o)) && i < inputs->count; i++)
        if (inputs->items[i].format->whole)
            return status_in_file(err,
                                  status_argument(err,
                                                  judge     ? judge->option
                                                  : o->chat ? "chat"
                                                            : "prompt",
                                                  "%s has no fields %s: it is a text, neither JSON nor a table",
                                                  inputs->items[i].path,
                                                  judge     ? judge->needs
                                                  : o->chat ? "with conversations"
                                                            : "with pairs"),
                                  inputs->items[i].path);
    return LEAT_OK;
}

/*
 * Opens each table before any work, since it must have the columns. Of tables on servers, only the first is opened:
 * each takes a request or two, and there may be very many. If another one lacks a column, this is reported when it
 * is its turn.
 */
static enum leat_status check_tables(const struct pack_setup *setup, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    bool objects = false;

    for (size_t i = 0; s == LEAT_OK && i < setup->inputs.count; i++) {
        const struct input *in = &setup->inputs.items[i];
        struct row_input *rows;

        if (!in->format->rows || (in->object && objects))
            continue;
        objects = objects || in->object;
        if (strcmp(in->path, "-") == 0)
            return status_argument(err, "inputs", "Parquet cannot be read from standard input: name the file");
        s = row_input_open(&rows, setup, i, 0, setup->window_bytes, err);
        row_input_close(rows);
        if (row_input_is_damage(s)) /* a damaged table will be a reject */
            s = LEAT_OK;
    }
    return s;
}

static bool is_there(const char *path)
{
    struct file_identity there = { 0 };

    return file_identify(path, &there, NULL) == LEAT_OK && there.exists;
}

/* Returns true if the run goes on from a checkpoint, or has its dataset. Then its inputs were looked at when it
 * began, and differences are reported in another place. */
static bool is_begun(const struct pack_run *r)
{
    return r->options.resume && (is_there(r->description_path) || (!r->options.force && is_there(r->index_path)));
}

enum leat_status pack_check_fields(struct input_list *inputs, const struct record_fields *fields,
                                   const struct record_judges *judges, bool allow_binary, bool whole,
                                   const struct input_stop *stop, struct leat_error *err)
{
    struct field_search search;
    enum leat_status s = field_search_begin(&search, fields, judges, err);

    if (s == LEAT_OK)
        s = inputs_check_heads(inputs, &search, allow_binary, whole, stop, err);
    field_search_free(&search);
    return s;
}

static enum leat_status check_fields(struct pack_setup *setup, const struct leat_pack_options *o, bool whole,
                                     struct leat_error *err)
{
    return pack_check_fields(&setup->inputs, &setup->fields, &setup->judges, o->allow_binary != 0, whole, &setup->stop,
                             err);
}

/* Keeps the run's share of the list, which belongs to it afterwards. */
static enum leat_status take_inputs(struct pack_run *r, struct input_list *inputs, struct leat_error *err)
{
    const struct leat_pack_options *o = &r->options;
    struct pack_setup *setup = &r->setup;
    enum leat_status s = LEAT_OK;

    setup->inputs = *inputs;
    setup->stop = (struct input_stop) { pack_run_ask, &r->options, pack_run_say_waits };
    *inputs = (struct input_list) { 0 };
    /* All inputs count, not those of a share: shares store what the whole run would. */
    for (size_t i = 0; i < setup->inputs.count; i++)
        r->stores_all = r->stores_all || unit_kind_of(&setup->inputs.items[i])->numbers;
    s = check_formats(r, err);
    if (s == LEAT_OK && o->chat)
        s = pack_run_take_chat(r, err);
    if (s == LEAT_OK)
        s = judges_prepare(&setup->judges, &setup->fields, o, err);
    if (s == LEAT_OK && !is_begun(r)) /* for a share, too, this looks at all inputs of the run */
        s = check_fields(setup, o, true, err);
    if (s == LEAT_OK && o->parts > 0)
        s = inputs_share(&setup->inputs, o->part, o->parts, unit_kind_divides, &setup->stop, err);
    if (s == LEAT_OK)
        s = pack_setup_fetching(setup, err);
    if (s == LEAT_OK && o->parts > 0 && !is_begun(r)) /* for a share, this looks at its inputs for which there was no
                                                         time */
        s = check_fields(setup, o, false, err);
    setup->look_first = true;
    setup->only_input = setup->inputs.count == 1 && o->parts == 0;
    if (s == LEAT_OK)
        s = check_tables(setup, err);
    if (s == LEAT_OK)
        s = pack_description_make(&r->description, o, o->chat ? &r->chat : NULL, &setup->inputs, err);
    /* The part of standard input that has been read cannot be read again. */
    for (size_t i = 0; s == LEAT_OK && i < setup->inputs.count; i++)
        r->output.checkpoints = r->output.checkpoints && strcmp(setup->inputs.items[i].path, "-") != 0;
    return s;
}

/* ---- Running ---- */

static const char *bound_of(const struct flow_facts *facts)
{
    if (facts->encoding > 0 && facts->waiting == 0)
        return "encoding";
    return facts->writing > 0 ? "writing" : "reading";
}

/* Calls the caller's function. Returns true to stop. */
static bool tell_progress(struct pack_run *r, struct flow *flow, uint64_t before)
{
    struct leat_pack_progress p = { 0 };
    struct flow_facts facts;
    char why[FLOW_WAITS];

    if (flow_waits(flow, why))
        pack_run_say_waits(&r->options, why);
    if (!r->options.progress)
        return false;
    flow_facts(flow, &facts);
    p.bytes = atomic_load_explicit(&r->output.seen_disk_bytes, memory_order_relaxed);
    p.total_bytes = r->output.checkpoints ? r->setup.inputs.bytes : 0;
    p.text_bytes = atomic_load_explicit(&r->output.seen_text_bytes, memory_order_relaxed);
    p.tokens = atomic_load_explicit(&r->output.seen_tokens, memory_order_relaxed);
    p.documents = atomic_load_explicit(&r->output.seen_documents, memory_order_relaxed);
    p.rejects = atomic_load_explicit(&r->output.seen_rejects, memory_order_relaxed);
    p.bytes_before = before;
    p.bound = bound_of(&facts);
    p.kept_bytes = atomic_load_explicit(&r->output.kept_disk_bytes, memory_order_relaxed);
    p.kept_tokens = atomic_load_explicit(&r->output.kept_tokens, memory_order_relaxed);
    p.kept_documents = atomic_load_explicit(&r->output.kept_documents, memory_order_relaxed);
    return r->options.progress(r->options.context, &p) != 0;
}

/* Keeps the flow's facts about cutting, and about the time since `began`. */
static void keep_facts(struct pack_run *r, const struct flow_facts *facts, uint64_t began)
{
    const struct flow_cut *cut = &facts->longest_cut;

    r->serial.cut_ns = cut->cut_ns;
    r->units = facts->units;
    r->lock_ns = facts->lock_ns;
    r->output.spent_ns[PACK_STEP_READ] += facts->ahead_ns;
    if (cut->decompress_ns == 0)
        return;
    snprintf(r->stream.name, sizeof r->stream.name, "%s", r->setup.inputs.items[cut->input].path);
    r->stream.decompress_ns = cut->decompress_ns;
    r->stream.waited_ns = cut->waited_ns;
    r->stream.threads_ns = (clock_ns() - began) * r->setup.threads;
}

/* Packs the run's inputs from where it begins. */
static enum leat_status flow_all(struct pack_run *r, struct leat_error *err)
{
    uint64_t before = r->output.at.disk_bytes, began = clock_ns();
    struct flow_facts facts = { 0 };
    bool ended = false, stopped;
    struct flow *flow;
    enum leat_status s;

    if (r->setup.inputs.count == 0) /* a share may have no input; a flow would wait for a program's units */
        return LEAT_OK;
    s = flow_open(&flow, &r->setup, &r->start, &r->output, err);
    /* This comes before any work, so that rates can leave out what an earlier run did. */
    stopped = s == LEAT_OK && before > 0 && tell_progress(r, flow, before);
    if (stopped)
        flow_stop(flow);
    while (s == LEAT_OK && !ended) {
        s = flow_wait(flow, TICK_MS, &ended, err);
        if (s == LEAT_OK && !ended && !stopped && tell_progress(r, flow, before)) {
            stopped = true;
            flow_stop(flow);
        }
    }
    if (s == LEAT_E_STOPPED && stopped) /* inside of an input */
        s = LEAT_OK;
    if (s == LEAT_OK && !stopped)
        tell_progress(r, flow, before);
    if (s == LEAT_OK) {
        flow_facts(flow, &facts);
        keep_facts(r, &facts, began);
    }
    flow_free(flow);
    return s == LEAT_OK && stopped ? status_set(err, LEAT_E_STOPPED, "packing was stopped") : s;
}

enum leat_status pack_files(const char *output, const char *given, const char *values, struct input_list *inputs,
                            const struct leat_pack_options *options, const struct pack_in_run *in_run,
                            struct leat_pack_report *report, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t began = clock_cpu_ns();
    struct pack_run r;
    enum leat_status s = pack_run_init(&r, output, given, options, err);

    r.output.by_output = values;
    r.in_run = in_run;
    if (s == LEAT_OK)
        s = take_inputs(&r, inputs, err);
    if (s == LEAT_OK)
        s = pack_run_begin(&r, err);
    r.serial.begin_ns = r.finished ? 0 : clock_cpu_ns() - began;
    if (s == LEAT_OK && r.finished && strcmp(r.name, r.given) != 0) /* and is left to arrange */
        s = pack_run_say_damaged(&r, &r.past.damaged, err);
    if (s == LEAT_OK && !r.finished) {
        s = flow_all(&r, err);
        began = clock_cpu_ns();
        if (s == LEAT_OK)
            s = pack_run_finish(&r, &info, err);
        r.serial.finish_ns = clock_cpu_ns() - began;
    }
    if (s == LEAT_E_STOPPED && r.output.writer)
        pack_run_look_back(&r);
    pack_output_notice(&r.output, options, s == LEAT_OK);
    if (s == LEAT_OK && r.finished)
        pack_facts_notice(&r.past.damaged, options);
    pack_run_report(&r, &info, report);
    if (s != LEAT_OK)
        pack_run_keep(&r, s, report, err);
    pack_run_free(&r);
    return s;
}
