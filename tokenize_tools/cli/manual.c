/* manual.c: the manual page; see manual.h. */
#include "manual.h"

#include <stdio.h>

#include "leat.h"

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
