/*
 * fetch.h: inputs on servers: what a URL names is looked up or listed, and its bytes are read ahead, in ranges of which
 * several are under way while threads work on those before. A *fetcher* is the one client of a run with a thread of its
 * own, so that transfers go on while nobody waits for them; a *fetch* is one reader's way through one thing.
 *
 * This room knows things on servers and nothing of what their bytes mean: streams/ and the reader of tables come to it
 * where they would read a file. What may enter: what decides which bytes to ask a server for, and when. The protocol,
 * signatures and tries are those of src/remote/.
 *
 * A thing is what it was when it was found: ranges are asked for with its etag, and sizes are compared. If it has
 * changed, reading fails with LEAT_E_MISMATCH. Of an https:// URL, what follows a ? may be a key: names do not have it.
 */
#ifndef LEAT_CORPUS_FETCH_H
#define LEAT_CORPUS_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

struct fetcher;
struct fetch_thing;
struct fetch;

/* Whether a name is that of a thing on a server. */
bool fetch_is_url(const char *name);

/* Whether to stop, which is LEAT_E_STOPPED then: asked before each read of any input, and ten times per second while
 * something is waited for. `asked` NULL: never. */
struct input_stop {
    bool (*asked)(void *context);
    void *context;
};

/* ---- A run's client ---- */

/* LEAT_E_UNSUPPORTED without libcurl. */
enum leat_status fetcher_open(struct fetcher **out, struct leat_error *err);

/* No fetch is open. NULL is fine. */
void fetcher_close(struct fetcher *f);

/* The memory that the ranges of one fetch of a whole thing take from now on. */
void fetcher_window(struct fetcher *f, uint64_t bytes);

/* ---- Finding things: before the first fetch of this client ---- */

/* The thing of a URL, which has to be looked up. Once it was read, it is freed after the fetcher was closed. */
enum leat_status fetch_thing_new(struct fetch_thing **out, struct fetcher *f, const char *url, struct leat_error *err);
void fetch_thing_free(struct fetch_thing *thing); /* NULL is fine */

/* Finds out size and etag of things that are not known yet; of others nothing is asked. LEAT_E_NO_FILE if one does not
 * exist. */
enum leat_status fetch_look_up(struct fetcher *f, struct fetch_thing *const *things, size_t count,
                               const struct input_stop *stop, struct leat_error *err);

/* Whether its URL stands for all things whose names begin with it: s3://BUCKET/FOLDER/ */
bool fetch_thing_is_folder(const struct fetch_thing *thing);

/* Gives each thing below such a URL, which is known then and the taker's, in the order that the server has.
 * LEAT_E_UNSUPPORTED for a web server, which has no list. */
typedef enum leat_status fetch_take(void *context, struct fetch_thing *thing, struct leat_error *err);
enum leat_status fetch_list(struct fetcher *f, const char *url, const struct input_stop *stop, fetch_take *take,
                            void *context, struct leat_error *err);

/* Gives the first bytes of a thing that was looked up, FILE_KIND_HEAD at most, once: with them its size came. */
void fetch_head(struct fetch_thing *thing, void *out, size_t room, size_t *got);

/* Whether it was looked up or listed. */
bool fetch_thing_known(const struct fetch_thing *thing);

/* For messages and to be recorded. */
const char *fetch_thing_name(const struct fetch_thing *thing);
uint64_t fetch_thing_size(const struct fetch_thing *thing);

/* The memory that its fetcher allows one fetch. */
uint64_t fetch_thing_window(const struct fetch_thing *thing);

/* With its quotes; "": the server gives none, and a change that keeps the size is not noticed. */
const char *fetch_thing_etag(const struct fetch_thing *thing);

/* ---- Reading: a fetch is for one thread at a time ---- */

/* Reads a thing from front to back: first a small range, and ahead of the reader once it has read three times. */
enum leat_status fetch_open(struct fetch **out, struct fetch_thing *thing, struct leat_error *err);

/* The same for one stretch of it, in at most `window` bytes of memory; it is asked for at once. */
enum leat_status fetch_open_stretch(struct fetch **out, struct fetch_thing *thing, uint64_t begin, uint64_t end,
                                    uint64_t window, struct leat_error *err);
void fetch_close(struct fetch *f); /* NULL is fine */

/* Reads some bytes from `at` on, and waits for them; *got is 0 only at the end of the thing. A place before that of the
 * last call, or far after what was asked for, is possible and begins anew there. */
enum leat_status fetch_read(struct fetch *f, uint64_t at, void *out, size_t room, size_t *got,
                            const struct input_stop *stop, struct leat_error *err);

/* The same until `count` bytes are there, which the thing must have. */
enum leat_status fetch_read_all(struct fetch *f, uint64_t at, void *out, size_t count, const struct input_stop *stop,
                                struct leat_error *err);

#endif
