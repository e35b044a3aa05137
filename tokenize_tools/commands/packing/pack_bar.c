/*
 * pack_bar.c: see pack_bar.h. After a failed run, the advice depends on what it has left: a checkpoint, only rejects,
 * or nothing.
 */
#include "pack_bar.h"

#include <stdio.h>
#include <string.h>

#include "cli/units.h"
#include "commands/common/damage_lines.h"
#include "pack_again.h"

void pack_bar_damage(const struct pack_notices *n, char *text, size_t room)
{
    const struct damage_list *l = &n->damaged;
    char line[DAMAGE_LINE];
    size_t used = 0;

    text[0] = '\0';
    if (l->count == 0)
        return;
    damage_say_all(l, line, sizeof line);
    used = (size_t)snprintf(text, room, "%s", line);
    for (size_t i = 0; i < l->count && used < room; i++) {
        damage_say_one(&l->items[i], line, sizeof line);
        used += (size_t)snprintf(text + used, room - used, "%s %s", i == 0 ? ":" : ";", line);
    }
}

/* A line, if they are few, and one for each. */
static void say_list(const struct damage_list *l, const char *before)
{
    char all[DAMAGE_LINE], line[DAMAGE_LINE];

    damage_say_all(l, all, sizeof all);
    if (l->count == 1) {
        damage_say_one(l->items, line, sizeof line);
        cli_error("%s%s: %s", before, all, line);
        return;
    }
    cli_error("%s%s:", before, all);
    for (size_t i = 0; i < l->count && i < DAMAGE_SHOWN; i++) {
        damage_say_one(&l->items[i], line, sizeof line);
        cli_error("  %s", line);
    }
    if (l->count > DAMAGE_SHOWN)
        cli_error("  and %s more (leat info --json lists all)", units_count(l->count - DAMAGE_SHOWN).text);
}

void pack_bar_say_damage(const struct pack_values *v, const struct pack_notices *n)
{
    if (n->damaged.count > 0)
        say_list(&n->damaged, v->allow_truncated ? "warning: " : "");
}

void pack_bar_say_accept(const struct pack_values *v, const struct pack_notices *n)
{
    char again[PACK_AGAIN];
    bool one = n->damaged.count == 1;

    if (n->damaged.count == 0)
        return;
    pack_again(v, v->run ? " --allow-truncated" : " --resume --allow-truncated", false, again);
    cli_error("once %s whole again, start %sover with --force; --allow-truncated counts that as success%s",
              one ? "it is" : "they are", v->run ? "the part " : "", again);
}

/* What is left of a run that did not end, and how to go on. A run's part goes on by itself, with the same words. */
static void say_kept(const struct pack_values *v, const struct leat_pack_report *report, const struct leat_error *err)
{
    bool rejects = err->status == LEAT_E_REJECTS;
    char options[80] = "", again[PACK_AGAIN];

    snprintf(options, sizeof options, "%s", v->run ? "" : " --resume");
    if (rejects)
        snprintf(options + strlen(options), sizeof options - strlen(options), " --max-rejects %llu",
                 (unsigned long long)(2 * report->rejects));
    pack_again(v, options, !v->run, again);
    if (!v->run)
        cli_error("nothing is lost: the same command with --resume%s continues from there%s%s",
                  rejects ? " and a larger --max-rejects" : "", v->force ? "; --force alone starts over" : "", again);
    else
        cli_error("nothing is lost: pack the part again%s%s: it goes on from there%s",
                  v->force ? ", without --force" : "",
                  !rejects   ? ""
                  : v->force ? " and with a larger --max-rejects"
                             : ", with a larger --max-rejects",
                  again);
}

/* Nothing is left of a run whose inputs were damaged: it starts over when they are whole. */
static void say_lost(const struct pack_values *v)
{
    char again[PACK_AGAIN];

    pack_again(v, "", true, again);
    cli_error("nothing of this run is kept: restore what was cut off or broken, and start over%s", again);
}

/* Of an input that is no text: with another one, or --allow-binary, it would be another run. */
static void say_over(const struct pack_values *v)
{
    cli_error(v->run ? "packing the part again ends the same way: mend or leave out this input, and plan the run anew"
                     : "--resume ends the same way: mend or leave out this input, and start over with --force");
}

/* Whether the message names the field of the text, which is then missing or holds no text. */
static bool lacks_text(const struct pack_values *v, const struct leat_error *err)
{
    char quoted[512];

    snprintf(quoted, sizeof quoted, "\"%.500s\"", v->text);
    return strstr(err->message, quoted) != NULL;
}

