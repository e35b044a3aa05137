/*
 * steps.h: the steps that several kinds of units have in common on the way from their bytes to ids: finding the
 * texts in records (scan), checking that they are UTF-8, encoding; and all of these for records and texts that do
 * not fit in memory.
 */
#ifndef LEAT_PACK_STEPS_H
#define LEAT_PACK_STEPS_H

#include "pack_worker.h"

/* ---- step_scan.c ---- */

/* Finds the records in whole lines at `text`, whose first byte is at `offset` of the input. */
enum leat_status step_scan(struct pack_worker *w, struct unit *u, char *text, size_t bytes, uint64_t offset,
                           struct leat_error *err);

/* Finds the text in a record, which is at `where` in `text` and at `offset` of the input. `line` is the number of
 * line ends in the unit before it. */
enum leat_status step_scan_record(struct pack_worker *w, struct unit *u, char *text, struct stretch where,
                                  uint64_t offset, uint64_t line, struct leat_error *err);

/* The reason for rejecting a record that is longer than whole_bytes, where records are read whole. */
#define STEP_WHOLE_REASON "the record has more than 4 MiB, which is too long for one with a mask"

/* A text, and the record (or file) that it is from, whose first bytes a reject has. */
struct step_text {
    const char *text;
    size_t bytes;
    const void *sample;
    size_t sample_bytes;
};

/* Turns the spans of a text that is UTF-8 into bytes of it. Sets *rejected if they do not fit; then the document was
 * rejected. */
enum leat_status step_settle_spans(struct unit *u, struct packer_document *d, const struct step_text *t, bool *rejected,
                                   struct leat_error *err);

/* Keeps the id of a document. If the run chooses datasets by a value, this value and a zero byte stand before the
 * id. */
enum leat_status step_keep_id(const struct pack_setup *setup, struct unit *u, const struct verdict *v,
                              struct packer_document *d, const void *id, size_t bytes, struct leat_error *err);

/* Keeps the id of w->record, after its text was taken. A row, and what a program gave, has its id already. */
enum leat_status step_record_id(struct pack_worker *w, struct unit *u, struct packer_document *d,
                                struct leat_error *err);

/* Appends a pair to `to`. If it is of texts, the document's span is the completion. */
enum leat_status step_join(const struct pack_setup *setup, struct unit *u, struct packer_document *d,
                           const struct record *r, struct buffer *to, struct leat_error *err);

/* Encodes w->record, a pair of texts, as the unit's last document, or rejects it. `as_read` says where it is. */
enum leat_status step_pair(struct pack_worker *w, struct unit *u, const struct packer_document *as_read,
                           struct leat_error *err);

/* Judges a record, whose spans become those of the document. Returns LEAT_E_TEXT if it is to be rejected. */
enum leat_status step_judge(const struct pack_setup *setup, struct unit *u, const struct record *r, struct verdict *v,
                            struct packer_document *d, struct leat_error *err);

/* ---- step_utf8.c: the one place where the packer looks whether a text is UTF-8, and repairs or rejects it ---- */

/* Sets d->utf8 and d->malformed. Sets *rejected if the setup rejects such a text, or too much of it is malformed. */
enum leat_status step_check_text(struct pack_worker *w, struct unit *u, struct packer_document *d,
                                 const struct step_text *t, bool *rejected, struct leat_error *err);

/* Repairs a malformed text: *text and *bytes become those of a copy, which stays until the worker repairs another
 * one. *malformed (may be NULL) becomes the number of malformed places. */
enum leat_status step_repair(struct pack_worker *w, const char **text, size_t *bytes, uint64_t *malformed,
                             struct leat_error *err);

/* A chunk of a text. */
struct step_chunk {
    const struct buffer *bytes;
    bool last;
    uint64_t before; /* bytes of the text that came earlier */

    /* The part of the chunk that is complete. Bytes at its end that may continue in the next chunk are left for
     * that, unless this is the last chunk. */
    size_t taken;     /* number of bytes of the chunk that were taken */
    const char *text; /* these bytes, checked and, if need be, repaired */
    size_t text_bytes;
    uint64_t malformed; /* the number of malformed places is added here */
};

/* Checks a chunk, and repairs it if need be. Returns LEAT_E_TEXT if the text is rejected. */
enum leat_status step_check_chunk(struct pack_worker *w, struct step_chunk *c, struct leat_error *err);

/* Checks a text at its end. Returns LEAT_E_TEXT if too much of it is malformed. */
enum leat_status step_check_share(const struct pack_setup *setup, uint64_t malformed, uint64_t bytes,
                                  struct leat_error *err);

/* ---- step_encode.c ---- */

/* Encodes the texts that scanning found at `text`. */
enum leat_status step_encode(struct pack_worker *w, struct unit *u, const char *text, struct leat_error *err);

