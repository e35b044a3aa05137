/*
 * test_fit_report.c: the report on rows of whole documents has the numbers that one gets by going through all samples
 * of an epoch, and through all predictions of all documents for windows; of two datasets, whole, with a split, and with
 * documents left out and cut.
 */
#include "documents.h"
#include "pieces_of.h"

#define LENGTHS "4,9,0,1,300,17x20,4096,65,64,63+2,2,1,40x13,700,128,129"

static struct leat_dataset *dataset;

/* What windows do, prediction by prediction. */
static void count_windows(uint64_t length, const uint64_t *begins, const uint64_t *ends, struct leat_fit_report *r)
{
    struct leat_info info = LEAT_INFO_INIT;

    leat_dataset_info(dataset, &info);
    for (uint64_t p = 0; p < info.parts; p++) {
        struct leat_part part = LEAT_PART_INIT;

        T_OK(leat_dataset_part(dataset, p, &part, &t_err));
        r->window_rows += (ends[p] - begins[p] - 1) / length;
        for (uint64_t d = 0; d < part.documents; d++) {
            uint64_t starts[2], lost = 0, first;

            T_OK(leat_dataset_starts(dataset, part.first_document + d, 2, starts, &t_err));
            first = starts[0] - part.first_token;
            if (first < begins[p] || first >= ends[p])
                continue;
            r->documents++;
            r->empty += starts[1] - starts[0] < 2;
            for (uint64_t at = starts[0]; at + 1 < starts[1]; at++) {
                r->predictions++;
                lost += (at - part.first_token - begins[p]) / length != (first - begins[p]) / length;
            }
            r->window_cut += lost > 0;
            r->window_lost += lost;
        }
    }
}

/* What rows do, sample by sample. */
static void count_rows(const struct leat_plan *plan, uint64_t length, uint64_t overlap, struct leat_fit_report *r)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    static uint64_t rows_of[1000];

    leat_plan_info(plan, &info);
    memset(rows_of, 0, sizeof rows_of);
    for (uint64_t n = 0; n < info.samples; n++) {
        struct leat_piece pieces[4096];
        uint64_t count, places = 0;

        T_OK(pieces_of(plan, n, pieces, 4096, &count, &t_err));
        for (uint64_t i = 0; i < count; i++) {
            uint64_t start, context;

            T_OK(leat_dataset_starts(dataset, pieces[i].document, 1, &start, &t_err));
            context = pieces[i].token > start ? overlap : 0;
            places += pieces[i].count - 1;
            r->cut += ++rows_of[pieces[i].document] == 2;
            r->lost += pieces[i].token > start ? pieces[i].count - 1 - context : 0;
            r->context += context;
        }
        r->rows++;
        r->pieces += count;
        r->max_pieces = count > r->max_pieces ? count : r->max_pieces;
        r->padding += length - places;
    }
}

/* of o: what struct leat_plan_options has of rows of whole documents */
static void check(uint64_t length, const char *split, struct leat_plan_options o)
{
    struct leat_fit_report got = LEAT_FIT_REPORT_INIT, wanted = LEAT_FIT_REPORT_INIT;
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    uint64_t begins[2], ends[2];
    struct leat_plan *plan;

    source.name = "data";
    source.dataset = dataset;
    o.sources = &source;
    o.source_count = 1;
    o.seq_len = length;
    o.epochs = 1;
    o.order = LEAT_ORDER_FIT;
    o.split = split;
    o.use = split ? "x" : NULL;
    T_OK(leat_plan_open(&plan, &o, &t_err));
    for (uint64_t p = 0; p < 2; p++) {
        struct leat_part part = LEAT_PART_INIT;

        T_OK(leat_dataset_part(dataset, p, &part, &t_err));
        begins[p] = !split ? 0 : p == 0 ? 4 + 9 + 0 + 1 + 300 : 2 + 2 + 1 + 40 + 40; /* where the split cuts */
        ends[p] = part.tokens;
    }
    count_windows(length, begins, ends, &wanted);
    count_rows(plan, length, o.fit.overlap, &wanted);
    T_OK(leat_plan_fit_report(plan, 0, length, &got, &t_err));
    wanted.full_rows = got.full_rows;
    wanted.patterns = got.patterns;
    T_EQ(got.rows * length, got.predictions + got.context + got.padding);
    if (o.fit.min_length + o.fit.max_length + o.fit.cut_length > 0) { /* windows count all */
        T_EQ(got.documents + got.left_out, wanted.documents);
        T_EQ(got.predictions + got.unused, wanted.predictions);
        T_CHECK(got.left_out > 0 && got.unused > 0);
        wanted.documents = got.documents;
        wanted.predictions = got.predictions;
        wanted.empty = got.empty;
        wanted.left_out = got.left_out;
        wanted.unused = got.unused;
    }
    T_CHECK((got.patterns > 0 || length == 1) && got.full_rows <= got.rows);
    T_EQ(memcmp(&got, &wanted, sizeof got), 0);
    T_STATUS(leat_plan_fit_report(plan, 1, length, &got, &t_err), LEAT_E_RANGE);
    T_STATUS(leat_plan_fit_report(plan, 0, 0, &got, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_plan_fit_report(plan, 0, (1 << 24) + 1, &got, &t_err), LEAT_E_ARGUMENT);
    leat_plan_close(plan);
}

int main(void)
{
    struct leat_plan_options no = LEAT_PLAN_OPTIONS_INIT, cut = no, within = no, overlap = no, both = no;

    cut.fit.min_length = 18;
    cut.fit.cut_length = 64;
    within.fit.min_length = 2;
    within.fit.max_length = 4095;
    dataset = documents_dataset(t_folder(), 0, LENGTHS);
    for (uint64_t length = 1; length < 140; length += length < 9 ? 1 : 27) {
        check(length, NULL, no);
        check(length, "y=0.05,x=0.95", no);
        check(length, NULL, cut);
        check(length, NULL, within);
        overlap.fit.align = 0;
        overlap.fit.overlap = length / 3;
        check(length, NULL, overlap);
        overlap.fit.overlap = length - 1;
        overlap.fit.align = length;
        check(length, NULL, overlap);
    }
    check(5000, NULL, no);
    both.fit.align = 8;
    both.fit.overlap = 17;
    check(40, NULL, both);
    leat_dataset_close(dataset);
    return t_end();
}
