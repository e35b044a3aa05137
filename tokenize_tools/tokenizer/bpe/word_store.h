/*
 * word_store.h: what the threads of a tokenizer have met: a shared cache of pretokens (pretoken_batch.h), and the long
 * pretokens that no cache keeps. A thread merges only what no thread has merged.
 *
 * An entry is written once and never changes, so whoever finds it may read it without a lock. When the memory is full,
 * nothing more is added, and each thread's own cache goes on renewing itself; when it refuses far more than it used to,
 * texts have changed, and an empty one takes its place.
 */
#ifndef LEAT_TOKENIZER_WORD_STORE_H
#define LEAT_TOKENIZER_WORD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"
#include "pretoken_batch.h"
#include "tokenizer/spec/model.h"

/* The longest pretoken that is kept. */
#define WORD_BYTES 255

/* A long pretoken: its ids, then its bytes. */
struct word {
    uint8_t bytes, kind; /* `kind`: as that of a pretoken_key */
    uint16_t count;
    uint32_t data[];
};

struct word_store;

/* It has no memory before word_store_grow(). */
enum leat_status word_store_make(struct word_store **out, struct leat_error *err);
void word_store_free(struct word_store *s);

/* How much memory it may take, in bytes. Otherwise the thread that makes the first cache says it. */
void word_store_bound(struct word_store *s, size_t max);

/* What a thread misses in its shared cache; all zero when it has taken one. */
struct word_need {
    size_t bytes;    /* of text, in this window */
    uint32_t before; /* what the cache had refused when it began */
    uint32_t usual;  /* what it refused in a window when it had become full; 0: not known yet */
};

/* Whether another cache is worthwhile, before a thread's next `bytes` of text. */
bool word_store_needed(const struct pretoken_cache *c, struct word_need *n, size_t bytes);

/* Makes the shared cache, for about so many pretokens, or another one than `now`: one of twice the size, which begins
 * with what that has, or an empty one if it cannot be larger. `max`, in bytes: what all may take if nobody has said it.
 * True: it was this call, and *empty, if not NULL, is to be filled before word_store_publish() shows it to the others.
 * False: another thread is at it, or has been. */
bool word_store_grow(struct word_store *s, const struct pretoken_cache *now, size_t pretokens, size_t max,
                     struct pretoken_cache **empty);
void word_store_publish(struct word_store *s);

/* Takes the shared cache of now in the place of the one that a thread has, and gives that back; both may be NULL. Where
 * another thread is at it, the thread keeps what it has. */
struct pretoken_cache *word_store_take(struct word_store *s, struct pretoken_cache *had);

/* Gives it back for good. */
void word_store_leave(struct pretoken_cache *had);

/* `share` of struct model_kind. */
void word_store_share(const struct model *m, size_t bytes);

/* A thread's cache: its own, which looks into the shared one first. Both are made when much text has come. */
struct word_cache {
    struct pretoken_cache own;
    const struct bound *bound; /* of the thread's memory; NULL: none */
    struct word_need need;
    size_t own_bytes, seen_bytes; /* how large its own may become; text so far */
};

/* False: no memory. */
bool word_cache_make(struct word_cache *c, const struct bound *bound, size_t own_bytes);
void word_cache_free(struct word_cache *c);

/* Comes before a thread's next `bytes` of text, and makes another shared cache if that is worthwhile. If that is empty,
 * it is returned, to be filled with what is known beforehand, about so many pretokens; then word_store_publish(). */
struct pretoken_cache *word_cache_grow(struct word_cache *c, struct word_store *s, size_t bytes, size_t pretokens);

/* Comes next: takes the shared cache of now. */
void word_cache_take(struct word_cache *c, struct word_store *s);

struct word_key {
    uint64_t hash;
    const uint8_t *text;
    uint8_t bytes, kind;
};

/* The key of at most WORD_BYTES, in memory that outlives it. */
struct word_key word_key_make(const uint8_t *text, size_t bytes, unsigned kind);

/* The steps of a search in what comes with a shared cache, so that many go on side by side: each fetches what the next
 * one reads. NULL: not found; `common` may be NULL. */
void word_store_fetch(const struct pretoken_cache *common, const struct word_key *key);
void word_store_fetch_entry(const struct pretoken_cache *common, const struct word_key *key);
const struct word *word_store_find(const struct pretoken_cache *common, const struct word_key *key);

/* Adds a pretoken to what comes with a thread's shared cache, unless it is there, or nothing more fits. */
void word_store_add(struct pretoken_cache *c, const struct word_key *key, const uint32_t *ids, size_t count);

#endif
