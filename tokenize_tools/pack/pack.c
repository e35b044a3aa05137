/* pack.c: leat_pack(): see pack.h. */
#include "pack.h"

#include "base/options.h"
#include "base/status.h"

static enum leat_status check(const char *output, uint64_t count, const struct leat_pack_options *o,
                              struct leat_error *err)
{
    if (!output || !*output || !o->tokenizer)
        return status_set(err, LEAT_E_ARGUMENT, "packing needs an output and a tokenizer");
    if (count == 0)
        return status_set(err, LEAT_E_ARGUMENT, "packing needs at least one input");
    return pack_arranges(o) ? pack_arranged_check(o, err) : LEAT_OK;
}

enum leat_status leat_pack(const char *output, const char *const *inputs, uint64_t count,
                           const struct leat_pack_options *options, struct leat_pack_report *report,
                           struct leat_error *err)
{
    struct leat_pack_options all = LEAT_PACK_OPTIONS_INIT;
    struct leat_pack_report full = LEAT_PACK_REPORT_INIT;
    struct input_list list = { 0 };
    enum leat_status s = options_read(&all, sizeof all, &all.reserved, options, "leat_pack_options", err);

    if (s == LEAT_OK)
        s = options_read(&full, sizeof full, NULL, report, "leat_pack_report", err);
    if (s != LEAT_OK)
        return s;
    s = check(output, count, &all, err);
    if (s == LEAT_OK)
        s = inputs_find(&list, inputs, count, all.format, err);
    if (s == LEAT_OK && pack_arranges(&all))
        s = pack_arranged(output, &list, &all, &full, err);
    else if (s == LEAT_OK)
        s = pack_files(output, NULL, &list, &all, &full, err);
    inputs_free(&list);
    if (report)
        options_fill(report, &full, sizeof full);
    return s;
}
