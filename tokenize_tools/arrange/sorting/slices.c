/* slices.c: see slices.h. */
#include "slices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "base/tiny.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define MAGIC        ((uint64_t)0x325341504c544145) /* "EATLPAS2" */
#define HEAD_WORDS   4u
#define MAX_SLICES   ((uint64_t)1 << 32)
#define BUFFER_BYTES (TINY_OR((size_t)2, (size_t)2048) * sizeof(struct triple))

static uint64_t table_words(uint64_t slices)
{
    return HEAD_WORDS + 2 * slices + 1;
}

/* The sum of slice i covers what the table says of it, too. */
static uint64_t sum_of_slice(void *sum, const uint64_t *head, uint64_t i, uint64_t from, uint64_t to)
{
    uint64_t said[HEAD_WORDS + 3] = { head[0], head[1], head[2], head[3], i, from, to };

    for (size_t n = 0; n < HEAD_WORDS + 3; n++)
        bytes_store64((uint8_t *)&said[n], said[n]);
    XXH3_64bits_update(sum, said, sizeof said);
    return XXH3_64bits_digest(sum);
}

/* ---- Writing ---- */

enum leat_status slices_begin(struct slices_writer *w, const char *path, uint64_t slices, uint64_t documents,
                              unsigned words, struct leat_error *err)
{
    size_t room = strlen(path) + sizeof ".partial";

    *w = (struct slices_writer) { .fd = -1, .words = words, .slices = slices, .documents = documents };
    if (slices < 1 || slices > MAX_SLICES)
        return status_set(err, LEAT_E_ARGUMENT, "no file for %llu parts", (unsigned long long)slices);
    w->path = strdup(path);
    w->partial = malloc(room);
    w->table = calloc((size_t)table_words(slices), sizeof *w->table);
    w->buffer = malloc(BUFFER_BYTES);
    w->sum = XXH3_createState();
    if (!w->path || !w->partial || !w->table || !w->buffer || !w->sum)
        return status_no_memory(err, table_words(slices) * sizeof *w->table);
    snprintf(w->partial, room, "%s.partial", path);
    w->table[0] = MAGIC;
    w->table[1] = slices;
    w->table[2] = documents;
    w->table[3] = words;
    XXH3_64bits_reset(w->sum);
    return own_file_begin(&w->fd, w->partial, err);
}

static enum leat_status flush(struct slices_writer *w, struct leat_error *err)
{
    uint64_t at = (table_words(w->slices) + w->records * w->words) * 8 - w->used;
    enum leat_status s = file_write_at(w->fd, at, w->buffer, w->used, w->partial, err);

    XXH3_64bits_update(w->sum, w->buffer, w->used);
    w->used = 0;
    return s;
}

/* Ends slices until `slice` is the one that is written. */
static enum leat_status move_to(struct slices_writer *w, uint64_t slice, struct leat_error *err)
{
    enum leat_status s = w->slice < slice ? flush(w, err) : LEAT_OK;

    for (; s == LEAT_OK && w->slice < slice; w->slice++) {
        w->table[HEAD_WORDS + w->slice + 1] = w->records;
        w->table[HEAD_WORDS + w->slices + 1 + w->slice] =
            sum_of_slice(w->sum, w->table, w->slice, w->table[HEAD_WORDS + w->slice], w->records);
        XXH3_64bits_reset(w->sum);
    }
    return s;
}

enum leat_status slices_put(struct slices_writer *w, uint64_t slice, struct triple t, struct leat_error *err)
{
    const uint64_t numbers[] = { t.a, t.b, t.c };
    enum leat_status s = move_to(w, slice, err);

    if (s == LEAT_OK && w->used + w->words * sizeof *numbers > BUFFER_BYTES)
        s = flush(w, err);
    for (unsigned i = 0; s == LEAT_OK && i < w->words; i++, w->used += sizeof *numbers)
        bytes_store64(w->buffer + w->used, numbers[i]);
    w->records += s == LEAT_OK;
    return s;
}

enum leat_status slices_finish(struct slices_writer *w, struct leat_error *err)
{
    uint64_t count = table_words(w->slices);
    enum leat_status s = move_to(w, w->slices, err);

