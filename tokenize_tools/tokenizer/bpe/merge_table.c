/*
 * merge_table.c: pairs lie in words (struct pair_table) if their numbers are small enough, as those of all byte-level
 * vocabularies are; else in a table of 64-byte lines, four to a line, found by a hash of both ids; a full line
 * overflows into the next.
 *
 * Short pretokens, nearly all there are, are merged by looking for the least rank in an array; long ones by a heap of
 * (rank, position). An entry of the heap is stale if its pair has got another rank; it is dropped when it comes up, and
 * when there are many the heap is made anew, so that memory stays in proportion. A bit per position says whether a
 * symbol begins there: neighbours are a token's length apart at most, and a list's links would take half as much memory
 * again.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/status.h"
#include "merge_table.h"
#include "tokenizer/containers/hash_key.h"

/* ---- Pairs in words ---------------------------------------------------------------------------------------------- */

/* MAX_TRIES is the number of tables that are tried, each with twice as many words as the one before. MAX_MOVES is the
 * number of words that are moved for one new word before a table is given up. A few moves are enough if at most three
 * fifths of all words are taken. */
#define MAX_TRIES 3u
#define MAX_MOVES 500u

static uint32_t max_rank(const struct merge *merges, size_t count)
{
    uint32_t max = 0;

    for (size_t i = 0; i < count; i++)
        max = merges[i].rank > max ? merges[i].rank : max;
    return max;
}

int pair_table_fit(const struct merge *merges, size_t count)
{
    uint32_t *results;
    bool fit = true;

    for (size_t i = 0; i < count; i++)
        if (merges[i].left >= PAIR_NOBODY || merges[i].right >= PAIR_NOBODY || merges[i].result >= PAIR_NOBODY ||
            merges[i].rank >= PAIR_NOBODY)
            return false;
    results = malloc((max_rank(merges, count) + (size_t)1) * sizeof *results);
    if (!results)
        return false;
    memset(results, 0xff, (max_rank(merges, count) + (size_t)1) * sizeof *results);
    for (size_t i = 0; fit && i < count; i++) {
        uint32_t *result = &results[merges[i].rank];

        fit = *result == UINT32_MAX || *result == merges[i].result;
        *result = merges[i].result;
    }
    free(results);
    return fit;
}

static enum leat_status make_results(struct pair_table *t, const struct merge *merges, size_t count,
                                     struct leat_error *err)
{
    size_t ranks = max_rank(merges, count) + (size_t)1;
    bool same = true;

    for (size_t i = 0; same && i < count; i++)
        same = merges[i].rank == merges[i].result;
    if (same)
        return LEAT_OK;
    t->results = big_alloc(ranks * sizeof *t->results);
    if (!t->results)
        return status_no_memory(err, ranks * sizeof *t->results);
    for (size_t i = 0; i < count; i++)
        t->results[merges[i].rank] = merges[i].result;
    return LEAT_OK;
}

static uint32_t hash_of(uint64_t word)
{
    return pair_hash((uint32_t)(word >> (PAIR_KEY + PAIR_BITS)), (uint32_t)(word >> PAIR_KEY) & PAIR_NOBODY);
}

/* Returns the place of the word's pair, or NULL. */
static uint64_t *same_pair(const struct pair_table *t, uint64_t word)
{
    for (unsigned i = 0; i < PAIR_PLACES; i++) {
        uint64_t *at = &t->words[pair_place(t, hash_of(word), i)];

        if (*at != 0 && (*at ^ word) >> PAIR_KEY == 0)
            return at;
    }
    return NULL;
}

/* Makes a place free: its word moves to its other place in the line, after the word there has moved to its own other
 * place, and so on. Returns false if a word in the way has no other place there, or they go round in a circle. */
static bool make_room(const struct pair_table *t, size_t place, unsigned moves)
{
    uint32_t hash = hash_of(t->words[place]);
    size_t first = pair_place(t, hash, 0), second = pair_place(t, hash, 1), other = place == first ? second : first;

    if (t->words[place] == 0)
        return true;
    if (moves == 0 || (place != first && place != second) || !make_room(t, other, moves - 1))
        return false;
    t->words[other] = t->words[place];
    t->words[place] = 0;
    return true;
}

