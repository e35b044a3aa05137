/*
 * column.h: the values of a column in a row group: its pages one after another, of which one is in memory.
 */
#ifndef LEAT_PARQUET_COLUMN_H
#define LEAT_PARQUET_COLUMN_H

#include "footer.h"
#include "page.h"
#include "values.h"

/* Memory that all columns of a reader share. */
struct column_memory {
    struct block packed;         /* a page as it is stored in the file */
    uint64_t held;               /* bytes of all blocks */
    atomic_uint_least64_t *left; /* bytes that blocks have left to borrowers; NULL if the reader does not lend */
    uint64_t limit;              /* limit of both sums together */
    bool may_map;                /* true if pages that go beyond the limit may lie in files */
    bool maps;                   /* true if the page that is loaded next lies in a file */
    uint64_t needs;              /* bytes that the next page needs, or the page that was refused */
    bool outgrew;                /* true if a page was refused */
};

/* Returns the bytes that count: memory that is held, or was left to borrowers. */
static inline uint64_t column_memory_all(const struct column_memory *m)
{
    return m->held + (m->left ? atomic_load(m->left) : 0);
}

struct column {
    const struct parquet_file *file;
    const struct parquet_column *what;
    const struct codec *codec;
    void *codec_state;
    struct column_memory *memory;
    struct window *window;
    char name[200]; /* for messages */

    uint64_t next; /* place of the next page */
    uint64_t left; /* number of values in later pages */
    uint64_t here; /* number of values that are left in this page */
    uint64_t pass; /* number of values to skip first; whole pages are skipped without decompressing them */
    struct page page;
    bool ahead;          /* true if `page` is the next one, of which only the header was read */
    uint32_t repetition; /* repetition level of the next value of this page */

    struct block bytes; /* the decompressed page */
    uint64_t used;      /* bytes used since blocks in files rested */
    struct rle repetitions, definitions;
    struct values values;
    struct block held;
    struct dictionary dictionary;
    struct block dictionary_bytes, places;
};

/* The place at which reading a column begins. */
struct column_place {
    uint64_t group;
    unsigned number; /* number of the column in the file */
    uint64_t row;    /* first row of the group to read, which must exist */
};

/* Opens a column of `source`; `c` is zeroed. column_close() must follow, on failure too. */
enum leat_status column_open(struct column *c, const struct parquet_file *file, const struct parquet_source *source,
                             const struct column_place *at, struct column_memory *memory, struct leat_error *err);
void column_close(struct column *c);

/* Loads the next page if no value is left to take. Returns LEAT_E_NO_MEMORY, and changes nothing, if it is too
 * large. */
enum leat_status column_load(struct column *c, struct leat_error *err);

/* A value, or a null, with its levels. */
struct column_entry {
    uint32_t repetition, definition;
    struct parquet_value value;
};

/* Lets blocks in files leave memory. */
void column_rest(const struct column *c);

/* Counts bytes that were used, and calls column_rest() after a stretch of them. */
void column_used(struct column *c, size_t bytes);

/* Takes an entry of the loaded page. */
enum leat_status column_next(struct column *c, struct column_entry *entry, struct leat_error *err);

/* Returns true if all entries of the row group were taken. */
static inline bool column_ended(const struct column *c)
{
    return c->here == 0 && c->left == 0;
}

/* Takes the repetition level of the page's next value. Returns a sentence about what is wrong with it, or NULL. */
const char *column_repeat(struct column *c);

/* Fills the error about a broken page, and returns LEAT_E_TEXT. */
enum leat_status column_broken(const struct column *c, const char *why, struct leat_error *err);

#endif
