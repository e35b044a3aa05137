/*
 * part.h: the interface to tokens, wherever they lie. A *part* is one opened source of tokens: facts, where its bytes
 * lie, and a table of functions (struct part_kind). leat's own two files are the last kind. A dataset is one part or a
 * list of parts, joined. Numbers here count within the part. What a part returns has been checked and can be used.
 *
 * A kind may lack page hashes, document starts, or an index with origins and metadata. Opening does not complain about
 * that; a call that needs them fails.
 */
#ifndef LEAT_PART_H
#define LEAT_PART_H

#include <stdint.h>

#include "file_map.h"
#include "format/format.h"

/*
 * The kinds, in the order in which they are asked whether a name is theirs; the last one takes every name. A new kind
 * is a file part_NAME.c with its table, and a row here.
 */
#define PART_KINDS(each) each(leat)

/* Bytes of a file; `file` NULL: no bytes. */
struct part_extent {
    struct file_map *file;
    uint64_t offset, bytes;
};

struct part_index; /* part_index.h */
struct part_kind;

/* The kind's open() sets everything from `tokens` to `index`, which never changes after that. */
struct part {
    const struct part_kind *kind;
    char *name; /* as it was opened; for leat's own files without .leat or .tokens */
    const struct checksum_kernels *kernels;
    void *own; /* the kind's */

    uint64_t tokens;
    uint64_t documents; /* LEAT_NONE: not known */
    uint64_t inputs;    /* 0 without an index */
    uint64_t vocabulary;
    uint64_t end_token, begin_token; /* LEAT_NONE: none */
    uint32_t token_width;            /* 2 or 4 */
    uint8_t fingerprint[16];         /* of the tokenizer */
    struct hash128 identity;         /* of the content */

    struct part_extent data;   /* tokens * token_width bytes, little-endian; they may begin at any byte */
    struct part_extent hashes; /* u32 for each page of FORMAT_PAGE_BYTES of `data`, counted from its first byte */
    struct part_extent lookup; /* also read for each window: worth having in memory */
    struct part_index *index;  /* leat's index, with origins, tokenizer, metadata; NULL: none of these is stored */

    uint64_t first_token, first_document, first_input; /* in the list */
};

struct part_kind {
    const char *scheme; /* a name SCHEME:PATH is of this kind; NULL: no scheme */
    const char *suffix; /* a folder's files with this suffix are parts, named without it; NULL: none are */

    /* Whether a path without a scheme is of this kind; NULL: never. Not called for the last kind. */
    bool (*takes)(const char *path);

    /* Opens PATH: sets what struct part says. After a failure close() is called, and closes what is still open. */
    enum leat_status (*open)(struct part *p, const char *path, enum leat_access access, struct leat_error *err);
    void (*close)(struct part *p);

    /* For parts with known documents: see part_starts() and the calls after it. The last two may be NULL: a binary
     * search over starts() then answers. */
    enum leat_status (*starts)(struct part *p, uint64_t first, uint64_t count, uint64_t *starts,
                               struct leat_error *err);
    enum leat_status (*document_at)(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err);
    enum leat_status (*near)(struct part *p, uint64_t first, uint64_t end, uint64_t *from, uint64_t *to,
                             struct leat_error *err);
};

#define PART_DECLARE_KIND(name) extern const struct part_kind part_##name;
PART_KINDS(PART_DECLARE_KIND)

/* The length of a name's scheme with its colon, if it is a kind's; else 0. */
size_t part_scheme(const char *name, size_t length);

/* The kind of a name; *path is the name without its scheme. */
const struct part_kind *part_kind_of(const char *name, const char **path);

/* On failure nothing stays open. */
enum leat_status part_open(struct part *p, const char *name, enum leat_access access, struct leat_error *err);

/* leat's own files in memory; the bytes must stay valid. */
enum leat_status part_open_memory(struct part *p, const void *index, uint64_t index_bytes, const void *tokens,
                                  uint64_t token_bytes, struct leat_error *err);

/* Opens the index NAME.leat for tokens that are `bytes` bytes at `offset` of another file. */
enum leat_status part_open_at(struct part *p, const char *name, const char *token_path, uint64_t offset, uint64_t bytes,
                              enum leat_access access, struct leat_error *err);

void part_close(struct part *p);

/* LEAT_E_NOT_FOUND unless the part knows its documents. */
enum leat_status part_need_documents(const struct part *p, struct leat_error *err);

/* The starts of documents [first, first + count), first + count <= documents + 1; checked never to fall, and to be at
 * most `tokens`. */
enum leat_status part_starts(struct part *p, uint64_t first, uint64_t count, uint64_t *starts, struct leat_error *err);

/* The document that holds token `token`, which must be below the number of tokens. */
enum leat_status part_document_at(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err);

/* Documents [*from, *to), which include all that begin in tokens [first, end), and perhaps others that begin close
 * by. */
enum leat_status part_documents_near(struct part *p, uint64_t first, uint64_t end, uint64_t *from, uint64_t *to,
                                     struct leat_error *err);

/* The first document that begins at or after token `token`; the number of documents if none does. */
enum leat_status part_first_from(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err);

/* The stored hashes of pages [first, first + count), as they lie in the file; the part must have some. */
enum leat_status part_hashes(struct part *p, uint64_t first, uint64_t count, uint8_t *hashes, struct leat_error *err);

/* Checks pages [first, first + count) of the tokens. LEAT_E_NOT_FOUND: the part has no hashes. */
enum leat_status part_check_pages(struct part *p, uint64_t first, uint64_t count, struct leat_error *err);

/* Fills `err` for page `page`, whose hash is wrong. Names its documents and also returns them (LEAT_NONE: their starts
 * cannot be read). */
enum leat_status part_damaged_page(struct part *p, uint64_t page, uint64_t *document, uint64_t *documents,
                                   struct leat_error *err);

#endif
