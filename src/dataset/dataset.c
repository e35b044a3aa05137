/*
 * dataset.c: Facts, tokens and documents of an open dataset.
 *
 * A number in the whole list (of a token, a document, an input) leads to its part, by binary search over the parts'
 * first numbers, and counts within the part from there on. A range over several parts is cut at their ends.
 */
#include "dataset.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/options.h"
#include "base/path.h"
#include "base/search.h"
#include "base/status.h"
#include "part_index.h"

char *dataset_beside(const struct leat_dataset *d, const char *name, size_t length, const char *suffix)
{
    char *path = path_append(name, length, suffix, NULL), *whole;

    if (!path || !folder_left(&d->mounts->home))
        return path;
    whole = folder_name(&d->mounts->home, path);
    free(path);
    return whole;
}

enum leat_status dataset_check_range(uint64_t first, uint64_t count, uint64_t size, const char *what,
                                     struct leat_error *err)
{
    if (bytes_inside(first, count, size))
        return LEAT_OK;
    if (count == 1)
        return status_set(err, LEAT_E_RANGE, "no %s %" PRIu64 ": the dataset has %" PRIu64 ", numbered from 0", what,
                          first, size);
    return status_set(err, LEAT_E_RANGE,
                      "%" PRIu64 " %ss from number %" PRIu64 " are out of range: the dataset has %" PRIu64, count, what,
                      first, size);
}

enum leat_status dataset_need_documents(const struct leat_dataset *d, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && d->documents == LEAT_NONE && i < d->part_count; i++)
        s = part_need_documents(&d->parts[i], err);
    return s;
}

enum leat_status dataset_check_documents(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                         struct leat_error *err)
{
    enum leat_status s = dataset_need_documents(d, err);

    return s == LEAT_OK ? dataset_check_range(first, count, d->documents, "document", err) : s;
}

struct part_number {
    const struct part *parts;
    size_t field;
    uint64_t number;
};

static bool begins_by(const void *context, uint64_t part)
{
    const struct part_number *wanted = context;
    uint64_t first;

    memcpy(&first, (const char *)&wanted->parts[part] + wanted->field, sizeof first);
    return first <= wanted->number;
}

/* Returns the last part whose first number, a u64 at offset `field` in struct part, is at most `number`. An empty
 * part begins where the next one does, so the last such part is the one that has the number. */
static struct part *part_of(const struct leat_dataset *d, size_t field, uint64_t number)
{
    const struct part_number wanted = { d->parts, field, number };

    return &d->parts[search_first(1, d->part_count, begins_by, &wanted) - 1];
}

struct part *dataset_part_of_token(const struct leat_dataset *d, uint64_t token)
{
    return part_of(d, offsetof(struct part, first_token), token);
}

struct part *dataset_part_of_document(const struct leat_dataset *d, uint64_t document)
{
    return part_of(d, offsetof(struct part, first_document), document);
}

struct part *dataset_part_of_input(const struct leat_dataset *d, uint64_t input)
{
    return part_of(d, offsetof(struct part, first_input), input);
}

const struct part *dataset_facts(const struct leat_dataset *d)
{
    const struct part *facts = NULL;

    for (uint64_t i = 0; i < d->part_count && !(facts && !facts->foreign); i++)
        if (!d->parts[i].foreign || (!facts && d->parts[i].end_token != LEAT_NONE))
            facts = &d->parts[i];
    return facts ? facts : &d->parts[0];
}

