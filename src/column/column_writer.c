/*
 * column_writer.c: attaches a column. Values are converted into a buffer of whole pages, and each full buffer is
 * hashed and written; the hashes of its pages go to the index, whose header is written at the end. So memory does not
 * grow with the column. Both files have names for unfinished files until they are complete and on disk; the index gets
 * its name last, and an older index has lost it before the values get theirs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "base/tiny.h"
#include "column.h"
#include "private.h"

#define BUFFER_PAGES TINY_OR(1u, 256u)
#define BUFFER_BYTES (BUFFER_PAGES * CHECKSUM_PAGE)

/* One of the two files: the name that it will have, and its name until then. */
struct file {
    char *path, *partial;
    int fd;
    bool named;
};

struct leat_column_writer {
    struct file values, index;
    char *column, *dataset; /* names, for sentences */
    struct column_share share;
    struct folder home; /* folder that relative paths are in */
    pid_t owner;
    bool force;
    struct column_header header;
    uint8_t *buffer;
    size_t filled;    /* bytes in the buffer */
    uint64_t first;   /* token or document of the first entry */
    uint64_t entries; /* entries so far */
    uint64_t written; /* bytes of values in the file */
    uint32_t largest; /* largest number of a text */
    struct page_sum hashes;
    uint8_t *texts;
};

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static enum leat_status name_file(struct file *f, const struct leat_dataset *d, const struct leat_column_writer *w,
                                  const char *suffix, struct leat_error *err)
{
    f->path = column_share_path(d, dataset_part(d, 0), w->column, suffix, w->share);
    f->partial = f->path ? path_append(f->path, strlen(f->path), COLUMN_PARTIAL, NULL) : NULL;
    return f->partial ? LEAT_OK : status_no_memory(err, strlen(w->column));
}

/* Turns to absolute names if the process has gone to another folder. */
static void follow_names(struct leat_column_writer *w)
{
    char **paths[] = { &w->values.path, &w->values.partial, &w->index.path, &w->index.partial };

    for (size_t i = 0; folder_left(&w->home) && i < sizeof paths / sizeof paths[0]; i++) {
        char *whole = folder_name(&w->home, *paths[i]);

        if (!whole)
            return;
        free(*paths[i]);
        *paths[i] = whole;
    }
}

static void free_file(struct file *f)
{
    file_close(&f->fd);
    free(f->path);
    free(f->partial);
}

static void free_writer(struct leat_column_writer *w)
{
    free_file(&w->values);
    free_file(&w->index);
    folder_free(&w->home);
    free(w->column);
    free(w->dataset);
    free(w->buffer);
    free(w->texts);
    free(w);
}

/* Removes the file, if this writer has made it. */
static void remove_file(const struct file *f)
{
    if (f->fd >= 0)
        file_remove(f->named ? f->path : f->partial, NULL);
}

