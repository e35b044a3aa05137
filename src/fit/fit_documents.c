/* fit_documents.c: All is made from runs: no document is looked at. */
#include "fit_documents.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/search.h"
#include "base/status.h"

static bool left_out(const struct fit_documents *f, const struct fit_run *run)
{
    return run->tokens < f->options[PLAN_FIT_MIN_LENGTH] ||
           (f->options[PLAN_FIT_MAX_LENGTH] > 0 && run->tokens > f->options[PLAN_FIT_MAX_LENGTH]);
}

static uint64_t predictions_of(const struct fit_documents *f, const struct fit_run *run)
{
    uint64_t tokens = run->tokens, cut = f->options[PLAN_FIT_CUT_LENGTH];

    if (cut > 0 && tokens > cut)
        tokens = cut;
    return tokens > 0 && !left_out(f, run) ? tokens - 1 : 0;
}

uint64_t fit_documents_predictions(const struct fit_documents *f, uint64_t tokens)
{
    return predictions_of(f, &(struct fit_run) { .tokens = tokens });
}

/* The full rows of this number of predictions, and the length of the rest. */
static uint64_t full_rows(const struct fit_documents *f, uint64_t predictions, uint64_t length, uint64_t *rest)
{
    uint64_t context = length - f->step, after;

    *rest = predictions;
    if (predictions < length)
        return 0;
    after = (predictions - context) % f->step;
    *rest = after > 0 ? context + after : 0;
    return (predictions - context) / f->step;
}

/* Counts the documents of a run; counts[rest] are pieces. */
static void count_run(struct fit_documents *f, const struct fit_run *run, uint64_t length, uint64_t *counts)
{
    uint64_t predictions = predictions_of(f, run), rest, full = full_rows(f, predictions, length, &rest);

    f->unused += run->tokens > 0 ? (run->tokens - 1 - predictions) * run->count : 0;
    if (left_out(f, run)) {
        f->left_out += run->count;
        return;
    }
    counts[rest] += rest > 0 ? run->count : 0;
    f->rest_count += rest > 0;
    f->documents += run->count;
    f->predictions += predictions * run->count;
    f->empty += predictions == 0 ? run->count : 0;
    if (full + (rest > 0) > 1) {
        f->cut += run->count;
        f->lost += (predictions - length) * run->count;
        f->context += (full + (rest > 0) - 1) * (length - f->step) * run->count;
    }
}

/* Sorts the runs by rest; counts[rest] become the places of the next run in by_rest. */
static void sort_runs(struct fit_documents *f, uint64_t length, uint64_t *counts)
{
    const struct fit_lengths *l = f->lengths;
    uint64_t place = 0, piece = 0, rest;

    memset(counts, 0, length * sizeof *counts);
    for (uint64_t i = 0; i < l->run_count; i++) {
        full_rows(f, predictions_of(f, &l->runs[i]), length, &rest);
        counts[rest]++;
    }
    counts[0] = 0;
    for (rest = 0; rest < length; rest++) {
        uint64_t runs = counts[rest];

        counts[rest] = place;
        place += runs;
    }
    for (uint64_t i = 0; i < l->run_count; i++) {
        full_rows(f, predictions_of(f, &l->runs[i]), length, &rest);
        if (rest > 0) {
            f->place_of[i] = (uint32_t)counts[rest];
            f->by_rest[counts[rest]++] = (uint32_t)i;
        }
    }
    for (uint64_t i = 0, class = 0; i < f->rest_count; i++) {
        if (piece == f->fit.classes[class].first)
            f->class_first[class ++] = (uint32_t)i;
        f->first_piece[i] = piece;
        piece += l->runs[f->by_rest[i]].count;
    }
    f->class_first[f->fit.class_count] = (uint32_t)f->rest_count;
    for (uint64_t i = f->first_long; i < l->run_count; i++) {
        f->first_row[i - f->first_long] = f->full;
        f->full += full_rows(f, predictions_of(f, &l->runs[i]), length, &rest) * l->runs[i].count;
    }
    f->rows = f->full + f->fit.rows;
}

