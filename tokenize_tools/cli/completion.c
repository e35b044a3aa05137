/*
 * completion.c: what a shell needs to complete a program's command lines; see manual.h. All three scripts say the same:
 * first a command; then, after an option, what its value may be (words, a path, or unknown); else
 * that command's options, and paths if it takes words. A command that hands its words to another program asks that
 * program's own script.
 */
#include <stdio.h>
#include <string.h>

#include "manual.h"

/* What stands between single quotes in a shell; `escape` has what a backslash comes before. */
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

/* ---- bash ----
 * A function that sets `words`, which are offered, and `paths` if the names of files are. */

static void bash_value(const struct option_row *r)
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
static void bash_options(const struct command *c)
{
    printf("    %s)\n        case $previous in\n", c->name);
    for (const struct option_row *r = c->options; r->name; r++)
        bash_value(r);
    printf("        *)%s\n            case $word in %s) paths= words='", c->max_words > 0 ? " paths=1" : "",
           c->max_words > 0 ? "-*" : "*");
    for (const struct option_row *r = c->options; r->name; r++)
        printf("--%s ", r->name);
    puts("--help' ;; esac ;;\n        esac ;;");
}

static void bash_program(const struct command *c)
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

/* bash splits `--option=value` into three words. `compopt` is for readline alone: to quote and to add slashes;
 * and, where no word is known, to complete paths by itself, which knows about quotes and ~. */
static void print_bash(const struct program *program)
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
    puts("' ;;\n    1--completion) words='bash zsh fish' ;;\n    esac\n"
         "    [ \"$COMP_CWORD\" -le 1 ] || case ${COMP_WORDS[1]} in");
    for (const struct command *c = program->commands; c->name; c++)
        if (c->program)
            bash_program(c);
        else
            bash_options(c);
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

/* ---- zsh ---- */

static void zsh_value(const struct option_row *r)
{
    putchar(':');
    put_quoted(r->value, "[]:\\");
    putchar(':');
    if (words_of(r) && r->path) {
        fputs("{_alternative \"words\\:built in\\:(", stdout);
        put_words(words_of(r));
        fputs(")\" \"files\\:file\\:_files\"}", stdout);
    } else if (words_of(r)) {
        putchar('(');
        put_words(words_of(r));
        putchar(')');
    } else if (r->path) {
        fputs("_files", stdout);
    } else {
        putchar(' '); /* there is a value, and nothing is known of it */
    }
}

static void zsh_name(const struct option_row *r, bool letter)
{
    const char *once = r->type == OPTION_LIST ? "*" : "";

    fputs(" \\\n            '", stdout);
    if (r->letter && !*once)
        printf("(-%c --%s)", r->letter, r->name);
    if (letter)
        printf("%s-%c%s[", once, r->letter, r->value ? "+" : "");
    else
        printf("%s--%s%s[", once, r->name, r->value ? "=" : "");
    put_quoted(r->help, "[]:\\");
    putchar(']');
    if (r->value)
        zsh_value(r);
    putchar('\'');
}

static void zsh_command(const struct command *c)
{
    if (c->program) {
        printf("    %s)\n        (($+functions[", c->name);
        put_function(c->program);
        printf("])) || eval \"$(${(Q)~words[1]} %s --completion zsh 2>/dev/null)\"\n", c->name);
        printf("        words=(%s \"${(@)words[3,-1]}\")\n        ((CURRENT--))\n        ", c->program);
        fputs("(($+functions[", stdout);
        put_function(c->program);
        fputs("])) && ", stdout);
        put_function(c->program);
        puts(" ;;");
        return;
    }
    printf("    %s)\n        words=(\"${(@)words[2,-1]}\")\n        ((CURRENT--))\n        _arguments -s", c->name);
    for (const struct option_row *r = c->options; r->name; r++) {
        if (r->letter)
            zsh_name(r, true);
        zsh_name(r, false);
    }
    fputs(" \\\n            '(-h --help)'{-h,--help}'[show help]'", stdout);
    puts(c->max_words > 0 ? " \\\n            '*:file:_files' ;;" : " ;;");
}

