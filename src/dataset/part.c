/* part.c: see part.h. */
#include "part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/tiny.h"

/* How many document starts are fetched at once while looking for one: 4 KiB of the index. */
#define STARTS_AT_ONCE TINY_OR(4, 512)

static enum leat_status read_header(struct part *p, struct leat_error *err)
{
    uint8_t page[FORMAT_HEADER_BYTES];
    uint64_t count = p->index.size < sizeof page ? p->index.size : sizeof page;
    enum leat_status s = file_map_read(&p->index, 0, page, count, err);

    if (s != LEAT_OK)
        return s;
    return format_parse(&p->header, page, count, p->index.size, p->tokens.size, p->index.path, p->tokens.path,
                        p->kernels, err);
}

/* The ends of the documents section: the rest is checked as it is read. */
static enum leat_status check_document_ends(struct part *p, struct leat_error *err)
{
    uint64_t start, offset = p->header.sections[FORMAT_DOCUMENTS].offset, last = p->header.documents;
    enum leat_status s = part_starts(p, 0, 1, &start, err);

    if (s == LEAT_OK && start != 0)
        return status_set_at(
            err, LEAT_E_DOCUMENTS, offset,
            "%s: the first document begins at token %llu, not 0; restore the file from its source, or write "
            "the dataset again",
            p->index.path, (unsigned long long)start);
    if (s == LEAT_OK)
        s = part_starts(p, last, 1, &start, err);
    if (s == LEAT_OK && start != p->header.tokens)
        return status_set_at(
            err, LEAT_E_DOCUMENTS, offset + 8 * last,
            "%s: the last document ends at token %llu of %llu; restore the file from its source, or write the "
            "dataset again",
            p->index.path, (unsigned long long)start, (unsigned long long)p->header.tokens);
    return s;
}

/* Are the two files of the same run, and is the token file's end in place? */
static enum leat_status check_token_ends(struct part *p, struct leat_error *err)
{
    uint64_t pages = p->header.sections[FORMAT_PAGES].entries;
    enum leat_status s = LEAT_OK;

    if (pages > 0)
        s = part_check_pages(p, 0, 1, err);
    if (s == LEAT_OK && pages > 1)
        s = part_check_pages(p, pages - 1, 1, err);
    if (s == LEAT_E_CHECKSUM)
        return status_set_at(err, LEAT_E_MISMATCH, err ? err->offset : 0,
                             "the first or last page of %s does not match %s: the token file is damaged, or the two "
                             "are not from the same run; restore both from their source",
                             p->tokens.path, p->index.path);
    return s;
}

static enum leat_status check(struct part *p, struct leat_error *err)
{
    enum leat_status s;

    p->kernels = checksum_kernels();
    if ((s = read_header(p, err)) != LEAT_OK || (s = check_document_ends(p, err)) != LEAT_OK ||
        (s = check_token_ends(p, err)) != LEAT_OK)
        part_close(p);
    return s;
}

enum leat_status part_open(struct part *p, const char *name, enum leat_access access, struct leat_error *err)
{
    size_t length = strlen(name) + sizeof ".tokens";
    enum leat_status s;
    char *path;

    memset(p, 0, sizeof *p);
    p->index.fd = p->tokens.fd = -1;
    p->name = strdup(name);
    path = malloc(length);
    if (!p->name || !path) {
        free(path);
        part_close(p);
        return status_no_memory(err, length);
    }
    snprintf(path, length, "%s.leat", name);
    s = file_map_open(&p->index, path, access, err);
    if (s == LEAT_OK) {
        snprintf(path, length, "%s.tokens", name);
        s = file_map_open(&p->tokens, path, access, err);
    }
    free(path);
    if (s != LEAT_OK) {
        part_close(p);
        return s;
    }
    return check(p, err);
}

