/*
 * merge.c: leat_merge(): opens finished datasets, and arranges their documents anew (merge_documents.c) or divides them
 * by the values of a field (divide.c). leat_pack() arranges its documents by this call, too, so that shares, once
 * merged, have the bytes of a single run.
 */
#include "merge.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "divide.h"
#include "join_facts.h"
#include "merge_columns.h"
#include "merge_documents.h"
#include "merge_parts.h"
#include "private.h"
#include "splits/split_fractions.h"

#define MEMORY_STANDARD   ((uint64_t)2 << 30)
#define MEMORY_ITSELF     ((uint64_t)16 << 20) /* used beside the memory for sorting, as leat_pack.h says */
#define MEMORY_PER_OUTPUT ((uint64_t)8 << 20)
#define MEMORY_MIN        TINY_OR((uint64_t)1 << 10, (uint64_t)64 << 10)

struct request {
    struct leat_merge_options options;
    struct merge_parts parts;
    const char *field; /* field that divides the documents, or whose values they carry; NULL if there is none */
    struct pace pace;
};

/* ---- The request ---- */

/* Names conditions, which stand on a line each. */
static void name_conditions(const char *lines, char *text, size_t room)
{
    for (size_t used = 0, length; *lines && used < room; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        used += (size_t)snprintf(text + used, room - used, "%s\"%.*s\"", used > 0 ? " and " : "", (int)length, lines);
    }
}

/*
 * Returns LEAT_E_EMPTY if a filter left no document of the whole run: such a run has failed, and a run in shares
 * can only tell when they are merged. If it was split, the documents that are missing here may be in the other
 * splits.
 */
static enum leat_status check_kept(const struct request *m, struct leat_error *err)
{
    const struct merge_part *first = &m->parts.items[0];
    const char *keep = merge_parts_metadata(first, METADATA_KEEP);
    char conditions[400] = "";

    if (!m->parts.whole_run || m->parts.documents > 0 || m->options.allow_empty || !keep ||
        merge_parts_metadata(first, METADATA_SPLITS))
        return LEAT_OK;
    name_conditions(keep, conditions, sizeof conditions);
    return status_set_hint(err, LEAT_E_EMPTY, LEAT_HINT_EMPTY, NULL,
                           "no document is left in any part of the run, which kept the records with %s; a dataset "
                           "without documents is not made",
                           conditions);
}

static enum leat_status check_request(struct request *m, struct leat_error *err)
{
    const struct leat_merge_options *o = &m->options;
    const char *what = o->dedup ? "deduplication" : o->split_count > 0 ? "splitting" : NULL;
    enum leat_status s = shares_check(&m->parts, err);
    char text[SHARES_TEXT];

    if (s == LEAT_OK)
        s = divide_field(&m->parts, &m->field, err);
    if (s != LEAT_OK)
        return s;
    if (m->parts.shares.of && (o->shuffle || o->dedup || (m->field && o->split_count > 0))) {
        shares_print(text, &m->parts.shares);
        return status_set(
            err, LEAT_E_INCOMPATIBLE,
            "these are only share %s of a run, and %s needs all shares at once; add the missing shares, or merge "
            "without it",
            text,
            o->dedup     ? "deduplication"
            : o->shuffle ? "shuffling"
                         : "splitting by values");
    }
    s = check_kept(m, err);
    if (s == LEAT_OK && what)
        s = merge_parts_need_hashes(&m->parts, what, err);
    if (s == LEAT_OK && m->field && !m->parts.shares.of && m->parts.column_count > 0)
        s = leat_dataset_refuse_columns(m->parts.opened[0], "dividing by values", err);
    return s == LEAT_OK ? merge_columns_check(&m->parts, err) : s;
}

static enum leat_status open_parts(struct request *m, const char *const *names, size_t count, struct leat_error *err)
{
    const struct leat_merge_options *o = &m->options;
    struct split_fractions splits = { 0 };
    enum leat_status refused, s = split_fractions_make(&splits, o->splits, o->split_count, err);
    struct leat_error why;

