/*
 * dataset_list.c: where many documents lie, anywhere in a dataset.
 *
 * Asked one by one, documents cost system calls each: a leased map is checked whenever it is entered. Here each file is
 * entered once, and the memory with the ends of the next documents is on its way to the processor while those of the
 * documents before are looked at. What the map cannot answer is asked one by one, which says what is wrong.
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/status.h"
#include "dataset.h"

#define AT_ONCE 32u

/* A part whose map is used; bytes NULL, but asked: it has none. */
struct entered {
    const uint8_t *bytes;
    bool asked;
};

/* Where the end of a document lies in the map; NULL: it is not there, or cannot be touched. */
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

enum leat_status leat_dataset_document_list(const struct leat_dataset *d, const uint64_t *numbers, uint64_t count,
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
