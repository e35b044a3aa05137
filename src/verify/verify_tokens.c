/*
 * verify_tokens.c: verifies tokens, one task at a time: their pages' hashes, their ids, and the documents that begin or
 * end in them, with the directory entries that name them.
 *
 * A task goes through its 16 MiB in buffers that stay in the cache. In step with it, a cursor (struct walk) moves along
 * the document starts: the directory says where it begins, and each entry is checked as the cursor passes it.
 */
#include "base/bytes.h"
#include "base/status.h"
#include "base/tiny.h"
#include "verify.h"

#define TASK_CELLS  (VERIFY_TASK_BYTES / FORMAT_CELL_BYTES)
#define PAGE_TRIES  8u
#define WALK_STARTS TINY_OR(3u, 2048u) /* starts that are fetched at once while walking along the tokens */

static uint64_t token_at(const struct part *p, const uint8_t *bytes, uint64_t i)
{
    return p->token_width == 2 ? bytes_load16(bytes + 2 * i) : bytes_load32(bytes + 4 * i);
}

/* Compares the pages of one buffer with the stored hashes, if there are any, and adds their sum to *sum. */
static enum leat_status check_hashes(struct verify_worker *w, uint64_t offset, uint64_t count, struct hash128 *sum)
{
    struct part *p = w->v->part;
    uint32_t found[VERIFY_BUFFER_BYTES / FORMAT_PAGE_BYTES], stored[VERIFY_BUFFER_BYTES / FORMAT_PAGE_BYTES];
    uint64_t page = offset / FORMAT_PAGE_BYTES, pages = bytes_divide_up(count, FORMAT_PAGE_BYTES);
    enum leat_status s = LEAT_OK;

    if (p->hashes.file)
        s = part_hashes(p, page, pages, (uint8_t *)stored, &w->err);
    if (s != LEAT_OK)
        return s;
    p->kernels->pages(sum, w->bytes, (size_t)count, page, p->hashes.file ? found : NULL);
    if (!p->hashes.file)
        return LEAT_OK;
    for (uint64_t i = 0; i < pages; i++)
        if (found[i] != bytes_le32(stored[i]))
            verify_note_page(w, page + i, NULL);
    return LEAT_OK;
}

/* A cursor over the document starts that fetches them a block at a time, and what the directory says on the way. */
struct walk {
    uint64_t number;       /* number of the start under the cursor */
    uint64_t first, count; /* number of the first start in w->starts, and how many there are */
    uint64_t before;       /* start before the one under the cursor; 0 before the first */
    uint64_t cell, last;   /* cells of this task whose entries are still to be checked */
    uint64_t entries[TASK_CELLS];
    uint64_t first_cell;
};

/* Fetches the start under the cursor, whose number must be at most `documents`. */
static enum leat_status walk_start(struct verify_worker *w, struct walk *k, uint64_t *start)
{
    enum leat_status s = LEAT_OK;

    if (k->number - k->first >= k->count) {
        uint64_t left;

        /* fetches the start before it, too: in Megatron's files, what lies between two starts is checked if both are
         * asked for */
        k->first = k->number > 0 ? k->number - 1 : 0;
        left = w->v->part->documents + 1 - k->first;
        k->count = left < WALK_STARTS ? left : WALK_STARTS;
        s = part_starts(w->v->part, k->first, k->count, w->starts, &w->err);
    }
    if (s == LEAT_OK)
        *start = w->starts[k->number - k->first];
    return s;
}

/* Returns true if this is the start or the end of a foreign file. Such a file may have been cut out of a longer one, in
 * the middle of a document: the first document then has no begin token, or the last one no end token. */
static bool is_cut(const struct part *p, uint64_t token)
{
    return (p->foreign || p->adopted) && (token == 0 || token == p->tokens);
}

static enum leat_status wrong_border(struct verify_worker *w, uint64_t document, uint64_t token, const char *what)
{
    return status_set_at(&w->err, LEAT_E_TOKEN, w->v->part->data.file->path,
                         w->v->part->data.offset + token * w->v->part->token_width,
                         "document %" PRIu64 " of %s %s (token %" PRIu64 " of the file); write the dataset again",
                         document, w->v->part->name, what, token);
}

