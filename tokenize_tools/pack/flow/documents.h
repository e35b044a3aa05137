/*
 * documents.h: documents on their way through the packer: scanning fills in where their texts are, with ids and spans,
 * and which records are rejected; encoding turns texts into ids and masks; writing reads all of it.
 */
#ifndef LEAT_PACK_DOCUMENTS_H
#define LEAT_PACK_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "corpus/record/judge.h"
#include "leat.h"
#include "mask/learned.h"
#include "spool.h"

/* A stretch of a buffer. */
struct stretch {
    size_t begin, bytes;
};

/* The state of a new document is TEXT_UTF8_UNKNOWN; encoding looks then. */
enum text_utf8 { TEXT_UTF8_UNKNOWN, TEXT_UTF8_VALID, TEXT_UTF8_MALFORMED };

struct packer_document {
    uint64_t input;      /* place of its input in the list of inputs; LEAT_NONE: it has none */
    uint64_t offset;     /* in the input */
    uint64_t line;       /* number of line ends in the unit before it; LEAT_NONE: its input has no lines */
    struct stretch text; /* place of the text in the unit's text, until it is encoded */
    enum text_utf8 utf8; /* whether the text is UTF-8 */
    uint64_t malformed;  /* number of parts of the text that are not UTF-8, each of which is replaced by one U+FFFD */
    struct stretch id;   /* in `strings` */
    uint64_t tokens;     /* number of its ids, which lie in `tokens` (in `spooled` if it is spooled), after those of
                            the documents before it */
    bool spooled;
    uint8_t hash[16];      /* XXH3-128 of its text */
    bool encoded;          /* true if scanning has encoded it; then it has no text */
    bool masked;           /* true if only its spans are learned */
    double weight;         /* factor of its mask */
    struct stretch values; /* place in `values` of its values for columns */
    struct stretch spans;  /* place in `spans` of its struct leat_span, in bytes of its text; for the conversation of
                             a row: of its tools */
};

struct reject {
    uint64_t input, offset, line;         /* as above */
    size_t place;                         /* place of the record or its text in the unit's text, by which rejects are
                                             sorted */
    struct stretch reason, field, sample; /* in `strings` */
    uint64_t lost;                        /* number of records after it that are lost with it, and count as rejects,
                                             too */
};

/* Documents and rejects. All members are zero at first, but for `spooled`, which is SPOOL_NONE. */
struct documents {
    struct packer_document *items;
    size_t count, room;
    struct reject *rejects;
    size_t reject_count, reject_room;
    struct buffer strings; /* ids, reasons, fields, samples */
    struct buffer spans;
    struct buffer values; /* as columns/column_row.h writes them */
    struct buffer tokens; /* ids as the token file holds them, but in this machine's byte order */
    struct buffer mask;   /* a byte for each of `tokens` if the run stores a mask */
    struct spool spooled; /* ids of documents that do not fit in memory */
    uint64_t malformed;   /* in all texts */
    uint64_t text_bytes;  /* bytes of text that were encoded */
    uint64_t counts[COUNTS];
    uint64_t learned_by_role[LEARNED_ROLES]; /* tokens of conversations, with begin and end token */
};

void documents_free(struct documents *d);

/* Empties the struct for another use; buffers that grew beyond `keep_bytes` are freed. */
void documents_clear(struct documents *d, size_t keep_bytes);

/* Takes back all documents and rejects that were added since *before was a copy of the struct. */
void documents_take_back(struct documents *d, const struct documents *before);

/* Returns the memory that the buffers hold. */
uint64_t documents_bytes(const struct documents *d);

/* Adds a zeroed document. Returns NULL with `err` filled if there is no memory. */
struct packer_document *documents_add(struct documents *d, struct leat_error *err);

/* Rejects a record that is or would be a document. `field` is the field that is the reason, or "". The sample is cut
 * to REJECT_SAMPLE bytes. */
#define REJECT_SAMPLE 200
enum leat_status documents_reject(struct documents *d, const struct packer_document *document, const char *reason,
                                  const char *field, const void *record, size_t bytes, struct leat_error *err);

/* Sorts rejects by their places: the order of rejects from scanning and encoding must not depend on where units
 * start. */
void documents_sort_rejects(struct documents *d);

/* Returns the bytes of a stretch of `strings`; never NULL. */
static inline const void *documents_string(const struct documents *d, struct stretch where)
{
    return where.bytes > 0 ? (const void *)(d->strings.bytes + where.begin) : "";
}

/* Copies a string to `strings`. */
enum leat_status documents_keep(struct documents *d, const void *bytes, size_t count, struct stretch *where,
                                struct leat_error *err);

/* Copies an id to `strings`, behind the value that the document's dataset is chosen by, and a zero byte. */
enum leat_status documents_keep_by(struct documents *d, const void *value, size_t value_bytes, const void *id,
                                   size_t bytes, struct stretch *where, struct leat_error *err);

#endif
