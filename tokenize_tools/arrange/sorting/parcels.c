/* parcels.c: see parcels.h. */
#include "parcels.h"

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

#define MAGIC       ((uint64_t)0x324352504c544145) /* "EATLPRC2" */
#define HEAD_WORDS  4u
#define MAX_PARCELS ((uint64_t)1 << 32)
#define MIN_CHUNK   TINY_OR((uint64_t)16, (uint64_t)512)
#define MAX_CHUNK   TINY_OR((uint64_t)64, (uint64_t)256 << 10)

static uint64_t head_bytes(uint64_t count)
{
    return (HEAD_WORDS + 2 * count + 1) * 8;
}

/* The sum of parcel i begins with what the head says of it. */
static uint64_t first_sum(uint64_t count, uint64_t chunk, uint64_t i, uint64_t from, uint64_t to)
{
    uint64_t said[] = { count, chunk, i, from, to };

    for (size_t n = 0; n < sizeof said / sizeof *said; n++)
        bytes_store64((uint8_t *)&said[n], said[n]);
    return XXH3_64bits(said, sizeof said);
}

/* ---- Writing ---- */

static uint64_t chunk_bytes(uint64_t count, uint64_t memory)
{
    uint64_t bytes = memory / count / MIN_CHUNK * MIN_CHUNK;

    return bytes < MIN_CHUNK ? MIN_CHUNK : bytes > MAX_CHUNK ? MAX_CHUNK : bytes;
}

enum leat_status parcels_begin(struct parcels_writer *w, const char *path, const uint64_t *sizes, uint64_t count,
                               uint64_t memory, struct leat_error *err)
{
    size_t room = strlen(path) + sizeof ".partial";

    *w = (struct parcels_writer) { .fd = -1, .count = count };
    if (count < 1 || count > MAX_PARCELS)
        return status_set(err, LEAT_E_ARGUMENT, "no file for %llu parts", (unsigned long long)count);
    w->chunk = chunk_bytes(count, memory);
    w->path = strdup(path);
    w->partial = malloc(room);
    w->begins = calloc((size_t)count + 1, sizeof *w->begins);
    w->items = calloc((size_t)count, sizeof *w->items);
    if (!w->path || !w->partial || !w->begins || !w->items)
        return status_no_memory(err, count * (sizeof *w->items + sizeof *w->begins));
    snprintf(w->partial, room, "%s.partial", path);
    for (uint64_t i = 0; i < count; i++)
        if (!bytes_add(w->begins[i], sizes[i], &w->begins[i + 1]))
            return status_set(err, LEAT_E_ARGUMENT, "parcels of more than 2^64 bytes");
    for (uint64_t i = 0; i < count; i++)
        w->items[i].sum = first_sum(count, w->chunk, i, w->begins[i], w->begins[i + 1]);
    return own_file_begin(&w->fd, w->partial, err);
}

/* The chunk in the buffer, to its place. */
static enum leat_status flush(struct parcels_writer *w, uint64_t i, struct leat_error *err)
{
    struct parcel *p = &w->items[i];
    uint64_t at = head_bytes(w->count) + w->begins[i] + p->done;
    enum leat_status s = file_write_at(w->fd, at, p->buffer, p->used, w->partial, err);

    p->sum = XXH3_64bits_withSeed(p->buffer, p->used, p->sum);
    p->done += p->used;
    p->used = 0;
    return s;
}

enum leat_status parcels_put(struct parcels_writer *w, uint64_t i, const void *bytes, uint64_t count,
                             struct leat_error *err)
{
    struct parcel *p = &w->items[i];
    const uint8_t *from = bytes;
    enum leat_status s = LEAT_OK;

    if (count > w->begins[i + 1] - w->begins[i] - p->done - p->used)
        return status_set(err, LEAT_E_MISMATCH, "%s: the documents are not those that were counted", w->path);
    if (!p->buffer && count > 0 && !(p->buffer = malloc((size_t)w->chunk)))
        return status_no_memory(err, w->chunk);
    while (s == LEAT_OK && count > 0) {
        size_t here = count < w->chunk - p->used ? (size_t)count : (size_t)w->chunk - p->used;

        memcpy(p->buffer + p->used, from, here);
        p->used += here;
        from += here;
        count -= here;
        if (p->used == w->chunk)
            s = flush(w, i, err);
    }
    return s;
}

static enum leat_status write_head(struct parcels_writer *w, struct leat_error *err)
{
    const uint64_t one = 1;
    uint8_t *head = malloc((size_t)head_bytes(w->count)), *at = head;
    enum leat_status s;

    if (!head)
        return status_no_memory(err, head_bytes(w->count));
    bytes_store64(at, MAGIC);
    bytes_store64(at + 8, w->count);
    bytes_store64(at + 16, w->chunk);
    memcpy(at + 24, &one, sizeof one);
    at += HEAD_WORDS * 8;
    for (uint64_t i = 0; i <= w->count; i++, at += 8)
        bytes_store64(at, w->begins[i]);
    for (uint64_t i = 0; i < w->count; i++, at += 8)
        bytes_store64(at, w->items[i].sum);
    s = file_write_at(w->fd, 0, head, head_bytes(w->count), w->partial, err);
    free(head);
    return s;
}