static enum leat_status wrong_entry(struct verify_worker *w, uint64_t cell)
{
    const struct part *p = w->v->part;

    return status_set_at(
        &w->err, LEAT_E_DOCUMENTS, p->index->file.path, part_place(p, FORMAT_DIRECTORY)->offset + 8 * cell,
        "%s: entry %" PRIu64 " of its directory is not the first document that starts at or after token %" PRIu64
        "; write the dataset again",
        p->index->file.path, cell, cell * (FORMAT_CELL_BYTES / p->token_width));
}

/*
 * Checks the entries of cells that begin at or before `start`, the start under the cursor. They must name it, since
 * the start before it lies before them. If no further document starts, the entry is `documents`, whose start is the
 * end of the tokens.
 */
static enum leat_status check_entries(struct verify_worker *w, struct walk *k, uint64_t start)
{
    uint64_t cell_tokens = FORMAT_CELL_BYTES / w->v->part->token_width;

    for (; k->cell < k->last && k->cell * cell_tokens <= start; k->cell++)
        if (bytes_le64(k->entries[k->cell - k->first_cell]) != k->number)
            return wrong_entry(w, k->cell);
    return LEAT_OK;
}

/* Puts the cursor on the first document that begins at or after the first cell, which the directory names. */
static enum leat_status begin_walk(struct verify_worker *w, struct walk *k, uint64_t cell, uint64_t count)
{
    struct part *p = w->v->part;
    uint64_t first = cell * (FORMAT_CELL_BYTES / p->token_width), starts[2] = { 0, 0 };
    enum leat_status s = part_section(p, FORMAT_DIRECTORY, 8 * cell, k->entries, 8 * count, &w->err);

    if (s != LEAT_OK)
        return s;
    k->first_cell = k->cell = cell;
    k->last = cell + count;
    k->number = bytes_le64(k->entries[0]);
    if (k->number > p->documents)
        return wrong_entry(w, cell);
    s = k->number == 0 ? part_starts(p, 0, 1, starts + 1, &w->err) : part_starts(p, k->number - 1, 2, starts, &w->err);
    k->before = starts[0];
    if (s == LEAT_OK && (starts[1] < first || (k->number > 0 && starts[0] >= first)))
        return wrong_entry(w, cell);
    return s;
}

/* Puts the cursor on the first document of the task where there is no directory. */
static enum leat_status begin_bare_walk(struct verify_worker *w, struct walk *k, uint64_t first)
{
    struct part *p = w->v->part;
    enum leat_status s = part_first_from(p, first, &k->number, &w->err);

    return s == LEAT_OK && k->number > 0 ? part_starts(p, k->number - 1, 1, &k->before, &w->err) : s;
}

/*
 * Moves the cursor over documents that are right at a glance: they begin strictly inside [first, last), which is in
 * w->bytes, and before the next directory entry, and have their begin and end tokens. All others are left to
 * check_borders(). With 500 tokens per document this takes a tenth of the time of verifying instead of a fifth.
 */
static void skip_plain(struct verify_worker *w, struct walk *k, uint64_t first, uint64_t last)
{
    const struct part *p = w->v->part;
    bool begins = p->begin_token != LEAT_NONE, ends = p->end_token != LEAT_NONE;
    uint64_t cell_start = k->cell * (FORMAT_CELL_BYTES / p->token_width);
    uint64_t stop = k->cell < k->last && cell_start < last ? cell_start : last;
    uint64_t before = k->before > first ? k->before : first, i = k->number - k->first;

    for (; i < k->count; i++) {
        uint64_t start = w->starts[i];

        if (start < before || (start == before && (begins || ends)) || start >= stop ||
            (begins && ends && start - before < 2) ||
            (ends && token_at(p, w->bytes, start - 1 - first) != p->end_token) ||
            (begins && token_at(p, w->bytes, start - first) != p->begin_token))
            break;
        before = start;
    }
    if (k->number < k->first + i) {
        k->number = k->first + i;
        k->before = before;
    }
}

