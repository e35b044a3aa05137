/*
 * part_found.c: finds documents by a token (part_foreign.h), and keeps them in FILE.documents.
 *
 * That is a header of 112 bytes and the starts, all u64: "leatdocs"; version 2; what it was made of: size and
 * modification time of the file (ns), where the tokens begin and how many bytes they are, the width of a token, end and
 * begin token; the number of documents; the page sum of the starts (FORMAT.md); XXH3-128 of these 96 bytes. It is
 * FILE.documents.partial until it is complete; of several processes that make it at once, one writes it. It is a cache:
 * a file that does not fit is made anew.
 */
#include "part_foreign.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "base/tiny.h"
#include "checksum/checksum.h"

#define MAGIC        "leatdocs"
#define HEADER_BYTES 112u
#define FACTS        12u /* numbers of the header before its hash */
#define DOCUMENTS    9u  /* index of the number of documents among the facts */
#define SUM          10u /* index of the first half of the starts' page sum */
#define CHUNK_BYTES                                                                                                    \
    TINY_OR((size_t)64, (size_t)256 << 10) /* bytes read at once, which stay in the second-level
                                                               cache */
#define BLOCK_BYTES 128u                   /* bytes looked at together: most have no such token */

/* ---- The scan ---- */

struct found_list {
    uint64_t *starts;
    uint64_t count;
    size_t room;
};

static enum leat_status list_add(struct found_list *l, uint64_t start, struct leat_error *err)
{
    enum leat_status s = GROW(l->starts, l->count + 1, l->room, err);

    if (s == LEAT_OK)
        l->starts[l->count++] = start;
    return s;
}

/* Returns true if some of these bytes are the token. The loops are simple so that compilers turn them into vectors. */
static bool block_has16(const uint8_t *bytes, uint16_t id)
{
    uint16_t ids[BLOCK_BYTES / 2], any = 0;

    memcpy(ids, bytes, sizeof ids);
    for (unsigned i = 0; i < BLOCK_BYTES / 2; i++)
        any |= (uint16_t) - (ids[i] == id);
    return any != 0;
}

static bool block_has32(const uint8_t *bytes, uint32_t id)
{
    uint32_t ids[BLOCK_BYTES / 4], any = 0;

    memcpy(ids, bytes, sizeof ids);
    for (unsigned i = 0; i < BLOCK_BYTES / 4; i++)
        any |= (uint32_t) - (ids[i] == id);
    return any != 0;
}

/* Adds the documents that begin at these tokens, or right after them. `first` is the number of the first token. */
static enum leat_status scan_chunk(const struct part *p, const uint8_t *bytes, uint64_t count, uint64_t first,
                                   struct found_list *l, struct leat_error *err)
{
    uint64_t id = p->end_token != LEAT_NONE ? p->end_token : p->begin_token, after = p->end_token != LEAT_NONE;
    uint32_t width = p->token_width;
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0, end; s == LEAT_OK && at < count; at = end) {
        end = count - at < BLOCK_BYTES / width ? count : at + BLOCK_BYTES / width;
        if (end - at == BLOCK_BYTES / width && !(width == 2 ? block_has16(bytes + 2 * at, bytes_le16((uint16_t)id))
                                                            : block_has32(bytes + 4 * at, bytes_le32((uint32_t)id))))
            continue;
        for (uint64_t i = at; s == LEAT_OK && i < end; i++)
            if ((width == 2 ? bytes_load16(bytes + 2 * i) : bytes_load32(bytes + 4 * i)) == id &&
                first + i + after > 0 && first + i + after < p->tokens)
                s = list_add(l, first + i + after, err);
    }
    return s;
}

static enum leat_status scan(struct part *p, struct found_list *l, struct leat_error *err)
{
    uint8_t *bytes = file_buffer(CHUNK_BYTES);
    enum leat_status s = bytes ? LEAT_OK : status_no_memory(err, CHUNK_BYTES);

