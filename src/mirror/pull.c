/*
 * pull.c: leat_pull(), which copies a dataset from a server. What arrives lies in NAME.partial.leat and
 * NAME.partial.tokens until all of it is here and checked. Nothing else is kept of a pull that was stopped: hashes
 * say which sections and pages of these files are right, whichever process wrote them.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "checksum/checksum.h"
#include "column/column_files.h"
#include "mirror.h"

/* A dataset on its way from a server. */
struct pull {
    struct leat_pull_options options;
    struct leat_pull_report report;
    struct remote *remote;
    struct url index_url, tokens_url;
    struct remote_object index, tokens; /* the objects as the server describes them */
    struct writer_names names;
    int lock, index_fd, tokens_fd; /* the files are NAME.partial.leat and NAME.partial.tokens */
    const struct checksum_kernels *kernels;
    uint8_t page[FORMAT_HEADER_BYTES]; /* first page of the index */
    struct format_header header;
    uint64_t done; /* bytes of both files that are here */
};

/* Counts bytes that are here now. Returns LEAT_E_STOPPED if the caller wants to stop. */
static enum leat_status pull_advance(struct pull *p, uint64_t bytes, struct leat_error *err)
{
    p->done += bytes;
    if (p->options.progress &&
        p->options.progress(p->options.context, p->done, p->header.index_bytes + p->header.token_file_bytes))
        return mirror_stopped(err);
    return LEAT_OK;
}

/* Returns true if the caller wants to stop; the context is a struct pull. */
static bool pull_wants_stop(void *context)
{
    return pull_advance(context, 0, NULL) != LEAT_OK;
}

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

/* Checks whether sections of an index, in a file here, are what its header says. */

enum leat_status mirror_stopped(struct leat_error *err)
{
    return status_set(err, LEAT_E_STOPPED, "stopped; the same command goes on from here");
}

enum leat_status mirror_section_is_right(const struct mirror_file *f, const struct format_place *place, bool *right,
                                         struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    struct page_sum sum;

    *right = false;
    page_sum_begin(&sum, 0, (struct hash128) { 0, 0 });
    for (uint64_t at = 0, count; at < place->bytes && s == LEAT_OK; at += count) {
        count = place->bytes - at < MIRROR_PIECE ? place->bytes - at : MIRROR_PIECE;
        s = f->stop(f->context) ? mirror_stopped(err)
                                : page_sum_add_file(&sum, f->fd, place->offset + at, count, f->path, err);
    }
    *right = s == LEAT_OK && checksum_equal(page_sum_now(&sum), place->sum);
    return s;
}

/* Returns how many zeros follow a section. */
static uint64_t mirror_padding(const struct format_header *h, const struct format_place *place)
{
    uint64_t end = place->offset + place->bytes, next = format_align(end);

    return (next < h->index_bytes ? next : h->index_bytes) - end;
}

/* ---- The index --------------------------------------------------------------------------------------------------- */

/* Copies the index, section by section. If a section is here in part, the pieces that were never written are asked
 * for first. If its sum is still wrong, all of it is asked for, up to three times. */

#define BLOCK ((uint64_t)4096) /* block size of a file; on larger blocks, more is asked for again */

static enum leat_status is_right(struct pull *p, const struct format_place *place, bool *right, struct leat_error *err)
{
    struct mirror_file f = { p->index_fd, p->names.partial[FILE_INDEX], pull_wants_stop, p };

    return mirror_section_is_right(&f, place, right, err);
}

/* Returns true if something was written there, and it is not a hole. The first block there proves nothing: it may
 * have been written for what stands before it. */
static bool has_data(const struct pull *p, uint64_t first, uint64_t count)
{
    uint64_t inside = bytes_divide_up(first, BLOCK) * BLOCK;
    off_t data = inside < first + count ? lseek(p->index_fd, (off_t)inside, SEEK_DATA) : -1;

    return data >= 0 && (uint64_t)data < first + count;
}

/* Copies the pieces of a section that were never written, or with `all` all of them. *brought counts their bytes. */
static enum leat_status bring_pieces(struct pull *p, const struct format_place *place, bool all, uint64_t *brought,
                                     struct leat_error *err)
{
    uint64_t room = place->bytes < MIRROR_PIECE ? place->bytes : MIRROR_PIECE, end = place->offset + place->bytes;
    uint8_t *buffer = malloc(room ? room : 1);
    enum leat_status s = buffer ? LEAT_OK : status_no_memory(err, room);

