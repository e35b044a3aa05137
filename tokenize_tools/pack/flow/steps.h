/*
 * steps.h: what several kinds of units have in common on the way from their bytes to ids: finding the texts in records
 * (scan), checking that they are UTF-8, encoding; and all of that for what does not fit in memory.
 */
#ifndef LEAT_PACK_STEPS_H
#define LEAT_PACK_STEPS_H

#include "pack_worker.h"

/* ---- step_scan.c ---- */

/* Finds the records in whole lines at `text`, whose first byte is at `offset` of the input. */
enum leat_status step_scan(struct pack_worker *w, struct unit *u, char *text, size_t bytes, uint64_t offset,
                           struct leat_error *err);

/* Finds the text in one of them, which is at `where` in `text` and at `offset` of the input; `line`: line ends in the
 * unit before it. */
enum leat_status step_scan_record(struct pack_worker *w, struct unit *u, char *text, struct stretch where,
                                  uint64_t offset, uint64_t line, struct leat_error *err);

/* Why a record is rejected that is longer than whole_bytes, where records are read whole. */
#define STEP_WHOLE_REASON "the record has more than 4 MiB, which is too long for one with a mask"

/* A text, and the record or whatever it is from, of which a reject has the first bytes. */
struct step_text {
    const char *text;
    size_t bytes;
    const void *sample;
    size_t sample_bytes;
};

/* Turns the spans of a text that is UTF-8 into bytes of it. *rejected: they do not fit, and it was rejected. */
enum leat_status step_settle_spans(struct unit *u, struct packer_document *d, const struct step_text *t, bool *rejected,
                                   struct leat_error *err);

/* Keeps the id of a document; before it, and a zero byte, the value that its dataset is chosen by, if the run has
 * one. */
enum leat_status step_keep_id(const struct pack_setup *setup, struct unit *u, const struct verdict *v,
                              struct packer_document *d, const void *id, size_t bytes, struct leat_error *err);

/* Judges a record, whose spans become those of the document. LEAT_E_TEXT: it is to be rejected. */
enum leat_status step_judge(const struct pack_setup *setup, struct unit *u, const struct record *r, struct verdict *v,
                            struct packer_document *d, struct leat_error *err);

/* ---- step_utf8.c: the one place where the packer looks whether a text is UTF-8, and repairs or rejects it ---- */

/* Sets d->utf8 and d->malformed. *rejected: the setup rejects such a text, or too much of it is malformed. */
enum leat_status step_check_text(struct pack_worker *w, struct unit *u, struct packer_document *d,
                                 const struct step_text *t, bool *rejected, struct leat_error *err);

/* Repairs a malformed text: *text and *bytes are then those of a copy, which stays until the worker repairs another.
 * *malformed (may be NULL): in so many places. */
enum leat_status step_repair(struct pack_worker *w, const char **text, size_t *bytes, uint64_t *malformed,
                             struct leat_error *err);

/* A chunk of a text. */
struct step_chunk {
    const struct buffer *bytes;
    bool last;
    uint64_t before; /* bytes of the text that came earlier */

    /* What there is of it: what its end leaves open is left for the next chunk, unless it is the last. */
    size_t taken;     /* bytes of the chunk, which have become: */
    const char *text; /* checked, and repaired if need be */
    size_t text_bytes;
    uint64_t malformed; /* what was malformed is added here */
};

/* Checks it, and if need be repairs it. LEAT_E_TEXT: the text is rejected. */
enum leat_status step_check_chunk(struct pack_worker *w, struct step_chunk *c, struct leat_error *err);

/* At the end of such a text: LEAT_E_TEXT if too much of it is malformed. */
enum leat_status step_check_share(const struct pack_setup *setup, uint64_t malformed, uint64_t bytes,
                                  struct leat_error *err);

/* ---- step_encode.c ---- */

/* Encodes the texts that scanning found, at `text`. */
enum leat_status step_encode(struct pack_worker *w, struct unit *u, const char *text, struct leat_error *err);

/* Encodes one text into document `d` of the unit: its ids follow all others there. A text that was not checked yet is
 * checked first. *rejected: it was rejected. */
