/* pack_report.c: see pack_report.h. */
#include "pack_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "cli/cli.h"
#include "cli/units.h"
#include "commands/common/common.h"

/* ---- Notices ----------------------------------------------------------------------------------------------------- */

#define MAX_NAMES 5 /* in a sentence */

static void add_notice(struct pack_notice_list *list, const struct leat_pack_notice *notice)
{
    char *path = strdup(notice->path), *message = notice->message ? strdup(notice->message) : NULL;

    if (path && (message || !notice->message) && GROW(list->items, list->count + 1, list->room, NULL) == LEAT_OK) {
        list->items[list->count++] = (struct pack_notice) { path, message, notice->count, notice->reason };
    } else {
        free(path);
        free(message);
    }
}

bool pack_notices_warn(const struct leat_pack_notice *notice)
{
    bool chat = notice->kind == LEAT_NOTICE_CHAT, warns = chat || notice->kind == LEAT_NOTICE_WAITING ||
                                                          notice->kind == LEAT_NOTICE_FIELD ||
                                                          notice->kind == LEAT_NOTICE_SUSPECT;

    if (warns)
        cli_error("warning: %s%s", notice->message, chat ? " (--chat FILE, or -t SPEC)" : "");
    return warns;
}

void pack_notices_add(struct pack_notices *n, const struct leat_pack_notice *notice)
{
    if (notice->kind == LEAT_NOTICE_DAMAGED) {
        (void)damage_list_add(&n->damaged, notice->path, notice->offset, notice->message, strlen(notice->message),
                              notice->count, NULL);
        return;
    }
    add_notice(notice->kind == LEAT_NOTICE_SKIPPED    ? &n->skipped
               : notice->kind == LEAT_NOTICE_REPEATED ? &n->repeated
               : notice->kind == LEAT_NOTICE_SPLIT    ? &n->splits
               : notice->kind == LEAT_NOTICE_REJECTED ? &n->rejected
                                                      : &n->replaced,
               notice);
}

static void free_list(struct pack_notice_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].path);
        free(list->items[i].message);
    }
    free(list->items);
    *list = (struct pack_notice_list) { 0 };
}

void pack_notices_free(struct pack_notices *n)
{
    free_list(&n->skipped);
    free_list(&n->replaced);
    free_list(&n->repeated);
    free_list(&n->splits);
    free_list(&n->rejected);
    damage_list_free(&n->damaged);
}

/* Prints a line for each notice with this reason. */
static void name_all(const struct pack_notice_list *list, uint32_t reason)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].reason == reason)
            cli_error("  %s", list->items[i].path);
}

/* Writes "a.txt (12), b.txt (1) and 3 more", of notices with this reason. Returns how many there are. */
static size_t name_some(const struct pack_notice_list *list, uint32_t reason, char *text, size_t room)
{
    size_t used = 0, count = 0;

    text[0] = '\0';
    for (size_t i = 0; i < list->count; i++) {
        const struct pack_notice *n = &list->items[i];

        if (n->reason != reason || ++count > MAX_NAMES || used >= room)
            continue;
        used += (size_t)snprintf(text + used, room - used, "%s%.200s", count > 1 ? ", " : "", n->path);
        if (n->count > 0 && used < room)
            used += (size_t)snprintf(text + used, room - used, " (%s)", units_count(n->count).text);
    }
    if (count > MAX_NAMES && used < room)
        snprintf(text + used, room - used, " and %s more", units_count(count - MAX_NAMES).text);
    return count;
}

void pack_notices_warn_repeated(uint64_t count, const char *first)
{
    if (count == 1)
        cli_error("warning: %s repeats an earlier input: its documents are packed twice", first);
    else
        cli_error("warning: %s repeat earlier ones, the first is %s: their documents are packed once for each",
                  units_counted(count, "input").text, first);
}

void pack_notices_warn_empty(const struct leat_pack_report *report, uint64_t inputs)
{
    if (report->kept_out > 0)
        cli_error("warning: no document is left: --keep left out %s, and %s rejected; a number is compared with "
                  "numbers; any other value, or a value in quotes, with strings",
                  units_counted(report->kept_out, "record").text, units_count(report->rejects).text);
    else if (report->rejects == 0)
        cli_error("warning: no document was found in %s", units_counted(inputs, "input").text);
}

