/* writer.h: writes a dataset. */
#ifndef LEAT_PUBLIC_WRITER_H
#define LEAT_PUBLIC_WRITER_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Writing a dataset ------------------------------------------------------------------------------------------ */

struct leat_writer;

struct leat_writer_options {
    size_t size;
    uint64_t vocabulary;  /* 1 to 2^32; decides the width: two bytes up to 65,536 entries, else four */
    uint64_t end_token;   /* token appended to each document; LEAT_NONE: none. _INIT: LEAT_NONE */
    uint64_t begin_token; /* token put before each document; LEAT_NONE: none. _INIT: LEAT_NONE */
    const struct leat_stored_tokenizer *tokenizer; /* tokenizer to store in the index; NULL: none. The call copies it */
    const uint8_t *fingerprint; /* 16 bytes; NULL: a hash of the stored tokenizer */
    uint64_t created;           /* seconds since 1970; 0: not recorded, so that the same content gives the same bytes */
    uint32_t force;             /* 1: finishing replaces an existing dataset; 0: opening returns LEAT_E_EXISTS */
    uint32_t store_lines;       /* 1: store a line number for each document */
    uint32_t store_ids;         /* 1: store an id string for each document */
    uint32_t store_hashes;      /* 1: store a hash of each document's text */
    /* If not NULL: called about ten times per second while leat_writer_resume() reads back what was written, with the
     * bytes done. Nonzero stops that (LEAT_E_STOPPED); the run can still be resumed. */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    uint32_t store_mask; /* 1: store a mask: a byte for each token, see leat_dataset_mask() */
    uint32_t reserved; /* 0 */
};
#define LEAT_WRITER_OPTIONS_INIT                                                                                       \
    { sizeof(struct leat_writer_options), 0, LEAT_NONE, LEAT_NONE, NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL, 0, 0 }

/*
 * Starts a dataset `name` (NAME, NAME.leat or NAME.tokens; NAME must not end in a dot or in .partial). Its folder must
 * exist. Until leat_writer_finish(), everything is in files named NAME.partial.*, locked against a second writer.
 * Removes the leftovers of a killed run; but if they hold a checkpoint and `force` is 0, returns LEAT_E_EXISTS. Memory
 * stays within about 20 MiB, plus 100 bytes and the path of each input, for any number of documents.
 * Returns LEAT_E_ARGUMENT, _UNSUPPORTED (the name is a URL), _EXISTS, _BUSY, _NO_FILE (the folder), _PERMISSION,
 * _NO_SPACE, _IO or _NO_MEMORY.
 *
 * Where the process has a limit on the size of files (RLIMIT_FSIZE), writing beyond it is LEAT_E_NO_SPACE if the
 * program ignores SIGXFSZ, as Python does; else the system ends the program by that signal.
 *
 * If a call fails, the writer fails: every later call returns the same status, until leat_writer_suspend() or
 * leat_writer_abandon() ends it. Exceptions are LEAT_E_ARGUMENT, LEAT_E_STATE, and LEAT_E_TOKEN of leat_writer_add().
 */
LEAT_API enum leat_status leat_writer_open(struct leat_writer **out, const char *name,
                                           const struct leat_writer_options *options, struct leat_error *err);

/* Declares an input with the next number, and sets *number (may be NULL) to it. Stores `path` as given. */
LEAT_API enum leat_status leat_writer_add_input(struct leat_writer *w, const char *path, uint64_t *number,
                                                struct leat_error *err);

/* Sets an input's bytes, rejects and hash. Ignores its documents, tokens and path_bytes: the writer counts them. */
LEAT_API enum leat_status leat_writer_set_input(struct leat_writer *w, uint64_t number, const struct leat_input *input,
                                                struct leat_error *err);

/* Whole documents. */
struct leat_documents {
    size_t size;
    const void *ids;         /* ids of all documents, one after another: uint16_t or uint32_t, see id_width */
    const uint64_t *lengths; /* how many ids each document has */
    const struct leat_origin *origins; /* origin of each document; NULL: no document has an input */
    uint64_t count;                    /* number of documents */
    uint64_t first_line;               /* added to the line of each origin that has one */
    uint32_t id_width;                 /* 2 or 4 bytes */
    uint32_t reserved;                 /* 0 */
    const uint8_t *mask;               /* a byte for each id, with `store_mask`: see leat_dataset_mask(); NULL: 255 */
};
#define LEAT_DOCUMENTS_INIT                                                                                            \
    { sizeof(struct leat_documents), NULL, NULL, NULL, 0, 0, 0, 0, NULL }

