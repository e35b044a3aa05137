/* pack.c: leat_pack(): finds the inputs and the earlier run, and packs. */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/own_file.h"
#include "base/status.h"
#include "corpus/inputs.h"
#include "corpus/own_outputs.h"
#include "pack_by.h"
#include "pack_columns.h"
#include "pack_description.h"
#include "pack_facts.h"
#include "pack_run.h"

static enum leat_status check(const char *output, const char *const *inputs, uint64_t count,
                              const struct leat_pack_options *o, bool in_run, struct leat_error *err)
{
    enum leat_status s;

    if (!output || !*output || !o->tokenizer)
        return status_argument(err, !output || !*output ? "output" : "tokenizer",
                               "packing needs an output and a tokenizer");
    if (count == 0 || !inputs)
        return status_argument(err, "inputs", "packing needs at least one input");
    for (uint64_t i = 0; i < count; i++)
        if (!inputs[i])
            return status_argument(err, "inputs", "input %llu is NULL", (unsigned long long)i);
    s = own_file_check_local(output, err);
    if (s == LEAT_OK)
        s = pack_columns_check(o, in_run, err);
    if (s != LEAT_OK)
        return s;
    return o->shuffle || o->dedup || o->split_count > 0 || pack_arranges(o) ? pack_arranged_check(o, in_run, err)
                                                                            : LEAT_OK;
}

/* Takes the name over. */
static enum leat_status add_own(struct own_outputs *own, char *name, struct leat_error *err)
{
    enum leat_status s = name ? own_outputs_add(own, name, err) : status_no_memory(err, 1);

    free(name);
    return s;
}

/* Finds the files of all datasets that the run writes. */
static enum leat_status find_own(struct own_outputs *own, const char *output, const struct leat_pack_options *o,
                                 bool in_run, struct leat_error *err)
{
    enum leat_status s = add_own(own, split_fractions_output(output, NULL, in_run, ""), err);

    if (s == LEAT_OK) /* finds also the files of an earlier run that arranged */
        s = add_own(own, pack_split_name(output, "partial.packed/all", ""), err);
    for (size_t i = 0; s == LEAT_OK && i < o->split_count; i++)
        s = add_own(own, split_fractions_output(output, o->splits[i].name, in_run, ""), err);
    return s;
}

/* Reports the files that are left out. */
static void say_skipped(const struct input_list *list, const struct leat_pack_options *o,
                        struct leat_pack_report *report)
{
    struct leat_pack_notice notice = { .kind = LEAT_NOTICE_SKIPPED };

    report->skipped = list->skipped_count;
    for (size_t i = 0; o->notice && i < list->skipped_count; i++) {
        notice.path = list->skipped[i].path;
        notice.reason = list->skipped[i].reason;
        o->notice(o->context, &notice);
    }
}

/* Reports the splits that were found, whether they are packed or not. */
static void say_splits(const struct input_list *list, const struct leat_pack_options *o)
{
    struct leat_pack_notice notice = { .kind = LEAT_NOTICE_SPLIT };

    for (size_t i = 0; o->notice && i < list->split_count; i++) {
        notice.path = list->splits[i].name ? list->splits[i].name : "";
        notice.reason = list->splits[i].packed;
        notice.count = list->splits[i].inputs;
        o->notice(o->context, &notice);
    }
}

/* Reports that inputs are named more than once, which may be on purpose. If the run has a folder, its plan reports
 * it. */
static enum leat_status say_repeated(const struct input_list *list, const struct leat_pack_options *o, bool in_run,
                                     struct leat_error *err)
{
    struct leat_pack_notice notice = { .kind = LEAT_NOTICE_REPEATED };
    const struct input *first;
    size_t count;
    enum leat_status s;

    if (!o->notice || (in_run && o->part > 0))
        return LEAT_OK;
    s = inputs_count_repeated(list, &count, &first, err);
    if (s != LEAT_OK || count == 0)
        return s;
    notice.path = first->path;
    notice.count = count;
    o->notice(o->context, &notice);
    return LEAT_OK;
}

/* Returns true if one of the inputs may have another commit by now. */
static bool may_move(const char *const *inputs, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (fetch_is_moving(inputs[i]) || inputs[i][0] == '@')
            return true;
    return false;
}

static enum leat_status read_pins_of(struct hub_pins *pins, char *index, const char *output, struct leat_error *err)
{
    enum leat_status s = index ? pack_facts_pins(pins, index, err) : status_no_memory(err, strlen(output));

    free(index);
    return s;
}

