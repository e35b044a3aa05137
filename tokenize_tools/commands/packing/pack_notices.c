/* pack_notices.c: see pack_notices.h. */
#include "pack_notices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/units.h"
#include "commands/common/damage_lines.h"

#define MAX_NAMES 5 /* in a sentence */

static void add(struct pack_notice_list *list, const struct leat_pack_notice *notice)
{
    bool full = (list->count & (list->count - 1)) == 0; /* room doubles */
    size_t room = list->count > 0 ? 2 * list->count : 1;
    struct pack_notice *items = full ? reallocarray(list->items, room, sizeof *items) : list->items;
    char *path = strdup(notice->path);

    if (items)
        list->items = items;
    if (!items || !path) {
        free(path);
        return;
    }
    items[list->count++] = (struct pack_notice) { path, notice->count, notice->reason };
}

/* One of an older version, whose dataset names no input, is read as such a sentence. */
static void add_damage(struct damage_list *l, const struct leat_pack_notice *n)
{
    if (*n->path)
        (void)damage_list_add(l, n->path, n->offset, n->message, strlen(n->message), n->count, NULL);
    else
        (void)damage_list_read(l, n->message, NULL);
}

void pack_notices_add(struct pack_notices *n, const struct leat_pack_notice *notice)
{
    if (notice->kind == LEAT_NOTICE_DAMAGED) {
        add_damage(&n->damaged, notice);
        return;
    }
    add(notice->kind == LEAT_NOTICE_SKIPPED    ? &n->skipped
        : notice->kind == LEAT_NOTICE_REPEATED ? &n->repeated
        : notice->kind == LEAT_NOTICE_SPLIT    ? &n->splits
                                               : &n->replaced,
        notice);
}

static void free_list(struct pack_notice_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].path);
    free(list->items);
    *list = (struct pack_notice_list) { 0 };
}

void pack_notices_free(struct pack_notices *n)
{
    free_list(&n->skipped);
    free_list(&n->replaced);
    free_list(&n->repeated);
    free_list(&n->splits);
    damage_list_free(&n->damaged);
}

/* "a.txt (12), b.txt (1) and 3 more", of those with this reason. Returns how many there are. */
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
        cli_error(
            "warning: %s repeat earlier ones, the first is %s: their documents are packed as often as they are named",
            units_counted(count, "input").text, first);
}

void pack_notices_warn_empty(const struct leat_pack_report *report, uint64_t inputs)
{
    if (report->kept_out > 0 && report->rejects > 0)
        cli_error("warning: no document is left: --keep left out %s, and %s rejected; a number is compared with "
                  "numbers, and any other value, or one in quotes, with strings",
                  units_counted(report->kept_out, "record").text, units_count(report->rejects).text);
    else if (report->kept_out > 0)
        cli_error("warning: no record holds the conditions of --keep, which left out %s; a number is compared with "
                  "numbers, and any other value, or one in quotes, with strings",
                  units_counted(report->kept_out, "record").text);
    else if (report->rejects == 0)
        cli_error("warning: no document was found in %s", units_counted(inputs, "input").text);
}

void pack_notices_say_skipped(struct pack_notices *n)
{
    static const struct {
        const char *what, *why;
    } sentences[] = {
        [LEAT_SKIP_KIND] = { "file", "in folders" },
        [LEAT_SKIP_LINK] = { "link", "out of folders (--follow-links packs what they lead to)" },
        [LEAT_SKIP_OWN] = { "file", "of this run's own output" },
        [LEAT_SKIP_MARKED] = { "name", "in folders, for beginning with _ (what you name is packed)" },
        [LEAT_SKIP_SPLIT] = { "file", "of other splits, or of none" },
    };
    char names[1400];

    if (n->skipped_said || n->skipped.count + n->repeated.count == 0)
        return;
    n->skipped_said = true;
    if (n->repeated.count > 0)
        pack_notices_warn_repeated(n->repeated.items[0].count, n->repeated.items[0].path);
    for (uint32_t reason = 0; reason < sizeof sentences / sizeof *sentences; reason++) {
        size_t count = name_some(&n->skipped, reason, names, sizeof names);

        if (count > 0)
            cli_error("skipped %s %s: %s", units_counted(count, sentences[reason].what).text, sentences[reason].why,
                      names);
    }
}

void pack_notices_print(const struct pack_notices *n, const struct leat_pack_report *report)
{
    char names[1400];

    if (report->replaced > 0) {
        name_some(&n->replaced, 0, names, sizeof names);
        cli_say("%s of text in %s became U+FFFD: %s.", units_counted(report->replaced, "malformed part").text,
                units_counted(n->replaced.count, "input").text, names);
    }
    if (report->kept_out > 0)
        printf("Left out %s for which a condition of --keep does not hold.\n",
               units_counted(report->kept_out, "record").text);
    if (report->not_json > 0)
        printf("Packed %s with NaN or Infinity, which are not JSON.\n", units_counted(report->not_json, "record").text);
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
    json_u64(j, "not_json", report->not_json);
    json_u64(j, "kept_out", report->kept_out);
    json_u64(j, "row_groups", report->row_groups);
}
