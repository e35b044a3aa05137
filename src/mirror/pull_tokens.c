/*
 * pull_tokens.c: the tokens, in ranges of some MiB, several at once. A range whose pages have the right hashes in the
 * file already is kept; one that arrives is checked before it is written, and asked for again if it is wrong. The sums
 * of all pages, in any order, add up to the 128-bit sum in the header, which is compared last.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "mirror.h"

#define RANGE       TINY_OR((uint64_t)8192, REMOTE_PART)
#define RANGE_PAGES (RANGE / FORMAT_PAGE_BYTES)

struct lane {
    struct transfer transfer;
    uint8_t *bytes; /* RANGE */
    unsigned tries; /* whose bytes were wrong */
};

struct tokens {
    struct pull *p;
    struct lane *lanes;
    uint32_t lane_count;
    uint64_t next;               /* the byte from which nothing was looked at */
    uint32_t *stored, *computed; /* RANGE_PAGES hashes each */
    uint8_t *local;              /* RANGE */
    struct hash128 sum;
};

/* Checks a range; *right is whether all its pages are. If so, adds their sum. */
static enum leat_status check(struct tokens *t, const uint8_t *bytes, uint64_t first, uint64_t count, bool *right,
                              uint64_t *page, struct leat_error *err)
{
    uint64_t pages = bytes_divide_up(count, FORMAT_PAGE_BYTES), at = first / FORMAT_PAGE_BYTES;
    struct hash128 sum = { 0, 0 };
    enum leat_status s =
        file_read_at(t->p->index_fd, t->p->header.sections[FORMAT_PAGES].offset + at * sizeof *t->stored, t->stored,
                     pages * sizeof *t->stored, t->p->names.partial[FILE_INDEX], err);

    if (s != LEAT_OK)
        return s;
    t->p->kernels->pages(&sum, bytes, count, at, t->computed);
    *right = true;
    for (uint64_t i = 0; i < pages && *right; i++) {
        *right = bytes_le32(t->stored[i]) == t->computed[i];
        *page = at + i;
    }
    if (*right)
        checksum_add(&t->sum, sum);
    return LEAT_OK;
}

/* Whether the file holds the range already. What was never written is a hole, which needs no reading. */
static enum leat_status is_here(struct tokens *t, uint64_t first, uint64_t count, bool *here, struct leat_error *err)
{
    off_t data = lseek(t->p->tokens_fd, (off_t)first, SEEK_DATA);
    enum leat_status s;
    uint64_t page;

    *here = false;
    if (data < 0 || (uint64_t)data >= first + count)
        return LEAT_OK;
    s = file_read_at(t->p->tokens_fd, first, t->local, count, t->p->names.partial[SPILL_TOKENS], err);
    return s == LEAT_OK ? check(t, t->local, first, count, here, &page, err) : s;
}

/* Finds the next range that is missing, and asks for it. */
static enum leat_status begin_next(struct tokens *t, struct lane *lane, struct leat_error *err)
{
    uint64_t size = t->p->header.token_file_bytes;
    enum leat_status s = LEAT_OK;

    while (t->next < size && s == LEAT_OK) {
        uint64_t first = t->next, count = size - first < RANGE ? size - first : RANGE;
        bool here;

        t->next += count;
        s = is_here(t, first, count, &here, err);
        if (s != LEAT_OK)
            return s;
        if (!here) {
            lane->transfer.first = first;
            lane->transfer.count = count;
            lane->tries = 0;
            return remote_begin(t->p->remote, &lane->transfer, err);
        }
        t->p->report.kept += count;
        s = pull_advance(t->p, count, err);
    }
    return s;
}

/* A range has arrived. */
static enum leat_status take(struct tokens *t, struct lane *lane, struct leat_error *err)
{
    struct transfer *transfer = &lane->transfer;
    bool right;
    uint64_t page;
    enum leat_status s = check(t, lane->bytes, transfer->first, transfer->count, &right, &page, err);

    if (s != LEAT_OK)
        return s;
    if (!right && ++lane->tries < REMOTE_DAMAGED_TRIES)
        return remote_begin(t->p->remote, transfer, err);
    if (!right)
        return status_set_at(err, LEAT_E_CHECKSUM, page * FORMAT_PAGE_BYTES,
                             "%s: page %llu arrived damaged %u times; verify the dataset where it was made, and copy "
                             "it to the server again",
                             t->p->tokens_url.name, (unsigned long long)page, REMOTE_DAMAGED_TRIES);
    s = file_write_at(t->p->tokens_fd, transfer->first, lane->bytes, transfer->count, t->p->names.partial[SPILL_TOKENS],
                      err);
    if (s == LEAT_OK)
        s = pull_advance(t->p, transfer->count, err);
    return s == LEAT_OK ? begin_next(t, lane, err) : s;
}

static enum leat_status run(struct tokens *t, struct leat_error *err)
{
    struct transfer *done;
    enum leat_status s = LEAT_OK;

    for (uint32_t i = 0; i < t->lane_count && s == LEAT_OK; i++)
        s = begin_next(t, &t->lanes[i], err);
    while (s == LEAT_OK) {
        s = remote_wait(t->p->remote, &done, err);
        if (s != LEAT_OK || !done)
            break;
        s = done->status;
        if (s != LEAT_OK && err)
            *err = done->error;
        if (s == LEAT_OK)
            s = take(t, done->context, err);
    }
    if (s != LEAT_OK)
        remote_abandon(t->p->remote);
    if (s == LEAT_OK && !checksum_equal(t->sum, t->p->header.token_sum))
        return status_set(err, LEAT_E_CHECKSUM,
                          "%s: the sum of all pages is wrong; verify the dataset where it was "
                          "made",
                          t->p->tokens_url.name);
    return s;
}

static enum leat_status make_lanes(struct tokens *t, struct leat_error *err)
{
    uint32_t count = t->p->options.connections;

    t->lanes = calloc(count, sizeof *t->lanes);
    t->local = malloc(RANGE);
    t->stored = calloc(RANGE_PAGES, sizeof *t->stored);
    t->computed = calloc(RANGE_PAGES, sizeof *t->computed);
    if (!t->lanes || !t->local || !t->stored || !t->computed)
        return status_no_memory(err, RANGE);
    for (; t->lane_count < count; t->lane_count++) {
        struct lane *lane = &t->lanes[t->lane_count];

        lane->bytes = malloc(RANGE);
        if (!lane->bytes)
            return status_no_memory(err, RANGE);
        lane->transfer = (struct transfer) {
            .url = &t->p->tokens_url, .if_match = t->p->tokens.etag, .out = lane->bytes, .context = lane
        };
    }
    return LEAT_OK;
}

enum leat_status pull_tokens(struct pull *p, struct leat_error *err)
{
    struct tokens t = { .p = p };
    enum leat_status s = make_lanes(&t, err);

    if (s == LEAT_OK)
        s = run(&t, err);
    for (uint32_t i = 0; i < t.lane_count; i++) {
        transfer_free(&t.lanes[i].transfer);
        free(t.lanes[i].bytes);
    }
    free(t.lanes);
    free(t.local);
    free(t.stored);
    free(t.computed);
    return s;
}
