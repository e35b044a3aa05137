/* compare.c: `leat-bench compare`: reads the options, and becomes the module of leat's Python package that encodes a
 * text with leat and with other libraries. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/own_python.h"
#include "commands/common/common.h"
#include "subcommands.h"

struct compare_values {
    const char *tokenizer, *pattern, *field, *with;
    uint64_t size, runs;
    bool json;
};

const struct option_row bench_compare_options[] = {
    COMMANDS_TOKENIZER(struct compare_values, "the tokenizer, as leat encode takes it", .required = true),
    COMMANDS_PATTERN(struct compare_values),
    BENCH_FIELD(compare_values),
    { BENCH_OPTION(compare_values, "with", OPTION_TEXT, with, "NAME,...",
                   "only these: gigatoken, tiktoken, tokenizers, sentencepiece; usually all that are installed") },
    { BENCH_OPTION(compare_values, "size", OPTION_SIZE, size, "SIZE", "encode the first documents, of this size"),
      .standard = "20MB", .min = 1, .max = (uint64_t)4 << 30 },
    BENCH_RUNS(compare_values, "3", "runs of each library, of which the median counts"),
    BENCH_JSON(compare_values),
    OPTIONS_END
};

int bench_compare(const struct command *self, int argc, char **argv)
{
    struct compare_values v = { .field = "text", .size = 20000000, .runs = 3 };
    char why[1024], size[24], runs[24], *python;
    struct options_parsed parsed;
    const char **words;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    python = own_python_find("leat-bench compare", why, sizeof why);
    words = calloc(parsed.count + 8, sizeof *words);
    snprintf(size, sizeof size, "%" PRIu64, v.size);
    snprintf(runs, sizeof runs, "%" PRIu64, v.runs);
    if (python && words) {
        const char *options[] = { v.tokenizer, v.pattern ? v.pattern : "", v.with ? v.with : "", v.field, size,
                                  runs,        v.json ? "json" : "" };

        memcpy(words, options, sizeof options);
        memcpy(words + 7, parsed.words, parsed.count * sizeof *words);
        own_python_become(python, "leat.compare_command", (char *const *)(uintptr_t)words);
        snprintf(why, sizeof why, "cannot run %s: %s", python, strerror(errno));
    }
    code = python ? CLI_FAILED : CLI_WRONG;
    cli_error("%s", words ? why : "out of memory");
    free(words);
    free(python);
    options_free(&parsed);
    return code;
}
