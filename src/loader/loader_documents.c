/*
 * loader_documents.c: where documents begin in the rows of a slot, by the index: the entries of the directory at both
 * ends of a row, and the starts of all documents that begin in the stretches of 64 KiB which the row touches.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "loader.h"

#define STARTS_AT_ONCE 256u

/* Documents that begin in the chunks of tokens [first, end): [*from, *to). */
static enum leat_status candidates(struct part *p, uint64_t first, uint64_t end, uint64_t *from, uint64_t *to,
                                   struct leat_error *err)
{
    uint64_t in_chunk = FORMAT_CHUNK_BYTES / p->header.token_width,
             chunks = p->header.sections[FORMAT_DIRECTORY].entries;
    uint64_t low = first / in_chunk, high = (end - 1) / in_chunk + 1, entry[2];
    enum leat_status s = part_section(p, FORMAT_DIRECTORY, 8 * low, &entry[0], 8, err);

    entry[1] = bytes_le64(p->header.documents);
    if (s == LEAT_OK && high < chunks)
        s = part_section(p, FORMAT_DIRECTORY, 8 * high, &entry[1], 8, err);
    if (s != LEAT_OK)
        return s;
    *from = bytes_le64(entry[0]);
    *to = bytes_le64(entry[1]);
    if (*from > *to || *to > p->header.documents)
        return status_set_at(
            err, LEAT_E_DOCUMENTS, p->header.sections[FORMAT_DIRECTORY].offset + 8 * low,
            "%s: entry %llu of its directory contradicts the next one; verify the dataset, or write it "
            "again",
            p->index.path, (unsigned long long)low);
    return LEAT_OK;
}

uint64_t *loader_documents_clear(const struct loader_slot *slot, uint32_t row)
{
    const struct rows_layout *y = &slot->layout;
    uint64_t *words = (uint64_t *)(void *)(slot->memory + y->starts_at) + (size_t)row * y->start_words;

    memset(words, 0, y->start_words * sizeof *words);
    words[0] = 1;
    return words;
}

enum leat_status loader_documents_find(struct leat_loader *l, const struct loader_slot *slot, uint32_t row,
                                       struct leat_error *err)
{
    uint64_t *words = loader_documents_clear(slot, row);
    const struct leat_sample *sample = &slot->samples[row];
    struct part *p = l->plan->sources[sample->source].dataset->parts + sample->part;
    uint64_t tokens = slot->pieces[row].bytes / l->token_width, from, to, starts[STARTS_AT_ONCE];
    enum leat_status s = LEAT_OK;

    if (tokens == 0 || l->options.rows == LEAT_ROWS_DOCUMENTS)
        return LEAT_OK;
    s = candidates(p, sample->offset, sample->offset + tokens, &from, &to, err);
    while (s == LEAT_OK && from < to) {
        uint64_t count = to - from < STARTS_AT_ONCE ? to - from : STARTS_AT_ONCE;

        s = part_starts(p, from, count, starts, err);
        for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
            uint64_t at = starts[i] - sample->offset; /* huge where it lies before the row */

            if (at < tokens)
                words[at / 64] |= (uint64_t)1 << at % 64;
        }
        from += count;
    }
    return s;
}
