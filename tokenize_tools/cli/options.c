/*
 * options.c: reads command lines and prints help. A word is looked up in the rows, and its value is stored through
 * the row's type and offset, so a command has no parsing code of its own. Every mistake ends in one sentence; for an
 * unknown name it has the nearest known one, if that is near (base/nearest.h). Help is printed from the same rows:
 * their heads form a column, and texts are wrapped beside it.
 */
#include "options.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli.h"
#include "units.h"

#define NAME_COLUMNS 64u /* longest name of an unknown option that is shown */
#define HELP_COLUMN  30u /* column at which the help text begins at the latest */
#define NAMES_COLUMN 18u /* column at which names of rare options begin, after their heading ("Order documents") */

static const struct option_row help_row = { .name = "help", .letter = 'h', .help = "show this text" };
static const struct option_row help_rows = {
    .name = "help", .letter = 'h', .value = "[all]", .help = "show this text; all: with every option"
};

/* ---- The nearest word ------------------------------------------------------------------------------------------- */

void options_nearest_try(struct options_nearest *n, const char *candidate)
{
    size_t distance = nearest_distance(n->word, candidate);

    if (!n->best || distance < n->distance) {
        n->best = candidate;
        n->distance = distance;
    }
}

struct options_advice options_nearest_advice(const struct options_nearest *n, const char *dashes)
{
    struct options_advice advice;

    advice.text[0] = '\0';
    if (n->best && nearest_is_near(n->word, n->best, n->distance))
        snprintf(advice.text, sizeof advice.text, "; did you mean %s%.80s?", dashes, n->best);
    return advice;
}

/* ---- Parsing ---------------------------------------------------------------------------------------------------- */

struct parser {
    const char *command;
    const struct option_row *rows;
    char *values;
    int argc, next; /* argv[next] is the next argument */
    char **argv;
    struct options_parsed *parsed;
};

/* Fills the message, which ends in " (leat info --help lists the options)". */
CLI_PRINTF(2, 3)
static enum options_outcome wrong(struct parser *p, const char *format, ...)
{
    char *message = p->parsed->message;
    size_t used, size = sizeof p->parsed->message;
    va_list args;

    va_start(args, format);
    vsnprintf(message, size, format, args);
    va_end(args);
    used = strlen(message);
    snprintf(message + used, size - used, " (%s --help lists the options)", p->command);
    return OPTIONS_WRONG;
}

static const struct option_row *find_name(const struct option_row *rows, const char *name, size_t length)
{
    for (; rows->name; rows++)
        if (strlen(rows->name) == length && memcmp(rows->name, name, length) == 0)
            return rows;
    return length == 4 && memcmp(name, "help", 4) == 0 ? &help_row : NULL;
}

static const struct option_row *find_letter(const struct option_row *rows, char letter)
{
    for (; rows->name; rows++)
        if (rows->letter == letter)
            return rows;
    return letter == 'h' ? &help_row : NULL;
}

static enum options_outcome unknown_name(struct parser *p, const char *name, size_t length)
{
    char word[NAME_COLUMNS + 1];
    struct options_nearest near = { .word = word };

    snprintf(word, sizeof word, "%.*s", (int)(length < NAME_COLUMNS ? length : NAME_COLUMNS), name);
    if (strcmp(word, "seq-len") == 0) /* commands that pack lack this option, but people try it there */
        return wrong(p,
                     "unknown option --seq-len; lengths belong to plans: leat order, leat show, leat.Plan in Python");
    for (const struct option_row *r = p->rows; r->name; r++)
        options_nearest_try(&near, r->name);
    options_nearest_try(&near, help_row.name);
    return wrong(p, "unknown option --%s%s", word, options_nearest_advice(&near, "--").text);
}

/* Reports an unknown letter. It says too little to guess by, so the options that have a letter are named. */
static enum options_outcome unknown_letter(struct parser *p, char letter)
{
    char list[256] = "";
    size_t used = 0;

    for (const struct option_row *r = p->rows; r->name && used < sizeof list - 40; r++)
        if (r->letter)
            used += (size_t)snprintf(list + used, sizeof list - used, "-%c (--%.20s), ", r->letter, r->name);
    snprintf(list + used, sizeof list - used, "-h (--help)");
    return wrong(p, "unknown option -%c; the short options are %s", letter, list);
}

static enum options_outcome set_choice(struct parser *p, const struct option_row *r, const char *text)
{
    struct options_nearest near = { .word = text };
    char list[256] = "";
    size_t used = 0;

