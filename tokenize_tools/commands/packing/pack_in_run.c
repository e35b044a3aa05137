/*
 * pack_in_run.c: see pack_in_run.h. The plan is the command line itself: a part parses it, then its own words, of which
 * the last count. So the part's words can change threads and memory; anything that changes bytes is found by the
 * library, which compares the part with leat-run.inputs.
 */
#include "pack_in_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "cli/json.h"
#include "cli/units.h"
#include "commands/common/common.h"
#include "pack_report.h"
#include "runs/run_parts.h"

#define LINE 8192 /* of 64 splits */

static int no_memory(void)
{
    struct leat_error err;

    status_no_memory(&err, 4096);
    return cli_failed(&err);
}

int pack_in_run_refuse(const struct pack_values *v)
{
    char word[CLI_SHELL_WORD], seed[48] = "", splits[LINE] = "";
    const char *and = v->splits.count > 0 ? ", " : " and ";
    size_t used = 0;

    if (v->shuffle.given)
        snprintf(seed, sizeof seed, " --shuffle %" PRIu64, v->shuffle.value);
    for (size_t i = 0; i < v->splits.count && used < sizeof splits; i++)
        used += (size_t)snprintf(splits + used, sizeof splits - used, "%s%s=%s", i == 0 ? " --split " : ",",
                                 v->splits.items[i].name, v->splits.items[i].fraction);
    cli_error("a run in parts is planned and packed without %s%s%s%s, since no part knows the others; when all parts "
              "are packed, this does it: leat merge -o OUT %s%s%s%s",
              v->dedup ? "--dedup" : "", v->dedup && v->shuffle.given ? and : "", v->shuffle.given ? "--shuffle" : "",
              v->splits.count > 0 ? " and --split" : "", cli_shell_word(v->run, word, sizeof word),
              v->dedup ? " --dedup" : "", seed, splits);
    return CLI_WRONG;
}

/* The command, the plan's words, and this command line's. */
static char **join_words(const struct run_folder *r, int argc, char **argv)
{
    size_t mine = (size_t)argc - 1;
    char **words = calloc(r->count + mine + 2, sizeof *words);

    if (!words)
        return NULL;
    words[0] = argv[0];
    memcpy(words + 1, r->words, r->count * sizeof *words);
    memcpy(words + 1 + r->count, argv + 1, mine * sizeof *words);
    return words;
}

/* What the command line of a part says against the plan; CLI_DONE: nothing. Later it would have the plan's numbers. */
static int check_part(const struct command *self, const struct run_folder *r, const struct pack_values *v)
{
    if (v->parts > 0 && v->parts != r->parts)
        return command_wrong(self, "--parts %" PRIu64 ", but the run in %.300s has %u parts: leave --parts out",
                             v->parts, v->run, r->parts);
    if (!v->part.automatic && (v->part.part < 1 || v->part.part > r->parts))
        return command_wrong(self, "part %u: the run in %.300s has the parts 1 to %u", v->part.part, v->run, r->parts);
    return CLI_DONE;
}

int pack_in_run_part(struct pack_in_run *in, const struct command *self, int argc, char **argv,
                     struct pack_values *values, struct options_parsed *parsed)
{
    struct leat_error err;
    int code;

    if (!values->run || !values->part.given)
        return CLI_DONE;
    if (values->dedup || values->shuffle.given)
        return pack_in_run_refuse(values);
    if (values->splits.count > 0)
        return command_wrong(self, "--split belongs to the plan of a run: all parts share it");
    if (parsed->count > 0)
        return command_wrong(self, "a part takes the inputs of the plan: leave \"%s\" out", parsed->words[0]);
    if (run_folder_read(&in->folder, values->run, &err) != LEAT_OK)
        return cli_failed(&err);
    if (in->folder.joining) {
        run_parts_say_joining(&in->folder);
        return CLI_FAILED;
    }
    code = check_part(self, &in->folder, values);
    if (code != CLI_DONE)
        return code;
    in->words = join_words(&in->folder, argc, argv);
    if (!in->words)
        return no_memory();
    pack_values_free(values);
    options_free(parsed);
    *values = (struct pack_values)PACK_VALUES_INIT;
    if (!command_parse(self, (int)in->folder.count + argc, in->words, values, parsed, &code))
        return code;
    values->run = in->folder.path;
    values->parts = in->folder.parts;
    values->resume = true;
    /* a machine may not have it, if all inputs have names from the root on; else they are missed, and that is said */
    (void)!chdir(in->folder.from);
    return CLI_DONE;
}

int pack_in_run_names(struct pack_in_run *in, struct pack_values *values, struct leat_pack_options *options)
{
    in->inputs = run_folder_file(in->folder.path, ".inputs");
    in->output = run_folder_part(&in->folder, options->part, "");
    if (!in->inputs || !in->output)
        return no_memory();
    options->run_file = in->inputs;
    values->output = in->output;
    values->splits.folders = true;
    return CLI_DONE;
}

