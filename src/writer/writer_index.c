/*
 * writer_index.c: writes the index, section after section, from the spills and from memory.
 *
 * put_sections() calls a function per section, in the order of FORMAT.md. Each begins its section at a page, puts its
 * bytes into one buffer of whole pages, and ends it with the number of entries; a full buffer is hashed and written. So
 * memory does not depend on the size of the index, and each section is hashed while it is copied. The header needs all
 * these hashes, so it is written last, into the page kept for it at the start.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/options.h"
#include "base/status.h"
#include "base/tiny.h"
#include "writer.h"

/* ---- Inputs and metadata ----------------------------------------------------------------------------------------- */

/* Keeps inputs and metadata, which are small, in memory until the dataset is finished. */

enum leat_status writer_push_input(struct leat_writer *w, const char *path, const struct records_input *record,
                                   struct leat_error *err)
{
    enum leat_status s = GROW(w->inputs, w->input_count + 1, w->input_room, err);
    struct writer_input *input;

    if (s != LEAT_OK)
        return s;
    input = &w->inputs[w->input_count];
    input->record = *record;
    input->path = strdup(path);
    if (!input->path)
        return status_no_memory(err, strlen(path) + 1);
    input->record.path_bytes = strlen(path);
    w->input_count++;
    return LEAT_OK;
}

enum leat_status leat_writer_add_input(struct leat_writer *w, const char *path, uint64_t *number,
                                       struct leat_error *err)
{
    struct records_input empty = { 0 };
    enum leat_status s = writer_ready(w, err);
    struct leat_error why;

    if (s != LEAT_OK)
        return s;
    if (!path)
        return status_argument(err, "path", "leat_writer_add_input: missing path");
    pthread_mutex_lock(&w->mutex);
    s = writer_push_input(w, path, &empty, &why);
    pthread_mutex_unlock(&w->mutex);
    if (s == LEAT_OK && number)
        *number = w->input_count - 1;
    return writer_fail(w, s, &why, err);
}

enum leat_status leat_writer_set_input(struct leat_writer *w, uint64_t number, const struct leat_input *input,
                                       struct leat_error *err)
{
    struct leat_input full = LEAT_INPUT_INIT;
    enum leat_status s = writer_ready(w, err);

    if (s != LEAT_OK)
        return s;
    if (!input)
        return status_argument(err, "input", "leat_writer_set_input: missing values");
    if (number >= w->input_count)
        return status_argument(err, "number", "leat_writer_set_input: no input %" PRIu64 ", only %" PRIu64 " inputs",
                               number, w->input_count);
    s = options_read(&full, sizeof full, NULL, input, "leat_input", err);
    if (s != LEAT_OK)
        return s;
    pthread_mutex_lock(&w->mutex);
    w->inputs[number].record.bytes = full.bytes;
    w->inputs[number].record.rejects = full.rejects;
    memcpy(w->inputs[number].record.hash, full.hash, sizeof full.hash);
    pthread_mutex_unlock(&w->mutex);
    return LEAT_OK;
}

void writer_free_inputs(struct leat_writer *w)
{
    for (uint64_t i = 0; i < w->input_count; i++)
        free(w->inputs[i].path);
    free(w->inputs);
    for (uint64_t i = 0; i < w->pair_count; i++) {
        free(w->pairs[i].key);
        free(w->pairs[i].value);
    }
    free(w->pairs);
}

/* Returns the position of the key, or where it belongs. */
static uint64_t find_key(const struct leat_writer *w, const char *key, bool *found)
{
    uint64_t i = 0;
    int order = 1;

    /* strcmp() orders as the format does: by bytes, and the shorter text first */
    while (i < w->pair_count && (order = strcmp(key, w->pairs[i].key)) > 0)
        i++;
    *found = i < w->pair_count && order == 0;
    return i;
}

static void remove_pair(struct leat_writer *w, uint64_t i)
{
    free(w->pairs[i].key);
    free(w->pairs[i].value);
    w->pair_count--;
    memmove(&w->pairs[i], &w->pairs[i + 1], (w->pair_count - i) * sizeof w->pairs[0]);
}

static enum leat_status insert_pair(struct leat_writer *w, uint64_t i, const char *key, const char *value,
                                    struct leat_error *err)
{
    struct writer_pair pair = { strdup(key), strdup(value) };

    if (!pair.key || !pair.value || GROW(w->pairs, w->pair_count + 1, w->pair_room, NULL) != LEAT_OK) {
        free(pair.key);
        free(pair.value);
        return status_no_memory(err, strlen(key) + strlen(value));
    }
    memmove(&w->pairs[i + 1], &w->pairs[i], (w->pair_count - i) * sizeof w->pairs[0]);
    w->pairs[i] = pair;
    w->pair_count++;
    return LEAT_OK;
}