    for (unsigned i = 0; r->choices[i]; i++) {
        if (strcmp(r->choices[i], text) == 0) {
            *(unsigned *)(void *)(p->values + r->field) = i;
            return OPTIONS_READY;
        }
        options_nearest_try(&near, r->choices[i]);
        if (used < sizeof list - 40)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.30s", i > 0 ? ", " : "", r->choices[i]);
    }
    return wrong(p, "--%s cannot be \"%.100s\", only one of: %s%s", r->name, text, list,
                 options_nearest_advice(&near, "").text);
}

void options_say_lengths(const char *option, const char *text)
{
    for (size_t length; *text; text += length + (text[length] == ',')) {
        uint64_t decimal, other;
        char binary[64];
        const char *why;

        length = strcspn(text, ",");
        snprintf(binary, sizeof binary, "%.*si", (int)length, text);
        if (units_parse(binary, false, &other, &why) && units_parse_part(text, length, &decimal, &why))
            cli_error("--%s: %.*s is %" PRIu64 " tokens; %s is %" PRIu64, option, (int)length, text, decimal, binary,
                      other);
    }
}

static enum options_outcome set_number(struct parser *p, const struct option_row *r, const char *text)
{
    uint64_t value;
    const char *why;

    if (!units_parse(text, r->type == OPTION_SIZE, &value, &why))
        return wrong(p, "--%s: \"%.100s\" %s", r->name, text ? text : "", why);
    if (value < r->min)
        return wrong(p, "--%s: \"%.100s\" is too small; the minimum is %" PRIu64, r->name, text, r->min);
    if (r->max > 0 && value > r->max)
        return wrong(p, "--%s: \"%.100s\" is too large; the maximum is %" PRIu64, r->name, text, r->max);
    if (r->length)
        options_say_lengths(r->name, text);
    if (r->type == OPTION_COUNT32)
        *(uint32_t *)(void *)(p->values + r->field) = (uint32_t)value;
    else
        *(uint64_t *)(void *)(p->values + r->field) = value;
    return OPTIONS_READY;
}

/* Adds a value to a list. The field may be a pair of the library's options, whose pointer has another type. */
static enum options_outcome add_to_list(struct parser *p, const struct option_row *r, const char *text)
{
    struct option_list list;
    const char **items;

    memcpy(&list, p->values + r->field, sizeof list);
    items = realloc(list.items, (size_t)(list.count + 1) * sizeof *items);
    if (!items)
        return wrong(p, "no memory for --%s", r->name);
    items[list.count] = text;
    list = (struct option_list) { items, list.count + 1 };
    memcpy(p->values + r->field, &list, sizeof list);
    return OPTIONS_READY;
}

/* Sets a value that was given, or is a preset. `text` is NULL for a flag. */
static enum options_outcome set_value(struct parser *p, const struct option_row *r, const char *text)
{
    const char *why = "is not understood";

    switch (r->type) {
    case OPTION_FLAG:
        *(bool *)(void *)(p->values + r->field) = true;
        return OPTIONS_READY;
    case OPTION_SWITCH:
        *(uint32_t *)(void *)(p->values + r->field) = 1;
        return OPTIONS_READY;
    case OPTION_TEXT:
        *(const char **)(void *)(p->values + r->field) = text;
        return OPTIONS_READY;
    case OPTION_COUNT:
    case OPTION_COUNT32:
    case OPTION_SIZE:
        return set_number(p, r, text);
    case OPTION_CHOICE:
        return set_choice(p, r, text);
    case OPTION_LIST:
        return add_to_list(p, r, text);
    case OPTION_CUSTOM:
        break;
    }
    if (!r->parse(p->values + r->field, text, &why))
        return wrong(p, "--%s: \"%.100s\" %s", r->name, text ? text : "", why);
    if (r->length)
        options_say_lengths(r->name, text);
    return OPTIONS_READY;
}

/* `text` is NULL for a flag. */
static enum options_outcome set(struct parser *p, const struct option_row *r, const char *text)
{
    if (r == &help_row)
        return p->next < p->argc && strcmp(p->argv[p->next], "all") == 0 ? OPTIONS_HELP_ALL : OPTIONS_HELP;
    if (r->once && p->parsed->given[r - p->rows])
        return wrong(p, "--%s is given twice, and only one would count: give it once, with commas: --%s %s", r->name,
                     r->name, r->value);
    p->parsed->given[r - p->rows] = true;
    return set_value(p, r, text);
}