/* Returns a free place for a word, in its line if words there can move; NULL if there is none. */
static uint64_t *free_place(const struct pair_table *t, uint64_t word)
{
    for (unsigned i = 0; i < PAIR_PLACES; i++) {
        size_t place = pair_place(t, hash_of(word), i);

        if (make_room(t, place, i < 2 ? PAIR_LINE : 0))
            return &t->words[place];
    }
    return NULL;
}

/* Puts a word into the table. If it finds no free place, it takes that of another word, which is put elsewhere. */
static bool put_pair(const struct pair_table *t, uint64_t word, uint32_t *random)
{
    uint64_t *at = same_pair(t, word);

    for (unsigned moves = 0; !at && moves < MAX_MOVES; moves++) {
        uint64_t other;

        at = free_place(t, word);
        if (at)
            break;
        *random = *random * 1664525 + 1013904223;
        at = &t->words[pair_place(t, hash_of(word), (*random >> 16) % PAIR_PLACES)];
        other = *at;
        *at = word;
        word = other;
        at = NULL;
    }
    if (at)
        *at = word;
    return at != NULL;
}

static void mark_moved(const struct pair_table *t, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint32_t hash = hash_of(t->words[i]);

        for (unsigned k = 0; t->words[i] >> 4 != 0 && pair_place(t, hash, k) != i; k++)
            t->words[pair_place(t, hash, k)] |= PAIR_MOVED(k);
    }
}

/* Makes the words. t->words stays NULL if not all merges find a place. */
static enum leat_status make_words(struct pair_table *t, const struct merge *merges, size_t count, unsigned bits,
                                   struct leat_error *err)
{
    size_t bytes = sizeof *t->words << bits;
    uint32_t random = 1;

    t->shift = 32 - bits;
    t->words = bytes < BIG_PAGE ? aligned_alloc(64, bytes) : big_alloc(bytes);
    if (!t->words)
        return status_no_memory(err, bytes);
    memset(t->words, 0, bytes);
    for (size_t i = 0; i < count; i++)
        if (!put_pair(t, pair_key(merges[i].left, merges[i].right) | (uint64_t)(merges[i].rank + 1) << 4, &random)) {
            free(t->words);
            t->words = NULL;
            return LEAT_OK;
        }
    mark_moved(t, (size_t)1 << bits);
    return LEAT_OK;
}

enum leat_status pair_table_make(struct pair_table *t, const struct merge *merges, size_t count, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    unsigned bits = 4;

    *t = (struct pair_table) { .words = NULL };
    while ((size_t)3 << bits < 5 * count)
        bits++;
    for (unsigned i = 0; s == LEAT_OK && !t->words && i < MAX_TRIES; i++)
        s = make_words(t, merges, count, bits + i, err);
    if (s == LEAT_OK && t->words)
        s = make_results(t, merges, count, err);
    if (s != LEAT_OK)
        pair_table_free(t);
    return s;
}

