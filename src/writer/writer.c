/*
 * writer.c: opens a writer, and flushes it. Ids are checked and converted to the stored width, and go to the end of
 * the token file; the facts about each document go to spill files, one per section, so that memory does not grow
 * with the dataset. The token file is hashed frame by frame, by the thread that completes a frame. A failure ends
 * the writer: every later call returns it again.
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
#include "column/column_files.h"

/* Bytes that are hashed and written at once, of whole pages: few enough for the processor's cache. */
#define TOKEN_FRAME TINY_OR((size_t)8 << 10, (size_t)1 << 20)
#define SPILL_FRAME TINY_OR((size_t)4 << 10, (size_t)128 << 10)

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
        return status_argument(err, "tokenizer", "the tokenizer to store has no name, or a length but no bytes");
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
        return status_argument(err, "vocabulary", "a vocabulary must have 1 to 2^32 entries, not %" PRIu64,
                               o->vocabulary);
    if (o->end_token != LEAT_NONE && o->end_token >= o->vocabulary)
        return status_argument(err, "end_token", "the end token %" PRIu64 " is not below the vocabulary size %" PRIu64,
                               o->end_token, o->vocabulary);
    if (o->begin_token != LEAT_NONE && o->begin_token >= o->vocabulary)
        return status_argument(err, "begin_token",
                               "the begin token %" PRIu64 " is not below the vocabulary size %" PRIu64, o->begin_token,
                               o->vocabulary);
    return LEAT_OK;
}

enum leat_status writer_new(struct leat_writer **out, const char *name, const struct leat_writer_options *given,
                            struct leat_error *err)
{
    static const struct options_reserved reserved[] = { OPTIONS_RESERVED(leat_writer_options, reserved), { 0, 0 } };
    struct leat_writer_options all = LEAT_WRITER_OPTIONS_INIT, *options = &all;
    enum leat_status s = options_read(&all, sizeof all, reserved, given, "leat_writer_options", err);
    struct leat_writer *w;

    *out = NULL;
    if (s == LEAT_OK)
        s = check_options(options, err);
    if (s == LEAT_OK && !name)
        s = status_argument(err, "name", "the dataset to write needs a name");
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
    w->store_mask = options->store_mask != 0;
    atomic_init(&w->ordered, true);
    w->progress = options->progress;
    w->context = options->context;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->quiet, NULL);
    s = take_tokenizer(w, options->tokenizer, options->fingerprint, err);
    if (s == LEAT_OK)
        s = writer_take_names(w, name, err);
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
    writer_names_free(&w->whole);
    folder_free(&w->home);
    pthread_cond_destroy(&w->quiet);
    pthread_mutex_destroy(&w->mutex);
    free(w);
}

static enum leat_status check_owner(const struct leat_writer *w, struct leat_error *err)
{
    if (getpid() != w->owner)
        return status_set(err, LEAT_E_FORKED, "this writer belongs to another process: it does not work after fork");
    return LEAT_OK;
}

/* Puts the hashes of pages of tokens or of the mask, each of which has a section. */
static enum leat_status put_hashes(struct leat_writer *w, enum writer_spill spill, uint64_t first_page,
                                   const uint32_t *hashes, size_t pages, struct leat_error *err)
{
    struct sink_stream to = sink_stream(&w->spills[spill], 4 * first_page);
    enum leat_status s = check_owner(w, err);

    for (size_t i = 0; s == LEAT_OK && i < pages; i++) {
        uint32_t stored = bytes_le32(hashes[i]);

        s = sink_stream_put(&to, &stored, sizeof stored, err);
    }
    return s == LEAT_OK ? sink_stream_end(&to, err) : s;
}

static enum leat_status put_token_hashes(void *context, uint64_t first_page, const uint32_t *hashes, size_t pages,
                                         struct leat_error *err)
{
    return put_hashes(context, SPILL_PAGES, first_page, hashes, pages, err);
}

