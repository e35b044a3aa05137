/*
 * word_store.h: the pretokens that the threads of a tokenizer share: a cache of them (pretoken_batch.h), and long ones
 * that no cache keeps. So a pretoken is merged by one thread only.
 *
 * An entry is written once and never changes, so a thread that finds it may read it without a lock. When the memory is
 * full, nothing is added to the shared cache, and each thread's own cache goes on renewing itself. When the shared
 * cache refuses far more pretokens than before, texts have changed, and an empty cache takes its place.
 */
#ifndef LEAT_TOKENIZER_WORD_STORE_H
#define LEAT_TOKENIZER_WORD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"
#include "pretoken_batch.h"
#include "tokenizer/spec/model.h"

/* Length of the longest pretoken that is kept. */
#define WORD_BYTES 255

/* A long pretoken: its ids, then its bytes. */
struct word {
    uint8_t bytes, kind; /* kind: `part` of pretoken_key_make() */
    uint16_t count;
    uint32_t data[];
};

struct word_store;

/* Makes a store, which takes no memory before word_store_grow(). */
enum leat_status word_store_make(struct word_store **out, struct leat_error *err);
void word_store_free(struct word_store *s);

/* Sets the bytes of memory that the store may take. Otherwise the thread that makes the first cache decides. */
void word_store_bound(struct word_store *s, size_t max);

/* The pretokens that a thread's shared cache refuses, per window of text; zeroed when the thread takes a cache. */
struct word_need {
    size_t bytes;    /* bytes of text in this window */
    uint32_t before; /* count of refused pretokens at the start of the window */
    uint32_t usual;  /* number that was refused in a window when the cache had become full; 0 if not known yet */
};

/* Returns true if another cache is worthwhile, before a thread's next `bytes` of text. */
bool word_store_needed(const struct pretoken_cache *c, struct word_need *n, size_t bytes);

/* Makes the shared cache, for about `pretokens` pretokens, or one that replaces `now`: of twice the size with all its
 * entries, or an empty one if it cannot grow. `max` is the bytes that all caches may take, unless word_store_bound()
 * was called. Returns true if this call made a cache; *empty, if not NULL, must then be filled before
 * word_store_publish() shows it to other threads. Returns false if another thread makes one, or has made one. */
bool word_store_grow(struct word_store *s, const struct pretoken_cache *now, size_t pretokens, size_t max,
                     struct pretoken_cache **empty);
void word_store_publish(struct word_store *s);

/* Takes the present shared cache for a thread, and gives back the one that it had; both may be NULL. The thread keeps
 * the old one while another thread makes a new one. */
struct pretoken_cache *word_store_take(struct word_store *s, struct pretoken_cache *had);

/* Gives back a thread's shared cache at its end. */
void word_store_leave(struct pretoken_cache *had);

/* The function `share` of struct model_kind. */
void word_store_share(const struct model *m, size_t bytes);

/* A thread's cache: its own, which looks into the shared one first. Both are made when much text has come. */
struct word_cache {
    struct pretoken_cache own;
    const struct bound *bound; /* bound of the thread's memory; may be NULL */
    struct word_need need;
    size_t own_bytes;  /* most bytes of the thread's own cache */
    size_t seen_bytes; /* bytes of text so far */
};

/* Makes a cache that may have `own_bytes` bytes. Returns false if there is no memory. */
bool word_cache_make(struct word_cache *c, const struct bound *bound, size_t own_bytes);
void word_cache_free(struct word_cache *c);

/* Makes another shared cache, if that is worthwhile, before a thread's next `bytes` of text. Returns it if it is empty:
 * the caller fills it with about `pretokens` pretokens that it knows beforehand, then calls word_store_publish(). */
struct pretoken_cache *word_cache_grow(struct word_cache *c, struct word_store *s, size_t bytes, size_t pretokens);

/* Takes the present shared cache, after word_cache_grow(). */
void word_cache_take(struct word_cache *c, struct word_store *s);

struct word_key {
    uint64_t hash;
    const uint8_t *text;
    uint8_t bytes, kind;
};

/* Makes the key of at most WORD_BYTES bytes, which must outlive it. */
struct word_key word_key_make(const uint8_t *text, size_t bytes, unsigned kind);

/* The steps of a search for a long pretoken of a shared cache (may be NULL), so that many searches go on side by side:
 * each step prefetches the memory that the next one reads. word_store_find() returns NULL if it is not there. */
void word_store_fetch(const struct pretoken_cache *common, const struct word_key *key);
void word_store_fetch_entry(const struct pretoken_cache *common, const struct word_key *key);
const struct word *word_store_find(const struct pretoken_cache *common, const struct word_key *key);

/* Adds a long pretoken to a thread's shared cache, unless it is there, or nothing more fits. */
void word_store_add(struct pretoken_cache *c, const struct word_key *key, const uint32_t *ids, size_t count);

#endif