    if (s != LEAT_OK)
        return s;
    for (uint64_t i = 0; i < count; i++)
        bytes_store64((uint8_t *)&w->table[i], w->table[i]);
    s = file_write_at(w->fd, 0, w->table, count * 8, w->partial, err);
    if (s == LEAT_OK)
        s = file_sync(w->fd, w->partial, err);
    if (s == LEAT_OK)
        s = file_rename(w->partial, w->path, true, err);
    if (s == LEAT_OK)
        s = file_sync_folder(w->path, err);
    return s;
}

void slices_end(struct slices_writer *w)
{
    file_close(&w->fd);
    free(w->path);
    free(w->partial);
    free(w->table);
    free(w->buffer);
    XXH3_freeState(w->sum);
}

/* ---- Reading ---- */

static enum leat_status damaged(const struct slice_reader *r, struct leat_error *err)
{
    return status_set(err, LEAT_E_CHECKSUM, "%s is damaged", r->path);
}

static enum leat_status read_words(const struct slice_reader *r, uint64_t at, uint64_t *words, uint64_t count,
                                   struct leat_error *err)
{
    enum leat_status s = file_read_at(r->fd, at * 8, words, count * 8, r->path, err);

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        words[i] = bytes_load64((const uint8_t *)&words[i]);
    return s;
}

enum leat_status slice_open(struct slice_reader *r, const char *path, uint64_t slices, uint64_t slice, unsigned words,
                            struct leat_error *err)
{
    uint64_t *head = r->head, *places = r->places, size;
    enum leat_status s;

    *r = (struct slice_reader) { .path = path, .fd = -1, .words = words, .slice = slice };
    s = file_open_read(&r->fd, &size, path, err);
    if (s == LEAT_OK)
        s = read_words(r, 0, head, HEAD_WORDS, err);
    if (s != LEAT_OK)
        return s;
    if (head[0] != MAGIC || head[1] != slices || head[3] != words)
        return status_set(err, LEAT_E_MISMATCH, "%s is not of this run, or not whole", path);
    r->documents = head[2];
    s = read_words(r, HEAD_WORDS + slice, places, 2, err);
    if (s == LEAT_OK)
        s = read_words(r, HEAD_WORDS + slices + 1 + slice, &r->expected, 1, err);
    if (s != LEAT_OK)
        return s;
    /* within the file, so that sums of them are in range */
    if (places[0] > places[1] || size / 8 < table_words(slices) || places[1] > (size / 8 - table_words(slices)) / words)
        return damaged(r, err);
    r->at = table_words(slices) + places[0] * words;
    r->left = places[1] - places[0];
    r->buffer = malloc(BUFFER_BYTES);
    r->sum = XXH3_createState();
    if (!r->buffer || !r->sum)
        return status_no_memory(err, BUFFER_BYTES);
    XXH3_64bits_reset(r->sum);
    return LEAT_OK;
}

static enum leat_status fill(struct slice_reader *r, struct leat_error *err)
{
    uint64_t room = BUFFER_BYTES / 8 / r->words, records = r->left < room ? r->left : room;
    enum leat_status s;

    r->used = 0;
    r->filled = (size_t)(records * r->words * 8);
    s = file_read_at(r->fd, r->at * 8, r->buffer, r->filled, r->path, err);
    if (s != LEAT_OK)
        return s;
    XXH3_64bits_update(r->sum, r->buffer, r->filled);
    r->at += records * r->words;
    r->left -= records;
    return LEAT_OK;
}

enum leat_status slice_next(struct slice_reader *r, struct triple *t, bool *more, struct leat_error *err)
{
    uint64_t numbers[3] = { 0, 0, 0 };
    enum leat_status s = LEAT_OK;

    if (r->used == r->filled && r->left > 0)
        s = fill(r, err);
    *more = r->used < r->filled;
    if (s != LEAT_OK)
        return s;
    if (!*more)
        return sum_of_slice(r->sum, r->head, r->slice, r->places[0], r->places[1]) == r->expected ? LEAT_OK
                                                                                                  : damaged(r, err);
    for (unsigned i = 0; i < r->words; i++, r->used += 8)
        numbers[i] = bytes_load64(r->buffer + r->used);
    *t = (struct triple) { numbers[0], numbers[1], numbers[2] };
    return LEAT_OK;
}

void slice_close(struct slice_reader *r)
{
    file_close(&r->fd);
    free(r->buffer);
    XXH3_freeState(r->sum);
    r->buffer = NULL;
    r->sum = NULL;
}