static enum leat_status put_mask_hashes(void *context, uint64_t first_page, const uint32_t *hashes, size_t pages,
                                        struct leat_error *err)
{
    return put_hashes(context, SPILL_MASK_PAGES, first_page, hashes, pages, err);
}

static bool has_hashes(enum writer_spill spill)
{
    return spill == SPILL_TOKENS || spill == SPILL_MASK;
}

/* Returns how many pages of the tokens or the mask are in whole frames: their hashes have been stored. */
static uint64_t writer_whole_pages(const struct leat_writer *w, enum writer_spill spill)
{
    return w->end.of[spill].at / TOKEN_FRAME * (TOKEN_FRAME / FORMAT_PAGE_BYTES);
}

size_t writer_spill_frame(enum writer_spill spill)
{
    return has_hashes(spill) ? TOKEN_FRAME : SPILL_FRAME;
}

void writer_begin_spill(struct leat_writer *w, enum writer_spill spill, uint64_t at)
{
    w->end.of[spill] = sink_stream(&w->spills[spill], at);
    if (has_hashes(spill)) {
        w->spills[spill].take_hashes = spill == SPILL_TOKENS ? put_token_hashes : put_mask_hashes;
        w->spills[spill].context = w;
    }
}

void leat_writer_write_direct(struct leat_writer *w, uint64_t from)
{
    if (from > 0)
        sink_begin_direct(&w->spills[SPILL_TOKENS], from, w->end.of[SPILL_TOKENS].at);
}

static enum leat_status create_spills(struct leat_writer *w, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < SPILL_COUNT; i++) {
        if (writer_has_spill(w, i))
            s = sink_create(&w->spills[i], w->names.partial[i], writer_spill_frame(i), err);
        writer_begin_spill(w, i, 0);
    }
    return s;
}

/* Refuses the name of a finished dataset, or of a run that can be resumed. */
static enum leat_status check_way(const struct leat_writer *w, struct leat_error *err)
{
    struct writer_found found;
    enum leat_status s = w->replace ? LEAT_OK : writer_look(&w->names, &found, err);

    if (w->replace || s != LEAT_OK)
        return s;
    if (found.index)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, w->names.index,
                               "%s already exists; choose another name or replace it", w->names.index);
    if (found.checkpoint)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_RESUME_OR_REPLACE, w->names.index,
                               "an earlier run of %s stopped at a checkpoint; resume it or start over", w->names.index);
    if (found.tokens && !found.half_named)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, w->names.tokens,
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
    s = writer_check_names(&w->names, err);
    if (s == LEAT_OK)
        s = check_way(w, err);
    if (s != LEAT_OK) {
        writer_unlock(&w->lock, &w->names);
        writer_free(w);
        return s;
    }
    s = writer_remove_partial(&w->names, err);
    if (s == LEAT_OK)
        s = create_spills(w, err);
    if (s != LEAT_OK) {
        leat_writer_abandon(w);
        return s;
    }
    *out = w;
    return LEAT_OK;
}

/* ---- Values beside the documents ---- */

enum leat_status leat_writer_keep_values(struct leat_writer *w, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = LEAT_OK;

    if (w->store_values) /* a checkpoint had them */
        return LEAT_OK;
    w->store_values = true;
    s = sink_create(&w->spills[SPILL_VALUES], w->names.partial[SPILL_VALUES], writer_spill_frame(SPILL_VALUES), &why);
    writer_begin_spill(w, SPILL_VALUES, 0);
    return writer_fail(w, s, &why, err);
}

uint64_t leat_writer_place_values(struct leat_writer *w, uint64_t bytes)
{
    uint64_t at = w->end.of[SPILL_VALUES].at;

    w->end.of[SPILL_VALUES].at += bytes;
    return at;
}