void pack_notices_say_skipped(struct pack_notices *n, bool all)
{
    static const struct {
        const char *what, *why;
    } sentences[] = {
        [LEAT_SKIP_KIND] = { "file", "in folders" },
        [LEAT_SKIP_LINK] = { "link", "out of folders (--follow-links packs what they lead to)" },
        [LEAT_SKIP_OWN] = { "file", "of this run's own output" },
        [LEAT_SKIP_MARKED] = { "name", "in folders, for beginning with _ (what you name is packed)" },
        [LEAT_SKIP_SPLIT] = { "file", "of other splits, or of none" },
        [LEAT_SKIP_PATTERN] = { "file", "in folders, by --include and --exclude" },
    };
    char names[1400];

    if (n->skipped_said || n->skipped.count + n->repeated.count == 0)
        return;
    n->skipped_said = true;
    if (n->repeated.count > 0)
        pack_notices_warn_repeated(n->repeated.items[0].count, n->repeated.items[0].path);
    for (uint32_t reason = 0; reason < sizeof sentences / sizeof *sentences; reason++) {
        size_t count = name_some(&n->skipped, reason, names, sizeof names);
        bool apart;

        if (count == 0)
            continue;
        apart = all && count > MAX_NAMES;
        cli_error("skipped %s %s:%s%s", units_counted(count, sentences[reason].what).text, sentences[reason].why,
                  apart ? "" : " ", apart ? "" : names);
        if (apart)
            name_all(&n->skipped, reason);
    }
}

void pack_notices_print(const struct pack_notices *n, const struct leat_pack_report *report)
{
    char names[1400];

    if (report->replaced > 0) {
        name_some(&n->replaced, 0, names, sizeof names);
        cli_say("%s of text in %s became U+FFFD: %s; convert text in another encoding to UTF-8 first (iconv).",
                units_counted(report->replaced, "malformed part").text, units_counted(n->replaced.count, "input").text,
                names);
    }
    if (report->kept_out > 0)
        printf("--keep left out %s.\n", units_counted(report->kept_out, "record").text);
    if (report->not_json > 0)
        printf("Packed %s with NaN or Infinity, which are not JSON.\n", units_counted(report->not_json, "record").text);
}

void pack_notices_say_long(const struct leat_pack_report *report, const struct leat_pack_options *o)
{
    static const char *const became[] = { "rejected", "cut", "split" };

    if (report->too_long > 0)
        printf("%s of more than %u tokens %s %s.\n", units_counted(report->too_long, "document").text, o->max_length,
               report->too_long == 1 ? "was" : "were", became[o->too_long]);
}

void pack_notices_rejected_json(struct json *j, const struct pack_notices *n)
{
    json_open_array(j, "rejected_inputs");
    for (size_t i = 0; i < n->rejected.count; i++) {
        json_open_object(j, NULL);
        json_string(j, "input", n->rejected.items[i].path);
        json_u64(j, "records", n->rejected.items[i].count);
        json_string(j, "reason", n->rejected.items[i].message);
        json_close_object(j);
    }
    json_close_array(j);
}

void pack_notices_split_json(struct json *j, const char *name, uint64_t inputs, bool packed)
{
    json_open_object(j, NULL);
    json_string(j, "split", name && *name ? name : NULL);
    json_u64(j, "inputs", inputs);
    json_bool(j, "packed", packed);
    json_close_object(j);
}

void pack_notices_json(struct json *j, const struct pack_notices *n, const struct leat_pack_report *report)
{
    json_u64(j, "skipped", report->skipped);
    json_open_array(j, "skipped_files");
    for (size_t i = 0; i < n->skipped.count; i++)
        json_string(j, NULL, n->skipped.items[i].path);
    json_close_array(j);
    json_open_array(j, "hub_splits");
    for (size_t i = 0; i < n->splits.count; i++)
        pack_notices_split_json(j, n->splits.items[i].path, n->splits.items[i].count, n->splits.items[i].reason != 0);
    json_close_array(j);
    json_u64(j, "replaced", report->replaced);
    json_open_array(j, "replaced_in");
    for (size_t i = 0; i < n->replaced.count; i++) {
        json_open_object(j, NULL);
        json_string(j, "input", n->replaced.items[i].path);
        json_u64(j, "count", n->replaced.items[i].count);
        json_close_object(j);
    }
    json_close_array(j);
    damage_json(&n->damaged, j);
    pack_notices_rejected_json(j, n);
    json_u64(j, "not_json", report->not_json);
    json_u64(j, "kept_out", report->kept_out);
    json_u64(j, "too_long", report->too_long);
    json_u64(j, "row_groups", report->row_groups);
}

/* ---- The command that goes on ------------------------------------------------------------------------------------ */

#define PACK_AGAIN 4000 /* bytes of the command, with ": " before it */

/* Returns how many words, from `word` on, the new command leaves out: --force, and options that its own options
 * replace. */
static int left_out(char *const *word, const char *options, bool force)
{
    static const char *const names[] = { "--resume", "--allow-truncated", "--max-rejects" };

    if (strcmp(*word, "--force") == 0)
        return !force;
    if (strcmp(*word, "--resume") == 0 && strstr(options, "--force"))
        return 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t bytes = strlen(names[i]);
        bool has_value = i == 2, same = strncmp(*word, names[i], bytes) == 0;

        if (same && (!(*word)[bytes] || (has_value && (*word)[bytes] == '=')) && strstr(options, names[i]))
            return has_value && !(*word)[bytes] ? 2 : 1;
    }
    return 0;
}

