/*
 * pack_options.c: see pack_options.h.
 *
 * The table fills struct pack_values; then pack_options_take() opens the tokenizer and turns that into
 * leat_pack_options. This takes two steps because --end and --begin may name a token by its text, and the default of
 * --end is the tokenizer's. If the tokenizer names no end token, the command fails and lists candidates: a wrong guess
 * would be in every document. After a failed run, the advice depends on what it has left: a checkpoint, only rejects,
 * or nothing.
 */
#include "pack_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/units.h"
#include "commands.h"
#include "corpus/record_format.h"

static const char *const invalid_names[] = { "replace", "reject", NULL };

/* "0.5%" in millionths, exactly: at most four digits after the point. */
static bool parse_percent(const char *text, size_t length, uint64_t *ppm)
{
    uint64_t value = 0, unit = 10000;
    bool point = false, digits = false;

    for (size_t i = 0; i < length; i++) {
        char c = text[i];

        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9' || (point && unit == 1))
            return false;
        digits = true;
        if (point)
            unit /= 10;
        value = point ? value + (uint64_t)(c - '0') * unit : value * 10 + (uint64_t)(c - '0') * 10000;
        if (value > 1000000)
            return false;
    }
    *ppm = value;
    return digits;
}

static bool parse_bound(void *field, const char *text, const char **why)
{
    struct pack_bound *bound = field;
    size_t length = strlen(text);

    *bound = (struct pack_bound) { LEAT_NONE, LEAT_NONE };
    if (length > 0 && text[length - 1] == '%') {
        *why = "is not a percentage from 0 to 100 with up to four digits after the point";
        return parse_percent(text, length - 1, &bound->ppm);
    }
    return units_parse(text, false, &bound->count, why);
}

static bool parse_part(void *field, const char *text, const char **why)
{
    struct pack_part *part = field;
    char *end;
    unsigned long i = strtoul(text, &end, 10), n = 0;

    *why = "is not I/N, the I-th of N parts, such as 1/8";
    if (end == text || *end != '/' || text[0] == '-' || text[0] == '+' || end[1] < '0' || end[1] > '9')
        return false;
    n = strtoul(end + 1, &end, 10);
    if (*end != '\0' || i < 1 || i > n || n > 1000000)
        return false;
    *part = (struct pack_part) { (unsigned)i, (unsigned)n };
    return true;
}

#define FIELD(name) offsetof(struct pack_values, name)