enum leat_status leat_writer_put_values(struct leat_writer *w, uint64_t at, const void *bytes, uint64_t count,
                                        struct leat_error *err)
{
    struct sink_stream to = sink_stream(&w->spills[SPILL_VALUES], at);
    struct leat_error why;
    enum leat_status s = sink_stream_put(&to, bytes, (size_t)count, &why);

    if (s == LEAT_OK)
        s = sink_stream_end(&to, &why);
    return writer_fail(w, s, &why, err);
}

enum leat_status leat_writer_read_values(const struct leat_writer *w, uint64_t at, void *out, uint64_t count,
                                         struct leat_error *err)
{
    const struct sink *values = &w->spills[SPILL_VALUES];

    return file_read_at(values->fd, at, out, count, values->path, err);
}

const char *leat_writer_unfinished(const struct leat_writer *w)
{
    return w->names.unfinished;
}

/* ---- Flushing ---- */

static uint64_t hashed_pages(const struct leat_writer *w, enum writer_spill spill, bool last)
{
    return last ? bytes_divide_up(w->end.of[spill].at, FORMAT_PAGE_BYTES) : writer_whole_pages(w, spill);
}

enum leat_status writer_flush(struct leat_writer *w, bool last, struct leat_error *err)
{
    enum leat_status s = check_owner(w, err);

    if (s != LEAT_OK)
        return s;
    pthread_mutex_lock(&w->mutex);
    while (w->places > 0)
        pthread_cond_wait(&w->quiet, &w->mutex);
    s = w->failed; /* the failure of a thread that put documents */
    if (s != LEAT_OK && err)
        *err = w->failure;
    pthread_mutex_unlock(&w->mutex);
    if (s == LEAT_OK)
        s = writer_end_streams(&w->end, err);
    /* tokens and mask go before the spills for their pages' hashes */
    for (unsigned i = 0; s == LEAT_OK && i < SPILL_COUNT; i++)
        if (writer_has_spill(w, i))
            s = sink_flush(&w->spills[i], last && has_hashes(i), err);
    w->end.of[SPILL_PAGES].at = 4 * hashed_pages(w, SPILL_TOKENS, last);
    w->end.of[SPILL_MASK_PAGES].at = 4 * hashed_pages(w, SPILL_MASK, last);
    return s;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

/* Ends a writer. The names come last, in an order that lets nothing wrong be opened: first an older index is
 * removed, then the token file gets its name, then the index; the folder is synced after each step. */

static enum leat_status flush_everything(struct leat_writer *w, struct leat_error *err)
{
    enum leat_status s = writer_flush(w, true, err);

    if (s == LEAT_OK)
        s = sink_trim(&w->spills[SPILL_TOKENS], w->end.of[SPILL_TOKENS].at, err);
    if (s == LEAT_OK)
        s = file_sync(w->spills[SPILL_TOKENS].fd, w->spills[SPILL_TOKENS].path, err);
    return s;
}

static enum leat_status name_tokens(struct leat_writer *w, struct leat_error *err)
{
    const struct writer_names *n = &w->names;
    enum leat_status s = w->replace ? file_remove(n->index, err) : LEAT_OK;

    if (s == LEAT_OK && w->replace)
        s = column_files_remove(n->name, err);

    /* the partial index's name must be durable too: it shows that NAME.tokens belongs to an unfinished run */
    if (s == LEAT_OK)
        s = file_sync_folder(n->index, err);
    if (s == LEAT_OK)
        s = file_rename(n->partial[SPILL_TOKENS], n->tokens, w->replace, err);
    w->tokens_named = s == LEAT_OK;
    if (s == LEAT_OK)
        s = file_sync_folder(n->tokens, err);
    return s == LEAT_OK && w->store_values ? writer_name_columns(n, err) : s;
}

static enum leat_status name_index(struct leat_writer *w, struct leat_error *err)
{
    const struct writer_names *n = &w->names;
    enum leat_status s = file_rename(n->partial[FILE_INDEX], n->index, w->replace, err);

