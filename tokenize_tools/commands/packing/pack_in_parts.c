/* pack_in_parts.c: plans and packs runs in parts by leat/run.h. */
#include "pack_in_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/status.h"
#include "cli/units.h"
#include "commands/common/common.h"
#include "pack_report.h"

#define LINE 8192 /* of 64 splits */

int pack_in_parts_refuse(const struct pack_values *v)
{
    char word[CLI_SHELL_WORD], seed[48] = "", splits[LINE] = "";
    const char *and = v->splits.count > 0 ? ", " : " and ";
    size_t used = 0;

    if (v->pack.shuffle)
        snprintf(seed, sizeof seed, " --shuffle %" PRIu64, v->pack.seed);
    for (size_t i = 0; i < v->splits.count && used < sizeof splits; i++)
        used += (size_t)snprintf(splits + used, sizeof splits - used, "%s%s=%s", i == 0 ? " --split " : ",",
                                 v->splits.items[i].name, v->splits.items[i].fraction);
    cli_error("a run in parts is planned and packed without %s%s%s%s, since no part knows the others; when all parts "
              "are packed, this does it: leat merge -o OUT %s%s%s%s",
              v->pack.dedup ? "--dedup" : "", v->pack.dedup && v->pack.shuffle ? and : "",
              v->pack.shuffle ? "--shuffle" : "", v->splits.count > 0 ? " and --split" : "",
              cli_shell_word(v->run, word, sizeof word), v->pack.dedup ? " --dedup" : "", seed, splits);
    return CLI_WRONG;
}

/* ---- A part ------------------------------------------------------------------------------------------------------ */

/* Refuses words that do not belong to a part's command line. */
static int check_words(const struct command *self, const struct options_parsed *parsed, const struct pack_values *v)
{
    if (v->pack.dedup || v->pack.shuffle)
        return pack_in_parts_refuse(v);
    if (parsed->count > 0)
        return command_wrong(self, "a part takes the inputs of the plan: leave \"%s\" out", parsed->words[0]);
    for (size_t i = 0; pack_options[i].name; i++)
        if (parsed->given[i] && pack_options[i].shared)
            return command_wrong(self, "--%s belongs to the plan of a run: all parts share it", pack_options[i].name);
    return CLI_DONE;
}

/* Refuses a command line of a part that contradicts the plan; CLI_DONE if it does not. Later the values would have
 * the plan's numbers. */
static int check_part(const struct command *self, uint32_t parts, const struct pack_values *v)
{
    if (v->parts > 0 && v->parts != parts)
        return command_wrong(self, "--parts %" PRIu64 ", but the run in %.300s has %u parts: leave --parts out",
                             v->parts, v->run, parts);
    if (!v->part.automatic && (v->part.part < 1 || v->part.part > parts))
        return command_wrong(self, "part %u: the run in %.300s has the parts 1 to %u", v->part.part, v->run, parts);
    return CLI_DONE;
}

/* Copies options of the plan: options that are given are the step's, but messages about the part need the plan's,
 * too. */
static void take_plan(struct pack_in_parts *in, struct pack_values *v)
{
    struct leat_pack_options *o = &v->pack;

    in->step = *o;
    in->step.threads = v->threads.counts[0];
    in->step.renderers = &pack_renderers;
    *o = *in->info.pack;
    o->allow_truncated |= in->step.allow_truncated;
    o->force = in->step.force;
    o->resume = 1;
    o->text = o->text ? o->text : "text";
    v->parts = in->info.parts;
    v->tokenizer = in->info.tokenizer;
    v->splits.count = o->split_count < ARRANGE_SPLITS ? (size_t)o->split_count : ARRANGE_SPLITS;
    for (size_t i = 0; i < v->splits.count; i++)
        v->splits.items[i] = o->splits[i];
    v->splits.folders = true;
}

int pack_in_parts_take(struct pack_in_parts *in, const struct command *self, const struct options_parsed *parsed,
                       struct pack_values *v)
{
    struct leat_error err;
    size_t room;
    int code = check_words(self, parsed, v);