int pack_bar_say_failed(const struct pack_values *v, const struct pack_notices *n,
                        const struct leat_pack_report *report, const struct leat_error *err)
{
    int code = err->status == LEAT_E_REJECTS ? CLI_REJECTS : CLI_FAILED;

    if (err->status == LEAT_E_STOPPED && cli_interrupted()) {
        code = cli_interrupted_code();
        cli_error("interrupted after %s in %s", units_counted(report->tokens, "token").text,
                  units_counted(report->documents, "document").text);
    } else if (err->status == LEAT_E_REJECTS) {
        cli_error("%s%s", err->message, cli_hint(err));
        pack_bar_say_damage(v, n); /* if there are few records, the one at the break is too many by itself */
    } else {
        code = cli_failed(err);
    }
    if (err->status == LEAT_E_REJECTS && report->documents == 0 && lacks_text(v, err))
        cli_error("no record was packed: --text FIELD names the member or column that holds the text; this run looked "
                  "for \"%s\"",
                  v->text);
    else if (report->resumable && err->status == LEAT_E_UNSUPPORTED && err->hint == LEAT_HINT_BINARY)
        say_over(v);
    else if (report->resumable && err->status != LEAT_E_MISMATCH) /* an input that has changed is another one */
        say_kept(v, report, err);
    else if (err->status == LEAT_E_REJECTS && n->damaged.count > 0)
        say_lost(v);
    else if (err->status == LEAT_E_NO_SPACE)
        cli_error("nothing of this run is kept, since it had no checkpoint yet: %s",
                  v->run ? "packing the part again starts over" : "the same command starts over, also with --resume");
    return code;
}

/* What the bytes of the progress are of. */
static enum pack_phase phase_of(const struct leat_pack_progress *p)
{
    if (strcmp(p->bound, "checking") == 0)
        return PACK_CHECKING;
    return strcmp(p->bound, "arranging") == 0 ? PACK_ARRANGING : PACK_PACKING;
}

static uint32_t on_progress(void *context, const struct leat_pack_progress *p)
{
    struct pack_bar *bar = context;
    enum pack_phase phase = phase_of(p);
    double seconds = cli_now() - bar->began;
    char detail[160], rejects[64] = "";

    pack_notices_say_skipped(&bar->notices);
    if (bar->phase != phase)
        progress_again(&bar->progress);
    bar->phase = phase;
    if (phase == PACK_CHECKING) {
        bar->began = cli_now(); /* nothing is packed yet */
        progress_update(&bar->progress, p->bytes, p->total_bytes, "checking what was packed before");
        return cli_interrupted();
    }
    if (!bar->started && p->bytes_before > 0) { /* what a run that is resumed had done does not count for the rate */
        bar->started = true;
        bar->tokens_before = p->tokens;
        bar->text_before = p->text_bytes;
    }
    if (p->rejects > 0)
        snprintf(rejects, sizeof rejects, "  %s reject%s", units_count(p->rejects).text, p->rejects == 1 ? "" : "s");
    if (bar->beat && seconds > 0)
        run_beat_update(bar->beat,
                        &(struct beat_facts) { .bytes = p->bytes,
                                               .total_bytes = p->total_bytes,
                                               .tokens = p->tokens,
                                               .documents = p->documents,
                                               .rejects = p->rejects,
                                               .tokens_per_s = (double)(p->tokens - bar->tokens_before) / seconds,
                                               .bytes_per_s = (double)(p->bytes - p->bytes_before) / seconds,
                                               .kept_bytes = p->kept_bytes,
                                               .kept_tokens = p->kept_tokens,
                                               .kept_documents = p->kept_documents });
    snprintf(detail, sizeof detail, "%s%s  %s",
             units_rate(seconds > 0 ? (double)(p->tokens - bar->tokens_before) / seconds : 0, "tokens").text, rejects,
             p->bound);
    progress_update(&bar->progress, p->bytes, p->total_bytes, detail);
    return cli_interrupted();
}

static void on_notice(void *context, const struct leat_pack_notice *notice)
{
    struct pack_bar *bar = context;

    pack_notices_add(&bar->notices, notice);
}

static void on_output(void *context, const struct leat_by_output *output)
{
    struct pack_bar *bar = context;

    by_outputs_add(&bar->outputs, output);
}

void pack_bar_begin(struct pack_bar *bar, const struct pack_values *v, struct leat_pack_options *o)
{
    cli_catch_interrupts();
    progress_begin(&bar->progress, (enum progress_mode)v->progress, "pack", PROGRESS_BYTES);
    bar->began = cli_now();
    bar->phase = PACK_PACKING;
    bar->started = false;
    bar->notices = (struct pack_notices) { 0 };
    bar->outputs = (struct by_outputs) { 0 };
    bar->tokens_before = bar->text_before = 0;
    bar->beat = NULL;
    o->progress = on_progress;
    o->notice = on_notice;
    o->output = on_output;
    o->context = bar;
}

void pack_bar_end(struct pack_bar *bar)
{
    progress_end(&bar->progress);
    pack_notices_say_skipped(&bar->notices);
}

void pack_bar_free(struct pack_bar *bar)
{
    pack_notices_free(&bar->notices);
    by_outputs_free(&bar->outputs);
}

uint64_t pack_bar_text(const struct pack_bar *bar, const struct leat_pack_report *r)
{
    return r->was_finished ? 0 : r->text_bytes - bar->text_before;
}

double pack_stream_share(const struct leat_pack_report *r)
{
    return r->stream.threads_ns > 0 ? (double)r->stream.waited_ns / (double)r->stream.threads_ns : 0;
}

double pack_serial_share(const struct leat_pack_report *r)
{
    const struct leat_pack_serial *s = &r->serial;
    uint64_t ends = s->begin_ns + s->finish_ns;
    uint64_t all = ends + r->times.read_ns + r->times.scan_ns + r->times.encode_ns + r->times.write_ns;

    return all > 0 ? (double)(ends + s->cut_ns + s->place_ns) / (double)all : 0;
}
