/*
 * part_index.c: opens an index. However large the dataset is, opening reads the first page, both ends of the
 * documents and two pages of tokens; everything else is checked when it is read. The document of a token is found by
 * the directory, which has the first document of each 64 KiB of tokens, and then by binary search among the starts
 * there.
 */
#include "part_index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/search.h"
#include "base/status.h"
#include "base/tiny.h"

/* How many document starts are fetched at once while looking for one: 4 KiB of the index. */
#define STARTS_AT_ONCE TINY_OR(4, 512)

#define MAX_PATH       4096u /* longest path of a token file */

static enum leat_status read_header(struct part *p, struct leat_error *err)
{
    struct part_index *x = p->index;
    uint8_t page[FORMAT_HEADER_BYTES];
    uint64_t count = x->file.size < sizeof page ? x->file.size : sizeof page;
    enum leat_status s = file_map_read(&x->file, 0, page, count, err);

    if (s != LEAT_OK)
        return s;
    return format_parse(
        &x->header,
        &(struct format_found) { page, count, x->file.size, p->data.bytes, x->file.path, p->data.file->path },
        p->kernels, err);
}

static void take_facts(struct part *p)
{
    struct part_index *x = p->index;
    const struct format_header *h = &x->header;
    const struct format_place *pages = &h->sections[FORMAT_PAGES];

    p->tokens = h->tokens;
    p->documents = h->documents;
    p->inputs = h->sections[FORMAT_INPUTS].entries;
    p->vocabulary = h->vocabulary;
    p->end_token = h->end_token;
    p->begin_token = h->begin_token;
    p->token_width = h->token_width;
    p->identity = h->identity;
    p->adopted = (h->must_understand & FORMAT_ELSEWHERE) != 0;
    p->foreign = p->adopted && bytes_all_zero(h->fingerprint, sizeof h->fingerprint);
    memcpy(p->fingerprint, h->fingerprint, sizeof p->fingerprint);
    p->hashes = (struct part_extent) { &x->file, pages->offset, pages->bytes };
    p->ends = (struct part_extent) { &x->file, h->sections[FORMAT_DOCUMENTS].offset + 8, 8 * h->documents };
    /* documents, directory and page hashes come first in the file */
    p->lookup = (struct part_extent) { &x->file, 0, pages->offset + pages->bytes };
}

/* Checks both ends of the documents section; the rest is checked when it is read. */
static enum leat_status check_document_ends(struct part *p, struct leat_error *err)
{
    uint64_t start, offset = p->index->header.sections[FORMAT_DOCUMENTS].offset, last = p->documents;
    enum leat_status s = part_index_starts(p, 0, 1, &start, err);

    if (s == LEAT_OK && start != 0)
        return status_set_at(err, LEAT_E_DOCUMENTS, p->index->file.path, offset,
                             "%s: the first document starts at token %" PRIu64
                             ", not 0; restore the file from its source, or write the dataset again",
                             p->index->file.path, start);
    if (s == LEAT_OK)
        s = part_index_starts(p, last, 1, &start, err);
    if (s == LEAT_OK && start != p->tokens)
        return status_set_at(err, LEAT_E_DOCUMENTS, p->index->file.path, offset + 8 * last,
                             "%s: the last document ends at token %" PRIu64 " of %" PRIu64
                             "; restore the file from its source, or write the dataset again",
                             p->index->file.path, start, p->tokens);
    return s;
}

/* Checks that both files come from the same run, and that the token file is whole at its end. */
static enum leat_status check_token_ends(struct part *p, struct leat_error *err)
{
    uint64_t pages = p->index->header.sections[FORMAT_PAGES].entries;
    enum leat_status s = LEAT_OK;

    if (p->data.file->cache) /* each page of a remote file is compared when it arrives, and no page is waited for now */
        return LEAT_OK;
    if (pages > 0)
        s = part_check_pages(p, 0, 1, err);
    if (s == LEAT_OK && pages > 1)
        s = part_check_pages(p, pages - 1, 1, err);
    if (s == LEAT_E_CHECKSUM)
        return status_set_at(err, LEAT_E_MISMATCH, p->data.file->path, err ? err->offset : 0,
                             "the first or last page of %s does not match %s: the token file is damaged, or the two "
                             "files do not belong together; restore both from their source",
                             p->data.file->path, p->index->file.path);
    return s;
}

