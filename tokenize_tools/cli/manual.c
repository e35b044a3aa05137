/* manual.c: prints manual pages of section 1, in roff, from the tables of commands and options. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "leat.h"

/* Prints text for roff: with hyphens that can be copied, and without lines that look like requests. */
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
    if (!text)
        return;
    fputs(".PP\n", stdout);
    put_text(text);
    putchar('\n');
}

static void put_head(const char *program, const char *command, const char *purpose)
{
    char page[64], title[256];
    size_t length;

    snprintf(page, sizeof page, "%s%s%s", program, command ? "-" : "", command ? command : "");
    fputs(".TH ", stdout);
    put_text(page);
    printf(" 1 \"\" \"leat %s\" \"\"\n.SH NAME\n", leat_version());
    put_text(page);
    fputs(" \\- ", stdout);
    snprintf(title, sizeof title, "%s", purpose);
    length = strlen(title);
    if (length > 0 && title[length - 1] == '.') /* a title has no full stop */
        title[length - 1] = '\0';
    put_text(title);
    fputs("\n.SH SYNOPSIS\n.B ", stdout);
    put_text(program);
}

static void put_example(const char *lines)
{
    fputs(".SH EXAMPLES\n.nf\n", stdout);
    put_text(lines);
    fputs("\n.fi\n", stdout);
}

static void put_page_name(const char *program, const char *command)
{
    fputs("\\fB", stdout);
    put_text(program);
    if (command)
        printf("\\-%s", command);
    fputs("\\fR(1)", stdout);
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
    else if (option_standard(r)) {
        fputs(" (default: ", stdout);
        put_text(option_standard(r));
        putchar(')');
    }
    putchar('.');
    if (r->more) {
        putchar('\n');
        put_text(r->more);
    }
    putchar('\n');
}

static void put_command(const struct program *program, const struct command *c)
{
    static const struct option_row help = { .name = "help",
                                            .letter = 'h',
                                            .value = "[all]",
                                            .help = "show the options that most runs need; with all, every option" };

    put_head(program->name, c->name, c->purpose);
    printf(" %s\n[\\fIoptions\\fR]", c->name);
    if (*c->words) {
        fputs(" \\fI", stdout);
        put_text(c->words);
        fputs("\\fR", stdout);
    }
    fputs("\n.SH DESCRIPTION\n", stdout);
    put_text(c->words_help ? c->words_help : c->purpose);
    putchar('\n');
    put_paragraph(c->words_more);
    put_paragraph(c->notes);
    put_paragraph(c->notes_more);
    fputs(".SH OPTIONS\n", stdout);
    for (const struct option_row *r = c->options; r->name; r++) {
        if (r->group)
            printf(".SS %s\n", r->group);
        put_option(r);
    }
    put_option(&help);
    put_example(c->example);
}

static void put_program(const struct program *program)
{
    put_head(program->name, NULL, program->purpose);
    fputs("\n\\fICOMMAND\\fR [\\fIoptions\\fR] ...\n.SH COMMANDS\n", stdout);
    for (const struct command *c = program->commands; c->name; c++) {
        printf(".TP\n\\fB%s\\fR\n", c->name);
        put_text(c->purpose);
        fputs("; ", stdout);
        put_page_name(c->program ? c->program : program->name, c->program ? NULL : c->name);
        putchar('\n');
    }
    put_example(program->example);
}

void manual_print(const struct program *program, const struct command *c)
{
    if (c)
        put_command(program, c);
    else
        put_program(program);
    if (program->notes) {
        fputs(".SH EXIT STATUS\n", stdout);
        put_text(program->notes);
        putchar('\n');
    }
    fputs(".SH SEE ALSO\n", stdout);
    put_page_name(program->name, NULL);
    if (!c)
        for (c = program->commands; c->name; c++) {
            fputs(",\n", stdout);
            put_page_name(c->program ? c->program : program->name, c->program ? NULL : c->name);
        }
    putchar('\n');
}
