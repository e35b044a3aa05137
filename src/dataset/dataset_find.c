/*
 * dataset_find.c: finds an input by its path, a document by its origin or its id: the inverse of dataset_origin.c.
 *
 * Inputs and ids are searched one by one, because the index has them in no order. Origins are found by binary search if
 * the index says that they never fall, as in most datasets, else one by one.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/search.h"
#include "base/status.h"
#include "dataset.h"
#include "dataset_origin.h"

/* A name that may be long or odd, for sentences. */
#define SHOWN_BYTES 200

/* Whether the bytes at `offset` of a section are `text`. */
static enum leat_status equals(struct part *p, unsigned kind, uint64_t offset, const char *text, uint64_t bytes,
                               bool *equal, struct leat_error *err)
{
    char chunk[512];

    *equal = true;
    for (uint64_t at = 0; *equal && at < bytes; at += sizeof chunk) {
        uint64_t here = bytes - at < sizeof chunk ? bytes - at : sizeof chunk;
        enum leat_status s = part_section(p, kind, offset + at, chunk, here, err);

        if (s != LEAT_OK)
            return s;
        *equal = memcmp(chunk, text + at, here) == 0;
    }
    return LEAT_OK;
}

enum leat_status leat_dataset_find_input(const struct leat_dataset *d, const char *path, uint64_t *input,
                                         struct leat_error *err)
{
    uint64_t length = path ? strlen(path) : 0;

    if (!path)
        return status_set(err, LEAT_E_ARGUMENT, "leat_dataset_find_input: missing path");
    for (uint64_t i = 0; i < d->inputs; i++) {
        struct part *p = dataset_part_of_input(d, i);
        struct records_input r;
        bool equal = false;
        enum leat_status s = dataset_read_input(p, i - p->first_input, &r, err);

        if (s == LEAT_OK && r.path_bytes == length)
            s = equals(p, FORMAT_INPUT_PATHS, r.path_offset, path, length, &equal, err);
        if (s != LEAT_OK)
            return s;
        if (equal) {
            *input = i;
            return LEAT_OK;
        }
    }
    return status_set_hint(err, LEAT_E_NOT_FOUND, LEAT_HINT_INPUTS,
                           "this dataset has no input %.*s; see the list of its inputs", SHOWN_BYTES, path);
}

/* ---- Origins ---- */

static bool after(struct dataset_place a, struct dataset_place b)
{
    return a.input != b.input ? a.input > b.input : a.offset > b.offset;
}

struct wanted_place {
    struct part *part;
    struct dataset_place place;
};

static enum leat_status is_by(void *context, uint64_t document, bool *is_before, struct leat_error *err)
{
    const struct wanted_place *wanted = context;
    struct dataset_place place = { 0 };
    enum leat_status s = dataset_read_places(wanted->part, document, 1, &place, err);

    *is_before = s == LEAT_OK && !after(place, wanted->place);
    return s;
}

/* For origins that never fall: the last document at or before `wanted`, by binary search. LEAT_NONE in *found: none. */
static enum leat_status search_ordered(struct part *p, struct dataset_place wanted, uint64_t *found,
                                       struct leat_error *err)
{
    uint64_t end;
    struct dataset_place place;
    enum leat_status s = search_first_read(&end, 0, p->documents, is_by, &(struct wanted_place) { p, wanted }, err);

    if (s != LEAT_OK)
        return s;
    *found = LEAT_NONE;
    if (end > 0) {
        s = dataset_read_places(p, end - 1, 1, &place, err);
        if (s != LEAT_OK)
            return s;
        if (place.input == wanted.input)
            *found = end - 1;
    }
    return LEAT_OK;
}

/* For origins in any order: the document of this input with the largest offset that is at most `wanted`. */
static enum leat_status search_unordered(struct part *p, struct dataset_place wanted, uint64_t *found,
                                         struct leat_error *err)
{
    struct dataset_place places[DATASET_SCAN_BYTES / FORMAT_ORIGIN_BYTES];
    uint64_t best = 0, step = sizeof places / sizeof places[0];