void leat_column_writer_abandon(struct leat_column_writer *w)
{
    if (!w)
        return;
    follow_names(w);
    if (w->owner == getpid()) {
        remove_file(&w->index);
        remove_file(&w->values);
    }
    free_writer(w);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

enum leat_status leat_column_check(const struct leat_column_options *o, uint32_t *bytes, struct leat_error *err)
{
    if (!o->name || !column_name_is_valid(o->name, strlen(o->name)))
        return status_argument(err, "name",
                               "%.100s cannot be the name of a column: a name has 1 to %u letters, digits, _ and -, "
                               "does not begin with -, and is not \"partial\"",
                               o->name ? o->name : "NULL", LEAT_COLUMN_MAX_NAME);
    if (!column_type_is_stored(o->type))
        return status_argument(err, "type", "column %s: a column cannot have type number %" PRIu32, o->name, o->type);
    if (o->width < 1 || o->width > LEAT_COLUMN_MAX_WIDTH)
        return status_argument(err, "width", "column %s: width must be from 1 to %u, not %" PRIu32, o->name,
                               LEAT_COLUMN_MAX_WIDTH, o->width);
    if (o->at > LEAT_COLUMN_DOCUMENT)
        return status_argument(err, "at", "column %s: at must be 0 or 1, not %" PRIu32, o->name, o->at);
    if (o->type == LEAT_COLUMN_CATEGORY && o->at != LEAT_COLUMN_DOCUMENT)
        return status_argument(err, "at", "column %s: a category has an entry per document, not per token", o->name);
    if (o->force > 1)
        return status_argument(err, "force", "column %s: force must be 0 or 1, not %" PRIu32, o->name, o->force);
    if (bytes)
        *bytes = column_type_bytes(o->type);
    return LEAT_OK;
}

enum leat_status column_check_single(const struct leat_dataset *d, const char *name, struct leat_error *err)
{
    if (d->part_count != 1)
        return status_set_in(err, LEAT_E_UNSUPPORTED, dataset_part(d, 0)->name,
                             "a list of %" PRIu64 " datasets cannot have columns: attach %s to each of them",
                             d->part_count, name);
    return column_check_part(d, 0, err);
}

/* Fills the header as far as it is known now. */
static enum leat_status begin_header(struct leat_column_writer *w, const struct leat_dataset *d,
                                     const struct leat_column_options *o, struct leat_error *err)
{
    struct column_header *h = &w->header;
    enum leat_status s;

    h->type = o->type;
    h->width = o->width;
    h->at = o->at;
    s = column_share_entries(d, w->share, o->at, &w->first, &h->entries, err);
    if (s != LEAT_OK)
        return s;
    checksum_store(h->identity, dataset_part(d, 0)->identity);
    return column_header_size(h) ? LEAT_OK
                                 : status_set(err, LEAT_E_UNSUPPORTED, "column %s would be too large", o->name);
}

/* Returns LEAT_E_EXISTS if an index is there, of the column or of the writer's share of it. */
static enum leat_status check_new(const struct leat_dataset *d, const struct leat_column_writer *w,
                                  struct column_share share, struct leat_error *err)
{
    char *path = column_share_path(d, dataset_part(d, 0), w->column, COLUMN_INDEX, share);
    struct file_identity there;
    enum leat_status s = path ? file_identify(path, &there, err) : status_no_memory(err, strlen(w->column));

    if (s == LEAT_OK && there.exists)
        s = status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, path,
                            "%s already exists; choose another name for the column or replace it", path);
    free(path);
    return s;
}

static enum leat_status begin_files(struct leat_column_writer *w, const struct leat_dataset *d, struct leat_error *err)
{
    enum leat_status s = name_file(&w->values, d, w, COLUMN_VALUES, err);

    if (s == LEAT_OK)
        s = name_file(&w->index, d, w, COLUMN_INDEX, err);
    if (s == LEAT_OK)
        s = own_file_check_name(w->index.path, err);
    if (s == LEAT_OK)
        s = own_file_check_name(w->values.path, err);
    if (s == LEAT_OK && !w->force)
        s = check_new(d, w, (struct column_share) { 0, 0 }, err);
    if (s == LEAT_OK && !w->force && w->share.count > 0)
        s = check_new(d, w, w->share, err);
    if (s == LEAT_OK)
        s = own_file_begin(&w->values.fd, w->values.partial, err);
    if (s == LEAT_OK)
        s = own_file_begin(&w->index.fd, w->index.partial, err);
    return s;
}

enum leat_status leat_column_writer_open(struct leat_column_writer **out, const struct leat_dataset *d,
                                         const struct leat_column_options *options, struct leat_error *err)
{
    struct leat_column_options o = LEAT_COLUMN_OPTIONS_INIT;
    struct leat_column_writer *w;
    enum leat_status s = options_read(&o, sizeof o, NULL, options, "leat_column_options", err);

    *out = NULL;
    if (s == LEAT_OK)
        s = leat_column_check(&o, NULL, err);
    if (s == LEAT_OK)
        s = column_check_single(d, o.name, err);
    if (s == LEAT_OK && o.at == LEAT_COLUMN_DOCUMENT)
        s = dataset_need_documents(d, err);
    if (s != LEAT_OK)
        return s;
    w = calloc(1, sizeof *w);
    if (!w)
        return status_no_memory(err, sizeof *w);
    w->values.fd = w->index.fd = -1;
    w->owner = getpid();
    w->force = o.force != 0;
    w->share = (struct column_share) { o.part, o.parts };
    folder_note(&w->home);
    page_sum_begin(&w->hashes, 0, (struct hash128) { 0, 0 });
    w->column = strdup(o.name);
    w->dataset = strdup(dataset_part(d, 0)->name);
    w->buffer = file_buffer(BUFFER_BYTES);
    s = w->column && w->dataset && w->buffer ? begin_header(w, d, &o, err) : status_no_memory(err, BUFFER_BYTES);
    if (s == LEAT_OK)
        s = begin_files(w, d, err);
    if (s != LEAT_OK) {
        leat_column_writer_abandon(w);
        return s;
    }
    *out = w;
    return LEAT_OK;
}

