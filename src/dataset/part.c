/*
 * part.c: what all kinds of parts share.
 *
 * A name belongs to the first kind that takes it, else to the last one. Questions about documents go to the kind's
 * table; a question that a kind does not answer is answered by binary search over its starts. Pages of 4 KiB count from
 * the first token, wherever it lies in its file.
 */
#include "part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/search.h"
#include "base/status.h"
#include "cache/cache.h"
#include "part_foreign.h"

/* The kinds, in the order in which they are asked whether a name is theirs; the last one takes every name. */
static const struct part_kind *const kinds[] = { &part_remote, &part_megatron,  &part_raw, &part_llmc,
                                                 &part_pbin,   &part_datatrove, &part_leat };
#define KINDS (sizeof kinds / sizeof kinds[0])

/* ---- Opening ---- */

size_t part_scheme_length(const char *name, size_t length)
{
    const char *colon = memchr(name, ':', length);
    size_t before = colon ? (size_t)(colon - name) : 0;

    for (size_t i = 0; colon && i + 1 < KINDS; i++)
        if (strlen(kinds[i]->name) == before && memcmp(kinds[i]->name, name, before) == 0 &&
            strcmp(kinds[i]->name, kinds[KINDS - 1]->name) != 0)
            return before + 1;
    return 0;
}

/* Sets *own if leat's own files are meant: the name has their suffix, or NAME.leat is there, whatever else is. */
static enum leat_status is_own(const char *name, bool *own, struct leat_error *err)
{
    size_t length = strlen(name);

    *own = file_dataset_length(name, length) < length && !cache_takes(name);
    return *own || cache_takes(name) || part_scheme_length(name, length) > 0
               ? LEAT_OK
               : foreign_peek(name, length, ".leat", NULL, 0, own, err);
}

/* Finds the first kind of other tools' files that takes the name; leat's kind if none does. */
static enum leat_status kind_taking(const struct part_kind **kind, const char *name, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    bool takes = false;

    *kind = kinds[KINDS - 1];
    for (size_t i = 0; s == LEAT_OK && !takes && i + 1 < KINDS; i++) {
        s = kinds[i]->takes(name, &takes, err);
        if (takes)
            *kind = kinds[i];
    }
    return s;
}

enum leat_status part_kind_of(const struct part_kind **kind, const char *name, struct leat_error *err)
{
    bool own;
    enum leat_status s = is_own(name, &own, err);

    *kind = kinds[KINDS - 1];
    return s == LEAT_OK && !own ? kind_taking(kind, name, err) : s;
}

static enum leat_status open_as(struct part *p, const struct part_kind *kind, const char *name,
                                const struct leat_open_options *how, struct mounts *mounts, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *p = (struct part) {
        .kind = kind, .kernels = checksum_kernels(), .name = strdup(name), .how = how, .mounts = mounts
    };
    if (s == LEAT_OK)
        s = p->name ? kind->open(p, how->access, err) : status_no_memory(err, strlen(name) + 1);
    p->how = NULL;
    if (s != LEAT_OK)
        part_close(p);
    return s;
}

enum leat_status part_open(struct part *p, const char *name, const struct leat_open_options *how, struct mounts *mounts,
                           struct leat_error *err)
{
    const struct part_kind *kind;
    enum leat_status s = part_kind_of(&kind, name, err);

    if (s == LEAT_OK)
        return open_as(p, kind, name, how, mounts, err);
    *p = (struct part) { .kind = kind };
    return s;
}

enum leat_status part_open_beside(struct part *p, const char *name, const struct leat_open_options *how,
                                  struct mounts *mounts, struct leat_error *err)
{
    const struct part_kind *kind = kinds[KINDS - 1];
    char *bare = strndup(name, file_dataset_length(name, strlen(name)));
    enum leat_status s = bare ? LEAT_OK : status_no_memory(err, strlen(name));

