/*
 * fit_side.c: Only what lies before the list is held in memory; the list is mapped, or read where
 * needed. Its pages are smaller than those of tokens because what is read of them is 4 bytes: of a hundred million
 * documents the hashes are 3 MB, read at every opening.
 */
#include "fit_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/big.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/search.h"
#include "base/status.h"
#include "base/tiny.h"
#include "checksum/checksum.h"
#include "dataset/dataset.h"

/* ---- Sorting ----------------------------------------------------------------------------------------------------- */

#define STARTS_AT_ONCE 4096u
#define COUNTED        ((uint64_t)1 << 20) /* shorter documents have a counter for their length */

typedef enum leat_status add_call(struct fit_sort *x, uint32_t number, uint64_t tokens, struct leat_error *err);

/* Inlined with each `add`: a call per document takes longer than most of what it does. */
SEARCH_INLINE enum leat_status read_documents(struct fit_sort *x, add_call *add, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint64_t starts[STARTS_AT_ONCE + 1];

    for (uint64_t i = 0; s == LEAT_OK && i < x->range_count; i++)
        for (uint64_t at = x->ranges[i].first, here; s == LEAT_OK && at < x->ranges[i].end; at += here) {
            here = x->ranges[i].end - at < STARTS_AT_ONCE ? x->ranges[i].end - at : STARTS_AT_ONCE;
            s = x->choice ? choice_starts(x->choice, at, here + 1, starts, err)
                          : leat_dataset_starts(x->dataset, at, here + 1, starts, err);
            for (uint64_t k = 0; s == LEAT_OK && k < here; k++)
                s = add(x, (uint32_t)(at + k - x->base), starts[k + 1] - starts[k], err);
            x->done += here;
            if (s == LEAT_OK && x->progress && x->progress(x->context, 8 * x->done, 8 * x->total))
                s = status_set(err, LEAT_E_STOPPED, "stopped");
        }
    return s;
}

/* ---- Counting ---- */

static enum leat_status count_document(struct fit_sort *x, uint32_t number, uint64_t tokens, struct leat_error *err)
{
    enum leat_status s;

    if (tokens < COUNTED) {
        x->counts[tokens]++;
        x->count_end = tokens < x->count_end ? x->count_end : tokens + 1;
        return LEAT_OK;
    }
    s = GROW(x->longs, x->long_count + 1, x->long_room, err);
    if (s != LEAT_OK)
        return s;
    x->longs[x->long_count++] = (struct fit_long) { tokens, number };
    return LEAT_OK;
}

static int compare_longs(const void *left, const void *right)
{
    const struct fit_long *a = left, *b = right;

    return a->tokens != b->tokens ? a->tokens < b->tokens ? -1 : 1 : a->number < b->number ? -1 : a->number > b->number;
}

static enum leat_status make_runs(struct fit_sort *x, struct leat_error *err)
{
    uint64_t count = x->long_count;

    for (uint64_t tokens = 0; tokens < x->count_end; tokens++)
        count += x->counts[tokens] > 0;
    x->runs = malloc((size_t)(count + 1) * sizeof *x->runs);
    if (!x->runs)
        return status_no_memory(err, count * sizeof *x->runs);
    for (uint64_t tokens = 0; tokens < x->count_end; tokens++) {
        if (x->counts[tokens] > 0)
            x->runs[x->run_count++] = (struct fit_run) { tokens, x->documents, x->counts[tokens], 0 };
        x->documents += x->counts[tokens];
    }
    if (x->long_count > 0)
        qsort(x->longs, x->long_count, sizeof *x->longs, compare_longs);
    for (uint64_t i = 0; i < x->long_count; i++, x->documents++) {
        if (x->run_count == 0 || x->runs[x->run_count - 1].tokens != x->longs[i].tokens)
            x->runs[x->run_count++] = (struct fit_run) { x->longs[i].tokens, x->documents, 0, 0 };
        x->runs[x->run_count - 1].count++;
    }
    return LEAT_OK;
}

enum leat_status fit_sort_count(struct fit_sort *x, struct leat_error *err)
{
    enum leat_status s;

    x->counts = calloc(COUNTED, sizeof *x->counts);
    x->places = calloc(COUNTED, sizeof *x->places);
    if (!x->counts || !x->places)
        return status_no_memory(err, 2 * COUNTED * sizeof *x->counts);
    s = read_documents(x, count_document, err);
    return s == LEAT_OK ? make_runs(x, err) : s;
}

