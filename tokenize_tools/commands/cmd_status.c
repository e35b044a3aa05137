/* cmd_status.c: `leat status`: shows where the parts of a run stand, by the files in its folder. It changes nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/units.h"
#include "commands.h"
#include "common/common.h"
#include "leat_pack.h"

static const char *const states[] = { "done", "running", "dead", "stopped", "failed", "missing" };

struct status_values {
    bool all, left, json;
};

const struct option_row status_options[] = {
    { .name = "all",
      .type = OPTION_FLAG,
      .field = offsetof(struct status_values, all),
      .help = "also list the parts that are done" },
    { .name = "left",
      .excludes = "json",
      .type = OPTION_FLAG,
      .field = offsetof(struct status_values, left),
      .help = "print only the numbers of parts that are not done and that no process packs: 3,7-9",
      .more = "sbatch --array takes them so." },
    OPTIONS_JSON(struct status_values, "print one JSON object, with all parts"),
    OPTIONS_END
};

/* ---- JSON ---- */

static void part_json(struct json *j, const struct leat_run_part *part, unsigned number)
{
    json_open_object(j, NULL);
    json_u64(j, "part", number);
    json_string(j, "state", states[part->state]);
    json_u64(j, "tokens", part->tokens);
    json_u64(j, "documents", part->documents);
    if (part->state != LEAT_RUN_DONE && part->state != LEAT_RUN_MISSING) {
        json_u64(j, "bytes", part->bytes);
        /* a part that ended early may not have said how much there is */
        json_u64_or_null(j, "total_bytes", part->total_bytes == 0 && part->bytes > 0 ? LEAT_NONE : part->total_bytes);
        json_double(j, "tokens_per_s", part->state == LEAT_RUN_RUNNING ? part->tokens_per_s : 0);
        json_string(j, "host", part->host);
        json_u64(j, "pid", part->pid);
        json_double(j, "age", part->age);
        json_string(j, "reason", part->reason[0] ? part->reason : NULL);
    }
    json_close_object(j);
}

static void print_json(const struct leat_run_info *r, const struct leat_run_status *p)
{
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "run", r->folder);
    json_u64(&j, "parts", p->parts);
    for (unsigned i = 0; i < LEAT_RUN_STATES; i++)
        json_u64(&j, states[i], p->count[i]);
    json_bool(&j, "complete", p->complete != 0);
    json_u64(&j, "inputs", r->files);
    json_u64(&j, "input_bytes", r->bytes);
    json_u64(&j, "tokens", p->tokens);
    json_u64(&j, "documents", p->documents);
    json_double(&j, "share", p->share);
    json_double(&j, "tokens_per_s", p->tokens_per_s);
    if (p->seconds_left >= 0)
        json_double(&j, "seconds_left", p->seconds_left);
    else
        json_null(&j, "seconds_left");
    json_string(&j, "left", p->left);
    json_open_array(&j, "items");
    for (unsigned i = 0; i < p->parts; i++)
        part_json(&j, &p->items[i], i + 1);
    json_close_array(&j);
    json_close_object(&j);
    json_end(&j);
}

/* ---- For people ---- */

/* Prints the share of the part, which never looks finished, and who packs it, or how that ended. */
static void print_about(const struct leat_run_part *part)
{
    double share = part->total_bytes > 0 ? (double)part->bytes / (double)part->total_bytes : 0;

    if (part->total_bytes > 0)
        printf("  %5.1f %%", share < 0.999 ? 100 * share : 99.9);
    else
        printf("  %7s", "");
    if (part->state == LEAT_RUN_RUNNING)
        printf("  %s", units_rate(part->tokens_per_s, "tokens").text);
    printf(part->host[0] ? "  " : " ");
    cli_put(part->host, strlen(part->host));
    if (part->state == LEAT_RUN_DEAD)
        printf(", process %" PRIu64 ", silent for %s", part->pid, units_duration(part->age).text);
    if (part->reason[0]) {
        printf(part->host[0] ? ": " : " ");
        cli_put(part->reason, strlen(part->reason));
    }
}

static void print_part(const struct leat_run_part *part, unsigned number)
{
    printf("%7u  %-7s", number, states[part->state]);
    if (part->state != LEAT_RUN_MISSING)
        printf("  %17s", units_count(part->tokens).text);
    if (part->state != LEAT_RUN_MISSING && part->state != LEAT_RUN_DONE)
        print_about(part);
    putchar('\n');
}

static void print_parts(const struct status_values *v, const struct leat_run_status *p)
{
    bool head = false;

    for (unsigned i = 0; i < p->parts; i++) {
        if (p->items[i].state == LEAT_RUN_MISSING || (p->items[i].state == LEAT_RUN_DONE && !v->all))
            continue;
        if (!head)
            printf("\n%7s  %-7s  %17s  %7s\n", "part", "state", "tokens", "packed");
        head = true;
        print_part(&p->items[i], i + 1);
    }
}

static void print_table(const struct status_values *v, const struct leat_run_info *r, const struct leat_run_status *p)
{
    char word[CLI_SHELL_WORD];

    printf("%s of %s in %s:", units_counted(p->parts, "part").text, units_bytes(r->bytes).text,
           units_counted(r->files, "input").text);
    for (unsigned i = 0, before = 0; i < LEAT_RUN_STATES; i++)
        if (p->count[i] > 0)
            printf("%s %s %s", before++ > 0 ? "," : "", units_count(p->count[i]).text, states[i]);
    printf(".\n%s in %s so far", units_counted(p->tokens, "token").text, units_counted(p->documents, "document").text);
    if (p->count[LEAT_RUN_DONE] < p->parts)
        printf(", about %.0f %% of the run", p->share < 0.99 ? 100 * p->share : 99);
    if (p->count[LEAT_RUN_RUNNING] > 0)
        printf("; %s", units_rate(p->tokens_per_s, "tokens").text);
    if (p->count[LEAT_RUN_RUNNING] > 0 && p->seconds_left >= 0)
        printf(", %s left at this rate", units_duration(p->seconds_left).text);
    printf(".\n");
    print_parts(v, p);
    if (p->left[0])
        printf("\nTo be packed: %s\n", p->left);
    else if (p->complete)
        cli_say("All parts are done: %s opens as one dataset, and leat merge -o NAME %s joins them.", r->folder,
                cli_shell_word(r->folder, word, sizeof word));
}

static int show(const struct status_values *v, const char *folder)
{
    struct leat_run_status status = LEAT_RUN_STATUS_INIT;
    struct leat_run_info info = LEAT_RUN_INFO_INIT;
    struct leat_run *run;
    struct leat_error err;
    enum leat_status s = leat_run_open(&run, folder, &err);
    int code = CLI_DONE;

    if (s == LEAT_OK)
        s = leat_run_status(run, &status, &err);
    if (s != LEAT_OK)
        code = commands_run_failed(folder, &err);
    else
        leat_run_info(run, &info);
    if (s == LEAT_OK && v->left)
        printf("%s%s", status.left, status.left[0] ? "\n" : "");
    else if (s == LEAT_OK && v->json)
        print_json(&info, &status);
    else if (s == LEAT_OK)
        print_table(v, &info, &status);
    leat_run_close(run);
    return cli_finish_stdout(code);
}

int cmd_status(const struct command *self, int argc, char **argv)
{
    struct status_values values = { 0 };
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = show(&values, parsed.words[0]);
    options_free(&parsed);
    return code;
}