enum leat_status part_index_take(struct part *p, struct part_index *index, struct leat_error *err)
{
    enum leat_status s;

    p->index = index;
    s = read_header(p, err);
    if (s != LEAT_OK)
        return s;
    take_facts(p);
    s = check_document_ends(p, err);
    return s == LEAT_OK ? check_token_ends(p, err) : s;
}

/* Reads where the tokens lie, which one of the sections says. Checks the header as if the tokens were as long as it
 * says. */
static enum leat_status read_place(struct part *p, struct part_index *x, const uint8_t *page, uint64_t token_bytes,
                                   uint64_t *offset, char **path, struct leat_error *err)
{
    const struct format_place *place = &x->header.sections[FORMAT_TOKEN_FILE];
    struct format_found found = { page, FORMAT_HEADER_BYTES, x->file.size, token_bytes, x->file.path, x->file.path };
    enum leat_status s = format_parse(&x->header, &found, p->kernels, err);
    uint8_t number[8];

    if (s != LEAT_OK)
        return s;
    if (place->bytes > 8 + MAX_PATH)
        return status_set_at(err, LEAT_E_RECORD, x->file.path, place->offset,
                             "%s: the path of its token file is too long", x->file.path);
    *path = calloc(1, (size_t)place->bytes - 8 + 1);
    if (!*path)
        return status_no_memory(err, place->bytes);
    s = file_map_read(&x->file, place->offset, number, sizeof number, err);
    if (s == LEAT_OK)
        s = file_map_read(&x->file, place->offset + 8, *path, place->bytes - 8, err);
    *offset = bytes_load64(number);
    if (s == LEAT_OK && strlen(*path) != place->bytes - 8)
        return status_set_at(err, LEAT_E_RECORD, x->file.path, place->offset + 8,
                             "%s: the path of its token file has a zero byte", x->file.path);
    return s;
}

enum leat_status part_index_elsewhere(struct part *p, struct part_index *x, uint64_t *offset, char **path,
                                      struct leat_error *err)
{
    uint8_t page[FORMAT_HEADER_BYTES];
    uint64_t token_bytes;
    enum leat_status s;

    *path = NULL;
    if (x->file.size < sizeof page) /* part_index_take() says what is wrong with a short file */
        return LEAT_OK;
    s = file_map_read(&x->file, 0, page, sizeof page, err);
    if (s != LEAT_OK || !format_peek_elsewhere(page, &token_bytes))
        return s;
    return read_place(p, x, page, token_bytes, offset, path, err);
}

enum leat_status part_section(struct part *p, unsigned kind, uint64_t offset, void *out, uint64_t count,
                              struct leat_error *err)
{
    const struct format_place *s = &p->index->header.sections[kind];

    if (!bytes_inside(offset, count, s->bytes))
        return status_set_at(err, LEAT_E_SECTION, p->index->file.path, s->offset,
                             "%s: bytes %" PRIu64 " to %" PRIu64 " are outside its %s section, which has %" PRIu64
                             "; verify the dataset, or write it again",
                             p->index->file.path, offset, offset + count, format_section_name(kind), s->bytes);
    return file_map_read(&p->index->file, s->offset + offset, out, count, err);
}

enum leat_status part_index_starts(struct part *p, uint64_t first, uint64_t count, uint64_t *starts,
                                   struct leat_error *err)
{
    enum leat_status s = part_section(p, FORMAT_DOCUMENTS, 8 * first, starts, 8 * count, err);
    uint64_t before = 0;

    if (s != LEAT_OK)
        return s;
    for (uint64_t i = 0; i < count; i++) {
        starts[i] = bytes_le64(starts[i]);
        if (starts[i] < before || starts[i] > p->tokens)
            return status_set_at(err, LEAT_E_DOCUMENTS, p->index->file.path,
                                 p->index->header.sections[FORMAT_DOCUMENTS].offset + 8 * (first + i),
                                 "%s: document %" PRIu64 " starts at token %" PRIu64
                                 ", %s; verify the dataset, or write it again",
                                 p->index->file.path, first + i, starts[i],
                                 starts[i] < before ? "before the previous one" : "beyond the last token");
        before = starts[i];
    }
    return LEAT_OK;
}

