/* arrange_values.c: see arrange_values.h. */
#include "arrange_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/units.h"

#define SPLIT_NAME 4400 /* bytes of a dataset's name */

bool arrange_seed_parse(void *field, const char *text, const char **why)
{
    struct arrange_seed *seed = field;

    seed->given = units_parse(text, false, &seed->value, why);
    return seed->given;
}

/* The library checks names and fractions, for all callers alike. */
bool arrange_splits_parse(void *field, const char *text, const char **why)
{
    struct arrange_splits *s = field;
    char *at;

    arrange_splits_free(s);
    *why = "is not NAME=FRACTION,NAME=FRACTION,...";
    s->text = at = malloc(strlen(text) + 1);
    if (!at) {
        *why = "does not fit in memory";
        return false;
    }
    memcpy(at, text, strlen(text) + 1);
    while (at) {
        char *comma = strchr(at, ','), *equals = strchr(at, '=');

        if (!equals || (comma && equals > comma) || equals == at)
            return false;
        if (s->count == ARRANGE_SPLITS) {
            *why = "has more than 64 splits";
            return false;
        }
        *equals = '\0';
        if (comma)
            *comma = '\0';
        s->items[s->count++] = (struct leat_split) { at, equals + 1 };
        at = comma ? comma + 1 : NULL;
    }
    return true;
}

void arrange_splits_free(struct arrange_splits *s)
{
    free(s->text);
    s->text = NULL;
    s->count = 0;
}

/* How much of OUTPUT the names of splits begin with. */
static int base_length(const char *output)
{
    return (int)file_dataset_length(output, strlen(output));
}

static void name_split(char *text, size_t room, const char *output, const struct arrange_splits *s, size_t i)
{
    const char *slash = s->folders ? strrchr(output, '/') : NULL;
    int folder = slash ? (int)(slash - output) + 1 : 0;

    if (s->folders)
        snprintf(text, room, "%.*s%s/%.*s", folder, output, s->items[i].name, base_length(output) - folder,
                 output + folder);
    else
        snprintf(text, room, "%.*s.%s", base_length(output), output, s->items[i].name);
}

void arrange_report_json(struct json *j, const char *output, const struct arrange_splits *splits,
                         const struct leat_merge_report *report)
{
    json_u64(j, "deduplicated", report->deduplicated);
    json_open_array(j, "splits");
    for (size_t i = 0; i < splits->count; i++) {
        const struct leat_info *info = &report->splits[i];
        char name[SPLIT_NAME];

        name_split(name, sizeof name, output, splits, i);
        json_open_object(j, NULL);
        json_string(j, "output", name);
        json_u64(j, "documents", info->documents);
        json_u64(j, "tokens", info->tokens);
        json_string(j, "identity", units_hex(info->identity, 16).text);
        json_close_object(j);
    }
    json_close_array(j);
}

void arrange_report_print(const char *output, const struct arrange_splits *splits, bool dedup,
                          const struct leat_merge_report *report)
{
    if (dedup)
        printf("%s of %s left out: their text came before.\n", units_count(report->deduplicated).text,
               units_counted(report->documents, "document").text);
    for (size_t i = 0; i < splits->count; i++) {
        const struct leat_info *info = &report->splits[i];
        char name[SPLIT_NAME];

        name_split(name, sizeof name, output, splits, i);
        cli_say("%s: %s in %s.", name, units_counted(info->tokens, "token").text,
                units_counted(info->documents, "document").text);
    }
}