    if (code != CLI_DONE)
        return code;
    if (leat_run_open(&in->run, v->run, &err) != LEAT_OK)
        return commands_run_failed(v->run, &err);
    in->info = (struct leat_run_info)LEAT_RUN_INFO_INIT;
    leat_run_info(in->run, &in->info);
    code = check_part(self, in->info.parts, v);
    if (code != CLI_DONE)
        return code;
    take_plan(in, v);
    if (!pack_options_part(self, v) || !commands_created(&in->step.created))
        return CLI_WRONG;
    in->part = v->pack.part;
    room = (size_t)leat_run_part_name(in->run, in->part, NULL, 0) + 1;
    in->output = malloc(room);
    if (!in->output) {
        status_no_memory(&err, room);
        return cli_failed(&err);
    }
    leat_run_part_name(in->run, in->part, in->output, room);
    v->output = in->output;
    return CLI_DONE;
}

void pack_in_parts_free(struct pack_in_parts *in, struct pack_values *v)
{
    if (in->run) /* the options point into the run's plan */
        v->pack = (struct leat_pack_options)LEAT_PACK_OPTIONS_INIT;
    leat_run_close(in->run);
    free(in->output);
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

static void say_empty(const struct leat_run_info *info)
{
    if (info->empty_parts == 0)
        return;
    if (info->whole_files > 0)
        cli_say(
            "Inputs that are given whole to one part, such as compressed ones: %s. Parts that get no input: %s of %u.",
            units_count(info->whole_files).text, units_count(info->empty_parts).text, info->parts);
    else
        cli_say("The inputs are small. Parts that get no input: %s of %u.", units_count(info->empty_parts).text,
                info->parts);
}

static void say_plan(const struct pack_values *v, const struct leat_run_info *info)
{
    char word[CLI_SHELL_WORD];
    struct json j;

    if (!v->json) {
        cli_say("%s: a run of %s, %s in %s.", v->run, units_counted(info->parts, "part").text,
                units_bytes(info->bytes).text, units_counted(info->files, "input").text);
        say_empty(info);
        cli_say("Each part, on any machine that has these files: leat pack --run %s --part I (or --part auto)",
                cli_shell_word(v->run, word, sizeof word));
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "run", info->folder);
    json_u64(&j, "parts", info->parts);
    json_u64(&j, "inputs", info->files);
    json_u64(&j, "input_bytes", info->bytes);
    json_u64(&j, "whole_inputs", info->whole_files);
    json_u64(&j, "empty_parts", info->empty_parts);
    json_close_object(&j);
    json_end(&j);
}

static void on_notice(void *context, const struct leat_pack_notice *notice)
{
    if (!pack_notices_warn(notice))
        pack_notices_add(context, notice);
}

int pack_in_parts_plan(const struct pack_values *v, const struct options_parsed *parsed)
{
    struct leat_run_options o = LEAT_RUN_OPTIONS_INIT;
    struct leat_run_info info = LEAT_RUN_INFO_INIT;
    struct leat_pack_options pack = v->pack;
    struct pack_notices notices = { 0 };
    struct leat_run *run;
    struct leat_error err;
    enum leat_status s;

    if (pack.force) {
        cli_error("--force is for one part, as it is packed (--run DIR --part I): each part would start over whenever "
                  "it is tried again");
        return CLI_WRONG;
    }
    pack.notice = on_notice;
    pack.context = &notices;
    o.parts = (uint32_t)v->parts;
    o.tokenizer = v->tokenizer;
    o.pattern = v->pattern;
    o.inputs = parsed->words;
    o.input_count = parsed->count;
    o.pack = &pack;
    s = leat_run_create(&run, v->run, &o, &err);
    pack_notices_say_skipped(&notices, false);
    pack_notices_free(&notices);
    if (s != LEAT_OK)
        return commands_run_failed(v->run, &err);
    leat_run_info(run, &info);
    say_plan(v, &info);
    leat_run_close(run);
    return cli_finish_stdout(CLI_DONE);
}
