/* outputs.c: see outputs.h. */
#include "outputs.h"

#include <dirent.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grow.h"
#include "cli/cli.h"
#include "cli/units.h"

/* ---- Shuffled, deduplicated, split ------------------------------------------------------------------------------- */

#define SPLIT_NAME 4400 /* bytes of a dataset's name */

bool arrange_seed_parse(void *field, const char *text, const char **why)
{
    struct arrange_seed *seed = field;

    seed->given = units_parse(text, false, &seed->value, why);
    return seed->given;
}

/* Stores the value only: the library checks names and fractions, for all callers alike. */
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

/* Returns how much of OUTPUT the names of splits begin with. */
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

/* ---- The datasets of --by ---------------------------------------------------------------------------------------- */

struct by_output {
    char *name, *value, *split; /* split NULL: the rest */
    struct leat_info info;
};

void by_outputs_add(struct by_outputs *list, const struct leat_by_output *output)
{
    struct by_output copy = { .name = strdup(output->name),
                              .value = strdup(output->value),
                              .split = output->split ? strdup(output->split) : NULL,
                              .info = *output->info };

    if (copy.name && copy.value && (copy.split || !output->split) &&
        GROW(list->items, list->count + 1, list->room, NULL) == LEAT_OK) {
        list->items[list->count++] = copy;
        return;
    }
    list->incomplete = true;
    free(copy.name);
    free(copy.value);
    free(copy.split);
}

int by_outputs_code(const struct by_outputs *list, int code)
{
    if (!list->incomplete)
        return code;
    cli_error("not enough memory to list all datasets of the run; all are finished");
    return CLI_FAILED;
}

void by_outputs_free(struct by_outputs *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
        free(list->items[i].value);
        free(list->items[i].split);
    }
    free(list->items);
    *list = (struct by_outputs) { 0 };
}

/* Returns true if one of them has this name. */
static bool by_outputs_has(const struct by_outputs *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return true;
    return false;
}

void by_outputs_print(const struct by_outputs *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct by_output *o = &list->items[i];

        cli_say("%s: %s in %s.", o->name, units_counted(o->info.tokens, "token").text,
                units_counted(o->info.documents, "document").text);
    }
}

/* Prints a name as a word of a shell's command line, with its weight. */
static void print_source(const char *name, uint64_t weight)
{
    /* A name that ends in a number, such as a:2, would be read as a name and a weight, and the weight as a limit of
     * epochs. */
    const char *colon = strrchr(name, ':'), *none = colon && strchr(".0123456789", colon[1]) ? ":none" : "";
    char text[SPLIT_NAME], quoted[CLI_SHELL_WORD];

    snprintf(text, sizeof text, "%s:%" PRIu64 "%s", name, weight, none);
    printf("  --source %s", cli_shell_word(text, quoted, sizeof quoted));
}

void by_outputs_print_sources(const struct by_outputs *list)
{
    const char *before = "leat order --seq-len 2048";

    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].split)
            continue;
        printf("%s \\\n", before);
        print_source(list->items[i].name, list->items[i].info.tokens);
        before = "";
    }
    if (!*before)
        putchar('\n');
}

void by_outputs_json(struct json *j, const struct by_outputs *list)
{
    json_open_array(j, "outputs");
    for (size_t i = 0; i < list->count; i++) {
        const struct by_output *o = &list->items[i];

        json_open_object(j, NULL);
        json_string(j, "name", o->name);
        json_string(j, "value", o->value);
        if (o->split)
            json_string(j, "split", o->split);
        json_u64(j, "documents", o->info.documents);
        json_u64(j, "tokens", o->info.tokens);
        json_string(j, "identity", units_hex(o->info.identity, 16).text);
        json_close_object(j);
    }
    json_close_array(j);
}

/* ---- What an earlier run left ------------------------------------------------------------------------------------ */

#define MAX_NAMED 5u /* in a sentence */

struct look {
    const char *output;
    size_t length; /* length of OUT in it */
    const struct arrange_splits *splits;
    const struct by_outputs *outputs;
    bool by;
};

struct names {
    char **items;
    size_t count, room;
};

static const char *value_of(const struct leat_metadata *m, const char *key)
{
    for (uint64_t i = 0; i < m->count; i++)
        if (strcmp(m->pairs[i].key, key) == 0)
            return m->pairs[i].value;
    return NULL;
}

/*
 * Returns true if the metadata of OUT.SPLIT, OUT.VALUE or OUT.VALUE.SPLIT fit its name; `name` comes after "OUT.".
 * The text for a value has no periods. leat_merge() copies both entries, so a split of a dataset that was divided
 * off names a value as well. A merged dataset that was given such a name looks the same, and cannot be told apart.
 */
static bool may_be(const struct leat_metadata *m, const char *name)
{
    const char *split = value_of(m, "leat.split");
    bool value = value_of(m, "leat.by.value") != NULL;
    size_t length = strlen(name), end = split ? strlen(split) : 0;

    if (!split)
        return value && !strchr(name, '.');
    if (length < end || strcmp(name + length - end, split) != 0)
        return false;
    if (length == end)
        return true;
    return value && length >= end + 2 && name[length - end - 1] == '.' && !memchr(name, '.', length - end - 1);
}

