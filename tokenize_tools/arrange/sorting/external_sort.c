/*
 * external_sort.c: fills the memory with triples; when it is full, sorts them and writes them as a run. At the end,
 * a heap of the runs' first triples merges them, and each run has a share of the memory to read ahead. If there are
 * too many runs for that, they are merged to one run first, so their number does not grow with what is sorted.
 */
#include "external_sort.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/status.h"
#include "base/tiny.h"

/* ---- In memory ---- */

/*
 * A radix sort by one byte after another, the highest first. It works in place: each element is swapped to where its
 * byte belongs. Groups of at most SMALL elements are sorted by insertion. Hashes, whose first bytes divide them
 * evenly, take two or three passes; equal triples go through all 24 bytes.
 */

#define SMALL  24u /* number of elements up to which insertion is faster */
#define VALUES 256u
#define BYTES  24u /* size of a triple */

static unsigned byte_of(const struct triple *t, unsigned depth)
{
    uint64_t number = depth < 8 ? t->a : depth < 16 ? t->b : t->c;

    return (unsigned)(number >> (56 - 8 * (depth % 8)) & 0xff);
}

static void insert(struct triple *t, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct triple one = t[i];
        size_t at = i;

        for (; at > 0 && triple_less(&one, &t[at - 1]); at--)
            t[at] = t[at - 1];
        t[at] = one;
    }
}

/* Puts each element into the group of its byte; ends[v] becomes where group v ends. */
static void divide(struct triple *t, size_t count, unsigned depth, size_t ends[VALUES])
{
    size_t next[VALUES], sum = 0;

    for (unsigned v = 0; v < VALUES; v++)
        next[v] = 0;
    for (size_t i = 0; i < count; i++)
        next[byte_of(&t[i], depth)]++;
    for (unsigned v = 0; v < VALUES; v++) {
        size_t here = next[v];

        next[v] = sum;
        sum += here;
        ends[v] = sum;
    }
    for (unsigned v = 0; v < VALUES; v++)
        while (next[v] < ends[v]) {
            struct triple one = t[next[v]];
            unsigned to = byte_of(&one, depth);

            while (to != v) {
                struct triple other = t[next[to]];

                t[next[to]++] = one;
                one = other;
                to = byte_of(&one, depth);
            }
            t[next[v]++] = one;
        }
}

/* Sorts triples whose first `depth` bytes are equal. The depth of the recursion is bounded by the bytes of a triple. */
static void sort_from(struct triple *t, size_t count, unsigned depth)
{
    size_t ends[VALUES], begin = 0;

    if (count <= SMALL || depth == BYTES) {
        insert(t, depth == BYTES ? 0 : count);
        return;
    }
    divide(t, count, depth, ends);
    for (unsigned v = 0; v < VALUES; v++) {
        if (ends[v] - begin > 1)
            sort_from(t + begin, ends[v] - begin, depth + 1);
        begin = ends[v];
    }
}

void triple_sort(struct triple *t, size_t count)
{
    sort_from(t, count, 0);
}

/* ---- In files ---- */

#define FEWEST_TRIPLES TINY_OR((size_t)4, (size_t)1024) /* as many triples are kept in memory, whatever the bound */
#define FIRST_TRIPLES  ((size_t)1024)
#define MAX_RUNS                                                                                                       \
    TINY_OR((size_t)4, (size_t)512) /* so many runs are merged to one before another run is
                                                          written */

void external_sort_begin(struct external_sort *s, const char *path, uint64_t memory_bytes)
{
    uint64_t room = memory_bytes / sizeof *s->memory;

    *s = (struct external_sort) { .path = path, .fd = -1 };
    if (room > SIZE_MAX / sizeof *s->memory)
        room = SIZE_MAX / sizeof *s->memory;
    s->room = room < FEWEST_TRIPLES ? FEWEST_TRIPLES : (size_t)room;
}

void external_sort_end(struct external_sort *s)
{
    free(s->memory);
    free(s->runs);
    free(s->heap);
    file_close(&s->fd);
    s->memory = NULL;
    s->runs = NULL;
    s->heap = NULL;
}

static enum leat_status grow_memory(struct external_sort *s, struct leat_error *err)
{
    size_t reserved = s->reserved ? s->reserved + s->reserved / 2 + 1 : FIRST_TRIPLES;
    struct triple *memory;

    if (reserved > s->room)
        reserved = s->room;
    memory = realloc(s->memory, reserved * sizeof *memory);
    if (!memory)
        return status_no_memory(err, reserved * sizeof *memory);
    s->memory = memory;
    s->reserved = reserved;
    return LEAT_OK;
}

/* ---- Runs ---- */

static enum leat_status push_run(struct external_sort *s, uint64_t at, uint64_t end, struct leat_error *err)
{
    enum leat_status status = GROW(s->runs, s->run_count + 1, s->run_room, err);

    if (status == LEAT_OK)
        s->runs[s->run_count++] = (struct external_run) { .at = at, .end = end };
    return status;
}

static enum leat_status write_triples(const struct external_sort *s, int fd, uint64_t at, const struct triple *t,
                                      size_t count, struct leat_error *err)
{
    return file_write_at(fd, at * sizeof *t, t, (uint64_t)count * sizeof *t, s->path, err);
}

