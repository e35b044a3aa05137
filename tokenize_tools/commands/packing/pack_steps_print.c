/* pack_steps_print.c: see pack_steps_print.h. */
#include "pack_steps_print.h"

#include "cli/json.h"
#include "cli/units.h"
#include "commands/common/common.h"

void pack_steps_print(const struct pack_steps *s, char *const *names, const struct leat_merge_report *report)
{
    size_t splits = s->values->splits.count;
    struct json j;

    for (size_t i = 0; !s->values->json && i <= splits; i++) {
        const struct leat_info *info = i < splits ? &report->splits[i] : report->info;

        cli_say("%s: %s in %s.", names[i], units_counted(info->tokens, "token").text,
                units_counted(info->documents, "document").text);
    }
    if (!s->values->json && s->values->dedup && !s->values->shuffle.given)
        cli_say("%s had the text of an earlier one, of this part or another.",
                units_counted(report->deduplicated, "document").text);
    if (!s->values->json)
        return;
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", names[splits]);
    json_bool(&j, "was_finished", false);
    json_u64(&j, "documents", report->info->documents);
    json_u64(&j, "tokens", report->info->tokens);
    if (!s->values->shuffle.given) /* else its documents come from all parts */
        json_u64(&j, "deduplicated", report->deduplicated);
    json_open_array(&j, "splits");
    for (size_t i = 0; i < splits; i++) {
        json_open_object(&j, NULL);
        json_string(&j, "name", s->values->splits.items[i].name);
        json_string(&j, "output", names[i]);
        json_u64(&j, "documents", report->splits[i].documents);
        json_u64(&j, "tokens", report->splits[i].tokens);
        json_close_object(&j);
    }
    json_close_array(&j);
    json_close_object(&j);
    json_end(&j);
}

/* What a part has behind it, and what the next call does. */
static void name_step(const struct pack_steps *s, enum beat_step step, const char **done, const char **next)
{
    static const char *const names[] = { "", "packed", "compared", "counted", "scattered" };
    bool dedup = s->values->dedup, shuffle = s->values->shuffle.given;

    *done = names[step == BEAT_COUNTED && !dedup ? BEAT_PACKED : step]; /* counted at once */
    *next = step == BEAT_PACKED                ? "finds documents with the same text"
            : step == BEAT_COMPARED && shuffle ? "counts what stays"
            : step == BEAT_COUNTED             ? "sends each document to the part that it falls to"
            : step == BEAT_SCATTERED           ? "writes what all parts have sent"
                                               : "writes what stays";
}

void pack_steps_print_waiting(const struct pack_steps *s, enum beat_step step)
{
    char word[CLI_SHELL_WORD];
    const char *done, *next;
    struct json j;

    name_step(s, step, &done, &next);
    if (!s->values->json) {
        cli_say("Part %u is %s. When all parts are (leat status %s), the same command %s.", s->options->part, done,
                cli_shell_word(s->folder->path, word, sizeof word), next);
        return;
    }
    if (s->packed) /* and summed up */
        return;
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "run", s->folder->path);
    json_u64(&j, "part", s->options->part);
    json_string(&j, "step", done);
    json_close_object(&j);
    json_end(&j);
}

void pack_steps_print_finished(const struct pack_steps *s, const char *name, const struct leat_info *info)
{
    struct json j;

    if (!s->values->json) {
        cli_say("%s is finished already: %s in %s.", name, units_counted(info->tokens, "token").text,
                units_counted(info->documents, "document").text);
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", name);
    json_bool(&j, "was_finished", true);
    json_u64(&j, "documents", info->documents);
    json_u64(&j, "tokens", info->tokens);
    json_close_object(&j);
    json_end(&j);
}
