/*
 * run_place.h: where the files of a run lie whose parts are pushed: a folder of this machine, or what begins with a URL
 * s3://BUCKET/FOLDER/, gs:// or az://. Small files are read and written whole: one that is there is complete.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_PLACE_H
#define LEAT_TOKENIZE_TOOLS_RUN_PLACE_H

#include <dirent.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "list/folder_list.h"
#include "remote/remote.h"

struct run_place {
    char *path;            /* from the root on; of a bucket, the URL, which ends in / */
    DIR *folder;           /* the folder; NULL: a bucket */
    struct remote *remote; /* NULL: a folder */
    struct url url;
    char etag[TRANSFER_ETAG]; /* of what run_place_read() has read last, in a bucket */
};

/* `make`: a folder that is missing, but not those above it; *made (may be NULL) says whether it was. A client of a
 * server works in the process that opened it: each call of the library opens one. run_place_close() also after a
 * failure. */
enum leat_status run_place_open(struct run_place *p, const char *output, bool make, bool *made, struct leat_error *err);
void run_place_close(struct run_place *p);

/* Opens the folder of a split in the place. LEAT_E_EXISTS if it is a symbolic link, which may lead to the parts of
 * another run, or a file. */
enum leat_status run_place_open_split(struct run_place *p, const struct run_place *outer, const char *name, bool make,
                                      struct leat_error *err);

/* The whole file, with a zero after it. LEAT_E_NO_FILE. */
enum leat_status run_place_read(struct run_place *p, const char *name, struct buffer *text, struct leat_error *err);

/* Reads the list of parts of this name, an empty one if there is none, and gives its bytes. The caller frees both, also
 * after a failure. */
enum leat_status run_place_read_list(struct run_place *p, const char *name, struct folder_list *list,
                                     struct buffer *text, struct leat_error *err);

/* Durably, and at once. LEAT_E_EXISTS if it is there, unless `replace`. */
enum leat_status run_place_write(struct run_place *p, const char *name, const void *bytes, size_t count, bool replace,
                                 struct leat_error *err);

/* Replaces the file, which run_place_read() has read last. LEAT_E_EXISTS if it has changed since, in a bucket; a folder
 * is locked. */
enum leat_status run_place_swap(struct run_place *p, const char *name, const void *bytes, size_t count,
                                struct leat_error *err);

/* A file that is missing is no failure. */
enum leat_status run_place_remove(struct run_place *p, const char *name, struct leat_error *err);

/* Calls `take` for each file, in any order; its failure ends the list. It may remove files. Of the folders in the
 * place, those are named that have a list of parts, by NAME/leat-run.list. */
typedef enum leat_status run_place_take(void *context, const char *name, uint64_t size, struct leat_error *err);
enum leat_status run_place_list(struct run_place *p, run_place_take *take, void *context, struct leat_error *err);

/* Removes what was sent of objects that are not complete, in a bucket: of those for whose name `dead` is true, among
 * names that begin so. */
typedef bool run_place_dead(void *context, const char *name);
enum leat_status run_place_sweep_uploads(struct run_place *p, const char *begin, run_place_dead *dead, void *context,
                                         struct leat_error *err);

/* Makes what was removed so far durable. */
enum leat_status run_place_sync(struct run_place *p, struct leat_error *err);

/* Returns the name of a file there, or its URL; the caller frees it. NULL: no memory. */
char *run_place_file(const struct run_place *p, const char *name, const char *suffix);

/* Returns true if the place is a bucket's, by its name. */
bool run_place_is_remote(const char *output);

#endif
