/* command.c: see command.h. */
#include "command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "leat.h"

static void print_indented(FILE *out, const char *lines)
{
    while (*lines) {
        size_t length = strcspn(lines, "\n");

        fprintf(out, "  %.*s\n", (int)length, lines);
        lines += length + (lines[length] == '\n');
    }
}

static int print_program_help(const struct program *program)
{
    int widest = 0;
    char more[300];

    printf("%s: %s\n\nusage: %s COMMAND [options] ...\n\ncommands:\n", program->name, program->purpose, program->name);
    for (const struct command *c = program->commands; c->name; c++)
        if ((int)strlen(c->name) > widest)
            widest = (int)strlen(c->name);
    for (const struct command *c = program->commands; c->name; c++)
        printf("  %-*s  %s\n", widest, c->name, c->purpose);
    snprintf(more, sizeof more,
             "%s COMMAND --help says more about a command; --version [--json] prints the version and the libraries "
             "that are in, --manual all help as a manual page, --completion bash a script for that shell.",
             program->name);
    fputc('\n', stdout);
    options_wrap(stdout, more, 0, 0);
    printf("\nexample:\n");
    print_indented(stdout, program->example);
    if (program->notes) {
        fputc('\n', stdout);
        options_wrap(stdout, program->notes, 0, 0);
    }
    return cli_finish_stdout(CLI_DONE);
}

static int print_command_help(const struct command *c)
{
    char head[256];

    snprintf(head, sizeof head, "%s %s: %s.", cli_program(), c->name, c->purpose);
    options_wrap(stdout, head, 0, 0);
    printf("\nusage: %s %s [options]%s%s\n", cli_program(), c->name, *c->words ? " " : "", c->words);
    if (c->words_help) {
        fputc('\n', stdout);
        options_wrap(stdout, c->words_help, 0, 0);
    }
    printf("\noptions:\n");
    options_print(stdout, c->options);
    if (c->notes) {
        fputc('\n', stdout);
        options_wrap(stdout, c->notes, 0, 0);
    }
    printf("\nexample:\n");
    print_indented(stdout, c->example);
    return cli_finish_stdout(CLI_DONE);
}