enum leat_status part_open_memory(struct part *p, const void *index, uint64_t index_bytes, const void *tokens,
                                  uint64_t token_bytes, struct leat_error *err)
{
    enum leat_status s;

    memset(p, 0, sizeof *p);
    p->index.fd = p->tokens.fd = -1;
    p->name = strdup("memory");
    s = p->name ? LEAT_OK : status_no_memory(err, sizeof "memory");
    if (s != LEAT_OK || (s = file_map_memory(&p->index, "memory.leat", index, index_bytes, err)) != LEAT_OK ||
        (s = file_map_memory(&p->tokens, "memory.tokens", tokens, token_bytes, err)) != LEAT_OK) {
        part_close(p);
        return s;
    }
    return check(p, err);
}

void part_close(struct part *p)
{
    file_map_close(&p->index);
    file_map_close(&p->tokens);
    free(p->name);
    p->name = NULL;
}

enum leat_status part_section(struct part *p, unsigned kind, uint64_t offset, void *out, uint64_t count,
                              struct leat_error *err)
{
    const struct format_place *s = &p->header.sections[kind];

    if (!bytes_inside(offset, count, s->bytes))
        return status_set_at(
            err, LEAT_E_SECTION, s->offset,
            "%s: bytes %llu to %llu are outside its %s section, which has %llu; verify the dataset, or write it again",
            p->index.path, (unsigned long long)offset, (unsigned long long)(offset + count), format_section_name(kind),
            (unsigned long long)s->bytes);
    return file_map_read(&p->index, s->offset + offset, out, count, err);
}

enum leat_status part_starts(struct part *p, uint64_t first, uint64_t count, uint64_t *starts, struct leat_error *err)
{
    enum leat_status s = part_section(p, FORMAT_DOCUMENTS, 8 * first, starts, 8 * count, err);
    uint64_t before = 0;

    if (s != LEAT_OK)
        return s;
    for (uint64_t i = 0; i < count; i++) {
        starts[i] = bytes_le64(starts[i]);
        if (starts[i] < before || starts[i] > p->header.tokens)
            return status_set_at(err, LEAT_E_DOCUMENTS, p->header.sections[FORMAT_DOCUMENTS].offset + 8 * (first + i),
                                 "%s: document %llu begins at token %llu, %s; verify the dataset, or write it again",
                                 p->index.path, (unsigned long long)(first + i), (unsigned long long)starts[i],
                                 starts[i] < before ? "before the one before it" : "beyond the last token");
        before = starts[i];
    }
    return LEAT_OK;
}

static enum leat_status wrong_directory(struct part *p, uint64_t chunk, struct leat_error *err)
{
    uint64_t at = p->header.sections[FORMAT_DIRECTORY].offset + 8 * chunk;

    return status_set_at(
        err, LEAT_E_DOCUMENTS, at,
        "%s: entry %llu of its directory contradicts the document starts; verify the dataset, or write it again",
        p->index.path, (unsigned long long)chunk);
}

/* The first and last document that can hold a token of this chunk, by the directory. */
static enum leat_status directory_range(struct part *p, uint64_t chunk, uint64_t *low, uint64_t *high,
                                        struct leat_error *err)
{
    uint64_t entries[2], chunks = p->header.sections[FORMAT_DIRECTORY].entries;
    uint64_t count = chunk + 1 < chunks ? 2 : 1;
    enum leat_status s = part_section(p, FORMAT_DIRECTORY, 8 * chunk, entries, 8 * count, err);

    if (s != LEAT_OK)
        return s;
    entries[0] = bytes_le64(entries[0]);
    entries[1] = count == 2 ? bytes_le64(entries[1]) : p->header.documents;
    if (entries[0] > entries[1] || entries[1] > p->header.documents || entries[1] == 0)
        return wrong_directory(p, chunk, err);
    *low = entries[0] > 0 ? entries[0] - 1 : 0;
    *high = entries[1] - 1;
    return LEAT_OK;
}

