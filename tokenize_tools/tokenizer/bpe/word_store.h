/*
 * word_store.h: what the threads of a tokenizer have met: a shared cache of pretokens (pretoken_batch.h), and the long
 * pretokens that no cache keeps. A thread merges only what no thread has merged.
 *
 * An entry is written once and never changes or goes, so whoever finds it may read it without a lock. When the memory
 * is full, nothing more is added; each thread's own cache goes on renewing itself.
 */
#ifndef LEAT_TOKENIZER_WORD_STORE_H
#define LEAT_TOKENIZER_WORD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"
#include "pretoken_batch.h"

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

/* Makes the shared cache, for about so many pretokens, or a larger one than `now`; it begins with what that has. `max`,
 * in bytes: what all may take if nobody has said it. True: it was this call, and *lines is to be filled before
 * word_store_publish() shows it to the others. False: another thread is at it, or it cannot be larger. */
bool word_store_grow(struct word_store *s, const struct pretoken_cache *now, size_t pretokens, size_t max,
                     struct pretoken_cache **lines);
void word_store_publish(struct word_store *s);

/* Takes the shared cache of now in the place of the one that a thread has, and gives that back; both may be NULL. Where
 * another thread is at it, the thread keeps what it has. */
struct pretoken_cache *word_store_take(struct word_store *s, struct pretoken_cache *had);

/* Gives it back for good. */
void word_store_leave(struct pretoken_cache *had);

struct word_key {
    uint64_t hash;
    const uint8_t *text;
    uint8_t bytes, kind;
};

/* The key of at most WORD_BYTES, in memory that outlives it. */
struct word_key word_key_make(const uint8_t *text, size_t bytes, unsigned kind);

/* The steps of a search, so that many go on side by side: each fetches what the next one reads. NULL: not found. */
void word_store_fetch(const struct word_store *s, const struct word_key *key);
void word_store_fetch_entry(const struct word_store *s, const struct word_key *key);
const struct word *word_store_find(const struct word_store *s, const struct word_key *key);

/* Adds a pretoken unless it is there, or nothing more fits. */
void word_store_add(struct word_store *s, struct pretoken_stretch *stretch, const struct word_key *key,
                    const uint32_t *ids, size_t count);

#endif
