/*
 * plan_options.c: opens plans.
 *
 * The options become lines of a plan's text, so that there is one reader of plans, the library's; only numbers with
 * units are turned into digits here. With --plan the text is the file's, and the few options that may go with it are
 * added as lines. If the library refuses a line, its sentence begins with the line's key, which here becomes the
 * name of the option.
 */
#include "plan_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "leat_pack.h"
#include "units.h"

const char *const plan_option_balances[] = { "none", "attention", "lanes", NULL };

/* `make lint` compares these words with enum leat_order. */
const char *const plan_option_orders[] = { [LEAT_ORDER_SHUFFLED] = "shuffled",
                                           [LEAT_ORDER_SEQUENTIAL] = "sequential",
                                           [LEAT_ORDER_DOCUMENTS] = "documents",
                                           [LEAT_ORDER_DOCUMENTS_SEQUENTIAL] = "documents-sequential",
                                           [LEAT_ORDER_FIT] = "fit",
                                           [LEAT_ORDER_MEGATRON] = "megatron",
                                           NULL };

const char *const plan_option_stops[] = { [LEAT_STOP_ALL] = "all", [LEAT_STOP_FIRST] = "first", NULL };

/* ---- Lines from options ---- */

/* Returns true if a value can be part of a line; otherwise prints a message. */
static bool check_value(const struct command *c, const char *option, const char *value, int *code)
{
    if (!strchr(value, '\n') && value[0])
        return true;
    *code = command_wrong(
        c, value[0] ? "--%s: a plan's text cannot hold a value with a newline in it" : "--%s: the value is empty",
        option);
    return false;
}

static bool put_text(const struct command *c, FILE *out, const char *option, const char *value, int *code)
{
    if (!value)
        return true;
    if (!check_value(c, option, value, code))
        return false;
    fprintf(out, "%s %s\n", option, value);
    return true;
}

/* N:WEIGHTS[:len=L] */
static bool put_at(const struct command *c, FILE *out, const char *value, int *code)
{
    size_t begin = strcspn(value, ":"), weights;
    uint64_t n, length;
    const char *why;

    if (!check_value(c, "at", value, code))
        return false;
    if (!value[begin] || !units_parse_part(value, begin, &n, &why)) {
        *code = command_wrong(
            c, "--at: \"%.100s\" is not N:WEIGHTS or N:WEIGHTS:len=L, where N is the first sample of the change",
            value);
        return false;
    }
    weights = strcspn(value + begin + 1, ":");
    fprintf(out, "at %" PRIu64 ":%.*s", n, (int)weights, value + begin + 1);
    value += begin + 1 + weights;
    if (strncmp(value, ":len=", 5) == 0 && units_parse(value + 5, false, &length, &why)) {
        options_say_lengths("at", value + 5);
        fprintf(out, ":len=%" PRIu64 "\n", length);
    } else {
        fprintf(out, "%s\n", value);
    }
    return true;
}

/* N:RULE=VALUE,... with units in the values */
static bool put_fit(const struct command *c, FILE *out, const char *value, int *code)
{
    uint64_t number;
    const char *why;

    if (!check_value(c, "fit", value, code))
        return false;
    fputs("fit ", out);
    while (*value) {
        size_t name = strcspn(value, "=,"), length = value[name] == '=' ? strcspn(value + name + 1, ",") : 0;

        fprintf(out, "%.*s", (int)name + (value[name] == '='), value);
        value += name + (value[name] == '=');
        if (units_parse_part(value, length, &number, &why))
            fprintf(out, "%" PRIu64, number);
        else
            fprintf(out, "%.*s", (int)length, value);
        value += length;
        if (*value == ',')
            fputc(*value++, out);
    }
    fputc('\n', out);
    return true;
}

static bool put_skip(const struct command *c, FILE *out, const char *value, int *code)
{
    uint64_t first, end;
    const char *why;
    bool single;

    if (units_parse_range(value, &first, &end, &single, &why) && end != LEAT_NONE) {
        fprintf(out, "skip %" PRIu64 ":%" PRIu64 "\n", first, end);
        return true;
    }
    *code = command_wrong(c, "--skip: \"%.100s\" is not A:B, the samples A to B - 1", value);
    return false;
}

