/*
 * column.h: the values of a column in a row group: its pages one after another, of which one is in memory.
 */
#ifndef LEAT_PARQUET_COLUMN_H
#define LEAT_PARQUET_COLUMN_H

#include "footer.h"
#include "page.h"
#include "values.h"

/* What all columns of a reader share. */
struct column_memory {
    struct block packed;         /* a page as it lies in the file */
    uint64_t held;               /* by all blocks */
    atomic_uint_least64_t *left; /* to those that these were lent to; NULL: the reader does not lend */
    uint64_t limit;              /* for them */
    bool may_map, maps;          /* what is over it may lie in files; the page that is loaded next does */
    uint64_t needs;              /* by the page that is loaded next, or was refused */
    bool outgrew;                /* a page was refused */
};

/* What is counted: memory that is held, or was left to others. */
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

    uint64_t next; /* where the next page begins */
    uint64_t left; /* values of pages to come */
    uint64_t here; /* values of this page to come */
    uint64_t pass; /* so many are to be passed over first: whole pages without decompressing them */
    struct page page;
    bool ahead;          /* `page` is the next one: its header was read, its values not yet */
    uint32_t repetition; /* of the next value of this page */

    struct block bytes; /* of the page, decompressed */
    uint64_t used;      /* of bytes in files, since they rested */
    struct rle repetitions, definitions;
    struct values values;
    struct block held;
    struct dictionary dictionary;
    struct block dictionary_bytes, places;
};

/* Begins with a row that the group has, read from `source`; `c` is zeroed. After a failure it must be closed, too. */
struct column_place {
    uint64_t group;
    unsigned number; /* of the column in the file */
    uint64_t row;    /* of the group; those before it are passed over */
};
enum leat_status column_open(struct column *c, const struct parquet_file *file, const struct parquet_source *source,
                             const struct column_place *at, struct column_memory *memory, struct leat_error *err);
void column_close(struct column *c);

/* Loads the next page if there is no value left to take; a page that is too large is LEAT_E_NO_MEMORY, and nothing has
 * changed. */
enum leat_status column_load(struct column *c, struct leat_error *err);

/* A value, or a null, with its levels. */
struct column_entry {
    uint32_t repetition, definition;
    struct parquet_value value;
};

/* What of it lies in files leaves memory; and does so after some use. */
void column_rest(const struct column *c);
void column_used(struct column *c, size_t bytes);

/* Takes an entry of the loaded page. */
enum leat_status column_next(struct column *c, struct column_entry *entry, struct leat_error *err);

/* Whether all entries of the row group were taken. */
static inline bool column_ended(const struct column *c)
{
    return c->here == 0 && c->left == 0;
}

/* Takes the repetition level of the page's next value; returns what is wrong with it, or NULL. */
const char *column_repeat(struct column *c);

/* LEAT_E_TEXT for the page. */
enum leat_status column_broken(const struct column *c, const char *why, struct leat_error *err);

#endif