void leat_dataset_info(const struct leat_dataset *d, struct leat_info *info)
{
    struct leat_info full = LEAT_INFO_INIT;
    const struct part *p = dataset_facts(d);
    uint8_t identities[32];

    full.tokens = d->tokens;
    full.documents = d->documents;
    full.sequences = d->documents != LEAT_NONE ? d->sequences : LEAT_NONE;
    full.inputs = d->inputs;
    full.parts = d->part_count;
    full.vocabulary = p->vocabulary;
    full.end_token = p->end_token;
    full.begin_token = p->begin_token;
    full.token_width = p->token_width;
    memcpy(full.fingerprint, p->fingerprint, sizeof full.fingerprint);
    if (p->index)
        full.created = p->index->header.created;
    for (uint64_t i = 0; i < d->part_count; i++) {
        p = &d->parts[i];
        full.token_bytes += p->data.bytes;
        full.foreign_parts += p->foreign;
        full.offline_parts += p->offline;
        if (p->index) {
            full.index_bytes += p->index->header.index_bytes;
            if (p->index->header.version > full.format_version)
                full.format_version = p->index->header.version;
        }
        full.stores_lines |= part_has(p, FORMAT_LINES);
        full.stores_ids |= part_has(p, FORMAT_ID_ENDS);
        full.id_bytes += part_has(p, FORMAT_IDS) ? part_place(p, FORMAT_IDS)->bytes : 0;
        full.stores_hashes |= part_has(p, FORMAT_TEXT_HASHES);
        full.stores_mask |= part_has_mask(p);
        /* the identity of a list is a chain over the identities of its parts */
        checksum_store(identities + 16, p->identity);
        if (i == 0)
            memcpy(full.identity, identities + 16, 16);
        else
            checksum_store(full.identity, p->kernels->hash(identities, sizeof identities));
        memcpy(identities, full.identity, 16);
    }
    options_fill(info, &full, sizeof full);
}

enum leat_status leat_dataset_part(const struct leat_dataset *d, uint64_t number, struct leat_part *part,
                                   struct leat_error *err)
{
    enum leat_status s = dataset_check_range(number, 1, d->part_count, "part", err);
    const struct part *p;
    struct leat_part full;

    if (s != LEAT_OK)
        return s;
    p = &d->parts[number];
    full = (struct leat_part) {
        .name = p->name,
        .first_token = p->first_token,
        .tokens = p->tokens,
        .first_document = p->first_document,
        .documents = p->documents,
        .first_input = p->first_input,
        .inputs = p->inputs,
        .kind = p->kind->name,
        .token_path = p->data.file->path,
    };
    checksum_store(full.identity, p->identity);
    options_fill(part, &full, sizeof full);
    return LEAT_OK;
}

/* ---- Tokens ---- */

enum leat_status leat_dataset_read(const struct leat_dataset *d, uint64_t first, uint64_t count, void *out,
                                   struct leat_error *err)
{
    enum leat_status s = dataset_check_range(first, count, d->tokens, "token", err);
    uint32_t width = d->parts[0].token_width;
    uint8_t *to = out;

    while (s == LEAT_OK && count > 0) {
        struct part *p = dataset_part_of_token(d, first);
        uint64_t at = first - p->first_token, left = p->tokens - at;
        uint64_t here = count < left ? count : left;

        s = file_map_read(p->data.file, p->data.offset + at * width, to, here * width, err);
        if (s == LEAT_OK && part_may_hold_wrong_ids(p))
            s = part_check_ids(p, at, to, here, err);
        to += here * width;
        first += here;
        count -= here;
    }
#if BYTES_BIG_ENDIAN
    for (uint8_t *id = out; s == LEAT_OK && id < to; id += width) {
        uint32_t v = width == 2 ? bytes_load16(id) : bytes_load32(id);
        uint16_t narrow = (uint16_t)v;

        memcpy(id, width == 2 ? (void *)&narrow : (void *)&v, width);
    }
#endif
    return s;
}

enum leat_status leat_dataset_read_u32(const struct leat_dataset *d, uint64_t first, uint64_t count, uint32_t *out,
                                       struct leat_error *err)
{
    uint16_t narrow[2048];
    enum leat_status s;