static enum leat_status make_documents(struct fit_documents *f, uint32_t source, uint64_t length, uint64_t seed,
                                       uint64_t *counts, struct leat_error *err)
{
    const struct fit_lengths *l = f->lengths;
    enum leat_status s;

    for (uint64_t i = 0; i < l->run_count; i++)
        count_run(f, &l->runs[i], length, counts);
    while (f->first_long < l->run_count && predictions_of(f, &l->runs[f->first_long]) < length)
        f->first_long++;
    s = fit_make(&f->fit, counts,
                 &(struct fit_rules) { .length = length,
                                       .max_pieces = f->options[PLAN_FIT_MAX_PER_ROW],
                                       .align = f->options[PLAN_FIT_ALIGN] > 0 ? f->options[PLAN_FIT_ALIGN] : 1,
                                       .seed = seed,
                                       .source = source },
                 err);
    if (s != LEAT_OK)
        return s;
    f->by_rest = malloc((size_t)(f->rest_count + 1) * sizeof *f->by_rest);
    f->first_piece = malloc((size_t)(f->rest_count + 1) * sizeof *f->first_piece);
    f->place_of = malloc((size_t)(l->run_count + 1) * sizeof *f->place_of);
    f->first_row = malloc((size_t)(l->run_count - f->first_long + 1) * sizeof *f->first_row);
    f->class_first = malloc((size_t)(f->fit.class_count + 1) * sizeof *f->class_first);
    if (!f->by_rest || !f->class_first || !f->first_piece || !f->place_of || !f->first_row)
        return status_no_memory(err, l->run_count * sizeof *f->first_row);
    sort_runs(f, length, counts);
    return LEAT_OK;
}

static enum leat_status check_length(const struct plan_rules *rules, uint64_t length, struct leat_error *err)
{
    uint64_t align = rules->fit[PLAN_FIT_ALIGN], overlap = rules->fit[PLAN_FIT_OVERLAP];

    if (length > FIT_MAX_LENGTH)
        return status_argument(err, "seq_len", "rows of order fit have at most 2^24 inputs, not %" PRIu64, length);
    if (align > 0 && length % align != 0)
        return status_argument(
            err, "align", "rows of %" PRIu64 " inputs are not a multiple of align, which is %" PRIu64, length, align);
    if (overlap >= length)
        return status_argument(err, "overlap", "an overlap of %" PRIu64 " leaves no room in rows of %" PRIu64 " inputs",
                               overlap, length);
    return LEAT_OK;
}

enum leat_status fit_documents_make(struct fit_documents *f, const struct fit_lengths *lengths,
                                    const struct plan_rules *rules, uint32_t source, uint64_t length,
                                    struct leat_error *err)
{
    uint64_t *counts, *max = &f->options[PLAN_FIT_MAX_LENGTH], places;
    enum leat_status s;

    *f = (struct fit_documents) { .lengths = lengths };
    for (unsigned i = 0; i < PLAN_FIT_OPTIONS; i++)
        f->options[i] = plan_rules_fit(rules, source, (enum plan_fit_option)i);
    if (f->options[PLAN_FIT_WHOLE] && (*max == 0 || *max > length + 1))
        *max = length + 1; /* a row holds no longer document */
    s = check_length(rules, length, err);
    if (s != LEAT_OK)
        return s;
    f->step = length - rules->fit[PLAN_FIT_OVERLAP];
    counts = calloc((size_t)length, sizeof *counts);
    if (!counts)
        return status_no_memory(err, length * sizeof *counts);
    s = make_documents(f, source, length, rules->seed, counts, err);
    free(counts);
    if (s == LEAT_OK && (f->rows > PERMUTE_MAX || !bytes_multiply(f->rows, length, &places)))
        s = status_in_file(err,
                           status_argument(err, "sources",
                                           "%.300s has %" PRIu64 " rows of %" PRIu64
                                           " places; more than 2^48 is too many",
                                           rules->sources[source].name, f->rows, length),
                           rules->sources[source].name);
    return s;
}

