/*
 * part.h: one dataset, NAME.leat and NAME.tokens, opened and checked; what leat_dataset_*() joins to a list. Numbers
 * here count within the part. Contents of sections are checked as they are read: what comes out can be used.
 */
#ifndef LEAT_PART_H
#define LEAT_PART_H

#include <stdint.h>

#include "file_map.h"
#include "format/format.h"

struct part {
    char *name; /* without .leat or .tokens */
    struct format_header header;
    struct file_map index, tokens;
    const struct checksum_kernels *kernels;
    uint64_t first_token, first_document, first_input; /* in the list */
};

/* `name` must not end in .leat or .tokens. On failure nothing stays open. */
enum leat_status part_open(struct part *p, const char *name, enum leat_access access, struct leat_error *err);

/* The same over bytes in memory, which must stay. */
enum leat_status part_open_memory(struct part *p, const void *index, uint64_t index_bytes, const void *tokens,
                                  uint64_t token_bytes, struct leat_error *err);

void part_close(struct part *p);

/* Copies `count` bytes at `offset` of a section. */
enum leat_status part_section(struct part *p, unsigned kind, uint64_t offset, void *out, uint64_t count,
                              struct leat_error *err);

/* The starts of documents [first, first + count), first + count <= documents + 1, checked to rise and to lie in the
 * token file. */
enum leat_status part_starts(struct part *p, uint64_t first, uint64_t count, uint64_t *starts, struct leat_error *err);

/* The document that holds token `token`, which must be below the number of tokens. */
enum leat_status part_document_at(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err);

/* Checks the hashes of pages [first, first + count) of the token file. */
enum leat_status part_check_pages(struct part *p, uint64_t first, uint64_t count, struct leat_error *err);

/* Fills `err` for page `page`, whose hash is wrong, naming its documents, which are also returned (LEAT_NONE: their
 * starts cannot be read). */
enum leat_status part_damaged_page(struct part *p, uint64_t page, uint64_t *document, uint64_t *documents,
                                   struct leat_error *err);

#endif
