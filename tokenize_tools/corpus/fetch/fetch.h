/*
 * fetch.h: inputs on servers. The object of a URL is looked up or listed, and its bytes are read ahead, in ranges of
 * which several are under way while threads work on earlier ones. A *fetcher* is the one client of a run; it has a
 * thread of its own, so that transfers go on while nobody waits for them. A *fetch* is one reader's way through one
 * object.
 *
 * This room knows objects on servers and nothing of what their bytes mean: streams/ and the reader of tables use it in
 * place of a file. What may enter: code that decides which bytes to ask a server for, and when. The protocol,
 * signatures and retries are those of src/remote/.
 *
 * An object must not change after it was found: ranges are asked for with its etag, and sizes are compared. If it has
 * changed, reading fails with LEAT_E_MISMATCH. The part of an https:// URL after a ? may be a key, so names leave it
 * out.
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

/* Returns true if a name is that of an object on a server. */
bool fetch_is_url(const char *name);

/* A user's way to stop reading, which then returns LEAT_E_STOPPED. */
struct input_stop {
    bool (*asked)(void *context); /* called before each read, and ten times per second while waiting; may be NULL */
    void *context;
    void (*waits)(void *context, const char *why); /* called once per call on a failing file server, and per request,
                                                    * that is retried after a pause; may be NULL */
};

/* ---- A run's client ---- */

/* Makes a client. Returns LEAT_E_UNSUPPORTED in a build without libcurl. */
enum leat_status fetcher_open(struct fetcher **out, struct leat_error *err);

/* Closes the client, when no fetch is open. NULL is fine. */
void fetcher_close(struct fetcher *f);

/* Sets the memory that the ranges of one fetch of a whole object take from now on. */
void fetcher_window(struct fetcher *f, uint64_t bytes);

/* ---- Finding objects: before the first fetch of this client ---- */

/* Makes the object of a URL, which must then be looked up. An object that was read must be freed after the fetcher was
 * closed. */
enum leat_status fetch_object_new(struct fetch_object **out, struct fetcher *f, const char *url,
                                  struct leat_error *err);
void fetch_object_free(struct fetch_object *object); /* NULL is fine */

/* Asks for the size and etag of objects that are not known yet. Returns LEAT_E_NO_FILE if one does not exist. */
enum leat_status fetch_look_up(struct fetcher *f, struct fetch_object *const *objects, size_t count,
                               const struct input_stop *stop, struct leat_error *err);

/* Returns true if a name stands for a branch on the Hugging Face Hub, which may move on. */
bool fetch_is_moving(const char *name);

/* Pins the name of a branch to a commit (hub_tree.h). The caller frees *pinned. */
struct hub_pins;
enum leat_status fetch_pin(struct fetcher *f, struct hub_pins *pins, const char *url, const struct input_stop *stop,
                           char **pinned, struct leat_error *err);

/* Returns true if the URL stands for all objects whose names begin with it: s3://BUCKET/FOLDER/,
 * hf://datasets/ORG/NAME */
bool fetch_object_is_folder(const struct fetch_object *object);

/* Calls `take` with each object below such a URL, in the server's order. The objects are known, and `take` owns them.
 * Returns LEAT_E_UNSUPPORTED for a web server, which has no list. */
typedef enum leat_status fetch_take(void *context, struct fetch_object *object, struct leat_error *err);
enum leat_status fetch_list(struct fetcher *f, const char *url, const struct input_stop *stop, fetch_take *take,
                            void *context, struct leat_error *err);

/* Copies, once, the first bytes of an object that was looked up, FILE_KIND_HEAD at most: they came with its size. */
void fetch_head(struct fetch_object *object, void *out, size_t room, size_t *got);

/* Returns true if the object was looked up or listed. */
bool fetch_object_known(const struct fetch_object *object);

/* Returns the name that messages and datasets give the object. */
const char *fetch_object_name(const struct fetch_object *object);
uint64_t fetch_object_size(const struct fetch_object *object);

/* Returns the memory that the fetcher allows one fetch. */
uint64_t fetch_object_window(const struct fetch_object *object);

/* Returns the etag with its quotes; "" if the server gives none: then a change that keeps the size is not noticed. */
const char *fetch_object_etag(const struct fetch_object *object);

/* ---- Reading: a fetch is for one thread at a time ---- */

/* Begins to read an object from front to back: first a small range, then ahead of a reader that has read three
 * times. */
enum leat_status fetch_open(struct fetch **out, struct fetch_object *object, struct leat_error *err);

/* Begins to read one stretch of an object, in at most `window` bytes of memory. The stretch is asked for at once. */
enum leat_status fetch_open_stretch(struct fetch **out, struct fetch_object *object, uint64_t begin, uint64_t end,
                                    uint64_t window, struct leat_error *err);
void fetch_close(struct fetch *f); /* NULL is fine */

/* Reads some bytes from `at` on, and waits for them; *got is 0 only at the end of the object. `at` may lie before the
 * place of the last call, or far after the bytes that were asked for: then reading begins anew there. */
enum leat_status fetch_read(struct fetch *f, uint64_t at, void *out, size_t room, size_t *got,
                            const struct input_stop *stop, struct leat_error *err);

/* Reads `count` bytes from `at` on, which the object must have. */
enum leat_status fetch_read_all(struct fetch *f, uint64_t at, void *out, size_t count, const struct input_stop *stop,
                                struct leat_error *err);

#endif
