/* cmd_verify.c: `leat verify`: checks everything in a dataset, and reports in words what it found. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/status.h"
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
                                             OPTIONS_JSON(struct verify_values, "print one JSON object"),
                                             CACHE_OPTION_ROWS,
                                             OPTIONS_END };

/* The complete result, from which both outputs are made. */
struct verdict {
    const char *name;
    const char *part; /* name of the dataset with the first damaged page; NULL: none */
    enum leat_status status;
    const struct leat_error *err;
    double seconds;
    const struct leat_dataset *dataset; /* NULL if it did not open */
    struct leat_verify_part *damaged;   /* the damaged parts */
    size_t count, room;
    bool no_memory; /* true if there was no memory for all of these */
    struct leat_verify_report report;
};

/* Returns true if a status means damaged bytes, and not a failed system call, a wrong request, or a file that was
 * replaced on its server meanwhile. */
static bool is_damage(enum leat_status s, const struct leat_error *err)
{
    return s >= LEAT_E_NOT_LEAT && s < LEAT_E_INCOMPATIBLE && err->hint != LEAT_HINT_AGAIN;
}

static struct leat_part part_of(const struct verdict *v, const struct leat_verify_part *found)
{
    struct leat_part part = LEAT_PART_INIT;

    (void)!leat_dataset_part(v->dataset, found->part, &part, NULL); /* it is one of the dataset's parts */
    return part;
}

static void parts_json(struct json *j, const struct verdict *v)
{
    json_open_array(j, "damaged_parts");
    for (size_t i = 0; i < v->count; i++) {
        const struct leat_verify_part *found = &v->damaged[i];

        json_open_object(j, NULL);
        json_string(j, "name", part_of(v, found).name);
        json_u64(j, "damaged_pages", found->damaged_pages);
        json_u64(j, "damaged_others", found->damaged_others);
        json_u64_or_null(j, "page", found->page);
        json_u64_or_null(j, "first_document_of_part", found->first_document);
        json_u64(j, "documents", found->first_document != LEAT_NONE ? found->documents : 0);
        json_close_object(j);
    }
    json_close_array(j);
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
    json_string(&j, "message", ok ? NULL : v->err->message);
    json_string(&j, "file", ok || !v->err->file[0] ? NULL : v->err->file);
    json_u64_or_null(&j, "offset", ok ? LEAT_NONE : v->err->offset);
    json_u64(&j, "bytes", r->bytes);
    json_u64(&j, "damaged_pages", r->damaged_pages);
    json_u64(&j, "damaged_others", r->damaged_others);
    json_string(&j, "part", v->part);
    json_u64_or_null(&j, "page", v->part ? r->page : LEAT_NONE);
    json_u64_or_null(&j, "first_document", r->first_document);
    json_u64(&j, "documents", r->first_document != LEAT_NONE ? r->documents : 0);
    parts_json(&j, v);
    json_double(&j, "seconds", v->seconds);
    json_double(&j, "bytes_per_s", v->seconds > 0 ? (double)r->bytes / v->seconds : 0);
    json_close_object(&j);
    json_end(&j);
}

/* Prints where the first damaged page is. Its documents have the numbers of the part, as in the message. */
static void print_page(const struct leat_verify_part *found, const char *file, const char *of_part)
{
    printf("page %" PRIu64 " of ", found->page);
    cli_put(file, strlen(file));
    printf(", bytes %" PRIu64 " to %" PRIu64, found->page * PAGE_BYTES, found->page * PAGE_BYTES + PAGE_BYTES - 1);
    if (found->first_document != LEAT_NONE && found->documents == 1)
        printf("; document %" PRIu64 "%s lies in it", found->first_document, of_part);
    else if (found->first_document != LEAT_NONE && found->documents > 1)
        printf("; documents %" PRIu64 " to %" PRIu64 "%s lie in it", found->first_document,
               (found->first_document + found->documents - 1), of_part);
    printf(".\n");
}

static void print_part(const struct verdict *v, const struct leat_verify_part *found)
{
    struct leat_part part = part_of(v, found);

    cli_put(part.name, strlen(part.name));
    printf(": %s, %s.", units_counted(found->damaged_pages, "page").text,
           units_counted(found->damaged_others, "other place").text);
    if (found->page == LEAT_NONE) {
        putchar('\n');
        return;
    }
    printf(" The first is ");
    print_page(found, part.token_path, " of this part");
}

