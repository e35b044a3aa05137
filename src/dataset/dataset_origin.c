/*
 * dataset_origin.c: where documents came from: inputs, origins, ids, and the inverse.
 *
 * All of it is stored in leat's index, in sections of records. A range of documents is cut at the parts' ends; in each
 * part, one function per kind of section reads records in blocks of DATASET_SCAN_BYTES and fills in what it knows.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/options.h"
#include "base/search.h"
#include "base/status.h"
#include "base/tiny.h"
#include "dataset.h"
#include "format/format.h"
#include "part_index.h"

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* Reads and checks records of inputs, origins and ids. Numbers of inputs and documents count within the part. An
 * impossible record gives LEAT_E_RECORD. */

/* A scan over records reads this many bytes of the index at a time. */
#define DATASET_SCAN_BYTES TINY_OR(64u, 16384u)

struct dataset_place {
    uint64_t input, offset;
};

static enum leat_status wrong_record(const struct part *p, unsigned kind, uint64_t offset, uint64_t number,
                                     const char *what, struct leat_error *err)
{
    uint64_t at = p->index->header.sections[kind].offset + offset;

    return status_set_at(err, LEAT_E_RECORD, p->index->file.path, at,
                         "%s: record %" PRIu64
                         " of its %s section is invalid: %s; verify the dataset, or write it again",
                         p->index->file.path, number, format_section_name(kind), what);
}

/* Copies a string of `bytes` bytes at `offset` of a section, cut to `capacity`, with a NUL. */
static enum leat_status copy_string(struct part *p, unsigned kind, uint64_t offset, uint64_t bytes, char *text,
                                    size_t capacity, struct leat_error *err)
{
    uint64_t shown = capacity == 0 ? 0 : bytes < capacity ? bytes : capacity - 1;
    enum leat_status s = shown > 0 ? part_section(p, kind, offset, text, shown, err) : LEAT_OK;

    if (s == LEAT_OK && capacity > 0)
        text[shown] = '\0';
    return s;
}

/* ---- Inputs ---- */

static enum leat_status read_input(struct part *p, uint64_t number, struct records_input *input, struct leat_error *err)
{
    uint8_t record[FORMAT_INPUT_BYTES];
    enum leat_status s = part_section(p, FORMAT_INPUTS, FORMAT_INPUT_BYTES * number, record, sizeof record, err);

    if (s != LEAT_OK)
        return s;
    records_load_input(input, record);
    if (!bytes_inside(input->path_offset, input->path_bytes, p->index->header.sections[FORMAT_INPUT_PATHS].bytes))
        return wrong_record(p, FORMAT_INPUTS, FORMAT_INPUT_BYTES * number, number,
                            "its path is outside the input paths", err);
    return LEAT_OK;
}

enum leat_status leat_dataset_input(const struct leat_dataset *d, uint64_t number, struct leat_input *input,
                                    struct leat_error *err)
{
    enum leat_status s = dataset_check_range(number, 1, d->inputs, "input", err);
    struct records_input r;
    struct leat_input full;
    struct part *p;

    if (s != LEAT_OK)
        return s;
    p = dataset_part_of_input(d, number);
    s = read_input(p, number - p->first_input, &r, err);
    if (s != LEAT_OK)
        return s;
    full = (struct leat_input) {
        .path_bytes = r.path_bytes,
        .bytes = r.bytes,
        .documents = r.documents,
        .tokens = r.tokens,
        .rejects = r.rejects,
    };
    memcpy(full.hash, r.hash, sizeof r.hash);
    options_fill(input, &full, sizeof full);
    return LEAT_OK;
}

enum leat_status leat_dataset_input_path(const struct leat_dataset *d, uint64_t number, char *text, uint64_t capacity,
                                         uint64_t *bytes, struct leat_error *err)
{
    enum leat_status s = dataset_check_range(number, 1, d->inputs, "input", err);
    struct records_input r;
    struct part *p;

    if (s != LEAT_OK)
        return s;
    p = dataset_part_of_input(d, number);
    s = read_input(p, number - p->first_input, &r, err);
    if (s != LEAT_OK)
        return s;
    s = copy_string(p, FORMAT_INPUT_PATHS, r.path_offset, r.path_bytes, text, capacity, err);
    if (s == LEAT_OK && bytes)
        *bytes = r.path_bytes;
    return s;
}

/* ---- Origins ---- */

/* Reads the records to where the places will be, because both take 16 bytes. */
static enum leat_status read_places(struct part *p, uint64_t first, uint64_t count, struct dataset_place *places,
                                    struct leat_error *err)
{
    enum leat_status s =
        part_section(p, FORMAT_ORIGINS, FORMAT_ORIGIN_BYTES * first, places, FORMAT_ORIGIN_BYTES * count, err);

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        uint64_t offset = bytes_load64(&places[i]), input = bytes_load64((const char *)&places[i] + 8);

