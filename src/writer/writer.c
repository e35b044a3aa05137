/*
 * writer.c: writes tokens. Ids are checked and converted to the stored width in a buffer, which is hashed page by page
 * and written in large blocks. What is known about each document goes to spill files, one per section, so that memory
 * does not grow with the dataset. A failure ends the writer: every later call returns it again.
 */
#include "writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/options.h"
#include "base/status.h"
#include "base/tiny.h"

#define TOKEN_BUFFER_BYTES TINY_OR((size_t)8 << 10, (size_t)4 << 20)
#define SPILL_BUFFER_BYTES TINY_OR((size_t)64, (size_t)256 << 10)

/* ---- Open ---- */

static enum leat_status take_tokenizer(struct leat_writer *w, const struct leat_stored_tokenizer *t,
                                       const uint8_t *fingerprint, struct leat_error *err)
{
    struct records_tokenizer sizes;
    uint64_t total;
    uint8_t *to;

    if (!t) {
        if (fingerprint)
            memcpy(w->fingerprint, fingerprint, 16);
        return LEAT_OK;
    }
    if (!t->name || !*t->name || (!t->file && t->file_bytes > 0))
        return status_set(err, LEAT_E_ARGUMENT, "the tokenizer to store has no name, or a length but no bytes");
    sizes = (struct records_tokenizer) { strlen(t->name), t->pattern ? strlen(t->pattern) : 0, t->file_bytes,
                                         t->file != NULL };
    if (!bytes_add(FORMAT_TOKENIZER_BYTES + sizes.name_bytes + sizes.pattern_bytes, sizes.file_bytes, &total) ||
        total > SIZE_MAX)
        return status_no_memory(err, t->file_bytes);
    w->tokenizer = malloc((size_t)total);
    if (!w->tokenizer)
        return status_no_memory(err, total);
    w->tokenizer_bytes = total;
    records_store_tokenizer(w->tokenizer, &sizes);
    to = w->tokenizer + FORMAT_TOKENIZER_BYTES;
    memcpy(to, t->name, (size_t)sizes.name_bytes);
    to += sizes.name_bytes;
    if (sizes.pattern_bytes > 0)
        memcpy(to, t->pattern, (size_t)sizes.pattern_bytes);
    to += sizes.pattern_bytes;
    if (sizes.file_bytes > 0)
        memcpy(to, t->file, (size_t)sizes.file_bytes);
    if (fingerprint)
        memcpy(w->fingerprint, fingerprint, 16);
    else
        checksum_store(w->fingerprint, w->kernels->hash(w->tokenizer, (size_t)total));
    return LEAT_OK;
}

static enum leat_status check_options(const struct leat_writer_options *o, struct leat_error *err)
{
    if (o->vocabulary == 0 || o->vocabulary > FORMAT_MAX_VOCABULARY)
        return status_set(err, LEAT_E_ARGUMENT, "a vocabulary must have 1 to 2^32 entries, not %llu",
                          (unsigned long long)o->vocabulary);
    if (o->end_token != LEAT_NONE && o->end_token >= o->vocabulary)
        return status_set(err, LEAT_E_ARGUMENT, "the end token %llu is not below the vocabulary size %llu",
                          (unsigned long long)o->end_token, (unsigned long long)o->vocabulary);
    if (o->begin_token != LEAT_NONE && o->begin_token >= o->vocabulary)
        return status_set(err, LEAT_E_ARGUMENT, "the begin token %llu is not below the vocabulary size %llu",
                          (unsigned long long)o->begin_token, (unsigned long long)o->vocabulary);
    return LEAT_OK;
}

enum leat_status writer_new(struct leat_writer **out, const char *name, const struct leat_writer_options *given,
                            struct leat_error *err)
{
    struct leat_writer_options all = LEAT_WRITER_OPTIONS_INIT, *options = &all;
    enum leat_status s = options_read(&all, sizeof all, NULL, given, "leat_writer_options", err);
    struct leat_writer *w;