enum leat_status leat_writer_set_metadata(struct leat_writer *w, const char *key, const char *value,
                                          struct leat_error *err)
{
    enum leat_status s = writer_ready(w, err);
    struct leat_error why;
    bool found;
    uint64_t i;
    char *copy;

    if (s != LEAT_OK)
        return s;
    if (!key || !*key)
        return status_argument(err, "key", "leat_writer_set_metadata: a key must not be empty");
    i = find_key(w, key, &found);
    if (!found)
        return value ? writer_fail(w, insert_pair(w, i, key, value, &why), &why, err) : LEAT_OK;
    if (!value) {
        remove_pair(w, i);
        return LEAT_OK;
    }
    copy = strdup(value);
    if (!copy)
        return writer_fail(w, status_no_memory(&why, strlen(value) + 1), &why, err);
    free(w->pairs[i].value);
    w->pairs[i].value = copy;
    return LEAT_OK;
}

/* ---- The index --------------------------------------------------------------------------------------------------- */

#define COPY_BYTES TINY_OR((size_t)4 << 10, (size_t)1 << 20) /* a multiple of the page: sections are hashed by page */

/* A section being written. */
struct output {
    const char *path;
    int fd;
    uint64_t end; /* end of what is written */
    uint8_t *buffer;
    size_t used;
    const struct checksum_kernels *kernels;
    struct format_place *section;
    uint64_t pages; /* pages of the section that were hashed so far */
};

static enum leat_status flush(struct output *o, struct leat_error *err)
{
    enum leat_status s = file_write_at(o->fd, o->end, o->buffer, o->used, o->path, err);

    if (s != LEAT_OK)
        return s;
    o->kernels->pages(&o->section->sum, o->buffer, o->used, o->pages, NULL);
    o->pages += bytes_divide_up(o->used, CHECKSUM_PAGE);
    o->end += o->used;
    o->section->bytes += o->used;
    o->used = 0;
    return LEAT_OK;
}

/* Writes zeros up to where the section may start. */
static enum leat_status begin_section(struct output *o, struct format_header *h, unsigned kind, struct leat_error *err)
{
    static const uint8_t zeros[FORMAT_ALIGNMENT];
    uint64_t start = format_align(o->end);
    enum leat_status s = file_write_at(o->fd, o->end, zeros, start - o->end, o->path, err);

    o->end = start;
    o->section = &h->sections[kind];
    *o->section = (struct format_place) { .offset = start, .present = 1 };
    o->pages = 0;
    return s;
}

static enum leat_status put_bytes(struct output *o, const void *bytes, uint64_t count, struct leat_error *err)
{
    const uint8_t *from = bytes;

    while (count > 0) {
        size_t left = COPY_BYTES - o->used, here = count < left ? (size_t)count : left;
        enum leat_status s = LEAT_OK;

        memcpy(o->buffer + o->used, from, here);
        o->used += here;
        from += here;
        count -= here;
        if (o->used == COPY_BYTES)
            s = flush(o, err);
        if (s != LEAT_OK)
            return s;
    }
    return LEAT_OK;
}

static enum leat_status put_u64(struct output *o, uint64_t value, struct leat_error *err)
{
    value = bytes_le64(value);
    return put_bytes(o, &value, sizeof value, err);
}

static enum leat_status end_section(struct output *o, uint64_t entries, struct leat_error *err)
{
    o->section->entries = entries;
    return flush(o, err);
}

/* Writes the first `bytes` bytes of a spill at the beginning of a section. Compares the file with what was written,
 * since damage would otherwise get a valid checksum. */
static enum leat_status put_spill(struct output *o, const struct sink *spill, uint64_t bytes, bool whole,
                                  struct leat_error *err)
{
    struct hash128 sum = { 0, 0 };
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0; s == LEAT_OK && at < bytes;) {
        size_t left = COPY_BYTES - o->used;
        size_t here = bytes - at < left ? (size_t)(bytes - at) : left;

        s = file_read_at(spill->fd, at, o->buffer + o->used, here, spill->path, err);
        if (s != LEAT_OK)
            break;
        o->kernels->pages(&sum, o->buffer + o->used, here, at / CHECKSUM_PAGE, NULL);
        o->used += here;
        at += here;
        if (o->used == COPY_BYTES)
            s = flush(o, err);
    }
    if (s == LEAT_OK && whole && !checksum_equal(sum, sink_sum(spill)))
        s = status_set_in(
            err, LEAT_E_CHECKSUM, spill->path,
            "%s does not hold what was written to it: another process wrote there too, or the disk damaged "
            "it; start over",
            spill->path);
    return s;
}