/*
 * Checks the borders of documents in the tokens [first, first + count), which are in w->bytes. Documents that end in
 * (first, first + count] must end with the end token, those that begin in [first, first + count) begin with the
 * begin token. The cursor stands on the first start that is not below `first`; it is left on the first one not below
 * first + count, or after all of them.
 */
static enum leat_status check_borders(struct verify_worker *w, struct walk *k, uint64_t first, uint64_t count)
{
    const struct part *p = w->v->part;
    uint64_t last = first + count, start = 0;
    uint64_t fixed = (p->end_token != LEAT_NONE) + (p->begin_token != LEAT_NONE);

    for (; k->number <= p->documents; k->number++, k->before = start) {
        enum leat_status s;

        skip_plain(w, k, first, last);
        s = walk_start(w, k, &start);
        if (s != LEAT_OK)
            return s;
        if (start < k->before || start < first)
            return status_set_in(&w->err, LEAT_E_DOCUMENTS, w->v->part->name,
                                 "document %" PRIu64 " of %s begins before the previous one; write the dataset again",
                                 k->number, w->v->part->name);
        s = check_entries(w, k, start);
        if (s != LEAT_OK)
            return s;
        if (start > first && start <= last && start > k->before && p->end_token != LEAT_NONE && !is_cut(p, start) &&
            token_at(w->v->part, w->bytes, start - 1 - first) != p->end_token)
            return wrong_border(w, k->number - 1, start - 1, "does not end with the end-of-document token");
        if (start <= last && k->number > 0 && start - k->before < fixed)
            return wrong_border(w, k->number - 1, start,
                                fixed == 2 ? "is too short for its begin and end token"
                                           : "is empty: its begin or end token is missing");
        if (start >= last && last < p->tokens)
            return LEAT_OK; /* its first token is in the next buffer */
        if (k->number < p->documents && start < last && p->begin_token != LEAT_NONE && !is_cut(p, start) &&
            token_at(w->v->part, w->bytes, start - first) != p->begin_token)
            return wrong_border(w, k->number, start, "does not start with the begin token");
    }
    return LEAT_OK;
}

static enum leat_status check_mask(struct verify_worker *w, uint64_t first, uint64_t count)
{
    uint8_t bytes[4096];
    enum leat_status s = LEAT_OK;

    for (uint64_t done = 0, here; s == LEAT_OK && done < count; done += here) {
        here = count - done < sizeof bytes ? count - done : sizeof bytes;
        s = part_mask(w->v->part, first + done, here, bytes, &w->err);
    }
    return s;
}

/* Checks one chunk of tokens at byte `offset` of the file: its pages, its ids, the documents that end or begin in
 * it, and the mask in a file of its own. A mistake in the documents ends only the checks that need them. */
static enum leat_status check_chunk(struct verify_worker *w, struct walk *walk, uint64_t offset, uint64_t bytes,
                                    struct hash128 *sum, enum leat_status *documents)
{
    uint32_t width = w->v->part->token_width;
    uint64_t first = offset / width, count = bytes / width, rank = offset / FORMAT_PAGE_BYTES;
    enum leat_status s = check_hashes(w, offset, bytes, sum);

    if (s != LEAT_OK)
        return s;
    s = part_check_ids(w->v->part, first, w->bytes, count, &w->err);
    if (s != LEAT_OK)
        verify_note(w->v, s, &w->err, VERIFY_RANK_TOKENS + rank);
    if (*documents == LEAT_OK) {
        *documents = check_borders(w, walk, first, count);
        if (*documents != LEAT_OK)
            verify_note(w->v, *documents, &w->err, VERIFY_RANK_DOCUMENTS + rank);
    }
    s = w->v->part->mask.file ? check_mask(w, first, count) : LEAT_OK;
    if (s == LEAT_E_TOKEN)
        verify_note(w->v, s, &w->err, VERIFY_RANK_TOKENS + rank);
    return s == LEAT_E_TOKEN ? LEAT_OK : s;
}

