/*
 * completion.c: prints the scripts by which bash and zsh complete a program's command lines. The first word is a
 * command. After an option they offer its values (words, a path, or nothing if they are unknown); otherwise that
 * command's options, and paths if it takes words. If a command passes its words to another program, they ask that
 * program's own script.
 *
 * The script is a function. A shell's own beginning sets `word`, `previous`, `command` and `at`, the number of the
 * word; the common part sets `offer`, the words that are offered, and `paths` if the names of files are; the shell's
 * own end offers them.
 */
#include <stdio.h>
#include <string.h>

#include "command.h"

/* Returns the words that a value may be; NULL if they cannot be known. */
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

/* Prints the name of a shell function: that of leat-bench is _leat_bench. */
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
        fputs(" offer='", stdout);
        put_words(words_of(r));
        putchar('\'');
    }
    puts(r->path ? " paths=1 ;;" : " ;;");
}

/* Offers options if the word begins with a dash, or nothing else can be meant. */
static void put_options(const struct command *c)
{
    printf("    %s)\n        case $previous in\n", c->name);
    for (const struct option_row *r = c->options; r->name; r++)
        put_value(r);
    if (options_have_rare(c->options))
        puts("        --help|-h) offer=all ;;");
    printf("        *)%s\n            case $word in %s) paths= offer='", c->max_words > 0 ? " paths=1" : "",
           c->max_words > 0 ? "-*" : "*");
    for (const struct option_row *r = c->options; r->name; r++)
        printf("--%s ", r->name);
    puts("--help' ;; esac ;;\n        esac ;;");
}

/* The parts of the script that a shell has for itself; @F stands for the function and @P for the program. */
static const struct shell {
    const char *name, *begin, *hand_over, *end;
} shells[] = {
    /* bash splits `--option=value` into three words. `compopt` exists in readline only: it quotes and adds slashes,
     * and, if no word is known, completes paths by itself, since it knows about quotes and ~. */
    { "bash",
      "# bash completion of @P; made by @P --completion bash\n"
      "@F()\n{\n"
      "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
      "    local command=${COMP_WORDS[1]} at=$COMP_CWORD offer= paths=\n"
      "    if [ \"$word\" = = ]; then\n        word=\n"
      "    elif [ \"$previous\" = = ]; then\n        previous=${COMP_WORDS[COMP_CWORD-2]}\n    fi\n",
      "        declare -F @F >/dev/null ||\n"
      "            eval \"$(\"${COMP_WORDS[0]/#~/$HOME}\" \"$command\" --completion bash 2>/dev/null)\"\n"
      "        declare -F @F >/dev/null || return\n"
      "        COMP_WORDS=(@P \"${COMP_WORDS[@]:2}\")\n        COMP_CWORD=$((COMP_CWORD - 1))\n",
      "    COMPREPLY=($(compgen -W \"$offer\" -- \"$word\"))\n"
      "    if [ -n \"$paths\" ] && [ ${#COMPREPLY[@]} -eq 0 ]; then\n"
      "        compopt -o default 2>/dev/null\n"
      "    elif [ -n \"$paths\" ]; then\n"
      "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$word\")\n"
      "        compopt -o filenames 2>/dev/null\n"
      "    fi\n}\ncomplete -F @F @P\n" },
    /* If zsh loads the file from a folder of its own, the file is the function itself; otherwise it is read as a
     * whole. */
    { "zsh",
      "#compdef @P\n# zsh completion of @P; made by @P --completion zsh, to be read after compinit\n"
      "@F()\n{\n"
      "    local word=${words[CURRENT]} previous=${words[CURRENT-1]} command=${words[2]} at=$((CURRENT - 1))\n"
      "    local offer= paths= ret=1\n"
      "    if [[ $word == --*=* ]] && compset -P 1 '*='; then\n"
      "        previous=${word%%=*} word=${word#*=}\n    fi\n",
      "        (( $+functions[@F] )) || eval \"$(${(Q)~words[1]} $command --completion zsh 2>/dev/null)\"\n"
      "        (( $+functions[@F] )) || return\n"
      "        shift words\n        (( CURRENT-- ))\n",
      "    [[ -n $offer ]] && compadd -- ${=offer} && ret=0\n"
      "    [[ -n $paths ]] && _files && ret=0\n"
      "    return ret\n}\n"
      "if [[ ${funcstack[1]} = @F ]]; then\n    @F\nelse\n    compdef @F @P\nfi\n" },
};

static void put_part(const char *text, const char *program)
{
    for (; *text; text++)
        if (strncmp(text, "@F", 2) == 0) {
            put_function(program);
            text++;
        } else if (strncmp(text, "@P", 2) == 0) {
            fputs(program, stdout);
            text++;
        } else {
            putchar(*text);
        }
}

static void put_program(const struct shell *shell, const struct command *c)
{
    printf("    %s)\n", c->name);
    put_part(shell->hand_over, c->program);
    put_part("        @F\n        return ;;\n", c->program);
}

static void put_body(const struct shell *shell, const struct program *program)
{
    fputs("    case $((at > 1))$command in\n    0*) offer='", stdout);
    put_commands(program);
    fputs(" help --help --version --manual --completion' ;;\n    1help|1--manual) [ \"$at\" -gt 2 ] || offer='",
          stdout);
    put_commands(program);
    fputs("' ;;\n    1--completion) offer='", stdout);
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        printf("%s ", shells[i].name);
    puts("' ;;\n    esac\n    [ \"$at\" -le 1 ] || case $command in");
    for (const struct command *c = program->commands; c->name; c++)
        if (c->program)
            put_program(shell, c);
        else
            put_options(c);
    puts("    esac");
}

bool completion_print(const struct program *program, const char *shell)
{
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, shell) == 0) {
            put_part(shells[i].begin, program->name);
            put_body(&shells[i], program);
            put_part(shells[i].end, program->name);
            return true;
        }
    return false;
}
