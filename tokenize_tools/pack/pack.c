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

/* Reports the files that are left out. */
static void say_skipped(const struct input_list *list, const struct leat_pack_options *o,
                        struct leat_pack_report *report)
{
    struct leat_pack_notice notice = { .kind = LEAT_NOTICE_SKIPPED };

    report->skipped = list->skipped_count;
    for (size_t i = 0; o->notice && i < list->skipped_count; i++) {
        notice.path = list->skipped[i];
        o->notice(o->context, &notice);
    }
}

enum leat_status leat_pack(const char *output, const char *const *inputs, uint64_t count,
                           const struct leat_pack_options *options, struct leat_pack_report *report,
                           struct leat_error *err)
{
    struct leat_pack_options all = LEAT_PACK_OPTIONS_INIT;
    struct leat_pack_report full = LEAT_PACK_REPORT_INIT;
    struct input_list list = { 0 };
    struct input_rules rules;
    enum leat_status s = options_read(&all, sizeof all, &all.reserved, options, "leat_pack_options", err);

    if (s == LEAT_OK)
        s = options_read(&full, sizeof full, NULL, report, "leat_pack_report", err);
    if (s != LEAT_OK)
        return s;
    rules = (struct input_rules) { all.format, all.skip_unknown != 0, all.allow_binary != 0 };
    s = check(output, count, &all, err);
    if (s == LEAT_OK)
        s = inputs_find(&list, inputs, count, &rules, err);
    if (s == LEAT_OK)
        say_skipped(&list, &all, &full);
    if (s == LEAT_OK && pack_arranges(&all))
        s = pack_arranged(output, &list, &all, &full, err);
    else if (s == LEAT_OK)
        s = pack_files(output, NULL, &list, &all, &full, err);
    inputs_free(&list);
    if (report)
        options_fill(report, &full, sizeof full);
    return s;
}
