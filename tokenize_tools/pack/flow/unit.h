/*
 * unit.h: what travels through the packer: a stretch of an input that starts and ends at records, then what it became:
 * the ids of documents in the stored width, and rejected records. A unit has one owner at a time, so nothing here
 * locks. Units are used again, to use their memory again.
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

/* What a run spends its time on. */
enum pack_step { PACK_STEP_READ, PACK_STEP_SCAN, PACK_STEP_ENCODE, PACK_STEP_WRITE, PACK_STEP_COUNT };

/* What could not be read of an input that is cut off or broken. */
struct unit_damage {
    struct stretch why;    /* a sentence, in docs.strings; without bytes: there is no damage */
    struct stretch reason; /* likewise, as the dataset has it: without what differs between versions of libraries */
    uint64_t offset;       /* so far it was read */
    uint64_t unread;       /* bytes that were not; LEAT_NONE: not known */
};

/* What is known of an input when its last unit has been written. */
struct unit_end {
    size_t input;
    uint64_t size; /* as it lay on disk */
    struct unit_damage damage;
    bool has_sum; /* `sum` is that of the whole input; else those of its units add up to it */
    struct hash128 sum;
};

struct unit {
    const struct unit_kind *kind; /* unit_kinds.h */
    size_t input, input_end;      /* places in the list of inputs */
    uint64_t offset, length;
    struct byte_mark mark; /* where a stream can go on so that it comes to `offset` */
    struct buffer text;    /* what cutting read; or: */
    struct spool record;   /* one record or text that does not fit in memory */

    struct documents docs;

    struct unit_output {
        struct leat_documents ready; /* for the writer, by unit_make_ready(): all documents, unless some are spooled */
        struct leat_origin *origins;
        uint64_t *lengths;
        size_t room; /* of these */
        struct leat_place place;
        bool placed, any_spooled;
    } out;

    struct { /* of records of JSON that are not lines */
        enum json_layout layout;
        uint64_t lead_lines; /* of one too big for memory: line ends in the unit before it */
    } array;
    struct {                             /* of CSV */
        const struct csv_header *header; /* the lane's; NULL: not a table */
        uint64_t record, lead_lines;     /* where the one in a file begins; line ends in the unit before it */
        uint64_t lost_lines;             /* line ends in what cutting rejected */
    } csv;
    struct {                       /* of a Parquet file */
        uint64_t groups;           /* row groups that end here */
        struct unit_damage damage; /* the first one's, and all bytes that were not read */
        struct parquet_loan *page; /* that its texts lie in, in place of `text`; NULL: there */
    } rows;

    uint64_t newlines;
    uint64_t disk_bytes;   /* of the input that this unit stands for: what progress counts */
    struct hash128 sum;    /* page sum of the pages that begin in the unit */
    struct unit_end *ends; /* of the inputs that end here */
    size_t end_count, end_room;
    uint64_t spent_ns[PACK_STEP_COUNT]; /* CPU time */

    enum leat_status status; /* not LEAT_OK: the work cannot go on, `error` says why */
    struct leat_error error;

    struct {               /* of the flow */
        bool turn;         /* all inputs before its own were written when a thread began to encode it */
        bool later;        /* it is not its turn, and it needs more memory than others leave it */
        bool taken, done;  /* a thread encodes it; it is encoded */
        uint64_t reserved; /* memory that the packer counts for it */
    } flow;
    struct unit *next;
};

struct unit *unit_new(void); /* NULL: no memory */
void unit_free(struct unit *u);

/* Empties it for another use; buffers that grew beyond `keep_bytes` are freed. */
void unit_clear(struct unit *u, size_t keep_bytes);

/* Frees what cutting has read, once documents have their ids. */
void unit_free_text(struct unit *u);

/* Memory that its buffers hold. */
uint64_t unit_bytes(const struct unit *u);

/* Adds an input that ends here. NULL with `err` filled: no memory. */
struct unit_end *unit_add_end(struct unit *u, size_t input, uint64_t size, struct leat_error *err);

/* The end of an input that was read to the end of `stream`, or up to where it is damaged (NULL: nowhere). `reason`: the
 * damage is in the text, whose bytes it counts, and this is the dataset's reason; NULL: it is in the stream. */
enum leat_status unit_end_stream(struct unit *u, size_t input, const struct byte_stream *stream,
                                 const struct leat_error *damage, const char *reason, struct leat_error *err);

/* Keeps both sentences of a damage. */
enum leat_status unit_keep_damage(struct unit *u, struct unit_damage *d, const char *why, const char *reason,
                                  struct leat_error *err);

/* Fills in what the writer takes of the documents. Nothing that they point to may move afterwards. */
enum leat_status unit_make_ready(struct unit *u, bool ids_wide, struct leat_error *err);

#endif