static void print_damage(const struct verdict *v)
{
    const struct leat_verify_report *r = &v->report;
    struct leat_info info = LEAT_INFO_INIT;

    cli_say("%s is damaged: %s page%s of 4 KiB, %s other place%s.", v->name, units_count(r->damaged_pages).text,
            r->damaged_pages == 1 ? "" : "s", units_count(r->damaged_others).text, r->damaged_others == 1 ? "" : "s");
    leat_dataset_info(v->dataset, &info);
    for (size_t i = 0; info.parts > 1 && i < v->count; i++)
        print_part(v, &v->damaged[i]);
    if (info.parts > 1 || v->count == 0 || v->damaged[0].page == LEAT_NONE)
        return;
    printf("The first damaged page is ");
    print_page(&v->damaged[0], part_of(v, &v->damaged[0]).token_path, "");
}

/* Reports parts without hashes, on stderr, because the keys of the JSON are fixed. */
static void say_unhashed(const struct verdict *v)
{
    uint64_t parts = v->report.unhashed_parts;

    if (parts > 0)
        cli_error("%s: %s dataset%s no hashes of %s tokens: only invalid ids and documents show damage there", v->name,
                  units_count(parts).text, parts == 1 ? " stores" : "s store", parts == 1 ? "its" : "their");
}

static int report(const struct verify_values *values, const struct verdict *v)
{
    say_unhashed(v);
    if (v->status != LEAT_OK)
        cli_error("%s", v->err->message);
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

struct verify_call {
    struct progress progress;
    struct verdict *verdict;
};

static uint32_t on_progress(void *context, uint64_t done, uint64_t total)
{
    struct verify_call *call = context;

    return commands_on_progress(&call->progress, done, total);
}

static void on_damaged(void *context, const struct leat_verify_part *part)
{
    struct verdict *v = ((struct verify_call *)context)->verdict;

    if (GROW(v->damaged, v->count + 1, v->room, NULL) == LEAT_OK)
        v->damaged[v->count++] = *part;
    else
        v->no_memory = true;
}

/* Runs the check; the verdict's texts live as long as `d` and `err`. */
static void check(const struct verify_values *values, const struct leat_dataset *d, struct verdict *v,
                  struct leat_error *err)
{
    struct leat_verify_options options = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_part part = LEAT_PART_INIT;
    struct verify_call call = { .verdict = v };
    double began = cli_now();

    cli_catch_interrupts();
    progress_begin(&call.progress, (enum progress_mode)values->progress, "verify", PROGRESS_BYTES);
    options.threads = (unsigned)values->threads;
    options.progress = on_progress;
    options.damaged = on_damaged;
    options.context = &call;
    v->status = leat_dataset_verify(d, &options, &v->report, err);
    v->seconds = cli_now() - began;
    progress_end(&call.progress);
    v->dataset = d;
    if (v->no_memory && is_damage(v->status, err))
        v->status = status_no_memory(err, v->room * sizeof *v->damaged);
    if (v->report.part != LEAT_NONE && leat_dataset_part(d, v->report.part, &part, NULL) == LEAT_OK) {
        v->part = part.name;
    }
}

int cmd_verify(const struct command *self, int argc, char **argv)
{
    struct verify_values values = { 0 };
    struct options_parsed parsed;
    struct leat_dataset *d;
    struct leat_error err = { .message = "" };
    struct verdict v = { .report = LEAT_VERIFY_REPORT_INIT, .err = &err };
    char shown[COMMANDS_NAME];
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    v.name = commands_shown(parsed.words[0], shown);
    v.report.part = v.report.first_document = LEAT_NONE;
    v.status = commands_open(&d, parsed.words[0], &err);
    if (v.status == LEAT_OK)
        check(&values, d, &v, &err);
    if (v.status == LEAT_OK || (is_damage(v.status, &err) && !cli_interrupted()))
        code = report(&values, &v);
    else
        code = cli_failed(&err);
    leat_dataset_close(d);
    free(v.damaged);
    options_free(&parsed);
    return code;
}
