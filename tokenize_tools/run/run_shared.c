/*
 * run_shared.c: DIR/leat-run.inputs, which has the facts that all parts of a run have in common, in lines and their
 * sum. One process writes it, before any part starts; each part compares. So a part that sees another list of
 * inputs, as on a machine where a disk is not mounted, is refused before it packs bytes that fit no other part.
 */
#include "run_shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "pack/flow/unit_kinds.h"
#include "pack/pack_description.h"
#include "run_advice.h"

#define TRY_BYTES ((uint64_t)64 << 20) /* bytes of memory for a renderer that has nothing to render */

/* Describes the tokenizer and its tokens, and then the run as a whole. */
static enum leat_status describe(struct buffer *text, const struct leat_pack_options *options,
                                 const struct input_list *inputs, struct leat_error *err)
{
    struct leat_tokenizer_info tokenizer = LEAT_TOKENIZER_INFO_INIT;
    struct leat_pack_options o = *options;
    const struct render_limits limits = { .memory = TRY_BYTES, .max_bytes = TRY_BYTES, .seconds = 1 };
    struct pack_chat chat = { 0 };
    enum leat_status s = buffer_reserve(text, 256, err);

    if (s != LEAT_OK)
        return s;
    leat_tokenizer_info(o.tokenizer, &tokenizer);
    memcpy(text->bytes, "tokenizer ", 10);
    text->size = 10;
    for (size_t i = 0; i < sizeof tokenizer.fingerprint; i++, text->size += 2)
        snprintf((char *)text->bytes + text->size, 3, "%02x", tokenizer.fingerprint[i]);
    text->size += (size_t)snprintf((char *)text->bytes + text->size, 128, "\nend %lld\nbegin %lld\n",
                                   (long long)o.end_token, (long long)o.begin_token);
    if (o.part > 0)
        o.notice = NULL; /* packing the part gives these notices */
    o.part = 0;
    pack_options_default(&o);
    if (o.chat)
        s = pack_chat_open(&chat, &o, &limits, err);
    if (s == LEAT_OK)
        s = pack_description_make(text, &o, o.chat ? &chat : NULL, inputs, err);
    pack_chat_free(&chat);
    return s == LEAT_OK ? run_sum_add(text, err) : s;
}

/* Returns the name of the input in a line of the description; NULL if it is another line. */
static const char *input_of(const char *line)
{
    const char *end = strncmp(line, "input ", 6) == 0 ? strstr(line, ", bytes ") : NULL;
    const char *name = end ? strstr(end, ": ") : NULL;

    return name ? name + 2 : NULL;
}

/* Returns the line as an option of the command has it. */
static const char *as_option(const char *line)
{
    return strcmp(line, "begin -1") == 0 ? "begin none" : strcmp(line, "end -1") == 0 ? "end none" : line;
}

/* Reports how a part, or a plan, differs from the plan that is there, in the folder `run`. */
static void say_planned(const char *run, const char *then, const char *now, const char *inputs, struct leat_error *err)
{
    unsigned long long before, after;
    const char *input_then = input_of(then), *input_now = input_of(now);

    if (sscanf(then, "part 0/%llu", &before) == 1 && sscanf(now, "part 0/%llu", &after) == 1)
        status_set_in(err, LEAT_E_CHECKPOINT, run, "the run in %.200s has %llu part%s, not %llu", run, before,
                      before == 1 ? "" : "s", after);
    else if (inputs[0])
        status_set_in(err, LEAT_E_CHECKPOINT, run,
                      "the inputs are not those with which the run in %.150s was planned: %s", run, inputs);
    else if (input_then && input_now && strcmp(input_then, input_now) != 0)
        status_set_in(err, LEAT_E_CHECKPOINT, run,
                      "the run in %.200s was planned with the input %.200s, where %.200s is here", run, input_then,
                      input_now);
    else if (strncmp(then, "tokenizer ", 10) == 0 && strncmp(now, "tokenizer ", 10) == 0)
        status_set_in(err, LEAT_E_CHECKPOINT, run, "the run in %.200s was planned with another tokenizer", run);
    else if (strncmp(then, "chat template ", 14) == 0 && strncmp(now, "chat template ", 14) == 0)
        status_set_in(err, LEAT_E_CHECKPOINT, run,
                      "the run in %.200s was planned with another chat template, or other special tokens beside it",
                      run);
    else
        status_set_in(err, LEAT_E_CHECKPOINT, run,
                      "the run in %.200s was planned with \"%.200s\", not with \"%.200s\": give the same options", run,
                      as_option(then), as_option(now));
}

/* Returns true if the lines are about the inputs, which somebody may restore. Other lines are about options with
 * which another run was planned. */
