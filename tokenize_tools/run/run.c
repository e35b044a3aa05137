/* run.c: plans, opens and closes a run. */
#include "run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "corpus/record/judge.h"
#include "pack/pack_run.h"
#include "run_advice.h"
#include "run_folder.h"
#include "run_place.h"
#include "run_pushed.h"
#include "run_shared.h"

/* ---- Plan -------------------------------------------------------------------------------------------------------- */

/* Refuses options that each part would take in another way, or that only make sense once. */
static enum leat_status check_pack(const struct leat_pack_options *o, uint32_t parts, struct leat_error *err)
{
    if (parts == 0 && o->by)
        return status_argument(err, "by", "parts that are pushed are not divided by a field: no by");
    if (o->shuffle || o->dedup)
        return status_argument(
            err, o->shuffle ? "shuffle" : "dedup",
            "a run in parts is planned and packed without shuffle and dedup, since no part knows the "
            "others: joining the parts does that");
    if (o->force && parts > 0)
        return status_argument(err, "force",
                               "force is for one step: each part would start over whenever it is tried again");
    for (uint64_t i = 0; i < o->split_count; i++)
        if (o->splits[i].name &&
            (strcmp(o->splits[i].name, "leat-run") == 0 || strncmp(o->splits[i].name, "part-", 5) == 0))
            return status_argument(
                err, "splits", "no split of a run is called leat-run or part-...: its folder has files of these names");
    return parts == 0 ? pushed_check_splits(o, err) : LEAT_OK;
}

static enum leat_status check_inputs(const struct leat_run_options *o, struct leat_error *err)
{
    if (o->parts > 0 && (o->input_count == 0 || !o->inputs))
        return status_argument(err, "inputs", "a run needs at least one input");
    for (uint64_t i = 0; i < o->input_count; i++) {
        const char *input = o->inputs[i];

        if (!input)
            return status_argument(err, "inputs", "input %" PRIu64 " is NULL", i);
        if (strcmp(input, "-") == 0)
            return status_argument(
                err, "inputs", "every part of a run reads the inputs, and standard input comes only once: name files");
        if (strncmp(input, "http", 4) == 0 && strstr(input, "://") && strchr(input, '?'))
            return status_argument(
                err, "inputs",
                "the plan of a run keeps the inputs' names, and what follows the ? of a URL may be a "
                "key: put such URLs in a list, which only you can read (@LIST)");
    }
    return LEAT_OK;
}

static enum leat_status check_options(const struct leat_run_options *o, const struct leat_pack_options *pack,
                                      struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (!o->tokenizer)
        s = status_argument(err, "tokenizer", "a run needs a tokenizer");
    else if (o->parts > LEAT_RUN_MAX_PARTS)
        s = status_argument(err, "parts", "a run has at most %d parts", LEAT_RUN_MAX_PARTS);
    else if (o->append && o->parts > 0)
        s = status_argument(err, "append", "append is for runs whose parts are pushed");
    else if (o->append && pack->force)
        s = status_argument(err, "append", "a run cannot both append to a dataset and replace it");
    if (s == LEAT_OK)
        s = check_inputs(o, err);
    return s == LEAT_OK ? check_pack(pack, o->parts, err) : s;
}

/* Looks up the facts that all parts have in common, and writes them beside the plan. */
static enum leat_status describe(struct leat_run *run, bool here, struct leat_error *err)
{
    struct pack_in_run in_run = { .judge = run_shared_judge, .context = run };
    struct leat_pack_options o = run->plan.pack;
    enum leat_status s = run_take_tokenizer(run, err);

    if (s != LEAT_OK)
        return s;
    in_run.from = here ? NULL : run->plan.from;
    o.tokenizer = run->tokenizer;
    o.part = 0;
    o.parts = run->plan.parts;
    return run_pack(run, run->folder, &o, &in_run, NULL, err);
}

static enum leat_status publish(struct leat_run *run, bool here, struct leat_error *err)
{
    enum leat_status s = run_check_new(run->folder, err);