void fit_documents_free(struct fit_documents *f)
{
    fit_free(&f->fit);
    free(f->by_rest);
    free(f->class_first);
    free(f->first_piece);
    free(f->place_of);
    free(f->first_row);
    *f = (struct fit_documents) { .rows = 0 };
}

/* ---- From row to documents ---- */

const struct fit_pattern *fit_documents_pattern(const struct fit_documents *f, uint64_t row)
{
    return row < f->full ? NULL : fit_pattern_of(&f->fit, row - f->full);
}

struct wanted {
    const struct fit_documents *f;
    uint64_t number;
};

SEARCH_INLINE bool full_begins_by(const void *context, uint64_t i)
{
    const struct wanted *w = context;

    return w->f->first_row[i] <= w->number;
}

static struct fit_found full_row(const struct fit_documents *f, uint64_t row)
{
    uint64_t longs = f->lengths->run_count - f->first_long, length = f->fit.length;
    uint64_t at = search_first(1, longs, full_begins_by, &(struct wanted) { .f = f, .number = row }) - 1;
    const struct fit_run *run = &f->lengths->runs[f->first_long + at];
    uint64_t rest, chunks = full_rows(f, predictions_of(f, run), length, &rest);

    row -= f->first_row[at];
    return (struct fit_found) { run, row / chunks, row % chunks * f->step, 0, (uint32_t)length };
}

SEARCH_INLINE bool pieces_begin_by(const void *context, uint64_t i)
{
    const struct wanted *w = context;

    return w->f->first_piece[i] <= w->number;
}

void fit_documents_row(const struct fit_documents *f, const struct fit_pattern *p, const struct leat_sample *x,
                       bool first_only, struct fit_drawing *drawing, struct fit_found *found)
{
    struct fit_piece *pieces = drawing->pieces + drawing->count;
    struct permute_draw *draws = drawing->draws + drawing->count;
    struct fit_shown shown = { p, x->block - f->full, x->epoch, x->number };

    if (!p) {
        *found = full_row(f, x->block);
    } else if (first_only) {
        fit_row_first(&f->fit, &shown, pieces, draws, drawing->numbers);
        drawing->count++;
    } else {
        fit_row(&f->fit, &shown, pieces, draws, drawing->numbers);
        drawing->count += p->pieces;
    }
}

void fit_documents_drawn(const struct fit_documents *f, const struct fit_drawing *drawing, uint64_t from,
                         uint32_t count, struct fit_found *found)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct fit_piece *piece = &drawing->pieces[from + i];
        const struct wanted w = { .f = f, .number = piece->number + drawing->draws[from + i].at };
        const uint32_t *first = &f->class_first[piece->class];
        uint64_t k = search_first(first[0] + 1, first[1], pieces_begin_by, &w) - 1;

        found[i].run = &f->lengths->runs[f->by_rest[k]];
        found[i].document = w.number - f->first_piece[k];
        __builtin_prefetch(found[i].run);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length = drawing->pieces[from + i].length;

        found[i].from = predictions_of(f, found[i].run) - length;
        found[i].at = at;
        found[i].places = length;
        at += fit_places(&f->fit, length);
    }
}

/* ---- And back ---- */

uint64_t fit_documents_chunks(const struct fit_documents *f, const struct fit_run *run)
{
    uint64_t rest, full = full_rows(f, predictions_of(f, run), f->fit.length, &rest);

    return full + (rest > 0);
}

uint64_t fit_documents_chunk(const struct fit_documents *f, uint64_t at)
{
    return at < f->fit.length ? 0 : (at - f->fit.length) / f->step + 1;
}

uint64_t fit_documents_find(const struct fit_documents *f, const struct fit_run *run, uint64_t i, uint64_t chunk,
                            uint64_t epoch)
{
    uint64_t rest, number = (uint64_t)(run - f->lengths->runs);
    uint64_t chunks = full_rows(f, predictions_of(f, run), f->fit.length, &rest);

    if (chunk < chunks)
        return f->first_row[number - f->first_long] + i * chunks + chunk;
    return f->full + fit_find(&f->fit, f->first_piece[f->place_of[number]] + i, epoch);
}
