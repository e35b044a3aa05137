/*
 * craft.h: datasets put together by hand in memory, from FORMAT.md alone: nothing of the library is used, so that what
 * the library writes and reads can be compared with it. Also the means to break them: change bytes, then repair the
 * checksums that would give the change away.
 */
#ifndef LEAT_TESTS_CRAFT_H
#define LEAT_TESTS_CRAFT_H

#include <stdint.h>

#include "leat.h"

/* A growing string of bytes. */
struct craft_text {
    uint8_t *bytes;
    uint64_t count, room;
};

enum craft_kind {
    CRAFT_DOCUMENTS = 1,
    CRAFT_DIRECTORY,
    CRAFT_PAGES,
    CRAFT_INPUTS,
    CRAFT_INPUT_PATHS,
    CRAFT_ORIGINS,
    CRAFT_LINES,
    CRAFT_ID_ENDS,
    CRAFT_IDS,
    CRAFT_TOKENIZER,
    CRAFT_METADATA,
    CRAFT_COLUMN,
    CRAFT_TEXT_HASHES,
    CRAFT_TOKEN_FILE,
    CRAFT_MASK,
    CRAFT_MASK_PAGES,
    CRAFT_KINDS
};

struct craft_other {
    uint32_t kind, flags;
    struct craft_text text;
};

struct craft {
    /* set before craft_index(), which puts them into the header */
    uint64_t vocabulary, end_token, begin_token, created, must_understand, ignorable;
    uint8_t fingerprint[16];
    int store_lines, store_ids, store_hashes, store_mask;
    const uint8_t *mask; /* of the ids of the next document; NULL: 255 each */
    uint32_t without;    /* bits of the kinds of sections to leave out, for an index that lacks one */

    uint64_t documents, inputs, pairs, width;
    uint64_t last_input, last_offset;
    int unordered;
    struct craft_text parts[CRAFT_KINDS]; /* the sections' bytes, but for the directory and pages */
    struct craft_other others[60];
    unsigned other_count;

    struct craft_text tokens; /* the token file */
    struct craft_text before; /* what a file of another tool has before the tokens */
    struct craft_text index;  /* after craft_index() */
};

/* A dataset without documents; LEAT_NONE: no such token. */
void craft_begin(struct craft *c, uint64_t vocabulary, uint64_t end_token, uint64_t begin_token);
void craft_free(struct craft *c);

void craft_input(struct craft *c, const char *path, uint64_t bytes, uint64_t rejects, uint8_t hash);
/* `origin` may be NULL. The begin and end tokens are put around the ids. */
void craft_document(struct craft *c, const uint32_t *ids, uint64_t count, const struct leat_origin *origin);
/* Each byte of `text` as a token. */
void craft_text_document(struct craft *c, const char *text, const struct leat_origin *origin);
/* Pairs in rising order of their keys. */
void craft_pair(struct craft *c, const char *key, const char *value);
/* Also sets the fingerprint, to the hash of the section. `file` NULL: a built-in. */
void craft_tokenizer(struct craft *c, const char *name, const char *pattern, const char *file);
/* The tokens lie in a file of another tool, after these bytes; craft_token_file() names it. */
void craft_elsewhere(struct craft *c, const void *before, uint64_t count);
void craft_token_file(struct craft *c, const char *path);
/* A section that no version-1 reader knows; kinds in rising order. */
void craft_other(struct craft *c, uint32_t kind, uint32_t flags, const void *bytes, uint64_t count);

/* Puts the index together. */
void craft_index(struct craft *c);

/* Where the bytes of a section begin in the index, and where its entry in the section table does. */
uint64_t craft_place(const struct craft *c, uint32_t kind);
uint64_t craft_entry(const struct craft *c, uint32_t kind);

uint32_t craft_load32(const void *p);
uint64_t craft_load64(const void *p);
void craft_store32(void *p, uint32_t v);
void craft_store64(void *p, uint64_t v);

/* Hashes, as FORMAT.md defines them. */
void craft_hash(uint8_t out[16], const void *bytes, uint64_t count);
void craft_page_sum(uint8_t out[16], const void *bytes, uint64_t count);

/* What is computed anew from the bytes of the index and the token file as they are now. */
enum craft_repair {
    CRAFT_REPAIR_TOKENS = 1, /* the pages section and the token sum */
    CRAFT_REPAIR_SUMS = 2,   /* every section's sum */
    CRAFT_REPAIR_IDENTITY = 4,
    CRAFT_REPAIR_HEADER = 8, /* its checksum */
    CRAFT_REPAIR_ALL = 15
};
void craft_repair(struct craft *c, unsigned what);

#endif