/*
 * Adds documents: the ids of each, between the options' begin and end token. A length of 0 makes a document too. The
 * begin token gets the mask of the document's first id, and the end token that of the last; of a document without ids,
 * 255.
 * Returns LEAT_E_TOKEN for an id that is not below the vocabulary size, and LEAT_E_ARGUMENT for an origin in an input
 * that was not declared, and for a mask without `store_mask`; and then writes none of the documents.
 */
LEAT_API enum leat_status leat_writer_add(struct leat_writer *w, const struct leat_documents *documents,
                                          struct leat_error *err);

/*
 * Writes a document in pieces, if it does not fit in memory: any number of appends, then the end. Ids have `id_width` 2
 * or 4 bytes, and a byte of the mask each (NULL: 255). An id out of range makes the writer fail, since part of the
 * document is already written. `origin` may be NULL (from no input).
 */
LEAT_API enum leat_status leat_writer_append(struct leat_writer *w, const void *ids, uint32_t id_width,
                                             const uint8_t *mask, uint64_t count, struct leat_error *err);
LEAT_API enum leat_status leat_writer_end_document(struct leat_writer *w, const struct leat_origin *origin,
                                                   struct leat_error *err);

/* Sets a metadata pair. The same key again replaces its value; a NULL value removes the pair. Keys are not empty. */
LEAT_API enum leat_status leat_writer_set_metadata(struct leat_writer *w, const char *key, const char *value,
                                                   struct leat_error *err);

/* Returns how many tokens and documents have been written. */
LEAT_API uint64_t leat_writer_tokens(const struct leat_writer *w);
LEAT_API uint64_t leat_writer_documents(const struct leat_writer *w);

/*
 * Makes everything so far durable, together with `note` (the caller's own bytes: where it is in its inputs), so that
 * leat_writer_resume() can continue from here, however the run ends. LEAT_E_STATE: a document is open. If the call
 * fails, the checkpoint before it stays.
 */
LEAT_API enum leat_status leat_writer_checkpoint(struct leat_writer *w, const void *note, uint64_t note_bytes,
                                                 struct leat_error *err);

/*
 * Opens the writer at its last checkpoint, and drops what was written after it. `options` must be those of the run's
 * start, except `force`, `created` and `progress` (LEAT_E_CHECKPOINT names the difference). Reads back all that was
 * written before the checkpoint, and changes nothing unless it is intact. On success *note is the checkpoint's note,
 * freed by leat_writer_free_note(), and *note_bytes its length; `note` may be NULL.
 * Returns LEAT_E_CHECKPOINT if there is no checkpoint (without a hint), also after a run that has finished if `force`
 * is 1; if it is of another version of leat; or if a file is damaged. LEAT_E_EXISTS if the run has finished and `force`
 * is 0, or if a file has been replaced by something else, such as a link.
 */
LEAT_API enum leat_status leat_writer_resume(struct leat_writer **out, const char *name,
                                             const struct leat_writer_options *options, void **note,
                                             uint64_t *note_bytes, struct leat_error *err);
LEAT_API void leat_writer_free_note(void *note);

/*
 * Ends the writer: completes the index, makes both files durable and gives them their names, tokens first, index last,
 * so that an incomplete dataset never opens. Fills *info (may be NULL) as leat_dataset_info() does. On success it frees
 * the writer. On failure it does not: leat_writer_suspend() can then keep the checkpoint, or leat_writer_abandon()
 * remove everything.
 */
LEAT_API enum leat_status leat_writer_finish(struct leat_writer *w, struct leat_info *info, struct leat_error *err);

/* Ends and frees the writer without finishing. Keeps the last checkpoint for leat_writer_resume(); if there is none, it
 * does the same as leat_writer_abandon(). NULL is fine. */
LEAT_API void leat_writer_suspend(struct leat_writer *w);

/* Ends and frees the writer, and removes everything it wrote, with its checkpoint. An older dataset that it was to
 * replace stays, unless leat_writer_finish() had already removed it. NULL is fine. */
LEAT_API void leat_writer_abandon(struct leat_writer *w);

#ifdef __cplusplus
}
#endif
#endif