enum leat_status parcels_finish(struct parcels_writer *w, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < w->count; i++) {
        if (w->items[i].used > 0)
            s = flush(w, i, err);
        if (s == LEAT_OK && w->items[i].done != w->begins[i + 1] - w->begins[i])
            s = status_set(err, LEAT_E_MISMATCH, "%s: the documents are not those that were counted", w->path);
    }
    if (s == LEAT_OK)
        s = write_head(w, err);
    if (s == LEAT_OK)
        s = file_sync(w->fd, w->partial, err);
    if (s == LEAT_OK)
        s = file_rename(w->partial, w->path, true, err);
    if (s == LEAT_OK)
        s = file_sync_folder(w->path, err);
    return s;
}

void parcels_end(struct parcels_writer *w)
{
    for (uint64_t i = 0; w->items && i < w->count; i++)
        free(w->items[i].buffer);
    file_close(&w->fd);
    free(w->path);
    free(w->partial);
    free(w->begins);
    free(w->items);
}

/* ---- Reading ---- */

enum leat_status parcel_damaged(const struct parcel_reader *r, struct leat_error *err)
{
    return status_set(err, LEAT_E_CHECKSUM, "%s is damaged", r->path);
}

static enum leat_status read_words(const struct parcel_reader *r, uint64_t at, uint64_t *words, uint64_t count,
                                   struct leat_error *err)
{
    enum leat_status s = file_read_at(r->fd, at * 8, words, count * 8, r->path, err);

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        words[i] = bytes_load64((const uint8_t *)&words[i]);
    return s;
}

enum leat_status parcel_open(struct parcel_reader *r, const char *path, uint64_t count, struct leat_error *err)
{
    uint64_t head[HEAD_WORDS], one = 1;
    enum leat_status s;

    *r = (struct parcel_reader) { .path = path, .fd = -1, .count = count };
    s = file_open_read(&r->fd, &r->size, path, err);
    if (s == LEAT_OK)
        s = read_words(r, 0, head, HEAD_WORDS, err);
    if (s != LEAT_OK)
        return s;
    if (head[0] != MAGIC || head[1] != count || head[2] < MIN_CHUNK || head[2] > MAX_CHUNK ||
        r->size < head_bytes(count))
        return status_set(err, LEAT_E_MISMATCH, "%s is not of this run, or not whole", path);
    r->chunk = head[2];
    if (head[3] != bytes_load64((const uint8_t *)&one))
        return status_set(err, LEAT_E_MISMATCH, "%s is of a machine that has the bytes of numbers in another order",
                          path);
    r->buffer = malloc((size_t)r->chunk);
    return r->buffer ? LEAT_OK : status_no_memory(err, r->chunk);
}

void parcel_close(struct parcel_reader *r)
{
    file_close(&r->fd);
    free(r->buffer);
    r->buffer = NULL;
}

enum leat_status parcel_choose(struct parcel_reader *r, uint64_t i, uint64_t *bytes, struct leat_error *err)
{
    uint64_t places[2];
    enum leat_status s = read_words(r, HEAD_WORDS + i, places, 2, err);

    if (s == LEAT_OK)
        s = read_words(r, HEAD_WORDS + r->count + 1 + i, &r->expected, 1, err);
    if (s != LEAT_OK)
        return s;
    if (places[0] > places[1] || places[1] > r->size - head_bytes(r->count))
        return parcel_damaged(r, err);
    r->at = head_bytes(r->count) + places[0];
    *bytes = r->left = places[1] - places[0];
    r->sum = first_sum(r->count, r->chunk, i, places[0], places[1]);
    r->used = r->filled = 0;
    return r->left > 0 || r->sum == r->expected ? LEAT_OK : parcel_damaged(r, err);
}

static enum leat_status fill(struct parcel_reader *r, struct leat_error *err)
{
    enum leat_status s;

    r->used = 0;
    r->filled = r->left < r->chunk ? (size_t)r->left : (size_t)r->chunk;
    if (r->filled == 0)
        return parcel_damaged(r, err);
    s = file_read_at(r->fd, r->at, r->buffer, r->filled, r->path, err);
    if (s != LEAT_OK)
        return s;
    r->sum = XXH3_64bits_withSeed(r->buffer, r->filled, r->sum);
    r->at += r->filled;
    r->left -= r->filled;
    return r->left > 0 || r->sum == r->expected ? LEAT_OK : parcel_damaged(r, err);
}

enum leat_status parcel_take(struct parcel_reader *r, void *bytes, uint64_t count, struct leat_error *err)
{
    uint8_t *to = bytes;
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && count > 0) {
        size_t here = r->filled - r->used;

        if (here == 0) {
            s = fill(r, err);
            continue;
        }
        here = count < here ? (size_t)count : here;
        memcpy(to, r->buffer + r->used, here);
        r->used += here;
        to += here;
        count -= here;
    }
    return s;
}