    *found = LEAT_NONE;
    for (uint64_t first = 0; first < p->documents; first += step) {
        uint64_t left = p->documents - first, count = left < step ? left : step;
        enum leat_status s = dataset_read_places(p, first, count, places, err);

        if (s != LEAT_OK)
            return s;
        for (uint64_t i = 0; i < count; i++)
            if (places[i].input == wanted.input && places[i].offset <= wanted.offset &&
                (*found == LEAT_NONE || places[i].offset >= best)) {
                *found = first + i;
                best = places[i].offset;
            }
    }
    return LEAT_OK;
}

enum leat_status leat_dataset_find_origin(const struct leat_dataset *d, uint64_t input, uint64_t offset,
                                          uint64_t *document, struct leat_error *err)
{
    enum leat_status s = dataset_check_range(input, 1, d->inputs, "input", err);
    struct dataset_place wanted;
    struct part *p;
    uint64_t found;

    if (s != LEAT_OK)
        return s;
    p = dataset_part_of_input(d, input);
    wanted = (struct dataset_place) { input - p->first_input, offset };
    if (p->index->header.sections[FORMAT_ORIGINS].flags & FORMAT_ORDERED)
        s = search_ordered(p, wanted, &found, err);
    else
        s = search_unordered(p, wanted, &found, err);
    if (s != LEAT_OK)
        return s;
    if (found == LEAT_NONE)
        return status_set(err, LEAT_E_NOT_FOUND, "no document of input %llu starts at or before byte %llu",
                          (unsigned long long)input, (unsigned long long)offset);
    *document = p->first_document + found;
    return LEAT_OK;
}

/* ---- Ids ---- */

/* The first document of the part with this id; LEAT_NONE in *found: none. */
static enum leat_status search_id(struct part *p, const char *id, uint64_t id_bytes, uint64_t *found,
                                  struct leat_error *err)
{
    uint64_t ends[DATASET_SCAN_BYTES / 8], step = sizeof ends / sizeof ends[0], start = 0;

    *found = LEAT_NONE;
    for (uint64_t first = 0; first < p->documents; first += step) {
        uint64_t left = p->documents - first, count = left < step ? left : step;
        enum leat_status s = part_section(p, FORMAT_ID_ENDS, 8 * first, ends, 8 * count, err);

        for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
            uint64_t end = bytes_le64(ends[i]);
            bool equal = false;

            s = dataset_check_id(p, first + i, start, end, err);
            if (s == LEAT_OK && end - start == id_bytes)
                s = equals(p, FORMAT_IDS, start, id, id_bytes, &equal, err);
            if (s == LEAT_OK && equal) {
                *found = first + i;
                return LEAT_OK;
            }
            start = end;
        }
        if (s != LEAT_OK)
            return s;
    }
    return LEAT_OK;
}

enum leat_status leat_dataset_find_id(const struct leat_dataset *d, const char *id, uint64_t id_bytes,
                                      uint64_t *document, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    bool stored = false;

    for (uint64_t i = 0; i < d->part_count; i++) {
        struct part *p = &d->parts[i];
        enum leat_status s;
        uint64_t found;

        if (!part_has(p, FORMAT_ID_ENDS))
            continue;
        stored = true;
        s = search_id(p, id, id_bytes, &found, err);
        if (s != LEAT_OK)
            return s;
        if (found != LEAT_NONE) {
            *document = p->first_document + found;
            return LEAT_OK;
        }
    }
    if (!stored)
        return status_set(err, LEAT_E_NOT_FOUND, "this dataset has no document ids stored");
    leat_dataset_info(d, &info);
    if (info.id_bytes == 0)
        return status_set_hint(err, LEAT_E_NOT_FOUND, LEAT_HINT_ID,
                               "no document in this dataset has an id: none of its records had the field or column "
                               "that was named for ids; pack the inputs again with the right name");
    return status_set(err, LEAT_E_NOT_FOUND, "no document has the id %.*s",
                      (int)(id_bytes < SHOWN_BYTES ? id_bytes : SHOWN_BYTES), id);
}
