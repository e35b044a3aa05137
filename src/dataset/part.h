/*
 * part.h: where tokens lie is an interface. A *part* is one opened source of tokens: facts, where its bytes lie, and a
 * table of what it can be asked (struct part_kind). leat's own two files are the last row; a dataset is one part or a
 * list of them, joined. Numbers here count within the part. What comes out of a part has been checked and can be used.
 *
 * A kind says what it has: page hashes, document starts, an index with origins and metadata may each be missing. That
 * is said by whoever is asked for them, not when the part is opened.
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

/* Bytes of a file; `file` NULL: there are none. */
struct part_extent {
    struct file_map *file;
    uint64_t offset, bytes;
};

struct part_index; /* part_index.h */
struct part_kind;

/* Everything from `tokens` to `index` is set by the kind's open(), and never changes after it. */
struct part {
    const struct part_kind *kind;
    char *name; /* as it was opened; of leat's own files without .leat or .tokens */
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
    struct part_extent lookup; /* what is read besides for a window: worth having in memory */
    struct part_index *index;  /* leat's index, with origins, tokenizer, metadata; NULL: none of these is stored */

    uint64_t first_token, first_document, first_input; /* in the list */
};

struct part_kind {
    const char *scheme; /* a name SCHEME:PATH is of this kind; NULL: it has none */
    const char *suffix; /* of those files of a folder that are a part each, named without it; NULL: there are none */

    /* Whether a path without a scheme is of this kind; NULL: it never is. The last kind's is not asked. */
    bool (*takes)(const char *path);

    /* Opens PATH: sets what struct part says. What stays open after a failure is closed by close(), which is called. */
    enum leat_status (*open)(struct part *p, const char *path, enum leat_access access, struct leat_error *err);
    void (*close)(struct part *p);

    /* Of parts whose documents are known; see part_starts() and its kin. The last two may be NULL: they are found by
     * halving, over starts(). */
    enum leat_status (*starts)(struct part *p, uint64_t first, uint64_t count, uint64_t *starts,
                               struct leat_error *err);
    enum leat_status (*document_at)(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err);
    enum leat_status (*near)(struct part *p, uint64_t first, uint64_t end, uint64_t *from, uint64_t *to,
                             struct leat_error *err);
};

#define PART_DECLARE_KIND(name) extern const struct part_kind part_##name;
PART_KINDS(PART_DECLARE_KIND)

/* How many bytes of a name are a kind's scheme with its colon; 0: it has none. */
size_t part_scheme(const char *name, size_t length);

/* The kind of a name; *path is the name without its scheme. */
const struct part_kind *part_kind_of(const char *name, const char **path);

/* On failure nothing stays open. */
enum leat_status part_open(struct part *p, const char *name, enum leat_access access, struct leat_error *err);

/* leat's own files over bytes in memory, which must stay. */
enum leat_status part_open_memory(struct part *p, const void *index, uint64_t index_bytes, const void *tokens,
                                  uint64_t token_bytes, struct leat_error *err);

/* The index NAME.leat, whose tokens are the `bytes` bytes at `offset` of another file. */
enum leat_status part_open_at(struct part *p, const char *name, const char *token_path, uint64_t offset, uint64_t bytes,
                              enum leat_access access, struct leat_error *err);

void part_close(struct part *p);

/* LEAT_E_NOT_FOUND unless the part knows its documents. */
enum leat_status part_need_documents(const struct part *p, struct leat_error *err);

/* The starts of documents [first, first + count), first + count <= documents + 1, checked to rise and to be at most
 * `tokens`. */
enum leat_status part_starts(struct part *p, uint64_t first, uint64_t count, uint64_t *starts, struct leat_error *err);

/* The document that holds token `token`, which must be below the number of tokens. */
enum leat_status part_document_at(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err);

/* Documents [*from, *to) among which are all that begin in tokens [first, end); others may be that begin close by. */
enum leat_status part_documents_near(struct part *p, uint64_t first, uint64_t end, uint64_t *from, uint64_t *to,
                                     struct leat_error *err);

/* The first document that begins at or after token `token`; the number of documents: none does. */
enum leat_status part_first_from(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err);

/* The stored hashes of pages [first, first + count), as they lie in the file; the part must have some. */
enum leat_status part_hashes(struct part *p, uint64_t first, uint64_t count, uint8_t *hashes, struct leat_error *err);

/* Checks pages [first, first + count) of the tokens. LEAT_E_NOT_FOUND: the part has no hashes. */
enum leat_status part_check_pages(struct part *p, uint64_t first, uint64_t count, struct leat_error *err);

/* Fills `err` for page `page`, whose hash is wrong, naming its documents, which are also returned (LEAT_NONE: their
 * starts cannot be read). */
enum leat_status part_damaged_page(struct part *p, uint64_t page, uint64_t *document, uint64_t *documents,
                                   struct leat_error *err);

#endif