static bool put_skips(const struct command *c, const struct plan_options *o, FILE *out, int *code)
{
    for (size_t i = 0; i < o->skips.count; i++)
        if (!put_skip(c, out, o->skips.items[i], code))
            return false;
    return true;
}

enum leat_status plan_options_read_bans(const char *path, char **text, size_t *bytes, struct leat_error *err)
{
    enum leat_status s = file_read_text(text, bytes, path, "a file of bans", err);

    for (size_t at = 0, length; s == LEAT_OK && at < *bytes; at += length + 1) {
        const char *line = *text + at, *newline = memchr(line, '\n', *bytes - at);
        size_t blanks = 0;

        length = newline ? (size_t)(newline - line) : *bytes - at;
        while (blanks < length && (line[blanks] == ' ' || line[blanks] == '\t' || line[blanks] == '\r'))
            blanks++;
        if (blanks < length && line[blanks] != '#' && (length - blanks < 4 || memcmp(line + blanks, "ban ", 4) != 0))
            s = status_set_at(err, LEAT_E_ARGUMENT, path, at, "%s is not a file of bans: a line of it is \"%.*s\"",
                              path, (int)(length < 100 ? length : 100), line);
    }
    if (s != LEAT_OK) {
        free(*text);
        *text = NULL;
    }
    return s;
}

/* Writes the lines of --bans. */
static bool put_bans(const struct plan_options *o, FILE *out, int *code)
{
    struct leat_error err;
    size_t bytes;
    char *text;

    if (!o->bans)
        return true;
    if (plan_options_read_bans(o->bans, &text, &bytes, &err) != LEAT_OK) {
        *code = cli_failed(&err);
        return false;
    }
    fwrite(text, 1, bytes, out);
    fputc('\n', out);
    free(text);
    return true;
}

static void put_number(FILE *out, const char *option, uint64_t value)
{
    if (value != LEAT_NONE)
        fprintf(out, "%s %" PRIu64 "\n", option, value);
}

bool plan_options_complete(const struct command *c, const char *before, const struct plan_options *o)
{
    bool source = !o->plan && o->sources.count == 0, length = !o->plan && o->seq_len == LEAT_NONE;
    const char *plan = source && length ? "--source NAME and --seq-len L, or --plan FILE"
                       : source         ? "--source NAME, or --plan FILE"
                       : length         ? "--seq-len L, or --plan FILE"
                                        : "";

    if (*before || *plan)
        command_wrong(c, "missing: %s%s%s", before, *before && *plan ? "; " : "", plan);
    return !*before && !*plan;
}

static bool put_lines(const struct command *c, const struct plan_options *o, const char *fim, FILE *out, int *code)
{
    if (!plan_options_complete(c, "", o)) {
        *code = CLI_WRONG;
        return false;
    }
    for (size_t i = 0; i < o->sources.count; i++)
        if (!put_text(c, out, "source", o->sources.items[i], code))
            return false;
    for (size_t i = 0; i < o->fits.count; i++)
        if (!put_fit(c, out, o->fits.items[i], code))
            return false;
    put_number(out, "seq-len", o->seq_len);
    put_number(out, "base-len", o->base_len);
    put_number(out, "seed", o->seed);
    put_number(out, "epochs", o->epochs);
    put_number(out, "max-per-row", o->max_per_row);
    put_number(out, "min-length", o->min_length);
    put_number(out, "max-length", o->max_length);
    put_number(out, "cut-length", o->cut_length);
    put_number(out, "align", o->align);
    put_number(out, "overlap", o->overlap);
    put_number(out, "begin", o->begin ? 1 : LEAT_NONE);
    put_number(out, "whole", o->whole ? 1 : LEAT_NONE);
    put_number(out, "max-tokens", o->max_tokens);
    put_number(out, "max-rows", o->max_rows);
    put_number(out, "pool", o->pool);
    put_number(out, "stretch", o->stretch);
    put_number(out, "mix", o->mix);
    put_number(out, "lanes", o->lanes);
    put_number(out, "samples", o->samples);
    if (o->order != PLAN_ORDER_NOT_GIVEN)
        fprintf(out, "order %s\n", leat_order_name((enum leat_order)o->order));
    if (o->stop != PLAN_ORDER_NOT_GIVEN)
        fprintf(out, "stop %s\n", plan_option_stops[o->stop]);
    if (!put_text(c, out, "split", o->split, code) || !put_text(c, out, "use", o->use, code) ||
        !put_text(c, out, "mid-level-dataset-surplus", o->surplus, code) || !put_text(c, out, "fim", fim, code))
        return false;
    for (size_t i = 0; i < o->at.count; i++)
        if (!put_at(c, out, o->at.items[i], code))
            return false;
    return put_skips(c, o, out, code) && put_bans(o, out, code);
}

