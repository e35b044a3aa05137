/*
 * cmd_show.c: `leat show`: what the model sees, of a sample or a step of a plan, of a document or tokens of a dataset,
 * or of a text by several tokenizers. What was asked for becomes rows (show_asked.c), and these are given in one of the
 * forms of show.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cli/plan_options.h"
#include "cli/units.h"
#include "show.h"

#define TITLE      512 /* of a page */
#define TITLE_NAME 256 /* of what it is of */

struct show_values {
    struct plan_options plan; /* first: its rows count from here */
    uint64_t sample, step;    /* LEAT_NONE: not given */
    uint64_t rank, world;     /* the same */
    uint64_t document;        /* the same */
    const char *batch, *rows, *tokens, *html, *pattern;
    struct option_list tokenizers;
    bool mask_first, colour, no_colour, json;
};

const struct option_row show_options[] = {
    PLAN_OPTION_ROWS,
    PLAN_OPTION_SAMPLES,
    { .name = "sample",
      .type = OPTION_COUNT,
      .field = offsetof(struct show_values, sample),
      .value = "N",
      .help = "sample N of the plan",
      .max = LEAT_MAX_SAMPLES - 1 },
    { .name = "step",
      .type = OPTION_COUNT,
      .field = offsetof(struct show_values, step),
      .value = "N",
      .help = "global batch N of the plan (counted from 0); needs --batch",
      .max = LEAT_MAX_SAMPLES - 1 },
    { .name = "batch",
      .type = OPTION_TEXT,
      .field = offsetof(struct show_values, batch),
      .value = "B[,B@STEP...]",
      .help = "rows of a global batch; if it changed, with the step of each change: 256,512@10000" },
    { .name = "rank",
      .type = OPTION_COUNT,
      .field = offsetof(struct show_values, rank),
      .value = "R",
      .help = "only this rank's rows (needs --world)",
      .max = LEAT_MAX_SAMPLES },
    { .name = "world",
      .type = OPTION_COUNT,
      .field = offsetof(struct show_values, world),
      .value = "W",
      .help = "number of ranks; divides the batch",
      .min = 1,
      .max = LEAT_MAX_SAMPLES },
    { .name = "row",
      .type = OPTION_TEXT,
      .field = offsetof(struct show_values, rows),
      .value = "N[:M]",
      .help = "only row N, or rows N to M - 1, of the batch, or of the rank's part of it" },
    { .name = "mask-first",
      .type = OPTION_FLAG,
      .field = offsetof(struct show_values, mask_first),
      .help = "no loss for a document's first token as a label, as a loader with mask_first has it" },
    { .name = "document",
      .type = OPTION_COUNT,
      .field = offsetof(struct show_values, document),
      .value = "N",
      .help = "document N of the dataset NAME",
      .max = LEAT_NONE - 1 },
    { .name = "tokens",
      .type = OPTION_TEXT,
      .field = offsetof(struct show_values, tokens),
      .value = "A:B",
      .help = "tokens A to B - 1 of the dataset NAME" },
    { .name = "tokenizer",
      .letter = 't',
      .type = OPTION_LIST,
      .field = offsetof(struct show_values, tokenizers),
      .value = "SPEC",
      .help = "names tokens by this tokenizer, as for leat pack, instead of the stored one; or cuts a text with it: "
              "give it once per tokenizer to compare",
      .offered = commands_tokenizers,
      .path = true },
    COMMANDS_PATTERN(struct show_values),
    { .name = "html",
      .type = OPTION_TEXT,
      .field = offsetof(struct show_values, html),
      .value = "FILE",
      .help = "write one page for a browser, without script, to FILE (- is standard output)",
      .path = true },
    { .name = "color",
      .type = OPTION_FLAG,
      .field = offsetof(struct show_values, colour),
      .help = "shades instead of marks also where the output is no terminal, as for less -R" },
    { .name = "no-color",
      .type = OPTION_FLAG,
      .field = offsetof(struct show_values, no_colour),
      .help = "marks instead of shades on a terminal, too; so do the variable NO_COLOR and TERM=dumb" },
    OPTIONS_JSON(struct show_values, "print one JSON object per row"),
    OPTIONS_END
};

/* ---- Samples ---- */

static const char *given_tokenizer(const struct show_values *v)
{
    return v->tokenizers.count > 0 ? v->tokenizers.items[0] : NULL;
}

/* The batch that was asked for; an exit code, after a message, where there is none. */
static int find_batch(const struct command *self, const struct leat_plan *plan, const struct show_values *v,
                      struct show_batch *b)
{
    uint64_t end;
    uint32_t skipped;
    const char *why;

