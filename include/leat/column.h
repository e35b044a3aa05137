/* column.h: values beside the tokens or the documents of a dataset. */
#ifndef LEAT_PUBLIC_COLUMN_H
#define LEAT_PUBLIC_COLUMN_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/* The types of values. A category is one of at most 65536 texts; its values are u16, the numbers of the texts. */
enum leat_column_type {
    LEAT_COLUMN_U8 = 1,
    LEAT_COLUMN_U16 = 2,
    LEAT_COLUMN_U32 = 3,
    LEAT_COLUMN_I32 = 4,
    LEAT_COLUMN_I64 = 5,
    LEAT_COLUMN_F16 = 6,
    LEAT_COLUMN_BF16 = 7,
    LEAT_COLUMN_F32 = 8,
    LEAT_COLUMN_CATEGORY = 9,
    /* No column has one of these types: leat_column_writer_add() converts from them. */
    LEAT_COLUMN_I8 = 10,
    LEAT_COLUMN_I16 = 11,
    LEAT_COLUMN_U64 = 12,
    LEAT_COLUMN_F64 = 13
};

enum leat_column_at {
    LEAT_COLUMN_TOKEN = 0,   /* an entry per token */
    LEAT_COLUMN_DOCUMENT = 1 /* an entry per document */
};

#define LEAT_COLUMN_MAX_WIDTH 256u   /* values per entry */
#define LEAT_COLUMN_MAX_TEXTS 65536u /* texts of a category */
#define LEAT_COLUMN_MAX_NAME  64u    /* bytes of a name */
#define LEAT_COLUMN_MAX_PARTS 65536u /* parts that are attached one by one */

/* Returns "u8", ..., "category", ..., "f64"; NULL for another number. Static memory. */
LEAT_API const char *leat_column_type_name(uint32_t type);

/* Reads a type that a column can have, and its width: "f32", "u32x8". LEAT_E_ARGUMENT says which there are. */
LEAT_API enum leat_status leat_column_type_read(const char *text, uint32_t *type, uint32_t *width,
                                                struct leat_error *err);

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/*
 * A column consists of two files beside its dataset, NAME.COLUMN.column and NAME.COLUMN.column-index (FORMAT.md), and
 * exists if the second one does. The dataset's own files do not change, nor does its identity. Only leat's own datasets
 * on this machine have columns: not files of other tools, and not what was opened by a URL.
 */
struct leat_column;

struct leat_column_info {
    size_t size;
    const char *name;
    uint64_t part;        /* number of its dataset in a list; 0 for a single one, and for the whole list's column */
    uint64_t entries;     /* tokens or documents of the dataset */
    uint64_t bytes;       /* size of its file of values */
    uint64_t texts;       /* number of texts; 0 unless it is a category */
    uint32_t type;        /* enum leat_column_type */
    uint32_t width;       /* values per entry */
    uint32_t at;          /* enum leat_column_at */
    uint32_t entry_bytes; /* bytes per entry */
};
#define LEAT_COLUMN_INFO_INIT { sizeof(struct leat_column_info), NULL, 0, 0, 0, 0, 0, 0, 0, 0 }

struct leat_columns {
    uint64_t count;
    const struct leat_column_info *columns; /* part by part, sorted by name */
};

/*
 * Lists the columns of all parts of a dataset; the caller calls leat_columns_free(). Looks at each file, so
 * the statuses are those of leat_column_open(), too.
 */
LEAT_API enum leat_status leat_dataset_columns(const struct leat_dataset *d, struct leat_columns **columns,
                                               struct leat_error *err);
LEAT_API void leat_columns_free(struct leat_columns *columns); /* NULL is fine */

/*
 * Opens a column of a dataset, which must stay open as long as the column. Checks its index, except the hashes of
 * pages, and the size of its values. Any number of threads may use an open column. In a list of several parts, all must
 * have the column, with one type, width and place; its entries are counted through, and its texts are those of all.
 * Returns LEAT_E_NOT_FOUND (the sentence names the nearest column), _INCOMPATIBLE (parts of a list have different
 * columns, or too many texts together), _UNSUPPORTED (files of another tool, a URL), _MISMATCH (the file of values is
 * missing or has another size, or the column belongs to another dataset), _NOT_LEAT, _VERSION, _CHECKSUM or _HEADER
 * (the index is damaged), _PERMISSION, _IO, _NO_MEMORY.
 */
LEAT_API enum leat_status leat_column_open(struct leat_column **out, const struct leat_dataset *d, const char *name,
                                           struct leat_error *err);
LEAT_API void leat_column_close(struct leat_column *c); /* NULL is fine */

/* Describes a column. The name is valid until the column is closed. */
LEAT_API void leat_column_info(const struct leat_column *c, struct leat_column_info *info);

/*
 * Copies entries [first, first + count) to `out`, entry_bytes each, little-endian as stored. Checks the hash of
 * each page of 4 KiB that is read. Returns LEAT_E_RANGE, _CHECKSUM (`err` names file and page), _TRUNCATED, _IO.
 */
LEAT_API enum leat_status leat_column_read(const struct leat_column *c, uint64_t first, uint64_t count, void *out,
                                           struct leat_error *err);

