/*
 * fetch.h: inputs on servers: what a URL names is looked up or listed, and its bytes are read ahead, in ranges of which
 * several are under way while threads work on those before. A *fetcher* is the one client of a run with a thread of its
 * own, so that transfers go on while nobody waits for them; a *fetch* is one reader's way through one object.
 *
 * This room knows objects on servers and nothing of what their bytes mean: streams/ and the reader of tables come to it
 * where they would read a file. What may enter: what decides which bytes to ask a server for, and when. The protocol,
 * signatures and tries are those of src/remote/.
 *
 * An object is what it was when it was found: ranges are asked for with its etag, and sizes are compared. If it has
 * changed, reading fails with LEAT_E_MISMATCH. Of an https:// URL, what follows a ? may be a key: names do not have it.
 */
#ifndef LEAT_CORPUS_FETCH_H
#define LEAT_CORPUS_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

struct fetcher;
struct fetch_object;
struct fetch;

/* Whether a name is that of an object on a server. */
bool fetch_is_url(const char *name);

/* Whether to stop, which is LEAT_E_STOPPED then: asked before each read of any input, and ten times per second while
 * something is waited for. `asked` NULL: never. */
struct input_stop {
    bool (*asked)(void *context);
    void *context;
    void (*waits)(void *context, const char *why); /* told once of each call on a failing file server, and of each
                                                    * request, that is made again after a pause; NULL: nobody is */
};

/* ---- A run's client ---- */

/* LEAT_E_UNSUPPORTED without libcurl. */
enum leat_status fetcher_open(struct fetcher **out, struct leat_error *err);

/* No fetch is open. NULL is fine. */
void fetcher_close(struct fetcher *f);

/* The memory that the ranges of one fetch of a whole object take from now on. */
void fetcher_window(struct fetcher *f, uint64_t bytes);

/* ---- Finding objects: before the first fetch of this client ---- */

/* The object of a URL, which has to be looked up. Once it was read, it is freed after the fetcher was closed. */
enum leat_status fetch_object_new(struct fetch_object **out, struct fetcher *f, const char *url,
                                  struct leat_error *err);
void fetch_object_free(struct fetch_object *object); /* NULL is fine */

/* Finds out size and etag of objects that are not known yet; of others nothing is asked. LEAT_E_NO_FILE if one does not
 * exist. */
enum leat_status fetch_look_up(struct fetcher *f, struct fetch_object *const *objects, size_t count,
                               const struct input_stop *stop, struct leat_error *err);

/* Whether what a name stands for may become something else as a whole: a branch on the Hugging Face Hub. Such names are
 * pinned first (hub_tree.h); *pinned is the caller's. */
bool fetch_is_moving(const char *name);
struct hub_pins;
enum leat_status fetch_pin(struct fetcher *f, struct hub_pins *pins, const char *url, const struct input_stop *stop,
                           char **pinned, struct leat_error *err);

/* Whether its URL stands for all objects whose names begin with it: s3://BUCKET/FOLDER/, hf://datasets/ORG/NAME */
bool fetch_object_is_folder(const struct fetch_object *object);

/* Gives each object below such a URL, which is known then and the taker's, in the order that the server has.
 * LEAT_E_UNSUPPORTED for a web server, which has no list. */
typedef enum leat_status fetch_take(void *context, struct fetch_object *object, struct leat_error *err);
enum leat_status fetch_list(struct fetcher *f, const char *url, const struct input_stop *stop, fetch_take *take,
                            void *context, struct leat_error *err);

/* Gives the first bytes of an object that was looked up, FILE_KIND_HEAD at most, once: with them its size came. */
void fetch_head(struct fetch_object *object, void *out, size_t room, size_t *got);

/* Whether it was looked up or listed. */
bool fetch_object_known(const struct fetch_object *object);

/* For messages and to be recorded. */
const char *fetch_object_name(const struct fetch_object *object);
uint64_t fetch_object_size(const struct fetch_object *object);

/* The memory that its fetcher allows one fetch. */
uint64_t fetch_object_window(const struct fetch_object *object);

/* With its quotes; "": the server gives none, and a change that keeps the size is not noticed. */
const char *fetch_object_etag(const struct fetch_object *object);

/* ---- Reading: a fetch is for one thread at a time ---- */

/* Reads an object from front to back: first a small range, and ahead of the reader once it has read three times. */
enum leat_status fetch_open(struct fetch **out, struct fetch_object *object, struct leat_error *err);

/* The same for one stretch of it, in at most `window` bytes of memory; it is asked for at once. */
enum leat_status fetch_open_stretch(struct fetch **out, struct fetch_object *object, uint64_t begin, uint64_t end,
                                    uint64_t window, struct leat_error *err);
void fetch_close(struct fetch *f); /* NULL is fine */

/* Reads some bytes from `at` on, and waits for them; *got is 0 only at the end of the object. A place before that of
 * the last call, or far after what was asked for, is possible and begins anew there. */
enum leat_status fetch_read(struct fetch *f, uint64_t at, void *out, size_t room, size_t *got,
                            const struct input_stop *stop, struct leat_error *err);

/* The same until `count` bytes are there, which the object must have. */
enum leat_status fetch_read_all(struct fetch *f, uint64_t at, void *out, size_t count, const struct input_stop *stop,
                                struct leat_error *err);

#endif
