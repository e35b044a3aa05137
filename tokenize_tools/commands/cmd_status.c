/* cmd_status.c: `leat status`: where the parts of a run stand, by what is in its folder. It changes nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/units.h"
#include "commands.h"
#include "runs/run_parts.h"

struct status_values {
    bool all, left, json;
};

const struct option_row status_options[] = {
    { .name = "all",
      .type = OPTION_FLAG,
      .field = offsetof(struct status_values, all),
      .help = "also list the parts that are done" },
    { .name = "left",
      .type = OPTION_FLAG,
      .field = offsetof(struct status_values, left),
      .help = "print only the numbers of parts that are not done and that no process packs: 3,7-9",
      .more = "sbatch --array takes them so." },
    OPTIONS_JSON(struct status_values, "print one JSON object, with all parts"),
    OPTIONS_END
};

/* ---- JSON ---- */

static void part_json(struct json *j, const struct run_part *part, unsigned number, bool joining)
{
    const struct beat_read *b = &part->beat;
    bool beat = part->state != PART_DONE && part->state != PART_MISSING;

    json_open_object(j, NULL);
    json_u64(j, "part", number);
    json_string(j, "state", part_states[part->state]);
    if (!joining) {
        json_u64(j, "tokens", b->facts.tokens);
        json_u64(j, "documents", b->facts.documents);
    }
    if (beat) {
        json_u64(j, "bytes", b->facts.bytes);
        /* not known of a part that ended before it said how much there is */
        json_u64_or_null(j, "total_bytes",
                         b->facts.total_bytes == 0 && b->facts.bytes > 0 ? LEAT_NONE : b->facts.total_bytes);
        json_double(j, "tokens_per_s", part->state == PART_RUNNING ? b->facts.tokens_per_s : 0);
        json_string(j, "host", b->host);
        json_u64(j, "pid", b->pid);
        json_double(j, "age", part->age);
        json_string(j, "reason", b->reason[0] ? b->reason : NULL);
    }
    json_close_object(j);
}

static void print_json(const struct run_folder *r, const struct run_parts *p, const char *left)
{
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "run", r->path);
    json_u64(&j, "parts", r->parts);
    for (unsigned i = 0; i < PART_STATES; i++)
        json_u64(&j, part_states[i], p->count[i]);
    json_bool(&j, "complete", p->count[PART_DONE] == r->parts && !r->joining);
    json_string(&j, "joining", r->joining);
    json_u64(&j, "inputs", r->inputs);
    json_u64(&j, "input_bytes", r->bytes);
    if (!r->joining) { /* else the parts do not say it any more */
        json_u64(&j, "tokens", p->tokens);
        json_u64(&j, "documents", p->documents);
    }
    json_double(&j, "share", p->share);
    json_double(&j, "tokens_per_s", p->tokens_per_s);
    if (p->seconds_left >= 0)
        json_double(&j, "seconds_left", p->seconds_left);
    else
        json_null(&j, "seconds_left");
    json_string(&j, "left", left);
    json_open_array(&j, "items");
    for (unsigned i = 0; i < r->parts; i++)
        part_json(&j, &p->items[i], i + 1, r->joining);
    json_close_array(&j);
    json_close_object(&j);
    json_end(&j);
}

/* ---- For people ---- */

/* The share of the part, and who packs it, or how that ended. */
static void print_about(const struct run_part *part)
{
    const struct beat_read *b = &part->beat;

    if (b->facts.total_bytes > 0)
        printf("  %5.1f %%", 100 * run_parts_unfinished((double)b->facts.bytes / (double)b->facts.total_bytes));
    else
        printf("  %7s", "");
    if (part->state == PART_RUNNING)
        printf("  %s", units_rate(b->facts.tokens_per_s, "tokens").text);
    printf(b->host[0] ? "  " : " ");
    cli_put(b->host, strlen(b->host));
    if (part->state == PART_DEAD)
        printf(", process %" PRIu64 ", silent for %s", b->pid, units_duration(part->age).text);
    if (b->reason[0]) {
        printf(b->host[0] ? ": " : " ");
        cli_put(b->reason, strlen(b->reason));
    }
}