void pair_table_free(struct pair_table *t)
{
    free(t->words);
    free(t->results);
    *t = (struct pair_table) { .words = NULL };
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* Most symbols for which the array is faster than the heap. */
#define SHORT_SYMBOLS 48
#define LINE_ENTRIES  4

/* Size above which a scratch is not kept: it would count against the bound that others share. */
#define LARGE ((uint64_t)1 << 20)

struct entry {
    uint32_t left, right, result, rank; /* rank MERGE_NONE: free */
};

struct merge_table {
    struct pair_table pairs; /* merges, if they fit; otherwise pairs.words is NULL, and the merges lie in entries */
    struct entry *entries;
    void *memory;  /* memory with the entries, before alignment */
    unsigned bits; /* 2^bits lines */
    uint64_t hash_key;
};

static struct entry *find_entry(const struct merge_table *t, uint32_t left, uint32_t right)
{
    uint64_t line = hash_key_place((uint64_t)left << 32 | right, t->hash_key, t->bits);

    for (;; line = (line + 1) & (((uint64_t)1 << t->bits) - 1)) {
        struct entry *e = &t->entries[line * LINE_ENTRIES];

        for (unsigned i = 0; i < LINE_ENTRIES; i++)
            if (e[i].rank == MERGE_NONE || (e[i].left == left && e[i].right == right))
                return &e[i];
    }
}

static enum leat_status make_entries(struct merge_table *t, const struct merge *merges, size_t count,
                                     struct leat_error *err)
{
    uint64_t lines;

    /* at most half full, so that there is always a free entry and lines seldom overflow */
    t->bits = 4;
    while (((uint64_t)LINE_ENTRIES << t->bits) / 2 < count && t->bits < 32)
        t->bits++;
    lines = (uint64_t)1 << t->bits;
    t->hash_key = hash_key_new();
    t->memory = malloc(lines * LINE_ENTRIES * sizeof(struct entry) + 64);
    if (!t->memory)
        return status_no_memory(err, lines * LINE_ENTRIES * sizeof(struct entry));
    t->entries = (struct entry *)(((uintptr_t)t->memory + 63) & ~(uintptr_t)63);
    memset(t->entries, 0xff, lines * LINE_ENTRIES * sizeof(struct entry));
    for (size_t i = 0; i < count; i++)
        *find_entry(t, merges[i].left, merges[i].right) =
            (struct entry) { merges[i].left, merges[i].right, merges[i].result, merges[i].rank };
    return LEAT_OK;
}

enum leat_status merge_table_make(struct merge_table **out, const struct merge *merges, size_t count,
                                  struct leat_error *err)
{
    struct merge_table *t = calloc(1, sizeof *t);
    enum leat_status s;

    *out = NULL;
    if (!t)
        return status_no_memory(err, sizeof *t);
    s = pair_table_fit(merges, count) ? pair_table_make(&t->pairs, merges, count, err) : LEAT_OK;
    if (s == LEAT_OK && !t->pairs.words)
        s = make_entries(t, merges, count, err);
    if (s != LEAT_OK)
        merge_table_free(t);
    else
        *out = t;
    return s;
}

void merge_table_free(struct merge_table *table)
{
    if (table) {
        pair_table_free(&table->pairs);
        free(table->memory);
    }
    free(table);
}

const struct pair_table *merge_table_pairs(const struct merge_table *table)
{
    return table->pairs.words ? &table->pairs : NULL;
}

/* Returns the rank of a pair. Symbols without any merge may be larger than a word of the table can hold. */
static uint32_t rank_in_pairs(const struct merge_table *t, uint32_t left, uint32_t right)
{
    return (left | right) >> PAIR_BITS ? MERGE_NONE : pair_rank(&t->pairs, left, right);
}

uint32_t merge_table_find(const struct merge_table *t, uint32_t left, uint32_t right, uint32_t *result)
{
    const struct entry *e;
    uint32_t rank;

    if (t->pairs.words) {
        rank = rank_in_pairs(t, left, right);
        *result = rank == MERGE_NONE ? MERGE_NONE : pair_result(&t->pairs, rank);
        return rank;
    }
    e = find_entry(t, left, right);
    *result = e->result;
    return e->rank;
}

static uint32_t rank_of(const struct merge_table *t, uint32_t left, uint32_t right)
{
    return t->pairs.words ? rank_in_pairs(t, left, right) : find_entry(t, left, right)->rank;
}

/* Returns the result of a pair's merge of this rank. */
static uint32_t result_of(const struct merge_table *t, uint32_t left, uint32_t right, uint32_t rank)
{
    return t->pairs.words ? pair_result(&t->pairs, rank) : find_entry(t, left, right)->result;
}

/* ---- Short ---- */

static size_t merge_short(const struct merge_table *t, uint32_t *symbols, size_t count)
{
    uint32_t ranks[SHORT_SYMBOLS];

    for (size_t i = 0; i + 1 < count; i++)
        ranks[i] = rank_of(t, symbols[i], symbols[i + 1]);
    while (count > 1) {
        size_t best = 0;

        for (size_t i = 1; i + 1 < count; i++)
            if (ranks[i] < ranks[best])
                best = i;
        if (ranks[best] == MERGE_NONE)
            break;
        symbols[best] = result_of(t, symbols[best], symbols[best + 1], ranks[best]);
        count--;
        memmove(symbols + best + 1, symbols + best + 2, (count - best - 1) * sizeof *symbols);
        if (best + 1 < count) {
            memmove(ranks + best + 1, ranks + best + 2, (count - best - 2) * sizeof *ranks);
            ranks[best] = rank_of(t, symbols[best], symbols[best + 1]);
        }
        if (best > 0)
            ranks[best - 1] = rank_of(t, symbols[best - 1], symbols[best]);
    }
    return count;
}

/* ---- Long ---- */

/* A list of symbols being merged. Positions are those that the symbols had at the start; a merged symbol has that of
 * its left part. */
struct list {
    const struct merge_table *table;
    uint32_t *symbols;
    uint32_t *ranks; /* rank of the pair with the next symbol; MERGE_NONE if there is none */
    uint64_t *alive; /* merge_next() */
    uint64_t *heap;  /* rank << 32 | position; the least on top */
    size_t heap_count, heap_room, count;
};

static void sift_down(uint64_t *heap, size_t count, size_t at)
{
    uint64_t value = heap[at];

    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= value)
            break;
        heap[at] = heap[child];
    }
    heap[at] = value;
}

