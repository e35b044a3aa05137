/*
 * test_shell_word.c: words as a shell takes them: plain ones as they are, others in quotes, those that would not be
 * shown as they are with escapes, and those that need more room than there is left alone. `sh` and, where it is there,
 * bash read what is written as the word.
 */
#include <unistd.h>

#include "cli/cli.h"
#include "t.h"

static const struct {
    const char *word, *written;
} words[] = {
    { "", "''" },
    { "plain/NAME_0.9%+:,@=-", "plain/NAME_0.9%+:,@=-" },
    { "two words", "'two words'" },
    { "it's", "'it'\\''s'" },
    { "''", "''\\'''\\'''" },
    { "$HOME `x` \\ \"*?\"", "'$HOME `x` \\ \"*?\"'" },
    { "~", "'~'" },
    { "\xc3\xa4 is shown", "'\xc3\xa4 is shown'" },
    { "a\nline's \\end", "$'a\\x0aline\\'s \\\\end'" },
    { "\xff", "$'\\xff'" },
    { "\xe2\x80\xae", "$'\\xe2\\x80\\xae'" },
};

/* What the shell makes of it. */
static void check_read(const char *shell, const char *written, const char *word)
{
    char command[200], got[64] = "";
    FILE *out;

    snprintf(command, sizeof command, "exec %s 2>/dev/null <<'END'\nprintf %%s %s\nEND\n", shell, written);
    out = popen(command, "r");
    T_CHECK(out && fread(got, 1, sizeof got - 1, out) == strlen(word) && pclose(out) == 0);
    T_STR(got, word);
}

int main(void)
{
    bool bash = access("/bin/bash", X_OK) == 0;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *word = words[i].word, *written = words[i].written;
        size_t room = 4 * strlen(word) + 4;
        char out[128];

        memset(out, 'x', sizeof out);
        T_STR(cli_shell_word(word, out, room), written);
        for (size_t k = room; k < sizeof out; k++)
            T_EQ(out[k], 'x');
        if (written != word && strcmp(written, word) != 0)
            T_CHECK(cli_shell_word(word, out, room - 1) == word);
        if (written[0] != '$')
            check_read("/bin/sh", written, word);
        if (bash)
            check_read("/bin/bash", written, word);
    }
    return t_end();
}
