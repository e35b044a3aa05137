/*
 * completion.c: what bash needs to complete a program's command lines; see command.h: first a command; then, after an
 * option, what its value may be (words, a path, or unknown); else that command's options, and paths if it takes words.
 * A command that hands its words to another program asks that program's own script.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"

/* The words that a value may be; NULL: that cannot be known. */
static const char *const *words_of(const struct option_row *r)
{
    return r->choices ? r->choices : r->offered;
}

static void put_words(const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        printf("%s%s", i > 0 ? " " : "", words[i]);
}

/* Their names. */
static void put_commands(const struct program *program)
{
    for (const struct command *c = program->commands; c->name; c++)
        printf("%s%s", c == program->commands ? "" : " ", c->name);
}

/* The name of a shell function: leat-bench is _leat_bench. */
static void put_function(const char *name)
{
    putchar('_');
    for (; *name; name++)
        putchar(*name == '-' ? '_' : *name);
}

static void put_value(const struct option_row *r)
{
    if (!r->value)
        return;
    printf("        --%s", r->name);
    if (r->letter)
        printf("|-%c", r->letter);
    putchar(')');
    if (words_of(r)) {
        fputs(" words='", stdout);
        put_words(words_of(r));
        putchar('\'');
    }
    puts(r->path ? " paths=1 ;;" : " ;;");
}

/* Options, where the word begins with a dash, or nothing else can be meant. */
static void put_options(const struct command *c)
{
    printf("    %s)\n        case $previous in\n", c->name);
    for (const struct option_row *r = c->options; r->name; r++)
        put_value(r);
    if (options_have_rare(c->options))
        puts("        --help|-h) words=all ;;");
    printf("        *)%s\n            case $word in %s) paths= words='", c->max_words > 0 ? " paths=1" : "",
           c->max_words > 0 ? "-*" : "*");
    for (const struct option_row *r = c->options; r->name; r++)
        printf("--%s ", r->name);
    puts("--help' ;; esac ;;\n        esac ;;");
}

static void put_program(const struct command *c)
{
    printf("    %s)\n        ", c->name);
    fputs("declare -F ", stdout);
    put_function(c->program);
    printf(" >/dev/null || eval \"$(\"${COMP_WORDS[0]/#~/$HOME}\" %s --completion bash 2>/dev/null)\"\n        ",
           c->name);
    fputs("declare -F ", stdout);
    put_function(c->program);
    puts(" >/dev/null || return");
    printf("        COMP_WORDS=(%s \"${COMP_WORDS[@]:2}\")\n        COMP_CWORD=$((COMP_CWORD - 1))\n        ",
           c->program);
    put_function(c->program);
    puts("\n        return ;;");
}

/* The script is a function that sets `words`, which are offered, and `paths` if the names of files are.
 * bash splits `--option=value` into three words. `compopt` is for readline alone: to quote and to add slashes;
 * and, where no word is known, to complete paths by itself, which knows about quotes and ~. */
void completion_print(const struct program *program)
{
    printf("# bash completion of %s; made by %s --completion bash\n", program->name, program->name);
    put_function(program->name);
    puts("()\n{\n    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words= paths=\n"
         "    if [ \"$word\" = = ]; then\n        word=\n"
         "    elif [ \"$previous\" = = ]; then\n        previous=${COMP_WORDS[COMP_CWORD-2]}\n    fi");
    fputs("    case $((COMP_CWORD > 1))${COMP_WORDS[1]} in\n    0*) words='", stdout);
    put_commands(program);
    fputs(" help --help --version --manual --completion' ;;\n    1help) [ \"$COMP_CWORD\" -gt 2 ] || words='", stdout);
    put_commands(program);
    fputs("' ;;\n    1--manual) [ \"$COMP_CWORD\" -gt 2 ] || words='", stdout);
    put_commands(program);
    puts("' ;;\n    1--completion) words=bash ;;\n    esac\n"
         "    [ \"$COMP_CWORD\" -le 1 ] || case ${COMP_WORDS[1]} in");
    for (const struct command *c = program->commands; c->name; c++)
        if (c->program)
            put_program(c);
        else
            put_options(c);
    puts("    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "    if [ -n \"$paths\" ] && [ ${#COMPREPLY[@]} -eq 0 ]; then\n"
         "        compopt -o default 2>/dev/null\n"
         "    elif [ -n \"$paths\" ]; then\n"
         "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$word\")\n"
         "        compopt -o filenames 2>/dev/null\n"
         "    fi\n}");
    fputs("complete -F ", stdout);
    put_function(program->name);
    printf(" %s\n", program->name);
}
