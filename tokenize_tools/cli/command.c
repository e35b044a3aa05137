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
    char more[400];

    printf("%s: %s\n\nusage: %s COMMAND [options] ...\n\ncommands:\n", program->name, program->purpose, program->name);
    for (const struct command *c = program->commands; c->name; c++)
        if ((int)strlen(c->name) > widest)
            widest = (int)strlen(c->name);
    for (const struct command *c = program->commands; c->name; c++)
        printf("  %-*s  %s\n", widest, c->name, c->purpose);
    snprintf(more, sizeof more,
             "%s COMMAND --help shows the options of a command; --help all those that few runs need, too. %s --manual "
             "[COMMAND] prints a manual page (man %s, man %s-COMMAND), --version [--json] the version and the optional "
             "libraries, --completion bash (or zsh) a script for that shell.",
             program->name, program->name, program->name, program->name);
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

static int print_command_help(const struct command *c, bool all)
{
    char head[256], name[64];

    snprintf(head, sizeof head, "%s %s: %s.", cli_program(), c->name, c->purpose);
    options_wrap(stdout, head, 0, 0);
    printf("\nusage: %s %s [options]%s%s\n", cli_program(), c->name, *c->words ? " " : "", c->words);
    if (c->words_help) {
        fputc('\n', stdout);
        options_wrap(stdout, c->words_help, 0, 0);
    }
    fputc('\n', stdout);
    snprintf(name, sizeof name, "%s %s", cli_program(), c->name);
    options_print(stdout, name, c->options, all);
    if (c->notes) {
        fputc('\n', stdout);
        options_wrap(stdout, c->notes, 0, 0);
    }
    printf("\nexample:\n");
    print_indented(stdout, c->example);
    if (options_have_rare(c->options) || c->words_more || c->notes_more)
        printf("\nmanual: man %s-%s, or %s --manual %s | man -l -\n", cli_program(), c->name, cli_program(), c->name);
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
    if (!shell || !completion_print(program, shell)) {
        cli_error("--completion takes the name of a shell: --completion bash, or --completion zsh");
        return CLI_WRONG;
    }
    return cli_finish_stdout(CLI_DONE);
}

static int print_manual(const struct program *program, const char *name)
{
    const struct command *c = name ? find_command(program, name) : NULL;

    if (name && !c)
        return unknown_command(program, name);
    if (c && c->program) {
        cli_error("%s %s is another program, which prints its manual page: %s --manual", program->name, name,
                  c->program);
        return CLI_WRONG;
    }
    manual_print(program, c);
    return cli_finish_stdout(CLI_DONE);
}

/* Prints the help of argv[2] and the words after it: a command, and one of its own commands if it is another
 * program. */
static int help_of(const struct program *program, int argc, char **argv)
{
    static char help[] = "--help", every[] = "all";
    bool all = argc == 4 && strcmp(argv[3], every) == 0;
    const struct command *c = find_command(program, argv[2]);

    if (!c && (strcmp(argv[2], help) == 0 || strcmp(argv[2], "-h") == 0 || strcmp(argv[2], "help") == 0))
        return print_program_help(program);
    if (!c)
        return unknown_command(program, argv[2]);
    if (argc > 3 && !all && !c->program) {
        cli_error("\"%.100s\" is one argument too many: %s help takes one command", argv[3], program->name);
        return CLI_WRONG;
    }
    memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof *argv);
    argv[argc - 1] = help;
    if (all && !c->program) {
        argv[argc - 2] = help;
        argv[argc - 1] = every;
    }
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
    if (strcmp(word, "--manual") == 0)
        return print_manual(program, argc > 2 ? argv[2] : NULL);
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
    char message[4096]; /* half of what cli_error() prints; --part auto may name many variables */
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    cli_error("%s (%s %s --help shows how)", message, cli_program(), c->name);
    return CLI_WRONG;
}

/* Returns true if the number of words is right; otherwise prints a message. */
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
    enum options_outcome outcome;
    char name[64];

    snprintf(name, sizeof name, "%s %s", cli_program(), c->name);
    *code = CLI_WRONG;
    outcome = options_parse(name, c->options, values, argc, argv, parsed);
    switch (outcome) {
    case OPTIONS_HELP:
    case OPTIONS_HELP_ALL:
        *code = print_command_help(c, outcome == OPTIONS_HELP_ALL);
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