static void say_empty(const struct run_folder *r, const struct leat_pack_report *report)
{
    if (report->empty_parts == 0)
        return;
    if (report->whole_inputs > 0)
        cli_say(
            "Inputs that are given whole to one part, such as compressed ones: %s. Parts that get no input: %s of %u.",
            units_count(report->whole_inputs).text, units_count(report->empty_parts).text, r->parts);
    else
        cli_say("The inputs are small. Parts that get no input: %s of %u.", units_count(report->empty_parts).text,
                r->parts);
}

static void say_plan(const struct pack_values *v, const struct run_folder *r, const struct leat_pack_report *report)
{
    char word[CLI_SHELL_WORD];
    struct json j;

    if (!v->json) {
        cli_say("%s: a run of %s, %s in %s.", v->run, units_counted(r->parts, "part").text, units_bytes(r->bytes).text,
                units_counted(r->inputs, "input").text);
        say_empty(r, report);
        cli_say("Each part, on any machine that has these files: leat pack --run %s --part I (or --part auto)",
                cli_shell_word(v->run, word, sizeof word));
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "run", r->path);
    json_u64(&j, "parts", r->parts);
    json_u64(&j, "inputs", r->inputs);
    json_u64(&j, "input_bytes", r->bytes);
    json_u64(&j, "whole_inputs", report->whole_inputs);
    json_u64(&j, "empty_parts", report->empty_parts);
    json_close_object(&j);
    json_end(&j);
}

/* What cannot be planned, or NULL. */
static const char *wrong_plan(const struct pack_values *v, const struct options_parsed *parsed, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return "the words of a part follow those of the plan, which cannot have --: write ./-NAME for -NAME";
    for (size_t i = 0; i < parsed->count; i++)
        if (strncmp(parsed->words[i], "http", 4) == 0 && strstr(parsed->words[i], "://") &&
            strchr(parsed->words[i], '?'))
            return "the plan of a run keeps its words, and what follows the ? of a URL may be a key: put such URLs in "
                   "a list, which only you can read (@LIST)";
    for (size_t i = 0; i < parsed->count; i++)
        if (strcmp(parsed->words[i], "-") == 0)
            return "every part of a run reads the inputs, and standard input comes only once: name files";
    for (size_t i = 0; i < v->splits.count; i++)
        if (strcmp(v->splits.items[i].name, "leat-run") == 0 || strncmp(v->splits.items[i].name, "part-", 5) == 0)
            return "no split of a run is called leat-run or part-...: its folder has files of these names";
    if (v->force)
        return "--force is for one part, as it is packed (--run DIR --part I): each part would start over whenever it "
               "is tried again";
    return NULL;
}

/* What is left out, each part says. */
static void on_notice(void *context, const struct leat_pack_notice *notice)
{
    (void)context;
    if (notice->kind == LEAT_NOTICE_REPEATED)
        pack_notices_warn_repeated(notice->count, notice->path);
}

int pack_in_run_plan(struct pack_in_run *in, const struct pack_values *v, struct leat_pack_options *options,
                     const struct options_parsed *parsed, int argc, char **argv)
{
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    const char *wrong = wrong_plan(v, parsed, argc, argv);
    struct run_folder *r = &in->folder;
    struct leat_error err;
    enum leat_status s;
    bool made;

    if (wrong) {
        cli_error("%s", wrong);
        return CLI_WRONG;
    }
    r->parts = (unsigned)v->parts;
    made = access(v->run, F_OK) != 0;
    r->from = getcwd(NULL, 0);
    if (r->from)
        r->path = run_folder_make(v->run, &err);
    else
        status_set_os(&err, errno, NULL, "cannot find out the current folder");
    if (!r->path)
        return cli_failed(&err);
    in->inputs = run_folder_file(r->path, ".inputs");
    if (!in->inputs)
        return no_memory();
    options->run_file = in->inputs;
    options->part = 0;
    options->parts = r->parts;
    options->notice = on_notice;
    s = run_folder_check_new(r, &err);
    if (s == LEAT_OK)
        s = leat_pack(in->inputs, parsed->words, parsed->count, options, &report, &err);
    r->inputs = report.inputs;
    r->bytes = report.disk_bytes;
    r->words = argv + 1;
    r->count = (size_t)argc - 1;
    for (size_t i = 0; s == LEAT_OK && i < v->splits.count; i++)
        s = run_folder_write_split(r, v->splits.items[i].name, &err);
    if (s == LEAT_OK)
        s = run_folder_write(r, &err);
    r->words = NULL;
    r->count = 0;
    if (s != LEAT_OK && made)
        (void)rmdir(r->path); /* of which nothing came; if it is not empty, another process plans there */
    if (s != LEAT_OK)
        return cli_failed(&err);
    say_plan(v, r, &report);
    return cli_finish_stdout(CLI_DONE);
}

void pack_in_run_free(struct pack_in_run *in)
{
    run_folder_free(&in->folder);
    free(in->inputs);
    free(in->output);
    free(in->words);
}