    *p = (struct part) { .kind = kind };
    if (s == LEAT_OK && !cache_takes(name))
        s = kind_taking(&kind, bare, err);
    if (s == LEAT_OK)
        s = kind == kinds[KINDS - 1] ? part_open(p, name, how, mounts, err) : open_as(p, kind, bare, how, mounts, err);
    free(bare);
    return s;
}

void part_close(struct part *p)
{
    p->kind->close(p);
    free(p->name);
    free(p->tokenizer);
    p->name = p->tokenizer = NULL;
    p->own = NULL;
}

/* ---- Documents ---- */

enum leat_status part_need_documents(const struct part *p, struct leat_error *err)
{
    if (p->documents != LEAT_NONE)
        return LEAT_OK;
    return status_set_in(
        err, LEAT_E_NOT_FOUND, p->name,
        "%s does not record where its documents start: %s, use it without documents, or pack its texts with leat",
        p->name,
        p->foreign ? "name the token that ends each (end=ID in the name)" : "write it again with its documents");
}

enum leat_status part_starts(struct part *p, uint64_t first, uint64_t count, uint64_t *starts, struct leat_error *err)
{
    enum leat_status s = part_need_documents(p, err);

    return s == LEAT_OK ? p->kind->starts(p, first, count, starts, err) : s;
}

enum leat_status part_sequence_starts(struct part *p, uint64_t first, uint64_t count, uint64_t *starts,
                                      struct leat_error *err)
{
    if (!p->kind->sequence_starts)
        return part_starts(p, first, count, starts, err);
    return p->kind->sequence_starts(p, first, count, starts, err);
}

struct from_token {
    struct part *part;
    uint64_t token;
};

static enum leat_status starts_before(void *context, uint64_t document, bool *is_before, struct leat_error *err)
{
    const struct from_token *from = context;
    uint64_t start = 0;
    enum leat_status s = from->part->kind->starts(from->part, document, 1, &start, err);

    *is_before = s == LEAT_OK && start < from->token;
    return s;
}

enum leat_status part_first_from(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err)
{
    enum leat_status s = part_need_documents(p, err);

    if (s != LEAT_OK)
        return s;
    return search_first_read(document, 0, p->documents, starts_before, &(struct from_token) { p, token }, err);
}

enum leat_status part_document_at(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err)
{
    enum leat_status s = part_need_documents(p, err);

    if (s != LEAT_OK)
        return s;
    if (p->kind->document_at)
        return p->kind->document_at(p, token, document, err);
    /* the last document that begins at or before the token: earlier ones that begin at the same place are empty */
    s = part_first_from(p, token + 1, document, err);
    if (s == LEAT_OK && *document == 0)
        return status_set_in(err, LEAT_E_DOCUMENTS, p->name,
                             "%s: its first document does not start at token 0; write it again", p->name);
    *document -= s == LEAT_OK;
    return s;
}

enum leat_status part_documents_near(struct part *p, uint64_t first, uint64_t end, uint64_t *from, uint64_t *to,
                                     struct leat_error *err)
{
    enum leat_status s;

    if (p->kind->near)
        return p->kind->near(p, first, end, from, to, err);
    s = part_first_from(p, first, from, err);
    return s == LEAT_OK ? part_first_from(p, end, to, err) : s;
}

/* ---- Ids ---- */

static uint64_t id_at(const struct part *p, const uint8_t *ids, uint64_t i)
{
    return p->token_width == 2 ? bytes_load16(ids + 2 * i) : bytes_load32(ids + 4 * i);
}

enum leat_status part_check_ids(struct part *p, uint64_t first, const void *ids, uint64_t count, struct leat_error *err)
{
    uint64_t i = 0, id, document;
    char which[64] = ""; /* document */