    *out = NULL;
    if (s == LEAT_OK)
        s = check_options(options, err);
    if (s == LEAT_OK && !name)
        s = status_set(err, LEAT_E_ARGUMENT, "the dataset to write needs a name");
    if (s != LEAT_OK)
        return s;
    w = calloc(1, sizeof *w);
    if (!w)
        return status_no_memory(err, sizeof *w);
    w->lock = -1;
    for (unsigned i = 0; i < SPILL_COUNT; i++)
        w->spills[i].fd = -1;
    w->owner = getpid();
    w->kernels = checksum_kernels();
    w->vocabulary = options->vocabulary;
    w->end_token = options->end_token;
    w->begin_token = options->begin_token;
    w->created = options->created;
    w->width = format_width(options->vocabulary);
    w->replace = options->force != 0;
    w->store_lines = options->store_lines != 0;
    w->store_ids = options->store_ids != 0;
    w->store_hashes = options->store_hashes != 0;
    w->ordered = true;
    s = take_tokenizer(w, options->tokenizer, options->fingerprint, err);
    if (s == LEAT_OK)
        s = writer_names_make(&w->names, name, err);
    if (s != LEAT_OK) {
        writer_free(w);
        return s;
    }
    *out = w;
    return LEAT_OK;
}

void writer_free(struct leat_writer *w)
{
    for (unsigned i = 0; i < SPILL_COUNT; i++)
        sink_close(&w->spills[i]);
    file_close(&w->lock);
    writer_free_inputs(w);
    free(w->tokenizer);
    writer_names_free(&w->names);
    free(w);
}

bool writer_has_spill(const struct leat_writer *w, enum writer_spill spill)
{
    if (spill == SPILL_LINES)
        return w->store_lines;
    if (spill == SPILL_ID_ENDS || spill == SPILL_IDS)
        return w->store_ids;
    if (spill == SPILL_HASHES)
        return w->store_hashes;
    return true;
}

size_t writer_spill_room(enum writer_spill spill)
{
    return spill == SPILL_TOKENS ? TOKEN_BUFFER_BYTES : SPILL_BUFFER_BYTES;
}

/* Refuses the name of a finished dataset, or of a run that can be resumed. */
static enum leat_status check_way(const struct leat_writer *w, struct leat_error *err)
{
    struct writer_found found;
    enum leat_status s = w->replace ? LEAT_OK : writer_look(&w->names, &found, err);

    if (w->replace || s != LEAT_OK)
        return s;
    if (found.index)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE,
                               "%s already exists; choose another name or replace it", w->names.index);
    if (found.checkpoint)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_RESUME_OR_REPLACE,
                               "an earlier run of %s stopped at a checkpoint; resume it or start over", w->names.index);
    if (found.tokens && !found.half_named)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE,
                               "%s already exists, without an index; choose another name or replace it",
                               w->names.tokens);
    return LEAT_OK;
}

enum leat_status leat_writer_open(struct leat_writer **out, const char *name, const struct leat_writer_options *options,
                                  struct leat_error *err)
{
    struct leat_writer *w;
    enum leat_status s = writer_new(&w, name, options, err);

    *out = NULL;
    if (s != LEAT_OK)
        return s;
    s = writer_lock(&w->lock, &w->names, err);
    if (s != LEAT_OK) {
        writer_free(w);
        return s;
    }
    s = check_way(w, err);
    if (s != LEAT_OK) {
        writer_unlock(&w->lock, &w->names);
        writer_free(w);
        return s;
    }
    s = writer_remove_partial(&w->names, err);
    for (unsigned i = 0; s == LEAT_OK && i < SPILL_COUNT; i++)
        if (writer_has_spill(w, i))
            s = sink_create(&w->spills[i], w->names.partial[i], writer_spill_room(i), err);
    if (s != LEAT_OK) {
        leat_writer_abandon(w);
        return s;
    }
    *out = w;
    return LEAT_OK;
}

