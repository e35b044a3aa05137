/*
 * import_resume.c: where an import is in its sources, kept in the writer's checkpoint, with a sum of what it was asked
 * to read: files with their sizes and times of modification, column, dtype. A run goes on only with the same.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "import_resume.h"

#define VERSION 1u
#define WORDS   10u

void import_facts_add(struct page_sum *facts, const char *text, uint64_t number)
{
    uint8_t bytes[8];

    if (text)
        page_sum_add(facts, text, strlen(text) + 1);
    bytes_store64(bytes, number);
    page_sum_add(facts, bytes, sizeof bytes);
}

static void fill_facts(uint64_t out[2], const struct page_sum *facts)
{
    struct hash128 sum = page_sum_now(facts);

    out[0] = sum.low;
    out[1] = sum.high;
}

enum leat_status import_checkpoint(const struct import_writing *w, const struct import_place *at,
                                   const struct page_sum *facts, struct leat_error *err)
{
    uint64_t words[WORDS] = { VERSION,       0,         0,         at->source, at->file,
                              at->documents, at->input, at->files, at->bytes,  w->ends_added };
    uint8_t note[8 * WORDS];

    fill_facts(words + 1, facts);
    for (unsigned i = 0; i < WORDS; i++)
        bytes_store64(note + 8 * i, words[i]);
    return leat_writer_checkpoint(w->writer, note, sizeof note, err);
}

static enum leat_status read_note(struct import_writing *w, struct import_place *at, const struct page_sum *facts,
                                  const uint8_t *note, uint64_t bytes, const char *output, struct leat_error *err)
{
    uint64_t words[WORDS] = { 0 }, wanted[2];

    for (unsigned i = 0; i < WORDS && bytes == sizeof words; i++)
        words[i] = bytes_load64(note + 8 * i);
    fill_facts(wanted, facts);
    if (words[0] != VERSION || words[1] != wanted[0] || words[2] != wanted[1])
        return status_set_hint(err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE,
                               "the earlier run of %.300s had other sources or options, or other versions of these "
                               "files (size, time of modification); give the same or start over",
                               output);
    *at = (struct import_place) { words[3], words[4], words[5], words[6], words[7], words[8] };
    w->ends_added = words[9];
    return LEAT_OK;
}

enum leat_status import_resume(struct import_writing *w, struct import_place *at, const struct page_sum *facts,
                               const char *output, const struct leat_writer_options *options, struct leat_error *err)
{
    uint64_t bytes = 0;
    void *note = NULL;
    enum leat_status s = leat_writer_resume(&w->writer, output, options, &note, &bytes, err);

    if (s == LEAT_OK)
        s = read_note(w, at, facts, note, bytes, output, err);
    leat_writer_free_note(note);
    return s;
}