const struct option_row pack_options[] = {
    { .name = "output",
      .letter = 'o',
      .type = OPTION_TEXT,
      .field = FIELD(output),
      .value = "NAME",
      .help = "the dataset to write: NAME.tokens and NAME.leat",
      .path = true,
      .required = true },
    COMMANDS_TOKENIZER(struct pack_values, COMMANDS_TOKENIZER_HELP, .standard = "gpt2"),
    COMMANDS_PATTERN(struct pack_values),
    { .name = "format",
      .type = OPTION_CHOICE,
      .field = FIELD(format),
      .value = "auto|jsonl|text",
      .standard = "auto",
      .help = "the format of the inputs: JSON lines hold one document per line, a text is one document; auto goes by "
              "the name",
      .choices = record_format_names },
    { .name = "text",
      .type = OPTION_TEXT,
      .field = FIELD(text),
      .value = "FIELD",
      .standard = "text",
      .help = "the member of a JSON record that holds the text; dots lead into objects: meta.body" },
    { .name = "id",
      .type = OPTION_TEXT,
      .field = FIELD(id),
      .value = "FIELD",
      .standard = "id",
      .help = "the member that holds the document's id, a string or a number, if there is one; \"\" for none" },
    { .name = "end",
      .type = OPTION_TEXT,
      .field = FIELD(end),
      .value = "ID|TOKEN|none",
      .standard = "the tokenizer's",
      .help = "the token after each document" },
    { .name = "begin",
      .type = OPTION_TEXT,
      .field = FIELD(begin),
      .value = "ID|TOKEN|none",
      .standard = "none",
      .help = "the token before each document" },
    { .name = "special",
      .type = OPTION_FLAG,
      .field = FIELD(special),
      .help = "encode strings of special tokens in the text as these tokens; without it they are ordinary text and "
              "are counted" },
    { .name = "invalid-utf8",
      .type = OPTION_CHOICE,
      .field = FIELD(invalid),
      .value = "replace|reject",
      .standard = "replace",
      .help = "malformed UTF-8 becomes U+FFFD, as with Python's errors=\"replace\", or the record is rejected",
      .choices = invalid_names },
    { .name = "threads",
      .type = OPTION_COUNT,
      .field = FIELD(threads),
      .value = "N",
      .standard = "all cores",
      .help = "threads that read, encode and write",
      .min = 1,
      .max = 4096 },
    { .name = "memory",
      .type = OPTION_SIZE,
      .field = FIELD(memory),
      .value = "SIZE",
      .standard = "2GiB",
      .help = "limit on resident memory, for any input",
      .min = 1 },
    { .name = "shuffle",
      .type = OPTION_CUSTOM,
      .field = FIELD(shuffle),
      .value = "SEED",
      .standard = "in order",
      .help = ARRANGE_SHUFFLE_HELP,
      .parse = arrange_seed_parse },
    { .name = "dedup", .type = OPTION_FLAG, .field = FIELD(dedup), .help = ARRANGE_DEDUP_HELP },
    { .name = "split",
      .type = OPTION_CUSTOM,
      .field = FIELD(splits),
      .value = "NAME=FRACTION,...",
      .standard = "none",
      .help = ARRANGE_SPLIT_HELP,
      .parse = arrange_splits_parse },
    { .name = "max-rejects",
      .type = OPTION_CUSTOM,
      .field = FIELD(max_rejects),
      .value = "N|P%",
      .standard = "1%",
      .help = "records that cannot be packed go to NAME.rejects.jsonl; more of them than this ends the run with code 4",
      .parse = parse_bound },
    { .name = "allow-truncated",
      .type = OPTION_FLAG,
      .field = FIELD(allow_truncated),
      .help = "a compressed input that is cut off or broken is a warning, not a failure; what was readable is packed "
              "either way" },
    { .name = "skip-unknown",
      .type = OPTION_FLAG,
      .field = FIELD(skip_unknown),
      .help = "skip files of folders that may hold texts but cannot be read, such as Parquet; without it they are an "
              "error" },
    { .name = "allow-binary",
      .type = OPTION_FLAG,
      .field = FIELD(allow_binary),
      .help = "pack what does not look like UTF-8 text as text; without it such files are errors, and such texts are "
              "rejected" },
    { .name = "resume",
      .type = OPTION_FLAG,
      .field = FIELD(resume),
      .help = "continue a run that was stopped or killed: with the same arguments, the bytes are those of an unbroken "
              "run" },
    { .name = "part",
      .type = OPTION_CUSTOM,
      .field = FIELD(part),
      .value = "I/N",
      .help = "pack only the I-th of N shares of the inputs' bytes; `leat merge` joins all N into the bytes of one run",
      .parse = parse_part },
    { .name = "force",
      .type = OPTION_FLAG,
      .field = FIELD(force),
      .help = "replace an existing NAME, once the new one is finished" },
    COMMANDS_PROGRESS(struct pack_values),
    OPTIONS_JSON(struct pack_values, "print the summary as one JSON object"),
    OPTIONS_END,
};

void pack_values_free(struct pack_values *values)
{
    arrange_splits_free(&values->splits);
}

/* ---- Tokens ---- */

