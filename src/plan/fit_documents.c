/* fit_documents.c: see fit_documents.h. All is made from runs: no document is looked at. */
#include "fit_documents.h"

#include <stdlib.h>

#include "base/search.h"
#include "base/status.h"

typedef unsigned long long ull;

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

/* Counts the documents of a run; counts[rest] are pieces. */
static void count_run(struct fit_documents *f, const struct fit_run *run, uint64_t length, uint64_t *counts)
{
    uint64_t predictions = predictions_of(f, run), full = predictions / length, rest = predictions % length;

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
    }
}

/* Sorts the runs by rest; counts[rest] become the places of the next run in by_rest. */
static void sort_runs(struct fit_documents *f, uint64_t length, uint64_t *counts)
{
    const struct fit_lengths *l = f->lengths;
    uint64_t place = 0, piece = 0;

    for (uint64_t rest = 0; rest < length; rest++)
        counts[rest] = 0;
    for (uint64_t i = 0; i < l->run_count; i++)
        counts[predictions_of(f, &l->runs[i]) % length]++;
    counts[0] = 0;
    for (uint64_t rest = 0; rest < length; rest++) {
        uint64_t runs = counts[rest];

        counts[rest] = place;
        place += runs;
    }
    for (uint64_t i = 0; i < l->run_count; i++) {
        uint64_t rest = predictions_of(f, &l->runs[i]) % length;

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
        f->full += predictions_of(f, &l->runs[i]) / length * l->runs[i].count;
    }
    f->rows = f->full + f->fit.rows;
}

static enum leat_status make(struct fit_documents *f, uint32_t source, uint64_t length, uint64_t seed, uint64_t *counts,
                             struct leat_error *err)
{
    const struct fit_lengths *l = f->lengths;
    enum leat_status s;

    for (uint64_t i = 0; i < l->run_count; i++)
        count_run(f, &l->runs[i], length, counts);
    while (f->first_long < l->run_count && predictions_of(f, &l->runs[f->first_long]) < length)
        f->first_long++;
    s = fit_make(&f->fit, counts, length, f->options[PLAN_FIT_MAX_PER_ROW], seed, source, err);
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

enum leat_status fit_documents_make(struct fit_documents *f, const struct fit_lengths *lengths,
                                    const struct plan_rules *rules, uint32_t source, uint64_t length,
                                    struct leat_error *err)
{
    uint64_t *counts;
    enum leat_status s;

    *f = (struct fit_documents) { .lengths = lengths, .options = rules->fit };
    if (length > FIT_MAX_LENGTH)
        return status_set(err, LEAT_E_ARGUMENT, "rows of order fit have at most 2^24 inputs, not %llu", (ull)length);
    counts = calloc((size_t)length, sizeof *counts);
    if (!counts)
        return status_no_memory(err, length * sizeof *counts);
    s = make(f, source, length, rules->seed, counts, err);
    free(counts);
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

uint32_t fit_documents_count(const struct fit_documents *f, uint64_t row, uint32_t *places)
{
    const struct fit_pattern *p;

    *places = (uint32_t)f->fit.length;
    if (row < f->full)
        return 1;
    p = fit_pattern_of(&f->fit, row - f->full);
    *places -= p->room;
    return p->pieces;
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
    uint64_t chunks = predictions_of(f, run) / length;

    row -= f->first_row[at];
    return (struct fit_found) { run, row / chunks, row % chunks * length, 0, (uint32_t)length };
}

SEARCH_INLINE bool pieces_begin_by(const void *context, uint64_t i)
{
    const struct wanted *w = context;

    return w->f->first_piece[i] <= w->number;
}

void fit_documents_row(const struct fit_documents *f, uint64_t row, uint64_t epoch, uint64_t n, struct fit_piece *room,
                       uint32_t wanted, struct fit_found *found)
{
    uint32_t at = 0;

    if (row < f->full) {
        *found = full_row(f, row);
        return;
    }
    fit_row(&f->fit, row - f->full, epoch, n, room, wanted);
    for (uint32_t i = 0; i < wanted; at += room[i++].length) {
        const struct wanted w = { .f = f, .number = room[i].number };
        const uint32_t *first = &f->class_first[room[i].class];
        uint64_t k = search_first(first[0] + 1, first[1], pieces_begin_by, &w) - 1;
        const struct fit_run *run = &f->lengths->runs[f->by_rest[k]];

        found[i] = (struct fit_found) { run, room[i].number - f->first_piece[k],
                                        predictions_of(f, run) - room[i].length, at, room[i].length };
    }
}

/* ---- And back ---- */

uint64_t fit_documents_find(const struct fit_documents *f, const struct fit_run *run, uint64_t i, uint64_t at,
                            uint64_t epoch, uint64_t *next)
{
    uint64_t length = f->fit.length, chunk = at / length, predictions = predictions_of(f, run);
    uint64_t chunks = predictions / length, number = (uint64_t)(run - f->lengths->runs);

    if (chunk < chunks) {
        *next = (chunk + 1) * length;
        return f->first_row[number - f->first_long] + i * chunks + chunk;
    }
    *next = predictions;
    return f->full + fit_find(&f->fit, f->first_piece[f->place_of[number]] + i, epoch);
}