    split_fractions_free(&splits); /* they are right */
    if (s == LEAT_OK)
        s = merge_parts_open(&m->parts, names, count, err);
    if (s != LEAT_OK)
        return s;
    refused = check_request(m, &why);
    /* Reading all indexes comes last, since it takes longest. If an index is damaged, this is reported instead of
     * what the quick checks refused, which the damage may have caused. */
    s = merge_parts_check_indexes(&m->parts, &m->pace, err);
    if (s == LEAT_OK && refused != LEAT_OK && err)
        *err = why;
    return s == LEAT_OK ? refused : s;
}

/* Opens the parts that `given` names, as people or a shell's pattern give them. */
static enum leat_status open_given(struct request *m, const char *output, const char *const *given, size_t count,
                                   struct leat_merge_report *report, struct leat_error *err)
{
    struct merge_names names;
    enum leat_status s = merge_names_take(&names, output, given, count, &m->options, err);

    report->parts = names.count;
    if (s == LEAT_OK)
        s = open_parts(m, names.items, names.count, err);
    merge_names_free(&names);
    return s;
}

/* Returns the memory for sorting if the caller gives no limit: in a control group, the rest of this process's share. */
static uint64_t usual_memory(uint64_t splits)
{
    uint64_t others = memory_resident() + MEMORY_ITSELF + (splits + 1) * MEMORY_PER_OUTPUT;
    uint64_t all = memory_within_groups(MEMORY_STANDARD + others);

    return all > others ? all - others : 0;
}

static enum leat_status merge_or_divide(struct request *m, const char *output, bool folders, const char *const *names,
                                        size_t count, struct leat_merge_report *report, struct leat_error *err)
{
    enum leat_status s = open_given(m, output, names, count, report, err);

    report->datasets = m->parts.count;
    report->first_share = m->parts.shares.of ? m->parts.shares.first : 0;
    report->last_share = m->parts.shares.of ? m->parts.shares.last : 0;
    report->shares = m->parts.shares.of;
    if (s != LEAT_OK)
        return s;
    if (m->field && !m->parts.shares.of)
        return divide(output, &m->parts, m->field, &m->options, report, err);
    return merge_documents(output, folders, &m->parts, &m->options, &m->pace, report, err);
}

/* Reads the options and the report. */
static enum leat_status read_request(struct request *m, struct leat_merge_report *full,
                                     const struct leat_merge_options *options, const struct leat_merge_report *report,
                                     struct leat_error *err)
{
    static const struct options_reserved reserved[] = { OPTIONS_RESERVED(leat_merge_options, reserved), { 0, 0 } };
    struct leat_merge_options *o = &m->options;
    enum leat_status s = options_read(full, sizeof *full, NULL, report, "leat_merge_report", err);

    *o = (struct leat_merge_options)LEAT_MERGE_OPTIONS_INIT;
    if (s == LEAT_OK)
        s = options_read(o, sizeof *o, reserved, options, "leat_merge_options", err);
    if (s != LEAT_OK)
        return s;
    if (o->memory == 0)
        o->memory = usual_memory(o->split_count);
    if (o->memory < MEMORY_MIN)
        o->memory = MEMORY_MIN;
    m->pace = (struct pace) { .progress = o->progress, .context = o->context };
    return LEAT_OK;
}

enum leat_status merge_into(const char *output, const char *const *parts, uint64_t count, bool folders,
                            const struct leat_merge_options *options, struct leat_merge_report *report,
                            struct leat_error *err)
{
    struct leat_merge_report full = LEAT_MERGE_REPORT_INIT;
    struct request m = { .field = NULL };
    enum leat_status s;

    if (!output || !parts || count == 0)
        return status_argument(err, !output ? "output" : "parts", "leat_merge: missing output or parts");
    s = own_file_check_local(output, err);
    if (s == LEAT_OK)
        s = read_request(&m, &full, options, report, err);
    if (s == LEAT_OK)
        s = merge_or_divide(&m, output, folders, parts, count, &full, err);
    if (s == LEAT_OK && report)
        options_fill(report, &full, sizeof full);
    merge_parts_close(&m.parts);
    return s;
}

enum leat_status leat_merge(const char *output, const char *const *parts, uint64_t count,
                            const struct leat_merge_options *options, struct leat_merge_report *report,
                            struct leat_error *err)
{
    return merge_into(output, parts, count, false, options, report, err);
}
