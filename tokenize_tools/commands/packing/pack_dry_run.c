/* pack_dry_run.c: packs a sample, and reports on it. leat_pack() itself packs it, so the report on fields, rejects,
 * tokens and speed is what the run will meet. */
#include "pack_dry_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/own_file.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/units.h"
#include "commands/common/common.h"
#include "corpus/first_text.h"
#include "corpus/inputs.h"
#include "corpus/own_outputs.h"
#include "corpus/record/pair.h"
#include "leat_pack.h"
#include "pack/pack.h"
#include "pack_report.h"

/* ---- The sample -------------------------------------------------------------------------------------------------- */

/* A run of leat_pack() over the first of its inputs, for a few seconds, into a temporary folder. */

struct sample {
    struct pack_notices notices; /* notices of damage and rejects; freed with the sample's files */
    char folder[512], name[600];
    uint64_t total_bytes;   /* bytes on disk of this run's share of the inputs */
    uint64_t dataset_bytes; /* bytes of tokens and index; if the sample was stopped, without what does not grow with
                               documents */
    struct leat_pack_report report;
    bool whole; /* true if the sample has all inputs */
    double began, seconds;
};

#define SAMPLE_SECONDS 3.0
#define SAMPLE_BYTES   ((uint64_t)32 << 20) /* of text */

static uint32_t on_progress(void *context, const struct leat_pack_progress *p)
{
    struct sample *sample = context;

    sample->total_bytes = p->total_bytes;
    return cli_interrupted() || p->text_bytes >= SAMPLE_BYTES || cli_now() - sample->began >= SAMPLE_SECONDS;
}

static void on_notice(void *context, const struct leat_pack_notice *notice)
{
    struct sample *sample = context;

    if (notice->kind == LEAT_NOTICE_DAMAGED || notice->kind == LEAT_NOTICE_REJECTED)
        pack_notices_add(&sample->notices, notice);
    pack_notices_warn(notice);
}

/* Returns the sizes of the dataset's files: the two files of a finished one, or a stopped one's, which has a file
 * per section. */
static uint64_t sum_files(const struct sample *sample)
{
    static const char *const others[] = { ".checkpoint", ".run", ".rejects", ".rejects.jsonl" };
    DIR *folder = opendir(sample->folder);
    struct dirent *entry;
    uint64_t bytes = 0;

    while (folder && (entry = readdir(folder)) != NULL) {
        bool counts = entry->d_name[0] != '.';
        struct stat st;

        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            counts = counts && !file_ends_with(entry->d_name, strlen(entry->d_name), others[i]);
        if (counts && fstatat(dirfd(folder), entry->d_name, &st, 0) == 0)
            bytes += (uint64_t)st.st_size;
    }
    if (folder)
        closedir(folder);
    return bytes;
}

/* Packs the sample, with any number of rejects, neither shuffled, deduplicated nor split. sample_remove() must
 * follow, on failure too. Returns LEAT_E_STOPPED if the user interrupted it. */
static enum leat_status sample_run(struct sample *sample, const struct leat_pack_options *options,
                                   const char *const *words, size_t count, struct leat_error *err)
{
    const char *temporary = getenv("TMPDIR");
    struct leat_pack_options o = *options;
    enum leat_status s;

    snprintf(sample->folder, sizeof sample->folder, "%.400s/leat-dry-run-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(sample->folder)) {
        s = status_set_os(err, errno, sample->folder, "cannot create the temporary folder %s", sample->folder);
        sample->folder[0] = '\0';
        return s;
    }
    snprintf(sample->name, sizeof sample->name, "%s/sample", sample->folder);
    o.shuffle = o.dedup = o.resume = o.force = 0;
    o.split_count = 0;
    if (o.by && o.parts == 0) /* a part carries its values, and is not divided */
        o.part = o.parts = 1;
    pack_lift_limits(&o);
    o.progress = on_progress;
    o.notice = on_notice;
    o.context = sample;
    sample->report = (struct leat_pack_report)LEAT_PACK_REPORT_INIT;
    sample->began = cli_now();
    s = leat_pack(sample->name, words, count, &o, &sample->report, err);
    sample->seconds = cli_now() - sample->began;
    sample->whole = s == LEAT_OK;
    sample->dataset_bytes = sum_files(sample);
    return s == LEAT_E_STOPPED && !cli_interrupted() ? LEAT_OK : s;
}

