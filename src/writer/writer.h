/*
 * writer.h: the inside of struct leat_writer. This room writes a dataset: tokens go straight to the file that becomes
 * NAME.tokens, what grows with the documents goes to spill files next to it, and finishing turns these into the index
 * and gives both files their names. What writes, checkpoints or completes the two files belongs here; reading them back
 * belongs to dataset/, the meaning of their bytes to format/.
 *
 * Its files:
 *   writer.c             open, documents, tokens
 *   writer_names.c       the files of an unfinished dataset: names, lock, leftovers
 *   writer_inputs.c      inputs and metadata
 *   writer_checkpoint.c  checkpoint and resume
 *   writer_index.c       the index, made from the spilled sections
 *   writer_finish.c      finish, suspend, abandon
 */
#ifndef LEAT_WRITER_H
#define LEAT_WRITER_H

#include <stdbool.h>
#include <sys/types.h>

#include "format/format.h"
#include "format/records.h"
#include "sink.h"

/* What grows with the dataset is spilled, each into a file of its own. */
enum writer_spill {
    SPILL_TOKENS, /* this one becomes NAME.tokens */
    SPILL_DOCUMENTS,
    SPILL_DIRECTORY,
    SPILL_PAGES,
    SPILL_ORIGINS,
    SPILL_LINES,
    SPILL_ID_ENDS,
    SPILL_IDS,
    SPILL_HASHES,
    SPILL_COUNT
};

/* Files of an unfinished dataset that are not spills. */
enum writer_file {
    FILE_INDEX = SPILL_COUNT, /* becomes NAME.leat */
    FILE_CHECKPOINT,
    FILE_CHECKPOINT_NEW,
    FILE_LOCK,
    FILE_COUNT
};

struct writer_names {
    char *partial[FILE_COUNT]; /* NAME.partial.<what> */
    char *tokens, *index;      /* NAME.tokens, NAME.leat */
};

struct writer_input {
    struct records_input record;
    char *path;
};

struct writer_pair {
    char *key, *value;
};

struct leat_writer {
    struct writer_names names;
    int lock;
    pid_t owner;
    const struct checksum_kernels *kernels;

    uint64_t vocabulary, end_token, begin_token, created;
    uint32_t width;
    bool replace, store_lines, store_ids, store_hashes;
    uint8_t fingerprint[16];
    uint8_t *tokenizer; /* the section, or NULL */
    uint64_t tokenizer_bytes;

    struct sink spills[SPILL_COUNT]; /* lines and ids only if they are stored: else fd -1 */
    uint64_t tokens, documents;
    uint64_t document_start; /* of the open document, or of the next one */
    bool document_open;
    uint64_t hashed_pages; /* pages of the token file whose hashes are in the pages spill and in token_sum */
    struct hash128 token_sum;
    bool ordered; /* origins have never fallen so far */
    uint64_t last_input, last_offset;

    struct writer_input *inputs;
    uint64_t input_count, input_room;
    struct writer_pair *pairs; /* sorted by key */
    uint64_t pair_count, pair_room;

    bool checkpointed;              /* a checkpoint exists */
    bool prepared;                  /* both files are whole and durable, and lack only their names */
    struct format_header header;    /* of the index that is prepared */
    bool tokens_named, index_named; /* finish has given the file its name */
    enum leat_status failed;
    struct leat_error failure;
};

/* ---- writer_names.c ---- */

enum leat_status writer_names_make(struct writer_names *n, const char *name, struct leat_error *err);
void writer_names_free(struct writer_names *n);

/* Takes the lock file; LEAT_E_BUSY if another process has it. */
enum leat_status writer_lock(int *lock, const struct writer_names *n, struct leat_error *err);

/* Removes the lock file and releases the lock. */
void writer_unlock(int *lock, const struct writer_names *n);

/* Which of the files exist. */
struct writer_found {
    bool tokens, index, checkpoint;
    bool partial_tokens; /* one without its final name */
    bool two_names;      /* the token file has its name and its partial one: file_rename() was cut short */
    bool half_named;     /* the token file has its name and the index has not: NAME.tokens is a killed run's leftover */
};
enum leat_status writer_look(const struct writer_names *n, struct writer_found *found, struct leat_error *err);

/* Removes every partial file except the lock, and NAME.tokens if only that file has its name. */
enum leat_status writer_remove_partial(const struct writer_names *n, struct leat_error *err);

/* ---- writer.c ---- */

/* Makes a writer with these options, and opens nothing. */
enum leat_status writer_new(struct leat_writer **out, const char *name, const struct leat_writer_options *options,
                            struct leat_error *err);

/* Whether this spill exists in a run with these options, and how large its buffer is. */
bool writer_has_spill(const struct leat_writer *w, enum writer_spill spill);
size_t writer_spill_room(enum writer_spill spill);

/* Hashes and writes the whole pages in the token buffer; with `all` also the rest. */
enum leat_status writer_flush_tokens(struct leat_writer *w, bool all, struct leat_error *err);

/* Returns LEAT_OK, or the failure that has ended the writer; each public call starts with it. */
enum leat_status writer_ready(const struct leat_writer *w, struct leat_error *err);

/* Makes the writer fail for good, if `status` is not LEAT_OK; returns it. */
enum leat_status writer_fail(struct leat_writer *w, enum leat_status status, const struct leat_error *why,
                             struct leat_error *err);

/* Closes and frees everything; removes no file. */
void writer_free(struct leat_writer *w);

/* ---- writer_inputs.c ---- */

/* Adds an input with what is known about it. */
enum leat_status writer_push_input(struct leat_writer *w, const char *path, const struct records_input *record,
                                   struct leat_error *err);
void writer_free_inputs(struct leat_writer *w);

/* ---- writer_index.c ---- */

/* Writes the whole index under its partial name, durable; *header gets what it holds. The spills must be flushed. */
enum leat_status writer_build_index(struct leat_writer *w, struct format_header *header, struct leat_error *err);

#endif