enum leat_status part_document_at(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err)
{
    uint64_t chunk = token / (FORMAT_CHUNK_BYTES / p->header.token_width);
    uint64_t starts[STARTS_AT_ONCE], low = 0, high = 0, count, i;
    enum leat_status s = directory_range(p, chunk, &low, &high, err);

    /* with documents of a few tokens, or of none, more may begin here than are fetched at once */
    while (s == LEAT_OK && high - low + 2 > STARTS_AT_ONCE) {
        uint64_t middle = low + (high - low) / 2 + 1;

        s = part_starts(p, middle, 1, starts, err);
        if (s == LEAT_OK && starts[0] <= token)
            low = middle;
        else
            high = middle - 1;
    }
    if (s != LEAT_OK)
        return s;
    count = high - low + 2; /* with the start after the last: where it ends */
    s = part_starts(p, low, count, starts, err);
    if (s != LEAT_OK)
        return s;
    if (starts[0] > token || starts[count - 1] <= token)
        return wrong_directory(p, chunk, err);
    for (i = 0; starts[i + 1] <= token; i++)
        ;
    *document = low + i;
    return LEAT_OK;
}

static void page_tokens(const struct part *p, uint64_t page, uint64_t *first, uint64_t *count)
{
    uint64_t in_page = FORMAT_PAGE_BYTES / p->header.token_width;
    uint64_t left;

    *first = page * in_page;
    left = p->header.tokens - *first;
    *count = left < in_page ? left : in_page;
}

enum leat_status part_check_pages(struct part *p, uint64_t first, uint64_t count, struct leat_error *err)
{
    uint8_t bytes[FORMAT_PAGE_BYTES], stored[4];
    enum leat_status s;

    for (uint64_t page = first; page < first + count; page++) {
        uint64_t at = page * FORMAT_PAGE_BYTES, left = p->tokens.size - at;
        uint64_t size = left < sizeof bytes ? left : sizeof bytes;

        if ((s = file_map_read(&p->tokens, at, bytes, size, err)) != LEAT_OK ||
            (s = part_section(p, FORMAT_PAGES, 4 * page, stored, 4, err)) != LEAT_OK)
            return s;
        if ((uint32_t)p->kernels->hash(bytes, size).low != bytes_load32(stored))
            return part_damaged_page(p, page, NULL, NULL, err);
    }
    return LEAT_OK;
}

enum leat_status part_damaged_page(struct part *p, uint64_t page, uint64_t *document, uint64_t *documents,
                                   struct leat_error *err)
{
    uint64_t first, count, from, to;
    char which[64]; /* documents */

    page_tokens(p, page, &first, &count);
    if (part_document_at(p, first, &from, NULL) != LEAT_OK ||
        part_document_at(p, first + count - 1, &to, NULL) != LEAT_OK || from > to)
        from = to = LEAT_NONE;
    if (document)
        *document = from;
    if (documents)
        *documents = from == LEAT_NONE ? 0 : to - from + 1;
    if (from == LEAT_NONE)
        return status_set_at(err, LEAT_E_CHECKSUM, page * FORMAT_PAGE_BYTES,
                             "page %llu of %s (tokens %llu to %llu) is damaged, and the document starts of its index "
                             "cannot be read; restore both from their source",
                             (unsigned long long)page, p->tokens.path, (unsigned long long)first,
                             (unsigned long long)(first + count - 1));
    if (from == to)
        snprintf(which, sizeof which, "document %llu", (unsigned long long)from);
    else
        snprintf(which, sizeof which, "documents %llu to %llu", (unsigned long long)from, (unsigned long long)to);
    return status_set_at(err, LEAT_E_CHECKSUM, page * FORMAT_PAGE_BYTES,
                         "page %llu of %s (tokens %llu to %llu, %s) is damaged: its hash does not match; restore the "
                         "file from its source",
                         (unsigned long long)page, p->tokens.path, (unsigned long long)first,
                         (unsigned long long)(first + count - 1), which);
}