/* ---- Both ---- */

/* Changes the plan as a file says, and closes the old one. */
static enum leat_status change_plan(struct leat_plan **plan, const char *path, const struct leat_open_options *open,
                                    struct leat_error *err)
{
    struct leat_plan *changed;
    size_t bytes;
    char *text;
    enum leat_status s = file_read_text(&text, &bytes, path, "a text of changes", err);

    if (s == LEAT_OK)
        s = leat_plan_change_parse(&changed, *plan, text, bytes, path, open, err);
    free(text);
    if (s != LEAT_OK)
        return s;
    leat_plan_close(*plan);
    *plan = changed;
    return LEAT_OK;
}

/* Returns the first option that was given and that --plan excludes; NULL if there is none. */
static const char *given_besides(const struct plan_options *o)
{
    return o->sources.count                   ? "source"
           : o->at.count                      ? "at"
           : o->split                         ? "split"
           : o->use                           ? "use"
           : o->seq_len != LEAT_NONE          ? "seq-len"
           : o->base_len != LEAT_NONE         ? "base-len"
           : o->seed != LEAT_NONE             ? "seed"
           : o->samples != LEAT_NONE          ? "samples"
           : o->surplus                       ? "mid-level-dataset-surplus"
           : o->fim                           ? "fim"
           : o->order != PLAN_ORDER_NOT_GIVEN ? "order"
           : o->stop != PLAN_ORDER_NOT_GIVEN  ? "stop"
           : o->max_per_row != LEAT_NONE      ? "max-per-row"
           : o->min_length != LEAT_NONE       ? "min-length"
           : o->max_length != LEAT_NONE       ? "max-length"
           : o->cut_length != LEAT_NONE       ? "cut-length"
           : o->align != LEAT_NONE            ? "align"
           : o->overlap != LEAT_NONE          ? "overlap"
           : o->begin                         ? "begin"
           : o->whole                         ? "whole"
           : o->fits.count                    ? "fit"
           : o->max_tokens != LEAT_NONE       ? "max-tokens"
           : o->max_rows != LEAT_NONE         ? "max-rows"
           : o->pool != LEAT_NONE             ? "pool"
           : o->stretch != LEAT_NONE          ? "stretch"
           : o->mix != LEAT_NONE              ? "mix"
           : o->lanes != LEAT_NONE            ? "lanes"
                                              : NULL;
}

const char *plan_options_given(const struct plan_options *o)
{
    return o->plan                  ? "plan"
           : o->change              ? "change"
           : o->skips.count         ? "skip"
           : o->bans                ? "bans"
           : o->epochs != LEAT_NONE ? "epochs"
                                    : given_besides(o);
}

/* Writes the file's text, then lines for the options that may go with it: these may stand after all others. */
static bool put_file(const struct command *c, const struct plan_options *o, FILE *out, int *code)
{
    struct leat_error err;
    char *text;
    size_t bytes;
    bool ok = file_read_text(&text, &bytes, o->plan, "a plan", &err) == LEAT_OK;

    if (ok) {
        fwrite(text, 1, bytes, out);
        if (o->skips.count > 0 || o->bans || o->epochs != LEAT_NONE)
            fputc('\n', out); /* its last line may have no newline */
        put_number(out, "epochs", o->epochs);
    } else {
        *code = cli_failed(&err);
    }
    free(text);
    return ok && put_skips(c, o, out, code) && put_bans(o, out, code);
}

/* Puts dashes before the key with which an error about a line begins, since the line is an option. An error about
 * the plan as a whole has no place in the text, and one about a list of datasets has a file. */
