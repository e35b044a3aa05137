/* cmd_pack.c: `leat pack`: makes one dataset of corpora. leat_pack() does the work. */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "cli/units.h"
#include "commands/commands.h"
#include "pack_dry_run.h"
#include "pack_in_parts.h"
#include "pack_report.h"

/* The share of their time for which threads must wait for an input before it is reported. Without waiting they would
 * do a tenth more. */
#define STREAM_BOUNDS     0.1
#define STREAM_MATTERS_NS 20000000u

/* Returns the results of the second pass as leat_merge() reports them. */
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

/* Returns the rate of the text that this run packed, without the text of an earlier run that it continues. */
static double text_rate(const struct pack_bar *bar, const struct leat_pack_report *r, double seconds)
{
    return per_second(pack_bar_text(bar, r), seconds);
}

/* Returns the rate of tokens, which is estimated by this run's share of the text: arranging may have left out any
 * part of what was packed before. */
static double token_rate(const struct pack_bar *bar, const struct leat_pack_report *r, double seconds)
{
    double share = r->text_bytes > 0 ? (double)pack_bar_text(bar, r) / (double)r->text_bytes : 0;

    return per_second(r->tokens, seconds) * share;
}

static void print_json(const struct pack_values *v, const struct leat_pack_report *r, const struct pack_bar *bar,
                       double seconds)
{
    static const struct arrange_splits none;
    struct leat_merge_report report;
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", v->output);
    json_bool(&j, "was_finished", r->was_finished != 0);
    json_u64(&j, "inputs", r->inputs);
    json_u64(&j, "documents", r->documents);
    json_u64(&j, "tokens", r->tokens);
    commands_learned_json(&j, r->learned);
    json_u64(&j, "text_bytes", r->text_bytes);
    json_u64(&j, "rejected", r->rejects);
    report = arranged(v, r);
    arrange_report_json(&j, v->output, v->pack.by ? &none : &v->splits, &report);
    if (v->pack.by)
        by_outputs_json(&j, &bar->outputs);
    json_u64(&j, "special_strings", r->special_strings);
    json_u64(&j, "truncated_inputs", bar->notices.damaged.count);
    pack_notices_json(&j, &bar->notices, r);
    json_double(&j, "seconds", seconds);
    json_double(&j, "mb_per_s", text_rate(bar, r, seconds) / 1e6);
    json_double(&j, "tokens_per_s", token_rate(bar, r, seconds));
    json_double(&j, "serial_share", pack_serial_share(r));
    json_double(&j, "stream_share", pack_stream_share(r));
    json_u64(&j, "direct_bytes", r->direct_bytes);
    json_u64(&j, "peak_memory", r->peak_memory);
    json_close_object(&j);
    json_end(&j);
}

/* Prints the datasets of --by. */
static void print_outputs(const struct pack_values *v, const struct leat_pack_report *r, const struct pack_bar *bar)
{
    by_outputs_print(&bar->outputs);
    by_outputs_print_sources(&bar->outputs);
    if (v->part.parts > 0 && !r->was_finished) /* otherwise nobody has counted them */
        cli_say("The documents of this part carry %s of %s: `leat merge` of all parts makes a dataset for each.",
                units_counted(r->values, "value").text, v->pack.by);
}

/* Reports that one input limits the run, if threads waited for it so often that more of them would not help. In a
 * short run on a busy machine waiting says nothing. */
static void print_bound(const struct leat_pack_report *r)
{
    double share = pack_stream_share(r);

    if (share >= STREAM_BOUNDS && r->stream.decompress_ns >= STREAM_MATTERS_NS)
        cli_say("%s: decompression bounds the run: one thread at a time does it, and threads waited for it %.0f %% of "
                "their time. Several threads decompress zstd files with many frames (pzstd) and gzip files from bgzip.",
                r->stream.name, 100 * share);
}

