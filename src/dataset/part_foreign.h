/*
 * part_foreign.h: what the kinds of parts share that are files of other tools: their names (SCHEME:FILE?KEY=VALUE&...),
 * two files, and an identity. Such a file has no hashes, so it is known by its size and a few of its pages.
 */
#ifndef LEAT_PART_FOREIGN_H
#define LEAT_PART_FOREIGN_H

#include "part.h"

/* Ids of a foreign file with 4 bytes per id are below this, whether the file calls them signed or not. */
#define FOREIGN_VOCABULARY ((uint64_t)1 << 31)

/* Returns true if the name begins with "SCHEME:". */
bool foreign_has_scheme(const char *name, const char *scheme);

/* The options in a name, after "?". */
struct foreign_options {
    const char *path; /* path, in the name: `length` bytes */
    size_t length;
    uint32_t width;        /* bytes per id, by dtype=; 0: not given */
    uint64_t end, begin;   /* LEAT_NONE: not given */
    const char *tokenizer; /* name of the tokenizer, in the part's name; NULL: not given */
    size_t tokenizer_length;
    const char *mask; /* name of the mask's file, in the part's name; NULL: not given */
    size_t mask_length;
};

/* Splits the name of a part, SCHEME:PATH?KEY=VALUE&..., into its options. A name without the scheme of the part's kind
 * is all path. The keys are tokenizer, mask, end or begin, and dtype if `dtype` is set. */
enum leat_status foreign_parse(struct foreign_options *o, const struct part *p, bool dtype, struct leat_error *err);

/* Opens PATH + SUFFIX, of which the first `length` bytes of `path` count, for a part with these mounts. */
enum leat_status foreign_open_file(struct file_map *f, struct mounts *mounts, const char *path, size_t length,
                                   const char *suffix, enum leat_access access, struct leat_error *err);

/* Reads the first `count` bytes of PATH + SUFFIX. Sets *there to whether the file has as many. Fails if they cannot
 * be read, or if it cannot be said whether the file exists. */
enum leat_status foreign_peek(const char *path, size_t length, const char *suffix, void *out, size_t count, bool *there,
                              struct leat_error *err);

/* Sets the facts of a foreign part whose tokens are these bytes of a file: all but documents, end and begin token,
 * which become LEAT_NONE. Returns LEAT_E_TRUNCATED if the bytes are no whole number of tokens. */
enum leat_status foreign_take(struct part *p, struct file_map *file, uint64_t offset, uint64_t bytes, uint32_t width,
                              struct leat_error *err);

/* Opens the mask of a part whose tokens were taken: PATH + SUFFIX, or what mask= names, in the folder of the tokens.
 * LEAT_E_MISMATCH: not a byte for each token. */
enum leat_status foreign_open_mask(struct file_map *f, struct part *p, const char *path, size_t length,
                                   const char *suffix, enum leat_access access, struct leat_error *err);
enum leat_status foreign_open_named_mask(struct file_map *f, struct part *p, const struct foreign_options *o,
                                         enum leat_access access, struct leat_error *err);

/* Sets the identity, after all other facts are set: a hash of these and of the first, middle and last page of tokens
 * and mask. */
enum leat_status foreign_identify(struct part *p, struct leat_error *err);

/* Sets *is if PREFIX.idx begins as an index of Megatron. The first `length` bytes of `prefix` count. */
enum leat_status megatron_peek(const char *prefix, size_t length, bool *is, struct leat_error *err);

/* ---- part_found.c: documents of files without an index ---- */

/* Documents that were found by the token that ends or begins each, in one pass over the file. They are kept beside
 * it in FILE.documents, so that only the first opening takes that time. */
struct part_found {
    struct file_map file; /* FILE.documents, or memory */
    uint64_t *memory;     /* the starts, if they cannot be kept in the file; else NULL */
    uint64_t offset;      /* offset in the file of the starts: documents + 1 of 8 bytes */
};

/*
 * Finds the documents of the part, whose end or begin token is set, and sets their number. The side file is used if
 * it was made of a file of this size and modification time; otherwise it is made anew. If it cannot be written, the
 * starts stay in memory. `found` may be closed after a failure, too; before the call it must be zeroed, with fd -1.
 */
enum leat_status part_found_open(struct part_found *found, struct part *p, enum leat_access access,
                                 struct leat_error *err);
void part_found_close(struct part_found *found);

/* Reads starts of documents, for struct part_kind. */
enum leat_status part_found_starts(struct part_found *found, struct part *p, uint64_t first, uint64_t count,
                                   uint64_t *starts, struct leat_error *err);

#endif