/* ---- Placing ---- */

static enum leat_status place_document(struct fit_sort *x, uint32_t number, uint64_t tokens, struct leat_error *err)
{
    uint64_t place;

    (void)err;
    if (tokens >= COUNTED)
        return LEAT_OK;
    place = x->places[tokens]++ - x->first; /* wraps around before the window */
    if (place < x->count)
        x->list[place] = number;
    return LEAT_OK;
}

enum leat_status fit_sort_list(struct fit_sort *x, uint64_t first, uint64_t count, uint32_t *list,
                               struct leat_error *err)
{
    uint64_t place = 0;

    x->list = list;
    x->first = first;
    x->count = count;
    for (uint64_t tokens = 0; tokens < x->count_end; tokens++) {
        x->places[tokens] = place;
        place += x->counts[tokens];
    }
    for (uint64_t i = 0; i < x->long_count; i++)
        if (place + i - first < count)
            list[place + i - first] = x->longs[i].number;
    return read_documents(x, place_document, err);
}

void fit_sort_free(struct fit_sort *x)
{
    free(x->runs);
    free(x->counts);
    free(x->places);
    free(x->longs);
    *x = (struct fit_sort) { .documents = 0 };
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

#define HASHED    64u /* bytes of the header before its hash */
#define RUN_COUNT 48u /* where it has the number of runs */
#define RUN_BYTES 16u
#define SUM_BYTES 8u

/* The path of the side file of a part of a dataset; the caller frees it. NULL: no memory. */
static char *fit_side_path(const struct leat_dataset *d, const struct leat_part *part)
{
    size_t kind = strlen(part->kind), length;
    const char *name = part->name;

    /* "raw:FILE?dtype=u16" lies in FILE */
    if (strcmp(part->kind, "leat") != 0 && strncmp(name, part->kind, kind) == 0 && name[kind] == ':')
        name += kind + 1;
    length = name == part->name ? strlen(name) : strcspn(name, "?");
    return dataset_beside(d, name, length, ".fit");
}

static struct hash128 hash_head(const uint8_t *head, uint64_t bytes)
{
    struct hash128 sums[2];
    const struct checksum_kernels *k = checksum_kernels();
    uint8_t both[32];

    sums[0] = k->hash(head, HASHED);
    sums[1] = k->hash(head + FIT_SIDE_HEADER, bytes - FIT_SIDE_HEADER);
    checksum_store(both, sums[0]);
    checksum_store(both + 16, sums[1]);
    return k->hash(both, sizeof both);
}

uint64_t fit_side_pages(uint64_t documents)
{
    return bytes_divide_up(4 * documents, FIT_SIDE_PAGE);
}

uint64_t fit_side_head_bytes(uint64_t documents, uint64_t run_count)
{
    return FIT_SIDE_HEADER + RUN_BYTES * run_count + SUM_BYTES * fit_side_pages(documents);
}

void fit_side_hash(uint8_t *sums, const void *list, uint64_t bytes)
{
    const uint8_t *at = list;

    for (uint64_t done = 0; done < bytes; done += FIT_SIDE_PAGE, sums += SUM_BYTES) {
        uint64_t here = bytes - done < FIT_SIDE_PAGE ? bytes - done : FIT_SIDE_PAGE;

        bytes_store64(sums, checksum_kernels()->hash(at + done, here).low);
    }
}

/* What a file of this dataset begins with, up to the number of runs. */
static void store_begin(uint8_t head[RUN_COUNT], const struct leat_part *part)
{
    memcpy(head, "leatfits", 8);
    bytes_store64(head + 8, 2);
    memcpy(head + 16, part->identity, 16);
    bytes_store64(head + 32, part->documents);
    bytes_store64(head + 40, part->tokens);
}

/* Makes what the file has before the list, the caller's. The hashes of its pages go to *sums; then fit_side_seal()
 * completes the head. NULL: no memory. */
static uint8_t *fit_side_head(const struct leat_part *part, const struct fit_run *runs, uint64_t run_count,
                              uint8_t **sums)
{
    uint8_t *head = calloc(1, fit_side_head_bytes(part->documents, run_count));

    if (!head)
        return NULL;
    store_begin(head, part);
    bytes_store64(head + RUN_COUNT, run_count);
    for (uint64_t i = 0; i < run_count; i++) {
        bytes_store64(head + FIT_SIDE_HEADER + RUN_BYTES * i, runs[i].tokens);
        bytes_store64(head + FIT_SIDE_HEADER + RUN_BYTES * i + 8, runs[i].count);
    }
    *sums = head + FIT_SIDE_HEADER + RUN_BYTES * run_count;
    return head;
}

void fit_side_seal(uint8_t *head, uint64_t bytes)
{
    checksum_store(head + HASHED, hash_head(head, bytes));
}

/* Takes the runs of a head whose hash is right. Their tokens are the dataset's, so no number exceeds its limits. */
static enum leat_status take_runs(struct fit_side *side, const struct leat_part *part, struct leat_error *err)
{
    uint64_t place = 0, tokens = 0;

    side->runs = malloc((size_t)(side->run_count + 1) * sizeof *side->runs);
    if (!side->runs)
        return status_no_memory(err, side->run_count * sizeof *side->runs);
    for (uint64_t i = 0; i < side->run_count; i++) {
        const uint8_t *run = side->head + FIT_SIDE_HEADER + RUN_BYTES * i;
        uint64_t all;

        side->runs[i] = (struct fit_run) { bytes_load64(run), place, bytes_load64(run + 8), 0 };
        if (side->runs[i].count == 0 || side->runs[i].count > side->documents - place ||
            (i > 0 && side->runs[i].tokens <= side->runs[i - 1].tokens) ||
            !bytes_multiply(side->runs[i].tokens, side->runs[i].count, &all) || all > part->tokens - tokens)
            return status_set_in(err, LEAT_E_DOCUMENTS, side->path, "%s is damaged", side->path);
        place += side->runs[i].count;
        tokens += all;
    }
    return place == side->documents ? LEAT_OK
                                    : status_set_in(err, LEAT_E_DOCUMENTS, side->path, "%s is damaged", side->path);
}

/* Reads the header, and looks how long the file has to be. */
static enum leat_status read_begin(struct fit_side *side, const struct leat_part *part, struct leat_error *err)
{
    uint8_t header[FIT_SIDE_HEADER], wanted[RUN_COUNT];
    enum leat_status s;

    if (side->file.size < sizeof header)
        return status_set_in(err, LEAT_E_TRUNCATED, side->path, "%s is too short", side->path);
    s = file_map_read(&side->file, 0, header, sizeof header, err);
    if (s != LEAT_OK)
        return s;
    side->run_count = bytes_load64(header + RUN_COUNT);
    side->documents = part->documents;
    store_begin(wanted, part);
    if (memcmp(header, wanted, sizeof wanted) != 0 || side->documents > UINT32_MAX || side->run_count > side->documents)
        return status_set_in(err, LEAT_E_INCOMPATIBLE, side->path,
                             "%s was made from another dataset, or by another version of leat", side->path);
    side->list = fit_side_head_bytes(side->documents, side->run_count);
    if (side->file.size != side->list + 4 * side->documents)
        return status_set_in(err, LEAT_E_TRUNCATED, side->path, "%s is too short or too long", side->path);
    return LEAT_OK;
}

static enum leat_status read_head(struct fit_side *side, const struct leat_part *part, struct leat_error *err)
{
    enum leat_status s = read_begin(side, part, err);

    if (s != LEAT_OK)
        return s;
    side->head = malloc(side->list);
    side->checked = calloc(fit_side_pages(side->documents) / 64 + 1, sizeof *side->checked);
    if (!side->head || !side->checked)
        return status_no_memory(err, side->list);
    s = file_map_read(&side->file, 0, side->head, side->list, err);
    if (s == LEAT_OK && !checksum_equal(checksum_load(side->head + HASHED), hash_head(side->head, side->list)))
        s = status_set_in(err, LEAT_E_CHECKSUM, side->path, "%s is damaged", side->path);
    return s == LEAT_OK ? take_runs(side, part, err) : s;
}

enum leat_status fit_side_open(struct fit_side *side, const struct leat_dataset *d, const struct leat_part *part,
                               struct leat_error *err)
{
    uint64_t size;
    int fd;
    enum leat_status s;

    *side = (struct fit_side) { .file = { .fd = -1 }, .path = fit_side_path(d, part) };
    if (!side->path)
        return status_no_memory(err, strlen(part->name));
    s = own_file_open(&fd, &size, side->path, OWN_FILE_READ, err);
    if (s == LEAT_OK)
        s = file_map_take(&side->file, fd, size, side->path, file_map_access(LEAT_ACCESS_LEASED), err);
    side->file.mounts = d->mounts;
    return s == LEAT_OK ? read_head(side, part, err) : s;
}

void fit_side_close(struct fit_side *side)
{
    file_map_close(&side->file);
    free(side->path);
    free(side->runs);
    free(side->head);
    free(side->checked);
    *side = (struct fit_side) { .file = { .fd = -1 } };
}

static enum leat_status damaged(const struct fit_side *side, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_DOCUMENTS, side->path, "%s is damaged: make it again with `leat fit`", side->path);
}

