/* pack_again.c: see pack_again.h. */
#include "pack_again.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* How many words, from `word` on, the new command has not: --force, and what its own options are in place of. */
static int left_out(char *const *word, const char *options, bool force)
{
    static const char *const names[] = { "--resume", "--allow-truncated", "--max-rejects" };

    if (strcmp(*word, "--force") == 0)
        return !force;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t bytes = strlen(names[i]);
        bool has_value = i == 2, same = strncmp(*word, names[i], bytes) == 0;

        if (same && (!(*word)[bytes] || (has_value && (*word)[bytes] == '=')) && strstr(options, names[i]))
            return has_value && !(*word)[bytes] ? 2 : 1;
    }
    return 0;
}

void pack_again(const struct pack_values *v, const char *options, bool force, char text[PACK_AGAIN])
{
    size_t used = (size_t)snprintf(text, PACK_AGAIN, ": leat pack%s", options);
    bool only_words = false;

    if (v->argc == 0) /* another program's */
        text[0] = '\0';
    for (int i = 1, out; i<v->argc; i += out> 0 ? out : 1) {
        char room[PACK_AGAIN];
        const char *word = cli_shell_word(v->argv[i], room, sizeof room);

        only_words = only_words || strcmp(v->argv[i], "--") == 0;
        out = only_words ? 0 : left_out(v->argv + i, options, force);
        if (strcmp(v->argv[i], "-") == 0 || used + strlen(word) + 2 > PACK_AGAIN) {
            text[0] = '\0';
            return;
        }
        if (out == 0)
            used += (size_t)snprintf(text + used, PACK_AGAIN - used, " %s", word);
    }
}
