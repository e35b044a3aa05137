/*
 * unit.h: a unit, which is what travels through the packer: first a stretch of an input that starts and ends at
 * records; then what it became: the ids of documents in the stored width, and rejected records. A unit has one owner
 * at a time, so nothing here locks. Units are used again, so that their memory is.
 */
#ifndef LEAT_PACK_UNIT_H
#define LEAT_PACK_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "checksum/checksum.h"
#include "corpus/json/json_records.h"
#include "corpus/streams/byte_stream.h"
#include "documents.h"
#include "leat_pack.h"
#include "private.h"

struct csv_header;
struct parquet_loan;
struct unit_kind;

/* The steps on which a run spends its time. */
enum pack_step { PACK_STEP_READ, PACK_STEP_SCAN, PACK_STEP_ENCODE, PACK_STEP_WRITE, PACK_STEP_COUNT };

/* The part of an input that could not be read, since the input is cut off or broken. */
struct unit_damage {
    struct stretch why;    /* a sentence in docs.strings; without bytes: there is no damage */
    struct stretch reason; /* a sentence there for the dataset, without what differs between versions of libraries */
    uint64_t offset;       /* place up to which the input was read */
    uint64_t unread;       /* number of bytes that were not read; LEAT_NONE: not known */
};

/* Facts about an input that are known when its last unit has been written. */
struct unit_end {
    size_t input;
    uint64_t size; /* size of the file as it lay on disk */
    struct unit_damage damage;
    bool has_sum; /* true if `sum` is that of the whole input; otherwise the sums of its units add up to it */
    struct hash128 sum;
};

struct unit {
    const struct unit_kind *kind; /* unit_kinds.h */
    size_t input, input_end;      /* places in the list of inputs */
    uint64_t offset, length;
    struct byte_mark mark; /* a place at which a stream can begin in order to come to `offset` */
    struct buffer text;    /* bytes that cutting has read */
    struct spool record;   /* a record or text that does not fit in memory, in place of `text` */

    struct documents docs;

    struct unit_output {
        struct leat_documents ready; /* all documents as the writer takes them, unless some are spooled; set by
                                        unit_make_ready() */
        struct leat_origin *origins;
        uint64_t *lengths;
        size_t room; /* of these */
        struct leat_place place;
        struct buffer values; /* values of all documents for columns */
        uint64_t values_at;   /* their place in the writer's stream */
        bool placed, any_spooled;
    } out;

    struct { /* for records of JSON that are not in lines */
        enum json_layout layout;
        uint64_t lead_lines; /* line ends in the unit before a record that is too big for memory */
    } array;
    struct {                             /* of CSV */
        const struct csv_header *header; /* header of the table, which the lane owns; NULL: not a table */
        uint64_t record, lead_lines;     /* place of the record in the file; line ends in the unit before it */
        uint64_t lost_lines;             /* number of line ends in what cutting rejected */
    } csv;
    struct {                       /* for rows of a Parquet file */
        uint64_t groups;           /* number of row groups that end in this unit */
        struct unit_damage damage; /* the first damage, with the number of all bytes that were not read */
        struct parquet_loan *page; /* page in which its texts lie; NULL: they lie in `text` */
    } rows;

    uint64_t newlines;
    uint64_t disk_bytes;   /* bytes of the input that this unit stands for; progress counts them */
    struct hash128 sum;    /* page sum of the pages that begin in the unit */
    struct unit_end *ends; /* facts about the inputs that end in this unit */
    size_t end_count, end_room;
    uint64_t spent_ns[PACK_STEP_COUNT]; /* CPU time */

    enum leat_status status; /* status of the unit; if it is not LEAT_OK, the work cannot go on, and `error` says why */
    struct leat_error error;

    struct {               /* of the flow */
        bool turn;         /* true if all inputs before its own were written when a thread began to encode it */
        bool later;        /* true if it is put off until its turn, since it needs more memory than is free */
        bool taken, done;  /* taken: a thread encodes it, or has; done: it is encoded */
        uint64_t reserved; /* memory that the packer counts for it */
    } flow;
    struct unit *next;
};

struct unit *unit_new(void); /* NULL: no memory */
void unit_free(struct unit *u);

/* Empties a unit for another use; buffers that grew beyond `keep_bytes` are freed. */
void unit_clear(struct unit *u, size_t keep_bytes);

/* Frees the bytes that cutting has read, once documents have their ids. */
void unit_free_text(struct unit *u);

/* Returns the memory that the buffers hold. */
uint64_t unit_bytes(const struct unit *u);

/* Adds an input that ends here. Returns NULL with `err` filled if there is no memory. */
struct unit_end *unit_add_end(struct unit *u, size_t input, uint64_t size, struct leat_error *err);

/*
 * Adds the end of an input that was read to the end of `stream`, or up to where it is damaged (NULL: nowhere). If
 * `reason` is not NULL, the damage is in the text, whose bytes it counts, and this is the reason for the dataset;
 * otherwise the damage is in the stream.
 */
enum leat_status unit_end_stream(struct unit *u, size_t input, const struct byte_stream *stream,
                                 const struct leat_error *damage, const char *reason, struct leat_error *err);

/* Keeps both sentences of a damage. */
enum leat_status unit_keep_damage(struct unit *u, struct unit_damage *d, const char *why, const char *reason,
                                  struct leat_error *err);

/* Sets what the writer takes of the documents. Nothing that they point to may move afterwards. */
enum leat_status unit_make_ready(struct unit *u, bool ids_wide, struct leat_error *err);

#endif
