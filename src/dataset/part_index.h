/*
 * part_index.h: an opened index file in leat's format (FORMAT.md): document starts, page hashes and what is stored. A
 * part has one if its kind says so: leat's own files, or foreign tokens that an index was written for.
 */
#ifndef LEAT_PART_INDEX_H
#define LEAT_PART_INDEX_H

#include "part.h"

struct part_index {
    struct format_header header;
    struct file_map file;
};

/*
 * Takes over an index file that is open, for the tokens at p->data: checks its header, the ends of its documents and
 * the first and last page of the tokens, and sets the part's facts from it.
 */
enum leat_status part_index_take(struct part *p, struct part_index *index, struct leat_error *err);

/* Sets *path (the caller frees it) and *offset to where an open index says that its tokens lie; *path is NULL if
 * they are in NAME.tokens. *path may be set on failure, too. */
enum leat_status part_index_elsewhere(struct part *p, struct part_index *index, uint64_t *offset, char **path,
                                      struct leat_error *err);

/* Functions for the tables of kinds whose parts have an index. */
enum leat_status part_index_starts(struct part *p, uint64_t first, uint64_t count, uint64_t *starts,
                                   struct leat_error *err);
enum leat_status part_index_document_at(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err);
enum leat_status part_index_near(struct part *p, uint64_t first, uint64_t end, uint64_t *from, uint64_t *to,
                                 struct leat_error *err);

/*
 * Announce what finding documents in tokens [first, end), or reading their mask, needs of an index on a file server.
 * Without that, the server is asked page by page, each time with nothing under way. part_index_announce_starts()
 * reads the directory, of which few blocks cover many tokens, and may wait for it.
 */
void part_index_announce_starts(struct part *p, uint64_t first, uint64_t end);
void part_index_announce_mask(struct part *p, uint64_t first, uint64_t end);

/* Announces the bytes that say where document `number` begins and ends. */
void part_index_announce_document(struct part *p, uint64_t number);

/* Returns true if the part has an index with this section. */
static inline bool part_has(const struct part *p, enum format_section kind)
{
    return p->index && p->index->header.sections[kind].present;
}

/* Returns the place of a section; the part must have an index. */
static inline const struct format_place *part_place(const struct part *p, enum format_section kind)
{
    return &p->index->header.sections[kind];
}

/* Returns section `number` of those that the index has; sections of unknown kinds (*kind 0) come last. NULL: it has
 * no more, or the part has no index. */
const struct format_place *part_place_number(const struct part *p, unsigned number, unsigned *kind);

static inline bool part_has_mask(const struct part *p)
{
    return p->mask.file || part_has(p, FORMAT_MASK);
}

/*
 * Copies the mask of tokens [first, first + count) of the part, and checks the hash of each page. The mask is 255 if
 * the part has none. The range must lie in the part. Returns LEAT_E_TOKEN if another tool's file has a byte that is
 * neither 0 nor 1.
 */
enum leat_status part_mask(struct part *p, uint64_t first, uint64_t count, uint8_t *out, struct leat_error *err);

/* Copies `count` bytes at `offset` of a section; the part must have an index. */
enum leat_status part_section(struct part *p, unsigned kind, uint64_t offset, void *out, uint64_t count,
                              struct leat_error *err);

#endif