    *b = (struct show_batch) { .batch = 1, .world = 1, .end = LEAT_NONE, .mask_first = v->mask_first };
    b->tokenizer = given_tokenizer(v);
    b->pattern = v->pattern;
    if (v->rows && !units_parse_range(v->rows, &b->first, &b->end, NULL, &why))
        return command_wrong(self, "--row: \"%.100s\" %s", v->rows, why);
    if (v->sample != LEAT_NONE) {
        b->position = leat_plan_position(plan, v->sample, &skipped);
        if (skipped)
            cli_error("sample %" PRIu64 " is skipped by the plan", v->sample);
        return skipped ? CLI_FAILED : CLI_DONE;
    }
    if (!plan_steps_find(self, v->batch, v->step, &b->position, &end))
        return CLI_WRONG;
    b->batch = end - b->position;
    if (v->rank != LEAT_NONE) {
        b->rank = v->rank;
        b->world = v->world;
    }
    return CLI_DONE;
}

static enum leat_status end_rows(struct show_out *o, enum leat_status s, struct leat_error *err)
{
    struct leat_error other;
    enum leat_status closed = o->form->end(o, s != LEAT_OK, &other);

    if (s == LEAT_OK && closed != LEAT_OK)
        *err = other;
    return s != LEAT_OK ? s : closed;
}

/* What a page is of. A plan of several sources is named by its first. */
static enum leat_status title_samples(const struct leat_plan *plan, const struct show_values *v, char *title,
                                      size_t room, struct leat_error *err)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    enum leat_status s = leat_plan_source_info(plan, 0, &source, err);
    char more[48] = "", batch[64] = "", length[48] = "";

    if (s != LEAT_OK)
        return s;
    leat_plan_info(plan, &info);
    if (info.sources > 1 && !v->plan.plan)
        snprintf(more, sizeof more, " and %" PRIu64 " more", info.sources - 1);
    if (info.phases == 1)
        snprintf(length, sizeof length, "%" PRIu64 " tokens per row, ", info.seq_len);
    if (v->step != LEAT_NONE)
        snprintf(batch, sizeof batch, ", batch %.50s", v->batch);
    snprintf(title, room, "%s %" PRIu64 " of %.*s%s: %sseed %" PRIu64 "%s", v->sample != LEAT_NONE ? "Sample" : "Step",
             (v->sample != LEAT_NONE ? v->sample : v->step), TITLE_NAME, v->plan.plan ? v->plan.plan : source.name,
             more, length, info.seed, batch);
    return LEAT_OK;
}

static int show_samples(const struct command *self, struct show_out *o, const struct show_values *v)
{
    struct leat_plan *plan = NULL;
    struct show_batch b;
    struct leat_error err;
    enum leat_status s;
    char title[TITLE];
    int code;

    if (!plan_options_open(self, &v->plan, &plan, &code))
        return code;
    code = find_batch(self, plan, v, &b);
    if (code == CLI_DONE) {
        s = title_samples(plan, v, title, sizeof title, &err);
        if (s == LEAT_OK)
            s = o->form->begin(o, title, &err);
        if (s == LEAT_OK)
            s = end_rows(o, show_batch(o, plan, &b, &err), &err);
        code = s == LEAT_OK ? CLI_DONE : cli_failed_or_damaged(&err);
    }
    leat_plan_close(plan);
    return code;
}

/* ---- A dataset ---- */

/* The tokens that were asked for. */
static enum leat_status find_tokens(const struct leat_dataset *d, const struct show_values *v, uint64_t *first,
                                    uint64_t *end, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t count;
    enum leat_status s;

    leat_dataset_info(d, &info);
    if (v->document != LEAT_NONE) {
        s = leat_dataset_document(d, v->document, first, &count, err);
        *end = s == LEAT_OK ? *first + count : 0;
        return s;
    }
    *end = *end == LEAT_NONE ? info.tokens : *end;
    if (*first <= *end && *end <= info.tokens)
        return LEAT_OK;
    return status_set(err, LEAT_E_RANGE, "the dataset has %" PRIu64 " tokens, numbered from 0: %s reaches past the end",
                      info.tokens, v->tokens);
}