        if (input != LEAT_NONE && input >= p->inputs)
            return wrong_record(p, FORMAT_ORIGINS, FORMAT_ORIGIN_BYTES * (first + i), first + i,
                                "it names an input that does not exist", err);
        places[i] = (struct dataset_place) { input, offset };
    }
    return s;
}

/* Checks that a document's id can lie at [start, end) of the ids. */
static enum leat_status check_id(const struct part *p, uint64_t document, uint64_t start, uint64_t end,
                                 struct leat_error *err)
{
    if (start <= end && end <= p->index->header.sections[FORMAT_IDS].bytes)
        return LEAT_OK;
    return wrong_record(p, FORMAT_ID_ENDS, 8 * document, document, "its id is outside the ids", err);
}

static enum leat_status id_range(struct part *p, uint64_t document, uint64_t *start, uint64_t *bytes,
                                 struct leat_error *err)
{
    uint64_t ends[2] = { 0, 0 };
    enum leat_status s = document == 0 ? part_section(p, FORMAT_ID_ENDS, 0, ends + 1, 8, err)
                                       : part_section(p, FORMAT_ID_ENDS, 8 * (document - 1), ends, 16, err);

    if (s != LEAT_OK)
        return s;
    ends[0] = bytes_le64(ends[0]);
    ends[1] = bytes_le64(ends[1]);
    *start = ends[0];
    *bytes = ends[1] - ends[0];
    return check_id(p, document, ends[0], ends[1], err);
}

/* The functions that fill origins, one for each kind of section; documents count within the part. */

static enum leat_status fill_places(struct part *p, uint64_t first, uint64_t count, struct leat_origin *origins,
                                    struct leat_error *err)
{
    struct dataset_place places[DATASET_SCAN_BYTES / FORMAT_ORIGIN_BYTES];
    uint64_t step = sizeof places / sizeof places[0];
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0; s == LEAT_OK && at < count; at += step) {
        uint64_t here = count - at < step ? count - at : step;

        s = read_places(p, first + at, here, places, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++)
            origins[at + i] = (struct leat_origin) {
                .input = places[i].input == LEAT_NONE ? LEAT_NONE : places[i].input + p->first_input,
                .offset = places[i].offset,
                .line = LEAT_NONE,
            };
    }
    return s;
}

static enum leat_status fill_lines(struct part *p, uint64_t first, uint64_t count, struct leat_origin *origins,
                                   struct leat_error *err)
{
    uint64_t lines[DATASET_SCAN_BYTES / 8], step = sizeof lines / sizeof lines[0];
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0; s == LEAT_OK && at < count; at += step) {
        uint64_t here = count - at < step ? count - at : step;

        s = part_section(p, FORMAT_LINES, 8 * (first + at), lines, 8 * here, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++)
            origins[at + i].line = bytes_le64(lines[i]);
    }
    return s;
}

static enum leat_status fill_id_bytes(struct part *p, uint64_t first, uint64_t count, struct leat_origin *origins,
                                      struct leat_error *err)
{
    uint64_t ends[DATASET_SCAN_BYTES / 8], step = sizeof ends / sizeof ends[0], before, bytes;
    enum leat_status s = id_range(p, first, &before, &bytes, err);

    for (uint64_t at = 0; s == LEAT_OK && at < count; at += step) {
        uint64_t here = count - at < step ? count - at : step;

        s = part_section(p, FORMAT_ID_ENDS, 8 * (first + at), ends, 8 * here, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++) {
            uint64_t end = bytes_le64(ends[i]);

            s = check_id(p, first + at + i, before, end, err);
            origins[at + i].id_bytes = end - before;
            before = end;
        }
    }
    return s;
}

enum leat_status leat_dataset_origins(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                      struct leat_origin *origins, struct leat_error *err)
{
    enum leat_status s = dataset_check_documents(d, first, count, err);

    while (s == LEAT_OK && count > 0) {
        struct part *p = dataset_part_of_document(d, first);
        uint64_t at = first - p->first_document, left = p->documents - at, here = count < left ? count : left;

        if (!p->index)
            return status_set_in(err, LEAT_E_NOT_FOUND, p->name, "%s does not record where its documents came from",
                                 p->name);
        s = fill_places(p, at, here, origins, err);
        if (s == LEAT_OK && part_has(p, FORMAT_LINES))
            s = fill_lines(p, at, here, origins, err);
        if (s == LEAT_OK && part_has(p, FORMAT_ID_ENDS))
            s = fill_id_bytes(p, at, here, origins, err);
        origins += here;
        first += here;
        count -= here;
    }
    return s;
}

/* Finds where the ids of documents [first, first + count) of a part lie; count is not 0. */
static enum leat_status ids_range(struct part *p, uint64_t first, uint64_t count, uint64_t *start, uint64_t *bytes,
                                  struct leat_error *err)
{
    uint64_t last, last_bytes;
    enum leat_status s = id_range(p, first, start, bytes, err);

