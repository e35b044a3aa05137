/*
 * export.h: a dataset written as files of another tool. Each format is a row of a table: the names of its files, what
 * fits into them, and functions for what is not tokens. The tokens themselves are copied in one way for all.
 *
 * The room exchange/ turns datasets into files of other tools; opening such files in place belongs to src/dataset/, and
 * importing them to leat's Python package.
 */
#ifndef LEAT_EXCHANGE_EXPORT_H
#define LEAT_EXCHANGE_EXPORT_H

#include <stdbool.h>

#include "leat_pack.h"

/* A file that gets its name when all are complete. */
struct export_file {
    char *path, *partial; /* PATH.partial: see own_file_begin() */
    int fd;
    bool named;
    uint64_t bytes; /* written */
    bool none;      /* there is nothing for it: it gets no name, and what has that name is removed */
    uint8_t *buffer;
    size_t used;
};

#define EXPORT_FILES 4u

struct exporting {
    const struct export_format *format;
    const struct leat_dataset *dataset;
    struct leat_info info;
    uint32_t width;     /* bytes per token in the output */
    uint64_t sequences; /* Megatron's, counted */
    struct export_file files[EXPORT_FILES];
    struct leat_export_options options;
};

struct export_format {
    const char *name;
    /* Added to the output's name. The first is that of the tokens, and the last file that without which nothing opens
     * them. The name may already end in the first one, or in `base` (NULL: nothing). */
    const char *suffixes[EXPORT_FILES];
    const char *base;
    bool documents;      /* the format records them */
    unsigned mask;       /* number of the file that has the mask, and is there only with one; 0: none has */
    uint64_t max_tokens; /* 0: no limit */
    uint64_t max_id;     /* of 4 bytes; 0: no limit */
    uint32_t width;      /* bytes per id, if all files have the same; 0: 2 or 4 */
    /* Writes what stands before the tokens; NULL: nothing does. */
    enum leat_status (*head)(struct exporting *e, struct export_file *f, struct leat_error *err);
    /* Writes the file with suffix `number`, above 0. */
    enum leat_status (*other)(struct exporting *e, unsigned number, struct export_file *f, struct leat_error *err);
};

/* A format is a row here, and its table. */
#define EXPORT_FORMATS(each) each(megatron) each(raw) each(nanogpt) each(llmc) each(datatrove)
#define EXPORT_DECLARE(name) extern const struct export_format export_##name;
EXPORT_FORMATS(EXPORT_DECLARE)

/* ---- Files ---- */

/* Begins BASE + SUFFIX, of which the first `length` bytes of `base` count. `replace`: it may exist. */
enum leat_status export_file_begin(struct export_file *f, const char *base, size_t length, const char *suffix,
                                   bool replace, struct leat_error *err);

/* Puts bytes through a buffer, or numbers of `bytes` bytes, little-endian. */
enum leat_status export_put(struct export_file *f, const void *bytes, size_t count, struct leat_error *err);
enum leat_status export_put_number(struct export_file *f, uint64_t value, unsigned bytes, struct leat_error *err);

/* Writes what is buffered, and syncs. */
enum leat_status export_file_complete(struct export_file *f, struct leat_error *err);

/* Gives all files their names, the last one last; what is replaced is removed in the other order. */
enum leat_status export_files_name(struct export_file *files, unsigned count, bool replace, struct leat_error *err);

/* Closes; removes what has no name of its own. */
void export_file_close(struct export_file *f);

/* ---- Documents ---- */

/* Calls `take` with stretches of the documents' starts, in order: `count` documents, whose starts and the end of the
 * last one are starts[0..count]. */
typedef enum leat_status export_take_starts(struct exporting *e, struct export_file *f, const uint64_t *starts,
                                            uint64_t count, struct leat_error *err);
enum leat_status export_each_start(struct exporting *e, struct export_file *f, export_take_starts *take,
                                   struct leat_error *err);

#endif