static int show_dataset(const struct command *self, struct show_out *o, const struct show_values *v, const char *name)
{
    struct show_words words = { .tokenizer = NULL };
    struct leat_dataset *d = NULL;
    uint64_t first = 0, end = 0;
    char title[TITLE];
    struct leat_error err;
    enum leat_status s;
    const char *why;

    if (v->tokens && !units_parse_range(v->tokens, &first, &end, NULL, &why))
        return command_wrong(self, "--tokens: \"%.100s\" %s", v->tokens, why);
    s = leat_dataset_open(&d, name, NULL, &err);
    if (s == LEAT_OK)
        s = show_words_open(&words, d, given_tokenizer(v), v->pattern, &err);
    if (s == LEAT_OK)
        s = find_tokens(d, v, &first, &end, &err);
    if (v->document != LEAT_NONE)
        snprintf(title, sizeof title, "Document %" PRIu64 " of %.*s", v->document, TITLE_NAME, name);
    else
        snprintf(title, sizeof title, "Tokens %.50s of %.*s", v->tokens, TITLE_NAME, name);
    if (s == LEAT_OK)
        s = o->form->begin(o, title, &err);
    if (s == LEAT_OK)
        s = end_rows(o, show_places(o, d, &words, name, first, end, &err), &err);
    show_words_close(&words);
    leat_dataset_close(d);
    return s == LEAT_OK ? CLI_DONE : cli_failed_or_damaged(&err);
}

/* ---- The command ---- */

/* Says what is wrong with options that do not go together. */
static bool check_values(const struct command *self, const struct show_values *v, size_t words)
{
    bool of_plan = v->sample != LEAT_NONE || v->step != LEAT_NONE;
    bool of_dataset = v->document != LEAT_NONE || v->tokens;

    if ((v->sample != LEAT_NONE) + (v->step != LEAT_NONE) + (v->document != LEAT_NONE) + (v->tokens != NULL) > 1)
        command_wrong(self, "only one of --sample, --step, --document and --tokens can be given");
    else if (!of_plan && !of_dataset && v->tokenizers.count == 0)
        command_wrong(self, "say what to show: --sample or --step (of a plan), --document or --tokens (of NAME), or "
                            "--tokenizer (of a text)");
    else if (of_plan && words > 0)
        command_wrong(self, "--sample and --step take the plan's sources from --source or --plan, not from NAME");
    else if (of_dataset && words == 0)
        command_wrong(self, "--document and --tokens need the NAME of a dataset");
    else if ((of_plan || of_dataset) && v->tokenizers.count > 1)
        command_wrong(self, "several tokenizers are compared on a text only");
    else if (v->pattern && v->tokenizers.count == 0)
        command_wrong(self, "--pattern needs --tokenizer: it applies only to the file that --tokenizer names");
    else if (v->step != LEAT_NONE && !v->batch)
        command_wrong(self, "--step needs --batch");
    else if ((v->rank == LEAT_NONE) != (v->world == LEAT_NONE))
        command_wrong(self, "--rank and --world need each other: --%s is missing",
                      v->rank == LEAT_NONE ? "rank" : "world");
    else if (v->step == LEAT_NONE && (v->rank != LEAT_NONE || v->rows || v->batch))
        command_wrong(self, "--batch, --rank, --world and --row need --step");
    else if ((v->mask_first || plan_options_given(&v->plan)) && !of_plan)
        command_wrong(self, "--%s needs --sample or --step: it applies to rows of a plan",
                      v->mask_first ? "mask-first" : plan_options_given(&v->plan));
    else if (v->json && v->html)
        command_wrong(self, "--json and --html cannot be combined");
    else
        return true;
    return false;
}

static int show(const struct command *self, const struct show_values *v, const struct options_parsed *parsed)
{
    struct show_out o = { .form = v->json ? &show_as_json : v->html ? &show_as_page : &show_as_text, .path = v->html };
    const char *none = getenv("NO_COLOR"), *kind = getenv("TERM");
    bool plain = v->no_colour || (none && none[0]) || (kind && strcmp(kind, "dumb") == 0);

    o.colour = v->colour || (cli_stdout_is_terminal() && !plain);
    if (v->sample != LEAT_NONE || v->step != LEAT_NONE)
        return show_samples(self, &o, v);
    if (v->document != LEAT_NONE || v->tokens)
        return show_dataset(self, &o, v, parsed->words[0]);
    o.beside = true;
    o.column_room = v->tokenizers.count;
    o.column_places = show_columns_places(o.column_room);
    if (o.form == &show_as_text && o.column_places > 0)
        o.form = &show_as_columns;
    return show_texts(&o, self, &v->tokenizers, v->pattern, parsed->count > 0 ? parsed->words[0] : "-");
}

int cmd_show(const struct command *self, int argc, char **argv)
{
    struct show_values v = { .plan = PLAN_OPTIONS_INIT,
                             .sample = LEAT_NONE,
                             .step = LEAT_NONE,
                             .rank = LEAT_NONE,
                             .world = LEAT_NONE,
                             .document = LEAT_NONE };
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code)) {
        plan_options_free(&v.plan);
        option_list_free(&v.tokenizers);
        return code;
    }
    code = check_values(self, &v, parsed.count) ? cli_finish_stdout(show(self, &v, &parsed)) : CLI_WRONG;
    plan_options_free(&v.plan);
    option_list_free(&v.tokenizers);
    options_free(&parsed);
    return code;
}