/* ---- Failing ---- */

enum leat_status writer_ready(const struct leat_writer *w, struct leat_error *err)
{
    if (w->failed != LEAT_OK && err)
        *err = w->failure;
    if (w->failed == LEAT_OK && w->prepared)
        return status_set(err, LEAT_E_STATE, "%s is complete: after leat_writer_prepare() it can only be finished",
                          w->names.index);
    return w->failed;
}

enum leat_status writer_fail(struct leat_writer *w, enum leat_status status, const struct leat_error *why,
                             struct leat_error *err)
{
    if (status != LEAT_OK) {
        w->failed = status;
        w->failure = *why;
        if (err)
            *err = *why;
    }
    return status;
}

/* ---- Tokens ---- */

enum leat_status writer_flush_tokens(struct leat_writer *w, bool all, struct leat_error *err)
{
    struct sink *tokens = &w->spills[SPILL_TOKENS];
    size_t whole = all ? tokens->used : tokens->used / FORMAT_PAGE_BYTES * FORMAT_PAGE_BYTES;
    uint32_t hashes[256];
    enum leat_status s = LEAT_OK;

    if (getpid() != w->owner)
        return status_set(err, LEAT_E_FORKED, "a writer was used in a child of the process that opened it");
    for (size_t at = 0; s == LEAT_OK && at < whole;) {
        size_t left = whole - at, max = sizeof hashes / 4 * FORMAT_PAGE_BYTES;
        size_t here = left < max ? left : max, pages = (size_t)bytes_pieces(here, FORMAT_PAGE_BYTES);

        w->kernels->pages(&w->token_sum, tokens->buffer + at, here, w->hashed_pages, hashes);
        for (size_t i = 0; i < pages; i++)
            hashes[i] = bytes_le32(hashes[i]);
        s = sink_append(&w->spills[SPILL_PAGES], hashes, 4 * pages, err);
        w->hashed_pages += pages;
        at += here;
    }
    if (s == LEAT_OK)
        s = file_write_at(tokens->fd, tokens->written, tokens->buffer, whole, tokens->path, err);
    if (s != LEAT_OK)
        return s;
    tokens->written += whole;
    tokens->used -= whole;
    memmove(tokens->buffer, tokens->buffer + whole, tokens->used);
    return LEAT_OK;
}

/* Converts ids of `from_width` bytes, in this machine's order, to stored ones. */
static void store_ids(uint8_t *to, uint32_t to_width, const void *ids, uint32_t from_width, uint64_t at, size_t count)
{
    const uint16_t *narrow = ids;
    const uint32_t *wide = ids;

    if (to_width == from_width && !BYTES_BIG_ENDIAN) {
        memcpy(to, (const uint8_t *)ids + at * from_width, count * to_width);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t id = from_width == 2 ? narrow[at + i] : wide[at + i];

        if (to_width == 2) {
            uint16_t stored = bytes_le16((uint16_t)id);
            memcpy(to + 2 * i, &stored, 2);
        } else {
            bytes_store32(to + 4 * i, id);
        }
    }
}

static enum leat_status append(struct leat_writer *w, const void *ids, uint32_t id_width, uint64_t count,
                               struct leat_error *err)
{
    struct sink *tokens = &w->spills[SPILL_TOKENS];

    for (uint64_t at = 0; at < count;) {
        uint64_t left = (tokens->room - tokens->used) / w->width;
        uint64_t here = count - at < left ? count - at : left;

        store_ids(tokens->buffer + tokens->used, w->width, ids, id_width, at, (size_t)here);
        tokens->used += (size_t)here * w->width;
        w->tokens += here;
        at += here;
        if (tokens->used == tokens->room) {
            enum leat_status s = writer_flush_tokens(w, false, err);

            if (s != LEAT_OK)
                return s;
        }
    }
    return LEAT_OK;
}