    if (d->parts[0].token_width == 4)
        return leat_dataset_read(d, first, count, out, err);
    s = dataset_check_range(first, count, d->tokens, "token", err);
    while (s == LEAT_OK && count > 0) {
        uint64_t here = count < 2048 ? count : 2048;

        s = leat_dataset_read(d, first, here, narrow, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++)
            out[i] = narrow[i];
        out += here;
        first += here;
        count -= here;
    }
    return s;
}

/* A view of at most this many tokens is safe to touch from the beginning. The pages of a longer one, which may be of
 * the whole file, are filled as they are touched. */
#define FILLED_VIEW ((uint64_t)1 << 18)

enum leat_status leat_dataset_view(const struct leat_dataset *d, uint64_t first, uint64_t count, struct leat_view *view,
                                   struct leat_error *err)
{
    enum leat_status s = dataset_check_range(first, count, d->tokens, "token", err);
    const uint8_t *bytes;
    uint64_t at;
    struct part *p;

    if (s != LEAT_OK)
        return s;
    if (BYTES_BIG_ENDIAN)
        return status_set_hint(err, LEAT_E_UNSUPPORTED, LEAT_HINT_READ, NULL,
                               "views show little-endian bytes, but this machine is big-endian; copy the tokens");
    p = dataset_part_of_token(d, first);
    if (!bytes_inside(first - p->first_token, count, p->tokens))
        return status_set_in(err, LEAT_E_RANGE, p->name,
                             "tokens %" PRIu64 " to %" PRIu64
                             " lie in %s and the next dataset of the list: view one dataset at a time",
                             first, first + count, p->name);
    if (p->data.offset % p->token_width != 0)
        return status_set_hint(err, LEAT_E_NOT_MAPPED, LEAT_HINT_READ, p->name,
                               "the tokens of %s start at byte %" PRIu64
                               ", not at a multiple of their %u bytes; copy the tokens",
                               p->name, p->data.offset, (unsigned)p->token_width);
    if (p->data.file->cache)
        return status_set_hint(err, LEAT_E_NOT_MAPPED, LEAT_HINT_READ, p->data.file->path,
                               "not all of %s is here: copy the tokens, or pull the dataset first", p->data.file->path);
    bytes = file_map_enter(p->data.file);
    if (!bytes)
        return status_set_hint(err, LEAT_E_NOT_MAPPED, LEAT_HINT_READ, p->data.file->path,
                               "%s is not mapped; copy the tokens, or trust that nobody changes the file",
                               p->data.file->path);
    at = p->data.offset + (first - p->first_token) * p->token_width;
    if (count <= FILLED_VIEW && !file_map_fill(p->data.file, at, count * p->token_width)) {
        file_map_leave(p->data.file);
        return status_set_hint(err, LEAT_E_NOT_MAPPED, LEAT_HINT_READ, p->data.file->path,
                               "the disk does not deliver tokens %" PRIu64 " to %" PRIu64
                               " of %s; copying them shows why",
                               first, first + count, p->data.file->path);
    }
    view->tokens = bytes + at;
    view->count = count;
    view->hold = p->data.file;
    return LEAT_OK;
}

void leat_view_release(struct leat_view *view)
{
    if (view->hold)
        file_map_leave(view->hold);
    view->tokens = NULL;
    view->hold = NULL;
    view->count = 0;
}

/* ---- Documents ---- */

/* A kind of starts: those of documents or of sequences. */
struct kind_of_start {
    size_t first;   /* the member of struct part that has the number of its first one */
    uint64_t total; /* number of all such starts in the dataset */
    uint64_t (*count)(const struct part *p);
    enum leat_status (*read)(struct part *p, uint64_t first, uint64_t count, uint64_t *starts, struct leat_error *err);
};

static uint64_t documents_of(const struct part *p)
{
    return p->documents;
}

