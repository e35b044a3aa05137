/*
 * run_join.c: leat_run_join(). The work is leat_merge()'s; what is looked at before is whether the parts are there, and
 * whether what was begun in place is what this call means: then the parts are no datasets any more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/options.h"
#include "base/path.h"
#include "base/status.h"
#include "run_advice.h"
#include "run_folder.h"
#include "run_status.h"

/* Whether the plan of a joining that is under way, OUTPUT.joining, has files of the run's folder. */
static enum leat_status check_joining(const struct leat_run *run, const char *name, struct leat_error *err)
{
    struct buffer plan = { 0 };
    char *wanted = NULL;
    enum leat_status s = run_load_text(&plan, name, err);

    if (s == LEAT_OK && asprintf(&wanted, " %s/", run->folder) < 0)
        s = status_no_memory(err, strlen(run->folder));
    if (s == LEAT_OK && !strstr((char *)plan.bytes, wanted))
        s = run_advise(err,
                       status_set_in(err, LEAT_E_STATE, name,
                                     "%s is the plan to join other parts: name the parts with which it was started",
                                     name),
                       RUN_JOINING_OTHER);
    free(wanted);
    buffer_free(&plan);
    return s;
}

/* What goes on does not look at the parts. */
static enum leat_status check_begun(struct leat_run *run, const char *output, bool in_place, bool *begun,
                                    struct leat_error *err)
{
    char *name = path_append(output, file_dataset_length(output, strlen(output)), ".joining", NULL);
    enum leat_status s = name ? LEAT_OK : status_no_memory(err, strlen(output));

    *begun = s == LEAT_OK && in_place && access(name, F_OK) == 0;
    if (*begun)
        s = check_joining(run, name, err);
    else if (s == LEAT_OK)
        s = run_read_joining(run, err);
    if (s == LEAT_OK && !*begun && run->joining)
        s = run_say_joining(run, err);
    free(name);
    return s;
}

static enum leat_status check_done(struct leat_run *run, struct leat_error *err)
{
    struct leat_run_status status = LEAT_RUN_STATUS_INIT;
    enum leat_status s = leat_run_status(run, &status, err);
    const char *left = status.unfinished;

    if (s != LEAT_OK || !left[0])
        return s;
    return run_advise(err,
                      status_set_in(err, LEAT_E_NO_FILE, run->name,
                                    "the run in %s is not finished: of its %u parts, %.200s%s %s not done", run->name,
                                    status.parts, left, strlen(left) > 200 ? "..." : "",
                                    strpbrk(left, ",-") ? "are" : "is"),
                      RUN_LEFT);
}

enum leat_status leat_run_join(struct leat_run *run, const char *output, const struct leat_merge_options *options,
                               struct leat_merge_report *report, struct leat_error *err)
{
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;
    const char *const folder = run->folder;
    bool begun;
    enum leat_status s = options_read(&o, sizeof o, NULL, options, "leat_merge_options", err);

    if (s == LEAT_OK && (!output || !*output))
        s = status_argument(err, "output", "joining needs an output");
    if (s == LEAT_OK)
        s = check_begun(run, output, o.in_place != 0, &begun, err);
    if (s == LEAT_OK && !begun)
        s = check_done(run, err);
    return s == LEAT_OK ? leat_merge(output, &folder, 1, &o, report, err) : s;
}