static bool may_be_from_a_run(const struct look *l, const char *path)
{
    struct leat_metadata *m = NULL;
    struct leat_dataset *d;
    bool is = false;

    if (leat_dataset_open(&d, path, NULL, NULL) != LEAT_OK)
        return false;
    if (leat_dataset_metadata(d, 0, &m, NULL) == LEAT_OK) {
        is = may_be(m, path + l->length + 1);
        leat_metadata_free(m);
    }
    leat_dataset_close(d);
    return is;
}

static bool is_written(const struct look *l, const char *path)
{
    for (size_t i = 0; !l->by && i < l->splits->count; i++)
        if (strcmp(path + l->length + 1, l->splits->items[i].name) == 0)
            return true;
    return l->by && by_outputs_has(l->outputs, path);
}

/* Returns the path of the dataset whose index is this file of the folder, if the dataset may be a leftover; else
 * NULL. The caller frees it. */
static char *take_index(const struct look *l, const char *file)
{
    size_t folder = l->length, bytes = strlen(file);
    char *path = NULL;

    while (folder > 0 && l->output[folder - 1] != '/')
        folder--;
    if (strncmp(file, l->output + folder, l->length - folder) != 0 || file[l->length - folder] != '.' ||
        !file_ends_with(file, bytes, ".leat") || bytes - 5 <= l->length - folder + 1)
        return NULL;
    if (asprintf(&path, "%.*s%.*s", (int)folder, l->output, (int)bytes - 5, file) < 0)
        return NULL;
    if (!is_written(l, path) && may_be_from_a_run(l, path))
        return path;
    free(path);
    return NULL;
}

static void warn(const char *output, int length, const struct names *n)
{
    char names[1400] = "", more[64] = "";
    bool one = n->count == 1;
    size_t used = 0;

    for (size_t i = 0; i < n->count && i < MAX_NAMED; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.250s", i > 0 ? ", " : "", n->items[i]);
    if (n->count > MAX_NAMED)
        snprintf(more, sizeof more, " and %s more", units_count(n->count - MAX_NAMED).text);
    cli_error("warning: %s%s %s: this run does not write %s. If an earlier run of %.*s made %s, documents of %s may be "
              "in the new datasets, too; then remove %s, unless you need %s",
              names, more, one ? "stays" : "stay", one ? "it" : "them", length, output, one ? "it" : "them",
              one ? "it" : "theirs", one ? "it" : "them", one ? "it" : "them");
}

/* Adds a name to the list, which takes ownership of `path`. Without memory, the message leaves the name out. */
static void add_name(struct names *n, char *path)
{
    if (path && GROW(n->items, n->count + 1, n->room, NULL) == LEAT_OK)
        n->items[n->count++] = path;
    else
        free(path);
}

static int by_name(const void *x, const void *y)
{
    return strcmp(*(char *const *)x, *(char *const *)y);
}

void leftovers_warn(const char *output, const struct arrange_splits *splits, const struct by_outputs *outputs, bool by)
{
    struct look l = { output, file_dataset_length(output, strlen(output)), splits, outputs, by };
    char *folder = file_folder(output);
    DIR *d = folder ? opendir(folder) : NULL;
    struct names n = { 0 };
    struct dirent *entry;

    while (d && (entry = readdir(d)) != NULL)
        add_name(&n, take_index(&l, entry->d_name));
    if (d)
        closedir(d);
    free(folder);
    if (n.count > 0) {
        qsort(n.items, n.count, sizeof *n.items, by_name);
        warn(output, (int)l.length, &n);
    }
    for (size_t i = 0; i < n.count; i++)
        free(n.items[i]);
    free(n.items);
}

/* Returns true if a file fits the pattern. Characters of the name in it have no special meaning. */
static bool is_there(const char *name, int length, const char *pattern)
{
    char text[2 * SPLIT_NAME];
    glob_t found = { 0 };
    size_t used = 0;
    bool is;

    for (int i = 0; i < length && used + strlen(pattern) + 3 < sizeof text; i++) {
        if (strchr("*?[]\\", name[i]))
            text[used++] = '\\';
        text[used++] = name[i];
    }
    snprintf(text + used, sizeof text - used, "%s", pattern);
    is = glob(text, 0, NULL, &found) == 0;
    globfree(&found);
    return is;
}

void leftovers_say(const char *output, const char *const *patterns, const char *then, const struct leat_error *err)
{
    char names[4 * CLI_SHELL_WORD] = "", base[SPLIT_NAME], quoted[CLI_SHELL_WORD];
    size_t used = 0;

    snprintf(base, sizeof base, "%.*s", base_length(output), output);
    if (err->status == LEAT_E_BUSY || err->status == LEAT_E_EXISTS) /* the message is about these files */
        return;
    for (; *patterns; patterns++)
        if (is_there(base, base_length(output), *patterns) && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, " %s%s",
                                     cli_shell_word(base, quoted, sizeof quoted), *patterns);
    if (used > 0 && used < sizeof names)
        cli_error("%s; to give it up, remove what is left: rm -r%s", then, names);
}