/* As a file in $fpath the script is the function's first call; else it only says which function there is. */
static void print_zsh(const struct program *program)
{
    printf("#compdef %s\n# zsh completion; made by %s --completion zsh\n", program->name, program->name);
    put_function(program->name);
    puts("()\n{\n    local -a commands others\n    commands=(");
    for (const struct command *c = program->commands; c->name; c++) {
        printf("        '%s:", c->name);
        put_quoted(c->purpose, ":\\");
        puts("'");
    }
    puts("    )\n    others=(help --help --version --manual --completion)\n"
         "    if ((CURRENT == 2)); then\n"
         "        _describe -t commands command commands -- others\n"
         "        return\n    fi\n    case $words[2] in\n"
         "    help) ((CURRENT > 3)) || _describe command commands ;;\n"
         "    --completion) compadd bash zsh fish ;;");
    for (const struct command *c = program->commands; c->name; c++)
        zsh_command(c);
    printf("    esac\n}\nif [[ $funcstack[1] == _%s ]]; then\n    ", program->name);
    put_function(program->name);
    puts(" \"$@\"\nelif (($+functions[compdef])); then");
    fputs("    compdef ", stdout);
    put_function(program->name);
    printf(" %s\nfi\n", program->name);
}

/* ---- fish ----
 * A line for each thing that may follow, with a condition: the functions FUNCTION_first, no command yet, and
 * FUNCTION_in COMMAND... */

/* "complete" with the condition that the command is this one; NULL: no command yet. */
static void fish_line(const struct program *program, const char *command)
{
    printf("complete -c %s -n '", program->name);
    put_function(program->name);
    if (command)
        printf("_in %s'", command);
    else
        fputs("_first'", stdout);
}

static void fish_help(const char *text)
{
    fputs(" -d '", stdout);
    put_quoted(text, "\\");
    puts("'");
}

static void fish_option(const struct program *program, const struct command *c, const struct option_row *r)
{
    fish_line(program, c->name);
    printf(" -l %s", r->name);
    if (r->letter)
        printf(" -s %c", r->letter);
    if (r->value)
        fputs(r->path ? " -rF" : " -x", stdout);
    if (r->value && words_of(r)) {
        fputs(" -a '", stdout);
        put_words(words_of(r));
        putchar('\'');
    }
    fish_help(r->help);
}

/* What the other program's completion offers for the words after its name. */
static void fish_program(const struct program *program, const struct command *c)
{
    fputs("function ", stdout);
    put_function(program->name);
    printf("_%s\n    functions -q ", c->name);
    put_function(c->program);
    printf("_first; or begin; type -q %s; and %s %s --completion fish 2>/dev/null | source; end\n", program->name,
           program->name, c->name);
    printf("    complete -C \"%s \"(commandline -cp | string replace -r '^.*?\\b%s +' '')\nend\n", c->program, c->name);
    fish_line(program, c->name);
    fputs(" -a '(", stdout);
    put_function(program->name);
    printf("_%s)'\n", c->name);
}

static void fish_command(const struct program *program, const struct command *c)
{
    fish_line(program, NULL);
    printf(" -a %s", c->name);
    fish_help(c->purpose);
    fish_line(program, "help");
    printf(" -a %s", c->name);
    fish_help(c->purpose);
    if (c->program || c->max_words == 0) {
        fish_line(program, c->name);
        puts(" -f");
    }
    if (c->program)
        fish_program(program, c);
    for (const struct option_row *r = c->options; r->name; r++)
        fish_option(program, c, r);
    fish_line(program, c->name);
    puts(" -l help -s h -d 'show this text'");
}

static void print_fish(const struct program *program)
{
    printf("# fish completion; made by %s --completion fish\nfunction ", program->name);
    put_function(program->name);
    puts("_first\n    test (count (commandline -opc)) -eq 1\nend");
    fputs("function ", stdout);
    put_function(program->name);
    puts("_in\n    set -l words (commandline -opc)\n    test (count $words) -gt 1; and test $words[2] = $argv[1]\nend");
    fish_line(program, NULL);
    puts(" -f -a 'help --help --version --manual --completion'");
    fish_line(program, "--completion");
    puts(" -f -a 'bash zsh fish'");
    fish_line(program, "help");
    puts(" -f");
    for (const struct command *c = program->commands; c->name; c++)
        fish_command(program, c);
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