    w->index_named = s == LEAT_OK;
    return s == LEAT_OK ? file_sync_folder(n->index, err) : s;
}

/* Goes back to where a checkpoint can be resumed or everything removed. An index that is not known to be durable is not
 * finished and must not look so; while it has its name, its tokens keep theirs. */
static void unname(struct leat_writer *w)
{
    const struct writer_names *n = &w->names;

    /* removes the name, too, because renaming does nothing if the file has both names */
    if (w->index_named)
        w->index_named = file_rename(n->index, n->partial[FILE_INDEX], true, NULL) != LEAT_OK ||
                         file_remove(n->index, NULL) != LEAT_OK;
    if (w->tokens_named && !w->index_named && w->store_values)
        column_files_remove(n->name, NULL);
    if (w->tokens_named && !w->index_named)
        w->tokens_named = file_rename(n->tokens, n->partial[SPILL_TOKENS], false, NULL) != LEAT_OK;
}

enum leat_status leat_writer_prepare(struct leat_writer *w, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = writer_ready(w, err);

    if (s != LEAT_OK)
        return s;
    if (w->document_open)
        return status_set(err, LEAT_E_STATE, "a document is open: end it before finishing");
    writer_follow_names(w);
    s = flush_everything(w, &why);
    if (s == LEAT_OK)
        s = writer_check_own_lock(w, &why);
    if (s == LEAT_OK)
        s = writer_build_index(w, &w->header, &why);
    w->prepared = s == LEAT_OK;
    return writer_fail(w, s, &why, err);
}

enum leat_status leat_writer_finish(struct leat_writer *w, struct leat_info *info, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = w->prepared ? w->failed : leat_writer_prepare(w, err);

    if (s != LEAT_OK) {
        if (w->failed != LEAT_OK && err)
            *err = w->failure;
        return s;
    }
    writer_follow_names(w);
    s = writer_check_own_lock(w, &why);
    if (s == LEAT_OK)
        s = name_tokens(w, &why);
    if (s == LEAT_OK)
        s = name_index(w, &why);
    if (s != LEAT_OK) {
        unname(w);
        return writer_fail(w, s, &why, err);
    }
    if (info)
        format_info(&w->header, info);
    /* the dataset is whole and durable, whether or not leftovers can be removed now */
    writer_remove_partial(&w->names, NULL);
    writer_unlock(&w->lock, &w->names);
    writer_free(w);
    return LEAT_OK;
}

/* Returns true if the files with partial names are this process's, not its parent's, nor those of a process that
 * took over. */
static bool owns_files(const struct leat_writer *w)
{
    return w->owner == getpid() && !writer_lost_lock(w->lock, &w->names);
}

void leat_writer_suspend(struct leat_writer *w)
{
    if (!w)
        return;
    if (!w->checkpointed) {
        leat_writer_abandon(w);
        return;
    }
    sink_end_direct(&w->spills[SPILL_TOKENS]); /* direct writes end before another process may take the files */
    writer_follow_names(w);
    if (owns_files(w)) {
        unname(w); /* undoes names that leat_writer_finish() could not undo */
        writer_unlock(&w->lock, &w->names);
    }
    writer_free(w);
}

void leat_writer_abandon(struct leat_writer *w)
{
    if (!w)
        return;
    sink_end_direct(&w->spills[SPILL_TOKENS]);
    writer_follow_names(w);
    if (owns_files(w)) {
        /* removes what finish could not undo, in an order that never leaves a dataset to open or resume */
        if (w->index_named)
            file_remove(w->names.index, NULL);
        file_remove(w->names.partial[FILE_CHECKPOINT], NULL);
        if (w->tokens_named && w->store_values)
            column_files_remove(w->names.name, NULL);
        if (w->tokens_named)
            file_remove(w->names.tokens, NULL);
        writer_remove_partial(&w->names, NULL);
        writer_unlock(&w->lock, &w->names);
    }
    writer_free(w);
}