/* Compares a page of the list with its hash. */
static enum leat_status check_page(struct fit_side *side, const uint8_t *map, uint64_t page, struct leat_error *err)
{
    uint64_t at = page * FIT_SIDE_PAGE, left = 4 * side->documents - at;
    uint64_t bytes = left < FIT_SIDE_PAGE ? left : FIT_SIDE_PAGE;
    uint8_t copy[FIT_SIDE_PAGE], sum[SUM_BYTES] = { 0 };
    const uint8_t *from = copy, *sums = side->head + side->list - SUM_BYTES * fit_side_pages(side->documents);
    enum leat_status s = LEAT_OK;

    at += side->list;
    if (map && file_map_fill(&side->file, at, bytes))
        from = map + at;
    else
        s = file_map_read(&side->file, at, copy, bytes, err);
    if (s != LEAT_OK)
        return s;
    fit_side_hash(sum, from, bytes);
    if (memcmp(sum, sums + SUM_BYTES * page, sizeof sum) != 0)
        return damaged(side, err);
    atomic_fetch_or_explicit(&side->checked[page / 64], (uint64_t)1 << page % 64, memory_order_relaxed);
    return LEAT_OK;
}

enum leat_status fit_side_document(struct fit_side *side, const uint8_t *map, uint64_t place, uint64_t *document,
                                   struct leat_error *err)
{
    uint64_t page = place * 4 / FIT_SIDE_PAGE, at = side->list + 4 * place;
    uint32_t number = 0;
    enum leat_status s = LEAT_OK;

