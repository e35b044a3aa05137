/*
 * part_steps.c: the steps in which the parts of a run find out together which documents have the text of an earlier
 * one, so that no machine needs all hashes: see leat_part_hashes() in leat_pack.h.
 *
 * Hashes are evenly distributed, so that a part's file of sorted hashes has a slice of about the same size for each
 * range of hashes. A range is decided as a whole run is (duplicates.c): its hashes are taken from all files, and the
 * tokens of documents that have the same are read from their parts. What comes out is sliced by part.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/wide.h"
#include "duplicates.h"
#include "merge_options.h"
#include "sorting/slices.h"

#define HASHES_WORDS 3

static enum leat_status open_one(struct merge_parts *parts, const char *name, struct leat_error *err)
{
    enum leat_status s = merge_parts_open(parts, &name, 1, err);

    if (s == LEAT_OK && parts->count != 1)
        s = status_set(err, LEAT_E_ARGUMENT, "%s is a list: the steps of a part are for one dataset each", name);
    return s == LEAT_OK ? merge_parts_need_hashes(parts, "deduplication", err) : s;
}

/* ---- Hashes ---- */

static enum leat_status write_hashes(const char *file, struct external_sort *sorted, uint64_t count, uint64_t documents,
                                     struct pace *pace, struct leat_error *err)
{
    struct slices_writer w;
    struct triple t;
    bool more = true;
    enum leat_status s = slices_begin(&w, file, count, documents, HASHES_WORDS, err);

    while (s == LEAT_OK) {
        s = external_sort_next(sorted, &t, &more, err);
        if (s != LEAT_OK || !more)
            break;
        s = slices_put(&w, wide_high(t.a, count), t, err);
        if (s == LEAT_OK)
            s = pace_step(pace, 0, err);
    }
    if (s == LEAT_OK)
        s = slices_finish(&w, err);
    slices_end(&w);
    return s;
}

enum leat_status leat_part_hashes(const char *file, const char *dataset, uint64_t count,
                                  const struct leat_merge_options *options, struct leat_error *err)
{
    struct leat_merge_options o;
    struct duplicates_finder f;
    struct merge_parts parts;
    struct pace pace;
    enum leat_status s;
    char *temporary;

    if (!file || !dataset)
        return status_set(err, LEAT_E_ARGUMENT, "leat_part_hashes: missing file or dataset");
    s = merge_options_take(&o, options, err);
    if (s != LEAT_OK)
        return s;
    temporary = merge_temporary_name(file, err);
    if (!temporary)
        return LEAT_E_NO_MEMORY;
    pace = (struct pace) { .progress = o.progress, .context = o.context };
    s = open_one(&parts, dataset, err);
    if (s == LEAT_OK)
        s = merge_parts_check_indexes(&parts, &pace, err);
    pace.total = parts.token_bytes;
    if (s == LEAT_OK) {
        s = duplicates_open(&f, temporary, o.memory, NULL, &pace, err);
        if (s == LEAT_OK)
            s = duplicates_put_part(&f, &parts.items[0], 0, err);
        if (s == LEAT_OK)
            s = external_sort_turn(&f.by_text, err);
        if (s == LEAT_OK)
            s = write_hashes(file, &f.by_text, count, parts.documents, &pace, err);
        duplicates_close(&f);
    }
    merge_parts_close(&parts);
    free(temporary);
    return s;
}

/* ---- A range of them ---- */

struct range {
    const char *const *datasets, *const *hashes;
    uint64_t count, number; /* of parts, and ranges; from 0 */
    uint64_t *first;        /* of each part: the number of its first document; then that of all */
    struct duplicates_finder finder;
    struct external_sort numbers;
    struct pace pace;
};

/* The hashes of one part that are in the range. */
static enum leat_status take_hashes(struct range *r, uint64_t part, struct leat_error *err)
{
    struct slice_reader reader;
    struct triple t;
    bool more = true;
    enum leat_status s = slice_open(&reader, r->hashes[part], r->count, r->number, HASHES_WORDS, err);
    uint64_t documents = s == LEAT_OK ? reader.documents : 0;