/* A token by its number, or as it is written; "none". False, after a message. */
static bool find_token(const struct command *self, const struct leat_tokenizer *t, const char *option, const char *text,
                       uint64_t *token)
{
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    struct leat_error err;
    const char *why;
    uint32_t id;

    *token = LEAT_NONE;
    if (strcmp(text, "none") == 0)
        return true;
    leat_tokenizer_info(t, &info);
    if (text[0] >= '0' && text[0] <= '9' && units_parse(text, false, token, &why)) {
        if (*token < info.vocabulary)
            return true;
        command_wrong(self, "--%s %s: the tokenizer's ids end at %llu", option, text,
                      (unsigned long long)info.vocabulary - 1);
        return false;
    }
    if (leat_tokenizer_find(t, text, strlen(text), &id, &err) != LEAT_OK) {
        command_wrong(self, "--%s: %s", option, err.message);
        return false;
    }
    *token = id;
    return true;
}

/* What the tokens that could be the end token are written like: " 0 <|endoftext|>". */
static void list_candidates(const struct leat_tokenizer *t, const struct leat_tokenizer_info *info, char *out,
                            size_t room)
{
    struct leat_encoder *e;
    size_t used = 0;

    out[0] = '\0';
    if (leat_encoder_open(&e, t, NULL, NULL) != LEAT_OK)
        return;
    for (uint64_t i = 0; i < info->candidate_count && i < LEAT_END_CANDIDATES; i++) {
        uint32_t id = (uint32_t)info->candidates[i];
        const char *text;
        uint64_t bytes;

        if (leat_encoder_decode(e, &id, 1, &text, &bytes, NULL) == LEAT_OK && used < room)
            used += (size_t)snprintf(out + used, room - used, "%s %u (%.40s)", i > 0 ? "," : "", id, text);
    }
    leat_encoder_close(e);
}

static bool find_end(const struct command *self, const struct pack_values *v, const struct leat_tokenizer *t,
                     uint64_t *end)
{
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    char candidates[512];

    if (v->end)
        return find_token(self, t, "end", v->end, end);
    leat_tokenizer_info(t, &info);
    *end = info.end_token;
    if (info.end_token != LEAT_NONE)
        return true;
    list_candidates(t, &info, candidates, sizeof candidates);
    if (candidates[0])
        command_wrong(self,
                      "%s does not say which token ends a document: use --end ID or --end none; it may be one of"
                      "%s",
                      v->tokenizer, candidates);
    else
        command_wrong(self, "%s does not say which token ends a document: use --end ID or --end none", v->tokenizer);
    return false;
}

int pack_options_take(const struct command *self, const struct pack_values *v, struct leat_tokenizer **t,
                      struct leat_pack_options *o)
{
    int code = commands_tokenizer(self, t, v->tokenizer, v->pattern);

    if (code != CLI_DONE)
        return code;
    *o = (struct leat_pack_options)LEAT_PACK_OPTIONS_INIT;
    o->tokenizer = *t;
    o->format = (enum leat_pack_format)v->format;
    o->text = v->text;
    o->id = v->id;
    o->special = v->special;
    o->reject_invalid = v->invalid == 1;
    o->threads = (unsigned)v->threads;
    o->memory = v->memory;
    o->max_rejects = v->max_rejects.count;
    o->max_rejects_ppm = v->max_rejects.ppm;
    o->part = v->part.part;
    o->parts = v->part.parts;
    o->shuffle = v->shuffle.given;
    o->seed = v->shuffle.value;
    o->dedup = v->dedup;
    o->splits = v->splits.items;
    o->split_count = v->splits.count;
    o->skip_unknown = v->skip_unknown;
    o->allow_binary = v->allow_binary;
    o->resume = v->resume;
    o->force = v->force;
    if (commands_created(&o->created) && find_end(self, v, *t, &o->end_token) &&
        find_token(self, *t, "begin", v->begin ? v->begin : "none", &o->begin_token))
        return CLI_DONE;
    leat_tokenizer_close(*t);
    *t = NULL;
    return CLI_WRONG;
}

/* ---- Ends and progress ---- */