/* ---- One function per section or group of sections ---- */

static enum leat_status put_documents(struct output *o, struct leat_writer *w, struct format_header *h,
                                      struct leat_error *err)
{
    enum leat_status s = begin_section(o, h, FORMAT_DOCUMENTS, err);

    if (s == LEAT_OK)
        s = put_spill(o, &w->spills[SPILL_DOCUMENTS], 8 * w->end.document, true, err);
    if (s == LEAT_OK)
        s = put_u64(o, w->end.start, err);
    return s == LEAT_OK ? end_section(o, w->end.document + 1, err) : s;
}

static enum leat_status put_directory(struct output *o, struct leat_writer *w, struct format_header *h,
                                      struct leat_error *err)
{
    const struct sink *spill = &w->spills[SPILL_DIRECTORY];
    uint64_t cells = bytes_divide_up(h->token_file_bytes, FORMAT_CELL_BYTES), there = w->end.of[SPILL_DIRECTORY].at / 8;
    enum leat_status s = begin_section(o, h, FORMAT_DIRECTORY, err);

    if (s == LEAT_OK)
        s = put_spill(o, spill, 8 * (there < cells ? there : cells), there <= cells, err);
    for (uint64_t i = there; s == LEAT_OK && i < cells; i++)
        s = put_u64(o, w->end.document, err);
    return s == LEAT_OK ? end_section(o, cells, err) : s;
}

static enum leat_status put_whole_spill(struct output *o, struct leat_writer *w, struct format_header *h,
                                        enum writer_spill spill, unsigned kind, uint64_t entry_bytes,
                                        struct leat_error *err)
{
    uint64_t bytes = w->end.of[spill].at;
    enum leat_status s;

    if (!writer_has_spill(w, spill))
        return LEAT_OK;
    s = begin_section(o, h, kind, err);
    if (s == LEAT_OK)
        s = put_spill(o, &w->spills[spill], bytes, true, err);
    return s == LEAT_OK ? end_section(o, bytes / entry_bytes, err) : s;
}

static enum leat_status put_inputs(struct output *o, struct leat_writer *w, struct format_header *h,
                                   struct leat_error *err)
{
    enum leat_status s = begin_section(o, h, FORMAT_INPUTS, err);
    uint8_t record[FORMAT_INPUT_BYTES];
    uint64_t paths = 0;

    for (uint64_t i = 0; s == LEAT_OK && i < w->input_count; i++) {
        w->inputs[i].record.path_offset = paths;
        paths += w->inputs[i].record.path_bytes;
        records_store_input(record, &w->inputs[i].record);
        s = put_bytes(o, record, sizeof record, err);
    }
    if (s == LEAT_OK)
        s = end_section(o, w->input_count, err);
    if (s == LEAT_OK)
        s = begin_section(o, h, FORMAT_INPUT_PATHS, err);
    for (uint64_t i = 0; s == LEAT_OK && i < w->input_count; i++)
        s = put_bytes(o, w->inputs[i].path, w->inputs[i].record.path_bytes, err);
    return s == LEAT_OK ? end_section(o, paths, err) : s;
}

static enum leat_status put_tokenizer(struct output *o, struct leat_writer *w, struct format_header *h,
                                      struct leat_error *err)
{
    enum leat_status s;

    if (!w->tokenizer)
        return LEAT_OK;
    s = begin_section(o, h, FORMAT_TOKENIZER, err);
    if (s == LEAT_OK)
        s = put_bytes(o, w->tokenizer, w->tokenizer_bytes, err);
    return s == LEAT_OK ? end_section(o, 1, err) : s;
}

static enum leat_status put_metadata(struct output *o, struct leat_writer *w, struct format_header *h,
                                     struct leat_error *err)
{
    enum leat_status s;

    if (w->pair_count == 0)
        return LEAT_OK;
    s = begin_section(o, h, FORMAT_METADATA, err);
    for (uint64_t i = 0; s == LEAT_OK && i < w->pair_count; i++) {
        uint64_t key = strlen(w->pairs[i].key), value = strlen(w->pairs[i].value);

        s = put_u64(o, key, err);
        if (s == LEAT_OK)
            s = put_u64(o, value, err);
        if (s == LEAT_OK)
            s = put_bytes(o, w->pairs[i].key, key, err);
        if (s != LEAT_OK)
            break;
        s = put_bytes(o, w->pairs[i].value, value, err);
    }
    return s == LEAT_OK ? end_section(o, w->pair_count, err) : s;
}

static enum leat_status put_token_file(struct output *o, struct leat_writer *w, struct format_header *h,
                                       struct leat_error *err)
{
    enum leat_status s;