    *brought = 0;
    for (uint64_t at = place->offset, next; at < end && s == LEAT_OK; at = next) {
        next = at - at % MIRROR_PIECE + MIRROR_PIECE < end ? at - at % MIRROR_PIECE + MIRROR_PIECE : end;
        if (!all && has_data(p, at, next - at))
            continue;
        s = remote_read(p->remote, &p->index_url, &p->index, at, buffer, next - at, err);
        if (s == LEAT_OK)
            s = file_write_at(p->index_fd, at, buffer, next - at, p->names.partial[FILE_INDEX], err);
        *brought += next - at;
        if (s == LEAT_OK && !all)
            s = pull_advance(p, next - at, err);
    }
    free(buffer);
    return s;
}

static enum leat_status bring_section(struct pull *p, const struct format_place *place, struct leat_error *err)
{
    static const uint8_t zeros[FORMAT_ALIGNMENT];
    uint64_t missing, brought;
    bool here;
    enum leat_status s = bring_pieces(p, place, false, &missing, err);

    brought = missing;
    if (s == LEAT_OK)
        s = is_right(p, place, &here, err);
    for (unsigned tries = missing == place->bytes; s == LEAT_OK && !here && tries < REMOTE_DAMAGED_TRIES; tries++) {
        s = bring_pieces(p, place, true, &brought, err);
        if (s == LEAT_OK)
            s = is_right(p, place, &here, err);
    }
    if (s == LEAT_OK && here) {
        p->report.kept += place->bytes - brought;
        s = file_write_at(p->index_fd, place->offset + place->bytes, zeros, mirror_padding(&p->header, place),
                          p->names.partial[FILE_INDEX], err);
        return s == LEAT_OK ? pull_advance(p, place->bytes - missing, err) : s;
    }
    if (s == LEAT_OK)
        return status_set_at(
            err, LEAT_E_CHECKSUM, p->index_url.name, place->offset,
            "%s: what arrived from byte %" PRIu64
            " on was damaged %u times; verify the dataset where it was made, and copy it to the server again",
            p->index_url.name, place->offset, REMOTE_DAMAGED_TRIES);
    return s;
}

/* Copies the sections of the index that are not here yet, and checks them. */
static enum leat_status pull_index(struct pull *p, struct leat_error *err)
{
    const struct format_header *h = &p->header;
    enum leat_status s = file_write_at(p->index_fd, 0, p->page, sizeof p->page, p->names.partial[FILE_INDEX], err);

    for (unsigned i = 0; i < FORMAT_KINDS && s == LEAT_OK; i++)
        if (h->sections[i].present)
            s = bring_section(p, &h->sections[i], err);
    for (unsigned i = 0; i < h->other_count && s == LEAT_OK; i++)
        s = bring_section(p, &h->others[i], err);
    return s;
}

/* ---- The tokens -------------------------------------------------------------------------------------------------- */

/*
 * Copies the tokens, in ranges of some MiB, several at once. A range whose pages have the right hashes in the file
 * already is kept; one that arrives is checked before it is written, and asked for again if it is wrong. The sums of
 * all pages, in any order, add up to the 128-bit sum in the header, which is compared last.
 */

#define RANGE       TINY_OR((uint64_t)8192, REMOTE_PART)
#define RANGE_PAGES (RANGE / FORMAT_PAGE_BYTES)

struct lane {
    struct transfer transfer;
    uint8_t *bytes; /* RANGE */
    unsigned tries; /* tries whose bytes were wrong */
};

struct tokens {
    struct pull *p;
    struct lane *lanes;
    uint32_t lane_count;
    uint64_t next;               /* byte from which on nothing was looked at */
    uint32_t *stored, *computed; /* RANGE_PAGES hashes each */
    uint8_t *local;              /* RANGE */
    struct hash128 sum;
};

/* Checks a range. *right is true if all its pages are right; then their sum is added. */
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

/* Sets whether the file holds the range already. Bytes that were never written are a hole, which needs no reading. */
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

/* Checks and writes a range that has arrived. */
static enum leat_status store_piece(struct tokens *t, struct lane *lane, struct leat_error *err)
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
        return status_set_at(
            err, LEAT_E_CHECKSUM, t->p->tokens_url.name, page * FORMAT_PAGE_BYTES,
            "%s: page %" PRIu64
            " arrived damaged %u times; verify the dataset where it was made, and copy it to the server again",
            t->p->tokens_url.name, page, REMOTE_DAMAGED_TRIES);
    s = file_write_at(t->p->tokens_fd, transfer->first, lane->bytes, transfer->count, t->p->names.partial[SPILL_TOKENS],
                      err);
    if (s == LEAT_OK)
        s = pull_advance(t->p, transfer->count, err);
    return s == LEAT_OK ? begin_next(t, lane, err) : s;
}