    if (p->vocabulary == (uint64_t)1 << 8 * p->token_width) /* every number of this width is an id */
        return LEAT_OK;
    if ((p->token_width == 2 ? p->kernels->max16(ids, (size_t)count) : p->kernels->max32(ids, (size_t)count)) <
        p->vocabulary)
        return LEAT_OK;
    while ((id = id_at(p, ids, i)) < p->vocabulary)
        i++;
    if (part_document_at(p, first + i, &document, NULL) == LEAT_OK)
        snprintf(which, sizeof which, " (document %" PRIu64 ")", document);
    if (p->foreign && id >= FOREIGN_VOCABULARY)
        return status_set_at(
            err, LEAT_E_TOKEN, p->data.file->path, p->data.offset + (first + i) * p->token_width,
            "token %" PRIu64
            " of %s%s is %d: an id is never negative; restore the file from its source, or write it again",
            first + i, p->data.file->path, which, (int)(int32_t)id);
    return status_set_at(err, LEAT_E_TOKEN, p->data.file->path, p->data.offset + (first + i) * p->token_width,
                         "token %" PRIu64 " of %s%s is %" PRIu64 ", not below the vocabulary size %" PRIu64 "%s",
                         first + i, p->data.file->path, which, id, p->vocabulary,
                         p->index ? "; write the dataset again"
                                  : ": the file is damaged, or was made with another tokenizer");
}

/* ---- Agreement ---- */

struct fact {
    const char *what;
    uint64_t a, b;
};

/* Returns true if two facts differ. A fact that a foreign part does not know agrees with everything; its vocabulary
 * is only what ids can be. */
static bool differs(const struct part *a, const struct part *b, const struct fact *f)
{
    return f->a != f->b && !(a->foreign && f->a == LEAT_NONE) && !(b->foreign && f->b == LEAT_NONE);
}

enum leat_status part_check_agreement(const struct part *a, const struct part *b, struct leat_error *err)
{
    const struct fact facts[] = {
        { "vocabulary size", a->foreign ? LEAT_NONE : a->vocabulary, b->foreign ? LEAT_NONE : b->vocabulary },
        { "end-of-document token", a->end_token, b->end_token },
        { "begin token", a->begin_token, b->begin_token },
        { "size of a token", a->token_width, b->token_width },
    };

    for (unsigned i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const struct fact *f = &facts[i];

        if (!differs(a, b, f))
            continue;
        if (f->a == LEAT_NONE || f->b == LEAT_NONE)
            return status_set_in(err, LEAT_E_INCOMPATIBLE, a->name, "%s and %s cannot be joined: only %s has one (%s)",
                                 a->name, b->name, f->a == LEAT_NONE ? "the second" : "the first", f->what);
        return status_set_in(err, LEAT_E_INCOMPATIBLE, a->name,
                             "%s and %s cannot be joined: their %s is %" PRIu64 " and %" PRIu64, a->name, b->name,
                             f->what, f->a, f->b);
    }
    if (!a->foreign && !b->foreign && memcmp(a->fingerprint, b->fingerprint, sizeof a->fingerprint) != 0)
        return status_set_in(err, LEAT_E_INCOMPATIBLE, a->name,
                             "%s and %s cannot be joined: they differ in their " STATUS_FINGERPRINT, a->name, b->name);
    if (a->tokenizer && b->tokenizer && strcmp(a->tokenizer, b->tokenizer) != 0)
        return status_set_in(err, LEAT_E_INCOMPATIBLE, a->name,
                             "%s and %s cannot be joined: their names say different tokenizers", a->name, b->name);
    return LEAT_OK;
}

/* ---- Pages ---- */

enum leat_status part_hashes(struct part *p, uint64_t first, uint64_t count, uint8_t *hashes, struct leat_error *err)
{
    if (!bytes_inside(4 * first, 4 * count, p->hashes.bytes))
        return status_set_in(err, LEAT_E_SECTION, p->name,
                             "%s has no hashes for pages %" PRIu64 " to %" PRIu64 "; verify the dataset", p->name,
                             first, first + count);
    return file_map_read(p->hashes.file, p->hashes.offset + 4 * first, hashes, 4 * count, err);
}

static void page_tokens(const struct part *p, uint64_t page, uint64_t *first, uint64_t *count)
{
    uint64_t end = bytes_divide_up((page + 1) * FORMAT_PAGE_BYTES, p->token_width); /* one may cross pages */

    *first = page * FORMAT_PAGE_BYTES / p->token_width;
    *count = (end < p->tokens ? end : p->tokens) - *first;
}

