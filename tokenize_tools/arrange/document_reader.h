/*
 * document_reader.h: reads all documents of all parts, one after another, with everything that belongs to them.
 * Starts, origins, ids, hashes and tokens are fetched for thousands of documents at a time, so that small documents do
 * not cost a call each; a large document comes in chunks, so that it needs no memory.
 */
#ifndef LEAT_ARRANGE_DOCUMENT_READER_H
#define LEAT_ARRANGE_DOCUMENT_READER_H

#include "merge_parts.h"
#include "sorting/helpers.h"

#define READER_WINDOWS 4u /* what helpers read ahead; without them there is one */

struct document {
    uint64_t number; /* in the order of the parts */
    uint64_t tokens; /* without begin and end token */
    /* The input is numbered as in the output; id and text_hash (NULL: none is known) are the reader's, until next. */
    struct leat_origin origin;
};

/* Tokens [first, first + count) of a part, in the stored width, compared with their hashes, and their mask. */
struct reader_window {
    struct job job;
    const struct merge_part *part;
    uint64_t first, count;
    void *ids;
    uint8_t *mask; /* NULL: no part has any */
    enum leat_status status;
    struct leat_error error;
};

struct document_reader {
    const struct merge_parts *parts;
    const struct merge_part *part; /* the one that is read */
    size_t part_number;
    uint64_t number;
    uint64_t first, count, at; /* the block of documents, in their part's list; `at`: the next one */
    uint64_t id_at;            /* of the next one's id, in `ids` */
    uint64_t *starts;
    struct leat_origin *origins;
    uint8_t (*hashes)[16];
    char *ids;
    size_t id_room;

    uint64_t token, token_end; /* what is left of the document, in its list */
    bool at_begin;
    struct helpers *helpers;
    struct reader_window windows[READER_WINDOWS]; /* they take turns: */
    unsigned current, ahead;                      /* the one that is read, and how many after it are given to helpers */
    uint64_t window_room;                         /* tokens */
    uint8_t begin_mask, last_mask;                /* of the document's begin token, and of its last id so far: */
    bool has_id;
    uint32_t width;
    uint64_t begin_token, end_token;
    struct pace *pace; /* gets the number of tokens that were read */
};

/* `helpers` read ahead; NULL: none. On failure too document_reader_close() must follow. */
enum leat_status document_reader_open(struct document_reader *r, const struct merge_parts *parts,
                                      struct helpers *helpers, struct pace *pace, struct leat_error *err);
void document_reader_close(struct document_reader *r);

/* Goes to the next document; *more false: none is left. What was not taken of the one before is skipped. */
enum leat_status document_reader_next(struct document_reader *r, struct document *d, bool *more,
                                      struct leat_error *err);

/* Tokens in the stored width; mask NULL: no part has one. They are the reader's until the next call. */
struct token_chunk {
    const void *ids;
    const uint8_t *mask;
    uint64_t count;
};

/* The next chunk of the document's tokens, until *last. Without begin and end token, which are checked to be there. */
enum leat_status document_reader_chunk(struct document_reader *r, struct token_chunk *chunk, bool *last,
                                       struct leat_error *err);

#endif