    if (s == LEAT_OK)
        s = describe(run, here, err);
    for (uint64_t i = 0; s == LEAT_OK && i < run->plan.pack.split_count; i++)
        s = run_publish_split(run, run->plan.pack.splits[i].name, err);
    return s == LEAT_OK ? run_publish(run->folder, &run->plan, err) : s;
}

/* Makes the plan of the options, which it points into. */
static void make_plan(struct run_plan *plan, const struct leat_run_options *o, const struct leat_pack_options *pack,
                      const char *from)
{
    *plan = (struct run_plan) { .parts = o->parts,
                                .from = from,
                                .tokenizer = o->tokenizer,
                                .pattern = o->pattern,
                                .inputs = o->inputs,
                                .input_count = o->input_count,
                                .pack = *pack };
}

/* Checks that the conditions make sense, before each attempt would. */
static enum leat_status check_keep(const struct leat_pack_options *o, struct leat_error *err)
{
    struct record_judges judges = { 0 };
    struct record_fields fields = { 0 };
    enum leat_status s = judges_want(&judges, &fields, o, err);

    judges_free(&judges);
    record_fields_free(&fields);
    return s;
}

/* Creates a run whose parts are pushed. The plan may be in a bucket; only the tokenizer is looked up. */
static enum leat_status create_pushed(struct leat_run **out, struct leat_run *run, const char *folder, bool append,
                                      struct leat_error *err)
{
    enum run_beginning how = append ? BEGIN_APPEND : run->plan.pack.force ? BEGIN_REPLACE : BEGIN_NEW;
    enum leat_status s = run_take_tokenizer(run, err);

    if (s == LEAT_OK)
        s = check_keep(&run->plan.pack, err);
    if (s == LEAT_OK)
        s = run_pushed_create(folder, &run->plan, how, err);
    leat_tokenizer_close(run->tokenizer);
    return s == LEAT_OK ? leat_run_open(out, folder, err) : s;
}

enum leat_status leat_run_create(struct leat_run **out, const char *folder, const struct leat_run_options *options,
                                 struct leat_error *err)
{
    struct leat_run_options o = LEAT_RUN_OPTIONS_INIT;
    struct leat_pack_options pack = LEAT_PACK_OPTIONS_INIT;
    struct leat_run run = { 0 };
    struct leat_error own;
    bool made = access(folder, F_OK) != 0;
    char *from = NULL;
    enum leat_status s = options_read(&o, sizeof o, NULL, options, "leat_run_options", err);

    *out = NULL;
    err = err ? err : &own;
    if (s == LEAT_OK)
        s = pack_options_read(&pack, o.pack, err);
    if (s == LEAT_OK)
        s = check_options(&o, &pack, err);
    if (s == LEAT_OK && !(from = o.from ? realpath(o.from, NULL) : getcwd(NULL, 0)))
        s = o.from ? status_set_os(err, errno, o.from, "cannot find the folder %s", o.from)
                   : status_set_os(err, errno, NULL, "cannot find out the current folder");
    make_plan(&run.plan, &o, &pack, from);
    if (s == LEAT_OK && o.parts == 0) {
        s = create_pushed(out, &run, folder, o.append != 0, err);
        free(from);
        return s;
    }
    if (s == LEAT_OK && !(run.folder = run_make_folder(folder, err)))
        s = err->status;
    if (s == LEAT_OK)
        s = publish(&run, !o.from, err);
    if (s != LEAT_OK && made && run.folder)
        (void)rmdir(run.folder); /* this removes a folder that was made for nothing; if it is not empty, another
                                    process plans there */
    if (s == LEAT_OK)
        s = leat_run_open(out, run.folder, err);
    leat_tokenizer_close(run.tokenizer);
    free(run.folder);
    free(from);
    return s;
}

/* ---- Open -------------------------------------------------------------------------------------------------------- */

static enum leat_status read_folder(struct leat_run *run, const char *folder, struct leat_error *err)
{
    char *name = run_file(folder, "");
    enum leat_status s = name ? LEAT_OK : status_no_memory(err, strlen(folder));