static enum leat_status wrong_directory(struct part *p, uint64_t cell, struct leat_error *err)
{
    uint64_t at = p->index->header.sections[FORMAT_DIRECTORY].offset + 8 * cell;

    return status_set_at(err, LEAT_E_DOCUMENTS, p->index->file.path, at,
                         "%s: entry %" PRIu64
                         " of its directory does not match the document starts; verify the dataset, or write it again",
                         p->index->file.path, cell);
}

/* Finds the first and last document that can hold a token of this cell, by the directory. */
static enum leat_status directory_range(struct part *p, uint64_t cell, uint64_t *low, uint64_t *high,
                                        struct leat_error *err)
{
    uint64_t entries[2], cells = p->index->header.sections[FORMAT_DIRECTORY].entries;
    uint64_t count = cell + 1 < cells ? 2 : 1;
    enum leat_status s = part_section(p, FORMAT_DIRECTORY, 8 * cell, entries, 8 * count, err);

    if (s != LEAT_OK)
        return s;
    entries[0] = bytes_le64(entries[0]);
    entries[1] = count == 2 ? bytes_le64(entries[1]) : p->documents;
    if (entries[0] > entries[1] || entries[1] > p->documents || entries[1] == 0)
        return wrong_directory(p, cell, err);
    *low = entries[0] > 0 ? entries[0] - 1 : 0;
    *high = entries[1] - 1;
    return LEAT_OK;
}

/* A search among the documents of a cell, in groups that are each fetched at once, with the start after them. */
#define GROUP (STARTS_AT_ONCE - 1)

struct search {
    struct part *part;
    uint64_t low, token; /* `low`: first document of group 0 */
};

/* Sets whether a group begins at the token or before it. */
static enum leat_status group_begins(void *context, uint64_t group, bool *is_before, struct leat_error *err)
{
    const struct search *search = context;
    uint64_t start = 0;
    enum leat_status s = part_index_starts(search->part, search->low + group * GROUP, 1, &start, err);

    *is_before = s == LEAT_OK && start <= search->token;
    return s;
}

enum leat_status part_index_document_at(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err)
{
    uint64_t cell = token / (FORMAT_CELL_BYTES / p->token_width);
    struct search search = { .part = p, .token = token };
    uint64_t starts[STARTS_AT_ONCE], low = 0, high = 0, group, count, i;
    enum leat_status s = directory_range(p, cell, &low, &high, err);

    search.low = low;
    if (s == LEAT_OK) /* if documents have few tokens or none, more of them may begin here than are fetched at once */
        s = search_first_read(&group, 1, (high - low) / GROUP + 1, group_begins, &search, err);
    if (s != LEAT_OK)
        return s;
    low += (group - 1) * GROUP;
    count = (high - low < GROUP ? high - low + 1 : GROUP) + 1; /* the start after the last document is fetched, too:
                                                                  it is where that document ends */
    s = part_index_starts(p, low, count, starts, err);
    if (s != LEAT_OK)
        return s;
    if (starts[0] > token || starts[count - 1] <= token)
        return wrong_directory(p, cell, err);
    for (i = 0; starts[i + 1] <= token; i++)
        ;
    *document = low + i;
    return LEAT_OK;
}

enum leat_status part_index_near(struct part *p, uint64_t first, uint64_t end, uint64_t *from, uint64_t *to,
                                 struct leat_error *err)
{
    const struct format_place *directory = &p->index->header.sections[FORMAT_DIRECTORY];
    uint64_t in_cell = FORMAT_CELL_BYTES / p->token_width;
    uint64_t low = first / in_cell, high = (end - 1) / in_cell + 1, entry[2];
    enum leat_status s = part_section(p, FORMAT_DIRECTORY, 8 * low, &entry[0], 8, err);

