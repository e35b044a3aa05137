/*
 * pack_dry_run.c: see pack_dry_run.h. The sample is packed by leat_pack() itself (pack_sample.h), so what it says of
 * fields, rejects, tokens and speed is what the run will meet.
 */
#include "pack_dry_run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own_file.h"
#include "cli/json.h"
#include "cli/units.h"
#include "commands/common/damage_lines.h"
#include "corpus/first_text.h"
#include "corpus/inputs.h"
#include "corpus/own_outputs.h"
#include "pack_bar.h"
#include "pack_fit.h"
#include "pack_notices.h"
#include "pack_sample.h"

#define SHOWN_BYTES 200u  /* of the first text */
#define INDEX_BYTES 4096u /* of an index's header */
#define INPUT_BYTES 64u   /* of a record of an input in it, without its path */

struct dry_run {
    const struct pack_values *values;
    struct input_list inputs;
    struct pack_sample sample;
    struct pack_fit fit;
    char text[SHOWN_BYTES + 1]; /* how the first one begins, as one line */
    uint64_t tokens, bytes, room;
    int code;
};

/* ---- What is to be expected ---- */

/* The share of the inputs that the sample is, of this run's share of them. */
static double share(const struct dry_run *d)
{
    uint64_t bytes = d->sample.report.disk_bytes; /* what was on its way when it was stopped is packed, too */

    if (d->sample.whole || d->sample.total_bytes == 0 || bytes == 0)
        return 1;
    return (double)bytes / (double)d->sample.total_bytes;
}

/* What an index has however many documents there are. */
static uint64_t fixed_bytes(const struct dry_run *d, const struct leat_tokenizer *t)
{
    struct leat_stored_tokenizer stored;
    uint64_t bytes = INDEX_BYTES;

    leat_tokenizer_stored(t, &stored);
    for (size_t i = 0; i < d->inputs.count; i++)
        bytes += INPUT_BYTES + strlen(d->inputs.items[i].path);
    return bytes + stored.file_bytes;
}

static void expect(struct dry_run *d, const struct leat_tokenizer *t)
{
    double bytes = (double)d->sample.dataset_bytes / share(d), times = 1;
    char folder[4096];
    struct statvfs fs;
    const char *slash;

    if (d->values->shuffle.given || d->values->dedup || d->values->splits.count > 0 || d->values->by)
        times = 2; /* the dataset is written twice before the first is removed */
    d->tokens = (uint64_t)((double)d->sample.report.tokens / share(d));
    if (!d->sample.whole)
        bytes += (double)fixed_bytes(d, t);
    d->bytes = (uint64_t)(times * bytes);
    d->room = UINT64_MAX;
    if (!d->values->output)
        return;
    snprintf(folder, sizeof folder, "%s", d->values->output);
    slash = strrchr(folder, '/');
    folder[slash ? (size_t)(slash - folder) + 1 : 0] = '\0';
    if (statvfs(slash ? folder : ".", &fs) == 0) {
        d->room = (uint64_t)fs.f_bavail * fs.f_frsize;
    } else {
        cli_error("cannot write %s: %s", d->values->output, strerror(errno));
        d->code = CLI_FAILED;
    }
}

/* ---- What would go wrong ---- */

static void say_rejects(struct dry_run *d)
{
    uint64_t rejects = d->sample.report.rejects, records = d->sample.report.documents + rejects;
    const struct pack_bound *most = &d->values->max_rejects;
    char line[400];

    pack_sample_reject(&d->sample, line, sizeof line);
    cli_error("%s of %s of the sample would be rejected, for example: %s", units_count(rejects).text,
              units_counted(records, "record").text, line);
    if (rejects > most->count ||
        (most->ppm != LEAT_NONE && (double)rejects * 1e6 > (double)most->ppm * (double)records))
        d->code = CLI_REJECTS;
}

/* Inputs that are cut off, as far as the sample saw. */
static void say_damage(struct dry_run *d)
{
    pack_bar_say_damage(d->values, &d->sample.notices);
    if (d->sample.report.damaged_inputs == 0 || d->values->allow_truncated)
        return;
    cli_error("the run would fail by that; --allow-truncated counts that as success");
    d->code = CLI_FAILED;
}

