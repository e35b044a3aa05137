/*
 * import.h: datasets of other tools that cannot be used where they lie, written as leat's own. Each format is a row of
 * a table: whether a path is of it, which files it has, and the next document of the open file: where its ids lie, and
 * of what type they are. Reading files, checking and converting ids, and writing are the same for all.
 *
 * This room has readers of such formats. What can be opened in place belongs to src/dataset/; texts that are still to
 * be encoded belong to tokenize_tools/corpus/.
 */
#ifndef LEAT_IMPORT_H
#define LEAT_IMPORT_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/tiny.h"
#include "leat_pack.h"

typedef unsigned long long ull;

/* ---- import_bytes.c: the bytes of a file ---- */

#define IMPORT_WINDOW TINY_OR((size_t)1 << 10, (size_t)256 << 10) /* at most so many bytes are viewed at once */
/* No compressed unit may become larger: offsets in MDS and litdata have 32 bits. */
#define IMPORT_MAX_PLAIN ((uint64_t)1 << 32)

/* All zero but fd = -1: closed. */
struct import_bytes {
    char *path;
    int fd;
    uint64_t size;
    uint8_t *memory; /* all of them, if they had to be decompressed; else NULL */
    uint8_t *window;
    uint64_t window_at;
    size_t window_count;
};

enum leat_status import_bytes_open(struct import_bytes *b, const char *path, struct leat_error *err);

/* Opens a compressed file, which becomes `size` bytes. */
enum leat_status import_bytes_open_compressed(struct import_bytes *b, const char *path, uint64_t size,
                                              struct leat_error *err);

/* From now on the bytes are `size` bytes of memory, which becomes theirs; path and file stay. */
void import_bytes_take(struct import_bytes *b, uint8_t *memory, uint64_t size);

/* Appends what a zstd frame becomes, `plain` bytes, to memory that has room. */
enum leat_status import_unzstd(uint8_t *to, uint64_t plain, const uint8_t *frame, uint64_t bytes, const char *path,
                               struct leat_error *err);
void import_bytes_close(struct import_bytes *b);

/* Reads `count` bytes; LEAT_E_TRUNCATED if the file ends before. */
enum leat_status import_bytes_read(struct import_bytes *b, uint64_t at, void *out, uint64_t count,
                                   struct leat_error *err);

/* The same for at most IMPORT_WINDOW bytes, without copying: valid until the next call. Fast if calls go forward. */
enum leat_status import_bytes_view(struct import_bytes *b, uint64_t at, size_t count, const uint8_t **view,
                                   struct leat_error *err);

/* ---- import_ids.c: types of ids ---- */

struct import_dtype {
    const char *name; /* as NumPy calls it */
    uint8_t bytes;
    bool is_signed;
};

/* By its name, NULL: not a type that ids may have. */
const struct import_dtype *import_dtype(const char *name, size_t length);

/* By kind: unsigned or signed, of 1, 2, 4 or 8 bytes; NULL if it is not one. */
const struct import_dtype *import_dtype_of(uint64_t bytes, bool is_signed);

/* ---- Documents ---- */

struct import_document {
    struct import_bytes *bytes;
    uint64_t at, count; /* its ids, in bytes */
    const struct import_dtype *dtype;
    uint64_t origin; /* its place in the file, for the index */
};

struct import_file {
    char *path;
    uint64_t size; /* on disk */
    int64_t modified_s, modified_ns;
    uint64_t plain;     /* bytes, decompressed, as an index says; LEAT_NONE: it does not say */
    uint64_t documents; /* likewise */
    bool compressed;    /* as a whole */
};

struct import_source {
    const char *path; /* as given */
    const struct leat_import_options *options;
    struct import_file *files;
    uint64_t file_count, file_room;
    bool took_dtype;  /* the option was needed */
    const char *mask; /* a column of a mask, which is not taken; NULL: none */
    void *own;        /* the format's */
};

struct import_format {
    const char *name;

    /* Whether a path is of this format; an error if it looks like that and cannot be read. */
    enum leat_status (*takes)(const char *path, bool *takes, struct leat_error *err);

    /* Lists the files with import_add_file(), and decides the column. close() is called whatever happens. */
    enum leat_status (*open)(struct import_source *s, struct leat_error *err);
    void (*close)(struct import_source *s);

    /* Opens a file; the one before it is closed. */
    enum leat_status (*begin)(struct import_source *s, const struct import_file *file, struct leat_error *err);

    /* The next document of the file; *any is false at its end. */
    enum leat_status (*next)(struct import_source *s, struct import_document *document, bool *any,
                             struct leat_error *err);
};

/* A format is a row here, and its table. */
#define IMPORT_FORMATS(each) each(mds) each(litdata) each(arrow)
#define IMPORT_DECLARE(name) extern const struct import_format import_##name;
IMPORT_FORMATS(IMPORT_DECLARE)

/* Adds FOLDER/NAME, or (folder NULL) NAME. A name that leads out of the folder is refused. Sets the new file's path,
 * size and time of modification; the rest is not known. */
enum leat_status import_add_file(struct import_source *s, const char *folder, const char *name,
                                 struct import_file **file, struct leat_error *err);

/* How good a column is for ids, among those that can be: the one asked for, else `input_ids` or `tokens`, else the only
 * one. Call it for each; then import_column_chosen(), which notes the mask that is left. */
struct import_columns {
    uint64_t count, chosen; /* candidates; the chosen one's number: LEAT_NONE until there is one */
    unsigned rank;
    bool asked;       /* whether the column asked for is there at all */
    bool twice;       /* another one is called like the chosen one */
    const char *mask; /* one that is called like a mask, and its number; NULL: none */
    uint64_t mask_number;
    char names[200];
};
#define IMPORT_COLUMNS_INIT                                                                                            \
    {                                                                                                                  \
        .chosen = LEAT_NONE                                                                                            \
    }
void import_column(struct import_columns *c, const struct import_source *s, uint64_t number, const void *name,
                   size_t length, bool holds_ids);
enum leat_status import_column_chosen(const struct import_columns *c, struct import_source *s, struct leat_error *err);

/* ---- import_ids.c: the ids of a document ---- */

struct import_writing {
    struct leat_writer *writer;
    uint64_t vocabulary, end_token;
    uint64_t input;      /* its number */
    uint64_t ends_added; /* documents that lacked the end token */
    uint32_t *ids;       /* room for IMPORT_WINDOW bytes */
};

enum leat_status import_put(struct import_writing *w, const struct import_document *document, struct leat_error *err);

#endif