/* ---- Adding ------------------------------------------------------------------------------------------------------ */

static enum leat_status flush(struct leat_column_writer *w, struct leat_error *err)
{
    uint64_t page = w->written / CHECKSUM_PAGE, pages = bytes_divide_up(w->filled, CHECKSUM_PAGE);
    uint32_t hashes[BUFFER_PAGES];
    enum leat_status s;

    if (w->filled == 0)
        return LEAT_OK;
    checksum_kernels()->pages(&w->header.sum, w->buffer, w->filled, page, hashes);
    for (uint64_t i = 0; i < pages; i++)
        hashes[i] = bytes_le32(hashes[i]);
    page_sum_add(&w->hashes, hashes, (size_t)(4 * pages));
    s = file_write_at(w->values.fd, w->written, w->buffer, w->filled, w->values.partial, err);
    if (s == LEAT_OK)
        s = file_write_at(w->index.fd, COLUMN_HEADER + 4 * page, hashes, 4 * pages, w->index.partial, err);
    w->written += w->filled;
    w->filled = 0;
    return s;
}

/* Writes how many entries of what the column has, for sentences. */
static void show_entries(char text[400], const struct leat_column_writer *w)
{
    char share[64] = "";

    if (w->share.count > 0)
        snprintf(share, sizeof share, "part %" PRIu64 " of %" PRIu64 " of ", w->share.number, w->share.count);
    snprintf(text, 400, "%" PRIu64 " %s of %s%.300s", w->header.entries,
             w->header.at == LEAT_COLUMN_TOKEN ? "tokens" : "documents", share, w->dataset);
}

static enum leat_status say_wrong_value(const struct leat_column_writer *w, uint64_t value, const void *wrong,
                                        uint32_t from, struct leat_error *err)
{
    const char *what = w->header.at == LEAT_COLUMN_TOKEN ? "token" : "document";
    char shown[48], place[48] = "";

    column_show(shown, wrong, from);
    if (w->header.width > 1)
        snprintf(place, sizeof place, ", place %" PRIu64, value % w->header.width);
    return status_argument(err, "values", "column %s: %s %" PRIu64 "%s has the value %s, which %s does not hold",
                           w->column, what, w->first + value / w->header.width, place, shown,
                           leat_column_type_name(w->header.type));
}

static void note_largest(struct leat_column_writer *w, const uint8_t *values, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (bytes_load16(values + 2 * i) > w->largest)
            w->largest = bytes_load16(values + 2 * i);
}

enum leat_status leat_column_writer_add(struct leat_column_writer *w, const void *values, uint64_t entries,
                                        uint32_t from, struct leat_error *err)
{
    struct column_header *h = &w->header;
    uint32_t size = column_type_bytes(h->type), from_size = column_type_bytes(from);
    uint64_t value = w->entries * h->width, left = entries * h->width;
    enum leat_status s = LEAT_OK;
    char all[400];

    if (from_size == 0 || (h->type == LEAT_COLUMN_CATEGORY && from != LEAT_COLUMN_U16))
        return status_argument(err, "from", "column %s: values cannot have type number %" PRIu32, w->column, from);
    if (entries > h->entries - w->entries) {
        show_entries(all, w);
        return status_set_in(err, LEAT_E_RANGE, w->dataset, "column %s: more values than the %s", w->column, all);
    }
    while (s == LEAT_OK && left > 0) {
        uint64_t room = (BUFFER_BYTES - w->filled) / size, here = left < room ? left : room;
        uint64_t done = column_convert(w->buffer + w->filled, h->type, values, from, here);

        if (done < here)
            return say_wrong_value(w, value + done, (const uint8_t *)values + done * from_size, from, err);
        if (h->type == LEAT_COLUMN_CATEGORY)
            note_largest(w, w->buffer + w->filled, here);
        w->filled += (size_t)here * size;
        values = (const uint8_t *)values + here * from_size;
        value += here;
        left -= here;
        if (w->filled == BUFFER_BYTES)
            s = flush(w, err);
    }
    w->entries += entries;
    return s;
}

