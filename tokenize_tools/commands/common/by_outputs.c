/* by_outputs.c: see by_outputs.h. */
#include "by_outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/units.h"

struct by_output {
    char *name, *value, *split; /* split NULL: the rest */
    struct leat_info info;
};

void by_outputs_add(struct by_outputs *list, const struct leat_by_output *output)
{
    struct by_output *items = reallocarray(list->items, list->count + 1, sizeof *items);
    struct by_output copy = { .name = strdup(output->name),
                              .value = strdup(output->value),
                              .split = output->split ? strdup(output->split) : NULL,
                              .info = *output->info };

    if (items)
        list->items = items;
    if (items && copy.name && copy.value && (copy.split || !output->split)) {
        items[list->count++] = copy;
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

bool by_outputs_has(const struct by_outputs *list, const char *name)
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

/* As a word of a shell's command line. */
static void print_source(const char *name, uint64_t weight)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%+:,@=-";
    const char *quote = name[strspn(name, plain)] ? "'" : "", *colon = strrchr(name, ':');
    /* a name that ends in a number, a:2, would be read as a name and a weight, and the weight as a limit of epochs */
    const char *none = colon && strchr(".0123456789", colon[1]) ? ":none" : "";

    printf("  --source %s", quote);
    for (const char *part; (part = strchr(name, '\'')) != NULL; name = part + 1) {
        cli_put(name, (uint64_t)(part - name));
        printf("'\\''");
    }
    cli_put(name, strlen(name));
    printf(":%llu%s%s", (unsigned long long)weight, none, quote);
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