/* What is in the way of the run, whatever it packs. */
static void say_obstacles(struct dry_run *d)
{
    static const char *const files[] = { ".leat", ".tokens", ".partial.leat" };
    char path[4200];

    /* datasets of values may be in the way, but OUT itself is not */
    for (size_t i = d->values->by && d->values->part.parts == 0 ? 2 : 0;
         d->values->output && i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s%s", d->values->output, files[i]);
        if (access(path, F_OK) != 0 || d->values->force || d->values->resume)
            continue;
        cli_error("%s already exists; choose another name%s", path,
                  i < 2 ? " or replace it (--force)" : ", continue that run (--resume) or start over (--force)");
        d->code = CLI_FAILED;
        break;
    }
    if (d->bytes > d->room) {
        cli_error("the disk of %s has %s left, and the dataset needs about %s", d->values->output,
                  units_bytes(d->room).text, units_bytes(d->bytes).text);
        d->code = CLI_FAILED;
    }
}

/* The run ends so, too: well, unless it is --keep that leaves nothing. A part may well have nothing. */
static void say_empty(struct dry_run *d)
{
    const struct leat_pack_report *r = &d->sample.report;
    const struct pack_values *v = d->values;

    if (r->documents > 0 || v->part.parts > 0)
        return;
    if (r->rejects > 0 && r->kept_out == 0)
        cli_error("warning: no record of the sample would be packed");
    pack_notices_warn_empty(r, d->inputs.count);
    if (!d->sample.whole || v->allow_empty || r->kept_out == 0)
        return;
    cli_error("a dataset without documents would not be made (--allow-empty makes it all the same)");
    d->code = CLI_FAILED;
}

/* ---- Output ---- */

static uint64_t count_format(const struct dry_run *d, int number)
{
    uint64_t count = 0;

    for (size_t i = 0; i < d->inputs.count; i++)
        count += d->inputs.items[i].format == record_format_number(number);
    return count;
}

static void print_json(const struct dry_run *d)
{
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", d->values->output);
    json_bool(&j, "dry_run", true);
    json_u64(&j, "inputs", d->inputs.count);
    json_u64(&j, "bytes", d->inputs.bytes);
    json_open_object(&j, "formats");
    for (int i = 1; i < RECORD_FORMAT_COUNT; i++)
        json_u64(&j, record_format_names[i], count_format(d, i));
    json_close_object(&j);
    json_open_array(&j, "hub_splits");
    for (size_t i = 0; i < d->inputs.split_count; i++)
        pack_notices_split_json(&j, d->inputs.splits[i].name, d->inputs.splits[i].inputs, d->inputs.splits[i].packed);
    json_close_array(&j);
    json_string(&j, "first_text", d->text);
    json_open_object(&j, "sample");
    json_bool(&j, "whole", d->sample.whole);
    json_u64(&j, "documents", d->sample.report.documents);
    json_u64(&j, "tokens", d->sample.report.tokens);
    json_u64(&j, "text_bytes", d->sample.report.text_bytes);
    json_u64(&j, "rejected", d->sample.report.rejects);
    json_u64(&j, "kept_out", d->sample.report.kept_out);
    json_u64(&j, "truncated_inputs", d->sample.report.damaged_inputs);
    damage_json(&d->sample.notices.damaged, &j);
    json_u64(&j, "values", d->sample.report.values);
    json_double(&j, "unknown_share", d->fit.unknown);
    json_double(&j, "seconds", d->sample.seconds);
    json_close_object(&j);
    json_u64(&j, "tokens", d->tokens);
    json_u64(&j, "dataset_bytes", d->bytes);
    json_double(&j, "seconds", d->sample.seconds / share(d));
    json_close_object(&j);
    json_end(&j);
}

/* Which splits are packed, and which are left out. */
static void print_splits(const struct dry_run *d)
{
    for (int packed = 1; packed >= 0; packed--) {
        const char *before = packed ? "Packs the split " : "Leaves out ";

        for (size_t i = 0; i < d->inputs.split_count; i++) {
            const struct input_split *split = &d->inputs.splits[i];

            if (split->packed == packed) {
                cli_put(before, strlen(before));
                cli_put(split->name ? split->name : "no split", strlen(split->name ? split->name : "no split"));
                printf(" (%s)", units_counted(split->inputs, "input").text);
                before = ", ";
            }
        }
        if (before[0] == ',')
            puts(".");
    }
}