    if (!(atomic_load_explicit(&side->checked[page / 64], memory_order_relaxed) >> page % 64 & 1))
        s = check_page(side, map, page, err);
    if (s == LEAT_OK && map && file_map_fill(&side->file, at, sizeof number))
        memcpy(&number, map + at, sizeof number);
    else if (s == LEAT_OK)
        s = file_map_read(&side->file, at, &number, sizeof number, err);
    *document = bytes_le32(number);
    return s == LEAT_OK && *document >= side->documents ? damaged(side, err) : s;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/*
 * Leat_dataset_fit(): writes the side files of a dataset's parts. The sorted list is made window by
 * window, each with a pass over the documents' starts, so memory does not grow with it. A file gets its name when it is
 * complete and on disk.
 */

#define WINDOW (TINY_OR((uint64_t)1, (uint64_t)128 << 10) * FIT_SIDE_PAGE / 4) /* documents: whole pages, 128 MiB */

static enum leat_status write_list(struct fit_sort *x, int fd, uint64_t offset, uint8_t *sums, const char *path,
                                   struct leat_error *err)
{
    uint64_t room = x->documents < WINDOW ? x->documents : WINDOW;
    uint32_t *list = malloc((size_t)(room + 1) * sizeof *list);
    enum leat_status s = list ? LEAT_OK : status_no_memory(err, room * sizeof *list);

    for (uint64_t first = 0, here; s == LEAT_OK && first < x->documents; first += here) {
        here = x->documents - first < room ? x->documents - first : room;
        s = fit_sort_list(x, first, here, list, err);
        for (uint64_t i = 0; BYTES_BIG_ENDIAN && i < here; i++)
            list[i] = bytes_le32(list[i]);
        if (s != LEAT_OK)
            break;
        fit_side_hash(sums + 8 * fit_side_pages(first), list, 4 * here);
        s = file_write_at(fd, offset + 4 * first, list, 4 * here, path, err);
    }
    free(list);
    return s;
}

/* Another thread or process that makes this file is waited for: all who call for it get it. */
static enum leat_status begin_side_file(int *fd, const struct fit_sort *x, const char *partial, struct leat_error *err)
{
    static const struct timespec moment = { 0, 10000000 };
    struct leat_error why;
    enum leat_status s;

