/* fit_report.c: leat_plan_fit_report(): rows of whole documents of one length, and windows of the same length. */
#include "base/options.h"
#include "base/status.h"
#include "fit_documents.h"
#include "plan.h"

typedef unsigned long long ull;

#define STARTS_AT_ONCE 4096u

/* Where the borders of windows cut documents. */
static void count_cuts(const uint64_t *starts, uint64_t count, uint64_t begin, uint64_t length,
                       struct leat_fit_report *report)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t tokens = starts[i + 1] - starts[i], rest = length - (starts[i] - begin) % length;

        if (tokens > rest + 1) {
            report->window_cut++;
            report->window_lost += tokens - 1 - rest;
        }
    }
}

static enum leat_status report_windows(const struct plan_source *s, uint64_t length, struct leat_fit_report *report,
                                       struct leat_error *err)
{
    uint64_t starts[STARTS_AT_ONCE + 1];
    enum leat_status status = LEAT_OK;

    for (uint32_t i = 0; status == LEAT_OK && i < s->part_count; i++) {
        const struct plan_part *p = &s->parts[i];
        struct fit_range used;

        if (p->end > p->begin)
            report->window_rows += (p->end - p->begin - 1) / length;
        status = fit_lengths_used(s, i, &used, err);
        for (uint64_t here; status == LEAT_OK && used.first < used.end; used.first += here) {
            here = used.end - used.first < STARTS_AT_ONCE ? used.end - used.first : STARTS_AT_ONCE;
            status = leat_dataset_starts(s->dataset, used.first, here + 1, starts, err);
            if (status == LEAT_OK)
                count_cuts(starts, here, p->list_token + p->begin, length, report);
        }
    }
    return status;
}

static enum leat_status report_rows(const struct leat_plan *plan, const struct fit_lengths *lengths, uint64_t length,
                                    struct leat_fit_report *report, struct leat_error *err)
{
    struct fit_documents f;
    enum leat_status s = fit_documents_make(&f, lengths, &plan->rules, 0, length, err);

    report->documents = f.documents;
    report->predictions = f.predictions;
    report->empty = f.empty;
    report->rows = f.rows;
    report->full_rows = f.full;
    report->pieces = f.full + f.fit.pieces;
    report->max_pieces = f.full > 0 && f.fit.max_pieces == 0 ? 1 : f.fit.max_pieces;
    report->patterns = f.fit.pattern_count;
    report->padding = f.fit.room + f.fit.gaps;
    report->context = f.context;
    report->cut = f.cut;
    report->lost = f.lost;
    report->left_out = f.left_out;
    report->unused = f.unused;
    fit_documents_free(&f);
    return s;
}

enum leat_status leat_plan_fit_report(const struct leat_plan *plan, uint64_t source, uint64_t seq_len,
                                      struct leat_fit_report *report, struct leat_error *err)
{
    struct leat_fit_report r = LEAT_FIT_REPORT_INIT;
    struct fit_lengths lengths = { .documents = 0 };
    enum leat_status s = LEAT_OK;

    if (source >= plan->rules.source_count)
        return status_set(err, LEAT_E_RANGE, "no source %llu: the plan has %llu, numbered from 0", (ull)source,
                          (ull)plan->rules.source_count);
    if (seq_len == 0)
        return status_set(err, LEAT_E_ARGUMENT, "rows have at least one input");
    s = leat_dataset_starts(plan->sources[source].dataset, 0, 0, NULL, err);
    if (s == LEAT_OK)
        s = fit_lengths_count(&lengths, &plan->sources[source], err);
    if (s == LEAT_OK)
        s = report_rows(plan, &lengths, seq_len, &r, err);
    if (s == LEAT_OK)
        s = report_windows(&plan->sources[source], seq_len, &r, err);
    fit_lengths_free(&lengths);
    if (s == LEAT_OK)
        options_fill(report, &r, sizeof r);
    return s;
}