static enum leat_status write_run(struct external_sort *s, struct leat_error *err)
{
    enum leat_status status = s->fd < 0 ? file_create_unnamed(&s->fd, s->path, err) : LEAT_OK;

    triple_sort(s->memory, s->count);
    if (status == LEAT_OK)
        status = push_run(s, s->file_triples, s->file_triples + s->count, err);
    if (status == LEAT_OK)
        status = write_triples(s, s->fd, s->file_triples, s->memory, s->count, err);
    s->file_triples += s->count;
    s->count = 0;
    return status;
}

/* ---- The heap ---- */

static const struct triple *first_of(const struct external_sort *s, size_t run)
{
    return &s->runs[run].buffer[s->runs[run].used];
}

static void sink_down(struct external_sort *s, size_t i)
{
    for (;;) {
        size_t min = i, moved;

        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < s->heap_count; child++)
            if (triple_less(first_of(s, s->heap[child]), first_of(s, s->heap[min])))
                min = child;
        if (min == i)
            return;
        moved = s->heap[i];
        s->heap[i] = s->heap[min];
        s->heap[min] = moved;
        i = min;
    }
}

static enum leat_status fill_run(struct external_sort *s, struct external_run *run, size_t room, struct leat_error *err)
{
    uint64_t left = run->end - run->at;

    run->used = 0;
    run->count = left < room ? (size_t)left : room;
    run->at += run->count;
    return file_read_at(s->fd, (run->at - run->count) * sizeof(struct triple), run->buffer,
                        (uint64_t)run->count * sizeof(struct triple), s->path, err);
}

/* Returns each run's share of the memory, in triples. */
static size_t share(const struct external_sort *s)
{
    return s->reserved / s->run_count;
}

static enum leat_status begin_merge(struct external_sort *s, struct leat_error *err)
{
    size_t *heap = realloc(s->heap, s->run_count * sizeof *heap);
    enum leat_status status = LEAT_OK;

    if (!heap)
        return status_no_memory(err, s->run_count * sizeof *heap);
    s->heap = heap;
    s->heap_count = s->run_count;
    for (size_t i = 0; status == LEAT_OK && i < s->run_count; i++) {
        heap[i] = i;
        s->runs[i].buffer = s->memory + i * share(s);
        status = fill_run(s, &s->runs[i], share(s), err);
    }
    for (size_t i = s->heap_count / 2; status == LEAT_OK && i-- > 0;)
        sink_down(s, i);
    return status;
}

static enum leat_status merge_next(struct external_sort *s, struct triple *t, bool *more, struct leat_error *err)
{
    struct external_run *run;
    enum leat_status status = LEAT_OK;

    *more = s->heap_count > 0;
    if (!*more)
        return LEAT_OK;
    run = &s->runs[s->heap[0]];
    *t = run->buffer[run->used++];
    if (run->used == run->count && run->at < run->end)
        status = fill_run(s, run, share(s), err);
    if (run->used == run->count)
        s->heap[0] = s->heap[--s->heap_count];
    sink_down(s, 0);
    return status;
}

/* Merges all runs to one, in a file of its own, so that their number does not grow with what is sorted. */
static enum leat_status merge_runs(struct external_sort *s, struct leat_error *err)
{
    struct triple out[256];
    uint64_t written = 0;
    size_t used = 0;
    bool more = true;
    int fd = -1;
    enum leat_status status = file_create_unnamed(&fd, s->path, err);

    if (status == LEAT_OK)
        status = begin_merge(s, err);
    while (status == LEAT_OK && more) {
        status = merge_next(s, &out[used], &more, err);
        used += more;
        if (status == LEAT_OK && (used == sizeof out / sizeof out[0] || !more)) {
            status = write_triples(s, fd, written, out, used, err);
            written += used;
            used = 0;
        }
    }
    if (status != LEAT_OK) {
        file_close(&fd);
        return status;
    }
    file_close(&s->fd);
    s->fd = fd;
    s->run_count = 0;
    s->file_triples = written;
    return push_run(s, 0, written, err);
}

/* ---- Putting and taking triples ---- */

enum leat_status external_sort_put(struct external_sort *s, struct triple t, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    if (s->count == s->reserved) {
        if (s->reserved < s->room)
            status = grow_memory(s, err);
        else
            status = write_run(s, err);
        if (status == LEAT_OK && s->run_count >= MAX_RUNS)
            status = merge_runs(s, err);
    }
    if (status != LEAT_OK)
        return status;
    s->memory[s->count++] = t;
    s->total++;
    return LEAT_OK;
}

enum leat_status external_sort_turn(struct external_sort *s, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    s->next = 0;
    if (s->fd < 0) {
        triple_sort(s->memory, s->count);
        return LEAT_OK;
    }
    if (s->count > 0)
        status = write_run(s, err);
    return status == LEAT_OK ? begin_merge(s, err) : status;
}

enum leat_status external_sort_next(struct external_sort *s, struct triple *t, bool *more, struct leat_error *err)
{
    if (s->fd >= 0)
        return merge_next(s, t, more, err);
    *more = s->next < s->count;
    if (*more)
        *t = s->memory[s->next++];
    return LEAT_OK;
}