/* Copies the first record that was rejected, as the file of rejects has it, cut to the room; "": none. */
static void sample_reject(const struct sample *sample, char *line, size_t room)
{
    const char *const suffixes[] = { "rejects.jsonl", "partial.rejects" }; /* suffixes of a sample that ended, or was
                                                                              stopped */
    char path[700];

    line[0] = '\0';
    for (size_t i = 0; i < 2 && !line[0]; i++) {
        FILE *f;

        snprintf(path, sizeof path, "%s.%s", sample->name, suffixes[i]);
        f = fopen(path, "r");
        if (f && fgets(line, (int)room, f))
            line[strcspn(line, "\n")] = '\0';
        if (f)
            fclose(f);
    }
}

static void sample_remove(struct sample *sample)
{
    DIR *folder = sample->folder[0] ? opendir(sample->folder) : NULL;
    struct dirent *entry;

    pack_notices_free(&sample->notices);
    if (!folder)
        return;
    while ((entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(sample->folder);
}

/* ---- Whether the tokenizer fits ---------------------------------------------------------------------------------- */

/* Vocabularies without bytes have an unknown token: many of it show that they do not fit the texts, before a night has
 * gone into it. The run itself looks at how many bytes a token has. */

#define LEAST_TOKENS  1000u /* fewer: no warning */
#define MOST_UNKNOWN  0.01
#define NAMES_UNKNOWN 3u

/* Returns the share of the sample's tokens that are one of these. */
static double share_of(const struct sample *sample, const uint32_t *ids, unsigned count, bool wide)
{
    static const char *const suffixes[] = { "tokens", "partial.tokens" }; /* suffixes of a sample that ended, or was
                                                                             stopped */
    uint64_t tokens = 0, found = 0;
    char path[700];
    FILE *f = NULL;

    for (unsigned i = 0; i < 2 && !f; i++) {
        snprintf(path, sizeof path, "%s.%s", sample->name, suffixes[i]);
        f = fopen(path, "rbe");
    }
    for (unsigned char b[4]; f && fread(b, wide ? 4 : 2, 1, f) == 1; tokens++) {
        uint32_t id = b[0] | (uint32_t)b[1] << 8;

        if (wide)
            id |= (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        for (unsigned i = 0; i < count; i++)
            found += id == ids[i];
    }
    if (f)
        fclose(f);
    return tokens > 0 ? (double)found / (double)tokens : 0;
}

/* The share of the tokens that stand for what the vocabulary does not have. */
static double unknown_share(const struct sample *sample, const struct leat_pack_options *o)
{
    static const char *const names[NAMES_UNKNOWN] = { "<unk>", "[UNK]", "<UNK>" };
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    uint64_t around = (o->end_token != LEAT_NONE) + (o->begin_token != LEAT_NONE);
    uint32_t ids[NAMES_UNKNOWN];
    unsigned count = 0;

    leat_tokenizer_info(o->tokenizer, &info);
    if (sample->report.tokens < around * sample->report.documents + LEAST_TOKENS)
        return 0;
    for (unsigned i = 0; i < NAMES_UNKNOWN; i++)
        if (leat_tokenizer_find(o->tokenizer, names[i], strlen(names[i]), &ids[count], NULL) == LEAT_OK &&
            ids[count] != o->end_token && ids[count] != o->begin_token)
            count++;
    return count > 0 ? share_of(sample, ids, count, info.vocabulary > 65536) : 0;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

#define SHOWN_BYTES 200u  /* bytes of the first text that are shown */
#define INDEX_BYTES 4096u /* bytes of an index's header */
#define INPUT_BYTES 64u   /* bytes of an input's record in the index, without its path */

struct dry_run {
    const struct pack_values *values;
    struct input_list inputs;
    struct sample sample;
    double unknown;             /* share of the sample's tokens that are unknown */
    char text[SHOWN_BYTES + 1]; /* beginning of the first text, as one line */
    uint64_t tokens, bytes, room;
    int code;
};

/* Returns the sample's share of this run's share of the inputs. */
static double share(const struct dry_run *d)
{
    uint64_t bytes = d->sample.report.disk_bytes; /* units that were on their way when it was stopped are packed, too */

    if (d->sample.whole || d->sample.total_bytes == 0 || bytes == 0)
        return 1;
    return (double)bytes / (double)d->sample.total_bytes;
}

/* Returns the bytes of an index that do not depend on the number of documents. */
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

    if (d->values->pack.shuffle || d->values->pack.dedup || d->values->splits.count > 0 || d->values->pack.by)
        times = 2; /* the dataset is written twice before the first copy is removed */
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
    char line[400];

    sample_reject(&d->sample, line, sizeof line);
    cli_error("%s of %s of the sample would be rejected, for example: %s", units_count(rejects).text,
              units_counted(records, "record").text, line);
    if (pack_too_many(rejects, records, &d->values->pack))
        d->code = CLI_REJECTS;
}

/* Reports inputs that are cut off, as far as the sample saw. */
static void say_damage(struct dry_run *d)
{
    pack_bar_say_damage(d->values, &d->sample.notices);
    if (!pack_bar_damage_fails(d->values, &d->sample.report))
        return;
    cli_error("the run would fail because of that; --allow-truncated counts that as success");
    d->code = CLI_FAILED;
}

/* Reports obstacles of the run, whatever it packs. */
static void say_obstacles(struct dry_run *d)
{
    static const char *const files[] = { ".leat", ".tokens", ".partial.leat" };
    char path[4200];

    /* Datasets of values may exist already; OUT itself does not matter. */
    for (size_t i = d->values->pack.by && d->values->part.parts == 0 ? 2 : 0;
         d->values->output && i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s%s", d->values->output, files[i]);
        if (access(path, F_OK) != 0 || d->values->pack.force || d->values->pack.resume)
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

/* Reports that the sample is empty, as the run would: as an error only if --keep leaves nothing. A part may have
 * nothing. */
static void say_empty(struct dry_run *d)
{
    const struct leat_pack_report *r = &d->sample.report;
    const struct pack_values *v = d->values;

    if (r->documents > 0 || v->part.parts > 0)
        return;
    if (r->rejects > 0 && r->kept_out == 0)
        cli_error("warning: no record of the sample would be packed");
    pack_notices_warn_empty(r, d->inputs.count);
    if (!d->sample.whole || pack_may_be_empty(&v->pack, r->documents, r->kept_out))
        return;
    cli_error("the run would not make a dataset without documents (--allow-empty makes it all the same)");
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
    json_u64(&j, "skipped", d->inputs.skipped_count);
    json_open_array(&j, "skipped_files");
    for (size_t i = 0; i < d->inputs.skipped_count; i++)
        json_string(&j, NULL, d->inputs.skipped[i].path);
    json_close_array(&j);
    json_string(&j, "first_text", d->text);
    json_open_object(&j, "sample");
    json_bool(&j, "whole", d->sample.whole);
    json_u64(&j, "documents", d->sample.report.documents);
    json_u64(&j, "tokens", d->sample.report.tokens);
    commands_learned_json(&j, d->sample.report.learned);
    json_u64(&j, "text_bytes", d->sample.report.text_bytes);
    json_u64(&j, "rejected", d->sample.report.rejects);
    json_u64(&j, "kept_out", d->sample.report.kept_out);
    json_u64(&j, "too_long", d->sample.report.too_long);
    json_u64(&j, "truncated_inputs", d->sample.report.damaged_inputs);
    damage_json(&d->sample.notices.damaged, &j);
    pack_notices_rejected_json(&j, &d->sample.notices);
    json_u64(&j, "values", d->sample.report.values);
    json_double(&j, "unknown_share", d->unknown);
    json_double(&j, "seconds", d->sample.seconds);
    json_close_object(&j);
    json_u64(&j, "tokens", d->tokens);
    json_u64(&j, "dataset_bytes", d->bytes);
    json_double(&j, "seconds", d->sample.seconds / share(d));
    json_close_object(&j);
    json_end(&j);
}

/* Prints which splits are packed, and which are left out. */
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

static const char *text_field(const struct dry_run *d)
{
    const char *completion = pair_completion(&d->values->pack);

    return completion ? completion : d->values->pack.text;
}

static void print_words(const struct dry_run *d)
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
    if (!d->values->pack.chat)
        cli_say("The first %s: %s", pair_completion(&d->values->pack) ? "completion" : "text",
                d->text[0] ? d->text : "none in the first record");
    if (r->documents > 0)
        printf("%s: %s in %s, %s of text; %.3f tokens per byte.\n", d->sample.whole ? "All of it" : "A sample",
               units_counted(r->tokens, "token").text, units_counted(r->documents, "document").text,
               units_bytes(r->text_bytes).text, r->text_bytes > 0 ? (double)r->tokens / (double)r->text_bytes : 0);
    commands_say_learned("", r->learned, r->tokens, d->values->pack.chat != NULL);
    if (d->values->pack.by)
        cli_say("%s of %s in it: a dataset for each.", units_counted(r->values, "value").text, d->values->pack.by);
    if (r->kept_out > 0)
        printf("--keep left out %s of it.\n", units_counted(r->kept_out, "record").text);
    pack_notices_say_long(r, &d->values->pack);
    pack_options_say_around(d->values);
    if (r->documents > 0)
        cli_say("Expect about %s, %s for %s, and %s on this machine.", units_counted(d->tokens, "token").text,
                units_bytes(d->bytes).text, d->values->output ? d->values->output : "the dataset",
                units_duration(d->sample.seconds / share(d)).text);
}

static bool interrupted(void *context)
{
    (void)context;
    return cli_interrupted();
}

/* Names the files that are left out, each once. */
static void say_skipped(const struct dry_run *d)
{
    struct pack_notices notices = { 0 };

    for (size_t i = 0; i < d->inputs.skipped_count; i++) {
        const struct input_skipped *skipped = &d->inputs.skipped[i];

        if (!skipped->unread || d->values->pack.skip_unknown)
            pack_notices_add(&notices, &(struct leat_pack_notice) { .kind = LEAT_NOTICE_SKIPPED,
                                                                    .reason = skipped->reason,
                                                                    .path = skipped->path });
    }
    pack_notices_say_skipped(&notices, true);
    pack_notices_free(&notices);
}

static void list_unread(const struct dry_run *d)
{
    for (size_t i = 0; i < d->inputs.skipped_count; i++)
        if (d->inputs.skipped[i].unread)
            cli_error("  %s is %s: %s", d->inputs.skipped[i].path, d->inputs.skipped[i].unread->name,
                      d->inputs.skipped[i].unread->cure);
}

/* Returns how many inputs cannot be read, and the first of them. */
static size_t count_unread(const struct dry_run *d, const struct input_skipped **first)
{
    size_t count = 0;

    *first = NULL;
    for (size_t i = d->inputs.skipped_count; i-- > 0;)
        if (d->inputs.skipped[i].unread) {
            *first = &d->inputs.skipped[i];
            count++;
        }
    return count;
}

/* Names the inputs that cannot be read: the run would fail at the first folder with one. */
static enum leat_status say_unread(const struct dry_run *d, struct leat_error *err)
{
    const struct input_skipped *first;
    size_t count = count_unread(d, &first);

    if (count == 0 || d->values->pack.skip_unknown)
        return LEAT_OK;
    if (count > 1)
        cli_error("%s of folders may hold texts but cannot be read:", units_counted(count, "file").text);
    if (count > 1)
        list_unread(d);
    return count > 1 ? status_set_hint(err, LEAT_E_UNSUPPORTED, LEAT_HINT_SKIP, first->path,
                                       "the run would fail over these files, unless it skips them")
                     : status_set_hint(err, LEAT_E_UNSUPPORTED, LEAT_HINT_SKIP, first->path,
                                       "%s may hold texts but cannot be read; it is %s: %s, or skip such files",
                                       first->path, first->unread->name, first->unread->cure);
}

/* Returns true if a status is a failure. Damage of an input is a reject, and no failure; but a wrong name is. */
static bool is_failure(enum leat_status s, const struct leat_error *err)
{
    return s != LEAT_OK && s != LEAT_E_STOPPED && (s != LEAT_E_TEXT || err->offset == 0) && s != LEAT_E_CHECKSUM &&
           s != LEAT_E_TRUNCATED;
}

static enum leat_status find_inputs(struct dry_run *d, const char *const *words, size_t count, struct leat_error *err)
{
    struct own_outputs own = { 0 };
    struct leat_pack_options o = d->values->pack;
    struct input_rules rules = { .options = &o, .own = &own, .stop = { .asked = interrupted } };
    enum leat_status s = d->values->output ? own_file_check_local(d->values->output, err) : LEAT_OK;

    o.skip_unknown = 1; /* say_unread() */
    return s == LEAT_OK ? inputs_find(&d->inputs, words, count, &rules, err) : s;
}

static enum leat_status look_at_inputs(struct dry_run *d, const char *const *words, size_t count,
                                       struct leat_error *err)
{
    const struct input_stop stop = { .asked = interrupted };
    const struct input *repeated;
    enum leat_status s = find_inputs(d, words, count, err);
    size_t repeats;

    if (s == LEAT_OK)
        say_skipped(d);
    if (s == LEAT_OK)
        s = say_unread(d, err);
    if (s == LEAT_OK)
        s = inputs_count_repeated(&d->inputs, &repeats, &repeated, err);
    if (s == LEAT_OK && repeats > 0)
        pack_notices_warn_repeated(repeats, repeated->path);
    if (s == LEAT_OK)
        s = first_text(&d->inputs.items[0], text_field(d), &stop, d->text, sizeof d->text, err);
    if (s != LEAT_OK && s != LEAT_E_STOPPED && !is_failure(s, err)) /* the sample has it */
        s = LEAT_OK;
    for (char *c = d->text; *c; c++)
        if (*c == '\n' || *c == '\r' || *c == '\t')
            *c = ' ';
    return s == LEAT_OK ? sample_run(&d->sample, &d->values->pack, words, count, err) : s;
}

/* ---- Inputs that fail ---- */

#define FAILING_SECONDS 4.0
/* Returns true if a message names this path. It may name a second path besides the error's file, and one path may be
 * the beginning of another. */
static bool names_path(const char *sentence, const char *path)
{
    size_t bytes = strlen(path);

    for (const char *at = sentence; (at = strstr(at, path)); at++)
        if ((at == sentence || at[-1] == ' ') && strchr(" :;,", at[bytes]))
            return true;
    return false;
}

/* Returns true if the error is about this input, by its name or its place. */
static bool is_of(const struct input *in, const struct leat_error *err)
{
    return strcmp(in->path, err->file) == 0 || (in->place && strcmp(in->place, err->file) == 0);
}

/* Returns true if this process ran short of something: then no file is to be left out. */
static bool is_short_of(const struct leat_error *err)
{
    return err->status == LEAT_E_NO_MEMORY || err->os_error == EMFILE || err->os_error == ENFILE;
}

/* Opens each file, and looks for its first record; but not those on servers, which take a request each. */
static void say_failing(const struct dry_run *d, const struct leat_error *err)
{
    const struct input_stop stop = { .asked = interrupted };
    char text[SHOWN_BYTES + 1];
    double began = cli_now();
    bool known = false, first = true;

    for (size_t i = 0; i < d->inputs.count; i++) /* a field that no record has may have another name in all of them */
        known = known || (is_of(&d->inputs.items[i], err) && !(d->inputs.items[i].format->is_json && err->field[0]));
    if (!known || err->hint == LEAT_HINT_SKIP || is_short_of(err))
        return;
    for (size_t i = 0; i < d->inputs.count && cli_now() - began < FAILING_SECONDS && !cli_interrupted(); i++) {
        const struct input *in = &d->inputs.items[i];
        struct leat_error why;

        if (is_of(in, err) || names_path(err->message, in->path) || in->object || strcmp(in->path, "-") == 0)
            continue;
        if (!is_failure(first_text(in, text_field(d), &stop, text, sizeof text, &why), &why))
            continue;
        if (first)
            cli_error("these fail, too:");
        cli_error("  %s", why.message);
        first = false;
    }
}

int pack_dry_run(const struct pack_values *v, const char *const *words, size_t count)
{
    struct dry_run d = { .values = v, .code = CLI_DONE };
    struct leat_error err;
    enum leat_status s;

    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i], "-") == 0) {
            cli_error("--dry-run cannot look at standard input: the run itself could not read that again");
            return CLI_WRONG;
        }
    s = look_at_inputs(&d, words, count, &err);
    if (s != LEAT_OK) {
        d.code = cli_failed(&err);
        say_failing(&d, &err);
    } else {
        expect(&d, v->pack.tokenizer);
        d.unknown = unknown_share(&d.sample, &v->pack);
        if (v->json)
            print_json(&d);
        else
            print_words(&d);
        say_obstacles(&d);
        say_empty(&d);
        say_damage(&d);
        if (d.unknown > MOST_UNKNOWN)
            cli_error(
                "warning: %.1f %% of the sample's tokens are %s's unknown token: its vocabulary does not fit these "
                "texts",
                100 * d.unknown, v->tokenizer);
        if (d.sample.report.rejects > 0)
            say_rejects(&d);
        pack_notices_say_rejected(v, &d.sample.notices, true);
    }
    sample_remove(&d.sample);
    inputs_free(&d.inputs);
    return cli_finish_stdout(d.code);
}