static void print_summary(const struct pack_values *v, const struct leat_pack_report *r, const struct pack_bar *bar,
                          double seconds)
{
    static const struct arrange_splits none;
    struct leat_merge_report report = arranged(v, r);
    bool many = v->pack.by && v->part.parts == 0;
    char own[128] = "";
    bool elsewhere = r->deduplicated > 0 || v->splits.count > 0; /* true if some of the text that was read is not in
                                                                    this dataset */

    if (r->was_finished) {
        cli_say("%s%s is finished already: %s in %s.", v->output, many ? ".*" : "",
                units_counted(r->tokens, "token").text, units_counted(r->documents, "document").text);
        commands_say_learned("", r->learned, r->tokens, v->pack.chat != NULL);
        if (v->pack.by)
            print_outputs(v, r, bar);
        return;
    }
    arrange_report_print(v->output, many ? &none : &v->splits, v->pack.dedup, &report);
    cli_say("%s%s: %s in %s from %s, %s of text%s in %s.", v->output, many ? ".*" : "",
            units_counted(r->tokens, "token").text, units_counted(r->documents, "document").text,
            units_counted(r->inputs, "input").text, units_bytes(r->text_bytes).text, elsewhere ? " read" : "",
            units_duration(seconds).text);
    commands_say_learned("", r->learned, r->tokens, v->pack.chat != NULL);
    if (bar->text_before > 0)
        snprintf(own, sizeof own, " for the %s that this run packed itself", units_bytes(pack_bar_text(bar, r)).text);
    if (text_rate(bar, r, seconds) > 0)
        printf("%s of text, %s%s; memory at most %s.\n", units_rate(text_rate(bar, r, seconds), "B").text,
               units_rate(token_rate(bar, r, seconds), "tokens").text, own, units_bytes(r->peak_memory).text);
    if (r->direct_bytes > 0)
        printf("%s of tokens went to the disk directly.\n", units_bytes(r->direct_bytes).text);
    print_bound(r);
    pack_options_say_around(v);
    if (v->pack.parts > 0 && r->inputs == 0)
        printf("This part got no input: some inputs are given whole to one part, or all are small. It is complete, and "
               "`leat merge` takes it with the others.\n");
    if (r->special_strings > 0)
        printf("%s of special tokens in the texts %s.\n", units_counted(r->special_strings, "string").text,
               v->pack.special ? "became these tokens" : "became ordinary text (--special makes them tokens)");
    pack_notices_print(&bar->notices, r);
    pack_notices_say_long(r, &v->pack);
    if (r->rejects > 0)
        cli_say("%s record%s rejected: see %s.rejects.jsonl.", units_count(r->rejects).text,
                r->rejects == 1 ? " was" : "s were", v->output);
    if (v->pack.by)
        print_outputs(v, r, bar);
}

/* Warns that nothing was found, which is fine for a part of a run. */
static void say_nothing_found(const struct pack_values *v, const struct leat_pack_report *r)
{
    if (v->part.parts == 0 && !v->run && !r->was_finished && arranged(v, r).documents == 0 && r->text_bytes == 0)
        pack_notices_warn_empty(r, r->inputs);
}

/* Reports the damaged inputs, and how to accept them. `failed` says that the damage makes the part fail. */
static void say_damage(const struct pack_values *v, const struct leat_pack_report *r, const struct pack_notices *n,
                       bool failed)
{
    if (r->damaged_inputs == 0 && !failed)
        return;
    pack_bar_say_damage(v, n);
    if (failed || (!v->run && pack_bar_damage_fails(v, r)))
        pack_bar_say_accept(v, n);
}

/* Returns true if the part is packed, and fails only because its inputs broke off. */
static bool was_cut(const struct pack_in_parts *in, enum leat_status s, const struct leat_error *err)
{
    struct leat_run_advice advice = LEAT_RUN_ADVICE_INIT;

    if (s == LEAT_OK || !in->run)
        return false;
    leat_run_advice(err, &advice);
    return advice.mend == LEAT_RUN_MEND_ACCEPT;
}

static int say_failed(const struct pack_in_parts *in, const struct pack_values *v, const struct pack_notices *n,
                      const struct leat_pack_report *report, struct leat_error *err)
{
    struct leat_run_advice advice = LEAT_RUN_ADVICE_INIT;

    if (!in->run)
        return pack_bar_say_failed(v, n, report, err);
    leat_run_advice(err, &advice);
    err->hint = advice.hint;
    return advice.file == LEAT_RUN_FILE_BEAT ? cli_failed(err) : pack_bar_say_failed(v, n, report, err);
}