/* Encodes one text into document `d` of the unit, whose ids follow all others there. A text that was not checked yet
 * is checked first. Sets *rejected if it was rejected. */
enum leat_status step_encode_text(struct pack_worker *w, struct unit *u, struct packer_document *d, const char *text,
                                  size_t bytes, bool *rejected, struct leat_error *err);

/* The reason for rejecting a text with a pretoken that needs too much memory. It has no numbers, since they would
 * differ with the threads. */
#define STEP_PRETOKEN_REASON                                                                                           \
    "a stretch of the text cannot be cut, and needs more memory than is allowed for one (a quarter of the bound)"

/* Applies the longest length of the run to a document of *count tokens: sets *count to how many are kept. Returns
 * LEAT_E_TEXT if it is to be rejected. */
enum leat_status step_limit(const struct pack_setup *setup, struct unit *u, uint64_t *count, struct leat_error *err);

/* ---- step_mask.c: which ids of a document training learns to predict; nothing if the run stores no mask ---- */

/* Returns what a token has in the mask that counts this much, from 0 to 1. */
static inline uint8_t step_weight(double weight)
{
    return (uint8_t)(weight * UINT8_MAX + 0.5);
}

/* Appends the mask of the ids of a text: the document's weight for those that touch a span, or for all if it has no
 * mask. Returns LEAT_E_TEXT if the ids cannot be traced to the text. */
enum leat_status step_put_mask(struct pack_worker *w, struct unit *u, const struct packer_document *d,
                               const struct step_text *t, const uint32_t *ids, uint64_t count, struct leat_error *err);

/* Appends a known mask, or 255 for each id if it is NULL. */
enum leat_status step_put_known_mask(const struct pack_setup *setup, struct unit *u, const uint8_t *mask,
                                     uint64_t count, struct leat_error *err);

/* Appends ids in the stored width. */
enum leat_status step_put_ids(const struct pack_setup *setup, struct buffer *to, const uint32_t *ids, uint64_t count,
                              struct leat_error *err);

/* ---- long_text.c: a text that comes in chunks, for what does not fit in memory ---- */

/* Gets the next chunk, of at most LONG_CHUNK bytes; *count is 0 at the end. Returns LEAT_E_TEXT if the text is
 * wrong. */
#define LONG_CHUNK ((size_t)1 << 18)
typedef enum leat_status long_text_next(void *context, const uint8_t **bytes, size_t *count, struct leat_error *err);

/* Encodes a text chunk by chunk. If it is rejected, sets *rejected, and *err says why. */
enum leat_status long_text_encode(struct pack_worker *w, struct unit *u, struct packer_document *d,
                                  long_text_next *next, void *context, bool *rejected, struct leat_error *err);

/* Gets the sample of a rejected text. If the encoder refused it, this is the one that step_encode_text() would give,
 * since memory decides which of the two functions a text takes; otherwise it is `sample`, of REJECT_SAMPLE bytes. */
void long_text_sample(const struct pack_worker *w, char *sample, size_t *bytes);

/* ---- long_record.c ---- */

/* Encodes a record of JSON lines, which lies at [at, at + bytes) of an open file. It becomes the unit's last
 * document, or a reject. `as_read` says where it is in the input. */
enum leat_status long_record_encode(struct pack_worker *w, struct unit *u, int fd, uint64_t at, uint64_t bytes,
                                    const struct packer_document *as_read, struct leat_error *err);

/* ---- step_chat.c: conversations on their way from records to ids and their masks ---- */

/*
 * Takes the conversation of w->record, to be rendered with others. `as_read` says where the record is; the bytes of
 * its values must stay until step_chat_end(). A record that is no conversation becomes a reject with the first bytes
 * of `sample`.
 */
enum leat_status step_chat_record(struct pack_worker *w, struct unit *u, const struct packer_document *as_read,
                                  const char *sample, size_t bytes, struct leat_error *err);

/* Renders and encodes all conversations that have been taken. They become the unit's last documents, or rejects. */
enum leat_status step_chat_end(struct pack_worker *w, struct unit *u, struct leat_error *err);

/* Frees the memory that a worker keeps for conversations. */
void step_chat_free(struct pack_worker *w);

/* ---- chat_text.c: a rendered conversation on its way to ids and their mask ---- */

struct chat_source {
    const struct render_answer *answer;
    struct leat_encoder *encoder, *apart; /* the first finds special tokens, the second does not */
    bool measures;                        /* true if no document is made */
};

/* Makes a renderer's answer to a conversation the unit's last document, and sets *tokens to its length. Returns
 * LEAT_E_TEXT if it is to be rejected; sets *too_big if that is because it needs more memory. */
enum leat_status chat_text_take(struct pack_worker *w, struct unit *u, const struct packer_document *as_read,
                                const struct chat_source *source, uint64_t *tokens, bool *too_big,
                                struct leat_error *err);

#endif
