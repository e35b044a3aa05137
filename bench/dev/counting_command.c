/* counting_command.c: `leat-bench-dev counting`: writes a dataset of counting tokens; see counting.h. */
#include <stdio.h>

#include "bench/data/counting.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "dev_commands.h"

struct counting_values {
    const char *output;
    uint64_t tokens, length;
    unsigned width; /* position in `widths` */
    bool force, json;
};

static const char *const widths[] = { "2", "4", NULL };

const struct option_row counting_options[] = { { .name = "output",
                                                 .letter = 'o',
                                                 .type = OPTION_TEXT,
                                                 .field = offsetof(struct counting_values, output),
                                                 .value = "NAME",
                                                 .help = "the dataset to write",
                                                 .path = true,
                                                 .required = true },
                                               { .name = "tokens",
                                                 .type = OPTION_COUNT,
                                                 .field = offsetof(struct counting_values, tokens),
                                                 .value = "N",
                                                 .help = "how many tokens",
                                                 .required = true },
                                               { .name = "width",
                                                 .type = OPTION_CHOICE,
                                                 .field = offsetof(struct counting_values, width),
                                                 .value = "2|4",
                                                 .standard = "2",
                                                 .help = "bytes per token",
                                                 .choices = widths },
                                               { .name = "document-length",
                                                 .type = OPTION_COUNT,
                                                 .field = offsetof(struct counting_values, length),
                                                 .value = "MEAN",
                                                 .standard = "500",
                                                 .help = "mean length of the documents, in tokens",
                                                 .min = 1,
                                                 .max = (uint64_t)1 << 40 },
                                               { .name = "force",
                                                 .type = OPTION_FLAG,
                                                 .field = offsetof(struct counting_values, force),
                                                 .help = "replace an existing NAME" },
                                               OPTIONS_JSON(struct counting_values,
                                                            "print the summary as one JSON object"),
                                               OPTIONS_END };

static uint32_t on_progress(void *context, uint64_t done, uint64_t total)
{
    progress_update(context, done, total, NULL);
    return cli_interrupted();
}

static void print_summary(const struct counting_values *v, const struct leat_info *info, double seconds)
{
    struct json j;

    if (!v->json) {
        cli_say("%s: %s tokens of %u bytes in %s documents, %s (%s).", v->output, units_count(info->tokens).text,
                info->token_width, units_count(info->documents).text, units_duration(seconds).text,
                units_rate(seconds > 0 ? (double)info->token_bytes / seconds : 0, "B").text);
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", v->output);
    json_u64(&j, "tokens", info->tokens);
    json_u64(&j, "documents", info->documents);
    json_u64(&j, "width", info->token_width);
    json_u64(&j, "token_bytes", info->token_bytes);
    json_u64(&j, "index_bytes", info->index_bytes);
    json_double(&j, "seconds", seconds);
    json_close_object(&j);
    json_end(&j);
}

int bench_counting(const struct command *self, int argc, char **argv)
{
    struct counting_values v = { .length = 500 };
    struct counting_options options = COUNTING_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct options_parsed parsed;
    struct progress progress;
    struct leat_error err;
    enum leat_status s;
    double began;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    options.tokens = v.tokens;
    options.width = v.width == 0 ? 2 : 4;
    options.document_length = v.length;
    options.replace = v.force;
    options.progress = on_progress;
    options.context = &progress;
    cli_catch_interrupts();
    began = cli_now();
    progress_begin(&progress, PROGRESS_AUTO, "counting", PROGRESS_COUNT);
    s = counting_write(v.output, &options, &info, &err);
    progress_end(&progress);
    if (s == LEAT_OK)
        print_summary(&v, &info, cli_now() - began);
    code = cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed(&err));
    options_free(&parsed);
    return code;
}
