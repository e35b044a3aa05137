/*
 * writer.h: the inside of struct leat_writer. This room writes a dataset: tokens go straight to the file that becomes
 * NAME.tokens, what grows with the documents goes to spill files next to it, and finishing turns these into the index
 * and gives both files their names. What writes, checkpoints or completes the two files belongs here; reading them back
 * belongs to dataset/, the meaning of their bytes to format/.
 *
 * Its files:
 *   sink.c               a file that grows, filled by several threads, and threads that write past the page cache
 *   writer.c             open, flush, failures; finish, suspend, abandon
 *   writer_add.c         documents, one after another or several at once, and what each leaves in each section
 *   writer_names.c       the files of an unfinished dataset: names, lock, leftovers
 *   writer_checkpoint.c  writes checkpoints, and goes on from one
 *   writer_index.c       the index, made from the spilled sections, inputs and metadata
 */
#ifndef LEAT_WRITER_H
#define LEAT_WRITER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/file.h"
#include "format/format.h"
#include "private.h"
#include "sink.h"

/* Data that grows with the dataset, each spilled into a file of its own. */
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
    SPILL_MASK,
    SPILL_MASK_PAGES, /* hashes of the mask's pages; after the mask, whose flush brings them */
    SPILL_VALUES,     /* what the caller keeps for columns; beside it lie the columns that are made of it */
    SPILL_COUNT
};

/* Files of an unfinished dataset that are not spills. */
enum writer_file {
    FILE_INDEX = SPILL_COUNT, /* becomes NAME.leat */
    FILE_CHECKPOINT,
    FILE_CHECKPOINT_NEW,
    FILE_LOCK,
    FILE_ADOPT, /* written by src/adopt/ */
    FILE_COUNT
};

struct writer_names {
    char *partial[FILE_COUNT]; /* NAME.partial.<what> */
    char *tokens, *index;      /* NAME.tokens, NAME.leat */
    char *name, *unfinished;   /* NAME, NAME.partial */
};

struct writer_input {
    struct records_input record;
    char *path;
};

struct writer_pair {
    char *key, *value;
};

/* A stream into each spill where the next document goes. The directory's ends at the first missing entry. */
struct writer_streams {
    struct sink_stream of[SPILL_COUNT];
    uint64_t document, start; /* next document's number and first token; the latter also while it is open */
};

struct leat_writer {
    struct writer_names names, whole; /* names of the files; `whole`: absolute ones, if `names` are relative and the
                                         folder is known */
    struct folder home;               /* folder that the names are relative to */
    int lock;
    pid_t owner;
    const struct checksum_kernels *kernels;

    uint64_t vocabulary, end_token, begin_token, created;
    uint32_t width;
    bool replace, store_lines, store_ids, store_hashes, store_mask, store_values;
    uint8_t fingerprint[16];
    uint8_t *tokenizer; /* bytes of the tokenizer's section, or NULL */
    uint64_t tokenizer_bytes;

    struct sink spills[SPILL_COUNT]; /* spills; those of lines, ids, hashes and mask have fd -1 unless they are
                                        stored */
    struct writer_streams end;       /* streams at the ends of the spills, for documents that come one after another */
    bool document_open, mask_open;   /* mask_open: the mask of its first id, and of the begin token, has been put */
    uint8_t last_mask;               /* mask of the open document's last id */
    uint64_t open_learned;           /* tokens of the open document that training learns */
    _Atomic uint64_t learned_tokens, unlearned_documents; /* of the documents that have ended, if they have a mask */
    atomic_bool ordered;                                  /* true while origins have never fallen */
    uint64_t last_input, last_offset;

    pthread_mutex_t mutex; /* protects what threads that put documents share: */
    pthread_cond_t quiet;  /* `places` has become 0 */
    uint64_t places;       /* places given by leat_writer_place() whose documents are not put yet */

    struct writer_input *inputs;
    uint64_t input_count;      /* inputs, counted under the mutex, too */
    struct writer_pair *pairs; /* sorted by key */
    uint64_t pair_count;
    size_t input_room, pair_room;

    uint32_t (*progress)(void *context, uint64_t done, uint64_t total); /* progress of reading back; NULL: none */
    void *context;

    bool checkpointed;           /* a checkpoint exists */
    bool prepared;               /* both files are whole and durable, and lack only their names */
    struct format_header header; /* header of the index that is prepared */
    const char *elsewhere;       /* path of another tool's file that has the tokens; NULL: they are written here */
    uint64_t elsewhere_offset;
    bool tokens_named, index_named; /* finishing has given the file its name */
    enum leat_status failed;        /* this and the next member are under the mutex */
    struct leat_error failure;
};

