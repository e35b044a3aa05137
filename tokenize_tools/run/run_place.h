/*
 * run_place.h: the place of the files of a run whose parts are pushed: a folder of this machine, or what begins with
 * a URL s3://BUCKET/FOLDER/, gs:// or az://. Small files are read and written whole: a file that is there is
 * complete.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_PLACE_H
#define LEAT_TOKENIZE_TOOLS_RUN_PLACE_H

#include <dirent.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "list/folder_list.h"
#include "remote/remote.h"

struct run_place {
    char *path;            /* absolute path; for a bucket the URL, which ends in / */
    DIR *folder;           /* the folder; NULL: a bucket */
    struct remote *remote; /* NULL: a folder */
    struct url url;
    char etag[TRANSFER_ETAG]; /* version of the file in a bucket that run_place_read() has read last */
};

/*
 * Opens a place. `make` also makes a missing folder, but not those above it; *made (may be NULL) says whether it
 * did. A client of a server works in the process that opened it, so each call of the library opens one.
 * run_place_close() must follow, on failure too.
 */
enum leat_status run_place_open(struct run_place *p, const char *output, bool make, bool *made, struct leat_error *err);
void run_place_close(struct run_place *p);

/* Opens the folder of a split in the place. Returns LEAT_E_EXISTS if it is a file, or a symbolic link, which may
 * lead to the parts of another run. */
enum leat_status run_place_open_split(struct run_place *p, const struct run_place *outer, const char *name, bool make,
                                      struct leat_error *err);

/* Reads a whole file, and adds a zero byte. Returns LEAT_E_NO_FILE if there is none. */
enum leat_status run_place_read(struct run_place *p, const char *name, struct buffer *text, struct leat_error *err);

/* Reads the list of parts of this name, and its bytes; the list is empty if there is none. The caller frees both,
 * also after a failure. */
enum leat_status run_place_read_list(struct run_place *p, const char *name, struct folder_list *list,
                                     struct buffer *text, struct leat_error *err);

/* Writes a file durably, and as a whole. Returns LEAT_E_EXISTS if it is there, unless `replace`. */
enum leat_status run_place_write(struct run_place *p, const char *name, const void *bytes, size_t count, bool replace,
                                 struct leat_error *err);

/* Replaces the file that run_place_read() has read last. In a bucket, returns LEAT_E_EXISTS if it has changed since;
 * a folder is locked. */
enum leat_status run_place_swap(struct run_place *p, const char *name, const void *bytes, size_t count,
                                struct leat_error *err);

/* Removes a file. A missing file is no failure. */
enum leat_status run_place_remove(struct run_place *p, const char *name, struct leat_error *err);

/* Calls `take` for each file, in any order; its failure ends the call. It may remove files. Of the folders in the
 * place, those with a list of parts are named, by NAME/leat-run.list. */
typedef enum leat_status run_place_take(void *context, const char *name, uint64_t size, struct leat_error *err);
enum leat_status run_place_list(struct run_place *p, run_place_take *take, void *context, struct leat_error *err);

/* Removes, in a bucket, what was sent of objects that are not complete, if their names begin so and `dead` returns
 * true for them. */
typedef bool run_place_dead(void *context, const char *name);
enum leat_status run_place_sweep_uploads(struct run_place *p, const char *begin, run_place_dead *dead, void *context,
                                         struct leat_error *err);

/* Makes removals up to now durable. */
enum leat_status run_place_sync(struct run_place *p, struct leat_error *err);

/* Returns the path of a file in the place, or its URL, which the caller frees; NULL if there is no memory. */
char *run_place_file(const struct run_place *p, const char *name, const char *suffix);

#endif