enum leat_status step_encode_text(struct pack_worker *w, struct unit *u, struct packer_document *d, const char *text,
                                  size_t bytes, bool *rejected, struct leat_error *err);

/* Why a text is rejected whose pretoken needs too much memory: without numbers, which would differ with the threads. */
#define STEP_PRETOKEN_REASON                                                                                           \
    "a stretch of the text cannot be cut, and needs more memory than is allowed for one (a quarter of the bound)"

/* ---- step_mask.c: which ids of a document training learns to predict; nothing if the run stores no mask ---- */

/* Appends the mask of ids that a text of the unit became: 255 for those that touch a span of the document, or for all
 * if it has no mask. LEAT_E_TEXT: the ids cannot be traced to the text. */
enum leat_status step_put_mask(struct pack_worker *w, struct unit *u, const struct packer_document *d,
                               const struct step_text *t, const uint32_t *ids, uint64_t count, struct leat_error *err);

/* Appends a mask that is known, or 255 for each id (NULL). */
enum leat_status step_put_known_mask(const struct pack_setup *setup, struct unit *u, const uint8_t *mask,
                                     uint64_t count, struct leat_error *err);

/* Appends ids in the stored width. */
enum leat_status step_put_ids(const struct pack_setup *setup, struct buffer *to, const uint32_t *ids, uint64_t count,
                              struct leat_error *err);

/* ---- long_text.c: a text that comes in chunks, for what does not fit in memory ---- */

/* Gives the next chunk, of at most LONG_CHUNK bytes; *count 0 is the end. What it finds wrong with the text it returns
 * as LEAT_E_TEXT. */
#define LONG_CHUNK ((size_t)1 << 18)
typedef enum leat_status long_text_next(void *context, const uint8_t **bytes, size_t *count, struct leat_error *err);

/* *rejected: *err says why. */
enum leat_status long_text_encode(struct pack_worker *w, struct unit *u, struct packer_document *d,
                                  long_text_next *next, void *context, bool *rejected, struct leat_error *err);

/* The sample of a text that it rejected: if the encoder refused it, the one that step_encode_text() would give, since
 * the memory decides which of the two a text takes; else what `sample`, of REJECT_SAMPLE bytes, holds. */
void long_text_sample(const struct pack_worker *w, char *sample, size_t *bytes);

/* ---- long_record.c ---- */

/* Encodes a record of JSON lines, which lies at [at, at + bytes) of an open file; it becomes the unit's last document,
 * or a reject. `as_read` says where it is in the input. */
enum leat_status long_record_encode(struct pack_worker *w, struct unit *u, int fd, uint64_t at, uint64_t bytes,
                                    const struct packer_document *as_read, struct leat_error *err);

/* ---- step_chat.c: conversations on their way from records to ids and their masks ---- */

/* Takes the conversation of w->record, to be rendered with others. `as_read` says where the record is; what its values
 * point to must stay until step_chat_end(). What is no conversation becomes a reject with the first bytes of
 * `sample`. */
enum leat_status step_chat_record(struct pack_worker *w, struct unit *u, const struct packer_document *as_read,
                                  const char *sample, size_t bytes, struct leat_error *err);

/* Renders and encodes all that have been taken: they become the unit's last documents, or rejects. */
enum leat_status step_chat_end(struct pack_worker *w, struct unit *u, struct leat_error *err);

/* Frees what a worker keeps for that. */
void step_chat_free(struct pack_worker *w);

/* ---- chat_text.c: a rendered conversation on its way to ids and their mask ---- */

struct chat_source {
    const struct render_answer *answer;
    struct leat_encoder *encoder, *apart; /* which finds special tokens, and which does not */
};

/* What a renderer says of a conversation becomes the unit's last document. LEAT_E_TEXT: it is to be rejected; *too_big:
 * because it needs more memory. */
enum leat_status chat_text_take(struct pack_worker *w, struct unit *u, const struct packer_document *as_read,
                                const struct chat_source *source, bool *too_big, struct leat_error *err);

#endif