static const struct command *find_command(const struct program *program, const char *name)
{
    for (const struct command *c = program->commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static int unknown_command(const struct program *program, const char *word)
{
    struct options_nearest near = { .word = word };
    const char *kind = word[0] == '-' ? "option" : "command";

    for (const struct command *c = program->commands; c->name; c++)
        options_nearest_try(&near, c->name);
    options_nearest_try(&near, "--help");
    options_nearest_try(&near, "--version");
    cli_error("unknown %s %.100s%s (%s --help lists the commands)", kind, word, options_nearest_advice(&near, "").text,
              program->name);
    return CLI_WRONG;
}

static int print_version(const struct program *program, const char *option)
{
    if (option && strcmp(option, "--json") != 0) {
        cli_error("\"%.100s\" is one argument too many: %s --version takes --json", option, program->name);
        return CLI_WRONG;
    }
    if (option)
        with_print_json(program->name);
    else
        with_print(program->name);
    return cli_finish_stdout(CLI_DONE);
}

static int print_completion(const struct program *program, const char *shell)
{
    if (!shell || strcmp(shell, "bash") != 0) {
        cli_error("--completion takes the name of a shell, and there is a script for bash only: --completion bash");
        return CLI_WRONG;
    }
    completion_print(program);
    return cli_finish_stdout(CLI_DONE);
}

/* argv[2] and what follows are the words after "help": a command, and of a program of its own one of its commands. */
static int help_of(const struct program *program, int argc, char **argv)
{
    static char help[] = "--help";
    const struct command *c = find_command(program, argv[2]);

    if (!c && (strcmp(argv[2], help) == 0 || strcmp(argv[2], "-h") == 0 || strcmp(argv[2], "help") == 0))
        return print_program_help(program);
    if (!c)
        return unknown_command(program, argv[2]);
    if (argc > 3 && !c->program) {
        cli_error("\"%.100s\" is one argument too many: %s help takes one command", argv[3], program->name);
        return CLI_WRONG;
    }
    memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof *argv);
    argv[argc - 1] = help;
    return c->run(c, argc - 1, argv + 1);
}

int program_main(const struct program *program, int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--help";
    const struct command *c = find_command(program, word);

    if (c)
        return c->run(c, argc - 1, argv + 1);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
        return print_version(program, argc > 2 ? argv[2] : NULL);
    if (strcmp(word, "--manual") == 0) {
        manual_print(program);
        return cli_finish_stdout(CLI_DONE);
    }
    if (strcmp(word, "--completion") == 0)
        return print_completion(program, argc > 2 ? argv[2] : NULL);
    if (strcmp(word, "help") == 0 && argc > 2)
        return help_of(program, argc, argv);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return print_program_help(program);
    return unknown_command(program, word);
}

int command_wrong(const struct command *c, const char *format, ...)
{
    char message[4096]; /* half of what cli_error() prints: --part auto names many variables */
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    cli_error("%s (%s %s --help shows how)", message, cli_program(), c->name);
    return CLI_WRONG;
}

/* Whether the number of words is right; says so if not. */
static bool check_words(const struct command *c, const struct options_parsed *parsed)
{
    if (parsed->count < c->min_words)
        command_wrong(c, "%s is missing: %s %s %s", c->words, cli_program(), c->name, c->words);
    else if (parsed->count > c->max_words)
        command_wrong(c, "\"%.100s\" is one argument too many: %s %s takes %s", parsed->words[c->max_words],
                      cli_program(), c->name, c->words[0] ? c->words : "only options");
    else
        return true;
    return false;
}

bool command_parse(const struct command *c, int argc, char **argv, void *values, struct options_parsed *parsed,
                   int *code)
{
    char name[64];

    snprintf(name, sizeof name, "%s %s", cli_program(), c->name);
    *code = CLI_WRONG;
    switch (options_parse(name, c->options, values, argc, argv, parsed)) {
    case OPTIONS_HELP:
        *code = print_command_help(c);
        break;
    case OPTIONS_WRONG:
        cli_error("%s", parsed->message);
        break;
    case OPTIONS_READY:
        if (check_words(c, parsed))
            return true;
        break;
    }
    options_free(parsed);
    return false;
}

/* ---- Manuals ---- */

/* Prints text for roff: with hyphens that can be copied, and no line that looks like a request. */
static void put_text(const char *text)
{
    for (const char *c = text; *c; c++) {
        if ((c == text || c[-1] == '\n') && (*c == '.' || *c == '\''))
            fputs("\\&", stdout);
        if (*c == '\\')
            fputs("\\e", stdout);
        else if (*c == '-')
            fputs("\\-", stdout);
        else
            putchar(*c);
    }
}

static void put_paragraph(const char *text)
{
    fputs(".PP\n", stdout);
    put_text(text);
    putchar('\n');
}

static void put_example(const char *lines)
{
    fputs(".PP\n.nf\n.RS\n", stdout);
    put_text(lines);
    fputs("\n.RE\n.fi\n", stdout);
}

static void put_option(const struct option_row *r)
{
    fputs(".TP\n\\fB", stdout);
    if (r->letter)
        printf("\\-%c\\fR, \\fB", r->letter);
    fputs("\\-\\-", stdout);
    put_text(r->name);
    fputs("\\fR", stdout);
    if (r->value) {
        fputs(" \\fI", stdout);
        put_text(r->value);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    put_text(r->help);
    if (r->required)
        fputs(" (required)", stdout);
    else if (r->standard) {
        fputs(" (default: ", stdout);
        put_text(r->standard);
        putchar(')');
    }
    putchar('\n');
}

static void put_command(const struct program *program, const struct command *c)
{
    fputs(".SH \"", stdout);
    put_text(program->name);
    printf(" %s\"\n", c->name);
    put_text(c->purpose);
    fputs(".\n.PP\n\\fB", stdout);
    put_text(program->name);
    printf(" %s\\fR [\\fIoptions\\fR] \\fI", c->name);
    put_text(c->words);
    fputs("\\fR\n", stdout);
    if (c->words_help)
        put_paragraph(c->words_help);
    for (const struct option_row *r = c->options; r->name; r++)
        put_option(r);
    if (c->notes)
        put_paragraph(c->notes);
    fputs(".PP\nExample:\n", stdout);
    put_example(c->example);
}

void manual_print(const struct program *program)
{
    printf(".TH \"%s\" 1 \"\" \"leat %s\" \"\"\n.SH NAME\n", program->name, leat_version());
    put_text(program->name);
    fputs(" \\- ", stdout);
    put_text(program->purpose);
    fputs("\n.SH SYNOPSIS\n\\fB", stdout);
    put_text(program->name);
    fputs("\\fR \\fICOMMAND\\fR [\\fIoptions\\fR] ...\n.SH COMMANDS\n", stdout);
    for (const struct command *c = program->commands; c->name; c++) {
        printf(".TP\n\\fB%s\\fR\n", c->name);
        put_text(c->purpose);
        putchar('\n');
    }
    for (const struct command *c = program->commands; c->name; c++)
        put_command(program, c);
    fputs(".SH EXAMPLE\n", stdout);
    put_example(program->example);
    if (program->notes) {
        fputs(".SH NOTES\n", stdout);
        put_paragraph(program->notes);
    }
}
