/*
 * lookup_batch.h: looks up many pieces of a text at once, for models that encode pieces one by one. A cache has the ids
 * of pieces that have come before, and kernels ask it for thousands at a time (pretoken_batch.h). It is exact: pieces
 * are compared as a whole.
 *
 * The room models/ has the kinds of models (spec/model.h): byte pairs, whose work bpe/ does, and kinds that look up
 * tokens in the text: Unigram, WordPiece, WordLevel, words and characters.
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
    bool known; /* true if `ids` are its ids in any text */
    unsigned count;
    uint32_t ids[PRETOKEN_IDS];
};

/* Most pieces that are looked up together, and most bytes of all of them. */
#define LOOKUP_PIECES 32
#define LOOKUP_BYTES  256

/* A thread's memory. */
struct lookup_batch {
    void *memory; /* memory that the struct lies in */
    const struct pretoken_kernels *kernels;
    const struct class_cuts_kernels *cutter;
    struct word_cache words;
    struct id_list many; /* ids of the batch that do not fit a value */
    uint64_t apart[BATCH_ROOM / 64 + 1];
    struct pretoken_batch batch;

    /* Places and keys of pieces that the cache did not have. */
    unsigned new_count, new_bytes;
    uint32_t new_at[LOOKUP_PIECES];
    struct pretoken_key new_keys[LOOKUP_PIECES];
    struct lookup_piece new_pieces[LOOKUP_PIECES];
};

enum leat_status lookup_batch_make(struct lookup_batch **out, const struct bound *bound, size_t cache_bytes,
                                   struct leat_error *err);
void lookup_batch_free(struct lookup_batch *l);

/* Makes or renews caches, if that is worthwhile, before the next `bytes` of text. */
void lookup_batch_note(struct lookup_batch *l, const struct model *m, size_t bytes);

/* Appends a piece's ids. If they depend on the text around the piece, sets *apart and appends none. */
typedef enum leat_status lookup_one(const void *context, void *scratch, const uint8_t *text, size_t bytes,
                                    struct id_list *out, bool *apart, struct leat_error *err);

/* Finds the ids of some pieces, and leaves the others to lookup_one(). */
typedef void lookup_some(const void *context, void *scratch, struct lookup_piece *pieces, unsigned count);

/* A model's functions for pieces that the cache does not have. */
struct lookup_way {
    lookup_one *one;
    lookup_some *some; /* may be NULL */
    const void *context;
    void *scratch;
};

/* Finds the ids of all pieces in the batch, for kernels->write(). Sets a bit in apart[] for each piece whose ids depend
 * on the text around it. */
enum leat_status lookup_batch_find(struct lookup_batch *l, const struct lookup_way *way, struct leat_error *err);

/* Appends the ids of pieces [from, to), none of which is apart. */
enum leat_status lookup_batch_write(struct lookup_batch *l, uint32_t from, uint32_t to, struct id_list *out,
                                    struct leat_error *err);

/* Encodes pretokens; none of them is apart. */
enum leat_status lookup_batch_encode(struct lookup_batch *l, const struct model *m, const struct lookup_way *way,
                                     const struct model_pretokens *p, struct id_list *out, struct leat_error *err);

#endif