/* Fills the heap with all pairs that have a merge, and nothing else. */
static void fill_heap(struct list *l)
{
    l->heap_count = 0;
    for (size_t i = 0; i < l->count; i++)
        if (l->ranks[i] != MERGE_NONE)
            l->heap[l->heap_count++] = (uint64_t)l->ranks[i] << 32 | i;
    for (size_t i = l->heap_count / 2; i-- > 0;)
        sift_down(l->heap, l->heap_count, i);
}

static void sift_up(uint64_t *heap, size_t at, uint64_t value)
{
    for (; at > 0 && heap[(at - 1) / 2] > value; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = value;
}

static void push(struct list *l, uint32_t position)
{
    if (l->heap_count == l->heap_room)
        fill_heap(l); /* fill_heap() finds this pair, too */
    else
        sift_up(l->heap, l->heap_count++, (uint64_t)l->ranks[position] << 32 | position);
}

/*
 * Takes the least entry. The gap goes down to a leaf, always to the lesser child, without a branch that depends on
 * values; then the last entry fills it, and seldom goes up again, since it comes from far down. This is twice as
 * fast as sift_down() from the top.
 */
static uint64_t pop(struct list *l)
{
    uint64_t *heap = l->heap, top = heap[0];
    size_t count = --l->heap_count, at = 0, child;

    while ((child = 2 * at + 1) < count) {
        child += heap[child + 1] < heap[child]; /* comparing the last one, which is still there, does no harm */
        heap[at] = heap[child];
        at = child;
    }
    sift_up(heap, at, heap[count]);
    return top;
}

/* Renews the rank of the pair that begins at `position`, which has changed. */
static void renew(struct list *l, size_t position)
{
    size_t next = merge_next(l->alive, position);

    l->ranks[position] = next == l->count ? MERGE_NONE : rank_of(l->table, l->symbols[position], l->symbols[next]);
}

static void merge_at(struct list *l, uint32_t position)
{
    size_t gone = merge_next(l->alive, position);

    l->symbols[position] = result_of(l->table, l->symbols[position], l->symbols[gone], l->ranks[position]);
    l->ranks[gone] = MERGE_NONE;
    l->alive[gone / 64] &= ~((uint64_t)1 << gone % 64);
    renew(l, position);
    if (l->ranks[position] != MERGE_NONE)
        push(l, position);
    if (position > 0) {
        size_t before = merge_before(l->alive, position);

        renew(l, before);
        if (l->ranks[before] != MERGE_NONE)
            push(l, (uint32_t)before);
    }
}

static void merge_list(struct list *l)
{
    memset(l->alive, 0xff, (l->count / 64 + 1) * sizeof *l->alive);
    for (size_t i = 0; i < l->count; i++)
        renew(l, i);
    fill_heap(l);
    while (l->heap_count > 0) {
        uint64_t top = pop(l);
        uint32_t position = (uint32_t)top;

        if (l->ranks[position] == top >> 32)
            merge_at(l, position);
    }
}

/* Returns the room for all live entries, and half as many stale ones before they are cleared. */
static uint64_t heap_room(uint64_t count)
{
    return count + count / 2 + 16;
}

static uint64_t merge_bytes(uint64_t count)
{
    return sizeof(uint32_t) * count + sizeof(uint64_t) * (count / 64 + 1 + heap_room(count));
}

void merge_scratch_free(struct merge_scratch *scratch)
{
    bound_give(scratch->bound, scratch->bytes);
    free(scratch->memory);
    scratch->memory = NULL;
    scratch->bytes = 0;
}

static enum leat_status reserve(struct merge_scratch *scratch, uint64_t need, size_t symbols, struct leat_error *err)
{
    if (need <= scratch->bytes)
        return LEAT_OK;
    merge_scratch_free(scratch);
    if (!bound_take(scratch->bound, need))
        return bound_refuse(scratch->bound, symbols, err);
    scratch->memory = malloc((size_t)need);
    if (!scratch->memory) {
        bound_give(scratch->bound, need);
        return status_no_memory(err, need);
    }
    scratch->bytes = (size_t)need;
    return LEAT_OK;
}

/* Merges a long run. The symbols that remain stay in their places, whose bits are set in *alive, which lies in the
 * scratch. The bit after the last place is set, too. */
static enum leat_status merge_in_place(const struct merge_table *table, struct merge_scratch *scratch,
                                       uint32_t *symbols, size_t count, const uint64_t **alive, struct leat_error *err)
{
    struct list l = { .table = table, .symbols = symbols, .count = count, .heap_room = (size_t)heap_room(count) };
    enum leat_status s;

    if (count >= MERGE_NONE)
        return status_set(err, LEAT_E_PRETOKEN, "a stretch of %zu symbols has no place to cut and is too long to merge",
                          count);
    s = reserve(scratch, merge_bytes(count), count, err);
    if (s != LEAT_OK)
        return s;
    l.heap = scratch->memory;
    l.alive = l.heap + l.heap_room;
    l.ranks = (uint32_t *)(l.alive + count / 64 + 1);
    merge_list(&l);
    *alive = l.alive;
    return LEAT_OK;
}

enum leat_status merge_symbols(const struct merge_table *table, struct merge_scratch *scratch, uint32_t *symbols,
                               size_t *count, struct leat_error *err)
{
    const uint64_t *alive;
    size_t left = 0;
    enum leat_status s;

    if (*count <= SHORT_SYMBOLS) {
        *count = merge_short(table, symbols, *count);
        return LEAT_OK;
    }
    s = merge_in_place(table, scratch, symbols, *count, &alive, err);
    for (size_t i = 0; s == LEAT_OK && i != *count; i = merge_next(alive, i))
        symbols[left++] = symbols[i];
    *count = s == LEAT_OK ? left : *count;
    if (scratch->bytes > LARGE)
        merge_scratch_free(scratch);
    return s;
}

/* ---- Very long runs ---------------------------------------------------------------------------------------------- */

/*
 * Merging in blocks is exact. Let a run be cut into tokens t1 t2 ... so that merging the symbols of any two neighbours
 * alone, ti and ti+1, gives just these two. Then merging the whole run gives t1 t2 ...: consider the first merge in it
 * that reaches across a border, between ti and ti+1. Until then all tokens have been merged each for itself. The merges
 * inside these two come in the order that they have when the two are alone, since ranks and places are equal, and so
 * the pair across the border would have been the least there, too, and been merged. This holds for any table.
 * Conversely, any two neighbours of the result, merged alone, give just these two.
 *
 * So a block is merged alone. The next one begins at a border some tokens before its end, and is merged alone, too. If
 * its first token ends where the block before has the end of that token, it is that token, since a token depends on its
 * symbols alone; then any two neighbours of the result come out of one of the blocks.
 */

/* Symbols of a block that, with its heap, stays in a core's second cache. */
#define USUAL_BLOCK ((size_t)1 << 13)

/* Tokens of a block that the next block merges again; fewer if they are long, as in runs of spaces, so that they are
 * at most a sixteenth of the block. The text after a block seldom changes more than its last two tokens. */
#define MAX_AGAIN   16
#define MIN_AGAIN   4
#define AGAIN_SHARE 16

struct run {
    const struct merge_table *table;
    struct merge_scratch *scratch;
    uint32_t *symbols; /* symbols of the run: the result up to `written`, unmerged from `at` on */
    size_t count, written;
    uint32_t *block; /* symbols of the current block, at the places that are alive */
    const uint64_t *alive;
    size_t at, block_count; /* the block's place in the run, and its symbols */
    size_t first_end;       /* end of its first token, as the block before has it */
    size_t again;           /* tokens that the next block merges again */
};

/* Returns the place at which the next block begins; the block's end if it is the last one. */
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