static void name_option(struct leat_error *err)
{
    struct leat_error before = *err;

    if (err->status == LEAT_E_ARGUMENT && err->offset != LEAT_NONE && !err->file[0])
        status_field(err, status_set_at(err, before.status, NULL, before.offset, "--%s", before.message), before.field);
}

/* Returns true if the command's --samples is that of a plan; that of `leat trace` says which samples are shown. */
static bool takes_samples(const struct command *c)
{
    const struct option_row *r = c->options;

    while (r->name && strcmp(r->name, "samples") != 0)
        r++;
    return r->name && r->field == offsetof(struct plan_options, samples);
}

/* Reports that the number of samples is missing. It is an option of most commands; in the others it is a line of a
 * plan's text. */
static void say_samples(const struct command *c, const struct plan_options *o, struct leat_error *err)
{
    if (err->hint != LEAT_HINT_SAMPLES || (!o->plan && takes_samples(c)))
        return;
    if (o->plan)
        status_after(err, "; add a line \"samples N\" to %.300s", o->plan);
    else
        status_after(err, "; write a plan with leat order --samples N --print-plan, and read it with --plan");
    err->hint = LEAT_HINT_NONE;
}

/* Opens the plan with this value of --fim. */
static bool open_with(const struct command *c, const struct plan_options *o, const char *fim, struct leat_plan **plan,
                      int *code)
{
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    struct leat_error err;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out;
    bool ok;

    *plan = NULL;
    open.waiting = cli_say_waiting;
    if (o->plan && given_besides(o)) {
        *code = command_wrong(c, "--%s and --plan cannot both be given: write it in the plan, or give options only",
                              given_besides(o));
        return false;
    }
    out = open_memstream(&text, &bytes);
    if (!out) {
        cli_error("no memory for the plan");
        *code = CLI_FAILED;
        return false;
    }
    ok = o->plan ? put_file(c, o, out, code) : put_lines(c, o, fim, out, code);
    fclose(out);
    if (ok && leat_plan_parse(plan, text, bytes, o->plan, &open, &err) != LEAT_OK) {
        if (!o->plan)
            name_option(&err);
        say_samples(c, o, &err);
        if (o->plan && err.status == LEAT_E_NO_FILE)
            status_after(&err, "; %.300s names it, and names in a plan count from the folder that the command runs in",
                         o->plan);
        if (o->plan && o->epochs != LEAT_NONE && err.status == LEAT_E_ARGUMENT)
            status_after(&err, "; --epochs counts as a line of it");
        *code = cli_failed_or_damaged(&err);
        ok = false;
    }
    if (ok && o->change && change_plan(plan, o->change, &open, &err) != LEAT_OK) {
        *code = cli_failed_or_damaged(&err);
        leat_plan_close(*plan);
        *plan = NULL;
        ok = false;
    }
    free(text);
    return ok;
}

/* ---- Names of tokens ---- */

/* Returns the place where the first token of a value of --fim begins. */
static const char *fim_tokens(const char *fim)
{
    for (unsigned i = 0; fim && i < 2; i++) {
        fim = strchr(fim, ',');
        fim = fim ? fim + 1 : NULL;
    }
    return fim;
}

/* Opens the tokenizer that the dataset of the plan's first source stores. */
static enum leat_status open_tokenizer(const struct leat_plan *plan, struct leat_tokenizer **t, struct leat_error *err)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_stored_tokenizer *stored = NULL;
    enum leat_status s = leat_plan_source_info(plan, 0, &source, err);

    *t = NULL;
    if (s == LEAT_OK)
        s = leat_dataset_tokenizer(source.dataset, &stored, err);
    if (s == LEAT_OK)
        s = leat_tokenizer_open_stored(t, stored, err);
    leat_stored_tokenizer_free(stored);
    return s;
}