/* Loads a page that could not be loaded with its neighbours. Requests of other threads may be joined with this one,
 * and fail with it; then the page is asked for again. */
static enum leat_status load_page(struct verify_worker *w, const struct verify_stretch *stretch, uint64_t at,
                                  uint64_t count)
{
    enum leat_status s = LEAT_E_CHECKSUM;

    for (unsigned tries = 0; s == LEAT_E_CHECKSUM && tries < PAGE_TRIES; tries++) {
        s = verify_load_chunk(w, stretch, at, count);
        if (s == LEAT_E_CHECKSUM && w->err.offset == stretch->offset + at)
            break;
    }
    return s;
}

/* Checks a chunk of a dataset on a server that could not be loaded since a page of it arrives damaged: each page is
 * loaded alone. The other pages are checked except for the documents, whose borders may lie in any of them. */
static enum leat_status check_pages(struct verify_worker *w, const struct verify_stretch *stretch, uint64_t offset,
                                    uint64_t at, uint64_t bytes, struct hash128 *sum)
{
    enum leat_status s = LEAT_OK, documents = LEAT_E_NOT_FOUND;

    for (uint64_t done = 0, here; s == LEAT_OK && done < bytes; done += here) {
        here = bytes - done < FORMAT_PAGE_BYTES ? bytes - done : FORMAT_PAGE_BYTES;
        s = load_page(w, stretch, at + done, here);
        if (s == LEAT_OK) {
            s = check_chunk(w, NULL, offset + at + done, here, sum, &documents);
        } else if (s == LEAT_E_CHECKSUM) {
            verify_note_page(w, (offset + at + done) / FORMAT_PAGE_BYTES, &w->err);
            s = LEAT_OK;
        }
    }
    return s;
}

void verify_tokens(struct verify_worker *w, uint64_t task)
{
    struct part *p = w->v->part;
    uint64_t offset = task * VERIFY_TASK_BYTES, bytes = verify_task_bytes(p->data.bytes, task);
    uint64_t rank = offset / FORMAT_PAGE_BYTES;
    struct hash128 sum = { 0, 0 };
    struct walk walk = { 0 };
    enum leat_status s = LEAT_OK, documents;
    struct verify_stretch stretch;

    if (p->documents == LEAT_NONE)
        documents = LEAT_E_NOT_FOUND; /* the documents are not known, and nothing is wrong */
    else if (bytes == 0)
        documents = check_borders(w, &walk, 0, 0); /* all documents are empty */
    else if (!p->index)
        documents = begin_bare_walk(w, &walk, offset / p->token_width);
    else
        documents = begin_walk(w, &walk, task * TASK_CELLS, bytes_divide_up(bytes, FORMAT_CELL_BYTES));
    if (documents != LEAT_OK && p->documents != LEAT_NONE)
        verify_note(w->v, documents, &w->err, VERIFY_RANK_DOCUMENTS + rank);
    stretch = verify_open_stretch(w, p->data.file, p->data.offset + offset, bytes);
    for (uint64_t at = 0; s == LEAT_OK && at < bytes; at += VERIFY_BUFFER_BYTES) {
        uint64_t here = bytes - at < VERIFY_BUFFER_BYTES ? bytes - at : VERIFY_BUFFER_BYTES;

        s = verify_load_chunk(w, &stretch, at, here);
        if (s == LEAT_OK) {
            s = check_chunk(w, &walk, offset + at, here, &sum, &documents);
        } else if (s == LEAT_E_CHECKSUM) { /* the part comes from a server, of which only whole pages are taken */
            documents = LEAT_E_NOT_FOUND;
            s = check_pages(w, &stretch, offset, at, here, &sum);
        }
    }
    verify_close_stretch(&stretch);
    if (s != LEAT_OK)
        verify_note(w->v, s, &w->err, rank);
    pthread_mutex_lock(&w->v->lock);
    checksum_add(&w->v->token_sum, sum);
    pthread_mutex_unlock(&w->v->lock);
}
