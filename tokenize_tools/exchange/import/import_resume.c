/*
 * import_resume.c: where an import is in its sources, kept in the writer's checkpoint, with a sum of what it was asked
 * to read: files with their sizes and times of modification, column, dtype. A run goes on only with the same.
 *
 * And whether nothing is left to do, since the dataset is there. Times of modification are not in a dataset: the same
 * content gives the same bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
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

/* ---- Finished ---- */

#define COLUMN "leat.column"
#define DTYPE  "leat.dtype"

enum leat_status import_note_options(struct leat_writer *w, const struct leat_import_options *o, struct leat_error *err)
{
    enum leat_status s = leat_writer_set_metadata(w, COLUMN, o->column, err);

    return s == LEAT_OK ? leat_writer_set_metadata(w, DTYPE, o->dtype, err) : s;
}

static bool is_pair(const struct leat_metadata_pair *p, const char *key, const char *value)
{
    return value && strcmp(p->key, key) == 0 && strcmp(p->value, value) == 0;
}

/* Exactly these options: other metadata are those of a merge, or of a dataset that was packed. */
static bool same_options(const struct leat_dataset *d, const struct leat_import_options *o)
{
    uint64_t wanted = (o->column ? 1 : 0) + (o->dtype ? 1 : 0);
    struct leat_metadata *m;
    bool same;

    if (leat_dataset_metadata(d, 0, &m, NULL) != LEAT_OK)
        return false;
    same = m->count == wanted;
    for (uint64_t i = 0; i < m->count; i++)
        same = same && (is_pair(&m->pairs[i], COLUMN, o->column) || is_pair(&m->pairs[i], DTYPE, o->dtype));
    leat_metadata_free(m);
    return same;
}

static bool same_tokenizer(const struct leat_dataset *d, const struct leat_stored_tokenizer *wanted)
{
    struct leat_stored_tokenizer *t = NULL;
    bool is = leat_dataset_tokenizer(d, &t, NULL) == LEAT_OK, same = is == (wanted != NULL);

    if (is && wanted)
        same = strcmp(t->name, wanted->name) == 0 && strcmp(t->pattern, wanted->pattern ? wanted->pattern : "") == 0 &&
               t->file_bytes == wanted->file_bytes &&
               (t->file_bytes == 0 || memcmp(t->file, wanted->file, (size_t)t->file_bytes) == 0);
    leat_stored_tokenizer_free(t);
    return same;
}

static bool same_inputs(const struct leat_dataset *d, uint64_t count, const struct page_sum *wanted)
{
    struct leat_input input = LEAT_INPUT_INIT;
    uint64_t bytes, one[2], other[2];
    struct page_sum sum;
    char path[4096];

    page_sum_begin(&sum, 0, (struct hash128) { 0, 0 });
    for (uint64_t i = 0; i < count; i++) {
        if (leat_dataset_input(d, i, &input, NULL) != LEAT_OK ||
            leat_dataset_input_path(d, i, path, sizeof path, &bytes, NULL) != LEAT_OK)
            return false;
        import_facts_add(&sum, path, input.bytes);
    }
    fill_facts(one, &sum);
    fill_facts(other, wanted);
    return memcmp(one, other, sizeof one) == 0;
}

static bool is_stopped(const char *output)
{
    int length = (int)file_dataset_length(output, strlen(output));
    struct file_identity checkpoint = { .exists = true };
    char *path = NULL;

    if (asprintf(&path, "%.*s.partial.checkpoint", length, output) >= 0) {
        file_identify(path, &checkpoint, NULL);
        free(path);
    }
    return checkpoint.exists;
}

bool import_is_finished(const char *output, const struct leat_import_options *o, uint64_t vocabulary,
                        const struct page_sum *inputs, struct leat_import_report *report)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    bool same;

    if (is_stopped(output) || leat_dataset_open(&d, output, NULL, NULL) != LEAT_OK)
        return false;
    leat_dataset_info(d, &info);
    same = info.parts == 1 && info.vocabulary == vocabulary && info.end_token == o->end_token &&
           info.begin_token == LEAT_NONE && same_options(d, o) && same_tokenizer(d, o->tokenizer) &&
           same_inputs(d, info.inputs, inputs) &&
           (!o->fingerprint || memcmp(info.fingerprint, o->fingerprint, sizeof info.fingerprint) == 0);
    if (same) {
        report->was_finished = 1;
        report->files = info.inputs;
        report->documents = info.documents;
        report->tokens = info.tokens;
        report->ends_added = LEAT_NONE;
    }
    if (same && report->info)
        leat_dataset_info(d, report->info);
    leat_dataset_close(d);
    return same;
}