/*
 * Points *view at entries [first, first + count), as leat_dataset_view() does for tokens: without checking hashes. In a
 * list, they must lie in one part, whose texts have the numbers of the list.
 * leat_view_release() must come before leat_column_close(). Returns LEAT_E_RANGE, _NOT_MAPPED or _UNSUPPORTED.
 */
LEAT_API enum leat_status leat_column_view(const struct leat_column *c, uint64_t first, uint64_t count,
                                           struct leat_view *view, struct leat_error *err);

/* Finds text `number` of a category: UTF-8, without a NUL, valid until the column is closed. Returns LEAT_E_RANGE. */
LEAT_API enum leat_status leat_column_text(const struct leat_column *c, uint64_t number, const char **text,
                                           uint64_t *bytes, struct leat_error *err);

/* ---- Attaching --------------------------------------------------------------------------------------------------- */

struct leat_column_options {
    size_t size;
    const char *name; /* letters of ASCII, digits, _ and -, not - at its beginning; "partial" is not allowed */
    uint32_t type;    /* enum leat_column_type */
    uint32_t width;   /* 1 to LEAT_COLUMN_MAX_WIDTH */
    uint32_t at;      /* enum leat_column_at; a category must be per document */
    uint32_t force;   /* 1: replaces a column of this name, whatever dataset it belongs to */
    uint64_t part;    /* number of the part that is attached, from 0; see leat_column_commit() */
    uint64_t parts;   /* number of parts; 0: the whole column is attached */
};
#define LEAT_COLUMN_OPTIONS_INIT { sizeof(struct leat_column_options), NULL, 0, 1, 0, 0, 0, 0 }

/*
 * Adds a column to a finished dataset of one part, which must stay open meanwhile. The values go to files under other
 * names, which get their own in leat_column_writer_finish(): then, and also if the process is killed at any time, the
 * column is there and complete, or it is not there; one that is replaced may be gone after a kill.
 * leat_column_writer_finish() frees the writer on success; after a failure of any call, or to give up,
 * leat_column_writer_abandon() removes the files and frees it.
 * Returns LEAT_E_ARGUMENT, _EXISTS (hint: replace), _BUSY (another process attaches it), _UNSUPPORTED as
 * leat_column_open(), _NOT_FOUND (the dataset does not know its documents), _NO_SPACE, _PERMISSION, _IO, _NO_MEMORY.
 */
struct leat_column_writer;
LEAT_API enum leat_status leat_column_writer_open(struct leat_column_writer **out, const struct leat_dataset *d,
                                                  const struct leat_column_options *options, struct leat_error *err);

/*
 * Appends `entries` entries, of `width` values each, as numbers of this machine of the type `from`; a category takes
 * LEAT_COLUMN_U16. Values are converted exactly, except that a float becomes the nearest float of the column's type.
 * Returns LEAT_E_ARGUMENT, with the place of the value, for one that the column's type does not hold: an integer out of
 * range, or one that the float type would round; a fraction, NaN or infinity for an integer; a finite float that would
 * become infinity. LEAT_E_RANGE: more entries than the dataset has.
 */
LEAT_API enum leat_status leat_column_writer_add(struct leat_column_writer *w, const void *values, uint64_t entries,
                                                 uint32_t from, struct leat_error *err);

/* Sets the texts of a category, once, before finishing: text i is bytes [ends[i - 1], ends[i]) of `text`, [0, ends[0])
 * the first. Returns LEAT_E_ARGUMENT for texts that are not UTF-8, too many or more than 64 MiB. */
LEAT_API enum leat_status leat_column_writer_texts(struct leat_column_writer *w, const char *text,
                                                   const uint64_t *ends, uint64_t count, struct leat_error *err);

/* Completes the column. Returns LEAT_E_RANGE for too few entries, LEAT_E_ARGUMENT for numbers of texts that are not
 * there, or what else leat_column_writer_open() returns. */
LEAT_API enum leat_status leat_column_writer_finish(struct leat_column_writer *w, struct leat_error *err);
LEAT_API void leat_column_writer_abandon(struct leat_column_writer *w); /* NULL is fine */

/*
 * Says which documents part `part` of `parts` has: documents of about info.tokens / parts tokens, one after another.
 * It begins with the first document that starts at token info.tokens * part / parts (rounded down) or after it; part 0
 * begins with the first document, and the last part ends with the last one. A part may have no documents.
 * Returns LEAT_E_ARGUMENT, or LEAT_E_NOT_FOUND if the dataset does not know its documents.
 */
LEAT_API enum leat_status leat_column_range(const struct leat_dataset *d, uint64_t part, uint64_t parts,
                                            uint64_t *first, uint64_t *count, struct leat_error *err);

/*
 * Makes a column of its parts, each of which a process has attached: leat_column_options.parts and .part, with values
 * for the documents of leat_column_range() or their tokens. Parts with no documents are attached, too. They are read,
 * checked and copied to the column, which appears as with leat_column_writer_finish(), and then removed; `force` 1
 * replaces a column.
 * Returns LEAT_E_NOT_FOUND for a missing part, LEAT_E_MISMATCH for a part of another dataset, LEAT_E_INCOMPATIBLE for
 * parts of different types, widths or places, or what leat_column_open() and leat_column_writer_open() return.
 */
LEAT_API enum leat_status leat_column_commit(const struct leat_dataset *d, const char *name, uint64_t parts,
                                             uint32_t force, struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