#define CHECKED_PAGES 8u /* read at once */

/*
 * Reads a page by a read call, not through the map. For one page that a map lacks, the kernel reads as far ahead as
 * the disk's setting says, and again wherever a reader meets the end of that. With a setting of 8 MiB, opening a
 * dataset brought 12 MiB of it into memory, and reading it in order past the page cache all of it.
 */
static enum leat_status read_once(const struct part *p, uint64_t at, void *out, uint64_t count, struct leat_error *err)
{
    struct file_map *f = p->data.file;

    if (f->cache || f->fd < 0)
        return file_map_read(f, p->data.offset + at, out, count, err);
    return file_map_read_calls(f, p->data.offset + at, out, count, err);
}

enum leat_status part_check_pages(struct part *p, uint64_t first, uint64_t count, struct leat_error *err)
{
    uint8_t bytes[CHECKED_PAGES * FORMAT_PAGE_BYTES], stored[CHECKED_PAGES * 4];
    enum leat_status s;

    if (!p->hashes.file)
        return status_set_in(err, LEAT_E_NOT_FOUND, p->name,
                             "%s stores no hashes of its tokens, so they cannot be verified", p->name);
    for (uint64_t page = first, here; page < first + count; page += here) {
        uint64_t at = page * FORMAT_PAGE_BYTES, left = p->data.bytes - at, size;

        here = first + count - page < CHECKED_PAGES ? first + count - page : CHECKED_PAGES;
        size = left < here * FORMAT_PAGE_BYTES ? left : here * FORMAT_PAGE_BYTES;
        s = read_once(p, at, bytes, size, err);
        if (s == LEAT_OK)
            s = part_hashes(p, page, here, stored, err);
        if (s != LEAT_OK)
            return s;
        for (uint64_t i = 0; i < here; i++) {
            uint64_t from = i * FORMAT_PAGE_BYTES, rest = size - from;

            if ((uint32_t)p->kernels->hash(bytes + from, rest < FORMAT_PAGE_BYTES ? rest : FORMAT_PAGE_BYTES).low !=
                bytes_load32(stored + 4 * i))
                return part_damaged_page(p, page + i, NULL, NULL, err);
        }
    }
    return LEAT_OK;
}

const char *part_remedy(const struct part *p, bool both)
{
    if (p->kind->remedy)
        return p->kind->remedy;
    return both ? "restore both from their source" : "restore the file from its source";
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
    if (from == LEAT_NONE && p->documents == LEAT_NONE)
        return status_set_at(err, LEAT_E_CHECKSUM, p->data.file->path, p->data.offset + page * FORMAT_PAGE_BYTES,
                             "page %" PRIu64 " of %s (tokens %" PRIu64 " to %" PRIu64
                             ") is damaged: its hash does not match; %s",
                             page, p->data.file->path, first, first + count - 1, part_remedy(p, false));
    if (from == LEAT_NONE)
        return status_set_at(err, LEAT_E_CHECKSUM, p->data.file->path, p->data.offset + page * FORMAT_PAGE_BYTES,
                             "page %" PRIu64 " of %s (tokens %" PRIu64 " to %" PRIu64
                             ") is damaged, and the document starts of its index cannot be read; %s",
                             page, p->data.file->path, first, first + count - 1, part_remedy(p, true));
    if (from == to)
        snprintf(which, sizeof which, "document %" PRIu64, from);
    else
        snprintf(which, sizeof which, "documents %" PRIu64 " to %" PRIu64, from, to);
    return status_set_at(err, LEAT_E_CHECKSUM, p->data.file->path, p->data.offset + page * FORMAT_PAGE_BYTES,
                         "page %" PRIu64 " of %s (tokens %" PRIu64 " to %" PRIu64
                         ", %s) is damaged: its hash does not match; %s",
                         page, p->data.file->path, first, first + count - 1, which, part_remedy(p, false));
}
