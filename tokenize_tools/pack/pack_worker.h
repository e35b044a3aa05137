/*
 * pack_worker.h: a thread's own memory while it turns units into ids, and the steps of that: scan (find the texts in
 * the records), then encode.
 */
#ifndef LEAT_PACK_WORKER_H
#define LEAT_PACK_WORKER_H

#include "base/buffer.h"
#include "pack_setup.h"
#include "unit.h"

struct pack_worker {
    struct pack_setup *setup;
    struct leat_encoder *encoder;
    struct buffer text;     /* what a unit reads itself */
    struct buffer repaired; /* a text whose malformed UTF-8 has been replaced */
    struct buffer narrow;   /* ids on their way to a spool */
};

enum leat_status pack_worker_make(struct pack_worker *w, struct pack_setup *setup, struct leat_error *err);
void pack_worker_free(struct pack_worker *w);

/*
 * Does all that a unit needs until it can be written. `fd` is the open file of a UNIT_RANGE or UNIT_COUNT. Failures stay
 * in the unit.
 */
void pack_worker_run(struct pack_worker *w, struct unit *u, int fd);

/* CPU time of the calling thread. */
uint64_t pack_cpu_ns(void);

/* ---- Its steps, each in a file of its own ---- */

/* unit_range.c: reads a range of a plain file and finds the lines that begin in it. */
enum leat_status unit_read_range(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err);

/* unit_scan.c: the records of whole lines, at `text`, whose first byte is at `offset` of the input. */
enum leat_status unit_scan(struct pack_worker *w, struct unit *u, char *text, size_t bytes, uint64_t offset,
                           struct leat_error *err);

/* unit_encode.c: encodes the texts that scanning found, at `text`. */
enum leat_status unit_encode(struct pack_worker *w, struct unit *u, const char *text, struct leat_error *err);

/* Encodes one text into document `d` of the unit: its ids come behind all others there. *refused: it was rejected. */
enum leat_status unit_encode_text(struct pack_worker *w, struct unit *u, struct unit_document *d, const char *text,
                                  size_t bytes, bool malformed, bool *refused, struct leat_error *err);

/* LEAT_E_TEXT, with the sentence on a text whose first `valid` bytes only are UTF-8. */
enum leat_status unit_say_malformed(uint64_t valid, struct leat_error *err);

/* Why a text is refused whose piece needs too much memory: without numbers, which would differ with the threads. */
#define UNIT_PIECE_REASON                                                                                              \
    "a stretch of the text cannot be cut, and needs more memory than is allowed for one (a quarter of the bound)"

/* Appends ids in the stored width. */
enum leat_status unit_put_ids(const struct pack_setup *setup, struct buffer *to, const uint32_t *ids, uint64_t count,
                              struct leat_error *err);

/* unit_files.c: inputs that are one text each. */
enum leat_status unit_read_files(struct pack_worker *w, struct unit *u, struct leat_error *err);

/* long_text.c: a text that comes in parts, for what does not fit in memory. `next` gives the parts, of at most
 * LONG_PART bytes; *count 0 is the end. What it finds wrong with the text it returns as LEAT_E_TEXT. */
#define LONG_PART ((size_t)1 << 18)
typedef enum leat_status long_text_next(void *context, const uint8_t **bytes, size_t *count, struct leat_error *err);
enum leat_status long_text_encode(struct pack_worker *w, struct unit *u, struct unit_document *d, long_text_next *next,
                                  void *context, bool *refused, struct leat_error *err);

/* long_record.c: a record of JSON lines, which begins at `offset` of the input and lies at [at, at + bytes) of an open
 * file; it becomes the unit's last document, or a reject. `line`: line ends in the unit before it. */
enum leat_status long_record_encode(struct pack_worker *w, struct unit *u, int fd, uint64_t at, uint64_t bytes,
                                    uint64_t offset, uint64_t line, struct leat_error *err);

#endif