/* Returns the value of --fim with ids in place of names; NULL after a failure. The caller frees it. */
static char *find_ids(const struct leat_plan *plan, const char *fim, struct leat_error *err)
{
    const char *at = fim_tokens(fim);
    struct leat_tokenizer *t;
    enum leat_status s = open_tokenizer(plan, &t, err);
    size_t bytes, length;
    char *text = NULL;
    FILE *out = open_memstream(&text, &bytes);

    if (out)
        fprintf(out, "%.*s", (int)(at - fim), fim);
    else if (s == LEAT_OK)
        s = status_no_memory(err, strlen(fim));
    for (; s == LEAT_OK; at += length + 1) {
        uint32_t id;

        length = strcspn(at, ",");
        if (length > 0 && strspn(at, "0123456789") >= length) {
            fprintf(out, "%.*s", (int)length, at);
        } else {
            s = leat_tokenizer_find(t, at, length, &id, err);
            fprintf(out, "%" PRIu32, s == LEAT_OK ? id : 0);
        }
        if (!at[length])
            break;
        fputc(',', out);
    }
    if (out)
        fclose(out);
    leat_tokenizer_close(t);
    if (s == LEAT_OK)
        return text;
    free(text);
    return NULL;
}

bool plan_options_open(const struct command *c, const struct plan_options *o, struct leat_plan **plan, int *code)
{
    const char *tokens = fim_tokens(o->fim);
    struct leat_plan *bare;
    struct leat_error err;
    char *fim;
    bool ok;

    if (o->plan || !tokens || !tokens[strspn(tokens, "0123456789,")])
        return open_with(c, o, o->fim, plan, code);
    *plan = NULL;
    if (!open_with(c, o, NULL, &bare, code))
        return false;
    fim = find_ids(bare, o->fim, &err);
    leat_plan_close(bare);
    if (!fim) {
        status_before(&err, err.status, "--fim %.300s", o->fim);
        *code = cli_failed(&err);
        return false;
    }
    ok = open_with(c, o, fim, plan, code);
    free(fim);
    return ok;
}

void plan_options_free(struct plan_options *o)
{
    option_list_free(&o->sources);
    option_list_free(&o->fits);
    option_list_free(&o->at);
    option_list_free(&o->skips);
}

/* ---- Steps ---- */

/* Parses one field of a schedule, text[0..length): B, or B@STEP. */
static bool parse_change(const char *text, size_t length, uint64_t *batch, uint64_t *step, const char **why)
{
    char copy[64], *at;

    *why = "is not B or B@STEP";
    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    at = strchr(copy, '@');
    *step = 0;
    if (at) {
        *at = '\0';
        if (!units_parse(at + 1, false, step, why))
            return false;
    }
    return units_parse(copy, false, batch, why);
}

bool plan_steps_find(const struct command *self, const char *schedule, uint64_t number, uint64_t *first, uint64_t *end)
{
    uint64_t batch = 0, from = 0, next, step;
    const char *text = schedule, *why;

    *first = 0;
    for (bool begun = false;; begun = true) {
        size_t length = strcspn(text, ",");

        if (!parse_change(text, length, &next, &step, &why) || next == 0 || (begun ? step <= from : step != 0)) {
            command_wrong(self, "--batch: \"%.100s\" is not a schedule B,B@STEP,... with increasing steps", schedule);
            return false;
        }
        if (step > number)
            break;
        *first += (step - from) * batch;
        batch = next;
        from = step;
        if (batch > LEAT_MAX_SAMPLES || number - from >= LEAT_MAX_SAMPLES / batch || *first > LEAT_MAX_SAMPLES) {
            command_wrong(self, "--step: samples are numbered below 2^60");
            return false;
        }
        text += length;
        if (!*text++)
            break;
    }
    *first += (number - from) * batch;
    *end = *first + batch;
    return true;
}

bool plan_has_rows(const struct command *self, const struct leat_plan *plan, const char *option)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;

    leat_plan_info(plan, &info);
    if (!option || info.max_tokens == 0)
        return true;
    command_wrong(self,
                  "--%s counts rows, but the plan has batches by tokens (max-tokens): name samples by their numbers",
                  option);
    return false;
}

/* ---- Labels without loss ---- */

const char *no_loss_given(const struct no_loss *n)
{
    if (n->first || n->row_first)
        return n->first ? "mask-first" : "mask-row-first";
    return n->begin ? "mask-begin" : NULL;
}

void no_loss_set(const struct no_loss *n, struct leat_loader_outputs *o)
{
    o->mask_first = n->first;
    o->mask_row_first = n->row_first;
    o->mask_begin = n->begin;
}
