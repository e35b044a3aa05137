/* run_join.c: leat_run_join(): checks that the parts are done, and calls leat_merge(). */
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
    enum leat_status s = options_read(&o, sizeof o, NULL, options, "leat_merge_options", err);

    if (s == LEAT_OK && (!output || !*output))
        s = status_argument(err, "output", "joining needs an output");
    if (s == LEAT_OK)
        s = check_done(run, err);
    return s == LEAT_OK ? leat_merge(output, &folder, 1, &o, report, err) : s;
}