    if (!w->elsewhere)
        return LEAT_OK;
    s = begin_section(o, h, FORMAT_TOKEN_FILE, err);
    if (s == LEAT_OK)
        s = put_u64(o, w->elsewhere_offset, err);
    if (s == LEAT_OK)
        s = put_bytes(o, w->elsewhere, strlen(w->elsewhere), err);
    return s == LEAT_OK ? end_section(o, 1, err) : s;
}

static enum leat_status put_mask(struct output *o, struct leat_writer *w, struct format_header *h,
                                 struct leat_error *err)
{
    enum leat_status s = put_whole_spill(o, w, h, SPILL_MASK, FORMAT_MASK, 1, err);

    if (s == LEAT_OK && w->store_mask) /* marks the mask as required: a reader that does not know it would train on
                                          what must not be learned */
        h->sections[FORMAT_MASK].flags |= FORMAT_MUST_UNDERSTAND;
    return s == LEAT_OK ? put_whole_spill(o, w, h, SPILL_MASK_PAGES, FORMAT_MASK_PAGES, 4, err) : s;
}

static enum leat_status put_sections(struct output *o, struct leat_writer *w, struct format_header *h,
                                     struct leat_error *err)
{
    enum leat_status s = put_documents(o, w, h, err);

    if (s == LEAT_OK)
        s = put_directory(o, w, h, err);
    if (s == LEAT_OK)
        s = put_whole_spill(o, w, h, SPILL_PAGES, FORMAT_PAGES, 4, err);
    if (s == LEAT_OK)
        s = put_inputs(o, w, h, err);
    if (s == LEAT_OK)
        s = put_whole_spill(o, w, h, SPILL_ORIGINS, FORMAT_ORIGINS, FORMAT_ORIGIN_BYTES, err);
    if (s != LEAT_OK)
        return s;
    if (w->ordered)
        h->sections[FORMAT_ORIGINS].flags |= FORMAT_ORDERED;
    s = put_whole_spill(o, w, h, SPILL_LINES, FORMAT_LINES, 8, err);
    if (s == LEAT_OK)
        s = put_whole_spill(o, w, h, SPILL_ID_ENDS, FORMAT_ID_ENDS, 8, err);
    if (s == LEAT_OK)
        s = put_whole_spill(o, w, h, SPILL_IDS, FORMAT_IDS, 1, err);
    if (s == LEAT_OK)
        s = put_tokenizer(o, w, h, err);
    if (s != LEAT_OK)
        return s;
    s = put_metadata(o, w, h, err);
    if (s == LEAT_OK)
        s = put_whole_spill(o, w, h, SPILL_HASHES, FORMAT_TEXT_HASHES, FORMAT_HASH_BYTES, err);
    if (s == LEAT_OK)
        s = put_token_file(o, w, h, err);
    return s == LEAT_OK ? put_mask(o, w, h, err) : s;
}

static void fill_header(struct format_header *h, const struct leat_writer *w)
{
    *h = (struct format_header) {
        .version = FORMAT_VERSION,
        .must_understand = w->elsewhere ? FORMAT_ELSEWHERE : 0,
        .token_file_bytes = w->end.start * w->width,
        .tokens = w->end.start,
        .documents = w->end.document,
        .vocabulary = w->vocabulary,
        .end_token = w->end_token,
        .begin_token = w->begin_token,
        .token_width = w->width,
        .token_sum = sink_sum(&w->spills[SPILL_TOKENS]),
        .created = w->created,
    };
    memcpy(h->fingerprint, w->fingerprint, sizeof h->fingerprint);
}

enum leat_status writer_build_index(struct leat_writer *w, struct format_header *header, struct leat_error *err)
{
    struct output o = { .path = w->names.partial[FILE_INDEX], .fd = -1, .kernels = w->kernels };
    uint8_t page[FORMAT_HEADER_BYTES];
    enum leat_status s;

    fill_header(header, w);
    o.buffer = file_buffer(COPY_BYTES);
    if (!o.buffer)
        return status_no_memory(err, COPY_BYTES);
    o.end = FORMAT_HEADER_BYTES;
    /* an earlier attempt to finish may have left a file */
    s = file_remove(o.path, err);
    if (s == LEAT_OK)
        s = file_create(&o.fd, o.path, err);
    if (s == LEAT_OK)
        s = put_sections(&o, w, header, err);
    header->index_bytes = o.end;
    header->identity = format_identity(header, w->kernels);
    if (s == LEAT_OK) {
        format_encode(page, header, w->kernels);
        s = file_write_at(o.fd, 0, page, sizeof page, o.path, err);
    }
    if (s == LEAT_OK)
        s = file_sync(o.fd, o.path, err);
    file_close(&o.fd);
    free(o.buffer);
    return s;
}