    while ((s = own_file_begin(fd, partial, &why)) == LEAT_E_BUSY) {
        if (x->progress && x->progress(x->context, 0, 8 * x->total))
            return status_set(err, LEAT_E_STOPPED, "stopped");
        nanosleep(&moment, NULL);
    }
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

static enum leat_status write_file(struct fit_sort *x, const struct leat_part *part, int fd, const char *path,
                                   struct leat_error *err)
{
    enum leat_status s = fit_sort_count(x, err);
    uint8_t *sums, *head;
    uint64_t bytes;

    if (s != LEAT_OK)
        return s;
    bytes = fit_side_head_bytes(part->documents, x->run_count);
    head = fit_side_head(part, x->runs, x->run_count, &sums);
    s = head ? write_list(x, fd, bytes, sums, path, err) : status_no_memory(err, bytes);
    if (s == LEAT_OK) {
        fit_side_seal(head, bytes);
        s = file_write_at(fd, 0, head, bytes, path, err);
    }
    free(head);
    return s == LEAT_OK ? file_sync(fd, path, err) : s;
}

/* Writes under another name, which becomes `path` at the end. */
static enum leat_status replace(struct fit_sort *x, const struct leat_part *part, const char *path,
                                struct leat_error *err)
{
    char *partial = path_append(path, strlen(path), ".partial", NULL);
    enum leat_status s;
    int fd = -1;

    if (!partial)
        return status_no_memory(err, strlen(path));
    s = begin_side_file(&fd, x, partial, err);
    if (s == LEAT_OK) {
        s = write_file(x, part, fd, partial, err);
        if (s == LEAT_OK)
            s = file_rename(partial, path, true, err);
        if (s != LEAT_OK)
            file_remove(partial, NULL);
        else
            s = file_sync_folder(path, err);
    }
    file_close(&fd);
    free(partial);
    return s;
}

static enum leat_status fit_part(const struct leat_dataset *d, const struct leat_fit_options *o, uint64_t number,
                                 struct leat_error *err)
{
    struct leat_part part = LEAT_PART_INIT;
    struct fit_range all;
    struct fit_sort x = {
        .dataset = d, .ranges = &all, .range_count = 1, .progress = o->progress, .context = o->context
    };
    enum leat_status s = leat_dataset_part(d, number, &part, err);
    char *path = s == LEAT_OK ? fit_side_path(d, &part) : NULL;

    if (s == LEAT_OK && !path)
        s = status_no_memory(err, strlen(part.name));
    if (s == LEAT_OK && part.documents > UINT32_MAX)
        s = status_set_in(err, LEAT_E_UNSUPPORTED, part.name,
                          "%.300s has %" PRIu64 " documents; a file of documents by length holds 2^32", part.name,
                          part.documents);
    if (s == LEAT_OK && own_file_is_url(path))
        s = status_set_in(err, LEAT_E_UNSUPPORTED, path,
                          "%s cannot be written beside a URL: copy the dataset with `leat pull` first", path);
    if (s == LEAT_OK)
        s = own_file_check_name(path, err);
    if (s == LEAT_OK) {
        all = (struct fit_range) { part.first_document, part.first_document + part.documents };
        x.base = part.first_document;
        x.total = part.documents * (1 + bytes_divide_up(part.documents, WINDOW));
        s = replace(&x, &part, path, err);
    }
    fit_sort_free(&x);
    free(path);
    return s;
}

enum leat_status leat_dataset_fit(const struct leat_dataset *d, const struct leat_fit_options *options,
                                  struct leat_error *err)
{
    struct leat_fit_options o = LEAT_FIT_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s = options_read(&o, sizeof o, NULL, options, "leat_fit_options", err);

    if (s == LEAT_OK)
        s = leat_dataset_starts(d, 0, 0, NULL, err);
    leat_dataset_info(d, &info);
    for (uint64_t i = 0; s == LEAT_OK && i < info.parts; i++)
        s = fit_part(d, &o, i, err);
    return s;
}