static enum leat_status pull_pieces(struct tokens *t, struct leat_error *err)
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
            s = store_piece(t, done->context, err);
    }
    if (s != LEAT_OK)
        remote_abandon(t->p->remote);
    if (s == LEAT_OK && !checksum_equal(t->sum, t->p->header.token_sum))
        return status_set_in(err, LEAT_E_CHECKSUM, t->p->tokens_url.name,
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

/* Copies the pages of tokens that are not here yet, and checks them. */
static enum leat_status pull_tokens(struct pull *p, struct leat_error *err)
{
    struct tokens t = { .p = p };
    enum leat_status s = make_lanes(&t, err);

    if (s == LEAT_OK)
        s = pull_pieces(&t, err);
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

/* ---- What the server has ---------------------------------------------------------------------------------------- */

/* Reads the header, and reads it again if it is wrong, until it is right or arrives twice alike: then the server's
 * own is wrong. */
static enum leat_status read_header(struct pull *p, struct leat_error *err)
{
    uint64_t count = p->index.size < sizeof p->page ? p->index.size : sizeof p->page;
    struct format_found found = {
        p->page, count, p->index.size, p->tokens.size, p->index_url.name, p->tokens_url.name
    };
    uint8_t before[sizeof p->page];
    enum leat_status s = LEAT_OK;

    for (unsigned tries = 0; tries < REMOTE_DAMAGED_TRIES; tries++) {
        enum leat_status got = remote_read(p->remote, &p->index_url, &p->index, 0, p->page, count, err);

        if (got != LEAT_OK || (tries > 0 && memcmp(before, p->page, count) == 0))
            return got != LEAT_OK ? got : s;
        s = format_parse(&p->header, &found, p->kernels, err);
        if (s == LEAT_OK)
            break;
        memcpy(before, p->page, count);
    }
    return s;
}

static enum leat_status look_at_server(struct pull *p, struct leat_error *err)
{
    enum leat_status s = remote_stat(p->remote, &p->index_url, &p->index, err);

    if (s == LEAT_OK)
        s = remote_stat(p->remote, &p->tokens_url, &p->tokens, err);
    if (s == LEAT_OK)
        s = read_header(p, err);
    if (s == LEAT_OK && (p->header.must_understand & FORMAT_ELSEWHERE))
        return status_set_in(err, LEAT_E_UNSUPPORTED, p->index_url.name,
                             "%s is an index for tokens in another tool's file; fetch both files by other means",
                             p->index_url.name);
    return s;
}

/* ---- The files -------------------------------------------------------------------------------------------------- */

/* Opens what an earlier pull left, or a new file, and gives it the final size. */
static enum leat_status open_partial(int *fd, const char *path, uint64_t bytes, struct leat_error *err)
{
    enum leat_status s = own_file_create(fd, path, err);

    return s == LEAT_OK ? file_truncate(*fd, bytes, path, err) : s;
}

/* Checks that the name is free. If a pull was killed while it named its files, goes back to before that. */
static enum leat_status check_free(struct pull *p, struct leat_error *err)
{
    struct writer_found found;
    enum leat_status s = writer_check_names(&p->names, err);

    if (s == LEAT_OK)
        s = writer_look(&p->names, &found, err);
    if (s != LEAT_OK)
        return s;
    if (found.checkpoint)
        return status_set_in(err, LEAT_E_EXISTS, p->names.partial[FILE_CHECKPOINT],
                             "%s is an unfinished dataset that is written here; finish or remove it",
                             p->names.partial[FILE_CHECKPOINT]);
    if ((found.index || (found.tokens && !found.half_named)) && !p->options.force)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, found.index ? p->names.index : p->names.tokens,
                               "%s already exists: choose another name or replace it",
                               found.index ? p->names.index : p->names.tokens);
    return found.half_named ? writer_unname_tokens(&p->names, &found, err) : LEAT_OK;
}

static enum leat_status open_files(struct pull *p, struct leat_error *err)
{
    enum leat_status s = check_free(p, err);

    if (s == LEAT_OK)
        s = open_partial(&p->index_fd, p->names.partial[FILE_INDEX], p->header.index_bytes, err);
    if (s == LEAT_OK)
        s = open_partial(&p->tokens_fd, p->names.partial[SPILL_TOKENS], p->header.token_file_bytes, err);
    return s;
}

/* Names the files, tokens first and index last, as a writer does. */
static enum leat_status name_files(struct pull *p, struct leat_error *err)
{
    const struct writer_names *n = &p->names;
    enum leat_status s = file_sync(p->tokens_fd, n->partial[SPILL_TOKENS], err);

    if (s == LEAT_OK)
        s = file_sync(p->index_fd, n->partial[FILE_INDEX], err);
    if (s == LEAT_OK)
        s = writer_check_lock(p->lock, n, err);
    if (s == LEAT_OK && p->options.force)
        s = file_remove(n->index, err);
    if (s == LEAT_OK && p->options.force)
        s = column_files_remove(n->name, err);
    if (s == LEAT_OK)
        s = file_sync_folder(n->index, err);
    if (s == LEAT_OK)
        s = file_rename(n->partial[SPILL_TOKENS], n->tokens, p->options.force, err);
    if (s == LEAT_OK)
        s = file_sync_folder(n->tokens, err);
    if (s == LEAT_OK)
        s = file_rename(n->partial[FILE_INDEX], n->index, p->options.force, err);
    return s == LEAT_OK ? file_sync_folder(n->index, err) : s;
}

/* ---- The call --------------------------------------------------------------------------------------------------- */

static enum leat_status open_all(struct pull *p, const char *url, const char *name, struct leat_error *err)
{
    struct remote_options options = { .stop = pull_wants_stop, .context = p };
    enum leat_status s = status_field(err, url_dataset(url, &p->index_url, &p->tokens_url, err), "url");

    if (s == LEAT_OK)
        s = writer_names_make(&p->names, name, err);
    return s == LEAT_OK ? remote_open(&p->remote, &options, err) : s;
}

static enum leat_status bring(struct pull *p, struct leat_error *err)
{
    enum leat_status s = look_at_server(p, err);

    if (s == LEAT_OK)
        s = writer_lock(&p->lock, &p->names, err);
    if (s != LEAT_OK)
        return s;
    s = open_files(p, err);
    if (s == LEAT_OK)
        s = pull_index(p, err);
    if (s == LEAT_OK)
        s = pull_tokens(p, err);
    if (s == LEAT_OK) /* counts headers and paddings, too */
        s = pull_advance(p, p->header.index_bytes + p->header.token_file_bytes - p->done, err);
    if (s == LEAT_OK)
        s = name_files(p, err);
    writer_unlock(&p->lock, &p->names);
    return s;
}

static void close_all(struct pull *p)
{
    file_close(&p->index_fd);
    file_close(&p->tokens_fd);
    remote_close(p->remote);
    url_free(&p->index_url);
    url_free(&p->tokens_url);
    writer_names_free(&p->names);
}

enum leat_status leat_pull(const char *url, const char *name, const struct leat_pull_options *options,
                           struct leat_pull_report *report, struct leat_error *err)
{
    struct pull p = { .options = LEAT_PULL_OPTIONS_INIT, .lock = -1, .index_fd = -1, .tokens_fd = -1 };
    struct remote_counts counts;
    enum leat_status s;

    if (!url || !name)
        return status_argument(err, !url ? "url" : "name", "leat_pull: the URL or the name is NULL");
    s = options_read(&p.options, sizeof p.options, NULL, options, "leat_pull_options", err);
    if (s != LEAT_OK)
        return s;
    if (!p.options.connections)
        p.options.connections = MIRROR_CONNECTIONS;
    if (p.options.connections > MIRROR_MAX_CONNECTIONS)
        return status_argument(err, "connections", "at most %u connections", MIRROR_MAX_CONNECTIONS);
    p.kernels = checksum_kernels();
    s = open_all(&p, url, name, err);
    if (s == LEAT_OK)
        s = bring(&p, err);
    if (p.remote) {
        remote_count(p.remote, &counts);
        p.report.requests = counts.requests;
        p.report.retries = counts.retries;
    }
    p.report.bytes = p.header.index_bytes + p.header.token_file_bytes;
    p.report.tokens = p.header.tokens;
    p.report.documents = p.header.documents;
    if (report)
        options_fill(report, &p.report, sizeof p.report);
    close_all(&p);
    return s;
}