static void print_part(const struct run_part *part, unsigned number)
{
    printf("%7u  %-7s", number, part_states[part->state]);
    if (part->state != PART_MISSING)
        printf("  %17s", units_count(part->beat.facts.tokens).text);
    if (part->state != PART_MISSING && part->state != PART_DONE)
        print_about(part);
    putchar('\n');
}

static void print_table(const struct status_values *v, const struct run_folder *r, const struct run_parts *p,
                        const char *left)
{
    char word[CLI_SHELL_WORD], out[CLI_SHELL_WORD];
    bool head = false;

    if (r->joining) {
        cli_say("The %s of the run are being joined in place: leat merge --in-place -o %s %s goes on with that.",
                units_counted(r->parts, "part").text, cli_shell_word(r->joining, out, sizeof out),
                cli_shell_word(r->path, word, sizeof word));
        return;
    }
    printf("%s of %s in %s:", units_counted(r->parts, "part").text, units_bytes(r->bytes).text,
           units_counted(r->inputs, "input").text);
    for (unsigned i = 0, before = 0; i < PART_STATES; i++)
        if (p->count[i] > 0)
            printf("%s %s %s", before++ > 0 ? "," : "", units_count(p->count[i]).text, part_states[i]);
    printf(".\n%s in %s so far", units_counted(p->tokens, "token").text, units_counted(p->documents, "document").text);
    if (p->count[PART_DONE] < r->parts)
        printf(", about %.0f %% of the run", p->share < 0.99 ? 100 * p->share : 99);
    if (p->count[PART_RUNNING] > 0)
        printf("; %s", units_rate(p->tokens_per_s, "tokens").text);
    if (p->count[PART_RUNNING] > 0 && p->seconds_left >= 0)
        printf(", %s left at this rate", units_duration(p->seconds_left).text);
    printf(".\n");
    for (unsigned i = 0; i < r->parts; i++) {
        if (p->items[i].state == PART_MISSING || (p->items[i].state == PART_DONE && !v->all))
            continue;
        if (!head)
            printf("\n%7s  %-7s  %17s  %7s\n", "part", "state", "tokens", "packed");
        head = true;
        print_part(&p->items[i], i + 1);
    }
    if (left[0])
        printf("\nTo be packed: %s\n", left);
    else if (p->count[PART_DONE] == r->parts)
        cli_say("All parts are done: %s opens as one dataset, and leat merge -o NAME %s joins them.", r->path,
                cli_shell_word(r->path, word, sizeof word));
}

static int show(const struct status_values *v, const struct run_folder *r)
{
    struct run_parts p;
    struct leat_error err;
    char *left;

    if (run_parts_find(&p, r, &err) != LEAT_OK)
        return cli_failed(&err);
    left = run_parts_left(&p, r->parts, false);
    if (left && v->left)
        printf("%s%s", left, left[0] ? "\n" : "");
    else if (left && v->json)
        print_json(r, &p, left);
    else if (left)
        print_table(v, r, &p, left);
    free(left);
    run_parts_free(&p);
    return cli_finish_stdout(left ? CLI_DONE : CLI_FAILED);
}

int cmd_status(const struct command *self, int argc, char **argv)
{
    struct status_values values = { 0 };
    struct options_parsed parsed;
    struct run_folder r;
    struct leat_error err;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    if (values.left && values.json) {
        options_free(&parsed);
        return command_wrong(self, "--left and --json cannot be combined: the object has them as \"left\"");
    }
    code = run_folder_read(&r, parsed.words[0], &err) == LEAT_OK ? show(&values, &r) : cli_failed(&err);
    run_folder_free(&r);
    options_free(&parsed);
    return code;
}
