/*
 * document_reader.h: reads all documents of all parts, one after another, with everything that belongs to them.
 * Starts, origins, ids, hashes and tokens are fetched for thousands of documents at a time, so that small documents do
 * not cost a call each; a large document comes in chunks, so that it needs no memory.
 */
#ifndef LEAT_ARRANGE_DOCUMENT_READER_H
#define LEAT_ARRANGE_DOCUMENT_READER_H

#include "merge_parts.h"
#include "sorting/helpers.h"

#define READER_WINDOWS 4u /* helpers read three windows ahead; without helpers there is one window */

struct document {
    uint64_t number; /* number in the order of the parts */
    uint64_t tokens; /* count without begin and end token */
    /* The input is numbered as in the output. The reader owns id and text_hash (each may be NULL), and keeps them until
     * the next document. */
    struct leat_origin origin;
};

/* Tokens [first, first + count) of a part, in the stored width, compared with their hashes, and their mask. */
struct reader_window {
    struct job job;
    const struct merge_part *part;
    uint64_t first, count;
    void *ids;
    uint8_t *mask; /* NULL if no part has a mask */
    enum leat_status status;
    struct leat_error error;
};

struct document_reader {
    const struct merge_parts *parts;
    const struct merge_part *part; /* the part that is read */
    size_t part_number;            /* number of the part that follows */
    uint64_t number;               /* number of the document that follows */
    uint64_t first, count;         /* the block of documents, in their part's list */
    uint64_t at;                   /* place of the next document in its part's list */
    uint64_t id_at;                /* place of the next document's id in `ids` */
    uint64_t *starts;
    struct leat_origin *origins;
    uint8_t (*hashes)[16];
    char *ids;
    size_t id_room;

    uint64_t token, token_end; /* tokens of the document that are left, in its part's list */
    bool at_begin;             /* true before the document's first token */
    struct helpers *helpers;
    struct reader_window windows[READER_WINDOWS]; /* used in turn */
    unsigned current;                             /* number of the window that is read */
    unsigned ahead;                               /* number of windows after it that helpers read */
    uint64_t window_room;                         /* tokens per window */
    uint8_t begin_mask;                           /* mask of the document's begin token */
    uint8_t last_mask;                            /* mask of the last id so far, if has_id */
    bool has_id;                                  /* true if the document had an id so far */
    uint32_t width;
    uint64_t begin_token, end_token;
    struct pace *pace; /* gets the number of tokens that were read */
};

/* Begins before the first document. `helpers` (or NULL) read ahead. document_reader_close() must follow, on failure
 * too. */
enum leat_status document_reader_open(struct document_reader *r, const struct merge_parts *parts,
                                      struct helpers *helpers, struct pace *pace, struct leat_error *err);
void document_reader_close(struct document_reader *r);

/* Goes to the next document, and skips the rest of the one before. Sets *more to false if none is left. */
enum leat_status document_reader_next(struct document_reader *r, struct document *d, bool *more,
                                      struct leat_error *err);

/* A piece of a document: its tokens in the stored width, and their mask (NULL if no part has one). The reader owns
 * both until the next call. */
struct token_chunk {
    const void *ids;
    const uint8_t *mask;
    uint64_t count;
};

/* Gets the next chunk of the document's tokens, and sets *last if it is the last one. Checks that the begin and end
 * token exist, and leaves them out. */
enum leat_status document_reader_chunk(struct document_reader *r, struct token_chunk *chunk, bool *last,
                                       struct leat_error *err);

#endif