static enum leat_status read_starts(const struct leat_dataset *d, const struct kind_of_start *kind, uint64_t number,
                                    uint64_t count, uint64_t *starts, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && count > 0) {
        struct part *p;
        uint64_t first, left, here;

        if (number == kind->total) {
            *starts = d->tokens;
            break;
        }
        p = part_of(d, kind->first, number);
        memcpy(&first, (const char *)p + kind->first, sizeof first);
        left = first + kind->count(p) - number;
        here = count < left ? count : left;
        s = kind->read(p, number - first, here, starts, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++)
            starts[i] += p->first_token;
        starts += here;
        number += here;
        count -= here;
    }
    return s;
}

enum leat_status leat_dataset_starts(const struct leat_dataset *d, uint64_t number, uint64_t count, uint64_t *starts,
                                     struct leat_error *err)
{
    const struct kind_of_start kind = { offsetof(struct part, first_document), d->documents, documents_of,
                                        part_starts };
    enum leat_status s = dataset_need_documents(d, err);

    if (s == LEAT_OK)
        s = dataset_check_range(number, count, d->documents + 1, "document start", err);
    return s == LEAT_OK ? read_starts(d, &kind, number, count, starts, err) : s;
}

enum leat_status dataset_sequence_starts(const struct leat_dataset *d, uint64_t number, uint64_t count,
                                         uint64_t *starts, struct leat_error *err)
{
    const struct kind_of_start kind = { offsetof(struct part, first_sequence), d->sequences, part_sequences,
                                        part_sequence_starts };
    enum leat_status s = dataset_need_documents(d, err);

    if (s == LEAT_OK)
        s = dataset_check_range(number, count, d->sequences + 1, "sequence start", err);
    return s == LEAT_OK ? read_starts(d, &kind, number, count, starts, err) : s;
}

enum leat_status leat_dataset_document(const struct leat_dataset *d, uint64_t number, uint64_t *first, uint64_t *count,
                                       struct leat_error *err)
{
    enum leat_status s = dataset_check_documents(d, number, 1, err);
    uint64_t starts[2];
    struct part *p;

    if (s != LEAT_OK)
        return s;
    p = dataset_part_of_document(d, number);
    s = part_starts(p, number - p->first_document, 2, starts, err);
    if (s != LEAT_OK)
        return s;
    *first = p->first_token + starts[0];
    *count = starts[1] - starts[0];
    return LEAT_OK;
}

static enum leat_status document_at(const struct leat_dataset *d, uint64_t token, uint64_t *document,
                                    struct leat_error *err)
{
    struct part *p = dataset_part_of_token(d, token);
    enum leat_status s = part_document_at(p, token - p->first_token, document, err);

    if (s == LEAT_OK)
        *document += p->first_document;
    return s;
}

enum leat_status leat_dataset_documents_in(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                           uint64_t *document, uint64_t *documents, struct leat_error *err)
{
    enum leat_status s = dataset_check_range(first, count, d->tokens, "token", err);
    uint64_t from, to;

    if (s == LEAT_OK && count == 0)
        s = status_argument(err, "count", "leat_dataset_documents_in: the range of tokens is empty");
    if (s == LEAT_OK)
        s = dataset_need_documents(d, err);
    if (s == LEAT_OK)
        s = document_at(d, first, &from, err);
    if (s == LEAT_OK)
        s = document_at(d, first + count - 1, &to, err);
    if (s != LEAT_OK)
        return s;
    if (to < from)
        return status_set_in(err, LEAT_E_DOCUMENTS, dataset_part_of_token(d, first)->name,
                             "the document starts of %s contradict each other; verify the dataset, or write it again",
                             dataset_part_of_token(d, first)->name);
    *document = from;
    *documents = to - from + 1;
    return LEAT_OK;
}

enum leat_status leat_dataset_verify_range(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                           struct leat_error *err)
{
    enum leat_status s = dataset_check_range(first, count, d->tokens, "token", err);