static bool has_secret(const char *word)
{
    return (strncmp(word, "http://", 7) == 0 || strncmp(word, "https://", 8) == 0) && strchr(word, '?');
}

/*
 * Writes ": leat pack OPTIONS ...": the command that was run, with other options before its own. It leaves out
 * --resume, --allow-truncated and --max-rejects if `options` has them, --resume also if `options` has --force, and
 * --force unless it is kept (`force`). The text is empty if it would be longer, if standard input is read, which
 * nobody can give again, or if a URL may have a key, which no message has.
 */
static void pack_again(const struct pack_values *v, const char *options, bool force, char text[PACK_AGAIN])
{
    size_t used = (size_t)snprintf(text, PACK_AGAIN, ": leat pack%s", options);
    bool only_words = false;

    if (v->argc == 0) /* another program's */
        text[0] = '\0';
    for (int i = 1, out; i<v->argc; i += out> 0 ? out : 1) {
        char room[PACK_AGAIN];
        const char *word = cli_shell_word(v->argv[i], room, sizeof room);

        only_words = only_words || strcmp(v->argv[i], "--") == 0;
        out = only_words ? 0 : left_out(v->argv + i, options, force);
        if (strcmp(v->argv[i], "-") == 0 || has_secret(v->argv[i]) || used + strlen(word) + 2 > PACK_AGAIN) {
            text[0] = '\0';
            return;
        }
        if (out == 0)
            used += (size_t)snprintf(text + used, PACK_AGAIN - used, " %s", word);
    }
}

void pack_notices_say_rejected(const struct pack_values *v, const struct pack_notices *n, bool all)
{
    size_t count = n->rejected.count, most = all || count < DAMAGE_SHOWN ? count : DAMAGE_SHOWN;

    if (count == 0)
        return;
    cli_error("warning: %s gave no document, since each of %s records was rejected:",
              units_counted(count, "input").text, count == 1 ? "its" : "their");
    for (size_t i = 0; i < most; i++) {
        const struct pack_notice *in = &n->rejected.items[i];

        cli_error("  %s (%s)%s%s", in->path, units_counted(in->count, "record").text, in->message[0] ? ": " : "",
                  in->message);
    }
    if (count > most)
        cli_error("  and %s more (%s.rejects.jsonl has their records)", units_count(count - most).text, v->output);
}

/* Says how rejected inputs get into the dataset. A part is packed as it was planned, with the inputs as they were
 * then. */
void pack_notices_say_mended(const struct pack_values *v, const struct pack_notices *n)
{
    char again[PACK_AGAIN];
    bool one = n->rejected.count == 1;

    if (n->rejected.count == 0)
        return;
    pack_again(v, " --force", false, again);
    if (v->run)
        cli_error("when %s mended, plan the run again", one ? "it is" : "they are");
    else
        cli_error("when %s mended, start over with --force%s", one ? "it is" : "they are", again);
}

/* ---- The bar, and the end ---------------------------------------------------------------------------------------- */

/* The advice after a failed run, which depends on what it has left: a checkpoint, only rejects, or nothing. */

/* Prints one line if there are few, and then a line for each. */
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

bool pack_bar_damage_fails(const struct pack_values *v, const struct leat_pack_report *report)
{
    return report->damaged_inputs > 0 && !v->pack.allow_truncated;
}

void pack_bar_say_damage(const struct pack_values *v, const struct pack_notices *n)
{
    if (n->damaged.count > 0)
        say_list(&n->damaged, v->pack.allow_truncated ? "warning: " : "");
}

void pack_bar_say_accept(const struct pack_values *v, const struct pack_notices *n)
{
    char again[PACK_AGAIN];
    bool one = n->damaged.count == 1;

    if (n->damaged.count == 0)
        return;
    pack_again(v, v->run ? " --allow-truncated" : " --resume --allow-truncated", false, again);
    cli_error("when %s whole again, start %sover with --force; --allow-truncated counts that as success%s",
              one ? "it is" : "they are", v->run ? "the part " : "", again);
}

/* Says what is left of a run that did not end, and how to go on. The words are the same for a part of a run, which
 * goes on by itself. */
