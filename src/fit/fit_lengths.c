#include "fit_lengths.h"

#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/search.h"
#include "base/status.h"
#include "fit_side.h"

/* ---- Which documents are used ---- */

static enum leat_status find_used(const struct plan_source *s, struct fit_range **used, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    *used = calloc(s->part_count, sizeof **used);
    if (!*used)
        return status_no_memory(err, s->part_count * sizeof **used);
    for (uint32_t i = 0; status == LEAT_OK && i < s->part_count; i++)
        status = plan_source_used(s, i, &(*used)[i].first, &(*used)[i].end, err);
    return status;
}

/* ---- Side files ---- */

/* A list that is looked at: its map, until leave(). */
struct looked {
    struct fit_list *list;
    const uint8_t *map; /* NULL: it is in memory, or has to be read */
    uint64_t document;  /* of a search */
};

static struct looked enter(const struct fit_lengths *l, uint64_t number)
{
    struct fit_list *list = &l->lists[number];

    return (struct looked) { .list = list, .map = list->memory ? NULL : file_map_enter(&list->side.file) };
}

static void leave(const struct looked *x)
{
    if (x->map)
        file_map_leave(&x->list->side.file);
}

static enum leat_status read_place(const struct looked *x, uint64_t place, uint64_t *document, struct leat_error *err)
{
    struct fit_side *side = &x->list->side;

    if (!x->list->memory)
        return fit_side_document(side, x->map, place, document, err);
    *document = x->list->memory[place];
    return LEAT_OK;
}

static enum leat_status document_is_before(void *context, uint64_t place, bool *is_before, struct leat_error *err)
{
    const struct looked *x = context;
    uint64_t document = 0;
    enum leat_status s = read_place(x, place, &document, err);

    *is_before = s == LEAT_OK && document < x->document;
    return s;
}

/* The place in a run of the first document that is not before this one of the list. */
static enum leat_status find_place(const struct fit_lengths *l, const struct fit_run *run, uint64_t document,
                                   uint64_t *place, struct leat_error *err)
{
    struct looked x = enter(l, run->list);
    enum leat_status s;

    x.document = document;
    s = search_first_read(place, run->first, run->first + run->count, document_is_before, &x, err);
    leave(&x);
    return s;
}

/* Adds the runs of a list's side file, of used documents only. */
static enum leat_status add_runs(struct fit_lengths *l, uint64_t number, const struct fit_range *used,
                                 struct leat_error *err)
{
    const struct fit_list *list = &l->lists[number];
    uint64_t first = used->first - list->first_document, end = used->end - list->first_document;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < list->side.run_count; i++) {
        struct fit_run run = list->side.runs[i];
        uint64_t from = run.first, to = run.first + run.count;

        run.list = number;
        if (first > 0)
            s = find_place(l, &run, first, &from, err);
        if (s == LEAT_OK && end < list->side.documents)
            s = find_place(l, &run, end, &to, err);
        if (s == LEAT_OK && to > from) {
            l->runs[l->run_count++] = (struct fit_run) { run.tokens, from, to - from, number };
            l->documents += to - from;
        }
    }
    return s;
}

static int compare_runs(const void *left, const void *right)
{
    const struct fit_run *a = left, *b = right;

    return a->tokens != b->tokens ? a->tokens < b->tokens ? -1 : 1 : a->list < b->list ? -1 : a->list > b->list;
}

/* Opens the side files of all parts. Some failure: a part has none that can be used. */
static enum leat_status open_sides(struct fit_lengths *l, const struct plan_source *s, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    l->lists = calloc(s->part_count, sizeof *l->lists);
    if (!l->lists)
        return status_no_memory(err, s->part_count * sizeof *l->lists);
    for (uint32_t i = 0; status == LEAT_OK && i < s->part_count; i++) {
        struct leat_part part = LEAT_PART_INIT;

        leat_dataset_part(s->dataset, i, &part, NULL); /* cannot fail: the number exists */
        l->lists[i].first_document = part.first_document;
        l->list_count++;
        status = fit_side_open(&l->lists[i].side, s->dataset, &part, err);
    }
    return status;
}

static enum leat_status use_sides(struct fit_lengths *l, const struct plan_source *s, const struct fit_range *used,
                                  struct leat_error *err)
{
    uint64_t runs = 0;
    enum leat_status status = LEAT_OK;

    for (uint64_t i = 0; i < l->list_count; i++)
        runs += l->lists[i].side.run_count;
    l->runs = malloc((size_t)(runs + 1) * sizeof *l->runs);
    if (!l->runs)
        return status_no_memory(err, runs * sizeof *l->runs);
    for (uint32_t i = 0; status == LEAT_OK && i < s->part_count; i++)
        status = add_runs(l, i, &used[i], err);
    if (status == LEAT_OK)
        qsort(l->runs, l->run_count, sizeof *l->runs, compare_runs);
    return status;
}

/* ---- Or a list in memory ---- */

static enum leat_status sort(struct fit_lengths *l, const struct plan_source *s, const struct fit_range *used,
                             bool list, struct leat_error *err)
{
    struct fit_sort x = {
        .dataset = s->dataset, .choice = s->choice, .ranges = used, .range_count = s->part_count, .base = used[0].first
    };
    enum leat_status status = fit_sort_count(&x, err);

    if (status == LEAT_OK && list) {
        l->lists = calloc(1, sizeof *l->lists);
        if (l->lists) {
            l->list_count = 1;
            l->lists->first_document = x.base;
            l->lists->side.file.fd = -1;
            l->lists->memory = big_alloc((size_t)(x.documents + 1) * sizeof *l->lists->memory);
        }
        status = l->lists && l->lists->memory ? fit_sort_list(&x, 0, x.documents, l->lists->memory, err)
                                              : status_no_memory(err, x.documents * sizeof *l->lists->memory);
    }
    l->runs = x.runs;
    l->run_count = x.run_count;
    l->documents = x.documents;
    x.runs = NULL;
    fit_sort_free(&x);
    return status;
}