static enum leat_status append_one(struct leat_writer *w, uint64_t token, struct leat_error *err)
{
    uint32_t id = (uint32_t)token;

    return token == LEAT_NONE ? LEAT_OK : append(w, &id, 4, 1, err);
}

static enum leat_status check_ids(const struct leat_writer *w, const void *ids, uint32_t width, uint64_t count,
                                  struct leat_error *err)
{
    uint64_t i = 0;
    uint32_t max = 0, id;

    if (count == 0 || (width == 2 && w->vocabulary >= 65536))
        return LEAT_OK;
    /* the kernels read little-endian ids; on other machines each is looked at here */
    if (!BYTES_BIG_ENDIAN)
        max = width == 2 ? w->kernels->max16(ids, (size_t)count) : w->kernels->max32(ids, (size_t)count);
    if (!BYTES_BIG_ENDIAN && max < w->vocabulary)
        return LEAT_OK;
    for (; i < count; i++) {
        id = width == 2 ? ((const uint16_t *)ids)[i] : ((const uint32_t *)ids)[i];
        if (id >= w->vocabulary)
            return status_set(err, LEAT_E_TOKEN,
                              "token id %u at position %llu of document %llu is not below the vocabulary size "
                              "%llu",
                              id, (unsigned long long)i, (unsigned long long)w->documents,
                              (unsigned long long)w->vocabulary);
    }
    return LEAT_OK;
}

/* ---- Documents ---- */

static enum leat_status check_origin(const struct leat_writer *w, const struct leat_origin *o, struct leat_error *err)
{
    if (o && o->input != LEAT_NONE && o->input >= w->input_count)
        return status_set(
            err, LEAT_E_ARGUMENT, "document %llu names input %llu as its origin, but only %llu were declared",
            (unsigned long long)w->documents, (unsigned long long)o->input, (unsigned long long)w->input_count);
    return LEAT_OK;
}

static enum leat_status begin_document(struct leat_writer *w, struct leat_error *err)
{
    w->document_open = true;
    return append_one(w, w->begin_token, err);
}

/*
 * The directory: this document is the first to start in or after each 64 KiB up to its start that has no entry yet.
 * One that starts exactly at a cell's edge, after the last token so far, may be one entry too many; finish removes it.
 */
static enum leat_status extend_directory(struct leat_writer *w, struct leat_error *err)
{
    struct sink *directory = &w->spills[SPILL_DIRECTORY];
    uint64_t due = w->document_start / (FORMAT_CELL_BYTES / w->width) + 1;
    enum leat_status s = LEAT_OK;

    for (uint64_t entries = sink_bytes(directory) / 8; s == LEAT_OK && entries < due; entries++)
        s = sink_append_u64(directory, w->documents, err);
    return s;
}

static enum leat_status record_origin(struct leat_writer *w, const struct leat_origin *o, struct leat_error *err)
{
    static const uint8_t none[FORMAT_HASH_BYTES];
    uint64_t input = o ? o->input : LEAT_NONE, offset = o ? o->offset : 0;
    enum leat_status s;

    if (input < w->last_input || (input == w->last_input && offset < w->last_offset))
        w->ordered = false;
    w->last_input = input;
    w->last_offset = offset;
    s = sink_append_u64(&w->spills[SPILL_ORIGINS], offset, err);
    if (s == LEAT_OK)
        s = sink_append_u64(&w->spills[SPILL_ORIGINS], input, err);
    if (s == LEAT_OK && w->store_lines)
        s = sink_append_u64(&w->spills[SPILL_LINES], o ? o->line : LEAT_NONE, err);
    if (s == LEAT_OK && w->store_ids) {
        if (o && o->id && o->id_bytes > 0)
            s = sink_append(&w->spills[SPILL_IDS], o->id, (size_t)o->id_bytes, err);
        if (s == LEAT_OK)
            s = sink_append_u64(&w->spills[SPILL_ID_ENDS], sink_bytes(&w->spills[SPILL_IDS]), err);
    }
    if (s == LEAT_OK && w->store_hashes)
        s = sink_append(&w->spills[SPILL_HASHES], o && o->text_hash ? o->text_hash : none, sizeof none, err);
    return s;
}