static void say_kept(const struct pack_values *v, const struct leat_pack_report *report, const struct leat_error *err)
{
    bool rejects = err->status == LEAT_E_REJECTS;
    char options[80] = "", again[PACK_AGAIN];

    snprintf(options, sizeof options, "%s", v->run ? "" : " --resume");
    if (rejects)
        snprintf(options + strlen(options), sizeof options - strlen(options), " --max-rejects %" PRIu64,
                 (2 * report->rejects));
    pack_again(v, options, !v->run, again);
    if (!v->run) {
        char room[PACK_AGAIN];
        const char *name = cli_shell_word(v->output, room, sizeof room);

        cli_error("nothing is lost: the same command with --resume%s continues from there%s%s",
                  rejects ? " and a larger --max-rejects" : "", v->pack.force ? "; --force alone starts over" : "",
                  again);
        cli_error("to give it up, remove what it left: rm -r %s.partial.*%s%s%s", name, report->rejects > 0 ? " " : "",
                  report->rejects > 0 ? name : "", report->rejects > 0 ? ".rejects.jsonl" : "");
    } else {
        cli_error("nothing is lost: pack the part again%s%s: it goes on from there%s",
                  v->pack.force ? ", without --force" : "",
                  !rejects        ? ""
                  : v->pack.force ? " and with a larger --max-rejects"
                                  : ", with a larger --max-rejects",
                  again);
    }
}

/* Says that nothing is left of a run whose inputs were damaged: it starts over when they are whole. */
static void say_lost(const struct pack_values *v)
{
    char again[PACK_AGAIN];

    pack_again(v, "", true, again);
    cli_error("nothing of this run is kept: restore what was cut off or broken, and start over%s", again);
}

/* Advises on an input that is no text: with another one, or --allow-binary, it would be another run. */
static void say_over(const struct pack_values *v)
{
    cli_error(v->run
                  ? "packing the part again fails the same way: repair or leave out this input, and plan the run again"
                  : "--resume fails the same way: repair or leave out this input, and start over with --force");
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
        pack_bar_say_damage(v, n); /* With few records, the one at the break is too many by itself. */
        if (report->inputs > 1)    /* with one input, the message has said it */
            pack_notices_say_rejected(v, n, false);
    } else {
        code = cli_failed(err);
    }
    if (err->status == LEAT_E_REJECTS && report->documents == 0 && strcmp(err->field, v->pack.text) == 0)
        cli_error("no record was packed: --text FIELD names the member or column that holds the text; this run looked "
                  "for \"%s\"",
                  v->pack.text);
    else if (err->status == LEAT_E_REJECTS && report->documents == 0 && !v->pack.format && strcmp(err->file, "-") == 0)
        cli_error("standard input is read as JSON lines; --format text packs it as one text");
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

/* Returns the phase that the bytes of the progress belong to. */
static enum pack_phase phase_of(const struct leat_pack_progress *p)
{
    if (strcmp(p->bound, "checking") == 0)
        return PACK_CHECKING;
    return strcmp(p->bound, "arranging") == 0 ? PACK_ARRANGING : PACK_PACKING;
}

static uint32_t on_progress(void *context, const struct leat_pack_progress *p)
{
    static const char *const labels[] = { "pack", "reading back tokens", "arrange" };
    struct pack_bar *bar = context;
    enum pack_phase phase = phase_of(p);
    double seconds = cli_now() - bar->began;
    char detail[160], rejects[64] = "";

    pack_notices_say_skipped(&bar->notices, false);
    if (bar->phase != phase)
        progress_again(&bar->progress, labels[phase]);
    bar->phase = phase;
    if (phase == PACK_CHECKING) {
        bar->began = cli_now(); /* nothing is packed yet */
        progress_update(&bar->progress, p->bytes, p->total_bytes, NULL);
        return cli_interrupted();
    }
    if (!bar->started && p->bytes_before > 0) { /* Work that a resumed run had done before does not count for the
                                                   rate. */
        bar->started = true;
        bar->tokens_before = p->tokens;
        bar->text_before = p->text_bytes;
    }
    if (p->rejects > 0)
        snprintf(rejects, sizeof rejects, "  %s reject%s", units_count(p->rejects).text, p->rejects == 1 ? "" : "s");
    snprintf(detail, sizeof detail, "%s%s  %s",
             units_rate(seconds > 0 ? (double)(p->tokens - bar->tokens_before) / seconds : 0, "tokens").text, rejects,
             p->bound);
    progress_update(&bar->progress, p->bytes, p->total_bytes, detail);
    return cli_interrupted();
}

static void on_notice(void *context, const struct leat_pack_notice *notice)
{
    struct pack_bar *bar = context;

    if (pack_notices_warn(notice))
        progress_again(&bar->progress, bar->progress.label);
    else
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
    bar->notices = (struct pack_notices) { .skipped_said = v->run != NULL }; /* the plan has reported it */
    bar->outputs = (struct by_outputs) { 0 };
    bar->tokens_before = bar->text_before = 0;
    o->progress = on_progress;
    o->notice = on_notice;
    o->output = on_output;
    o->context = bar;
}

void pack_bar_end(struct pack_bar *bar)
{
    progress_end(&bar->progress);
    pack_notices_say_skipped(&bar->notices, false);
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