static enum leat_status make_lengths(struct fit_lengths *l, const struct plan_source *s, const char *name,
                                     const struct fit_range *used, uint64_t max_in_memory, struct leat_error *err)
{
    struct leat_error why = { .message = "" };
    uint64_t documents = 0;

    if (!s->choice && open_sides(l, s, &why) == LEAT_OK)
        return use_sides(l, s, used, err);
    fit_lengths_free(l);
    for (uint32_t i = 0; i < s->part_count; i++)
        documents += used[i].end - used[i].first;
    /* the numbers in a list, from the first document that is used, have 32 bits */
    if (documents <= max_in_memory && used[s->part_count - 1].end - used[0].first <= (uint64_t)1 << 32)
        return sort(l, s, used, true, err);
    if (s->choice)
        return status_set_in(err, LEAT_E_UNSUPPORTED, name,
                             "%" PRIu64 " documents of %.300s are chosen, too many to sort in memory for rows of whole "
                             "documents: choose at most 2^28, which count up to 2^32 with those between them, or make "
                             "several sources of them",
                             documents, name);
    return status_set_in(
        err, LEAT_E_UNSUPPORTED, name,
        "%.300s has %" PRIu64
        " documents, too many to sort in memory for rows of whole documents: run `leat fit %.300s` once, "
        "which writes them sorted to a file beside it (%.300s)",
        name, documents, name, why.message);
}

enum leat_status fit_lengths_make(struct fit_lengths *l, const struct plan_source *s, const char *name,
                                  uint64_t max_in_memory, struct leat_error *err)
{
    struct fit_range *used = NULL;
    enum leat_status status = leat_dataset_starts(s->dataset, 0, 0, NULL, err);

    *l = (struct fit_lengths) { .documents = 0 };
    if (status == LEAT_OK)
        status = find_used(s, &used, err);
    if (status == LEAT_OK)
        status = make_lengths(l, s, name, used, max_in_memory, err);
    free(used);
    return status;
}

enum leat_status fit_lengths_count(struct fit_lengths *l, const struct plan_source *s, struct leat_error *err)
{
    struct fit_range *used = NULL;
    enum leat_status status = find_used(s, &used, err);

    *l = (struct fit_lengths) { .documents = 0 };
    if (status == LEAT_OK)
        status = sort(l, s, used, false, err);
    free(used);
    return status;
}

void fit_lengths_free(struct fit_lengths *l)
{
    for (uint64_t i = 0; i < l->list_count; i++) {
        free(l->lists[i].memory);
        fit_side_close(&l->lists[i].side);
    }
    free(l->lists);
    free(l->runs);
    *l = (struct fit_lengths) { .documents = 0 };
}

/* ---- Looking up ---- */

#define AT_ONCE 32u

/* Of one list, whose places are on their way to the processor before the first is looked at. */
static enum leat_status read_places(const struct looked *x, const struct fit_found *found, uint64_t count,
                                    uint64_t *documents, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t place = found[i].run->first + found[i].document;

        if (x->list->memory)
            __builtin_prefetch(&x->list->memory[place]);
        else if (x->map)
            __builtin_prefetch(x->map + x->list->side.list + 4 * place);
    }
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        s = read_place(x, found[i].run->first + found[i].document, &documents[i], err);
        documents[i] += x->list->first_document;
    }
    return s;
}

enum leat_status fit_lengths_documents(const struct fit_lengths *l, const struct fit_found *found, uint64_t count,
                                       uint64_t *documents, struct leat_error *err)
{
    struct looked x = { .list = NULL };
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0, here; s == LEAT_OK && at < count; at += here) {
        for (here = 1; here < AT_ONCE && at + here < count && found[at + here].run->list == found[at].run->list;)
            here++;
        if (x.list != &l->lists[found[at].run->list]) {
            leave(&x);
            x = enter(l, found[at].run->list);
        }
        s = read_places(&x, found + at, here, documents + at, err);
    }
    leave(&x);
    return s;
}

struct wanted {
    const struct fit_lengths *l;
    uint64_t tokens, document;
};

/* Runs of documents with fewer tokens, and of as many in an earlier list. */
SEARCH_INLINE bool run_is_before(const void *context, uint64_t number)
{
    const struct wanted *w = context;
    const struct fit_run *run = &w->l->runs[number];

    return run->tokens < w->tokens ||
           (run->tokens == w->tokens && number + 1 < w->l->run_count && run[1].tokens == w->tokens &&
            w->l->lists[run[1].list].first_document <= w->document);
}

enum leat_status fit_lengths_find(const struct fit_lengths *l, uint64_t document, uint64_t tokens,
                                  const struct fit_run **run, uint64_t *i, struct leat_error *err)
{
    uint64_t number = search_first(0, l->run_count, run_is_before, &(struct wanted) { l, tokens, document });
    const struct fit_run *r = &l->runs[number];
    enum leat_status s;

    if (number == l->run_count || r->tokens != tokens || l->lists[r->list].first_document > document)
        return status_set(err, LEAT_E_DOCUMENTS,
                          "the list of documents by length is damaged: it has no run of %" PRIu64
                          " tokens at document %" PRIu64 "; make it again with `leat fit`",
                          tokens, document);
    s = find_place(l, r, document - l->lists[r->list].first_document, i, err);
    *run = r;
    *i -= s == LEAT_OK ? r->first : 0;
    return s;
}