static enum leat_status end_document(struct leat_writer *w, const struct leat_origin *o, struct leat_error *err)
{
    enum leat_status s = append_one(w, w->end_token, err);

    if (s == LEAT_OK)
        s = sink_append_u64(&w->spills[SPILL_DOCUMENTS], w->document_start, err);
    if (s == LEAT_OK)
        s = extend_directory(w, err);
    if (s == LEAT_OK)
        s = record_origin(w, o, err);
    if (s != LEAT_OK)
        return s;
    if (o && o->input != LEAT_NONE) {
        w->inputs[o->input].record.documents++;
        w->inputs[o->input].record.tokens += w->tokens - w->document_start;
    }
    w->documents++;
    w->document_start = w->tokens;
    w->document_open = false;
    return LEAT_OK;
}

static enum leat_status add(struct leat_writer *w, const void *ids, uint32_t width, uint64_t count,
                            const struct leat_origin *origin, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = writer_ready(w, err);

    if (s != LEAT_OK)
        return s;
    if (w->document_open)
        return status_set(err, LEAT_E_STATE, "a document is open: end it before adding a whole one");
    s = check_origin(w, origin, err);
    if (s == LEAT_OK)
        s = check_ids(w, ids, width, count, err);
    if (s != LEAT_OK)
        return s;
    s = begin_document(w, &why);
    if (s == LEAT_OK)
        s = append(w, ids, width, count, &why);
    if (s == LEAT_OK)
        s = end_document(w, origin, &why);
    return writer_fail(w, s, &why, err);
}

static enum leat_status append_piece(struct leat_writer *w, const void *ids, uint32_t width, uint64_t count,
                                     struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = writer_ready(w, err);

    if (s != LEAT_OK)
        return s;
    s = check_ids(w, ids, width, count, &why);
    if (s == LEAT_OK && !w->document_open)
        s = begin_document(w, &why);
    if (s == LEAT_OK)
        s = append(w, ids, width, count, &why);
    return writer_fail(w, s, &why, err);
}

enum leat_status leat_writer_add_u16(struct leat_writer *w, const uint16_t *ids, uint64_t count,
                                     const struct leat_origin *origin, struct leat_error *err)
{
    return add(w, ids, 2, count, origin, err);
}

enum leat_status leat_writer_add_u32(struct leat_writer *w, const uint32_t *ids, uint64_t count,
                                     const struct leat_origin *origin, struct leat_error *err)
{
    return add(w, ids, 4, count, origin, err);
}

enum leat_status leat_writer_append_u16(struct leat_writer *w, const uint16_t *ids, uint64_t count,
                                        struct leat_error *err)
{
    return append_piece(w, ids, 2, count, err);
}

enum leat_status leat_writer_append_u32(struct leat_writer *w, const uint32_t *ids, uint64_t count,
                                        struct leat_error *err)
{
    return append_piece(w, ids, 4, count, err);
}

enum leat_status leat_writer_end_document(struct leat_writer *w, const struct leat_origin *origin,
                                          struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = writer_ready(w, err);

    if (s == LEAT_OK)
        s = check_origin(w, origin, err);
    if (s != LEAT_OK)
        return s;
    s = w->document_open ? LEAT_OK : begin_document(w, &why); /* a document without a token */
    if (s == LEAT_OK)
        s = end_document(w, origin, &why);
    return writer_fail(w, s, &why, err);
}

uint64_t leat_writer_tokens(const struct leat_writer *w)
{
    return w->tokens;
}

uint64_t leat_writer_documents(const struct leat_writer *w)
{
    return w->documents;
}
