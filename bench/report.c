/* report.c: `leat-bench report`: starts Python with report.py, which the assembler puts into the program, so that it
 * runs wherever a python3 is. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/own_python.h"
#include "pages/page.h"
#include "subcommands.h"

/* As in builtin.c, the path is relative to the folder that make runs in, and a NUL ends the text. */
__asm__(".pushsection .rodata\n"
        ".globl report_py\n"
        ".hidden report_py\n"
        "report_py:\n"
        ".incbin \"bench/report.py\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char report_py[];

struct report_values {
    const char *output;
};

const struct option_row bench_report_options[] = {
    { BENCH_OPTION(report_values, "output", OPTION_TEXT, output, "FILE.html",
                   "the page to write (- is standard output)"),
      .letter = 'o', .required = true, .path = true },
    OPTIONS_END,
};

int bench_report(const struct command *self, int argc, char **argv)
{
    struct report_values v = { .output = NULL };
    struct options_parsed parsed;
    char *python, **words;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    python = own_python_name();
    words = calloc(parsed.count + 3, sizeof *words);
    if (python && words) {
        words[0] = (char *)(uintptr_t)page_common_style();
        words[1] = (char *)(uintptr_t)v.output;
        for (size_t i = 0; i < parsed.count; i++)
            words[2 + i] = (char *)(uintptr_t)parsed.words[i];
        own_python_become_code(python, report_py, words);
    }
    cli_error("cannot start %s, which makes the page: %s; install Python, or name an interpreter in LEAT_PYTHON",
              python ? python : "python3", strerror(errno));
    free(words);
    free(python);
    options_free(&parsed);
    return CLI_FAILED;
}
