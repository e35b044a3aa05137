/* cmd_pack.c: `leat pack`: corpora in, one dataset out. The work is leat_pack()'s. */
#include <stdio.h>

#include "cli/json.h"
#include "cli/units.h"
#include "commands.h"
#include "pack_options.h"

/* What the second pass did, as leat_merge() reports it. */
static struct leat_merge_report arranged(const struct pack_values *v, const struct leat_pack_report *r)
{
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;

    report.deduplicated = r->deduplicated;
    report.documents = r->documents + r->deduplicated;
    report.splits = r->splits;
    for (size_t i = 0; i < v->splits.count; i++)
        report.documents += r->splits[i].documents;
    return report;
}

static double per_second(uint64_t amount, double seconds)
{
    return seconds > 0 ? (double)amount / seconds : 0;
}

/* Rates are of what this run did, not one before it that it goes on with. */
static double text_rate(const struct pack_bar *bar, const struct leat_pack_report *r, double seconds)
{
    return per_second(pack_bar_text(bar, r), seconds);
}

/* By their share of the text: of what was packed before, arranging may have left out any part. */
static double token_rate(const struct pack_bar *bar, const struct leat_pack_report *r, double seconds)
{
    double share = r->text_bytes > 0 ? (double)pack_bar_text(bar, r) / (double)r->text_bytes : 0;

    return per_second(r->tokens, seconds) * share;
}

static void print_json(const struct pack_values *v, const struct leat_pack_report *r, const struct pack_bar *bar,
                       double seconds)
{
    struct leat_merge_report report;
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", v->output);
    json_u64(&j, "inputs", r->inputs);
    json_u64(&j, "documents", r->documents);
    json_u64(&j, "tokens", r->tokens);
    json_u64(&j, "text_bytes", r->text_bytes);
    json_u64(&j, "rejected", r->rejects);
    report = arranged(v, r);
    arrange_report_json(&j, v->output, &v->splits, &report);
    json_u64(&j, "special_strings", r->special_strings);
    json_u64(&j, "truncated_inputs", r->damaged_inputs);
    pack_notices_json(&j, &bar->notices, r);
    json_double(&j, "seconds", seconds);
    json_double(&j, "mb_per_s", text_rate(bar, r, seconds) / 1e6);
    json_double(&j, "tokens_per_s", token_rate(bar, r, seconds));
    json_u64(&j, "peak_memory", r->peak_memory);
    json_close_object(&j);
    json_end(&j);
}

static void print_summary(const struct pack_values *v, const struct leat_pack_report *r, const struct pack_bar *bar,
                          double seconds)
{
    struct leat_merge_report report = arranged(v, r);

    if (r->was_finished) {
        printf("%s is finished already: %s in %s.\n", v->output, units_counted(r->tokens, "token").text,
               units_counted(r->documents, "document").text);
        return;
    }
    arrange_report_print(v->output, &v->splits, v->dedup, &report);
    printf("%s: %s in %s from %s, %s of text in %s.\n", v->output, units_counted(r->tokens, "token").text,
           units_counted(r->documents, "document").text, units_counted(r->inputs, "input").text,
           units_bytes(r->text_bytes).text, units_duration(seconds).text);
    if (r->text_bytes > 0)
        printf("%s of text, %s; memory at most %s.\n", units_rate(text_rate(bar, r, seconds), "B").text,
               units_rate(token_rate(bar, r, seconds), "tokens").text, units_bytes(r->peak_memory).text);
    if (v->part.parts > 0 && r->inputs == 0)
        printf("This part got no input: compressed inputs go whole, and there are fewer than parts. `leat merge` takes "
               "it with the others.\n");
    if (r->special_strings > 0)
        printf("%s of special tokens in the texts %s.\n", units_counted(r->special_strings, "string").text,
               v->special ? "became these tokens" : "became ordinary text (--special makes them tokens)");
    pack_notices_print(&bar->notices, r);
    if (r->rejects > 0)
        printf("%s record%s refused: see %s.rejects.jsonl.\n", units_count(r->rejects).text,
               r->rejects == 1 ? " was" : "s were", v->output);
}

static int pack(const struct command *self, const struct pack_values *v, const struct options_parsed *parsed)
{
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_info splits[ARRANGE_SPLITS];
    struct leat_pack_options options;
    struct leat_tokenizer *t;
    struct leat_error err;
    struct pack_bar bar;
    double began = cli_now();
    enum leat_status s;
    int code = pack_options_take(self, v, &t, &options);

    if (code != CLI_DONE)
        return code;
    for (size_t i = 0; i < ARRANGE_SPLITS; i++)
        splits[i] = (struct leat_info)LEAT_INFO_INIT;
    report.splits = splits;
    pack_bar_begin(&bar, v, &options);
    s = leat_pack(v->output, parsed->words, parsed->count, &options, &report, &err);
    pack_bar_end(&bar);
    leat_tokenizer_close(t);
    if (s == LEAT_OK && v->json)
        print_json(v, &report, &bar, cli_now() - began);
    else if (s == LEAT_OK)
        print_summary(v, &report, &bar, cli_now() - began);
    pack_bar_free(&bar);
    if (s != LEAT_OK)
        return pack_options_failed(v, &report, &err);
    pack_options_say_damage(v, &report);
    return cli_finish_stdout(report.damaged_inputs > 0 && !v->allow_truncated ? CLI_FAILED : CLI_DONE);
}

int cmd_pack(const struct command *self, int argc, char **argv)
{
    struct pack_values values = PACK_VALUES_INIT;
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = pack(self, &values, &parsed);
    pack_values_free(&values);
    options_free(&parsed);
    return code;
}
