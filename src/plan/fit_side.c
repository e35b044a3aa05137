/*
 * fit_side.c: see fit_side.h. Only what lies before the list is held in memory; the list is mapped, or read where
 * needed. Its pages are smaller than those of tokens because what is read of them is 4 bytes: of a hundred million
 * documents the hashes are 3 MB, read at every opening.
 */
#include "fit_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "checksum/checksum.h"
#include "dataset/dataset.h"

#define HASHED    64u /* bytes of the header before its hash */
#define RUN_COUNT 48u /* where it has the number of runs */
#define RUN_BYTES 16u
#define SUM_BYTES 8u

/* The name as it was given, as long as that is right. */
static char *beside(const struct leat_dataset *d, const char *name, size_t length)
{
    char *path = malloc(length + sizeof ".fit"), *whole;

    if (!path)
        return NULL;
    snprintf(path, length + sizeof ".fit", "%.*s.fit", (int)length, name);
    if (!folder_left(&d->home))
        return path;
    whole = folder_name(&d->home, path);
    free(path);
    return whole;
}

char *fit_side_path(const struct leat_dataset *d, const struct leat_part *part)
{
    size_t kind = strlen(part->kind), length;
    const char *name = part->name;

    /* "raw:FILE?dtype=u16" lies in FILE */
    if (strcmp(part->kind, "leat") != 0 && strncmp(name, part->kind, kind) == 0 && name[kind] == ':')
        name += kind + 1;
    length = name == part->name ? strlen(name) : strcspn(name, "?");
    return beside(d, name, length);
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

uint8_t *fit_side_head(const struct leat_part *part, const struct fit_run *runs, uint64_t run_count, uint8_t **sums)
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
            return status_set(err, LEAT_E_DOCUMENTS, "%s is damaged", side->path);
        place += side->runs[i].count;
        tokens += all;
    }
    return place == side->documents ? LEAT_OK : status_set(err, LEAT_E_DOCUMENTS, "%s is damaged", side->path);
}

/* Reads the header, and looks how long the file has to be. */
static enum leat_status read_begin(struct fit_side *side, const struct leat_part *part, struct leat_error *err)
{
    uint8_t header[FIT_SIDE_HEADER], wanted[RUN_COUNT];
    enum leat_status s;

    if (side->file.size < sizeof header)
        return status_set(err, LEAT_E_TRUNCATED, "%s is too short", side->path);
    s = file_map_read(&side->file, 0, header, sizeof header, err);
    if (s != LEAT_OK)
        return s;
    side->run_count = bytes_load64(header + RUN_COUNT);
    side->documents = part->documents;
    store_begin(wanted, part);
    if (memcmp(header, wanted, sizeof wanted) != 0 || side->documents > UINT32_MAX || side->run_count > side->documents)
        return status_set(err, LEAT_E_INCOMPATIBLE, "%s was made from another dataset, or by another version of leat",
                          side->path);
    side->list = fit_side_head_bytes(side->documents, side->run_count);
    if (side->file.size != side->list + 4 * side->documents)
        return status_set(err, LEAT_E_TRUNCATED, "%s is too short or too long", side->path);
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
        s = status_set(err, LEAT_E_CHECKSUM, "%s is damaged", side->path);
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
    return status_set(err, LEAT_E_DOCUMENTS, "%s is damaged: make it again with `leat fit`", side->path);
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