void pack_options_say_damage(const struct pack_values *v, const struct leat_pack_report *report)
{
    bool one = report->damaged_inputs == 1;

    if (report->damaged_inputs > 0)
        cli_error("%s%s input%s cut off or broken, and packed as far as %s readable: %s%s",
                  v->allow_truncated ? "warning: " : "", units_count(report->damaged_inputs).text,
                  one ? " was" : "s were", one ? "it was" : "they were",
                  report->damage[0] ? report->damage : "named when this run was stopped",
                  v->allow_truncated ? "" : "; --allow-truncated counts that as success");
}

int pack_options_failed(const struct pack_values *v, const struct leat_pack_report *report,
                        const struct leat_error *err)
{
    int code = err->status == LEAT_E_REJECTS ? CLI_REJECTS : CLI_FAILED;

    if (err->status == LEAT_E_STOPPED && cli_interrupted()) {
        code = CLI_INTERRUPTED;
        cli_error("interrupted after %s in %s", units_counted(report->tokens, "token").text,
                  units_counted(report->documents, "document").text);
    } else if (err->status == LEAT_E_REJECTS) {
        cli_error("%s%s", err->message, cli_hint(err));
        pack_options_say_damage(v, report); /* of few records, the one at the break is too many by itself */
    } else {
        code = cli_failed(err);
    }
    if (report->resumable && err->status == LEAT_E_REJECTS && report->documents == 0)
        cli_error(
            "no record was packed: fix what the reason names (a record's text is in its \"%s\"; --text FIELD names "
            "another), and start over with --force",
            v->text);
    else if (report->resumable)
        cli_error("nothing is lost: the same command with --resume%s continues from there%s",
                  err->status == LEAT_E_REJECTS ? " and a larger --max-rejects" : "",
                  v->force ? "; --force alone starts over" : "");
    else if (err->status == LEAT_E_NO_SPACE)
        cli_error(
            "nothing of this run is kept, since it had no checkpoint yet: the same command starts over, also with "
            "--resume");
    return code;
}

static uint32_t on_progress(void *context, const struct leat_pack_progress *p)
{
    struct pack_bar *bar = context;
    double seconds = cli_now() - bar->began;
    char detail[160], rejects[64] = "";

    pack_notices_say_skipped(&bar->notices);
    if (!bar->started) { /* what a run that is resumed had done does not count for the rate */
        bar->started = true;
        bar->tokens_before = p->bytes_before > 0 ? p->tokens : 0;
        bar->text_before = p->bytes_before > 0 ? p->text_bytes : 0;
    }
    if (p->rejects > 0)
        snprintf(rejects, sizeof rejects, "  %s reject%s", units_count(p->rejects).text, p->rejects == 1 ? "" : "s");
    snprintf(detail, sizeof detail, "%s%s  %s",
             units_rate(seconds > 0 ? (double)(p->tokens - bar->tokens_before) / seconds : 0, "tokens").text, rejects,
             p->bound);
    progress_update(&bar->progress, p->bytes, p->total_bytes, detail);
    return cli_interrupted();
}

static void on_notice(void *context, const struct leat_pack_notice *notice)
{
    struct pack_bar *bar = context;

    pack_notices_add(&bar->notices, notice);
}

void pack_bar_begin(struct pack_bar *bar, const struct pack_values *v, struct leat_pack_options *o)
{
    cli_catch_interrupts();
    progress_begin(&bar->progress, (enum progress_mode)v->progress, "pack", PROGRESS_BYTES);
    bar->began = cli_now();
    bar->started = false;
    bar->notices = (struct pack_notices) { 0 };
    bar->tokens_before = bar->text_before = 0;
    o->progress = on_progress;
    o->notice = on_notice;
    o->context = bar;
}

void pack_bar_end(struct pack_bar *bar)
{
    progress_end(&bar->progress);
    pack_notices_say_skipped(&bar->notices);
}

void pack_bar_free(struct pack_bar *bar)
{
    pack_notices_free(&bar->notices);
}

uint64_t pack_bar_text(const struct pack_bar *bar, const struct leat_pack_report *r)
{
    return r->was_finished ? 0 : r->text_bytes - bar->text_before;
}