/* ---- writer_names.c ---- */

enum leat_status writer_names_make(struct writer_names *n, const char *name, struct leat_error *err);
void writer_names_free(struct writer_names *n);

/* Makes the names of a writer. */
enum leat_status writer_take_names(struct leat_writer *w, const char *name, struct leat_error *err);

/* Turns to absolute names if the process has gone to another folder. Each call that opens, renames or removes a file
 * begins with this. */
void writer_follow_names(struct leat_writer *w);

/* Takes the lock file. Returns LEAT_E_BUSY if another process has it. */
enum leat_status writer_lock(int *lock, const struct writer_names *n, struct leat_error *err);

/* writer_lost_lock() returns true if the lock file was removed since: another process may have taken one of its own,
 * and then the files with partial names belong to it. writer_check_lock() returns LEAT_E_BUSY, with a sentence. */
bool writer_lost_lock(int lock, const struct writer_names *n);
enum leat_status writer_check_lock(int lock, const struct writer_names *n, struct leat_error *err);

/* Checks the lock of a writer. The writer turns to its absolute names if another thread has left the folder during
 * this call. */
enum leat_status writer_check_own_lock(struct leat_writer *w, struct leat_error *err);

/* Removes the lock file, if it is still the one that was taken, and releases the lock. */
void writer_unlock(int *lock, const struct writer_names *n);

/* Flags for the files that exist. */
struct writer_found {
    bool tokens, index, checkpoint;
    bool partial_tokens; /* the token file exists without its final name */
    bool two_names;      /* the token file has its name and its partial one: file_rename() was cut short */
    bool half_named;     /* the token file has its name and the index has not: NAME.tokens is a killed run's leftover */
};
enum leat_status writer_look(const struct writer_names *n, struct writer_found *found, struct leat_error *err);

/* Gives the token file, which is half_named, its partial name again. */
enum leat_status writer_unname_tokens(const struct writer_names *n, const struct writer_found *found,
                                      struct leat_error *err);

/* Checks that finishing can give both files their names. */
enum leat_status writer_check_names(const struct writer_names *n, struct leat_error *err);

/* Removes every partial file except the lock, and NAME.tokens if only that file has its name. */
enum leat_status writer_remove_partial(const struct writer_names *n, struct leat_error *err);

/* Gives the columns of the unfinished dataset, NAME.partial, their names. */
enum leat_status writer_name_columns(const struct writer_names *n, struct leat_error *err);

/* ---- writer_state.c ---- */

/* Returns true if this spill exists in a run with these options. */
bool writer_has_spill(const struct leat_writer *w, enum writer_spill spill);

/* Returns LEAT_OK, or the failure that has ended the writer; each public call starts with it. */
enum leat_status writer_ready(struct leat_writer *w, struct leat_error *err);

/* Makes the writer fail for good, if `status` is not LEAT_OK; returns it. */
enum leat_status writer_fail(struct leat_writer *w, enum leat_status status, const struct leat_error *why,
                             struct leat_error *err);

/* ---- writer.c ---- */

/* Makes a writer with these options, and opens nothing. */
enum leat_status writer_new(struct leat_writer **out, const char *name, const struct leat_writer_options *options,
                            struct leat_error *err);

size_t writer_spill_frame(enum writer_spill spill);

/* Lets a spill append from offset `at` on. */
void writer_begin_spill(struct leat_writer *w, enum writer_spill spill, uint64_t at);

/* Waits until all documents that have a place are put, then writes what is in memory. With `last`, also stores the
 * hashes of the tokens' last frame. */
enum leat_status writer_flush(struct leat_writer *w, bool last, struct leat_error *err);

/* Closes and frees everything; removes no file. */
void writer_free(struct leat_writer *w);

/* ---- writer_add.c ---- */

/* Puts the facts about the next document of the streams, whose tokens are there. Its line is `line`, not o->line. */
enum leat_status writer_put_document(const struct leat_writer *w, struct writer_streams *to,
                                     const struct leat_origin *o, uint64_t line, struct leat_error *err);

/* Reports to all sinks what was put, even if one of them fails. */
enum leat_status writer_end_streams(struct writer_streams *t, struct leat_error *err);

extern const struct leat_origin writer_no_origin;

/* ---- writer_index.c ---- */

/* Adds an input with what is known about it. */
enum leat_status writer_push_input(struct leat_writer *w, const char *path, const struct records_input *record,
                                   struct leat_error *err);
void writer_free_inputs(struct leat_writer *w);

/* Writes the whole index under its partial name, durably. *header gets what it holds. The spills must be flushed. */
enum leat_status writer_build_index(struct leat_writer *w, struct format_header *header, struct leat_error *err);

#endif