    if (documents > ((uint64_t)1 << 62) - r->first[part])
        s = status_set(err, LEAT_E_MISMATCH, "%s is not of this run", r->hashes[part]);
    while (s == LEAT_OK) {
        s = slice_next(&reader, &t, &more, err);
        if (s != LEAT_OK || !more)
            break;
        if (t.c >= documents)
            s = status_set(err, LEAT_E_MISMATCH, "%s is not of this run", r->hashes[part]);
        t.c += r->first[part];
        if (s == LEAT_OK)
            s = duplicates_put(&r->finder, t, err);
        if (s == LEAT_OK)
            s = pace_step(&r->pace, 0, err);
    }
    r->first[part + 1] = r->first[part] + documents;
    slice_close(&reader);
    return s;
}

static enum leat_status compare(struct range *r, uint64_t part, struct leat_error *err)
{
    uint64_t documents = r->first[part + 1] - r->first[part];
    struct merge_parts parts;
    enum leat_status s;

    if (!duplicates_wants(&r->finder, r->first[part], documents))
        return LEAT_OK;
    s = open_one(&parts, r->datasets[part], err);
    if (s == LEAT_OK && parts.documents != documents)
        s = status_set(err, LEAT_E_MISMATCH, "%s does not have the documents whose hashes are in %s", r->datasets[part],
                       r->hashes[part]);
    if (s == LEAT_OK)
        s = duplicates_compare(&r->finder, &parts.items[0], r->first[part], err);
    merge_parts_close(&parts);
    return s;
}

static enum leat_status write_numbers(struct range *r, const char *file, struct leat_error *err)
{
    struct slices_writer w;
    struct triple t;
    uint64_t part = 0;
    bool more = true;
    enum leat_status s = slices_begin(&w, file, r->count, r->first[r->count], DUPLICATES_WORDS, err);

    while (s == LEAT_OK) {
        s = external_sort_next(&r->numbers, &t, &more, err);
        if (s != LEAT_OK || !more)
            break;
        while (t.a >= r->first[part + 1])
            part++;
        t.a -= r->first[part];
        s = slices_put(&w, part, t, err);
    }
    if (s == LEAT_OK)
        s = slices_finish(&w, err);
    slices_end(&w);
    return s;
}

static enum leat_status decide(struct range *r, const char *file, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < r->count; i++)
        s = take_hashes(r, i, err);
    if (s == LEAT_OK)
        s = duplicates_turn(&r->finder, err);
    for (uint64_t i = 0; s == LEAT_OK && i < r->count; i++)
        s = compare(r, i, err);
    if (s == LEAT_OK)
        s = duplicates_numbers(&r->finder, &r->numbers, err);
    return s == LEAT_OK ? write_numbers(r, file, err) : s;
}

enum leat_status leat_part_duplicates(const char *file, const char *const *datasets, const char *const *hashes,
                                      uint64_t count, uint64_t part, const struct leat_merge_options *options,
                                      struct leat_error *err)
{
    struct range r = { .datasets = datasets, .hashes = hashes, .count = count, .number = part - 1 };
    struct leat_merge_options o;
    enum leat_status s;
    char *temporary;

    if (!file || !datasets || !hashes || part < 1 || part > count || count >= SIZE_MAX / sizeof *r.first)
        return status_set(err, LEAT_E_ARGUMENT, "leat_part_duplicates: missing file or parts, or no part %llu of %llu",
                          (unsigned long long)part, (unsigned long long)count);
    s = merge_options_take(&o, options, err);
    if (s != LEAT_OK)
        return s;
    r.pace = (struct pace) { .progress = o.progress, .context = o.context };
    temporary = merge_temporary_name(file, err);
    if (!temporary)
        return LEAT_E_NO_MEMORY;
    r.first = calloc((size_t)count + 1, sizeof *r.first);
    external_sort_begin(&r.numbers, temporary, o.memory / 4);
    s = r.first ? duplicates_open(&r.finder, temporary, o.memory, NULL, &r.pace, err)
                : status_no_memory(err, count * 8);
    if (s == LEAT_OK)
        s = decide(&r, file, err);
    if (r.first)
        duplicates_close(&r.finder);
    external_sort_end(&r.numbers);
    free(r.first);
    free(temporary);
    return s;
}
