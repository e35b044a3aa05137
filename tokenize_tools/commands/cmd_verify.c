/* cmd_verify.c: `leat verify`: checks everything in a dataset, and says in words what was found. */
#include <stdio.h>
#include <string.h>

#include "cli/json.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"

#define PAGE_BYTES 4096u

struct verify_values {
    uint64_t threads;
    unsigned progress;
    bool json;
};

const struct option_row verify_options[] = { { .name = "threads",
                                               .type = OPTION_COUNT,
                                               .field = offsetof(struct verify_values, threads),
                                               .value = "N",
                                               .standard = "all cores",
                                               .help = "number of threads",
                                               .min = 1,
                                               .max = 1024 },
                                             COMMANDS_PROGRESS(struct verify_values),
                                             CACHE_OPTION_ROWS,
                                             OPTIONS_JSON(struct verify_values, "print one JSON object"),
                                             OPTIONS_END };

/* What was found, complete: both outputs are made of it. */
struct verdict {
    const char *name;
    const char *part; /* name of the dataset with the first damaged page; NULL: none */
    const char *file; /* and of its token file */
    enum leat_status status;
    const char *message;
    double seconds;
    uint64_t width;
    struct leat_verify_report report;
};

/* The statuses that mean damaged bytes, as opposed to a failed system call or a wrong request. */
static bool is_damage(enum leat_status s)
{
    return s >= LEAT_E_NOT_LEAT && s < LEAT_E_INCOMPATIBLE;
}

static void print_json(const struct verdict *v)
{
    const struct leat_verify_report *r = &v->report;
    bool ok = v->status == LEAT_OK;
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "name", v->name);
    json_bool(&j, "ok", ok);
    json_string(&j, "status", leat_status_name(v->status));
    json_string(&j, "message", ok ? NULL : v->message);
    json_u64(&j, "bytes", r->bytes);
    json_u64(&j, "damaged_pages", r->damaged_pages);
    json_u64(&j, "damaged_others", r->damaged_others);
    json_string(&j, "part", v->part);
    json_u64_or_null(&j, "page", v->part ? r->page : LEAT_NONE);
    json_u64_or_null(&j, "first_document", r->first_document);
    json_u64(&j, "documents", r->first_document != LEAT_NONE ? r->documents : 0);
    json_double(&j, "seconds", v->seconds);
    json_double(&j, "bytes_per_s", v->seconds > 0 ? (double)r->bytes / v->seconds : 0);
    json_close_object(&j);
    json_end(&j);
}

static void print_damage(const struct verdict *v)
{
    const struct leat_verify_report *r = &v->report;

    cli_say("%s is damaged: %s page%s of 4 KiB, %s other place%s.", v->name, units_count(r->damaged_pages).text,
            r->damaged_pages == 1 ? "" : "s", units_count(r->damaged_others).text, r->damaged_others == 1 ? "" : "s");
    if (!v->part)
        return;
    printf("The first damaged page is page %llu of ", (unsigned long long)r->page);
    cli_put(v->file, strlen(v->file));
    printf(", bytes %llu to %llu", (unsigned long long)r->page * PAGE_BYTES,
           (unsigned long long)r->page * PAGE_BYTES + PAGE_BYTES - 1);
    if (r->first_document != LEAT_NONE && r->documents == 1)
        printf("; document %llu lies in it", (unsigned long long)r->first_document);
    else if (r->first_document != LEAT_NONE && r->documents > 1)
        printf("; documents %llu to %llu lie in it", (unsigned long long)r->first_document,
               (unsigned long long)(r->first_document + r->documents - 1));
    printf(".\n");
}

/* Printed on stderr, because the keys of the JSON are fixed. */
static void say_unhashed(const struct verdict *v)
{
    uint64_t parts = v->report.unhashed_parts;

    if (parts > 0)
        cli_error(
            "%s: %s dataset%s no hashes of %s tokens: of damage to these only invalid ids and documents are found",
            v->name, units_count(parts).text, parts == 1 ? " stores" : "s store", parts == 1 ? "its" : "their");
}

static int report(const struct verify_values *values, const struct verdict *v)
{
    say_unhashed(v);
    if (v->status != LEAT_OK)
        cli_error("%s", v->message);
    if (values->json)
        print_json(v);
    else if (v->status != LEAT_OK && v->report.damaged_pages + v->report.damaged_others > 0)
        print_damage(v);
    else if (v->status == LEAT_OK)
        cli_say("%s: nothing is wrong; %s checked in %s (%s).", v->name, units_bytes(v->report.bytes).text,
                units_duration(v->seconds).text,
                units_rate(v->seconds > 0 ? (double)v->report.bytes / v->seconds : 0, "B").text);
    return cli_finish_stdout(v->status == LEAT_OK ? CLI_DONE : CLI_DAMAGED);
}

/* Runs the check; the verdict's texts live as long as `d` and `err`. */
static void check(const struct verify_values *values, const struct leat_dataset *d, struct verdict *v,
                  struct leat_error *err)
{
    struct leat_verify_options options = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_part part = LEAT_PART_INIT;
    struct progress progress;
    double began = cli_now();

    cli_catch_interrupts();
    progress_begin(&progress, (enum progress_mode)values->progress, "verify", PROGRESS_BYTES);
    options.threads = (unsigned)values->threads;
    options.progress = commands_on_progress;
    options.context = &progress;
    v->status = leat_dataset_verify(d, &options, &v->report, err);
    v->seconds = cli_now() - began;
    progress_end(&progress);
    if (v->report.part != LEAT_NONE && leat_dataset_part(d, v->report.part, &part, NULL) == LEAT_OK) {
        v->part = part.name;
        v->file = part.token_path;
    }
}

int cmd_verify(const struct command *self, int argc, char **argv)
{
    struct verify_values values = { 0 };
    struct options_parsed parsed;
    struct leat_dataset *d;
    struct leat_error err = { .message = "" };
    struct verdict v = { .report = LEAT_VERIFY_REPORT_INIT, .message = err.message };
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    v.name = parsed.words[0];
    v.report.part = v.report.first_document = LEAT_NONE;
    v.status = leat_dataset_open(&d, v.name, NULL, &err);
    if (v.status == LEAT_OK)
        check(&values, d, &v, &err);
    if (v.status == LEAT_OK || (is_damage(v.status) && !cli_interrupted()))
        code = report(&values, &v);
    else
        code = cli_failed(&err);
    leat_dataset_close(d);
    options_free(&parsed);
    return code;
}