    if (s == LEAT_OK && p->tokens > 0)
        s = list_add(l, 0, err);
    for (uint64_t at = 0; s == LEAT_OK && at < p->data.bytes; at += CHUNK_BYTES) {
        uint64_t left = p->data.bytes - at, here = left < CHUNK_BYTES ? left : CHUNK_BYTES;

        s = file_map_read(p->data.file, p->data.offset + at, bytes, here, err);
        if (s == LEAT_OK)
            s = scan_chunk(p, bytes, here / p->token_width, at / p->token_width, l, err);
    }
    free(bytes);
    return s == LEAT_OK ? list_add(l, p->tokens, err) : s;
}

/* ---- The side file ---- */

static const struct hash128 no_sum;

/* Makes the header that the side file must have with this number of documents. Returns false if fstat() of the file
 * of tokens failed. */
static bool make_header(const struct part *p, uint64_t documents, struct hash128 sum, uint8_t header[HEADER_BYTES])
{
    struct stat st;
    uint64_t facts[FACTS] = { 0, 2 };

    if (fstat(p->data.file->fd, &st) != 0)
        return false;
    facts[2] = (uint64_t)st.st_size;
    facts[3] = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    facts[4] = p->data.offset;
    facts[5] = p->data.bytes;
    facts[6] = p->token_width;
    facts[7] = p->end_token;
    facts[8] = p->begin_token;
    facts[DOCUMENTS] = documents;
    for (unsigned i = 0; i < FACTS; i++)
        bytes_store64(header + (size_t)8 * i, facts[i]);
    memcpy(header, MAGIC, sizeof MAGIC - 1);
    checksum_store(header + (size_t)8 * SUM, sum);
    checksum_store(header + (size_t)8 * FACTS, p->kernels->hash(header, (size_t)8 * FACTS));
    return true;
}

/* Takes the side file if it fits: its header, its size, and both ends of the starts. */
static bool take_side(struct part_found *found, struct part *p, const char *path, enum leat_access access)
{
    uint8_t header[HEADER_BYTES], wanted[HEADER_BYTES];
    uint64_t documents, size, ends[2];
    struct page_sum sum;

    if (file_map_open(&found->file, p->mounts, path, access, NULL) != LEAT_OK)
        return false;
    if (found->file.size < HEADER_BYTES || file_map_read(&found->file, 0, header, sizeof header, NULL) != LEAT_OK)
        return false;
    documents = bytes_load64(header + 8 * DOCUMENTS);
    if (!make_header(p, documents, checksum_load(header + 8 * SUM), wanted) ||
        memcmp(header, wanted, sizeof header) != 0 || documents > p->tokens ||
        !bytes_multiply(documents + 1, 8, &size) || size != found->file.size - HEADER_BYTES)
        return false;
    if (file_map_read(&found->file, HEADER_BYTES, &ends[0], 8, NULL) != LEAT_OK ||
        file_map_read(&found->file, HEADER_BYTES + size - 8, &ends[1], 8, NULL) != LEAT_OK || ends[0] != 0 ||
        bytes_le64(ends[1]) != p->tokens)
        return false;
    page_sum_begin(&sum, 0, no_sum);
    if (page_sum_add_file(&sum, found->file.fd, HEADER_BYTES, size, path, NULL) != LEAT_OK ||
        !checksum_equal(page_sum_now(&sum), checksum_load(header + 8 * SUM)))
        return false;
    found->offset = HEADER_BYTES;
    p->documents = documents;
    return true;
}

/* Returns true if the side file may be written: nothing has its name, or only a file of this kind, whatever it was
 * made of. Another file must stay, since a list of somebody else's may have named the tokens. */
static bool may_write(const char *path)
{
    uint64_t size = 0;
    char magic[8];
    int fd = -1;
    enum leat_status s = own_file_open(&fd, &size, path, OWN_FILE_READ, NULL);
    bool may = s == LEAT_E_NO_FILE || (s == LEAT_OK && size >= sizeof magic &&
                                       file_read_at(fd, 0, magic, sizeof magic, path, NULL) == LEAT_OK &&
                                       memcmp(magic, MAGIC, sizeof magic) == 0);

    file_close(&fd);
    return may;
}