enum leat_status leat_column_writer_texts(struct leat_column_writer *w, const char *text, const uint64_t *ends,
                                          uint64_t count, struct leat_error *err)
{
    struct column_header *h = &w->header;
    uint64_t bytes = count > 0 ? ends[count - 1] : 0;

    if (h->type != LEAT_COLUMN_CATEGORY || w->texts)
        return status_set(err, LEAT_E_STATE, "column %s is not a category, or has its texts", w->column);
    if (count > LEAT_COLUMN_MAX_TEXTS || bytes > COLUMN_MAX_TEXT)
        return status_argument(err, "values",
                               "column %s: a category has at most %u texts and 64 MiB of text, not %" PRIu64
                               " texts and %" PRIu64 " bytes",
                               w->column, LEAT_COLUMN_MAX_TEXTS, count, bytes);
    w->texts = malloc((size_t)(4 * count + bytes + 1));
    if (!w->texts)
        return status_no_memory(err, 4 * count + bytes);
    for (uint64_t i = 0; i < count; i++)
        bytes_store32(w->texts + 4 * i, (uint32_t)ends[i]);
    if (bytes > 0)
        memcpy(w->texts + 4 * count, text, (size_t)bytes);
    h->texts = count;
    h->text_bytes = 4 * count + bytes;
    return column_texts_are_valid(w->texts, h->text_bytes, count)
               ? LEAT_OK
               : status_argument(err, "values", "column %s: its texts are not UTF-8", w->column);
}

/* ---- Finishing --------------------------------------------------------------------------------------------------- */

static enum leat_status write_index(struct leat_column_writer *w, struct leat_error *err)
{
    struct column_header *h = &w->header;
    uint8_t header[COLUMN_HEADER];
    enum leat_status s = LEAT_OK;

    h->hashes = page_sum_now(&w->hashes);
    if (h->text_bytes > 0) {
        h->text_hash = checksum_kernels()->hash(w->texts, (size_t)h->text_bytes);
        s = file_write_at(w->index.fd, COLUMN_HEADER + 4 * h->pages, w->texts, h->text_bytes, w->index.partial, err);
    }
    column_header_store(header, h);
    if (s == LEAT_OK)
        s = file_write_at(w->index.fd, 0, header, sizeof header, w->index.partial, err);
    if (s == LEAT_OK)
        s = file_sync(w->values.fd, w->values.partial, err);
    return s == LEAT_OK ? file_sync(w->index.fd, w->index.partial, err) : s;
}

static enum leat_status give_name(struct file *f, struct leat_error *err)
{
    enum leat_status s = file_rename(f->partial, f->path, true, err);

    f->named = s == LEAT_OK;
    return s == LEAT_OK ? file_sync_folder(f->path, err) : s;
}

enum leat_status leat_column_writer_finish(struct leat_column_writer *w, struct leat_error *err)
{
    const struct column_header *h = &w->header;
    enum leat_status s;
    char all[400];

    if (w->entries < h->entries) {
        show_entries(all, w);
        return status_set_in(err, LEAT_E_RANGE, w->dataset, "column %s has values for %" PRIu64 " of the %s", w->column,
                             w->entries, all);
    }
    if (h->type == LEAT_COLUMN_CATEGORY && h->bytes > 0 && w->largest >= h->texts)
        return status_argument(err, "values",
                               "column %s: number %" PRIu32 " of a text, but there are %" PRIu64 " texts", w->column,
                               w->largest, h->texts);
    follow_names(w);
    s = flush(w, err);
    if (s == LEAT_OK)
        s = write_index(w, err);
    if (s == LEAT_OK && w->force)
        s = file_remove(w->index.path, err);
    if (s == LEAT_OK && w->force)
        s = file_sync_folder(w->index.path, err);
    if (s == LEAT_OK)
        s = give_name(&w->values, err);
    if (s == LEAT_OK)
        s = give_name(&w->index, err);
    if (s == LEAT_OK)
        free_writer(w);
    return s;
}
