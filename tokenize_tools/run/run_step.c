/* run_step.c: leat_run_step(). The part's beat is locked during a step, so two processes never pack the same part.
 * The packer keeps the checkpoint of a step, however that ends, as with any run that is resumed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/options.h"
#include "base/status.h"
#include "damage/damage_list.h"
#include "run_advice.h"
#include "run_beat.h"
#include "run_shared.h"
#include "run_status.h"

struct step {
    struct leat_run *run;
    struct leat_pack_options options, pack; /* the caller's options, and the plan's with those that the caller sets */
    char *output;
    struct run_beat beat;
    struct damage_list damaged; /* inputs that broke off */
    bool unsaid;                /* true if there was no memory for one of them */
    uint64_t began;             /* ns */
    bool resumed;
    uint64_t tokens_before;
};

/* ---- What happens meanwhile -------------------------------------------------------------------------------------- */

static uint32_t on_progress(void *context, const struct leat_pack_progress *p)
{
    struct step *step = context;
    double seconds = (double)(clock_ns() - step->began) / 1e9;

    if (strcmp(p->bound, "checking") == 0) {
        step->began = clock_ns(); /* nothing is packed yet */
    } else if (seconds > 0) {
        if (!step->resumed && p->bytes_before > 0) /* work of an earlier step does not count for the rate */
            step->tokens_before = p->tokens;
        step->resumed = step->resumed || p->bytes_before > 0;
        run_beat_update(&step->beat,
                        &(struct beat_facts) { .bytes = p->bytes,
                                               .total_bytes = p->total_bytes,
                                               .tokens = p->tokens,
                                               .documents = p->documents,
                                               .rejects = p->rejects,
                                               .tokens_per_s = (double)(p->tokens - step->tokens_before) / seconds,
                                               .bytes_per_s = (double)(p->bytes - p->bytes_before) / seconds,
                                               .kept_bytes = p->kept_bytes,
                                               .kept_tokens = p->kept_tokens,
                                               .kept_documents = p->kept_documents });
    }
    return step->options.progress ? step->options.progress(step->options.context, p) : 0;
}

static void on_notice(void *context, const struct leat_pack_notice *n)
{
    struct step *step = context;

    if (n->kind == LEAT_NOTICE_DAMAGED)
        step->unsaid |= damage_list_add(&step->damaged, n->path, n->offset, n->message, strlen(n->message), n->count,
                                        NULL) != LEAT_OK;
    if (step->options.notice)
        step->options.notice(step->options.context, n);
}

/* ---- Before ------------------------------------------------------------------------------------------------------ */

static enum leat_status check(struct leat_run *run, uint32_t part, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (run->plan.parts == 0)
        return status_argument(err, "part", "the parts of the run in %s are pushed: no step packs them", run->name);
    if (part < 1 || part > run->plan.parts)
        return status_argument(err, "part", "part %u: the run in %s has the parts 1 to %u", part, run->name,
                               run->plan.parts);
    for (uint64_t i = 0; s == LEAT_OK && i < run->plan.pack.split_count; i++)
        s = run_publish_split(run, run->plan.pack.splits[i].name, err);
    return s;
}

