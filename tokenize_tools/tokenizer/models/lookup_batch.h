/*
 * lookup_batch.h: many pieces of a text at once, for models that encode pieces one by one: a cache remembers the ids of
 * those that have come before, and kernels ask it for thousands at a time (pretoken_batch.h). It is exact: a piece is
 * compared as a whole.
 *
 * The room models/ has the kinds of models (spec/model.h): byte pairs, whose work bpe/ does, and those that look for
 * tokens in the text as they stand: Unigram, WordPiece, WordLevel, words and characters.
 */
#ifndef LEAT_TOKENIZER_LOOKUP_BATCH_H
#define LEAT_TOKENIZER_LOOKUP_BATCH_H

#include "tokenizer/bpe/class_cuts.h"
#include "tokenizer/bpe/word_store.h"
#include "tokenizer/containers/id_list.h"
#include "tokenizer/spec/model.h"

/* A piece of at most PRETOKEN_MAX bytes. */
struct lookup_piece {
    const uint8_t *text;
    unsigned bytes;
    bool known; /* these are its ids, wherever it stands */
    unsigned count;
    uint32_t ids[PRETOKEN_IDS];
};

/* Pieces that are looked up together, and the bytes of all. */
#define LOOKUP_PIECES 32
#define LOOKUP_BYTES  256

/* A thread's memory. */
struct lookup_batch {
    void *memory; /* in which it lies */
    const struct pretoken_kernels *kernels;
    const struct class_cuts_kernels *cutter;
    struct word_cache words;
    struct id_list many; /* ids of the batch that do not fit a value */
    uint64_t apart[BATCH_ROOM / 64 + 1];
    struct pretoken_batch batch;

    /* Pieces that the cache did not have: their places in the batch, and their keys. */
    unsigned new_count, new_bytes;
    uint32_t new_at[LOOKUP_PIECES];
    struct pretoken_key new_keys[LOOKUP_PIECES];
    struct lookup_piece new_pieces[LOOKUP_PIECES];
};

enum leat_status lookup_batch_make(struct lookup_batch **out, const struct bound *bound, size_t cache_bytes,
                                   struct leat_error *err);
void lookup_batch_free(struct lookup_batch *l);

/* Looks after the caches before so much text. */
void lookup_batch_note(struct lookup_batch *l, const struct model *m, size_t bytes);

/* Appends a piece's ids. If it sets *apart, these depend on what is around the piece: it has appended none. */
typedef enum leat_status lookup_one(const void *context, void *scratch, const uint8_t *text, size_t bytes,
                                    struct id_list *out, bool *apart, struct leat_error *err);

/* Finds the ids of pieces, or leaves them to lookup_one(). */
typedef void lookup_some(const void *context, void *scratch, struct lookup_piece *pieces, unsigned count);

/* How a model looks up what the cache does not have. */
struct lookup_way {
    lookup_one *one;
    lookup_some *some; /* NULL: none */
    const void *context;
    void *scratch;
};

/* Finds the ids of all pieces in the batch; then kernels->write() is possible but for those that are apart: a bit in
 * apart[] each. */
enum leat_status lookup_batch_find(struct lookup_batch *l, const struct lookup_way *way, struct leat_error *err);

/* Appends the ids of pieces from one to another, none of which is apart. */
enum leat_status lookup_batch_write(struct lookup_batch *l, uint32_t from, uint32_t to, struct id_list *out,
                                    struct leat_error *err);

/* Encodes pretokens; none of them is apart. */
enum leat_status lookup_batch_encode(struct lookup_batch *l, const struct model *m, const struct lookup_way *way,
                                     const struct model_pretokens *p, struct id_list *out, struct leat_error *err);

#endif
