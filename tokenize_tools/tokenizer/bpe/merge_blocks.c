/*
 * merge_blocks.c: see merge_blocks.h.
 *
 * Why it is exact. Let a run be cut into tokens t1 t2 ... so that merging the symbols of any two neighbours alone, ti
 * and ti+1, gives just these two. Then merging the whole run gives t1 t2 ...: consider the first merge in it that
 * reaches across a border, between ti and ti+1. Until then all tokens have been merged each for itself. The order among
 * the merges inside these two is the same as when they are alone, for ranks and places are, and so the pair across the
 * border would have been the least there, too, and been merged. This holds for any table, whatever its ranks. And the
 * other way about: of what merging a run gives, any two neighbours alone give just these two.
 *
 * So a block is merged alone. The next one begins at a border some tokens before its end, and is merged alone, too. If
 * the token that it begins with is the one that the block before has there, each two neighbours of the result come out
 * of one of the blocks. It is the same if it ends at the same place: what it is merged to depends on nothing else.
 */
#include "merge_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* A block of this size, with its heap, stays in a core's second cache. */
#define USUAL_BLOCK ((size_t)1 << 13)

/* Tokens of a block that the next one merges again; fewer if they are long, as in runs of spaces, so that they are at
 * most a sixteenth of the block. What follows a block seldom changes more than its last two tokens. */
#define MAX_AGAIN   16
#define MIN_AGAIN   4
#define AGAIN_SHARE 16

struct run {
    const struct merge_table *table;
    struct merge_scratch *scratch;
    uint32_t *symbols; /* up to `written` the result, from `at` on as they were */
    size_t count, written;
    uint32_t *block; /* the current block: symbols at the places that are alive */
    const uint64_t *alive;
    size_t at, block_count; /* the block's place in the run, and its symbols */
    size_t first_end;       /* where its first token ends, as the block before has it */
    size_t again;           /* tokens that the next block merges again */
};

/* Where the next block begins to merge again; the block's end if it is the last. */
static size_t next_begin(const struct run *r)
{
    size_t place = r->block_count;

    if (r->at + place == r->count)
        return place;
    for (size_t i = 0; i < r->again && place > 0; i++)
        if (i < MIN_AGAIN || r->block_count - place < r->block_count / AGAIN_SHARE)
            place = merge_before(r->alive, place);
    return place;
}

/* Writes the block's tokens; returns false if it does not continue the one before, or none of its tokens is certain. */
static bool write_block(struct run *r)
{
    size_t next = next_begin(r);

    if (next == 0 || (r->at > 0 && r->at + merge_next(r->alive, 0) != r->first_end))
        return false;
    for (size_t place = 0; place < next; place = merge_next(r->alive, place))
        r->symbols[r->written++] = r->block[place];
    if (next < r->block_count)
        r->first_end = r->at + merge_next(r->alive, next);
    r->at += next;
    return true;
}

static enum leat_status merge_all(struct run *r, size_t block, bool *done, struct leat_error *err)
{
    *done = true;
    while (*done && r->at < r->count) {
        enum leat_status s;

        r->block_count = r->count - r->at < block ? r->count - r->at : block;
        memcpy(r->block, r->symbols + r->at, r->block_count * sizeof *r->block);
        s = merge_in_place(r->table, r->scratch, r->block, r->block_count, &r->alive, err);
        if (s != LEAT_OK)
            return s;
        *done = write_block(r);
    }
    return LEAT_OK;
}

enum leat_status merge_blocks(const struct merge_table *table, struct merge_scratch *scratch, uint32_t *symbols,
                              size_t *count, size_t block, bool *done, struct leat_error *err)
{
    struct run r = { .table = table, .scratch = scratch, .symbols = symbols, .count = *count };
    uint64_t bytes;
    enum leat_status s;

    block = block ? block : USUAL_BLOCK;
    bytes = block * sizeof *r.block;
    r.again = block / 4 < MAX_AGAIN ? block / 4 : MAX_AGAIN;
    if (!bound_take(scratch->bound, bytes))
        return bound_refuse(scratch->bound, *count, err);
    r.block = malloc(bytes);
    s = r.block ? merge_all(&r, block, done, err) : status_no_memory(err, bytes);
    free(r.block);
    bound_give(scratch->bound, bytes);
    *count = r.written;
    return s;
}