    entry[1] = bytes_le64(p->documents);
    if (s == LEAT_OK && high < directory->entries)
        s = part_section(p, FORMAT_DIRECTORY, 8 * high, &entry[1], 8, err);
    if (s != LEAT_OK)
        return s;
    *from = bytes_le64(entry[0]);
    *to = bytes_le64(entry[1]);
    if (*from > *to || *to > p->documents)
        return status_set_at(err, LEAT_E_DOCUMENTS, p->index->file.path, directory->offset + 8 * low,
                             "%s: entry %" PRIu64
                             " of its directory does not match the next one; verify the dataset, or write it again",
                             p->index->file.path, low);
    return LEAT_OK;
}

#define DIRECTORY_BLOCK ((uint64_t)128 << 10) /* bytes that the kernel takes at once: the entries for 1 GiB of tokens */
#define BLOCK           ((uint64_t)16 << 10)  /* starts of 2,048 documents, or hashes of 16 MiB of a mask */

/* Announces bytes [begin, end) of a section, in whole blocks. */
static void announce(const struct part *p, unsigned kind, uint64_t begin, uint64_t end, uint64_t block)
{
    const struct format_place *s = part_place(p, kind);

    begin = (s->offset + begin) / block * block;
    end = bytes_divide_up(s->offset + (end < s->bytes ? end : s->bytes), block) * block;
#if defined(POSIX_FADV_WILLNEED)
    for (uint64_t at = begin; at < end; at += DIRECTORY_BLOCK)
        (void)posix_fadvise(p->index->file.fd, (off_t)at,
                            (off_t)(end - at < DIRECTORY_BLOCK ? end - at : DIRECTORY_BLOCK), POSIX_FADV_WILLNEED);
#endif
}

static bool is_far(const struct part *p)
{
    return p->index && (p->index->file.system & FILE_REMOTE) && !p->index->file.cache;
}

void part_index_announce_starts(struct part *p, uint64_t first, uint64_t end)
{
    uint64_t in_cell = FORMAT_CELL_BYTES / p->token_width, from, to;

    if (!is_far(p) || first >= end)
        return;
    announce(p, FORMAT_DIRECTORY, first / in_cell * 8, ((end - 1) / in_cell + 2) * 8, DIRECTORY_BLOCK);
    if (part_index_near(p, first, end, &from, &to, NULL) == LEAT_OK) /* an error is left to the call that needs the
                                                                        documents, which says why */
        announce(p, FORMAT_DOCUMENTS, 8 * from, 8 * (to + 1), BLOCK);
}

void part_index_announce_mask(struct part *p, uint64_t first, uint64_t end)
{
    if (!is_far(p) || !part_has(p, FORMAT_MASK) || first >= end)
        return;
    announce(p, FORMAT_MASK, first, end, FORMAT_PAGE_BYTES);
    announce(p, FORMAT_MASK_PAGES, first / FORMAT_PAGE_BYTES * 4, bytes_divide_up(end, FORMAT_PAGE_BYTES) * 4, BLOCK);
}

/*
 * The limit up to which documents in random order are announced in large blocks. They need starts all over the
 * index. In blocks as long as the kernel takes at once, an index has few blocks, and most rows find theirs in
 * memory; but if the index may not stay in memory, each row could ask for a large block.
 */
#define MAY_STAY ((uint64_t)256 << 20) /* bytes: the starts of 33 million documents */

void part_index_announce_document(struct part *p, uint64_t number)
{
    if (is_far(p) && number < p->documents)
        announce(p, FORMAT_DOCUMENTS, 8 * number, 8 * (number + 2),
                 part_place(p, FORMAT_DOCUMENTS)->bytes <= MAY_STAY ? DIRECTORY_BLOCK : BLOCK);
}

const struct format_place *part_place_number(const struct part *p, unsigned number, unsigned *kind)
{
    const struct format_header *h = p->index ? &p->index->header : NULL;

    for (*kind = 1; h && *kind < FORMAT_KINDS; ++*kind)
        if (h->sections[*kind].present && number-- == 0)
            return &h->sections[*kind];
    *kind = 0;
    return h && number < h->other_count ? &h->others[number] : NULL;
}