/* Packs, with options that are complete. */
static int pack(struct pack_in_parts *in, struct pack_values *v, const struct options_parsed *parsed)
{
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_info splits[ARRANGE_SPLITS];
    struct leat_error err;
    struct pack_bar bar;
    double began = cli_now();
    enum leat_status s;
    bool cut;
    int code;

    for (size_t i = 0; i < ARRANGE_SPLITS; i++)
        splits[i] = (struct leat_info)LEAT_INFO_INIT;
    report.splits = splits;
    pack_bar_begin(&bar, v, in->run ? &in->step : &v->pack);
    s = in->run ? leat_run_step(in->run, in->part, &in->step, &report, &err)
                : leat_pack(v->output, parsed->words, parsed->count, &v->pack, &report, &err);
    pack_bar_end(&bar);
    if (in->run)
        v->pack.tokenizer = in->info.pack->tokenizer; /* the step has opened it */
    cut = was_cut(in, s, &err);
    s = cut ? LEAT_OK : s;
    if (in->run && report.was_finished) /* the part's sign of life says whether the damage was accepted */
        report.damaged_inputs = 0;
    if ((s == LEAT_OK || s == LEAT_E_REJECTS) && v->json) /* the object is also printed if there are too many
                                                             rejects, since it says of which kinds */
        print_json(v, &report, &bar, cli_now() - began);
    else if (s == LEAT_OK)
        print_summary(v, &report, &bar, cli_now() - began);
    if (s == LEAT_OK)
        say_nothing_found(v, &report);
    if (s == LEAT_OK && v->pack.force && !v->run)
        leftovers_warn(v->output, &v->splits, &bar.outputs, v->pack.by != NULL);
    code = by_outputs_code(&bar.outputs, cut || pack_bar_damage_fails(v, &report) ? CLI_FAILED : CLI_DONE);
    if (s == LEAT_OK) {
        pack_notices_say_rejected(v, &bar.notices, false);
        pack_notices_say_mended(v, &bar.notices);
        say_damage(v, &report, &bar.notices, cut);
    } else {
        code = say_failed(in, v, &bar.notices, &report, &err);
    }
    pack_bar_free(&bar);
    return s == LEAT_OK ? cli_finish_stdout(code) : code;
}

static int interrupted(void)
{
    cli_error("interrupted before this run packed anything");
    return cli_interrupted_code();
}

static int run_part(struct pack_in_parts *in, const struct command *self, struct pack_values *v,
                    const struct options_parsed *parsed)
{
    int code = pack_in_parts_take(in, self, parsed, v);

    if (code != CLI_DONE)
        return code;
    return cli_interrupted() ? interrupted() : pack(in, v, parsed);
}

static int run(struct pack_in_parts *in, const struct command *self, struct pack_values *v,
               const struct options_parsed *parsed)
{
    struct leat_tokenizer *t;
    int code;

    if (v->run && v->part.given)
        return run_part(in, self, v, parsed);
    if (parsed->count == 0 && v->run && v->parts == 0)
        return command_wrong(self,
                             "--run %.300s: add --part I or --part auto, to pack a part of that run; or --parts N and "
                             "INPUT..., to plan it",
                             v->run);
    if (parsed->count == 0)
        return command_wrong(self, "%s is missing: leat pack %s", self->words, self->words);
    if (!v->output && !v->run && !v->dry_run)
        return command_wrong(self, "--output NAME is missing: the dataset to write: NAME.tokens and NAME.leat");
    if (v->run && (v->pack.dedup || v->pack.shuffle))
        return pack_in_parts_refuse(v);
    if (v->threads.runs > 1)
        return command_wrong(self, "--threads takes one number here: leat-bench pack makes a run for each of several");
    code = pack_options_take(self, parsed, v, &t);
    if (code != CLI_DONE)
        return code;
    if (cli_interrupted())
        code = interrupted();
    else if (v->dry_run)
        code = pack_dry_run(v, parsed->words, parsed->count);
    else if (v->run)
        code = pack_in_parts_plan(v, parsed);
    else
        code = pack(in, v, parsed);
    leat_tokenizer_close(t);
    return code;
}

int cmd_pack(const struct command *self, int argc, char **argv)
{
    struct pack_values values = PACK_VALUES_INIT;
    struct pack_in_parts in = { 0 };
    struct options_parsed parsed;
    int code;

    if (command_parse(self, argc, argv, &values, &parsed, &code)) {
        if (!values.run || values.part.given) /* planning a run is killed, not stopped: it ends soon */
            cli_catch_interrupts();
        values.argc = argc;
        values.argv = argv;
        code = run(&in, self, &values, &parsed);
        options_free(&parsed);
    }
    pack_in_parts_free(&in, &values);
    pack_values_free(&values);
    return code;
}