    while (s == LEAT_OK && count > 0) {
        struct part *p = dataset_part_of_token(d, first);
        uint64_t at = first - p->first_token, left = p->tokens - at;
        uint64_t here = count < left ? count : left;
        uint64_t in_page = FORMAT_PAGE_BYTES / p->token_width;
        uint64_t from = at / in_page, to = (at + here - 1) / in_page;

        s = part_check_pages(p, from, to - from + 1, err);
        first += here;
        count -= here;
    }
    return s;
}

/* ---- Documents of a list of numbers ------------------------------------------------------------------------------ */

/*
 * Finds where many documents lie, anywhere in a dataset.
 *
 * Asked one by one, documents cost system calls each: a leased map is checked whenever it is entered. Here each file
 * is entered once, and the memory with the ends of the next documents is on its way to the processor while those of
 * the documents before are looked at. Documents that the map cannot answer for are asked one by one, which says what
 * is wrong.
 */

#define AT_ONCE 32u

/* A part whose map is used. If it was asked and `bytes` is NULL, it has no map. */
struct entered {
    const uint8_t *bytes;
    bool asked;
};

/* Returns where the end of a document lies in the map, or NULL if it is not in it or cannot be touched. */
static const uint8_t *find_end(struct part *p, struct entered *e, uint64_t document)
{
    uint64_t at = p->ends.offset + 8 * document, before = document > 0 ? 8 : 0;

    if (!e->asked) {
        e->asked = true;
        e->bytes = p->ends.file ? file_map_enter(p->ends.file) : NULL;
    }
    if (!e->bytes || !file_map_fill(p->ends.file, at - before, 8 + before))
        return NULL;
    return e->bytes + at;
}

static enum leat_status read_document(struct part *p, uint64_t document, const uint8_t *end, uint64_t *first,
                                      uint64_t *count, struct leat_error *err)
{
    uint64_t starts[2] = { 1, 0 };
    enum leat_status s = LEAT_OK;

    if (end) {
        starts[0] = document > 0 ? bytes_load64(end - 8) : 0;
        starts[1] = bytes_load64(end);
    }
    if (starts[0] > starts[1] || starts[1] > p->tokens)
        s = part_starts(p, document, 2, starts, err);
    *first = p->first_token + starts[0];
    *count = starts[1] - starts[0];
    return s;
}

static enum leat_status read_group(const struct leat_dataset *d, struct entered *entered, const uint64_t *numbers,
                                   uint64_t count, uint64_t *first, uint64_t *counts, struct leat_error *err)
{
    struct part *parts[AT_ONCE];
    const uint8_t *ends[AT_ONCE];
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; i < count; i++) {
        parts[i] = dataset_part_of_document(d, numbers[i]);
        ends[i] = find_end(parts[i], &entered[parts[i] - d->parts], numbers[i] - parts[i]->first_document);
        if (ends[i])
            __builtin_prefetch(ends[i] - 8);
    }
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = read_document(parts[i], numbers[i] - parts[i]->first_document, ends[i], &first[i], &counts[i], err);
    return s;
}

enum leat_status dataset_document_list(const struct leat_dataset *d, const uint64_t *numbers, uint64_t count,
                                       uint64_t *first, uint64_t *counts, struct leat_error *err)
{
    enum leat_status s = dataset_need_documents(d, err);
    struct entered *entered;

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = dataset_check_range(numbers[i], 1, d->documents, "document", err);
    if (s != LEAT_OK)
        return s;
    entered = calloc(d->part_count, sizeof *entered);
    if (!entered)
        return status_no_memory(err, d->part_count * sizeof *entered);
    for (uint64_t at = 0, here; s == LEAT_OK && at < count; at += here) {
        here = count - at < AT_ONCE ? count - at : AT_ONCE;
        s = read_group(d, entered, numbers + at, here, first + at, counts + at, err);
    }
    for (uint64_t i = 0; i < d->part_count; i++)
        if (entered[i].bytes)
            file_map_leave(d->parts[i].ends.file);
    free(entered);
    return s;
}