    if (s == LEAT_OK && !run_exists(folder, ""))
        s = run_advise(err, status_set_in(err, LEAT_E_NO_FILE, folder, "%s is not the folder of a run", folder),
                       RUN_NO_PLAN);
    if (s == LEAT_OK && !(run->folder = realpath(folder, NULL)))
        s = status_set_os(err, errno, folder, "cannot find the folder %s", folder);
    if (s == LEAT_OK && !(run->name = strdup(folder)))
        s = status_no_memory(err, strlen(folder));
    if (s == LEAT_OK)
        s = run_plan_read(&run->plan, name, err);
    free(name);
    return s;
}

enum leat_status leat_run_open(struct leat_run **out, const char *folder, struct leat_error *err)
{
    struct leat_run *run = calloc(1, sizeof *run);
    enum leat_status s = !run                      ? status_no_memory(err, sizeof *run)
                         : own_file_is_url(folder) ? run_pushed_read(run, folder, err)
                                                   : read_folder(run, folder, err);

    if (s != LEAT_OK) {
        leat_run_close(run);
        run = NULL;
    }
    *out = run;
    return s;
}

void leat_run_close(struct leat_run *run)
{
    if (!run)
        return;
    leat_tokenizer_close(run->tokenizer);
    run_plan_free(&run->plan);
    run_free_status(run);
    free(run->folder);
    free(run->name);
    free(run);
}

enum leat_status run_pack(struct leat_run *run, const char *output, struct leat_pack_options *o,
                          const struct pack_in_run *in_run, struct leat_pack_report *report, struct leat_error *err)
{
    char *chat = o->chat && *o->chat ? run_plan_path(&run->plan, o->chat) : NULL,
         *shared = run_file(run->folder, ".inputs");
    struct pack_in_run whole = *in_run;
    enum leat_status s = LEAT_OK;

    if (!shared || (o->chat && *o->chat && !chat))
        s = status_no_memory(err, strlen(run->folder));
    if (chat)
        o->chat = chat;
    whole.shared = shared;
    if (s == LEAT_OK)
        s = pack_inputs(output, run->plan.inputs, run->plan.input_count, o, &whole, report, err);
    free(chat);
    free(shared);
    return s;
}

/* Tells the caller why a call waits: the Hub may ask for that. */
static uint32_t on_waiting(void *options, const char *why)
{
    if (why)
        pack_run_say_waits(options, why);
    return pack_run_ask(options);
}

enum leat_status run_take_tokenizer(struct leat_run *run, struct leat_error *err)
{
    struct leat_tokenizer_options options = LEAT_TOKENIZER_OPTIONS_INIT;
    char *path = run->tokenizer ? NULL : run_plan_path(&run->plan, run->plan.tokenizer);
    enum leat_status s = LEAT_OK;

    if (run->tokenizer)
        return LEAT_OK;
    if (!path)
        return status_no_memory(err, strlen(run->plan.tokenizer));
    options.pattern = run->plan.pattern;
    options.waiting = on_waiting;
    options.waiting_context = &run->plan.pack;
    s = leat_tokenizer_open(&run->tokenizer, access(path, F_OK) == 0 ? path : run->plan.tokenizer, &options, err);
    if (s == LEAT_OK)
        run->plan.pack.tokenizer = run->tokenizer;
    free(path);
    return s;
}

void leat_run_info(const struct leat_run *run, struct leat_run_info *info)
{
    const struct run_plan *p = &run->plan;
    struct leat_run_info all = { .size = sizeof all,
                                 .folder = run->folder,
                                 .from = p->from,
                                 .tokenizer = p->tokenizer,
                                 .pattern = p->pattern,
                                 .inputs = p->inputs,
                                 .input_count = p->input_count,
                                 .files = p->files,
                                 .bytes = p->bytes,
                                 .whole_files = p->whole_files,
                                 .empty_parts = p->empty_parts,
                                 .parts = p->parts,
                                 .pack = &p->pack };

    if (p->parts == 0)
        (void)pushed_number(p, all.run, NULL);
    options_fill(info, &all, sizeof all);
}