/* Takes the value of an option that has none attached: the next argument. If that is itself an option of this
 * command, it was probably not meant as a value. */
static enum options_outcome take_value(struct parser *p, const struct option_row *r)
{
    const char *text = p->next < p->argc ? p->argv[p->next] : NULL;

    if (!text)
        return wrong(p, "--%s needs a value: --%s %s", r->name, r->name, r->value);
    if (text[0] == '-' && text[1] == '-' && (!text[2] || find_name(p->rows, text + 2, strcspn(text + 2, "="))))
        return wrong(p, "--%s needs a value, but %.100s follows; write --%s=%.100s if that is the value", r->name, text,
                     r->name, text);
    p->next++;
    return set(p, r, text);
}

/* Parses "--name" or "--name=value"; `text` comes after the dashes. */
static enum options_outcome parse_long(struct parser *p, const char *text)
{
    size_t length = strcspn(text, "=");
    const struct option_row *r = find_name(p->rows, text, length);

    if (!r)
        return unknown_name(p, text, length);
    if (!r->value && text[length] == '=')
        return wrong(p, "--%s takes no value, so --%.100s is wrong; write --%s", r->name, text, r->name);
    if (!r->value)
        return set(p, r, NULL);
    return text[length] == '=' ? set(p, r, text + length + 1) : take_value(p, r);
}

/* Parses "-o", "-oVALUE" or "-ab"; `text` comes after the dash. */
static enum options_outcome parse_letters(struct parser *p, const char *text)
{
    enum options_outcome outcome = OPTIONS_READY;

    for (; *text && outcome == OPTIONS_READY; text++) {
        const struct option_row *r = find_letter(p->rows, *text);

        if (!r)
            return unknown_letter(p, *text);
        if (r->value)
            return text[1] ? set(p, r, text + 1) : take_value(p, r);
        outcome = set(p, r, NULL);
    }
    return outcome;
}

static enum options_outcome check_required(struct parser *p)
{
    for (const struct option_row *r = p->rows; r->name; r++)
        if (r->required && !p->parsed->given[r - p->rows])
            return wrong(p, "--%s %s is missing: %s", r->name, r->value, r->help);
    return OPTIONS_READY;
}

/* Returns an option that was given and is one of `length` bytes of names with bars between them, or NULL. */
static const struct option_row *find_given(const struct parser *p, const char *names, size_t length)
{
    for (size_t at = 0, bytes; at < length; at += bytes + 1) {
        const struct option_row *r;

        bytes = strcspn(names + at, "|,");
        r = find_name(p->rows, names + at, bytes);
        if (r && p->parsed->given[r - p->rows])
            return r;
    }
    return NULL;
}

/* Checks an option that was given against the others. */
static enum options_outcome check_together(struct parser *p, const struct option_row *r)
{
    const struct option_row *other = r->excludes ? find_given(p, r->excludes, strlen(r->excludes)) : NULL;

    if (other)
        return wrong(p, "--%s and --%s cannot be combined", other->name, r->name);
    for (const char *at = r->needs; at && *at; at += *at == ',') {
        size_t bytes = strcspn(at, ","), first = strcspn(at, "|,");

        if (!find_given(p, at, bytes) && first == bytes)
            return wrong(p, "--%s needs --%.*s", r->name, (int)bytes, at);
        if (!find_given(p, at, bytes))
            return wrong(p, "--%s needs --%.*s or --%.*s", r->name, (int)first, at, (int)(bytes - first - 1),
                         at + first + 1);
        at += bytes;
    }
    return OPTIONS_READY;
}

enum options_outcome options_parse(const char *command, const struct option_row *rows, void *values, int argc,
                                   char **argv, struct options_parsed *parsed)
{
    struct parser p = { .command = command, .rows = rows, .values = values, .argc = argc, .next = 1, .argv = argv };
    enum options_outcome outcome = OPTIONS_READY;
    bool words_only = false;

    memset(parsed, 0, sizeof *parsed);
    p.parsed = parsed;
    parsed->words = calloc((size_t)argc + 1, sizeof *parsed->words);
    if (!parsed->words)
        return wrong(&p, "no memory for %d arguments", argc);
    while (p.next < argc && outcome == OPTIONS_READY) {
        const char *text = argv[p.next++];

        if (words_only || text[0] != '-' || !text[1])
            parsed->words[parsed->count++] = text;
        else if (text[1] != '-')
            outcome = parse_letters(&p, text + 1);
        else if (text[2])
            outcome = parse_long(&p, text + 2);
        else
            words_only = true;
    }
    for (const struct option_row *r = rows; r->name && outcome == OPTIONS_READY; r++)
        if (parsed->given[r - rows])
            outcome = check_together(&p, r);
    return outcome == OPTIONS_READY ? check_required(&p) : outcome;
}