/* Reads the pins of a run that has packed everything, and may have ended. */
static enum leat_status read_finished_pins(struct hub_pins *pins, const char *output, const struct leat_pack_options *o,
                                           struct leat_error *err)
{
    enum leat_status s = read_pins_of(pins, pack_split_name(output, NULL, ".partial.packed/all.leat"), output, err);

    if (s == LEAT_OK && pins->count == 0)
        s = read_pins_of(pins, pack_split_name(output, NULL, ".leat"), output, err);
    if (s == LEAT_OK && pins->count == 0 && o->by && o->parts == 0)
        s = pack_by_pins(pins, output, o, err);
    return s;
}

/* Reads the pins of the run that is to be resumed, in one pass or not, or of which this is a part. */
static enum leat_status read_pins(struct hub_pins *pins, const char *output, const char *const *inputs, uint64_t count,
                                  const struct leat_pack_options *o, const struct pack_in_run *in_run,
                                  struct leat_error *err)
{
    static const char *const places[] = { ".partial.run", ".partial.packed/all.partial.run" };
    enum leat_status s = LEAT_OK;

    if (in_run)
        return in_run->shared ? pack_description_pins(pins, in_run->shared, err) : LEAT_OK;
    for (unsigned i = 0; s == LEAT_OK && o->resume && pins->count == 0 && i < 2; i++) {
        char *path = pack_split_name(output, NULL, places[i]);

        s = path ? pack_description_pins(pins, path, err) : status_no_memory(err, strlen(output));
        free(path);
    }
    if (s == LEAT_OK && o->resume && !o->force && pins->count == 0 && may_move(inputs, count))
        s = read_finished_pins(pins, output, o, err);
    return s;
}

enum leat_status pack_inputs(const char *output, const char *const *inputs, uint64_t count,
                             const struct leat_pack_options *options, const struct pack_in_run *in_run,
                             struct leat_pack_report *report, struct leat_error *err)
{
    struct leat_pack_options all = LEAT_PACK_OPTIONS_INIT;
    struct leat_pack_report full = LEAT_PACK_REPORT_INIT;
    struct own_outputs own = { 0 };
    struct input_list list = { 0 };
    struct hub_pins pins = { 0 };
    struct input_rules rules;
    bool shared = in_run != NULL;
    enum leat_status s = pack_options_read(&all, options, err);

    if (s == LEAT_OK)
        s = options_read(&full, sizeof full, NULL, report, "leat_pack_report", err);
    if (s != LEAT_OK)
        return s;
    full.kept_bytes = full.kept_tokens = full.kept_documents = LEAT_NONE;
    rules = (struct input_rules) { .options = &all,
                                   .from = in_run ? in_run->from : NULL,
                                   .pins = &pins,
                                   .own = &own,
                                   .stop = { pack_run_ask, &all, pack_run_say_waits },
                                   .memory = all.memory };
    s = check(output, inputs, count, &all, shared, err);
    if (s == LEAT_OK)
        s = find_own(&own, output, &all, shared, err);
    if (s == LEAT_OK)
        s = read_pins(&pins, output, inputs, count, &all, in_run, err);
    if (s == LEAT_OK)
        s = inputs_find(&list, inputs, count, &rules, err);
    own_outputs_free(&own);
    hub_pins_free(&pins);
    if (s == LEAT_OK) {
        say_splits(&list, &all);
        say_skipped(&list, &all, &full);
    }
    if (s == LEAT_OK)
        s = say_repeated(&list, &all, shared, err);
    if (s == LEAT_OK && shared)
        s = in_run->judge(in_run->context, &all, &list, &rules.stop, &full, err);
    if (s == LEAT_OK && !all.force && !shared)
        s = pack_earlier_check(output, &all, err);
    if (s == LEAT_OK && shared && all.part == 0)
        ; /* that was all */
    else if (s == LEAT_OK && pack_arranges(&all))
        s = pack_arranged(output, &list, &all, in_run, &full, err);
    else if (s == LEAT_OK)
        s = pack_files(output, NULL, NULL, &list, &all, in_run, &full, err);
    if (s == LEAT_OK && all.force && !shared)
        pack_earlier_forget(output, pack_arranges(&all));
    else if (s == LEAT_OK && !shared && !pack_arranges(&all))
        pack_earlier_tidy(output);
    inputs_free(&list);
    if (report)
        options_fill(report, &full, sizeof full);
    return s;
}

enum leat_status leat_pack(const char *output, const char *const *inputs, uint64_t count,
                           const struct leat_pack_options *options, struct leat_pack_report *report,
                           struct leat_error *err)
{
    return pack_inputs(output, inputs, count, options, NULL, report, err);
}