    if (s == LEAT_OK)
        s = id_range(p, first + count - 1, &last, &last_bytes, err);
    if (s == LEAT_OK && last + last_bytes < *start)
        s = wrong_record(p, FORMAT_ID_ENDS, 8 * first, first, "its id ends before it starts", err);
    if (s == LEAT_OK)
        *bytes = last + last_bytes - *start;
    return s;
}

enum leat_status leat_dataset_ids(const struct leat_dataset *d, uint64_t first, uint64_t count, char *text,
                                  uint64_t capacity, uint64_t *bytes, struct leat_error *err)
{
    enum leat_status s = dataset_check_documents(d, first, count, err);
    uint64_t total = 0, room = capacity > 0 ? capacity - 1 : 0, copied = 0;

    while (s == LEAT_OK && count > 0) {
        struct part *p = dataset_part_of_document(d, first);
        uint64_t at = first - p->first_document, left = p->documents - at, here = count < left ? count : left;
        uint64_t start, length = 0, part;

        if (part_has(p, FORMAT_ID_ENDS))
            s = ids_range(p, at, here, &start, &length, err);
        part = length < room - copied ? length : room - copied;
        if (s == LEAT_OK && part > 0)
            s = part_section(p, FORMAT_IDS, start, text + copied, part, err);
        copied += part;
        /* cannot overflow: all sections of a list together are far below 2^64 bytes */
        total += length;
        first += here;
        count -= here;
    }
    if (s == LEAT_OK && capacity > 0)
        text[copied] = '\0';
    if (s == LEAT_OK && bytes)
        *bytes = total;
    return s;
}

/* ---- Finding inputs and documents -------------------------------------------------------------------------------- */

/*
 * Finds an input by its path, a document by its origin or its id: the inverse of dataset_origin.c.
 *
 * Inputs and ids are searched one by one, because the index has them in no order. Origins are found by binary search if
 * the index says that they never fall, as in most datasets, else one by one.
 */

/* A name that may be long or odd, for sentences. */
#define SHOWN_BYTES 200

/* Sets *equal if the bytes at `offset` of a section are `text`. */
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
        return status_argument(err, "path", "leat_dataset_find_input: missing path");
    for (uint64_t i = 0; i < d->inputs; i++) {
        struct part *p = dataset_part_of_input(d, i);
        struct records_input r;
        bool equal = false;
        enum leat_status s = read_input(p, i - p->first_input, &r, err);

        if (s == LEAT_OK && r.path_bytes == length)
            s = equals(p, FORMAT_INPUT_PATHS, r.path_offset, path, length, &equal, err);
        if (s != LEAT_OK)
            return s;
        if (equal) {
            *input = i;
            return LEAT_OK;
        }
    }
    return status_set_hint(err, LEAT_E_NOT_FOUND, LEAT_HINT_INPUTS, NULL,
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
    enum leat_status s = read_places(wanted->part, document, 1, &place, err);

    *is_before = s == LEAT_OK && !after(place, wanted->place);
    return s;
}

/* Finds the last document at or before `wanted`, by binary search, for origins that never fall. *found is LEAT_NONE
 * if there is none. */
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
        s = read_places(p, end - 1, 1, &place, err);
        if (s != LEAT_OK)
            return s;
        if (place.input == wanted.input)
            *found = end - 1;
    }
    return LEAT_OK;
}

/* Finds the document of this input with the largest offset that is at most `wanted`, for origins in any order. */
static enum leat_status search_unordered(struct part *p, struct dataset_place wanted, uint64_t *found,
                                         struct leat_error *err)
{
    struct dataset_place places[DATASET_SCAN_BYTES / FORMAT_ORIGIN_BYTES];
    uint64_t best = 0, step = sizeof places / sizeof places[0];

    *found = LEAT_NONE;
    for (uint64_t first = 0; first < p->documents; first += step) {
        uint64_t left = p->documents - first, count = left < step ? left : step;
        enum leat_status s = read_places(p, first, count, places, err);

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
        return status_set(err, LEAT_E_NOT_FOUND, "no document of input %" PRIu64 " starts at or before byte %" PRIu64,
                          input, offset);
    *document = p->first_document + found;
    return LEAT_OK;
}

/* ---- Ids ---- */

/* Finds the first document of the part with this id. *found is LEAT_NONE if there is none. */
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

            s = check_id(p, first + i, start, end, err);
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
        return status_set_hint(err, LEAT_E_NOT_FOUND, LEAT_HINT_ID, NULL,
                               "no document in this dataset has an id: none of its records had the field or column "
                               "that was named for ids; pack the inputs again with the right name");
    return status_set(err, LEAT_E_NOT_FOUND, "no document has the id %.*s",
                      (int)(id_bytes < SHOWN_BYTES ? id_bytes : SHOWN_BYTES), id);
}