static bool is_of_inputs(const char *then, const char *now)
{
    return input_of(then) || input_of(now) || strncmp(then, "inputs ", 7) == 0;
}

static enum leat_status say_difference(const char *path, const char *then, const char *now, const char *inputs,
                                       struct leat_error *err)
{
    char *run = file_folder(path);

    if (!run)
        return status_no_memory(err, strlen(path));
    say_planned(run, then, now, inputs, err);
    status_after(err,
                 inputs[0] ? "; restore them, or remove the folder %.150s and plan the run anew"
                           : "; to plan it anew, remove the folder %.150s",
                 run);
    free(run);
    return run_advise(err, LEAT_E_CHECKPOINT, is_of_inputs(then, now) ? RUN_SHARED_DIFFERS : RUN_PLAN_OTHER);
}

/* Checks that the file is as it was written. */
static enum leat_status check_whole(const char *path, struct leat_error *err)
{
    struct buffer text = { 0 };
    enum leat_status s = buffer_read(&text, path, BUFFER_TEXT_MAX, err);
    bool whole = s == LEAT_OK && run_sum_take(&text);

    buffer_free(&text);
    if (s != LEAT_OK || whole)
        return s;
    status_set_in(
        err, LEAT_E_CHECKSUM, path,
        "%s is damaged: remove it and plan the run again in this folder, with the same arguments, which writes "
        "it anew",
        path);
    return run_advise(err, LEAT_E_CHECKSUM, RUN_SHARED_DAMAGED);
}

static enum leat_status compare(const char *path, const struct buffer *text, struct leat_error *err)
{
    enum leat_status s = check_whole(path, err);

    return s == LEAT_OK ? pack_description_compare(path, text, path, say_difference, err) : s;
}

/* Writes the file; or compares it with the one that another process wrote, which plans the same run at the same
 * moment. */
static enum leat_status write_or_compare(const char *path, const struct buffer *text, struct leat_error *err)
{
    enum leat_status s = own_file_publish(path, text->bytes, text->size, err);

    return s == LEAT_E_EXISTS ? compare(path, text, err) : s;
}

/* Checks that the records of all inputs have the fields that the run wants. */
static enum leat_status check_fields(struct input_list *inputs, const struct leat_pack_options *options,
                                     const struct input_stop *stop, struct leat_error *err)
{
    struct leat_pack_options o = *options;
    struct record_fields fields = { 0 };
    struct record_judges judges = { 0 };
    enum leat_status s;

    pack_options_default(&o);
    s = judges_prepare(&judges, &fields, &o, err);
    if (s == LEAT_OK)
        s = pack_check_fields(inputs, &fields, &judges, o.allow_binary != 0, true, stop, err);
    judges_free(&judges);
    record_fields_free(&fields);
    return s;
}

static enum leat_status judge(const struct leat_run *run, const char *path, const struct leat_pack_options *o,
                              struct input_list *inputs, const struct input_stop *stop, struct leat_error *err)
{
    struct file_identity there;
    struct buffer text = { 0 };
    enum leat_status s = file_identify(path, &there, err);

    if (s == LEAT_OK)
        s = describe(&text, o, inputs, err);
    if (s == LEAT_OK && o->part == 0)
        s = check_fields(inputs, o, stop, err);
    if (s == LEAT_OK && there.exists)
        s = compare(path, &text, err);
    else if (s == LEAT_OK && o->part == 0)
        s = write_or_compare(path, &text, err);
    else if (s == LEAT_OK)
        s = run_advise(
            err,
            status_set_in(err, LEAT_E_NO_FILE, path,
                          "%s is missing: plan the run again in the folder %s, with the same arguments, which "
                          "writes it anew",
                          path, run->folder),
            RUN_SHARED_MISSING);
    buffer_free(&text);
    return s;
}

enum leat_status run_shared_judge(void *context, const struct leat_pack_options *o, struct input_list *inputs,
                                  const struct input_stop *stop, struct leat_pack_report *report,
                                  struct leat_error *err)
{
    struct leat_run *run = context;
    struct run_plan *p = &run->plan;
    char *path = run_file(run->folder, ".inputs");
    enum leat_status s = LEAT_OK;

    if (!path)
        return status_no_memory(err, strlen(run->folder));
    if (o->part == 0)
        s = inputs_count_empty(inputs, o->parts, unit_kind_divides, stop, &p->whole_files, &p->empty_parts, err);
    if (o->part == 0) {
        p->files = inputs->count;
        p->bytes = inputs->bytes;
    }
    report->inputs = inputs->count;
    if (s == LEAT_OK)
        s = judge(run, path, o, inputs, stop, err);
    free(path);
    return s;
}