void options_preset(const struct option_row *rows, void *values, const struct options_parsed *parsed)
{
    struct options_parsed unused;
    struct parser p = { .rows = rows, .values = values, .parsed = &unused };

    for (const struct option_row *r = rows; r->name; r++)
        if (r->preset && !parsed->given[r - rows])
            (void)set_value(&p, r, r->preset);
}

void options_free(struct options_parsed *parsed)
{
    free(parsed->words);
    parsed->words = NULL;
    parsed->count = 0;
}

void option_list_free(struct option_list *list)
{
    free(list->items);
    *list = (struct option_list) { .items = NULL };
}

/* ---- Help ------------------------------------------------------------------------------------------------------- */

void options_wrap(FILE *out, const char *text, unsigned indent, unsigned column)
{
    while (*text) {
        size_t word = strcspn(text, " ");

        if (column > indent && column + 1 + word > OPTIONS_COLUMNS) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, word, out);
        column += (unsigned)word;
        text += word;
        if (*text)
            text++;
    }
    fputc('\n', out);
}

/* Writes the head of a row, " -o, --output NAME"; returns its width. */
static unsigned row_head(char *out, size_t capacity, const struct option_row *r)
{
    char letter[5] = "    ";

    if (r->letter)
        snprintf(letter, sizeof letter, "-%c, ", r->letter);
    return (unsigned)snprintf(out, capacity, "  %s--%s%s%s", letter, r->name, r->value ? " " : "",
                              r->value ? r->value : "");
}

static void print_row(FILE *out, const struct option_row *r, unsigned column)
{
    char head[128], text[1024];
    unsigned width = row_head(head, sizeof head, r);
    const char *standard = option_standard(r);

    snprintf(text, sizeof text,
             r->required ? "%s (required)"
             : standard  ? "%s (default: %s)"
                         : "%s",
             r->help, standard);
    fputs(head, out);
    if (width + 2 > column)
        fprintf(out, "\n%*s", (int)column, "");
    else
        fprintf(out, "%*s", (int)(column - width), "");
    options_wrap(out, text, column, column);
}

const char *option_standard(const struct option_row *row)
{
    return row->standard ? row->standard : row->preset;
}

bool options_have_rare(const struct option_row *rows)
{
    while (rows->name && !rows->rare)
        rows++;
    return rows->name != NULL;
}

/* Prints the names of the rare rows from `r` on, up to the next heading. Returns the number of these rows. */
static size_t name_rare(FILE *out, const struct option_row *r, const char *group)
{
    char names[1024] = "";
    size_t used = 0, count = 0;

    for (; r[count].name && (count == 0 || !r[count].group); count++)
        if (r[count].rare && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s--%s", used > 0 ? ", " : "", r[count].name);
    if (used == 0)
        return count;
    if (group)
        fprintf(out, "  %-*s", (int)NAMES_COLUMN - 2, group);
    else
        fputs("  ", out);
    options_wrap(out, names, group ? NAMES_COLUMN : 2, group ? NAMES_COLUMN : 2);
    return count;
}

void options_print(FILE *out, const char *command, const struct option_row *rows, bool all)
{
    bool rare = options_have_rare(rows);
    const struct option_row *help = rare ? &help_rows : &help_row;
    char head[128];
    unsigned column = row_head(head, sizeof head, help) + 2;

    for (const struct option_row *r = rows; r->name; r++) {
        unsigned width = row_head(head, sizeof head, r) + 2;

        if ((all || !r->rare) && width > column && width <= HELP_COLUMN)
            column = width;
    }
    fputs("options:\n", out);
    for (const struct option_row *r = rows; r->name; r++) {
        if (all && r->group)
            fprintf(out, "%s%s:\n", r == rows ? "" : "\n", r->group);
        if (all || !r->rare)
            print_row(out, r, column);
    }
    if (all && rare)
        fputc('\n', out);
    print_row(out, help, column);
    if (all || !rare)
        return;
    fprintf(out, "\nmore options (%s --help all):\n", command);
    for (const struct option_row *r = rows; r->name;)
        r += name_rare(out, r, r->group);
}