/* Writes the side file, at first under another name. After a failure no file is left, and the starts stay in memory. */
static bool write_side(const char *path, const uint8_t header[HEADER_BYTES], const void *starts, uint64_t bytes)
{
    char *partial = path_append(path, strlen(path), ".partial", NULL);
    bool made, written = false;
    int fd = -1;

    if (!partial)
        return false;
    made = own_file_begin(&fd, partial, NULL) == LEAT_OK;
    if (made)
        written = file_write_at(fd, 0, header, HEADER_BYTES, partial, NULL) == LEAT_OK &&
                  file_write_at(fd, HEADER_BYTES, starts, bytes, partial, NULL) == LEAT_OK &&
                  file_sync(fd, partial, NULL) == LEAT_OK && file_rename(partial, path, true, NULL) == LEAT_OK;
    if (made && !written)
        unlink(partial);
    file_close(&fd);
    free(partial);
    return written;
}

static enum leat_status find_anew(struct part_found *found, struct part *p, const char *path, enum leat_access access,
                                  struct leat_error *err)
{
    uint8_t before[HEADER_BYTES], header[HEADER_BYTES];
    struct found_list l = { 0 };
    bool looked = make_header(p, 0, no_sum, before);
    enum leat_status s = scan(p, &l, err);
    uint64_t documents = l.count - 1;
    struct page_sum sum;

    if (s != LEAT_OK) {
        free(l.starts);
        return s;
    }
    for (uint64_t i = 0; BYTES_BIG_ENDIAN && i < l.count; i++)
        l.starts[i] = bytes_le64(l.starts[i]);
    /* the side file is not written if the file of tokens has changed meanwhile, so that the next opening notices */
    page_sum_begin(&sum, 0, no_sum);
    page_sum_add(&sum, l.starts, 8 * l.count);
    looked = looked && make_header(p, 0, no_sum, header) && memcmp(before, header, sizeof header) == 0 &&
             make_header(p, documents, page_sum_now(&sum), header);
    if (looked && may_write(path) && write_side(path, header, l.starts, 8 * l.count) &&
        take_side(found, p, path, access)) {
        free(l.starts);
        return LEAT_OK;
    }
    file_map_close(&found->file);
    found->memory = l.starts;
    found->offset = 0;
    p->documents = documents;
    return file_map_memory(&found->file, path, l.starts, 8 * l.count, err);
}

enum leat_status part_found_open(struct part_found *found, struct part *p, enum leat_access access,
                                 struct leat_error *err)
{
    const char *tokens = p->data.file->path;
    char *path = path_append(tokens, strlen(tokens), ".documents", NULL);
    enum leat_status s = LEAT_OK;

    if (!path)
        return status_no_memory(err, strlen(tokens));
    if (!take_side(found, p, path, access)) {
        file_map_close(&found->file);
        s = find_anew(found, p, path, access, err);
    }
    free(path);
    p->lookup = (struct part_extent) { &found->file, 0, found->file.size };
    return s;
}

void part_found_close(struct part_found *found)
{
    file_map_close(&found->file);
    free(found->memory);
}

/* ---- Reading ---- */

enum leat_status part_found_starts(struct part_found *found, struct part *p, uint64_t first, uint64_t count,
                                   uint64_t *starts, struct leat_error *err)
{
    enum leat_status s = file_map_read(&found->file, found->offset + 8 * first, starts, 8 * count, err);
    uint64_t before = 0;

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        starts[i] = bytes_le64(starts[i]);
        if (starts[i] < before || starts[i] > p->tokens)
            return status_set_at(err, LEAT_E_DOCUMENTS, found->file.path, found->offset + 8 * (first + i),
                                 "%s: document %" PRIu64 " starts at token %" PRIu64
                                 ", %s; remove the file: it will be made again",
                                 found->file.path, first + i, starts[i],
                                 starts[i] < before ? "before the previous one" : "beyond the last token");
        before = starts[i];
    }
    return s;
}
