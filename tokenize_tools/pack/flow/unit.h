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
#include "leat_pack.h"
#include "spool.h"

struct unit_kind;

/* What a run spends its time on. */
enum pack_step { PACK_STEP_READ, PACK_STEP_SCAN, PACK_STEP_ENCODE, PACK_STEP_WRITE, PACK_STEP_COUNT };

/* A stretch of one of the unit's buffers. */
struct stretch {
    size_t begin, bytes;
};

/* The first is what a new document has; who encodes it looks then. */
enum unit_utf8 { UNIT_UTF8_UNKNOWN, UNIT_UTF8_VALID, UNIT_UTF8_MALFORMED };

struct unit_document {
    uint64_t input;      /* its place in the list of inputs; LEAT_NONE: none */
    uint64_t offset;     /* in the input */
    uint64_t line;       /* line ends in the unit before it; LEAT_NONE: not of lines */
    struct stretch text; /* in the text, until it is encoded */
    enum unit_utf8 utf8; /* whether the text is UTF-8 */
    uint64_t malformed;  /* parts of it that are not UTF-8: each is replaced by one U+FFFD */
    struct stretch id;   /* in `strings` */
    uint64_t tokens;     /* in `tokens` or, if it is spooled, in `spooled`, after those of the documents before */
    bool spooled;
    uint8_t hash[16];     /* XXH3-128 of its text */
    bool encoded;         /* scanning has encoded it: it has no text */
    bool masked;          /* only its spans are learned */
    struct stretch spans; /* in `spans`: struct leat_span, in bytes of its text; of a row's conversation, its tools */
};

struct unit_reject {
    uint64_t input, offset, line;  /* as above */
    size_t place;                  /* of the record or its text in the unit's text: rejects lie in this order */
    struct stretch reason, sample; /* in `strings` */
    uint64_t lost;                 /* records after it that are lost with it, and count as rejects, too */
};

/* What could not be read of an input that is cut off or broken. */
struct unit_damage {
    struct stretch why;    /* a sentence, in `strings`; without bytes: there is no damage */
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
    struct buffer text;
    struct spool record;

    struct unit_document *documents;
    size_t document_count, document_room;
    struct unit_reject *rejects;
    size_t reject_count, reject_room;
    struct buffer strings;
    struct buffer spans;
    struct buffer mask;          /* a byte for each of `tokens`, if the run stores a mask */
    struct buffer tokens;        /* as the token file holds them, but in this machine's byte order */
    struct leat_documents ready; /* for the writer, by unit_make_ready(): all documents, unless some are spooled */
    struct leat_origin *origins;
    uint64_t *lengths;
    size_t ready_room;
    struct leat_place place;
    bool placed, any_spooled;
    uint64_t malformed;   /* in all documents */
    struct spool spooled; /* ids of documents that do not fit in memory */

    uint64_t newlines, text_bytes, special_strings;
    enum json_layout layout;   /* of JSON that is not lines */
    uint64_t lead_lines;       /* of a record of it, too big for memory: line ends in the unit before it */
    uint64_t not_json;         /* documents whose record has a NaN or an infinity */
    uint64_t kept_out;         /* records for which a condition of the run does not hold */
    uint64_t row_groups;       /* of a Parquet file, that end here */
    uint64_t disk_bytes;       /* of the input that this unit stands for: what progress counts */
    struct hash128 sum;        /* page sum of the pages that begin in the unit */
    struct unit_damage damage; /* of row groups: the first one's, and all bytes that were not read */
    struct unit_end *ends;     /* of the inputs that end here */
    size_t end_count, end_room;
    uint64_t spent_ns[PACK_STEP_COUNT]; /* CPU time */

    enum leat_status status; /* not LEAT_OK: the work cannot go on, `error` says why */
    struct leat_error error;
    bool turn;         /* all inputs before its own were written when a thread began to encode it */
    bool later;        /* it is not its turn, and it needs more memory than others leave it */
    bool taken, done;  /* a thread encodes it; it is encoded */
    uint64_t reserved; /* memory that the packer counts for it */
    struct unit *next;
};

struct unit *unit_new(void); /* NULL: no memory */
void unit_free(struct unit *u);

/* Empties it for another use; buffers that grew beyond `keep_bytes` are freed. */
void unit_clear(struct unit *u, size_t keep_bytes);

/* Memory that its buffers hold. */
uint64_t unit_bytes(const struct unit *u);

/* Adds one, zeroed except for what is given. NULL with `err` filled: no memory. */
struct unit_document *unit_add_document(struct unit *u, struct leat_error *err);
struct unit_end *unit_add_end(struct unit *u, size_t input, uint64_t size, struct leat_error *err);

/* The end of an input that was read to the end of `stream`, or up to where it is damaged (NULL: nowhere). `reason`: the
 * damage is in the text, whose bytes it counts, and this is the dataset's reason; NULL: it is in the stream. */
enum leat_status unit_end_stream(struct unit *u, size_t input, const struct byte_stream *stream,
                                 const struct leat_error *damage, const char *reason, struct leat_error *err);

/* Keeps both sentences of a damage. */
enum leat_status unit_keep_damage(struct unit *u, struct unit_damage *d, const char *why, const char *reason,
                                  struct leat_error *err);

/* A record is rejected; the sample is cut to UNIT_SAMPLE bytes. */
#define UNIT_SAMPLE 200
enum leat_status unit_reject(struct unit *u, uint64_t input, uint64_t offset, uint64_t line, const char *reason,
                             const void *record, size_t bytes, struct leat_error *err);

/* The same for what is or would be a document. */
enum leat_status unit_reject_document(struct unit *u, const struct unit_document *d, const char *reason,
                                      const void *record, size_t bytes, struct leat_error *err);

/* Fills in what the writer takes of the documents. Nothing that they point to may move afterwards. */
enum leat_status unit_make_ready(struct unit *u, bool ids_wide, struct leat_error *err);

/* Puts rejects in the order of their places: the order of what scanning and encoding refuse must not depend on where
 * units start. */
void unit_sort_rejects(struct unit *u);

/* The bytes of a stretch of `strings`; never NULL. */
static inline const void *unit_string(const struct unit *u, struct stretch where)
{
    return where.bytes > 0 ? (const void *)(u->strings.bytes + where.begin) : "";
}

/* Keeps an id, and before it, with a zero byte, the value that the document's dataset is chosen by. */
enum leat_status unit_keep_by(struct unit *u, const void *value, size_t value_bytes, const void *id, size_t bytes,
                              struct stretch *where, struct leat_error *err);

/* Copies a string to `strings`. */
enum leat_status unit_keep(struct unit *u, const void *bytes, size_t count, struct stretch *where,
                           struct leat_error *err);

#endif
