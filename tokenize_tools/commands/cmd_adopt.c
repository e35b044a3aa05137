/* cmd_adopt.c: `leat adopt`: makes an index beside the tokens of another tool. leat_adopt() does the work. */
#include <stdio.h>

#include "base/json.h"
#include "cli/cache_options.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"

#define INDEX_BYTES 4200u /* room for a path, and .leat */

struct adopt_values {
    const char *output, *tokenizer, *pattern, *end;
    unsigned progress;
    bool force, json;
};

const struct option_row adopt_options[] = {
    COMMANDS_TOKENIZER(struct adopt_values,
                       "the tokenizer that the ids are of, as for leat pack; to store in the index"),
    COMMANDS_PATTERN(struct adopt_values),
    { .name = "end",
      .type = OPTION_TEXT,
      .field = offsetof(struct adopt_values, end),
      .value = "ID|TOKEN|none",
      .standard = "as NAME says",
      .help = "the token that ends each document",
      .more = "raw:, llmc: and pbin: find documents by it; for others, each document is checked." },
    { .name = "output",
      .letter = 'o',
      .type = OPTION_TEXT,
      .field = offsetof(struct adopt_values, output),
      .value = "OUT",
      .standard = "beside the tokens",
      .help = "the index to write: OUT.leat",
      .path = true },
    { .name = "force",
      .type = OPTION_FLAG,
      .field = offsetof(struct adopt_values, force),
      .help = "replace an existing index, once the new one is finished" },
    RETRY_OPTION_ROW,
    COMMANDS_PROGRESS(struct adopt_values),
    OPTIONS_JSON(struct adopt_values, "print the summary as one JSON object"),
    OPTIONS_END
};

static void print_summary(const struct adopt_values *values, const char *index, const struct leat_info *info,
                          double seconds)
{
    struct json j;

    if (!values->json) {
        cli_say("%s: %s in %s adopted in %s.", index, units_counted(info->tokens, "token").text,
                units_counted(info->documents, "document").text, units_duration(seconds).text);
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", index); /* the name that is used everywhere; the older name stays */
    json_string(&j, "index", index);
    json_u64(&j, "documents", info->documents);
    json_u64(&j, "tokens", info->tokens);
    json_u64(&j, "token_bytes", info->token_bytes);
    json_u64(&j, "index_bytes", info->index_bytes);
    json_string(&j, "identity", units_hex(info->identity, 16).text);
    json_double(&j, "seconds", seconds);
    json_close_object(&j);
    json_end(&j);
}

static int run(const struct adopt_values *values, const char *name, uint64_t end,
               const struct leat_tokenizer *tokenizer)
{
    struct leat_tokenizer_info facts = LEAT_TOKENIZER_INFO_INIT;
    struct leat_adopt_options options = LEAT_ADOPT_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_stored_tokenizer stored;
    char index[INDEX_BYTES];
    struct progress progress;
    double began = cli_now();
    struct leat_error err;
    enum leat_status s;

    if (!commands_created(&options.created))
        return CLI_WRONG;
    cli_catch_interrupts();
    progress_begin(&progress, (enum progress_mode)values->progress, "adopt", PROGRESS_BYTES);
    if (tokenizer) {
        leat_tokenizer_info(tokenizer, &facts);
        leat_tokenizer_stored(tokenizer, &stored);
        options.tokenizer = &stored;
        options.vocabulary = facts.vocabulary;
        options.fingerprint = facts.fingerprint;
    }
    options.output = values->output;
    options.end_token = end;
    options.index = index;
    options.index_capacity = sizeof index;
    options.force = values->force;
    options.progress = commands_on_progress;
    options.context = &progress;
    s = leat_adopt(name, &options, &info, &err);
    progress_end(&progress);
    if (s == LEAT_OK)
        print_summary(values, index, &info, cli_now() - began);
    return cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed_or_damaged(&err));
}

int cmd_adopt(const struct command *self, int argc, char **argv)
{
    struct adopt_values values = { 0 };
    struct leat_tokenizer *tokenizer = NULL;
    struct options_parsed parsed;
    uint64_t end = LEAT_NONE;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = values.tokenizer ? commands_tokenizer(self, &tokenizer, values.tokenizer, values.pattern) : CLI_DONE;
    if (code == CLI_DONE && values.end && !commands_token(self, tokenizer, "end", values.end, &end))
        code = CLI_WRONG;
    if (code == CLI_DONE)
        code = run(&values, parsed.words[0], end, tokenizer);
    leat_tokenizer_close(tokenizer);
    options_free(&parsed);
    return code;
}