static void print_words(const struct dry_run *d, const struct leat_pack_options *options)
{
    const struct leat_pack_report *r = &d->sample.report;
    const char *before = "";

    printf("%s, %s on disk:", units_counted(d->inputs.count, "input").text, units_bytes(d->inputs.bytes).text);
    for (int i = 1; i < RECORD_FORMAT_COUNT; i++)
        if (count_format(d, i) > 0) {
            printf("%s %s %s", before, units_count(count_format(d, i)).text, record_format_names[i]);
            before = ",";
        }
    putchar('\n');
    print_splits(d);
    if (!d->values->chat)
        cli_say("The first text: %s", d->text[0] ? d->text : "none in the first record");
    if (r->documents > 0)
        printf("%s: %s in %s, %s of text; %.3f tokens per byte.\n", d->sample.whole ? "All of it" : "A sample",
               units_counted(r->tokens, "token").text, units_counted(r->documents, "document").text,
               units_bytes(r->text_bytes).text, r->text_bytes > 0 ? (double)r->tokens / (double)r->text_bytes : 0);
    if (d->values->by)
        cli_say("%s of %s in it: a dataset for each.", units_counted(r->values, "value").text, d->values->by);
    if (r->kept_out > 0)
        printf("Left out %s of it by --keep.\n", units_counted(r->kept_out, "record").text);
    pack_options_say_around(d->values, options);
    if (r->documents > 0)
        cli_say("To expect: about %s, %s for %s, %s here.", units_counted(d->tokens, "token").text,
                units_bytes(d->bytes).text, d->values->output ? d->values->output : "the dataset",
                units_duration(d->sample.seconds / share(d)).text);
}

static bool interrupted(void *context)
{
    (void)context;
    return cli_interrupted();
}

static enum leat_status look(struct dry_run *d, const struct leat_pack_options *o, const char *const *words,
                             size_t count, struct leat_error *err)
{
    struct own_outputs own = { 0 };
    const struct input *repeated;
    size_t repeats;
    struct input_rules rules = { .format = o->format,
                                 .skip_unknown = o->skip_unknown != 0,
                                 .allow_binary = o->allow_binary != 0,
                                 .follow_links = o->follow_links != 0,
                                 .split_of = o->split_of,
                                 .own = &own,
                                 .stop = { interrupted, NULL } };
    enum leat_status s = d->values->output ? own_file_check_local(d->values->output, err) : LEAT_OK;

    if (s == LEAT_OK)
        s = inputs_find(&d->inputs, words, count, &rules, err);
    if (s == LEAT_OK)
        s = inputs_count_repeated(&d->inputs, &repeats, &repeated, err);
    if (s == LEAT_OK && repeats > 0)
        pack_notices_warn_repeated(repeats, repeated->path);
    if (s == LEAT_OK)
        s = first_text(&d->inputs.items[0], d->values->text, &rules.stop, d->text, sizeof d->text, err);
    for (char *c = d->text; *c; c++)
        if (*c == '\n' || *c == '\r' || *c == '\t')
            *c = ' ';
    return s == LEAT_OK ? pack_sample_run(&d->sample, o, words, count, err) : s;
}

int pack_dry_run(const struct pack_values *v, const struct leat_pack_options *options, const char *const *words,
                 size_t count)
{
    struct dry_run d = { .values = v, .code = CLI_DONE };
    struct leat_error err;
    enum leat_status s;

    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], "-") == 0) {
            cli_error("--dry-run cannot look at standard input: the run itself could not read that again");
            return CLI_WRONG;
        }
    s = look(&d, options, words, count, &err);
    if (s != LEAT_OK) {
        d.code = cli_failed(&err);
    } else {
        expect(&d, options->tokenizer);
        pack_fit_measure(&d.fit, &d.sample, options);
        if (v->json)
            print_json(&d);
        else
            print_words(&d, options);
        say_obstacles(&d);
        say_empty(&d);
        say_damage(&d);
        pack_fit_say(&d.fit, v->tokenizer);
        if (d.sample.report.rejects > 0)
            say_rejects(&d);
    }
    pack_sample_remove(&d.sample);
    inputs_free(&d.inputs);
    return cli_finish_stdout(d.code);
}
