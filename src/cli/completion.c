/* completion.c: what a shell needs to complete a program's commands and options; see manual.h. */
#include <stdio.h>
#include <string.h>

#include "manual.h"

/* What stands between single quotes in a shell, and for zsh not as a separator of its own. */
static void put_quoted(const char *text, const char *escape)
{
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            fputs("'\\''", stdout);
        else if (strchr(escape, *c))
            printf("\\%c", *c);
        else
            putchar(*c);
    }
}

static void put_choices(const struct option_row *r)
{
    for (const char *const *choice = r->choices; *choice; choice++)
        printf("%s%s", choice == r->choices ? "" : " ", *choice);
}

/* The name of a shell function: leat-bench is _leat_bench. */
static void put_function(const char *name)
{
    putchar('_');
    for (; *name; name++)
        putchar(*name == '-' ? '_' : *name);
}

/* ---- bash ---- */

static void bash_command(const struct command *c)
{
    printf("    %s)\n        case $previous in\n", c->name);
    for (const struct option_row *r = c->options; r->name; r++) {
        if (!r->value)
            continue;
        printf("        --%s", r->name);
        if (r->letter)
            printf("|-%c", r->letter);
        fputs(") ", stdout);
        if (r->choices) {
            fputs("COMPREPLY=($(compgen -W '", stdout);
            put_choices(r);
            fputs("' -- \"$word\")); ", stdout);
        }
        puts("return ;;");
    }
    fputs("        esac\n        options='", stdout);
    for (const struct option_row *r = c->options; r->name; r++)
        printf("--%s ", r->name);
    puts("--help' ;;");
}

static void print_bash(const struct program *program)
{
    printf("# bash completion of %s; made by %s --completion bash\n", program->name, program->name);
    put_function(program->name);
    puts("()\n{\n    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} options\n"
         "    if [ \"$COMP_CWORD\" -eq 1 ]; then");
    fputs("        COMPREPLY=($(compgen -W '", stdout);
    for (const struct command *c = program->commands; c->name; c++)
        printf("%s ", c->name);
    puts("help --help --version' -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in");
    for (const struct command *c = program->commands; c->name; c++)
        bash_command(c);
    puts("    esac\n    case $word in\n    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n    esac\n}");
    fputs("complete -o default -F ", stdout);
    put_function(program->name);
    printf(" %s\n", program->name);
}

/* ---- zsh ---- */

static void zsh_option(const struct option_row *r)
{
    printf(" \\\n            '%s--%s%s[", r->type == OPTION_LIST ? "*" : "", r->name, r->value ? "=" : "");
    put_quoted(r->help, "[]:\\");
    putchar(']');
    if (r->value) {
        putchar(':');
        put_quoted(r->value, "[]:\\");
        putchar(':');
        if (r->choices) {
            putchar('(');
            put_choices(r);
            putchar(')');
        } else {
            fputs("_files", stdout);
        }
    }
    putchar('\'');
}

static void print_zsh(const struct program *program)
{
    printf("#compdef %s\n# zsh completion; made by %s --completion zsh\n", program->name, program->name);
    put_function(program->name);
    puts("()\n{\n    local -a commands\n    commands=(");
    for (const struct command *c = program->commands; c->name; c++) {
        printf("        '%s:", c->name);
        put_quoted(c->purpose, ":\\");
        puts("'");
    }
    puts("    )\n    if ((CURRENT == 2)); then\n        _describe command commands\n        return\n    fi\n"
         "    case $words[2] in");
    for (const struct command *c = program->commands; c->name; c++) {
        printf("    %s)\n        words=(\"${(@)words[2,-1]}\")\n        ((CURRENT--))\n        _arguments", c->name);
        for (const struct option_row *r = c->options; r->name; r++)
            zsh_option(r);
        puts(" \\\n            '*:file:_files' ;;");
    }
    puts("    esac\n}");
    put_function(program->name);
    puts(" \"$@\"");
}

/* ---- fish ---- */

static void print_fish(const struct program *program)
{
    printf("# fish completion; made by %s --completion fish\n", program->name);
    for (const struct command *c = program->commands; c->name; c++) {
        printf("complete -c %s -n __fish_use_subcommand -a %s -d '", program->name, c->name);
        put_quoted(c->purpose, "\\");
        puts("'");
        for (const struct option_row *r = c->options; r->name; r++) {
            printf("complete -c %s -n '__fish_seen_subcommand_from %s' -l %s", program->name, c->name, r->name);
            if (r->letter)
                printf(" -s %c", r->letter);
            if (r->value)
                fputs(" -r", stdout);
            if (r->choices) {
                fputs(" -a '", stdout);
                put_choices(r);
                putchar('\'');
            }
            fputs(" -d '", stdout);
            put_quoted(r->help, "\\");
            puts("'");
        }
    }
}

bool completion_print(const struct program *program, const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        print_bash(program);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(program);
    else if (strcmp(shell, "fish") == 0)
        print_fish(program);
    else
        return false;
    return true;
}