/* The options that a step may set. */
static const struct {
    const char *kind;
    size_t at, bytes;
} own_options[] = {
#define OPTION_OWN(kind, member)
#define OPTION_SHARED(kind, member)
#define OPTION_STEP(kind, member)                                                                                      \
    { #kind, offsetof(struct leat_pack_options, member), sizeof(((struct leat_pack_options *)NULL)->member) },
#define PACK_OPTION(kind, member, keyword, plan, ...) OPTION_##plan(kind, member)
#define PACK_KEYWORD(kind, member, keyword, plan)     OPTION_##plan(kind, member)
#include "pack/option_rows.h"
};

/* Makes the options of the plan with those that the step sets. */
static void take_options(struct step *step, uint32_t part)
{
    static const struct leat_pack_options usual = LEAT_PACK_OPTIONS_INIT;
    const struct leat_pack_options *own = &step->options;
    struct leat_pack_options *o = &step->pack;

    *o = step->run->plan.pack;
    for (size_t i = 0; i < sizeof own_options / sizeof *own_options; i++) {
        size_t at = own_options[i].at;
        size_t bytes =
            own_options[i].bytes * (strcmp(own_options[i].kind, "LIMIT") == 0 ? 2 : 1); /* its share follows */

        if (memcmp((const char *)own + at, (const char *)&usual + at, bytes) != 0)
            memcpy((char *)o + at, (const char *)own + at, bytes);
    }
    o->tokenizer = step->run->tokenizer;
    o->part = part;
    o->parts = step->run->plan.parts;
    o->resume = !own->force; /* otherwise files that cannot be continued would be an obstacle */
    o->force = own->force;
    o->renderers = own->renderers;
    o->progress = on_progress;
    o->notice = on_notice;
    o->output = NULL;
    o->context = step;
}

/* Begins the sign of life. A part that has its dataset, in a folder that cannot be written to, needs none: there is
 * nothing left to do, unless the dataset is to be replaced. */
static enum leat_status begin_beat(struct step *step, uint32_t part, struct leat_error *err)
{
    char *path = run_part_file(step->run, part, ".beat");
    struct beat_read there;
    enum leat_status s =
        path ? run_beat_begin(&step->beat, path, err) : status_no_memory(err, strlen(step->run->folder));
    bool idle = s == LEAT_E_PERMISSION && !step->options.force;
    char *index = idle ? run_part_file(step->run, part, ".leat") : NULL;

    if (index && access(index, F_OK) == 0) {
        s = run_beat_begin(&step->beat, NULL, err);
        path = run_part_file(step->run, part, ".beat");
        if (path && run_beat_read(path, &there))
            memcpy(step->beat.damage, there.damage, sizeof there.damage);
        free(path);
    }
    free(index);
    return s == LEAT_E_BUSY ? run_say_busy(step->run, part, err) : s;
}

/* ---- After ------------------------------------------------------------------------------------------------------- */

/* Writes "2 inputs were cut off or broken: a.gz, at byte 1200: it ends ...; b.gz, ..." */
static enum leat_status say_cut(const struct damage_list *l, struct leat_error *err)
{
    status_set_at(err, LEAT_E_TRUNCATED, l->items[0].input, l->items[0].offset, "%zu input%s cut off or broken",
                  l->count, l->count == 1 ? " was" : "s were");
    for (size_t i = 0; i < l->count; i++)
        status_after(err, "%s %.200s, at byte %" PRIu64 ": %.200s", i == 0 ? ":" : ";",
                     l->items[i].input ? l->items[i].input : "an input", l->items[i].offset, l->items[i].reason);
    return run_advise(err, LEAT_E_TRUNCATED, RUN_PART_CUT);
}

/* Notes the damage. From now on the part is not done, even if the process is killed when its dataset has its name. */
static enum leat_status on_damaged(void *context, const struct damage_list *damaged, struct leat_error *err)
{
    struct step *step = context;
    struct leat_error why;

    if (step->pack.allow_truncated)
        return LEAT_OK;
    (void)say_cut(damaged, &why);
    return run_beat_mark(&step->beat, &why, err);
}

/* Ends the sign of life of a part that has its dataset. If its inputs were cut off, it has failed, even if it is
 * tried again and nothing is left to do, until that is allowed. */
static enum leat_status end_done(struct step *step, struct leat_pack_report *report, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (!report->was_finished) /* the part is packed now; if a later step fails, it can be done again */
        run_beat_keep(&step->beat, report->disk_bytes, report->tokens, report->documents);
    if (!step->pack.allow_truncated && (!report->was_finished || step->beat.damage[0]))
        s = step->unsaid ? status_no_memory(err, 0) : step->damaged.count > 0 ? say_cut(&step->damaged, err) : LEAT_OK;
    if (s == LEAT_OK)
        run_beat_done(&step->beat);
    else
        run_beat_damaged(&step->beat, err);
    return s;
}

/* Adds to an error of the packer what it means for a part, if its status alone does not say it. */
static void advise(struct leat_error *err)
{
    if (err->status == LEAT_E_REJECTS)
        run_advise(err, err->status, RUN_REJECTS);
    else if (err->status == LEAT_E_EXISTS && err->hint == LEAT_HINT_REPLACE)
        run_advise(err, err->status, RUN_PART_DAMAGED);
    else if (err->status == LEAT_E_CHECKPOINT && err->hint < RUN_DAMAGE)
        run_advise(err, err->status, RUN_UNFINISHED);
}

static enum leat_status step_part(struct step *step, uint32_t part, struct leat_pack_report *report,
                                  struct leat_error *err)
{
    struct pack_in_run in_run = {
        .from = step->run->plan.from, .judge = run_shared_judge, .context = step->run, .damaged = on_damaged
    };
    enum leat_status s = begin_beat(step, part, err);

    if (s != LEAT_OK)
        return s;
    s = run_take_tokenizer(step->run, err);
    take_options(step, part);
    step->began = clock_ns();
    if (s == LEAT_OK)
        s = run_pack(step->run, step->output, &step->pack, &in_run, report, err);
    if (s == LEAT_OK)
        return end_done(step, report, err);
    advise(err);
    run_beat_keep(&step->beat, report->kept_bytes, report->kept_tokens, report->kept_documents);
    run_beat_failed(&step->beat, err);
    return s;
}

enum leat_status leat_run_step(struct leat_run *run, uint32_t part, const struct leat_pack_options *options,
                               struct leat_pack_report *report, struct leat_error *err)
{
    struct step step = { .run = run, .options = LEAT_PACK_OPTIONS_INIT };
    struct leat_pack_report full = LEAT_PACK_REPORT_INIT;
    struct leat_error own;
    enum leat_status s;

    err = err ? err : &own;
    s = pack_options_read(&step.options, options, err);
    if (s == LEAT_OK)
        s = options_read(&full, sizeof full, NULL, report, "leat_pack_report", err);
    full.kept_bytes = full.kept_tokens = full.kept_documents = LEAT_NONE; /* not the caller's */
    if (s == LEAT_OK)
        s = check(run, part, err);
    if (s == LEAT_OK && !(step.output = run_part_file(run, part, "")))
        s = status_no_memory(err, strlen(run->folder));
    if (s == LEAT_OK)
        s = step_part(&step, part, &full, err);
    if (report)
        options_fill(report, &full, sizeof full);
    damage_list_free(&step.damaged);
    free(step.output);
    return s;
}
